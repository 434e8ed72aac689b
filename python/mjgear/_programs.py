"""The programs of this package that were built for the MuJoCo of the environment."""

import os
import pathlib
import platform
import subprocess
import sys

import mujoco

from mjgear import _extras, _library

# an interrupt while numpy and scipy are imported ends the process, without Python's own lines
_START = "import signal; signal.signal(signal.SIGINT, signal.SIG_DFL); from mjgear import _commands; _commands.run()"

# text of --help if the package that lists all options is missing
_IDENTIFY = """usage: mjgear identify LOGS... [option]               fit a gear to logs, and say which to believe
       mjgear identify --robot ROBOT.xml LOGS...      the same for all joints of an arm
       mjgear protocol SERVO --stall TORQUE           the experiments that make such logs
doc/identify.md walks from a bench to a robot."""


def find(name: str) -> tuple[pathlib.Path, dict[str, str]]:
    """A program for the MuJoCo that is running, and the environment in which it finds all it needs.

    Raises:
        ImportError: this package has no programs for this MuJoCo, or not this one.
    """
    folder = _library.folder()
    environment = dict(os.environ)
    environment.setdefault("MJGEAR_PLUGIN", str(_library.path()))
    bundled = folder.parent / "bin" / mujoco.mj_versionString()
    if bundled.is_dir():
        environment.setdefault("MJGEAR_SCENES", str(folder.parent / "scenes"))
    program = (bundled if bundled.is_dir() else folder.parent / "bin") / name
    if platform.system() == "Windows":
        program = program.with_suffix(".exe")
    foreign = platform.system() != "Linux" or platform.machine() != "x86_64"
    if not program.exists() and bundled.is_dir() and foreign and name != "mjgear":
        raise ImportError(
            "scenes and their window are for Linux on x86-64; python -m mujoco.viewer shows a model with gears, once the plugin is loaded "
            "(python -c 'import mjgear, mujoco.viewer as v; v.launch_from_path(\"robot.xml\")')"
        )
    if not program.exists():
        target = {"mjgear": "mjgear-tool"}.get(name, name)
        needs = ", which needs libglfw3-dev and libpng-dev (Debian, Ubuntu)" if name == "mjgear-view" else ""
        raise ImportError(
            f"there is no {program}; in a clone build it: cmake --build --preset release --target {target}{needs}. Else reinstall mjgear"
        )
    # the program finds the engine, and on Windows OpenBLAS, where the loader of the system looks
    paths = [str(pathlib.Path(mujoco.__file__).parent), *([str(folder)] if platform.system() == "Windows" else [])]
    variable = {"Windows": "PATH", "Darwin": "DYLD_LIBRARY_PATH"}.get(platform.system(), "LD_LIBRARY_PATH")
    known = environment.get(variable)
    environment[variable] = os.pathsep.join([*paths, *([known] if known else [])])
    return program, environment


def _become(program: str, arguments: list[str], environment: dict[str, str]) -> None:
    """Run a program in place of this process; on Windows as a child, because a process that replaces itself has ended for its parent."""
    if platform.system() == "Windows":
        sys.exit(subprocess.run([program, *arguments], env=environment, check=False).returncode)
    os.execve(program, [program, *arguments], environment)


def _run(name: str) -> None:
    try:
        program, environment = find(name)
    except ImportError as error:
        sys.exit(f"{name}: {error}")
    _become(str(program), sys.argv[1:], environment)


def mjgear() -> None:
    """The command line tool; identify, protocol and the commands of _commands are Python."""
    files = [word for word in sys.argv[2:3] if word == "--bam" or word.endswith((".urdf", ".sdf"))]
    if sys.argv[1:2] == ["hold"] or (sys.argv[1:2] == ["convert"] and files):
        from mjgear import _commands

        _commands.run()
    if sys.argv[1:2] in (["identify"], ["protocol"]):
        missing = _extras.missing("scipy", f"mjgear {sys.argv[1]}", "identify")
        if missing and {"-h", "--help"} & set(sys.argv):
            print(f"{_IDENTIFY}\nIt lists its options once it can run: {missing}")
            sys.exit(0)
        if missing:
            sys.exit(missing)
        # a process of its own: BLAS reads its number of threads before numpy is loaded
        _become(sys.executable, ["-c", _START, *sys.argv[1:]], {"OPENBLAS_NUM_THREADS": "1", **os.environ})
    _run("mjgear")


def mjgear_run() -> None:
    """Plays a scene without a window."""
    _run("mjgear-run")


def mjgear_view() -> None:
    """Shows a scene in a window, or writes pictures and films of it."""
    _run("mjgear-view")
