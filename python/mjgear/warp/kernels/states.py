"""Check that constraints keep their states, and cones their forces, at the motion of a friction problem."""

import warp as wp
from mujoco_warp._src.types import ConstraintState

from .contact import CONE, CONTACT_ELLIPTIC, FRICTION_DOF, QUADRATIC
from .numbers import Constraints, Motion, Round, vectors

LINEARNEG, LINEARPOS = int(ConstraintState.LINEARNEG), int(ConstraintState.LINEARPOS)
SATISFIED = int(ConstraintState.SATISFIED)

# relative to the largest force: accepted error of a predicted constraint force
FORESEEN = 2e-6

# line search: accepted slope of the cost relative to the first, and largest number of further evaluations
SLOPE = 0.5
LOOKS = 16

# rounds without a change of pieces or states, after which only round-off moves a world
CALM = 2

# relative to the largest acceleration: smaller changes end the rounds; relative to the largest force: unless a stiff contact changes
# its state
ROUNDED = 1e-5
WRONG = 1e-4


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
def on_cone(own: int, x: float, D: float, Dm: float, mu: float, N: float, T: float, f: float) -> wp.vec2:
    """Force and state of a row of an elliptic cone: see contact.py."""
    if N >= mu * T:
        return wp.vec2(0.0, float(SATISFIED))
    if mu * N + T <= 0.0:
        return wp.vec2(-D * x, float(QUADRATIC))
    pull = mu * Dm * (N - mu * T)
    if own == 0:
        return wp.vec2(-pull, float(CONE))
    return wp.vec2(pull / T * f * f * x, float(CONE))


def make(numbers) -> list[wp.Kernel]:
    Found, Scratch = numbers.Found, numbers.Scratch
    gap, along, sync = numbers.native.gap, numbers.native.along, numbers.native.sync
    cone_mu, cone_D, on_contact = numbers.cone_mu, numbers.cone_D, numbers.on_contact

    @wp.func
    def total(w: int, lane: int, lanes: int, x: float, shared: vectors) -> float:
        """Sum over the threads of a world, the same for each of them."""
        shared[w, lane] = x
        sync()
        sum = float(0.0)
        for k in range(lanes):
            sum += shared[w, k]
        sync()
        return sum

    @wp.func
    def row_of(w: int, r: int, nv: int, c: Constraints, next: vectors) -> wp.vec2:
        """Force and state of a row at a motion."""
        x = float(gap(c.J, next, c.aref, nv, w, r))
        if r < c.ne[w]:
            return wp.vec2(-c.D[w, r] * x, float(QUADRATIC))
        if r < c.ne[w] + c.nf[w]:
            return two_sided(x, c.D[w, r], c.frictionloss[w, r])
        if c.kind[w, r] != CONTACT_ELLIPTIC:
            return one_sided(x, c.D[w, r])
        con = c.identity[w, r]
        mu = cone_mu(w, con, c)
        at = on_contact(w, r, nv, c, next)
        return on_cone(r - c.address[con, 0], x, c.D[w, r], cone_D(w, con, mu, c), mu, at[0], at[1], at[3])

    @wp.func
    def gear_of(w: int, r: int, passive: int, c: Constraints, geared: wp.array(dtype=int)) -> int:
        """The gear of a row, or -1 where it is a row as others are."""
        if passive == 0 and c.kind[w, r] == FRICTION_DOF:
            return geared[c.identity[w, r]]
        return -1

    @wp.func
    def look(w: int, lane: int, lanes: int, nv: int, rows: int, c: Constraints, motion: Motion):
        """Forces and states of all rows at the motion of the world, rows of gears included."""
        for k in range(lane, nv, lanes):
            motion.next[w, k] = motion.qacc[w, k]
        sync()
        for r in range(lane, rows, lanes):
            found = row_of(w, r, nv, c, motion.next)
            motion.force[w, r] = found[0]
            motion.state[w, r] = int(found[1])
        sync()

    @wp.func
    def foreseen_of(w: int, r: int, nv: int, before: int, c: Constraints, motion: Motion, scratch: Scratch) -> float:
        """Force of a row where it keeps its state."""
        if before == QUADRATIC:
            return -c.D[w, r] * float(gap(c.J, motion.next, c.aref, nv, w, r))
        force = motion.force[w, r]
        if before == CONE:
            con = c.identity[w, r]
            for s in range(c.dim[con]):
                force -= scratch.cone[w, r, s] * float(
                    along(c.J, motion.qacc, scratch.gradient, nv, w, c.address[con, 0] + s)
                )
        return force

    @wp.func
    def curvature(w: int, r: int, nv: int, c: Constraints, motion: Motion, scratch: Scratch) -> float:
        """Return the curvature of the cost of a row along the step, at the next motion. A contact on its cone has all of it in its first row."""
        change = float(along(c.J, motion.qacc, scratch.gradient, nv, w, r))
        if motion.state[w, r] == QUADRATIC:
            return c.D[w, r] * change * change
        if motion.state[w, r] != CONE:
            return 0.0
        con = c.identity[w, r]
        if c.address[con, 0] != r:
            return 0.0

        # N is linear along the step, T is not
        mu = cone_mu(w, con, c)
        at = on_contact(w, r, nv, c, motion.next)
        T = at[1]
        first = float(0.0)
        second = float(0.0)
        for s in range(1, c.dim[con]):
            f = c.friction[con][s - 1]
            x = f * float(gap(c.J, motion.next, c.aref, nv, w, r + s))
            y = f * float(along(c.J, motion.qacc, scratch.gradient, nv, w, r + s))
            first += x * y
            second += y * y
        first /= T
        pull = mu * change - mu * first
        return cone_D(w, con, mu, c) * (pull * pull - (at[0] - mu * T) * mu * (second - first * first) / T)

    @wp.func
    def shorten(
        w: int,
        lane: int,
        lanes: int,
        nv: int,
        rows: int,
        round: Round,
        c: Constraints,
        geared: wp.array(dtype=int),
        motion: Motion,
        scratch: Scratch,
    ) -> float:
        """With this friction the step is a Newton step on the convex cost of the constraints; returns its length by a line search."""
        start = round.slope
        base = float(0.0)
        mass = float(0.0)
        for k in range(nv):
            way = float(scratch.gradient[w, k]) - motion.qacc[w, k]
            base += way * (motion.Ma[w, k] - motion.smooth[w, k])
            mass += way * (motion.Ma[w, k] - scratch.old_Ma[w, k])
        low = float(0.0)
        high = float(1.0)
        part = float(1.0)
        for look in range(LOOKS + 1):
            push = float(0.0)
            curve = float(0.0)
            for r in range(lane, rows, lanes):
                if gear_of(w, r, round.passive, c, geared) < 0:
                    if look > 0:
                        found = row_of(w, r, nv, c, motion.next)
                        motion.force[w, r] = found[0]
                        motion.state[w, r] = int(found[1])
                    curve += curvature(w, r, nv, c, motion, scratch)
                push += float(along(c.J, motion.qacc, scratch.gradient, nv, w, r)) * motion.force[w, r]
            slope = base - (1.0 - part) * mass - total(w, lane, lanes, push, scratch.shared)
            curve = mass + total(w, lane, lanes, curve, scratch.shared)
            if look == LOOKS or not (slope > -SLOPE * start or (part < 1.0 and slope < SLOPE * start)):
                break

            # Newton's step, or bisection
            if slope > 0.0:
                high = part
            else:
                low = part
            part = part - slope / curve
            if not (part > low and part < high):
                part = 0.5 * (low + high)
            for k in range(lane, nv, lanes):
                motion.next[w, k] = motion.qacc[w, k] + part * (float(scratch.gradient[w, k]) - motion.qacc[w, k])
            sync()
        for k in range(lane, nv, lanes):
            motion.Ma[w, k] = scratch.old_Ma[w, k] + part * (motion.Ma[w, k] - scratch.old_Ma[w, k])
        return part

    @wp.func
    def states(
        w: int,
        lane: int,
        lanes: int,
        nv: int,
        rows: int,
        round: Round,
        c: Constraints,
        geared: wp.array(dtype=int),
        found: Found,
        motion: Motion,
        scratch: Scratch,
    ) -> Round:
        """Set the new motion; compute forces and states of all rows, and whether the world is done."""
        off = float(0.0)
        wrong = float(0.0)
        other = float(0.0)
        for r in range(lane, rows, lanes):
            gear = gear_of(w, r, round.passive, c, geared)
            if gear >= 0:
                mode = found.mode[w, gear]
                motion.force[w, r] = -float(found.t[w, gear])
                motion.state[w, r] = wp.where(mode == 0, QUADRATIC, wp.where(mode > 0, LINEARPOS, LINEARNEG))
            else:
                before = motion.state[w, r]
                now = row_of(w, r, nv, c, motion.next)
                change = wp.abs(now[0] - foreseen_of(w, r, nv, before, c, motion, scratch))
                if not (change <= FORESEEN * round.largest):
                    off += 1.0
                if not (change <= WRONG * round.largest):
                    wrong += 1.0
                if int(now[1]) != before or before == CONE:
                    other += 1.0
                motion.force[w, r] = now[0]
                motion.state[w, r] = int(now[1])
        off = total(w, lane, lanes, off, scratch.shared)
        wrong = total(w, lane, lanes, wrong, scratch.shared)
        other = total(w, lane, lanes, other, scratch.shared)
        is_off = wrong > 0.0 or (off > 0.0 and not (round.moved <= ROUNDED))
        next = round
        next.other = wp.where(other > 0.0, 1, 0)
        if is_off and round.far != 0:
            # a step that is near takes its whole length: the cost of constraints does not resolve it
            if shorten(w, lane, lanes, nv, rows, round, c, geared, motion, scratch) < 1.0:
                next.other = 1
            sync()
        for k in range(lane, nv, lanes):
            motion.qacc[w, k] = motion.next[w, k]
        sync()
        next.calm = wp.where(off > 0.0 or other > 0.0 or round.kept == 0, 0, round.calm + 1)
        next.settled = wp.where(is_off or (round.far != 0 and next.calm < CALM), 0, 1)
        next.number = round.number + 1
        return next

    numbers.look, numbers.states = look, states
    return []
