"""Backlash from logs: directly from two encoders, or from one by a grid over the gap and shooting in short pieces.

A simulation with a gap forgets the rotor's place in it within a reversal or two, and its error jumps with the gap. Least
squares over whole logs stops at any gap. The gap is therefore laid on a grid, and everything else is fitted at each of its
points; from the lowest ones the gap is fitted too. First in pieces of a second, which begin at the measured angle and
speed (the rotor's place in the gap goes on), then over whole logs around the result.

With the gap found, everything else is fitted in sweeps: to the first tenth of each log, then to a little more, up to its
end. The simulation stays in step with the log. Two encoders know the gap better than any simulation of seconds: it is not
fitted to one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import maximum_filter1d, minimum_filter1d
from scipy.optimize import least_squares

from mjgear.identify.bench import Pendulum, carried
from mjgear.identify.leastsquares import minimize
from mjgear.identify.logs import Log, LogError
from mjgear.identify.models import Model

_LOWEST = 3  # number of grid points from which the gap is fitted, too
_PARTS = np.geomspace(0.1, 1.0, 11)  # growing beginnings of the logs, which a sweep fits in sequence
_FOLLOWS = 6  # iterations at each of them


@dataclass
class Gap:
    """A gap found.

    Attributes:
      half_gap: rad; the catalogue's backlash is twice this.
      values: fitted values, the gap included.
      grid, costs: the gaps that were tried and the cost of each; empty where two encoders tell the gap.
      simulations: of the bench.
      cost: of the values over whole logs; infinite if they were not fitted to them.
    """

    half_gap: float
    values: dict[str, float]
    grid: np.ndarray
    costs: np.ndarray
    simulations: int = 0
    cost: float = np.inf


def resolution(log: Log) -> float:
    """Resolution of the coarser one of a log's encoders, rad: its smallest change."""
    changes = [np.abs(np.diff(log.data[name])) for name in ("position", "rotor") if name in log.data]
    return max((float(np.min(c[c > 1e-12])) for c in changes if np.any(c > 1e-12)), default=1e-6)


def is_resolved(half_gap: float, logs: Sequence[Log]) -> bool:
    """True if a gap is wider than the encoders' resolution. Gains of a narrower one come from the model's shaft."""
    return 2 * half_gap > max(resolution(log) for log in logs)


def has_two_encoders(logs: Sequence[Log]) -> bool:
    """True if every log has the motor's encoder as well."""
    return all("rotor" in log.data for log in logs)


def from_two_encoders(logs: Sequence[Log], least: float = 0.2) -> Gap:
    """Half gap and stiffness of the shaft from logs with ``rotor`` and ``position``.

    Under the torque T of the shaft (gravity and inertia of the link, from the measured motion) the rotor is ahead by
    offset + half_gap sgn(T) + T/stiffness. Samples with less than `least` of the largest torque are left out.

    Raises:
      LogError: no rotor in a log, or a torque of one sign only.
    """
    torques, ahead, stays = [], [], []
    for log in logs:
        if "rotor" not in log.data:
            raise LogError(f"{log.name}: no column for rotor, the motor's encoder")
        facts = carried(log)
        smooth = np.ones(9) / 9
        a = np.convolve(np.gradient(log.data["velocity"], log.dt), smooth, "same")
        torques.append(facts["gravity"] * np.sin(log.data["position"]) + facts["inertia"] * a)
        ahead.append(log.data["rotor"] - log.data["position"])
        stays.append(max(5, round(0.05 / log.dt)))
    level = least * np.quantile(np.abs(np.concatenate(torques)), 0.99)

    # samples that touch: torque of one sign some time before and after, longer than the acceleration is blurred
    use = [(minimum_filter1d(t, 2 * n + 1) > level) | (maximum_filter1d(t, 2 * n + 1) < -level) for t, n in zip(torques, stays)]
    torque = np.concatenate([t[u] for t, u in zip(torques, use)])
    difference = np.concatenate([d[u] for d, u in zip(ahead, use)])
    if not (np.any(torque > 0) and np.any(torque < 0)):
        raise LogError("the torque has one sign in all logs: only one side of the gap was touched; log motion to both sides")

    # the loss must not be sharper than the encoders: it would take one of their counts for the gap
    side = np.sign(torque)
    start = np.array([0.0, (np.mean(difference[side > 0]) - np.mean(difference[side < 0])) / 2, 0.0])
    spread = 1.5 * np.median(np.abs(difference - side * start[1])) + 2 * max(resolution(log) for log in logs)
    size = max(abs(start[1]), spread)
    unit = np.array([size, size, size / np.max(np.abs(torque))])
    found = least_squares(lambda z: (z * unit) @ np.array([np.ones_like(side), side, torque]) - difference, start / unit,
                          loss="cauchy", f_scale=spread)
    offset, half_gap, compliance = found.x * unit
    half_gap = max(half_gap, 0.0)  # without a gap it scatters around 0
    stiffness = float(1 / compliance) if compliance > 0 else np.inf
    return Gap(float(half_gap), {"half_gap": float(half_gap), "stiffness": stiffness, "offset": float(offset)},
               np.empty(0), np.empty(0))


def find(bench: Pendulum, model: Model, logs: Sequence[int], largest: float, iterations: int,
         near: Mapping[str, float] | None = None, points: int = 9, piece: float = 1.0, sweeps: int = 2) -> Gap:
    """Find the half gap and all other parameters of a model: from two encoders if every log has them, else from one.

    Args:
      model: with half_gap.
      logs: the bench's logs to use.
      largest: largest half gap to search, rad.
      iterations: of the fit at each point of the grids.
      near: values to begin with; None: the middle of the start ranges.
      points: of each grid.
      piece: length of the pieces, s.
      sweeps: from the first part of the logs to the whole of them, each from the best values so far.
    """
    space = bench.space(model)
    begin = {n: (near or {}).get(n, m * s) for n, m, s in zip(space.names, space.start.mean(axis=0), space.size)}
    used = [bench.logs[i] for i in logs]
    if has_two_encoders(used):
        half_gap = from_two_encoders(used).half_gap
        found = Gap(half_gap, {**begin, "half_gap": half_gap}, np.empty(0), np.empty(0))
    else:
        coarse = _search(bench.pieces(piece), model, logs, 0.0, largest, points, iterations, begin)
        high = min(largest, 1.5 * coarse.half_gap) if coarse.half_gap > 0 else largest
        found = _search(bench.pieces(bench.reset), model, logs, 0.6 * coarse.half_gap, high, points, iterations, begin)
        found = replace(found, simulations=coarse.simulations + found.simulations)
    for _ in range(sweeps):
        found = _sweep(bench, model, logs, found)
    return found


def _sweep(bench: Pendulum, model: Model, logs: Sequence[int], gap: Gap) -> Gap:
    """Follows all values but the gap from the first part of the logs to the whole of them; the start, if that is
    better."""
    simulations, cost, values = gap.simulations, np.inf, gap.values
    for part in _PARTS:
        beginning = bench.beginning(part)
        beginning.known["half_gap"] = gap.half_gap
        space = beginning.space(model)
        z = np.array([values[name] for name in space.names]) / space.size
        result, n = minimize(beginning, model, logs, z, space, _FOLLOWS)
        values = {**beginning.known, **dict(zip(space.names, (result.x * space.size).tolist()))}
        simulations, cost = simulations + n, float(result.cost)
    if cost < gap.cost:
        return replace(gap, values=values, cost=cost, simulations=simulations)
    return replace(gap, simulations=simulations)


def _search(bench: Pendulum, model: Model, logs: Sequence[int], low: float, high: float, points: int, iterations: int,
            begin: Mapping[str, float]) -> Gap:
    """Return the lowest cost between two gaps. Each point of a grid is fitted from the point before; then the gap is
    free, from the lowest points and from the minimum of the parabola through them."""
    gaps = np.linspace(low, high, points)
    costs = np.full(points, np.inf)
    values = [dict(begin)] * points
    simulations = 0

    def fit_from(near: Mapping[str, float], gap: float | None) -> tuple[float, dict[str, float]]:
        nonlocal simulations
        bench.known.pop("half_gap", None)
        if gap is not None:
            bench.known["half_gap"] = gap
        space = bench.space(model)
        result, n = minimize(bench, model, logs, np.array([near[name] for name in space.names]) / space.size, space, iterations)
        simulations += n
        return float(result.cost), {**bench.known, **dict(zip(space.names, (result.x * space.size).tolist()))}

    near = begin
    for k, gap in enumerate(gaps.tolist()):
        costs[k], values[k] = fit_from(near, gap)
        near = values[k]

    # with the gap free, from the parabola's lowest point and from the grid's
    lowest = np.argsort(costs)[:_LOWEST]
    starts = [fit_from(values[lowest[0]], _vertex(gaps, costs, int(lowest[0])))[1], *(values[k] for k in lowest)]
    tried = [(costs[lowest[0]], values[lowest[0]]), *(fit_from(near, None) for near in starts)]
    cost, found = min(tried, key=lambda point: point[0])
    return Gap(found["half_gap"], found, gaps, costs, simulations, cost)


def _vertex(x: np.ndarray, y: np.ndarray, k: int) -> float:
    """Return the minimum of the parabola through point k, the lowest, and its neighbours; at an end point k itself."""
    near = slice(max(k - 2, 0), k + 3)
    if k in (0, x.size - 1) or x[near].size < 4:
        return float(x[k])
    unit = x[k + 1] - x[k - 1]
    a, b, _ = np.polyfit((x[near] - x[k]) / unit, y[near], 2)
    return float(np.clip(x[k] - unit * b / (2 * a), x[k - 1], x[k + 1])) if a > 0 else float(x[k])
