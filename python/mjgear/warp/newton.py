"""Gears for the robots of Newton: one of its drives moves joints through gears whose friction is solved by SolverMuJoCo.

    elbow = mjgear.warp.newton.GearedActuator(solver, ["*elbow"], DrivePD(kp, kd), preset="harmonic_drive", delay=Delay(..))
    elbow.step(state, control, dt)      # before solver.step(state, ...)
    elbow.gears.friction                # see mjgear.warp.Gears

The law needs the motor's torque apart from all other forces, and Control.joint_f is a force like any other. The drive therefore writes to the
joint's <motor>, an actuator of the model with the control of SolverMuJoCo.CtrlSource.CTRL_DIRECT. Written for Newton 1.8.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import mujoco
import newton
import newton.actuators
import numpy as np
import warp as wp

from mjgear._errors import GearError

from .gears import attach
from .rows import measure


class LinkEncoder(newton.actuators.DriveBase):
    """A drive whose encoder is on the link: it measures the joint and the hinge of its play together.

    Args:
        drive: any drive of Newton.
        play_q, play_qd: the hinges' places in State.joint_q and State.joint_qd, -1 for a joint without play. (N)
    """

    def __init__(self, drive: newton.actuators.DriveBase, play_q: wp.array, play_qd: wp.array) -> None:
        self.drive, self.custom_inputs = drive, drive.custom_inputs
        self._play_q, self._play_qd = play_q, play_qd

    def finalize(self, device: Any, num_actuators: int) -> None:
        self.drive.finalize(device, num_actuators)
        self._own = wp.array(np.arange(num_actuators, dtype=np.uint32), device=device)
        self._position = wp.zeros(num_actuators, dtype=float, device=device)
        self._velocity = wp.zeros(num_actuators, dtype=float, device=device)

    def compute(
        self,
        positions: wp.array,
        velocities: wp.array,
        target_pos: wp.array,
        target_vel: wp.array,
        feedforward: wp.array,
        pos_indices: wp.array,
        vel_indices: wp.array,
        *rest: Any,
        device: Any = None,
        **more: Any,
    ) -> None:
        wp.launch(
            measure,
            dim=len(pos_indices),
            inputs=[positions, velocities, pos_indices, vel_indices, self._play_q, self._play_qd],
            outputs=[self._position, self._velocity],
            device=device,
        )
        self.drive.compute(
            self._position,
            self._velocity,
            target_pos,
            target_vel,
            feedforward,
            self._own,
            self._own,
            *rest,
            device=device,
            **more,
        )

    def is_stateful(self) -> bool:
        return bool(self.drive.is_stateful())

    def is_graphable(self) -> bool:
        return bool(self.drive.is_graphable())

    def state(self, num_actuators: int, device: Any) -> Any:
        return self.drive.state(num_actuators, device)

    def update_state(self, current_state: Any, next_state: Any) -> None:
        self.drive.update_state(current_state, next_state)


class GearedActuator:
    """Joints of all worlds with one drive and gears.

    Args:
        solver: of a model whose joints have a <motor> each. njmax needs room for a row of friction loss of each gear.
        joints: names of solver.mj_model, or patterns such as "*_knee", of hinge and slide joints.
        drive: any drive of newton.actuators with arrays of as many numbers as joints of all worlds, world by world.
        delay, clamping: of newton.actuators.Actuator.
        encoder: "motor" measures the joint, "link" the joint and its play.
        play: joint -> the passive hinge between it and its link, names or patterns. An encoder on the link needs it.
        preset, gear: see mjgear.add.

    Attributes:
        actuator: the newton.actuators.Actuator.
        gears: the mjgear.warp.Gears.

    Raises:
        GearError: an unknown joint, a joint without motor or with two plays, or what mjgear.warp.attach refuses.
    """

    def __init__(
        self,
        solver: newton.solvers.SolverMuJoCo,
        joints: Sequence[str],
        drive: newton.actuators.DriveBase,
        *,
        delay: newton.actuators.Delay | None = None,
        clamping: Sequence[newton.actuators.ClampingBase] = (),
        encoder: Literal["motor", "link"] = "motor",
        play: Mapping[str, str] | None = None,
        preset: str | None = None,
        **gear: Any,
    ):
        if encoder not in ("motor", "link"):
            raise GearError(f"mjgear.warp.newton: encoder is '{encoder}'; it is on the 'motor' or on the 'link'")
        mjm = solver.mj_model
        moved = _find(mjm, joints)
        motors = [_motor(mjm, joint) for joint in moved]
        slack = dict.fromkeys(moved, -1)
        for pattern, hinge in (play or {}).items():
            for joint, loose in zip(_find(mjm, [pattern]), _find(mjm, [hinge]), strict=True):
                if joint not in slack:
                    raise GearError(
                        f"mjgear.warp.newton: joint '{mjm.joint(joint).name}' has play and is none of the joints of this drive"
                    )
                slack[joint] = loose
        if encoder == "link" and not play:
            raise GearError("mjgear.warp.newton: an encoder on the link needs play={joint: hinge of its play}")
        self.gears = attach(
            solver.mjw_model, solver.mjw_data, mjm, [mjm.joint(joint).name for joint in moved], preset, **gear
        )
        model = solver.model
        labels = [label.replace("/", "_") for label in model.joint_label]
        places = {}  # joint of mjm -> its Newton joint in each world
        for joint in range(mjm.njnt):
            places[joint] = [k for k, label in enumerate(labels) if label == mjm.joint(joint).name]
            if joint in moved and len(places[joint]) != model.world_count:
                raise GearError(f"mjgear.warp.newton: joint '{mjm.joint(joint).name}' is not once in each world")
        q, qd = model.joint_q_start.numpy(), model.joint_qd_start.numpy()
        own = np.array([places[joint] for joint in moved]).T  # (world, joint)
        if encoder == "link":
            hinges = np.array([places[hinge] if hinge >= 0 else [-1] * model.world_count for hinge in slack.values()]).T
            ends = [wp.array(np.ravel(np.where(hinges < 0, -1, start[hinges])).astype(np.int32)) for start in (q, qd)]
            drive = LinkEncoder(drive, *ends)
        nu = model.mujoco.ctrl.shape[0] // model.world_count
        ctrl = np.arange(model.world_count)[:, None] * nu + solver.mjc_actuator_to_newton_idx.numpy()[motors]
        self.actuator = newton.actuators.Actuator(
            _places(qd[own]),
            drive,
            delay,
            list(clamping),
            pos_indices=_places(q[own]),
            effort_indices=_places(ctrl),
            control_output_attr="ctrl",
        )
        self._states = [self.actuator.state(), self.actuator.state()]

    def step(self, state: newton.State, control: newton.Control, dt: float) -> None:
        """Write the drive's torques to control.mujoco.ctrl, of which the caller sets all numbers to 0 before."""
        inputs = {name: getattr(control, name) for name in ("joint_target_q", "joint_target_qd", "joint_act")}
        self.actuator.step(state, {**inputs, "ctrl": control.mujoco.ctrl}, *self._states, dt)
        self._states.reverse()


def _places(numbers: np.ndarray) -> wp.array:
    return wp.array(np.ravel(numbers).astype(np.uint32))


def _find(mjm: mujoco.MjModel, patterns: Sequence[str]) -> list[int]:
    """Joints with these names, in the order of the model."""
    names = [mjm.joint(j).name for j in range(mjm.njnt)]
    for pattern in patterns:
        if not any(fnmatch.fnmatchcase(name, pattern) for name in names):
            raise GearError(f"mjgear.warp.newton: no joint '{pattern}'; there are {', '.join(names)}")
    return [j for j, name in enumerate(names) if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)]


def _motor(mjm: mujoco.MjModel, joint: int) -> int:
    """The actuator whose control is the torque of this joint."""
    for k in range(mjm.nu):
        plain = (
            mjm.actuator_gaintype[k] == mujoco.mjtGain.mjGAIN_FIXED
            and mjm.actuator_biastype[k] == mujoco.mjtBias.mjBIAS_NONE
        )
        torque = mjm.actuator_gainprm[k, 0] * mjm.actuator_gear[k, 0]
        if (
            plain
            and torque == 1
            and mjm.actuator_trntype[k] == mujoco.mjtTrn.mjTRN_JOINT
            and mjm.actuator_trnid[k, 0] == joint
        ):
            return k
    raise GearError(
        f"mjgear.warp.newton: joint '{mjm.joint(joint).name}' has no motor; give it <motor joint=\"..\"/> with gear 1"
    )
