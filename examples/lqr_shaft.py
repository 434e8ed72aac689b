"""LQR of an arm whose motor sits behind a compliant gear with backlash: the rotor is state, and the controller has to know it.

MuJoCo's own linearization, mjd_transitionFD, knows positions, velocities and activations. The rotor behind a gap is in plugin_state, which
it holds fixed. mjgear.linearize has it. The same weights give a controller that converges with the one, and one that does not with the other.
"""

import mujoco
import numpy as np
import scipy.linalg

import mjgear

ARM = """<mujoco><option timestep="0.002" integrator="implicitfast" tolerance="0"/><worldbody><body>
  <joint name="elbow" axis="0 -1 0" damping="0.02"/><geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.03" mass="2"/>
  </body></worldbody><actuator><motor joint="elbow"/></actuator></mujoco>"""
HOLD = 2 * 9.81 * 0.25 / 0.97  # motor torque at which the weight of the arm, level, is about to rise, N m

spec = mujoco.MjSpec.from_string(ARM)
mjgear.add(
    spec,
    "elbow",
    eta_forward=0.97,
    eta_backward=0.96,
    armature=0.05,
    backlash="exact",
    half_gap=0.002,
    stiffness=60,
    damping=0.05,
)
model = spec.compile()
data = mujoco.MjData(model)


def settle() -> None:
    """Level, with the weight on one side of the gap and its gear about to rise."""
    mujoco.mj_resetData(model, data)
    data.ctrl = HOLD
    for _ in range(4000):  # hold the arm until its rotor has turned under the load
        mujoco.mj_step(model, data)
        data.qpos, data.qvel = 0, 0


def gains(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    weight = np.diag([1000.0, 1.0] + [1e-6] * (len(a) - 2))
    cost = scipy.linalg.solve_discrete_are(a, b, weight, np.array([[0.1]]))
    gain: np.ndarray = np.linalg.solve(0.1 + b.T @ cost @ b, b.T @ cost @ a)
    return gain


def swing(gain: np.ndarray) -> float:
    """Largest angle from the third second on, of an arm that begins 0.05 rad off level, in mrad."""
    settle()
    rest = np.concatenate([data.qpos, data.qvel, data.plugin_state[addresses]])
    data.qpos, most = 0.05, 0.0
    for k in range(2500):
        state = np.concatenate([data.qpos, data.qvel, data.plugin_state[addresses]])
        data.ctrl = np.clip(HOLD - gain[0] @ (state - rest)[: gain.shape[1]], -60, 60)
        mujoco.mj_step(model, data)
        most = max(most, abs(float(data.qpos[0]))) if k >= 1500 else 0.0
    return 1e3 * most


# a slow motion up, in which the gear slips
settle()
data.qvel = 0.05
found = mjgear.linearize(model, data)
print("states:", ", ".join(found.states))
a, b = np.zeros((2, 2)), np.zeros((2, 1))
mujoco.mjd_transitionFD(model, data, 1e-6, True, a, b, None, None)

gears = mjgear.Gears(model, data)
addresses = [gears["elbow"].address(name.split()[0]).value for name in found.states[2:]]
for what, gain in (("with the rotor", gains(found.A, found.B)), ("without", gains(a, b))):
    print(f"{what}: off by {swing(gain):.1f} mrad after three seconds")
