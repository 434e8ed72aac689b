"""Gears drawn at random: one for each simulation of a Batch, of a rollout or of MuJoCo Warp."""

from __future__ import annotations

import copy
import dataclasses
import functools
import weakref
from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from mjgear import _catalogue, _tables
from mjgear._changes import Changes, get_rows
from mjgear._distributions import ENGINE, KINDS, Distribution, distribution
from mjgear._errors import GearError, GearTypeError, warn
from mjgear._gears import Gear, Gears

Array = NDArray[np.float64]

# numbers of which each belongs to one kind of gear that is more than its coefficients
_GEOMETRY = ("lead_angle", "lead", "radius_in", "input_angle", "teeth_sun", "rated_torque", "wrap_angle", "mu_avg")


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class Draws:
    """Result of randomize().

    Attributes:
        sample: one row a draw, (n, columns).
        columns: column -> (gear, key).
        states: the simulation's state with each draw, (n, size of mjSTATE_FULLPHYSICS), for mujoco.rollout; None where
            the draws were written into a simulation, a Batch or MuJoCo Warp.
        of_model: drawn keys that are not part of a state, armature, viscous and frictionloss: see models().

    ``print(draws)`` shows a table.
    """

    sample: Array
    columns: tuple[tuple[str, str], ...]
    states: Array | None
    of_model: tuple[str, ...]

    @functools.cached_property
    def values(self) -> Mapping[str, Mapping[str, Array]]:
        """gear -> key -> draws, (n,). For a whole arm also joints without a gear: armature, viscous, frictionloss."""
        found: dict[str, dict[str, Array]] = {}
        for k, (gear, key) in enumerate(self.columns):
            found.setdefault(gear, {})[key] = self.sample[:, k]
        return found

    def __repr__(self) -> str:
        return f"<mjgear.Draws: {len(self.sample)} of {', '.join(self.values)}>"

    def __str__(self) -> str:
        known = {**_catalogue.keys(), **_catalogue.gap_keys()}
        rows = []
        for name, drawn in self.values.items():
            for key, series in drawn.items() if len(self.sample) else ():
                unit = known[key].unit if key in known else "N m"  # frictionloss is the engine's
                rows.append((name, key, unit, *(_tables.number(f(series)) for f in (np.min, np.mean, np.max))))
        return f"{len(self.sample)} draws\n" + _tables.headed(
            ("gear", "number", "unit", "smallest", "mean", "largest"), ("",) * 6, rows
        )

    def models(self, model: mujoco.MjModel) -> list[mujoco.MjModel]:
        """A copy of the model for each draw, with its armature, viscous friction and frictionloss: for rollout, or Batch.set_models.

        Args:
            model: model of the gears; it stays unchanged.
        """
        copies = [copy.copy(model) for _ in range(len(self.sample))]
        for name, drawn in self.values.items():
            joint = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)
            if joint < 0:
                raise GearError(
                    f"'{name}' is no joint of the model, which has its own armature; set that of a tendon yourself"
                )
            dof = model.jnt_dofadr[joint]
            for key in set(drawn) & set(ENGINE):
                for i, one in enumerate(copies):
                    field = getattr(one, ENGINE[key])
                    field[(dof, 0) if field.ndim > 1 else dof] = drawn[key][i]
        return copies


def randomize(
    gears: Any,
    intervals: Any,
    rng: np.random.Generator | int | None = None,
    *,
    n: int | None = None,
    sims: ArrayLike | None = None,
) -> Draws:
    """Draw gears at random and give each simulation one.

    Args:
        gears: mjgear.Gears of a Batch: each simulation gets a draw. Of a MjData: it gets one, or with n its state is
            handed back n times with a draw each, for mujoco.rollout. mjgear.warp.Gears: each world gets a draw. Or one
            gear of them: gears["elbow"].
        intervals: {key: (low, high)}, from which numbers are drawn evenly, independently for each gear; a key of doc/mjcf.md
            in SI or with units, or one number that all get. Or the result of ``mjgear identify``, a file or its content as
            dict: normal distributions with its 95 % intervals as limits, and its correlations (those of the
            efficiencies from the interval of their product where it tells no others); what logs do not show stays at its
            value. Or {gear: one of these}, for some gears. Results of ``mjgear identify --robot`` are drawn for all joints of
            the arm together, so that correlations between joints are kept. Or a Distribution.
        rng: generator of the draws, or its seed; without it they differ in each call.
        n: number of states; only for a MjData.
        sims: of a Batch or of Warp: simulations that get a draw, as a mask or ids. Default: all.

    Returns:
        The draws, with states if n was given. Rotor inertia and viscous friction belong to models and not to
        states: Draws.models() makes such models.

    Raises:
        GearError: an unknown key or gear, an invalid interval, or the library's line about a draw, with nothing
            changed.

    Warns:
        GearWarning: armature or viscous friction is drawn, which are not written; gears that a geometry describes, a worm
            for instance, become gears with the efficiencies that were drawn. {gear: intervals} names gears and is not warned of.
            eta_forward is drawn without eta_backward, which then follows it or makes a coefficient negative. Gears are
            warned of once.
    """
    only = None
    if isinstance(gears, Gear):
        only, gears = [gears.name], gears._gears
    of_warp = not isinstance(gears, Gears)
    model = gears.mjm if of_warp and hasattr(gears, "mjm") else getattr(gears, "_model", None)
    if model is None:
        raise GearTypeError(f"randomize needs mjgear.Gears or mjgear.warp.Gears, not {type(gears).__name__}")
    drawn = distribution(intervals, only or tuple(gears.names if of_warp else gears))
    of_model = tuple(key for key in ENGINE if key in drawn.keys)
    if of_model:
        warn(
            f"draws of {' and '.join(of_model)} belong to the model and not to its state; Draws.models(model) has them"
        )
    target = _Warp(gears, model, sims, n) if of_warp else _Target(gears, sims, n)
    sample = drawn.sample(np.random.default_rng(rng), target.count)
    _assign(target, drawn, sample)
    return Draws(sample, drawn.columns, target.states(), of_model)


def assign(gears: Gears, drawn: Distribution, sample: Array, sims: ArrayLike | None = None) -> None:
    """Write a sample of a distribution into simulations, a row each.

    Raises:
        GearError: the library's line about a draw; nothing has changed.

    Warns:
        GearWarning: as randomize().
    """
    _assign(_Target(gears, sims, None), drawn, sample)


def states(gears: Gears, drawn: Distribution, sample: Array) -> Array:
    """The state of one simulation with each row of a sample; as assign()."""
    target = _Target(gears, None, len(sample))
    _assign(target, drawn, sample)
    found: Array | None = target.states()
    assert found is not None
    return found


def _assign(target: Any, drawn: Distribution, sample: Array) -> None:
    plan = _plan(target.gears, drawn)
    if plan.changes.count:
        values = sample if plan.index is None else sample[:, plan.index]
        former = None if plan.told or not len(values) else target.first()
        target.write(plan.changes, values)
        if former is not None:
            plan.tell(target.gears, former, values[:1])


def reset(
    target: Any,
    sims: ArrayLike | None = None,
    intervals: Any = None,
    rng: np.random.Generator | int | None = None,
    *,
    keyframe: int = -1,
) -> Draws | None:
    """Reset simulations, draw new gears for each, and compute their first mj_forward.

    Without intervals gears are the model's, as after Batch.reset.

    Args:
        target: a mujoco.batch.Batch, its mjgear.Gears, or Gears of one MjData.
        sims: simulations of a Batch that are reset, a mask (nsim,) or ids (n,); default: all.
        intervals, rng: as randomize() takes them.
        keyframe: a keyframe of the model; -1: its defaults.

    Returns:
        The draws; None without intervals.

    Raises:
        GearError: refusals of randomize(); then the simulations are reset and their gears are the model's.
    """
    gears = target
    if not isinstance(target, Gears):
        if not hasattr(target, "get_model"):
            raise GearTypeError(f"reset needs a mujoco.batch.Batch or mjgear.Gears, not {type(target).__name__}")
        gears = target.__dict__.get("_mjgear_gears")
        if gears is None:
            gears = Gears(target.get_model(0), target)
            object.__setattr__(target, "_mjgear_gears", gears)  # made once, and gone with the Batch
    if gears._batch is None:
        model, data = gears._single("reset")
        if sims is not None:
            raise GearError("sims chooses among the simulations of a Batch, and this is one simulation; leave it out")
        if keyframe >= 0:
            mujoco.mj_resetDataKeyframe(model, data, keyframe)
        else:
            mujoco.mj_resetData(model, data)
        draws = None if intervals is None else randomize(gears, intervals, rng)
        mujoco.mj_forward(model, data)
        return draws
    ids = gears._ids(sims)
    gears._batch.reset(ids=ids, keyframe=keyframe, stage=mujoco.mjtStage.mjSTAGE_NONE)
    try:
        return None if intervals is None else randomize(gears, intervals, rng, sims=ids)
    finally:
        gears._batch.forward(ids=ids)


# ------------------------------------------ where draws go ---------------------------------------


class _Target:
    """A simulation, states made of it, or simulations of a Batch."""

    def __init__(self, gears: Gears, sims: ArrayLike | None, n: int | None) -> None:
        self.gears, self._n = gears, n
        if gears._batch is not None:
            if n is not None:
                raise GearError(f"n = {n}: a Batch or mjgear.warp.Gears has as many draws as simulations; leave n out")
            self._ids = gears._ids(sims)
            self.count = len(gears._batch.bind("plugin_state")) if self._ids is None else len(self._ids)
            return
        if sims is not None:
            raise GearError("sims chooses among the simulations of a Batch, and this is one simulation; leave it out")
        if n is not None and n < 1:
            raise GearError(f"n = {n} is no number of draws; write 1 or more")
        self._ids, self.count = None, n or 1
        self._rows: Array = np.tile(gears._data.plugin_state, (n or 0, 1))

    def first(self) -> Array:
        """plugin_state of the first simulation, a copy (1, size)."""
        if self.gears._batch is None:
            return np.array(self.gears._data.plugin_state[None])
        return np.array(self.gears._batch.bind("plugin_state")[0 if self._ids is None else self._ids[0]][None])

    def write(self, changes: Changes, values: Array) -> None:
        """Change all or none."""
        if self._n is not None:
            changes.apply(self.gears._model, self._rows, values)
        elif self.count:
            self.gears._apply(changes, values, self._ids)

    def states(self) -> Array | None:
        return None if self._n is None else _full_states(self.gears._model, self.gears._data, self._rows)


class _Warp:
    """Worlds of mjgear.warp.Gears."""

    def __init__(self, worlds: Any, model: mujoco.MjModel, sims: ArrayLike | None, n: int | None) -> None:
        if n is not None:
            raise GearError(f"n = {n}: a Batch or mjgear.warp.Gears has as many draws as simulations; leave n out")
        self._worlds = worlds
        self._ids = worlds._ids(sims)
        self.count = worlds.gamma_u.shape[0] if self._ids is None else len(self._ids)
        if not hasattr(worlds, "_host"):
            object.__setattr__(worlds, "_host", Gears(model, mujoco.MjData(model)))
        self.gears = worlds._host

    def first(self) -> Array:
        return np.array(self.gears._data.plugin_state[None])

    def write(self, changes: Changes, values: Array) -> None:
        """Change all or none: the numbers as the library reads them from states."""
        from mjgear.warp import reading

        model = self.gears._model
        rows = np.tile(self.gears._data.plugin_state, (self.count, 1))
        changes.apply(model, rows, values)
        if self.count:
            self._worlds._write(
                self._ids,
                {
                    key: np.stack(
                        [get_rows(model, rows, self.gears[name].joint, key) for name in self._worlds.names], axis=1
                    )
                    for key in reading.NUMBERS
                },
            )

    def states(self) -> None:
        return None


class _Plan:
    """Writes draws into the gears of a model, and gives each warning once."""

    def __init__(self, gears: Gears, drawn: Distribution) -> None:
        index = [k for k, (gear, key) in enumerate(drawn.columns) if gear in gears and key not in ENGINE]
        columns = [drawn.columns[k] for k in index]
        self.index = None if len(index) == len(drawn.columns) else index
        self._kinds = {
            gear: pair for pair in KINDS for gear in dict(columns) if all((gear, key) in columns for key in pair)
        }
        self.changes = Changes(
            [(gears[gear].joint, key, gear in self._kinds and key in self._kinds[gear]) for gear, key in columns]
        )
        self._named = drawn.names_gears
        self._alone = {gear: interval for gear, interval in drawn.alone().items() if gear in gears}
        self.told = False

    def tell(self, gears: Gears, state: Array, values: Array) -> None:
        """Warn of side effects: changes of the first draw to the first state, compared with a copy."""
        self.told = True

        def number(gear: str, key: str) -> float:
            return float(get_rows(gears._model, state, gears[gear].joint, key)[0])

        replaced = (
            []
            if self._named
            else [gear for gear in self._kinds if any(not np.isnan(number(gear, key)) for key in _GEOMETRY)]
        )
        backward = {gear: number(gear, "eta_backward") for gear in self._alone}
        self.changes.apply(gears._model, state, values)
        if replaced:
            drawn = " and ".join(self._kinds[replaced[0]])
            warn(
                f"{', '.join(replaced)}: a geometry describes the gear, a worm or a screw for instance, and {drawn} that are drawn take its "
                "place; write {gear: intervals} to name the gears that get draws",
            )
        follows = [gear for gear, former in backward.items() if former != number(gear, "eta_backward")]
        if follows:
            warn(
                f"{', '.join(follows)}: eta_forward is drawn alone, and eta_backward, which is not given, follows it as 2 - 1/eta_forward; draw "
                "eta_backward too, or give it in the model",
            )
        odd = [gear for gear, former in backward.items() if gear not in follows and _is_odd(*self._alone[gear], former)]
        if odd:
            warn(
                f"{', '.join(odd)}: within the interval of eta_forward a coefficient is negative with the eta_backward that the gear has; draw "
                "eta_backward too",
            )


def _is_odd(low: float, high: float, backward: Any) -> bool:
    """True if efficiencies make gamma_u = (1 - 2 f + f b)/(1 - f b) or gamma_v = (1 - 2 b + f b)/(1 - f b) negative."""
    return bool(np.any([(1 - 2 * high + high * backward < -1e-12) | (1 - 2 * backward + low * backward < -1e-12)]))


def _plan(gears: Gears, drawn: Distribution) -> _Plan:
    """The plan of gears for a distribution, made once."""
    plans: weakref.WeakKeyDictionary[Distribution, _Plan] | None = gears.__dict__.get("_plans")
    if plans is None:
        plans = gears.__dict__["_plans"] = weakref.WeakKeyDictionary()
    plan = plans.get(drawn)
    if plan is None:
        plan = plans[drawn] = _Plan(gears, drawn)
    return plan


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
