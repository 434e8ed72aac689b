"""Gears for robots that people have: a table of their actuators."""

from __future__ import annotations

import dataclasses
import fnmatch
import functools
import json
import pathlib
import warnings
from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np

from mjgear import _catalogue, _spec, _tables
from mjgear._errors import GearError, GearWarning
from mjgear._spec import Added, Setting

_TABLE = pathlib.Path(__file__).with_name("_robots.json")
_KEYS = ("eta_forward", "eta_backward", "coulomb")  # which all gears of the table have


@dataclasses.dataclass(frozen=True)
class Actuator:
    """The gear of some joints of a known robot, at the output side.

    Attributes:
        joints: names or patterns (of fnmatch), without the prefix that a robot has in a scene.
        gear: what it is: "strain wave, 101:1".
        source: where the numbers are from; what stands behind "Assumed" is nobody's measurement.
        keys: eta_forward, eta_backward (1), coulomb (N m), and ratio (1) where it is known.
        armature: rotor inertia for models that have none, kg m2.
        optional: variants of the robot lack these joints.
    """

    joints: tuple[str, ...]
    gear: str
    source: str
    keys: Mapping[str, float]
    armature: float
    optional: bool = False


@dataclasses.dataclass(frozen=True)
class Robot:
    """What dress() knows of a robot.

    Attributes:
        name: "ur5e".
        title: maker and model.
        actuators: its gears; a joint has the first one that fits.

    ``print(robot)`` shows them with their sources.
    """

    name: str
    title: str
    actuators: tuple[Actuator, ...]

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.title}"]
        for one in self.actuators:
            numbers = ", ".join(f"{key} {_tables.number(value)}" for key, value in {**one.keys, "armature": one.armature}.items())
            lines += [f"  {' '.join(one.joints)}", f"    {one.gear}: {numbers}", f"    {one.source}"]
        return "\n".join(lines)


@functools.cache
def _table() -> dict[str, Robot]:
    found = {}
    for name, robot in json.loads(_TABLE.read_text(encoding="utf-8")).items():
        actuators = tuple(
            Actuator(
                joints=tuple(group["joints"]),
                gear=group["gear"],
                source=group["source"],
                keys={key: group[key] for key in (*_KEYS, "ratio") if key in group},
                armature=group["armature"],
                optional=group.get("optional", False),
            )
            for group in robot["groups"]
        )
        found[name] = Robot(name, robot["title"], actuators)
    return found


def robots() -> dict[str, Robot]:
    """The robots that dress() knows, by name."""
    return dict(_table())


def dress(
    spec: mujoco.MjSpec, robot: str, *, prefix: str = "", name: str | None = None, sensors: bool = False, armature: Setting = "keep", **values: Setting
) -> Added:
    """Give a known robot its gears.

    Numbers are from the table of robots(), with a source each; most are assumed, and better than none. ``identify``
    finds those of your robot. A joint's frictionloss, which stands for the friction of its gear, becomes the gear's
    coulomb in place of the table's: besides a gear it would count twice.

    Args:
        spec: a model with the robot, the Menagerie's or another with the same joint names; not compiled.
        robot: a name of robots(): "so101", "go1", "g1", "ur5e", "panda" and others.
        prefix: that the names of its joints have in this model, "left/" for instance.
        name: of the plugin instance; without it the prefix and the robot's name.
        sensors: add a sensor for each joint, as add() does.
        armature: the rotor's inertia. "keep": a joint that has armature keeps it, others get the table's. "preset": all
            get the table's. A number: that, kg m2.
        values: keys of add() for all joints, in place of the table's: coulomb=0, static_ratio=1.3.

    Returns:
        What add() wrote.

    Raises:
        GearError: an unknown robot, one of which no joint is in the model, or what add() refuses.

    Warns:
        GearWarning: joints of the table that this model lacks.
    """
    known = _table()
    if robot not in known:
        raise GearError(_catalogue.unknown(str(robot), "robot", list(known)))
    if not isinstance(spec, mujoco.MjSpec):
        raise GearError(f"dress needs an MjSpec, not {type(spec).__name__}; mujoco.MjSpec.from_file(..), dress, compile")
    joints = [one for one in spec.joints if one.type in _spec.GEARABLE and one.name.startswith(prefix)]
    found: dict[str, tuple[Any, Actuator]] = {}
    lacking = []
    for actuator in known[robot].actuators:
        fitting = [one for one in joints if any(fnmatch.fnmatchcase(one.name[len(prefix) :], pattern) for pattern in actuator.joints)]
        if not fitting and not actuator.optional:
            lacking.append(" ".join(actuator.joints))
        for one in fitting:
            found.setdefault(one.name, (one, actuator))
    if not found:
        have = ", ".join(one.name for one in spec.joints if one.name) or "none"
        raise GearError(f"no joint of {robot}{f' with the prefix {prefix!r}' if prefix else ''} in the model; it looks for {', '.join(lacking)}, and there are {have}")
    for names in lacking:
        warnings.warn(f"{robot}: the model has no joint {names}, which have no gear", GearWarning, stacklevel=2)

    # each its own numbers, the inertia of those that have none from the table
    ordered = [found[one.name] for one in joints if one.name in found]
    keys = [*_KEYS, *(["ratio"] if all("ratio" in actuator.keys for _, actuator in ordered) else [])]
    numbers: dict[str, Any] = {key: [actuator.keys[key] for _, actuator in ordered] for key in keys}
    numbers["coulomb"] = [float(np.max(one.frictionloss)) or coulomb for (one, _), coulomb in zip(ordered, numbers["coulomb"], strict=True)]
    if isinstance(armature, str) and armature in ("keep", "preset"):
        keeps = [armature == "keep" and _spec.own_inertia(spec, one) > 0 for one, _ in ordered]
        armature = [float(one.armature) if keep else actuator.armature for keep, (one, actuator) in zip(keeps, ordered, strict=True)]
    before = [np.copy(one.frictionloss).tolist() for one, _ in ordered]  # a number or, with some releases, several
    for one, _ in ordered:
        one.frictionloss = np.zeros_like(one.frictionloss).tolist()
    try:
        return _spec.add(
            spec,
            [one.name for one, _ in ordered],
            name=name or f"{prefix}{robot}",
            sensors=sensors,
            armature=armature,
            **{**numbers, **values},
        )
    except GearError:
        for (one, _), loss in zip(ordered, before, strict=True):
            one.frictionloss = loss
        raise
