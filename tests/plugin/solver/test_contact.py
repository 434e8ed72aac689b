"""Contact steps with exactly one solution are all solved, at every step size. Gears report an engine that calls no plugin. One robot
does not take another's friction away. Numbers that are not finite cost nothing."""

import itertools
import os
import time

import mujoco
import numpy as np

GEAR = (
    '<extension><plugin plugin="mjgear.transmission"><instance name="g"><config key="joint" value="{joint}"/>'
    '<config key="gamma_u" value="{u}"/><config key="gamma_v" value="{v}"/></instance></plugin></extension>'
)
SENSOR = '<plugin name="s{joint}" plugin="mjgear.transmission" instance="g" objtype="joint" objname="{joint}"/>'
ONE_ITERATION = ("</instance>", '<config key="maxiter" value="1"/></instance>')
STATUS = 11


def ball(u, v, h, integrator):
    """A ball of 1 kg at 1 m/s hits a geared slide, rotor and link of 1 kg."""
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{h}" integrator="{integrator}" gravity="0 0 0"/>'
        + GEAR.format(joint="j", u=u, v=v)
        + '<worldbody><body><joint name="j" type="slide" axis="1 0 0" armature="1"/><geom type="box" size=".1 .1 .1" mass="1" '
        'solref="-1e4 -20"/></body><body pos=".21 0 0"><joint name="b" type="slide" axis="1 0 0"/>'
        '<geom size=".1" mass="1" solref="-1e4 -20"/></body></worldbody>'
        '<actuator><motor joint="j"/></actuator><sensor>' + SENSOR.format(joint="j") + "</sensor></mujoco>"
    )
    data = mujoco.MjData(model)
    data.qvel[1] = -1
    bad = touched = 0
    for _ in range(int(min(0.1 / h, 6000)) if h > 2e-5 else 9000):
        mujoco.mj_step(model, data)
        bad += data.sensordata[STATUS] not in (0, 1)
        touched += data.ncon > 0
    assert touched > 0
    return bad


def test_ball():
    for integrator in ("Euler", "implicitfast", "discrete"):
        for u, v in ((0.2, 0.5), (0.1, 0.95), (0.1, 1.2)):
            for h in (1e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3):
                assert ball(u, v, h, integrator) == 0, (integrator, u, v, h)


# an arm of benchmarks/fallback_counts.c with static friction that is thrown against floor and ball
THROWN = (
    """<mujoco><option timestep="0.00325061" cone="pyramidal" integrator="implicit"/><extension>
<plugin plugin="mjgear.transmission"><instance name="g"><config key="joint" value="j0 j1 j2 j3"/><config key="coulomb" value="0.149"/>
<config key="gamma_u" value="0.062 0.179 0.058 0.111"/><config key="gamma_v" value="1.340 0.878 0.546 0.851"/>
<config key="static_ratio" value="1.466"/></instance></plugin></extension><worldbody>
<geom type="plane" size="3 3 1" friction="0.52"/><geom type="plane" size="3 3 1" pos="1.1 0 0" zaxis="-1 0 0" friction="0.80"/>
<body name="ball" pos=".5 0 .6"><freejoint/><geom type="sphere" size=".06" mass="8.507" condim="4"/></body>
<body pos="0 0 .3"><joint name="j0" axis=".1 1 0" armature="0.02002"/>
<geom type="capsule" size=".03" fromto="0 0 0 .25 0 0" mass="0.102" condim="1" solref="0.004858 0.837"/>
<body pos=".25 0 0"><joint name="j1" type="slide" axis="0 0 1" armature="0.0135"/>
<geom type="capsule" size=".03" fromto="0 0 0 .25 0 0" mass="0.1" condim="6" solref="0.00356 0.811"/>
<body pos=".25 0 0"><joint name="j2" axis="0 1 0" armature="0.004628" damping="0.316"/>
<geom type="capsule" size=".03" fromto="0 0 0 .25 0 0" mass="0.420" condim="3" solref="0.01297 0.835"/>
<body pos=".25 0 0"><joint name="j3" axis="0 1 0" armature="0.004294" damping="0.299"/>
<geom type="capsule" size=".03" fromto="0 0 0 .25 0 0" mass="0.441" condim="4" solref="0.0187 0.39"/>
</body></body></body></body></worldbody><actuator><motor joint="j0"/><motor joint="j1"/><motor joint="j2"/><motor joint="j3"/></actuator>
<sensor>"""
    + "".join(SENSOR.format(joint=f"j{i}") for i in range(4))
    + "</sensor></mujoco>"
)


def test_breaks_away():
    """A step with a solution on sliding bounds, to which no path on static bounds leads; friction equals the result of benchmarks/existence.py."""
    model = mujoco.MjModel.from_xml_string(THROWN)
    data = mujoco.MjData(model)
    data.qpos = [0.207148, 0, 0.340236, 1, 0, 0, 0, 0.66266, 0.0437822, -2.14674, 3.01290]
    data.qvel = [0, 0, 0.819756, 0, 0, 0, 0, 0, -32.2514, 127.1106]
    data.ctrl = [0, -119.307, 0, 198.912]
    mujoco.mj_step(model, data)
    first = model.sensor_adr[:4]
    assert data.sensordata[first[0] + STATUS] in (0, 1)
    expected = [-2001.03882499, 1539.82466506, -84.59564843, 149.49897562]
    assert np.allclose(data.sensordata[first], expected, rtol=1e-7), data.sensordata[first]


AXIS = (
    '<mujoco><option integrator="{integrator}"/>'
    + GEAR.format(joint="p q", u=0.2, v=0.3)
    + '<worldbody><geom size=".02"/><body pos=".03 0 .00123"><joint name="p" axis="0 1 0" damping="1"/><geom size=".02" mass="0"/>'
    '<inertial pos="0 0 0" mass=".02" diaginertia="1e-4 1e-4 1e-4"/>'
    '<body pos=".04 0 0"><joint name="q" axis="0 1 0" damping="1"/><geom size=".01" mass="0"/>'
    '<inertial pos="0 0 0" mass=".005" diaginertia="2e-5 2e-5 2e-5"/></body></body></worldbody>'
    '<actuator><motor joint="p"/><motor joint="q"/></actuator><sensor>'
    + SENSOR.format(joint="p")
    + SENSOR.format(joint="q")
    + "</sensor></mujoco>"
)


def test_rounding():
    """A contact on the axis of its joint finds no inertia: its forces of 1e15 N round to N, and friction keeps its sign all the same."""
    for integrator in ("Euler", "implicitfast", "implicit", "discrete"):
        model = mujoco.MjModel.from_xml_string(AXIS.format(integrator=integrator))
        data = mujoco.MjData(model)
        random = np.random.default_rng(3)
        for step in range(500):
            if step % 20 == 0:
                data.ctrl[:] = random.uniform(-8, 8, 2)
            mujoco.mj_step(model, data)
            assert data.efc_D.max() > 1e14
            assert data.sensordata[STATUS] in (0, 1), (integrator, step)
            assert (data.sensordata[model.sensor_adr] * data.qvel >= 0).all(), (integrator, step)


PRESSED = (
    '<mujoco><option integrator="{integrator}" cone="elliptic" impratio="{impratio}"/>'
    + GEAR.format(joint="a b", u=0.2, v=0.3)
    + '<worldbody><geom type="plane" size="9 9 .1"/><body pos="0 0 .08"><freejoint/><geom type="box" size=".3 .1 .1" mass="30"/>'
    '<body pos=".35 0 0"><joint name="a" axis="0 1 0" damping="1"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".05" mass="2"/>'
    '<body pos=".4 0 0"><joint name="b" axis="0 1 0" damping="1"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".05" mass="1"/>'
    '</body></body></body></worldbody><actuator><position joint="a" kp="100"/><position joint="b" kp="100"/></actuator><sensor>'
    + SENSOR.format(joint="a")
    + SENSOR.format(joint="b")
    + "</sensor></mujoco>"
)


def test_stiff_contact_friction():
    """Rows of sliding friction with up to 1e10 kg round to more than the solver's tolerance where integrator and constraints have two metrics.
    Each step is solved, or says that it is not with one iteration, and friction of a solved one is that of the law without a rotor."""
    for integrator, impratio, most in itertools.product(
        ("Euler", "implicitfast", "implicit"), (1e5, 1e6, 1e7, 1e8), (None, 1)
    ):
        text = PRESSED.format(integrator=integrator, impratio=impratio)
        model = mujoco.MjModel.from_xml_string(text.replace(*ONE_ITERATION) if most else text)
        data, random, unsolved = mujoco.MjData(model), np.random.default_rng(1), 0
        for step in range(200):
            if step % 20 == 0:
                data.ctrl[:] = random.uniform(-1.5, 1.5, 2)
            u = 100 * (data.ctrl - data.qpos[7:])
            mujoco.mj_step(model, data)
            t, v = data.sensordata[model.sensor_adr], data.qvel[6:]
            bound = np.abs(0.5 * u - 0.3 * t)
            error = np.where(v == 0, np.maximum(np.abs(t) - bound, 0), np.abs(t - np.sign(v) * bound))
            solved = data.sensordata[STATUS] in (0, 1)
            assert not solved or (error <= 1e-8 * (1 + np.abs(u))).all(), (integrator, impratio, most, step, error)
            unsolved += not solved
        assert (unsolved > 0) == bool(most), (integrator, impratio, most, unsolved)


ARM = (
    '<mujoco><option timestep="0.002" integrator="implicit"/>'
    + GEAR.format(joint="a b", u=0.1, v=1.1)
    + '<worldbody><body><joint name="a" axis="0 1 0" armature=".1"/><geom type="capsule" fromto="0 0 0 .5 0 0" size=".03" mass="1"/></body>'
    '<body pos="0 2 0"><joint name="spin" axis="0 0 1"/><geom type="capsule" fromto="0 0 0 .5 0 0" size=".03" mass="1"/>'
    '<body pos=".5 0 0"><joint name="b" axis="1 0 0" armature="1e-4"/><joint name="c" axis="0 1 0"/>'
    '<geom type="box" size=".3 .02 .3" pos="0 .1 0" mass="1"/></body></body></worldbody>'
    '<actuator><motor joint="a"/></actuator><sensor>'
    + SENSOR.format(joint="a")
    + SENSOR.format(joint="b")
    + "</sensor></mujoco>"
)


def test_blocks():
    """A tree so fast that `implicit` has no positive definite matrix for it, beside an arm that its gear holds."""
    model = mujoco.MjModel.from_xml_string(ARM)
    data = mujoco.MjData(model)
    for _ in range(300):
        data.qvel[1], data.qvel[3] = 900, 700
        mujoco.mj_step(model, data)
        assert data.qvel[0] == 0 and data.qpos[0] == 0
        assert data.sensordata[STATUS] in (0, 1, 2)


def test_disabled():
    """With spring, damper and actuation disabled in a running simulation the engine calls no plugin: the sensor reports it."""
    model = mujoco.MjModel.from_xml_string(ARM)
    data = mujoco.MjData(model)
    for _ in range(5):
        mujoco.mj_step(model, data)
    bits = mujoco.mjtDisableBit
    model.opt.disableflags |= bits.mjDSBL_SPRING | bits.mjDSBL_DAMPER | bits.mjDSBL_ACTUATION
    mujoco.mj_step(model, data)
    mujoco.mj_step(model, data)
    assert data.sensordata[STATUS] == 2 and data.sensordata[0] == 0


def test_not_finite():
    """A step with NaN in an applied force ends within microseconds; the test compares its time with a step without NaN."""
    model = mujoco.MjModel.from_xml_string(ARM)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
    data = mujoco.MjData(model)
    times = []
    for bad in (False, True):
        best = 1.0
        for _ in range(200):
            mujoco.mj_resetData(model, data)
            data.qfrc_applied[1] = np.nan if bad else 1.0
            begin = time.thread_time()
            mujoco.mj_forward(model, data)
            best = min(best, time.thread_time() - begin)
        times.append(best)
    assert data.sensordata[STATUS] == -2
    assert times[1] < 20 * times[0], times


if __name__ == "__main__":
    mujoco.mj_loadPluginLibrary(os.environ["MJGEAR_PLUGIN_PATH"])
    mujoco.set_mju_user_warning(lambda text: None)
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print(name)
