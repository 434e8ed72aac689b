"""Logs of a whole arm: positions and torques, or currents, of all its joints.

A column belongs to a quantity and a joint by its name: `q1`, `tau_3`, `elbow.position`, `position_elbow`, `actual_q_0`,
`joint_4_effort`. Numbers count from 1, or from 0 where there is a 0. An npz may hold arrays (samples, joints) under the
same names, or be a SystemTrajectory of mujoco.sysid, of a model with gears or without.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from mjgear.identify import logs as single
from mjgear.identify.logs import Column, LogError

#: quantity -> words that name it, the first that all joints have counts
WORDS = {
    "position": ("position", "positions", "pos", "q", "theta", "angle", "actualq", "jointposition", "jointpos", "qmeas", "measuredq", "motorpos"),
    "velocity": ("velocity", "velocities", "vel", "dq", "qd", "qdot", "speed", "actualqd", "jointvelocity", "jointvel"),
    "torque": ("torque", "torques", "tau", "effort", "trq", "jointtorque", "motortorque", "taumeas", "measuredtorque", "torqueactual", "actualtorque"),
    "current": ("current", "currents", "cur", "i", "actualcurrent", "motorcurrent", "jointcurrent"),
    "goal": ("goal", "goals", "targetq", "qtarget", "qd_des", "qdes", "positiontarget", "targetposition", "qcmd", "qref"),
    "temperature": ("temperature", "temperatures", "temp", "jointtemperature", "jointtemperatures", "motortemperature"),
}  # fmt: skip


@dataclass
class ArmLog:
    """One log, sampled evenly.

    Attributes:
      dt: time between samples, s.
      position: (n, joints) rad or m.
      torque: (n, joints) of the motors at the output side, N m; currents in A where `is_current`.
      goal, temperature: (n, joints) if the file has them.
      facts: further facts of the file: trajectory, payload (kg), payload_x, payload_y, payload_z (m, in the last link's frame).
    """

    name: str
    dt: float
    position: np.ndarray
    torque: np.ndarray
    is_current: bool = False
    goal: np.ndarray | None = None
    temperature: np.ndarray | None = None
    facts: dict[str, float | str] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Number of samples."""
        return int(self.position.shape[0])

    def number(self, fact: str, default: float) -> float:
        """A fact as a number."""
        try:
            return float(self.facts.get(fact, default))
        except ValueError:
            raise LogError(f"{self.name}: {fact} = '{self.facts[fact]}' is not a number") from None


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _spellings(word: str, key: str) -> set[str]:
    return {word + key, key + word, f"joint{key}{word}", f"{word}joint{key}", f"j{key}{word}", f"axis{key}{word}"}


def find(names: Iterable[str], joints: Sequence[str], quantity: str) -> list[str] | None:
    """The columns of a quantity, one for each joint; None if not all joints have one."""
    plain: dict[str, str] = {}
    for name in names:
        plain.setdefault(_plain(name), name)
    keyed = [
        [_plain(j) for j in joints],
        [str(k + 1) for k in range(len(joints))],
        [str(k) for k in range(len(joints))],
    ]
    for keys in keyed:
        if keys is keyed[1] and any(_spellings(w, "0") & plain.keys() for w in WORDS[quantity]):
            continue
        for word in WORDS[quantity]:
            found = [
                next((plain[s] for s in sorted(_spellings(_plain(word), key)) if s in plain), None) for key in keys
            ]
            if all(f is not None for f in found):
                return [f for f in found if f is not None]
    bare = [plain.get(_plain(j)) for j in joints] if quantity == "position" else [None]
    return [f for f in bare if f is not None] if all(f is not None for f in bare) else None


def _arrays(path: Path, model: mujoco.MjModel, joints: Sequence[str]) -> single.Table:
    """Columns and facts of an npz."""
    content = single.read_npz(path, f"{path}: cannot be read")
    if "sensordata_data" in content:
        return single.Table(_trajectory(path, content, model, joints), 0, {})
    columns: dict[str, np.ndarray] = {}
    facts: dict[str, float | str] = {}
    for name, values in content.items():
        if values.ndim == 2 and values.dtype.kind in "fiu":
            columns |= {f"{name}_{k}": values[:, k].astype(float) for k in range(values.shape[1])}
        elif values.ndim == 1 and values.dtype.kind in "fiub":
            columns[name] = values.astype(float)
        elif values.ndim == 0:
            facts[name] = float(values) if values.dtype.kind in "fiu" else str(values)
    return single.Table(columns, 0, facts)


def _trajectory(
    path: Path, content: Mapping[str, np.ndarray], model: mujoco.MjModel, joints: Sequence[str]
) -> dict[str, np.ndarray]:
    """Columns of a SystemTrajectory, by the model's sensors; the state of gears in it does not matter."""
    data, times = content["sensordata_data"], content["sensordata_times"]
    mapping = {}
    if "sensordata_signal_mapping" in content:
        mapping = {
            name: indices for name, (_, indices) in json.loads(str(content["sensordata_signal_mapping"])).items()
        }
    columns = {"time": np.asarray(times, dtype=float)}
    S = mujoco.mjtSensor
    kinds = {int(S.mjSENS_JOINTPOS): "position", int(S.mjSENS_JOINTVEL): "velocity", int(S.mjSENS_JOINTACTFRC): "torque",
             int(S.mjSENS_ACTUATORFRC): "torque"}  # fmt: skip
    for k in range(model.nsensor):
        kind = kinds.get(int(model.sensor_type[k]))
        if kind is None:
            continue
        owner = int(model.sensor_objid[k])
        if model.sensor_type[k] == S.mjSENS_ACTUATORFRC:
            owner = int(model.actuator_trnid[owner, 0])
        name = model.sensor(k).name
        place = mapping[name][0] if name in mapping else int(model.sensor_adr[k])
        if place < data.shape[1]:
            columns.setdefault(f"{model.joint(owner).name}.{kind}", np.asarray(data[:, place], dtype=float))
    if not any(f"{j}.position" in columns for j in joints):
        raise LogError(
            f"{path}: the robot has no sensors <jointpos> and <jointactuatorfrc> that tell its columns; log CSV, or add them"
        )
    return columns


def read(
    path: str | Path,
    model: mujoco.MjModel,
    joints: Sequence[str],
    *,
    columns: Mapping[str, str] | None = None,
    dt: float | None = None,
    facts: Mapping[str, float | str] | None = None,
    header: Sequence[str] | None = None,
) -> ArmLog:
    """Read one log of an arm.

    Args:
      path: .csv, .json, .npz, the first two also compressed (.gz).
      model: the robot, whose sensors name the columns of a SystemTrajectory.
      joints: names, in order.
      columns: quantity -> NAME[:UNIT][,wrap=PERIOD], in which {} stands for the joint's name or number, or a
        comma-free list of names separated by spaces.
      dt: time between samples where there is no column of it.
      facts: values that the file lacks.
      header: names of the columns of a CSV that has no line of them; one with {} stands for one of each joint, numbered from 1.

    Raises:
      LogError: with file and column.
    """
    path = Path(path)
    named = header and [
        name.replace("{}", str(k + 1)) for name in header for k in range(len(joints) if "{}" in name else 1)
    ]
    read_table = single.read_table(path, named, lambda npz: _arrays(npz, model, joints))
    table = read_table.columns
    said = {**read_table.facts, **(facts or {})}
    given = dict(columns or {})
    known = (*WORDS, "time")
    for quantity in given:
        if quantity not in known:
            raise LogError(f"'{quantity}' is not a quantity of an arm's log; these are: {', '.join(known)}")
    values: dict[str, np.ndarray] = {}
    for quantity in WORDS:
        column = Column.parse(given[quantity]) if quantity in given else None
        names = _named(path, table, joints, column.name, quantity) if column else find(table, joints, quantity)
        if names is not None:
            each = [replace(column or Column(""), name=name) for name in names]
            values[quantity] = np.stack([single.in_si(path, read_table, quantity, c) for c in each], axis=1)
    if "position" not in values:
        raise LogError(
            f"{path}: no columns for the positions of {', '.join(joints)}; name them: --column 'position=NAME_{{}}', or the joints that were logged: --joints NAMES "
            f"(there are: {', '.join(list(table)[:40])})"
        )
    is_current = "current" in values and ("torque" not in values or "current" in given)
    if not is_current and "torque" not in values:
        raise LogError(
            f"{path}: neither torques nor currents of all of {', '.join(joints)}; name them: --column 'torque=NAME_{{}}', or the joints that were logged: --joints NAMES "
            f"(there are: {', '.join(list(table)[:40])})"
        )
    time = _time(path, read_table, given.get("time"), dt, said, values["position"].shape[0])
    step = float(np.median(np.diff(time)))
    even = time[0] + step * np.arange(int(np.floor((time[-1] - time[0]) / step + 1e-6)) + 1)
    if np.max(np.abs(np.diff(time) - step)) > 1e-6 * step:
        values = {k: np.stack([np.interp(even, time, x) for x in v.T], axis=1) for k, v in values.items()}
    return ArmLog(single.stem(path), step, values["position"], values["current" if is_current else "torque"], is_current,
                  values.get("goal"), values.get("temperature"), said)  # fmt: skip


def _named(
    path: Path, table: Mapping[str, np.ndarray], joints: Sequence[str], pattern: str, quantity: str
) -> list[str]:
    if "{}" in pattern:
        choices = [[pattern.replace("{}", str(key)) for key in keys]
                   for keys in (joints, range(1, len(joints) + 1), range(len(joints)))]  # fmt: skip
    else:
        choices = [pattern.split()]
    for names in choices:
        if len(names) == len(joints) and all(name in table for name in names):
            return names
    raise LogError(
        f"{path}: no columns '{pattern}' for {quantity} of {len(joints)} joints ({', '.join(joints)}); if fewer were logged, name them: --joints NAMES; there are: {', '.join(list(table)[:40])}"
    )


def _time(
    path: Path, table: single.Table, given: str | None, dt: float | None, facts: Mapping[str, float | str], n: int
) -> np.ndarray:
    """Time of each sample, s."""
    column = Column.parse(given) if given else None
    if column is None:
        words = {w: w.lower() if len(w) > 1 else w for w in table.columns}  # T may be a temperature
        column = next((Column(w) for w, plain in words.items() if single.ALIASES.get(plain, plain) == "time"), None)
    if column is None or column.name not in table.columns:
        step = dt if dt is not None else facts.get("dt")
        if step is None:
            raise LogError(f"{path}: no column of time; name it, --column time=NAME, or give --dt")
        return float(step) * np.arange(n)
    time = single.in_si(path, table, "time", column)
    single.check_time(path, time, table.first)
    single.refuse_gaps(path, time)
    return time


def read_all(
    paths: Iterable[str | Path],
    model: mujoco.MjModel,
    joints: Sequence[str],
    **options: Any,
) -> list[ArmLog]:
    """Read several logs, folders included, in the order of their names; options: of read.

    Raises:
      LogError: see read; no log at all; some logs have torques and others currents.
    """
    found = [read(file, model, joints, **options) for file in single.listed(paths)]
    if len({log.is_current for log in found}) > 1:
        raise LogError("some logs have torques and others currents; name one of both: --column 'torque=NAME_{}'")
    return found
