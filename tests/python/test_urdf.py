"""URDF of three conventions: transmissions, mimic joints, friction and ros2_control become motors and gears, and lost parts are listed."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import mujoco
import numpy as np

import mjgear

TOOL = sys.argv.pop(1)


def link(name):
    return f'<link name="{name}"><inertial><origin xyz="0.1 0 0"/><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>'


def joint(name, parent, child, more="", kind="revolute"):
    limit = '<limit lower="-1" upper="2" effort="50" velocity="3"/>' if kind != "fixed" else ""
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><origin xyz="0.2 0 0"/><axis xyz="0 1 0"/>{limit}{more}</joint>'


LINKS = '<link name="base"/>' + "".join(map(link, ("upper", "fore", "hand")))

# as Universal Robots' description for ROS 1: the reduction in the actuator
UNIVERSAL = f"""<robot name="ur">{LINKS}{joint("shoulder_pan_joint", "base", "upper", '<dynamics damping="0.5" friction="1.5"/>')}
{joint("elbow_joint", "upper", "fore")}{joint("tool", "fore", "hand", kind="fixed")}
<transmission name="pan_trans"><type>transmission_interface/SimpleTransmission</type><joint name="shoulder_pan_joint"><hardwareInterface>hardware_interface/PositionJointInterface</hardwareInterface></joint>
  <actuator name="pan_motor"><mechanicalReduction>101</mechanicalReduction></actuator></transmission>
<transmission name="elbow_trans"><type>transmission_interface/SimpleTransmission</type><joint name="elbow_joint"/><actuator name="m"><mechanicalReduction>-50</mechanicalReduction></actuator></transmission>
<gazebo reference="upper"><selfCollide>true</selfCollide></gazebo></robot>"""

# as PAL's: the reduction in the joint, a differential wrist, safety limits
PAL = f"""<robot name="pal">{LINKS}{joint("arm_1_joint", "base", "upper", '<safety_controller k_velocity="20"/>')}{joint("arm_6_joint", "upper", "fore")}{joint("arm_7_joint", "fore", "hand")}
<transmission name="arm_1_trans"><type>transmission_interface/SimpleTransmission</type><actuator name="arm_1_motor"/><joint name="arm_1_joint"><mechanicalReduction>100.0</mechanicalReduction></joint></transmission>
<transmission name="wrist_trans"><type>transmission_interface/DifferentialTransmission</type><actuator name="a"><mechanicalReduction>336</mechanicalReduction></actuator>
<joint name="arm_6_joint"/><joint name="arm_7_joint"/></transmission></robot>"""

# as Robotis': ros2_control without transmissions, a finger that follows another
ROBOTIS = f"""<robot name="open_manipulator">{LINKS}{joint("joint1", "base", "upper")}{joint("gripper_left_joint", "upper", "fore")}
{joint("gripper_right_joint", "upper", "hand", '<mimic joint="gripper_left_joint" multiplier="-2" offset="0.1"/>')}
<ros2_control name="system" type="system"><hardware><plugin>x</plugin></hardware>
<joint name="joint1"><command_interface name="position"/><state_interface name="position"/></joint>
<joint name="gripper_left_joint"><command_interface name="effort"/></joint></ros2_control></robot>"""


SDF = """<sdf version="1.9"><model name="robot">
<joint name="arm" type="revolute"><parent>base</parent><child>arm</child><axis><xyz>0 1 0</xyz><dynamics><damping>0.5</damping><friction>1.5</friction></dynamics></axis></joint>
<joint name="wheel1" type="continuous"><parent>base</parent><child>a</child><axis><xyz>0 1 0</xyz>
  <dynamics><damping>0.3</damping><friction>0.1</friction><spring_stiffness>2</spring_stiffness><spring_reference>0.1</spring_reference></dynamics></axis></joint>
<joint name="wheel2" type="continuous"><parent>base</parent><child>b</child><axis><xyz>0 -1 0</xyz></axis></joint>
<joint name="gears" type="gearbox"><parent>a</parent><child>b</child><gearbox_ratio>3</gearbox_ratio><gearbox_reference_body>base</gearbox_reference_body>
  <axis><xyz>0 1 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint>
<joint name="lift" type="screw"><parent>base</parent><child>c</child><thread_pitch>500</thread_pitch><axis><xyz>0 0 1</xyz></axis></joint>
<joint name="tail" type="revolute"><parent>base</parent><child>d</child></joint><joint name="neck" type="ball"><parent>base</parent><child>e</child></joint>
</model></sdf>"""
OF_SDF = """<mujoco><worldbody><body name="base"><geom size="0.1"/>
<body name="arm" pos="1 0 0"><joint name="arm" axis="0 1 0"/><geom size="0.05" pos="0.2 0 0"/></body>
<body name="a" pos="2 0 0"><joint name="wheel1" axis="0 1 0"/><geom size="0.1"/></body><body name="b" pos="3 0 0"><joint name="wheel2" axis="0 -1 0"/><geom size="0.1"/></body>
<body name="c" pos="4 0 0"><joint name="lift" type="slide" axis="0 0 1"/><geom size="0.1"/></body></body></worldbody></mujoco>"""


class Test(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def file(self, text, name="robot.urdf"):
        path = self.folder / name
        path.write_text(text)
        return path

    def test_universal(self):
        made = mjgear.from_urdf(
            self.file(UNIVERSAL),
            {"shoulder_pan_joint": "harmonic_drive", "elbow*": {"eta_forward": 0.7, "eta_backward": -0.1}},
        )
        self.assertEqual(dict(made.reductions), {"shoulder_pan_joint": 101, "elbow_joint": 50})
        told = "\n".join(made.lost)
        for line in ("the sign of the reduction -50 of joint 'elbow_joint'", "<gazebo>", "velocity limits of joints"):
            self.assertIn(line, told)
        model = made.spec.compile()
        data = mujoco.MjData(model)
        gears = mjgear.Gears(model, data)
        self.assertEqual((gears["shoulder_pan_joint"].coulomb, gears["shoulder_pan_joint"].eta_forward), (1.5, 0.8))
        self.assertEqual((model.dof_frictionloss.max(), np.ravel(model.dof_damping)[0]), (0, 0.5))
        self.assertEqual([model.actuator(i).name for i in range(model.nu)], ["shoulder_pan_joint", "elbow_joint"])
        np.testing.assert_array_equal(model.jnt_actfrcrange, [[-50, 50], [-50, 50]])
        mujoco.mj_step(model, data, 100)
        self.assertEqual(data.qvel[1], 0)  # the elbow locks

        # a motor's inertia shows multiplied by the square of the file's reduction
        other = mjgear.from_urdf(
            self.file(UNIVERSAL), {"shoulder_pan_joint": {"preset": "harmonic_drive", "motor_inertia": "1e-4 kg m2"}}
        )
        self.assertAlmostEqual(other.spec.compile().dof_armature[0], 1e-4 * 101**2, delta=1e-12)

    def test_reduction_of_one(self):
        # makers' files say 1 for gears of 100:1: a preset keeps its ratio, by whose square a motor's inertia shows
        one = self.file(UNIVERSAL.replace("<mechanicalReduction>101<", "<mechanicalReduction>1<"))
        made = mjgear.from_urdf(
            one, {"shoulder_pan_joint": {"preset": "harmonic_drive", "motor_inertia": "1e-4 kg m2"}}
        )
        self.assertAlmostEqual(made.spec.compile().dof_armature[0], 1e-4 * 100**2, delta=1e-12)
        self.assertIn("the reduction 1 of joint 'shoulder_pan_joint': the ratio of its preset stays", made.lost)
        made = mjgear.from_urdf(one, {"shoulder_pan_joint": {"eta_forward": 0.9, "motor_inertia": "1e-4 kg m2"}})
        self.assertAlmostEqual(made.spec.compile().dof_armature[0], 1e-4, delta=1e-12)

    def test_pal(self):
        made = mjgear.from_urdf(self.file(PAL), {"arm_1_joint": "worm"})
        self.assertEqual(dict(made.reductions), {"arm_1_joint": 100})
        told = "\n".join(made.lost)
        for line in (
            "'wrist_trans' of type transmission_interface/DifferentialTransmission, which couples arm_6_joint, arm_7_joint",
            "<safety_controller> of joint 'arm_1_joint'",
        ):
            self.assertIn(line, told)
        self.assertEqual(made.spec.compile().nu, 1)

    def test_robotis(self):
        made = mjgear.from_urdf(self.file(ROBOTIS), {"joint1": "xl330", "gripper_left_joint": "xl330"})
        self.assertIn("command interfaces position of joint 'joint1': its motor takes torque", made.lost)
        model = made.spec.compile()
        self.assertEqual((model.nu, model.neq, len(mjgear.Gears(model, mujoco.MjData(model)))), (2, 1, 2))
        np.testing.assert_array_equal(model.eq_data[0][:2], [0.1, -2])

    def test_command(self):
        urdf, gears, xml = (
            self.file(UNIVERSAL),
            self.file(json.dumps({"*": "worm"}), "gears.json"),
            self.folder / "robot.xml",
        )
        done = subprocess.run(
            [TOOL, "convert", urdf, "--gears", gears, "-o", xml], capture_output=True, text=True, check=False
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stderr)
        self.assertIn("lost: <gazebo>", done.stdout)
        model = mujoco.MjModel.from_xml_path(str(xml))
        self.assertEqual(len(mjgear.Gears(model, mujoco.MjData(model))), 2)

    def test_sdf(self):
        # MuJoCo reads no SDF: its joints' mechanics go into the same robot as MJCF
        sdf, xml, out = self.file(SDF, "robot.sdf"), self.file(OF_SDF, "robot.xml"), self.folder / "out.xml"
        gears = self.file(
            json.dumps({"arm": "worm", "lift": {"eta_forward": 0.4, "eta_backward": -0.2, "motor_coulomb": 0.01}}),
            "gears.json",
        )
        done = subprocess.run(
            [TOOL, "convert", sdf, "--into", xml, "--gears", gears, "-o", out],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stderr)
        for line in (
            "joint 'tail', which the model does not have",
            "joint 'neck' of type ball",
            "the turning of screw 'lift'",
            "the left-handed thread of screw 'lift'",
        ):
            self.assertIn(f"lost: {line}", done.stdout)
        model = mujoco.MjModel.from_xml_path(str(out))
        data = mujoco.MjData(model)
        own = mjgear.Gears(model, data)
        self.assertAlmostEqual(own["arm"].coulomb, 1.5, delta=1e-12)
        self.assertEqual(own["lift"].ratio, 500)  # thread_pitch is in rad/m
        self.assertEqual(
            [
                np.ravel(model.joint("wheel1").damping)[0],
                model.joint("wheel1").stiffness[0],
                model.joint("wheel1").frictionloss[0],
            ],
            [0.3, 2, 0.1],
        )

        # theta_2 = -3 theta_1, where the second axis points the other way in the model
        data.qpos[model.joint("wheel1").qposadr] = 0.2
        data.qvel[:] = 0
        for _ in range(2000):
            mujoco.mj_step(model, data)
        wheels = [data.joint(name).qpos[0] for name in ("wheel1", "wheel2")]
        self.assertAlmostEqual(wheels[1], 3 * wheels[0], delta=1e-3)
        self.assertGreater(abs(wheels[0]), 0.01)

        done = subprocess.run([TOOL, "convert", sdf], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("an SDF needs --into", done.stderr)
        with self.assertRaisesRegex(
            mjgear.GearError, "joint 'arm': axis/dynamics/friction is 'much', which is no number"
        ):
            mjgear.from_sdf(self.file(SDF.replace(">1.5<", ">much<"), "bad.sdf"), xml)

    def test_refusals(self):
        for text, gears, line in (
            (UNIVERSAL, {"wrist": "worm"}, "no joint 'wrist'; there are shoulder_pan_joint"),
            (UNIVERSAL, {"elbow_joint": "wrom"}, "did you mean worm"),
            (UNIVERSAL, {"elbow_joint": 3}, "write joint: preset"),
            ("<sdf version='1.9'/>", None, "goes into a model with from_sdf"),
            ("<robot", None, "cannot be read"),
        ):
            with self.assertRaisesRegex(mjgear.GearError, line):
                mjgear.from_urdf(self.file(text), gears)


if __name__ == "__main__":
    unittest.main()
