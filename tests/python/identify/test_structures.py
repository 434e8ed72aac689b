"""Structures of drives and benches, each with logs of a simulator of its own: a late input, every preset, known torques, controllers, wrists."""

import dataclasses
import json
import math
import os
import pathlib
import tempfile
import unittest

import mujoco
import numpy as np

import made_up_arm
import made_up_servo
import mjgear
from mjgear import identify
from mjgear.identify import mjcf
from mjgear.identify.arm import choose, identify_logs, law, simulate, touching
from mjgear.identify.arm.dynamics import Arm
from mjgear.identify.arm.logs import ArmLog
from mjgear.identify.logs import read_torques
from test_ladder import TORQUE, delivered, dynamometer

MODELS = identify.MODELS
LONG = bool(os.environ.get("MJGEAR_LONG"))


class Delay(unittest.TestCase):
    """A rung of the ladder: the delay of the input, beside friction."""

    def test_chosen(self):
        servo = dataclasses.replace(made_up_servo.draw(np.random.default_rng(7)), delay=0.03)
        logs = made_up_servo.measure(made_up_servo.bench_plan(servo), np.random.default_rng(8), step=2e-4)
        machine = identify.Servo("made up", drive="current", error_gain=1.0, torque_constant=servo.torque_constant)
        bench = identify.Pendulum(logs, machine, step=5e-3)
        bench.noise = 0.005
        models = [MODELS[name] for name in ("native", "gamma", "gamma_motor", "gamma_delay")]
        held = identify.leave_out(bench, models, ["trajectory"], identify.Budget(starts=1))
        self.assertEqual(identify.choose(held, models), "gamma_delay", {m.name: held.mean(m.name) for m in models})
        for fits in held.fits["trajectory"].values():
            self.assertAlmostEqual(fits["gamma_delay"].values["delay"], servo.delay, delta=2e-3)

    def test_is_no_rung(self):
        """Of a dynamometer it is refused, and with --fit delay it is every model's."""
        bench = identify.Dynamometer(dynamometer(lambda u, v: delivered(u, v, 0.1, 0.1, 2.0), logs=2), TORQUE)
        with self.assertRaisesRegex(identify.LogError, "'gamma_delay' depends on delay"):
            identify.identify_bench(bench, models=("native", "gamma_delay"))
        self.assertNotIn("delay", bench.space(MODELS["gamma"]).names)


def law_of(keys, facts):
    """Delivered torque (u, v) of a preset: its keys, with gamma_u and gamma_v from its facts."""
    k = {name: float(value) for name, value in keys.items() if name != "type"}

    def law(u, v):
        S = np.exp(-((np.abs(v) / k.get("stribeck_velocity", 1.0)) ** k.get("stribeck_exponent", 2.0)))
        x = np.array(u)
        for _ in range(60):  # the quadratic part depends on the delivered torque
            driving, both = np.abs(u) > np.abs(x), u * x > 0
            more = np.where(both & ~driving, k.get("gamma_u_quadratic", 0.0) * np.abs(u), 0.0)
            more_v = np.where(both & driving, k.get("gamma_v_quadratic", 0.0) * np.abs(x), 0.0)
            gamma_u = facts.gamma_u + S * (k.get("gamma_u_stribeck", 0.0) + more)
            gamma_v = facts.gamma_v + S * (k.get("gamma_v_stribeck", 0.0) + more_v)
            bound = k.get("coulomb", 0.0) + S * k.get("stribeck_friction", 0.0)
            x = 0.5 * (x + delivered(u, v, gamma_u, gamma_v, bound))
        return x - k.get("viscous", 0.0) * v

    return law


class Presets(unittest.TestCase):
    """Every preset is simulated and found again: the law to a third of the torque's noise, and gamma_u and gamma_v."""

    def test_dynamometer(self):
        presets = {name: p for name, p in mjgear.presets().items() if mjgear.explain(name).gamma_v < 1}
        if not LONG:
            presets = {name: presets[name] for name in ("harmonic_drive", "bilateral_drive", "sts3215_m3", "mx106_m6")}
        for name, preset in presets.items():
            with self.subTest(name):
                facts = mjgear.explain(name)
                law = law_of(preset.keys, facts)
                rest = sum(float(preset.keys.get(k, 0)) for k in ("coulomb", "stribeck_friction"))
                torque = max(8 * rest, 1.0)
                bench = identify.Dynamometer(dynamometer(law, torque=torque, logs=4), TORQUE)
                model = MODELS["M6" if "stribeck_friction" in preset.keys else "gamma"]
                fit = identify.fit_ladder(bench, [model], identify.Budget(starts=1))[model.name]
                clean = identify.Dynamometer(dynamometer(law, torque=torque, noise=0, logs=2, seed=9), TORQUE)
                clean.scale = bench.scale
                self.assertLess(clean.errors(model, fit.values).mean(), 7e-4 * torque)
                for number in ("gamma_u", "gamma_v") if model.name == "gamma" else ():
                    self.assertAlmostEqual(fit.values[number], getattr(facts, number), delta=0.015)

    def test_self_locking(self):
        """Of a gear that locks the motor's torque follows from the load's, not the reverse: a joint of an arm."""
        model, rng = wrist().compile(), np.random.default_rng(2)
        motions = [[x[::2] * [1, 0, 0, 0, 0, 0] for x in made_up_arm.fourier(rng, 12, 1.5)] for _ in range(4)]
        loads = [made_up_arm.links(model, *(x[:, :2] for x in motion))[:, 0] for motion in motions]
        for name in mjgear.presets() if LONG else ("worm",):
            if (facts := mjgear.explain(name)).gamma_v < 1:
                continue
            gear = made_up_arm.Friction("gear", 0.004, 0.05, 0.03, facts.gamma_u, facts.gamma_v)
            logs = []
            for k, ((q, v, a), x) in enumerate(zip(motions, loads)):
                tau = made_up_arm.motor(x, v[:, 0], a[:, 0], gear)
                tau += 0.01 * np.std(tau) * rng.standard_normal(tau.size)
                seen = q[:, :1] + 1e-5 * rng.standard_normal((tau.size, 1))
                logs.append(ArmLog(f"log{k}", 2 * made_up_arm.SAMPLE, seen, tau[:, None]))
            options = {"inertia_tolerance": 0.02, "torque_tolerance": 0.02, "replicates": 8}
            found = identify_logs(wrist(), ["pitch"], logs, **options).state.p[0]
            for number, near in (("gamma_u", 0.03), ("gamma_v", 0.05 * facts.gamma_v), ("coulomb", 0.01)):
                self.assertAlmostEqual(found[law.PLACE[number]], getattr(gear, number), delta=near, msg=(name, number))


class Step(unittest.TestCase):
    """The step of the simulation biases the rotor's inertia by 1 to 3 %: the interval covers what half the step shows."""

    def test_armature(self):
        rng = np.random.default_rng(5)
        servo = made_up_servo.draw(rng)
        logs = made_up_servo.measure(made_up_servo.bench_plan(servo), rng, step=2e-4)
        machine = identify.Servo("made up", drive="current", error_gain=1.0, torque_constant=servo.torque_constant)
        bench = identify.Pendulum(logs, machine, fit=("delay",), step=5e-3)
        bench.noise = 0.005
        fit = identify.fit(bench, MODELS["gamma"], identify.Budget(starts=1))
        found = identify.intervals(bench, fit, 8)["armature"]
        self.assertLess(abs(fit.values["armature"] / servo.armature - 1), 0.05)
        self.assertTrue(found.low <= servo.armature <= found.high, (servo.armature, found))


def pendulum(servo, goal, inertia, gravity, along=lambda q: 0.0, set_point=None, step=1e-4, dt=5e-3):
    """Position of a pendulum behind a gear, under a controller: `set_point(goal, rate, q, v)` is the motor's torque. Heun's method, with
    the acceleration of either sign of the internal force, as in made_up_servo.c."""
    m, gu, gv, c = servo["armature"], servo["gamma_u"], servo["gamma_v"], servo["coulomb"]
    per, q, v, out = round(dt / step), 0.0, 0.0, []

    def accelerate(q, v, motor):
        load = gravity * math.sin(q) - along(q)
        net = motor - load - servo["viscous"] * v
        d = math.copysign(1, v) if v else math.copysign(1, net)
        if v == 0 and abs(net) <= abs((gu + gv) * motor - gv * net) + c:
            return 0.0
        for g in (1, -1):
            # friction t = d (g lam + c), lam = (gu + gv)(motor - m a) - gv t, (m + inertia) a = net - t
            k = 1 + gv * d * g
            a = (net - d * (g * (gu + gv) * motor + c) / k) / (m + inertia - d * g * (gu + gv) * m / k)
            lam = ((gu + gv) * (motor - m * a) - gv * d * c) / k
            if g * lam >= 0:
                break
        return a

    for k in range(goal.size - 1):
        out.append(q)
        for _ in range(per):
            motor = set_point(goal[k], (goal[k] - goal[max(k - 1, 0)]) / dt, q, v, step)
            a = accelerate(q, v, motor)
            next_ = v + step * a
            next_ = 0.0 if v * next_ < 0 else next_
            q += step * (v + next_) / 2
            v = next_
    return np.array(out)


GEAR = {"armature": 0.004, "coulomb": 0.03, "viscous": 0.02, "gamma_u": 0.12, "gamma_v": 0.2}


def tracked(facts, along=lambda q: 0.0, set_point=None, seed=1):
    """Four logs of GEAR under a position loop of torque, and their bench's facts."""
    t = 5e-3 * np.arange(801)
    rng, logs = np.random.default_rng(seed), []
    for name in ("sin_sin", "sin_time_square"):
        for mass in (0.4, 1.0):
            goal = made_up_servo.goal(name, t)
            q = pendulum(GEAR, goal, mass * 0.01, mass * 0.1 * 9.80665, along, set_point())
            data = {"position": q + 3e-4 * rng.standard_normal(q.size), "velocity": np.zeros_like(q), "goal": goal[:-1]}
            told = {"mass": mass, "length": 0.1, "kp": 1.0, "trajectory": name, **facts}
            logs.append(identify.Log(f"{name} {mass}", 5e-3, data, told))
    return logs


class Found(unittest.TestCase):
    """GEAR is found from logs of a bench or servo with a further structure, and not if the structure is not told."""

    def check(self, logs, servo, without_logs, without_servo):
        worst = []
        for told, machine in ((logs, servo), (without_logs, without_servo)):
            bench = identify.Pendulum(told, machine, step=1e-3)
            bench.noise = 0.005
            fit = identify.fit(bench, MODELS["gamma"], identify.Budget(starts=1))
            errors = {
                "armature": 0.1 * GEAR["armature"],
                "coulomb": 0.005,
                "viscous": 0.003,
                "gamma_u": 0.03,
                "gamma_v": 0.03,
            }
            worst.append(max(abs(fit.values[n] - GEAR[n]) / size for n, size in errors.items()))
        self.assertLess(worst[0], 1)
        self.assertGreater(worst[1], 1)

    def test_table_of_torques(self):
        """A counterbalance whose torque a CSV tells."""
        with tempfile.TemporaryDirectory() as folder:
            table = pathlib.Path(folder) / "spring.csv"
            q = np.linspace(-2, 2, 41)
            np.savetxt(table, np.stack([q, 0.3 - 0.2 * q], 1), delimiter=",", header="position,torque", comments="")

            def loop():
                return lambda goal, rate, q, v, h: 5.0 * (goal - q) - 0.05 * v

            servo = identify.Servo("made up", drive="torque", error_gain=5.0, derivative=0.05)
            logs = tracked({"torques": str(table)}, lambda q: 0.3 - 0.2 * q, loop)
            bare = [dataclasses.replace(log, facts={**log.facts}) for log in logs]
            for log in bare:
                del log.facts["torques"]
            self.check(logs, servo, bare, servo)
            bench = identify.Pendulum(logs, servo)
            self.assertIn("torques", mjcf.pendulum(bench, MODELS["gamma"], {**GEAR, "offset": 0.0}))
            table.write_text("position,torque\n1,0\n0,0\n")
            read_torques.cache_clear()
            with self.assertRaisesRegex(identify.LogError, "positions increase"):
                identify.Pendulum(logs, servo)

    def test_controller(self):
        """Integral, filter, feedforward and dead band of a servo's file."""

        def loop():
            state = {"integral": 0.0, "speed": 0.0}

            def set_point(goal, rate, q, v, h):
                state["integral"] += h * 4.0 * (goal - q)
                state["speed"] += h / 0.02 * (v - state["speed"])
                x = 3.0 * (goal - q) + state["integral"] + 0.1 * rate - 0.08 * state["speed"]
                return math.copysign(max(abs(x) - 0.05, 0), x)

            return set_point

        logs = tracked({}, set_point=loop)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "servo.json"
            told = {"drive": "torque", "error_gain": 3.0, "derivative": 0.08}
            more = {"integral": 4.0, "feedforward": 0.1, "filter": 0.02, "dead_band": 0.05}
            path.write_text(json.dumps({**told, **more}))
            servo = identify.servo(str(path))
        self.check(logs, servo, logs, identify.Servo("made up", **told))
        written = mjcf.pendulum(identify.Pendulum(logs, servo), MODELS["gamma"], {**GEAR, "offset": 0.0})
        self.assertIn("without what the fit had: integral, feedforward, filter, dead_band", written)


def wrist():
    """A pitch and a roll axis that cross, and a hand beside them."""
    spec = mujoco.MjSpec()
    arm = spec.worldbody.add_body(name="pitch", pos=[0, 0, 1])
    arm.add_joint(name="pitch", axis=[0, 1, 0])
    arm.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, pos=[0.02, 0, 0], size=[0.03, 0, 0], mass=0.3)
    hand = arm.add_body(name="hand")
    hand.add_joint(name="roll", axis=[1, 0, 0])
    hand.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, pos=[0.15, 0.05, 0.02], size=[0.05, 0.04, 0.03], mass=0.8)
    return spec


class Wrist(unittest.TestCase):
    """Two motors of a differential, whose rates are the sum and the difference of those of the joints, and a spring that a table tells."""

    SHARE = np.array([[1.0, 1.0], [-1.0, 1.0]])
    SPRING = (np.linspace(-2, 2, 21), 0.4 - 0.3 * np.linspace(-2, 2, 21))

    @classmethod
    def setUpClass(cls):
        rng = np.random.default_rng(4)
        cls.spec = wrist()
        model = cls.spec.compile()
        cls.gears = [
            made_up_arm.Friction("gear", armature=0.004, coulomb=0.05, viscous=0.03, gamma_u=0.05, gamma_v=0.15),
            made_up_arm.Friction("gear", armature=0.006, coulomb=0.08, viscous=0.02, gamma_u=0.1, gamma_v=0.3),
        ]
        cls.logs = []
        for k in range(4):
            q, v, a = (x[::2, :2] for x in made_up_arm.fourier(rng, 12, 3.0 if k % 2 else 1.0))
            joints = made_up_arm.links(model, q, v, a)
            joints[:, 0] -= np.interp(q[:, 0], *cls.SPRING)
            x = joints @ np.linalg.inv(cls.SHARE)
            rates, more = v @ cls.SHARE.T, a @ cls.SHARE.T
            tau = np.stack([made_up_arm.motor(x[:, j], rates[:, j], more[:, j], cls.gears[j]) for j in range(2)], 1)
            tau += 0.01 * np.std(tau, axis=0) * rng.standard_normal(tau.shape)
            seen = q + 1e-5 * rng.standard_normal(q.shape)
            cls.logs.append(ArmLog(f"log{k}", 2 * made_up_arm.SAMPLE, seen, tau))

    def found(self, **options):
        options = {"inertia_tolerance": 0.02, "torque_tolerance": 0.02, "replicates": 2, **options}
        return identify_logs(self.spec.copy(), ["pitch", "roll"], self.logs, **options)

    def test_found(self):
        with tempfile.TemporaryDirectory() as folder:
            table = pathlib.Path(folder) / "spring.csv"
            np.savetxt(table, np.stack(self.SPRING, 1), delimiter=",", header="position,torque", comments="")
            coupling = {"pitch": {"pitch": 1.0, "roll": 1.0}, "roll": {"pitch": -1.0, "roll": 1.0}}
            found = self.found(coupling=coupling, torques={"pitch": table})
            alone = self.found() if LONG else None
        for j, gear in enumerate(self.gears):
            self.assertIn("load", found.rungs[j].terms)
            p = found.state.p[j]
            for name, near in (
                ("armature", 3e-4),
                ("coulomb", 0.01),
                ("viscous", 0.005),
                ("gamma_u", 0.03),
                ("gamma_v", 0.03),
            ):
                self.assertAlmostEqual(p[law.PLACE[name]], getattr(gear, name), delta=near, msg=(j, name))
            if alone is not None:
                self.assertLess(5 * found.choice.rms("chosen")[j], alone.choice.rms("chosen")[j])
        self.assertTrue(any("lacks the known torques" in note for note in found.notes))
        # MuJoCo moves the robot that is written, with gears on tendons, as the logs do
        done = simulate.simulate(found)
        self.assertTrue(np.all(done.chosen < 0.02 * done.moved), (done.chosen, done.moved))
        self.assertTrue(np.all(done.chosen < 0.5 * done.native), (done.chosen, done.native))

    def test_refused(self):
        for coupling, text in (
            ({"pitch": {"pitch": 1.0, "roll": 1.0}, "roll": {"pitch": 2.0, "roll": 2.0}}, "as many drives as joints"),
            ({"pitch": {"yaw": 1.0}}, "'yaw' is no joint"),
        ):
            with self.assertRaisesRegex(identify.LogError, text):
                self.found(coupling=coupling)

    def test_contact(self):
        """A table that the hand comes to touch, and none that it always overlaps."""
        for height, touches in ((0.86, True), (0.3, False)):
            spec = self.spec.copy()
            spec.worldbody.add_geom(name="table", type=mujoco.mjtGeom.mjGEOM_PLANE, pos=[0, 0, height], size=[1, 1, 1])
            arm = Arm(spec.compile(), ["pitch", "roll"])
            if touches:
                with self.assertRaisesRegex(identify.LogError, "'world' touches 'hand'.*log free motion"):
                    touching.refuse(arm, self.logs)
            else:
                touching.refuse(arm, self.logs)


class Compared(unittest.TestCase):
    """A published model errs as much as the law that it contains."""

    def test_delay(self):
        """Also where fits with new columns would find a better delay than the chosen law has."""
        spec, rng, logs = wrist(), np.random.default_rng(4), []
        model, friction = spec.compile(), made_up_arm.Friction("native", armature=0.004, coulomb=0.05, viscous=0.03)
        for _ in range(3):
            q, v, a = (x[::4, :2] for x in made_up_arm.fourier(rng, 12, 1.5))
            x = made_up_arm.links(model, q, v, a)
            tau = np.stack([made_up_arm.motor(x[:, j], v[:, j], a[:, j], friction) for j in range(2)], 1)
            tau += 0.01 * np.std(tau, axis=0) * rng.standard_normal(tau.shape)
            logs.append(ArmLog(f"log{len(logs)}", 4 * made_up_arm.SAMPLE, q + 1e-5 * rng.standard_normal(q.shape), tau))
        found = identify_logs(spec, ["pitch", "roll"], logs, replicates=2)
        for rung in found.choice.rungs:
            rung.shape.delay = 0.05
        found.fitter.remake(found.choice.rungs, found.state)
        choose.published(found.fitter, found.choice, found.state)
        for name in ("M2", "M3", "M4", "M5", "M6"):
            ratio = found.choice.rms(name) / found.choice.rms("M1")
            self.assertTrue(np.all(np.abs(ratio - 1) < 0.1), (name, ratio))


if __name__ == "__main__":
    unittest.main()
