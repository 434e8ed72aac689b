"""Clutches between a rotor and its joint: torque limits, freewheels, closed forms, energy, state, contact, refusals."""

import os
import sys

import mujoco
import numpy as np

import mjgear

sys.path.insert(0, os.path.join(os.environ["MJGEAR_SOURCE_DIR"], "tests", "plugin"))
import scripts

MODEL = """<mujoco><option timestep='.001' gravity='0 0 0' integrator='{integrator}'/>
<extension><plugin plugin='mjgear.transmission'><instance name='g'><config key='joint' value='g'/>
<config key='backlash' value='torsion'/><config key='rotor_inertia' value='0.5'/>{keys}</instance></plugin></extension>
<worldbody>{more}<body><joint name='g' type='slide' axis='1 0 0'/><geom size='.1' mass='1.5'/></body></worldbody><actuator><motor joint='g'/></actuator>
<sensor><plugin plugin='mjgear.transmission' instance='g' objtype='joint' objname='g'/></sensor></mujoco>"""
OUT, ROTOR = 3, 8  # indices in the sensor: torque out of the gear, velocity of the rotor


def make(integrator: str = "implicitfast", more: str = "", **values: object) -> mujoco.MjModel:
    keys = "".join(f"<config key='{key}' value='{value}'/>" for key, value in values.items())
    return mujoco.MjModel.from_xml_string(MODEL.format(integrator=integrator, keys=keys, more=more))


def play(model: mujoco.MjModel, data: mujoco.MjData, ctrl: float, steps: int) -> np.ndarray:
    """Torques of the shaft."""
    data.ctrl[0] = ctrl
    torque = np.empty(steps)
    for i in range(steps):
        mujoco.mj_step(model, data)
        torque[i] = data.sensordata[OUT]
        assert data.sensordata[11] == 0
    return torque


def test_slips() -> None:
    for integrator in ("Euler", "implicitfast", "implicit"):
        model = make(integrator, stiffness=1e5, slip_torque=5)
        data = mujoco.MjData(model)

        # below the limit motor and link move as one (the shaft's vibration reaches it with 6 N); above it they move separately
        play(model, data, 4, 1000)
        assert abs(data.qvel[0] - 2) < 1e-4
        v, w = data.qvel[0], data.sensordata[ROTOR]
        torque = play(model, data, 20, 1000)
        assert (torque <= 5).all() and (torque[50:] == 5).all()
        assert abs(data.qvel[0] - v - 5 / 1.5) < 2e-3 and abs(data.sensordata[ROTOR] - w - 15 / 0.5) < 0.05

        # the rotor is caught again: momentum of both
        momentum = 1.5 * data.qvel[0] + 0.5 * (data.sensordata[ROTOR] + 0.001 * 15 / 0.5)
        play(model, data, 0, 6000)
        assert abs(data.qvel[0] - momentum / 2) < 0.02 and abs(data.sensordata[ROTOR] - data.qvel[0]) < 0.05


def test_freewheel() -> None:
    for side in (1, -1):
        model = make(stiffness=1e5, freewheel=side)
        data = mujoco.MjData(model)
        assert (side * play(model, data, side * 4, 1000) >= 0).all()
        assert abs(data.qvel[0] - side * 2) < 1e-4
        torque = play(model, data, -side * 4, 1000)
        assert (torque[10:] == 0).all()  # overrun
        assert abs(data.sensordata[ROTOR] + side * 6) < 0.02
        play(model, data, side * 4, 3000)
        assert abs(side * data.qvel[0] - 6) < 2e-3


def test_energy() -> None:
    """Without a motor energy never grows, for any clutch and stiffness."""
    rng = np.random.default_rng(1)
    for _ in range(40):
        k = 10 ** rng.uniform(2, 6)
        law = {"slip_torque": rng.uniform(1, 20)} | (
            {"freewheel": int(rng.choice([-1, 1]))} if rng.uniform() < 0.5 else {}
        )
        model = make(str(rng.choice(["Euler", "implicitfast"])), stiffness=k, **law)
        data = mujoco.MjData(model)
        gear = mjgear.Gears(model, data)["g"]
        angle, rate, slider = (gear.address(name).value for name in ("rotor_angle", "rotor_velocity", "gap_position"))
        mujoco.mj_step(model, data)
        data.qvel[0], data.plugin_state[rate] = rng.normal(), rng.normal() * 3
        last = np.inf
        for i in range(400):
            twist = data.plugin_state[angle] - data.plugin_state[slider]
            kinetic = 0.75 * data.qvel[0] ** 2 + 0.25 * (data.qvel[0] + data.plugin_state[rate]) ** 2
            # the spring's energy belongs to an angle within the step; this bounds it
            assert kinetic <= last * (1 + 1e-12)
            last = min(last, kinetic + 0.5 * k * (abs(twist) + 0.001 * abs(data.plugin_state[rate])) ** 2)
            mujoco.mj_step(model, data)
            assert data.sensordata[11] == 0


def test_grip() -> None:
    """The force on a wall equals the clutch's, for any motor torque."""
    wall = "<geom type='box' size='.1 1 1' pos='.25 0 0' solref='.005 1'/>"
    model = make(more=wall, stiffness=1e5, slip_torque=5, gamma_u=0.1, gamma_v=1.2)
    data = mujoco.MjData(model)
    play(model, data, 1, 2000)
    play(model, data, 60, 500)
    force = np.zeros(6)
    mujoco.mj_forward(model, data)
    mujoco.mj_contactForce(model, data, 0, force)
    assert abs(force[0] - 5) < 1e-6


def test_restored_and_changed() -> None:
    model = make(stiffness=1e4, slip_torque=5)
    data = mujoco.MjData(model)
    play(model, data, 20, 100)
    kind = mujoco.mjtState.mjSTATE_INTEGRATION
    state = np.zeros(mujoco.mj_stateSize(model, kind))
    mujoco.mj_getState(model, data, state, kind)
    other = mujoco.MjData(model)
    mujoco.mj_setState(model, other, state, kind)
    assert np.array_equal(play(model, data, -20, 200), play(model, other, -20, 200)) and data.qvel[0] == other.qvel[0]
    gear = mjgear.Gears(model, data)["g"]
    gear.slip_torque = 3
    assert (abs(play(model, data, -20, 100)) <= 3).all()


def test_refusals() -> None:
    for line, values in {
        "must be 1": {"freewheel": 0.5},
        "one stiffness": {"slip_torque": 5, "damping": 1},
        "slip_torque must be": {"slip_torque": -5},
        "does not use it": {"slip_torque": 5, "backlash": "exact"},
    }.items():
        with scripts.refuses(line):
            text = MODEL.format(
                integrator="Euler",
                more="",
                keys="".join(
                    f"<config key='{key}' value='{value}'/>"
                    for key, value in ({"stiffness": 100} | values).items()
                    if key != "backlash"
                ),
            )
            mujoco.MjModel.from_xml_string(
                text.replace("value='torsion'", f"value='{values.get('backlash', 'torsion')}'")
            )


if __name__ == "__main__":
    scripts.run(globals())
