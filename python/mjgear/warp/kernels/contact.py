"""Second derivative of the constraint solver's cost, at the constraint states that it has found."""

import warp as wp
from mujoco_warp._src.types import ConstraintState, ConstraintType

from .inertia import expand
from .numbers import Progress, integers, scalars, vectors

QUADRATIC = int(ConstraintState.QUADRATIC)
CONE = int(ConstraintState.CONE)
FRICTION_DOF = int(ConstraintType.FRICTION_DOF)
CONTACT_ELLIPTIC = int(ConstraintType.CONTACT_ELLIPTIC)


def make(numbers) -> list[wp.Kernel]:
    real, reals, matrices = numbers.real, numbers.reals, numbers.matrices
    add_row, forces, gap = numbers.native.add_row, numbers.native.forces, numbers.native.gap

    @wp.kernel(module="unique", enable_backward=False)
    def cones(
        lanes: int,
        limit: int,
        progress: Progress,
        nv: int,
        impratio_invsqrt: scalars,
        friction: wp.array(dtype=wp.types.vector(5, wp.float32)),
        dim: wp.array(dtype=int),
        efc_address: integers,
        nefc: wp.array(dtype=int),
        njmax: int,
        kind: integers,
        identity: integers,
        J: wp.array3d(dtype=float),
        D: vectors,
        aref: vectors,
        state: integers,
        qacc: vectors,
        # out
        cone: wp.array3d(dtype=float),
        cone_first: integers,
        cone_dim: integers,
    ):
        """Second derivative of the constraint cost by the rows of contacts that are on their cone, a block each."""
        w, lane = wp.tid()
        if progress.settles[w] != 0 or progress.rounds[w] >= limit:
            return
        for r in range(lane, wp.min(nefc[w], njmax), lanes):
            cone_dim[w, r] = 0
            if kind[w, r] != CONTACT_ELLIPTIC or state[w, r] != CONE:
                continue

            # a contact on its cone costs Dm/2 (N - mu T)^2 with N = mu x_0, T = |(f_j x_j)|: the row of its Hessian
            con = identity[w, r]
            first = efc_address[con, 0]
            mu = friction[con][0] * impratio_invsqrt[w % impratio_invsqrt.shape[0]]
            own = r - first
            N = float(0.0)
            TT = float(0.0)
            uo = float(0.0)
            fo = mu
            for s in range(dim[con]):
                x = float(gap(J, qacc, aref, nv, w, first + s))
                if s == 0:
                    N = mu * x
                else:
                    f = friction[con][s - 1]
                    TT += f * x * f * x
                    if s == own:
                        uo = f * x
                        fo = f
            T = wp.max(wp.sqrt(TT), 1e-15)
            Dm = D[w, first] / (mu * mu * (1.0 + mu * mu))
            for s in range(dim[con]):
                if s == 0:
                    if own == 0:
                        cone[w, r, s] = Dm * mu * mu
                    else:
                        cone[w, r, s] = -Dm * mu * mu * fo * uo / T
                else:
                    f = friction[con][s - 1]
                    u = f * float(gap(J, qacc, aref, nv, w, first + s))
                    if own == 0:
                        cone[w, r, s] = -Dm * mu * mu * f * u / T
                    else:
                        value = mu * N * uo * u / (T * T * T)
                        if s == own:
                            value += mu * mu - mu * N / T
                        cone[w, r, s] = Dm * fo * f * value
            cone_first[w, r] = first
            cone_dim[w, r] = dim[con]

    @wp.kernel(module="unique", enable_backward=False)
    def hessian(
        limit: int,
        progress: Progress,
        M_rownnz: wp.array(dtype=int),
        M_rowadr: wp.array(dtype=int),
        M_colind: wp.array(dtype=int),
        M: vectors,
        geared: wp.array(dtype=int),
        nefc: wp.array(dtype=int),
        njmax: int,
        kind: integers,
        identity: integers,
        J: wp.array3d(dtype=float),
        D: vectors,
        state: integers,
        elliptic: int,
        cone: wp.array3d(dtype=float),
        cone_first: integers,
        cone_dim: integers,
        Ma: vectors,
        qfrc_smooth: vectors,
        force: vectors,
        # out
        H: matrices,
        gradient: reals,
    ):
        """H = M + J' (second derivative) J, a row of the lower triangle a thread, where it is another; and M a - all forces."""
        w, i = wp.tid()
        if progress.settles[w] != 0 or progress.rounds[w] >= limit:
            return
        rows = wp.min(nefc[w], njmax)
        other = progress.other[w]
        if other != 0:
            expand(i, M_rownnz, M_rowadr, M_colind, M[w], H[w])
        held = forces(H, J, D, force, state, kind, identity, geared, rows, QUADRATIC, FRICTION_DOF, other, w, i)
        gradient[w, i] = real(Ma[w, i]) - real(qfrc_smooth[w, i]) - held
        if elliptic != 0 and other != 0:
            for r in range(rows):
                if cone_dim[w, r] != 0 and J[w, r, i] != 0.0:
                    for s in range(cone_dim[w, r]):
                        add_row(H, J, real(cone[w, r, s]) * real(J[w, r, i]), w, i, cone_first[w, r] + s)

    return [cones, hessian]
