"""Robots with gears that become parts of other models: attached by MjSpec, attached and replicated in MJCF, in each
other, with prefixes and suffixes. Each moves as it does alone."""

import os

import mujoco
import numpy as np

PATH = os.environ["MJGEAR_PLUGIN_PATH"]

# {home}: reference that makes the instance travel; the instance "claw" lives at the hand, and its name has a space
ARM = """<mujoco model="arm"><option timestep="0.002" integrator="implicitfast"/>
<extension><plugin plugin="mjgear.transmission">
  <instance name="gears"><config key="joint" value="shoulder elbow"/><config key="gamma_u" value="0.1 0.2"/>
    <config key="gamma_v" value="1.05 0.3"/><config key="coulomb" value="0.2"/></instance>
  <instance name="claw"><config key="joint" value="'left finger'"/><config key="eta_forward" value="0.8"/>
    <config key="backlash" value="exact"/><config key="half_gap" value="0.01"/><config key="stiffness" value="200"/>
    <config key="damping" value="0.2"/><config key="rotor_inertia" value="0.002"/></instance></plugin></extension>
<worldbody><body name="base">{gears}<joint name="shoulder" axis="0 1 0" armature="0.2"/>
  <geom type="capsule" size=".04" fromto="0 0 0 .5 0 0" contype="0" conaffinity="0"/>
  <body name="lower" pos=".5 0 0"><joint name="elbow" axis="0 1 0" armature="0.1"/>
    <geom type="capsule" size=".03" fromto="0 0 0 .4 0 0" contype="0" conaffinity="0"/>
    <body name="hand" pos=".4 0 0">{claw}<joint name="left finger" axis="0 1 0"/>
      <geom size=".05" pos=".05 0 0" mass=".3" contype="0" conaffinity="0"/></body></body></body></worldbody>
<actuator><motor name="m1" joint="shoulder"/><motor name="m2" joint="elbow"/><motor name="m3" joint="left finger"/></actuator>
{sensors}</mujoco>"""

HOMES = {
    "gears": '<plugin plugin="mjgear.transmission" instance="gears"/>',
    "claw": '<plugin plugin="mjgear.transmission" instance="claw"/>',
}
SENSORS = """<sensor><plugin name="s" plugin="mjgear.transmission" instance="gears" objtype="joint" objname="elbow"/>
<plugin name="c" plugin="mjgear.transmission" instance="claw"/></sensor>"""
SCENE = """<mujoco><option timestep="0.002" integrator="implicitfast"/><worldbody>{body}</worldbody></mujoco>"""


def arm(gears=HOMES["gears"], claw=HOMES["claw"], sensors=""):
    return ARM.format(gears=gears, claw=claw, sensors=sensors)


def trajectory(model):
    """All joints of all arms, driven alike: (steps, arms, joints)."""
    data = mujoco.MjData(model)
    assert model.nv % 3 == 0 and model.nu == model.nv
    rows = []
    for k in range(800):
        data.ctrl = np.tile([12 * np.sin(0.01 * k), 4 * np.cos(0.02 * k), 0.5 * np.sin(0.05 * k)], model.nu // 3)
        mujoco.mj_step(model, data)
        order = [model.jnt_dofadr[mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)] for name in joints(model)]
        rows.append(data.qpos[order].reshape(-1, 3))
    return np.array(rows)


def joints(model):
    """Names in the order of arms: shoulder, elbow, finger."""
    names = [model.joint(i).name for i in range(model.njnt)]
    return [name for i in range(0, len(names), 3) for name in names[i : i + 3]]


def compare(model, arms, expected):
    moved = trajectory(model)
    assert moved.shape[1] == arms, moved.shape
    error = np.abs(moved - expected).max()
    assert error < 1e-12, error
    return error


def attach(xml, names):
    """A scene with one such robot for each prefix and suffix, by MjSpec."""
    scene = mujoco.MjSpec.from_string(SCENE.format(body=""))
    for i, (prefix, suffix) in enumerate(names):
        frame = scene.worldbody.add_frame(pos=[0, i, 1])
        scene.attach(mujoco.MjSpec.from_string(xml), prefix=prefix, suffix=suffix, frame=frame)
    return scene


def replicated(alone):
    """In <replicate> the body has the plugin with its keys inside, and the copies are one instance."""
    text, inside = arm(), {}
    for name in HOMES:
        start = text.index(f'<instance name="{name}">')
        inside[name] = text[start : text.index("</instance>", start)].replace(f'<instance name="{name}">', "")
        inside[name] = f'<plugin plugin="mjgear.transmission">{inside[name]}</plugin>'
    text = arm(**inside)
    extension = text[text.index("<extension>") : text.index("</extension>")]
    text = text.replace(extension, '<extension><plugin plugin="mjgear.transmission"/>')
    compare(mujoco.MjModel.from_xml_string(text), 1, alone)
    text = text.replace(text[text.index("<actuator>") : text.index("</actuator>") + 11], "")
    body = text[text.index('<body name="base">') : text.index("</worldbody>")]
    for count in 1, 2, 5, 12:
        for sep in "", ' sep="-"':
            copies = text.replace(body, f'<replicate count="{count}" offset="0 1 0"{sep}>{body}</replicate>')
            spec = mujoco.MjSpec.from_string(copies)
            model = spec.compile()
            names = [model.joint(i).name for i in range(model.njnt)]
            assert len(names) == 3 * count, names
            motors = "".join(f'<motor joint="{name}"/>' for name in names)
            copies = copies.replace("</mujoco>", f"<actuator>{motors}</actuator></mujoco>")
            compare(mujoco.MjModel.from_xml_string(copies), count, alone)


def refused(make, *words):
    try:
        make()
    except ValueError as error:
        for word in words:
            assert word in str(error), error
    else:
        raise AssertionError("not refused")


def test_parts_of_other_models():
    mujoco.mj_loadPluginLibrary(PATH)
    alone = trajectory(mujoco.MjModel.from_xml_string(arm()))
    free = ARM[: ARM.index("<extension>")] + ARM[ARM.index("<worldbody>") :]
    free = trajectory(mujoco.MjModel.from_xml_string(free.format(gears="", claw="", sensors="")))
    assert np.abs(alone - free).max() > 0.1, "the gears do nothing"

    # MjSpec.attach: prefixes, suffixes, both, one that is empty
    for sensors in "", SENSORS:
        for names in ([("left_", ""), ("right_", "")], [("", "_1"), ("", "_2")], [("a/", "+"), ("b/", "+"), ("", "")]):
            compare(attach(arm(sensors=sensors), names).compile(), len(names), alone)

    # with sensors alone the instances travel too
    compare(attach(arm("", "", SENSORS), [("left_", ""), ("right_", "")]).compile(), 2, alone)

    # a scene of two arms as a part of another
    pair = attach(arm(sensors=SENSORS), [("left_", ""), ("right_", "")])
    scene = mujoco.MjSpec.from_string(SCENE.format(body=""))
    for i, prefix in enumerate(("one_", "two_")):
        scene.attach(pair.copy(), prefix=prefix, frame=scene.worldbody.add_frame(pos=[0, 3 * i, 0]))
    model = scene.compile()
    compare(model, 4, alone)

    # the same written as MJCF and read again: the engine's output is an ordinary model
    compare(mujoco.MjModel.from_xml_string(scene.to_xml()), 4, alone)

    # <attach>, <replicate>
    assets = {"arm.xml": arm().encode()}
    scene = """<mujoco><option timestep="0.002" integrator="implicitfast"/><asset><model name="arm" file="arm.xml"/></asset>
    <worldbody><frame pos="0 0 1"><attach model="arm" body="base" prefix="left_"/></frame>
    <frame pos="0 1 1"><attach model="arm" body="base" prefix="right_"/></frame></worldbody></mujoco>"""
    compare(mujoco.MjModel.from_xml_string(scene, assets), 2, alone)
    replicated(alone)

    # a joint of the scene with the name of an arm's joint is left alone, and its gears stay its own
    scene = attach(arm(), [("left_", "")])
    body = scene.worldbody.add_body(name="other")
    body.add_joint(name="elbow")
    body.add_geom(size=[0.1, 0, 0])
    model = scene.compile()
    data = mujoco.MjData(model)
    assert data.plugin_state.size
    data.joint("elbow").qvel = 1
    mujoco.mj_step(model, data, 10)
    assert abs(data.joint("elbow").qvel[0] - 1) < 1e-9, "the scene's elbow is geared"

    # an instance without a home whose joint names are ambiguous is refused
    scene = attach(arm("", "", SENSORS), [("left_", "")])
    body = scene.worldbody.add_body(name="other")
    body.add_joint(name="elbow")
    body.add_geom(size=[0.1, 0, 0])
    refused(scene.compile, "'elbow' or 'left_elbow' may be meant", "left_gears", "in the body")

    # otherwise the joint with exactly this name is meant: if not all joints of the instance, its sensor and the body
    # share the ending
    for instance, names, bodies, sensor in (
        ("gears_l", ("knee", "knee_l"), ("", ""), "s_l"),
        ("g0", ("joint1", "joint10"), ("", ""), "s"),
        ("g0", ("joint1", "joint10"), ("link1", "far"), "s0"),
    ):
        listed = names if sensor == "s_l" else names[:1]
        model = mujoco.MjModel.from_xml_string(
            f'<mujoco><extension><plugin plugin="mjgear.transmission"><instance name="{instance}"><config key="joint" value="{" ".join(listed)}"/>'
            '<config key="coulomb" value="1"/></instance></plugin></extension><worldbody>'
            + "".join(
                f'<body name="{body}"><joint name="{name}" axis="0 1 0"/><geom size=".1"/></body>'.replace(
                    ' name=""', ""
                )
                for name, body in zip(names, bodies)
            )
            + f'</worldbody><sensor><plugin name="{sensor}" plugin="mjgear.transmission" instance="{instance}" objtype="joint" '
            f'objname="{names[0]}"/></sensor></mujoco>'
        )
        data = mujoco.MjData(model)
        data.qvel = 1
        mujoco.mj_step(model, data, 3)
        assert [v < 0.99 for v in data.qvel] == [True, len(listed) == 2], (instance, data.qvel)

    # an instance that belongs to no part of the tree, and that nothing references, is taken literally
    plain = mujoco.MjSpec.from_string(arm("", ""))
    body = plain.worldbody.add_body(name="other")
    body.add_joint(name="gearselbow")
    body.add_geom(size=[0.1, 0, 0])
    plain.compile()

    # names
    refused(
        lambda: mujoco.MjModel.from_xml_string(arm().replace("'left finger'", "left finger")),
        "joint 'left' is not in the model",
        "in quotes",
    )
    refused(
        lambda: mujoco.MjModel.from_xml_string(arm().replace('"shoulder elbow"', '"shoulder knee"')),
        "joint 'knee' is not in the model",
    )
    compare(mujoco.MjModel.from_xml_string(arm().replace('"shoulder elbow"', "'\"shoulder\" elbow'")), 1, alone)


if __name__ == "__main__":
    test_parts_of_other_models()
