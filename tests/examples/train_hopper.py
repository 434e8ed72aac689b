"""examples/train_hopper.py: in three minutes of one core the policy's return on gears that it never met is twice that before; ./check --long runs it."""

import os
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(os.environ["MJGEAR_SOURCE_DIR"])

before = os.times()
done = subprocess.run([sys.executable, SOURCE / "examples" / "train_hopper.py"], capture_output=True, text=True)
assert done.returncode == 0, done.stdout + done.stderr
found = dict(re.findall(r"(\w+): +mean return (\d+) of 10 episodes, 0 steps unsolved", done.stdout))
assert set(found) == {"untrained", "trained"}, done.stdout
assert int(found["trained"]) > 2 * int(found["untrained"]), done.stdout
after = os.times()
seconds = after.children_user + after.children_system - before.children_user - before.children_system
assert seconds < 180, f"{seconds:.0f} s of a core"
print(f"{done.stdout}{seconds:.0f} s of a core")
