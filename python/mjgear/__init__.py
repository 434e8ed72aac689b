"""Gear transmissions for MuJoCo: friction that depends on load and direction, non-backdrivability, backlash.

Importing this package registers the plugin ``mjgear.transmission`` with MuJoCo; from MuJoCo 4.0 on ``import mujoco``
alone does::

    spec = mujoco.MjSpec.from_file("robot.xml")
    mjgear.add(spec, ["shoulder", "elbow"], "harmonic_drive")
    model = spec.compile()
    data = mujoco.MjData(model)
    gears = mjgear.Gears(model, data)
    mujoco.mj_step(model, data)
    gears["elbow"].friction
    gears["elbow"].eta_forward = 0.7

Units are SI at the output side of the gear; for a slide read m, N and kg.
"""

import importlib
from typing import TYPE_CHECKING, Any

import mujoco  # first: from 4.0 on it registers the plugin through this package

from mjgear import _library

if TYPE_CHECKING:
    from mjgear._brakes import add_brake
    from mjgear._catalogue import Facts, Key, Preset, convert, explain, keys, presets
    from mjgear._check import Report, check
    from mjgear._errors import GearError, GearWarning
    from mjgear._figures import Log, draw, plot
    from mjgear._gears import RESULTS, STATES, Address, Gear, Gears
    from mjgear._inverse import MOTIONS, Torques, feedforward, inverse
    from mjgear._linearize import Linearization, linearize
    from mjgear._losses import Losses, losses
    from mjgear._models import models
    from mjgear._randomize import Draws, randomize
    from mjgear._robots import Actuator, Robot, dress, robots
    from mjgear._spec import Added, add

__all__ = [
    "Actuator",
    "Added",
    "Address",
    "Draws",
    "Facts",
    "Gear",
    "GearError",
    "GearWarning",
    "Gears",
    "Key",
    "Linearization",
    "Log",
    "Losses",
    "MOTIONS",
    "Preset",
    "RESULTS",
    "STATES",
    "Report",
    "Robot",
    "Torques",
    "add",
    "add_brake",
    "check",
    "convert",
    "draw",
    "dress",
    "explain",
    "feedforward",
    "inverse",
    "keys",
    "linearize",
    "losses",
    "models",
    "plot",
    "presets",
    "randomize",
    "robots",
]

_library.register()
__version__ = _library.version()

# the rest is read when it is used: importing mujoco must not cost what it does not need
_HOMES = {
    "_brakes": ("add_brake",),
    "_catalogue": ("Facts", "Key", "Preset", "convert", "explain", "keys", "presets"),
    "_check": ("Report", "check"),
    "_errors": ("GearError", "GearWarning"),
    "_figures": ("Log", "draw", "plot"),
    "_gears": ("RESULTS", "STATES", "Address", "Gear", "Gears"),
    "_inverse": ("MOTIONS", "Torques", "feedforward", "inverse"),
    "_linearize": ("Linearization", "linearize"),
    "_losses": ("Losses", "losses"),
    "_models": ("models",),
    "_randomize": ("Draws", "randomize"),
    "_robots": ("Actuator", "Robot", "dress", "robots"),
    "_spec": ("Added", "add"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"mjgear.{home}"), name)
    raise AttributeError(f"module 'mjgear' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
