"""Gears for a robot that you did not write: joints by pattern, data-sheet values, and a forecast.

your_robot.py [ROBOT.xml]      without a file: an arm of six joints
"""

import sys

import mujoco

import mjgear


def six_joints() -> mujoco.MjSpec:
    """An arm as someone else may have written it, without gears."""
    spec = mujoco.MjSpec()
    body = spec.worldbody
    for i in range(1, 7):
        body = body.add_body(name=f"link{i}", pos=[0.3, 0, 0] if i > 1 else [0, 0, 1])
        body.add_joint(name=f"joint{i}", axis=[0, 1, 0] if i % 2 else [1, 0, 0], armature=0.1)
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=[0, 0, 0, 0.3, 0, 0], size=[0.04], mass=3 / i)
    return spec


spec = mujoco.MjSpec.from_file(sys.argv[1]) if len(sys.argv) > 1 else six_joints()
joints = [joint.name for joint in spec.joints]

# the first half are strain-wave gears, with the friction that the catalogue gives at the motor; the others worms
half = (len(joints) + 1) // 2
added = mjgear.add(spec, joints[:half], "harmonic_drive", name="proximal", motor_coulomb=0.02)
print("proximal:", ", ".join(f"{key}={value}" for key, value in added.config.items()))
added = mjgear.add(spec, joints[half:], "worm", name="distal")
print("distal:", ", ".join(f"{key}={value}" for key, value in added.config.items()))

# all problems at once, or a forecast for each joint
report = mjgear.check(spec)
for problem in report.problems:
    print(problem)
for name, facts in report.joints.items():
    back = "a load drives it" if facts.backdrivable else "no load drives it"
    print(f"{name}: the motor raises a load of {facts.load:.2f} N m with {facts.motor_torque_raises:.2f} N m; {back}")

# one second with the motors off
model = spec.compile()
data = mujoco.MjData(model)
mujoco.mj_step(model, data, round(1 / model.opt.timestep))
for name, gear in mjgear.Gears(model, data).items():
    print(f"{name}: moved by {data.joint(name).qpos[0]:+.4f} rad, friction {gear.friction:+.2f} N m")
