"""The commands ``mjgear identify`` and ``mjgear protocol``."""

from __future__ import annotations

import argparse
import io
import math
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mjgear import _extras
from mjgear import _files as files
from mjgear.identify import DEFAULT_MODELS, Budget, Identification, LogError, identify, protocol
from mjgear.identify.heldout import GROUPS, PREFERENCES
from mjgear.identify.models import MODELS
from mjgear.identify.servo import SERVOS, servo


def pairs(words: list[str], option: str) -> dict[str, str]:
    """NAME=VALUE of an option that is given several times.

    Raises: LogError: a word is another one.
    """
    found = {}
    for word in words:
        key, equal, value = word.partition("=")
        if not equal or not value:
            raise LogError(f"--{option} {word}: write NAME=VALUE")
        found[key] = value
    return found


def fact(text: str) -> float | str:
    """A number, if it is one."""
    try:
        return float(text)
    except ValueError:
        return text


def _known_number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def number(low: float, kind: type[int] | type[float], above: bool = False) -> Callable[[str], Any]:
    """Reads a finite number from low on, or above it; argparse puts the option's name before the text."""

    def parse(text: str) -> int | float:
        try:
            value = kind(text)
        except ValueError:
            value = kind(low) - 1
        if not low <= value < math.inf or (above and value == low):
            raise argparse.ArgumentTypeError(
                f"'{text}' is no {'whole ' if kind is int else ''}number {'above' if above else 'from'} {low:g}"
                f"{'' if above else ' on'}"
            )
        return value

    return parse


def _percent(text: str) -> float:
    """A tolerance in percent, of either sign, as a part of one."""
    part = abs(_known_number(text.rstrip("%"))) / 100
    if part > 1:
        raise ValueError(text)
    return part


def _known(words: list[str]) -> tuple[dict[str, float], dict[str, float]]:
    """Values and relative tolerances from NAME=VALUE[:PERCENT%]."""
    known, tolerance = {}, {}
    for name, text in pairs(words, "known").items():
        value, _, percent = text.partition(":")
        try:
            known[name] = _known_number(value)
            if percent:
                tolerance[name] = _percent(percent)
        except ValueError:
            raise LogError(f"--known {name}={text}: write {name}=NUMBER or {name}=NUMBER:5%, at most 100%") from None
    return known, tolerance


def _tolerances(words: list[str]) -> dict[str, float]:
    """Relative tolerances from NAME=PERCENT."""
    told = {}
    for name, text in pairs(words, "tolerance").items():
        if name not in ("load", "torque_scale", "torque_constant"):
            raise LogError(
                f"--tolerance {name}={text}: there are load, torque_scale and torque_constant; that of another number stands behind it, --known "
                f"{name}=VALUE:5%"
            )
        try:
            told[name] = _percent(text)
        except ValueError:
            raise LogError(f"--tolerance {name}={text}: write {name}=5%, at most 100%") from None
    return told


def several(c: argparse.ArgumentParser, name: str, form: str | None, text: str, **more: Any) -> None:
    """An option that may be given several times; form: of its value."""
    c.add_argument(name, action="append", default=[], metavar=form, help=text, **more)


def shared(c: argparse.ArgumentParser) -> None:
    """Options of one joint and of a whole arm alike."""
    c.add_argument(
        "--header",
        metavar="NAMES",
        help="of the columns of CSV without a line of names, separated by commas; of an arm q{} stands for one of each joint",
    )
    c.add_argument(
        "--prefer",
        choices=PREFERENCES,
        default="simple",
        help="choose the simplest model that no other surely beats (default), or the model that predicts best",
    )
    c.add_argument("--replicates", type=number(2, int), default=100, help="of the bootstrap (default: %(default)s)")
    c.add_argument("--seed", type=number(0, int), default=0)
    c.add_argument(
        "--report", type=Path, metavar="FILE.html", help="write a page with plots; of an arm one more of each joint"
    )
    c.add_argument("--json", type=Path, metavar="FILE.json", help="write everything for programs")
    c.add_argument("--quiet", action="store_true", help="results only")


def progress(a: argparse.Namespace) -> Callable[[str], None]:
    """Takes a line for each step that takes time."""
    return (lambda text: None) if a.quiet else (lambda text: print(text, file=sys.stderr, flush=True))


def show(found: Any, unit: str = "") -> None:
    """Print table, numbers and notes."""
    print(f"{found.table()}\n{unit}\n{found.numbers()}\n")
    for note in found.notes:
        print(f"- {note}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mjgear", description="From logs to a gear.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    c = commands.add_parser(
        "identify",
        help="fit a gear to logs",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Fit gears, MuJoCo's own friction and published servo models to logs, and say which to believe.",
        epilog="doc/identify.md walks from a bench to a robot.",
    )
    c.add_argument(
        "logs",
        nargs="+",
        metavar="LOGS",
        help="CSV, JSON of Rhoban/bam, npz of mujoco.sysid, parquet of LeRobot, MCAP, rosbag2; files or folders",
    )
    c.add_argument(
        "--robot",
        metavar="ROBOT.xml",
        help="a whole arm from joint torques or currents; 'mjgear identify --robot -h' has its options",
    )
    c.add_argument(
        "--bench",
        default="pendulum",
        metavar="BENCH",
        help="pendulum (default), dynamometer, or friction (torque and speed without a load)",
    )
    c.add_argument(
        "--servo", default="torque", help=f"motor and controller: {', '.join(SERVOS)}, or a JSON file (default: torque)"
    )
    c.add_argument(
        "--input",
        choices=("goal", "torque", "current", "voltage"),
        help="what drives the simulation (default: the best that is there)",
    )
    several(c, "--column", "QUANTITY=NAME[:UNIT][,wrap=PERIOD]", "where a quantity is in the files")
    several(c, "--fact", "NAME=VALUE", "mass, length, arm_mass, inertia, gravity, kp, vin, ... of all logs")
    several(c, "--known", "NAME=VALUE[:PERCENT]", "a parameter that is not fitted, with its tolerance")
    several(c, "--fit", None, "fitted besides, with every model", choices=("delay", "slew", "torque_scale", "drift"))
    several(
        c,
        "--tolerance",
        "NAME=PERCENT",
        "how well a mass (load) or the motor's torque (torque_scale) is known "
        "(default: load=10%%, torque_scale=25%%, of a dynamometer 5%%)",
    )
    c.add_argument(
        "--models",
        help=f"of {', '.join(MODELS)} (default: {','.join(DEFAULT_MODELS)})",
    )
    c.add_argument(
        "--leave-out",
        metavar="WAYS",
        help=f"of {', '.join(GROUPS)}, separated by commas (default: all that differ between the logs)",
    )
    c.add_argument("--starts", type=number(1, int), default=Budget.starts, help="of each fit (default: %(default)s)")
    c.add_argument(
        "--backlash",
        type=number(0, float, above=True),
        metavar="LARGEST",
        help="try a gear with backlash as well, its half gap up to LARGEST rad: from column rotor, or by a grid",
    )
    c.add_argument(
        "--dt", type=number(0, float, above=True), default=0.005, help="time between samples, s (default: %(default)s)"
    )
    c.add_argument(
        "--step",
        type=number(1e-6, float),
        default=5e-3,
        help="largest step of the simulation, s (default: %(default)s)",
    )
    c.add_argument(
        "--moving",
        type=number(0, float),
        metavar="SPEED",
        help="of a dynamometer: samples above it count as moving, rad/s (default: a hundredth of the usual speed)",
    )
    c.add_argument("--figures", type=Path, metavar="FOLDER", help="write the plots as PNG")
    c.add_argument("--mjcf", type=Path, metavar="FILE.xml", help="write the bench of the first log as a model")
    c.add_argument(
        "--joint",
        default="joint",
        help="name of the joint in the MJCF to paste",
    )
    shared(c)
    p = commands.add_parser(
        "protocol",
        help="the experiments to make",
        description="Experiments that identify a servo, in order, with safety limits.",
    )
    p.add_argument("servo", help=f"{', '.join(SERVOS)}, or a JSON file; a robot's MJCF: 'mjgear protocol ROBOT.xml -h'")
    p.add_argument(
        "--stall", type=number(0, float, above=True), required=True, metavar="TORQUE", help="stall torque, N m"
    )
    p.add_argument(
        "--length", type=number(0, float, above=True), default=0.1, help="of the arm, m (default: %(default)s)"
    )
    p.add_argument("--signals", type=Path, metavar="FOLDER", help="write the goals as CSV")
    return parser


def _gap_line(found: Identification) -> str:
    """Results of the logs about a gap."""
    fit = found.fit if "half_gap" in found.fit.values else found.fits["backlash"]
    both = all("rotor" in log.data for log in found.bench.logs)
    gap = {**found.bench.known, **fit.values}["half_gap"]
    verdict = (
        "predicts better than without"
        if "half_gap" in found.fit.model.parameters
        else "predicts no better than without: the logs show no gap"
    )
    return f"half_gap {gap:.4g} rad, {'from two encoders' if both else 'by a grid'}; {verdict}"


def _check_outputs(a: argparse.Namespace) -> None:
    """Check that all output files can be written, before the fit, which takes minutes."""
    for path in filter(None, (a.report, a.json, a.mjcf)):
        files.check(path)
    if a.figures:
        files.check_folder(a.figures)
    if a.report or a.figures:
        try:
            from mjgear.identify import report  # noqa: F401
        except ImportError as error:
            raise LogError(_extras.missing("matplotlib", "--report or --figures", "identify") or str(error)) from None


def _write_figure(path: Path, figure: Any) -> None:
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=90)
    files.write(path, picture.getvalue())


def _identify(a: argparse.Namespace) -> int:
    known, tolerance = _known(a.known)
    tolerance |= _tolerances(a.tolerance)
    models = a.models.split(",") if a.models else [*DEFAULT_MODELS] if a.backlash else None
    if models and a.backlash:
        models += [name for name in ("backlash", "backlash_stribeck") if name not in models]
    for name in models or ():
        if name not in MODELS:
            raise LogError(f"--models: no model '{name}'; there are {', '.join(MODELS)}")
    by = a.leave_out.split(",") if a.leave_out else None
    for way in by or []:
        if way not in GROUPS:
            raise LogError(f"--leave-out: '{way}' is none of {', '.join(GROUPS)}")
    if a.moving is not None and a.bench not in ("dynamometer", "friction"):
        raise LogError("--moving is for --bench dynamometer and friction")
    _check_outputs(a)
    found = identify(
        a.logs,
        bench=a.bench,
        servo=a.servo,
        columns=pairs(a.column, "column"),
        facts={k: fact(v) for k, v in pairs(a.fact, "fact").items()},
        known=known,
        dt=a.dt,
        input=a.input,
        fit=a.fit,
        step=a.step,
        header=a.header.split(",") if a.header else None,
        moving=a.moving,
        models=models,
        by=by,
        budget=Budget(starts=a.starts, gap=a.backlash or Budget.gap),
        replicates=a.replicates,
        tolerance=tolerance,
        seed=a.seed,
        prefer=a.prefer,
        told=progress(a),
    )
    show(found, f"  mean absolute error in {found.bench.unit}; * chosen\n")
    if "backlash" in found.fits:
        print(_gap_line(found))
    print(f"\n{found.paste(a.joint)}")
    if a.mjcf:
        files.write(a.mjcf, found.mjcf())
    if a.json:
        files.write(a.json, found.json())
    if a.report or a.figures:
        from mjgear.identify import report

        if a.report:
            files.write(a.report, report.write(found, f"{a.servo}: a gear from {len(found.bench.logs)} logs"))
        if a.figures:
            for name, figure in report.figures(found).items():
                _write_figure(a.figures / f"{name}.png", figure)
    return 0


def _protocol(a: argparse.Namespace) -> int:
    machine = servo(a.servo)
    print(protocol.text(machine, a.stall, a.length))
    if a.signals:
        written = protocol.write_signals(a.signals, machine, a.stall, a.length)
        print(f"\n{len(written)} files of goals in {a.signals}")
    return 0


def _of_arms(arguments: list[str]) -> Callable[[list[str]], int] | None:
    """The command for whole arms, if --robot is given."""
    is_robot = any(word == "--robot" or word.startswith("--robot=") for word in arguments)
    is_model = any(word.endswith((".xml", ".mjcf")) for word in arguments)
    if arguments[:1] == ["identify"] and is_robot:
        from mjgear.identify.arm import cli as arms

        return arms.run_identify
    if arguments[:1] == ["protocol"] and is_model:
        from mjgear.identify.arm import cli as arms

        return arms.run_protocol
    return None


def main(arguments: list[str]) -> int:
    """Run a command; 1 with a message for the user, 2 for wrong options, 130 after an interrupt."""
    for stream in sys.stdout, sys.stderr:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names of files and logs may hold anything
    whole = _of_arms(arguments)
    a = argparse.Namespace(command=arguments[0]) if whole else _parser().parse_args(arguments)
    try:
        if whole:
            status = whole(arguments[1:])
        else:
            status = _identify(a) if a.command == "identify" else _protocol(a)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        print(f"mjgear {a.command}: interrupted; nothing was written", file=sys.stderr)
        return 130
    except (LogError, OSError) as error:
        if isinstance(error, OSError):
            print(
                f"mjgear {a.command}: cannot write or read {error.filename or 'standard output'}: {error.strerror or error}",
                file=sys.stderr,
            )
        else:
            print(f"mjgear {a.command}: {error}", file=sys.stderr)
        if isinstance(sys.stdout, io.TextIOWrapper):
            # text that stdout did not take (a full disk, a closed pipe) would fail once more at the end
            try:
                sys.stdout.flush()
            except OSError:
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
