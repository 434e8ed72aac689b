"""Gears on the robots of others: is the law kept in every step, and what does it cost?

    benchmarks/robots/bench.py [--long] [--robots NAME..] [--gears A B C] [--integrators ..] [--steps N] [--library FILE]

Gears A (mild), B (self-locking) and C (mild, with backlash) on all actuated joints; random, resting and unpowered controls. After
each step of the engine the law is checked with the velocities that the engine itself came to, and with inertias and gains
from the model: with a = (v+ - v)/h, u = tau - S a (S rotor inertia and what the integrator makes implicit of the
actuators) and lambda = (gamma_u + gamma_v) u - gamma_v t,

    wrong     t v+ < 0
    beyond    |t| > |lambda|, or |t| < |lambda| while the joint moves
    silent    either of them in a step whose status says that it is solved

The friction t is what the passive forces of the geared model miss of those of the robot without gears.
"""

import argparse
import itertools
import json
import pathlib
import sys
import time

import mujoco
import numpy as np

import robots

INTEGRATORS = {"Euler": 0, "implicit": 2, "implicitfast": 3, "discrete": 4}
CONES = {"pyramidal": 0, "elliptic": 1}
SOLVERS = {"PGS": 0, "CG": 1, "Newton": 2}
STATUS, RESIDUAL, FRICTION = 11, 10, 0
SOLVED = (0, 1)


def actuator_terms(model, data, stiff, ends):
    """What the integrator makes implicit of the actuators: S (nv x nv) in tau - S a, and the torque that goes with it at the start
    of the step. From the definition of the actuators, not from the engine's derivative."""
    nv, h = model.nv, model.opt.timestep
    S, shift = np.zeros((nv, nv)), np.zeros(nv)
    if not ends:
        return S, shift
    for i in range(model.nu):
        force = data.actuator_force[i]
        if model.actuator_forcelimited[i] and not (
                model.actuator_forcerange[i, 0] < force < model.actuator_forcerange[i, 1]):
            continue
        kind, target = mujoco.mjtTrn(model.actuator_trntype[i]), model.actuator_trnid[i, 0]
        if kind in (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT) and model.jnt_actfrclimited[target]:
            low, high = model.jnt_actfrcrange[target]
            if not low < data.qfrc_actuator[model.jnt_dofadr[target]] < high:
                continue
        adr = model.actuator_actadr[i]
        signal = data.ctrl[i] if adr < 0 else data.act[adr + model.actuator_actnum[i] - 1]
        kp = kv = 0.0
        if mujoco.mjtBias(model.actuator_biastype[i]) == mujoco.mjtBias.mjBIAS_AFFINE:
            kp, kv = -model.actuator_biasprm[i, 1], -model.actuator_biasprm[i, 2]
        if mujoco.mjtGain(model.actuator_gaintype[i]) == mujoco.mjtGain.mjGAIN_AFFINE:
            kp -= model.actuator_gainprm[i, 1] * signal
            kv -= model.actuator_gainprm[i, 2] * signal
        if kp == 0 and kv == 0:
            continue
        row = np.zeros(nv)
        a, n = data.moment_rowadr[i], data.moment_rownnz[i]
        row[data.moment_colind[a:a + n]] = data.actuator_moment[a:a + n]
        if stiff:
            kp, kv = max(kp, 0), max(kv, 0)
            S += (h * kv + h * h * kp) * np.outer(row, row)
            shift -= h * kp * row * (row @ data.qvel)
        else:
            S += h * kv * np.outer(row, row)
    return S, shift


class Controls:
    """Random: a new point of the whole range every 20 steps. Rest: the middle of it. Unpowered: no actuation."""

    def __init__(self, model, kind, seed):
        self.kind, self.random = kind, np.random.default_rng(seed)
        low, high = model.actuator_ctrlrange.T
        limited = model.actuator_ctrllimited.astype(bool)
        self.low, self.high = np.where(limited, low, -1.0), np.where(limited, high, 1.0)

    def apply(self, data, step):
        if self.kind == "random" and step % 20 == 0:
            data.ctrl[:] = self.random.uniform(self.low, self.high)
        elif self.kind == "rest" and step == 0:
            data.ctrl[:] = np.clip(0, self.low, self.high)


def play(text, plain_text, gear, kind, steps, seed, options, check=True):
    """One run; returns counts and times."""
    model = mujoco.MjModel.from_xml_string(text)
    plain = mujoco.MjModel.from_xml_string(plain_text)
    for key, value in options.items():
        for x in (model, plain):
            setattr(x.opt, key, value)
    if kind == "unpowered":
        for x in (model, plain):
            x.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ACTUATION
    data, twin = mujoco.MjData(model), mujoco.MjData(plain)
    controls = Controls(model, kind, seed)
    sensors = [i for i in range(model.nsensor) if mujoco.mjtSensor(model.sensor_type[i]) == mujoco.mjtSensor.mjSENS_PLUGIN]
    adr = model.sensor_adr[sensors].astype(int)
    dof = np.array([model.jnt_dofadr[model.sensor_objid[i]] for i in sensors], dtype=int)
    h = model.opt.timestep
    gamma_u, gamma_v = 0.2, 1.1 if gear == "B" else 0.3
    armature = np.array([model.dof_armature[j] for j in dof])
    implicit = model.opt.integrator in (2, 3, 4) and kind != "unpowered"
    discrete = model.opt.integrator == 4
    implicit &= not (discrete and model.opt.solver == SOLVERS["PGS"])  # which leaves out what actuators add
    result = dict(steps=0, unsolved=0, wrong=0, beyond=0, silent=0, worst=0.0)
    times = np.full(steps, 1e3)
    for step in range(steps):
        controls.apply(data, step)
        v = data.qvel.copy()
        if check and sensors:
            twin.qpos[:], twin.qvel[:], twin.act[:] = data.qpos, data.qvel, data.act
        begin = time.thread_time_ns()
        mujoco.mj_step(model, data)
        times[step] = time.thread_time_ns() - begin
        if not np.isfinite(data.qvel).all() or data.warning[mujoco.mjtWarning.mjWARN_BADQACC].number:
            result["steps"] = step
            result["diverged"] = 1
            break
        if not (check and sensors):
            continue

        status = data.sensordata[adr + STATUS]
        solved = np.isin(status, SOLVED).all()
        result["unsolved"] += not solved
        if gear == "C":
            continue
        mujoco.mj_fwdPosition(plain, twin)
        mujoco.mj_fwdVelocity(plain, twin)
        t = (twin.qfrc_passive - data.qfrc_passive)[dof]
        S, shift = actuator_terms(model, AtStart(data, twin, v), discrete, implicit)
        a = (data.qvel - v) / h
        u = (data.qfrc_actuator + shift - S @ a)[dof] - armature * a[dof]
        lam = (gamma_u + gamma_v) * u - gamma_v * t
        w = data.qvel[dof]
        scale = (np.abs(data.qfrc_actuator[dof]) + np.abs(S @ a)[dof] + np.abs(shift[dof]) + np.abs(armature * a[dof])
                 + np.abs(t) + np.abs(data.qfrc_passive[dof]) + np.abs(data.qfrc_constraint[dof])
                 + np.abs(data.qfrc_bias[dof])).max() + 1e-12
        fast = h * scale / model.dof_M0[dof] + np.abs(v[dof])
        moves = np.abs(w) > 1e-6 * fast
        wrong = (t * np.sign(w) < -1e-6 * scale) & moves
        beyond = np.abs(t) > np.abs(lam) + 1e-5 * scale
        beyond |= moves & (np.abs(np.abs(t) - np.abs(lam)) > 1e-5 * scale)
        result["wrong"] += bool(wrong.any())
        result["beyond"] += bool(beyond.any())
        result["silent"] += bool((wrong.any() or beyond.any()) and solved)
        if wrong.any():
            result["worst"] = max(result["worst"], float((-(t * np.sign(w)) / scale)[wrong].max()))
    else:
        result["steps"] = steps
    times = times[10:max(result["steps"], 11)] / 1e3
    result |= dict(median=max(float(np.median(times)), 0.1), slowest=float(times.max()), mean=float(times.mean()))
    return result


class AtStart:
    """What actuators saw at the start of the step."""

    def __init__(self, data, twin, v):
        self.actuator_force, self.qfrc_actuator = data.actuator_force, data.qfrc_actuator
        self.ctrl, self.act, self.qvel = data.ctrl, twin.act, v
        self.moment_rowadr, self.moment_rownnz = twin.moment_rowadr, twin.moment_rownnz
        self.moment_colind, self.actuator_moment = twin.moment_colind, twin.actuator_moment


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--robots", nargs="*")
    parser.add_argument("--gears", nargs="*", default=["A", "B", "C"])
    parser.add_argument("--integrators", nargs="*", default=["implicitfast", "discrete"])
    parser.add_argument("--cones", nargs="*", default=["pyramidal"])
    parser.add_argument("--solvers", nargs="*", default=["Newton"])
    parser.add_argument("--controls", nargs="*", default=["random", "rest", "unpowered"])
    parser.add_argument("--servos", nargs="*", type=float, default=[0.0])
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--noslip", type=int, default=0)
    parser.add_argument("--library", default=str(robots.HERE.parent.parent / "build/lib/libmjgear.so"))
    parser.add_argument("--json")
    parser.add_argument("--fail", action="store_true", help="exit 1 if a step is silent, or a solved one has the wrong sign")
    args = parser.parse_args()
    mujoco.mj_loadPluginLibrary(args.library)
    mujoco.set_mju_user_warning(lambda text: None)
    table, bad = [], 0
    chosen = {n: w for n, w in robots.names(args.long or bool(args.robots)).items() if not args.robots or n in args.robots}
    print(f"{'robot':18} {'dofs':>4} {'gears':>5} {'options':38} {'steps':>7} {'unsolv':>6} {'wrong':>5} {'beyond':>6}"
          f" {'silent':>6} {'median':>8} {'worst':>9} {'/plain':>6} {'/loss':>6}")
    for name, (wheel, path) in chosen.items():
        for servo in args.servos:
            spec, model = robots.prepare(robots.fetch(wheel) / path, {}, servo)
            plain = robots.variants(spec, model, None)
            loss = robots.variants(spec, model, "loss")
            for integrator, cone, solver in itertools.product(args.integrators, args.cones, args.solvers):
                options = dict(integrator=INTEGRATORS[integrator], cone=CONES[cone], solver=SOLVERS[solver],
                               noslip_iterations=args.noslip)
                spec.option.integrator = INTEGRATORS[integrator]
                model = spec.compile()
                base = {k: [play(x, plain, None, kind, args.steps, 1, options, False)["median"]
                            for kind in args.controls] for k, x in (("plain", plain), ("loss", loss))}
                for gear in args.gears:
                    label = f"{gear} {integrator} {cone[:4]} {solver}" + (f" servo {servo:g}" if servo else "")
                    try:
                        text = robots.variants(spec, model, gear)
                        runs = [play(text, plain, gear, kind, args.steps, 1, options) for kind in args.controls]
                    except ValueError as error:
                        print(f"{name:18} {model.nv:4} {len(robots.gearable(model)):5} {label:38} refused: {str(error)[:60]!r}")
                        continue
                    row = {k: sum(r[k] for r in runs) for k in ("steps", "unsolved", "wrong", "beyond", "silent")}
                    row |= dict(robot=name, dofs=model.nv, gears=len(robots.gearable(model)), options=label,
                                median=float(np.median([r["median"] for r in runs])), worst=max(r["slowest"] for r in runs),
                                plain=float(np.median([r["median"] / b for r, b in zip(runs, base["plain"])])),
                                loss=float(np.median([r["median"] / b for r, b in zip(runs, base["loss"])])),
                                diverged=sum(r.get("diverged", 0) for r in runs))
                    table.append(row)
                    bad += row["silent"]
                    print(f"{name:18} {row['dofs']:4} {row['gears']:5} {label:38} {row['steps']:7} {row['unsolved']:6}"
                          f" {row['wrong']:5} {row['beyond']:6} {row['silent']:6} {row['median']:8.1f} {row['worst']:9.1f}"
                          f" {row['plain']:6.2f} {row['loss']:6.2f}" + ("  diverged" if row["diverged"] else ""), flush=True)
    for gear in args.gears:
        rows = [r for r in table if r["options"].startswith(gear)]
        if rows:
            total = {k: sum(r[k] for r in rows) for k in ("steps", "unsolved", "wrong", "beyond", "silent")}
            ratio = [r["plain"] for r in rows], [r["loss"] for r in rows]
            print(f"{gear}: {total}, cost / plain {np.median(ratio[0]):.2f} (p90 {np.percentile(ratio[0], 90):.2f}),"
                  f" / frictionloss {np.median(ratio[1]):.2f} (p90 {np.percentile(ratio[1], 90):.2f}),"
                  f" worst / median step {max(r['worst'] / r['median'] for r in rows):.0f}")
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(table, indent=1))
    return 1 if args.fail and bad else 0


if __name__ == "__main__":
    sys.exit(main())
