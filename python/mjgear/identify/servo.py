"""Servos as data: how a goal becomes a voltage, a current or a torque."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from pathlib import Path

from mjgear.identify.logs import Log, LogError, read_json


@dataclass(frozen=True)
class Servo:
    """Motor, amplifier and firmware of a servo.

    The position loop sets ``duty = clip(kp error_gain (goal - position) + integral + feedforward goal' - derivative velocity, +-limit)`` of the
    supply (drive "voltage"), or a current or torque in A or N m (drives "current", "torque"). kp is the number in the
    servo's register, from the log.

    Attributes:
      drive: what the amplifier sets: "voltage", "current" or "torque".
      error_gain: duty (A, N m) for one rad and kp = 1.
      derivative: duty (A, N m) for one rad/s.
      integral: duty (A, N m) for one rad s, up to the limit.
      feedforward: duty (A, N m) for one rad/s of the goal.
      filter: time constant of the low-pass of the velocity, s; 0: none.
      dead_band: duty (A, N m) that the PWM stage loses, of either sign.
      limit: largest duty, 1 at most for "voltage"; largest current or torque; 0: none.
      current_limit: of the winding, A, for drive "voltage"; 0: none.
      supply: V; a log's ``vin`` goes first. For drive "current" 0 means that the supply never bounds the current.
      slew: most change of the goal, rad/s; 0: any.
      duty_scale: duty in one unit of the column ``load`` of a log.
      duty_wrap: period of that column, if it is a counter that wraps around; 0: none.
      torque_constant, resistance: known values at the output side, N m/A and Ohm; None: fitted.
      source: where this is from.
    """

    name: str
    drive: str = "voltage"
    error_gain: float = 0.0
    derivative: float = 0.0
    integral: float = 0.0
    feedforward: float = 0.0
    filter: float = 0.0
    dead_band: float = 0.0
    limit: float = 0.0
    current_limit: float = 0.0
    supply: float = 0.0
    slew: float = 0.0
    duty_scale: float = 1.0
    duty_wrap: float = 0.0
    torque_constant: float | None = None
    resistance: float | None = None
    source: str = ""

    def constants(self, log: Log, loop: bool) -> dict[str, float]:
        """Parameters of the bench that this servo has in a log."""
        supply = log.number("vin") if "vin" in log.facts else self.supply
        if self.drive == "voltage" and loop and supply <= 0:
            raise LogError(f"{log.name}: no supply voltage; give vin=VOLTS, or supply in the servo")
        unit = supply if self.drive == "voltage" else 1.0
        constants = {"current_limit": self.current_limit, "limit": unit * self.limit}
        if self.drive == "current":
            constants["supply"] = supply
        if loop:
            constants["gain"] = unit * self.error_gain * log.number("kp")
            constants |= {k: unit * getattr(self, k) for k in ("derivative", "integral", "feedforward", "dead_band")}
            constants["filter"] = self.filter
            constants["slew"] = self.slew
        return constants


#: servos whose firmware was published. error_gain and limit of the Dynamixels and the STS3215: the measurements of the
#: Rhoban team with an oscilloscope (github.com/Rhoban/bam, Apache-2.0)
SERVOS = {
    s.name: s
    for s in (
        Servo("xl330", error_gain=4096 / (2 * math.pi) / (256 * 885), limit=1.0, current_limit=1.75, supply=7.4,
              duty_scale=1 / 885, duty_wrap=65536,
              source="Rhoban/bam, branch xl330: counts per turn 4096, PWM limit 885, kp divisor 256, current limit 1.75 A"),
        Servo("mx64", error_gain=0.158, limit=0.9625, supply=15.0, source="Rhoban/bam: measured with an oscilloscope"),
        Servo("mx106", error_gain=0.158, limit=0.9625, supply=15.0, source="Rhoban/bam: measured with an oscilloscope"),
        Servo("xl320", error_gain=0.05048199, limit=1.0, supply=7.5, source="Rhoban/bam: measured with an oscilloscope"),
        Servo("sts3215", error_gain=0.166, limit=0.97, supply=7.4, source="Rhoban/bam: measured with an oscilloscope"),
        Servo("torque", drive="torque", source="the input is the motor's torque"),
        Servo("current", drive="current", source="the input is the motor's current"),
        Servo("voltage", drive="voltage", source="the input is the voltage at the winding"),
    )
}  # fmt: skip


def servo(name: str) -> Servo:
    """A servo of SERVOS, or of a JSON file that has the attributes of Servo.

    Raises:
      LogError: the file is missing, or has an unknown entry.
    """
    if name in SERVOS:
        return SERVOS[name]
    path = Path(name)
    if path.suffix != ".json" or not path.exists():
        raise LogError(f"no servo '{name}'; there are {', '.join(SERVOS)}, or give a JSON file")
    content = read_json(path)
    if not isinstance(content, dict):
        raise LogError(f"{path}: no object with the attributes of a servo")
    known = {f.name for f in dataclasses.fields(Servo)}
    unknown = set(content) - known
    if unknown:
        raise LogError(f"{path}: a servo has no '{min(unknown)}'; it has {', '.join(sorted(known))}")
    for name, value in content.items():
        words = name in ("name", "drive", "source")
        if not isinstance(value, str) if words else not isinstance(value, float) or not math.isfinite(value):
            raise LogError(f"{path}: '{name}' is no {'text' if words else 'number'}")
    made = Servo(**{"name": path.stem, **content})
    if made.drive not in ("voltage", "current", "torque"):
        raise LogError(f"{path}: drive '{made.drive}'; choose voltage, current or torque")
    return made
