"""Choose the terms of friction that each joint needs: a term stays if held-out torques are predicted worse without it.

The ladder of a joint: native (Coulomb and viscous friction, as in MuJoCo), curved viscous friction, Stribeck, load dependence,
load dependence at rest, quadratic. Groups of logs are left out in turn, and everything is fitted to the others. A term stays if
the errors on left-out pieces grow without it: by more than WORTH of their sum of squares, and piece by piece (t-test).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from mjgear.identify.arm import law
from mjgear.identify.arm.fit import Fitter, State, copies
from mjgear.identify.arm.law import NEEDS, PUBLISHED, TERMS, Rung
from mjgear.identify.arm.problem import changed

WORTH = 0.01  # part of the held-out sum of squares that a term takes away at least
_SETTLE = 5  # fits of a published model, each with new columns
SURE = 3.0  # mean of the paired differences over its standard deviation


@dataclass
class Choice:
    """Held-out errors.

    Attributes:
      rungs: of each joint.
      errors: what -> (joints, pieces) sums of squares of held-out pieces, as logged; what is "native", "chosen", "largest",
        and where they were asked for the published models.
      counts: (joints, pieces) rows.
      without: (joint, term) -> by how much the held-out sum of squares grows without the term, and the t of that.
    """

    rungs: list[Rung]
    errors: dict[str, np.ndarray] = field(default_factory=dict)
    counts: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    without: dict[tuple[int, str], tuple[float, float]] = field(default_factory=dict)

    def better(self, j: int) -> tuple[str, float]:
        """The best model of joint j, and its error over that of the chosen terms."""
        errors = {what: float(self.rms(what)[j]) for what in self.errors}
        best = min(errors, key=lambda what: errors[what])
        return best, errors[best] / max(errors["chosen"], 1e-300)

    def rms(self, what: str) -> np.ndarray:
        """(joints) root mean square of the held-out errors."""
        return np.asarray(np.sqrt(self.errors[what].sum(axis=1) / self.counts.sum(axis=1)))


def held_out(
    fitter: Fitter, rungs: Sequence[Rung], start: State | dict[str, State], iterations: int = 12
) -> tuple[np.ndarray, dict[str, State]]:
    """(joints, pieces) sums of squares of every piece when its group was left out, and the fits."""
    pr = fitter.problem
    out = np.zeros((fitter.arm.n, pr.n_pieces))
    fits = {}
    for name, pieces in pr.groups.items():
        begin = start[name] if isinstance(start, dict) else start
        fits[name], _ = fitter.solve(rungs, begin, pr.without(name), iterations, enough=0.05)
        out[:, pieces] = fitter.errors(fits[name], pieces)
    return out, fits


def is_worse(without: np.ndarray, with_: np.ndarray, prefer: str = "simple") -> tuple[bool, float, float]:
    """Return True if errors grow without a term, with the relative growth and its t; surely, unless predictions are preferred."""
    used = (with_ > 0) & (without > 0)
    if used.sum() < 3:
        return False, 0.0, 0.0
    growth = float((without - with_)[used].sum() / with_[used].sum())
    # t of the differences, and of the ratios, which a few large errors do not dominate
    t = max(_t((without - with_)[used]), _t(np.log(without[used] / with_[used])))
    return (growth > WORTH and t > SURE) if prefer == "simple" else growth > 0, growth, t


def _t(d: np.ndarray) -> float:
    return float(d.mean() / max(d.std(ddof=1) / np.sqrt(d.size), 1e-300))


def choose(
    fitter: Fitter,
    rungs: Sequence[Rung],
    state: State,
    told: Callable[[str], None] = lambda text: None,
    prefer: str = "simple",
) -> Choice:
    """The terms of each joint, by elimination from the largest rung.

    Args:
      rungs: with the terms that may be there, and the shapes that the columns have.
      prefer: "simple", or "prediction": a term goes only if held-out errors do not grow without it.
    """
    J = fitter.arm.n
    rungs = copies(rungs)
    told(f"held out: {len(fitter.problem.groups)} groups of logs")
    errors, fits = held_out(fitter, rungs, state)
    result = Choice(rungs, {"largest": errors})
    result.counts = np.array([np.bincount(r.piece, minlength=fitter.problem.n_pieces) for r in fitter.problem.rows])
    sums = {name: fitter.sums(fitter.problem.without(name)) for name in fitter.problem.groups}

    # eliminate: the least important term of each joint, each joint alone with the others' estimate of the links
    done = np.zeros(J, bool)
    while not done.all():
        others = {name: fitter.others(rungs, fits[name], sums[name]) for name in fits}
        idle: list[dict[str, float]] = [{} for _ in range(J)]
        for j in np.flatnonzero(~done).tolist():
            terms = rungs[j].terms
            told(f"{fitter.arm.joints[j]}: {law.title(terms)}")
            for term in reversed(TERMS):
                if term not in terms or any(term in NEEDS.get(t, ()) for t in terms):
                    continue
                candidate = [changed(r, terms - {term}) if k == j else r for k, r in enumerate(rungs)]
                found = np.zeros_like(errors[j])
                for name, pieces in fitter.problem.groups.items():
                    fit, _ = fitter.solve(
                        candidate, fits[name], iterations=12, sums=sums[name], only=(j, others[name][j]), enough=0.05
                    )
                    found[pieces] = fitter.errors(fit, pieces, j)[0]
                worse, growth, t = is_worse(found, errors[j], prefer)
                if worse:
                    result.without[j, term] = growth, t
                else:
                    idle[j][term] = growth
        for j, missed in enumerate(idle):
            if missed:
                rungs[j] = changed(rungs[j], rungs[j].terms - {min(missed, key=lambda term: missed[term])})
            else:
                done[j] = True
        errors, fits = held_out(fitter, rungs, fits)
    result.rungs = rungs
    result.errors["chosen"] = errors
    result.without = {key: value for key, value in result.without.items() if key[1] in rungs[key[0]].terms}
    return result


def again(fitter: Fitter, choice: Choice, state: State) -> dict[str, State]:
    """Hold out the chosen friction with the columns (delays, Stribeck velocities) of the last fit, and Coulomb and viscous friction at one
    joint after the other, with the chosen friction at all others; the fits of the former."""
    errors, fits = held_out(fitter, choice.rungs, state)
    choice.errors |= {"chosen": errors, "native": errors.copy()}
    for name, pieces in fitter.problem.groups.items():
        sums = fitter.sums(fitter.problem.without(name))
        others = fitter.others(choice.rungs, fits[name], sums)
        for j in [j for j, rung in enumerate(choice.rungs) if rung.terms]:
            rungs = [changed(r, frozenset()) if k == j else r for k, r in enumerate(choice.rungs)]
            fit, _ = fitter.solve(rungs, fits[name], iterations=12, sums=sums, only=(j, others[j]), enough=0.05)
            choice.errors["native"][j, pieces] = fitter.errors(fit, pieces, j)[0]
    return fits


def published(fitter: Fitter, choice: Choice, state: State, told: Callable[[str], None] = lambda text: None) -> None:
    """Add the held-out errors of the published models to a choice: each joint with that model while all others keep their terms.

    Weights and variances of the rows are those of the chosen friction, for comparison with "chosen".
    """
    told("held out: published models")
    fits = again(fitter, choice, state)
    kept = fitter.grams
    all_others = fitter.others(choice.rungs, state, fitter.sums())
    others = {name: fitter.others(choice.rungs, fits[name], fitter.sums(fitter.problem.without(name))) for name in fits}
    choice.errors["M1"] = choice.errors["native"]  # the same law
    for what, model in PUBLISHED.items():
        if what == "M1":
            continue
        choice.errors[what] = np.zeros_like(choice.errors["chosen"])
        for j in range(fitter.arm.n):
            rungs = copies(choice.rungs)
            rungs[j] = replace(model, shape=replace(choice.rungs[j].shape))
            fitter.search(rungs, state, j)
            fit = state
            for _ in range(_SETTLE):
                fitter.grams = [fitter.gram(j, rungs[j], fit) if k == j else G for k, G in enumerate(kept)]
                fit, _ = fitter.solve(rungs, fit, only=(j, all_others[j]))
                fitter.follow(rungs, fit)
                rungs[j].shape.delay = choice.rungs[
                    j
                ].shape.delay  # the correction that each fit adds starts from the same delay
            fitter.grams = [fitter.gram(j, rungs[j], fit) if k == j else G for k, G in enumerate(kept)]
            for name, pieces in fitter.problem.groups.items():
                start = State(fits[name].S, fits[name].p.copy(), fits[name].offsets)
                start.p[j] = fit.p[j]
                found, _ = fitter.solve(
                    rungs, start, fitter.problem.without(name), 12, only=(j, others[name][j]), enough=0.05
                )
                choice.errors[what][j, pieces] = fitter.errors(found, pieces, j)[0]
    fitter.grams = kept
