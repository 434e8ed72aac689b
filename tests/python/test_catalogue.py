"""mjgear.presets, explain, convert, keys: results of the core, in Python."""

import math
import unittest

import mjgear


class Explain(unittest.TestCase):
    def test_worm_is_equation_17(self):
        lead, pressure, mu = math.radians(5), math.radians(20), 0.1
        facts = mjgear.explain(type="worm", lead_angle=lead, pressure_angle=pressure, mu=mu, load=10)

        # the textbook's efficiencies of a worm that drives and is driven
        c, t = math.cos(pressure), math.tan(lead)
        forward = (c - mu * t) / (c + mu / t)
        backward = (c - mu / t) / (c + mu * t)
        self.assertAlmostEqual(facts.eta_forward, forward, delta=1e-14)
        self.assertAlmostEqual(facts.eta_backward, backward, delta=1e-14)
        self.assertFalse(facts.backdrivable)
        self.assertAlmostEqual(facts.motor_torque_raises, 10 / forward, delta=1e-12)
        self.assertAlmostEqual(facts.motor_torque_lowers, 10 * backward, delta=1e-12)
        self.assertEqual(facts.load_torque_starts_motor_off, math.inf)
        self.assertIsNone(facts.inertia)
        self.assertIsNone(facts.rho)

    def test_preset_with_a_key_changed(self):
        facts = mjgear.explain("harmonic_drive", coulomb=2, inertia=3, armature=1)
        self.assertAlmostEqual(facts.eta_forward, 0.8, delta=1e-14)
        self.assertAlmostEqual(facts.eta_backward, 2 - 1 / 0.8, delta=1e-14)
        self.assertAlmostEqual(facts.motor_torque_starts_unloaded, 2, delta=1e-14)
        self.assertAlmostEqual(facts.apparent_inertia_forward, 0.8 * 1 + 3, delta=1e-14)

    def test_problems_are_the_librarys_lines(self):
        with self.assertRaises(mjgear.GearError) as caught:
            mjgear.explain(eta_forward=3, coulomb=-1)
        self.assertEqual(len(caught.exception.problems), 2)
        self.assertRegex(caught.exception.problems[0], "eta_forward = 3 .*write")
        self.assertRegex(caught.exception.problems[1], "coulomb = -1 .*write")

    def test_names_that_do_not_exist(self):
        for call, hint in (
            (lambda: mjgear.explain("wrom"), "did you mean worm"),
            (lambda: mjgear.explain(eta_forwrd=0.5), "did you mean eta_forward"),
            (lambda: mjgear.explain(type="leadscrw"), "did you mean leadscrew"),
            (lambda: mjgear.convert("wurm", "worm"), "did you mean worm"),
            (lambda: mjgear.explain(mu="much"), "mu = 'much' is not a number; write one such as 0.5"),
        ):
            with self.assertRaisesRegex(mjgear.GearError, hint):
                call()


class Convert(unittest.TestCase):
    def test_there_and_back(self):
        worm = {"type": "worm", "lead_angle": 0.2, "pressure_angle": 0.35, "mu": 0.07}
        coefficients = mjgear.convert("coefficients", **worm)
        self.assertEqual(set(coefficients), {"type", "gamma_u", "gamma_v"})
        back = mjgear.convert(
            "worm", pressure_angle=0.35, gamma_u=coefficients["gamma_u"], gamma_v=coefficients["gamma_v"]
        )
        for key in ("lead_angle", "mu"):
            self.assertAlmostEqual(back[key], worm[key], delta=1e-13)

    def test_no_such_gear(self):
        with self.assertRaisesRegex(mjgear.GearError, "no worm has gamma_u = 0"):
            mjgear.convert("worm", "harmonic_drive", pressure_angle=0.3)


class Tables(unittest.TestCase):
    def test_presets(self):
        presets = mjgear.presets()
        self.assertIn("harmonic_drive", presets)
        for name, preset in presets.items():
            self.assertEqual(name, preset.name)
            self.assertTrue(preset.source)
            self.assertLessEqual(set(preset.keys) - {"type"}, set(mjgear.keys()))
            mjgear.explain(name)
        self.assertEqual((presets["worm"].torque_constant, presets["worm"].resistance), (None, None))

    def test_keys(self):
        eta = mjgear.keys()["eta_forward"]
        self.assertEqual((eta.unit, eta.minimum, eta.maximum, eta.open_minimum), ("1", 0, 1, True))
        self.assertTrue(mjgear.keys()["armature"].of_joint)


if __name__ == "__main__":
    unittest.main()
