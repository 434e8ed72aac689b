"""Gears drawn at random: one for each simulation of a Batch, of a rollout or of MuJoCo Warp."""

from __future__ import annotations

import copy
import dataclasses
import functools
import json
import math
import os
import pathlib
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from mjgear import _catalogue, _tables
from mjgear._errors import GearError, GearTypeError, GearWarning
from mjgear._gears import Gears

Array = NDArray[np.float64]

_KINDS = (("eta_forward", "eta_backward"), ("gamma_u", "gamma_v"))  # pairs that say all of what a gear is
_PRODUCT = "eta_forward x eta_backward"  # of identify: known without the torque constant
_ENGINE = {"armature": "dof_armature", "viscous": "dof_damping", "frictionloss": "dof_frictionloss"}  # numbers of the model, not of the state
# numbers of a joint in a json of identify --robot -> keys, where they have other names
_ARM = {"damping": ("viscous",), "gamma_stribeck": ("gamma_u_stribeck", "gamma_v_stribeck"), "gamma_quadratic": ("gamma_u_quadratic", "gamma_v_quadratic")}
_ARM_KEYS = ("gamma_u", "gamma_v", "coulomb", "stribeck_friction", "stribeck_velocity", "armature", *_ARM)
_NORMAL = 1.959963984540054  # half of a 95 % interval, in standard deviations
_TRIES = 1000  # rounds until all draws are in their intervals


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class Draws:
    """What randomize() drew.

    Attributes:
        values: gear -> key -> draws, (n,). Of a whole arm also the joints without a gear: armature, viscous, frictionloss.
        states: the simulation's state with each draw, (n, size of mjSTATE_FULLPHYSICS), for mujoco.rollout; None where
            the draws were written into a simulation, a Batch or MuJoCo Warp.
        of_model: keys that are drawn but no part of a state, armature, viscous and frictionloss: see models().

    ``print(draws)`` shows a table.
    """

    values: Mapping[str, Mapping[str, Array]]
    states: Array | None
    of_model: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<mjgear.Draws: {self._count()} of {', '.join(self.values)}>"

    def __str__(self) -> str:
        known = {**_catalogue.keys(), **_catalogue.gap_keys()}
        rows = []
        for name, drawn in self.values.items():
            for key, series in drawn.items():
                unit = known[key].unit if key in known else "N m"  # frictionloss is the engine's
                rows.append((name, key, unit, *(_tables.number(f(series)) for f in (np.min, np.mean, np.max))))
        return f"{self._count()} draws\n" + _tables.headed(("gear", "number", "unit", "smallest", "mean", "largest"), ("",) * 6, rows)

    def _count(self) -> int:
        return len(next(iter(next(iter(self.values.values())).values())))

    def models(self, model: mujoco.MjModel) -> list[mujoco.MjModel]:
        """A copy of the model for each draw, with its armature, viscous friction and frictionloss: for rollout, or Batch.set_models.

        Args:
            model: the one that the gears are of; it stays as it is.
        """
        copies = [copy.copy(model) for _ in range(self._count())]
        for name, drawn in self.values.items():
            joint = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)
            if joint < 0:
                raise GearError(f"'{name}' is no joint of the model, which has its own armature; set that of a tendon yourself")
            dof = model.jnt_dofadr[joint]
            for key in set(drawn) & set(_ENGINE):
                for i, one in enumerate(copies):
                    field = getattr(one, _ENGINE[key])
                    field[(dof, 0) if field.ndim > 1 else dof] = drawn[key][i]
        return copies


def randomize(gears: Any, intervals: Any, rng: np.random.Generator | int | None = None, *, n: int | None = None) -> Draws:
    """Draw gears at random and give each simulation one.

    Args:
        gears: mjgear.Gears of a Batch: each simulation gets a draw. Of a MjData: it gets one, or with n its state is
            handed back n times with a draw each, for mujoco.rollout. mjgear.warp.Gears: each world gets a draw.
        intervals: {key: (low, high)}, from which numbers are drawn evenly, independently for each gear; a key of doc/mjcf.md
            in SI or with units, or one number that all get. Or what ``mjgear identify`` wrote, a file or its content as
            dict: normal distributions with its 95 % intervals, within these, with its correlations (those of the
            efficiencies from the interval of their product where it tells no others); what logs do not show stays at its
            value. Or {gear: one of these}, for some gears. What ``mjgear identify --robot`` wrote is drawn for all joints of
            the arm together, so that what the logs leave open between joints stays so.
        rng: generator of the draws, or its seed; without it they differ in each call.
        n: how many states; only for a MjData.

    Returns:
        The draws, with states if n was given. Rotor inertia and viscous friction belong to models and not to
        states: Draws.models() makes those.

    Raises:
        GearError: an unknown key or gear, an interval that is none, or the library's line about a draw, with nothing
            changed.

    Warns:
        GearWarning: armature or viscous friction is drawn, which are not written; gears that a geometry describes, a worm
            for instance, become gears with the efficiencies that were drawn. {gear: intervals} names gears and is not warned of.
    """
    of_warp = not isinstance(gears, Gears)
    model = gears.mjm if of_warp and hasattr(gears, "mjm") else getattr(gears, "_model", None)
    if model is None:
        raise GearTypeError(f"randomize needs mjgear.Gears or mjgear.warp.Gears, not {type(gears).__name__}")
    names: list[str] = list(gears.names) if of_warp else list(gears)
    rows, single = _rows(gears, model, of_warp, n)
    generator = np.random.default_rng(rng)
    intervals = _content(intervals)
    if isinstance(intervals, Mapping) and "order" in intervals:
        values = _draw_arm(intervals, names, generator, len(rows))
    else:
        values = {name: _draw(source, generator, len(rows)) for name, source in _sources(intervals, names).items()}
    keys = {key for drawn in values.values() for key in drawn}
    of_model = tuple(key for key in _ENGINE if key in keys)
    if of_model:
        warnings.warn(f"draws of {' and '.join(of_model)} belong to the model and not to its state; Draws.models(model) has them", GearWarning, stacklevel=2)

    # into copies first, so that all change or none
    changed = rows.copy()
    view = Gears(model, _States(changed, gears, of_warp))
    if not any(name in names for name in intervals):  # which names no gear
        _warn_replaced(view, values)
    for name in (name for name in values if name in names):
        drawn = values[name]
        _give(view[name], {key: series for key, series in drawn.items() if key not in _ENGINE})
    states = None
    if of_warp:
        _to_warp(gears, view)
    elif n is not None:
        states = _full_states(model, gears._data, changed)
    else:
        rows[...] = changed
        if single:
            gears._data.plugin_state[:] = changed[0]
    return Draws(values, states, of_model)


# ------------------------------------------ where draws go ---------------------------------------


class _States:
    """States as Gears takes those of a Batch."""

    def __init__(self, rows: Array, gears: Any, of_warp: bool) -> None:
        self._rows = rows
        self.models = None if of_warp or gears._batch is None else gears._batch.models

    def bind(self, name: str) -> Array:
        return self._rows if name == "plugin_state" else np.zeros((len(self._rows), 0))


def _rows(gears: Any, model: mujoco.MjModel, of_warp: bool, n: int | None) -> tuple[Array, bool]:
    """plugin_state of all simulations, and whether it is one."""
    if of_warp or gears._batch is not None:
        if n is not None:
            raise GearError(f"n = {n}: a Batch or mjgear.warp.Gears has as many draws as simulations; leave n out")
        if of_warp:
            state: Array = mujoco.MjData(model).plugin_state
            return np.tile(state, (gears.gamma_u.shape[0], 1)), False
        rows: Array = gears._batch.bind("plugin_state")
        return rows, False
    if n is not None and n < 1:
        raise GearError(f"n = {n} is no number of draws; write 1 or more")
    return np.tile(gears._data.plugin_state, (n or 1, 1)), n is None


# numbers of which each belongs to one kind of gear that is more than its coefficients
_GEOMETRY = ("lead_angle", "lead", "radius_in", "input_angle", "teeth_sun", "rated_torque", "wrap_angle", "mu_avg")


def _warn_replaced(view: Gears, values: Mapping[str, Mapping[str, Array]]) -> None:
    """Tell which gears become gears of another kind."""
    pairs = [name for name in values if name in view and any(all(key in values[name] for key in pair) for pair in _KINDS)]
    replaced = [name for name in pairs if any(view[name][key] is not None for key in _GEOMETRY)]
    if replaced:
        drawn = " and ".join(next(pair for pair in _KINDS if all(key in values[replaced[0]] for key in pair)))
        warnings.warn(
            f"{', '.join(replaced)}: a geometry describes the gear, a worm or a screw for instance, and {drawn} that are drawn take its "
            "place; write {gear: intervals} to name the gears that get draws",
            GearWarning,
            stacklevel=3,
        )


def _give(gear: Any, drawn: Mapping[str, Array]) -> None:
    """Write draws into the states: in the words of what is drawn if that is all of what a gear is."""
    for pair in _KINDS:
        if all(key in drawn for key in pair):
            gear.describe(**{key: drawn[key] for key in pair})
            drawn = {key: series for key, series in drawn.items() if key not in pair}
    if drawn:
        gear.set(**drawn)


def _full_states(model: mujoco.MjModel, data: mujoco.MjData, rows: Array) -> Array:
    """mjSTATE_FULLPHYSICS of data with each plugin_state."""
    spec = mujoco.mjtState.mjSTATE_FULLPHYSICS
    states = np.empty((len(rows), mujoco.mj_stateSize(model, spec)))
    before = data.plugin_state.copy()
    for row, state in zip(rows, states, strict=True):
        data.plugin_state[:] = row
        mujoco.mj_getState(model, data, state, spec)
    data.plugin_state[:] = before
    return states


def _to_warp(gears: Any, view: Gears) -> None:
    """The numbers of all worlds, as the library reads them from the states."""
    from mjgear.warp import reading

    for key in reading.NUMBERS:
        numbers = getattr(gears, key).numpy()
        for i, name in enumerate(gears.names):
            series = view[name][key]
            if series is not None:
                numbers[:, i] = series
        getattr(gears, key).assign(numbers)


# ------------------------------------------ distributions ----------------------------------------


@dataclasses.dataclass(frozen=True, eq=False)
class _Law:
    """Numbers that are drawn together: evenly in intervals, or normally within them."""

    keys: tuple[str, ...]
    mean: Array
    deviation: Array  # NaN: evenly
    low: Array
    high: Array
    correlation: Array


def _draw(law: _Law, rng: np.random.Generator, n: int) -> dict[str, Array]:
    """n draws of each key, all within their intervals and of gears that there can be."""
    even = np.isnan(law.deviation)
    values = np.empty((n, len(law.keys)))
    left: NDArray[np.bool_] = np.ones(n, bool)
    root = _root(law.correlation)
    for _ in range(_TRIES):
        count = int(left.sum())
        normal = law.mean + np.where(even, 0, law.deviation) * (rng.standard_normal((count, len(law.keys))) @ root.T)
        spread = rng.uniform(size=(count, len(law.keys)))
        values[left] = np.where(even, law.low + spread * np.where(even, law.high - law.low, 0), normal)
        fits = ((values >= law.low) & (values <= law.high)).all(axis=1)
        drawn = dict(zip(law.keys, values.T, strict=True))
        if all(key in drawn for key in _KINDS[0]):
            fits &= drawn["eta_forward"] * drawn["eta_backward"] <= 1
        left = np.logical_not(fits)
        if not left.any():
            return drawn
    raise GearError(f"no gear was found within the intervals of {', '.join(law.keys)}; eta_forward eta_backward is at most 1")


def _root(correlation: Array) -> Array:
    """A square root of a matrix that is positive semidefinite but for rounding."""
    size, vectors = np.linalg.eigh(correlation)
    root: Array = vectors * np.sqrt(np.maximum(size, 0))
    return root


def _content(intervals: Any) -> Any:
    """What a file says, and anything else as it is."""
    if not isinstance(intervals, (str, os.PathLike)):
        return intervals
    try:
        return json.loads(pathlib.Path(intervals).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise GearError(f"{os.fspath(intervals)}: {error}; give a json of 'mjgear identify', or {{key: (low, high)}}") from None


def _draw_arm(found: Mapping[str, Any], names: Sequence[str], rng: np.random.Generator, n: int) -> dict[str, dict[str, Array]]:
    """n draws of all joints of an arm together: joint -> key -> (n,)."""
    joints = list(found["joints"])
    if not set(joints) & set(names):
        raise GearError(f"no gear of the model is on a joint of the arm that was identified ({', '.join(joints)}); there are {', '.join(names)}")
    order: list[str] = found["order"]
    place, targets = [], []
    for k, name in enumerate(order):
        joint, _, number = name.rpartition(".")
        geared = joint in names
        if joint not in joints or number not in _ARM_KEYS or not (geared or number in ("armature", "damping", "coulomb")):
            continue
        keys = _ARM.get(number, (number,)) if geared or number != "coulomb" else ("frictionloss",)
        place.append(k)
        targets.append((joint, keys))
    law = _normal([found["parameters"][order[k]] for k in place], [order[k] for k in place], np.array(found["correlation"])[np.ix_(place, place)])
    drawn = _draw(law, rng, n)
    values: dict[str, dict[str, Array]] = {}
    for series, (joint, keys) in zip(drawn.values(), targets, strict=True):
        values.setdefault(joint, {}).update(dict.fromkeys(keys, series))
    return values


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
            reporter.refuse(_catalogue.unknown(key, "key", list(known)))
            continue
        pair = [interval, interval] if isinstance(interval, str) or np.ndim(interval) == 0 else list(interval)
        numbers = [_catalogue.read_number(key, end, _catalogue.info_of(key), reporter) for end in pair]
        outside = [line for line in map(functools.partial(_outside, known[key]), numbers) if line]
        if outside:
            reporter.refuse(outside[0])
        elif len(numbers) != 2 or not (np.isfinite(numbers).all() and numbers[0] <= numbers[1]):
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
    parameters: Mapping[str, Mapping[str, Any]] = found["parameters"]
    known = {**_catalogue.keys(), **_catalogue.gap_keys()}
    keys = [key for key in parameters if key in known]
    if all(key in keys for key in _KINDS[0]):
        keys = [key for key in keys if key not in _KINDS[1]]
    if not keys:
        raise GearError(f"there is no number of a gear among {', '.join(parameters)}, because model '{found.get('chosen', '')}' is not the gear's law")

    law = _normal([parameters[key] for key in keys], keys, np.eye(len(keys)))
    return dataclasses.replace(law, correlation=_correlations(found, keys, law.mean, law.deviation))


def _normal(parameters: Sequence[Mapping[str, Any]], keys: Sequence[str], correlation: Array) -> _Law:
    """Normal distributions that have the 95 % intervals of numbers, within these; what logs do not show stays."""

    def end(parameter: Mapping[str, Any], name: str, otherwise: float) -> float:
        value = parameter.get(name)
        return otherwise if value is None else float(value)

    mean = np.array([end(p, "value", math.nan) for p in parameters])
    low, high = np.array([end(p, "low", -math.inf) for p in parameters]), np.array([end(p, "high", math.inf) for p in parameters])
    shown = np.array([bool(p.get("known", True)) for p in parameters])
    low, high = np.where(shown, low, mean), np.where(shown, high, mean)
    sides = np.array([high - mean, mean - low])  # one side may be cut by the range of the number
    half = np.where(np.isfinite(sides), sides, 0).max(axis=0)
    return _Law(tuple(keys), mean, half / _NORMAL, low, high, correlation)


def _correlations(found: Mapping[str, Any], keys: Sequence[str], mean: Array, deviation: Array) -> Array:
    told = found.get("correlations")
    matrix = np.eye(len(keys))
    if told:
        index = [told["names"].index(key) if key in told["names"] else -1 for key in keys]
        for i, a in enumerate(index):
            for k, b in enumerate(index):
                if i != k and a >= 0 and b >= 0:
                    matrix[i, k] = told["matrix"][a][b]
        return matrix
    product = found["parameters"].get(_PRODUCT)
    if product and product.get("known", True) and all(key in keys for key in _KINDS[0]):
        f, b = (keys.index(key) for key in _KINDS[0])
        ends = [abs(float(product[end]) - float(product["value"])) for end in ("low", "high") if product.get(end) is not None]
        variance = (max(ends, default=0) / _NORMAL) ** 2
        first, second = mean[b] * deviation[f], mean[f] * deviation[b]
        if first * second != 0:
            matrix[f, b] = matrix[b, f] = np.clip((variance - first**2 - second**2) / (2 * first * second), -1, 1)
    return matrix
