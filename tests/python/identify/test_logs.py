"""Logs, servos and options that cannot be used are refused in a line; files are written whole or not at all."""

import contextlib
import gzip
import io
import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree

import numpy as np
from mjgear import _programs, identify
from mjgear import _files as files
from mjgear.identify import cli, mjcf, protocol

ROWS = [[0.01 * k, math.sin(0.1 * k), 0.1 * math.cos(0.1 * k)] for k in range(60)]
FACTS = "# mass=0.5 length=0.1 trajectory={}"
FIT = ("--models", "native,gamma", "--starts", "1", "--replicates", "2", "--dt", "0.01", "--quiet")


def csv_text(head="time,position,torque", rows=ROWS, facts=FACTS.format("sine")):
    return "\n".join([facts, head, *(",".join(map(str, row)) for row in rows), ""])


def entries():
    return [{"timestamp": t, "position": q, "torque": u} for t, q, u in ROWS]


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content) if isinstance(content, bytes) else path.write_text(content, encoding="utf-8")
        return path

    def npz(self, **arrays):
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)
        return buffer.getvalue()

    def here(self, *arguments):
        """Status of a command, its stderr, and its stdout."""
        with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.redirect_stdout(io.StringIO()) as told:
            try:
                status = cli.main([str(a) for a in arguments])
            except SystemExit as end:
                status = end.code
        return status, said.getvalue(), told.getvalue()


class Refused(Folder):
    """Each file is refused with its name and its mistake."""

    def refused(self, name, content, *words, **options):
        path = self.file(name, content)
        with self.assertRaises(identify.LogError, msg=name) as caught:
            identify.read(path, **options)
        for word in (str(path), *words):
            self.assertIn(word, str(caught.exception))
        self.assertEqual(str(caught.exception).count("\n"), 0)

    def test_time_in_another_unit(self):
        for scale in (1e6, 1e3):
            rows = [[scale * t, q, u] for t, q, u in ROWS]
            self.refused("t.csv", csv_text(rows=rows), "name it", "time=NAME:us")
        log = identify.read(self.file("t.csv", csv_text(rows=rows)), {"time": "time:ms"})
        self.assertAlmostEqual(log.time[-1], ROWS[-1][0], delta=log.dt + 1e-9)
        for dt in (0.0, -1.0, math.nan, math.inf):
            with self.assertRaisesRegex(identify.LogError, "above 0"):
                identify.read(self.file("t.csv", csv_text()), dt=dt)

    def test_counter_of_turns(self):
        """Three turns, as a counter of 4096 that begins anew at each."""
        rows = [[0.01 * k, (50 * k) % 4096, math.sin(0.1 * k)] for k in range(240)]
        text, unit = csv_text(rows=rows), 2 * math.pi / 4096
        self.refused("c.csv", text, "jumps by 6.2", "wrap=PERIOD", columns={"position": f"position:{unit}"})
        log = identify.read(self.folder / "c.csv", {"position": f"position:{unit},wrap=4096"})
        self.assertAlmostEqual(np.ptp(log.data["position"]), 50 * 239 * unit, delta=50 * unit)
        # over a stretch without samples the joint may have turned on
        rows = [[t + 5 * (t > 1), 2 * t + 60 * (t > 1), u] for t, q, u in rows]
        log = identify.read(self.file("g.csv", csv_text("time,position,output", rows)), angles=False)
        self.assertAlmostEqual(np.ptp(log.data["position"]), 60 + 2 * 2.39, delta=0.02)

    def test_speed_in_rpm(self):
        rows = [[0.01 * k, 90 * math.sin(0.1 * k), 0.1 * math.cos(0.1 * k)] for k in range(60)]
        self.refused("n.csv", csv_text("time,velocity,torque", []), "0 samples", angles=False)
        text = csv_text("time,velocity,torque", rows)
        self.refused("v.csv", text, "rpm", "velocity=velocity:rpm", angles=False)
        for unit, most in (("rpm", 90 * math.pi / 30), ("rad/s", 90)):
            log = identify.read(self.folder / "v.csv", {"velocity": f"velocity:{unit}"}, angles=False)
            self.assertAlmostEqual(np.abs(log.data["velocity"]).max(), most, delta=0.01 * most)
        # a slow one may be either, which is remarked
        rows = [[0.01 * k, 9 * math.sin(0.1 * k), 0.1 * math.cos(0.1 * k)] for k in range(60)]
        path = self.file("slow.csv", csv_text("time,velocity,torque", rows))
        for column, remarked in (("velocity", True), ("velocity:rad/s", False), ("velocity:rpm", False)):
            log = identify.read(path, {"velocity": column}, angles=False)
            bench = identify.FreeRun([log], identify.servo("torque"))
            self.assertEqual(any("taken as rad/s" in note for note in bench.notes), remarked, column)

    def test_stretch_without_samples(self):
        """A log whose motion is unknown for a while is refused; samples of a dynamometer are where it was logged."""
        rows = [row for row in ROWS if not 0.2 < row[0] < 0.45]
        self.refused("gap.csv", csv_text(rows=rows), "no samples from 0.2 to 0.45 s", "cut the log there")
        rows = [[t, math.cos(t), u] for t, _, u in rows]
        path = self.file("free.csv", csv_text("time,velocity,torque", rows))
        log = identify.read(path, dt=0.01, angles=False)
        self.assertEqual(log.n, len(rows) - 1)
        np.testing.assert_allclose(log.data["velocity"], [v for _, v, _ in rows[:-1]], atol=1e-12)

    def test_compressed(self):
        whole = gzip.compress(csv_text().encode())
        self.assertEqual(identify.read(self.file("w.csv.gz", whole)).name, "w")
        for k in (12, 40, len(whole) - 4):
            self.refused("w.csv.gz", whole[:k] + bytes([whole[k] ^ 0xFF]) + whole[k + 1 :], "compressed text")
        self.refused("w.csv.gz", whole[:-20], "compressed text")
        self.refused("w.csv", b"time,position\n\xff\xfe", "neither text")

    def test_csv(self):
        self.refused(
            "w.csv",
            csv_text(rows=[*ROWS[:5], ["1" * 140000, 0, 0]]),
            "line 8",
            "no number",  # infinite
        )
        self.refused("w.csv", csv_text(head="time,position,torque" + "x" * 140000), "line 2", "field larger")
        self.refused("w.csv", csv_text(rows=[*ROWS[:5], [1, 2]]), "line 8", "2 values under 3 columns")
        self.refused("w.csv", csv_text(rows=[]))
        self.refused("w.csv", "# mass=0.5 length=0.1\ntime,position")

    def test_names_that_are_too_long_or_too_many(self):
        for head in ("x" * 50000 + ",q,u", ",".join(f"column_{k}" for k in range(5000))):
            path = self.file("w.csv", csv_text(head=head, rows=[[0.0] * (head.count(",") + 1)] * 9))
            with self.assertRaisesRegex(identify.LogError, "no column for time; name it: time=COLUMN") as caught:
                identify.read(path)
            self.assertLess(len(str(caught.exception)), 1000)
        rows = [entry | {"torque" + "x" * 5000: entry["torque"]} for entry in entries()]
        rows[3]["torque" + "x" * 5000] = "much"
        with self.assertRaisesRegex(identify.LogError, r"column 'torquex+\.\.\.$") as caught:
            identify.read(self.file("w.json", json.dumps({"entries": rows})))
        self.assertLessEqual(len(str(caught.exception)), 1000)

    def test_csv_without_names(self):
        named = self.file("named.csv", csv_text())
        rows = "\n".join(line for line in csv_text().splitlines() if line[:1] in "0123456789-") + "\n"
        bare = self.file("bare.csv", "# mass=0.5 length=0.1\n" + rows)
        with self.assertRaisesRegex(
            identify.LogError, "line 2: numbers where the names of the columns should be; name them, --header"
        ):
            identify.read(bare)
        header = next(line for line in csv_text().splitlines() if line.startswith("time")).split(",")
        one, other = identify.read(named), identify.read(bare, header=header)
        self.assertEqual(one.facts["mass"], other.facts["mass"])
        for quantity in one.data:
            np.testing.assert_array_equal(one.data[quantity], other.data[quantity])
        with self.assertRaisesRegex(identify.LogError, "line 2: 3 values, and --header names 2 columns"):
            identify.read(bare, header=header[:2])

    def test_json(self):
        self.refused("w.json", '{"entries": ' + "[" * 200000 + "]" * 200000 + "}", "within each other")
        long = json.dumps({"entries": entries()}).replace('"position": 0.0', '"position": ' + "9" * 5000, 1)
        self.refused("w.json", long, "position", "entry 0", "no number")
        for bad in (1, None, [1.0], "text"):
            for k in (0, 7):
                rows = entries()
                rows[k] = bad
                self.refused("w.json", json.dumps({"entries": rows}), f"entry {k}", "object")
        rows = entries()
        rows[9]["torque"] = "much"
        self.refused("w.json", json.dumps({"entries": rows}), "torque", "entry 9")
        rows = [{"position": q, "torque": u} for _, q, u in ROWS]
        for dt in ("soon", -1, 0):
            self.refused("w.json", json.dumps({"dt": dt, "entries": rows}), "dt")

    def test_npz(self):
        t, data = np.array(ROWS)[:, 0], np.array(ROWS)[:, 1:]
        names = json.dumps({"position": ["joint", [0]], "torque": ["joint", [1]]})
        whole = self.npz(times=t, data=data, signal_mapping=names)
        self.assertEqual(set(identify.read(self.file("w.npz", whole)).data), {"position", "torque", "velocity"})
        compressed = io.BytesIO()
        np.savez_compressed(compressed, times=t, data=data, signal_mapping=names)
        damaged = bytearray(compressed.getvalue())
        damaged[60:90] = bytes(30)
        # the name before an array differs from the list and has 5 000 characters; the error of zipfile shows both
        named = bytearray(whole)
        named[26:28] = (5000).to_bytes(2, "little")
        path = self.file("w.npz", bytes(named) + bytes(5000))
        with self.assertRaises(identify.LogError) as caught:
            identify.read(path)
        self.assertLess(len(str(caught.exception)), 1000)
        bare = io.BytesIO()
        np.save(bare, t)
        for content in (
            b"",
            b"PK\3\4 and no more",
            whole[: len(whole) // 2],
            whole[:-1],
            bytes(damaged),
            bare.getvalue(),
            bare.getvalue().replace(b"}", b"(", 1),
            self.npz(times=t),
            self.npz(times=t, data=data[:, 0]),
            self.npz(times=t[:-1], data=data),
            self.npz(times=t, data=data * 1j),
            self.npz(times=t, data=data.astype(str)),
            self.npz(times=t, data=data.astype(object)),
        ):
            self.refused("w.npz", content, "not a TimeSeries")
        for mapping in (
            "[1]",
            "{",
            '{"position": 3}',
            '{"position": ["joint", [2]]}',
            '{"position": ["joint", [-1]]}',
            '{"position": ["joint", ["0"]]}',
            '{"position": [0]}',
            "[" * 200000,
        ):
            self.refused("w.npz", self.npz(times=t, data=data, signal_mapping=mapping), "not a TimeSeries")

    def test_text_without_end(self):
        least, identify.logs.LARGEST = identify.logs.LARGEST, 1000
        try:
            self.refused("w.csv", csv_text(), "more than")
            self.refused("w.csv.gz", gzip.compress(csv_text().encode()), "more than")
        finally:
            identify.logs.LARGEST = least

    def test_numbers(self):
        for column in ("position:1e999", "position:nan", "position:1/0", "position,wrap=inf", "position,wrap=-4"):
            with self.assertRaises(identify.LogError, msg=column):
                identify.read(self.file("w.csv", csv_text()), {"position": column})
        self.refused(
            "w.csv", csv_text(rows=[*ROWS, [1, 1e300, 0]]), "check its unit", columns={"position": "position:1e100"}
        )
        self.refused("w.csv", csv_text(rows=[*ROWS, [1, 1e307, 0]]), "check its unit")  # whose velocity overflows


class Commands(Folder):
    """One line and a status, before anything is fitted."""

    def test_known(self):
        log = self.file("w.csv", csv_text())
        for known, word in (
            ("kt=0.5", "no such parameter"),
            ("torque_constnt=0.5", "did you mean torque_constant?"),
            ("gamma_u=nan", "NUMBER"),
            ("resistance=0", "above 0"),
            ("gamma_u=-1", "from -0.95 on"),
            ("viscous=-1", "from 0 on"),
            ("gamma_u=1:x%", "NUMBER:5%"),
            ("gamma_u=1:1e308%", "at most 100%"),
        ):
            status, said, _ = self.here("identify", log, *FIT, "--known", known)
            self.assertEqual(status, 1, known)
            self.assertIn(word, said)
            self.assertEqual(said.count("\n"), 1)

    def test_options(self):
        log = self.file("w.csv", csv_text())
        for option, value in (
            ("--dt", 0),
            ("--dt", "nan"),
            ("--step", -1),
            ("--step", "1e-320"),
            ("--starts", 0),
            ("--replicates", 1),
            ("--seed", -1),
            ("--backlash", 0),
            ("--starts", "inf"),
            ("--dt", "x"),
        ):
            status, said, _ = self.here("identify", log, option, value)
            self.assertEqual(status, 2, (option, value))
            self.assertIn(f"argument {option}", said)
        self.assertEqual(self.here("protocol", "mx64", "--stall", 0)[0], 2)
        status, said, _ = self.here("identify", log, log, *FIT)
        self.assertEqual((status, said.count("\n")), (1, 1), said)
        self.assertIn("is given twice", said)
        for fact, word in (
            ("mass=heavy", "mass"),
            ("mass=nan", "mass"),
            ("mass=-1", "inertia"),
            ("length=0", "above 0"),
            ("kp=nan", "kp = 'nan' is not a number"),
            ("vin=inf", "vin"),
        ):  # a torque does not need it
            status, said, _ = self.here("identify", log, *FIT, "--fact", fact)
            self.assertEqual(status, 1, fact)
            self.assertIn(word, said)

    def test_help_of_arms(self):
        for words in (("--robot", "-h"), ("--robot", "--help"), ("-h", "--robot"), ("--robot=arm.xml", "-h")):
            status, said, told = self.here("identify", *words)
            self.assertEqual((status, said), (0, ""), words)
            self.assertIn("--joints NAMES", told)

    def test_joints_that_were_not_logged(self):
        joints = "".join(f"<body><joint name='j{k}'/><geom size='.1'/></body>" for k in range(2))
        robot = self.file("arm.xml", f"<mujoco><worldbody>{joints}</worldbody></mujoco>")
        one = csv_text(head="time,q1,tau_1")
        both = csv_text(head="time,q1,q2", rows=ROWS)
        for text, options in ((one, ()), (both, ()), (one, ("--column", "position=q{}"))):
            status, said, _ = self.here("identify", "--robot", robot, self.file("w.csv", text), *options)
            self.assertEqual((status, said.count("\n")), (1, 1), said)
            self.assertIn("--joints NAMES", said)

    def test_dynamometer_without_positions(self):
        t = 0.01 * np.arange(200)
        head = "time,velocity,torque,output"
        logs = []
        for k in range(3):
            v, u = np.cos(3 * t + k), 2 * np.sin(5 * t + k)
            logs.append(
                self.file(
                    f"w{k}.csv",
                    csv_text(
                        head,
                        np.column_stack(
                            [t, v, u, u - 0.3 * np.sign(v) - 0.1 * v + 0.01 * np.sin(1000 * t**2)]
                        ).tolist(),
                        "",
                    ),
                )
            )
        page, numbers = self.folder / "r.html", self.folder / "r.json"
        status, said, _ = self.here(
            "identify", *logs, *FIT, "--bench", "dynamometer", "--report", page, "--json", numbers
        )
        self.assertEqual((status, said), (0, ""))
        found = json.loads(numbers.read_text())
        self.assertEqual(found["chosen"], "native")
        for name, value in (("coulomb", 0.3), ("viscous", 0.1)):
            self.assertAlmostEqual(found["parameters"][name]["value"], value, delta=0.01)
        self.assertIn("data:image/png", page.read_text(encoding="utf-8"))
        # nothing else takes them, nor a log that has neither
        self.assertIn("no column for position", self.here("identify", *logs, *FIT, "--fact", "inertia=1")[1])
        none = self.file("n.csv", csv_text("time,torque,output", ROWS))
        self.assertIn("no column for position", self.here("identify", none, *FIT, "--bench", "dynamometer")[1])

    def test_moving(self):
        # two speeds with different friction; the threshold selects one of them
        t = 0.01 * np.arange(200)
        v = np.where(t < 1, 0.05, 1.5 + np.sin(7 * t)) * np.where(np.arange(200) % 20 < 10, 1, -1)
        u = 2 * np.sin(5 * t)
        made = [v, u, u - np.where(t < 1, 0.6, 0.3) * np.sign(v) + 0.01 * np.sin(1000 * t**2)]
        logs = [
            self.file(f"w{k}.csv", csv_text("time,velocity,torque,output", np.column_stack([t, *made]).tolist(), ""))
            for k in range(2)
        ]
        numbers = self.folder / "r.json"
        status, said, told = self.here(
            "identify", *logs, *FIT, "--bench", "dynamometer", "--moving", "0.5", "--json", numbers
        )
        self.assertEqual((status, said), (0, ""))
        self.assertIn("samples above 0.5 rad/s count as moving", told)
        self.assertAlmostEqual(json.loads(numbers.read_text())["parameters"]["coulomb"]["value"], 0.3, delta=0.02)
        self.assertRegex(
            self.here("identify", *logs, *FIT, "--bench", "dynamometer")[2],
            r"samples above 0\.02\d* rad/s count as moving",
        )
        status, said, _ = self.here("identify", *logs, *FIT, "--moving", "0.5", "--fact", "inertia=1")
        self.assertEqual(status, 1)
        self.assertIn("--moving is for --bench dynamometer", said)

    def test_servo(self):
        log = self.file("w.csv", csv_text())
        for content, word in (
            ("[1]", "no object"),
            ('{"supply": "much"}', "supply"),
            ("[" * 200000, "within each other"),
            ("{", "line 1"),
            ('{"drive": 3}', "drive"),
            ('{"supply": NaN}', "supply"),
            ('{"speed": 1}', "speed"),
        ):
            status, said, _ = self.here("identify", log, *FIT, "--servo", self.file("s.json", content))
            self.assertEqual(status, 1, content[:20])
            self.assertIn(word, said)

    def test_outputs_are_tried_before_the_fit(self):
        # the log is not even looked at
        for option in ("--report", "--json", "--mjcf"):
            for path in (self.folder / "none" / "r", self.folder, "/dev/full/r", "/proc/r"):
                status, said, _ = self.here("identify", self.folder / "no.csv", option, path)
                self.assertEqual(status, 1, (option, path))
                self.assertIn(str(path), said)
                self.assertNotIn("no.csv", said)
        status, said, _ = self.here("identify", self.folder / "no.csv", "--figures", self.file("r", ""))
        self.assertEqual(status, 1)
        self.assertNotIn("no.csv", said)

    def test_names_in_the_results(self):
        # text that looks like a formula, a missing glyph, marks of XML, and invalid UTF-8
        name = 'a"<b>&--$\\frac{$\u0007'
        facts = json.dumps({"mass": 0.5, "length": 0.1, "trajectory": "$\\frac{$ \ud800 \n \u0001 <b>"})[:-1]
        logs = [
            self.file(f"{name}{k}.json", f'{facts}, "kp": {k}, "entries": {json.dumps(entries())}}}') for k in range(2)
        ]
        page, model, numbers = self.folder / "r.html", self.folder / "r.xml", self.folder / "r.json"
        joint = 'k"<&-->'
        status, said, told = self.here(
            "identify", *logs, *FIT, "--report", page, "--mjcf", model, "--json", numbers, "--joint", joint
        )
        self.assertEqual(status, 0, said)
        self.assertEqual(page.read_text(encoding="utf-8").count("data:image/png"), 4)
        self.assertEqual(ElementTree.parse(model).getroot().get("model"), f"{name[:-1]}0")
        self.assertEqual(len(json.loads(numbers.read_text())["logs"]), 2)
        block = told[told.index("  <!-- the joint in worldbody: -->") :]
        self.assertEqual(ElementTree.fromstring(f"<root>{block}</root>").find("joint").get("name"), joint)
        self.assertEqual([f.name for f in self.folder.glob("*.part")], [])
        extension = mjcf.gear(identify.MODELS["gamma"], {"gamma_u": 0.1, "gamma_v": 0.1}, joint)
        self.assertEqual(ElementTree.fromstring(extension).find(".//config[@key='joint']").get("value"), joint)

    def test_standard_output(self):
        command = [sys.executable, "-m", "mjgear.identify", "protocol", "mx64", "--stall", "6"]
        with open("/dev/full", "w") as full:
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(
            (done.returncode, done.stderr),
            (1, "mjgear protocol: cannot write or read standard output: No space left on device\n"),
        )
        buffered = {
            key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"
        }  # without a buffer argparse passes over the error
        for words in ("identify", "--help"), ("hold", "--help"):
            with open("/dev/full", "w") as full:
                done = subprocess.run(
                    [sys.executable, "-c", _programs._START, *words],
                    stdout=full,
                    stderr=subprocess.PIPE,
                    text=True,
                    check=False,
                    env=buffered,
                )
            self.assertEqual(
                (done.returncode, done.stderr),
                (1, f"mjgear {words[0]}: cannot write standard output: No space left on device\n"),
            )

    def test_interrupt_of_imports(self):
        """An interrupt at any moment leaves no lines of Python's."""
        # behind the import of signal, by which the program leaves interrupts to the system
        for imports in (1, 50, 150, 300):
            with subprocess.Popen(
                [sys.executable, "-X", "importtime", "-c", _programs._START, "protocol", "mx64", "--stall", "6"],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            ) as program:
                while not program.stderr.readline().endswith("| signal\n"):
                    pass
                for _ in range(imports):
                    last = program.stderr.readline()
                program.send_signal(signal.SIGINT)
                told = program.stderr.read()
            self.assertEqual((last[:12], program.returncode), ("import time:", -signal.SIGINT), imports)
            self.assertNotIn("KeyboardInterrupt", told, imports)

    def test_degrees(self):
        """Positions over more than 50 rad of a joint with ends are mostly degrees: their unit is named, or asked for."""
        file = self.folder / "degrees.csv"
        t = np.arange(400) * 0.005
        file.write_text(
            "time,position,torque\n"
            + "\n".join(f"{a},{b},{c}" for a, b, c in zip(t, 90 * np.sin(3 * t), np.cos(3 * t), strict=True))
        )
        with self.assertRaisesRegex(
            identify.LogError,
            "column 'position' goes over 180 rad, 28.6 turns; name its unit, --column position=position:deg, or :rad",
        ):
            identify.read(file, turns=False)
        with self.assertRaisesRegex(identify.LogError, "name its unit"):
            identify.identify([file], facts={"mass": 1.0, "length": 0.1})
        for unit, most in (("deg", np.pi / 2), ("rad", 90)):
            log = identify.read(file, {"position": f"position:{unit}"}, turns=False)
            self.assertAlmostEqual(np.abs(log.data["position"]).max() / most, 1, delta=1e-3)
        self.assertAlmostEqual(np.abs(identify.read(file).data["position"]).max(), 90, delta=0.1)

    def test_interrupt(self):
        command = [
            sys.executable,
            "-c",
            "import os, signal, sys\nsignal.signal(signal.SIGINT, signal.default_int_handler)\nfrom mjgear.identify import cli\n"
            "cli.identify = lambda *a, **k: os.kill(os.getpid(), signal.SIGINT)\nsys.exit(cli.main(sys.argv[1:]))",
            "identify",
            "x.csv",
            "--json",
            str(self.folder / "r.json"),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(
            (done.returncode, done.stderr), (128 + signal.SIGINT, "mjgear identify: interrupted; nothing was written\n")
        )
        self.assertFalse((self.folder / "r.json").exists())


class Written(Folder):
    """A failed write leaves the old file."""

    def test_whole_or_not_at_all(self):
        path = self.file("r", "before")
        path.chmod(0o640)
        fsync = os.fsync

        def full(number):
            raise OSError(28, "No space left on device")

        os.fsync = full
        try:
            with self.assertRaisesRegex(OSError, "No space left on device.*r'"):
                files.write(path, "after")
            with self.assertRaises(OSError):
                protocol.write_signals(self.folder / "new", identify.servo("mx64"), 6, 0.1)
        finally:
            os.fsync = fsync
        self.assertEqual(path.read_text(), "before")
        self.assertEqual(sorted(f.name for f in self.folder.rglob("*")), ["new", "r"])
        files.write(path, "after")
        self.assertEqual((path.read_text(), path.stat().st_mode & 0o777), ("after", 0o640))

    def test_special_files_and_links(self):
        files.check(pathlib.Path("/dev/null"))
        files.write(pathlib.Path("/dev/null"), "text")
        with self.assertRaises(OSError):
            files.write(pathlib.Path("/dev/full"), "text")
        link = self.folder / "link"
        link.symlink_to(self.file("real", "before"))
        files.write(link, "after")
        self.assertTrue(link.is_symlink())
        self.assertEqual((self.folder / "real").read_text(), "after")


class Long(Folder):
    def test_work_grows_with_the_rows(self):
        """A log of 16 times the rows takes at most 24 times the processor time: an hour at 1 kHz is done in a minute or two. Rows
        are those of a pendulum of 0.5 kg with friction of 0.1 N m, whose torque is that of the motion."""
        seconds = []
        for n in (5000, 80000):
            t = 0.005 * np.arange(n)
            q, v, a = np.zeros((3, n))
            for size, rate in ((0.8, 1.1), (0.5, 2.3), (0.3, 0.37)):
                q += size * np.sin(rate * t)
                v += size * rate * np.cos(rate * t)
                a -= size * rate**2 * np.sin(rate * t)
            torque = (0.5 * 0.15**2 + 0.01) * a + 0.5 * 9.81 * 0.15 * np.sin(q) + 0.1 * np.sign(v) + 0.02 * v
            path = self.folder / f"{n}.csv"
            head = "# mass=0.5 length=0.15\ntime,position,torque"
            np.savetxt(path, np.c_[t, q, torque], delimiter=",", header=head, comments="", fmt="%.9g")
            options = ("--input", "torque", "--models", "native", "--starts", "1", "--replicates", "2", "--quiet")
            begin = time.process_time()
            with contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(cli.main(["identify", str(path), *options]), 0)
            seconds.append(time.process_time() - begin)
        self.assertLess(seconds[1], 24 * seconds[0], seconds)


if __name__ == "__main__":
    unittest.main()
