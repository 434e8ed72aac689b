#!/usr/bin/env python3
"""Plot the CSV of solver_cost: median time over the number of joints, one line a solver.

usage: plot_solver_cost.py solver_cost.csv [picture]     needs matplotlib
"""

import csv
import sys
from collections import defaultdict


def read(path):
    """Rows of the CSV, and the lines above it that say where the figures come from."""
    with open(path) as file:
        lines = file.readlines()
    context = [line[2:].strip() for line in lines if line.startswith("#")]
    return context, list(csv.DictReader(line for line in lines if not line.startswith("#")))


def plot(context, rows, picture):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    # one panel a family of problems; a bar reaches from the median to the 99th percentile
    panels = [("chain", "0 <= gamma < 1"), ("locking", "gamma_v up to 3"), ("forest", "seven-joint trees")]
    figure, axes = pyplot.subplots(1, len(panels), figsize=(15, 5), sharey=True)
    for axis, (source, title) in zip(axes, panels):
        lines = defaultdict(list)
        for row in rows:
            if row["source"] == source:
                x = int(row["trees"]) if source == "forest" else int(row["joints"])
                lines[row["solver"], row["start"]].append((x, float(row["median_us"]), float(row["p99_us"])))
        colors = {}
        for (solver, start), points in sorted(lines.items()):
            color = colors.setdefault(solver, f"C{len(colors)}")
            x, median, p99 = zip(*sorted(points))
            axis.errorbar(
                x,
                median,
                yerr=([0] * len(x), [b - a for a, b in zip(median, p99)]),
                color=color,
                linestyle="-" if start == "cold" else ":",
                marker=".",
                capsize=2,
                label=f"{solver}, {start}",
            )
        axis.set(xscale="log", yscale="log", title=title, xlabel="trees" if source == "forest" else "joints")
        axis.grid(True, which="both", alpha=0.3)
        if lines:
            axis.legend(fontsize=7)
    axes[0].set_ylabel("time of a solve, median to p99 [us]")
    figure.text(0.01, 0.01, "; ".join(context), fontsize=6)
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    figure.savefig(picture, dpi=120)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    plot(*read(sys.argv[1]), sys.argv[2] if len(sys.argv) == 3 else sys.argv[1].rsplit(".", 1)[0] + ".png")
