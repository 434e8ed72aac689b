"""A second MuJoCo in the process is named, and a plugin for another release is not loaded with one of its own."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import mujoco

PLUGIN = os.environ["MJGEAR_PLUGIN_PATH"]
ENGINE = next(pathlib.Path(mujoco.__file__).parent.glob("libmujoco.so.*"))

LOAD = """
import ctypes, sys
import mujoco
if len(sys.argv) > 2:
    ctypes.CDLL(sys.argv[2])
mujoco.mj_loadPluginLibrary(sys.argv[1])
mujoco.MjSpec().activate_plugin("mjgear.transmission")
"""


def load(folder, *arguments):
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "LD_LIBRARY_PATH")}
    return subprocess.run([sys.executable, "-c", LOAD, PLUGIN, *map(str, arguments)], cwd=folder, env=environment,
                          capture_output=True, text=True)


class Engines(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def said(self):
        log = self.folder / "MUJOCO_LOG.TXT"
        return log.read_text() if log.exists() else ""

    def test_one(self):
        done = load(self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("more than one", done.stdout + done.stderr + self.said())

    def test_two(self):
        other = self.folder / ENGINE.name
        shutil.copy(ENGINE, other)
        done = load(self.folder, other)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = done.stdout + done.stderr + self.said()
        self.assertIn("has loaded more than one", text)
        self.assertIn(str(other), text)
        self.assertIn(str(ENGINE), text)

    def test_no_path_to_an_engine(self):
        for line in subprocess.run(["readelf", "-d", PLUGIN], check=True, capture_output=True, text=True).stdout.splitlines():
            if "RUNPATH" in line or "RPATH" in line:
                self.assertNotIn(str(ENGINE.parent), line)


if __name__ == "__main__":
    unittest.main()
