"""Symmetric matrices of a world in the structure of the inertia matrix: the lower triangle by rows, as Model.M_* says."""

from typing import Any

import warp as wp


@wp.func
def expand(
    i: int,
    M_rownnz: wp.array(dtype=int),
    M_rowadr: wp.array(dtype=int),
    M_colind: wp.array(dtype=int),
    M: wp.array(dtype=float),
    # out
    full: wp.array2d(dtype=Any),
):
    """Row i of the matrix, as a row of a lower triangle."""
    for j in range(i + 1):
        full[i, j] = full.dtype(0.0)
    for k in range(M_rownnz[i]):
        adr = M_rowadr[i] + k
        full[i, M_colind[adr]] = full.dtype(M[adr])
