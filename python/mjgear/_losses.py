"""From measured or printed efficiencies to a gear with tables."""

from __future__ import annotations

import csv
import dataclasses
import os
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mjgear import _catalogue
from mjgear._errors import GearError
from mjgear._names import renamed

_COLUMNS = ("torque", "speed", "temperature", "efficiency", "motor_torque")
_ROUNDS = 500  # iterations of a fit of one factor after the other
_MOST = 8  # points of a table

Array = NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class Losses:
    """A gear whose losses follow torque, speed and temperature.

    Attributes:
        keys: of ``mjgear.add``: gamma_u, gamma_v, coulomb, the tables, and the temperature at which the numbers hold.
        error: largest difference between its motor torque and a given one, relative to the given one, 1.
    """

    keys: Mapping[str, _catalogue.Value]
    error: float


def fit_losses(data: str | os.PathLike[str] | Mapping[str, ArrayLike], *, ratio: float = 1.0) -> Losses:
    """The gear with the losses of a catalogue or a test bench, while its motor drives.

    Args:
        data: a CSV file whose first line names its columns, or arrays by the same names, of one length: "torque" of the
            load, N m; "speed", rad/s; "temperature", degC; and "efficiency" (1, where the torque is not 0) or
            "motor_torque", N m. A column may be missing where it is the same everywhere (torque: 0).
        ratio: ratio of motor speed to output speed. 1: the columns are at the output. Otherwise "speed" and
            "motor_torque" are at the motor, and "torque" is of the output, as in catalogues.

    Returns:
        Keys for ``mjgear.add``. Under the load x at the velocity v and the temperature T the motor torque at the output is

            x + c a(v) b(T) + gamma_v g(x) d(v) e(T) x

        Each of a, b, g, d, e is a table whose points are the values of the columns, and 1 where it is largest. "temperature" is the one
        next to 20 degC. The fit has the smallest squares of relative errors; none of its numbers is negative.
        Efficiencies when the load drives follow as for any gear with gamma_u = 0: 2 - 1/efficiency at the same load.

    Raises:
        GearError: a column is missing or unknown, of another length, or has more than 8 different values; an efficiency is not in (0, 1].
    """
    torque, speed, temperature, motor = _read(data, ratio)
    load = np.abs(torque)
    levels = {
        "coulomb_speed": speed,
        "coulomb_temperature": temperature,
        "gamma_torque": load,
        "gamma_speed": speed,
        "gamma_temperature": temperature,
    }
    found = {
        name: np.unique(values[load > 0] if name.startswith("gamma") else values, return_inverse=True)[0]
        for name, values in levels.items()
    }
    for name, x in found.items():
        if x.size > _MOST:
            raise GearError(
                f"fit_losses: {x.size} different values for {name}; give at most {_MOST}, at the points that its table shall have"
            )
    factors = {name: np.ones(x.size) for name, x in found.items()}
    size = {"coulomb": max(float(np.min(motor - load)), 1e-3 * float(motor.max())), "gamma": 0.1}
    lost = motor - load

    def share(name: str) -> Array:
        base = np.ones(load.size) if name == "coulomb" else load
        for key, x in found.items():
            if key.startswith(name) and x.size:
                base = base * factors[key][np.clip(np.searchsorted(x, levels[key]), 0, x.size - 1)]
        return size[name] * base

    # each number is a linear one if the others stand
    for _ in range(_ROUNDS):
        for name, other in ("coulomb", "gamma"), ("gamma", "coulomb"):
            for key in [key for key in found if key.startswith(name) and found[key].size > 1]:
                rest = lost - share(other)
                base = share(name)
                for k, x in enumerate(found[key]):
                    at = (levels[key] == x) & (base > 0)
                    weighted = base[at] / motor[at] ** 2
                    if at.any() and weighted @ base[at] > 0:
                        factors[key][k] *= max(1e-9, float(weighted @ rest[at]) / float(weighted @ base[at]))
            base = share(name)
            if (base > 0).any():
                size[name] *= max(
                    0.0, float((base / motor**2) @ (lost - share(other))) / float((base / motor**2) @ base)
                )

    # numbers are the largest values, tables the factors below them
    for key, x in found.items():
        if x.size:
            most = float(factors[key].max())
            size[key.split("_")[0]] *= most
            factors[key] /= most
    keys: dict[str, _catalogue.Value] = {
        "gamma_u": 0.0,
        "gamma_v": size["gamma"] if load.any() else 0.0,
        "coulomb": size["coulomb"],
    }
    for key, x in found.items():
        if x.size > 1:
            keys[key] = _catalogue.table_text(np.column_stack([x, factors[key]]))
    if any(key.endswith("_temperature") for key in keys):
        keys["temperature"] = float(found["coulomb_temperature"][np.argmin(np.abs(found["coulomb_temperature"] - 20))])
    error = float(np.max(np.abs(share("coulomb") + (share("gamma") if load.any() else 0) - lost) / motor))
    return Losses(keys, error)


def _floats(name: str, values: ArrayLike) -> Array:
    try:
        return _catalogue.floats(values)
    except (TypeError, ValueError, OverflowError) as error:
        raise GearError(f"fit_losses: {name} has an entry that is no number ({error}); write numbers, SI") from None


def _read(data: str | os.PathLike[str] | Mapping[str, ArrayLike], ratio: float) -> tuple[Array, Array, Array, Array]:
    """Load, speed, temperature and motor torque, all at the output."""
    if isinstance(data, (str, os.PathLike)):
        name_of_file = os.fspath(data)
        with open(name_of_file, newline="", encoding="utf-8") as file:
            rows: Sequence[Mapping[str, str]] = list(csv.DictReader(file))
        if not rows:
            raise GearError(f"fit_losses: {name_of_file} has no rows; write a line of names and below it numbers")
        try:
            data = {name.strip(): [float(row[name]) for row in rows] for name in rows[0] if name}
        except (TypeError, ValueError) as error:
            raise GearError(
                f"fit_losses: {name_of_file} has a cell that is no number ({error}); write numbers, SI, without units"
            ) from None
    for name in data:
        if name not in _COLUMNS:
            raise GearError(f"fit_losses: unknown column '{name}'; there are {', '.join(_COLUMNS)}")
    given = {name: _floats(name, values) for name, values in data.items()}
    if ("efficiency" in given) == ("motor_torque" in given):
        raise GearError("losses: give one of the columns efficiency and motor_torque")
    n = max(values.size for values in given.values())
    if any(values.shape != (n,) for values in given.values()) or not all(
        np.isfinite(values).all() for values in given.values()
    ):
        raise GearError("losses: columns are of different lengths or not finite; give one finite number for each")
    torque = np.abs(given.get("torque", np.zeros(n)))
    if "efficiency" in given:
        if not ((given["efficiency"] > 0) & (given["efficiency"] <= 1) & (torque > 0)).all():
            raise GearError(
                "losses: an efficiency is not in (0, 1], or its torque is 0; write motor_torque for an unloaded gear"
            )
        motor = torque / given["efficiency"]
    else:
        motor = ratio * np.abs(given["motor_torque"])
    if not (motor > torque).all():
        raise GearError("losses: a motor torque is not above that of the load, both at the output; check 'ratio'")
    return torque, np.abs(given.get("speed", np.zeros(n))) / ratio, given.get("temperature", np.full(n, 20.0)), motor


losses = renamed("losses", fit_losses)
