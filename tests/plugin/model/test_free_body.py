"""Gears on ropes that pull free bodies which turn: every step is solved, and friction is the law's at the velocity that the engine leaves.

The engine treats the gyroscopic forces of a free body implicitly, with an unsymmetric matrix (implicitfast, implicit, discrete).
"""

import itertools
import os
import sys

import mujoco
import numpy as np

import mjgear

sys.path.insert(0, os.path.join(os.environ["MJGEAR_SOURCE_DIR"], "tests", "plugin"))
import scripts

INTEGRATORS = ("Euler", "implicitfast", "implicit", "discrete")
SPINS = ((0, 0, 0), (6, 3, -9), (0, 20, 1))
KEYS = {"eta_forward": 0.8, "eta_backward": 0.6, "coulomb": 0.5}
SCENE = """<mujoco><option timestep="{h}" integrator="{integrator}" {option}/><worldbody>
  <geom type="plane" size="9 9 .1"/><site name="winch" pos="0 0 3"/>{bodies}</worldbody>
  <tendon><spatial name="rope">{sites}</spatial></tendon><actuator><motor name="motor" tendon="rope"/></actuator></mujoco>"""
BOX = """<body name="{name}" pos="{pos}" quat="{quat}"><freejoint/><geom type="box" size="{size}" mass="2"/>{more}
  <site name="hook_{name}" pos=".2 .1 .07"/></body>"""
DRAG = 'density="2" viscosity=".1"'
OFF_CENTER = '<geom size=".05" pos=".1 -.05 .1" mass="1"/>'


def box(name="crate", pos=".4 .1 1", size=".2 .12 .07", more="", quat="1 0 0 0"):
    return BOX.format(name=name, pos=pos, size=size, more=more, quat=quat)


def crate(integrator, h=0.002, option="", **keys):
    return SCENE.format(
        h=h,
        integrator=integrator,
        option=option,
        bodies=box(**keys),
        sites='<site site="winch"/><site site="hook_crate"/>',
    )


def two(integrator, more=""):
    return SCENE.format(
        h=0.002,
        integrator=integrator,
        option='gravity="0 0 0"',
        sites='<site site="hook_a"/><site site="hook_b"/>',
        bodies=box("a", "0 0 2", more=more) + box("b", "1 .2 2.5", ".1 .05 .2", quat=".8 .3 .1 .5"),
    )


def run(xml, spin, steps=400, control=lambda t: -25 - 15 * np.sin(25 * t)):
    """Unsolved steps, the largest error of the law in solved ones, relative to its bound, the path, signs of velocity."""
    spec = mujoco.MjSpec.from_string(xml)
    mjgear.add(spec, tendons="rope", **KEYS)
    model = spec.compile()
    data = mujoco.MjData(model)
    for dof in model.jnt_dofadr:
        data.qvel[dof + 3 : dof + 6] = spin
    gear = mjgear.Gears(model, data)["rope"]
    gamma_u, gamma_v = float(gear.gamma_u), float(gear.gamma_v)
    unsolved, error, path, signs, row = 0, 0.0, [], set(), np.zeros((1, model.nv))
    for _ in range(steps):
        u = data.ctrl[0] = control(data.time)
        # the rope's row and friction belong to the positions before the step, the velocity to its end
        mujoco.mj_step1(model, data)
        mujoco.mju_sparse2dense(row, data.ten_J, model.ten_J_rownnz, model.ten_J_rowadr, model.ten_J_colind)
        mujoco.mj_step2(model, data)
        velocity, t = float((row @ data.qvel)[0]), float(gear.friction)
        bound = gamma_u * abs(u) + gamma_v * abs(u - t) + KEYS["coulomb"]
        missing = abs(t - bound * np.sign(velocity)) if abs(velocity) > 1e-9 else max(0, abs(t) - bound)
        if int(gear.status) == 0:
            error = max(error, missing / bound)
            signs.add(np.sign(velocity) if abs(velocity) > 1e-9 else 0)
        unsolved += int(gear.status) != 0
        path.append(data.qpos.copy())
    return unsolved, error, np.array(path), signs


def test_every_step_is_solved():
    """In the air, on each other and on the floor, in air with drag."""
    scenes = {
        "box": crate,
        "cube": lambda i: crate(i, size=".1 .1 .1"),
        "off-center": lambda i: crate(i, more=OFF_CENTER),
        "two": two,
        "two, off-center": lambda i: two(i, OFF_CENTER),
        "floor": lambda i: crate(i, pos=".4 .1 .0699"),
        "floor, off-center": lambda i: crate(i, pos=".4 .1 .0699", more=OFF_CENTER),
        "drag": lambda i: crate(i, option=DRAG),
        "drag, off-center": lambda i: crate(i, option=DRAG, more=OFF_CENTER),
    }
    for (name, xml), integrator in scripts.some(itertools.product(scenes.items(), INTEGRATORS), 5):
        seen = set()
        for spin in SPINS:
            unsolved, error, _, signs = run(xml(integrator), spin)
            assert unsolved == 0 and error < 1e-6, (name, integrator, spin, unsolved, error)
            seen |= signs
        assert seen >= {-1, 1}, (name, integrator, seen)


def test_motion_is_that_of_euler_at_small_steps():
    """The distance to Euler's motion shrinks with the step."""
    for integrator, more in scripts.some(itertools.product(INTEGRATORS[1:], ("", OFF_CENTER)), 5):
        distance = []
        for h in (4e-4, 1e-4):
            steps = round(0.2 / h)
            ends = [run(crate(i, h=h, more=more), (6, 3, -9), steps)[2][-1] for i in ("Euler", integrator)]
            distance.append(abs(ends[0] - ends[1]).max())
        assert distance[1] < 0.4 * distance[0] and distance[1] < 2e-3, (integrator, more, distance)


if __name__ == "__main__":
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
