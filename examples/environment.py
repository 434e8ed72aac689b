"""A Gymnasium environment whose gear is another one after each reset: reach an angle with a worn, unknown gear."""

import pathlib
from typing import Any

import gymnasium
import mujoco
import numpy as np
from gymnasium.utils.env_checker import check_env
from numpy.typing import NDArray

import mjgear

Observation = NDArray[np.float64]


class Forearm(gymnasium.Env[Observation, NDArray[np.float32]]):
    """Observation: angle and velocity of the joint, wanted angle. Action: motor torque as a share of 20 N m."""

    metadata = {"render_modes": []}

    def __init__(self) -> None:
        self.model = mujoco.MjModel.from_xml_path(str(pathlib.Path(__file__).parent / "forearm.xml"))
        self.data = mujoco.MjData(self.model)
        self.gear = mjgear.Gears(self.model, self.data)["elbow"]
        self.observation_space = gymnasium.spaces.Box(-100, 100, (3,), np.float64)
        self.action_space = gymnasium.spaces.Box(-1, 1, (1,), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        mujoco.mj_resetData(self.model, self.data)
        self.gear.set(eta_forward=self.np_random.uniform(0.5, 0.8), coulomb=self.np_random.uniform(0, 0.5))
        self.goal = self.np_random.uniform(-1, 1)
        return self._observe(), self._info()

    def step(self, action: NDArray[np.float32]) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        self.data.ctrl = 20 * float(action[0])
        mujoco.mj_step(self.model, self.data, 10)
        error = abs(self.data.qpos[0] - self.goal)
        return self._observe(), -float(error), False, bool(self.data.time >= 5), self._info()

    def _observe(self) -> Observation:
        return np.array([self.data.qpos[0], self.data.qvel[0], self.goal])

    def _info(self) -> dict[str, Any]:
        return {"eta_forward": self.gear.eta_forward, "friction": self.gear.friction, "mode": self.gear.mode}


if __name__ == "__main__":
    gymnasium.register("Forearm-v0", Forearm)
    environment = gymnasium.make("Forearm-v0").unwrapped
    check_env(environment)
    print("check_env passes")

    # a proportional controller, on ten gears
    for episode in range(10):
        observation, info = environment.reset(seed=episode)
        total, ended = 0.0, False
        while not ended:
            angle, velocity, goal = observation
            torque = 40 * (goal - angle) - 3 * velocity
            observation, reward, _, ended, info = environment.step(np.array([np.clip(torque / 20, -1, 1)], np.float32))
            total += reward
        print(
            f"efficiency {info['eta_forward']:.3f}: return {total:7.2f}, {observation[0] - observation[2]:+.3f} rad from the goal"
        )
