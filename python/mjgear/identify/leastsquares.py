"""Least squares with a robust loss and bounds, from one start."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mjgear.identify.bench import Bench, Space
from mjgear.identify.models import Model

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

#: point of the parameter space -> residuals of all logs there
Cache = dict[bytes, list[np.ndarray]]

_ROUGH = 1e-3  # relative change of the cost below which a start is dropped
_BELOW = 5e-2  # part of the cost that a coefficient below 0 takes away at least
_AT_BOUND = 1e-2  # a bound counts as reached within this distance, in units of the parameter's typical size
_CACHED = 64  # most points in a cache
_STEP = 1e-2  # of finite differences, in units of a parameter's typical size


def mirrored(z: np.ndarray, space: Space) -> np.ndarray:
    """The point, or its mirror image at gamma_u + gamma_v = 0 if that sum is below 0, where the law has no gear.

    The optimizer has bounds of single parameters only. Beyond the mirror it sees the gear on this side, so that the residual is continuous
    and leads back.
    """
    if not {"gamma_u", "gamma_v"} <= set(space.names):
        return z
    u, v = space.names.index("gamma_u"), space.names.index("gamma_v")
    if z[u] * space.size[u] + z[v] * space.size[v] >= 0:
        return z
    image = z.copy()
    image[u], image[v] = -z[v] * space.size[v] / space.size[u], -z[u] * space.size[u] / space.size[v]
    return image


class _Residual:
    """Residual and Jacobian of one model on some logs, each log as often as its weight says."""

    def __init__(
        self, bench: Bench, model: Model, space: Space, logs: Sequence[int], cache: Cache | None = None
    ) -> None:
        self.bench, self.model, self.space = bench, model, space
        self.unique, self.times = np.unique(np.asarray(logs), return_counts=True)
        self.simulations = 0
        self.cache = cache
        self._last: tuple[bytes, np.ndarray] | None = None

    def values(self, z: np.ndarray) -> dict[str, float]:
        return self.space.values(mirrored(z, self.space))

    def _at(self, points: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The residual at each point."""
        # simulations of other samples of the same logs at this very point are reused
        logs = self.unique.tolist() if self.cache is None else range(len(self.bench.logs))
        known = {} if self.cache is None else self.cache
        new = [z for z in points if z.tobytes() not in known]
        made = self.bench.residuals_at(self.model, [self.values(z) for z in new], logs) if new else []
        self.simulations += len(new) * len(logs)
        found = {z.tobytes(): blocks for z, blocks in zip(new, made)}
        if self.cache is not None:
            found.update((z.tobytes(), known[z.tobytes()]) for z in points if z.tobytes() in known)
            self.cache.update(list(found.items())[: max(_CACHED - len(self.cache), 0)])
        which = range(self.unique.size) if self.cache is None else self.unique
        order = [k for k, times in zip(which, self.times) for _ in range(times)]
        return [np.concatenate([found[z.tobytes()][k] for k in order]) for z in points]

    def __call__(self, z: np.ndarray) -> np.ndarray:
        residual = self._at([z])[0]
        self._last = z.tobytes(), residual
        return residual

    def jacobian(self, z: np.ndarray) -> np.ndarray:
        # points that the optimizer has just evaluated
        here = self._last[1] if self._last and self._last[0] == z.tobytes() else self(z)
        steps = np.where(z + _STEP <= self.space.high, _STEP, -_STEP)
        there = self._at(z + np.diag(steps))
        return np.asarray((np.stack(there, axis=1) - here[:, None]) / steps)


def robust_cost(residual: np.ndarray, noise: float) -> float:
    """The minimized soft-L1 cost: half the square of errors that are small against the noise, and linear beyond."""
    return float(noise**2 * np.sum(np.sqrt(1 + (residual / noise) ** 2) - 1))


def at(bench: Bench, model: Model, logs: Sequence[int], z: np.ndarray, space: Space) -> tuple[float, np.ndarray, int]:
    """Cost and Jacobian at a point, which may be on a bound, and the number of simulations."""
    residual = _Residual(bench, model, space, logs)
    return robust_cost(residual(z), bench.noise), residual.jacobian(z), residual.simulations


def minimize(
    bench: Bench,
    model: Model,
    logs: Sequence[int],
    z0: np.ndarray,
    space: Space,
    iterations: int,
    cache: Cache | None = None,
    rough: bool = False,
) -> tuple[OptimizeResult, int]:
    """One start: scipy's result, and the simulations that it took. Roughly: to a thousandth of the cost.

    Coefficients gamma_u and gamma_v go below 0 only where that reduces the cost by _BELOW, whatever the start: without load
    dependence gamma_u = -gamma_v is Coulomb friction once more, and the logs cannot tell them apart.
    """
    from scipy.optimize import least_squares  # here alone, since it is slow to import

    residual = _Residual(bench, model, space, logs, cache)

    def solve(z0: np.ndarray, low: np.ndarray) -> OptimizeResult:
        # in units of the noise, since scipy's tolerance of the gradient is absolute
        return least_squares(
            lambda z: residual(z) / bench.noise,
            np.clip(z0, low + 1e-6, space.high - 1e-6),
            jac=lambda z: residual.jacobian(z) / bench.noise,
            bounds=(low, space.high),
            loss="soft_l1",
            max_nfev=iterations,
            ftol=_ROUGH if rough else 1e-6,
            xtol=1e-6,
            gtol=1e-10,
        )

    gammas = [i for i, name in enumerate(space.names) if name in ("gamma_u", "gamma_v")]
    low = space.low.copy()
    low[gammas] = np.maximum(low[gammas], 0.0)
    result = solve(z0, low)
    starts_below = np.any(z0[gammas] < 0)
    if np.any(low > space.low) and (starts_below or np.any(result.x[gammas] < _AT_BOUND)):
        below = solve(z0 if starts_below else result.x, space.low)
        if below.cost < (1 - _BELOW) * result.cost:
            result = below
    result.cost *= bench.noise**2
    image = mirrored(result.x, space)
    if image is not result.x:
        u, v = space.names.index("gamma_u"), space.names.index("gamma_v")
        result.x = image
        result.jac[:, [u, v]] = -result.jac[:, [v, u]] * space.size[[u, v]] / space.size[[v, u]]
    result.jac = result.jac * bench.noise
    return result, residual.simulations
