"""State after a step: counts of unsolved steps, and passive friction."""

import os
import sys

import mujoco
import numpy as np

import mjgear

sys.path.insert(0, os.path.join(os.environ["MJGEAR_SOURCE_DIR"], "tests", "plugin"))
import scripts

XML = """<mujoco><option timestep='.001' gravity='0 0 0' integrator='{integrator}'/><extension><plugin plugin='mjgear.transmission'><instance name='g'>
<config key='joint' value='j'/><config key='gamma_u' value='.2'/><config key='gamma_v' value='.5'/><config key='coulomb' value='{coulomb}'/></instance></plugin></extension>
<worldbody><body><joint name='j' type='slide' axis='1 0 0' armature='.37'/><geom size='.1' mass='1.5'/></body></worldbody>{actuator}</mujoco>"""
MOTOR = "<actuator><motor joint='j'/></actuator>"


def test_unsolved_steps_are_counted():
    """If the engine calls no plugin there is no friction: status iteration limit, and each such step counts as unsolved."""
    model = mujoco.MjModel.from_xml_string(XML.format(integrator="Euler", coulomb=0.1, actuator=""))
    data = mujoco.MjData(model)
    data.qvel[:] = 1
    mujoco.mj_step(model, data, 4)
    gears = mjgear.Gears(model, data)
    assert (gears.counts.steps, gears.counts.unsolved) == (4, 0)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_SPRING | mujoco.mjtDisableBit.mjDSBL_DAMPER
    mujoco.mj_step(model, data, 3)
    assert (gears.counts.steps, gears.counts.unsolved) == (7, 3), gears.counts
    model.opt.disableflags = 0
    mujoco.mj_step(model, data, 2)
    assert (gears.counts.steps, gears.counts.unsolved) == (9, 3), gears.counts


ARM = """<mujoco><option timestep='.001' integrator='{integrator}'/><extension><plugin plugin='mjgear.transmission'><instance name='g'>
<config key='joint' value='a b c'/><config key='gamma_u' value='.2'/><config key='gamma_v' value='.5'/><config key='coulomb' value='.37'/></instance></plugin></extension>
<worldbody><body><joint name='a' axis='0 1 0' armature='.37'/><geom size='.1' mass='1.5' pos='.3 0 0'/><body pos='.3 0 .1'><joint name='b' axis='0 .6 .8' armature='.11'/>
<geom size='.1' mass='.7' pos='.2 .1 0'/><body pos='.3 0 0'><joint name='c' axis='1 0 .3' armature='.05'/><geom size='.1' mass='.3' pos='.2 0 .1'/></body></body></body></worldbody>
<actuator><motor joint='a'/><motor joint='b'/><motor joint='c'/></actuator></mujoco>"""


def test_friction_does_not_drive():
    """Joints that nearly stop: the rest of their velocity is round-off, and its sign does not decide friction."""
    rng = np.random.default_rng(1)
    slipped = 0
    for integrator in ("Euler", "implicitfast", "implicit"):
        model = mujoco.MjModel.from_xml_string(ARM.format(integrator=integrator))
        data = mujoco.MjData(model)
        gears = mjgear.Gears(model, data)
        for _ in range(40):
            k = rng.integers(3)
            qpos, qvel, ctrl = rng.normal(size=3), rng.normal(size=3), rng.normal(size=3)

            def step(torque, k=k, qpos=qpos, qvel=qvel, ctrl=ctrl, model=model, data=data):
                mujoco.mj_resetData(model, data)
                data.qpos[:], data.qvel[:], data.ctrl[:] = qpos, qvel, ctrl
                data.ctrl[k] = torque
                mujoco.mj_step(model, data)
                return data.qvel[k]

            # neighbouring doubles between which a joint changes from stopping to slipping
            stops, slips = -np.sign(qvel[k]) * 1e4, np.sign(qvel[k]) * 1e2
            while np.nextafter(stops, slips) != slips and stops != slips:
                middle = 0.5 * (stops + slips)
                if step(middle) * qvel[k] > 0:
                    slips = middle
                else:
                    stops = middle
            for torque in slips + np.arange(-20, 20) * np.spacing(slips):
                velocity = step(torque)
                for name, joint in zip("abc", range(3), strict=True):
                    assert data.qvel[joint] * gears[name].friction >= 0, (
                        integrator,
                        name,
                        torque,
                        data.qvel,
                        gears.friction,
                    )
                slipped += velocity != 0
    assert slipped > 100, slipped


def test_gear_of_a_servo_behind_a_gap():
    """A servo with gear 3 and gain 1 on a tendon, which measures its rotor, equals one with gear 1, gain 9 and a third of the goal."""
    paths = []
    for gear, kp in ((3, 1), (1, 9)):
        model = mujoco.MjModel.from_xml_string(
            f"""<mujoco><option timestep='.001' gravity='0 0 0'/><extension><plugin plugin='mjgear.transmission'><instance name='g'><config key='tendon' value='t'/>
            <config key='coulomb' value='.01'/><config key='backlash' value='exact'/><config key='half_gap' value='.05'/><config key='stiffness' value='500'/>
            <config key='damping' value='1'/><config key='rotor_inertia' value='.02'/></instance></plugin></extension><worldbody><body><joint name='j' axis='0 0 1'/>
            <geom size='.1' mass='1' pos='.2 0 0'/><body pos='.4 0 0'><joint name='k' axis='0 0 1'/><geom size='.1' mass='.3' pos='.2 0 0'/></body></body></worldbody>
            <tendon><fixed name='t'><joint joint='j' coef='1'/><joint joint='k' coef='.5'/></fixed></tendon><actuator><position tendon='t' gear='{gear}' kp='{kp}' kv='{0.05 * kp}'/></actuator></mujoco>"""
        )
        data = mujoco.MjData(model)
        data.ctrl[0] = 0.6 * gear
        paths.append([])
        for _ in range(600):
            mujoco.mj_step(model, data)
            paths[-1].append(data.qpos[0])
    assert np.ptp(paths[0]) > 0.01 and np.allclose(*paths, rtol=0, atol=1e-9), np.abs(np.subtract(*paths)).max()


def test_gains_that_a_rotor_bears():
    """A rotor that turns in its gap under a servo is stable up to h kv = 2 and h^2 kp = 4 times its inertia where the step takes the gains at its start."""
    h, rotor = 0.001, 0.01
    explicit = {"Euler": ("kp", "kv"), "implicit": ("kp",), "implicitfast": ("kp",), "discrete": ()}
    for integrator, taken in explicit.items():
        for gain, limit in (("kp", 4 * rotor / h**2), ("kv", 2 * rotor / h)):
            for factor in (0.95, 1.05):
                kp, kv = (factor * limit, 0) if gain == "kp" else (0, factor * limit)
                spec = mujoco.MjSpec.from_string(
                    f"""<mujoco><option timestep='{h}' gravity='0 0 0' integrator='{integrator}'/><extension><plugin plugin='mjgear.transmission'><instance name='g'>
                    <config key='joint' value='j'/><config key='backlash' value='exact'/><config key='half_gap' value='1'/><config key='stiffness' value='1000'/>
                    <config key='rotor_inertia' value='{rotor}'/></instance></plugin></extension><worldbody><body><joint name='j' axis='0 0 1'/><geom size='.1' mass='1e3'/></body>
                    </worldbody><actuator><general joint='j' gear='2' gainprm='{kp / 4}' biastype='affine' biasprm='.005 {-kp / 4} {-kv / 4}'/></actuator>
                    <sensor><plugin plugin='mjgear.transmission' instance='g' objtype='joint' objname='j'/></sensor></mujoco>"""
                )
                model = spec.compile()
                data = mujoco.MjData(model)
                fastest = 0.0
                for _ in range(200):
                    mujoco.mj_step(model, data)
                    fastest = max(fastest, abs(data.sensordata[8]))  # the rotor's velocity
                # the torque of 0.01 N m moves it by h 0.01/rotor in the first step
                assert (fastest > 10) == (gain in taken and factor > 1), (integrator, gain, factor, fastest)
                what = {"kp": "h^2 kp of its servos is", "kv": "h kv of its servos is"}[gain]
                said = [line for line in mjgear.check(spec).warnings if what in line]
                assert len(said) == (gain in taken and factor > 1), (integrator, gain, factor, said)


if __name__ == "__main__":
    scripts.run(globals())
