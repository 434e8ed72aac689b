"""Check that tests notice wrong lines. Each mutation is made in a copy of the tree, built, and the tests that cover its file are run.

    mutate.py [--jobs N] [--folder FOLDER] [--resume] [WORD...]
                       WORD: part of a file's name; without one all mutations. N at once, in as many copies. FOLDER remembers
                       which test found which mutation. --resume counts a mutation as killed, without a run, if neither its
                       file nor the source of the test that found it has changed since, and does not run tests first that
                       passed in the same tree
    mutate.py --list   only check that every text occurs in its file

Status 1 if more than LIMIT mutations survive, if one survives without a given reason, if a text does not occur in its file
exactly once, or if a mutated file does not compile (it would show nothing). Tools that mutate everything (mull,
universalmutator) make thousands of mutants a file, most of them alike or equivalent. A review can judge a short list. To
extend it: the file, the tests that cover it by their names in ctest (.py behind those in Python), and texts old and new.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import queue
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from typing import NamedTuple

SOURCE = pathlib.Path(__file__).resolve().parent.parent
LIMIT = 3  # survivors


class Of(NamedTuple):
    """Mutations of a file: (old, new) or (old, new, why it survives)."""

    file: str
    tests: str
    mutations: list


LAW = "test_law test_transmission test_friction test_solve"
SOLVE = "test_solve test_arguments test_friction test_jamming test_wellposed"
STATE = "test_plugin_change.py test_plugin_model.py test_plugin_step test_plugin_trajectory"
PLUGIN = (
    "test_plugin_island test_plugin_tree test_plugin_friction test_plugin_presliding test_plugin_backlash test_plugin_parts "
    "test_plugin_step test_plugin_coupling"
)
WARP = "test_warp_law.py test_warp_worlds.py test_warp_scenes.py"
SOLVER = (
    "test_plugin_newton test_plugin_path test_plugin_tree test_plugin_presliding test_plugin_friction test_plugin_self_locking test_plugin_coupling "
    "test_plugin_backlash test_plugin_gaps test_plugin_sensor test_energy test_plugin_tendon.py test_plugin_discrete.py"
)

MUTATIONS = [
    Of(
        "core/law/law.h",
        LAW,
        [
            ("(mjgREAL)s * v0 > 0 ? (mjgREAL)1 : static_ratio", "(mjgREAL)s * v0 < 0 ? (mjgREAL)1 : static_ratio"),
            ("(mjgREAL)s * v0 > 0 ? (mjgREAL)1 : static_ratio", "(mjgREAL)s * v0 >= 0 ? (mjgREAL)1 : static_ratio"),
            ("return (gamma_u + gamma_v) * u - gamma_v * t;", "return (gamma_u + gamma_v) * u + gamma_v * t;"),
            ("return gamma_u * t + (gamma_u + gamma_v) * x;", "return gamma_v * t + (gamma_u + gamma_v) * x;"),
            ("return r * (mjgiABS(lambda) + c);", "return r * mjgiABS(lambda) + c;"),
            (
                "return slope < 1 ? r * c / (1 - slope) : mjgiINFINITY;",
                "return slope < 1 ? c / (1 - slope) : mjgiINFINITY;",
            ),
            (
                "return slope < 1 ? bound / (1 - slope) : mjgiINFINITY;",
                "return slope < 1 ? bound / (1 + slope) : mjgiINFINITY;",
            ),
            ("if (r * c * mjgiABS(p) <= mjgiABS(phi)) {", "if (c * mjgiABS(p) <= mjgiABS(phi)) {"),
            (
                "return 1 + slope > 0 ? r * (c - mjgiABS(phi)) / (1 + slope) : mjgiINFINITY;",
                "return 1 + slope > 0 ? r * (c + mjgiABS(phi)) / (1 + slope) : mjgiINFINITY;",
            ),
            ("*offset = piece > 0 ? r * c : -r * c;", "*offset = r * c;"),
            ("mjgREAL den = 1 + factor * beta;", "mjgREAL den = 1 - factor * beta;"),
            (
                "return (mjgREAL)mjgi_pieceLoad(piece) * lambda < 0 ?",
                "return (mjgREAL)mjgi_pieceLoad(piece) * lambda > 0 ?",
            ),
            (
                "return piece != mjgiSTUCK && (piece > 0 ? rp : rm) > 1;",
                "return piece != mjgiSTUCK && (piece > 0 ? rm : rp) > 1;",
            ),
            ("mjgi_lawRatio(static_ratio, v0, t > 0 ? 1 : -1));", "mjgi_lawRatio(static_ratio, v0, 1));"),
        ],
    ),
    Of(
        "core/law/transmission.c",
        "test_transmission test_describe test_facts",
        [
            ("*coulomb += S * t->stribeck_friction;", "*coulomb -= S * t->stribeck_friction;"),
            (
                "exp(-pow(fabs(v) / t->stribeck_velocity, t->stribeck_exponent))",
                "exp(-pow(fabs(v) / t->stribeck_velocity, 2))",
            ),
            ("*gamma_v += S * t->gamma_v_stribeck;", ""),
            ("if (fabs(u) > fabs(x)) {", "if (fabs(u) < fabs(x)) {"),
            ("if (signbit(u) == signbit(x)) {", "if (u * x > 0) {"),
            ("of_motor ? gamma_u : -gamma_v, c, t->static_ratio);", "of_motor ? gamma_u : -gamma_v, c, 1);"),
            ("factorAt(table + mjgTABLE_GAMMA_TEMPERATURE, t->temperature) *", ""),
            ("table->factor[x <= table->x[0] ? 0 : table->n - 1]", "table->factor[0]"),
        ],
    ),
    Of(
        "core/catalogue/facts.c",
        "test_transmission test_facts",
        [
            ("f->eta_b > 0 ? m / f->eta_b + M : INFINITY;", "f->eta_b > 0 ? m * f->eta_b + M : INFINITY;"),
        ],
    ),
    Of(
        "core/law/transmission.h",
        "test_transmission test_python_inverse.py",
        [
            ("fmin(32, -1 / slope)", "fmin(1, 2 + slope * 0)"),
        ],
    ),
    Of(
        "core/backlash/torsion.c",
        "test_torsion",
        [
            ("*low = law->freewheel > 0 ? 0", "*low = law->freewheel < 0 ? 0"),
            ("second + width, {(k2 - k) * width", "second + width, {k2 * width"),
            ("* width, k3 - k}", "* width, k3 - k2}"),
            ("(start - lo) / (hi - lo) * low", "(start - lo) / (hi - lo) * high"),
            ("return clip(theta_b, p - high / k, p - low / k);", "return clip(theta_b, p - high / k, p + low / k);"),
        ],
    ),
    Of(
        "plugin/gear/bound.h",
        "test_plugin_brake.py test_plugin_oneway.py",
        [
            (
                "return s * in->gear[i].v > 0 ? in->brake[i].sliding",
                "return s * in->gear[i].v >= 0 ? in->brake[i].sliding",
            ),
            ("coulomb + torque / r;", "coulomb + torque;"),
            ("(mjgpBound){r, c, s * (brake->front", "(mjgpBound){r, c, (brake->front"),
            (
                "brake->front ? -gamma_u : gamma_v)",
                "brake->front ? gamma_u : gamma_v)",
            ),
            ("s == brake->blocked ?", "s == -brake->blocked ?"),
        ],
    ),
    Of(
        "plugin/gear/friction.c",
        "test_plugin_brake.py",
        [
            ("closes ? brake->closing : brake->opening;", "closes ? brake->opening : brake->closing;"),
            ("return before + mju_clip(asked - before, -most, most);", "return asked;"),
            ("brake->sliding = closed * keys->sliding;", "brake->sliding = keys->sliding;"),
        ],
    ),
    Of(
        "core/law/scalar.c",
        "test_scalar test_lambda",
        [
            ("double forward = (1 - gamma_u) / (1 + gamma_v)", "double forward = (1 - gamma_v) / (1 + gamma_v)"),
            ("return (gamma_u * m - gamma_v * M) / (m + M);", "return (gamma_u * m + gamma_v * M) / (m + M);"),
            ("gamma_v * f_v - rho * (f_u - f_v)", "gamma_v * f_v + rho * (f_u - f_v)"),
            ("above = positive > 0 && rho != 1;", "above = positive > 0;"),
            ("double hold = (m + M) / h * v + (f_u - f_v);", "double hold = (m + M) / h * v;"),
        ],
    ),
    Of(
        "core/law/presliding.c",
        "test_presliding",
        [
            ("*v += compliance * t_last;", "*v -= compliance * t_last;"),
            ("*A += compliance;", ""),
            ("return velocity - compliance * (t - t_last);", "return velocity - compliance * t;"),
        ],
    ),
    Of(
        "core/solvers/check.c",
        "test_check test_arguments test_fields test_solve test_jamming",
        [
            ("if (problem->nblock > 0 && left != 0) {", "if (0) {"),
            ("if (size < 0 || size > left) {", "if (size > left) {"),
            ("(!c || c[i] >= 0) && ", ""),
            ("ratio[i] >= 1", "ratio[i] >= 0"),
            ("b->A[i * (n + 1)] >= DBL_MIN;", "b->A[i * (n + 1)] > 0;"),
            ("if (problem->n > work->n || *largest > work->nmax) {", "if (problem->n > work->n) {"),
            ("p->P + at->entry", "p->P"),
            ("first + n, at->entry", "n, at->entry"),
        ],
    ),
    Of(
        "core/solvers/solve.c",
        SOLVE,
        [
            ("settings->tolerance >= 1) {", "settings->tolerance > 1) {"),
            ("if (settings->warm_start && !mjgi_allFinite(solution->t, (size_t)problem->n)) {", "if (0) {"),
        ],
    ),
    Of(
        "core/solvers/step.c",
        "test_step",
        [
            (
                "double scale = (joints->gamma_u[i] + joints->gamma_v[i]) * joints->inertia[i];",
                "double scale = joints->gamma_u[i] * joints->inertia[i];",
            ),
            ("- (i == j ? joints->gamma_v[i] : 0)", ""),
            (
                "phi[i] = gamma * (tau_u[i] - joints->inertia[i] * acc[i]);",
                "phi[i] = gamma * (tau_u[i] + joints->inertia[i] * acc[i]);",
            ),
            ("vstar[i] = v[i] + h * acc[i];", "vstar[i] = v[i];"),
        ],
    ),
    Of(
        "core/solvers/wellposed.c",
        "test_wellposed test_friction",
        [
            ("*lower = mjgi_max(0, (beta - 1) / alpha);", "*lower = 0;"),
            ("*upper = (beta + 1) / alpha;", "*upper = (beta - 1) / alpha;"),
            ("if (beta <= -1 || (alpha == 0 && beta >= 1)) {", "if (beta <= -1) {"),
            ("    beta = -beta;\n", ""),
        ],
    ),
    Of(
        "core/solvers/dense_newton.h",
        "test_friction test_solve test_wellposed test_jamming test_dense_newton",
        [
            ("b->alpha[i] *= diagonal;", ""),
            ("b->rm[i] = mjgi_lawRatio(b->x[i], b->y[i], -1);", "b->rm[i] = mjgi_lawRatio(b->x[i], b->y[i], 1);"),
        ],
    ),
    Of(
        "core/solvers/friction.c",
        "test_friction test_solve test_wellposed test_jamming",
        [
            ("double r = mjgi_max(b->rp[i], b->rm[i]);", "double r = b->rp[i];"),
            ("double r = mjgi_max(b->rp[i], b->rm[i]);", "double r = 1;"),
        ],
    ),
    Of(
        "core/solvers/workspace.c",
        "test_workspace",
        [
            ("(count * size + mjgiALIGN - 1) / mjgiALIGN * mjgiALIGN;", "count * size;"),
            ("nmax > n ||", ""),
        ],
    ),
    Of(
        "core/backlash/gap.c",
        "test_gap test_coupling test_backlash",
        [
            ("double gap_end = gapEnd(gap, w);\n  *slope = 0;", "double gap_end = -gapEnd(gap, w);\n  *slope = 0;"),
            ("if (law->half_gap > 0 && torque * stop <= 0) {", "if (0) {"),
            ("*twist = s * (C + a * S) + v * S;", "*twist = s * (C - a * S) + v * S;"),
        ],
    ),
    Of(
        "core/catalogue/geometry.c",
        "test_geometry",
        [
            ("double flank = mu / cos(pressure_angle);", "double flank = mu * cos(pressure_angle);"),
            (
                "*gamma_u = spur->mu * (lever / spur->radius_out - slope);",
                "*gamma_u = spur->mu * (lever / spur->radius_out + slope);",
            ),
            ("sum_v / pairs", "sum_v"),
        ],
    ),
    Of(
        "scenes/flap/karnopp.h",
        "test_karnopp",
        [
            ("copysign(v * load < 0 ? aiding : opposing, v)", "copysign(v * load < 0 ? opposing : aiding, v)"),
            ("if (v * next < 0) {", "if (v * next > 0) {"),
        ],
    ),
    Of(
        "plugin/configuration/parsing.c",
        "test_plugin_parsing test_plugin_config",
        [
            ("if (given > 1 && given != n) {", "if (given > n) {"),
            ("if (end == copy || *end) {", "if (end == copy) {"),
            ("*text = word + *length + (word[*length] != 0);", "*text = word + *length;"),
        ],
    ),
    Of(
        "plugin/configuration/gap.c",
        "test_plugin_gap test_plugin_config",
        [
            ("number[joint[i].item]", "number[0]"),
            ("m->jnt_type[id] != m->jnt_type[joint->joint]", "0"),
        ],
    ),
    Of(
        "plugin/state/layout.c",
        STATE,
        [
            ("== instance ? n + (int)m->nv + mjgpNSYSTEM : n", "== instance ? n + mjgpNSYSTEM : n"),
        ],
    ),
    Of(
        "plugin/state/model.c",
        STATE,
        [
            ("next += has ? stride : 0;", "next += stride;"),
        ],
    ),
    Of(
        "plugin/state/changes.h",
        STATE,
        [
            ("(mjgpSTATE_GIVEN + (key >= mjgpNBIT)) * config->stride[i];", "mjgpSTATE_GIVEN * config->stride[i];"),
        ],
    ),
    Of(
        "plugin/state/changes.c",
        "test_plugin_changes.py",
        [
            ("changes |= *member != state[place[key]];", ""),
            ("c->given[0] == given[0] && ", ""),
            ("if (hasTeeth(base, given)) {", "if (0) {"),
        ],
    ),
    Of(
        "plugin/state/changes.c",
        "test_plugin_change.py test_plugin_abuse",
        [
            ("given = (uint64_t)*number & ~derived;", "given = (uint64_t)*number;"),
            ("derived |= differs ? bit : 0;", ""),
            ("    mjgi_checkNumbers(report, &joint->gear);\n", ""),
            ("mjgi_checkNumber(report, &joint->gear, key);", ""),
            ("refuseGap(report, joint);\n  }\n  return", "}\n  return"),
        ],
    ),
    Of(
        "plugin/inverse/inverse.c",
        "test_plugin_inverse test_python_inverse.py",
        [
            ("g->phase = mjgpPHASE_FRESH;", ""),
            ("mju_max(fastest, mjgpLEFT *", "mju_max(fastest, 10 * mjgpLEFT *"),
            ("g->stages = mjgp_inverseStages(d);", ""),
            ("flg_step ? mjENBL_INVDISCRETE : 0;", "0;"),
            ("force[k] += Mhat->slope[k] * d->qacc[k];", ""),
            ("if (d->nefc && flg_step) {", "if (0) {"),
            ("mjgp_addWrenches(y, m, d, -1);", "mjgp_addWrenches(y, m, d, 1);"),
            ("p.x = z[i] + p.shift - own;", "p.x = z[i] - own;"),
            ("p.x += z[joint->partner] - in->gear[joint->partner].motor;", "p.x += z[joint->partner];"),
            ("mju_subFrom(y, d->qfrc_actuator, (int)m->nv);", ""),
            ("in->drag * p->v0 + p->shift;", "p->shift;"),
            ("*end[s > 0] = limitOf(", "*end[s < 0] = limitOf("),
            ("high[also] = high[at];", ""),
            ("t = mjgi_secant(t, off, &from, &before);", "t = next;"),
        ],
    ),
    Of(
        "plugin/model/effective_inertia.c",
        "test_plugin_delassus",
        [
            ("sum += x[q] * x[q] * Mhat->pivot[row[q]];", "sum += x[q] * Mhat->pivot[row[q]];"),
            ("Mhat->upper + Mhat->adr[row[q]], -x[q], q);", "Mhat->upper + Mhat->adr[row[q]], x[q], q);"),
        ],
    ),
    Of(
        "plugin/inverse/branch.c",
        "test_python_inverse.py test_plugin_inverse",
        [
            ("branch->factored = factorStep(branch, m, d, g);", "branch->factored = 0;"),
            (
                "acc[k] = d->qfrc_inverse[k] + d->qfrc_passive[k] + d->qfrc_constraint[k] - d->qfrc_bias[k];",
                "acc[k] = d->qfrc_inverse[k];",
            ),
            ("(extra >= 0 ? s->acc[s->n + extra] : 0);", "0 * extra;"),
            ("return breaks == mjgiSTUCK", "return breaks != mjgiSTUCK"),
            ("mjgp_solveHessian(s, s->search);", ""),
        ],
    ),
    Of(
        "plugin/inverse/branch.h",
        "test_python_inverse.py test_plugin_inverse",
        [
            (
                "mjgi_lawLoadOut(gear->gamma_u, gear->gamma_v, p->x, t) >= 0",
                "mjgi_lawLoadOut(gear->gamma_u, gear->gamma_v, p->x, t) <= 0",
            ),
            ("p->v0 * p->v > 0 ||", "1 ||"),
            ("p->v0 * p->v > 0 ||", "p->v0 * p->v < 0 ||"),
            ("|| brake->holding == brake->sliding", "|| 1"),
        ],
    ),
    Of(
        "plugin/model/actuation.c",
        "test_python_inverse.py test_plugin_inverse",
        [
            (
                "forces = g->config->motors.mixed || g->config->gaps, limited",
                "forces = g->config->motors.mixed, limited",
            ),
            ("limited |= m->jnt_actfrclimited[i];", ""),
            ("m->opt.integrator != mjINT_EULER && !forces", "m->opt.integrator == mjINT_EULER && !forces"),
        ],
    ),
    Of(
        "plugin/inverse/derivative.c",
        "test_python_linearize.py",
        [
            ("to[k] = -s->d->qfrc_actuator", "to[k] = s->d->qfrc_actuator"),
            ("* g->in.gear[joint].tau;  // acts on the rotor", "* 0 * g->in.gear[joint].tau;"),
            ("= piece->brake ? piece->brake->travel : 0;", "= 0;"),
            ("mjgp_releasePiece(piece);", ""),
            ("mjgp_solveInertia(qvel, m, s->Mhat, 0, nv);", ""),
            ("fixed && m->actuator_dyntype[k] == mjDYN_NONE", "fixed"),
            ("differ(p, eps, ahead ? 1 : -1);", ""),
            ("gap[mjgpGAPSTATE_ANGLE * stride] = s->m->opt.timestep * rate;", ""),
        ],
    ),
    Of(
        "plugin/model/free_body.h",
        "test_python_linearize.py",
        [
            ("m->jnt_type[m->dof_jntid[dof]] == mjJNT_FREE", "m->jnt_type[m->dof_jntid[dof]] == mjJNT_SLIDE"),
        ],
    ),
    Of(
        "plugin/state/gears.c",
        "test_plugin_model.py test_plugin_step test_plugin_trajectory",
        [
            ("free_gears = g->next;\n    memset(g, 0, sizeof(*g));", "memset(g, 0, sizeof(*g));"),
        ],
    ),
    # steps in the engine: few, because these files change
    Of(
        "plugin/solver/contact.c",
        "test_plugin_island " + PLUGIN,
        [
            (
                "group->f[i] = state == mjCNSTRSTATE_LINEARNEG   ? group->floss[i]",
                "group->f[i] = state == mjCNSTRSTATE_LINEARNEG   ? -group->floss[i]",
            ),
            ("slope += D[i] * jar * row[i];", "slope -= D[i] * jar * row[i];"),
            ("slope += mju_clip(D[i]", "slope -= mju_clip(D[i]"),
            ("return -mju_dot(f, row, contact->dim);", "return mju_dot(f, row, contact->dim);"),
        ],
    ),
    Of(
        "plugin/solver/island.c",
        "test_plugin_island " + PLUGIN,
        [("(group->J + mjgiSIMD * k) * force;", "(group->J + mjgiSIMD * k) * -force;")],
    ),
    Of(
        "plugin/solver/newton.c",
        "test_plugin_path",
        [
            ("p->dacc[r] -= mju_dot(s->W + r *", "p->dacc[r] += mju_dot(s->W + r *"),
        ],
    ),
    Of(
        "plugin/solver/system.c",
        "test_plugin_path",
        [
            ("acc[r] -= mjgp_delassus(s, r, i) *", "acc[r] += mjgp_delassus(s, r, i) *"),
            ("calm = sweep(s, t, acc) ? 0 : calm + 1;", "calm = sweep(s, t, acc) ? mjgpCALM : mjgpCALM;"),
        ],
    ),
    Of(
        "plugin/solver/newton.c",
        "test_plugin_newton",
        [
            (".residual = error};", ".residual = 0};"),
            ("mju_abs(p->w[k]) / mju_sqrt(M));", "mju_abs(p->w[k]));"),
            ("missing > 0 ? missing / most : 0", "missing > 0 ? missing : 0"),
        ],
    ),
    Of(
        "plugin/solver/newton.c",
        "test_plugin_tree",
        [
            ("(!flg_connect || !toRestBranch(p))", "1"),
        ],
    ),
    Of(
        "plugin/solver/newton.c",
        "test_plugin_contact.py",
        [
            ("error <= mjgpROOT || !isZero(p) ? error : 0;", "error;"),
            ("differ || error == 0)", "differ)"),
        ],
    ),
    Of(
        "plugin/solver/law_error.c",
        "test_plugin_contact.py",
        [
            ("mjgpZERO / mjgpLAW * s->rounding", "1 / 2.2e-16 * s->rounding"),
        ],
    ),
    Of("plugin/solver/coupling.c", "test_plugin_redundant.py", [("(1 - mjgpCLOSE) * t : t;", "t : t;")]),
    Of("plugin/solver/law_error.c", "test_plugin_law_error.py", [("mjgpFACTORED / mjgpLAW * largest", "0 * largest")]),
    Of(
        "plugin/solver/newton.c",
        "test_drive_train.py",
        [
            ("(error > mjgpGAINED * before || isZero(p))", "0"),
        ],
    ),
    Of(
        "plugin/solver/newton.c",
        SOLVER,
        [
            ("mju_dot(p->smooth, s->search, nv) - linear;", "mju_dot(p->smooth, s->search, nv) + linear;"),
            ("f ? -mju_dot(f, p->row,", "f ? mju_dot(f, p->row,"),
            ("linear += s->t[i] * mjgp_mulGear(group, i, s->search);", ""),
            ("mju_addToScl(p->smooth, p->before, 1 - share, nv);", ""),
            (
                "if (changes && k >= exchanges",
                "if (changes && !p->whole && k >= exchanges",
                "the cost is convex there, gears included: the line search arrives without sweeps, which save iterations",
            ),
            ("mjgp_subtractForces(s->group, s->gradient, s->group->f);", ""),
            ("int ends = !differ ||", "int ends = 1 ||"),
            ("mjgp_addGears(group, p->w, s->t);", ""),
            ("slope += along *", "slope -= along *"),
            ("mju_addToScl(s->a, s->search, share - 1, nv);", "mju_addToScl(s->a, s->search, share, nv);"),
            ("b.at_high <= most)", "b.at_high >= most)"),
            ("mju_abs(g->in.gear[joint].v) + h * most;", "mju_abs(g->in.gear[joint].v);"),
            ("if (!changes && ends) {", "if (ends) {"),
            ("&& !mjgp_releasePieces(s->piece, s->n)", ""),
            ("return mjgp_hasSliding(group) || memcmp(", "return memcmp("),
        ],
    ),
    Of(
        "plugin/solver/system.c",
        SOLVER,
        [
            ("slope = held ? -1 : piece[i].slope,", "slope = held ? 1 : piece[i].slope,"),
            ("by * sys->scale[i] * piece[i].weight;", "by * sys->scale[i];"),
            ("row[j] -= by * rate * taken[j]", "row[j] += by * rate * taken[j]"),
            ("sys->sign = negative != (sys->pivot[i] != i) ? -sys->sign : sys->sign;", ""),
            ("sys->free, NULL, s->left, x, -1,", "sys->free, NULL, s->left, x, 1,"),
            ("piece[i].target - s->acc[i] - sys->free[i]", "piece[i].target - s->acc[i] + sys->free[i]"),
            ("piece[i].t + piece[i].slope * sys->free[i]", "piece[i].t"),
            ("y[i] -= e >= 0 && !held ?", "y[i] += e >= 0 && !held ?"),
            ("x[k] += mju_dot(s->right", "x[k] -= mju_dot(s->right"),
            ("y[i] *= sys->scale[i];", ""),
        ],
    ),
    Of(
        "plugin/solver/contact.c",
        "test_plugin_newton",
        [
            ("since[i] = term ? 0 : h * (KBIP[1] * w", "since[i] = term ? 0 : h * (0 * w"),
            ("last[i] = group->jar[i] - since[i];", "last[i] = group->jar[i];"),
        ],
    ),
    Of("plugin/solver/zones.c", "test_plugin_zones", [("size <= mjgpSAME * mjgpSAME * along;", "0;")]),
    Of(
        "plugin/solver/path.c",
        "test_plugin_path test_plugin_gaps test_plugin_fallback test_plugin_coupling test_plugin_discrete.py",
        [
            ("path->homotopy.G, path->x - 1,", "path->homotopy.G, path->x,"),
            ("piece[i].held || piece[i].turned ?", "piece[i].turned ?"),
            ("piece[i].held || piece[i].turned ?", "piece[i].held ?"),
            ("line->t -= piece->t;", ""),
            ("path->x -= along;", "path->x += along;"),
            ("*slope = sign * path->djar[i];", "*slope = -sign * path->djar[i];"),
            ("piece->inertia * path->dacc[i] -", "piece->inertia * -path->dacc[i] -"),
            ("piece->load = piece->load > 0 ? -1 : 1;", ""),
            (
                "piece->mode ? 0 : end == mjgpEND_ABOVE ? 1 : -1",
                "piece->mode ? 0 : end == mjgpEND_ABOVE ? -1 : 1",
            ),
            ("sign > 0 ? 1 - path->x : mjgpFAR;", "1 - path->x;"),
            ("int sign = path->sign;", "int sign = 1;"),
            ("solved = mjgp_iterate(p, !arrived);", "solved = arrived && mjgp_iterate(p, 0);"),
        ],
    ),
    Of(
        "plugin/solver/homotopy.c",
        "test_plugin_path test_plugin_gaps test_plugin_fallback test_plugin_coupling test_plugin_discrete.py",
        [
            ("piece->tau = end->tau + (x - 1) *", "piece->tau = end->tau + x *"),
            (
                "int sign = load > 0 ? -1 : 1, holds",
                "int sign = load > 0 ? 1 : -1, holds",
                "either leads to solutions; of 760 000 steps of robots three are found with this one alone",
            ),
            ("kind <= mjgpSTART_NEAR) {\n      startThere", "kind < mjgpSTART_LAST) {\n      startThere"),
            ("mjgp_loadAt(s, i) >= 0 ? 1 : -1;", "mjgp_loadAt(s, i) >= 0 ? -1 : 1;"),
            ("homotopy->begin[i].coulomb += mju_max(0, mju_abs(t) - most) / bound.r;", "(void)most;"),
        ],
    ),
    Of(
        "plugin/gear/piece.h",
        SOLVER,
        [
            ("piece->slope = -piece->rate * piece->inertia;", "piece->slope = piece->rate * piece->inertia;"),
            ("piece->target = -piece->v / piece->h;", "piece->target = piece->v / piece->h;"),
            ("piece->slope = piece->h / piece->compliance;", "piece->slope = -piece->h / piece->compliance;"),
            (
                "piece->t = piece->t_last + (piece->v + piece->h * acc) / piece->compliance;",
                "piece->t = (piece->v + piece->h * acc) / piece->compliance;",
            ),
            ("mjgp_setReleased(piece, 1);\n  return 1;", "return 0;"),
            ("piece->load = branch == mjgiSTUCK ? piece->load : mjgi_pieceLoad(branch);", ""),
            ("piece->turned = own < 0;", ""),
            (
                "(acc - piece->acc) - piece->rate * (x - piece->x);",
                "(acc - piece->acc) + piece->rate * (x - piece->x);",
            ),
            ("return piece->t + piece->slope * (acc - piece->acc)", "return piece->t"),
            ("+ offset / own;", "+ offset;"),
            ("bound[(mode ? mode : t) > 0]", "bound[(mode ? -mode : t) > 0]"),
            ("piece->static_ratio * gamma_v < 1", "gamma_v < 1"),
        ],
    ),
    Of(
        "plugin/gear/piece.c",
        SOLVER + " test_plugin_rotors.py",
        [
            (
                "mjgp_proxShaft(piece->shaft, W, R - piece->inertia",
                "mjgp_proxShaft(piece->shaft, W, R + piece->inertia",
            ),
            ("(acc - shaft->a) - x;", "(acc - shaft->a) + x;"),
            ("t + slip / (piece->h * W", "t - slip / (piece->h * W"),
            ("lambda - P * t + bound", "lambda + P * t + bound"),
            ("mjgi_lawRatio(piece->static_ratio, piece->v, s);", "mjgi_lawRatio(piece->static_ratio, piece->v, -s);"),
        ],
    ),
    Of(
        "plugin/gear/shafts.c",
        "test_plugin_gaps",
        [
            ("1 - effect * shaft->misplaced", "1 + effect * shaft->misplaced"),
            ("effect = W / (1 - W_other)", "effect = W / (1 + W_other)"),
            ("*t += (acc - a) / W;", "*t -= (acc - a) / W;"),
            ("return mjgp_findJump(shaft, shaft + 1, a - near, a + near);", "return near < 0;"),
            ("mjtNum T = t + shaft->misplaced * shaft->a, A", "mjtNum T = t, A"),
        ],
    ),
    Of(
        "core/law/transmission.c",
        "test_transmission test_fields",
        [
            (
                "fabs(f_u - f_v) <= mjgi_lawBound(",
                "fabs(f_u - f_v) < mjgi_lawBound(",
            ),
            ("return isfinite(torque) && mjg_checkTransmission(&mute, t) == 0;", "return isfinite(torque);"),
        ],
    ),
    Of(
        "core/solvers/workspace.c",
        "test_workspace",
        [
            ("arena.used + mjgiALIGN;", "arena.used;"),
        ],
    ),
    Of(
        "core/catalogue/tables.c",
        "test_fields test_tables",
        [
            ("table->n < 0 || table->n > mjgMAXPOINT", "table->n > mjgMAXPOINT"),
            ("table->n < 0 || table->n > mjgMAXPOINT", "table->n < 0"),
        ],
    ),
    Of(
        "plugin/gear/friction.c",
        "test_plugin_brake.py",
        [
            ("group <= 30", "group < 30"),
            ("off || mju_isBad(ctrl) ? 0", "off ? 0"),
            ("m->opt.timestep / time : 1;", "m->opt.timestep / time : 0.5;"),
            ("brake->holding = closed * keys->holding;", "brake->holding = keys->holding;"),
        ],
    ),
    Of(
        "plugin/callbacks/advance.c",
        "test_plugin_advance.py",
        [
            (
                "info->status < mjgSOLVED || info->status > mjgJAMMED",
                "info->status < mjgSOLVED || info->status > mjgITERATION_LIMIT",
            ),
            ("int drives = t * v < 0 && t * next >= 0;", "int drives = 0;"),
            ("system[mjgpSYSTEM_STEPS]++;", ""),
        ],
    ),
    Of(
        "plugin/callbacks/advance.c",
        "test_plugin_model.py",
        [
            ("if (d->nefc || m->opt.enableflags & mjENBL_SLEEP) {", "if (d->nefc) {"),
        ],
    ),
    Of(
        "plugin/state/change.c",
        "test_plugin_change.py",
        [
            ("|| stride < size", "|| stride < 0"),
            ("m && stride >= m->npluginstate", "m"),
        ],
    ),
    Of(
        "plugin/callbacks/step.c",
        "test_plugin_tendon.py",
        [
            ("g->out.u[i] = g->in.gear[i].tau;", "g->out.u[i] = 0;"),
        ],
    ),
    Of(
        "plugin/state/gears.c",
        "test_plugin_stale",
        [
            ("g->nv != m->nv || g->nstate != m->npluginstate)) {\n      freeGears(g);", "0)) {\n      freeGears(g);"),
            ("return several ? NULL : found;", "return found;"),
        ],
    ),
    Of(
        "plugin/gear/friction.c",
        "test_plugin_brake.py test_plugin_oneway.py",
        [
            (
                "if (gear->tooth_pitch == 0) {\n    return -(int)gear->oneway;",
                "if (gear->tooth_pitch == 0) {\n    return (int)gear->oneway;",
            ),
            (
                "gear->oneway * (q - gear->tooth_phase) / gear->tooth_pitch",
                "gear->oneway * (q + gear->tooth_phase) / gear->tooth_pitch",
            ),
            ("mju_clip(ctrl, 0, 1);", "ctrl;"),
            ("(brake->normally == mjgpNORMALLY_OPEN);", "(brake->normally != mjgpNORMALLY_OPEN);"),
            ("brake->front = keys->side == mjgpSIDE_MOTOR;", "brake->front = keys->side != mjgpSIDE_MOTOR;"),
        ],
    ),
    Of(
        "plugin/configuration/brake.c",
        "test_plugin_brake.py",
        [
            ("brake->holding = given[0] ? x[0] : x[1];", "brake->holding = brake->sliding;"),
            ("brake->sliding = given[1] ? x[1] : x[0];", ""),
            ("given[0] > 0 && given[1] > 0 && brake->sliding > brake->holding", "0"),
            ("if (x[k] < 0) {", "if (0) {"),
            ("on->brake.actuator >= 0", "0"),
        ],
    ),
    Of(
        "plugin/gear/backlash.c",
        "test_plugin_backlash test_plugin_gaps test_plugin_tendon_gap.py test_plugin_advance.py test_python_inverse.py",
        [
            ("c->velocity = in->v + c->omega_d;", "c->velocity = in->v;"),
            ("c->inertia += in->implicit + in->shared;", ""),
            ("c->torque -= in->drag * c->velocity;", ""),
            ("c->theta_d = d->qpos[motor->qpos] - in->q;", "c->theta_d = in->q - d->qpos[motor->qpos];"),
            ("inverse += m->dof_invweight0[motor->dof];", ""),
            ("state[mjgpGAPSTATE_TWIST * stride] = step->omega_s;", ""),
            (
                "state[mjgpGAPSTATE_ANGLE * stride] += m->opt.timestep * rate;",
                "state[mjgpGAPSTATE_ANGLE * stride] += 0;",
            ),
            (
                "addRotor(g, m, d, first, gear, sign * m->actuator_gear[6 * first]);",
                "addRotor(g, m, d, first, gear, sign);",
            ),
        ],
    ),
    Of(
        "plugin/configuration/gap.c",
        "test_plugin_gap test_plugin_backlash",
        [
            ("joint[i].signs[first] = -1;", "joint[i].signs[first] = 1;"),
            ("if (armature != 0) {", "if (0) {"),
        ],
    ),
    Of(
        "plugin/inverse/inverse.c",
        "test_plugin_inverse test_python_inverse.py test_plugin_header.py",
        [
            ("mjgp_addEncoder(g, m, d, -1);\n  if (!discrete) {", "if (!discrete) {"),
            ("mjgp_solveInertia(a, m, Mhat, 0, (int)m->nv);", ""),
            ("mjgp_addRow(y, mjgp_row(m, d, g->config->joint + i), g->in.gear[i].motor);", ""),
            ("mjgi_lawRatio(in->gear[p->i].static_ratio, p->v0, s);", "in->gear[p->i].static_ratio;"),
            ("mjtNum t = in->t_last + p->v / compliance;", "mjtNum t = p->v / compliance;"),
            ("s = t > *high ? 1 : -1;", "s = t > *high ? -1 : 1;"),
            (
                "== mjgpGAP_ROTOR ? gear->misplaced : gear->inertia) * acc;",
                "== mjgpGAP_ROTOR ? 0 : gear->inertia) * acc;",
            ),
        ],
    ),
    Of(
        "plugin/inverse/derivative.c",
        "test_python_linearize.py",
        [
            ("row[mjgpTWIST * s->n] = gap->omega_s;", "row[mjgpTWIST * s->n] = 0;"),
            ("gap[mjgpGAPSTATE_POSITION * stride] = row[mjgpPLACE * s->n];", ""),
            ("m->actuator_ctrllimited[k] && ends ? -1 : 1;", "1;"),
        ],
    ),
    Of(
        "python/mjgear/_rows.py",
        "test_python_gears.py",
        [
            (
                "return Rows.of(self._gear, self._key, part, self._sims[index])",
                "return Rows.of(self._gear, self._key, part, self._sims)",
            ),
            ("np.copyto(_plain(self), now[self._sims])", "np.copyto(_plain(self), now[: len(self)])"),
            ("        rows.flags.writeable = False\n        return rows", "        return rows"),
            ("np.broadcast_to(series, shape).ravel()", "series.ravel()"),
        ],
    ),
    Of(
        "python/mjgear/_gears.py",
        "test_python_gears.py test_python_objects.py",
        [
            ("            shown.flags.writeable = False\n", ""),
            ("found[_structs.number_of(model, kind, own)] = where", "found[own] = where"),
            ("self._model = self._data.model\n", "pass\n"),
            ("changed = (before > 0) != (after > 0)", "changed = (before > 0) & (after > 0)"),
        ],
    ),
    Of(
        "python/mjgear/warp/kernels/law.py",
        WARP,
        [
            (
                "gv += S * gear.gamma_v_quadratic[w, g] * wp.abs(x)",
                "gv += S * gear.gamma_v_quadratic[w, g] * wp.abs(u)",
            ),
            ("            past.internal[w, g] = 0.0\n", ""),
            ("shift = efm_ca[w, i]", "shift = float(0.0)"),
        ],
    ),
    Of(
        "python/mjgear/warp/kernels/result.py",
        WARP,
        [
            ("error = wp.abs(t - real(s) * bound)", "error = wp.abs(t) - bound"),
            ("            s = -1\n", "            s = 1\n"),
            ("a = -law.v0[w, g] / h", "a = law.v0[w, g] / h"),
        ],
    ),
    Of(
        "plugin/gear/piece.h",
        "test_plugin_brake.py",
        [
            ("offset += f * bound.shift;", ""),
        ],
    ),
    Of(
        "plugin/solver/forces.c",
        "test_plugin_forces",
        [
            ("= -group->force[k];\n  }\n  mjgp_solveColumns", "= group->force[k];\n  }\n  mjgp_solveColumns"),
            ("jar0[c] -= group->aref[f->row[c]];", ""),
            ("Q[f->n] -= response[p] * jar0[first + p];", "Q[f->n] += response[p] * jar0[first + p];"),
            ("+ mju_dot(response, group->jar", "- mju_dot(response, group->jar"),
            ("T[c] += k < 0 ? group->R[i] : 1;", "T[c] += 1;"),
            ("T[c] += k < 0 ? group->R[i] : 1;", "T[c] += group->R[i];"),
            ("f->X + f->dof[i] * f->lanes, -1, f->nrow, ld);", "f->X + f->dof[i] * f->lanes, 1, f->nrow, ld);"),
            ("D[j] = f->D[j] * f->by_w[j];", "D[j] = 0;"),
            ("D0[j] = f->D[j] * f->w0[j];", "D0[j] = 0;"),
            ("row[i] += f->by_w[i];", ""),
            ("- mjgp_dotSimd(W, f->t0, 0, ld)", ""),
            ("f->by_t[i] = steep ? 1 : piece->slope;", "f->by_t[i] = steep;"),
            ("entryOfD(s, k) != 0 && !own[k]", "0"),
            ("count -= entryOfD", "count -= 0 * entryOfD"),
            ("|| otherDofs(s) <= room", ""),
        ],
    ),
    Of(
        "plugin/solver/forces.c",
        "test_plugin_newton test_plugin_coupling",
        [
            ("!keepsRows(f) ||", ""),
            ("!(error <= mjgpROOT)", "0", "only a nearly singular system is unbalanced after a direct solution"),
            ("error <= mjgpROOT * most &&", ""),
            ("(!toRestBranch(f) &&", "(!(0 && toRestBranch(f)) &&"),
        ],
    ),
    Of(
        "plugin/gear/piece.h",
        "test_plugin_self_locking",
        [
            ("t * piece->u > 0 && t * piece->lambda < 0", "t * piece->u < 0 && t * piece->lambda < 0"),
            ("t * piece->lambda < 0 && mju_abs(t) > piece->coulomb", "mju_abs(t) > 1 + piece->coulomb"),
        ],
    ),
    Of(
        "plugin/gear/friction.c",
        "test_plugin_sensor",
        [
            ("in->gamma_v, bound.c,", "in->gamma_u, bound.c,"),
        ],
    ),
    Of(
        "plugin/solver/tree.c",
        SOLVER,
        [
            ("diagonal += at->slope;", "diagonal -= at->slope;"),
            ("a[k] -= M[p] * known;", "a[k] += M[p] * known;"),
            ("force -= L[p] * a[k];", "force += L[p] * a[k];"),
            ("left[row[p]] -= M[p] * a[k];", "left[row[p]] += M[p] * a[k];"),
            ("at->t - at->slope * at->acc;", "at->t;"),
            ("sum -= M[m->M_rowadr[j] + n - 1] * a[j];", ""),
            ("&& !toRestBranch(tree)", ""),
            ("&& !release(tree)", ""),
            ("piece->inertia * W", "W"),
            ("+ h * tree->most;", ";"),
        ],
    ),
    Of(
        "plugin/model/rotors.c",
        "test_plugin_rotors.py test_plugin_gaps",
        [
            ("mju_addTo(d->qfrc_passive, shift, nv);", ""),
            ("mjgp_addReference(m, d, shift);", ""),
            ("mju_addTo(d->qacc_warmstart, shift, nv);", ""),
            ("mjtNum S = scale * g->in.gear[i].removed;", "mjtNum S = 0;"),
            ("g->in.gear[i].removed * acc);", "0 * acc);"),
            ("diagonal[row.dof[k]] -= g->in.gear", "diagonal[row.dof[k]] += g->in.gear"),
            ("mj_referenceConstraint(m, d);", ""),
            ("moves ? gear->misplaced : gear->implicit;", "gear->misplaced;"),
        ],
    ),
    Of(
        "plugin/gear/piece.h",
        "test_plugin_piece",
        [
            ("mju_abs(t) <= most + (piece->held ? mjgpFACTORED : mjgpSAME) * size", "0"),
            ("(piece->held ? mjgpFACTORED : mjgpSAME) * size", "mjgpSAME * size"),
            ("(piece->held ? mjgpFACTORED : mjgpSAME) * size", "mjgpFACTORED * size"),
            ("(rests ? along : v) > 0", "(rests ? -along : v) > 0"),
            ("(rests ? along : v) > 0", "(rests && along != 0 ? v : v) > 0"),
            ("return s * mjMAX(up, down);", "return s * (down > 0 ? up : up);"),
            ("r * mju_abs(slope * low - piece->gamma_v) < 1 &&", ""),
            ("r * mju_abs(slope * high - piece->gamma_v) < 1;", "high > 0;"),
        ],
    ),
    Of(
        "plugin/gear/piece.c",
        "test_plugin_piece",
        [
            ("return up * (t - far) > 0 ?", "return up * (t - far) < 0 ?"),
            ("int up = far > near ? 1 : -1;", "int up = 1;"),
        ],
    ),
    Of(
        "plugin/solver/parts.c",
        "test_plugin_parts " + PLUGIN,
        [
            ("number[k] = !mjgp_isAwake(m, d, k) ? -1 : own < 0 ? rest : own;", "number[k] = own < 0 ? rest : own;"),
        ],
    ),
    Of(
        "plugin/gear/friction.c",
        "test_plugin_oneway.py",
        [
            ("|| *tooth == 2 * (below + 1) + 1", ""),
            ("place > below && holds ? *tooth : 2 * below + 1", "2 * below + 1"),
        ],
    ),
    Of(
        "plugin/solver/dense.c",
        "test_plugin_newton test_plugin_fallback test_plugin_presliding " + PLUGIN,
        [
            ("p->R[i * n + i] -= beta[i];", ""),
            ("phi[i] = gamma * p->u[i];", "phi[i] = -gamma * p->u[i];"),
            ("g->out.cancellation[joint] += mju_abs(e * in->t_last);", ""),
        ],
    ),
    # places chosen by one who did not write them
    Of(
        "plugin/configuration/brake.c",
        "test_plugin_brake.py",
        [
            ("|| m->actuator_delay[i] != 0 ||", "||"),
            ("(m->jnt_type[id] == mjJNT_HINGE || m->jnt_type[id] == mjJNT_SLIDE)", "(m->jnt_type[id] == mjJNT_HINGE)"),
            ("made.dof >= 0 ? joint[i].dof == made.dof : joint[i].tendon == made.tendon", "joint[i].dof == made.dof"),
            ("on->ordinary = 0;", ""),
            ("m, k, count++, &place);", "m, k, 0 * count++, &place);"),
            ("if (!count) {", "if (0) {"),
            ("} else if (on->gap != mjgpGAP_NONE) {", "} else if (0) {"),
        ],
    ),
    Of(
        "plugin/gear/bound.h",
        "test_plugin_brake.py test_plugin_oneway.py",
        [
            ("released ? in->brake[i].sliding :", "released ? in->brake[i].holding :"),
        ],
    ),
    Of(
        "plugin/gear/friction.c",
        "test_plugin_brake.py",
        [
            ("before = mju_isBad(before) ? 0 : mju_clip(before, 0, 1);", ""),
            ("m->opt.disableactuator >> group & 1", "m->opt.disableactuator >> group"),
        ],
    ),
    Of(
        "plugin/gear/backlash.c",
        "test_plugin_backlash test_plugin_gaps test_plugin_tendon_gap.py test_plugin_rotors.py test_plugin_sensor",
        [
            ("inverse += 1 / joint->rotor_inertia;", ""),
            ("return !started;", "return started;"),
            (
                "mjg_couplingRest(&c->theta_b, &c->omega_s, c->law, c->theta_d, c->omega_d);",
                "c->theta_b = c->omega_s = 0;",
            ),
            ("d->actuator_velocity[out] += scale", "d->actuator_velocity[out] -= scale"),
            ("*angle += *gapState(g, d, i, mjgpGAPSTATE_ANGLE);", ""),
            ("joint = g->config->joint + joint->partner;", ""),
            ("if (i >= 0 && mjgp_isMotor(&c->motors, k, c->joint, i)) {", "if (i >= 0) {"),
            ("c->torque = in->tau;", "c->torque = in->motor;"),
        ],
    ),
    Of(
        "plugin/inverse/inverse.c",
        "test_plugin_inverse test_python_inverse.py",
        [
            ("p->v = nextVelocity(p->v0, acc, m->opt.timestep, mjgpFACTORED, 0);", "p->v = p->v0;"),
            ("bad |= !(mju_abs(x[k]) <= mjMAXVAL);", "bad |= isnan(x[k]);"),
            ("motion[at] == mjgMOTION_NONE || motion[at] == mjgMOTION_JAMS;", "motion[at] == mjgMOTION_NONE;"),
            ("motion[g->config->joint[i].number] = mjgMOTION_SLEEPS;", ""),
            ("if (*low <= t && t <= *high) {", "if (*low <= t) {"),
            (
                "mjtNum torque = released ? in->brake[p->i].sliding",
                "mjtNum torque = released ? in->brake[p->i].holding",
            ),
            ("own += in->row[i][k] * a[k];", ""),
        ],
    ),
    Of(
        "plugin/inverse/derivative.c",
        "test_python_linearize.py",
        [
            ("(s->Mhat->solver ? s->search : s->next)[i];", "s->search[i];"),
            ("qvel[config->own[joint]] = 0;  // to the last bit", ""),
            ("mjtNum wider = mjgpWIDER;", "mjtNum wider = 1;"),
            ("mjgp_restoreReference(g, m, d, 0);", ""),
            ("(m->opt.integrator == mjINT_EULER && gain <= mjGAIN_MUSCLE)", "gain <= mjGAIN_MUSCLE"),
        ],
    ),
    Of(
        "python/mjgear/_gears.py",
        "test_python_gears.py test_python_objects.py",
        [
            ("            state[...] = before\n            raise", "            raise"),
            ("series if series.ndim == 0 else series[..., i]", "series if series.ndim == 0 else series[..., 0]"),
            ("for value in values], axis=-1)", "for value in values], axis=0)"),
            ('("steps", "unsolved", "slow")]', '("steps", "slow", "unsolved")]'),
        ],
    ),
    Of(
        "python/mjgear/_changes.py",
        "test_python_gears.py test_python_objects.py test_python_arguments.py",
        [
            ("if series.size != 1 and series.shape != (count,):", "if series.size not in (1, count):"),
            ("return value.value if known else None", "return value.value"),
            (
                "        stride = rows.strides[0] // rows.itemsize if len(rows) > 1 else rows.shape[1]\n        if",
                "        stride = rows.shape[1]\n        if",
            ),
        ],
    ),
    Of(
        "plugin/state/changes.c",
        "test_plugin_change.py",
        [
            ("int foreign = layout != 0 && layout != config->layout;", "int foreign = 0 * (int)layout;"),
            ("    if (!foreign && (*mjgp_number(", "    if ((*mjgp_number("),
        ],
    ),
    Of(
        "plugin/state/model.c",
        "test_plugin_change.py",
        [
            ("if (n != nkey || size != nstate) {", "if (size != nstate) {"),
            ("if (n != nkey || size != nstate) {", "if (n != nkey) {"),
            ("(uint64_t)c->gap[i], (uint64_t)j->gap,      j->keys};", "(uint64_t)c->gap[i], (uint64_t)j->gap, 0};"),
        ],
    ),
    Of(
        "plugin/solver/tree.c",
        "test_plugin_path",
        [
            ("limit ? mjMIN(limit, mjgpMILD) : mjgpMILD;", "mjgpMILD + 0 * limit;"),
        ],
    ),
    Of(
        "plugin/solver/newton.c",
        "test_plugin_path",
        [
            ("if (!mjgp_spend(s) || !step(p)) {", "if (!step(p)) {"),
        ],
    ),
    Of(
        "plugin/solver/fallback.c",
        "test_plugin_path test_plugin_fallback",
        [
            ("s->most = mjgpBUDGET;", ""),
        ],
    ),
    Of(
        "python/mjgear/warp/kernels/law.py",
        WARP,
        [
            ("total = wp.clamp(total, most[0], most[1])", "total = wp.clamp(total, -most[1], most[1])"),
            ("total += gravcomp[w, i]", "total -= gravcomp[w, i]"),
        ],
    ),
    Of(
        "python/mjgear/warp/kernels/result.py",
        WARP,
        [
            ("result.power[w, g] = float(t * v)", "result.power[w, g] = float(-t * v)"),
            ("                if real(s) * u > real(0.0):\n", "                if real(s) * u < real(0.0):\n"),
        ],
    ),
    # and by another
    Of(
        "python/mjgear/_rows.py",
        "test_python_gears.py test_python_objects.py",
        [
            (
                "        np.copyto(_plain(self), now[self._sims])\n        self.flags.writeable = False",
                "        np.copyto(_plain(self), now[self._sims])",
            ),
            (
                'self._gear, self._key = None, getattr(source, "_key", "")',
                'self._gear, self._key = getattr(source, "_gear", None), getattr(source, "_key", "")',
            ),
            ("            return out[0]\n", "            return result\n"),
        ],
    ),
    Of(
        "python/mjgear/_gears.py",
        "test_python_gears.py test_python_objects.py",
        [
            ("len(np.unique(ids % count)) < len(ids)", "len(np.unique(ids)) < len(ids)"),
            ("if ids.dtype == bool and ids.shape == (count,):", "if ids.dtype == bool:"),
            ("return np.array([ids.item() % count])", "return np.array([ids.item()])"),
            ("models[one] if isinstance(models, tuple) else models or self._model, rows[one", "self._model, rows[one"),
            ("None if np.isnan(values).all() else", "None if np.isnan(values).any() else"),
            ("        self._names = dict(reversed(self._names.items()))\n", ""),
            ('self._batch.bind("sensordata")  # the next call fills it', "pass"),
        ],
    ),
    Of(
        "plugin/solver/delassus.c",
        "test_plugin_delassus",
        [
            ("low = mjMIN(low, begin);", "low = begin;"),
            ("high = begin < end ? mjMAX(high, end) : high;", "high = end;"),
        ],
    ),
    # and by a third
    Of(
        "plugin/gear/friction.c",
        "test_plugin_brake.py test_plugin_oneway.py test_plugin_change.py test_plugin_friction test_plugin_sensor test_plugin_backlash",
        [
            ("int off = !mjgp_actuationActive(m) ||", "int off ="),
            ("mju_clip(asked - before, -most, most)", "mju_clip(asked - before, -1, most)"),
            ("in->tau - in->t_last);", "in->tau);"),
            ("g->out.mode[i] == 0 && !mjgp_hasGap(g->config->joint + i) &&", "g->out.mode[i] == 0 &&"),
        ],
    ),
    Of(
        "plugin/configuration/gap.c",
        "test_plugin_gap test_plugin_motors.py test_plugin_brake.py test_plugin_tendon_gap.py test_plugin_gaps",
        [
            ("if (value != 0 && !mjgp_readsGapKey", "if (!mjgp_readsGapKey"),
            ("} else if (joint->gap == mjgpGAP_NONE) {", "} else if (0) {"),
            ("} else if (id == joint->joint) {", "} else if (0) {"),
            ("if (given && given != n) {", "if (given > n) {"),
            ("joint->rotor_inertia >= mjgMINROTOR", "joint->rotor_inertia > 0"),
            ("if (joint->brake.actuator >= 0) {", "if (0) {"),
            ("if (joint[i].gap == mjgpGAP_LOAD) {\n        mjgp_refuseKey", "if (0) {\n        mjgp_refuseKey"),
            ("mjg_defaultTransmission(&joint->gear);", ""),
        ],
    ),
    Of(
        "plugin/configuration/check.c",
        "test_plugin_remedies.py test_plugin_motors.py test_plugin_advance.py test_plugin_presliding test_plugin_tendon.py",
        [
            ("} else if (discrete && m->nflex) {", "} else if (0) {"),
            ("rubs(joint + i) || joint[i].brake.actuator >= 0 ||", "rubs(joint + i) ||"),
            ("m->opt.solver == mjSOL_PGS && (", "("),
            ("m->jnt_actgravcomp[other] || (motors.n", "(motors.n"),
            ("(motors.n && m->jnt_actfrclimited[other])", "m->jnt_actfrclimited[other]"),
            ("implicit && (motors.gains || motors.damped)", "implicit && motors.gains"),
            ("if (joint[k].kind == mjgpTRN_JOINT) {", "if (0) {"),
            ("mjgp_rotorArmature(m, joint) == 0 && coulomb == 0 &&", "mjgp_rotorArmature(m, joint) == 0 &&"),
            ("gamma_v >= 1 && !driven &&", "gamma_v >= 1 &&"),
            (
                "kp -= m->actuator_biasprm[mjNBIAS * k + 1] * moment * moment;",
                "kp -= m->actuator_biasprm[mjNBIAS * k + 1];",
            ),
            ("starts ? damped : 0, 2", "damped, 2"),
            ("own > mjMINVAL && rubs(joint + i)", "own > mjMINVAL"),
        ],
    ),
    Of(
        "plugin/state/change.c",
        "test_plugin_change.py test_plugin_changes.py test_plugin_abuse test_python_gears.py test_python_objects.py",
        [
            ("owner[number[j] >= mjgNKEY]", "owner[0]"),
            ("  *mjgp_number(state, c, i, mjgpSTATE_TYPE) = 1 + mjgTYPE_AUTO;\n", ""),
            ("    d->plugin_state[g->config->system + mjgpSYSTEM_SOLVER] = 0;\n", ""),
        ],
    ),
    Of(
        "plugin/inverse/inverse.c",
        "test_plugin_inverse test_python_inverse.py test_plugin_header.py",
        [
            ("p->taken = joint->rotor_inertia * acc;", "p->taken = 0;"),
        ],
    ),
    Of(
        "plugin/inverse/derivative.c",
        "test_python_linearize.py",
        [
            ("    state[config->state[joint] + mjgpSTATE_FRICTION] = s->target[i];\n", ""),
            ("keeps &= !mjgp_nextPiece(", "keeps &= 1 | !mjgp_nextPiece("),
        ],
    ),
    Of(
        "python/mjgear/_gears.py",
        "test_python_gears.py test_python_objects.py test_python_arguments.py",
        [
            ("if series.shape not in shapes:", "if False:"),
            ("            _warn_locks(self, before)\n", "            pass\n"),
        ],
    ),
    Of(
        "python/mjgear/_brakes.py",
        "test_plugin_brake.py test_python_arguments.py",
        [
            ("        if name in taken:\n", "        if False:\n"),
            ("(*spec.actuators, *spec.plugins)}", "spec.actuators}"),
            ("    _refuse(config, [(kind, one.name) for kind, one in braked])\n", ""),
            ("actuator.ctrllimited, actuator.ctrlrange = True, [0, 1]", "pass"),
            ("isinstance(group, bool) or not 0 <= group <= 30", "not 0 <= group <= 30"),
        ],
    ),
    Of(
        "python/mjgear/_inverse.py",
        "test_python_inverse.py",
        [
            ("        force[rows.any(0)] = 0\n", ""),
            ("wanted) > 0 else low)[number]", "wanted) < 0 else low)[number]"),
            (
                "data.qfrc_inverse - data.qfrc_applied - _wrenches(model, data)",
                "data.qfrc_inverse - _wrenches(model, data)",
            ),
            (" - _wrenches(model, data)", ""),
        ],
    ),
    # and by those who wrote none of it
    Of(
        "plugin/configuration/check.c",
        "test_plugin_rotors.py",
        [("joint[i].gap == mjgpGAP_ROTOR && mjgp_isMotorOf", "mjgp_isMotorOf")],
    ),
    Of(
        "plugin/state/change.c",
        "test_plugin_header.py test_python_gears.py",
        [
            ("solver > 0 && solver <= mjgNSOLVER", "solver > 0"),
            ("solver > 0 && solver <= mjgNSOLVER", "solver <= mjgNSOLVER"),
            ("given & one", "one"),
            ("given & one", "given"),
        ],
    ),
    Of(
        "plugin/inverse/inverse.c",
        "test_python_inverse.py",
        [
            ("!isfinite(*low)", "isnan(*low)"),
            ("!s || compliance > 0", "!s"),
            ("gap || compliance > 0 || in->", "gap || in->"),
            (" || isnan(rotor[joint->joint])", ""),
            ("if (joint->encoder == mjgpENCODER_MOTOR) {", "if (1) {"),
        ],
    ),
    Of(
        "plugin/inverse/derivative.c",
        "test_python_linearize.py",
        [("    move(&derivative, derivative.base, 0, 0);", "    (void)derivative;")],
    ),
    Of(
        "plugin/model/actuation.c",
        "test_plugin_matrix.py test_plugin_tendon.py",
        [
            ("*slope += (k + 2) * poly[k] * power;", "*slope += (k + 1) * poly[k] * power;"),
            ("t == tendon ? m->tendon_armature[t] : 0;", "m->tendon_armature[t];"),
        ],
    ),
    Of(
        "plugin/model/effective_inertia.c",
        "test_plugin_matrix.py",
        [("slope += (k + 2) * poly[k] * power;", "slope += (k + 1) * poly[k] * power;")],
    ),
    Of(
        "plugin/model/free_body.c",
        "test_plugin_free_body.py",
        [("    mju_addTo3(force, y);\n", "")],
    ),
    Of(
        "plugin/model/evaluation.c",
        "test_plugin_rotors.py test_plugin_actuation.py",
        [("dyn[5] * d->act[state] + dyn[6] * d->act_dot[state];", "dyn[5] * d->act[state];")],
    ),
    Of(
        "plugin/inverse/branch.c",
        "test_python_inverse.py test_plugin_inverse",
        [
            ("mjgi_lawResolve(&own, free, phi + slip.shift,", "mjgi_lawResolve(&own, free, phi,"),
            ("phi + hold.shift, P, hold.c, hold.r, hold.r);", "phi + hold.shift, P, hold.c, 1, 1);"),
        ],
    ),
    Of(
        "plugin/callbacks/advance.c",
        "test_plugin_brake.py test_plugin_oneway.py",
        [
            ("state[mjgpSTATE_TOOTH * stride] = g->in.brake[i].tooth;", ""),
            ("state[mjgpSTATE_BRAKE * stride] = g->in.brake[i].travel;", ""),
        ],
    ),
    Of(
        "plugin/gear/backlash.c",
        "test_plugin_sensor test_plugin_backlash test_plugin_gaps test_plugin_rotors.py",
        [("*velocity += *gapState(g, d, i, mjgpGAPSTATE_RATE);", "")],
    ),
    Of(
        "python/mjgear/_linearize.py",
        "test_python_linearize.py",
        [
            ("position[rows] = turn.reshape(3, 3) @ position[rows]", "pass"),
            ("not low <= value <= high or low <= value + step <= high", "low <= value + step <= high"),
        ],
    ),
    Of(
        "python/mjgear/_gears.py",
        "test_python_gears.py test_python_objects.py",
        [("        values.flags.writeable = False\n", "")],
    ),
    Of(
        "python/mjgear/warp/kernels/discrete.py",
        WARP,
        [("s * j[w, p] * (whole - j[w, p] * a[w, i])", "s * j[w, p] * whole")],
    ),
    Of(
        "python/mjgear/warp/kernels/states.py",
        WARP,
        [("pull / T * f * f * x", "pull / T * f * x")],
    ),
]


def apply(text, old, new, file):
    """The mutated text.

    Raises: ValueError: the old text does not occur exactly once.
    """
    if text.count(old) != 1 or old == new:
        raise ValueError(f"{file}: stands there {text.count(old)} times, not once: {old.strip()}")
    return text.replace(old, new)


class Copy:
    """A copy of the tree with a separate build."""

    def __init__(self, folder):
        self.tree, self.build = folder / "tree", folder / "build"
        names = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=SOURCE,
            check=True,
            capture_output=True,
        ).stdout
        self.tree.mkdir(parents=True, exist_ok=True)
        whole = hashlib.sha256()
        for name in filter(None, names.decode().split("\0")):
            there, here = SOURCE / name, self.tree / name
            content = there.read_bytes() if there.is_file() else None
            if name != "tests/mutate.py":
                whole.update(content or b"")
            if content is not None and not (here.is_file() and here.read_bytes() == content):
                here.parent.mkdir(parents=True, exist_ok=True)
                here.write_bytes(content)
                here.chmod(there.stat().st_mode & 0o777)
        self.digest = whole.hexdigest()
        self.build.parent.joinpath("tree/build").mkdir(exist_ok=True)
        for venv in SOURCE.glob("build/venv*"):
            here = self.tree / "build" / venv.name
            here.exists() or here.symlink_to(venv.resolve())
        found = (
            [os.environ["MUJOCO_DIR"]]
            if "MUJOCO_DIR" in os.environ
            else list(SOURCE.glob("build/venv/lib/python3*/site-packages/mujoco"))
        )
        if not found:
            sys.exit("mutate.py: no MuJoCo in build/venv; run ./demo, which installs it")
        # without a compiler's cache a header costs a compilation of what includes it twice, with the mutation and without
        launcher = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        self.run(
            "cmake",
            *launcher,
            "-G",
            "Ninja",
            "-S",
            self.tree,
            "-B",
            self.build,
            "-DCMAKE_BUILD_TYPE=Debug",
            "-DCMAKE_C_FLAGS_DEBUG=-O1",
            "-DMJGEAR_BUILD_VIEWER=OFF",
            f"-DMUJOCO_DIR={found[0]}",
        )

    def run(self, *command, **options):
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **options)
        if done.returncode:
            raise RuntimeError(f"{' '.join(map(str, command))}:\n{(done.stdout + done.stderr)[-3000:]}")

    def make(self, *targets):
        """Build.

        Raises:
          RuntimeError: it does not compile.
        """
        self.run("cmake", "--build", self.build, "-j", "1", "--target", *targets)

    def write(self, path, text):
        """Write a source. Modules that Python has compiled are known by size and second of their source, so they go."""
        path.write_text(text)
        if path.suffix == ".py":
            shutil.rmtree(self.tree / "build/pycache" / self.tree.resolve().relative_to("/"), ignore_errors=True)

    def passes(self, test, seconds):
        """Return True if a test passes within this processor time, s. Sets used, its processor time. The first failure of
        a test in C ends it."""
        python = test.endswith(".py")
        plugin = ["mjgear"] if python or test.startswith("test_plugin") else []
        self.make(*plugin, *(("mjgear_core_shared", "mjgear_bench", "mjgear-tool") if python else (test,)))
        process = subprocess.Popen(
            [
                "ctest",
                "--test-dir",
                self.build,
                "-R",
                f"^{test.removesuffix('.py')}$",
                "--no-tests=error",
                "--timeout",
                "3600",
                "--verbose",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds)),
            start_new_session=True,
        )
        if any(b"[  FAILED  ]" in line for line in process.stdout):
            os.killpg(process.pid, signal.SIGKILL)
        process.stdout.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.used = usage.ru_utime + usage.ru_stime
        return process.returncode == 0


class Tests:
    """Cost of each test on the unchanged tree, and the mutations that each has found."""

    def __init__(self, folder):
        self.record, self.costs = folder / "killers.json", folder / "costs.json"
        self.seconds, self.kills, self.lock = {}, collections.Counter(), threading.Lock()
        # of each mutation, the test that found it last, and the digest of its file and of the source of the test
        self.killer = json.loads(self.record.read_text()) if self.record.exists() else {}
        # of each test, its processor time and the digest of the tree in which it passed
        self.passed = json.loads(self.costs.read_text()) if self.costs.exists() else {}

    def measure(self, copy, test, resume):
        used, tree = self.passed.get(test, (0, ""))
        if not resume or tree != copy.digest:
            if not copy.passes(test, 600):
                sys.exit(f"{test} fails without any mutation")
            used = copy.used
        with self.lock:
            self.seconds[test] = used
            self.passed[test] = used, copy.digest
            self.costs.write_text(json.dumps(self.passed, indent=1))

    def killed(self, what, file):
        """The test that found this mutation of the file as it is; else None."""
        test, stamp = self.killer.get(what, ("", ""))
        return test if test and stamp == digest(file, test) else None

    def ordered(self, what, file, tests):
        """The test that found this mutation the last time, then those that find most in a second."""
        return sorted(
            tests,
            key=lambda test: (
                test != self.killer.get(what, [None])[0],
                -(self.kills[file, test] + 0.3) / (1 + self.seconds[test]),
            ),
        )

    def keep(self, what, file, test):
        with self.lock:
            self.killer[what] = test, digest(file, test)
            self.kills[file, test] += 1
            self.record.write_text(json.dumps(self.killer, indent=1))


def digest(file, test):
    """Digest of a file and of the sources that a test may have: files of C and Python whose name is part of its name."""
    name = f"_{test.removesuffix('.py').removeprefix('test_')}_"
    sources = [
        path
        for pattern in ("tests/**/*.c", "tests/**/*.py", "benchmarks/**/*.py")
        for path in sorted(SOURCE.glob(pattern))
        if f"_{path.stem.removeprefix('test_')}_" in name
    ]
    return hashlib.sha256(b"".join(path.read_bytes() for path in (SOURCE / file, *sources))).hexdigest()


class Verdict(NamedTuple):
    what: str
    test: str | None  # the test that fails; None: all pass
    reason: list
    fault: str = ""
    seconds: float = 0  # of its builds and tests


def called(of, mutation):
    old, new, *_ = mutation
    return f"{of.file}: {' '.join(old.split())} -> {' '.join(new.split()) or 'nothing'}"


def attempt(copy, tests, of, mutation):
    """Verdict over one mutation; ten times the usual time counts as found."""
    old, new, *reason = mutation
    what = called(of, mutation)
    path, start = copy.tree / of.file, time.monotonic()
    text = path.read_text()
    copy.write(path, apply(text, old, new, of.file))
    try:
        for test in tests.ordered(what, of.file, of.tests.split()):
            if not copy.passes(test, int(5 + 10 * tests.seconds[test])):
                tests.keep(what, of.file, test)
                return Verdict(what, test, reason, seconds=time.monotonic() - start)
    except RuntimeError as fault:
        return Verdict(what, None, reason, f"{what}: does not compile, so that it shows nothing:\n{fault}")
    finally:
        copy.write(path, text)
    return Verdict(what, None, reason, seconds=time.monotonic() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--folder", type=pathlib.Path, default=SOURCE / "build" / "mutate")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--list", action="store_true")
    a = parser.parse_args()
    chosen = [of for of in MUTATIONS if not a.words or any(word in of.file for word in a.words)]
    faults, count = [], 0
    for of in chosen:
        text = (SOURCE / of.file).read_text() if (SOURCE / of.file).exists() else ""
        for old, new, *_ in of.mutations:
            count += 1
            try:
                apply(text, old, new, of.file)
            except ValueError as fault:
                faults.append(str(fault))
    print(f"{count} mutations of {len(chosen)} files; {len(faults)} texts are not where they were")
    for fault in faults:
        print(f"  {fault}")
    if a.list or faults:
        return int(bool(faults))

    start = time.monotonic()
    a.folder.mkdir(parents=True, exist_ok=True)
    tests = Tests(a.folder)
    jobs = [(of, mutation) for of in chosen for mutation in of.mutations]
    if a.resume:
        jobs = [(of, mutation) for of, mutation in jobs if not tests.killed(called(of, mutation), of.file)]
        print(f"{count - len(jobs)} were killed before, in files that have not changed")
    copies = queue.SimpleQueue()
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for copy in pool.map(Copy, [a.folder / str(i) for i in range(a.jobs)]):
            copies.put(copy)

        def lent(function, *arguments):
            copy = copies.get()
            try:
                return function(copy, *arguments)
            finally:
                copies.put(copy)

        needed = sorted({test for of, _ in jobs for test in of.tests.split()})
        list(pool.map(lambda test: lent(tests.measure, test, a.resume), needed))
        print(f"{len(tests.seconds)} tests pass without mutations, {time.monotonic() - start:.0f} s", flush=True)
        verdicts = []
        for v in pool.map(lambda job: lent(attempt, tests, *job), jobs):
            verdicts.append(v)
            said = (
                "nothing"
                if v.fault
                else f"killed   {v.test}"
                if v.test
                else f"SURVIVED {(v.reason or ['no reason is given'])[0]}"
            )
            print(f"{v.seconds:4.0f} s {said:<37} {v.what}", flush=True)
    survivors = [v for v in verdicts if not v.test and not v.fault]
    faults = [v.fault for v in verdicts if v.fault]
    print(
        f"\n{count - len(survivors) - len(faults)} of {count} killed in {time.monotonic() - start:.0f} s, "
        f"{len(survivors)} survive (at most {LIMIT}), {len(faults)} show nothing"
    )
    for fault in faults:
        print(fault)
    return int(bool(faults) or len(survivors) > LIMIT or any(not v.reason for v in survivors))


if __name__ == "__main__":
    sys.exit(main())
