"""benchmarks/existence.py: for steps with exactly one solution it finds the plugin's, or with cones does not exclude it. The
least error of contradicting rows is known."""

import os
import pathlib
import sys

import mujoco
import numpy as np

sys.path.insert(0, str(pathlib.Path(os.environ["MJGEAR_SOURCE_DIR"]) / "benchmarks"))
import existence

ARM = """<mujoco><option timestep='0.002' integrator='{integrator}' cone='{cone}'/><extension><plugin plugin='mjgear.transmission'>
<instance name='g'><config key='joint' value='a b'/><config key='gamma_u' value='.2 .1'/><config key='gamma_v' value='.3 .9'/></instance>
</plugin></extension><worldbody><geom type='plane' size='2 2 1' friction='.4'/><body pos='0 0 .3'>
<joint name='a' axis='0 1 .1' armature='.2' damping='.3'/><geom type='capsule' size='.02' fromto='0 0 0 .4 0 0' contype='0' mass='1'/>
<body pos='.4 0 0'><joint name='b' axis='.1 1 0' armature='.1'/>
<geom type='sphere' size='.05' pos='.3 0 0' mass='1' condim='3'/></body></body></worldbody>
<actuator><motor joint='a'/><motor joint='b'/></actuator></mujoco>"""


def test_one_solution():
    random, touched = np.random.default_rng(5), 0
    for k in range(12):
        text = ARM.format(
            integrator=("Euler", "implicit", "implicitfast")[k % 3], cone=("pyramidal", "elliptic")[k % 2]
        )
        model = mujoco.MjModel.from_xml_string(text)
        data = mujoco.MjData(model)
        data.qpos, data.qvel, data.ctrl = (
            [0.3 + 0.1 * random.random(), 0.2],
            random.uniform(-2, 2, 2),
            random.uniform(-20, 20, 2),
        )
        state = np.empty(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_INTEGRATION))
        mujoco.mj_getState(model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
        mujoco.mj_step(model, data)
        touched += data.nefc > 0
        verdict = existence.Search(existence.Step(text, state)).run(60)
        if k % 2:  # directions of sliding are cells, so that neighbouring solutions are one
            assert not verdict.startswith("no solution"), verdict
            continue
        assert verdict.startswith("a solution"), verdict
        found = np.array(verdict.split("[")[1].rstrip("]").split(), float)
        friction = data.qfrc_damper + data.qfrc_spring - data.qfrc_passive
        assert np.allclose(found, friction, rtol=1e-4, atol=1e-6), (k, found, friction)
    assert touched > 3


def test_contradiction():
    """x = 1 and x = -1: each is missed by 1."""
    program = existence.Program(1)
    program.add(np.ones(1), -1, True)
    program.add(np.ones(1), 1, True)
    error, _ = program.solve()
    assert abs(error - 1) < 1e-9


if __name__ == "__main__":
    mujoco.mj_loadPluginLibrary(os.environ["MJGEAR_PLUGIN_PATH"])
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print(name)
