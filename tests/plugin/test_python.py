"""The plugin from Python: load, refuse, hold a load, reproduce a run from its state."""

import os
import pathlib
import sys

try:
    import mujoco
    import numpy as np
except ImportError as error:
    print(error)
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(os.environ["MJGEAR_SOURCE_DIR"]) / "tests/python"))
from geared_arm import ARM, EXTENSION, run


def main():
    mujoco.mj_loadPluginLibrary(os.environ["MJGEAR_PLUGIN_PATH"])

    # a refusal reaches the user as an exception with a remedy
    try:
        mujoco.MjModel.from_xml_string(ARM % EXTENSION.replace("0.7 0.6", "0 0.6"))
        raise AssertionError("eta_forward = 0 was not refused")
    except ValueError as error:
        for word in ("'gears'", "eta_forward", "'shoulder'", "at most 1"):
            assert word in str(error), f"{word} is not in: {error}"

    # held without a motor, exactly
    model = mujoco.MjModel.from_xml_string(ARM % EXTENSION)
    data = mujoco.MjData(model)
    for _ in range(1000):
        mujoco.mj_step(model, data)
    assert not data.qvel.any() and not data.qpos.any()

    # moved by the motors; the run continues from a saved state bit for bit
    run(model, data, 200, 10)
    signature = mujoco.mjtState.mjSTATE_INTEGRATION
    saved = np.empty(mujoco.mj_stateSize(model, signature))
    mujoco.mj_getState(model, data, saved, signature)
    first = run(model, data, 300, 10)
    assert np.abs(np.diff(first, axis=0)).max() > 1e-3
    other = mujoco.MjData(model)
    mujoco.mj_setState(model, other, saved, signature)
    assert np.array_equal(first, run(model, other, 300, 10))
    assert np.array_equal(data.qvel, other.qvel)


if __name__ == "__main__":
    main()
