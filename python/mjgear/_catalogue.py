"""From a data sheet to a gear: presets, what a gear does, the same gear in other words."""

import ctypes
import dataclasses
import difflib
import math
from collections.abc import Mapping
from typing import Literal

from mjgear import _structs
from mjgear._errors import GearError

Value = float | str  # "type" is a word, everything else a number
Kind = Literal["coefficients", "efficiency", "starting", "leadscrew", "worm", "spur", "loss"]  # mjg_describe's

_TEXT = 8000  # bytes for all problems of a description


@dataclasses.dataclass(frozen=True)
class Key:
    """A quantity that a description may give.

    Attributes:
        name: as it is written in MJCF.
        unit: of a hinge, SI at the output side; "1" if it has none. For a slide read m, N, kg.
        minimum, maximum: permitted range.
        open_minimum, open_maximum: the end itself is not permitted.
        of_joint: MJCF has an attribute of the joint for it (armature, damping).
        text: what it is.
    """

    name: str
    unit: str
    minimum: float
    maximum: float
    open_minimum: bool
    open_maximum: bool
    of_joint: bool
    text: str


@dataclasses.dataclass(frozen=True)
class Preset:
    """A gear that is ready to use.

    Attributes:
        name: "harmonic_drive".
        title: one line.
        source: where the numbers are from, or what was assumed.
        remark: what to know before using it; None if there is nothing.
        keys: the description, SI at the output side.
        torque_constant: of the motor, at the output side, N m/A; None if it is not known.
        resistance: of the motor winding, Ohm; None if it is not known.
    """

    name: str
    title: str
    source: str
    remark: str | None
    keys: Mapping[str, Value]
    torque_constant: float | None
    resistance: float | None


@dataclasses.dataclass(frozen=True)
class Facts:
    """What can be said about a gear. Torques in N m, inertias in kg m2 (N and kg for a slide), at the output side.

    Attributes:
        gamma_u, gamma_v: asymmetry coefficients of a sliding gear, 1.
        eta_forward, eta_backward: efficiencies of a sliding gear, 1; eta_backward <= 0: cannot be driven back.
        eta_forward_rest, eta_backward_rest: efficiencies at rest, with all that friction gains there, 1.
        backdrivable: a load can keep the joint moving with the motor off (gamma_v < 1).
        forward_drivable: the motor can move it (gamma_u < 1).
        catalogue_locks: what a catalogue would conclude from eta_forward alone, self-locking below 0.5; None: uncertain,
            from 0.45 to 0.55.
        load: load torque at which the torques below are told.
        motor_torque_raises, motor_torque_lowers: motor torques that break the load away; inf: none does.
        motor_torque_starts_unloaded: motor torque that starts the unloaded joint; inf: none does.
        load_torque_starts_motor_off: load torque that starts it with the motor off; inf: none does.
        armature: rotor inertia.
        viscous: viscous friction, N m/(rad/s).
        inertia: inertia of the output side; None: not known.
        apparent_inertia_forward, apparent_inertia_backward: as it shows while motor or load drives; None: not known.
        rho: rho-hat; a moving joint may stop at once where it is 1 or more; None: not known.
    """

    gamma_u: float
    gamma_v: float
    eta_forward: float
    eta_backward: float
    eta_forward_rest: float
    eta_backward_rest: float
    backdrivable: bool
    forward_drivable: bool
    catalogue_locks: bool | None
    load: float
    motor_torque_raises: float
    motor_torque_lowers: float
    motor_torque_starts_unloaded: float
    load_torque_starts_motor_off: float
    armature: float
    viscous: float
    inertia: float | None
    apparent_inertia_forward: float | None
    apparent_inertia_backward: float | None
    rho: float | None


def make_facts(facts: _structs.Facts) -> Facts:
    """Facts of C as those of Python."""

    def known(value: float) -> float | None:
        return None if math.isnan(value) else value

    return Facts(
        gamma_u=facts.gear.gamma_u,
        gamma_v=facts.gear.gamma_v,
        eta_forward=facts.eta_f,
        eta_backward=facts.eta_b,
        eta_forward_rest=facts.eta_f_rest,
        eta_backward_rest=facts.eta_b_rest,
        backdrivable=bool(facts.backdrivable),
        forward_drivable=bool(facts.forward_drivable),
        catalogue_locks=None if facts.catalogue_locks < 0 else bool(facts.catalogue_locks),
        load=facts.load,
        motor_torque_raises=getattr(facts, "raise"),
        motor_torque_lowers=facts.lower,
        motor_torque_starts_unloaded=facts.start_forward,
        load_torque_starts_motor_off=facts.start_backward,
        armature=facts.gear.armature,
        viscous=facts.gear.viscous,
        inertia=facts.inertia if facts.inertia >= 0 else None,
        apparent_inertia_forward=known(facts.inertia_forward),
        apparent_inertia_backward=known(facts.inertia_backward),
        rho=known(facts.rho),
    )


# ------------------------------------------ descriptions -----------------------------------------


class Reporter:
    """Collects the library's lines and raises them."""

    def __init__(self) -> None:
        self._text = ctypes.create_string_buffer(_TEXT)
        self.report = _structs.Report()
        _structs.core.mjg_startReport(ctypes.byref(self.report), self._text, _TEXT)

    def check(self) -> None:
        """Raise GearError if there is a problem."""
        if self.report.count:
            raise GearError(self._text.value.decode())


def unknown(name: str, what: str, known: list[str]) -> GearError:
    """The line for a name that does not exist."""
    nearest = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean {nearest[0]}" if nearest else f"there are {', '.join(known)}"
    return GearError(f"unknown {what} '{name}'; {hint}")


def describe(preset: str | None, values: Mapping[str, Value]) -> _structs.Description:
    """The description that a preset and keys mean.

    Raises:
        GearError: an unknown preset, key or type, or a value that is no number.
    """
    description = _structs.Description()
    if preset is None:
        _structs.core.mjg_defaultDescription(ctypes.byref(description))
    else:
        number = _structs.core.mjg_presetFromName(preset.encode())
        if number < 0:
            raise unknown(preset, "preset", list(presets()))
        found = _structs.Preset()
        _structs.core.mjg_preset(ctypes.byref(found), number)
        description = found.description
    for name, value in values.items():
        if name == "type":
            number = _structs.core.mjg_typeFromName(str(value).encode())
            if number < 0:
                raise unknown(str(value), "type", _kinds())
            description.type = number
            continue
        number = _structs.core.mjg_keyFromName(name.encode())
        if number < 0:
            raise unknown(name, "key", list(keys()))
        try:
            _structs.core.mjg_give(ctypes.byref(description), number, float(value))
        except (TypeError, ValueError):
            raise GearError(f"{name} = {value!r} is not a number; write one in {keys()[name].unit}") from None
    return description


def make_gear(description: _structs.Description) -> _structs.Transmission:
    """The gear that a description means.

    Raises:
        GearError: the library's lines.
    """
    gear = _structs.Transmission()
    reporter = Reporter()
    _structs.core.mjg_transmission(ctypes.byref(gear), ctypes.byref(reporter.report), ctypes.byref(description))
    reporter.check()
    return gear


def written(description: _structs.Description) -> dict[str, Value]:
    """A description as keys and values."""
    values: dict[str, Value] = {}
    name = _structs.core.mjg_typeName(description.type) if description.type else None
    if name:
        values["type"] = name.decode()
    for number, key in enumerate(keys()):
        if description.given[number]:
            values[key] = description.value[number]
    return values


def _kinds() -> list[str]:
    names = []
    number = 1
    while name := _structs.core.mjg_typeName(number):
        names.append(name.decode())
        number += 1
    return names


# ------------------------------------------ what users call --------------------------------------


def keys() -> dict[str, Key]:
    """All quantities that a description may give, by name."""
    infos = [_structs.core.mjg_keyInfo(number).contents for number in range(_structs.NKEY)]
    return {
        info.name.decode(): Key(
            name=info.name.decode(),
            unit=info.unit.decode(),
            minimum=info.min,
            maximum=info.max,
            open_minimum=bool(info.open_min),
            open_maximum=bool(info.open_max),
            of_joint=bool(info.engine),
            text=info.text.decode(),
        )
        for info in infos
    }


def presets() -> dict[str, Preset]:
    """All gears that are ready to use, by name."""
    found = {}
    for number in range(_structs.core.mjg_presetCount()):
        preset = _structs.Preset()
        _structs.core.mjg_preset(ctypes.byref(preset), number)
        found[preset.name.decode()] = Preset(
            name=preset.name.decode(),
            title=preset.title.decode(),
            source=preset.source.decode(),
            remark=preset.remark.decode() if preset.remark else None,
            keys=written(preset.description),
            torque_constant=preset.torque_constant or None,
            resistance=preset.resistance or None,
        )
    return found


def explain(preset: str | None = None, *, load: float = 1, inertia: float | None = None, **values: Value) -> Facts:
    """What a gear does.

    Args:
        preset: the name of a preset, with whose keys the description begins.
        load: load torque at which motor torques are told, N m.
        inertia: of the output side, kg m2, for apparent inertias.
        values: keys of the description, SI at the output side: eta_forward=0.8; keys() lists them.

    Raises:
        GearError: the description has problems.
    """
    facts = _structs.Facts()
    gear = make_gear(describe(preset, values))
    _structs.core.mjg_explain(ctypes.byref(facts), ctypes.byref(gear), load, -1 if inertia is None else inertia)
    return make_facts(facts)


def convert(kind: Kind, preset: str | None = None, **values: Value) -> dict[str, Value]:
    """The same gear described as another kind.

    Args:
        kind: "coefficients", "efficiency", "starting", "leadscrew", "worm", "spur" or "loss".
        preset: the name of a preset, with whose keys the description begins.
        values: keys of the description, SI at the output side. What the new kind leaves open may be given too:
            pressure_angle (leadscrew, worm), pressure_angle, mu and radius_in (spur).

    Returns:
        Keys and values of the new description.

    Raises:
        GearError: the description has problems, or there is no gear of this kind with these coefficients.
    """
    target = describe(preset, values)
    number = _structs.core.mjg_typeFromName(kind.encode())
    if number < 1:
        raise unknown(kind, "type", _kinds())
    gear = make_gear(describe(preset, values if _is_geometric(target) else _without_open(values)))
    target.type = number
    reporter = Reporter()
    _structs.core.mjg_describe(ctypes.byref(target), ctypes.byref(reporter.report), ctypes.byref(gear))
    reporter.check()
    return written(target)


def _is_geometric(description: _structs.Description) -> bool:
    name = _structs.core.mjg_typeName(description.type)
    return name is not None and name.decode() not in ("auto", "coefficients", "efficiency", "starting")


def _without_open(values: Mapping[str, Value]) -> dict[str, Value]:
    """What a description that is no geometry may say: the rest is for the new kind."""
    return {name: value for name, value in values.items() if name not in ("pressure_angle", "mu", "radius_in")}
