"""The geared joints of a simulation, or of a Batch of simulations."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
from collections.abc import Iterator, Mapping
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from mjgear import _catalogue, _changes, _structs, _tables
from mjgear._catalogue import Facts, keys, make_facts
from mjgear._changes import TEXT, Changes
from mjgear._errors import GearError, GearKeyError, GearTypeError, warn
from mjgear._keys import Numbers
from mjgear._library import NAME
from mjgear._numbers import Group, Number, Result
from mjgear._rows import Rows
from mjgear._words import RESULTS, Mode, State, Status

Array = NDArray[np.float64]

_ResultsOfLibrary = ctypes.c_double * len(RESULTS)

# keys that keep the unit rad when the output is a slide
_ANGLES = ("lead_angle", "pressure_angle", "input_angle", "output_angle", "wrap_angle")


@dataclasses.dataclass(frozen=True)
class Address:
    """Place of a number in plugin_state.

    Attributes:
        value: index of the number.
        given: the number counts where plugin_state[given], a sum of bits, contains bit; None: it always counts.
        bit: that bit.
    """

    value: int
    given: int | None
    bit: int


@dataclasses.dataclass(frozen=True, eq=False)
class Counts:
    """Counts of the steps of a simulation since it began; of a Batch arrays, (nsim,).

    Attributes:
        steps: steps with gears.
        unsolved: steps that were not solved, by their status.
        slow: steps in which the solver fell back on another method.
    """

    steps: Any
    unsolved: Any
    slow: Any


class Gear(Numbers):
    """The gear of one joint, or of a tendon.

    Numbers of the gear are attributes. ``gear.eta_forward`` reads; ``gear.eta_forward = 0.7`` changes this simulation
    from the next step on. The model stays unchanged. They are None where the model does not give them; gamma_u,
    gamma_v, eta_forward and eta_backward of the sliding gear are always known. Over a Batch they are arrays of shape
    (nsim,), and changes may be one number or one for each simulation; ``gear.coulomb[done] = 2`` changes some
    simulations. A text may have a unit: ``gear.coulomb = "2 Nm"``.

    Results of the last step are attributes too: a float, or over a Batch a view of shape (nsim,). They are not
    written to. ``print(gear)`` shows all numbers with their units.

    Units are SI at the output side; for a slide, or a tendon that is a length, read m, N, kg. ``joint`` is the joint's
    id, of a tendon ``model.njnt`` and its id.
    """

    friction = Result("N m", "friction torque, opposing motion")
    internal_force = Result("N m", "internal force lambda")
    torque_in = Result("N m", "torque into the gear")
    torque_out = Result("N m", "torque delivered to the link")
    mode = Result("1", "direction in which it slips", Mode)
    power_loss = Result("W", "power that friction turns into heat")
    gap = Result("rad", "position in the backlash gap, 0 without backlash")
    rotor_angle = Result("rad", "rotor angle, the joint's without backlash")
    rotor_velocity = Result("rad/s", "rotor velocity, the joint's without backlash")
    iterations = Result("1", "iterations of the solver")
    residual = Result("1", "relative residual")
    status = Result("1", "how the step was solved", Status)
    fallbacks = Result("1", "how often the solver had to fall back on another method so far")
    state = Result("1", "what the gear does", State)

    name: str
    joint: int
    _gears: Gears

    def __init__(self, gears: Gears, name: str, joint: int) -> None:
        object.__setattr__(self, "_gears", gears)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "joint", joint)

    def __setattr__(self, name: str, value: Any) -> None:
        """Change a number of the gear.

        Raises:
            AttributeError: the name does not exist, or it is a result.
            GearError: the library's lines about the value.
        """
        if name in ("result", "results"):
            raise AttributeError(
                "results are what the last step resulted in and cannot be set; set a number of the gear"
            )
        if not isinstance(getattr(type(self), name, None), (Number, Result)):
            raise AttributeError(_no_attribute(name, writes=True))
        object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(_no_attribute(name, writes=False))

    def __dir__(self) -> list[str]:
        """Names for completion: only numbers that this gear has."""
        return [
            name
            for name in super().__dir__()
            if not isinstance(getattr(Numbers, name, None), Number) or self[name] is not None
        ]

    def __repr__(self) -> str:
        return f"<mjgear.Gear of {self._gears._kind(self.joint)} '{self.name}'>"

    def __str__(self) -> str:
        slide = self._gears._is_slide(self.joint)
        rows = []
        for name, number in vars(Numbers).items():
            value = getattr(self, name) if isinstance(number, Number) else None
            if value is not None:
                rows.append(
                    (
                        f"  {name}",
                        _tables.number(value),
                        number.unit if name in _ANGLES else _tables.unit(number.unit, slide),
                        number.text,
                    )
                )
        lines = [f"gear of {self._gears._kind(self.joint)} '{self.name}'", _tables.columns(rows)]
        if self._gears._batch is None or self.joint in self._gears._sensors:
            shown = [
                (f"  {name}", self._shown(name), _tables.unit(kind.unit, slide), kind.text)
                for name, kind in vars(Gear).items()
                if isinstance(kind, Result)
            ]
            lines += ["last step", _tables.columns(shown)]
        return "\n".join(lines)

    def _shown(self, name: str) -> str:
        """A result for people: states by their names."""
        value = getattr(self, name)
        return str(value) if isinstance(value, State) else _tables.number(value)

    def __getitem__(self, key: str) -> Any:
        """A number of the gear by its key; None where it is not given.

        Raises:
            KeyError: the key does not exist.
        """
        if not isinstance(key, str):
            raise GearKeyError(
                f"{key!r} is no key of a gear; write a name such as 'coulomb'. Of a Batch: gears['{self.name}'].coulomb[{key!r}]"
            )
        return self._gears._get(self.joint, key)

    def __setitem__(self, key: str, value: ArrayLike) -> None:
        self.set(**{key: value})

    def set(self, *, sims: ArrayLike | None = None, **values: ArrayLike) -> None:
        """Change several numbers together or none. Numbers that are not named keep their values.

        Args:
            sims: over a Batch the simulations that change, a mask (nsim,) or ids (n,); default: all.
            values: keys of doc/mjcf.md that are numbers of a gear or of its gap. Over a Batch a number, or
                one for each simulation that changes.

        Raises:
            GearError: the library's lines; nothing has changed.

        Warns:
            GearWarning: eta_forward was set, and eta_backward, which nobody gave, follows it past 0: the gear locks, or unlocks.
        """
        before = np.copy(self.eta_backward) if "eta_forward" in values and "eta_backward" not in values else None
        self._gears._set(self.joint, values, describes=False, sims=sims)
        if before is not None:
            _warn_locks(self, before)

    def describe(self, *, sims: ArrayLike | None = None, **values: ArrayLike) -> None:
        """Replace the description of the gear by these keys.

        The gap and friction that does not depend on the load are kept.

        Args:
            sims: as in set().
            values: keys that describe a gear, eta_forward and eta_backward for instance, as in set().

        Raises:
            GearError: the library's lines; nothing has changed.
        """
        self._gears._set(self.joint, values, describes=True, sims=sims)

    @property
    def params(self) -> Group:
        """Numbers that this gear has, by key: ``gear.params.coulomb = 2``, ``dict(gear.params)``."""
        return Group(
            self,
            tuple(name for name, kind in vars(Numbers).items() if isinstance(kind, Number) and self[name] is not None),
        )

    @property
    def result(self) -> Group:
        """Results of the last step by name: ``gear.result.friction``, ``dict(gear.result)``. ``results`` has them as one array."""
        return Group(self, tuple(name for name, kind in vars(Gear).items() if isinstance(kind, Result)))

    @property
    def results(self) -> Array:
        """Results of the last step, in the order of ``mjgear.RESULTS``: (14,), over a Batch (nsim, 14).

        Read only: a view of the joint's sensor; without a sensor a copy, and over a Batch a GearError.
        """
        return self._gears._results(self.joint, self.name)

    def address(self, name: str) -> Address:
        """Place of a number of this gear in ``MjData.plugin_state``, and in a row of ``Batch.bind("plugin_state")``.

        Args:
            name: a key that is a number of the law (coulomb, not eta_forward, which set() converts), or one of the names that
                mjg_stateAddress of plugin/mjgear_plugin.h lists.

        Raises:
            KeyError: the gear has no such number.
        """
        found = _structs.StateAddress()
        if _structs.plugin.mjg_stateAddress(
            ctypes.byref(found), self._gears._model._address, self.joint, name.encode(errors="replace")
        ):
            raise GearKeyError(
                f"the gear of {self._gears._kind(self.joint)} '{self.name}' has no number '{name}' in plugin_state"
            )
        return Address(found.value, found.given if found.given >= 0 else None, int(found.bit))

    @property
    def brake(self) -> Any:
        """Closed share of the brake in the last step, from 0 (open) to 1 (closed); over a Batch (nsim,). None: no brake.

        After a reset it is where it is without power: closed, or with normally="open" open.
        """
        return self._gears._get(self.joint, "brake")

    def explain(self) -> Facts:
        """Facts about the gear in the pose of the last ``mj_forward``.

        With its rotor, with the inertia of the freely moving rest behind it, and with its current load (1 N m if
        that is 0). Not over a Batch.

        Returns:
            Facts, which print() shows as a table.

        Raises:
            GearError: over a Batch.
        """
        model, data = self._gears._single("explain")
        facts = _structs.Facts()
        _structs.plugin.mjg_explainGear(ctypes.byref(facts), model._address, data._address, self.joint)
        return make_facts(facts, self._gears._is_slide(self.joint))


def _warn_locks(gear: Gear, before: Array) -> None:
    """Warn where eta_forward was set and eta_backward, which is not given and follows it, says that the gear locks or unlocks."""
    after = np.asarray(gear.eta_backward)
    changed = (before > 0) != (after > 0)
    if not changed.any():
        return
    what = "is self-locking" if (after[changed] <= 0).any() else "can be driven back"
    warn(
        f"{NAME}, {gear._gears._kind(gear.joint)} '{gear.name}': eta_backward is not given and follows eta_forward, from {_tables.number(before)} to "
        f"{_tables.number(after)}, so that the gear {what}; give both: gear.set(eta_forward=.., eta_backward=..)"
    )


@functools.lru_cache(maxsize=1024)
def _no_attribute(name: str, writes: bool) -> str:
    """The line for an attribute of a gear that does not exist."""
    if name in keys() and keys()[name].of_joint:
        return f"{name} is the engine's; change {'damping' if 'viscous' in name else 'armature'} of the joint or tendon in the model"
    known = [
        name
        for name, kind in (vars(Numbers) | vars(Gear)).items()
        if isinstance(kind, Number) or (not writes and not name.startswith("_"))
    ]
    return _catalogue.unknown(name, "key", known)


_FOREIGN = (
    "the data are not of this model; make them with it, mujoco.MjData(model). Unpickled data have a model "
    "of their own: mjgear.Gears(data.model, data)"
)
_NONE = f"this model has no gear; mjgear.add(spec, joints, ..) adds one, or write {NAME} in its MJCF"


class Gears(Mapping[str, Gear]):
    """The geared joints and tendons of a simulation or of a Batch, by name or by id.

    ``Gears(model, data)["elbow"].eta_forward = 0.7``; iterating gives the names in the order of joints, then of tendons.
    Numbers and results of all gears are arrays in this order, as in mjgear.warp: ``gears.friction`` is (n,), over a Batch (nsim, n), and
    ``gears.coulomb = [0.1, 0.2]`` sets. The id of a tendon is ``model.njnt`` and its own; where a joint with a gear has its name, the name means the joint.
    ``print(gears)`` shows a table of them.

    Args:
        model: the model.
        data: its mujoco.MjData, or a mujoco.batch.Batch of it.

    Raises:
        GearError: the model has no gear, or the data belong to another model.
    """

    def __init__(self, model: mujoco.MjModel, data: Any) -> None:
        if not isinstance(model, mujoco.MjModel):
            if isinstance(model, mujoco.MjData):
                raise GearTypeError("the first argument is an MjData; write Gears(model, data)")
            uncompiled = ", which is not compiled: spec.compile()" if isinstance(model, mujoco.MjSpec) else ""
            raise GearTypeError(f"Gears needs an MjModel and its data, not {type(model).__name__}{uncompiled}")
        if not isinstance(data, mujoco.MjData) and (
            not hasattr(data, "bind") or isinstance(data, (mujoco.MjModel, mujoco.MjSpec))
        ):
            raise GearTypeError(
                f"Gears needs an MjData of the model, or a Batch, not {type(data).__name__}; make it with mujoco.MjData(model)"
            )
        self._model = model
        self._data = data
        self._batch: Any = None if isinstance(data, mujoco.MjData) else data
        probe = mujoco.MjData(model) if self._batch is not None else data
        if hasattr(data, "get_model") and not _is_of(data, model):
            raise GearError(_FOREIGN if _geared(model) else _NONE)
        self._gears: dict[int, Gear] = {}
        for number in range(model.njnt + model.ntendon):
            if _structs.plugin.mjg_readGear(None, model._address, probe._address, number) > 0:
                self._gears[number] = Gear(self, _structs.name_of(model, number), number)
        if not self._gears and _geared(model):
            raise GearError(_FOREIGN)
        if not self._gears:
            raise GearError(_NONE)
        self._pointers = self._find_pointers()
        self._names = {gear.name: gear for gear in reversed(self._gears.values())}
        self._names = dict(reversed(self._names.items()))
        self._sensors = self._find_sensors()
        if self._batch is not None and self._sensors:
            self._batch.bind("sensordata")  # the next call fills it

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickle, without members that are rebuilt."""
        return {name: value for name, value in self.__dict__.items() if name not in ("_plans", "_pointers")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the model of the data: unpickled data have a model of their own."""
        self.__dict__.update(state)
        if self._batch is None and hasattr(self._data, "model"):
            self._model = self._data.model
        self._pointers = self._find_pointers()

    def __setattr__(self, name: str, value: Any) -> None:
        """Change a number of all gears: one, (n,) in the order of names, or over a Batch (nsim, n).

        Raises:
            AttributeError: the number does not exist.
            GearError: the library's lines about a gear; nothing has changed.
        """
        if isinstance(getattr(Numbers, name, None), Number):
            self._set_all(name, value)
        elif name != "solver" and not name.startswith("_"):
            raise AttributeError(self._no_attribute(name))
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        """A number or a result of all gears in the order of names: (n,), over a Batch (nsim, n); NaN where a gear has none."""
        if name.startswith("_"):  # asked for while it is copied or unpickled, before there are names
            raise AttributeError(name)
        if name not in RESULTS and not isinstance(getattr(Numbers, name, None), Number):
            raise AttributeError(self._no_attribute(name))
        values = [getattr(gear, name) for gear in self.values()]
        rows = () if self._batch is None else (len(self._batch.bind("plugin_state")),)
        return np.stack([np.full(rows, np.nan) if value is None else value for value in values], axis=-1)

    def _set_all(self, name: str, value: ArrayLike) -> None:
        """Change a number of all gears or of none."""
        series = _catalogue.entries(value)
        state = self._data.plugin_state if self._batch is None else self._batch.bind("plugin_state")
        before = state.copy()
        shapes = {(), (len(self),)} if self._batch is None else {(), (len(self),), (len(state), len(self))}
        if series.shape not in shapes:
            raise GearError(
                f"{name} has shape {series.shape}; give one number, or one for each gear in the last of its dimensions, {len(self)}"
            )
        try:
            for i, gear in enumerate(self.values()):
                gear.set(**{name: series if series.ndim == 0 else series[..., i]})
        except GearError:
            state[...] = before
            raise

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the gears: the order of all arrays."""
        return tuple(self._names)

    def _no_attribute(self, name: str) -> str:
        """The line for an attribute that does not exist."""
        if name in RESULTS:
            return f"{name} is what the last step resulted in and cannot be set; set a number of the gears, such as coulomb"
        if name in self._names:
            return f"unknown attribute '{name}' of Gears; gears are found by name: gears['{name}']"
        near = _catalogue.nearest(name, ("solver", *vars(Numbers), *RESULTS))
        return f"unknown attribute '{name}' of Gears; {f'did you mean {near}' if near else 'it has the numbers and results of its gears, and solver'}"

    def __repr__(self) -> str:
        return f"<mjgear.Gears of {', '.join(self)}>"

    def __str__(self) -> str:
        units = {
            "eta_forward": "1",
            "eta_backward": "1",
            "coulomb": "N m",
            "static_ratio": "1",
            "half_gap": "rad",
            "armature": "kg m2",
        }
        shown = [
            key for key in units if key != "armature" and any(gear[key] is not None for gear in self._gears.values())
        ]
        kinds = sorted({self._is_slide(number) for number in self._gears})
        rows = []
        for gear in self._gears.values():
            numbers = [_tables.number(gear[key]) for key in shown]
            state = [gear._shown("state")] if self._batch is None else []
            rows.append((gear.name, *numbers, _tables.number(self._inertia(gear.joint)), *state))
        head = ["gear", *shown, "armature", *(["state"] if self._batch is None else [])]
        line = [
            " | ".join(dict.fromkeys(_tables.unit(units[key], slide) for slide in kinds))
            for key in (*shown, "armature")
        ]
        return _tables.headed(head, ["", *line, *(head[len(shown) + 2 :] and [""])], rows)

    def __getitem__(self, key: str | int) -> Gear:
        gear = self._names.get(key) if isinstance(key, str) else self._gears.get(key)
        if gear is None:
            raise GearKeyError(f"{key!r} has no gear; those that have one are {', '.join(self._names)}")
        return gear

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    @property
    def counts(self) -> Counts:
        """Counts of each simulation: steps, unsolved steps, and steps that needed a fallback method."""
        places = [next(iter(self._gears.values())).address(name).value for name in ("steps", "unsolved", "slow")]
        if self._batch is None:
            return Counts(*(int(self._data.plugin_state[place]) for place in places))
        return Counts(*(self._batch.bind("plugin_state")[:, place].astype(int) for place in places))

    def reset(self) -> None:
        """All gears and the solver as the model describes them.

        Raises:
            GearError: over a Batch.
        """
        model, data = self._single("reset")
        _structs.plugin.mjg_resetGears(model._address, data._address)

    @property
    def solver(self) -> str:
        """Name of the solver: "newton", "gauss_seidel", "lemke" and so on, see doc/mjcf.md. Not over a Batch."""
        model, data = self._single("solver")
        name: bytes = _structs.plugin.mjg_getSolver(model._address, data._address)
        return name.decode()

    @solver.setter
    def solver(self, name: str) -> None:
        model, data = self._single("solver")
        error = ctypes.create_string_buffer(TEXT)
        if _structs.plugin.mjg_setSolver(
            model._address, data._address, str(name).encode(errors="replace"), error, TEXT
        ):
            raise GearError(_structs.message(error))

    # -------------------------------------- one simulation ---------------------------------------

    def _kind(self, number: int) -> str:
        return "tendon" if _structs.object_of(self._model, number)[0] == mujoco.mjtObj.mjOBJ_TENDON else "joint"

    def _is_slide(self, number: int) -> bool:
        """True if the output is a slide, or a tendon that is a length."""
        model = self._model
        kind, joint = _structs.object_of(model, number)
        if kind == mujoco.mjtObj.mjOBJ_TENDON:
            wrap = model.tendon_adr[joint]
            if model.wrap_type[wrap] != mujoco.mjtWrap.mjWRAP_JOINT:
                return True
            joint = model.wrap_objid[wrap]
        return bool(model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_SLIDE)

    def _inertia(self, number: int) -> float:
        """Inertia of the rotor: the gap's rotor, else the armature."""
        model, gear = self._model, self._gears[number]
        behind = gear.rotor_inertia
        if behind is not None:
            return float(np.max(behind))
        kind, own = _structs.object_of(model, number)
        return float(
            model.dof_armature[model.jnt_dofadr[own]]
            if kind == mujoco.mjtObj.mjOBJ_JOINT
            else model.tendon_armature[own]
        )

    def _single(self, what: str) -> tuple[mujoco.MjModel, mujoco.MjData]:
        if self._batch is not None:
            raise GearError(f"{what} is of one simulation: take Gears(batch.get_model(i), batch.get_data(i))")
        return self._model, self._data

    def _get(self, joint: int, key: str) -> Any:
        if self._batch is not None:
            return self._get_rows(joint, key)
        return _changes.get_number(self._pointers, joint, key.encode(errors="replace"))

    def _set(self, joint: int, values: Mapping[str, ArrayLike], describes: bool, sims: ArrayLike | None) -> None:
        if self._batch is not None:
            ids = self._ids(sims)
            read = _changes.read(
                values, len(self._batch.bind("plugin_state")) if ids is None else len(ids), self._place(joint)
            )
            if read:
                self._apply(Changes([(joint, key, describes) for key in read]), np.array(list(read.values())).T, ids)
        elif sims is not None:
            raise GearError("sims chooses among the simulations of a Batch, and this is one simulation; leave it out")
        else:
            numbers = {key: float(one[0]) for key, one in _changes.read(values, 1, self._place(joint)).items()}
            _changes.set_numbers(self._model, self._data, joint, numbers, describes)

    def _place(self, joint: int) -> str:
        return f"{NAME}, {self._kind(joint)} '{self._gears[joint].name}'"

    # -------------------------------------- results ----------------------------------------------

    def _find_sensors(self) -> dict[int, slice]:
        """Return the address of each gear's sensor in sensordata."""
        model, found = self._model, {}
        joints = [gear.joint for gear in self._gears.values()]
        for sensor in np.flatnonzero(model.sensor_type == mujoco.mjtSensor.mjSENS_PLUGIN):
            if model.sensor_dim[sensor] < len(RESULTS):
                continue
            start = int(model.sensor_adr[sensor])
            where = slice(start, start + int(model.sensor_dim[sensor]))
            kind, own = int(model.sensor_objtype[sensor]), int(model.sensor_objid[sensor])
            if kind in (int(mujoco.mjtObj.mjOBJ_JOINT), int(mujoco.mjtObj.mjOBJ_TENDON)):
                found[_structs.number_of(model, kind, own)] = where
            elif len(joints) == 1:
                found[joints[0]] = where
        return {joint: where for joint, where in found.items() if joint in self._gears}

    def _results(self, joint: int, name: str) -> Array:
        where = self._sensors.get(joint)
        if where is not None:
            every: Array = self._data.sensordata if self._batch is None else self._batch.bind("sensordata")
            shown = every[..., where]
            shown.flags.writeable = False
            return shown
        if self._batch is not None:
            raise GearError(
                f"{self._kind(joint)} '{name}' has no sensor to read in a Batch; add one, or call mjgear.add(.., sensors=True)"
            )
        values = np.array(self._read(joint))
        values.flags.writeable = False
        return values

    def _read(self, joint: int) -> ctypes.Array[ctypes.c_double]:
        """Results of a gear of one simulation, as the library has them."""
        values = _ResultsOfLibrary()
        model, data = self._pointers
        _structs.read_gear(values, model, data, joint)
        return values

    def _find_pointers(self) -> _structs.Pointers:
        """Pointers to the model and the data, made once; over a Batch the data have none."""
        return (
            ctypes.c_void_p(self._model._address),
            ctypes.c_void_p(None if self._batch is not None else self._data._address),
        )

    # -------------------------------------- a Batch ----------------------------------------------

    def _models(self) -> Iterator[tuple[mujoco.MjModel, slice]]:
        """Models, and the simulations that run on them."""
        models = self._batch.models
        if isinstance(models, tuple):
            yield from ((model, slice(i, i + 1)) for i, model in enumerate(models))
        else:
            yield models or self._model, slice(None)

    def _get_rows(self, joint: int, key: str) -> Array | None:
        rows = self._batch.bind("plugin_state")
        values = np.empty(len(rows))
        for model, which in self._models():
            values[which] = _changes.get_rows(model, rows[which], joint, key)
        return None if np.isnan(values).all() else Rows.of(self._gears[joint], key, values)

    def _ids(self, sims: ArrayLike | None) -> NDArray[np.intp] | None:
        """Simulations of a Batch, of a mask or of ids; None: all."""
        if sims is None:
            return None
        count = len(self._batch.bind("plugin_state"))
        ids = np.asarray(sims)
        if ids.dtype == bool and ids.shape == (count,):
            return np.flatnonzero(ids)
        if ids.size == 0:
            return np.empty(0, np.intp)
        whole = ids.dtype.kind in "iu" and ids.ndim <= 1
        if whole and ids.size == 1 and -count <= ids.item() < count:
            return np.array([ids.item() % count])
        if not whole or ids.min() < -count or ids.max() >= count or len(np.unique(ids % count)) < len(ids):
            raise GearError(
                f"sims = {sims!r} are not among the {count} simulations of the Batch; give a mask ({count},), or ids, each once"
            )
        return ids.astype(np.intp)

    def _apply(self, changes: Changes, values: Array, ids: NDArray[np.intp] | None = None) -> None:
        """Change all simulations, or these ids, or none."""
        if self._batch is None:
            changes.apply(self._model, self._data.plugin_state[None], values)
            return
        rows, models = self._batch.bind("plugin_state"), self._batch.models
        if ids is None and not isinstance(models, tuple):
            changes.apply(models or self._model, rows, values)
            return
        if ids is not None and len(ids) == 1:
            one = int(ids[0])
            changes.apply(
                models[one] if isinstance(models, tuple) else models or self._model, rows[one : one + 1], values
            )
            return
        part = rows.copy() if ids is None else rows[ids]
        if isinstance(models, tuple):
            for k, i in enumerate(range(len(rows)) if ids is None else ids):
                changes.apply(models[i], part[k : k + 1], values[k : k + 1])
        else:
            changes.apply(models or self._model, part, values)
        rows[slice(None) if ids is None else ids] = part


def _geared(model: mujoco.MjModel) -> list[int]:
    """The joints and tendons that have gears."""
    data = mujoco.MjData(model)
    return [
        i
        for i in range(model.njnt + model.ntendon)
        if _structs.plugin.mjg_readGear(None, model._address, data._address, i) > 0
    ]


def _is_of(batch: Any, model: mujoco.MjModel) -> bool:
    """True if a Batch, which has a copy of its model, is of this model; models of set_models may have gears of their own."""
    own = batch.models is None
    others = batch.models if isinstance(batch.models, tuple) else (batch.get_model(0) if own else batch.models,)

    def places(one: mujoco.MjModel) -> tuple[Any, ...]:
        return (one.nq, one.nv, one.npluginstate, bytes(one.names), bytes(one.plugin_attr) if own else b"")

    return all(
        other is model or (places(other) == places(model) and _geared(other) == _geared(model)) for other in others
    )
