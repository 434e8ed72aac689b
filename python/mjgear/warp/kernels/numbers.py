"""Types of a precision of the dense problem, and the law of a step as the kernels hand it on."""

import functools

import warp as wp

from mjgear.warp import native

# arrays of MuJoCo Warp's own precision
scalars = wp.array(dtype=float)
vectors = wp.array2d(dtype=float)
integers = wp.array2d(dtype=int)

# status of a world: mjgear.warp.Gears
RESIDUAL, UNSOLVED, NO_ROW = 1, 2, 3


@wp.struct
class Progress:
    """How far the worlds are in a step, an entry a world."""

    settles: wp.array(dtype=int)  # 1: friction and motion of the step are found; 2: and the constraint solver knows
    rounds: wp.array(dtype=int)  # friction problems since the last constraint solve
    far: wp.array(dtype=int)  # the last one moved the joints by more than rounding
    moved: wp.array(dtype=float)  # and by so much of the largest acceleration
    slope: wp.array(dtype=float)  # of the cost of constraints at the begin of this motion
    other: wp.array(dtype=int)  # the matrix of the next one is another
    rests: wp.array(dtype=int)  # a joint has come to rest in one of them, and joints have kept their pieces since
    overflow: wp.array(dtype=int)  # what Data.overflow was before; -1: it is that again
    arrived: wp.array(dtype=wp.int64)
    largest: wp.array(dtype=float)  # torque or force


@wp.struct
class Constraints:
    """Rows of the constraint solver and contacts, as mujoco_warp.Data has them."""

    ne: wp.array(dtype=int)
    nf: wp.array(dtype=int)
    nefc: wp.array(dtype=int)
    kind: integers
    identity: integers
    J: wp.array3d(dtype=float)
    D: vectors
    aref: vectors
    frictionloss: vectors
    friction: wp.array(dtype=wp.types.vector(5, wp.float32))
    dim: wp.array(dtype=int)
    address: integers
    impratio_invsqrt: scalars


@wp.func
def blame(status: wp.array(dtype=int), unsettled: wp.array(dtype=int), w: int, what: int):
    """A world's step is not settled; the largest status stays, and the step is counted once."""
    if wp.atomic_max(status, w, what) == 0:
        wp.atomic_add(unsettled, w, 1)


@functools.cache
class Numbers:
    """Single or double precision.

    Attributes:
        real: type of a number.
        reals, matrices: (nworld, n) and (nworld, rows, columns).
        Gear: numbers of the gears, as Gears has them; Past: what is kept from step to step; Result: what a step did.
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
        class Gear:
            gamma_u: vectors
            gamma_v: vectors
            coulomb: vectors
            static_ratio: vectors
            stribeck_friction: vectors
            stribeck_velocity: vectors
            stribeck_exponent: vectors
            gamma_u_stribeck: vectors
            gamma_v_stribeck: vectors
            gamma_u_quadratic: vectors
            gamma_v_quadratic: vectors

        @wp.struct
        class Past:
            friction: vectors
            internal: vectors
            mode: integers
            slack: vectors

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

        @wp.struct
        class Result:
            state: integers
            power: vectors
            residual: vectors
            status: wp.array(dtype=int)
            unsettled: wp.array(dtype=int)

        self.Gear, self.Past, self.Law, self.Result = Gear, Past, Law, Result

    def law(self, nworld: int, n: int):
        """Memory for the law of a step."""
        made = self.Law()
        for name in self.Law.vars:
            setattr(made, name, wp.zeros((nworld, n), dtype=self.real))
        return made
