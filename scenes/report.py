"""Plots and summary of mjgear-run's results.

    report.py [FOLDER] [--no-plots]

reads FOLDER/<scene>/*.csv or *.npy (default: results), draws FOLDER/<scene>-<figure>.png, writes
FOLDER/summary.md and prints it: six scenes with a figure and a sentence each, then every claim. Nothing is judged here: mjgear-run has
checked the claims. Exit code 1 if something does not hold, 2 if there is nothing to report.

A file plot.py beside the MJCF of a scene draws its figures: draw(name, runs) yields pairs of a name and a figure;
runs[case][column] is an array. Scenes without one get the standard figure.
"""

import argparse
import csv
import importlib.util
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from curves import legend, panels

TABLES = ("about", "claims", "differences", "joints")

DIFFERENCES = """## The engine against the core's own integration

Largest difference of any position or velocity over the whole run:

| scene | case | difference | allowed | |
|:------|:-----|-----------:|--------:|:-|"""

# with these scenes the summary begins, each with its caption
FIRST = ("power-cut", "two-loads", "replay", "rod", "stewart", "winch")

# the colours of Okabe and Ito, which colour-blind eyes tell apart; more curves are dashed
COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "0.25")
DASHES = ("-", "--", ":")

# values below this part of the same quantity of other joints are round-off, and drawn as rest
ROUNDING = 1e-6

plt.rcParams.update(
    {
        "axes.prop_cycle": matplotlib.cycler(color=COLORS),
        "figure.dpi": 120,
        "font.size": 9,
        "axes.grid": True,
        "grid.alpha": 0.3,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "lines.linewidth": 1.4,
        "legend.frameon": False,
    }
)


def read_run(path):
    """Columns of one recorded case by name; NaN where nothing was measured."""
    if path.suffix == ".npy":
        rows = np.load(path, max_header_size=10**6)
        return {name: np.ascontiguousarray(rows[name]) for name in rows.dtype.names}
    with open(path, newline="") as file:
        names = next(csv.reader(file))
        rows = np.loadtxt(file, delimiter=",", ndmin=2)
    return dict(zip(names, rows.T)) if rows.size else {name: np.zeros(0) for name in names}


def read_table(path):
    """Rows of a table as dictionaries; none if it was not written."""
    if not path.exists():
        return []
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def last_change(time, values):
    """Time of the last change by more than a hundredth of the range."""
    away = np.flatnonzero(abs(values - values[-1]) > 0.01 * (np.ptp(values) or 1))
    return time[away[-1]] if away.size else time[0]


def draw_standard(name, runs, units):
    """Position, velocity and friction of the geared joints, or of all if none has a gear, one line a case; friction
    where there is a gear."""
    geared = {case: [q for q in units if not np.isnan(run[f"friction_{q}"]).all()] for case, run in runs.items()}
    gears = [joint for joint in units if any(joint in joints for joints in geared.values())]
    shown = gears or list(units)
    if not shown:
        return
    torque = {"rad": "N m", "m": "N"}
    figure, axes = panels(len(shown), 3 if gears else 2, 10, 1 + max(1.4 * len(shown), 1.9), squeeze=False)
    end, last = 0, 0
    for row, joint in zip(axes, shown):
        unit = units[joint]
        for axis, prefix, of in zip(row, ("q_", "v_", "friction_"), (unit, unit + "/s", torque[unit])):
            for k, (case, run) in enumerate(runs.items()):
                if prefix == "friction_" and joint not in geared[case]:
                    continue
                time, values = run["time"], run[prefix + joint]
                color, line = COLORS[k % len(COLORS)], DASHES[k // len(COLORS) % len(DASHES)]
                axis.plot(time, values, color=color, label=case, linestyle=line)
                end, last = max(end, time[-1]), max(last, last_change(time, values))
            axis.set_ylabel(f"[{of}]", fontsize=7)
            axis.tick_params(labelsize=7)
        row[0].set_ylabel(f"{joint} [{unit}]", fontsize=7)
    for column, title in zip(axes.T, ("position", "velocity", "friction")):
        column[0].set_title(title)
        least = ROUNDING * max(np.ptp(axis.dataLim.intervaly) for axis in column)
        for axis in column:
            if 0 < np.ptp(axis.dataLim.intervaly) < least:
                middle = np.mean(axis.dataLim.intervaly)
                axis.set_ylim(middle - 1e3 * least, middle + 1e3 * least)

    # no long rest
    still = last < 0.5 * end
    if still:
        axes[0, 0].set_xlim(-0.05 * last, 1.6 * last)
    for axis in axes[-1]:
        axis.set_xlabel("time [s]" + (f"; then no change until {end:.4g} s" if still else ""))
    if len(runs) > 1:
        columns = int(12 * figure.get_figwidth() / (max(map(len, runs)) + 6))
        legend(figure, max(1, min(len(runs), columns)), axes[0, 0])
    yield "joints", figure


def find_drawing(folder):
    """The function that draws the scenes of a folder; None: it has no plot.py."""
    path = pathlib.Path(__file__).parent / folder / "plot.py"
    if not path.exists():
        return None
    spec = importlib.util.spec_from_file_location(f"plot_{folder}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.draw


def draw_scene(folder, name, draw):
    """Draw the figures of one scene, by default the standard figure, and return their file names."""
    paths = [path for path in (folder / name).glob("*.[cn][sp][vy]") if path.stem not in TABLES]
    runs = {path.stem: read_run(path) for path in sorted(paths)}
    files = []
    if runs:
        units = {row["joint"]: row["unit"] for row in read_table(folder / name / "joints.csv")}
        figures = draw(name, runs) if draw else draw_standard(name, runs, units)
        for title, figure in figures:
            files.append(f"{name}-{title}.png")
            figure.savefig(folder / files[-1])
            plt.close(figure)
    return files


def verdict(row):
    return "ok" if row["holds"] == "1" else "FAIL"


def introduce(images, captions):
    """Markdown of the first scenes: a figure and a sentence each."""
    lines = []
    for name in FIRST:
        if images.get(name):
            lines += [f"**{name}.** {captions[name]}", "", f"![{name}]({images[name][0]})", ""]
    return [*lines, "What each scene claims, and whether it holds, follows.", ""] if lines else []


def list_claims(name, claims, images):
    """Markdown of the results of one scene."""
    lines = [f"## {name}", ""]
    lines += [f"![{image}]({image})" for image in images] + [""] * bool(images)
    lines += [f"- {verdict(row)}: {row['claim']}" for row in claims] + [""] * bool(claims)
    return lines


def list_differences(differences):
    """Markdown of the distances of the engine from the scenes' own integrations."""
    numbers = "| {} | {case} | {difference:.1e} | {tolerance:.0e} | {} |"
    lines = [DIFFERENCES]
    for name, row in differences:
        of = {"case": row["case"], **{key: float(row[key]) for key in ("difference", "tolerance")}}
        lines.append(numbers.format(name, verdict(row), **of))
    return [*lines, ""]


def main():
    parser = argparse.ArgumentParser(description="Plots and summary of what mjgear-run wrote.")
    parser.add_argument("folder", nargs="?", default="results", type=pathlib.Path)
    parser.add_argument("--no-plots", action="store_true", help="only the summary")
    options = parser.parse_args()

    names = sorted(path.parent.name for path in options.folder.glob("*/claims.csv"))
    if not names:
        print(f"report.py: {options.folder}: no results; run mjgear-run --all first", file=sys.stderr)
        return 2

    about = {name: read_table(options.folder / name / "about.csv")[0] for name in names}
    lines, differences, rows = ["# Results", ""], [], []
    drawn = {
        name: [] if options.no_plots else draw_scene(options.folder, name, find_drawing(about[name]["folder"]))
        for name in names
    }
    lines += introduce(drawn, {name: row["caption"] for name, row in about.items()})
    for name in names:
        images = drawn[name]
        claims = read_table(options.folder / name / "claims.csv")
        lines += list_claims(name, claims, images)
        compared = read_table(options.folder / name / "differences.csv")
        differences += [(name, row) for row in compared]
        rows += claims + compared
    if differences:
        lines += list_differences(differences)
    failed = sum(row["holds"] != "1" for row in rows)
    lines += [f"{failed} of {len(rows)} do NOT hold." if failed else f"All {len(rows)} hold."]
    text = "\n".join(lines) + "\n"
    (options.folder / "summary.md").write_text(text)
    print(text, end="")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
