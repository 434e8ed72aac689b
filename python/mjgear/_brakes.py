"""Holding brakes for a model that is being built."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import mujoco
import numpy as np

from mjgear import _catalogue, _check, _structs
from mjgear._errors import GearError, GearTypeError, warn
from mjgear._library import BRAKE, CHECKED_BRAKE
from mjgear._spec import find, kind_of

Torque = float | str

GROUP = 5  # group of actuators for brakes alone: disabling the motors' groups leaves brakes powered
_KINDS = {"joint": mujoco.mjtTrn.mjTRN_JOINT, "tendon": mujoco.mjtTrn.mjTRN_TENDON}


def add_brake(
    spec: mujoco.MjSpec,
    joints: str | Sequence[str] = (),
    holding_torque: Torque | None = None,
    *,
    tendons: str | Sequence[str] = (),
    sliding_torque: Torque | None = None,
    side: str = "motor",
    normally: str = "closed",
    closing_time: float = 0,
    opening_time: float = 0,
    group: int = GROUP,
) -> tuple[str, ...]:
    """Add holding brakes to joints and tendons: actuators whose control, from 0 to 1, works against a spring.

    Without power a brake is closed: its control 1 opens it, and 0, a disabled actuator, the flag ``actuation`` and a reset leave it
    closed. It begins closed for any control of a keyframe, and takes opening_time to open.

    Args:
        spec: the model, not compiled. A refused call leaves the spec unchanged. Its default classes do not count.
        joints: names of hinge and slide joints, with gears or without, or patterns such as "*_knee" (of fnmatch).
        holding_torque: torque that a closed brake holds at rest and against a reversal, N m at the output side, or a text with a
            unit ("2 Nm"). Default: the other one of the two torques.
        tendons: names of tendons, or patterns.
        sliding_torque: torque with which it slips, at most holding_torque.
        side: "motor": in front of the teeth, so the gear acts on its torque; "link": behind them.
        normally: "closed": a spring closes it and its control opens it; "open": a spring opens it and its control closes it.
        closing_time: time from open to closed, s.
        opening_time: and back, s.
        group: of the actuators, 0 to 30: ``opt.disableactuator = 1 << group`` takes the power off all brakes.

    Returns:
        Names of the actuators, "JOINT_brake". ``data.actuator(name).ctrl`` is the power, ``Gear.brake`` the share that is closed.

    Raises:
        GearError: a pattern that fits no joint, or the library's lines about the brake, which name its joint.
    """
    if not isinstance(spec, mujoco.MjSpec):
        raise GearTypeError(f"add_brake needs an MjSpec, not {kind_of(spec)}, then add, then compile")
    named = {"joint": joints, "tendon": tendons}
    braked = [
        (kind, one)
        for kind, names in named.items()
        for one in find(getattr(spec, f"{kind}s"), kind, [names] if isinstance(names, str) else names)
    ]
    if not braked:
        raise GearError("neither joints nor tendons are named; name those that have this brake")
    config = _config(
        ", ".join(f"{kind} '{one.name}'" for kind, one in braked),
        {"holding_torque": holding_torque, "sliding_torque": sliding_torque},
        {"closing_time": closing_time, "opening_time": opening_time},
        {
            "side": str(side).encode(errors="replace").decode(),
            "normally": str(normally).encode(errors="replace").decode(),
        },
    )
    if not isinstance(group, int) or isinstance(group, bool) or not 0 <= group <= 30:
        raise GearError(f"group is {group!r}; give a whole number from 0 to 30")
    taken = {one.name for one in (*spec.actuators, *spec.plugins)}
    names = tuple(f"{one.name}_brake" for _, one in braked)
    for name, (kind, one) in zip(names, braked, strict=True):
        if name in taken:
            raise GearError(f"{kind} '{one.name}': the model has a '{name}' already; give each {kind} one brake")
    _refuse(config, [(kind, one.name) for kind, one in braked])
    motors = [
        repr(one.name) if one.name else str(one.id)
        for one in spec.actuators
        if one.group == group and one.plugin.plugin_name != BRAKE
    ]
    if motors:
        warn(
            f"group {group} of the brakes has other actuators, too: {', '.join(motors)}. Disabling it takes the power off the brakes; "
            "give group another number"
        )
    spec.activate_plugin(BRAKE)
    for name, (kind, one) in zip(names, braked, strict=True):
        _write(spec, name, kind, one.name, config, group, BRAKE)
    return names


def _config(
    whose: str, torques: Mapping[str, Torque | None], times: Mapping[str, Torque], words: Mapping[str, str]
) -> dict[str, str]:
    """Keys and values of the instances; values that are no numbers are refused."""
    reporter = _catalogue.Reporter(f"{BRAKE}, {whose}")
    numbers = {
        key: _catalogue.read_number(key, value, _catalogue.info_of("coulomb"), reporter)
        for key, value in torques.items()
        if value is not None
    }
    second = _structs.KeyInfo(unit=b"s", min=0, max=math.inf)
    for key, value in times.items():
        second.name = key.encode()
        numbers[key] = _catalogue.read_number(key, value, second, reporter)
    reporter.check()
    return {key: repr(value) for key, value in numbers.items()} | dict(words)


def _write(
    spec: mujoco.MjSpec, name: str, kind: str, target: str, config: Mapping[str, str], group: int, plugin: str
) -> None:
    """Add one brake: its instance and its actuator, without values of the model's default classes."""
    spec.add_plugin(name=name, plugin_name=plugin, active=True).config = dict(config)
    actuator = spec.add_actuator(_plain_class(spec))
    actuator.name, actuator.trntype, actuator.target, actuator.group = name, _KINDS[kind], target, group
    actuator.ctrllimited, actuator.ctrlrange = True, [0, 1]
    actuator.plugin.name, actuator.plugin.plugin_name, actuator.plugin.active = name, plugin, True


def _plain_class(spec: mujoco.MjSpec) -> Any:
    """Return a default class with the engine's own actuator defaults, or None if the model's are the same.

    It is a class and not attributes of the actuator, because the engine's writer leaves gains and biases of plugins out.
    """
    plain = mujoco.MjSpec().default.actuator
    if not _differing(spec.default.actuator, plain):
        return None
    found = spec.find_default(_CLASS) or spec.add_default(_CLASS, spec.default)
    for attribute in _differing(found.actuator, plain):
        value = getattr(plain, attribute)
        setattr(found.actuator, attribute, list(value) if attribute == "userdata" else value)
    return found


def _differing(one: Any, other: Any) -> list[str]:
    """Attributes of two elements that are not the same; names and addresses do not count."""
    names = [
        name for name in dir(one) if not name.startswith("_") and name not in _OWN and not callable(getattr(one, name))
    ]
    return [
        name
        for name in names
        if not np.array_equal(
            np.asarray(list(getattr(one, name)) if name == "userdata" else getattr(one, name)),
            np.asarray(list(getattr(other, name)) if name == "userdata" else getattr(other, name)),
        )
    ]


_CLASS = "mjgear_brake"
_OWN = ("classname", "compiler", "ctrlspec", "id", "info", "name", "parent", "plugin", "signature")


def _refuse(config: Mapping[str, str], braked: Sequence[tuple[str, str]]) -> None:
    """Ask the library about brakes, on a model that has these joints and nothing else."""
    probe = mujoco.MjSpec()
    _check.accepting_plugin()
    probe.activate_plugin(CHECKED_BRAKE)
    for kind, name in braked:
        body = probe.worldbody.add_body()
        body.add_geom(size=[1, 0, 0])
        joint: Any = body.add_joint(name=name if kind == "joint" else f"joint of {name}")
        if kind == "tendon":
            probe.add_tendon(name=name).wrap_joint(joint.name, 1)
        _write(probe, f"{name}_brake", kind, name, config, GROUP, CHECKED_BRAKE)
    problems, _ = _check.ask(probe.compile())
    if problems:
        raise GearError("\n".join(problems))
