"""The identification of an arm, from files to numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import mujoco
import numpy as np

from mjgear.identify.arm import law, logs, touching
from mjgear.identify.arm.choose import Choice, again, choose, published
from mjgear.identify.arm.drift import Drift, drift
from mjgear.identify.arm.dynamics import Arm
from mjgear.identify.arm.fit import Fitter, Known, State
from mjgear.identify.arm.intervals import Intervals, intervals
from mjgear.identify.arm.law import PLACE, Rung
from mjgear.identify.arm.model import straight, viscous
from mjgear.identify.arm.problem import Problem, changed
from mjgear.identify.logs import LogError, read_torques

_STILL = 2e-3  # rad or m: a joint that moves less is held
_LEAST_MASS, _LEAST_INERTIA = 1e-6, 1e-9  # kg, kg m2: mass and inertia of links without any in the model
_LATE = 3.0  # delays of more samples get a remark
_AS_GOOD = 1.02  # errors with a smaller ratio count as equal
_TITLES = {"largest": "the friction with all terms", "native": "Coulomb and viscous friction"}
_ROUNDS = 15  # fits, each with new columns


@dataclass
class Identified:
    """An arm, identified.

    Attributes:
      spec: the robot as given.
      fitter: problem and columns.
      state: the best point; native: the best one with Coulomb and viscous friction alone.
      choice: terms of each joint and held-out errors.
      found: numbers with intervals.
      drifts: of each joint.
      notes: further remarks.
    """

    spec: mujoco.MjSpec
    fitter: Fitter
    state: State
    native: State
    choice: Choice
    found: Intervals
    drifts: list[Drift]
    notes: list[str] = field(default_factory=list)

    @property
    def arm(self) -> Arm:
        """Links and joints."""
        return self.fitter.arm

    @property
    def rungs(self) -> list[Rung]:
        """Of each joint."""
        return self.choice.rungs

    def parameters(self, state: State | None = None) -> np.ndarray:
        """(links, 10) inertial parameters."""
        return self.fitter.links((state or self.state).S)[0]

    def table(self) -> str:
        """Held-out errors of each joint in lines."""
        unit = "A" if self.fitter.problem.logs[0].is_current else "N m"
        width = max(14, *(len(name) + 2 for name in self.arm.joints))
        lines = [f"{'joint':<{width}}{'friction':<42}{'size':>9}{'native':>9}{'chosen':>9}{'largest':>9}"]
        for j, name in enumerate(self.arm.joints):
            errors = "".join(f"{self.choice.rms(what)[j]:>9.4g}" for what in ("native", "chosen", "largest"))
            lines.append(
                f"{name:<{width}}{law.title(self.rungs[j].terms):<42}{self.fitter.problem.size[j]:>9.4g}{errors}"
            )
        lines.append(
            f"  root mean squares in {unit}: of the torque, and of what is predicted held out with Coulomb and viscous friction alone at this joint,"
        )
        lines.append("  with the chosen terms, with all terms")
        if "M1" in self.choice.errors:
            lines += [
                "",
                f"{'joint':<{width}}"
                + "".join(f"{name:>9}" for name in ("chosen", *law.PUBLISHED))
                + "   chosen / best of all",
            ]
            for j, name in enumerate(self.arm.joints):
                errors = "".join(f"{self.choice.rms(what)[j]:>9.4g}" for what in ("chosen", *law.PUBLISHED))
                lines.append(f"{name:<{width}}{errors}{1 / self.choice.better(j)[1]:>12.3f}")
            lines.append(
                "  the same with a published model of servos at one joint (doc/presets.md), and the chosen friction at all others"
            )
        return "\n".join(lines)

    def numbers(self) -> str:
        """All numbers with their intervals, in lines."""
        lines = []
        for name, i in self.found.numbers.items():
            value, interval = i.text()
            lines.append(f"  {name:<28}{value:>12} {i.unit:<20} {interval}")
        return "\n".join(lines)

    def json(self) -> str:
        """All of it for programs; mjgear.randomize reads parameters, correlation and order."""
        joints = {}
        for j, name in enumerate(self.arm.joints):
            rung = self.rungs[j]
            joints[name] = {
                "terms": sorted(rung.terms), "friction": law.title(rung.terms), "curved_power": rung.shape.power,
                "held_out": {what: float(self.choice.rms(what)[j]) for what in self.choice.errors},
                "worse_without": {term: {"growth": g, "t": t} for (k, term), (g, t) in self.choice.without.items() if k == j},
                "drift": {"p_logs": self.drifts[j].p_logs, "p_trend": self.drifts[j].p_trend},
            }  # fmt: skip
        numbers = {name: i.json() for name, i in self.found.numbers.items()}
        links = {link.name: dict(zip(("m", "hx", "hy", "hz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz"), map(float, p)))
                 for link, p in zip(self.arm.links, self.parameters())}  # fmt: skip
        return json.dumps({"parameters": numbers, "order": self.found.order, "correlation": self.found.correlation.tolist(), "joints": joints,
                           "links": links, "notes": self.notes}, indent=1)  # fmt: skip


def identify(
    robot: str | Path | mujoco.MjSpec,
    paths: Sequence[str | Path],
    *,
    joints: Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
    facts: Mapping[str, float | str] | None = None,
    dt: float | None = None,
    header: Sequence[str] | None = None,
    **options: object,
) -> Identified:
    """Identify an arm from files.

    Args:
      robot: MJCF or URDF file, or a model that is being built. Meshes that are not there are left out.
      paths: logs and folders.
      joints: joints of the logs, in order; None: all hinges and slides with a column of positions. columns,
      facts, dt, header: as in logs.read.
      options: of identify_logs.

    Raises: LogError: robot, logs or options are not understood.
    """
    spec, model, remarks = load_links(robot)
    names = list(joints) if joints is not None else movable(model)
    read = logs.read_all(paths, model, names, columns=columns, dt=dt, facts=facts, header=header)
    found = identify_logs(spec, names, read, **options)  # type: ignore[arg-type]
    found.notes[:0] = remarks
    return found


def movable(model: mujoco.MjModel) -> list[str]:
    """Names of all hinges and slides.

    Raises:
      LogError: there are none.
    """
    kinds = (int(mujoco.mjtJoint.mjJNT_SLIDE), int(mujoco.mjtJoint.mjJNT_HINGE))
    if not (names := [model.joint(k).name for k in range(model.njnt) if model.jnt_type[k] in kinds]):
        raise LogError("the robot has no hinges or slides")
    return names


def _only(log: logs.ArmLog, joints: Sequence[int]) -> logs.ArmLog:
    """A log of some joints."""

    def some(x: np.ndarray | None) -> np.ndarray | None:
        return None if x is None else x[:, joints]

    return replace(
        log,
        position=log.position[:, joints],
        torque=log.torque[:, joints],
        goal=some(log.goal),
        temperature=some(log.temperature),
    )


def load(robot: str | Path | mujoco.MjSpec) -> tuple[mujoco.MjSpec, mujoco.MjModel]:
    """The robot and its compiled model.

    Raises:
      LogError: it does not load.
    """
    if isinstance(robot, mujoco.MjSpec):
        return robot, robot.compile()
    try:
        spec = mujoco.MjSpec.from_file(str(robot))
        return spec, spec.compile()
    except ValueError as error:
        raise LogError(f"{robot}: {error}") from None


def load_links(robot: str | Path | mujoco.MjSpec) -> tuple[mujoco.MjSpec, mujoco.MjModel, list[str]]:
    """Return the robot, its compiled model and lines about repairs: URDF often comes without its meshes, or with links without inertia.

    Raises:
      LogError: it does not load.
    """
    try:
        return *load(robot), []
    except LogError as error:
        if isinstance(robot, mujoco.MjSpec):
            raise
        try:
            spec = mujoco.MjSpec.from_file(str(robot))
        except ValueError:
            raise error from None
    remarks = []
    # inertias stand beside the meshes
    shapes = [geom for geom in spec.geoms if geom.type == mujoco.mjtGeom.mjGEOM_MESH]
    for unused in (*shapes, *spec.meshes):
        spec.delete(unused)
    if shapes:
        remarks.append("the robot's meshes are not all there, and were left out")
    spec.compiler.boundmass, spec.compiler.boundinertia = (
        max(spec.compiler.boundmass, _LEAST_MASS),
        max(spec.compiler.boundinertia, _LEAST_INERTIA),
    )
    spec.compiler.balanceinertia = True
    impossible = [body.name for body in spec.bodies if body.explicitinertial and _repair(body)]
    if impossible:
        remarks.append(
            f"inertias of the robot that cannot exist were made as small as they may be: {', '.join(impossible)}"
        )
    try:
        return spec, spec.compile(), remarks
    except ValueError as error:
        raise LogError(f"{robot}: {error}") from None


def _repair(body: mujoco.MjsBody) -> bool:
    """Give a body an inertia that can exist; False if it has one."""
    full = np.array(body.fullinertia)
    if not np.isfinite(full).all():
        return not np.all(body.inertia > 0)
    xx, yy, zz, xy, xz, yz = full
    w, V = np.linalg.eigh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    if w[0] > 0:
        return False
    I = V @ np.diag(np.maximum(w, _LEAST_INERTIA)) @ V.T
    body.fullinertia = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
    return True


def identify_logs(
    spec: mujoco.MjSpec,
    joints: Sequence[str],
    read: Sequence[logs.ArmLog],
    *,
    inertia_tolerance: float = 0.2,
    torque_tolerance: float | Sequence[float] = 0.1,
    torque_constants: Mapping[str, float] | None = None,
    coupling: Mapping[str, Mapping[str, float]] | None = None,
    torques: Mapping[str, str | Path] | None = None,
    replicates: int = 100,
    cutoff: float | None = None,
    seed: int = 0,
    compare: bool = False,
    prefer: str = "simple",
    told: Callable[[str], None] = lambda text: None,
) -> Identified:
    """Identify an arm from logs.

    Args:
      joints: names in the order of the logs' columns.
      inertia_tolerance: relative, of masses, centres (of the gyration radius) and inertias of the model; 0: they are right.
      torque_tolerance: relative, of the torques' scale, or of torque_constants, one for all or for each joint.
      torque_constants: joint -> N m at the output side for one logged unit; currents without one: it is fitted.
      coupling: drive, by its joint's name -> joint -> rate of the drive in one of that joint; drives that are not named move their joint.
      torques: joint -> table of known torques along its position (mjgear.identify.logs.read_torques).
      replicates: of the bootstrap.
      cutoff: of the filter of positions, Hz; None: by the logs' spectra.
      compare: hold out the published models of servos too.
      prefer: "simple" or "prediction" (choose.py).
    """
    still = [j for j in range(len(joints)) if max(float(np.ptp(log.position[:, j])) for log in read) < _STILL]
    if len(still) == len(joints):
        raise LogError("no joint moves in any log")
    names = [name for j, name in enumerate(joints) if j not in still]
    held = {joints[j]: float(np.mean(np.concatenate([log.position[:, j] for log in read]))) for j in still}
    read = [_only(log, [j for j in range(len(joints)) if j not in still]) for log in read] if still else read
    if np.ndim(torque_tolerance) and still:
        torque_tolerance = [t for j, t in enumerate(np.asarray(torque_tolerance)) if j not in still]
    torque_constants = {name: value for name, value in (torque_constants or {}).items() if name not in held}
    arm = Arm(
        spec.compile(),
        names,
        held,
        _coupled(names, coupling),
        {n: read_torques(str(f)) for n, f in (torques or {}).items() if n not in held},
    )
    touching.refuse(arm, read)
    joints = names
    told("motions")
    problem = Problem(arm, read, cutoff)
    constants = dict(torque_constants or {})
    for name in constants:
        if name not in joints:
            raise LogError(f"torque constant of '{name}': there is no such joint in the logs")
    tolerance = np.broadcast_to(np.asarray(torque_tolerance, dtype=float), (arm.n,)).copy()
    scale = np.ones(arm.n)
    for j, name in enumerate(joints):
        if name in constants:
            scale[j] = 1 / constants[name]
        elif read[0].is_current:
            scale[j], tolerance[j] = np.nan, np.inf
    fitter = Fitter(problem, Known(inertia_tolerance, scale, tolerance))
    notes = (
        ["terms were kept wherever held-out torques are predicted better with them (--prefer prediction)"]
        if prefer == "prediction"
        else []
    )
    notes += [f"{joints[j]}: the robot in MJCF lacks the known torques of its table" for j in arm.torques]
    notes += [f"{name} does not move in any log and is held at {value:.4g}" for name, value in held.items()]

    told("fit: native")
    rungs = [Rung() for _ in joints]
    fitter.remake(rungs, fitter.start, robust=False)
    native, _ = fitter.solve(rungs, fitter.start)
    fitter.remake(rungs, native)
    native, _ = fitter.solve(rungs, native)
    warm = all(r.warmth is not None for r in problem.rows)
    most = frozenset({"load", "curved", "stribeck", "quadratic"}) | (
        frozenset({"temperature"}) if warm else frozenset()
    )
    rungs = [changed(r, most) for r in rungs]
    told("fit: all terms")
    fitter.search(rungs, native)
    fitter.remake(rungs, native, robust=False)
    state = fitter.settle(rungs, native, _ROUNDS)
    choice = choose(fitter, rungs, state, told, prefer)
    told("fit: chosen terms")
    fitter.search(choice.rungs, state)
    state = fitter.settle(choice.rungs, state, _ROUNDS)
    # repeat with the shapes of the remaining terms: a wrong shape may make another term look necessary
    largest = choice.errors["largest"]
    choice = choose(fitter, choice.rungs, state, told, prefer)
    choice.errors["largest"] = largest
    state = fitter.settle(choice.rungs, state, _ROUNDS, exponents=True)
    told("intervals")
    found = intervals(fitter, choice.rungs, state, replicates, seed)
    native, _ = fitter.solve([changed(r, frozenset()) for r in choice.rungs], state)
    drifts = [drift(fitter, choice.rungs, state, j) for j in range(arm.n)]
    if compare:
        published(fitter, choice, state, told)
    else:
        again(fitter, choice, state)
    result = Identified(spec, fitter, state, native, choice, found, drifts, notes)
    notes += _findings(result)
    return result


def _coupled(joints: Sequence[str], coupling: Mapping[str, Mapping[str, float]] | None) -> np.ndarray:
    """Rates of drives = this @ rates of joints."""
    made = np.eye(len(joints))
    for drive, row in (coupling or {}).items():
        if strange := [name for name in (drive, *row) if name not in joints]:
            raise LogError(
                f"coupling of '{drive}': '{strange[0]}' is no joint of the logs that moves; there are {', '.join(joints)}"
            )
        made[joints.index(drive)] = [row.get(name, 0.0) for name in joints]
    if abs(np.linalg.det(made)) < 1e-9:
        raise LogError(
            "coupling: the drives do not move all joints independently: log as many drives as joints; a finger with fewer motors: doc/tendons.md"
        )
    return made


def _findings(found: Identified) -> list[str]:
    """Remarks about the numbers."""
    lines = []
    fitter, arm = found.fitter, found.arm
    known = fitter.known
    names = [log.name for log in fitter.problem.logs]
    lengths = [log.n * log.dt for log in fitter.problem.logs]
    if len(names) == 1:
        lines.append(
            "a single log: its fifths were left out in turn, and they share what does not repeat from log to log; log several"
        )
    if fitter.problem.alone and len(names) > 1:
        lines.append(
            f"{', '.join(fitter.problem.alone)}: nearly all motion is in logs of its own, so that fifths of every log were left out in turn, and not logs; log motions of all joints"
        )
    for j, name in enumerate(arm.joints):
        p = found.state.p[j]
        off = p[PLACE["scale"]] / fitter.scale[j] - 1
        if np.isfinite(known.tolerance[j]) and abs(off) > 1.2 * known.tolerance[j]:
            lines.append(
                f"{name}: torques fit the links' inertias only if one logged unit is {100 * (1 / (1 + off) - 1):+.0f} % of what is stated, beyond the stated "
                f"{100 * known.tolerance[j]:.0f} %: weigh a load, or widen the tolerance; gamma_u and gamma_v hang on it, eta_product hardly"
            )
        if "load" in found.rungs[j].terms and not found.found.numbers[f"{name}.gamma_u"].known:
            product = found.found.numbers[f"{name}.eta_product"]
            lines.append(
                f"{name}: gamma_u and gamma_v are unknown, eta_product is {product.low:.3g} to {product.high:.3g}: how the losses are shared between "
                "driving and being driven hangs on the scale of the torque; log with a weighed payload, or state a tighter tolerance of inertias and torques"
            )
        if "load" not in found.rungs[j].terms:
            with np.errstate(divide="ignore"):
                part = found.choice.rms("chosen")[j] / found.choice.rms("native")[j]
            enough = (
                f"{law.title(found.rungs[j].terms)} leaves {100 * part:.0f} % of the error of Coulomb and viscous friction"
                if found.rungs[j].terms
                else "Coulomb and viscous friction are enough"
            )
            lines.append(f"{name}: load dependence does not predict better; {enough}")
        power = found.rungs[j].shape.power
        if "curved" in found.rungs[j].terms and viscous(p, power, 1.0)[1]:
            more, damping, missed = straight(fitter.problem.rows[j].v, float(p[PLACE["curved"]]), power)
            lines.append(
                f"{name}: mjgear.warp does not run friction that grows with the velocity to the power of {power:g}; the nearest that it runs has {more:.3g} N m more "
                f"coulomb and {damping:.3g} N m s/rad more damping instead, and misses {missed:.3g} N m rms"
            )
        late, dt = found.rungs[j].shape.delay + p[PLACE["delay"]], fitter.problem.logs[0].dt
        if fitter.known.delay and abs(late) > _LATE * dt:
            lines.append(
                f"{name}: the torque is {abs(late):.3g} s {'later' if late > 0 else 'earlier'} than the motion, {abs(late) / dt:.0f} samples: check the filters and "
                "time stamps of the log; a wrong delay looks like friction and armature"
            )
        best, ratio = found.choice.better(j)
        if ratio < 1 / _AS_GOOD:
            lines.append(
                f"{name}: {_TITLES.get(best, best)} predicts held-out torques {100 * (1 - ratio):.0f} % better in the mean than what was chosen, but not piece by piece: "
                "which friction is right is unknown; log more, with a weighed payload and without"
            )
        lines += found.drifts[j].notes(name, names, lengths)
    S = found.state.S / (max(known.inertia, 1e-12) * fitter.links.spread)
    for k, link in enumerate(arm.links):
        if known.inertia > 0 and np.max(np.abs(S[k])) > 2.5:
            lines.append(
                f"the logs contradict the inertia of '{link.name}' within {100 * known.inertia:.0f} %: check its mass and payload, or widen --inertia-tolerance"
            )
    return lines
