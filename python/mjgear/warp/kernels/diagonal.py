"""Gears inside the constraint solver: while a gear slips its friction is a line over the acceleration of its joint, t = k - d a.

    (M - [d]) a = qfrc_smooth - [C] + J' f - row,    C + row = k where a joint slips

-d is part of the metric that Newton factors, and changes with the piece. What jumps where the joint stops is its row of friction
loss: a = -v/h there, and so are the bounds of its friction, C in their middle. A row is centred on the friction that it
had, so that a stuck joint does not creep; it is soft as long as pieces change, because a line search stops at each of its ends.
Where a joint slips far from its stop the row is left out, and all of k is in C: its cost, force times distance, would
hide all others in single precision.

A gear that breaks away from static friction does so where the step is solved with it (mjgi_lawReleases); one that barely slips there
is held once, to see whether its bound is enough.
"""

import warp as wp
from mujoco_warp._src.types import ConstraintState

from .numbers import integers, scalars, vectors

QUADRATIC = int(ConstraintState.QUADRATIC)

# stands for a bound that no torque reaches
BIG = 1e15

# acceleration of a joint that is held, relative to what it lost and to what its friction takes: single precision
HELD = 1e-5

# of the largest acceleration of a geared joint: rounding errors
ROUNDED = 3e-7

# R of a row while its joint may go on to slip, relative to that of a joint that is stuck: line searches stop less often
SOFT = 10.0

# of the way to where a joint stops, what it may move in an iteration so that its row is left out
FAR = 0.3

# iterations after which rows are centred in the other way
TURNS = 16

# times that a solve goes on because of gears after the solver was done
ROUNDS = 12


def make(numbers) -> list[wp.Kernel]:
    real, Law = numbers.real, numbers.Law
    limit, line, ratio = numbers.native.limit, numbers.native.line, numbers.native.ratio

    @wp.struct
    class Pieces:
        stop: vectors  # acceleration that stops the joint
        R: vectors
        hard: vectors  # R of a joint that is stuck
        offset: vectors  # middle of the row's friction
        centre: vectors  # friction on which the row is centred
        slope: vectors  # d
        constant: vectors  # C
        diagonal: vectors  # of the metric without the gear
        metric: vectors  # of efm_diag without the gear
        smooth: vectors  # force without the gear
        last: vectors  # acceleration of the last iteration
        total: vectors  # constant part of its friction
        released: integers
        tried: integers  # 1: is held, to see whether its bound is enough; 2: was
        again: wp.array(dtype=int)  # the world was done but for its gears
        rounds: wp.array(dtype=int)

    @wp.func
    def bound(law: Law, w: int, g: int, s: int, stop: float, r: real) -> float:
        """Friction in direction s where the joint stands, infinite if it locks."""
        load = law.gain[w, g] * (law.tau[w, g] - law.inertia[w, g] * real(stop))
        return wp.min(float(limit(s, load, -law.beta[w, g], law.c[w, g], r)), BIG)

    @wp.func
    def factor_of(law: Law, w: int, g: int, s: int, released: int) -> real:
        if released != 0:
            return real(1.0)
        return ratio(law.ratio[w, g], law.v0[w, g], s)

    @wp.func
    def piece_line(law: Law, w: int, g: int, s: int, load: int, r: real) -> wp.vec3:
        """k and d of a slipping piece; the last number is 0 if it leads nowhere from zero friction."""
        f = real(s * load) * r
        offset = real(s) * r * law.c[w, g]
        gain, beta = law.gain[w, g], law.beta[w, g]
        slope = line(f, offset, gain, beta, 0)
        there = float(line(f, offset, gain, beta, 2))
        return wp.vec3(float(slope * law.tau[w, g] + line(f, offset, gain, beta, 1)), float(slope * law.inertia[w, g]), there)

    @wp.func
    def driven(law: Law, w: int, g: int, a: float) -> float:
        return float(law.gain[w, g] * (law.tau[w, g] - law.inertia[w, g] * real(a)))

    @wp.func
    def tolerance(stop: float, R: float, softness: float, t: float, most: float) -> float:
        """Acceleration within which a joint is held, where others have up to most."""
        return HELD * (wp.abs(stop) + R / softness * wp.abs(t)) + ROUNDED * most

    @wp.func
    def largest(dof: wp.array(dtype=int), qacc: wp.array(dtype=float), stop: wp.array(dtype=float)) -> float:
        most = float(0.0)
        for g in range(dof.shape[0]):
            most = wp.max(most, wp.max(wp.abs(qacc[dof[g]]), wp.abs(stop[g])))
        return most

    @wp.func
    def is_near(x: float, R: float, t: float) -> bool:
        """A joint that slips so little that it may be stuck as well: the line search has stopped where the row yields."""
        return wp.abs(x) <= 2.0 * R * wp.abs(t)

    @wp.kernel(module="unique", enable_backward=False)
    def open_rows(
        dof: wp.array(dtype=int),
        softness: float,
        invweight: vectors,
        timestep: scalars,
        frictionadr: integers,
        M_rownnz: wp.array(dtype=int),
        M_rowadr: wp.array(dtype=int),
        matrix: vectors,
        efm_diag: vectors,
        discrete: int,
        law: Law,
        friction: vectors,
        # out
        pieces: Pieces,
        aref: vectors,
        D: vectors,
        frictionloss: vectors,
        missing: wp.array(dtype=int),
    ):
        """Rows that hold their joints, centred on the friction of the last step."""
        w, g = wp.tid()
        i = dof[g]
        if g == 0:
            pieces.again[w] = 0
            pieces.rounds[w] = 0
        row = frictionadr[w, i]
        if row < 0:
            missing[w] = 1
            return
        hard = softness * invweight[w % invweight.shape[0], i]
        R = SOFT * hard
        stop = -float(law.v0[w, g]) / timestep[w % timestep.shape[0]]
        high = bound(law, w, g, 1, stop, factor_of(law, w, g, 1, 0))
        low = -bound(law, w, g, -1, stop, factor_of(law, w, g, -1, 0))
        t = wp.clamp(friction[w, g], low, high)
        offset = float(0.0)
        f = float(BIG)
        if high < BIG and low > -BIG:
            offset = 0.5 * (high + low)
            f = 0.5 * (high - low)
        pieces.stop[w, g] = stop
        pieces.R[w, g] = R
        pieces.hard[w, g] = hard
        pieces.offset[w, g] = offset
        pieces.centre[w, g] = t
        pieces.slope[w, g] = 0.0
        pieces.constant[w, g] = 0.0
        pieces.released[w, g] = 0
        pieces.tried[w, g] = 0
        pieces.diagonal[w, g] = matrix[w, M_rowadr[i] + M_rownnz[i] - 1]
        if discrete != 0:
            pieces.metric[w, g] = efm_diag[w, i]
        aref[w, row] = stop - R * (t - offset)
        D[w, row] = 1.0 / R
        frictionloss[w, row] = f

    @wp.kernel(module="unique", enable_backward=False)
    def next_pieces(
        first: int,
        incremental: int,
        discrete: int,
        softness: float,
        dof: wp.array(dtype=int),
        frictionadr: integers,
        M_rownnz: wp.array(dtype=int),
        M_rowadr: wp.array(dtype=int),
        nefc: wp.array(dtype=int),
        njmax: int,
        law: Law,
        qacc: vectors,
        done: wp.array(dtype=bool),
        niter: wp.array(dtype=int),
        state: integers,
        # in and out
        pieces: Pieces,
        Jaref: vectors,
        D: vectors,
        frictionloss: vectors,
        matrix: vectors,
        efm_diag: vectors,
        Ma: vectors,
        smooth: vectors,
        h: wp.array3d(dtype=float),
        quad_changed_ids: integers,
        quad_changed_count: wp.array(dtype=int),
        state_changed_count: wp.array(dtype=int),
        improvement: wp.array(dtype=float),
        alpha: wp.array(dtype=float),
    ):
        """Pieces of the gears of a world at the acceleration that the line search has found."""
        w = wp.tid()
        if done[w]:
            return
        n = dof.shape[0]
        most = largest(dof, qacc[w], pieces.stop[w])
        changes = int(0)
        turns = int(0)
        again = pieces.again[w]
        settles = first == 0 and (alpha[w] > 0.3 or again != 0)
        pieces.again[w] = 0

        # pieces that take turns do so because of where rows are centred: a row may as well end where its joint slips
        turned = (niter[w] / TURNS) % 2

        # all joints that exceed their static bound break away at once, where each of them was held to see whether it does
        tries = int(0)
        for g in range(n):
            row = frictionadr[w, dof[g]]
            if again != 0 and row >= 0:
                J = Jaref[w, row]
                f = frictionloss[w, row]
                x = qacc[w, dof[g]] - pieces.stop[w, g]
                slips = wp.abs(J) >= pieces.R[w, g] * f
                t = pieces.offset[w, g] + wp.sign(J) * f
                if pieces.tried[w, g] == 1 or (slips and pieces.tried[w, g] == 0 and is_near(x, SOFT * pieces.hard[w, g], t)):
                    tries = 1
        for g in range(n):
            i = dof[g]
            row = frictionadr[w, i]
            if row < 0:
                continue
            a = qacc[w, i]
            stop = pieces.stop[w, g]
            R = pieces.R[w, g]
            hard = pieces.hard[w, g]
            next_R = R
            J = Jaref[w, row]
            f = frictionloss[w, row]
            offset = pieces.offset[w, g]
            centre = pieces.centre[w, g]
            if first != 0:
                pieces.smooth[w, g] = smooth[w, i]
            constant = float(0.0)
            total = float(0.0)
            slope = float(0.0)
            moved = int(0)
            rp = factor_of(law, w, g, 1, pieces.released[w, g])
            rm = factor_of(law, w, g, -1, pieces.released[w, g])
            high = bound(law, w, g, 1, stop, rp)
            low = -bound(law, w, g, -1, stop, rm)
            t = offset + J / R
            breaks = again != 0 and wp.abs(J) >= R * f
            if pieces.tried[w, g] == 1:
                if again != 0 or wp.abs(a - stop) <= tolerance(stop, hard, softness, t, most):
                    pieces.tried[w, g] = 2
                    moved = 1
            elif breaks and pieces.tried[w, g] == 0 and is_near(a - stop, SOFT * hard, wp.where(J > 0.0, high, -low)):
                pieces.tried[w, g] = 1
                moved = 1
            breaks = breaks and tries == 0

            # a joint that slips on its static bound where the step is solved breaks away
            if breaks and pieces.released[w, g] == 0:
                if (t > offset and rp > real(1.0)) or (t < offset and rm > real(1.0)):
                    pieces.released[w, g] = 1
                    high = bound(law, w, g, 1, stop, real(1.0))
                    low = -bound(law, w, g, -1, stop, real(1.0))
                    rp = real(1.0)
                    rm = real(1.0)
                    moved = 1
            J += R * offset
            offset = 0.0
            f = wp.where(J > 0.0, high, -low)
            if pieces.tried[w, g] == 1:
                f = BIG
            elif high < BIG and low > -BIG:
                offset = 0.5 * (high + low)
                f = 0.5 * (high - low)
            J -= R * offset
            if wp.abs(J) < R * f or f >= BIG:
                constant = offset
                total = offset
                t = offset + J / R
                if settles and wp.abs(a - stop) > tolerance(stop, hard, softness, t, most):
                    centre = t
                    if again != 0 or turned != 0:
                        next_R = hard
                    J = a - stop + next_R * (t - offset)
                    moved = 1
            else:
                s = wp.where(J > 0.0, 1, -1)
                r = wp.where(s > 0, rp, rm)
                turn = float(s) * float(law.beta[w, g] * r * law.c[w, g])
                load = wp.where(driven(law, w, g, a) >= turn, 1, -1)
                now = piece_line(law, w, g, s, load, r)
                recentres = R != SOFT * hard or (turned != 0 and centre != offset + float(s) * f)
                if recentres and float(s) * (a - stop) > 0.0:
                    next_R = SOFT * hard
                    centre = offset + float(s) * f
                    J = a - stop + next_R * float(s) * f
                    moved = 1
                total = now[0]
                slope = now[1]

                # far from where it stops its row has a large cost and nothing to tell: single precision
                x = float(s) * (a - stop)
                change = wp.abs(a - pieces.last[w, g])
                if first != 0:
                    # it goes on with at least half its velocity
                    change = wp.where(x > -0.5 * float(s) * stop and float(s) * stop < 0.0, 0.0, x)
                if x > R * f and change < FAR * x:
                    f = 0.0
                constant = total - float(s) * f
                if now[2] == 0.0:
                    # a gear that locks: no line over its acceleration
                    total = 0.0
                    slope = 0.0
                    constant = 0.0
                    J = a - stop + next_R * centre
                    offset = 0.0
                    f = BIG

            # what has changed, where the solver has it
            if f != frictionloss[w, row]:
                frictionloss[w, row] = f
            if next_R != R:
                if first == 0 and state[w, row] == QUADRATIC:
                    h[w, i, i] += 1.0 / next_R - 1.0 / R
                    turns += 1
                D[w, row] = 1.0 / next_R
                pieces.R[w, g] = next_R
                moved = 1
            pieces.offset[w, g] = offset
            pieces.centre[w, g] = centre
            Jaref[w, row] = J
            if slope != pieces.slope[w, g]:
                change = pieces.slope[w, g] - slope
                Ma[w, i] += change * a
                matrix[w, M_rowadr[i] + M_rownnz[i] - 1] = pieces.diagonal[w, g] - slope
                if discrete != 0:
                    efm_diag[w, i] = pieces.metric[w, g] - slope
                if first == 0:
                    h[w, i, i] += change
                pieces.slope[w, g] = slope
                turns += 1
                moved = 1
            if constant != pieces.constant[w, g]:
                smooth[w, i] = pieces.smooth[w, g] - constant
                pieces.constant[w, g] = constant
            if total != pieces.total[w, g]:
                pieces.total[w, g] = total
                moved = 1
            pieces.last[w, g] = a
            changes += moved
        if first == 0 and changes > 0:
            improvement[w] = 0.0
            alpha[w] = 1.0
            if incremental != 0:
                state_changed_count[w] += 1
                if turns > 0 and nefc[w] < njmax:
                    # a row that does nothing, so that H is factored again
                    D[w, nefc[w]] = 0.0
                    quad_changed_ids[w, quad_changed_count[w]] = nefc[w]
                    quad_changed_count[w] += 1

    @wp.kernel(module="unique", enable_backward=False)
    def go_on(
        softness: float,
        dof: wp.array(dtype=int),
        frictionadr: integers,
        law: Law,
        qacc: vectors,
        Jaref: vectors,
        frictionloss: vectors,
        iterations: int,
        niter: wp.array(dtype=int),
        alpha: wp.array(dtype=float),
        # in and out
        pieces: Pieces,
        # out
        done: wp.array(dtype=bool),
        nsolving: wp.array(dtype=int),
    ):
        """A world whose gears are not done is not done."""
        w = wp.tid()
        if not done[w] or pieces.rounds[w] >= ROUNDS or niter[w] >= iterations:
            return
        most = largest(dof, qacc[w], pieces.stop[w])
        for g in range(dof.shape[0]):
            row = frictionadr[w, dof[g]]
            if row < 0:
                continue
            J = Jaref[w, row]
            R = pieces.R[w, g]
            a = qacc[w, dof[g]]
            place = pieces.stop[w, g]
            t = pieces.offset[w, g] + J / R
            small = tolerance(place, pieces.hard[w, g], softness, t, most)
            needed = int(0)
            if wp.abs(J) < R * frictionloss[w, row]:
                if (alpha[w] != 0.0 or pieces.rounds[w] < 2) and wp.abs(a - place) > small:
                    needed = 1
            else:
                t = pieces.offset[w, g] + wp.sign(J) * frictionloss[w, row]
                if pieces.tried[w, g] == 0 and is_near(a - place, SOFT * pieces.hard[w, g], t):
                    needed = 1
                if pieces.released[w, g] == 0 and factor_of(law, w, g, wp.where(J > 0.0, 1, -1), 0) > real(1.0):
                    needed = 1
            if pieces.tried[w, g] == 1:
                needed = 1
            if needed != 0:
                pieces.rounds[w] += 1
                pieces.again[w] = 1
                done[w] = False
                wp.atomic_add(nsolving, 0, 1)
                return

    @wp.kernel(module="unique", enable_backward=False)
    def close_rows(
        dof: wp.array(dtype=int),
        frictionadr: integers,
        M_rownnz: wp.array(dtype=int),
        M_rowadr: wp.array(dtype=int),
        discrete: int,
        qacc: vectors,
        niter: wp.array(dtype=int),
        pieces: Pieces,
        # out
        matrix: vectors,
        efm_diag: vectors,
        Ma: vectors,
        smooth: vectors,
        force: vectors,
        frictionloss: vectors,
        qfrc_constraint: vectors,
        iterations: wp.array(dtype=int),
    ):
        """The friction of gears is a constraint force, and the metric is without them."""
        w, g = wp.tid()
        i = dof[g]
        if g == 0:
            iterations[w] = niter[w]
        row = frictionadr[w, i]
        if row < 0:
            return
        matrix[w, M_rowadr[i] + M_rownnz[i] - 1] = pieces.diagonal[w, g]
        if discrete != 0:
            efm_diag[w, i] = pieces.metric[w, g]
        else:
            smooth[w, i] = pieces.smooth[w, g]
        share = pieces.slope[w, g] * qacc[w, i]
        Ma[w, i] += share
        t = -force[w, row] + pieces.constant[w, g] - share
        force[w, row] = -t
        if frictionloss[w, row] >= BIG:
            frictionloss[w, row] = wp.abs(t)
        qfrc_constraint[w, i] += share - pieces.constant[w, g]

    numbers.Pieces = Pieces
    return [open_rows, next_pieces, go_on, close_rows]
