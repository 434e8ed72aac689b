"""The models of models/: each loads alone and in its scene, passes the check, moves by its motors, and holds without
them if its gears are self-locking."""

import os
import pathlib
import subprocess
import sys
import unittest

import mujoco
import numpy as np

SOURCE = pathlib.Path(os.environ["MJGEAR_SOURCE_DIR"])
TOOL = sys.argv.pop(1)
MODELS = SOURCE / "models"
PLUGIN = "mjgear.transmission"
MODE, STATUS = 4, 11  # numbers of the sensor

# the model on its ground, and True if its gears lock; None: it stands by itself
SCENES = {
    "cobot/cobot": False,
    "gripper/gripper": True,
    "hand/hand": True,
    "hobby_arm/hobby_arm": None,
    "jack/jack": True,
    "quadruped/quadruped": False,
    "quadruped/quadruped_worm": True,
    "rover/rover": None,
    "stewart/stewart": True,
    "telescope/telescope": True,
}


def load(name):
    model = mujoco.MjModel.from_xml_path(str(MODELS / f"{name}.xml"))
    return model, mujoco.MjData(model)


def geared(model):
    """Names of the geared joints."""
    text = [model.plugin_attr[a:].tobytes() for a in model.plugin_attradr]
    names = []
    for block in text:
        names += block.split(b"\0")[0].decode().split()
    return names


def sensors(model):
    """Joint -> index of the sensor of its gear."""
    found = {}
    for i in range(model.nsensor):
        if model.sensor_type[i] == mujoco.mjtSensor.mjSENS_PLUGIN:
            found[model.joint(model.sensor_objid[i]).name] = i
    return found


class Models(unittest.TestCase):
    def test_list_is_complete(self):
        folders = {path.name for path in MODELS.iterdir() if path.is_dir()}
        self.assertEqual(folders, {name.split("/")[0] for name in SCENES})
        table = (MODELS / "README.md").read_text()
        for name in SCENES:
            self.assertIn(f"({name}.xml)", table)
            self.assertIn(f"({name}.png)", table)
            self.assertTrue((MODELS / f"{name}.png").is_file(), name)
        for folder in folders:
            self.assertTrue((MODELS / folder / "README.md").is_file(), folder)

    def test_robots_load_alone(self):
        for path in MODELS.glob("*/robot.xml"):
            with self.subTest(path.parent.name):
                self.assertGreater(len(sensors(mujoco.MjModel.from_xml_path(str(path)))), 0)

    def test_each_gear_has_a_sensor_and_a_motor(self):
        for name in SCENES:
            with self.subTest(name):
                model, _ = load(name)
                joints = set(sensors(model))
                driven = {model.joint(i).name for i in model.actuator_trnid[:, 0]}
                self.assertEqual(joints, driven)
                self.assertEqual(joints, set(geared(model)))

    def test_check_has_no_remark(self):
        for name in SCENES:
            with self.subTest(name):
                run = subprocess.run(
                    [TOOL, "check", MODELS / f"{name}.xml"], capture_output=True, text=True, check=False
                )
                self.assertEqual(run.returncode, 0, run.stderr)
                remarks = [
                    line for line in run.stdout.splitlines() if any(w in line for w in ("note", "warning", "problem"))
                ]
                self.assertEqual(remarks, [])

    def test_keyframes_settle(self):
        """From each keyframe, with its controls, all steps are solved and the robot comes to rest or drives on."""
        for name in SCENES:
            model, data = load(name)
            self.assertGreaterEqual(model.nkey, 2, name)
            for key in range(model.nkey):
                with self.subTest(name, key=model.key(key).name):
                    mujoco.mj_resetDataKeyframe(model, data, key)
                    mujoco.mj_step(model, data, 1000)
                    self.assertEqual(sum(w.number for w in data.warning), 0)
                    self.assertLess(np.abs(data.qvel).max(), 25)
                    for i in sensors(model).values():
                        self.assertGreaterEqual(data.sensordata[model.sensor_adr[i] + STATUS], 0)

    def test_home_is_held(self):
        """With the motors of the first keyframe on, the load of the gears stays up."""
        for name in SCENES:
            with self.subTest(name):
                model, data = load(name)
                mujoco.mj_resetDataKeyframe(model, data, 0)
                mujoco.mj_forward(model, data)
                start = data.xipos[1:, 2].copy()
                mujoco.mj_step(model, data, 1000)
                drop = (start - data.xipos[1:, 2]).max()
                self.assertLess(drop, 0.1 * model.stat.extent)

    def test_gears_that_lock_hold_without_motors(self):
        """Motors off after a second: joints that lock stand still to the last bit, the others give way."""
        for name, locks in SCENES.items():
            with self.subTest(name):
                model, data = load(name)
                mujoco.mj_resetDataKeyframe(model, data, 0)
                mujoco.mj_step(model, data, 500)
                model.opt.disableactuator = 1
                joints = [model.joint(j) for j in sensors(model)]
                if locks:
                    mujoco.mj_step(model, data, 500)
                before = np.array([data.qpos[j.qposadr[0]] for j in joints])
                mujoco.mj_step(model, data, 500)
                moved = np.abs(np.array([data.qpos[j.qposadr[0]] for j in joints]) - before).max()
                gap = 3e-4 if name.startswith("telescope") else 0
                if locks:
                    self.assertLessEqual(moved, gap)
                elif locks is not None:
                    self.assertGreater(moved, 0.05)


if __name__ == "__main__":
    mujoco.mj_loadPluginLibrary(os.environ["MJGEAR_PLUGIN_PATH"])
    unittest.main(verbosity=1)
