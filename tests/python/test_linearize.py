"""mjgear.linearize: against closed forms of a slide, MuJoCo's own where it knows the whole state, and steps themselves."""

import copy
import ctypes
import itertools
import os
import pathlib
import unittest

import mujoco
import numpy as np

import mjgear
from mjgear import _structs

MASS, ROTOR, DAMPING, STEP = 2.0, 0.7, 3.0, 0.001

# a slide with a force on it; %s: integrator, keys of its gear, armature, damping
SLIDE = """<mujoco><option timestep="%g" integrator="%s" gravity="0 0 0" tolerance="0"/>
  <extension><plugin plugin="mjgear.transmission"><instance name="g"><config key="joint" value="j"/>%s</instance></plugin></extension>
  <worldbody><body><joint name="j" type="slide" axis="1 0 0" armature="%g" damping="%g"/><geom size=".1" mass="2"/></body></worldbody>
  <actuator><motor joint="j" ctrlrange="-40 40" ctrllimited="true"/></actuator><sensor><jointvel joint="j"/><actuatorfrc actuator="0"/></sensor>
  </mujoco>""".replace(' actuator="0"', ' actuator="m"').replace("<motor ", '<motor name="m" ')


def keys(**values):
    return "".join(f'<config key="{key}" value="{value}"/>' for key, value in values.items())


def slide(integrator, gear, armature=ROTOR, damping=DAMPING, step=STEP):
    model = mujoco.MjModel.from_xml_string(SLIDE % (step, integrator, gear, armature, damping))
    return model, mujoco.MjData(model)


class ClosedForms(unittest.TestCase):
    def test_a_gear_that_slips(self):
        """x = eta_f u where the motor drives it, u = eta_b x where its load does; x = M a + d v+ - F, u = tau - m a."""
        for integrator in ("Euler", "implicit", "implicitfast", "discrete"):
            m, d = slide(integrator, keys(eta_forward=0.8, eta_backward=0.5))
            for torque, force in ((20.0, 0.0), (0.0, 30.0)):
                mujoco.mj_resetData(m, d)
                d.qvel, d.ctrl, d.qfrc_applied = 1.0, torque, force
                found = mjgear.linearize(m, d)
                link = MASS + STEP * DAMPING
                inertia, gain = (link + 0.8 * ROTOR, 0.8) if torque else (link + ROTOR / 0.5, 1 / 0.5)
                dv, dtau = 1 - STEP * DAMPING / inertia, STEP * gain / inertia
                np.testing.assert_allclose(found.A, [[1, STEP * dv], [0, dv]], atol=1e-8)
                np.testing.assert_allclose(found.B, [[STEP * dtau], [dtau]], atol=1e-8)
                np.testing.assert_allclose(found.C, [[0, 1], [0, 0]], atol=1e-9)
                np.testing.assert_allclose(found.D, [[0], [1]], atol=1e-8)
                self.assertEqual(found.states, ("position j", "velocity j"))
                self.assertEqual((found.side.tolist(), found.kinks), ([0, 0, 0], ()))

    def test_a_gear_that_rests(self):
        m, d = slide("implicitfast", keys(eta_forward=0.8, eta_backward=-0.5))
        d.qfrc_applied = 10
        found = mjgear.linearize(m, d)
        np.testing.assert_array_equal(found.A, [[1, 0], [0, 0]])
        np.testing.assert_array_equal(found.B, 0)

    def test_no_actuation(self):
        """Where the engine disables actuation no control acts, and this is known."""
        m, d = slide("implicitfast", keys(eta_forward=0.8, eta_backward=0.5))
        m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ACTUATION
        d.qvel, d.ctrl = 1.0, 20.0
        found = mjgear.linearize(m, d)
        np.testing.assert_array_equal(found.B, 0)
        self.assertEqual(found.side[-1], 0)

    def test_leaves_the_data_as_mj_forward(self):
        """mjg_controlDerivative moves controls and gears; behind it results are those of mj_forward, and the second half of the step is the same."""
        gap = keys(backlash="exact", half_gap=0.001, stiffness=5000, damping=5, rotor_inertia=0.2)
        for more in (gap, keys(presliding_stiffness=400)):
            m, d = slide(
                "implicitfast",
                keys(eta_forward=0.8, eta_backward=0.75, coulomb=1) + more,
                armature=0 if more == gap else ROTOR,
            )
            d.ctrl = 20.0
            mujoco.mj_step(m, d, 50)
            twin = copy.copy(d)
            mujoco.mj_forward(m, twin)
            numbers = [np.zeros((m.nu, n)) for n in (m.nv, m.npluginstate)]
            pointers = [one.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for one in numbers]
            side = (ctypes.c_int * m.nu)()
            known = _structs.plugin.mjg_controlDerivative(*pointers, side, m._address, d._address, 1e-4, None, 0)
            self.assertEqual((known, side[0]), (1, 0))
            ours, theirs = mjgear.Gears(m, d)["j"], mjgear.Gears(m, twin)["j"]
            for name in ("friction", "torque_in", "torque_out", "internal_force", "mode", "rotor_velocity", "gap"):
                self.assertEqual(getattr(ours, name), getattr(theirs, name), name)
            for data in (d, twin):
                mujoco.mj_step2(m, data)
            for name in ("qpos", "qvel", "plugin_state"):
                np.testing.assert_array_equal(getattr(d, name), getattr(twin, name), name)

    def test_a_gear_that_rests_beside_others(self):
        """Its velocity does not depend on any control, to the last bit, as steps stop it to the last bit."""
        links = "".join(
            f'<body pos=".3 0 0"><joint name="{name}" axis="0 1 {k / 3}" armature=".1"/><geom type="capsule" fromto="0 0 0 .3 .02 0" size=".03"/>'
            for k, name in enumerate("abc")
        )
        motors = "".join(f'<motor joint="{name}"/>' for name in "abc")
        for integrator in ("Euler", "implicit", "implicitfast", "discrete"):
            spec = mujoco.MjSpec.from_string(
                f'<mujoco><option integrator="{integrator}"/><worldbody>{links}{"</body>" * 3}</worldbody><actuator>{motors}</actuator></mujoco>'
            )
            mjgear.add(spec, list("abc"), eta_forward=0.8, eta_backward=0.7, coulomb=[0.1, 50, 0.1])
            m = spec.compile()
            d = mujoco.MjData(m)
            d.qvel, d.ctrl = (1, 0, -2), (3, 1, 2)
            mujoco.mj_step(m, d, 3)
            B = mjgear.linearize(m, d).B
            self.assertTrue(
                (B[m.nv + 1] == 0).all() and (B[m.nv] != 0).any() and d.qvel[1] == 0, (integrator, B, d.qvel)
            )

    def test_rotor_behind_a_shaft(self):
        """Link and rotor swing against each other at sqrt(k (1/M + 1/m)): mjd_transitionFD has no such pole."""
        stiffness, step = 5000.0, 1e-5
        m, d = slide("implicitfast", keys(gamma_u=0, gamma_v=0, backlash="exact", half_gap=0.001, stiffness=stiffness, damping=0,
                                          rotor_inertia=ROTOR), 0, 0, step)  # fmt: skip
        d.ctrl, d.qfrc_applied = 10, -10
        for _ in range(3000):  # until the gap is closed
            mujoco.mj_step(m, d)
        found = mjgear.linearize(m, d)
        self.assertEqual(
            found.states[2:],
            tuple(f"{key} j" for key in ("rotor_angle", "rotor_velocity", "gap_position", "gap_twist")),
        )
        angles = np.abs(np.angle(np.linalg.eigvals(found.A))) / step
        self.assertAlmostEqual(angles.max() / np.sqrt(stiffness * (1 / MASS + 1 / ROTOR)), 1, delta=2e-3)
        plain = np.zeros((2, 2))
        mujoco.mjd_transitionFD(m, d, 1e-6, True, plain, None, None, None)
        np.testing.assert_allclose(np.angle(np.linalg.eigvals(plain)), 0, atol=1e-6)

        # rotor and link together, of which the motor moves the rotor
        np.testing.assert_allclose(found.B[1] + found.B[3], step / ROTOR, rtol=1e-2)

    def test_presliding(self):
        """A spring of stiffness sigma between motor and link that stand still: sqrt(sigma/(M + m))."""
        step, sigma = 1e-5, 800.0
        m, d = slide(
            "implicitfast", keys(gamma_u=0, gamma_v=0, coulomb=5, presliding_stiffness=sigma), damping=0, step=step
        )
        d.qvel = 1e-3
        mujoco.mj_step(m, d)
        found = mjgear.linearize(m, d)
        self.assertEqual(found.states[2:], ("friction j",))
        angle = np.abs(np.angle(np.linalg.eigvals(found.A))).max() / step
        self.assertAlmostEqual(angle / np.sqrt(sigma / (MASS + ROTOR)), 1, delta=1e-3)

    def test_one_side(self):
        """A joint that moves by less than eps rests on the other side; a control at the end of its range has the side within only."""
        m, d = slide("Euler", keys(gamma_u=0, gamma_v=0, coulomb=5), damping=0)
        d.qvel, d.ctrl = 5e-7, 5.0
        found = mjgear.linearize(m, d)
        self.assertEqual((found.side.tolist(), found.kinks), ([0, 1, 0], ()))
        self.assertAlmostEqual(found.A[1, 1], 1, delta=1e-9)
        d.qvel, d.ctrl = 1, 40
        self.assertEqual(mjgear.linearize(m, d).side.tolist(), [0, 0, -1])
        self.assertEqual(mjgear.linearize(m, d, centered=False).side.tolist(), [1, 1, -1])

        # at rest, about to break away
        d.qvel, d.ctrl = 0, 5.0 - 1e-10
        self.assertEqual(mjgear.linearize(m, d).side.tolist(), [0, -1, -1])


class Exact(unittest.TestCase):
    """Columns of controls against closed forms to rounding, and against steps on the same pieces."""

    def test_closed_forms(self):
        for integrator in ("Euler", "implicit", "implicitfast", "discrete"):
            m, d = slide(integrator, keys(eta_forward=0.8, eta_backward=0.5))
            for torque, force in ((20.0, 0.0), (0.0, 30.0)):
                mujoco.mj_resetData(m, d)
                d.qvel, d.ctrl, d.qfrc_applied = 1.0, torque, force
                found = mjgear.linearize(m, d)
                link = MASS + STEP * DAMPING
                expected = STEP * (0.8 / (link + 0.8 * ROTOR) if torque else 1 / (0.5 * link + ROTOR))
                np.testing.assert_allclose(found.B, [[STEP * expected], [expected]], rtol=1e-11)
                self.assertEqual(found.exact.tolist(), [False, False, True])

    def test_servo(self):
        """Position and velocity gains at the end of the step: implicitfast has kv in the inertia, discrete also kp."""
        kp, kv = 900.0, 40.0
        for integrator, gains in (("implicitfast", STEP * kv), ("discrete", STEP * kv + STEP**2 * kp)):
            text = SLIDE % (STEP, integrator, keys(eta_forward=0.8, eta_backward=0.5), ROTOR, DAMPING)
            motor = text[text.index("<motor ") : text.index("/>", text.index("<motor ")) + 2]
            m = mujoco.MjModel.from_xml_string(
                text.replace(motor, f'<position name="m" joint="j" kp="{kp}" kv="{kv}"/>')
            )
            d = mujoco.MjData(m)
            d.qvel, d.ctrl = 0.5, 0.3
            found = mjgear.linearize(m, d)
            expected = STEP * 0.8 * kp / (MASS + STEP * DAMPING + 0.8 * (ROTOR + gains))
            np.testing.assert_allclose(found.B[1], expected, rtol=1e-9)

    def test_presliding(self):
        """Motor, link and a spring that takes sigma h v+ at the end of the step."""
        sigma = 800.0
        m, d = slide("implicitfast", keys(gamma_u=0, gamma_v=0, coulomb=5, presliding_stiffness=sigma), damping=0)
        d.ctrl = 1
        mujoco.mj_step(m, d)
        found = mjgear.linearize(m, d)
        expected = STEP / (MASS + ROTOR + STEP**2 * sigma)
        np.testing.assert_allclose(found.B[:, 0], [STEP * expected, expected, STEP * sigma * expected], rtol=1e-9)

    def test_gain_that_depends_on_velocity(self):
        """Implicit integrators divide by an inertia with this gain, which the control changes: columns agree with steps."""
        motor = '<general joint="j" gaintype="affine" gainprm="5 0 -4" ctrlrange="-9 9"/>'
        for integrator in ("Euler", "implicit", "implicitfast", "discrete"):
            xml = SLIDE % (0.02, integrator, keys(eta_forward=0.8, eta_backward=0.5), ROTOR, DAMPING)
            m = mujoco.MjModel.from_xml_string(
                xml.replace(
                    '<motor name="m" joint="j" ctrlrange="-40 40" ctrllimited="true"/>',
                    motor.replace("<general", '<general name="m"'),
                )
            )
            self.assertEqual(m.actuator_gaintype[0], mujoco.mjtGain.mjGAIN_AFFINE)
            d = mujoco.MjData(m)
            d.qvel, d.ctrl = 0.5, 3
            mujoco.mj_forward(m, d)
            ends = []
            for change in (1e-4, -1e-4):
                there = mujoco.MjData(m)
                mujoco.mj_copyData(there, m, d)
                there.ctrl[0] += change
                mujoco.mj_step(m, there)
                ends.append(there.qvel[0])
            slope = (ends[0] - ends[1]) / 2e-4
            found = mjgear.linearize(m, d)
            self.assertEqual(found.exact[-1], integrator == "Euler", integrator)
            self.assertAlmostEqual(found.B[1, 0], slope, delta=1e-7 * abs(slope) + 1e-9, msg=integrator)

    def test_control_beyond_its_range(self):
        """The engine clamps it on both sides: no derivative, and no side."""
        for motor in ('<motor name="m" joint="j" ', '<general name="m" joint="j" gaintype="affine" gainprm="5 0 -4" '):
            text = SLIDE.replace('<motor name="m" joint="j" ', motor) % (
                STEP,
                "implicitfast",
                keys(eta_forward=0.8),
                ROTOR,
                DAMPING,
            )
            model = mujoco.MjModel.from_xml_string(text)
            data = mujoco.MjData(model)
            data.qvel, data.ctrl = 1.0, 50.0
            found = mjgear.linearize(model, data)
            np.testing.assert_array_equal(found.B, 0)
            self.assertEqual(found.side[-1], 0, motor)

    def test_attitude(self):
        """The gear's motor turns the body that carries it, which spins: its attitude after the step, against steps with other controls."""
        spec = mujoco.MjSpec.from_string("""<mujoco><option timestep=".005" integrator="implicitfast" gravity="0 0 0"/><worldbody><body><freejoint/>
          <geom type="box" size=".1 .2 .3" mass="1"/><body><joint name="j" axis="1 2 3" armature=".01"/><geom type="box" size=".2 .1 .1" mass=".5"/></body></body>
          </worldbody><actuator><motor joint="j"/></actuator></mujoco>""")
        mjgear.add(spec, "j", eta_forward=0.7, eta_backward=0.5)
        model, eps = spec.compile(), 1e-3
        data, ends = mujoco.MjData(model), []
        data.qvel[3:] = 30, -20, 25, 3
        data.ctrl = 2
        for change in (-eps, eps):
            other = copy.copy(data)
            other.ctrl += change
            mujoco.mj_step(model, other)
            ends.append(other.qpos.copy())
        change = np.zeros(model.nv)
        mujoco.mj_differentiatePos(model, change, 2 * eps, *ends)
        found = mjgear.linearize(model, data)
        self.assertTrue(found.exact[-1])
        np.testing.assert_allclose(found.B[: model.nv, 0], change, rtol=1e-6, atol=1e-9 * abs(change).max())

    def test_brake(self):
        """A slipping clutch, by its control: the torque is a fraction of its sliding torque, and its travel is state."""
        text = """<mujoco><option timestep="0.001" integrator="implicitfast" gravity="0 0 0" tolerance="0"/>
          <extension><plugin plugin="mjgear.brake"/></extension>
          <worldbody><body><joint name="j" type="slide" armature="0.7"/><geom size=".1" mass="2"/></body></worldbody>
          <actuator><motor joint="j"/><plugin plugin="mjgear.brake" joint="j" ctrlrange="0 1" ctrllimited="true"><config key="holding_torque" value="12"/>
          <config key="sliding_torque" value="9"/>%s</plugin></actuator></mujoco>"""
        for normally, sign in (("", 1), ('<config key="normally" value="open"/>', -1)):
            m = mujoco.MjModel.from_xml_string(text % normally)
            d = mujoco.MjData(m)
            d.qvel, d.ctrl = 1, (3, 0.5)
            found = mjgear.linearize(m, d)
            self.assertEqual(found.states, ("position j", "velocity j", "brake_travel j"))
            np.testing.assert_allclose(
                found.B[1:], [[STEP / 2.7, sign * 9 * STEP / 2.7], [0, 1]], rtol=1e-10, atol=1e-15
            )
        d.ctrl = 3, 1
        self.assertEqual(mjgear.linearize(m, d).side[-2:].tolist(), [0, -1])
        d.qvel, d.ctrl = 0, (3, 0.5)  # it holds 6 N m
        self.assertTrue((mjgear.linearize(m, d).B[1] == 0).all())

    def test_shaft(self):
        """Rotor and link as two bodies and a spring, which a step of the gap takes implicitly: the impulse h goes into both."""
        m, d = slide(
            "implicitfast",
            keys(
                gamma_u=0, gamma_v=0, backlash="exact", half_gap=0.001, stiffness=5000, damping=2, rotor_inertia=ROTOR
            ),
            0,
            0,
        )
        d.ctrl, d.qfrc_applied = 10, -10
        for _ in range(300):
            mujoco.mj_step(m, d)
        found = mjgear.linearize(m, d)
        self.assertTrue(found.exact[-1])
        names = list(found.states)
        dv, dw = found.B[1, 0], found.B[1, 0] + found.B[names.index("rotor_velocity j"), 0]
        self.assertAlmostEqual((MASS * dv + ROTOR * dw) / STEP, 1, delta=1e-9)
        self.assertAlmostEqual(found.B[names.index("rotor_angle j"), 0] / (STEP * (dw - dv)), 1, delta=1e-9)

        # at the end of a control's range the derivative is the one within
        ends = []
        for d.ctrl[:] in (39.9, 40.0):
            ends.append(mjgear.linearize(m, d))
        self.assertEqual((ends[0].side[-1], ends[1].side[-1]), (0, -1))
        np.testing.assert_allclose(ends[1].B, ends[0].B, rtol=1e-5, atol=1e-12)

    def test_breaking_away(self):
        """A joint that leaves rest over static friction: the derivative has the sliding friction of the rest of the step."""
        m, d = slide("Euler", keys(eta_forward=0.8, eta_backward=0.5, static_ratio=1.5, coulomb=2), damping=0)
        d.ctrl = 30
        found = mjgear.linearize(m, d)
        self.assertTrue(found.exact[-1])
        np.testing.assert_allclose(found.B[1], STEP * 0.8 / (MASS + 0.8 * ROTOR), rtol=1e-10)

    def test_rows_of_sensors(self):
        """Sensors of joints, fixed tendons and actuators on joints are exact to the last bit; others equal differences of steps, and MuJoCo's own."""
        sensors = """<sensor><jointpos joint="a"/><jointvel joint="b"/><tendonpos tendon="t"/><tendonvel tendon="t"/><actuatorpos actuator="m"/>
          <actuatorvel actuator="m"/><jointvel joint="b" cutoff="0.1"/><tendonpos tendon="s"/><framepos objtype="body" objname="root_body"/>
          <actuatorpos actuator="n"/></sensor>"""
        text = Steps.ROBOT % (keys(gamma_u=0.1, gamma_v=0.4), keys(gamma_u=0.1, gamma_v=0.2))
        text = text.replace(
            '<motor joint="a"/>', '<motor name="m" joint="a" gear="3"/><motor name="n" tendon="t"/>'
        ).replace("<position ", '<position name="p" ')
        text = text.replace("<actuator>", '<tendon><fixed name="t"><joint joint="a" coef="2"/><joint joint="b" coef="-0.5"/></fixed>'
                            '<spatial name="s"><site site="x"/><site site="y"/></spatial></tendon><actuator>')  # fmt: skip
        text = text.replace('<geom size=".1" mass="3"/>', '<geom size=".1" mass="3"/><site name="x"/>').replace(
            '<joint name="b" axis', '<site name="y" pos="0 0 .1"/><joint name="b" axis').replace("<sensor>", sensors.replace("</sensor>", ""))  # fmt: skip
        model = mujoco.MjModel.from_xml_string(text)
        data = mujoco.MjData(model)
        data.qvel[-2:], data.ctrl[0] = (1.0, -0.7), 3
        mujoco.mj_step(model, data, 20)
        found = mjgear.linearize(model, data)
        names = {name: k for k, name in enumerate(found.states)}
        expected = np.zeros((6, len(names)))
        a, b, da, db = (names[f"{kind} {joint}"] for kind in ("position", "velocity") for joint in "ab")
        expected[0, a] = expected[1, db] = 1
        expected[2, [a, b]], expected[3, [da, db]] = (2, -0.5), (2, -0.5)
        expected[4, a] = expected[5, da] = 3
        np.testing.assert_array_equal(found.C[:6], expected)
        np.testing.assert_array_equal(found.D[:6], 0)
        self.assertEqual(found.exact_rows.tolist(), [True] * 6 + [False] * (len(found.C) - 6))
        self.assertGreater(abs(data.sensordata[1]), 0.1)
        plain = [np.zeros(part.shape) for part in (found.A, found.B, found.C, found.D)]
        mujoco.mjd_transitionFD(model, data, 1e-6, True, *plain)
        np.testing.assert_allclose(found.C, plain[2], atol=1e-6 * (1 + np.abs(plain[2]).max()))

    def test_what_is_not_linear(self):
        model, data = Steps.start(self, Steps.ROBOT % (keys(gamma_u=0.1, gamma_v=0.4), keys(gamma_u=0.1, gamma_v=1.2)))
        self.assertEqual(mjgear.linearize(model, data).exact[-3:].tolist(), [True, True, False])  # a filter
        for option, value, usual in (
            ("solver", 0, 2),
            ("noslip_iterations", 1, 0),
            ("enableflags", int(mujoco.mjtEnableBit.mjENBL_SLEEP), 0),
        ):  # PGS, .., sleep
            setattr(model.opt, option, value)
            self.assertFalse(mjgear.linearize(model, data).exact.any(), option)
            setattr(model.opt, option, usual)
        self.assertTrue(mjgear.linearize(model, data).exact.any())

    def test_delay(self):
        """A control that waits longer than a step changes nothing in it."""
        for text, known in ('delay=".004" nsample="10"', 0), ("", 1):
            model = mujoco.MjModel.from_xml_string(
                (SLIDE % (STEP, "implicitfast", keys(eta_forward=0.8, eta_backward=0.5), ROTOR, DAMPING)).replace(
                    "<motor ", f"<motor {text} "
                )
            )
            data, ends = mujoco.MjData(model), []
            data.qvel, data.ctrl = 1.0, 20.0
            mujoco.mj_step(model, data, 20)
            found = mjgear.linearize(model, data)
            for change in 1e-4, -1e-4:
                there = mujoco.MjData(model)
                mujoco.mj_copyData(there, model, data)
                there.ctrl[0] += change
                mujoco.mj_step(model, there)
                ends.append(there.qvel[0])
            self.assertEqual((found.exact[-1], found.B[1, 0] != 0), (True, bool(known)))
            self.assertAlmostEqual(found.B[1, 0], (ends[0] - ends[1]) / 2e-4, delta=1e-9)

    def test_gaps_that_are_not_known(self):
        """Behind a gap a self-locking gear, a static ratio and a negative coefficient (eta_backward far below 2 - 1/eta_forward)."""
        for gear, known in (
            (dict(eta_forward=0.9, eta_backward=0.9), True),
            (dict(eta_forward=0.9, eta_backward=0.9, static_ratio=1.2), False),
            (dict(eta_forward=0.4, eta_backward=-0.2), False),
            (dict(eta_forward=0.8, eta_backward=0.6), False),
        ):
            spec = mujoco.MjSpec.from_string(
                '<mujoco><worldbody><body><joint name="a" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/></body></worldbody><actuator><motor joint="a"/></actuator></mujoco>'
            )
            gap = {"backlash": "exact", "half_gap": 0.01, "stiffness": 300, "damping": 1, "rotor_inertia": 0.02}
            mjgear.add(spec, "a", coulomb=0.1, **gear, **gap)
            model = spec.compile()
            data = mujoco.MjData(model)
            data.ctrl[0] = 0.3
            mujoco.mj_step(model, data, 15)
            self.assertEqual(mjgear.linearize(model, data).exact[-1], known, gear)

    def test_laws_with_touch_and_gaps_between_joints(self):
        """Columns of controls are exact with them, too: those of differences, in contact and between the teeth."""
        xml = """<mujoco><option integrator="implicitfast" timestep=".002"/><worldbody><body><joint name="m" axis="0 1 0"/><geom size=".1" pos=".05 0 0"/></body>
        <body><joint name="l" axis="0 1 0"/><geom size=".1" pos=".05 0 0" contype="0" conaffinity="0"/></body></worldbody><actuator><motor joint="m"/></actuator></mujoco>"""
        laws = {"phase_plane": {}, "rubber": {"rubber": 0.005}}
        for (law, more), gap in itertools.product(laws.items(), ({"motor_joint": "m"}, {"rotor_inertia": 0.1})):
            gap = gap | {"backlash": law, "half_gap": 0.01, "stiffness": 100, "damping": 0.1}
            spec = mujoco.MjSpec.from_string(xml)
            mjgear.add(
                spec, "l" if "motor_joint" in gap else "m", gamma_u=0.1, gamma_v=0.3, coulomb=0.01, **gap, **more
            )
            model = spec.compile()
            data, rng = mujoco.MjData(model), np.random.default_rng(0)
            gears = mjgear.Gears(model, data)
            for _ in range(20):
                data.ctrl[0] = rng.uniform(-3, 3)
                mujoco.mj_step(model, data, 3)
                found, ends = mjgear.linearize(model, data), []
                memory = [gears[name].address(key).value for key, name in map(str.split, found.states[4:])]
                self.assertTrue(found.exact[-1], (law, gap))
                for step in (1e-5, -1e-5):
                    other = mujoco.MjData(model)
                    mujoco.mj_copyData(other, model, data)
                    other.ctrl[0] += step
                    mujoco.mj_step(model, other)
                    ends.append(np.r_[other.qvel, other.plugin_state[memory]])
                slope = (ends[0] - ends[1]) / 2e-5
                np.testing.assert_allclose(found.B[2:4, 0], slope[:2], atol=2e-6 * abs(slope[:2]).max() + 1e-15)
                np.testing.assert_allclose(found.B[4:, 0], slope[2:], rtol=1e-5, atol=1e-9)

    def test_models_in_contact(self):
        """All models of this repository with every integrator and cone, where steps with other controls stay on their pieces."""
        folder, rng = pathlib.Path(os.environ["MJGEAR_SOURCE_DIR"]) / "models", np.random.default_rng(0)
        compared = 0
        for name in (
            "cobot",
            "gripper",
            "hand",
            "hobby_arm",
            "jack",
            "quadruped",
            "quadruped_worm",
            "rover",
            "stewart",
            "telescope",
        ):
            model = mujoco.MjModel.from_xml_path(str(folder / name.split("_worm")[0] / f"{name}.xml"))
            model.opt.tolerance, model.opt.iterations = 0, 100
            low, high = np.where(model.actuator_ctrllimited, model.actuator_ctrlrange.T, [[-1], [1]])
            for integrator, cone in ((0, 0), (0, 1), (2, 1), (3, 0), (3, 1), (4, 1)):
                model.opt.integrator, model.opt.cone = integrator, cone
                compared += self.compare(model, rng.uniform(low, high), high - low)
        self.assertGreater(compared, 300)

    def compare(self, model, control, ranges):
        bits, data = mujoco.mjtState.mjSTATE_INTEGRATION, mujoco.MjData(model)
        data.ctrl[:] = control
        for _ in range(60):
            mujoco.mj_step(model, data)
        data.ctrl[:] = np.clip(
            control,
            *np.where(
                model.actuator_ctrllimited, model.actuator_ctrlrange.T + [[1e-2], [-1e-2]], [[-np.inf], [np.inf]]
            ),
        )
        found, start = mjgear.linearize(model, data), np.empty(mujoco.mj_stateSize(model, bits))
        mujoco.mj_getState(model, data, start, bits)
        plugins = [k for k in range(model.nsensor) if model.sensor_type[k] == int(mujoco.mjtSensor.mjSENS_PLUGIN)]
        modes, compared = model.sensor_adr[plugins] + 4, 0

        def step(k, by):
            mujoco.mj_setState(model, data, start, bits)
            data.ctrl[k] += by
            mujoco.mj_step(model, data)
            return data.qvel.copy(), (tuple(data.sensordata[modes]), tuple(data.efc_state))

        _, base = step(0, 0)
        velocities = slice(model.nv, 2 * model.nv)
        for k in np.flatnonzero(found.exact[-model.nu :] & (found.side[-model.nu :] == 0)):
            error, column = np.inf, found.B[velocities, k]
            for change in ranges[k] * np.array(
                [1e-4, 1e-5, 1e-6]
            ):  # cones, and loads that change sign, are linear in small changes only
                (ahead, one), (back, other) = step(k, change), step(k, -change)
                rounding = 1e-12 * (1 + np.abs(ahead).max()) / change  # of steps
                if one == base == other:
                    error = min(
                        error,
                        (np.abs(column - (ahead - back) / (2 * change)) - rounding).max()
                        / (1e-12 + np.abs(column).max()),
                    )
                    compared += rounding < 1e-6 * np.abs(column).max()
            self.assertTrue(error <= 1e-6 or error == np.inf, error)
        return compared


class Steps(unittest.TestCase):
    ROBOT = """<mujoco><option timestep="0.002" integrator="implicitfast" tolerance="0" iterations="200"/>
      <extension><plugin plugin="mjgear.transmission"><instance name="rigid"><config key="joint" value="a"/>%s</instance>
        <instance name="soft"><config key="joint" value="b"/>%s</instance></plugin></extension>
      <worldbody><geom type="plane" size="5 5 .1"/><body pos="0 0 .098"><freejoint name="root"/><geom size=".1" mass="3"/>
        <body pos="0 0 .1"><joint name="a" axis="0 1 0" armature=".1"/><geom type="capsule" size=".04" fromto="0 0 0 .3 0 0" mass="1"/>
        <body pos=".3 0 0"><joint name="b" axis="0 1 0"/><geom type="capsule" size=".04" fromto="0 0 0 .2 0 0" mass=".5"/></body></body></body>
      </worldbody><actuator><motor joint="a"/><position joint="b" kp="20" kv="1"/>
      <general joint="a" dyntype="filter" dynprm=".05"/></actuator>
      <sensor><framepos objtype="body" objname="root_body"/><jointactuatorfrc joint="a"/></sensor></mujoco>""".replace(
        '<body pos="0 0 .098">', '<body name="root_body" pos="0 0 .098">'
    )
    SOFT = keys(
        gamma_u=0.1, gamma_v=0.2, backlash="exact", half_gap=0.002, stiffness=400, damping=0.5, rotor_inertia=0.05
    )

    def start(self, text):
        model = mujoco.MjModel.from_xml_string(text)
        data = mujoco.MjData(model)
        data.qvel[-2:] = 1.0, -0.7
        data.ctrl[:] = 3, 0.2, 1
        for _ in range(40):
            mujoco.mj_step(model, data)
        return model, data

    def test_is_mujocos_where_it_knows_the_whole_state(self):
        model, data = self.start(self.ROBOT % (keys(gamma_u=0.1, gamma_v=0.4), keys(gamma_u=0.1, gamma_v=1.2)))
        found = mjgear.linearize(model, data)
        size = 2 * model.nv + model.na
        self.assertEqual(len(found.states), size)
        self.assertEqual(found.states[0], "position root[0]")
        self.assertEqual(found.states[size - 2 :], ("velocity b", "activation 0"))
        expected = [np.zeros(part.shape) for part in (found.A, found.B, found.C, found.D)]
        mujoco.mjd_transitionFD(model, data, 1e-6, True, *expected)
        for part, other in zip((found.A, found.B, found.C, found.D), expected):
            np.testing.assert_allclose(part, other, atol=1e-7 * (1 + np.abs(other).max()))

    def test_predicts_steps(self):
        """Derivatives by random changes of the whole state, rotor included."""
        model, data = self.start(self.ROBOT % (keys(gamma_u=0.1, gamma_v=0.4), self.SOFT))
        found = mjgear.linearize(model, data, threads=2)
        state = np.empty(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_INTEGRATION))
        mujoco.mj_getState(model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
        gears = mjgear.Gears(model, data)
        memory = [gears["b"].address(name.split()[0]).value for name in found.states[2 * model.nv + model.na :]]
        self.assertEqual(len(memory), 4)

        def step(change, control):
            mujoco.mj_setState(model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
            mujoco.mj_integratePos(model, data.qpos, change[: model.nv], 1)
            data.qvel += change[model.nv : 2 * model.nv]
            data.act += change[2 * model.nv : 2 * model.nv + model.na]
            data.plugin_state[memory] += change[2 * model.nv + model.na :]
            data.ctrl += control
            mujoco.mj_step(model, data)
            return (
                data.qpos.copy(),
                np.concatenate([data.qvel, data.act, data.plugin_state[memory]]),
                data.sensordata.copy(),
            )

        q, rest, seen = step(np.zeros(len(found.states)), 0)
        rng = np.random.default_rng(2)
        for _ in range(10):
            change, control = 1e-6 * rng.normal(size=len(found.states)), 1e-6 * rng.normal(size=model.nu)
            q_new, rest_new, seen_new = step(change, control)
            dq = np.zeros(model.nv)
            mujoco.mj_differentiatePos(model, dq, 1, q, q_new)
            expected = found.A @ change + found.B @ control
            np.testing.assert_allclose(
                np.concatenate([dq, rest_new - rest]), expected, atol=1e-4 * np.abs(expected).max()
            )
            np.testing.assert_allclose(seen_new - seen, found.C @ change + found.D @ control, atol=1e-9)

    def test_data_stay(self):
        model, data = self.start(self.ROBOT % (keys(gamma_u=0.1, gamma_v=0.4), self.SOFT))
        before = np.concatenate([data.qpos, data.qvel, data.plugin_state, data.qacc, data.sensordata, data.ctrl])
        mjgear.linearize(model, data)
        np.testing.assert_array_equal(
            np.concatenate([data.qpos, data.qvel, data.plugin_state, data.qacc, data.sensordata, data.ctrl]), before
        )

    def test_refused(self):
        model, data = slide("Euler", keys(gamma_u=0, gamma_v=0))
        other = mujoco.MjModel.from_xml_string("<mujoco><worldbody/></mujoco>")
        text = SLIDE % (STEP, "Euler", keys(gamma_u=0, gamma_v=0), ROTOR, DAMPING)
        alike = mujoco.MjModel.from_xml_string(text.replace("<worldbody>", '<worldbody><geom size=".1"/>'))
        for expected, arguments in (
            ("not of this model", (model, mujoco.MjData(alike))),
            ("give an MjModel and its MjData, not MjSpec", (mujoco.MjSpec(), data)),
            ("not of this model", (model, mujoco.MjData(other))),
        ):
            with self.assertRaisesRegex(mjgear.GearError, expected):
                mjgear.linearize(*arguments)
        for expected, options in (
            ("eps is 0", {"eps": 0}),
            ("eps is nan", {"eps": np.nan}),
            ("eps is inf; give a number from", {"eps": np.inf}),
            ("eps and threads are '1' and 1", {"eps": "1"}),
            ("threads is 1000000000; give a whole number", {"threads": 10**9}),
            ("threads is 0", {"threads": 0}),
            ("eps and threads are 1e-06 and 2.5", {"threads": 2.5}),
            ("eps and threads are 1e-06 and True", {"threads": True}),
        ):
            with self.assertRaisesRegex(mjgear.GearError, expected):
                mjgear.linearize(model, data, **options)
        for numbers in data.qpos, data.qvel, data.ctrl:
            numbers[0] = np.nan
            with self.assertRaisesRegex(mjgear.GearError, "not finite or beyond 1e10"):
                mjgear.linearize(model, data)
            numbers[0] = 0
        model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
        with self.assertRaisesRegex(mjgear.GearError, "RK4"):
            mjgear.linearize(model, data)


if __name__ == "__main__":
    unittest.main()
