"""The friction problem of a world, between two constraint solves."""

from typing import Any

import warp as wp

from .numbers import integers, scalars, vectors


@wp.func
def integrated(
    nv: int,
    implicit: int,
    dof: int,
    world: int,
    joint: int,
    Z: wp.array3d(dtype=Any),
    a: wp.array(dtype=Any),
):
    """Acceleration of a joint that the integrator makes of a."""
    result = a.dtype(0.0)
    if implicit != 0:
        for k in range(nv):
            result += Z[world, joint, k] * a[k]
    else:
        result = a[dof]
    return result


@wp.func
def moved(
    n: int,
    dof: int,
    a: wp.array(dtype=Any),
    X: wp.array2d(dtype=Any),
    t: wp.array(dtype=Any),
    t_rows: wp.array(dtype=Any),
):
    """Acceleration of a dof when friction becomes t, while constraints keep their states."""
    result = a[dof]
    for j in range(n):
        result -= X[j, dof] * (t[j] - t_rows[j])
    return result


def make(numbers) -> list[wp.Kernel]:
    real, reals, matrices, Law = numbers.real, numbers.reals, numbers.matrices, numbers.Law
    columns, solve, newton = numbers.native.columns, numbers.native.solve, numbers.native.newton

    @wp.kernel(module="unique", enable_backward=False)
    def friction_problem(
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
        failed: wp.array(dtype=int),
    ):
        """Solve for the friction of a world at the contact states that were found; centre the rows on it."""
        w = wp.tid()
        n = dof.shape[0]
        h = real(timestep[w % timestep.shape[0]])
        if columns(X, H, dof, nv, n, w) == 0:
            failed[w] = 1
            return

        # effect of friction on the velocity after the step
        for i in range(n):
            for j in range(n):
                A[w, i, j] = h * integrated(nv, implicit, dof[i], w, i, Z, X[w, j])

        # acceleration with the friction that the rows have now; the solver may have stopped short of it
        solve(gradient, H, nv, w)
        for k in range(nv):
            gradient[w, k] = real(qacc[w, k]) - gradient[w, k]
        for i in range(n):
            row = frictionadr[w, dof[i]]
            if row >= 0:
                t[w, i] = real(-force[w, row])
            t_rows[w, i] = t[w, i]
        for i in range(n):
            a = integrated(nv, implicit, dof[i], w, i, Z, gradient[w])
            At = real(0.0)
            for j in range(n):
                At += A[w, i, j] * t[w, j]
            v_free[w, i] = law.v0[w, i] + h * a + At
            phi[w, i] = law.gain[w, i] * law.tau[w, i] - law.alpha[w, i] * (h * a + At)
        steps = newton(
            t, v, lam, m, A, v_free, phi, law.alpha, law.beta, law.c, law.ratio, law.v0, n, number, integer, w
        )
        if steps < 0:
            failed[w] = 1
        iterations[w] = wp.max(iterations[w], wp.abs(steps))

        # rows that hold this motion without any force of theirs but friction, and slip beyond it
        for i in range(n):
            row = frictionadr[w, dof[i]]
            if row >= 0:
                a = moved(n, dof[i], gradient[w], X[w], t[w], t_rows[w])
                W = X[w, i, dof[i]]
                R = real(softness) * W
                bound = wp.abs(lam[w, i]) + law.c[w, i]
                if m[w, i] == 0 and law.v0[w, i] == real(0.0):
                    bound *= law.ratio[w, i]
                aref[w, row] = float(a - W / A[w, i, i] * v[w, i] - R * t[w, i])
                D[w, row] = float(real(1.0) / R)
                frictionloss[w, row] = float(bound)

        # the motion that belongs to this friction while constraints keep their states: the solver only has to confirm it
        for k in range(nv):
            qacc_warmstart[w, k] = float(moved(n, k, gradient[w], X[w], t[w], t_rows[w]))

    return [friction_problem]
