"""The models that are fitted: MuJoCo's own friction, the ladder of gears, and published models of servos."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Parameter:
    """A number that is fitted.

    Attributes:
      unit: how it scales with the bench: "torque", "inertia", "viscous" (torque/speed) or "" (as it stands).
      low, high: bounds, in that unit.
      step: typical size, in that unit; steps of finite differences are a hundredth of it.
      start: range from which random starts are drawn, in that unit.
    """

    name: str
    si: str
    unit: str
    low: float
    high: float
    step: float
    start: tuple[float, float]
    text: str


#: every number that can be fitted. "torque" stands for the largest gravity torque of the logs, "inertia" for the
#: largest inertia, "viscous" for torque/(1 rad/s)
PARAMETERS = {
    p.name: p
    for p in (
        Parameter("torque_constant", "N m/A", "torque", 0.01, 50, 0.2, (0.3, 1.5), "of the motor, at the output side"),
        Parameter("resistance", "Ohm", "", 0.05, 100, 1.0, (1.0, 6.0), "of the winding"),
        Parameter("armature", "kg m2", "inertia", 1e-4, 20, 0.2, (0.02, 1.0), "rotor inertia at the output side"),
        Parameter("offset", "rad", "", -0.3, 0.3, 0.02, (-0.02, 0.02), "angle of the encoder's zero"),
        Parameter("delay", "s", "", 0.0, 0.1, 0.01, (0.0, 0.01), "of the input"),
        Parameter("slew", "rad/s", "", 0.1, 50, 1.0, (2.0, 8.0), "most change of the servo's goal"),
        Parameter("viscous", "N m s/rad", "viscous", 0.0, 5, 0.02, (0.0, 0.05), "joint damping"),
        Parameter("coulomb", "N m", "torque", 0.0, 2, 0.02, (0.0, 0.1), "friction that does not depend on load"),
        Parameter("gamma_u", "1", "", 0.0, 0.95, 0.1, (0.0, 0.4), "asymmetry coefficient of the input side"),
        Parameter("gamma_v", "1", "", 0.0, 3.0, 0.1, (0.0, 0.4), "asymmetry coefficient of the output side"),
        Parameter("stribeck_friction", "N m", "torque", 0.0, 1, 0.02, (0.0, 0.1), "what coulomb gains at rest"),
        Parameter("stribeck_velocity", "rad/s", "", 0.01, 10, 0.5, (0.1, 2.0), "at which the gain has fallen to 1/e"),
        Parameter("stribeck_exponent", "1", "", 1.0, 10, 1.0, (1.0, 4.0), "of that fall"),
        Parameter("gamma_u_stribeck", "1", "", 0.0, 1, 0.1, (0.0, 0.2), "what gamma_u gains at rest"),
        Parameter("gamma_v_stribeck", "1", "", 0.0, 1, 0.1, (0.0, 0.2), "what gamma_v gains at rest"),
        Parameter("gamma_u_quadratic", "1/(N m)", "", 0.0, 1, 0.05, (0.0, 0.2), "gain of gamma_u per motor torque"),
        Parameter("gamma_v_quadratic", "1/(N m)", "", 0.0, 1, 0.05, (0.0, 0.2), "gain of gamma_v per load torque"),
        Parameter("half_gap", "rad", "", 0.0, 0.1, 0.005, (0.0, 0.02), "half of the backlash"),
        # published models: bounds are those of their authors
        Parameter("Kl", "1", "", 0.0, 1.0, 0.1, (0.0, 0.4), "load-dependent friction of M3 and M4"),
        Parameter("Kls", "1", "", 0.0, 1.0, 0.1, (0.0, 0.2), "what it gains at rest, M4"),
        Parameter("Km", "1", "", 0.0, 1.0, 0.1, (0.0, 0.4), "motor side of M5 and M6"),
        Parameter("Ke", "1", "", 0.0, 1.0, 0.1, (0.0, 0.4), "load side"),
        Parameter("Kms", "1", "", 0.0, 1.0, 0.1, (0.0, 0.2), "gained at rest, motor side"),
        Parameter("Kes", "1", "", 0.0, 1.0, 0.1, (0.0, 0.2), "gained at rest, load side"),
        Parameter("Kmq", "1/(N m)", "", 0.0, 0.01, 0.005, (0.0, 0.01), "quadratic, motor side, M6"),
        Parameter("Keq", "1/(N m)", "", 0.0, 0.01, 0.005, (0.0, 0.01), "quadratic, load side, M6"),
        Parameter("vs", "rad/s", "", 0.1, 3.0, 0.5, (0.1, 3.0), "Stribeck velocity"),
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
    """A friction law and its parameters, besides those of motor and bench.

    Attributes:
      law: "gear" or "bam", as the core knows them.
      parameters: names in PARAMETERS.
      nested: the simpler model whose solution is one of the starts.
      frozen: parameters of the core that are not fitted.
    """

    name: str
    title: str
    law: str
    parameters: tuple[str, ...]
    nested: str | None = None
    frozen: tuple[tuple[str, float], ...] = ()


_STRIBECK = (("stribeck_velocity", 1.0), ("stribeck_exponent", 2.0))
_PLAIN = ("coulomb", "viscous")
_GAMMA = (*_PLAIN, "gamma_u", "gamma_v")
_CURVE = (*_GAMMA, "stribeck_friction", "stribeck_velocity")

#: the ladder, simplest first: a later model has to earn its parameters on data that it has not seen
LADDER = {
    m.name: m
    for m in (
        Model("native", "MuJoCo's own: frictionloss + damping", "gear", _PLAIN),
        Model("gamma", "gear: gamma_u, gamma_v", "gear", _GAMMA, "native"),
        Model("stribeck", "gear + Stribeck", "gear", _CURVE, "gamma", (("stribeck_exponent", 2.0),)),
        Model("quadratic", "gear + Stribeck + load at rest, quadratic", "gear",
              (*_CURVE, "gamma_u_stribeck", "gamma_v_stribeck", "gamma_u_quadratic", "gamma_v_quadratic"), "stribeck",
              (("stribeck_exponent", 2.0),)),
        Model("backlash", "gear + backlash", "gear", (*_GAMMA, "half_gap"), "gamma"),
    )
}  # fmt: skip

_S = ("coulomb", "viscous", "stribeck_friction", "vs", "alpha")

#: M. Duclusaud, G. Passault, V. Padois, O. Ly, Extended Friction Models for the Physics Simulation of Servo
#: Actuators, ICRA 2025, fitted to the same logs in the same way
PUBLISHED = {
    m.name: m
    for m in (
        Model("M1", "BAM M1: Coulomb, viscous", "bam", _PLAIN),
        Model("M2", "BAM M2: + Stribeck", "bam", _S, "M1"),
        Model("M3", "BAM M3: load-dependent", "bam", (*_PLAIN, "Kl"), "M1"),
        Model("M4", "BAM M4: + Stribeck", "bam", (*_S, "Kl", "Kls"), "M2"),
        Model("M5", "BAM M5: directional", "bam", (*_S, "Km", "Ke", "Kms", "Kes"), "M2"),
        Model("M6", "BAM M6: quadratic", "bam", (*_S, "Km", "Ke", "Kms", "Kes", "Kmq", "Keq"), "M5"),
    )
}  # fmt: skip

MODELS = {**LADDER, **PUBLISHED}


def defaults(model: Model) -> dict[str, float]:
    """Parameters of the core that a model leaves as they are."""
    return {**dict(_STRIBECK), **dict(model.frozen)}


def friction(model: Model, values: dict[str, float]) -> dict[str, float]:
    """Fitted numbers under the core's names."""
    named = {}
    for name, value in values.items():
        for place in PLACES.get(name, (name,)):
            named[place] = value
    return named
