"""Checks the workflow files: ./check runs it with build/venv-workflow.

A file fits the schema of GitHub. Each `run:`, which is any text to the schema, passes shellcheck, and the files of ours that it names
exist. What `${{ }}` and `needs` name is defined.
"""

import pathlib
import re
import subprocess
import sys

from ruamel.yaml import YAML

ROOT = pathlib.Path(__file__).resolve().parents[1]
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


def check_run(where, text):
    """Passes shellcheck with a word for each expression, as the shell that GitHub starts runs it."""
    script = "#!/usr/bin/env bash\nset -eo pipefail\n" + EXPRESSION.sub("expression", text) + "\n"
    done = subprocess.run(["shellcheck", "-"], input=script, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, f"{where}: {text}\n{done.stdout}{done.stderr}"
    for name in re.findall(r"(?:^|\s)(\.ci/\S+|\./\S+|tests/\S+)", text):
        assert (ROOT / name).is_file(), f"{where}: no file {name}"


def check_job(where, job, jobs):
    """Jobs that it needs, values of its matrix, and each step: a command or an action of a version."""
    needs = job.get("needs", [])
    for name in [needs] if isinstance(needs, str) else needs:
        assert name in jobs, f"{where}: no job {name}"
    matrix = job.get("strategy", {}).get("matrix", {})
    for expression in EXPRESSION.findall(str(job)):
        kind, _, name = expression.partition(".")
        assert kind == "matrix" and name in matrix, f"{where}: {expression} is not of its matrix"
    for number, step in enumerate(job["steps"], 1):
        if "run" in step:
            check_run(f"{where}, step {number}", step["run"])
        else:
            assert re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step["uses"]), f"{where}, step {number}: {step['uses']}"


if __name__ == "__main__":
    count = 0
    for file in sorted((ROOT / ".github/workflows").glob("*.yml")):
        schema = (
            pathlib.Path(sys.executable).with_name("check-jsonschema"),
            "--builtin-schema",
            "vendor.github-workflows",
            file,
        )
        subprocess.run(schema, check=True)
        jobs = YAML(typ="safe").load(file)["jobs"]
        for name, job in jobs.items():
            check_job(f"{file.name}, {name}", job, jobs)
            count += sum("run" in step for step in job["steps"])
    assert count > 0
    print(f"{count} commands pass shellcheck")
