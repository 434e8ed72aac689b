"""The arm of examples/newton_drive.py without its play, in Newton and with the plugin: their angles agree. Run by test_newton.py."""

import pathlib
import re
import sys

import mujoco
import numpy as np
import warp as wp

import mjgear

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "examples"))
import newton_drive as example


def plugin(steps, target=(-0.6, 0.4)):
    """As example.move() with the encoder on the motor and no delay, by MuJoCo with the plugin. (steps, 2)"""
    spec = mujoco.MjSpec.from_string(example.ARM)
    mjgear.add(spec, ["shoulder", "elbow"], **example.GEAR)
    spec.option.timestep = example.STEP
    model = spec.compile()
    data = mujoco.MjData(model)
    angles = []
    for _ in range(steps):
        data.ctrl = np.clip(400 * (np.array(target) - data.qpos) - 20 * data.qvel, -120, 120)
        mujoco.mj_step(model, data)
        angles.append(data.qpos.copy())
    return np.array(angles)


if __name__ == "__main__":
    wp.config.quiet = True
    example.ARM = re.sub(r'<joint name="play".*?/>', "", example.ARM)  # limits of joints are Newton's own
    theirs, ours = example.move("motor", seconds=1.0, off=9.0, lag=0), plugin(round(1.0 / example.STEP))
    moved, apart = np.abs(ours).max(), np.abs(theirs[:, :2] - ours).max()
    print(f"moved {moved:.2f} rad, {apart:.1e} rad apart")
    assert moved > 0.5 and apart < 1e-5, (moved, apart)
