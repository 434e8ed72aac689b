"""The ladder of models: units do not matter, no model costs more than one that it contains, each rung is found if it is true."""

import dataclasses
import os
import pathlib
import unittest

import numpy as np

import made_up_servo
import mjgear
from mjgear import identify
from mjgear.identify.fit import embedded
from mjgear.identify.leastsquares import mirrored, robust_cost
from mjgear.identify.models import PARAMETERS

SOURCE = pathlib.Path(os.environ["MJGEAR_SOURCE_DIR"])
TORQUE = identify.servo("torque")


def delivered(u, v, gamma_u, gamma_v, bound):
    """Delivered torque of a gear, driving (1 + gamma_v) x = (1 - gamma_u) u - c, or driven (1 - gamma_v) x = (1 + gamma_u) u - c,
    along the motion; c is a number, or a function of the speed."""
    s = np.sign(v)
    c = bound(np.abs(v)) if callable(bound) else bound
    forward = ((1 - gamma_u) * u * s - c) / (1 + gamma_v)
    backward = ((1 + gamma_u) * u * s - c) / (1 - gamma_v)
    return s * np.where((gamma_u + gamma_v) * u * s - gamma_v * (u * s - forward) >= 0, forward, backward)


def dynamometer(law, unit=1.0, speed=1.0, torque=100.0, noise=0.002, logs=6, seed=5):
    """Logs of a gear under torques and speeds of all kinds, in N m x unit and rad/s x speed."""
    rng = np.random.default_rng(seed)
    made = []
    for k in range(logs):
        t = np.arange(0, 6, 0.02)
        u = torque * (0.5 + 0.1 * k) * np.sin((1 + 0.2 * k) * t + k)
        v = (2 + 0.3 * k) * np.sin(0.7 * t + 2 * k)
        x = law(u, v) + noise * torque * rng.standard_normal(t.size)
        made.append(
            identify.Log(
                f"log {k}",
                0.02,
                {"position": np.cumsum(v) * 0.02, "velocity": speed * v, "torque": unit * u, "output": unit * x},
            )
        )
    return made


def quadratic(u, v):
    """Friction at rest that grows with the torque squared, in units of 100 N m, falling with speed."""
    S = np.exp(-((np.abs(v) / 1.5) ** 2))
    x = np.array(u)
    for _ in range(50):
        gamma_u = 0.05 + np.where((u * x > 0) & (np.abs(u) <= np.abs(x)), S * 0.5 * np.abs(u) / 100, 0.0)
        gamma_v = 0.08 + np.where((u * x > 0) & (np.abs(u) > np.abs(x)), S * 0.5 * np.abs(x) / 100, 0.0)
        x = 0.5 * (x + delivered(u, v, gamma_u, gamma_v, 2 + 3 * S))
    return x


class Units(unittest.TestCase):
    """N m, N cm and kN m, rad/s and deg/s: the same result."""

    def fits(self, bench):
        models = [m for name, m in identify.MODELS.items() if "half_gap" not in m.parameters]
        return identify.fit_ladder(bench, models, identify.Budget(starts=1, iterations=12))

    def compare(self, one, other, scales):
        for name, fit in one.items():
            for number, value in fit.values.items():
                top, _, bottom = PARAMETERS[number].unit.partition("/")
                factor = scales.get(top, 1.0) / scales.get(bottom, 1.0)
                size = abs(value) + PARAMETERS[number].step * one_unit(PARAMETERS[number])
                self.assertAlmostEqual(
                    other[name].values[number] / factor, value, delta=1e-6 * size, msg=f"{name} {number}"
                )

    def test_dynamometer(self):
        here = self.fits(identify.Dynamometer(dynamometer(quadratic, logs=3), TORQUE))
        for torque, speed in ((100.0, 1.0), (1e-3, 180 / np.pi)):
            there = self.fits(identify.Dynamometer(dynamometer(quadratic, torque, speed, logs=3), TORQUE))
            self.compare(here, there, {"torque": torque, "speed": speed})

    def test_pendulum(self):
        def bench(unit):
            t = 0.01 * np.arange(300)
            logs = [
                identify.Log(
                    f"log {k}",
                    0.01,
                    {
                        "position": np.sin((1 + k) * t),
                        "velocity": (1 + k) * np.cos((1 + k) * t),
                        "torque": unit * (0.4 * np.sin(np.sin((1 + k) * t)) + 0.1 * np.sign(np.cos((1 + k) * t))),
                    },
                    {"inertia": 0.02 * unit, "gravity": 0.4 * unit},
                )
                for k in range(2)
            ]
            return identify.Pendulum(logs, TORQUE, step=1e-2)

        # over pieces, which do not amplify the rounding of the units
        one, two = bench(1.0).pieces(0.25), bench(100.0).pieces(0.25)
        models = [identify.MODELS[n] for n in ("native", "gamma", "stribeck")]
        budget = identify.Budget(starts=1, iterations=20, pieces=())
        self.compare(
            identify.fit_ladder(one, models, budget),
            identify.fit_ladder(two, models, budget),
            {"torque": 100.0, "inertia": 100.0},
        )


def one_unit(parameter):
    """A number at a bound of 0 is judged by its usual size, at torques of 100 N m."""
    return {"torque": 100.0, "torque/speed": 100.0, "1/torque": 0.01}.get(parameter.unit, 1.0)


class Bounds(unittest.TestCase):
    """Gears with a coefficient below 0 are found, from logs of another integrator."""

    def check(self, gamma_u, gamma_v):
        servo = dataclasses.replace(
            made_up_servo.draw(np.random.default_rng(3)), gamma_u=gamma_u, gamma_v=gamma_v, coulomb=0.03
        )
        logs = made_up_servo.measure(made_up_servo.bench_plan(servo), np.random.default_rng(4), step=2e-4)
        machine = identify.Servo("made up", drive="current", error_gain=1.0, torque_constant=servo.torque_constant)
        bench = identify.Pendulum(logs, machine, fit=("delay",))
        bench.noise = 0.005
        fit = identify.fit(bench, identify.MODELS["gamma"], identify.Budget(starts=1))
        for name, delta in (("gamma_u", 0.025), ("gamma_v", 0.025), ("coulomb", 0.05 * servo.coulomb)):
            self.assertAlmostEqual(
                fit.values[name], getattr(servo, name), delta=delta, msg=f"{name} of {gamma_u}, {gamma_v}: {fit.values}"
            )

    def test_negative_coefficients(self):
        # efficiencies 0.6 and -0.2: equations (14) and (15) of the paper solved for the coefficients
        forward, backward = 0.6, -0.2
        open_part = 1 - forward * backward
        self.check(
            (1 - 2 * forward + forward * backward) / open_part, (1 - 2 * backward + forward * backward) / open_part
        )
        self.check(0.25, -0.12)

    def test_presets(self):
        facts = [mjgear.explain(name) for name in mjgear.presets()]
        pairs = {(f.gamma_u, f.gamma_v) for f in facts if min(f.gamma_u, f.gamma_v) < 0}
        self.assertTrue(pairs)
        for pair in sorted(pairs):
            self.check(*pair)

    def test_no_load_dependence(self):
        # gamma_u = -gamma_v is the same law with another coulomb: the fit stays near 0
        self.check(0.0, 0.0)

    def test_mirror(self):
        # beyond gamma_u + gamma_v = 0 the optimizer sees the mirror image
        space = identify.Dynamometer(dynamometer(quadratic, logs=2), TORQUE).space(identify.MODELS["gamma"])
        z = np.zeros(len(space.names))
        u, v = space.names.index("gamma_u"), space.names.index("gamma_v")
        z[[u, v]] = -3.0, 1.0
        np.testing.assert_allclose(mirrored(z, space)[[u, v]], [-1.0, 3.0], atol=1e-12)
        np.testing.assert_array_equal(mirrored(mirrored(z, space), space), mirrored(z, space))


class Ladder(unittest.TestCase):
    """A model that contains another one is at least as good."""

    def test_quadratic_of_a_large_joint(self):
        # in N m and in units of 100 N m, and down to the noise, which no model without a gear reaches
        for unit in (1.0, 0.01):
            bench = identify.Dynamometer(dynamometer(quadratic, unit), TORQUE)
            fits = identify.fit_ladder(bench, [identify.MODELS["quadratic"], identify.MODELS["M6"]])
            errors = {name: bench.errors(fit.model, fit.values).mean() / unit for name, fit in fits.items()}
            noise = 0.2 * np.sqrt(2 / np.pi)
            self.assertLess(errors["quadratic"], 1.5 * noise, errors)
            self.assertLess(errors["quadratic"], 1.02 * min(errors.values()), errors)
            self.assertGreater(errors["stribeck"], 5 * noise, errors)

    def test_cost_never_grows(self):
        servo = identify.servo("xl330")
        defaults = {"duty": identify.Column("load", servo.duty_scale, servo.duty_wrap)}
        logs = identify.read_all(sorted((SOURCE / "data/xl330").glob("*.csv.gz"))[:4], defaults=defaults, dt=0.01)
        bench = identify.Pendulum(logs, servo, step=1e-2)
        fits = identify.fit_ladder(
            bench,
            [identify.MODELS[n] for n in ("gamma_curved", "quadratic", "M4", "M6")],
            identify.Budget(starts=1, iterations=5, pieces=()),
        )
        self.assertEqual(len(fits), 12)
        for name, fit in fits.items():
            residual = np.concatenate(bench.residuals(fit.model, fit.values, range(len(logs))))
            self.assertAlmostEqual(robust_cost(residual, bench.noise), fit.cost, delta=1e-9 * fit.cost)
            for inner in fit.model.nested:
                self.assertLessEqual(fit.cost, fits[inner].cost * (1 + 1e-9), f"{name} contains {inner}")
                # contained models are contained: the same motion with their parameters
                same = embedded(bench, fits[inner], fit.model)[0]
                for a, b in zip(
                    bench.residuals(fit.model, same, [0]), bench.residuals(fits[inner].model, fits[inner].values, [0])
                ):
                    np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)

    def test_simple_model_starts_from_the_one_that_contains_it(self):
        # steps of a budget that leaves the simple one behind
        bench = identify.Dynamometer(dynamometer(lambda u, v: delivered(u, v, 0.0, 0.0, 5.0)), TORQUE)
        fits = identify.fit_ladder(
            bench, [identify.MODELS[n] for n in ("native", "gamma")], identify.Budget(starts=1, iterations=3)
        )
        near = [embedded(bench, fits["gamma"], identify.MODELS["native"])[0]]
        again = identify.fit(bench, identify.MODELS["native"], identify.Budget(starts=1, iterations=3), near=near)
        self.assertLessEqual(fits["native"].cost, again.cost * (1 + 1e-3))


class Rungs(unittest.TestCase):
    """The model that made the logs is chosen."""

    LAWS = {
        "native": lambda u, v: delivered(u, v, 0, 0, 4.0) - 1.5 * v,
        "curved": lambda u, v: delivered(u, v, 0, 0, lambda w: 4 + 8 * np.sqrt(w)),
        "gamma": lambda u, v: delivered(u, v, 0.08, 0.15, 2.0) - 1.0 * v,
        "gamma_curved": lambda u, v: delivered(u, v, 0.08, 0.15, lambda w: 2 + 8 * np.sqrt(w)),
        "stribeck": lambda u, v: delivered(u, v, 0.08, 0.15, lambda w: 2 + 6 * np.exp(-((w / 0.4) ** 2))) - 1.0 * v,
        "quadratic": quadratic,
    }

    def test_each_is_chosen(self):
        models = [identify.MODELS[name] for name in self.LAWS]
        for name, law in self.LAWS.items():
            bench = identify.Dynamometer(dynamometer(law, logs=4, noise=0.01), TORQUE)
            budget = identify.Budget(starts=1, iterations=15)
            held = identify.leave_out(bench, models, ["log"], budget, start=identify.fit_ladder(bench, models, budget))
            self.assertEqual(identify.choose(held, models), name, {m.name: held.mean(m.name) for m in models})

    def test_curved_friction_is_found(self):
        bench = identify.Dynamometer(dynamometer(self.LAWS["gamma_curved"]), TORQUE)
        values = identify.fit_ladder(bench, [identify.MODELS["gamma_curved"]])["gamma_curved"].values
        v = bench.scale["speed"]
        for w in (0.2, 1.0, 3.0):
            bent = (
                values["coulomb"]
                + values["curved_friction"] * (w / v) ** values["curved_exponent"]
                + values["viscous"] * w
            )
            self.assertAlmostEqual(bent, 2 + 8 * np.sqrt(w), delta=0.4)
        self.assertAlmostEqual(values["gamma_u"], 0.08, delta=0.01)
        self.assertAlmostEqual(values["gamma_v"], 0.15, delta=0.01)


if __name__ == "__main__":
    unittest.main()
