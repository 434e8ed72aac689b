"""The law of a step, and rows of friction loss with the friction of the last one."""

from typing import Any

import warp as wp

from .numbers import integers, scalars, vectors


def make(numbers) -> list[wp.Kernel]:
    real, reals, Law = numbers.real, numbers.reals, numbers.Law
    bound_at_rest = numbers.native.hold

    @wp.kernel(module="unique", enable_backward=False)
    def begin(
        dof: wp.array(dtype=int),
        gamma_u: vectors,
        gamma_v: vectors,
        coulomb: vectors,
        static_ratio: vectors,
        stribeck_friction: vectors,
        stribeck_velocity: vectors,
        stribeck_exponent: vectors,
        gamma_u_stribeck: vectors,
        gamma_v_stribeck: vectors,
        gamma_u_quadratic: vectors,
        gamma_v_quadratic: vectors,
        armature: vectors,
        actuator_inertia: scalars,
        gains: vectors,
        shift: vectors,
        timestep: scalars,
        time: scalars,
        qvel: vectors,
        qfrc_actuator: vectors,
        # state
        friction: vectors,
        internal: vectors,
        mode: integers,
        slack: vectors,
        # out
        law: Law,
        t: reals,
        lam: reals,
        m: integers,
    ):
        """Coefficients at this velocity and load; friction of the last step as the first guess."""
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
        u = qfrc_actuator[w, dof[g]] + shift[w, g]
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
        rotor = armature[w % armature.shape[0], dof[g]] + actuator_inertia[g] + gains[w, g]

        law.tau[w, g] = real(u)
        law.inertia[w, g] = real(rotor)
        law.v0[w, g] = real(v)
        law.alpha[w, g] = (real(gu) + real(gv)) * real(rotor) / real(h)
        law.gain[w, g] = real(gu) + real(gv)
        law.beta[w, g] = real(gv)
        law.c[w, g] = real(coulomb[w, g]) + real(S * stribeck_friction[w, g])
        law.ratio[w, g] = real(static_ratio[w, g])
        t[w, g] = real(friction[w, g])
        lam[w, g] = real(internal[w, g])
        m[w, g] = wp.where(v == 0.0, 0, mode[w, g])  # what rests starts held

    @wp.kernel(module="unique", enable_backward=False)
    def first_rows(
        dof: wp.array(dtype=int),
        softness: float,
        hold: float,
        invweight: vectors,
        timestep: scalars,
        frictionadr: integers,
        qvel: vectors,
        law: Law,
        t: reals,
        lam: reals,
        m: integers,
        # out
        aref: vectors,
        D: vectors,
        frictionloss: vectors,
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
        bound = float(bound_at_rest(lam[w, g], law.c[w, g], law.ratio[w, g], real(v), t[w, g]))
        if v == 0.0 and m[w, g] == 0:
            bound *= hold
        aref[w, row] = -v / timestep[w % timestep.shape[0]] - R * float(t[w, g])
        D[w, row] = 1.0 / R
        frictionloss[w, row] = bound

    @wp.kernel(module="unique", enable_backward=False)
    def reset(
        worlds: wp.array(dtype=Any),
        # out
        friction: vectors,
        internal: vectors,
        mode: integers,
        slack: vectors,
        state: integers,
        power: vectors,
        residual: vectors,
        status: wp.array(dtype=int),
        unsettled: wp.array(dtype=int),
        iterations: wp.array(dtype=int),
    ):
        """Some worlds start without a past."""
        w, g = wp.tid()
        if int(worlds[w]) == 0:
            return
        friction[w, g] = 0.0
        internal[w, g] = 0.0
        mode[w, g] = 0
        slack[w, g] = 0.0
        state[w, g] = 0
        power[w, g] = 0.0
        residual[w, g] = 0.0
        status[w] = 0
        unsettled[w] = 0
        iterations[w] = 0

    for kind in (wp.bool, wp.int32):
        wp.overload(reset, {"worlds": wp.array(dtype=kind)})
    return [begin, first_rows, reset]
