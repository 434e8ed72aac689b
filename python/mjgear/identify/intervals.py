"""95 % intervals by bootstrap over logs.

Neighbouring samples of a log share the same errors of the model, so that intervals from the residuals' scatter
(Gauss-Newton) are several times too narrow. Logs repeat independently, so whole logs are drawn with replacement,
and the model is fitted to each draw. The scatter of the fits is widened for the small number of logs (Student's t
with n - 1 degrees of freedom, and the factor n/(n - 1) of the variance).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import stdtrit

from mjgear.identify.bench import Bench, Space, resolution
from mjgear.identify.fit import Fit
from mjgear.identify.leastsquares import Cache, minimize, robust_cost

_LEVEL = 0.95


@dataclass
class Interval:
    """A 95 % interval.

    Attributes:
      value: estimate.
      low, high: ends; the parameter's bounds where nothing is known.
      known: False if the logs do not determine it.
      unit: SI.
      law: where the law does not explain the logs: the interval of its best number, which says what predicts these logs.
    """

    value: float
    low: float
    high: float
    known: bool = True
    unit: str = ""
    law: Interval | None = None

    def json(self) -> dict[str, Any]:
        """It for programs; known only if the law explains the logs."""
        own = {"value": self.value, "low": self.low, "high": self.high, "known": self.known and self.law is None}
        return own | ({"unit": self.unit} if self.unit else {}) | ({"law": self.law.json()} if self.law else {})

    def text(self) -> tuple[str, str]:
        """The value and the interval with the digits that the interval allows; "unknown" for that of an undetermined number."""
        if not self.known:
            return f"{self.value:.3g}", "unknown"
        value, low, high = (shown(x, self.low, self.high) for x in (self.value, self.low, self.high))
        return value, f"{low} to {high}"


def shown(x: float, low: float, high: float) -> str:
    """Return a number with the digits that an interval allows: two of its half width; four where it has no width."""
    half = (high - low) / 2
    if not 0 < half < np.inf:
        return f"{x:.4g}"
    places = 1 - math.floor(math.log10(half))
    if not round(x, places):
        return f"{x:.1g}"
    x = round(x, places)
    digits = math.floor(math.log10(abs(x))) + 1 + places
    return f"{x:#.{digits}g}".replace(".e", "e").rstrip(".") if digits < 16 else repr(x)


def derived(values: Mapping[str, float]) -> dict[str, float]:
    """Efficiencies of a gear's coefficients, and their product, which a wrong torque constant moves less than either."""
    if "gamma_u" not in values or "gamma_v" not in values:
        return {}
    forward = (1 - values["gamma_u"]) / (1 + values["gamma_v"])
    backward = (1 - values["gamma_v"]) / (1 + values["gamma_u"])
    return {"eta_forward": forward, "eta_backward": backward, "eta_forward x eta_backward": forward * backward}


def with_torque_constant(values: Mapping[str, float], scale: float) -> dict[str, float]:
    """Return the gear with the same motion at `scale` times the torque constant, if it exists:
    efficiencies eta_forward/scale and eta_backward x scale, and `scale` times the rotor inertia.

    Their product is kept, and so is the sign of the sum of coefficients; a single coefficient may be below 0.
    """
    eta = derived(values)
    if not eta:
        return dict(values)
    forward, backward = eta["eta_forward"] / scale, eta["eta_backward"] * scale
    open_part = max(1 - forward * backward, 1e-9)
    gamma_u = (1 - 2 * forward + forward * backward) / open_part
    gamma_v = (1 - 2 * backward + forward * backward) / open_part
    changed = {"gamma_u": gamma_u, "gamma_v": gamma_v, "armature": scale * values.get("armature", 0.0)}
    return {**values, **{name: value for name, value in changed.items() if name in values}}


def _with_derived(values: Mapping[str, float]) -> dict[str, float]:
    return {**values, **derived(values)}


class Intervals(dict[str, Interval]):
    """Name -> interval, and how the numbers depend on each other.

    Attributes:
      correlations: of the numbers in their order, (n, n); 1 and 0 where nothing is known.
    """

    correlations: np.ndarray


def intervals(
    bench: Bench,
    fit: Fit,
    replicates: int = 100,
    tolerance: Mapping[str, float] | None = None,
    seed: int = 0,
    ends: Sequence[Mapping[str, float]] = (),
    error: Sequence[Mapping[str, float]] = (),
) -> Intervals:
    """Intervals of all fitted numbers and of the efficiencies, and their correlations.

    Args:
      replicates: of the bootstrap.
      tolerance: known parameter -> its relative tolerance, half of a 95 % interval; the fit is repeated at both ends.
      seed: of the draws.
      ends: further possible values, such as those of another torque scale (scales.py).
      error: possible values, if the law does not explain the logs (suspects.py).
    """
    n = len(bench.logs)
    space = bench.space(fit.model)
    names = list(_with_derived(fit.values))
    here = space.point(fit.values)
    estimate = np.array(list(_with_derived(fit.values).values()))

    def refit(
        logs: Sequence[int], iterations: int, cache: Cache | None = None, starts: Sequence[np.ndarray] = (here,)
    ) -> np.ndarray:
        tried = [minimize(bench, fit.model, logs, z, space, iterations, cache)[0] for z in starts]
        result = min(tried, key=lambda r: r.cost)
        return np.array(list(_with_derived(space.values(result.x)).values()))

    # scatter over logs; each draw starts from the minimum that is the lowest for it
    rng = np.random.default_rng(seed)
    cache: Cache = {}
    minima = [here, *(space.point(values) for values in fit.others)]
    costs = np.array(
        [
            [robust_cost(r, bench.noise) for r in blocks]
            for blocks in bench.residuals_at(fit.model, [space.values(z) for z in minima], range(n))
        ]
    )
    if n > 1:
        drawn = [rng.integers(0, n, n) for _ in range(replicates)]
        best = [minima[int(np.argmin(costs[:, draw].sum(axis=1)))] for draw in drawn]
        draws = np.array([refit(draw.tolist(), 12, cache, [z]) for draw, z in zip(drawn, best)])
        variance = draws.var(axis=0, ddof=1) * n / (n - 1)
        half = stdtrit(n - 1, (1 + _LEVEL) / 2) * np.sqrt(variance)
        together = stdtrit(n - 1, (1 + _LEVEL) / 2) ** 2 * n / (n - 1) * np.cov(draws.T)
    else:
        together = np.zeros((len(names), len(names)))
        half = np.full(len(names), np.inf)

    # effect of a known parameter's tolerance
    spread = np.zeros(len(names))
    for name, relative in (tolerance or {}).items():
        value = bench.known[name]
        two = []
        for sign in (-1, 1):
            scale = 1 + sign * relative
            bench.known[name] = value * scale
            starts = [here]
            if name == "torque_constant":
                starts.append(space.point(with_torque_constant(fit.values, scale)))
            two.append(refit(range(n), 40, starts=starts))
        bench.known[name] = value
        spread += (np.abs(np.array(two) - estimate).max(axis=0)) ** 2
        together = together + np.outer(two[1] - two[0], two[1] - two[0]) / 4
    if "half_gap" in names:  # a gap is no better known than the encoders' counts
        spread[names.index("half_gap")] += (0.5 * max(map(resolution, bench.logs))) ** 2
    half = np.sqrt(half**2 + spread)

    # effect of the step: errors of the first order, at no step at all
    shift: dict[str, float] = {}
    if (finer := bench.finer()) is not None:
        half_step = minimize(finer, fit.model, range(n), here, space, 12)[0].x
        shift = space.values(2 * (half_step - here))
    is_shown = _is_known(bench, fit, space, here)

    def covering(ends: Sequence[Mapping[str, float]]) -> tuple[list[Interval], np.ndarray]:
        """Intervals of a range of possible truth, with scatter about its middle, which the estimate need not be near to; and its values."""
        ends = [
            *ends,
            *({k: end.get(k, v) + shift[k] for k, v in fit.values.items()} for end in ({}, *ends) if shift),
        ]
        low, high = estimate - half, estimate + half
        others = np.array(
            [list(_with_derived({k: end.get(k, v) for k, v in fit.values.items()}).values()) for end in ends]
        )
        if ends:
            least, most = others.min(axis=0), others.max(axis=0)
            reach = np.sqrt(half**2 + ((most - least) / 2) ** 2)
            low, high = np.minimum(low, (least + most) / 2 - reach), np.maximum(high, (least + most) / 2 + reach)
        wide = np.maximum(estimate - low, high - estimate)
        known = is_shown & (wide <= _usual(space, len(names)))
        made = [
            _interval(name, value, a, b, space, told and not _is_wide(name, value, w))
            for name, value, a, b, w, told in zip(names, estimate, low, high, wide, known.tolist())
        ]
        return made, others

    made, others = covering(ends)
    if len(others):
        together = together + (others - estimate).T @ (others - estimate) / len(others)
    known = np.array([i.known for i in made])
    if error:
        made = [replace(wide, law=narrow) for wide, narrow in zip(covering([*ends, *error])[0], made)]
    found = Intervals(zip(names, made))
    found.correlations = _correlations(together, known)
    return found


def _correlations(covariance: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return the correlation of a covariance; an undetermined number is uncorrelated."""
    size = np.sqrt(np.diag(covariance))
    counts = known & (size > 0)
    scale = np.where(counts, size, 1)
    matrix = np.where(np.outer(counts, counts), covariance / np.outer(scale, scale), 0.0)
    np.fill_diagonal(matrix, 1)
    return matrix


def _is_wide(name: str, value: float, half: float) -> bool:
    """True if an interval is too wide to be useful: of a scale that is not 0, half as much or half as much again."""
    return bool(name in ("torque_constant", "resistance") and half > 0.5 * abs(value))


def gradients(space: Space, z: np.ndarray) -> np.ndarray:
    """Return the derivatives of all numbers and efficiencies by the point of the optimizer, (numbers, z)."""

    def point(z: np.ndarray) -> np.ndarray:
        return np.array(list(_with_derived(space.values(z)).values()))

    return np.array([(point(z + d) - point(z - d)) / 2e-5 for d in 1e-5 * np.eye(z.size)]).T


def _usual(space: Space, count: int) -> np.ndarray:
    """Return a usual amount of each number: the range of its starts; of an efficiency, a quarter."""
    size = np.maximum(space.start[1] - space.start[0], 1.0) * space.size
    return np.append(size, np.full(count - size.size, 0.25))


def _is_known(bench: Bench, fit: Fit, space: Space, here: np.ndarray) -> np.ndarray:
    """Check that the logs determine each number: if it moves by a usual amount and all others follow, the prediction
    has to change by more than the mean error of the logs.

    A bootstrap does not show it: if nothing depends on a number, its fits stay at their start.
    """

    gradient = gradients(space, here)
    w, V = np.linalg.eigh(fit.jacobian.T @ fit.jacobian)
    variance = ((gradient @ V) ** 2 / np.maximum(w, 1e-14 * max(w[-1], 1e-300))).sum(axis=1)
    rows = fit.jacobian.shape[0]
    change = _usual(space, len(variance)) / np.sqrt(np.maximum(variance, 1e-300) * rows)
    error = np.concatenate(bench.residuals(fit.model, fit.values, range(len(bench.logs))))
    return np.asarray(change > np.sqrt(np.mean(error**2) / len(bench.logs)))


def _interval(name: str, value: float, low: float, high: float, space: Space, known: bool) -> Interval:
    least, most = -np.inf, np.inf
    if name in space.names:
        i = space.names.index(name)
        least, most = space.low[i] * space.size[i], space.high[i] * space.size[i]
    elif name == "eta_forward":
        least, most = 0.0, 1.0
    elif name.startswith("eta"):
        most = 1.0
    if not known or not (np.isfinite(low) and np.isfinite(high)):
        return Interval(float(value), float(least), float(most), False)
    return Interval(float(value), float(max(least, low)), float(min(most, high)))
