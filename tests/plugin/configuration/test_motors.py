"""Motors of gears and loads on links, in models with actuators of every kind.

References are closed forms, and the same model without gears or with its actuators in another order."""

import ctypes
import itertools
import os
import sys
import warnings

import mujoco
import numpy as np

import mjgear

sys.path.insert(0, os.path.join(os.environ["MJGEAR_SOURCE_DIR"], "tests", "plugin"))
import scripts

INTEGRATORS = ("Euler", "implicit", "implicitfast", "discrete")


def instance(**keys):
    text = "".join(f'<config key="{key}" value="{value}"/>' for key, value in keys.items())
    return f'<extension><plugin plugin="mjgear.transmission"><instance name="g">{text}</instance></plugin></extension>'


# ------------------------------------------- every kind ---------------------------------------------------


KINDS = """
<orientation name="orientation" site="tip" refsite="base" kp="2" kv=".1"/>
<orientation name="wrist" joint="ball" kp="1" kv=".1" input="quat"/>
<general name="general" joint="a" gainprm="3" biastype="affine" biasprm=".1 -2 -.3"/>
<motor name="motor" jointinparent="b" gear="2"/>
<position name="position" joint="c" kp="20" kv="1"/>
<velocity name="velocity" joint="a" kv=".5"/>
<intvelocity name="intvelocity" joint="b" kp="5" kv=".2" actrange="-1 1"/>
<pid name="pid" joint="c" kp="4" ki="1" kv=".1" input="pos vel ff"/>
<damper name="damper" joint="a" kv=".2" ctrlrange="0 1"/>
<cylinder name="cylinder" tendon="rope" area=".1" timeconst=".05"/>
<muscle name="muscle" tendon="rope" lengthrange=".05 .5" force="20"/>
<adhesion name="adhesion" body="hand" gain="5" ctrlrange="0 1"/>
<dcmotor name="dcmotor" joint="b" motorconst="1" resistance="1" input="pos vel" controller="10 0 1"/>
<dcmotor name="winding" joint="c" motorconst=".5" resistance="2" inductance=".01"/>
<motor name="site" site="tip" gear="0 0 2 0 0 0"/>
<motor name="crank" cranksite="tip" slidersite="rail" cranklength="1.5"/>
<motor name="fixed" tendon="both" gear="3"/>
"""


def every_kind(integrator, lines, keys):
    return f"""<mujoco>{keys}<option integrator="{integrator}" timestep=".001"/><worldbody><site name="base" pos="0 0 .2"/>
      <site name="rail" pos="0 .5 0" euler="90 0 0"/><body name="one">
      <joint name="a" axis="0 1 0" armature=".05"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".02" mass=".5"/><body pos=".3 0 0">
      <joint name="b" axis="0 1 0" armature=".04"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".02" mass=".4"/><body name="hand" pos=".3 0 0">
      <joint name="c" axis="1 0 0" armature=".03"/><geom size=".03" pos="0 .05 0" mass=".3"/><site name="tip" pos="0 .08 0"/>
      </body></body></body><body pos="0 0 1"><joint name="ball" type="ball"/><geom size=".1" pos=".1 0 0" mass=".2"/></body></worldbody>
      <contact><exclude body1="one" body2="hand"/></contact>
      <tendon><spatial name="rope"><site site="base"/><site site="tip"/></spatial>
      <fixed name="both"><joint joint="a" coef=".5"/><joint joint="b" coef="-1"/></fixed></tendon>
      <actuator>{"".join(lines)}</actuator></mujoco>"""


def run(xml, controls, steps=200):
    """Velocities and the gears' status of a run with controls by the actuators' names."""
    m = mujoco.MjModel.from_xml_string(xml)
    d = mujoco.MjData(m)
    rng = np.random.default_rng(1)
    values = {name: rng.uniform(0.1, 0.6, 4) for name in controls}
    for k in range(m.nactuator):
        adr, n = m.actuator_ctrladr[k], m.actuator_ctrlnum[k]
        d.ctrl[adr : adr + n] = values[m.actuator(k).name][:n]
    return m, np.array([mujoco.mj_step(m, d) or d.qvel.copy() for _ in range(steps)])


def test_every_kind():
    lines = [line for line in KINDS.splitlines() if line]
    names = [line.split('"')[1] for line in lines]
    assert len({line.split()[0] for line in lines}) == 12  # all elements of <actuator> but plugins
    for integrator in INTEGRATORS:
        # a gear without losses changes nothing
        m, plain = run(every_kind(integrator, lines, ""), names)
        assert m.nactuator == 17 and m.nu > m.nactuator and m.nout > m.nactuator
        _, ideal = run(every_kind(integrator, lines, instance(joint="a b c", eta_forward=1, eta_backward=1)), names)
        assert np.abs(ideal - plain).max() < 1e-9 * np.abs(plain).max(), (integrator, np.abs(ideal - plain).max())

        # a gear does not depend on the order of actuators; one on a tendon reads their gear ratios
        for keys in ({"joint": "a b c"}, {"joint": "b c", "tendon": "both"}):
            gear = instance(**keys, eta_forward=0.7, eta_backward=0.5, coulomb=0.02)
            _, there = run(every_kind(integrator, lines, gear), names)
            _, back = run(every_kind(integrator, lines[::-1], gear), names)
            assert np.abs(there - back).max() < 1e-9 * np.abs(there).max(), (
                integrator,
                keys,
                np.abs(there - back).max(),
            )
            assert np.abs(there - plain).max() > 1e-3


# ------------------------------------------- motor or load ------------------------------------------------


H, LINK, ROTOR = 1e-3, 2.0, 0.5  # s, kg, kg: a slide along x, or a hinge with the same inertia

# transmission of an actuator on the joint j, the row's second joint or body, and 1 if its
# force enters the gear
SLIDE = '<joint name="j" type="slide" axis="1 0 0" armature="{armature}"/>'
KINDS_OF = {
    "joint": ('joint="j"', True),
    "joint with a gear ratio": ('joint="j" gear="3"', True),
    "joint, in the parent's frame": ('jointinparent="j"', True),
    "fixed tendon": ('tendon="fixed"', True),
    "fixed tendon of two joints": ('tendon="both"', True),
    "slider-crank of this joint": ('cranksite="s" slidersite="rail" cranklength=".5"', True),
    "slider-crank of two joints": ('cranksite="s" slidersite="moving" cranklength=".5"', False),
    "site": ('site="s" gear="1 0 0 0 0 0"', False),
    "site with a reference": ('site="s" refsite="rail" gear="0 0 1 0 0 0"', False),
    "spatial tendon": ('tendon="rope"', False),
    "site, named": ('site="s" gear="1 0 0 0 0 0"', True),
    "spatial tendon, named": ('tendon="rope"', True),
    "slider-crank of two joints, named": ('cranksite="s" slidersite="moving" cranklength=".5"', True),
}
ALONE = [kind for kind in KINDS_OF if "two joints" not in kind]  # gains with a closed form for one joint


def one_joint(kind, integrator, gammas, gain="", more="", joint=SLIDE, body=""):
    transmission, _ = KINDS_OF[kind]
    named = {"motor": "tested"} if "named" in kind else {}
    gear = instance(joint="j", gamma_u=gammas[0], gamma_v=gammas[1], **named)
    return mujoco.MjModel.from_xml_string(
        f"""<mujoco>{gear}<option integrator="{integrator}" timestep="{H}" gravity="0 0 0"/><worldbody>
      <site name="rail" euler="0 90 0"/><body name="b">{joint.format(armature=ROTOR)}<geom size=".01" mass="{LINK}"/><site name="s"/>{body}</body>
      <body pos="0 1 0"><joint name="k" type="slide" axis="1 0 0"/><geom size=".01" mass="3"/><site name="moving" pos="0 -1 0" euler="0 90 0"/></body>
      </worldbody><tendon><fixed name="fixed"><joint joint="j" coef="1"/></fixed>
      <fixed name="both"><joint joint="j" coef="1"/><joint joint="k" coef=".3"/></fixed>
      <spatial name="rope"><site site="anchor"/><site site="s"/></spatial></tendon>
      <actuator><general name="tested" {transmission} {gain}/>{more}</actuator></mujoco>""".replace(
            '<site name="rail"', '<site name="anchor" pos="-9 0 0"/><site name="rail"'
        )
    )


def next_velocity(v, motor, inertia, load, brakes, gamma_u, gamma_v):
    """Velocity after a step of u = motor - inertia a, LINK a = x + load - brakes a, x = u - t, each branch of the law tried."""
    for s in (1, -1):
        for sigma in (1, -1):
            k = s * sigma * (gamma_u + gamma_v) / (1 + s * sigma * gamma_v)
            a = ((1 - k) * motor + load) / (LINK + brakes + (1 - k) * inertia)
            u = motor - inertia * a
            if s * (v + H * a) > 0 and sigma * ((gamma_u + gamma_v) * u - gamma_v * k * u) >= 0 and s * k * u >= 0:
                return v + H * a
    return 0.0


def gains_of(integrator, kp, kv):
    """Force per velocity, and per acceleration, of gains at the end of the step."""
    discrete = integrator == "discrete"
    return (H * kp if discrete else 0.0), (0.0 if integrator == "Euler" else H * kv) + (H * H * kp if discrete else 0.0)


def test_kinds():
    """Each transmission, driving and driven, with and without gains, with each integrator; and its torque by the inverse."""
    cases = itertools.product(INTEGRATORS, ((0.1, 0.3), (0.2, 0.9), (0.1, 1.3)), KINDS_OF.items())
    for integrator, gammas, (kind, (transmission, enters)) in scripts.some(cases, 7):
        gear = 3.0 if 'gear="3"' in transmission else 1.0
        for kp, kv in (
            ((0.0, 0.0), (40.0, 6.0))
            if kind in ALONE and "site" not in kind
            else ((0.0, 0.0), (0.0, 6.0))
            if kind in ALONE
            else ((0.0, 0.0),)
        ):
            m = one_joint(
                kind,
                integrator,
                gammas,
                f'gainprm="1" biastype="affine" biasprm="0 {-kp} {-kv}"',
                '<motor joint="j"/>',
            )
            d = mujoco.MjData(m)
            shift, taken = (gear * gear * x for x in gains_of(integrator, kp, kv))
            for force, other, applied in scripts.some(
                ((6, 0, -1), (1.5, 0, -6), (-4, 3, 2), (0, 8, -1), (5, -2, -4)), 2
            ):
                mujoco.mj_resetData(m, d)
                d.ctrl[:] = force / gear, other
                d.qfrc_applied[0] = applied
                mujoco.mj_forward(m, d)
                length = float(d.actuator_length[0])
                for step in range(40):
                    v, q = float(d.qvel[0]), float(d.qpos[0])
                    given = force - gear * (kp * (length + gear * q) + kv * gear * v)
                    at_end, load_at_end = (-shift * v, 0.0) if enters else (0.0, -shift * v)
                    motor, load = (other + given, applied) if enters else (other, applied + given)
                    more = (ROTOR + taken, 0.0) if enters else (ROTOR, taken)
                    expected = next_velocity(v, motor + at_end, more[0], load + load_at_end, more[1], *gammas)
                    mujoco.mj_step(m, d)
                    what = (integrator, gammas, kind, kp, kv, force, other, applied, step, expected, d.qvel[0])
                    assert abs(d.qvel[0] - expected) < 1e-9 * (1 + abs(v)) and (expected != 0 or d.qvel[0] == 0), what
                    if step % 13 == 0:
                        before = mujoco.MjData(m)
                        before.qpos[:], before.qvel[:], before.ctrl[:], before.qfrc_applied[:] = (
                            d.qpos,
                            d.qvel,
                            d.ctrl,
                            d.qfrc_applied,
                        )
                        before.qpos[0], before.qvel[0] = q, v
                        before.qpos[1], before.qvel[1] = d.qpos[1] - H * d.qvel[1], d.qvel[1] - H * d.qacc[1]
                        torque = mjgear.inverse(m, before, (np.array([expected, d.qvel[1]]) - before.qvel) / H)
                        assert torque.low[0] - 1e-6 < motor < torque.high[0] + 1e-6, (what, motor, torque)


def test_limits():
    """actuatorfrcrange limits the motor, and the load gets the rest of the range."""
    for integrator, (force, pull, motor, load) in itertools.product(
        INTEGRATORS, ((20, 5, 10, 0), (4, 20, 4, 6), (-4, 8, -4, 8), (-30, 5, -10, 0), (0, 30, 0, 10))
    ):
        joint = SLIDE.replace("/>", ' actuatorfrcrange="-10 10"/>')
        m = one_joint("joint", integrator, (0.1, 0.3), more='<motor site="s" gear="1 0 0 0 0 0"/>', joint=joint)
        d = mujoco.MjData(m)
        d.ctrl[:] = force, pull
        mujoco.mj_step(m, d)
        expected = next_velocity(0, motor, ROTOR, load, 0, 0.1, 0.3)
        assert d.qfrc_actuator[0] == motor + load and abs(d.qvel[0] - expected) < 1e-12, (
            integrator,
            force,
            pull,
            d.qvel[0],
            expected,
        )


def test_mechanics():
    """Armature and damping of an actuator are on the motor's side where it drives the gear, else on the link's."""
    for integrator, (kind, sign) in itertools.product(
        INTEGRATORS, (("fixed tendon", 1), ("spatial tendon", 1), ("spatial tendon, named", 1), ("joint", 1))
    ):
        m = one_joint(kind, integrator, (0.1, 0.3), 'armature=".7" damping="5"')
        enters, d = KINDS_OF[kind][1], mujoco.MjData(m)
        at_end = (
            0.0 if integrator == "Euler" and kind != "joint" else 5 * H
        )  # the engine has dampers of tendons at the start there
        for force in (20.0, -3.0, 0.0):
            d.ctrl[0] = force
            for _ in range(30):
                v = float(d.qvel[0])
                motor, load = (force - 5 * v, 0.0) if enters else (0.0, force - 5 * v)
                more = (ROTOR + 0.7 + at_end, 0.0) if enters else (ROTOR, 0.7 + at_end)
                expected = next_velocity(v, motor, more[0], load, more[1], 0.1, 0.3)
                mujoco.mj_step(m, d)
                assert abs(d.qvel[0] - expected) < 1e-9 * (1 + abs(v)), (integrator, kind, force, d.qvel[0], expected)


def test_gravity_compensation():
    """Weight held by actuators goes through the gear."""
    for integrator, (share, gammas) in itertools.product(
        INTEGRATORS, ((2.0, (0.1, 0.3)), (0.3, (0.1, 0.3)), (0.3, (0.1, 1.3)), (1.0, (0.1, 0.3)))
    ):
        gear = instance(joint="j", gamma_u=gammas[0], gamma_v=gammas[1])
        m = mujoco.MjModel.from_xml_string(f"""<mujoco>{gear}<option integrator="{integrator}" timestep="{H}" gravity="0 0 -10"/><worldbody>
          <site name="rail"/><body gravcomp="{share}"><joint name="j" type="slide" axis="0 0 1" armature="{ROTOR}" actuatorgravcomp="true"/>
          <geom size=".01" mass="{LINK}"/><site name="s"/></body></worldbody>
          <actuator><motor joint="j"/><motor site="s" gear="0 0 1 0 0 0"/></actuator></mujoco>""")
        for pull in (0.0, 3.0):
            d = mujoco.MjData(m)
            d.ctrl[1] = pull
            for _ in range(20):
                expected = next_velocity(float(d.qvel[0]), share * LINK * 10, ROTOR, pull - LINK * 10, 0, *gammas)
                mujoco.mj_step(m, d)
                assert abs(d.qvel[0] - expected) < 1e-9 and (expected != 0 or d.qvel[0] == 0), (
                    integrator,
                    share,
                    gammas,
                    pull,
                    d.qvel[0],
                    expected,
                )


def test_orientation():
    """An orientation servo between sites turns the link of a hinge."""
    for integrator, kp, kv in itertools.product(INTEGRATORS, (0.0, 30.0), (0.0, 2.0)):
        m = mujoco.MjModel.from_xml_string(f"""<mujoco>{instance(joint="j", gamma_u=0.1, gamma_v=0.3)}<option integrator="{integrator}" timestep="{H}" gravity="0 0 0"/>
          <worldbody><site name="rail"/><body><joint name="j" axis="1 0 0" armature="{ROTOR}"/><geom size=".01" mass="1e-12"/>
          <inertial pos="0 0 0" mass="1" diaginertia="{LINK} 2 2"/><site name="s"/></body></worldbody>
          <actuator><orientation site="s" refsite="rail" kp="{kp}" kv="{kv}"/><motor joint="j"/></actuator></mujoco>""")
        d = mujoco.MjData(m)
        d.ctrl[:] = 0.2, 0, 0, 1.5
        shift, taken = gains_of(integrator, kp, kv)
        for _ in range(60):
            v, q = float(d.qvel[0]), float(d.qpos[0])
            expected = next_velocity(v, 1.5, ROTOR, kp * (0.2 - q) - kv * v - shift * v, taken, 0.1, 0.3)
            mujoco.mj_step(m, d)
            assert abs(d.qvel[0] - expected) < 1e-9, (integrator, kp, kv, d.qvel[0], expected)


def test_adhesion():
    """A suction cup on a wall is not a motor: gear friction does not grow with its pull, and the torque behind the gear lifts it off."""
    for integrator, (eta, torque, off) in itertools.product(
        INTEGRATORS, ((0.7, 60, False), (0.7, 90, True), (0.4, 100, False), (0.4, 150, True))
    ):
        gear = instance(joint="j", eta_forward=eta, eta_backward=0.3)
        m = mujoco.MjModel.from_xml_string(f"""<mujoco>{gear}<option integrator="{integrator}" timestep="{H}" gravity="0 0 0"/><worldbody>
          <geom type="box" size=".1 1 1" pos="-.1 0 0" margin=".002" gap=".002"/>
          <body name="cup" pos=".05 0 0"><joint name="j" type="slide" axis="1 0 0" armature="{ROTOR}"/><geom type="box" size=".05 .05 .05" mass="{LINK}"
          margin=".002" gap=".002"/></body></worldbody><actuator><motor joint="j"/><adhesion body="cup" gain="50" ctrlrange="0 1"/></actuator></mujoco>""")
        d = mujoco.MjData(m)
        d.ctrl[1] = 1
        mujoco.mj_step(m, d, 300)
        rest, d.ctrl[0] = float(d.qpos[0]), torque  # eta times it against 50 N of the cup
        mujoco.mj_step(m, d, 300)
        assert (d.qpos[0] > 0.05) == off and (off or abs(d.qpos[0] - rest) < 5e-4), (integrator, eta, torque, d.qpos[0])


def test_thruster():
    """A gear that locks is held against a jet on its link as against the same wrench in xfrc_applied, and moves with its motor."""
    gaps = {}, {"backlash": "exact", "half_gap": 0.01, "stiffness": 2000, "damping": 4, "rotor_inertia": 0.05}
    for gap, integrator in scripts.some(itertools.product(gaps, INTEGRATORS), 2):
        m, ends = None, []
        for jet, wrench, torque in ((8.0, 0.0, 0.0), (0.0, 8.0, 0.0), (8.0, 0.0, 5.0), (0.0, 8.0, 5.0)):
            gear = instance(joint="j", eta_forward=0.4, eta_backward=-0.3, **gap)
            armature = "" if gap else 'armature=".05"'
            m = mujoco.MjModel.from_xml_string(f"""<mujoco>{gear}<option integrator="{integrator}" gravity="0 0 0"/><worldbody><body name="arm">
              <joint name="j" axis="0 1 0" {armature}/><geom type="capsule" fromto="0 0 0 .5 0 0" size=".02" mass="1"/><site name="tip" pos=".5 0 0"/></body></worldbody>
              <actuator><motor site="tip" gear="0 0 -1 0 0 0"/><motor joint="j"/></actuator></mujoco>""")
            d = mujoco.MjData(m)
            d.ctrl[:] = jet, torque
            for _ in range(300):
                d.xfrc_applied[1] = 0
                tip, force = d.site_xpos[0] - d.xipos[1], -wrench * d.site_xmat[0].reshape(3, 3)[:, 2]
                d.xfrc_applied[1] = np.r_[force, np.cross(tip, force)]
                mujoco.mj_step1(m, d)
                tip, force = d.site_xpos[0] - d.xipos[1], -wrench * d.site_xmat[0].reshape(3, 3)[:, 2]
                d.xfrc_applied[1] = np.r_[force, np.cross(tip, force)]
                mujoco.mj_step2(m, d)
            ends.append((d.qpos[0], d.qvel[0]))
        assert (
            np.abs(np.subtract(ends[0], ends[1])).max() < 1e-8 and np.abs(np.subtract(ends[2], ends[3])).max() < 1e-8
        ), (integrator, gap, ends)
        assert (abs(ends[0][0]) < 0.03 if gap else ends[0][0] == 0) and abs(ends[2][0]) > 0.5, (integrator, gap, ends)


def test_encoders():
    """Behind a gap servos on the joint measure the rotor, and a servo between sites or on a rope measures the link."""
    for integrator in INTEGRATORS:
        runs = {}
        for servo in (
            'joint="j"',
            'jointinparent="j"',
            'tendon="fixed"',
            'site="s" refsite="rail" gear="0 0 1 0 0 0"',
            'tendon="rope"',
        ):
            gear = instance(
                joint="j",
                gamma_u=0.1,
                gamma_v=0.3,
                backlash="exact",
                half_gap=0.02,
                stiffness=3000,
                damping=5,
                rotor_inertia=ROTOR,
            )
            m = mujoco.MjModel.from_xml_string(f"""<mujoco>{gear}<option integrator="{integrator}" timestep="{H}" gravity="0 0 0"/><worldbody>
              <site name="rail" euler="0 90 0"/><site name="anchor" pos="-9 0 0"/><body><joint name="j" type="slide" axis="1 0 0"/><geom size=".01" mass="{LINK}"/><site name="s"/></body></worldbody>
              <tendon><fixed name="fixed"><joint joint="j" coef="1"/></fixed><spatial name="rope"><site site="anchor"/><site site="s"/></spatial></tendon>
              <actuator><position {servo} kp="50" kv="2"/><motor joint="j"/></actuator></mujoco>""")
            d = mujoco.MjData(m)
            mujoco.mj_forward(m, d)
            rest = d.actuator_length[0]
            d.ctrl[:] = rest + 0.05, 3.0
            runs[servo] = np.array([mujoco.mj_step(m, d) or d.qpos[0] for _ in range(600)])
        motors, loads = list(runs.values())[:3], list(runs.values())[3:]
        assert all(np.abs(run - motors[0]).max() < 1e-12 for run in motors), integrator
        assert np.abs(loads[0] - loads[1]).max() < 1e-9 and np.abs(loads[0] - motors[0]).max() > 1e-3, integrator


def test_linearize():
    """Derivatives by controls of motors and loads equal the closed form."""
    for integrator, kind in scripts.some(itertools.product(INTEGRATORS, KINDS_OF), 5):
        m = one_joint(kind, integrator, (0.1, 0.3), more='<motor joint="j"/>')
        gear = 3.0 if 'gear="3"' in KINDS_OF[kind][0] else 1.0
        for force, applied in ((6.0, -1.0), (1.5, -6.0)):
            d = mujoco.MjData(m)
            d.ctrl[0] = force / gear
            d.qfrc_applied[0] = applied
            mujoco.mj_step(m, d, 10)
            v, enters = float(d.qvel[0]), KINDS_OF[kind][1]
            linear = mjgear.linearize(m, d)
            row = linear.states.index("velocity 0") if "velocity 0" in linear.states else 2
            ends = [
                next_velocity(v, x if enters else 0.0, ROTOR, applied + (0.0 if enters else x), 0, 0.1, 0.3)
                for x in (force, force + 1e-3)
            ]
            assert abs(linear.B[row, 0] - gear * (ends[1] - ends[0]) / 1e-3) < 1e-9, (
                integrator,
                kind,
                force,
                linear.B[row, 0],
                linear.states,
            )


# ------------------------------------------- names --------------------------------------------------------


def refuses(line, motor, actuators='<motor name="m" joint="a"/><motor name="site" site="s"/>', keys="", more=""):
    with scripts.refuses(line):
        mujoco.MjModel.from_xml_string(f"""<mujoco><extension><plugin plugin="mjgear.transmission"><instance name="g"><config key="joint" value="a"/>
          <config key="eta_forward" value=".7"/><config key="motor" value="{motor}"/></instance>{keys}</plugin>{more}</extension><worldbody>
          <site name="o"/><body><joint name="a"/><geom size=".1"/><body pos="1 0 0"><joint name="b"/><geom size=".1"/><site name="s" pos=".1 .1 0"/></body></body></worldbody>
          <tendon><spatial name="t"><site site="o"/><site site="s"/></spatial></tendon>
          <actuator>{actuators}</actuator></mujoco>""")


def test_refusals():
    refuses("key 'motor': actuator 'none_such' is not in the model; use the name of an actuator", "none_such")
    refuses(
        "key 'motor': actuator 'other' moves no joint of this instance; leave it out",
        "other",
        '<motor name="other" joint="b"/>',
    )
    refuses(
        "key 'motor': actuators 'p' and 'q' pull on one tendon; name both",
        "p",
        '<motor name="p" tendon="t"/><motor name="q" tendon="t"/>',
    )
    refuses("key 'motor': actuator 'hold' is a brake, which drives nothing; leave it out", "hold",
            '<plugin name="hold" plugin="mjgear.brake" joint="a"><config key="holding_torque" value="1"/></plugin>', more='<plugin plugin="mjgear.brake"/>')  # fmt: skip
    refuses("key 'motor': actuator 'p' is the motor of tendon 't', and its force passes one gear; leave it out", "p", '<motor name="p" tendon="t"/>',
            '<instance name="h"><config key="tendon" value="t"/><config key="eta_forward" value=".7"/></instance>')  # fmt: skip


def test_named_by_one_instance():
    """An actuator that one of two instances names is a load of the other's joints."""
    for integrator in INTEGRATORS:
        text = """<mujoco><extension><plugin plugin="mjgear.transmission">{}</plugin></extension><option integrator="{}" timestep=".001" gravity="0 0 0"/>
          <worldbody><body><joint name="a" type="slide" axis="1 0 0" armature=".5"/><geom size=".1" mass="1"/><body><joint name="b" type="slide" axis="0 1 0"
          armature=".5"/><geom size=".1" mass="1"/><site name="s"/></body></body></worldbody>
          <actuator><general name="jet" site="s" gear="2 3 0 0 0 0" biastype="affine" biasprm="0 0 -1"/></actuator></mujoco>"""
        one = '<instance name="{0}"><config key="joint" value="{0}"/><config key="gamma_u" value=".1"/><config key="gamma_v" value="1.3"/>{1}</instance>'
        name = '<config key="motor" value="jet"/>'
        for first, second in itertools.product((0, 1), repeat=2):
            m = mujoco.MjModel.from_xml_string(
                text.format(one.format("a", name * first) + one.format("b", name * second), integrator)
            )
            d = mujoco.MjData(m)
            d.ctrl[0] = 1
            mujoco.mj_step(m, d, 100)
            assert (
                (d.qvel[0] > 0) == bool(first) and (d.qvel[1] > 0) == bool(second) and (d.qvel[0] == 0) == (not first)
            ), (integrator, first, second, d.qvel)
            if first and not second:  # x = eta (2 u), u = F - (m + kv h 4) a: closed form of one joint
                v = 0.0
                taken = 0.0 if integrator == "Euler" else 4 * 1e-3
                for _ in range(100):
                    v += 1e-3 * (0.9 / 2.3) * 2 * (1 - 2 * v) / (2 + (0.9 / 2.3) * (0.5 + taken))
                assert abs(d.qvel[0] - v) < 1e-9, (integrator, d.qvel[0], v)


def test_no_motor():
    """A self-locking gear on a mimic finger, which no actuator drives: warned of by add and check, and not where it has a motor."""
    text = """<mujoco><worldbody><body name="base"><body><joint name="left" type="slide" axis="1 0 0"/><geom size=".02"/></body>
      <body><joint name="right" type="slide" axis="-1 0 0"/><geom size=".02" pos=".1 0 0"/></body></body></worldbody>
      <equality><joint joint1="right" joint2="left"/></equality><tendon><fixed name="t"><joint joint="right" coef="1"/><joint joint="left" coef="1"/></fixed></tendon>
      <actuator>{}</actuator></mujoco>"""
    for actuators, eta, expected in (
        ('<motor joint="left"/>', -0.2, ["right"]), ('<motor tendon="t"/>', -0.2, []), ('<motor joint="left"/>', 0.2, []),
        ('<motor joint="left"/><motor jointinparent="right"/>', -0.2, []),
    ):  # fmt: skip
        spec = mujoco.MjSpec.from_string(text.format(actuators))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            mjgear.add(spec, ["left", "right"], eta_forward=0.6, eta_backward=eta, armature=0.1)
        for lines in ([str(one.message) for one in caught], mjgear.check(spec).warnings):
            lines = [line for line in lines if "no actuator is its motor" in line]
            assert len(lines) == len(expected) and all(f"'{name}'" in line for name, line in zip(expected, lines)), (
                actuators,
                lines,
            )


def test_roles():
    """mjgear.check agrees with the table of doc/mjcf.md, and so does the library for a joint without a gear."""
    for kind, (transmission, enters) in KINDS_OF.items():
        m = one_joint(kind, "Euler", (0.1, 0.3), more='<motor name="other" joint="k"/>')
        report = mjgear.check(m)
        assert report.motors == {"j": ("tested",) if enters else ()} and report.loads == {
            "j": () if enters else ("tested",)
        }, (kind, report)
        assert ("motors: tested" in str(report)) == enters
        plain = mujoco.MjModel.from_xml_string("""<mujoco><worldbody><site name="o"/><body><joint name="j" type="slide" axis="1 0 0"/><geom size=".1"/><site name="s" pos=".1 0 0"/></body>
          </worldbody><tendon><spatial name="t"><site site="o"/><site site="s"/></spatial></tendon><actuator><motor joint="j"/><motor tendon="t"/><motor site="s"/></actuator></mujoco>""")
        roles = (ctypes.c_int * 3)()
        library = ctypes.CDLL(os.environ["MJGEAR_PLUGIN_PATH"])
        assert library.mjg_actuatorRoles(roles, ctypes.c_void_p(plain._address), 0) == 3 and list(roles) == [1, -1, -1]
        assert library.mjg_actuatorRoles(roles, ctypes.c_void_p(plain._address), 1) == 3 and list(roles) == [-1, 1, -1]
        assert (
            library.mjg_actuatorRoles(roles, ctypes.c_void_p(plain._address), 2) == -1
            and library.mjg_actuatorRoles(None, None, 0) == -1
        )


def test_attached():
    """Names of motors travel with a robot that is attached, replicated or renamed."""
    robot = mujoco.MjSpec.from_string("""<mujoco><worldbody><body name="base"><joint name="j" axis="0 1 0" armature=".05"/><geom size=".1" pos=".3 0 0" mass="1"/>
      <site name="tip" pos=".3 0 0"/></body></worldbody><actuator><motor name="jet" site="tip" gear="0 0 -1 0 0 0"/></actuator></mujoco>""")
    mjgear.add(robot, "j", gamma_u=0.1, gamma_v=1.3, motor="jet")
    ends = []
    world = mujoco.MjSpec.from_string(
        "<mujoco><option gravity='0 0 0'/><worldbody><frame name='f'/><frame name='g' pos='0 9 0'/></worldbody></mujoco>"
    )
    world.attach(robot.copy(), prefix="left/", frame="f")
    world.attach(robot.copy(), prefix="right/", frame="g")
    for spec, n in ((robot, 1), (world, 2)):
        spec.option.gravity = [0, 0, 0]
        m = spec.compile()
        d = mujoco.MjData(m)
        d.ctrl[:] = (1, 2)[:n]
        mujoco.mj_step(m, d, 50)
        ends.append(d.qvel[0])
        assert d.qvel[0] > 0.01 and (n == 1 or d.qvel[1] > 1.5 * d.qvel[0])
    assert ends[0] == ends[1]


# ------------------------------------------- warnings -----------------------------------------------------


def warnings_of(words, actuator="", joint="", option="", **keys):
    """Number of lines with these words about a gear on a hinge."""
    text = (
        f"<mujoco><option timestep='.001' {option}/>{instance(joint='j', **keys)}<worldbody><body><joint name='j' axis='0 1 0' {joint}/>"
        f"<geom size='.1' mass='1'/></body></worldbody><actuator>{actuator}</actuator></mujoco>"
    )
    return sum(words in line for line in mjgear.check(mujoco.MjSpec.from_string(text)).warnings)


def test_gear_that_nothing_moves():
    """A self-locking gear without a motor stays where it is, and a warning says so."""
    stranded = "the gear cannot be driven back and no actuator is its motor"
    locking, yielding = {"gamma_u": 0.1, "gamma_v": 1.1}, {"gamma_u": 0.1, "gamma_v": 0.9}
    assert warnings_of(stranded, **locking) == 1
    assert warnings_of(stranded, **yielding) == 0
    assert warnings_of(stranded, "<motor joint='j'/>", **locking) == 0
    assert warnings_of(stranded, joint="actuatorgravcomp='true'", **locking) == 0

    # a motor that is a joint has the gear, and the joint that it drives none
    pair = instance(joint="j", motor_joint="m", backlash="exact", half_gap=0.1, stiffness=100, **locking)
    links = "<body><joint name='j' axis='0 1 0'/><geom size='.1'/><body><joint name='m' axis='0 1 0'/><geom size='.1'/></body></body>"
    spec = mujoco.MjSpec.from_string(f"<mujoco>{pair}<worldbody>{links}</worldbody></mujoco>")
    assert [line.split(":")[0] for line in mjgear.check(spec).warnings if stranded in line] == [
        "mjgear.transmission, joint 'm'"
    ]


def test_gear_without_friction():
    """A gear without friction does not double the joint's own, and one with constant friction acts while its motor is off."""
    twice, idle = "has frictionloss 0.2 in addition to its gear", "does nothing while its motor is off"
    assert warnings_of(twice, joint="frictionloss='.2'", gamma_u=0, gamma_v=0) == 0
    assert warnings_of(twice, joint="frictionloss='.2'", gamma_u=0.1, gamma_v=0) == 1
    assert warnings_of(idle, gamma_u=0.1, gamma_v=0.2) == 1
    assert warnings_of(idle, gamma_u=0.1, gamma_v=0.2, coulomb=0.1) == 0
    assert warnings_of(idle, joint="armature='.1'", gamma_u=0.1, gamma_v=0.2) == 0


def test_damping_of_a_link_behind_a_gap():
    """Three times the link's inertia over a step: the engine takes it at the end of the step, or without the flag eulerdamp at its start."""
    play = {"backlash": "exact", "half_gap": 0.1, "stiffness": 100, "rotor_inertia": 0.1}
    inertia = 2 / 5 * 1 * 0.1**2  # of a ball
    damped = f"damping='{3 * inertia / 0.001}'"
    explicit = "this integrator is stable up to 2"
    assert warnings_of(explicit, joint=damped, option="integrator='Euler'", **play) == 0
    assert warnings_of(explicit, joint=damped, option="integrator='implicitfast'", **play) == 0
    starts = "integrator='Euler'><flag eulerdamp='disable'/></option><option"
    assert warnings_of(explicit, joint=damped, option=starts, **play) == 1


if __name__ == "__main__":
    scripts.run(globals())
