"""Holding brakes for a model that is being built."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import mujoco

from mjgear import _catalogue, _check, _structs
from mjgear._errors import GearError, GearTypeError
from mjgear._library import BRAKE, CHECKED_BRAKE
from mjgear._spec import find, kind_of

Torque = float | str


def add_brake(
    spec: mujoco.MjSpec,
    joints: str | Sequence[str] = (),
    *,
    tendons: str | Sequence[str] = (),
    holding_torque: Torque | None = None,
    sliding_torque: Torque | None = None,
    side: str = "motor",
    closing_time: float = 0,
    opening_time: float = 0,
) -> tuple[str, ...]:
    """Give joints and tendons holding brakes: actuators whose control, from 0 (open) to 1 (closed), closes them.

    Args:
        spec: the model, not compiled. Where this call is refused it stays as it was.
        joints: names of hinge and slide joints, with gears or without, or patterns such as "*_knee" (of fnmatch).
        tendons: names of tendons, or patterns.
        holding_torque: what a closed brake holds at rest and against a reversal, N m at the output side, or a text with a
            unit ("2 Nm"). The other one of the two torques if it is not given.
        sliding_torque: with which it slips, at most holding_torque.
        side: "motor": in front of the teeth, which multiply its torque as that of a motor; "link": behind them.
        closing_time: time from open to closed, s.
        opening_time: and back, s.

    Returns:
        Names of the actuators, "JOINT_brake". Named ``data.actuator(name).ctrl``; ``Gear.address("brake")`` is where the share
        that is closed stands in ``plugin_state``.

    Raises:
        GearError: a pattern that fits no joint, or the library's lines about the brake.
    """
    if not isinstance(spec, mujoco.MjSpec):
        raise GearTypeError(f"add_brake needs an MjSpec, not {kind_of(spec)}, then add, then compile")
    lists = {
        mujoco.mjtTrn.mjTRN_JOINT: find(spec.joints, "joint", [joints] if isinstance(joints, str) else joints),
        mujoco.mjtTrn.mjTRN_TENDON: find(spec.tendons, "tendon", [tendons] if isinstance(tendons, str) else tendons),
    }
    if not any(lists.values()):
        raise GearError("neither joints nor tendons are named; name those that have this brake")
    reporter = _catalogue.Reporter(BRAKE)
    torques = {"holding_torque": holding_torque, "sliding_torque": sliding_torque}
    numbers = {key: _catalogue.read_number(key, value, _catalogue.info_of("coulomb"), reporter) for key, value in torques.items() if value is not None}
    second = _structs.KeyInfo(unit=b"s", min=0, max=math.inf)
    for key, value in {"closing_time": closing_time, "opening_time": opening_time}.items():
        second.name = key.encode()
        numbers[key] = _catalogue.read_number(key, value, second, reporter)
    reporter.check()
    config = {key: repr(value) for key, value in numbers.items()} | {"side": str(side)}
    taken = {one.name for one in (*spec.actuators, *spec.plugins)}
    names = [f"{one.name}_brake" for some in lists.values() for one in some]
    for name in names:
        if name in taken:
            raise GearError(f"the model has a '{name}' already; give each joint one brake")
    _refuse(config)
    spec.activate_plugin(BRAKE)
    for kind, some in lists.items():
        for one in some:
            _write(spec, f"{one.name}_brake", kind, one.name, config, BRAKE)
    return tuple(names)


def _write(spec: mujoco.MjSpec, name: str, kind: Any, target: str, config: dict[str, str], plugin: str) -> None:
    """One brake: its instance and its actuator."""
    spec.add_plugin(name=name, plugin_name=plugin, active=True).config = config
    actuator = spec.add_actuator(name=name, trntype=kind, target=target, ctrllimited=True, ctrlrange=[0, 1])
    actuator.plugin.name, actuator.plugin.plugin_name, actuator.plugin.active = name, plugin, True


def _refuse(config: dict[str, str]) -> None:
    """Ask the library about a brake, on a model that has a joint and nothing else."""
    probe = mujoco.MjSpec()
    _check.accepting_plugin()
    probe.activate_plugin(CHECKED_BRAKE)
    body = probe.worldbody.add_body()
    body.add_geom(size=[1, 0, 0])
    body.add_joint(name="joint")
    _write(probe, "brake", mujoco.mjtTrn.mjTRN_JOINT, "joint", config, CHECKED_BRAKE)
    problems, _ = _check.ask(probe.compile())
    if problems:
        raise GearError("\n".join(problems))
