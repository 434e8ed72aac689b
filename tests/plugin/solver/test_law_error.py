"""What counts as solved: a joint at rest whose friction is round-off of the system that it balances."""

import mujoco
import numpy as np

import mjgear

INTEGRATORS = ("Euler", "implicitfast", "implicit", "discrete")
GAMMA_U, GAMMA_V, ROTOR = 0.2, 0.3, 0.1

# a leg in a vertical plane, turned about the vertical: b and c turn it out of this plane and carry nothing
LEG = f"""<mujoco><option integrator="{{}}" timestep=".002"/><extension><plugin plugin="mjgear.transmission"><instance name="g">
<config key="joint" value="a b c"/><config key="gamma_u" value="{GAMMA_U}"/><config key="gamma_v" value="{GAMMA_V}"/></instance></plugin></extension>
<worldbody><body euler="0 0 {{}}">
<joint name="a" axis="0 1 0" armature="{ROTOR}"/><geom type="capsule" fromto="0 0 0 .08 0 -.15" size=".03" mass=".01"/><body pos=".08 0 -.15">
<joint name="b" axis="0 0 1" armature=".1"/><geom type="capsule" fromto="0 0 0 .07 0 -.14" size=".03" mass=".05"/><body pos=".07 0 -.14">
<joint name="c" axis="1 0 0"/><geom type="capsule" fromto="0 0 0 .06 0 -.13" size=".03" mass=".1"/></body></body></body></worldbody>
<actuator><motor joint="a"/><motor joint="b"/><motor joint="c"/></actuator></mujoco>"""


def test_joints_without_load():
    """Only the first joint moves, and as a pendulum that its load drives: (I + S) a + t = load, u = -S a, t = -((gamma_u + gamma_v) u - gamma_v t)."""
    share = (GAMMA_U + GAMMA_V) / (1 - GAMMA_V)  # t / (S a)
    for integrator in INTEGRATORS:
        for angle in (30, 45, 60, 120, 150, 210, 225, 300):
            model = mujoco.MjModel.from_xml_string(LEG.format(integrator, angle))
            data, inertia = mujoco.MjData(model), np.zeros((3, 3))
            gears = mjgear.Gears(model, data).values()
            for step in range(100):
                before = data.qvel[0]
                mujoco.mj_step(model, data)
                mujoco.mj_fullM(model, data, inertia)  # at the begin of the step, with the rotor
                a, load = (data.qvel[0] - before) / model.opt.timestep, -data.qfrc_bias[0]
                assert data.qvel[0] > 0 < load
                assert abs(a * (inertia[0, 0] + share * ROTOR) / load - 1) < 1e-12, (integrator, angle, step, a)
                assert np.abs(data.qvel[1:]).max() < 1e-14, (integrator, angle, step, data.qvel)
                assert all(gear.status in (0, 1) for gear in gears), (integrator, angle, step)


if __name__ == "__main__":
    test_joints_without_load()
