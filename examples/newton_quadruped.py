"""Newton's quadruped, its motors off: with worm gears it stands, with gears that can be driven back it sinks, each in its time.

pip install mjgear "newton[sim]" mujoco-warp==3.17.0
python newton_quadruped.py
"""

import newton
import newton.examples
import numpy as np
import warp as wp

import mjgear.warp

STEP = 0.002  # s
BENT = [0.2, 0.4, -0.6, -0.2, -0.4, 0.6, -0.2, 0.4, -0.6, 0.2, -0.4, 0.6]

GEARS = {
    "no gears": None,
    "planetary gears": {"eta_forward": 0.8, "eta_backward": 0.7},
    "worm gears": {"eta_forward": 0.5, "eta_backward": -0.1},
}


def quadrupeds(worlds: int) -> newton.Model:
    """Robots without motors on a plane, their legs bent."""
    robot, scene = newton.ModelBuilder(), newton.ModelBuilder()
    newton.solvers.SolverMuJoCo.register_custom_attributes(robot)
    robot.default_joint_cfg.armature = 0.05  # rotors, kg m2
    robot.default_shape_cfg.mu = 1.0
    robot.add_urdf(
        newton.examples.get_asset("quadruped.urdf"),
        xform=wp.transform(wp.vec3(0.0, 0.0, 0.47), wp.quat_identity()),
        floating=True,
        enable_self_collisions=False,
        ignore_inertial_definitions=True,
    )
    robot.joint_q[-12:] = BENT
    scene.replicate(robot, worlds)
    scene.add_ground_plane()
    return scene.finalize()


def stand(gear: dict | None, seconds: float, worlds: int = 2) -> tuple[np.ndarray, float, float]:
    """Height of the trunk after each step (steps, worlds), m; how far joints move in the last 0.2 s, rad; share of the steps unsettled."""
    model = quadrupeds(worlds)
    solver = newton.solvers.SolverMuJoCo(
        model, njmax=300, nconmax=100, integrator="implicitfast", jacobian="dense", iterations=50
    )
    if gear:
        attached = mjgear.warp.attach(
            solver.mjw_model, solver.mjw_data, solver.mj_model, "*_HAA *_HFE *_KFE".split(), **gear
        )
    now, then, control = model.state(), model.state(), model.control()
    heights, joints = [], []
    for _ in range(round(seconds / STEP)):
        solver.step(now, then, control, None, STEP)
        now, then = then, now
        q = now.joint_q.numpy().reshape(worlds, -1)
        heights.append(q[:, 2].copy())
        joints.append(q[:, 7:].copy())
    unsettled = attached.unsettled.numpy().mean() / len(heights) if gear else 0.0
    return np.array(heights), float(np.abs(joints[-1] - joints[-round(0.2 / STEP)]).max()), unsettled


if __name__ == "__main__":
    wp.config.quiet = True
    for name, gear in GEARS.items():
        height, moves, unsettled = stand(gear, 1.0)
        print(f"{name}: trunk from {height[0].mean():.2f} to {height[-1].mean():.2f} m, joints move {moves:.1e} rad in the last 0.2 s, "
              f"{unsettled:.2%} of the steps unsettled", flush=True)  # fmt: skip
