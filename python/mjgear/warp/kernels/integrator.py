"""What an implicit integrator does to the acceleration of the constraint solver: Mhat^-1 M a."""

import warp as wp

from .inertia import expand
from .numbers import scalars, vectors


def make(numbers) -> list[wp.Kernel]:
    real, reals, matrices = numbers.real, numbers.reals, numbers.matrices
    columns, solve = numbers.native.columns, numbers.native.solve
    multiply, multiply_columns = numbers.native.multiply, numbers.native.multiply_columns

    @wp.kernel(module="unique", enable_backward=False)
    def integrator_matrix(
        M_rownnz: wp.array(dtype=int),
        M_rowadr: wp.array(dtype=int),
        M_colind: wp.array(dtype=int),
        M: vectors,
        # out
        full: matrices,
    ):
        """A symmetric matrix in the structure of M, as a lower triangle."""
        w, i = wp.tid()
        expand(i, M_rownnz, M_rowadr, M_colind, M[w], full[w])

    @wp.kernel(module="unique", enable_backward=False)
    def velocity_gains(
        dof: wp.array(dtype=int),
        damping: vectors,
        M_rownnz: wp.array(dtype=int),
        M_rowadr: wp.array(dtype=int),
        M: vectors,
        Mhat: vectors,
        timestep: scalars,
        # out
        gains: vectors,
    ):
        """Over the step a velocity gain is rotor inertia, h K_v: what the integrator's matrix has besides damping."""
        w, g = wp.tid()
        diagonal = M_rowadr[dof[g]] + M_rownnz[dof[g]] - 1
        damped = timestep[w % timestep.shape[0]] * damping[w % damping.shape[0], dof[g]]
        gains[w, g] = Mhat[w, diagonal] - M[w, diagonal] - damped

    @wp.kernel(module="unique", enable_backward=False)
    def integrator_rows(
        nv: int,
        dof: wp.array(dtype=int),
        M_rownnz: wp.array(dtype=int),
        M_rowadr: wp.array(dtype=int),
        M_colind: wp.array(dtype=int),
        M: vectors,
        # out
        Mhat: matrices,
        Y: matrices,
        Z: matrices,
        failed: wp.array(dtype=int),
    ):
        """Columns Z = M Mhat^-1 E, so that Z' a is the acceleration of the integrator at the geared dofs."""
        w = wp.tid()
        n = dof.shape[0]
        if columns(Y, Mhat, dof, nv, n, w) == 0:
            failed[w] = 1
        multiply_columns(Z, Y, M, M_rownnz, M_rowadr, M_colind, nv, n, w)

    @wp.kernel(module="unique", enable_backward=False)
    def integrate_implicit(
        nv: int,
        M_rownnz: wp.array(dtype=int),
        M_rowadr: wp.array(dtype=int),
        M_colind: wp.array(dtype=int),
        M: vectors,
        Mhat: matrices,
        # scratch
        a: reals,
        x: reals,
        # out
        Ma: vectors,
        qacc: vectors,
    ):
        """Acceleration of the integrator, Mhat^-1 M a, with the factor that integrator_rows has left."""
        w = wp.tid()
        for i in range(nv):
            a[w, i] = real(qacc[w, i])
        multiply(x, a, M, M_rownnz, M_rowadr, M_colind, nv, w)
        for i in range(nv):
            Ma[w, i] = float(x[w, i])
        solve(x, Mhat, nv, w)
        for i in range(nv):
            qacc[w, i] = float(x[w, i])

    return [integrator_matrix, velocity_gains, integrator_rows, integrate_implicit]
