"""Gears for a model that is being built."""

import dataclasses
import fnmatch
from collections.abc import Mapping, Sequence
from typing import Any

import mujoco
import numpy as np

from mjgear import _catalogue
from mjgear._errors import GearError
from mjgear._library import NAME

Setting = float | str | Sequence[float]  # one for all joints, or one for each


@dataclasses.dataclass(frozen=True)
class Added:
    """What add() wrote into the MjSpec.

    Attributes:
        instance: name of the plugin instance.
        joints: names of the geared joints, in the order of the instance.
        tendons: names of the geared tendons, behind them.
        config: keys and values of the instance.
        armature: rotor inertia that each joint and tendon got, kg m2; not those that keep their own.
        damping: viscous friction that each joint and tendon got, N m/(rad/s); not those that keep their own.
        home: name of the body that refers to the instance, so that it travels with attach; None: there is none.
        sensors: names of the sensors.
    """

    instance: str
    joints: tuple[str, ...]
    tendons: tuple[str, ...]
    config: Mapping[str, str]
    armature: Mapping[str, float]
    damping: Mapping[str, float]
    home: str | None
    sensors: tuple[str, ...]


def add(
    spec: mujoco.MjSpec,
    joints: str | Sequence[str] = (),
    preset: str | None = None,
    *,
    tendons: str | Sequence[str] = (),
    name: str = "gears",
    sensors: bool = False,
    **values: Setting,
) -> Added:
    """Give joints and tendons of a model gears.

    Args:
        spec: the model.
        joints: names of hinge and slide joints, or patterns such as "*_knee" (of fnmatch).
        tendons: names of tendons whose actuators have a gear, or patterns: differentials, fingers with one motor, ropes.
        preset: a gear of presets(), with whose keys the description begins.
        name: of the plugin instance.
        sensors: add a sensor for each joint and tendon, named NAME_gear; over a Batch results are read from these.
        values: keys of doc/mjcf.md, SI at the output side: one value for all, or a sequence with one for each joint
            and then each tendon. Keys that begin with "motor_" need ratio. Rotor inertia (of the preset, armature, or
            motor_inertia with ratio) becomes the armature of joint or tendon, or the rotor's inertia where there is
            backlash; viscous friction becomes their damping.

    Returns:
        What was set.

    Raises:
        GearError: a pattern that fits no joint, or the library's lines about the gear. What the engine checks itself
            (a joint with two gears, backlash) is refused by spec.compile().
    """
    geared_joints = _find(spec.joints, "joint", [joints] if isinstance(joints, str) else joints)
    geared_tendons = _find(spec.tendons, "tendon", [tendons] if isinstance(tendons, str) else tendons)
    found = geared_joints + geared_tendons
    if not found:
        raise GearError("neither joints nor tendons; name those that have this gear")
    words, numbers = _sort(values, len(found))
    described = [_catalogue.describe(preset, {key: series[i] for key, series in numbers.items()}) for i in range(len(found))]
    gears = [_catalogue.make_gear(description) for description in described]

    # the instance: what MJCF has no attributes of the joint for
    lists = {"joint": geared_joints, "tendon": geared_tendons}
    config = {key: " ".join(f"'{one.name}'" if " " in one.name else one.name for one in some) for key, some in lists.items() if some}
    config |= words
    written = [_catalogue.written(description) for description in described]
    for key in written[0]:
        if key == "type":
            config[key] = str(written[0][key])
        elif not _catalogue.keys()[key].of_joint:
            config[key] = _text([one[key] for one in written])
    config |= {key: _text(series) for key, series in numbers.items() if key not in _catalogue.keys() and key != "type"}

    # the rotor, in front of a gap or in the joint
    own_rotor = words.get("backlash", "none") != "none" and words.get("motor_joint", "none") == "none"
    armature: dict[str, float] = {}
    damping: dict[str, float] = {}
    if own_rotor and "rotor_inertia" not in config and all(gear.armature > 0 for gear in gears):
        config["rotor_inertia"] = _text([gear.armature for gear in gears])
    for joint, gear in zip(found, gears, strict=True):
        if own_rotor:
            joint.armature = armature[joint.name] = 0
        elif gear.armature > 0:
            joint.armature = armature[joint.name] = gear.armature
        if gear.viscous > 0:
            damping[joint.name] = gear.viscous
            joint.damping = np.concatenate([[gear.viscous], np.zeros(np.size(joint.damping) - 1)])

    spec.activate_plugin(NAME)
    plugin = spec.add_plugin(name=name, plugin_name=NAME, active=True)
    plugin.config = config
    return Added(
        instance=name,
        joints=tuple(joint.name for joint in geared_joints),
        tendons=tuple(tendon.name for tendon in geared_tendons),
        config=config,
        armature=armature,
        damping=damping,
        home=_settle(name, found),
        sensors=tuple(_add_sensor(spec, name, kind, one.name) for kind, some in lists.items() for one in some) if sensors else (),
    )


def _find(objects: Sequence[Any], kind: str, patterns: Sequence[str]) -> list[Any]:
    """The joints or tendons that names and patterns mean, each once."""
    found: list[Any] = []
    for pattern in patterns:
        fitting = [one for one in objects if fnmatch.fnmatchcase(one.name, pattern)]
        if not fitting:
            names = ", ".join(one.name for one in objects) or "none"
            raise GearError(f"no {kind} '{pattern}' in the model; its {kind}s are {names}")
        found += [one for one in fitting if one.name not in {other.name for other in found}]
    return found


def _sort(values: Mapping[str, Setting], count: int) -> tuple[dict[str, str], dict[str, list[Any]]]:
    """Words of the whole instance, and numbers of each joint."""
    words: dict[str, str] = {}
    numbers: dict[str, list[Any]] = {}
    for key, value in values.items():
        if isinstance(value, str) and key != "type":
            words[key] = value
        elif isinstance(value, str) or np.ndim(value) == 0:
            numbers[key] = [value] * count
        elif np.shape(value) == (count,):
            numbers[key] = list(np.asarray(value))
        else:
            raise GearError(f"{key} has {np.shape(value)} values for {count} joints; give one, or one for each joint")
    described = _catalogue.keys()
    for key in [key for key in numbers if key not in described and key != "type"]:
        # a number of the gap or of the solver, which the engine checks
        words[key] = _text(numbers.pop(key))
    return words, numbers


def _text(series: Sequence[Any]) -> str:
    """Numbers as MJCF has them: one if all are the same."""
    texts = [repr(float(value)) for value in series]
    return texts[0] if len(set(texts)) == 1 else " ".join(texts)


def _ancestors(item: Any) -> list[Any]:
    """The bodies that carry a joint, or all that a tendon connects, the nearest first, without the world."""
    if hasattr(item, "path"):
        targets = [wrap.target for wrap in item.path if wrap.target is not None]
        shared = _ancestors(targets[0]) if targets else []
        for target in targets[1:]:
            ids = {body.id for body in _ancestors(target)}
            shared = [body for body in shared if body.id in ids]
        return shared
    bodies = []
    body = item.parent
    while body is not None and body.name != "world":
        bodies.append(body)
        body = body.parent
    return bodies


def _settle(instance: str, joints: Sequence[Any]) -> str | None:
    """Let the nearest body that carries all of them refer to the instance, so that it goes where the body goes."""
    shared = _ancestors(joints[0])
    for joint in joints[1:]:
        ids = {body.id for body in _ancestors(joint)}
        shared = [body for body in shared if body.id in ids]
    for body in shared:
        if not body.plugin.active:
            body.plugin.name = instance
            body.plugin.plugin_name = NAME
            body.plugin.active = True
            return str(body.name)
    return None


def _add_sensor(spec: mujoco.MjSpec, instance: str, kind: str, name: str) -> str:
    objtype = mujoco.mjtObj.mjOBJ_JOINT if kind == "joint" else mujoco.mjtObj.mjOBJ_TENDON
    sensor = spec.add_sensor(name=f"{name}_gear", type=mujoco.mjtSensor.mjSENS_PLUGIN, objtype=objtype, objname=name)
    sensor.plugin.name = instance
    sensor.plugin.plugin_name = NAME
    sensor.plugin.active = True
    return str(sensor.name)
