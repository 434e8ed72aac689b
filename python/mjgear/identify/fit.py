"""Models fitted to logs, from several starts, each model with the same budget."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from mjgear.identify import backlash
from mjgear.identify.bench import Bench, Pendulum
from mjgear.identify.leastsquares import at, minimize
from mjgear.identify.models import MODELS, PARAMETERS, Model, translated


@dataclass(frozen=True)
class Budget:
    """Budget of every model.

    A simulation over seconds that sticks and slips has many local minima. One that returns to the measured state every
    tenth of a second has hardly more than one. So the fit begins with short pieces, goes on with longer ones, and from there, and
    from the solutions of nested models, over whole logs.

    Short pieces show the motor's torque and little of its back-EMF, which grows with torque_constant if its quotient by the resistance is kept.
    Along this line lie the local minima over whole logs, and so do the starts.

    Attributes:
      starts: over whole logs, of models that contain no other: the best solution in pieces from the middle of the start
        ranges and from a weak motor, then the same with other torque constants and resistances, or random ones where neither is fitted. Others start from the middle and
        from the models that they contain. With a gap between two encoders: sweeps, besides the first one (backlash.py).
      iterations: of each fit.
      pieces: their lengths, s.
      gap: largest half gap that is looked for, rad.
    """

    starts: int = 4
    iterations: int = 50
    pieces: tuple[float, ...] = (0.1, 0.25, 1.0)
    gap: float = 0.02


@dataclass
class Fit:
    """A model fitted to logs.

    Attributes:
      values: parameter -> SI value.
      cost: of the robust loss, in the unit of the residual squared.
      costs: of every start, best first.
      simulations: of the bench, of all starts.
      jacobian: of the residual by the parameters in units of their size, at the solution.
      seconds: of processor time.
      others: with a gap that one encoder shows: values at the gaps beside the fitted one, which other logs may prefer.
    """

    model: Model
    values: dict[str, float]
    cost: float
    costs: list[float]
    simulations: int
    jacobian: np.ndarray
    seconds: float = 0.0
    others: list[dict[str, float]] = field(default_factory=list)


def fit(
    bench: Bench,
    model: Model,
    budget: Budget | None = None,
    logs: Sequence[int] | None = None,
    rng: np.random.Generator | None = None,
    near: Sequence[dict[str, float]] = (),
) -> Fit:
    """Fit a model to logs: the best of several starts.

    Args:
      budget: starts and iterations.
      logs: which of the bench's logs, with repetition if wanted; None: all.
      rng: of the starts; None: seed 0.
      near: further starts, as values.
    """
    begin = time.process_time()
    budget = budget or Budget()
    rng = rng or np.random.default_rng(0)
    logs = list(range(len(bench.logs)) if logs is None else logs)
    space = bench.space(model)
    middle = space.start.mean(axis=0)
    starts = [middle]
    iterations, spent = budget.iterations, 0

    # a gap has starts of its own
    if "half_gap" in space.names and isinstance(bench, Pendulum):
        first = near[0] if near else space.values(middle)
        starts = []
        if backlash.has_two_encoders([bench.logs[i] for i in logs]):
            swept, spent = backlash.sweep(bench, model, logs, first, budget.starts + 1)
            iterations, near = 1, [swept]  # the gap stays as the encoders say; cost and Jacobian there
        elif not first["half_gap"] > 0:
            near, spent = backlash.starts(bench, model, logs, budget.gap, first)

    # in short pieces, then in longer ones, where nothing better is known: their cost tells a weak motor from a strong one with much back-EMF
    electric = [i for i, name in enumerate(space.names) if name in ("torque_constant", "resistance")]
    weak = middle.copy()
    weak[electric] *= _WEAK
    heads = [middle, weak] if electric else [middle]
    for length in () if near else budget.pieces:
        pieces = bench.pieces(length)
        if pieces is not None:
            begun = [minimize(pieces, model, logs, z, space, budget.iterations, rough=True) for z in heads]
            spent += sum(n for _, n in begun)
            heads = [min((result for result, _ in begun), key=lambda r: float(r.cost)).x]
            starts = heads[:]

    for k in range(0 if near else budget.starts - 1):
        other = starts[0].copy() if electric else rng.uniform(*space.start)
        other[electric] *= _SPREAD ** ((k // 2 + 1) * (-1) ** k)
        starts.append(other)

    # over whole logs: a few iterations from everywhere, then on from the best ones
    starts += [space.point({**space.values(middle), **v}) for v in near]
    tried = [minimize(bench, model, logs, z, space, min(_RACE, iterations), rough=True) for z in starts]
    if iterations > 1:
        ahead = sorted((r for r, _ in tried), key=lambda r: float(r.cost))[:_AHEAD]
        tried += [
            minimize(bench, model, logs, r.x, space, iterations, rough=True) for r in ahead if r.status == 0
        ]  # stopped by the limit of iterations
        leader = min((result for result, _ in tried), key=lambda r: float(r.cost))
        tried.append(minimize(bench, model, logs, leader.x, space, iterations))
    spent += sum(n for _, n in tried)
    best = min((result for result, _ in tried), key=lambda r: r.cost)
    costs = sorted(float(result.cost) for result, _ in tried)
    return Fit(model, space.values(best.x), float(best.cost), costs, spent, best.jac, time.process_time() - begin)


def fit_ladder(
    bench: Bench,
    models: Sequence[Model],
    budget: Budget | None = None,
    logs: Sequence[int] | None = None,
    rng: np.random.Generator | None = None,
    start: Mapping[str, Fit] | None = None,
) -> dict[str, Fit]:
    """Fit several models to the same logs, each with the same budget, or from `start` alone where it has the model.

    A model that contains another one starts from that one's solution too, and the other one from its own, in both directions
    until nothing improves: no model keeps a local minimum that another one has left. So the cost never grows with the model,
    which is asserted. The exception is a gap from two encoders, which no cost decides.

    Returns: name -> fit, of these models and of the models that they contain.
    """
    rng = rng or np.random.default_rng(0)
    budget = budget or Budget()
    logs = list(range(len(bench.logs)) if logs is None else logs)
    fits: dict[str, Fit] = {}

    def need(model: Model) -> None:
        if model.name not in fits:
            for name in model.nested:
                need(MODELS[name])
            if start and model.name in start:
                fits[model.name] = _improved(
                    bench, replace(start[model.name], cost=np.inf, costs=[]), [start[model.name].values], budget, logs
                )
                return
            known = [*model.nested, *([model.akin] if model.akin in fits else [])]
            near = [start for name in known for start in embedded(bench, fits[name], model)]
            fits[model.name] = fit(bench, model, budget, logs, rng, near)

    for model in models:
        need(model)
    free = [
        (inner, outer)
        for outer in fits
        for inner in fits[outer].model.nested
        if not _is_measured(bench, fits[outer].model, logs)
    ]

    # from the top down, since simple models lag behind; improvements are passed to neighbours
    pairs = free + [(akin, name) for name in fits if (akin := MODELS[name].akin) is not None and akin in fits]
    pending = [(outer, inner) for inner, outer in reversed(pairs)]
    for _ in range(_ROUNDS * len(pending)):
        if not pending:
            break
        source, target = pending.pop(0)
        before = fits[target].cost
        fits[target] = _improved(
            bench, fits[target], embedded(bench, fits[source], fits[target].model)[:1], budget, logs
        )
        if fits[target].cost < before * (1 - _WORTH):
            news = [(target, outer) for inner, outer in pairs if inner == target] + [
                (target, inner) for inner, outer in pairs if outer == target
            ]
            pending += [edge for edge in news if edge not in pending and edge != (target, source)]

    # over the gap the cost has many minima, each narrower than a tenth of it
    for name in [f.model.name for f in fits.values() if f.values.get("half_gap", 0.0) > 0]:
        if not _is_measured(bench, fits[name].model, logs):
            fits[name] = _profiled(bench, fits[name], budget, logs)

    # on bounds, where optimizers do not get to: a term that is absent is a choice that every model has
    for inner, outer in free:
        fits[outer] = _at_least(bench, fits[outer], fits[inner], logs)
        if fits[outer].cost > fits[inner].cost * (1 + 1e-9):
            raise AssertionError(
                f"{outer} costs {fits[outer].cost:.17g}, and {inner}, which it contains, {fits[inner].cost:.17g}"
            )
    return fits


_RACE, _AHEAD = 8, 2  # iterations after which starts are compared, and how many of them continue
_WEAK = 0.25  # torque constant and resistance of the second start in pieces, over those of the first
_SPREAD = 1.3  # ratio of torque constants of neighbouring starts
_RATIO, _GAPS = 1.025, 10  # of neighbouring gaps of a profile, and how many of them on each side of the fitted one
_SHAPES = 3  # gaps of a profile after which other shapes of Stribeck friction are tried
_ROUNDS = 4  # most fits of each model from each neighbour, on average
_WORTH = 1e-3  # part of the cost that an improvement must be to count as one


def embedded(bench: Bench, source: Fit, target: Model) -> list[dict[str, float]]:
    """Return starts for a model from the solution of a nested or a larger model: first the nearest motion that the model
    can make, then further shapes of a new curve."""
    space = bench.space(target)
    shared = translated(source.values, source.model, target)
    start = {}
    for name, size, middle in zip(space.names, space.size, space.start.mean(axis=0)):
        null = PARAMETERS[name].null
        start[name] = float(shared.get(name, middle * size if null is None else null * bench.unit_of(name)))

    def is_new(name: str) -> bool:
        return name in space.names and name not in source.values

    viscous = 0.5 * start.get("viscous", 0.0)
    speed, more = bench.scale["speed"], []
    if is_new("curved_exponent"):
        curved = {"curved_friction": viscous * speed, "viscous": viscous}
        more += [{"curved_exponent": p, **curved} for p in (0.5, 2.0)]
    if "half_gap" in space.names and is_new("stribeck_velocity"):
        more += _falling(bench, start)
    if is_new("delay"):
        more.append({"delay": float(np.mean(PARAMETERS["delay"].start)) * bench.unit_of("delay")})
    if is_new("motor_viscous"):
        more.append({"motor_viscous": viscous, "viscous": viscous})
    return [start, *({**start, **other} for other in more)]


def _falling(bench: Bench, values: Mapping[str, float]) -> list[dict[str, float]]:
    """Return the same friction at rest, half of which falls at a low or at a medium speed; nothing without Stribeck friction."""
    if "stribeck_velocity" not in values:
        return []
    half = 0.5 * (values["coulomb"] + values["stribeck_friction"])
    return [
        {**values, "coulomb": half, "stribeck_friction": half, "stribeck_velocity": part * bench.scale["speed"]}
        for part in (0.1, 0.3)
    ]


def _is_measured(bench: Bench, model: Model, logs: Sequence[int]) -> bool:
    """True if two encoders determine the gap of a model: it is not fitted, and the cost does not depend on it."""
    return (
        "half_gap" in model.parameters
        and isinstance(bench, Pendulum)
        and backlash.has_two_encoders([bench.logs[i] for i in logs])
    )


def _improved(
    bench: Bench, found: Fit, near: Sequence[Mapping[str, float]], budget: Budget, logs: Sequence[int]
) -> Fit:
    """A model fitted from further starts; the best of its fits."""
    begin = time.process_time()
    space = bench.space(found.model)
    costs, simulations, best = list(found.costs), found.simulations, None
    for values in near:
        result, n = minimize(bench, found.model, logs, space.point(values), space, budget.iterations, rough=True)
        simulations += n
        if result.cost < found.cost * (1 - _WORTH):
            result, n = minimize(bench, found.model, logs, result.x, space, budget.iterations)
            simulations += n
        costs.append(float(result.cost))
        if result.cost < (best.cost if best else found.cost):
            best = result
    if best is not None:
        found = replace(found, values=space.values(best.x), cost=float(best.cost), jacobian=best.jac)
    return replace(
        found, costs=sorted(costs), simulations=simulations, seconds=found.seconds + time.process_time() - begin
    )


def _profiled(bench: Bench, found: Fit, budget: Budget, logs: Sequence[int]) -> Fit:
    """A model fitted from gaps on both sides of the fitted one, each from its neighbour, until none is better; it keeps what they lead to."""
    assert isinstance(bench, Pendulum)
    begin = time.process_time()
    for _ in range(_ROUNDS):
        center, spent = found.values, 0
        made: list[tuple[float, dict[str, float]]] = []
        for ratio in (_RATIO, 1 / _RATIO):
            values = center
            for k in range(1, _GAPS + 1):
                gap = center["half_gap"] * ratio**k
                if gap > PARAMETERS["half_gap"].high:
                    break
                near = [values, *(_falling(bench, values) if k % _SHAPES == 0 else [])]
                tried = [backlash.held(bench, found.model, logs, gap, start) for start in near]
                spent += sum(n for *_, n in tried)
                values, cost, _ = min(tried, key=lambda one: one[1])
                made.append((cost, values))
        made.sort(key=lambda pair: pair[0])
        before = found.cost
        found = _improved(bench, found, [values for _, values in made[:_AHEAD]], budget, logs)
        found = replace(found, simulations=found.simulations + spent, others=[values for _, values in made])
        if found.cost > before * (1 - _WORTH):
            break
    return replace(found, seconds=found.seconds + time.process_time() - begin)


def _at_least(bench: Bench, found: Fit, inner: Fit, logs: Sequence[int]) -> Fit:
    """Return a fit that is at least as good as the fit of each nested model."""
    if found.cost <= inner.cost:
        return found
    space = bench.space(found.model)
    values = embedded(bench, inner, found.model)[0]
    cost, jacobian, n = at(bench, found.model, logs, space.point(values), space)
    return replace(found, values=values, cost=cost, jacobian=jacobian, simulations=found.simulations + n)
