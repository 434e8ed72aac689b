"""Newton's arm with worm gears: it holds its load without power.

pip install mjgear newton mujoco-warp==3.17.0
python newton_arm.py
"""

import newton
import numpy as np
import warp as wp

import mjgear.warp

ARM = """
<mujoco>
  <option integrator="implicitfast"/>
  <worldbody>
    <body pos="0 0 1">
      <joint name="shoulder" axis="0 1 0" armature="0.5"/>
      <geom type="capsule" size="0.04" fromto="0 0 0 0.5 0 0"/>
      <body pos="0.5 0 0">
        <joint name="elbow" axis="0 1 0" armature="0.2"/>
        <geom type="capsule" size="0.03" fromto="0 0 0 0.4 0 0"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def sink(gears: bool, seconds: float = 1.0) -> np.ndarray:
    """How far the joints of four arms move with their motors off. (nworld, 2), rad"""
    arm, worlds = newton.ModelBuilder(), newton.ModelBuilder()
    newton.solvers.SolverMuJoCo.register_custom_attributes(arm)
    arm.add_mjcf(ARM)
    worlds.replicate(arm, 4)
    model = worlds.finalize()
    solver = newton.solvers.SolverMuJoCo(model, njmax=32)
    if gears:
        attached = mjgear.warp.attach(
            solver.mjw_model,
            solver.mjw_data,
            solver.mj_model,
            ["*shoulder", "*elbow"],
            eta_forward=0.5,
            eta_backward=-0.1,
        )
    now, then, control = model.state(), model.state(), model.control()
    first = now.joint_q.numpy().copy()
    for _ in range(round(seconds / 0.002)):
        solver.step(now, then, control, None, 0.002)
        now, then = then, now
    if gears:
        assert not attached.unsettled.numpy().any(), "a step was not solved"
    return (now.joint_q.numpy() - first).reshape(4, -1)


if __name__ == "__main__":
    wp.config.quiet = True
    print(f"without gears the arms fall: {np.abs(sink(False)).max():.2f} rad in a second")
    print(f"with worm gears they hold: {np.abs(sink(True)).max():.1e} rad")
