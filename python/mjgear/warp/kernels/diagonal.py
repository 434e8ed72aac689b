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

from .discrete import gain_over_step
from .result import largest_of
from .numbers import NO_ROW, blame, integers, scalars, vectors

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
    real, Law, Gear, Past, Result = numbers.real, numbers.Law, numbers.Gear, numbers.Past, numbers.Result
    begin, outcome = numbers.begin, numbers.outcome
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
        smooth: vectors  # force without the gear, as the solver takes it
        given: vectors  # and as Data.qfrc_smooth has it
        last: vectors  # acceleration of the last iteration
        total: vectors  # constant part of its friction
        released: integers
        tried: integers  # 1: is held, to see whether its bound is enough; 2: was
        again: wp.array(dtype=int)  # gears are not done: if the solver is, it goes on
        rounds: wp.array(dtype=int)
        largest: wp.array(dtype=float)  # torque of the world

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

    @wp.struct
    class Piece:
        f: float  # bound of the row
        offset: float  # its middle
        total: float  # constant part of friction
        constant: float  # and what of it is not the row's
        slope: float
        locks: int

    @wp.func
    def middle(low: float, high: float) -> float:
        """Of the friction that a row may have, if it has two ends."""
        if high < BIG and low > -BIG:
            return 0.5 * (high + low)
        return 0.0

    @wp.func
    def half(low: float, high: float, up: bool) -> float:
        """Bound of a row around that middle."""
        if high < BIG and low > -BIG:
            return 0.5 * (high - low)
        return wp.where(up, high, -low)

    @wp.func
    def slipping(law: Law, w: int, g: int, s: int, r: real, a: float, x: float, change: float, R: float, offset: float, f: float) -> Piece:
        """The piece of a joint that slips in direction s with acceleration a, x beyond its stop, where it has moved by change."""
        piece = Piece()
        turn = float(s) * float(law.beta[w, g] * r * law.c[w, g])
        load = wp.where(driven(law, w, g, a) >= turn, 1, -1)
        now = piece_line(law, w, g, s, load, r)
        piece.f = f
        piece.offset = offset
        if now[2] == 0.0:
            # a gear that locks: no line over its acceleration
            piece.f = BIG
            piece.offset = 0.0
            piece.locks = 1
            return piece

        # far from where it stops its row has a large cost and nothing to tell: single precision
        if x > R * f and change < FAR * x:
            piece.f = 0.0
        piece.total = now[0]
        piece.slope = now[1]
        piece.constant = now[0] - float(s) * piece.f
        return piece

    @wp.func
    def tolerance(stop: float, R: float, softness: float, t: float, most: wp.vec2) -> float:
        """Acceleration within which a joint is held, where others have up to most[0], and friction that moves them by most[1]."""
        inverse = R / softness
        return HELD * (wp.abs(stop) + inverse * wp.abs(t)) + ROUNDED * (most[0] + wp.sqrt(inverse) * most[1])

    @wp.func
    def largest(
        w: int, dof: wp.array(dtype=int), frictionadr: integers, softness: float, qacc: vectors, Jaref: vectors, frictionloss: vectors, pieces: Pieces
    ) -> wp.vec2:
        """Acceleration of a geared joint, and friction times the square root of what it accelerates: what rounding errors go with."""
        a = float(0.0)
        move = float(0.0)
        for g in range(dof.shape[0]):
            row = frictionadr[w, dof[g]]
            if row >= 0:
                a = wp.max(a, wp.max(wp.abs(qacc[w, dof[g]]), wp.abs(pieces.stop[w, g])))
                J = Jaref[w, row]
                t = pieces.total[w, g] - pieces.slope[w, g] * qacc[w, dof[g]]
                if wp.abs(J) < pieces.R[w, g] * frictionloss[w, row]:
                    t = pieces.offset[w, g] + J / pieces.R[w, g]
                move = wp.max(move, wp.sqrt(pieces.hard[w, g] / softness) * wp.abs(t))
        return wp.vec2(a, move)

    @wp.func
    def is_near(x: float, R: float, t: float) -> bool:
        """A joint that slips so little that it may be stuck as well: the line search has stopped where the row yields."""
        return wp.abs(x) <= 2.0 * R * wp.abs(t)

    @wp.kernel(module="unique", enable_backward=False)
    def open_rows(
        dof: wp.array(dtype=int),
        softness: float,
        armature: vectors,
        actuator_inertia: scalars,
        discrete: int,
        nactuator: int,
        moment_rownnz: integers,
        moment_rowadr: integers,
        moment_colind: integers,
        moment: vectors,
        efm_as: vectors,
        efm_c: vectors,
        efm_ca: vectors,
        timestep: scalars,
        time: scalars,
        qvel: vectors,
        qfrc_actuator: vectors,
        invweight: vectors,
        frictionadr: integers,
        M_rownnz: wp.array(dtype=int),
        M_rowadr: wp.array(dtype=int),
        first: vectors,
        gear: Gear,
        past: Past,
        # out
        matrix: vectors,
        efm_diag: vectors,
        smooth: vectors,
        law: Law,
        pieces: Pieces,
        aref: vectors,
        D: vectors,
        frictionloss: vectors,
        status: wp.array(dtype=int),
    ):
        """The law of this step, and a gear's piece where the solver starts; its row is centred on the friction of the last step."""
        w, g = wp.tid()
        i = dof[g]
        if g == 0:
            pieces.again[w] = 0
            pieces.rounds[w] = 0
            pieces.largest[w] = 0.0
            status[w] = 0
        h = timestep[w % timestep.shape[0]]
        rotor = armature[w % armature.shape[0], i] + actuator_inertia[g]
        shift = float(0.0)
        if discrete != 0:
            rotor += gain_over_step(w, i, nactuator, moment_rownnz, moment_rowadr, moment_colind, moment, efm_as)
            shift = efm_ca[w, i]
        begin(w, g, i, rotor, shift, h, time, qvel, qfrc_actuator, gear, past, law)
        row = frictionadr[w, i]
        if row < 0:
            return
        hard = softness * invweight[w % invweight.shape[0], i]
        R = SOFT * hard
        a = first[w, i]
        stop = -float(law.v0[w, g]) / h
        rp = factor_of(law, w, g, 1, 0)
        rm = factor_of(law, w, g, -1, 0)
        high = bound(law, w, g, 1, stop, rp)
        low = -bound(law, w, g, -1, stop, rm)
        t = wp.clamp(past.friction[w, g], low, high)
        offset = middle(low, high)
        J = a - stop + R * (t - offset)
        f = half(low, high, J > 0.0)
        piece = Piece()
        piece.f = f
        piece.offset = offset
        piece.total = offset
        piece.constant = offset
        if wp.abs(J) >= R * f and f < BIG:
            s = wp.where(J > 0.0, 1, -1)
            x = float(s) * (a - stop)

            # it goes on with at least half its velocity
            change = wp.where(x > -0.5 * float(s) * stop and float(s) * stop < 0.0, 0.0, x)
            piece = slipping(law, w, g, s, wp.where(s > 0, rp, rm), a, x, change, R, offset, f)
        pieces.stop[w, g] = stop
        pieces.R[w, g] = R
        pieces.hard[w, g] = hard
        pieces.offset[w, g] = piece.offset
        pieces.centre[w, g] = t
        pieces.slope[w, g] = piece.slope
        pieces.constant[w, g] = piece.constant
        pieces.total[w, g] = piece.total
        pieces.last[w, g] = a
        pieces.released[w, g] = 0
        pieces.tried[w, g] = 0
        own = M_rowadr[i] + M_rownnz[i] - 1
        pieces.diagonal[w, g] = matrix[w, own]
        matrix[w, own] -= piece.slope
        given = smooth[w, i]
        pieces.given[w, g] = given
        pieces.smooth[w, g] = given
        if discrete != 0:
            pieces.smooth[w, g] = given + efm_c[w, i] + efm_ca[w, i]
            pieces.metric[w, g] = efm_diag[w, i]
            efm_diag[w, i] -= piece.slope
        smooth[w, i] = given - piece.constant
        aref[w, row] = stop - R * (t - piece.offset)
        D[w, row] = 1.0 / R
        frictionloss[w, row] = piece.f

    @wp.func
    def is_needed(law: Law, pieces: Pieces, w: int, g: int, a: float, J: float, f: float, alpha: float, softness: float, most: wp.vec2) -> bool:
        """Whether the world is not done where the solver is, because of this gear."""
        if pieces.tried[w, g] == 1:
            return True
        R = pieces.R[w, g]
        hard = pieces.hard[w, g]
        stop = pieces.stop[w, g]
        offset = pieces.offset[w, g]
        if wp.abs(J) < R * f:
            return (alpha != 0.0 or pieces.rounds[w] < 2) and wp.abs(a - stop) > tolerance(stop, hard, softness, offset + J / R, most)
        if pieces.tried[w, g] == 0 and is_near(a - stop, SOFT * hard, offset + wp.sign(J) * f):
            return True
        return pieces.released[w, g] == 0 and factor_of(law, w, g, wp.where(J > 0.0, 1, -1), 0) > real(1.0)

    @wp.kernel(module="unique", enable_backward=False)
    def next_pieces(
        counts: int,
        incremental: int,
        discrete: int,
        softness: float,
        iterations: int,
        asked: scalars,
        dof: wp.array(dtype=int),
        frictionadr: integers,
        M_rownnz: wp.array(dtype=int),
        M_rowadr: wp.array(dtype=int),
        nefc: wp.array(dtype=int),
        njmax: int,
        law: Law,
        qacc: vectors,
        niter: wp.array(dtype=int),
        state: integers,
        # in and out
        done: wp.array(dtype=bool),
        nsolving: wp.array(dtype=int),
        until: scalars,
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
        if counts != 0:
            quad_changed_count[w] = 0
            state_changed_count[w] = 0

        # a world whose gears were not done is counted once more as one that is not: it is, or the solver was not done itself
        again = pieces.again[w]
        pieces.again[w] = 0
        if again != 0 and (not done[w] or niter[w] >= iterations):
            wp.atomic_add(nsolving, 0, -1)
            again = 0
        if done[w] and again == 0:
            return
        if again != 0:
            done[w] = False
            pieces.rounds[w] += 1
        n = dof.shape[0]
        most = largest(w, dof, frictionadr, softness, qacc, Jaref, frictionloss, pieces)
        torque = largest_of(smooth[w])
        changes = int(0)
        turns = int(0)
        settles = alpha[w] > 0.3 or again != 0

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
            if pieces.tried[w, g] == 1:
                offset = 0.0
                f = BIG
            else:
                offset = middle(low, high)
                f = half(low, high, J > 0.0)
            J -= R * offset
            if wp.abs(J) < R * f or f >= BIG:
                constant = offset
                total = offset
                t = offset + J / R
                if settles and wp.abs(a - stop) > tolerance(stop, hard, softness, t, most):
                    # what the row has still to give up, as far as its joint is moved by it alone
                    centre = t + (t - centre) * R * softness / hard
                    if again != 0 or turned != 0:
                        next_R = hard
                    J = a - stop + next_R * (centre - offset)
                    moved = 1
            else:
                s = wp.where(J > 0.0, 1, -1)
                r = wp.where(s > 0, rp, rm)
                recentres = R != SOFT * hard or (turned != 0 and centre != offset + float(s) * f)
                if recentres and float(s) * (a - stop) > 0.0:
                    next_R = SOFT * hard
                    centre = offset + float(s) * f
                    J = a - stop + next_R * float(s) * f
                    moved = 1
                piece = slipping(law, w, g, s, r, a, float(s) * (a - stop), wp.abs(a - pieces.last[w, g]), R, offset, f)
                f = piece.f
                offset = piece.offset
                total = piece.total
                slope = piece.slope
                constant = piece.constant
                t = total - slope * a
                if piece.locks != 0:
                    J = a - stop + next_R * centre

            # what has changed, where the solver has it
            if f != frictionloss[w, row]:
                frictionloss[w, row] = f
            if next_R != R:
                if state[w, row] == QUADRATIC:
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
            torque = wp.max(torque, wp.abs(t))
            changes += moved
        pieces.largest[w] = torque
        if changes > 0:
            improvement[w] = 0.0
            alpha[w] = 1.0
            if incremental != 0:
                state_changed_count[w] += 1
                if turns > 0 and nefc[w] < njmax:
                    # a row that does nothing, so that H is factored again
                    D[w, nefc[w]] = 0.0
                    quad_changed_ids[w, quad_changed_count[w]] = nefc[w]
                    quad_changed_count[w] += 1
        elif again != 0:
            done[w] = True
            wp.atomic_add(nsolving, 0, -1)
            return
        needed = int(0)
        for g in range(n):
            row = frictionadr[w, dof[g]]
            if row >= 0:
                if is_needed(law, pieces, w, g, qacc[w, dof[g]], Jaref[w, row], frictionloss[w, row], alpha[w], softness, most):
                    needed = 1

        # where pieces have changed the solver takes at least one step, however little it would gain
        until[w] = asked[w % asked.shape[0]]
        if needed != 0 and changes > 0:
            until[w] = -1.0
        elif needed != 0 and pieces.rounds[w] < ROUNDS:
            pieces.again[w] = 1
            wp.atomic_add(nsolving, 0, 1)

    @wp.kernel(module="unique", enable_backward=False)
    def close_rows(
        dof: wp.array(dtype=int),
        tolerance: float,
        timestep: scalars,
        frictionadr: integers,
        M_rownnz: wp.array(dtype=int),
        M_rowadr: wp.array(dtype=int),
        discrete: int,
        niter: wp.array(dtype=int),
        row_state: integers,
        D: vectors,
        law: Law,
        pieces: Pieces,
        # in and out
        qacc: vectors,
        past: Past,
        # out
        matrix: vectors,
        efm_diag: vectors,
        Ma: vectors,
        smooth: vectors,
        force: vectors,
        frictionloss: vectors,
        qfrc_constraint: vectors,
        result: Result,
        iterations: wp.array(dtype=int),
    ):
        """The friction of gears is a constraint force, the metric is without them, and what the step did."""
        w, g = wp.tid()
        i = dof[g]
        if g == 0:
            iterations[w] = niter[w]
        row = frictionadr[w, i]
        if row < 0:
            result.residual[w, g] = 1.0
            blame(result.status, result.unsettled, w, NO_ROW)
            return
        matrix[w, M_rowadr[i] + M_rownnz[i] - 1] = pieces.diagonal[w, g]
        if discrete != 0:
            efm_diag[w, i] = pieces.metric[w, g]
        smooth[w, i] = pieces.given[w, g]
        share = pieces.slope[w, g] * qacc[w, i]
        Ma[w, i] += share
        t = -force[w, row] + pieces.constant[w, g] - share
        force[w, row] = -t
        if frictionloss[w, row] >= BIG:
            frictionloss[w, row] = wp.abs(t)
        qfrc_constraint[w, i] += share - pieces.constant[w, g]

        # a row that holds moves its joint by no more than its softness lets it
        h = real(timestep[w % timestep.shape[0]])
        give = real(4.0) * h * real(frictionloss[w, row] / D[w, row])
        holds = row_state[w, row] == QUADRATIC
        outcome(w, g, i, real(t), holds, give, h, pieces.largest[w], tolerance, real(0.0), law, qacc, past, result)

    numbers.Pieces = Pieces
    return [open_rows, next_pieces, close_rows]
