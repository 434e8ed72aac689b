"""The window of mjgear-view on a virtual display: keys, mouse and panels act. Its pictures stay in view/."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import unittest

import numpy as np
import programs
from PIL import Image
from programs import SOURCE

VIEW = sys.argv.pop(1)
FOLDER = pathlib.Path("view").absolute()
SIZE = (1200, 760)
SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "") and not os.environ.get("MJGEAR_LONG")
others_hold = unittest.skipIf(SANITIZED, "other tests call the same functions")

# positions in a window of that size: values of the panels' items
SCENE_CHOICE = (187, 51)
BESIDE = (187, 111)
KEY_CHOICE = (187, 299)
GAMMA_V = (457, 1064, 1171, 0, 1.5)  # row, then columns and values of both ends
ETA_FORWARD = (487, 1064, 1171, 0.05, 1)
HALF_GAP = (547, 1064, 1171, 0, 0.1)  # keys of a joint with backlash
SOLVER = (1117, 547)
MU = (547, 1064, 1171, 0, 0.5)  # of a worm
LINE = 26  # one of a list of alternatives


GEAR = """<mujocoinclude><extension><plugin plugin="mjgear.transmission"><instance name="a">
  <config key="joint" value="j"/><config key="gamma_u" value="0.1"/><config key="gamma_v" value="0.3"/>
  <config key="backlash" value="exact"/><config key="half_gap" value="0.01"/>
  <config key="stiffness" value="2000"/><config key="damping" value="20"/>
  <config key="rotor_inertia" value="0.1"/></instance></plugin></extension></mujocoinclude>"""
PRESSED = """<mujoco><include file="gear.xml"/><worldbody><body><joint name="j" axis="0 1 0" stiffness="1000"
  damping="20"/><geom type="capsule" size=".1" fromto="0 0 0 .5 0 0" mass="1"/></body></worldbody>
  <actuator><general joint="j" biastype="affine" biasprm="5 0 0"/></actuator></mujoco>"""


for tool in ("Xvfb", "xdotool"):
    if not shutil.which(tool):
        print(f"skipped: no {tool}; install {tool.lower()}")
        sys.exit(77)
shutil.rmtree(FOLDER, ignore_errors=True)
FOLDER.mkdir()


class Window:
    """A running mjgear-view."""

    def __init__(self, environment, *arguments, size=SIZE):
        self.environment = environment
        self.output = open(FOLDER / "output.txt", "w+")
        self.process = subprocess.Popen(
            [VIEW, *arguments, "--size", "%dx%d" % size],
            cwd=FOLDER,
            env=self.environment,
            stdout=self.output,
            stderr=self.output,
        )
        # a window that is not shown yet cannot get the focus
        self.id = self.wait(lambda: self.xdotool("search", "--onlyvisible", "--name", "^mjgear: ", check=False))
        self.wait(lambda: "frames/s" in self.title())
        self.wait(self.has_focus)

    def xdotool(self, *arguments, check=True):
        done = subprocess.run(
            ["xdotool", *arguments], env=self.environment, text=True, capture_output=True, check=check
        )
        return done.stdout.strip()

    def has_focus(self):
        self.xdotool("windowfocus", self.id, check=False)
        return self.xdotool("getwindowfocus", "-f", check=False) == self.id

    def wait(self, condition, seconds=120):
        end = time.time() + seconds
        while True:
            if self.process.poll() is not None:
                raise AssertionError(f"the window ended: {self.text()}")
            value = condition()
            if value:
                return value
            if time.time() > end:
                raise AssertionError(f"it did not happen; title: {self.title()}")
            time.sleep(0.05)

    def title(self):
        return self.xdotool("getwindowname", self.id, check=False)

    def time(self):
        return float(re.search(r"([\d.]+) s \|", self.title())[1])

    def text(self):
        self.output.flush()
        return (FOLDER / "output.txt").read_text()

    def last(self, label):
        """Newest number that the window reported behind a label; None before the first."""
        values = re.findall(re.escape(label) + r"([-\d.e]+)", self.text())
        return float(values[-1]) if values else None

    def arrive(self, label, value, resolution):
        """Waits until a slider has arrived at a value, as near as its pixels allow; the number reported there."""
        self.wait(lambda: abs((self.last(label) or 0) - value) <= resolution)
        return self.last(label)

    def key(self, name):
        """Press and release a key of the display, whose focus the window has.

        With a window's name xdotool would ask for that window before each event. Ctrl+Q closes the window and ends xdotool,
        and Q stays held: it repeats, and the display sends no press of Ctrl+Q to the next window."""
        self.xdotool("key", name)

    def move(self, x, y):
        self.xdotool("mousemove", "--window", self.id, str(round(x)), str(round(y)))

    def press(self, button):
        """Press a button later than a second click of the press before would come."""
        time.sleep(0.3)
        self.xdotool("mousedown", str(button))

    def select(self, x, y, part):
        """Double-click a body until the picture shows the selection: on a busy machine two clicks may be far apart."""
        before = self.picture("to-select.png")[part]
        self.move(x, y)
        end = time.time() + 120
        while (np.abs(self.picture("selected.png")[part] - before) > 5).sum() < 100:
            if time.time() > end:
                raise AssertionError("a double click selects nothing; see to-select.png and selected.png")
            self.xdotool("click", "--repeat", "2", "--delay", "10", "1")
        return before

    def drag(self, slider, start, end):
        """Drag a slider from a value to another."""
        row, left, right, low, high = slider
        x = [left + (right - left) * (value - low) / (high - low) for value in (start, end)]
        self.move(x[0], row)
        self.press(1)
        for k in range(1, 6):
            self.move(x[0] + (x[1] - x[0]) * k / 5, row)
        self.xdotool("mouseup", "1")

    def choose(self, place, number):
        """Hold a list of alternatives open and let go over one of them."""
        self.move(*place)
        self.press(1)
        self.move(place[0], place[1] + LINE * (number + 1))
        self.xdotool("mouseup", "1")

    def picture(self, name):
        """Screenshot of the window, by its own key."""
        written = self.text().count("wrote ")
        self.key("ctrl+p")
        self.wait(lambda: self.text().count("wrote ") > written)
        path = FOLDER / re.findall("wrote (.*)", self.text())[-1]
        path.rename(FOLDER / name)
        return np.asarray(Image.open(FOLDER / name)).astype(int)

    def pause_at(self, seconds):
        self.wait(lambda: self.time() >= seconds)
        self.key("space")
        self.wait(lambda: "paused" in self.title())

    def close(self):
        self.key("ctrl+q")
        return self.process.wait(120)


class Test(unittest.TestCase):
    def setUp(self):
        """An X server of our own."""
        read, write = os.pipe()
        server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-noreset"],
            pass_fds=[write],
            env=programs.ENVIRONMENT,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        os.close(write)
        with os.fdopen(read) as file:
            self.environment = {**programs.ENVIRONMENT, "DISPLAY": ":" + file.readline().strip()}

    def open(self, *arguments, **options):
        window = Window(self.environment, *arguments, **options)
        self.addCleanup(window.process.wait)
        self.addCleanup(window.process.kill)
        self.addCleanup(window.output.close)
        return window

    def test_keys(self):
        w = self.open("rod/gamma_v=1.05", "--paused")
        self.assertIn("paused", w.title())
        self.assertEqual(w.time(), 0)

        for expected in (0.001, 0.002):
            w.key("Right")
            w.wait(lambda: w.time() == expected)
        w.key("space")
        w.wait(lambda: "running" in w.title() and w.time() > 0.3)
        w.key("space")
        w.wait(lambda: "paused" in w.title())
        stopped = w.time()
        time.sleep(0.5)
        self.assertEqual(w.time(), stopped)
        w.key("BackSpace")
        w.wait(lambda: w.time() == 0)

        self.assertEqual(w.close(), 0)

    def test_parameters(self):
        w = self.open("rod/gamma_v=1.05", "--csv", "window.csv", "--window", "--speed", "0.3")
        w.pause_at(1.0)
        if w.time() > 1.39:
            self.skipTest("machine too slow to stop in time")

        # the gear holds the rod on the spring; one that can be driven back does not
        w.drag(GAMMA_V, 1.05, 0.2)
        w.arrive("rod: gamma_v = ", 0.2, 0.03)
        changed = w.time()
        for _ in range(3):
            w.key("Right")
        w.wait(lambda: w.time() > changed + 0.0025)

        # by efficiency, and with another solver
        w.drag(ETA_FORWARD, 0.67, 0.4)
        w.arrive("rod: eta_forward = ", 0.4, 0.03)
        w.choose(SOLVER, 1)
        w.wait(lambda: re.search("solver = (gauss_seidel|projection)", w.text()))
        w.key("Right")
        w.wait(lambda: w.time() > changed + 0.0035)
        self.assertEqual(w.close(), 0)
        rows = programs.numbers(FOLDER / "window.csv")
        before = [row for row in rows if row["time"] < changed + 0.0005]
        after = [row for row in rows if row["time"] > changed + 0.0005]
        self.assertEqual(before[-1]["v_rod"], 0)
        self.assertEqual(before[-1]["mode_rod"], 0)
        self.assertGreater(after[0]["v_rod"], 0)

        # the state is kept: position continues
        self.assertAlmostEqual(after[0]["q_rod"], before[-1]["q_rod"] + 1e-3 * after[0]["v_rod"], delta=1e-12)

    @others_hold
    def test_words(self):
        """A worm that is described by a coefficient has no friction coefficient of flanks any more."""
        w = self.open("arm", "--paused")
        w.drag(MU, 0.08, 0.2)
        mu = w.arrive("yaw: mu = ", 0.2, 0.004)
        w.drag(GAMMA_V, 1.5, 0.5)
        w.arrive("yaw: gamma_v = ", 0.5, 0.03)
        w.drag(MU, 0, 0.3)
        self.assertEqual(w.last("yaw: mu = "), mu)
        self.assertEqual(w.close(), 0)

    @others_hold
    def test_gap(self):
        """A gear from an included file: its motor presses against one side of the gap, which is moved."""
        (FOLDER / "gear.xml").write_text(GEAR)
        (FOLDER / "pressed.xml").write_text(PRESSED)
        w = self.open("pressed.xml", "--csv", "pressed.csv", "--window")
        w.wait(lambda: w.time() >= 1)
        w.drag(HALF_GAP, 0.01, 0.06)
        changed = w.time()
        half_gap = w.arrive("j: half_gap = ", 0.06, 0.0008)
        w.wait(lambda: w.time() > changed + 1.5)

        # a reset and a reload have the file's
        for key in ("BackSpace", "ctrl+l"):
            w.key(key)
            w.wait(lambda: w.time() < 1)
            w.wait(lambda: w.time() > 1.5)
        self.assertEqual(w.close(), 0)
        rows = programs.numbers(FOLDER / "pressed.csv")
        starts = [0, *(k for k in range(1, len(rows)) if rows[k]["time"] < rows[k - 1]["time"]), len(rows)]
        ends = [rows[k - 1]["gap_j"] for k in starts[1:]]
        for end, expected in zip(ends, (half_gap, 0.01, 0.01), strict=True):
            self.assertAlmostEqual(end, expected, delta=1e-5)
        before = max(row["time"] for row in rows[: starts[1]] if row["gap_j"] < 0.0101 and row["time"] < changed)
        self.assertGreater(before, 0.9)

    def test_scenes(self):
        """Other scenes and cases beside each other are chosen, and stay when the file is loaded again."""
        w = self.open("rod", "--paused")
        w.choose(SCENE_CHOICE, 1)
        w.wait(lambda: "mjgear: rod-constant" in w.title())
        w.key("ctrl+l")
        w.wait(lambda: "mjgear: rod-constant" in w.title())
        w.choose(BESIDE, 1)
        w.key("space")
        w.wait(lambda: w.time() > 0.2)
        self.assertEqual(w.picture("beside.png").shape, (SIZE[1], SIZE[0], 3))
        self.assertEqual(w.close(), 0)

    @others_hold
    def test_keyframes(self):
        """The title names the first keyframe, and another can be chosen."""
        w = self.open(SOURCE / "models/rover/rover.xml", "--key", "driving", "--paused", "--no-plots")
        self.assertIn("mjgear: rover.xml, key driving |", w.title())
        w.choose(KEY_CHOICE, 3)
        w.wait(lambda: "mjgear: rover.xml, key on_the_ramp |" in w.title())
        w.key("ctrl+l")
        w.wait(lambda: "mjgear: rover.xml, key on_the_ramp |" in w.title())
        self.assertEqual(w.close(), 0)

    def test_mouse(self):
        w = self.open("rod/gamma_v=0.2", "--csv", "pull.csv", "--window", "--no-plots", "--paused", "--speed", "0.2")

        # the camera turns with the mouse
        w.key("Escape")
        before = w.picture("camera-before.png")
        w.move(600, 500)
        w.xdotool("mousedown", "1")
        w.move(660, 500)
        w.move(700, 540)
        w.xdotool("mouseup", "1")
        turned = w.picture("camera-turned.png")
        self.assertGreater(np.abs(turned - before)[:, 280:900].mean(), 0.5)
        w.key("ctrl+a")
        w.key("bracketright")

        # a double click selects the rod, Ctrl and the right button pull it
        picture = w.picture("to-find.png")
        blue = (picture[..., 2] > 150) & (picture[..., 2] > picture[..., 0] + 60)
        rows, columns = np.nonzero(blue[100:650, 350:900])
        x, y = 350 + np.percentile(columns, 80), 100 + rows[columns > np.percentile(columns, 78)].mean()
        w.select(x, y, np.s_[100:650, 350:900])
        w.key("space")
        w.wait(lambda: "running" in w.title())
        w.xdotool("keydown", "ctrl")
        w.move(x, y)
        w.press(3)
        for k in range(8):
            w.move(x, y - 20 * k)
        w.picture("pulled.png")
        pulled = w.time()
        w.wait(lambda: w.time() > pulled + 0.1)
        w.xdotool("mouseup", "3")
        w.xdotool("keyup", "ctrl")
        self.assertEqual(w.close(), 0)
        rows = programs.numbers(FOLDER / "pull.csv")
        pulled = [row["v_rod"] for row in rows]

        # without the pull the motor drives it down at once
        programs.run(VIEW, "rod/gamma_v=0.2", "--csv", "free.csv", "--duration", rows[-1]["time"], cwd=FOLDER)
        free = [row["v_rod"] for row in programs.numbers(FOLDER / "free.csv")]
        n = min(len(pulled), len(free))
        self.assertGreater(n, 20)
        self.assertGreater(max(abs(a - b) for a, b in zip(pulled, free)), 1e-3)

    @others_hold
    def test_modifiers_of_the_event(self):
        """A key is read with the modifiers of the same event.

        Events that another program sends have no time, and GLFW drops a press that is not later than the last press of
        the key. The Control of a sent Ctrl+Q is dropped behind a real one; Q alone is then left of it."""
        w = self.open("rod/gamma_v=0.2", "--paused")
        w.xdotool(
            "windowfocus", "1"
        )  # to the window under the pointer: xdotool sends events to a window without the focus
        w.move(600, 400)
        w.xdotool("keydown", "ctrl")
        w.xdotool("keyup", "ctrl")
        w.xdotool("key", "--window", w.id, "ctrl+q", check=False)  # the window may be gone before the release
        self.assertEqual(w.process.wait(120), 0)

    @unittest.skipUnless(
        os.environ.get("MJGEAR_LONG"), "takes a minute of every machine; ./check --long sets MJGEAR_LONG"
    )
    @unittest.skipIf("LD_PRELOAD" in os.environ, "the sanitizer keeps what is freed")
    def test_memory(self):
        """Drawing and stepping take no more memory with time.

        The software renderer fills its caches, ever more slowly, for the first half of the time. In the other half
        of some 1800 frames 1 kB lost in each would be 1.8 MiB."""
        w = self.open("rod", "--no-panels", size=(320, 240))

        def resident():
            time.sleep(30)
            pages = int(pathlib.Path(f"/proc/{w.process.pid}/statm").read_text().split()[1])
            return pages * os.sysconf("SC_PAGESIZE") / 2**20

        self.assertLess(-resident() + resident(), 1.5)


if __name__ == "__main__":
    unittest.main(verbosity=2)
