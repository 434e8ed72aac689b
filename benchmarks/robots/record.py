"""Steps of one robot, and all that the engine says of each: thousands of steps a second, checked later in bulk (law.py).

    for episode in record.episodes(model, "random", 10000, seed=1): ...

An episode holds a row a step: state before it (qpos, qvel, act, ctrl), velocities after it, forces, sensors, processor time. Time is the
thread's processor time, so other programs do not count. Slow steps are repeated from their saved state, and the
fastest of three repetitions counts.
"""

import dataclasses
import time

import mujoco
import numpy as np

EPISODE = 1000  # steps, then the robot starts again where it began
HOLD = 20  # steps with the same random controls
SUSPECT = 10  # steps beyond this many times the median of their episode are timed again,
REPEATED = 100  # at most so many, the slowest first
FORCES = (
    "qfrc_passive",
    "qfrc_spring",
    "qfrc_damper",
    "qfrc_gravcomp",
    "qfrc_fluid",
    "qfrc_actuator",
    "qfrc_constraint",
    "qfrc_bias",
    "actuator_force",
    "actuator_moment",
    "moment_rownnz",
    "moment_colind",
    "sensordata",
    "energy",
    "qvel",
)
STATE = mujoco.mjtState.mjSTATE_INTEGRATION
CONTROLS = ("random", "rest", "unpowered")


@dataclasses.dataclass
class Episode:
    """n steps. before and after are dicts of n x size, but sensordata has one row more, for the step that would follow."""

    n: int
    kind: str
    before: dict
    after: dict
    time: np.ndarray  # us, n
    state: np.ndarray  # argument of mj_setState, to repeat a step
    diverged: bool


def controls(model, kind, steps, random):
    """Controls of an episode (steps / HOLD rounded up x nu): a new point of the whole range each, or the middle of it."""
    low, high = model.actuator_ctrlrange.T
    limited = model.actuator_ctrllimited.astype(bool)
    low, high = np.where(limited, low, -1.0), np.where(limited, high, 1.0)
    rows = -(-steps // HOLD)
    if kind == "random":
        return random.uniform(low, high, (rows, model.nu))
    return np.tile(np.clip(0, low, high), (rows, 1))


def offsets(model):
    """Places of qpos, qvel, act and ctrl in a state."""
    result = {}
    for name, bit in (
        ("time", mujoco.mjtState.mjSTATE_TIME),
        ("qpos", mujoco.mjtState.mjSTATE_QPOS),
        ("qvel", mujoco.mjtState.mjSTATE_QVEL),
        ("act", mujoco.mjtState.mjSTATE_ACT),
        ("ctrl", mujoco.mjtState.mjSTATE_CTRL),
    ):
        lower = int(STATE) & (int(bit) - 1)
        begin = mujoco.mj_stateSize(model, lower)
        result[name] = slice(begin, begin + mujoco.mj_stateSize(model, int(bit)))
    return result


def repeat(model, data, state):
    """Time of one step from a saved state, the fastest of three, in us."""
    best = np.inf
    for _ in range(3):
        mujoco.mj_setState(model, data, state, STATE)
        begin = time.thread_time_ns()
        mujoco.mj_step(model, data)
        best = min(best, time.thread_time_ns() - begin)
    return best / 1e3


def episodes(model, kind, count, seed, forces=FORCES, again=True):
    """Play count steps and yield them episode by episode; one that diverges at once has no steps."""
    random, where, nstate = np.random.default_rng(seed), offsets(model), mujoco.mj_stateSize(model, STATE)
    data, other = mujoco.MjData(model), mujoco.MjData(model)
    source = [np.asarray(getattr(data, name)) for name in forces]
    rows = min(EPISODE, count) + 1
    state, times, target = np.empty((rows, nstate)), np.empty(rows), [np.empty((rows, x.size)) for x in source]
    pairs = list(zip(target, source))
    clock, step, get, warning = time.thread_time_ns, mujoco.mj_step, mujoco.mj_getState, data.warning
    while count > 0:
        mujoco.mj_resetData(model, data)
        if model.nkey:
            mujoco.mj_resetDataKeyframe(model, data, 0)
        n = min(EPISODE, count)
        plan = controls(model, kind, n + 1, random)
        for k in range(n + 1):
            if k % HOLD == 0:
                data.ctrl[:] = plan[k // HOLD]
            get(model, data, state[k], STATE)
            start = clock()
            step(model, data)
            times[k] = clock() - start
            for a, b in pairs:
                a[k] = b
        times /= 1e3
        count -= n

        # the engine resets itself after a divergence
        lost = any(
            warning[i].number
            for i in (
                mujoco.mjtWarning.mjWARN_BADQPOS,
                mujoco.mjtWarning.mjWARN_BADQVEL,
                mujoco.mjtWarning.mjWARN_BADQACC,
            )
        )
        if lost:
            jump = np.flatnonzero(np.diff(state[: n + 1, 0]) <= 0)
            n = min(int(jump[0]) if jump.size else n, n) - 1
        n = max(n, 0)
        if again and n:
            for k in np.argsort(times[:n])[-REPEATED:]:
                if times[k] > SUSPECT * np.median(times[:n]):
                    times[k] = min(times[k], repeat(model, other, state[k]))
        after = {k: t[: n + (k == "sensordata")] for k, t in zip(forces, target)}
        yield Episode(n, kind, {k: state[:n, w] for k, w in where.items()}, after, times[:n], state[:n], lost)
