"""A scene in 30 lines: the screw jack of scenes/jack, its motor's script and its claims."""

import pathlib

import mujoco
import numpy as np

import mjgear  # loads the plugin

LIFT, LEAD, UP, OFF, END = 0.02, 9.549297e-4, 0.5, 3, 34  # m, m/rad, s

model = mujoco.MjModel.from_xml_path(str(pathlib.Path(__file__).parents[1] / "scenes/jack/jack.xml"))
data = mujoco.MjData(model)
nut = mjgear.Gears(model, data)["nut"]


def motor(time, angle, velocity):
    """Torque that turns the nut to the height of the lift in two seconds; then the motor is off."""
    goal = min(LIFT / LEAD, LIFT / LEAD / 2 * (time - UP))
    return np.clip(0.05 * (goal - angle) - 2e-3 * velocity, -1, 1) if UP <= time < OFF else 0


rows = []
while data.time < END:
    data.ctrl = motor(data.time + 1e-9, data.qpos[0], data.qvel[0])
    rows.append((data.time, data.body("load").xpos[2], data.qvel[0]))  # the height belongs to the step before
    mujoco.mj_step(model, data)
    assert nut.status == mjgear.Status.SOLVED and nut.power_loss >= 0

time, height, velocity = np.array(rows).T
held = time > OFF + 1
print(f"the motor lifts 5 kg by {1e3 * (height[held][0] - height[time < UP][-1]):.2f} mm")
print(f"motor off, the nut stands still for 30 s: largest speed {abs(velocity[held]).max():g} rad/s")
