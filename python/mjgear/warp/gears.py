"""Gears of the worlds of a mujoco_warp.Data."""

import contextlib
from collections.abc import Sequence

import mujoco
import mujoco_warp as mjw
import numpy as np
import warp as wp
from mujoco_warp._src import derivative, forward
from mujoco_warp._src.types import ConeType, DisableBit, IntegratorType, Stage

from mjgear._catalogue import unknown
from mjgear._robots import dress
from mjgear._spec import add

from . import check, engine, kernels, reading

# R of a gear's row, relative to the effective inverse inertia of its joint
_SOFTNESS = 1e-3

# threads of a block where each of them has a world: 4 096 worlds are to reach all processors of a GPU
_BLOCK = 32

# constraint solves a step at most; nearly all worlds need one. On a GPU all are launched
_PASSES = 3

# residual, relative to the terms of the law, up to which a step counts as settled; MuJoCo Warp computes in single precision
_SETTLED = 1e-3

# of the largest acceleration: by so much a friction problem may move a world that is done; the next one would move it by rounding only
_NEAR = 1e-4

# of the largest force: by so much that of a constraint may then differ from what the friction problem has foreseen
_FORESEEN = 2e-6

# friction problems after the first constraint solve at most; and after another one, which there is where they went round
_ROUNDS, _ROUNDS_AGAIN = 8, 1

# iterations of the first constraint solve with elliptic cones, which bend: it takes many, and friction problems that go on from there
# take a third of the launches
_ITERATIONS = 4

# of the solver's tolerance when a Gears is made: what a piece that has just changed leaves must not move a joint that is about to stop
_TIGHT = 1e-4

# evaluations of a line search where rows of gears are stiff; models for MJX have five
_SEARCH = 50


def put_model(mjm: mujoco.MjModel, batch_sizes: dict[str, int] | None = None) -> mjw.Model:
    """A geared model on the device: mujoco_warp.put_model of the model without the plugin.

    batch_sizes are those of mujoco_warp.put_model: fields that differ between worlds. Euler and implicitfast take effect in
    Gears; Model.opt says Euler, which is what is left to do then.

    Raises:
        NotImplementedError: the model needs what mjgear.warp does not have (backlash, CG, sparse Jacobians, sleep).
        ValueError: it has no gear.
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


def make_data(mjm: mujoco.MjModel, **sizes) -> mjw.Data:
    """mujoco_warp.make_data for a geared model; njmax must have room for a row of each gear."""
    return mjw.make_data(reading.strip(mjm, reading.read(mjm)), **sizes)


def put_data(mjm: mujoco.MjModel, mjd: mujoco.MjData, **sizes) -> mjw.Data:
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
    joints: str | Sequence[str] = (),
    preset: str | None = None,
    *,
    robot: str | None = None,
    passes: int | None = None,
    precision: str = "single",
    **gear,
) -> "Gears":
    """Give joints of a model that is on the device already their gears, for instance that of Newton's SolverMuJoCo.

        gears = mjgear.warp.attach(solver.mjw_model, solver.mjw_data, solver.mj_model, "*_knee", gamma_u=0.1, gamma_v=0.3)

    Where gears give their joints rotor inertia it is written to Model.dof_armature, as mjgear.add does it with a spec.

    Args:
        model: on the device. A graph that was captured before knows no gears.
        data: its worlds. njmax must have room for a row of friction loss of each gear.
        mjm: the model on the host from which they were made, without gears.
        joints: names, or patterns such as "*_knee", of hinge and slide joints of mjm: see mjgear.add.
        preset: a gear of mjgear.presets().
        robot: instead of joints a name of mjgear.robots(), whose joints mjm has.
        passes, precision: see Gears.
        gear: keys of the gear, see mjgear.add.

    Raises:
        NotImplementedError: the model needs what mjgear.warp does not have.
        TypeError: an argument is something else than it is called.
        ValueError: njmax is too small, model, data and mjm do not belong together, or the model has gears already.
        mjgear.GearError: an unknown joint, key, preset or robot.
    """
    if not isinstance(mjm, mujoco.MjModel):
        raise TypeError(f"mjgear.warp: mjm is a {type(mjm).__name__}; give the mujoco.MjModel from which model was made")
    check.worlds(model, data)
    if (model.nq, model.nv, model.njnt) != (mjm.nq, mjm.nv, mjm.njnt):
        raise ValueError(
            f"mjgear.warp: model was not made from mjm: {model.njnt} joints and {model.nv} dofs on the device, {mjm.njnt} and {mjm.nv} on the host"
        )
    if getattr(model, "mjgear", None) is not None:
        raise ValueError("mjgear.warp: the model has gears already; for those of other worlds call mjgear.warp.Gears(model, data)")
    if robot is not None and (preset is not None or len(joints)):
        raise ValueError(f"mjgear.warp: robot '{robot}' says which joints have which gears; give either a robot or joints")
    check.precision(precision)
    check.passes(1 if passes is None else passes)
    spec = reading.alone(mjm)
    if robot is None:
        add(spec, joints, preset, **gear)
    else:
        dress(spec, robot, **gear)
    described = spec.compile()
    read = reading.read(described, mjm)
    reading.check_options(mjm)
    if data.njmax < read.n:
        raise ValueError(f"mjgear.warp: njmax = {data.njmax} has no room for {read.n} rows of gears; make the data with a larger one")
    for array, values in (
        (model.dof_frictionloss, 1.0),
        (model.dof_armature, described.dof_armature[[described.joint(name).dofadr[0] for name in read.names]]),
    ):
        numbers = array.numpy()
        numbers[:, read.dof] = values
        array.assign(numbers)
    model.mjgear, model.mjgear_mjm, model.mjgear_integrator = read, described, model.opt.integrator
    return Gears(model, data, passes, precision)


def reset_data(model: mjw.Model, data: mjw.Data, reset: wp.array | None = None):
    """mujoco_warp.reset_data, and the gears of the worlds that are reset: Gears.reset."""
    mjw.reset_data(model, data, reset)
    gears = _gears_of(model, data)
    if gears is not None:
        gears.reset(reset)


def _gears_of(m, d):
    """The gears of these worlds."""
    return getattr(m, "mjgear_gears", {}).get(d.qpos.ptr)


engine.hook(_gears_of)


class Gears:
    """The gears of all worlds, arrays of (nworld, n) on the device in the order of ``names``.

    Numbers, to be set at any time (``gears.gamma_v = 1.1``, or an array of (nworld, n)): gamma_u, gamma_v, coulomb, static_ratio,
    stribeck_friction, stribeck_velocity, stribeck_exponent, gamma_u_stribeck, gamma_v_stribeck,
    gamma_u_quadratic, gamma_v_quadratic, as doc/mjcf.md has them. The rotor inertia is
    ``Model.dof_armature``.

    Results of the last step: friction (N m), internal (lambda, N m), mode (-1, 0, 1), state (an index of mjgear.STATES;
    with one pass no joint is called locked), power (W), residual (distance from the law relative to its terms), and by
    world status (0 settled, 1 residual too large, 2 the dense problem
    was not solved, 3 no row for a gear: njmax is too small) and unsettled, the number of steps of which the status
    was not 0 (nworld).

    The friction of gears is part of ``Data.qfrc_constraint``. ``Data.qacc`` is (v+ - v)/h after a step. A joint that
    stands still has a velocity of exactly 0; in the step in which it stops, 0 up to the rounding of (v+ - v)/h.
    A world whose time is 0 starts without friction of its past; so does one after reset().

    Args:
        model: from put_model.
        data: the worlds.
        passes: constraint solves a step at most. Behind each one friction problems find friction and the states of constraints
            together; another solve follows in worlds where they do not end. 1: friction of the last step. Default: where it
            can be, one solve in which gears change their pieces as constraints change their states: with "discrete" and Euler
            without damping, pyramidal cones, gears that the load drives (gamma_v below 1 / static_ratio, as the model has
            them). 3 elsewhere, of which nearly all worlds need one.
        precision: of the friction problem, "single" or "double". MuJoCo Warp itself computes in single precision.

    Raises:
        ValueError: a model of mujoco_warp.put_model, passes that are no whole number from 1 on, or another precision.
    """

    def __init__(self, model: mjw.Model, data: mjw.Data, passes: int | None = None, precision: str = "single"):
        read = getattr(model, "mjgear", None)
        if read is None:
            raise ValueError("mjgear.warp.Gears needs a model of mjgear.warp.put_model")
        check.worlds(model, data)
        check.precision(precision)
        inside = passes is None
        passes = _PASSES if inside else passes
        check.passes(passes)
        self.names = read.names
        self.mjm = getattr(model, "mjgear_mjm", None)  # for mjgear.randomize
        self.n = read.n
        self.passes = passes
        self.softness = _SOFTNESS
        self.hold = 1e6
        self._kernels = kernels.make(precision)
        self._settled = _SETTLED
        self._integrator = model.mjgear_integrator
        self._discrete = self._integrator == engine.DISCRETE
        model.mjgear_gears = {**getattr(model, "mjgear_gears", {}), data.qpos.ptr: self}
        nworld, n, nv, njmax = data.nworld, self.n, model.nv, data.njmax
        numbers = kernels.Numbers(precision)
        real = numbers.real

        for key, value in read.numbers.items():
            setattr(self, key, wp.array(np.tile(value, (nworld, 1)), dtype=wp.float32))
        for name in ("friction", "internal", "power", "residual", "_slack"):
            setattr(self, name, wp.zeros((nworld, n), dtype=wp.float32))
        self.mode = wp.zeros((nworld, n), dtype=int)
        self.state = wp.zeros((nworld, n), dtype=int)
        for name in ("status", "unsettled", "iterations"):
            setattr(self, name, wp.zeros(nworld, dtype=int))
        self._pending, self._unsolved = wp.zeros(1, dtype=int), wp.zeros(1, dtype=int)

        self._dof = wp.array(read.dof, dtype=int)
        self._rows = engine.FrictionRows(data, nv)
        geared = np.full(nv, -1)
        geared[read.dof] = np.arange(n)
        self._qpos = wp.array(model.jnt_qposadr.numpy()[read.joint], dtype=int)
        self._sensor_adr = wp.array([adr for adr, _ in read.sensors], dtype=int)
        self._sensor_gear = wp.array([joint for _, joint in read.sensors], dtype=int)
        self._geared = wp.array(geared, dtype=int)
        self._actuator_inertia = wp.array(read.actuator_inertia, dtype=wp.float32)
        self._now = numbers.law(nworld, n)
        self._gear, self._past, self._result = (self._together(kind) for kind in (numbers.Gear, numbers.Past, numbers.Result))

        # what the integrator does to the acceleration of the constraint solver
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

        # in one metric gears are solved for inside the constraint solver; with elliptic cones that takes many iterations
        locks = (read.numbers["gamma_v"] + read.numbers["gamma_v_stribeck"]) * read.numbers["static_ratio"] >= 1
        self._elliptic = model.opt.cone == ConeType.ELLIPTIC
        self._diagonal = inside and engine.SEAM and not (self._implicit or self._elliptic or np.any(locks))
        dense = nworld, n, nv, njmax
        if self._diagonal:
            self._make_pieces(model, nworld, numbers)
            dense = 1, 1, 1, 1
        self._make_dense(model, real, *dense)

        if not self._discrete:
            model.opt.integrator = IntegratorType.EULER
            model.opt.disableflags = flags | DisableBit.EULERDAMP
        self._settable = {"passes", "softness", "hold"}

        # the step's end, behind the callback that the model has
        self._chain(model, "sensor", self._finish)

    def _together(self, kind):
        """Arrays of this object as a struct for kernels."""
        made = kind()
        for name in kind.vars:
            setattr(made, name, getattr(self, name if name != "slack" else "_slack"))
        return made

    def _make_pieces(self, model, nworld, numbers):
        """Memory of the way inside the constraint solver."""
        pieces = numbers.Pieces()
        for name in ("stop", "R", "hard", "offset", "centre", "slope", "constant", "diagonal", "metric", "smooth", "given", "last", "total"):
            setattr(pieces, name, wp.zeros((nworld, self.n), dtype=float))
        for name in ("released", "tried"):
            setattr(pieces, name, wp.zeros((nworld, self.n), dtype=int))
        pieces.again, pieces.rounds = wp.zeros(nworld, dtype=int), wp.zeros(nworld, dtype=int)
        pieces.largest = wp.zeros(nworld, dtype=float)
        self._pieces = pieces
        self._tolerance = wp.array(model.opt.tolerance.numpy() * _TIGHT, dtype=float)
        self._until = wp.zeros(nworld, dtype=float)

    def _make_dense(self, model, real, nworld, n, nv, njmax):
        """Memory of the dense problem that lasts from solve to solve, or from step to step."""
        shape = (nworld, njmax) if self._elliptic else (1, 1)
        self._cone = wp.zeros((*shape, 6), dtype=wp.float32)
        self._cone_first = wp.zeros(shape, dtype=int)
        self._cone_dim = wp.zeros(shape, dtype=int)
        self._gradient, self._x = (wp.zeros((nworld, nv), dtype=real) for _ in range(2))
        self._kept, self._kept_Ma = (wp.zeros((nworld, nv), dtype=float) for _ in range(2))
        for name in ("t", "lam", "v", "v_free", "phi", "t_rows", "coupling"):
            setattr(self, "_" + name, wp.zeros((nworld, n), dtype=real))
        self._m = wp.zeros((nworld, n), dtype=int)
        self._progress = kernels.Progress()
        for name, member in kernels.Progress.vars.items():
            setattr(self._progress, name, wp.zeros(nworld, dtype=member.type.dtype))
        self._derivative = wp.zeros((nworld, model.nC if self._implicit else 1), dtype=float)
        euler = self._implicit and self._integrator == IntegratorType.EULER
        self._damping = wp.zeros((nworld, nv if euler else 1), dtype=float)
        self._smooth = wp.zeros((nworld, nv if self._discrete else 1), dtype=float)
        self._repeats = self._opens = False
        self._lanes = 1 if self.status.device.is_cpu else _BLOCK  # threads of a world that look at its rows
        self._nsolving = None  # within an iteration of the constraint solver

    def _scratch(self, m, d):
        """Memory of a moment, from where MuJoCo Warp's solver has its own: H, X, A, numbers and integers of Newton's method, Z."""
        real, n, nv = self._x.dtype, self.n, m.nv
        H, X, A = (wp.empty((d.nworld, rows, columns), dtype=real) for rows, columns in ((nv, nv), (nv, n), (n, n)))
        numbers, integers = wp.empty((d.nworld, n * (2 * n + 18)), dtype=real), wp.empty((d.nworld, 3 * n), dtype=int)
        return H, X, A, numbers, integers, wp.empty((d.nworld, nv, n) if self._implicit else (1, 1, 1), dtype=real)

    def reset(self, worlds: wp.array | None = None):
        """Worlds start anew: no friction of the past, nothing counted.

        Args:
            worlds: (nworld), bool or int, those that are not 0; default: all. An array of Warp is read on the device.

        Raises:
            ValueError: another shape or kind of numbers.
        """
        worlds = check.some_worlds(worlds, self.status.shape[0])
        wp.launch(
            self._kernels.reset,
            dim=self.friction.shape,
            inputs=[worlds],
            outputs=[
                self.friction, self.internal, self.mode, self._slack, self.state, self.power, self.residual,
                self.status, self.unsettled, self.iterations,
            ],
        )  # fmt: skip

    def __setattr__(self, name, value):
        """Numbers are written to their arrays on the device, which captured graphs keep; other names are refused."""
        if name == "passes" and self.__dict__.get("_diagonal"):
            raise AttributeError("these gears are solved for inside the constraint solver; make them with Gears(model, data, passes=..)")
        if name.startswith("_") or "_settable" not in self.__dict__:
            object.__setattr__(self, name, value)
        elif name in self._settable:
            check.passes(value) if name == "passes" else check.positive(name, value)
            object.__setattr__(self, name, value)
        elif name in reading.NUMBERS:
            array = getattr(self, name)
            array.assign(check.numbers(name, value, array.shape))
        elif name in self.__dict__:
            raise AttributeError(f"{name} is what the last step resulted in or what the model says, and cannot be set; set a number of the gears")
        else:
            raise AttributeError(unknown(name, "key", [*reading.NUMBERS, *self._settable]))

    def _chain(self, model, name, function):
        before = getattr(model.callback, name)

        def both(m, d, *stage):
            if before:
                before(m, d, *stage)
            if _gears_of(m, d) is self:
                function(m, d, *stage)

        setattr(model.callback, name, both)

    # ------------------------------------------ one step ---------------------------------------------------------

    def _solve(self, m, d, solve):
        """The constraint solve of a step, with gears."""
        self._rows.find(d)
        if self._diagonal:
            self._solve_inside(m, d, solve)
            return
        if self._discrete:
            engine.smooth_force(m, d, self._smooth)
        if self._implicit:
            self._integrator_derivative(m, d)
        self._first_rows(m, d)
        with engine.most_iterations(m, _ITERATIONS if self._elliptic and self.passes > 1 else m.opt.iterations):
            solve(m, d)
        self._pending.fill_(d.nworld)
        self._again(m, d, solve, self.passes - 1)

    def _again(self, m, d, solve, left):
        """Friction, and where a world is not done then another constraint solve."""
        if left == 0:
            return
        scratch = self._scratch(m, d)
        self._unsolved.zero_()
        if self._implicit:
            self._integrator_rows(m, d, scratch)
        limit = _ROUNDS if left == self.passes - 1 else _ROUNDS_AGAIN
        engine.repeat(self._pending, lambda: self._friction(m, d, scratch, limit), limit, m)
        engine.when(self._unsolved, lambda: self._solve_again(m, d, solve, left))

    def _solve_again(self, m, d, solve, left):
        """Another constraint solve, in worlds that are not done; it starts from the motion that belongs to their friction."""
        self._repeats = self._opens = True
        solve(m, d)
        self._repeats = False
        self._pending.zero_()
        wp.launch(
            self._kernels.restore,
            dim=(d.nworld, m.nv),
            inputs=[self._progress, self._kept, self._kept_Ma],
            outputs=[d.qfrc_constraint, d.efc.Ma, self._pending],
        )
        self._again(m, d, solve, left - 1)

    def _before_states(self, m, d, ctx, incremental):
        if self._nsolving is not None:
            self._next_pieces(m, d, ctx, self._nsolving, incremental, counts=False)
        elif self._repeats and self._opens:
            self._opens = False
            wp.launch(self._kernels.skip, dim=self.status.shape, block_dim=_BLOCK, inputs=[self._progress.settles], outputs=[ctx.done])

    def _before_iteration(self, ctx, nsolving):
        if self._diagonal:
            self._nsolving = nsolving
        elif self._repeats:
            wp.launch(self._kernels.count, dim=self.status.shape, block_dim=_BLOCK, inputs=[self._progress.settles], outputs=[ctx.done, nsolving])

    def _behind_iteration(self):
        self._nsolving = None

    def _gains(self, m, d, *shifts):
        """Arguments of kernels: what actuators do to rotors with "discrete", and forces that it adds."""
        if not self._discrete:
            return [0, 0, *[None] * (5 + len(shifts))]
        return [
            1, m.nactuator, d.moment_rownnz, d.moment_rowadr, d.moment_colind, d.actuator_moment, d.efm_as,
            *(getattr(d, name) for name in shifts),
        ]  # fmt: skip

    def _first_rows(self, m, d):
        """The law of this step, and rows with the friction of the last one."""
        wp.launch(
            self._kernels.first_rows,
            dim=(d.nworld, self.n),
            inputs=[
                self._dof, self.softness, self.hold if self.passes > 1 else 1.0, m.dof_armature, self._actuator_inertia,
                *self._gains(m, d, "efm_ca"), int(self._servos), m.dof_damping, m.M_rownnz, m.M_rowadr, d.M, self._derivative,
                m.opt.timestep, d.time, d.qvel, d.qfrc_actuator, m.dof_invweight0, self._rows.of(d), engine.overflow(d), self._gear, self._past,
            ],
            outputs=[
                self._now, self._t, self._lam, self._m, d.efc.aref, d.efc.D, d.efc.frictionloss, self._progress,
                self.iterations, self.status,
            ],
        )  # fmt: skip

    def _integrator_derivative(self, m, d):
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

    def _integrator_rows(self, m, d, scratch):
        """What it does to a."""
        H, X, *others, Z = scratch
        wp.launch(
            self._kernels.integrator_rows,
            dim=d.nworld,
            block_dim=_BLOCK,
            inputs=[m.nv, self._dof, m.M_rownnz, m.M_rowadr, m.M_colind, d.M, self._derivative],
            outputs=[H, X, Z, self.status, self.unsettled],
        )

    def _friction(self, m, d, scratch, limit):
        """The friction problem at the states that constraints have, in worlds that are not done, and their states then."""
        k = self._kernels
        H, X, A, number, integer, Z = scratch
        smooth = self._smooth if self._discrete else d.qfrc_smooth
        metric = d.qH if self._discrete else d.M
        if self._elliptic:
            wp.launch(
                k.cones,
                dim=(d.nworld, self._lanes),
                inputs=[
                    self._lanes, limit, self._progress, m.nv, m.opt.impratio_invsqrt, d.contact.friction, d.contact.dim, d.contact.efc_address,
                    d.nefc, d.njmax, d.efc.type, d.efc.id, d.efc.J, d.efc.D, d.efc.aref, d.efc.state, d.qacc,
                ],
                outputs=[self._cone, self._cone_first, self._cone_dim],
            )  # fmt: skip
        wp.launch(
            k.hessian,
            dim=(d.nworld, m.nv),
            inputs=[
                limit, self._progress, m.M_rownnz, m.M_rowadr, m.M_colind, metric, self._geared, d.nefc, d.njmax,
                d.efc.type, d.efc.id, d.efc.J, d.efc.D, d.efc.state, int(self._elliptic),
                self._cone, self._cone_first, self._cone_dim, d.efc.Ma, smooth, d.efc.force,
            ],
            outputs=[H, self._gradient],
        )  # fmt: skip
        couples = [0, 0, *[None] * 10]
        if self._discrete:
            couples = [
                m.nactuator, m.ntendon, d.moment_rownnz, d.moment_rowadr, d.moment_colind, d.actuator_moment, d.efm_as,
                m.ten_J_rownnz, m.ten_J_rowadr, m.ten_J_colind, d.ten_J, d.efm_ts,
            ]  # fmt: skip
            wp.launch(k.discrete_terms, dim=(d.nworld, m.nv), inputs=[limit, self._progress, *couples], outputs=[H])
        wp.launch(
            k.friction_problem,
            dim=d.nworld,
            block_dim=_BLOCK,
            inputs=[
                limit, self._progress, _NEAR, m.nv, int(self._implicit), int(self._discrete), self._dof, self.softness, m.opt.timestep,
                m.M_rownnz, m.M_rowadr, m.M_colind, metric, *couples, self._rows.of(d), d.nefc, d.njmax, smooth, d.efc.force,
                d.qacc, self._gradient, self._x, self._now, H, X, Z, A, self._coupling, self._v_free, self._phi,
                self._t_rows, number, integer, self._t, self._v, self._lam, self._m,
            ],
            outputs=[
                d.qacc_warmstart, d.efc.Ma, self._kept_Ma, d.qfrc_constraint, d.efc.aref, d.efc.D, d.efc.frictionloss, self.iterations,
                self.status, self.unsettled, self._pending, engine.overflow(d),
            ],
        )  # fmt: skip
        wp.launch(
            k.states,
            dim=(d.nworld, self._lanes),
            block_dim=_BLOCK,
            inputs=[
                self._lanes, limit, _FORESEEN, m.nv, d.njmax, self._constraints(m, d), self._geared, self._cone, smooth,
                self._gradient, self._t, self._m,
            ],
            outputs=[
                d.qacc_warmstart, self._progress, d.efc.force, d.efc.state, d.qacc, d.efc.Ma, d.qfrc_constraint, self._kept, self._kept_Ma,
                self._pending, self._unsolved,
            ],
        )  # fmt: skip

    def _constraints(self, m, d):
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

    # ------------------------------------------ inside the constraint solver --------------------------------------

    def _metric(self, m, d):
        """What the solver takes as its metric: for H, and for products, where that is another array."""
        return (d.qH, d.efm_diag) if self._discrete else (d.M, d.M)

    def _solve_inside(self, m, d, solve):
        """One solve, in which gears change their pieces."""
        warmstart = not m.opt.disableflags & DisableBit.WARMSTART
        wp.launch(
            self._kernels.open_rows,
            dim=(d.nworld, self.n),
            inputs=[
                self._dof, self.softness, m.dof_armature, self._actuator_inertia, *self._gains(m, d, "efm_c", "efm_ca"),
                m.opt.timestep, d.time, d.qvel, d.qfrc_actuator, m.dof_invweight0, self._rows.of(d), m.M_rownnz, m.M_rowadr,
                d.qacc_warmstart if warmstart else d.qacc_smooth, self._gear, self._past,
            ],
            outputs=[
                *self._metric(m, d), d.qfrc_smooth, self._now, self._pieces, d.efc.aref, d.efc.D, d.efc.frictionloss,
                self.status,
            ],
        )  # fmt: skip
        asked = m.opt.ls_iterations, m.opt.tolerance
        m.opt.ls_iterations, m.opt.tolerance = max(m.opt.ls_iterations, _SEARCH), self._tolerance
        solve(m, d)
        m.opt.ls_iterations, m.opt.tolerance = asked
        wp.launch(
            self._kernels.close_rows,
            dim=(d.nworld, self.n),
            inputs=[
                self._dof, self._settled, m.opt.timestep, self._rows.of(d), m.M_rownnz, m.M_rowadr, int(self._discrete),
                d.solver_niter, d.efc.state, d.efc.D, self._now, self._pieces,
            ],
            outputs=[
                d.qacc, self._past, *self._metric(m, d), d.efc.Ma, d.qfrc_smooth, d.efc.force, d.efc.frictionloss,
                d.qfrc_constraint, self._result, self.iterations,
            ],
        )  # fmt: skip

    def _next_pieces(self, m, d, ctx, nsolving, incremental, counts):
        """Between the line search and the solver's look at constraint states. counts: it sets the counters of changes to 0."""
        wp.launch(
            self._kernels.next_pieces,
            dim=d.nworld,
            block_dim=_BLOCK,
            inputs=[
                int(counts), int(incremental), int(self._discrete), self.softness, m.opt.iterations, self._tolerance, self._dof, self._rows.of(d),
                m.M_rownnz, m.M_rowadr, d.nefc, d.njmax, self._now, d.qacc, d.solver_niter, d.efc.state,
                ctx.done, nsolving, self._until, self._pieces, ctx.Jaref, d.efc.D, d.efc.frictionloss, *self._metric(m, d), d.efc.Ma,
                d.qfrc_smooth, ctx.h, ctx.quad_changed_ids, ctx.quad_changed_count, ctx.state_changed_count,
                ctx.improvement, ctx.alpha,
            ],
        )  # fmt: skip

    def _finish(self, m, d, stage):
        if stage != Stage.ACC:
            return
        k = self._kernels
        if self._implicit:
            H = wp.empty((d.nworld, m.nv, m.nv), dtype=self._x.dtype)
            wp.launch(
                k.integrate_implicit,
                dim=d.nworld,
                block_dim=_BLOCK,
                inputs=[m.nv, m.M_rownnz, m.M_rowadr, m.M_colind, d.M, self._derivative, H, self._gradient, self._x],
                outputs=[d.efc.Ma, d.qacc],
            )
            if self._integrator != IntegratorType.EULER:
                m.opt.integrator = self._integrator
                engine.solve_free_bodies(m, d)
                m.opt.integrator = IntegratorType.EULER
        if not self._diagonal:
            wp.launch(
                k.finish,
                dim=(d.nworld, self.n),
                inputs=[
                    self._dof, self._settled, m.opt.timestep, self._rows.of(d), d.efc.force, d.efc.state, d.efc.D,
                    d.efc.frictionloss, d.qfrc_smooth, self._now, self._coupling,
                ],
                outputs=[d.qacc, self._past, self._result],
            )  # fmt: skip
        if self._sensor_adr.size == 0:
            return
        wp.launch(
            k.sensors,
            dim=(d.nworld, self._sensor_adr.size),
            inputs=[
                self._sensor_adr, self._sensor_gear, self._dof, self._qpos, self._now, d.qpos, d.qvel, d.qacc,
                self._past, self._result, self.iterations,
            ],
            outputs=[d.sensordata],
        )  # fmt: skip
