"""The tables of doc/robots.md, from the JSON of bench.py.

    benchmarks/robots/table.py --before OLD.json.. --after NEW.json.. --cost COST.json..

Runs of one robot, gear, integrator and servo with several seeds are summed up.
"""

import argparse
import json
import pathlib

import numpy as np

GEARS = "ABC"
LIKE = {
    "loss": "frictionloss",
    "loss_same": "frictionloss, same states",
    "plain": "no friction",
    "plain_same": "no friction, same states",
}
COUNTS = ("steps", "unsolved", "wrong", "beyond", "silent", "over", "diverged", "plain_diverged")


def read(paths):
    """{(robot, gear, integrator, servo): sums} of rows that were played, and the reasons of refusals."""
    found, refused = {}, {}
    for path in paths:
        for row in json.loads(pathlib.Path(path).read_text()):
            key = row["robot"], row["gear"], row["integrator"], row["servo"]
            if "refused" in row:
                refused[key] = row["refused"]
                continue
            if "unchecked" in row:
                continue
            old = found.get(key)
            if old is None:
                found[key] = dict(row)
                continue
            for name in COUNTS:
                old[name] = old.get(name, 0) + row.get(name, 0)
            for name in ("worst", "fed", "rise", "plain_rise"):
                old[name] = max(old[name], row[name])
    return found, refused


def cell(row):
    """unsolved / silent of 1000 steps, and the slowest step over the median."""
    if row is None:
        return "-", "-"
    rate = [1000 * row[k] / max(row["steps"], 1) for k in ("unsolved", "silent")]
    return " / ".join("0" if x == 0 else f"{x:.0f}" if x >= 10 else f"{x:.1g}" for x in rate), f"{row['worst']:.0f}"


def table(header, rows):
    print("| " + " | ".join(header) + " |\n|:--|" + "--:|" * (len(header) - 1))
    for row in rows:
        print("| " + " | ".join(str(x) for x in row) + " |")
    print()


def sums(title, found, refused):
    """A line for each integrator, servo and gear."""
    rows = []
    for integrator, servo, gear in sorted({(k[2], k[3], k[1]) for k in [*found, *refused]}):
        mine = [r for k, r in found.items() if (k[2], k[3], k[1]) == (integrator, servo, gear)]
        if not mine:
            rows.append([integrator + (", servos" if servo else ""), gear, "refused"] + [""] * 9)
            continue
        total = {k: sum(r.get(k, 0) for r in mine) for k in COUNTS}
        rows.append(
            [integrator + (", servos" if servo else ""), gear, len(mine)]
            + [total[k] for k in ("steps", "unsolved", "wrong", "silent", "over")]
            + [
                f"{max(r['worst'] for r in mine):.0f}",
                f"{sum(r['fed'] for r in mine):.2g}",
                total["diverged"],
                total["plain_diverged"],
            ]
        )
    print(f"**{title}**\n")
    table(
        [
            "integrator",
            "gears",
            "robots",
            "steps",
            "unsolved",
            "wrong",
            "silent",
            "over",
            "worst",
            "fed",
            "diverged",
            "plain",
        ],
        rows,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("before", "after", "cost"):
        parser.add_argument(f"--{name}", nargs="*", default=[])
    args = parser.parse_args()
    before, lost = read(args.before)
    after, refused = read(args.after)
    price = {
        (r["robot"], r["gear"], r["integrator"]): r
        for p in args.cost
        for r in json.loads(pathlib.Path(p).read_text())
        if "loss" in r
    }
    sums("Before", before, lost)
    sums("After", after, refused)

    rows = []
    for integrator, gear in sorted({k[2:0:-1] for k in price}):
        mine = [r for k, r in price.items() if k[2:0:-1] == (integrator, gear)]
        for name, other in LIKE.items():
            x = [r[name] for r in mine]
            rows.append(
                [
                    integrator,
                    gear,
                    other,
                    len(x),
                    f"{np.median(x):.2f}",
                    f"{np.percentile(x, 90):.2f}",
                    f"{max(x):.2f}",
                ]
            )
    print("**Cost**\n")
    table(["integrator", "gears", "relative to", "robots", "median", "p90", "most"], rows)

    print("**Robot by robot**\n")
    names = dict.fromkeys(k[0] for k in [*after, *before])
    rows = []
    for name in names:
        first = next(r for k, r in [*after.items(), *before.items()] if k[0] == name)
        line = [name, first["dofs"], first["gears"]]
        for source, integrator in ((before, "implicitfast"), (after, "implicitfast"), (after, "discrete")):
            cells = [cell(source.get((name, g, integrator, 0.0))) for g in GEARS]
            line += [", ".join(c[0] for c in cells), " ".join(c[1] for c in cells)]
        line.append(
            " ".join(
                f"{price[name, g, 'discrete']['loss']:.2f}" if (name, g, "discrete") in price else "-" for g in GEARS
            )
        )
        rows.append(line)
    table(
        [
            "robot",
            "dofs",
            "gears",
            "before, implicitfast",
            "worst",
            "implicitfast",
            "worst",
            "discrete",
            "worst",
            "cost",
        ],
        rows,
    )


if __name__ == "__main__":
    main()
