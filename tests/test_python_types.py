"""The Python package is typed: mypy, strict, finds nothing."""

import os
import subprocess
import sys

environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "LD_PRELOAD")}
done = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir=build/mypy"], cwd=os.environ["MJGEAR_SOURCE_DIR"], env=environment, check=False)
sys.exit(done.returncode)
