"""The geared joints of a simulation, or of a Batch of simulations."""

import ctypes
import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from mjgear import _structs
from mjgear._catalogue import Facts, keys, make_facts, unknown
from mjgear._errors import GearError
from mjgear._library import NAME

Array = NDArray[np.float64]

_TEXT = 4000  # bytes for all refusals of a call
_DOUBLES = ctypes.POINTER(ctypes.c_double)

# what a sensor gives, in the order of the README
RESULTS = (
    "friction",
    "internal_force",
    "torque_in",
    "torque_out",
    "mode",
    "power_loss",
    "gap",
    "rotor_angle",
    "rotor_velocity",
    "iterations",
    "residual",
    "status",
    "fallbacks",
    "state",
)

# what a gear does, by its number in "state"
STATES = ("stuck", "driving", "driven", "jammed", "in gap")

# keys of a gap, which are not those of a description
_GAP_KEYS = ("half_gap", "stiffness", "damping", "rubber", "shaft_inertia", "exponent", "restitution", "stiffness_2", "stiffness_3", "torque_1", "torque_2", "hysteresis", "rotor_inertia")


@dataclasses.dataclass(frozen=True)
class Address:
    """Where a number stands in plugin_state.

    Attributes:
        value: index of the number.
        given: the number counts where plugin_state[given], a sum of bits, contains bit; None: it always counts.
        bit: that bit.
    """

    value: int
    given: int | None
    bit: int


class _Key:
    """A number of a gear, which may be read and written."""

    def __init__(self, unit: str, text: str) -> None:
        self.__doc__ = f"{text} ({unit})"

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, gear: "Gear | None", owner: type) -> Any:
        return self if gear is None else gear[self._name]

    def __set__(self, gear: "Gear", value: ArrayLike) -> None:
        gear.set(**{self._name: value})


class _Result:
    """A number that the last step resulted in."""

    def __init__(self, unit: str, text: str) -> None:
        self.__doc__ = f"{text} ({unit})"

    def __set_name__(self, owner: type, name: str) -> None:
        self._number = RESULTS.index(name)

    def __get__(self, gear: "Gear | None", owner: type) -> Any:
        if gear is None:
            return self
        results = gear.results
        return float(results[self._number]) if results.ndim == 1 else results[:, self._number]


class Gear:
    """The gear of one joint, or of a tendon.

    Numbers of the gear are attributes: ``gear.eta_forward`` reads, ``gear.eta_forward = 0.7`` changes, from the next
    step on and for this simulation alone; the model stays as it is. They are None where the model does not give them.
    Over a Batch they are arrays of shape (nsim,), and changes may be one number or one for each simulation.

    What the last step resulted in are attributes too: a float, or over a Batch a view of shape (nsim,).

    Units are SI at the output side; for a slide, or a tendon that is a length, read m, N, kg. ``joint`` is the joint's
    id, of a tendon ``model.njnt`` and its id.
    """

    gamma_u = _Key("1", "asymmetry coefficient of the input side")
    gamma_v = _Key("1", "asymmetry coefficient of the output side; 1 and more: cannot be driven back")
    eta_forward = _Key("1", "efficiency when the motor drives")
    eta_backward = _Key("1", "efficiency when the load drives; 0 and less: cannot be driven back")
    lead_angle = _Key("rad", "lead angle of a thread")
    mu = _Key("1", "friction coefficient of the flanks")
    coulomb = _Key("N m", "friction that does not depend on the load")
    static_ratio = _Key("1", "static to sliding friction")
    stribeck_friction = _Key("N m", "what coulomb gains at rest")
    stribeck_velocity = _Key("rad/s", "velocity at which the gain has fallen to 1/e")
    half_gap = _Key("rad", "half of the backlash")
    stiffness = _Key("N m/rad", "of the shaft behind the gap")
    damping = _Key("N m/(rad/s)", "of the shaft behind the gap")
    rotor_inertia = _Key("kg m2", "inertia of a rotor behind a gap")

    friction = _Result("N m", "friction torque, opposing motion")
    internal_force = _Result("N m", "internal force lambda")
    torque_in = _Result("N m", "torque into the gear")
    torque_out = _Result("N m", "torque delivered to the link")
    mode = _Result("1", "-1 slips backward, 0 stuck, 1 slips forward")
    power_loss = _Result("W", "power that friction turns into heat")
    gap = _Result("rad", "position in the backlash gap, 0 without backlash")
    rotor_angle = _Result("rad", "rotor angle, the joint's without backlash")
    rotor_velocity = _Result("rad/s", "rotor velocity, the joint's without backlash")
    iterations = _Result("1", "iterations of the solver")
    residual = _Result("1", "relative residual")
    status = _Result("1", "mjgStatus of mjgear.h: 0 solved, 1 solved but ill posed, others not solved")
    fallbacks = _Result("1", "how often the solver had to fall back on another method so far")
    state = _Result("1", "what the gear does, an index of mjgear.STATES: 0 stuck, 1 driving, 2 driven, 3 jammed, 4 in gap")

    def __init__(self, gears: "Gears", name: str, joint: int) -> None:
        self._gears = gears
        self.name = name
        self.joint = joint

    def __repr__(self) -> str:
        return f"<mjgear.Gear of {self._gears._kind(self.joint)} '{self.name}'>"

    def __getitem__(self, key: str) -> Any:
        """A number of the gear by its key; None where it is not given.

        Raises:
            KeyError: there is no such key.
        """
        return self._gears._get(self.joint, key)

    def __setitem__(self, key: str, value: ArrayLike) -> None:
        self.set(**{key: value})

    def set(self, **values: ArrayLike) -> None:
        """Change several numbers together or none: those that were given before and are not named stay.

        Args:
            values: keys of doc/mjcf.md that are numbers of a gear or of its gap. Over a Batch a number, or
                an array (nsim,).

        Raises:
            GearError: the library's lines; nothing has changed.
        """
        self._gears._set(self.joint, values, describes=False)

    def describe(self, **values: ArrayLike) -> None:
        """Describe the gear in other words: the keys take the place of all that said what it is.

        Friction besides and the gap stay. Otherwise as set().
        """
        self._gears._set(self.joint, values, describes=True)

    @property
    def results(self) -> Array:
        """What the last step resulted in, in the order of ``mjgear.RESULTS``: (14,), over a Batch (nsim, 14).

        A view of the joint's sensor, which is read only over a Batch; without a sensor a copy, and over a Batch a
        GearError that says so.
        """
        return self._gears._results(self.joint, self.name)

    def address(self, name: str) -> Address:
        """Where a number of this gear stands in ``MjData.plugin_state``, and in a row of ``Batch.bind("plugin_state")``.

        Args:
            name: a key that set() takes, or one of the names that mjg_stateAddress of plugin/mjgear_plugin.h lists.

        Raises:
            KeyError: the gear has no such number.
        """
        found = _structs.StateAddress()
        if _structs.plugin.mjg_stateAddress(ctypes.byref(found), self._gears._model._address, self.joint, name.encode()):
            raise KeyError(f"the gear of {self._gears._kind(self.joint)} '{self.name}' has no number '{name}' in plugin_state")
        return Address(found.value, found.given if found.given >= 0 else None, int(found.bit))

    def explain(self) -> Facts:
        """What the gear does in the pose of the last ``mj_forward``.

        With its rotor, the inertia behind it if all other joints could move freely, and the load that it holds now
        (1 N m if that is 0). Not over a Batch.
        """
        model, data = self._gears._single("explain")
        facts = _structs.Facts()
        _structs.plugin.mjg_explainGear(ctypes.byref(facts), model._address, data._address, self.joint)
        return make_facts(facts)


class Gears(Mapping[str, Gear]):
    """The geared joints and tendons of a simulation or of a Batch, by name or by id.

    ``Gears(model, data)["elbow"].eta_forward = 0.7``; iterating gives the names in the order of joints, then of tendons.
    The id of a tendon is ``model.njnt`` and its own; where a joint with a gear has its name, the name means the joint.

    Args:
        model: the model.
        data: its mujoco.MjData, or a mujoco.batch.Batch of it.

    Raises:
        GearError: the model has no gear.
    """

    def __init__(self, model: mujoco.MjModel, data: Any) -> None:
        self._model = model
        self._data = data
        self._batch: Any = None if isinstance(data, mujoco.MjData) else data
        probe = mujoco.MjData(model) if self._batch is not None else data
        self._gears: dict[int, Gear] = {}
        objects = [(mujoco.mjtObj.mjOBJ_JOINT, joint) for joint in range(model.njnt)]
        objects += [(mujoco.mjtObj.mjOBJ_TENDON, tendon) for tendon in range(model.ntendon)]
        for number, (kind, own) in enumerate(objects):
            if _structs.plugin.mjg_readGear(None, model._address, probe._address, number) > 0:
                self._gears[number] = Gear(self, mujoco.mj_id2name(model, kind, own) or str(number), number)
        if not self._gears:
            raise GearError(f"this model has no gear; mjgear.add(spec, joints, ..) adds one, or write {NAME} in its MJCF")
        self._names = {gear.name: gear for gear in reversed(self._gears.values())}
        self._names = dict(reversed(self._names.items()))
        self._sensors = self._find_sensors()
        if self._batch is not None and self._sensors:
            self._batch.bind("sensordata")  # from the next call on it is filled

    def __getitem__(self, key: str | int) -> Gear:
        gear = self._names.get(key) if isinstance(key, str) else self._gears.get(key)
        if gear is None:
            raise KeyError(f"{key!r} has no gear; geared are {', '.join(self._names)}")
        return gear

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def reset(self) -> None:
        """All gears and the solver as the model describes them."""
        model, data = self._single("reset")
        _structs.plugin.mjg_resetGears(model._address, data._address)

    @property
    def solver(self) -> str:
        """How steps are solved: "newton", "gauss_seidel", "lemke" and so on, see the README."""
        model, data = self._single("solver")
        name: bytes = _structs.plugin.mjg_getSolver(model._address, data._address)
        return name.decode()

    @solver.setter
    def solver(self, name: str) -> None:
        model, data = self._single("solver")
        error = ctypes.create_string_buffer(_TEXT)
        if _structs.plugin.mjg_setSolver(model._address, data._address, name.encode(), error, _TEXT):
            raise GearError(error.value.decode())

    # -------------------------------------- one simulation ---------------------------------------

    def _kind(self, number: int) -> str:
        return "joint" if number < self._model.njnt else "tendon"

    def _single(self, what: str) -> tuple[mujoco.MjModel, mujoco.MjData]:
        if self._batch is not None:
            raise GearError(f"{what} is of one simulation: take Gears(batch.get_model(i), batch.get_data(i))")
        return self._model, self._data

    def _get(self, joint: int, key: str) -> Any:
        return self._get_rows(joint, key) if self._batch is not None else _get(self._model, self._data, joint, key)

    def _set(self, joint: int, values: Mapping[str, ArrayLike], describes: bool) -> None:
        if self._batch is not None:
            self._set_rows(joint, values, describes)
        else:
            numbers = {key: float(value) for key, value in values.items()}  # type: ignore[arg-type]
            _set(self._model, self._data, joint, numbers, describes)

    # -------------------------------------- results ----------------------------------------------

    def _find_sensors(self) -> dict[int, slice]:
        """Where in sensordata the sensor of a gear writes."""
        model, found = self._model, {}
        joints = [gear.joint for gear in self._gears.values()]
        for sensor in np.flatnonzero(model.sensor_type == mujoco.mjtSensor.mjSENS_PLUGIN):
            if model.sensor_dim[sensor] < len(RESULTS):
                continue
            start = int(model.sensor_adr[sensor])
            where = slice(start, start + int(model.sensor_dim[sensor]))
            if model.sensor_objtype[sensor] == mujoco.mjtObj.mjOBJ_JOINT:
                found[int(model.sensor_objid[sensor])] = where
            elif model.sensor_objtype[sensor] == mujoco.mjtObj.mjOBJ_TENDON:
                found[model.njnt + int(model.sensor_objid[sensor])] = where
            elif len(joints) == 1:
                found[joints[0]] = where
        return {joint: where for joint, where in found.items() if joint in self._gears}

    def _results(self, joint: int, name: str) -> Array:
        where = self._sensors.get(joint)
        if where is not None:
            every: Array = self._data.sensordata if self._batch is None else self._batch.bind("sensordata")
            return every[..., where]
        if self._batch is not None:
            raise GearError(f"{self._kind(joint)} '{name}' has no sensor to read in a Batch; add one, or call mjgear.add(.., sensors=True)")
        count = _structs.plugin.mjg_readGear(None, self._model._address, self._data._address, joint)
        values = np.zeros(count)
        _structs.plugin.mjg_readGear(
            values.ctypes.data_as(_DOUBLES), self._model._address, self._data._address, joint
        )
        return values

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
            count, stride = len(rows[which]), rows.strides[0] // rows.itemsize
            target = values[which].ctypes.data_as(_DOUBLES)
            source = rows[which].ctypes.data_as(_DOUBLES)
            known = _structs.plugin.mjg_getStates(target, model._address, source, count, stride, joint, key.encode())
            if known < 0:
                raise _unknown_key(key)
        return None if np.isnan(values).all() else values

    def _set_rows(self, joint: int, values: Mapping[str, ArrayLike], describes: bool) -> None:
        rows = self._batch.bind("plugin_state")
        names = (ctypes.c_char_p * len(values))(*(name.encode() for name in values))
        numbers = np.array([np.broadcast_to(np.asarray(value, float), (len(rows),)) for value in values.values()])
        numbers = np.ascontiguousarray(numbers.T)
        changed = rows.copy()
        error = ctypes.create_string_buffer(_TEXT)
        for model, which in self._models():
            if _structs.plugin.mjg_setStates(
                model._address,
                changed[which].ctypes.data_as(_DOUBLES),
                len(changed[which]),
                changed.shape[1],
                joint,
                names,
                numbers[which].ctypes.data_as(_DOUBLES),
                len(values),
                int(describes),
                error,
                _TEXT,
            ):
                raise GearError(error.value.decode())
        rows[...] = changed


def _unknown_key(key: str) -> KeyError:
    return KeyError(str(unknown(key, "key", [*keys(), *_GAP_KEYS])))


def _get(model: mujoco.MjModel, data: mujoco.MjData, joint: int, key: str) -> float | None:
    """A number of a gear in one simulation; None where it is not given."""
    value = ctypes.c_double()
    known = _structs.plugin.mjg_getGear(ctypes.byref(value), model._address, data._address, joint, key.encode())
    if known < 0:
        raise _unknown_key(key)
    return value.value if known else None


def _set(model: mujoco.MjModel, data: mujoco.MjData, joint: int, values: Mapping[str, float], describes: bool) -> None:
    """Change a gear in one simulation."""
    count = len(values)
    names = (ctypes.c_char_p * count)(*(name.encode() for name in values))
    numbers = (ctypes.c_double * count)(*values.values())
    change = _structs.plugin.mjg_describeGear if describes else _structs.plugin.mjg_setGears
    error = ctypes.create_string_buffer(_TEXT)
    if change(model._address, data._address, joint, names, numbers, count, error, _TEXT):
        raise GearError(error.value.decode())
