"""Friction models of better-actuator-models (BAM), M1 to M6, as keys of a gear, and back."""

from __future__ import annotations

import ctypes
import dataclasses
import json
import math
import os
import pathlib
from collections.abc import Mapping
from typing import Any, Literal, cast

from mjgear import _catalogue, _structs, _tables
from mjgear._catalogue import Known
from mjgear._errors import GearError, GearTypeError

Model = Literal["m1", "m2", "m3", "m4", "m5", "m6"]

# parameter -> the keys that have its value
_Parameters = dict[str, tuple[str, ...]]

_BASE: _Parameters = {"friction_base": ("coulomb",), "friction_viscous": ("viscous",), "armature": ("armature",)}
_STRIBECK: _Parameters = {
    "friction_stribeck": ("stribeck_friction",),
    "dtheta_stribeck": ("stribeck_velocity",),
    "alpha": ("stribeck_exponent",),
}
_LOAD: _Parameters = {"load_friction_base": ("gamma_u", "gamma_v")}
_LOAD_STRIBECK: _Parameters = {"load_friction_stribeck": ("gamma_u_stribeck", "gamma_v_stribeck")}
_SIDES: _Parameters = {"load_friction_motor": ("gamma_u",), "load_friction_external": ("gamma_v",)}
_SIDES_STRIBECK: _Parameters = {
    "load_friction_motor_stribeck": ("gamma_u_stribeck",),
    "load_friction_external_stribeck": ("gamma_v_stribeck",),
}
_QUADRATIC: _Parameters = {
    "load_friction_motor_quad": ("gamma_u_quadratic",),
    "load_friction_external_quad": ("gamma_v_quadratic",),
}

_PARAMETERS: dict[str, _Parameters] = {
    "m1": _BASE,
    "m2": _BASE | _STRIBECK,
    "m3": _BASE | _LOAD,
    "m4": _BASE | _STRIBECK | _LOAD | _LOAD_STRIBECK,
    "m5": _BASE | _STRIBECK | _SIDES | _SIDES_STRIBECK,
    "m6": _BASE | _STRIBECK | _SIDES | _SIDES_STRIBECK | _QUADRATIC,
}
_FRICTION: set[str] = set().union(*_PARAMETERS.values())  # names of all models
_MOTOR = {"kt": "torque_constant", "R": "resistance"}

# members of a gear that no model has, and their values without effect
_FOREIGN = {
    "static_ratio": 1.0,
    "curved_friction": 0.0,
    "presliding_stiffness": 0.0,
    "oneway": 0.0,
    "tooth_pitch": 0.0,
    "mesh": 0,
}


@dataclasses.dataclass(frozen=True)
class Bam:
    """A servo's friction model of better-actuator-models as a gear: ``mjgear.add(spec, joints, **bam.keys)``.

    Attributes:
        model: "m1" to "m6".
        keys: of a gear, SI at the output side; armature and viscous belong to the joint.
        torque_constant: torque constant of the motor, N m/A, or None.
        resistance: winding resistance, Ohm, or None.
        rest: parameters of the servo's electronics and of the test bench, which a gear does not have.
        torque: the error below is that for motor and load torques up to this one, N m.
        error: largest difference from the model's friction in steady motion, N m; 0 for M1 to M4.
        bound: largest friction there, N m.

    ``print(bam)`` shows them with their units.
    """

    model: Model
    keys: Mapping[str, Any]
    torque_constant: float | None
    resistance: float | None
    rest: Mapping[str, Any]
    torque: float
    error: float
    bound: float

    @property
    def exact(self) -> bool:
        """True if friction in steady motion equals the model's, to round-off."""
        return self.error <= 1e-12 * self.bound

    def __str__(self) -> str:
        known = _catalogue.keys()
        rows = [
            (key, _tables.number(value), known[key].unit, known[key].text)
            for key, value in self.keys.items()
            if key in known
        ]
        lines = [
            f"model {self.model.upper()} of better-actuator-models",
            _tables.columns([("type", self.keys["type"], "", ""), *rows]),
        ]
        within = f"for motor and load torques up to {_tables.number(self.torque)} N m"
        lines += [
            f"exact in steady motion {within}"
            if self.exact
            else f"differs by at most {_tables.number(self.error)} N m of {_tables.number(self.bound)} N m {within}"
        ]
        lines += [
            f"motor: {name} = {_tables.number(value)}"
            for name in ("torque_constant", "resistance")
            if (value := getattr(self, name)) is not None
        ]
        return "\n".join(
            lines
            + [f"not of the gear: {', '.join(f'{name} = {value}' for name, value in self.rest.items())}"]
            * bool(self.rest)
        )


def from_bam(
    source: str | os.PathLike[str] | Mapping[str, Any],
    *,
    viscous: Literal["gear", "joint"] = "gear",
    torque: float | None = None,
) -> Bam:
    """Read the parameters of a servo as better-actuator-models writes them.

    M1 to M4 are the same law in steady motion and at rest. M5 and M6 are the same while motor and load oppose each other or one is zero.
    If both push the same way, these models add two absolute values and a gear takes the absolute value of the sum; ``error`` is
    the difference. In accelerated motion a gear is loaded with the torques that pass through it, at this step.

    Args:
        source: a JSON file, or its content as a dict.
        viscous: where the viscous friction of M3 to M6 is. "gear": inside, as curved_friction with the exponent 1, which does not load the gear.
            "joint": the joint's damping, which the engine integrates implicitly and which is a load of the gear. Without load dependence both
            are the same, and it is the joint's damping.
        torque: largest torque for ``error``, N m; None: the torque at rest under 12 V if the file has kt and R, else 1 N m.

    Raises:
        GearError: no such model, a parameter is missing, unknown or out of range; all problems at once.
    """
    if viscous not in ("gear", "joint"):
        raise GearError(f"viscous = {viscous!r} is unknown; write 'gear' or 'joint'")
    data = _read(source)
    model = data.get("model")
    if model not in _PARAMETERS:
        nested = next(
            (
                f"; it is of several servos: from_bam(data[{name!r}]['model'])"
                for name, one in data.items()
                if isinstance(one, Mapping) and isinstance(one.get("model"), Mapping)
            ),
            "",
        )
        raise GearError(f"model = {model!r} is none of {', '.join(_PARAMETERS)}{nested}")
    parameters = _PARAMETERS[model]
    problems = [f"model {model} needs '{name}', which is missing" for name in parameters if name not in data]
    problems += [
        f"model {model} has no parameter '{name}'; {_likely(name, data)}"
        for name in data
        if name in _FRICTION and name not in parameters
    ]
    numbers = [*(name for name in parameters if name in data), *(name for name in _MOTOR if name in data)]
    problems += [f"{name} = {data[name]!r} is not a finite number" for name in numbers if not _finite(data[name])]
    problems += [
        f"{name} is {data[name]}, but has to be greater than 0"
        for name in _MOTOR
        if name in data and _finite(data[name]) and data[name] <= 0
    ]
    if problems:
        raise GearError("\n".join(problems))
    keys: dict[str, Any] = {"type": "coefficients", "gamma_u": 0.0, "gamma_v": 0.0}
    for name, own in parameters.items():
        keys |= dict.fromkeys(own, float(data[name]))
    if viscous == "gear" and model not in ("m1", "m2") and keys["viscous"] != 0:
        keys |= {"curved_friction": keys.pop("viscous"), "curved_velocity": 1.0, "curved_exponent": 1.0}
    motor = {name: float(data[theirs]) if theirs in data else None for theirs, name in _MOTOR.items()}
    rest = {name: value for name, value in data.items() if name not in (*parameters, *_MOTOR, "model")}
    if torque is None:
        torque = (
            12 / motor["resistance"] * motor["torque_constant"]
            if motor["resistance"] and motor["torque_constant"]
            else 1.0
        )
    gear = _resolve(None, keys)
    error, bound = _difference(model, {name: float(data[name]) for name in parameters}, gear, torque)
    return Bam(
        cast(Model, model),
        Known("key", keys),
        motor["torque_constant"],
        motor["resistance"],
        Known("parameter", rest),
        torque,
        error,
        bound,
    )


def to_bam(gear: Bam | str | None = None, **values: Any) -> dict[str, Any]:
    """The parameters of a gear as better-actuator-models reads them.

    ``to_bam(from_bam(data))`` is data. For any other gear the simplest model with all of its friction is written; ``actuator``,
    which names the servo's electronics there, is given by hand.

    Args:
        gear: a result of from_bam, or the name of a preset.
        values: keys of doc/mjcf.md that describe a gear or change the preset; and kt, R, actuator and others that are only handed on.

    Raises:
        GearError: friction that none of the models has.
    """
    known = set(_catalogue.keys()) | set(_catalogue.gap_keys()) | set(_catalogue.tables()) | {"type", "backlash"}
    own = {name: value for name, value in values.items() if name in known}
    rest = {name: value for name, value in values.items() if name not in known}
    motor: dict[str, float | None] = {}
    least = "m1"
    if isinstance(gear, Bam):
        law = _resolve(None, {**gear.keys, **own})
        rest, motor, least = (
            {**gear.rest, **rest},
            {theirs: getattr(gear, name) for theirs, name in _MOTOR.items()},
            gear.model,
        )
    elif gear is None or isinstance(gear, str):
        law = _resolve(gear, own)
        preset = _catalogue.presets()[gear] if gear else None
        motor = {theirs: getattr(preset, name) for theirs, name in _MOTOR.items()} if preset else {}
    else:
        raise GearTypeError(f"to_bam takes what from_bam returned or the name of a preset, not {type(gear).__name__}")
    if law.curved_friction and law.curved_exponent == 1:  # viscous friction inside of the gear
        law.viscous, law.curved_friction = law.viscous + law.curved_friction / law.curved_velocity, 0.0
    foreign = [name for name, idle in _FOREIGN.items() if getattr(law, name) != idle]
    foreign += [name for name, table in zip(_catalogue.tables(), law.table, strict=True) if table.n]
    if foreign:
        raise GearError(f"{', '.join(foreign)}: no model of better-actuator-models has this")
    for model in list(_PARAMETERS)[list(_PARAMETERS).index(least) :]:
        found = {name: {getattr(law, key) for key in keys} for name, keys in _PARAMETERS[model].items()}
        has = {key for keys in _PARAMETERS[model].values() for key in keys}
        lost = [
            key
            for key in (
                "gamma_u",
                "gamma_v",
                "stribeck_friction",
                "gamma_u_stribeck",
                "gamma_v_stribeck",
                "gamma_u_quadratic",
                "gamma_v_quadratic",
            )
            if key not in has and getattr(law, key) != 0
        ]
        if not lost and all(len(some) == 1 for some in found.values()):
            break
    numbers = {theirs: value for theirs, value in motor.items() if value is not None}
    return {**numbers, **{name: some.pop() for name, some in found.items()}, **rest, "model": model}


def parameters(model: str) -> tuple[str, ...]:
    """Names of the friction parameters of a model, and of armature."""
    if model not in _PARAMETERS:
        raise GearError(f"model = {model!r} is none of {', '.join(_PARAMETERS)}")
    return tuple(_PARAMETERS[model])


def _read(source: Any) -> dict[str, Any]:
    if isinstance(source, Mapping):
        return dict(source)
    if not isinstance(source, (str, os.PathLike)):
        raise GearTypeError(f"from_bam takes a JSON file or a dict, not {type(source).__name__}")
    try:
        data = json.loads(pathlib.Path(source).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise GearError(f"{source}: cannot be read: {error}") from error
    if not isinstance(data, dict):
        raise GearError(f"{source}: has a {type(data).__name__}, not the parameters of a servo")
    return data


def _finite(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _likely(name: str, data: Mapping[str, Any]) -> str:
    """The model that a file with this parameter may be of."""
    has = set(data) & _FRICTION
    fitting = next((other for other, parameters in _PARAMETERS.items() if has <= set(parameters)), None)
    return f"is it model {fitting}?" if fitting else "remove it"


def _resolve(preset: str | None, values: Mapping[str, Any]) -> _structs.Transmission:
    reporter = _catalogue.Reporter()
    if preset is None and not values:
        reporter.refuse(_catalogue.NO_GEAR)
    description = _catalogue.describe(preset, values, reporter)
    reporter.check()
    gear = _catalogue.make_gear(description, reporter)
    reporter.check()
    return gear


def friction_of(gear: _structs.Transmission, motor: float, external: float, velocity: float) -> float:
    """Friction in steady motion at a velocity >= 0 under a motor and a load torque, viscous friction included, N m."""
    external -= gear.viscous * velocity  # the joint's damping is a load of the gear
    numbers = [ctypes.c_double() for _ in range(3)]
    _structs.core.mjg_frictionAt(*map(ctypes.byref, numbers), ctypes.byref(gear), 0.0, velocity, motor, -external)
    gamma_u, gamma_v, coulomb = (number.value for number in numbers)
    return abs(gamma_u * motor - gamma_v * external) + coulomb + float(gear.viscous) * velocity


def _published(model: str, p: Mapping[str, float], motor: float, external: float, velocity: float) -> float:
    """Friction of the published model."""
    stribeck = math.exp(-(abs(velocity / p["dtheta_stribeck"]) ** p["alpha"])) if "alpha" in p else 0.0
    bound = p["friction_base"] + p["friction_viscous"] * velocity + stribeck * p.get("friction_stribeck", 0.0)
    if model in ("m3", "m4"):
        return bound + (p["load_friction_base"] + stribeck * p.get("load_friction_stribeck", 0.0)) * abs(
            motor - external
        )
    if model in ("m5", "m6"):
        bound += abs(p["load_friction_motor"] * motor - p["load_friction_external"] * external)
        bound += stribeck * abs(
            p["load_friction_motor_stribeck"] * motor - p["load_friction_external_stribeck"] * external
        )
    if model == "m6" and motor * external <= 0:
        drives = abs(motor) > abs(external)
        driven = p["load_friction_external_quad"] * external**2 if drives else p["load_friction_motor_quad"] * motor**2
        bound += stribeck * driven * (abs(motor) != abs(external))
    return bound


def _difference(
    model: str, parameters: Mapping[str, float], gear: _structs.Transmission, torque: float
) -> tuple[float, float]:
    """Largest difference of the bounds over torques and speeds, and the largest bound.

    Points of the plane of both torques at several speeds, and at rest, where terms of M5 and M6 are largest, many on the edge of the plane. Torques
    of equal size are left out: there M6 has no quadratic term.
    """
    fast = 3 * parameters.get("dtheta_stribeck", 1.0)
    points = [
        (torque * i / 12, torque * k / 13, fast * n / 6)
        for i in range(-12, 13)
        for k in range(-13, 14)
        for n in range(7)
    ]
    edge = [(torque * i / 500, torque, 0.0) for i in range(-499, 500)]
    points += [*edge, *((load, motor, speed) for motor, load, speed in edge)]
    pairs = [
        (friction_of(gear, *point), _published(model, parameters, *point))
        for point in points
        if abs(point[0]) != abs(point[1])
    ]
    return max(abs(a - b) for a, b in pairs), max(b for _, b in pairs)
