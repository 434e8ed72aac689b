"""Objects of the package: results are read only, comparison and pickling work, words are enumerations."""

import copy
import importlib.util
import json
import operator
import pathlib
import pickle
import pydoc
import re
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
import warnings

import mujoco
import numpy as np
from mujoco.batch import Batch

import mjgear
from geared_arm import ARM
from mjgear import _catalogue, _keys, _library, _programs

SOURCE = pathlib.Path(__file__).parents[2]


def geared(sensors=False, **values):
    spec = mujoco.MjSpec.from_string(ARM % "")
    added = mjgear.add(spec, ["shoulder", "elbow"], sensors=sensors, **values)
    model = spec.compile()
    return model, mujoco.MjData(model), added


class Efficiencies(unittest.TestCase):
    def test_one_that_moves_the_other_past_locking_warns(self):
        model, data, _ = geared(eta_forward=0.8)
        gear = mjgear.Gears(model, data)["elbow"]
        with self.assertWarnsRegex(
            mjgear.GearWarning,
            r"'elbow': eta_backward is not given .* from 0\.75 to -0\.5, so that the gear is self-locking",
        ):
            gear.eta_forward = 0.4
        with self.assertWarnsRegex(mjgear.GearWarning, "can be driven back"):
            gear["eta_forward"] = 0.8
        batch = mjgear.Gears(model, Batch(model, 3, nthread=1))["elbow"]
        with self.assertWarnsRegex(mjgear.GearWarning, "self-locking") as caught:
            batch.eta_forward = [0.8, 0.4, 0.7]
        self.assertEqual(caught.filename, __file__)

    def test_given_ones_stay(self):
        model, data, _ = geared(eta_forward=0.8, eta_backward=0.7)
        gear = mjgear.Gears(model, data)["elbow"]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            gear.eta_forward = 0.4
            self.assertAlmostEqual(gear.eta_backward, 0.7, delta=1e-15)
            gear.eta_backward = 0.6
            self.assertAlmostEqual(gear.eta_forward, 0.4, delta=1e-15)
            gear.set(eta_forward=0.3, eta_backward=-0.1)


class ReadOnly(unittest.TestCase):
    def test_catalogue(self):
        preset = mjgear.presets()["worm"]
        for change in (
            lambda: operator.setitem(preset.keys, "mu", 5),
            lambda: operator.setitem(mjgear.presets(), "worm", None),
            lambda: operator.setitem(mjgear.keys(), "mu", None),
            lambda: operator.setitem(mjgear.robots()["ur5e"].actuators[0].keys, "coulomb", 5),
            lambda: operator.setitem(geared(eta_forward=0.8)[2].config, "eta_forward", "5"),
        ):
            with self.assertRaises(TypeError):
                change()
        self.assertIs(mjgear.presets(), mjgear.presets())

    def test_numbers_are_no_truth_values(self):
        for value in (True, False, np.True_, [True, 0.5]):
            with self.subTest(value), self.assertRaisesRegex(mjgear.GearError, "is not a number"):
                geared(eta_forward=value)
        model, data, _ = geared(eta_forward=0.8)
        with self.assertRaisesRegex(mjgear.GearError, "is not a number"):
            mjgear.Gears(model, data)["elbow"].eta_forward = True
        with self.assertRaisesRegex(mjgear.GearError, "is not a number"):
            mjgear.explain(eta_forward=True)


class Comparing(unittest.TestCase):
    def test_equal_and_hash(self):
        model, data, added = geared(eta_forward=0.8)
        linear, torques = mjgear.linearize(model, data), mjgear.inverse(model, data, np.zeros(model.nv))
        draws = mjgear.randomize(mjgear.Gears(model, data), {"coulomb": (0.1, 0.2)}, 1)
        for one in (
            added,
            linear,
            torques,
            draws,
            mjgear.presets()["worm"],
            mjgear.robots()["ur5e"],
            mjgear.explain("worm"),
            mjgear.check(model),
        ):
            with self.subTest(type(one).__name__):
                self.assertTrue(one == one)
                self.assertFalse(one != one)
                self.assertIsInstance(hash(one), int)

    def test_torques_are_a_mapping(self):
        model, data, _ = geared(eta_forward=0.8)
        torques = mjgear.inverse(model, data, np.zeros(model.nv))
        self.assertEqual(dict(torques), dict(zip(torques.names, torques.torque.tolist(), strict=True)))
        self.assertEqual(list(torques.items())[0][0], "shoulder")

    def test_pickles_and_copies(self):
        model, data, added = geared(eta_forward=0.8)
        gears = mjgear.Gears(model, data)
        gears["elbow"].coulomb = 0.25
        for same in (pickle.loads(pickle.dumps(gears)), copy.deepcopy(gears)):
            self.assertIs(same._model, same._data.model)
            self.assertEqual(same["elbow"].coulomb, 0.25)
            mujoco.mj_step(same._model, same._data)
            self.assertEqual(same["elbow"].status, mjgear.Status.SOLVED)
        for one in (added, mjgear.presets(), mjgear.presets()["worm"], mjgear.keys(), mjgear.robots()["ur5e"]):
            self.assertEqual(pickle.loads(pickle.dumps(one)), one)
            copy.deepcopy(one)


class Words(unittest.TestCase):
    def test_results_are_members(self):
        model, data, _ = geared(True, eta_forward=0.8)
        mujoco.mj_step(model, data)
        gear = mjgear.Gears(model, data)["elbow"]
        for value, kind in ((gear.state, mjgear.State), (gear.mode, mjgear.Mode), (gear.status, mjgear.Status)):
            self.assertIsInstance(value, kind)
        self.assertIs(mjgear.State(data.sensor("elbow_gear").data[mjgear.RESULTS.index("state")]), gear.state)
        self.assertEqual(str(mjgear.State.IN_GAP), "in gap")
        self.assertEqual(mjgear.STATES[int(mjgear.State.LOCKED)], "locked")
        batch = Batch(model, 3, nthread=1)
        rows = mjgear.Gears(model, batch)["elbow"]
        batch.step()
        self.assertEqual(rows.state.dtype.kind, "i")
        self.assertIn(mjgear.State(rows.state[0]), mjgear.State)

    def test_numbers_are_those_of_the_headers(self):
        source = SOURCE
        for kind, file, prefix in (
            (mjgear.Status, "core/mjgear.h", "mjg"),
            (mjgear.Motion, "plugin/mjgear_plugin.h", "mjgMOTION_"),
            (mjgear.State, "plugin/configuration/sensors.h", "mjgpGEAR_"),
        ):
            text = (source / file).read_text(encoding="utf-8")
            for word in kind:
                names = [f"{prefix}{word.name}", f"{prefix}ERR_{word.name}", f"{prefix}{word.name.removeprefix('IN_')}"]
                self.assertRegex(text, rf"\b({'|'.join(names)}) = {int(word)}\b", word.name)

    def test_no_state_is_missing(self):
        for kind, file, pattern in (
            (mjgear.State, "plugin/configuration/sensors.h", r"mjgpGEAR_\w+ = (\d+)"),
            (mjgear.Motion, "plugin/mjgear_plugin.h", r"mjgMOTION_(?!UNGEARED)\w+ = (-?\d+)"),
            (mjgear.Status, "core/mjgear.h", r"(?s)typedef enum mjgStatus_ \{(.*?)\}"),
        ):
            found = re.findall(pattern, (SOURCE / file).read_text(encoding="utf-8"))
            numbers = re.findall(r"mjg\w+ = (-?\d+)", found[0]) if kind is mjgear.Status else found
            self.assertEqual({int(number) for number in numbers}, {int(word) for word in kind})

    def test_completion_offers_what_the_gear_has(self):
        model, data, _ = geared(eta_forward=0.8)
        offered = dir(mjgear.Gears(model, data)["elbow"])
        for name in ("eta_forward", "gamma_v", "friction", "state", "set", "explain"):
            self.assertIn(name, offered)
        for name in ("lead_angle", "half_gap", "teeth_sun"):
            self.assertNotIn(name, offered)

    def test_texts_are_the_cores(self):
        numbers = {name: number for name, number in vars(_keys.Numbers).items() if not name.startswith("_")}
        every = {**mjgear.keys(), **_catalogue.gap_keys()}
        self.assertEqual(set(numbers), {name for name, key in every.items() if not key.of_joint})
        for name, number in numbers.items():
            self.assertEqual((number.text, number.unit), (every[name].text, every[name].unit))
            self.assertIn(every[name].text, getattr(mjgear.Gear, name).__doc__)

    def test_keys_are_written(self):
        sys.path.insert(0, str(SOURCE / "python"))
        import write_keys

        self.assertEqual(
            write_keys.text(), write_keys.FILE.read_text(encoding="utf-8"), "run python python/write_keys.py"
        )
        self.assertEqual(
            write_keys.snippets(), write_keys.SNIPPETS.read_text(encoding="utf-8"), "run python python/write_keys.py"
        )

    def test_snippets_are_keys_of_the_plugin(self):
        """Every line that an editor completes is a key that the plugin takes."""
        attributes = (SOURCE / "doc/mjcf.md").read_text(encoding="utf-8")
        snippets = json.loads((SOURCE / "examples/mjgear.code-snippets").read_text(encoding="utf-8"))
        self.assertGreater(len(snippets), 70)
        for name, snippet in snippets.items():
            for key in re.findall('key="([^"]*)"', "".join(snippet["body"])):
                self.assertIn(f"| `{key}` | ", attributes, name)


class AllGears(unittest.TestCase):
    def test_arrays_in_the_order_of_names(self):
        model, data, _ = geared(True, eta_forward=[0.8, 0.6], coulomb=0.3)
        mujoco.mj_step(model, data)
        gears = mjgear.Gears(model, data)
        self.assertEqual(gears.names, tuple(gears))
        for name in ("friction", "state", "internal_force", "power_loss", "coulomb", "eta_forward"):
            np.testing.assert_array_equal(getattr(gears, name), [getattr(gear, name) for gear in gears.values()])
        self.assertTrue(np.isnan(gears.half_gap).all())
        gears.coulomb = [0.1, "20 mNm"]
        np.testing.assert_allclose(gears.coulomb, [0.1, 0.02], rtol=1e-15)
        with self.assertRaisesRegex(mjgear.GearError, "'elbow'"):
            gears.coulomb = [0.5, -1]
        np.testing.assert_allclose(gears.coulomb, [0.1, 0.02], rtol=1e-15)  # all or none
        with self.assertRaisesRegex(mjgear.GearError, r"shape \(3,\)"):
            gears.coulomb = [1, 2, 3]
        with self.assertRaises(AttributeError):
            gears.friction = 1

    def test_over_a_batch(self):
        model, _, _ = geared(True, eta_forward=[0.8, 0.6], coulomb=0.3)
        batch = Batch(model, 3, nthread=1)
        gears = mjgear.Gears(model, batch)
        wanted = np.arange(6).reshape(3, 2) / 10
        gears.coulomb = wanted
        batch.step()
        np.testing.assert_allclose(gears.coulomb, wanted, rtol=1e-15)
        self.assertEqual((gears.friction.shape, gears.state.dtype.kind), ((3, 2), "i"))
        with self.assertRaisesRegex(mjgear.GearError, r"shape \(3, 1\)"):
            gears["elbow"].coulomb = wanted[:, :1]
        np.testing.assert_array_equal(gears.friction[:, 1], gears["elbow"].friction)


class Errors(unittest.TestCase):
    def test_one_tree(self):
        for kind, builtin in (
            (mjgear.GearError, ValueError),
            (mjgear.GearTypeError, TypeError),
            (mjgear.GearKeyError, KeyError),
            (mjgear.LogError, ValueError),
            (mjgear.UnsupportedError, NotImplementedError),
        ):
            self.assertTrue(issubclass(kind, mjgear.Error) and issubclass(kind, builtin), kind)

    def test_wrong_types(self):
        model, data, _ = geared(eta_forward=0.8)
        spec = mujoco.MjSpec.from_string(ARM % "")
        for call in (
            lambda: mjgear.add(model, "elbow", "worm"),
            lambda: mjgear.add(spec, 3, "worm"),
            lambda: mjgear.add(spec, "elbow", "worm", name=3),
            lambda: mjgear.add_brake(model, "elbow", holding_torque=3),
            lambda: mjgear.Gears(data, model),
            lambda: mjgear.check(3),
            lambda: mjgear.linearize(model, data, eps="x"),
            lambda: mjgear.inverse(data, model),
            lambda: mjgear.randomize(3, {}),
            lambda: mjgear.Log(3),
        ):
            with self.assertRaises(TypeError) as caught:
                call()
            self.assertIsInstance(caught.exception, mjgear.GearError)

    def test_names_of_several_bytes(self):
        """A line that the library cuts inside a letter is still a line."""
        for count in range(20, 120, 3):
            for name in ("\u00e9" * count, "a" + "\u00fc\u6f22" * count):
                spec = mujoco.MjSpec.from_string(
                    f'<mujoco><worldbody><body><joint name="{name}"/><geom size=".1"/></body></worldbody></mujoco>'
                )
                for call in (
                    lambda: mjgear.add(spec, name, eta_forward=1.9),
                    lambda: mjgear.add(spec, name, eta_forward=0.9, backlash=name),
                    lambda: mjgear.add_brake(spec, name, 1, side=name),
                    lambda: mjgear.explain(**{name: 1}),
                    lambda: mjgear.explain(eta_forward=name),
                ):
                    with self.assertRaises(mjgear.GearError):
                        call()

    def test_old_names_work_and_warn(self):
        model, data, _ = geared(eta_forward=0.8)
        log = mjgear.Log(mjgear.Gears(model, data))
        for old, call in (
            ("take is called Log.record", log.take),
            ("losses is called fit_losses", lambda: mjgear.losses({"torque": [1, 2], "efficiency": [0.8, 0.9]})),
        ):
            with self.assertWarnsRegex(DeprecationWarning, old) as caught:
                call()
            self.assertEqual(caught.filename, __file__)
        self.assertEqual(len(log.time), 1)

    def test_names_are_not_quoted(self):
        model, data, _ = geared(eta_forward=0.8)
        for call in (
            lambda: mjgear.Gears(model, data)["elbw"],
            lambda: mjgear.presets()["wrm"],
            lambda: mjgear.keys()["x"],
        ):
            with self.assertRaises(KeyError) as caught:
                call()
            self.assertIsInstance(caught.exception, mjgear.Error)
            self.assertNotRegex(str(caught.exception), '^["\']{2}|^"')

    def test_a_missing_program_names_what_is_missing(self):
        with (
            tempfile.TemporaryDirectory() as folder,
            unittest.mock.patch.object(_library, "folder", lambda: pathlib.Path(folder) / "lib"),
            unittest.mock.patch.object(_library, "path", lambda: "x"),
        ):
            for name, glfw in (("mjgear", False), ("mjgear-run", False), ("mjgear-view", True)):
                with self.assertRaisesRegex(ImportError, "cmake --build .* --target mjgear") as caught:
                    _programs.find(name)
                self.assertEqual("libglfw3-dev" in str(caught.exception), glfw)


class Costs(unittest.TestCase):
    def test_calls(self):
        model, data, _ = geared(eta_forward=0.8)
        gear = mjgear.Gears(model, data)["elbow"]

        def least(call, count=200):
            call()
            best = np.inf
            for _ in range(20):
                start = time.process_time()
                for _ in range(count):
                    call()
                best = min(best, (time.process_time() - start) / count)
            return best

        self.assertLess(least(mjgear.presets), 5e-6)
        self.assertLess(least(mjgear.keys), 5e-6)
        self.assertLess(least(lambda: hasattr(gear, "etaforward")), 20e-6)

    def test_subpackages_are_there_when_asked_for(self):
        code = "import sys, mjgear; assert 'scipy' not in sys.modules; print('identify' in dir(mjgear)); mjgear.identify.Log; print('scipy' in sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        there = importlib.util.find_spec("scipy") is not None
        self.assertEqual(done.stdout, "True\nTrue\n" if there else "False\n", done.stderr)
        self.assertIn("add_robot_gears", pydoc.render_doc(mjgear))  # help(mjgear), with any optional package missing


if __name__ == "__main__":
    unittest.main()
