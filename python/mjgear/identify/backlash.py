"""Backlash from logs: directly from two encoders, or from one by starts at many gaps.

A simulation with a gap forgets the rotor's place in it within a reversal or two, and its error jumps with the gap. Least
squares over whole logs stops at any gap. With one encoder everything else is therefore fitted at each of several gaps, in pieces of
half a second that begin at the measured angle and speed (the rotor's place in the gap goes on). The fit over whole logs starts from each.

Two encoders know the gap better than any simulation of seconds: it is not fitted to one. Everything else is fitted in sweeps: to the
first tenth of each log, then to a little more, up to its end. The simulation stays in step with the log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mjgear.identify.bench import Pendulum, acceleration, carried, resolution
from mjgear.identify.leastsquares import minimize
from mjgear.identify.logs import Log, LogError
from mjgear.identify.models import Model

_PIECE = 0.5  # s
_GAPS = 9  # starts, from a fortieth of the largest gap on
_ROUGH = 6  # iterations at each
_PARTS = np.geomspace(0.1, 1.0, 11)  # growing beginnings of the logs, which a sweep fits in sequence
_FOLLOWS = 6  # iterations at each of them


def is_resolved(half_gap: float, logs: Sequence[Log]) -> bool:
    """True if a gap is wider than the encoders' resolution. Gains of a narrower one come from the model's shaft."""
    return 2 * half_gap > max(resolution(log) for log in logs)


def has_two_encoders(logs: Sequence[Log]) -> bool:
    """True if every log has the motor's encoder as well."""
    return all("rotor" in log.data for log in logs)


def from_two_encoders(logs: Sequence[Log], least: float = 0.2) -> dict[str, float]:
    """Half gap, stiffness of the shaft and offset from logs with ``rotor`` and ``position``.

    Under the torque T of the shaft (gravity and inertia of the link, from the measured motion) the rotor is ahead by
    offset + half_gap sgn(T) + T/stiffness. Samples with less than `least` of the largest torque are left out.

    Raises:
      LogError: no rotor in a log, or a torque of one sign only.
    """
    from scipy.ndimage import maximum_filter1d, minimum_filter1d  # here alone, since they are slow to import
    from scipy.optimize import least_squares

    torques, ahead, stays = [], [], []
    for log in logs:
        if "rotor" not in log.data:
            raise LogError(f"{log.name}: no column for rotor, the motor's encoder")
        facts, a = carried(log), acceleration(log)
        q = log.data["position"]
        torques.append(facts["gravity"] * np.sin(q) - log.along(q) + facts["inertia"] * a)
        ahead.append(log.data["rotor"] - log.data["position"])
        stays.append(max(5, round(0.05 / log.dt)))
    level = least * np.quantile(np.abs(np.concatenate(torques)), 0.99)

    # samples that touch: torque of one sign some time before and after, longer than the acceleration is blurred
    use = [
        (minimum_filter1d(t, 2 * n + 1) > level) | (maximum_filter1d(t, 2 * n + 1) < -level)
        for t, n in zip(torques, stays)
    ]
    torque = np.concatenate([t[u] for t, u in zip(torques, use)])
    difference = np.concatenate([d[u] for d, u in zip(ahead, use)])
    if not (np.any(torque > 0) and np.any(torque < 0)):
        raise LogError(
            "the torque has one sign in all logs: only one side of the gap was touched; log motion to both sides"
        )

    # the loss must not be sharper than the encoders: it would take one of their counts for the gap
    side = np.sign(torque)
    start = np.array([0.0, (np.mean(difference[side > 0]) - np.mean(difference[side < 0])) / 2, 0.0])
    spread = 1.5 * np.median(np.abs(difference - side * start[1])) + 2 * max(resolution(log) for log in logs)
    size = max(abs(start[1]), spread)
    unit = np.array([size, size, size / np.max(np.abs(torque))])
    found = least_squares(
        lambda z: (z * unit) @ np.array([np.ones_like(side), side, torque]) - difference,
        start / unit,
        loss="cauchy",
        f_scale=spread,
    )
    offset, half_gap, compliance = found.x * unit
    half_gap = max(half_gap, 0.0)  # without a gap it scatters around 0
    stiffness = float(1 / compliance) if compliance > 0 else np.inf
    return {"half_gap": float(half_gap), "stiffness": stiffness, "offset": float(offset)}


def starts(
    bench: Pendulum, model: Model, logs: Sequence[int], largest: float, begin: Mapping[str, float]
) -> tuple[list[dict[str, float]], int]:
    """Values of a model at gaps of all sizes, each fitted from the one before, and the number of simulations."""
    pieces, simulations = bench.pieces(_PIECE), 0
    found: list[dict[str, float]] = []
    for gap in np.geomspace(largest / 40, largest, _GAPS).tolist():
        begin, _, n = held(pieces, model, logs, gap, begin)
        found.append(dict(begin))
        simulations += n
    return found, simulations


def sweep(
    bench: Pendulum, model: Model, logs: Sequence[int], begin: Mapping[str, float], sweeps: int
) -> tuple[dict[str, float], int]:
    """Follow all values but the gap, which two encoders tell, from the first part of the logs to the whole of them; and the number of
    simulations."""
    half_gap = from_two_encoders([bench.logs[i] for i in logs])["half_gap"]
    best, least, simulations = dict(begin), np.inf, 0
    for _ in range(sweeps):
        values, cost = best, np.inf
        for part in _PARTS:
            values, cost, n = held(bench.beginning(part), model, logs, half_gap, values, _FOLLOWS, rough=False)
            simulations += n
        if not cost < least:
            break
        best, least = values, cost
    return best, simulations


def held(
    bench: Pendulum,
    model: Model,
    logs: Sequence[int],
    gap: float,
    near: Mapping[str, float],
    iterations: int = _ROUGH,
    rough: bool = True,
) -> tuple[dict[str, float], float, int]:
    """Values fitted with the gap held, their cost, and the number of simulations."""
    free = dict(bench.known)
    bench.known["half_gap"] = gap
    space = bench.space(model)
    result, n = minimize(bench, model, logs, space.point(near), space, iterations, rough=rough)
    values = {**bench.known, **space.values(result.x)}
    bench.known.clear()
    bench.known.update(free)
    return values, float(result.cost), n
