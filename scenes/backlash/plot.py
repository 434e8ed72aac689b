"""Figures of the papers on backlash: Nordin 2, 3, 6; Ruderman 4 to 7, IV.A; Akoto 2 to 6, 8, 9."""

import numpy as np
from curves import edges, late, legend, overlay, panels, stacked


def two_mass(runs):
    def gap(twist, torque):
        edges(twist, 0.0025)
        edges(torque, 0)
        for axis in (twist, torque):
            axis.lines[1].set_linestyle("--")  # on that of the exact shaft

    shown = {case: late(runs[case], 2.7) for case in ("exact", "phase_plane", "damped_deadzone", "revised_deadzone")}
    labels = (r"$\theta_d$ [rad]", "shaft torque [N m]")
    yield "nordin-figure3", stacked(shown, ("theta_d", "shaft_torque_out"), labels, (7, 5.5), 4, extra=gap)


def coupling(runs):
    figure, axes = panels(2, len(runs), 9, 5, sharex="col", squeeze=False)
    for (speed, torque), (case, run) in zip(axes.T, runs.items()):
        run = late(run, 7.4)
        for column, label in (("shaft_rotor_velocity", "motor"), ("v_load", "load")):
            speed.plot(run["time"], run[column] / 150.6, label=label)
        torque.plot(run["time"], run["shaft_torque_out"])
        speed.set_title(case)
        torque.set_xlabel("time [s]")
    axes[0, 0].set_ylabel("speed relative to 150.6 rad/s [1]")
    axes[1, 0].set_ylabel("torque [N m]")
    legend(figure, 2, axes[0, 0])
    yield "nordin-figure6", figure


def gap_map(runs):
    run = next(iter(runs.values()))
    size = int(round(np.sqrt(run["T_5"].size)))
    shape = (size, size)
    theta, omega = run["theta_d"].reshape(shape), run["omega_d"].reshape(shape)
    figure, axes = panels(2, 2, 8, 6.5, sharey=True)
    titles = (
        ("T_5", "(a) exact, (5): in contact, else 0"),
        ("T_23", "(b) phase plane, (23)"),
        ("T_26", "(c) damped dead zone, (26)"),
        ("T_40", "(d) rubber, (40)"),
    )
    for axis, (name, title) in zip(axes.flat, titles):
        torque = run[name].reshape(shape)
        image = axis.pcolormesh(theta, omega, torque, cmap="RdBu_r", vmin=-5, vmax=5, rasterized=True)

        # the zone without torque; not a single point where spring and damper happen to cancel
        zero = np.pad(torque == 0, 1, mode="edge")
        beside = zero[:-2, 1:-1] | zero[2:, 1:-1] | zero[1:-1, :-2] | zero[1:-1, 2:]
        axis.contour(theta, omega, (torque != 0) | ~beside, levels=[0.5], colors="0.2", linewidths=0.8)
        axis.set_title(title)
        axis.grid(False)
    for axis in axes[1]:
        axis.set_xlabel(r"$\theta_d$ [rad]")
    for axis in axes[:, 0]:
        axis.set_ylabel(r"$\dot\theta_d$ [rad/s]")
    figure.colorbar(image, ax=axes, label="T [N m]")
    yield "nordin-figure2", figure


def vibro(runs):
    figure, axes = panels(len(runs), 1, 7, 8)
    for axis, (case, run) in zip(axes, runs.items()):
        axis.plot(run["time"], 1e3 * run["x"], linewidth=0.9)
        edges(axis, -10, 10)
        axis.set_title(case + ("" if "Hz" in case else "-0.5Hz"), loc="left", fontsize=8)
        axis.set_ylabel(r"$x_1 - x_2$ [mm]")
    axes[-1].set_xlabel("time [s]")
    yield "ruderman-figure5", figure

    figure, axes = panels(1, 2, 8, 4, sharey=True)
    for axis, case in zip(axes, ("deadzone", "vibro-impact")):
        run = late(runs[case], 4)
        axis.plot(run["q_driving"], run["q_driven"], linewidth=0.9)
        axis.set(title=case, xlabel="$x_1$ [m]")
    axes[0].set_ylabel("$x_2$ [m]")
    yield "ruderman-figure4", figure


def rattle(runs):
    begin = {case: {name: run[name][run["time"] < 1] for name in ("time", "x")} for case, run in runs.items()}
    yield "eigenfrequency", overlay(begin, lambda run: 1e3 * run["x"], r"$x_1 - x_2$ [mm]", 4)


def impact(runs):
    axes = {"x": lambda run: 1e3 * np.maximum(0, run["x"] - 0.01), "xlabel": "penetration [mm]"}
    yield "ruderman-figure6", overlay(runs, lambda run: run["force"], "force [N]", 3, (6, 4.4), **axes)


def decay(runs):
    more = {"label": "{} s/m", "extra": lambda axis: edges(axis, 10), "xlim": (0, 0.5)}
    yield "ruderman-figure7", overlay(runs, lambda run: 1e3 * run["x"], "displacement [mm]", **more)


def resonance(runs):
    # three of them lie on each other
    styles = {"exact": (0, (6, 6)), "phase_plane": (6, (2, 10))}
    time = runs["jck"]["time"]

    def steady(axis):
        for line in axis.lines:
            line.set_linestyle(styles.get(line.get_label(), "-"))
        axis.plot(time, np.imag(np.exp(1j * time) / 5j), "k:", label="continuous shaft, steady")

    yield "akoto-figure2", overlay(runs, lambda run: run["twist"], "twist [rad]", extra=steady, xlim=(0, 40))


def interval(runs):
    figure, axis = panels(1, 1, 7, 4)
    labels = {"exact": "massless, (3)", "jck": "with inertia, (5)"}
    for color, (case, label) in zip(("C0", "C1"), labels.items()):
        run = runs[case]
        axis.plot(run["time"], run["twist"], color, label=label)
        axis.plot(run["time"], -run["twist"], color)
    for edge in (-1, 1):
        axis.axhline(edge, color="C2", linestyle="--", label="dead zone, (2)" if edge > 0 else None)
    for height, zone in ((1.1, "A"), (0, "B"), (-1.2, "C")):
        axis.text(8, height, zone, ha="center")
    axis.set(xlabel="time [s]", ylabel=r"border in $\theta_d$ [rad]", ylim=(-1.4, 1.4))
    legend(figure, 3)
    yield "akoto-figures3-5", figure

    named = {label: runs[case] for case, label in labels.items()}
    yield "akoto-figure6", overlay(named, lambda run: run["twist_rate"], r"border in $\dot\theta_d$ [rad/s]")


def rupture(runs):
    labels = (
        ("jck", "(ii) with inertia, (5)"),
        ("exact", "(iii) massless, (3)"),
        ("phase_plane", "(iv) phase plane, (4)"),
        ("damped_deadzone", "(v) dead zone, (2)"),
    )
    run = runs["jck"]

    # quantity that each zone compares with alpha; for the phase plane it depends on the rate
    figure, axis = panels(1, 1, 7, 3.5)
    time, k, c, j, alpha = run["time"], 0.01, 10, 50, 0.01
    massless = run["theta_d"] + c / k * run["omega_d"]
    measures = {
        "(ii) with inertia, (5)": massless + j / k * run["alpha_d"],
        "(iii) massless, (3)": massless,
        "(v) dead zone, (2)": run["theta_d"],
    }
    for color, (label, measure) in zip(("C0", "C1", "C3"), measures.items()):
        shown = (time > 0) & (time < 9.99)
        axis.loglog(time[shown], measure[shown], color, label=label)
    touch = runs["phase_plane"]["time"][np.argmax(runs["phase_plane"]["shaft_torque_out"] != 0)]
    axis.axvline(touch, color="C2", linestyle=":", label="(iv) phase plane, (4): its touch")
    edges(axis, alpha)
    axis.set(
        xlim=(1e-3, 10),
        ylim=(1e-5, 1e4),
        xlabel="time [s]; torque 1 N m/s on a driving side of 25 kg m2: our choice, the paper has neither",
        ylabel=r"left side of each zone's border [rad]",
    )
    legend(figure, 3)
    yield "akoto-figure8", figure

    figure, axis = panels(1, 1, 7, 4)
    axis.plot(run["time"], run["driving"], "0.6", label="(i) driving torque")
    for color, (case, label) in zip(("C0", "C1", "C2", "C3"), labels):
        style = color + ("-" if case in ("jck", "exact") else "--")
        axis.plot(runs[case]["time"], runs[case]["shaft_torque_out"], style, label=label)
    axis.plot(run["time"], run["T_5"], "C0:", label="(5) without its gap's state")
    edges(axis, 0)
    axis.set(
        ylim=(-11, 20),
        xlabel="time [s]; slope of the torque, 1 N m/s, and driving inertia, 25 kg m2, are our choice",
        ylabel="torque [N m]",
    )
    legend(figure, 3)
    yield "akoto-figure9", figure


def gap_servo(runs):
    figure, axes = panels(1, 2, 9, 4, sharex=False)
    for case, run in runs.items():
        axis = axes[int(case.startswith("damped"))]
        run = late(run, 13)
        style, more = ("o", " (at rest)") if np.ptp(run["theta_d"]) < 1e-4 else ("-", "")
        axis.plot(1e3 * run["theta_d"], run["omega_d"], style, label=case + more)
    for axis in axes:
        for edge in (-10, 10):
            axis.axvline(edge, color="0.6", linewidth=0.8)
        axis.set_xlabel(r"$\theta_d$ [mrad]")
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, 1.22), fontsize=7)
    axes[0].set_ylabel(r"$\dot\theta_d$ [rad/s]")
    yield "limit-cycle", figure


def lost_motion(runs):
    moved = {}
    for case, run in runs.items():
        shift = [run[f"tip_{k}"] - run[f"tip_{k}"][0] for k in range(3)]
        away = 1e3 * np.sqrt(sum(x * x for x in shift))
        moved[case] = {"time": run["time"][away > 0], "away": away[away > 0]}
    yield "tip", overlay(moved, lambda run: run["away"], "tip from its place [mm]", yscale="log", ylim=(0.01, 40))


def lag(runs):
    figure, axes = panels(1, 2, 9, 3.6, sharex=False)
    for case, run in runs.items():
        shown = late(run, 0.3)
        axes[0].plot(shown["time"], shown["shaft_torque_out"], label=case)
        axes[1].plot(1e3 * shown["theta_d"], shown["shaft_torque_out"])
    axes[0].set(xlabel="time [s]", ylabel="torque [N m]")
    axes[1].set_xlabel(r"$\theta_d$ [mrad]")
    legend(figure, 2)
    yield "phase", figure


def hysteresis(runs):
    figure, axes = panels(len(runs), 1, 7, 4.6)
    for axis, (case, run) in zip(axes, runs.items()):
        axis.plot(run["time"], 1e3 * run["input"], "0.6", label="motor")
        axis.plot(run["time"], 1e3 * run["play"], "--", label="hysteresis model of the load")
        axis.plot(run["time"], 1e3 * run["q_load"], label="load")
        axis.set_title(case, loc="left")
        axis.set_ylabel("angle [mrad]")
    axes[-1].set_xlabel("time [s]")
    legend(figure, 3, axes[0])
    yield "play", figure


def draw(name, runs):
    return globals()[name](runs)
