"""mjgear-run from the command line: results, exit codes, and one line for each fault."""

import csv
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

RUN = sys.argv.pop(1)
SOURCE = pathlib.Path(os.environ["MJGEAR_SOURCE_DIR"])


def run(*arguments, folder=None, preexec_fn=None):
    """Exit code, output and errors."""
    environment = dict(os.environ, MJGEAR_PLUGIN=os.environ["MJGEAR_PLUGIN_PATH"])
    environment.pop("LD_PRELOAD", None)
    done = subprocess.run(
        [RUN, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=preexec_fn,
    )
    return done.returncode, done.stdout, done.stderr


class Run(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def read(self, name):
        with open(self.folder / name, newline="") as file:
            return list(csv.DictReader(file))

    def test_a_scene_writes_cases_and_claims(self):
        code, output, errors = run("rod", "--out", "deep/out", folder=self.folder)
        self.assertEqual((code, errors), (0, ""))
        self.assertNotIn("FAIL", output)
        rows = self.read("deep/out/rod/gamma_v=1.05.csv")
        self.assertEqual(len(rows), 2000)
        self.assertEqual(float(rows[0]["q_rod"]), 0.15)
        self.assertEqual(float(rows[1390]["v_rod"]), 0)
        self.assertAlmostEqual(float(rows[1390]["q_rod"]), -1.47503e-2, delta=5e-8)
        self.assertEqual(float(rows[1390]["motor_rod"]), 0)

        # with the motor off the friction carries the whole spring
        self.assertAlmostEqual(float(rows[1390]["friction_rod"]), 147.503, delta=1e-2)
        claims = self.read("deep/out/rod/claims.csv")
        self.assertGreaterEqual(len(claims), 11)
        self.assertTrue(all(row["holds"] == "1" for row in claims))
        differences = self.read("deep/out/rod/differences.csv")
        self.assertEqual(len(differences), 8)
        self.assertTrue(all(float(row["difference"]) <= 1e-9 for row in differences))

    def test_arrays_have_the_numbers_of_the_text(self):
        arguments = ("rod", "--case", "gamma_v=1.05", "--out")
        self.assertEqual(run(*arguments, "text", folder=self.folder)[::2], (0, ""))
        self.assertEqual(run(*arguments, "arrays", "--npy", folder=self.folder)[::2], (0, ""))
        rows, array = self.read("text/rod/gamma_v=1.05.csv"), np.load(self.folder / "arrays/rod/gamma_v=1.05.npy")
        self.assertEqual((array.dtype.names, len(array)), (tuple(rows[0]), len(rows)))
        for name in array.dtype.names[1:]:  # the time in the text has 10 digits
            self.assertTrue(np.array_equal(array[name], [float(row[name]) for row in rows], equal_nan=True), name)

        # an array without its last rows is no array
        code, _, _ = run(*arguments, "cut", "--npy", folder=self.folder, preexec_fn=self.limited(5000))
        self.assertEqual(code, 1)
        self.assertFalse((self.folder / "cut/rod/gamma_v=1.05.npy").exists())

    def test_pages_have_all_scenes(self):
        code, output, _ = run("--pages")
        listed = [line.split()[0] for line in run("--list")[1].splitlines() if not line.startswith(" ")]
        rows = [line.split("\t") for line in output.splitlines()]
        self.assertEqual((code, [row[0] for row in rows], {len(row) for row in rows}), (0, listed, {7}))
        sources = "".join(path.read_text() for path in (SOURCE / "scenes").glob("*/*.c"))
        self.assertEqual(len(rows), sources.count("\nconst mjgScene mjg_scene"))
        self.assertIn(["rod", "rod/gamma_v=1.05", "1.2", "", "", "0"], [row[:6] for row in rows])

    def test_one_case_and_settings(self):
        code, output, errors = run(
            "rod", "--case", "gamma_v=0.2", "--set", "gear.gamma_v=1.05", "--out", ".", folder=self.folder
        )
        self.assertEqual((code, errors), (0, ""))
        self.assertEqual(float(self.read("rod/gamma_v=0.2.csv")[1390]["v_rod"]), 0)

        # a changed model has no comparison
        self.assertEqual(self.read("rod/differences.csv"), [])
        self.assertEqual(self.read("rod/claims.csv"), [])

    def test_any_model(self):
        code, _, errors = run(
            "data/slider.xml", "--duration", "0.5", "--out", str(self.folder), folder=SOURCE / "tests"
        )
        self.assertEqual((code, errors), (0, ""))
        rows = self.read("slider/run.csv")
        self.assertEqual(len(rows), 50)
        self.assertAlmostEqual(float(rows[10]["v_slide"]), -2, delta=1e-12)

    def test_file_of_a_scene(self):
        """Results are separate from those of the scene."""
        code, _, errors = run("scenes/rod/rod.xml", "--duration", "0.1", "--out", str(self.folder), folder=SOURCE)
        self.assertEqual((code, errors), (0, ""))
        self.assertEqual([path.name for path in self.folder.iterdir()], ["rod.xml"])

    def test_no_results(self):
        code, _, _ = run("rod", "--case", "gamma_v=0.5", "--out", "-", folder=self.folder)
        self.assertEqual(code, 0)
        self.assertEqual(list(self.folder.iterdir()), [])

    def limited(self, size):
        """A disk that is full after so many bytes of each file."""

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        return limit

    def test_full_disk(self):
        """Rows that were written stay, whole; a file without any does not."""
        for size, rows in ((0, None), (5000, 10)):
            with self.subTest(size):
                code, _, errors = run(
                    "rod", "--case", "gamma_v=0.2", "--out", ".", folder=self.folder, preexec_fn=self.limited(size)
                )
                self.assertEqual(code, 1)
                self.assertIn("File too large", errors)
                path = self.folder / "rod/gamma_v=0.2.csv"
                self.assertEqual(path.exists(), rows is not None)
                if rows:
                    lines = path.read_text().splitlines(keepends=True)
                    self.assertGreater(len(lines), rows)
                    self.assertEqual({(line.count(","), line[-1]) for line in lines}, {(lines[0].count(","), "\n")})
        for name, more in (
            ("gamma_v=0.2.csv", ()),
            ("gamma_v=0.2.npy", ("--npy",)),
            ("claims.csv", ("--duration", "0.005")),
        ):
            with self.subTest("an older file stays", name=name):
                path = self.folder / "rod" / name
                path.write_text("as it was")
                size = 5000 if "claims" not in name else 0
                code, _, errors = run(
                    "rod",
                    "--case",
                    "gamma_v=0.2",
                    "--out",
                    ".",
                    *more,
                    folder=self.folder,
                    preexec_fn=self.limited(size),
                )
                self.assertEqual(code, 1)
                self.assertIn("File too large", errors)
                self.assertEqual(path.read_text(), "as it was")
                self.assertEqual([*self.folder.rglob("*.part")], [])
        for option in ("--list", "--help"):
            with open("/dev/full", "w") as full:
                done = subprocess.run([RUN, option], stdout=full, stderr=subprocess.PIPE, text=True)
            self.assertEqual(
                (done.returncode, done.stderr),
                (1, "mjgear-run: cannot write standard output: No space left on device\n"),
            )

    def test_an_interrupt_leaves_whole_rows(self):
        environment = dict(os.environ, MJGEAR_PLUGIN=os.environ["MJGEAR_PLUGIN_PATH"])
        environment.pop("LD_PRELOAD", None)
        path = self.folder / "rod/gamma_v=0.2.csv"
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGKILL:
            path.unlink(missing_ok=True)
            with subprocess.Popen(
                [RUN, "rod", "--case", "gamma_v=0.2", "--duration", "1e6", "--out", "."],
                cwd=self.folder,
                env=environment,
                stderr=subprocess.DEVNULL,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            ) as running:
                while not path.exists() or path.stat().st_size < 20000:
                    self.assertIsNone(running.poll())
                    time.sleep(0.01)
                running.send_signal(number)
            lines = path.read_text().splitlines(keepends=True)

            # the kernel may cut a write at SIGKILL, which no program can prevent: all rows before it are complete
            if number == signal.SIGKILL and lines[-1][-1] != "\n":
                lines.pop()
            self.assertEqual({(line.count(","), line[-1]) for line in lines}, {(lines[0].count(","), "\n")}, number)

    def test_model_without_end(self):
        code, _, errors = run("zero.xml", folder=self.zero())
        self.assertEqual(code, 1)
        self.assertEqual(errors, "mjgear-run: ./zero.xml: the file is no text, because it has bytes of 0\n")

    def zero(self):
        (self.folder / "zero.xml").symlink_to("/dev/zero")
        return self.folder

    def test_list_and_help(self):
        for option, word in (("--list", "gamma_v=1.05"), ("--help", "--duration")):
            code, output, errors = run(option)
            self.assertEqual((code, errors), (0, ""))
            self.assertIn(word, output)

    def test_faults_are_one_line(self):
        faults = (
            (2, "there is no scene 'rods'", "rods"),
            (2, "--frobnicate", "rod", "--frobnicate", "1"),
            (2, "--duration", "rod", "--duration"),
            (2, "positive", "rod", "--duration", "-1"),
            (2, "positive", "rod", "--duration", "nan"),
            (2, "INSTANCE.KEY=VALUE", "rod", "--set", "gamma_v"),
            (2, "no case 'x'", "rod", "--case", "x"),
            (1, "gamma_w", "rod", "--set", "gear.gamma_w=1"),
            (1, "nowhere.xml", "nowhere.xml"),
            (1, "/nowhere.so", "rod", "--plugin", "/nowhere.so"),
            (1, "/dev/null", "rod", "--case", "gamma_v=0.2", "--out", "/dev/null/x"),
        )
        for expected, word, *arguments in faults:
            with self.subTest(arguments):
                code, output, errors = run(*arguments, folder=self.folder)
                self.assertEqual(code, expected, errors)
                self.assertIn(word, errors)
                self.assertEqual(errors.count("\n"), 1, errors)
                self.assertEqual(output, "")


if __name__ == "__main__":
    unittest.main()
