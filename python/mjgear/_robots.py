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
from mjgear._catalogue import Setting
from mjgear._errors import GearError, GearTypeError, GearWarning
from mjgear._spec import Added

_TABLE = pathlib.Path(__file__).with_name("_robots.json")
_KEYS = ("eta_forward", "eta_backward", "coulomb")  # which all gears of the table have


@dataclasses.dataclass(frozen=True)
class Actuator:
    """The gear of some joints or tendons of a known robot, at the output side.

    Attributes:
        joints: names or patterns (of fnmatch), without the prefix that a robot has in a scene.
        tendons: the same for motors that drive several joints: names of the tendons on which they act.
        gear: what it is: "strain wave, 101:1".
        source: where the numbers are from; what stands behind "Assumed" is nobody's measurement.
        keys: eta_forward, eta_backward (1), coulomb (N m), and ratio (1) where it is known.
        armature: rotor inertia for models that have none, kg m2.
        optional: variants of the robot lack these joints or tendons.
    """

    joints: tuple[str, ...]
    tendons: tuple[str, ...]
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
        actuators: its gears; a joint or tendon has the first one that fits.

    ``print(robot)`` shows them with their sources.
    """

    name: str
    title: str
    actuators: tuple[Actuator, ...]

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.title}"]
        for one in self.actuators:
            numbers = ", ".join(f"{key} {_tables.number(value)}" for key, value in {**one.keys, "armature": one.armature}.items())
            lines += [f"  {_patterns(one)}", f"    {one.gear}: {numbers}", f"    {one.source}"]
        return "\n".join(lines)


def _patterns(actuator: Actuator) -> str:
    """What it drives, in a line."""
    kinds = {"joint": actuator.joints, "tendon": actuator.tendons}
    return ", ".join(f"{'tendons ' if kind == 'tendon' else ''}{' '.join(names)}" for kind, names in kinds.items() if names)


@functools.cache
def _table() -> dict[str, Robot]:
    found = {}
    for name, robot in json.loads(_TABLE.read_text(encoding="utf-8")).items():
        actuators = tuple(
            Actuator(
                joints=tuple(group.get("joints", ())),
                tendons=tuple(group.get("tendons", ())),
                gear=group["gear"],
                source=group["source"],
                keys=_catalogue.Known("key", {key: group[key] for key in (*_KEYS, "ratio") if key in group}),
                armature=group["armature"],
                optional=group.get("optional", False),
            )
            for group in robot["groups"]
        )
        found[name] = Robot(name, robot["title"], actuators)
    return found


def robots() -> Mapping[str, Robot]:
    """The robots that dress() knows, by name."""
    return _catalogue.Known("robot", _table())


def dress(
    spec: mujoco.MjSpec, robot: str, *, prefix: str = "", name: str | None = None, sensors: bool = False, armature: Setting = "keep", **values: Setting
) -> Added:
    """Give a known robot its gears.

    Numbers are from the table of robots(), with a source each; most are assumed, and better than none. ``identify``
    finds those of your robot. A joint's frictionloss, which stands for the friction of its gear, becomes the gear's
    coulomb in place of the table's: besides a gear it would count twice. Where a motor drives several joints by a
    tendon, as in the fingers of some hands, the tendon gets the gear.

    Args:
        spec: a model with the robot, the Menagerie's or another with the same joint names; not compiled.
        robot: a name of robots(): "so101", "go1", "g1", "ur5e", "panda" and others.
        prefix: that the names of its joints and tendons have in this model, "left/" for instance.
        name: of the plugin instance; without it the prefix and the robot's name.
        sensors: add a sensor for each joint, as add() does.
        armature: the rotor's inertia. "keep": a joint that has armature keeps it, others get the table's. "preset": all
            get the table's. A number: that, kg m2.
        values: keys of add() for all joints and tendons, in place of the table's: coulomb=0, static_ratio=1.3.

    Returns:
        What add() wrote.

    Raises:
        GearError: an unknown robot, one of which no joint is in the model, or what add() refuses.

    Warns:
        GearWarning: joints or tendons of the table that this model lacks; tendons of the robot on which motors act and
            of whose gear the table knows nothing.
    """
    known = _table()
    if robot not in known:
        raise GearError(_catalogue.unknown(str(robot), "robot", list(known)))
    if not isinstance(spec, mujoco.MjSpec):
        raise GearTypeError(f"dress needs an MjSpec, not {_spec.kind_of(spec)}, then dress, then compile")
    of_joints = [one for one in spec.joints if one.type in _spec.GEARABLE and one.name.startswith(prefix)]
    of_tendons = [one for one in spec.tendons if one.name and one.name.startswith(prefix)]
    found: dict[tuple[str, str], tuple[Any, Actuator]] = {}
    lacking = []
    for actuator in known[robot].actuators:
        fitting = [("joint", one) for one in of_joints if _fits(one, actuator.joints, prefix)]
        fitting += [("tendon", one) for one in of_tendons if _fits(one, actuator.tendons, prefix)]
        if not fitting and not actuator.optional:
            lacking.append(_patterns(actuator))
        for kind, one in fitting:
            found.setdefault((kind, one.name), (one, actuator))
    if not found:
        have = ", ".join(one.name for one in spec.joints if one.name) or "none"
        raise GearError(f"no joint of {robot}{f' with the prefix {prefix!r}' if prefix else ''} in the model; it looks for {', '.join(lacking)}, and there are {have}")
    for names in lacking:
        warnings.warn(f"{robot}: the model has no joint {names}, so that these get no gear", GearWarning, stacklevel=2)

    # each its own numbers, the inertia of those that have none from the table
    geared = [("joint", one) for one in of_joints] + [("tendon", one) for one in of_tendons]
    ordered = [found[kind, one.name] for kind, one in geared if (kind, one.name) in found]
    of_tendons = [one for one, _ in ordered if hasattr(one, "path")]
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
        added = _spec.add(
            spec,
            [one.name for one, _ in ordered if not hasattr(one, "path")],
            tendons=[one.name for one in of_tendons],
            name=name or f"{prefix}{robot}",
            sensors=sensors,
            armature=armature,
            **{**numbers, **values},
        )
    except GearError:
        for (one, _), loss in zip(ordered, before, strict=True):
            one.frictionloss = loss
        raise
    for tendon in _driven(spec, [one for one, _ in ordered]):
        warnings.warn(
            f"{robot}: a motor acts on tendon '{tendon}', of whose gear the table knows nothing, so that it gets none; "
            f"mjgear.add(spec, tendons='{tendon}', name='{tendon}', ..) gives it one",
            GearWarning,
            stacklevel=2,
        )
    return added


def _fits(one: Any, patterns: tuple[str, ...], prefix: str) -> bool:
    return any(fnmatch.fnmatchcase(one.name[len(prefix) :], pattern) for pattern in patterns)


def _driven(spec: mujoco.MjSpec, geared: list[Any]) -> list[str]:
    """Tendons of the same robot on which actuators act and that are not geared."""
    motors = {one.target for one in spec.actuators if one.trntype == mujoco.mjtTrn.mjTRN_TENDON}
    own = {one.name for one in geared if hasattr(one, "path")}
    home = next(iter(_spec.shared_bodies(geared)), None)
    return [one.name for one in spec.tendons if one.name in motors - own and home in _spec.shared_bodies([one])]
