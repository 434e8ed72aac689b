"""What mjgear.warp.isaaclab uses of Isaac Lab, with the names, signatures and order of calls of its sources, main branch of October 2026.

    isaaclab/actuators/actuator_bam_cfg.py                                      BamMotorCfg, BamActuatorCfg
    isaaclab_newton/actuators/bam.py                                            DriveBam
    isaaclab_newton/assets/articulation/actuator_control.py                     NewtonActuatorControl
    isaaclab_newton/physics/newton_manager.py, mjwarp_actuator_bridge.py        NewtonManager, friction of the last step's torques

Importing it makes these modules. Isaac Lab reads robots from USD; here a scene is an MJCF text.
"""

import dataclasses
import sys
import types
from dataclasses import MISSING

import newton
import numpy as np
import warp as wp


def configclass(cls):
    return dataclasses.dataclass(cls, kw_only=True)


@configclass
class BamMotorCfg:
    model: str = MISSING
    kt: float = MISSING
    resistance: float = MISSING
    error_gain: float = MISSING
    max_pwm: float = 1.0
    max_current: float = MISSING
    friction_base: float = MISSING
    friction_viscous: float = MISSING
    friction_stribeck: float = 0.0
    dtheta_stribeck: float = 1.0
    alpha: float = 1.0
    load_friction_motor: float = 0.0
    load_friction_external: float = 0.0
    load_friction_motor_stribeck: float = 0.0
    load_friction_external_stribeck: float = 0.0
    load_friction_motor_quad: float = 0.0
    load_friction_external_quad: float = 0.0


@configclass
class BamActuatorCfg:
    joint_names_expr: list = MISSING
    motor: BamMotorCfg = MISSING
    kp_fw: float = MISSING
    vin: float = MISSING
    stiff_frictionloss: bool = True
    class_type: type | None = None


@wp.kernel
def _motor(
    q: wp.array(dtype=float), v: wp.array(dtype=float), goal: wp.array(dtype=float), q_at: wp.array(dtype=wp.uint32), v_at: wp.array(dtype=wp.uint32),
    goal_at: wp.array(dtype=wp.uint32), play_at: wp.array(dtype=wp.uint32), gain: float, most: float, vin: float, kt: float, resistance: float,
    torque: wp.array(dtype=float),
):  # fmt: skip
    i = wp.tid()
    angle = q[q_at[i]]
    if play_at:
        angle += q[play_at[i]]
    duty = wp.clamp(gain * (goal[goal_at[i]] - angle), -most, most)
    torque[i] = kt * (vin * duty - kt * v[v_at[i]]) / resistance


class DriveBam(newton.actuators.DriveBase):
    """Motor of BAM's servo; one firmware gain and one motor for all joints."""

    def __init__(self, cfg):
        self.cfg, self.has_backlash, self.backlash_pos_indices, self.external_torque = cfg, False, None, None

    def is_stateful(self):
        return False

    def is_graphable(self):
        return True

    def compute(self, positions, velocities, target_pos, target_vel, feedforward, pos_indices, vel_indices, target_pos_indices, target_vel_indices,
                forces, state, dt, device=None):  # fmt: skip
        if self.external_torque is None:
            raise RuntimeError("BAM requires an MJWarp solver binding before stepping")
        if self.has_backlash and self.backlash_pos_indices is None:
            raise RuntimeError("BAM backlash requires play-hinge coordinate binding before stepping")
        cfg, motor = self.cfg, self.cfg.motor
        wp.launch(_motor, dim=len(forces), outputs=[forces], device=device, inputs=[
            positions, velocities, target_pos, pos_indices, vel_indices, target_pos_indices, self.backlash_pos_indices if self.has_backlash else None,
            cfg.kp_fw * motor.error_gain, motor.max_pwm, cfg.vin, motor.kt, motor.resistance])  # fmt: skip


class Adapter:
    """NewtonActuatorAdapter."""

    def __init__(self, actuators, num_joints):
        self.actuators, self.num_joints = actuators, num_joints


class NewtonManager:
    backend = None
    _solver = None
    _adapter = None
    _hooks: dict = {}  # when -> functions

    @classmethod
    def register_solver_init_callback(cls, callback):
        cls._hooks.setdefault("solver", []).append(callback)

    @classmethod
    def register_pre_actuator_callback(cls, callback):
        cls._hooks.setdefault("pre", []).append(callback)

    @classmethod
    def register_post_actuator_callback(cls, callback):
        cls._hooks.setdefault("post", []).append(callback)

    @classmethod
    def call(cls, when):
        for callback in cls._hooks.get(when, []):
            callback()


class NewtonActuatorControl:
    def __init__(self, articulation):
        self._articulation = articulation
        self.num_joints = articulation.num_joints
        self._bam_cfgs = {}

    def prepare_native_actuators(self, collection, actuator_cfgs):
        self._bam_cfgs = {name: cfg for name, cfg in actuator_cfgs.items() if isinstance(cfg, BamActuatorCfg)}
        return set(self._bam_cfgs)

    def finalize_native_actuators(self, collection):
        if self._bam_cfgs:
            NewtonManager.register_solver_init_callback(self._bind_bam_actuators)

    def reset_native_actuators(self, env_ids):
        pass

    def _bam_actuators(self):
        return [one for one in NewtonManager._adapter.actuators if isinstance(one.drive, DriveBam)]

    def _joint_dof_offset(self):
        return 0

    def _bind_bam_backlash(self, actuator):
        model = NewtonManager.backend.model
        # by name alone: with MJCF a label has the bodies of its joint before the name, with USD both are siblings
        names = [
            (int(world), label.rpartition("/")[2])
            for world, label in zip(model.joint_world.numpy(), model.joint_label, strict=True)
        ]
        starts = model.joint_q_start.numpy()
        joint_at = {int(dof): joint for joint, dof in enumerate(model.joint_qd_start.numpy()[:-1])}
        found = []
        for dof in actuator.indices.numpy():
            world, name = names[joint_at[int(dof)]]
            twin = (world, f"passive_{name}_backlash")
            if twin not in names:
                raise ValueError(f"BAM backlash requires a revolute servo and sibling play hinge: {twin[1]}")
            found.append(starts[names.index(twin)])
        actuator.drive.backlash_pos_indices = wp.array(found, dtype=wp.uint32)

    def _bind_bam_actuators(self):
        """Isaac Lab's own friction: before each step the bound by the torques of the last one, on the host here, with a stiff constraint."""
        solver = NewtonManager._solver
        of_newton = solver.mjc_dof_to_newton_dof.numpy()
        for actuator in self._bam_actuators():
            if actuator.drive.has_backlash:
                self._bind_bam_backlash(actuator)
            actuator.drive.external_torque = wp.zeros(len(actuator.indices), dtype=float)
            places = [np.argwhere(of_newton == dof)[0] for dof in actuator.indices.numpy()]
            rows = (np.array([world for world, _ in places]), np.array([dof for _, dof in places]))
            model, data, motor, before = (
                solver.mjw_model,
                solver.mjw_data,
                actuator.drive.cfg.motor,
                [np.zeros(len(places))],
            )
            for array, value in ((model.dof_solref, (-5e4, -2e2)), (model.dof_solimp, (0.99, 0.9999, 0.001, 0.5, 2.0))):
                numbers = array.numpy()
                numbers[rows] = value
                array.assign(numbers)

            def publish(actuator=actuator, rows=rows, model=model, data=data, motor=motor, before=before):
                own = np.zeros(data.qvel.shape)
                kind, identity, force = data.efc.type.numpy(), data.efc.id.numpy(), data.efc.force.numpy()
                for world, count in enumerate(data.nefc.numpy()):
                    for row in range(count):
                        if kind[world, row] == 1:  # friction of a dof
                            own[world, identity[world, row]] += force[world, row]
                load = (data.qfrc_constraint.numpy() - data.qfrc_bias.numpy() - own)[rows]
                near = (
                    np.exp(-(np.abs(data.qvel.numpy()[rows] / motor.dtheta_stribeck) ** motor.alpha))
                    if motor.model != "m1"
                    else 0.0
                )
                bound = (
                    motor.friction_base
                    + near * motor.friction_stribeck
                    + np.abs(motor.load_friction_external * load - motor.load_friction_motor * before[0])
                )
                bound += near * np.abs(
                    motor.load_friction_external_stribeck * load - motor.load_friction_motor_stribeck * before[0]
                )
                numbers = model.dof_frictionloss.numpy()
                numbers[rows] = bound
                model.dof_frictionloss.assign(numbers)
                before[0] = actuator._applied_forces.numpy().astype(float)

            NewtonManager.register_post_actuator_callback(publish)


class Scene:
    """One robot in some worlds, made and stepped in the order in which Isaac Lab does: assets, solver, then actuators before each step."""

    def __init__(self, mjcf, cfgs, worlds=2, step=0.002):
        NewtonManager._hooks = {}
        robot, scene = newton.ModelBuilder(), newton.ModelBuilder()
        newton.solvers.SolverMuJoCo.register_custom_attributes(robot)
        robot.add_mjcf(mjcf)
        scene.replicate(robot, worlds)
        self.model, self.step_size = scene.finalize(), step
        count = self.model.joint_dof_count // worlds
        names = [label.rpartition("/")[2] for label in self.model.joint_label]
        starts = self.model.joint_qd_start.numpy()
        actuators = []
        for cfg in cfgs.values():
            own = [int(starts[k]) for k, name in enumerate(names) if name in cfg.joint_names_expr]
            actuators.append(newton.actuators.Actuator(wp.array(own, dtype=wp.uint32), DriveBam(cfg)))
        NewtonManager.backend, NewtonManager._adapter = (
            types.SimpleNamespace(model=self.model),
            Adapter(actuators, count),
        )
        self.articulation = types.SimpleNamespace(num_joints=count)
        self.control = NewtonActuatorControl(self.articulation)
        self.control.prepare_native_actuators(None, cfgs)
        self.control.finalize_native_actuators(None)
        self.solver = NewtonManager._solver = newton.solvers.SolverMuJoCo(
            self.model, njmax=32, integrator="implicitfast"
        )
        NewtonManager.call("solver")
        self.now, self.then, self.input = self.model.state(), self.model.state(), self.model.control()

    def step(self, goals, steps=1):
        """Step with goals (joints) of every world; angles (worlds, joints) afterwards, rad."""
        worlds = self.model.world_count
        self.input.joint_target_q.assign(np.tile(goals, worlds).astype(np.float32))
        for _ in range(steps):
            NewtonManager.call("pre")
            self.input.joint_f.zero_()
            for actuator in NewtonManager._adapter.actuators:
                actuator.step(self.now, self.input, None, None, dt=self.step_size)
            NewtonManager.call("post")
            self.solver.step(self.now, self.then, self.input, None, self.step_size)
            self.now, self.then = self.then, self.now
        return self.now.joint_q.numpy().reshape(worlds, -1).astype(float)

    @property
    def speeds(self):
        return self.now.joint_qd.numpy().reshape(self.model.world_count, -1)


def _module(name, **content):
    module = types.ModuleType(name)
    vars(module).update(content)
    sys.modules[name] = module


_module("isaaclab")
_module("isaaclab.actuators", BamActuatorCfg=BamActuatorCfg, BamMotorCfg=BamMotorCfg)
_module("isaaclab.utils")
_module("isaaclab.utils.configclass", configclass=configclass)
for _name in ("isaaclab_newton", "isaaclab_newton.assets", "isaaclab_newton.assets.articulation"):
    _module(_name)
_module("isaaclab_newton.assets.articulation.actuator_control", NewtonActuatorControl=NewtonActuatorControl)
_module("isaaclab_newton.physics", NewtonManager=NewtonManager)
