"""Gears for the robots of Isaac Lab on its Newton back end: servos of better-actuator-models, with friction in the solve.

    motor = BamMotorCfg(model="m6", kt=.., resistance=.., ..)
    robot_cfg.actuators = {"legs": MjgearActuatorCfg(joint_names_expr=[".*"], motor=motor, kp_fw=200, vin=7.4)}
    robot.gears.friction        # see mjgear.warp.Gears; robot is the Articulation

Isaac Lab's own drive computes the torque of the motor. Its friction is a bound by the torques of the last step; here it is the gear's law in the
solve. Written for the main branch of October 2026, Isaac Lab 3.0 with DriveBam; it has not run with Isaac Lab, but with tests/python/warp/isaaclab_standin.py.
"""

from __future__ import annotations

import copy
import functools
import re
from typing import Any, Literal

import numpy as np
from isaaclab.actuators import BamActuatorCfg, BamMotorCfg
from isaaclab.utils.configclass import configclass
from isaaclab_newton.assets.articulation.actuator_control import NewtonActuatorControl
from isaaclab_newton.physics import NewtonManager

from mjgear import _bam
from mjgear._errors import GearError

from .gears import attach


@configclass
class MjgearActuatorCfg(BamActuatorCfg):
    """BAM's servo with a gear. All other fields are those of BamActuatorCfg, of which stiff_frictionloss has no effect.

    The drive's friction_scale has none either; draw friction with mjgear.randomize(robot.gears, ..).
    """

    encoder: Literal["motor", "link"] = "motor"
    """Side of the play that the servo measures. "link" needs a hinge passive_<joint>_backlash, as BamBacklashActuatorCfg does."""


def gear_keys(motor: BamMotorCfg) -> dict[str, Any]:
    """Keys of a gear with the friction of this motor. Viscous friction and rotor inertia are the joint's, by Isaac Lab.

    Raises:
        GearError: a parameter is missing or out of range.
    """
    names = [name for name in _bam.parameters(motor.model) if name != "armature"]
    data = {name: getattr(motor, name) for name in names}
    if not data["friction_base"] > 0:
        raise GearError(
            f"mjgear.warp.isaaclab: friction_base is {data['friction_base']}; it is above 0, since MuJoCo Warp makes no row for 0"
        )
    keys = _bam.from_bam({"model": motor.model, "armature": 1.0, **data}, viscous="joint").keys
    return {key: value for key, value in keys.items() if key not in ("armature", "viscous")}


_waiting: list[
    tuple[Any, dict[int, dict[str, Any]]]
] = []  # articulations of the scene that is made, and Newton dof -> keys of its gear


def _servos(control: NewtonActuatorControl) -> list[tuple[int, str, Any]]:
    """Newton dof in the first world, name, and drive of each joint of the articulation that BAM's drive moves."""
    model, count = NewtonManager.backend.model, NewtonManager._adapter.num_joints
    first = control._joint_dof_offset()
    joint_at = {int(dof): joint for joint, dof in enumerate(model.joint_qd_start.numpy()[:-1])}
    dofs = [
        (int(dof), actuator.drive)
        for actuator in control._bam_actuators()
        for dof in actuator.indices.numpy()
        if dof < count
    ]
    return [
        (dof, model.joint_label[joint_at[dof]].rpartition("/")[2], drive)
        for dof, drive in dofs
        if first <= dof < first + control.num_joints
    ]


def _prepare(control: NewtonActuatorControl, cfgs: list[MjgearActuatorCfg]) -> None:
    """Find the gears of an articulation, and tell its drives where their encoders are."""
    found: dict[int, dict[str, Any]] = {}
    sides: dict[int, str] = {}  # of each drive
    for dof, name, drive in _servos(control):
        for cfg in cfgs:
            if any(re.fullmatch(pattern, name) for pattern in cfg.joint_names_expr):
                if cfg.encoder not in ("motor", "link"):
                    raise GearError(
                        f"mjgear.warp.isaaclab: encoder is '{cfg.encoder}'; it is on the 'motor' or on the 'link'"
                    )
                if sides.setdefault(id(drive), cfg.encoder) != cfg.encoder:
                    raise GearError(
                        f"mjgear.warp.isaaclab: Newton moves '{name}' and others by one drive, whose encoders are on one side"
                    )
                drive.has_backlash = cfg.encoder == "link"
                found[dof] = gear_keys(cfg.motor)
    _waiting.append((control._articulation, found))
    NewtonManager.register_solver_init_callback(_attach)


def _attach() -> None:
    """Give the gears of all articulations to the solver, which is there from now on."""
    articulations, gears_at = (
        [one for one, _ in _waiting],
        {dof: keys for _, found in _waiting for dof, keys in found.items()},
    )
    _waiting.clear()
    if not gears_at:
        return
    solver = NewtonManager._solver
    newton_dof = solver.mjc_dof_to_newton_dof.numpy()[0]
    joint_of = {
        int(newton_dof[dof]): solver.mj_model.joint(joint).name for dof, joint in enumerate(solver.mj_model.dof_jntid)
    }
    wanted = {joint_of[dof]: keys for dof, keys in gears_at.items()}
    host = copy.copy(solver.mj_model)
    host.dof_frictionloss[np.isin(newton_dof, list(gears_at))] = 0  # Isaac Lab's 1, by which the joint gets its row
    gears = attach(solver.mjw_model, solver.mjw_data, host, wanted, applied=True)
    for articulation in articulations:
        articulation.gears = gears


def _reset(articulation: Any, env_ids: Any) -> None:
    """Gears of these environments start without friction of an earlier step."""
    gears = getattr(articulation, "gears", None)
    if gears is None:
        return
    worlds = np.zeros(gears.status.shape[0], dtype=bool)
    worlds[env_ids.cpu().numpy() if hasattr(env_ids, "cpu") else env_ids] = True
    gears.reset(worlds)


def _wrap() -> None:
    """Let Isaac Lab's control of Newton's actuators call this module, once a process."""
    prepare, finalize, reset = (
        getattr(NewtonActuatorControl, name)
        for name in ("prepare_native_actuators", "finalize_native_actuators", "reset_native_actuators")
    )

    @functools.wraps(prepare)
    def prepare_native_actuators(self: Any, collection: Any, actuator_cfgs: Any) -> Any:
        self._mjgear_cfgs = [cfg for cfg in actuator_cfgs.values() if isinstance(cfg, MjgearActuatorCfg)]
        return prepare(self, collection, actuator_cfgs)

    @functools.wraps(finalize)
    def finalize_native_actuators(self: Any, collection: Any) -> Any:
        selection = finalize(self, collection)
        if self._mjgear_cfgs:
            _prepare(self, self._mjgear_cfgs)
        return selection

    @functools.wraps(reset)
    def reset_native_actuators(self: Any, env_ids: Any) -> None:
        reset(self, env_ids)
        _reset(self._articulation, env_ids)

    for method in (prepare_native_actuators, finalize_native_actuators, reset_native_actuators):
        setattr(NewtonActuatorControl, method.__name__, method)


_wrap()
