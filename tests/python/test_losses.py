"""Tables of losses: a catalogue's efficiencies in the engine, fits, temperatures of a simulation, refusals."""

import math
import pathlib
import tempfile
import unittest

import mujoco
import numpy as np

import mjgear

RPM = 2 * math.pi / 60

# Harmonic Drive CSD, rated torque 96 N m (taken for the CSD-32-100-2A): efficiency at the rated torque over the motor's speed, and its
# compensation over the torque, from the catalogue's curves in IHMC's HarmonicDriveEfficiencyCalculator.java. Their product is the
# efficiency
RATED = {500: 0.75, 1000: 0.70, 2000: 0.65, 3500: 0.55}
PARTIAL = {9.6: 0.3, 19.2: 0.5, 38.4: 0.72, 48.0: 0.8, 67.2: 0.9, 96.0: 1.0}
RATIO = 100
CURVES = np.array(
    [
        (torque, speed * RPM, at_rated * partial)
        for speed, at_rated in RATED.items()
        for torque, partial in PARTIAL.items()
    ]
)


def model(**keys):
    """A flywheel behind a gear, so heavy that its speed stays."""
    spec = mujoco.MjSpec.from_string(
        "<mujoco><option gravity='0 0 0' timestep='0.001'/><worldbody><body><joint name='j' armature='1'/>"
        "<geom type='sphere' size='1' mass='1e9'/></body></worldbody><actuator><motor joint='j'/></actuator></mujoco>"
    )
    mjgear.add(spec, "j", armature=1, **keys)
    return spec.compile()


def efficiency(model, speed, torque, temperature=None):
    """Torque that the running gear delivers in the engine, for the motor torque that a load takes at this efficiency."""
    data = mujoco.MjData(model)
    if temperature is not None:
        mjgear.Gears(model, data)["j"].temperature = temperature
    data.qvel[0] = speed
    low, high = torque, 1000 * torque + 1000
    for _ in range(60):
        data.ctrl[0] = 0.5 * (low + high)
        data.qfrc_applied[0] = -torque
        for _ in range(20):  # friction of the last step counts
            mujoco.mj_step(model, data)
        delivered = data.ctrl[0] - mjgear.Gears(model, data)["j"].friction
        low, high = (data.ctrl[0], high) if delivered < torque else (low, data.ctrl[0])
    return torque / data.ctrl[0]


class Catalogue(unittest.TestCase):
    def test_curves(self):
        """Efficiency over load torque and speed of one size, in the engine: within 1.4 % of each printed one."""
        torque, speed, printed = CURVES.T
        fit = mjgear.fit_losses({"torque": torque, "speed": speed, "efficiency": printed}, ratio=RATIO)
        self.assertLess(fit.error, 0.014)
        gear = model(**fit.keys)
        worst = 0
        for load, at, eta in CURVES:
            found = efficiency(gear, at / RATIO, load)
            worst = max(worst, abs(found / eta - 1))
        print(f"{len(CURVES)} efficiencies: fit {fit.error:.4f}, in the engine {worst:.4f}")
        self.assertLess(worst, 0.014)

        # constant losses, without tables, are much farther off
        base = np.column_stack([np.ones(len(load_ := torque)), load_]) / (torque / printed)[:, None]
        constant = np.linalg.lstsq(base, 1 - printed, rcond=None)[0]
        self.assertGreater(np.max(np.abs(base @ constant - 1 + printed)), 0.15)

    def test_temperature(self):
        """Running torque of an unloaded gear over speed and temperature, c a(v) b(T): found again, and the engine's result."""
        speeds, temperatures = np.array([0.5, 2, 4]), np.array([-10.0, 0, 20, 40])
        c = np.array([3, 2.2, 5])[:, None] * np.array([3.1, 1.9, 1.0, 0.7])
        v, T = (one.ravel() for one in np.meshgrid(speeds, temperatures, indexing="ij"))
        fit = mjgear.fit_losses({"speed": v, "temperature": T, "motor_torque": c.ravel()})
        self.assertLess(fit.error, 1e-9)
        self.assertEqual(fit.keys["temperature"], 20)
        gear = model(**fit.keys)
        for i, speed in enumerate(speeds):
            for k, temperature in enumerate(temperatures):
                data = mujoco.MjData(gear)
                one = mjgear.Gears(gear, data)["j"]
                one.temperature = temperature
                data.qvel[0] = -speed
                mujoco.mj_step(gear, data)
                self.assertAlmostEqual(one.friction / -c[i, k], 1, 8)

    def test_file(self):
        """A CSV file gives the same result as arrays."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "curves.csv"
            path.write_text(
                "torque,speed,efficiency\n" + "".join(f"{t!r},{v!r},{e!r}\n" for t, v, e in CURVES.tolist())
            )
            torque, speed, printed = CURVES.T
            self.assertEqual(
                mjgear.fit_losses(path, ratio=RATIO),
                mjgear.fit_losses({"torque": torque, "speed": speed, "efficiency": printed}, ratio=RATIO),
            )
            path.write_text("torque,efficiency\n5 Nm,0.5\n")
            with self.assertRaisesRegex(mjgear.GearError, "no number"):
                mjgear.fit_losses(path)

    def test_refusals(self):
        ones = np.ones(3)
        for wrong, word in (
            ({"torque": ones}, "one of the columns"),
            ({"torque": ones, "efficiency": ones * 1.1}, r"\(0, 1\]"),
            ({"torque": 0 * ones, "efficiency": ones * 0.5}, "its torque is 0"),
            ({"torque": ones, "efficiency": np.ones(2) * 0.5}, "different lengths"),
            ({"torque": ones, "motor_torque": ones * 0.5}, "not above"),
            ({"speed": np.arange(20), "motor_torque": np.ones(20)}, "20 different values"),
            ({"torque": ones, "eta": ones}, "unknown column 'eta'"),
        ):
            with self.assertRaisesRegex(mjgear.GearError, word):
                mjgear.fit_losses(wrong)


class Running(unittest.TestCase):
    KEYS = {
        "gamma_u": 0.0,
        "gamma_v": 0.2,
        "coulomb": 2.0,
        "temperature": 20,
        "coulomb_temperature": [[0, 3], [40, 1]],
        "gamma_torque": "0 2 50 1",
    }

    def test_state(self):
        """A temperature belongs to a simulation: saved and restored bit for bit, ended by a reset."""
        gear = model(**self.KEYS)
        data, kind = mujoco.MjData(gear), mujoco.mjtState.mjSTATE_FULLPHYSICS
        state = np.empty(mujoco.mj_stateSize(gear, kind))
        ends = []
        mjgear.Gears(gear, data)["j"].temperature = 7.5
        data.ctrl[0] = 30
        mujoco.mj_step(gear, data, 20)
        mujoco.mj_getState(gear, data, state, kind)
        for _ in range(2):
            other = mujoco.MjData(gear)
            mujoco.mj_setState(gear, other, state, kind)
            other.ctrl[0] = 30
            mujoco.mj_step(gear, other, 20)
            self.assertEqual(mjgear.Gears(gear, other)["j"].temperature, 7.5)
            ends.append(other.qvel[0])
        mujoco.mj_step(gear, data, 20)
        self.assertEqual(ends, [data.qvel[0]] * 2)
        mujoco.mj_resetData(gear, data)
        self.assertEqual(mjgear.Gears(gear, data)["j"].temperature, 20)

    def test_power(self):
        """Friction gives no energy, for all tables and torques."""
        rng = np.random.default_rng(3)
        for _ in range(20):
            x = np.sort(rng.uniform(0, 10, 5))
            table = np.column_stack([x, rng.uniform(0, 4, 5)])
            gear = model(
                gamma_u=0.05,
                gamma_v=rng.uniform(0, 1.2),
                coulomb=1,
                gamma_torque=table,
                coulomb_speed=table,
                gamma_speed=table,
            )
            data = mujoco.MjData(gear)
            gears = mjgear.Gears(gear, data)
            for _ in range(200):
                data.ctrl[0], data.qfrc_applied[0] = rng.normal(size=2) * 10
                mujoco.mj_step(gear, data)
                self.assertGreaterEqual(gears["j"].friction * data.qvel[0], -1e-12)

    def test_refused(self):
        for keys, word in (
            ({"temperature": 20}, "temperature has no effect"),
            ({"gamma_torque": "0 1 5"}, "without a factor"),
            ({"gamma_torque": "0 30"}, "no motor can drive"),
            ({"gamma_torque": "0 30", "gamma_u": -0.1, "gamma_v": 0.1}, "above -1"),
        ):
            with self.assertRaisesRegex((mjgear.GearError, ValueError), word):
                model(**{"gamma_u": 0.1, "gamma_v": 0.2} | keys)
        gear = model(gamma_u=0.1, gamma_v=0.2)
        data = mujoco.MjData(gear)
        with self.assertRaisesRegex(mjgear.GearError, "temperature has no effect"):
            mjgear.Gears(gear, data)["j"].temperature = 30


if __name__ == "__main__":
    unittest.main()
