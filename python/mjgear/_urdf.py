"""URDF with its transmissions, and gears by joint, as a model with gears."""

from __future__ import annotations

import dataclasses
import fnmatch
import importlib
import importlib.util
import json
import math
import os
import pathlib
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np

from mjgear import _files, _spec
from mjgear._catalogue import Known
from mjgear._errors import GearError

# elements without mechanics, which are ignored; all other unread elements are reported
_SILENT = {"robot", "link", "joint", "material", "transmission", "ros2_control", "mujoco"}
_OF_JOINT = {"safety_controller": "limits of a controller", "calibration": "reference positions"}


@dataclasses.dataclass(frozen=True, eq=False)
class Urdf:
    """Result of from_urdf().

    Attributes:
        spec: the model, not compiled, with motors on the joints that have a transmission or a command interface, and gears.
        reductions: joint -> motor turns for one of the joint, where the file says them.
        gears: joint -> preset or keys that it got.
        lost: parts of the file without a counterpart in the model, a line each.

    ``print(urdf)`` shows them.
    """

    spec: mujoco.MjSpec
    reductions: Mapping[str, float]
    gears: Mapping[str, str]
    lost: tuple[str, ...]

    def __str__(self) -> str:
        joints = [f"joint {name}: {gear}" for name, gear in self.gears.items()]
        bare = [
            f"joint {name}: no gear, reduction {ratio:g}"
            for name, ratio in self.reductions.items()
            if name not in self.gears
        ]
        return "\n".join([*joints, *bare, *(f"lost: {line}" for line in self.lost)])


def from_urdf(path: str | os.PathLike[str], gears: Mapping[str, Any] | str | os.PathLike[str] | None = None) -> Urdf:
    """Load a URDF, with its transmissions, which the engine leaves out, and with gears.

    The engine reads links, joints, limits, damping, friction and mimic. This reads ``<transmission>`` (mechanicalReduction at joint or actuator) and
    ``<ros2_control>``: a joint with one of them gets a motor at the joint's side, and its reduction becomes the gear's ratio. A reduction of 1,
    which makers write for any joint, leaves a preset's ratio as it is. Friction of
    ``<dynamics>`` becomes the gear's coulomb friction where ``gears`` says none, because it would count twice.

    Args:
        path: the URDF file, without xacro.
        gears: joint or pattern -> name of a preset, or keys as in add(), which may include "preset"; or a JSON or YAML file of these.

    Raises:
        GearError: a file cannot be read, a pattern fits no joint, or add() refuses a gear.
    """
    try:
        root = ElementTree.fromstring(pathlib.Path(path).read_text(encoding="utf-8"))
        if root.tag != "robot":
            raise GearError(
                f"{path}: the root is <{root.tag}>; a URDF begins with <robot>{', an SDF goes into a model with from_sdf' if root.tag == 'sdf' else ''}"
            )
        spec = mujoco.MjSpec.from_file(str(path))
    except GearError:
        raise
    except (OSError, ValueError, ElementTree.ParseError) as error:
        raise GearError(f"{path}: cannot be read: {error}") from error
    reductions, driven, lost = _transmissions(root)
    lost = [*lost, *_lost(root)]
    joints = {joint.name: joint for joint in spec.joints}
    for name in [name for name in driven if name not in joints]:
        lost.append(f"the motor of joint '{name}', which is fixed or missing")
    for name in driven:
        if name in joints:
            motor = spec.add_actuator(name=name, trntype=mujoco.mjtTrn.mjTRN_JOINT, target=name)
            motor.set_to_motor()
    got = give_gears(spec, gears, reductions, lost)
    return Urdf(spec, Known("joint", reductions), Known("joint", got), tuple(dict.fromkeys(lost)))


def give_gears(spec: mujoco.MjSpec, gears: Any, reductions: Mapping[str, float], lost: list[str]) -> dict[str, str]:
    """Give joints their gears, with friction and reductions of the file. Returns joint -> preset or keys; lines about lost parts are added."""
    joints = {joint.name: joint for joint in spec.joints}
    wanted = _gears(gears)
    got: dict[str, str] = {}
    for pattern, gear in wanted.items():
        names = [
            name
            for name in joints
            if fnmatch.fnmatchcase(name, pattern) and name not in got and joints[name].type in _spec.GEARABLE
        ]
        if not any(fnmatch.fnmatchcase(name, pattern) for name in joints):
            raise GearError(f"gears: no joint '{pattern}'; there are {', '.join(joints)}")
        for name in names:
            keys = dict(gear)
            preset = keys.pop("preset", None)
            friction = float(np.max(joints[name].frictionloss))
            if friction and "coulomb" not in keys:
                keys["coulomb"] = friction
            joints[name].frictionloss = np.zeros_like(joints[name].frictionloss).tolist()
            if reductions.get(name, 0) > 0 and "ratio" not in keys:
                if reductions[name] == 1 and preset is not None:  # files write 1 for an unknown reduction
                    lost.append(f"the reduction 1 of joint '{name}': the ratio of its preset stays")
                else:
                    keys["ratio"] = reductions[name]
            _spec.add(spec, name, preset, name=f"gear_{name}", **keys)
            got[name] = " ".join([*([preset] if preset else []), *(f"{key}={value}" for key, value in keys.items())])
    return got


def _gears(gears: Any) -> dict[str, dict[str, Any]]:
    """Pattern -> keys, with the preset among them."""
    if gears is None:
        return {}
    if not isinstance(gears, Mapping):
        path = pathlib.Path(gears)
        try:
            text = path.read_text(encoding="utf-8")
            if path.suffix in (".yaml", ".yml"):
                if importlib.util.find_spec("yaml") is None:
                    raise GearError(
                        f"{path}: YAML needs PyYAML, which is not installed: pip install pyyaml; or write the same as JSON"
                    )
                gears = importlib.import_module("yaml").safe_load(text)
            else:
                gears = json.loads(text)
        except GearError:
            raise
        except Exception as error:  # errors of the parsers; YAML's has its own
            raise GearError(f"{path}: cannot be read: {error}") from error
    if not isinstance(gears, Mapping) or not all(isinstance(one, (str, Mapping)) for one in gears.values()):
        raise GearError("gears: write joint: preset, or joint: {preset: .., key: value}")
    return {str(pattern): {"preset": gear} if isinstance(gear, str) else dict(gear) for pattern, gear in gears.items()}


def _transmissions(root: ElementTree.Element) -> tuple[dict[str, float], list[str], list[str]]:
    """Reductions by joint, joints with motors, and lines about lost parts."""
    reductions: dict[str, float] = {}
    driven: list[str] = []
    lost: list[str] = []
    for transmission in root.iter("transmission"):
        kind = (transmission.findtext("type") or transmission.get("type") or "").strip()
        name = transmission.get("name", "")
        joints = [one.get("name", "") for one in transmission.findall("joint")]
        if (kind and "SimpleTransmission" not in kind) or len(joints) > 1:
            lost.append(
                f"transmission '{name}' of type {kind or 'unknown'}, which couples {', '.join(joints)}; a tendon of the model can"
            )
            continue
        texts = [one.text for one in transmission.iter() if one.tag in ("mechanicalReduction", "mechanical_reduction")]
        for joint in joints:
            driven.append(joint)
            for text in texts:
                try:
                    ratio = float(text or "")
                except ValueError:
                    ratio = math.nan
                if not math.isfinite(ratio) or ratio == 0:
                    lost.append(f"reduction '{text}' of transmission '{name}', which is no number")
                else:
                    if ratio < 0:
                        lost.append(
                            f"the sign of the reduction {ratio:g} of joint '{joint}': motors here turn with their joints"
                        )
                    reductions[joint] = abs(ratio)
    for control in root.iter("ros2_control"):
        for one in control.findall("joint"):
            interfaces = [interface.get("name", "") for interface in one.findall("command_interface")]
            driven += [one.get("name", "")] if interfaces else []
            if interfaces and interfaces != ["effort"]:
                lost.append(
                    f"command interfaces {', '.join(interfaces)} of joint '{one.get('name')}': its motor takes torque"
                )
    return reductions, list(dict.fromkeys(driven)), lost


def _lost(root: ElementTree.Element) -> list[str]:
    """What nobody reads."""
    lines = [f"<{one.tag}>" for one in root if one.tag not in _SILENT]
    for joint in root.findall("joint"):
        name = joint.get("name", "")
        lines += [
            f"<{tag}> of joint '{name}': {what}" for tag, what in _OF_JOINT.items() if joint.find(tag) is not None
        ]
        limit = joint.find("limit")
        if limit is not None and float(limit.get("velocity", "0") or 0) > 0:
            lines.append("velocity limits of joints")
    return lines


def write(made: Urdf, output: str | None) -> Urdf:
    """Compile a model with its gears, and write it as MJCF.

    Raises:
        GearError: the model does not compile, or cannot be written.
    """
    try:
        made.spec.compile()
        if output is not None:
            _files.write(pathlib.Path(output), made.spec.to_xml())
    except OSError as error:
        raise GearError(f"{output}: cannot be written: {error.strerror or error}") from error
    except ValueError as error:
        raise error if isinstance(error, GearError) else GearError(f"{output or 'the model'}: {error}") from error
    return made
