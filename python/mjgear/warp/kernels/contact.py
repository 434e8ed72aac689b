"""Second derivative of the constraint solver's cost, at the constraint states that it has found."""

import warp as wp
from mujoco_warp._src.types import ConstraintState, ConstraintType

from .inertia import expand
from .numbers import integers, scalars, vectors

QUADRATIC = int(ConstraintState.QUADRATIC)
CONE = int(ConstraintState.CONE)
FRICTION_DOF = int(ConstraintType.FRICTION_DOF)
CONTACT_ELLIPTIC = int(ConstraintType.CONTACT_ELLIPTIC)


@wp.func
def reference_gap(nv: int, J: wp.array(dtype=float), aref: float, qacc: wp.array(dtype=float)) -> float:
    """J a - aref of a row"""
    x = -aref
    for i in range(nv):
        x += J[i] * qacc[i]
    return x


def make(numbers) -> list[wp.Kernel]:
    real, reals, matrices = numbers.real, numbers.reals, numbers.matrices
    add_row = numbers.native.add_row

    @wp.kernel(module="unique", enable_backward=False)
    def cones(
        settles: wp.array(dtype=int),
        nv: int,
        impratio_invsqrt: scalars,
        friction: wp.array(dtype=wp.types.vector(5, wp.float32)),
        dim: wp.array(dtype=int),
        efc_address: integers,
        nefc: wp.array(dtype=int),
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
        w, r = wp.tid()
        if settles[w] != 0 or r >= nefc[w]:
            return
        cone_dim[w, r] = 0
        if kind[w, r] != CONTACT_ELLIPTIC or state[w, r] != CONE:
            return

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
            x = reference_gap(nv, J[w, first + s], aref[w, first + s], qacc[w])
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
                u = f * reference_gap(nv, J[w, first + s], aref[w, first + s], qacc[w])
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
        settles: wp.array(dtype=int),
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
        """H = M + J' (second derivative) J, a row of the lower triangle a thread, and M a - all forces."""
        w, i = wp.tid()
        if settles[w] != 0:
            return
        g = real(Ma[w, i]) - real(qfrc_smooth[w, i])
        expand(i, M_rownnz, M_rowadr, M_colind, M[w], H[w])
        for r in range(wp.min(nefc[w], njmax)):
            x = J[w, r, i]
            if x != 0.0:
                g -= real(x) * real(force[w, r])
                if state[w, r] == QUADRATIC:
                    if kind[w, r] == FRICTION_DOF:
                        if geared[identity[w, r]] >= 0:
                            continue
                    add_row(H, J, real(D[w, r]) * real(x), w, i, r)
                elif elliptic != 0:
                    for s in range(cone_dim[w, r]):
                        add_row(H, J, real(cone[w, r, s]) * real(x), w, i, cone_first[w, r] + s)
        gradient[w, i] = g

    return [cones, hessian]
