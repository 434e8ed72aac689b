"""Types of a precision of the dense problem, and the law of a step as the kernels hand it on."""

import functools

import warp as wp

from mjgear._words import Status
from mjgear.warp import native

# arrays of MuJoCo Warp's own precision
scalars = wp.array(dtype=float)
vectors = wp.array2d(dtype=float)
integers = wp.array2d(dtype=int)

# status of a world: mjgear.Status
RESIDUAL, UNSOLVED, NO_ROW = (int(status) for status in (Status.ITERATION_LIMIT, Status.NOT_PD, Status.WORKSPACE))


@wp.struct
class Tree:
    """Addresses of the entries of the lower triangle of matrices, row by row: Model.M_*."""

    rownnz: wp.array(dtype=int)
    rowadr: wp.array(dtype=int)
    colind: wp.array(dtype=int)


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


@wp.struct
class Couples:
    """Couplings of dofs in the metric of "discrete", s j' j of actuators and tendons; empty with other integrators."""

    nactuator: int
    ntendon: int
    moment_rownnz: integers
    moment_rowadr: integers
    moment_colind: integers
    moment: vectors
    efm_as: vectors
    ten_J_rownnz: wp.array(dtype=int)
    ten_J_rowadr: wp.array(dtype=int)
    ten_J_colind: wp.array(dtype=int)
    ten_J: vectors
    efm_ts: vectors


@wp.struct
class Motion:
    """Results of the constraint solver, and of rounds after it."""

    qacc: vectors
    next: vectors  # acceleration that a round proposes
    smooth: vectors  # all forces except constraint forces
    qfrc_constraint: vectors
    Ma: vectors
    force: vectors  # of rows, and their states
    state: integers


@wp.struct
class Round:
    """State of a world's rounds, the same for all its threads."""

    stage: int
    number: int  # of rounds in this stage
    passive: int  # rows of gears are rows of friction loss as others are
    settled: int  # friction and motion of the step are found
    other: int  # the matrix of the next friction problem is another
    steps: int  # of Newton's method, the most of them
    solved: int  # the last friction problem was
    kept: int  # all joints kept their pieces in it
    calm: int  # rounds in which gears kept their pieces, and constraints their states
    far: int  # the last round moved the joints by more than round-off
    moved: float  # relative to the largest acceleration
    slope: float  # of the cost of constraints at the begin of this motion
    largest: float  # torque or force


@wp.func
def blame(status: wp.array(dtype=int), unsettled: wp.array(dtype=int), w: int, what: int):
    """A world's step is not settled: an error, below 0, replaces the limit, and the step is counted once."""
    before = int(0)
    if what < 0:
        before = wp.atomic_min(status, w, what)
    else:
        before = wp.atomic_cas(status, w, 0, what)
    if before == 0:
        wp.atomic_add(unsettled, w, 1)


@functools.cache
class Numbers:
    """Single or double precision.

    Attributes:
        real: type of a number.
        reals, matrices: (nworld, n) and (nworld, rows, columns).
        Gear: numbers of the gears; Past: memory between steps; Result: results of a step.
        Law: the law of each joint of each world in this step, see core/mjgear.h: tau torque of its motor, rotor
            inertia, v0 velocity, alpha, gain = gamma_u + gamma_v, beta, c, ratio of static to kinetic friction.
        Found: friction t, velocity v after the step, load lam and mode of the joints, and the effect of friction on a joint's own velocity.
        Scratch: memory of a step.
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

        matrices = self.matrices

        @wp.struct
        class Found:
            t: reals
            v: reals
            lam: reals
            own: reals  # the same before the integrator, h W_ii
            mode: integers

        @wp.struct
        class Scratch:
            H: matrices  # (nv, nv): of Newton's method of the constraint solver, without rows of gears; then its factor
            X: matrices  # (nv, n): columns of its inverse
            Z: matrices  # (nv, n): M Mhat^-1 E of an implicit integrator
            A: matrices  # (n, n)
            gradient: reals  # (nv); then the motion that the friction problem has found
            x: reals  # (nv)
            v_free: reals  # (n)
            phi: reals  # (n)
            change: reals  # (n) of friction in a round
            number: reals  # of the friction problem
            integer: integers
            old_Ma: vectors  # (nv)
            cone: wp.array3d(dtype=float)  # (njmax, 6): second derivative of a contact that is on its cone, by row
            cone_dim: integers  # (njmax)
            shared: vectors  # (lanes)

        self.Gear, self.Past, self.Law, self.Result, self.Found, self.Scratch = Gear, Past, Law, Result, Found, Scratch

    def of_joints(self, kind, nworld: int, n: int):
        """Memory for the law of a step and for its results."""
        made = kind()
        for name, member in kind.vars.items():
            setattr(made, name, wp.zeros((nworld, n), dtype=member.type.dtype))
        return made
