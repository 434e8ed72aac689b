"""Gears of a whole robot, identified by ``mujoco.sysid``.

The robot is a model with gears; mujoco.sysid simulates it, all its optimizers and its report work. Parameters
of gears for a model, and intervals that count logs, not samples.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from scipy.stats import t as student

import mjgear
from mjgear import _library
from mjgear.identify.logs import LogError

sysid: Any = importlib.import_module("mujoco.sysid")
if not hasattr(sysid, "Parameter"):  # the module is empty without its extra
    raise LogError("robots need mujoco.sysid: pip install 'mujoco[sysid]'")

#: parameters of each joint: start, low, high; torques are those of the joint's actuators
GEAR: dict[str, tuple[float, float, float]] = {
    "gamma_u": (0.05, 0.0, 0.9),
    "gamma_v": (0.15, 0.0, 2.0),
    "coulomb": (0.5, 0.0, 50.0),
    "damping": (0.5, 0.0, 50.0),
    "armature": (0.5, 1e-3, 20.0),
}


def _instance(spec: mujoco.MjSpec, joint: str) -> tuple[Any, int, int]:
    """The plugin instance that gears a joint, the joint's place in it, and its number of joints."""
    for plugin in spec.plugins:
        joints = str(plugin.config.get("joint", "")).split() if plugin.plugin_name == _library.NAME else []
        if joint in joints:
            return plugin, joints.index(joint), len(joints)
    raise LogError(f"joint '{joint}' has no gear in this model")


def set_number(spec: mujoco.MjSpec, joint: str, name: str, value: float) -> None:
    """Write a number of GEAR into a model: into the joint, or into the instance that gears it."""
    if name in ("damping", "armature"):
        j = spec.joint(joint)
        if name == "armature":
            j.armature = value
        else:
            j.damping = np.concatenate([[value], np.zeros(np.size(j.damping) - 1)])
        return
    plugin, place, count = _instance(spec, joint)
    config = dict(plugin.config)
    words = str(config.get(name, "0")).split()
    words = words * count if len(words) == 1 else words
    words[place] = repr(float(value))
    config[name] = " ".join(words)
    plugin.config = config


def _writer(joint: str, name: str) -> Callable[[mujoco.MjSpec, Any], None]:
    return lambda spec, parameter: set_number(spec, joint, name, float(parameter.value[0]))


def parameters(
    spec: mujoco.MjSpec, joints: Sequence[str], gear: Mapping[str, tuple[float, float, float]] = GEAR
) -> Any:
    """Gears as parameters of mujoco.sysid, named JOINT.NUMBER; joints without a gear get one.

    Args:
      spec: the robot; changed.
      gear: number -> (start, low, high).

    Returns:
      A ``sysid.ParameterDict`` whose modifiers write the model.
    """
    made = sysid.ParameterDict()
    for joint in joints:
        try:
            _instance(spec, joint)
        except LogError:
            mjgear.add(spec, [joint], name=f"gear_{joint}", gamma_u=0.0, gamma_v=0.0, coulomb=0.0)
        for number, (start, low, high) in gear.items():
            name = f"{joint}.{number}"
            made[name] = sysid.Parameter(name, start, low, high, modifier=_writer(joint, number))
    return made


@dataclass
class Robot:
    """Identified gears of a robot.

    Attributes:
      parameters: the ``sysid.ParameterDict`` at the optimum.
      result: of the optimizer.
      intervals: name -> (value, low, high); all of them hold together with 95 %.
      start, predicted, measured: ``sysid.TimeSeries`` of each log: predicted where the optimizer began, predicted at the
        optimum, and measured.
      spec: the robot with the numbers found; None if it was not read from a file.
    """

    parameters: Any
    result: Any
    intervals: dict[str, tuple[float, float, float]]
    start: list[Any]
    predicted: list[Any]
    measured: list[Any]
    spec: mujoco.MjSpec | None = None

    def text(self) -> str:
        """The numbers in lines."""
        return "\n".join(
            f"  {name:<28}{value:>12.5g}   {low:.4g} to {high:.4g}"
            for name, (value, low, high) in self.intervals.items()
        )


def intervals(
    parameters: Any, residuals: Sequence[np.ndarray], jacobian: np.ndarray, level: float = 0.95
) -> dict[str, tuple[float, float, float]]:
    """Intervals that hold for all parameters together (Bonferroni), each the wider one of two.

    One takes the residuals as independent noise (``sysid.calculate_intervals``). The other takes each log as one
    observation with errors related in any way (cluster-robust, with Student's t for few logs).

    Args:
      residuals: of each log at the optimum.
      jacobian: of all residuals, logs one after the other.
    """
    names = [name for name in parameters.keys() if not parameters[name].frozen]
    x = parameters.as_vector()
    tail = (1 - level) / 2 / len(names)
    low, high = parameters.get_bounds()
    _, half = sysid.calculate_intervals(residuals, jacobian, alpha=2 * tail)
    half = np.asarray(half, dtype=float)
    n = len(residuals)
    if n > 1:
        inverse = np.linalg.pinv(jacobian.T @ jacobian)
        ends = np.cumsum([0] + [r.size for r in residuals])
        scores = np.array([jacobian[a:b].T @ r for a, b, r in zip(ends[:-1], ends[1:], residuals)])
        variance = np.diag(inverse @ (scores.T @ scores) @ inverse) * n / (n - 1)
        half = np.maximum(half, student.ppf(1 - tail, n - 1) * np.sqrt(np.maximum(variance, 0)))
    return {
        name: (float(v), float(max(a, v - h)), float(min(b, v + h)))
        for name, v, h, a, b in zip(names, x, half, low, high)
    }


def identify(
    sequences: Sequence[Any],
    start: Any,
    optimizer: str = "mujoco",
    weights: Mapping[str, float] | None = None,
    **options: Any,
) -> Robot:
    """Identify parameters from measured sequences.

    Args:
      sequences: of ``sysid.ModelSequences``, whose models have the parameters' gears.
      start: a ParameterDict, see parameters().
      optimizer: of ``sysid.optimize``.
      weights: sensor -> weight.
      options: of ``sysid.optimize``.
    """
    residual = sysid.build_residual_fn(models_sequences=list(sequences), sensor_weights=weights)
    options.setdefault("verbose", False)
    before = [series[0] for series in residual(start.as_vector(), start.copy(), return_pred_all=True)[1]]
    found, result = sysid.optimize(start, residual, optimizer, **options)
    parts, predicted, measured = residual(result.x, found.copy(), return_pred_all=True)
    residuals = [np.asarray(r).ravel() for r in parts]
    return Robot(
        found,
        result,
        intervals(found, residuals, np.asarray(result.jac)),
        before,
        [series[0] for series in predicted],
        [series[0] for series in measured],
    )


def load(log: str | Path, *models: mujoco.MjModel) -> Any:
    """A SystemTrajectory for one of these models: a robot's logs may come from its model with gears, or without.

    Raises:
      OSError, KeyError, ValueError: it fits no model; the text is about the first model.
    """
    first: Exception | None = None
    for model in models:
        try:
            return sysid.SystemTrajectory.load_from_disk(Path(log), model, allow_missing_sensors=True)
        except (OSError, KeyError, ValueError) as error:
            first = first or error
    assert first is not None
    raise first


def identify_robot(model: str | Path, logs: Sequence[str | Path], joints: Sequence[str], **options: Any) -> Robot:
    """Identify the gears of a robot from files.

    Args:
      model: MJCF of the robot, with its sensors and actuators.
      logs: npz files of ``sysid.SystemTrajectory.save_to_disk``: control, sensordata, initial_state.
      joints: names of the geared joints.
      options: of identify().

    Raises:
      LogError: a file cannot be used.
    """
    try:
        spec = mujoco.MjSpec.from_file(str(model))
        plain = spec.compile()
        start = parameters(spec, joints)
        compiled = spec.compile()
    except (ValueError, mjgear.GearError) as error:
        raise LogError(f"{model}: {error}") from None
    names, states, controls, sensors = [], [], [], []
    for log in logs:
        try:
            trajectory = load(log, compiled, plain)
        except (OSError, KeyError, ValueError) as error:
            raise LogError(f"{log}: not a SystemTrajectory of mujoco.sysid that fits {model}: {error}") from None
        names.append(Path(log).stem)
        state = np.zeros(mujoco.mj_stateSize(compiled, mujoco.mjtState.mjSTATE_FULLPHYSICS.value))
        state[: min(state.size, trajectory.initial_state.size)] = trajectory.initial_state[: state.size]
        states.append(state)
        controls.append(trajectory.control)
        sensors.append(trajectory.sensordata)
    sequences = sysid.ModelSequences(
        Path(model).stem, spec, names, states, controls, sensors, allow_missing_sensors=True
    )
    found = identify([sequences], start, **options)
    for name, (value, _, _) in found.intervals.items():
        joint, number = name.rsplit(".", 1)
        set_number(spec, joint, number, value)
    return replace(found, spec=spec)
