"""Two arms by attach: the gears travel with the arm, and each arm has its own."""

import mujoco

import mjgear

ARM = """
<mujoco>
  <worldbody>
    <body name="upper">
      <joint name="shoulder" axis="0 1 0" armature=".3"/>
      <geom type="capsule" size=".04" fromto="0 0 0 .4 0 0"/>
      <body name="fore" pos=".4 0 0">
        <joint name="elbow" axis="0 1 0" armature=".1"/>
        <geom type="capsule" size=".03" fromto="0 0 0 .3 0 0"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="shoulder" joint="shoulder"/>
    <motor name="elbow" joint="elbow"/>
  </actuator>
</mujoco>
"""


def arm() -> mujoco.MjSpec:
    spec = mujoco.MjSpec.from_string(ARM)
    added = mjgear.add(spec, ["shoulder", "elbow"], eta_forward=0.7, eta_backward=-0.1)
    assert added.home == "upper"  # the body with which the gears travel
    return spec


# one arm alone, and two in a world, which have other names there
alone = arm().compile()
world = mujoco.MjSpec()
for side, y in (("left", 0.5), ("right", -0.5)):
    world.attach(arm(), prefix=f"{side}_", frame=world.worldbody.add_frame(pos=[0, y, 1]))
both = world.compile()

one, two = mujoco.MjData(alone), mujoco.MjData(both)
for torque in ((-1, 0), (30, 8), (-5, -2)):
    one.ctrl, two.ctrl = torque, torque * 2
    mujoco.mj_step(alone, one, 200)
    mujoco.mj_step(both, two, 200)
    difference = abs(two.qpos - [*one.qpos, *one.qpos]).max()
    print(
        f"shoulder {one.qpos[0]:+.4f} rad, elbow {one.qpos[1]:+.4f} rad; both arms as the one alone to {difference:.0e} rad"
    )
print("geared:", ", ".join(mjgear.Gears(both, two)))
