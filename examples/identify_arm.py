"""Logs of a six-joint arm with strain-wave gears, to be identified.

    python examples/identify_arm.py arm/
    python examples/sysid_gears.py arm/arm.xml yaw,shoulder,elbow,roll,wrist,hand arm/found.xml arm/log*.npz

The first line simulates what a bench would log: goals, encoders and joint torques, with noise, of an arm whose gears are
drawn at random; they are printed. arm.xml is the arm as its maker would describe it, without gears.
"""

import pathlib
import sys

import mujoco
import numpy as np
import sysid_gears
from mujoco import sysid

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
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_CAPSULE,
            fromto=[0, 0, 0, length, 0, 0],
            size=[0.04, 0, 0],
            density=1500,
            contype=0,
            conaffinity=0,
        )
        actuator = spec.add_actuator(name=joint, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        actuator.set_to_position(kp=gain, kv=0.03 * gain)
        spec.add_sensor(
            name=f"{joint}_position",
            type=mujoco.mjtSensor.mjSENS_JOINTPOS,
            objtype=mujoco.mjtObj.mjOBJ_JOINT,
            objname=joint,
        )
        spec.add_sensor(
            name=f"{joint}_torque",
            type=mujoco.mjtSensor.mjSENS_JOINTACTFRC,
            objtype=mujoco.mjtObj.mjOBJ_JOINT,
            objname=joint,
        )
        parent, place = body, [length, 0, 0]
    # a tool beside the axis of the last joint, so that it turns a load too
    parent.add_geom(
        type=mujoco.mjtGeom.mjGEOM_SPHERE, pos=[0.1, 0.12, 0], size=[0.05, 0, 0], mass=3, contype=0, conaffinity=0
    )
    return spec


def truth(rng):
    """Strain-wave gears: JOINT.NUMBER -> value, torques in proportion to the load of the joint."""
    values = {}
    for joint, size in zip(JOINTS, (40, 60, 30, 5, 8, 4)):
        values |= {
            f"{joint}.gamma_u": rng.uniform(0.02, 0.1),
            f"{joint}.gamma_v": rng.uniform(0.15, 0.35),
            f"{joint}.coulomb": 0.05 * size * rng.uniform(0.7, 1.3),
            f"{joint}.damping": 0.05 * size * rng.uniform(0.7, 1.3),
            f"{joint}.armature": 0.01 * size * rng.uniform(0.7, 1.3),
        }
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


def write(folder, rng, logs=3):
    """Write arm.xml and the logs; return the numbers of the gears."""
    folder.mkdir(parents=True, exist_ok=True)
    true = truth(rng)
    real = arm()
    sysid_gears.parameters(real, JOINTS)
    for name, value in true.items():
        sysid_gears.set_number(real, *name.split("."), value)
    (folder / "arm.xml").write_text(arm().to_xml())
    for k in range(logs):
        control, _, sensordata = measure(real, rng)
        plain = arm().compile()
        state = sysid.create_initial_state(plain, np.zeros(6))
        sysid.SystemTrajectory(plain, control, sensordata, state, None).save_to_disk(folder / f"log{k}.npz")
    return true


if __name__ == "__main__":
    for name, value in write(
        pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "arm"), np.random.default_rng(1)
    ).items():
        print(f"{name:<28}{value:12.5g}")
