"""Recordings that other packages write read to the same numbers as a CSV file: LeRobot's parquet, MCAP, rosbag2."""

import importlib.util
import json
import pathlib
import sys
import tempfile
import unittest

import numpy as np

if not all(map(importlib.util.find_spec, ("pyarrow", "mcap", "mcap_ros2", "rosbags"))):
    print("pyarrow, mcap, mcap-ros2-support and rosbags are not installed")
    sys.exit(77)

import pyarrow
import pyarrow.parquet
from mcap.writer import Writer as McapWriter
from mcap_ros2.writer import Writer as Ros2Writer
from rosbags.rosbag2 import StoragePlugin, Writer as BagWriter
from rosbags.typesys import Stores, get_typestore

from mjgear import identify

TIME = 0.01 * np.arange(80)
STATE = {
    "shoulder": (0.3 * np.sin(3 * TIME), 0.9 * np.cos(3 * TIME), 0.2 * np.cos(5 * TIME)),
    "elbow": (np.sin(2 * TIME), 2 * np.cos(2 * TIME), 0.1 * np.sin(7 * TIME)),
}
JOINT_STATE = """std_msgs/Header header
string[] name
float64[] position
float64[] velocity
float64[] effort
================================================================================
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
================================================================================
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec"""


def nanoseconds(k):
    return 1_700_000_000_000_000_000 + 10_000_000 * k


class Test(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for joint, (position, velocity, torque) in STATE.items():
            rows = "".join(
                f"{t!r},{q!r},{v!r},{u!r}\n"
                for t, q, v, u in zip(TIME.tolist(), position.tolist(), velocity.tolist(), torque.tolist(), strict=True)
            )
            (self.folder / f"{joint}.csv").write_text(f"time,position,velocity,torque\n{rows}")

    def same(self, path, joint, tolerance, **options):
        log, csv = identify.read(path, **options), identify.read(self.folder / f"{joint}.csv")
        self.assertEqual(set(log.data) & {"position", "velocity", "torque"}, set(csv.data))
        for name, values in csv.data.items():
            n = min(len(values), len(log.data[name]))
            self.assertLessEqual(abs(len(values) - len(log.data[name])), 1)
            np.testing.assert_allclose(log.data[name][:n], values[:n], atol=tolerance, err_msg=name)

    def test_ros_mcap(self):
        path = self.folder / "arm.mcap"
        with path.open("wb") as file, Ros2Writer(file) as writer:
            schema = writer.register_msgdef("sensor_msgs/msg/JointState", JOINT_STATE)
            for k in range(len(TIME)):
                stamp = {"sec": nanoseconds(k) // 10**9, "nanosec": nanoseconds(k) % 10**9}
                message = {
                    "header": {"stamp": stamp, "frame_id": ""},
                    "name": list(STATE),
                    **{
                        kind: [float(state[i][k]) for state in STATE.values()]
                        for i, kind in enumerate(("position", "velocity", "effort"))
                    },
                }
                writer.write_message(
                    "/joint_states", schema, message, nanoseconds(k) + 3_000_000 * (k % 2), nanoseconds(k)
                )
        for joint in STATE:
            self.same(f"{path}#{joint}", joint, 1e-12)
            self.same(f"{path}#/joint_states/{joint}", joint, 1e-12)
        with self.assertRaisesRegex(identify.LogError, "no column for position"):
            identify.read(path)
        with self.assertRaisesRegex(identify.LogError, "no joint 'wrist'.*shoulder, elbow"):
            identify.read(f"{path}#wrist")
        path.write_bytes(path.read_bytes()[:300])
        with self.assertRaisesRegex(identify.LogError, "arm.mcap: cannot be read"):
            identify.read(path)

    def test_json_mcap(self):
        path = self.folder / "bench.mcap"
        with path.open("wb") as file:
            writer = McapWriter(file)
            writer.start()
            schema = writer.register_schema("State", "jsonschema", b'{"type": "object"}')
            channel = writer.register_channel("/bench", "json", schema)
            for k, (q, v, u) in enumerate(zip(*STATE["elbow"], strict=True)):
                data = json.dumps(
                    {
                        "time": float(TIME[k]),
                        "motor": {"q": float(q), "v": float(v), "mNm": 1000 * float(u)},
                        "name": "x",
                    }
                ).encode()
                writer.add_message(channel, nanoseconds(k), data, nanoseconds(k))
            writer.finish()
        self.same(
            path, "elbow", 1e-12, columns={"position": "motor.q", "velocity": "motor.v", "torque": "motor.mNm:mNm"}
        )

    def test_rosbag2(self):
        store = get_typestore(Stores.ROS2_HUMBLE)
        State, Header, Time = (
            store.types[name]
            for name in ("sensor_msgs/msg/JointState", "std_msgs/msg/Header", "builtin_interfaces/msg/Time")
        )
        for plugin in (StoragePlugin.SQLITE3, StoragePlugin.MCAP):
            path = self.folder / f"bag_{plugin.name}"
            with BagWriter(path, version=9, storage_plugin=plugin) as writer:
                other = writer.add_connection("/clock_of_others", "builtin_interfaces/msg/Time", typestore=store)
                connection = writer.add_connection("/joint_states", State.__msgtype__, typestore=store)
                for k in range(len(TIME)):
                    stamp = Time(sec=nanoseconds(k) // 10**9, nanosec=nanoseconds(k) % 10**9)
                    values = [np.array([state[i][k] for state in STATE.values()]) for i in range(3)]
                    message = State(Header(stamp=stamp, frame_id=""), list(STATE), *values)
                    writer.write(other, nanoseconds(k), store.serialize_cdr(stamp, "builtin_interfaces/msg/Time"))
                    writer.write(connection, nanoseconds(k), store.serialize_cdr(message, State.__msgtype__))
            for joint in STATE:
                self.same(f"{path}#{joint}", joint, 1e-12)
        self.assertEqual(len(identify.read_all([f"{path}#elbow", self.folder / "elbow.csv"])), 2)

    def test_lerobot(self):
        data = self.folder / "set" / "data" / "chunk-000"
        data.mkdir(parents=True)
        (self.folder / "set" / "meta").mkdir()
        names = [f"{joint}.pos" for joint in STATE]
        (self.folder / "set" / "meta" / "info.json").write_text(
            json.dumps(
                {
                    "codebase_version": "v3.0",
                    "features": {
                        "observation.state": {"dtype": "float32", "shape": [2], "names": names},
                        "action": {"dtype": "float32", "shape": [2], "names": {"motors": names}},
                    },
                }
            )
        )
        degrees = [np.degrees([STATE[joint][0][k] for joint in STATE]) for k in range(len(TIME))]
        rows = [(episode, k) for episode in (4, 5) for k in range(len(TIME))]
        table = pyarrow.table(
            {
                "observation.state": pyarrow.array(
                    [(degrees[k] + episode - 5).astype(np.float32).tolist() for episode, k in rows],
                    pyarrow.list_(pyarrow.float32()),
                ),
                "action": pyarrow.array(
                    [degrees[k].astype(np.float32).tolist() for _, k in rows], pyarrow.list_(pyarrow.float32())
                ),
                "timestamp": pyarrow.array([float(TIME[k]) for _, k in rows], pyarrow.float32()),
                "episode_index": pyarrow.array([episode for episode, _ in rows], pyarrow.int64()),
                "task": ["lift"] * len(rows),
            }
        )
        path = data / "file-000.parquet"
        pyarrow.parquet.write_table(table, path)
        for joint in STATE:
            log = identify.read(
                f"{path}#5", {"position": f"observation.state.{joint}.pos:deg", "goal": f"action.{joint}.pos:deg"}
            )
            csv = identify.read(self.folder / f"{joint}.csv")
            n = min(log.n, csv.n)
            for name in ("position", "goal"):
                np.testing.assert_allclose(log.data[name][:n], csv.data["position"][:n], atol=2e-6)
        with self.assertRaisesRegex(identify.LogError, "2 episodes, 4 to 5.*file-000.parquet#4"):
            identify.read(path)
        with self.assertRaisesRegex(identify.LogError, "no episode '7'"):
            identify.read(f"{path}#7")
        path.write_bytes(b"PAR1 nothing")
        with self.assertRaisesRegex(identify.LogError, "cannot be read"):
            identify.read(path)

    def test_missing_package(self):
        found = importlib.util.find_spec
        try:
            importlib.util.find_spec = lambda name, *rest: None if name == "mcap" else found(name, *rest)
            with self.assertRaisesRegex(identify.LogError, "pip install mcap"):
                identify.read(self.folder / "none.mcap")
        finally:
            importlib.util.find_spec = found


if __name__ == "__main__":
    unittest.main()
