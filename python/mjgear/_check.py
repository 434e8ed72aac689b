"""All problems of a model, or a forecast for its gears."""

from __future__ import annotations

import ctypes
import dataclasses
import os
from collections.abc import Mapping
from typing import Any

import mujoco

from mjgear import _remove, _structs
from mjgear._catalogue import Facts, Known
from mjgear._errors import GearError, GearTypeError
from mjgear._gears import Gear, Gears
from mjgear._library import BRAKE, CHECKED_BRAKE, NAME

WRAPPED = "set the tendon's armature to 0, and give a joint that turns with the motor the rotor's inertia"
_TEXT = 20000  # bytes for all lines about a model


@dataclasses.dataclass(frozen=True)
class Report:
    """Result of check().

    Attributes:
        problems: the library's lines, one for each problem.
        joints: forecast for the gear of each joint; empty if there are problems.
        warnings: lines about gears that do nothing, at joints that they do not fit, that attach left or would leave behind, or that the
            engine's writer would lose.
        motors: for each joint the actuators whose force enters its gear.
        loads: actuators that act on its link.

    ``print(report)`` shows the lines, or the facts of each joint.
    """

    problems: tuple[str, ...]
    joints: Mapping[str, Facts]
    warnings: tuple[str, ...] = ()
    motors: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    loads: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)

    def __str__(self) -> str:
        acting = {
            name: f"motors: {', '.join(self.motors[name]) or 'none'}; loads: {', '.join(self.loads[name]) or 'none'}"
            for name in self.motors
        }
        facts = [f"gear of '{name}'\n{facts}\n{acting.get(name, '')}" for name, facts in self.joints.items()]
        return (
            "\n".join([*self.problems, *facts, *(f"warning: {line}" for line in self.warnings)])
            or "the model has no gear"
        )


def check(model: str | os.PathLike[str] | mujoco.MjSpec | mujoco.MjModel) -> Report:
    """List all mistakes of a model's gears, and predict what each geared joint will do.

    ``mjgear check`` prints the same lines.

    Args:
        model: an MJCF file, an MjSpec, which stays unchanged, or a compiled MjModel, which has no problems. A model
            A model without gears is not a problem. If the engine cannot compile a model its first line is reported, and of an MjSpec
            with keys inside of a body, which the engine cannot copy, the first problem; write a file to hear all.

    Returns:
        Problems, or facts of each geared joint in the first pose: the keyframe "start", else the first one, else qpos0.
    """
    spec: mujoco.MjSpec | None = None
    if isinstance(model, (str, os.PathLike)):
        problems = _problems_of_file(os.fspath(model))
        if problems:
            return Report(problems, Known("gear", {}))
        model = mujoco.MjModel.from_xml_path(os.fspath(model))
    if isinstance(model, mujoco.MjSpec):
        problems = _problems(model)
        if problems:
            return Report(problems, Known("gear", {}))
        spec, model = model, model.compile()
    if not isinstance(model, mujoco.MjModel):
        raise GearTypeError(f"a model is an MJCF file, an MjSpec or an MjModel, not {type(model).__name__}")
    _, warnings = ask(model)
    data = mujoco.MjData(model)
    if model.nkey:
        start = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_KEY, "start")
        mujoco.mj_resetDataKeyframe(model, data, max(start, 0))
    mujoco.mj_forward(model, data)
    try:
        gears: Mapping[str, Gear] = Gears(model, data)
        joints = {name: gear.explain() for name, gear in gears.items()}
    except GearError:
        joints, gears, warnings = {}, {}, ()
    if spec is not None:
        # a brake that came along is a gear without losses
        losses = ("gamma_u", "gamma_v", "coulomb", "stribeck_friction", "curved_friction", "oneway")
        have = [name for name, gear in gears.items() if gear.brake is None or any(gear[key] for key in losses)]
        warnings += (*_remove.lost(spec, have), *_remove.unnamed(spec))
    actuators = [model.actuator(k).name or f"actuator {k}" for k in range(model.nactuator)]
    roles = {name: actuator_roles(model, gear.joint) for name, gear in gears.items()}
    motors, loads = (
        {
            name: tuple(one for one, what in zip(actuators, of, strict=True) if what == role)
            for name, of in roles.items()
        }
        for role in (1, -1)
    )
    return Report((), Known("gear", joints), warnings, Known("gear", motors), Known("gear", loads))


def actuator_roles(model: mujoco.MjModel, joint: int) -> list[int]:
    """1 for motors of the gear of a joint (or njnt plus a tendon), -1 for loads on its link, 0 for all other actuators (nactuator)."""
    roles = (ctypes.c_int * model.nactuator)()
    if _structs.plugin.mjg_actuatorRoles(roles, model._address, joint) < 0:
        raise GearError(f"the model's gears are refused, or {joint} is no hinge, slide or tendon")
    return list(roles)


def _problems_of_file(file: str) -> tuple[str, ...]:
    """All problems of a file's gears; its spec is this function's own, so that nothing is copied."""
    if os.path.exists(file) and not os.path.isfile(file):
        return (f"{file}: this is no plain file; save the model in one",)
    try:
        spec = mujoco.MjSpec.from_file(file)
    except ValueError as error:
        return (f"{file}: {_last(error)}",)
    problems = _problems_inside(spec)
    lines = (*problems, *_problems_accepted(spec, owned=True))
    return tuple(f"{file}: {line}" if line.endswith("the engine reads no further") else line for line in lines)


def _problems(spec: mujoco.MjSpec) -> tuple[str, ...]:
    """List all problems of a model's gears. The model need not compile, and stays unchanged."""
    if not any(map(_is_inside, spec.bodies)):
        return _problems_accepted(spec, owned=False)

    # a model with keys inside of a body cannot be copied (MuJoCo 4.0.0): the plugin says the first problem
    unknown = [
        line
        for body in filter(_is_inside, spec.bodies)
        for line in (unknown_key("", key) for key in body.plugin.config)
        if line
    ]
    try:
        spec.compile()
    except ValueError as error:
        lines = [line for line in str(error).splitlines() if line.startswith((NAME, "and "))]
        return tuple(unknown) or tuple(dict.fromkeys(lines)) or (_last(error),)
    return ()


def _is_inside(body: Any) -> bool:
    return bool(body.plugin.active and body.plugin.plugin_name == NAME and not body.plugin.name)


def _problems_inside(spec: mujoco.MjSpec) -> tuple[str, ...]:
    """Unknown keys inside of bodies, sensors and actuators. They are removed, and the plugins then accept everything."""
    problems = []
    for one in filter(_is_inside, (*spec.bodies, *spec.sensors, *spec.actuators)):
        config = dict(one.plugin.config)
        problems += [line for key in config if (line := unknown_key("", key))]
        one.plugin.config = {key: value for key, value in config.items() if not unknown_key("", key)}
        one.plugin.plugin_name = accepting_plugin()
    return tuple(problems)


def _problems_accepted(spec: mujoco.MjSpec, owned: bool) -> tuple[str, ...]:
    """All problems of a model, or of a copy of it: the engine compiles no model whose plugins refuse it, except with a plugin that accepts
    all."""
    ours = [(plugin, dict(plugin.config)) for plugin in spec.plugins if plugin.plugin_name == NAME]
    problems = [line for plugin, config in ours for line in (unknown_key(plugin.name, key) for key in config) if line]
    copy = spec if owned else spec.copy()
    copied = [plugin for plugin in copy.plugins if plugin.plugin_name == NAME]
    elements = [
        one
        for one in (*copy.bodies, *copy.sensors, *copy.actuators)
        if one.plugin.active and one.plugin.plugin_name == NAME
    ]
    brakes = [
        one
        for one in (*copy.plugins, *(one.plugin for one in (*copy.actuators, *copy.sensors)))
        if one.plugin_name == BRAKE
    ]
    names = [plugin.name for plugin in copied]
    order = [f"instance '{plugin.name}'" for plugin, _ in ours]
    copy.activate_plugin(accepting := accepting_plugin())
    try:
        for plugin, config in ours:
            if plugin.name not in names:  # no element references it, so the engine's copy leaves it out
                copied.append(copy.add_plugin(name=plugin.name, plugin_name=NAME, active=True))
                copied[-1].config = config
        for plugin in copied:
            plugin.config = {key: value for key, value in plugin.config.items() if not unknown_key(plugin.name, key)}
            plugin.plugin_name = accepting
        for element in elements:
            element.plugin.plugin_name = accepting
        if brakes:
            copy.activate_plugin(CHECKED_BRAKE)
        for brake in brakes:
            brake.plugin_name = CHECKED_BRAKE
        model = copy.compile()
    except ValueError as error:
        return (*problems, _last(error))
    finally:
        # a copy shares its plugins with the original
        for plugin, config in ours if not owned else ():
            plugin.plugin_name, plugin.config = NAME, config
        for brake in brakes if not owned else ():
            brake.plugin_name = BRAKE
    problems += ask(model)[0]

    # in the order of the instances, as a file has them
    mixed = 0 < len(names) < len(order)
    return tuple(
        sorted(problems, key=lambda line: next((i for i, one in enumerate(order) if one in line), len(order)))
        if mixed
        else problems
    )


def accepting_plugin() -> str:
    """Plugin that compiles every model, mistakes of its gears included."""
    name: bytes = _structs.plugin.mjg_acceptingPlugin()
    return name.decode()


def unknown_key(instance: str, key: str) -> str:
    """The line for a key that an instance may not have; empty if it may."""
    error = ctypes.create_string_buffer(_TEXT)
    _structs.plugin.mjg_checkKey(instance.encode(errors="replace"), key.encode(errors="replace"), error, _TEXT)
    return _structs.message(error).strip()


def ask(model: mujoco.MjModel) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Problems of a compiled model, and warnings if it has none."""
    problems, warnings = (ctypes.create_string_buffer(_TEXT) for _ in range(2))
    _structs.plugin.mjg_checkModel(model._address, problems, _TEXT, warnings, _TEXT)
    return tuple(_structs.message(problems).splitlines()), tuple(_structs.message(warnings).splitlines())


def _last(error: Exception) -> str:
    """The line about a model that the engine does not compile."""
    first = str(error).splitlines()[0] if str(error) else type(error).__name__
    remedy = f"{WRAPPED}; " if "wrapping not supported by tendon armature" in first else ""
    return f"{first}; {remedy}the engine reads no further"
