"""Invalid arguments to every function and every number of a gear are refused with the package's errors."""

import copy
import inspect
import multiprocessing
import pickle
import threading
import unittest
import warnings

import mujoco
import numpy as np
from mujoco.batch import Batch

import mjgear

XML = """<mujoco><extension><plugin plugin="mjgear.transmission"><instance name="g"><config key="joint" value="a"/><config key="eta_forward" value="0.7"/>
<config key="coulomb" value=".1"/></instance></plugin></extension><worldbody><body><joint name="a" axis="0 1 0" armature=".1"/><geom size=".1" mass="1" pos=".2 0 0"/></body>
</worldbody><actuator><motor name="m" joint="a"/></actuator></mujoco>"""
BAD = [10**400, -(10**400), float("nan"), float("inf"), None, "", "x" * 10000, b"x", [], [1, 2, 3], {}, object(), np.array([1, 2]), np.array("x"), np.zeros((2, 2)), 1 + 2j, True,
       -1, 0, 2**31, 2**63, 2**64, 2**70, "1e999", "1e999 Nm", np.float32(1), np.array([10**400], object), "\ud800", "a\0b", slice(0, 1), len, int, mujoco, "5é"]  # fmt: skip
NO_NUMBERS = [
    b"1",
    bytearray(b"1"),
    np.ma.masked,
    True,
    np.bool_(1),
    np.timedelta64(1, "s"),
    np.datetime64(1, "s"),
    np.complex64(1),
    1j,
]
KEYS = ("coulomb", "eta_forward", "temperature", "coulomb_speed", "type", "gear", "rotor_inertia")


def velocity(model, steps=50):
    data = mujoco.MjData(model)
    data.qvel[:] = 1
    mujoco.mj_step(model, data, steps)
    return data.qvel[0]


def velocity_of_unpickled(packed):
    return velocity(pickle.loads(packed))


class Arguments(unittest.TestCase):
    """Each function with each bad value in each place."""

    def setUp(self):
        self.model = mujoco.MjModel.from_xml_string(XML)
        self.data = mujoco.MjData(self.model)
        self.gears = mjgear.Gears(self.model, self.data)

    def refused(self, function, *arguments, **named):
        """Called without an error, or refused as the package refuses."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)
            try:
                function(*arguments, **named)
            except (mjgear.Error, TypeError, ValueError, KeyError, AttributeError) as error:
                self.assertNotIsInstance(error, UnicodeError)
            except OSError as error:
                self.assertIn(error.args[0], (2, 36))  # a text that is not a file, or not a name of one

    def good(self, name):
        spec = mujoco.MjSpec.from_string(XML)
        return {
            "model": self.model,
            "data": self.data,
            "spec": spec,
            "gears": self.gears,
            "joint": "a",
            "joints": "a",
            "preset": "worm",
            "kind": "worm",
        }.get(name, 1.0)

    def test_functions(self):
        count = 0
        for name in mjgear.__all__:
            function = getattr(mjgear, name)
            if not callable(function) or inspect.isclass(function):
                continue
            places = [p for p in inspect.signature(function).parameters.values() if p.kind is not p.VAR_POSITIONAL]
            needed = [p.name for p in places if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
            keywords = KEYS if any(p.kind is p.VAR_KEYWORD for p in places) else ()
            for place in [p.name for p in places if p.kind is not p.VAR_KEYWORD] + list(keywords):
                for value in BAD:
                    if name in ("losses", "fit_losses") and isinstance(value, str) and "\ud800" in value:
                        continue  # a name of a file that Python itself cannot write
                    named = {one: self.good(one) for one in needed} | {place: value}
                    only = [named.pop(p.name) for p in places if p.kind is p.POSITIONAL_ONLY and p.name in named]
                    with self.subTest(f"{name}({place}={value!r:.60})"):
                        self.refused(function, *only, **named)
                        count += 1
        self.assertGreater(count, 1000)

    def test_gears(self):
        gear = self.gears["a"]
        for value in BAD:
            with self.subTest(f"{value!r:.60}"):
                for key in ("coulomb", "eta_forward", "nothing", "friction"):
                    self.refused(setattr, gear, key, value)
                    self.refused(gear.set, **{key: value})
                    self.refused(gear.describe, **{key: value})
                    self.refused(setattr, self.gears, key, value)
                for function in (self.gears.__getitem__, gear.__getitem__, gear.address):
                    self.refused(function, value)
                self.refused(gear.set, sims=value, coulomb=1)
        self.assertTrue(np.isfinite(self.data.plugin_state).all())

    def test_no_numbers(self):
        """What float() takes and is no number is refused wherever a number is set, and nothing changes: also of a whole array with one masked entry."""
        spec = mujoco.MjSpec.from_string(XML[:8] + XML[XML.index("<worldbody") :])
        rows = mjgear.Gears(self.model, Batch(self.model, 2, nthread=1))
        gear, before = self.gears["a"], self.data.plugin_state.copy()
        losses = {"speed": [1.0, 2, 3], "motor_torque": [1.0, 2, 3], "torque": [0.5, 1, 1.5]}
        places = {
            "gear": lambda value: setattr(gear, "coulomb", value),
            "gear[]": lambda value: gear.__setitem__("coulomb", value),
            "set": lambda value: gear.set(coulomb=value),
            "describe": lambda value: gear.describe(eta_forward=value),
            "gears": lambda value: setattr(self.gears, "coulomb", value),
            "add": lambda value: mjgear.add(spec.copy(), "a", gamma_u=value, gamma_v=0.3),
            "add, a gap": lambda value: mjgear.add(spec.copy(), "a", gamma_u=0.1, gamma_v=0.3, backlash="exact", stiffness=value, rotor_inertia=1),
            "add, a table": lambda value: mjgear.add(spec.copy(), "a", gamma_u=0.1, gamma_v=0.3, coulomb=1, coulomb_speed=[[0, 1], [1, value]]),
            "add_brake": lambda value: mjgear.add_brake(spec.copy(), "a", holding_torque=value),
            "explain": lambda value: mjgear.explain(gamma_u=value, gamma_v=0.3),
            "inverse": lambda value: mjgear.inverse(self.model, self.data, [value]),
            "hold": lambda value: mjgear.hold(self.model, poses=[value]),
            "fit_losses": lambda value: mjgear.fit_losses(losses | {"speed": [value, 2, 3]}),
            "Batch": lambda value: setattr(rows["a"], "coulomb", value),
            "Batch, all": lambda value: setattr(rows, "coulomb", value),
            "Batch, one": lambda value: rows["a"].coulomb.__setitem__(0, value),
            "Batch, each": lambda value: rows["a"].set(coulomb=[1, value]),
            "randomize": lambda value: mjgear.randomize(rows, {"coulomb": (0, value)}),
        }  # fmt: skip
        for place, call in places.items():
            call(0.5 if place != "explain" else 0.1)
            for value in NO_NUMBERS:
                with self.subTest(f"{place}: {value!r}"), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    with self.assertRaises((mjgear.Error, TypeError)):
                        call(value)
        gear.coulomb = 0.1
        for masked in (np.ma.array([0.2], mask=[True]), np.ma.array(0.2, mask=True)):
            for place in ("gear", "set", "gears", "add", "Batch", "Batch, all"):
                with self.subTest(f"{place}: {masked!r}"), self.assertRaises(mjgear.Error):
                    places[place](masked)
        self.assertEqual(gear.coulomb, 0.1)
        self.gears.reset()
        np.testing.assert_array_equal(self.data.plugin_state, before)
        gear.coulomb = np.ma.array([0.3], mask=[False])  # nothing is masked
        self.assertEqual(gear.coulomb, 0.3)

    def test_copies_processes_and_threads(self):
        """Pickles, deep copies, forked and spawned processes and eight threads step as the model does."""
        right, packed = velocity(self.model), pickle.dumps(self.model)
        self.assertEqual(velocity(copy.deepcopy(self.model)), right)
        self.data.qvel[:] = 1
        for twin in (pickle.loads(pickle.dumps(self.data)), copy.deepcopy(self.data), copy.copy(self.data)):
            mujoco.mj_step(self.model, twin, 50)
            self.assertEqual(twin.qvel[0], right)
        for way in ("fork", "spawn"):
            with multiprocessing.get_context(way).Pool(2) as pool:
                self.assertEqual(pool.map(velocity_of_unpickled, 4 * [packed]), 4 * [right])
        found = []
        threads = [
            threading.Thread(target=lambda: found.extend(velocity(self.model) for _ in range(20))) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, 160 * [right])


if __name__ == "__main__":
    unittest.main()
