"""A differential: two motors turn pitch and roll of a wrist together, each through a gear that a load cannot drive back."""

import mujoco

import mjgear

WRIST = """
<mujoco>
  <compiler angle="radian"/>
  <option timestep="0.001" integrator="implicitfast"/>
  <worldbody>
    <body>
      <joint name="pitch" axis="0 -1 0"/>
      <geom type="capsule" fromto="0 0 0 .1 0 0" size=".02" mass=".5"/>
      <body pos=".1 0 0">
        <joint name="roll" axis="1 0 0"/>
        <geom type="box" size=".05 .08 .01" pos=".05 0 0" mass="1"/>
      </body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="left"><joint joint="pitch" coef="1"/><joint joint="roll" coef="1"/></fixed>
    <fixed name="right"><joint joint="pitch" coef="1"/><joint joint="roll" coef="-1"/></fixed>
  </tendon>
  <actuator>
    <motor tendon="left"/>
    <motor tendon="right"/>
  </actuator>
</mujoco>
"""

spec = mujoco.MjSpec.from_string(WRIST)
mjgear.add(spec, tendons=["left", "right"], eta_forward=0.5, eta_backward=-0.2, armature=0.01)
model = spec.compile()
data = mujoco.MjData(model)
gears = mjgear.Gears(model, data)

# the weight, 1.72 N m about the axis of pitch, is shared by both motors: each lifts its half above 0.86 N m/eta_forward
for left, right in ((0, 0), (1.7, 1.7), (1.75, 1.75), (1.75, 0)):
    mujoco.mj_resetData(model, data)
    data.ctrl = left, right
    mujoco.mj_step(model, data, 300)
    moves = [f"{name} {'moves' if gear.mode else 'is stuck'}" for name, gear in gears.items()]
    print(f"{left} and {right} N m: pitch {data.qpos[0]:.4f}, roll {data.qpos[1]:.4f} rad; {', '.join(moves)}")
