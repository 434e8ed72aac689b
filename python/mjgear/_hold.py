"""Statics of a robot: joints that hold their load without power, their margins, and the torques that motors need."""

from __future__ import annotations

import ctypes
import dataclasses
import math
import pathlib
from collections.abc import Mapping
from typing import Any, Literal

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from mjgear import _catalogue, _extras, _structs, _tables
from mjgear._catalogue import Known
from mjgear._errors import GearError, GearTypeError
from mjgear._gears import Gears

Array = NDArray[np.float64]
Poses = Literal["worst", "keyframes", "random"]

_HINGE, _SLIDE = int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)
_STARTS, _SWEEPS = 12, 30  # starts and sweeps of the search for the worst pose
_ROUNDOFF = 1e-12  # round-off of a load, relative to the largest
_SETTLED = 1e-12  # relative gain of a sweep at which the search ends


@dataclasses.dataclass(frozen=True, eq=False)
class JointHold:
    """Result for a geared joint in its worst pose. Torques in N m, of slides N, at the output side.

    Attributes:
        joint: its name.
        slide: torques are forces.
        load: torque of gravity and springs that the gear holds; the motor needs it where the gear has no friction.
        capacity: largest torque in its direction that the gear holds without power; inf: any.
        holds: whether the joint stays at rest without power.
        margin: capacity by load; inf where there is no load.
        payload: mass at the payload's place at which it begins to slip in this pose, kg; NaN: no place is named.
        brake: torque of a brake on the motor's side that holds it, as add_brake takes it; 0 where it holds by itself.
        lift: motor torque that starts it against the load; infinite: none does.
        lower: motor torque that starts it in the load's direction. Of a self-locking gear (gamma_v >= 1) with a light rotor less may do: there
            rest is not the only solution of the step (doc/theory_existence.md).
        lifting, lowering: motor torque that keeps it moving at the speed that was asked for, in both directions.
        limit: largest torque of its motors; NaN: the model does not say.
        pose: qpos of this pose.
    """

    joint: str
    slide: bool
    load: float
    capacity: float
    holds: bool
    margin: float
    payload: float
    brake: float
    lift: float
    lower: float
    lifting: float
    lowering: float
    limit: float
    pose: Array


@dataclasses.dataclass(frozen=True, eq=False)
class Hold:
    """Answer of hold(): each geared joint in the pose in which its load is largest for its gear.

    Attributes:
        joints: name -> its result.
        payload: mass that is attached, kg.
        place: body or site of the payload; None: there is none.
        speed: speed of lifting and lowering, rad/s or m/s.
        poses: how poses were taken.
        left: effects that were not counted, a line each.

    ``print(hold)`` shows them as a table.
    """

    joints: Mapping[str, JointHold]
    payload: float
    place: str | None
    speed: float
    poses: str
    left: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """True if all joints hold without power."""
        return all(one.holds for one in self.joints.values())

    def __str__(self) -> str:
        head = (
            "joint",
            "without power",
            "load",
            "holds up to",
            "margin",
            "slips at",
            "brake",
            "lift",
            "lower",
            "lifting",
            "lowering",
            "limit",
        )
        units = sorted({_tables.unit("N m", one.slide) for one in self.joints.values()})
        unit = " | ".join(units)
        rows = [
            (name, "holds" if one.holds else "FALLS",
             *(_tables.number(value) for value in (one.load, one.capacity, one.margin, one.payload, one.brake, one.lift, one.lower, one.lifting, one.lowering, one.limit)))
            for name, one in self.joints.items()
        ]  # fmt: skip
        table = _tables.headed(head, ("", "", unit, unit, "1", "kg", *[unit] * 6), rows)
        carried = f"{_tables.number(self.payload)} kg at {self.place}" if self.place else "no payload"
        lines = [f"{carried}, poses: {self.poses}; lifting and lowering at {_tables.number(self.speed)} rad/s", table]
        return "\n".join([*lines, *(f"not counted: {line}" for line in self.left)])

    def plot(self) -> Any:
        """Load and capacity of each joint as a matplotlib Figure.

        Raises:
            ImportError: matplotlib is not installed.
        """
        _extras.require("matplotlib", "Hold.plot", "plot")
        from matplotlib.figure import Figure

        names = list(self.joints)
        most = max(
            [abs(one.load) for one in self.joints.values()]
            + [one.capacity for one in self.joints.values() if math.isfinite(one.capacity)]
            or [1.0]
        )
        figure = Figure(figsize=(7, 0.9 + 0.45 * len(names)), layout="constrained")
        axes = figure.subplots()
        axes.barh(
            names,
            [min(one.capacity, 1.1 * most) for one in self.joints.values()],
            color="0.85",
            label="holds without power",
        )
        colors = ["tab:green" if one.holds else "tab:red" for one in self.joints.values()]
        axes.barh(names, [abs(one.load) for one in self.joints.values()], height=0.4, color=colors, label="load")
        axes.invert_yaxis()
        axes.set_xlabel(" | ".join(sorted({_tables.unit("N m", one.slide) for one in self.joints.values()})))
        axes.legend(loc="lower right")
        return figure


def hold(
    model: mujoco.MjModel,
    payload: str | tuple[float, str] | None = None,
    *,
    poses: Poses | ArrayLike = "worst",
    speed: float = 1.0,
    samples: int = 200,
    seed: int = 0,
) -> Hold:
    """Find the geared joints that hold without power, and the torques that their motors need.

    Statics: every joint is at rest, so a gear carries the load of gravity and springs in this pose. The law of doc/theory.md says what the gear holds
    with its motor off, and which motor torques move it. All answers are closed forms; a simulation from the same pose rests or falls alike.
    A floating base is taken as held where it is in qpos0.

    Args:
        model: a model with gears.
        payload: point mass in kg and the name of a site or body, (2, "tool") or "2kg@tool". A mass of 0 is allowed:
            payloads at which joints slip are still reported.
        poses: "worst": of each joint the pose in the ranges of all joints in which its load is largest for its gear, found by exact maximization along
            one joint after the other from several starts; "keyframes": the model's; "random": samples; or an array of qpos, (nq) or (n, nq).
        speed: of lifting and lowering, rad/s or m/s.
        samples: random poses, and poses from which the search begins.
        seed: of random poses.

    Raises:
        GearError: no joint has a gear, there is no such place, keyframe, or pose.
    """
    if not isinstance(model, mujoco.MjModel):
        raise GearTypeError(f"hold needs an MjModel, not {type(model).__name__}")
    mass, place, where = _payload(model, payload)
    if not (isinstance(speed, (int, float)) and not isinstance(speed, bool) and 0 < speed < 1e300):
        raise GearError(f"speed = {speed!r}; write a number above 0")
    for name, count, least in (("samples", samples, 1), ("seed", seed, 0)):
        if not isinstance(count, (int, np.integer)) or isinstance(count, bool) or not least <= count <= 1_000_000:
            raise GearError(f"{name} = {count!r}; write a whole number from {least} to 1000000")
    statics = _Statics(model, mass, where)
    if isinstance(poses, str) and poses == "worst":
        starts = np.concatenate([_keyframes(model), statics.random(samples, seed)])
        found = [_worst(statics, joint, starts) for joint in statics.laws]
    else:
        listed = _listed(model, statics, poses, samples, seed)
        loads = np.array([statics.loads(pose) for pose in listed])
        found = [
            listed[int(np.argmax([_use(law, loads[k, statics.dof(joint)]) for k in range(len(listed))]))]
            for joint, law in statics.laws.items()
        ]
    gears = {joint: _judge(statics, joint, pose, place, speed) for joint, pose in zip(statics.laws, found, strict=True)}
    named = {one.joint: one for one in gears.values()}
    return Hold(
        Known("joint", named),
        mass,
        place,
        float(speed),
        poses if isinstance(poses, str) else f"{len(listed)} given",
        _left(model),
    )


class _Statics:
    """Loads of gears at rest, with a payload."""

    def __init__(self, model: mujoco.MjModel, mass: float, where: tuple[bool, int] | None) -> None:
        self.model, self.data, self.mass, self.where = model, mujoco.MjData(model), mass, where
        self.laws: dict[int, _structs.Transmission] = {}
        gears = Gears(model, self.data)
        mujoco.mj_forward(model, self.data)
        for gear in gears.values():
            if gear.joint < model.njnt:
                facts = _structs.Facts()
                _structs.plugin.mjg_explainGear(ctypes.byref(facts), model._address, self.data._address, gear.joint)
                self.laws[gear.joint] = _structs.Transmission.from_buffer_copy(facts.gear)
        if not self.laws:
            raise GearError("no joint has a gear, tendons alone do; hold tells about joints")

    def dof(self, joint: int) -> int:
        return int(self.model.jnt_dofadr[joint])

    def loads(self, pose: Array) -> Array:
        """Torque that holds each dof at rest (nv)."""
        model, data = self.model, self.data
        mujoco.mj_resetData(model, data)
        data.qpos[:] = pose
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        helped = np.ones(model.nv)
        for joint in range(model.njnt):
            if model.jnt_actgravcomp[joint]:
                helped[model.jnt_dofadr[joint]] = 0  # compensated by the motor, which is off
        force: Array = data.qfrc_bias - data.qfrc_spring - helped * data.qfrc_gravcomp
        return force + self.mass * self.per_mass() if self.mass else force

    def per_mass(self) -> Array:
        """Load of a payload of 1 kg in the pose of the last call of loads() (nv)."""
        if self.where is None:
            return np.zeros(self.model.nv)
        jacobian = np.zeros((3, self.model.nv))
        jac = mujoco.mj_jacSite if self.where[0] else mujoco.mj_jacBody
        jac(self.model, self.data, jacobian, None, self.where[1])
        force: Array = -jacobian.T @ self.model.opt.gravity
        return force

    def ranges(self) -> list[tuple[int, int, float, float]]:
        """(joint, address in qpos, low, high) of the joints that a pose may turn."""
        found = []
        for joint in range(self.model.njnt):
            kind = self.model.jnt_type[joint]
            if kind in (_HINGE, _SLIDE):
                low, high = self.model.jnt_range[joint] if self.model.jnt_limited[joint] else (-math.pi, math.pi)
                if kind == _SLIDE and not self.model.jnt_limited[joint]:
                    low = high = float(self.model.qpos0[self.model.jnt_qposadr[joint]])
                found.append((joint, int(self.model.jnt_qposadr[joint]), float(low), float(high)))
        return found

    def random(self, count: int, seed: int) -> Array:
        """Poses in the ranges of all hinges and slides (count, nq)."""
        random = np.random.default_rng(seed)
        found = np.tile(self.model.qpos0, (count, 1))
        for _, address, low, high in self.ranges():
            found[:, address] = random.uniform(low, high, count)
        return found


def _payload(model: mujoco.MjModel, payload: Any) -> tuple[float, str | None, tuple[bool, int] | None]:
    """Mass, name, and (is a site, id)."""
    if payload is None:
        return 0.0, None, None
    mass, at, place = (
        (payload, "@", payload[1]) if isinstance(payload, tuple) and len(payload) == 2 else str(payload).partition("@")
    )
    reporter = _catalogue.Reporter()
    given = mass[0] if isinstance(mass, tuple) else mass
    number = _catalogue.read_number(
        "payload", given, _structs.KeyInfo(name=b"payload", unit=b"kg", min=0, max=math.inf), reporter
    )
    reporter.check()
    if not at or not (math.isfinite(number) and number >= 0):
        raise GearError(f"payload = {payload!r}; write mass and place, '2kg@tool'")
    for site, kind in ((True, mujoco.mjtObj.mjOBJ_SITE), (False, mujoco.mjtObj.mjOBJ_BODY)):
        own = mujoco.mj_name2id(model, kind, str(place))
        if own >= 0:
            return number, str(place), (site, own)
    names = [
        mujoco.mj_id2name(model, kind, one)
        for kind, count in ((mujoco.mjtObj.mjOBJ_SITE, model.nsite), (mujoco.mjtObj.mjOBJ_BODY, model.nbody))
        for one in range(count)
    ]
    raise GearError(_catalogue.unknown(str(place), "site or body", [name for name in names if name]))


def _keyframes(model: mujoco.MjModel) -> Array:
    return np.array(model.key_qpos, float).reshape(model.nkey, model.nq)


def _listed(model: mujoco.MjModel, statics: _Statics, poses: Any, samples: int, seed: int) -> Array:
    """The poses that are named, (n, nq)."""
    if isinstance(poses, str):
        if poses == "keyframes" and not model.nkey:
            raise GearError("poses = 'keyframes', but the model has none; write 'worst' or 'random'")
        if poses not in ("keyframes", "random"):
            raise GearError(f"poses = {poses!r} is unknown; write 'worst', 'keyframes', 'random' or an array of qpos")
        return _keyframes(model) if poses == "keyframes" else statics.random(samples, seed)
    try:
        listed = np.atleast_2d(_catalogue.floats(poses))
    except (TypeError, ValueError, OverflowError):
        raise GearError(
            f"poses = {poses!r} is unknown; write 'worst', 'keyframes', 'random' or an array of qpos"
        ) from None
    if listed.shape[1:] != (model.nq,) or not np.isfinite(listed).all() or not len(listed):
        raise GearError(
            f"poses have shape {listed.shape}; give qpos, ({model.nq},) or (n, {model.nq}), of finite numbers"
        )
    return listed


def _capacity(law: _structs.Transmission, load: float) -> float:
    """Largest load in the direction of this one that the gear holds with its motor off."""
    return abs(float(_structs.core.mjg_breakawayLoad(ctypes.byref(law), 0.0, -1 if load >= 0 else 1)))


def _use(law: _structs.Transmission, load: float) -> float:
    """Load by capacity. If every load is held, use the load itself, far below all others; if none is, far above."""
    capacity = _capacity(law, load)
    return abs(load) / capacity if 0 < capacity < math.inf else 1e-12 * abs(load) if capacity else 1e12 * abs(load)


def _worst(statics: _Statics, joint: int, starts: Array) -> Array:
    """The pose with the largest use of a joint's gear.

    Along one hinge the load of gravity is a + b cos q + c sin q, along a slide a + b q, so that three poses give its maximum. A spring
    on the joint itself bends this curve; then the maximum is the largest value at its ends and at the points without the spring.
    """
    law, dof = statics.laws[joint], statics.dof(joint)

    def use(pose: Array) -> float:
        return _use(law, float(statics.loads(pose)[dof]))

    best: Array = starts[0]
    most = -1.0
    for start in sorted(starts, key=use, reverse=True)[:_STARTS]:
        pose, value = start.copy(), use(start)
        for _ in range(_SWEEPS):
            before = value
            for other, address, low, high in statics.ranges():
                tries = _along(statics, dof, pose, other, address, low, high)
                for at in tries:
                    one = pose.copy()
                    one[address] = at
                    if (new := use(one)) > value:
                        pose, value = one, new
            if value - before <= _SETTLED * value:
                break
        if value > most:
            best, most = pose, value
    return best


def _along(statics: _Statics, dof: int, pose: Array, joint: int, address: int, low: float, high: float) -> list[float]:
    """Return positions of one joint at which the load may be largest: the ends and stationary points of its curve."""
    if statics.model.jnt_type[joint] != _HINGE or low == high:
        return [low, high]
    values = []
    for angle in (0.0, math.pi / 2, math.pi):
        one = pose.copy()
        one[address] = angle
        values.append(float(statics.loads(one)[dof]))
    mean = (values[0] + values[2]) / 2
    top = math.atan2(values[1] - mean, values[0] - mean)
    turns = [top + k * math.pi for k in range(math.floor((low - top) / math.pi), math.ceil((high - top) / math.pi) + 1)]
    return [low, high, *(angle for angle in turns if low <= angle <= high)]


def _judge(statics: _Statics, joint: int, pose: Array, place: str | None, speed: float) -> JointHold:
    """Result for a joint in a pose."""
    model, law, dof = statics.model, statics.laws[joint], statics.dof(joint)
    loads = statics.loads(pose)
    load = float(loads[dof]) if abs(loads[dof]) > _ROUNDOFF * np.abs(loads).max() else 0.0
    all_mass = statics.per_mass()
    per_mass = float(all_mass[dof]) if abs(all_mass[dof]) > _ROUNDOFF * np.abs(all_mass).max() else 0.0
    holds = _structs.core.mjg_sticks(ctypes.byref(law), 0.0, load) == 1
    capacity = _capacity(law, load)
    up = 1 if load >= 0 else -1
    lift, lower = (float(_structs.core.mjg_breakawayMotor(ctypes.byref(law), load, way)) for way in (up, -up))
    low, high = min(lift, lower), max(lift, lower)
    return JointHold(
        joint=mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, joint) or str(joint),
        slide=bool(model.jnt_type[joint] == _SLIDE),
        load=load,
        capacity=capacity,
        holds=holds,
        margin=capacity / abs(load) if load else math.inf,
        payload=_slips_at(law, load, per_mass, statics.mass, holds) if place is not None else math.nan,
        brake=0.0 if holds else abs(min(max(0.0, low), high)),
        lift=lift,
        lower=lower,
        lifting=_running(law, load, up * speed),
        lowering=_running(law, load, -up * speed),
        limit=_limit(model, joint),
        pose=pose,
    )


def _slips_at(law: _structs.Transmission, load: float, per_mass: float, mass: float, holds: bool) -> float:
    """Payload at which the joint begins to slip, kg: the load is load + (m - mass) per_mass; 0 where it slips without any."""
    empty = load - mass * per_mass
    if _structs.core.mjg_sticks(ctypes.byref(law), 0.0, empty) != 1:
        return 0.0
    if per_mass == 0:
        return math.inf
    return (_capacity(law, per_mass) - math.copysign(1, per_mass) * empty) / abs(per_mass)


def _running(law: _structs.Transmission, load: float, velocity: float) -> float:
    """Motor torque that keeps the joint at a velocity: u = x + t with t = (|gamma_u u + gamma_v x| + c) sgn(v), x the load and the damping."""
    out = load + float(law.viscous) * velocity
    way, motor = math.copysign(1, velocity), out
    for _ in range(50):  # the quadratic term follows the torques
        numbers = [ctypes.c_double() for _ in range(3)]
        _structs.core.mjg_frictionAt(*map(ctypes.byref, numbers), ctypes.byref(law), 0.0, velocity, motor, out)
        gamma_u, gamma_v, coulomb = (number.value for number in numbers)
        found = [
            motor for sign in (1, -1) if (slope := 1 - way * sign * gamma_u) > 0
            and sign * (gamma_u * (motor := (out * (1 + way * sign * gamma_v) + way * coulomb) / slope) + gamma_v * out) >= 0
        ]  # fmt: skip
        if not found:
            return math.copysign(math.inf, velocity)
        before, motor = motor, min(found, key=abs)
        if abs(motor - before) <= 1e-14 * (abs(motor) + abs(out)):
            break
    return motor


def _limit(model: mujoco.MjModel, joint: int) -> float:
    """Largest torque of the motors on a joint; NaN: not limited."""
    limits = [
        float(np.abs(model.actuator_forcerange[one]).max() * abs(model.actuator_gear[one, 0])) if model.actuator_forcelimited[one] else math.nan
        for one in range(model.nu)
        if model.actuator_trntype[one] in (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT)) and model.actuator_trnid[one, 0] == joint
        and model.actuator_plugin[one] < 0
    ]  # fmt: skip
    own = float(np.abs(model.jnt_actfrcrange[joint]).max()) if model.jnt_actfrclimited[joint] else math.nan
    known = [value for value in (sum(limits) if limits else math.nan, own) if not math.isnan(value)]
    return min(known, default=math.nan)


def _left(model: mujoco.MjModel) -> tuple[str, ...]:
    """Return lines about effects that statics of single joints does not count."""
    lines = []
    if model.neq and model.eq_active0.any():
        lines.append("equality constraints, which may share loads between joints")
    if (model.actuator_plugin >= 0).any():
        lines.append("actuators that are plugins; compare the holding_torque of a brake with the column brake")
    if (model.jnt_type == int(mujoco.mjtJoint.mjJNT_FREE)).any():
        lines.append("motion of the floating base, and contacts")
    if (model.dof_frictionloss > 0).any():
        lines.append("frictionloss of joints")
    return tuple(lines)


def load(path: str, *, gear: str | None = None, robot: str | None = None) -> mujoco.MjModel:
    """A model from MJCF or URDF, with gears of a preset on all its motors' joints, or of a known robot.

    Raises:
        GearError: it cannot be loaded, or has no gear.
    """
    from mjgear import _robots, _spec

    if not pathlib.Path(path).is_file():
        raise GearError(f"{path}: there is no such file")
    try:
        spec = mujoco.MjSpec.from_file(path)
        if robot is not None:
            _robots.add_robot_gears(spec, robot)
        if gear is not None:
            driven = [one.target for one in spec.actuators] or [
                one.name for one in spec.joints if one.type in _spec.GEARABLE
            ]
            _spec.add(spec, driven, gear)
        return spec.compile()
    except ValueError as error:
        raise error if isinstance(error, GearError) else GearError(f"{path}: {error}") from error
