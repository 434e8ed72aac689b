"""What an implicit integrator does to the acceleration of the constraint solver: Mhat^-1 M a."""

import warp as wp

from .inertia import expand
from .numbers import UNSOLVED, blame, vectors


@wp.func
def velocity_gain(
    w: int,
    i: int,
    h: float,
    damping: vectors,
    M_rownnz: wp.array(dtype=int),
    M_rowadr: wp.array(dtype=int),
    M: vectors,
    Mhat: vectors,
) -> float:
    """Over the step a velocity gain is rotor inertia, h K_v: what the integrator's matrix has besides damping."""
    diagonal = M_rowadr[i] + M_rownnz[i] - 1
    return Mhat[w, diagonal] - M[w, diagonal] - h * damping[w % damping.shape[0], i]


def make(numbers) -> list[wp.Kernel]:
    real, reals, matrices = numbers.real, numbers.reals, numbers.matrices
    columns, factor, solve = numbers.native.columns, numbers.native.factor, numbers.native.solve
    multiply, multiply_columns = numbers.native.multiply, numbers.native.multiply_columns

    @wp.kernel(module="unique", enable_backward=False)
    def integrator_rows(
        nv: int,
        dof: wp.array(dtype=int),
        M_rownnz: wp.array(dtype=int),
        M_rowadr: wp.array(dtype=int),
        M_colind: wp.array(dtype=int),
        M: vectors,
        sum: vectors,
        # scratch
        Mhat: matrices,
        Y: matrices,
        # out
        Z: matrices,
        status: wp.array(dtype=int),
        unsettled: wp.array(dtype=int),
    ):
        """Columns Z = M Mhat^-1 E, so that Z' a is the acceleration of the integrator at the geared dofs. Mhat is that of sum, factored."""
        w = wp.tid()
        n = dof.shape[0]
        for i in range(nv):
            expand(i, M_rownnz, M_rowadr, M_colind, sum[w], Mhat[w])
        if columns(Y, Mhat, dof, nv, n, w) == 0:
            blame(status, unsettled, w, UNSOLVED)
        multiply_columns(Z, Y, M, M_rownnz, M_rowadr, M_colind, nv, n, w)

    @wp.kernel(module="unique", enable_backward=False)
    def integrate_implicit(
        nv: int,
        M_rownnz: wp.array(dtype=int),
        M_rowadr: wp.array(dtype=int),
        M_colind: wp.array(dtype=int),
        M: vectors,
        sum: vectors,
        # scratch
        Mhat: matrices,
        a: reals,
        x: reals,
        # out
        Ma: vectors,
        qacc: vectors,
    ):
        """Acceleration of the integrator, Mhat^-1 M a; Mhat is that of sum."""
        w = wp.tid()
        for i in range(nv):
            a[w, i] = real(qacc[w, i])
            expand(i, M_rownnz, M_rowadr, M_colind, sum[w], Mhat[w])
        if factor(Mhat, nv, w) == 0:
            return
        multiply(x, a, M, M_rownnz, M_rowadr, M_colind, nv, w)
        for i in range(nv):
            Ma[w, i] = float(x[w, i])
        solve(x, Mhat, nv, w)
        for i in range(nv):
            qacc[w, i] = float(x[w, i])

    return [integrator_rows, integrate_implicit]
