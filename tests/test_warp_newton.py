"""Gears in Newton, with the releases of MuJoCo and MuJoCo Warp that it pins: an arm that holds without power.

The test is skipped where build/venv-newton is not.

    python3 -m venv build/venv-newton
    build/venv-newton/bin/pip install "newton[sim]==1.8.0"
    build/venv-newton/bin/pip install --no-deps .        # the plugin for Newton's MuJoCo
"""

import os
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(os.environ["MJGEAR_SOURCE_DIR"])
PYTHON = SOURCE / "build" / "venv-newton" / "bin" / "python"


def main():
    if not PYTHON.exists():
        print("no build/venv-newton: see the first lines of this test")
        sys.exit(77)
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MJGEAR_LIBRARIES")}
    environment["WARP_CACHE_PATH"] = str(SOURCE / "build" / "warp-cache-newton")
    done = subprocess.run([PYTHON, SOURCE / "examples" / "newton_arm.py"], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    print(done.stdout)
    falls, holds = (float(re.search(rf"{words}: (\S+) rad", done.stdout)[1]) for words in ("the arms fall", "gears they hold"))
    assert falls > 1 and holds < 1e-6, (falls, holds)


if __name__ == "__main__":
    main()
