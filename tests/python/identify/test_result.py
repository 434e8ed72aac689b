"""Text, MJCF and plots of an identification, of logs and numbers made by hand."""

import json
import unittest

import numpy as np

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

from mjgear import identify
from mjgear._distributions import distribution
from mjgear.identify import core, diagnose, heldout
from mjgear.identify.fit import Fit
from mjgear.identify.intervals import Interval, Intervals

TORQUE = identify.servo("torque")
VALUES = {"coulomb": 0.3, "viscous": 0.2, "gamma_u": 0.1, "gamma_v": 0.2}


def log(name, moves=True):
    """A gear that delivers (u (1 - gamma_u) - c)/(1 + gamma_v) while its motor drives, less its viscous friction."""
    t = np.arange(0, 4, 0.02)
    u = 4 * np.sin(t) + np.sign(np.sin(t))
    v = np.sign(u) * (1.5 + np.sin(5 * t)) if moves else np.zeros_like(t)
    x = np.sign(v) * ((1 - 0.1) * np.abs(u) - 0.3) / (1 + 0.2) - 0.2 * v
    return identify.Log(name, 0.02, {"position": np.cumsum(v) * 0.02, "velocity": v, "torque": u, "output": x})


def identification(bench, model="gamma", values=VALUES, unknown=()):
    model = identify.MODELS[model]
    fit = Fit(model, dict(values), 1.0, [1.0], 1, np.eye(len(values)))
    numbers = {**values, "eta_forward": 0.75, "eta_backward": 0.727} if model.name != "native" else values
    found = {n: Interval(v, 0.5 * v, 2 * v, n not in unknown) for n, v in numbers.items()}
    return identify.Identification(bench, model.name, {model.name: fit}, found, identify.HeldOut())


class AtRest(unittest.TestCase):
    def test_a_joint_at_rest_in_one_log(self):
        bench = identify.Dynamometer([log("one"), log("still", moves=False), log("two")], TORQUE)
        self.assertEqual([kept.name for kept in bench.logs], ["one", "two"])
        self.assertIn("still: left out, the joint is at rest", bench.notes[0])
        found = identify.identify_bench(bench, ("native", "gamma"), budget=identify.Budget(starts=1), replicates=2)
        self.assertTrue(any("still" in note for note in found.notes))
        with self.assertRaisesRegex(identify.LogError, "at rest in all logs"):
            identify.Dynamometer([log("still", moves=False)], TORQUE)


class Paste(unittest.TestCase):
    """Undetermined numbers are marked."""

    def setUp(self):
        self.bench = identify.Dynamometer([log("one"), log("two")], TORQUE)

    def test_of_the_law(self):
        """Where the law does not explain the logs, numbers and JSON give both intervals; a model and draws are of the law."""
        found = identification(self.bench)
        found.intervals = Intervals(found.intervals)
        found.intervals.correlations = np.eye(len(found.intervals))
        found.intervals["eta_forward"] = Interval(0.75, 0.1, 1, False, law=Interval(0.75, 0.7, 0.8))
        self.assertIn("unknown, of this law 0.700 to 0.800", found.numbers())
        self.assertNotIn("unknown", found.paste("elbow"))
        found.intervals["coulomb"] = Interval(0.3, 0.1, 0.5, law=Interval(0.3, 0.29, 0.31))
        told = json.loads(found.json())
        self.assertFalse(told["parameters"]["coulomb"]["known"])
        self.assertTrue(told["parameters"]["viscous"]["known"])
        self.assertEqual(
            (told["parameters"]["eta_forward"]["known"], told["parameters"]["eta_forward"]["law"]["high"]), (False, 0.8)
        )
        drawn = distribution(told, ("elbow",))._groups[0].law
        k = drawn.keys.index("eta_forward")
        self.assertEqual((drawn.low[k], drawn.high[k]), (0.7, 0.8))

    def test_unknown_numbers_are_marked(self):
        text = identification(self.bench, unknown=("coulomb", "viscous")).paste("elbow")
        marked = [line for line in text.splitlines() if "unknown" in line]
        self.assertEqual(len(marked), 2, text)
        self.assertIn("damping", marked[0])
        self.assertIn('key="coulomb"', marked[1])
        self.assertNotIn("unknown", identification(self.bench).paste("elbow"))

    def test_the_joint_comes_first(self):
        # numbers have the digits that their intervals allow, and the motor's own damping is there
        text = identification(
            self.bench, "gamma_motor", {**VALUES, "viscous": 0.123456, "motor_viscous": 0.0456789}
        ).paste("elbow")
        joint, motor, extension = (
            text.index(part) for part in ('<joint name="elbow" damping="0.123"/>', 'damping="0.046"', "<extension>")
        )
        self.assertTrue(joint < motor < extension, text)

    def test_digits(self):
        for given, expected in (
            ((0.34648, 0.3049, 0.3838), ("0.346", "0.305 to 0.384")),
            ((1234.5, 1200, 1280), ("1234", "1200 to 1280")),
            ((2.0158e-3, 1.453e-3, 2.486e-3), ("0.00202", "0.00145 to 0.00249")),
            ((0.4, 0.4, 0.4), ("0.4", "0.4 to 0.4")),
            ((-0.003, -0.1, 0.1), ("-0.003", "-0.10 to 0.10")),
            ((6e-5, 1e-5, 2e-4), ("6.0e-05", "1.0e-05 to 0.000200")),
            ((5.0, 5.0, np.inf), ("5", "5 to inf")),
        ):
            self.assertEqual(Interval(*given).text(), expected)
        self.assertEqual(Interval(0.123456, 0, 1, False).text(), ("0.123", "unknown"))

    def test_known_efficiencies_of_unknown_coefficients(self):
        text = identification(self.bench, unknown=("gamma_u", "gamma_v")).paste("elbow")
        self.assertIn('<config key="eta_forward" value="0.75"/>', text)
        self.assertNotIn("gamma_u", text)
        # neither of them known: coefficients, marked
        text = identification(self.bench, unknown=("gamma_u", "gamma_v", "eta_forward", "eta_backward")).paste("elbow")
        self.assertEqual(text.count("unknown"), 2, text)


class Remarks(unittest.TestCase):
    """Another model that predicts better is not passed over."""

    TITLES = {name: model.title for name, model in identify.MODELS.items()}

    def said(self, other):
        held = heldout.HeldOut(
            {"log": {"gamma": np.array([1.0, 1.1, 0.9, 1.0]), "M6": np.array(other)}},
            {"log": {str(k): [k] for k in range(4)}},
        )
        return heldout.remarks(held, "gamma", self.TITLES)

    def test_better_by_a_third(self):
        self.assertIn("better by a third", self.said([0.7, 0.8, 0.6, 0.7])[0])
        self.assertIn(self.TITLES["M6"], self.said([0.7, 0.8, 0.6, 0.7])[0])

    def test_better(self):
        self.assertIn("unknown", self.said([1.1, 1.2, 0.5, 0.9])[0])

    def test_elsewhere(self):
        """A law that mjgear.warp lacks comes with the best one that it runs, and both errors."""
        ladder = [identify.MODELS[name] for name in ("native", "gamma", "gamma_curved", "quadratic")]
        errors = {"native": 2.0, "gamma": 1.5, "gamma_curved": 1.0, "quadratic": 1.2}
        held = heldout.HeldOut({"log": {n: np.full(4, e) for n, e in errors.items()}}, {"log": {"all": [0, 1, 2, 3]}})
        (line,) = diagnose.elsewhere(held, "gamma_curved", ladder)
        self.assertIn(f"'{identify.MODELS['quadratic'].title}' (values: --json), 1.2 held out, the chosen one 1", line)
        self.assertEqual(diagnose.elsewhere(held, "quadratic", ladder), [])

    def test_as_good(self):
        self.assertEqual(self.said([0.99, 1.1, 0.9, 0.99]), [])


@unittest.skipUnless(plt, "no matplotlib")
class Plots(unittest.TestCase):
    def test_viscous_torque_is_in_neither_points_nor_line(self):
        from mjgear.identify import report

        bench = identify.Dynamometer([log("one")], TORQUE)
        found = identification(bench)
        u, x, v = report.torques(found, 0)
        p = bench.vector(found.fit.model, {**VALUES, "viscous": 0.0}, np.zeros(len(core.PARAMETERS)))
        np.testing.assert_allclose(x, core.deliver(u, v, p), atol=1e-12)
        left, right = report.figures(found)["law"].axes
        line = next(line for line in left.lines if line.get_label() == "law, sliding")
        np.testing.assert_allclose(line.get_ydata()[-1], (0.9 * line.get_xdata()[-1] - 0.3) / 1.2, atol=1e-12)

    def test_legends_have_no_doubles(self):
        from mjgear.identify import report

        t = 0.01 * np.arange(200)
        logs = [
            identify.Log(
                str(k),
                0.01,
                {"position": np.sin(t + k), "velocity": np.cos(t + k), "torque": 0.4 * np.sin(np.sin(t + k))},
                {"inertia": 0.02, "gravity": 0.4},
            )
            for k in range(2)
        ]
        bench = identify.Pendulum(logs, TORQUE, step=1e-2)
        values = {"armature": 0.01, "offset": 0.0, "coulomb": 0.01, "viscous": 0.01}
        for figure in report.figures(identification(bench, "native", values)).values():
            for axes in figure.axes:
                labels = [text.get_text() for text in axes.get_legend().get_texts()] if axes.get_legend() else []
                self.assertEqual(len(labels), len(set(labels)), labels)
            plt.close(figure)


if __name__ == "__main__":
    unittest.main()
