"""mjgear.randomize: draws for a simulation, a Batch, a rollout; distributions against their closed forms."""

import gc
import json
import pathlib
import tempfile
import unittest
import warnings
import weakref

import mujoco
import numpy as np
from mujoco import rollout
from mujoco.batch import Batch

import mjgear
from geared_arm import ARM


def make(**values):
    spec = mujoco.MjSpec.from_string(ARM % "")
    mjgear.add(spec, ["shoulder", "elbow"], **(values or {"eta_forward": 0.9, "coulomb": 0.5}))
    model = spec.compile()
    return model, mujoco.MjData(model)


def parameter(value, half, low=None, high=None, known=True):
    return {
        "value": value,
        "low": value - half if low is None else low,
        "high": value + half if high is None else high,
        "known": known,
    }


# result of identify, shortened: f b is known to 0.02, and f and b alone to 0.1
FOUND = {
    "chosen": "gear",
    "parameters": {
        "torque_constant": parameter(0.35, 0.01),
        "gamma_u": parameter(0.3, 0.1),
        "gamma_v": parameter(0.1, 0.1),
        "eta_forward": parameter(0.64, 0.1),
        "eta_backward": parameter(0.69, 0.1),
        "eta_forward x eta_backward": parameter(0.64 * 0.69, 0.02),
        "coulomb": parameter(0.02, 0.05, low=0),
        "stribeck_friction": parameter(0.01, 0.002),
        "stribeck_velocity": parameter(1.0, 0.5, known=False),
    },
}


def draw(intervals, n=1, seed=0, **values):
    model, data = make(**values)
    return mjgear.randomize(mjgear.Gears(model, data), intervals, seed, n=n).values


class Laws(unittest.TestCase):
    def test_evenly(self):
        drawn = draw({"eta_forward": (0.5, 0.9), "coulomb": ("20 mNm", "1 Nm"), "static_ratio": 1.2}, 4000)
        self.assertEqual(set(drawn), {"shoulder", "elbow"})
        self.assertGreater(np.abs(drawn["shoulder"]["coulomb"] - drawn["elbow"]["coulomb"]).min(), 0)  # each its own
        for values in drawn.values():
            np.testing.assert_array_equal(values["static_ratio"], 1.2)
            for key, low, high in (("eta_forward", 0.5, 0.9), ("coulomb", 0.02, 1)):
                series = values[key]
                self.assertTrue((series >= low).all() and (series <= high).all())
                self.assertAlmostEqual(series.mean(), (low + high) / 2, delta=0.02 * (high - low))
                self.assertAlmostEqual(series.std(), (high - low) / 12**0.5, delta=0.02 * (high - low))

    def test_identified(self):
        """Normal within 1.96 standard deviations: deviations are 0.8796 of the untruncated ones. The product of the
        efficiencies, drawn apart, would be known to 0.094; together it is known to 0.02."""
        values = draw(FOUND, 6000, gamma_u=0.1, gamma_v=0.1)["elbow"]
        self.assertEqual(
            set(values), {"eta_forward", "eta_backward", "coulomb", "stribeck_friction", "stribeck_velocity"}
        )
        f, b = values["eta_forward"], values["eta_backward"]
        cut = 0.1 / 1.96 * 0.8796
        self.assertAlmostEqual(f.mean(), 0.64, delta=0.003)
        self.assertAlmostEqual(f.std(), cut, delta=0.06 * cut)
        self.assertAlmostEqual(b.std(), cut, delta=0.06 * cut)
        self.assertLess((f * b).std(), 0.02 / 1.96 * 1.1)
        self.assertGreater((f * b).std(), 0.02 / 1.96 * 0.8)
        self.assertTrue((np.abs(f - 0.64) <= 0.1).all())
        self.assertTrue((values["coulomb"] >= 0).all() and (values["coulomb"] <= 0.07).all())
        np.testing.assert_array_equal(values["stribeck_velocity"], 1)

    def test_correlations_that_are_told(self):
        names = ["coulomb", "gamma_u", "gamma_v"]
        matrix = np.array([[1, 0.8, 0], [0.8, 1, -0.6], [0, -0.6, 1]])
        found = {
            "parameters": {
                "gamma_u": parameter(0.3, 0.1),
                "gamma_v": parameter(0.2, 0.1),
                "coulomb": parameter(0.5, 0.1),
            },
            "correlations": {"names": names, "matrix": matrix.tolist()},
        }
        values = draw(found, 8000)["elbow"]
        drawn = np.corrcoef([values[name] for name in names])
        # all three are cut at 1.96 standard deviations, which reduces the spread slightly
        np.testing.assert_allclose(drawn, matrix, atol=0.07)

    def test_one_source_a_gear_and_files(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "found.json"
            file.write_text(json.dumps(FOUND))
            drawn = draw({"elbow": file, "shoulder": {"eta_forward": (0.7, 0.8)}}, 5)
            self.assertEqual(
                {name: set(values) for name, values in drawn.items()},
                {
                    "elbow": {"eta_forward", "eta_backward", "coulomb", "stribeck_friction", "stribeck_velocity"},
                    "shoulder": {"eta_forward"},
                },
            )
            np.testing.assert_array_equal(draw(file, 5)["elbow"]["coulomb"], draw(FOUND, 5)["elbow"]["coulomb"])

    def test_whole_arm(self):
        """Numbers of two joints that are related stay so, and a joint without a gear has its own in the models."""

        def interval(value, half):
            return {"value": value, "low": value - half, "high": value + half, "unit": "1", "known": True}

        parameters = {"elbow.gamma_u": interval(0.3, 0.1), "shoulder.gamma_v": interval(0.2, 0.1), "shoulder.damping": interval(2.0, 0.5), "wrist.coulomb": interval(0.5, 0.1),
                      "wrist.delay": interval(0.0, 0.1), "elbow.gamma_v": {**interval(0.1, 0.4), "known": False}, "elbow.gamma_quadratic": interval(0.01, 0.001),
                      "elbow.stribeck_velocity": interval(1, 0.5), "shoulder.gamma_u": interval(0.1, 0.05), "forearm.mass": interval(2, 1)}  # fmt: skip
        order = list(parameters)
        matrix = np.eye(len(order))
        matrix[0, 1] = matrix[1, 0] = -0.7
        matrix[0, 3] = matrix[3, 0] = 0.6
        found = {
            "parameters": parameters,
            "order": order,
            "correlation": matrix.tolist(),
            "joints": {"shoulder": {}, "elbow": {}, "wrist": {}},
        }
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            values = draw(found, 4000)
        self.assertIn(
            "draws of viscous and frictionloss belong to the model and not to its state", str(told[0].message)
        )
        self.assertEqual(
            {name: set(v) for name, v in values.items()},
            {
                "elbow": {"gamma_u", "gamma_v", "gamma_u_quadratic", "gamma_v_quadratic", "stribeck_velocity"},
                "shoulder": {"gamma_u", "gamma_v", "viscous"},
                "wrist": {"frictionloss"},
            },
        )
        self.assertAlmostEqual(
            np.corrcoef(values["elbow"]["gamma_u"], values["shoulder"]["gamma_v"])[0, 1], -0.7, delta=0.08
        )
        self.assertAlmostEqual(
            np.corrcoef(values["elbow"]["gamma_u"], values["wrist"]["frictionloss"])[0, 1], 0.6, delta=0.08
        )
        np.testing.assert_array_equal(values["elbow"]["gamma_v"], 0.1)
        np.testing.assert_array_equal(values["elbow"]["gamma_u_quadratic"], values["elbow"]["gamma_v_quadratic"])
        with self.assertRaisesRegex(
            mjgear.GearError,
            r"no gear of the model is on a joint of the arm that was identified \(hip\); there are shoulder, elbow",
        ):
            draw({**found, "joints": {"hip": {}}}, 2)

    def test_seeds(self):
        intervals = {"eta_forward": (0.5, 0.9)}
        same = [
            draw(intervals, 3, seed)["elbow"]["eta_forward"] for seed in (1, np.random.default_rng(1), 2, None, None)
        ]
        np.testing.assert_array_equal(same[0], same[1])
        self.assertGreater(np.abs(same[0] - same[2]).max(), 1e-6)
        self.assertGreater(np.abs(same[3] - same[4]).max(), 1e-6)


class Simulations(unittest.TestCase):
    INTERVALS = {"eta_forward": (0.5, 0.9), "eta_backward": (-0.2, 0.5), "coulomb": (0, 1)}

    def alone(self, model, drawn, i):
        """Simulation i alone, with its gears set by hand."""
        data = mujoco.MjData(model)
        for name, values in drawn.items():
            gear = mjgear.Gears(model, data)[name]
            gear.describe(eta_forward=values["eta_forward"][i], eta_backward=values["eta_backward"][i])
            gear.coulomb = values["coulomb"][i]
        return data

    def test_batch(self):
        model, _ = make()
        batch = Batch(model, 6, nthread=1)
        drawn = mjgear.randomize(mjgear.Gears(model, batch), self.INTERVALS, 3)
        self.assertIsNone(drawn.states)
        batch.ctrl = 40, 20
        batch.step(nstep=50)
        for i in range(6):
            data = self.alone(model, drawn.values, i)
            data.ctrl = 40, 20
            mujoco.mj_step(model, data, 50)
            np.testing.assert_array_equal(batch.qpos[i], data.qpos)
        self.assertEqual(len(np.unique(batch.qpos[:, 0])), 6)

    def test_rollout(self):
        model, data = make()
        data.qpos = 0.3, -0.2
        before = data.plugin_state.copy()
        drawn = mjgear.randomize(mjgear.Gears(model, data), self.INTERVALS, 3, n=4)
        np.testing.assert_array_equal(data.plugin_state, before)
        control = np.tile([40.0, 20.0], (4, 50, 1))
        states, _ = rollout.rollout(model, data, drawn.states, control)
        for i in range(4):
            single = self.alone(model, drawn.values, i)
            single.qpos = 0.3, -0.2
            single.ctrl = 40, 20
            mujoco.mj_step(model, single, 50)
            np.testing.assert_array_equal(states[i, -1, 1:3], single.qpos)

    def test_rollout_of_a_batch(self):
        """Batch.rollout records the named fields, with the gears of each simulation."""
        model, _ = make()
        batch = Batch(model, nsim=3, nthread=1)
        drawn = mjgear.randomize(mjgear.Gears(model, batch), self.INTERVALS, 3)
        control = np.tile([40.0, 20.0], (3, 50, 1))
        recorded = batch.rollout(50, control, record=("qpos", "qvel"))
        self.assertEqual(sum(rows[0, 0].nbytes for rows in recorded.values()), 8 * (model.nq + model.nv))
        for i in range(3):
            single = self.alone(model, drawn.values, i)
            single.ctrl = 40, 20
            mujoco.mj_step(model, single, 50)
            np.testing.assert_array_equal(recorded["qpos"][i, -1], single.qpos)

    def test_one_simulation(self):
        model, data = make()
        gears = mjgear.Gears(model, data)
        drawn = mjgear.randomize(gears, self.INTERVALS, 3)
        for name, gear in gears.items():
            for key in self.INTERVALS:
                self.assertEqual(gear[key], drawn.values[name][key][0])

    def test_models(self):
        """Rotor inertia and viscous friction belong to the model, as a message says."""
        model, data = make()
        with self.assertWarnsRegex(
            mjgear.GearWarning, r"draws of armature and viscous belong to the model .* Draws.models\(model\) has them"
        ):
            drawn = mjgear.randomize(
                mjgear.Gears(model, data), {"armature": (0.1, 0.2), "viscous": (0, 1), "coulomb": (0, 1)}, 1, n=3
            )
        self.assertEqual(drawn.of_model, ("armature", "viscous"))
        models = drawn.models(model)
        for i, one in enumerate(models):
            np.testing.assert_array_equal(
                one.dof_armature, [drawn.values[name]["armature"][i] for name in ("shoulder", "elbow")]
            )
            np.testing.assert_array_equal(
                np.reshape(one.dof_damping, (2, -1))[:, 0],
                [drawn.values[name]["viscous"][i] for name in ("shoulder", "elbow")],
            )
        np.testing.assert_array_equal(model.dof_armature, [0.3, 0.1])
        rollout.rollout(models, [mujoco.MjData(model)], drawn.states, nstep=3)


class Some(unittest.TestCase):
    """Some simulations of a Batch, and one gear of several."""

    INTERVALS = {"eta_forward": (0.5, 0.9), "eta_backward": (-0.2, 0.5), "coulomb": (0.6, 1)}

    def setUp(self):
        self.model, _ = make(eta_forward=0.9, eta_backward=0.8, coulomb=0.5)
        self.batch = Batch(self.model, 5, nthread=1)
        self.gears = mjgear.Gears(self.model, self.batch)

    def test_sims(self):
        for sims, ids in (
            ([1, 4], [1, 4]),
            (np.array([False, True, False, False, True]), [1, 4]),
            (-1, [4]),
            ([], []),
            (np.int64(2), [2]),
        ):
            self.batch.reset()
            drawn = mjgear.randomize(self.gears, self.INTERVALS, 1, sims=sims)
            self.assertEqual(len(drawn.sample), len(ids))
            for name, gear in self.gears.items():
                expected = np.full(5, 0.5)
                expected[ids] = drawn.values[name]["coulomb"]
                np.testing.assert_array_equal(gear.coulomb, expected)
        for sims in ([5], [0, 0], [0.5], [True], [[1]], [-6]):
            with self.assertRaisesRegex(
                mjgear.GearError,
                r"sims = .* are not among the 5 simulations of the Batch; give a mask \(5,\), or ids, each once",
            ):
                mjgear.randomize(self.gears, self.INTERVALS, 1, sims=sims)

    def test_models_of_their_own(self):
        other, _ = make(eta_forward=0.6, eta_backward=0.3, coulomb=0.5)
        self.batch.set_models([self.model, other, self.model, other, self.model])
        mjgear.randomize(self.gears, {"coulomb": (0.6, 1)}, 1, sims=[1, 2])
        np.testing.assert_array_equal(np.flatnonzero(self.gears["elbow"].coulomb != 0.5), [1, 2])
        np.testing.assert_allclose(self.gears["elbow"].eta_forward, [0.9, 0.6, 0.9, 0.6, 0.9])
        before = self.batch.bind("plugin_state").copy()
        with self.assertRaisesRegex(mjgear.GearError, "gamma_u"):
            mjgear.randomize(self.gears, {"gamma_u": (0, 0.1)}, 1, sims=[1, 2])
        np.testing.assert_array_equal(self.batch.bind("plugin_state"), before)

    def test_one_gear(self):
        drawn = mjgear.randomize(self.gears["elbow"], self.INTERVALS, 1)
        self.assertEqual(list(drawn.values), ["elbow"])
        np.testing.assert_array_equal(self.gears["elbow"].coulomb, drawn.values["elbow"]["coulomb"])
        np.testing.assert_array_equal(self.gears["shoulder"].coulomb, 0.5)
        model, data = make()
        mjgear.randomize(mjgear.Gears(model, data)["elbow"], {"coulomb": 2})
        self.assertEqual([gear.coulomb for gear in mjgear.Gears(model, data).values()], [0.5, 2])

    def test_reset_and_draw(self):
        """A reset with draws is a reset, draws and a forward of these simulations; the others continue."""
        self.batch.ctrl = 40, 20
        mjgear.randomize(self.gears, self.INTERVALS, 0)
        self.batch.step(nstep=20)
        before = self.batch.bind("plugin_state").copy(), self.batch.qpos.copy()
        drawn = mjgear.reset(self.batch, [0, 3], self.INTERVALS, 5)
        np.testing.assert_array_equal(self.batch.qpos[[0, 3]], 0)
        for rows, now in zip(before, (self.batch.bind("plugin_state"), self.batch.qpos), strict=True):
            np.testing.assert_array_equal(now[[1, 2, 4]], rows[[1, 2, 4]])
        for name, gear in self.gears.items():
            np.testing.assert_array_equal(gear.coulomb[[0, 3]], drawn.values[name]["coulomb"])
        self.batch.ctrl = 40, 20
        self.batch.step(ids=[0, 3], nstep=30)
        for k, sim in enumerate((0, 3)):
            data = mujoco.MjData(self.model)
            for name, gear in mjgear.Gears(self.model, data).items():
                gear.set(**{key: values[k] for key, values in drawn.values[name].items()})
            data.ctrl = 40, 20
            mujoco.mj_step(self.model, data, 30)
            np.testing.assert_array_equal(self.batch.qpos[sim], data.qpos)
        self.assertIsNone(mjgear.reset(self.gears, [3]))
        np.testing.assert_array_equal(self.gears["elbow"].coulomb[3], 0.5)

    def test_reset_one(self):
        model, data = make(eta_forward=0.9, eta_backward=0.8)
        gears = mjgear.Gears(model, data)
        data.qpos = 1
        drawn = mjgear.reset(gears, intervals=self.INTERVALS, rng=2)
        self.assertEqual((data.qpos[0], gears["elbow"].coulomb), (0, drawn.values["elbow"]["coulomb"][0]))
        with self.assertRaisesRegex(mjgear.GearError, "sims chooses among the simulations of a Batch"):
            mjgear.reset(gears, [0])
        with self.assertRaisesRegex(
            mjgear.GearTypeError, "reset needs a mujoco.batch.Batch or mjgear.Gears, not MjData"
        ):
            mjgear.reset(data)

    def test_none(self):
        """Often no episode has ended: then nothing changes."""
        self.batch.qpos = 1
        before = self.batch.bind("plugin_state").copy()
        for none in (np.zeros(5, bool), [], np.empty(0, int)):
            drawn = mjgear.reset(self.batch, none, self.INTERVALS, 0)
            self.assertEqual((len(drawn.sample), str(drawn).splitlines()[0]), (0, "0 draws"))
            self.gears["elbow"].coulomb[none] = 3
            self.gears["elbow"].set(coulomb=3, sims=none)
        np.testing.assert_array_equal(self.batch.bind("plugin_state"), before)
        np.testing.assert_array_equal(self.batch.qpos, 1)

    def test_batches_are_forgotten(self):
        batch = Batch(self.model, 2, nthread=1)
        mjgear.reset(batch, [0], self.INTERVALS, 0)
        gone = weakref.ref(batch)
        del batch
        gc.collect()
        self.assertIsNone(gone())

    def test_refused_reset(self):
        """Draws that are refused leave simulations that are reset, with the model's gears."""
        self.batch.qpos = 1
        with self.assertRaisesRegex(mjgear.GearError, "unknown key 'colomb'"):
            mjgear.reset(self.batch, [2], {"colomb": 1})
        np.testing.assert_array_equal(self.batch.qpos[:, 0], [1, 1, 0, 1, 1])


class Asked(unittest.TestCase):
    """A side effect is reported, once."""

    def told(self, intervals, count=1, **values):
        model, data = make(**values)
        gears = mjgear.Gears(model, data)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            for _ in range(3):
                mjgear.randomize(gears, intervals, 0)
        self.assertEqual(len(told), count, [str(one.message) for one in told])
        return str(told[0].message) if told else ""

    def test_backward_that_follows(self):
        self.assertRegex(
            self.told({"eta_forward": (0.7, 0.9)}, eta_forward=0.8),
            "^shoulder, elbow: eta_forward is drawn alone, and eta_backward.*follows it",
        )
        self.assertRegex(self.told({"elbow": {"eta_forward": (0.7, 0.9)}}, eta_forward=0.8), "^elbow: ")
        self.told({"eta_forward": (0.6, 0.7)}, 0, eta_forward=0.65, eta_backward=0.7)
        self.told({"eta_forward": (0.7, 0.9), "eta_backward": (0.6, 0.8)}, 0, eta_forward=0.8)

    def test_negative_coefficients(self):
        """gamma_u of 0.95 and 0.5 is (1 - 1.9 + 0.475)/0.525 < 0."""
        self.assertRegex(
            self.told({"eta_forward": (0.7, 0.95)}, eta_forward=0.7, eta_backward=0.5),
            "a coefficient is negative with the eta_backward that the gear has",
        )

    def test_rollout_states(self):
        model, data = make(eta_forward=0.8)
        with self.assertWarnsRegex(mjgear.GearWarning, "eta_forward is drawn alone"):
            mjgear.randomize(mjgear.Gears(model, data), {"eta_forward": (0.7, 0.9)}, 0, n=3)


class Refused(unittest.TestCase):
    def test_lines(self):
        model, data = make()
        gears = mjgear.Gears(model, data)
        batch = mjgear.Gears(model, Batch(model, 3, nthread=1))
        for call, line in (
            (lambda: mjgear.randomize(gears, {"colomb": (0, 1)}), "unknown key 'colomb'; did you mean coulomb"),
            (
                lambda: mjgear.randomize(gears, {"coulomb": (1, 0)}),
                r"coulomb = \(1, 0\) is no interval; write \(low, high\)",
            ),
            (lambda: mjgear.randomize(gears, {"coulomb": (0, "2 kg")}), "unit 'kg' does not fit"),
            (
                lambda: mjgear.randomize(gears, {"knee": {"coulomb": (0, 1)}}),
                "unknown gear 'knee'; there are shoulder, elbow",
            ),
            (lambda: mjgear.randomize(gears, "nowhere.json"), "nowhere.json: .*give a json of 'mjgear identify'"),
            (
                lambda: mjgear.randomize(gears, {"chosen": "bam", "parameters": {"Km": parameter(1, 0)}}),
                "no number of a gear among Km",
            ),
            (
                lambda: mjgear.randomize(gears, {"eta_forward": (0.99, 1), "eta_backward": (1.5, 2)}),
                "eta_backward = 1.5 is out of range; write a value of at most 1",
            ),
            (
                lambda: mjgear.randomize(gears, {"eta_forward": (0, 0.9)}),
                "eta_forward = 0 is out of range; write a value above 0",
            ),
            (
                lambda: mjgear.randomize(gears, {"coulomb": (-1, 5)}),
                "coulomb = -1 is out of range; write a value of at least 0",
            ),
            (
                lambda: mjgear.randomize(batch, {"coulomb": (0, 1)}, n=3),
                "has as many draws as simulations; leave n out",
            ),
            (lambda: mjgear.randomize(data, {"coulomb": (0, 1)}), "randomize needs mjgear.Gears"),
        ):
            with self.assertRaisesRegex(mjgear.GearError, line):
                call()

    def test_files_that_identify_did_not_write(self):
        model, data = make()
        gears = mjgear.Gears(model, data)
        number = parameter(0.3, 0.1)
        arm = {
            "parameters": {"elbow.gamma_u": number},
            "order": ["elbow.gamma_u"],
            "correlation": [[1]],
            "joints": ["elbow"],
        }
        for content, line in (
            ([1, 2], "its content is no object"),
            (None, "its content is no object"),
            ({"parameters": [1]}, "'parameters' is no object"),
            ({"parameters": {"coulomb": 0.3}}, "parameter coulomb is no object"),
            ({"parameters": {"coulomb": {**number, "low": [0]}}}, r"low = \[0\] of parameter coulomb is not a number"),
            (
                {"parameters": {"coulomb": {**number, "value": "0.3"}}},
                "value = '0.3' of parameter coulomb is not a number",
            ),
            ({"parameters": {"coulomb": number}, "correlations": [1]}, "'correlations' is no object"),
            (
                {"parameters": {"coulomb": number}, "correlations": {"names": ["coulomb"], "matrix": [[1, 2]]}},
                "'correlations' is no object",
            ),
            ({**arm, "parameters": 3}, "'parameters' is no object"),
            ({**arm, "joints": 3}, "'joints' are not the arm's"),
            ({**arm, "order": ["elbow.gamma_v"]}, "'order' does not name its parameters"),
            ({**arm, "order": 3}, "'order' does not name its parameters"),
            ({**arm, "correlation": [[1, 0]]}, "'correlation' is no matrix of 1 rows"),
            ({**arm, "correlation": None}, "'correlation' is no matrix of 1 rows"),
            ({"coulomb": None}, "coulomb = 'None' is not a number"),
            ({"coulomb": [[0, 1], [1]]}, "is no interval"),
            ({"coulomb": []}, "is no interval"),
            ({"coulomb": {}}, "unknown gear 'coulomb'"),
            ({"coulomb": [0, 1, 2]}, r"coulomb = \[0, 1, 2\] is no interval"),
            ({"elbow": 3}, "unknown key 'elbow'"),
            ({"elbow": [1]}, "unknown key 'elbow'"),
            ({"elbow": {"coulomb": None}}, "coulomb = 'None' is not a number"),
            ({"elbow": {"coulomb": [0, 1]}, "shoulder": 3}, "intervals are {key"),
        ):
            with self.subTest(content=content), tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder) / "found.json"
                file.write_text(json.dumps(content))
                for given in (file, content) if isinstance(content, dict) else (file,):
                    with self.assertRaisesRegex(mjgear.GearError, line) as refused:
                        mjgear.randomize(gears, given)
                    self.assertNotIn("\n", str(refused.exception))
        arm = mjgear.Distribution(arm, ["elbow"])  # a result that identify could have written
        self.assertEqual(arm.columns, (("elbow", "gamma_u"),))
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "found.json"
            file.write_text('{"coulomb": (0, 1)}')
            with self.assertRaisesRegex(mjgear.GearError, "found.json: .*give a json of 'mjgear identify'"):
                mjgear.randomize(gears, file)
        with self.assertRaisesRegex(mjgear.GearError, "unknown key"):
            mjgear.randomize(gears, {1: (0, 1)})

    def test_other_gears_are_named(self):
        """A worm that gets the efficiencies of a servo stops being a worm. This warns, unless the gear is named."""
        model, data = make()
        spec = mujoco.MjSpec.from_string(ARM % "")
        mjgear.add(spec, "elbow", "worm", name="a")
        mjgear.add(spec, "shoulder", "harmonic_drive", name="b")
        model = spec.compile()
        gears = mjgear.Gears(model, mujoco.MjData(model))
        with self.assertWarnsRegex(
            mjgear.GearWarning, "^elbow: a geometry describes the gear.*eta_forward and eta_backward"
        ):
            mjgear.randomize(gears, FOUND, rng=0)
        gears.reset()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            mjgear.randomize(gears, {"elbow": FOUND}, rng=0)
            gears.reset()
            mjgear.randomize(gears, {"coulomb": (0, 1)}, rng=0)

    def test_a_table_of_draws(self):
        model, data = make()
        draws = mjgear.randomize(
            mjgear.Gears(model, data), {"coulomb": (0, "50 Ncm"), "eta_forward": 0.7}, rng=0, n=200
        )
        lines = str(draws).splitlines()
        self.assertEqual(len(lines), 2 + 4)
        self.assertEqual(lines[1].split(), ["gear", "number", "unit", "smallest", "mean", "largest"])
        self.assertRegex(str(draws), r"(?m)^elbow +eta_forward +1 +0\.7 +0\.7 +0\.7$")
        self.assertEqual(repr(draws), "<mjgear.Draws: 200 of shoulder, elbow>")

    def test_a_distribution(self):
        """sample(), assign() and states() one by one equal a single call of randomize."""
        model, data = make()
        gears = mjgear.Gears(model, data)
        drawn = mjgear.Distribution({"coulomb": (0.1, 0.5)}, ["elbow"])
        sample = drawn.sample(np.random.default_rng(3), 4)
        self.assertEqual(drawn.columns, (("elbow", "coulomb"),))
        once = mjgear.randomize(gears, {"elbow": {"coulomb": (0.1, 0.5)}}, 3, n=4)
        np.testing.assert_array_equal(once.sample, sample)
        np.testing.assert_array_equal(once.states, drawn.states(gears, sample))
        np.testing.assert_array_equal(mjgear.randomize(gears, drawn, 3, n=4).sample, sample)
        batch = Batch(model, nsim=5, nthread=1)
        many = mjgear.Gears(model, batch)
        drawn.assign(many, sample[:2], sims=[1, 4])
        np.testing.assert_array_equal(many["elbow"].coulomb, [0.5, sample[0, 0], 0.5, 0.5, sample[1, 0]])
        drawn.assign(gears, sample[:1])
        self.assertEqual(gears["elbow"].coulomb, sample[0, 0])

    def test_all_or_none(self):
        model, _ = make()
        batch = Batch(model, 3, nthread=1)
        before = batch.bind("plugin_state").copy()
        with self.assertRaisesRegex(mjgear.GearError, "coulomb"):
            mjgear.randomize(
                mjgear.Gears(model, batch), {"shoulder": {"coulomb": (0, 1)}, "elbow": {"coulomb": (-2, -1)}}
            )
        np.testing.assert_array_equal(batch.bind("plugin_state"), before)


if __name__ == "__main__":
    warnings.simplefilter("default")
    unittest.main()
