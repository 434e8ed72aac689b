"""Two policies for the same arm, one trained without its gears and one with them; both then move the geared arm.

    python examples/policy.py [--seeds 5]            # 40 s of one core a seed

An arm with two joints lifts a load of 2 kg to postures that are drawn at random, and holds it there with little torque of its motors. Its
gears are worms: 45 % of a motor's torque arrive, and the load cannot drive them back. A policy is a net with 16 neurons; it is trained by evolution strategies (antithetic, ranked) on 64 arms at once, the same way and with the same random numbers without gears
and with them. The rotors exist without the gears, too. Needs MuJoCo 3.17 or later for mujoco.batch.
"""

import argparse

import mujoco
import numpy as np
from mujoco.batch import Batch

import mjgear

ARM = """
<mujoco>
  <option timestep="0.005" integrator="implicitfast"/>
  <worldbody>
    <body>
      <joint name="shoulder" axis="0 -1 0" armature="0.5" damping="0.5" range="-100 150"/>
      <geom type="capsule" size="0.03" fromto="0 0 0 0.4 0 0" mass="1.5"/>
      <body pos="0.4 0 0">
        <joint name="elbow" axis="0 -1 0" armature="0.2" damping="0.5" range="-130 130"/>
        <geom type="capsule" size="0.025" fromto="0 0 0 0.35 0 0" mass="1"/>
        <geom name="load" pos="0.35 0 0" size="0.05" mass="2"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="shoulder"/><motor joint="elbow"/></actuator>
</mujoco>
"""
GEAR = {"eta_forward": 0.45, "eta_backward": -0.2, "coulomb": [2, 1], "static_ratio": 1.2}
TORQUE = np.array([80.0, 30.0])  # N m, of the motors
EFFORT = 0.5  # cost in rad of the square of a motor's relative torque

ARMS, HIDDEN, INPUTS = 64, 16, 8
HOLD, STEPS = 5, 80  # steps of the simulation for each one of the policy, and of these an episode: 2 s


class Arms:
    """Many arms, and their episodes."""

    def __init__(self, geared, n):
        spec = mujoco.MjSpec.from_string(ARM)
        if geared:
            mjgear.add(spec, ["shoulder", "elbow"], **GEAR)
        self.batch, self.n = Batch(spec.compile(), nsim=n), n

    def play(self, policy, first, goal):
        """Cost of an episode, its distance from the goal at the end, rad, and the mean square of the shares of torque. (n) each"""
        batch = self.batch
        batch.reset()
        batch.qpos = first
        total, effort = np.zeros(self.n), np.zeros(self.n)
        for step in range(STEPS):
            q, v = np.asarray(batch.qpos), np.asarray(batch.qvel)
            share = act(policy, q, v, goal)
            batch.ctrl = TORQUE * share
            effort += (share**2).mean(axis=1) / STEPS
            batch.step(nstep=HOLD)
            error = np.abs(np.asarray(batch.qpos) - goal).mean(axis=1)
            total += error / STEPS
        return total + EFFORT * effort, error, effort


def act(policy, q, v, goal):
    """Share of the motors' torque. policy: (n, parameters)"""
    a = q[:, :1]
    inputs = np.concatenate(
        [4 * (goal - q), 0.5 * v, np.cos(a), np.cos(a + q[:, 1:]), np.ones_like(a), np.sin(a)], axis=1
    )
    W1 = policy[:, : INPUTS * HIDDEN].reshape(-1, HIDDEN, INPUTS)
    W2 = policy[:, INPUTS * HIDDEN :].reshape(-1, 2, HIDDEN)
    return np.tanh(np.einsum("noh,nh->no", W2, np.tanh(np.einsum("nhi,ni->nh", W1, inputs))))


def postures(random, n):
    """Where arms start, and where they shall go: (n, 2) each, rad."""
    low, high = np.array([-0.5, -1.0]), np.array([1.2, 1.2])
    return random.uniform(low, high, (n, 2)), random.uniform(low, high, (n, 2))


def train(geared, seed, generations):
    """A policy's parameters."""
    random = np.random.default_rng(seed)
    arms = Arms(geared, ARMS)
    size = HIDDEN * (INPUTS + 2)
    mean = random.normal(0, 0.3, size)
    moment, square = np.zeros(size), np.zeros(size)
    rank, sigma = np.linspace(0.5, -0.5, ARMS), 0.1
    for k in range(1, generations + 1):
        noise = random.normal(size=(ARMS // 2, size))
        noise = np.concatenate([noise, -noise])
        first, goal = postures(random, 1)
        first, goal = (np.repeat(x, ARMS, axis=0) for x in (first, goal))
        cost = arms.play(mean + sigma * noise, first, goal)[0]
        gain = np.empty(ARMS)
        gain[np.argsort(cost)] = rank
        gradient = gain @ noise / (ARMS * sigma)
        moment, square = 0.9 * moment + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
        rate = 0.05 * (1 - 0.9 * k / generations)
        mean += rate * moment / (1 - 0.9**k) / (np.sqrt(square / (1 - 0.999**k)) + 1e-8)
    return mean


def score(geared, policy, seed):
    """Means over 64 episodes that no training has seen: cost, distance from the goal at the end (rad), square of the shares of torque."""
    first, goal = postures(np.random.default_rng(1000 + seed), ARMS)
    return np.mean(Arms(geared, ARMS).play(np.tile(policy, (ARMS, 1)), first, goal), axis=1)


def shown(numbers):
    return ", ".join(f"{x:.3f}" for x in numbers)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--generations", type=int, default=200)
    arguments = parser.parse_args()
    print(
        "Means of 64 episodes: cost, distance from the goal after 2 s in rad, square of the motors' shares of their torque\n"
    )
    print(
        "| seed | trained without gears, played without | trained without, played with gears | trained with gears, played with |"
    )
    print("|--:|--:|--:|--:|")
    rows = []
    for seed in range(arguments.seeds):
        without, with_gears = (train(geared, seed, arguments.generations) for geared in (False, True))
        rows.append([score(False, without, seed), score(True, without, seed), score(True, with_gears, seed)])
        print(f"| {seed} | " + " | ".join(map(shown, rows[-1])) + " |", flush=True)
    print("| mean | " + " | ".join(map(shown, np.mean(rows, axis=0))) + " |")


if __name__ == "__main__":
    main()
