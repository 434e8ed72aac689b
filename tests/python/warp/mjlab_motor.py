"""mjlab's cart behind a self-locking gear, GearedDcMotorActuatorCfg: it stands while the pole falls, and its motor moves it. Run by test_mjlab.py."""

import dataclasses

import mjlab.envs
import mjlab.tasks.cartpole  # registers its tasks
import torch
from mjlab.actuator import BuiltinDcMotorActuatorCfg
from mjlab.actuator.builtin_actuator import DcMotorInputMode, DcMotorPhysicalParams
from mjlab.tasks.registry import load_env_cfg

import mjgear.warp.mjlab


def speeds(gear):
    """Largest speed of the cart in 30 steps without voltage, of which the first five are left out, and after ten with 3 V, m/s."""
    cfg = load_env_cfg("Mjlab-Cartpole-Balance")
    cfg.scene.num_envs, cfg.seed, cfg.sim.njmax, cfg.sim.nconmax = 2, 1, 16, 4
    robot = cfg.scene.entities["cartpole"]
    spec_fn = robot.spec_fn

    def without_motor():
        spec = spec_fn()
        for actuator in list(spec.actuators):
            spec.delete(actuator)
        return spec

    robot.spec_fn = without_motor
    motor = {
        "target_names_expr": ("slider",),
        "motor_params": DcMotorPhysicalParams(kt=2.0, ke=2.0, resistance=1.0),
        "mode": DcMotorInputMode.VOLTAGE,
    }
    made = (
        mjgear.warp.mjlab.GearedDcMotorActuatorCfg(gear_keys=gear, **motor)
        if gear
        else BuiltinDcMotorActuatorCfg(**motor)
    )
    robot.articulation = dataclasses.replace(robot.articulation, actuators=(made,))
    env = (mjgear.warp.mjlab if gear else mjlab.envs).ManagerBasedRlEnv(cfg, device="cpu")
    env.reset()
    rest = 0.0
    for k in range(30):
        env.step(torch.zeros(2, 1))
        rest = max(rest, env.sim.data.qvel[:, 0].abs().max().item() * (k >= 5))
    for _ in range(10):
        env.step(torch.full((2, 1), 3.0))
    if gear:
        assert not env.sim.gears.unsettled.numpy().any(), "a step was not solved"
    return rest, env.sim.data.qvel[:, 0].abs().max().item()


if __name__ == "__main__":
    (rest, driven), (bare, _) = speeds({"eta_forward": 0.5, "eta_backward": -0.1, "armature": 0.2}), speeds(None)
    print(
        f"cart without voltage: {rest} m/s with the gear, {bare:.2f} without it; {driven:.2f} m/s with 3 V and the gear"
    )
    assert rest == 0 and bare > 0.1 and driven > 0.3, (rest, bare, driven)
