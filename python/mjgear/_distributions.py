"""Distributions of gear numbers: intervals, or results of identification."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import os
import pathlib
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mjgear import _catalogue
from mjgear._errors import GearError

Array = NDArray[np.float64]

KINDS = (("eta_forward", "eta_backward"), ("gamma_u", "gamma_v"))  # pairs of keys that describe a gear completely
ENGINE = {
    "armature": "dof_armature",
    "viscous": "dof_damping",
    "frictionloss": "dof_frictionloss",
}  # numbers of the model, not of the state
_PRODUCT = "eta_forward x eta_backward"  # a result of identify; needs no torque constant
# numbers of a joint in a json of identify --robot -> keys, where they have other names
_ARM = {
    "damping": ("viscous",),
    "gamma_stribeck": ("gamma_u_stribeck", "gamma_v_stribeck"),
    "gamma_quadratic": ("gamma_u_quadratic", "gamma_v_quadratic"),
}
_ARM_KEYS = ("gamma_u", "gamma_v", "coulomb", "stribeck_friction", "stribeck_velocity", "armature", *_ARM)
_NORMAL = 1.959963984540054  # half of a 95 % interval, in standard deviations
_TRIES = 1000  # rounds until all draws are in their intervals


class Distribution:
    """Distribution of the numbers of gears: sample() draws, assign() writes draws into simulations, states() makes states of them.

        drawn = mjgear.Distribution({"coulomb": (0.1, 0.5)}, ["elbow"])
        drawn.assign(gears, drawn.sample(rng, 512))

    Args:
        intervals: as randomize() takes them.
        names: gears that get draws if the intervals name none.

    Attributes:
        columns: column of a sample -> (gear, key).
        keys: keys that are drawn.
    """

    def __init__(self, intervals: Any, names: Sequence[str]) -> None:
        content = _content(intervals)
        self.names_gears = isinstance(content, Mapping) and any(key in names for key in content)
        if isinstance(content, Mapping) and "order" in content:
            law, targets = _arm_law(content, names)
            self._groups = [_Group(law, [targets])]
        else:
            self._groups = _groups(_sources(content, names))
        columns = [(gear, key, k) for group in self._groups for k, (gear, key) in group.columns()]
        starts = np.cumsum([0, *(group.width for group in self._groups)])
        index = [int(starts[g]) + k for g, group in enumerate(self._groups) for k, _ in group.columns()]
        order = sorted(
            range(len(columns)), key=lambda i: list(dict.fromkeys(gear for gear, _, _ in columns)).index(columns[i][0])
        )
        self.columns = tuple((columns[i][0], columns[i][1]) for i in order)
        self._index = np.array([index[i] for i in order])
        self.keys = {key for _, key in self.columns}

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        """Draw n gears of each name: (n, columns).

        Raises:
            GearError: no gear was found within the intervals.
        """
        parts = [group.draw(rng, n) for group in self._groups]
        values: Array = (parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1))[:, self._index]
        return values

    def assign(self, gears: Any, sample: Array, sims: ArrayLike | None = None) -> None:
        """Write a sample into the simulation of gears, or one row into each simulation of a Batch.

        Args:
            gears: mjgear.Gears.
            sample: rows of sample().
            sims: of a Batch: simulations that get a row, as a mask or ids; default: all.

        Raises:
            GearError: the library's line about a draw; nothing has changed.
        """
        from mjgear._randomize import assign

        assign(gears, self, sample, sims)

    def states(self, gears: Any, sample: Array) -> Array:
        """The state of the MjData of gears with each row of a sample, (n, size of mjSTATE_FULLPHYSICS), for mujoco.rollout.

        Raises:
            GearError: the library's line about a draw, or gears of a Batch.
        """
        from mjgear._randomize import states

        return states(gears, self, sample)

    def alone(self) -> dict[str, tuple[float, float]]:
        """Gears whose eta_forward is drawn without eta_backward, and its interval."""
        found = {}
        for group in self._groups:
            for k, (gear, key) in group.columns():
                column = k % len(group.law.keys)
                if key == "eta_forward" and (gear, "eta_backward") not in self.columns:
                    found[gear] = float(group.law.low[column]), float(group.law.high[column])
        return found


@functools.lru_cache(maxsize=64)
def _kept(frozen: Hashable, names: tuple[str, ...], intervals: _Held) -> Distribution:
    return Distribution(intervals.value, names)


class _Held:
    """A value that a cache looks at by its frozen form alone."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held)


def distribution(intervals: Any, names: Sequence[str]) -> Distribution:
    """The Distribution of intervals, read once for equal ones and for a file until it changes."""
    if isinstance(intervals, Distribution):
        return intervals
    return _kept(_frozen(intervals), tuple(names), _Held(intervals))


def _frozen(value: Any) -> Hashable:
    """Something hashable that is equal for equal intervals."""
    kind = type(value)
    if kind is float or kind is int:
        return kind, value
    if kind is dict or isinstance(value, Mapping):
        return ("map", *[(key, _frozen(inner)) for key, inner in value.items()])
    if isinstance(value, (list, tuple, np.ndarray)):
        return ("list", *[_frozen(inner) for inner in value])
    if isinstance(value, (str, os.PathLike)):
        try:
            status = pathlib.Path(value).stat()
        except (OSError, ValueError):
            return str(value)
        return str(value), status.st_mtime_ns, status.st_size
    return type(value), value if isinstance(value, Hashable) else repr(value)


@dataclasses.dataclass(frozen=True, eq=False)
class _Law:
    """Numbers that are drawn together: evenly in intervals, or normally within them."""

    keys: tuple[str, ...]
    mean: Array
    deviation: Array  # NaN: evenly
    low: Array
    high: Array
    correlation: Array


class _Group:
    """Laws that are drawn at once: the same law for several gears, each by itself.

    Args:
        law: of one gear, or of all joints of an arm.
        targets: for each gear the columns of its law: (gear, keys that get the number).
    """

    def __init__(self, law: _Law, targets: Sequence[Sequence[tuple[str, Sequence[str]]]]) -> None:
        self.law, self.targets = law, targets
        self.width = len(law.keys) * len(targets)
        self._even = bool(np.isnan(law.deviation).all())
        self._root = _root(law.correlation)
        pair = [k for k, key in enumerate(law.keys) if key in KINDS[0]]
        self._pair = sorted(pair, key=lambda k: law.keys[k] != "eta_forward") if len(pair) == 2 else None
        self._checked = not self._even or (self._pair is not None and bool(np.prod(law.high[self._pair]) > 1))

    def columns(self) -> list[tuple[int, tuple[str, str]]]:
        """Column of a draw, gear and key."""
        size = len(self.law.keys)
        return [
            (g * size + k, (gear, key))
            for g, target in enumerate(self.targets)
            for k, (gear, keys) in enumerate(target)
            for key in keys
        ]

    def draw(self, rng: np.random.Generator, n: int) -> Array:
        """(n, width): within the intervals, and of gears that there can be."""
        values = self._try(rng, n * len(self.targets))
        left: NDArray[np.intp] = np.arange(len(values))
        for _ in range(_TRIES):
            left = left[~self._fits(values[left])] if self._checked else left[:0]
            if not left.size:
                return values.reshape(n, self.width)
            values[left] = self._try(rng, len(left))
        raise GearError(
            f"no gear was found within the intervals of {', '.join(self.law.keys)}; eta_forward eta_backward is at most 1"
        )

    def _try(self, rng: np.random.Generator, count: int) -> Array:
        law = self.law
        if self._even:
            spread: Array = rng.random((count, len(law.keys)))
            spread *= law.high - law.low
            spread += law.low
            return spread
        normal: Array = law.mean + law.deviation * (rng.standard_normal((count, len(law.keys))) @ self._root.T)
        return normal

    def _fits(self, values: Array) -> NDArray[np.bool_]:
        within: NDArray[np.bool_] = np.logical_and(values >= self.law.low, values <= self.law.high)
        exists = np.ones(len(values), bool) if self._pair is None else values[:, self._pair].prod(axis=1) <= 1
        fits: NDArray[np.bool_] = np.logical_and(within.all(axis=1), exists)
        return fits


def _groups(laws: Mapping[str, _Law]) -> list[_Group]:
    """Gears of the same law together."""
    same: dict[int, list[str]] = {}
    for name, law in laws.items():
        same.setdefault(id(law), []).append(name)
    return [
        _Group(laws[names[0]], [[(name, (key,)) for key in laws[names[0]].keys] for name in names])
        for names in same.values()
    ]


def _root(correlation: Array) -> Array:
    """A square root of a matrix that is positive semidefinite but for rounding."""
    size, vectors = np.linalg.eigh(correlation)
    root: Array = vectors * np.sqrt(np.maximum(size, 0))
    return root


def _content(intervals: Any) -> Any:
    """The content of a file, and anything else unchanged."""
    if not isinstance(intervals, (str, os.PathLike)):
        return intervals
    try:
        content = json.loads(pathlib.Path(intervals).read_text(encoding="utf-8"))
        if not isinstance(content, Mapping):
            raise ValueError("its content is no object {...}")
    except (OSError, ValueError) as error:
        raise GearError(
            f"{os.fspath(intervals)}: {error}; give a json of 'mjgear identify', or {{key: (low, high)}}"
        ) from None
    return content


def _refuse(what: str) -> NoReturn:
    raise GearError(f"{what}; give the result of 'mjgear identify' as it was written")


def _is_matrix(value: Any, size: int) -> bool:
    try:
        matrix = _catalogue.floats(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return matrix.shape == (size, size) and bool(np.isfinite(matrix).all())


def _parameters(found: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """The numbers that were identified, each with its ends."""
    parameters = found.get("parameters")
    if not isinstance(parameters, Mapping):
        _refuse("'parameters' is no object {name: {value, low, high}}")
    # where the law does not explain the logs, its best numbers are drawn: they make these logs
    parameters = {name: p.get("law", p) if isinstance(p, Mapping) else p for name, p in parameters.items()}
    for name, parameter in parameters.items():
        if not isinstance(parameter, Mapping):
            _refuse(f"parameter {name} is no object {{value, low, high}}")
        for end in ("value", "low", "high"):
            number = parameter.get(end)
            if not (number is None or (isinstance(number, (int, float)) and not isinstance(number, bool))):
                _refuse(f"{end} = {number!r} of parameter {name} is not a number")
    return parameters


def _arm_law(found: Mapping[str, Any], names: Sequence[str]) -> tuple[_Law, list[tuple[str, Sequence[str]]]]:
    """All joints of an arm together, and the joint and keys of each number."""
    parameters, told, names_told = _parameters(found), found.get("joints"), found["order"]
    if (
        not isinstance(told, (Mapping, list))
        or not isinstance(names_told, list)
        or not all(isinstance(name, str) and name in parameters for name in names_told)
    ):
        _refuse("'joints' are not the arm's, or 'order' does not name its parameters")
    if not _is_matrix(found.get("correlation"), len(names_told)):
        _refuse(f"'correlation' is no matrix of {len(names_told)} rows and columns, one for each parameter in 'order'")
    joints = [str(name) for name in told]
    if not set(joints) & set(names):
        raise GearError(
            f"no gear of the model is on a joint of the arm that was identified ({', '.join(joints)}); there are {', '.join(names)}"
        )
    order: list[str] = names_told
    place: list[int] = []
    targets: list[tuple[str, Sequence[str]]] = []
    for k, name in enumerate(order):
        joint, _, number = name.rpartition(".")
        geared = joint in names
        if (
            joint not in joints
            or number not in _ARM_KEYS
            or not (geared or number in ("armature", "damping", "coulomb"))
        ):
            continue
        place.append(k)
        targets.append((joint, _ARM.get(number, (number,)) if geared or number != "coulomb" else ("frictionloss",)))
    law = _normal(
        [parameters[order[k]] for k in place],
        [order[k] for k in place],
        np.array(found["correlation"])[np.ix_(place, place)],
    )
    return law, targets


def _sources(intervals: Any, names: Sequence[str]) -> dict[str, _Law]:
    """The law of each gear."""
    intervals = _content(intervals)
    if not isinstance(intervals, Mapping) or not intervals:
        raise GearError("intervals are {key: (low, high)}, {gear: such intervals} or a json of 'mjgear identify'")
    nested = [key for key, value in intervals.items() if isinstance(value, Mapping) and "parameters" not in intervals]
    if nested or any(isinstance(value, (str, os.PathLike)) and key in names for key, value in intervals.items()):
        for key in intervals:
            if key not in names:
                raise GearError(_catalogue.unknown(str(key), "gear", names))
        return {name: _sources(inner, [name])[name] for name, inner in intervals.items()}
    law = _identified(intervals) if "parameters" in intervals else _even(intervals)
    return dict.fromkeys(names, law)


def _even(intervals: Mapping[str, Any]) -> _Law:
    """Numbers between two ends."""
    known = {**_catalogue.keys(), **_catalogue.gap_keys()}
    reporter = _catalogue.Reporter()
    ends = []
    for key, interval in intervals.items():
        if key not in known:
            reporter.refuse(_catalogue.unknown(str(key), "key", list(known)))
            continue
        ends_given = (
            isinstance(interval, (Sequence, np.ndarray))
            and not isinstance(interval, str)
            and not (isinstance(interval, np.ndarray) and interval.ndim == 0)
        )
        pair = list(interval) if ends_given else [interval, interval]
        if len(pair) != 2 or any(isinstance(end, (list, tuple, np.ndarray)) for end in pair):
            reporter.refuse(f"{key} = {interval!r} is no interval; write (low, high)")
            continue
        of_key = _catalogue.Reporter()
        numbers = [_catalogue.read_number(key, end, _catalogue.info_of(key), of_key) for end in pair]
        outside = [line for line in map(functools.partial(_outside, known[key]), numbers) if line]
        if of_key.lines():
            reporter.refuse(of_key.lines()[0])
        elif outside:
            reporter.refuse(outside[0])
        elif not (np.isfinite(numbers).all() and numbers[0] <= numbers[1]):
            reporter.refuse(f"{key} = {interval!r} is no interval; write (low, high)")
        else:
            ends.append(numbers)
    reporter.check()
    low, high = np.array(ends).T
    return _Law(tuple(intervals), low, np.full(len(low), math.nan), low, high, np.eye(len(low)))


def _outside(key: _catalogue.Key, end: float) -> str:
    """The line for an end of an interval that the key does not permit; empty if it does."""
    low = end < key.minimum or (key.open_minimum and end == key.minimum)
    high = end > key.maximum or (key.open_maximum and end == key.maximum)
    if not (low or high) or not math.isfinite(end):
        return ""
    side = ("above" if key.open_minimum else "of at least") if low else "below" if key.open_maximum else "of at most"
    return f"{key.name} = {end:g} is out of range; write a value {side} {key.minimum if low else key.maximum:g}"


def _identified(found: Mapping[str, Any]) -> _Law:
    """Numbers with the intervals and correlations that identify found."""
    parameters = _parameters(found)
    known = {**_catalogue.keys(), **_catalogue.gap_keys()}
    keys = [key for key in parameters if key in known]
    if all(key in keys for key in KINDS[0]):
        keys = [key for key in keys if key not in KINDS[1]]
    if not keys:
        raise GearError(
            f"there is no number of a gear among {', '.join(parameters)}, because model '{found.get('chosen', '')}' is not the gear's law"
        )

    law = _normal([parameters[key] for key in keys], keys, np.eye(len(keys)))
    return dataclasses.replace(law, correlation=_correlations(found, keys, law.mean, law.deviation))


def _normal(parameters: Sequence[Mapping[str, Any]], keys: Sequence[str], correlation: Array) -> _Law:
    """Normal distributions with the 95 % intervals of numbers, truncated to them; undetermined numbers stay."""

    def end(parameter: Mapping[str, Any], name: str, otherwise: float) -> float:
        value = parameter.get(name)
        return otherwise if value is None else float(value)

    mean = np.array([end(p, "value", math.nan) for p in parameters])
    low, high = (
        np.array([end(p, "low", -math.inf) for p in parameters]),
        np.array([end(p, "high", math.inf) for p in parameters]),
    )
    shown = np.array([bool(p.get("known", True)) for p in parameters])
    low, high = np.where(shown, low, mean), np.where(shown, high, mean)
    sides = np.array([high - mean, mean - low])  # one side may be cut by the range of the number
    half = np.where(np.isfinite(sides), sides, 0).max(axis=0)
    return _Law(tuple(keys), mean, half / _NORMAL, low, high, correlation)


def _correlations(found: Mapping[str, Any], keys: Sequence[str], mean: Array, deviation: Array) -> Array:
    told = found.get("correlations")
    matrix = np.eye(len(keys))
    if told:
        if not (
            isinstance(told, Mapping)
            and isinstance(told.get("names"), list)
            and _is_matrix(told.get("matrix"), len(told["names"]))
        ):
            _refuse("'correlations' is no object {names, matrix} with a row and a column for each name")
        index = [told["names"].index(key) if key in told["names"] else -1 for key in keys]
        for i, a in enumerate(index):
            for k, b in enumerate(index):
                if i != k and a >= 0 and b >= 0:
                    matrix[i, k] = told["matrix"][a][b]
        return matrix
    product = found["parameters"].get(_PRODUCT)
    if product and product.get("known", True) and all(key in keys for key in KINDS[0]):
        f, b = (keys.index(key) for key in KINDS[0])
        ends = [
            abs(float(product[end]) - float(product["value"]))
            for end in ("low", "high")
            if product.get(end) is not None
        ]
        variance = (max(ends, default=0) / _NORMAL) ** 2
        first, second = mean[b] * deviation[f], mean[f] * deviation[b]
        if first * second != 0:
            matrix[f, b] = matrix[b, f] = np.clip((variance - first**2 - second**2) / (2 * first * second), -1, 1)
    return matrix
