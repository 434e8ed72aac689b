"""A tree that falls asleep leaves the gears of its neighbours unchanged: status and motion of an arm, to the bit, beside a twin in which
nothing sleeps."""

import itertools
import os
import sys

import mujoco
import numpy as np

import mjgear

sys.path.insert(0, os.path.join(os.environ["MJGEAR_SOURCE_DIR"], "tests", "plugin"))
import scripts

ARM = """<body pos="0 0 2"><joint name="elbow" axis="0 -1 0" armature="0.05"/>
  <geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.03" mass="2"/></body>"""
NEIGHBOURS = {
    "box": '<body pos="3 0 0.11"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>',
    # a geared arm that lies on a block, with play between motor and load where the elbow has it
    "arm": """<body pos="3 0 0.25"><joint name="lying" axis="0 -1 0" armature="0.05" damping="1"/>
      <geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.03" mass="2"/></body><geom type="box" pos="3.3 0 0.1" size="0.3 0.1 0.1"/>""",
    # falls on a box that sleeps, after a second, and wakes it
    "waking": """<body pos="3 0 0.11"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>
      <body pos="3 0 5.5"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>""",
}
XML = """<mujoco><option timestep="0.002" integrator="{integrator}"><flag sleep="enable"/></option>
  <worldbody><geom type="plane" size="9 9 1"/>{bodies}</worldbody>
  <actuator><general name="m" joint="elbow" dyntype="{dyn}" dynprm="0.05" gainprm="12"/></actuator></mujoco>"""
GEAR = {"eta_forward": 0.6, "eta_backward": 0.3, "coulomb": 0.2}
PLAY = {"backlash": "exact", "half_gap": 0.01, "stiffness": 2000, "damping": 2, "rotor_inertia": 0.02}


def make(integrator, dyn, neighbour, play, order):
    bodies = [ARM, NEIGHBOURS[neighbour]] if neighbour else [ARM]
    spec = mujoco.MjSpec.from_string(XML.format(integrator=integrator, dyn=dyn, bodies="".join(bodies[::order])))
    joints = ["elbow", "lying"] if neighbour == "arm" else ["elbow"]
    mjgear.add(spec, joints, **GEAR, **(PLAY if play else {}))
    return spec.compile()


def run(model, dyn, copies=()):
    data = mujoco.MjData(model)
    spare = mujoco.MjData(model)
    motion, asleep, gear = [], [], None
    for k in range(2000):
        if k in copies:  # the rest in another mjData
            mujoco.mj_copyData(spare, model, data)
            data, spare = spare, data
        data.ctrl[0] = np.sin(0.01 * k) * (0.1 if dyn == "integrator" else 1)
        mujoco.mj_step(model, data)
        gear = mjgear.Gears(model, data)["elbow"] if k in copies or k == 0 else gear
        joint = data.joint("elbow")
        motion.append((joint.qpos[0], joint.qvel[0], int(gear.status)))
        asleep.append(data.ntree_awake < model.ntree)
    return np.array(motion), np.array(asleep)


def test_neighbours_fall_asleep():
    seen = 0
    cases = scripts.some(
        itertools.product(("Euler", "implicitfast", "implicit"), ("none", "filter", "integrator"), (False, True)), 5
    )
    for integrator, dyn, play in cases:
        alone, _ = run(make(integrator, dyn, None, play, 1), dyn)
        for neighbour, order in itertools.product(NEIGHBOURS, (1, -1)):
            motion, asleep = run(make(integrator, dyn, neighbour, play, order), dyn, copies=(700, 1300))
            case = (integrator, dyn, play, neighbour, order)
            assert asleep.any(), case
            seen += np.count_nonzero(np.diff(asleep.astype(int)) == 1)
            assert np.array_equal(motion[:, 2], alone[:, 2]), (case, np.flatnonzero(motion[:, 2] != alone[:, 2]))
            assert abs(motion - alone).max() < 1e-9, (case, abs(motion - alone).max(axis=0))
    assert seen > 100 / 18 * len(cases), seen  # more than 100 in all 18 cases


def test_motor_in_another_tree():
    """A motor_joint in a tree of its own is refused: where one sleeps it would be a wall. Without the flag, and in one tree, it is right."""
    motor = "<body><joint name='motor' axis='0 0 1'/><geom size='.05' mass='.2'/>{}</body>{}"
    load = "<body pos='0 0 2'><joint name='load' axis='0 0 1'/><geom size='.1' mass='1'/></body>"
    for bodies, sleep, apart in (([load, ""], "enable", 0), (["", load], "disable", 1), (["", load], "enable", 1)):
        text = (
            f"<mujoco><option><flag sleep='{sleep}'/></option><worldbody>{motor.format(*bodies)}</worldbody></mujoco>"
        )
        spec = mujoco.MjSpec.from_string(text)
        play = {key: value for key, value in PLAY.items() if key != "rotor_inertia"}
        mjgear.add(spec, "load", eta_forward=0.8, eta_backward=0.7, motor_joint="motor", **play)
        if apart and sleep == "enable":
            line = "key 'motor_joint': the gear of joint 'load' connects kinematic trees, which may not fall asleep one by one; disable the flag sleep"
            assert any(line in one for one in mjgear.check(spec).problems)
            with scripts.refuses(line):
                spec.compile()
        else:
            mujoco.mj_step(model := spec.compile(), mujoco.MjData(model))


if __name__ == "__main__":
    test_motor_in_another_tree()
    test_neighbours_fall_asleep()
