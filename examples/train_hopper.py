"""Gymnasium's Hopper with worn, unknown gears, trained with stable-baselines3, and how its policy does on gears that it never met.

pip install 'gymnasium[mujoco]' stable-baselines3 tensorboard
python examples/train_hopper.py [--steps 60000] [--log runs]         # 60 000 steps: 2 minutes of one core
"""

import argparse
import collections
import warnings

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.monitor import Monitor

import mjgear.gymnasium

INTERVALS = {"eta_forward": (0.6, 0.7), "eta_backward": (0.5, 0.7), "coulomb": (0, "0.2 Nm")}


def hopper(observe=()):
    """The environment, with gears that are drawn at each reset."""
    env = mjgear.gymnasium.make(
        "Hopper-v5", {"eta_forward": 0.65, "eta_backward": 0.6, "coulomb": 0.1}, integrator="implicitfast"
    )
    return Monitor(mjgear.gymnasium.RandomizedGears(env, INTERVALS, observe=observe))


class GearStatus(BaseCallback):
    """Steps that the solver of gears left unsolved, and slow ones, of the last 100 episodes, for TensorBoard."""

    def __init__(self):
        super().__init__()
        self.ended = collections.deque(maxlen=100)

    def _on_step(self):
        self.ended.extend(info for info, done in zip(self.locals["infos"], self.locals["dones"]) if done)
        for name in ("gear_unsolved", "gear_slow"):
            self.logger.record(
                f"gears/{name[5:]}", float(np.mean([info[name] for info in self.ended])) if self.ended else 0
            )
        return True


def score(model, episodes, first_seed):
    """Mean return of episodes, and their unsolved steps."""
    env, returns, unsolved = hopper(), [], 0
    for k in range(episodes):
        observation, info = env.reset(seed=first_seed + k)
        total, ended = 0.0, False
        while not ended:
            observation, reward, terminated, truncated, info = env.step(
                model.predict(observation, deterministic=True)[0]
            )
            total, ended = total + reward, terminated or truncated
        returns.append(total)
        unsolved += info["gear_unsolved"]
    return np.mean(returns), unsolved


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=60_000)
    parser.add_argument("--log", help="folder for TensorBoard")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", category=UserWarning, module="stable_baselines3")
    torch.set_num_threads(1)
    model = PPO(
        "MlpPolicy",
        hopper(),
        seed=1,
        n_steps=1024,
        batch_size=64,
        learning_rate=3e-4,
        tensorboard_log=arguments.log,
        device="cpu",
    )
    print("untrained: mean return {:.0f} of 10 episodes, {} steps unsolved".format(*score(model, 10, 1000)), flush=True)
    model.learn(arguments.steps, callback=GearStatus())
    print("trained:   mean return {:.0f} of 10 episodes, {} steps unsolved".format(*score(model, 10, 1000)))


if __name__ == "__main__":
    main()
