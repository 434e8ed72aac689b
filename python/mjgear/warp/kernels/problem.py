"""The friction problem of a world, at the states that its constraints have.

Two rules select one of several solutions. Joints break away from static friction where rounds have ended, and rounds go
on. Contact states may cycle: a joint at rest closes a contact, slips because it is closed, and opens it again. Then joints start
from their last branches, static friction is released in any round, and stays released.
"""

import warp as wp

from .contact import QUADRATIC
from .discrete import add_products
from .numbers import Constraints, Couples, Motion, Round, Tree, integers, vectors
from .states import LINEARPOS

# smallest normal number of single precision
SMALLEST = 1.17549435e-38

# relative to the largest acceleration: motion by a friction problem that keeps a world done; the larger one holds from the third
# round on, because of round-off
NEAR, ROUGH = 1e-5, 1e-4

# rounds after which states of constraints are taken to go round
KEEPS = 6

# round-off allowed beyond the bound of a stuck joint, relative to the largest friction of the world
ROUNDED = 4e-7

# softness of the holding rows after the rounds, relative to rows of the constraint solve
HARD = 0.1

# exchanges of pieces where Newton's method finds no solution
EXCHANGES = 12


def make(numbers) -> list[wp.Kernel]:
    real, Law, Found, Scratch = numbers.real, numbers.Law, numbers.Found, numbers.Scratch
    native = numbers.native
    columns, effect, exchange, integrated, multiply = (
        native.columns,
        native.effect,
        native.exchange,
        native.integrated,
        native.multiply,
    )
    newton, solve, sync, times, bound_at_rest = native.newton, native.solve, native.sync, native.times, native.hold
    releases = native.releases

    @wp.func
    def factorize(
        w: int,
        lane: int,
        lanes: int,
        nv: int,
        implicit: int,
        h: real,
        dof: wp.array(dtype=int),
        found: Found,
        scratch: Scratch,
    ) -> int:
        """Columns of H^-1, and the effect of friction on velocities, A. Returns 0 if H is not positive definite."""
        n = dof.shape[0]
        if columns(scratch.X, scratch.H, dof, nv, n, w) == 0:
            return 0
        effect(scratch.A, scratch.X, scratch.Z, dof, h, implicit, nv, n, w)
        for i in range(lane, n, lanes):
            found.own[w, i] = h * scratch.X[w, dof[i], i]
        return 1

    @wp.func
    def newton_point(w: int, lane: int, lanes: int, nv: int, motion: Motion, scratch: Scratch):
        """The acceleration where the gradient would be zero if constraints kept their states; the gradient itself to x."""
        for k in range(lane, nv, lanes):
            scratch.x[w, k] = scratch.gradient[w, k]
        sync()
        solve(scratch.gradient, scratch.H, nv, w)
        for k in range(lane, nv, lanes):
            scratch.gradient[w, k] = real(motion.qacc[w, k]) - scratch.gradient[w, k]
        sync()

    @wp.func
    def start(
        w: int,
        lane: int,
        lanes: int,
        dof: wp.array(dtype=int),
        frictionadr: integers,
        found: Found,
        motion: Motion,
        scratch: Scratch,
    ):
        """Current friction of the rows."""
        for i in range(lane, dof.shape[0], lanes):
            row = frictionadr[w, dof[i]]
            if row >= 0:
                found.t[w, i] = real(-motion.force[w, row])
            scratch.change[w, i] = found.t[w, i]
        sync()

    @wp.func
    def set_up(
        w: int,
        lane: int,
        lanes: int,
        implicit: int,
        h: real,
        dof: wp.array(dtype=int),
        law: Law,
        found: Found,
        nv: int,
        scratch: Scratch,
    ):
        """Velocity and load without friction, from the acceleration with the current friction; the solver may not have converged to it."""
        n = dof.shape[0]
        integrated(scratch.v_free, scratch.gradient, scratch.Z, dof, implicit, nv, n, w)
        times(scratch.phi, scratch.A, found.t, n, n, w)
        for i in range(lane, n, lanes):
            change = h * scratch.v_free[w, i] + scratch.phi[w, i]
            scratch.v_free[w, i] = law.v0[w, i] + change
            scratch.phi[w, i] = law.gain[w, i] * law.tau[w, i] - law.alpha[w, i] * change
        sync()

    @wp.func
    def exchanged(w: int, n: int, breaks: int, most: int, law: Law, found: Found, scratch: Scratch) -> bool:
        return exchange(
            found.t, found.v, found.lam, found.mode, scratch.A, scratch.v_free, scratch.phi, law.alpha, law.beta, law.c, law.ratio, law.v0,
            n, scratch.number, scratch.integer, breaks, most, w,
        ) != 0  # fmt: skip

    @wp.func
    def settle_joints(w: int, n: int, round: Round, law: Law, found: Found, scratch: Scratch) -> Round:
        """Friction and pieces of the joints."""
        keeps = int(round.number > 0 and round.other == 0)
        breaks = int(0)
        if round.number >= KEEPS:
            keeps = EXCHANGES
            breaks = 1
        next = round
        next.kept = 0
        steps = int(-1)
        if keeps > 0:
            if exchanged(w, n, breaks, keeps, law, found, scratch):
                steps = 1
                next.kept = wp.where(keeps == 1, 1, 0)
        if steps < 0:
            steps = newton(
                found.t, found.v, found.lam, found.mode, scratch.A, scratch.v_free, scratch.phi, law.alpha, law.beta, law.c, law.ratio, law.v0,
                n, scratch.number, scratch.integer, breaks, w,
            )  # fmt: skip
            if steps < 0:
                if exchanged(w, n, breaks, EXCHANGES, law, found, scratch):
                    steps = -steps
        next.steps = wp.max(round.steps, wp.abs(steps))
        next.solved = wp.where(steps >= 0, 1, 0)
        return next

    @wp.func
    def release(w: int, lane: int, lanes: int, n: int, law: Law, found: Found) -> int:
        """Joints that slip on their static bound where the step is solved break away (mjgi_lawReleases). True if there are any."""
        released = int(0)
        for i in range(n):
            released = wp.max(released, releases(found.mode[w, i], law.ratio[w, i], law.v0[w, i]))
        sync()
        for i in range(lane, n, lanes):
            if releases(found.mode[w, i], law.ratio[w, i], law.v0[w, i]) != 0:
                law.ratio[w, i] = real(1.0)
        sync()
        return released

    @wp.func
    def move(
        w: int,
        lane: int,
        lanes: int,
        nv: int,
        dof: wp.array(dtype=int),
        round: Round,
        found: Found,
        motion: Motion,
        scratch: Scratch,
    ) -> Round:
        """The motion that belongs to this friction while constraints keep their states, and the slope of their cost towards it."""
        n = dof.shape[0]
        for i in range(lane, n, lanes):
            scratch.change[w, i] = found.t[w, i] - scratch.change[w, i]
        slope = real(0.0)
        for k in range(nv):
            slope += scratch.x[w, k] * (scratch.gradient[w, k] - real(motion.qacc[w, k]))
        sync()
        for i in range(n):
            slope -= scratch.change[w, i] * (real(motion.qacc[w, dof[i]]) - scratch.gradient[w, dof[i]])
        times(scratch.x, scratch.X, scratch.change, nv, n, w)
        for k in range(lane, nv, lanes):
            scratch.gradient[w, k] -= scratch.x[w, k]
            motion.next[w, k] = float(scratch.gradient[w, k])
        sync()
        moved = real(0.0)
        fastest = real(0.0)
        for k in range(nv):
            moved = wp.max(moved, wp.abs(scratch.gradient[w, k] - real(motion.qacc[w, k])))
            fastest = wp.max(fastest, wp.abs(scratch.gradient[w, k]))
        for i in range(n):
            slope += scratch.change[w, i] * (scratch.gradient[w, dof[i]] - real(motion.qacc[w, dof[i]]))
        next = round
        next.slope = float(slope)
        next.moved = float(moved / wp.max(fastest, real(SMALLEST)))
        next.far = wp.where(round.solved != 0 and next.moved <= wp.where(round.number < 2, NEAR, ROUGH), 0, 1)
        return next

    @wp.func
    def take(
        w: int,
        lane: int,
        lanes: int,
        nv: int,
        rows: int,
        tree: Tree,
        metric: vectors,
        couples: Couples,
        motion: Motion,
        scratch: Scratch,
    ) -> float:
        """Compute the torques of this motion and the largest force."""
        multiply(scratch.x, scratch.gradient, metric, tree.rownnz, tree.rowadr, tree.colind, nv, w)
        for k in range(lane, nv, lanes):
            scratch.old_Ma[w, k] = motion.Ma[w, k]
            motion.Ma[w, k] = float(scratch.x[w, k])
        add_products(w, lane, lanes, couples, motion.next, motion.Ma)
        sync()
        great = float(0.0)
        for k in range(nv):
            great = wp.max(great, wp.abs(motion.smooth[w, k]))
        for r in range(rows):
            great = wp.max(great, wp.abs(motion.force[w, r]))
        sync()
        return great

    @wp.func
    def hold(
        w: int,
        lane: int,
        lanes: int,
        softness: float,
        dof: wp.array(dtype=int),
        frictionadr: integers,
        law: Law,
        found: Found,
        c: Constraints,
        scratch: Scratch,
    ):
        """Rows that hold the motion of the last friction problem with no force but friction, and slip beyond its bound by more than rounding."""
        n = dof.shape[0]
        largest = real(0.0)
        for i in range(n):
            largest = wp.max(largest, wp.abs(found.t[w, i]))
        for i in range(lane, n, lanes):
            row = frictionadr[w, dof[i]]
            if row >= 0:
                W = scratch.X[w, dof[i], i]
                R = real(HARD * softness) * W
                t = found.t[w, i]
                bound = wp.abs(found.lam[w, i]) + law.c[w, i]
                if found.mode[w, i] == 0:
                    bound = (
                        bound_at_rest(found.lam[w, i], law.c[w, i], law.ratio[w, i], law.v0[w, i], t)
                        + real(ROUNDED) * largest
                    )
                c.aref[w, row] = float(scratch.gradient[w, dof[i]] - W / scratch.A[w, i, i] * found.v[w, i] - R * t)
                c.D[w, row] = float(real(1.0) / R)
                c.frictionloss[w, row] = float(bound)
        sync()

    @wp.func
    def of_rows(
        w: int, lane: int, lanes: int, dof: wp.array(dtype=int), frictionadr: integers, found: Found, motion: Motion
    ):
        """Friction and modes of the joints as their rows have them."""
        for i in range(lane, dof.shape[0], lanes):
            row = frictionadr[w, dof[i]]
            if row >= 0:
                state = motion.state[w, row]
                found.t[w, i] = real(-motion.force[w, row])
                found.mode[w, i] = wp.where(state == QUADRATIC, 0, wp.where(state == LINEARPOS, 1, -1))
        sync()

    numbers.release = release
    numbers.newton_point, numbers.start, numbers.hold, numbers.of_rows = newton_point, start, hold, of_rows
    numbers.factorize, numbers.set_up, numbers.settle_joints, numbers.move, numbers.take = (
        factorize,
        set_up,
        settle_joints,
        move,
        take,
    )
    return []
