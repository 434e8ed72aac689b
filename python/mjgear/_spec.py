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
        config: keys and values of the instance.
        armature: rotor inertia that each joint got, kg m2; not those that keep their own.
        damping: viscous friction that each joint got, N m/(rad/s); not those that keep their own.
        home: name of the body that refers to the instance, so that it travels with attach; None: there is none.
        sensors: names of the sensors.
    """

    instance: str
    joints: tuple[str, ...]
    config: Mapping[str, str]
    armature: Mapping[str, float]
    damping: Mapping[str, float]
    home: str | None
    sensors: tuple[str, ...]


def add(
    spec: mujoco.MjSpec,
    joints: str | Sequence[str],
    preset: str | None = None,
    *,
    name: str = "gears",
    sensors: bool = False,
    **values: Setting,
) -> Added:
    """Give joints of a model gears.

    Args:
        spec: the model.
        joints: names of hinge and slide joints, or patterns such as "*_knee" (of fnmatch).
        preset: a gear of presets(), with whose keys the description begins.
        name: of the plugin instance.
        sensors: add a sensor for each joint, named JOINT_gear; over a Batch results are read from these.
        values: keys of doc/mjcf.md, SI at the output side: one value for all joints, or a sequence with one
            for each. Keys that begin with "motor_" need ratio. Rotor inertia (of the preset, armature, or
            motor_inertia with ratio) becomes the joint's armature, or the rotor's inertia where there is backlash;
            viscous friction becomes the joint's damping.

    Returns:
        What was set.

    Raises:
        GearError: a pattern that fits no joint, or the library's lines about the gear. What the engine checks itself
            (a joint with two gears, backlash) is refused by spec.compile().
    """
    found = _find(spec, [joints] if isinstance(joints, str) else joints)
    words, numbers = _sort(values, len(found))
    described = [_catalogue.describe(preset, {key: series[i] for key, series in numbers.items()}) for i in range(len(found))]
    gears = [_catalogue.make_gear(description) for description in described]

    # the instance: what MJCF has no attributes of the joint for
    config = {"joint": " ".join(f"'{joint.name}'" if " " in joint.name else joint.name for joint in found), **words}
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
        joints=tuple(joint.name for joint in found),
        config=config,
        armature=armature,
        damping=damping,
        home=_settle(name, found),
        sensors=tuple(_add_sensor(spec, name, joint.name) for joint in found) if sensors else (),
    )


def _find(spec: mujoco.MjSpec, patterns: Sequence[str]) -> list[Any]:
    """The joints that names and patterns mean, each once."""
    found: list[Any] = []
    for pattern in patterns:
        fitting = [joint for joint in spec.joints if fnmatch.fnmatchcase(joint.name, pattern)]
        if not fitting:
            names = ", ".join(joint.name for joint in spec.joints) or "none"
            raise GearError(f"no joint '{pattern}' in the model; its joints are {names}")
        found += [joint for joint in fitting if joint.name not in {one.name for one in found}]
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


def _ancestors(joint: Any) -> list[Any]:
    """The bodies that carry a joint, its own first, without the world."""
    bodies = []
    body = joint.parent
    while body is not None and body.name != "world":
        bodies.append(body)
        body = body.parent
    return bodies


def _settle(instance: str, joints: Sequence[Any]) -> str | None:
    """Let the nearest body that carries all joints refer to the instance, so that it goes where the body goes."""
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


def _add_sensor(spec: mujoco.MjSpec, instance: str, joint: str) -> str:
    sensor = spec.add_sensor(
        name=f"{joint}_gear", type=mujoco.mjtSensor.mjSENS_PLUGIN, objtype=mujoco.mjtObj.mjOBJ_JOINT, objname=joint
    )
    sensor.plugin.name = instance
    sensor.plugin.plugin_name = NAME
    sensor.plugin.active = True
    return str(sensor.name)
