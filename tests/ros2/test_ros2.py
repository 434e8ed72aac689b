"""The ROS 2 package: its files are in the places of the ament index, and MuJoCo loads the plugin that the index names.

tests/ros2/test_ros2.py PLUGIN
"""

import ast
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

SOURCE = pathlib.Path(os.environ.get("MJGEAR_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
PLUGIN = sys.argv.pop(1)
LOAD = """
import mujoco, sys
mujoco.mj_loadPluginLibrary(sys.argv[1])
model = mujoco.MjModel.from_xml_string('''<mujoco><extension><plugin plugin="mjgear.transmission"><instance name="g"><config key="joint" value="j"/>
  <config key="eta_forward" value="0.4"/><config key="eta_backward" value="-0.2"/></instance></plugin></extension>
  <worldbody><body><joint name="j" axis="0 1 0" armature=".1"/><geom size=".1" pos=".3 0 0"/></body></worldbody></mujoco>''')
data = mujoco.MjData(model)
mujoco.mj_step(model, data, 10)
print(data.qvel[0])
"""


class Test(unittest.TestCase):
    def test_installed(self):
        with tempfile.TemporaryDirectory() as folder:
            prefix = pathlib.Path(folder) / "install" / "mjgear_ros2"
            for command in (
                [
                    "cmake",
                    "-S",
                    SOURCE / "ros2",
                    "-B",
                    f"{folder}/build",
                    f"-DCMAKE_INSTALL_PREFIX={prefix}",
                    f"-DMJGEAR_PLUGIN={PLUGIN}",
                ],
                ["cmake", "--install", f"{folder}/build"],
            ):
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            index = prefix / "share/ament_index/resource_index"
            self.assertEqual((index / "packages/mjgear_ros2").read_text(), "")
            self.assertTrue((prefix / "share/mjgear_ros2/package.xml").is_file())
            self.assertTrue((prefix / "share/mjgear_ros2/launch/robot.launch.py").is_file())

            # as mujoco_ros2_control does: the libraries of the folder that the resource names below the prefix
            libraries = list((prefix / (index / "mujoco_plugins/mjgear_ros2").read_text()).glob("*.so"))
            self.assertEqual([one.name for one in libraries], ["libmjgear.so"])
            environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
            done = subprocess.run(
                [sys.executable, "-c", LOAD, libraries[0]], env=environment, capture_output=True, text=True, check=False
            )
            self.assertEqual((done.returncode, done.stdout), (0, "0.0\n"), done.stderr)

    def test_without_a_plugin(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                ["cmake", "-S", SOURCE / "ros2", "-B", folder, "-DMJGEAR_PLUGIN=/nowhere.so"],
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("without its plugin", " ".join(done.stderr.split()))

    def test_manifest(self):
        manifest = ElementTree.parse(SOURCE / "ros2/package.xml").getroot()
        self.assertEqual((manifest.tag, manifest.get("format")), ("package", "3"))
        for tag in ("name", "version", "description", "maintainer", "license"):
            self.assertTrue(manifest.findtext(tag), tag)
        self.assertEqual(manifest.findtext("export/build_type"), "cmake")
        version = re.search(r"project\(mjgear VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]
        self.assertEqual((manifest.findtext("name"), manifest.findtext("version")), ("mjgear_ros2", version))

        # a package that a launch file starts is a dependency
        tree = ast.parse((SOURCE / "ros2/launch/robot.launch.py").read_text())
        self.assertIn(
            "generate_launch_description", [one.name for one in tree.body if isinstance(one, ast.FunctionDef)]
        )
        started = {
            keyword.value.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            for keyword in node.keywords
            if keyword.arg == "package"
        }
        self.assertLessEqual(started, {one.text for one in manifest.findall("exec_depend")})


if __name__ == "__main__":
    unittest.main()
