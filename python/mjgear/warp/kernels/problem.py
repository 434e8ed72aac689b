"""The friction problem of a world, at the states that its constraints have.

A round is this problem and a look at the states that follow (states.py). Friction, motion and states that belong together end
the rounds. Two things decide which of several solutions comes out. Once a joint has come to rest in a round, joints keep their
pieces where their bounds let them: its contact closes because of it, and the joint would slip and the contact open
again without end. And where states go round all the same, joints start from the pieces that they had, and one that has
broken away stays so.
"""

import warp as wp

from mjgear.warp.engine import OVERFLOW_ITERATIONS

from .discrete import add_product
from .numbers import UNSOLVED, Progress, blame, integers, scalars, vectors


# of the largest friction in a world: by so much rounding may exceed the bound of a joint that is held
ROUNDED = 4e-7

# smallest normal number of single precision
SMALLEST = 1.17549435e-38

# rounds after which states of constraints go round
KEEPS = 4

# exchanges of pieces where Newton's method finds no solution
EXCHANGES = 12


def make(numbers) -> list[wp.Kernel]:
    real, reals, matrices, Law = numbers.real, numbers.reals, numbers.matrices, numbers.Law
    native = numbers.native
    columns, solve, newton, exchange = native.columns, native.solve, native.newton, native.exchange
    integrated, effect, multiply, times, bound_at_rest = native.integrated, native.effect, native.multiply, native.times, native.hold

    @wp.func
    def exchanged(
        t: reals, v: reals, lam: reals, m: integers, A: matrices, v_free: reals, phi: reals, law: Law, n: int, number: reals, integer: integers,
        most: int, w: int,
    ) -> bool:  # fmt: skip
        return exchange(t, v, lam, m, A, v_free, phi, law.alpha, law.beta, law.c, law.ratio, law.v0, n, number, integer, most, w) != 0

    @wp.kernel(module="unique", enable_backward=False)
    def friction_problem(
        limit: int,
        progress: Progress,
        near: float,
        nv: int,
        implicit: int,
        discrete: int,
        dof: wp.array(dtype=int),
        softness: float,
        timestep: scalars,
        M_rownnz: wp.array(dtype=int),
        M_rowadr: wp.array(dtype=int),
        M_colind: wp.array(dtype=int),
        M: vectors,
        nactuator: int,
        ntendon: int,
        moment_rownnz: integers,
        moment_rowadr: integers,
        moment_colind: integers,
        moment: vectors,
        efm_as: vectors,
        ten_J_rownnz: wp.array(dtype=int),
        ten_J_rowadr: wp.array(dtype=int),
        ten_J_colind: wp.array(dtype=int),
        ten_J: vectors,
        efm_ts: vectors,
        frictionadr: integers,
        nefc: wp.array(dtype=int),
        njmax: int,
        qfrc_smooth: vectors,
        force: vectors,
        qacc: vectors,
        gradient: reals,
        x: reals,
        law: Law,
        # scratch
        H: matrices,
        X: matrices,
        Z: matrices,
        A: matrices,
        coupling: reals,
        v_free: reals,
        phi: reals,
        t_rows: reals,
        number: reals,
        integer: integers,
        # in and out
        t: reals,
        v: reals,
        lam: reals,
        m: integers,
        # out
        motion: vectors,
        Ma: vectors,
        old_Ma: vectors,
        qfrc_constraint: vectors,
        aref: vectors,
        D: vectors,
        frictionloss: vectors,
        iterations: wp.array(dtype=int),
        status: wp.array(dtype=int),
        unsettled: wp.array(dtype=int),
        pending: wp.array(dtype=int),
        overflow: wp.array(dtype=int),
    ):
        """Solve for the friction of a world at the states that its constraints have; centre the rows on it, for a solve that may follow."""
        w = wp.tid()
        if progress.settles[w] != 0 or progress.rounds[w] >= limit:
            return
        if progress.rounds[w] == 0 and overflow.shape[0] > 0 and progress.overflow[w] >= 0:
            # that the first solve ended early is nothing to report
            overflow[w] = (overflow[w] & ~OVERFLOW_ITERATIONS) | progress.overflow[w]
            progress.overflow[w] = -1
        n = dof.shape[0]
        h = real(timestep[w % timestep.shape[0]])
        if progress.other[w] != 0:
            if columns(X, H, dof, nv, n, w) == 0 or nefc[w] <= 0:
                blame(status, unsettled, w, UNSOLVED)
                progress.rounds[w] = limit
                wp.atomic_add(pending, 0, -1)
                return
            effect(A, X, Z, dof, h, implicit, nv, n, w)
            for i in range(n):
                coupling[w, i] = A[w, i, i]

        # acceleration with the friction that the rows have now; the solver may have stopped short of it
        for k in range(nv):
            x[w, k] = gradient[w, k]
        solve(gradient, H, nv, w)
        for k in range(nv):
            gradient[w, k] = real(qacc[w, k]) - gradient[w, k]
        for i in range(n):
            row = frictionadr[w, dof[i]]
            if row >= 0:
                t[w, i] = real(-force[w, row])
            t_rows[w, i] = t[w, i]
        integrated(v_free, gradient, Z, dof, implicit, nv, n, w)
        times(phi, A, t, n, n, w)
        for i in range(n):
            change = h * v_free[w, i] + phi[w, i]
            v_free[w, i] = law.v0[w, i] + change
            phi[w, i] = law.gain[w, i] * law.tau[w, i] - law.alpha[w, i] * change

        # joints keep their pieces where constraints kept their states, and after one has come to rest
        keeps = int(progress.rounds[w] > 0 and (progress.other[w] == 0 or progress.rests[w] != 0))
        if progress.rounds[w] >= KEEPS:
            keeps = EXCHANGES
        moving = wp.int64(0)
        for i in range(n):
            if m[w, i] != 0:
                moving += wp.int64(1) << wp.int64(i)
        steps = int(-1)
        kept = int(0)
        if keeps > 0:
            if exchanged(t, v, lam, m, A, v_free, phi, law, n, number, integer, keeps, w):
                steps = 1
                kept = 1
        if steps < 0:
            steps = newton(t, v, lam, m, A, v_free, phi, law.alpha, law.beta, law.c, law.ratio, law.v0, n, number, integer, w)
            if steps < 0:
                if exchanged(t, v, lam, m, A, v_free, phi, law, n, number, integer, EXCHANGES, w):
                    steps = -steps
        iterations[w] = wp.max(iterations[w], wp.abs(steps))
        if kept == 0:
            progress.rests[w] = 0
        for i in range(n):
            if m[w, i] == 0 and (moving >> wp.int64(i)) % wp.int64(2) != wp.int64(0) and progress.rounds[w] > 0:
                progress.rests[w] = 1

        # the motion that belongs to this friction while constraints keep their states
        moved = real(0.0)
        fastest = real(0.0)
        slope = real(0.0)
        for k in range(nv):
            slope += x[w, k] * (gradient[w, k] - real(qacc[w, k]))
        for i in range(n):
            t_rows[w, i] = t[w, i] - t_rows[w, i]
            slope -= t_rows[w, i] * (real(qacc[w, dof[i]]) - gradient[w, dof[i]])
        times(x, X, t_rows, nv, n, w)
        for k in range(nv):
            a = gradient[w, k] - x[w, k]
            gradient[w, k] = a
            motion[w, k] = float(a)
            moved = wp.max(moved, wp.abs(a - real(qacc[w, k])))
            fastest = wp.max(fastest, wp.abs(a))
        for i in range(n):
            slope += t_rows[w, i] * (gradient[w, dof[i]] - real(qacc[w, dof[i]]))
        progress.slope[w] = float(slope)
        progress.moved[w] = float(moved / wp.max(fastest, real(SMALLEST)))
        progress.far[w] = wp.where(steps >= 0 and progress.moved[w] <= near, 0, 1)
        progress.arrived[w] = wp.int64(0)

        # what it takes, and what constraints give of it
        multiply(x, gradient, M, M_rownnz, M_rowadr, M_colind, nv, w)
        for k in range(nv):
            old_Ma[w, k] = Ma[w, k]
            Ma[w, k] = float(x[w, k])
        if discrete != 0:
            for k in range(nactuator):
                if efm_as[w, k] != 0.0:
                    first = moment_rowadr[w, k]
                    add_product(w, efm_as[w, k], first, first + moment_rownnz[w, k], moment_colind[w], moment, motion, Ma)
            for k in range(ntendon):
                if efm_ts[w, k] != 0.0:
                    first = ten_J_rowadr[k]
                    add_product(w, efm_ts[w, k], first, first + ten_J_rownnz[k], ten_J_colind, ten_J, motion, Ma)
        great = float(0.0)
        for k in range(nv):
            qfrc_constraint[w, k] = Ma[w, k] - qfrc_smooth[w, k]
            great = wp.max(great, wp.abs(qfrc_smooth[w, k]))
        for r in range(wp.min(nefc[w], njmax)):
            great = wp.max(great, wp.abs(force[w, r]))
        progress.largest[w] = great

        # rows that hold this motion without any force of theirs but friction, and slip beyond it by more than rounding
        largest = real(0.0)
        for i in range(n):
            largest = wp.max(largest, wp.abs(t[w, i]))
        for i in range(n):
            row = frictionadr[w, dof[i]]
            if row >= 0:
                W = X[w, dof[i], i]
                R = real(softness) * W
                bound = wp.abs(lam[w, i]) + law.c[w, i]
                if m[w, i] == 0:
                    bound = bound_at_rest(lam[w, i], law.c[w, i], law.ratio[w, i], law.v0[w, i], t[w, i]) + real(ROUNDED) * largest
                aref[w, row] = float(gradient[w, dof[i]] - W / A[w, i, i] * v[w, i] - R * t[w, i])
                D[w, row] = float(real(1.0) / R)
                frictionloss[w, row] = float(bound)

    return [friction_problem]
