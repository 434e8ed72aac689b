"""Rotors behind gaps whose servos have velocity gains, in contact: forces and motion are those of the equations of rotor, shaft, link and contact,
which this file writes down itself; energy does not grow; repeated, inverted and differentiated steps agree."""

import itertools
import os
import sys

import mujoco
import numpy as np

import mjgear

sys.path.insert(0, os.path.join(os.environ["MJGEAR_SOURCE_DIR"], "tests", "plugin"))
import scripts

IMPLICIT = ("implicitfast", "implicit")
KP, KV, ROTOR = 20.0, 1.0, 2e-3
GAP = {"backlash": "exact", "half_gap": 0.004, "stiffness": 20, "damping": 0.005, "rotor_inertia": ROTOR}


def model(xml: str, **gear: float) -> mujoco.MjModel:
    spec = mujoco.MjSpec.from_string(xml)
    mjgear.add(spec, [joint.name for joint in spec.joints if joint.name], **GAP, **gear)
    return spec.compile()


def finger(integrator: str, actuator: str) -> str:
    """Two joints over a table that the finger is pressed against, without friction; a motor each."""
    motors = "".join(actuator.format(name) for name in ("a", "b"))
    return f"""<mujoco><option timestep=".002" integrator="{integrator}" tolerance="0"/><default><geom condim="1" mass=".03"/></default>
    <worldbody><geom type="plane" size="1 1 .1"/><body pos="0 0 .06"><joint name="a" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .05 0 0" size=".01"/>
    <body pos=".05 0 0"><joint name="b" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .05 0 0" size=".01"/></body></body></worldbody>
    <actuator>{motors}</actuator></mujoco>"""


SERVO = f'<position joint="{{}}" kp="{KP}" kv="{KV}"/>'
DAMPED = '<motor joint="{}" damping="1"/>'


def test_equations() -> None:
    """Each step solves
    M a + bias = T + J' f,  f = D max(0, aref - J a)                   the link and its contacts
    J_r (w+ - w)/h = motor - K_v w+ - T                                each rotor, its gains at the end of the step
    with (v+ - v)/h = a, contact terms of data without gears, and no friction."""
    for integrator, actuator in (("implicitfast", SERVO), ("implicitfast", DAMPED), ("Euler", DAMPED)):
        m = model(finger(integrator, actuator))
        plain = mujoco.MjSpec.from_string(finger(integrator, actuator)).compile()
        d, bare, h = mujoco.MjData(m), mujoco.MjData(plain), m.opt.timestep
        gears = mjgear.Gears(m, d)
        rng, pressed, M = np.random.default_rng(1), 0, np.zeros((2, 2))
        mujoco.mj_forward(m, d)
        for i in range(600):
            if i % 60 == 0:
                d.ctrl[:] = rng.uniform(-0.5, 2, 2) if actuator == SERVO else rng.uniform(-3, 6, 2)
            bare.qpos[:], bare.qvel[:], v = d.qpos, d.qvel, d.qvel.copy()
            mujoco.mj_fwdPosition(plain, bare)
            mujoco.mj_fwdVelocity(plain, bare)
            speed, motor = (
                gears.rotor_velocity.copy(),
                KP * (d.ctrl - gears.rotor_angle) if actuator == SERVO else d.ctrl,
            )
            mujoco.mj_step(m, d)
            a, T = (d.qvel - v) / h, gears.torque_out
            assert not gears.status.any() and d.nefc == bare.nefc
            mujoco.mj_fullM(plain, bare, M)
            J = bare.efc_J.reshape(bare.nefc, 2)
            f = bare.efc_D * np.maximum(0, bare.efc_aref - J @ a)
            size = abs(M @ a).max() + abs(J.T @ f).max(initial=0) + abs(T).max()
            assert np.allclose(d.efc_force, f, atol=1e-7 * (1 + abs(f).max(initial=0))), (integrator, i, d.efc_force, f)
            assert abs(M @ a + bare.qfrc_bias - T - J.T @ f).max() < 1e-9 * size, (integrator, i)
            left = ROTOR * (gears.rotor_velocity - speed) / h - (motor - KV * gears.rotor_velocity - T)
            assert abs(left).max() < 1e-9 * (abs(motor).max() + 1), (integrator, i, left)
            pressed += (f > 0).any() and (abs(T) > 0).any()
        assert pressed > 100, (integrator, actuator, pressed)


def digit(name: str, pos: str, quat: str) -> str:
    out = f'<body pos="{pos}" quat="{quat}">'
    for k, (axis, length) in enumerate((("0 1 0", 0.02), ("1 0 0", 0.05), ("1 0 0", 0.036), ("1 0 0", 0.04))):
        limits = "-.4 .4" if k == 0 else "-.3 2"
        out += f'<joint name="{name}{k}" axis="{axis}" range="{limits}" damping=".01"/><geom type="capsule" fromto="0 0 0 0 0 {length}" size=".011" mass=".03"/>'
        out += f'<body pos="0 0 {length}">' if k < 3 else ""
    return out + "</body>" * 4


def hand(integrator: str) -> mujoco.MjModel:
    """Four fingers and a box between them."""
    digits = (
        digit("a", "-.04 .045 0", "1 0 0 0")
        + digit("b", "0 .045 0", "1 0 0 0")
        + digit("c", ".04 .045 0", "1 0 0 0")
        + digit("d", "0 -.05 0", "0 0 0 1")
    )
    motors = "".join(SERVO.format(f"{name}{k}") for name in "abcd" for k in range(4))
    return model(
        f"""<mujoco><option timestep=".002" cone="elliptic" impratio="10" integrator="{integrator}"><flag energy="enable"/></option>
        <default><geom friction="1 .02 .001" condim="4"/></default><worldbody><body pos="0 0 .2"><geom type="box" size=".06 .06 .02" pos="0 0 -.02"/>{digits}</body>
        <body pos="0 0 .26"><freejoint/><geom type="box" size=".03 .03 .03" mass=".1"/></body></worldbody><actuator>{motors}</actuator></mujoco>""",
        eta_forward=0.594,
        eta_backward=0.691,
        coulomb=0.0033,
    )


def test_energy() -> None:
    """Links, rotors and springs of servos have no more energy than changed targets gave: gears, shafts and contacts are passive."""
    for integrator in IMPLICIT:
        m = hand(integrator)
        d, rng = mujoco.MjData(m), np.random.default_rng(4)
        gears = mjgear.Gears(m, d)
        mujoco.mj_forward(m, d)
        given, most, touched = d.energy.sum(), 0.0, 0
        steps = scripts.fewer(1500, 5)
        for i in range(steps):
            before = d.ctrl.copy()
            if i % 100 == 0:
                d.ctrl[:] = np.clip(rng.uniform(-0.1, 1.4) + 0.5 * rng.standard_normal(m.nu), -0.4, 2)
            given += KP / 2 * ((gears.rotor_angle - d.ctrl) ** 2 - (gears.rotor_angle - before) ** 2).sum()
            mujoco.mj_step(m, d)
            mujoco.mj_energyPos(m, d)
            mujoco.mj_energyVel(m, d)
            springs = KP / 2 * ((gears.rotor_angle - d.ctrl) ** 2).sum() + ROTOR / 2 * (gears.rotor_velocity**2).sum()
            most = max(most, d.energy.sum() + springs - given)
            touched += d.ncon > 4
            assert not gears.status.any(), (integrator, i)
            assert most < 1e-3 * given, (integrator, i, most, given)
        assert touched > steps / 3 and not d.warning.number.any(), (integrator, touched)


def test_again() -> None:
    """Forces of a step that are computed again, from a copy and in halves are the same to the bit, and the engine's own terms come back."""
    for integrator in IMPLICIT:
        m = hand(integrator)
        d, other = mujoco.MjData(m), mujoco.MjData(m)
        d.ctrl[:] = 1
        mujoco.mj_step(m, d, 60)
        mujoco.mj_forward(m, d)
        aref, qacc, force = d.efc_aref.copy(), d.qacc.copy(), d.efc_force.copy()
        mujoco.mj_copyData(other, m, d)
        for _ in range(2):
            mujoco.mj_forwardSkip(m, other, mujoco.mjtStage.mjSTAGE_VEL, 0)
            assert (
                (other.efc_aref == aref).all()
                and np.allclose(other.qacc, qacc, rtol=1e-9, atol=1e-6)
                and np.allclose(other.efc_force, force, rtol=1e-9, atol=1e-9)
            )
        mujoco.mj_step(m, d)
        mujoco.mj_step1(m, other)
        mujoco.mj_step2(m, other)
        assert np.allclose(d.qvel, other.qvel, rtol=1e-9, atol=1e-9), integrator


def test_inverse() -> None:
    """Inverse dynamics of a step in contact returns the torques that made it, from its acceleration and from the engine's."""
    for integrator, gear in scripts.some(itertools.product((*IMPLICIT, "Euler"), ({}, {"coulomb": 0.05})), 3):
        m = model(finger(integrator, SERVO if integrator in IMPLICIT else DAMPED), **gear)
        d, h, contacts = mujoco.MjData(m), m.opt.timestep, 0
        gears = mjgear.Gears(m, d)
        for i in range(200):
            d.ctrl[:] = (1.5 if i % 80 < 50 else 0.2) if integrator in IMPLICIT else (6 if i % 80 < 50 else -2)
            mujoco.mj_forward(m, d)
            before, other = gears.rotor_velocity.copy(), mujoco.MjData(m)
            mujoco.mj_copyData(other, m, d)
            torque = d.qfrc_actuator.copy()
            mujoco.mj_step(m, d)
            contacts += d.ncon > 0
            rotors = dict(zip(gears.names, (gears.rotor_velocity - before) / h, strict=True))
            for qacc in ((d.qvel - other.qvel) / h, None):
                found = mjgear.inverse(m, other, qacc, rotors=rotors)
                size = 1e-6 * (1 + abs(torque))
                assert (found.low < torque + size).all() and (torque - size < found.high).all(), (
                    integrator,
                    i,
                    qacc is None,
                    found,
                    torque,
                )
        assert contacts > 50, (integrator, contacts)


def test_derivative() -> None:
    """The exact derivative by controls in contact equals differences of steps."""
    for integrator in IMPLICIT:
        m = model(finger(integrator, SERVO))
        d = mujoco.MjData(m)
        d.ctrl[:] = 1.5
        mujoco.mj_step(m, d, 100)
        one = mjgear.linearize(m, d)
        rows = [list(one.states).index(f"velocity {name}") for name in ("a", "b")]
        assert one.exact[-2:].all() and d.ncon
        for k in range(2):
            found = []
            for change in (-1e-6, 1e-6):
                other = mujoco.MjData(m)
                mujoco.mj_copyData(other, m, d)
                other.ctrl[k] += change
                mujoco.mj_step(m, other)
                found.append(other.qvel.copy())
            difference = (found[1] - found[0]) / 2e-6
            assert np.allclose(one.B[rows, k], difference, rtol=1e-4, atol=1e-6 * abs(difference).max()), (
                integrator,
                one.B[rows, k],
                difference,
            )


def test_mechanics() -> None:
    """Cogging of a DC motor acts on its rotor alone while the teeth do not touch, as on a joint that is the rotor ("discrete" has its slope at the
    joint's position). Bristles of a motor behind a gap are refused, since the engine moves them with the joint; those of other motors act once."""
    xml = """<mujoco><option gravity="0 0 0" integrator="{}"/><worldbody><body><joint name="a" axis="0 0 1"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 {}"/></body>
    <body><joint name="b" axis="0 0 1"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 .001"/></body></worldbody>
    <actuator><dcmotor name="m" joint="a" motorconst=".05" resistance="2" damping=".001" cogging=".004 6 .3"{}/>
    <dcmotor joint="b" motorconst=".05" resistance="2" cogging=".004 6 .3" lugre="1e4 .1 .005 .008 .1"/></actuator></mujoco>"""
    for integrator in (*IMPLICIT, "Euler", "discrete"):
        spec = mujoco.MjSpec.from_string(xml.format(integrator, 0.01, ""))
        mjgear.add(spec, "a", **GAP | {"half_gap": 3, "rotor_inertia": 1e-3})
        m, plain = spec.compile(), mujoco.MjModel.from_xml_string(xml.format(integrator, 1e-3, ""))
        d, rotor = mujoco.MjData(m), mujoco.MjData(plain)
        gears, farthest = mjgear.Gears(m, d), 0.0
        for i in range(300):
            d.ctrl[:] = rotor.ctrl[:] = 1.0 if i % 100 < 50 else -1.0
            mujoco.mj_step(m, d)
            mujoco.mj_step(plain, rotor)
            assert gears["a"].status == 0 and abs(d.qpos[0]) < 1e-15, (integrator, i, d.qpos)
            assert abs(gears.rotor_angle[0] - rotor.qpos[0]) < (5e-3 if integrator == "discrete" else 1e-9), (
                integrator,
                i,
                gears.rotor_angle,
                rotor.qpos,
            )
            assert abs(d.qpos[1] - rotor.qpos[1]) < 1e-12, (integrator, i, d.qpos, rotor.qpos)
            farthest = max(farthest, abs(rotor.qpos[0]))
        assert 0.01 < farthest < 2.5, (integrator, farthest)
    spec = mujoco.MjSpec.from_string(xml.format("Euler", 0.01, ' lugre="1e4 .1 .005 .008 .1"'))
    mjgear.add(spec, "a", **GAP)
    (problem,) = mjgear.check(spec).problems
    assert "actuator 'm' has LuGre friction" in problem and "leave lugre out" in problem, problem
    spec = mujoco.MjSpec.from_string(xml.format("Euler", 0.01, ' lugre="1e4 .1 .005 .008 .1"'))
    mjgear.add(spec, "a", eta_forward=0.7)  # no gap: the rotor is the joint
    assert not mjgear.check(spec).problems


def test_slide_and_hinge() -> None:
    """A servo's rotor on a body whose inertia matrix is diagonal, which implicit takes as a dense block: each step is solved, and the hinge moves as
    on a body of its own."""
    slide = '<joint name="s" type="slide" axis="1 0 0"/>'
    xml = """<mujoco><option integrator="{}"/><worldbody><body>{}<joint name="a" axis="0 0 1"/><geom size=".1"/></body></worldbody>
    <actuator><velocity joint="a" kv="1"/></actuator></mujoco>"""
    for integrator in IMPLICIT:
        angles = []
        for more in ("", slide):
            spec = mujoco.MjSpec.from_string(xml.format(integrator, more))
            mjgear.add(spec, "a", **GAP, gamma_u=0.1, gamma_v=0.25)
            m = spec.compile()
            d = mujoco.MjData(m)
            d.ctrl[0] = 3
            mujoco.mj_step(m, d, 100)
            assert mjgear.Gears(m, d).counts.unsolved == 0, (integrator, more)
            angles.append(d.qpos[-1])
        assert angles[0] > 0.1 and abs(angles[1] - angles[0]) < 1e-12, (integrator, angles)


def test_light_rotors() -> None:
    """Where check warns, a rotor or a link whose teeth do not touch diverges, and below the bound that the warning names it does not. The remedy
    of the warning loads without it."""
    xml = """<mujoco><option gravity="0 0 0" integrator="{}" timestep=".002"><flag eulerdamp="disable"/></option><worldbody><body>
    <joint name="a" axis="0 0 1" damping="{damping}" stiffness="{stiffness}"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 .01"/></body></worldbody>
    <actuator><general joint="a" gear="2" gainprm="1" biastype="affine" biasprm="0 {kp} {kv}"/></actuator></mujoco>"""
    h, rotor, link = 0.002, 1e-3, 0.01
    bounds = {
        "kv": -2 * rotor / h / 4,
        "kp": -4 * rotor / h**2 / 4,
        "damping": 2 * link / h,
        "stiffness": 4 * link / h**2,
    }
    words = {"kv": "h kv", "kp": "h^2 kp", "damping": "damping", "stiffness": "stiffness"}
    for (what, bound), share, integrator in scripts.some(
        itertools.product(bounds.items(), (0.9, 1.1), ("Euler", *IMPLICIT)), 5
    ):
        explicit = integrator == "Euler" or what in ("kp", "stiffness")
        spec = mujoco.MjSpec.from_string(xml.format(integrator, **{**dict.fromkeys(bounds, 0), what: share * bound}))
        mjgear.add(
            spec, "a", **GAP | {"half_gap": 3, "rotor_inertia": rotor, "coulomb": 1e-12, "gamma_u": 0, "gamma_v": 0}
        )
        told = [line for line in mjgear.check(spec).warnings if "teeth" in line]
        assert len(told) == (explicit and share > 1), (what, share, integrator, told)
        assert all(words[what] in line for line in told), told
        m = spec.compile()
        d = mujoco.MjData(m)
        gears = mjgear.Gears(m, d)
        d.qvel[0], d.ctrl[0] = (1e-3, 0) if what in ("damping", "stiffness") else (0, 1e-3)
        speed = []
        for _ in range(60):
            mujoco.mj_step(m, d)
            d.ctrl[0] = 0
            speed.append(max(abs(d.qvel[0]), abs(gears.rotor_velocity[0])))
        assert (max(speed) > 1000 * speed[0]) == bool(told), (what, share, integrator, speed[::10])
        if told:
            spec.option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
            assert 'integrator="discrete"' in told[0]
            assert not [line for line in mjgear.check(spec).warnings if "teeth" in line]


def test_damped_links() -> None:
    """Where check warns, a joint limit pushes a link back ten times slower than its time constant says: a closed form of one step. Not with "discrete"."""
    xml = """<mujoco><option gravity="0 0 0" integrator="{}" timestep=".002"/><worldbody><body>
    <joint name="a" axis="0 0 1" damping="{}" range="-1 0" limited="true" solreflimit=".02 1" solimplimit=".9999 .9999 .001"/>
    <inertial pos="0 0 0" mass="1" diaginertia="1 1 .01"/></body></worldbody><actuator><motor joint="a"/></actuator></mujoco>"""
    h, link, deep = 0.002, 0.01, 1e-6
    for share, integrator in itertools.product((9, 11), ("Euler", *IMPLICIT, "discrete")):
        spec = mujoco.MjSpec.from_string(xml.format(integrator, share * link / h))
        mjgear.add(spec, "a", **GAP | {"half_gap": 3, "coulomb": 1e-12})
        told = [line for line in mjgear.check(spec).warnings if "does not know it" in line]
        assert len(told) == (integrator != "discrete" and share > 10), (share, integrator, told)
        m = spec.compile()
        d = mujoco.MjData(m)
        d.qpos[0] = deep
        mujoco.mj_step(m, d)
        slower = (
            (1 + h / 0.02) ** 2 if integrator == "discrete" else 1 + share
        )  # which takes spring and damper at the end
        assert abs(-d.qvel[0] * slower / (h * deep / 0.9999 / 0.02**2) - 1) < 0.02, (share, integrator, d.qvel)


def test_teeth_part_from_a_gear_that_locks() -> None:
    """A self-locking rotor whose teeth part at the end of a step: the shaft torque is within the jump of its law there, as torque balance of rotor and
    link demands. Each step is solved, rotor and link keep their momentum, and friction is on its bound for the torque into the gear."""
    h, rotor, length, mass = 0.001, 0.02, 0.3, 1.0
    xml = """<mujoco><option integrator="Euler" timestep=".001"/><worldbody><body><joint name="j" axis="0 1 0"/>
    <inertial pos=".15 0 0" mass="1" diaginertia=".01 .01 .01"/></body></worldbody><actuator><motor joint="j"/></actuator></mujoco>"""
    spec = mujoco.MjSpec.from_string(xml)
    gap = {"backlash": "exact", "half_gap": 0.02, "stiffness": 2000, "damping": 0.2, "rotor_inertia": rotor}
    mjgear.add(spec, "j", gamma_u=-0.13, gamma_v=1.26, coulomb=0.1, **gap)
    m = spec.compile()
    d = mujoco.MjData(m)
    gear, inertia = mjgear.Gears(m, d)["j"], 0.01 + mass * (length / 2) ** 2
    for seed in (60, 61):  # the teeth part so in step 66 of the first
        rng = np.random.default_rng(seed)
        mujoco.mj_resetData(m, d)
        w = 0.0
        for k in range(100):
            if k % 30 == 0:
                d.ctrl[:] = 3 * rng.normal()
            v, weight = d.qvel[0], mass * 9.81 * length / 2 * np.cos(d.qpos[0])
            mujoco.mj_step(m, d)
            link, into = (d.qvel[0] - v) / h * inertia - weight, d.ctrl[0] - rotor * (gear.rotor_velocity - w) / h
            w = float(gear.rotor_velocity)
            assert gear.status == 0, (seed, k, gear.status)
            assert abs(into - gear.friction - link) < 1e-9, (seed, k, into, gear.friction, link)
            bound = abs(-0.13 * into + 1.26 * link) + 0.1
            on = abs(gear.friction) <= bound if w == 0 else abs(gear.friction - np.sign(w) * bound)
            assert on if w == 0 else on < 1e-6 * bound, (seed, k, w, gear.friction, bound)


def test_two_joints() -> None:
    """A motor joint and its load that start apart, farther than the gap: the shaft starts at its stop, twisted by what is left; angle and
    velocity of the rotor are the motor joint's. A servo that measures the joint acts on the rotor with the joint's angle and velocity."""
    body = '<body><joint name="{}" axis="0 0 1"/><inertial pos="0 0 0" mass="1" diaginertia=".1 .1 .1"/></body>'
    xml = f"""<mujoco><option timestep="1e-5" gravity="0 0 0" integrator="{{}}"/><worldbody>{body.format("motor")}{body.format("link")}</worldbody>
    <actuator><motor joint="motor"/></actuator></mujoco>"""
    stiffness, half_gap = 100, 0.01
    for integrator, apart in scripts.some(itertools.product((*IMPLICIT, "Euler", "discrete"), (0.05, -0.03)), 3):
        spec = mujoco.MjSpec.from_string(xml.format(integrator))
        mjgear.add(
            spec,
            "link",
            backlash="exact",
            half_gap=half_gap,
            stiffness=stiffness,
            damping=0.01,
            motor_joint="motor",
            eta_forward=0.9,
        )
        m = spec.compile()
        d = mujoco.MjData(m)
        d.qpos[m.joint("motor").qposadr[0]], d.qvel[:] = apart, (2, -1)
        gear = mjgear.Gears(m, d)["link"]
        mujoco.mj_step(m, d)
        expected = stiffness * (apart - np.sign(apart) * half_gap)
        assert abs(gear.torque_out - expected) < 0.02 * abs(expected) + 0.05, (integrator, gear.torque_out, expected)
        mujoco.mj_forward(m, d)
        assert gear.rotor_velocity == d.joint("motor").qvel[0] and gear.rotor_angle == d.joint("motor").qpos[0]
    servo = f'<mujoco><option timestep="1e-4" gravity="0 0 0" integrator="{{}}"/><worldbody>{body.format("link")}</worldbody><actuator>{{}}</actuator></mujoco>'
    for integrator in (*IMPLICIT, "Euler", "discrete"):
        spec = mujoco.MjSpec.from_string(servo.format(integrator, '<position joint="link" kp="30" kv="2"/>'))
        mjgear.add(spec, "link", encoder="joint", **GAP | {"half_gap": 0.5, "rotor_inertia": 0.01})
        m = spec.compile()
        d = mujoco.MjData(m)
        d.qpos[0], d.qvel[0], d.ctrl[0] = 0.1, 0.4, 0.3
        gear, steps = mjgear.Gears(m, d)["link"], 20
        speed = (
            0.4 + steps * m.opt.timestep * (30 * (0.3 - 0.1) - 2 * 0.4) / 0.01
        )  # the link moves on, and does not accelerate
        mujoco.mj_step(m, d, steps)
        assert d.qvel[0] == 0.4 and abs(gear.rotor_velocity - speed) < 0.01 * speed, (
            integrator,
            d.qvel,
            gear.rotor_velocity,
            speed,
        )


def test_servo_of_a_rope_measures_the_rope() -> None:
    """A servo on a rope that pulls the link is a load: its length has no part of the rotor, which the joint's motor has turned away."""
    xml = """<mujoco><option timestep=".001" gravity="0 0 0" integrator="{}"/><worldbody><site name="post" pos="0 1 0"/><body><joint name="link" axis="0 0 1"/>
    <inertial pos="0 0 0" mass="1" diaginertia=".1 .1 .1"/><site name="tip" pos=".5 0 0"/></body></worldbody><tendon><spatial name="rope"><site site="post"/><site site="tip"/></spatial></tendon>
    <actuator><motor joint="link"/><position name="servo" tendon="rope" kp="3" kv=".2"/></actuator></mujoco>"""
    for integrator in (*IMPLICIT, "Euler", "discrete"):
        m = model(xml.format(integrator))
        d = mujoco.MjData(m)
        gear, apart = mjgear.Gears(m, d)["link"], 0.0
        for k in range(200):
            d.ctrl[:] = 0.05 * np.sin(0.1 * k), 1
            before = 3 * (1 - d.ten_length[0]) - 0.2 * d.ten_velocity[0]
            mujoco.mj_step(m, d)
            apart = max(apart, abs(gear.rotor_angle - d.qpos[0]))
            assert k == 0 or abs(d.actuator_force[1] - before) < 1e-9, (integrator, k, d.actuator_force, before)
            mujoco.mj_forward(m, d)
        assert apart > 0.003, apart


def test_damped_motor() -> None:
    """A rotor that turns alone in its gap, with its actuator's own damping: implicit where the encoder is on the rotor, explicit on the joint."""
    h, rotor, damping, torque = 0.001, 0.5, 3.0, 5.0
    for integrator, encoder in itertools.product((*IMPLICIT, "Euler", "discrete"), ("motor", "joint")):
        spec = mujoco.MjSpec.from_string(
            f"""<mujoco><option integrator="{integrator}" timestep="{h}" gravity="0 0 0"/><worldbody><body><joint name="a" type="slide"/>
            <geom size=".1" mass="1"/></body></worldbody><actuator><motor joint="a" damping="{damping}"/></actuator></mujoco>"""
        )
        gap = {"backlash": "exact", "half_gap": 0.1, "stiffness": 500, "damping": 1, "rotor_inertia": rotor}
        mjgear.add(spec, "a", eta_forward=1, eta_backward=1, encoder=encoder, **gap)
        m = spec.compile()
        d = mujoco.MjData(m)
        gear, w, v = mjgear.Gears(m, d)["a"], 2.0, 2.0
        d.qvel[0], d.ctrl[0] = v, torque
        for _ in range(10):
            mujoco.mj_step(m, d)
            explicit = w + h * (torque - damping * v) / rotor
            w = explicit if encoder == "joint" else (rotor * w + h * torque) / (rotor + h * damping)
            assert abs(gear.rotor_velocity - w) < 1e-14 and d.qvel[0] == v, (integrator, encoder)


def test_one_servo_of_two_rotors() -> None:
    """A servo on a tendon turns two rotors in their gaps while a contact holds the links: each rotor takes the row sum of its gains implicitly."""
    h, rotor, kp, kv, coefficients = 0.001, 0.01, 40.0, 2.0, np.array([1, 0.7])
    xml = """<mujoco><option integrator="{}" timestep=".001" tolerance="0"/><default><geom condim="1" mass=".2"/></default><worldbody><geom type="plane" size="2 2 .1"/>
    <body pos="0 0 .02"><joint name="a" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .2 0 0" size=".02"/><body pos=".2 0 0"><joint name="b" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 .2 0 0" size=".02"/></body></body></worldbody><tendon><fixed name="t"><joint joint="a" coef="1"/><joint joint="b" coef=".7"/></fixed></tendon>
    <actuator><position tendon="t" kp="40" kv="2"/></actuator></mujoco>"""
    for integrator in IMPLICIT:
        spec = mujoco.MjSpec.from_string(xml.format(integrator))
        gap = {"backlash": "exact", "half_gap": 1, "stiffness": 100, "damping": 0.2, "rotor_inertia": rotor}
        mjgear.add(spec, ["a", "b"], eta_forward=1, eta_backward=1, **gap)
        m = spec.compile()
        d = mujoco.MjData(m)
        gears, contacts = mjgear.Gears(m, d), 0
        angle, speed = np.zeros(2), np.zeros(2)
        for k in range(60):
            d.ctrl[0] = 0.4 * np.sin(0.2 * k)
            force = kp * (d.ctrl[0] - coefficients @ angle) - kv * coefficients @ speed
            inertia = rotor + h * kv * np.outer(coefficients, coefficients).sum(1)
            speed = speed + h * force * coefficients / inertia
            angle = angle + h * speed
            mujoco.mj_step(m, d)
            contacts += d.ncon > 0
            assert np.abs(gears.rotor_velocity - speed).max() < 1e-9, (integrator, k, gears.rotor_velocity, speed)
        assert contacts == 60 and np.abs(speed).max() > 0.1 and gears.counts.unsolved == 0


if __name__ == "__main__":
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print(name)
    os._exit(0)
