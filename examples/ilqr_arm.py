"""iLQR of a geared arm that pushes a block: with the derivatives of mjgear.linearize, and with MuJoCo's own.

Both motors sit behind compliant gears. A motor turns its rotor, the rotor winds up its shaft, the shaft moves the link, and the hand pushes a block that slides on
a table. mjd_transitionFD does not know rotors: to it a torque does what it does within its step, and nothing later. mjgear.linearize has them in its state, and
its columns of controls are exact. Everything else is the same: the rollouts, the cost, the first guess, the steps of iLQR.
"""

import mujoco
import numpy as np

import mjgear

STEPS, ITERATIONS = 80, 12
HOLD = np.array([-5.0, -1.0])  # first guess, N m: the hand leans on the block
GOAL = 0.15  # of the block, m
TARGET = np.array([0, 0, GOAL, 0, 0, 0])  # positions and velocities at the end: the block rests there
WEIGHT, EFFORT = np.array([0, 0, 1e4, 1, 1, 100]), 1e-3
ARM = """<mujoco><option timestep="0.005" integrator="implicitfast" cone="elliptic" tolerance="0"/>
  <default><geom friction="0.3"/></default>
  <worldbody><geom type="plane" size="1 1 .1"/>
    <body pos="-0.45 0 0.5"><joint name="shoulder" axis="0 1 0" damping="0.05"/><geom type="capsule" fromto="0 0 0 0.3 0 -0.1" size="0.02" mass="1"/>
      <body pos="0.3 0 -0.1"><joint name="elbow" axis="0 1 0" damping="0.05"/><geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.02" mass="0.5"/>
    </body></body>
    <body name="block" pos="0 0 0.1"><joint name="block" type="slide" axis="1 0 0" damping="4"/><geom type="box" size="0.1 0.1 0.098" mass="1"/></body>
  </worldbody>
  <actuator><motor joint="shoulder"/><motor joint="elbow"/></actuator></mujoco>"""

spec = mujoco.MjSpec.from_string(ARM)
mjgear.add(
    spec,
    ["shoulder", "elbow"],
    gamma_u=0.05,
    gamma_v=0.15,
    backlash="exact",
    half_gap=0.002,
    stiffness=80,
    damping=0.1,
    rotor_inertia=0.02,
)
model = spec.compile()
data = mujoco.MjData(model)
size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_INTEGRATION)
mujoco.mj_step(model, data)  # which a gap begins with
mujoco.mj_resetData(model, data)


def linearize(known: bool) -> tuple[np.ndarray, np.ndarray]:
    """A, B of the step at the data; known: with the state of gears."""
    if known:
        found = mjgear.linearize(model, data)
        return found.A, found.B
    a, b = np.zeros((2 * model.nv, 2 * model.nv)), np.zeros((2 * model.nv, model.nu))
    mujoco.mjd_transitionFD(model, data, 1e-6, True, a, b, None, None)
    return a, b


def rollout(controls: np.ndarray, policy: list | None = None, share: float = 1.0) -> tuple:
    """States, controls, engine's states and cost of a motion; policy: changes of controls and gains about a motion."""
    mujoco.mj_resetData(model, data)
    states, used, starts = [observe()], [], []
    for k in range(STEPS):
        data.ctrl[:] = controls[k]
        if policy:
            change, gain, about = policy[k]
            data.ctrl[:] += share * change + gain @ (states[-1] - about)
        used.append(data.ctrl.copy())
        starts.append(np.empty(size))
        mujoco.mj_getState(model, data, starts[-1], mujoco.mjtState.mjSTATE_INTEGRATION)
        mujoco.mj_step(model, data)
        states.append(observe())
    cost = (
        0.5 * EFFORT * ((np.array(used) - HOLD) ** 2).sum()
        + 0.5 * (WEIGHT * (states[-1][: 2 * model.nv] - TARGET) ** 2).sum()
    )
    return np.array(states), np.array(used), starts, float(cost)


def observe() -> np.ndarray:
    """Positions, velocities, and the state of gears."""
    return np.concatenate([data.qpos, data.qvel, data.plugin_state[memory]])


def improve(motion: tuple, known: bool) -> tuple | None:
    """One step of iLQR; None if no share of it lowers the cost."""
    states, controls, starts, cost = motion
    n = states.shape[1] if known else 2 * model.nv
    gradient, hessian = np.zeros(n), np.zeros((n, n))
    gradient[: 2 * model.nv] = WEIGHT * (states[-1][: 2 * model.nv] - TARGET)
    hessian[: 2 * model.nv, : 2 * model.nv] = np.diag(WEIGHT)
    policy: list = [None] * STEPS
    for k in reversed(range(STEPS)):
        mujoco.mj_setState(model, data, starts[k], mujoco.mjtState.mjSTATE_INTEGRATION)
        a, b = linearize(known)
        q_u, q_uu, q_ux = (
            EFFORT * (controls[k] - HOLD) + b.T @ gradient,
            EFFORT * np.eye(model.nu) + b.T @ hessian @ b,
            b.T @ hessian @ a,
        )
        change, gain = -np.linalg.solve(q_uu, q_u), -np.linalg.solve(q_uu, q_ux)
        gradient, hessian = (
            a.T @ gradient + gain.T @ (q_uu @ change + q_u) + q_ux.T @ change,
            a.T @ hessian @ a + q_ux.T @ gain,
        )
        hessian = (hessian + hessian.T) / 2
        whole = np.zeros((model.nu, states.shape[1]))
        whole[:, :n] = gain
        policy[k] = (change, whole, states[k])
    for share in 0.5 ** np.arange(10):
        trial = rollout(controls, policy, share)
        if trial[3] < cost:
            return trial
    return None


names = mjgear.linearize(model, data).states[2 * model.nv :]
gears = mjgear.Gears(model, data)
memory = [gears[name.split()[1]].address(name.split()[0]).value for name in names]
for what, known in (("with what gears remember", True), ("mjd_transitionFD", False)):
    motion = rollout(np.tile(HOLD, (STEPS, 1)))
    costs = [motion[3]]
    for _ in range(ITERATIONS):
        better = improve(motion, known)
        if better is None:
            break
        motion = better
        costs.append(motion[3])
    print(
        f"{what}: cost {costs[0]:.3f} -> {costs[-1]:.3f} in {len(costs) - 1} steps; the block is {1e3 * (motion[0][-1][2] - GOAL):+.1f} mm from its goal"
    )
