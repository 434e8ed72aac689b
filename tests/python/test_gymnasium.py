"""mjgear.gymnasium: an environment with gears is its model with gears; draws at resets; a vector environment is its simulations."""

import pickle
import sys
import unittest
import warnings

import mujoco
import numpy as np

try:
    import gymnasium
    from gymnasium.envs.mujoco import MujocoEnv
    from gymnasium.utils.env_checker import check_env
except ImportError as error:
    print(error)
    sys.exit(77)

import mjgear
import mjgear.gymnasium
from geared_arm import ARM

GEAR = {"eta_forward": 0.8, "eta_backward": 0.7, "coulomb": 0.5}
JOINTS = ["thigh_joint", "leg_joint", "foot_joint"]
INTERVALS = {"eta_forward": (0.6, 0.7), "eta_backward": (0.6, 0.7), "coulomb": (0.6, 2)}


def make(gears=GEAR, **options):
    return mjgear.gymnasium.make("Hopper-v5", gears, integrator="implicitfast", **options)


def checked(env):
    """Refusals of Gymnasium; its warning about infinite spaces is the same for the environment."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for line in (
            ".*Box observation space m..imum value is",
            ".*The environment .* is different from the unwrapped version",
            ".*not able to test alternative render",
        ):
            warnings.filterwarnings("ignore", line)
        check_env(env, skip_render_check=True)


class Make(unittest.TestCase):
    def test_motion_is_that_of_the_model_with_gears(self):
        env = make()
        env.reset(seed=0)
        spec = mujoco.MjSpec.from_file(gymnasium.make("Hopper-v5").unwrapped.fullpath)
        mjgear.add(spec, JOINTS, **GEAR)
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        model = spec.compile()
        data = mujoco.MjData(model)
        data.qpos, data.qvel = env.unwrapped.data.qpos, env.unwrapped.data.qvel
        mujoco.mj_forward(model, data)
        for k in range(40):
            action = np.sin(0.3 * k + np.arange(3.0)).astype(np.float32)
            env.step(action)
            data.ctrl = action
            mujoco.mj_step(model, data, env.unwrapped.frame_skip)
        np.testing.assert_allclose(env.unwrapped.data.qpos, data.qpos, rtol=0, atol=1e-12)
        friction = [gear.friction for gear in mjgear.Gears(env.unwrapped.model, env.unwrapped.data).values()]
        self.assertGreater(np.abs(friction).max(), 0.1)

    def test_checks_pass(self):
        checked(make().unwrapped)
        checked(make())

    def test_integrators(self):
        with self.assertWarnsRegex(mjgear.GearWarning, "Hopper-v5 is integrated by implicitfast instead of RK4"):
            env = mjgear.gymnasium.make("Hopper-v5", GEAR)
        self.assertEqual(env.unwrapped.model.opt.integrator, mujoco.mjtIntegrator.mjINT_IMPLICITFAST)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            env = mjgear.gymnasium.make("Hopper-v5", GEAR, integrator="Euler")
        self.assertEqual(env.unwrapped.model.opt.integrator, mujoco.mjtIntegrator.mjINT_EULER)
        for name in ("RK4", "rungekutta"):
            with self.assertRaisesRegex(mjgear.GearError, f"unknown integrator '{name}'; choose euler, implicit"):
                mjgear.gymnasium.make("Hopper-v5", GEAR, integrator=name)

    def test_ways_to_name_gears(self):
        for gears, expected in (
            ("harmonic_drive", JOINTS),
            ({"leg_joint": {"gamma_u": 0.1, "gamma_v": 0.2}, "foot*": "harmonic_drive"}, JOINTS[1:]),
        ):
            env = make(gears)
            self.assertEqual(list(mjgear.Gears(env.unwrapped.model, env.unwrapped.data)), expected)
        with self.assertRaisesRegex(mjgear.GearError, "knee"):
            make({"knee": GEAR})
        with self.assertRaisesRegex(mjgear.GearError, "coulomb"):
            make({**GEAR, "colomb": 1})

    def test_options_and_specs(self):
        env = make(max_episode_steps=7)
        again = gymnasium.make(env.spec)
        self.assertEqual(again.spec.max_episode_steps, 7)
        self.assertEqual(len(mjgear.Gears(again.unwrapped.model, again.unwrapped.data)), 3)

    def test_not_of_mujoco(self):
        with self.assertRaisesRegex(mjgear.GearError, "CartPole-v1 has no MJCF file"):
            mjgear.gymnasium.make("CartPole-v1", GEAR)

    def test_takes_no_file(self):
        class Fixed(MujocoEnv):
            metadata = {"render_modes": ["human", "rgb_array", "depth_array", "rgbd_tuple"], "render_fps": 125}

            def __init__(self):
                super().__init__("hopper.xml", 4, gymnasium.spaces.Box(-1, 1, (11,)))

        gymnasium.register("FixedHopper-v0", Fixed)
        with self.assertRaisesRegex(mjgear.GearError, "FixedHopper-v0 does not take xml_file"):
            mjgear.gymnasium.make("FixedHopper-v0", GEAR, integrator="Euler")


class Randomized(unittest.TestCase):
    def test_checks_pass(self):
        checked(mjgear.gymnasium.RandomizedGears(make(), INTERVALS, observe=("friction", "state", "eta_forward")))

    def test_draws_at_reset(self):
        env = mjgear.gymnasium.RandomizedGears(make(), INTERVALS)
        _, first = env.reset(seed=5)
        _, second = env.reset()
        _, again = env.reset(seed=5)
        self.assertEqual(first["gears"], again["gears"])
        self.assertNotEqual(first["gears"], second["gears"])
        for name, gear in env.gears.items():
            for key, (low, high) in INTERVALS.items():
                self.assertTrue(low <= gear[key] <= high)
                self.assertEqual(gear[key], again["gears"][name][key])
        plain = make()
        np.testing.assert_array_equal(
            plain.reset(seed=5)[0], env.reset(seed=5)[0]
        )  # the environment's own numbers are as without

    def test_one_step_is_that_of_the_draw(self):
        env = mjgear.gymnasium.RandomizedGears(make(), INTERVALS)
        _, info = env.reset(seed=1)
        model = env.unwrapped.model
        data = mujoco.MjData(model)
        data.qpos, data.qvel = env.unwrapped.data.qpos, env.unwrapped.data.qvel
        for name, gear in mjgear.Gears(model, data).items():
            gear.set(**info["gears"][name])
        mujoco.mj_forward(model, data)
        _, _, _, _, info = env.step(np.ones(3, np.float32))
        data.ctrl = 1
        mujoco.mj_step(model, data, env.unwrapped.frame_skip)
        np.testing.assert_array_equal(env.unwrapped.data.qpos, data.qpos)
        self.assertEqual(
            (info["gear_steps"], info["gear_unsolved"], info["gear_slow"]), (env.unwrapped.frame_skip, 0, 0)
        )

    def test_observations(self):
        plain, env = make(), mjgear.gymnasium.RandomizedGears(make(), INTERVALS, observe=("coulomb", "friction"))
        width = plain.observation_space.shape[0]
        self.assertEqual(env.observation_space.shape, (width + 6,))
        observation, info = env.reset(seed=2)
        np.testing.assert_array_equal(
            observation[width : width + 3], [info["gears"][name]["coulomb"] for name in JOINTS]
        )
        observation = env.step(np.ones(3, np.float32))[0]
        np.testing.assert_array_equal(observation[width + 3 :], [gear.friction for gear in env.gears.values()])
        self.assertIn(observation, env.observation_space)
        with self.assertRaisesRegex(mjgear.GearError, "did you mean friction"):
            mjgear.gymnasium.RandomizedGears(make(), INTERVALS, observe=["frictoin"])

    def test_what_is_the_models(self):
        for intervals in ({"armature": (0.1, 0.2)}, {"leg_joint": {"coulomb": 1, "viscous": (0, 1)}}):
            with self.assertRaisesRegex(mjgear.GearError, "is the model's, and an episode cannot draw it"):
                mjgear.gymnasium.RandomizedGears(make(), intervals)

    def test_curriculum(self):
        """Gears go from the model's to the draws."""
        env = mjgear.gymnasium.RandomizedGears(make(), INTERVALS, curriculum=lambda episode: min(1, episode / 2))
        whole = mjgear.gymnasium.RandomizedGears(make(), INTERVALS)
        env.reset(seed=3), whole.reset(seed=3)
        np.testing.assert_allclose([gear.coulomb for gear in env.gears.values()], 0.5)
        for share in (0.5, 1):
            env.reset(seed=4), whole.reset(seed=4)
            for gear, other in zip(env.gears.values(), whole.gears.values()):
                self.assertAlmostEqual(gear.coulomb, 0.5 + share * (other.coulomb - 0.5))
                self.assertAlmostEqual(gear.eta_forward, 0.8 + share * (other.eta_forward - 0.8))
        env.difficulty = 2
        with self.assertRaisesRegex(mjgear.GearError, "difficulty 2 is no share"):
            env.reset()

    def test_processes(self):
        """AsyncVectorEnv makes environments in processes."""
        envs = gymnasium.vector.AsyncVectorEnv([lambda: mjgear.gymnasium.RandomizedGears(make(), INTERVALS)] * 2)
        _, info = envs.reset(seed=1)
        alone = mjgear.gymnasium.RandomizedGears(make(), INTERVALS)
        drawn = alone.reset(seed=2)[1]["gears"]["leg_joint"]["coulomb"]
        self.assertEqual(info["gears"]["leg_joint"]["coulomb"][1], drawn)
        envs.step(np.zeros((2, 3), np.float32))
        envs.close()

    def test_checkpoint(self):
        """mj_getState holds an episode, its gears and counts, and continues with the same bits."""
        env = mjgear.gymnasium.RandomizedGears(make(), INTERVALS)
        env.reset(seed=1)
        kind = mujoco.mjtState.mjSTATE_INTEGRATION
        model, data = env.unwrapped.model, env.unwrapped.data
        state = np.empty(mujoco.mj_stateSize(model, kind))
        env.step(np.ones(3, np.float32))
        mujoco.mj_getState(model, data, state, kind)
        first = [env.step(np.ones(3, np.float32))[0] for _ in range(10)]
        env.reset(seed=9)
        mujoco.mj_setState(model, data, state, kind)
        np.testing.assert_array_equal(first, [env.step(np.ones(3, np.float32))[0] for _ in range(10)])
        self.assertEqual(env.gears.counts.steps, 11 * env.unwrapped.frame_skip)

    def test_gears_are_pickled(self):
        env = mjgear.gymnasium.RandomizedGears(make(), INTERVALS)
        env.reset(seed=1)
        copied = pickle.loads(pickle.dumps(env.gears))
        self.assertEqual(copied["leg_joint"].coulomb, env.gears["leg_joint"].coulomb)


class Vector(unittest.TestCase):
    STEPS = 6

    def make(self, **options):
        spec = mujoco.MjSpec.from_string(ARM % "")
        mjgear.add(spec, ["shoulder", "elbow"], **GEAR)
        self.model = spec.compile()
        return mjgear.gymnasium.GearedVectorEnv(
            self.model, 3, observe=lambda batch: np.concatenate([batch.qpos, batch.qvel], axis=1), reward=lambda batch, action: batch.qpos[:, 0] - 0.01 * (action**2).sum(axis=1),
            intervals=INTERVALS, steps=self.STEPS, frame_skip=4, nthread=1, **options,
        )  # fmt: skip

    def test_is_its_simulations(self):
        env = self.make(
            start=lambda batch, ids, rng: batch.qpos.__setitem__(ids, rng.uniform(-0.1, 0.1, (len(ids), 2)))
        )
        first, _ = env.reset(seed=1)
        datas = []
        for k in range(3):
            data = mujoco.MjData(self.model)
            data.qpos = first[k, :2]
            for name, gear in mjgear.Gears(self.model, data).items():
                gear.set(**{key: env.gears[name][key][k] for key in INTERVALS})
            datas.append(data)
        self.assertEqual(len(np.unique(env.gears["elbow"].coulomb)), 3)
        for step in range(self.STEPS):
            action = np.full((3, 2), 0.5 - 0.3 * step)
            observation, reward, terminated, truncated, info = env.step(action)
            for k, data in enumerate(datas):
                data.ctrl = np.clip(action[k], -1, 1)
                mujoco.mj_step(self.model, data, 4)
                np.testing.assert_array_equal(observation[k], [*data.qpos, *data.qvel])
                self.assertEqual(reward[k], data.qpos[0] - 0.01 * (action[k] ** 2).sum())
            np.testing.assert_array_equal(info["gear_steps"], 4 * (step + 1))
            np.testing.assert_array_equal(truncated, step == self.STEPS - 1)
            self.assertFalse(terminated.any())

    def test_episodes_end_by_themselves(self):
        """Ended simulations are reset by the next step with new gears; the others continue."""
        env = self.make(
            terminated=lambda batch: (
                batch.time[:, 0] > np.array([0.005, 9, 9])
                if batch.time.ndim > 1
                else batch.time > np.array([0.005, 9, 9])
            )
        )
        env.reset(seed=1)
        before = np.array(env.gears["elbow"].coulomb)
        ended = env.step(np.zeros((3, 2)))[2]
        while not ended.any():
            ended = env.step(np.zeros((3, 2)))[2]
        np.testing.assert_array_equal(ended, [True, False, False])
        observation, reward, terminated, truncated, info = env.step(np.ones((3, 2)))
        self.assertEqual((reward[0], terminated[0], truncated[0], info["gear_steps"][0]), (0, False, False, 0))
        np.testing.assert_array_equal(observation[0], 0)
        np.testing.assert_array_equal(env.gears["elbow"].coulomb != before, [True, False, False])

    def test_seeds_and_spaces(self):
        env, other = self.make(), self.make()
        np.testing.assert_array_equal(env.reset(seed=3)[0], other.reset(seed=3)[0])
        np.testing.assert_array_equal(env.gears["elbow"].coulomb, other.gears["elbow"].coulomb)
        self.assertIn(env.reset()[0], env.observation_space)
        self.assertEqual(env.action_space.shape, (3, 2))
        self.assertTrue((env.gears["elbow"].coulomb != other.gears["elbow"].coulomb).all())
        before = np.array(env.gears["elbow"].coulomb)
        env.reset(options={"reset_mask": np.array([False, True, False])})
        np.testing.assert_array_equal(env.gears["elbow"].coulomb != before, [False, True, False])

    def test_gymnasiums_wrappers(self):
        """Gymnasium's statistics of episodes take it."""
        env = gymnasium.wrappers.vector.RecordEpisodeStatistics(self.make())
        env.reset(seed=1)
        for _ in range(self.STEPS):
            _, _, _, _, info = env.step(env.action_space.sample())
        np.testing.assert_array_equal(info["episode"]["l"], self.STEPS)


if __name__ == "__main__":
    unittest.main()
