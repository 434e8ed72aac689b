"""Models of better-actuator-models: read, written back, and the golden torques of their published formula, as a bound and in the engine."""

import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

import mujoco
import numpy as np

import mjgear

TOOL = sys.argv.pop(1)

# a set of each model, from the files of github.com/Rhoban/bam (Apache-2.0): bam/params/xl330 m1 to m4, feetech_sts3215_7_4V m5 and m6
SETS = {
    "m1": {"kt": 0.3866958, "R": 4.0171318, "armature": 0.00181417, "friction_base": 0.0128327, "friction_viscous": 0.00366167},
    "m2": {"kt": 0.38528091566850053, "R": 4.000263886971013, "armature": 0.001819285317339707, "q_offset": 0.03284548034270232,
           "friction_base": 4.133833162325061e-15, "friction_stribeck": 0.01265123828962108, "dtheta_stribeck": 4.166521110955459,
           "alpha": 1.3636445350385433, "friction_viscous": 0.005620845480615652},
    "m3": {"kt": 0.38042022855161584, "R": 3.380066954773944, "armature": 0.001917772275220315, "q_offset": 0.029439576907685533,
           "friction_base": 0.008881712972862601, "load_friction_base": 0.12166455532811028, "friction_viscous": 0.004379099756757558},
    "m4": {"kt": 0.3861709980035537, "R": 3.402572641173151, "armature": 0.0018954552619850965, "friction_base": 0.008758627618365112,
           "friction_stribeck": 7.508873888400355e-17, "load_friction_base": 0.06803357334088644, "load_friction_stribeck": 0.07381180834784251,
           "dtheta_stribeck": 2.5577016869227474, "alpha": 0.7601158768377835, "friction_viscous": 0.004621034970462603},
    "m5": {"kt": 1.2717402321162192, "error_gain_ratio": 1.1558830785746244, "R": 2.74580169718352, "armature": 0.02160563221423854,
           "max_velocity": 5.1109355980623965, "command_delay": 0.005192230394620662, "friction_base": 0.05286249893910219,
           "friction_stribeck": 7.453456393946817e-09, "load_friction_motor": 0.03890079636876726, "load_friction_external": 0.24078091046614414,
           "load_friction_motor_stribeck": 1.103364634592961e-08, "load_friction_external_stribeck": 0.14920078266091807,
           "dtheta_stribeck": 0.3714206936630544, "alpha": 9.999957365013934, "friction_viscous": 0.02875750675061869},
    "m6": {"kt": 1.2753202369175398, "R": 2.753421214375944, "armature": 0.021564290129722483, "friction_base": 0.0533134815909817,
           "friction_stribeck": 4.257322248151969e-05, "load_friction_motor": 0.044912012282132555, "load_friction_external": 0.24355483356616028,
           "load_friction_motor_stribeck": 0.00012448975632695385, "load_friction_external_stribeck": 0.1422905635963302,
           "load_friction_motor_quad": 0.007594943296670792, "load_friction_external_quad": 0.00340408727365082,
           "dtheta_stribeck": 0.371136775424206, "alpha": 9.93094944677977, "friction_viscous": 0.028160537042911545},
}  # fmt: skip
SETS = {name: {**numbers, "model": name, "actuator": "servo"} for name, numbers in SETS.items()}


def golden(p, tau_m, tau_e, v):
    """Friction at a velocity with viscous friction, by the formulas of Duclusaud, Passault, Padois, Ly, ICRA 2025."""
    rest = math.exp(-(abs(v / p["dtheta_stribeck"]) ** p["alpha"])) if "dtheta_stribeck" in p else 0
    budget = p["friction_base"] + p["friction_viscous"] * abs(v) + p.get("friction_stribeck", 0) * rest
    km, ke = (p.get(f"load_friction_{side}", p.get("load_friction_base", 0)) for side in ("motor", "external"))
    kms, kes = (
        p.get(f"load_friction_{side}_stribeck", p.get("load_friction_stribeck", 0)) for side in ("motor", "external")
    )
    budget += abs(km * tau_m - ke * tau_e) + rest * abs(kms * tau_m - kes * tau_e)
    if "load_friction_motor_quad" in p and np.sign(tau_m) != np.sign(tau_e):
        if abs(tau_m) > abs(tau_e):
            budget += rest * p["load_friction_external_quad"] * tau_e**2
        elif abs(tau_m) < abs(tau_e):
            budget += rest * p["load_friction_motor_quad"] * tau_m**2
    return budget


def steady_load(p, tau_m, v):
    """The load torque under which the joint keeps its velocity: tau_m + tau_e = friction; it lies below -tau_m / 4."""
    low, high = -40 * abs(tau_m) - 40, 40 * abs(tau_m) + 40
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if tau_m + middle < math.copysign(golden(p, tau_m, middle, v), v) else (low, middle)
    return middle


class Test(unittest.TestCase):
    def test_round_trip(self):
        for name, data in SETS.items():
            bam = mjgear.from_bam(data)
            self.assertEqual(mjgear.to_bam(bam), data, name)
            self.assertEqual(bam.exact, name <= "m4", name)
            damped = mjgear.from_bam(data, viscous="joint")
            self.assertEqual(mjgear.to_bam(damped), data, name)
            self.assertEqual(damped.exact, name <= "m2", name)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "m4.json"
            path.write_text(json.dumps(SETS["m4"]))
            self.assertEqual(mjgear.to_bam(mjgear.from_bam(path)), SETS["m4"])

    def test_command(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "m5.json"
            path.write_text(json.dumps(SETS["m5"]))
            done = subprocess.run(
                [TOOL, "convert", "--bam", path, "--json"], capture_output=True, text=True, check=True
            )
            self.assertEqual(json.loads(done.stdout)["keys"], dict(mjgear.from_bam(path).keys))
            path.write_text("{}")
            done = subprocess.run([TOOL, "convert", "--bam", path], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("model = None is none of m1", done.stderr)

    def test_golden_bound(self):
        """M1 to M4 everywhere; M5 and M6 where motor and load oppose each other, and elsewhere within the stated error."""
        from mjgear._bam import _resolve, friction_of

        random = np.random.default_rng(44)
        for name, data in SETS.items():
            bam = mjgear.from_bam(data, torque=4)
            gear = _resolve(None, bam.keys)
            for _ in range(2000):
                tau_m, tau_e = random.uniform(-4, 4, 2)
                v = 10 ** random.uniform(-3, 1)
                got = friction_of(gear, tau_m, tau_e, v)
                if name <= "m4" or tau_m * tau_e < 0:
                    self.assertAlmostEqual(got, golden(data, tau_m, tau_e, v), delta=1e-9)
                else:
                    self.assertLessEqual(abs(got - golden(data, tau_m, tau_e, v)), 1.01 * bam.error + 1e-12)
        self.assertGreater(mjgear.from_bam(SETS["m5"], torque=4).error, 0.01)

    def test_golden_in_the_engine(self):
        """A flywheel turns evenly if the published formula predicts it, with the formula's friction."""
        random = np.random.default_rng(45)
        for data in SETS.values():
            bam = mjgear.from_bam(data)
            spec = mujoco.MjSpec.from_string(
                "<mujoco><option gravity='0 0 0' timestep='0.001'/><worldbody><body><joint name='j'/><geom type='sphere' size='.1' mass='1'/>"
                "</body></worldbody><actuator><motor joint='j'/></actuator></mujoco>"
            )
            mjgear.add(spec, "j", **bam.keys)
            model = spec.compile()
            self.assertEqual(model.dof_armature[0], data["armature"])
            for _ in range(40):
                tau_m, v = random.uniform(-3, 3), random.choice([-1, 1]) * 10 ** random.uniform(-2, 1)
                tau_e = steady_load(data, tau_m, v)
                if tau_m * tau_e > 0 and data["model"] in ("m5", "m6"):
                    continue
                simulation = mujoco.MjData(model)
                simulation.qvel[0], simulation.ctrl[0], simulation.qfrc_applied[0] = v, tau_m, tau_e
                for _ in range(
                    15 if data["model"] == "m6" else 1
                ):  # the quadratic term takes the torques of the last step
                    simulation.qvel[0] = v
                    mujoco.mj_step(model, simulation)
                self.assertAlmostEqual(simulation.qvel[0], v, delta=1e-9)
                measured = mjgear.Gears(model, simulation)["j"].friction
                self.assertAlmostEqual(
                    abs(measured) + np.ravel(model.dof_damping)[0] * abs(v), golden(data, tau_m, tau_e, v), delta=1e-9
                )

    def test_to_bam_of_gears(self):
        preset = mjgear.presets()["mx106_m6"]
        data = mjgear.to_bam("mx106_m6", actuator="mx106")
        self.assertEqual((data["model"], data["actuator"], data["kt"]), ("m6", "mx106", preset.torque_constant))
        back = mjgear.from_bam(data, viscous="joint")
        self.assertEqual({key: back.keys[key] for key in preset.keys}, dict(preset.keys))
        self.assertEqual(mjgear.to_bam(coulomb=0.2, gamma_u=0, gamma_v=0)["model"], "m1")
        self.assertEqual(mjgear.to_bam(gamma_u=0.2, gamma_v=0.2)["model"], "m3")
        self.assertEqual(mjgear.to_bam(eta_forward=0.7, eta_backward=0.6)["model"], "m5")
        with self.assertRaisesRegex(mjgear.GearError, "static_ratio.*no model"):
            mjgear.to_bam(eta_forward=0.7, static_ratio=1.5)

    def test_refusals(self):
        whole = SETS["m3"]
        cases = [
            ({**whole, "model": "m7"}, "none of m1"),
            ({name: value for name, value in whole.items() if name != "friction_base"}, "needs 'friction_base'"),
            ({**whole, "model": "m1"}, "has no parameter 'load_friction_base'; is it model m3"),
            ({**whole, "friction_base": "much"}, "not a finite number"),
            ({**whole, "friction_base": -1}, "coulomb"),
            ({**whole, "kt": 0}, "greater than 0"),
            ({"arm": {"model": whole, "dofs": ["a"]}}, r"data\['arm'\]\['model'\]"),
        ]
        for data, text in cases:
            with self.assertRaisesRegex(mjgear.GearError, text):
                mjgear.from_bam(data)
        with self.assertRaisesRegex(mjgear.GearError, "cannot be read"):
            mjgear.from_bam("no such file.json")
        with self.assertRaises(TypeError):
            mjgear.from_bam(3)
        with self.assertRaises(TypeError):
            mjgear.to_bam(3)


if __name__ == "__main__":
    unittest.main()
