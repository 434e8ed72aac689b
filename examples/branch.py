"""Save, restore, branch: a simulation depends on its state only, changed gears included."""

import pathlib

import mujoco
import numpy as np

import mjgear

model = mujoco.MjModel.from_xml_path(str(pathlib.Path(__file__).parent / "forearm.xml"))
spec = mujoco.mjtState.mjSTATE_INTEGRATION


def run(data: mujoco.MjData, torque: float) -> float:
    data.ctrl = torque
    mujoco.mj_step(model, data, 200)
    return float(data.qpos[0])


# a simulation whose gear was changed, saved in the midst of its motion
data = mujoco.MjData(model)
mjgear.Gears(model, data)["elbow"].eta_forward = 0.65
run(data, 8.1)
state = np.zeros(mujoco.mj_stateSize(model, spec))
mujoco.mj_getState(model, data, state, spec)

# branches: each begins with that state, on a separate mjData
for torque in (8.1, 6, 0):
    branch = mujoco.MjData(model)
    mujoco.mj_setState(model, branch, state, spec)
    angle = run(branch, torque)
    efficiency = mjgear.Gears(model, branch)["elbow"].eta_forward
    print(f"{torque} N m: angle {angle:.4f} rad, efficiency {efficiency}")

# the first branch equals the saved simulation, to the last bit
again = mujoco.MjData(model)
mujoco.mj_setState(model, again, state, spec)
assert run(again, 8.1) == run(data, 8.1)
