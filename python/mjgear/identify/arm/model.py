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
_OFF = {
    "stribeck_velocity": 1.0,
    "curved_velocity": 1.0,
    "curved_exponent": 1.0,
}  # of a drive without that term; others 0
_POINTS = 200  # samples for the fit of another law
_TURNS = 41  # places of the least slope that are tried


def viscous(p: np.ndarray, power: float, fastest: float) -> tuple[np.ndarray, dict[str, float]]:
    """Damping (3) of v, v |v|, v^3, and keys of a gear for the rest.

    Friction that grows with v |v| or v^3 is MuJoCo's own, with a power below 1 a gear's. If the logs' friction bends down, use the closest polynomial that never falls: the fitted one would drive the joint beyond the speeds of the logs.
    """
    b, c = float(p[PLACE["viscous"]]), float(p[PLACE["curved"]])
    if c == 0 or (c > 0 and power < 1):
        return np.array([b, 0.0, 0.0]), {
            "curved_friction": c * fastest**power,
            "curved_velocity": fastest,
            "curved_exponent": power,
        } if c else {}
    if c > 0 and power in (2.0, 3.0):
        return np.array([b, c, 0.0] if power == 2.0 else [b, 0.0, c]), {}
    from scipy.optimize import nnls  # here alone, since it is slow to import

    # its slope is steep (v - turn)^2 + least, with neither of these below 0
    v = np.linspace(0.02, 1, _POINTS) * fastest
    fits = []
    for turn in np.linspace(0, 2, _TURNS) * fastest:
        (steep, least), error = nnls(np.stack([v**3 / 3 - turn * v**2 + turn**2 * v, v], axis=1), b * v + c * v**power)
        fits.append((error, steep, least, turn))
    _, steep, least, turn = min(fits)
    return np.array([steep * turn**2 + least, -steep * turn, steep / 3]), {}


def straight(v: np.ndarray, curved: float, power: float) -> tuple[float, float, float]:
    """Coulomb friction and damping nearest to a curved viscous friction at these speeds, and what they miss, root mean square, N m."""
    bent = curved * np.sign(v) * np.abs(v) ** power
    A = np.stack([np.sign(v), v], axis=1)
    coulomb, damping = np.linalg.lstsq(A, bent)[0].tolist()
    return coulomb, damping, float(np.sqrt(np.mean((bent - A @ [coulomb, damping]) ** 2)))


def drive_name(joint: str) -> str:
    """Name of the tendon that stands for a drive of several joints."""
    return f"drive of {joint}"


def needs_gear(rung: Rung) -> bool:
    """True if MuJoCo's own friction cannot express this rung."""
    return bool(rung.terms & {"load", "stribeck"})


def build(
    spec: mujoco.MjSpec, arm: Arm, parameters: np.ndarray, rungs: Sequence[Rung], p: np.ndarray, fastest: np.ndarray
) -> mujoco.MjSpec:
    """A copy of a robot with inertias, armatures, friction and gears.

    Gears that the robot has on these joints are taken off. Numbers hold at the mean temperature.

    Args:
      parameters: (links, 10).
      rungs, p: of each joint.
      fastest: of each joint, rad/s.
    """
    made = _without_gears(spec, arm.joints)
    for link, numbers in zip(arm.links, parameters):
        _set_inertia(made, link.name, link.numbers, numbers)
    drives: dict[str, dict[str, Any]] = {}
    for j, (name, rung) in enumerate(zip(arm.joints, rungs)):
        joint, coupled = made.joint(name), arm.is_coupled(j)
        if coupled:  # friction and rotor are those of a tendon over the joints that the drive moves
            joint.armature, joint.frictionloss, joint.damping = 0.0, 0.0, np.zeros_like(joint.damping)
            joint = made.add_tendon(name=drive_name(name))
            for k in np.flatnonzero(arm.coupling[j]):
                joint.wrap_joint(arm.joints[k], float(arm.coupling[j, k]))
        damping, bent = (
            viscous(p[j], rung.shape.power, float(fastest[j])) if "curved" in rung.terms else viscous(p[j], 2.0, 1.0)
        )
        is_geared = needs_gear(rung) or bool(bent)
        joint.armature = float(p[j, PLACE["armature"]])
        size = np.size(joint.damping)
        joint.damping = damping[:size] if size > 1 else float(damping[0])
        joint.frictionloss = 0.0 if is_geared else float(p[j, PLACE["coulomb"]])
        if is_geared:
            values: dict[str, Any] = {key: float(p[j, PLACE[number]]) for number, key in _KEYS.items()} | bent
            if "stribeck" in rung.terms:
                values["stribeck_velocity"] = rung.shape.stribeck_velocity * (
                    1 + float(p[j, PLACE["stribeck_velocity"]])
                )
            else:
                values.pop("stribeck_friction")
            if "quadratic" in rung.terms:
                values |= {f"gamma_{side}_stribeck": float(p[j, PLACE["gamma_stribeck"]]) for side in "uv"}
                values |= {f"gamma_{side}_quadratic": float(p[j, PLACE["gamma_quadratic"]]) for side in "uv"}
            if coupled:
                drives[joint.name] = values
            else:
                mjgear.add(made, [name], name=f"gear_{name}", **values)
    if drives:  # one instance, since one body carries the joints of all
        keys = {key: _OFF.get(key, 0.0) for values in drives.values() for key in values}
        lists: dict[str, Any] = {key: [values.get(key, off) for values in drives.values()] for key, off in keys.items()}
        mjgear.add(made, tendons=list(drives), name="gear_drives", **lists)
    return made


def _without_gears(spec: mujoco.MjSpec, joints: Sequence[str]) -> mujoco.MjSpec:
    """A copy without the instances that gear one of these joints, and without references to these."""
    names = {
        p.name
        for p in spec.plugins
        if p.plugin_name == _library.NAME and set(str(p.config.get("joint", "")).split()) & set(joints)
    }
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
    """The link's body gets the change of the whole link; all of it, if no body could have the rest."""
    body = spec.body(name)
    compiled = spec.compile()
    own = _body(compiled, name)
    numbers = own + now - was
    if np.linalg.eigvalsh(pseudo(numbers)).min() <= 0:
        # more than the remaining mass is fixed to the link: the link has all of it
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
    about = np.array(
        [
            xx - mass * (y * y + z * z),
            yy - mass * (x * x + z * z),
            zz - mass * (x * x + y * y),
            xy + mass * x * y,
            xz + mass * x * z,
            yz + mass * y * z,
        ]
    )
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
    return np.array(
        [m, *(m * c), inertia[0, 0], inertia[1, 1], inertia[2, 2], inertia[0, 1], inertia[0, 2], inertia[1, 2]]
    )


def _fixed(model: mujoco.MjModel, name: str) -> list[str]:
    """Bodies below that have no joint of their own."""
    top = model.body(name).id
    return [
        model.body(b).name
        for b in range(model.nbody)
        if b != top and model.body_weldid[b] == model.body_weldid[top] and model.body(b).name
    ]
