"""Logs of a joint: read from files, in SI units at the output side, evenly sampled.

Files: CSV (also compressed by gzip) with a header line, the JSON of Rhoban/bam (raw and processed), the npz of
mujoco.sysid's ``TimeSeries``, and recordings: parquet of LeRobot, MCAP, rosbag2. Names of the measured quantities, whatever the file calls them:

===============  =======  ==========================================================================
name             unit
===============  =======  ==========================================================================
time             s        may be uneven
position         rad      of the output side, 0 hangs down
velocity         rad/s    of the output side; without it the slope of position
goal             rad      goal of the servo's position loop
torque           N m      of the motor, at the output side
current          A        of the winding
voltage          V        at the winding
duty             1        of the supply, signed: voltage = duty x supply
supply           V
enable           0, 1     0: the motor is off
temperature      deg C
output           N m      torque that the gear delivers, from a sensor (dynamometer), positive along position
rotor            rad      the motor's encoder, divided by the ratio
===============  =======  ==========================================================================
"""

from __future__ import annotations

import csv
import functools
import gzip
import io
import json
import math
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from mjgear._errors import LogError as LogError
from mjgear.identify import recordings

#: limits of a log, see above
QUANTITIES = (
    "time",
    "position",
    "velocity",
    "goal",
    "torque",
    "current",
    "voltage",
    "duty",
    "supply",
    "enable",
    "temperature",
    "output",
    "rotor",
)

#: names in files that need no column map
ALIASES = {
    "timestamp": "time", "t": "time", "times": "time",
    "speed": "velocity", "present_velocity": "velocity", "present_position": "position",
    "goal_position": "goal",
    "input_volts": "supply",
    "torque_enable": "enable",
    "temp": "temperature",
    "load": "duty",
}  # fmt: skip

#: units of columns in SI
UNITS = {
    "rad": 1.0, "deg": math.pi / 180, "rev": 2 * math.pi,
    "rad/s": 1.0, "deg/s": math.pi / 180, "rpm": math.pi / 30,
    "Nm": 1.0, "mNm": 1e-3, "Ncm": 1e-2, "kgcm": 0.0980665,
    "A": 1.0, "mA": 1e-3, "V": 1.0, "mV": 1e-3,
    "s": 1.0, "ms": 1e-3, "us": 1e-6,
    "1": 1.0, "%": 1e-2, "C": 1.0,
}  # fmt: skip


#: largest unpacked size of a log in bytes: gigabytes of a counter are not a log of a joint
LARGEST = 1 << 30

#: of a quantity in SI units: differences and products of larger ones overflow
LARGEST_VALUE = 1e100

#: largest position of a joint with ends, rad: larger ones are mostly degrees
LARGEST_MOTION = 50.0

#: speed of a joint that is seldom exceeded, rad/s: larger ones are mostly rpm or deg/s
_FAST = 50.0

#: of a position from one sample to the next, rad: larger ones are mostly the turn of a counter
_JUMP = 4.0

#: a stretch without samples: so many usual times between them, and seconds at least
_GAP, _SHORT = 10, 0.1

#: samples that are wanted for one that was measured: beyond, the time is in another unit
_DENSEST = 20

#: numpy's errors for a file that is not an npz, or is damaged
_NPZ_ERRORS = (KeyError, ValueError, OSError, EOFError, TypeError, AttributeError, MemoryError, NotImplementedError,
               RuntimeError, zipfile.BadZipFile, zlib.error, tokenize.TokenError)  # fmt: skip

#: samples for which a column may hold its value
_STRIDES = range(1, 11)

_TRUTH = {"True": 1.0, "true": 1.0, "False": 0.0, "false": 0.0}


@dataclass(frozen=True)
class Column:
    """Place of a quantity in a file.

    Attributes:
      name: of the column in the file.
      scale: SI units in one unit of the column.
      wrap: period of a counter, in units of the column; 0: none. Positions are unwrapped along
        the log; other columns are read as two's complement, so that with 65536 the number 65535 is -1.
      stated: the user named the unit.
    """

    name: str
    scale: float = 1.0
    wrap: float = 0.0
    stated: bool = False

    @staticmethod
    def parse(text: str) -> Column:
        """A column from ``NAME[:UNIT][,wrap=PERIOD]``; UNIT is one of UNITS or a number, NUMBER/NUMBER included. Without it a name such
        as ``speed [rpm]`` has its own.

        Raises:
          LogError: unit or period is not understood.
        """
        name, *options = text.split(",")
        name, _, unit = name.partition(":")
        wrap = 0.0
        for option in options:
            key, _, value = option.partition("=")
            if key != "wrap":
                raise LogError(f"column '{text}': '{option}' is not understood; write NAME:UNIT,wrap=PERIOD")
            wrap = _number(value, f"column '{text}': wrap")
            if wrap < 0:
                raise LogError(f"column '{text}': wrap is {wrap:g}; write the period of the counter, above 0")
        unit = unit or _unit(name)
        if unit in UNITS:
            return Column(name, UNITS[unit], wrap, True)
        return Column(
            name,
            _number(unit, f"column '{text}': unit ({', '.join(UNITS)}, or a number)") if unit else 1.0,
            wrap,
            bool(unit),
        )


def _unit(name: str) -> str:
    """Return the unit in brackets at the end of a column's name, if it is one of UNITS."""
    _, _, unit = name.rstrip("])").replace("(", "[").rpartition("[")
    return unit if unit in UNITS and unit != "1" and name[-1] in ")]" else ""


def _number(text: str, what: str) -> float:
    try:
        top, _, bottom = text.partition("/")
        value = float(top) / (float(bottom) if bottom else 1.0)
    except (ValueError, ZeroDivisionError):
        value = math.nan
    if not math.isfinite(value):
        raise LogError(f"{what}: '{text}' is not a number")
    return value


@dataclass
class Log:
    """One evenly sampled log.

    Attributes:
      name: of the file.
      dt: time between samples, s.
      data: quantity -> (n), without time; enable is bool.
      facts: what else the file says: mass, length, kp, vin, trajectory, ...
      start: time of the first sample in the file, s.
      noise: quantity -> noise of a sample, where it was measured at other times than those of the samples.
      unit_known: False if nobody told the unit of the velocity and no position shows it.
    """

    name: str
    dt: float
    data: dict[str, np.ndarray]
    facts: dict[str, float | str] = field(default_factory=dict)
    start: float = 0.0
    noise: dict[str, float] = field(default_factory=dict)
    unit_known: bool = True

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.data["velocity"])

    @property
    def time(self) -> np.ndarray:
        """Time of each sample, s."""
        return self.dt * np.arange(self.n)

    def number(self, fact: str) -> float:
        """A fact that must be a number.

        Raises: LogError: it is missing or not finite.
        """
        if fact not in self.facts:
            raise LogError(f"{self.name}: nothing says '{fact}'; give it in the log or as {fact}=NUMBER")
        try:
            value = float(self.facts[fact])
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise LogError(f"{self.name}: {fact} = '{self.facts[fact]}' is not a number")
        return value

    def scatter(self, quantity: str) -> float:
        """Noise of a quantity, SI."""
        return self.noise[quantity] if quantity in self.noise else noise(self.data[quantity], self.time)

    def along(self, q: np.ndarray) -> np.ndarray:
        """Known torque along the position at angles, N m, by the table that the fact `torques` names."""
        return np.interp(q, *read_torques(str(self.facts["torques"]))) if "torques" in self.facts else np.zeros_like(q)


# ---------------------------------------- files -------------------------------------------------------------------


@dataclass
class Table:
    """An unconverted file: columns by their own names, the line of the first row, facts."""

    columns: dict[str, np.ndarray]
    first: int
    facts: dict[str, float | str]


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            raw = (gzip.GzipFile(fileobj=file) if packed else file).read(LARGEST + 1)
        if len(raw) > LARGEST:
            raise LogError(f"{path}: more than {LARGEST >> 20} MiB of text; split it into logs of single motions")
        return raw.decode("utf-8-sig")
    except (UnicodeDecodeError, gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise LogError(f"{path}: neither text nor compressed text: {error}") from None
    except OSError as error:
        raise LogError(f"{path}: cannot be read: {error.strerror or error}") from None


def _json(path: Path | str, text: str) -> Any:
    """JSON, all its numbers as float: Python's int refuses long ones."""
    try:
        return json.loads(text, parse_int=float)
    except json.JSONDecodeError as error:
        raise LogError(f"{path}: line {error.lineno}: {error.msg}") from None
    except RecursionError:
        raise LogError(f"{path}: lists and objects within each other, too many to read") from None


def read_json(path: Path) -> Any:
    """A JSON file, also compressed by gzip, all its numbers as float.

    Raises:
      LogError: it cannot be read.
    """
    return _json(path, _text(path))


def _facts_of_comment(line: str) -> dict[str, float | str]:
    facts: dict[str, float | str] = {}
    for word in line.lstrip("# ").split():
        key, equal, value = word.partition("=")
        if equal:
            try:
                facts[key] = float(value)
            except ValueError:
                facts[key] = value
    return facts


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _read_csv(path: Path, named: Sequence[str] | None = None) -> Table:
    """A CSV file; `named` are the names of its columns where it has no line of them."""
    lines = _text(path).splitlines()
    facts: dict[str, float | str] = {}
    start = 0
    while start < len(lines) and (not lines[start].strip() or lines[start].lstrip().startswith("#")):
        facts |= _facts_of_comment(lines[start])
        start += 1
    if start == len(lines):
        raise LogError(f"{path}: no header line; the first line without # names the columns")
    try:
        dialect: type[csv.Dialect] = csv.Sniffer().sniff(lines[start], delimiters=",;\t ")
    except csv.Error:
        dialect = csv.excel
    try:
        header = [name.strip() for name in next(csv.reader([lines[start]], dialect))]
    except csv.Error as error:
        raise LogError(f"{path}: line {start + 1}: {error}") from None
    if named is not None:
        if len(named) != len(header):
            raise LogError(f"{path}: line {start + 1}: {len(header)} values, and --header names {len(named)} columns")
        header, start = list(named), start - 1
    elif header and all(_is_number(name) for name in header):
        raise LogError(
            f"{path}: line {start + 1}: numbers where the names of the columns should be; name them, --header time,position,torque, or write "
            "them in a line before it"
        )
    body = lines[start + 1 :]
    try:  # numbers alone; the reader below names what is wrong with other text
        table = np.loadtxt(body if any(body) else ["none"], delimiter=dialect.delimiter, comments=None, ndmin=2)
        if table.shape[1] == len(header):
            return Table(dict(zip(header, np.ascontiguousarray(table.T))), start + 2, facts)
    except ValueError:
        pass
    rows = []
    reader = csv.reader(io.StringIO("\n".join(body)), dialect)
    try:
        for row in reader:
            if not row:
                continue
            if len(row) != len(header):
                raise LogError(
                    f"{path}: line {start + 1 + reader.line_num}: {len(row)} values under {len(header)} columns"
                )
            rows.append(row)
    except csv.Error as error:
        raise LogError(f"{path}: line {start + 1 + reader.line_num}: {error}") from None
    columns = {}
    for i, name in enumerate(header):
        values = np.empty(len(rows))
        for k, row in enumerate(rows):
            try:
                word = row[i].strip()
                values[k] = _TRUTH[word] if word in _TRUTH else float(word)
            except ValueError:
                # refused only if the column is used
                values[k] = math.nan
        columns[name] = values
    return Table(columns, start + 2, facts)


@functools.cache
def read_torques(path: str) -> tuple[np.ndarray, np.ndarray]:
    """Angles and torques along the position of a spring or counterbalance, from a CSV with columns position (rad) and torque (N m).

    Raises:
      LogError: it is no such table.
    """
    columns = _read_csv(Path(path)).columns
    if not {"position", "torque"} <= columns.keys():
        raise LogError(f"{path}: a table of known torques has the columns position (rad) and torque (N m)")
    q, torque = columns["position"], columns["torque"]
    if q.size < 2 or not np.all(np.diff(q) > 0) or not np.all(np.isfinite(torque)):
        raise LogError(f"{path}: positions increase from line to line, and each has a torque")
    return q, torque


def _read_json(path: Path) -> Table:
    content = read_json(path)
    if not isinstance(content, dict) or not isinstance(content.get("entries"), list) or not content["entries"]:
        raise LogError(f"{path}: no list 'entries'; the JSON of Rhoban/bam has one")
    facts = {k.replace("-", "_"): v for k, v in content.items() if isinstance(v, (float, bool, str))}
    entries = content["entries"]
    for k, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise LogError(f"{path}: entry {k} is no object with a number for each quantity")
    columns = {}
    for name, first in entries[0].items():
        if isinstance(first, (float, bool)):
            for k, entry in enumerate(entries):
                if not isinstance(entry.get(name), (float, bool)):
                    raise LogError(f"{path}: column '{name}', entry {k}: no number")
            columns[name] = np.array([float(entry[name]) for entry in entries])
    if "timestamp" not in columns and "dt" in facts:
        dt = facts["dt"]
        if not isinstance(dt, float) or not 0 < dt < math.inf:
            raise LogError(f"{path}: dt = '{dt}' is no time between entries, s")
        columns["timestamp"] = dt * np.arange(len(entries))
    return Table(columns, 0, facts)


def read_npz(path: Path, what: str) -> dict[str, np.ndarray]:
    """Arrays of an npz.

    Raises: LogError: it cannot be read, or is damaged; `what`, and why.
    """
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            return {name: np.asarray(file[name]) for name in file.files}
    except _NPZ_ERRORS as error:
        raise LogError(f"{what}: {_listed([str(error)], 300)}") from None


def _read_npz(path: Path) -> Table:
    whole = f"{path}: not a TimeSeries of mujoco.sysid"
    content = read_npz(path, whole)
    if not {"times", "data"} <= content.keys():
        raise LogError(f"{whole}: it has {_listed(content)}")
    times, data = content["times"], content["data"]
    mapping = _json(whole, str(content["signal_mapping"])) if "signal_mapping" in content else {}
    for name, array in ("times", times), ("data", data):
        if array.dtype.kind not in "buif":
            raise LogError(f"{whole}: {name} has no real numbers, but {array.dtype}")
    if times.ndim != 1 or data.ndim != 2 or len(times) != len(data):
        raise LogError(f"{whole}: shapes of times {times.shape} and data {data.shape}; they are (n) and (n, signals)")
    if not isinstance(mapping, dict):
        raise LogError(f"{whole}: signal_mapping is no object")
    columns = {"time": times.astype(float)}
    for name, entry in mapping.items():
        indices = entry[1] if isinstance(entry, list) and len(entry) == 2 and isinstance(entry[1], list) else None
        if indices is None or not all(
            isinstance(i, float) and i.is_integer() and 0 <= i < data.shape[1] for i in indices
        ):
            raise LogError(
                f"{whole}: signal_mapping of '{name}' is not [kind, [column of data, ...]] with {data.shape[1]} columns"
            )
        if len(indices) == 1:
            columns[name] = data[:, int(indices[0])].astype(float)
    if not mapping:
        columns |= {f"column{i}": data[:, i].astype(float) for i in range(data.shape[1])}
    return Table(columns, 0, {})


def read_table(path: Path, header: Sequence[str] | None = None, npz: Callable[[Path], Table] = _read_npz) -> Table:
    """An unconverted file, by its suffix.

    Args:
      header: names of the columns of a CSV that has no line of them.
      npz: reads an npz.

    Raises:
      LogError: it cannot be read.
    """
    suffix = Path(path.name.removesuffix(".gz")).suffix
    if suffix in (".csv", ".txt"):
        return _read_csv(path, header)
    reader = {".json": _read_json, ".npz": npz}.get(suffix)
    if reader is None:
        raise LogError(
            f"{path}: logs are .csv, .json, .npz, .parquet or .mcap files, or folders of rosbag2; of an arm the first three"
        )
    return reader(path)


def read(
    path: str | Path,
    columns: Mapping[str, str | Column] | None = None,
    dt: float = 0.005,
    facts: Mapping[str, float | str] | None = None,
    defaults: Mapping[str, Column] | None = None,
    header: Sequence[str] | None = None,
    turns: bool = True,
    angles: bool = True,
) -> Log:
    """Read one log and sample it evenly.

    Args:
      path: .csv, .json, .npz, the first two also compressed (.gz); .parquet, .mcap or the folder of a rosbag2, also with the part that is meant,
        "file.parquet#3", "bag#elbow" (see recordings.py).
      columns: quantity -> column, as Column or as text for Column.parse; quantities that are not named are taken from
        columns with their own name or one of ALIASES.
      dt: time between the samples that are wanted, s.
      defaults: quantity -> column, for those that neither `columns` nor the file's names settle and that the file has.
      facts: values that the file lacks or has wrong: mass, length, kp, vin, trajectory, ...
      header: names of the columns of a CSV that has no line of them.
      angles: the position is needed; else a velocity is enough.
      turns: the joint may turn on and on; else positions over more than LARGEST_MOTION need a unit that is named.

    Raises:
      LogError: with file, column and line.
    """
    if not 0 < dt < math.inf:
        raise LogError(f"dt is {dt:g} s; the time between samples is above 0")
    for fact, given in (facts or {}).items():  # refused even if unused: the caller expects an effect
        if isinstance(given, float) and not math.isfinite(given):
            raise LogError(f"{path}: {fact} = '{given}' is not a number")
    path, part = recordings.split(path)
    table = Table(recordings.read(path, part), 0, {}) if recordings.fits(path) else read_table(path, header)
    chosen = _choose(path, table, columns or {}, defaults or {}, angles)
    values = {}
    for quantity, column in chosen.items():
        values[quantity] = in_si(path, table, quantity, column)
        span = (
            float(np.ptp(values[quantity]))
            if quantity in ("position", "goal", "rotor") and len(values[quantity])
            else 0.0
        )
        if not turns and span > LARGEST_MOTION and column.scale == 1 and not column.stated:
            raise LogError(
                f"{path}: column '{column.name}' goes over {span:.4g} rad, {span / (2 * math.pi):.3g} turns; name its unit, "
                f"--column {quantity}={column.name}:deg, or :rad if that is right"
            )
    for quantity in {"position", "rotor"} & values.keys():
        _refuse_wrapped(path, quantity, chosen[quantity], values["time"], values[quantity])
    unit_known = True
    if "velocity" in values and "position" not in values and values["velocity"].size:
        _refuse_fast(path, chosen["velocity"], values["velocity"])
        unit_known = chosen["velocity"].stated or chosen["velocity"].scale != 1
    log = _resample(path, values, dt, table.first, {**table.facts, **(facts or {})}, angles)
    return replace(log, unit_known=unit_known)


def _refuse_wrapped(path: Path, quantity: str, column: Column, time: np.ndarray, x: np.ndarray) -> None:
    """Refuse a counter that begins anew at each turn; over a stretch without samples it may have gone on.

    Raises:
      LogError: it jumps by most of a turn.
    """
    if x.size < 2:
        return
    jump = np.where(gaps(time), 0, np.abs(np.diff(x)))
    if jump.max() > max(_JUMP, 10 * float(np.quantile(jump, 0.9))):
        k = int(jump.argmax())
        raise LogError(
            f"{path}: column '{column.name}' jumps by {jump[k]:.3g} rad after sample {k}: of a counter name the period, --column "
            f"{quantity}={column.name}:UNIT,wrap=PERIOD"
        )


def _refuse_fast(path: Path, column: Column, v: np.ndarray) -> None:
    """Refuse a speed in another unit, or of the motor, which no position beside it shows.

    Raises:
      LogError: no unit is named, and the joint would be faster than joints are.
    """
    if not column.stated and column.scale == 1 and (speed := float(np.quantile(np.abs(v), 0.9))) > _FAST:
        raise LogError(
            f"{path}: column '{column.name}' has {speed:.3g} rad/s, {speed * 30 / math.pi:.3g} rpm: name its unit, --column "
            f"velocity={column.name}:rpm, or :rad/s if that is right"
        )


def read_all(paths: Iterable[str | Path], **options: Any) -> list[Log]:
    """Read several logs, folders included, in the order of their names.

    Raises:
      LogError: see read; no log at all.
    """
    return [read(file, **options) for file in listed(paths, (*SUFFIXES, ".parquet", ".mcap"))]


#: of logs that every reader knows
SUFFIXES = (".csv", ".json", ".npz")


def listed(paths: Iterable[str | Path], suffixes: tuple[str, ...] = SUFFIXES) -> list[Path]:
    """Files, and those of folders by their suffix, each once.

    Raises:
      LogError: none, or one twice.
    """
    files: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir() and not recordings.is_bag(path):
            files += sorted(f for f in path.iterdir() if f.name.removesuffix(".gz").endswith(suffixes))
        else:
            files.append(path)
    seen: set[Path] = set()
    for file in files:
        if file.resolve() in seen:
            raise LogError(f"{file} is given twice; a log counts once")
        seen.add(file.resolve())
    if not files:
        raise LogError(f"no logs in {', '.join(map(str, paths)) or 'nothing'}")
    return files


def _listed(names: Iterable[str], most: int = 60) -> str:
    """Names of columns for a line: a damaged header may be one name of a megabyte, or thousands; most: characters of each."""
    short = [name if len(name) <= most else f"{name[: most - 3]}..." for name in names]
    return ", ".join(short if len(short) <= 30 else [*short[:30], f"and {len(short) - 30} more"])


def _choose(
    path: Path, table: Table, wanted: Mapping[str, str | Column], defaults: Mapping[str, Column], angles: bool = True
) -> dict[str, Column]:
    """quantity -> column of this file."""
    chosen = {}
    for quantity, column in wanted.items():
        if quantity not in QUANTITIES:
            raise LogError(f"'{quantity}' is not a quantity of a log; these are: {', '.join(QUANTITIES)}")
        column = Column.parse(column) if isinstance(column, str) else column
        if column.name not in table.columns:
            raise LogError(f"{path}: no column '{column.name}' for {quantity}; there are: {_listed(table.columns)}")
        chosen[quantity] = column
    for quantity, column in defaults.items():
        if quantity not in chosen and column.name in table.columns:
            chosen[quantity] = column
    for name in table.columns:
        bare = name.replace("(", "[").rpartition("[")[0].rstrip() if _unit(name) else name
        quantity = ALIASES.get(bare, bare)
        if quantity in QUANTITIES and quantity not in chosen:
            unit = _unit(name)
            chosen[quantity] = Column(name, UNITS.get(unit, 1.0), stated=bool(unit))
    for quantity in ("time", "position"):
        if quantity not in chosen and (quantity == "time" or angles or "velocity" not in chosen):
            raise LogError(
                f"{path}: no column for {quantity}; name it: {quantity}=COLUMN (there are: {_listed(table.columns)})"
            )
    return chosen


def in_si(path: Path, table: Table, quantity: str, column: Column) -> np.ndarray:
    """A column in SI units, without wrap-around."""
    raw = table.columns[column.name]
    bad = np.flatnonzero(~np.isfinite(raw))
    if bad.size:
        place = f"line {table.first + bad[0]}" if table.first else f"entry {bad[0]}"
        raise LogError(f"{path}: column '{column.name}', {place}: no number")
    if column.wrap:
        if quantity in ("position", "goal", "rotor", "time"):
            raw = np.unwrap(raw, period=column.wrap)
        else:
            raw = (raw + column.wrap / 2) % column.wrap - column.wrap / 2
    with np.errstate(over="ignore"):
        values = raw * column.scale
    if not (np.abs(values) <= LARGEST_VALUE).all():
        raise LogError(
            f"{path}: column '{column.name}' times {column.scale:g} has numbers above {LARGEST_VALUE:g}; check its unit"
        )
    return values


def check_time(path: Path, time: np.ndarray, first: int) -> None:
    """Check that the time of the rows increases; first: line of the first one, 0: the file has no lines.

    Raises:
      LogError: it does not.
    """
    back = np.flatnonzero(np.diff(time) <= 0)
    if back.size:
        place = f"line {first + back[0] + 1}" if first else f"entry {back[0] + 1}"
        raise LogError(f"{path}: {place}: time does not increase ({time[back[0]]:g} s, then {time[back[0] + 1]:g} s)")


def gaps(time: np.ndarray) -> np.ndarray:
    """Return where the time to the next row is a stretch without samples, (n - 1)."""
    steps = np.diff(time)
    return np.asarray(steps > max(_GAP * float(np.median(steps)), _SHORT))


def refuse_gaps(path: Path, time: np.ndarray) -> None:
    """Refuse a log with a stretch without samples, over which no motion is known.

    Raises:
      LogError: there is one.
    """
    for k in np.flatnonzero(gaps(time))[:1]:
        raise LogError(
            f"{path}: no samples from {time[k]:.6g} to {time[k + 1]:.6g} s; cut the log there into two files, each a log of its own"
        )


def stem(path: Path) -> str:
    """Name of a log: that of its file without suffixes."""
    name = path.name
    for suffix in (".gz", ".csv", ".json", ".npz", ".txt", ".parquet", ".mcap"):
        name = name.removesuffix(suffix)
    return name


def _resample(
    path: Path, values: dict[str, np.ndarray], dt: float, first: int, facts: dict[str, float | str], whole: bool
) -> Log:
    """Values at even times, linear between the measured ones. Stretches without samples are refused if the log must be whole, else left out."""
    time = values.pop("time")
    if time.size < 10:
        raise LogError(f"{path}: {time.size} samples; a log needs 10 at least")
    check_time(path, time, first)
    if whole:
        refuse_gaps(path, time)
    if (time[-1] - time[0]) / dt > _DENSEST * time.size:
        raise LogError(
            f"{path}: {time.size} samples in {time[-1] - time[0]:g} s, and one is wanted every {dt:g} s; if the "
            "column's unit is another than s, name it (--column time=NAME:us, ms), else take a larger --dt"
        )
    even = np.arange(time[0], time[-1], dt)
    none = gaps(time)
    even = even[
        ~(none[np.searchsorted(time, even, "left").clip(1) - 1] & none[np.searchsorted(time, even, "right") - 1])
    ]
    if even.size < 10:
        raise LogError(f"{path}: {time[-1] - time[0]:g} s are too short for samples every {dt:g} s")
    data = {name: np.interp(even, time, column) for name, column in values.items()}
    scatter = {}
    if (
        np.median(np.diff(time)) > dt / 2
    ):  # neighbours share measured samples, of which they are means: that hides noise
        part = np.interp(even, time, np.arange(time.size)) % 1
        less = math.sqrt(np.mean(part**2 + (1 - part) ** 2))
        scatter = {name: less * noise(column, time) for name, column in values.items()}
    if "velocity" not in data:
        window = max(5, int(round(0.03 / dt)) | 1)
        data["velocity"] = rates(data["position"], min(window, even.size // 2 * 2 - 1)) / dt
    if "enable" in data:
        data["enable"] = data["enable"] > 0.5
    if "voltage" not in data and "duty" in data and "supply" in data and np.max(np.abs(data["duty"])) <= 1.05:
        data["voltage"] = data["duty"] * data["supply"]
    return Log(stem(path), dt, data, facts, float(time[0]), scatter)


def noise(x: np.ndarray, time: np.ndarray) -> float:
    """Return the noise of a column from third divided differences of its samples, in which smooth motion vanishes; 0 if there are fewer than 8.

    The least over strides: a column that holds its value between readings is a staircase, whose steps are no noise.
    """

    def of(x: np.ndarray, time: np.ndarray) -> float:
        a, b, c = (np.diff(time)[k : time.size - 3 + k] for k in range(3))
        weights = np.stack([-b * c * (b + c), (a + b) * c * (a + b + c), -a * (b + c) * (a + b + c), a * b * (a + b)])
        four = np.stack([x[k : x.size - 3 + k] for k in range(4)])
        differences = np.abs((weights * four).sum(axis=0)) / np.linalg.norm(weights, axis=0)
        most = float(np.quantile(differences, 0.85)) / 1.44  # few jumps of a setpoint do not count
        return most or float(np.sqrt(np.mean(differences**2)))

    return min((of(x[::n], time[::n]) for n in _STRIDES if x.size >= 8 * n), default=0.0)


def rates(x: np.ndarray, window: int) -> np.ndarray:
    """Slope of the parabola that fits an odd number of samples best, in their middle; near the ends that of the last ones.

    It is a Savitzky-Golay filter, whose import would take longer than most commands.
    """
    k, half = np.arange(window) - window // 2, window // 2
    made = np.empty_like(x)
    made[half:-half] = np.convolve(x, -k / (k @ k), "valid")
    for end, own in ((slice(window), slice(half)), (slice(-window, None), slice(-half, None))):
        _, linear, square = np.polynomial.polynomial.polyfit(k, x[end], 2)
        made[own] = linear + 2 * square * k[own]
    return made
