"""Find the missing term of friction or torque that explains most of the residual of the chosen model.

Each suspect is a family of torques along the motion of a log: friction that changes with time, temperature, position, speed or load, a constant
torque, a torque over the angle. Its coefficients are linear. Least squares about the fit, with all parameters free, give the part of the residual
that a suspect explains on logs that were left out, and the parameters beside the suspect. The intervals reach these.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.stats import t as student

from mjgear.identify.bench import Bench, Dynamometer, Pendulum
from mjgear.identify.fit import Fit
from mjgear.identify.leastsquares import at

_MISFIT = 1.5  # least ratio of residual to sensor noise that shows a missing term
_WORTH = 0.2  # part of the squared held-out residual that a suspect explains at least
_LEVEL = 0.975  # probability of the test that it does so log after log, divided among the suspects
_PERIODS = 12  # a turn, up to which friction and torque over the angle are looked for
_LOADS = np.linspace(0, 1, 4)  # corners of a curve over the load
_SPEEDS = np.array([0, 0.04, 0.15, 0.4, 1])  # and over the speed, denser where Stribeck friction falls
_STEP = 1e-3  # of the torque of a term, relative to the usual torque
_REST = 0.02  # below this part of the usual speed the direction of friction is uncertain


@dataclass
class Suspect:
    """A term that the model lacks.

    Attributes:
      name: "time", "temperature", "position", "cogging", "direction", "speed" or "load".
      explains: part of the squared held-out residual that it takes away.
      is_sure: whether it does so log after log.
      text: what it would mean.
      values: parameters of the model with this term.
    """

    name: str
    explains: float
    is_sure: bool
    text: str
    values: dict[str, float]


@dataclass
class Misfit:
    """Return the distance of a model from the logs.

    Attributes:
      ratio: root mean square of the residual, over the sensors' noise.
      suspects: that explain something, the most likely first.
    """

    ratio: float
    suspects: list[Suspect] = field(default_factory=list)

    @property
    def is_found(self) -> bool:
        """Return whether the residual exceeds the sensors' noise."""
        return self.ratio > _MISFIT

    def ends(self) -> list[dict[str, float]]:
        """Return possible values: with each certain suspect, or with every suspect if none is certain."""
        if not self.is_found:
            return []
        return [s.values for s in self.suspects if s.is_sure] or [s.values for s in self.suspects]

    def notes(self) -> list[str]:
        """Return the remark about it."""
        if not self.is_found:
            return []
        misfit = f"the model does not explain the logs: its residual is {self.ratio:.2g} times the sensors' noise"
        sure = [s for s in self.suspects if s.is_sure]
        if not sure:
            return [
                f"{misfit}. Neither time, temperature, position, direction, speed nor load explains it; the intervals cover each of them"
            ]
        first, *others = sure
        beside = f" ({', '.join(f'{s.name} {100 * s.explains:.0f} %' for s in others)})" if others else ""
        return [
            f"{misfit}. {first.text}. That explains {100 * first.explains:.0f} % of the squared residual of logs that were left out{beside}; the "
            "intervals cover it"
        ]


def noise(x: np.ndarray) -> float:
    """Return the noise of a column from third differences of neighbouring samples, in which smooth motion vanishes."""
    if x.size < 8:
        return 0.0
    differences = np.abs(np.diff(x, 3))
    most = float(np.quantile(differences, 0.85)) / 1.44  # few jumps of a setpoint do not count
    return (most or float(np.sqrt(np.mean(differences**2)))) / math.sqrt(20)


def _hats(x: np.ndarray, corners: np.ndarray) -> list[np.ndarray]:
    """Piecewise linear curves over 0 to 1 that add up to 1."""
    return [np.interp(np.clip(x, 0, 1), corners, row) for row in np.eye(corners.size)]


@dataclass
class _Motion:
    """State of a log: angle, speed and load over their usual sizes, direction of friction, time of the campaign from -1 to 1."""

    q: np.ndarray | None
    v: np.ndarray
    load: np.ndarray
    time: np.ndarray
    temperature: np.ndarray | None
    sign: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.sign = np.tanh(self.v / _REST)


def _time(m: _Motion) -> list[np.ndarray]:
    return [m.sign * m.time, m.sign * m.time**2, m.v * m.time]


def _temperature(m: _Motion) -> list[np.ndarray]:
    return [m.sign * m.temperature, m.sign * m.temperature**2, m.v * m.temperature] if m.temperature is not None else []


def _wave(n: int, brakes: bool) -> Callable[[_Motion], list[np.ndarray]]:
    """Friction, or a torque, with so many periods a turn."""

    def terms(m: _Motion) -> list[np.ndarray]:
        return [(m.sign if brakes else 1.0) * f(n * m.q) for f in (np.cos, np.sin)] if m.q is not None else []

    return terms


def _direction(m: _Motion) -> list[np.ndarray]:
    return [np.ones_like(m.v)]


def _speed(m: _Motion) -> list[np.ndarray]:
    return [m.sign * hat for hat in _hats(np.abs(m.v), _SPEEDS)]


def _load(m: _Motion) -> list[np.ndarray]:
    driven = m.load * m.v < 0
    hats = _hats(np.abs(m.load), _LOADS)[1:]
    return [m.sign * hat * side for side in (driven, ~driven) for hat in hats]


#: name -> families of terms, of which the best one counts, and what they would mean
_SUSPECTS: dict[str, tuple[list[Callable[[_Motion], list[np.ndarray]]], str]] = {
    "time": (
        [_time],
        "Friction changes with time, by {change:+.2g} N m over these logs: --fit drift fits it; or warm up first",
    ),
    "temperature": ([_temperature], "Friction changes with the temperature, by {change:+.2g} N m over these logs"),
    "position": (
        [_wave(n, True) for n in range(1, _PERIODS + 1)],
        "Friction depends on the position, {periods} periods a turn: eccentricity",
    ),
    # a wave a turn is the load's own
    "cogging": (
        [_wave(n, False) for n in range(2, _PERIODS + 1)],
        "A torque depends on the position, {periods} periods a turn: cogging",
    ),
    "direction": (
        [_direction],
        "Friction depends on the direction, or a constant torque of {constant:.2g} N m is missing",
    ),
    "speed": ([_speed], "Friction depends on the speed in another way"),
    "load": ([_load], "Friction depends on the load in another way"),
}


def _motions(bench: Bench, fit: Fit) -> list[_Motion]:
    """The motion of each log, as the model predicts it or, of a dynamometer, as measured."""
    speed, torque = bench.scale["speed"], bench.scale["torque"]
    warm = [log.data["temperature"] for log in bench.logs if "temperature" in log.data]
    made, n = [], len(bench.logs)
    mean = float(np.mean(np.concatenate(warm))) if len(warm) == n else 0.0
    spread = float(np.std(np.concatenate(warm))) if len(warm) == n else 0.0
    for i, log in enumerate(bench.logs):
        size = next(iter(log.data.values())).size
        time = 2 * (i + np.arange(size) / size) / n - 1
        temperature = (log.data["temperature"] - mean) / (2 * spread) if spread > 0.2 else None
        if isinstance(bench, Pendulum):
            run = bench.simulate(fit.model, fit.values, i)
            c = bench.constants(i)
            load = bench.static(i, run["position"]) + c["inertia"] * np.gradient(run["velocity"], log.dt)
            made.append(_Motion(run["position"], run["velocity"] / speed, load / torque, time, temperature))
        else:
            assert isinstance(bench, Dynamometer)
            q = log.data.get("position")
            v, load = (bench.reduced(i, log.data[name]) for name in ("velocity", "output"))
            made.append(
                _Motion(
                    None if q is None else bench.reduced(i, q),
                    v / speed,
                    load / torque,
                    bench.reduced(i, time),
                    None if temperature is None else bench.reduced(i, temperature),
                )
            )
    return made


def _effect(bench: Bench, fit: Fit, i: int, term: np.ndarray, residual: np.ndarray) -> np.ndarray:
    """Change of the residual of log i with a torque of the usual size along `term` that brakes."""
    if isinstance(bench, Pendulum):
        step = _STEP * bench.scale["torque"]
        return np.asarray((bench.residual_with_load(fit.model, fit.values, i, step * term) - residual) / _STEP)
    return -bench.scale["torque"] * term


def _sensors(bench: Bench) -> float:
    """Return the root mean square of the noise in the compared signal, in the unit of the residual."""
    if isinstance(bench, Pendulum):
        return float(np.sqrt(np.mean([noise(log.data["position"]) ** 2 for log in bench.logs])))
    assert isinstance(bench, Dynamometer)
    unit = bench.known.get("torque_constant", 1.0) if bench.input == "current" else 1.0
    return float(
        np.sqrt(
            np.mean([noise(log.data["output"]) ** 2 + (unit * noise(log.data[bench.input])) ** 2 for log in bench.logs])
        )
    )


@dataclass
class _Equations:
    """Normal equations of each log: squares (n, p, p), products with the residual (n, p), squared residual (n)."""

    A: np.ndarray
    b: np.ndarray
    c: np.ndarray

    @classmethod
    def of(cls, columns: Sequence[np.ndarray], residuals: Sequence[np.ndarray]) -> _Equations:
        return cls(
            np.array([J.T @ J for J in columns]),
            np.array([J.T @ r for J, r in zip(columns, residuals)]),
            np.array([r @ r for r in residuals]),
        )

    def solve(self, keep: np.ndarray) -> np.ndarray:
        """Step of the unknowns that takes most of the residual of these logs away."""
        A, b = self.A[keep].sum(axis=0), self.b[keep].sum(axis=0)
        size = np.sqrt(np.maximum(np.diag(A), 1e-300))
        scaled = A / np.outer(size, size) + 1e-6 * np.eye(size.size)
        return np.asarray(-np.linalg.solve(scaled, b / size) / size)

    def left(self, i: int, x: np.ndarray) -> float:
        """Squared residual of log i after this step."""
        return float(max(self.c[i] + 2 * self.b[i] @ x + x @ self.A[i] @ x, 1e-12 * self.c[i]))

    def held_out(self) -> np.ndarray:
        """Squared residual of each log after the step of all others."""
        everything = np.arange(self.c.size)
        return np.array([self.left(i, self.solve(everything[everything != i])) for i in range(self.c.size)])


def look(bench: Bench, fit: Fit) -> Misfit:
    """Compare the residual with the sensors' noise, and try the suspects one by one."""
    logs = range(len(bench.logs))
    residuals = bench.residuals(fit.model, fit.values, logs)
    sensors = _sensors(bench)
    ratio = float(np.sqrt(np.mean(np.concatenate(residuals) ** 2)) / sensors) if sensors > 0 else np.inf
    if len(bench.logs) < 3 or ratio <= _MISFIT:
        return Misfit(ratio)
    space = bench.space(fit.model)
    here = np.array([fit.values[n] for n in space.names]) / space.size
    rows = np.cumsum([0, *(r.size for r in residuals)])
    jacobian = at(bench, fit.model, list(logs), here, space)[1]
    J = [jacobian[a:b] for a, b in zip(rows[:-1], rows[1:])]
    motions = _motions(bench, fit)
    before = _Equations.of(J, residuals).held_out()
    found = []
    for name, (families, text) in _SUSPECTS.items():
        tried = []
        for k, terms in enumerate(families):
            made = [[_effect(bench, fit, i, term, residuals[i]) for term in terms(motions[i])] for i in logs]
            if made[0]:
                equations = _Equations.of([np.column_stack([J[i], *made[i]]) for i in logs], residuals)
                tried.append((equations.held_out(), k, equations))
        if not tried:
            continue
        after, k, equations = min(tried, key=lambda t: float(t[0].sum()))
        gain = 0.5 * np.log(before / after)
        bound = student.ppf(1 - (1 - _LEVEL) / len(_SUSPECTS), gain.size - 1) * gain.std(ddof=1) / np.sqrt(gain.size)
        explains = 1 - after.sum() / before.sum()
        x = equations.solve(np.arange(len(bench.logs)))
        moved = np.clip(here + x[: here.size], space.low, space.high) * space.size
        c = bench.scale["torque"] * x[here.size :]
        found.append(
            Suspect(
                name,
                float(explains),
                bool(explains > _WORTH and gain.mean() > bound),
                text.format(change=2 * c[0], constant=abs(c[0]), periods=k + (1 if name == "position" else 2)),
                dict(zip(space.names, moved.tolist())),
            )
        )
    found.sort(key=lambda s: -s.explains)
    return Misfit(ratio, found)
