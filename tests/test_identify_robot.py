"""The gears of a six-joint arm through mujoco.sysid, from simulated logs with noise."""

import pathlib
import tempfile
import unittest

import mujoco
import numpy as np
from mujoco import sysid

import made_up_servo
from mjgear.identify import robot

JOINTS = ("yaw", "shoulder", "elbow", "roll", "wrist", "hand")
STEP = 0.002
NOISE = 2e-4  # rad, of the encoders


def arm():
    """An arm of 1 m whose joints all carry load: servos of stiff position loops behind strain-wave gears."""
    spec = mujoco.MjSpec()
    spec.option.timestep = STEP
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    axes = ([0, 0.3, 1], [0, 1, 0], [0, 1, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0])
    lengths = (0.1, 0.4, 0.3, 0.1, 0.1, 0.1)
    kp = (3000, 3000, 2000, 800, 800, 400)
    parent, place = spec.worldbody, [0, 0, 1]
    for joint, axis, length, gain in zip(JOINTS, axes, lengths, kp):
        body = parent.add_body(name=joint, pos=place)
        body.add_joint(name=joint, axis=axis)
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=[0, 0, 0, length, 0, 0], size=[0.04, 0, 0], density=1500,
                      contype=0, conaffinity=0)
        actuator = spec.add_actuator(name=joint, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        actuator.set_to_position(kp=gain, kv=0.03 * gain)
        spec.add_sensor(name=f"{joint}_position", type=mujoco.mjtSensor.mjSENS_JOINTPOS, objtype=mujoco.mjtObj.mjOBJ_JOINT, objname=joint)
        spec.add_sensor(name=f"{joint}_torque", type=mujoco.mjtSensor.mjSENS_JOINTACTFRC, objtype=mujoco.mjtObj.mjOBJ_JOINT, objname=joint)
        parent, place = body, [length, 0, 0]
    # a tool beside the axis of the last joint, so that it turns a load too
    parent.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, pos=[0.1, 0.12, 0], size=[0.05, 0, 0], mass=3, contype=0, conaffinity=0)
    return spec


def truth(rng):
    """Strain-wave gears: JOINT.NUMBER -> value, torques in proportion to what the joint carries."""
    values = {}
    for joint, size in zip(JOINTS, (40, 60, 30, 5, 8, 4)):
        values |= {f"{joint}.gamma_u": rng.uniform(0.02, 0.1), f"{joint}.gamma_v": rng.uniform(0.15, 0.35),
                   f"{joint}.coulomb": 0.05 * size * rng.uniform(0.7, 1.3), f"{joint}.damping": 0.05 * size * rng.uniform(0.7, 1.3),
                   f"{joint}.armature": 0.01 * size * rng.uniform(0.7, 1.3)}
    return values


def measure(spec, rng, seconds=2.5):
    """A log: goals, encoders and motor torques, with noise."""
    model = spec.compile()
    n = round(seconds / STEP) + 1
    t = STEP * np.arange(n)
    phase, speed = rng.uniform(0, 2 * np.pi, (2, 6)), rng.uniform(1.0, 3.5, (2, 6))
    goals = sum(0.35 * (np.sin(speed[k] * t[:, None] + phase[k]) - np.sin(phase[k])) for k in (0, 1))
    control = sysid.TimeSeries.from_control_names(t, goals, model)
    state = sysid.create_initial_state(model, np.zeros(6))
    made = sysid.sysid_rollout(model, mujoco.MjData(model), [control], [state])[0].sensordata
    noise = NOISE * rng.standard_normal(made.data.shape)
    noise[:, 1::2] *= 100  # torque sensors
    return control, state, sysid.TimeSeries(made.times, made.data + noise, made.signal_mapping)


class Robot(unittest.TestCase):
    """All numbers of all joints, with the default optimizer, from files."""

    def test_all_joints(self):
        seed = made_up_servo.seed()
        print(f"MJGEAR_SEED={seed.entropy}")
        rng = np.random.default_rng(seed)
        true = truth(rng)
        real, blank = arm(), arm()
        robot.parameters(real, JOINTS)
        for name, value in true.items():
            robot.set_number(real, *name.split("."), value)
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "arm.xml").write_text(blank.to_xml())
            for k in range(3):
                control, state, sensordata = measure(real, rng)
                trajectory = sysid.SystemTrajectory(real.compile(), control, sensordata, state, None)
                trajectory.save_to_disk(folder / f"log{k}.npz")
            found = robot.identify_robot(folder / "arm.xml", sorted(folder.glob("*.npz")), JOINTS)
        print(found.text())
        self.assertEqual(set(found.intervals), set(true))
        for name, (value, low, high) in found.intervals.items():
            self.assertTrue(low <= true[name] <= high, f"{name}: {true[name]} is not in {low} to {high}")
            # an interval that says nothing would hold anything
            if not name.endswith(("gamma_u", "gamma_v")):
                self.assertLess(high - low, true[name], name)
            else:
                self.assertLess(high - low, 0.3, name)


if __name__ == "__main__":
    unittest.main()
