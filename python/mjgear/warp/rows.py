"""Small kernels of their own modules: rows of friction loss, and what an encoder on the link measures."""

import warp as wp
from mujoco_warp._src.types import ConstraintType

_FRICTION_DOF = int(ConstraintType.FRICTION_DOF)


@wp.kernel(module="unique", enable_backward=False)
def find_rows(
    nefc: wp.array(dtype=int),
    kind: wp.array2d(dtype=int),
    identity: wp.array2d(dtype=int),
    # out
    rows: wp.array2d(dtype=int),
):
    w, r = wp.tid()
    if r < nefc[w] and kind[w, r] == _FRICTION_DOF:
        rows[w, identity[w, r]] = r


@wp.kernel
def measure(
    positions: wp.array(dtype=float),
    velocities: wp.array(dtype=float),
    joint_q: wp.array(dtype=wp.uint32),
    joint_qd: wp.array(dtype=wp.uint32),
    play_q: wp.array(dtype=int),
    play_qd: wp.array(dtype=int),
    position: wp.array(dtype=float),
    velocity: wp.array(dtype=float),
):
    i = wp.tid()
    position[i] = positions[joint_q[i]]
    velocity[i] = velocities[joint_qd[i]]
    if play_q[i] >= 0:
        position[i] += positions[play_q[i]]
        velocity[i] += velocities[play_qd[i]]
