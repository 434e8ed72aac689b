"""pytest for the tests in Python: after ./demo they run with no variable set.

    build/venv/bin/pytest tests/python/test_gears.py::Test::test_x
    build/venv/bin/pytest -m "not slow"

Finds the package, the plugin and the programs in build/. Names of programs that ctest passes as arguments, by file;
slow.txt beside this file names the slow tests for pytest and ctest.
"""

import importlib.util
import os
import pathlib
import sys

import pytest

SOURCE = pathlib.Path(__file__).parents[1]
BUILD = SOURCE / "build"
SLOW = {line.split()[0] for line in (SOURCE / "tests" / "slow.txt").read_text().splitlines()}

# programs that a file gets as arguments
ARGUMENTS = {
    "test_mjgear": ["mjgear"],
    "test_models": ["mjgear"],
    "test_problem_format": ["mjgear-solve-many"],
    "test_bam": ["mjgear"],
    "test_hold": ["mjgear"],
    "test_strict": ["mjgear"],
    "test_urdf": ["mjgear"],
    "test_remedies": ["mjgear"],
    "test_papers": ["mjgear-run"],
    "test_report": ["mjgear-run"],
    "test_ros2": ["../lib/libmjgear.so"],
    "test_run": ["mjgear-run"],
    "test_install": ["../release"],
    "test_readme": ["mjgear-run", "../release"],
    "test_view": ["mjgear-view"],
    "test_view_window": ["mjgear-view"],
}

collect_ignore = []
if importlib.util.find_spec("jinja2") is None:  # of mujoco[sysid]
    collect_ignore.append("python/identify/test_robot.py")


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes more than a few seconds")
    for name, value in (
        ("MJGEAR_SOURCE_DIR", SOURCE),
        ("MJGEAR_PLUGIN_PATH", BUILD / "lib/libmjgear.so"),
        ("MJGEAR_LIBRARIES", BUILD / "lib"),
        ("OPENBLAS_NUM_THREADS", 1),
    ):
        os.environ.setdefault(name, str(value))
    os.environ["PYTHONPATH"] = os.pathsep.join([str(SOURCE / "python"), *filter(None, [os.environ.get("PYTHONPATH")])])
    sys.path.insert(0, str(SOURCE / "python"))
    folder = BUILD / "pytest"  # output of tests
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    if (BUILD / "lib/libmjgear.so").exists():  # as the files do that are programs too
        import mujoco

        mujoco.mj_loadPluginLibrary(os.environ["MJGEAR_PLUGIN_PATH"])


class File(pytest.Module):
    """A test file with the arguments that ctest gives it; one that exits with 77 when it is imported is skipped."""

    def _getobj(self):
        before = sys.argv
        sys.argv = [str(self.path), *(str(BUILD / "bin" / name) for name in ARGUMENTS.get(self.path.stem, []))]
        try:
            return super()._getobj()
        except SystemExit as end:
            if end.code != 77:
                raise self.CollectError(f"{self.path.name} exits with {end.code}") from None
            pytest.skip("a package is missing", allow_module_level=True)
        finally:
            sys.argv = before


def pytest_pycollect_makemodule(module_path, parent):
    return File.from_parent(parent, path=module_path)


def ctest_name(path):
    """tests/python/test_gears.py is test_python_gears in ctest, tests/python/identify/test_arm.py test_identify_arm."""
    parts = path.relative_to(SOURCE / "tests").parts
    folder = next((one for one in ("plugin", "identify", "warp", "python") if one in parts), "")
    return "_".join(filter(None, ("test", folder, path.stem.removeprefix("test_").removeprefix(folder).lstrip("_"))))


def pytest_collection_modifyitems(items):
    for item in items:
        if ctest_name(item.path) in SLOW:
            item.add_marker(pytest.mark.slow)
