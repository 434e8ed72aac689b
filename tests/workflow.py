"""Checks the workflow files: ./check runs it with build/venv-workflow.

actionlint reads them: schema, jobs, expressions, actions, machines, and commands by shellcheck. The files of ours that a command names
exist.
"""

import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]

if __name__ == "__main__":
    assert shutil.which("shellcheck"), "without shellcheck actionlint does not look at commands, and does not say so"
    subprocess.run([pathlib.Path(sys.executable).with_name("actionlint"), "-no-color"], check=True, cwd=ROOT)
    names = set()
    for file in sorted((ROOT / ".github/workflows").glob("*.yml")):
        text = re.sub(r"#.*", "", file.read_text(encoding="utf-8"))
        for name in re.findall(r"(?<=\s)(\.ci/\S+|\./\S+|tests/[^\s\"]+)", text):
            assert (ROOT / name).is_file(), f"{file.name}: no file {name}"
            names.add(name)
    assert names
    print(f"actionlint finds nothing; there is {', '.join(sorted(names))}")
