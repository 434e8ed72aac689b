"""The law of a step, and rows of friction loss with the friction of the last one."""

from typing import Any

import warp as wp

from .discrete import find, gain_over_step
from .integrator import velocity_gain
from .numbers import Couples, Tree, integers, scalars, vectors


def make(numbers) -> list[wp.Kernel]:
    real, Law, Gear, Past, Found = numbers.real, numbers.Law, numbers.Gear, numbers.Past, numbers.Found
    bound_at_rest = numbers.native.hold

    @wp.func
    def begin(
        w: int,
        g: int,
        i: int,
        rotor: float,
        shift: float,
        h: float,
        time: scalars,
        qvel: vectors,
        qfrc_actuator: vectors,
        gear: Gear,
        past: Past,
        law: Law,
    ):
        """The law of a joint at this velocity and load, for this rotor inertia and motor torque."""
        if time[w] == 0.0:
            # a world that was reset starts without friction
            past.friction[w, g] = 0.0
            past.internal[w, g] = 0.0
            past.mode[w, g] = 0
            past.slack[w, g] = 0.0
        v = qvel[w, i]
        if wp.abs(v) <= past.slack[w, g]:
            # the rounding error of a step in which the joint stopped
            v = 0.0
            qvel[w, i] = 0.0
        u = qfrc_actuator[w, i] + shift
        x = u - past.friction[w, g]

        # additional friction near rest: mjg_frictionAt of the core
        S = wp.exp(-wp.pow(wp.abs(v) / gear.stribeck_velocity[w, g], gear.stribeck_exponent[w, g]))
        gu = gear.gamma_u[w, g] + S * gear.gamma_u_stribeck[w, g]
        gv = gear.gamma_v[w, g] + S * gear.gamma_v_stribeck[w, g]
        if u * x > 0.0:
            if wp.abs(u) > wp.abs(x):
                gv += S * gear.gamma_v_quadratic[w, g] * wp.abs(x)
            else:
                gu += S * gear.gamma_u_quadratic[w, g] * wp.abs(u)

        law.tau[w, g] = real(u)
        law.inertia[w, g] = real(rotor)
        law.v0[w, g] = real(v)
        law.alpha[w, g] = (real(gu) + real(gv)) * real(rotor) / real(h)
        law.gain[w, g] = real(gu) + real(gv)
        law.beta[w, g] = real(gv)
        law.c[w, g] = real(gear.coulomb[w, g]) + real(S * gear.stribeck_friction[w, g])
        law.ratio[w, g] = real(gear.static_ratio[w, g])

    numbers.begin = begin

    @wp.kernel(module="unique", enable_backward=False)
    def first_rows(
        dof: wp.array(dtype=int),
        softness: float,
        hold: float,
        armature: vectors,
        actuator_inertia: scalars,
        discrete: int,
        couples: Couples,
        efm_ca: vectors,
        servos: int,
        damping: vectors,
        tree: Tree,
        M: vectors,
        Mhat: vectors,
        timestep: scalars,
        time: scalars,
        qvel: vectors,
        qfrc_actuator: vectors,
        invweight: vectors,
        frictionadr: integers,
        overflow: wp.array(dtype=int),
        gear: Gear,
        past: Past,
        # out
        law: Law,
        found: Found,
        aref: vectors,
        D: vectors,
        frictionloss: vectors,
        before: wp.array(dtype=int),
        status: wp.array(dtype=int),
    ):
        """Set the law of this step, and rows with the friction of the last step as the first guess."""
        w, g = wp.tid()
        if g == 0:
            if overflow.shape[0] > 0:
                before[w] = overflow[w]
            status[w] = 0
        i = dof[g]
        h = timestep[w % timestep.shape[0]]
        rotor = armature[w % armature.shape[0], i] + actuator_inertia[g]
        shift = float(0.0)
        if discrete != 0:
            rotor += gain_over_step(w, i, couples)
            shift = efm_ca[w, i]
        if servos != 0:
            rotor += velocity_gain(w, i, h, damping, tree, M, Mhat)
        begin(w, g, i, rotor, shift, h, time, qvel, qfrc_actuator, gear, past, law)
        v = qvel[w, i]
        t0 = real(past.friction[w, g])
        lam0 = real(past.internal[w, g])
        found.t[w, g] = t0
        found.lam[w, g] = lam0
        found.mode[w, g] = past.mode[w, g]
        row = frictionadr[w, i]
        if row < 0:
            return
        R = softness * invweight[w % invweight.shape[0], i]
        bound = float(bound_at_rest(lam0, law.c[w, g], law.ratio[w, g], real(v), t0))
        if v == 0.0:
            bound *= hold
        aref[w, row] = -v / h - R * float(t0)
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
        steps: wp.array(dtype=int),
        unsettled: wp.array(dtype=int),
        slow: wp.array(dtype=int),
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
        steps[w] = 0
        unsettled[w] = 0
        slow[w] = 0
        iterations[w] = 0

    @wp.kernel(module="unique", enable_backward=False)
    def write(
        worlds: wp.array(dtype=Any),
        numbers: vectors,
        # out
        target: vectors,
    ):
        """A number of the gears of some worlds."""
        w, g = wp.tid()
        if int(worlds[w]) != 0:
            target[w, g] = numbers[w, g]

    @wp.kernel(module="unique", enable_backward=False)
    def sum_motors(
        dof: wp.array(dtype=int),
        joint: wp.array(dtype=int),
        motors: integers,
        rownnz: integers,
        rowadr: integers,
        colind: integers,
        moment: vectors,
        force: vectors,
        gravity: int,
        actgravcomp: wp.array(dtype=int),
        gravcomp: vectors,
        limited: wp.array(dtype=bool),
        frcrange: wp.array2d(dtype=wp.vec2),
        # out
        torque: vectors,
    ):
        """Torque of its motors on the dof of a gear, within the limits of the joint."""
        w, g = wp.tid()
        i = dof[g]
        total = float(0.0)
        for k in range(motors.shape[1]):
            if motors[g, k] != 0:
                first = rowadr[w, k]
                p = find(i, colind[w], first, first + rownnz[w, k])
                if p >= 0:
                    total += moment[w, p] * force[w, k]
        j = joint[g]
        if gravity != 0 and actgravcomp[j] != 0:
            total += gravcomp[w, i]
        if limited[j]:
            most = frcrange[w % frcrange.shape[0], j]
            total = wp.clamp(total, most[0], most[1])
        torque[w, i] = total

    @wp.kernel(module="unique", enable_backward=False)
    def add_applied(
        dof: wp.array(dtype=int),
        actuators: vectors,
        applied: vectors,
        # out
        torque: vectors,
    ):
        """Torque of actuators and applied torque on the dof of a gear."""
        w, g = wp.tid()
        torque[w, dof[g]] = actuators[w, dof[g]] + applied[w, dof[g]]

    for kind in (wp.bool, wp.int32):
        wp.overload(reset, {"worlds": wp.array(dtype=kind)})
        wp.overload(write, {"worlds": wp.array(dtype=kind)})
    return [first_rows, sum_motors, add_applied, reset, write]
