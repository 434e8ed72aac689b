"""Gears in MuJoCo Warp: thousands of geared robots on a GPU.

    model = mjgear.warp.put_model(mjm)           # instead of mujoco_warp.put_model
    data = mjgear.warp.make_data(mjm, nworld=4096)
    gears = mjgear.warp.Gears(model, data)
    mujoco_warp.step(model, data)                # gears included, also in a captured graph

Friction is solved together with contacts and all other constraints of MuJoCo Warp: every geared joint has a row
of friction loss, whose bound and whose reference follow the gear's law between the constraint solves of a step.
"""

from mjgear import _extras

_extras.require("mujoco_warp", "mjgear.warp", "warp")

from . import engine  # noqa: E402

engine.check()

from .gears import Gears, make_data, put_data, put_model  # noqa: E402

__all__ = ["Gears", "make_data", "put_data", "put_model"]
