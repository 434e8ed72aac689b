"""The wheel, installed without a compiler, beside each of some MuJoCo releases; ./check runs it.

    tests/wheel.py WHEEL RELEASE...

In each environment: rod and wall are played and meet their claims, a geared humanoid is stepped, "import mujoco" alone
registers the plugin from 4.0 on. With an unknown release, import names the remedy.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import venv

WHEEL = pathlib.Path(sys.argv[1]).resolve()
RELEASES = sys.argv[2:]

# a humanoid whose legs have worm gears; the script measures which parts of MuJoCo move it
STEP = """
import time, sys
import mujoco
if int(mujoco.mj_versionString().split(".")[0]) >= 4:
    mujoco.MjSpec().activate_plugin("mjgear.transmission")  # registered by import mujoco alone
start = time.perf_counter()
import mjgear
print(f"import mjgear after mujoco: {1e3 * (time.perf_counter() - start):.1f} ms")
import pathlib
model = mujoco.MjModel.from_xml_path(str(pathlib.Path(mjgear.__file__).parent / "scenes" / "humanoid" / "humanoid.xml"))
data = mujoco.MjData(model)
for _ in range(500):
    mujoco.mj_step(model, data)
gears = mjgear.Gears(model, data)
assert len(gears) > 5 and max(gear.friction ** 2 for gear in gears.values()) > 0
assert all(gear.status in (0, 1) for gear in gears.values())
assert mjgear._library.bench().mjg_simulateBench  # of mjgear.identify, which needs SciPy too
print(f"mjgear {mjgear.__version__}, MuJoCo {mujoco.mj_versionString()}: humanoid with {len(gears)} gears, {data.time:.2f} s")
"""


# plugins for other releases, loaded without the package, are refused by the plugin, not by the system's loader
OTHERS = """
import pathlib, mujoco, mjgear
running = mujoco.mj_versionString()
for library in sorted((pathlib.Path(mjgear.__file__).parent / "lib").glob("libmjgear-*.so")):
    # one of another patch release fits, and would be registered twice
    if not library.stem.startswith(f"libmjgear-{running.rpartition('.')[0]}."):
        mujoco.mj_loadPluginLibrary(str(library))
        print(f"{library.stem.removeprefix('libmjgear-')} beside {running}")
"""


def run(command, environment, **options):
    return subprocess.run([str(word) for word in command], env=environment, capture_output=True, text=True, **options)


def make(folder, release):
    """An environment with a release of MuJoCo and the wheel; on its PATH are no compilers."""
    venv.create(folder)
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "LD_LIBRARY_PATH")}
    environment["PATH"] = str(folder / "bin")
    uv = [
        pathlib.Path(__file__).parents[1] / "build/venv/bin/uv",
        "pip",
        "install",
        "--quiet",
        "--python",
        folder / "bin" / "python",
    ]
    # from 4.0 on the engine and its Python are in mujoco-core, of which there are releases without a package "mujoco"
    name = "mujoco-core" if int(release.split(".")[0]) >= 4 else "mujoco"
    for requirement in ([f"{name}=={release}"], ["--no-deps", WHEEL]):
        done = run([*uv, *requirement], environment)
        assert done.returncode == 0, done.stderr
    return environment


def check(release):
    """Findings beside a release."""
    seen = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        environment = make(folder / "venv", release)
        python = folder / "venv" / "bin" / "python"
        done = run([python, "-W", "error", "-c", STEP], environment, cwd=folder)
        seen.append(done.stdout.rstrip())
        assert done.returncode == 0, done.stderr
        done = run([python, "-c", OTHERS], environment, cwd=folder)
        assert done.returncode == 0, done.stderr
        log = folder / "MUJOCO_LOG.TXT"
        text = done.stderr + (log.read_text() if log.exists() else "")
        for other in re.findall(r"^(\S+) beside", done.stdout, re.MULTILINE):
            assert f"was built for MuJoCo {other}, but this is MuJoCo {release}" in text, text
        for scene in ("rod", "wall"):
            done = run(
                [folder / "venv" / "bin" / "mjgear-run", scene, "--out", folder / "results"], environment, cwd=folder
            )
            assert done.returncode == 0, done.stdout + done.stderr
            claims = re.findall(r"^  ok ", done.stdout, re.MULTILINE)
            assert claims, done.stdout
            seen.append(f"  {scene}: {len(claims)} claims hold")
        for program in ("mjgear", "mjgear-view"):
            done = run([folder / "venv" / "bin" / program, "--help"], environment, cwd=folder)
            assert done.returncode == 0, done.stdout + done.stderr
    return "\n".join(seen)


def check_unknown(release):
    """The lines for MuJoCos that the wheel does not know."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        environment = make(folder / "venv", release)
        python = folder / "venv" / "bin" / "python"
        done = run([python, "-c", "import mjgear"], environment, cwd=folder)
        line = done.stderr.strip().splitlines()[-1]
        assert done.returncode == 1 and line.startswith("ImportError: this mjgear was built for MuJoCo"), done.stderr
        assert all(word in line for word in (*RELEASES, f"MuJoCo {release} is running", "pip install")), line

        # and for one that does not exist
        code = "import mujoco; mujoco.mj_versionString = lambda: '9.9.9'; import mjgear"
        done = run([python, "-c", code], environment, cwd=folder)
        assert "MuJoCo 9.9.9 is running" in done.stderr, done.stderr
        return f"{release}: {line}\n9.9.9: {done.stderr.strip().splitlines()[-1]}"


def main():
    print(f"{WHEEL.name}: {WHEEL.stat().st_size / 2**20:.1f} MiB")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for seen in [*(pool.submit(check, release) for release in RELEASES), pool.submit(check_unknown, "3.10.0")]:
            print(seen.result())


if __name__ == "__main__":
    main()
