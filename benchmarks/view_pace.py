#!/usr/bin/env python3
"""Cost of a window's frame in real time, with and without its panels: a humanoid with twelve gears at 1280 x
720, and an arm with six at 640 x 480.

    benchmarks/view_pace.py build/bin/mjgear-view      needs xvfb-run and xdotool; draws with the processor, as without a graphics card

One core is enough for 60 frames a second where a frame costs less than 16.7 ms.
"""

import re
import statistics
import subprocess
import sys


SCENES = {"humanoid": "1280x720", "arm": "640x480"}


# titles of the window in seven seconds, and the processor time of its process in 1/100 s, twice, 6 s apart
SCRIPT = """"$@" & sleep 3
for i in 1 2 3 4 5 6 7; do xdotool search --onlyvisible --name "^mjgear: " getwindowname; sleep 1; done
cut -d" " -f14,15 /proc/$!/stat; sleep 6; cut -d" " -f14,15 /proc/$!/stat; kill $!"""


def measure(view, scene, *options):
    """Frames a second, simulated seconds a second, processor time of a frame in ms."""
    words = ["sh", "-c", SCRIPT, "sh", view, scene, "--size", SCENES[scene], *options]
    done = subprocess.run(["xvfb-run", "--auto-servernum", *words], check=False, capture_output=True, text=True)
    titles = re.findall(r"x([\d.]+) \| (\d+) frames/s", done.stdout)
    pace, frames = (statistics.mean(float(title[k]) for title in titles) for k in range(2))
    before, after = (sum(map(int, line.split())) for line in done.stdout.splitlines()[-2:])
    return frames, pace, 10 * (after - before) / 6 / frames


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
