"""Gears in MuJoCo Warp: thousands of geared robots on a GPU.

    model = mjgear.warp.put_model(mjm)           # instead of mujoco_warp.put_model
    data = mjgear.warp.make_data(mjm, nworld=4096)
    gears = mjgear.warp.Gears(model, data)
    mujoco_warp.step(model, data)                # gears included, also in a captured graph

Models of other programs on the device, Newton's SolverMuJoCo for instance, get gears by attach().

Friction is solved together with contacts and all other constraints of MuJoCo Warp. Every geared joint has a row
of friction loss; its bound and reference follow the gear's law between constraint solves.
"""

from mjgear import _extras

_extras.require("mujoco_warp", "mjgear.warp", "warp")

from . import engine

engine.check()

from .gears import Gears, attach, make_data, put_data, put_model, reset_data

__all__ = ["Gears", "attach", "make_data", "put_data", "put_model", "reset_data"]
