"""Wrong arguments are refused in one line: kernels would read and write beyond their arrays."""

from typing import Any

import numpy as np
import warp as wp

from mjgear._catalogue import entries, floats
from mjgear._errors import GearError, GearTypeError

from .reading import LARGEST

# rounds of a step
_ROUNDS = 100


def worlds(model: Any, data: Any) -> None:
    """A model on the device and its worlds, or stand-ins.

    Raises:
        GearTypeError: they are something else.
        GearError: the data belong to another model.
    """
    for name, value, kind, needed in (
        ("model", model, "Model", ("opt", "nv", "callback")),
        ("data", data, "Data", ("nworld", "njmax", "efc")),
    ):
        if not all(hasattr(value, field) for field in needed):
            raise GearTypeError(f"mjgear.warp: {name} is a {type(value).__name__}; give a mujoco_warp.{kind}")
    if (data.qpos.shape[1], data.qvel.shape[1]) != (model.nq, model.nv):
        raise GearError(
            f"mjgear.warp: data were not made for this model: they have {data.qvel.shape[1]} dofs, and the model has {model.nv}"
        )


def rounds(value: Any) -> None:
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not (whole and 1 <= value <= _ROUNDS):
        raise GearError(f"mjgear.warp: rounds = {value!r} is no whole number from 1 to {_ROUNDS}")


def precision(value: Any) -> None:
    if value not in ("single", "double"):
        raise GearError(f"mjgear.warp: precision = {value!r} is unknown; choose 'single' or 'double'")


def positive(name: str, value: Any) -> None:
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float, np.integer, np.floating))
        or not 0 < value < np.inf
    ):
        raise GearError(f"mjgear.warp: {name} = {value!r} is no positive number")


def numbers(name: str, value: Any, shape: tuple[int, int]) -> np.ndarray | wp.array:
    """A number of the gears for all worlds.

    Raises:
        GearError: it has another shape than (nworld, n), and is not the same for all worlds or gears; or it is not finite.
    """
    if isinstance(value, wp.array):
        if value.shape != shape:
            raise GearError(f"mjgear.warp: {name} has the shape {value.shape}; give (worlds, gears) = {shape}")
        return value
    try:
        found = np.broadcast_to(floats(value), shape)
    except (TypeError, ValueError, OverflowError):
        shape_of = entries(value).shape
        text = f"the shape {shape_of}" if shape_of else f"the value {value!r}"
        text = "masked entries" if np.ma.is_masked(value) else text
        raise GearError(
            f"mjgear.warp: {name} has {text}; give a number, or an array of (worlds, gears) = {shape}"
        ) from None
    if not (np.abs(found) < LARGEST).all():
        raise GearError(f"mjgear.warp: {name} is not finite, or beyond {LARGEST:.0e}; give what a gear has")
    return found.astype(np.float32)


def some_worlds(value: Any, nworld: int) -> wp.array:
    """Return the selected worlds as a mask (nworld); None selects all."""
    if value is None:
        return wp.ones(nworld, dtype=bool)
    if not isinstance(value, wp.array):
        value = np.asarray(value)
        value = (
            wp.array(value, dtype=bool)
            if value.dtype == bool
            else wp.array(value, dtype=int)
            if value.dtype.kind in "iu"
            else value
        )
    if not isinstance(value, wp.array) or value.shape != (nworld,) or value.dtype not in (wp.bool, wp.int32):
        raise GearError(
            f"mjgear.warp: worlds are {type(value).__name__} of {value.dtype} with shape {value.shape}; give a bool or int for each of {nworld}"
        )
    return value
