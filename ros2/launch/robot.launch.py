"""Starts mujoco_ros2_control with a robot whose MJCF has gears.

    ros2 launch mjgear_ros2 robot.launch.py description:=robot.urdf.xacro controllers:=controllers.yaml

The ros2_control block of the description names the hardware plugin mujoco_ros2_control/MujocoSystemInterface and, in its parameter mujoco_model, the MJCF.
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import Command, LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue


def generate_launch_description():
    description = ParameterValue(Command(["xacro ", LaunchConfiguration("description")]), value_type=str)
    clock = {"use_sim_time": True}
    return LaunchDescription(
        [
            DeclareLaunchArgument("description", description="URDF or xacro of the robot"),
            DeclareLaunchArgument("controllers", description="parameters of ros2_control's controller manager"),
            Node(
                package="robot_state_publisher",
                executable="robot_state_publisher",
                parameters=[{"robot_description": description}, clock],
            ),
            Node(
                package="mujoco_ros2_control",
                executable="ros2_control_node",
                output="both",
                parameters=[clock, LaunchConfiguration("controllers")],
            ),
        ]
    )
