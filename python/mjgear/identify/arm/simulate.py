"""The chosen robot in MuJoCo, under the measured torques and under its controller, beside the same robot with MuJoCo's friction.

An uncontrolled arm diverges from any log, so it is simulated in short pieces, each from the measured state. Where logs have
the goals of a controller, its gains are a regression, and an arm in its hands stays near the log for seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from mjgear.identify.arm.dynamics import Arm, moved
from mjgear.identify.arm.law import PLACE
from mjgear.identify.arm.model import build, drive_name
from mjgear.identify.arm.problem import changed
from mjgear.identify.arm.result import Identified
from mjgear.identify.logs import LogError, read_json

_HORIZON, _PIECES = 0.25, 40  # length (s) and number of pieces under measured torques
_LOOP_HORIZON, _LOOP_PIECES = 4.0, 10  # under the controller
_STEP = 1e-3  # s
_WORSE = 1.1  # error of the chosen friction over that of native
_EXPLAINED = 0.9  # part of a torque's variance that its controller has to explain


@dataclass
class Controller:
    """A position loop: torque = kp (goal - q) - kd q' + kf goal' + kg g(goal) + a constant of each log, g the torque that holds the links.

    Attributes:
      kp, kd, kf: (joints) N m/rad and N m s/rad at the output side; kg: (joints).
      offset: (joints, logs) N m.
      explained: (joints) part of the torque's variance.
    """

    kp: np.ndarray
    kd: np.ndarray
    kf: np.ndarray
    kg: np.ndarray
    offset: np.ndarray
    explained: np.ndarray

    def notes(self, joints: list[str]) -> list[str]:
        """Joints whose torque such a loop does not explain."""
        return [f"{n}: a position loop explains {100 * e:.0f} % of the torque: its controller is another one, and the robot was not simulated under it"
                for n, e, kp in zip(joints, self.explained, self.kp) if e < _EXPLAINED or kp <= 0]  # fmt: skip


@dataclass
class Simulated:
    """Root mean squares of position errors, of each joint.

    Attributes:
      under: drive: "measured torques" or "controller".
      chosen, native: (joints) rad or m; at the ends of pieces under measured torques, over all of them under the controller.
      moved: (joints) motion of the joints in a piece.
      horizon: length of a piece, s.
      pieces: number of pieces.
      loop: the controller, if it drives.
    """

    under: str
    chosen: np.ndarray
    native: np.ndarray
    moved: np.ndarray
    horizon: float
    pieces: int
    loop: Controller | None = None

    def title(self) -> str:
        """Simulations and their errors."""
        error = (
            "position error at the end, rms" if self.under == "measured torques" else "position error on the way, rms"
        )
        return f"simulated by MuJoCo in {self.pieces} pieces of {self.horizon:g} s under the {self.under}: {error}"

    def columns(self) -> dict[str, np.ndarray]:
        """Errors, and gains of the controller, of each joint."""
        gains = {} if self.loop is None else {"kp": self.loop.kp, "kd": self.loop.kd, "explained": self.loop.explained}
        return {"moved": self.moved, "native": self.native, "chosen": self.chosen, **gains}

    def text(self, joints: list[str]) -> str:
        """The errors in lines."""
        width, columns = max(14, *(len(name) + 2 for name in joints)), self.columns()
        lines = [self.title(), f"{'joint':<{width}}" + "".join(f"{name:>12}" for name in columns)]
        return "\n".join(
            lines
            + [f"{n:<{width}}" + "".join(f"{x[j]:>12.3g}" for x in columns.values()) for j, n in enumerate(joints)]
        )

    def notes(self, joints: list[str]) -> list[str]:
        """Joints whose chosen friction predicts torques better and motion worse."""
        return [f"{n}: simulated under the {self.under}, Coulomb and viscous friction is better than what was chosen by {100 * (1 - a / c):.0f} %: do not trust the chosen "
                "friction near reversals, which the fit leaves out" for n, a, c in zip(joints, self.native, self.chosen) if c > _WORSE * a]  # fmt: skip


def _held(found: Identified, q: np.ndarray) -> np.ndarray:
    """(n, joints) torque that holds the links at these positions."""
    still = np.zeros_like(q)
    parameters = found.parameters()
    torque = np.stack(
        [Y @ found.arm.select(j, parameters) for j, Y in enumerate(found.arm.regressor(q, still, still))], axis=1
    ) + found.arm.springs(q)
    return np.where(np.abs(torque) < 1e-9 * np.max(np.abs(torque)), 0.0, torque)  # a vertical axis holds only round-off


#: gains of a position loop, in the order of Controller
GAINS = ("kp", "kd", "kf", "kg")


def read_gains(path: Path, joints: Sequence[str]) -> dict[str, list[float]]:
    """Gains of joints from a JSON file, {"JOINT": {"kp": 100, "kd": 5}}; those that are missing are 0.

    Raises:
      LogError: a joint or a gain is unknown, or no number.
    """
    content = read_json(path)
    if not isinstance(content, dict) or not all(
        joint in joints
        and isinstance(gains, dict)
        and all(k in GAINS and isinstance(x, float) and np.isfinite(x) for k, x in gains.items())
        for joint, gains in content.items()
    ):
        raise LogError(
            f'{path}: write {{"JOINT": {{"kp": NUMBER, "kd": NUMBER, "kf": NUMBER, "kg": NUMBER}}}}, with joints of {", ".join(joints)}'
        )
    return {joint: [gains.get(k, 0.0) for k in GAINS] for joint, gains in content.items()}


def controller(found: Identified, given: Mapping[str, Sequence[float]] | None = None) -> Controller | None:
    """The position loop of each joint: the given gains, or by linear regression; None where logs have no goals."""
    problem, n = found.fitter.problem, found.arm.n
    if any(log.goal is None for log in problem.logs):
        return None
    gains, offsets, explained = np.empty((4, n)), np.empty((n, len(problem.logs))), np.empty(n)
    columns: list[np.ndarray] = []
    for motion, log in zip(problem.motions, problem.logs):
        assert log.goal is not None
        goal = np.stack([motion.mean(g) for g in log.goal.T], axis=1)
        columns.append(
            np.stack(
                [
                    *map(found.arm.drives, (goal - motion.q, -motion.v, np.gradient(goal, motion.block, axis=0))),
                    _held(found, goal),
                ],
                axis=2,
            )
        )
    for j in range(n):
        late = found.rungs[j].shape.delay + found.state.p[j, PLACE["delay"]]
        torque = [motion.torque(j, late) / found.state.p[j, PLACE["scale"]] for motion in problem.motions]
        # the constant of each log is its mean; the ends of a log, where filters lack neighbours, do not count
        inner = [(c[5:-5, j], t[5:-5]) for c, t in zip(columns, torque)]
        A = np.concatenate([c - c.mean(axis=0) for c, _ in inner])
        b = np.concatenate([t - t.mean() for _, t in inner])
        size = np.maximum(np.sqrt(np.mean(A**2, axis=0)), np.finfo(float).tiny)
        gains[:, j] = (given or {}).get(found.arm.joints[j], np.linalg.lstsq(A / size, b, rcond=1e-6)[0] / size)
        offsets[j] = [t.mean() - c.mean(axis=0) @ gains[:, j] for c, t in inner]
        explained[j] = 1 - np.sum((b - A @ gains[:, j]) ** 2) / max(float(np.sum(b**2)), np.finfo(float).tiny)
    kp, kd, kf, kg = gains
    return Controller(kp, kd, kf, kg, offsets, explained)


def models(found: Identified) -> dict[str, mujoco.MjSpec]:
    """The chosen robot, and the robot with Coulomb and viscous friction."""
    fastest = found.fitter.problem.fastest
    plain = [changed(r, frozenset()) for r in found.rungs]
    return {"chosen": build(found.spec, found.arm, found.parameters(), found.rungs, found.state.p, fastest),
            "native": build(found.spec, found.arm, found.parameters(found.native), plain, found.native.p, fastest)}  # fmt: skip


def simulate(found: Identified) -> Simulated:
    """Simulate both under the measured torques, over pieces of all logs."""
    problem, states = found.fitter.problem, {"chosen": found.state, "native": found.native}

    def drive(what: str, m: int, t: np.ndarray) -> np.ndarray:
        log, p = problem.logs[m], states[what].p
        torque = np.empty((t.size, found.arm.n))
        for j in range(found.arm.n):
            late = found.rungs[j].shape.delay + p[j, PLACE["delay"]]
            torque[:, j] = (
                np.interp(t + late, log.dt * np.arange(log.n), log.torque[:, j]) - states[what].offsets[j, m]
            ) / p[j, PLACE["scale"]]
        return torque

    moved, errors = _pieces(found, _HORIZON, _PIECES, drive, None)
    native, chosen = (_rms(errors[what][:, -1]) for what in ("native", "chosen"))
    return Simulated("measured torques", chosen, native, moved, _HORIZON, len(errors["chosen"]))


def simulate_loop(found: Identified, loop: Controller) -> Simulated | None:
    """Simulate both under the controller, over pieces of all logs; None if it is not a position loop."""
    if loop.notes(found.arm.joints):
        return None
    problem = found.fitter.problem

    def drive(what: str, m: int, t: np.ndarray) -> np.ndarray:
        log = problem.logs[m]
        assert log.goal is not None
        samples = log.dt * np.arange(log.n)
        goal = np.stack([np.interp(t, samples, g) for g in log.goal.T], axis=1)
        rate = found.arm.drives(np.stack([np.interp(t, samples, np.gradient(g, log.dt)) for g in log.goal.T], axis=1))
        return np.asarray(
            found.arm.drives(goal) + (loop.kf * rate + loop.kg * _held(found, goal) + loop.offset[:, m]) / loop.kp
        )

    horizon = min(_LOOP_HORIZON, *(0.9 * log.n * log.dt for log in problem.logs))
    moved, errors = _pieces(found, horizon, _LOOP_PIECES, drive, loop)
    native, chosen = (_rms(errors[what].reshape(-1, found.arm.n)) for what in ("native", "chosen"))
    return Simulated("controller", chosen, native, moved, horizon, len(errors["chosen"]), loop)


def _rms(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.sqrt(np.mean(x**2, axis=0)))


def _pieces(
    found: Identified,
    horizon: float,
    count: int,
    drive: Callable[[str, int, np.ndarray], np.ndarray],
    loop: Controller | None,
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the motion of the joints, (joints), and position errors of both robots, (pieces, times, joints).

    Args:
      drive: what, log, times (steps) -> controls (steps, joints).
      loop: gains of the motors; None: they are torques.
    """
    arm, problem = found.arm, found.fitter.problem
    steps, per = round(horizon / _STEP), 10
    errors: dict[str, list[np.ndarray]] = {"chosen": [], "native": []}
    moved: list[np.ndarray] = []
    starts = _starts(found, horizon, count)
    for what, spec in models(found).items():
        for payload in dict.fromkeys(log.number("payload", 0.0) for log in problem.logs):
            here = [(m, k) for m, k in starts if problem.logs[m].number("payload", 0.0) == payload]
            if not here:
                continue
            model = _driven(spec, found, here[0][0], loop)
            data = mujoco.MjData(model)
            qadr, vadr = (
                np.array([getattr(model, a)[model.joint(n).id] for n in arm.joints])
                for a in ("jnt_qposadr", "jnt_dofadr")
            )
            for m, k in here:
                motion = problem.motions[m]
                mujoco.mj_resetData(model, data)
                data.qpos[qadr], data.qvel[vadr] = motion.q[k], motion.v[k]
                t = motion.time[k] + _STEP * np.arange(1, steps + 1)
                measured = np.stack([np.interp(t, motion.time, q) for q in motion.q.T], axis=1)
                positions = np.empty_like(measured)
                for row, control in enumerate(drive(what, m, t - 0.5 * _STEP)):
                    data.ctrl[:] = control
                    if arm.torques:
                        data.qfrc_applied[vadr] = arm.known(data.qpos[None, qadr])[0]
                    mujoco.mj_step(model, data)
                    positions[row] = data.qpos[qadr]
                errors[what].append(np.clip(positions - measured, -10, 10)[per - 1 :: per])
                if what == "chosen":
                    moved.append(np.ptp(measured, axis=0) if loop else measured[-1] - motion.q[k])
    return _rms(np.array(moved)), {what: np.array(e) for what, e in errors.items()}


def lock(spec: mujoco.MjSpec, joint: Any, arm: Arm) -> None:
    """Take a joint away, with its body where the joint is held."""
    model = spec.compile()
    j, body = model.joint(joint.name), joint.parent
    frame = np.empty(9)
    mujoco.mju_quat2Mat(frame, model.body(body.name).quat)
    place, turn = model.body(body.name).pos, frame.reshape(3, 3)
    place, turn = moved(model, j.id, arm.held.get(joint.name, float(j.qpos0[0])), place, turn)
    whole = np.empty(4)
    mujoco.mju_mat2Quat(whole, turn.ravel())
    body.pos, body.quat = place, whole
    body.alt.type = mujoco.mjtOrientation.mjORIENTATION_QUAT
    spec.delete(joint)


def _starts(found: Identified, horizon: float, pieces: int) -> list[tuple[int, int]]:
    """(log, block) at which pieces begin, spread over all logs."""
    problem = found.fitter.problem
    every: list[tuple[int, int]] = []
    for m, motion in enumerate(problem.motions):
        last = np.searchsorted(motion.time, motion.time[-1] - horizon)
        count = max(1, round(pieces / len(problem.motions)))
        every += [(m, int(k)) for k in np.linspace(0, max(last - 1, 0), count, dtype=int)]
    return every


def _driven(spec: mujoco.MjSpec, found: Identified, log: int, loop: Controller | None) -> mujoco.MjModel:
    """The robot with a motor, or a position loop, at each joint and nothing else that drives, without contacts, with the payload of a log."""
    made = spec.copy()
    arm = found.arm
    coupled = {name: drive_name(name) for j, name in enumerate(arm.joints) if arm.is_coupled(j)}
    tendons = [tendon for tendon in made.tendons if tendon.name not in coupled.values()]
    for unused in (*made.actuators, *made.keys, *made.sensors, *made.equalities, *tendons):
        made.delete(unused)
    for joint in list(made.joints):
        if joint.name not in found.arm.joints:
            lock(made, joint, found.arm)
    for j, name in enumerate(found.arm.joints):
        motor = made.add_actuator(name=f"motor of {name}", target=coupled.get(name, name))
        motor.trntype = mujoco.mjtTrn.mjTRN_TENDON if name in coupled else mujoco.mjtTrn.mjTRN_JOINT
        if loop is None:
            motor.set_to_motor()
        else:
            motor.set_to_position(kp=loop.kp[j], kv=max(loop.kd[j], 0.0))
    for body in made.bodies:
        body.gravcomp = 0
    facts = found.fitter.problem.logs[log]
    mass = facts.number("payload", 0.0)
    if mass:
        body = made.body(found.arm.links[-1].name).add_body(pos=[facts.number(f"payload_{a}", 0.0) for a in "xyz"])
        body.explicitinertial = True
        body.mass = mass
        body.ipos = np.zeros(3)
        body.inertia = np.full(3, max(facts.number("payload_inertia", 0.0), 1e-6 * mass))
    made.option.timestep = _STEP
    made.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    made.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    return made.compile()
