"""Gears whose motions depend on each other: the load moves as behind one gear with the sum of their strengths, and rests if they hold it.
Their shares of friction are not unique; the motion is."""

import itertools
import os
import sys

import mujoco
import numpy as np

import mjgear

sys.path.insert(0, os.path.join(os.environ["MJGEAR_SOURCE_DIR"], "tests", "plugin"))
import scripts

INTEGRATORS = ("Euler", "implicitfast", "implicit", "discrete")
LOCKING = {"eta_forward": 0.4, "eta_backward": -0.3, "coulomb": 1}
MILD = {"eta_forward": 0.8, "eta_backward": 0.6, "coulomb": 0.5}


def run(xml, integrator, gears, control=lambda k: 0.0, steps=500):
    """Motion of all dofs, and the worst status; gears: for each a dict for mjgear.add."""
    spec = mujoco.MjSpec.from_string(
        xml.replace("<worldbody>", f'<option integrator="{integrator}" timestep="0.002"/><worldbody>', 1)
    )
    for k, gear in enumerate(gears):
        mjgear.add(spec, name=f"g{k}", **gear)
    model = spec.compile()
    data = mujoco.MjData(model)
    data_gears = mjgear.Gears(model, data)
    motion, worst = [], 0
    for k in range(steps):
        data.ctrl[:] = control(k)
        mujoco.mj_step(model, data)
        motion.append(np.concatenate([data.qpos, data.qvel]))
        worst = max([worst, *(int(gear.status) for gear in data_gears.values())])
    return np.array(motion), worst


def lift(n, apart=0.0):
    """A load on a vertical slide under n ropes that pull straight up, from where it is to far above; apart: one beside the other."""
    ropes = "".join(f'<spatial name="r{k}"><site site="top{k}"/><site site="load"/></spatial>' for k in range(n))
    tops = "".join(f'<site name="top{k}" pos="{apart * k} 0 9"/>' for k in range(n))
    motors = "".join(f'<motor tendon="r{k}" gear="-1"/>' for k in range(n))
    return f"""<mujoco><worldbody>{tops}<body><joint name="z" type="slide" axis="0 0 1"/><geom size=".05" mass="5"/>
      <site name="load"/></body></worldbody><tendon>{ropes}</tendon><actuator>{motors}</actuator></mujoco>"""


def test_winches_beside_each_other():
    seen = set()
    for integrator, n, keys in scripts.some(itertools.product(INTEGRATORS, (2, 4), (LOCKING, MILD)), 5):
        one = {**keys, "coulomb": n * keys["coulomb"]}
        # lowering a load behind gears that lock has two solutions, to stand and to slip, and is left out
        moves = (lambda k: 0.5 * k) if keys is LOCKING else (lambda k: 60 * np.sin(0.02 * k) + 30)
        for control in (lambda k: 0.0, moves):
            alone, _ = run(lift(1), integrator, [{"tendons": "r0", **one}], control)
            all_n, status = run(
                lift(n), integrator, [{"tendons": [f"r{k}" for k in range(n)], **keys}], lambda k, c=control: c(k) / n
            )
            assert status == 0, (integrator, n, keys, status)
            assert abs(all_n - alone).max() < 1e-6, (integrator, n, keys, abs(all_n - alone).max(axis=0))
            seen.add(abs(alone).max() > 0.1)
    assert seen == {False, True}  # loads that stand, and loads that move


def test_winches_of_unlike_strength():
    """One winch stands while the other has reached its bound; velocities equal those of the sum of both laws in closed form."""
    kinds = {"mild": (0.1, 0.3, 0.5), "strong": (0.2, 0.6, 40.0)}
    for integrator, order in scripts.some(
        itertools.product(INTEGRATORS, (("mild", "strong"), ("strong", "mild"), ("strong", "mild", "mild"))), 5
    ):
        gears = [
            {"tendons": f"r{k}", **dict(zip(("gamma_u", "gamma_v", "coulomb"), kinds[kind], strict=True))}
            for k, kind in enumerate(order)
        ]
        plan = np.random.default_rng(5).uniform(-150, 200, (30, len(order)))
        plan[::3] = 0
        motion, status = run(lift(len(order)), integrator, gears, lambda k, plan=plan: plan[k // 20], 600)
        w, stood = 0.0, 0  # velocity of the ropes' lengths
        for k in range(600):
            u = -plan[k // 20]

            def most(s, u=u, order=order):
                bounds = 0.0
                for kind, torque in zip(order, u, strict=True):
                    gamma_u, gamma_v, c = kinds[kind]
                    driven = s * (gamma_u + gamma_v) * torque
                    bounds += max((c + driven) / (1 + gamma_v), (c - driven) / (1 - gamma_v))
                return bounds

            free = w + 0.002 / 5 * (5 * 9.81 + u.sum())
            w = max(0.0, free - 0.002 / 5 * most(1)) + min(0.0, free + 0.002 / 5 * most(-1))
            assert abs(motion[k, 1] + w) < 1e-11, (integrator, order, k, motion[k, 1], -w)
            stood += w == 0
        assert status == 0 and 100 < stood < 500, (integrator, order, status, stood)


def test_a_weak_gear_beside_one_that_locks():
    """The load stands: the self-locking gear, or a closed brake, holds it alone."""
    weak = {"eta_forward": 0.9, "eta_backward": 0.8, "coulomb": 1}
    locking = [{"tendons": "r0", **LOCKING}, {"tendons": "r1", **weak}]
    for integrator, gears, apart in scripts.some(
        itertools.product(INTEGRATORS, (locking, locking[::-1]), (0.4, 0.7, 1)), 7
    ):
        xml = lift(2, apart)
        motion, status = run(xml, integrator, gears, steps=50)
        assert status == 0 and abs(motion).max() < 1e-7, (integrator, status, abs(motion).max(axis=0))
        spec = mujoco.MjSpec.from_string(xml)
        mjgear.add(spec, tendons=["r0", "r1"], **weak)
        mjgear.add_brake(spec, tendons="r0", holding_torque=60)
        spec.option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}")
        model = spec.compile()
        data = mujoco.MjData(model)
        worst = fastest = 0
        for _ in range(50):
            mujoco.mj_step(model, data)
            worst = max(worst, *(int(gear.status) for gear in mjgear.Gears(model, data).values()))
            fastest = max(fastest, abs(data.qvel[0]))
        assert worst == 0 and fastest < 1e-7, (integrator, worst, fastest)


PLATFORM = """<mujoco><worldbody>{tops}<body pos="0 0 0"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
  <joint type="slide" axis="0 0 1"/><geom type="box" size=".2 .2 .02" mass="8"/><site name="load"/></body></worldbody>
  <tendon>{ropes}</tendon><actuator>{motors}</actuator></mujoco>"""


def test_four_cables_on_a_platform():
    """Three dofs: the tensions that hold it are a family of one number, each of them pulls, and none of them moves it."""
    tops = [(2, 0, 3), (-2, 0, 3), (0, 2, 3), (0, -2, 3)]
    xml = PLATFORM.format(
        tops="".join(f'<site name="t{k}" pos="{x} {y} {z}"/>' for k, (x, y, z) in enumerate(tops)),
        ropes="".join(f'<spatial name="r{k}"><site site="t{k}"/><site site="load"/></spatial>' for k in range(4)),
        motors="".join(f'<motor tendon="r{k}" gear="-1"/>' for k in range(4)),
    )
    for integrator in INTEGRATORS:
        motion, status = run(xml, integrator, [{"tendons": [f"r{k}" for k in range(4)], **LOCKING}])
        assert status == 0 and abs(motion[:, :3]).max() < 1e-9 and abs(motion[:, 3:]).max() < 1e-7, (
            integrator,
            status,
            abs(motion).max(axis=0),
        )


ARM = """<mujoco><worldbody><site name="top" pos=".5 0 2"/><body><joint name="j" axis="0 -1 0" armature=".1"/>
  <geom type="capsule" size=".03" fromto="0 0 0 .5 0 0" mass="2"/><site name="tip" pos=".5 0 0"/></body></worldbody>
  <tendon><spatial name="rope"><site site="top"/><site site="tip"/></spatial></tendon>
  <actuator><motor joint="j"/><motor tendon="rope" gear="-1"/></actuator></mujoco>"""


def test_joint_and_a_rope_on_its_link():
    for integrator in INTEGRATORS:
        motion, status = run(ARM, integrator, [{"joints": "j", **LOCKING}, {"tendons": "rope", **LOCKING}])
        assert status == 0 and abs(motion).max() < 1e-7, (integrator, status, abs(motion).max(axis=0))


def frame():
    """A free platform on six legs between two hexagons."""
    angles = np.deg2rad([-15, 15, 105, 135, 225, 255])
    feet = [(np.cos(a), np.sin(a), 0.0) for a in angles]
    heads = [(0.6 * np.cos(a), 0.6 * np.sin(a), 0.0) for a in np.deg2rad([45, 75, 165, 195, 285, 315])]
    pairs = [(0, 5), (1, 0), (2, 1), (3, 2), (4, 3), (5, 4)]
    return """<mujoco><worldbody>{feet}<body pos="0 0 .8"><freejoint/><geom type="cylinder" size=".6 .03" mass="6"/>{heads}</body></worldbody>
      <tendon>{legs}</tendon><actuator>{motors}</actuator></mujoco>""".format(
        feet="".join(f'<site name="f{k}" pos="{x:.6f} {y:.6f} {z}"/>' for k, (x, y, z) in enumerate(feet)),
        heads="".join(f'<site name="h{k}" pos="{x:.6f} {y:.6f} {z}"/>' for k, (x, y, z) in enumerate(heads)),
        legs="".join(
            f'<spatial name="l{k}"><site site="f{foot}"/><site site="h{head}"/></spatial>'
            for k, (foot, head) in enumerate(pairs)
        ),
        motors="".join(f'<motor tendon="l{k}"/>' for k in range(6)),
    )


def test_stewart_frame():
    """Six legs that lock hold a platform in all six dofs; where one leg is driven the other five stand."""
    model = mujoco.MjModel.from_xml_string(frame())
    data = mujoco.MjData(model)
    for integrator in INTEGRATORS:
        gears = [{"tendons": [f"l{k}" for k in range(6)], **LOCKING}]
        motion, status = run(frame(), integrator, gears)
        assert status == 0 and abs(motion[:, 7:]).max() < 1e-7, (integrator, status, abs(motion[:, 7:]).max(axis=0))
        motion, status = run(frame(), integrator, gears, lambda k: np.eye(6)[2] * min(k, 150.0))
        # a step holds the rates at the position where it begins
        rates = []
        for before, after in itertools.pairwise(motion):
            data.qpos[:], data.qvel[:] = before[:7], after[7:]
            mujoco.mj_forward(model, data)
            rates.append(data.ten_velocity.copy())
        rates = abs(np.array(rates)).max(axis=0)
        assert status == 0 and rates[2] > 0.1 and np.delete(rates, 2).max() < 1e-9, (integrator, status, rates)


def cables(n):
    """A free box on n cables of a ring. In its first pose turns about the vertical, and two sways, move no cable."""
    ring = 2 * np.pi * np.arange(n) / n
    sites = [
        "".join(f'<site name="{name}{k}" pos="{r * np.cos(a)} {r * np.sin(a)} {z}"/>' for k, a in enumerate(ring + by))
        for name, r, z, by in (("t", 1.2, 2, 0), ("b", 0.15, 0.05, 0.4))
    ]
    ropes = "".join(f'<spatial name="c{k}"><site site="t{k}"/><site site="b{k}"/></spatial>' for k in range(n))
    motors = "".join(f'<motor tendon="c{k}" gear="-1"/>' for k in range(n))
    return f"""<mujoco><worldbody>{sites[0]}<body pos="0 0 1"><freejoint/><geom type="box" size=".15 .15 .05" mass="4"/>{sites[1]}</body></worldbody>
      <tendon>{ropes}</tendon><actuator>{motors}</actuator></mujoco>"""


def test_cables_that_are_nearly_dependent():
    """A box that turns winds its cables into a pose in which they hold it with thousands of newtons: no cable slips in a step that counts as solved."""
    for integrator in INTEGRATORS:
        spec = mujoco.MjSpec.from_string(cables(6))
        spec.option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}")
        mjgear.add(spec, tendons=[f"c{k}" for k in range(6)], gamma_u=0.1, gamma_v=1.3, coulomb=0.05)
        model = spec.compile()
        data, start = mujoco.MjData(model), mujoco.MjData(model)
        data.qvel[3:] = 1, 2, 3
        gears, pull, slip = mjgear.Gears(model, data), 0.0, 0.0
        for _ in range(100):
            start.qpos[:] = data.qpos
            mujoco.mj_step(model, data)
            start.qvel[:] = data.qvel
            mujoco.mj_fwdPosition(model, start)
            mujoco.mj_fwdVelocity(model, start)
            slip = max(slip, abs(start.ten_velocity).max())
            pull = max(pull, *(abs(gear.friction) for gear in gears.values()))
        assert gears.counts.unsolved == 0 and pull > 1e3 and slip < 2e-6, (integrator, gears.counts, pull, slip)


def wheels(tendons):
    """Two wheels of inertia 0.2, or two of inertia 0.1 that move like the sum and the difference of the first two."""
    wheel = '<body pos="{x} 0 0"><joint name="{name}" axis="1 0 0"/><inertial pos="0 0 0" mass="1" diaginertia="{inertia} .2 .2"/></body>'
    names, inertia = (("a", "b"), 0.2) if tendons else (("u", "v"), 0.1)
    return f"""<mujoco><worldbody>{
        "".join(wheel.format(x=k, name=n, inertia=inertia) for k, n in enumerate(names))
    }</worldbody>{
        '<tendon><fixed name="u"><joint joint="a" coef="1"/><joint joint="b" coef="1"/></fixed>'
        '<fixed name="v"><joint joint="a" coef="1"/><joint joint="b" coef="-1"/></fixed></tendon>'
        if tendons
        else ""
    }<actuator>{"".join(f'<motor {"tendon" if tendons else "joint"}="{n}"/>' for n in "uv")}</actuator></mujoco>"""


def test_differential():
    """A gear on each side of a differential: sum and difference of the wheels move like two wheels with these gears."""
    for integrator, keys in scripts.some(itertools.product(INTEGRATORS, (LOCKING, MILD)), 3):

        def control(k):
            return 7 * np.sin(0.05 * k), 6 * np.sin(0.03 * k + 1)

        wheel, status = run(wheels(tendons=True), integrator, [{"tendons": ["u", "v"], **keys}], control)
        twin, _ = run(wheels(tendons=False), integrator, [{"joints": ["u", "v"], **keys}], control)
        a, b = wheel[:, 2], wheel[:, 3]
        error = max(abs(a + b - twin[:, 2]).max(), abs(a - b - twin[:, 3]).max())
        assert status == 0 and error < 1e-9 and abs(twin[:, 2:]).max() > 0.5, (
            integrator,
            keys,
            status,
            error,
            abs(twin).max(),
        )


def at_rest(motor, gamma_u, gamma_v, coulomb):
    """Intervals of friction t at rest: |t| <= |(gamma_u + gamma_v) motor - gamma_v t| + coulomb."""
    driven = (gamma_u + gamma_v) * motor
    ends = {driven / gamma_v, *((g * driven + coulomb) / (s + g * gamma_v) for s in (1, -1) for g in (1, -1))}
    ends = [-1e9, *sorted(ends), 1e9]
    middles = [(low + high) / 2 for low, high in itertools.pairwise(ends)]
    return [
        (low, high)
        for (low, high), t in zip(itertools.pairwise(ends), middles, strict=True)
        if abs(t) <= abs(driven - gamma_v * t) + coulomb
    ]


def sliding(direction, motor, gamma_u, gamma_v, coulomb):
    """Friction of a gear that moves: direction (|(gamma_u + gamma_v) motor - gamma_v t| + coulomb)."""
    found = []
    for sign in (1, -1):
        t = direction * (sign * (gamma_u + gamma_v) * motor + coulomb) / (1 + direction * sign * gamma_v)
        if sign * ((gamma_u + gamma_v) * motor - gamma_v * t) >= 0 and direction * t >= 0:
            found.append(t)
    return found


def test_winches_in_other_numbers():
    """Two to seven winches of unlike strength above and below a load, some with a screw beside them: each velocity is one that the law of all
    gears together has in closed form, or the load rests on shares of it."""
    h, mass, weight, rests, moves = 0.002, 5, 5 * 9.81, 0, 0
    for seed in (1, 2, 7, 43, 50, 55, 83, 89, 99, 101, 113, 115, 121, 140, 162, 163):
        r = np.random.default_rng(seed)
        n = int(r.integers(2, 8))
        below = [False, *(bool(r.choice([False, False, True])) for _ in range(n - 1))]
        screw = bool(r.random() < 0.4)
        integrator = str(r.choice(INTEGRATORS))
        laws = [
            (r.uniform(0, 0.4), r.uniform(0.1, 0.8) if r.random() < 0.6 else r.uniform(1.05, 1.5), r.uniform(0, 3))
            for _ in range(n + screw)
        ]
        plan = r.uniform(-40, 60, (8, n + screw))
        plan[::3] = 0
        xml = lift(n).replace('gear="-1"', "{}").format(*(f'gear="{1 if low else -1}"' for low in below))
        for k, low in enumerate(below):
            xml = xml.replace(f'name="top{k}" pos="0.0 0 9"', f'name="top{k}" pos="0 0 {-9 if low else 9}"')
        xml = xml.replace("</actuator>", '<motor joint="z"/></actuator>') if screw else xml
        keys = [dict(zip(("gamma_u", "gamma_v", "coulomb"), law, strict=True)) for law in laws]
        where = [{"tendons": f"r{k}"} for k in range(n)] + [{"joints": "z"}] * screw
        gears = [{**place, **key} for place, key in zip(where, keys, strict=True)]
        motion, status = run(xml, integrator, gears, lambda k, plan=plan: plan[k // 25], 200)
        assert status < 2, (seed, status)
        v = 0.0
        for k in range(200):
            motors, v, v_next = plan[k // 25], v, motion[k, 1]
            parts = list(zip(motors, laws, strict=True))
            force = sum(motors) - weight
            if abs(v_next) > 1e-9:
                found = [
                    v + h * (force - sum(t)) / mass
                    for s in (1, -1)
                    for t in itertools.product(*(sliding(s, motor, *law) for motor, law in parts))
                ]
                assert min(abs(np.array(found) - v_next)) < 1e-7, (seed, k, v, v_next, found)
                moves += 1
            else:
                need = force + mass * v / h
                shares = itertools.product(*(at_rest(motor, *law) for motor, law in parts))
                slack = 1e-6 * mass / h
                assert any(
                    sum(low for low, _ in share) - slack <= need <= sum(high for _, high in share) + slack
                    for share in shares
                ), (seed, k)
                rests += 1
            v = v_next
    assert rests > 2000 and moves > 300, (rests, moves)


BELT = """<mujoco><worldbody><body><joint name="j" axis="0 1 0"/><geom size=".1" mass="1"/></body></worldbody>
  <tendon><fixed name="belt"><joint joint="j" coef="2"/></fixed></tendon><actuator><motor joint="j"/><motor tendon="belt"/></actuator></mujoco>"""


def test_fixed_tendon_that_is_its_joint_is_refused():
    try:
        run(BELT, "Euler", [{"joints": "j", **LOCKING}, {"tendons": "belt", **LOCKING}], steps=1)
    except ValueError as error:
        assert "take the gear off one of them" in str(error)
    else:
        raise AssertionError("a belt whose velocity follows from its joint's is taken")


if __name__ == "__main__":
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
