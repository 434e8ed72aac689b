"""Gears taken off joints and tendons of a model that is being built."""

from __future__ import annotations

import dataclasses
import fnmatch
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import mujoco

from mjgear import _catalogue
from mjgear._errors import GearError, GearTypeError
from mjgear._library import NAME

_WHOLE = ("solver", "tolerance", "iterations", "maxiter", "motor")  # keys whose values are not per joint


def remove(
    spec: mujoco.MjSpec, joints: str | Sequence[str] = (), *, tendons: str | Sequence[str] = ()
) -> tuple[str, ...]:
    """Take the gears off joints and tendons, with their sensors; armature, damping and brakes stay.

    Args:
        spec: the model, not compiled. A refused call leaves the spec unchanged.
        joints: names of geared joints or patterns (of fnmatch). The joints need not exist any more: this mends a model
            after a joint was deleted.
        tendons: the same for tendons.

    Returns:
        Names of the joints and tendons that lost their gears.

    Raises:
        GearError: none that has a gear fits a name.
    """
    if not isinstance(spec, mujoco.MjSpec):
        raise GearTypeError(f"remove needs an MjSpec, not {type(spec).__name__}")
    wanted = {
        kind: [given] if isinstance(given, str) else given for kind, given in (("joint", joints), ("tendon", tendons))
    }
    instances = geared(spec)
    for kind, patterns in wanted.items():
        if not isinstance(patterns, Iterable) or not all(isinstance(pattern, str) for pattern in patterns):
            raise GearTypeError(f"{kind}s are {patterns!r}; give a name, or a list of names")
        have = [name for instance in instances for name in instance.names[kind]]
        for pattern in patterns:
            if not any(fnmatch.fnmatchcase(name, pattern) for name in have):
                raise GearError(
                    f"no geared {kind} '{pattern}' in the model; geared {kind}s are {', '.join(have) or 'none'}"
                )
    removed: list[str] = []
    left = {instance.name: instance.config for instance in instances}
    for instance in instances:
        gone = {
            kind: [one for one in names if any(fnmatch.fnmatchcase(one, pattern) for pattern in wanted[kind])]
            for kind, names in instance.names.items()
        }
        if not any(gone.values()):
            continue
        removed += [one for names in gone.values() for one in names]
        left[instance.name] = without(instance, gone)
        _delete_sensors(spec, instance.name, gone if left[instance.name] else None)
        if not left[instance.name]:
            _delete_references(spec, instance.name)
    _rewrite(spec, left)
    for one in (*spec.joints, *spec.tendons):
        if one.name in removed:
            one.info = _unmarked(one)
    return tuple(removed)


@dataclasses.dataclass(frozen=True)
class Instance:
    """A plugin instance that is gears.

    Attributes:
        name: its name; for an instance inside a body, the body's name, a colon and the body's number.
        config: its keys.
        names: "joint" and "tendon" -> names in the model of its keys, with the prefix and suffix of attach.
    """

    name: str
    config: dict[str, str]
    names: dict[str, list[str]]


def geared(spec: mujoco.MjSpec) -> list[Instance]:
    """All instances that are gears."""
    homes: dict[str, list[str]] = {}
    for body in spec.bodies:
        if body.plugin.active and body.plugin.plugin_name == NAME:
            homes.setdefault(str(body.plugin.name), []).append(str(body.name))
    found = [
        (str(plugin.name), dict(plugin.config), homes.get(str(plugin.name), []))
        for plugin in spec.plugins
        if plugin.plugin_name == NAME and plugin.name
    ]
    found += [
        (f"{body.name}:{i}", dict(body.plugin.config), [str(body.name)])
        for i, body in enumerate(spec.bodies)
        if _is_inside(body)
    ]
    elements = {"joint": [str(one.name) for one in spec.joints], "tendon": [str(one.name) for one in spec.tendons]}
    return [
        Instance(
            name,
            config,
            {
                kind: [_in_model(word, names, [name, *places]) for word in words(config.get(kind, ""))]
                for kind, names in elements.items()
            },
        )
        for name, config, places in found
    ]


def _in_model(word: str, names: Sequence[str], around: Sequence[str]) -> str:
    """Name in the model of a word of an instance: with a prefix and suffix of the instance or its body."""
    if word in names:
        return word
    best, longest = word, 0
    for name in names:
        for at in range(len(name) - len(word) + 1):
            prefix, suffix = name[:at], name[at + len(word) :]
            fits = name[at : at + len(word)] == word and any(
                one.startswith(prefix) and one.endswith(suffix) for one in around
            )
            if fits and len(prefix) + len(suffix) > longest:
                best, longest = name, len(prefix) + len(suffix)
    return best


def _is_inside(body: Any) -> bool:
    return bool(body.plugin.active and body.plugin.plugin_name == NAME and not body.plugin.name)


def words(text: str) -> list[str]:
    """Words of a value; names with spaces are in quotes."""
    return [quoted or word for quoted, word in re.findall(r"'([^']*)'|(\S+)", text)]


def quote(names: Iterable[str]) -> str:
    """Names as MJCF has them."""
    return " ".join(f"'{name}'" if " " in name else name for name in names)


def without(instance: Instance, gone: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The keys of an instance without some joints and tendons; empty if none is left."""
    every = [(kind, name) for kind in ("joint", "tendon") for name in instance.names[kind]]
    kept = [i for i, (kind, name) in enumerate(every) if name not in gone.get(kind, ())]
    if not kept:
        return {}
    rest: dict[str, str] = {}
    for key, value in instance.config.items():
        series = words(value)
        if key in ("joint", "tendon"):
            series = [
                word for word, name in zip(series, instance.names[key], strict=True) if name not in gone.get(key, ())
            ]
            rest |= {key: quote(series)} if series else {}
            continue
        each = len(series) == len(every) > 1 and key not in _WHOLE and key not in _catalogue.tables()
        rest[key] = quote(series[i] for i in kept) if each else value
    return rest


def mark(joint: Any, instance: str) -> None:
    """Note in an element that it has a gear; attach takes the note along with the element, and the instance with its body alone."""
    joint.info = f"{_unmarked(joint)}{_MARK}'{instance}'"


def _unmarked(joint: Any) -> str:
    return str(joint.info).partition(_MARK)[0]


_MARK = "; gear of instance "
HOME = "refers to gears"  # of a body that add() made for that


def lost(spec: mujoco.MjSpec, have: Iterable[str]) -> list[str]:
    """A line for each joint and tendon that lost its gear from add() when it was attached without its instance; have: joints and tendons with gears."""
    lines = []
    have = set(have)
    for one in (*spec.joints, *spec.tendons):
        _, marked, instance = str(one.info).partition(_MARK)
        if marked and one.name not in have:
            lines.append(
                f"{NAME}: {'tendon' if hasattr(one, 'path') else 'joint'} '{one.name}' had a gear of instance {instance}, which was left behind where its "
                f"part was attached; attach the body that refers to the instance, or give the part its gears by add(.., home='own')"
            )
    return lines


def unnamed(spec: mujoco.MjSpec) -> list[str]:
    """A line where the engine's writer loses gears."""
    elements = (*spec.bodies, *spec.geoms, *spec.actuators, *spec.sensors)
    kinds = sorted({str(one.plugin.plugin_name) for one in elements if one.plugin.active and not one.plugin.name})
    if not kinds or not any(plugin.name and plugin.plugin_name == NAME for plugin in spec.plugins):
        return []
    return [
        f"{NAME}: the model has instances of {', '.join(kinds)} without a name, with which the engine's to_xml loses all named ones, the gears "
        'among them; write <instance name=".."> in <extension> for each'
    ]


def _delete_sensors(spec: mujoco.MjSpec, instance: str, gone: Mapping[str, list[str]] | None) -> None:
    """Delete sensors of an instance: of some joints and tendons, or all."""
    kinds = {mujoco.mjtObj.mjOBJ_JOINT: "joint", mujoco.mjtObj.mjOBJ_TENDON: "tendon"}
    for sensor in list(spec.sensors):
        ours = sensor.type == mujoco.mjtSensor.mjSENS_PLUGIN and sensor.plugin.name == instance
        if ours and (gone is None or sensor.objname in gone.get(kinds.get(sensor.objtype, ""), [])):
            sensor.plugin.name, sensor.plugin.plugin_name, sensor.plugin.active = (
                "",
                "",
                False,
            )  # else the engine would delete the instance with it
            spec.delete(sensor)


def _delete_references(spec: mujoco.MjSpec, instance: str) -> None:
    """Take references to an instance out of the bodies, and keys inside of them."""
    for i, body in enumerate(list(spec.bodies)):
        if (_is_inside(body) and f"{body.name}:{i}" == instance) or (
            body.plugin.active and body.plugin.name == instance
        ):
            body.plugin.name, body.plugin.plugin_name, body.plugin.active = "", "", False
            if body.info == HOME:
                spec.delete(body)


def _rewrite(spec: mujoco.MjSpec, left: Mapping[str, dict[str, str]]) -> None:
    """Write the keys of instances, and delete instances without keys. The engine deletes instances without references with any element."""
    for name, config in left.items():
        there = next((plugin for plugin in spec.plugins if plugin.name == name and plugin.plugin_name == NAME), None)
        inside = next(
            (body.plugin for i, body in enumerate(spec.bodies) if _is_inside(body) and f"{body.name}:{i}" == name), None
        )
        if inside is not None:
            inside.config = config
        elif there is not None and not config:
            spec.delete(there)
        elif there is not None:
            there.config = config
    for name, config in left.items():
        if config and not _is_of_body(spec, name) and not any(plugin.name == name for plugin in spec.plugins):
            spec.add_plugin(name=name, plugin_name=NAME, active=True).config = config


def _is_of_body(spec: mujoco.MjSpec, name: str) -> bool:
    return any(_is_inside(body) and f"{body.name}:{i}" == name for i, body in enumerate(spec.bodies))
