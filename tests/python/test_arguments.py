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

import mjgear

XML = """<mujoco><extension><plugin plugin="mjgear.transmission"><instance name="g"><config key="joint" value="a"/><config key="eta_forward" value="0.7"/>
<config key="coulomb" value=".1"/></instance></plugin></extension><worldbody><body><joint name="a" axis="0 1 0" armature=".1"/><geom size=".1" mass="1" pos=".2 0 0"/></body>
</worldbody><actuator><motor name="m" joint="a"/></actuator></mujoco>"""
BAD = [10**400, -(10**400), float("nan"), float("inf"), None, "", "x" * 10000, b"x", [], [1, 2, 3], {}, object(), np.array([1, 2]), np.array("x"), np.zeros((2, 2)), 1 + 2j, True,
       -1, 0, 2**31, 2**63, 2**64, "1e999", "1e999 Nm", np.float32(1), np.array([10**400], object), "\ud800", "a\0b", slice(0, 1), len, int, mujoco, "5é"]  # fmt: skip
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
