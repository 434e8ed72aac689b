"""Benches: residuals of a joint's logs for a set of parameters."""

from __future__ import annotations

import copy
import difflib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mjgear.identify import core
from mjgear.identify.logs import Log, LogError, read_torques
from mjgear.identify.models import PARAMETERS, PER_LOAD, Model, friction
from mjgear.identify.servo import Servo

GRAVITY = 9.80665  # m/s2

#: possible inputs of a simulation, in order of preference
INPUTS = ("torque", "current", "goal", "voltage")

_STEP = 1e-3  # s, largest step of the simulation
_START = 0.02  # s; a joint behind a stated shaft whose encoder shows one count at most in this time starts at rest
_SAMPLES = 4000  # most samples of all dynamometer logs together; of more, neighbours are averaged
_LOADED = 0.05  # least output torque over the motor's that shows how friction depends on load
_AGAINST = -0.5  # correlation of motor and output torque below which one has the wrong sign
_STEADY = 0.02  # largest scatter of torque and speed in such an average, relative to their largest and usual values

# torques and inertias of the core's array, and (below) numbers per torque: s times the
# motor torque moves a joint like 1/s of the inertia and friction
_TORQUES = [
    core.INDEX[n]
    for n in (
        "inertia",
        "gravity",
        "armature",
        "coulomb",
        "viscous",
        "motor_viscous",
        "stribeck_friction",
        "curved_friction",
        "stiffness",
        "damping",
    )
]
_PER_TORQUE = [core.INDEX[n] for n in ("gamma_u_quadratic", "gamma_v_quadratic")]


def _placed(numbers: Mapping[str, float]) -> tuple[list[int], list[float], float]:
    """Indices in the core's array, their sources, and the scale of the motor's torque."""
    placed = [(core.INDEX[name], value) for name, value in numbers.items() if name in core.INDEX]
    return [i for i, _ in placed], [x for _, x in placed], numbers.get("torque_scale", 1.0)


def _filled(base: np.ndarray, places: list[int], values: list[float], scale: float) -> np.ndarray:
    """A log's array with these numbers in it."""
    p = base.copy()
    p[places] = values
    if scale != 1.0:
        p[_TORQUES] /= scale
        p[_PER_TORQUE] *= scale
    return p


_DRIFTS = [core.INDEX[n] for n in ("coulomb", "viscous", "motor_viscous", "stribeck_friction", "curved_friction")]


def campaign(logs: Sequence[Log]) -> np.ndarray:
    """Begin and end of each log in the time of all of them, s, (n, 2): by their time stamps, or one after the other where these start anew."""
    lengths = np.array([log.n * log.dt for log in logs])
    begin = np.array([log.start for log in logs])
    if np.any(np.diff(begin) < lengths[:-1]):
        begin = np.cumsum(lengths) - lengths
    return np.asarray(np.stack([begin, begin + lengths], axis=1) - begin[0])


def _positive(x: float) -> float:
    """A scale, 1 where there is nothing to measure it by."""
    return float(x) if np.isfinite(x) and x > 0 else 1.0


def motion(logs: Sequence[Log]) -> tuple[float, float]:
    """Usual speed, rad/s, and time, s, of the motions in logs: the speed exceeded for a tenth of the fastest log, and the time in
    which the joint crosses its usual range at that speed. Speed comes from positions, over 50 ms,
    because columns of velocity may be noise or missing."""
    speed, square, range_ = 0.0, 0.0, 0.0
    for log in logs:
        q = log.data["position"]
        k = min(max(1, round(0.05 / log.dt)), q.size - 1)
        rate = np.abs(q[k:] - q[:-k]) / (k * log.dt)
        speed = max(speed, float(np.quantile(rate, 0.9)))
        square += float(np.mean(rate**2))
        range_ += float(np.var(q))
    return _positive(speed), _positive(math.sqrt(range_ / square)) if square > 0 else 1.0


def resolution(log: Log) -> float:
    """Resolution of the coarser one of a log's encoders, rad: its smallest change."""
    changes = [np.abs(np.diff(log.data[name])) for name in ("position", "rotor") if name in log.data]
    return max((float(np.min(c[c > 1e-12])) for c in changes if np.any(c > 1e-12)), default=1e-6)


def acceleration(log: Log) -> np.ndarray:
    """Rate of the measured velocity, rad/s2, in the mean over nine samples."""
    made: np.ndarray = np.convolve(np.gradient(log.data["velocity"], log.dt), np.ones(9) / 9, "same")
    return made


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

    def point(self, values: Mapping[str, float]) -> np.ndarray:
        """Return the optimizer's point of these values."""
        return np.asarray(np.array([values[name] for name in self.names]) / self.size)

    def values(self, z: np.ndarray) -> dict[str, float]:
        """Return the values at a point of the optimizer, SI."""
        return dict(zip(self.names, (z * self.size).tolist()))


class Bench:
    """Logs and the load of the joint; see Pendulum and Dynamometer.

    Attributes:
      logs: the logs.
      known: parameters that are not fitted -> value.
      extra: parameters of bench and motor that are fitted with every model.
      scale: usual values in these logs, SI: "torque", "speed", "time", "inertia", "torque_constant", "resistance". All
        parameters are scaled by these (models.PARAMETERS), so that results do not depend on units.
      noise: residual at which the loss changes from square to linear, in the unit of the residual.
      unit: of the residual.
      notes: remarks about the logs.
    """

    logs: Sequence[Log]
    known: dict[str, float]
    extra: tuple[str, ...]
    scale: dict[str, float]
    noise: float
    unit: str
    notes: list[str]

    def lacks(self, model: Model) -> str:
        """Return what a model depends on that this bench does not show; "" if nothing."""
        return ""

    def unit_of(self, name: str) -> float:
        """SI units in one unit of a parameter."""
        top, _, bottom = PARAMETERS[name].unit.partition("/")
        return self.scale.get(top, 1.0) / self.scale.get(bottom, 1.0)

    def space(self, model: Model) -> Space:
        """The free parameters of a model here."""
        names = tuple(n for n in dict.fromkeys((*self.extra, *model.parameters)) if n not in self.known)
        table = [PARAMETERS[n] for n in names]
        unit = np.array([self.unit_of(n) for n in names])
        step = np.array([p.step for p in table])

        def scaled(values: list[float]) -> np.ndarray:
            return np.asarray(np.array(values) / step)

        # gamma_u + gamma_v is not below 0, also where one of them is known
        other = {"gamma_u": "gamma_v", "gamma_v": "gamma_u"}
        low = [max(p.low, -self.known.get(other.get(p.name, ""), -p.low)) for p in table]
        return Space(
            names,
            unit * step,
            scaled(low),
            scaled([p.high for p in table]),
            np.array([scaled([p.start[0] for p in table]), scaled([p.start[1] for p in table])]),
        )

    def shapes(self, model: Model) -> dict[str, float]:
        """Numbers that shape a model's curves and are not fitted."""
        shapes = {}
        if "stribeck_friction" in model.parameters and model.law == "gear":
            shapes["stribeck_exponent"] = 2.0
        if "curved_friction" in model.parameters:
            shapes["curved_velocity"] = self.scale.get("speed", 1.0)
        return shapes

    def numbers(self, model: Model, values: Mapping[str, float]) -> dict[str, float]:
        """Fitted, known and shaping numbers under the core's names, numbers at the motor included."""
        given = {
            "stribeck_velocity": 1.0,
            "stribeck_exponent": 2.0,
            "curved_velocity": 1.0,
            "curved_exponent": 1.0,
            **self.shapes(model),
            **friction(model, {**self.known, **values}),
        }
        # a gap of 0 has no shaft, so that a gear without backlash has a gap of 0
        gap = given.get("half_gap", 0.0) > 0 and "half_gap" in model.parameters
        return {**given, **(self.shaft(values) if gap else {"stiffness": 0.0})}

    def vector(self, model: Model, values: Mapping[str, float], base: np.ndarray) -> np.ndarray:
        """The core's parameter array for fitted values, on top of a log's facts."""
        return _filled(base, *_placed(self.numbers(model, values)))

    def shaft(self, values: Mapping[str, float]) -> dict[str, float]:
        """Stiffness and damping behind a gap: known ones, else so stiff that the largest torque twists it by a milliradian."""
        given = {**self.known, **values}
        stiffness = given.get("stiffness") or self.scale["torque"] / 1e-3
        return {
            "stiffness": stiffness,
            "damping": given.get("damping") or 0.5 * math.sqrt(stiffness * given["armature"]),
        }

    def warmth(self, values: Mapping[str, float], i: int) -> np.ndarray | None:
        """Factor of friction without load at each sample of a log; None: it does not drift."""
        given = {**self.known, **values}
        if not (drift := given.get("drift", 0.0)):
            return None
        times = campaign(self.logs)
        end = math.exp(-times[-1, 1] / given["warm_up"])
        return np.asarray(1 + drift * (np.exp(-(times[i, 0] + self.logs[i].time) / given["warm_up"]) - end) / (1 - end))

    def pieces(self, length: float) -> Bench | None:
        """The same logs, simulated in pieces of this length (s) that begin at the measured state; None: no simulation."""
        return None

    def finer(self) -> Bench | None:
        """The same logs with half the step; None: no simulation."""
        return None

    def residuals(self, model: Model, values: Mapping[str, float], logs: Sequence[int]) -> list[np.ndarray]:
        """Prediction - measurement of each of these logs, thinned out where it is smooth."""
        return self.residuals_at(model, [values], logs)[0]

    def residuals_at(
        self, model: Model, points: Sequence[Mapping[str, float]], logs: Sequence[int]
    ) -> list[list[np.ndarray]]:
        """residuals() at several points."""
        raise NotImplementedError

    def errors(self, model: Model, values: Mapping[str, float], logs: Sequence[int] | None = None) -> np.ndarray:
        """Mean absolute error of each of these logs, of every sample."""
        raise NotImplementedError


class Pendulum(Bench):
    """A weight on an arm, or a bare inertia, in front of a servo; simulated by the core from the first sample on.

    The facts of a log give ``mass`` (kg), ``length`` (m) and ``arm_mass`` (kg, of a slender arm), or ``inertia``
    (kg m2) and ``gravity`` (N m, torque at 90 degrees); ``torques`` names a table of known torques (logs.read_torques).

    Args:
      logs: the logs.
      servo: motor and controller.
      input: "goal", "torque", "current" or "voltage", the input of the simulation; None: the first of INPUTS that the
        logs have and the servo can use.
      known: parameters that are not fitted.
      fit: further fitted parameters: "delay", "slew", "torque_scale", "drift".
      reset: time between returns to the measured state, s; 0: never.
      step: largest step of the simulation, s.
    """

    def __init__(
        self,
        logs: Sequence[Log],
        servo: Servo,
        input: str | None = None,
        *,
        known: Mapping[str, float] | None = None,
        fit: Sequence[str] = (),
        reset: float = 0.0,
        step: float = _STEP,
    ):
        self.logs = logs
        self.servo = servo
        self.input = input or self._choose_input()
        self.drive = servo.drive if self.input == "goal" else self.input
        self.known = _known(known, servo)
        electric = {"torque": (), "current": ("torque_constant",), "voltage": ("torque_constant", "resistance")}
        if self.drive == "current" and any("vin" in log.facts or servo.supply > 0 for log in logs):
            electric["current"] = ("torque_constant", "resistance")
        self.extra = (*electric[self.drive], "armature", "offset", *_with_warm_up(fit))
        self.notes = []
        self.noise = 0.02
        self.unit = "rad"
        self._fit, self._step = tuple(fit), step
        self.reset = reset
        self._rollouts: list[core.Rollout] = []
        self._bases: list[np.ndarray] = []
        for log in logs:
            self._add(log)
        self._thin = [max(1, round(0.02 / log.dt)) for log in logs]
        inertia = max(b[core.INDEX["inertia"]] for b in self._bases)
        speed, time = motion(logs)
        torque = _positive(max(b[core.INDEX["gravity"]] for b in self._bases) or inertia * speed / time)
        self.scale = {
            "torque": torque,
            "inertia": inertia,
            "speed": speed,
            "time": time,
            "campaign": campaign(logs)[-1, 1],
            **self._electric(torque, speed),
        }

    def _electric(self, torque: float, speed: float) -> dict[str, float]:
        """Scales of the motor: its input, current or voltage, and its effect."""
        most = 0.0
        for log, b in zip(self.logs, self._bases):
            x = log.data[self.input]
            if self.input == "goal":
                x = b[core.INDEX["gain"]] * (x - log.data["position"])
            limit = b[core.INDEX["limit"]]
            most = max(most, min(float(np.max(np.abs(x))), limit if limit > 0 else np.inf))
        most = _positive(most)
        if self.drive == "voltage":
            return {"torque_constant": most / speed, "resistance": most**2 / (torque * speed)}
        supply = max(b[core.INDEX["supply"]] for b in self._bases)
        return {"torque_constant": torque / most, "resistance": _positive(supply / most)}

    def pieces(self, length: float) -> Pendulum:
        made = self._again(self.logs, length, self._step)
        made.noise *= min(1.0, length)
        return made

    def beginning(self, part: float) -> Pendulum:
        """The first part (0 to 1) of each log."""
        logs = [
            replace(log, data={k: x[: max(2, round(part * log.n))] for k, x in log.data.items()}) for log in self.logs
        ]
        return self._again(logs, self.reset, self._step)

    def finer(self) -> Pendulum:
        return self._again(self.logs, self.reset, min(self._step, max(log.dt for log in self.logs)) / 2)

    def _again(self, logs: Sequence[Log], reset: float, step: float) -> Pendulum:
        """This bench with other logs, resets or steps, and the same scales."""
        made = type(self)(logs, self.servo, self.input, known=self.known, fit=self._fit, reset=reset, step=step)
        made.noise, made.scale, made.extra = self.noise, dict(self.scale), self.extra
        return made

    def _choose_input(self) -> str:
        for input in INPUTS:
            usable = self.servo.error_gain > 0 if input == "goal" else True
            if usable and all(input in log.data for log in self.logs):
                return input
        raise LogError(
            "the logs have no torque, current, voltage (or duty and supply) or, with a servo whose controller is known, "
            "goal in common; name the columns, or give a servo"
        )

    def _add(self, log: Log) -> None:
        if self.input not in log.data:
            raise LogError(f"{log.name}: no column for {self.input}")
        base = np.zeros(len(core.PARAMETERS))
        for name, value in {**carried(log), **self.servo.constants(log, self.input == "goal")}.items():
            base[core.INDEX[name]] = value
        if self.drive == "torque" and self.input != "goal":
            base[core.INDEX["limit"]] = 0
        self._bases.append(base)
        self._rollouts.append(self._rollout(log))

    def _rollout(self, log: Log, load: np.ndarray | None = None) -> core.Rollout:
        # at rest, derivatives of counts and noise are no speed: behind a stated shaft they would open its gap
        velocity = log.data["velocity"]
        if "stiffness" in self.known and np.ptp(
            log.data["position"][: 1 + math.ceil(_START / log.dt)]
        ) < 1.5 * resolution(log):
            velocity = np.append(0.0, velocity[1:])
        return core.Rollout(
            log.dt,
            log.data[self.input],
            log.data["position"],
            velocity,
            drive=self.drive,
            loop=self.input == "goal",
            enable=log.data.get("enable"),
            load=load,
            along=read_torques(str(log.facts["torques"])) if "torques" in log.facts else None,
            substeps=max(1, math.ceil(log.dt / self._step - 1e-9)),
            reset=round(self.reset / log.dt),
        )

    def simulate(self, model: Model, values: Mapping[str, float], i: int) -> dict[str, np.ndarray]:
        """Position, velocity, torque and rotor of log i, as predicted."""
        rollout = self._warm(self._rollouts[i], values, i)
        rollout.law = model.law
        scale = {**self.known, **values}.get("torque_scale", 1.0)
        made = rollout.simulate_all(self.vector(model, values, self._bases[i]))
        return {**made, "torque": scale * made["torque"]}

    def _positions(
        self, model: Model, points: Sequence[Mapping[str, float]], logs: Sequence[int]
    ) -> Iterator[tuple[int, np.ndarray]]:
        """Each log and its predicted positions at each point (points, n), which the next log overwrites."""
        placed = [_placed(self.numbers(model, values)) for values in points]
        drifts = any({**self.known, **values}.get("drift") for values in points)
        for i in logs:
            rollout = self._rollouts[i]
            rollout.law = model.law
            p = np.stack([_filled(self._bases[i], *one) for one in placed])
            if drifts:
                q = np.concatenate(
                    [self._warm(rollout, values, i).simulate(x[None]).copy() for values, x in zip(points, p)]
                )
            else:
                rollout.warm(None)
                q = rollout.simulate(p)
            if not (np.abs(q[:, -1]).max() < 1e3 and np.abs(q).max() < 1e3):
                q = np.where(np.isfinite(q), np.clip(q, -1e3, 1e3), 1e3)
            yield i, q

    def _warm(self, rollout: core.Rollout, values: Mapping[str, float], i: int) -> core.Rollout:
        """A rollout of log i with friction that drifts as these values say."""
        rollout.warm(self.warmth(values, i))
        return rollout

    def residuals_at(
        self, model: Model, points: Sequence[Mapping[str, float]], logs: Sequence[int]
    ) -> list[list[np.ndarray]]:
        made = [
            q[:, :: self._thin[i]] - self._rollouts[i].position[:: self._thin[i]]
            for i, q in self._positions(model, points, logs)
        ]
        return [[r[k] for r in made] for k in range(len(points))]

    def residual_with_load(self, model: Model, values: Mapping[str, float], i: int, load: np.ndarray) -> np.ndarray:
        """Residual of log i with a further torque against the joint, N m, (n)."""
        rollout = self._warm(self._rollout(self.logs[i], load), values, i)
        rollout.law = model.law
        q = rollout.simulate(self.vector(model, values, self._bases[i])[None])[0]
        return np.asarray(np.where(np.isfinite(q), q, 1e3)[:: self._thin[i]] - rollout.position[:: self._thin[i]])

    def errors(self, model: Model, values: Mapping[str, float], logs: Sequence[int] | None = None) -> np.ndarray:
        logs = range(len(self.logs)) if logs is None else logs
        return np.array(
            [np.mean(np.abs(q - self._rollouts[i].position)) for i, q in self._positions(model, [values], logs)]
        )

    def static(self, i: int, q: np.ndarray) -> np.ndarray:
        """Torque against the joint at angles in log i: gravity, less known torques."""
        return np.asarray(self._bases[i][core.INDEX["gravity"]] * np.sin(q) - self.logs[i].along(q))

    def constants(self, i: int) -> dict[str, float]:
        """Parameters of bench and controller of log i, which are not fitted."""
        return {name: float(self._bases[i][k]) for k, name in enumerate(core.PARAMETERS)}

    def substeps(self, i: int) -> int:
        """Steps of the simulation in one sample of log i."""
        return self._rollouts[i].substeps


def _with_warm_up(fit: Sequence[str]) -> tuple[str, ...]:
    """Parameters that are fitted besides: the drift has its time constant."""
    return (*fit, "warm_up") if "drift" in fit else tuple(fit)


def _known(known: Mapping[str, float] | None, servo: Servo) -> dict[str, float]:
    """Given parameters, including the servo's.

    Raises: LogError: unknown parameter, or a value that it cannot have.
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
        least = PARAMETERS[name].low if name in ("offset", "gamma_u", "gamma_v") else 0.0
        if not math.isfinite(value) or value < least or (value == 0 and positive):
            raise LogError(
                f"known {name}={value:g}: a number {'above 0' if positive else f'from {least:g} on'} is wanted"
            )
    if given.get("gamma_u", 0.0) + given.get("gamma_v", 1.0) < 0:
        raise LogError(
            f"known gamma_u={given['gamma_u']:g}, gamma_v={given['gamma_v']:g}: their sum is below 0, which means the gear with both signs "
            "changed; change them"
        )
    return given


def carried(log: Log) -> dict[str, float]:
    """Inertia and gravity torque of the load on the joint in a log.

    Raises:
      LogError: the facts do not say.
    """
    # a length beside an inertia places the mass in MJCF
    if "length" in log.facts and log.number("length") <= 0:
        raise LogError(f"{log.name}: length = {log.number('length'):g} m; it is above 0")
    if "inertia" in log.facts:
        carries = {
            "inertia": log.number("inertia"),
            "gravity": log.number("gravity") if "gravity" in log.facts else 0.0,
        }
    else:
        mass, length = log.number("mass"), log.number("length")
        arm = log.number("arm_mass") if "arm_mass" in log.facts else 0.0
        carries = {"inertia": (mass + arm / 3) * length**2, "gravity": (mass + arm / 2) * GRAVITY * length}
    if not 0 < carries["inertia"] < math.inf or not 0 <= carries["gravity"] < math.inf:
        raise LogError(
            f"{log.name}: inertia {carries['inertia']:g} kg m2 and gravity torque {carries['gravity']:g} N m; "
            "the first is above 0, the other not below; check mass, length, arm_mass, inertia, gravity"
        )
    return carries


class Dynamometer(Bench):
    """A gear between its motor and a brake with a torque sensor: torque in, torque out and speed of every sample.

    The delivered torque is compared where the joint moves; at rest friction may have any value up to its bound. The rotor's
    inertia and the offset of an angle do not enter. Above 4 000 samples, neighbours are averaged where torque and speed are steady; elsewhere the
    middle one of them is kept.

    Args:
      logs: with output, velocity and torque, current or voltage.
      servo: the motor; its drive follows from the input.
      input: "torque", "current" or "voltage"; None: the first that the logs have.
      known: parameters that are not fitted.
      fit: "torque_scale" and "drift", if they are fitted with every model.
      threshold: samples above this speed count as moving, rad/s; None: a hundredth of the usual speed of the logs.

    Attributes:
      logs: the logs in which the joint moves.
      moving: mask of the compared samples of each log.
      threshold: speed above which they count as moving, rad/s.
    """

    def __init__(
        self,
        logs: Sequence[Log],
        servo: Servo,
        input: str | None = None,
        *,
        known: Mapping[str, float] | None = None,
        fit: Sequence[str] = (),
        threshold: float | None = None,
    ):
        self.servo = servo
        self.notes = []
        self.known = _known(known, servo)
        inputs = ("torque", "current", "voltage")
        self.input = input or next((k for k in inputs if all(k in log.data for log in logs)), "")
        if self.input not in inputs:
            raise LogError("a dynamometer's logs need torque, current or voltage of the motor; name the column")
        self.extra = (
            *{"torque": (), "current": ("torque_constant",), "voltage": ("torque_constant", "resistance")}[self.input],
            *_with_warm_up(fit),
        )
        speed = _positive(max((float(np.quantile(np.abs(log.data["velocity"]), 0.9)) for log in logs), default=0.0))
        if threshold is None:
            threshold = 0.01 * speed
        moves = []
        self.threshold = threshold
        self.moving: list[np.ndarray] = []
        for log in logs:
            if "output" not in log.data:
                raise LogError(f"{log.name}: no column for output, the torque that the gear delivers")
            moving = np.abs(log.data["velocity"]) > threshold
            if moving.sum() < 10:
                self.notes.append(
                    f"{log.name}: left out, the joint is at rest (fewer than 10 samples above {threshold:.3g} rad/s)"
                )
                continue
            moves.append(log)
            self.moving.append(moving)
        if not all(log.unit_known for log in logs):
            self.notes.append(
                "speed is taken as rad/s, which no position beside it shows: name the unit of its column, --column velocity=NAME:rad/s or :rpm"
            )
        self._take: list[np.ndarray] = []
        self._first: list[np.ndarray] = []
        if not moves:
            raise LogError(
                f"the joint is at rest in all logs (fewer than 10 samples above {threshold:.3g} rad/s in each); a "
                "dynamometer's logs need motion"
            )
        self.logs = moves
        most = max(float(np.max(np.abs(log.data[self.input]))) for log in moves)
        if most == 0:
            raise LogError(f"the motor's {self.input} is 0 in all logs; check its column")
        torque = self._usual_torque(most)
        electric = (
            {"torque_constant": most / speed, "resistance": most**2 / (torque * speed)}
            if self.input == "voltage"
            else {"torque_constant": torque / most}
        )
        self.scale = {
            "torque": torque,
            "inertia": 1.0,
            "speed": speed,
            "time": 1.0,
            "campaign": campaign(moves)[-1, 1],
            **electric,
        }
        self.noise = 0.02 * torque
        self.unit = "N m"
        count = math.ceil(sum(int(moving.sum()) for moving in self.moving) / _SAMPLES)
        for log, moving in zip(moves, self.moving):
            take, first = _averages(moving, [log.data[self.input] / most, log.data["velocity"] / speed], count)
            self._take.append(take)
            self._first.append(first)
        self._place()

    def _place(self) -> None:
        """Find the places of each log among the compared samples of all."""
        ends = np.cumsum([0, *(first.size for first in self._first)]).tolist()
        self._places = [slice(a, b) for a, b in zip(ends, ends[1:])]
        self._columns: dict[str, np.ndarray] = {}

    def lacks(self, model: Model) -> str:
        return next(
            (f"{n}, which shows in a simulation alone" for n in ("delay", "half_gap") if n in model.parameters), ""
        )

    def _usual_torque(self, most: float) -> float:
        """Largest output torque, N m. most: largest input."""
        torque = max(float(np.max(np.abs(log.data["output"]))) for log in self.logs)
        if torque == 0:
            raise LogError(
                "the output torque is 0 in all logs; a dynamometer's logs need a load. Logs without one: --bench friction"
            )
        along = sum(float(np.dot(log.data[self.input], log.data["output"])) for log in self.logs)
        size = math.prod(
            math.sqrt(sum(float(np.sum(log.data[n] ** 2)) for log in self.logs)) for n in (self.input, "output")
        )
        if along < _AGAINST * size and self.input != "voltage":
            raise LogError(
                f"output is against the motor's {self.input} in all of the logs; both are positive along the position: --column output=NAME:-1 changes its sign"
            )
        if torque < _LOADED * most and self.input == "torque":
            self.notes.append(
                f"the output torque is at most {torque / most:.2g} of the motor's: a gear's dependence on load does not show; check the "
                "units of both; logs without a load: --bench friction"
            )
        return torque

    def earlier(self, name: str, samples: int) -> Dynamometer:
        """The same samples, with a column that is late by this many samples put right."""
        made = copy.copy(self)
        made._columns = {}
        made.logs = [
            replace(log, data={**log.data, name: log.data[name][np.clip(np.arange(log.n) + samples, 0, log.n - 1)]})
            if name in log.data
            else log
            for log in self.logs
        ]
        return made

    def without(self, masks: Sequence[np.ndarray]) -> Dynamometer | None:
        """The same logs without the samples of each log's mask; None if fewer than 10 of a log are left."""
        made = copy.copy(self)
        made._take, made._first = [], []
        for i, (mask, take, first) in enumerate(zip(masks, self._take, self._first)):
            keep, size = self.reduced(i, mask) == 0, np.diff(np.append(first, take.size))
            if np.count_nonzero(keep) < 10:
                return None
            made._take.append(take[np.repeat(keep, size)])
            made._first.append(np.cumsum(size[keep]) - size[keep])
        made._place()
        return made

    def reduced(self, i: int, x: np.ndarray) -> np.ndarray:
        """A column of log i at the samples that are compared: means over steady stretches."""
        first = self._first[i]
        size = np.diff(np.append(first, self._take[i].size))
        return np.asarray(np.add.reduceat(x[self._take[i]], first) / size)

    def _column(self, name: str) -> np.ndarray:
        """A column at the samples of all logs that are compared."""
        if name not in self._columns:
            self._columns[name] = np.concatenate([self.reduced(i, log.data[name]) for i, log in enumerate(self.logs)])
        return self._columns[name]

    def _delivered(self, model: Model, values: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
        """Torque into the gear, and delivered torque as predicted, of all compared samples."""
        u, v = self._column(self.input), self._column("velocity")
        values = {**self.known, **values}
        if self.input == "current":
            u = values["torque_constant"] * u
        elif self.input == "voltage":
            k = values["torque_constant"]
            u = k / values["resistance"] * (u - k * v)
        u = values.get("torque_scale", 1.0) * u
        p = self.vector(model, {**values, "torque_scale": 1.0}, np.zeros(len(core.PARAMETERS)))
        if not values.get("drift"):
            return u, core.deliver(u, v, p)
        delivered = []
        for i, place in enumerate(self._places):  # friction as warm as in the middle of a log
            own, warmth = p.copy(), self.warmth(values, i)
            own[_DRIFTS] *= 1.0 if warmth is None else np.mean(warmth)
            delivered.append(core.deliver(u[place], v[place], own))
        return u, np.concatenate(delivered)

    def delivered(self, model: Model, values: Mapping[str, float], i: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Torque into the gear, delivered torque as predicted, and speed, of the moving samples of log i."""
        u, x = self._delivered(model, values)
        return u[self._places[i]], x[self._places[i]], self._column("velocity")[self._places[i]]

    def residuals_at(
        self, model: Model, points: Sequence[Mapping[str, float]], logs: Sequence[int]
    ) -> list[list[np.ndarray]]:
        made = []
        for values in points:
            x = self._delivered(model, values)[1]
            residual = np.where(np.isfinite(x), x, 1e3 * self.scale["torque"]) - self._column("output")
            made.append([residual[self._places[i]] for i in logs])
        return made

    def errors(self, model: Model, values: Mapping[str, float], logs: Sequence[int] | None = None) -> np.ndarray:
        logs = range(len(self.logs)) if logs is None else logs
        return np.array([np.mean(np.abs(r)) for r in self.residuals(model, values, logs)])


class FreeRun(Dynamometer):
    """A motor and its gear without a load: torque, or current, and speed. The motor's torque is friction where the speed is steady.

    Arguments and attributes as in Dynamometer. A dependence on load cannot be told.
    """

    def __init__(self, logs: Sequence[Log], *rest: Any, **options: Any):
        still = [
            replace(
                log,
                data={**log.data, "output": np.zeros_like(log.data["velocity"])},
                noise={**log.noise, "output": 0.0},
            )
            for log in logs
        ]
        super().__init__(still, *rest, **options)
        self.notes.append("how friction depends on load is unknown: these logs have no load")

    def lacks(self, model: Model) -> str:
        return super().lacks(model) or (
            "" if not PER_LOAD & set(model.parameters) else "load, which these logs do not have"
        )

    def _usual_torque(self, most: float) -> float:
        if self.input == "torque":
            return most
        if self.input == "voltage" or "torque_constant" not in self.known:
            raise LogError(
                "logs without a load need a torque, or a current and --known torque_constant=VALUE, which they do not tell"
            )
        return most * self.known["torque_constant"]


def _averages(moving: np.ndarray, columns: Sequence[np.ndarray], count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the averaged samples and the first sample of each average. Up to `count` neighbours are averaged while all columns
    are steady; otherwise the middle one is taken."""
    take: list[np.ndarray] = []
    places = np.flatnonzero(moving)
    for run in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1):
        for block in np.split(run, range(count, run.size, count)):
            steady = all(float(np.std(x[block])) <= _STEADY for x in columns)
            take.append(block if steady else block[block.size // 2 : block.size // 2 + 1])
    return np.concatenate(take), np.cumsum([0, *(block.size for block in take[:-1])])
