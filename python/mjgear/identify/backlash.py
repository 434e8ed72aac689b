"""Backlash from logs: directly from two encoders, or from one by a grid over the gap and shooting in short pieces.

A simulation with a gap forgets where the rotor is in it within a reversal or two, and its error jumps with the gap:
least squares over whole logs stops anywhere. So the gap is laid on a grid, everything else is fitted anew at each of its
points, and the grid gets finer around the lowest one: first in pieces of a second, which begin at the measured angle and
speed (the rotor's place in the gap goes on) and keep the error from growing beyond what the gap does, then around what was
found over whole logs, which know it best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import maximum_filter1d, minimum_filter1d
from scipy.optimize import least_squares

from mjgear.identify.bench import Pendulum, carried
from mjgear.identify.fit import Budget, minimize
from mjgear.identify.logs import Log, LogError
from mjgear.identify.models import MODELS


@dataclass
class Gap:
    """A gap found.

    Attributes:
      half_gap: rad; the catalogue's backlash is twice this.
      values: what else was fitted.
      grid, costs: the grid and the cost at each point; empty for two encoders.
    """

    half_gap: float
    values: dict[str, float]
    grid: np.ndarray
    costs: np.ndarray


def from_two_encoders(logs: Sequence[Log], least: float = 0.3) -> Gap:
    """Half gap and stiffness of the shaft from logs with ``rotor`` and ``position``.

    Where the shaft carries the torque T (gravity and inertia of the link, from the measured motion) the rotor is ahead by
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
        stays.append(max(5, round(0.03 / log.dt)))
    level = least * np.quantile(np.abs(np.concatenate(torques)), 0.99)

    # samples that touch: torque of one sign some time before and after, longer than the acceleration is blurred
    use = [(minimum_filter1d(t, 2 * n + 1) > level) | (maximum_filter1d(t, 2 * n + 1) < -level) for t, n in zip(torques, stays)]
    torque = np.concatenate([t[u] for t, u in zip(torques, use)])
    difference = np.concatenate([d[u] for d, u in zip(ahead, use)])
    if not (np.any(torque > 0) and np.any(torque < 0)):
        raise LogError("the torque has one sign in all logs: only one side of the gap was touched; log motion to both sides")

    side = np.sign(torque)
    start = np.array([0.0, (np.median(difference[side > 0]) - np.median(difference[side < 0])) / 2, 0.0])
    spread = 1.5 * np.median(np.abs(difference - side * start[1])) + 1e-6
    unit = np.array([start[1], start[1], start[1] / np.max(np.abs(torque))])
    found = least_squares(lambda z: (z * unit) @ np.array([np.ones_like(side), side, torque]) - difference, start / unit,
                          loss="cauchy", f_scale=spread)
    offset, half_gap, compliance = found.x * unit
    return Gap(float(half_gap), {"stiffness": float(1 / compliance) if compliance > 0 else np.inf, "offset": float(offset)},
               np.empty(0), np.empty(0))


def from_grid(bench: Pendulum, largest: float, points: int = 9, piece: float = 1.0, budget: Budget | None = None) -> Gap:
    """Half gap from one encoder.

    Args:
      bench: logs of small reversals; the torque drives them.
      largest: largest half gap that is looked for, rad.
      points: of each grid.
      piece: length of the pieces, s.
    """
    budget = budget or Budget()
    coarse, _, _ = _search(bench.pieces(piece), 0.0, largest, points, budget)
    best, values, seen = _search(bench, 0.6 * coarse, min(largest, 1.5 * coarse) if coarse > 0 else largest, 2 * points - 3, budget)
    return Gap(best, values, np.array([gap for gap, _ in seen]), np.array([cost for _, cost in seen]))


def _search(bench: Pendulum, low: float, high: float, points: int, budget: Budget) -> tuple[float, dict[str, float], list[tuple[float, float]]]:
    """Lowest cost between two gaps: a grid, a finer one between the neighbours of its lowest point, a parabola."""
    bench = bench.pieces(bench.reset)
    model = MODELS["backlash"]
    logs = list(range(len(bench.logs)))
    seen: dict[float, tuple[float, dict[str, float]]] = {}
    z: np.ndarray | None = None
    for count in (points, 7):
        for gap in np.linspace(low, high, count).round(9).tolist():
            if gap in seen:
                continue
            bench.known["half_gap"] = gap
            space = bench.space(model)
            result, _ = minimize(bench, model, logs, space.start.mean(axis=0) if z is None else z, space, budget.iterations)
            z = result.x
            seen[gap] = float(result.cost), dict(zip(space.names, (result.x * space.size).tolist()))
        gaps = sorted(seen)
        costs = [seen[gap][0] for gap in gaps]
        k = int(np.argmin(costs))
        low, high = gaps[max(k - 1, 0)], gaps[min(k + 1, len(gaps) - 1)]
    best = gaps[k]
    if 0 < k < len(gaps) - 1:
        # in units of the neighbours' distance, so that the parabola is well conditioned
        unit = high - low
        curve = np.polyfit((np.array(gaps[k - 1 : k + 2]) - best) / unit, costs[k - 1 : k + 2], 2)
        if curve[0] > 0:
            best = float(np.clip(best - unit * curve[1] / (2 * curve[0]), low, high))
    return best, seen[gaps[k]][1], list(zip(gaps, costs))
