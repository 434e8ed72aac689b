"""Every example runs as its first lines say, and its claims are true."""

import contextlib
import importlib.util
import io
import os
import pathlib
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
import warnings
from unittest import mock

import mujoco

import mjgear

SOURCE = pathlib.Path(os.environ["MJGEAR_SOURCE_DIR"])
PLUGIN = pathlib.Path(os.environ["MJGEAR_PLUGIN_PATH"])
EXAMPLES = SOURCE / "examples"
MUJOCO = pathlib.Path(mujoco.__file__).parent

LONG = bool(os.environ.get("MJGEAR_LONG"))
WEIGHT = 2 * 9.81 * 0.25  # torque of the forearm's weight


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def python(name):
    """What an example prints, in this process, which has loaded MuJoCo already; warnings are errors."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()) as out:
        warnings.simplefilter("error")
        with mock.patch.object(sys, "argv", [name]):
            runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    return out.getvalue()


def numbers(pattern, text):
    found = [
        tuple(map(float, groups)) if isinstance(groups, tuple) else float(groups)
        for groups in re.findall(pattern, text)
    ]
    assert found, f"{pattern} in {text}"
    return found


class Examples(unittest.TestCase):
    def test_all_are_tested_and_listed(self):
        table = (EXAMPLES / "README.md").read_text()
        for file in [*EXAMPLES.glob("*.py"), *EXAMPLES.glob("*/*.c"), *EXAMPLES.glob("*/*.cc")]:
            self.assertIn(f"]({file.relative_to(EXAMPLES)})", table)
            own = (
                "ray_sweep.py",
                "mjlab_cartpole.py",
                "newton_arm.py",
                "newton_quadruped.py",
                "newton_drive.py",
                "identify_arm.py",
                "sysid_gears.py",
                "train_hopper.py",
            )  # have tests of their own
            if file.suffix == ".py" and file.name not in own:
                self.assertTrue(hasattr(self, f"test_{file.stem}"), file)

    @unittest.skipUnless(importlib.util.find_spec("mujoco.studio"), "MuJoCo before 4.0 has no Studio")
    def test_studio(self):
        """Its two sides without a window: numbers after a step, a slider, and a model without gears."""
        sys.path.insert(0, str(EXAMPLES))
        import studio
        from mujoco.studio import messages

        model = mujoco.MjModel.from_xml_path(str(SOURCE / "models/jack/jack.xml"))
        data, sent, sim = mujoco.MjData(model), [], studio.GearSim()
        sim.handle = types.SimpleNamespace(send_to_viewer=sent.append)
        sim._on_model(messages.PostModelEvent(model=model, data=data))
        mujoco.mj_step(model, data)
        sim._on_step(messages.PostStepEvent(model=model, data=data))
        ((name, line, sliders),) = sent[-1].gears
        force = mjgear.Gears(model, data)["nut"].friction
        self.assertEqual((name, line.split(";")[0], f"{force:.3g}" in line, line[-2:]), ("nut", "locked", True, " N"))
        self.assertEqual([key for key, _ in sliders], ["eta_forward"])

        backward = mjgear.Gears(model, data)["nut"].eta_backward
        sim._on_change(studio.ChangeGear("nut", "eta_forward", 0.2))
        sim._on_change(studio.ChangeGear("another", "eta_forward", 0.3))
        gear = mjgear.Gears(model, data)["nut"]
        self.assertAlmostEqual(gear.eta_forward, 0.2, delta=1e-12)
        self.assertAlmostEqual(gear.eta_backward, backward, delta=1e-12)

        plain = mujoco.MjModel.from_xml_string("<mujoco/>")
        sim._on_model(messages.PostModelEvent(model=plain, data=mujoco.MjData(plain)))
        sim._on_step(messages.PostStepEvent(model=plain, data=mujoco.MjData(plain)))
        self.assertEqual(sent[-1].gears, ())

    def check_first(self, text):
        """Held with 0 and 8.1 N m; 8.25 N m exceed 4.905/0.6 = 8.175 N m and lift."""
        angles = numbers(r"angle (\S+) rad", text)
        self.assertEqual(angles[:2], [0, 0])
        self.assertGreater(angles[2], 0.1)
        friction = numbers(r"friction (\S+) N m", text)
        self.assertAlmostEqual(friction[0], -WEIGHT, delta=1e-3)
        self.assertAlmostEqual(friction[1], 8.1 - WEIGHT, delta=1e-3)

    def test_first_gear(self):
        self.check_first(run(sys.executable, "-W", "error", EXAMPLES / "first_gear.py"))

    def test_differential_wrist(self):
        """Each motor carries half of the weight's torque W: both lift at W/(2 eta_f), and one alone turns both joints alike."""
        text = python("differential_wrist")
        pitch, roll = zip(*numbers(r"pitch (\S+), roll (\S+) rad", text))
        moves = [line.count("moves") for line in text.splitlines()]
        half = 9.81 * (0.5 * 0.05 + 1 * 0.15) / 2
        self.assertLess(1.7, half / 0.5)
        self.assertGreater(1.75, half / 0.5)
        self.assertEqual(moves, [0, 0, 2, 1])
        self.assertEqual((pitch[:2], roll[:3]), ((0, 0), (0, 0, 0)))
        self.assertGreater(pitch[2], 0.02)
        self.assertEqual(pitch[3], roll[3])
        self.assertGreater(roll[3], 0.02)

    @unittest.skipUnless(shutil.which("cc"), "no C compiler")
    def test_first_gear_in_c(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "first_gear"
            library = next(MUJOCO.glob("libmujoco.so.*"))
            run(
                "cc",
                EXAMPLES / "c" / "first_gear.c",
                f"-I{MUJOCO}/include",
                library,
                f"-Wl,-rpath,{MUJOCO}",
                "-o",
                program,
            )
            self.check_first(run(program, PLUGIN, EXAMPLES / "forearm.xml"))

    @unittest.skipUnless(shutil.which("c++"), "no C++ compiler")
    def test_first_gear_in_cpp(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "first_gear"
            library = next(MUJOCO.glob("libmujoco.so.*"))
            run(
                "c++",
                "-std=c++17",
                EXAMPLES / "cpp" / "first_gear.cc",
                f"-I{MUJOCO}/include",
                f"-I{SOURCE}/plugin",
                f"-I{SOURCE}/core",
                library,
                f"-Wl,-rpath,{MUJOCO}",
                PLUGIN,
                f"-Wl,-rpath,{PLUGIN.parent}",
                "-o",
                program,
            )
            angles = numbers(r"angle (\S+) rad", run(program, EXAMPLES / "forearm.xml"))
            self.assertEqual(angles[0], 0)
            self.assertGreater(angles[1], 0)

    def test_your_robot(self):
        text = python("your_robot")
        self.assertIn("distal: joint=joint4 joint5 joint6, type=worm", text)
        raised = numbers(r"a load of (\S+) N m with (\S+) N m; no load", text)
        for load, motor in raised:  # a worm of efficiency 0.447
            self.assertAlmostEqual(motor, load / 0.447, delta=0.02 + 2e-3 * abs(motor))
        moved = numbers(r"joint[456]: moved by (\S+) rad", text)
        self.assertEqual(moved, [0, 0, 0])

    def test_two_arms(self):
        text = python("two_arms")
        for difference in numbers(r"as the one alone to (\S+) rad", text):
            self.assertLessEqual(difference, 1e-12)
        self.assertIn("geared: left_shoulder, left_elbow, right_shoulder, right_elbow", text)

    def test_randomized(self):
        text = python("randomized")
        right, clear = numbers(r"(\d+) of (\d+) that are clear", text)[0]
        self.assertEqual(right, clear)
        self.assertGreater(clear, 900)

    def test_environment(self):
        text = python("environment")
        self.assertIn("check_env passes", text)
        efficiencies = numbers(r"efficiency (\S+):", text)
        self.assertEqual(len(set(efficiencies)), 10)
        self.assertTrue(all(0.5 <= eta <= 0.8 for eta in efficiencies))

    def test_linearize(self):
        text = python("linearize")
        self.assertIn("stuck: 1 N m more changes the velocity of the next step by 0.00e+00 rad/s", text)
        poles = [float(pole) for pole in re.search("poles: (.*)", text)[1].split(", ")]
        self.assertTrue(all(pole < 1 for pole in poles))
        error = numbers(r"after 3 s: (\S+) mrad", text)[0]
        self.assertLess(abs(error), 10)

    def test_lqr_shaft(self):
        """The band in which friction holds the arm is (1/eta_f - eta_b) of its weight's torque, over the gain: a few mrad."""
        converged, lost = numbers(r"off by (\S+) mrad", python("lqr_shaft"))
        self.assertLess(converged, 10)
        self.assertGreater(lost, 100)

    def test_ilqr_arm(self):
        """With rotors in the state the cost falls to a seventh and the block arrives; without them no step lowers it."""
        (first, last, error), (same, stuck, off) = numbers(
            r"cost (\S+) -> (\S+) in .* (\S+) mm from its goal", python("ilqr_arm")
        )
        self.assertEqual(first, same)
        self.assertLess(last, first / 6)
        self.assertLess(abs(error), 5)
        self.assertGreater(stuck, first / 2)
        self.assertGreater(abs(off), 30)

    def test_policy(self):
        """A policy that knows the gears does better on them than one that does not: after 150 generations, with MJGEAR_LONG=1. After 2 the
        program has printed its three costs."""
        words = ["--seeds", "1", "--generations", "150" if LONG else "2"]
        short = f"import sys; sys.argv[1:] = {words}; import policy; policy.main()"
        text = run(sys.executable, "-W", "error", "-c", f"import sys; sys.path.insert(0, {str(EXAMPLES)!r}); {short}")
        costs = numbers(r"\| ([0-9.]+), [0-9.]+, [0-9.]+ (?=\|)", re.search(r"\| mean .*", text)[0])
        self.assertEqual(len(costs), 3)
        if LONG:
            self.assertLess(costs[0], costs[2])  # without gears it is easier
            self.assertLess(costs[2], 0.85 * costs[1])

    def test_scene(self):
        """The jack lifts the load to its goal of 20 mm but for the servo's error, and holds it."""
        text = python("scene")
        (rise,), (speed,) = numbers(r"by (\S+) mm", text), numbers(r"speed (\S+) rad", text)
        self.assertTrue(15 < rise < 20 and speed == 0, text)

    def test_branch(self):
        angles = numbers(r"angle (\S+) rad, efficiency 0.65", python("branch"))
        self.assertEqual(len(angles), 3)
        self.assertEqual(angles, sorted(angles, reverse=True))

    def test_change(self):
        text = python("change")
        angles = numbers(r"angle (\S+) rad", text)
        efficiencies = numbers(r"backward efficiency (\S+),", text)
        for angle, efficiency in zip(angles, efficiencies):
            self.assertEqual(angle == 0, efficiency <= 0)
        self.assertIn("it sinks", text)
        self.assertRegex(text, "eta_backward = 3 .*write")


if __name__ == "__main__":
    if "LD_PRELOAD" in os.environ:
        sys.exit(77)  # a sanitized library: the examples are about an installed one
    unittest.main()
