"""Commands of ``mjgear`` that are Python: ``identify``, ``protocol``, ``convert --bam``."""

from __future__ import annotations

import argparse
import json
import sys

from mjgear import _bam
from mjgear._errors import Error


def _convert(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="mjgear convert", description="a servo of better-actuator-models as a gear")
    parser.add_argument("--bam", metavar="FILE", required=True, help="JSON file of a servo, models M1 to M6")
    parser.add_argument("--viscous", choices=("gear", "joint"), default="gear", help="where the viscous friction is (default: gear)")
    parser.add_argument("--torque", type=float, help="for which the error is told, N m")
    parser.add_argument("--json", action="store_true", help="for programs")
    options = parser.parse_args(words)
    bam = _bam.from_bam(options.bam, viscous=options.viscous, torque=options.torque)
    print(json.dumps({"keys": dict(bam.keys), "exact": bam.exact, "error": bam.error, "torque": bam.torque, "rest": dict(bam.rest)}) if options.json else bam)
    return 0


def run() -> None:
    """Run the command of sys.argv and exit: 0, 1 where something is refused, 2 for wrong usage."""
    commands = {"convert": _convert}
    if sys.argv[1] not in commands:
        from mjgear.identify import __main__

        __main__.run()
    try:
        sys.exit(commands[sys.argv[1]](sys.argv[2:]))
    except Error as error:
        print(error, file=sys.stderr)
        sys.exit(1)
