"""One mjData that steps many simulations in turn, each with gears of its own, gives the bits of an mjData for each."""

import unittest

import mujoco
import numpy as np

import mjgear

PHYSICS = mujoco.mjtState.mjSTATE_FULLPHYSICS
MODEL = """<mujoco><option timestep="0.002" integrator="implicitfast"/><worldbody>
  <body><joint name="plain" axis="0 1 0" armature="0.2"/><geom size=".1" pos=".3 0 0" mass="1"/>
  <body pos=".5 0 0"><joint name="worm" axis="0 1 0" armature="0.2"/><geom size=".1" pos=".2 0 0" mass="1"/>
  <body pos=".5 0 0"><joint name="gap" axis="0 1 0" damping="0.1"/><geom size=".1" pos=".1 0 0" mass="1"/></body></body></body></worldbody>
  <actuator><motor joint="plain"/><motor joint="worm"/><motor joint="gap"/></actuator></mujoco>"""
MANY = {
    "coulomb": 0.3,
    "stribeck_friction": 0.2,
    "stribeck_velocity": 0.1,
    "stribeck_exponent": 1.5,
    "curved_friction": 0.1,
    "curved_velocity": 2,
    "curved_exponent": 1.7,
    "gamma_u": 0.1,
    "gamma_v": 0.3,
    "gamma_u_stribeck": 0.1,
    "gamma_v_stribeck": 0.1,
    "gamma_u_quadratic": 0.01,
    "gamma_v_quadratic": 0.01,
    "static_ratio": 1,
    "oneway": 0,
    "tooth_pitch": 0,
    "tooth_phase": 0,
}


def make(coulomb=0.1):
    spec = mujoco.MjSpec.from_string(MODEL)
    mjgear.add(spec, "plain", gamma_u=0.1, gamma_v=0.2, coulomb=coulomb, name="a")
    mjgear.add(spec, "worm", type="worm", lead_angle=0.2, pressure_angle=0.35, mu=0.1, name="b")
    mjgear.add(
        spec,
        "gap",
        gamma_u=0.1,
        gamma_v=0.2,
        backlash="exact",
        half_gap=0.02,
        stiffness=500,
        damping=2,
        rotor_inertia=0.1,
        name="c",
    )
    return spec.compile()


def draw(model, data, k, rng):
    """Gears of simulation k: the model's, or others by all kinds of keys."""
    gears = mjgear.Gears(model, data)
    if k % 7 == 0:
        return
    if k % 3:
        gears["plain"].set(gamma_u=rng.uniform(0, 0.3), gamma_v=rng.uniform(0, 1.2), coulomb=rng.uniform(0, 1))
    elif k % 2:
        gears["plain"].describe(eta_forward=rng.uniform(0.6, 0.8), eta_backward=rng.uniform(-0.2, 0.5))
    else:
        gears["plain"].set(**{**MANY, "coulomb": rng.uniform(0, 1)})
    if k % 4:
        gears["worm"].set(mu=rng.uniform(0.05, 0.3))
    elif k % 8:
        gears["worm"].describe(eta_forward=rng.uniform(0.6, 0.8), eta_backward=rng.uniform(0.2, 0.5))
    if k % 5:
        gears["gap"].set(half_gap=rng.uniform(0, 0.05), stiffness=rng.uniform(100, 900), coulomb=rng.uniform(0, 0.2))
    if k % 11 == 5:  # as written by a program itself: not a gear
        address = gears["plain"].address("coulomb")
        data.plugin_state[address.given] = 2**40


def state_of(model, data):
    state = np.empty(mujoco.mj_stateSize(model, PHYSICS))
    mujoco.mj_getState(model, data, state, PHYSICS)
    return state


class Changes(unittest.TestCase):
    def test_many_in_turn(self):
        """Steps of one mjData that goes from simulation to simulation, and of one mjData for each; models change, too."""
        rng = np.random.default_rng(1)
        models = make(), make(0.4)
        datas = [mujoco.MjData(models[k % 2]) for k in range(150)]
        for k, data in enumerate(datas):
            draw(models[k % 2], data, k, rng)
            data.ctrl = rng.uniform(-5, 5, 3)
        states = [state_of(models[k % 2], data) for k, data in enumerate(datas)]
        one = mujoco.MjData(models[0])
        for _ in range(40):
            for k, data in enumerate(datas):
                model = models[k % 2]
                one.ctrl = data.ctrl
                mujoco.mj_setState(model, one, states[k], PHYSICS)
                one.qacc_warmstart = data.qacc_warmstart
                mujoco.mj_step(model, one)
                mujoco.mj_step(model, data)
                states[k] = state_of(model, one)
        for k, data in enumerate(datas):
            np.testing.assert_array_equal(states[k], state_of(models[k % 2], data), f"simulation {k}")
        self.assertGreater(len({tuple(state[:4]) for state in states}), 140)

    def test_statuses_in_turn(self):
        """Numbers that describe no gear are refused each time, and valid ones after them are not."""
        model = make()
        good, bad = mujoco.MjData(model), mujoco.MjData(model)
        draw(model, good, 1, np.random.default_rng(0))
        draw(model, bad, 5, np.random.default_rng(0))
        one, states = mujoco.MjData(model), [state_of(model, data) for data in (good, bad)]
        for _ in range(3):
            for state, refused in zip(states, (False, True), strict=True):
                mujoco.mj_setState(model, one, state, PHYSICS)
                mujoco.mj_step(model, one)
                self.assertEqual(mjgear.Gears(model, one)["plain"].status < 0, refused)

    def test_same_keys_in_turn(self):
        """Other numbers of the same keys: backdrivable, self-locking, not a gear."""
        model, rng = make(), np.random.default_rng(3)
        datas = [mujoco.MjData(model) for _ in range(3)]
        for gamma_v, data in zip((0.3, 1.1, 0.5), datas, strict=True):
            mjgear.Gears(model, data)["plain"].set(gamma_u=0.1, gamma_v=gamma_v)
            data.ctrl = rng.uniform(-5, 5, 3)
        datas[2].plugin_state[mjgear.Gears(model, datas[2])["plain"].address("gamma_v").value] = -3
        one, states = mujoco.MjData(model), [state_of(model, data) for data in datas]
        for _ in range(40):
            for k, data in enumerate(datas):
                mujoco.mj_setState(model, one, states[k], PHYSICS)
                one.ctrl, one.qacc_warmstart = data.ctrl, data.qacc_warmstart
                mujoco.mj_step(model, one)
                mujoco.mj_step(model, data)
                states[k] = state_of(model, one)
                np.testing.assert_array_equal(states[k], state_of(model, data), f"simulation {k}")
                self.assertEqual(mjgear.Gears(model, one)["plain"].status < 0, k == 2)

    def test_another_model(self):
        """A state that a model with other numbers goes on with has that model's numbers beside its own."""
        first, second = make(), make(0.4)
        data, fresh = mujoco.MjData(first), mujoco.MjData(second)
        for model, one in ((first, data), (second, fresh)):
            mjgear.Gears(model, one)["plain"].set(gamma_u=0.2, gamma_v=0.5)
        mujoco.mj_forward(first, data)
        fresh.ctrl = data.ctrl = (3, 0, 0)
        for _ in range(20):
            mujoco.mj_step(second, data)
            mujoco.mj_step(second, fresh)
        np.testing.assert_array_equal(data.qpos, fresh.qpos)
        self.assertGreater(abs(data.qvel[0]), 1e-3)

    def test_teeth(self):
        """Teeth of spur gears that follow the mesh, changed in turn."""
        spec = mujoco.MjSpec.from_string(
            '<mujoco><worldbody><body><joint name="j" axis="0 1 0" armature=".2"/><geom size=".1" pos=".3 0 0"/></body></worldbody>'
            '<actuator><motor joint="j"/></actuator></mujoco>'
        )
        teeth = {"radius_in": 0.02, "radius_out": 0.06, "pressure_angle": 0.35, "contact": 0.01, "mesh": 1}
        mjgear.add(spec, "j", type="spur", mu=0.1, coulomb=0.01, **teeth)
        model = spec.compile()
        datas = [mujoco.MjData(model) for _ in range(2)]
        for mu, data in zip((0.2, 0.8), datas, strict=True):
            mjgear.Gears(model, data)["j"].mu = mu
            data.ctrl = 5
        states, one = [state_of(model, data) for data in datas], mujoco.MjData(model)
        one.ctrl = 5
        for _ in range(50):
            for k, data in enumerate(datas):
                mujoco.mj_setState(model, one, states[k], PHYSICS)
                one.qacc_warmstart = data.qacc_warmstart
                mujoco.mj_step(model, one)
                mujoco.mj_step(model, data)
                states[k] = state_of(model, one)
                np.testing.assert_array_equal(states[k], state_of(model, data))
        self.assertGreater(abs(datas[0].qpos[0] - datas[1].qpos[0]), 1e-4)


if __name__ == "__main__":
    unittest.main()
