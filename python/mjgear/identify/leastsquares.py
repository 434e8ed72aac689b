"""Least squares with a robust loss and bounds, from one start."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import OptimizeResult, least_squares

from mjgear.identify.bench import Bench, Space
from mjgear.identify.models import Model

#: point of the parameter space -> residuals of all logs there
Cache = dict[bytes, list[np.ndarray]]

_ROUGH = 1e-3  # change of the cost, relative, at which a start has shown what it is worth
_STEP = 1e-2  # of finite differences, in units of a parameter's typical size


class _Residual:
    """Residual and Jacobian of one model on some logs, each log as often as its weight says."""

    def __init__(self, bench: Bench, model: Model, space: Space, logs: Sequence[int], cache: Cache | None = None) -> None:
        self.bench, self.model, self.space = bench, model, space
        self.unique, self.times = np.unique(np.asarray(logs), return_counts=True)
        self.simulations = 0
        self.cache = cache
        self._last: tuple[bytes, np.ndarray] | None = None

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
        residual = np.concatenate(self._blocks(z))
        self._last = z.tobytes(), residual
        return residual

    def jacobian(self, z: np.ndarray) -> np.ndarray:
        # where the optimizer has just been
        here = self._last[1] if self._last and self._last[0] == z.tobytes() else self(z)
        J = np.empty((here.size, z.size))
        for i in range(z.size):
            step = _STEP if z[i] + _STEP <= self.space.high[i] else -_STEP
            there = z.copy()
            there[i] += step
            J[:, i] = (np.concatenate(self._blocks(there)) - here) / step
        return J


def robust_cost(residual: np.ndarray, noise: float) -> float:
    """The soft-L1 cost that is minimized: half the square of what is small against the noise, and linear beyond."""
    return float(noise**2 * np.sum(np.sqrt(1 + (residual / noise) ** 2) - 1))


def at(bench: Bench, model: Model, logs: Sequence[int], z: np.ndarray, space: Space) -> tuple[float, np.ndarray, int]:
    """Cost and Jacobian at a point, which may be on a bound, and the simulations that they took."""
    residual = _Residual(bench, model, space, logs)
    return robust_cost(residual(z), bench.noise), residual.jacobian(z), residual.simulations


def minimize(bench: Bench, model: Model, logs: Sequence[int], z0: np.ndarray, space: Space, iterations: int,
             cache: Cache | None = None, rough: bool = False) -> tuple[OptimizeResult, int]:
    """One start: scipy's result, and the simulations that it took. Roughly: to a thousandth of the cost."""
    residual = _Residual(bench, model, space, logs, cache)
    z0 = np.clip(z0, space.low + 1e-6, space.high - 1e-6)
    # in units of the noise, since scipy's tolerance of the gradient is absolute
    result = least_squares(lambda z: residual(z) / bench.noise, z0, jac=lambda z: residual.jacobian(z) / bench.noise,
                           bounds=(space.low, space.high), loss="soft_l1", max_nfev=iterations,
                           ftol=_ROUGH if rough else 1e-6, xtol=1e-6, gtol=1e-10)
    result.cost *= bench.noise**2
    result.jac = result.jac * bench.noise
    return result, residual.simulations
