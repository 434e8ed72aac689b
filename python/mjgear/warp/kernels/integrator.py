"""Acceleration of an implicit integrator from that of the constraint solver: Mhat^-1 M a."""

import warp as wp

from .numbers import Tree, vectors


@wp.func
def velocity_gain(w: int, i: int, h: float, damping: vectors, tree: Tree, M: vectors, Mhat: vectors) -> float:
    """Over the step a velocity gain is rotor inertia, h K_v: it is in the integrator's matrix beside damping."""
    diagonal = tree.rowadr[i] + tree.rownnz[i] - 1
    return Mhat[w, diagonal] - M[w, diagonal] - h * damping[w % damping.shape[0], i]


def make(numbers) -> list[wp.Kernel]:
    real, reals, matrices, Scratch = numbers.real, numbers.reals, numbers.matrices, numbers.Scratch
    native = numbers.native
    columns, factor, solve, expand, sync = native.columns, native.factor, native.solve, native.expand, native.sync
    multiply, multiply_columns, this_lane = native.multiply, native.multiply_columns, native.lane

    @wp.func
    def integrator_rows(
        w: int, nv: int, dof: wp.array(dtype=int), tree: Tree, M: vectors, sum: vectors, scratch: Scratch
    ) -> int:
        """Columns Z = M Mhat^-1 E, so that Z' a is the acceleration of the integrator at the geared dofs; Mhat is that of sum.

        Returns 0 if it is not positive definite.
        """
        n = dof.shape[0]
        expand(scratch.H, sum, tree.rownnz, tree.rowadr, tree.colind, nv, w)
        definite = columns(scratch.X, scratch.H, dof, nv, n, w)
        multiply_columns(scratch.Z, scratch.X, M, tree.rownnz, tree.rowadr, tree.colind, nv, n, w)
        return definite

    numbers.integrator_rows = integrator_rows

    @wp.kernel(module="unique", enable_backward=False)
    def integrate_implicit(
        lanes: int,
        nv: int,
        tree: Tree,
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
        w, thread = wp.tid()
        lane = this_lane()
        for i in range(lane, nv, lanes):
            a[w, i] = real(qacc[w, i])
        expand(Mhat, sum, tree.rownnz, tree.rowadr, tree.colind, nv, w)
        if factor(Mhat, nv, w) == 0:
            return
        multiply(x, a, M, tree.rownnz, tree.rowadr, tree.colind, nv, w)
        for i in range(lane, nv, lanes):
            Ma[w, i] = float(x[w, i])
        sync()
        solve(x, Mhat, nv, w)
        for i in range(lane, nv, lanes):
            qacc[w, i] = float(x[w, i])

    return [integrate_implicit]
