"""Least squares with a robust loss, bounds and several starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import OptimizeResult, least_squares

from mjgear.identify.bench import Bench, Space
from mjgear.identify.models import MODELS, Model

#: point of the parameter space -> residuals of all logs there
Cache = dict[bytes, list[np.ndarray]]

_STEP = 1e-2  # of finite differences, in units of a parameter's typical size


@dataclass(frozen=True)
class Budget:
    """What every model may spend.

    A simulation over seconds that sticks and slips has many local minima; one that returns to the measured state every
    tenth or quarter of a second has hardly more than one. So the fit begins with such pieces, and goes on from there, and
    from other starts, over whole logs.

    Attributes:
      starts: over whole logs, besides the solutions in pieces and that of the nested model: the middle of the start
        ranges, then random ones.
      iterations: of each fit.
      pieces: their lengths, s.
    """

    starts: int = 3
    iterations: int = 50
    pieces: tuple[float, ...] = (0.1, 0.25)


@dataclass
class Fit:
    """A model fitted to logs.

    Attributes:
      values: parameter -> SI value.
      cost: of the robust loss, in the unit of the residual squared.
      costs: of every start, best first.
      simulations: of the bench, of all starts.
      jacobian: of the residual by the parameters in units of their size, at the solution.
    """

    model: Model
    values: dict[str, float]
    cost: float
    costs: list[float]
    simulations: int
    jacobian: np.ndarray


class _Residual:
    """Residual and Jacobian of one model on some logs, each log as often as its weight says."""

    def __init__(self, bench: Bench, model: Model, space: Space, logs: Sequence[int], cache: Cache | None = None) -> None:
        self.bench, self.model, self.space = bench, model, space
        self.unique, self.times = np.unique(np.asarray(logs), return_counts=True)
        self.simulations = 0
        self.cache = cache

    def values(self, z: np.ndarray) -> dict[str, float]:
        return dict(zip(self.space.names, (z * self.space.size).tolist()))

    def _blocks(self, z: np.ndarray) -> list[np.ndarray]:
        # what other samples of the same logs have simulated at this very point is not simulated again
        known = None if self.cache is None else self.cache.get(z.tobytes())
        if known is None:
            logs = self.unique.tolist() if self.cache is None else range(len(self.bench.logs))
            known = self.bench.residuals(self.model, self.values(z), logs)
            self.simulations += len(known)
            if self.cache is not None and len(self.cache) < 64:
                self.cache[z.tobytes()] = known
        if self.cache is not None:
            known = [known[i] for i in self.unique]
        return [block for block, times in zip(known, self.times) for _ in range(times)]

    def __call__(self, z: np.ndarray) -> np.ndarray:
        return np.concatenate(self._blocks(z))

    def jacobian(self, z: np.ndarray) -> np.ndarray:
        here = self(z)
        J = np.empty((here.size, z.size))
        for i in range(z.size):
            step = _STEP if z[i] + _STEP <= self.space.high[i] else -_STEP
            there = z.copy()
            there[i] += step
            J[:, i] = (self(there) - here) / step
        return J


def minimize(bench: Bench, model: Model, logs: Sequence[int], z0: np.ndarray, space: Space, iterations: int,
             cache: Cache | None = None) -> tuple[OptimizeResult, int]:
    """One start: scipy's result, and the simulations that it took."""
    residual = _Residual(bench, model, space, logs, cache)
    z0 = np.clip(z0, space.low + 1e-6, space.high - 1e-6)
    result = least_squares(residual, z0, jac=residual.jacobian, bounds=(space.low, space.high), loss="soft_l1",
                           f_scale=bench.noise, max_nfev=iterations, ftol=1e-6, xtol=1e-6, gtol=1e-10)
    return result, residual.simulations


def fit(bench: Bench, model: Model, budget: Budget | None = None, logs: Sequence[int] | None = None,
        rng: np.random.Generator | None = None, near: Sequence[dict[str, float]] = ()) -> Fit:
    """Fit a model to logs: the best of several starts.

    Args:
      budget: starts and iterations.
      logs: which of the bench's logs, with repetition if wanted; None: all.
      rng: of the starts; None: seed 0.
      near: further starts, as values.
    """
    budget = budget or Budget()
    rng = rng or np.random.default_rng(0)
    logs = list(range(len(bench.logs)) if logs is None else logs)
    space = bench.space(model)
    middle = space.start.mean(axis=0)
    starts = [middle] + [rng.uniform(*space.start) for _ in range(budget.starts - 1)]
    spent = 0

    # in short pieces
    for length in budget.pieces:
        pieces = bench.pieces(length)
        if pieces is not None:
            result, n = minimize(pieces, model, logs, middle, space, budget.iterations)
            starts.append(result.x)
            spent += n

    # over whole logs
    starts += [np.array([v.get(n, m * s) / s for n, m, s in zip(space.names, middle, space.size)]) for v in near]
    tried = [minimize(bench, model, logs, z, space, budget.iterations) for z in starts]
    spent += sum(n for _, n in tried)
    best = min((result for result, _ in tried), key=lambda r: r.cost)
    values = dict(zip(space.names, (best.x * space.size).tolist()))
    return Fit(model, values, float(best.cost), sorted(float(r.cost) for r, _ in tried), spent, best.jac)


def fit_ladder(bench: Bench, models: Sequence[Model], budget: Budget | None = None, logs: Sequence[int] | None = None,
               rng: np.random.Generator | None = None) -> dict[str, Fit]:
    """Fit several models to the same logs, each with the same budget; simpler ones give the more complex ones a start."""
    rng = rng or np.random.default_rng(0)
    fits: dict[str, Fit] = {}

    def need(model: Model) -> Fit:
        if model.name not in fits:
            near = [need(MODELS[model.nested]).values] if model.nested else []
            fits[model.name] = fit(bench, model, budget, logs, rng, near)
        return fits[model.name]

    for model in models:
        need(model)
    return fits
