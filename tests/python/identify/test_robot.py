"""The gears of a six-joint arm through mujoco.sysid, from simulated logs with noise."""

import os
import pathlib
import sys
import tempfile
import unittest

import numpy as np
from scipy.special import ndtri

import made_up_servo

sys.path.insert(0, str(pathlib.Path(os.environ["MJGEAR_SOURCE_DIR"]) / "examples"))
import identify_arm
import sysid_gears


class Robot(unittest.TestCase):
    """All numbers of all joints, with the default optimizer, from files."""

    def test_all_joints(self):
        seed = made_up_servo.seed()
        print(f"MJGEAR_SEED={seed.entropy}")
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            true = identify_arm.write(folder, np.random.default_rng(seed))
            spec, found = sysid_gears.identify(folder / "arm.xml", identify_arm.JOINTS, sorted(folder.glob("*.npz")))
        model = spec.compile()
        self.assertEqual(set(found), set(true))
        # all thirty hold with 95 %, and so far widened with 99.99 %
        widened = ndtri(1e-4 / 2 / len(true)) / ndtri(0.05 / 2 / len(true))
        for name, (value, low, high) in found.items():
            half = max(high - value, value - low)
            self.assertLessEqual(abs(value - true[name]), widened * half, f"{name}: {true[name]}, not {low} to {high}")
            # an infinitely wide interval would pass every check
            self.assertLess(high - low, 0.3 if name.endswith(("gamma_u", "gamma_v")) else true[name], name)
        # the robot has them
        for joint in identify_arm.JOINTS:
            self.assertEqual(model.dof_armature[model.joint(joint).dofadr[0]], found[f"{joint}.armature"][0])


if __name__ == "__main__":
    unittest.main()
