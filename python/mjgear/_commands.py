"""Commands of ``mjgear`` that are Python: ``identify``, ``protocol``, ``convert`` of files, ``hold``."""

from __future__ import annotations

import argparse
import io
import json
import math
import os
import pathlib
import sys

from mjgear import _bam, _files, _hold, _sdf, _urdf
from mjgear._errors import Error


def _convert(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="mjgear convert",
        description="a servo of better-actuator-models as a gear, or a URDF or SDF with gears as MJCF",
    )
    parser.add_argument("robot", nargs="?", metavar="ROBOT", help="URDF file, without xacro, or SDF")
    parser.add_argument(
        "--into",
        metavar="MODEL",
        help="of an SDF: the same robot as MJCF or URDF, which gets the mechanics of its joints",
    )
    parser.add_argument(
        "--gears", metavar="FILE", help="joint: preset, or joint: {preset: .., key: value}; JSON or YAML"
    )
    parser.add_argument("-o", "--output", metavar="FILE.xml", help="MJCF file to write")
    parser.add_argument("--bam", metavar="FILE", help="JSON file of a servo, models M1 to M6")
    parser.add_argument(
        "--viscous",
        choices=("gear", "joint"),
        default="gear",
        help="of a servo: where the viscous friction is (default: gear)",
    )
    parser.add_argument("--torque", type=float, help="of a servo: for which the error is told, N m")
    parser.add_argument("--json", action="store_true", help="for programs")
    options = parser.parse_args(words)
    if (options.robot is None) == (options.bam is None):
        parser.error("give a URDF or SDF, or --bam FILE")
    if options.robot is not None:
        is_sdf = options.robot.endswith(".sdf")
        if is_sdf != (options.into is not None):
            parser.error(
                "an SDF needs --into MODEL, the same robot as MJCF or URDF" if is_sdf else "--into is for an SDF"
            )
        made = _urdf.write(
            _sdf.from_sdf(options.robot, options.into, options.gears)
            if is_sdf
            else _urdf.from_urdf(options.robot, options.gears),
            options.output,
        )
        print(
            json.dumps({"gears": dict(made.gears), "reductions": dict(made.reductions), "lost": made.lost})
            if options.json
            else made
        )
        return 0
    bam = _bam.from_bam(options.bam, viscous=options.viscous, torque=options.torque)
    print(
        json.dumps(
            {
                "keys": dict(bam.keys),
                "exact": bam.exact,
                "error": bam.error,
                "torque": bam.torque,
                "rest": dict(bam.rest),
            }
        )
        if options.json
        else bam
    )
    return 0


def _holds(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="mjgear hold",
        description="which joints of a robot hold their load without power, and what their motors need",
        epilog="exit code: 0 all joints hold, 3 one falls, 1 the model is refused",
    )
    parser.add_argument("robot", metavar="ROBOT", help="MJCF or URDF file")
    parser.add_argument("--payload", metavar="2kg@tool", help="point mass at a site or body")
    parser.add_argument("--poses", choices=("worst", "keyframes", "random"), default="worst")
    parser.add_argument("--speed", type=float, default=1.0, help="of lifting and lowering, rad/s or m/s (default: 1)")
    parser.add_argument("--gear", metavar="PRESET", help="for all joints with motors, or of a URDF for all joints")
    parser.add_argument("--known", metavar="NAME", help="a robot of mjgear.robots(), whose gears it gets")
    parser.add_argument("--picture", metavar="FILE", help="write load and capacity as a picture, .svg or .png")
    parser.add_argument("--json", action="store_true", help="for programs")
    options = parser.parse_args(words)
    told = _hold.hold(
        _hold.load(options.robot, gear=options.gear, robot=options.known),
        options.payload,
        poses=options.poses,
        speed=options.speed,
    )
    if options.picture:
        picture, name = io.BytesIO(), pathlib.Path(options.picture)
        try:
            told.plot().savefig(picture, format=name.suffix[1:] or None)
        except ValueError as error:  # a format that there is not
            parser.error(f"--picture {name}: {error}")
        _files.write(name, picture.getvalue())
    if options.json:
        joints = {name: {key: _plain(value) for key, value in vars(one).items()} for name, one in told.joints.items()}
        print(
            json.dumps(
                {"holds": told.holds, "payload": told.payload, "place": told.place, "joints": joints, "left": told.left}
            )
        )
    else:
        print(told)
    return 0 if told.holds else 3


def _plain(value: object) -> object:
    """A value in JSON: null if it is not known, "inf" if nothing limits it."""
    if isinstance(value, float):
        return None if math.isnan(value) else value if math.isfinite(value) else "inf" if value > 0 else "-inf"
    return value.tolist() if hasattr(value, "tolist") else value


def run() -> None:
    """Run the command of sys.argv and exit: 0, 1 where something is refused or not written, 2 for wrong usage."""
    try:
        _run()
    finally:
        try:
            sys.stdout.flush()
        except OSError as error:  # of a help text, too
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(f"mjgear {sys.argv[1]}: cannot write standard output: {error.strerror}")


def _run() -> None:
    commands = {"convert": _convert, "hold": _holds}
    if sys.argv[1] not in commands:
        from mjgear.identify import __main__

        __main__.run()
    try:
        sys.exit(commands[sys.argv[1]](sys.argv[2:]))
    except (Error, ImportError) as error:
        print(error, file=sys.stderr)
    except OSError as error:
        where = error.filename or "standard output"
        print(f"mjgear {sys.argv[1]}: cannot write or read {where}: {error.strerror or error}", file=sys.stderr)
    except KeyboardInterrupt:
        print(f"mjgear {sys.argv[1]}: interrupted", file=sys.stderr)
        sys.exit(130)
    sys.exit(1)
