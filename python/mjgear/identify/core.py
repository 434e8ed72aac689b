"""The bench simulation in C, python/bench/bench.h, called through ctypes."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt

from mjgear import _library as libraries

DRIVES = {"torque": 0, "current": 1, "voltage": 2}
LAWS = {"gear": 0, "bam": 1}

_doubles = ctypes.POINTER(ctypes.c_double)
_bytes = ctypes.POINTER(ctypes.c_ubyte)


class _Log(ctypes.Structure):
    """mjgBenchLog."""

    _fields_ = [
        ("n", ctypes.c_int),
        ("substeps", ctypes.c_int),
        ("reset", ctypes.c_int),
        ("drive", ctypes.c_int),
        ("loop", ctypes.c_int),
        ("law", ctypes.c_int),
        ("dt", ctypes.c_double),
        ("input", _doubles),
        ("enable", _bytes),
        ("load", _doubles),
        ("places", ctypes.c_int),
        ("place", _doubles),
        ("along", _doubles),
        ("friction", _doubles),
        ("position", _doubles),
        ("velocity", _doubles),
    ]


_library = libraries.bench()
_library.mjg_benchName.restype = ctypes.c_char_p
_library.mjg_simulateBench.argtypes = [ctypes.c_void_p] * 4 + [ctypes.POINTER(_Log), ctypes.c_int, ctypes.c_void_p]
_library.mjg_deliver.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int, ctypes.c_void_p]


def _names() -> tuple[str, ...]:
    names: list[str] = []
    while (name := _library.mjg_benchName(len(names))) is not None:
        names.append(name.decode())
    return tuple(names)


#: names of the parameters of a bench, in the order of the array in C
PARAMETERS = _names()

#: place of each parameter in that array
INDEX = {name: i for i, name in enumerate(PARAMETERS)}


def _pointer(array: np.ndarray | None) -> Any:
    return None if array is None else array.ctypes.data_as(_doubles)


class Rollout:
    """One evenly sampled log, ready to be simulated many times with different parameters.

    Args:
      dt: time between samples, s.
      input: quantity that the drive sets, or goal of the position loop, (n).
      position, velocity: measured, rad and rad/s, (n); the simulation starts at the first sample.
      drive: "torque", "current" or "voltage".
      loop: True if the input is a goal in rad.
      enable: False where the motor is off, (n); None: always on.
      load: torque against the joint besides gravity, N m, (n); None: none.
      along: angles and known torques along the position there, rad and N m; None: none.
      substeps: steps of the simulation in one sample.
      reset: samples between returns to the measured state; 0: never.
      law: "gear" or "bam".
    """

    def __init__(
        self,
        dt: float,
        input: npt.ArrayLike,
        position: npt.ArrayLike,
        velocity: npt.ArrayLike,
        drive: str = "torque",
        loop: bool = False,
        enable: npt.ArrayLike | None = None,
        load: npt.ArrayLike | None = None,
        along: tuple[np.ndarray, np.ndarray] | None = None,
        substeps: int = 1,
        reset: int = 0,
        law: str = "gear",
    ) -> None:
        def column(x: npt.ArrayLike) -> np.ndarray:
            return np.ascontiguousarray(x, dtype=np.float64)

        self.position = column(position)
        self.n = self.position.size
        self.velocity = column(velocity)
        self._input = column(input)
        self._along = along
        self._load = None if load is None else column(load)
        self._enable = None if enable is None else np.ascontiguousarray(enable, dtype=np.uint8)
        for array in (self.velocity, self._input, self._load, self._enable):
            if array is not None and array.shape != (self.n,):
                raise ValueError(f"a column has shape {array.shape}, position has ({self.n},)")
        self._log = _Log(
            self.n,
            substeps,
            reset,
            DRIVES[drive],
            int(loop),
            LAWS[law],
            dt,
            _pointer(self._input),
            None if self._enable is None else self._enable.ctypes.data_as(_bytes),
            _pointer(self._load),
            0 if along is None else along[0].size,
            *map(_pointer, along or (None, None)),
            None,
            _pointer(self.position),
            _pointer(self.velocity),
        )
        self._here = ctypes.byref(self._log)
        self._position = np.empty((1, self.n))

    @property
    def law(self) -> str:
        """The friction law: "gear" or "bam"."""
        return next(name for name, number in LAWS.items() if number == self._log.law)

    @law.setter
    def law(self, name: str) -> None:
        self._log.law = LAWS[name]

    def warm(self, friction: np.ndarray | None) -> None:
        """Set the factor of friction without load at each sample, (n); None: 1."""
        self._friction = friction
        self._log.friction = _pointer(friction)

    @property
    def substeps(self) -> int:
        """Steps of the simulation in one sample."""
        return int(self._log.substeps)

    def simulate(self, parameters: np.ndarray) -> np.ndarray:
        """Angle at each sample (sets, n), of sets of parameters; NaN from where a simulation left the finite numbers.

        The array is overwritten by the next call.
        """
        sets = len(parameters)
        if len(self._position) < sets:
            self._position = np.empty((sets, self.n))
        self._call(parameters, self._position)
        return self._position[:sets]

    def simulate_all(self, parameter: np.ndarray) -> dict[str, np.ndarray]:
        """Angle, speed, motor torque and rotor angle at each sample, of one set of parameters."""
        made = {name: np.empty(self.n) for name in ("position", "velocity", "torque", "rotor")}
        self._call(parameter[None], *made.values())
        return made

    def _call(self, parameters: np.ndarray, *outputs: np.ndarray) -> None:
        addresses = [array.ctypes.data for array in outputs] + [None] * (4 - len(outputs))
        status = _library.mjg_simulateBench(*addresses, self._here, len(parameters), parameters.ctypes.data)
        if status == -1:
            bad = [dict(zip(PARAMETERS, row.tolist())) for row in parameters]
            raise ValueError(f"the core refuses one of these sets of parameters of a bench: {bad}")


def deliver(u: np.ndarray, v: np.ndarray, parameter: np.ndarray) -> np.ndarray:
    """Torque that a gear in motion delivers: u into the gear, v the speed of its output, not 0."""
    u = np.ascontiguousarray(u, dtype=np.float64)
    v = np.ascontiguousarray(v, dtype=np.float64)
    x = np.empty_like(u)
    _library.mjg_deliver(x.ctypes.data, u.ctypes.data, v.ctypes.data, u.size, parameter.ctypes.data)
    return x
