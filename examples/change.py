"""A gear that changes in a simulation: it wears out until it does not hold its load."""

import pathlib

import mujoco
import numpy as np

import mjgear

model = mujoco.MjModel.from_xml_path(str(pathlib.Path(__file__).parent / "forearm.xml"))
data = mujoco.MjData(model)
elbow = mjgear.Gears(model, data)["elbow"]

# for this simulation alone: the model is unchanged
for backward in np.linspace(-0.2, 0.2, 9):
    elbow.eta_backward = backward
    mujoco.mj_step(model, data, 100)
    print(f"t = {data.time:.1f} s: backward efficiency {elbow.eta_backward:+.2f}, angle {data.qpos[0]:+.4f} rad")
    if data.qpos[0] < -0.1:
        print("it sinks")
        break

# an impossible value is refused, with the library's line; nothing has changed
try:
    elbow.eta_backward = 3
except mjgear.GearError as error:
    print(error)
