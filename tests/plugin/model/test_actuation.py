"""The acting torque: with random actuators, every integrator, gears and gaps, the torque at the link explains its motion.

With a = (v+ - v)/h from the engine's velocities, M_link a - load = x. The inertia M_link without rotors and the load on the link
are the engine's; x is the torque out of the gear from the sensor. Gains of actuators do not appear: their effect in any
integrator has to be in x."""

import itertools
import os
import random
import sys

import mujoco
import numpy as np

sys.path.insert(0, os.path.join(os.environ["MJGEAR_SOURCE_DIR"], "tests", "plugin"))
import scripts

NAMES = "abc"
STEPS = 120


def actuator(rng, gap):
    target = f'joint="{rng.choice(NAMES)}"' if rng.random() < 0.7 else 'tendon="t"'
    limit = f'forcerange="-{rng.uniform(2, 30):.3f} {rng.uniform(2, 30):.3f}"' if rng.random() < 0.3 else ""
    gear = f'gear="{rng.uniform(-3, 3):.3f}"'
    own = (
        f'armature="{0 if gap else rng.uniform(0, 0.3):.3f}" damping="{rng.uniform(0, 3):.3f}"'
        if rng.random() < 0.4
        else ""
    )
    kp, kv = 10 ** rng.uniform(0, 4), 10 ** rng.uniform(-1, 3)
    kind = rng.randrange(7)
    if kind == 0:
        return f"<motor {target} {gear} {limit} {own}/>"
    if kind == 1:
        return f'<position {target} {gear} kp="{kp}" kv="{kv}" {limit} {own}/>'
    if kind == 2:
        return f'<velocity {target} {gear} kv="{kv}" {limit} {own}/>'
    if kind == 3:
        return f'<damper {target} {gear} kv="{kv}" ctrlrange="0 1" {limit}/>'
    if kind == 4:
        return (
            f'<general {target} {gear} gaintype="affine" gainprm="{kp / 10} {-kv} {-kv / 10}" biastype="affine" '
            f'biasprm="1 {-kp} {-kv}" {limit} {own}/>'
        )
    if kind == 5:
        return f'<general {target} {gear} dyntype="filter" dynprm="0.02" gainprm="20" biastype="affine" biasprm="0 0 {-kv}" {limit}/>'
    return f'<intvelocity {target} {gear} kp="{kp}" kv="{kv}" actrange="-2 2" {limit}/>'


def model(rng, integrator, gap):
    gamma_v = " ".join(rng.choice(["0.2", "0.6", "1.1"]) for _ in NAMES)
    keys = f'<config key="joint" value="a b c"/><config key="gamma_u" value="0.2"/><config key="gamma_v" value="{gamma_v}"/>'
    if gap:
        keys += (
            '<config key="backlash" value="exact"/><config key="half_gap" value="0.01"/><config key="stiffness" value="5000"/>'
            '<config key="damping" value="5"/><config key="rotor_inertia" value="0.2"/>'
        )
        if rng.random() < 0.3:
            keys += '<config key="encoder" value="joint"/>'
    joints = {
        n: f'damping="{rng.choice([0, 0.7, 20])}" stiffness="{rng.choice([0, 50])}" armature="{0 if gap else rng.uniform(0, 0.5):.3f}" '
        + ('limited="true" range="-0.05 0.05" ' if rng.random() < 0.4 else "")
        + (
            f'actuatorfrclimited="true" actuatorfrcrange="-{rng.uniform(5, 30):.2f} {rng.uniform(5, 30):.2f}" '
            if rng.random() < 0.2
            else ""
        )
        for n in NAMES
    }
    flag = '<flag eulerdamp="disable"/>' if integrator == "Euler" and rng.random() < 0.5 else ""
    sensors = "".join(
        f'<plugin name="s{n}" plugin="mjgear.transmission" instance="g" objtype="joint" objname="{n}"/>' for n in NAMES
    )
    return f"""<mujoco><option timestep="0.002" integrator="{integrator}" tolerance="1e-14">{flag}</option>
  <extension><plugin plugin="mjgear.transmission"><instance name="g">{keys}</instance></plugin></extension>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody><body><joint name="a" type="slide" axis="1 0 .4" {joints["a"]}/><geom size=".1" mass="2"/>
  <body><joint name="b" type="slide" axis=".3 1 0" {joints["b"]}/><geom size=".1" mass="1"/>
  <body><joint name="c" type="slide" axis=".2 .1 1" {joints["c"]}/><geom size=".1" mass=".5"/></body></body></body></worldbody>
  <tendon><fixed name="t"><joint joint="a" coef="{rng.uniform(-1, 1):.3f}"/><joint joint="c" coef="{rng.uniform(0.2, 1):.3f}"/></fixed></tendon>
  <actuator>{"".join(actuator(rng, gap) for _ in range(rng.randint(1, 4)))}</actuator><sensor>{sensors}</sensor></mujoco>"""


def inertia(m, d):
    M = np.zeros((m.nv, m.nv))
    for i in range(m.nv):
        for k in range(m.M_rowadr[i], m.M_rowadr[i] + m.M_rownnz[i]):
            M[i, m.M_colind[k]] = M[m.M_colind[k], i] = d.M[k]
    return M


def rotors(m, d, gap):
    """Rotor inertia on the motor's side: armature of joints without a gap, armature of actuators."""
    S = np.zeros((m.nv, m.nv)) if gap else np.diag(m.dof_armature)
    for i in range(m.nu):
        row = np.zeros(m.nv)
        if mujoco.mjtTrn(m.actuator_trntype[i]) == mujoco.mjtTrn.mjTRN_TENDON:
            adr = m.ten_J_rowadr[0]
            row[m.ten_J_colind[adr : adr + m.ten_J_rownnz[0]]] = d.ten_J.ravel()[adr : adr + m.ten_J_rownnz[0]]
        else:
            row[m.jnt_dofadr[m.actuator_trnid[i, 0]]] = 1
        gear = m.actuator_gear[i, 0]
        S += gear * gear * m.actuator_armature[i] * np.outer(row, row)
    return S


def play(rng, integrator, gap):
    text = model(rng, integrator, gap)
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    worst, unsolved, seen = 0.0, 0, 0
    h = m.opt.timestep
    euler = integrator == "Euler"
    explicit = euler and m.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_EULERDAMP
    for step in range(STEPS):
        if step % 20 == 0:
            d.ctrl[:] = [rng.uniform(*((0, 1) if m.actuator_ctrllimited[i] else (-1, 1))) for i in range(m.nu)]
            d.qfrc_applied[:] = [rng.uniform(-20, 20) for _ in range(m.nv)]
        q, v = d.qpos.copy(), d.qvel.copy()
        mujoco.mj_step(m, d)
        if (
            np.abs(d.qvel).max() > 1e3
            or not np.isfinite(d.qvel).all()
            or d.warning[mujoco.mjtWarning.mjWARN_BADQACC].number
        ):
            break
        status = d.sensordata[11::14]
        if not np.isin(status, (0, 1)).all():
            unsolved += 1
            continue
        a = (d.qvel - v) / h
        M_link = inertia(m, d) - rotors(m, d, gap)
        load = d.qfrc_applied + d.qfrc_constraint - d.qfrc_bias
        load = load - m.dof_damping * (v if explicit else d.qvel)
        load = load - m.jnt_stiffness * (q + (h * d.qvel if integrator == "discrete" else 0))
        x = d.sensordata[3::14]
        scale = np.abs(M_link @ a).max() + np.abs(load).max() + np.abs(x).max() + np.abs(d.qfrc_actuator).max() + 1
        worst = max(worst, np.abs(M_link @ a - load - x).max() / scale)
        seen += 1
    return worst, unsolved, seen


def motors_only():
    """A model without implicit forces under "discrete": the engine then has no arrays for them. The gear breaks away at c/(1 - gamma_u)."""
    m = mujoco.MjModel.from_xml_string("""<mujoco><option integrator="discrete" gravity="0 0 0"/>
      <extension><plugin plugin="mjgear.transmission"><instance name="g"><config key="joint" value="a"/>
      <config key="gamma_u" value="0.2"/><config key="gamma_v" value="1.3"/><config key="coulomb" value="1"/>
      </instance></plugin></extension><worldbody><body><joint name="a" type="slide" armature="1"/><geom size=".1" mass="2"/></body></worldbody>
      <actuator><motor joint="a"/></actuator></mujoco>""")
    d = mujoco.MjData(m)
    h = m.opt.timestep
    gamma_u, gamma_v = 0.2, 1.3
    for torque in (0.5, 1 / (1 - gamma_u) * 0.99, 1 / (1 - gamma_u) * 1.01, 8.0):
        mujoco.mj_resetData(m, d)
        d.ctrl[0] = torque
        mujoco.mj_step(m, d, 10)

        # (tau - m a) - t = M a with t = gamma_u u + gamma_v x + c, that is x (1 + gamma_v) = (1 - gamma_u) u - c
        force = (1 - gamma_u) / (1 + gamma_v) * torque - 1 / (1 + gamma_v)
        a = max(0, force / (2 + (1 - gamma_u) / (1 + gamma_v)))
        assert abs(d.qvel[0] - 10 * h * a) <= 1e-14, (torque, d.qvel[0], 10 * h * a)


def same_forces():
    """A gear without friction changes nothing: cogging, limits and gravity compensation count once."""
    actuators = (
        '<dcmotor joint="j" motorconst="2" resistance="1" cogging="0.5 6 0.1"/>',
        '<motor joint="j" gear="3" forcerange="-0.2 0.2"/>',
        '<position joint="j" kp="50" kv="2" forcerange="-4 4"/>',
        '<motor tendon="t" gear="2"/>',
    )
    gear = (
        '<extension><plugin plugin="mjgear.transmission"><instance name="g"><config key="joint" value="j"/>'
        '<config key="gamma_u" value="0"/><config key="gamma_v" value="0"/></instance></plugin></extension>'
    )
    for integrator, actuator, joint in itertools.product(
        ("Euler", "implicitfast", "implicit", "discrete"),
        actuators,
        ("", 'actuatorfrcrange="-0.3 0.3"', 'actuatorgravcomp="true"'),
    ):
        found = []
        for extension in ("", gear):
            m = mujoco.MjModel.from_xml_string(f"""<mujoco><option integrator="{integrator}" timestep="0.001"/>{extension}
  <worldbody><body gravcomp="0.5"><joint name="j" axis="0 1 0" armature="0.1" damping="0.2" {joint}/><geom size="0.1" pos="0.1 0 0"/></body></worldbody>
  <tendon><fixed name="t" actuatorfrcrange="-0.5 0.5"><joint joint="j" coef="1.5"/></fixed></tendon>
  <actuator>{actuator}</actuator></mujoco>""")
            d = mujoco.MjData(m)
            d.ctrl[0], d.qpos[0] = 0.7, 0.3
            mujoco.mj_step(m, d, 20)
            found.append(np.concatenate([d.actuator_force, d.qfrc_actuator, d.qvel]))
        assert np.abs(found[1] - found[0]).max() <= 1e-13, (integrator, actuator, joint, found)


ROTORS, COEFFICIENTS, LINK, GAP, STIFFNESS = (0.001, 0.0015, 0.003), (0.5, 0.5, -0.7), 0.02, 0.002, 150.0


def hand(integrator, h, nested, kp, kv):
    """Three links behind gaps without friction, slides of one tree or of three, and a servo on the tendon of their rotors."""
    slides = [f'<joint name="j{i}" type="slide" axis="{axis}"/>' for i, axis in enumerate(("1 0 0", "0 1 0", "0 0 1"))]
    link = f'<geom size=".01" mass="{LINK}" contype="0" conaffinity="0"/>'
    bodies = (
        "".join(f"<body>{slide}{link}" for slide in slides) + 3 * "</body>"
        if nested
        else "".join(f"<body>{slide}{link}</body>" for slide in slides)
    )
    keys = dict(
        joint="j0 j1 j2",
        gamma_u=0,
        gamma_v=0,
        backlash="exact",
        half_gap=GAP,
        stiffness=STIFFNESS,
        damping=0,
        rotor_inertia=" ".join(map(str, ROTORS)),
    )
    config = "".join(f'<config key="{k}" value="{v}"/>' for k, v in keys.items())
    tendon = "".join(f'<joint joint="j{i}" coef="{c}"/>' for i, c in enumerate(COEFFICIENTS))
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option integrator="{integrator}" timestep="{h}" gravity="0 0 0"/><extension><plugin plugin="mjgear.transmission">'
        f'<instance name="g">{config}</instance></plugin></extension><worldbody>{bodies}</worldbody>'
        f'<tendon><fixed name="t">{tendon}</fixed></tendon><actuator><position tendon="t" kp="{kp}" kv="{kv}"/></actuator></mujoco>'
    )
    return model, mujoco.MjData(model)


def fine(mass, kp, kv, target, time, h=2e-5):
    """Positions of the links by Runge and Kutta's method: rotors that the servo measures and drives, springs with a gap, links."""
    J, c = np.array(ROTORS), np.array(COEFFICIENTS)

    def rate(y):
        rotor, link, w, v = y.reshape(4, 3)
        twist = rotor - link
        force = STIFFNESS * np.sign(twist) * np.maximum(abs(twist) - GAP, 0)
        servo = kp * (target - c @ rotor) - kv * (c @ w)
        return np.concatenate((w, v, (c * servo - force) / J, force / mass))

    y = np.zeros(12)
    for _ in range(round(time / h)):
        a = rate(y)
        b = rate(y + h / 2 * a)
        e = rate(y + h / 2 * b)
        y = y + h / 6 * (a + 2 * b + 2 * e + rate(y + h * e))
    return y[3:6]


def shared_servo():
    """A servo of three rotors behind gaps measures the rotors, converges to a fine integration, and is stable with steps of 10 ms."""
    target, time = 0.03, 0.1
    for kp, kv, small, bound in ((40, 1, 1e-4, 0.01), (10, 10, 2e-5, 0.2)):
        references = [fine(LINK * np.array(links), kp, kv, target, time) for links in ((1, 1, 1), (3, 2, 1))]
        for integrator, nested in itertools.product(("implicitfast", "implicit", "discrete"), (False, True)):
            reference = references[nested]
            model, data = hand(integrator, small, nested, kp, kv)
            data.ctrl[0] = target
            mujoco.mj_step(model, data, round(time / small))
            error = abs(data.qpos - reference).max() / abs(reference).max()
            assert error < bound, (integrator, nested, kp, error)
            fastest = 0
            for h in (5e-3, 1e-2):
                model, data = hand(integrator, h, nested, kp, kv)
                data.ctrl[0] = target
                for _ in range(300):
                    mujoco.mj_step(model, data)
                    fastest = max(fastest, abs(data.qvel).max())
            assert fastest < 2 and not data.warning.number.any(), (integrator, nested, kp, fastest)
        print(f"servo of three rotors, kp {kp}, kv {kv}: {error:.2g} off a fine integration, {fastest:.2g} m/s at most")


def gantry():
    """Two slides of one body, whose inertia matrix is diagonal, under a servo over a tendon: the torque that reaches a link moves it.
    This matrix has no room for the derivatives of "implicit", which is refused."""
    for integrator in ("Euler", "implicitfast", "discrete", "implicit"):
        slides = "".join(
            f'<joint name="{name}" type="slide" axis="{axis}" armature=".01"/>'
            for name, axis in (("x", "1 0 0"), ("y", "0 1 0"))
        )
        text = (
            f'<mujoco><option integrator="{integrator}" gravity="0 0 0" timestep=".005"/><extension><plugin plugin="mjgear.transmission">'
            '<instance name="g"><config key="joint" value="x y"/><config key="gamma_u" value=".2"/><config key="gamma_v" value=".3"/></instance>'
            f'</plugin></extension><worldbody><body>{slides}<geom size=".05" mass=".1"/></body></worldbody><tendon><fixed name="t">'
            '<joint joint="x" coef="1"/><joint joint="y" coef=".5"/></fixed></tendon><actuator><position tendon="t" kp="20" kv="10"/></actuator>'
            + "<sensor>"
            + "".join(
                f'<plugin plugin="mjgear.transmission" instance="g" objtype="joint" objname="{name}"/>' for name in "xy"
            )
            + "</sensor></mujoco>"
        )
        try:
            model = mujoco.MjModel.from_xml_string(text)
        except ValueError as error:
            assert integrator == "implicit" and "another slide of its body" in str(error), error
            continue
        data = mujoco.MjData(model)
        worst = 0
        for k in range(400):
            v, data.ctrl[0] = data.qvel.copy(), np.sin(0.05 * k)
            mujoco.mj_step(model, data)
            number = data.sensordata.reshape(2, -1)
            assert (number[:, 11] <= 1).all(), (integrator, k)
            worst = max(
                worst, abs(0.1 * (data.qvel - v) / 0.005 - number[:, 3]).max() / max(abs(number[:, 3]).max(), 0.1)
            )
        print(f"gantry, {integrator}: {worst:.2g}")
        assert worst < 1e-11 and integrator != "implicit"


def main():
    mujoco.mj_loadPluginLibrary(os.environ["MJGEAR_PLUGIN_PATH"])
    mujoco.set_mju_user_warning(lambda text: None)
    motors_only()
    same_forces()
    shared_servo()
    gantry()
    bad = 0
    for gap in (False, True):
        for integrator in ("Euler", "implicit", "implicitfast", "discrete"):
            rng = random.Random(f"{integrator} {gap}")
            results = [play(rng, integrator, gap) for _ in range(scripts.fewer(60, 6))]
            worst = max(r[0] for r in results)
            unsolved, seen = sum(r[1] for r in results), sum(r[2] for r in results)
            print(
                f"{integrator:13}{'gap' if gap else '':4} {len(results)} models, {seen} steps, {unsolved} unsolved, M_link a - load - x: {worst:.2g}"
            )
            assert seen > 1000
            bad += worst > 1e-9
    assert not bad


if __name__ == "__main__":
    main()
