"""Inverse dynamics of a tree of links, linear in their inertial parameters, for many samples at once.

The ten numbers of a link have the order of the C code. G. Atkeson, C. H. An, J. M. Hollerbach (1986), in the frame of its body: mass m,
first moment h = m c, and inertia about the frame's origin (xx, yy, zz, xy, xz, yz).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from mjgear.identify.logs import LogError

#: inertial parameters of a link
NUMBERS = ("m", "hx", "hy", "hz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")

_HINGE, _SLIDE = int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)
_FREE = int(mujoco.mjtJoint.mjJNT_FREE)


def pseudo(numbers: np.ndarray) -> np.ndarray:
    """Pseudo-inertia (4, 4) of ten numbers: positive definite for a body that can exist (P. M. Wensing et al., 2018)."""
    m, hx, hy, hz, xx, yy, zz, xy, xz, yz = numbers
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    P = np.empty((4, 4))
    P[:3, :3] = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    P[:3, 3] = P[3, :3] = hx, hy, hz
    P[3, 3] = m
    return P


def numbers(P: np.ndarray) -> np.ndarray:
    """The ten numbers of a pseudo-inertia; linear in it, also for stacks (..., 4, 4) -> (..., 10)."""
    S = P[..., :3, :3]
    trace = np.trace(S, axis1=-2, axis2=-1)
    return np.stack([P[..., 3, 3], P[..., 0, 3], P[..., 1, 3], P[..., 2, 3], trace - S[..., 0, 0], trace - S[..., 1, 1], trace - S[..., 2, 2],
                     -S[..., 0, 1], -S[..., 0, 2], -S[..., 1, 2]], axis=-1)  # fmt: skip


def moved(
    model: mujoco.MjModel, joint: int, position: float, place: np.ndarray, turn: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Place (3) and rotation (3, 3) of a body's frame with one of its joints at a position, from those at its reference."""
    distance = position - model.qpos0[model.jnt_qposadr[joint]]
    axis, anchor = model.jnt_axis[joint], model.jnt_pos[joint]
    if model.jnt_type[joint] != _HINGE:
        return place + turn @ axis * distance, turn
    turned = turn @ _turns(axis, np.array([distance]))[0]
    return place + turn @ anchor - turned @ anchor, turned


def _rotation(quaternion: np.ndarray) -> np.ndarray:
    R = np.empty(9)
    mujoco.mju_quat2Mat(R, np.asarray(quaternion, dtype=float))
    return R.reshape(3, 3)


@dataclass
class Link:
    """A link: the body that its joint moves, and everything fixed to it.

    Attributes:
      name: of its body.
      joints: places in Arm.joints of the joints that move it, in order.
      parent: index of the link that carries it; -1: the world.
      place, turn: (3), (3, 3) frame of the body in the frame of the parent's body, at the reference pose.
      anchors, axes: (joints, 3) in the frame of its body.
      numbers: (10) inertial parameters of the model.
    """

    name: str
    joints: list[int]
    parent: int
    place: np.ndarray
    turn: np.ndarray
    anchors: np.ndarray
    axes: np.ndarray
    numbers: np.ndarray


class Arm:
    """The links and joints of a model that logs speak of.

    Joints that are not named stay at their held positions; bodies on them belong to the link before. Springs of joints
    count; gravity compensation, which is a simulator's, does not.

    Each joint has a drive of its own. Where drives move several joints, `coupling` says how: rates of drives = coupling @ rates of joints. The
    torque of a drive, its friction and its rotor then belong to its rate, and what is said of joint j is said of drive j.

    Args:
      model: compiled MJCF.
      joints: names of the joints in the logs that move, in the order of their columns.
      held: other joints and their positions; those that are not named are at their reference (qpos0).
      coupling: (joints, joints), not singular; None: none.
      torques: joint -> angles and known torques along the position there, of springs and counterbalances.

    Attributes:
      joints: names.
      links: the moving links.
      reference: (joints) position at which the model is drawn (qpos0).
      limits: (joints, 2) range, infinite where there is none.

    Raises: LogError: a joint is missing, or is not a hinge or slide, or the base is free.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        joints: Sequence[str],
        held: Mapping[str, float] | None = None,
        coupling: np.ndarray | None = None,
        torques: Mapping[str, tuple[np.ndarray, np.ndarray]] | None = None,
    ) -> None:
        self.model = model
        self.coupling = np.eye(len(joints)) if coupling is None else coupling
        self.torques = {joints.index(name): table for name, table in (torques or {}).items()}
        self.joints = list(joints)
        self.held = dict(held or {})
        ids = []
        for name in self.joints:
            j = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)
            if j < 0:
                known = ", ".join(model.joint(k).name for k in range(model.njnt))
                raise LogError(f"the robot has no joint '{name}'; there are: {known}")
            if model.jnt_type[j] not in (_HINGE, _SLIDE):
                raise LogError(f"joint '{name}' is neither hinge nor slide")
            ids.append(j)
        if _FREE in model.jnt_type:
            raise LogError("the robot's base is free; fix it (a model without the free joint) and log it so")
        self.ids = np.array(ids)
        self.dofs = model.jnt_dofadr[self.ids]
        self.reference = model.qpos0[model.jnt_qposadr[self.ids]]
        self.limits = np.where(model.jnt_limited[self.ids][:, None] > 0, model.jnt_range[self.ids], [-np.inf, np.inf])
        self.gravity = np.array(model.opt.gravity)
        self.armature = model.dof_armature[self.dofs].copy()
        self.stiffness = model.jnt_stiffness[self.ids].copy()
        self.spring = model.qpos_spring[model.jnt_qposadr[self.ids]].copy()
        self.links: list[Link] = []
        self._gather()
        self._carried = [[k for k in range(len(self.links)) if j in self._chain(k)] for j in range(len(self.joints))]
        #: (joints, drives) torques of drives = torques of joints @ this
        self._share = np.linalg.inv(self.coupling)
        #: for each drive, the links that it moves
        self.moved = [
            sorted({k for i in np.flatnonzero(np.abs(column) > 1e-12) for k in self._carried[i]})
            for column in self._share.T
        ]

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.joints)

    def is_coupled(self, j: int) -> bool:
        """Return whether drive j moves another joint than its own, or not at the same rate."""
        return bool(np.any(self.coupling[j] != np.eye(self.n)[j]))

    def drives(self, rates: np.ndarray) -> np.ndarray:
        """(N, joints) rates or accelerations of the drives from those of the joints."""
        return np.asarray(rates @ self.coupling.T)

    def known(self, q: np.ndarray) -> np.ndarray:
        """(N, joints) known torques along the positions."""
        made = np.zeros_like(q)
        for j, table in self.torques.items():
            made[:, j] = np.interp(q[:, j], *table)
        return made

    def _gather(self) -> None:
        """Links from bodies: a body without a geared joint is part of the link that it is fixed to."""
        m = self.model
        # link of each body, and the body's frame in the frame of the link's own body, at
        # the reference
        link = np.full(m.nbody, -1)
        place, turn = np.zeros((m.nbody, 3)), np.tile(np.eye(3), (m.nbody, 1, 1))
        for b in range(1, m.nbody):
            above = m.body_parentid[b]
            p = place[above] + turn[above] @ m.body_pos[b]
            R = turn[above] @ _rotation(m.body_quat[b])
            for j in range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b]):
                if m.joint(j).name in self.held:
                    p, R = moved(m, j, self.held[m.joint(j).name], p, R)
            own = [j for j in range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b]) if j in self.ids]
            if own:
                self.links.append(Link(m.body(b).name, [int(np.flatnonzero(self.ids == j)[0]) for j in own], int(link[above]), p, R,
                                       m.jnt_pos[own], m.jnt_axis[own], np.zeros(10)))  # fmt: skip
                link[b] = len(self.links) - 1
            else:
                link[b], place[b], turn[b] = link[above], p, R
            if link[b] >= 0:
                # inertia about the body's own frame, then about the link's
                A = _rotation(m.body_iquat[b])
                c, mass = m.body_ipos[b], m.body_mass[b]
                inertia = A @ np.diag(m.body_inertia[b]) @ A.T
                P = np.zeros((4, 4))
                P[:3, :3] = 0.5 * np.trace(inertia) * np.eye(3) - inertia
                shift = np.eye(4)
                shift[:3, 3] = c
                P[3, 3] = mass
                T = np.eye(4)
                T[:3, :3], T[:3, 3] = turn[b], place[b]
                P = T @ shift @ P @ shift.T @ T.T
                self.links[link[b]].numbers += numbers(P)

    def _chain(self, link: int) -> list[int]:
        joints = []
        while link >= 0:
            joints += self.links[link].joints
            link = self.links[link].parent
        return joints

    @property
    def parameters(self) -> np.ndarray:
        """(links, 10) inertial parameters of the model."""
        return np.array([link.numbers for link in self.links])

    def regressor(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> list[np.ndarray]:
        """Of each drive (N, 10 x links that it moves): torques of drives are this times the inertial parameters.

        Args:
          q, v, a: (N, joints).
        """
        N = q.shape[0]
        shape = (N, 3)
        frames: list[tuple[np.ndarray, ...]] = []
        axes: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        for link in self.links:
            if link.parent < 0:
                R0, p0 = np.broadcast_to(np.eye(3), (N, 3, 3)), np.zeros(shape)
                omega, alpha, acc = np.zeros(shape), np.zeros(shape), np.broadcast_to(-self.gravity, shape)
            else:
                R0, p0, omega, alpha, acc = frames[link.parent]
            r = R0 @ link.place
            acc = acc + _cross(alpha, r) + _cross(omega, _cross(omega, r))
            p, R = p0 + r, R0 @ link.turn
            for j, anchor, axis in zip(link.joints, link.anchors, link.axes):
                e = R @ axis
                d, rate, second = (x[:, j, None] for x in (q - self.reference, v, a))
                if self.model.jnt_type[self.ids[j]] == _HINGE:
                    r = R @ anchor
                    at = p + r
                    acc = acc + _cross(alpha, r) + _cross(omega, _cross(omega, r))
                    alpha = alpha + e * second + _cross(omega, e * rate)
                    omega = omega + e * rate
                    R = R @ _turns(axis, d[:, 0])
                    r = -(R @ anchor)
                    acc = acc + _cross(alpha, r) + _cross(omega, _cross(omega, r))
                    p = at + r
                else:
                    r = e * d
                    at = p
                    acc = (
                        acc
                        + _cross(alpha, r)
                        + _cross(omega, _cross(omega, r))
                        + 2 * _cross(omega, e * rate)
                        + e * second
                    )
                    p = p + r
                axes[j] = (e, at)
            frames.append((R, p, omega, alpha, acc))
        rows = []
        for j in range(self.n):
            e, at = axes[j]
            hinge = self.model.jnt_type[self.ids[j]] == _HINGE
            parts = []
            for k in self._carried[j]:
                R, p, omega, alpha, acc = frames[k]
                moment = np.einsum("nij,ni->nj", R, e) if hinge else np.zeros(shape)
                force = np.einsum("nij,ni->nj", R, _cross(e, p - at) if hinge else e)
                w, wd, f = (np.einsum("nij,ni->nj", R, x) for x in (omega, alpha, acc))
                parts.append(_columns(moment, force, w, wd, f))
            rows.append(np.concatenate(parts, axis=1))
        return [self._driven(rows, d) if self._is_shared(d) else rows[d] for d in range(self.n)]

    def _is_shared(self, d: int) -> bool:
        """Return whether the torque of drive d is not that of its joint."""
        return bool(np.any(self._share[:, d] != np.eye(self.n)[d]))

    def _driven(self, rows: Sequence[np.ndarray], d: int) -> np.ndarray:
        """The regressor of drive d from those of the joints."""
        made = np.zeros((rows[0].shape[0], len(self.links), 10))
        for j, row in enumerate(rows):
            made[:, self._carried[j]] += self._share[j, d] * row.reshape(len(made), -1, 10)
        return made[:, self.moved[d]].reshape(len(made), -1)

    def springs(self, q: np.ndarray) -> np.ndarray:
        """(N, joints) torque that springs of joints and known torques take from the drives."""
        return np.asarray((self.stiffness * (q - self.spring) - self.known(q)) @ self._share)

    def select(self, j: int, parameters: np.ndarray) -> np.ndarray:
        """The numbers (10 x links that drive j moves) out of (links, 10), flat or not."""
        return np.asarray(parameters.reshape(len(self.links), 10)[self.moved[j]].ravel())


def _cross(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """np.cross of (N, 3), several times as fast."""
    return np.stack([x[:, 1] * y[:, 2] - x[:, 2] * y[:, 1], x[:, 2] * y[:, 0] - x[:, 0] * y[:, 2],
                     x[:, 0] * y[:, 1] - x[:, 1] * y[:, 0]], axis=1)  # fmt: skip


def _turns(axis: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Rotations (N, 3, 3) about an axis."""
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + np.sin(angle)[:, None, None] * K + (1 - np.cos(angle))[:, None, None] * (K @ K))


def _columns(u: np.ndarray, w: np.ndarray, omega: np.ndarray, alpha: np.ndarray, acc: np.ndarray) -> np.ndarray:
    """(N, 10): u . moment + w . force of a body, by its ten numbers, all in its frame.

    force = m a + alpha x h + omega x (omega x h), moment = I alpha + omega x I omega + h x a.
    """
    out = np.empty((u.shape[0], 10))
    out[:, 0] = np.sum(w * acc, axis=1)
    out[:, 1:4] = (_cross(w, alpha) + omega * np.sum(w * omega, axis=1, keepdims=True)
                   - w * np.sum(omega**2, axis=1, keepdims=True) + _cross(acc, u))  # fmt: skip
    g = _cross(u, omega)
    for i in range(3):
        out[:, 4 + i] = u[:, i] * alpha[:, i] + g[:, i] * omega[:, i]
    for k, (i, j) in enumerate(((0, 1), (0, 2), (1, 2))):
        out[:, 7 + k] = u[:, i] * alpha[:, j] + u[:, j] * alpha[:, i] + g[:, i] * omega[:, j] + g[:, j] * omega[:, i]
    return out
