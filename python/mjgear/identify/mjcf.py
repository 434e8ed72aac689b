"""MJCF of the result."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from xml.sax.saxutils import escape

from mjgear.identify.bench import GRAVITY, Bench, Pendulum
from mjgear.identify.intervals import derived
from mjgear.identify.models import Model

#: comment beside an undetermined number
UNKNOWN = "unknown: these logs do not tell it"

# keys of the plugin that a fitted gear may have
_KEYS = (
    "gamma_u",
    "gamma_v",
    "coulomb",
    "curved_friction",
    "curved_velocity",
    "curved_exponent",
    "stribeck_friction",
    "stribeck_velocity",
    "stribeck_exponent",
    "gamma_u_stribeck",
    "gamma_v_stribeck",
    "gamma_u_quadratic",
    "gamma_v_quadratic",
)


def _number(x: float) -> str:
    return repr(float(x))


def attribute(text: str) -> str:
    """Return text that is valid in an XML attribute and in a comment."""
    kept = "".join(c for c in text if c >= " " and not 0xD800 <= ord(c) <= 0xDFFF and c not in "\ufffe\uffff")
    return escape(kept, {'"': "&quot;", "--": "-&#45;"})


def gear(
    model: Model,
    values: Mapping[str, float],
    joint: str = "joint",
    indent: str = "  ",
    unknown: Collection[str] = (),
    efficiencies: bool = False,
) -> str:
    """The ``<extension>`` for a fitted gear; empty for MuJoCo's own friction.

    Args:
      unknown: numbers that the logs do not determine; each gets a comment.
      efficiencies: write eta_forward and eta_backward for gamma_u and gamma_v.
    """
    if model.name == "native":
        return ""
    given = {"gamma_u": 0.0, "gamma_v": 0.0, **values}
    keys = [("joint", attribute(f"'{joint}'" if " " in joint else joint))]
    if efficiencies:
        keys += [(k, f"{v:.4g}") for k, v in derived(given).items() if k in ("eta_forward", "eta_backward")]
    keys += [(k, _number(given[k])) for k in _KEYS if k in given and not (efficiencies and k in ("gamma_u", "gamma_v"))]
    if "half_gap" in model.parameters:
        keys += [("backlash", "exact"), ("encoder", "joint")]
        keys += [(k, _number(values[k])) for k in ("half_gap", "stiffness", "damping")]
        keys += [("rotor_inertia", _number(values["armature"]))]
    lines = [
        f'{indent}    <config key="{k}" value="{v}"/>' + (f"  <!-- {UNKNOWN} -->" if k in unknown else "")
        for k, v in keys
    ]
    return "\n".join(
        [
            f"{indent}<extension>",
            f'{indent}  <plugin plugin="mjgear.transmission">',
            f'{indent}    <instance name="gears">',
            *("  " + line for line in lines),
            f"{indent}    </instance>",
            f"{indent}  </plugin>",
            f"{indent}</extension>",
        ]
    )


def joint_attributes(model: Model, values: Mapping[str, float]) -> str:
    """``damping``, ``armature`` and, for MuJoCo's own friction, ``frictionloss``."""
    attributes = [f'damping="{_number(values["viscous"])}"'] if "viscous" in values else []
    if "armature" in values and "half_gap" not in model.parameters:
        attributes.append(f'armature="{_number(values["armature"])}"')
    if model.name == "native":
        attributes.append(f'frictionloss="{_number(values["coulomb"])}"')
    return " ".join(attributes)


def motor_damping(values: Mapping[str, float]) -> str:
    """``damping`` of an actuator, which acts in front of the gear."""
    return f' damping="{_number(values["motor_viscous"])}"' if values.get("motor_viscous", 0.0) > 0 else ""


def complete(bench: Bench, model: Model, values: Mapping[str, float]) -> dict[str, float]:
    """Fitted and known numbers together, with the shaft of a gap."""
    return {
        **bench.known,
        **values,
        **bench.shapes(model),
        **(bench.shaft(values) if "half_gap" in model.parameters else {}),
    }


def actuators(bench: Pendulum, values: Mapping[str, float], i: int, joint: str = "joint", indent: str = "    ") -> str:
    """The servo of log i as actuators: its input, and back-EMF."""
    constants = {**bench.constants(i), **bench.known, **values}
    k = constants.get("torque_constant", 1.0) if bench.drive != "torque" else 1.0
    unit = constants.get("torque_scale", 1.0) * (k / constants["resistance"] if bench.drive == "voltage" else k)
    limit = unit * constants["limit"]
    clamp = f' forcerange="{_number(-limit)} {_number(limit)}"' if limit > 0 else ""
    clamp += motor_damping(constants)
    lines, joint = [], attribute(joint)
    if bench.input == "goal":
        kp, kv = unit * constants["gain"], unit * constants["derivative"]
        lines.append(f'<position name="servo" joint="{joint}" kp="{_number(kp)}" kv="{_number(kv)}"{clamp}/>')
    else:
        lines.append(f'<general name="motor" joint="{joint}" gainprm="{_number(unit)}"{clamp}/>')
    if bench.drive == "voltage":
        lines.append(
            f'<general name="back_emf" joint="{joint}" gainprm="0" biastype="affine" '
            f'biasprm="0 0 {_number(-k * unit)}"/>'
        )
    beside = [name for name in ("integral", "feedforward", "filter", "dead_band") if constants[name] > 0]
    beside += ["torques"] if "torques" in bench.logs[i].facts else []
    if beside:
        lines.append(f"<!-- without what the fit had: {', '.join(beside)} -->")
    if bench.drive == "current" and constants["supply"] > 0:
        lines.append("<!-- without the bound that the supply sets to the current at high speed -->")
    return "\n".join(indent + line for line in lines)


def pendulum(bench: Pendulum, model: Model, values: Mapping[str, float], i: int = 0) -> str:
    """The whole bench of log i as MJCF: weight, gear, servo. Its step equals the step of the fit."""
    constants = {**bench.constants(i), **bench.known, **values}
    inertia, gravity = constants["inertia"], constants["gravity"]
    # a mass with the gravity torque and inertia of the bench; a bare inertia has its mass on the axis
    if gravity > 0:
        length = bench.logs[i].facts.get("length")
        length = float(length) if length is not None else inertia * GRAVITY / gravity
        mass = gravity / GRAVITY / length
        if mass * length**2 > inertia:
            length = inertia * GRAVITY / gravity
            mass = gravity / GRAVITY / length
    else:
        mass, length = 1.0, 0.0
    own = max(inertia - mass * length**2, 1e-12)
    offset = constants.get("offset", 0.0)
    place = f"{_number(length * math.sin(offset))} 0 {_number(-length * math.cos(offset))}"
    limit = ""
    if bench.drive == "voltage" and constants["current_limit"] > 0:
        most = constants.get("torque_scale", 1.0) * constants["torque_constant"] * constants["current_limit"]
        limit = f' actuatorfrcrange="{_number(-most)} {_number(most)}"'
    step = bench.logs[i].dt / bench.substeps(i)
    given = complete(bench, model, values)
    extension = gear(model, given)
    return "\n".join(
        [
            f'<mujoco model="{attribute(bench.logs[i].name)}">',
            f'  <option timestep="{_number(step)}" gravity="0 0 {_number(-GRAVITY)}" integrator="Euler"/>',
            *([extension] if extension else []),
            "  <worldbody>",
            '    <body name="pendulum">',
            f'      <joint name="joint" axis="0 -1 0" {joint_attributes(model, given)}{limit}/>',
            f'      <inertial pos="{place}" mass="{_number(mass)}" diaginertia="{own!r} {own!r} {own!r}"/>',
            f'      <geom type="capsule" fromto="0 0 0 {place}" size="0.005" contype="0" conaffinity="0"/>',
            f'      <geom type="sphere" pos="{place}" size="0.02" contype="0" conaffinity="0"/>',
            "    </body>",
            "  </worldbody>",
            "  <actuator>",
            actuators(bench, values, i),
            "  </actuator>",
            "</mujoco>",
            "",
        ]
    )
