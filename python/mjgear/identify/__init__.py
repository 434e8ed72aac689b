"""From logs to a gear: fits gears, MuJoCo's own friction and published servo models to logs, and compares their errors on held-out logs.

    from mjgear import identify
    found = identify.identify(["logs/"], servo="xl330")
    print(found.table(), found.numbers(), found.paste())

doc/identify.md is the manual.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mjgear import _extras

_extras.require("scipy", "mjgear.identify", "identify")

from mjgear.identify import backlash, diagnose, scales, suspects
from mjgear.identify.bench import Bench, Dynamometer, FreeRun, Pendulum
from mjgear.identify.fit import Budget, fit, fit_ladder
from mjgear.identify.heldout import HeldOut, choose, groups, leave_out, remarks, ways
from mjgear.identify.intervals import Interval, intervals
from mjgear.identify.logs import Column, Log, LogError, read, read_all
from mjgear.identify.models import LADDER, MODELS, PUBLISHED, Model
from mjgear.identify.result import Identification
from mjgear.identify.servo import SERVOS, Servo, servo

__all__ = [
    "Bench",
    "Budget",
    "Column",
    "Dynamometer",
    "FreeRun",
    "HeldOut",
    "Identification",
    "Interval",
    "LADDER",
    "Log",
    "LogError",
    "MODELS",
    "Model",
    "PUBLISHED",
    "Pendulum",
    "SERVOS",
    "Servo",
    "choose",
    "fit",
    "fit_ladder",
    "identify",
    "identify_bench",
    "intervals",
    "leave_out",
    "read",
    "read_all",
    "servo",
    "ways",
]

#: models that are fitted unless others are named: the ladder without backlash, and three published ones
DEFAULT_MODELS = (
    *("native", "curved", "gamma", "gamma_curved", "gamma_motor", "gamma_delay", "stribeck", "quadratic"),
    *("M1", "M3", "M6"),
)

#: likewise of bench "friction"
FRICTION_MODELS = ("native", "curved", "falling")


def identify(
    logs: Sequence[str | Path],
    *,
    bench: str = "pendulum",
    servo: str | Servo = "torque",
    columns: Mapping[str, str | Column] | None = None,
    facts: Mapping[str, float | str] | None = None,
    known: Mapping[str, float] | None = None,
    dt: float = 0.005,
    input: str | None = None,
    fit: Sequence[str] = (),
    step: float = 5e-3,
    header: Sequence[str] | None = None,
    moving: float | None = None,
    **options: Any,
) -> Identification:
    """Read logs of one joint and identify its gear.

    Args:
      logs: files and folders.
      bench: "pendulum", "dynamometer", or "friction" for logs of torque and speed without a load.
      servo: a name of SERVOS, a JSON file, or a Servo.
      columns: quantity -> column (logs.read).
      facts: mass, length, kp, ... for all logs, if the logs lack them.
      known: parameters that are not fitted, such as torque_constant.
      dt: time between samples, s.
      input: what drives the simulation; None: the best that is there.
      fit: "delay", "slew", "torque_scale", "drift" (friction that changes from log to log): fitted with every model; of a dynamometer the last two.
      step: largest step of the simulation, s.
      header: names of the columns of CSV that has no line of them.
      moving: of a dynamometer, speed from which a sample counts as moving, rad/s; None: a hundredth of the usual speed.
      options: of identify_bench.

    Raises: LogError: a log or an option is not understood.
    """
    machine = _servo(servo)
    defaults = {"duty": Column("load", machine.duty_scale, machine.duty_wrap)}
    read_logs = read_all(
        logs,
        columns=columns,
        dt=dt,
        facts=facts,
        defaults=defaults,
        header=header,
        turns=bench != "pendulum",
        angles=bench not in ("dynamometer", "friction"),
    )
    if bench == "pendulum":
        return identify_bench(Pendulum(read_logs, machine, input, known=known, fit=fit, step=step), **options)
    if bench in ("dynamometer", "friction"):
        made = (Dynamometer if bench == "dynamometer" else FreeRun)(
            read_logs,
            machine,
            input,
            known=known,
            fit=[name for name in fit if name == "drift" or (name == "torque_scale" and bench == "dynamometer")],
            threshold=moving,
        )
        return identify_bench(made, **options)
    raise LogError(f"bench '{bench}'; choose pendulum, dynamometer or friction; a whole robot: --robot ROBOT.xml")


def _servo(name: str | Servo) -> Servo:
    return name if isinstance(name, Servo) else servo(name)


def _models(bench: Bench, names: Sequence[str] | None) -> list[Model]:
    """Models to fit, the ladder first. A delay that is fitted with every model makes no rung."""
    usual = FRICTION_MODELS if isinstance(bench, FreeRun) else DEFAULT_MODELS
    asked = [MODELS[n] for n in names or usual if not ("delay" in bench.extra and "delay" in MODELS[n].parameters)]
    if names and (lacking := [m for m in asked if bench.lacks(m)]):
        raise LogError(f"model '{lacking[0].name}' depends on {bench.lacks(lacking[0])}; choose others (--models)")
    return sorted((m for m in asked if not bench.lacks(m)), key=lambda m: (m.law != "gear", len(m.parameters)))


def identify_bench(
    bench: Bench,
    models: Sequence[str] | None = None,
    *,
    by: Sequence[str] | None = None,
    budget: Budget | None = None,
    replicates: int = 100,
    tolerance: Mapping[str, float] | None = None,
    seed: int = 0,
    prefer: str = "simple",
    told: Callable[[str], None] = lambda text: None,
) -> Identification:
    """Fit models, choose one by its held-out predictions, and give its numbers with intervals.

    Args:
      models: names in MODELS; "native" and the gears among them make the ladder to choose from. None: the usual ones of the bench.
      by: what is left out, of heldout.GROUPS; None: all that differs between the logs.
      budget: of each model.
      replicates: of the bootstrap.
      tolerance: known parameter -> relative tolerance; "load": that of masses, lengths and inertias, "torque_scale": of the motor's torque.
        By default a torque constant, a loop gain or a torque is known to 25 % (on a dynamometer 5 %), a load to 10 %.
      prefer: of heldout.PREFERENCES.
      told: gets a line for each step that takes time.
    """
    diagnose.refuse_speeds(bench.logs)
    chosen_models = _models(bench, models)
    by = ways(bench.logs) if by is None else by
    for way in by:
        if len(groups(bench.logs, way)) < 2:
            raise LogError(f"nothing can be left out by {way}: it is the same in all logs")
    told("fit: all logs")
    ladder_fits = fit_ladder(bench, chosen_models, budget, rng=np.random.default_rng(seed))
    fits = {model.name: ladder_fits[model.name] for model in chosen_models}
    held = leave_out(
        bench,
        chosen_models,
        by,
        budget,
        seed,
        told,
        ladder_fits if isinstance(bench, Dynamometer) else None,
    )
    ladder = [m for m in chosen_models if m.name in LADDER]
    if not ladder:
        raise LogError("no model of the ladder to choose from; name native, gamma, stribeck, quadratic or backlash")
    unresolved = [
        m
        for m in ladder
        if "half_gap" in fits[m.name].values and not backlash.is_resolved(fits[m.name].values["half_gap"], bench.logs)
    ]
    ladder = [m for m in ladder if m not in unresolved] or ladder
    chosen = choose(held, ladder, prefer) if held.errors else min(ladder, key=lambda m: fits[m.name].cost).name
    told(f"intervals: {MODELS[chosen].title}")
    # a scale that is given is tested, not believed
    tolerance = dict(tolerance or {})
    scale = scales.profile(bench, fits[chosen], tolerance)
    ends = scale.ends() if scale else []
    ends += scales.load_ends(bench, fits[chosen], tolerance)
    told("suspects: what the model lacks")
    misfit = suspects.look(bench, fits[chosen])
    rest = {
        n: t
        for n, t in tolerance.items()
        if n in bench.known and not (scale and n in ("torque_constant", "torque_scale"))
    }
    found = intervals(bench, fits[chosen], replicates, rest, seed, ends, misfit.ends())
    notes = [*bench.notes, *(scale.notes() if scale else [])]
    if scale and scale.given and held.errors and len(ladder) > 1:
        told("the torque's scale free: all held-out fits")
        other, freed = scales.free_choice(bench, held, ladder, prefer)
        if other != chosen:
            notes.append(
                f"the choice of the model hangs on the torque's scale: with it free '{MODELS[other].title}' is chosen, which predicts "
                f"held-out logs with {freed.mean(other):.3g} {bench.unit}, and '{MODELS[chosen].title}' with {freed.mean(chosen):.3g}; measure the "
                "torque constant by a stall test, and weigh the load, before you believe the gear"
            )
    if "delay" in MODELS[chosen].parameters:
        notes.append(
            "the input's delay decides more than any friction beside the gear: --fit delay fits it with every model"
        )
    notes = [*misfit.notes(), *notes]
    notes += diagnose.elsewhere(held, chosen, ladder)
    if prefer == "prediction" and held.errors and (simple := choose(held, ladder)) != chosen:
        notes.append(
            f"chosen by its predictions (--prefer prediction), {held.mean(chosen):.3g} {bench.unit} held out; the simplest model that none is surely better "
            f"than is '{MODELS[simple].title}', {held.mean(simple):.3g}"
        )
    notes += [
        *diagnose.findings(bench, fits[chosen], {n: i.law or i for n, i in found.items()}, scale),
        *remarks(held, chosen, {n: m.title for n, m in MODELS.items()}),
    ]
    for model in unresolved:
        notes.append(
            f"no gap: that of '{model.name}', {2 * fits[model.name].values['half_gap']:.2g} rad, is less than what the encoders "
            "resolve, and the model is not chosen"
        )
    if not held.errors:
        notes.insert(
            0,
            "a single log: the model was chosen by the error on the log that it was fitted to, which always favours the larger one",
        )
    return Identification(bench, chosen, fits, found, held, notes, misfit)
