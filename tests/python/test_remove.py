"""Gears that are taken off, replaced, named, attached in part and written: mjgear.remove, add(.., replace, home), check."""

import os
import unittest
import warnings

import mujoco
import numpy as np

import mjgear

# a base with two links and a tendon over both; %s: the actuators
ARM = """<mujoco><worldbody><body name="base"><joint name="a" axis="0 1 0" armature=".1"/><geom size=".05"/><body name="left link" pos=".3 0 0">
<joint name="left elbow" axis="0 1 0" armature=".2"/><geom size=".05"/><body name="tip" pos=".3 0 0"><joint name="c" type="slide" armature=".3"/>
<geom size=".05"/></body></body></body></worldbody>
<tendon><fixed name="both"><joint joint="a" coef="1"/><joint joint="left elbow" coef="-1"/></fixed></tendon>%s</mujoco>"""
MOTORS = '<actuator><motor joint="a"/><motor joint="left elbow"/><motor joint="c"/></actuator>'


def arm():
    return mujoco.MjSpec.from_string(ARM % MOTORS)


def numbers(spec):
    """eta_forward of each geared joint, as the engine steps it."""
    model = spec.compile()
    return {name: round(gear.eta_forward, 12) for name, gear in mjgear.Gears(model, mujoco.MjData(model)).items()}


class Remove(unittest.TestCase):
    def test_some_of_an_instance(self):
        for gone in (["a"], ["left elbow"], ["c", "a"], "*e*"):
            spec = arm()
            mjgear.add(
                spec,
                ["a", "left elbow", "c"],
                eta_forward=[0.9, 0.8, 0.7],
                coulomb=1,
                gamma_torque="0 1 10 0.5",
                sensors=True,
            )
            removed = mjgear.remove(spec, gone)
            self.assertEqual(set(removed), set(["left elbow"] if gone == "*e*" else gone))
            rest = {name: eta for name, eta in {"a": 0.9, "left elbow": 0.8, "c": 0.7}.items() if name not in removed}
            self.assertEqual(numbers(spec), rest)
            self.assertEqual([sensor.objname for sensor in spec.sensors], list(rest))
            self.assertEqual(numbers(mujoco.MjSpec.from_string(spec.to_xml())), rest)

    def test_all(self):
        spec = arm()
        plain = spec.compile()
        mjgear.add(spec, ["a", "left elbow"], eta_forward=0.9, sensors=True)
        mjgear.add(spec, tendons="both", eta_forward=0.7, coulomb=1)
        self.assertEqual(mjgear.remove(spec, "*", tendons="both"), ("a", "left elbow", "both"))
        model = spec.compile()
        self.assertEqual((model.nplugin, model.nsensor), (0, 0))
        ends = []
        for one in (plain, model):
            data = mujoco.MjData(one)
            mujoco.mj_step(one, data, 100)
            ends.append(data.qpos.tolist())
        self.assertEqual(*ends)

    def test_a_geared_joint_was_deleted(self):
        for what in ("joint", "body"):
            spec = arm()
            mjgear.add(spec, ["a", "left elbow", "c"], eta_forward=[0.9, 0.8, 0.7])
            for actuator in list(spec.actuators):
                if actuator.target == "c":
                    spec.delete(actuator)
            spec.delete(spec.joint("c") if what == "joint" else spec.body("tip"))
            with self.assertRaises(ValueError):
                spec.compile()
            mjgear.remove(spec, "c")
            self.assertEqual(numbers(spec), {"a": 0.9, "left elbow": 0.8})

    def test_refused(self):
        spec = arm()
        mjgear.add(spec, "a", "worm")
        before = spec.to_xml()
        for call, line in (
            (lambda: mjgear.remove(spec, ["a", "b"]), "no geared joint 'b' in the model; geared joints are a"),
            (
                lambda: mjgear.remove(spec, tendons="both"),
                "no geared tendon 'both' in the model; geared tendons are none",
            ),
            (lambda: mjgear.remove(spec, 3), "joints are"),
            (lambda: mjgear.remove(spec.compile(), "a"), "needs an MjSpec"),
        ):
            with self.assertRaisesRegex((mjgear.GearError, TypeError), line):
                call()
        self.assertEqual(spec.to_xml(), before)


class Replace(unittest.TestCase):
    def test_takes_the_place(self):
        spec = arm()
        mjgear.add(spec, ["a", "left elbow", "c"], eta_forward=[0.9, 0.8, 0.7], sensors=True)
        mjgear.add(spec, ["left elbow", "c"], eta_forward=[0.6, 0.55], replace=True)
        self.assertEqual(numbers(spec), {"a": 0.9, "left elbow": 0.6, "c": 0.55})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            again = mjgear.add(spec, "*", eta_forward=0.75, replace=True, name="gears")  # of which nothing is left
        self.assertEqual((again.instance, numbers(spec)), ("gears", dict.fromkeys(("a", "left elbow", "c"), 0.75)))
        self.assertEqual([plugin.name for plugin in spec.plugins], ["gears"])

    def test_a_refusal_leaves_the_old_one(self):
        spec = arm()
        mjgear.add(spec, "*", eta_forward=0.9)
        before = spec.to_xml()
        with self.assertRaises(mjgear.GearError):
            mjgear.add(spec, "*", eta_forward=1.9, replace=True)
        with self.assertRaisesRegex(mjgear.GearError, "already has a gear"):
            mjgear.add(spec, "a", eta_forward=0.9)
        self.assertEqual(spec.to_xml(), before)

    def test_default_names(self):
        spec = arm()
        names = [mjgear.add(spec, joint, eta_forward=0.9).instance for joint in ("a", "left elbow", "c")]
        self.assertEqual(names, ["gears", "gears_2", "gears_3"])


class Attached(unittest.TestCase):
    def attach(self, **options):
        spec, whole = arm(), mujoco.MjSpec()
        mjgear.add(spec, ["a", "left elbow", "c"], eta_forward=[0.9, 0.8, 0.7], **options)
        whole.worldbody.add_frame().attach_body(spec.body("left link"), "x_", "")
        return spec, whole

    def test_a_part_loses_gears_and_check_tells(self):
        _, whole = self.attach()
        told = mjgear.check(whole).warnings
        self.assertEqual(len(told), 2)
        self.assertIn("joint 'x_left elbow' had a gear of instance 'gears', which was left behind", told[0])
        mjgear.add(whole, ["x_left elbow", "x_c"], eta_forward=0.9)
        self.assertEqual(mjgear.check(whole).warnings, ())

    def test_a_brake_that_comes_along_is_no_gear(self):
        spec, whole = arm(), mujoco.MjSpec()
        mjgear.add(spec, ["a", "c"], eta_forward=0.9)
        mjgear.add_brake(spec, "c", holding_torque=3)
        whole.worldbody.add_frame().attach_body(spec.body("left link"), "x_", "")
        told = mjgear.check(whole).warnings
        self.assertEqual(len(told), 1)
        self.assertIn("joint 'x_c' had a gear of instance 'gears', which was left behind", told[0])
        mjgear.add(whole, "x_c", coulomb=0.1)
        self.assertEqual(mjgear.check(whole).warnings, ())

    def test_instances_of_their_own_travel(self):
        spec, whole = self.attach(home="own")
        self.assertEqual(numbers(whole), {"x_left elbow": 0.8, "x_c": 0.7})
        self.assertEqual(mjgear.check(whole).warnings, ())
        spec = arm()
        added = mjgear.add(spec, ["a", "left elbow", "c"], eta_forward=[0.9, 0.8, 0.7], sensors=True, home="own")
        self.assertEqual([plugin.name for plugin in spec.plugins], ["gears_a", "gears_left elbow", "gears_c"])
        shared = arm()
        mjgear.add(shared, ["a", "left elbow", "c"], eta_forward=[0.9, 0.8, 0.7], sensors=True)
        ends = []
        for one in (spec, shared):
            model = one.compile()
            data = mujoco.MjData(model)
            data.ctrl[:] = 1, -2, 3
            mujoco.mj_step(model, data, 200)
            ends.append(np.concatenate([data.qpos, data.sensordata]).tolist())
        self.assertEqual(*ends)
        self.assertEqual(added.config["eta_forward"], "0.9 0.8 0.7")

    @unittest.skipIf(
        "asan" in os.environ.get("LD_PRELOAD", ""),
        "MuJoCo 4.0.0 reads the plugin of an attached body after it was deleted",
    )
    def test_the_whole_robot(self):
        spec, whole = arm(), mujoco.MjSpec()
        mjgear.add(spec, ["a", "left elbow"], eta_forward=[0.9, 0.8])
        whole.worldbody.add_frame().attach_body(spec.body("base"), "x_", "")
        self.assertEqual(mjgear.check(whole).warnings, ())
        self.assertEqual(mjgear.remove(whole, "x_a"), ("x_a",))
        self.assertEqual(numbers(whole), {"x_left elbow": 0.8})
        mjgear.add(whole, "x_*", eta_forward=0.6, replace=True)
        self.assertEqual(set(numbers(whole).values()), {0.6})
        self.assertEqual(mjgear.check(whole).warnings, ())


class Written(unittest.TestCase):
    def test_instances_without_a_name(self):
        text = ARM % '<actuator><plugin plugin="mujoco.pid" joint="a"><config key="kp" value="4"/></plugin></actuator>'
        spec = mujoco.MjSpec.from_string(
            text.replace("<worldbody>", '<extension><plugin plugin="mujoco.pid"/></extension><worldbody>')
        )
        with self.assertWarnsRegex(
            mjgear.GearWarning, "instances of mujoco.pid without a name, with which the engine's to_xml loses"
        ) as caught:
            mjgear.add(spec, "a", eta_forward=0.9)
        self.assertEqual(caught.filename, __file__)
        self.assertIn("mujoco.pid without a name", " ".join(mjgear.check(spec).warnings))
        named = text.replace(
            "<worldbody>",
            '<extension><plugin plugin="mujoco.pid"><instance name="pid"><config key="kp" value="4"/></instance></plugin></extension><worldbody>',
        )
        named = named.replace(
            '<plugin plugin="mujoco.pid" joint="a"><config key="kp" value="4"/></plugin>',
            '<plugin plugin="mujoco.pid" joint="a" instance="pid"/>',
        )
        spec = mujoco.MjSpec.from_string(named)  # the remedy
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            mjgear.add(spec, "a", eta_forward=0.9)
        self.assertEqual(numbers(mujoco.MjSpec.from_string(spec.to_xml())), {"a": 0.9})

    def test_slides_have_their_units(self):
        spec = arm()
        self.assertRegex(str(mjgear.add(spec, "c", eta_forward=0.9, viscous=2)), r"kg +N s/m\n")
        self.assertRegex(str(mjgear.add(spec, "a", eta_forward=0.9, viscous=2)), r"kg m2 +N m/\(rad/s\)\n")
        self.assertIn("kg m2 | kg", str(mjgear.add(arm(), ["a", "c"], eta_forward=0.9)))


if __name__ == "__main__":
    unittest.main()
