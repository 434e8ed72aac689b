"""Which model predicts what it has not seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from mjgear.identify.bench import Bench
from mjgear.identify.fit import Budget, Fit, fit_ladder
from mjgear.identify.logs import Log
from mjgear.identify.models import Model

#: what may be left out, and the facts of a log that say which group it belongs to
GROUPS: dict[str, tuple[str, ...]] = {
    "gain": ("kp",),
    "trajectory": ("trajectory",),
    "load": ("mass", "length", "inertia"),
    "log": (),
}


def groups(logs: Sequence[Log], by: str) -> dict[str, list[int]]:
    """Name of a group -> its logs. By "log" each log is a group."""
    found: dict[str, list[int]] = {}
    for i, log in enumerate(logs):
        facts = [f"{k} {log.facts[k]}" for k in GROUPS[by] if k in log.facts]
        found.setdefault(", ".join(facts) if GROUPS[by] else log.name, []).append(i)
    return found


def ways(logs: Sequence[Log]) -> list[str]:
    """What can be left out of these logs: all but "log" that have two groups at least; "log" if there is no other."""
    named = [by for by in GROUPS if by != "log" and len(groups(logs, by)) > 1]
    return named or (["log"] if len(logs) > 1 else [])


@dataclass
class HeldOut:
    """Errors on logs that were left out of the fit.

    Attributes:
      errors: way -> model -> (logs) mean absolute error of each log when its group was left out.
      groups: way -> group -> logs.
    """

    errors: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)
    groups: dict[str, dict[str, list[int]]] = field(default_factory=dict)

    def mean(self, model: str, by: str | None = None) -> float:
        """Mean over groups, so that each group counts alike, and over the ways unless one is named."""
        means = []
        for way in [by] if by else self.errors:
            means += [np.mean([np.mean(self.errors[way][model][logs]) for logs in self.groups[way].values()])]
        return float(np.mean(means))


def leave_out(bench: Bench, models: Sequence[Model], by: Sequence[str], budget: Budget | None = None, seed: int = 0,
              told: Callable[[str], None] = lambda text: None) -> HeldOut:
    """Fit every model without each group, and predict it.

    Nothing of the group enters: the starts are those of a fit from scratch to the other logs.
    """
    result = HeldOut()
    everything = range(len(bench.logs))
    for way in by:
        result.groups[way] = groups(bench.logs, way)
        result.errors[way] = {m.name: np.full(len(bench.logs), np.nan) for m in models}
        for name, out in result.groups[way].items():
            told(f"without {name}")
            fits = fit_ladder(bench, models, budget, [i for i in everything if i not in out], np.random.default_rng(seed))
            for model in models:
                result.errors[way][model.name][out] = bench.errors(model, fits[model.name].values, out)
    return result


def choose(held: HeldOut, ladder: Sequence[Model]) -> str:
    """The simplest model of the ladder that predicts as well as the best one.

    As well: its errors on the logs exceed those of the best model by no more than one standard error of the paired
    differences, or by less than a tenth, which is not worth a parameter.
    """
    names = [m.name for m in ladder]
    best = min(names, key=held.mean)
    for name in names:
        difference = np.concatenate([held.errors[way][name] - held.errors[way][best] for way in held.errors])
        allowed = difference.std(ddof=1) / np.sqrt(difference.size / len(held.errors))
        if name == best or difference.mean() <= max(allowed, 0.1 * held.mean(best)):
            return name
    return best


def reasons(held: HeldOut, fits: dict[str, Fit], ladder: Sequence[Model]) -> list[str]:
    """The ladder in lines: held-out error and number of parameters."""
    return [f"{m.title}: {held.mean(m.name):.4g}, {len(fits[m.name].values)} parameters" for m in ladder]
