"""Integrator discrete: one joint against the closed form of its step. Stuck joints stay stuck to the last bit, contacts included, and
the motion approaches that of implicitfast with the first power of the step."""

import ctypes
import os

import mujoco
import numpy as np

GEAR = (
    '<extension><plugin plugin="mjgear.transmission"><instance name="g"><config key="joint" value="{joint}"/>'
    '<config key="gamma_u" value="{u}"/><config key="gamma_v" value="{v}"/></instance></plugin></extension>'
)


def scalar_step(v, u, load, gamma_u, gamma_v, m, M, h):
    """Velocity after a step of one joint, (44) of the paper: every mode is tried, one fits."""
    g = gamma_u + gamma_v
    found = []
    for s in (0, 1, -1):
        for sign in (1, -1):
            if s == 0:
                a = -v / h
                t = u + load - (m + M) * a
                lam = g * (u - m * a) - gamma_v * t
                if abs(t) <= abs(lam):
                    found.append(0.0)
                continue
            # (m + M) a = u + load - t, t = s sign lam, lam = g (u - m a) - gamma_v t
            k = s * sign
            a, t = np.linalg.solve([[m + M, 1], [k * g * m, 1 + k * gamma_v]], [u + load, k * g * u])
            lam = g * (u - m * a) - gamma_v * t
            if s * (v + h * a) > 0 and sign * lam >= 0:
                found.append(v + h * a)
    assert found
    return found


def test_closed_form():
    rng = np.random.default_rng(0)
    worst = stuck = 0
    for _ in range(60):
        h, m, M = 10 ** rng.uniform(-4, -2), 10 ** rng.uniform(-3, 1), 10 ** rng.uniform(-1, 1)
        kp, kv, gamma_u, gamma_v = (
            10 ** rng.uniform(0, 5),
            10 ** rng.uniform(-1, 3),
            rng.uniform(0, 0.5),
            rng.choice([0.2, 0.8]),
        )
        b, k = rng.choice([0, 3.0]), rng.choice([0, 40.0])
        model = mujoco.MjModel.from_xml_string(
            f'<mujoco><option timestep="{h}" integrator="discrete" gravity="0 0 0"/>'
            + GEAR.format(joint="j", u=gamma_u, v=gamma_v)
            + f'<worldbody><body><joint name="j" type="slide" armature="{m}" damping="{b}" stiffness="{k}"/><geom size=".1" mass="{M}"/>'
            f'</body></worldbody><actuator><position joint="j" kp="{kp}" kv="{kv}"/></actuator></mujoco>'
        )
        data = mujoco.MjData(model)
        for i in range(200):
            if i % 40 == 0:
                data.ctrl[0], data.qfrc_applied[0] = rng.uniform(-1, 1) * 10 / kp, rng.uniform(-20, 20)
            q, v = data.qpos[0], data.qvel[0]
            u = kp * (data.ctrl[0] - q) - kv * v - h * kp * v
            load = data.qfrc_applied[0] - b * v - k * q - h * k * v
            expected = scalar_step(v, u, load, gamma_u, gamma_v, m + h * kv + h * h * kp, M + h * b + h * h * k, h)
            mujoco.mj_step(model, data)
            size = abs(v) + h * (abs(u) + abs(load)) / (m + M)
            worst = max(worst, min(abs(data.qvel[0] - e) for e in expected) / size)
            stuck += data.qvel[0] == 0
    print(f"closed form: {worst:.2g}, {stuck} stuck steps")
    assert worst <= 1e-9 and stuck > 100


ARM = (
    '<mujoco><option timestep="{h}" integrator="{integrator}" cone="elliptic"/>'
    + GEAR
    + '<worldbody><geom type="plane" size="2 2 1"/><body pos="0 0 .5"><joint name="a" axis="0 1 0" armature=".2" damping="1"/>'
    '<geom type="capsule" fromto="0 0 0 .5 0 0" size=".03" mass="2"/><body pos=".5 0 0"><joint name="b" axis="0 1 0" armature=".1"/>'
    '<geom type="capsule" fromto="0 0 0 .4 0 0" size=".03" mass="1"/></body></body></worldbody>'
    '<actuator><position joint="a" kp="400" kv="40"/><position joint="b" kp="200" kv="20"/></actuator></mujoco>'
)


def test_stuck():
    """Driven down on the floor, then the motors are off for a minute: gears that lock hold it, to the last bit."""
    model = mujoco.MjModel.from_xml_string(ARM.format(h=0.002, integrator="discrete", joint="a b", u=0.1, v=1.1))
    data = mujoco.MjData(model)
    data.ctrl[:] = [1.1, 0.3]
    for _ in range(1000):
        mujoco.mj_step(model, data)
    assert data.nefc > 0
    model.actuator_gainprm[:] = model.actuator_biasprm[:] = 0
    for _ in range(100):
        mujoco.mj_step(model, data)
    rest = data.qpos.copy()
    for _ in range(30000):
        mujoco.mj_step(model, data)
        assert not data.qvel.any()
    assert (data.qpos == rest).all()


def test_servo_comes_to_rest():
    """A servo with kv and no constraint: if forces are too small for an acceleration of the engine, the joint still moves as in the
    closed form, every step is solved, and stuck joints are exactly at rest."""
    for gamma_u, gamma_v, kp, kv, g in (
        (0.3, 0.2, 100, 10, 0),
        (0.3, 0.2, 50, 5, 0),
        (0.3, 0.2, 100, 10, 9.81),
        (0.1, 1.5, 100, 10, 9.81),
    ):
        model = mujoco.MjModel.from_xml_string(
            '<mujoco><option integrator="discrete" gravity="0 0 0"/>'
            + GEAR.format(joint="j", u=gamma_u, v=gamma_v)
            + '<worldbody><body><joint name="j" type="slide" armature=".1"/><geom size=".1" mass="1"/></body></worldbody>'
            f'<actuator><position joint="j" kp="{kp}" kv="{kv}"/></actuator>'
            '<sensor><plugin plugin="mjgear.transmission" instance="g"/></sensor></mujoco>'
        )
        data = mujoco.MjData(model)
        data.ctrl[0], data.qfrc_applied[0] = 0.3, g
        h, worst = model.opt.timestep, 0
        for _ in range(1500):
            q, v = data.qpos[0], data.qvel[0]
            u = kp * (0.3 - q) - kv * v - h * kp * v
            expected = scalar_step(v, u, g, gamma_u, gamma_v, 0.1 + h * kv + h * h * kp, 1, h)
            mujoco.mj_step(model, data)
            worst = max(worst, min(abs(data.qvel[0] - e) for e in expected))
            assert data.sensordata[11] <= 1 and abs(data.qpos[0] - q - h * data.qvel[0]) < 1e-15
            assert data.sensordata[4] or data.qvel[0] == 0
        print(f"servo at rest: off the closed form by at most {worst:.2g}, at the end {data.qvel[0]:.2g} m/s")
        assert worst < 1e-14


def test_order():
    """The difference between implicitfast and discrete falls with the first power of the step."""
    error = []
    for h in (0.002, 0.001, 0.0005):
        end = []
        for integrator in ("implicitfast", "discrete"):
            model = mujoco.MjModel.from_xml_string(ARM.format(h=h, integrator=integrator, joint="a b", u=0.1, v=0.4))
            data = mujoco.MjData(model)
            data.ctrl[:] = [0.5, -0.7]
            for _ in range(round(0.2 / h)):
                mujoco.mj_step(model, data)
            end.append(data.qpos.copy())
        error.append(np.abs(end[0] - end[1]).max())
    print("difference from implicitfast:", error)
    assert error[0] < 0.05
    for a, b in zip(error, error[1:]):
        assert 1.5 < a / b < 2.7


def test_fluid():
    """An arm in oil that pushes on the floor: in each step friction is at the bound that follows from the engine's own velocities."""
    text = ARM.format(h=0.002, integrator="discrete", joint="a b", u=0.1, v=0.4).replace(
        'cone="', 'density="900" viscosity="2" cone="'
    )
    model = mujoco.MjModel.from_xml_string(text)
    data, h, worst, moving = mujoco.MjData(model), model.opt.timestep, 0, 0
    kp, kv, inertia = np.array([400, 200]), np.array([40, 20]), model.dof_armature
    value = (ctypes.c_double * 64)()
    library = ctypes.CDLL(os.environ["MJGEAR_PLUGIN_PATH"])
    for step in range(2000):
        data.ctrl[:] = [0.8 + 0.5 * np.sin(0.01 * step), np.sin(0.017 * step)]
        q, v = data.qpos.copy(), data.qvel.copy()
        mujoco.mj_step(model, data)
        a = (data.qvel - v) / h
        u = kp * (data.ctrl - q - h * v) - kv * v - (inertia + h * kv + h * h * kp) * a
        for j in range(2 if data.nefc else 0):
            assert library.mjg_readGear(value, ctypes.c_void_p(model._address), ctypes.c_void_p(data._address), j) > 12
            assert value[11] == 0, (step, j, value[11])
            if data.qvel[j] != 0:
                moving += 1
                t = np.sign(data.qvel[j]) * abs(0.5 * u[j] - 0.4 * value[0])
                worst = max(worst, abs(t - value[0]) / (abs(kp[j] * (data.ctrl[j] - q[j])) + abs(u[j])))
    print(f"in oil: {moving} slipping joints in contact, off the law by at most {worst:.2g}")
    assert moving > 1000 and worst < 1e-9


def test_iterations():
    for seed, kp in ((0, 20), (10, 20), (2, 2000), (12, 2000)):
        iterate(seed, kp)


def iterate(seed, kp):
    """Gains through tendons make the engine iterate, up to its tolerance: stuck joints beside fast ones
    stand still all the same, and steps are solved."""
    n, rng = 30, np.random.default_rng(seed)
    links = "".join(
        f'<body pos="{0.02 if i else 0} 0 0"><joint name="j{i}" axis="0 {i % 2} {1 - i % 2}" armature="{a:.3g}" damping="1e-5"/>'
        f'<geom type="capsule" fromto="0 0 0 .02 0 0" size=".003" mass="{m:.3g}"/>'
        for i, (a, m) in enumerate(10 ** rng.uniform((-7, -4), (-3, -1), (n, 2)))
    )
    tendons = "".join(
        f'<fixed name="t{k}">'
        + "".join(f'<joint joint="j{j}" coef="{rng.uniform(-1, 1):.3g}"/>' for j in range(k, n, 6))
        + "</fixed>"
        for k in range(6)
    )
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><option timestep=".002" integrator="discrete" gravity="0 0 0"/>'
        + GEAR.format(joint=" ".join(f"j{i}" for i in range(n)), u=0.2, v=1.1)
        + f"<worldbody>{links}{'</body>' * n}</worldbody>"
        + f"<tendon>{tendons}</tendon><actuator>"
        + "".join(f'<position tendon="t{k}" kp="{kp}"/>' for k in range(6))
        + "</actuator></mujoco>"
    )
    gears = range(model.njnt)
    data, stuck = mujoco.MjData(model), 0
    value = (ctypes.c_double * 64)()
    library = ctypes.CDLL(os.environ["MJGEAR_PLUGIN_PATH"])
    for step in range(400):
        data.ctrl[:] = 0.5 * np.sin(0.1 * step + np.arange(6))
        mujoco.mj_step(model, data)
        for j in gears:
            assert library.mjg_readGear(value, ctypes.c_void_p(model._address), ctypes.c_void_p(data._address), j) > 12
            assert value[11] in (0, 1), (step, j, value[11])
            if value[4] == 0:
                stuck += 1
                assert data.qvel[j] == 0, (step, j, data.qvel[j], np.abs(data.qvel).max())
    assert stuck > 100
    print(f"tendon servos: {stuck} stuck, kp {kp}")


def test_stiff_servos_and_backlash():
    """Rotors of servos a hundred times as stiff as their joints are heavy, with play, dry friction and a floor: Newton on gaps and
    constraints together converges, and all steps are solved. Friction is at the bound that follows from the rotors' velocities."""
    n, h, gamma_u, gamma_v = 5, 0.0025, 0.2, 0.3
    inertia = 0.012 / np.arange(1, n + 1) ** 3
    rotor, kv = 0.1 * inertia, 100 * inertia / h
    kp, names = 10 * kv, [f"j{i}" for i in range(n)]
    keys = {"joint": " ".join(names), "gamma_u": gamma_u, "gamma_v": gamma_v, "backlash": "exact", "half_gap": 0.002}
    keys |= {
        key: " ".join(map(repr, map(float, value)))
        for key, value in (("rotor_inertia", rotor), ("stiffness", 1e4 * inertia), ("damping", 20 * inertia))
    }
    links = "".join(
        f'<body pos="{0.1 if i else 0} 0 {0 if i else 0.12}"><joint name="j{i}" axis="0 {1 - i % 2} {i % 2}" frictionloss=".1"/>'
        f'<geom type="capsule" fromto="0 0 0 .1 0 0" size=".02" mass="{0.3 / (i + 1):.3g}"/>'
        for i in range(n)
    )
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{h}" integrator="discrete"/><extension><plugin plugin="mjgear.transmission"><instance name="g">'
        + "".join(f'<config key="{key}" value="{value}"/>' for key, value in keys.items())
        + "</instance></plugin></extension>"
        + f'<worldbody><geom type="plane" size="2 2 1"/>{links}{"</body>" * n}</worldbody><actuator>'
        + "".join(f'<position joint="j{i}" kp="{float(kp[i])!r}" kv="{float(kv[i])!r}"/>' for i in range(n))
        + "</actuator><sensor>"
        + "".join(
            f'<plugin plugin="mjgear.transmission" instance="g" objtype="joint" objname="{name}"/>' for name in names
        )
        + "</sensor></mujoco>"
    )
    data, rng, before, last, worst = mujoco.MjData(model), np.random.default_rng(1), None, None, 0
    for step in range(4000):
        if step % 20 == 0:
            data.ctrl[:] = rng.uniform(-1.5, 1.5, n)
        ctrl = data.ctrl.copy()
        mujoco.mj_step(model, data)
        now = data.sensordata.reshape(n, -1).T.copy()
        assert (now[11] <= 1).all(), (step, now[11])
        if before is not None:
            # the results of a step contain the rotors before this step
            angle, w, w_next, t = before[7], before[8], now[8], before[0]
            u = kp * (last - angle - h * w) - kv * w - (rotor + h * kv + h * h * kp) * (w_next - w) / h
            size = abs(kp * (last - angle)) + abs(kv * w) + abs(u)
            t_bound = np.sign(w_next) * abs((gamma_u + gamma_v) * u - gamma_v * t)
            worst = max(worst, (abs(t - t_bound) / size)[abs(w_next) > 1e-6 * (1 + abs(w))].max(initial=0))
        before, last = now, ctrl
    hard = int(now[12].max())
    print(f"servos and backlash: {hard} steps beyond Newton's, off the law by at most {worst:.2g}")
    assert hard < 10 and worst < 1e-9


if __name__ == "__main__":
    mujoco.mj_loadPluginLibrary(os.environ["MJGEAR_PLUGIN_PATH"])
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
