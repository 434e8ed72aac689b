"""95 % intervals by bootstrap over pieces of logs.

Each draw takes as many pieces as there are, with replacement, and prior knowledge (inertias of the model, torque constants)
anew within its tolerance. The spread of the fits has both in it. A fit is one step of Gauss-Newton from the best point.
Student's t for the number of logs, because all pieces of a log share its errors (a warm-up, a pose). Where the
curvature of the cost gives a wider interval, that one is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from mjgear.identify.arm.fit import SPREAD, Fitter, State
from mjgear.identify.arm.law import PLACE, Rung
from mjgear.identify.intervals import Interval, derived

#: numbers of a joint that are reported, with their units
UNITS = {
    "scale": "1", "gamma_u": "1", "gamma_v": "1", "eta_forward": "1", "eta_backward": "1", "eta_product": "1", "armature": "kg m2",
    "damping": "N m s/rad", "curved": "N m (s/rad)^p", "coulomb": "N m", "stribeck_friction": "N m", "stribeck_velocity": "rad/s",
    "gamma_stribeck": "1", "gamma_quadratic": "1/(N m)", "coulomb_temperature": "1/K", "viscous_temperature": "1/K", "delay": "s",
}  # fmt: skip

# names that are MJCF's
_MJCF = {"viscous": "damping"}

_FREEDOM = 4  # degrees of Student's t at least: a few logs have many pieces
_UNKNOWN = 0.5  # gamma_u or gamma_v with a wider interval is unknown


@dataclass
class Intervals:
    """All numbers of an arm: name -> interval, and the correlation of the draws in the same order."""

    numbers: dict[str, Interval]
    order: list[str]
    correlation: np.ndarray


def numbers(fitter: Fitter, rungs: Sequence[Rung], state: State) -> dict[str, float]:
    """JOINT.NUMBER and LINK.mass of a point, with efficiencies of the gammas."""
    out: dict[str, float] = {}
    for j, (name, rung) in enumerate(zip(fitter.arm.joints, rungs)):
        p, shape = state.p[j], rung.shape
        on = rung.enabled()
        if fitter.known.tolerance[j] > 0:
            # units: N m per logged unit
            out[f"{name}.torque_scale"] = 1 / p[PLACE["scale"]]
        if "load" in rung.terms:
            gammas = {number: p[PLACE[number]] for number in ("gamma_u", "gamma_v")}
            eta = dict(zip(("eta_forward", "eta_backward", "eta_product"), derived(gammas).values()))
            out |= {f"{name}.{number}": value for number, value in (gammas | eta).items()}
        for number in on:
            if number in ("gamma_u", "gamma_v"):
                continue
            value = p[PLACE[number]]
            if number == "stribeck_velocity":
                value = shape.stribeck_velocity * (1 + value)
            elif number == "coulomb_temperature":
                value += shape.coulomb_temperature
            elif number == "viscous_temperature":
                value += shape.viscous_temperature
            out[f"{name}.{_MJCF.get(number, number)}"] = value
        if fitter.known.delay:
            out[f"{name}.delay"] = shape.delay + p[PLACE["delay"]]
    if fitter.known.inertia > 0:
        for link, n in zip(fitter.arm.links, fitter.links(state.S)[0]):
            out[f"{link.name}.mass"] = n[0]
    return out


def curvature(fitter: Fitter, rungs: Sequence[Rung], state: State) -> np.ndarray:
    """Return the standard deviation of each number by the curvature of the cost."""
    theta = state.vector()
    variance = np.zeros(len(numbers(fitter, rungs, state)))
    w, V = np.linalg.eigh(fitter.covariance(rungs, state))
    for k in np.flatnonzero(w > 1e-14 * w[-1]).tolist():
        step = 1e-3 * np.sqrt(w[k]) * V[:, k]
        up, down = (np.array(list(numbers(fitter, rungs, state.at(theta + d)).values())) for d in (step, -step))
        variance += ((up - down) / 2e-3) ** 2
    return np.sqrt(variance)


def intervals(fitter: Fitter, rungs: Sequence[Rung], state: State, replicates: int = 100, seed: int = 0) -> Intervals:
    """Draw, fit, and measure the spread.

    Args:
      replicates: draws.
    """
    rng = np.random.default_rng(seed)
    n = fitter.problem.n_pieces
    known = fitter.known
    here = numbers(fitter, rungs, state)
    draws = np.empty((replicates, len(here)))
    for k in range(replicates):
        counts = np.bincount(rng.integers(0, n, n), minlength=n).astype(float)
        centers = State(
            SPREAD * known.inertia * fitter.links.spread * rng.standard_normal(state.S.shape),
            state.p.copy(),
            state.offsets,
        )
        tolerance = np.where(np.isfinite(known.tolerance), known.tolerance, 0.0)
        centers.p[:, PLACE["scale"]] = fitter.scale * (1 + SPREAD * tolerance * rng.standard_normal(fitter.arm.n))
        if n < 3:
            counts[:] = 1
        fit, _ = fitter.solve(rungs, state, counts, 1, centers, linear=True)
        draws[k] = list(numbers(fitter, rungs, fit).values())
    # an outlier comes from a fit that did not converge; quartiles ignore it
    middle = np.median(draws, axis=0)
    spread = np.std(draws, axis=0, ddof=1)
    quartiles = (np.quantile(draws, 0.841, axis=0) - np.quantile(draws, 0.159, axis=0)) / 2
    spread = np.where(spread > 2 * quartiles, np.maximum(quartiles, np.abs(middle - draws.mean(axis=0))), spread)
    # intervals by the curvature, for numbers that a bound or too few pieces hold fixed
    half = stdtrit(max(len(fitter.problem.logs) - 1, _FREEDOM), 0.975) * np.maximum(
        spread * np.sqrt(n / max(n - 1, 1)), curvature(fitter, rungs, state)
    )
    found = {}
    for (name, value), h in zip(here.items(), half):
        number = name.rsplit(".", 1)[1]
        unit = {"mass": "kg", "torque_scale": "N m per logged unit"}.get(number, UNITS.get(number, "1"))
        low, high = value - h, value + h
        if number not in (
            "curved",
            "coulomb_temperature",
            "viscous_temperature",
            "eta_backward",
            "eta_product",
            "delay",
        ):
            low = max(low, 0.0)
        if number.startswith("eta"):
            high = min(high, 1.0)
        is_gamma = number in ("gamma_u", "gamma_v", "eta_forward", "eta_backward", "eta_product")
        found[name] = Interval(float(value), float(low), float(high), not (is_gamma and 2 * h > _UNKNOWN), unit)
    moving = np.std(draws, axis=0) > 0
    correlation = np.eye(len(here))
    if moving.sum() > 1:
        at = np.flatnonzero(moving)
        correlation[np.ix_(at, at)] = np.corrcoef(draws[:, at].T)
    return Intervals(found, list(here), correlation)
