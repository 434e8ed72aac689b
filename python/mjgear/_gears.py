"""The geared joints of a simulation, or of a Batch of simulations."""

from __future__ import annotations

import ctypes
import dataclasses
import difflib
from collections.abc import Iterator, Mapping
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from mjgear import _catalogue, _structs, _tables
from mjgear._catalogue import Facts, Value, gap_keys, keys, make_facts
from mjgear._errors import GearError
from mjgear._library import NAME

Array = NDArray[np.float64]

_TEXT = 4000  # bytes for all refusals of a call
_DOUBLES = ctypes.POINTER(ctypes.c_double)

# what a sensor gives, in the order of doc/sensors.md
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
STATES = ("stuck", "driving", "driven", "locked", "in gap")

# what the numbers of a slide are measured in is another unit, angles of teeth and threads stay
_ANGLES = ("lead_angle", "pressure_angle", "input_angle", "output_angle", "wrap_angle")


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
        self.unit, self.text = unit, text
        self.__doc__ = f"{text} ({unit})"

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, gear: Gear | None, owner: type) -> Any:
        return self if gear is None else gear[self._name]

    def __set__(self, gear: Gear, value: ArrayLike) -> None:
        gear.set(**{self._name: value})


class _Result:
    """A number that the last step resulted in."""

    def __init__(self, unit: str, text: str) -> None:
        self.unit, self.text = unit, text
        self.__doc__ = f"{text} ({unit})"

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name
        self._number = RESULTS.index(name)

    def __get__(self, gear: Gear | None, owner: type) -> Any:
        if gear is None:
            return self
        results = gear.results
        return float(results[self._number]) if results.ndim == 1 else results[:, self._number]

    def __set__(self, gear: Gear, value: Any) -> None:
        raise AttributeError(f"{self._name} is what the last step resulted in and cannot be set; set a number of the gear, such as coulomb")


class Gear:
    """The gear of one joint, or of a tendon.

    Numbers of the gear are attributes: ``gear.eta_forward`` reads, ``gear.eta_forward = 0.7`` changes, from the next
    step on and for this simulation alone; the model stays as it is. They are None where the model does not give them;
    gamma_u, gamma_v, eta_forward and eta_backward of the sliding gear are always known. Over a Batch they are arrays
    of shape (nsim,), and changes may be one number or one for each simulation. A text may have a unit:
    ``gear.coulomb = "2 Nm"``.

    What the last step resulted in are attributes too: a float, or over a Batch a view of shape (nsim,). They are not
    written to. ``print(gear)`` shows all numbers with their units.

    Units are SI at the output side; for a slide, or a tendon that is a length, read m, N, kg. ``joint`` is the joint's
    id, of a tendon ``model.njnt`` and its id.
    """

    gamma_u = _Key("1", "asymmetry coefficient of the input side")
    gamma_v = _Key("1", "asymmetry coefficient of the output side; 1 and more: cannot be driven back")
    eta_forward = _Key("1", "efficiency when the motor drives")
    eta_backward = _Key("1", "efficiency when the load drives; 0 and less: cannot be driven back")
    starting_forward = _Key("N m", "motor torque that just starts the unloaded joint")
    starting_backward = _Key("N m", "load torque that just drives the joint with the motor off")
    lead_angle = _Key("rad", "lead angle of a thread")
    lead = _Key("m", "travel of the thread in one turn")
    pitch_diameter = _Key("m", "pitch diameter of the thread")
    pressure_angle = _Key("rad", "angle of the flank")
    mu = _Key("1", "friction coefficient of the flanks")
    radius_in = _Key("m", "pitch radius of the input gear")
    radius_out = _Key("m", "pitch radius of the output gear")
    contact = _Key("m", "length of the path of contact of a pair of teeth")
    module = _Key("m", "module of full-depth teeth")
    mesh = _Key("1", "1: coefficients follow the teeth, 0: their mean")
    input_angle = _Key("rad", "of a wedge: angle of the input's motion to the surface of contact")
    output_angle = _Key("rad", "of a wedge: angle of the output's motion to it")
    teeth_sun = _Key("1", "teeth of the sun")
    teeth_planet = _Key("1", "teeth of a planet where it meshes with the sun")
    teeth_ring = _Key("1", "teeth of the ring that stands")
    teeth_planet_out = _Key("1", "teeth of a second gear on each planet")
    teeth_ring_out = _Key("1", "teeth of a ring that is the output")
    mesh_efficiency = _Key("1", "efficiency of each mesh, seen from the carrier")
    rated_torque = _Key("N m", "torque of the output at which rated_efficiency holds")
    rated_efficiency = _Key("1", "efficiency there, motor driving")
    no_load_torque = _Key("N m", "motor torque that keeps the unloaded gear running, at the motor")
    wrap_angle = _Key("rad", "angle over which a rope or belt slides")
    mu_avg = _Key("1", "share of the torque into the gear that it loses, mean of both directions")
    mu_dif = _Key("1", "what it loses more when the motor drives")
    coulomb = _Key("N m", "friction that does not depend on the load")
    static_ratio = _Key("1", "static to sliding friction")
    presliding_stiffness = _Key("N m/rad", "with which a stuck joint yields below break-away")
    stribeck_friction = _Key("N m", "what coulomb gains at rest")
    stribeck_velocity = _Key("rad/s", "velocity at which the gain has fallen to 1/e")
    stribeck_exponent = _Key("1", "exponent of that fall")
    curved_friction = _Key("N m", "viscous friction that bends: what it is at curved_velocity")
    curved_velocity = _Key("rad/s", "velocity at which curved_friction is reached")
    curved_exponent = _Key("1", "exponent of that growth")
    oneway = _Key("1", "1: turns forward only, -1: backward only, 0: both")
    gamma_u_stribeck = _Key("1", "what gamma_u gains at rest")
    gamma_v_stribeck = _Key("1", "what gamma_v gains at rest")
    gamma_u_quadratic = _Key("1/(N m)", "what gamma_u gains at rest for each unit of motor torque while the load drives")
    gamma_v_quadratic = _Key("1/(N m)", "what gamma_v gains at rest for each unit of load torque while the motor drives")
    tooth_pitch = _Key("rad", "of oneway: from tooth to tooth of a ratchet")
    tooth_phase = _Key("rad", "position of one of these teeth")
    temperature = _Key("degC", "at which coulomb_temperature and gamma_temperature are read")
    ratio = _Key("1", "motor motion for a unit of output motion")
    motor_starting = _Key("N m", "starting_forward, measured at the motor")
    motor_coulomb = _Key("N m", "coulomb, measured at the motor")
    half_gap = _Key("rad", "half of the backlash")
    stiffness = _Key("N m/rad", "of the shaft behind the gap")
    damping = _Key("N m/(rad/s)", "of the shaft behind the gap")
    rubber = _Key("rad", "width of the soft band in the gap")
    shaft_inertia = _Key("kg m2", "inertia in the shaft")
    exponent = _Key("1", "of the contact force")
    restitution = _Key("s/rad", "loss at impact")
    stiffness_2 = _Key("N m/rad", "of torsion above torque_1")
    stiffness_3 = _Key("N m/rad", "of torsion above torque_2")
    torque_1 = _Key("N m", "above which stiffness_2 counts")
    torque_2 = _Key("N m", "above which stiffness_3 counts")
    hysteresis = _Key("rad", "of torsion: angle between loading and unloading, without load")
    slip_torque = _Key("N m", "of torsion: most that it carries, above which it slips")
    freewheel = _Key("1", "of torsion: 1: the motor drives forward only, -1: backward only, 0: both")
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
    state = _Result("1", "what the gear does, an index of mjgear.STATES: 0 stuck, 1 driving, 2 driven, 3 locked, 4 in gap")

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
            AttributeError: there is none of this name, or it is what a step results in.
            GearError: the library's lines about the value.
        """
        if name == "results":
            raise AttributeError("results are what the last step resulted in and cannot be set; set a number of the gear")
        if not isinstance(getattr(type(self), name, None), (_Key, _Result)):
            raise AttributeError(_no_attribute(name, writes=True))
        object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(_no_attribute(name, writes=False))

    def __repr__(self) -> str:
        return f"<mjgear.Gear of {self._gears._kind(self.joint)} '{self.name}'>"

    def __str__(self) -> str:
        slide = self._gears._is_slide(self.joint)
        rows = []
        for name, number in vars(Gear).items():
            value = getattr(self, name) if isinstance(number, _Key) else None
            if value is not None:
                rows.append((f"  {name}", _tables.number(value), number.unit if name in _ANGLES else _tables.unit(number.unit, slide), number.text))
        lines = [f"gear of {self._gears._kind(self.joint)} '{self.name}'", _tables.columns(rows)]
        if self._gears._batch is None or self.joint in self._gears._sensors:
            shown = [(f"  {name}", self._shown(name), _tables.unit(kind.unit, slide), kind.text) for name, kind in vars(Gear).items() if isinstance(kind, _Result)]
            lines += ["last step", _tables.columns(shown)]
        return "\n".join(lines)

    def _shown(self, name: str) -> str:
        """A result for people: states by their names."""
        value = getattr(self, name)
        return STATES[int(value)] if name == "state" and np.ndim(value) == 0 else _tables.number(value)

    def __getitem__(self, key: str) -> Any:
        """A number of the gear by its key; None where it is not given.

        Raises:
            KeyError: there is no such key.
        """
        if not isinstance(key, str):
            raise KeyError(f"{key!r} is no key of a gear; write a name such as 'coulomb'. Of a Batch: gears['{self.name}'].coulomb[{key!r}]")
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

        Friction besides and the gap stay.

        Args:
            values: keys that describe a gear, eta_forward and eta_backward for instance, as in set().

        Raises:
            GearError: the library's lines; nothing has changed.
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

    @property
    def brake(self) -> Any:
        """Share of its torque that the brake had in the last step, from 0 (open) to 1 (closed); over a Batch (nsim,). None: no brake."""
        try:
            place = self.address("brake").value
        except KeyError:
            return None
        if self._gears._batch is None:
            return float(self._gears._data.plugin_state[place])
        return self._gears._batch.bind("plugin_state")[:, place]

    def explain(self) -> Facts:
        """What the gear does in the pose of the last ``mj_forward``.

        With its rotor, the inertia behind it if all other joints could move freely, and the load that it holds now
        (1 N m if that is 0). Not over a Batch.

        Returns:
            Facts, which print() shows as a table.

        Raises:
            GearError: over a Batch.
        """
        model, data = self._gears._single("explain")
        facts = _structs.Facts()
        _structs.plugin.mjg_explainGear(ctypes.byref(facts), model._address, data._address, self.joint)
        return make_facts(facts, self._gears._is_slide(self.joint))


def _no_attribute(name: str, writes: bool) -> str:
    """The line for an attribute of a gear that does not exist."""
    key = keys().get(name)
    if key and key.of_joint:
        return f"{name} is the engine's; change {'damping' if 'viscous' in name else 'armature'} of the joint or tendon in the model"
    known = [name for name, kind in vars(Gear).items() if isinstance(kind, _Key) or (not writes and not name.startswith("_"))]
    return _catalogue.unknown(name, "key", known)


_FOREIGN = (
    "the data are not of this model; make them with it, mujoco.MjData(model). Unpickled data have a model "
    "of their own: mjgear.Gears(data.model, data)"
)
_NONE = f"this model has no gear; mjgear.add(spec, joints, ..) adds one, or write {NAME} in its MJCF"


class Gears(Mapping[str, Gear]):
    """The geared joints and tendons of a simulation or of a Batch, by name or by id.

    ``Gears(model, data)["elbow"].eta_forward = 0.7``; iterating gives the names in the order of joints, then of tendons.
    The id of a tendon is ``model.njnt`` and its own; where a joint with a gear has its name, the name means the joint.
    ``print(gears)`` shows a table of them.

    Args:
        model: the model.
        data: its mujoco.MjData, or a mujoco.batch.Batch of it.

    Raises:
        GearError: the model has no gear, or the data are not of this model.
    """

    def __init__(self, model: mujoco.MjModel, data: Any) -> None:
        if not isinstance(model, mujoco.MjModel):
            if isinstance(model, mujoco.MjData):
                raise GearError("the first argument is an MjData; write Gears(model, data)")
            uncompiled = ", which is not compiled: spec.compile()" if isinstance(model, mujoco.MjSpec) else ""
            raise GearError(f"Gears needs an MjModel and its data, not {type(model).__name__}{uncompiled}")
        if not isinstance(data, mujoco.MjData) and (not hasattr(data, "bind") or isinstance(data, (mujoco.MjModel, mujoco.MjSpec))):
            raise GearError(f"Gears needs an MjData of the model, or a Batch, not {type(data).__name__}; make it with mujoco.MjData(model)")
        self._model = model
        self._data = data
        self._batch: Any = None if isinstance(data, mujoco.MjData) else data
        probe = mujoco.MjData(model) if self._batch is not None else data
        if hasattr(data, "get_model") and not _is_of(data, model):
            raise GearError(_FOREIGN if _geared(model) else _NONE)
        self._gears: dict[int, Gear] = {}
        objects = [(mujoco.mjtObj.mjOBJ_JOINT, joint) for joint in range(model.njnt)]
        objects += [(mujoco.mjtObj.mjOBJ_TENDON, tendon) for tendon in range(model.ntendon)]
        for number, (kind, own) in enumerate(objects):
            if _structs.plugin.mjg_readGear(None, model._address, probe._address, number) > 0:
                self._gears[number] = Gear(self, mujoco.mj_id2name(model, kind, own) or str(number), number)
        if not self._gears and _geared(model):
            raise GearError(_FOREIGN)
        if not self._gears:
            raise GearError(_NONE)
        self._names = {gear.name: gear for gear in reversed(self._gears.values())}
        self._names = dict(reversed(self._names.items()))
        self._sensors = self._find_sensors()
        if self._batch is not None and self._sensors:
            self._batch.bind("sensordata")  # from the next call on it is filled

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "solver" and not name.startswith("_"):
            raise AttributeError(self._no_attribute(name))
        object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # asked for while it is copied or unpickled, before there are names
            raise AttributeError(name)
        raise AttributeError(self._no_attribute(name))

    def _no_attribute(self, name: str) -> str:
        """The line for an attribute that does not exist."""
        nearest = difflib.get_close_matches(name, ["solver"])
        hint = f"did you mean {nearest[0]}" if nearest else f"numbers belong to one gear: gears['{next(iter(self))}']"
        if name in self._names:
            hint = f"gears are found by name: gears['{name}']"
        return f"unknown attribute '{name}' of Gears; {hint}"

    def __repr__(self) -> str:
        return f"<mjgear.Gears of {', '.join(self)}>"

    def __str__(self) -> str:
        units = {"eta_forward": "1", "eta_backward": "1", "coulomb": "N m", "static_ratio": "1", "half_gap": "rad", "armature": "kg m2"}
        shown = [key for key in units if key != "armature" and any(gear[key] is not None for gear in self._gears.values())]
        kinds = sorted({self._is_slide(number) for number in self._gears})
        rows = []
        for gear in self._gears.values():
            numbers = [_tables.number(gear[key]) for key in shown]
            state = [gear._shown("state")] if self._batch is None else []
            rows.append((gear.name, *numbers, _tables.number(self._inertia(gear.joint)), *state))
        head = ["gear", *shown, "armature", *(["state"] if self._batch is None else [])]
        line = [" | ".join(dict.fromkeys(_tables.unit(units[key], slide) for slide in kinds)) for key in (*shown, "armature")]
        return _tables.headed(head, ["", *line, *(head[len(shown) + 2 :] and [""])], rows)

    def __getitem__(self, key: str | int) -> Gear:
        gear = self._names.get(key) if isinstance(key, str) else self._gears.get(key)
        if gear is None:
            raise KeyError(f"{key!r} has no gear; those that have one are {', '.join(self._names)}")
        return gear

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def reset(self) -> None:
        """All gears and the solver as the model describes them.

        Raises:
            GearError: over a Batch.
        """
        model, data = self._single("reset")
        _structs.plugin.mjg_resetGears(model._address, data._address)

    @property
    def solver(self) -> str:
        """How steps are solved: "newton", "gauss_seidel", "lemke" and so on, see doc/mjcf.md. Not over a Batch."""
        model, data = self._single("solver")
        name: bytes = _structs.plugin.mjg_getSolver(model._address, data._address)
        return name.decode()

    @solver.setter
    def solver(self, name: str) -> None:
        model, data = self._single("solver")
        error = ctypes.create_string_buffer(_TEXT)
        if _structs.plugin.mjg_setSolver(model._address, data._address, str(name).encode(), error, _TEXT):
            raise GearError(error.value.decode())

    # -------------------------------------- one simulation ---------------------------------------

    def _kind(self, number: int) -> str:
        return "joint" if number < self._model.njnt else "tendon"

    def _is_slide(self, number: int) -> bool:
        """Whether the output is a slide, or a tendon that is a length."""
        model = self._model
        joint = number
        if number >= model.njnt:
            wrap = model.tendon_adr[number - model.njnt]
            if model.wrap_type[wrap] != mujoco.mjtWrap.mjWRAP_JOINT:
                return True
            joint = model.wrap_objid[wrap]
        return bool(model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_SLIDE)

    def _inertia(self, number: int) -> float:
        """The rotor's: that of a gap, else the armature."""
        model, gear = self._model, self._gears[number]
        behind = gear.rotor_inertia
        if behind is not None:
            return float(np.max(behind))
        return float(model.dof_armature[model.jnt_dofadr[number]] if number < model.njnt else model.tendon_armature[number - model.njnt])

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
            numbers = {key: float(one[0]) for key, one in _read(values, 1, self._place(joint)).items()}
            _set(self._model, self._data, joint, numbers, describes)

    def _place(self, joint: int) -> str:
        return f"{NAME}, {self._kind(joint)} '{self._gears[joint].name}'"

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
        numbers = np.ascontiguousarray(np.array(list(_read(values, len(rows), self._place(joint)).values())).T)
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


def _geared(model: mujoco.MjModel) -> list[int]:
    """The joints and tendons that have gears."""
    data = mujoco.MjData(model)
    return [i for i in range(model.njnt + model.ntendon) if _structs.plugin.mjg_readGear(None, model._address, data._address, i) > 0]


def _is_of(batch: Any, model: mujoco.MjModel) -> bool:
    """Whether a Batch, which has a copy of its model, is of this one; models of set_models may have gears of their own."""
    own = batch.models is None
    others = batch.models if isinstance(batch.models, tuple) else (batch.get_model(0) if own else batch.models,)

    def places(one: mujoco.MjModel) -> tuple[Any, ...]:
        return (one.nq, one.nv, one.npluginstate, bytes(one.names), bytes(one.plugin_attr) if own else b"")

    return all(other is model or (places(other) == places(model) and _geared(other) == _geared(model)) for other in others)


def _read(values: Mapping[str, ArrayLike], count: int, where: str) -> dict[str, Array]:
    """Numbers for count simulations, from one or from count of them; texts have units."""
    reporter = _catalogue.Reporter(where)
    found = {}
    for key, value in values.items():
        series = np.asarray(value, object)
        if _structs.core.mjg_keyFromName(key.encode()) < 0 and key not in gap_keys():
            reporter.refuse(_catalogue.unknown(key, "key", [*keys(), *gap_keys()]) + "; choose a number of a gear or its gap")
            continue
        if series.size != 1 and series.shape != (count,):
            many = "one simulation; give one" if count == 1 else f"{count} simulations; give one, or one for each"
            reporter.refuse(f"{key} has shape {series.shape} for {many}")
            continue
        info = _catalogue.info_of(key)
        one = [_catalogue.read_number(key, item, info, reporter) for item in series.ravel().tolist()]
        found[key] = np.full(count, one[0]) if len(one) == 1 else np.array(one)
    reporter.check()
    return found


def _unknown_key(key: str) -> KeyError:
    return KeyError(_catalogue.unknown(key, "key", [*keys(), *gap_keys()]))


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
