#!/usr/bin/env python3
"""What a frame of the window costs: six geared joints in real time, with and without its panels.

    benchmarks/view_pace.py build/bin/mjgear-view      needs xvfb-run; draws with the processor, as without a graphics card

One core is enough for 60 frames a second where a frame costs less than 16.7 ms.
"""

import re
import subprocess
import sys


def measure(view, *options):
    """Frames a second, simulated seconds a second, processor time of a frame in ms."""
    command = ["xvfb-run", "--auto-servernum", view, "arm", "--size", "640x480", "--measure", "6", *options]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [float(re.search(pattern, text)[1]) for pattern in (r"([\d.]+) frames/s", r"real time ([\d.]+)", r"([\d.]+) ms a frame")]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    costs = {}
    print("panels  frames/s  real time  ms a frame")
    for name, options in (("yes", ()), ("no", ("--no-panels",))):
        frames, pace, costs[name] = measure(sys.argv[1], *options)
        print(f"{name:6}  {frames:8.1f}  {pace:9.3f}  {costs[name]:10.2f}")
    print(f"a frame with panels costs {costs['yes'] / costs['no']:.2f} times one without")


if __name__ == "__main__":
    main()
