"""A policy of mjlab that learns on a cart whose drive has gears.

    pip install mjlab==1.6.0 && pip install .      # in a clone of this repository
    python mjlab_cartpole.py [--device cuda:0 --worlds 4096]

mjlab's cartpole, balanced: the motor drives the cart through a gear, of which 6.5 of 10 N are left. One policy is
trained with the gear and one without it, each for the same number of steps; both are then played with the gear and without.
A score is the mean reward of a step, 1 at best.
"""

import argparse
import contextlib
import dataclasses
import io

import mjlab.envs
import mjlab.tasks.cartpole  # registers its tasks
import torch
from mjlab.rl import MjlabOnPolicyRunner, RslRlVecEnvWrapper
from mjlab.tasks.registry import load_env_cfg, load_rl_cfg

import mjgear
import mjgear.warp.mjlab

TASK = "Mjlab-Cartpole-Balance"
GEAR = {"gamma_u": 0.1, "gamma_v": 0.3, "coulomb": 0.5, "static_ratio": 1.2, "armature": 0.2}  # N, kg
SECONDS = 4.0  # of an episode


def environment(geared, worlds, device, seed):
    cfg = load_env_cfg(TASK)
    cfg.scene.num_envs, cfg.seed, cfg.episode_length_s = worlds, seed, SECONDS
    cfg.sim.njmax, cfg.sim.nconmax = 16, 4
    robot = cfg.scene.entities["cartpole"]
    if geared:
        spec_fn = robot.spec_fn

        def with_gear():
            spec = spec_fn()
            mjgear.add(spec, "slider", **GEAR)
            return spec

        robot.spec_fn = with_gear
    kind = mjgear.warp.mjlab.ManagerBasedRlEnv if geared else mjlab.envs.ManagerBasedRlEnv
    with contextlib.redirect_stdout(io.StringIO()):
        return RslRlVecEnvWrapper(kind(cfg, device=device))


def trainer(env, device):
    return MjlabOnPolicyRunner(env, dataclasses.asdict(load_rl_cfg(TASK)), log_dir=None, device=device)


def score(policy, env):
    """Mean reward of a step over an episode of each world."""
    with torch.inference_mode():
        observation, _ = env.reset()
        total = 0.0
        steps = round(SECONDS / env.unwrapped.step_dt)
        for _ in range(steps):
            observation, reward, _, _ = env.step(policy(observation))
            total += reward.mean().item() / env.unwrapped.step_dt
    return total / steps


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--worlds", type=int, default=64)
    parser.add_argument("--iterations", type=int, default=70, help="of the training, 32 steps of each world")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()

    names = {False: "no gear", True: "gear"}
    torch.manual_seed(arguments.seed)
    envs = {geared: environment(geared, arguments.worlds, arguments.device, arguments.seed) for geared in names}
    policies = {}
    for geared, env in envs.items():
        runner = trainer(env, arguments.device)
        policies[geared] = runner.get_inference_policy(device=arguments.device)
        before = score(policies[geared], env)
        with contextlib.redirect_stdout(io.StringIO()):
            runner.learn(arguments.iterations)
        policies[geared] = runner.get_inference_policy(device=arguments.device)
        print(
            f"trained with {names[geared]}: score {before:.3f} before, {score(policies[geared], env):.3f} after",
            flush=True,
        )

    print("\n| trained with | played with no gear | played with the gear |\n|:--|--:|--:|")
    for trained, policy in policies.items():
        print(f"| {names[trained]} | {score(policy, envs[False]):.3f} | {score(policy, envs[True]):.3f} |", flush=True)

    # the gear existed, and its law acted
    env = envs[True].unwrapped
    friction, unsettled = abs(env.sim.gears.friction.numpy()), env.sim.gears.unsettled.numpy()
    steps = env.common_step_counter * env.cfg.decimation
    print(f"\n{', '.join(env.sim.gears.names)}: friction {friction.mean():.2f} N on average of the worlds, {friction.max():.2f} N "
          f"at most in the last step; {unsettled.mean():.1f} of {steps} steps of a world unsettled")  # fmt: skip
    if (friction > 0).mean() < 0.9 or unsettled.mean() > 0.01 * steps:
        raise SystemExit("the gears did not act as they should")


if __name__ == "__main__":
    main()
