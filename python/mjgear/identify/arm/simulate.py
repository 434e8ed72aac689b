"""The chosen robot in MuJoCo, under the torques that were measured, beside the same robot with friction that MuJoCo has itself.

An arm that nothing controls runs away from any log, so that it is simulated in short pieces, each from the measured state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from mjgear.identify.arm.dynamics import Arm
from mjgear.identify.arm.law import PLACE
from mjgear.identify.arm.model import build
from mjgear.identify.arm.problem import changed
from mjgear.identify.arm.result import Identified

_HORIZON = 0.25  # s, of a piece
_PIECES = 40
_STEP = 1e-3  # s
_WORSE = 1.1  # error of the chosen friction over that of native


@dataclass
class Simulated:
    """Root mean squares of position errors at the ends of pieces, of each joint.

    Attributes:
      chosen, native: (joints) rad or m.
      moved: (joints) how far the joints moved in a piece.
      horizon: length of a piece, s.
      pieces: how many.
    """

    chosen: np.ndarray
    native: np.ndarray
    moved: np.ndarray
    horizon: float
    pieces: int

    def text(self, joints: list[str]) -> str:
        """The errors in lines."""
        width = max(14, *(len(name) + 2 for name in joints))
        lines = [f"simulated by MuJoCo in {self.pieces} pieces of {self.horizon:g} s under the measured torques: position error at the end, rms",
                 f"{'joint':<{width}}{'moved':>10}{'native':>12}{'chosen':>12}"]  # fmt: skip
        lines += [f"{n:<{width}}{m:>10.3g}{a:>12.3g}{c:>12.3g}" for n, m, a, c in zip(joints, self.moved, self.native, self.chosen)]
        return "\n".join(lines)

    def notes(self, joints: list[str]) -> list[str]:
        """Joints whose chosen friction predicts torques better and motion worse."""
        return [f"{n}: simulated, Coulomb and viscous friction is better than what was chosen by {100 * (1 - a / c):.0f} %: do not trust the chosen friction near "
                "reversals, which the fit leaves out" for n, a, c in zip(joints, self.native, self.chosen) if c > _WORSE * a]  # fmt: skip


def models(found: Identified) -> dict[str, mujoco.MjSpec]:
    """The chosen robot, and the one with Coulomb and viscous friction."""
    fastest = found.fitter.problem.fastest
    plain = [changed(r, frozenset()) for r in found.rungs]
    return {"chosen": build(found.spec, found.arm, found.parameters(), found.rungs, found.state.p, fastest),
            "native": build(found.spec, found.arm, found.parameters(found.native), plain, found.native.p, fastest)}  # fmt: skip


def simulate(found: Identified) -> Simulated:
    """Simulate both over pieces of all logs."""
    arm, problem = found.arm, found.fitter.problem
    states = {"chosen": found.state, "native": found.native}
    errors: dict[str, list[np.ndarray]] = {"chosen": [], "native": []}
    moved: list[np.ndarray] = []
    starts = _starts(found)
    for what, spec in models(found).items():
        state = states[what]
        for i, payload in enumerate({log.number("payload", 0.0) for log in problem.logs}):
            here = [(m, k) for m, k in starts if problem.logs[m].number("payload", 0.0) == payload]
            if not here:
                continue
            model = _driven(spec, found, here[0][0])
            data = mujoco.MjData(model)
            qadr, vadr = (np.array([getattr(model, a)[model.joint(n).id] for n in arm.joints]) for a in ("jnt_qposadr", "jnt_dofadr"))
            for m, k in here:
                motion, log = problem.motions[m], problem.logs[m]
                mujoco.mj_resetData(model, data)
                data.qpos[qadr], data.qvel[vadr] = motion.q[k], motion.v[k]
                steps = round(_HORIZON / _STEP)
                t0 = motion.time[k]
                t = t0 + _STEP * (np.arange(steps) + 0.5)
                samples = log.dt * np.arange(log.n)
                torque = np.empty((steps, arm.n))
                for j in range(arm.n):
                    late = found.rungs[j].shape.delay + state.p[j, PLACE["delay"]]
                    torque[:, j] = (np.interp(t + late, samples, log.torque[:, j]) - state.offsets[j, m]) / state.p[j, PLACE["scale"]]
                for row in torque:
                    data.ctrl[:] = row
                    mujoco.mj_step(model, data)
                end = np.array([np.interp(t0 + _HORIZON, motion.time, motion.q[:, j]) for j in range(arm.n)])
                errors[what].append(np.clip(data.qpos[qadr] - end, -10, 10))
                if what == "chosen":
                    moved.append(end - motion.q[k])
    rms = {what: np.sqrt(np.mean(np.array(e) ** 2, axis=0)) for what, e in errors.items()}
    return Simulated(rms["chosen"], rms["native"], np.sqrt(np.mean(np.array(moved) ** 2, axis=0)), _HORIZON, len(errors["chosen"]))


def lock(spec: mujoco.MjSpec, joint: Any, arm: Arm) -> None:
    """Take a joint away, with its body where the joint is held."""
    model = spec.compile()
    j = model.joint(joint.name)
    d = arm.held.get(joint.name, float(j.qpos0[0])) - float(j.qpos0[0])
    body = joint.parent
    b = model.body(body.name)
    R, turn = np.empty(9), np.empty(9)
    mujoco.mju_quat2Mat(R, b.quat)
    place, frame = np.array(b.pos), R.reshape(3, 3)
    if j.type[0] == int(mujoco.mjtJoint.mjJNT_HINGE):
        quaternion = np.empty(4)
        mujoco.mju_axisAngle2Quat(quaternion, j.axis, d)
        mujoco.mju_quat2Mat(turn, quaternion)
        anchor = place + frame @ j.pos
        frame = frame @ turn.reshape(3, 3)
        place = anchor - frame @ j.pos
    else:
        place = place + frame @ j.axis * d
    whole = np.empty(4)
    mujoco.mju_mat2Quat(whole, frame.ravel())
    body.pos, body.quat = place, whole
    body.alt.type = mujoco.mjtOrientation.mjORIENTATION_QUAT
    spec.delete(joint)


def _starts(found: Identified) -> list[tuple[int, int]]:
    """(log, block) at which pieces begin, spread over all logs."""
    problem = found.fitter.problem
    every: list[tuple[int, int]] = []
    for m, motion in enumerate(problem.motions):
        last = np.searchsorted(motion.time, motion.time[-1] - _HORIZON)
        count = max(1, round(_PIECES / len(problem.motions)))
        every += [(m, int(k)) for k in np.linspace(0, max(last - 1, 0), count, dtype=int)]
    return every


def _driven(spec: mujoco.MjSpec, found: Identified, log: int) -> mujoco.MjModel:
    """The robot with a motor at each joint and nothing else that drives, without contacts, with the payload of a log."""
    made = spec.copy()
    for unused in (*made.actuators, *made.keys, *made.sensors, *made.equalities, *made.tendons):
        made.delete(unused)
    for joint in list(made.joints):
        if joint.name not in found.arm.joints:
            lock(made, joint, found.arm)
    for name in found.arm.joints:
        motor = made.add_actuator(name=f"motor of {name}", target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.set_to_motor()
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
