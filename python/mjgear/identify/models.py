"""The models that are fitted: MuJoCo's own friction, the ladder of gears, and published models of servos."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Parameter:
    """A number that is fitted.

    Attributes:
      unit: its scale with the logs: a scale of Bench.scale, or two with "/" between them; "": it has no unit, or is an angle.
      low, high: bounds, in that unit.
      step: typical size, in that unit; steps of finite differences are a hundredth of it.
      start: range of random starts, in that unit.
      null: value that switches its term off, in that unit; None: it only shapes a term.
    """

    name: str
    si: str
    unit: str
    low: float
    high: float
    step: float
    start: tuple[float, float]
    text: str
    null: float | None = None


#: every number that can be fitted. Units are the scales of the logs (Bench.scale), so that results depend neither
#: on the size of the machine, nor on N m or N cm
PARAMETERS = {
    p.name: p
    for p in (
        Parameter("torque_constant", "N m/A", "torque_constant", 0.01, 50, 0.2, (0.1, 1.2), "of the motor, at the output side"),
        Parameter("resistance", "Ohm", "resistance", 0.002, 20, 0.05, (0.05, 0.4), "of the winding"),
        Parameter("torque_scale", "1", "", 0.1, 10, 0.05, (1.0, 1.0), "of the motor's torque, over what logs and servo say"),
        Parameter("armature", "kg m2", "inertia", 1e-4, 20, 0.2, (0.02, 1.0), "rotor inertia at the output side"),
        Parameter("offset", "rad", "", -0.3, 0.3, 0.02, (-0.02, 0.02), "angle of the encoder's zero"),
        Parameter("delay", "s", "time", 0.0, 0.3, 0.03, (0.0, 0.03), "of the input", 0.0),
        Parameter("drift", "1", "", -0.9, 5.0, 0.1, (0.0, 0.4), "part by which friction at the beginning of the logs exceeds that at their end", 0.0),
        Parameter("warm_up", "s", "campaign", 0.05, 10, 0.3, (0.2, 0.8), "time constant of that change"),
        Parameter("slew", "rad/s", "speed", 0.02, 10, 0.2, (0.4, 2.0), "most change of the servo's goal"),
        Parameter("viscous", "N m s/rad", "torque/speed", 0.0, 20, 0.08, (0.0, 0.2), "joint damping", 0.0),
        Parameter("motor_viscous", "N m s/rad", "torque/speed", 0.0, 20, 0.08, (0.0, 0.2), "viscous friction of the motor, in front of the gear", 0.0),
        Parameter("coulomb", "N m", "torque", 0.0, 2, 0.02, (0.0, 0.1), "friction that does not depend on load", 0.0),
        Parameter("curved_friction", "N m", "torque", 0.0, 2, 0.02, (0.0, 0.1), "viscous friction that bends, at curved_velocity", 0.0),
        Parameter("curved_exponent", "1", "", 0.2, 4.0, 0.3, (0.4, 2.5), "of its growth with velocity"),
        Parameter("gamma_u", "1", "", -0.95, 0.95, 0.1, (0.0, 0.4), "asymmetry coefficient of the input side", 0.0),
        Parameter("gamma_v", "1", "", -0.95, 3.0, 0.1, (0.0, 0.4), "asymmetry coefficient of the output side", 0.0),
        Parameter("stribeck_friction", "N m", "torque", 0.0, 1, 0.02, (0.0, 0.1), "what coulomb gains at rest", 0.0),
        Parameter("stribeck_velocity", "rad/s", "speed", 0.002, 3, 0.1, (0.02, 0.5), "at which the gain has fallen to 1/e"),
        Parameter("stribeck_exponent", "1", "", 1.0, 10, 1.0, (1.0, 4.0), "of that fall"),
        Parameter("gamma_u_stribeck", "1", "", 0.0, 1, 0.1, (0.0, 0.2), "what gamma_u gains at rest", 0.0),
        Parameter("gamma_v_stribeck", "1", "", 0.0, 1, 0.1, (0.0, 0.2), "what gamma_v gains at rest", 0.0),
        Parameter("gamma_u_quadratic", "1/(N m)", "1/torque", 0.0, 1, 0.05, (0.0, 0.2), "gain of gamma_u per motor torque", 0.0),
        Parameter("gamma_v_quadratic", "1/(N m)", "1/torque", 0.0, 1, 0.05, (0.0, 0.2), "gain of gamma_v per load torque", 0.0),
        Parameter("half_gap", "rad", "", 0.0, 0.1, 0.005, (0.0, 0.02), "half of the backlash", 0.0),
        # published models: bounds of numbers without a unit are their authors', the others are the ladder's
        Parameter("Kl", "1", "", 0.0, 1.0, 0.1, (0.0, 0.4), "load-dependent friction of M3 and M4", 0.0),
        Parameter("Kls", "1", "", 0.0, 1.0, 0.1, (0.0, 0.2), "what it gains at rest, M4", 0.0),
        Parameter("Km", "1", "", 0.0, 1.0, 0.1, (0.0, 0.4), "motor side of M5 and M6", 0.0),
        Parameter("Ke", "1", "", 0.0, 1.0, 0.1, (0.0, 0.4), "load side", 0.0),
        Parameter("Kms", "1", "", 0.0, 1.0, 0.1, (0.0, 0.2), "gained at rest, motor side", 0.0),
        Parameter("Kes", "1", "", 0.0, 1.0, 0.1, (0.0, 0.2), "gained at rest, load side", 0.0),
        Parameter("Kmq", "1/(N m)", "1/torque", 0.0, 1.0, 0.05, (0.0, 0.1), "quadratic, motor side, M6", 0.0),
        Parameter("Keq", "1/(N m)", "1/torque", 0.0, 1.0, 0.05, (0.0, 0.1), "quadratic, load side, M6", 0.0),
        Parameter("vs", "rad/s", "speed", 0.002, 3.0, 0.1, (0.02, 0.5), "Stribeck velocity"),
        Parameter("alpha", "1", "", 1.0, 10.0, 1.0, (1.0, 4.0), "Stribeck exponent"),
    )
}  # fmt: skip

#: parameters of published models -> where they go in the core's array (doc/presets.md)
PLACES = {
    "Kl": ("gamma_u", "gamma_v"), "Kls": ("gamma_u_stribeck", "gamma_v_stribeck"),
    "Km": ("gamma_u",), "Ke": ("gamma_v",), "Kms": ("gamma_u_stribeck",), "Kes": ("gamma_v_stribeck",),
    "Kmq": ("gamma_u_quadratic",), "Keq": ("gamma_v_quadratic",),
    "vs": ("stribeck_velocity",), "alpha": ("stribeck_exponent",),
}  # fmt: skip


@dataclass(frozen=True)
class Model:
    """A friction law and its parameters, without the parameters of motor and bench.

    Attributes:
      law: "gear" or "bam", as the core knows them.
      parameters: names in PARAMETERS.
      nested: simpler models that this one contains. Each starts from the other's solution, too.
      akin: a model of another law with nearly the same friction: each starts from the other's solution as well, where both are fitted.
    """

    name: str
    title: str
    law: str
    parameters: tuple[str, ...]
    nested: tuple[str, ...] = ()
    akin: str | None = None


#: parameters of friction that depends on load
PER_LOAD = {*PLACES, *(place for places in PLACES.values() for place in places)} - {
    "vs",
    "alpha",
    "stribeck_velocity",
    "stribeck_exponent",
}

_PLAIN = ("coulomb", "viscous")
_BENT = ("curved_friction", "curved_exponent")
_GAMMA = (*_PLAIN, "gamma_u", "gamma_v")
_STRIBECK = (*_GAMMA, "stribeck_friction", "stribeck_velocity")

#: the ladder, simplest first: a later model has to earn its parameters on held-out data
LADDER = {
    m.name: m
    for m in (
        Model("native", "MuJoCo's own: frictionloss + damping", "gear", _PLAIN),
        Model("curved", "curved viscous friction, no load", "gear", (*_PLAIN, *_BENT), ("native",)),
        Model("falling", "Coulomb + viscous + Stribeck, no load", "gear", (*_PLAIN, "stribeck_friction", "stribeck_velocity"), ("native",)),
        Model("gamma", "gear: gamma_u, gamma_v", "gear", _GAMMA, ("native",)),
        Model("gamma_curved", "gear + curved viscous friction", "gear", (*_GAMMA, *_BENT), ("gamma", "curved")),
        Model("gamma_motor", "gear + viscous friction of the motor", "gear", (*_GAMMA, "motor_viscous"), ("gamma",)),
        Model("gamma_delay", "gear + delay of the input", "gear", (*_GAMMA, "delay"), ("gamma",)),
        Model("stribeck", "gear + Stribeck", "gear", _STRIBECK, ("gamma",)),
        Model("stribeck_delay", "gear + Stribeck + delay of the input", "gear", (*_STRIBECK, "delay"), ("gamma_delay", "stribeck")),
        Model("quadratic", "gear + Stribeck + load at rest, quadratic", "gear",
              (*_STRIBECK, "gamma_u_stribeck", "gamma_v_stribeck", "gamma_u_quadratic", "gamma_v_quadratic"), ("stribeck",)),
        Model("backlash", "gear + backlash", "gear", (*_GAMMA, "half_gap"), ("gamma",)),
        Model("backlash_stribeck", "gear + Stribeck + backlash", "gear", (*_STRIBECK, "half_gap"), ("backlash", "stribeck")),
    )
}  # fmt: skip

_S = ("coulomb", "viscous", "stribeck_friction", "vs", "alpha")

#: M. Duclusaud, G. Passault, V. Padois, O. Ly, Extended Friction Models for the Physics Simulation of Servo
#: Actuators, ICRA 2025, fitted to the same logs in the same way
PUBLISHED = {
    m.name: m
    for m in (
        Model("M1", "BAM M1: Coulomb, viscous", "bam", _PLAIN, akin="native"),
        Model("M2", "BAM M2: + Stribeck", "bam", _S, ("M1",)),
        Model("M3", "BAM M3: load-dependent", "bam", (*_PLAIN, "Kl"), ("M1",), "gamma"),
        Model("M4", "BAM M4: + Stribeck", "bam", (*_S, "Kl", "Kls"), ("M2", "M3")),
        Model("M5", "BAM M5: directional", "bam", (*_S, "Km", "Ke", "Kms", "Kes"), ("M2", "M3"), "stribeck"),
        Model("M6", "BAM M6: quadratic", "bam", (*_S, "Km", "Ke", "Kms", "Kes", "Kmq", "Keq"), ("M5",), "quadratic"),
    )
}  # fmt: skip

MODELS = {**LADDER, **PUBLISHED}


def friction(model: Model, values: Mapping[str, float]) -> dict[str, float]:
    """Fitted numbers under the core's names."""
    named = {}
    for name, value in values.items():
        for place in PLACES.get(name, (name,)):
            named[place] = value
    return named


def translated(values: Mapping[str, float], source: Model, target: Model) -> dict[str, float]:
    """Values of a model in the parameters of another one that contains it, or that it contains.

    A term that the source does not have is absent (Parameter.null is not among the result); where one number of the
    target stands for two of the source (Kl for Km and Ke) it is their mean.
    """
    told = friction(source, values)
    shared = {}
    for name in target.parameters:
        found = [told[place] for place in PLACES.get(name, (name,)) if place in told]
        if found:
            shared[name] = sum(found) / len(found)
    return {**{n: v for n, v in values.items() if n not in source.parameters}, **shared}
