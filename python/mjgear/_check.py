"""All problems of a model, or what its gears will do."""

import dataclasses
import json
import os
import subprocess
from collections.abc import Mapping

import mujoco

from mjgear import _programs
from mjgear._catalogue import Facts
from mjgear._errors import GearError
from mjgear._gears import Gears


@dataclasses.dataclass(frozen=True)
class Report:
    """What check() found.

    Attributes:
        problems: the library's own lines, one a problem; empty if there is none.
        joints: what the gear of each joint does; empty if there are problems.
    """

    problems: tuple[str, ...]
    joints: Mapping[str, Facts]


def check(model: "str | os.PathLike[str] | mujoco.MjSpec | mujoco.MjModel") -> Report:
    """Look for everything that is wrong with the gears of a model, and say what they will do.

    Args:
        model: an MJCF file, of which all problems are told at once; an MjSpec, of which the engine tells the first; or
            a compiled MjModel, which has none. A model without gears is no problem.

    Returns:
        Problems, or facts of each geared joint in the first pose: the keyframe "start", else the first one, else qpos0.
    """
    if isinstance(model, (str, os.PathLike)):
        problems = _problems_of_file(os.fspath(model))
        if problems:
            return Report(problems, {})
        model = mujoco.MjModel.from_xml_path(os.fspath(model))
    elif isinstance(model, mujoco.MjSpec):
        try:
            model = model.compile()
        except ValueError as error:
            return Report(GearError(str(error)).problems, {})
    data = mujoco.MjData(model)
    if model.nkey:
        start = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_KEY, "start")
        mujoco.mj_resetDataKeyframe(model, data, max(start, 0))
    mujoco.mj_forward(model, data)
    try:
        gears = Gears(model, data)
    except GearError:
        return Report((), {})
    return Report((), {name: gear.explain() for name, gear in gears.items()})


def _problems_of_file(file: str) -> tuple[str, ...]:
    program, environment = _programs.find("mjgear")
    done = subprocess.run([program, "check", "--json", file], env=environment, capture_output=True, text=True, check=False)
    try:
        return tuple(json.loads(done.stdout)["problems"])
    except (ValueError, KeyError):
        raise RuntimeError(f"{program} check: {done.stderr.strip() or done.returncode}") from None
