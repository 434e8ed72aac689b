"""mjgear.plot, Log, models: content of the figures, against the law's closed forms and the run itself."""

import functools
import unittest

import mujoco
import numpy as np

try:
    import matplotlib.figure
except ImportError as error:
    print(error)
    raise SystemExit(77) from None

import mjgear
from geared_arm import ARM

law = functools.partial(mjgear.plot, kind="law")


def line(axes, label):
    """x and y of the line with this label."""
    found = next(one for one in axes.get_lines() if one.get_label() == label)
    return np.asarray(found.get_xdata(), float), np.asarray(found.get_ydata(), float)


class Draw(unittest.TestCase):
    def test_lines_have_the_slopes_of_the_efficiencies(self):
        facts = mjgear.explain("worm")
        figure = law("worm", load=3)
        self.assertIsInstance(figure, matplotlib.figure.Figure)
        plane, by_velocity = figure.axes
        for label, slope in (("the motor drives", 1 / facts.eta_forward), ("the load drives", facts.eta_backward)):
            x, y = line(plane, label)
            self.assertGreater(len(x), 50)
            np.testing.assert_allclose(y, slope * x, atol=1e-12)
        np.testing.assert_allclose(line(by_velocity, "the motor lifts the load")[1], 3 / facts.eta_forward, rtol=1e-12)
        np.testing.assert_allclose(line(by_velocity, "the load sinks")[1], 3 * facts.eta_backward, rtol=1e-12)
        self.assertEqual(plane.get_xlabel(), "load torque, N m")
        self.assertEqual(law("acme_screw").axes[0].get_xlabel(), "load torque, N")

    def test_stribeck_curve_and_viscous_friction(self):
        """Without load dependence the motor adds c(v) + d v, c = 1 + 2 exp(-(v / 0.5)^2)."""
        figure = law(coulomb=1, stribeck_friction=2, stribeck_velocity=0.5, viscous=0.3, load=4, speed="3 rad/s")
        v, torque = line(figure.axes[1], "the motor lifts the load")
        np.testing.assert_allclose(torque, 4 + 1 + 2 * np.exp(-((v / 0.5) ** 2)) + 0.3 * v, rtol=1e-12)
        v, torque = line(figure.axes[1], "the load sinks")
        np.testing.assert_allclose(torque, 4 - 1 - 2 * np.exp(-((v / 0.5) ** 2)) + 0.3 * v, rtol=1e-12)


class Map(unittest.TestCase):
    def test_efficiency_with_constant_friction(self):
        """gamma_u = 0: eta = x/(x/eta_f + c) while the motor drives, 1 - gamma_v - c/x while the load does."""
        figure = mjgear.plot("harmonic_drive", coulomb="2 Nm", torque=10)
        sinks, lifts = (mesh for mesh in figure.axes[0].collections if hasattr(mesh, "get_coordinates"))
        x = np.linspace(0, 10, 81)[1:]
        np.testing.assert_allclose(lifts.get_array()[:, 3], x / (x / 0.8 + 2), rtol=1e-12)
        driven = sinks.get_array()[:, 3]
        expected = 1 - 0.25 - 2 / x
        np.testing.assert_array_equal(np.ma.getmaskarray(driven), expected <= 0)
        np.testing.assert_allclose(driven.compressed(), expected[expected > 0], rtol=1e-11)

    def test_locks(self):
        figure = mjgear.plot("worm")
        self.assertTrue(any("locks" in text.get_text() for text in figure.axes[0].texts))
        self.assertFalse(any("locks" in text.get_text() for text in mjgear.plot("worm_4start").axes[0].texts))


class Run(unittest.TestCase):
    def test_torques_over_time(self):
        spec = mujoco.MjSpec.from_string(ARM % "")
        mjgear.add(spec, ["shoulder", "elbow"], "harmonic_drive", coulomb=1, sensors=True)
        model = spec.compile()
        data = mujoco.MjData(model)
        gears = mjgear.Gears(model, data)
        log, torque = mjgear.Log(gears), []
        with self.assertRaisesRegex(mjgear.GearError, "the Log is empty; call log.record"):
            mjgear.plot(log)
        for i in range(200):
            data.ctrl = 40 * np.sin(0.03 * i), 10
            mujoco.mj_step(model, data)
            log.record()
            torque.append(data.sensor("elbow_gear").data[3])
        np.testing.assert_allclose(log.time, 0.002 * np.arange(1, 201), rtol=1e-12)
        self.assertEqual(log.results["elbow"].shape, (200, 14))
        figure = mjgear.plot(log)
        panel = next(axes for axes in figure.axes if axes.get_title() == "elbow")
        time, drawn = line(panel, "to the link")
        np.testing.assert_array_equal(time, log.time)
        np.testing.assert_array_equal(drawn, torque)
        self.assertGreater(np.ptp(drawn), 1)

        # a gear with its current numbers
        gears["elbow"].eta_forward = 0.5
        x, y = line(law(gears["elbow"], load=10).axes[1], "the motor lifts the load")
        np.testing.assert_allclose(y, 10 / 0.5 + 1, rtol=1e-12)

    def test_written_and_shown_in_notebooks(self):
        self.assertEqual(law("worm")._repr_png_()[:8], b"\x89PNG\r\n\x1a\n")

    def test_refused(self):
        model = mujoco.MjModel.from_xml_path(str(mjgear.models()["jack"]))
        gears = mjgear.Gears(model, mujoco.MjData(model))
        gear = next(iter(gears.values()))
        for call, words in (
            (lambda: law(), "no gear is given; name a preset or write key=value"),
            (lambda: law("wrom"), "unknown preset 'wrom'; did you mean worm"),
            (lambda: mjgear.plot("worm", torqe=3), "unknown key 'torqe'"),
            (lambda: mjgear.plot("worm", torque="3 kg"), "unit 'kg' does not fit"),
            (lambda: mjgear.plot("worm", torque=0), "write finite numbers above 0"),
            (lambda: law(gear, coulomb=2), "a Gear has its own numbers"),
            (lambda: law(gears), "a figure is of a preset, a Gear or keys"),
            (lambda: mjgear.Log(gear), "a Log is of mjgear.Gears, not Gear"),
        ):
            with self.assertRaisesRegex(mjgear.GearError, words):
                call()


class Models(unittest.TestCase):
    def test_each_loads_with_gears(self):
        models = mjgear.models()
        self.assertEqual(len(models), 10)
        for name, file in models.items():
            self.assertEqual(name, file.stem)
            report = mjgear.check(file)
            self.assertEqual(report.problems, ())
            self.assertTrue(report.joints, name)


if __name__ == "__main__":
    unittest.main()
