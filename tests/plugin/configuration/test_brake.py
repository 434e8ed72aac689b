"""Brakes: against a body that is written out here, in time, restored, attached, refused, and inverse."""

import itertools
import os
import sys
import warnings

import mujoco
import numpy as np

import mjgear

sys.path.insert(0, os.path.join(os.environ["MJGEAR_SOURCE_DIR"], "tests", "plugin"))
import scripts

try:
    from mujoco import batch
except ImportError:  # before 4.0
    batch = None

GEAR = "<plugin plugin='mjgear.transmission'><instance name='g'><config key='joint' value='j'/>{}</instance></plugin>"
MODEL = """<mujoco><option timestep='.001' gravity='0 0 0' integrator='{integrator}'/>
<extension><plugin plugin='mjgear.brake'/>{gear}</extension>
<worldbody><body name='b'><joint name='j' type='slide' axis='1 0 0' armature='1'/><geom size='.1' mass='1.5'/></body></worldbody>
<actuator><motor joint='j'/><plugin name='hold' plugin='mjgear.brake' joint='j' {more}>{brake}</plugin></actuator></mujoco>"""


def keys(**values: object) -> str:
    return "".join(f"<config key='{key}' value='{value}'/>" for key, value in values.items())


def make(gear: str = "", integrator: str = "implicitfast", more: str = "", **brake: object) -> mujoco.MjModel:
    text = GEAR.format(gear) if gear else ""
    return mujoco.MjModel.from_xml_string(
        MODEL.format(gear=text, integrator=integrator, more=more, brake=keys(**brake))
    )


def slip(
    v: float, f_u: float, f_v: float, gear: dict[str, float], s: int, ratio: float, brake: float, side: str
) -> list[float]:
    """Velocities after a step in which motor 1 kg, brake, teeth, brake, link 1.5 kg slip in direction s, each piece tried."""
    before, behind = (s * brake, 0.0) if side == "motor" else (0.0, s * brake)
    gu, gv, c = gear["gamma_u"], gear["gamma_v"], gear["coulomb"]
    found = []
    for sign in (1, -1):
        # u = f_u - a; load = (gu + gv) (u - before) - gv t; t = s ratio (sign load + c); 2.5 a = f_u - f_v - before - t - behind
        left = np.array([[2.5, 1.0], [s * ratio * sign * (gu + gv), 1 + s * ratio * sign * gv]])
        a, t = np.linalg.solve(left, [f_u - f_v - before - behind, s * ratio * (sign * (gu + gv) * (f_u - before) + c)])
        load = (gu + gv) * (f_u - a - before) - gv * t
        if sign * load >= -1e-12 and s * (v + 0.001 * a) > 0:
            found.append(v + 0.001 * a)
    return found


def test_breaks_away_in_contact() -> None:
    """A brake that slips with less than it holds, on a joint that an equality ties to another: it is torn off, and every step is solved."""
    text = """<mujoco><option timestep=".001" gravity="0 0 0" integrator="{}"/><extension><plugin plugin="mjgear.brake"/></extension>
    <worldbody><body><joint name="j" type="slide" axis="1 0 0" armature="1"/><geom size=".1" mass="1.5"/></body>
    <body pos="0 1 0"><joint name="k" type="slide" axis="1 0 0"/><geom size=".1" mass="1"/></body></worldbody>
    <equality><joint joint1="k" joint2="j" solref=".1 1"/></equality>
    <actuator><motor joint="j"/><plugin name="hold" plugin="mjgear.brake" joint="j">{}</plugin></actuator></mujoco>"""
    for integrator, side in itertools.product(("Euler", "implicitfast", "discrete"), ("motor", "link")):
        if integrator == "discrete" and batch is None:
            continue
        model = mujoco.MjModel.from_xml_string(
            text.format(integrator, keys(holding_torque=10, sliding_torque=5, side=side))
        )
        data, torn = mujoco.MjData(model), 0
        gear = mjgear.Gears(model, data)["j"]
        for step in range(400):
            data.ctrl[0] = 12 * np.sin(0.05 * step)
            before = data.qvel[0]
            mujoco.mj_step(model, data)
            assert gear.status in (0, 1), (integrator, side, step, gear.status)
            torn += before == 0 and data.qvel[0] != 0
        assert torn > 3, (integrator, side, torn)


def test_against_series_of_parts() -> None:
    rng = np.random.default_rng(1)
    for integrator, side, normally in itertools.product(
        ("Euler", "implicitfast"), ("motor", "link"), ("closed", "open")
    ):
        for _ in range(2 if scripts.SANITIZED else 10):
            gear = {
                "gamma_u": rng.uniform(0, 0.5),
                "gamma_v": rng.uniform(0, 0.9),
                "coulomb": rng.choice([0, rng.uniform(0, 2)]),
            }
            ratio, holding = rng.choice([1, 1.4]), rng.uniform(0, 8)
            sliding = holding * rng.choice([1, 0.6])
            model = make(
                keys(**gear, static_ratio=ratio),
                integrator,
                holding_torque=holding,
                sliding_torque=sliding,
                side=side,
                normally=normally,
            )
            data = mujoco.MjData(model)
            for _ in range(scripts.fewer(50, 2)):
                v = data.qvel[0] = rng.choice([0, 0.01 * rng.normal()])
                f_u, share = 20 * rng.normal(), rng.uniform()
                data.ctrl[:] = f_u, 1 - share if normally == "closed" else share
                data.qfrc_applied[0] = -(f_v := 20 * rng.normal())
                expected = 0.0
                for s in (1, -1):
                    first = (1, sliding) if s * v > 0 else (ratio, holding)
                    if slip(v, f_u, f_v, gear, s, first[0], share * first[1], side):
                        expected = slip(v, f_u, f_v, gear, s, 1, share * sliding, side)[0]
                before = mujoco.MjData(model)
                mujoco.mj_copyData(before, model, data)
                mujoco.mj_step(model, data)
                assert abs(data.qvel[0] - expected) <= 1e-14, (integrator, side, data.qvel[0], expected)
                assert expected != 0 or data.qvel[0] == 0.0

                # and back: the motor torque is the only one, or in the holding interval
                got = mjgear.inverse(model, before, (data.qvel - v) / 0.001)
                size = abs(f_u) + abs(f_v) + 2.5 * abs(v) / 0.001
                low, high = got.low[0], got.high[0]
                assert low - 1e-9 * size <= f_u <= high + 1e-9 * size, (low, f_u, high)
                assert expected == 0 or high - low == 0 or (ratio > 1 or holding > sliding)


def test_joint_without_gear() -> None:
    model = make(holding_torque=10, sliding_torque=6, normally="open")
    data = mujoco.MjData(model)
    plain = GEAR.format(keys(gamma_u=0, gamma_v=0))
    free = mujoco.MjModel.from_xml_string(
        MODEL.format(gear=plain, integrator="Euler", more="", brake=keys(holding_torque=1))
        .replace("<plugin name='hold'", "<!--")
        .replace("</plugin></actuator>", "--></actuator>")
    )
    assert mjgear.Gears(free, mujoco.MjData(free))["j"].brake is None
    for ctrl, expected in (
        ([9, 1], 0.0),
        ([11, 1], 0.002),
        ([0, 0], 0.002),
        ([0, 0.5], 0.0008),
        ([0, 7], 0.0),
        ([12, 7], 0.0024),  # no more than closed
        ([3, -1], 0.0036),
    ):
        data.ctrl[:] = ctrl
        mujoco.mj_step(model, data)
        assert abs(data.qvel[0] - expected) <= 1e-15 and (expected or data.qvel[0] == 0)
    model.opt.disableactuator = 1  # group 0: open
    data.ctrl[:] = 0, 1
    data.qvel[0] = 1
    mujoco.mj_step(model, data)
    assert data.qvel[0] == 1
    model.opt.disableactuator = 0
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ACTUATION
    mujoco.mj_step(model, data)
    assert data.qvel[0] == 1


def test_closes_in_time() -> None:
    model = make(holding_torque=10, closing_time=0.01, opening_time=0.005, normally="open")
    data = mujoco.MjData(model)
    place = mjgear.Gears(model, data)["j"].address("brake_travel").value
    for ctrl, expected in ((1, [0.1, 0.2, 0.3]), (0.35, [0.35, 0.35]), (0, [0.15, 0, 0])):
        data.ctrl[1] = ctrl
        for share in expected:
            mujoco.mj_forward(model, data)  # changes nothing
            mujoco.mj_step(model, data)
            assert abs(data.plugin_state[place] - share) <= 1e-15
            assert mjgear.Gears(model, data)["j"].brake == data.plugin_state[place]


def test_one_instance_of_several() -> None:
    """Brakes of one instance keep their own travels: one that closes later takes less speed."""
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep='.001' gravity='0 0 0'/><extension><plugin plugin='mjgear.brake'><instance name='both'>
        {keys(holding_torque=10, closing_time=0.01, opening_time=0.01, normally="open")}</instance></plugin></extension><worldbody>
        <body><joint name='a' type='slide'/><geom size='.1' mass='1'/></body><body pos='1 0 0'><joint name='b' type='slide'/><geom size='.1' mass='1'/></body>
        </worldbody><actuator><plugin instance='both' joint='a'/><plugin instance='both' joint='b'/></actuator></mujoco>"""
    )
    data = mujoco.MjData(model)
    data.qvel[:] = 1
    gears = mjgear.Gears(model, data)
    for k in range(5):
        data.ctrl[:] = 1, k > 2
        mujoco.mj_step(model, data)
    # after k steps at 1 the share is k/10, and a step takes h 10 N share / 1 kg off
    assert np.allclose([gears["a"].brake, gears["b"].brake], [0.5, 0.2], rtol=0, atol=1e-15)
    assert np.allclose(1 - data.qvel, [0.015, 0.003], rtol=0, atol=1e-14)


def test_two_tendons() -> None:
    """Brakes of two tendons are two: 1 N on the sum of two joints of 1 kg, 2 N on their difference."""
    bodies = "".join(
        f"<body pos='{k} 0 0'><joint name='{k}' type='slide'/><geom size='.1' mass='1'/></body>" for k in "01"
    )
    ropes = "".join(
        f"<fixed name='t{k}'><joint joint='0' coef='1'/><joint joint='1' coef='{1 - 2 * k}'/></fixed>" for k in range(2)
    )
    brakes = "".join(
        f"<plugin plugin='mjgear.brake' tendon='t{k}'>{keys(holding_torque=1 + k)}</plugin>" for k in range(2)
    )
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><option timestep='.001' gravity='0 0 0'/><extension><plugin plugin='mjgear.brake'/></extension>"
        f"<worldbody>{bodies}</worldbody><tendon>{ropes}</tendon><actuator>{brakes}</actuator></mujoco>"
    )
    data = mujoco.MjData(model)
    data.qvel[:] = 1, 0.5
    mujoco.mj_step(model, data)
    assert np.allclose(data.qvel, [1 - 0.003, 0.5 + 0.001], rtol=0, atol=1e-15)


def test_restored() -> None:
    rng = np.random.default_rng(1)
    model = make(
        keys(gamma_u=0.2, gamma_v=0.5, static_ratio=1.3),
        holding_torque=10,
        sliding_torque=6,
        closing_time=0.05,
        normally="open",
    )
    data, kind = mujoco.MjData(model), mujoco.mjtState.mjSTATE_INTEGRATION
    size = mujoco.mj_stateSize(model, kind)
    for i in range(300):
        data.ctrl[:] = 20 * rng.normal(), i // 30 % 2
        if i == 150:
            state = np.zeros(size)
            mujoco.mj_getState(model, data, state, kind)
            other = mujoco.MjData(model)
            mujoco.mj_setState(model, other, state, kind)
        if i >= 150:
            other.ctrl[:] = data.ctrl
            mujoco.mj_step(model, other)
        mujoco.mj_step(model, data)
        assert i < 150 or (np.array_equal(other.qvel, data.qvel) and np.array_equal(other.qpos, data.qpos))


def test_clutch() -> None:
    """A brake on a tendon between two bodies without gears: open they are alone, closed they exchange its torque, then move as one."""
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><option timestep='.001' gravity='0 0 0'/><extension><plugin plugin='mjgear.brake'/></extension><worldbody>"
        "<body><joint name='a' type='slide' axis='1 0 0'/><geom size='.1' mass='1'/></body>"
        "<body pos='0 1 0'><joint name='b' type='slide' axis='1 0 0'/><geom size='.1' mass='3'/></body></worldbody>"
        "<tendon><fixed name='slip'><joint joint='a' coef='1'/><joint joint='b' coef='-1'/></fixed></tendon>"
        f"""<actuator><plugin plugin='mjgear.brake' tendon='slip'>{keys(holding_torque=6, normally="open")}</plugin></actuator></mujoco>"""
    )
    data = mujoco.MjData(model)
    data.qvel[0] = 1
    mujoco.mj_step(model, data, 100)
    assert data.qvel[0] == 1 and data.qvel[1] == 0
    data.ctrl[0] = 0.5
    mujoco.mj_step(model, data, 100)
    assert np.allclose(data.qvel, [0.7, 0.1], rtol=0, atol=1e-12)
    mujoco.mj_step(model, data, 200)
    assert np.allclose(data.qvel, 0.25, rtol=0, atol=1e-14)


def test_batch() -> None:
    """Rows of a Batch equal single simulations to the last bit."""
    if batch is None:
        return
    model = make(
        keys(gamma_u=0.2, gamma_v=0.5), holding_torque=10, sliding_torque=6, closing_time=0.02, normally="open"
    )
    share, expected = np.linspace(0, 1, 5), []
    for x in share:
        data = mujoco.MjData(model)
        for k in range(100):
            data.ctrl[:] = 20 * np.sin(0.1 * k), x
            mujoco.mj_step(model, data)
        expected.append(data)
    many = batch.Batch(model, len(share), nthread=2)
    ctrl = many.bind("ctrl")
    for k in range(100):
        ctrl[:] = np.stack([np.full(len(share), 20 * np.sin(0.1 * k)), share], axis=1)
        many.step()
    for i, data in enumerate(expected):
        assert (
            many.bind("qpos")[i].tobytes() == data.qpos.tobytes()
            and many.bind("plugin_state")[i].tobytes() == data.plugin_state.tobytes()
        )
    assert len({data.qpos[0] for data in expected}) == len(share)
    assert np.array_equal(mjgear.Gears(model, many)["j"].brake, share)


def test_added_and_attached() -> None:
    robot = mujoco.MjSpec()
    body = robot.worldbody.add_body(name="arm")
    body.add_geom(size=[0.1, 0, 0], mass=1)
    body.add_joint(name="elbow", armature=0.1)
    assert mjgear.add_brake(robot, "elb*", holding_torque="3 Nm", side="link") == ("elbow_brake",)
    assert not mjgear.check(robot).problems
    home = mujoco.MjSpec()
    for prefix in ("left_", "right_"):
        home.worldbody.add_frame().attach_body(robot.copy().body("arm"), prefix, "")
    model = home.compile()
    data = mujoco.MjData(model)
    assert set(mjgear.Gears(model, data)) == {"left_elbow", "right_elbow"}
    data.qvel[:] = 1
    data.actuator("left_elbow_brake").ctrl = 1
    for _ in range(200):
        mujoco.mj_step(model, data)
    assert data.qvel[1] == 0 and data.qvel[0] > 0.1
    assert model.actuator_ctrllimited.all() and model.actuator_ctrlrange.tolist() == [[0, 1], [0, 1]]
    named = mujoco.MjSpec()
    named.worldbody.add_body().add_joint(name="j")
    named.add_plugin(name="j_brake", plugin_name="mjgear.brake")
    for spec, joint, group, line in (
        (robot, "elbow", 0, "the model has a 'elbow_brake' already"),
        (named, "j", 0, "the model has a 'j_brake' already"),
        (
            mujoco.MjSpec.from_string(MODEL.format(gear="", integrator="Euler", more="", brake="")),
            "j",
            True,
            "group is True; give a whole number",
        ),
    ):
        with scripts.refuses(line):
            mjgear.add_brake(spec, joint, holding_torque=1, group=group)
    for wrong, line in (
        ({"holding_torque": -1}, "negative"),
        ({}, "how strong"),
        ({"holding_torque": 1, "sliding_torque": 2}, "at least"),
    ):
        try:
            mjgear.add_brake(robot, "elbow", **wrong)
            raise AssertionError(wrong)
        except mjgear.GearError as error:
            assert ("already" in str(error) or line in str(error)) and "joint 'elbow'" in str(error), error
    other = mujoco.MjSpec()
    other.worldbody.add_body().add_joint(name="j")
    for wrong, line in (
        ({"holding_torque": -1}, "negative"),
        ({}, "how strong"),
        ({"holding_torque": 1, "sliding_torque": 2}, "at least"),
        ({"holding_torque": 1e308}, "check its unit"),
        ({"holding_torque": 1, "closing_time": "soon"}, "closing_time = 'soon' is not a number"),
        ({"holding_torque": 1, "opening_time": None}, "opening_time = 'None' is not a number"),
        ({"holding_torque": 1, "normally": "shut"}, "'shut' is unknown; choose one of: closed, open"),
        ({"holding_torque": 1, "side": None}, "'None' is unknown; choose one of: motor, link"),
        ({"holding_torque": 1, "tendons": 5}, "tendons are [5]; give a name, or a list of names"),
    ):
        try:
            mjgear.add_brake(other, "j", **wrong)
            raise AssertionError(wrong)
        except mjgear.GearError as error:
            assert line in str(error) and ("'j'" in str(error) or "tendons" in str(error)), error


def lift(more: str = "", group: str = "", **brake: object) -> mujoco.MjModel:
    """A load of 2 kg that hangs on a joint with a motor and a brake."""
    return mujoco.MjModel.from_xml_string(
        "<mujoco><option timestep='.001'/><extension><plugin plugin='mjgear.brake'/></extension><worldbody><body><joint name='j' type='slide' axis='0 0 1'/>"
        f"<geom size='.1' mass='2'/></body></worldbody><actuator><motor name='m' joint='j'/><plugin name='hold' plugin='mjgear.brake' joint='j' {group}>"
        f"{keys(holding_torque=30, **brake)}</plugin></actuator>{more}</mujoco>"
    )


def test_holds_without_power() -> None:
    """A robot that loses power does not fall: 0 V, a disabled actuator, the flag, a NaN, a reset, a keyframe, each alone."""
    group, disable = 1 << 0, mujoco.mjtDisableBit.mjDSBL_ACTUATION
    for what in ("ctrl", "group", "flag", "nan", "reset", "key"):
        model = lift("<keyframe><key name='up' qpos='1' ctrl='0 1'/></keyframe>", opening_time=0.1, closing_time=0.01)
        data = mujoco.MjData(model)
        gear = mjgear.Gears(model, data)["j"]
        assert gear.brake == 1, "closed before the first step"
        data.ctrl[1] = 1
        mujoco.mj_step(model, data, 150)
        assert gear.brake == 0 and data.qvel[0] < -0.4, (what, data.qvel)  # it opened in 0.1 s and fell
        if what == "reset":
            mujoco.mj_resetData(model, data)
        elif what == "key":
            mujoco.mj_resetDataKeyframe(model, data, 0)
            assert data.ctrl[1] == 1 and gear.brake == 1
            mujoco.mj_step(model, data, 50)  # half of opening_time: half its torque still holds 15 N of 19.6
            assert abs(gear.brake - 0.5) < 1e-12
            continue
        data.ctrl[1] = {"ctrl": 0, "nan": np.nan, "reset": 0}.get(what, 1)
        model.opt.disableactuator = group if what == "group" else 0
        model.opt.disableflags |= disable if what == "flag" else 0
        mujoco.mj_step(model, data, 600)
        assert gear.brake == 1 and data.qvel[0] == 0, (what, gear.brake, data.qvel)
        assert np.isfinite(data.plugin_state).all(), what

    # every group that the engine knows is switched off, 0 to 30; others never are
    for number in (-1, 0, 1, 29, 30, 31, 32):
        for bit in (0, 1, 29, 30):
            model = lift()
            model.actuator_group[1] = number
            model.opt.disableactuator = 1 << bit
            data = mujoco.MjData(model)
            data.ctrl[1] = 1
            mujoco.mj_step(model, data, 3)
            assert mjgear.Gears(model, data)["j"].brake == (number == bit), (number, bit)
    open_model = lift(normally="open")
    data = mujoco.MjData(open_model)
    gear = mjgear.Gears(open_model, data)["j"]
    assert gear.brake == 0
    mujoco.mj_step(open_model, data, 100)
    assert abs(data.qvel[0] + 0.981) < 1e-9 and gear.brake == 0


def test_travels_that_are_none() -> None:
    """A program that writes a travel beyond 0 to 1 gets the nearest one, and no brake that drives; NaN is no travel."""
    for travel, share in (32, 0), (-7, 1), (np.nan, 1), (np.inf, 1), (1e300, 1):
        model = lift(opening_time=10, closing_time=10)
        data = mujoco.MjData(model)
        gear = mjgear.Gears(model, data)["j"]
        data.plugin_state[gear.address("brake_travel").value] = travel
        data.qvel[0] = 1
        for _ in range(20):
            mujoco.mj_step(model, data)
            assert abs(gear.brake - share) <= 0.002 + 1e-12 and gear.power_loss >= 0, (
                travel,
                gear.brake,
                gear.power_loss,
            )


LIFT = """<mujoco><worldbody><body><joint name='j' type='slide' axis='0 0 1'/><geom size='.1' mass='2'/></body></worldbody>
<actuator><motor name='m' joint='j'/></actuator></mujoco>"""


def test_switching_motors_off_keeps_what_add_brake_added() -> None:
    for normally, power in (("closed", 0), ("open", 1)):
        spec = mujoco.MjSpec.from_string(LIFT)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            mjgear.add_brake(spec, "j", "30 N", normally=normally)
        model = spec.compile()
        data = mujoco.MjData(model)
        assert list(model.actuator_group) == [0, 5]
        data.ctrl[:] = 0, power
        model.opt.disableactuator = 1
        mujoco.mj_step(model, data, 100)
        assert data.qvel[0] == 0, normally


def test_a_group_with_motors_is_told() -> None:
    for text, whose in ((LIFT, "'m'"), (LIFT.replace("name='m'", ""), "0")):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            mjgear.add_brake(mujoco.MjSpec.from_string(text), "j", "30 N", group=0)
        assert len(told) == 1 and f"group 0 of the brakes has other actuators, too: {whose}. " in str(told[0].message)


def test_takes_nothing_from_defaults() -> None:
    """Under a default class that sets every attribute of an actuator the brake is the engine's plain one, also when written and attached."""
    every = (
        "gear='20' forcelimited='true' forcerange='-5 5' ctrllimited='true' ctrlrange='-3 3' actlimited='true' actrange='-1 1' group='3' dyntype='filter' "
        "dynprm='.05' delay='.01' nsample='6' interp='linear' gaintype='affine' gainprm='40 1 -2' biastype='affine' biasprm='1 -40 -2' damping='.2' armature='.1' "
        "actdim='1' actearly='true' user='1 2'"
    ).split("' ")
    choices = [
        *(one.rstrip("'") + "'" for one in every),
        "' ".join(every),
        "forcelimited='true' forcerange='-9 9' biastype='affine' biasprm='0 -30 -4'",
    ]
    plain = None
    for attributes in ["", *choices]:
        text = (
            f"<mujoco><size nuser_actuator='2'/><option integrator='implicitfast'/><default><general {attributes}/></default><worldbody><body name='arm'>"
            "<joint name='j' type='slide' axis='0 0 1' armature='.05'/><geom size='.1' mass='2'/></body></worldbody></mujoco>"
        )
        try:
            spec = mujoco.MjSpec.from_string(text)
        except ValueError:  # an attribute that requires another
            assert attributes.count("=") == 1
            continue
        mjgear.add_brake(spec, "j", 30, sliding_torque=12)
        whole = mujoco.MjSpec()
        whole.option.integrator, whole.nuser_actuator = spec.option.integrator, 2
        whole.worldbody.add_frame().attach_body(spec.copy().body("arm"), "a_", "")
        models = [spec.compile(), mujoco.MjModel.from_xml_string(spec.to_xml()), whole.compile()]
        found = []
        for model in models:
            data, track = mujoco.MjData(model), []
            for k in range(60):
                data.ctrl[0] = k // 20 % 2
                mujoco.mj_step(model, data)
                track.append(data.qpos[0])
            found.append(track)
            assert (
                model.actuator_group[0] == 5 and not model.actuator_damping.any() and model.actuator_armature[0] == 0
            ), attributes
        plain = plain or found[0]
        assert found == [plain] * 3, (attributes, [track[-1] for track in found], plain[-1])
        assert plain[19] == 0 and plain[39] < -1e-4


def test_refusals() -> None:
    lone = f"<instance name='lone'>{keys(holding_torque=1)}</instance>"
    with scripts.refuses("instance 'lone': key 'holding_torque': no actuator is this brake"):
        mujoco.MjModel.from_xml_string(
            f"<mujoco><extension><plugin plugin='mjgear.brake'>{lone}</plugin></extension><worldbody/></mujoco>"
        )
    gear = keys(gamma_u=0.1, gamma_v=0.1)
    shaft = keys(backlash="exact", half_gap=0.1, stiffness=100, rotor_inertia=0.1)
    for line, call in {
        "how strong": {},
        "-1 is negative": {"holding_torque": -1},
        "'x' is not a number": {"holding_torque": "x"},
        "choose one of: motor, link": {"holding_torque": 1, "side": "teeth"},
        "holds at least what": {"holding_torque": 1, "sliding_torque": 2},
        "closing_time": {"holding_torque": 1, "closing_time": -1},
        "has gear, forcerange, delay, a bias": {"holding_torque": 1, "more": "gear='2'"},
        "delay, a bias, gains or an activation": {"holding_torque": 1, "more": "delay='.01' nsample='4'"},
        "has a brake, which holds rigidly": {"holding_torque": 1, "gear": gear + keys(presliding_stiffness=10)},
        "unrecognized attribute": {"holding_torque": 1, "torque": 2},
        "no hinge or slide": {"holding_torque": 1, "on": "jointinparent='j'"},
        "has backlash": {"holding_torque": 1, "gear": gear + shaft, "armature": 0},
        "has a brake already": {"holding_torque": 1, "twice": True},
    }.items():
        text = MODEL.format(
            gear=GEAR.format(call.pop("gear")) if "gear" in call else "",
            integrator="Euler",
            more=call.pop("more", ""),
            brake=keys(**{key: value for key, value in call.items() if key not in ("on", "armature", "twice")}),
        )
        text = text.replace("armature='1'", f"armature='{call.get('armature', 1)}'")
        if "twice" in call:
            brake = text[text.index("<plugin name='hold'") : text.index("</actuator>")]
            text = text.replace(brake, brake + brake.replace("'hold'", "'hold2'"))
        with scripts.refuses(line):
            mujoco.MjModel.from_xml_string(
                text.replace("plugin='mjgear.brake' joint='j'", f"plugin='mjgear.brake' {call.get('on', chr(32))}")
                if "on" in call
                else text
            )


if __name__ == "__main__":
    scripts.run(globals())
