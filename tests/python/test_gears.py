"""mjgear.add, Gears, check: gears of a simulation in Python."""

import copy
import ctypes
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import unittest

import mujoco
import numpy as np
from mujoco.batch import Batch

import mjgear
from geared_arm import ARM, EXTENSION, run

SOURCE = pathlib.Path(os.environ["MJGEAR_SOURCE_DIR"])


def make(**values):
    spec = mujoco.MjSpec.from_string(ARM % "")
    added = mjgear.add(spec, ["shoulder", "elbow"], **values)
    model = spec.compile()
    return model, mujoco.MjData(model), added


class Add(unittest.TestCase):
    def test_is_what_mjcf_says(self):
        model, data, added = make(eta_forward=[0.7, 0.6], eta_backward=-0.1, coulomb=0.5)
        written = mujoco.MjModel.from_xml_string(ARM % EXTENSION)
        expected = run(written, mujoco.MjData(written))
        np.testing.assert_array_equal(run(model, data), expected)
        self.assertGreater(np.abs(expected).max(), 0.1)
        self.assertEqual(added.joints, ("shoulder", "elbow"))
        self.assertEqual(added.config["eta_forward"], "0.7 0.6")
        self.assertEqual((added.armature, added.damping, added.home), ({}, {}, "upper"))

    def test_names_with_spaces(self):
        spec = mujoco.MjSpec.from_string((ARM % "").replace('"elbow"', '"left elbow"'))
        mjgear.add(spec, "*", "worm")
        model = spec.compile()
        self.assertEqual(list(mjgear.Gears(model, mujoco.MjData(model))), ["shoulder", "left elbow"])

    def test_patterns(self):
        spec = mujoco.MjSpec.from_string(ARM % "")
        self.assertEqual(mjgear.add(spec, "*o*", "worm").joints, ("shoulder", "elbow"))
        with self.assertRaisesRegex(mjgear.GearError, "no joint 'knee' .*shoulder, elbow"):
            mjgear.add(spec, ["knee"], "worm")

    def test_rotor_inertia_and_viscous_friction_go_to_the_joint(self):
        model, _, added = make(eta_forward=0.7, ratio=50, motor_inertia=2e-5, viscous=[0.1, 0.2])
        np.testing.assert_allclose(model.dof_armature, 2e-5 * 50**2, rtol=1e-14)
        np.testing.assert_array_equal(model.dof_damping, [0.1, 0.2])
        self.assertEqual(added.damping, {"shoulder": 0.1, "elbow": 0.2})

    def test_rotor_inertia_in_front_of_a_gap(self):
        model, _, added = make(eta_forward=0.7, armature=0.01, backlash="exact", half_gap=0.01, stiffness=1e4)
        np.testing.assert_array_equal(model.dof_armature, 0)
        self.assertEqual(added.config["rotor_inertia"], "0.01")

    def test_refused(self):
        with self.assertRaisesRegex(mjgear.GearError, "eta_forward = 1.5"):
            make(eta_forward=1.5)
        with self.assertRaisesRegex(mjgear.GearError, "key 'eta_forward': it has 3 values for 2 joints"):
            make(eta_forward=[0.5, 0.6, 0.7])
        with self.assertRaisesRegex(mjgear.GearError, "no_such_key"):
            make(eta_forward=0.5, no_such_key=1)


class Gears(unittest.TestCase):
    def test_changes_as_the_model_would(self):
        model, data, _ = make(eta_forward=0.9)
        gears = mjgear.Gears(model, data)
        self.assertEqual(list(gears), ["shoulder", "elbow"])
        self.assertAlmostEqual(gears["elbow"].eta_forward, 0.9)
        gears["elbow"].eta_forward = 0.6
        gears["shoulder"].set(eta_forward=0.7, eta_backward=-0.1, coulomb=0.5)
        gears["elbow"].set(eta_backward=-0.1, coulomb=0.5)
        expected, fresh, _ = make(eta_forward=[0.7, 0.6], eta_backward=-0.1, coulomb=0.5)
        np.testing.assert_array_equal(run(model, data), run(expected, fresh))
        gears.reset()
        self.assertAlmostEqual(gears["elbow"].eta_forward, 0.9)
        self.assertIsNone(gears["elbow"].coulomb)

    def test_describe(self):
        model, data, _ = make(eta_forward=0.9, coulomb=0.5)
        gear = mjgear.Gears(model, data)["elbow"]
        gear.describe(gamma_u=0.2, gamma_v=1.1)
        self.assertEqual((gear.gamma_u, gear.gamma_v, gear.coulomb), (0.2, 1.1, 0.5))
        self.assertAlmostEqual(gear.eta_forward, 0.8 / 2.1, delta=1e-15)
        self.assertAlmostEqual(gear.eta_backward, -0.1 / 1.2, delta=1e-15)

    def test_refused(self):
        model, data, _ = make(eta_forward=0.9)
        gears = mjgear.Gears(model, data)
        with self.assertRaisesRegex(mjgear.GearError, "'elbow': eta_forward = 1.5 would be a gear .*write a value"):
            gears["elbow"].eta_forward = 1.5
        self.assertEqual(gears["elbow"].eta_forward, 0.9)
        with self.assertRaisesRegex(KeyError, "did you mean eta_forward"):
            gears["elbow"]["eta_forwrd"]
        with self.assertRaisesRegex(KeyError, "'knee' has no gear; those that have one are shoulder, elbow"):
            gears["knee"]
        with self.assertRaisesRegex(mjgear.GearError, "solver"):
            gears.solver = "magic"
        before = data.plugin_state.copy()
        gears.solver = "lemke"
        (place,) = np.flatnonzero(data.plugin_state != before)
        for number in (99, -1, 1e300):  # no solver's: the model's
            data.plugin_state[place] = number
            self.assertEqual(gears.solver, "newton")
        bare = mujoco.MjModel.from_xml_string(ARM % "")
        with self.assertRaisesRegex(mjgear.GearError, "no gear"):
            mjgear.Gears(bare, mujoco.MjData(bare))

    def test_groups(self):
        """params and result hold the values of the attributes, without numbers that the gear lacks; only params can be written."""
        model, data, _ = make(eta_forward=0.6, eta_backward=-0.2, coulomb=0.5)
        gear = mjgear.Gears(model, data)["elbow"]
        data.ctrl = 40, 20
        mujoco.mj_step(model, data, 50)
        self.assertEqual(gear.params["coulomb"], 0.5)
        self.assertIn("eta_forward", dir(gear.params))
        self.assertNotIn("half_gap", gear.params)
        self.assertEqual({name: getattr(gear, name) for name in gear.params}, dict(gear.params))
        self.assertEqual(tuple(gear.result), mjgear.RESULTS)
        np.testing.assert_array_equal(list(gear.result.values()), gear.results)
        self.assertIs(type(gear.result.state), mjgear.State)
        gear.params.coulomb = "2 Nm"
        self.assertEqual(gear.coulomb, 2)
        with self.assertRaisesRegex(AttributeError, "friction is what the last step resulted in"):
            gear.result.friction = 1
        with self.assertRaisesRegex(AttributeError, "results are what the last step"):
            gear.result = 1
        with self.assertRaisesRegex(AttributeError, "coulomb"):
            gear.params.coulom = 1
        with self.assertRaises(KeyError):
            gear.params["friction"]

    def test_results(self):
        model, data, added = make(eta_forward=0.6, eta_backward=-0.2, sensors=True)
        bare, other, _ = make(eta_forward=0.6, eta_backward=-0.2)
        self.assertEqual(added.sensors, ("shoulder_gear", "elbow_gear"))
        gears, others = mjgear.Gears(model, data), mjgear.Gears(bare, other)

        # at rest with the motors off: friction carries the weight, which mj_inverse knows
        mujoco.mj_step(model, data)
        mujoco.mj_step(bare, other)
        for i, gear in enumerate(gears.values()):
            self.assertEqual(gear.mode, 0)
            self.assertIn(gear.state, (mjgear.State.STUCK, mjgear.State.LOCKED))
            self.assertAlmostEqual(gear.torque_out, data.qfrc_bias[i], delta=1e-10)
            self.assertAlmostEqual(gear.friction, -data.qfrc_bias[i], delta=1e-10)
            self.assertTrue(np.shares_memory(gear.results, data.sensordata))
            self.assertEqual(len(gear.results), len(mjgear.RESULTS))
            np.testing.assert_array_equal(gear.results, others[gear.name].results)

        # in motion: friction opposes it
        data.ctrl = 40, 20
        mujoco.mj_step(model, data, 50)
        slips = [gear for gear in gears.values() if gear.mode]
        self.assertTrue(slips)
        for gear in slips:
            self.assertEqual(gear.mode, np.sign(data.qvel[gear.joint]))
            driven = gear.torque_out * data.qvel[gear.joint] < 0
            self.assertEqual(gear.state, mjgear.State.DRIVEN if driven else mjgear.State.DRIVING)
            self.assertGreater(gear.power_loss, 0)
            self.assertAlmostEqual(gear.power_loss, gear.friction * data.qvel[gear.joint], delta=1e-12)

    def test_explain_here(self):
        model, data, _ = make(eta_forward=0.6, eta_backward=-0.2)
        mujoco.mj_forward(model, data)
        facts = mjgear.Gears(model, data)["elbow"].explain()
        self.assertAlmostEqual(facts.load, data.qfrc_bias[1], delta=1e-14)
        self.assertEqual(facts.armature, 0.1)

        # inertia behind the gear: a torque of 1 N m on the elbow alone, the shoulder free
        effect = np.zeros(2)
        mujoco.mj_solveM(model, data, effect.reshape(1, 2), np.array([[0.0, 1.0]]))
        self.assertAlmostEqual(facts.inertia, 1 / effect[1] - 0.1, delta=1e-12)


TENDONS = """
  <tendon>
    <fixed name="left"><joint joint="shoulder" coef="1"/><joint joint="elbow" coef="0.5"/></fixed>
    <fixed name="right"><joint joint="shoulder" coef="1"/><joint joint="elbow" coef="-0.5"/></fixed>
  </tendon>
"""


class Tendons(unittest.TestCase):
    def make(self, **values):
        text = (
            (ARM % TENDONS)
            .replace('<motor joint="shoulder"/>', '<motor tendon="left"/>')
            .replace('<motor joint="elbow"/>', '<motor tendon="right"/>')
        )
        spec = mujoco.MjSpec.from_string(text)
        added = mjgear.add(spec, tendons=["left", "right"], **values)
        model = spec.compile()
        return model, mujoco.MjData(model), added

    def test_added(self):
        model, data, added = self.make(
            eta_forward=[0.7, 0.6], eta_backward=-0.1, ratio=50, motor_inertia=2e-5, viscous=0.1, sensors=True
        )
        self.assertEqual((added.joints, added.tendons, added.home), ((), ("left", "right"), "upper"))
        np.testing.assert_allclose(model.tendon_armature, 2e-5 * 50**2, rtol=1e-14)
        np.testing.assert_array_equal(model.tendon_damping, 0.1)
        gears = mjgear.Gears(model, data)
        self.assertEqual(list(gears), ["left", "right"])
        self.assertAlmostEqual(gears["right"].eta_forward, 0.6)
        self.assertIs(gears[model.njnt + 1], gears["right"])

        # the same number in C
        number = ctypes.CDLL(os.environ["MJGEAR_PLUGIN_PATH"]).mjg_gearId
        joint, tendon = int(mujoco.mjtObj.mjOBJ_JOINT), int(mujoco.mjtObj.mjOBJ_TENDON)
        for kind, name, expected in (
            (joint, b"elbow", model.joint("elbow").id),
            (tendon, b"right", gears["right"].joint),
            (joint, b"right", -1),
            (tendon, b"elbow", -1),
            (int(mujoco.mjtObj.mjOBJ_BODY), b"upper", -1),
            (tendon, None, -1),
        ):
            self.assertEqual(number(ctypes.c_void_p(model._address), kind, name), expected, name)
        self.assertEqual(number(None, joint, b"elbow"), -1)
        run(model, data, 50)

        # by sensor and without one; the torque into the gear is the motor's less the
        # rotor's
        np.testing.assert_array_equal(gears["left"].results, data.sensor("left_gear").data)
        self.assertNotEqual(gears["left"].friction, 0)

    def test_changed(self):
        model, data, _ = self.make(eta_forward=0.7, eta_backward=-0.1)
        gears = mjgear.Gears(model, data)
        gears["left"].eta_forward = 0.5
        first = run(model, data)
        np.testing.assert_array_equal(gears["left"].rotor_velocity, data.qvel @ [1, 0.5])
        other, other_data, _ = self.make(eta_forward=[0.5, 0.7], eta_backward=-0.1)
        np.testing.assert_array_equal(first, run(other, other_data))
        self.assertGreater(np.abs(first - run(*self.make(eta_forward=0.7, eta_backward=-0.1)[:2])).max(), 1e-3)

    def test_joints_and_tendons(self):
        spec = mujoco.MjSpec.from_string(ARM % TENDONS)
        added = mjgear.add(spec, "shoulder", tendons="left", eta_forward=[0.7, 0.6])
        self.assertEqual(added.config["eta_forward"], "0.7 0.6")
        model = spec.compile()
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        gears = mjgear.Gears(model, data)
        self.assertEqual({name: gear.eta_forward for name, gear in gears.items()}, {"shoulder": 0.7, "left": 0.6})
        facts = gears["left"].explain()
        self.assertGreater(facts.inertia, 0)
        with self.assertRaisesRegex(mjgear.GearError, "no tendon 'middle' in the model; its tendons are left, right"):
            mjgear.add(spec, tendons="middle", eta_forward=0.5)
        with self.assertRaisesRegex(mjgear.GearError, "neither joints nor tendons"):
            mjgear.add(spec, eta_forward=0.5)


class ABatch(unittest.TestCase):
    def setUp(self):
        self.model, _, _ = make(eta_forward=0.9, eta_backward=0.5, sensors=True)
        self.batch = Batch(self.model, 5, nthread=2)
        self.batch.ctrl = 40, 20

    def alone(self, i, change):
        """Simulation i by itself."""
        data = mujoco.MjData(self.model)
        change(mjgear.Gears(self.model, data)["elbow"], i)
        data.ctrl = 40, 20
        mujoco.mj_step(self.model, data, 50)
        return data

    def test_each_has_its_own(self):
        etas, coulombs = np.linspace(0.5, 0.9, 5), np.linspace(0, 2, 5)
        elbow = mjgear.Gears(self.model, self.batch)["elbow"]
        self.assertIsNone(elbow.coulomb)
        elbow.set(eta_forward=etas, coulomb=coulombs)
        np.testing.assert_array_equal(elbow.eta_forward, etas)
        np.testing.assert_array_equal(elbow.eta_backward, 0.5)
        self.batch.step(nstep=50)
        self.assertTrue(np.shares_memory(elbow.results, self.batch.bind("sensordata")))
        for i in range(5):
            alone = self.alone(i, lambda gear, i: gear.set(eta_forward=etas[i], coulomb=coulombs[i]))
            np.testing.assert_array_equal(self.batch.qpos[i], alone.qpos)
            np.testing.assert_array_equal(elbow.results[i], mjgear.Gears(self.model, alone)["elbow"].results)
        self.assertGreater(len(np.unique(self.batch.qpos[:, 1])), 3)

    def test_described(self):
        elbow = mjgear.Gears(self.model, self.batch)["elbow"]
        elbow.describe(gamma_u=0.1, gamma_v=np.linspace(0.2, 1.2, 5))
        np.testing.assert_allclose(elbow.eta_forward, 0.9 / (1 + np.linspace(0.2, 1.2, 5)), rtol=1e-14)
        self.batch.step(nstep=50)
        alone = self.alone(3, lambda gear, i: gear.describe(gamma_u=0.1, gamma_v=np.linspace(0.2, 1.2, 5)[3]))
        np.testing.assert_array_equal(self.batch.qpos[3], alone.qpos)

    def test_refused_as_a_whole(self):
        elbow = mjgear.Gears(self.model, self.batch)["elbow"]
        with self.assertRaisesRegex(mjgear.GearError, "2.*eta_forward = 1.5"):
            elbow.eta_forward = [0.5, 0.6, 1.5, 0.7, 0.8]
        np.testing.assert_array_equal(elbow.eta_forward, 0.9)
        with self.assertRaises(ValueError):
            elbow.eta_forward = [0.5, 0.6]
        with self.assertRaisesRegex(KeyError, "did you mean eta_forward"):
            elbow["eta_forwrd"]
        with self.assertRaisesRegex(mjgear.GearError, "of one simulation"):
            elbow.explain()

    def test_models_of_their_own(self):
        models = [make(eta_forward=eta, eta_backward=0.5, sensors=True)[0] for eta in (0.5, 0.6, 0.7, 0.8, 0.9)]
        self.batch.set_models(models)
        elbow = mjgear.Gears(self.model, self.batch)["elbow"]
        np.testing.assert_array_equal(elbow.eta_forward, [0.5, 0.6, 0.7, 0.8, 0.9])

    def test_a_key_of_some(self):
        """A number that some simulations do not have is NaN there, and a change is checked by each simulation's own model."""
        model = make(type="wedge", mu=0.1, input_angle=0.3, output_angle=0.2)[0]
        elbow = mjgear.Gears(model, Batch(model, nsim=3, nthread=1))["elbow"]
        elbow.describe(gamma_u=0.1, gamma_v=0.2, sims=[1])
        np.testing.assert_array_equal(elbow.mu, [0.1, np.nan, 0.1])

        models = [
            make(coulomb=0.1, **kind)[0]
            for kind in (dict(eta_forward=0.8, eta_backward=0.5), dict(gamma_u=0.1, gamma_v=0.3))
        ]
        batch = Batch(models[0], nsim=3, nthread=1)
        batch.set_models([models[0], *models])
        elbow = mjgear.Gears(models[0], batch)["elbow"]
        for sims in [2], [1, 2]:
            with self.assertRaisesRegex(mjgear.GearError, "gamma_u contradicts type efficiency"):
                elbow.set(eta_forward=0.6, sims=sims)
        np.testing.assert_allclose(elbow.eta_forward, [0.8, 0.8, 0.9 / 1.3])

    def test_address(self):
        gear = mjgear.Gears(self.model, self.batch)["elbow"]
        gear.coulomb = np.arange(5.0)
        address = gear.address("coulomb")
        rows = self.batch.bind("plugin_state")
        np.testing.assert_array_equal(rows[:, address.value], np.arange(5))
        self.assertTrue((rows[:, address.given].astype(int) & address.bit).all())
        with self.assertRaisesRegex(KeyError, "no number 'half_gap'"):
            gear.address("half_gap")


class WriteThrough(unittest.TestCase):
    """Numbers of a Batch are arrays that write into the simulations, or refuse."""

    def setUp(self):
        self.model, _, _ = make(eta_forward=0.8, eta_backward=0.7, coulomb=0.5)
        self.batch = Batch(self.model, nsim=4, nthread=1)
        self.elbow = mjgear.Gears(self.model, self.batch)["elbow"]

    def expect(self, *coulomb):
        np.testing.assert_array_equal(self.elbow.coulomb, coulomb)
        self.batch.ctrl = 3, 3
        self.batch.step(nstep=20)
        for k, value in enumerate(coulomb):  # as simulations by themselves
            data = mujoco.MjData(self.model)
            mjgear.Gears(self.model, data)["elbow"].coulomb = value
            data.ctrl = 3, 3
            mujoco.mj_step(self.model, data, 20)
            np.testing.assert_array_equal(self.batch.qpos[k], data.qpos)

    def test_mask(self):
        done = np.array([True, False, False, True])
        self.elbow.coulomb[done] = 1.5
        self.expect(1.5, 0.5, 0.5, 1.5)

    def test_index_slice_list_and_each_its_own(self):
        self.elbow.coulomb[1] = 0.2
        self.elbow.coulomb[2:] = [0.3, 0.4]
        self.elbow["coulomb"][[0]] = "1 Nm"
        self.elbow.coulomb[1:][:2][0] = 0.25
        np.testing.assert_array_equal(self.elbow.coulomb, [1, 0.25, 0.3, 0.4])
        self.elbow.set(coulomb=0.5, sims=-1)
        self.elbow.coulomb[:, None][1] = 0.35
        self.elbow.set(coulomb=[0.8, 0.9], sims=[-2, 0])
        np.testing.assert_array_equal(self.elbow.coulomb, [0.9, 0.35, 0.8, 0.5])
        self.elbow.coulomb[[[0, 1], [2, 3]]] = [0.6, 0.7]  # broadcast as numpy does
        self.expect(0.6, 0.7, 0.6, 0.7)

    def test_in_place(self):
        self.elbow.coulomb *= 2
        self.elbow.coulomb[1:3] += 1
        coulomb = self.elbow.coulomb
        coulomb /= 4
        np.add(coulomb, 1, out=coulomb)
        np.testing.assert_array_equal(coulomb, [1.25, 1.5, 1.5, 1.25])
        self.expect(1.25, 1.5, 1.5, 1.25)

    def test_only_these_are_given(self):
        """Simulations that are not named keep the model's number."""
        before = self.batch.bind("plugin_state").copy()
        self.elbow.coulomb[2] = 1
        np.testing.assert_array_equal(self.batch.bind("plugin_state")[[0, 1, 3]], before[[0, 1, 3]])

    def test_set_and_describe_some(self):
        self.elbow.set(coulomb=[1, 2], sims=[3, 1])
        self.elbow.describe(gamma_u=0.1, gamma_v=0.2, sims=np.arange(4) == 0)
        np.testing.assert_array_equal(self.elbow.coulomb, [0.5, 2, 0.5, 1])
        np.testing.assert_allclose(self.elbow.eta_forward, [0.9 / 1.2, 0.8, 0.8, 0.8])

    def test_refused(self):
        with self.assertRaises(ValueError):
            self.elbow.coulomb.fill(9)
        coulomb = self.elbow.coulomb
        coulomb[0] = 0.5  # which leaves the array as it is
        for write in (
            lambda: coulomb.fill(9),
            lambda: np.copyto(coulomb, 9),
            coulomb.sort,
            lambda: coulomb.reshape(2, 2).fill(9),
        ):
            with self.assertRaises(ValueError):
                write()
        with self.assertRaisesRegex(mjgear.GearError, r"gear.set\(coulomb=.., sims=..\)"):
            coulomb.reshape(2, 2)[0] = 9
        with self.assertRaisesRegex(mjgear.GearError, "coulomb = -1 is out of range"):
            coulomb[0] = -1
        with self.assertRaises(IndexError):
            coulomb[7] = 1
        for sims in [0, -4], [True, False], [[True] * 4], [4], 4, [0.0]:
            with self.assertRaisesRegex(mjgear.GearError, "not among the 4 simulations"):
                self.elbow.set(coulomb=9, sims=sims)
        with self.assertRaisesRegex(mjgear.GearError, "sims chooses among the simulations of a Batch"):
            mjgear.Gears(self.model, mujoco.MjData(self.model))["elbow"].set(coulomb=1, sims=[0])
        np.testing.assert_array_equal(self.elbow.coulomb, 0.5)

    def test_copies_are_arrays(self):
        coulomb = self.elbow.coulomb
        for copied in (
            coulomb.copy(),
            np.array(coulomb),
            coulomb + 1,
            copy.deepcopy(coulomb),
            pickle.loads(pickle.dumps(coulomb)),
            coulomb.astype(float),
            np.sort(coulomb),
        ):
            self.assertIs(type(copied), np.ndarray)
            copied[0] = 9
        np.testing.assert_array_equal(self.elbow.coulomb, 0.5)


class Counted(unittest.TestCase):
    def test_steps(self):
        """Each simulation has its own counts, which are state; a reset clears them."""
        model, data, _ = make(eta_forward=0.8, eta_backward=0.7)
        gears = mjgear.Gears(model, data)
        mujoco.mj_step(model, data, 7)
        self.assertEqual((gears.counts.steps, gears.counts.unsolved, gears.counts.slow), (7, 0, 0))
        batch = Batch(model, nsim=3, nthread=2)
        counted = mjgear.Gears(model, batch)
        batch.step(nstep=5)
        batch.reset(ids=[1])
        batch.step(nstep=2)
        np.testing.assert_array_equal(counted.counts.steps, [7, 2, 7])

    def test_unsolved(self):
        """Steps with numbers that describe no gear are not solved."""
        model, data, _ = make(eta_forward=0.8, eta_backward=0.7)
        gears = mjgear.Gears(model, data)
        data.plugin_state[gears["elbow"].address("coulomb").given] = 2**40
        mujoco.mj_step(model, data, 3)
        self.assertEqual((gears.counts.steps, gears.counts.unsolved), (3, 3))

    def test_slow(self):
        """As many as count fallbacks from step to step."""
        model = mujoco.MjModel.from_xml_path(str(SOURCE / "scenes" / "arm" / "arm.xml"))
        data = mujoco.MjData(model)
        gears = mjgear.Gears(model, data)
        slow, before = 0, 0
        for _ in range(500):
            mujoco.mj_step(model, data)
            now = data.plugin_state[next(iter(gears.values())).address("fallbacks").value]
            slow, before = slow + (now > before), now
        self.assertEqual(gears.counts.slow, slow)
        self.assertEqual(gears.counts.steps, 500)


class Told(unittest.TestCase):
    PROGRAM = """
import mujoco, mjgear
for kv in (1e5, 2e5):
    spec = mujoco.MjSpec.from_string(f'''<mujoco><option timestep="0.002" integrator="implicitfast"/><worldbody><geom type="plane" size="1 1 .1"/>
      <body pos="0 0 .09"><joint name="lift" type="slide" axis="0 0 1"/><geom size=".1" mass="1"/></body></worldbody>
      <actuator><velocity joint="lift" kv="{kv}"/></actuator></mujoco>''')
    mjgear.add(spec, "lift", gamma_u=0.1 if kv == 1e5 else 0.2, gamma_v=0.3, coulomb=1)
    model = spec.compile()
    for _ in range(20):
        mujoco.mj_step(model, mujoco.MjData(model), 3)
"""

    def test_gains_are_told_once_a_model(self):
        told = subprocess.run([sys.executable, "-c", self.PROGRAM], capture_output=True, text=True, check=True)
        self.assertEqual((told.stdout + told.stderr).count("the gains and the damping of its motor"), 2, told.stderr)


class Check(unittest.TestCase):
    def test_file(self):
        report = mjgear.check(SOURCE / "scenes" / "rod" / "rod.xml")
        self.assertEqual(report.problems, ())
        self.assertEqual(list(report.joints), ["rod"])
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "wrong.xml"
            file.write_text(ARM % EXTENSION.replace("-0.1", "2").replace('"coulomb"', '"colomb"'))
            problems = "\n".join(mjgear.check(file).problems)
        self.assertRegex(problems, "eta_backward = 2")
        self.assertRegex(problems, "colomb.*did you mean coulomb")

    def test_name_like_an_option(self):
        """A file -x.xml is a file, and one that is missing is named."""
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                self.assertRegex(mjgear.check("-x.xml").problems[0], "^-x.xml: .*-x.xml")
                pathlib.Path("-x.xml").write_text(ARM % EXTENSION)
                report = mjgear.check("-x.xml")
            finally:
                os.chdir(before)
        self.assertEqual(report.problems, ())
        self.assertEqual(len(report.joints), 2)

    def test_spec(self):
        spec = mujoco.MjSpec.from_string(ARM % "")
        self.assertEqual(mjgear.check(spec), mjgear.Report((), {}))
        mjgear.add(spec, "*", "worm")
        spec.plugins[0].config = {**spec.plugins[0].config, "backlash": "exakt"}
        self.assertRegex("\n".join(mjgear.check(spec).problems), "exakt")


class ReadOnly(unittest.TestCase):
    def test_results(self):
        for sensors in (False, True):
            spec = mujoco.MjSpec.from_string(ARM)
            mjgear.add(spec, "elbow", eta_forward=0.8, sensors=sensors)
            model = spec.compile()
            data = mujoco.MjData(model)
            mujoco.mj_step(model, data)
            gear = mjgear.Gears(model, data)["elbow"]
            before = gear.friction
            with self.assertRaises(ValueError):
                gear.results[0] = 99
            self.assertEqual(gear.friction, before)
            data.sensordata[:] = data.sensordata  # this error is the user's own
        batch = mjgear.Gears(model, Batch(model, 3, nthread=1))["elbow"]
        for values in (batch.results, batch.friction):
            with self.assertRaises(ValueError):
                values[0] = 99


if __name__ == "__main__":
    unittest.main()
