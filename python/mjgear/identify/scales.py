"""Test whether the scale of the motor's torque is as stated.

A torque constant, the gain of a position loop that sets a torque, a mass: each scales the motor's torque against the load, and
each may be wrong. A motor with s times the torque moves a joint like one with 1/s of the inertia, and a gear can compensate
most of it: efficiencies eta_forward/s and eta_backward s give nearly the same motion. So a given scale is
tested: the model is fitted at several scales, and each log gives a cost for each. Scales within the tolerance that the
logs do not rule out widen the intervals. A contradiction is reported, and so is a different choice of model with the scale
free.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from mjgear.identify.bench import Bench, Dynamometer, FreeRun, Pendulum
from mjgear.identify.fit import Fit
from mjgear.identify.heldout import HeldOut, choose
from mjgear.identify.intervals import with_torque_constant
from mjgear.identify.leastsquares import minimize, robust_cost
from mjgear.identify.models import PARAMETERS, Model

#: relative tolerances where none is given
TORQUE, SENSOR, LOAD = 0.25, 0.05, 0.10

_FACTORS = (0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.35, 1.5)  # scales that are tried
# exponents with which results scale with the stated load of the joint
_POWER = {"torque": 1, "inertia": 1, "torque/speed": 1, "1/torque": -1}
_ITERATIONS = 15  # iterations of the fit at each scale, which starts from the scale before
_LEVEL = 0.975
_WORTH = 5e-3  # relative cost below which scales do not differ: the accuracy of fits


@dataclass
class Scale:
    """Result of the logs about the scale of the motor's torque.

    Attributes:
      name: what carries it: "torque_constant", or "torque_scale" for all that it may be.
      given: whether it was given, or fitted.
      factors: scales at which the model was fitted, in ascending order, including both ends of the range.
      values: fitted values at each factor.
      best: factor that the logs like best.
      low, high: factors that the logs do not rule out (97.5 % to either side); the ends of the grid where they rule out nothing.
      tolerance: relative, of what is given.
    """

    name: str
    given: bool
    factors: np.ndarray
    values: list[dict[str, float]]
    best: float
    low: float
    high: float
    tolerance: float

    @property
    def is_told(self) -> bool:
        """Return whether the logs rule out scales that are too small and scales that are too large."""
        return self.low > _FACTORS[0] and self.high < _FACTORS[-1]

    @property
    def is_contradicted(self) -> bool:
        """True if the logs rule out the given value, and like best one that its tolerance does not allow."""
        return not self.low <= 1 <= self.high and abs(self.best - 1) > self.tolerance

    def range(self) -> tuple[float, float]:
        """Return the factors that logs and tolerance allow, or those of both ranges and all between where they contradict each other."""
        low, high = 1 - self.tolerance, 1 + self.tolerance
        if self.is_contradicted:
            return min(self.low, low), max(self.high, high)
        return max(self.low, low), min(self.high, high)

    def at(self, factor: float) -> dict[str, float]:
        """Values at a factor, linear between the fitted ones."""
        return {n: float(np.interp(factor, self.factors, [v[n] for v in self.values])) for n in self.values[0]}

    def ends(self) -> list[dict[str, float]]:
        """Return the values of all scales within the range: a number need not be monotonic in the scale. A stronger
        motor and a lighter load move alike; with the lighter load all torques and inertias of the result are too large by the same
        factor."""
        made = []
        low, high = self.range()
        for factor in sorted({low, high, *(f for f in self.factors.tolist() if low < f < high)}):
            values = self.at(factor)
            made.append(values)
            if self.given:
                made.append({n: v / factor ** _POWER.get(PARAMETERS[n].unit, 0) for n, v in values.items()})
        return made

    def notes(self) -> list[str]:
        """Notes for the report."""
        what = (
            "the torque constant"
            if self.name == "torque_constant"
            else "the scale of the motor's torque (torque constant, gain of the loop, mass)"
        )
        free = "--fit torque_scale fits it with every model"
        if self.given and self.is_contradicted:
            return [
                f"the logs contradict {what}: they fit best with {self.best:.2f} times the motor torque that was given ({self.low:.2f} to "
                f"{self.high:.2f}), or with a load {1 / self.best:.2f} times as large; {free}"
            ]
        if self.given and not self.low <= 1 <= self.high:
            return [
                f"{what} is given, and the logs fit better with {self.best:.2f} times the motor torque ({self.low:.2f} to {self.high:.2f}), "
                f"within its tolerance of {100 * self.tolerance:.0f} %; {free}"
            ]
        if self.given and not self.is_told:
            return [
                f"{what} is given and cannot be tested by these logs: a gear makes up for a wrong one. Intervals reckon with {100 * self.tolerance:.0f} %; "
                "state how well it is known (--known torque_constant=VALUE:5%, --known torque_scale=1:5%)"
            ]
        if not self.given and not self.is_told:
            return [
                "torque_constant and gear make up for each other: the logs allow for torque constants "
                f"{self.low:.2f} to {self.high:.2f} times as large; give it from a stall test with a scale or from the data sheet"
            ]
        return []


@contextmanager
def _known(bench: Bench, name: str, value: float) -> Iterator[None]:
    """The bench with a parameter known for a while."""
    before = dict(bench.known)
    bench.known[name] = value
    try:
        yield
    finally:
        bench.known.clear()
        bench.known.update(before)


def _drive(bench: Bench) -> str:
    return bench.drive if isinstance(bench, Pendulum) else bench.input if isinstance(bench, Dynamometer) else ""


def carrier(bench: Bench) -> tuple[str, bool]:
    """Parameter of the torque scale, and whether it was given; "" if voltage and back-EMF determine it, or it is fitted."""
    if "torque_scale" in bench.extra or isinstance(bench, FreeRun):
        return "", False
    drive = _drive(bench)
    if drive == "current":
        return ("torque_scale", True) if "torque_constant" in bench.known else ("torque_constant", False)
    if drive == "voltage":
        return ("torque_scale", True) if {"torque_constant", "resistance"} <= bench.known.keys() else ("", False)
    return ("torque_scale", True) if drive == "torque" else ("", False)


def tolerance_of(bench: Bench, stated: Mapping[str, float]) -> float:
    """Relative tolerance of the motor's torque against the load."""
    sensor = isinstance(bench, Dynamometer) and bench.input == "torque"
    torque = stated.get("torque_scale", stated.get("torque_constant", SENSOR if sensor else TORQUE))
    load = stated.get("load", 0.0 if isinstance(bench, Dynamometer) else LOAD)
    return float(np.hypot(torque, load))


def _costs(bench: Bench, model: Model, values: Mapping[str, float]) -> np.ndarray:
    """Cost of each log."""
    return np.array([robust_cost(r, bench.noise) for r in bench.residuals(model, values, range(len(bench.logs)))])


def _at(bench: Bench, fit: Fit, name: str, value: float, near: Mapping[str, float]) -> dict[str, float]:
    """The model fitted with this parameter held."""
    with _known(bench, name, value):
        space = bench.space(fit.model)
        result, _ = minimize(
            bench, fit.model, range(len(bench.logs)), space.point(near), space, _ITERATIONS, rough=True
        )
        return space.values(result.x)


def profile(bench: Bench, fit: Fit, tolerance: Mapping[str, float] | None = None) -> Scale | None:
    """Test the scale of the motor's torque; None if voltage and back-EMF determine it, or it is fitted.

    At each scale the model is fitted anew, and the logarithms of the logs' costs over those at the best scale have a mean and
    a scatter. To first order the mean grows with the square of the distance and the scatter with the distance. So a scale
    is ruled out where the mean is above half of Student's t times the scatter of the mean.
    """
    name, is_given = carrier(bench)
    if not name or len(bench.logs) < 2:
        return None
    unit = fit.values.get("torque_constant", 1.0) if name == "torque_constant" else bench.known.get("torque_scale", 1.0)
    values, costs = {1.0: dict(fit.values)}, {1.0: _costs(bench, fit.model, fit.values)}

    def add(factor: float) -> None:
        """Fit at a factor, from the result at the nearest factor or, if that is better here, from this result as a gear would compensate
        the factor."""
        last = min(values, key=lambda f: abs(f - factor))
        near = values[last]
        with _known(bench, name, unit * factor):
            starts = [near, *([with_torque_constant(near, factor / last)] if "gamma_u" in near else [])]
            start = min(starts, key=lambda v: float(_costs(bench, fit.model, v).sum()))
            values[factor] = _at(bench, fit, name, unit * factor, start)
            costs[factor] = _costs(bench, fit.model, values[factor])

    for factor in sorted(set(_FACTORS) - {1.0}, key=lambda f: abs(f - 1)):
        add(factor)
    near, low, high = _liked(np.array(_FACTORS), np.array([costs[f] for f in _FACTORS]))
    # the grid is too coarse for a parabola where a coefficient comes to its bound
    add(near)
    factors = np.array(sorted(values))
    best = _vertex(factors, np.array([costs[f].sum() for f in factors.tolist()]))
    stated = tolerance_of(bench, tolerance or {}) if is_given else np.inf
    scale = Scale(name, is_given, factors, [], best, low, high, float(stated))
    # values for intervals are fitted and not interpolated: coefficients of a gear bend at their bounds
    for factor in scale.range():
        add(factor)
    scale.factors = np.array(sorted(values))
    scale.values = [values[f] | ({name: unit * f} if name == "torque_constant" else {}) for f in scale.factors.tolist()]
    return scale


def _liked(factors: np.ndarray, costs: np.ndarray) -> tuple[float, float, float]:
    """The factor of least cost, and the range that the logs do not rule out, from the cost of each log at each factor."""
    best = int(np.argmin(costs.sum(axis=1)))
    tiny = np.finfo(float).tiny
    ratios = np.log((costs + tiny) / (costs[best] + tiny))
    n = costs.shape[1]
    excess = ratios.mean(axis=1) - np.maximum(
        0.5 * stdtrit(n - 1, _LEVEL) * ratios.std(axis=1, ddof=1) / np.sqrt(n), _WORTH
    )
    low, high = _crossing(factors[: best + 1][::-1], excess[: best + 1][::-1]), _crossing(factors[best:], excess[best:])
    return _vertex(factors, costs.sum(axis=1)), low, high


def _crossing(factors: np.ndarray, excess: np.ndarray) -> float:
    """Return the factor beyond the best one at which the excess becomes positive, or the last factor."""
    for k in range(1, factors.size):
        if excess[k] > 0:
            part = -excess[k - 1] / (excess[k] - excess[k - 1])
            # the excess is not linear, and bends where a coefficient reaches its bound: half way at least
            return float(factors[k - 1] + max(part, 0.5) * (factors[k] - factors[k - 1]))
    return float(factors[-1])


def _vertex(x: np.ndarray, y: np.ndarray) -> float:
    """Return the minimum of the parabola through the lowest point and its neighbours."""
    k = int(np.argmin(y))
    if k in (0, x.size - 1):
        return float(x[k])
    a, b, _ = np.polyfit(x[k - 1 : k + 2] - x[k], y[k - 1 : k + 2], 2)
    return float(np.clip(x[k] - b / (2 * a), x[k - 1], x[k + 1])) if a > 0 else float(x[k])


def load_ends(bench: Bench, fit: Fit, tolerance: Mapping[str, float]) -> list[dict[str, float]]:
    """Values with the lightest, or heaviest, load within its tolerance, if nothing else gives the torque's scale:
    torque_constant, armature and friction are then known as well as the mass."""
    relative = tolerance.get("load", LOAD)
    if carrier(bench)[1] or not isinstance(bench, Pendulum) or relative == 0:
        return []
    made, here = [], bench.known.get("torque_scale", 1.0)
    for load in (1 - relative, 1 + relative):
        # a lighter load is a stronger motor, with all torques and inertias in the units of the heavier one
        near = {"current": {"torque_constant": load}, "voltage": {"resistance": 1 / load}}.get(bench.drive, {})
        values = _at(bench, fit, "torque_scale", here / load, {n: v * near.get(n, 1.0) for n, v in fit.values.items()})
        made.append({n: v * load ** _POWER.get(PARAMETERS[n].unit, 0) for n, v in values.items()})
    return made


def free_choice(bench: Bench, held: HeldOut, ladder: Sequence[Model], prefer: str = "simple") -> tuple[str, HeldOut]:
    """The model that is chosen with the torque scale free, and its held-out errors: every fit continues on the same logs
    with the scale as a further parameter."""
    extra = bench.extra
    freed = HeldOut({}, held.groups, {})
    bench.extra = (*extra, "torque_scale")
    try:
        for way, errors in held.errors.items():
            freed.errors[way] = {m.name: errors[m.name].copy() for m in ladder}
            for group, out in held.groups[way].items():
                keep = [i for i in range(len(bench.logs)) if i not in out]
                for model in ladder:
                    space = bench.space(model)
                    values = {**held.fits[way][group][model.name].values, "torque_scale": 1.0}
                    result, _ = minimize(bench, model, keep, space.point(values), space, _ITERATIONS, rough=True)
                    freed.errors[way][model.name][out] = bench.errors(model, space.values(result.x), out)
    finally:
        bench.extra = extra
    return choose(freed, ladder, prefer), freed
