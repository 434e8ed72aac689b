"""Everything that README and pages tell people to type works: models, Python, C, commands, links."""

import contextlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

import mujoco
import numpy as np

import mjgear

SOURCE = pathlib.Path(os.environ["MJGEAR_SOURCE_DIR"])
PLUGIN = os.environ["MJGEAR_PLUGIN_PATH"]
BUILD = pathlib.Path(sys.argv.pop(2))
BIN = pathlib.Path(sys.argv.pop(1)).parent
PAGES = [SOURCE / "README.md", SOURCE / "models/README.md", *sorted((SOURCE / "doc").glob("*.md"))]
TEXT = "\n".join(page.read_text() for page in PAGES)


def block(language, page="doc/quick_start.md"):
    """Return the only block of this language on a page, with the plugin of this build."""
    blocks = re.findall(rf"```{language}\n(.*?)```", (SOURCE / page).read_text(), re.DOTALL)
    assert len(blocks) == 1, f"{len(blocks)} blocks of {language}"
    return blocks[0].replace("build/lib/libmjgear.so", PLUGIN)


def typed(first, last):
    """Return the indented lines from the line that begins with first to the line that begins with last."""
    lines = [line[4:] for line in TEXT.splitlines() if line.startswith("    ")]
    start = next(i for i, line in enumerate(lines) if line.startswith(first))
    end = next(i for i, line in enumerate(lines) if i > start and line.startswith(last))
    return "\n".join(lines[start : end + 1])


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
        environment = dict(
            os.environ, PYTHONPATH=str(SOURCE / "python"), MJGEAR_LIBRARIES=str(pathlib.Path(PLUGIN).parent)
        )
        done = subprocess.run(
            [sys.executable, "-c", block("python", "README.md")],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        )
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

    def test_python_package(self):
        arm = block("xml").replace('name="elbow"', 'name="shoulder"').replace('name="forearm"', 'name="upper"', 1)
        arm = re.sub("<extension>.*</extension>|<actuator>.*</actuator>", "", arm, flags=re.DOTALL)
        link = re.search("<body.*</body>", block("xml"), re.DOTALL)[0]
        pathlib.Path("robot.xml").write_text(
            arm.replace("</body>", link.replace("<body", '<body pos="0.5 0 0"') + "</body>")
        )
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            names = {"mujoco": mujoco, "mjgear": mjgear}
            exec(block("python", "doc/python.md"), names)
        numbers, *table = output.getvalue().splitlines()
        friction, mode, power = numbers.split()
        self.assertIn("elbow", "".join(table))
        self.assertNotEqual(float(friction), 0)
        self.assertIn(mode, ("backward", "stuck", "forward"))
        self.assertEqual(float(power) > 0, mode != "stuck")

        # continued pieces are marked py; the one of the figures runs with the names above
        figures = [
            piece
            for piece in re.findall(r"```py\n(.*?)```", (SOURCE / "doc/python.md").read_text(), re.DOTALL)
            if 'kind="law"' in piece
        ]
        exec(figures[0], names)
        self.assertGreater(pathlib.Path("law.png").stat().st_size, 10000)

    def test_window(self):
        """The lines for MuJoCo's own viewer, without a display: the jack's state at each step."""
        import mujoco.viewer

        told, running = [], iter([True, True, False])
        viewer = contextlib.nullcontext(
            types.SimpleNamespace(is_running=lambda: next(running), set_texts=told.append, sync=lambda: None)
        )
        piece = re.findall(r"```python\n(.*?)```", (SOURCE / "doc/window.md").read_text(), re.DOTALL)[0]
        with unittest.mock.patch.object(mujoco.viewer, "launch_passive", lambda model, data: viewer):
            exec(piece.replace("models/", f"{SOURCE}/models/"), {})
        self.assertEqual([(names, states[:8]) for _, _, names, states in told], [("nut", "locked, ")] * 2)

    def test_tutorials(self):
        """Every block of a tutorial runs behind those above it, assertions included."""
        pages = sorted((SOURCE / "doc").glob("tutorial_*.md"))
        self.assertGreaterEqual(len(pages), 2)
        for page in pages:
            with self.subTest(page.name), contextlib.redirect_stdout(io.StringIO()):
                names = {}
                for piece in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL):
                    exec(piece, names)

    @unittest.skipIf("LD_PRELOAD" in os.environ or not shutil.which("cc"), "no C compiler, or a sanitized build")
    def test_c(self):
        pathlib.Path("forearm.c").write_text(block("c"))
        lines = typed("MUJOCO=", "./forearm").replace("build/venv/bin/python", sys.executable)
        done = subprocess.run(["bash", "-ec", lines], capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), ("0 0\n", ""))

    @unittest.skipIf("LD_PRELOAD" in os.environ or not shutil.which("cc"), "no C compiler, or a sanitized build")
    def test_core(self):
        lines = typed("cmake --install", "cc examples/core").replace("build/release", str(BUILD))
        done = subprocess.run(
            ["bash", "-ec", lines.replace("examples/", f"{SOURCE}/examples/") + "\n./first_gear"],
            env=dict(os.environ, HOME=os.getcwd()),
            capture_output=True,
            text=True,
        )
        self.assertIn("forward efficiency 0.447", done.stdout, done.stderr)

    def test_sensor(self):
        sensor = re.findall(r"```\n(<sensor>.*?)```", TEXT, re.DOTALL)
        model = mujoco.MjModel.from_xml_string(block("xml").replace("</mujoco>", sensor[0] + "</mujoco>"))
        data = mujoco.MjData(model)
        mujoco.mj_step(model, data)
        numbers = data.sensor("elbow_gear").data
        self.assertEqual(numbers.shape, (14,))

        # stuck, the motor is off: friction carries the weight alone
        self.assertEqual(numbers[4], 0)
        self.assertAlmostEqual(numbers[0], -numbers[3], delta=1e-12)
        self.assertAlmostEqual(numbers[3], 2 * 9.81 * 0.25, delta=1e-12)

    def test_commands(self):
        commands = re.findall(r"^    (mjgear(?:-run|-view)? .*?)(?: +#.*)?$", TEXT, re.MULTILINE)
        self.assertGreater(len(commands), 10)
        environment = dict(os.environ, MJGEAR_PLUGIN=PLUGIN)
        environment.pop("LD_PRELOAD", None)
        for command in commands:
            program, *arguments = command.split()

            # a window needs a display; all scenes, pictures and identification have tests of their own
            if (
                program not in ("mjgear", "mjgear-run")
                or "--all" in arguments
                or arguments[0] in ("identify", "protocol")
            ):
                continue
            with self.subTest(command):
                arguments = [one.replace("robot.xml", "forearm.xml") for one in arguments]
                arguments = [re.sub("^(scenes|models)/", rf"{SOURCE}/\1/", one) for one in arguments]
                done = subprocess.run(
                    [BIN / program, *arguments], env=environment, capture_output=True, text=True, timeout=300
                )
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_citation_has_the_version(self):
        version = re.search(r"project\(mjgear VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]
        self.assertEqual(re.findall(r"^version: (.*)$", (SOURCE / "CITATION.cff").read_text(), re.MULTILINE), [version])

    def test_links(self):
        for page in PAGES:
            for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
                self.assertTrue((page.parent / target).exists(), f"{page.name}: {target}")


if __name__ == "__main__":
    mujoco.mj_loadPluginLibrary(PLUGIN)
    unittest.main()
