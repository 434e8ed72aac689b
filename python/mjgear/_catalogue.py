"""From a data sheet to a gear: presets, facts about a gear, other descriptions of the same gear."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from mjgear import _structs, _tables
from mjgear._errors import GearError, GearKeyError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from mjgear._keys import SheetKeys

Item = TypeVar("Item")
Setting = float | str | Sequence[float] | Sequence[str]  # one for all joints, or one for each
Value = float | str  # "type" is a word, everything else a number, or a text with a number and its unit
Kind = Literal["coefficients", "efficiency", "starting", "leadscrew", "worm", "spur", "loss"]  # mjg_describe's

# keys of add() that are words
WORDS = {
    "type": "how the gear is described: auto, efficiency, worm and so on",
    "backlash": "model of the gap",
    "motor_joint": "joint of the motor in front of the gap",
    "encoder": "what servos measure where a rotor is behind a gap: rotor or joint",
    "solver": "solver of the friction problem",
}

NO_GEAR = "no gear is given; name a preset or write key=value, for instance eta_forward=0.8"

_TEXT = 8000  # bytes for all problems of a description


@dataclasses.dataclass(frozen=True)
class Key:
    """A quantity that a description may give.

    Attributes:
        name: name in MJCF.
        unit: of a hinge, SI at the output side; "1" if it has none. For a slide read m, N, kg.
        minimum, maximum: permitted range.
        open_minimum, open_maximum: the end itself is not permitted.
        of_joint: MJCF has an attribute of the joint for it (armature, damping).
        text: meaning in a few words.
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
        source: source of the numbers, or the assumptions.
        remark: hint for its use; None: no hint.
        keys: the description, SI at the output side.
        torque_constant: of the motor, at the output side, N m/A; None if it is not known.
        resistance: of the motor winding, Ohm; None if it is not known.

    ``print(preset)`` shows them with their units.
    """

    name: str
    title: str
    source: str
    remark: str | None
    keys: Mapping[str, Value]
    torque_constant: float | None
    resistance: float | None

    def __str__(self) -> str:
        known = {name: key_of(name) for name in self.keys if name in keys() or name in gap_keys()}
        rows = [
            (name, _tables.number(value), *((known[name].unit, known[name].text) if name in known else ("", "")))
            for name, value in self.keys.items()
        ]
        lines = [f"source: {self.source}"] + ([f"remark: {self.remark}"] if self.remark else [])
        return "\n".join([f"{self.name}: {self.title}", _tables.columns(rows), *lines])


@dataclasses.dataclass(frozen=True)
class Facts:
    """Facts about a gear. Torques in N m, inertias in kg m2 (N and kg for a slide), at the output side.

    Attributes:
        gamma_u, gamma_v: asymmetry coefficients of a sliding gear, 1.
        eta_forward, eta_backward: efficiencies of a sliding gear, 1; eta_backward <= 0: cannot be driven back.
        eta_forward_rest, eta_backward_rest: efficiencies at rest, with its higher friction, 1.
        backdrivable: a load can keep the joint moving with the motor off (gamma_v < 1).
        forward_drivable: the motor can move it (gamma_u < 1).
        catalogue_locks: True if a catalogue would call it self-locking by eta_forward alone, below 0.5; None: uncertain,
            from 0.45 to 0.55.
        load: load torque of the torques below.
        motor_torque_raises, motor_torque_lowers: motor torques that break the load away; inf: none does.
        motor_torque_starts_unloaded: motor torque that starts the unloaded joint; inf: none does.
        load_torque_starts_motor_off: load torque that starts it with the motor off; inf: none does.
        armature: rotor inertia.
        viscous: viscous friction, N m/(rad/s).
        inertia: inertia of the output side; None: not known.
        apparent_inertia_forward, apparent_inertia_backward: inertia while motor or load drives; None: not known.
        rho: rho-hat; a moving joint may stop at once where it is 1 or more; None: not known.
        slide: the output is a slide, or a tendon that is a length: torques above are forces in N, inertias kg.
        remark: hint for its use, such as self-locking by an assumption alone; None: no hint.

    ``print(facts)`` shows them with their units.
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
    slide: bool = False
    remark: str | None = None

    def __str__(self) -> str:
        units = {
            "motor_torque": "N m",
            "load": "N m",
            "armature": "kg m2",
            "inertia": "kg m2",
            "apparent": "kg m2",
            "viscous": "N m/(rad/s)",
        }
        rows = []
        for field in dataclasses.fields(self):
            unit = next((unit for start, unit in units.items() if field.name.startswith(start)), "1")
            value = getattr(self, field.name)
            if field.name not in ("slide", "remark"):
                unit = "" if value is None or isinstance(value, bool) else _tables.unit(unit, self.slide)
                rows.append((field.name, _tables.number(value), unit))
        return "\n".join([_tables.columns(rows), *([f"remark: {self.remark}"] if self.remark else [])])


def make_facts(facts: _structs.Facts, slide: bool = False, remark: str | None = None) -> Facts:
    """Convert the C struct of facts to Facts."""

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
        slide=slide,
        remark=remark,
    )


# ------------------------------------------ descriptions -----------------------------------------


class Reporter:
    """Collects messages of the library and of this package, and raises them as one error.

    Args:
        where: put before each line of the library, with ": ".
    """

    def __init__(self, where: str = "") -> None:
        self._text = ctypes.create_string_buffer(_TEXT)
        self._where = where
        self._lines: list[str] = []
        self.report = _structs.Report()
        self._start()

    def _start(self) -> None:
        _structs.core.mjg_startReport(ctypes.byref(self.report), self._text, _TEXT)
        if self._where:
            self.report.where = self._where.encode(errors="replace")

    def _take(self) -> None:
        self._lines += [line for line in _structs.message(self._text).splitlines() if line not in self._lines]
        self._start()

    def refuse(self, line: str) -> None:
        """Add a line."""
        self._take()
        self._lines.append(f"{self._where}: {line}" if self._where else line)

    def lines(self) -> list[str]:
        """All lines so far."""
        self._take()
        return self._lines

    def check(self) -> None:
        """Raise GearError if there is a problem."""
        if self.lines():
            raise GearError("\n".join(self._lines))


@functools.lru_cache(maxsize=1024)
def nearest(name: str, known: tuple[str, ...]) -> str | None:
    """The most similar name, by the library's measure."""
    names = (ctypes.c_char_p * len(known))(*(one.encode(errors="replace") for one in known))
    found = _structs.core.mjg_nearest(name.encode(errors="replace"), names, len(known))
    return known[found] if found >= 0 else None


class Known(Mapping[str, Item]):
    """Read-only mapping by name; an unknown name is a KeyError with the most similar one."""

    __slots__ = ("_items", "_what")

    def __init__(self, what: str, items: Mapping[str, Item]) -> None:
        self._what = what
        self._items = dict(items)

    def __getitem__(self, name: str) -> Item:
        try:
            return self._items[name]
        except (KeyError, TypeError):
            raise GearKeyError(unknown(str(name), self._what, list(self))) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._items

    def __hash__(self) -> int:
        return hash(tuple(self._items.items()))

    def __repr__(self) -> str:
        return repr(self._items)


def unknown(name: str, what: str, known: Sequence[str]) -> str:
    """The line for a name that does not exist."""
    near = nearest(name, tuple(known))
    every = f"'mjgear {what}s' lists all" if what in ("key", "preset") else f"there are {', '.join(known)}"
    return f"unknown {what} '{name}'; {f'did you mean {near}' if near else every}"


# what Python's float takes and is no number: truth values, bytes, times, complex numbers, of which it drops a part
_NO_NUMBER = (bool, np.bool_, bytes, bytearray, memoryview, np.timedelta64, np.datetime64, np.complexfloating)


def number_of(value: Any) -> float:
    """A number as a float; a text is one without a unit.

    Raises:
        TypeError, ValueError, OverflowError: it is no number, or the array of another kind, or a masked entry.
    """
    if isinstance(value, _NO_NUMBER) or np.ma.is_masked(value):
        raise TypeError(f"{value!r} is no number")
    return number_of(value.item()) if isinstance(value, np.ndarray) and value.size == 1 else float(value)


def entries(values: Any) -> NDArray[Any]:
    """An array of objects, with "--" for masked entries, which are no numbers."""
    if isinstance(values, bytearray):
        values = bytes(values)  # no list of the codes of its letters
    if isinstance(values, (list, tuple)):
        values = [bytes(one) if isinstance(one, bytearray) else one for one in values]
    if isinstance(values, np.ma.MaskedArray):
        return np.asarray(np.ma.filled(values.astype(object), "--"))
    return np.asarray(values, object)


def floats(values: Any) -> NDArray[np.float64]:
    """An array of numbers.

    Raises:
        TypeError, ValueError, OverflowError: as number_of.
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf" and not np.ma.is_masked(values):
        return np.asarray(values, np.float64)
    series = entries(values)
    return np.array([number_of(one) for one in series.ravel()], np.float64).reshape(series.shape)


def read_number(name: str, value: Value, info: _structs.KeyInfo, reporter: Reporter) -> float:
    """A number, or the number that a text with a unit means; NaN after a refusal."""
    if isinstance(value, str):
        number = ctypes.c_double(math.nan)
        _structs.core.mjg_readQuantity(
            ctypes.byref(number), ctypes.byref(reporter.report), ctypes.byref(info), value.encode(errors="replace")
        )
        return number.value
    try:
        return number_of(value)
    except (TypeError, ValueError):
        hint = "deg" if info.unit == b"rad" else ""
        reporter.refuse(f"{name} = '{value}' is not a number; write one such as 0.5 or 20{hint}")
        return math.nan
    except OverflowError:
        reporter.refuse(f"{name} is an integer of more than 300 digits; check its unit")
        return math.nan


def describe(preset: str | None, values: Mapping[str, Any], reporter: Reporter) -> _structs.Description:
    """The description of a preset and keys; a key replaces equivalent keys of the preset.

    Unknown presets, keys and types, and values that are no numbers, are lines of the reporter.
    """
    description = _structs.Description()
    if preset is None:
        _structs.core.mjg_defaultDescription(ctypes.byref(description))
    else:
        number = _structs.core.mjg_presetFromName(preset.encode(errors="replace")) if isinstance(preset, str) else -1
        if number < 0:
            reporter.refuse(unknown(str(preset), "preset", list(presets())))
            return description
        found = _structs.Preset()
        _structs.core.mjg_preset(ctypes.byref(found), number)
        description = found.description
    given: list[tuple[int, float]] = []
    for name, value in values.items():
        if name == "type":
            number = _structs.core.mjg_typeFromName(str(value).encode(errors="replace"))
            if number < 0:
                reporter.refuse(unknown(str(value), "type", _kinds()))
            description.type = max(number, 0)
            continue
        number = _structs.core.mjg_keyFromName(name.encode(errors="replace"))
        kind = _structs.core.mjg_tableFromName(name.encode(errors="replace"))
        if kind >= 0:
            _structs.core.mjg_readTable(
                ctypes.byref(description.table[kind]),
                ctypes.byref(reporter.report),
                kind,
                table_text(value).encode(errors="replace"),
            )
        elif number < 0 and name in (*gap_keys(), "backlash"):
            reporter.refuse(f"{name} belongs to a gap, which is not described here; mjgear.add takes it")
        elif number < 0:
            reporter.refuse(unknown(name, "key", list(keys())))
        else:
            given.append((number, read_number(name, value, _structs.core.mjg_keyInfo(number).contents, reporter)))
    for number, _ in given:
        _structs.core.mjg_forget(ctypes.byref(description), number)
    for number, value in given:
        _structs.core.mjg_give(ctypes.byref(description), number, value)
    return description


def make_gear(description: _structs.Description, reporter: Reporter) -> _structs.Transmission:
    """The gear of a description; problems are added to the reporter."""
    gear = _structs.Transmission()
    _structs.core.mjg_transmission(ctypes.byref(gear), ctypes.byref(reporter.report), ctypes.byref(description))
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
    for key, table in zip(tables(), description.table, strict=True):
        if table.n:
            values[key] = table_text([[table.x[k], table.factor[k]] for k in range(table.n)])
    return values


@functools.cache
def tables() -> tuple[str, ...]:
    """Names of the keys that are tables."""
    return tuple(_structs.core.mjg_tableName(kind).decode() for kind in range(_structs.NTABLE))


def table_text(value: Any) -> str:
    """A table for MJCF: a text stays, otherwise rows of x and factor."""
    if isinstance(value, str):
        return value
    try:
        return " ".join(f"{float(number)!r}" for number in np.ravel(floats(value)))
    except OverflowError:
        return "inf inf"  # message of the library about numbers that are not finite


def _kinds() -> list[str]:
    names = []
    number = 1
    while name := _structs.core.mjg_typeName(number):
        names.append(name.decode())
        number += 1
    return names


# ------------------------------------------ what users call --------------------------------------


def _key(info: _structs.KeyInfo) -> Key:
    return Key(
        name=info.name.decode(),
        unit=info.unit.decode(),
        minimum=info.min,
        maximum=info.max,
        open_minimum=bool(info.open_min),
        open_maximum=bool(info.open_max),
        of_joint=bool(info.engine),
        text=info.text.decode(),
    )


@functools.cache
def keys() -> Mapping[str, Key]:
    """All quantities that a description may give, by name.

    ``mjgear.add`` with ``backlash`` takes the keys of gaps too; doc/mjcf.md lists them.
    """
    infos = [_structs.core.mjg_keyInfo(number).contents for number in range(_structs.NKEY)]
    return Known("key", {key.name: key for key in map(_key, infos)})


@functools.cache
def gap_keys() -> Mapping[str, Key]:
    """The numbers of a gap and of the rotor in front of it, by name."""
    found, number = [], 0
    while info := _structs.core.mjg_gapKeyInfo(number):
        found.append(_key(info.contents))
        number += 1
    return Known("key", {key.name: key for key in found})


def key_of(name: str) -> Key:
    """A number of a gear or of its gap."""
    return keys()[name] if name in keys() else gap_keys()[name]


def info_of(name: str) -> _structs.KeyInfo:
    """A number of a gear or of its gap as the library knows it; others have no unit."""
    number = _structs.core.mjg_keyFromName(name.encode(errors="replace"))
    if number >= 0:
        info: _structs.KeyInfo = _structs.core.mjg_keyInfo(number).contents
    elif name in gap_keys():
        info = _structs.core.mjg_gapKeyInfo(list(gap_keys()).index(name)).contents
    else:
        info = _structs.KeyInfo(name=name.encode(errors="replace"), unit=b"1", min=-math.inf, max=math.inf)
    return info


@functools.cache
def presets() -> Mapping[str, Preset]:
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
            keys=Known("key", written(preset.description)),
            torque_constant=preset.torque_constant or None,
            resistance=preset.resistance or None,
        )
    return Known("preset", found)


def _side(name: str, value: Value | None, unit: str, reporter: Reporter) -> float:
    """load or inertia, with a unit if it is a text."""
    info = _structs.KeyInfo(
        name=name.encode(errors="replace"), unit=unit.encode(errors="replace"), min=-math.inf, max=math.inf
    )
    number = read_number(name, value, info, reporter) if value is not None else -1.0
    is_load = name == "load"
    size = abs(number) if is_load else number
    if value is not None and not math.isnan(number) and not (1e-100 <= size <= 1e100 or (size == 0 and not is_load)):
        reporter.refuse(f"{name} = {value} is out of range; write {'+-' if is_load else '0, or '}1e-100 to 1e100")
    return number


def explain(
    preset: str | None = None, *, load: Value = 1, inertia: Value | None = None, **values: Unpack[SheetKeys]
) -> Facts:
    """Facts about a gear.

    Args:
        preset: the name of a preset; further keys replace its keys.
        load: load torque of the reported motor torques, N m, for a leadscrew a force in N; not 0.
        inertia: of the output side, kg m2, for apparent inertias.
        values: keys of the description, SI at the output side or with a unit: eta_forward=0.8, coulomb="2 Nm"; keys()
            lists them.

    Returns:
        Facts, which print() shows as a table.

    Raises:
        GearError: the description has problems; all of them at once.
    """
    reporter = Reporter()
    if preset is None and not values:
        reporter.refuse(NO_GEAR)
    slide = _is_slide(describe(preset, {"type": values["type"]} if "type" in values else {}, Reporter()))
    torque, mass = _side("load", load, "N" if slide else "Nm", reporter), _side("inertia", inertia, "kg m2", reporter)
    description = describe(preset, values, reporter)
    reporter.check()
    gear = make_gear(description, reporter)
    reporter.check()
    facts = _structs.Facts()
    _structs.core.mjg_explain(ctypes.byref(facts), ctypes.byref(gear), torque, mass)
    assumed = Reporter()
    _structs.core.mjg_warnAssumed(ctypes.byref(assumed.report), ctypes.byref(description))
    return make_facts(facts, slide, next(iter(assumed.lines()), None))


def _is_slide(description: _structs.Description) -> bool:
    return bool(description.type == _structs.core.mjg_typeFromName(b"leadscrew"))


def convert(kind: Kind, preset: str | None = None, **values: Unpack[SheetKeys]) -> dict[str, Value]:
    """The same gear described as another kind.

    Args:
        kind: "coefficients", "efficiency", "starting", "leadscrew", "worm", "spur" or "loss".
        preset: the name of a preset; further keys replace its keys.
        values: keys of the description, SI at the output side. Numbers that the new kind leaves open may be given too:
            pressure_angle (leadscrew, worm), pressure_angle, mu and radius_in (spur). A text may have a unit.

    Returns:
        Keys and values of the new description.

    Raises:
        GearError: the description has problems, or no gear of this kind has these coefficients.
    """
    reporter = Reporter()
    target = describe(preset, values, reporter)
    number = _structs.core.mjg_typeFromName(str(kind).encode(errors="replace"))
    if number < 1:
        reporter.refuse(unknown(str(kind), "type", _kinds()))
    reporter.check()
    gear = make_gear(describe(preset, values if _is_geometric(target) else _without_open(values), reporter), reporter)
    reporter.check()
    target.type = number
    _structs.core.mjg_describe(ctypes.byref(target), ctypes.byref(reporter.report), ctypes.byref(gear))
    reporter.check()
    return written(target)


def _is_geometric(description: _structs.Description) -> bool:
    name = _structs.core.mjg_typeName(description.type)
    return name is not None and name.decode() not in ("auto", "coefficients", "efficiency", "starting")


def _without_open(values: Mapping[str, Any]) -> dict[str, Any]:
    """Keys that are allowed without a geometry; the others describe the new kind."""
    return {name: value for name, value in values.items() if name not in ("pressure_angle", "mu", "radius_in")}
