"""An arm of two links with motors, and its gears as a plugin: the base model of tests in Python."""

import mujoco
import numpy as np

# %s: further elements of the model
ARM = """
<mujoco>
  <worldbody>
    <body name="upper">
      <joint name="shoulder" axis="0 1 0" armature=".3" damping=".2"/>
      <geom type="capsule" size=".05" fromto="0 0 0 .5 0 0"/>
      <body name="fore" pos=".5 0 0">
        <joint name="elbow" axis="0 1 0" armature=".1"/>
        <geom type="capsule" size=".05" fromto="0 0 0 .5 0 0"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor joint="shoulder"/>
    <motor joint="elbow"/>
  </actuator>
  %s
</mujoco>
"""

# gears that no load drives back
EXTENSION = """
  <extension>
    <plugin plugin="mjgear.transmission">
      <instance name="gears">
        <config key="joint" value="shoulder elbow"/>
        <config key="eta_forward" value="0.7 0.6"/>
        <config key="eta_backward" value="-0.1"/>
        <config key="coulomb" value="0.5"/>
      </instance>
    </plugin>
  </extension>
"""


def run(model, data, steps=300, size=1):
    """Positions of a motion with both motors at work, size times as strong."""
    path = []
    for i in range(steps):
        data.ctrl = size * 8 * np.sin(0.05 * i), size * 3 * np.cos(0.03 * i)
        mujoco.mj_step(model, data)
        path.append(data.qpos.copy())
    return np.array(path)
