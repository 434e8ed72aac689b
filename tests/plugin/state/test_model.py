"""The gears of a step are those of the stepped model: in rollouts and batches of many models, with separate states
or one for all, in any number of threads, each run has the bits of a single run, sensors included. Models that
change in place, come and go, or were pickled are recognized by their content."""

import gc
import os
import pickle
import subprocess
import sys

import mujoco
from mujoco import batch, rollout
import numpy as np

PATH = os.environ["MJGEAR_PLUGIN_PATH"]

# an arm of two links against a wall, one joint with backlash, and a free box on the floor
MODEL = """<mujoco><option timestep="0.002" integrator="implicitfast"/><extension><plugin plugin="mjgear.transmission">
  <instance name="a"><config key="joint" value="{joints}"/><config key="gamma_u" value="{gamma_u}"/>
    <config key="gamma_v" value="{gamma_v}"/><config key="coulomb" value="{coulomb}"/></instance>
  <instance name="b"><config key="joint" value="wrist"/><config key="eta_forward" value="{eta}"/>
    <config key="backlash" value="exact"/><config key="half_gap" value="{half_gap}"/>
    <config key="stiffness" value="1000"/><config key="rotor_inertia" value="0.01"/></instance></plugin></extension>
  <worldbody><geom type="plane" size="2 2 .1"/><geom type="box" size=".1 1 1" pos="1 0 1"/>
    <body pos="0 0 1"><joint name="shoulder" axis="0 1 0" armature="0.2"/><geom type="capsule" size=".04" fromto="0 0 0 .5 0 0"/>
      <body pos=".5 0 0"><joint name="elbow" axis="0 1 0" armature="0.1"/><geom type="capsule" size=".03" fromto="0 0 0 .4 0 0"/>
        <body pos=".4 0 0"><joint name="wrist" axis="0 1 0"/><geom size=".05" mass="{mass}"/></body></body></body>
    <body pos="-.6 0 .2"><freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody>
  <actuator><motor joint="shoulder"/><motor joint="elbow"/><motor joint="wrist"/></actuator>
  <sensor><plugin name="s" plugin="mjgear.transmission" instance="a" objtype="joint" objname="shoulder"/>
    <plugin name="e" plugin="mjgear.transmission" instance="a" objtype="joint" objname="elbow"/>
    <plugin name="w" plugin="mjgear.transmission" instance="b"/></sensor></mujoco>"""

STATE = mujoco.mjtState.mjSTATE_FULLPHYSICS


def make(gamma_u=0.1, gamma_v=0.4, coulomb=0.5, eta=0.8, half_gap=0.02, mass=1.0, joints="shoulder elbow"):
    # numbers of one length, so that all models have the same size
    keys = {key: value if isinstance(value, str) else f"{value:.6f}" for key, value in locals().items()}
    return mujoco.MjModel.from_xml_string(MODEL.format(**keys))


def different(n):
    """Models that differ in their gears; every other one in its mass too."""
    return [
        make(
            gamma_u=0.02 * i,
            gamma_v=0.3 + 0.15 * i,
            coulomb=0.1 * i,
            eta=0.9 - 0.05 * i,
            half_gap=0.005 * (i + 1),
            mass=1 + i % 2,
        )
        for i in range(n)
    ]


def controls(n, nstep):
    t = np.arange(nstep) * 0.01
    return np.stack([np.stack([20 * np.sin(3 * t + i), 8 * np.cos(5 * t), np.sin(9 * t + i)], 1) for i in range(n)])


def states(models):
    """A separate state for each, in the middle of a motion."""
    rows = []
    for i, model in enumerate(models):
        data = mujoco.MjData(model)
        data.qvel[:3] = 0.1 * i, -0.2, 0.3
        mujoco.mj_step(model, data, 20 + i)
        rows.append(np.empty(mujoco.mj_stateSize(model, STATE)))
        mujoco.mj_getState(model, data, rows[-1], STATE)
    return np.stack(rows)


def alone(model, start, control):
    """Return states and sensors of a single run, in data of its own model."""
    data = mujoco.MjData(model)
    mujoco.mj_setState(model, data, start, STATE)
    rows, sensors = [], []
    for u in control:
        data.ctrl = u
        mujoco.mj_step(model, data)
        rows.append(np.empty(len(start)))
        mujoco.mj_getState(model, data, rows[-1], STATE)
        sensors.append(data.sensordata.copy())
    return np.stack(rows), np.stack(sensors)


def equal(a, b):
    return a.shape == b.shape and a.tobytes() == b.tobytes()


def test_rollout():
    models = different(6)
    control = controls(len(models), 150)
    own = states(models)
    one = np.tile(own[2], (len(models), 1))
    for starts in own, one:
        expected = [alone(*each) for each in zip(models, starts, control)]
        assert len({e[0][-1, 1] for e in expected}) == len(models), "all models move alike"
        for nthread in 0, 1, 2:
            datas = [mujoco.MjData(models[0]) for _ in range(max(1, nthread))]
            with rollout.Rollout(nthread=nthread) as pool:
                for _ in range(2):  # the second time they know all models
                    state, sensor = pool.rollout(models, datas if nthread else datas[0], starts, control)
                    for i, (rows, sensors) in enumerate(expected):
                        assert equal(state[i], rows) and equal(sensor[i], sensors), (nthread, i)


def test_batch():
    models = different(5)
    control = controls(len(models), 100)
    full = mujoco.mjtState.mjSTATE_INTEGRATION
    expected = []
    for model, control_i in zip(models, control):
        data = mujoco.MjData(model)
        rows = []
        for u in control_i:
            data.ctrl = u
            mujoco.mj_step(model, data)
            rows.append(np.empty(mujoco.mj_stateSize(model, full)))
            mujoco.mj_getState(model, data, rows[-1], full)
        expected.append((np.stack(rows), data.sensordata.copy()))
    for persistent in False, True:
        for nthread in 1, 2:
            many = batch.Batch(models[0], len(models), nthread=nthread, persistent=persistent)
            many.set_models(models)
            ctrl, sensor = many.bind("ctrl"), many.bind("sensordata")
            for k in range(control.shape[1]):
                ctrl[:] = control[:, k]
                many.step()
                for i in range(len(models)):
                    assert equal(many.state[i], expected[i][0][k]), (persistent, nthread, k, i)
            for i in range(len(models)):
                assert equal(sensor[i], expected[i][1]), (persistent, nthread, i)


def test_in_place():
    """A field that a batch expands, or a program overwrites, is the model's: gears are read from it."""
    models = different(3)
    many = batch.Batch(models[0], 3, nthread=1)
    text = many.expand("plugin_attr")
    sizes = {m.plugin_attr.size for m in models}
    assert len(sizes) == 1, sizes
    for i, model in enumerate(models):
        text[i] = model.plugin_attr
    same_mass = [
        make(gamma_u=0.02 * i, gamma_v=0.3 + 0.15 * i, coulomb=0.1 * i, eta=0.9 - 0.05 * i, half_gap=0.005 * (i + 1))
        for i in range(3)
    ]
    for _ in range(50):
        many.step()
    model, data = models[0], mujoco.MjData(models[0])
    for i, other in enumerate(same_mass):
        expected = mujoco.MjData(other)
        mujoco.mj_step(other, expected, 50)
        assert equal(many.bind("qpos")[i], expected.qpos), i
        model.plugin_attr[:] = other.plugin_attr
        mujoco.mj_resetData(model, data)
        mujoco.mj_step(model, data, 50)
        assert equal(data.qpos, expected.qpos), i


def test_reset():
    """Data that are reset with another model have its gears, also where other joints have them."""
    first, second = make(), make(gamma_u=0.3, gamma_v=0.2, coulomb=2)
    swapped = make(joints="elbow shoulder", gamma_u="0.1 0.2")
    for model in second, swapped, first:
        data = mujoco.MjData(first)
        mujoco.mj_step(first, data, 10)
        mujoco.mj_resetData(model, data)
        mujoco.mj_step(model, data, 100)
        expected = mujoco.MjData(model)
        mujoco.mj_step(model, expected, 100)
        assert equal(data.qpos, expected.qpos) and equal(data.sensordata, expected.sensordata)


def test_addresses():
    """Models that are made, stepped and freed, so that later ones stand where earlier ones stood."""
    data, seen, again = mujoco.MjData(make()), set(), 0
    for i in range(40):
        model = make(gamma_v=0.2 + 0.01 * i)
        again += model._address in seen
        seen.add(model._address)
        mujoco.mj_resetData(model, data)
        mujoco.mj_step(model, data, 40)
        expected = mujoco.MjData(model)
        mujoco.mj_step(model, expected, 40)
        assert equal(data.qpos, expected.qpos), i
        del model, expected
        gc.collect()
    assert again, "no address came twice: this test shows nothing"


def test_sizes():
    """Data of a model with other sizes: the engine's error, not a wrong step."""
    text = MODEL.replace(
        '<plugin name="e" plugin="mjgear.transmission" instance="a" objtype="joint" objname="elbow"/>', ""
    )
    keys = {"gamma_u": 0, "gamma_v": 0, "coulomb": 0, "eta": 1, "half_gap": 0, "mass": 1}
    other = mujoco.MjModel.from_xml_string(text.format(joints="shoulder", **keys))
    data = mujoco.MjData(make())
    try:
        mujoco.mj_step(other, data)
    except mujoco.FatalError as error:
        assert "other sizes" in str(error), error
    else:
        raise AssertionError("stepped")


def test_keyframe():
    """A keyframe of a running simulation has neither rotors nor springs of pre-sliding: said when it is used. A saved state has all, and a
    keyframe from which a simulation begins needs none."""
    keys = {"gamma_u": 0.1, "gamma_v": 0.4, "coulomb": 0.5, "eta": 0.8, "half_gap": 0.02, "mass": 1}
    gaps = MODEL.format(joints="shoulder", **keys)
    plain = gaps[: gaps.index('<instance name="b">')] + gaps[gaps.index("</plugin>") :]
    plain = plain.replace('<plugin name="w" plugin="mjgear.transmission" instance="b"/>', "").replace(
        '<plugin name="e" plugin="mjgear.transmission" instance="a" objtype="joint" objname="elbow"/>', ""
    )
    spring = plain.replace(
        '<config key="coulomb"', '<config key="presliding_stiffness" value="300"/><config key="coulomb"'
    )
    for text, words in (
        (
            gaps.replace(
                '<plugin name="e" plugin="mjgear.transmission" instance="a" objtype="joint" objname="elbow"/>', ""
            ),
            "rotors",
        ),
        (spring, "springs"),
        (plain, None),
    ):
        model = mujoco.MjModel.from_xml_string(
            text.replace("</mujoco>", '<keyframe><key name="k"/></keyframe></mujoco>')
        )
        warnings = []
        mujoco.set_mju_user_warning(warnings.append)
        data = mujoco.MjData(model)
        mujoco.mj_resetDataKeyframe(model, data, 0)
        data.ctrl[:2] = 5, -3
        mujoco.mj_step(model, data, 60)
        saved = np.zeros(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_INTEGRATION))
        mujoco.mj_getState(model, data, saved, mujoco.mjtState.mjSTATE_INTEGRATION)
        mujoco.mj_setKeyframe(model, data, 0)
        mujoco.mj_step(model, data, 40)
        other = mujoco.MjData(model)
        mujoco.mj_setState(model, other, saved, mujoco.mjtState.mjSTATE_INTEGRATION)
        mujoco.mj_step(model, other, 40)
        assert (other.qpos == data.qpos).all() and not warnings, warnings
        for _ in range(2):
            mujoco.mj_resetDataKeyframe(model, data, 0)
            mujoco.mj_step(model, data, 40)
        assert len(warnings) == (words is not None) and (
            not words or (words in warnings[0] and "mj_getState" in warnings[0])
        ), warnings


def test_recompiled():
    """With a body more the engine's recompile keeps no state of plugins: rotors and springs are told of, a brake holds as at a reset."""
    text = """<mujoco><extension><plugin plugin="mjgear.transmission"><instance name="g"><config key="joint" value="j"/>{}</instance></plugin>
      <plugin plugin="mjgear.brake"/></extension><worldbody><body><joint name="j"/><geom size=".1" pos=".3 0 0"/></body>
      <body pos="0 1 0"><joint name="held" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/></body></worldbody>
      <actuator><motor joint="j"/><plugin plugin="mjgear.brake" joint="held"><config key="holding_torque" value="99"/>
      <config key="closing_time" value=".5"/></plugin></actuator></mujoco>"""
    gap = '<config key="backlash" value="exact"/><config key="half_gap" value=".1"/><config key="stiffness" value="99"/><config key="rotor_inertia" value=".1"/>'
    spring = '<config key="coulomb" value="1"/><config key="presliding_stiffness" value="99"/>'
    for keys, words in ((gap, "rotors"), (spring, "springs")):
        spec = mujoco.MjSpec.from_string(text.format('<config key="eta_forward" value=".7"/>' + keys))
        model = spec.compile()
        data = mujoco.MjData(model)
        mujoco.mj_step(model, data, 20)
        body = spec.worldbody.add_body(pos=[0, 9, 0])
        body.add_freejoint()
        body.add_geom(size=[0.1, 0, 0])
        warnings = []
        mujoco.set_mju_user_warning(warnings.append)
        model, data = spec.recompile(model, data)
        mujoco.mj_step(model, data, 20)
        assert len(warnings) == 1 and words in warnings[0] and "mj_getState" in warnings[0], warnings
        assert data.qpos[1] == 0 and data.qvel[1] == 0


PICKLE = """
import pickle, sys, mujoco
mujoco.mj_loadPluginLibrary({path!r})
model, data = pickle.loads(sys.stdin.buffer.read())
mujoco.mj_step(model, data, 50)
print(data.qpos.tobytes().hex(), flush=True)
"""


def test_pickle():
    """A pickled mjData continues like the original. MuJoCo itself may abort when such data are freed (README), so this
    happens in a separate process."""
    model = make()
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 30)
    saved = pickle.dumps((model, data))
    mujoco.mj_step(model, data, 50)
    result = subprocess.run(
        [sys.executable, "-c", PICKLE.format(path=PATH)], input=saved, capture_output=True, check=False
    )
    assert result.stdout.decode().strip() == data.qpos.tobytes().hex(), (result.stdout, result.stderr)


def test_sleep():
    """A saved state does not say which trees sleep. Self-locking arms rest in the pose in which the engine put them to sleep. Restored
    into new data, where all are awake, or into data in which others sleep, they go on bit for bit. Falling asleep is not an error,
    with a loaded spring either."""
    spec = mujoco.mjtState.mjSTATE_INTEGRATION
    for integrator in ("Euler", "implicitfast"):
        for keys in (
            dict(gamma_u=0.2, gamma_v=1.1),
            dict(gamma_u=0.2, gamma_v=0.3, coulomb=0.1, presliding_stiffness=100),
        ):
            config = "".join(f'<config key="{key}" value="{value}"/>' for key, value in keys.items())
            arms = "".join(
                f'<body pos="0 {i} .2"><joint name="a{i}" axis="0 1 0" armature=".02" damping=".05"/><geom size=".05" pos=".2 0 0" '
                f'mass="{0.5 + 0.1 * i}"/><body pos=".2 0 0"><joint name="b{i}" axis="0 1 0" armature=".02" damping=".05"/>'
                '<geom size=".05" pos=".2 0 0" mass=".3"/></body></body>'
                for i in range(3)
            )
            model = mujoco.MjModel.from_xml_string(
                f'<mujoco><option integrator="{integrator}" gravity="0 0 0"><flag sleep="enable"/></option><extension>'
                '<plugin plugin="mjgear.transmission"><instance name="g"><config key="joint" value="a0 b0 a1 b1 a2 b2"/>'
                f'{config}</instance></plugin></extension><worldbody><geom type="plane" size="3 3 .1"/>{arms}</worldbody></mujoco>'
            )

            def play(data, first, last, states=None):
                seen = []
                for k in range(first, last):
                    if states is not None and k % 100 == 0:
                        states[k] = np.zeros(mujoco.mj_stateSize(model, spec))
                        mujoco.mj_getState(model, data, states[k], spec)
                    if k % 400 == 100:
                        data.qvel[2 * (k // 400) % 6] = 2.5
                    seen.append(np.concatenate([data.qpos, data.qvel]))
                    mujoco.mj_step(model, data)
                return np.array(seen)

            warnings = []
            mujoco.set_mju_user_warning(warnings.append)
            data, states = mujoco.MjData(model), {}
            whole = play(data, 0, 1500, states)
            assert not warnings and (data.tree_asleep >= 0).any(), warnings
            for first, state in states.items() if "coulomb" not in keys else ():
                for restored in (mujoco.MjData(model), data):
                    mujoco.mj_setState(model, restored, state, spec)
                    last = min(first + 500, 1500)
                    assert np.array_equal(play(restored, first, last), whole[first:last]), (
                        integrator,
                        first,
                        restored is data,
                    )
        print(f"sleep, {integrator}: {len(states)} states restored, bit for bit")


def main():
    mujoco.mj_loadPluginLibrary(PATH)
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print(name, flush=True)


if __name__ == "__main__":
    main()
