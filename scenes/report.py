"""Plots and summary of what mjgear-run wrote.

    report.py [FOLDER] [--no-plots]

reads FOLDER/<scene>/*.csv (default: results), draws FOLDER/<scene>-<figure>.png, writes
FOLDER/summary.md and prints it. Nothing is judged here: whether a claim holds is what mjgear-run
found. Exit code 1 if something does not hold, 2 if there is nothing to report.

A file plot.py beside a scene draws its figures: SCENES names the scenes that it can draw, and
draw(name, runs) yields pairs of a figure's name and the figure; runs[case][column] is an array.
Scenes without one get the standard figure.
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

TABLES = ("claims", "differences")

plt.rcParams.update({
    # the colours of Okabe and Ito, which colour-blind eyes tell apart
    "axes.prop_cycle": matplotlib.cycler(color=["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "0.25"]),
    "figure.dpi": 120,
    "font.size": 9,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1.4,
    "legend.frameon": False,
})


def read_run(path):
    """Columns of one recorded case by name."""
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


def draw_standard(name, runs):
    """Position, velocity and friction of each joint, one line a case."""
    first = next(iter(runs.values()))
    joints = [column[2:] for column in first if column.startswith("q_")]
    rows = [("q_", "position [rad, m]"), ("v_", "velocity [rad/s, m/s]"), ("friction_", "friction [N m, N]")]
    if not joints:
        return
    shown = joints[:4]
    figure, axes = plt.subplots(len(rows), len(shown), sharex=True, squeeze=False,
                                figsize=(1 + 3 * len(shown), 6), layout="constrained")
    for j, joint in enumerate(shown):
        for i, (prefix, label) in enumerate(rows):
            for case, run in runs.items():
                axes[i, j].plot(run["time"], run[prefix + joint], label=case)
            axes[i, j].set_ylabel(label if j == 0 else "")
        axes[0, j].set_title(joint)
        axes[-1, j].set_xlabel("time [s]")
    if len(runs) > 1:
        longest = max(map(len, runs))
        columns = int(12 * figure.get_figwidth() / (longest + 6))
        figure.legend(list(runs), loc="outside upper center", ncols=max(1, min(len(runs), columns)))
    yield "joints", figure


def find_drawings():
    """Which function draws which scene."""
    drawings = {}
    for path in sorted(pathlib.Path(__file__).parent.glob("*/plot.py")):
        spec = importlib.util.spec_from_file_location(f"plot_{path.parent.name}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        drawings.update({name: module.draw for name in module.SCENES})
    return drawings


def draw_scene(folder, name, draw):
    """Draw the figures of one scene and return their file names."""
    paths = [path for path in (folder / name).glob("*.csv") if path.stem not in TABLES]
    runs = {path.stem: read_run(path) for path in sorted(paths)}
    files = []
    if runs:
        for title, figure in draw(name, runs):
            files.append(f"{name}-{title}.png")
            figure.savefig(folder / files[-1])
            plt.close(figure)
    return files


def verdict(row):
    return "ok" if row["holds"] == "1" else "FAIL"


def list_claims(name, claims, images):
    """Markdown of what one scene showed."""
    lines = [f"## {name}", ""]
    lines += [f"![{image}]({image})" for image in images] + [""] * bool(images)
    lines += [f"- {verdict(row)}: {row['claim']}" for row in claims] + [""] * bool(claims)
    return lines


def list_differences(differences):
    """Markdown of how far the engine is from the scenes' own integrations."""
    lines = ["## The engine against the core's own integration", "",
             "Largest difference of any position or velocity over the whole run:", "",
             "| scene | case | difference | allowed | |",
             "|:------|:-----|-----------:|--------:|:-|"]
    lines += [f"| {name} | {row['case']} | {float(row['difference']):.1e} | "
              f"{float(row['tolerance']):.0e} | {verdict(row)} |" for name, row in differences]
    return lines + [""]


def main():
    parser = argparse.ArgumentParser(description="Plots and summary of what mjgear-run wrote.")
    parser.add_argument("folder", nargs="?", default="results", type=pathlib.Path)
    parser.add_argument("--no-plots", action="store_true", help="only the summary")
    options = parser.parse_args()

    names = sorted(path.parent.name for path in options.folder.glob("*/claims.csv"))
    if not names:
        print(f"report.py: {options.folder}: no results; run mjgear-run --all first",
              file=sys.stderr)
        return 2

    drawings = find_drawings()
    lines, differences, rows = ["# Results", ""], [], []
    for name in names:
        images = [] if options.no_plots else draw_scene(options.folder, name,
                                                        drawings.get(name, draw_standard))
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
