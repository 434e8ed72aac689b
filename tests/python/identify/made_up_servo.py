"""Servos that do not exist, for tests of the identification.

The simulation shares nothing with the core: equations (1) to (51) of the paper as an ordinary differential equation,
solved for the acceleration at each sign of the internal force by Heun's method at 0.1 ms, in made_up_servo.c. The logs
are those of a bench: quantized, noisy, sampled every 5 ms, late.
"""

import ctypes
import dataclasses
import functools
import os
import pathlib

import numpy as np

from mjgear.identify.logs import Log

STEP = 1e-4  # s
SAMPLE = 5e-3  # s


def seed(fresh=False):
    """Seed of drawn servos and arms: the number in MJGEAR_SEED, else 1, or a random one.

    A 95 % interval misses one draw in twenty, so a test of single draws would sometimes fail by chance. Such
    tests draw the same in every run. Statistics over many draws use random seeds (./check --long).
    """
    given = os.environ.get("MJGEAR_SEED")
    return np.random.SeedSequence(int(given) if given else None if fresh else 1)


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
    motor_viscous: float = 0.0
    drift: float = 0.0
    eccentric: float = 0.0
    cogging: float = 0.0
    periods: float = 0.0
    bias: float = 0.0
    start: float = 0.0
    sticky: float = 0.0
    sticky_speed: float = 0.0
    squared: float = 0.0
    eccentric_too: float = 0.0
    periods_too: float = 0.0
    heating: float = 0.0


@dataclasses.dataclass
class Run:
    """Parameters of one log."""

    servo: Made
    mass: float
    length: float
    gain: float
    trajectory: str


@functools.cache
def _loops():
    """made_up_servo.c, which is built with the tests."""
    return ctypes.CDLL(str(pathlib.Path(os.environ["MJGEAR_LIBRARIES"]).absolute() / "libmade_up_servo.so"))


def _pointer(numbers):
    """A row of numbers for C."""
    assert numbers.dtype == float and numbers.flags.c_contiguous
    return numbers.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


def draw(rng):
    """A servo that moves weights of about 1 N m."""
    return Made(
        torque_constant=rng.uniform(0.4, 1.5),
        armature=rng.uniform(0.002, 0.01),
        offset=rng.uniform(-0.03, 0.03),
        delay=rng.uniform(0.002, 0.012),
        coulomb=rng.uniform(0.01, 0.08),
        viscous=rng.uniform(0.005, 0.04),
        gamma_u=rng.uniform(0.02, 0.3),
        gamma_v=rng.uniform(0.02, 0.4),
    )


def goal(trajectory, t):
    """Goals in rad."""
    if trajectory == "sin_sin":
        return np.pi / 2 * np.sin(t) + 0.5 * np.sin(5 * t) * np.sin(2 * t)
    if trajectory == "sin_time_square":
        return np.sin(t**2)
    if trajectory == "up_and_down":
        return 1.3 * np.sin(0.5 * t) ** 2
    raise ValueError(trajectory)


def simulate(runs, duration=6.0, step=STEP):
    """Position of every run at every sample, exact, and the time of the samples: (runs, n), (n)."""
    n = round(duration / SAMPLE)
    time = SAMPLE * np.arange(n)
    out = np.empty((len(runs), n))
    for run, q in zip(runs, out):
        M, G = run.mass * run.length**2, run.mass * run.length * 9.80665
        numbers = np.array([*dataclasses.astuple(run.servo), M, G, run.gain])
        goals = goal(run.trajectory, SAMPLE * np.arange(n + 1))
        _loops().madeUpSimulate(
            _pointer(q),
            _pointer(numbers),
            _pointer(goals),
            n,
            round(SAMPLE / step),
            ctypes.c_double(SAMPLE),
            ctypes.c_double(step),
        )
    return out, time


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
    return [
        Run(servo, mass, 0.1, gain / k, trajectory)
        for mass in (0.4, 1.0)
        for gain in (2.0, 5.0)
        for trajectory in ("sin_sin", "sin_time_square")
    ]


def simulate_gap(
    torque,
    inertia,
    gravity,
    rotor,
    half_gap,
    stiffness,
    damping,
    gamma_u,
    gamma_v,
    coulomb,
    dt,
    step=2.5e-5,
    stribeck_friction=0.0,
    stribeck_velocity=1.0,
):
    """A rotor, a gear, a gap with a damped shaft that never pulls, a pendulum: angles of link and rotor at each sample.

    torque: (runs, n) of the motor, held for a sample of dt. Semi-implicit Euler at a step that resolves the shaft.
    """
    runs, n = torque.shape
    out = np.empty((2, runs, n))
    torque = np.ascontiguousarray(torque)
    numbers = np.stack(
        np.broadcast_arrays(
            inertia,
            gravity,
            rotor,
            half_gap,
            stiffness,
            damping,
            gamma_u,
            gamma_v,
            coulomb,
            stribeck_friction,
            stribeck_velocity,
            np.zeros(runs),
        )[:-1],
        axis=-1,
    )
    for k, row in enumerate(np.ascontiguousarray(numbers)):
        _loops().madeUpGap(
            _pointer(out[0, k]),
            _pointer(out[1, k]),
            _pointer(row),
            _pointer(torque[k]),
            n,
            round(dt / step),
            ctypes.c_double(step),
        )
    return out
