"""Second derivative of the constraint solver's cost, at its constraint states."""

import warp as wp
from mujoco_warp._src.types import ConstraintState, ConstraintType

from .numbers import Constraints, Couples, Motion, Round, Tree, vectors

QUADRATIC = int(ConstraintState.QUADRATIC)
CONE = int(ConstraintState.CONE)
FRICTION_DOF = int(ConstraintType.FRICTION_DOF)
CONTACT_ELLIPTIC = int(ConstraintType.CONTACT_ELLIPTIC)

# placeholder for a kind of row that does not exist
NO_KIND = -1

# round-off relative to a force or a length
TINY = 1e-15


def make(numbers) -> list[wp.Kernel]:
    real, Scratch, native, add_terms = numbers.real, numbers.Scratch, numbers.native, numbers.add_terms
    add_row, expand, gather, gap, sync = native.add_row, native.expand, native.gather, native.gap, native.sync

    @wp.func
    def cone_mu(w: int, con: int, c: Constraints) -> float:
        return c.friction[con][0] * c.impratio_invsqrt[w % c.impratio_invsqrt.shape[0]]

    @wp.func
    def cone_D(w: int, con: int, mu: float, c: Constraints) -> float:
        """Dm of a contact, which costs Dm/2 (N - mu T)^2 on its cone with N = mu x_0, T = |(f_j x_j)|."""
        return c.D[w, c.address[con, 0]] / (mu * mu * (1.0 + mu * mu))

    @wp.func
    def on_contact(w: int, r: int, nv: int, c: Constraints, qacc: vectors) -> wp.vec4:
        """N and T of the contact of a row at a motion, and of the row f x and f, where it is not the normal one."""
        con = c.identity[w, r]
        first = c.address[con, 0]
        mu = cone_mu(w, con, c)
        own = r - first
        N = float(0.0)
        TT = float(0.0)
        uo = float(0.0)
        fo = mu
        for s in range(c.dim[con]):
            x = float(gap(c.J, qacc, c.aref, nv, w, first + s))
            if s == 0:
                N = mu * x
            else:
                f = c.friction[con][s - 1]
                TT += f * x * f * x
                if s == own:
                    uo = f * x
                    fo = f
        return wp.vec4(N, wp.max(wp.sqrt(TT), TINY), uo, fo)

    @wp.func
    def cone_row(w: int, r: int, nv: int, c: Constraints, qacc: vectors, cone: wp.array3d(dtype=float)):
        """A row of the Hessian of a contact on its cone."""
        con = c.identity[w, r]
        first = c.address[con, 0]
        own = r - first
        mu = cone_mu(w, con, c)
        Dm = cone_D(w, con, mu, c)
        at = on_contact(w, r, nv, c, qacc)
        N = at[0]
        T = at[1]
        uo = at[2]
        fo = at[3]
        for s in range(c.dim[con]):
            if s == 0:
                if own == 0:
                    cone[w, r, s] = Dm * mu * mu
                else:
                    cone[w, r, s] = -Dm * mu * mu * fo * uo / T
            else:
                f = c.friction[con][s - 1]
                u = f * float(gap(c.J, qacc, c.aref, nv, w, first + s))
                if own == 0:
                    cone[w, r, s] = -Dm * mu * mu * f * u / T
                else:
                    value = mu * N * uo * u / (T * T * T)
                    if s == own:
                        value += mu * mu - mu * N / T
                    cone[w, r, s] = Dm * fo * f * value

    @wp.func
    def cones(w: int, lane: int, lanes: int, nv: int, rows: int, c: Constraints, motion: Motion, scratch: Scratch):
        """Second derivative of the constraint cost by the rows of contacts that are on their cone, a block each."""
        for r in range(lane, rows, lanes):
            scratch.cone_dim[w, r] = 0
            if c.kind[w, r] == CONTACT_ELLIPTIC and motion.state[w, r] == CONE:
                cone_row(w, r, nv, c, motion.qacc, scratch.cone)
                scratch.cone_dim[w, r] = c.dim[c.identity[w, r]]
        sync()

    @wp.func
    def hessian(
        w: int,
        lane: int,
        lanes: int,
        nv: int,
        rows: int,
        round: Round,
        elliptic: int,
        tree: Tree,
        metric: vectors,
        couples: Couples,
        geared: wp.array(dtype=int),
        c: Constraints,
        motion: Motion,
        scratch: Scratch,
    ):
        """The gradient, M a - all forces, and where it is another H = M + J' (second derivative) J, its lower triangle."""
        other = round.other
        gears = wp.where(round.passive != 0, NO_KIND, FRICTION_DOF)
        if other != 0:
            expand(scratch.H, metric, tree.rownnz, tree.rowadr, tree.colind, nv, w)
        gather(
            scratch.H,
            scratch.gradient,
            c.J,
            c.D,
            motion.force,
            motion.state,
            c.kind,
            c.identity,
            geared,
            rows,
            QUADRATIC,
            gears,
            other,
            nv,
            w,
        )
        for i in range(lane, nv, lanes):
            scratch.gradient[w, i] = real(motion.Ma[w, i]) - real(motion.smooth[w, i]) - scratch.gradient[w, i]
        if other != 0:
            for i in range(nv):
                add_terms(w, lane, lanes, i, couples, scratch.H)
            if elliptic != 0:
                for r in range(rows):
                    if scratch.cone_dim[w, r] != 0:
                        first = c.address[c.identity[w, r], 0]
                        for i in range(nv):
                            if c.J[w, r, i] != 0.0:
                                for s in range(scratch.cone_dim[w, r]):
                                    add_row(
                                        scratch.H,
                                        c.J,
                                        real(scratch.cone[w, r, s]) * real(c.J[w, r, i]),
                                        w,
                                        i,
                                        first + s,
                                    )
        sync()

    numbers.cone_mu, numbers.cone_D, numbers.on_contact = cone_mu, cone_D, on_contact
    numbers.cones, numbers.hessian = cones, hessian
    return []
