"""Scripted motion of five scenes, for MuJoCo and MuJoCo Warp: scenes/*/NAME.c in Python, and variations."""

import os
import pathlib

import mujoco
import numpy as np

SCENES = pathlib.Path(os.environ.get("MJGEAR_SOURCE_DIR", pathlib.Path(__file__).parents[2])) / "scenes"


def reached(time, t):
    """True if time has reached t, despite round-off in the sum of the steps."""
    return time > t - 1e-9


class Scene:
    """A model, with or without its gears, and its inputs.

    Attributes:
        xml: MJCF file in scenes/.
        duration: how long the scene takes, s.
        off: from when on the motors are off and all geared joints shall stand still, s; after `duration`: never.
        settings: configuration of an instance that replaces that of the MJCF.
        integrator, cone: replace those of the MJCF.
    """

    xml = ""
    duration = 0.0
    off = 0.0
    settings: dict = {}
    integrator: mujoco.mjtIntegrator | None = None
    cone: mujoco.mjtCone | None = None

    def edit(self, spec):
        """Other differences from the MJCF."""

    def model(self, geared=True):
        spec = mujoco.MjSpec.from_file(str(SCENES / self.xml))
        # MuJoCo Warp has no exact diagonal
        spec.option.enableflags &= ~int(mujoco.mjtEnableBit.mjENBL_DIAGEXACT)
        spec.option.integrator = spec.option.integrator if self.integrator is None else self.integrator
        spec.option.cone = spec.option.cone if self.cone is None else self.cone
        self.edit(spec)
        for plugin in spec.plugins:
            if plugin.name in self.settings:
                plugin.config = {**plugin.config, **self.settings[plugin.name]}
        if not geared:
            for sensor in [s for s in spec.sensors if s.type == mujoco.mjtSensor.mjSENS_PLUGIN]:
                spec.delete(sensor)
            for plugin in list(spec.plugins):
                spec.delete(plugin)
        return spec.compile()

    def start(self, m, d):
        key = mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_KEY, "start")
        if key >= 0:
            mujoco.mj_resetDataKeyframe(m, d, key)

    def input(self, m, d):
        """Set ctrl, applied forces and mocap bodies of the step that begins at d.time."""


class Rod(Scene):
    xml, duration, off = "rod/rod.xml", 2.0, 1.0

    def input(self, m, d):
        d.ctrl[0] = 20 if reached(d.time, 1.4) else 0 if reached(d.time, 0.9) else -40


class Wall(Scene):
    xml, duration, off = "wall/contact.xml", 3.0, 2.1

    def input(self, m, d):
        t = d.time
        d.ctrl[0] = -500 if reached(t, 2.5) else 0 if reached(t, 2.0) else 500 if reached(t, 0.5) else 0
        d.mocap_pos[0, 0] = np.interp(t, [1.0, 1.5], [1.37, 1.12])


class Arm(Scene):
    xml, duration, off = "arm/arm.xml", 20.0, 3.5
    gain = np.array([6000, 6000, 4000, 500, 1000, 100.0])

    def input(self, m, d):
        x = min(1, d.time / 2)
        blend = x * x * x * (10 - x * (15 - 6 * x))
        first, last = np.array([0.5, -0.5, 0.5, 0, 0, 0]), np.array([0, 0.055, -0.055, 0, 0, 1])
        servo = self.gain * (first + blend * (last - first) - d.qpos[:6]) - 0.05 * self.gain * d.qvel[:6]
        d.ctrl[:] = 0 if reached(d.time, 3) else servo


class Humanoid(Scene):
    xml, duration, off = "humanoid/humanoid.xml", 6.0, 2.0

    def input(self, m, d):
        push = reached(d.time, 3) and not reached(d.time, 3.2)
        d.xfrc_applied[m.body("trunk").id, 0] = 250 if push else 0


class Sinking(Humanoid):
    """The humanoid whose legs give way."""

    off = np.inf
    settings = {"legs": {"gamma_v": "0.4"}}


class Gripper(Scene):
    xml, duration, off = "gripper/gripper.xml", 8.0, 5.0

    def input(self, m, d):
        t, torque = d.time, 0.1
        joint = m.joint("screw")
        angle, speed = d.qpos[joint.qposadr[0]], d.qvel[joint.dofadr[0]]
        if not reached(t, 2):
            goal = max(2, min(50, 6 * (58.6 - angle)))
            d.ctrl[0] = max(-torque, min(torque, 0.01 * (goal - speed)))
        else:
            d.ctrl[0] = torque * min(1, 2 * (t - 2)) if not reached(t, 3) else 0
        d.mocap_pos[0, 2] = np.interp(t, [3, 3.5], [0.1, 0.04])
        d.mocap_pos[0, 1] = np.interp(t, [3.5, 4.5], [0, -0.2])


class Servos(Arm):
    """The arm with servos, implicit in position and velocity, lays its forearm onto the table for a second.

    It carries nothing: a box on a tray amplifies any difference. Elbow and pitch have no gears; a servo moves both by a
    tendon, and a damped spring is between shoulder and elbow.
    """

    duration, off = 4.0, np.inf
    first, last = np.array([0.5, -0.5, 0.5, 0, 0, 0]), np.array([0, 0.055, -0.055, 0.2, 0, 1])
    settings = {"worm": {"joint": "yaw shoulder roll turn", "mu": "0.04"}}  # can be driven back, with losses
    integrator = getattr(mujoco.mjtIntegrator, "mjINT_DISCRETE", None)

    def edit(self, spec):
        for actuator, gain in zip(spec.actuators, self.gain):
            actuator.set_to_position(kp=gain, kv=0.05 * gain)
        for name, joints in (("both", ("elbow", "pitch")), ("spring", ("shoulder", "elbow"))):
            tendon = spec.add_tendon(name=name)
            for joint in joints:
                tendon.wrap_joint(joint, 1)
        tendon.stiffness, tendon.damping, tendon.springlength = [2000, 0, 0], [100, 0, 0], [0.1, 0.1]
        elbow = spec.actuator("elbow")
        elbow.trntype, elbow.target = mujoco.mjtTrn.mjTRN_TENDON, "both"
        for joint in ("elbow", "pitch"):
            spec.delete(spec.sensor("gear_" + joint))
        spec.delete(spec.body("load"))
        spec.delete(spec.key("start"))

    def start(self, m, d):
        d.qpos[:] = self.first

    def input(self, m, d):
        d.ctrl[:] = self.first + np.interp(d.time, [0, 2, 3, 4], [0, 1, 1, 0.5]) * (self.last - self.first)


class ServosPyramidal(Servos):
    cone = mujoco.mjtCone.mjCONE_PYRAMIDAL

    def edit(self, spec):
        super().edit(spec)
        spec.option.impratio = 1  # more than that is for elliptic cones


class ArmDiscrete(Arm):
    integrator = Servos.integrator


class HumanoidDiscrete(Humanoid):
    integrator = Servos.integrator


class SinkingDiscrete(Sinking):
    integrator = Servos.integrator


ALL = {
    "rod": Rod(),
    "wall": Wall(),
    "arm": Arm(),
    "humanoid": Humanoid(),
    "sinking": Sinking(),
    "gripper": Gripper(),
    "arm, discrete": ArmDiscrete(),
    "humanoid, discrete": HumanoidDiscrete(),
    "sinking, discrete": SinkingDiscrete(),
    "servos, discrete": Servos(),
    "servos, discrete, pyramidal": ServosPyramidal(),
}
