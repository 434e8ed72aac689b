"""The integrator "discrete": the constraint solver moves in its metric M + h D + h^2 K, and the integrator adds nothing."""

import warp as wp

from .numbers import Progress, integers, vectors


@wp.func
def find(column: int, colind: wp.array(dtype=int), first: int, end: int) -> int:
    """Where a row of a sparse matrix has a column, -1 if nowhere."""
    for p in range(first, end):
        if colind[p] == column:
            return p
    return -1


@wp.func
def gain_over_step(
    w: int,
    i: int,
    nactuator: int,
    moment_rownnz: integers,
    moment_rowadr: integers,
    moment_colind: integers,
    moment: vectors,
    efm_as: vectors,
) -> float:
    """What gains of actuators are over a step to the rotor of a dof, inertia: h K_v + h^2 K_p."""
    inertia = float(0.0)
    for k in range(nactuator):
        if efm_as[w, k] != 0.0:
            first = moment_rowadr[w, k]
            p = find(i, moment_colind[w], first, first + moment_rownnz[w, k])
            if p >= 0:
                inertia += efm_as[w, k] * moment[w, p] * moment[w, p]
    return inertia


@wp.func
def add_product(
    w: int,
    s: float,
    first: int,
    end: int,
    colind: wp.array(dtype=int),
    j: vectors,
    a: vectors,
    # in and out
    product: vectors,
):
    """Adds what s j' j does to a, but for its diagonal, which is in the metric."""
    whole = float(0.0)
    for p in range(first, end):
        whole += j[w, p] * a[w, colind[p]]
    for p in range(first, end):
        i = colind[p]
        product[w, i] = product[w, i] + s * j[w, p] * (whole - j[w, p] * a[w, i])


def make(numbers) -> list[wp.Kernel]:
    real, matrices = numbers.real, numbers.matrices

    @wp.kernel(module="unique", enable_backward=False)
    def discrete_terms(
        limit: int,
        progress: Progress,
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
        # in and out
        H: matrices,
    ):
        """Terms of the metric that couple dofs, s j' j of tendons and actuators, below the diagonal, which MuJoCo Warp has made."""
        w, i = wp.tid()
        if progress.settles[w] != 0 or progress.rounds[w] >= limit or progress.other[w] == 0:
            return
        for k in range(nactuator):
            if efm_as[w, k] != 0.0:
                first = moment_rowadr[w, k]
                end = first + moment_rownnz[w, k]
                own = find(i, moment_colind[w], first, end)
                if own >= 0:
                    for p in range(first, end):
                        if moment_colind[w, p] < i:
                            H[w, i, moment_colind[w, p]] += real(efm_as[w, k] * moment[w, own] * moment[w, p])
        for k in range(ntendon):
            if efm_ts[w, k] != 0.0:
                first = ten_J_rowadr[k]
                end = first + ten_J_rownnz[k]
                own = find(i, ten_J_colind, first, end)
                if own >= 0:
                    for p in range(first, end):
                        if ten_J_colind[p] < i:
                            H[w, i, ten_J_colind[p]] += real(efm_ts[w, k] * ten_J[w, own] * ten_J[w, p])

    return [discrete_terms]
