#!/usr/bin/env python3
"""Cost of a window's frame in real time, with and without its panels: a humanoid with twelve gears at 1280 x
720, and an arm with six at 640 x 480.

    benchmarks/view_pace.py build/bin/mjgear-view      needs xvfb-run; draws with the processor, as without a graphics card

One core is enough for 60 frames a second where a frame costs less than 16.7 ms.
"""

import re
import subprocess
import sys


SCENES = {"humanoid": "1280x720", "arm": "640x480"}


def measure(view, scene, *options):
    """Frames a second, simulated seconds a second, processor time of a frame in ms."""
    command = ["xvfb-run", "--auto-servernum", view, scene, "--size", SCENES[scene], "--measure", "6", *options]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [
        float(re.search(pattern, text)[1])
        for pattern in (r"([\d.]+) frames/s", r"real time ([\d.]+)", r"([\d.]+) ms a frame")
    ]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print("scene     size      panels  frames/s  real time  ms a frame")
    for scene, size in SCENES.items():
        costs = {}
        for name, options in (("yes", ()), ("no", ("--no-panels",))):
            frames, pace, costs[name] = measure(sys.argv[1], scene, *options)
            print(f"{scene:8}  {size:8}  {name:6}  {frames:8.1f}  {pace:9.3f}  {costs[name]:10.2f}", flush=True)
        print(f"{scene}: a frame with panels costs {costs['yes'] / costs['no']:.2f} times one without")


if __name__ == "__main__":
    main()
