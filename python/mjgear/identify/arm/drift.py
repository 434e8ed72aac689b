"""Test whether friction drifted between logs, or within one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import fdtrc, stdtr

from mjgear.identify.arm.fit import Fitter, State
from mjgear.identify.arm.law import PLACE, Rung

_WORTH = 0.05  # part of the Coulomb friction above which drift is reported
_SURE = 1e-3
_ROWS = 20  # fewest samples of each direction in a piece


@dataclass
class Drift:
    """Of one joint.

    Attributes:
      logs: (logs) difference of friction in a log from the mean of all, N m.
      p_logs: probability of such differences among logs if there were none (analysis of variance over pieces).
      trend: (logs) change within each log, N m/s.
      p_trend: probability of the mean trend if there were none.
      coulomb: of the fit, N m.
    """

    logs: np.ndarray
    p_logs: float
    trend: np.ndarray
    p_trend: float
    coulomb: float

    def notes(self, joint: str, names: Sequence[str], lengths: Sequence[float]) -> list[str]:
        """Lines about drift."""
        lines = []
        c = max(self.coulomb, 1e-12)
        if self.p_logs < _SURE and np.nanmax(np.abs(self.logs)) > _WORTH * c:
            low, high = int(np.nanargmin(self.logs)), int(np.nanargmax(self.logs))
            lines.append(
                f"friction of {joint} drifted from log to log (p = {self.p_logs:.1g}): from {100 * self.logs[low] / c:+.0f} % of coulomb in {names[low]} "
                f"to {100 * self.logs[high] / c:+.0f} % in {names[high]}; warm up longer, or log the temperature"
            )
        change = float(np.nanmean(self.trend * np.asarray(lengths))) if np.isfinite(self.trend).any() else 0.0
        if self.p_trend < _SURE and abs(change) > _WORTH * c:
            lines.append(
                f"friction of {joint} changes within a log (p = {self.p_trend:.1g}): by {100 * change / c:+.0f} % of coulomb from its beginning to its end; "
                "warm up before logging, or log the temperature"
            )
        return lines


def drift(fitter: Fitter, rungs: Sequence[Rung], state: State, j: int) -> Drift:
    """Residual friction of each piece, and its dependence on logs and time."""
    problem = fitter.problem
    r = problem.rows[j]
    beta = fitter.links(state.S)[0]
    p = state.p[j]
    predicted = problem.predict(j, problem.base(j, beta), p, state.offsets[j], rungs[j])
    residual = problem.torque(j, rungs[j].shape.delay) - predicted["tau"]
    d = np.where(predicted["driving"], 1.0, -1.0)
    column = p[PLACE["scale"]] * np.sign(r.v) / (1 - d * p[PLACE["gamma_u"]])
    change, time, log = [], [], []
    for k in range(problem.n_pieces):
        here = r.piece == k
        if min(np.sum(here & (r.v > 0)), np.sum(here & (r.v < 0))) < _ROWS:
            continue
        x = column[here] - column[here].mean()
        change.append(float(x @ residual[here] / (x @ x)))
        time.append(float(r.time[here].mean()))
        log.append(problem.piece_log[k])
    L = len(problem.logs)
    c, t, g = np.array(change), np.array(time), np.array(log)
    means, trend = np.full(L, np.nan), np.full(L, np.nan)
    within, used = 0.0, 0
    for i in range(L):
        own = g == i
        if own.sum() < 2:
            continue
        means[i] = c[own].mean()
        within += float(np.sum((c[own] - means[i]) ** 2))
        used += int(own.sum())
        if own.sum() > 2:
            trend[i] = np.polyfit(t[own], c[own], 1)[0]
    count = int(np.isfinite(means).sum())
    p_logs = 1.0
    if count > 1 and used > count and within > 0:
        sizes = np.array([np.sum(g == i) for i in range(L)])
        overall = np.nansum(means * sizes * np.isfinite(means)) / np.sum(sizes * np.isfinite(means))
        between = np.nansum(sizes * (means - overall) ** 2)
        p_logs = float(fdtrc(count - 1, used - count, between / (count - 1) / (within / (used - count))))
        means = means - overall
    slopes = trend[np.isfinite(trend)]
    p_trend = 1.0
    if slopes.size > 2 and slopes.std() > 0:
        p_trend = float(2 * stdtr(slopes.size - 1, -abs(slopes.mean()) / (slopes.std(ddof=1) / np.sqrt(slopes.size))))
    return Drift(means, p_logs, trend, p_trend, float(p[PLACE["coulomb"]]))
