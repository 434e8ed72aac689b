"""Changes gears in plugin_state: reads numbers of users, and calls the functions that write them."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from mjgear import _catalogue, _structs
from mjgear._catalogue import gap_keys, keys
from mjgear._errors import GearError, GearKeyError

Array = NDArray[np.float64]

TEXT = 4000  # bytes for all refusals of a call


class Changes:
    """The changing numbers: a key of a joint's gear for each column of values. Columns of a joint stand side by side.

    Args:
        columns: (joint, key, 1 if the keys replace the description of the gear).
    """

    def __init__(self, columns: Sequence[tuple[int, str, int]]) -> None:
        self.count = len(columns)
        self.joints = (ctypes.c_int * self.count)(*(joint for joint, _, _ in columns))
        self.keys = (ctypes.c_char_p * self.count)(*(key.encode(errors="replace") for _, key, _ in columns))
        self.describes = (ctypes.c_int * self.count)(*(describes for _, _, describes in columns))

    def apply(self, model: mujoco.MjModel, rows: Array, values: Array) -> None:
        """Change all rows of plugin_state or none; a row is a whole state.

        Args:
            rows: (n, at least npluginstate), each a row of memory without gaps.
            values: (n, columns).

        Raises:
            GearError: the library's lines.
        """
        values = np.ascontiguousarray(values, np.float64)
        error = ctypes.create_string_buffer(TEXT)
        stride = rows.strides[0] // rows.itemsize if len(rows) > 1 else rows.shape[1]
        if _structs.plugin.mjg_setStates(
            model._address,
            rows.ctypes.data,
            len(rows),
            stride,
            self.joints,
            self.keys,
            values.ctypes.data,
            self.describes,
            self.count,
            error,
            TEXT,
        ):
            raise GearError(_structs.message(error))


def read(values: Mapping[str, ArrayLike], count: int, where: str) -> dict[str, Array]:
    """Numbers for count simulations, from one or from count of them; texts have units."""
    reporter = _catalogue.Reporter(where)
    found = {}
    for key, value in values.items():
        series = _catalogue.entries(value)
        if _structs.core.mjg_keyFromName(key.encode(errors="replace")) < 0 and key not in gap_keys():
            reporter.refuse(
                _catalogue.unknown(key, "key", [*keys(), *gap_keys()]) + "; choose a number of a gear or its gap"
            )
            continue
        if series.size != 1 and series.shape != (count,):
            many = "one simulation; give one" if count == 1 else f"{count} simulations; give one, or one for each"
            reporter.refuse(f"{key} has shape {series.shape} for {many}")
            continue
        info = _catalogue.info_of(key)
        one = [_catalogue.read_number(key, item, info, reporter) for item in series.ravel().tolist()]
        found[key] = np.full(count, one[0]) if len(one) == 1 else np.array(one)
    reporter.check()
    return found


def unknown_key(key: str) -> GearKeyError:
    return GearKeyError(_catalogue.unknown(key, "key", [*keys(), *gap_keys()]))


def get_number(pointers: _structs.Pointers, joint: int, key: bytes) -> float | None:
    """A number of a gear in the simulation of this model and data; None where it is not given."""
    value = ctypes.c_double()
    known = _structs.get_gear(ctypes.byref(value), *pointers, joint, key)
    if known < 0:
        raise unknown_key(key.decode(errors="replace"))
    return value.value if known else None


def get_rows(model: mujoco.MjModel, rows: Array, joint: int, key: str) -> Array:
    """A number of a gear in whole plugin_state, (n, at least npluginstate); NaN where it is not given."""
    values = np.empty(len(rows))
    stride = rows.strides[0] // rows.itemsize if len(rows) > 1 else rows.shape[1]
    target, source = (array.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for array in (values, rows))
    if (
        _structs.plugin.mjg_getStates(
            target, model._address, source, len(rows), stride, joint, key.encode(errors="replace")
        )
        < 0
    ):
        raise unknown_key(key)
    return values


def set_numbers(
    model: mujoco.MjModel, data: mujoco.MjData, joint: int, values: Mapping[str, float], describes: bool
) -> None:
    """Change a gear in one simulation."""
    count = len(values)
    names = (ctypes.c_char_p * count)(*(name.encode(errors="replace") for name in values))
    numbers = (ctypes.c_double * count)(*values.values())
    change = _structs.plugin.mjg_describeGear if describes else _structs.plugin.mjg_setGears
    error = ctypes.create_string_buffer(TEXT)
    if change(model._address, data._address, joint, names, numbers, count, error, TEXT):
        raise GearError(_structs.message(error))
