"""Results of a solve and a step, and whether it was settled."""

import warp as wp

from .numbers import NO_ROW, RESIDUAL, blame, integers, scalars, vectors

# smallest normal number of single precision
SMALLEST = 1.17549435e-38

# relative to the largest torque in a world: round-off of a sum of a dozen torques in single precision
ROUNDING = 2e-6

# a held joint: round-off of its velocity, relative to the effect of its friction and of all torques
GIVE, ROUNDED = 4e-3, 1e-5

# mjgpSTATE_* of the plugin
STUCK, DRIVING, DRIVEN, LOCKED, BOTH = 0, 1, 2, 3, 5


@wp.func
def largest_of(torques: wp.array(dtype=float)) -> float:
    most = float(0.0)
    for k in range(torques.shape[0]):
        most = wp.max(most, wp.abs(torques[k]))
    return most


def make(numbers) -> list[wp.Kernel]:
    real, Law, Past, Found, Result = numbers.real, numbers.Law, numbers.Past, numbers.Found, numbers.Result
    bound_at_rest, locked = numbers.native.hold, numbers.native.locked

    @wp.func
    def load(law: Law, w: int, g: int, t: real, change: real) -> real:
        """Return lambda for this change of velocity over the step."""
        return law.gain[w, g] * law.tau[w, g] - law.alpha[w, g] * change - law.beta[w, g] * t

    @wp.func
    def distance(law: Law, w: int, g: int, s: int, t: real, change: real) -> real:
        """Of friction t from the law, relative to the terms of lambda, where the joint moves in direction s after the step."""
        lam = load(law, w, g, t, change)
        bound = wp.abs(lam) + law.c[w, g]
        size = (
            wp.abs(law.gain[w, g] * law.tau[w, g])
            + wp.abs(law.alpha[w, g] * change)
            + wp.abs(law.beta[w, g] * t)
            + bound
        )
        error = wp.abs(t - real(s) * bound)
        if s == 0:
            bound = bound_at_rest(lam, law.c[w, g], law.ratio[w, g], law.v0[w, g], t)
            error = wp.max(wp.abs(t) - bound, real(0.0))
        if error <= real(SMALLEST):
            return real(0.0)
        return error / (size + wp.abs(t))

    @wp.kernel(module="unique", enable_backward=False)
    def finish(
        dof: wp.array(dtype=int),
        tolerance: float,
        timestep: scalars,
        frictionadr: integers,
        qfrc_smooth: vectors,
        law: Law,
        found: Found,
        # in and out
        qacc: vectors,
        past: Past,
        # out
        result: Result,
    ):
        """A held joint stands still; results of the step, and its distance from the law.

        Friction that is rounding of the largest torque has no law.
        """
        w, g = wp.tid()
        i = dof[g]
        if frictionadr[w, i] < 0:
            result.residual[w, g] = 1.0
            blame(result.status, result.unsettled, w, NO_ROW)
            return
        largest = largest_of(qfrc_smooth[w])
        for k in range(dof.shape[0]):
            largest = wp.max(largest, wp.abs(float(found.t[w, k])))
        h = real(timestep[w % timestep.shape[0]])
        t = found.t[w, g]
        a = real(qacc[w, i])
        v = law.v0[w, g] + h * a
        s = int(0)
        past.slack[w, g] = 0.0
        bound = wp.abs(found.lam[w, g]) + law.c[w, g]
        give = real(GIVE) * found.own[w, g] * bound + real(ROUNDED) * (wp.abs(law.v0[w, g]) + wp.abs(h * a))
        if found.mode[w, g] == 0 and wp.abs(v) <= give:
            v = real(0.0)
            a = -law.v0[w, g] / h
            qacc[w, i] = float(a)
            past.slack[w, g] = 1e-6 * float(wp.abs(law.v0[w, g]))
        elif v > real(0.0):
            s = 1
        elif v < real(0.0):
            s = -1
        lam = load(law, w, g, t, h * a)
        error = float(distance(law, w, g, s, t, h * a))
        if wp.abs(float(t)) + wp.abs(float(lam)) < ROUNDING * largest:
            error = 0.0
        if not (error <= tolerance):
            blame(result.status, result.unsettled, w, RESIDUAL)

        # state of the gear: the motor gives power to the link, or the link pushes back on the gear
        does = int(STUCK)
        if s != 0:
            does = DRIVING
            u = law.tau[w, g] - law.inertia[w, g] * a
            if real(s) * (u - t) < real(0.0):
                does = DRIVEN
                if real(s) * u > real(0.0):
                    does = BOTH
        elif (
            locked(
                t,
                lam,
                law.beta[w, g],
                law.c[w, g],
                law.ratio[w, g],
                law.v0[w, g],
            )
            != 0
        ):
            does = LOCKED
        past.friction[w, g] = float(t)
        past.internal[w, g] = float(lam)
        past.mode[w, g] = s
        result.state[w, g] = does
        result.power[w, g] = float(t * v)
        result.residual[w, g] = error

    @wp.kernel(module="unique", enable_backward=False)
    def sensors(
        sensor_adr: wp.array(dtype=int),
        sensor_gear: wp.array(dtype=int),
        dof: wp.array(dtype=int),
        qpos_adr: wp.array(dtype=int),
        law: Law,
        qpos: vectors,
        qvel: vectors,
        qacc: vectors,
        past: Past,
        result: Result,
        iterations: wp.array(dtype=int),
        # out
        sensordata: vectors,
    ):
        """The numbers of the plugin's sensors, in their order: see doc/sensors.md."""
        w, k = wp.tid()
        g = sensor_gear[k]
        adr = sensor_adr[k]
        u = float(law.tau[w, g] - law.inertia[w, g] * real(qacc[w, dof[g]]))
        sensordata[w, adr] = past.friction[w, g]
        sensordata[w, adr + 1] = past.internal[w, g]
        sensordata[w, adr + 2] = u
        sensordata[w, adr + 3] = u - past.friction[w, g]
        sensordata[w, adr + 4] = float(past.mode[w, g])
        sensordata[w, adr + 5] = result.power[w, g]
        sensordata[w, adr + 6] = 0.0
        sensordata[w, adr + 7] = qpos[w, qpos_adr[g]]
        sensordata[w, adr + 8] = qvel[w, dof[g]]
        sensordata[w, adr + 9] = float(iterations[w])
        sensordata[w, adr + 10] = result.residual[w, g]
        sensordata[w, adr + 11] = float(result.status[w])
        sensordata[w, adr + 12] = float(result.unsettled[w])
        sensordata[w, adr + 13] = float(result.state[w, g])

    return [finish, sensors]
