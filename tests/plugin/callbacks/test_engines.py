"""A second MuJoCo in the process is named, and a plugin for another release is not loaded beside the right one."""

import os
import pathlib
import re
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
    return subprocess.run(
        [sys.executable, "-c", LOAD, PLUGIN, *map(str, arguments)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )


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

    def fake(self, release):
        """The engine as if it was of another release: the number and the text that it tells, and the name in its file."""
        number = int("{:d}{:03d}{:03d}".format(*map(int, release.split("."))))
        content = ENGINE.read_bytes()
        tells = b"\xb8" + mujoco.mj_version().to_bytes(4, "little") + b"\xc3"  # mov number, %eax; ret
        if content.count(tells) != 1:
            self.skipTest("this engine is not compiled as expected")
        content = content.replace(tells, b"\xb8" + number.to_bytes(4, "little") + b"\xc3")
        text = mujoco.mj_versionString().encode() + b"\0"
        if len(release) + 1 == len(text):
            content = content.replace(text, release.encode() + b"\0")
        file = self.folder / f"libmujoco.so.{release}"
        file.write_bytes(content)
        return file

    def load_beside(self, engine, plugin):
        """A process that has this engine only, and loads a plugin."""
        code = """
import ctypes, sys
engine = ctypes.CDLL(sys.argv[1])
engine.mj_loadPluginLibrary(sys.argv[2].encode())
engine.mjp_getPlugin.restype = ctypes.c_void_p
print("registered" if engine.mjp_getPlugin(b"mjgear.transmission", None) else "not registered")
"""
        return subprocess.run(
            [sys.executable, "-c", code, str(engine), str(plugin)],
            cwd=self.folder,
            capture_output=True,
            text=True,
            env={name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"},
        )

    def test_patch_release(self):
        """The library of one patch release is taken for another that has its layouts, and for no other release."""
        built, libraries = mujoco.mj_versionString(), self.folder / "lib"
        patch = f"{built[:-1]}{(int(built[-1]) + 1) % 10}"
        libraries.mkdir()
        shutil.copy(PLUGIN, libraries / f"libmjgear-{built}.so")
        for core in pathlib.Path(PLUGIN).parent.glob("libmjgear_core.so*"):
            shutil.copy(core, libraries / core.name)
        code = f"""
import shutil, mujoco
import mjgear._library as library
mujoco.mj_versionString = lambda: {patch!r}
shutil.copy(library.path(), {str(self.folder / "taken.so")!r})
"""
        environment = os.environ | {"MJGEAR_LIBRARIES": str(libraries)}
        subprocess.run([sys.executable, "-c", code], check=True, env=environment)
        done = self.load_beside(self.fake(patch), self.folder / "taken.so")
        self.assertEqual((done.returncode, done.stdout.split("\n")[0]), (0, "registered"), done.stderr + self.said())
        self.assertEqual(self.said(), "")

        # another release gets our message, whether its file has the name of the right one or its own
        for name in (ENGINE.name, "libmujoco.so.3.17.0"):
            done = self.load_beside(self.fake("3.17.0").rename(self.folder / name), PLUGIN)
            self.assertEqual((done.returncode, done.stdout.split("\n")[0]), (0, "not registered"), done.stderr)
            text = done.stdout + done.stderr + self.said()
            self.assertIn(f"mjgear.transmission was built for MuJoCo {built}, but this is MuJoCo", text)
            self.assertIn("Build the plugin with the headers of this MuJoCo, or load it with the other one", text)
            (self.folder / "MUJOCO_LOG.TXT").unlink()

        # the package has a line for it before anything is loaded
        code = "import mujoco, mjgear._library as l; mujoco.mj_versionString = lambda: '3.17.0'; l.path()"
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
        self.assertIn(f"this mjgear was built for MuJoCo {built}, but MuJoCo 3.17.0 is running", done.stderr)

    def test_two_copies(self):
        """A second copy of the library is refused with words that say how it came."""
        shutil.copy(PLUGIN, self.folder / "copy.so")
        code = "import sys, mujoco; [mujoco.mj_loadPluginLibrary(file) for file in sys.argv[1:]]"
        done = subprocess.run(
            [sys.executable, "-c", code, PLUGIN, PLUGIN, str(self.folder / "copy.so")], capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("mjgear.transmission is registered already, by another copy of this library", done.stderr)

    def test_no_engine(self):
        """Loaded by a program without MuJoCo, it prints the remedy and does nothing else."""
        done = subprocess.run(
            [sys.executable, "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1])", PLUGIN],
            capture_output=True,
            text=True,
        )
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertRegex(
            done.stderr, r"^mjgear.transmission: there is no MuJoCo in this process, .*mj_loadPluginLibrary\n$"
        )

    def test_needs_no_engine(self):
        """Each function of the engine is forwarded (forward.c): the loader resolves no names."""
        said = subprocess.run(
            ["readelf", "--wide", "--dynamic", "--dyn-syms", PLUGIN], check=True, capture_output=True, text=True
        ).stdout
        self.assertNotIn("libmujoco", said)
        missing = re.findall(r"UND (mj\w+)", said)
        self.assertEqual(missing, [], "add these to the list in plugin/callbacks/forward.c")

    def test_no_path_to_an_engine(self):
        for line in subprocess.run(
            ["readelf", "-d", PLUGIN], check=True, capture_output=True, text=True
        ).stdout.splitlines():
            if "RUNPATH" in line or "RPATH" in line:
                self.assertNotIn(str(ENGINE.parent), line)


if __name__ == "__main__":
    unittest.main()
