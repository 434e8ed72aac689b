"""A whole arm from its logs: torques and motions, by inverse dynamics.

    from mjgear.identify import arm
    found = arm.identify("arm.xml", ["logs/"])
    print(found.table(), found.numbers())

The torque of a joint is linear in the inertial parameters and in Coulomb, viscous and curved viscous friction. Gears make
it linear in two regimes, driving and driven. So all logs are reduced to one Gram matrix a piece and joint, and every fit,
held-out fit and bootstrap draw works on these.
"""

from mjgear.identify.arm.logs import ArmLog
from mjgear.identify.arm.result import Identified, identify, identify_logs

__all__ = ["ArmLog", "Identified", "identify", "identify_logs"]
