"""Derivatives of a step, with everything that gears remember."""

from __future__ import annotations

import ctypes
import dataclasses
import numbers

import mujoco
import numpy as np
from numpy.typing import NDArray

from mjgear import _structs
from mjgear._errors import GearError, GearTypeError

_STATE = mujoco.mjtState.mjSTATE_FULLPHYSICS
_USER = mujoco.mjtState.mjSTATE_USER
_UNKNOWN, _NEITHER = 3, 2  # mjgSide of mjgear_plugin.h
_SMOOTHED = (
    "presliding_stiffness",
    "gamma_u_quadratic",
    "gamma_v_quadratic",
    "gamma_torque",
)  # keys with which friction of the last step counts

Array = NDArray[np.float64]


@dataclasses.dataclass(frozen=True, eq=False)
class Linearization:
    """A step about a state: dx+ = A dx + B du, dy = C dx + D du.

    Attributes:
        A: derivatives of the next state by the state (nx x nx).
        B: by the controls (nx x nu).
        C: of the sensors in the step by the state (nsensordata x nx).
        D: by the controls (nsensordata x nu).
        states: name of each number of dx (nx): position and velocity of each dof, activations, and the memory of gears:
            "rotor_angle elbow", "rotor_velocity elbow", "gap_position elbow", "gap_twist elbow" behind a gap (rotor minus joint; theta_b and
            omega_s of doc/backlash.md), "friction elbow" where friction is a state (pre-sliding, and losses that grow with the square of the torque),
            "brake_travel elbow" how far a brake has moved from where it is without power.
        exact: columns of A and then B that solve the step's equations on the current active set (nx + nu): those of controls, except for
            result of the function. The others are differences of steps, in A, B and the rows of C and D that ``exact_rows`` does not name.
        exact_rows: which rows of C and D are no differences (nsensordata): position and velocity sensors of hinges, slides, fixed tendons, and of
            actuators on hinges and slides.
        side: of each column, on which side it holds (nx + nu): 0 both, 1 forward, -1 backward.
        kinks: names of the columns for which a gear changes its piece on both sides: the derivative is that of another piece, of an exact
            column that of the piece in between.

    The first 2 nv + na numbers are the same as in ``mujoco.mjd_transitionFD``: positions as differences in the tangent space.
    """

    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[str, ...]
    exact: NDArray[np.bool_]
    exact_rows: NDArray[np.bool_]
    side: NDArray[np.int64]
    kinks: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<mjgear.Linearization of {len(self.states)} states, {self.B.shape[1]} controls, {self.C.shape[0]} sensors>"


def linearize(
    model: mujoco.MjModel, data: mujoco.MjData, *, eps: float = 1e-6, centered: bool = True, threads: int = 1
) -> Linearization:
    """Derivatives of a step by state and controls, with everything that gears remember.

    ``mujoco.mjd_transitionFD`` knows positions, velocities and activations. Rotors behind gaps and springs of pre-sliding are state too, in
    ``plugin_state``. ``mjd_transitionFD`` holds them fixed, so a controller designed with its matrices ignores them. Here they are part of
    the state. The other conventions are the same: finite differences of whole steps from the same warm start, positions in the tangent
    space, sensors of the step, controls within their ranges. Set ``model.opt.tolerance`` to 0 and enough iterations, as for any
    differences of a solver.

    Columns of controls are not differences. For a constant active set the step is a linear system, and a control changes its right side
    (``mjg_controlDerivative``). Differences are used in all other cases: actuators with activations or variable gains, the
    solver PGS, ``noslip_iterations``, sleep, and a shaft at a jump of its torque.

    A gear that slips, rests or yields is smooth as long as it continues. Where it changes its piece within eps on one side, the derivative
    is that of the other side (``side``). A gear that is stuck does not answer to a small torque: its derivatives are 0, exactly.

    Args:
        model: the model, with any integrator but RK4. It may have no gears.
        data: the state before the step, and the controls and forces that act; stays unchanged. Data of another model with the same elements
            are taken, as by ``mujoco.mj_step``: MuJoCo compares ``signature``, which knows elements and not their numbers.
        eps: perturbation of each number, rad, m, rad/s, N m and so on, from 1e-12 to 0.01.
        centered: both sides, if no gear changes its branch and no control reaches its range; else one.
        threads: of the rollout, from 1 to 1024.

    Raises:
        GearError: RK4, eps or threads out of range, data of another model, or with numbers that the engine takes for a mistake.
    """
    if not isinstance(model, mujoco.MjModel) or not isinstance(data, mujoco.MjData):
        raise GearTypeError(f"give an MjModel and its MjData, not {type(model).__name__} and {type(data).__name__}")
    if data.signature != model.signature or len(data.qpos) != model.nq or len(data.plugin_state) != model.npluginstate:
        raise GearError("the data are not of this model; make them with it, mujoco.MjData(model)")
    if model.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4:
        raise GearError("gears are not for RK4; set the integrator Euler, implicit, implicitfast or discrete")
    if (
        not isinstance(eps, numbers.Real)
        or isinstance(eps, bool)
        or not isinstance(threads, numbers.Integral)
        or isinstance(threads, (bool, np.timedelta64))
    ):
        raise GearTypeError(f"eps and threads are {eps!r} and {threads!r}; give numbers, 1e-6 and 1 for instance")
    if not isinstance(centered, (bool, np.bool_)):
        raise GearTypeError(f"centered is {centered!r}; give True or False")
    if not 1e-12 <= eps <= 1e-2:
        raise GearError(f"eps is {eps!r}; give a number from 1e-12 to 0.01, 1e-6 for instance")
    if not 1 <= threads <= 1024:
        raise GearError(f"threads is {threads!r}; give a whole number from 1 to 1024")
    if any(
        not np.all(np.abs(part) < 1e10)
        for part in (data.qpos, data.qvel, data.act, data.ctrl, data.qfrc_applied, data.xfrc_applied)
    ):
        raise GearError(
            "the data have a number that is not finite or beyond 1e10, where the engine resets; give a state that a step could begin with"
        )
    memory, modes = _memory(model)
    states = _names(model) + tuple(f"{key} {name}" for key, name, _ in memory)
    return _Differences(model, data, eps, [address for _, _, address in memory], modes, threads).make(states, centered)


# ------------------------------------------- what gears remember -----------------------------------------


def _memory(model: mujoco.MjModel) -> tuple[list[tuple[str, str, int]], list[int]]:
    """(key, joint, address in plugin_state) of each number on which the next step depends, and addresses of the pieces of gears."""
    probe = mujoco.MjData(model)
    found: list[tuple[str, str, int]] = []
    modes: list[int] = []
    address, value = _structs.StateAddress(), ctypes.c_double()

    def given(number: int, key: str) -> bool:
        known = _structs.plugin.mjg_getGear(
            ctypes.byref(value), model._address, probe._address, number, key.encode(errors="replace")
        )
        return bool(known > 0 and value.value != 0)

    def where(number: int, key: str) -> int | None:
        unknown = _structs.plugin.mjg_stateAddress(
            ctypes.byref(address), model._address, number, key.encode(errors="replace")
        )
        return None if unknown else int(address.value)

    mujoco.mj_step(model, probe)  # state of a gap; a motor_joint has none
    for number in range(model.njnt + model.ntendon):
        keys: list[str] = []
        if (started := where(number, "gap_started")) is not None and probe.plugin_state[started] != 0:
            keys += ["rotor_angle", "rotor_velocity"] * given(number, "rotor_inertia") + ["gap_position", "gap_twist"]
        keys += ["brake_travel"]  # only with a brake
        keys += ["friction"] * any(given(number, key) for key in _SMOOTHED)
        found += [
            (key, _structs.name_of(model, number), place) for key in keys if (place := where(number, key)) is not None
        ]
        if (mode := where(number, "mode")) is not None:
            modes.append(mode)
    return found, modes


def _names(model: mujoco.MjModel) -> tuple[str, ...]:
    """Names of positions and velocities of dofs, and of activations."""
    dofs = []
    for dof in range(model.nv):
        joint = int(model.dof_jntid[dof])
        first, last = model.jnt_dofadr[joint], dof + 1 == model.nv or model.dof_jntid[dof + 1] != joint
        dofs.append(_structs.name_of(model, joint) + ("" if last and dof == first else f"[{dof - first}]"))
    return (
        *(f"position {dof}" for dof in dofs),
        *(f"velocity {dof}" for dof in dofs),
        *(f"activation {k}" for k in range(model.na)),
    )


# ------------------------------------------- sensors -----------------------------------------------------


def _row(model: mujoco.MjModel, sensor: int) -> tuple[int, dict[int, float]] | None:
    """Order of time, 0 or 1, and coefficients by dof of a sensor that is linear in positions or velocities of hinges and slides; None: it is not."""
    kind, number = mujoco.mjtSensor(int(model.sensor_type[sensor])).name, int(model.sensor_objid[sensor])
    if kind not in (
        "mjSENS_JOINTPOS",
        "mjSENS_JOINTVEL",
        "mjSENS_TENDONPOS",
        "mjSENS_TENDONVEL",
        "mjSENS_ACTUATORPOS",
        "mjSENS_ACTUATORVEL",
    ):
        return None
    joints, factors = [number], [1.0]
    if "TENDON" in kind:
        wraps = slice(model.tendon_adr[number], model.tendon_adr[number] + model.tendon_num[number])
        if (model.wrap_type[wraps] != int(mujoco.mjtWrap.mjWRAP_JOINT)).any():
            return None
        joints, factors = model.wrap_objid[wraps].tolist(), model.wrap_prm[wraps].tolist()
    elif "ACTUATOR" in kind:
        if model.actuator_trntype[number] not in (
            int(mujoco.mjtTrn.mjTRN_JOINT),
            int(mujoco.mjtTrn.mjTRN_JOINTINPARENT),
        ):
            return None
        joints, factors = (
            [int(model.actuator_trnid[number, 0])],
            [float(model.actuator_gear[model.actuator_outadr[number], 0])],
        )
    if any(model.jnt_type[joint] < int(mujoco.mjtJoint.mjJNT_SLIDE) for joint in joints):
        return None
    row: dict[int, float] = {}
    for joint, factor in zip(joints, factors):
        row[int(model.jnt_dofadr[joint])] = row.get(int(model.jnt_dofadr[joint]), 0.0) + factor
    return int(kind.endswith("VEL")), row


def _known_rows(model: mujoco.MjModel, seen: Array, nx: int) -> dict[int, Array]:
    """Rows of C of sensors of the current values, by number in sensordata; their rows of D are 0. Sensors at their cutoff or with a delay are left out."""
    late = [
        getattr(model, name, np.zeros(model.nsensor)) for name in ("sensor_delay", "sensor_interval")
    ]  # newer releases have them
    known: dict[int, Array] = {}
    for sensor in range(model.nsensor):
        place, most = int(model.sensor_adr[sensor]), model.sensor_cutoff[sensor]
        if (
            (found := _row(model, sensor)) is None
            or any(np.any(part[sensor]) for part in late)
            or (most > 0 and abs(seen[place]) >= most)
        ):
            continue
        known[place] = np.zeros(nx)
        for dof, factor in found[1].items():
            known[place][found[0] * model.nv + dof] = factor
    return known


# ------------------------------------------- differences -------------------------------------------------


class _Differences:
    """Steps from perturbed states."""

    def __init__(
        self, model: mujoco.MjModel, data: mujoco.MjData, eps: float, memory: list[int], modes: list[int], threads: int
    ) -> None:
        self.model, self.eps, self.threads = model, eps, threads
        self.state, self.user = (
            np.empty(mujoco.mj_stateSize(model, _STATE)),
            np.empty(mujoco.mj_stateSize(model, _USER)),
        )
        mujoco.mj_getState(model, data, self.state, _STATE)
        mujoco.mj_getState(model, data, self.user, _USER)
        self.warmstart = data.qacc_warmstart.copy()
        bits = mujoco.mjtState
        self.q = self._part(bits.mjSTATE_QPOS, model.nq)
        plugin = self._part(bits.mjSTATE_PLUGIN, model.npluginstate).start
        velocity, activation = self._part(bits.mjSTATE_QVEL, model.nv), self._part(bits.mjSTATE_ACT, model.na)
        self.rest = np.r_[velocity, activation, [plugin + k for k in memory]].astype(
            int
        )  # entries of dx that are not positions
        self.modes = np.array([plugin + k for k in modes], int)
        self.memory = memory
        self.control = mujoco.mj_stateSize(model, int(_USER) & (int(bits.mjSTATE_CTRL) - 1))

    def _part(self, bit: mujoco.mjtState, size: int) -> slice:
        start = mujoco.mj_stateSize(self.model, int(_STATE) & (int(bit) - 1))
        return slice(start, start + size)

    def perturbed(self, column: int, step: float) -> tuple[Array, Array]:
        """State and user input with one number changed."""
        state, user, nv = self.state.copy(), self.user.copy(), self.model.nv
        if column < nv:
            qpos, direction = state[self.q].copy(), np.zeros(nv)
            direction[column] = 1
            mujoco.mj_integratePos(self.model, qpos, direction, step)
            state[self.q] = qpos
        elif column < nv + len(self.rest):
            state[self.rest[column - nv]] += step
        else:
            user[self.control + column - nv - len(self.rest)] += step
        return state, user

    def steps(self, starts: list[tuple[Array, Array]]) -> tuple[Array, Array]:
        """State and sensors after one step from each."""
        from mujoco import rollout  # loads a library of its own

        states, sensors = rollout.rollout(
            self.model, [mujoco.MjData(self.model) for _ in range(max(1, self.threads))], np.array([state for state, _ in starts]),
            np.array([user for _, user in starts])[:, None], control_spec=int(_USER), initial_warmstart=self.warmstart[None],
        )  # fmt: skip
        return states[:, 0], sensors[:, 0]

    def change(self, after: Array, before: Array) -> Array:
        """dx between two states."""
        dq = np.zeros(self.model.nv)
        mujoco.mj_differentiatePos(self.model, dq, 1.0, before[self.q], after[self.q])
        return np.concatenate([dq, after[self.rest] - before[self.rest]])

    def allowed(self, control: int, step: float) -> bool:
        """True if a control may change by this amount."""
        if (
            not self.model.actuator_ctrllimited[control]
            or self.model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_CLAMPCTRL
        ):
            return True
        low, high = self.model.actuator_ctrlrange[control]
        value = self.user[self.control + control]
        return bool(not low <= value <= high or low <= value + step <= high)

    def controls(self, velocity: Array) -> tuple[Array, NDArray[np.int32]]:
        """dx+/du of the equations of the step (nx x nu), and mjgSide of each control; velocity: after the step."""
        model, data = self.model, mujoco.MjData(self.model)
        mujoco.mj_setState(model, data, self.state, _STATE)
        mujoco.mj_setState(model, data, self.user, _USER)
        data.qacc_warmstart[:] = self.warmstart
        qvel, memory, side = (
            np.zeros((model.nu, model.nv)),
            np.zeros((model.nu, model.npluginstate)),
            np.full(model.nu, _UNKNOWN, np.int32),
        )
        numbers = [part.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for part in (qvel, memory)]
        _structs.plugin.mjg_controlDerivative(
            *numbers, side.ctypes.data_as(ctypes.POINTER(ctypes.c_int)), model._address, data._address, self.eps, None, 0
        )  # fmt: skip
        position = model.opt.timestep * qvel.T
        for joint in np.flatnonzero(
            model.jnt_type <= int(mujoco.mjtJoint.mjJNT_BALL)
        ):  # turned by velocity, in the tangent space
            dof = model.jnt_dofadr[joint] + 3 * int(model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE)
            turn, rows = np.zeros(9), slice(dof, dof + 3)
            mujoco.mjd_quatIntegrate(velocity[rows], model.opt.timestep, np.zeros(9), turn, np.zeros(3))
            position[rows] = turn.reshape(3, 3) @ position[rows]
        return np.vstack([position, qvel.T, np.zeros((model.na, model.nu)), memory.T[self.memory]]), side

    def make(self, states: tuple[str, ...], centered: bool) -> Linearization:
        model, nx, eps = self.model, len(states), self.eps
        columns = nx + model.nu
        base_steps, base_sensors = self.steps([(self.state, self.user)])
        base, seen = base_steps[0], base_sensors[0]
        by_control, control_side = self.controls(base[self.rest[: model.nv]])
        exact = np.r_[np.zeros(nx, bool), control_side != _UNKNOWN]
        stepped = np.flatnonzero(~exact | (model.sensor_needstage == mujoco.mjtStage.mjSTAGE_ACC).any()).tolist()
        steps, sensors = self.steps([self.perturbed(k, sign * eps) for sign in (1, -1) for k in stepped])
        next_state, next_sensors = np.zeros((nx, columns)), np.zeros((len(seen), columns))
        side = np.zeros(columns, int)
        kinks: list[str] = []

        def keeps(state: Array) -> bool:
            return bool((state[self.modes] == base[self.modes]).all())

        for k, forward, backward, seen_forward, seen_backward in zip(
            stepped, *np.split(steps, 2), *np.split(sensors, 2)
        ):
            ahead, back = k < nx or self.allowed(k - nx, eps), k < nx or self.allowed(k - nx, -eps)
            good = (ahead and keeps(forward), back and keeps(backward))
            if not any(good) and (ahead or back):
                kinks += [] if exact[k] else [states[k] if k < nx else f"control {k - nx}"]
                good = (ahead, back and not ahead)
            if all(good) and centered:
                next_state[:, k] = self.change(forward, backward) / (2 * eps)
                next_sensors[:, k] = (seen_forward - seen_backward) / (2 * eps)
                continue
            side[k] = 1 if good[0] else -1
            one, seen_one = (forward, seen_forward) if good[0] else (backward, seen_backward)
            next_state[:, k] = side[k] * self.change(one, base) / eps
            next_sensors[:, k] = side[k] * (seen_one - seen) / eps
        next_state[:, exact] = by_control[:, exact[nx:]]
        side[exact] = np.where(control_side == _NEITHER, 0, control_side)[exact[nx:]]
        kinks += [f"control {k}" for k in np.flatnonzero(control_side == _NEITHER)]
        exact_rows = np.zeros(len(seen), bool)
        for place, row in _known_rows(model, seen, nx).items():
            exact_rows[place], next_sensors[place, :nx], next_sensors[place, nx:] = True, row, 0
        return Linearization(
            next_state[:, :nx], next_state[:, nx:], next_sensors[:, :nx], next_sensors[:, nx:], states, exact, exact_rows, side, tuple(kinks)
        )  # fmt: skip
