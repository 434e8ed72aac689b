"""mjgear-run from the command line: results, exit codes, and one line for each fault."""

import pathlib
import sys
import tempfile
import unittest

import numpy as np
import programs
from programs import SOURCE, table

RUN = sys.argv.pop(1)
CASE = ("rod", "--case", "gamma_v=0.2")


class Run(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def run_well(self, *words, cwd=None):
        """The output of a run without faults."""
        done = programs.run(RUN, *words, cwd=cwd or self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_a_scene_writes_cases_and_claims(self):
        self.assertNotIn("FAIL", self.run_well("rod", "--out", "deep/out"))
        rows = table(self.folder / "deep/out/rod/gamma_v=1.05.csv")
        self.assertEqual((len(rows), float(rows[0]["q_rod"])), (2000, 0.15))
        stands = {name: float(rows[1390][name]) for name in ("v_rod", "q_rod", "motor_rod", "friction_rod")}
        self.assertEqual((stands["v_rod"], stands["motor_rod"]), (0, 0))
        self.assertAlmostEqual(stands["q_rod"], -1.47503e-2, delta=5e-8)

        # with the motor off the friction carries the whole spring
        self.assertAlmostEqual(stands["friction_rod"], 147.503, delta=1e-2)
        claims, differences = (table(self.folder / f"deep/out/rod/{name}.csv") for name in ("claims", "differences"))
        self.assertGreaterEqual(len(claims), 11)
        self.assertEqual({row["holds"] for row in claims}, {"1"})
        self.assertEqual([float(row["difference"]) <= 1e-9 for row in differences], [True] * 8)

    def test_arrays_have_the_numbers_of_the_text(self):
        self.run_well(*CASE, "--out", "text")
        self.run_well(*CASE, "--out", "arrays", "--npy")
        rows, array = (
            table(self.folder / "text/rod/gamma_v=0.2.csv"),
            np.load(self.folder / "arrays/rod/gamma_v=0.2.npy"),
        )
        self.assertEqual((array.dtype.names, len(array)), (tuple(rows[0]), len(rows)))
        for name in array.dtype.names[1:]:  # the time in the text has 10 digits
            self.assertTrue(np.array_equal(array[name], [float(row[name]) for row in rows], equal_nan=True), name)

        # an array without its last rows is no array
        self.assertEqual(programs.run(RUN, *CASE, "--out", "cut", "--npy", cwd=self.folder, disk=5000).returncode, 1)
        self.assertFalse((self.folder / "cut/rod/gamma_v=0.2.npy").exists())

    def test_the_wall_follows_the_paper(self):
        """Section 6.2 of Kikuuwe 2022: place of the wall, and the push at the tip as a torque of the elbow."""
        self.run_well("wall", "--case", "gamma_v=1.1,1.1", "--npy", "--out", ".")
        run = np.load(self.folder / "wall/gamma_v=1.1,1.1.npy")
        np.testing.assert_allclose(run["wx"], np.interp(run["time"], (1, 1.5), (1.37, 1.12)), atol=1e-12)
        ends = run["time"][:, None] > np.array((0.5, 2, 2.5)) - 1e-9
        push = np.array((0, 500, 0, -500))[ends.sum(1)]
        np.testing.assert_allclose(run["motor_elbow"], -np.sin(run["q_shoulder"] + run["q_elbow"]) * push, atol=1e-9)

    def test_pages_have_all_scenes(self):
        self.assertIn("--duration", self.run_well("--help"))
        text = self.run_well("--list")
        self.assertIn("gamma_v=1.05", text)
        listed = [line.split()[0] for line in text.splitlines() if not line.startswith(" ")]
        rows = [line.split("\t") for line in self.run_well("--pages").splitlines()]
        self.assertEqual(([row[0] for row in rows], {len(row) for row in rows}), (listed, {7}))
        sources = "".join(path.read_text() for path in (SOURCE / "scenes").glob("*/*.c"))
        self.assertEqual(len(rows), sources.count("\nmjgSCENE("))
        self.assertIn(["rod", "rod/gamma_v=1.05", "1.2", "", "", "0"], [row[:6] for row in rows])

    def test_one_case_and_settings(self):
        self.run_well(*CASE, "--set", "gear.gamma_v=1.05", "--out", ".")
        self.assertEqual(float(table(self.folder / "rod/gamma_v=0.2.csv")[1390]["v_rod"]), 0)

        # a changed model has no comparison
        self.assertEqual([table(self.folder / f"rod/{name}.csv") for name in ("differences", "claims")], [[], []])

    def test_files(self):
        """Any model is played; results of a scene's file are beside those of the scene; and none are wanted."""
        self.run_well("data/slider.xml", "--duration", "0.5", "--out", self.folder, cwd=SOURCE / "tests")
        rows = table(self.folder / "slider/run.csv")
        self.assertEqual(len(rows), 50)
        self.assertAlmostEqual(float(rows[10]["v_slide"]), -2, delta=1e-12)
        self.run_well("scenes/rod/rod.xml", "--duration", "0.1", "--out", self.folder, cwd=SOURCE)
        self.run_well(*CASE, "--out", "-")
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"slider", "rod.xml"})

    def test_names_with_commas_and_quotes(self):
        body = """<body><joint name='left, "upper"'/><geom size=".1"/></body>"""
        (self.folder / "quoted.xml").write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
        self.run_well("quoted.xml", "--duration", "0.01", "--out", ".")
        self.assertIn('q_left, "upper"', table(self.folder / "quoted/run.csv")[0])

    def test_full_disk(self):
        """Half a file does not stay, and an older one does."""
        for name, size, more in (
            ("gamma_v=0.2.csv", 5000, ()),
            ("gamma_v=0.2.npy", 5000, ("--npy",)),
            ("claims.csv", 0, ("--duration", "0.005")),
        ):
            with self.subTest("an older file stays", name=name):
                path = self.folder / "rod" / name
                path.parent.mkdir(exist_ok=True)
                path.write_text("as it was")
                done = programs.run(RUN, *CASE, "--out", ".", *more, cwd=self.folder, disk=size)
                self.assertEqual((done.returncode, path.read_text()), (1, "as it was"))
                self.assertIn("File too large", done.stderr)
                self.assertEqual([*self.folder.rglob("*.part")], [])
        for option in ("--list", "--help"):
            with open("/dev/full", "w") as full:
                done = programs.run(RUN, option, stdout=full)
            told = "mjgear-run: cannot write standard output: No space left on device\n"
            self.assertEqual((done.returncode, done.stderr), (1, told))

    def test_faults_are_one_line(self):
        (self.folder / "zero.xml").symlink_to("/dev/zero")
        for code, word, line in (
            (2, "there is no scene 'rods'", "rods"),
            (2, "unknown option '--frobnicate'; --help lists all\n", "rod --frobnicate 1"),
            (2, "unknown option '--qiet'; did you mean --quiet\n", "rod --qiet"),
            (
                2,
                "unknown option '-x'; --help lists all, and a file whose name begins with - stands behind --",
                "-x rod",
            ),
            (2, "option '--quiet=3' takes no value", "--quiet=3 rod"),
            (2, "option '--duration' needs a value", "rod --duration"),
            (2, "there is no scene '--quiet'", "-- --quiet"),
            (2, "--duration", "rod --duration -1"),
            (2, "--duration", "rod --duration nan"),
            (2, "--set", "rod --set gamma_v"),
            (2, "no case 'x'", "rod --case x"),
            (1, "gamma_w", "rod --set gear.gamma_w=1"),
            (1, "nowhere.xml", "nowhere.xml"),
            (1, "/nowhere.so", "rod --plugin /nowhere.so"),
            (1, "/dev/null", "rod --case gamma_v=0.2 --out /dev/null/x"),
            (1, "mjgear-run: ./zero.xml: the file is no text, because it has bytes of 0\n", "zero.xml"),
        ):
            with self.subTest(line):
                done = programs.run(RUN, *line.split(), cwd=self.folder)
                self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (code, "", 1), done.stderr)
                self.assertIn(word, done.stderr)


if __name__ == "__main__":
    unittest.main()
