"""Joints that turn one way only, and freewheels between two joints: exact rest, free motion, changes, inverse, refusals."""

import os
import sys

import mujoco
import numpy as np

import mjgear

sys.path.insert(0, os.path.join(os.environ["MJGEAR_SOURCE_DIR"], "tests", "plugin"))
import scripts

MODEL = """<mujoco><option timestep='.001' gravity='0 0 0' integrator='{integrator}'/>
<extension><plugin plugin='mjgear.transmission'><instance name='g'><config key='{on}' value='g'/>{keys}</instance></plugin></extension>
<worldbody><body><joint name='{first}' type='slide' axis='1 0 0' armature='1'/><geom size='.1' mass='1.5'/></body>{more}</worldbody>
<tendon>{tendon}</tendon><actuator><motor joint='{first}'/></actuator></mujoco>"""


def make(integrator: str = "implicitfast", **values: object) -> mujoco.MjModel:
    keys = "".join(f"<config key='{key}' value='{value}'/>" for key, value in values.items())
    return mujoco.MjModel.from_xml_string(
        MODEL.format(integrator=integrator, keys=keys, on="joint", first="g", more="", tendon="")
    )


def freewheel(**values: object) -> mujoco.MjModel:
    keys = "".join(f"<config key='{key}' value='{value}'/>" for key, value in values.items())
    more = "<body pos='0 1 0'><joint name='b' type='slide' axis='1 0 0'/><geom size='.1' mass='0.5'/></body>"
    tendon = "<fixed name='g'><joint joint='a' coef='1'/><joint joint='b' coef='-1'/></fixed>"
    return mujoco.MjModel.from_xml_string(
        MODEL.format(integrator="Euler", keys=keys, on="tendon", first="a", more=more, tendon=tendon)
    )


def test_joint() -> None:
    """Rotor 1 kg and link 1.5 kg behind teeth: free where it may turn, with the law's friction; else at rest, exactly."""
    rng = np.random.default_rng(1)
    for oneway in (1, -1):
        for integrator in ("Euler", "implicitfast", "implicit"):
            gear = {"gamma_u": 0.2, "gamma_v": 0.4, "coulomb": 0.5}
            model, other = make(integrator, oneway=oneway, **gear), make(integrator, **gear)
            data, free = mujoco.MjData(model), mujoco.MjData(other)
            before = mujoco.MjData(model)
            for _ in range(300):
                v = free.qvel[0] = data.qvel[0] = rng.choice([0, oneway * abs(rng.normal()) * 0.01])
                free.ctrl[0] = data.ctrl[0] = 20 * rng.normal()
                free.qfrc_applied[0] = data.qfrc_applied[0] = 20 * rng.normal()
                mujoco.mj_copyData(before, model, data)
                mujoco.mj_step(other, free)
                mujoco.mj_step(model, data)
                moves = oneway * free.qvel[0] > 0
                assert abs(data.qvel[0] - free.qvel[0]) <= 1e-15 if moves else data.qvel[0] == 0
                torques = mjgear.inverse(model, before, (data.qvel - v) / 0.001)
                assert torques.low[0] - 1e-9 <= data.ctrl[0] <= torques.high[0] + 1e-9
                assert data.qvel[0] != 0 or (torques.low[0] == -np.inf if oneway > 0 else torques.high[0] == np.inf)

    # moving in the blocked direction, it stops at once
    data.qvel[0] = -oneway
    mujoco.mj_step(model, data)
    assert data.qvel[0] == 0
    assert mjgear.inverse(model, data, [-oneway]).motion == (mjgear.Motion.NONE,)


def test_ratchet() -> None:
    """Steps equal a backstop's if the joint is back at its last tooth, else a free gear's; also after a restored state."""
    rng = np.random.default_rng(2)
    pitch, phase, kind = 0.01, 0.003, mujoco.mjtState.mjSTATE_FULLPHYSICS
    for oneway in (1, -1):
        gear = {"gamma_u": 0.2, "gamma_v": 0.4, "coulomb": 0.5}
        model, held, free = (
            make(oneway=oneway, tooth_pitch=pitch, tooth_phase=phase, **gear),
            make(oneway=oneway, **gear),
            make(**gear),
        )
        data, other, again = (mujoco.MjData(one) for one in (model, held, free))
        state, restored = np.zeros(mujoco.mj_stateSize(model, kind)), mujoco.MjData(model)
        passed, rests, falls, worst, fastest = None, 0, 0, 0.0, 0.0
        for i in range(6000):
            if i % 40 == 0:
                data.ctrl[0] = 15 * rng.normal()
            place = oneway * (data.qpos[0] - phase) / pitch
            passed = np.floor(place) if passed is None else max(passed, np.floor(place))
            blocks = place <= passed
            alike, twin = (held, other) if blocks else (free, again)
            twin.qpos[0], twin.qvel[0], twin.ctrl[0] = data.qpos[0], data.qvel[0], data.ctrl[0]
            mujoco.mj_getState(model, data, state, kind)
            mujoco.mj_setState(model, restored, state, kind)
            restored.ctrl[0] = data.ctrl[0]
            mujoco.mj_step(model, restored)
            mujoco.mj_step(alike, twin)
            mujoco.mj_step(model, data)
            assert (
                data.qvel[0] == twin.qvel[0] == restored.qvel[0]
                and data.plugin_state[:].tobytes() == restored.plugin_state[:].tobytes()
            )
            rests += blocks and data.qvel[0] == 0
            falls += oneway * data.qvel[0] < 0
            fastest = max(fastest, -oneway * data.qvel[0])
            worst = max(worst, passed * pitch - oneway * (data.qpos[0] - phase))
        assert rests > 300 and falls > 300 and worst <= 0.001 * fastest * (1 + 1e-9) < pitch, (
            rests,
            falls,
            worst,
            fastest,
        )

    # placed elsewhere the joint has no tooth; the teeth of a freewheel are on its tendon
    data.qpos[0] -= oneway * 17.5 * pitch
    data.qvel[0], data.ctrl[0] = 0, -oneway * 5
    mujoco.mj_step(model, data)
    assert oneway * data.qvel[0] < 0
    model = freewheel(gamma_u=0, gamma_v=0, oneway=-1, tooth_pitch=pitch)
    data = mujoco.MjData(model)
    data.qpos[:] = -0.5 * pitch, 0
    data.ctrl[0], ahead = 3, []
    for _ in range(300):
        mujoco.mj_step(model, data)
        ahead.append(data.qvel[0] - data.qvel[1])
    assert max(ahead) > 0.01 and abs(ahead[-1]) < 1e-12 and 0 <= data.qpos[0] - data.qpos[1] < 0.001 * max(ahead)


def test_freewheel() -> None:
    """Of two bodies the first drives the second, and the second may overrun it."""
    model = freewheel(gamma_u=0, gamma_v=0, oneway=-1)
    data = mujoco.MjData(model)
    together = (0.003 + 0.001 * 0.5) / 3  # the last torque alone would take the first ahead
    for torque, first, second in (
        (3, 0.001, 0.001),
        (-5, -0.001, 0.001),
        (5, 0.001, 0.001),
        (-2.5, 0, 0.001),
        (3, together, together),
    ):
        data.ctrl[0] = torque
        mujoco.mj_step(model, data)
        assert np.allclose(data.qvel, [first, second], rtol=0, atol=1e-15), (torque, data.qvel)


def test_changes_and_state() -> None:
    model = make(gamma_u=0.2, gamma_v=0.4)
    data = mujoco.MjData(model)
    gear = mjgear.Gears(model, data)["g"]
    gear.oneway = -1
    data.ctrl[0] = 10
    mujoco.mj_step(model, data)
    assert data.qvel[0] == 0 and gear.oneway == -1
    data.ctrl[0] = -10
    mujoco.mj_step(model, data)
    kind = mujoco.mjtState.mjSTATE_INTEGRATION
    state = np.zeros(mujoco.mj_stateSize(model, kind))
    mujoco.mj_getState(model, data, state, kind)
    other = mujoco.MjData(model)
    mujoco.mj_setState(model, other, state, kind)
    for i in range(50):
        data.ctrl[0] = other.ctrl[0] = 10 * (-1) ** (i // 7)
        mujoco.mj_step(model, data)
        mujoco.mj_step(model, other)
        assert data.qvel[0] == other.qvel[0] <= 0
    try:
        gear.oneway = 0.5
        raise AssertionError
    except mjgear.GearError as error:
        assert "no direction" in str(error)


def test_taken_back() -> None:
    """A gear that turns both ways again steps as in data that never had a blocked direction."""
    model = make(gamma_u=0.2, gamma_v=0.4, static_ratio=1.3)
    data, other = mujoco.MjData(model), mujoco.MjData(model)
    gear, twin = mjgear.Gears(model, data)["g"], mjgear.Gears(model, other)["g"]
    gear.oneway = -1
    mujoco.mj_step(model, data)
    gear.oneway = 0
    for i in range(50):
        mujoco.mj_copyState(model, data, other, mujoco.mjtState.mjSTATE_INTEGRATION)
        data.ctrl[0] = other.ctrl[0] = 10 * (-1) ** (i // 7)
        mujoco.mj_step(model, data)
        mujoco.mj_step(model, other)
        assert data.qvel[0] == other.qvel[0] and gear.iterations == twin.iterations, i
    assert data.qvel[0] != 0


def test_refusals() -> None:
    shaft = {"backlash": "exact", "half_gap": 0.1, "stiffness": 100, "rotor_inertia": 0.1}
    for line, values in {
        "no direction": {"oneway": 0.3},
        "out of range": {"oneway": 2},
        "tooth_pitch has no effect": {"tooth_pitch": 0.1},
        "tooth_phase has no effect": {"oneway": 1, "tooth_phase": 0.1},
        "does not go with oneway": {"oneway": 1, "presliding_stiffness": 10},
        "its rotor turns both ways": {"oneway": 1, **shaft},
    }.items():
        with scripts.refuses(line):
            make(gamma_u=0.1, gamma_v=0.1, **values)


if __name__ == "__main__":
    scripts.run(globals())
