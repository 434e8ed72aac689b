"""mujoco.sysid with its default optimizer finds the gear that made a motion. It steps one mjData with a model for each
trial, all from one saved state. Each result equals that of a single model bit for bit. Skipped without
mujoco[sysid]."""

import os
import sys

import mujoco
from mujoco import rollout
import numpy as np

try:
    import mujoco.sysid as sysid

    optimize = sysid.optimize
except (ImportError, AttributeError):
    print("mujoco[sysid] is not installed")
    sys.exit(77)

PATH = os.environ["MJGEAR_PLUGIN_PATH"]
TRUE = {"gamma_u": 0.15, "gamma_v": 0.6, "coulomb": 0.4}
MODEL = """<mujoco><option timestep="0.002" integrator="implicitfast"/><extension><plugin plugin="mjgear.transmission">
  <instance name="gears"><config key="joint" value="elbow"/><config key="gamma_u" value="0.15"/>
    <config key="gamma_v" value="0.6"/><config key="coulomb" value="0.4"/></instance></plugin></extension>
  <worldbody><body><joint name="elbow" axis="0 -1 0" armature="0.05"/>
    <geom type="capsule" fromto="0 0 0 .5 0 0" size=".03" mass="2"/></body></worldbody>
  <actuator><motor joint="elbow"/></actuator>
  <sensor><jointpos name="q" joint="elbow"/><jointvel name="v" joint="elbow"/></sensor></mujoco>"""


def configure(spec, key, value):
    plugin = spec.plugin("gears")
    plugin.config = {**plugin.config, key: repr(float(value))}


def test_finds_the_gear():
    mujoco.mj_loadPluginLibrary(PATH)
    spec = mujoco.MjSpec.from_string(MODEL)
    model = spec.compile()
    data = mujoco.MjData(model)
    time = np.arange(600) * model.opt.timestep
    ctrl = (8 * np.sin(9 * time) + 5 * np.sin(23 * time)).reshape(-1, 1)
    start = sysid.create_initial_state(model, data.qpos, data.qvel, data.act)
    state, sensor = rollout.rollout(model, data, start, ctrl[:-1])
    measured = sysid.TimeSeries.from_names(state[0, :, 0], sensor[0], model)

    params = sysid.ParameterDict()
    for key, value in TRUE.items():
        params.add(
            sysid.Parameter(
                key,
                nominal=value,
                min_value=0,
                max_value=0.9,
                modifier=lambda s, p, key=key: configure(s, key, p.value[0]),
            )
        )
        params[key].value[:] = 0.3
    sequences = sysid.ModelSequences("arm", spec, "motion", start, sysid.TimeSeries(time, ctrl), measured)
    residual = sysid.build_residual_fn(models_sequences=[sequences])

    # many models in one call, and each alone
    trials = np.array([[0.1, 0.5, 0.2], [0.15, 0.6, 0.4], [0.3, 0.1, 0.8], [0.0, 0.85, 0.0]]).T
    together = np.concatenate(residual(trials, params)[0])
    for i in range(trials.shape[1]):
        one = np.concatenate(residual(trials[:, i], params)[0])
        assert together[:, i].tobytes() == one.tobytes(), i
    assert np.abs(together[:, 1]).max() < 1e-12 < 1e-3 < np.abs(together[:, 0]).max()

    found, _ = optimize(initial_params=params, residual_fn=residual)
    for key, value in TRUE.items():
        assert abs(found[key].value[0] - value) < 1e-6, (key, found[key].value[0])
    print({key: float(found[key].value[0]) for key in TRUE})


if __name__ == "__main__":
    test_finds_the_gear()
