"""Result of an identification."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from mjgear.identify import mjcf
from mjgear.identify.bench import Bench, Pendulum
from mjgear.identify.fit import Fit
from mjgear.identify.heldout import HeldOut
from mjgear.identify.intervals import Intervals
from mjgear.identify.models import MODELS, PARAMETERS
from mjgear.identify.suspects import Misfit


@dataclass
class Identification:
    """A gear from logs.

    Attributes:
      chosen: name of the model that won.
      fits: model -> fit to all logs.
      intervals: 95 % intervals of the chosen model.
      held: errors on logs left out of the fit.
      notes: what the logs do not determine.
      misfit: the residual over the noise of the sensors, and what may explain it (suspects.py).
    """

    bench: Bench
    chosen: str
    fits: dict[str, Fit]
    intervals: Intervals
    held: HeldOut
    notes: list[str] = field(default_factory=list)
    misfit: Misfit | None = None

    @property
    def fit(self) -> Fit:
        """The fit of the chosen model."""
        return self.fits[self.chosen]

    def error(self, model: str | None = None) -> float:
        """Mean absolute error of a model on the logs that it was fitted to."""
        fit = self.fits[model or self.chosen]
        return float(self.bench.errors(fit.model, fit.values).mean())

    def scores(self) -> tuple[list[str], dict[str, list[str]]]:
        """Head and cells of each model: parameters, error on the logs, errors held out."""
        ways = list(self.held.errors)
        cells = {
            n: [MODELS[n].title, str(len(f.values)), f"{self.error(n):.4f}"]
            + [f"{self.held.mean(n, way):.4f}" for way in ways]
            for n, f in self.fits.items()
            if all(n in self.held.errors[way] for way in ways)
        }
        return ["model", "parameters", "fitted"] + [f"{way} left out" for way in ways], cells

    def table(self) -> str:
        """Models in rows."""
        head, cells = self.scores()
        rows = [[title + (" *" if n == self.chosen else ""), *more] for n, (title, *more) in cells.items()]
        width = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
        return "\n".join(
            "  ".join(cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, width)))
            for row in [head, *rows]
        )

    def cells(self) -> list[tuple[str, str, str, str]]:
        """Name, value, unit and interval of each parameter of the chosen model."""
        made = []
        for name, i in self.intervals.items():
            value, interval = i.text()
            law = f", of this law {i.law.text()[1]}" if i.law else ""
            made.append((name, value, PARAMETERS[name].si if name in PARAMETERS else "1", interval + law))
        return made

    def numbers(self) -> str:
        """Parameters of the chosen model with their intervals, in lines."""
        return "\n".join(f"  {name:<28}{value:>12} {unit:<10} {text}" for name, value, unit, text in self.cells())

    def mjcf(self, log: int = 0) -> str:
        """The bench of a log as MJCF, with the chosen model."""
        if not isinstance(self.bench, Pendulum):
            return self.paste()
        return mjcf.pendulum(self.bench, self.fit.model, self.fit.values, log)

    def paste(self, joint: str = "joint") -> str:
        """Lines for a model of your own: attributes of the joint and its motor, and the extension."""
        own = {n: i.law or i for n, i in self.intervals.items()}  # of this law, which the model has
        told = {n: float(i.text()[0]) for n, i in own.items() if n in self.fit.values}
        values = mjcf.complete(self.bench, self.fit.model, {**self.fit.values, **told})
        unknown = {name for name, interval in own.items() if not interval.known}
        # coefficients that are unknown one by one, but whose efficiencies are known
        etas = ("eta_forward", "eta_backward")
        by_eta = (
            bool({"gamma_u", "gamma_v"} & unknown)
            and all(n in own and n not in unknown for n in etas)
            and own[etas[0]].value > 0
        )
        extension = mjcf.gear(self.fit.model, values, joint, unknown=unknown, efficiencies=by_eta)
        at_joint = {
            "viscous": "damping",
            "armature": "armature",
            **({"coulomb": "frictionloss"} if self.fit.model.name == "native" else {}),
        }
        doubtful = [attribute for name, attribute in at_joint.items() if name in unknown]
        remark = f" {', '.join(doubtful)}: {mjcf.UNKNOWN}" if doubtful else ""
        motor = mjcf.motor_damping(values).strip()
        return "\n".join(
            filter(
                None,
                [
                    "  <!-- the joint in worldbody: -->",
                    f'  <joint name="{mjcf.attribute(joint)}" {mjcf.joint_attributes(self.fit.model, values)}/>',
                    f"  <!--{remark} -->" if remark else "",
                    f"  <!-- its actuator has {motor}, in front of the teeth -->" if motor else "",
                    "  <!-- in mujoco: -->" if extension else "",
                    extension,
                ],
            )
        )

    def json(self) -> str:
        """Everything as JSON."""
        content = {
            "chosen": self.chosen,
            "unit_of_errors": self.bench.unit,
            "known": self.bench.known,
            "parameters": {n: i.json() for n, i in self.intervals.items()},
            "misfit": None
            if self.misfit is None
            else {
                "residual_over_noise": self.misfit.ratio,
                "suspects": {
                    s.name: {"explains": s.explains, "sure": s.is_sure, "text": s.text} for s in self.misfit.suspects
                },
            },
            "correlations": {"names": list(self.intervals), "matrix": self.intervals.correlations.tolist()},
            "models": {
                n: {
                    "title": f.model.title,
                    "values": f.values,
                    "cost": f.cost,
                    "costs_of_starts": f.costs,
                    "simulations": f.simulations,
                    "seconds": f.seconds,
                    "error": self.error(n),
                }
                for n, f in self.fits.items()
            },
            "held_out": {
                way: {
                    m: {g: float(e[logs].mean()) for g, logs in self.held.groups[way].items()}
                    for m, e in errors.items()
                }
                for way, errors in self.held.errors.items()
            },
            "values_without": {
                way: {g: {m: f.values for m, f in fits.items()} for g, fits in of_way.items()}
                for way, of_way in self.held.fits.items()
            },
            "logs": [log.name for log in self.bench.logs],
            "notes": self.notes,
        }
        return json.dumps(_finite(content), indent=2)


def _finite(x: Any) -> Any:
    """Numbers that JSON knows: infinite ones become null."""
    if isinstance(x, dict):
        return {k: _finite(v) for k, v in x.items()}
    if isinstance(x, list):
        return [_finite(v) for v in x]
    if isinstance(x, float) and abs(x) == float("inf"):
        return None
    return x
