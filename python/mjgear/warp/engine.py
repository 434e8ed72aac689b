"""Differences between the supported releases of MuJoCo Warp, 3.11 (mjlab 1.6) to 4.0.

The rest of the package is written for 4.0. Code for older releases is in this file only.
Releases are distinguished by their functions, not by their numbers.
"""

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import Any

import mujoco
import mujoco_warp as mjw
import warp as wp
from mujoco_warp._src import derivative, forward, solver, types
from mujoco_warp._src.types import Callback, IntegratorType, Option

from mjgear import _extras
from mjgear._errors import UnsupportedError

from .rows import find_rows

RELEASE = tuple(int(part) for part in mjw.__version__.split(".")[:2])


def _fields(kind: Any) -> set[str]:
    return {field.name for field in dataclasses.fields(kind)}


_MODEL, _DATA = _fields(mjw.Model), _fields(mjw.Data)

# functions and fields that gears use beside the public ones
_NEEDED = {
    "Model": (_MODEL, ("M_rownnz", "M_rowadr", "M_colind", "nC", "callback", "dof_invweight0", "dof_armature")),
    "Data": (_DATA, ("M", "efc", "qacc_warmstart", "qfrc_smooth", "nefc")),
    "Callback": (_fields(Callback), ("sensor",)),
    "forward": (vars(forward), ("_compute_damping_deriv", "_euler_damp_qfrc")),
    "solver": (vars(solver), ("solve",)),
    "derivative": (vars(derivative), ("deriv_smooth_vel",)),
}

# integrators by their names in MJCF; "discrete" exists from 3.15 on
DISCRETE = getattr(IntegratorType, "DISCRETE", None)
INTEGRATORS = {"Euler": IntegratorType.EULER, "implicitfast": IntegratorType.IMPLICITFAST}
if DISCRETE is not None:
    INTEGRATORS["discrete"] = DISCRETE


def check() -> None:
    """Raises ImportError if this MuJoCo Warp lacks functions that gears need."""
    missing = [f"{place}.{name}" for place, (there, names) in _NEEDED.items() for name in names if name not in there]
    if missing:
        oldest, newest = _extras.WARP
        raise ImportError(
            f"mjgear.warp was tried with mujoco_warp {oldest} to {newest}, and {mjw.__version__} has no {', '.join(missing)}; "
            f"pip install 'mujoco-warp=={newest}.*'"
        )


def _launch(kernel: wp.Kernel, dim: tuple[int, ...], m: mjw.Model, d: mjw.Data, out: wp.array) -> None:
    """Launch a kernel of MuJoCo Warp with arguments by name: fields of the model, of the data (NAME_in), and out."""

    def value(label: str) -> Any:
        if label.endswith("_out"):
            return out
        if label.endswith("_in"):
            return getattr(d, label[:-3])
        return getattr(m.opt, label[4:]) if label.startswith("opt_") else getattr(m, label)

    wp.launch(kernel, dim=dim, inputs=[value(argument.label) for argument in kernel.adj.args])


# ------------------------------------------ the model on the host ------------------------------------------------


def actuator_inertia(model: mujoco.MjModel, joint: int) -> float:
    """Rotor inertia that a joint has from its actuator.

    Raises:
        UnsupportedError: this release of MuJoCo Warp leaves it out.
    """
    actuator = model.jnt_actuatorid[joint]
    if actuator == -1:
        return 0.0
    if "actuator_armature" in _MODEL:
        return float(mujoco.mj_actuatorArmature(model, mujoco.mjtObj.mjOBJ_JOINT, joint))
    if model.actuator_armature[actuator]:
        raise UnsupportedError(
            f"mjgear.warp: joint '{model.joint(joint).name}' has armature of its actuator, which mujoco_warp {mjw.__version__} "
            "leaves out; give it to the joint"
        )
    return 0.0


# ------------------------------------------ a step ---------------------------------------------------------------


class FrictionRows:
    """The row of friction loss that each dof has in each world, -1 where it has none: (nworld, nv)."""

    def __init__(self, d: mjw.Data, nv: int) -> None:
        self._rows = None if "dof_frictionadr" in _DATA else wp.zeros((d.nworld, nv), dtype=int)

    def find(self, d: mjw.Data) -> None:
        """After the constraint rows of a step are made; before 4.0 their place is unknown."""
        if self._rows is not None:
            self._rows.fill_(-1)
            wp.launch(find_rows, dim=(d.nworld, d.njmax), inputs=[d.nefc, d.efc.type, d.efc.id], outputs=[self._rows])

    def of(self, d: mjw.Data) -> wp.array:
        return d.dof_frictionadr if self._rows is None else self._rows


def damping_derivative(m: mjw.Model, d: mjw.Data, out: wp.array) -> None:
    """Damping of each dof for the Euler integrator; before 4.0 without actuators."""
    _launch(forward._compute_damping_deriv, (d.nworld, m.nv), m, d, out)


def smooth_force(m: mjw.Model, d: mjw.Data, out: wp.array) -> None:
    """All forces except constraint forces, as "discrete" takes them: springs and position gains at the end of the step."""
    _launch(solver._add_qfrc_smooth_eff, (d.nworld, m.nv), m, d, out)


def reset_free_bodies(m: mjw.Model, d: mjw.Data, matrix: wp.array) -> None:
    """From 3.13 on, isolated free bodies are not part of the matrix of implicitfast."""
    kernel = getattr(forward, "_implicit_free_body_reset_m", None)
    if kernel is not None:
        _launch(kernel, (d.nworld, m.body_freeadr.size), m, d, matrix)


def solve_free_bodies(m: mjw.Model, d: mjw.Data) -> None:
    """They are solved for with their gyroscopic forces instead."""
    if hasattr(forward, "implicit_free_body"):
        forward.implicit_free_body(m, d, d.efc.Ma, d.qacc, solve=True)
    elif hasattr(forward, "_launch_implicit_free_body_solve"):
        forward._launch_implicit_free_body_solve(m, d, d.qacc)


# ------------------------------------------ the constraint solver ------------------------------------------------


# True if a solve may end early; this must be reversible
_ENDS = "overflow" in _DATA and "warn_overflow" in vars(Option) and hasattr(types, "OverflowType")
OVERFLOW_ITERATIONS = int(types.OverflowType.ITERATIONS) if _ENDS else 0


def overflow(d: mjw.Data) -> wp.array | None:
    """Overflow flags of each world, if this release has them."""
    return d.overflow if _ENDS else None


@contextlib.contextmanager
def most_iterations(m: mjw.Model, most: int) -> Iterator[None]:
    """Constraint solves take no more iterations, without a warning."""
    if not _ENDS:
        yield
        return
    asked = m.opt.iterations, m.opt.warn_overflow
    m.opt.iterations = min(most, m.opt.iterations)
    m.opt.warn_overflow &= ~OVERFLOW_ITERATIONS
    yield
    m.opt.iterations, m.opt.warn_overflow = asked


def hook(gears_of: Callable[[mjw.Model, mjw.Data], Any]) -> None:
    """Let the constraint solver call gears instead of a solve.

    MuJoCo Warp has no callback there, so its function is wrapped, once a process, for the models that have gears.

    Args:
        gears_of: of Model and Data, their Gears, or None.
    """
    solve = solver.solve

    @functools.wraps(solve)
    def geared_solve(m: mjw.Model, d: mjw.Data) -> Any:
        gears = gears_of(m, d)
        return solve(m, d) if gears is None else gears._solve(m, d, solve)

    solver.solve = geared_solve
