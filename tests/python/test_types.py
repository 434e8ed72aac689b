"""The Python package is typed: mypy, strict, finds nothing in it, and refuses keys and results that do not exist where the package is used."""

import os
import pathlib
import subprocess
import sys
import tempfile

PYTHON = pathlib.Path(__file__).parents[2] / "build" / "venv-check" / "bin" / "python"
if not PYTHON.exists():
    print("./check makes build/venv-check, with mypy")
    sys.exit(77)

SOURCE = pathlib.Path(os.environ["MJGEAR_SOURCE_DIR"])
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "LD_PRELOAD")} | {
    "MYPYPATH": str(SOURCE / "python")
}

# lines of a user, and mypy's message for each; empty: none
USE = (
    ("import mujoco, mjgear", ""),
    ("spec = mujoco.MjSpec()", ""),
    ('mjgear.add(spec, "elbow", eta_forward=0.8, coulomb="2 Nm", backlash="exact")', ""),
    ('mjgear.add(spec, "elbow", eta_foward=0.8)', 'Unexpected keyword argument "eta_foward"'),
    ('mjgear.add_robot_gears(spec, "ur5e", colomb=2)', 'Unexpected keyword argument "colomb"'),
    ('mjgear.explain("worm", load=2, mu=0.1)', ""),
    ('mjgear.explain("worm", muu=0.1)', 'Unexpected keyword argument "muu"'),
    ('mjgear.convert("worm", lead_angel=0.1)', 'Unexpected keyword argument "lead_angel"'),
    ("mjgear.State.STUK", '"type[State]" has no attribute "STUK"'),
    ("from mjgear import warp", ""),
    (
        "def read(gears: warp.Gears) -> object: return gears.friction, gears.internal_force, gears.gamma_v, gears['elbow'].friction",
        "",
    ),
    ("def misread(gears: warp.Gears) -> object: return gears.frictoin", '"Gears" has no attribute "frictoin"'),
    ("mjgear.ad", 'Module has no attribute "ad"'),
)


def mypy(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PYTHON, "-m", "mypy", "--cache-dir=build/mypy", *arguments],
        cwd=SOURCE,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_package() -> None:
    found = mypy()
    assert found.returncode == 0, found.stdout + found.stderr


def test_use() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "use.py"
        file.write_text("\n".join(line for line, _ in USE) + "\n", encoding="utf-8")
        told = mypy("--config-file=pyproject.toml", str(file)).stdout
    wrong = []
    for number, (line, expected) in enumerate(USE, 1):
        lines = [one for one in told.splitlines() if f"use.py:{number}: error" in one]
        if bool(lines) != bool(expected) or (expected and expected not in lines[0]):
            wrong.append(f"{line!r}: expected {expected or 'nothing'!r}, mypy says {lines}")
    assert not wrong, "\n".join(wrong)


if __name__ == "__main__":
    test_package()
    test_use()
