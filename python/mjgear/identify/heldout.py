"""Compare models by their predictions of held-out logs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import stdtrit

from mjgear.identify.bench import Bench
from mjgear.identify.fit import Budget, Fit, fit_ladder
from mjgear.identify.logs import Log
from mjgear.identify.models import Model

_WORTH = 0.02  # part of the error that further parameters have to take away
_THIRD = 4 / 3  # least ratio of errors that gets a remark
_SURE = 0.975  # probability of the t-test that they do
_FOLDS = 12  # most groups of single logs

#: groups that may be left out, and the facts of a log that define them
GROUPS: dict[str, tuple[str, ...]] = {
    "gain": ("kp",),
    "trajectory": ("trajectory",),
    "load": ("mass", "length", "inertia"),
    "log": (),
}


def groups(logs: Sequence[Log], by: str) -> dict[str, list[int]]:
    """Name of a group -> its logs. By "log" each log is a group, or every twelfth one of more than twelve."""
    found: dict[str, list[int]] = {}
    for i, log in enumerate(logs):
        facts = [f"{k} {log.facts[k]}" for k in GROUPS[by] if k in log.facts]
        found.setdefault(", ".join(facts) if GROUPS[by] else log.name, []).append(i)
    if not GROUPS[by] and len(found) > _FOLDS:
        places = list(found.values())
        return {f"part {k + 1} of {_FOLDS}": [i for place in places[k::_FOLDS] for i in place] for k in range(_FOLDS)}
    return found


def ways(logs: Sequence[Log]) -> list[str]:
    """Ways to leave out parts of these logs: all but "log" that have at least two groups; "log" if there is no other."""
    named = [by for by in GROUPS if by != "log" and len(groups(logs, by)) > 1]
    return named or (["log"] if len(logs) > 1 else [])


@dataclass
class HeldOut:
    """Errors on logs that were left out of the fit.

    Attributes:
      errors: way -> model -> (logs) mean absolute error of each log when its group was left out.
      groups: way -> group -> logs.
      fits: way -> group -> model -> fit to all other logs.
    """

    errors: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)
    groups: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    fits: dict[str, dict[str, dict[str, Fit]]] = field(default_factory=dict)

    def mean(self, model: str, by: str | None = None) -> float:
        """Mean over groups, so that each group counts alike, and over the ways unless one is named."""
        means = []
        for way in [by] if by else self.errors:
            means += [np.mean([np.mean(self.errors[way][model][logs]) for logs in self.groups[way].values()])]
        return float(np.mean(means))

    def ratios(self, model: str, other: str) -> np.ndarray:
        """Logarithm of one model's error over another one's, of each log, in the mean over the ways."""
        tiny = np.finfo(float).tiny
        logs = np.array([np.log((e[model] + tiny) / (e[other] + tiny)) for e in self.errors.values()])
        return np.asarray(logs.mean(axis=0))


def leave_out(
    bench: Bench,
    models: Sequence[Model],
    by: Sequence[str],
    budget: Budget | None = None,
    seed: int = 0,
    told: Callable[[str], None] = lambda text: None,
    start: Mapping[str, Fit] | None = None,
) -> HeldOut:
    """Fit every model without each group, and predict it.

    The fit does not use the group: it starts from scratch with the other logs. With `start` it starts there: for benches without a
    simulation, where a fit finds the same minimum from anywhere.
    """
    result = HeldOut()
    everything = range(len(bench.logs))
    for way in by:
        result.groups[way] = groups(bench.logs, way)
        result.fits[way] = {}
        result.errors[way] = {m.name: np.full(len(bench.logs), np.nan) for m in models}
        for name, out in result.groups[way].items():
            told(f"without {name}")
            fits = fit_ladder(
                bench, models, budget, [i for i in everything if i not in out], np.random.default_rng(seed), start
            )
            result.fits[way][name] = fits
            for model in models:
                result.errors[way][model.name][out] = bench.errors(model, fits[model.name].values, out)
    return result


#: what is chosen: the simplest model that no other one is surely better than, or the one with the least held-out error
PREFERENCES = ("simple", "prediction")


def choose(held: HeldOut, ladder: Sequence[Model], prefer: str = "simple") -> str:
    """The simplest model of the ladder that no other one predicts better than; if predictions are preferred, the best one.

    A model predicts better if the other's mean error is more than 2 % larger, and larger log by log: a paired t-test of the
    logarithms of their ratios, with 97.5 %. Ratios, since the errors of logs differ by orders
    of magnitude, and one log that swings over would decide alone.
    """
    if prefer == "prediction":
        return min(ladder, key=lambda m: held.mean(m.name)).name
    names = [m.name for m in sorted(ladder, key=lambda m: (len(m.parameters), held.mean(m.name)))]

    def is_beaten(name: str, other: str) -> bool:
        return held.mean(name) > (1 + _WORTH) * held.mean(other) and is_positive(held.ratios(name, other))

    return next(name for name in names if not any(is_beaten(name, other) for other in names))


def is_positive(x: np.ndarray, sure: float = _SURE) -> bool:
    """True if the mean of these numbers is above 0: one-sided t-test; a single number has no scatter to judge by."""
    return x.size < 2 or bool(x.mean() > stdtrit(x.size - 1, sure) * x.std(ddof=1) / np.sqrt(x.size))


def remarks(held: HeldOut, chosen: str, titles: Mapping[str, str]) -> list[str]:
    """A line if another model predicts better than the chosen one, though not on log after log, or a published one does."""
    names = set.intersection(*(set(errors) for errors in held.errors.values())) - {chosen} if held.errors else set()
    if not names:
        return []
    best = min(names, key=held.mean)
    here, there = held.mean(chosen), held.mean(best)
    if here <= (1 + _WORTH) * there:
        return []
    sure = is_positive(held.ratios(chosen, best))
    why = "on log after log" if sure else "but not on log after log: few logs decide"
    line = f"'{titles[best]}' predicts held-out logs with {there:.3g}, the chosen '{titles[chosen]}' with {here:.3g}, {why}"
    if here > _THIRD * there:
        return [
            f"another model is better by a third: {line}; look at its plots, and log more of what differs, before you use the chosen one"
        ]
    return [f"which model is right is unknown: {line}; logs of more loads, speeds and gains would decide"]
