"""The gears of a six-joint arm through mujoco.sysid, from simulated logs with noise."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import mujoco
import numpy as np
from scipy.stats import norm

import made_up_servo

sys.path.insert(0, str(pathlib.Path(os.environ["MJGEAR_SOURCE_DIR"]) / "examples"))
import identify_arm


class Robot(unittest.TestCase):
    """All numbers of all joints, with the default optimizer, from files, by the command."""

    def test_all_joints(self):
        seed = made_up_servo.seed()
        print(f"MJGEAR_SEED={seed.entropy}")
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            true = identify_arm.write(folder, np.random.default_rng(seed))
            done = subprocess.run(
                [
                    sys.executable,
                    "-m",
                    "mjgear.identify",
                    "identify",
                    *sorted(folder.glob("*.npz")),
                    "--bench",
                    folder / "arm.xml",
                    "--joint",
                    ",".join(identify_arm.JOINTS),
                    "--json",
                    folder / "found.json",
                    "--mjcf",
                    folder / "found.xml",
                    "--figures",
                    folder,
                ],
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            print(done.stdout)
            found = json.loads((folder / "found.json").read_text())["parameters"]
            self.assertTrue((folder / "robot.png").stat().st_size > 0)
            model = mujoco.MjModel.from_xml_path(str(folder / "found.xml"))
        self.assertEqual(set(found), set(true))
        # all thirty hold with 95 %, and so far widened with 99.99 %
        widened = norm.isf(1e-4 / 2 / len(true)) / norm.isf(0.05 / 2 / len(true))
        for name, i in found.items():
            half = max(i["high"] - i["value"], i["value"] - i["low"])
            self.assertLessEqual(abs(i["value"] - true[name]), widened * half, f"{name}: {true[name]} is not in {i}")
            # an infinitely wide interval would pass every check
            self.assertLess(i["high"] - i["low"], 0.3 if name.endswith(("gamma_u", "gamma_v")) else true[name], name)
        # the model that is written has them, to the six digits of MuJoCo's XML
        for joint in identify_arm.JOINTS:
            value = found[f"{joint}.armature"]["value"]
            self.assertAlmostEqual(model.dof_armature[model.joint(joint).dofadr[0]], value, delta=1e-5 * value)


if __name__ == "__main__":
    unittest.main()
