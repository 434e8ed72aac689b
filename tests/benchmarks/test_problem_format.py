"""The page on the problem format: its Python reader reads its example and the recorded problems."""

import os
import re
import resource
import signal
import subprocess
import sys
import tempfile

import numpy as np

SOLVE_MANY = sys.argv[1]
source = os.environ["MJGEAR_SOURCE_DIR"]
with open(os.path.join(source, "benchmarks", "PROBLEM_FORMAT.md")) as file:
    page = file.read()


def block(start):
    """The indented block of the page that begins with a text, without its indentation."""
    lines = page[page.index("    " + start) :].split("\n")
    end = next(i for i, line in enumerate(lines) if line and not line.startswith("    "))
    return "\n".join(line[4:] for line in lines[:end])


scope = {}
exec(block("import re"), scope)
read_problems = scope["read_problems"]


def test_example():
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(block("mjgear-problems 1"))
        file.flush()
        (example,) = read_problems(file.name)
    assert example["name"] == "example-2" and example["n"] == [2]
    assert np.array_equal(example["A"].reshape(2, 2), [[0.02, -0.005], [-0.005, 0.04]])
    assert np.array_equal(example["v"], [0.25, -1]) and np.array_equal(example["phi"], [12, 3.5])
    assert np.array_equal(example["alpha"], [40, 1e-3]) and np.array_equal(example["beta"], [1.2, 0.3])


def test_recorded_problems():
    """As many as a plain search finds, with as many numbers as the page says."""
    path = os.path.join(source, "benchmarks", "problems", "scenes.txt")
    with open(path) as file:
        names = re.findall(r"^problem (\S+)$", file.read(), re.MULTILINE)
    problems = list(read_problems(path))
    assert [problem["name"] for problem in problems] == names and len(names) > 100
    fields = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    for problem in problems:
        n = int(problem["n"][0])
        blocks = problem.get("block", [n])
        assert sum(blocks) == n
        assert set(problem) - {"name"} <= fields, problem
        for key, values in problem.items():
            if key in ("A", "P"):
                assert len(values) == sum(b * b for b in blocks), (problem["name"], key)
            elif key not in ("name", "n", "block"):
                assert len(values) == n, (problem["name"], key)
        assert {"v", "A", "phi"} <= set(problem)
        assert "P" in problem or {"alpha", "beta"} <= set(problem)


def test_full_disk():
    """An older file of problems stays where the new one cannot be written."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "old.txt")
        for size, code, begins in ((0, (1, 2), "as it was"), (10**6, (0,), "mjgear-problems")):
            with open(path, "w") as file:
                file.write("as it was")

            def limit(size=size):
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

            done = subprocess.run(
                [SOLVE_MANY, "--count", "10", "--save", path], capture_output=True, text=True, preexec_fn=limit
            )
            assert done.returncode in code and (size or "old.txt" in done.stderr), done
            with open(path) as file:
                assert file.read().startswith(begins), size
            assert os.listdir(folder) == ["old.txt"]


if __name__ == "__main__":
    test_full_disk()
    test_example()
    test_recorded_problems()
