"""mjgear.identify: logs, the models on real logs, made-up servos, MJCF, the commands."""

import contextlib
import dataclasses
import gzip
import io
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import mujoco
import numpy as np
from scipy.special import stdtrit

import made_up_servo
from mjgear import identify
from mjgear.identify import backlash, cli, heldout, mjcf, protocol
from mjgear.identify.diagnose import findings, refuse_speeds
from mjgear.identify.intervals import derived, with_torque_constant
from mjgear.identify.logs import Column, rates

SOURCE = pathlib.Path(os.environ["MJGEAR_SOURCE_DIR"])
LONG = bool(os.environ.get("MJGEAR_LONG"))
LOGS = sorted((SOURCE / "data/xl330").glob("*.csv.gz"))
CURRENT = identify.Servo("made up", drive="current", error_gain=1.0)
GAMMA = identify.MODELS["gamma"]


def xl330(step=5e-3, logs=LOGS, dt=5e-3, **options):
    servo = identify.servo("xl330")
    defaults = {"duty": Column("load", servo.duty_scale, servo.duty_wrap)}
    return identify.Pendulum(identify.read_all(logs, dt=dt, defaults=defaults), servo, step=step, **options)


def inputs(bench, values, i):
    """Control of the actuator of log i at each sample: the input, delayed and with its slew limited."""
    log = bench.logs[i]
    constants = {**bench.constants(i), **bench.known, **values}
    given = log.data[bench.input]
    late = np.interp(np.arange(log.n) - constants["delay"] / log.dt - 0.5 / bench.substeps(i), np.arange(log.n), given)
    slew = constants["slew"] * log.dt
    if bench.input == "goal" and slew > 0:
        goal = given[0]
        for k in range(log.n):
            goal += min(max(late[k] - goal, -slew), slew)
            late[k] = goal
    return late


def replay(bench, model, values, i):
    """Position at each sample of log i, simulated by MuJoCo from the MJCF."""
    m = mujoco.MjModel.from_xml_string(mjcf.pendulum(bench, model, values, i))
    d = mujoco.MjData(m)
    log = bench.logs[i]
    d.qpos[0], d.qvel[0] = log.data["position"][0], log.data["velocity"][0]
    told = inputs(bench, values, i)
    enable = log.data.get("enable", np.ones(log.n, bool))
    substeps = bench.substeps(i)
    out = np.empty(log.n)
    for k in range(log.n):
        out[k] = d.qpos[0]
        d.ctrl[0] = told[k]
        if enable[k]:
            m.opt.disableflags &= ~mujoco.mjtDisableBit.mjDSBL_ACTUATION.value
        else:
            m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ACTUATION.value
        mujoco.mj_step(m, d, substeps)
    return out


class Logs(unittest.TestCase):
    """Files of all kinds become the same numbers; mistakes are reported with file, column and line."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, name, content):
        path = pathlib.Path(self.folder.name) / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def test_column_map_units_and_wrap(self):
        # an encoder of 4096 counts that turns past its end, a two's complement current in mA, time in ms
        n = 200
        angle = np.linspace(300, 420, n)  # deg
        current = np.linspace(-50, 50, n)
        rows = [
            f"{5 * k},{round(a / 360 * 4096) % 4096},{round(c) % 65536}" for k, (a, c) in enumerate(zip(angle, current))
        ]
        path = self.file(
            "a.csv.gz", gzip.compress(("# mass=0.5 length=0.2\nms,ticks,cur\n" + "\n".join(rows)).encode())
        )
        log = identify.read(
            path, {"time": "ms:ms", "position": f"ticks:{2 * math.pi / 4096},wrap=4096", "current": "cur:mA,wrap=65536"}
        )
        t = log.time * 1000 / (5 * (n - 1))
        np.testing.assert_allclose(log.data["position"], np.radians(300 + 120 * t), atol=2e-3)
        np.testing.assert_allclose(log.data["current"], (-50 + 100 * t) * 1e-3, atol=1e-3)
        np.testing.assert_allclose(log.data["velocity"][20:-20], np.radians(120) / (5e-3 * (n - 1)), rtol=0.1)
        self.assertEqual(log.facts, {"mass": 0.5, "length": 0.2})

    def test_units_in_names(self):
        rows = "\n".join(f"{5 * k}{{0}}{k}{{0}}{60}{{0}}{k}" for k in range(30))
        for mark in ",;":
            names = mark.join(["time [ms]", "position (deg)", "speed [rpm]", "current [2]"])
            log = identify.read(self.file("a.csv", f"{names}\n{rows.format(mark)}"), {"current": "current [2]"})
            np.testing.assert_allclose(log.data["position"], np.radians(np.arange(29)), atol=1e-9)
            np.testing.assert_allclose(log.data["velocity"], 2 * math.pi)
            np.testing.assert_allclose(log.data["current"], np.arange(29), atol=1e-9)
            log = identify.read(path := self.file("a.csv", f"{names}\n{rows.format(mark)}"), {"goal": "position (deg)"})
            np.testing.assert_allclose(log.data["goal"], log.data["position"])
            log = identify.read(path, {"velocity": "speed [rpm]:rad/s"})
            np.testing.assert_allclose(log.data["velocity"], 60)

    def test_uneven_time_stamps(self):
        rng = np.random.default_rng(1)
        t = np.cumsum(rng.uniform(2e-3, 9e-3, 500))
        rows = "\n".join(f"{x},{2 * x}" for x in t)
        log = identify.read(self.file("a.csv", f"time,position\n{rows}"))
        np.testing.assert_allclose(log.data["position"], 2 * (t[0] + log.time), atol=1e-12)

    def test_velocity_from_positions(self):
        """Against SciPy's filter; and a parabola has its own slope, ends included."""
        x = np.cumsum(np.random.default_rng(1).standard_normal(60))
        for window in (5, 7, 59):
            begin = np.clip(np.arange(x.size) - window // 2, 0, x.size - window)
            slopes = [
                np.polyval(np.polyder(np.polyfit(np.arange(window), x[b : b + window], 2)), i - b)
                for i, b in enumerate(begin)
            ]
            np.testing.assert_allclose(rates(x, window), slopes, atol=1e-12)
        k = np.arange(12.0)
        np.testing.assert_allclose(rates(1 + k - 0.3 * k**2, 7), 1 - 0.6 * k, atol=1e-12)

    def test_bam_json(self):
        entries = [
            {
                "timestamp": 0.005 * k,
                "position": 0.1 * k,
                "speed": 20.0,
                "load": 0.5,
                "input_volts": 12.0,
                "goal_position": 1.0,
                "torque_enable": k < 10,
            }
            for k in range(20)
        ]
        content = {
            "mass": 1.0,
            "length": 0.1,
            "arm-mass": 0.05,
            "kp": 32,
            "vin": 12,
            "trajectory": "steps",
            "entries": entries,
        }
        raw = identify.read(self.file("raw.json", json.dumps(content)))
        self.assertEqual(raw.facts["arm_mass"], 0.05)
        np.testing.assert_allclose(raw.data["voltage"], 6.0)
        self.assertEqual(list(raw.data["enable"]), [True] * 10 + [False] * (raw.n - 10))
        for entry in entries:
            del entry["timestamp"]
        processed = identify.read(self.file("processed.json", json.dumps(content | {"dt": 0.005})))
        np.testing.assert_allclose(processed.data["position"], raw.data["position"], atol=1e-12)

    def test_sysid_npz(self):
        path = pathlib.Path(self.folder.name) / "a.npz"
        t = np.arange(50) * 0.01
        np.savez(
            path,
            times=t,
            data=np.column_stack([t, 2 * t]),
            signal_mapping=json.dumps({"angle": [0, [1]], "tau": [0, [0]]}),
        )
        log = identify.read(path, {"position": "angle", "torque": "tau:mNm"})
        np.testing.assert_allclose(log.data["torque"] * 2000, log.data["position"], atol=1e-12)

    def test_errors_name_the_place(self):
        good = "\n".join(f"{0.01 * k},{k},x" for k in range(20))
        cases = {
            "time,position,note\n" + good.replace("0.05,5,", "0.05,five,"): "column 'position', line 7: no number",
            "time,position,note\n" + good.replace("0.05,5,x", "0.05,5"): "line 7: 2 values under 3 columns",
            "time,position,note\n" + good.replace("0.05,5,", "0.01,5,"): "line 7: time does not increase",
            "time,angle,note\n" + good: "no column for position",
            "time,position\n0,1": "a log needs 10",
            "# nothing": "no header line",
            "0,1,2\n" + good.replace("x", "3"): "line 1: numbers where the names",
            "# mass=1\n0.0,1e3\n" + good.replace(",x", ""): "line 2: numbers where the names",
        }
        for content, text in cases.items():
            path = self.file("bad.csv", content)
            with self.assertRaises(identify.LogError) as caught:
                identify.read(path)
            self.assertIn(text, str(caught.exception))
            self.assertIn(str(path), str(caught.exception))
        for columns, text in (
            ({"position": "angel"}, "no column 'angel'"),
            ({"position": "position:furlong"}, "furlong"),
            ({"speed": "x"}, "'speed' is not"),
        ):
            with self.assertRaisesRegex(identify.LogError, text):
                identify.read(self.file("good.csv", "time,position,note\n" + good), columns)
        with self.assertRaisesRegex(identify.LogError, "line 2"):
            identify.read(self.file("bad.json", '{"entries": [\n{,'))
        with self.assertRaisesRegex(identify.LogError, "entry 1"):
            identify.read(self.file("bad.json", '{"entries": [{"position": 1}, {"position": "far"}]}'))
        with self.assertRaisesRegex(identify.LogError, "cannot be read"):
            identify.read("nowhere.csv")
        with self.assertRaisesRegex(identify.LogError, "mass"):
            log = identify.read(self.file("good.csv", "time,position,torque\n" + good.replace("x", "0")))
            identify.Pendulum([log], identify.servo("torque"))


class Findings(unittest.TestCase):
    """Mistakes of logs, in a line."""

    def test_speed_of_the_motor(self):
        t = 0.01 * np.arange(200)
        right = identify.Log("right", 0.01, {"position": np.sin(t), "velocity": np.cos(t)}, {})
        wrong = identify.Log("wrong", 0.01, {"position": np.sin(t), "velocity": 6.33 * np.cos(t)}, {})
        refuse_speeds([right])
        with self.assertRaisesRegex(identify.LogError, "wrong: velocity is 6.33 times"):
            refuse_speeds([right, wrong])


class Xl330(unittest.TestCase):
    """The sixteen real logs, at steps of 5 or 10 ms to be quick; doc/identify.md has the command for all of it."""

    def test_starts(self):
        """Without the logs sin_time_square the cost of native has many minima: 40 starts, drawn at random over torque constant and resistance,
        find 2.763 as the lowest one, and ends at 2.83 to 3.27 more often."""
        bench = xl330(step=5e-3)
        keep = [i for i, log in enumerate(bench.logs) if log.facts["trajectory"] != "sin_time_square"]
        fit = identify.fit(bench, identify.MODELS["native"], identify.Budget(starts=8), keep)
        self.assertAlmostEqual(fit.cost, 2.763, delta=0.01)

    def test_a_gear_predicts_what_friction_loss_does_not(self):
        bench = xl330(step=1e-2, dt=1e-2)
        models = [identify.MODELS[n] for n in ("native", "gamma")]
        held = identify.leave_out(bench, models, ["gain", "trajectory"], identify.Budget(starts=1, iterations=20))
        for by in ("gain", "trajectory"):
            self.assertLess(held.mean("gamma", by), 0.55 * held.mean("native", by), by)
        self.assertEqual(identify.choose(held, models), "gamma")
        self.assertEqual(len(held.groups["gain"]), 4)

    def test_shuffled_torque_loses(self):
        # the same torques at other times: a gear does not explain them
        bench = xl330(input="voltage", logs=LOGS[:8])
        fit = identify.fit(bench, GAMMA, identify.Budget(starts=1))
        true = bench.errors(GAMMA, fit.values).mean()
        rng = np.random.default_rng(0)
        for log in bench.logs:
            log.data["voltage"] = log.data["voltage"][rng.permutation(log.n)]
        shuffled = xl330(input="voltage", logs=LOGS[:8])
        for log, other in zip(shuffled.logs, bench.logs):
            log.data["voltage"] = other.data["voltage"]
        shuffled = identify.Pendulum(shuffled.logs, shuffled.servo, "voltage", step=5e-3)
        fit = identify.fit(shuffled, GAMMA, identify.Budget(starts=1))
        self.assertGreater(shuffled.errors(GAMMA, fit.values).mean(), 2 * true)

    def test_mjcf_reproduces_the_error(self):
        values = {
            "torque_constant": 0.35,
            "resistance": 3.1,
            "armature": 0.0021,
            "offset": 0.02,
            "coulomb": 0.003,
            "viscous": 0.008,
            "gamma_u": 0.3,
            "gamma_v": 0.15,
            "stribeck_friction": 0.004,
            "stribeck_velocity": 0.5,
            "gamma_u_stribeck": 0.05,
            "gamma_v_stribeck": 0.03,
            "gamma_u_quadratic": 0.2,
            "gamma_v_quadratic": 0.1,
            "motor_viscous": 0.02,
        }
        bench = xl330(step=1e-3, logs=LOGS[:4], fit=("delay",))
        for name in ("gamma", "gamma_motor", "stribeck", "quadratic"):
            model = identify.MODELS[name]
            v = {k: values.get(k, 0.004) for k in bench.space(model).names}
            errors = bench.errors(model, v)
            for i, log in enumerate(bench.logs):
                q = replay(bench, model, v, i)
                self.assertAlmostEqual(np.mean(np.abs(q - log.data["position"])), errors[i], delta=1e-6)
                self.assertGreater(np.ptp(q), 0.1)

    def test_published_models_are_theirs(self):
        # M6 with the published numbers of this servo moves like it
        bench = xl330()
        published = {
            "torque_constant": 0.366013,
            "resistance": 2.81139,
            "armature": 0.00180774,
            "offset": 0.0271,
            "coulomb": 0.00477118,
            "viscous": 0.00535967,
            "stribeck_friction": 0.00467635,
            "vs": 2.89037,
            "alpha": 8.68326,
            "Km": 0.266786,
            "Ke": 8.51587e-06,
            "Kms": 1.07e-05,
            "Kes": 0.0807793,
            "Kmq": 0.00997247,
            "Keq": 0.00490257,
        }
        self.assertLess(bench.errors(identify.MODELS["M6"], published).mean(), 0.08)


class MadeUp(unittest.TestCase):
    """Servos whose numbers are known, simulated by another integrator."""

    @classmethod
    def setUpClass(cls):
        seed = made_up_servo.seed()
        print(f"made-up servos: MJGEAR_SEED={seed.entropy}")
        rng = np.random.default_rng(seed)
        plan = made_up_servo.bench_plan
        # constant friction would reveal a wrong torque constant: there is little of it
        usual = dataclasses.replace(
            made_up_servo.draw(rng),
            gamma_u=rng.uniform(0.12, 0.25),
            gamma_v=rng.uniform(0.15, 0.35),
            coulomb=rng.uniform(0.01, 0.03),
        )
        ungeared = dataclasses.replace(made_up_servo.draw(rng), gamma_u=0.0, gamma_v=0.0)
        # nothing to carry but a millionth of the rotor's inertia; damping of the output would be a load as well
        bare = dataclasses.replace(made_up_servo.draw(rng), viscous=0.0)
        light = [dataclasses.replace(r, mass=1e-4, length=0.01, gain=1.0 / bare.torque_constant) for r in plan(bare)]
        logs = made_up_servo.measure([*plan(usual), *plan(ungeared), *light], rng, step=2e-4)
        cls.logs = {"usual": (usual, logs[:8]), "ungeared": (ungeared, logs[8:16]), "bare": (bare, logs[16:])}

    def bench(self, name, scale=1.0, **options):
        servo, logs = self.logs[name]
        machine = dataclasses.replace(CURRENT, torque_constant=scale * servo.torque_constant)
        bench = identify.Pendulum(logs, machine, fit=("delay",), **options)
        bench.noise = 0.005
        return bench

    def test_without_gear_friction_native_is_chosen(self):
        models = [identify.MODELS[n] for n in ("native", "gamma")]
        held = identify.leave_out(
            self.bench("ungeared", step=2.5e-3),
            models,
            ["gain", "trajectory"],
            identify.Budget(starts=1, iterations=20),
        )
        self.assertEqual(identify.choose(held, models), "native")
        held = identify.leave_out(
            self.bench("usual", step=2.5e-3), models, ["gain"], identify.Budget(starts=1, iterations=20)
        )
        self.assertEqual(identify.choose(held, models), "gamma")

    def test_unloaded_says_that_gamma_is_unknown(self):
        bench = self.bench("bare", step=2.5e-3)
        bench.scale = {"torque": 1.0, "inertia": 0.01, "viscous": 1.0}
        fit = identify.fit(bench, GAMMA, identify.Budget(starts=1, iterations=20))
        found = identify.intervals(bench, fit, 5)
        self.assertTrue(any("gamma_u and gamma_v are unknown" in line for line in findings(bench, fit, found)))
        self.assertFalse(found["gamma_v"].known)

    def test_scaled_torque_constant(self):
        budget = identify.Budget(starts=1)
        right = self.bench("usual")
        fit = identify.fit(right, GAMMA, budget)
        found = identify.intervals(right, fit, 20, {"torque_constant": 0.05})
        self.assertTrue(found["gamma_v"].known)
        here = derived(fit.values)
        # shifts one efficiency against the other
        first, second = (list(found).index(name) for name in ("eta_forward", "eta_backward"))
        self.assertLess(found.correlations[first, second], -0.5)
        np.testing.assert_array_equal(np.diag(found.correlations), 1)
        self.assertGreater(np.linalg.eigvalsh(found.correlations)[0], -1e-9)
        # a torque constant that is off by less than its tolerance
        scale = 1.04 if fit.values["gamma_u"] < 0.12 else 0.96
        near = [fit.values, with_torque_constant(fit.values, scale)]
        other = derived(identify.fit(self.bench("usual", scale), GAMMA, budget, near=near).values)
        for name, expected, least in ("eta_forward", 1 / scale, 0.7), ("eta_backward", scale, 0.5):
            change = other[name] / here[name] - 1
            self.assertGreater(change / (expected - 1), least, name)
        # beyond its interval of 95 %, widened to 99.99 %
        product = found["eta_forward x eta_backward"]
        widened = stdtrit(7, 0.5e-4) / stdtrit(7, 0.025) * (product.high - product.low) / 2
        self.assertAlmostEqual(other["eta_forward x eta_backward"], product.value, delta=widened)
        # a tolerance of 5 % applies to the forward efficiency, a smaller one to the product
        forward = found["eta_forward"]
        self.assertGreater((forward.high - forward.low) / 2, 0.03 * forward.value)
        self.assertLess((product.high - product.low) / product.value, (forward.high - forward.low) / forward.value)


class Backlash(unittest.TestCase):
    """A gap of 0.01 rad, from small reversals of a rotor, a gear and a damped shaft simulated at 0.05 ms."""

    STIFFNESS, DAMPING, INERTIA, GRAVITY = 400.0, 0.3, 0.004, 0.4
    LOGS, DT = 12 if LONG else 8, 2e-3

    @classmethod
    def setUpClass(cls):
        seed = made_up_servo.seed()
        print(f"backlash: MJGEAR_SEED={seed.entropy}")
        cls.logs = cls.measure(np.random.default_rng(seed), [0.01, 0.0, 0.01])

    @classmethod
    def measure(cls, rng, totals, **friction):
        """Logs of a second of a servo drawn for each gap, with both encoders."""
        shape = (len(totals), cls.LOGS, 1)
        t = cls.DT * np.arange(500)
        frequency = np.repeat([1, 1.5, 2, 2.5, 3, 3.5], 2)[: cls.LOGS, None] + rng.uniform(0, 0.4, shape)
        torque = rng.uniform(0.08, 0.12, shape) * np.sin(2 * np.pi * frequency * t)

        def drawn(low, high):
            return np.repeat(rng.uniform(low, high, len(totals)), cls.LOGS)

        angles = made_up_servo.simulate_gap(
            torque.reshape(-1, t.size),
            cls.INERTIA,
            cls.GRAVITY,
            drawn(3e-3, 6e-3),
            np.repeat(totals, cls.LOGS) / 2,
            cls.STIFFNESS,
            cls.DAMPING,
            drawn(0, 0.1),
            drawn(0.05, 0.2),
            drawn(0.005, 0.015),
            cls.DT,
            step=5e-5,
            **friction,
        )
        count = 2 * np.pi / 16384
        q, rotor = (
            np.round((angles + 1e-4 * rng.standard_normal(angles.shape)) / count).reshape(2, *torque.shape) * count
        )
        return [
            [
                identify.Log(
                    f"log {k}",
                    cls.DT,
                    {
                        "position": q[i, k],
                        "rotor": rotor[i, k],
                        "torque": torque[i, k],
                        "velocity": rates(q[i, k], 15) / cls.DT,
                    },
                    {"inertia": cls.INERTIA, "gravity": cls.GRAVITY, "trajectory": f"reversals {k % 2}"},
                )
                for k in range(cls.LOGS)
            ]
            for i in range(len(totals))
        ]

    def bench(self, logs, step=1e-3):
        known = {"stiffness": self.STIFFNESS, "damping": self.DAMPING}
        return identify.Pendulum(logs, identify.servo("torque"), known=known, step=step)

    def test_two_encoders(self):
        logs = self.logs[0]
        self.assertAlmostEqual(2 * backlash.from_two_encoders(logs)["half_gap"], 0.01, delta=0.05 * 0.01)
        # and the ladder takes that rung
        found = identify.identify_bench(
            self.bench(logs),
            ("native", "gamma", "backlash"),
            budget=identify.Budget(starts=1, iterations=12),
            replicates=2,
        )
        self.assertEqual(found.chosen, "backlash", found.table())
        self.assertAlmostEqual(2 * found.fit.values["half_gap"], 0.01, delta=0.05 * 0.01)
        self.assertIn('<config key="stiffness" value="400.0"/>', found.paste())
        # in MuJoCo it moves in the same way
        error = np.mean(np.abs(replay(found.bench, found.fit.model, found.fit.values, 0) - logs[0].data["position"]))
        self.assertAlmostEqual(error, found.bench.errors(found.fit.model, found.fit.values)[0], delta=1e-6)

    def test_without_a_gap(self):
        found = identify.identify_bench(
            self.bench(self.logs[1]),
            ("native", "gamma", "backlash"),
            budget=identify.Budget(starts=1, iterations=12),
            replicates=2,
        )
        self.assertEqual(found.chosen, "gamma", found.table())
        self.assertTrue(any("no gap" in note for note in found.notes), found.notes)

    def test_starts_at_rest(self):
        """The speed of an encoder that flickers between two counts is 0; that of one that moves on is its speed."""
        count, k = 1e-3, np.arange(500)
        for q, v in ((k % 2, 0.0), (k, 0.3)):
            data = {"position": count * q, "velocity": np.full(500, 0.3), "torque": np.zeros(500)}
            log = identify.Log("log", self.DT, data, {"inertia": self.INERTIA, "gravity": 0.0})
            values = {"armature": 0.004, "offset": 0.0, "coulomb": 0.0, "viscous": 0.0}
            made = self.bench([log]).simulate(identify.MODELS["native"], values, 0)
            self.assertEqual(made["velocity"][0], v)

    def test_one_encoder(self):
        # from twelve logs it scatters by 3 % from servo to servo
        logs = self.logs[2]
        for log in logs:
            del log.data["rotor"]
        fit = identify.fit_ladder(
            self.bench(logs), [identify.MODELS["backlash"]], identify.Budget(starts=1, iterations=12)
        )["backlash"]
        self.assertAlmostEqual(2 * fit.values["half_gap"], 0.01, delta=0.15 * 0.01)

    @unittest.skipUnless(LONG, "MJGEAR_LONG=1")
    def test_with_stribeck(self):
        """Gap and Stribeck friction in one fit, from one encoder: of twenty servos, intervals hold in 18."""
        seed = made_up_servo.seed(fresh=True)
        print(f"gap and Stribeck: MJGEAR_SEED={seed.entropy}")
        rng = np.random.default_rng(seed)
        held = []
        for _ in range(20):
            total, shape = (
                rng.uniform(0.004, 0.016),
                {"stribeck_friction": rng.uniform(0.004, 0.012), "stribeck_velocity": rng.uniform(0.1, 0.5)},
            )
            logs = self.measure(rng, [total], **shape)[0]
            for log in logs:
                del log.data["rotor"]
            bench = self.bench(logs, step=5e-4)  # a thirtieth of the shaft's period
            fit = identify.fit_ladder(bench, [identify.MODELS["backlash_stribeck"]], identify.Budget(starts=1))[
                "backlash_stribeck"
            ]
            gap = identify.intervals(bench, fit, 12)["half_gap"]
            held.append(not gap.known or gap.low <= total / 2 <= gap.high)
        print(f"gap and Stribeck: the gap's interval holds in {sum(held)} of 20")
        self.assertGreaterEqual(sum(held), 18)


class Dynamometer(unittest.TestCase):
    """Torque in, torque out: closed forms of the law."""

    def test_efficiencies(self):
        rng = np.random.default_rng(3)
        eta_f, eta_b, c, viscous = 0.7, 0.6, 0.3, 0.02
        gu = (1 - 2 * eta_f + eta_f * eta_b) / (1 - eta_f * eta_b)
        gv = (1 - 2 * eta_b + eta_f * eta_b) / (1 - eta_f * eta_b)
        logs = []
        for k in range(6):
            t = np.arange(0, 5, 0.005)
            u = (4 + k) * np.sin(2 * t + k)
            v = (1 + 0.3 * k) * np.sign(np.sin(0.9 * t + k)) * np.ones_like(t)
            # driving: (1 + gv) x = (1 - gu) u - c; driven: (1 - gv) x = (1 + gu) u + c in the direction of motion
            s = np.sign(v)
            forward = ((1 - gu) * u * s - c) / (1 + gv)
            backward = ((1 + gu) * u * s - c) / (1 - gv)
            lam = (gu + gv) * u * s - gv * (u * s - forward)
            x = s * np.where(lam >= 0, forward, backward) - viscous * v
            logs.append(
                identify.Log(
                    f"log {k}",
                    0.005,
                    {
                        "position": np.cumsum(v) * 0.005,
                        "velocity": v,
                        "torque": u,
                        "output": x + 0.02 * rng.standard_normal(t.size),
                    },
                )
            )
        bench = identify.Dynamometer(logs, identify.servo("torque"))
        found = identify.identify_bench(bench, ("native", "gamma"), budget=identify.Budget(starts=1), replicates=40)
        self.assertEqual(found.chosen, "gamma")
        for name, true in (("eta_forward", eta_f), ("eta_backward", eta_b), ("coulomb", c), ("viscous", viscous)):
            self.assertAlmostEqual(found.intervals[name].value, true, delta=0.02 * max(true, 0.2))
        self.assertIn("eta_forward", json.loads(found.json())["parameters"])

    def test_wrong_columns(self):
        """A motor torque of 0, and one with the sign of the other side."""
        t = 0.01 * np.arange(500)
        v, u = np.sin(t), 5 * np.cos(2 * t)
        for motor, text in ((0 * u, "motor's torque is 0 in all logs"), (-u, "against the motor's torque.*:-1")):
            data = {"velocity": v, "torque": motor, "output": 0.8 * u - 0.1 * np.sign(v)}
            with self.assertRaisesRegex(identify.LogError, text):
                identify.Dynamometer([identify.Log("log", 0.01, data)], identify.servo("torque"))
        # mN m beside N m
        data = {"velocity": 180 / np.pi * v, "torque": 1000 * u, "output": 0.8 * u - 0.1 * np.sign(v)}
        notes = identify.Dynamometer([identify.Log("log", 0.01, data)], identify.servo("torque")).notes
        self.assertIn("check the units of both", notes[0])


def steady(friction, rng, logs=8, noise=0.01):
    """Runs without a load: each at one speed after another, in both directions, with the friction torque of the motor."""
    made = []
    for k in range(logs):
        v = np.repeat(np.array([-1, 1]).repeat(6) * np.tile(np.linspace(0.1, 3, 6) * (0.6 + 0.1 * k), 2), 50)
        made.append(
            identify.Log(
                f"run {k}", 0.01, {"velocity": v, "torque": friction(v, k) + noise * rng.standard_normal(v.size)}
            )
        )
    return made


class FreeRun(unittest.TestCase):
    """Friction torque against speed, the usual published kind: every law is recognized, and load is unknown."""

    def found(self, friction):
        with mock.patch.object(identify, "read_all", lambda *_, **__: steady(friction, np.random.default_rng(5))):
            return identify.identify(["runs"], bench="friction", budget=identify.Budget(starts=1), replicates=8)

    def test_laws(self):
        for chosen, friction, numbers in (
            ("native", lambda v, k: 0.4 * np.sign(v) + 0.1 * v, {"coulomb": 0.4, "viscous": 0.1}),
            ("curved", lambda v, k: np.sign(v) * (0.4 + 0.5 * np.sqrt(np.abs(v))), {"coulomb": 0.4}),
            (
                "falling",
                lambda v, k: np.sign(v) * (0.4 + 0.3 * np.exp(-((v / 0.4) ** 2))) + 0.1 * v,
                {"stribeck_friction": 0.3, "stribeck_velocity": 0.4},
            ),
        ):
            found = self.found(friction)
            self.assertEqual(found.chosen, chosen, found.table())
            for name, value in numbers.items():
                self.assertAlmostEqual(found.fit.values[name], value, delta=0.05 * value, msg=name)
            self.assertTrue(any("load is unknown" in note for note in found.notes), found.notes)
            self.assertFalse(found.misfit.is_found, found.notes)

    def test_missing_terms(self):
        for name, friction in (
            ("direction", lambda v, k: 0.4 * np.sign(v) + 0.1 * v + 0.05),
            ("direction", lambda v, k: np.where(v > 0, 0.7 + 0.2 * v, -0.3 + 0.4 * v)),
            ("time", lambda v, k: (0.4 - 0.02 * k) * np.sign(v) + 0.1 * v),
        ):
            found = self.found(friction)
            self.assertEqual(
                (found.misfit.suspects[0].name, found.misfit.suspects[0].is_sure), (name, True), found.notes
            )

    def test_drift(self):
        # a warm-up over 8 logs of 6 s, with 9 s of time constant, at the middle of each log
        warm = [1 + 0.6 * (math.exp(-(6 * k + 3) / 9) - math.exp(-48 / 9)) / (1 - math.exp(-48 / 9)) for k in range(8)]
        logs = steady(lambda v, k: warm[k] * (0.4 * np.sign(v) + 0.1 * v), np.random.default_rng(5))
        with mock.patch.object(identify, "read_all", lambda *_, **__: logs):
            found = identify.identify(
                ["runs"],
                bench="friction",
                models=("native",),
                fit=("drift",),
                budget=identify.Budget(starts=1),
                replicates=4,
            )
        for name, value in (("coulomb", 0.4), ("viscous", 0.1), ("drift", 0.6), ("warm_up", 9.0)):
            self.assertAlmostEqual(found.fit.values[name], value, delta=0.03 * value, msg=name)
        self.assertFalse(found.misfit.is_found, found.notes)

    def test_refused(self):
        logs = steady(lambda v, k: 0.4 * np.sign(v), np.random.default_rng(5))
        with mock.patch.object(identify, "read_all", lambda *_, **__: logs):
            with self.assertRaisesRegex(identify.LogError, "model 'gamma' depends on load"):
                identify.identify(["runs"], bench="friction", models=("native", "gamma"))


class Campaign(unittest.TestCase):
    """Many steady logs: neighbouring samples are averaged, and single logs are left out twelve groups at a time."""

    def test_averages(self):
        rng = np.random.default_rng(2)
        logs = []
        for k in range(30):
            u = np.repeat(np.array([2.0, -1.0, 3.0]) * (1 + 0.1 * k), 400)
            v = np.full(u.size, 0.2 + 0.1 * (k % 5))
            # driving: (1 + gamma_v) x = (1 - gamma_u) u - c; driven: (1 - gamma_v) x = (1 + gamma_u) u - c
            x = np.where(u > 0, (0.9 * u - 0.2) / 1.15, (1.1 * u - 0.2) / 0.85) - 0.05 * v
            logs.append(
                identify.Log(
                    f"log {k}", 0.01, {"velocity": v, "torque": u, "output": x + 0.05 * rng.standard_normal(u.size)}
                )
            )
        bench = identify.Dynamometer(logs, identify.servo("torque"))
        compared = sum(bench.reduced(i, log.data["torque"]).size for i, log in enumerate(logs))
        self.assertLessEqual(compared, 4100)
        self.assertEqual(len(heldout.groups(logs, "log")), 12)
        self.assertEqual(sorted(sum(heldout.groups(logs, "log").values(), [])), list(range(30)))
        fit = identify.fit(bench, GAMMA, identify.Budget(starts=1))
        for name, value in (("gamma_u", 0.1), ("gamma_v", 0.15), ("coulomb", 0.2), ("viscous", 0.05)):
            self.assertAlmostEqual(fit.values[name], value, delta=0.003, msg=name)
        # fits that begin at the fit to all logs end where fits from scratch end
        scratch, near = (
            identify.leave_out(bench, [GAMMA], ["log"], identify.Budget(starts=1), start=start)
            for start in (None, {"gamma": fit, "native": fit})
        )
        np.testing.assert_allclose(near.errors["log"]["gamma"], scratch.errors["log"]["gamma"], rtol=1e-3)


class Commands(unittest.TestCase):
    """The command line: a report from real logs, a protocol, errors in a line."""

    def run_command(self, *arguments):
        return subprocess.run(
            [sys.executable, "-m", "mjgear.identify", *map(str, arguments)], capture_output=True, text=True, check=False
        )

    def run_here(self, *arguments):
        """The same in this interpreter: status and stderr."""
        with contextlib.redirect_stderr(io.StringIO()) as said:
            return cli.main([str(a) for a in arguments]), said.getvalue()

    def test_identify(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            done = self.run_command(
                "identify",
                *LOGS[:4],
                "--servo",
                "xl330",
                "--models",
                "native,gamma",
                "--starts",
                1,
                "--dt",
                0.01,
                "--leave-out",
                "trajectory",
                "--replicates",
                5,
                "--known",
                "torque_constant=0.36:5%",
                "--quiet",
                "--report",
                folder / "r.html",
                "--json",
                folder / "r.json",
                "--mjcf",
                folder / "r.xml",
                "--joint",
                "elbow",
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn('<config key="joint" value="elbow"/>', done.stdout)
            content = json.loads((folder / "r.json").read_text())
            self.assertEqual(content["known"], {"torque_constant": 0.36})
            self.assertEqual((folder / "r.html").read_text().count("data:image/png"), 4)
            self.assertIn("mjgear.transmission", (folder / "r.xml").read_text())

    def test_errors(self):
        for arguments, text in (
            ((*LOGS[:1],), "no torque"),
            (("nowhere.csv",), "nowhere.csv"),
            ((LOGS[0], "--servo", "mx65"), "no servo 'mx65'"),
            ((LOGS[0], "--models", "gamma,M7"), "no model 'M7'"),
            ((LOGS[0], "--known", "gamma"), "NAME=VALUE"),
            ((LOGS[0], "--servo", "xl330", "--bench", "table"), "bench 'table'"),
        ):
            status, said = self.run_here("identify", *arguments)
            self.assertEqual(status, 1, arguments)
            self.assertIn(text, said)
        done = self.run_command("identify", "nowhere.csv")
        self.assertEqual(done.returncode, 1)
        self.assertNotIn("Traceback", done.stderr)

    def test_protocol(self):
        with tempfile.TemporaryDirectory() as folder:
            status, said = self.run_here("protocol", "mx64", "--stall", 6, "--length", 0.15, "--signals", folder)
            self.assertEqual(status, 0, said)
            files = sorted(pathlib.Path(folder).glob("*.csv"))
            self.assertEqual(len(files), 2 * len(protocol.EXPERIMENTS))
            for path in files:
                t, goal, _ = np.loadtxt(path, delimiter=",", skiprows=2, unpack=True)
                # within the bench, and gravity within the motor's reach
                mass = float(path.read_text().split("mass=")[1].split()[0])
                self.assertLessEqual(np.max(np.abs(goal)), math.pi / 2 + 1e-4)
                self.assertLessEqual(mass * 9.80665 * 0.15 * np.sin(np.max(np.abs(goal))), 0.61 * 6)
                self.assertAlmostEqual(np.median(np.diff(t)), 1 / 200, delta=1e-6)


class Choosing(unittest.TestCase):
    """The simplest model that predicts as well as the best."""

    def test_what_does_not_predict_is_not_taken(self):
        held = heldout.HeldOut(
            {
                "gain": {
                    "native": np.array([2.0, 2.1, 1.9, 2.0]),
                    "gamma": np.array([1.0, 1.1, 0.9, 1.0]),
                    "stribeck": np.array([0.99, 1.12, 0.88, 1.0]),
                }
            },
            {"gain": {"a": [0, 1], "b": [2, 3]}},
        )
        ladder = [identify.MODELS[n] for n in ("native", "gamma", "stribeck")]
        self.assertEqual(identify.choose(held, ladder), "gamma")
        held.errors["gain"]["stribeck"] = np.array([0.5, 0.6, 0.4, 0.5])
        self.assertEqual(identify.choose(held, ladder), "stribeck")
        self.assertEqual(identify.choose(held, ladder, "prediction"), "stribeck")
        # better in the mean, but for one log alone
        held.errors["gain"]["stribeck"] = np.array([1.0, 1.1, 0.9, 0.2])
        self.assertEqual(identify.choose(held, ladder), "gamma")
        self.assertEqual(identify.choose(held, ladder, "prediction"), "stribeck")

    def test_what_can_be_left_out(self):
        logs = [identify.Log(str(k), 0.01, {"position": np.zeros(10)}, {"kp": k // 2, "mass": 1.0}) for k in range(4)]
        self.assertEqual(identify.ways(logs), ["gain"])
        self.assertEqual(identify.ways(logs[:2]), ["log"])
        self.assertEqual(identify.ways(logs[:1]), [])


if __name__ == "__main__":
    unittest.main()
