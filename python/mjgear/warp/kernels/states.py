"""Whether constraints keep their states, and cones their forces, at the motion that a friction problem has found."""

import warp as wp
from mujoco_warp._src.types import ConstraintState

from .contact import CONE, CONTACT_ELLIPTIC, FRICTION_DOF, QUADRATIC
from .numbers import Constraints, Progress, integers, vectors

LINEARNEG, LINEARPOS = int(ConstraintState.LINEARNEG), int(ConstraintState.LINEARPOS)
SATISFIED = int(ConstraintState.SATISFIED)

# places in the number that all threads of a world add to: threads that are done, rows whose force is not the one foreseen, rows with
# another matrix
DONE, OFF, OTHER = 1, 1 << 20, 1 << 40
PLACE = 1 << 20

# a step is as long as the cost of constraints falls along it, to this share of its first slope, in so many looks at most
SLOPE = 0.5
LOOKS = 6

# of the largest acceleration: a friction problem that moves a world by less has nothing more to find
ROUNDED = 1e-6


@wp.func
def one_sided(x: float, D: float) -> wp.vec2:
    """Force and state of a limit or of an edge of a pyramid."""
    if x < 0.0:
        return wp.vec2(-D * x, float(QUADRATIC))
    return wp.vec2(0.0, float(SATISFIED))


@wp.func
def two_sided(x: float, D: float, bound: float) -> wp.vec2:
    """Force and state of a row of friction loss."""
    if D * x <= -bound:
        return wp.vec2(bound, float(LINEARNEG))
    if D * x >= bound:
        return wp.vec2(-bound, float(LINEARPOS))
    return wp.vec2(-D * x, float(QUADRATIC))


@wp.func
def on_cone(own: int, x: float, D: float, D_normal: float, mu: float, N: float, T: float, f: float) -> wp.vec2:
    """Force and state of a row of an elliptic cone; N = mu x_0, T = |(f_j x_j)|."""
    if N >= mu * T:
        return wp.vec2(0.0, float(SATISFIED))
    if mu * N + T <= 0.0:
        return wp.vec2(-D * x, float(QUADRATIC))
    pull = mu * D_normal / (mu * mu * (1.0 + mu * mu)) * (N - mu * T)
    if own == 0:
        return wp.vec2(-pull, float(CONE))
    return wp.vec2(pull / T * f * f * x, float(CONE))


def make(numbers) -> list[wp.Kernel]:
    reals, gap, along = numbers.reals, numbers.native.gap, numbers.native.along

    @wp.func
    def row_of(w: int, r: int, nv: int, c: Constraints, motion: vectors) -> wp.vec2:
        """Force and state of a row at a motion."""
        x = float(gap(c.J, motion, c.aref, nv, w, r))
        if r < c.ne[w]:
            return wp.vec2(-c.D[w, r] * x, float(QUADRATIC))
        if r < c.ne[w] + c.nf[w]:
            return two_sided(x, c.D[w, r], c.frictionloss[w, r])
        if c.kind[w, r] != CONTACT_ELLIPTIC:
            return one_sided(x, c.D[w, r])
        con = c.identity[w, r]
        first = c.address[con, 0]
        mu = c.friction[con][0] * c.impratio_invsqrt[w % c.impratio_invsqrt.shape[0]]
        N = float(0.0)
        TT = float(0.0)
        own = mu
        for s in range(c.dim[con]):
            y = float(gap(c.J, motion, c.aref, nv, w, first + s))
            if s == 0:
                N = mu * y
            else:
                f = c.friction[con][s - 1]
                TT += f * y * f * y
                if first + s == r:
                    own = f
        return on_cone(r - first, x, c.D[w, r], c.D[w, first], mu, N, wp.sqrt(TT), own)

    @wp.func
    def shorten(
        w: int,
        nv: int,
        rows: int,
        start: float,
        c: Constraints,
        geared: wp.array(dtype=int),
        qfrc_smooth: vectors,
        qacc: vectors,
        goal: reals,
        # in and out
        force: vectors,
        state: integers,
        motion: vectors,
        Ma: vectors,
        # scratch
        old_Ma: vectors,
    ) -> float:
        """With this friction the way to the goal is a Newton step of the convex cost of constraints: go as far as that falls. How far."""
        base = float(0.0)
        mass = float(0.0)
        for k in range(nv):
            way = float(goal[w, k]) - qacc[w, k]
            base += way * (Ma[w, k] - qfrc_smooth[w, k])
            mass += way * (Ma[w, k] - old_Ma[w, k])
        slope = base
        for r in range(rows):
            slope -= float(along(c.J, qacc, goal, nv, w, r)) * force[w, r]
        low = float(0.0)
        low_slope = start
        high = float(1.0)
        high_slope = slope
        part = float(1.0)
        for look in range(LOOKS):
            if not (slope > -SLOPE * start or (part < 1.0 and slope < SLOPE * start)):
                break
            if slope > 0.0:
                high = part
                high_slope = slope
                if look > 0:
                    low_slope *= 0.5
            else:
                low = part
                low_slope = slope
                high_slope *= 0.5
            part = low + (high - low) * low_slope / (low_slope - high_slope)
            slope = base - (1.0 - part) * mass
            for k in range(nv):
                motion[w, k] = qacc[w, k] + part * (float(goal[w, k]) - qacc[w, k])
            for r in range(rows):
                gear = int(-1)
                if c.kind[w, r] == FRICTION_DOF:
                    gear = geared[c.identity[w, r]]
                if gear < 0:
                    found = row_of(w, r, nv, c, motion)
                    force[w, r] = found[0]
                    state[w, r] = int(found[1])
                slope -= float(along(c.J, qacc, goal, nv, w, r)) * force[w, r]
        for k in range(nv):
            Ma[w, k] = old_Ma[w, k] + part * (Ma[w, k] - old_Ma[w, k])
        return part

    @wp.kernel(module="unique", enable_backward=False)
    def states(
        lanes: int,
        limit: int,
        tolerance: float,
        nv: int,
        njmax: int,
        c: Constraints,
        geared: wp.array(dtype=int),
        cone: wp.array3d(dtype=float),
        qfrc_smooth: vectors,
        goal: reals,
        t: reals,
        m: integers,
        # in and out
        motion: vectors,
        progress: Progress,
        force: vectors,
        state: integers,
        qacc: vectors,
        Ma: vectors,
        qfrc_constraint: vectors,
        # out
        kept: vectors,
        kept_Ma: vectors,
        pending: wp.array(dtype=int),
        unsolved: wp.array(dtype=int),
    ):
        """Forces and states of all rows at the new motion. The last thread of a world, which on a GPU is a warp, says whether it is done."""
        w, lane = wp.tid()
        if progress.settles[w] != 0 or progress.rounds[w] >= limit:
            return
        rows = wp.min(c.nefc[w], njmax)
        mark = wp.int64(DONE)
        for r in range(lane, rows, lanes):
            before = state[w, r]
            foreseen = force[w, r]
            found = wp.vec2(0.0, 0.0)
            gear = int(-1)
            if c.kind[w, r] == FRICTION_DOF:
                gear = geared[c.identity[w, r]]
            if gear >= 0:
                before = wp.where(m[w, gear] == 0, QUADRATIC, wp.where(m[w, gear] > 0, LINEARPOS, LINEARNEG))
                foreseen = -float(t[w, gear])
                found = wp.vec2(foreseen, float(before))
            else:
                found = row_of(w, r, nv, c, motion)
                if before == QUADRATIC and int(found[1]) == QUADRATIC:
                    foreseen = found[0]
                elif before == QUADRATIC:
                    foreseen = -c.D[w, r] * float(gap(c.J, motion, c.aref, nv, w, r))
                elif before == CONE:
                    con = c.identity[w, r]
                    for s in range(c.dim[con]):
                        foreseen -= cone[w, r, s] * float(along(c.J, qacc, goal, nv, w, c.address[con, 0] + s))
            if not (wp.abs(found[0] - foreseen) <= tolerance * progress.largest[w]):
                mark += wp.int64(OFF)
            if int(found[1]) != before or before == CONE:
                mark += wp.int64(OTHER)
            force[w, r] = found[0]
            state[w, r] = int(found[1])

        # one number, so that the last thread sees what all others have found
        sum = wp.atomic_add(progress.arrived, w, mark) + mark
        if sum % wp.int64(PLACE) != wp.int64(lanes):
            return
        off = (sum // wp.int64(PLACE)) % wp.int64(PLACE) != wp.int64(0) and not (progress.moved[w] <= ROUNDED)
        progress.other[w] = wp.where(sum // wp.int64(OTHER) != wp.int64(0), 1, 0)
        if off:
            part = shorten(w, nv, rows, progress.slope[w], c, geared, qfrc_smooth, qacc, goal, force, state, motion, Ma, kept_Ma)
            if part < 1.0:
                progress.other[w] = 1
        for k in range(nv):
            qacc[w, k] = motion[w, k]
        progress.rounds[w] = progress.rounds[w] + 1
        if not off and progress.far[w] == 0:
            progress.settles[w] = 1
            for k in range(nv):
                kept[w, k] = qfrc_constraint[w, k]
                kept_Ma[w, k] = Ma[w, k]
        elif progress.rounds[w] < limit:
            return
        else:
            wp.atomic_add(unsolved, 0, 1)
        wp.atomic_add(pending, 0, -1)

    return [states]
