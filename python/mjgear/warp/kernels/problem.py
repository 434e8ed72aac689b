"""The friction problem of a world, between two constraint solves."""

import warp as wp

from .numbers import UNSOLVED, blame, integers, scalars, vectors


# of the largest friction in a world: by so much rounding may exceed the bound of a joint that is held
ROUNDED = 4e-7


def make(numbers) -> list[wp.Kernel]:
    real, reals, matrices, Law = numbers.real, numbers.reals, numbers.matrices, numbers.Law
    columns, solve, newton = numbers.native.columns, numbers.native.solve, numbers.native.newton
    integrated, effect, bound_at_rest = numbers.native.integrated, numbers.native.effect, numbers.native.hold

    @wp.kernel(module="unique", enable_backward=False)
    def friction_problem(
        settles: wp.array(dtype=int),
        nv: int,
        implicit: int,
        dof: wp.array(dtype=int),
        softness: float,
        timestep: scalars,
        frictionadr: integers,
        force: vectors,
        qacc: vectors,
        gradient: reals,
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
        qacc_warmstart: vectors,
        aref: vectors,
        D: vectors,
        frictionloss: vectors,
        iterations: wp.array(dtype=int),
        status: wp.array(dtype=int),
        unsettled: wp.array(dtype=int),
    ):
        """Solve for the friction of a world at the contact states that were found; centre the rows on it."""
        w = wp.tid()
        if settles[w] != 0:
            return
        n = dof.shape[0]
        h = real(timestep[w % timestep.shape[0]])
        if columns(X, H, dof, nv, n, w) == 0:
            blame(status, unsettled, w, UNSOLVED)
            return

        # acceleration with the friction that the rows have now; the solver may have stopped short of it
        effect(A, X, Z, dof, h, implicit, nv, n, w)
        for i in range(n):
            coupling[w, i] = A[w, i, i]
        solve(gradient, H, nv, w)
        for k in range(nv):
            gradient[w, k] = real(qacc[w, k]) - gradient[w, k]
        for i in range(n):
            row = frictionadr[w, dof[i]]
            if row >= 0:
                t[w, i] = real(-force[w, row])
            t_rows[w, i] = t[w, i]
        integrated(v_free, gradient, Z, dof, implicit, nv, n, w)
        for i in range(n):
            change = h * v_free[w, i]
            for j in range(n):
                change += A[w, i, j] * t[w, j]
            v_free[w, i] = law.v0[w, i] + change
            phi[w, i] = law.gain[w, i] * law.tau[w, i] - law.alpha[w, i] * change
        steps = newton(
            t, v, lam, m, A, v_free, phi, law.alpha, law.beta, law.c, law.ratio, law.v0, n, number, integer, w
        )
        if steps < 0:
            blame(status, unsettled, w, UNSOLVED)
        iterations[w] = wp.max(iterations[w], wp.abs(steps))

        # the motion that belongs to this friction while constraints keep their states: the solver only has to confirm it
        for k in range(nv):
            a = gradient[w, k]
            for j in range(n):
                a -= X[w, k, j] * (t[w, j] - t_rows[w, j])
            gradient[w, k] = a
            qacc_warmstart[w, k] = float(a)

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
