"""The Python package refuses at the call every input that the tool refuses, with the same text."""

import ast
import json
import os
import pathlib
import pickle
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
import warnings

import mujoco
import numpy as np
from mujoco.batch import Batch

import mjgear
from geared_arm import ARM, EXTENSION
from mjgear import _extras

TOOL = sys.argv.pop(1)
SOURCE = pathlib.Path(__file__).parents[2]

# a base with two branches, each with a joint; %s: further elements of a joint
BRANCHES = """
<mujoco>
  <worldbody>
    <body name="base">
      <freejoint name="root"/>
      <geom size=".1"/>
      <body name="left"><joint name="l" axis="0 1 0"%s/><geom size=".1" pos=".2 0 0"/></body>
      <body name="right"><joint name="r" axis="0 1 0"%s/><geom size=".1" pos=".2 0 0"/></body>
    </body>
  </worldbody>
</mujoco>
"""

WRONG = """
<mujoco>
  <option integrator="RK4"/>
  <extension><plugin plugin="mjgear.transmission">
    <instance name="arm"><config key="joint" value="a b"/><config key="gama_u" value=".1"/><config key="eta_forward" value="-.3"/></instance>
    <instance name="leg"><config key="joint" value="c d"/><config key="coulomb" value="x"/><config key="half_gapp" value="1"/></instance>
  </plugin></extension>
  <worldbody><body><joint name="a" axis="0 1 0"/><geom size=".1"/><body><joint name="b"/><geom size=".1"/>
    <body><joint name="c" type="ball"/><geom size=".1"/></body></body></body></worldbody>
</mujoco>
"""


def arm():
    return mujoco.MjSpec.from_string(ARM % "")


def geared(**values):
    spec = arm()
    mjgear.add(spec, ["shoulder", "elbow"], **values)
    model = spec.compile()
    return model, mujoco.MjData(model)


def tool(*words):
    """Problems and warnings that the tool prints."""
    done = subprocess.run([TOOL, *words, "--json"], capture_output=True, text=True, check=False)
    answer = json.loads(done.stdout)
    return answer["problems"], answer.get("warnings", [])


class SameWords(unittest.TestCase):
    def test_gears(self):
        for keys in (
            {"colomb": "2"},
            {"eta_forward": "3", "coulomb": "-1"},
            {"eta_forward": "80%", "coulomb": "2 kg"},
            {"eta_forward": "much"},
            {"eta_forward": "120 %"},
            {"lead_angle": "5 deg"},
            {"eta_forward": "0.8", "motor_inertia": "0.2 kgcm2"},
            {"gamma_u": "0.1"},
            {"eta_forward": "0.8", "load": "20kg"},
            {"eta_forward": "0.8", "load": "0"},
            {"eta_forward": "0.8", "inertia": "-1 kgm2"},
            {"mu": "0.1", "zzzzzz": "1"},
        ):
            lines, _ = tool("explain", *(f"{key}={value}" for key, value in keys.items()))
            with self.assertRaises(mjgear.GearError) as caught:
                mjgear.explain(**keys)
            self.assertEqual(list(caught.exception.problems), lines)
        with self.assertRaises(mjgear.GearError) as caught:
            mjgear.explain()
        self.assertEqual(list(caught.exception.problems), tool("explain")[0])

    def test_units(self):
        facts = mjgear.explain("worm", load="20Nm", inertia="5 kg m2", coulomb="30 mNm", armature="1 kgm2")
        expected = mjgear.explain("worm", load=20, inertia=5, coulomb=0.03, armature=1)
        self.assertEqual(facts, expected)
        model, data = geared(eta_forward="70 %", coulomb="2 Nm", ratio=50, motor_inertia="0.2 kgcm2")
        gear = mjgear.Gears(model, data)["elbow"]
        self.assertAlmostEqual(gear.eta_forward, 0.7, delta=1e-15)
        self.assertEqual(gear.coulomb, 2)
        np.testing.assert_allclose(model.dof_armature, 0.2e-4 * 50**2, rtol=1e-14)
        gear.coulomb = "40 mNm"
        self.assertEqual(gear.coulomb, 0.04)

    def test_other_ways_to_write_units(self):
        for one, other in (("5 arcmin", 5 / 60 * np.pi / 180), ("5 degrees", np.pi / 36), ("5deg", np.pi / 36)):
            facts = mjgear.explain(type="leadscrew", lead_angle=one, mu=0.1)
            self.assertAlmostEqual(
                facts.gamma_v,
                mjgear.explain(type="leadscrew", lead_angle=other, mu=0.1).gamma_v,
                delta=1e-12 * abs(facts.gamma_v),
            )
        for one in ("2 N\u00b7m", "2 N*m", "200 N cm"):
            self.assertEqual(mjgear.explain("harmonic_drive", coulomb=one), mjgear.explain("harmonic_drive", coulomb=2))
        for one in ("0.2 kgcm^2", "0.2 kg cm2", "0.2 kg*cm^2"):
            self.assertAlmostEqual(
                mjgear.explain("worm", ratio=1, motor_inertia=one, inertia="1 kg m^2").armature, 2e-5, delta=1e-18
            )
        self.assertEqual(mjgear.explain(eta_forward="80 percent"), mjgear.explain(eta_forward=0.8))

    def test_loads_of_hinges_and_slides(self):
        """A torque of a hinge, a force of a slide."""
        for keys in (
            {"preset": "worm", "load": "20 N"},
            {"preset": "acme_screw", "load": "20 Nm"},
            {"preset": "acme_screw", "load": "2 lb"},
        ):
            with self.assertRaisesRegex(mjgear.GearError, "load = .* does not fit; write one of") as caught:
                mjgear.explain(**keys)
            words = [f"{key}={value}" if key != "preset" else value for key, value in keys.items()]
            self.assertEqual(list(caught.exception.problems), tool("explain", *words)[0])
        self.assertEqual(mjgear.explain("acme_screw", load="0.02 kN"), mjgear.explain("acme_screw", load=20))

    def test_a_gear_that_locks_by_an_assumption_alone(self):
        """2 - 1/0.4 = -0.5: told by add, check and explain; not where eta_backward is given, nor for a worm."""
        line = "eta_forward = 0.4 alone makes the gear self-locking, because eta_backward is then assumed to be 2 - 1/eta_forward = -0.5"
        spec = arm()
        with self.assertWarnsRegex(mjgear.GearWarning, f"joint 'elbow': {line}"):
            mjgear.add(spec, "elbow", eta_forward=0.4)
        self.assertTrue(any(line in one for one in mjgear.check(spec).warnings))
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "model.xml")
            pathlib.Path(file).write_text(spec.to_xml())
            self.assertEqual(list(mjgear.check(spec).warnings), tool("check", file)[1])
        self.assertIn(line, mjgear.explain(eta_forward=0.4).remark)
        self.assertIn(line, str(mjgear.explain(eta_forward=0.4)))
        done = subprocess.run([TOOL, "explain", "eta_forward=0.4"], capture_output=True, text=True, check=True)
        self.assertIn(line, done.stdout)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            mjgear.add(arm(), "elbow", eta_forward=0.4, eta_backward=-0.5)
            mjgear.add(arm(), "elbow", eta_forward=0.5)
            mjgear.add(arm(), "elbow", "worm")
        self.assertEqual(
            [mjgear.explain(eta_forward=0.4, eta_backward=0).remark, mjgear.explain("worm").remark], [None, None]
        )

    def test_percent_is_no_guess(self):
        for value, line in ((2, "would be a gear that creates energy"), (80, "write 0.8 for 80 percent")):
            with self.assertRaisesRegex(mjgear.GearError, line):
                mjgear.explain(eta_forward=value)

    def test_models(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "model.xml")
            for text in (
                WRONG,
                WRONG.replace('"RK4"', '"Euler"'),
                ARM % EXTENSION.replace("-0.1", "2"),
                "<mujoco><worldbody>",
                ARM % EXTENSION,
                BRANCHES % ("", ""),
                ARM.replace('armature=".1"', "")
                % EXTENSION.replace("-0.1", "0.5").replace('"0.5"/>\n      </i', '"0"/>\n      </i'),
            ):
                pathlib.Path(file).write_text(text)
                problems, lines = tool("check", file)
                report = mjgear.check(file)
                self.assertEqual(list(report.problems), problems)
                self.assertEqual(list(report.warnings), [] if problems else lines)
                if "/worldbody" in text:
                    self.assertEqual(mjgear.check(mujoco.MjSpec.from_string(text)), report)
        self.assertEqual(len(mjgear.check(mujoco.MjSpec.from_string(WRONG)).problems), 8)

    def test_instances_with_and_without_a_home(self):
        """Lines in the order of the file; the spec compiles afterwards as it would have before."""
        two = (
            EXTENSION.replace("shoulder elbow", "elbow")
            .replace("0.7 0.6", "0.6")
            .replace(
                "</plugin>",
                '<instance name="b"><config key="joint" value="shoulder"/><config key="gamma_u" value="%s"/>'
                '<config key="gamma_v" value=".2"/></instance></plugin>',
            )
        )
        text = (ARM % two).replace('name="upper">', 'name="upper"><plugin plugin="mjgear.transmission" instance="b"/>')
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "model.xml")
            for gamma_u, gamma_v, count in (("x", "4", 2), ("0.1", "-0.1", 0)):
                spec = mujoco.MjSpec.from_string((text % gamma_u).replace('"-0.1"', f'"{gamma_v}"'))
                pathlib.Path(file).write_text((text % gamma_u).replace('"-0.1"', f'"{gamma_v}"'))
                problems, lines = tool("check", file)
                self.assertEqual(len(problems), count)
                report = mjgear.check(spec)
                self.assertEqual([list(report.problems), list(report.warnings)], [problems, [] if problems else lines])
        self.assertEqual(len(mjgear.Gears(model := spec.compile(), mujoco.MjData(model))), 2)
        self.assertEqual(spec.to_xml().count("mjgear.check"), 0)

    def test_keys_inside_of_a_body(self):
        """The engine copies no such model: a spec has the first problem, a file all."""
        inside = """<mujoco><extension><plugin plugin="mjgear.transmission"/></extension><worldbody><body>
            <plugin plugin="mjgear.transmission"><config key="joint" value="a"/><config key="gamma_u" value=".1"/><config key="%s" value="%s"/></plugin>
            <joint name="a"/><geom size=".1"/></body></worldbody></mujoco>"""
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "model.xml")
            for key, value in (("gama_v", ".1"), ("gamma_v", "-2"), ("gamma_v", ".1")):
                pathlib.Path(file).write_text(inside % (key, value))
                problems, _ = tool("check", file)
                self.assertEqual(list(mjgear.check(file).problems), problems)
                self.assertEqual(
                    list(mjgear.check(mujoco.MjSpec.from_string(inside % (key, value))).problems), problems[:1]
                )

    def test_keys_of_a_sensor_and_of_an_included_file(self):
        sensor = """<sensor><plugin plugin="mjgear.transmission" objtype="joint" objname="elbow"><config key="teeth" value="2"/>
            </plugin></sensor>"""
        part = f"<mujoco>{EXTENSION.replace('coulomb', 'colomb')}{sensor}</mujoco>"
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "part.xml").write_text(part)
            for text in (ARM % '<include file="part.xml"/>', ARM % part[len("<mujoco>") : -len("</mujoco>")]):
                file = pathlib.Path(folder, "model.xml")
                file.write_text(text)
                problems, _ = tool("check", file)
                self.assertEqual(list(mjgear.check(file).problems), problems)
                self.assertEqual(["'teeth'" in problems[0], "'colomb'" in problems[1]], [True, True], problems)

    def test_a_spec_stays_as_it_is(self):
        spec = mujoco.MjSpec.from_string(WRONG)

        def state():
            bodies = [(body.plugin.active, body.plugin.name) for body in spec.bodies]
            return [(one.name, one.plugin_name, dict(one.config)) for one in spec.plugins], bodies

        before = state()
        mjgear.check(spec)
        self.assertEqual(state(), before)

    def test_added(self):
        """Refusals of add equal the messages of check about the same keys in a file."""
        for joints, keys in (
            ("shoulder elbow", {"eta_forward": 0.5, "colomb": 2}),
            ("shoulder elbow", {"eta_forward": 1.5, "coulomb": -1}),
            ("shoulder elbow", {}),
            ("elbow", {"eta_forward": 0.5, "half_gap": 0.1}),
            ("elbow", {"eta_forward": 0.5, "backlash": "exakt"}),
            ("elbow", {"eta_forward": 0.5, "backlash": "exact", "half_gap": -1, "stiffness": 1}),
            ("elbow", {"eta_forward": 0.5, "backlash": "exact", "half_gap": 1, "stiffness": 1, "rubber": 1}),
            ("elbow", {"eta_forward": 0.5, "solver": "magic"}),
            ("elbow", {"eta_forward": 0.5, "tolerance": 3}),
            ("elbow", {"eta_forward": 0.5, "backlash": "exact", "half_gap": 1, "stiffness": 1, "motor_joint": "knee"}),
        ):
            spec = arm()
            before = spec.to_xml()
            with self.assertRaises(mjgear.GearError) as caught:
                mjgear.add(spec, joints.split(), **keys)
            self.assertEqual(spec.to_xml(), before)
            if "backlash" in keys:
                spec.joint("elbow").armature = 0
                keys = {**keys, "rotor_inertia": 0.1}
            spec.add_plugin(name="gears", plugin_name="mjgear.transmission", active=True).config = {
                "joint": joints,
                **{key: str(value) for key, value in keys.items()},
            }
            self.assertEqual(caught.exception.problems, mjgear.check(spec).problems)

    def test_free_joint(self):
        spec = mujoco.MjSpec.from_string(BRANCHES % ("", ""))
        line = "key 'joint': joint 'root' is a free joint; a gear drives a hinge or a slide joint"
        with self.assertRaisesRegex(mjgear.GearError, line):
            mjgear.add(spec, "root", "worm")
        self.assertEqual(mjgear.add(spec, "*", "worm").joints, ("l", "r"))

    def test_second_add(self):
        spec = arm()
        mjgear.add(spec, "elbow", "worm")
        with self.assertRaisesRegex(mjgear.GearError, r"instance 'gears' already; .* add\(.., name='gears_2'\)"):
            mjgear.add(spec, "shoulder", "worm", name="gears")
        with self.assertRaisesRegex(
            mjgear.GearError, "joint 'elbow' already has a gear from instance 'gears'; name each once"
        ):
            mjgear.add(spec, "elbow", "worm", name="gears_2")
        mjgear.add(spec, "shoulder", "worm", name="gears_2")
        self.assertEqual(len(mjgear.Gears(model := spec.compile(), mujoco.MjData(model))), 2)


class AtTheCall(unittest.TestCase):
    def setUp(self):
        self.model, self.data = geared(eta_forward=0.9)
        self.gears = mjgear.Gears(self.model, self.data)

    def test_misspelt_and_results(self):
        gear = self.gears["elbow"]
        for name, line in (
            ("eta_foward", "unknown key 'eta_foward'; did you mean eta_forward"),
            ("friction", "friction is what the last step resulted in"),
            ("results", "results are what the last step resulted in"),
            ("state", "state is what the last step resulted in"),
            ("armature", "armature is the engine's"),
            ("name", "unknown key 'name'"),
        ):
            with self.assertRaisesRegex(AttributeError, line):
                setattr(gear, name, 0.1)
        with self.assertRaisesRegex(AttributeError, "did you mean eta_backward"):
            gear.eta_bakward
        with self.assertRaisesRegex(AttributeError, "did you mean solver"):
            self.gears.slover = "lemke"
        with self.assertRaisesRegex(AttributeError, "did you mean coulomb"):
            self.gears.coulom = 1
        with self.assertRaisesRegex(mjgear.GearError, "coulomb has shape"):
            gear.coulomb = [1, 2]
        with self.assertRaisesRegex(mjgear.GearError, "'much' is not a number"):
            gear.coulomb = "much"
        with self.assertRaisesRegex(mjgear.GearError, "coulomb = 1e[+]308 is more than any gear has"):
            gear.coulomb = 1e308
        for change in gear.set, gear.describe:
            with self.assertRaisesRegex(mjgear.GearError, "unknown key 'type'"):
                change(type="worm")
        with self.assertRaisesRegex(mjgear.GearError, "unknown solver 'None'"):
            self.gears.solver = None
        with self.assertRaises(AttributeError):
            mjgear.explain("worm").eta_forward = 1
        gear.static_ratio = 1.5
        self.assertEqual(gear.static_ratio, 1.5)
        for key in mjgear.keys().values():
            self.assertEqual(hasattr(mjgear.Gear, key.name), not key.of_joint, key.name)

    def test_wrong_objects(self):
        spec = arm()
        for call, line in (
            (
                lambda: mjgear.add(self.model, "elbow", "worm"),
                "^add needs an MjSpec, not MjModel, which is compiled: take the MjSpec that it came from, then add, then compile$",
            ),
            (
                lambda: mjgear.add("arm.xml", "elbow", "worm"),
                r"^add needs an MjSpec, not str; take mujoco.MjSpec.from_file\(..\), then add, then compile$",
            ),
            (
                lambda: mjgear.Gears(self.data, self.model),
                r"the first argument is an MjData; write Gears\(model, data\)",
            ),
            (
                lambda: mjgear.add(
                    mujoco.MjSpec.from_string(
                        "<mujoco><worldbody><body><joint/><geom size='.1'/></body></worldbody></mujoco>"
                    ),
                    "*",
                    "worm",
                ),
                r"'\*' fits a joint without a name in a body without a name; give it one",
            ),
            (lambda: mjgear.explain("harmonic"), "unknown preset 'harmonic'; did you mean harmonic_drive"),
            (lambda: mjgear.add(spec, None, "worm"), r"joints are \[None\]; give a name, or a list of names"),
            (lambda: mjgear.add(spec, b"elbow", "worm"), "give a name, or a list of names"),
            (lambda: mjgear.add(spec, "elbow", "worm", name=3), "name is 3; give a text"),
            (lambda: mjgear.add(spec, "elbow", "worm", joint="a"), "joint is no key of add"),
            (
                lambda: mjgear.Gears(spec, self.data),
                "Gears needs an MjModel and its data, not MjSpec, which is not compiled",
            ),
            (lambda: mjgear.Gears(self.model, None), "Gears needs an MjData of the model, or a Batch, not NoneType"),
            (
                lambda: mjgear.Gears(self.model, self.model),
                "Gears needs an MjData of the model, or a Batch, not MjModel",
            ),
            (lambda: mjgear.check(3), "a model is an MJCF file, an MjSpec or an MjModel, not int"),
        ):
            with self.assertRaisesRegex(mjgear.GearError, line):
                call()

    def test_shapes_over_a_batch(self):
        elbow = mjgear.Gears(self.model, Batch(self.model, 5, nthread=1))["elbow"]
        for value in ([0.5, 0.6], [[0.5] * 5], np.zeros((5, 2))):
            with self.assertRaisesRegex(
                mjgear.GearError, r"'elbow': eta_forward has shape \(.*\) for 5 simulations; give one, or one for each"
            ):
                elbow.eta_forward = value
        elbow.set(eta_forward=["80 %", 0.7, 0.6, 0.5, 0.4], coulomb="2 Nm")
        np.testing.assert_allclose(elbow.eta_forward, [0.8, 0.7, 0.6, 0.5, 0.4])
        np.testing.assert_array_equal(elbow.coulomb, 2)

    def test_batch_of_another_model(self):
        """Refused for an MjData, because a written value would be lost."""
        foreign = r"the data are not of this model; make them with it, mujoco.MjData\(model\)"
        spec = arm()
        mjgear.add(spec, "elbow", eta_forward=0.9)
        fewer = spec.compile()
        stiffer, _ = geared(eta_forward=0.8)
        for other in (fewer, stiffer, arm().compile()):
            with self.assertRaisesRegex(mjgear.GearError, foreign):
                mjgear.Gears(self.model, Batch(other, 2, nthread=1))
        plain = arm().compile()
        with self.assertRaisesRegex(mjgear.GearError, "this model has no gear"):
            mjgear.Gears(plain, Batch(plain, 2, nthread=1))
        batch = Batch(self.model, 2, nthread=1)
        self.assertEqual(len(mjgear.Gears(self.model, batch)), 2)
        batch.set_models([self.model, stiffer])  # gears of their own, at the same places
        np.testing.assert_allclose(mjgear.Gears(self.model, batch)["elbow"].eta_forward, [0.9, 0.8])

    def test_names_that_do_not_exist(self):
        for call, error, line in (
            (lambda: mjgear.presets()["wrom"], KeyError, "unknown preset 'wrom'; did you mean worm"),
            (lambda: mjgear.robots()["ur5"], KeyError, "unknown robot 'ur5'; did you mean ur5e"),
            (lambda: mjgear.models()["cobt"], KeyError, "unknown model 'cobt'; did you mean cobot"),
            (lambda: mjgear.keys()["colomb"], KeyError, "unknown key 'colomb'; did you mean coulomb"),
            (lambda: self.gears["elbow"][70], KeyError, "70 is no key of a gear; write a name such as 'coulomb'"),
            (lambda: self.gears.elbow, AttributeError, r"gears are found by name: gears\['elbow'\]"),
            (lambda: self.gears.coulom, AttributeError, "did you mean coulomb"),
        ):
            with self.assertRaisesRegex(error, line):
                call()

    def test_pickled_data(self):
        self.gears["elbow"].eta_forward = 0.5
        data = pickle.loads(pickle.dumps(self.data))
        with self.assertRaisesRegex(
            mjgear.GearError, r"the data are not of this model; .*mjgear.Gears\(data.model, data\)"
        ):
            mjgear.Gears(self.model, data)
        self.assertEqual(mjgear.Gears(data.model, data)["elbow"].eta_forward, 0.5)

    def test_preset_values_are_readable(self):
        model, data = geared(preset="harmonic_drive")
        gear = mjgear.Gears(model, data)["elbow"]
        self.assertAlmostEqual(gear.eta_backward, 2 - 1 / 0.8, delta=1e-14)
        self.assertEqual(gear.ratio, 100)
        model, data = geared(preset="worm")
        gear, facts = mjgear.Gears(model, data)["elbow"], mjgear.explain("worm")
        self.assertEqual((gear.eta_forward, gear.eta_backward, gear.mu), (facts.eta_forward, facts.eta_backward, 0.1))
        batch = mjgear.Gears(model, Batch(model, 3, nthread=1))["elbow"]
        np.testing.assert_array_equal(batch.eta_forward, [facts.eta_forward] * 3)


class Armature(unittest.TestCase):
    """planetary_1stage: 3e-5 kg m2 at the motor, ratio 10, so 3e-3 at the output."""

    def of(self, own, preset="planetary_1stage", **values):
        spec = mujoco.MjSpec.from_string(BRANCHES % (own, own))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            mjgear.add(spec, ["l", "r"], preset, **values)
        return spec.compile(), [str(one.message) for one in caught if one.category is mjgear.GearWarning]

    def test_keep_is_the_default(self):
        for policy in ({}, {"armature": "keep"}):
            model, _ = self.of(' armature="1"', **policy)
            np.testing.assert_array_equal(model.dof_armature[6:], 1)
            model, _ = self.of("", **policy)  # none of its own
            np.testing.assert_allclose(model.dof_armature[6:], 3e-3, rtol=1e-14)

    def test_home_without_a_name(self):
        spec = mujoco.MjSpec.from_string(
            "<mujoco><worldbody><body><joint name='a'/><geom size='.1'/></body></worldbody></mujoco>"
        )
        self.assertRegex(str(mjgear.add(spec, "a", "worm")), "^instance 'gears' in a body without a name: ")

    def test_preset_and_numbers(self):
        for armature, expected in (("preset", 3e-3), (0.5, 0.5), ("200 kgcm2", 0.02), ([0.1, 0.2], [0.1, 0.2]), (0, 0)):
            model, _ = self.of(' armature="1"', armature=armature)
            np.testing.assert_allclose(model.dof_armature[6:], expected, rtol=1e-14)
        with self.assertRaisesRegex(mjgear.GearError, "harmonic_drive has no rotor inertia"):
            self.of(' armature="1"', "harmonic_drive", armature="preset")
        with self.assertRaisesRegex(
            mjgear.GearError, "armature = 'kep' is unknown; write 'keep', 'preset' or a number"
        ):
            self.of("", armature="kep")
        with self.assertRaisesRegex(mjgear.GearError, "armature and motor_inertia say the same twice"):
            self.of("", armature=1, motor_inertia=1e-4)

    def test_the_motors_inertia_comes_on_top_of_the_gears(self):
        model, _ = self.of(' armature="1"', motor_inertia=1e-4)
        np.testing.assert_allclose(model.dof_armature[6:], (1e-4 + 3e-5) * 100, rtol=1e-14)

    def test_damping_that_the_robot_has_stays(self):
        model, _ = self.of(' damping="2"', "xl330")
        np.testing.assert_array_equal(model.dof_damping[6:], 2)
        model, _ = self.of("", "xl330")
        np.testing.assert_array_equal(model.dof_damping[6:], mjgear.presets()["xl330"].keys["viscous"])
        model, _ = self.of(' damping="2"', "xl330", viscous=0.5)
        np.testing.assert_array_equal(model.dof_damping[6:], 0.5)

    def test_in_front_of_a_gap_the_own_armature_is_the_rotor(self):
        model, _ = self.of(' armature="0.2"', "harmonic_drive", backlash="exact", half_gap=1e-3, stiffness=1e4)
        np.testing.assert_array_equal(model.dof_armature[6:], 0)
        gears = mjgear.Gears(model, mujoco.MjData(model))
        self.assertEqual([gear.rotor_inertia for gear in gears.values()], [0.2, 0.2])

    def test_a_stiff_drive_does_not_blow_up(self):
        """The armature that keeps a stiff servo stable: 1 became 3e-3, and the state NaN."""
        text = (BRANCHES % (' armature="1"', ' armature="1"')).replace(
            "</mujoco>",
            """<option timestep=".01"/>
            <actuator><position joint="l" kp="500"/><position joint="r" kp="500"/></actuator></mujoco>""",
        )
        found = {}
        for policy in ("keep", "preset"):
            spec = mujoco.MjSpec.from_string(text)
            mjgear.add(spec, ["l", "r"], "planetary_1stage", armature=policy)
            model = spec.compile()
            data = mujoco.MjData(model)
            data.ctrl = 1, -1
            mujoco.mj_step(model, data, 300)
            found[policy] = np.isfinite(data.qpos).all() and not data.warning[mujoco.mjtWarning.mjWARN_BADQACC].number
        self.assertEqual(found, {"keep": True, "preset": False})

    def test_what_a_joint_keeps_is_told(self):
        spec = mujoco.MjSpec.from_string(BRANCHES % (' armature=".2"', ' damping="3"'))
        text = str(mjgear.add(spec, ["l", "r"], eta_forward=0.8, coulomb=1))
        self.assertRegex(text, r"(?m)^l +0\.2 \(its own\) +0 \(none\)$")
        self.assertRegex(text, "^instance 'gears' in body 'base'")
        self.assertRegex(text, r"(?m)^r +0 \(none\) +3 \(its own\)$")

    def test_warns_of_frictionloss_besides(self):
        """In the words of the tool, by add and by check."""
        spec = mujoco.MjSpec.from_string(BRANCHES % (' armature="1" frictionloss=".2"', ' armature="1"'))
        with self.assertWarnsRegex(mjgear.GearWarning, "joint 'l' has frictionloss 0.2 in addition to its gear"):
            mjgear.add(spec, ["l", "r"], "worm")
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "model.xml")
            pathlib.Path(file).write_text(spec.to_xml())
            self.assertEqual(list(mjgear.check(spec).warnings), tool("check", file)[1])

    def test_frictionloss_is_told_once(self):
        """Warned by add and not again by the compiled model; warned by a model without add."""
        code = """import mujoco, mjgear, sys
spec = mujoco.MjSpec.from_string(sys.argv[1])
mjgear.add(spec, ["l", "r"], "worm")
model = spec.compile()
mujoco.mj_step(model, mujoco.MjData(model))
print("twice", flush=True)
model = mujoco.MjModel.from_xml_string(spec.to_xml().replace('0.2', '0.3'))
mujoco.mj_step(model, mujoco.MjData(model))
"""
        text = BRANCHES % (' armature="1" frictionloss=".2"', ' armature="1"')
        done = subprocess.run(
            [sys.executable, "-c", code, text], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True
        )
        before, after = done.stdout.split("twice")
        self.assertEqual([before.count("has frictionloss"), after.count("has frictionloss")], [1, 1], done.stdout)

    def test_warns_where_a_gear_does_nothing(self):
        """With the motor off the robot falls as it would without gears, to the last bit but rounding."""
        model, lines = self.of("", "harmonic_drive")
        self.assertEqual(len(lines), 2)
        self.assertRegex(
            lines[0], "joint 'l': the gear has neither rotor inertia .* does nothing while its motor is off"
        )
        paths = []
        for one in (model, mujoco.MjModel.from_xml_string(BRANCHES % ("", ""))):
            data = mujoco.MjData(one)
            data.qvel[6:] = 2, -3
            mujoco.mj_step(one, data, 100)
            paths.append(data.qpos.copy())
        np.testing.assert_allclose(paths[0], paths[1], rtol=0, atol=1e-12)
        for own, preset, values in (
            (' armature=".1"', "harmonic_drive", {}),
            ("", "harmonic_drive", {"coulomb": 0.1}),
            ("", "worm", {}),
            ("", "planetary_1stage", {}),
        ):
            self.assertEqual(self.of(own, preset, **values)[1], [])


class Home(unittest.TestCase):
    def test_nearest_body_that_carries_all(self):
        """Also in a spec that was never compiled, whose bodies have no ids yet."""
        robot = mujoco.MjSpec()
        base = robot.worldbody.add_body(name="base")
        base.add_geom(size=[0.1, 0, 0])
        trunk = base.add_body(name="trunk")
        trunk.add_geom(size=[0.1, 0, 0])
        for name in ("left", "right"):
            body = trunk.add_body(name=name)
            body.add_joint(name=f"{name}_hip", axis=[0, 1, 0], armature=0.1)
            body.add_geom(size=[0.1, 0, 0], pos=[0.2, 0, 0])
        added = mjgear.add(robot, ["left_hip", "right_hip"], "worm")
        self.assertEqual(added.home, "trunk")

        # each branch takes its gear along
        for name in ("left", "right"):
            scene = mujoco.MjSpec()
            scene.attach(robot, frame=scene.worldbody.add_frame(), prefix="a_")
            model = scene.compile()
            self.assertEqual(list(mjgear.Gears(model, mujoco.MjData(model))), ["a_left_hip", "a_right_hip"])
            break

    def travels(self, robot, part, expected):
        """Gears of a model, of its copy, its text, and where it, or a part of it, is attached."""
        scene, other = mujoco.MjSpec(), mujoco.MjSpec()
        scene.attach(robot.copy(), frame=scene.worldbody.add_frame(), prefix="a_")
        other.worldbody.add_frame().attach_body(robot.copy().body(part), "a_", "") if part else None
        text = mujoco.MjModel.from_xml_string(robot.to_xml())
        models = [robot.copy().compile(), text, robot.compile(), scene.compile(), *([other.compile()] if part else [])]
        for model in models:
            names = [name.removeprefix("a_") for name in mjgear.Gears(model, mujoco.MjData(model))]
            self.assertEqual(names, expected)

    def test_roots_without_a_common_body(self):
        scene = mujoco.MjSpec()
        for name in ("a", "b"):
            body = scene.worldbody.add_body(name=name)
            body.add_joint(name=f"joint_{name}", armature=0.1)
            body.add_geom(size=[0.1, 0, 0])
        self.assertEqual(mjgear.add(scene, "*", "worm").home, "gears_home")
        self.travels(scene, None, ["joint_a", "joint_b"])

    def test_second_call(self):
        """Gears of one body by two calls: tendons, joints, and again after one was removed."""
        for kind in "tendons", "joints":
            robot = mujoco.MjSpec()
            base = robot.worldbody.add_body(name="base")
            for name in ("a", "b"):
                base.add_joint(name=name, axis=np.eye(3)["ab".index(name)], armature=0.1)
                robot.add_actuator(trntype=mujoco.mjtTrn.mjTRN_JOINT, target=name).set_to_motor()
            base.add_geom(size=[0.1, 0, 0])
            for name in ("s", "t") if kind == "tendons" else ():
                tendon = robot.add_tendon(name=name, armature=0.1)
                tendon.wrap_joint("a", 1)
                tendon.wrap_joint("b", 1 if name == "s" else -1)
                robot.add_actuator(trntype=mujoco.mjtTrn.mjTRN_TENDON, target=name).set_to_motor()
            names = [one.name for one in getattr(robot, kind)]
            homes = [mjgear.add(robot, **{kind: name}, eta_forward=0.7, coulomb=0.1).home for name in names]
            self.assertEqual(homes, ["base", "gears_2_home"])
            self.travels(robot, "base", names)
            mjgear.remove(robot, **{kind: names[1]})
            self.assertIsNone(robot.body("gears_2_home"))
            self.travels(robot, "base", names[:1])
            self.assertEqual(mjgear.add(robot, **{kind: names[1]}, eta_forward=0.7).home, "gears_2_home")
            self.travels(robot, "base", names)


class Shown(unittest.TestCase):
    def test_tables(self):
        model, data = geared(eta_forward=[0.8, 0.6], coulomb=0.5)
        mujoco.mj_step(model, data)
        self.assertEqual([data.qvel[0] != 0, data.qvel[1] != 0], [True, False])  # the weight drives one gear
        gears = mjgear.Gears(model, data)
        self.assertEqual(
            str(gears).splitlines(),
            [
                "gear      eta_forward  eta_backward  coulomb  armature   state",
                "                    1             1      N m     kg m2",
                "shoulder          0.8          0.75      0.5       0.3  driven",
                "elbow             0.6        0.3333      0.5       0.1   stuck",
            ],
        )
        text = str(gears["elbow"])
        self.assertRegex(text, r"(?m)^  coulomb +0\.5 +N m +load-independent sliding friction$")
        self.assertRegex(text, r"(?m)^  torque_out +\S+ +N m +torque delivered to the link$")
        self.assertRegex(str(gears["elbow"].explain()), r"(?m)^motor_torque_raises +\S+ +N m$")
        self.assertRegex(str(mjgear.explain("acme_screw")), r"(?m)^armature +\S+ +kg$")
        self.assertRegex(str(mjgear.presets()["worm"]), r"(?m)^lead_angle +0\.08727 +rad +lead angle")
        self.assertRegex(str(mjgear.check(model)), "gear of 'shoulder'")
        batch = mjgear.Gears(model, Batch(model, 2, nthread=1))
        batch["elbow"].coulomb = [1, 2]
        self.assertRegex(str(batch), r"(?m)^elbow .* 1 \.\. 2 ")


class Extras(unittest.TestCase):
    """Packages for optional parts: the message names the package to install."""

    def test_as_pyproject_says(self):
        text = (SOURCE / "pyproject.toml").read_text()
        section = text.split("[project.optional-dependencies]\n")[1].split("\n\n")[0]
        extras = {
            name: ast.literal_eval(packages) for name, packages in (line.split(" = ") for line in section.splitlines())
        }
        self.assertEqual({name: shlex.split(words) for name, words in _extras.PACKAGES.items()}, extras)
        # the newest release is the one that ./check installs; the oldest one takes the plugin's oldest MuJoCo
        pinned = re.search(
            r"^mujoco-warp==([0-9]+\.[0-9]+)", (SOURCE / "cmake/requirements-warp.in").read_text(), re.MULTILINE
        )
        oldest = re.search(r'"mujoco>=([0-9.]+)"', text)
        self.assertEqual(_extras.WARP, (oldest[1], pinned[1]))

    def run_without(self, module, code, *words):
        code = f"import sys; sys.modules[{module!r}] = None; sys.argv[1:] = {list(words)!r}\n{code}"
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    def test_identify(self):
        program = "from mjgear import _programs; _programs.mjgear()"
        line = "needs scipy, which is not installed: pip install scipy matplotlib (in a clone of mjgear: pip install '.[identify]')"
        done = self.run_without("scipy", program, "identify", "logs/")
        self.assertEqual((done.returncode, done.stderr), (1, f"mjgear identify {line}\n"))
        done = self.run_without("scipy", program, "identify", "--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.startswith("usage: mjgear identify LOGS") and line in done.stdout, done.stdout)
        self.assertEqual(
            self.run_without("scipy", "import mjgear.identify").stderr.splitlines()[-1],
            f"ImportError: mjgear.identify {line}",
        )

    def test_warp_and_figures(self):
        done = self.run_without("mujoco_warp", "import mjgear.warp")
        self.assertEqual(
            done.stderr.splitlines()[-1],
            "ImportError: mjgear.warp needs mujoco_warp, which is not installed: pip install "
            "'mujoco-warp>=3.11' (in a clone of mjgear: pip install '.[warp]')",
        )
        done = self.run_without("matplotlib", "import mjgear; mjgear.plot('worm', kind='law')")
        self.assertEqual(
            done.stderr.splitlines()[-1],
            "ImportError: a figure needs matplotlib, which is not installed: pip install matplotlib "
            "(in a clone of mjgear: pip install '.[plot]')",
        )


if __name__ == "__main__":
    unittest.main()
