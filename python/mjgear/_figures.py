"""Figures of gears: the law, where a gear loses its power, a run's torques over time."""

from __future__ import annotations

import ctypes
import functools
import io
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from mjgear import _catalogue, _extras, _structs, _tables
from mjgear._catalogue import Value
from mjgear._errors import GearError, GearTypeError
from mjgear._gears import Gear, Gears
from mjgear._names import renamed
from mjgear._words import RESULTS, State

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from typing_extensions import Unpack

    from mjgear._keys import SheetKeys

Array = NDArray[np.float64]

_STICK, _DRIVE, _BACK, _TEXT = "#c9ced6", "#2f6db3", "#c0392b", "#333333"
_SIDE = 81  # points of a line or of a side of a map


@functools.cache
def _kind() -> type[Figure]:
    """A Figure that notebooks show; it needs no pyplot and no window."""
    _extras.require("matplotlib", "a figure", "plot")
    from matplotlib.figure import Figure

    class Shown(Figure):
        def _repr_png_(self) -> bytes:
            buffer = io.BytesIO()
            self.savefig(buffer, format="png", dpi=100)
            return buffer.getvalue()

    return Shown


class Log:
    """Records the results of gears over a run, for plot()::

        log = mjgear.Log(gears)
        for _ in range(1000):
            mujoco.mj_step(model, data)
            log.record()
        mjgear.plot(log)

    Args:
        gears: of one simulation.

    Raises:
        GearError: gears of a Batch, or an object that cannot be drawn.
    """

    def __init__(self, gears: Gears) -> None:
        if not isinstance(gears, Gears):
            raise GearTypeError(f"a Log is of mjgear.Gears, not {type(gears).__name__}")
        self._model, self._data = gears._single("a Log")
        self._gears = gears
        self._time: list[float] = []
        self._taken: dict[str, list[Array]] = {name: [] for name in gears}

    def record(self) -> None:
        """Record the results of the last step."""
        self._time.append(float(self._data.time))
        for name, gear in self._gears.items():
            self._taken[name].append(np.array(gear.results[: len(RESULTS)]))

    take = renamed("take", record)

    @property
    def time(self) -> Array:
        """Time of each step, s, (n,)."""
        return np.array(self._time)

    @property
    def results(self) -> dict[str, Array]:
        """Gear -> numbers in the order of ``mjgear.RESULTS``, (n, 14)."""
        return {name: np.reshape(taken, (-1, len(RESULTS))) for name, taken in self._taken.items()}


def plot(
    what: str | Gear | Log | None = None,
    *,
    kind: Literal["efficiency", "law"] = "efficiency",
    torque: Value = 10,
    load: Value | None = None,
    speed: Value | None = None,
    **values: Unpack[SheetKeys],
) -> Figure:
    """A figure of a gear's power loss, of its law, or of a run.

    - A Log: the torques of each gear over time, grey where it is stuck, and its power loss.
    - kind="efficiency": map of the efficiency over velocity and load torque. On the right the motor lifts the load, on the left the
      sinking load drives the motor. Where it says "locks" the motor has to push the load down.
    - kind="law": on the left the plane of both torques, with the region of rest and the torques at which motor or load move the joint. To
      the right the motor torque that moves the load, by velocity.

    Args:
        what: a preset's name, a Gear with its current numbers, a Log; None: keys alone.
        kind: figure of a gear, "efficiency" or "law".
        torque: largest load torque of the map, N m.
        load: load torque of the law's right side, N m; by default 1, or a value that shows constant friction.
        speed: largest velocity, rad/s; 3 of a map, 1 of a law.
        values: keys of the description as in explain(), not with a Gear or a Log.

    Returns:
        A matplotlib Figure: ``savefig`` writes it, a notebook shows it.

    Raises:
        GearError: the description has problems, or the Log is empty.
        ImportError: matplotlib is not installed.
    """
    if isinstance(what, Log):
        return _plot_log(what, values)
    if kind == "law":
        return _plot_law(what, load, 1 if speed is None else speed, values)
    if kind != "efficiency":
        raise GearError(f"kind = {kind!r} is unknown; write 'efficiency' or 'law'")
    return _plot_map(what, torque, 3 if speed is None else speed, values)


draw = renamed("draw", plot, kind="law")


def _plot_law(gear: str | Gear | None, load: Value | None, speed: Value, values: Mapping[str, Any]) -> Figure:
    law, title, slide = _law(gear, values)
    reporter = _catalogue.Reporter()
    start = _move(law, 0.0, 1)
    usual = max(1.0, 2 * start) if math.isfinite(start) else 1.0
    torque = abs(_catalogue.read_number("load", usual if load is None else load, _info("load", "N m"), reporter))
    most = abs(_catalogue.read_number("speed", speed, _info("speed", "rad/s"), reporter))
    reporter.check()
    if not (torque > 0 and most > 0 and math.isfinite(torque) and math.isfinite(most)):
        raise GearError(f"load = {torque:g}, speed = {most:g}; write finite numbers above 0")
    newton, velocity = _tables.unit("N m", slide), _tables.unit("rad/s", slide)
    figure = _kind()(figsize=(10, 4.6), layout="constrained")
    figure.suptitle(title, fontsize=12)
    plane, lines = figure.subplots(1, 2)

    # both torques
    limit = 2 * torque
    loads = np.linspace(-limit, limit, 4 * _SIDE)
    up, down = (np.array([_move(law, x, direction) for x in loads]) for direction in (1, -1))
    ends = [
        np.clip(np.nan_to_num(side, posinf=9 * limit, neginf=-9 * limit), -9 * limit, 9 * limit) for side in (up, down)
    ]
    plane.fill_between(loads, ends[1], ends[0], color=_STICK, lw=0, label="stands still")
    drives = loads >= 0
    for side, against, name in ((up, drives, "the motor drives"), (down, ~drives, "")):
        plane.plot(loads[against], side[against], color=_DRIVE, lw=2, label=name or None)
    for side, aids, name in ((down, drives, "the load drives"), (up, ~drives, "")):
        shown = np.where(np.isfinite(side), side, np.nan)
        plane.plot(loads[aids], shown[aids], color=_BACK, lw=2, label=name or None)
    plane.plot([-limit, limit], [-limit, limit], color=_TEXT, lw=0.8, ls=":", label="no friction")
    plane.set(
        xlim=(-limit, limit), ylim=(-limit, limit), xlabel=f"load torque, {newton}", ylabel=f"motor torque, {newton}"
    )
    plane.set_title("what moves a joint at rest", fontsize=10)
    plane.set_aspect("equal")
    plane.legend(fontsize=8, loc="upper left")

    # by velocity
    v = np.linspace(0, most, _SIDE)[1:]
    forward = np.array([_move(_at(law, x), torque, 1) for x in v])
    backward = np.array([_move(_at(law, x), torque, -1) for x in v])
    viscous = law.viscous * v
    lines.plot(v, forward + viscous, color=_DRIVE, lw=2, label="the motor lifts the load")
    lines.plot(-v[::-1], (backward - viscous)[::-1], color=_BACK, lw=2, label="the load sinks")
    rest = [_move(law, torque, direction) for direction in (-1, 1)]
    lines.plot(
        [0, 0], np.clip(rest, -9 * limit, 9 * limit), color=_STICK, lw=5, solid_capstyle="butt", label="stands still"
    )
    lines.axhline(torque, color=_TEXT, lw=0.8, ls=":", label="the load")
    lines.axhline(0, color=_TEXT, lw=0.5)
    lines.set(xlim=(-most, most), xlabel=f"velocity, {velocity}", ylabel=f"motor torque, {newton}")
    lines.set_title(f"motor torque under a load of {torque:g} {newton}", fontsize=10)
    lines.legend(fontsize=8, loc="upper left")
    return figure


def _plot_map(gear: str | Gear | None, torque: Value, speed: Value, values: Mapping[str, Any]) -> Figure:
    law, title, slide = _law(gear, values)
    reporter = _catalogue.Reporter()
    most = [
        _catalogue.read_number("torque", torque, _info("torque", "N m"), reporter),
        _catalogue.read_number("speed", speed, _info("speed", "rad/s"), reporter),
    ]
    reporter.check()
    if not (min(most) > 0 and math.isfinite(max(most))):
        raise GearError(f"torque = {most[0]:g}, speed = {most[1]:g}; write finite numbers above 0")
    loads = np.linspace(0, most[0], _SIDE)[1:]
    speeds = np.linspace(0, most[1], _SIDE)[1:]

    figure = _kind()(figsize=(7, 4.6), layout="constrained")
    axes = figure.subplots()
    axes.set_facecolor(_STICK)
    locked = []
    for v in (-speeds[::-1], speeds):  # each direction by itself: at rest efficiency jumps
        efficiency = np.array([[_efficiency(law, load, x) for x in v] for load in loads])
        mesh = axes.pcolormesh(
            v,
            loads,
            np.ma.masked_less_equal(efficiency, 0),
            cmap="viridis",
            vmin=0,
            vmax=1,
            shading="nearest",
            rasterized=True,
        )
        if np.ptp(efficiency) > 1e-9:
            lines = axes.contour(v, loads, efficiency, levels=np.arange(0.1, 1, 0.1), colors="white", linewidths=0.8)
            axes.clabel(lines, fmt="%.1f", fontsize=8)
        locked.append(efficiency.max() <= 0)
    if locked[0]:
        axes.text(
            -most[1] / 2,
            most[0] / 2,
            "locks:\nthe motor has to\npush the load down",
            ha="center",
            va="center",
            color=_TEXT,
        )
    elif np.min([_efficiency(law, load, x) for load in (loads[0], loads[-1]) for x in (-speeds[0], -speeds[-1])]) <= 0:
        axes.fill_between([], [], color=_STICK, label="the motor has to push the load down")
        figure.legend(fontsize=8, loc="outside lower left")
    axes.axvline(0, color=_TEXT, lw=0.8)
    newton, velocity = _tables.unit("N m", slide), _tables.unit("rad/s", slide)
    axes.set(
        xlabel=f"velocity, {velocity}: the load sinks | the motor lifts it",
        ylabel=f"load torque, {newton}",
        title=title,
    )
    axes.set(xlim=(-most[1], most[1]), ylim=(0, most[0]))
    figure.colorbar(mesh, ax=axes, label="efficiency")
    return figure


def _plot_log(log: Log, values: Mapping[str, Any]) -> Figure:
    if values:
        raise GearError(f"a Log has its own gears; leave out {', '.join(values)}")
    time, results = log.time, log.results
    if not len(time):
        raise GearError("the Log is empty; call log.record() after each step")
    figure = _kind()(figsize=(9, 1.2 + 2.2 * len(results)), layout="constrained")
    panels = figure.subplots(len(results), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (name, rows) in zip(panels, results.items(), strict=True):
        number = dict(zip(RESULTS, rows.T, strict=True))
        newton = _tables.unit("N m", log._gears._is_slide(log._gears[name].joint))
        stuck = np.isin(number["state"], [State.STUCK, State.LOCKED])
        axes.fill_between(
            time, 0, 1, where=stuck, step="mid", transform=axes.get_xaxis_transform(), color=_STICK, lw=0, label="stuck"
        )
        for key, color, label in (
            ("torque_in", _DRIVE, "into the gear"),
            ("torque_out", _BACK, "to the link"),
            ("friction", _TEXT, "friction"),
        ):
            axes.plot(time, number[key], color=color, lw=1.4, ls="--" if key == "friction" else "-", label=label)
        axes.axhline(0, color=_TEXT, lw=0.5)
        axes.set(title=name, ylabel=f"torque, {newton}")
        loss = axes.twinx()
        loss.fill_between(time, number["power_loss"], color="#e0a030", alpha=0.35, lw=0, label="power loss")
        loss.set(ylabel="power loss, W", ylim=(0, 3 * max(float(number["power_loss"].max()), 1e-12)))
    handles, labels = panels[0].get_legend_handles_labels()
    more, names = loss.get_legend_handles_labels()
    figure.legend(handles + more, labels + names, loc="outside lower center", ncols=5, fontsize=8)
    panels[-1].set(xlabel="time, s", xlim=(time[0], time[-1]) if len(time) > 1 else None)
    return figure


# ------------------------------------------ the law, as the core has it --------------------------


def _info(name: str, unit: str) -> _structs.KeyInfo:
    return _structs.KeyInfo(
        name=name.encode(errors="replace"), unit=unit.encode(errors="replace"), min=-math.inf, max=math.inf
    )


def _law(gear: Any, values: Mapping[str, Any]) -> tuple[_structs.Transmission, str, bool]:
    """Return the gear, its title, and True if its output is a slide."""
    if isinstance(gear, Gear):
        if values:
            raise GearError(f"a Gear has its own numbers; set {', '.join(values)} there, or leave them out")
        model, data = gear._gears._single("a figure")
        facts = _structs.Facts()
        _structs.plugin.mjg_explainGear(ctypes.byref(facts), model._address, data._address, gear.joint)
        return facts.gear, f"gear of '{gear.name}'", gear._gears._is_slide(gear.joint)
    if gear is not None and not isinstance(gear, str):
        raise GearTypeError(
            f"a figure is of a preset, a Gear or keys and values, and plot's of a Log, not of {type(gear).__name__}"
        )
    reporter = _catalogue.Reporter()
    if gear is None and not values:
        reporter.refuse(_catalogue.NO_GEAR)
    description = _catalogue.describe(gear, values, reporter)
    reporter.check()
    law = _catalogue.make_gear(description, reporter)
    reporter.check()
    own = ", ".join(f"{key} = {value}" for key, value in values.items())
    title = _catalogue.presets()[gear].title if gear else own
    return (
        law,
        f"{title} ({own})" if gear and own else title,
        description.type == _structs.core.mjg_typeFromName(b"leadscrew"),
    )


def _at(law: _structs.Transmission, velocity: float) -> _structs.Transmission:
    """The gear that slides at a velocity, with constant coefficients."""
    numbers = [ctypes.c_double() for _ in range(3)]
    _structs.core.mjg_frictionAt(*map(ctypes.byref, numbers), ctypes.byref(law), 0.0, velocity, 0.0, 0.0)
    slides = _structs.Transmission()
    _structs.core.mjg_defaultTransmission(ctypes.byref(slides))
    slides.gamma_u, slides.gamma_v, slides.coulomb = (number.value for number in numbers)
    return slides


def _move(law: _structs.Transmission, load: float, direction: int) -> float:
    """Motor torque at which a load begins to move in a direction."""
    torque: float = _structs.core.mjg_breakawayMotor(ctypes.byref(law), load, direction)
    return torque


def _efficiency(law: _structs.Transmission, load: float, velocity: float) -> float:
    """Power out by power in, viscous friction included; 0 and less: the motor has to push the load down."""
    direction = 1 if velocity > 0 else -1
    motor = _move(_at(law, abs(velocity)), load, direction) + law.viscous * velocity
    if not math.isfinite(motor):
        return 0.0
    efficiency: float = load / motor if direction > 0 else motor / load
    return efficiency
