"""The wheel on another machine, or on one that is emulated (.ci/aarch64): the rod under its spring, a geared humanoid."""

import pathlib
import platform

import mujoco

import mjgear

SCENES = pathlib.Path(mjgear.__file__).parent / "scenes"

# a gear that its load cannot drive back holds the rod on the spring with the motor off
spec = mujoco.MjSpec.from_file(str(SCENES / "rod" / "rod.xml"))
model = spec.compile()
data = mujoco.MjData(model)
data.ctrl = -40
mujoco.mj_step(model, data, 900)
pressed = data.qpos[0]
data.ctrl = 0
mujoco.mj_step(model, data, 400)
gear = mjgear.Gears(model, data)["rod"]
assert pressed < 0 and data.qvel[0] == 0 and gear.mode == 0
assert mjgear._library.bench().mjg_simulateBench  # of mjgear.identify
print(f"{platform.machine()}, MuJoCo {mujoco.mj_versionString()}, mjgear {mjgear.__version__}")
print(f"rod: pressed to {pressed:.6f} rad, holds {gear.torque_out:.3f} N m without its motor")

model = mujoco.MjModel.from_xml_path(str(SCENES / "humanoid" / "humanoid.xml"))
data = mujoco.MjData(model)
mujoco.mj_step(model, data, 200)
gears = mjgear.Gears(model, data)
assert all(gear.status in (0, 1) for gear in gears.values())
print(f"humanoid: {len(gears)} gears, {data.time:.1f} s, residual {max(gear.residual for gear in gears.values()):.1e}")
