"""Kernels of one step. Each world is solved by itself; arrays have a world a row.

Names: n geared joints, nv dofs, t friction torque, a acceleration that the constraint solver has found, H the
matrix of its Newton method without the rows of the gears, Mhat that of the integrator, W = E' H^-1 E,
A = h E' Mhat^-1 M H^-1 E. The problem of a step is that of core/mjgear.h.
"""

import functools
import types

import warp as wp

from mujoco_warp._src.types import ConstraintState, ConstraintType

from . import native

QUADRATIC = int(ConstraintState.QUADRATIC)
CONE = int(ConstraintState.CONE)
FRICTION_DOF = int(ConstraintType.FRICTION_DOF)
CONTACT_ELLIPTIC = int(ConstraintType.CONTACT_ELLIPTIC)

_real = {"single": (wp.float32, "float"), "double": (wp.float64, "double")}


@functools.cache
def make(precision: str) -> types.SimpleNamespace:
    """All kernels, with the dense problem in single or double precision."""
    real, ctype = _real[precision]
    columns, solve, newton = native.functions(ctype)

    vector = wp.array2d(dtype=wp.float32)
    integers = wp.array2d(dtype=int)
    reals = wp.array2d(dtype=real)
    matrices = wp.array3d(dtype=real)

    @wp.kernel(module="unique", enable_backward=False)
    def begin(
        dof: wp.array(dtype=int),
        gamma_u: vector,
        gamma_v: vector,
        coulomb: vector,
        static_ratio: vector,
        stribeck_friction: vector,
        stribeck_velocity: vector,
        stribeck_exponent: vector,
        gamma_u_stribeck: vector,
        gamma_v_stribeck: vector,
        gamma_u_quadratic: vector,
        gamma_v_quadratic: vector,
        armature: wp.array2d(dtype=float),
        actuator_inertia: wp.array(dtype=float),
        servos: int,
        damping: wp.array2d(dtype=float),
        M_rownnz: wp.array(dtype=int),
        M_rowadr: wp.array(dtype=int),
        M: wp.array2d(dtype=float),
        Mhat: wp.array2d(dtype=float),
        timestep: wp.array(dtype=float),
        time: wp.array(dtype=float),
        qvel: wp.array2d(dtype=float),
        qfrc_actuator: wp.array2d(dtype=float),
        # state
        friction: vector,
        internal: vector,
        mode: integers,
        slack: vector,
        # out: the law of this step
        tau: reals,
        inertia: reals,
        v0: reals,
        alpha: reals,
        gain: reals,
        beta: reals,
        c: reals,
        ratio: reals,
        t: reals,
        lam: reals,
        m: integers,
    ):
        w, g = wp.tid()
        h = timestep[w % timestep.shape[0]]
        if time[w] == 0.0:
            # a world that was reset starts without friction
            friction[w, g] = 0.0
            internal[w, g] = 0.0
            mode[w, g] = 0
            slack[w, g] = 0.0
        v = qvel[w, dof[g]]
        if wp.abs(v) <= slack[w, g]:
            # the rounding error of a step in which the joint stopped
            v = 0.0
            qvel[w, dof[g]] = 0.0
        u = qfrc_actuator[w, dof[g]]
        x = u - friction[w, g]

        # what friction gains near rest: mjg_frictionAt of the core
        S = wp.exp(-wp.pow(wp.abs(v) / stribeck_velocity[w, g], stribeck_exponent[w, g]))
        gu = gamma_u[w, g] + S * gamma_u_stribeck[w, g]
        gv = gamma_v[w, g] + S * gamma_v_stribeck[w, g]
        if u * x > 0.0:
            if wp.abs(u) > wp.abs(x):
                gv += S * gamma_v_quadratic[w, g] * wp.abs(x)
            else:
                gu += S * gamma_u_quadratic[w, g] * wp.abs(u)
        rotor = armature[w % armature.shape[0], dof[g]] + actuator_inertia[g]
        if servos != 0:
            # over the step a velocity gain is rotor inertia, h K_v: what the integrator's matrix has besides damping
            diagonal = M_rowadr[dof[g]] + M_rownnz[dof[g]] - 1
            rotor += Mhat[w, diagonal] - M[w, diagonal] - h * damping[w % damping.shape[0], dof[g]]

        tau[w, g] = real(u)
        inertia[w, g] = real(rotor)
        v0[w, g] = real(v)
        alpha[w, g] = (real(gu) + real(gv)) * real(rotor) / real(h)
        gain[w, g] = real(gu) + real(gv)
        beta[w, g] = real(gv)
        c[w, g] = real(coulomb[w, g]) + real(S * stribeck_friction[w, g])
        ratio[w, g] = real(static_ratio[w, g])
        t[w, g] = real(friction[w, g])
        lam[w, g] = real(internal[w, g])
        m[w, g] = mode[w, g]

    @wp.kernel(module="unique", enable_backward=False)
    def first_rows(
        dof: wp.array(dtype=int),
        softness: float,
        hold: float,
        invweight: wp.array2d(dtype=float),
        timestep: wp.array(dtype=float),
        frictionadr: integers,
        qvel: wp.array2d(dtype=float),
        c: reals,
        ratio: reals,
        t: reals,
        lam: reals,
        m: integers,
        # out
        aref: wp.array2d(dtype=float),
        D: wp.array2d(dtype=float),
        frictionloss: wp.array2d(dtype=float),
        missing: wp.array(dtype=int),
    ):
        """Rows from the friction of the last step."""
        w, g = wp.tid()
        row = frictionadr[w, dof[g]]
        if row < 0:
            missing[w] = 1
            return
        R = softness * invweight[w % invweight.shape[0], dof[g]]
        v = qvel[w, dof[g]]
        bound = float(wp.abs(lam[w, g]) + c[w, g])
        if v == 0.0:
            bound *= float(ratio[w, g])
            if m[w, g] == 0:
                bound *= hold
        aref[w, row] = -v / timestep[w % timestep.shape[0]] - R * float(t[w, g])
        D[w, row] = 1.0 / R
        frictionloss[w, row] = bound

    @wp.kernel(module="unique", enable_backward=False)
    def integrator_matrix(
        M_rownnz: wp.array(dtype=int),
        M_rowadr: wp.array(dtype=int),
        M_colind: wp.array(dtype=int),
        M: wp.array2d(dtype=float),
        # out
        full: matrices,
    ):
        """A symmetric matrix in the structure of M, as a lower triangle."""
        w, i = wp.tid()
        for j in range(i + 1):
            full[w, i, j] = real(0.0)
        for k in range(M_rownnz[i]):
            adr = M_rowadr[i] + k
            full[w, i, M_colind[adr]] = real(M[w, adr])

    @wp.kernel(module="unique", enable_backward=False)
    def integrator_rows(
        nv: int,
        dof: wp.array(dtype=int),
        M_rownnz: wp.array(dtype=int),
        M_rowadr: wp.array(dtype=int),
        M_colind: wp.array(dtype=int),
        M: wp.array2d(dtype=float),
        # out
        Mhat: matrices,
        Y: matrices,
        Z: matrices,
        failed: wp.array(dtype=int),
    ):
        """Rows that turn a into the acceleration of the integrator: Z = E' Mhat^-1 M."""
        w = wp.tid()
        n = dof.shape[0]
        if columns(Y, Mhat, dof, nv, n, w) == 0:
            failed[w] = 1
        for g in range(n):
            for i in range(nv):
                Z[w, g, i] = real(0.0)
            for i in range(nv):
                for k in range(M_rownnz[i]):
                    adr = M_rowadr[i] + k
                    j = M_colind[adr]
                    value = real(M[w, adr])
                    Z[w, g, i] += value * Y[w, g, j]
                    if j != i:
                        Z[w, g, j] += value * Y[w, g, i]

    @wp.kernel(module="unique", enable_backward=False)
    def curvature(
        nv: int,
        geared: wp.array(dtype=int),
        impratio_invsqrt: wp.array(dtype=float),
        friction: wp.array(dtype=wp.types.vector(5, wp.float32)),
        dim: wp.array(dtype=int),
        efc_address: wp.array2d(dtype=int),
        nefc: wp.array(dtype=int),
        kind: integers,
        identity: integers,
        J: wp.array3d(dtype=float),
        D: wp.array2d(dtype=float),
        aref: wp.array2d(dtype=float),
        state: integers,
        qacc: wp.array2d(dtype=float),
        # out
        weight: reals,
        cone: wp.array3d(dtype=float),
        cone_first: integers,
        cone_dim: integers,
    ):
        """Second derivative of the constraint cost by the rows: a diagonal, and blocks of contacts on their cone."""
        w, r = wp.tid()
        if r >= nefc[w]:
            return
        weight[w, r] = real(0.0)
        cone_dim[w, r] = 0
        k = kind[w, r]
        if k == FRICTION_DOF:
            if geared[identity[w, r]] >= 0:
                return
        if state[w, r] == QUADRATIC:
            weight[w, r] = real(D[w, r])
        if k != CONTACT_ELLIPTIC or state[w, r] != CONE:
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
            x = -aref[w, first + s]
            for i in range(nv):
                x += J[w, first + s, i] * qacc[w, i]
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
                x = -aref[w, first + s]
                for i in range(nv):
                    x += J[w, first + s, i] * qacc[w, i]
                u = f * x
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
        M_rownnz: wp.array(dtype=int),
        M_rowadr: wp.array(dtype=int),
        M_colind: wp.array(dtype=int),
        M: wp.array2d(dtype=float),
        nefc: wp.array(dtype=int),
        njmax: int,
        J: wp.array3d(dtype=float),
        weight: reals,
        cone: wp.array3d(dtype=float),
        cone_first: integers,
        cone_dim: integers,
        Ma: wp.array2d(dtype=float),
        qfrc_smooth: wp.array2d(dtype=float),
        force: wp.array2d(dtype=float),
        # out
        H: matrices,
        gradient: reals,
    ):
        """H = M + J' (second derivative) J, a row of the lower triangle a thread, and M a - all forces."""
        w, i = wp.tid()
        g = real(Ma[w, i]) - real(qfrc_smooth[w, i])
        for j in range(i + 1):
            H[w, i, j] = real(0.0)
        for k in range(M_rownnz[i]):
            adr = M_rowadr[i] + k
            H[w, i, M_colind[adr]] = real(M[w, adr])
        for r in range(wp.min(nefc[w], njmax)):
            x = J[w, r, i]
            if x != 0.0:
                g -= real(x) * real(force[w, r])
                if cone_dim[w, r] == 0:
                    f = weight[w, r] * real(x)
                    if f != real(0.0):
                        for j in range(i + 1):
                            H[w, i, j] += f * real(J[w, r, j])
                else:
                    for s in range(cone_dim[w, r]):
                        f = real(cone[w, r, s]) * real(x)
                        for j in range(i + 1):
                            H[w, i, j] += f * real(J[w, cone_first[w, r] + s, j])
        gradient[w, i] = g

    @wp.kernel(module="unique", enable_backward=False)
    def friction_problem(
        nv: int,
        implicit: int,
        dof: wp.array(dtype=int),
        softness: float,
        timestep: wp.array(dtype=float),
        frictionadr: integers,
        force: wp.array2d(dtype=float),
        qacc: wp.array2d(dtype=float),
        gradient: reals,
        tau: reals,
        v0: reals,
        alpha: reals,
        gain: reals,
        beta: reals,
        c: reals,
        ratio: reals,
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
        qacc_warmstart: wp.array2d(dtype=float),
        aref: wp.array2d(dtype=float),
        D: wp.array2d(dtype=float),
        frictionloss: wp.array2d(dtype=float),
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
                value = real(0.0)
                if implicit != 0:
                    for k in range(nv):
                        value += Z[w, i, k] * X[w, j, k]
                else:
                    value = X[w, j, dof[i]]
                A[w, i, j] = h * value

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
            a = real(0.0)
            if implicit != 0:
                for k in range(nv):
                    a += Z[w, i, k] * gradient[w, k]
            else:
                a = gradient[w, dof[i]]
            At = real(0.0)
            for j in range(n):
                At += A[w, i, j] * t[w, j]
            v_free[w, i] = v0[w, i] + h * a + At
            phi[w, i] = gain[w, i] * tau[w, i] - alpha[w, i] * (h * a + At)
        steps = newton(t, v, lam, m, A, v_free, phi, alpha, beta, c, ratio, v0, n, number, integer, w)
        if steps < 0:
            failed[w] = 1
        iterations[w] = wp.max(iterations[w], wp.abs(steps))

        # rows that hold this motion without any force of theirs but friction, and slip beyond it
        for i in range(n):
            row = frictionadr[w, dof[i]]
            if row >= 0:
                a = gradient[w, dof[i]]
                for j in range(n):
                    a -= X[w, j, dof[i]] * (t[w, j] - t_rows[w, j])
                W = X[w, i, dof[i]]
                R = real(softness) * W
                bound = wp.abs(lam[w, i]) + c[w, i]
                if m[w, i] == 0 and v0[w, i] == real(0.0):
                    bound *= ratio[w, i]
                aref[w, row] = float(a - W / A[w, i, i] * v[w, i] - R * t[w, i])
                D[w, row] = float(real(1.0) / R)
                frictionloss[w, row] = float(bound)

        # the motion that belongs to this friction while constraints keep their states: the solver only has to confirm it
        for k in range(nv):
            a = gradient[w, k]
            for j in range(n):
                a -= X[w, j, k] * (t[w, j] - t_rows[w, j])
            qacc_warmstart[w, k] = float(a)

    @wp.kernel(module="unique", enable_backward=False)
    def integrate_implicit(
        nv: int,
        M_rownnz: wp.array(dtype=int),
        M_rowadr: wp.array(dtype=int),
        M_colind: wp.array(dtype=int),
        M: wp.array2d(dtype=float),
        Mhat: matrices,
        # scratch
        x: reals,
        # out
        Ma: wp.array2d(dtype=float),
        qacc: wp.array2d(dtype=float),
    ):
        """Acceleration of the integrator, Mhat^-1 M a, with the factor that integrator_rows has left."""
        w = wp.tid()
        for i in range(nv):
            x[w, i] = real(0.0)
        for i in range(nv):
            for k in range(M_rownnz[i]):
                adr = M_rowadr[i] + k
                j = M_colind[adr]
                x[w, i] += real(M[w, adr]) * real(qacc[w, j])
                if j != i:
                    x[w, j] += real(M[w, adr]) * real(qacc[w, i])
        for i in range(nv):
            Ma[w, i] = float(x[w, i])
        solve(x, Mhat, nv, w)
        for i in range(nv):
            qacc[w, i] = float(x[w, i])

    @wp.kernel(module="unique", enable_backward=False)
    def finish(
        dof: wp.array(dtype=int),
        timestep: wp.array(dtype=float),
        frictionadr: integers,
        force: wp.array2d(dtype=float),
        state: integers,
        D: wp.array2d(dtype=float),
        frictionloss: wp.array2d(dtype=float),
        tau: reals,
        alpha: reals,
        gain: reals,
        beta: reals,
        c: reals,
        ratio: reals,
        v0: reals,
        # in and out
        qacc: wp.array2d(dtype=float),
        # out
        slack: vector,
        friction: vector,
        internal: vector,
        mode: integers,
        power: vector,
        residual: vector,
    ):
        """A joint that stands still stands still; what the step did, and how far it is from the law."""
        w, g = wp.tid()
        row = frictionadr[w, dof[g]]
        if row < 0:
            residual[w, g] = 1.0
            return
        h = real(timestep[w % timestep.shape[0]])
        t = real(-force[w, row])
        a = real(qacc[w, dof[g]])
        v = v0[w, g] + h * a
        s = int(0)
        slack[w, g] = 0.0

        # a row that holds moves its joint by no more than its softness lets it
        give = real(4.0) * h * real(frictionloss[w, row] / D[w, row])
        if state[w, row] == QUADRATIC and wp.abs(v) <= give + real(1e-5) * (wp.abs(v0[w, g]) + wp.abs(h * a)):
            v = real(0.0)
            a = -v0[w, g] / h
            qacc[w, dof[g]] = float(a)
            slack[w, g] = 1e-6 * float(wp.abs(v0[w, g]))
        elif v > real(0.0):
            s = 1
        elif v < real(0.0):
            s = -1
        lam = gain[w, g] * tau[w, g] - alpha[w, g] * h * a - beta[w, g] * t

        # distance of t from the law, relative to the terms of lambda
        bound = wp.abs(lam) + c[w, g]
        size = wp.abs(gain[w, g] * tau[w, g]) + wp.abs(alpha[w, g] * h * a) + wp.abs(beta[w, g] * t) + bound
        error = wp.abs(t - real(s) * bound)
        if s == 0:
            if v0[w, g] == real(0.0):
                bound *= ratio[w, g]
            error = wp.max(wp.abs(t) - bound, real(0.0))
        if error > real(0.0):
            error /= size + wp.abs(t)
        friction[w, g] = float(t)
        internal[w, g] = float(lam)
        mode[w, g] = s
        power[w, g] = float(t * v)
        residual[w, g] = float(error)

    @wp.kernel(module="unique", enable_backward=False)
    def sensors(
        sensor_adr: wp.array(dtype=int),
        sensor_gear: wp.array(dtype=int),
        dof: wp.array(dtype=int),
        qpos_adr: wp.array(dtype=int),
        inertia: reals,
        qpos: wp.array2d(dtype=float),
        qvel: wp.array2d(dtype=float),
        qacc: wp.array2d(dtype=float),
        tau: reals,
        friction: vector,
        internal: vector,
        mode: integers,
        power: vector,
        residual: vector,
        iterations: wp.array(dtype=int),
        status: wp.array(dtype=int),
        unsettled: wp.array(dtype=int),
        # out
        sensordata: wp.array2d(dtype=float),
    ):
        """The numbers of the plugin's sensors, in their order: see the README."""
        w, k = wp.tid()
        g = sensor_gear[k]
        adr = sensor_adr[k]
        u = float(tau[w, g] - inertia[w, g] * real(qacc[w, dof[g]]))
        sensordata[w, adr] = friction[w, g]
        sensordata[w, adr + 1] = internal[w, g]
        sensordata[w, adr + 2] = u
        sensordata[w, adr + 3] = u - friction[w, g]
        sensordata[w, adr + 4] = float(mode[w, g])
        sensordata[w, adr + 5] = power[w, g]
        sensordata[w, adr + 6] = 0.0
        sensordata[w, adr + 7] = qpos[w, qpos_adr[g]]
        sensordata[w, adr + 8] = qvel[w, dof[g]]
        sensordata[w, adr + 9] = float(iterations[w])
        sensordata[w, adr + 10] = residual[w, g]
        sensordata[w, adr + 11] = 0.0
        if status[w] != 0:
            # mjgITERATION_LIMIT
            sensordata[w, adr + 11] = 2.0
        sensordata[w, adr + 12] = float(unsettled[w])

    @wp.kernel(module="unique", enable_backward=False)
    def account(
        n: int,
        tolerance: float,
        residual: vector,
        # in and out
        missing: wp.array(dtype=int),
        failed: wp.array(dtype=int),
        # out
        status: wp.array(dtype=int),
        unsettled: wp.array(dtype=int),
    ):
        """Status of each world's step, and how many steps of it were not settled."""
        w = wp.tid()
        worst = float(0.0)
        for g in range(n):
            worst = wp.max(worst, residual[w, g])
        s = int(0)
        if not (worst <= tolerance):
            s = 1
        if failed[w] != 0:
            s = 2
        if missing[w] != 0:
            s = 3
        status[w] = s
        if s != 0:
            unsettled[w] += 1
        missing[w] = 0
        failed[w] = 0

    return types.SimpleNamespace(**{k: v for k, v in locals().items() if isinstance(v, wp.Kernel)})
