"""HTML pages of an identified arm: one of the robot, one of each joint."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from mjgear import _files as files
from mjgear.identify.arm import law
from mjgear.identify.arm.export import plain
from mjgear.identify.arm.result import Identified
from mjgear.identify.arm.simulate import Simulated
from mjgear.identify.pages import image, page, panels, remarks, residuals, table


def write(path: Path, found: Identified, simulated: Sequence[Simulated]) -> list[Path]:
    """Write the robot's page at `path`, and beside it NAME-JOINT.html for each joint.

    Raises:
      OSError: a page cannot be written.
    """
    pages = {name: path.with_name(f"{path.stem}-{_safe(name)}{path.suffix}") for name in found.arm.joints}
    for j, name in enumerate(found.arm.joints):
        files.write(pages[name], _joint_page(found, j, path.name))
    files.write(path, _robot_page(found, simulated, {name: own.name for name, own in pages.items()}))
    return [path, *pages.values()]


def _safe(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in name)


def _robot_page(found: Identified, simulated: Sequence[Simulated], pages: dict[str, str]) -> str:
    rows = []
    for j, name in enumerate(found.arm.joints):
        rms = [f"{found.choice.rms(what)[j]:.4g}" for what in ("native", "chosen", "largest")]
        rows.append(
            [
                f"<a href='{html.escape(pages[name])}'>{html.escape(name)}</a>",
                law.title(found.rungs[j].terms),
                f"{found.fitter.problem.size[j]:.4g}",
                *rms,
            ]
        )
    unit = "A" if found.fitter.problem.logs[0].is_current else "N m"
    parts = [f"<p>{len(found.fitter.problem.logs)} logs, {found.fitter.problem.n_pieces} pieces. Errors are root mean squares in {unit} of torques that were held out, "
             f"in groups of logs: {html.escape(', '.join(found.fitter.problem.groups))}.</p>",
             table(["joint", "friction", "torque", "Coulomb and viscous", "chosen", "all terms"], rows)]  # fmt: skip
    parts += remarks("What to know", found.notes)
    parts.append("<h2>Held out</h2>" + image(_held_out(found), "held-out errors"))
    for done in simulated:
        columns = done.columns()
        rows = [[html.escape(n), *(f"{x[j]:.3g}" for x in columns.values())] for j, n in enumerate(found.arm.joints)]
        parts += [f"<h2>Under the {done.under}</h2><p>{done.title()}, rad (m). Each piece begins at the measured state.</p>",
                  table(["joint", *columns], rows)]  # fmt: skip
    masses = [[html.escape(link.name), f"{link.numbers[0]:.4g}", *i.text()]
              for link in found.arm.links if (i := found.found.numbers.get(f"{link.name}.mass")) is not None]  # fmt: skip
    parts += ["<h2>Links</h2><p>Logs tell combinations of inertias (base parameters); the rest of each is the model's, within its tolerance.</p>",
              table(["link", "mass of the model, kg", "mass", "95 % interval"], masses)]  # fmt: skip
    parts += ["<h2>For formats without gears</h2>",
              table(["joint", "damping", "friction", "armature", "what is lost"],
                     [[html.escape(n), f"{p.damping:.4g}", f"{p.coulomb:.4g}", f"{p.armature:.4g}", p.text()] for n, p in zip(found.arm.joints, plain(found))])]  # fmt: skip
    return page("A robot from its logs", parts)


def _held_out(found: Identified) -> Figure:
    figure, (ax,) = panels(1, 9, 3.2)
    x = np.arange(found.arm.n)
    for k, (what, color) in enumerate((("native", "C1"), ("chosen", "C0"), ("largest", "0.7"))):
        ax.bar(
            x + 0.25 * (k - 1),
            found.choice.rms(what) / found.fitter.problem.size,
            0.25,
            color=color,
            label={"native": "Coulomb, viscous"}.get(what, what),
        )
    ax.set_xticks(x, found.arm.joints)
    ax.set_ylabel("held-out error / torque")
    ax.legend()
    ax.grid(alpha=0.3)
    return figure


def _joint_page(found: Identified, j: int, home: str) -> str:
    name = found.arm.joints[j]
    rung = found.rungs[j]
    rows = []
    for key in found.found.order:
        if key.rsplit(".", 1)[0] == name:
            i = found.found.numbers[key]
            value, interval = i.text()
            rows.append([key.rsplit(".", 1)[1], value, html.escape(i.unit), interval])
    parts = [f"<p><a href='{html.escape(home)}'>the robot</a></p><p>Friction: <b>{law.title(rung.terms)}</b>"
             + (f", power {rung.shape.power:g}" if "curved" in rung.terms else "") + ".</p>",
             table(["number", "value", "unit", "95 % interval"], rows)]  # fmt: skip
    kept = [
        [law.title(frozenset({t})), f"{100 * g:.1f} %", f"{s:.1f}"]
        for (k, t), (g, s) in found.choice.without.items()
        if k == j
    ]
    if kept:
        parts += [
            "<h2>Why these terms</h2><p>By how much the held-out sum of squares grows without a term, and the t of that over pieces.</p>",
            table(["term", "growth", "t"], kept),
        ]
    parts += [image(figure, "plots") for figure in figures(found, j)]
    d = found.drifts[j]
    rows = [
        [html.escape(log.name), f"{100 * c / max(d.coulomb, 1e-12):+.1f} %"]
        for log, c in zip(found.fitter.problem.logs, d.logs)
        if np.isfinite(c)
    ]
    parts += [f"<h2>Drift</h2><p>Friction of each log beside the mean, in parts of coulomb. If there were no drift, such differences would have a probability of {d.p_logs:.2g}, "
              f"such trends within logs {d.p_trend:.2g}.</p>", table(["log", "friction"], rows)]  # fmt: skip
    return page(f"Joint {name}", parts)


def figures(found: Identified, j: int) -> list[Figure]:
    """Friction over speed and load, the torque of a log, and residuals, of joint j."""
    problem, rung = found.fitter.problem, found.rungs[j]
    r, p = problem.rows[j], found.state.p[j]
    base = problem.base(j, found.parameters())
    predicted = problem.predict(j, base, p, found.state.offsets[j], rung)
    measured = problem.torque(j, rung.shape.delay)
    scale = p[law.PLACE["scale"]]
    link = r.Y @ base + r.known
    u = (measured - found.state.offsets[j][r.log]) / scale - p[law.PLACE["armature"]] * r.a
    s = np.sign(r.v)
    thin = np.random.default_rng(0).permutation(r.v.size)[:6000]
    first, (left, right) = panels(2, 11, 4)
    for ax, x, label in (
        (left, np.abs(r.v), "speed [rad/s]"),
        (right, s * link, "load along the motion: links and payload [N m]"),
    ):
        ax.plot(x[thin], (s * (u - link))[thin], ".", ms=1.5, alpha=0.3, color="k", rasterized=True, label="measured")
        ax.plot(
            x[thin],
            (s * (predicted["u"] - link))[thin],
            ".",
            ms=1.5,
            alpha=0.3,
            color="C0",
            rasterized=True,
            label="chosen",
        )
        ax.set_xlabel(label)
        ax.grid(alpha=0.3)
    left.set_ylabel("friction [N m]")
    left.legend(markerscale=6)
    second, (ax,) = panels(1, 11, 3)
    here = r.log == 0
    ax.plot(r.time[here], measured[here], "k.", ms=2, label="measured")
    ax.plot(r.time[here], predicted["tau"][here], "C0.", ms=1.5, label="chosen")
    ax.set(xlabel="time [s]", ylabel="torque as logged", title=problem.logs[0].name)
    ax.legend(markerscale=4)
    ax.grid(alpha=0.3)
    residual = measured - predicted["tau"]
    shown = [(r.v, "speed [rad/s]"), (link, "load [N m]"), (r.a, "acceleration"), (r.time, "time [s]")]
    if r.warmth is not None:
        shown.append((r.warmth, "temperature less its mean [K]"))
    return [first, second, residuals(shown, residual, "measured - chosen", thin)]
