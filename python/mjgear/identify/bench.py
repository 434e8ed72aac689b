"""Benches: what the logs of a joint say about a set of parameters, as residuals."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mjgear.identify import core
from mjgear.identify.logs import Log, LogError
from mjgear.identify.models import PARAMETERS, Model, defaults, friction
from mjgear.identify.servo import Servo

GRAVITY = 9.80665  # m/s2

#: what may drive a simulation, in the order in which it is looked for
INPUTS = ("torque", "current", "goal", "voltage")

_STEP = 1e-3  # s, largest step of the simulation


@dataclass
class Space:
    """The free parameters of a model on a bench, in units of their typical size.

    Attributes:
      names: of the parameters.
      size: SI units in one unit of the optimizer.
      low, high: bounds, in units of the optimizer.
      start: (2, n) range of random starts, in units of the optimizer.
    """

    names: tuple[str, ...]
    size: np.ndarray
    low: np.ndarray
    high: np.ndarray
    start: np.ndarray


class Bench:
    """Logs and what carries the joint; see Pendulum and Dynamometer.

    Attributes:
      logs: the logs.
      known: parameters that are not fitted -> value.
      extra: parameters of bench and motor that are fitted with every model.
      scale: "torque", "inertia", "viscous" -> SI unit of the parameters' table.
      noise: residual that counts as large, in the unit of the residual: where the loss turns from square to linear.
      unit: of the residual.
    """

    logs: Sequence[Log]
    known: dict[str, float]
    extra: tuple[str, ...]
    scale: dict[str, float]
    noise: float
    unit: str

    def space(self, model: Model) -> Space:
        """The free parameters of a model here."""
        names = tuple(n for n in (*self.extra, *model.parameters) if n not in self.known)
        table = [PARAMETERS[n] for n in names]
        unit = np.array([self.scale.get(p.unit, 1.0) for p in table])
        step = np.array([p.step for p in table])

        def scaled(values: list[float]) -> np.ndarray:
            return np.asarray(np.array(values) / step)

        return Space(names, unit * step, scaled([p.low for p in table]), scaled([p.high for p in table]),
                     np.array([scaled([p.start[0] for p in table]), scaled([p.start[1] for p in table])]))

    def vector(self, model: Model, values: Mapping[str, float], base: np.ndarray) -> np.ndarray:
        """The core's parameter array for fitted values, on top of what a log says."""
        p = base.copy()
        for name, value in {**defaults(model), **friction(model, {**self.known, **values})}.items():
            p[core.INDEX[name]] = value
        shaft = self.shaft(values) if "half_gap" in model.parameters else {"stiffness": 0.0}
        for name, value in shaft.items():
            p[core.INDEX[name]] = value
        return p

    def shaft(self, values: Mapping[str, float]) -> dict[str, float]:
        """Stiffness and damping behind a gap: known ones, else so stiff that the largest torque twists it by a milliradian."""
        given = {**self.known, **values}
        stiffness = given.get("stiffness") or self.scale["torque"] / 1e-3
        return {"stiffness": stiffness, "damping": given.get("damping") or 0.5 * math.sqrt(stiffness * given["armature"])}

    def pieces(self, length: float) -> Bench | None:
        """The same logs, simulated in pieces of this length (s) that begin at the measured state; None: no simulation."""
        return None

    def residuals(self, model: Model, values: Mapping[str, float], logs: Sequence[int]) -> list[np.ndarray]:
        """Prediction - measurement of each of these logs, thinned out as far as it is smooth."""
        raise NotImplementedError

    def errors(self, model: Model, values: Mapping[str, float], logs: Sequence[int] | None = None) -> np.ndarray:
        """Mean absolute error of each of these logs, of every sample."""
        raise NotImplementedError


class Pendulum(Bench):
    """A weight on an arm, or a bare inertia, in front of a servo; simulated by the core from the first sample on.

    The facts of a log give ``mass`` (kg), ``length`` (m) and ``arm_mass`` (kg, of a slender arm), or ``inertia``
    (kg m2) and ``gravity`` (N m, torque at 90 degrees).

    Args:
      logs: the logs.
      servo: motor and controller.
      input: "goal", "torque", "current" or "voltage", what drives the simulation; None: the first of INPUTS that the
        logs have and the servo can use.
      known: parameters that are not fitted.
      fit: further parameters that are: "delay", "slew".
      reset: time between returns to the measured state, s; 0: never.
      step: largest step of the simulation, s.
    """

    def __init__(self, logs: Sequence[Log], servo: Servo, input: str | None = None,
                 known: Mapping[str, float] | None = None, fit: Sequence[str] = (), reset: float = 0.0,
                 step: float = _STEP):
        self.logs = logs
        self.servo = servo
        self.input = input or self._choose_input()
        self.drive = servo.drive if self.input == "goal" else self.input
        self.known = _known(known, servo)
        electric = {"torque": (), "current": ("torque_constant",), "voltage": ("torque_constant", "resistance")}
        if self.drive == "current" and any("vin" in log.facts or servo.supply > 0 for log in logs):
            electric["current"] = ("torque_constant", "resistance")
        self.extra = (*electric[self.drive], "armature", "offset", *fit)
        self.noise = 0.02
        self.unit = "rad"
        self._fit, self._step = tuple(fit), step
        self.reset = reset
        self._rollouts: list[core.Rollout] = []
        self._bases: list[np.ndarray] = []
        for log in logs:
            self._add(log, reset, step)
        self._thin = [max(1, round(0.02 / log.dt)) for log in logs]
        torque = max(b[core.INDEX["gravity"]] for b in self._bases)
        inertia = max(b[core.INDEX["inertia"]] for b in self._bases)
        if torque == 0:
            torque = inertia * max(float(np.ptp(log.data["velocity"])) for log in logs) / 0.5
        self.scale = {"torque": torque, "inertia": inertia, "viscous": torque}

    def pieces(self, length: float) -> Pendulum:
        made = Pendulum(self.logs, self.servo, self.input, self.known, self._fit, length, self._step)
        made.noise = self.noise * min(1.0, length) if length > 0 else self.noise
        made.scale = dict(self.scale)
        return made

    def beginning(self, part: float) -> Pendulum:
        """The first part (0 to 1) of each log."""
        logs = [replace(log, data={k: x[: max(2, round(part * log.n))] for k, x in log.data.items()}) for log in self.logs]
        made = Pendulum(logs, self.servo, self.input, self.known, self._fit, self.reset, self._step)
        made.noise, made.scale = self.noise, dict(self.scale)
        return made

    def _choose_input(self) -> str:
        for input in INPUTS:
            usable = self.servo.error_gain > 0 if input == "goal" else True
            if usable and all(input in log.data for log in self.logs):
                return input
        raise LogError("the logs have no torque, current, voltage (or duty and supply) or, with a servo whose controller is known, "
                       "goal in common; name the columns, or give a servo")

    def _add(self, log: Log, reset: float, step: float) -> None:
        if self.input not in log.data:
            raise LogError(f"{log.name}: no column for {self.input}")
        base = np.zeros(len(core.PARAMETERS))
        for name, value in {**carried(log), **self.servo.constants(log, self.input == "goal")}.items():
            base[core.INDEX[name]] = value
        if self.drive == "torque" and self.input != "goal":
            base[core.INDEX["limit"]] = 0
        self._bases.append(base)
        self._rollouts.append(core.Rollout(
            log.dt, log.data[self.input], log.data["position"], log.data["velocity"], drive=self.drive,
            loop=self.input == "goal", enable=log.data.get("enable"), substeps=max(1, math.ceil(log.dt / step - 1e-9)),
            reset=round(reset / log.dt)))

    def simulate(self, model: Model, values: Mapping[str, float], i: int) -> dict[str, np.ndarray]:
        """Position, velocity, torque and rotor of log i, as predicted."""
        self._rollouts[i].law = model.law
        return self._rollouts[i].simulate_all(self.vector(model, values, self._bases[i]))

    def _position(self, model: Model, values: Mapping[str, float], i: int) -> np.ndarray:
        self._rollouts[i].law = model.law
        q = self._rollouts[i].simulate(self.vector(model, values, self._bases[i]))
        return np.where(np.isfinite(q), np.clip(q, -1e3, 1e3), 1e3)

    def residuals(self, model: Model, values: Mapping[str, float], logs: Sequence[int]) -> list[np.ndarray]:
        return [(self._position(model, values, i) - self._rollouts[i].position)[:: self._thin[i]] for i in logs]

    def errors(self, model: Model, values: Mapping[str, float], logs: Sequence[int] | None = None) -> np.ndarray:
        logs = range(len(self.logs)) if logs is None else logs
        return np.array([np.mean(np.abs(self._position(model, values, i) - self._rollouts[i].position)) for i in logs])

    def constants(self, i: int) -> dict[str, float]:
        """Parameters of bench and controller of log i, which are not fitted."""
        return {name: float(self._bases[i][k]) for k, name in enumerate(core.PARAMETERS)}

    def substeps(self, i: int) -> int:
        """Steps of the simulation in one sample of log i."""
        return self._rollouts[i].substeps


def _known(known: Mapping[str, float] | None, servo: Servo) -> dict[str, float]:
    """Parameters that are given, with those of the servo.

    Raises:
      LogError: there is no such parameter, or it cannot have that value.
    """
    given = dict(known or {})
    for name in ("torque_constant", "resistance"):
        value = getattr(servo, name)
        if value is not None:
            given.setdefault(name, value)
    names = (*PARAMETERS, "stiffness", "damping")
    for name, value in given.items():
        if name not in names:
            near = difflib.get_close_matches(name, names, 1)
            meant = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(names)}"
            raise LogError(f"known {name}={value:g}: no such parameter{meant}")
        positive = name in ("torque_constant", "resistance", "armature", "stiffness")
        if not math.isfinite(value) or (value < 0 and name != "offset") or (value == 0 and positive):
            raise LogError(f"known {name}={value:g}: a number {'above 0' if positive else 'from 0 on'} is wanted")
    return given


def carried(log: Log) -> dict[str, float]:
    """Inertia and gravity torque of what hangs on the joint in a log.

    Raises:
      LogError: the facts do not say.
    """
    # a length beside an inertia places the mass in MJCF
    if "length" in log.facts and log.number("length") <= 0:
        raise LogError(f"{log.name}: length = {log.number('length'):g} m; it is above 0")
    if "inertia" in log.facts:
        carries = {"inertia": log.number("inertia"), "gravity": log.number("gravity") if "gravity" in log.facts else 0.0}
    else:
        mass, length = log.number("mass"), log.number("length")
        arm = log.number("arm_mass") if "arm_mass" in log.facts else 0.0
        carries = {"inertia": (mass + arm / 3) * length**2, "gravity": (mass + arm / 2) * GRAVITY * length}
    if not 0 < carries["inertia"] < math.inf or not 0 <= carries["gravity"] < math.inf:
        raise LogError(f"{log.name}: inertia {carries['inertia']:g} kg m2 and gravity torque {carries['gravity']:g} N m; "
                       "the first is above 0, the other not below; check mass, length, arm_mass, inertia, gravity")
    return carries


class Dynamometer(Bench):
    """A gear between its motor and a brake with a torque sensor: torque in, torque out and speed of every sample.

    What the gear delivers is compared where it moves; at rest friction may have any value up to its bound. The rotor's
    inertia and the offset of an angle do not enter.

    Args:
      logs: with output, velocity and torque, current or voltage.
      servo: motor; its drive is that of the input.
      input: "torque", "current" or "voltage"; None: the first that the logs have.
      known: parameters that are not fitted.
      threshold: speed from which a sample counts as moving, rad/s.

    Attributes:
      moving: of each log, which samples are compared.
    """

    def __init__(self, logs: Sequence[Log], servo: Servo, input: str | None = None,
                 known: Mapping[str, float] | None = None, threshold: float = 0.02):
        self.logs = logs
        self.servo = servo
        self.known = _known(known, servo)
        inputs = ("torque", "current", "voltage")
        self.input = input or next((k for k in inputs if all(k in log.data for log in logs)), "")
        if self.input not in inputs:
            raise LogError("a dynamometer's logs need torque, current or voltage of the motor; name the column")
        self.extra = {"torque": (), "current": ("torque_constant",),
                      "voltage": ("torque_constant", "resistance")}[self.input]
        self.moving: list[np.ndarray] = []
        for log in logs:
            if "output" not in log.data:
                raise LogError(f"{log.name}: no column for output, the torque that the gear delivers")
            moving = np.abs(log.data["velocity"]) > threshold
            if moving.sum() < 10:
                raise LogError(f"{log.name}: the joint hardly moves (fewer than 10 samples above {threshold:g} rad/s)")
            self.moving.append(moving)
        torque = max(float(np.max(np.abs(log.data["output"]))) for log in logs)
        if torque == 0:
            raise LogError("the output torque is 0 in all logs; a dynamometer's logs need a load")
        self.scale = {"torque": torque, "inertia": 1.0, "viscous": torque}
        self.noise = 0.02 * torque
        self.unit = "N m"

    def delivered(self, model: Model, values: Mapping[str, float], i: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Torque into the gear, delivered torque as predicted, and speed, of the moving samples of log i."""
        data, moving = self.logs[i].data, self.moving[i]
        v = data["velocity"][moving]
        u = data[self.input][moving]
        values = {**self.known, **values}
        if self.input == "current":
            u = values["torque_constant"] * u
        elif self.input == "voltage":
            k = values["torque_constant"]
            u = k / values["resistance"] * (u - k * v)
        p = self.vector(model, values, np.zeros(len(core.PARAMETERS)))
        return u, core.deliver(u, v, p), v

    def residuals(self, model: Model, values: Mapping[str, float], logs: Sequence[int]) -> list[np.ndarray]:
        blocks = []
        for i in logs:
            x = self.delivered(model, values, i)[1]
            r = np.where(np.isfinite(x), x, 1e3 * self.scale["torque"]) - self.logs[i].data["output"][self.moving[i]]
            blocks.append(r)
        return blocks

    def errors(self, model: Model, values: Mapping[str, float], logs: Sequence[int] | None = None) -> np.ndarray:
        logs = range(len(self.logs)) if logs is None else logs
        return np.array([np.mean(np.abs(r)) for r in self.residuals(model, values, list(logs))])
