"""Snapshots of the arm, place and force of its tip, in the layout of the paper's figures 11 and 12."""

import matplotlib.pyplot as plt
import numpy as np
from curves import stacked

FIGURES = {
    "figure11": ("gamma_v=0.1,0.1", "gamma_v=0.6,0.6", "gamma_v=1.1,1.1"),
    "figure12": ("gamma_v=0.1,1.1", "gamma_v=1.1,0.1"),
}


def draw_snapshots(axes, run):
    """The arm every 0.3 s before 2 s, later ones darker, and the wall where it was then."""
    times = np.arange(0, 2, 0.3)
    for time, shade in zip(times, np.linspace(0.25, 1, len(times))):
        i = np.argmin(abs(run["time"] - time))
        q = run["q_shoulder"][i], run["q_elbow"][i]
        elbow = np.array([np.cos(q[0]), np.sin(q[0])])
        tip = elbow + [np.cos(q[0] + q[1]), np.sin(q[0] + q[1])]
        color = plt.cm.viridis(1 - shade)
        axes.plot(*zip((0, 0), elbow, tip), marker="o", markersize=3, color=color, linewidth=1.2, label=f"{time:.1f} s")
        axes.axvline(run["wx"][i], color=color, linewidth=0.8, linestyle=":")
    axes.set_aspect("equal")
    axes.set(xlim=(-0.1, 1.6), ylim=(-0.6, 1.1), xlabel="x [m]")


def draw_figure(runs):
    figure = plt.figure(figsize=(3.2 * max(len(runs), 2.2), 6.6), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=(1, 1.1))
    snapshots = above.subplots(1, len(runs), sharey=True, squeeze=False)[0]
    position, force = below.subplots(2, 1, sharex=True)
    for axes, (case, run) in zip(snapshots, runs.items()):
        label = rf"$\gamma_v$ = [{case.split('=')[1].replace(',', ', ')}]"
        draw_snapshots(axes, run)
        axes.set_title(label)
        position.plot(run["time"], run["px"], label=label)
        force.plot(run["time"], run["fx"], label=label)
    snapshots[0].set_ylabel("y [m]")
    snapshots[-1].legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=7)
    position.plot(run["time"], run["wx"], color="0.4", linestyle="--", linewidth=1, label="wall")
    position.set(ylabel=r"tip $p_x$ [m]", ylim=(0.9, 1.5))
    position.legend(loc="lower left", ncols=4, fontsize=8)
    force.set(ylabel=r"force $f_x$ [N]", xlabel="time [s]")
    return figure


def constant(runs):
    def wall(position, force):
        run = list(runs.values())[-1]
        position.plot(run["time"], run["wx"], color="0.4", linestyle="--", linewidth=1, label="wall")
        position.set_ylim(0.9, 1.6)

    def label(case):
        return case + " N m" if case.startswith("friction") else "gears, " + case

    labels = (r"tip $p_x$ [m]", r"force $f_x$ [N]")
    return stacked(runs, ("px", "fx"), labels, (6, 5), 2, label, wall, fontsize=8)


def draw(name, runs):
    if name == "wall-constant":
        yield "constant-friction", constant(runs)
    for title, cases in FIGURES.items():
        chosen = {case: runs[case] for case in cases if case in runs}
        if chosen:
            yield title, draw_figure(chosen)
