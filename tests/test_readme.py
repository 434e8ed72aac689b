"""What the README and its pages tell people to type works: models, Python, C, commands, links."""

import contextlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import mujoco
import numpy as np

SOURCE = pathlib.Path(os.environ["MJGEAR_SOURCE_DIR"])
PLUGIN = os.environ["MJGEAR_PLUGIN_PATH"]
BIN = pathlib.Path(sys.argv.pop(1)).parent
PAGES = [SOURCE / "README.md", SOURCE / "models/README.md", *sorted((SOURCE / "doc").glob("*.md"))]
TEXT = "\n".join(page.read_text() for page in PAGES)


def block(language, page="doc/quick_start.md"):
    """The only block of that language on a page, with the plugin of this build."""
    blocks = re.findall(rf"```{language}\n(.*?)```", (SOURCE / page).read_text(), re.DOTALL)
    assert len(blocks) == 1, f"{len(blocks)} blocks of {language}"
    return blocks[0].replace("build/lib/libmjgear.so", PLUGIN)


class Readme(unittest.TestCase):
    def setUp(self):
        self.home = os.getcwd()
        self.temporary = tempfile.TemporaryDirectory()
        os.chdir(self.temporary.name)
        pathlib.Path("forearm.xml").write_text(block("xml"))

    def tearDown(self):
        os.chdir(self.home)
        self.temporary.cleanup()

    def test_python(self):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(block("python"), {})
        lines = output.getvalue().splitlines()
        self.assertEqual(lines[:2], ["0 [0.] [0.]", "8.1 [0.] [0.]"])
        moved = re.fullmatch(r"8.25 \[(.*)\] \[(.*)\]", lines[2])
        self.assertGreater(float(moved[1]), 0.1)

    @unittest.skipIf("LD_PRELOAD" in os.environ, "a sanitized build")
    def test_ten_lines(self):
        environment = dict(os.environ, PYTHONPATH=str(SOURCE / "python"), MJGEAR_LIBRARIES=str(pathlib.Path(PLUGIN).parent))
        done = subprocess.run([sys.executable, "-c", block("python", "README.md")], env=environment, check=True,
                              capture_output=True, text=True)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[:2], ["0 [0.] [0.]", "8.1 [0.] [0.]"])
        self.assertGreater(float(re.fullmatch(r"8.25 \[(.*)\] \[(.*)\]", lines[2])[1]), 0.1)

    def test_torques_that_move_the_arm(self):
        model = mujoco.MjModel.from_xml_path("forearm.xml")
        data = mujoco.MjData(model)
        for torque, sign in ((8.17, 0), (8.18, 1), (-0.98, 0), (-0.982, -1)):
            mujoco.mj_resetData(model, data)
            data.ctrl = torque
            mujoco.mj_step(model, data, 100)
            self.assertEqual(np.sign(data.qvel[0]), sign, torque)

    @unittest.skipUnless(shutil.which("cc"), "no C compiler")
    def test_c(self):
        folder = pathlib.Path(mujoco.__file__).parent
        library = next(folder.glob("libmujoco.so.*"), None)
        if library is None or "LD_PRELOAD" in os.environ:
            self.skipTest("no library to link with, or a sanitized build")
        pathlib.Path("main.c").write_text(block("c"))
        subprocess.run(["cc", "-I", folder / "include", "main.c", library,
                        f"-Wl,-rpath,{folder}", "-o", "main"], check=True)
        done = subprocess.run(["./main"], check=True, capture_output=True, text=True)
        self.assertEqual(done.stdout, "0 0\n")

    def test_sensor(self):
        sensor = re.findall(r"```\n(<sensor>.*?)```", TEXT, re.DOTALL)
        model = mujoco.MjModel.from_xml_string(block("xml").replace(
            "</mujoco>", sensor[0] + "</mujoco>"))
        data = mujoco.MjData(model)
        mujoco.mj_step(model, data)
        numbers = data.sensor("elbow_gear").data
        self.assertEqual(numbers.shape, (13,))

        # stuck, the motor is off: friction carries the weight alone
        self.assertEqual(numbers[4], 0)
        self.assertAlmostEqual(numbers[0], -numbers[3], delta=1e-12)
        self.assertAlmostEqual(numbers[3], 2 * 9.81 * 0.25, delta=1e-12)

    def test_commands(self):
        commands = re.findall(r"^    build/bin/(.*?)(?:  +#.*)?$", TEXT, re.MULTILINE)
        self.assertGreater(len(commands), 10)
        environment = dict(os.environ, MJGEAR_PLUGIN=PLUGIN)
        environment.pop("LD_PRELOAD", None)
        for command in commands:
            program, *arguments = command.split()

            # a window needs a display; all scenes, pictures and benchmarks have tests of their own
            if program not in ("mjgear", "mjgear-run") or "--all" in arguments:
                continue
            with self.subTest(command):
                arguments = [re.sub("^(scenes|models)/", rf"{SOURCE}/\1/", one) for one in arguments]
                done = subprocess.run([BIN / program, *arguments], env=environment,
                                      capture_output=True, text=True, timeout=300)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_links(self):
        for page in PAGES:
            for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
                self.assertTrue((page.parent / target).exists(), f"{page.name}: {target}")


if __name__ == "__main__":
    mujoco.mj_loadPluginLibrary(PLUGIN)
    unittest.main()
