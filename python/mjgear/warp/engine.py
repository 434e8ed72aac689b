"""What differs between the releases of MuJoCo Warp that gears work with: 4.0, and 3.11, which mjlab 1.6 has.

The rest of the package is written for 4.0. What 3.11 does another way stands here beside it, and nowhere else.
"""

import contextlib

import mujoco
import mujoco_warp as mjw
import warp as wp
from mujoco_warp._src import forward, solver
from mujoco_warp._src.types import ConstraintType, IntegratorType

RELEASE = tuple(int(part) for part in mjw.__version__.split(".")[:2])
_OLD = RELEASE == (3, 11)
_FRICTION_DOF = int(ConstraintType.FRICTION_DOF)

# integrators by their names in MJCF; "discrete" there is from 4.0 on
DISCRETE = None if _OLD else IntegratorType.DISCRETE
INTEGRATORS = {"Euler": IntegratorType.EULER, "implicitfast": IntegratorType.IMPLICITFAST}
if not _OLD:
    INTEGRATORS["discrete"] = DISCRETE


def check():
    """Raises ImportError where MuJoCo Warp is of a release with which gears were not tried."""
    if RELEASE < (4, 0) and not _OLD:
        raise ImportError(
            f"mjgear.warp works with mujoco_warp 3.11 and from 4.0 on, and this is {mjw.__version__}; "
            "pip install mujoco-warp==4.0.0"
        )


# ------------------------------------------ the model on the host ------------------------------------------------


def actuator_inertia(model: mujoco.MjModel, joint: int) -> float:
    """Rotor inertia that a joint has from its actuator.

    Raises:
        NotImplementedError: this release of MuJoCo Warp leaves it out.
    """
    actuator = model.jnt_actuatorid[joint]
    if actuator == -1:
        return 0.0
    if not _OLD:
        return mujoco.mj_actuatorArmature(model, mujoco.mjtObj.mjOBJ_JOINT, joint)
    if model.actuator_armature[actuator]:
        raise NotImplementedError(
            f"mjgear.warp: joint '{model.joint(joint).name}' has armature of its actuator, which mujoco_warp 3.11 leaves "
            "out; give it to the joint"
        )
    return 0.0


# ------------------------------------------ a step ---------------------------------------------------------------


def has_actuators(m: mjw.Model) -> bool:
    return bool(m.nu if _OLD else m.nactuator)


@contextlib.contextmanager
def warm_start(m: mjw.Model):
    """Without the acceleration that belongs to no constraint, which no solve of a step needs: from 4.0 on."""
    if _OLD:
        yield
        return
    before, m.opt.run_qacc_smooth = m.opt.run_qacc_smooth, False
    try:
        yield
    finally:
        m.opt.run_qacc_smooth = before


class FrictionRows:
    """The row of friction loss that each dof has in each world, -1 where it has none: (nworld, nv)."""

    def __init__(self, d: mjw.Data, nv: int):
        self._rows = wp.zeros((d.nworld, nv), dtype=int) if _OLD else None

    def find(self, d: mjw.Data):
        """After the constraint rows of a step are made; 3.11 does not say where it has put them."""
        if _OLD:
            self._rows.fill_(-1)
            wp.launch(_find_rows, dim=(d.nworld, d.njmax), inputs=[d.nefc, d.efc.type, d.efc.id], outputs=[self._rows])

    def of(self, d: mjw.Data) -> wp.array:
        return self._rows if _OLD else d.dof_frictionadr


@wp.kernel(module="unique", enable_backward=False)
def _find_rows(
    nefc: wp.array(dtype=int),
    kind: wp.array2d(dtype=int),
    identity: wp.array2d(dtype=int),
    # out
    rows: wp.array2d(dtype=int),
):
    w, r = wp.tid()
    if r < nefc[w] and kind[w, r] == _FRICTION_DOF:
        rows[w, identity[w, r]] = r


def damping_derivative(m: mjw.Model, d: mjw.Data, out: wp.array):
    """What the Euler integrator takes as damping of each dof; 3.11 has none of actuators."""
    poly = [m.dof_damping, m.dof_dampingpoly]
    if not _OLD:
        actuators = [m.actuator_trntype, m.actuator_trnid, m.actuator_damping, m.actuator_dampingpoly, m.actuator_gear]
        poly = [m.jnt_actuatorid, m.dof_jntid, *poly, *actuators]
    wp.launch(forward._compute_damping_deriv, dim=(d.nworld, m.nv), inputs=[*poly, d.qvel], outputs=[out])


def smooth_force(m: mjw.Model, d: mjw.Data, out: wp.array):
    """All forces but those of constraints, as "discrete" takes them: springs and position gains at the end of the step."""
    wp.launch(
        solver._add_qfrc_smooth_eff,
        dim=(d.nworld, m.nv),
        inputs=[m.opt.enableflags, m.dof_treeid, d.tree_awake, d.qfrc_smooth, d.efm_c, d.efm_ca],
        outputs=[out],
    )


def reset_free_bodies(m: mjw.Model, d: mjw.Data, matrix: wp.array):
    """Free bodies by themselves are not part of the matrix of implicitfast: from 4.0 on."""
    if not _OLD:
        wp.launch(
            forward._implicit_free_body_reset_m,
            dim=(d.nworld, m.body_freeadr.size),
            inputs=[m.body_dofadr, m.M_rownnz, m.M_rowadr, m.body_freeadr, d.M],
            outputs=[matrix],
        )


def solve_free_bodies(m: mjw.Model, d: mjw.Data):
    """They are solved for with their gyroscopic forces instead: from 4.0 on."""
    if not _OLD:
        forward.implicit_free_body(m, d, d.efc.Ma, d.qacc, solve=True)
