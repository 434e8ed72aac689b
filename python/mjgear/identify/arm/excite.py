"""Informative motions of an arm: Fourier series within its limits, and the intervals to expect.

The series of J. Swevers, C. Ganseman, D. B. Tukel, J. De Schutter, H. Van Brussel (1997), with coefficients that put velocity and
acceleration to 0 at the ends. Random starts and a local search maximize the information (log det) on base parameters and
friction. MuJoCo checks limits of position, speed and torque and collisions along the whole motion, with and without the
payload.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import mujoco
import numpy as np

from mjgear import _files as files
from mjgear.identify.arm.dynamics import Arm
from mjgear.identify.arm.fit import Fitter, Known, State
from mjgear.identify.arm.intervals import curvature, numbers
from mjgear.identify.arm.law import NUMBERS, PLACE, Rung
from mjgear.identify.arm.logs import ArmLog
from mjgear.identify.arm.problem import Problem
from mjgear.identify.logs import LogError

_HARMONICS = 5
_COARSE = 0.05  # s, between checks while searching
_FINE = 0.01  # s, of the final check
_RATE = 100.0  # Hz, of the goals


@dataclass
class Limits:
    """Limits of a motion.

    Attributes:
      low, high: (joints) rad.
      speed: (joints) rad/s.
      torque: (joints) N m; infinite where the model has none.
      table: no part of the arm goes below this height, m; None: none.
    """

    low: np.ndarray
    high: np.ndarray
    speed: np.ndarray
    torque: np.ndarray
    table: float | None = None


@dataclass
class Excitation:
    """A motion.

    Attributes:
      period: s.
      middle, sines, cosines: (joints), (joints, harmonics) rad.
      information: log det of the information matrix; larger is better.
    """

    period: float
    middle: np.ndarray
    sines: np.ndarray
    cosines: np.ndarray
    information: float = -np.inf

    def at(self, t: np.ndarray, backward: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positions, velocities, accelerations (n, joints)."""
        w = 2 * np.pi / self.period * np.arange(1, _HARMONICS + 1)
        t = self.period - t if backward else t
        s, c = np.sin(w * t[:, None]), np.cos(w * t[:, None])
        q = self.middle + s @ self.sines.T + c @ self.cosines.T
        v = (c * w) @ self.sines.T - (s * w) @ self.cosines.T
        a = -(s * w**2) @ self.sines.T - (c * w**2) @ self.cosines.T
        return q, -v if backward else v, a


def limits(
    arm: Arm, model: mujoco.MjModel, speed: float, torque: float | None, table: float | None, margin: float = 0.05
) -> Limits:
    """Limits of a model: its joint ranges less a margin, and the forces of actuators and joints; 2.5 rad about the reference without a range.

    Raises:
      LogError: a range is empty.
    """
    low, high = arm.limits.T.copy()
    free = ~np.isfinite(low)
    low[free], high[free] = arm.reference[free] - 2.5, arm.reference[free] + 2.5
    space = margin * (high - low)
    low, high = low + space, high - space
    most = np.full(arm.n, np.inf if torque is None else torque)
    for j, k in enumerate(arm.ids):
        if model.jnt_actfrclimited[k]:
            most[j] = min(most[j], float(np.abs(model.jnt_actfrcrange[k]).min()))
        for i in range(model.nactuator):
            if (
                model.actuator_trntype[i] == mujoco.mjtTrn.mjTRN_JOINT
                and model.actuator_trnid[i, 0] == k
                and model.actuator_forcelimited[i]
            ):
                most[j] = min(
                    most[j],
                    float(
                        np.abs(model.actuator_forcerange[i] * model.actuator_gear[model.actuator_outadr[i], 0]).min()
                    ),
                )
    if np.any(low >= high):
        raise LogError(f"joint '{arm.joints[int(np.argmax(low >= high))]}' has no range to move in")
    return Limits(low, high, np.full(arm.n, speed), most, table)


class _Checker:
    """Limits, torques and collisions of a motion."""

    def __init__(self, arm: Arm, limits: Limits, payload: float, friction: float) -> None:
        self.arm, self.limits, self.payload, self.friction = arm, limits, payload, friction
        self.model = arm.model
        self.data = mujoco.MjData(self.model)
        self.qadr = self.model.jnt_qposadr[arm.ids]
        own = [b for b in range(self.model.nbody) if any(d in arm.dofs for d in _dofs(self.model, b))]
        self.geoms = np.flatnonzero(np.isin(self.model.geom_bodyid, own))
        # geoms that touch at the reference are neighbours, not collisions
        self.allowed: set[tuple[int, int]] = set()
        self.allowed = self._pairs(arm.reference)

    def _pairs(self, q: np.ndarray) -> set[tuple[int, int]]:
        self.data.qpos[:] = self.model.qpos0
        self.data.qpos[self.qadr] = q
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        mujoco.mj_collision(self.model, self.data)
        return {(min(pair), max(pair)) for pair in self.data.contact.geom.tolist()} - self.allowed

    def collides(self, q: np.ndarray) -> str | None:
        """Contacts in one of these poses (n, joints)."""
        for pose in q:
            found = self._pairs(pose)
            if found:
                one, other = next(iter(found))
                return f"{self._name(one)} and {self._name(other)}"
            if self.limits.table is not None:
                # half of a geom's height, by its box
                up = self.data.geom_xmat[self.geoms, 6:]
                center, half = self.model.geom_aabb[self.geoms, :3], self.model.geom_aabb[self.geoms, 3:]
                lowest = self.data.geom_xpos[self.geoms, 2] + np.sum(up * center - np.abs(up) * half, axis=1)
                if np.any(lowest < self.limits.table):
                    return f"{self._name(int(self.geoms[np.argmax(lowest < self.limits.table)]))} and the table"
        return None

    def _name(self, g: int) -> str:
        return self.model.geom(g).name or f"a geom of {self.model.body(int(self.model.geom_bodyid[g])).name}"

    def excess(self, motion: Excitation, step: float) -> float:
        """Return the largest ratio of a motion to its limits, without collisions; up to 1 it is within."""
        t = np.arange(0, motion.period, step)
        q, v, a = motion.at(t)
        most = self.limits
        worst = float(np.max(np.abs(v) / most.speed))
        half, middle = (most.high - most.low) / 2, (most.high + most.low) / 2
        worst = max(worst, float(np.max(np.abs(q - middle) / half)))
        if np.isfinite(most.torque).any():
            torque = self.torques(q, v, a)
            worst = max(worst, float(np.max(np.abs(torque) / most.torque)))
        return worst

    def torques(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """(n, joints) torques with the payload and friction."""
        rows = self.arm.regressor(q, v, a)
        beta = self.arm.parameters.copy()
        beta[-1, 0] += self.payload
        tau = (
            np.stack([Y @ self.arm.select(j, beta) for j, Y in enumerate(rows)], axis=1)
            + self.arm.springs(q)
            + self.arm.armature * a
        )
        return np.asarray((1 + self.friction) * tau)


def _dofs(model: mujoco.MjModel, body: int) -> list[int]:
    dofs: list[int] = []
    while body > 0:
        dofs += range(model.body_dofadr[body], model.body_dofadr[body] + model.body_dofnum[body])
        body = int(model.body_parentid[body])
    return dofs


def _draw(rng: np.random.Generator, limits: Limits, period: float) -> Excitation:
    n = limits.low.size
    middle = (limits.low + limits.high) / 2 + 0.3 * (limits.high - limits.low) * rng.uniform(-1, 1, n)
    sines, cosines = rng.standard_normal((2, n, _HARMONICS)) / np.arange(1, _HARMONICS + 1)
    return _rest(Excitation(period, middle, sines, cosines), limits)


def _rest(motion: Excitation, limits: Limits) -> Excitation:
    """Return the nearest motion that begins and ends at rest, scaled to the ranges of position and speed."""
    k = np.arange(1, _HARMONICS + 1)
    # velocity sum k s_k = 0, acceleration sum k^2 c_k = 0
    sines = motion.sines - np.outer(motion.sines @ k, k) / (k @ k)
    cosines = motion.cosines - np.outer(motion.cosines @ k**2, k**2) / (k**2 @ k**2)
    moved = replace(motion, sines=sines, cosines=cosines)
    t = np.arange(0, motion.period, _COARSE)
    q, v, _ = moved.at(t)
    swing = q - moved.middle
    room = np.minimum(
        (limits.high - moved.middle) / np.maximum(swing.max(axis=0), 1e-9),
        (moved.middle - limits.low) / np.maximum(-swing.min(axis=0), 1e-9),
    )
    scale = 0.98 * np.minimum(room, limits.speed / np.maximum(np.abs(v).max(axis=0), 1e-9))
    return replace(moved, sines=sines * scale[:, None], cosines=cosines * scale[:, None])


def _usual(arm: Arm, limits: Limits, rng: np.random.Generator) -> np.ndarray:
    """(joints) torque of the links at rest, root mean square over poses; for joints without load the torque of acceleration."""
    q = rng.uniform(limits.low, limits.high, (100, arm.n))
    none = np.zeros_like(q)
    still, fast = (arm.regressor(q, none, a) for a in (none, none + limits.speed))
    beta = arm.parameters
    torque = [np.sqrt(np.mean((Y @ arm.select(j, beta)) ** 2)) for j, Y in enumerate(still)]
    more = [np.sqrt(np.mean((Y @ arm.select(j, beta)) ** 2)) for j, Y in enumerate(fast)]
    return np.asarray(np.maximum(np.array(torque), 0.1 * np.array(more)) + 1e-12)


def _information(arm: Arm, motion: Excitation, usual: np.ndarray, limits: Limits) -> float:
    """log det of a motion's information, added to a model with links known to a fifth and friction of a tenth of the torque, noise 2 %."""
    t = np.arange(0, motion.period, _COARSE)
    q, v, a = motion.at(t)
    total = 0.0
    for j, Y in enumerate(arm.regressor(q, v, a)):
        beta = arm.select(j, arm.parameters)
        load = Y @ beta
        s, r = np.sign(v[:, j]), v[:, j] / limits.speed[j]
        T = usual[j]
        size = np.abs(beta) + 0.1 * np.repeat([np.abs(beta[k : k + 10]).max() for k in range(0, beta.size, 10)], 10)
        friction = np.stack(
            [
                0.1 * T * s,
                0.1 * T * r,
                0.1 * T * r * np.abs(r),
                0.1 * T * a[:, j] / limits.speed[j],
                0.15 * s * np.abs(load),
            ],
            axis=1,
        )
        X = np.concatenate([0.2 * Y * size, friction], axis=1) / (0.02 * T)
        total += float(np.linalg.slogdet(np.eye(X.shape[1]) + X.T @ X)[1])
    return total


def search(
    arm: Arm,
    limits: Limits,
    period: float = 20.0,
    payload: float = 0.0,
    tries: int = 60,
    refinements: int = 120,
    seed: int = 0,
    friction: float = 0.3,
) -> Excitation:
    """The best motion found.

    Args:
      payload: kg at the last link's frame; torques stay within their limits with it, too.
      tries: random starts; refinements: of the best one.
      friction: allowance for friction, relative to the torque without it.

    Raises:
      LogError: no motion within the limits was found.
    """
    rng = np.random.default_rng(seed)
    checker = _Checker(arm, limits, payload, friction)
    usual = _usual(arm, limits, rng)
    best: Excitation | None = None
    why = ""
    for _ in range(tries):
        found, reason = _fit(checker, _draw(rng, limits, period))
        why = reason or why
        if found is not None:
            found = replace(found, information=_information(arm, found, usual, limits))
            if best is None or found.information > best.information:
                best = found
    if best is None:
        raise LogError(
            f"no motion within the limits was found in {tries} tries; the last one failed for {why}: widen limits, or move the base away from what it hits"
        )
    size = 0.3
    for _ in range(refinements):
        n = arm.n
        trial = Excitation(period, best.middle + size * 0.2 * (limits.high - limits.low) * rng.standard_normal(n) * 0.3,
                           best.sines + size * np.std(best.sines) * rng.standard_normal((n, _HARMONICS)),
                           best.cosines + size * np.std(best.cosines) * rng.standard_normal((n, _HARMONICS)))  # fmt: skip
        trial.middle = np.clip(
            trial.middle, limits.low + 0.1 * (limits.high - limits.low), limits.high - 0.1 * (limits.high - limits.low)
        )
        found, _ = _fit(checker, _rest(trial, limits))
        if found is not None:
            found = replace(found, information=_information(arm, found, usual, limits))
            if found.information > best.information:
                best = found
                continue
        size = max(0.97 * size, 0.02)
    t = np.arange(0, period, _FINE)
    hit = checker.collides(best.at(t)[0])
    if hit or checker.excess(best, _FINE) > 1:
        raise LogError(
            f"the best motion is beyond its limits between two checks ({hit or 'speed, position or torque'}); try another --seed"
        )
    return best


def _fit(checker: _Checker, motion: Excitation) -> tuple[Excitation | None, str]:
    """The motion scaled down until it is within its limits and hits nothing; None and the reason if it would hardly move."""
    t = np.arange(0, motion.period, _COARSE)
    for _ in range(6):
        over = checker.excess(motion, _COARSE)
        if over > 1:
            shrink = 0.9 if over < 1.05 else max(0.5, 0.95 / over)
            motion = replace(motion, sines=motion.sines * shrink, cosines=motion.cosines * shrink)
            why = "position, speed or torque"
            continue
        hit = checker.collides(motion.at(t)[0])
        if hit is None:
            return motion, ""
        why = f"a collision of {hit}"
        motion = replace(motion, sines=0.7 * motion.sines, cosines=0.7 * motion.cosines)
    return None, why


def expected(
    arm: Arm,
    motions: list[tuple[Excitation, bool, float]],
    noise: float,
    inertia_tolerance: float,
    torque_tolerance: float,
) -> dict[str, tuple[float, float]]:
    """JOINT.NUMBER -> (typical value, half width of its 95 % interval) that these motions will give.

    The friction that is assumed is a tenth of the torque as Coulomb and as viscous friction, gamma_u 0.05 and gamma_v 0.15.

    Args:
      motions: motion, True if it runs backward, payload (kg).
      noise: of the torque at 100 Hz, as a part of its size.
    """
    logs = []
    for k, (motion, backward, payload) in enumerate(motions):
        t = np.arange(0, motion.period, 1 / _RATE)
        q, v, a = motion.at(t, backward)
        beta = arm.parameters.copy()
        beta[-1, 0] += payload
        tau = np.stack([Y @ arm.select(j, beta) for j, Y in enumerate(arm.regressor(q, v, a))], axis=1) + 1e-12
        facts: dict[str, float | str] = {"payload": payload} if payload else {}
        logs.append(ArmLog(f"motion{k}", 1 / _RATE, q, tau, facts=facts))
    problem = Problem(arm, logs, cutoff=10.0)
    fitter = Fitter(problem, Known(inertia_tolerance, np.ones(arm.n), np.full(arm.n, torque_tolerance)))
    rungs = [Rung(frozenset({"load", "curved", "stribeck"})) for _ in range(arm.n)]
    p = np.zeros((arm.n, len(NUMBERS)))
    for j, rung in enumerate(rungs):
        size, fast = problem.size[j], problem.fastest[j]
        rung.shape.stribeck_velocity = 0.08 * float(fast)
        typical = {"scale": 1.0, "gamma_u": 0.05, "gamma_v": 0.15, "armature": max(float(arm.armature[j]), 0.02 * size / fast), "coulomb": 0.1 * size,
                   "viscous": 0.1 * size / fast, "curved": 0.02 * size / fast**2, "stribeck_friction": 0.05 * size}  # fmt: skip
        for name, value in typical.items():
            p[j, PLACE[name]] = value
    state = State(np.zeros((len(arm.links), 10)), p, np.zeros((arm.n, len(logs))))
    fitter.remake(rungs, state, robust=False)
    fitter.variance = (noise * problem.size) ** 2
    here, spread = numbers(fitter, rungs, state), curvature(fitter, rungs, state)
    return {
        name: (value, 1.96 * float(s)) for (name, value), s in zip(here.items(), spread) if not name.endswith(".delay")
    }


def write(folder: Path, arm: Arm, motions: dict[str, tuple[Excitation, bool, float]]) -> list[Path]:
    """A CSV of goals for each motion: time, JOINT.position, JOINT.velocity."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for name, (motion, backward, payload) in motions.items():
        t = np.arange(0, motion.period + 0.5 / _RATE, 1 / _RATE)
        q, v, _ = motion.at(t, backward)
        head = ["time", *(f"{j}.position" for j in arm.joints), *(f"{j}.velocity" for j in arm.joints)]
        lines = [f"# trajectory={name} payload={payload:g}", ",".join(head)]
        lines += [",".join(f"{x:.6g}" for x in row) for row in np.concatenate([t[:, None], q, v], axis=1)]
        path = folder / f"{name}.csv"
        files.write(path, "\n".join([*lines, ""]))
        made.append(path)
    return made
