"""Results in formats of other programs, and lines about losses in these formats.

URDF `<dynamics>` has damping and friction, Isaac (PhysX) joints have armature, friction and viscous friction, Drake has damping,
rotor inertia and gear ratio. None of them has friction that grows with the load. They get the constant friction and damping
closest to the friction of the logs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

import numpy as np

from mjgear.identify.arm import law
from mjgear.identify.arm.law import PLACE
from mjgear.identify.arm.result import Identified


@dataclass
class Plain:
    """Friction of a joint as Coulomb and viscous.

    Attributes:
      lost: root mean square of friction that the format lacks, N m, over the logs.
      friction: root mean square of the friction, N m.
    """

    coulomb: float
    damping: float
    armature: float
    lost: float
    friction: float
    terms: frozenset[str]

    def text(self) -> str:
        """Text about the losses."""
        if not self.terms:
            return "nothing is lost"
        share = 100 * self.lost / max(self.friction, 1e-12)
        return f"lost: {law.title(self.terms)}; over the logs the friction is off by {self.lost:.3g} N m rms, {share:.0f} % of it"


def plain(found: Identified) -> list[Plain]:
    """The nearest Coulomb and viscous friction of each joint."""
    out = []
    beta = found.parameters()
    for j, rung in enumerate(found.rungs):
        p, r = found.state.p[j], found.fitter.problem.rows[j]
        predicted = found.fitter.problem.predict(
            j, found.fitter.problem.base(j, beta), p, np.zeros(len(found.fitter.problem.logs)), rung
        )
        link = r.Y @ found.fitter.problem.base(j, beta) + r.known
        friction = predicted["u"] - link
        A = np.stack([np.sign(r.v), r.v], axis=1)
        c, b = np.linalg.lstsq(A, friction, rcond=None)[0]
        if b < 0:
            b, c = 0.0, float(np.mean(friction * np.sign(r.v)))
        if c < 0:
            c, b = 0.0, max(float(friction @ r.v / (r.v @ r.v)), 0.0)
        lost = friction - c * np.sign(r.v) - b * r.v
        out.append(
            Plain(
                float(c),
                float(b),
                float(p[PLACE["armature"]]),
                float(np.sqrt(np.mean(lost**2))),
                float(np.sqrt(np.mean(friction**2))),
                rung.terms,
            )
        )
    return out


def urdf(found: Identified) -> str:
    """`<dynamics>` elements to paste into the joints of a URDF."""
    lines = ["<!-- URDF: damping in N m s/rad, friction in N m. It has no rotor inertia. -->"]
    for name, p in zip(found.arm.joints, plain(found)):
        lines += [f"<!-- {p.text()}; rotor inertia {p.armature:.5g} kg m2 is not in here -->", f"<joint name={quoteattr(name)}>",
                  f'  <dynamics damping="{p.damping:.6g}" friction="{p.coulomb:.6g}"/>', "</joint>"]  # fmt: skip
    return "\n".join([*lines, ""])


def isaac(found: Identified) -> str:
    """JSON for joints of Isaac Sim and Isaac Lab: `armature`, and friction as efforts (PhysX 5.6 and later)."""
    joints = {}
    for name, p in zip(found.arm.joints, plain(found)):
        joints[name] = {"armature": p.armature, "static_friction_effort": p.coulomb, "dynamic_friction_effort": p.coulomb,
                        "viscous_friction_coefficient": p.damping, "lost": p.text()}  # fmt: skip
    note = "efforts in N m; PhysX before 5.6 has a coefficient times the joint's load in the place of efforts, which is another law"
    return json.dumps({"note": note, "joints": joints}, indent=1)


def drake(found: Identified) -> str:
    """Elements for Drake's parser: damping of the joint, rotor inertia at the output (gear ratio 1)."""
    lines = [
        "<!-- Drake: joints have damping and, through their actuators, rotor inertia; Coulomb friction is parsed and ignored. -->"
    ]
    for name, p in zip(found.arm.joints, plain(found)):
        lines += [f"<!-- {name}: Coulomb friction {p.coulomb:.5g} N m is lost; {p.text()} -->", f"<joint name={quoteattr(name)}>",
                  f'  <dynamics damping="{p.damping:.6g}"/>', "</joint>", f"<transmission><joint name={quoteattr(name)}/>",
                  f"  <actuator name={quoteattr(name)}><drake:rotor_inertia value=\"{p.armature:.6g}\"/><drake:gear_ratio value=\"1\"/></actuator>",
                  "</transmission>"]  # fmt: skip
    return "\n".join([*lines, ""])
