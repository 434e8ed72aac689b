"""Gears for the robots of mjlab.

    cfg.scene.entities["robot"].spec_fn = ...       # in which mjgear.add gives the robot's joints their gears
    env = mjgear.warp.mjlab.ManagerBasedRlEnv(cfg, device)      # instead of mjlab.envs.ManagerBasedRlEnv
    env.sim.gears.friction                          # see mjgear.warp.Gears

All else of mjlab is unchanged. An entity's gears travel with it into the scene, and all gears of a scene are solved together.
"""

import sys

import mjlab.envs
import mjlab.sim
import mujoco
import warp as wp

from mjgear._errors import UnsupportedError

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

    def _init_with_variants(self, spec, variant_info):
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

    def __init__(self, *args, **kwargs) -> None:
        # mjlab's environment makes its simulation by the name of the class, so the name is replaced
        module = sys.modules[mjlab.envs.ManagerBasedRlEnv.__module__]
        theirs, module.Simulation = module.Simulation, Simulation
        try:
            super().__init__(*args, **kwargs)
        finally:
            module.Simulation = theirs
