"""Recordings of robots as columns: LeRobot's parquet, MCAP, and rosbag2.

``FILE#PART`` names a part of a recording: an episode of a parquet file by its number, a joint of JointState messages, or a topic and a joint,
``bag#/joint_states/elbow``. Packages that read them are imported when they are needed: pyarrow, mcap with mcap-ros2-support, rosbags.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mjgear._errors import LogError

Columns = dict[str, np.ndarray]

_STATE = ("position", "velocity", "effort")
_NAMES = {"effort": "torque"}


def split(path: str | Path) -> tuple[Path, str]:
    """File or folder of a recording, and the part of it that is named; "": none."""
    whole = Path(path)
    name, mark, part = str(path).partition("#")
    return (whole, "") if not mark or whole.exists() else (Path(name), part)


def fits(path: Path) -> bool:
    """True if this is a recording: by its suffix, or a folder with the metadata of rosbag2."""
    return path.suffix in (".parquet", ".mcap") or is_bag(path)


def is_bag(path: Path) -> bool:
    """True if a folder is a rosbag2."""
    return (path / "metadata.yaml").is_file()


def read(path: Path, part: str) -> Columns:
    """The columns of a recording.

    Raises:
      LogError: it cannot be read, a package is missing, or it has several parts and none is named.
    """
    reader = _read_parquet if path.suffix == ".parquet" else _read_mcap if path.suffix == ".mcap" else _read_bag
    try:
        return reader(path, part)
    except LogError:
        raise
    except ImportError as error:
        raise LogError(f"{path}: {error}") from None
    except Exception as error:  # damaged files make the packages raise errors of any type
        raise LogError(
            f"{path}: cannot be read: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        ) from None


def _require(module: str, package: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise ImportError(f"reading it needs {package}, which is not installed: pip install {package}")


# ---------------------------------------- LeRobot ------------------------------------------------------------------


def _read_parquet(path: Path, part: str) -> Columns:
    """Rows of one episode. Lists become a column for each element, by the names in meta/info.json if it is there."""
    _require("pyarrow", "pyarrow")
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path)
    names = _features(path)
    columns: Columns = {}
    for name in table.column_names:
        values = table.column(name).to_pylist()
        if values and isinstance(values[0], list):
            rows = [row if isinstance(row, list) else [] for row in values]
            if len({len(row) for row in rows}) == 1 and all(isinstance(one, (int, float)) for one in rows[0]):
                own = names.get(name, [])
                own = own if len(own) == len(rows[0]) else [str(i) for i in range(len(rows[0]))]
                columns |= {f"{name}.{one}": column for one, column in zip(own, np.array(rows, float).T, strict=True)}
        elif all(isinstance(one, (int, float)) for one in values):
            columns[name] = np.array(values, float)
    if "episode_index" not in columns:
        return columns
    episodes = np.unique(columns["episode_index"]).astype(int)
    if part and (not part.isdecimal() or int(part) not in episodes):
        raise LogError(f"{path}: no episode '{part}'; there are {episodes[0]} to {episodes[-1]}")
    if not part and len(episodes) > 1:
        raise LogError(
            f"{path}: {len(episodes)} episodes, {episodes[0]} to {episodes[-1]}; a log is one motion: {path.name}#{episodes[0]}"
        )
    chosen = columns["episode_index"] == (int(part) if part else episodes[0])
    return {name: column[chosen] for name, column in columns.items()}


def _features(path: Path) -> dict[str, list[str]]:
    """Names of the elements of each list, by meta/info.json of the data set."""
    info = next(
        (
            folder / "meta" / "info.json"
            for folder in path.resolve().parents[:4]
            if (folder / "meta" / "info.json").is_file()
        ),
        None,
    )
    if info is None:
        return {}
    features = json.loads(info.read_text(encoding="utf-8")).get("features", {})
    found = {}
    for name, feature in features.items():
        names = feature.get("names")
        names = next(iter(names.values()), None) if isinstance(names, dict) else names
        if isinstance(names, list) and all(isinstance(one, str) for one in names):
            found[name] = names
    return found


# ---------------------------------------- JointState ---------------------------------------------------------------


def _read_mcap(path: Path, part: str) -> Columns:
    """Messages of a single MCAP file, written by ROS 2 or with JSON."""
    _require("mcap", "mcap")
    from mcap.reader import make_reader

    def messages() -> Iterator[tuple[str, int, Any]]:
        with path.open("rb") as file:
            decoders: dict[int, Callable[[bytes], Any] | None] = {}
            for schema, channel, message in make_reader(file).iter_messages():
                if channel.message_encoding == "json":
                    yield channel.topic, message.log_time, json.loads(message.data)
                elif schema is not None and channel.message_encoding == "cdr" and schema.name.endswith("JointState"):
                    if channel.id not in decoders:
                        _require("mcap_ros2", "mcap-ros2-support")
                        from mcap_ros2.decoder import DecoderFactory

                        decoders[channel.id] = DecoderFactory().decoder_for(channel.message_encoding, schema)
                    if (decode := decoders[channel.id]) is not None:
                        yield channel.topic, message.log_time, decode(message.data)

    return _joints(path, part, messages())


def _read_bag(path: Path, part: str) -> Columns:
    """JointState messages of a rosbag2 folder."""
    _require("rosbags", "rosbags")
    from rosbags.highlevel import AnyReader
    from rosbags.typesys import Stores, get_typestore

    def messages() -> Iterator[tuple[str, int, Any]]:
        with AnyReader([path], default_typestore=get_typestore(Stores.LATEST)) as reader:
            wanted = [one for one in reader.connections if one.msgtype == "sensor_msgs/msg/JointState"]
            if wanted:
                for connection, stamp, raw in reader.messages(connections=wanted):
                    yield connection.topic, stamp, reader.deserialize(raw, connection.msgtype)

    return _joints(path, part, messages())


def _joints(path: Path, part: str, messages: Iterable[tuple[str, int, Any]]) -> Columns:
    """Position, velocity and effort of the joints of one topic; time is that of the header, or of the recording where no header has one."""
    topics: dict[str, dict[str, list[float]]] = {}
    origins: dict[str, int] = {}
    for topic, logged, message in messages:
        flat, stamp = (dict(_numbers(message)), 0) if isinstance(message, dict) else (_state(message), _stamp(message))
        rows = topics.setdefault(topic, {})
        first = origins.setdefault(topic, stamp or logged)
        flat.setdefault("time", 1e-9 * ((stamp or logged) - first))  # seconds of an epoch have no digits left for this
        if rows and set(rows) != set(flat):
            raise LogError(
                f"{path}: topic {topic}: message {len(next(iter(rows.values())))} has other joints or quantities than those before it"
            )
        for name, value in flat.items():
            rows.setdefault(name, []).append(value)
    if not topics:
        raise LogError(f"{path}: no JointState and no JSON message")
    named = [topic for topic in topics if part == topic or part.startswith(f"{topic}/")]
    topic = max(named, key=len, default=next(iter(topics)))
    if not named and len(topics) > 1:
        raise LogError(f"{path}: several topics, {', '.join(topics)}; name one, {path.name}#{topic}")
    joint = part.removeprefix(topic).lstrip("/") if named else part
    columns = {name: np.array(values, float) for name, values in topics[topic].items()}
    joints = list(dict.fromkeys(name.rpartition(".")[0] for name in columns if name.rpartition(".")[2] in _STATE))
    if joint and joint not in joints:
        raise LogError(f"{path}: no joint '{joint}' in {topic}; there are {', '.join(joints) or 'none'}")
    if joint or len(joints) == 1:
        chosen = joint or joints[0]
        columns |= {
            _NAMES.get(kind, kind): columns[f"{chosen}.{kind}"] for kind in _STATE if f"{chosen}.{kind}" in columns
        }
    return columns


def _state(message: Any) -> dict[str, float]:
    """A JointState by JOINT.position, JOINT.velocity, JOINT.effort."""
    found: dict[str, float] = {}
    for kind in _STATE:
        values = getattr(message, kind)
        if len(values) == len(message.name):
            found |= {f"{joint}.{kind}": float(value) for joint, value in zip(message.name, values, strict=True)}
    return found


def _stamp(message: Any) -> int:
    """Time of its header, ns; 0: none was written."""
    return int(message.header.stamp.sec) * 10**9 + int(message.header.stamp.nanosec)


def _numbers(message: dict[str, Any], above: str = "") -> Iterator[tuple[str, float]]:
    """Numbers of a JSON message by the names that lead to them."""
    for name, value in message.items():
        if isinstance(value, dict):
            yield from _numbers(value, f"{above}{name}.")
        elif isinstance(value, (int, float)):
            yield f"{above}{name}", float(value)
