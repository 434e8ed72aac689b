"""Servos that do not exist, for tests of the identification.

The simulation shares nothing with the core: equations (1) to (51) of the paper as an ordinary differential equation,
solved for the acceleration in each of the two signs of the internal force, Heun's method at 0.1 ms, all servos and logs
at once in NumPy. What the logs then hold is what a bench would: quantized, noisy, sampled every 5 ms, late.
"""

import dataclasses
import os

import numpy as np

from mjgear.identify.logs import Log

STEP = 1e-4  # s
SAMPLE = 5e-3  # s


def seed():
    """What servos are drawn from: anew in every run, or from the number in MJGEAR_SEED, to repeat a failure."""
    given = os.environ.get("MJGEAR_SEED")
    return np.random.SeedSequence(int(given) if given else None)


@dataclasses.dataclass
class Made:
    """A servo of current mode: current = gain (goal - position), torque = torque_constant x current."""

    torque_constant: float
    armature: float
    offset: float
    delay: float
    coulomb: float
    viscous: float
    gamma_u: float
    gamma_v: float


@dataclasses.dataclass
class Run:
    """What one log is made of."""

    servo: Made
    mass: float
    length: float
    gain: float
    trajectory: str


def draw(rng):
    """A servo that moves weights of about 1 N m."""
    return Made(torque_constant=rng.uniform(0.4, 1.5), armature=rng.uniform(0.002, 0.01), offset=rng.uniform(-0.03, 0.03),
                delay=rng.uniform(0.002, 0.012), coulomb=rng.uniform(0.01, 0.08), viscous=rng.uniform(0.005, 0.04),
                gamma_u=rng.uniform(0.02, 0.3), gamma_v=rng.uniform(0.02, 0.4))


def goal(trajectory, t):
    """Goals in rad."""
    if trajectory == "sin_sin":
        return np.pi / 2 * np.sin(t) + 0.5 * np.sin(5 * t) * np.sin(2 * t)
    if trajectory == "sin_time_square":
        return np.sin(t**2)
    if trajectory == "up_and_down":
        return 1.3 * np.sin(0.5 * t) ** 2
    raise ValueError(trajectory)


def _friction_acceleration(v, motor, load, M, s):
    """Acceleration, given the servo columns s."""
    m, c, B, gu, gv = s["armature"], s["coulomb"], s["viscous"], s["gamma_u"], s["gamma_v"]
    net = motor - load - B * v
    moving = v != 0
    direction = np.where(moving, np.sign(v), np.sign(net))

    # sliding with either sign of the internal force: t = d (g lam + c), lam = (gu + gv)(motor - m a) - gv t,
    # (m + M) a = net - t, eliminated for a
    result = np.zeros_like(v)
    found = np.zeros(v.shape, bool)
    for g in (1.0, -1.0):
        # lam (1 + gv d g) = (gu + gv)(motor - m a) - gv d c
        k = 1 + gv * direction * g
        # t = d g ((gu + gv)(motor - m a) - gv d c)/k + d c
        slope = direction * g * (gu + gv) / k
        a = (net - slope * motor + direction * g * gv * direction * c / k - direction * c) / (m + M - slope * m)
        lam = ((gu + gv) * (motor - m * a) - gv * direction * c) / k
        right = (lam * g >= 0) & ~found
        result = np.where(right, a, result)
        found |= right

    # at rest: stays if friction reaches what is needed, with a = 0
    lam = (gu + gv) * motor - gv * net
    stays = ~moving & (np.abs(net) <= np.abs(lam) + c)
    # what is at rest accelerates in the direction of the net torque or not at all
    result = np.where(~moving & (result * direction < 0), 0.0, result)
    return np.where(stays, 0.0, result)


def simulate(runs, duration=6.0, step=STEP):
    """Position of every run at every sample, exact, and the time of the samples: (runs, n), (n)."""
    s = {f.name: np.array([getattr(r.servo, f.name) for r in runs]) for f in dataclasses.fields(Made)}
    length, mass = np.array([r.length for r in runs]), np.array([r.mass for r in runs])
    gain = np.array([r.gain for r in runs])
    M, G = mass * length**2, mass * length * 9.80665
    names = sorted({r.trajectory for r in runs})
    which = np.array([names.index(r.trajectory) for r in runs])
    per = round(SAMPLE / step)
    n = round(duration / SAMPLE)
    q, v = np.zeros(len(runs)), np.zeros(len(runs))
    out = np.empty((len(runs), n))

    def told(t):
        """Goals that are held from one sample to the next, late, and for how long they have been."""
        late = np.maximum(np.floor((t - s["delay"]) / SAMPLE + 1e-9), 0) * SAMPLE
        return np.choose(which, [goal(name, late) for name in names]), t - s["delay"] - late

    def rate(goals, q, v):
        motor = s["torque_constant"] * gain * (goals - q)
        return _friction_acceleration(v, motor, G * np.sin(q + s["offset"]), M, s)

    for k in range(n):
        out[:, k] = q
        for i in range(per):
            # the mean over the step, so that a delay need not be a multiple of it
            t = k * SAMPLE + i * step
            (before, _), (after, since) = told(t), told(t + step)
            goals = before + np.clip(since / step, 0, 1) * (after - before)
            a1 = rate(goals, q, v)
            v1 = v + step * a1
            v1 = np.where(v * v1 < 0, 0.0, v1)
            a2 = rate(goals, q + step * v, v1)
            stuck = (v == 0) & (a1 == 0)
            v2 = np.where(stuck, 0.0, v + step / 2 * (a1 + a2))
            v2 = np.where(v * v2 < 0, 0.0, v2)
            q = q + step / 2 * (v + v2)
            v = v2
    return out, SAMPLE * np.arange(n)


def measure(runs, rng, noise=5e-4, counts=4096, duration=6.0, step=STEP):
    """The logs that a bench would write."""
    exact, time = simulate(runs, duration, step)
    logs = []
    for run, q in zip(runs, exact):
        seen = np.round((q + noise * rng.standard_normal(q.size)) / (2 * np.pi) * counts) * (2 * np.pi) / counts
        data = {"position": seen, "velocity": np.zeros_like(q), "goal": goal(run.trajectory, time)}
        facts = {"mass": run.mass, "length": run.length, "kp": run.gain, "trajectory": run.trajectory}
        logs.append(Log(f"{run.trajectory} {run.mass:g} kg gain {run.gain:g}", SAMPLE, data, facts))
    return logs


def bench_plan(servo):
    """Eight logs: two weights, two gains, two trajectories."""
    k = servo.torque_constant
    return [Run(servo, mass, 0.1, gain / k, trajectory)
            for mass in (0.4, 1.0) for gain in (2.0, 5.0) for trajectory in ("sin_sin", "sin_time_square")]


def simulate_gap(torque, inertia, gravity, rotor, half_gap, stiffness, damping, gamma_u, gamma_v, coulomb, dt, step=2.5e-5):
    """A rotor, a gear, a gap with a damped shaft that never pulls, a pendulum: angles of link and rotor at each sample.

    torque: (runs, n) of the motor, held for a sample of dt. Semi-implicit Euler at a step that resolves the shaft.
    """
    runs, n = torque.shape
    q, v, w, d = (np.zeros(runs) for _ in range(4))  # link, its speed, rotor's speed, rotor ahead
    out = np.empty((2, runs, n))
    for k in range(n):
        out[:, :, k] = q, q + d
        for _ in range(round(dt / step)):
            depth = np.abs(d) - half_gap
            side = np.sign(d)
            shaft = np.where(depth > 0, side * np.maximum(stiffness * depth + damping * side * (w - v), 0), 0.0)
            # the gear loads its teeth with u = t + shaft: lam = (gu + gv)(t + T) - gv t = gu t + (gu + gv) T
            free = w + step * (torque[:, k] - shaft) / rotor
            s = np.sign(free)
            t = np.zeros(runs)
            for g in (1.0, -1.0):
                one = s * (g * (gamma_u + gamma_v) * shaft + coulomb) / (1 - s * g * gamma_u)
                lam = gamma_u * one + (gamma_u + gamma_v) * shaft
                t = np.where(lam * g >= 0, one, t)
            slowed = free - step * t / rotor
            w = np.where(slowed * s <= 0, 0.0, slowed)
            v = v + step * (shaft - gravity * np.sin(q)) / inertia
            q = q + step * v
            d = d + step * (w - v)
    return out
