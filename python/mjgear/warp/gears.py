"""Gears of the worlds of a mujoco_warp.Data."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mujoco
import mujoco_warp as mjw
import numpy as np
import warp as wp
from mujoco_warp._src import derivative, forward
from mujoco_warp._src.types import ConeType, DisableBit, IntegratorType, Stage

from mjgear._catalogue import entries, unknown
from mjgear._robots import add_robot_gears
from mjgear._spec import add
from mjgear._errors import GearError, GearKeyError, GearTypeError
from mjgear._gears import Counts
from mjgear._names import renamed_attribute

from . import check, engine, kernels, reading

# R of a gear's row, relative to the effective inverse inertia of its joint
_SOFTNESS = 1e-3

# threads that share a world, a warp of a GPU
_LANES = 32

# residual, relative to the terms of the law, up to which a step counts as settled; MuJoCo Warp computes in single precision
_SETTLED = 1e-3

# rounds of a step at most; nearly all worlds need two or three
_ROUNDS = 12

# iterations of the constraint solve with elliptic cones: it takes many, and rounds that continue from there a third of the launches
_ITERATIONS = 4

# members of structures of the kernels that have another name here
_OF_KERNELS = {"slack": "_slack", "status": "_status", "internal": "internal_force", "power": "power_loss"}


def _of_each_gear(numbers: wp.array, n: int) -> wp.array:
    """View (nworld, n) of numbers of worlds, which all gears of a world share."""
    shape, strides = (numbers.shape[0], n), (numbers.strides[0], 0)
    view = wp.array(ptr=numbers.ptr, dtype=numbers.dtype, shape=shape, strides=strides, device=numbers.device)
    view._ref = numbers
    return view


def put_model(mjm: mujoco.MjModel, batch_sizes: dict[str, int] | None = None) -> mjw.Model:
    """A geared model on the device: mujoco_warp.put_model of the model without the plugin.

    batch_sizes as in mujoco_warp.put_model: fields that differ between worlds. Gears replace Euler and implicitfast;
    Model.opt says Euler, which then only updates positions.

    Raises:
        UnsupportedError: the model needs a feature that mjgear.warp lacks (backlash, CG, sparse Jacobians, sleep).
        GearError: it has no gear.
    """
    gears = reading.read(mjm)
    plain, geoms = reading.without_instances(reading.strip(mjm, gears))
    model = mjw.put_model(plain, batch_sizes=batch_sizes)
    index = model.geom_plugin_index.numpy()
    index[geoms] = -1
    model.geom_plugin_index = wp.array(index, dtype=int)
    model.mjgear = gears
    model.mjgear_mjm = mjm
    model.mjgear_integrator = model.opt.integrator
    return model


def make_data(mjm: mujoco.MjModel, **sizes: Any) -> mjw.Data:
    """mujoco_warp.make_data for a geared model; njmax must have room for a row of each gear."""
    return mjw.make_data(reading.strip(mjm, reading.read(mjm)), **sizes)


def put_data(mjm: mujoco.MjModel, mjd: mujoco.MjData, **sizes: Any) -> mjw.Data:
    """mujoco_warp.put_data for a geared model; njmax must have room for a row of each gear."""
    plain = reading.strip(mjm, reading.read(mjm))
    copied = mujoco.MjData(plain)
    spec = mujoco.mjtState.mjSTATE_PHYSICS | mujoco.mjtState.mjSTATE_USER | mujoco.mjtState.mjSTATE_TIME
    state = np.empty(mujoco.mj_stateSize(mjm, spec))
    mujoco.mj_getState(mjm, mjd, state, spec)
    mujoco.mj_setState(plain, copied, state, spec)
    mujoco.mj_forward(plain, copied)
    return mjw.put_data(plain, copied, **sizes)


def attach(
    model: mjw.Model,
    data: mjw.Data,
    mjm: mujoco.MjModel,
    joints: str | Sequence[str] | Mapping[str, Mapping[str, Any]] = (),
    preset: str | None = None,
    *,
    robot: str | None = None,
    rounds: int = _ROUNDS,
    precision: str = "single",
    applied: bool = False,
    **gear: Any,
) -> "Gears":
    """Give gears to joints of a model that is already on the device, for instance in Newton's SolverMuJoCo.

        gears = mjgear.warp.attach(solver.mjw_model, solver.mjw_data, solver.mj_model, "*_knee", gamma_u=0.1, gamma_v=0.3)

    Where gears give their joints rotor inertia or viscous friction these are written to Model.dof_armature and Model.dof_damping, as mjgear.add does it
    with a spec.

    Args:
        model: on the device. A graph that was captured before knows no gears.
        data: its worlds. njmax must have room for a row of friction loss of each gear.
        mjm: the model on the host from which they were made, without gears.
        joints: names, or patterns such as "*_knee", of hinge and slide joints of mjm: see mjgear.add. For several kinds of gears a mapping,
            {"*_knee": {"preset": "harmonic_drive"}, "*_hip": {"gamma_u": 0.1, ..}}.
        preset: a gear of mjgear.presets().
        robot: instead of joints a name of mjgear.robots(), whose joints mjm has.
        rounds, precision, applied: see Gears.
        gear: keys of the gear, see mjgear.add.

    Raises:
        UnsupportedError: the model needs a feature that mjgear.warp lacks.
        GearTypeError: an argument has another type than its name says.
        GearError: njmax is too small, model, data and mjm do not belong together, or the model has gears already.
        GearError: an unknown joint, key, preset or robot.
    """
    if not isinstance(mjm, mujoco.MjModel):
        raise GearTypeError(
            f"mjgear.warp: mjm is a {type(mjm).__name__}; give the mujoco.MjModel from which model was made"
        )
    check.worlds(model, data)
    if (model.nq, model.nv, model.njnt) != (mjm.nq, mjm.nv, mjm.njnt):
        raise GearError(
            f"mjgear.warp: model was not made from mjm: {model.njnt} joints and {model.nv} dofs on the device, {mjm.njnt} and {mjm.nv} on the host"
        )
    if getattr(model, "mjgear", None) is not None:
        raise GearError(
            "mjgear.warp: the model has gears already; for those of other worlds call mjgear.warp.Gears(model, data)"
        )
    if robot is not None and (preset is not None or len(joints)):
        raise GearError(
            f"mjgear.warp: robot '{robot}' says which joints have which gears; give either a robot or joints"
        )
    check.precision(precision)
    check.rounds(rounds)
    spec = reading.alone(mjm)
    if isinstance(joints, Mapping):
        if preset is not None or gear or robot is not None:
            raise GearError("mjgear.warp: joints say which gear each has; give no other preset, key or robot")
        for k, (pattern, keys) in enumerate(joints.items()):
            add(spec, pattern, name=f"gear{k}", **keys)
    elif robot is None:
        add(spec, joints, preset, **gear)
    else:
        add_robot_gears(spec, robot, **gear)
    described = spec.compile()
    read = reading.read(described, mjm)
    reading.check_options(mjm)
    if data.njmax < read.n:
        raise GearError(
            f"mjgear.warp: njmax = {data.njmax} has no room for {read.n} rows of gears; make the data with a larger one"
        )
    own = np.array([described.joint(name).dofadr[0] for name in read.names], int)
    damped = described.dof_damping[own] != mjm.dof_damping[read.dof]  # by viscous: others keep what each world has
    for array, dofs, values in (
        (model.dof_frictionloss, read.dof, 1.0),
        (model.dof_armature, read.dof, described.dof_armature[own]),
        (model.dof_damping, np.asarray(read.dof)[damped], described.dof_damping[own][damped]),
    ):
        numbers = array.numpy()
        numbers[:, dofs] = values
        array.assign(numbers)
    model.mjgear, model.mjgear_mjm, model.mjgear_integrator = read, described, model.opt.integrator
    return Gears(model, data, rounds, precision, applied)


def reset_data(model: mjw.Model, data: mjw.Data, reset: wp.array | None = None) -> None:
    """mujoco_warp.reset_data, and the gears of the worlds that are reset: Gears.reset."""
    mjw.reset_data(model, data, reset)
    gears = _gears_of(model, data)
    if gears is not None:
        gears.reset(reset)


def _gears_of(m: mjw.Model, d: mjw.Data) -> "Gears | None":
    """The gears of these worlds."""
    found: Gears | None = getattr(m, "mjgear_gears", {}).get(d.qpos.ptr)
    return found


engine.hook(_gears_of)


def _column(value: Any) -> Any:
    """An array (nworld) as (nworld, 1), and any other value as it is."""
    if isinstance(value, wp.array):
        return value.reshape((-1, 1)) if value.ndim == 1 else value
    value = value if isinstance(value, np.ndarray) else entries(value)
    return value[:, None] if value.ndim == 1 else value


class Gear:
    """The gear of one joint in all worlds: numbers and results are views (nworld) of the arrays of Gears."""

    name: str
    _gears: "Gears"

    def __init__(self, gears: "Gears", name: str) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "_gears", gears)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._gears, name)
        return value[:, self._gears.names.index(self.name)] if getattr(value, "ndim", 0) == 2 else value

    def __setattr__(self, name: str, value: Any) -> None:
        self.set(**{name: value})

    def set(self, *, sims: Any = None, **values: Any) -> None:
        """Gears.set for this joint: each value is one number or an array (nworld)."""
        column = self._gears.names.index(self.name)
        self._gears._set(slice(column, column + 1), sims, {name: _column(value) for name, value in values.items()})


class Gears:
    """The gears of all worlds, arrays of (nworld, n) on the device in the order of ``names``.

    Numbers may be set at any time (``gears.gamma_v = 1.1``, or an array (nworld, n)): gamma_u, gamma_v, coulomb, static_ratio,
    stribeck_friction, stribeck_velocity, stribeck_exponent, gamma_u_stribeck, gamma_v_stribeck, gamma_u_quadratic,
    gamma_v_quadratic (doc/mjcf.md). The rotor inertia is ``Model.dof_armature``.

    Results of the last step: friction (N m), internal_force (lambda, N m), mode (-1, 0, 1), state (numbers of mjgear.State),
    power_loss (W), residual (distance from the law relative to its terms), iterations of the friction problem, status (numbers of
    mjgear.Status: SOLVED; ITERATION_LIMIT, the residual is too large; NOT_PD, the friction problem was not set up; WORKSPACE, no row
    for a gear: njmax is too small). A world solves its gears together: they share iterations and status. By world (nworld): unsettled,
    the number of steps with another status than SOLVED.

    The friction of gears is part of ``Data.qfrc_constraint``. ``Data.qacc`` is (v+ - v)/h after a step. A resting
    joint has a velocity of exactly 0; in the step in which it stops, 0 to the round-off of (v+ - v)/h.
    A world starts without friction of an earlier step at time 0 and after reset().

    Args:
        model: from put_model.
        data: the worlds.
        rounds: of a step at most, from 1 on. A round is a friction problem at the states that constraints have, and a look at the states
            that follow. May be set later: ``gears.rounds = 20``.
        precision: of the friction problem, "single" or "double". MuJoCo Warp itself computes in single precision.
        applied: True if Data.qfrc_applied on the joints of gears is torque of their motors, computed by the program; False: a load.

    Raises:
        GearError: a model of mujoco_warp.put_model, rounds other than a whole number from 1 to 100, or another precision.
    """

    # numbers, the keys of reading.NUMBERS: read as arrays (nworld, n), set to one number or an array
    gamma_u: Any
    gamma_v: Any
    coulomb: Any
    static_ratio: Any
    stribeck_friction: Any
    stribeck_velocity: Any
    stribeck_exponent: Any
    gamma_u_stribeck: Any
    gamma_v_stribeck: Any
    gamma_u_quadratic: Any
    gamma_v_quadratic: Any
    # results of the last step, of each gear (nworld, n) and of each world (nworld)
    friction: wp.array
    internal_force: wp.array
    mode: wp.array
    state: wp.array
    power_loss: wp.array
    residual: wp.array
    status: wp.array
    iterations: wp.array
    steps: wp.array
    unsettled: wp.array
    slow: wp.array
    _slack: wp.array
    _status: wp.array
    _iterations: wp.array

    def __init__(
        self, model: mjw.Model, data: mjw.Data, rounds: int = _ROUNDS, precision: str = "single", applied: bool = False
    ) -> None:
        read = getattr(model, "mjgear", None)
        if read is None:
            raise GearError("mjgear.warp.Gears needs a model of mjgear.warp.put_model")
        check.worlds(model, data)
        check.precision(precision)
        check.rounds(rounds)
        self.names = read.names
        self.mjm = getattr(model, "mjgear_mjm", None)  # for mjgear.randomize
        self.n = read.n
        self.rounds = rounds
        self.softness = _SOFTNESS
        self.hold = 1e6
        self._kernels = kernels.make(precision)
        self._settled = _SETTLED
        self._integrator = model.mjgear_integrator
        self._discrete = self._integrator == engine.DISCRETE
        model.mjgear_gears = {**getattr(model, "mjgear_gears", {}), data.qpos.ptr: self}
        nworld, n, nv = data.nworld, self.n, model.nv
        numbers = kernels.Numbers(precision)

        for key, value in read.numbers.items():
            setattr(self, key, wp.array(np.tile(value, (nworld, 1)), dtype=wp.float32))
        for name in ("friction", "internal_force", "power_loss", "residual", "_slack"):
            setattr(self, name, wp.zeros((nworld, n), dtype=wp.float32))
        self.mode = wp.zeros((nworld, n), dtype=int)
        self.state = wp.zeros((nworld, n), dtype=int)
        for name in ("_status", "_iterations", "steps", "unsettled", "slow"):
            setattr(self, name, wp.zeros(nworld, dtype=int))
        self.status, self.iterations = (_of_each_gear(numbers, n) for numbers in (self._status, self._iterations))

        self._dof = wp.array(read.dof, dtype=int)
        self._rows = engine.FrictionRows(data, nv)
        geared = np.full(nv, -1)
        geared[read.dof] = np.arange(n)
        self._qpos = wp.array(model.jnt_qposadr.numpy()[read.joint], dtype=int)
        self._sensor_adr = wp.array([adr for adr, _ in read.sensors], dtype=int)
        self._sensor_gear = wp.array([joint for _, joint in read.sensors], dtype=int)
        self._geared = wp.array(geared, dtype=int)
        self._joint = wp.array(read.joint, dtype=int)
        self._motors = None if read.motors is None else wp.array(read.motors, dtype=int)
        self._applied = applied
        self._motor = wp.zeros((nworld, nv if read.motors is not None or applied else 1), dtype=float)
        self._actuator_inertia = wp.array(read.actuator_inertia, dtype=wp.float32)
        self._now, self._found = numbers.of_joints(numbers.Law, nworld, n), numbers.of_joints(numbers.Found, nworld, n)
        self._gear, self._past, self._result = (
            self._together(kind) for kind in (numbers.Gear, numbers.Past, numbers.Result)
        )

        # acceleration of the constraint solver to acceleration of the integrator
        flags = model.opt.disableflags
        damped = not flags & DisableBit.DAMPER
        if self._discrete:
            self._implicit = False
        elif self._integrator == IntegratorType.EULER:
            self._implicit = damped and not flags & DisableBit.EULERDAMP
        else:
            all_off = DisableBit.ACTUATION | DisableBit.SPRING | DisableBit.DAMPER
            self._implicit = (flags & all_off) != all_off
        self._servos = read.servos and self._implicit and self._integrator != IntegratorType.EULER

        self._elliptic = model.opt.cone == ConeType.ELLIPTIC
        self._numbers = numbers
        self._derivative = wp.zeros((nworld, model.nC if self._implicit else 1), dtype=float)
        euler = self._implicit and self._integrator == IntegratorType.EULER
        self._damping = wp.zeros((nworld, nv if euler else 1), dtype=float)
        self._smooth = wp.zeros((nworld, nv if self._discrete else 1), dtype=float)
        self._overflow = wp.zeros(nworld, dtype=int)  # Data.overflow before the solve
        self._tree = kernels.Tree()
        self._tree.rownnz, self._tree.rowadr, self._tree.colind = model.M_rownnz, model.M_rowadr, model.M_colind

        if not self._discrete:
            model.opt.integrator = IntegratorType.EULER
            model.opt.disableflags = flags | DisableBit.EULERDAMP
        self._settable = {"rounds", "softness", "hold"}

        # the step's end, after the model's own callback
        self._chain(model, "sensor", self._finish)

    internal = renamed_attribute("internal", "internal_force")
    power = renamed_attribute("power", "power_loss")

    def __getitem__(self, name: str) -> "Gear":
        """The gear of one joint: ``gears["elbow"].friction`` is a view of (nworld)."""
        if name not in self.names:
            raise GearKeyError(f"{name!r} has no gear; those that have one are {', '.join(self.names)}")
        return Gear(self, name)

    def _together(self, kind: Any) -> Any:
        """Arrays of this object as a struct for kernels."""
        made = kind()
        for name in kind.vars:
            setattr(made, name, getattr(self, _OF_KERNELS.get(name, name)))
        return made

    def _threads(self) -> int:
        """Threads that share a world: on the CPU one, unless Warp runs blocks on fibers."""
        fibers = getattr(wp.config, "enable_cpu_blocks", False)
        return 1 if self.steps.device.is_cpu and not fibers else _LANES

    def _scratch(self, m: mjw.Model, d: mjw.Data) -> Any:
        """Memory of a moment, from where MuJoCo Warp's solver has its own."""
        n, nv = self.n, m.nv
        rows = d.njmax if self._elliptic else 1
        shapes = {
            "H": (nv, nv), "X": (nv, n), "Z": (nv, n) if self._implicit else (1, 1), "A": (n, n), "gradient": (nv,), "x": (nv,), "v_free": (n,),
            "phi": (n,), "change": (n,), "number": (n * (2 * n + 18),), "integer": (3 * n,), "old_Ma": (nv,), "cone": (rows, 6),
            "cone_dim": (rows,), "shared": (_LANES,),
        }  # fmt: skip
        kind: Any = self._numbers.Scratch
        made = kind()
        for name, shape in shapes.items():
            setattr(made, name, wp.empty((d.nworld, *shape), dtype=kind.vars[name].type.dtype))
        return made

    def reset(self, worlds: wp.array | None = None) -> None:
        """Reset worlds: clear the friction of the last step and all counts.

        Args:
            worlds: (nworld), bool or int, true for worlds to reset; default: all. An array of Warp is read on the device.

        Raises:
            GearError: another shape or kind of numbers.
        """
        worlds = check.some_worlds(worlds, self.steps.shape[0])
        wp.launch(
            self._kernels.reset,
            dim=self.friction.shape,
            inputs=[worlds],
            outputs=[
                self.friction, self.internal_force, self.mode, self._slack, self.state, self.power_loss, self.residual,
                self._status, self.steps, self.unsettled, self.slow, self._iterations,
            ],
        )  # fmt: skip

    def set(self, *, sims: Any = None, **values: Any) -> None:
        """Change numbers in some worlds, on the device and for captured graphs, too.

            gears.set(sims=done, gamma_v=1.1)

        Args:
            sims: (nworld), bool or int, true for worlds that change; default: all. An array of Warp is read on the device.
            values: numbers of this class: one, (n), or (nworld, n); arrays of Warp stay on the device.

        Raises:
            AttributeError: the number does not exist.
            GearError: another shape or kind of numbers; nothing has changed.
        """
        self._set(slice(None), sims, values)

    def _set(self, columns: slice, sims: Any, values: dict[str, Any]) -> None:
        worlds = check.some_worlds(sims, self.steps.shape[0])
        for name in values:
            if name not in reading.NUMBERS:
                raise AttributeError(unknown(name, "key", list(reading.NUMBERS)))
        shape = self.friction[:, columns].shape
        read = {name: check.numbers(name, value, shape) for name, value in values.items()}
        for name, numbers in read.items():
            if not isinstance(numbers, wp.array):
                numbers = wp.array(np.broadcast_to(numbers, shape), dtype=wp.float32)
            wp.launch(
                self._kernels.write, dim=shape, inputs=[worlds, numbers], outputs=[getattr(self, name)[:, columns]]
            )

    @property
    def counts(self) -> Counts:
        """Steps, unsettled steps (Counts.unsolved) and slow ones of each world since its reset: arrays (nworld) on the device.

        In a slow step the rounds cycled, and gears became rows of friction loss.
        """
        return Counts(self.steps, self.unsettled, self.slow)

    def _ids(self, sims: Any) -> np.ndarray | None:
        """Worlds of a mask or of ids, on the host; None: all."""
        nworld = self.steps.shape[0]
        if sims is None:
            return None
        ids = np.atleast_1d(sims.numpy() if isinstance(sims, wp.array) else np.asarray(sims))
        if ids.dtype == bool and ids.shape == (nworld,):
            return np.flatnonzero(ids)
        whole = ids.size == 0 or (
            ids.ndim == 1 and ids.dtype.kind in "iu" and -nworld <= ids.min() and ids.max() < nworld
        )
        if not whole or len(np.unique(ids % nworld)) < len(ids):
            raise GearError(
                f"mjgear.warp: sims = {sims!r} are not among {nworld} worlds; give a mask, or ids, each once"
            )
        return np.asarray(ids.astype(int) % nworld)

    def _write(self, ids: np.ndarray | None, numbers: dict[str, np.ndarray]) -> None:
        """Numbers (worlds, n) of these worlds, NaN where they stay."""
        nworld = self.steps.shape[0]
        mask = np.ones(nworld, bool) if ids is None else np.isin(np.arange(nworld), ids)
        for name, values in numbers.items():
            every = getattr(self, name).numpy()
            every[mask if ids is None else ids] = np.where(
                np.isnan(values), every[mask if ids is None else ids], values
            )
            self.set(sims=mask, **{name: every})

    def __setattr__(self, name: str, value: Any) -> None:
        """Numbers are written to their arrays on the device, which captured graphs keep; other names are refused."""
        if name.startswith("_") or "_settable" not in self.__dict__:
            object.__setattr__(self, name, value)
        elif name in self._settable:
            check.rounds(value) if name == "rounds" else check.positive(name, value)
            object.__setattr__(self, name, value)
        elif name in reading.NUMBERS:
            array = getattr(self, name)
            array.assign(check.numbers(name, value, array.shape))
        elif name in self.__dict__:
            raise AttributeError(
                f"{name} is what the last step resulted in or what the model says, and cannot be set; set a number of the gears"
            )
        else:
            raise AttributeError(unknown(name, "key", [*reading.NUMBERS, *self._settable]))

    def _chain(self, model: mjw.Model, name: str, function: Callable[..., None]) -> None:
        before = getattr(model.callback, name)

        def both(m: mjw.Model, d: mjw.Data, *stage: Any) -> None:
            if before:
                before(m, d, *stage)
            if _gears_of(m, d) is self:
                function(m, d, *stage)

        setattr(model.callback, name, both)

    # ------------------------------------------ one step ---------------------------------------------------------

    def _solve(self, m: mjw.Model, d: mjw.Data, solve: Callable[..., Any]) -> None:
        """The constraint solve of a step, with gears."""
        self._rows.find(d)
        if self._discrete:
            engine.smooth_force(m, d, self._smooth)
        if self._implicit:
            self._integrator_derivative(m, d)
        couples = self._couples(m, d)
        self._first_rows(m, d, couples)
        with engine.most_iterations(m, _ITERATIONS if self._elliptic else m.opt.iterations):
            solve(m, d)
        self._settle(m, d, couples)

    def _first_rows(self, m: mjw.Model, d: mjw.Data, couples: Any) -> None:
        """The law of this step, and rows with the friction of the last one."""
        wp.launch(
            self._kernels.first_rows,
            dim=(d.nworld, self.n),
            inputs=[
                self._dof, self.softness, self.hold, m.dof_armature, self._actuator_inertia,
                int(self._discrete), couples, d.efm_ca if self._discrete else None, int(self._servos), m.dof_damping, self._tree, d.M,
                self._derivative, m.opt.timestep, d.time, d.qvel, self._motor_torque(m, d), m.dof_invweight0, self._rows.of(d), engine.overflow(d),
                self._gear, self._past,
            ],
            outputs=[self._now, self._found, d.efc.aref, d.efc.D, d.efc.frictionloss, self._overflow, self._status],
        )  # fmt: skip

    def _motor_torque(self, m: mjw.Model, d: mjw.Data) -> wp.array:
        """Torque of motors on the dofs of gears; loads excluded."""
        torque = d.qfrc_actuator if self._motors is None else self._sum_motors(m, d)
        if not self._applied:
            return torque
        wp.launch(
            self._kernels.add_applied,
            dim=(d.nworld, self.n),
            inputs=[self._dof, torque, d.qfrc_applied],
            outputs=[self._motor],
        )
        return self._motor

    def _sum_motors(self, m: mjw.Model, d: mjw.Data) -> wp.array:
        """Torque of those actuators that are motors of gears."""
        gravity = not m.opt.disableflags & DisableBit.GRAVITY
        wp.launch(
            self._kernels.sum_motors,
            dim=(d.nworld, self.n),
            inputs=[
                self._dof, self._joint, self._motors, d.moment_rownnz, d.moment_rowadr, d.moment_colind, d.actuator_moment, d.actuator_force,
                int(gravity), m.jnt_actgravcomp, d.qfrc_gravcomp, m.jnt_actfrclimited, m.jnt_actfrcrange,
            ],
            outputs=[self._motor],
        )  # fmt: skip
        return self._motor

    def _integrator_derivative(self, m: mjw.Model, d: mjw.Data) -> None:
        """M - h dF/dv."""
        outside, m.opt.integrator = m.opt.integrator, self._integrator
        if self._integrator == IntegratorType.EULER:
            engine.damping_derivative(m, d, self._damping)
            wp.copy(self._derivative, d.M)
            wp.launch(
                forward._euler_damp_qfrc,
                dim=(d.nworld, m.nv),
                inputs=[m.opt.timestep, m.M_rownnz, m.M_rowadr, self._damping],
                outputs=[self._derivative],
            )
        else:
            derivative.deriv_smooth_vel(m, d, self._derivative)
            engine.reset_free_bodies(m, d, self._derivative)
        m.opt.integrator = outside

    def _settle(self, m: mjw.Model, d: mjw.Data, couples: Any) -> None:
        """Make friction, motion and states of constraints consistent."""
        lanes = self._threads()
        wp.launch(
            self._kernels.settle,
            dim=(d.nworld, lanes),
            block_dim=_LANES,
            inputs=[
                lanes, self.rounds, m.nv, d.njmax, int(self._implicit), int(self._elliptic), self.softness, self._settled, self._dof, self._geared, m.opt.timestep,
                self._rows.of(d), self._tree, d.qH if self._discrete else d.M, self._derivative, couples, self._constraints(m, d), self._now,
                self._overflow, self._scratch(m, d),
            ],
            outputs=[self._motion(d), self._found, engine.overflow(d), self._iterations, self._status, self.steps, self.unsettled, self.slow],
        )  # fmt: skip

    def _motion(self, d: mjw.Data) -> Any:
        """Results of a solve as a struct for kernels."""
        made = kernels.Motion()
        made.qacc, made.next, made.qfrc_constraint = d.qacc, d.qacc_warmstart, d.qfrc_constraint
        made.smooth = self._smooth if self._discrete else d.qfrc_smooth
        made.Ma, made.force, made.state = d.efc.Ma, d.efc.force, d.efc.state
        return made

    def _couples(self, m: mjw.Model, d: mjw.Data) -> Any:
        """Couplings of dofs in the metric of "discrete"."""
        made = kernels.Couples()
        if self._discrete:
            made.nactuator, made.ntendon = m.nactuator, m.ntendon
            made.moment, made.ten_J = d.actuator_moment, d.ten_J
            for name in ("moment_rownnz", "moment_rowadr", "moment_colind", "efm_as", "efm_ts"):
                setattr(made, name, getattr(d, name))
            for name in ("ten_J_rownnz", "ten_J_rowadr", "ten_J_colind"):
                setattr(made, name, getattr(m, name))
        return made

    def _constraints(self, m: mjw.Model, d: mjw.Data) -> Any:
        """Rows and contacts of a step as a struct for kernels."""
        made = kernels.Constraints()
        for name in ("ne", "nf", "nefc"):
            setattr(made, name, getattr(d, name))
        made.kind, made.identity, made.J, made.D, made.aref, made.frictionloss = (
            getattr(d.efc, name) for name in ("type", "id", "J", "D", "aref", "frictionloss")
        )
        made.friction, made.dim, made.address = d.contact.friction, d.contact.dim, d.contact.efc_address
        made.impratio_invsqrt = m.opt.impratio_invsqrt
        return made

    def _finish(self, m: mjw.Model, d: mjw.Data, stage: Any) -> None:
        if stage != Stage.ACC:
            return
        k = self._kernels
        if self._implicit:
            lanes = self._threads()
            H = wp.empty((d.nworld, m.nv, m.nv), dtype=self._numbers.real)
            a, x = (wp.empty((d.nworld, m.nv), dtype=self._numbers.real) for _ in range(2))
            wp.launch(
                k.integrate_implicit,
                dim=(d.nworld, lanes),
                block_dim=_LANES,
                inputs=[lanes, m.nv, self._tree, d.M, self._derivative, H, a, x],
                outputs=[d.efc.Ma, d.qacc],
            )
            if self._integrator != IntegratorType.EULER:
                m.opt.integrator = self._integrator
                engine.solve_free_bodies(m, d)
                m.opt.integrator = IntegratorType.EULER
        wp.launch(
            k.finish,
            dim=(d.nworld, self.n),
            inputs=[self._dof, self._settled, m.opt.timestep, self._rows.of(d), d.qfrc_smooth, self._now, self._found],
            outputs=[d.qacc, self._past, self._result],
        )
        if self._sensor_adr.size == 0:
            return
        wp.launch(
            k.sensors,
            dim=(d.nworld, self._sensor_adr.size),
            inputs=[
                self._sensor_adr, self._sensor_gear, self._dof, self._qpos, self._now, d.qpos, d.qvel, d.qacc,
                self._past, self._result, self._iterations,
            ],
            outputs=[d.sensordata],
        )  # fmt: skip
