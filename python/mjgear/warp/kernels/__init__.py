"""Kernels of one step. Each world is solved by itself; arrays have a world a row.

Names: n geared joints, nv dofs, t friction torque, a acceleration of the constraint solver, H the matrix of
its Newton method without rows of gears, Mhat the matrix of the integrator, W = E' H^-1 E, A = h E' Mhat^-1 M
H^-1 E. The problem of a step is that of core/mjgear.h.
"""

import functools
import types

import warp as wp

from . import contact, discrete, integrator, law, problem, result, rounds, states
from .numbers import Constraints, Couples, Motion, Numbers, Tree

__all__ = ["Constraints", "Couples", "Motion", "Numbers", "Tree", "make"]


@functools.cache
def make(precision: str) -> types.SimpleNamespace:
    """All kernels, with the dense problem in single or double precision."""
    numbers = Numbers(precision)
    made = [
        kernel
        for room in (law, integrator, discrete, contact, problem, states, rounds, result)
        for kernel in room.make(numbers)
    ]
    return types.SimpleNamespace(**{kernel.func.__name__: kernel for kernel in made})
