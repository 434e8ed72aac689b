"""Gears in mjlab, with the releases of MuJoCo and MuJoCo Warp that it pins: against the plugin, and in a training.

mjlab needs PyTorch, 7 GB, too much for ./check. ./check --long makes build/venv-mjlab; without it this test is skipped.

    python3 -m venv build/venv-mjlab
    build/venv-mjlab/bin/pip install mjlab==1.6.0
    build/venv-mjlab/bin/pip install --no-deps .        # the plugin for mjlab's MuJoCo
"""

import os
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(os.environ["MJGEAR_SOURCE_DIR"])
PYTHON = SOURCE / "build" / "venv-mjlab" / "bin" / "python"
if not PYTHON.exists():
    print("no build/venv-mjlab: see the first lines of this test")
    sys.exit(77)


def run(*words):
    """Run a script of this tree with the libraries that are installed with mjlab."""
    installed = [str(PYTHON), "-I", "-c", "import mjgear._library as l; print(l.folder())"]
    environment = dict(
        os.environ, PYTHONPATH=str(SOURCE / "python"), WARP_CACHE_PATH=str(SOURCE / "build" / "warp-cache-mjlab")
    )
    environment.pop("MJGEAR_LIBRARIES", None)  # libraries for the tests' MuJoCo
    found = subprocess.run(installed, env=environment, check=True, capture_output=True, text=True)
    environment["MJGEAR_LIBRARIES"] = found.stdout.strip()
    done = subprocess.run([PYTHON, *words], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_in_mjlab():
    # all releases of mjlab give the plugin's result
    print(run(SOURCE / "tests/python/warp/test_warp.py", "interface"))

    # mjlab's DC motor with a gear
    print(run(SOURCE / "tests/python/warp/mjlab_motor.py"))

    # a policy learns with the gear; the example itself checks that there was one
    text = run(SOURCE / "examples" / "mjlab_cartpole.py")
    print(text)
    before, after = map(float, re.search(r"trained with gear: score (\S+) before, (\S+) after", text).groups())
    assert after > before + 0.2, (before, after)


if __name__ == "__main__":
    test_in_mjlab()
