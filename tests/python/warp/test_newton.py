"""Gears in Newton, with the releases of MuJoCo and MuJoCo Warp that it pins: an arm and a quadruped that hold without power.

./check --long makes build/venv-newton; elsewhere the test is skipped until somebody does.

    python3 -m venv build/venv-newton
    build/venv-newton/bin/pip install -r cmake/requirements-newton.txt
    build/venv-newton/bin/pip install --no-deps .        # the plugin for Newton's MuJoCo
"""

import os
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(os.environ["MJGEAR_SOURCE_DIR"])
PYTHON = SOURCE / "build" / "venv-newton" / "bin" / "python"
if not PYTHON.exists():
    print("no build/venv-newton: see the first lines of this test")
    sys.exit(77)


def example(name, folder="examples"):
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "MJGEAR_LIBRARIES")}
    environment["WARP_CACHE_PATH"] = str(SOURCE / "build" / "warp-cache-newton")
    done = subprocess.run([PYTHON, SOURCE / folder / name], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    print(done.stdout)
    return done.stdout


def test_examples():
    text = example("newton_arm.py")
    falls, holds = (float(re.search(rf"{words}: (\S+) rad", text)[1]) for words in ("the arms fall", "gears they hold"))
    assert falls > 1 and holds < 1e-6, (falls, holds)

    pattern = (
        r"(.*): trunk from (\S+) to (\S+) m, joints move (\S+) rad in the last 0.2 s, (\S+)% of the steps unsettled"
    )
    found = {
        line[1]: [float(x) for x in line.groups()[1:]] for line in re.finditer(pattern, example("newton_quadruped.py"))
    }
    for first, last, moves, unsettled in found.values():
        assert unsettled <= 1, found
    (first, last, moves, _), others = found.pop("worm gears"), found
    assert first - last < 0.02 and moves < 1e-6, (first, last, moves)
    assert len(others) == 2 and all(first - last > 0.2 for first, last, _, _ in others.values()), others

    # torque of a Newton drive is the motor's in the law, as in the plugin; the encoder is on the motor or on the link, past 2 degrees of play
    example("newton_drive.py", "tests/python/warp")
    pattern = r"encoder on the (\w+): .* forearm is (\S+) mrad from its target and its motor (\S+); the gears then move (\S+) rad"
    for side, link, motor, moves in re.findall(pattern, example("newton_drive.py")):
        measured, other = (motor, link) if side == "motor" else (link, motor)
        assert abs(float(measured)) < 5 and abs(float(other)) > 30 and float(moves) == 0, (side, link, motor, moves)

    # Isaac Lab's BAM servos, by a stand-in of its interface
    example("isaaclab_servo.py", "tests/python/warp")


if __name__ == "__main__":
    test_examples()
