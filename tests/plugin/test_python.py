"""The plugin from Python: load, refuse, hold a load, reproduce a run from its state."""

import os
import sys

try:
    import mujoco
    import numpy as np
except ImportError as error:
    print(error)
    sys.exit(77)

MODEL = """
<mujoco>
  <extension>
    <plugin plugin="mjgear.transmission">
      <instance name="arm">
        <config key="joint" value="j1 j2"/>
        <config key="eta_forward" value="%s"/>
        <config key="eta_backward" value="-0.1"/>
      </instance>
    </plugin>
  </extension>
  <worldbody>
    <body>
      <joint name="j1" axis="0 1 0" armature="1" damping="1"/>
      <geom type="capsule" size=".05" fromto="0 0 0 .5 0 0"/>
      <body pos=".5 0 0">
        <joint name="j2" axis="0 1 0" armature=".3"/>
        <geom type="capsule" size=".05" fromto="0 0 0 .5 0 0"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor joint="j1"/>
    <motor joint="j2"/>
  </actuator>
</mujoco>
"""


def main():
    mujoco.mj_loadPluginLibrary(os.environ["MJGEAR_PLUGIN_PATH"])

    # a refusal reaches the user as an exception that says what to do
    try:
        mujoco.MjModel.from_xml_string(MODEL % "0")
        raise AssertionError("eta_forward = 0 was not refused")
    except ValueError as error:
        for word in ("'arm'", "eta_forward", "'j1'", "at most 1"):
            assert word in str(error), f"{word} is not in: {error}"

    # held without a motor, exactly
    model = mujoco.MjModel.from_xml_string(MODEL % "0.6")
    data = mujoco.MjData(model)
    for _ in range(1000):
        mujoco.mj_step(model, data)
    assert not data.qvel.any() and not data.qpos.any()

    # moved by the motors; the run continues from a saved state bit for bit
    def run(target, steps):
        result = np.empty((steps, 2 * model.nv))
        for i in range(steps):
            target.ctrl[:] = 90 * np.sin(0.02 * i), 40 * np.cos(0.03 * i)
            mujoco.mj_step(model, target)
            result[i] = np.concatenate((target.qpos, target.qvel))
        return result

    run(data, 200)
    signature = mujoco.mjtState.mjSTATE_INTEGRATION
    saved = np.empty(mujoco.mj_stateSize(model, signature))
    mujoco.mj_getState(model, data, saved, signature)
    first = run(data, 300)
    assert np.abs(np.diff(first[:, :2], axis=0)).max() > 1e-3
    other = mujoco.MjData(model)
    mujoco.mj_setState(model, other, saved, signature)
    assert np.array_equal(first, run(other, 300))


if __name__ == "__main__":
    main()
