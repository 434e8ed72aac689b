"""A first gear: the motor off holds the forearm, 8.1 N m still do, 8.25 N m lift it."""

import pathlib

import mujoco

import mjgear

model = mujoco.MjModel.from_xml_path(str(pathlib.Path(__file__).parent / "forearm.xml"))
data = mujoco.MjData(model)
elbow = mjgear.Gears(model, data)["elbow"]
for torque in (0, 8.1, 8.25):
    mujoco.mj_resetData(model, data)
    data.ctrl = torque
    mujoco.mj_step(model, data, 1000)
    print(f"{torque} N m: angle {data.qpos[0]:.4f} rad, friction {elbow.friction:.4f} N m")
