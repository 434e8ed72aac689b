"""MjgearActuatorCfg with a stand-in of Isaac Lab: a servo moves as with the plugin, holds still where Isaac Lab's own friction creeps, and its
encoder is on the motor or on the link. Run by test_newton.py."""

import copy

import isaaclab_standin as standin
import mujoco
import numpy as np
import warp as wp

import mjgear
from mjgear.warp.isaaclab import MjgearActuatorCfg, gear_keys

STEP = 0.002
MOTOR = standin.BamMotorCfg(
    model="m6", kt=0.4, resistance=3.0, error_gain=0.003, max_current=0.0, friction_base=0.02, friction_viscous=0.01, friction_stribeck=0.02,
    dtheta_stribeck=0.2, alpha=2.0, load_friction_motor=0.1, load_friction_external=0.25, load_friction_motor_stribeck=0.05,
    load_friction_external_stribeck=0.05, load_friction_motor_quad=0.01, load_friction_external_quad=0.02,
)  # fmt: skip
ARM = """
<mujoco>
  <worldbody>
    <body pos="0 0 1">
      <joint name="shoulder" axis="0 1 0" armature="0.01" damping="0.01" frictionloss="1"/>
      <geom type="capsule" size="0.01" fromto="0 0 0 0.1 0 0" mass="0.05"/>
      <body pos="0.1 0 0">
        <joint name="elbow" axis="0 1 0" armature="0.005" damping="0.01" frictionloss="1"/>
        <geom type="sphere" size="0.005" mass="0.005"/>
        PLAY
        <geom type="capsule" size="0.01" fromto="0 0 0 0.08 0 0" mass="0.04"/>
      ENDPLAY
      </body>
    </body>
  </worldbody>
</mujoco>
"""
RIGID = ARM.replace("ENDPLAY", "").replace("PLAY", "")
LOOSE = ARM.replace("ENDPLAY", "</body>").replace(
    "PLAY", '<body><joint name="passive_elbow_backlash" axis="0 1 0" range="-2 2" armature="1e-4" damping="0.002"/>'
)


def cfg(kind, joints=("shoulder", "elbow"), motor=MOTOR, **more):
    return kind(joint_names_expr=list(joints), motor=motor, kp_fw=800, vin=7.4, **more)


def plugin(goals, steps):
    """Angles after each step by MuJoCo with the plugin, whose motor is computed here. (steps, 2)"""
    spec = mujoco.MjSpec.from_string(RIGID)
    spec.option.timestep, spec.option.integrator = STEP, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    for joint in spec.joints:
        joint.frictionloss = np.zeros_like(joint.frictionloss).tolist()
        spec.add_actuator(trntype=mujoco.mjtTrn.mjTRN_JOINT, target=joint.name).set_to_motor()
    mjgear.add(spec, ["shoulder", "elbow"], **gear_keys(MOTOR))
    model = spec.compile()
    data, angles = mujoco.MjData(model), []
    for _ in range(steps):
        duty = np.clip(800 * MOTOR.error_gain * (goals - data.qpos), -1, 1)
        data.ctrl = MOTOR.kt * (7.4 * duty - MOTOR.kt * data.qvel) / MOTOR.resistance
        mujoco.mj_step(model, data)
        angles.append(data.qpos.copy())
    return np.array(angles)


def test_as_the_plugin():
    goals = np.array([-0.5, 0.4])
    scene = standin.Scene(RIGID, {"servo": cfg(MjgearActuatorCfg)})
    theirs = np.array([scene.step(goals) for _ in range(300)])
    ours = plugin(goals, 300)
    apart = np.abs(theirs[:, 0] - ours).max()
    print(f"moved {np.abs(ours).max():.2f} rad, {apart:.1e} rad from the plugin")
    assert np.abs(ours).max() > 0.3 and apart < 1e-5, apart
    np.testing.assert_array_equal(theirs[:, 0], theirs[:, 1])
    gears = scene.articulation.gears
    assert not gears.unsettled.numpy().any()

    # environments that are reset have no past
    assert gears.friction.numpy().any(axis=1).all()
    scene.control.reset_native_actuators([1])
    np.testing.assert_array_equal(gears.friction.numpy().any(axis=1), [True, False])
    scene.control.reset_native_actuators(slice(None))
    assert not gears.friction.numpy().any()


def test_creep():
    """A motor that bears nine tenths of its load: Isaac Lab's friction creeps, the gear is at rest exactly."""
    last = {}
    for kind in (standin.BamActuatorCfg, MjgearActuatorCfg):
        scene = standin.Scene(RIGID, {"servo": cfg(kind)})
        scene.step(np.array([-0.5, 0.4]), 400)
        before = scene.step(np.array([-0.5, 0.4]), 100)
        last[kind] = np.abs(scene.speeds).max(), np.abs(scene.step(np.array([-0.5, 0.4]), 100) - before).max()
    for kind, (speed, turn) in last.items():
        print(f"{kind.__name__}: {speed:.1e} rad/s, {turn:.1e} rad in 0.2 s")
    assert last[MjgearActuatorCfg] == (0, 0) and last[standin.BamActuatorCfg][0] > 1e-8, last


def test_encoder():
    """Past two degrees of play the encoded side is at its goal to the servo's error; the other one is off by the play."""
    goals = np.array([0.0, -0.6, 0.0])
    for side in ("motor", "link"):
        groups = {
            "shoulder": cfg(MjgearActuatorCfg, ["shoulder"]),
            "elbow": cfg(MjgearActuatorCfg, ["elbow"], encoder=side),
        }
        scene = standin.Scene(LOOSE, groups)
        angles = scene.step(goals, 1000)[0]
        motor, link = angles[1] + 0.6, angles[1] + angles[2] + 0.6
        print(f"encoder on the {side}: motor {1e3 * motor:.1f} mrad, link {1e3 * link:.1f} mrad from the goal")
        measured, other = (motor, link) if side == "motor" else (link, motor)
        assert abs(other - measured) > 0.03 and abs(measured) < abs(other), (side, motor, link)


def test_groups():
    """Two servos of one robot have their own friction."""
    strong = copy.copy(MOTOR)
    strong.friction_base = 0.05
    scene = standin.Scene(
        RIGID, {"a": cfg(MjgearActuatorCfg, ["shoulder"], strong), "b": cfg(MjgearActuatorCfg, ["elbow"])}
    )
    np.testing.assert_allclose(scene.articulation.gears.coulomb.numpy(), [[0.05, 0.02]] * 2, rtol=1e-6)


def test_refusals():
    for change, word in (({"friction_base": 0.0}, "friction_base"), ({"model": "m7"}, "m7")):
        bad = copy.copy(MOTOR)
        vars(bad).update(change)
        try:
            gear_keys(bad)
        except mjgear.GearError as error:
            assert word in str(error), error
        else:
            raise AssertionError(change)


if __name__ == "__main__":
    wp.config.quiet = True
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
