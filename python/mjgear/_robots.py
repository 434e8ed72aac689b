"""Gears for robots that people have: a table of their actuators."""

from __future__ import annotations

import dataclasses
import fnmatch
import functools
import json
import pathlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import mujoco
import numpy as np

from mjgear import _catalogue, _spec, _tables
from mjgear._catalogue import Known, Setting
from mjgear._errors import GearError, GearTypeError, warn
from mjgear._names import renamed
from mjgear._spec import Added

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from mjgear._keys import GearKeys

_TABLE = pathlib.Path(__file__).with_name("_robots.json")
_KEYS = ("eta_forward", "eta_backward", "coulomb")  # each gear of the table has these keys


@dataclasses.dataclass(frozen=True)
class Actuator:
    """The gear of some joints or tendons of a known robot, at the output side.

    Attributes:
        joints: names or patterns (of fnmatch), without the prefix that a robot has in a scene.
        tendons: the same for motors that drive several joints: names of the tendons on which they act.
        gear: kind and ratio: "strain wave, 101:1".
        source: sources of the numbers; numbers behind "Assumed" were not measured.
        keys: eta_forward, eta_backward (1), coulomb (N m), and ratio (1) where it is known.
        armature: rotor inertia for models that have none, kg m2.
        how: key -> "measured", "catalogue" (the maker's, or of a data sheet) or "assumed".
        optional: variants of the robot lack these joints or tendons.
        share: of joints with motors, where coulomb is this fraction of the motor's largest torque if the model has it; None: coulomb is
            what keys say.
    """

    joints: tuple[str, ...]
    tendons: tuple[str, ...]
    gear: str
    source: str
    keys: Mapping[str, float]
    armature: float
    how: Mapping[str, str]
    optional: bool = False
    share: float | None = None


@dataclasses.dataclass(frozen=True)
class Robot:
    """A robot known to add_robot_gears().

    Attributes:
        name: "ur5e".
        title: maker and model.
        actuators: its gears; a joint or tendon has the first one that fits.
        without: patterns of joints whose motors have no gear that acts on them, and why.

    ``print(robot)`` shows them with their sources.
    """

    name: str
    title: str
    actuators: tuple[Actuator, ...]
    without: Mapping[str, str]

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.title}"]
        for one in self.actuators:
            numbers = ", ".join(
                f"{key} {_tables.number(value)} ({one.how[key]})"
                for key, value in {**one.keys, "armature": one.armature}.items()
            )
            lines += [f"  {_patterns(one)}", f"    {one.gear}: {numbers}", f"    {one.source}"]
        return "\n".join(lines)


@dataclasses.dataclass(frozen=True)
class RobotGears(Added):
    """Result of add_robot_gears().

    Attributes:
        robot: its name.
        numbers: gear -> key -> value.
        how: gear -> key -> its source: "measured", "catalogue" or "assumed" as the table says, "file", or "given" in the call.
        left: joints and tendons with motors that got no gear, and why: "joint 'torso'" -> reason.

    ``print(..)`` shows the numbers with their sources, and the joints left out.
    """

    robot: str
    numbers: Mapping[str, Mapping[str, Any]]
    how: Mapping[str, Mapping[str, str]]
    left: Mapping[str, str]

    def intervals(self) -> dict[str, dict[str, tuple[float, float]]]:
        """Intervals of the assumed numbers of each gear for randomize(): losses by half, coulomb by a factor of two."""
        return {
            gear: {key: _interval(key, float(self.numbers[gear][key])) for key in _KEYS if how[key] == "assumed"}
            for gear, how in self.how.items()
            if "assumed" in (how[key] for key in _KEYS)
        }

    def __str__(self) -> str:
        keys = list(dict.fromkeys(key for numbers in self.numbers.values() for key in numbers))
        rows = []
        for gear, numbers in self.numbers.items():
            cells = [
                f"{_tables.number(numbers[key])} {self.how[gear].get(key, '')}" if key in numbers else "-"
                for key in keys
            ]
            rows.append((gear, *cells))
        lines = [
            f"gears of {self.robot}, instance '{self.instance}'",
            _tables.headed(("joint", *keys), ("",) * (len(keys) + 1), rows),
        ]
        return "\n".join([*lines, *(f"left without a gear: {one}: {why}" for one, why in self.left.items())])


def _interval(key: str, value: float) -> tuple[float, float]:
    """Interval of an assumed number."""
    if key == "coulomb":
        return value / 2, value * 2
    return value - (1 - value) / 2, value + (1 - value) / 2


def _patterns(actuator: Actuator) -> str:
    """Driven joints, in a line."""
    kinds = {"joint": actuator.joints, "tendon": actuator.tendons}
    return ", ".join(
        f"{'tendons ' if kind == 'tendon' else ''}{' '.join(names)}" for kind, names in kinds.items() if names
    )


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
                keys=Known("key", {key: group[key] for key in (*_KEYS, "ratio") if key in group}),
                armature=group["armature"],
                how=Known("key", group["how"]),
                optional=group.get("optional", False),
                share=group.get("share"),
            )
            for group in robot["groups"]
        )
        found[name] = Robot(name, robot["title"], actuators, Known("joint", robot.get("without", {})))
    return found


def robots() -> Mapping[str, Robot]:
    """The robots that add_robot_gears() knows, by name."""
    return Known("robot", _table())


def add_robot_gears(
    spec: mujoco.MjSpec,
    robot: str,
    *,
    prefix: str = "",
    name: str | None = None,
    sensors: bool = False,
    armature: Setting = "keep",
    friction: Literal["table", "file"] = "table",
    strict: bool = False,
    **values: Unpack[GearKeys],
) -> RobotGears:
    """Give a known robot its gears.

    Numbers are from the table of robots(), each with a source. Most are assumed: draw them with ``randomize`` and ``intervals()``,
    or find them with ``identify``. Where a motor drives several joints by a tendon, as in the fingers of some hands, the tendon
    gets the gear. A joint's frictionloss stands for the friction of its gear and would count twice: it is set to 0.

    Args:
        spec: a model with the robot, the Menagerie's or another with the same joint names; not compiled.
        robot: a name of robots(): "so101", "go1", "g1", "ur5e", "panda" and others; or a class, whose numbers are all assumed: "arm",
            "quadruped", "humanoid", "hand".
        prefix: that the names of its joints and tendons have in this model, "left/" for instance.
        name: of the plugin instance; without it the prefix and the robot's name.
        sensors: add a sensor for each joint, as add() does.
        armature: the rotor's inertia. "keep": a joint that has armature keeps it, others get the table's. "preset": all
            get the table's. A number: this inertia, kg m2.
        friction: "table": coulomb is the table's. "file": the file's frictionloss, where there is any.
        strict: raise if a joint with a motor gets no gear, or a joint of the table is missing.
        values: keys of add() for all joints and tendons, in place of the table's: coulomb=0, static_ratio=1.3.

    Returns:
        Result of add(), the source of each number, and the joints with motors that got no gear.

    Raises:
        GearError: an unknown robot, a robot of which no joint is in the model, a refusal of add(), or with strict a joint that is left out.

    Warns:
        GearWarning: joints or tendons of the table that this model lacks; joints and tendons of the robot on which motors act and
            that get no gear; frictionloss of the file and the table's coulomb that differ by more than a factor of two.
    """
    known = _table()
    if robot not in known:
        raise GearError(_catalogue.unknown(str(robot), "robot", list(known)))
    if not isinstance(spec, mujoco.MjSpec):
        raise GearTypeError(
            f"add_robot_gears needs an MjSpec, not {_spec.kind_of(spec)}, then add_robot_gears, then compile"
        )
    if friction not in ("table", "file"):
        raise GearError(f"friction = {friction!r} is unknown; write 'table' or 'file'")
    found, lacking = _match(spec, known[robot], prefix)
    if not found:
        have = ", ".join(one.name for one in spec.joints if one.name) or "none"
        fits = " or ".join(f"prefix={one!r}" for one in _prefixes(spec, known[robot]))
        raise GearError(
            f"no joint of {robot}{f' with the prefix {prefix!r}' if prefix else ''} in the model; it looks for {', '.join(lacking)}, and there are {have}"
            f"{f'; give {fits}' if fits else ''}"
        )
    left = _left(spec, [one for one, _ in found], known[robot], prefix)
    told = [f"{robot}: the model has no joint {names}, so that these get no gear" for names in lacking]
    missed = [one for one, why in left.items() if why == _UNKNOWN]
    if missed:
        told.append(
            f"{robot}: motors act on {', '.join(missed)}, of whose gears the table knows nothing, so that they get none; "
            f"mjgear.add(spec, {missed[0].replace(' ', 's=')}, name=.., ..) gives one"
        )
    if strict and told:
        raise GearError("\n".join(told))

    # each joint gets its own numbers; a joint without inertia gets the table's
    keys = [*_KEYS, *(["ratio"] if all("ratio" in actuator.keys for _, actuator in found) else [])]
    numbers: dict[str, Any] = {key: [actuator.keys[key] for _, actuator in found] for key in keys}
    loss = [float(np.max(one.frictionloss)) for one, _ in found]
    of_file = [friction == "file" and own > 0 for own in loss]
    numbers["coulomb"] = [
        own if use else of_table for own, of_table, use in zip(loss, numbers["coulomb"], of_file, strict=True)
    ]
    differ = [
        f"{one.name} {own:.3g} and {actuator.keys['coulomb']:.3g} ({actuator.how['coulomb']})"
        for (one, actuator), own in zip(found, loss, strict=True)
        if own > 0 and not 0.5 <= own / actuator.keys["coulomb"] <= 2
    ]
    if differ and "coulomb" not in values:
        more = f" and {len(differ) - 3} more" if len(differ) > 3 else ""
        told.append(
            f"{robot}: frictionloss of the file and coulomb of the table differ by more than a factor of two: {', '.join(differ[:3])}{more}; "
            f"the {friction} counts, friction='{'file' if friction == 'table' else 'table'}' takes the other"
        )
    own_rotors = (
        [armature == "keep" and _spec.own_inertia(spec, one) > 0 for one, _ in found]
        if isinstance(armature, str)
        else []
    )
    if isinstance(armature, str) and armature in ("keep", "preset"):
        armature = [
            0.0 if _spec.wraps(one) else float(one.armature) if keep else actuator.armature
            for keep, (one, actuator) in zip(own_rotors, found, strict=True)
        ]
        ropes = [one.name for one, _ in found if _spec.wraps(one)]
        if ropes:
            told.append(
                f"{robot}: {', '.join(ropes)} wrap around geoms, where the engine has no armature of tendons; their gears have no rotor inertia"
            )
    before = [np.copy(one.frictionloss).tolist() for one, _ in found]  # a number or, with some releases, several
    for one, _ in found:
        one.frictionloss = np.zeros_like(one.frictionloss).tolist()
    try:
        added = _spec.add(
            spec,
            [one.name for one, _ in found if not hasattr(one, "path")],
            tendons=[one.name for one, _ in found if hasattr(one, "path")],
            name=name or f"{prefix}{robot}",
            sensors=sensors,
            armature=armature,
            **{**numbers, **values},
        )
    except GearError:
        for (one, _), own in zip(found, before, strict=True):
            one.frictionloss = own
        raise
    how, shown = {}, {}
    for i, (one, actuator) in enumerate(found):
        replaced = {"coulomb": "file"} if of_file[i] else {}
        replaced |= {"armature": "given"} if not own_rotors else {"armature": "file"} if own_rotors[i] else {}
        how[one.name] = Known(
            "key",
            {
                key: word
                for key, word in {**actuator.how, **replaced, **dict.fromkeys(values, "given")}.items()
                if key in (*keys, *values, "armature")
            },
        )
        rotor = float(added.kept[one.name][0])
        shown[one.name] = Known(
            "key",
            {
                **{key: numbers[key][i] for key in keys},
                **{key: value for key, value in values.items()},
                "armature": rotor,
            },
        )
    for line in told:
        warn(line)
    return RobotGears(
        **{field.name: getattr(added, field.name) for field in dataclasses.fields(Added)},
        robot=robot,
        numbers=Known("gear", shown),
        how=Known("gear", how),
        left=Known("joint", left),
    )


def _prefixes(spec: mujoco.MjSpec, robot: Robot) -> list[str]:
    """Prefixes with which the model has the most joints of a robot."""
    ends = {str(one.name)[: k + 1] for one in spec.joints for k, letter in enumerate(str(one.name)) if letter in "/_-."}
    count = {one: len(_match(spec, robot, one)[0]) for one in sorted(ends)}
    return [one for one, found in count.items() if found > 1 and found == max(count.values())]


def _match(spec: mujoco.MjSpec, robot: Robot, prefix: str) -> tuple[list[tuple[Any, Actuator]], list[str]]:
    """Joints and then tendons of the model with their gears, and the patterns of the table that fit none."""
    of_joints = [one for one in spec.joints if one.type in _spec.GEARABLE and one.name.startswith(prefix)]
    of_tendons = [one for one in spec.tendons if one.name and one.name.startswith(prefix)]
    found: dict[tuple[str, str], Actuator] = {}
    lacking = []
    for actuator in robot.actuators:
        meant = [one for one in of_joints if actuator.share is None or _motors(spec, one)]
        fitting = [("joint", one.name) for one in meant if _fits(one, actuator.joints, prefix)]
        fitting += [("tendon", one.name) for one in of_tendons if _fits(one, actuator.tendons, prefix)]
        if not fitting and not actuator.optional:
            lacking.append(_patterns(actuator))
        for place in fitting:
            found.setdefault(place, actuator)
    every = [("joint", one) for one in of_joints] + [("tendon", one) for one in of_tendons]
    return [
        (one, _scaled(spec, one, found[kind, one.name])) for kind, one in every if (kind, one.name) in found
    ], lacking


def _motors(spec: mujoco.MjSpec, one: Any) -> list[Any]:
    """Actuators on a joint or tendon."""
    joint = (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT)
    kinds = (mujoco.mjtTrn.mjTRN_TENDON,) if hasattr(one, "path") else joint
    return [motor for motor in spec.actuators if motor.trntype in kinds and motor.target == one.name]


def _scaled(spec: mujoco.MjSpec, one: Any, actuator: Actuator) -> Actuator:
    """Gear of a class of robots, with the constant friction of a motor of this size."""
    if actuator.share is None:
        return actuator
    torques = [float(np.max(np.abs(motor.forcerange)) * abs(motor.gear[0])) for motor in _motors(spec, one)]
    limit = max(torques, default=0.0) or float(np.max(np.abs(getattr(one, "actfrcrange", 0.0))))
    return (
        dataclasses.replace(actuator, keys=Known("key", {**actuator.keys, "coulomb": actuator.share * limit}))
        if limit
        else actuator
    )


def _left(spec: mujoco.MjSpec, geared: list[Any], robot: Robot, prefix: str) -> dict[str, str]:
    """Joints and tendons of the same robot on which actuators act and that get no gear, and why: "joint 'x'" -> reason."""
    home = next(iter(_spec.shared_bodies(geared)), None)
    names = {(hasattr(one, "path"), one.name) for one in geared}
    left = {}
    for one in [*spec.joints, *spec.tendons]:
        tendon = hasattr(one, "path")
        same = home in _spec.shared_bodies([one]) if home is not None else one.name.startswith(prefix)
        if _motors(spec, one) and same and one.name.startswith(prefix) and (tendon, one.name) not in names:
            why = next((why for pattern, why in robot.without.items() if _fits(one, (pattern,), prefix)), _UNKNOWN)
            left[f"{'tendon' if tendon else 'joint'} '{one.name}'"] = why
    return left


_UNKNOWN = "the table knows nothing of its gear"


def _fits(one: Any, patterns: tuple[str, ...], prefix: str) -> bool:
    return any(fnmatch.fnmatchcase(one.name[len(prefix) :], pattern) for pattern in patterns)


dress = renamed("dress", add_robot_gears)
