"""The integrator "discrete": the constraint solver moves in its metric M + h D + h^2 K, and the integrator adds nothing."""

import warp as wp

from .numbers import Couples, vectors


@wp.func
def find(column: int, colind: wp.array(dtype=int), first: int, end: int) -> int:
    """Return the address of a column in a row of a sparse matrix, or -1."""
    for p in range(first, end):
        if colind[p] == column:
            return p
    return -1


@wp.func
def gain_over_step(w: int, i: int, couples: Couples) -> float:
    """Gains of actuators over a step, as rotor inertia of a dof: h K_v + h^2 K_p."""
    inertia = float(0.0)
    for k in range(couples.nactuator):
        if couples.efm_as[w, k] != 0.0:
            first = couples.moment_rowadr[w, k]
            p = find(i, couples.moment_colind[w], first, first + couples.moment_rownnz[w, k])
            if p >= 0:
                inertia += couples.efm_as[w, k] * couples.moment[w, p] * couples.moment[w, p]
    return inertia


@wp.func
def add_product(
    w: int,
    lane: int,
    lanes: int,
    s: float,
    first: int,
    end: int,
    colind: wp.array(dtype=int),
    j: vectors,
    a: vectors,
    # in and out
    product: vectors,
):
    """Adds s j' j a without its diagonal, which is in the metric."""
    whole = float(0.0)
    for p in range(first, end):
        whole += j[w, p] * a[w, colind[p]]
    for p in range(first, end):
        i = colind[p]
        if i % lanes == lane:
            product[w, i] = product[w, i] + s * j[w, p] * (whole - j[w, p] * a[w, i])


@wp.func
def add_products(w: int, lane: int, lanes: int, couples: Couples, a: vectors, product: vectors):
    """Add the products of all of these matrices with a."""
    for k in range(couples.nactuator):
        if couples.efm_as[w, k] != 0.0:
            first = couples.moment_rowadr[w, k]
            end = first + couples.moment_rownnz[w, k]
            add_product(
                w, lane, lanes, couples.efm_as[w, k], first, end, couples.moment_colind[w], couples.moment, a, product
            )
    for k in range(couples.ntendon):
        if couples.efm_ts[w, k] != 0.0:
            first = couples.ten_J_rowadr[k]
            end = first + couples.ten_J_rownnz[k]
            add_product(
                w, lane, lanes, couples.efm_ts[w, k], first, end, couples.ten_J_colind, couples.ten_J, a, product
            )


def make(numbers) -> list[wp.Kernel]:
    real, matrices = numbers.real, numbers.matrices

    @wp.func
    def add_term(
        w: int,
        lane: int,
        lanes: int,
        i: int,
        s: float,
        first: int,
        end: int,
        colind: wp.array(dtype=int),
        j: vectors,
        H: matrices,
    ):
        own = find(i, colind, first, end)
        if own >= 0:
            for p in range(first, end):
                column = colind[p]
                if column < i and column % lanes == lane:
                    H[w, i, column] += real(s * j[w, own] * j[w, p])

    @wp.func
    def add_terms(w: int, lane: int, lanes: int, i: int, couples: Couples, H: matrices):
        """Add row i of MuJoCo Warp's couplings, below the diagonal."""
        for k in range(couples.nactuator):
            if couples.efm_as[w, k] != 0.0:
                first = couples.moment_rowadr[w, k]
                end = first + couples.moment_rownnz[w, k]
                add_term(
                    w, lane, lanes, i, couples.efm_as[w, k], first, end, couples.moment_colind[w], couples.moment, H
                )
        for k in range(couples.ntendon):
            if couples.efm_ts[w, k] != 0.0:
                first = couples.ten_J_rowadr[k]
                end = first + couples.ten_J_rownnz[k]
                add_term(w, lane, lanes, i, couples.efm_ts[w, k], first, end, couples.ten_J_colind, couples.ten_J, H)

    numbers.add_terms = add_terms
    return []
