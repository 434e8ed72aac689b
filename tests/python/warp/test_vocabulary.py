"""Gears of a simulation, of a Batch and of worlds on a device have the same words, shapes and order of names."""

import sys
import unittest
import warnings

try:
    import mujoco
    import mujoco_warp
    import numpy as np
    from mujoco.batch import Batch
except ImportError as error:
    print(error)
    sys.exit(77)

import quick_kernels  # noqa: F401

import mjgear
import mjgear.warp
from mjgear.warp import reading

ARM = """<mujoco><option timestep=".002" gravity="0 0 0" jacobian="dense"/><worldbody>
  <body><joint name="shoulder" axis="0 1 0" armature=".2"/><geom type="capsule" fromto="0 0 0 .5 0 0" size=".02" contype="0"/></body>
  <body pos="0 1 0"><joint name="elbow" axis="0 1 0" armature=".1"/><geom type="capsule" fromto="0 0 0 .4 0 0" size=".02" contype="0"/></body>
  </worldbody><actuator><motor joint="shoulder"/><motor joint="elbow"/></actuator></mujoco>"""
H, NSIM = 0.002, 3
ARMATURE, COULOMB, CTRL = np.array([0.2, 0.1]), np.array([0.5, 0.25]), np.array([3.0, -2.0])
RESULTS = (
    "friction",
    "internal_force",
    "mode",
    "power_loss",
    "state",
    "residual",
    "iterations",
    "status",
)  # of each gear, in all three


def numbers(value):
    """An array of the host or of the device."""
    return value.numpy() if hasattr(value, "numpy") else np.asarray(value)


class Vocabulary(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        spec = mujoco.MjSpec.from_string(ARM)
        mjgear.add(spec, ["shoulder", "elbow"], gamma_u=0.1, gamma_v=0.3, coulomb=COULOMB.tolist(), sensors=True)
        model = spec.compile()
        data, batch = mujoco.MjData(model), Batch(model, nsim=NSIM, nthread=1)
        data.ctrl[:] = CTRL
        batch.bind("ctrl")[:] = CTRL
        cls.made = {(): mjgear.Gears(model, data), (NSIM,): mjgear.Gears(model, batch)}
        mujoco.mj_step(model, data)
        batch.step()
        m, d = mjgear.warp.put_model(model), mjgear.warp.put_data(model, mujoco.MjData(model), nworld=NSIM)
        d.ctrl.assign(np.tile(CTRL, (NSIM, 1)))
        cls.worlds = mjgear.warp.Gears(m, d)
        mujoco_warp.step(m, d)
        cls.velocities = [data.qvel.copy(), batch.bind("qvel").copy(), d.qvel.numpy()]

    def all(self):
        return (*self.made.items(), ((NSIM,), self.worlds))

    def test_shapes_and_order(self):
        for rows, gears in self.all():
            self.assertEqual(tuple(gears.names), ("shoulder", "elbow"))
            for name in (*RESULTS, *reading.NUMBERS):
                every = numbers(getattr(gears, name))
                self.assertEqual(every.shape, (*rows, 2), (type(gears), name))
                for i, joint in enumerate(gears.names):
                    one = getattr(gears[joint], name)
                    if one is not None:  # a number that the host was not given
                        np.testing.assert_array_equal(numbers(one), every[..., i], f"{type(gears)} {name}")

    def test_values(self):
        """Joints that motors start: doc/theory.md solved for t > 0, with the torque into the gear by the engine's velocities."""
        for (rows, gears), velocity in zip(self.all(), self.velocities, strict=True):
            torque = CTRL - ARMATURE * velocity / H
            expected = (np.sign(CTRL) * COULOMB + (0.1 + 0.3) * torque) / (1 + 0.3)
            np.testing.assert_allclose(numbers(gears.friction), np.broadcast_to(expected, (*rows, 2)), rtol=1e-4)
            np.testing.assert_allclose(numbers(gears.power_loss), numbers(gears.friction) * velocity, rtol=1e-4)
            np.testing.assert_array_equal(numbers(gears.state), np.full((*rows, 2), int(mjgear.State.DRIVING)))
            np.testing.assert_array_equal(numbers(gears.mode), np.broadcast_to(np.sign(velocity), (*rows, 2)))
            np.testing.assert_array_equal(numbers(gears.status), np.full((*rows, 2), int(mjgear.Status.SOLVED)))
            self.assertTrue((numbers(gears.iterations) >= 1).all())

    def test_setting(self):
        for rows, gears in self.all():
            gears.coulomb = [0.4, 0.2]
            np.testing.assert_allclose(numbers(gears.coulomb), np.broadcast_to([0.4, 0.2], (*rows, 2)), rtol=1e-7)
            gears["elbow"].coulomb = 0.25
            gears["shoulder"].set(coulomb=0.5)
            np.testing.assert_allclose(numbers(gears.coulomb), np.broadcast_to(COULOMB, (*rows, 2)), rtol=1e-7)
            for name in ("friction", "internal_force"):
                with self.assertRaisesRegex(AttributeError, f"{name} is what the last step resulted in"):
                    setattr(gears, name, 1)
            with self.assertRaisesRegex(AttributeError, "did you mean coulomb"):
                gears.colomb = 1
            with self.assertRaisesRegex(KeyError, "'elbw' has no gear; those that have one are shoulder, elbow"):
                gears["elbw"]

    def test_old_names(self):
        for old, new in (("internal", "internal_force"), ("power", "power_loss")):
            with self.assertWarnsRegex(DeprecationWarning, f"{old} is called {new}"):
                self.assertIs(getattr(self.worlds, old), getattr(self.worlds, new))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(self.worlds["elbow"].power_loss.shape, (NSIM,))


if __name__ == "__main__":
    unittest.main()
