"""``mjgear identify --robot`` and ``mjgear protocol ROBOT.xml``."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

from mjgear import _extras
from mjgear import _files as files
from mjgear.identify.arm.result import identify
from mjgear.identify.cli import fact, number, pairs, progress, several, shared, show
from mjgear.identify.logs import LogError


def _share(text: str) -> float:
    """A tolerance: 10% or 0.1."""
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value < 10:
        raise argparse.ArgumentTypeError(f"'{text}' is no tolerance; write 10% or 0.1")
    return value


def _factor(text: str, option: str) -> float:
    """A finite number of an option, not 0."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value == 0:
        raise LogError(f"--{option}: '{text}' is no number other than 0")
    return value


def identify_parser() -> argparse.ArgumentParser:
    """Options of ``mjgear identify --robot``."""
    c = argparse.ArgumentParser(
        prog="mjgear identify --robot",
        description="Links, drives, friction and gears of a whole arm, from torques or currents and motions.",
    )
    c.add_argument("logs", nargs="+", metavar="LOGS", help="CSV, JSON or npz; files or folders")
    c.add_argument(
        "--robot", required=True, type=Path, metavar="ROBOT.xml", help="MJCF, with gears or without, or URDF"
    )
    c.add_argument(
        "--joints",
        metavar="NAMES",
        help="joints of the logs in the order of their columns, separated by commas (default: all hinges and slides)",
    )
    several(
        c,
        "--column",
        "QUANTITY=NAME{}[:UNIT]",
        "position, velocity, torque, current, temperature, time; {} is a joint's name or number",
    )
    several(c, "--fact", "NAME=VALUE", "payload (kg), payload_x, payload_y, payload_z, trajectory of all logs")
    several(
        c,
        "--torque-constant",
        "JOINT=VALUE",
        "N m at the output side for one logged unit; currents without one: it is fitted",
    )
    c.add_argument(
        "--torque-tolerance",
        type=_share,
        default=0.1,
        metavar="10%",
        help="of torques or torque constants (default: 10%%)",
    )
    c.add_argument(
        "--inertia-tolerance",
        type=_share,
        default=0.2,
        metavar="20%",
        help="of the model's masses, centres and inertias (default: 20%%)",
    )
    several(
        c,
        "--coupling",
        "DRIVE=JOINT:NUMBER,...",
        "a drive that moves several joints: its rate is the sum of NUMBER times the joint's rate; drives have their joints' names",
    )
    several(
        c,
        "--torques",
        "JOINT=FILE.csv",
        "known torque of a spring or counterbalance, columns position (rad) and torque (N m, along the position)",
    )
    c.add_argument(
        "--cutoff",
        type=number(0, float, above=True),
        metavar="HZ",
        help="of the filter of positions (default: by their spectra)",
    )
    c.add_argument("--dt", type=number(0, float, above=True), help="time between samples, s, where no column says it")
    c.add_argument("--compare", action="store_true", help="hold out the published models M1 to M6 of servos too")
    c.add_argument(
        "--controller",
        type=Path,
        metavar="FILE.json",
        help='gains of the position loops in the simulation, {"JOINT": {"kp": 100, "kd": 5, "kf": 0, "kg": 1}} (default: fitted to goals)',
    )
    c.add_argument("--no-simulation", action="store_true", help="do not simulate what was found")
    c.add_argument("--mjcf", type=Path, metavar="FILE.xml", help="write the robot with what was found")
    c.add_argument("--urdf", type=Path, metavar="FILE", help="write <dynamics> to paste into a URDF")
    shared(c)
    c.add_argument("--isaac", type=Path, metavar="FILE.json", help="write numbers for Isaac Sim and Isaac Lab")
    c.add_argument("--drake", type=Path, metavar="FILE", help="write elements for Drake")
    return c


def run_identify(arguments: list[str]) -> int:
    """The command; 0 when done.

    Raises: LogError, OSError: with a message for the user.
    """
    # --robot takes a value, so that argparse does not read "--robot -h"
    asks_help = not {"-h", "--help"}.isdisjoint(arguments)
    a = identify_parser().parse_args(["-h"] if asks_help else arguments)
    for output in (a.report, a.json, a.mjcf, a.urdf, a.isaac, a.drake):
        if output is not None:
            files.check(output)

    told = progress(a)
    constants = {k: _factor(v, f"torque-constant {k}") for k, v in pairs(a.torque_constant, "torque-constant").items()}
    coupling = {
        drive: {
            joint: _factor(rate, f"coupling {drive}") for joint, _, rate in (p.partition(":") for p in row.split(","))
        }
        for drive, row in pairs(a.coupling, "coupling").items()
    }
    if coupling and (a.urdf or a.isaac or a.drake):
        raise LogError("--urdf, --isaac and --drake have no drives that move several joints; take --mjcf")
    found = identify(a.robot, a.logs, joints=a.joints.split(",") if a.joints else None, columns=pairs(a.column, "column"),
                     facts={k: fact(v) for k, v in pairs(a.fact, "fact").items()}, dt=a.dt, header=a.header.split(",") if a.header else None, inertia_tolerance=a.inertia_tolerance,
                     torque_tolerance=a.torque_tolerance, torque_constants=constants, coupling=coupling, torques=pairs(a.torques, "torques"), replicates=a.replicates, cutoff=a.cutoff, seed=a.seed, compare=a.compare, prefer=a.prefer, told=told)  # fmt: skip
    show(found)
    simulated: list[Any] = []
    if not a.no_simulation:
        from mjgear.identify.arm import simulate

        told("simulation")
        loop = simulate.controller(found, simulate.read_gains(a.controller, found.arm.joints) if a.controller else None)
        notes = loop.notes(found.arm.joints) if loop else []
        simulated = [
            simulate.simulate(found),
            *([done] if loop and (done := simulate.simulate_loop(found, loop)) else []),
        ]
        notes += [note for done in simulated for note in done.notes(found.arm.joints)]
        found.notes += notes
        print(
            "\n".join([*(f"\n{done.text(found.arm.joints)}" for done in simulated), *(f"- {note}" for note in notes)])
        )
    _write(a, found, simulated)
    return 0


def _write(a: argparse.Namespace, found: Any, simulated: Any) -> None:
    from mjgear.identify.arm import export, simulate

    if a.mjcf:
        files.write(a.mjcf, simulate.models(found)["chosen"].to_xml())
    if a.json:
        files.write(a.json, found.json())
    for path, made in ((a.urdf, export.urdf), (a.isaac, export.isaac), (a.drake, export.drake)):
        if path:
            files.write(path, made(found))
    if a.report:
        try:
            from mjgear.identify.arm import report
        except ImportError as error:
            raise LogError(_extras.missing("matplotlib", "--report", "identify") or str(error)) from None
        report.write(a.report, found, simulated)


def protocol_parser() -> argparse.ArgumentParser:
    """Options of ``mjgear protocol ROBOT.xml``."""
    p = argparse.ArgumentParser(
        prog="mjgear protocol",
        description="Motions that identify a whole arm, within its limits, and what they will tell.",
    )
    p.add_argument("robot", type=Path, metavar="ROBOT.xml", help="the arm and what stands around it")
    p.add_argument("--joints", metavar="NAMES", help="that move, separated by commas (default: all hinges and slides)")
    p.add_argument(
        "--speed",
        type=number(0, float, above=True),
        default=1.5,
        help="of the fastest joint, rad/s (default: %(default)s)",
    )
    p.add_argument(
        "--torque",
        type=number(0, float, above=True),
        help="of each joint, N m (default: forcerange of its actuator, actuatorfrcrange)",
    )
    p.add_argument(
        "--table", type=float, metavar="HEIGHT", help="no part goes below, m (besides, nothing in the model may be hit)"
    )
    p.add_argument(
        "--payload", type=number(0, float), default=0.0, metavar="KG", help="of the runs with a load (default: none)"
    )
    p.add_argument(
        "--motions",
        type=number(1, int),
        default=3,
        help="different motions, each forward and backward (default: %(default)s)",
    )
    p.add_argument(
        "--period", type=number(0, float, above=True), default=20.0, help="of a motion, s (default: %(default)s)"
    )
    p.add_argument(
        "--noise",
        type=_share,
        default=0.02,
        metavar="2%",
        help="of measured torques at 100 Hz, of their size (default: 2%%)",
    )
    p.add_argument("--torque-tolerance", type=_share, default=0.1, metavar="10%")
    p.add_argument("--inertia-tolerance", type=_share, default=0.2, metavar="20%")
    p.add_argument(
        "--tries", type=number(1, int), default=40, help="random starts of each motion (default: %(default)s)"
    )
    p.add_argument("--signals", type=Path, metavar="FOLDER", help="write the goals as CSV")
    p.add_argument("--seed", type=number(0, int), default=0)
    return p


def run_protocol(arguments: list[str]) -> int:
    """The command; 0 when done.

    Raises: LogError, OSError: with a message for the user.
    """
    from mjgear.identify.arm import excite
    from mjgear.identify.arm.dynamics import Arm
    from mjgear.identify.arm.result import load, movable

    a = protocol_parser().parse_args(arguments)
    if a.signals:
        files.check_folder(a.signals)
    _, model = load(a.robot)
    arm = Arm(model, a.joints.split(",") if a.joints else movable(model))
    within = excite.limits(arm, model, a.speed, a.torque, a.table)
    loads = [0.0, a.payload] if a.payload else [0.0]
    motions = {}
    for k in range(a.motions):
        motion = excite.search(
            arm, within, a.period * (1.0 if k % 3 != 2 else 2.0), max(loads), a.tries, 3 * a.tries, a.seed + k
        )
        for load_ in loads:
            for backward in (False, True):
                name = f"motion{k + 1}-{'backward' if backward else 'forward'}{'-loaded' if load_ else ''}"
                motions[name] = (motion, backward, load_)
    total = sum(m.period for m, _, _ in motions.values())
    print(
        f"{len(motions)} motions, {total / 60:.1f} min: {a.motions} Fourier series within joint ranges (5 % margin), {a.speed:g} rad/s"
        f"{'' if a.torque is None else f', {a.torque:g} N m'}, checked for collisions every 10 ms;"
    )
    print(
        "each forward and backward"
        + (
            f", without load and with {a.payload:g} kg at the frame of the last link"
            if a.payload
            else "; --payload KG adds runs with a weighed load, which settle the scale of torques and with it gamma_u and gamma_v"
        )
        + "."
    )
    print(
        "Log at 100 Hz or faster: time, positions, torques or currents, temperature. Move for ten minutes first; repeat the first motion at the end."
    )
    print("Slow and fast motions are both in it: every third has twice the period.\n")
    print(
        f"expected 95 % intervals, with torque noise {100 * a.noise:g} %, inertias known to {100 * a.inertia_tolerance:g} %, torque scale to {100 * a.torque_tolerance:g} %:"
    )
    for name, (value, half) in excite.expected(
        arm, list(motions.values()), a.noise, a.inertia_tolerance, a.torque_tolerance
    ).items():
        print(f"  {name:<28}{value:>12.4g} +- {half:.2g}")
    if a.signals:
        made = excite.write(a.signals, arm, motions)
        print(f"\n{len(made)} files of goals in {a.signals}")
    print(f"\nThen: mjgear identify --robot {a.robot} LOGS")
    return 0
