"""Undetermined numbers, the reason, and the experiment that would decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mjgear.identify.bench import Bench, Dynamometer, Pendulum
from mjgear.identify.fit import Fit
from mjgear.identify.heldout import HeldOut
from mjgear.identify.intervals import Interval
from mjgear.identify.logs import Log, LogError
from mjgear.identify.models import PARAMETERS, Model

if TYPE_CHECKING:
    from mjgear.identify.scales import Scale

_ALIKE = 0.9  # least correlation of speed and position that compares their sizes
_LOADED = 3.0  # least load_share with enough load
_GAMMA_UNKNOWN = 0.5  # a gear with a wider interval of eta_forward x eta_backward counts as unknown


def load_share(bench: Bench, fit: Fit) -> float:
    """Return the ratio of the root mean squares of delivered torque and load-independent friction."""
    square, n = 0.0, 0
    for i, log in enumerate(bench.logs):
        if isinstance(bench, Pendulum):
            c = bench.constants(i)
            a = np.gradient(log.data["velocity"], log.dt)
            x = bench.static(i, log.data["position"]) + c["inertia"] * a
        else:
            x = log.data["output"]
        square += float(np.sum(x**2))
        n += x.size
    coulomb = fit.values.get("coulomb", 0.0) + fit.values.get("viscous", 0.0)
    return float(np.sqrt(square / max(n, 1)) / max(coulomb, 1e-12))


def refuse_speeds(logs: Sequence[Log]) -> None:
    """Refuse a speed in another unit, or of the motor, by the position over a tenth of a second.

    Raises:
      LogError: a log has one.
    """
    for log in (log for log in logs if "position" in log.data):
        k = min(max(1, round(0.1 / log.dt)), log.n - 1)
        v = log.data["velocity"]
        moved, told = np.diff(log.data["position"][::k]), np.diff(log.dt * (np.cumsum(v) - v / 2)[::k])
        along, square = float(moved @ told), float(moved @ moved)
        if along > _ALIKE * np.sqrt(square * float(told @ told)) and not 2 / 3 < along / square < 1.5:
            raise LogError(
                f"{log.name}: velocity is {along / square:.3g} times the rate of position: name its unit, --column velocity=NAME:UNIT or a number, or "
                "leave its column out, and it is taken from position"
            )


def elsewhere(held: HeldOut, chosen: str, ladder: Sequence[Model]) -> list[str]:
    """Return a line about the nearest law that runs in mjgear.warp, where the chosen one does not."""
    runs = [m for m in ladder if not {"curved_friction", "half_gap"} & set(m.parameters)]
    if not held.errors or not runs or any(m.name == chosen for m in runs):
        return []
    best = min(runs, key=lambda m: held.mean(m.name))
    return [
        f"mjgear.warp does not run this model; the best that it runs is '{best.title}' (values: --json), {held.mean(best.name):.3g} held out, the chosen one "
        f"{held.mean(chosen):.3g}"
    ]


def findings(bench: Bench, fit: Fit, found: Mapping[str, Interval], scale: Scale | None = None) -> list[str]:
    """Lines about parameters at bounds and numbers that the logs leave open, each with a remedy.

    Args:
      scale: evidence in the logs about the scale of the motor's torque.
    """
    lines = []
    space = bench.space(fit.model)
    for name, size, low, high in zip(space.names, space.size, space.low, space.high):
        z = fit.values[name] / size
        if z - low < 1e-3 or high - z < 1e-3:
            end = low if z - low < 1e-3 else high
            why = (
                "the logs show none of it"
                if end == 0
                else "the bound, not the logs, decides it; check units and bench facts"
            )
            if end == 0 and not found[name].known:
                why = "the logs do not tell it"
            if end == 0 and scale is not None and name in fit.values:
                other = max((scale.at(f).get(name, 0.0), f) for f in scale.range())
                if other[0] > 0.02 * size / PARAMETERS[name].step:
                    why = (
                        f"at the torque scale of the fit; with {other[1]:.2f} times the motor torque, which is not ruled out, it is {other[0]:.3g}: the "
                        "torque constant or the load decides it, not the gear"
                    )
            lines.append(f"{name} is at its bound {end * size:g}: {why}")
    negative = [n for n in ("gamma_u", "gamma_v") if n in space.names and fit.values[n] < 0]
    if (
        negative
        and scale is not None
        and any(min(scale.at(f).get(n, 0.0) for n in ("gamma_u", "gamma_v")) >= 0 for f in scale.factors.tolist())
    ):
        at = min(
            (f for f in scale.factors.tolist() if min(scale.at(f)[n] for n in ("gamma_u", "gamma_v")) >= 0),
            key=lambda f: abs(f - 1),
        )
        lines.append(
            f"{negative[0]} is below 0, which few gears have; with {at:.2f} times the motor torque neither coefficient is: the torque constant or the "
            "load may be wrong, not the gear"
        )
    product = found.get("eta_forward x eta_backward")
    gamma_unknown = False
    if product is not None:
        gamma_unknown = not product.known or product.high - product.low > _GAMMA_UNKNOWN
        if gamma_unknown:
            share = load_share(bench, fit)
            why = (
                f"the gear carries too little load (delivered torque is {share:.2g} times its own friction); hang a heavier weight on a "
                "longer arm, or brake the output, and log it rising and sinking"
                if share < _LOADED
                else f"though the gear carries {share:.2g} times its own friction: few logs, or a stiff position loop that makes up for "
                "whatever friction there is; log several weights with a third of the gain, and the load driving with the motor off"
            )
            lines.append(f"gamma_u and gamma_v are unknown: {why}")
    if "torque_constant" in space.names and not gamma_unknown and product is not None:
        lines.append(
            "the torque constant, which these logs give weakly (through back-EMF or friction alone), decides how eta_forward x eta_backward splits: "
            "one s times as large makes eta_forward about 1/s and eta_backward s times as large; "
            "give torque_constant from a stall test with a scale or from the data sheet, or measure the output torque"
        )
    for name, interval in found.items():
        if name in ("gamma_u", "gamma_v", "eta_forward", "eta_backward", "eta_forward x eta_backward"):
            continue
        if not interval.known:
            lines.append(
                f"{name} is not identifiable: no log depends on it, or others make up for it; {_EXPERIMENT.get(name, 'more logs that differ')}"
            )
        elif interval.value != 0 and interval.high - interval.low > 4 * abs(interval.value):
            lines.append(
                f"{name} is loosely known, {interval.low:.3g} to {interval.high:.3g}: {_EXPERIMENT.get(name, 'more logs that differ')}"
            )
    if isinstance(bench, Dynamometer):
        lines.append(
            f"samples above {bench.threshold:.3g} rad/s count as moving (--moving); at rest friction may have any value up to its bound, and samples at rest "
            "were left out"
        )
    if len(bench.logs) < 5:
        lines.append(
            f"{len(bench.logs)} logs make wide intervals, and hide what differs from day to day; eight or more are better"
        )
    return lines


_EXPERIMENT = {
    "armature": "log fast reversals with a light load",
    "coulomb": "log slow motion without load",
    "motor_viscous": "log constant fast motion with a heavy load that rises and sinks",
    "viscous": "log constant fast motion in both directions",
    "resistance": "log the current, or a stall",
    "stribeck_friction": "log very slow motion and breaking away from rest",
    "stribeck_velocity": "log very slow motion, at several speeds",
    "half_gap": "log small reversals around the unloaded position, with both encoders if there are two",
    "offset": "let the unpowered pendulum hang still at the start of a log",
    "delay": "log a goal that steps",
}
