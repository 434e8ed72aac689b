"""Mechanics of an SDF's joints, of which the engine knows no file, in a model with joints of the same names."""

from __future__ import annotations

import math
import os
import pathlib
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np

from mjgear._catalogue import Known
from mjgear._errors import GearError
from mjgear._urdf import Urdf, give_gears

_AXES = ("revolute", "continuous", "prismatic", "screw")  # joints with one axis


def from_sdf(
    path: str | os.PathLike[str],
    model: mujoco.MjSpec | str | os.PathLike[str],
    gears: Mapping[str, Any] | str | os.PathLike[str] | None = None,
) -> Urdf:
    """Put the joints' mechanics of an SDF into a model, and give it gears.

    The model, MJCF or URDF, has the SDF's joints by their names; the engine does not read SDF. Damping, friction and springs of ``<dynamics>`` become the
    joint's, and with a gear friction becomes its coulomb friction. A ``gearbox`` joint becomes an equality of the two joints that it couples. A ``screw``
    is a slide, whose thread pitch is the gear's ratio.

    Args:
        path: the SDF file.
        model: a spec, which is changed, or a file.
        gears: as from_urdf().

    Raises:
        GearError: a file cannot be read, a number is none, a pattern fits no joint, or add() refuses a gear.
    """
    try:
        root = ElementTree.fromstring(pathlib.Path(path).read_text(encoding="utf-8"))
        spec = model if isinstance(model, mujoco.MjSpec) else mujoco.MjSpec.from_file(str(model))
    except (OSError, ValueError, ElementTree.ParseError) as error:
        raise GearError(f"{path} into {model}: cannot be read: {error}") from error
    if root.tag != "sdf":
        raise GearError(f"{path}: the root is <{root.tag}>; an SDF begins with <sdf>")
    joints = {joint.name: joint for joint in spec.joints}
    told = list(root.iter("joint"))
    reductions: dict[str, float] = {}
    lost: list[str] = []
    for one in told:
        name, kind = one.get("name", ""), one.get("type", "")
        if kind == "gearbox":
            lost += _gearbox(spec, one, told, joints)
        elif kind in _AXES and name not in joints:
            lost.append(f"joint '{name}', which the model does not have")
        elif kind in _AXES:
            _dynamics(one, joints[name])
            if kind == "screw":
                lost += _screw(one, joints[name], reductions)
        elif kind != "fixed":
            lost.append(f"joint '{name}' of type {kind}")
    lost += [
        f"<{tag}> of joints"
        for tag in ("physics", "axis2")
        if any(one.find(tag) is not None for one in told if one.get("type") != "gearbox")
    ]
    got = give_gears(spec, gears, reductions, lost)
    return Urdf(spec, Known("joint", reductions), Known("joint", got), tuple(dict.fromkeys(lost)))


def _number(joint: ElementTree.Element, place: str) -> float | None:
    """A number of a joint's element, None if it is not there."""
    text = joint.findtext(place)
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise GearError(f"joint '{joint.get('name')}': {place} is '{text.strip()}', which is no number")
    return value


def _dynamics(told: ElementTree.Element, joint: Any) -> None:
    for place, member in (("damping", "damping"), ("friction", "frictionloss"), ("spring_stiffness", "stiffness")):
        value = _number(told, f"axis/dynamics/{place}")
        if value is not None:
            numbers = np.zeros(np.size(getattr(joint, member)))
            numbers[0] = value
            setattr(joint, member, numbers.tolist() if numbers.size > 1 else value)
    reference = _number(told, "axis/dynamics/spring_reference")
    if reference is not None:
        joint.springref = reference


def _screw(told: ElementTree.Element, joint: Any, reductions: dict[str, float]) -> list[str]:
    name, pitch, old = joint.name, _number(told, "screw_thread_pitch"), _number(told, "thread_pitch")
    turns = 2 * math.pi / pitch if pitch else -old if old else None  # rad/m; the old one counts left-handed threads
    if turns is None:
        return [f"screw '{name}' without a thread pitch"]
    if joint.type != mujoco.mjtJoint.mjJNT_SLIDE:
        return [f"the thread of screw '{name}', whose joint in the model is no slide"]
    reductions[name] = abs(turns)
    return [
        f"the turning of screw '{name}': its joint only slides",
        *([f"the left-handed thread of screw '{name}'"] if turns < 0 else []),
    ]


def _gearbox(
    spec: mujoco.MjSpec, told: ElementTree.Element, joints: list[ElementTree.Element], known: Mapping[str, Any]
) -> list[str]:
    """Couple the joints from the reference body to parent and child: theta_2 = -ratio theta_1."""
    name, body = told.get("name", ""), told.findtext("gearbox_reference_body", "")
    sides = []
    for link, axis in ((told.findtext("parent", ""), "axis"), (told.findtext("child", ""), "axis2")):
        found = [
            one
            for one in joints
            if {one.findtext("parent"), one.findtext("child")} == {body, link}
            and one.get("name") in known
            and one is not told
        ]
        if not found:
            return [
                f"gearbox '{name}': the model has no joint between {body or 'its missing reference body'} and {link}"
            ]
        sign = 1.0 if found[0].findtext("parent") == body else -1.0
        own, asked = (
            np.array([float(x) for x in (one.findtext(f"{place}/xyz") or "0 0 1").split()])
            for one, place in ((found[0], "axis"), (told, axis))
        )
        sides.append((found[0].get("name", ""), sign * (-1.0 if own @ asked < 0 else 1.0)))
    (first, sign1), (second, sign2) = sides
    ratio = _number(told, "gearbox_ratio")
    equality = spec.add_equality(
        name=name, type=mujoco.mjtEq.mjEQ_JOINT, objtype=mujoco.mjtObj.mjOBJ_JOINT, name1=second, name2=first
    )
    equality.data[:5] = [0, -(1.0 if ratio is None else ratio) * sign1 * sign2, 0, 0, 0]
    return []
