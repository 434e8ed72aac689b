"""The commands ``mjgear identify`` and ``mjgear protocol``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from mjgear.identify import DEFAULT_MODELS, Budget, Identification, LogError, identify, protocol
from mjgear.identify.heldout import GROUPS
from mjgear.identify.models import MODELS
from mjgear.identify.servo import SERVOS, servo


def _pairs(words: list[str], what: str) -> dict[str, str]:
    pairs = {}
    for word in words:
        key, equal, value = word.partition("=")
        if not equal or not value:
            raise LogError(f"--{what} {word}: write NAME=VALUE")
        pairs[key] = value
    return pairs


def _fact(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _known(words: list[str]) -> tuple[dict[str, float], dict[str, float]]:
    """Values and relative tolerances from NAME=VALUE[:PERCENT%]."""
    known, tolerance = {}, {}
    for name, text in _pairs(words, "known").items():
        value, _, percent = text.partition(":")
        try:
            known[name] = float(value)
            if percent:
                tolerance[name] = float(percent.rstrip("%")) / 100
        except ValueError:
            raise LogError(f"--known {name}={text}: write {name}=NUMBER or {name}=NUMBER:5%") from None
    return known, tolerance


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mjgear", description="From logs to a gear.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    c = commands.add_parser("identify", help="fit a gear to logs", formatter_class=argparse.RawDescriptionHelpFormatter,
                            description="Fit gears, MuJoCo's own friction and published servo models to logs, and say which to believe.",
                            epilog="doc/identify.md walks from a bench to a robot.")
    c.add_argument("logs", nargs="+", metavar="LOGS", help="CSV, JSON of Rhoban/bam, npz of mujoco.sysid; files or folders")
    c.add_argument("--bench", default="pendulum", metavar="BENCH", help="pendulum (default), dynamometer, or a robot's MJCF file")
    c.add_argument("--servo", default="torque", help=f"motor and controller: {', '.join(SERVOS)}, or a JSON file (default: torque)")
    c.add_argument("--input", choices=("goal", "torque", "current", "voltage"), help="what drives the simulation (default: the best that is there)")
    c.add_argument("--column", action="append", default=[], metavar="QUANTITY=NAME[:UNIT][,wrap=PERIOD]", help="where a quantity is in the files")
    c.add_argument("--fact", action="append", default=[], metavar="NAME=VALUE", help="mass, length, arm_mass, inertia, gravity, kp, vin, ... of all logs")
    c.add_argument("--known", action="append", default=[], metavar="NAME=VALUE[:5%%]", help="a parameter that is not fitted, with its tolerance")
    c.add_argument("--fit", action="append", default=[], choices=("delay", "slew"), help="fitted besides, with every model")
    c.add_argument("--models", default=",".join(DEFAULT_MODELS), help=f"of {', '.join(MODELS)} (default: {','.join(DEFAULT_MODELS)})")
    c.add_argument("--leave-out", metavar="WAYS", help=f"of {', '.join(GROUPS)}, separated by commas (default: all that differ between the logs)")
    c.add_argument("--starts", type=int, default=Budget.starts, help="of each fit (default: %(default)s)")
    c.add_argument("--replicates", type=int, default=100, help="of the bootstrap (default: %(default)s)")
    c.add_argument("--backlash", type=float, metavar="LARGEST", help="try a gear with backlash as well, its half gap up to LARGEST rad: from column rotor, or by a grid")
    c.add_argument("--dt", type=float, default=0.005, help="time between samples, s (default: %(default)s)")
    c.add_argument("--step", type=float, default=1e-3, help="largest step of the simulation, s (default: %(default)s)")
    c.add_argument("--seed", type=int, default=0)
    c.add_argument("--report", type=Path, metavar="FILE.html", help="write a page with plots")
    c.add_argument("--figures", type=Path, metavar="FOLDER", help="write the plots as PNG")
    c.add_argument("--json", type=Path, metavar="FILE.json", help="write everything for programs")
    c.add_argument("--mjcf", type=Path, metavar="FILE.xml", help="write the bench of the first log as a model")
    c.add_argument("--joint", default="joint", help="name of the joint in the MJCF to paste; with a robot, the geared joints, separated by commas")
    c.add_argument("--quiet", action="store_true", help="results only")
    p = commands.add_parser("protocol", help="the experiments to make", description="Experiments that identify a servo, in order, with safety limits.")
    p.add_argument("servo", help=f"{', '.join(SERVOS)}, or a JSON file")
    p.add_argument("--stall", type=float, required=True, metavar="TORQUE", help="stall torque, N m")
    p.add_argument("--length", type=float, default=0.1, help="of the arm, m (default: %(default)s)")
    p.add_argument("--signals", type=Path, metavar="FOLDER", help="write the goals as CSV")
    return parser


def _gap_line(found: Identification) -> str:
    """What the logs say about a gap."""
    fit = found.fits["backlash"]
    both = all("rotor" in log.data for log in found.bench.logs)
    gap = {**found.bench.known, **fit.values}["half_gap"]
    verdict = "predicts better than without" if found.chosen == "backlash" else "predicts no better than without: the logs show no gap"
    return f"half_gap {gap:.4g} rad, {'from two encoders' if both else 'by a grid'}; {verdict}"


def _identify_robot(a: argparse.Namespace) -> int:
    """Gears of a whole robot."""
    if a.report:
        raise LogError("--report is for a bench; with a robot use --figures, --json and --mjcf")
    from mjgear.identify import robot

    found = robot.identify_robot(Path(a.bench), a.logs, a.joint.split(","))
    print(f"{found.text()}\n  all intervals together hold with 95 %")
    if a.mjcf and found.spec is not None:
        a.mjcf.write_text(found.spec.to_xml())
    if a.json:
        numbers = {name: {"value": value, "low": low, "high": high} for name, (value, low, high) in found.intervals.items()}
        a.json.write_text(json.dumps({"parameters": numbers}, indent=2))
    if a.figures:
        from mjgear.identify import report

        a.figures.mkdir(parents=True, exist_ok=True)
        report.robot_figure(found).savefig(a.figures / "robot.png", dpi=90)
    return 0


def _identify(a: argparse.Namespace) -> int:
    told = (lambda text: None) if a.quiet else (lambda text: print(text, file=sys.stderr, flush=True))
    known, tolerance = _known(a.known)
    models = a.models.split(",")
    if a.backlash and "backlash" not in models:
        models.append("backlash")
    for name in models:
        if name not in MODELS:
            raise LogError(f"--models: no model '{name}'; there are {', '.join(MODELS)}")
    by = a.leave_out.split(",") if a.leave_out else None
    for way in by or []:
        if way not in GROUPS:
            raise LogError(f"--leave-out: '{way}' is none of {', '.join(GROUPS)}")
    if a.bench.endswith((".xml", ".mjcf")):
        return _identify_robot(a)
    found = identify(a.logs, a.bench, a.servo, _pairs(a.column, "column"), {k: _fact(v) for k, v in _pairs(a.fact, "fact").items()},
                     known, a.dt, a.input, a.fit, a.step, models=models, by=by,
                     budget=Budget(starts=a.starts, gap=a.backlash or Budget.gap), replicates=a.replicates,
                     tolerance=tolerance, seed=a.seed, told=told)
    print(f"{found.table()}\n  mean absolute error in {found.bench.unit}; * chosen\n\n{found.numbers()}\n")
    for note in found.notes:
        print(f"- {note}")
    if "backlash" in found.fits:
        print(_gap_line(found))
    print(f"\n{found.paste(a.joint)}")
    if a.mjcf:
        a.mjcf.write_text(found.mjcf())
    if a.json:
        a.json.write_text(found.json())
    if a.report or a.figures:
        try:
            from mjgear.identify import report
        except ImportError as error:
            raise LogError(f"--report and --figures need {error.name}: pip install 'mjgear[identify]'") from None
        if a.report:
            a.report.write_text(report.write(found, f"{a.servo}: a gear from {len(found.bench.logs)} logs"))
        if a.figures:
            a.figures.mkdir(parents=True, exist_ok=True)
            for name, figure in report.figures(found).items():
                figure.savefig(a.figures / f"{name}.png", dpi=90)
    return 0


def main(arguments: list[str]) -> int:
    """Run a command; 1 with a line that says what is wrong, 2 for wrong options."""
    a = _parser().parse_args(arguments)
    try:
        if a.command == "identify":
            return _identify(a)
        machine = servo(a.servo)
        print(protocol.text(machine, a.stall, a.length))
        if a.signals:
            files = protocol.write_signals(a.signals, machine, a.stall, a.length)
            print(f"\n{len(files)} files of goals in {a.signals}")
        return 0
    except (LogError, OSError) as error:
        print(f"mjgear {a.command}: {error}", file=sys.stderr)
        return 1
