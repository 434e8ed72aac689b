"""The identified arm as a MuJoCo model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

import mujoco
import numpy as np

import mjgear
from mjgear import _library
from mjgear.identify.arm.dynamics import Arm, pseudo
from mjgear.identify.arm.law import PLACE, Rung

#: numbers of the law -> keys of the plugin
_KEYS = {"gamma_u": "gamma_u", "gamma_v": "gamma_v", "coulomb": "coulomb", "stribeck_friction": "stribeck_friction"}
_POINTS = 200  # of a polynomial's fit


def polynomial(p: np.ndarray, power: float, fastest: float) -> tuple[np.ndarray, float]:
    """Damping (3) of v, v |v|, v^3 up to a velocity, and how far it is from the friction, N m.

    Powers 2 and 3 are MuJoCo's own; another one is fitted between 2 % and all of the fastest motion.
    """
    b, c = p[PLACE["viscous"]], p[PLACE["curved"]]
    if c == 0 or power in (2.0, 3.0):
        damping = np.array([b, 0.0, 0.0])
        damping[1 if power == 2.0 else 2] += c
        return damping, 0.0
    v = np.linspace(0.02, 1, _POINTS) * fastest
    wanted = b * v + c * v**power
    A = np.stack([v, v**2, v**3], axis=1)
    damping = np.linalg.lstsq(A, wanted, rcond=None)[0]
    return damping, float(np.max(np.abs(A @ damping - wanted)))


def needs_gear(rung: Rung) -> bool:
    """Whether MuJoCo's own friction cannot say this rung."""
    return bool(rung.terms & {"load", "stribeck"})


def build(spec: mujoco.MjSpec, arm: Arm, parameters: np.ndarray, rungs: Sequence[Rung], p: np.ndarray, fastest: np.ndarray) -> mujoco.MjSpec:
    """A copy of a robot with inertias, armatures, friction and gears.

    Gears that the robot has on these joints are taken off. Numbers are those of the mean temperature.

    Args:
      parameters: (links, 10).
      rungs, p: of each joint.
      fastest: of each joint, rad/s.
    """
    made = _without_gears(spec, arm.joints)
    for link, numbers in zip(arm.links, parameters):
        _set_inertia(made, link.name, link.numbers, numbers)
    for j, (name, rung) in enumerate(zip(arm.joints, rungs)):
        joint = made.joint(name)
        damping, _ = polynomial(p[j], rung.shape.power, float(fastest[j]))
        joint.armature = float(p[j, PLACE["armature"]])
        size = np.size(joint.damping)
        joint.damping = damping[:size] if size > 1 else float(damping[0])
        joint.frictionloss = 0.0 if needs_gear(rung) else float(p[j, PLACE["coulomb"]])
        if needs_gear(rung):
            values: dict[str, Any] = {key: float(p[j, PLACE[number]]) for number, key in _KEYS.items()}
            if "stribeck" in rung.terms:
                values["stribeck_velocity"] = rung.shape.stribeck_velocity * (1 + float(p[j, PLACE["stribeck_velocity"]]))
            else:
                values.pop("stribeck_friction")
            if "quadratic" in rung.terms:
                values |= {f"gamma_{side}_stribeck": float(p[j, PLACE["gamma_stribeck"]]) for side in "uv"}
                values |= {f"gamma_{side}_quadratic": float(p[j, PLACE["gamma_quadratic"]]) for side in "uv"}
            mjgear.add(made, [name], name=f"gear_{name}", **values)
    return made


def _without_gears(spec: mujoco.MjSpec, joints: Sequence[str]) -> mujoco.MjSpec:
    """A copy without the instances that gear one of these joints, and without what refers to these."""
    names = {p.name for p in spec.plugins if p.plugin_name == _library.NAME and set(str(p.config.get("joint", "")).split()) & set(joints)}
    if not names:
        return spec.copy()
    # MjSpec cannot delete an instance that a body refers to
    root = ElementTree.fromstring(spec.to_xml())
    for parent in root.iter():
        for child in list(parent):
            is_instance = child.tag == "instance" and child.get("name") in names
            if is_instance or (child.tag == "plugin" and child.get("instance") in names):
                parent.remove(child)
    made = mujoco.MjSpec.from_string(ElementTree.tostring(root, encoding="unicode"), assets=dict(spec.assets))
    made.modelfiledir = spec.modelfiledir
    return made


def _set_inertia(spec: mujoco.MjSpec, name: str, was: np.ndarray, now: np.ndarray) -> None:
    """The link's body gets what the link as a whole gained; all of it, if nothing could be like that."""
    body = spec.body(name)
    compiled = spec.compile()
    own = _body(compiled, name)
    numbers = own + now - was
    if np.linalg.eigvalsh(pseudo(numbers)).min() <= 0:
        # what is fixed to the link has more than is left: the link has all of it
        numbers = now
        for child in _fixed(compiled, name):
            spec.body(child).explicitinertial = True
            spec.body(child).mass = 0.0
            spec.body(child).inertia = np.zeros(3)
            for geom in spec.body(child).geoms:
                geom.mass = 0
    mass = float(numbers[0])
    center = numbers[1:4] / mass
    xx, yy, zz, xy, xz, yz = numbers[4:]
    x, y, z = center
    about = np.array([xx - mass * (y * y + z * z), yy - mass * (x * x + z * z), zz - mass * (x * x + y * y), xy + mass * x * y, xz + mass * x * z, yz + mass * y * z])
    inertia = np.array([[about[0], about[3], about[4]], [about[3], about[1], about[5]], [about[4], about[5], about[2]]])
    w, V = np.linalg.eigh(inertia)
    if np.linalg.det(V) < 0:
        V[:, 0] *= -1
    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, V.ravel())
    body.explicitinertial = True
    body.mass, body.ipos, body.inertia, body.iquat = mass, center, w, quaternion
    # another way to say the same would count before these
    body.fullinertia = np.full(6, np.nan)
    body.ialt.type = mujoco.mjtOrientation.mjORIENTATION_QUAT


def _body(model: mujoco.MjModel, name: str) -> np.ndarray:
    """Ten numbers of a single body in its own frame."""
    b = model.body(name)
    R = np.empty(9)
    mujoco.mju_quat2Mat(R, b.iquat)
    A = R.reshape(3, 3)
    m, c = float(b.mass[0]), np.array(b.ipos)
    inertia = A @ np.diag(b.inertia) @ A.T + m * (c @ c * np.eye(3) - np.outer(c, c))
    return np.array([m, *(m * c), inertia[0, 0], inertia[1, 1], inertia[2, 2], inertia[0, 1], inertia[0, 2], inertia[1, 2]])


def _fixed(model: mujoco.MjModel, name: str) -> list[str]:
    """Bodies below that have no joint of their own."""
    top = model.body(name).id
    return [model.body(b).name for b in range(model.nbody) if b != top and model.body_weldid[b] == model.body_weldid[top] and model.body(b).name]
