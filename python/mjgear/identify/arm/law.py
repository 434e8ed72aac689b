"""The torque of one joint as a linear function of its columns.

With s the sign of the velocity, x the torque of links and joint, m the rotor's inertia, c the load-independent bound,
and d = +1 where s lambda > 0 (driving), -1 where the load drives, the law of doc/theory.md is

    u = (1 + d gamma_v)/(1 - d gamma_u) x + s c/(1 - d gamma_u),     tau = (u + m a) / scale

so that in each of the two regimes tau is linear in the inertial parameters and the friction, each times a gain of its regime.
`weights` gives these coefficients and their derivatives by the numbers of the joint.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

#: numbers of a joint. Torques in N m, at the output side
NUMBERS = ("scale", "gamma_u", "gamma_v", "armature", "viscous", "curved", "coulomb", "stribeck_friction", "stribeck_velocity",
           "gamma_stribeck", "gamma_quadratic", "coulomb_temperature", "viscous_temperature", "delay")  # fmt: skip
PLACE = {name: k for k, name in enumerate(NUMBERS)}

#: terms of a rung beside Coulomb and viscous friction, and their numbers
TERMS: dict[str, tuple[str, ...]] = {
    "load": ("gamma_u", "gamma_v"),
    "curved": ("curved",),
    "stribeck": ("stribeck_friction", "stribeck_velocity"),
    "quadratic": ("gamma_stribeck", "gamma_quadratic"),
    "temperature": ("coulomb_temperature", "viscous_temperature"),
}
#: terms that a term needs
NEEDS = {"quadratic": ("load", "stribeck")}

_TITLES = {
    "load": "gear",
    "curved": "curved viscous",
    "stribeck": "Stribeck",
    "quadratic": "load at rest, quadratic",
    "temperature": "temperature",
}


def title(terms: frozenset[str]) -> str:
    """A rung in words."""
    return "native" if not terms else " + ".join(_TITLES[t] for t in TERMS if t in terms)


@dataclass
class Shape:
    """Input of a joint's columns, fixed during a fit.

    Attributes:
      stribeck_velocity: rad/s.
      power: of the curved viscous friction.
      coulomb_temperature, viscous_temperature: 1/K.
      delay: shift of the torque, s.
    """

    stribeck_velocity: float = 0.1
    power: float = 2.0
    coulomb_temperature: float = 0.0
    viscous_temperature: float = 0.0
    delay: float = 0.0


@dataclass
class Rung:
    """Terms and shape of one joint.

    Attributes:
      even: gamma_u and gamma_v are the same number.
      absent: numbers of the terms that stay 0.
    """

    terms: frozenset[str] = frozenset()
    shape: Shape = field(default_factory=Shape)
    even: bool = False
    absent: frozenset[str] = frozenset()

    def enabled(self) -> list[str]:
        """Numbers that are fitted, without scale and delay."""
        return [
            "armature",
            "viscous",
            "coulomb",
            *(n for t in TERMS if t in self.terms for n in TERMS[t] if n not in self.absent),
        ]


_LINEAR = frozenset({"gamma_quadratic"})
#: the published models of servos (identify.models.PUBLISHED) by these terms; at rest both sides of M5 and M6 share a number
PUBLISHED = {
    "M1": Rung(),
    "M2": Rung(frozenset({"stribeck"})),
    "M3": Rung(frozenset({"load"}), even=True),
    "M4": Rung(frozenset({"load", "stribeck", "quadratic"}), even=True, absent=_LINEAR),
    "M5": Rung(frozenset({"load", "stribeck", "quadratic"}), absent=_LINEAR),
    "M6": Rung(frozenset({"load", "stribeck", "quadratic"})),
}


def _gains(p: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(2) gains g and h of both regimes, and (2, 2) their derivatives by gamma_u, gamma_v."""
    gu, gv = p[PLACE["gamma_u"]], p[PLACE["gamma_v"]]
    d = np.array([1.0, -1.0])
    h = 1 / (1 - d * gu)
    g = (1 + d * gv) * h
    dh = np.stack([d * h**2, np.zeros(2)], axis=1)
    dg = np.stack([(1 + d * gv) * d * h**2, d * h], axis=1)
    return g, h, dg, dh


def columns(
    Y: np.ndarray,
    known: np.ndarray,
    v: np.ndarray,
    a: np.ndarray,
    warmth: np.ndarray | None,
    log: np.ndarray,
    logs: int,
    shape: Shape,
    driving: np.ndarray,
    torques: tuple[np.ndarray, np.ndarray],
    at_rest: np.ndarray,
    late: np.ndarray,
) -> np.ndarray:
    """The columns (N, C) that `weights` belong to.

    Args:
      Y: (N, n) regressor of the links.
      known: torque of springs and payloads.
      warmth: temperature less its mean, K; None: unknown.
      log: index of the log of each row.
      driving: True if s lambda > 0.
      torques: u and x as the last fit has them, for terms of the load that are not linear.
      at_rest: additional friction at rest in the last fit, N m.
      late: change of the torque with its delay, N m/s.
    """
    s, speed = np.sign(v), np.abs(v)
    warm = np.zeros_like(v) if warmth is None else warmth
    r = speed / shape.stribeck_velocity
    S = np.exp(-(r**2))
    thick, thin = np.exp(shape.viscous_temperature * warm), np.exp(shape.coulomb_temperature * warm)
    u, x = np.abs(torques[0]), np.abs(torques[1])
    least = np.where(torques[0] * torques[1] > 0, np.minimum(u, x), 0.0)
    with_g = np.stack([known, v * thick, s * speed**shape.power, v * thick * warm], axis=1)
    both = np.abs(torques[0] + torques[1])
    with_h = np.stack(
        [s * thin, s * S, s * S * 2 * r**2 * at_rest, s * S * both, s * S * least**2, s * thin * warm], axis=1
    )
    plus = driving[:, None].astype(float)
    minus = 1 - plus
    own = (log[:, None] == np.arange(logs)).astype(float)
    return np.concatenate(
        [
            Y * plus,
            Y * minus,
            with_g * plus,
            with_g * minus,
            with_h * plus,
            with_h * minus,
            a[:, None],
            late[:, None],
            own,
        ],
        axis=1,
    )


def weights(beta: np.ndarray, p: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coefficients (C) of a joint's columns, their derivatives by its numbers (C, numbers), and the gains (2) of beta.

    Args:
      beta: (n) inertial parameters of the links that the joint moves.
      p: NUMBERS; stribeck_velocity is the relative difference from the shape, the two of temperature are absolute differences.
      offsets: of each log, as logged.
    """
    n, nl = beta.size, offsets.size
    at = PLACE
    g, h, dg, dh = _gains(p)
    k = p[at["scale"]]
    size = 2 * n + 8 + 12 + 2 + nl
    A_g = np.array([1.0, p[at["viscous"]], p[at["curved"]], p[at["viscous"]] * p[at["viscous_temperature"]]])
    bound = [at[n] for n in ("coulomb", "stribeck_friction", "stribeck_velocity", "gamma_stribeck", "gamma_quadratic")]
    A_h = np.append(p[bound], p[at["coulomb"]] * p[at["coulomb_temperature"]])
    D_g, D_h = np.zeros((4, p.size)), np.zeros((6, p.size))
    D_g[[1, 2], [at["viscous"], at["curved"]]] = 1
    D_g[3, at["viscous"]], D_g[3, at["viscous_temperature"]] = p[at["viscous_temperature"]], p[at["viscous"]]
    D_h[range(5), bound] = 1
    D_h[5, at["coulomb"]], D_h[5, at["coulomb_temperature"]] = p[at["coulomb_temperature"]], p[at["coulomb"]]

    w, D = np.zeros(size), np.zeros((size, p.size))
    gammas = [at["gamma_u"], at["gamma_v"]]
    for i in range(2):
        rows = slice(i * n, (i + 1) * n)
        w[rows] = g[i] * beta
        D[rows, gammas[0]], D[rows, gammas[1]] = dg[i, 0] * beta, dg[i, 1] * beta
        rows = slice(2 * n + 4 * i, 2 * n + 4 * (i + 1))
        w[rows] = g[i] * A_g
        D[rows] = g[i] * D_g
        D[rows, gammas[0]] += dg[i, 0] * A_g
        D[rows, gammas[1]] += dg[i, 1] * A_g
        rows = slice(2 * n + 8 + 6 * i, 2 * n + 8 + 6 * (i + 1))
        w[rows] = h[i] * A_h
        D[rows] = h[i] * D_h
        D[rows, gammas[0]] += dh[i, 0] * A_h
    place = 2 * n + 20
    w[place], D[place, at["armature"]] = p[at["armature"]], 1
    # the scale multiplies all but delay and offsets, which are in logged units
    D[:, at["scale"]] = w
    w[: place + 1] *= k
    D[: place + 1, : at["scale"]] *= k
    D[: place + 1, at["scale"] + 1 :] *= k
    w[place + 1], D[place + 1, at["delay"]] = p[at["delay"]], 1
    w[place + 2 :] = offsets
    return w, D, k * g


def torques(x: np.ndarray, s: np.ndarray, bound: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the torque u into the gear that delivers x in motion along s, and True if the gear drives (s lambda >= 0).

    Args:
      bound: friction that does not depend on the load, N m.
    """
    g, h, _, _ = _gains(p)
    gu, gv = p[PLACE["gamma_u"]], p[PLACE["gamma_v"]]
    driving = g[0] * x + s * h[0] * bound
    driven = g[1] * x + s * h[1] * bound
    # without gammas, lambda has the sign of u + x
    su, sv = (gu, gv) if gu + gv > 0.02 else (1.0, 1.0)
    drives = s * (su * driving + sv * x) >= 0
    return np.where(drives, driving, driven), drives
