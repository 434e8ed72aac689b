"""Motor torques that make a motion: inverse dynamics with gears, and feedforward."""

from __future__ import annotations

import ctypes
import dataclasses
from collections.abc import Iterator, Mapping

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from mjgear import _catalogue, _structs
from mjgear._errors import GearError, GearKeyError, GearTypeError
from mjgear._words import Motion

_DOUBLES = ctypes.POINTER(ctypes.c_double)
_INTS = ctypes.POINTER(ctypes.c_int)
_TEXT = 2000


@dataclasses.dataclass(frozen=True, eq=False)
class Torques(Mapping[str, float]):
    """Motor torques that make a motion, gear by gear in the order of Gears.

    N m, or N of slides, at the output side of the gear: torque of motors in ``qfrc_actuator`` of the joint at the start of the step.
    For a gear on a tendon, the force along it.

    ``motion`` has a ``mjgear.Motion`` for each gear:

    - MOVES: one torque makes the motion.
    - RESTS: it stands still at the end of the step, with any torque from low to high.
    - HELD: it moves, but its static friction would hold it by itself. One end is the torque with which it keeps sliding. The other, in the
      direction of motion, is the breakaway torque.
    - JAMS: its load drives it, but its gear locks. Its law allows the motion with one torque; by itself it would stop instead.
    - NONE: no torque makes the motion, and its bounds are NaN.
    - ROTOR: its rotor is behind a gap. Give the rotor's acceleration.
    - SLEEPS: its tree is asleep.

    It is a mapping from names to torques: ``torques["elbow"]``, ``dict(torques)``.

    Attributes:
        names: joints and tendons with gears (n).
        low, high: bounds of the torques that make the motion (n). Equal where the gear moves. Infinite where no torque would move it; NaN where
            none is known.
        motion: kind of motion of each gear (n).
    """

    names: tuple[str, ...]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    motion: tuple[Motion, ...]

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    @property
    def torque(self) -> NDArray[np.float64]:
        """The torque of each gear (n); of an interval the value nearest to zero."""
        torque: NDArray[np.float64] = np.clip(0.0, self.low, self.high)
        return torque

    def __getitem__(self, name: str) -> float:
        """The torque of the gear of one joint or tendon."""
        if name not in self.names:
            raise GearKeyError(f"{name!r} has no gear; geared are {', '.join(self.names)}")
        return float(self.torque[self.names.index(name)])

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


def inverse(
    model: mujoco.MjModel, data: mujoco.MjData, qacc: ArrayLike | None = None, rotors: Mapping[str, float] | None = None
) -> Torques:
    """The motor torques that make a motion: inverse dynamics with gears.

    ``mujoco.mj_inverse`` knows no gears; its torques hold for a robot without gears. Here x is the torque that the link demands of a gear. The engine's
    inverse dynamics gives it from inertia, bias, springs, dampers, constraints, applied forces, and servo gains of the integrator at the
    controls in ``data``. Then the law of doc/theory.md is solved for the motor torque:

        u = x + t,    lambda = (gamma_u + gamma_v) u - gamma_v t,    t in (|lambda| + c) sgn(v+),    torque = u + S a

    so that a forward step with these torques makes this motion.

    Args:
        model: the model, with any integrator but RK4.
        data: the state before the step. All that ``mj_inverse`` writes is computed again, positions and velocities included; state, controls and
            qacc stay. Call it between steps. In a control callback pass other data that hold the same state.
        qacc: (v+ - v)/h over the step, rad/s2 or m/s2 (nv). Without it the acceleration in ``data`` as ``mj_forward`` left it.
        rotors: accelerations (w+ - w)/h of rotors behind gaps by the names of their joints; rotors that are not named have motion ROTOR.

    Raises:
        GearError: no gear, data of another model, RK4, an acceleration of the wrong shape or not finite, a name without a rotor.
    """
    _check(model, data)
    low, high, motion = _solve(
        model, data, None if qacc is None else _acceleration(model, qacc), _rotors(model, rotors)
    )
    geared = np.flatnonzero(motion)
    names = tuple(_structs.name_of(model, int(number)) for number in geared)
    return Torques(names, low[geared], high[geared], tuple(Motion(one) for one in motion[geared]))


def feedforward(model: mujoco.MjModel, data: mujoco.MjData, qacc: ArrayLike) -> NDArray[np.float64]:
    """Generalized forces that the actuators have to give for a wanted acceleration: computed-torque control through gears.

    ``inverse`` of the wanted motion, made into one number a dof. Write the wanted position and velocity into a second ``data`` and give the
    wanted acceleration. With feedback use the measured state, and wanted acceleration + Kp e + Kd de/dt. A joint that shall rest gets
    the torque next to zero with which its friction holds it. A joint that leaves rest against static friction gets its breakaway
    torque. Rotors behind gaps are to move with their joints.

    Args:
        model: the model, with any integrator but RK4.
        data: the state; treated as in ``inverse``.
        qacc: wanted acceleration over the step, (v+ - v)/h (nv).

    Returns:
        Torque that motors have to give at the start of the step (nv), N m or N: of dofs with a gear at its output side, before friction,
        and beside the torque of actuators that are loads. For dofs without a gear, the torque of inverse dynamics, less applied forces.

    Raises:
        GearError: as ``inverse``.
    """
    _check(model, data)
    wanted = _acceleration(model, qacc)
    rotors = np.array([wanted[model.jnt_dofadr[joint]] for joint in range(model.njnt)])
    low, high, motion = _solve(model, data, wanted, rotors)
    torque = np.clip(0.0, low, high)
    force: NDArray[np.float64] = data.qfrc_inverse - data.qfrc_applied - _wrenches(model, data)

    # against static friction: breakaway torque in the direction of motion
    for number in np.flatnonzero(motion == Motion.HELD):
        torque[number] = (high if _next_velocity(model, data, int(number), wanted) > 0 else low)[number]
    joints = np.flatnonzero(motion[: model.njnt])
    tendons = np.flatnonzero(motion[model.njnt :])
    if tendons.size:  # their dofs get no other torque, except from gears of their own
        rows = _tendon_rows(model, data)[tendons]
        force[rows.any(0)] = 0
        force[model.jnt_dofadr[joints]] = torque[joints]
        force += rows.T @ torque[model.njnt + tendons]
        return force
    force[model.jnt_dofadr[joints]] = torque[joints]
    return force


def _next_velocity(model: mujoco.MjModel, data: mujoco.MjData, number: int, qacc: NDArray[np.float64]) -> float:
    """Velocity of a joint or tendon after the step."""
    velocity = data.qvel + model.opt.timestep * qacc
    kind, own = _structs.object_of(model, number)
    if kind == mujoco.mjtObj.mjOBJ_JOINT:
        return float(velocity[model.jnt_dofadr[own]])
    return float(_tendon_rows(model, data)[own] @ velocity)


def _check(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    if not isinstance(model, mujoco.MjModel) or not isinstance(data, mujoco.MjData):
        raise GearTypeError(f"give an MjModel and its MjData, not {type(model).__name__} and {type(data).__name__}")


def _acceleration(model: mujoco.MjModel, qacc: ArrayLike) -> NDArray[np.float64]:
    try:
        wanted = _catalogue.floats(qacc)
    except (TypeError, ValueError, OverflowError):
        raise GearError(f"qacc is no list of numbers; give (v+ - v)/h of each of the {model.nv} dofs") from None
    if wanted.shape != (model.nv,):
        raise GearError(f"qacc has shape {wanted.shape}; give (v+ - v)/h of each of the {model.nv} dofs")
    return wanted


def _rotors(model: mujoco.MjModel, rotors: Mapping[str, float] | None) -> NDArray[np.float64] | None:
    if rotors is None:
        return None
    numbers = np.full(model.njnt, np.nan)
    for name, acceleration in rotors.items():
        joint = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)
        if joint < 0:
            raise GearError(f"rotors: the model has no joint '{name}'")
        address = _structs.StateAddress()
        if _structs.plugin.mjg_stateAddress(ctypes.byref(address), model._address, joint, b"rotor_velocity"):
            raise GearError(f"rotors: joint '{name}' has no rotor behind a gap; its rotor moves with it")
        try:
            numbers[joint] = _catalogue.number_of(acceleration)
        except (TypeError, ValueError, OverflowError):
            raise GearError(f"rotors: {acceleration!r} of joint '{name}' is no number; give (w+ - w)/h") from None
    return numbers


def _pointer(numbers: NDArray[np.float64] | None) -> object:
    return None if numbers is None else numbers.ctypes.data_as(_DOUBLES)


def _solve(
    model: mujoco.MjModel, data: mujoco.MjData, qacc: NDArray[np.float64] | None, rotors: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32]]:
    """mjg_inverse: low, high, motion by the number of the joint or tendon."""
    low, high = np.empty(model.njnt + model.ntendon), np.empty(model.njnt + model.ntendon)
    motion = np.empty(len(low), np.int32)
    error = ctypes.create_string_buffer(_TEXT)
    done = _structs.plugin.mjg_inverse(
        low.ctypes.data_as(_DOUBLES), high.ctypes.data_as(_DOUBLES), motion.ctypes.data_as(_INTS), model._address, data._address,
        _pointer(qacc), _pointer(rotors), error, _TEXT,
    )  # fmt: skip
    if done < 0:
        raise GearError(_structs.message(error))
    return low, high, motion


def _wrenches(model: mujoco.MjModel, data: mujoco.MjData) -> NDArray[np.float64]:
    """Generalized forces of xfrc_applied (nv)."""
    force = np.zeros(model.nv)
    for body in np.flatnonzero(data.xfrc_applied.any(1)):
        wrench = data.xfrc_applied[body]
        mujoco.mj_applyFT(model, data, wrench[:3], wrench[3:], data.xipos[body], int(body), force)
    return force


def _tendon_rows(model: mujoco.MjModel, data: mujoco.MjData) -> NDArray[np.float64]:
    """The Jacobian of tendons (ntendon x nv)."""
    rows = np.zeros((model.ntendon, model.nv))
    values = np.ravel(data.ten_J)
    for tendon in range(model.ntendon):
        where = slice(model.ten_J_rowadr[tendon], model.ten_J_rowadr[tendon] + model.ten_J_rownnz[tendon])
        rows[tendon, model.ten_J_colind[where]] = values[where]
    return rows
