"""A model loads, moves and is refused in the same way in any locale."""

import locale
import os
import subprocess
import sys
import tempfile
import unittest

import mujoco

XML = """
<mujoco>
  <extension>
    <plugin plugin="mjgear.transmission">
      <instance name="gear"><config key="joint" value="j"/>{}</instance>
    </plugin>
  </extension>
  <worldbody>
    <body><joint name="j" axis="0 1 0"/><geom size=".1" pos=".5 0 0"/></body>
  </worldbody>
</mujoco>"""
GEAR = '<config key="gamma_u" value="0.25"/><config key="gamma_v" value="0.5"/><config key="coulomb" value="1.5e-1"/>'


def enter_german(folder):
    """Return a locale with a decimal comma, of the system or made here, or False."""
    try:
        locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
    except locale.Error:
        path = os.path.join(folder, "de_DE.UTF-8")
        try:
            subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", path], check=True, capture_output=True)
            os.environ["LOCPATH"] = folder
            locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
        except (OSError, subprocess.CalledProcessError, locale.Error):
            return False
    return locale.localeconv()["decimal_point"] == ","


def run():
    model = mujoco.MjModel.from_xml_string(XML.format(GEAR))
    data = mujoco.MjData(model)
    for _ in range(100):
        mujoco.mj_step(model, data)
    return data.qpos[0], data.qvel[0]


class Locale(unittest.TestCase):
    def test_german(self):
        expected = run()
        with tempfile.TemporaryDirectory() as folder:
            if not enter_german(folder):
                self.skipTest("the system neither has the locale de_DE.UTF-8 nor can make it (localedef)")
            try:
                self.assertEqual(run(), expected)
                with self.assertRaisesRegex(ValueError, r"eta_forward = 1\.25 "):
                    mujoco.MjModel.from_xml_string(XML.format('<config key="eta_forward" value="1.25"/>'))
                with self.assertRaisesRegex(ValueError, "'0,5' is not a number; write one such as 0.5"):
                    mujoco.MjModel.from_xml_string(XML.format('<config key="gamma_u" value="0,5"/>'))
            finally:
                locale.setlocale(locale.LC_ALL, "C")


if __name__ == "__main__":
    mujoco.mj_loadPluginLibrary(os.environ["MJGEAR_PLUGIN_PATH"])
    sys.exit(unittest.main())
