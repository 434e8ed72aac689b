"""Gears on tendons: differential and coupled drives, one motor for a finger, capstans on spatial tendons.

A tendon that is a single joint is that joint, bit for bit. For all others the reference is the law, evaluated with the engine's results:
j from its Jacobian before the step, w = j'v and w+ = j'v+ from its velocities, the torque into the gear from its actuator forces and w+,
and friction from its passive forces, less dampers and springs in closed form. No result of the plugin enters."""

import itertools
import os
import sys

import mujoco
import numpy as np

ROOT = os.environ["MJGEAR_SOURCE_DIR"]
sys.path.insert(0, os.path.join(ROOT, "tests", "plugin"))
import scripts

LONG, USUAL, SHORT = scripts.fewer(10000), scripts.fewer(400, 4), scripts.fewer(300, 4)  # steps
INTEGRATORS = ("Euler", "implicit", "implicitfast", "discrete")
STATUS, SIZE = 11, 14


def gears(tendons, joints="", **keys):
    text = "".join(f'<config key="{k}" value="{v}"/>' for k, v in keys.items())
    text += f'<config key="tendon" value="{tendons}"/>' + (f'<config key="joint" value="{joints}"/>' if joints else "")
    return f'<extension><plugin plugin="mjgear.transmission"><instance name="g">{text}</instance></plugin></extension>'


def sensors(tendons, joints=()):
    one = '<plugin name="s_{0}" plugin="mjgear.transmission" instance="g" objtype="{1}" objname="{0}"/>'
    return (
        "<sensor>"
        + "".join(one.format(t, "tendon") for t in tendons)
        + "".join(one.format(j, "joint") for j in joints)
        + "</sensor>"
    )


# ------------------------------------------- reference ------------------------------------------------


def rows(m, d):
    """Jacobian of tendons, dense."""
    J = np.zeros((m.ntendon, m.nv))
    values = d.ten_J.ravel()
    for t in range(m.ntendon):
        adr, n = m.ten_J_rowadr[t], m.ten_J_rownnz[t]
        J[t, m.ten_J_colind[adr : adr + n]] = values[adr : adr + n]
    return J


class Reference:
    """The law of tendons with gears, and of joints with gears, from the engine's results of a step."""

    def __init__(self, m, tendons, joints=(), gamma_u=0.1, gamma_v=0.3, coulomb=0.0):
        self.m = m
        self.tendons = [m.tendon(t).id for t in tendons]
        self.dofs = [int(m.joint(j).dofadr[0]) for j in joints]
        n = len(self.tendons) + len(self.dofs)
        self.gamma_u, self.gamma_v, self.coulomb = (np.broadcast_to(x, n) for x in (gamma_u, gamma_v, coulomb))
        self.worst, self.stuck, self.slipping, self.most_stuck, self.against = 0.0, 0, 0, 0.0, 0.0

        # data of the model, copied once: each call of the engine costs a microsecond
        self.armature = np.concatenate([m.tendon_armature[self.tendons], m.dof_armature[self.dofs]])
        springs = np.flatnonzero(m.jnt_type >= 2)
        self.spring = (
            m.jnt_dofadr[springs],
            m.jnt_qposadr[springs],
            m.jnt_stiffness[springs].copy(),
            m.qpos_spring[m.jnt_qposadr[springs]],
        )
        self.damping, self.tendon_damping, self.tendon_stiffness = (
            m.dof_damping.copy(),
            m.tendon_damping.copy(),
            m.tendon_stiffness.copy(),
        )
        self.rest = m.tendon_lengthspring.T.copy()
        self.yields = bool(m.tendon_springyield.any())
        self.actuators = []
        for k in range(m.nu):
            tendon, affine = m.actuator_trntype[k] == mujoco.mjtTrn.mjTRN_TENDON, m.actuator_biastype[k] == 1
            target = int(m.actuator_trnid[k, 0])
            self.actuators.append(
                (
                    tendon,
                    target,
                    None if tendon else np.eye(m.nv)[m.jnt_dofadr[target]],
                    float(m.actuator_gear[k, 0]),
                    float(m.actuator_damping[k]),
                    float(m.actuator_armature[k]),
                    -m.actuator_biasprm[k, 1] if affine else 0,
                    -m.actuator_biasprm[k, 2] if affine else 0,
                    m.actuator_forcerange[k].tolist() if m.actuator_forcelimited[k] else None,
                )
            )
        self.turns = not (m.wrap_type[m.tendon_adr[self.tendons]] == mujoco.mjtWrap.mjWRAP_JOINT).all()
        self.other = mujoco.MjData(m) if self.turns else None
        self.unit = np.eye(m.nv)[self.dofs]

    def rows(self, d):
        return np.vstack([rows(self.m, d)[self.tendons], self.unit])

    def step(self, d):
        """One step of the engine, checked."""
        m, h = self.m, self.m.opt.timestep
        v, q = d.qvel.copy(), d.qpos.copy()
        turn = self.turn(q, v)
        mujoco.mj_step(m, d)
        E = self.rows(d)  # still that before the step
        w, w_next = E @ v, E @ d.qvel
        a = (w_next - w) / h

        # friction: passive forces less springs and dampers; it must lie along the gears
        J = rows(m, d)
        passive = -self.damping * v
        passive -= J.T @ (self.tendon_damping * (J @ v))
        if self.yields:
            passive += d.qfrc_spring  # springs that have flowed are known to the engine only
        else:
            dofs, places, stiffness, rest = self.spring
            passive[dofs] -= stiffness * (q[places] - rest)
            passive -= J.T @ (self.tendon_stiffness * (d.ten_length - np.clip(d.ten_length, *self.rest)))
        for tendon, target, row, gear, damping, *_ in self.actuators:
            if damping:
                row = J[target] if tendon else row
                passive -= row * gear**2 * damping * (row @ v)
        force = passive - d.qfrc_passive
        t = np.linalg.lstsq(E.T, force, rcond=None)[0]
        beside = np.abs(E.T @ t - force).max()

        # torque into the gear: actuators whose transmission it is, as the integrator applies them
        u = np.zeros(len(E))
        discrete, implicit = m.opt.integrator == 4, m.opt.integrator != 0
        forces, v_next = d.actuator_force.copy(), d.qvel.copy()
        for force_told, (tendon, target, row, gear, damping, armature, kp, kv, limit) in zip(forces, self.actuators):
            row = gear * (J[target] if tendon else row)
            if limit and not limit[0] < force_told < limit[1]:
                kp = kv = 0
            speed, gain = row @ v, row @ (v_next - v) / h
            torque = (
                force_told
                - (h * kv * gain if implicit else 0)
                - (h * kp * speed + h * h * kp * gain if discrete else 0)
            )
            torque -= armature * gain + damping * (row @ (v_next if implicit or not tendon else v))
            if tendon and target in self.tendons:
                u[self.tendons.index(target)] += gear * torque
            else:
                u[len(self.tendons) :] += row[self.dofs] * torque
        u -= self.armature * (a + turn)

        # the law
        lam = (self.gamma_u + self.gamma_v) * u - self.gamma_v * t
        bound = np.abs(lam) + self.coulomb
        noise = 1e-9 * (np.abs(w) + np.abs(E) @ (np.abs(v) + np.abs(v_next)) + h * np.abs(E) @ np.abs(d.qacc)) + 1e-12
        scale = (
            np.abs(t)
            + bound
            + np.abs(force).max()
            + np.abs(d.qfrc_constraint).max()
            + np.abs(d.qfrc_actuator).max()
            + 1
        )
        error = np.where(np.abs(w_next) <= noise, np.maximum(np.abs(t) - bound, 0), np.abs(t - np.sign(w_next) * bound))
        error = np.where(np.abs(w_next) <= 1e3 * noise, np.minimum(error, np.maximum(np.abs(t) - bound, 0)), error)
        still = np.abs(w_next) <= noise
        self.stuck += still.sum()
        self.slipping += (~still).sum()
        self.most_stuck = max(self.most_stuck, np.abs(w_next[still]).max(initial=0))
        self.against = min(self.against, (t * w_next / scale)[~still].min(initial=0))
        self.worst = max(self.worst, (error / scale).max(), beside / scale.max())

    def turn(self, q, v):
        """(dj/dt)' v, by central differences of the Jacobian."""
        m = self.m
        if not self.turns:
            return 0
        other, eps, J = self.other, 1e-5, []
        for sign in (1, -1):
            other.qpos[:] = q
            mujoco.mj_integratePos(m, other.qpos, v, sign * eps)
            mujoco.mj_kinematics(m, other)
            mujoco.mj_comPos(m, other)
            mujoco.mj_tendon(m, other)
            J.append(self.rows(other))
        return (J[0] - J[1]) @ v / (2 * eps)


def compile_model(text):
    return mujoco.MjModel.from_xml_string(text)


def play(m, reference, steps, drive, every=50):
    """Steps with new controls from time to time."""
    d = mujoco.MjData(m)
    contacts = bad = 0
    for k in range(steps):
        if k % every == 0:
            drive(d)
        reference.step(d)
        contacts += d.ncon > 0
        bad += not np.isin(d.sensordata[STATUS::SIZE], (0, 1)).all()
        assert np.abs(d.qvel).max() < 1e3, (k, d.qvel)
    return d, contacts, bad


# ------------------------------------------- a joint by another name ---------------------------------------


def convert(spec):
    """Gears, rotors, motors and sensors of joints on tendons that are these joints."""
    names = {}
    for plugin in spec.plugins:
        config = dict(plugin.config)
        if "joint" not in config or "backlash" in config:
            return False
        names |= {joint: "t_" + joint for joint in config["joint"].split()}
        config["tendon"] = " ".join("t_" + joint for joint in config.pop("joint").split())
        plugin.config = config
    for name, tendon in names.items():
        joint, new = spec.joint(name), spec.add_tendon(name=tendon)
        new.wrap_joint(name, 1.0)
        new.armature, joint.armature = joint.armature, 0
    for actuator in spec.actuators:
        if actuator.trntype == mujoco.mjtTrn.mjTRN_JOINT and actuator.target in names:
            actuator.trntype, actuator.target = mujoco.mjtTrn.mjTRN_TENDON, names[actuator.target]
    for sensor in spec.sensors:
        if sensor.type == mujoco.mjtSensor.mjSENS_PLUGIN and sensor.objname in names:
            sensor.objtype, sensor.objname = mujoco.mjtObj.mjOBJ_TENDON, names[sensor.objname]
    return True


def test_single_joint():
    """Robots of models/, whose joints become tendons: the same motion, the same sensors, to the last bit."""
    for name, integrator in scripts.some(
        itertools.product(("cobot", "hand", "gripper", "quadruped", "rover"), INTEGRATORS), 3
    ):
        file = os.path.join(ROOT, "models", name, name + ".xml")
        pair = [mujoco.MjSpec.from_file(file) for _ in range(2)]
        for spec in pair:
            spec.option.integrator = getattr(mujoco.mjtIntegrator, "mjINT_" + integrator.upper())
        assert convert(pair[1]), name
        a, b = (spec.compile() for spec in pair)
        da, db = mujoco.MjData(a), mujoco.MjData(b)
        if a.nkey:
            mujoco.mj_resetDataKeyframe(a, da, 0)
            mujoco.mj_resetDataKeyframe(b, db, 0)
        rng, touched = np.random.default_rng(0), 0
        for k in range(300):
            if k % 50 == 0:
                low, high = np.where(a.actuator_ctrllimited[:, None], a.actuator_ctrlrange, [-5, 5]).T
                da.ctrl[:] = db.ctrl[:] = rng.uniform(low, high)
            mujoco.mj_step(a, da)
            mujoco.mj_step(b, db)
            touched += da.nefc > 0
            assert (da.qpos == db.qpos).all() and (da.qvel == db.qvel).all(), (name, integrator, k)
            assert (da.sensordata == db.sensordata).all(), (name, integrator, k)
        print(f"  {name} {integrator}: 300 steps equal, {touched} with constraints")


SCALED = """<mujoco><compiler angle="radian"/><option timestep="0.002" integrator="{integrator}" gravity="0 0 -3"/>{gears}
  <worldbody><body><joint name="a" axis="0 1 0" limited="true" range="-.8 .8" armature="{armature}"/>
  <geom size=".05" pos=".4 0 0" mass="2"/></body></worldbody>
  <tendon><fixed name="t" armature="{tendon_armature}"><joint joint="a" coef="{c}"/></fixed></tendon>
  <actuator><position {target} kp="{kp}" kv="{kv}" gear="{gear}" forcerange="-{most} {most}"/></actuator></mujoco>"""


def test_scaled_joint():
    """A tendon of length c q: the gear of the joint, with rotor, gains and constant friction as they act there."""
    worst = 0
    for integrator in INTEGRATORS:
        for c in (-2.5, 0.3):
            keys = {"gamma_u": 0.2, "gamma_v": 0.7}
            kp, kv = 300.0, 12.0
            common = dict(integrator=integrator, c=c)
            joint = SCALED.format(
                gears=gears("", "a", coulomb=0.4 * abs(c), **keys).replace('<config key="tendon" value=""/>', ""),
                armature=0.3 * c * c,
                tendon_armature=0,
                target='joint="a"',
                gear=1,
                kp=kp * c * c,
                kv=kv * c * c,
                most=20 * abs(c),
                **common,
            )
            tendon = SCALED.format(
                gears=gears("t", coulomb=0.4, **keys),
                armature=0,
                tendon_armature=0.3,
                target='tendon="t"',
                gear=1,
                kp=kp,
                kv=kv,
                most=20,
                **common,
            )
            ma, mb = compile_model(joint), compile_model(tendon)
            da, db = mujoco.MjData(ma), mujoco.MjData(mb)
            rng = np.random.default_rng(1)
            for k in range(1000):
                if k % 50 == 0:
                    q = rng.uniform(-1.2, 1.2)
                    da.ctrl[0], db.ctrl[0] = q, c * q
                mujoco.mj_step(ma, da)
                mujoco.mj_step(mb, db)
                worst = max(worst, abs(da.qvel[0] - db.qvel[0]) / (1 + abs(da.qvel[0])))
    print(f"  scaled: {worst:.2g}")
    assert worst < 1e-9


# ------------------------------------------- drives ------------------------------------------------------

# two motors on two joints as in the wrist of the WAM arm: lengths are pitch + roll and pitch - roll
WRIST = """<mujoco><compiler angle="radian"/><option timestep="0.002" integrator="{integrator}" cone="elliptic"/>{gears}
  <worldbody><geom type="plane" size="2 2 .1" pos="0 0 -.25"/>
  <body><joint name="pitch" axis="0 1 0" damping=".05" limited="true" range="-1.2 1.2"/><geom type="capsule" fromto="0 0 0 .2 0 0" size=".03" mass="1"/>
  <body pos=".2 0 0"><joint name="roll" axis="1 0 0" stiffness=".2"/><geom type="box" size=".05 .12 .02" pos=".05 .04 0" mass=".6"/></body></body>
  <body pos=".2 .1 .4"><freejoint/><geom type="box" size=".06 .06 .06" mass=".4"/></body></worldbody>
  <tendon><fixed name="left" armature=".02"><joint joint="pitch" coef="1"/><joint joint="roll" coef="0.8"/></fixed>
  <fixed name="right" armature=".02"><joint joint="pitch" coef="1"/><joint joint="roll" coef="-0.8"/></fixed></tendon>
  <actuator>{actuators}</actuator>{sensors}</mujoco>"""
MOTORS = '<motor tendon="left" gear="2"/><motor tendon="right" gear="2"/>'
SERVOS = '<position tendon="left" kp="40" kv="2" forcerange="-6 6"/><position tendon="right" kp="40" kv="1.5" gear="1.5" forcerange="-6 6"/>'
DAMPED = '<motor tendon="left" armature=".01" damping=".3"/><velocity tendon="right" kv="3" gear="-2" armature=".02"/>'


class Tally:
    """Findings of several runs, in one line."""

    def __init__(self):
        self.worst, self.most_stuck, self.stuck, self.slipping, self.contacts, self.steps = 0, 0, 0, 0, 0, 0

    def add(self, name, reference, contacts, bad, steps):
        assert reference.worst <= 1e-8, (name, reference.worst)
        assert reference.against >= -1e-10, (name, reference.against)
        assert bad == 0, (name, bad)
        assert reference.slipping > steps // 10, name
        self.worst, self.most_stuck = max(self.worst, reference.worst), max(self.most_stuck, reference.most_stuck)
        self.stuck, self.slipping = self.stuck + reference.stuck, self.slipping + reference.slipping
        self.contacts, self.steps = self.contacts + contacts, self.steps + steps

    def end(self, name):
        print(
            f"  {name}: law {self.worst:.2g}; {self.slipping} slipping, {self.stuck} stuck with |w| at most {self.most_stuck:.2g}; "
            f"{self.contacts} of {self.steps} steps in contact"
        )
        assert self.contacts > self.steps // 20 and self.stuck > 10, name


def test_differential():
    for integrator in INTEGRATORS:
        tally = Tally()
        for gamma_v, coulomb, drives in ((0.3, 0.0, (MOTORS, DAMPED)), (1.15, 0.05, (SERVOS, DAMPED))):
            for actuators in drives:
                text = WRIST.format(
                    integrator=integrator,
                    actuators=actuators,
                    sensors=sensors(("left", "right")),
                    gears=gears("left right", gamma_u=0.1, gamma_v=gamma_v, coulomb=coulomb),
                )
                m = compile_model(text)
                reference = Reference(m, ("left", "right"), gamma_u=0.1, gamma_v=gamma_v, coulomb=coulomb)
                rng = np.random.default_rng(2)

                def drive(d):
                    d.ctrl[:] = rng.uniform(-2.5, 2.5, m.nu)

                _, contacts, bad = play(m, reference, USUAL, drive)
                tally.add((integrator, gamma_v, actuators), reference, contacts, bad, USUAL)
        tally.end(integrator)


def test_stuck():
    """Motors off under a weight that self-locking gears hold: the lengths do not change."""
    for integrator in INTEGRATORS:
        for touch in (False, True):
            m = compile_model(
                WRIST.format(
                    integrator=integrator,
                    actuators=MOTORS,
                    sensors=sensors(("left", "right")),
                    gears=gears("left right", gamma_u=0.1, gamma_v=1.15, coulomb=0.3),
                )
            )
            d = mujoco.MjData(m)
            d.ctrl[:] = (2.5, 1.5) if touch else (-1, -1)
            for _ in range(1000):
                mujoco.mj_step(m, d)
            d.ctrl[:] = 0
            for _ in range(200):
                mujoco.mj_step(m, d)
            touching = bool(np.isin(m.geom_bodyid[d.contact.geom], (1, 2)).any())
            assert touching == touch, (d.ncon, d.qpos)
            start, most, J = d.ten_length.copy(), 0, rows(m, d)
            for _ in range(LONG):
                mujoco.mj_step(m, d)
                most = max(most, np.abs(J @ d.qvel).max())
            assert (d.sensordata[4::SIZE] == 0).all()
            moved = np.abs(d.ten_length - start).max()
            print(f"  {integrator}{' in contact' if touch else ''}: |w| at most {most:.2g}, lengths moved {moved:.2g}")
            assert most < 1e-13 and moved < 1e-12


FINGER = """<mujoco><compiler angle="radian"/><option timestep="0.001" integrator="{integrator}" cone="{cone}"/>{gears}
  <default><joint axis="0 1 0" damping=".002" limited="true" range="-.2 1.6"/><geom friction=".8"/></default>
  <worldbody><geom type="plane" size="1 1 .1" pos="0 0 -.2"/>
  <body><joint name="j1" stiffness=".05"/><geom type="capsule" fromto="0 0 0 .05 0 0" size=".008" mass=".05"/>
  <body pos=".05 0 0"><joint name="j2" stiffness=".04"/><geom type="capsule" fromto="0 0 0 .03 0 0" size=".007" mass=".03"/>
  <body pos=".03 0 0"><joint name="j3" stiffness=".03"/><geom type="capsule" fromto="0 0 0 .025 0 0" size=".006" mass=".02"/></body></body></body>
  <body pos=".06 0 -.04"><joint type="slide" name="x" axis="1 0 0" limited="false" stiffness="100" damping="1"/><joint type="slide" name="z" axis="0 0 1" limited="false" stiffness="400" damping="1"/>
  <geom size=".025" mass=".1"/></body></worldbody>
  <tendon><fixed name="flexor" armature=".0004"><joint joint="j1" coef="1"/><joint joint="j2" coef=".8"/><joint joint="j3" coef=".5"/></fixed></tendon>
  <actuator>{actuators}</actuator>{sensors}</mujoco>"""


def test_finger():
    """One motor closes three joints around a ball."""
    for integrator in INTEGRATORS:
        tally = Tally()
        for cone, gamma_v in (("pyramidal", 1.1), ("elliptic", 0.4), ("elliptic", 1.1)):
            for actuators in ('<motor tendon="flexor"/>', '<position tendon="flexor" kp="2" kv=".02"/>'):
                m = compile_model(
                    FINGER.format(
                        integrator=integrator,
                        cone=cone,
                        actuators=actuators,
                        sensors=sensors(("flexor",)),
                        gears=gears("flexor", gamma_u=0.15, gamma_v=gamma_v, coulomb=0.002),
                    )
                )
                reference = Reference(m, ("flexor",), gamma_u=0.15, gamma_v=gamma_v, coulomb=0.002)
                rng = np.random.default_rng(3)
                scale = 0.3 if "motor" in actuators else 2.0

                def drive(d):
                    d.ctrl[:] = scale * rng.uniform(-0.4, 1)

                _, contacts, bad = play(m, reference, SHORT, drive, every=30)
                tally.add((integrator, cone, gamma_v, actuators), reference, contacts, bad, SHORT)
        tally.end(integrator)


# a winch whose rope turns around a drum: two links, a rope around a cylinder at the elbow, and a rope without a gear, whose armature
# gives a bias force too
CAPSTAN = """<mujoco><compiler angle="radian"/><option timestep="0.001" integrator="{integrator}"/>{gears}
  <worldbody><geom type="plane" size="2 2 .1" pos="0 0 -.25"/><site name="post" pos="-.1 0 .15"/><site name="hook" pos="-.3 0 .2"/>
  <body><joint name="shoulder" axis="0 1 0" damping=".1"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".02" mass="1"/>
  <geom name="pulley" type="cylinder" size=".05 .03" zaxis="0 1 0" pos=".3 0 0" mass=".2" contype="0" conaffinity="0"/><site name="side" pos=".3 0 .1"/>
  <body pos=".3 0 0"><joint name="elbow" axis="0 1 0" damping=".05"/><geom type="capsule" fromto="0 0 0 .25 0 0" size=".02" mass=".5"/><site name="tip" pos=".15 0 .02"/>
  </body></body></worldbody>
  <tendon><spatial name="rope" {rope}><site site="post"/>{pulley}<site site="tip"/></spatial>
  <spatial name="other" armature=".2"><site site="hook"/><site site="tip"/></spatial></tendon>
  <actuator>{actuators}</actuator>{sensors}</mujoco>"""

# a rope between two carts, which are separate trees; a third blocks the way
CARTS = """<mujoco><compiler angle="radian"/><option timestep="0.001" integrator="{integrator}"/>{gears}
  <worldbody><geom type="plane" size="4 4 .1"/>
  <body pos="-.6 0 .1"><joint name="a" type="slide" axis="1 0 0" damping=".2"/><geom type="box" size=".1 .1 .08" mass="2"/><site name="a" pos="0 0 .1"/></body>
  <body pos=".6 .3 .1"><joint name="b" type="slide" axis="1 0 0"/><joint name="turn" axis="0 0 1" stiffness="2" damping=".1"/>
  <geom type="box" size=".1 .1 .08" mass="1"/><site name="b" pos="-.05 0 .1"/></body>
  <body pos="0 .1 .09"><freejoint/><geom type="box" size=".05 .3 .08" mass=".5"/></body></worldbody>
  <tendon><spatial name="rope"><site site="a"/><site site="b"/></spatial></tendon>
  <actuator>{actuators}</actuator>{sensors}</mujoco>"""


def test_capstan():
    scenes = (
        (
            "capstan",
            CAPSTAN,
            ('<motor tendon="rope"/>', '<position tendon="rope" kp="400" kv="20" forcerange="-40 40"/>'),
        ),
        ("carts", CARTS, ('<motor tendon="rope"/>', '<position tendon="rope" kp="200" forcerange="-30 30"/>')),
    )
    for (name, scene, drives), integrator in scripts.some(itertools.product(scenes, INTEGRATORS), 3):
        tally = Tally()
        for locks in (False, True):
            for actuators in drives:
                keys = (
                    {"type": "capstan", "mu": 0.2, "wrap_angle": 3.14159}
                    if not locks
                    else {"gamma_u": 0.1, "gamma_v": 1.1}
                )
                # eta = exp(-mu wrap_angle) in both directions, gamma from (26) of the paper
                eta = np.exp(-0.2 * 3.14159)
                gamma = (1 - eta) / (1 + eta)
                u, v = (0.1, 1.1) if locks else (gamma, gamma)
                # the engine has no armature where a rope wraps
                pulley = '<geom geom="pulley" sidesite="side"/>' if not locks else ""
                rope = 'armature=".3"' if locks else 'stiffness="10" damping="1"'
                m = compile_model(
                    scene.format(
                        integrator=integrator,
                        actuators=actuators,
                        sensors=sensors(("rope",)),
                        rope=rope,
                        pulley=pulley,
                        gears=gears("rope", coulomb=0.3, **keys),
                    )
                )
                reference = Reference(m, ("rope",), gamma_u=u, gamma_v=v, coulomb=0.3)
                rng = np.random.default_rng(4)

                def drive(d):
                    d.ctrl[:] = (
                        rng.uniform(-25, 5) if "motor" in actuators else m.tendon_length0[0] + rng.uniform(-0.3, 0.1)
                    )

                _, contacts, bad = play(m, reference, 400, drive, every=50)
                tally.add((name, integrator, locks, actuators), reference, contacts, bad, 400)
        tally.end(f"{name} {integrator}")


def test_engine():
    """The engine's solvers and Jacobians, without islands and warm starts; trees that tendons connect and trees that they do not."""
    bits = mujoco.mjtDisableBit
    for name, scene, tendons in (("wrist", WRIST, ("left", "right")), ("carts", CARTS, ("rope",))):
        for solver, jacobian, off in (
            (0, 0, 0),
            (1, 1, 0),
            (2, 1, bits.mjDSBL_ISLAND),
            (2, 0, bits.mjDSBL_WARMSTART),
            (2, 0, 0),
            (0, 1, bits.mjDSBL_ISLAND),
        ):
            actuators = MOTORS if name == "wrist" else '<motor tendon="rope" gear="10"/>'
            m = compile_model(
                scene.format(
                    integrator="implicitfast",
                    actuators=actuators,
                    sensors=sensors(tendons),
                    gears=gears(" ".join(tendons), gamma_u=0.1, gamma_v=1.1, coulomb=0.1),
                )
            )
            m.opt.solver, m.opt.jacobian = solver, jacobian
            m.opt.disableflags |= int(off)
            m.opt.iterations, m.opt.tolerance = 500, 1e-14
            reference = Reference(m, tendons, gamma_u=0.1, gamma_v=1.1, coulomb=0.1)
            rng = np.random.default_rng(6)

            def drive(d):
                d.ctrl[:] = rng.uniform(-2.5, 2.5, m.nu)

            _, contacts, bad = play(m, reference, 200, drive, every=40)
            print(
                f"  {name}, solver {solver}, jacobian {jacobian}, off {int(off)}: law {reference.worst:.2g}, {contacts} of 200 steps in contact, {bad} not solved"
            )
            assert reference.worst < 1e-8 and bad == 0 and contacts > 50


def test_state():
    """A state is all there is: copies, states, halves of a step, a second mj_forward."""
    text = WRIST.format(
        integrator="implicitfast",
        actuators=SERVOS,
        sensors=sensors(("left", "right")),
        gears=gears("left right", gamma_u=0.1, gamma_v=1.15, coulomb=0.05),
    )
    m = compile_model(text)
    paths = []
    for way in ("plain", "halves", "copy", "state", "forward"):
        d, other, path = mujoco.MjData(m), mujoco.MjData(m), []
        rng = np.random.default_rng(7)
        for k in range(300):
            if k % 30 == 0:
                d.ctrl[:] = rng.uniform(-2, 2, 2)
            if way == "halves":
                mujoco.mj_step1(m, d)
                if k % 3 == 0:
                    mujoco.mj_copyData(other, m, d)
                    d, other = other, d
                mujoco.mj_step2(m, d)
            else:
                if way == "copy" and k % 3 == 0:
                    mujoco.mj_copyData(other, m, d)
                    d, other = other, d
                elif way == "state" and k % 3 == 0:
                    state = np.zeros(mujoco.mj_stateSize(m, mujoco.mjtState.mjSTATE_INTEGRATION))
                    mujoco.mj_getState(m, d, state, mujoco.mjtState.mjSTATE_INTEGRATION)
                    d = mujoco.MjData(m)
                    mujoco.mj_setState(m, d, state, mujoco.mjtState.mjSTATE_INTEGRATION)
                elif way == "forward":
                    mujoco.mj_forward(m, d)
                    mujoco.mj_forward(m, d)
                mujoco.mj_step(m, d)
            path.append(np.concatenate([d.qpos, d.qvel, d.sensordata]))
        paths.append(np.array(path))
    for path in paths[1:4]:
        assert (path == paths[0]).all()

    # mj_forward starts the engine's solver elsewhere, at rounding
    assert np.abs(paths[4] - paths[0])[:, : m.nq + m.nv].max() < 1e-9
    print("  equal")


DEAD = """<mujoco><compiler angle="radian"/><option integrator="{integrator}" gravity="0 0 0"/>{gears}
  <worldbody><geom type="plane" size="3 3 1" pos="0 0 -.05"/><site name="post" pos="2 0 0"/>
  <body><joint name="a" axis="0 0 1"/><geom size=".1" pos=".5 0 .1"/><site name="end" pos="1 0 0"/>
  <body pos=".5 0 0"><joint name="b" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/></body></body></worldbody>
  <tendon><spatial name="rope"><site site="post"/><site site="end"/></spatial></tendon><actuator><motor tendon="rope"/></actuator>{sensors}</mujoco>"""


def test_dead_centre():
    """Where a tendon lies along its link no motion changes its length: its gear does nothing, and the others are as without it."""
    for integrator in INTEGRATORS:
        keys = {"gamma_u": 0.1, "gamma_v": 0.5, "coulomb": 0.2}
        both = compile_model(
            DEAD.format(integrator=integrator, gears=gears("rope", "b", **keys), sensors=sensors(("rope",), ("b",)))
        )
        alone = compile_model(
            DEAD.format(
                integrator=integrator,
                gears=gears("", "b", **keys).replace('<config key="tendon" value=""/>', ""),
                sensors=sensors((), ("b",)),
            )
        )
        paths = []
        for m in (both, alone):
            d, path = mujoco.MjData(m), []
            d.ctrl[0], d.qvel[1] = 5, 1
            for _ in range(50):
                mujoco.mj_step(m, d)
                assert np.isin(d.sensordata[STATUS::SIZE], (0, 1)).all() and abs(rows(m, d)).max() < 1e-15
                # a tendon at rest without load holds its motor: friction 0, the input is the motor's torque
                assert m is alone or list(d.sensordata[:4]) == [0, (0.1 + 0.5) * 5, 5, 5], d.sensordata[:4]
                path.append(d.qvel.copy())
            paths.append(np.array(path))
        assert np.abs(paths[0] - paths[1]).max() < 1e-14 and np.abs(np.diff(paths[0][:, 1])).max() > 1e-3
    print("  the same with and without")


def random_model(rng, integrator):
    """Two trees with branches, gears on joints and on tendons, motors and servos on both, limits and contacts."""
    names, bodies, text = [], [], ""

    def body(depth):
        name = f"j{len(names)}"
        names.append(name)
        kind = "slide" if rng.random() < 0.3 else "hinge"
        axis = " ".join(f"{x:.3f}" for x in rng.normal(size=3))
        limit = 'limited="true" range="-.3 .4"' if rng.random() < 0.5 else ""
        inside = "".join(body(depth + 1) for _ in range(1 if rng.random() < 0.7 else 2)) if depth < 3 else ""
        return (
            f'<body pos="{rng.uniform(0.1, 0.3):.3f} 0 0"><joint name="{name}" type="{kind}" axis="{axis}" {limit} damping="{rng.uniform(0, 0.3):.3f}" '
            f'armature="{rng.choice([0, 0.05]):.3f}"/><geom size="{rng.uniform(0.05, 0.12):.3f}" mass="{rng.uniform(0.3, 2):.3f}"/>{inside}</body>'
        )

    bodies = [body(0), body(0)]
    text = "".join(f'<body pos="{x} 0 .3">{b}</body>' for x, b in zip((-0.3, 0.3), bodies))
    tendons, coefficients = [], []
    for i in range(rng.integers(1, 5)):
        chosen = rng.choice(names, size=min(len(names), int(rng.integers(2, 4))), replace=False)
        inner = "".join(f'<joint joint="{j}" coef="{rng.uniform(-1.5, 1.5):.3f}"/>' for j in chosen)
        tendons.append(f"t{i}")
        coefficients.append(
            f'<fixed name="t{i}" armature="{rng.choice([0, 0, 0.1]):.2f}" damping="{rng.choice([0, 0.2]):.2f}">{inner}</fixed>'
        )
    geared = [t for t in tendons if rng.random() < 0.8] or tendons[:1]
    joints = [j for j in names if rng.random() < 0.4]
    actuators = ""
    for target in (
        [f'tendon="{t}"' for t in geared] + [f'joint="{j}"' for j in joints] + [f'joint="{rng.choice(names)}"']
    ):
        kind = rng.integers(3)
        gear, limit = f'gear="{rng.uniform(0.5, 2):.3f}"', 'forcerange="-8 8"' if rng.random() < 0.7 else ""
        actuators += (
            f"<motor {target} {gear}/>",
            f'<position {target} {gear} kp="{rng.uniform(1, 80):.2f}" {limit}/>',
            f'<position {target} {gear} kp="{rng.uniform(1, 80):.2f}" kv="{rng.uniform(0.1, 5):.2f}" {limit}/>',
        )[kind]
    n = len(geared) + len(joints)
    numbers = {
        "gamma_u": rng.uniform(0, 0.4, n),
        "gamma_v": rng.choice([0.2, 0.5, 0.8], n),
        "coulomb": rng.choice([0, 0.2], n),
    }
    order = np.r_[len(geared) : n, 0 : len(geared)]  # an instance lists its joints first
    keys = {key: " ".join(str(x) for x in value[order]) for key, value in numbers.items()}
    cone = rng.choice(["pyramidal", "elliptic"])
    xml = (
        f'<mujoco><compiler angle="radian"/><option timestep="0.002" integrator="{integrator}" cone="{cone}"/>'
        + gears(" ".join(geared), " ".join(joints), **keys)
        + f'<worldbody><geom type="plane" size="3 3 .1"/>{text}</worldbody>'
        + f"<tendon>{''.join(coefficients)}</tendon><actuator>{actuators}</actuator>"
        + sensors(geared, joints)
        + "</mujoco>"
    )
    return xml, geared, joints, numbers


def test_random():
    """Random robots; impossible ones are refused in one line."""
    for integrator in INTEGRATORS:
        rng = np.random.default_rng([5, INTEGRATORS.index(integrator)])
        played, refused, worst, against, steps, unsolved = 0, {}, 0, 0, 0, 0
        while played < scripts.fewer(15, 4):
            xml, geared, joints, numbers = random_model(rng, integrator)
            try:
                m = compile_model(xml)
            except ValueError as error:
                line = str(error).split("tendon '")[-1]
                assert "mjgear.transmission" in str(error) and any(x in line for x in ("branches", "follows from")), (
                    str(error)
                )
                refused[line[3:30]] = refused.get(line[3:30], 0) + 1
                continue
            played += 1
            reference = Reference(m, geared, joints, **numbers)

            def drive(d):
                d.ctrl[:] = rng.uniform(-1, 1, m.nu) * np.where(m.actuator_biastype == 0, 8, 1)

            d, _, bad = play(m, reference, 100, drive, every=25)
            worst, against = max(worst, reference.worst), min(against, reference.against)
            steps += 100
            unsolved += bad
            if reference.worst > 1e-8:
                print("    ", reference.worst, geared, joints, bad)
        print(
            f"  {integrator}: {steps} steps, law {worst:.2g}, energy made {-against:.2g}, {unsolved} not solved; refused {refused}"
        )
        assert worst < 1e-8 and against > -1e-10 and unsolved == 0


def test_springs_that_yield():
    """A tendon with a gear and a spring that flows (springyield, MuJoCo 4.0): the spring is behind the gear."""
    for integrator in INTEGRATORS:
        m = compile_model(
            REFUSED.format(
                integrator=integrator,
                sleep="disable",
                gears=gears("t", gamma_u=0.1, gamma_v=0.3),
                a='armature=".1"',
                sensors=sensors(("t",)),
                tendons='<fixed name="t" stiffness="40" springyield=".05"><joint joint="a" coef="1"/><joint joint="b" coef="2"/></fixed>',
                actuators='<position tendon="t" kp="60" kv="3"/>',
            )
        )
        reference = Reference(m, ["t"])

        def drive(d):
            d.ctrl[0] = np.sin(1.3 * len(d.ctrl) + 3 * d.time)

        d, _, bad = play(m, reference, 1000, drive)
        print(
            f"  {integrator}: law {reference.worst:.2g}, flowed {abs(d.plastic).max():.2g}, {reference.slipping} steps slipping, {bad} not solved"
        )
        assert reference.worst < 1e-8 and not bad and abs(d.plastic).max() > 0.05 and reference.slipping > 500


REFUSED = """<mujoco><compiler angle="radian"/><option integrator="{integrator}"><flag sleep="{sleep}"/></option>{gears}
  <worldbody><body><joint name="a" axis="0 1 0" {a}/><geom size=".1" pos=".2 0 0"/>
  <body pos=".3 0 0"><joint name="b" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/></body>
  <body pos=".3 .5 0"><joint name="c" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/></body></body>
  <body pos="2 0 0"><joint name="d" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/></body><site name="s"/><site name="e" pos="1 0 0"/></worldbody>
  <tendon>{tendons}</tendon><actuator>{actuators}</actuator>{sensors}</mujoco>"""


def test_refusals():
    def tendon(name, attributes="", **joints):
        return (
            f'<fixed name="{name}" {attributes}>'
            + "".join(f'<joint joint="{j}" coef="{c}"/>' for j, c in joints.items())
            + "</fixed>"
        )

    good = dict(
        tendons=tendon("t", a=1, b=2),
        actuators='<motor tendon="t"/>',
        gears="t",
        integrator="implicitfast",
        sleep="disable",
        a="",
        sensors="",
        keys={},
    )
    cases = (
        ({}, None),
        (dict(gears="u"), "'u' is not in the model"),
        (dict(tendons=tendon("t", b=1, c=1), integrator="implicitfast"), None),
        (dict(tendons=tendon("t", 'armature=".1"', a=1, b=1)), None),
        (dict(tendons=tendon("t", 'armature=".1"', b=1, c=1)), "connects different branches"),
        (dict(tendons=tendon("t", 'armature=".1"', a=1, d=1)), "connects different branches"),
        (
            dict(tendons=tendon("t", b=1, c=1), actuators='<motor tendon="t" armature=".1"/>'),
            "connects different branches",
        ),
        (dict(tendons=tendon("t", b=1, c=1), actuators='<velocity tendon="t" kv="1"/>'), 'integrator="discrete"'),
        (dict(tendons=tendon("t", b=1, c=1), actuators='<motor tendon="t" damping="1"/>'), 'integrator="discrete"'),
        (dict(tendons=tendon("t", b=1, c=1), actuators='<velocity tendon="t" kv="1"/>', integrator="discrete"), None),
        (dict(tendons=tendon("t", b=1, c=1), actuators='<velocity tendon="t" kv="1"/>', integrator="Euler"), None),
        (dict(tendons=tendon("t", a=1, d=1)), None),
        (dict(tendons=tendon("t", a=1, d=1), sleep="enable"), "fall asleep"),
        (dict(tendons=tendon("t", a=1, b=2), sleep="enable"), None),
        (
            dict(tendons=tendon("t", a=1, b=2) + tendon("r", a=-2, b=-4), gears="t r"),
            "follows from those of other gears",
        ),
        (dict(tendons=tendon("t", a=1, b=2) + tendon("r", a=1, b=-2), gears="t r"), None),
        (dict(tendons=tendon("t", a=1), keys={"joint": "a"}), "follows from those of other gears"),
        (dict(tendons=tendon("t", a=2), keys={"joint": "a"}), "follows from those of other gears"),
        (dict(tendons=tendon("t", a=1, b=1), keys={"joint": "a"}), None),
        (dict(a='actuatorfrcrange="-1 1"'), "actuatorfrcrange, which acts behind the gear"),
        (dict(a='actuatorgravcomp="true"'), "actuatorgravcomp, which acts behind the gear"),
        (dict(keys={"backlash": "exact", "half_gap": ".1", "stiffness": "10"}), "needs a rotor in front of it"),
        (dict(gears="t t"), "already has a gear"),
        (
            dict(
                tendons=tendon("t", a=1, b=2) + '<spatial name="r"><site site="s"/><site site="e"/></spatial>',
                gears="t r",
            ),
            "moves no joint",
        ),
        (dict(sensors=sensors(("t",))), None),
        (
            dict(tendons=tendon("t", a=1, b=2) + tendon("r", a=1, b=-2), sensors=sensors(("r",))),
            "'r' is not a geared tendon of its instance",
        ),
    )
    for change, line in cases:
        one = good | change
        keys = {"gamma_u": ".1", "gamma_v": ".3"} | one.pop("keys")
        one["gears"] = gears(one["gears"], keys.pop("joint", ""), **keys)
        lines = []
        mujoco.set_mju_user_warning(lines.append)
        try:
            mujoco.MjData(compile_model(REFUSED.format(**one)))
            found = None
        except ValueError as error:
            found = "".join([str(error), *lines])
            assert "mjgear.transmission" in found, found
        assert (found is None) == (line is None) and (line is None or line in found), (change, line, found)
    print(f"  {len(cases)} models accepted or refused as they should be")


def main():
    mujoco.mj_loadPluginLibrary(os.environ["MJGEAR_PLUGIN_PATH"])
    mujoco.set_mju_user_warning(lambda text: None)
    tests = {name: test for name, test in globals().items() if name.startswith("test_")}
    for name in sys.argv[1:] or tests:
        print(name)
        tests[name]()


if __name__ == "__main__":
    main()
