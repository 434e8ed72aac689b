"""Gears for Gymnasium: an existing MuJoCo environment with gears, draws at each reset, and many simulations as one vector environment.

    env = mjgear.gymnasium.make("Hopper-v5", "harmonic_drive")
    env = mjgear.gymnasium.RandomizedGears(env, {"eta_forward": (0.6, 0.9), "eta_backward": (0.4, 0.8), "coulomb": (0, 2)})

Needs the package gymnasium, for its own environments with ``pip install 'gymnasium[mujoco]'``.
"""

from __future__ import annotations

import atexit
import pathlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium
import mujoco
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from numpy.typing import ArrayLike, NDArray

from mjgear import _catalogue
from mjgear._distributions import ENGINE, Distribution, distribution
from mjgear._errors import GearError, warn
from mjgear._gears import Gear, Gears
from mjgear._numbers import Number, Result
from mjgear._randomize import assign
from mjgear._spec import add

Array = NDArray[np.float64]

_STREAM = 0x6D6A67  # sets the draws of gears apart from the environment's own random numbers

# models with gears, until the process ends: an environment may be made again from its spec
_folder: tempfile.TemporaryDirectory[str] | None = None


def make(environment: str, gears: Any, *, integrator: str | None = None, **options: Any) -> gymnasium.Env[Any, Any]:
    """A MuJoCo environment of Gymnasium whose motors have gears.

    Its MJCF gets the gears. Gears need an implicit velocity, so implicitfast replaces RK4, with a warning. Everything else, rewards too, is the environment's.

    Args:
        environment: id, such as "Hopper-v5", of an environment that takes ``xml_file``.
        gears: a preset of mjgear.presets(), or keys of mjgear.add, for all joints with motors; or {joints: one of these},
            where joints are names or patterns as in mjgear.add.
        integrator: "implicitfast", "implicit", "Euler" or "discrete"; default: the model's, or implicitfast where that is RK4.
        options: of gymnasium.make.

    Raises:
        GearError: refusals of mjgear.add; an environment that is not of MuJoCo or takes no xml_file; an unknown integrator.

    Warns:
        GearWarning: the integrator is another one than the environment's, which changes its motion without gears, too.
    """
    plain = gymnasium.make(environment, **options)
    path = getattr(plain.unwrapped, "fullpath", None)
    plain.close()
    if path is None:
        raise GearError(
            f"{environment} has no MJCF file (env.unwrapped.fullpath); make its model with mjgear.add where the environment makes it"
        )
    spec = mujoco.MjSpec.from_file(str(path))
    for joints, keys in _per_joint(spec, gears):
        preset = keys if isinstance(keys, str) else None
        add(spec, joints, preset, **({} if preset else keys), name=f"gears_{len(spec.plugins)}")
    _choose_integrator(spec, integrator, environment)
    global _folder
    if _folder is None:
        _folder = tempfile.TemporaryDirectory(prefix="mjgear-")
        atexit.register(_folder.cleanup)
    for name in ("meshdir", "texturedir"):
        setattr(spec, name, str(pathlib.Path(path).parent / getattr(spec, name)))
    spec.compile()
    file = pathlib.Path(tempfile.mkstemp(suffix=".xml", dir=_folder.name)[1])
    file.write_text(spec.to_xml(), encoding="utf-8")
    try:
        return gymnasium.make(environment, xml_file=str(file), **options)
    except TypeError as error:
        raise GearError(
            f"{environment} does not take xml_file ({error}); choose a version of it that does, such as -v5"
        ) from None


def _per_joint(spec: mujoco.MjSpec, gears: Any) -> list[tuple[Any, Any]]:
    """Joints, and the preset or the keys of their gears."""
    known = {*_catalogue.keys(), *_catalogue.gap_keys(), "type", "backlash", "preset", "sensors"}
    if isinstance(gears, Mapping) and not set(gears) & known:
        return list(gears.items())
    motors = list(
        dict.fromkeys(actuator.target for actuator in spec.actuators if actuator.trntype == mujoco.mjtTrn.mjTRN_JOINT)
    )
    if not motors:
        raise GearError("no actuator of the model moves a joint; name the joints that get gears: {joint: keys}")
    return [(motors, gears)]


def _choose_integrator(spec: mujoco.MjSpec, integrator: str | None, environment: str) -> None:
    names = {kind.name[len("mjINT_") :].lower(): kind for kind in mujoco.mjtIntegrator.__members__.values()}
    before = mujoco.mjtIntegrator(spec.option.integrator)
    if integrator is not None:
        if integrator.lower() not in names or integrator.lower() == "rk4":
            raise GearError(
                f"unknown integrator '{integrator}'; choose {', '.join(name for name in names if name != 'rk4')}"
            )
        spec.option.integrator = names[integrator.lower()]
    elif before == mujoco.mjtIntegrator.mjINT_RK4:
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        warn(
            f"{environment} is integrated by implicitfast instead of RK4, for which gears are not: it has one stage a step, and moves a little otherwise "
            'without gears, too. Compare with the same integrator; integrator="implicitfast" says that you know'
        )


class RandomizedGears(gymnasium.Wrapper[Any, Any, Any, Any], gymnasium.utils.RecordConstructorArgs):
    """Draws gears at each reset, and reports their results.

    ``info["gears"]`` has the draws, {gear: {key: number}}, at reset; ``info["gear_steps"]``, ``["gear_unsolved"]`` and ``["gear_slow"]``
    count since the reset.

    Args:
        env: an environment of MuJoCo: its unwrapped has ``model`` and ``data``.
        intervals: as mjgear.randomize takes them.
        observe: numbers and results of a gear that are appended to the observation, one for each gear in their order:
            "friction", "mode", "state", "eta_forward" and so on. The observation must be a Box with one axis.
        curriculum: function from an episode's number (from 0 on) to a factor from 0 (gears of the model) to 1 (draws).
            Default: 1, all of it. ``wrapper.difficulty`` sets it by hand.

    Raises:
        GearError: the model has no gears, observe has an unknown name, or an interval is of a number of the model, such as armature.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        intervals: Any,
        *,
        observe: Sequence[str] = (),
        curriculum: Callable[[int], float] | None = None,
    ) -> None:
        gymnasium.utils.RecordConstructorArgs.__init__(
            self, intervals=intervals, observe=observe, curriculum=curriculum
        )
        gymnasium.Wrapper.__init__(self, env)
        base: Any = env.unwrapped
        self.gears = Gears(base.model, base.data)
        self.difficulty: float | None = None
        self._distribution = _of_state(intervals, self.gears)
        self._nominal = np.array([_nominal(self.gears, gear, key) for gear, key in self._distribution.columns])
        self._curriculum, self._episode, self._random = curriculum, 0, np.random.default_rng()
        self._observed = _observed(observe)
        if observe:
            space = env.observation_space
            if not isinstance(space, spaces.Box) or len(space.shape) != 1:
                raise GearError(f"gears can be appended to a Box with one axis, not to {space}; leave observe out")
            more = np.full(len(self._observed) * len(self.gears), np.inf)
            low, high = (
                np.concatenate([end, sign * more]).astype(space.dtype)
                for end, sign in ((space.low, -1), (space.high, 1))
            )
            self.observation_space = spaces.Box(low, high, dtype=space.dtype.type)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        if seed is not None:
            self._random = np.random.default_rng([seed, _STREAM])
        share = (
            self.difficulty
            if self.difficulty is not None
            else 1.0
            if self._curriculum is None
            else self._curriculum(self._episode)
        )
        if not 0 <= share <= 1:
            raise GearError(f"difficulty {share} is no share of the way to the draws; give a number from 0 to 1")
        self._episode += 1
        sample = self._distribution.sample(self._random, 1)
        sample = np.where(np.isnan(self._nominal), sample, self._nominal + share * (sample - self._nominal))
        assign(self.gears, self._distribution, sample)
        mujoco.mj_forward(self.gears._model, self.gears._data)
        drawn: dict[str, dict[str, float]] = {}
        for (gear, key), value in zip(self._distribution.columns, sample[0], strict=True):
            drawn.setdefault(gear, {})[key] = float(value)
        return self._append(observation), {**info, "gears": drawn, **self._counts()}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._append(observation), reward, terminated, truncated, {**info, **self._counts()}

    def _append(self, observation: Any) -> Any:
        if not self._observed:
            return observation
        more = [
            float(value) if value is not None else 0.0
            for name in self._observed
            for value in (getattr(gear, name) for gear in self.gears.values())
        ]
        return np.concatenate([observation, np.asarray(more, observation.dtype)])

    def _counts(self) -> dict[str, int]:
        counts = self.gears.counts
        return {"gear_steps": counts.steps, "gear_unsolved": counts.unsolved, "gear_slow": counts.slow}


def _of_state(intervals: Any, gears: Gears) -> Distribution:
    """A distribution of numbers that are state, which each episode may have its own of."""
    found = distribution(intervals, tuple(gears))
    for key in ENGINE:
        if key in found.keys:
            raise GearError(
                f"{key} is the model's, and an episode cannot draw it; leave it out, or make a model for each draw: mjgear.randomize(..).models(model)"
            )
    return found


def _nominal(gears: Gears, gear: str, key: str) -> float:
    """Return the model's number, NaN if it has none."""
    value = gears[gear][key] if gear in gears and key in {**_catalogue.keys(), **_catalogue.gap_keys()} else None
    return np.nan if value is None else float(value)


def _observed(names: Sequence[str]) -> tuple[str, ...]:
    """Names of numbers and results of a gear."""
    known = [name for kind in Gear.__mro__ for name, what in vars(kind).items() if isinstance(what, (Number, Result))]
    for name in names:
        if name not in known:
            raise GearError(_catalogue.unknown(name, "number of a gear", known))
    return tuple(names)


class GearedVectorEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """A vector environment over the simulations of a mujoco.batch.Batch, each with gears of its own.

    Simulations whose episode has ended are reset, with new draws, by the next step (AutoresetMode.NEXT_STEP). ``batch`` and ``gears``
    are available; ``info`` counts steps, unsolved and slow ones as RandomizedGears does.

    Args:
        model: with gears.
        num_envs: number of simulations.
        observe: observations of a Batch, (num_envs, k): ``lambda batch: np.concatenate([batch.qpos, batch.qvel], axis=1)``.
        reward: rewards of a Batch and actions, (num_envs).
        terminated: of a Batch, where an episode has ended, bool (num_envs). Default: nowhere.
        start: sets the state of simulations that were reset, by Batch, ids and generator; default: the model's.
        intervals: of mjgear.randomize, drawn at each reset. Default: the model's gears.
        steps: of an episode, after which it is truncated.
        frame_skip: steps of the simulation for each one of the environment.
        nthread: threads; 0: all.
    """

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}

    def __init__(
        self,
        model: mujoco.MjModel,
        num_envs: int,
        *,
        observe: Callable[[Any], Array],
        reward: Callable[[Any, Array], Array],
        terminated: Callable[[Any], NDArray[np.bool_]] | None = None,
        start: Callable[[Any, NDArray[np.intp], np.random.Generator], None] | None = None,
        intervals: Any = None,
        steps: int = 1000,
        frame_skip: int = 5,
        nthread: int = 0,
    ) -> None:
        from mujoco.batch import Batch  # requires MuJoCo 3.17 or later

        self.num_envs, self.batch = num_envs, Batch(model, nsim=num_envs, nthread=nthread)
        self.gears = Gears(model, self.batch)
        self._observe, self._reward, self._terminated, self._start = observe, reward, terminated, start
        self._steps, self._skip = steps, frame_skip
        self._distribution = None if intervals is None else _of_state(intervals, self.gears)
        self._elapsed = np.zeros(num_envs, np.int64)
        self._ended = np.zeros(num_envs, bool)
        low, high = np.where(model.actuator_ctrllimited[:, None] != 0, model.actuator_ctrlrange, [-1, 1]).T
        self._low, self._high = low, high
        self.single_action_space = spaces.Box(low.astype(np.float32), high.astype(np.float32))
        self.batch.forward()
        width = np.asarray(observe(self.batch)).shape[1]
        self.single_observation_space = spaces.Box(-np.inf, np.inf, (width,), np.float64)
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, num_envs)
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, num_envs)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset all simulations, or the ones in options["reset_mask"]."""
        if isinstance(seed, (list, tuple)):
            seed = next((one for one in seed if one is not None), None)
        super().reset(seed=seed, options=options)
        if seed is not None or not hasattr(self, "_random"):
            self._random = self.np_random
        mask = (options or {}).get("reset_mask")
        self._begin(np.arange(self.num_envs) if mask is None else np.flatnonzero(mask))
        return self._observation(), self._info()

    def step(self, actions: ArrayLike) -> tuple[Any, Array, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        actions = np.asarray(actions, np.float64)
        again = self._ended.copy()
        going = np.flatnonzero(~again)
        self._begin(np.flatnonzero(again))
        if going.size:
            ctrl = np.array(self.batch.ctrl)
            ctrl[going] = np.clip(actions[going], self._low, self._high)
            self.batch.ctrl = ctrl
            self.batch.step(ids=going, nstep=self._skip)
        self._elapsed[going] += 1
        reward = np.where(again, 0.0, self._reward(self.batch, actions))
        terminated = (
            np.zeros(self.num_envs, bool)
            if self._terminated is None
            else np.asarray(self._terminated(self.batch), bool) & ~again
        )
        truncated = (self._elapsed >= self._steps) & ~terminated & ~again
        self._ended = terminated | truncated
        return self._observation(), reward, terminated, truncated, self._info()

    def _begin(self, ids: NDArray[np.intp]) -> None:
        """Reset simulations, draw their gears and compute their first mj_forward."""
        if not ids.size:
            return
        self.batch.reset(ids=ids, stage=mujoco.mjtStage.mjSTAGE_NONE)
        if self._distribution is not None:
            assign(self.gears, self._distribution, self._distribution.sample(self._random, len(ids)), ids)
        if self._start is not None:
            self._start(self.batch, ids, self._random)
        self.batch.forward(ids=ids)
        self._elapsed[ids], self._ended[ids] = 0, False

    def _observation(self) -> Any:
        return np.array(self._observe(self.batch), np.float64)

    def _info(self) -> dict[str, Any]:
        counts = self.gears.counts
        return {"gear_steps": counts.steps, "gear_unsolved": counts.unsolved, "gear_slow": counts.slow}
