"""An HTML page of an identification, with its plots in it."""

from __future__ import annotations

import functools
import html
from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from mjgear.identify import core, pages
from mjgear.identify.bench import Dynamometer, Pendulum, acceleration
from mjgear.identify.models import MODELS
from mjgear.identify.result import Identification


def _label(text: str) -> str:
    """A name that logs or models bring, short, and with what a font has no glyph for as \\uXXXX. Plain text, not a formula."""
    shown = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def figures(found: Identification) -> dict[str, Figure]:
    """Name -> figure; which ones depends on the bench."""
    made: dict[str, Figure | None] = {"law": _law(found), "residuals": _residuals(found)}
    if isinstance(found.bench, Pendulum):
        made["trajectories"] = _trajectories(found)
    made["held_out"] = _held_out(found)
    return {name: figure for name, figure in made.items() if figure is not None}


def write(found: Identification, title: str) -> str:
    """The page."""
    captions = {
        "law": "Torque into the gear and torque delivered, while it moves, over the law: above the diagonal the load drives.",
        "trajectories": "Measured and predicted motion from the first sample on, with the chosen model and MuJoCo's own friction.",
        "residuals": "Errors of the chosen model against speed, load, position and temperature: a trend is something that the model lacks.",
        "held_out": "Errors of the logs when they were left out of the fit.",
    }
    head, cells = found.scores()
    given = [(name, f"{value:.5g}", "", "given") for name, value in found.bench.known.items()]
    parts = [
        f"<p>{len(found.bench.logs)} logs. Chosen by what it predicts held out: <b>{html.escape(MODELS[found.chosen].title)}</b>.</p>",
        "<h2>Numbers</h2>",
        pages.table(["number", "value", "unit", "95 % interval"], [*found.cells(), *given]),
        *pages.remarks("What the logs leave open", found.notes),
        f"<h2>Models</h2><p>Mean absolute error in {found.bench.unit}: on the logs that were fitted, and on logs that were left "
        "out of the fit. Every model had the same starts and iterations.</p>",
        pages.table(head, cells.values(), list(cells).index(found.chosen) if found.chosen in cells else -1),
        "<h2>Plots</h2>",
        *(pages.image(figure, name, captions[name]) for name, figure in figures(found).items()),
        f"<h2>MJCF</h2><pre>{html.escape(found.mjcf())}</pre>",
    ]
    return pages.page(title, parts)


def torques(found: Identification, i: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of the moving samples of a log: torque into the gear, delivered torque without viscous friction, speed, all from measured
    motion."""
    bench, fit = found.bench, found.fit
    values = {"viscous": 0.0, "motor_viscous": 0.0, **bench.known, **fit.values}
    if isinstance(bench, Dynamometer):
        u, _, v = bench.delivered(fit.model, values, i)
        output = bench.reduced(i, bench.logs[i].data["output"])
        return u - values["motor_viscous"] * v, output + values["viscous"] * v, v
    assert isinstance(bench, Pendulum)
    log = bench.logs[i]
    c = bench.constants(i)
    v = log.data["velocity"]
    a = acceleration(log)
    told = log.data[bench.input]
    if bench.input == "goal":
        most, error = c["limit"] or np.inf, told - log.data["position"]
        integral = np.clip(c["integral"] * log.dt * np.cumsum(error), -most, most)
        told = c["gain"] * error + integral + c["feedforward"] * np.gradient(told, log.dt) - c["derivative"] * v
        told = np.clip(np.sign(told) * np.maximum(np.abs(told) - c["dead_band"], 0), -most, most)
    k = values.get("torque_constant", 1.0)
    if bench.drive == "voltage":
        motor = k / values["resistance"] * (told - k * v)
        motor = np.clip(motor, -k * c["current_limit"], k * c["current_limit"]) if c["current_limit"] > 0 else motor
    else:
        motor = told * (k if bench.drive == "current" else 1.0)
    motor = values.get("torque_scale", 1.0) * motor * log.data.get("enable", np.ones(log.n))
    held = bench.static(i, log.data["position"] + values.get("offset", 0.0))
    delivered = held + c["inertia"] * a + values["viscous"] * v
    moving = np.abs(v) > 0.1
    into = motor - values.get("armature", 0.0) * a - values["motor_viscous"] * v
    return into[moving], delivered[moving], v[moving]


def _law(found: Identification) -> Figure:
    figure, (left, right) = pages.panels(2, 11, 4.6)
    values = {**found.bench.known, **found.fit.values}
    largest = 0.0
    for i in range(len(found.bench.logs)):
        u, x, v = torques(found, i)
        s = np.sign(v)
        largest = max(largest, float(np.quantile(np.abs(np.concatenate([u, x])), 0.995)) if u.size else 0.0)
        left.plot(s * u, s * x, ".", ms=1.5, alpha=0.3, color="C0", rasterized=True)
        right.plot(s * x, s * (u - x), ".", ms=1.5, alpha=0.3, color="C0", rasterized=True)
    u = np.linspace(-largest, largest, 400)
    p = found.bench.vector(
        found.fit.model,
        {**values, "viscous": 0.0, "motor_viscous": 0.0, "torque_scale": 1.0},
        np.zeros(len(core.PARAMETERS)),
    )
    for speed, style in ((found.bench.scale["speed"], "-"), (1e-6 * found.bench.scale["speed"], "--")):
        if style == "--" and not {"stribeck_friction", "curved_friction", "Kes"} & values.keys():
            continue
        x = core.deliver(u, np.full_like(u, speed), p)
        left.plot(u, x, style, color="C3", label="law, sliding" if style == "-" else "law, near rest")
        right.plot(x, u - x, style, color="C3")
    left.plot(u, u, ":", color="0.5", label="no friction")
    left.set(
        xlabel="torque into the gear, along the motion [N m]",
        ylabel="torque delivered [N m]",
        xlim=(-largest, largest),
        ylim=(-largest, largest),
    )
    right.set(
        xlabel="load: torque delivered, along the motion [N m]", ylabel="friction [N m]", xlim=(-largest, largest)
    )
    left.legend(loc="upper left")
    for axes in (left, right):
        axes.grid(alpha=0.3)
    return figure


def _trajectories(found: Identification) -> Figure:
    bench = found.bench
    assert isinstance(bench, Pendulum)
    n = min(len(found.bench.logs), 16)
    columns = min(4, n)
    rows = -(-n // columns)
    figure, axes = pages.panels(columns, 3.6 * columns + 1, 2.4 * rows + 0.5, rows)
    for i, ax in enumerate(axes):
        ax.set_visible(i < n)
        if i >= n:
            continue
        log = found.bench.logs[i]
        if "goal" in log.data:
            ax.plot(log.time, log.data["goal"], ":", color="0.7", lw=1)
        ax.plot(log.time, log.data["position"], "k", lw=1.2, label="measured")
        for name, color in {found.chosen: "C0", **({"native": "C1"} if found.chosen != "native" else {})}.items():
            if name in found.fits:
                fit = found.fits[name]
                ax.plot(log.time, bench.simulate(fit.model, fit.values, i)["position"], color, lw=1, label=name)
        low, high = np.min(log.data["position"]), np.max(log.data["position"])
        ax.set_ylim(low - 0.4 * (high - low) - 1e-3, high + 0.4 * (high - low) + 1e-3)
        facts = [f"{k} {log.facts[k]:g}" for k in ("kp", "mass") if isinstance(log.facts.get(k), float)]
        ax.set_title(
            ", ".join([_label(str(log.facts.get("trajectory", log.name))), *facts]), fontsize=8, parse_math=False
        )
        ax.tick_params(labelsize=7)
    axes[0].legend(fontsize=7)
    figure.supxlabel("time [s]", fontsize=9)
    figure.supylabel("position [rad]", fontsize=9)
    return figure


def _residuals(found: Identification) -> Figure:
    bench, fit = found.bench, found.fit
    error, speed, load, position, temperature = [], [], [], [], []
    for i, log in enumerate(bench.logs):
        if isinstance(bench, Dynamometer):
            reduced: Callable[[np.ndarray], np.ndarray] = functools.partial(bench.reduced, i)
            r = bench.residuals(fit.model, fit.values, [i])[0]
            x = reduced(log.data["output"])
        else:
            assert isinstance(bench, Pendulum)
            reduced = np.asarray
            r = bench.simulate(fit.model, fit.values, i)["position"] - log.data["position"]
            x = bench.static(i, log.data["position"])
        error.append(r)
        load.append(x)
        speed.append(reduced(log.data["velocity"]))
        position.append(reduced(log.data.get("position", np.full(log.n, np.nan))))
        temperature.append(reduced(log.data.get("temperature", np.full(log.n, np.nan))))
    r = np.concatenate(error)
    shown = [
        (np.concatenate(c), label)
        for c, label in (
            (speed, "speed [rad/s]"),
            (load, "load [N m]"),
            (position, "position [rad]"),
            (temperature, "temperature [°C]"),
        )
    ]
    shown = [(c, label) for c, label in shown if np.isfinite(c).all()]
    return pages.residuals(shown, r, f"predicted - measured [{bench.unit}]")


def _held_out(found: Identification) -> Figure | None:
    ways = list(found.held.errors)
    if not ways:
        return None
    figure, axes = plt.subplots(1, len(ways), figsize=(5.5 * len(ways), 3.6), layout="constrained", squeeze=False)
    for ax, way in zip(axes.flat, ways):
        names = list(found.held.errors[way])
        ax.boxplot([found.held.errors[way][n] for n in names], tick_labels=names, showmeans=True)
        ax.set_title(f"{way} left out")
        ax.set_ylabel(f"mean absolute error of a log [{found.bench.unit}]")
        ax.set_ylim(bottom=0)
        ax.tick_params(axis="x", rotation=45)
    return figure
