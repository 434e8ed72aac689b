"""Models fitted to logs, from several starts, each model with the same budget."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mjgear.identify import backlash
from mjgear.identify.bench import Bench, Pendulum
from mjgear.identify.leastsquares import minimize
from mjgear.identify.models import MODELS, Model


@dataclass(frozen=True)
class Budget:
    """What every model may spend.

    A simulation over seconds that sticks and slips has many local minima; one that returns to the measured state every
    tenth or quarter of a second has hardly more than one. So the fit begins with such pieces, and goes on from there, and
    from other starts, over whole logs.

    Attributes:
      starts: over whole logs, besides the solutions in pieces and that of the nested model: the middle of the start
        ranges, then random ones. With a gap: sweeps, besides the first one (backlash.py).
      iterations: of each fit.
      pieces: their lengths, s.
      gap: largest half gap that is looked for, rad.
    """

    starts: int = 3
    iterations: int = 50
    pieces: tuple[float, ...] = (0.1, 0.25)
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
    """

    model: Model
    values: dict[str, float]
    cost: float
    costs: list[float]
    simulations: int
    jacobian: np.ndarray
    seconds: float = 0.0


def fit(bench: Bench, model: Model, budget: Budget | None = None, logs: Sequence[int] | None = None,
        rng: np.random.Generator | None = None, near: Sequence[dict[str, float]] = ()) -> Fit:
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
    starts = [middle] + [rng.uniform(*space.start) for _ in range(budget.starts - 1)]
    iterations, spent = budget.iterations, 0

    # with a gap on the grid of backlash.py, which has its own pieces
    if "half_gap" in space.names and isinstance(bench, Pendulum):
        gap = backlash.find(bench, model, logs, budget.gap, budget.iterations, near[0] if near else None,
                            sweeps=budget.starts + 1)
        starts, near = [np.array([gap.values[n] for n in space.names]) / space.size], ()
        spent += gap.simulations
        budget = replace(budget, pieces=())
        if backlash.has_two_encoders([bench.logs[i] for i in logs]):
            iterations = 1  # the gap stays as the encoders say; cost and Jacobian there

    # in short pieces
    for length in budget.pieces:
        pieces = bench.pieces(length)
        if pieces is not None:
            result, n = minimize(pieces, model, logs, middle, space, budget.iterations)
            starts.append(result.x)
            spent += n

    # over whole logs
    starts += [np.array([v.get(n, m * s) / s for n, m, s in zip(space.names, middle, space.size)]) for v in near]
    tried = [minimize(bench, model, logs, z, space, iterations) for z in starts]
    spent += sum(n for _, n in tried)
    best = min((result for result, _ in tried), key=lambda r: r.cost)
    values = dict(zip(space.names, (best.x * space.size).tolist()))
    costs = sorted(float(result.cost) for result, _ in tried)
    return Fit(model, values, float(best.cost), costs, spent, best.jac, time.process_time() - begin)


def fit_ladder(bench: Bench, models: Sequence[Model], budget: Budget | None = None, logs: Sequence[int] | None = None,
               rng: np.random.Generator | None = None) -> dict[str, Fit]:
    """Fit several models to the same logs, each with the same budget; simpler ones give the more complex ones a start,
    and then the other way round: a model that is nested in another one is fitted from that one's solution as well, so that
    it does not lose by a local minimum alone."""
    rng = rng or np.random.default_rng(0)
    fits: dict[str, Fit] = {}

    def need(model: Model) -> Fit:
        if model.name not in fits:
            near = [need(MODELS[model.nested]).values] if model.nested else []
            fits[model.name] = fit(bench, model, budget, logs, rng, near)
        return fits[model.name]

    for model in models:
        need(model)
    for name in reversed(list(fits)):
        nested = fits[name].model.nested
        if nested is not None:
            fits[nested] = _again(bench, fits[nested], fits[name], budget or Budget(), logs)
    return fits


def _again(bench: Bench, simple: Fit, complex: Fit, budget: Budget, logs: Sequence[int] | None) -> Fit:
    """A model fitted from the solution of one that it is nested in as well; the better one of both fits."""
    begin = time.process_time()
    logs = list(range(len(bench.logs)) if logs is None else logs)
    space = bench.space(simple.model)
    z0 = np.array([complex.values.get(n, simple.values[n]) for n in space.names]) / space.size
    result, n = minimize(bench, simple.model, logs, z0, space, budget.iterations)
    found = replace(simple, costs=sorted([*simple.costs, float(result.cost)]), simulations=simple.simulations + n)
    if result.cost < simple.cost:
        values = dict(zip(space.names, (result.x * space.size).tolist()))
        found = replace(found, values=values, cost=float(result.cost), jacobian=result.jac)
    return replace(found, seconds=simple.seconds + time.process_time() - begin)
