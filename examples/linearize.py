"""Linearization and LQR of a joint with stiction: linearize while it moves.

Where the gear sticks, small motor torques change nothing: the derivative of the next state by the torque is exactly 0,
and no controller comes of it. While it moves the law is smooth, and the derivatives are those of the gear that slips.
So: linearize about a slow motion, and let a controller that was designed there bring the joint to rest.
"""

import pathlib

import mujoco
import numpy as np
import scipy.linalg

import mjgear

model = mujoco.MjModel.from_xml_path(str(pathlib.Path(__file__).parent / "forearm.xml"))
data = mujoco.MjData(model)
elbow = mjgear.Gears(model, data)["elbow"]


def linearize(torque: float, velocity: float) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives of the next position and velocity by position and velocity, and by torque, about the horizontal."""
    mujoco.mj_resetData(model, data)
    data.qvel, data.ctrl = velocity, torque
    found = mjgear.linearize(model, data)
    return found.A, found.B


load = 2 * 9.81 * 0.25
for what, torque, velocity in (("stuck", load, 0.0), ("rising", load / elbow.eta_forward, 0.1)):
    _, b = linearize(torque, velocity)
    print(f"{what}: 1 N m more changes the velocity of the next step by {b[1, 0]:.2e} rad/s")

# the controller of the joint that moves
a, b = linearize(load / elbow.eta_forward, 0.1)
q, r = np.diag([100.0, 1.0]), np.array([[0.1]])
p = scipy.linalg.solve_discrete_are(a, b, q, r)
gain = np.linalg.solve(r + b.T @ p @ b, b.T @ p @ a)
print(f"gain: {gain[0, 0]:.2f} N m/rad, {gain[0, 1]:.2f} N m/(rad/s)")
print(f"poles: {', '.join(f'{abs(pole):.4f}' for pole in np.linalg.eigvals(a - b @ gain))}")

# to 0.5 rad and hold: the feedforward is the torque with which the gear rises under the load at that angle
goal = 0.5
mujoco.mj_resetData(model, data)
while data.time < 3:
    angle, velocity = data.qpos[0], data.qvel[0]
    feedforward = load * np.cos(angle) / elbow.eta_forward
    data.ctrl = feedforward - gain[0] @ [angle - goal, velocity]
    mujoco.mj_step(model, data)
print(
    f"after 3 s: {1e3 * (data.qpos[0] - goal):+.3f} mrad from the goal, velocity {data.qvel[0]:.1e} rad/s, mode {elbow.mode:g}"
)
