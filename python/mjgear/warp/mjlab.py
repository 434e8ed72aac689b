"""Gears for the robots of mjlab.

    cfg.scene.entities["robot"].spec_fn = ...       # in which mjgear.add gives the robot's joints their gears
    env = mjgear.warp.mjlab.ManagerBasedRlEnv(cfg, device)      # instead of mjlab.envs.ManagerBasedRlEnv
    env.sim.gears.friction                          # see mjgear.warp.Gears

    articulation.actuators = (GearedDcMotorActuatorCfg(target_names_expr=("slider",), preset="harmonic_drive", ..),)   # or so, without spec_fn

All else of mjlab is unchanged. An entity's gears travel with it into the scene, and all gears of a scene are solved together.
"""

import dataclasses
import sys
from typing import Any

import mjlab.actuator
import mjlab.actuator.actuator
import mjlab.envs
import mjlab.sim
import mujoco
import warp as wp

from mjgear._errors import GearError, UnsupportedError
from mjgear._spec import add

from .gears import Gears, put_model


class Simulation(mjlab.sim.Simulation):
    """mjlab's simulation, of a model with gears.

    Attributes:
        gears: gears of all worlds. A row of friction loss is added for each of them: SimulationCfg.njmax needs room for it.

    Raises:
        UnsupportedError: the entities have variants, or the model needs a feature that mjgear.warp lacks.
    """

    gears: Gears | None = None

    def _init_with_model(self, model: mujoco.MjModel) -> None:
        self._mj_model, self._mj_data = model, mujoco.MjData(model)
        mujoco.mj_forward(self._mj_model, self._mj_data)
        with wp.ScopedDevice(self.wp_device):
            self._wp_model = put_model(model)
            self.cfg.apply_wp_opt(self._wp_model.opt)
            self._finish_init()

    def _init_with_variants(self, spec: Any, variant_info: Any) -> None:
        raise UnsupportedError("mjgear.warp.mjlab: entities with variants are not supported; give each its own scene")

    def create_graph(self) -> None:
        # mjlab calls this when model and data are on the device, and before it captures a step
        if self.gears is None:
            with wp.ScopedDevice(self.wp_device):
                self.gears = Gears(self.wp_model, self.wp_data)
        super().create_graph()


class ManagerBasedRlEnv(mjlab.envs.ManagerBasedRlEnv):
    """mjlab's environment, of a scene with gears."""

    sim: Simulation

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # mjlab's environment makes its simulation by the name of the class, so the name is replaced
        module: Any = sys.modules[mjlab.envs.ManagerBasedRlEnv.__module__]
        theirs, module.Simulation = module.Simulation, Simulation
        try:
            super().__init__(*args, **kwargs)
        finally:
            module.Simulation = theirs


@dataclasses.dataclass(kw_only=True)
class GearedDcMotorActuatorCfg(mjlab.actuator.BuiltinDcMotorActuatorCfg):
    """mjlab's DC motor with a gear between it and its joint, in an environment of this module.

    Attributes:
        preset: of mjgear.presets().
        gear_keys: keys of mjgear.add, by which those of the preset are replaced. ``gear`` is mjlab's ratio.
    """

    preset: str | None = None
    gear_keys: dict[str, Any] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.transmission_type != mjlab.actuator.actuator.TransmissionType.JOINT:
            raise UnsupportedError("mjgear.warp.mjlab: a geared motor moves joints; set transmission_type to JOINT")
        if self.preset is None and not self.gear_keys:
            raise GearError("mjgear.warp.mjlab: give the geared motor a preset or gear_keys")
        if self.frictionloss or self.lugre is not None:
            raise GearError(
                "mjgear.warp.mjlab: frictionloss and lugre are friction beside that of the gear; give it the key 'coulomb'"
            )

    def build(self, entity: Any, target_ids: list[int], target_names: list[str]) -> "GearedDcMotorActuator":
        return GearedDcMotorActuator(self, entity, target_ids, target_names)


class GearedDcMotorActuator(mjlab.actuator.BuiltinDcMotorActuator):
    """Result of GearedDcMotorActuatorCfg: a <dcmotor> and a gear for each joint."""

    cfg: GearedDcMotorActuatorCfg

    def edit_spec(self, spec: mujoco.MjSpec, target_names: list[str]) -> None:
        super().edit_spec(spec, target_names)
        add(spec, target_names, self.cfg.preset, **self.cfg.gear_keys)
