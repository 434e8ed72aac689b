"""mjgear.inverse: the torques of steps, of every kind of gear, actuator, constraint and integrator; and steps with the torques that it returns."""

import random
import unittest

import mujoco
import numpy as np

import mjgear

INTEGRATORS = ("Euler", "implicit", "implicitfast", "discrete")
STATE = mujoco.mjtState.mjSTATE_INTEGRATION

# the gears of joints a, b, c; %s: further keys
KINDS = {
    "mild": {"joint": "a b c", "gamma_u": "0.2", "gamma_v": "0.3 0.6 0.1", "coulomb": "0.5"},
    "locking": {"joint": "a b c", "gamma_u": "0.2", "gamma_v": "1.1 0.3 1.6"},
    "static": {"joint": "a b c", "gamma_u": "0.1", "gamma_v": "0.4 1.2 0.3", "coulomb": "2", "static_ratio": "1.5"},
    "sliding": {"joint": "a b c", "gamma_u": "0.1", "gamma_v": "0.3", "coulomb": "1", "stribeck_friction": "1", "stribeck_velocity": "0.3",
                "gamma_u_quadratic": "0.00002", "gamma_v_quadratic": "0.00003"},
    "yielding": {"joint": "a b c", "gamma_u": "0.1", "gamma_v": "0.3", "coulomb": "3", "presliding_stiffness": "400"},
    "yielding, locking": {"joint": "a b c", "gamma_u": "0.1", "gamma_v": "1.2 1.1 1.4", "coulomb": "1", "presliding_stiffness": "4000"},
    "gap": {"joint": "a b c", "gamma_u": "0.2", "gamma_v": "0.3", "coulomb": "0.5", "backlash": "exact", "half_gap": "0.005",
            "stiffness": "5000", "damping": "5", "rotor_inertia": "0.2"},
    "encoder": {"joint": "a b c", "gamma_u": "0.2", "gamma_v": "0.3", "coulomb": "0.5", "backlash": "exact", "half_gap": "0.005",
                "stiffness": "5000", "damping": "5", "rotor_inertia": "0.2", "encoder": "joint"},
    "sliding in a gap": {"joint": "a b c", "gamma_u": "0.2", "gamma_v": "0.3", "coulomb": "0.5", "stribeck_friction": "1",
                         "stribeck_velocity": "0.3", "backlash": "exact", "half_gap": "0.005", "stiffness": "5000", "damping": "5",
                         "rotor_inertia": "0.2"},
    "joints behind a gap": {"joint": "b", "motor_joint": "a", "gamma_u": "0.2", "gamma_v": "0.3", "backlash": "exact", "half_gap": "0.005",
                            "stiffness": "5000", "damping": "5"},
    "tendon": {"tendon": "t", "joint": "b", "gamma_u": "0.1", "gamma_v": "0.4", "coulomb": "1"},
}  # fmt: skip


def actuator(rng, kind):
    targets = ['joint="a"', 'joint="b"', 'joint="c"', 'tendon="t"']
    target = rng.choice([t for t in targets if kind != "tendon" or t in ('joint="b"', 'tendon="t"')])
    limit = f'forcerange="-{rng.uniform(5, 40):.3f} {rng.uniform(5, 40):.3f}"' if rng.random() < 0.3 else ""
    own = f'damping="{rng.uniform(0, 3):.3f}"' if rng.random() < 0.3 else ""
    kp, kv, shape = (
        10 ** rng.uniform(0, 4),
        10 ** rng.uniform(-1, 2),
        f'gear="{rng.choice([-1, 1]) * rng.uniform(0.5, 3):.3f}" {limit} {own}',
    )
    return rng.choice((f"<motor {target} {shape}/>", f'<position {target} {shape} kp="{kp}" kv="{kv}"/>',
                       f'<velocity {target} {shape} kv="{kv}"/>'))  # fmt: skip


def model(rng, kind, integrator):
    """Three links that lie on a floor and meet limits."""
    keys = "".join(f'<config key="{key}" value="{value}"/>' for key, value in KINDS[kind].items())
    armature = 0 if "backlash" in KINDS[kind] else 0.3
    limit = [f'limited="true" range="-{rng.uniform(0.05, 0.4):.3f} 0.3"' if rng.random() < 0.5 else "" for _ in "abc"]
    joint = [
        f'armature="{armature}" damping="{rng.choice([0, 0.7, 5])}" stiffness="{rng.choice([0, 30])}" {one}'
        for one in limit
    ]
    damper = rng.choice(['<flag eulerdamp="disable"/>', ""]) if integrator == "Euler" else ""
    motors = "".join(actuator(rng, kind) for _ in range(rng.randint(1, 4)))
    sensor = '<plugin plugin="mjgear.transmission" instance="g" objtype="joint" objname="b"/>'
    return mujoco.MjModel.from_xml_string(f"""<mujoco>
      <option timestep="0.002" integrator="{integrator}" tolerance="1e-14" cone="{rng.choice(["pyramidal", "elliptic"])}">{damper}</option>
      <extension><plugin plugin="mjgear.transmission"><instance name="g">{keys}</instance></plugin></extension>
      <worldbody><geom type="plane" size="5 5 .1" pos="0 0 -.15"/>
        <body><joint name="a" axis="0 1 0" {joint[0]}/><geom type="capsule" size=".05" fromto="0 0 0 .5 0 0"/>
        <body pos=".5 0 0"><joint name="b" axis="0 1 0" {joint[1]}/><geom type="capsule" size=".05" fromto="0 0 0 .4 0 0"/>
        <body pos=".4 0 0"><joint name="c" type="slide" axis="1 0 .3" {joint[2]}/><geom size=".08"/></body></body></body></worldbody>
      <tendon><fixed name="t"><joint joint="a" coef="0.7"/><joint joint="c" coef="{rng.uniform(0.2, 1):.3f}"/></fixed></tendon>
      <actuator>{motors}</actuator><sensor>{sensor}</sensor></mujoco>""")


def rotor_rates(m, d, names):
    """Velocities of rotors behind gaps."""
    addresses = [mjgear.Gears(m, d)[name].address("rotor_velocity").value for name in names]
    return {name: float(d.joint(name).qvel[0] + d.plugin_state[k]) for name, k in zip(names, addresses)}


def torques_that_acted(m, d, names):
    """qfrc_actuator of joints, and the force along a tendon, at the start of the last step."""
    along = {
        "t": sum(
            float(m.actuator_gear[k, 0] * d.actuator_force[k])
            for k in range(m.nu)
            if m.actuator_trntype[k] == mujoco.mjtTrn.mjTRN_TENDON
        )
    }
    return np.array([along[name] if name == "t" else float(d.joint(name).qfrc_actuator[0]) for name in names])


# a slide with a brake, the losses of whose gear grow with the torque; %s: its side
BRAKED = """<mujoco><option timestep="0.002" integrator="Euler"/><extension><plugin plugin="mjgear.brake"/><plugin plugin="mjgear.transmission">
  <instance name="g"><config key="joint" value="j"/><config key="gamma_u" value="0.3"/><config key="gamma_v" value="0.6"/>
  <config key="gamma_torque" value="0 0.1 20 1.5"/></instance></plugin></extension>
  <worldbody><body><joint name="j" type="slide" axis="1 0 0" armature="0.5"/><geom size=".1" mass="2"/></body></worldbody>
  <actuator><motor joint="j"/><plugin plugin="mjgear.brake" joint="j" ctrlrange="0 1" ctrllimited="true">
  <config key="holding_torque" value="12"/><config key="sliding_torque" value="8"/><config key="side" value="%s"/><config key="normally" value="open"/></plugin></actuator></mujoco>"""


class Forward(unittest.TestCase):
    """Steps with known torques."""

    def play(self, kind, integrator, seed, seen, steps=30):
        rng = random.Random(f"{kind} {integrator} {seed}")
        m = model(rng, kind, integrator)
        d, before = mujoco.MjData(m), mujoco.MjData(m)
        state = np.empty(mujoco.mj_stateSize(m, STATE))
        for step in range(steps):
            if step % 10 == 0:
                d.ctrl[:] = [rng.uniform(-1, 1) for _ in range(m.nu)]
                d.qfrc_applied[:] = [rng.uniform(-20, 20) for _ in range(m.nv)]
                d.xfrc_applied[-1] = [rng.uniform(-5, 5) for _ in range(6)]
            mujoco.mj_getState(m, d, state, STATE)
            v = d.qvel.copy()
            rotors = rotor_rates(m, d, "abc") if "rotor_inertia" in KINDS[kind] else None
            mujoco.mj_step(m, d)
            if d.time == 0 or np.abs(d.qvel).max() > 1e3:
                return
            if d.sensordata[11] not in (0, 1):
                continue
            if rotors:
                rotors = {
                    name: (rate - rotors[name]) / m.opt.timestep for name, rate in rotor_rates(m, d, "abc").items()
                }
            mujoco.mj_setState(m, before, state, STATE)
            found = mjgear.inverse(m, before, (d.qvel - v) / m.opt.timestep, rotors)
            acted = torques_that_acted(m, d, found.names)
            scale = 1e-9 * (
                1
                + np.abs(d.qfrc_actuator).max()
                + np.abs(d.qfrc_passive).max()
                + np.abs(d.qfrc_constraint).max()
                + np.abs(acted).max()
            )
            for name, low, high, motion, torque in zip(found.names, found.low, found.high, found.motion, acted):
                where = f"{kind}, {integrator}, seed {seed}, step {step}, {name}: {motion} {low!r} {high!r}, acted {torque!r}"
                if kind == "joints behind a gap" and name == "b":  # the load: its gear is the motor joint's
                    self.assertEqual((low, high, motion), (found.low[0], found.high[0], found.motion[0]), where)
                    continue
                self.assertIn(
                    motion,
                    (mjgear.Motion.MOVES, mjgear.Motion.RESTS, mjgear.Motion.HELD, mjgear.Motion.JAMS)
                    if kind in ("static", "locking")
                    else (mjgear.Motion.MOVES, mjgear.Motion.RESTS),
                    where,
                )
                self.assertTrue(low - scale <= torque <= high + scale, where)
                seen[motion] = seen.get(motion, 0) + 1
                if motion == mjgear.Motion.HELD:
                    self.assertLessEqual(min(abs(low - torque), abs(high - torque)), scale)
                elif motion != mjgear.Motion.RESTS:
                    self.assertEqual(low, high)
                elif name != "t" and not rotors:
                    self.assertEqual(float(d.joint(name).qvel[0]), 0.0, where)

    def test_torques(self):
        for kind in KINDS:
            for integrator in INTEGRATORS:
                seen = {}
                if kind == "tendon" and integrator != "discrete":
                    continue  # a tendon across joints with gains: doc/mjcf.md
                for seed in range(6):
                    self.play(kind, integrator, seed, seen)
                with self.subTest(kind=kind, integrator=integrator):
                    self.assertGreater(seen.get(mjgear.Motion.MOVES, 0), 100)
                    self.assertTrue("yielding" in kind or seen.get(mjgear.Motion.RESTS, 0) > 0, seen)


# %s: keys of the gear of joint a
ARM = """<mujoco><option timestep="0.002" integrator="%s" tolerance="1e-14"/>
  <extension><plugin plugin="mjgear.transmission"><instance name="g"><config key="joint" value="a"/>%s</instance></plugin></extension>
  <worldbody><body><joint name="a" axis="0 1 0" armature="%g" damping=".4"/><geom type="capsule" fromto="0 0 0 .5 0 0" size=".03" mass="1"/>
    <body pos=".5 0 0"><joint name="b" axis="0 1 0" armature=".1"/><geom type="capsule" fromto="0 0 0 .4 0 0" size=".03" mass=".5"/></body></body>
  </worldbody><actuator><motor joint="a"/><motor joint="b"/></actuator></mujoco>"""
LAWS = {
    "mild": '<config key="gamma_u" value="0.2"/><config key="gamma_v" value="0.3"/><config key="coulomb" value="0.1"/>',
    "locking": '<config key="gamma_u" value="0.2"/><config key="gamma_v" value="1.3"/>',
    "static": '<config key="gamma_u" value="0.2"/><config key="gamma_v" value="0.3"/><config key="coulomb" value="0.3"/>'
              '<config key="static_ratio" value="1.4"/>',
    "both": '<config key="gamma_u" value="0.2"/><config key="gamma_v" value="1.2"/><config key="coulomb" value="0.3"/>'
            '<config key="static_ratio" value="1.3"/>',
}  # fmt: skip


class Backward(unittest.TestCase):
    """Steps with the torques of inverse make the motion, and other torques do not."""

    def test_motions(self):
        seen = {}
        first, second = np.random.default_rng(3), np.random.default_rng(4)
        for integrator in INTEGRATORS:
            for law, armature in [
                (law, armature) for law in (*LAWS, "touching", "shared") for armature in (0.002, 1.0)
            ]:
                text, rng = (
                    ARM % (integrator, LAWS.get(law, LAWS["locking"]), armature),
                    second if law == "shared" else first,
                )
                if law == "shared":  # rotor inertia that a damper over both joints makes
                    text = text.replace(
                        "</worldbody>",
                        '</worldbody><tendon><fixed name="t"><joint joint="a" coef="1"/><joint joint="b" coef="2"/></fixed></tendon>',
                    )
                    text = text.replace("</actuator>", '<velocity tendon="t" kv="200"/></actuator>')
                if law == "touching":  # a limit, and a floor to slide on
                    text = text.replace('name="a"', 'name="a" limited="true" range="-.3 .1"').replace(
                        "<option", '<option cone="elliptic"'
                    )
                    text = text.replace(
                        "<worldbody>",
                        '<worldbody><geom type="plane" size="5 5 .1" pos=".5 0 0" zaxis="-1 0 .6" friction=".02" priority="1"/>',
                    )
                m = mujoco.MjModel.from_xml_string(text)
                d, h = mujoco.MjData(m), m.opt.timestep
                for case in range(40):
                    mujoco.mj_resetData(m, d)
                    d.qpos, d.qvel = (
                        rng.normal(size=2) * 0.3,
                        rng.normal(size=2) * (8 if law == "touching" else 0.5) * (rng.random(2) < 0.6),
                    )
                    wanted, v = rng.normal(size=2) * 10, d.qvel.copy()
                    if case % 3 == 0:
                        wanted[0] = -v[0] / h
                    found = mjgear.inverse(m, d, wanted)
                    low, high, motion = found.low[0], found.high[0], found.motion[0]
                    damper = -200 * np.array([1, 2]) * (v @ [1, 2]) if law == "shared" else np.zeros(2)
                    if motion == mjgear.Motion.RESTS and law not in (
                        "mild",
                        "static",
                    ):  # a motor that pushes along with the load may unlock it
                        implicit = 200 * h * (law == "shared" and integrator != "Euler")
                        rotor = armature * wanted[0] + implicit * (wanted @ [1, 2])
                        low, high = (low, rotor) if rotor - low > high - rotor else (rotor, high)
                        if (
                            law == "shared"
                        ):  # the unlocking point depends on the other joint, too: use the half far from it
                            low, high = (low, (low + high) / 2) if high == rotor else ((low + high) / 2, high)
                    d.ctrl[:2] = rng.uniform(low + 1e-9 * (high - low), high - 1e-9 * (high - low)), d.qfrc_inverse[1]
                    d.ctrl[:2] -= damper
                    mujoco.mj_step(m, d)
                    same = np.abs((d.qvel - v) / h - wanted).max() < 1e-6 * (1 + np.abs(wanted).max())
                    seen[motion] = seen.get(motion, 0) + 1
                    with self.subTest(integrator=integrator, law=law, armature=armature, case=case, motion=motion):
                        self.assertEqual(same, motion in (mjgear.Motion.MOVES, mjgear.Motion.RESTS))
                        self.assertTrue(motion != mjgear.Motion.JAMS or law not in ("mild", "static"))
        self.assertTrue(
            all(
                seen[motion] > 30
                for motion in (mjgear.Motion.MOVES, mjgear.Motion.RESTS, mjgear.Motion.JAMS, mjgear.Motion.HELD)
            ),
            seen,
        )

    def test_fast(self):
        """Return True if the gear of the second joint jams at velocities for which the matrix of implicit is far from symmetric."""
        rng, seen, h = np.random.default_rng(5), {}, 0.01
        for armature in (0.002, 0.003, 0.004, 0.005, 0.006):
            text = ARM.replace('<config key="joint" value="a"/>', '<config key="joint" value="b"/>') % (
                "implicit",
                LAWS["locking"],
                0,
            )
            m = mujoco.MjModel.from_xml_string(
                text.replace('armature=".1"', f'armature="{armature}"').replace('timestep="0.002"', f'timestep="{h}"')
            )
            d = mujoco.MjData(m)
            for case in range(100):
                mujoco.mj_resetData(m, d)
                d.qpos, d.qvel = rng.normal(size=2), rng.normal(size=2) * 30
                wanted, v = rng.normal(size=2) * 300, d.qvel.copy()
                found = mjgear.inverse(m, d, wanted)
                seen[found.motion[0]] = seen.get(found.motion[0], 0) + 1
                d.ctrl = d.qfrc_inverse[0], found.low[0]
                mujoco.mj_step(m, d)
                same = np.abs((d.qvel - v) / h - wanted).max() < 1e-6 * (1 + np.abs(wanted).max())
                with self.subTest(armature=armature, case=case, motion=found.motion[0]):
                    self.assertEqual(same, found.motion[0] == mjgear.Motion.MOVES)
        self.assertTrue(seen[mjgear.Motion.MOVES] > 100 and seen[mjgear.Motion.JAMS] > 50, seen)

    def test_brake_on_a_gear_with_tables(self):
        """Its coefficients belong to the torque that makes the motion, independent of the control in the data."""
        rng, seen = np.random.default_rng(6), {}
        for side in ("motor", "link"):
            m = mujoco.MjModel.from_xml_string(BRAKED % side)
            d, h = mujoco.MjData(m), m.opt.timestep
            gear = mjgear.Gears(m, d)["j"]
            share, last = gear.address("brake_travel").value, gear.address("friction").value
            for case in range(300):
                mujoco.mj_resetData(m, d)
                d.plugin_state[share], d.plugin_state[last] = 1, rng.normal() * 10
                d.qfrc_applied[0], d.qvel[0] = rng.normal() * 15, rng.choice([0, rng.normal() * 0.01])
                wanted, v, start = rng.normal(size=1) * rng.choice([0.1, 1, 5]), d.qvel[0], d.plugin_state.copy()
                d.ctrl = rng.choice([0, 30, -30]), 1
                found = mjgear.inverse(m, d, wanted)
                seen[found.motion[0]] = seen.get(found.motion[0], 0) + 1
                d.plugin_state[:] = start
                d.ctrl[0] = rng.uniform(found.low[0], found.high[0])
                mujoco.mj_step(m, d)
                same = abs((d.qvel[0] - v) / h - wanted[0]) < 1e-6 * (1 + abs(wanted[0]))
                with self.subTest(side=side, case=case, motion=found.motion[0]):
                    self.assertEqual(same, found.motion[0] in (mjgear.Motion.MOVES, mjgear.Motion.RESTS))
        self.assertTrue(seen[mjgear.Motion.MOVES] > 30 and seen[mjgear.Motion.HELD] > 30, seen)


class Feedforward(unittest.TestCase):
    def test_makes_the_acceleration(self):
        rng = np.random.default_rng(5)
        for integrator in INTEGRATORS:
            m = mujoco.MjModel.from_xml_string(ARM % (integrator, LAWS["mild"], 0.3))
            d = mujoco.MjData(m)
            for _ in range(30):
                mujoco.mj_resetData(m, d)
                d.qpos, d.qvel, d.qfrc_applied = rng.normal(size=(3, 2))
                d.xfrc_applied[2] = rng.normal(size=6)
                wanted, v = rng.normal(size=2) * 5, d.qvel.copy()
                d.ctrl = mjgear.feedforward(m, d, wanted)
                mujoco.mj_step(m, d)
                np.testing.assert_allclose((d.qvel - v) / m.opt.timestep, wanted, rtol=1e-8, atol=1e-8)

    def test_breaks_static_friction_away(self):
        m = mujoco.MjModel.from_xml_string(ARM % ("implicitfast", LAWS["static"], 0.3))
        d = mujoco.MjData(m)
        held = mjgear.inverse(m, d, np.zeros(2))
        for direction, bound in ((1, held.high[0]), (-1, held.low[0])):
            force = mjgear.feedforward(m, d, np.array([direction * 1e-3, 0]))
            self.assertAlmostEqual(force[0], bound, delta=1e-3 * abs(bound) + 1e-2)
            for more, moves in ((-1e-3, False), (1e-2, True)):
                mujoco.mj_resetData(m, d)
                d.ctrl = force + [direction * more, 0]
                mujoco.mj_step(m, d)
                self.assertEqual(direction * d.qvel[0] > 0, moves)
            mujoco.mj_resetData(m, d)

    def test_tendon(self):
        text = """<mujoco><option integrator="discrete" tolerance="1e-14"/><extension><plugin plugin="mjgear.transmission"><instance name="g">
          <config key="tendon" value="t"/><config key="gamma_u" value=".1"/><config key="gamma_v" value=".2"/></instance></plugin></extension>
          <worldbody><body><joint name="a" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/><body pos=".3 0 0"><joint name="b" axis="0 1 0"/>
          <geom size=".1" pos=".3 0 0"/></body></body></worldbody>
          <tendon><fixed name="t"><joint joint="a" coef="1"/><joint joint="b" coef=".5"/></fixed></tendon>
          <actuator><motor tendon="t"/></actuator></mujoco>"""
        m = mujoco.MjModel.from_xml_string(text)
        d = mujoco.MjData(m)
        d.qvel, d.ctrl = [0.3, 0.2], 8.0
        mujoco.mj_forward(m, d)
        np.testing.assert_allclose(mjgear.feedforward(m, d, d.qacc.copy()), [8, 4], rtol=1e-9)


class Interface(unittest.TestCase):
    def setUp(self):
        self.model = mujoco.MjModel.from_xml_string(ARM % ("Euler", LAWS["mild"], 0.3))
        self.data = mujoco.MjData(self.model)

    def test_torque_next_to_zero(self):
        self.data.qpos[:] = 0
        found = mjgear.inverse(self.model, self.data, [0, 0])
        self.assertEqual(
            (len(found), list(found), found.names, found.motion), (1, ["a"], ("a",), (mjgear.Motion.RESTS,))
        )
        self.assertLess(found.high[0], 0)  # the motor holds the weight
        self.assertEqual(found["a"], found.high[0])
        self.assertEqual(found.torque[0], found.high[0])
        with self.assertRaisesRegex(KeyError, "'b' has no gear; geared are a"):
            found["b"]

    def test_as_mj_forward_left_it(self):
        self.data.ctrl[:] = 30, 1
        mujoco.mj_forward(self.model, self.data)
        qacc = self.data.qacc.copy()
        self.assertAlmostEqual(mjgear.inverse(self.model, self.data)["a"], 30, delta=1e-9)
        np.testing.assert_array_equal(self.data.qacc, qacc)

    def test_refused(self):
        bare = mujoco.MjModel.from_xml_string("<mujoco><worldbody/></mujoco>")
        for expected, arguments in (
            ("the model has no gear", (bare, mujoco.MjData(bare))),
            ("the data are not of this model", (self.model, mujoco.MjData(bare))),
            (r"qacc has shape \(3,\); give", (self.model, self.data, [0, 0, 0])),
            ("not finite", (self.model, self.data, [0, np.nan])),
            ("beyond 1e10", (self.model, self.data, [0, 1e308])),
            ("qacc is no list of numbers", (self.model, self.data, "x")),
            ("qacc is no list of numbers", (self.model, self.data, [0, 1j])),
            ("give an MjModel and its MjData, not MjData and MjModel", (self.data, self.model, [0, 0])),
            ("no joint 'x'", (self.model, self.data, [0, 0], {"x": 1})),
            ("joint 'a' has no rotor behind a gap", (self.model, self.data, [0, 0], {"a": 1})),
            ("give an MjModel and its MjData, not MjSpec", (mujoco.MjSpec(), self.data)),
        ):
            with self.assertRaisesRegex(mjgear.GearError, expected):
                mjgear.inverse(*arguments)
        self.model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
        with self.assertRaisesRegex(mjgear.GearError, "RK4"):
            mjgear.inverse(self.model, self.data, [0, 0])

    def test_states_that_no_step_begins_with(self):
        for numbers in self.data.qpos, self.data.qvel, self.data.qfrc_applied:
            for call in mjgear.inverse, mjgear.feedforward:
                numbers[0] = np.nan
                with self.assertRaisesRegex(mjgear.GearError, "in the data is not finite or beyond 1e10"):
                    call(self.model, self.data, [0, 0])
                numbers[0] = 0

    def test_asleep(self):
        """A gear whose tree the engine has put to sleep says so, and has no torque; its neighbour has one."""
        arm = '<body pos="{0} 0 0"><joint name="{1}" axis="0 1 0" armature=".1" damping="5"/><geom size=".1" mass="1"/></body>'
        spec = mujoco.MjSpec.from_string(f"""<mujoco><option gravity="0 0 0"><flag sleep="enable"/></option><worldbody>{arm.format(0, "still")}{arm.format(2, "moves")}
          </worldbody><actuator><motor joint="moves"/></actuator></mujoco>""")
        mjgear.add(spec, ["still", "moves"], eta_forward=0.8, eta_backward=0.7, coulomb=0.1)
        model = spec.compile()
        data = mujoco.MjData(model)
        data.ctrl[0] = 3
        mujoco.mj_step(model, data, 500)
        self.assertLess(data.ntree_awake, model.ntree)
        found = mjgear.inverse(model, data)
        self.assertEqual(found.motion, (mjgear.Motion.SLEEPS, mjgear.Motion.MOVES))
        self.assertTrue(np.isnan(found.low[0]) and abs(found.low[1] - 3) < 1e-9, found)

    def test_blocked(self):
        """No torque moves a backstop backward."""
        m = mujoco.MjModel.from_xml_string(ARM % ("Euler", LAWS["mild"] + '<config key="oneway" value="1"/>', 0.1))
        for velocity, motion in ((1.0, mjgear.Motion.MOVES), (-1.0, mjgear.Motion.NONE)):
            d = mujoco.MjData(m)
            d.qvel[0] = velocity
            found = mjgear.inverse(m, d, [0.5, 0.5])
            self.assertEqual(found.motion, (motion,))
            self.assertEqual(np.isnan([*found.low, *found.high]).all(), velocity < 0)

    def test_one_rotor_that_is_not_given(self):
        m = model(random.Random(1), "gap", "Euler")
        d = mujoco.MjData(m)
        d.qvel[:] = 0.1
        found = mjgear.inverse(m, d, np.zeros(m.nv), {"a": 1.0})
        self.assertEqual(found.motion, (mjgear.Motion.MOVES, mjgear.Motion.ROTOR, mjgear.Motion.ROTOR))
        np.testing.assert_array_equal(np.isnan(found.low), [False, True, True])

    def test_rotor_that_is_not_given(self):
        gap = LAWS["mild"] + "".join(
            f'<config key="{key}" value="{value}"/>'
            for key, value in KINDS["gap"].items()
            if key[:2] not in ("jo", "ga", "co")
        )
        m = mujoco.MjModel.from_xml_string(ARM % ("Euler", gap, 0))
        found = mjgear.inverse(m, mujoco.MjData(m), [0, 0])
        self.assertEqual(found.motion, (mjgear.Motion.ROTOR,))
        self.assertTrue(np.isnan(found.torque[0]))

    def test_held_is_not_said_of_rotors(self):
        """Static friction would hold a link that leaves rest slowly; of the rotor behind a gap it is not said."""
        gap = "".join(
            f'<config key="{key}" value="{value}"/>'
            for key, value in KINDS["gap"].items()
            if key[:2] not in ("jo", "ga", "co")
        )
        for keys, armature, motion in (("", 0.1, mjgear.Motion.HELD), (gap, 0, mjgear.Motion.MOVES)):
            m = mujoco.MjModel.from_xml_string(ARM % ("Euler", LAWS["static"] + keys, armature))
            found = mjgear.inverse(m, mujoco.MjData(m), [0.5, 0], {"a": 0.5} if keys else None)
            self.assertEqual(found.motion, (motion,))

    def test_solver_that_leaves_the_minimum(self):
        """Inverse dynamics know the minimum of the constraints: noslip, refused in a model and set after, keeps a box on the
        floor from creeping, so the motion of its step is that of another torque."""
        m = mujoco.MjModel.from_xml_string("""<mujoco><extension><plugin plugin="mjgear.transmission"><instance name="g"><config key="joint" value="x"/>
          <config key="gamma_u" value="0.1"/><config key="gamma_v" value="0.2"/></instance></plugin></extension><worldbody><geom type="plane" size="3 3 1"/>
          <body pos="0 0 .1"><joint name="x" type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><geom type="box" size=".1 .1 .1" mass="2"/></body>
          </worldbody><actuator><motor joint="x"/></actuator></mujoco>""")
        for iterations in 0, 20:
            m.opt.noslip_iterations = iterations
            d, before = mujoco.MjData(m), mujoco.MjData(m)
            d.ctrl[0] = before.ctrl[0] = 6  # friction of the floor holds 2 kg with up to 20 N
            mujoco.mj_step(m, d, 200)
            state = np.empty(mujoco.mj_stateSize(m, STATE))
            mujoco.mj_getState(m, d, state, STATE)
            mujoco.mj_setState(m, before, state, STATE)
            v = d.qvel.copy()
            mujoco.mj_step(m, d)
            found = mjgear.inverse(m, before, (d.qvel - v) / m.opt.timestep)
            self.assertEqual(found.low[0] - 1e-9 <= 6 <= found.high[0] + 1e-9, iterations == 0, found)


if __name__ == "__main__":
    unittest.main()
