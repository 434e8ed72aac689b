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
import importlib.util
from typing import TYPE_CHECKING, Any

import mujoco  # first: from 4.0 on it registers the plugin through this package

from mjgear import _library

if TYPE_CHECKING:
    from mjgear import gymnasium as gymnasium, identify as identify, warp as warp
    from mjgear._bam import Bam as Bam, from_bam as from_bam, to_bam as to_bam
    from mjgear._brakes import add_brake as add_brake
    from mjgear._catalogue import (
        Facts as Facts,
        Key as Key,
        Preset as Preset,
        convert as convert,
        explain as explain,
        keys as keys,
        presets as presets,
    )
    from mjgear._check import Report as Report, check as check
    from mjgear._distributions import Distribution as Distribution
    from mjgear._errors import (
        Error as Error,
        GearError as GearError,
        GearKeyError as GearKeyError,
        GearTypeError as GearTypeError,
        GearWarning as GearWarning,
        LogError as LogError,
        UnsupportedError as UnsupportedError,
    )
    from mjgear._figures import Log as Log, draw as draw, plot as plot
    from mjgear._gears import Address as Address, Counts as Counts, Gear as Gear, Gears as Gears
    from mjgear._hold import Hold as Hold, JointHold as JointHold, hold as hold
    from mjgear._inverse import Torques as Torques, feedforward as feedforward, inverse as inverse
    from mjgear._linearize import Linearization as Linearization, linearize as linearize
    from mjgear._losses import Losses as Losses, fit_losses as fit_losses, losses as losses
    from mjgear._models import models as models
    from mjgear._randomize import Draws as Draws, randomize as randomize, reset as reset
    from mjgear._remove import remove as remove
    from mjgear._robots import (
        Actuator as Actuator,
        Robot as Robot,
        RobotGears as RobotGears,
        add_robot_gears as add_robot_gears,
        dress as dress,
        robots as robots,
    )
    from mjgear._sdf import from_sdf as from_sdf
    from mjgear._spec import Added as Added, add as add
    from mjgear._urdf import Urdf as Urdf, from_urdf as from_urdf
    from mjgear._words import (
        MOTIONS as MOTIONS,
        RESULTS as RESULTS,
        STATES as STATES,
        Mode as Mode,
        Motion as Motion,
        State as State,
        Status as Status,
    )

_library.register()
__version__ = _library.version()

# module -> public names that are imported on first use: importing mujoco has to stay cheap
_HOMES = {
    "_bam": ("Bam", "from_bam", "to_bam"),
    "_brakes": ("add_brake",),
    "_catalogue": ("Facts", "Key", "Preset", "convert", "explain", "keys", "presets"),
    "_check": ("Report", "check"),
    "_distributions": ("Distribution",),
    "_errors": ("Error", "GearError", "GearKeyError", "GearTypeError", "GearWarning", "LogError", "UnsupportedError"),
    "_figures": ("Log", "draw", "plot"),
    "_gears": ("Address", "Counts", "Gear", "Gears"),
    "_hold": ("Hold", "JointHold", "hold"),
    "_inverse": ("Torques", "feedforward", "inverse"),
    "_linearize": ("Linearization", "linearize"),
    "_losses": ("Losses", "fit_losses", "losses"),
    "_models": ("models",),
    "_randomize": ("Draws", "randomize", "reset"),
    "_remove": ("remove",),
    "_robots": ("Actuator", "Robot", "RobotGears", "add_robot_gears", "dress", "robots"),
    "_sdf": ("from_sdf",),
    "_spec": ("Added", "add"),
    "_urdf": ("Urdf", "from_urdf"),
    "_words": ("MOTIONS", "RESULTS", "STATES", "Mode", "Motion", "State", "Status"),
}
_SUBPACKAGES = {
    "gymnasium": "gymnasium",
    "identify": "scipy",
    "warp": "mujoco_warp",
}  # submodules that are imported on first use

__all__ = sorted(name for names in _HOMES.values() for name in names)


if not TYPE_CHECKING:  # a type checker knows the names above, and no others

    def __getattr__(name: str) -> Any:
        for home, names in _HOMES.items():
            if name in names:
                value = globals()[name] = getattr(
                    importlib.import_module(f"mjgear.{home}"), name
                )  # found there the next time
                return value
        if name in _SUBPACKAGES:
            return importlib.import_module(f"mjgear.{name}")
        raise AttributeError(f"module 'mjgear' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [
        *__all__,
        *(name for name, needed in _SUBPACKAGES.items() if importlib.util.find_spec(needed)),
        "__version__",
    ]
