"""Find the missing term of friction or torque that explains most of the residual of the chosen model.

Each suspect is a family of torques along the motion of a log: friction that changes with time, temperature, position, speed or load, a constant
torque, a torque over the angle. Its coefficients are linear. Least squares about the fit, with all parameters free, give the part of the residual
that a suspect explains on logs that were left out, and the parameters beside the suspect. Each log counts by its own residual, so that one log that
swings over does not decide.

What remains is an error of the law, which is the same in every log and may point anywhere. It moves a number at most as far as the residual moves
it if all of the residual points in the number's own direction: |r| sqrt(C_jj), C the inverse of the normal equations. The intervals reach that far.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from mjgear.identify.bench import Bench, Dynamometer, Pendulum, Space
from mjgear.identify.fit import Fit
from mjgear.identify.heldout import is_positive
from mjgear.identify.intervals import gradients
from mjgear.identify.leastsquares import at, minimize

_MISFIT = 1.5  # least ratio of residual to noise that shows a missing term
_WORTH = 0.2  # part of the squared held-out residual that a suspect explains at least
_EXPLAINED = 0.8  # and one with a coefficient of each log's own
_LEVEL = 0.975  # probability of the test that it does so log after log, divided among the suspects
_PERIODS = 48  # a turn, up to which friction and torque over the angle are looked for
_LOADS = np.linspace(0, 1, 4)  # corners of a curve over the load
_SPEEDS = np.array([0, 0.04, 0.15, 0.4, 1])  # and over the speed, denser where Stribeck friction falls
_FALLS = (0.03, 0.06, 0.12, 0.25, 0.5)  # speeds at which Stribeck friction has fallen
_STEP = 1e-3  # of the torque of a term, relative to the usual torque
_FIRST = 3  # waves over the angle that are tried beside all others
_SHIFTS = tuple(k * n for n in (1, 2, 3, 4, 6, 8, 12, 16) for k in (-1, 1))  # samples by which a channel may be late
_ANGLES = (0.003, 0.01, 0.03, 0.1, 0.3)  # rad after a reversal, over which friction may build up
_ODD = 0.1  # a log differs if the residual without it is less than this part of that without another one
_ITERATIONS = 20  # of a fit without the samples at a limit
_HELD = 20  # samples at one extreme value that may be a limit
_REST = 0.02  # below this part of the usual speed the direction of friction is uncertain


@dataclass
class Suspect:
    """A term that the model lacks.

    Attributes:
      name: of _SUSPECTS or _EACH, "log" or "limit": "time", "temperature", "position", "cogging", "direction", ...
      explains: part of the squared held-out residual that it takes away.
      is_sure: whether it does so log after log.
      text: what it would mean.
      values: parameters of the model with this term.
      reach: further values, as far as the error that is left may move each number.
    """

    name: str
    explains: float
    is_sure: bool
    text: str
    values: dict[str, float]
    reach: list[dict[str, float]]


@dataclass
class Misfit:
    """Return the distance of a model from the logs.

    Attributes:
      ratio: root mean square of the residual, over the sensors' noise and what half the step changes.
      suspects: that explain something, the most likely first.
      reach: values as far as the error may move each number, without any of them.
    """

    ratio: float
    suspects: list[Suspect] = field(default_factory=list)
    reach: list[dict[str, float]] = field(default_factory=list)

    @property
    def is_found(self) -> bool:
        """Return whether the residual exceeds this noise."""
        return self.ratio > _MISFIT

    def ends(self) -> list[dict[str, float]]:
        """Return possible values: with the first certain suspect and what is left beside it, or with every suspect and all of the error."""
        if not self.is_found:
            return []
        sure = [s for s in self.suspects if s.is_sure]
        return [s.values for s in sure or self.suspects] + (sure[0].reach if sure else self.reach)

    def notes(self) -> list[str]:
        """Return the remark about it."""
        if not self.is_found:
            return []
        misfit = f"the model does not explain the logs: its residual is {self.ratio:.2g} times the noise of sensors and simulation"
        sure = [s for s in self.suspects if s.is_sure]
        if not sure:
            nearest = ""
            if self.suspects and (best := self.suspects[0]).explains > _WORTH:
                nearest = f" (the nearest: {best.text}, {100 * best.explains:.0f} % in the mean over logs; more logs would decide)"
            return [
                f"{misfit}. Neither time, temperature, heat, position, direction, speed, load, reversals, a limit, a late channel, "
                f"a single log nor the motor's viscous friction explains it log after log{nearest}. The intervals cover each of them, and an error of the law as large as the residual; those 'of this law' say what predicts "
                "these logs"
            ]
        first, *others = sure
        beside = f" ({', '.join(f'{s.name} {100 * s.explains:.0f} %' for s in others)})" if others else ""
        return [
            f"{misfit}. {first.text}. That explains {100 * first.explains:.0f} % of the squared residual{beside}; the "
            "intervals cover it and what it leaves"
        ]


def _hats(x: np.ndarray, corners: np.ndarray) -> list[np.ndarray]:
    """Piecewise linear curves over 0 to 1 that add up to 1."""
    return [np.interp(np.clip(x, 0, 1), corners, row) for row in np.eye(corners.size)]


@dataclass
class _Motion:
    """State of a log: angle, speed and load over their usual sizes, direction of friction, time of the campaign from -1 to 1, heat
    of the motor since the log began, up to 1, and angle since the last reversal."""

    q: np.ndarray | None
    v: np.ndarray
    load: np.ndarray
    time: np.ndarray
    heat: np.ndarray
    temperature: np.ndarray | None
    since: np.ndarray
    sign: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.sign = np.tanh(self.v / _REST)


def _time(m: _Motion) -> list[np.ndarray]:
    return [m.sign * m.time, m.sign * m.time**2, m.v * m.time]


def _temperature(m: _Motion) -> list[np.ndarray]:
    return [m.sign * m.temperature, m.sign * m.temperature**2, m.v * m.temperature] if m.temperature is not None else []


def _heat(m: _Motion) -> list[np.ndarray]:
    return [m.sign * m.heat, m.v * m.heat]


def _wave(n: int, brakes: bool) -> Callable[[_Motion], list[np.ndarray]]:
    """Friction, or a torque, with so many periods a turn."""

    def terms(m: _Motion) -> list[np.ndarray]:
        return [(m.sign if brakes else 1.0) * f(n * m.q) for f in (np.cos, np.sin)] if m.q is not None else []

    return terms


def _direction(m: _Motion) -> list[np.ndarray]:
    return [np.ones_like(m.v)]


def _direction_and_speed(m: _Motion) -> list[np.ndarray]:
    return [np.ones_like(m.v), np.abs(m.v)]


def _reversal(angle: float) -> Callable[[_Motion], list[np.ndarray]]:
    """Friction that builds up over this angle after a reversal."""
    return lambda m: [m.sign * np.exp(-m.since / angle)]


def _speed(m: _Motion) -> list[np.ndarray]:
    return [m.sign * hat for hat in _hats(np.abs(m.v), _SPEEDS)[:-1]]


def _stribeck(speed: float, exponent: float) -> Callable[[_Motion], list[np.ndarray]]:
    """Friction that falls from rest to none beyond this part of the usual speed."""
    return lambda m: [m.sign * np.exp(-((np.abs(m.v) / speed) ** exponent))]


def _load(m: _Motion) -> list[np.ndarray]:
    hats = _hats(np.abs(m.load), _LOADS)[1:]
    return [m.sign * hat * side for side in _sides(m) for hat in hats]


def _load_squared(m: _Motion) -> list[np.ndarray]:
    return [m.sign * m.load**2 * side for side in _sides(m)]


def _load_by_direction(m: _Motion) -> list[np.ndarray]:
    return [np.abs(m.load) * side for side in _sides(m)]


def _sides(m: _Motion) -> tuple[np.ndarray, np.ndarray]:
    """Where the load drives, and where it brakes."""
    driven = m.load * m.v < 0
    return driven, ~driven


#: terms along the motion of a log, a parameter of the core that the model lacks, or a channel and the samples by which it is late
Family = Callable[[_Motion], list[np.ndarray]] | str | tuple[str, int]

#: name -> families of terms, of which the best one counts, and what they would mean
_SUSPECTS: dict[str, tuple[list[Family], str]] = {
    "time": (
        [_time],
        "Friction changes with time, by {change:+.2g} N m over these logs: --fit drift fits it; or warm up first",
    ),
    "temperature": ([_temperature], "Friction changes with the temperature, by {change:+.2g} N m over these logs"),
    "heat": (
        [_heat],
        "Friction changes with the motor's heat since a log began, by {constant:.2g} N m: warm up first, or log the temperature",
    ),
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
        [_direction, _direction_and_speed],
        "Friction depends on the direction, or a constant torque of {constant:.2g} N m is missing",
    ),
    "reversal": (
        [_reversal(angle) for angle in _ANGLES],
        "Friction builds up over {angle} rad after a reversal: an elastic gear or bearing",
    ),
    "speed": (
        [_speed, *(_stribeck(v, n) for v in _FALLS for n in (1, 2))],
        "Friction depends on the speed in another way",
    ),
    "load": ([_load, _load_squared], "Friction depends on the load in another way"),
    "load by direction": ([_load_by_direction], "Friction that depends on the load differs between the directions"),
    "late": (
        ["delay", *((name, n) for name in ("output", "velocity", "torque", "current") for n in _SHIFTS)],
        "{late}",
    ),
    "motor": (["motor_viscous"], "The motor has viscous friction in front of the teeth: a rung, gamma_motor, fits it"),
}
#: name -> a term with a coefficient of each log's own, and what it would mean
_EACH: dict[str, tuple[Family, str]] = {
    "friction by log": (
        lambda m: [m.sign, m.v],
        "Friction differs from log to log, by {:.2g} N m: warm up first, or log the temperature",
    ),
    "torque by log": (
        _direction,
        "A constant torque differs from log to log, by {:.2g} N m: zero the sensors before each",
    ),
}
_WAVES = ("position", "cogging")  # suspects of which two may come together


def _since_reversal(v: np.ndarray, dt: float) -> np.ndarray:
    """Angle since the last reversal, rad; infinite before the first one."""
    travel, sign, steps = dt * np.cumsum(np.abs(v)), np.sign(v), np.arange(v.size)
    sign = sign[np.maximum.accumulate(np.where(sign, steps, 0))]  # rest is no reversal
    last = np.maximum.accumulate(np.where(np.diff(sign, prepend=sign[:1]), steps, -1))
    return np.asarray(np.where(last < 0, np.inf, travel - travel[last]))


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
        reduced: Callable[[np.ndarray], np.ndarray] = np.asarray
        q: np.ndarray | None
        if isinstance(bench, Pendulum):
            run = bench.simulate(fit.model, fit.values, i)
            q, v, motor = run["position"], run["velocity"], run["torque"]
            load = bench.static(i, q) + bench.constants(i)["inertia"] * np.gradient(v, log.dt)
        else:
            assert isinstance(bench, Dynamometer)
            reduced = functools.partial(bench.reduced, i)
            q, motor = log.data.get("position"), log.data[bench.input]
            v, load = log.data["velocity"], log.data["output"]
        heat = log.dt * np.cumsum(motor**2)
        made.append(
            _Motion(
                None if q is None else reduced(q),
                reduced(v) / speed,
                reduced(load) / torque,
                reduced(time),
                reduced(heat),
                None if temperature is None else reduced(temperature),
                reduced(_since_reversal(v, log.dt)),
            )
        )
    most = max(float(m.heat[-1]) for m in made)
    for m in made:
        m.heat /= max(most, 1e-300)
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
        return float(np.sqrt(np.mean([log.scatter("position") ** 2 for log in bench.logs])))
    assert isinstance(bench, Dynamometer)
    unit = bench.known.get("torque_constant", 1.0) if bench.input == "current" else 1.0
    return float(
        np.sqrt(np.mean([log.scatter("output") ** 2 + (unit * log.scatter(bench.input)) ** 2 for log in bench.logs]))
    )


def _step(bench: Bench, fit: Fit, residuals: Sequence[np.ndarray]) -> float:
    """Return the root mean square of what half the simulation's step changes, beyond what the parameters make up for."""
    if (finer := bench.finer()) is None:
        return 0.0
    change = np.concatenate(finer.residuals(fit.model, fit.values, range(len(bench.logs)))) - np.concatenate(residuals)
    change -= fit.jacobian @ np.linalg.lstsq(fit.jacobian, change)[0]
    return math.sqrt(np.mean(change**2))


@dataclass
class _Equations:
    """Normal equations of each log, over its squared residual: squares (n, p, p), products with the residual (n, p), squared residual (n)."""

    A: np.ndarray
    b: np.ndarray
    c: np.ndarray

    @classmethod
    def of(cls, columns: Sequence[np.ndarray], residuals: Sequence[np.ndarray]) -> _Equations:
        size = [1 / max(float(np.linalg.norm(r)), 1e-300) for r in residuals]
        columns = [w * J for w, J in zip(size, columns)]
        residuals = [w * r for w, r in zip(size, residuals)]
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


def _lateness(bench: Bench, family: Family, size: float) -> str:
    """A line about a channel that is late by so many of its family's units."""
    if isinstance(family, tuple):
        channel, late, remedy = (
            f"{family[0]} of the logs",
            size * family[1] * bench.logs[0].dt,
            "check its filter and time stamps",
        )
    else:
        channel, late, remedy = "input", size * bench.unit_of("delay"), "--fit delay fits it"
    return f"The {channel} is {'late' if late > 0 else 'early'} by {abs(late):.2g} s: {remedy}"


@dataclass
class _Tried:
    """Families that were tried together: their places, their equations, and the squared residual of each log when it was left out."""

    which: tuple[int, ...]
    equations: _Equations
    after: np.ndarray

    def left(self) -> float:
        """The latter of all logs."""
        return float(self.after.sum())


def look(bench: Bench, fit: Fit) -> Misfit:
    """Compare the residual with the sensors' noise, and try the suspects one by one."""
    logs = range(len(bench.logs))
    residuals = bench.residuals(fit.model, fit.values, logs)
    size = math.sqrt(np.mean(np.concatenate(residuals) ** 2))
    least = math.hypot(_sensors(bench), _step(bench, fit, residuals))
    ratio = size / least if least > 0 else math.inf
    if len(bench.logs) < 3 or ratio <= _MISFIT:
        return Misfit(ratio)
    space = bench.space(fit.model)
    here = space.point(fit.values)
    rows = np.cumsum([0, *(r.size for r in residuals)])
    jacobian = at(bench, fit.model, list(logs), here, space)[1]
    J = [jacobian[a:b] for a, b in zip(rows[:-1], rows[1:])]
    sensed = sum(least**2 * r.size / max(float(r @ r), 1e-300) for r in residuals)
    motions = _motions(bench, fit)
    plain = _Equations.of(J, residuals)
    before = plain.held_out()

    level = 1 - (1 - _LEVEL) / len(_SUSPECTS)

    def effects(family: Family) -> list[np.ndarray]:
        """Columns of each log; none where the term does not show."""
        if callable(family):
            made = [[_effect(bench, fit, i, term, residuals[i]) for term in family(motions[i])] for i in logs]
            return [np.column_stack(columns) for columns in made if columns]
        if isinstance(family, str):
            step, changed = (
                _STEP,
                bench.residuals(fit.model, {**fit.values, family: _STEP * bench.unit_of(family)}, logs),
            )
        elif isinstance(bench, Dynamometer):
            step, changed = 1.0, bench.earlier(*family).residuals(fit.model, fit.values, logs)
        else:
            return []
        columns = [(b - a)[:, None] / step for a, b in zip(residuals, changed)]
        return columns if any(map(np.any, columns)) else []

    def tried_with(which: tuple[int, ...], columns: Sequence[Sequence[np.ndarray]]) -> _Tried:
        equations = _Equations.of([np.column_stack([own, *more]) for own, *more in zip(J, *columns)], residuals)
        return _Tried(which, equations, equations.held_out())

    def each(name: str, family: Family, text: str) -> Suspect | None:
        """A term with a coefficient of each log's own, which no other log predicts: by the fit of all logs. None if it explains little."""
        own = [np.kron(row, columns) for columns, row in zip(effects(family), np.eye(len(logs)))]
        equations = _Equations.of([np.column_stack(pair) for pair in zip(J, own)], residuals)
        steps = [made.solve(np.array(logs)) for made in (plain, equations)]
        left = [np.array([made.left(i, x) for i in logs]) for made, x in zip((plain, equations), steps)]
        explains, x = float(1 - left[1].sum() / left[0].sum()), steps[1]
        there, sizes = np.clip(here + x[: here.size], space.low, space.high), x[here.size :].reshape(len(logs), -1)
        values, ends = space.values(there), []
        for number, more in zip(("coulomb", "viscous"), sizes.T) if name == "friction by log" else ():
            if number in values:
                ends += [{**values, number: values[number] + bench.unit_of(number) * size} for size in more.tolist()]
        if explains < _EXPLAINED or not is_positive(np.log(left[0] / left[1]), level):
            return None
        ends += _reach(space, there, equations, x, sensed)
        return Suspect(name, explains, True, text.format(bench.scale["torque"] * np.ptp(sizes[:, 0])), values, ends)

    found = []
    for name, (families, text) in _SUSPECTS.items():
        columns = {
            k: made
            for k, family in enumerate(families)
            if family not in bench.space(fit.model).names and (made := effects(family))
        }
        tried = sorted((tried_with((k,), [made]) for k, made in columns.items()), key=_Tried.left)
        if not tried:
            continue
        best = tried[0]
        if name in _WAVES:
            pairs = {(min(k, one.which[0]), max(k, one.which[0])) for one in tried[:_FIRST] for k in columns}
            two = [tried_with(pair, [columns[k] for k in pair]) for pair in sorted(pairs) if pair[0] != pair[1]]
            two.sort(key=_Tried.left)
            if two and is_positive(np.log(best.after / two[0].after), level):
                tried, best = two, two[0]
        explains = 1 - best.left() / before.sum()
        is_sure = bool(explains > _WORTH and is_positive(np.log(before / best.after), level))
        values: list[dict[str, float]] = []
        reach: list[dict[str, float]] = []
        size = 0.0
        for one in tried:
            if not is_positive(np.log(one.after / best.after), level):  # as good as the best family
                x = one.equations.solve(np.array(logs))
                there = np.clip(here + x[: here.size], space.low, space.high)
                size = size if values else float(x[here.size])
                values.append(space.values(there))
                reach += _reach(space, there, one.equations, x, sensed) if is_sure else []
        told = {
            "change": 2 * bench.scale["torque"] * size,
            "constant": bench.scale["torque"] * abs(size),
            "angle": _ANGLES[best.which[0] % len(_ANGLES)],
        }
        first = 1 if name == "position" else 2
        periods = " and ".join(str(k + first) for k in best.which)
        text = text.format(**told, periods=periods, late=_lateness(bench, families[best.which[0]], size))
        found.append(Suspect(name, float(explains), is_sure, text, values[0], reach))
    if (odd := _odd(bench, space, here, plain, residuals, least)) is not None:
        found.append(odd)
    if isinstance(bench, Dynamometer):
        found += _limited(bench, fit, least, level)
    if not any(s.is_sure for s in found):
        found += filter(None, (each(name, family, text) for name, (family, text) in _EACH.items()))
    found.sort(key=lambda s: -s.explains)
    return Misfit(ratio, found, _reach(space, here, plain, np.zeros(here.size), sensed))


def _odd(
    bench: Bench, space: Space, here: np.ndarray, equations: _Equations, residuals: Sequence[np.ndarray], least: float
) -> Suspect | None:
    """Return the one log without which the model explains the others, or better by far than without another one.

    Args:
      least: noise of a sample.
    """
    n, rows = len(residuals), np.array([r.size for r in residuals])
    if n < 4:
        return None
    squares = np.array([float(r @ r) for r in residuals])
    kept = [np.delete(np.arange(n), j) for j in range(n)]
    steps = [equations.solve(keep) for keep in kept]
    left = np.array([sum(squares[i] * equations.left(int(i), x) for i in keep) for keep, x in zip(kept, steps)])
    ratios = np.sqrt(left / (rows.sum() - rows)) / max(least, 1e-300)
    first, second = np.argsort(ratios)[:2].tolist()
    if ratios[second] <= _MISFIT or ratios[first] > max(_MISFIT, _ODD * ratios[second]):
        return None
    x, keep = steps[first], kept[first]
    there = np.clip(here + x, space.low, space.high)
    rest = _Equations(equations.A[keep], equations.b[keep], equations.c[keep])
    return Suspect(
        "log",
        float(1 - left[first] / squares.sum()),
        True,
        f"{bench.logs[first].name} differs from all other logs: check its columns, their signs and its facts, or leave it out",
        space.values(there),
        _reach(space, there, rest, x, float(np.sum(least**2 * rows[keep] / squares[keep]))),
    )


def _limits(bench: Dynamometer, name: str) -> list[np.ndarray] | None:
    """Of each log, -1 or 1 where a column is at its smallest or largest value; None if it hardly stays there."""
    columns = [log.data[name] for log in bench.logs]
    least, most = min(map(np.min, columns)), max(map(np.max, columns))
    made = [(x == most) * 1.0 - (x == least) for x in columns]
    held = sum(np.count_nonzero(x[1:] * x[:-1] > 0) for x in made)
    return made if held >= _HELD else None


def _limited(bench: Dynamometer, fit: Fit, least: float, level: float) -> list[Suspect]:
    """Return the channels of a dynamometer that end at a limit: the model explains the samples that are not there."""
    found = []
    for name in (bench.input, "output"):
        if (limits := _limits(bench, name)) is None or (free := bench.without([x != 0 for x in limits])) is None:
            continue
        space, logs = free.space(fit.model), list(range(len(free.logs)))
        result, _ = minimize(free, fit.model, logs, space.point(fit.values), space, _ITERATIONS)
        values = space.values(result.x)
        residuals = free.residuals(fit.model, values, logs)
        before, after = (
            np.array([float(r @ r) for r in made]) for made in (free.residuals(fit.model, fit.values, logs), residuals)
        )
        explains = float(1 - after.sum() / before.sum())
        rows = np.cumsum([0, *(r.size for r in residuals)])
        jacobian = at(free, fit.model, logs, result.x, space)[1]
        equations = _Equations.of([jacobian[a:b] for a, b in zip(rows[:-1], rows[1:])], residuals)
        sensed = sum(least**2 * r.size / max(float(r @ r), 1e-300) for r in residuals)
        held = 100 * sum(map(np.count_nonzero, limits)) / sum(map(len, limits))
        found.append(
            Suspect(
                "limit",
                explains,
                explains > _WORTH and is_positive(np.log(before / after), level),
                f"The {name} is at its largest value in {held:.0f} % of the samples: if its sensor ends there, log smaller ones",
                values,
                _reach(space, result.x, equations, np.zeros(result.x.size), sensed),
            )
        )
    return found


def _reach(space: Space, z: np.ndarray, equations: _Equations, x: np.ndarray, sensed: float) -> list[dict[str, float]]:
    """Return values about a point as far as the residual that is left after step x moves each number, if it points where it moves it most.

    Args:
      sensed: squared residual of the sensors' noise.
    """
    left = math.sqrt(max(sum(equations.left(i, x) for i in range(equations.c.size)) - sensed, 0.0))
    C = np.linalg.pinv(equations.A.sum(axis=0), rcond=1e-12, hermitian=True)[: z.size, : z.size]
    made = []
    for gradient in gradients(space, z):
        way = C @ gradient / math.sqrt(max(float(gradient @ C @ gradient), 1e-300))
        for end in (z - left * way, z + left * way):
            made.append(space.values(np.clip(end, space.low, space.high)))
    return made
