"""Types of a precision of the dense problem, and the law of a step as the kernels hand it on."""

import functools

import warp as wp

from mjgear.warp import native

# arrays of MuJoCo Warp's own precision
scalars = wp.array(dtype=float)
vectors = wp.array2d(dtype=float)
integers = wp.array2d(dtype=int)


@functools.cache
class Numbers:
    """Single or double precision.

    Attributes:
        real: type of a number.
        reals, matrices: (nworld, n) and (nworld, rows, columns).
        Law: the law of each joint of each world in this step, see core/mjgear.h: tau torque of its motor, rotor
            inertia, v0 velocity, alpha, gain = gamma_u + gamma_v, beta, c, ratio of static to kinetic friction.
        native: functions in C.
    """

    def __init__(self, precision: str):
        self.real, name = {"single": (wp.float32, "float"), "double": (wp.float64, "double")}[precision]
        self.reals = wp.array2d(dtype=self.real)
        self.matrices = wp.array3d(dtype=self.real)
        self.native = native.functions(name)
        reals = self.reals

        @wp.struct
        class Law:
            tau: reals
            inertia: reals
            v0: reals
            alpha: reals
            gain: reals
            beta: reals
            c: reals
            ratio: reals

        self.Law = Law

    def law(self, nworld: int, n: int):
        """Memory for the law of a step."""
        made = self.Law()
        for name in self.Law.vars:
            setattr(made, name, wp.zeros((nworld, n), dtype=self.real))
        return made
