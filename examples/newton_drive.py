"""Newton's PD drive moves an arm through gears: it follows a target, and holds exactly when its power fails.

    pip install mjgear newton mujoco-warp==3.17.0      # written for Newton 1.8.0
    python newton_drive.py

The drive has a delay and a torque limit. The arm's wrist has 4 degrees of play, and its encoder is on the motor or on the link.
"""

import newton
import numpy as np
import warp as wp
from newton.actuators import ClampingMaxEffort, Delay, DrivePD

import mjgear.warp.newton

STEP, WORLDS = 0.002, 2  # s
GEAR = {"eta_forward": 0.5, "eta_backward": -0.1, "coulomb": 0.2}  # a worm
ARM = """
<mujoco>
  <option integrator="implicitfast"/>
  <worldbody>
    <body pos="0 0 1">
      <joint name="shoulder" axis="0 1 0" armature="0.5"/>
      <geom type="capsule" size="0.04" fromto="0 0 0 0.5 0 0"/>
      <body pos="0.5 0 0">
        <joint name="elbow" axis="0 1 0" armature="0.2"/>
        <geom type="sphere" size="0.01" mass="0.01"/>
        <body>
          <joint name="play" axis="0 1 0" range="-2 2" armature="0.001" damping="0.1"/>
          <geom type="capsule" size="0.03" fromto="0 0 0 0.4 0 0"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="shoulder"/><motor joint="elbow"/></actuator>
</mujoco>
"""


def move(encoder: str, target=(-0.6, 0.4), seconds: float = 2.0, off: float = 1.5, lag: int = 2) -> np.ndarray:
    """Angles of shoulder, elbow and play after each step, of which the drive has no power from `off` on. (steps, 3), rad"""
    arm, worlds = newton.ModelBuilder(), newton.ModelBuilder()
    newton.solvers.SolverMuJoCo.register_custom_attributes(arm)
    arm.add_mjcf(ARM)
    worlds.replicate(arm, WORLDS)
    model = worlds.finalize()
    solver = newton.solvers.SolverMuJoCo(model, njmax=32)
    kp, kd = (wp.array([value] * 2 * WORLDS, dtype=float) for value in (400.0, 20.0))
    actuator = mjgear.warp.newton.GearedActuator(
        solver,
        ["*shoulder", "*elbow"],
        DrivePD(kp, kd),
        delay=Delay(wp.array([lag] * 2 * WORLDS, dtype=wp.int32), max_delay=lag) if lag else None,
        clamping=[ClampingMaxEffort(wp.array([120.0] * 2 * WORLDS, dtype=float))],
        encoder=encoder,
        play={"*elbow": "*play"} if encoder == "link" else None,
        **GEAR,
    )
    now, then, control = model.state(), model.state(), model.control()
    targets = np.zeros((WORLDS, model.joint_coord_count // WORLDS))
    targets[:, :2] = target
    control.joint_target_q.assign(targets.ravel())
    angles = []
    for k in range(round(seconds / STEP)):
        control.mujoco.ctrl.zero_()
        if k * STEP < off:
            actuator.step(now, control, STEP)
        solver.step(now, then, control, None, STEP)
        now, then = then, now
        angles.append(now.joint_q.numpy().reshape(WORLDS, -1)[0].copy())
    assert not actuator.gears.unsettled.numpy().any(), "a step was not solved"
    return np.array(angles)


if __name__ == "__main__":
    wp.config.quiet = True
    for encoder in ("motor", "link"):
        angles = move(encoder)
        link = angles[:, 1] + angles[:, 2]
        powered, last = round(1.5 / STEP) - 1, np.abs(angles[-1, :2] - angles[-round(0.3 / STEP), :2]).max()
        print(f"encoder on the {encoder}: at power failure the forearm is {1e3 * (link[powered] - 0.4):.1f} mrad from its target and its motor "
              f"{1e3 * (angles[powered, 1] - 0.4):.1f}; the gears then move {last:.1e} rad in 0.3 s", flush=True)  # fmt: skip
