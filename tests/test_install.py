"""cmake --install installs all that other projects need: find_package, pkg-config, a plugin without a path to MuJoCo.
The tree also builds as a part of another project."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import mujoco

SOURCE = pathlib.Path(os.environ["MJGEAR_SOURCE_DIR"])
BUILD = pathlib.Path(sys.argv.pop(1))
EXAMPLE = SOURCE / "examples" / "core"


def run(*command, **environment):
    done = subprocess.run(
        [str(word) for word in command], env=dict(os.environ, **environment), capture_output=True, text=True
    )
    assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"
    return done.stdout


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.prefix = cls.folder / "prefix"
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def check(self, output):
        """The example's output: lifts with 25 N m, holds without, lowers with -3 N m."""
        version = re.search(r"project\(mjgear VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]
        self.assertIn(f"mjgear {version}: forward efficiency 0.447, backward -0.214", output)
        speeds = [float(v) for v in re.findall(r"N m: (\S+) rad/s", output)]
        self.assertGreater(speeds[0], 0)
        self.assertEqual(speeds[1], 0)
        self.assertLess(speeds[2], 0)

    def test_find_package(self):
        build = self.folder / "find_package"
        run("cmake", "-S", EXAMPLE, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", build)
        self.check(run(build / "first_gear"))

    def test_pkg_config(self):
        path = {"PKG_CONFIG_PATH": str(next(self.prefix.glob("lib*/**/pkgconfig")))}
        flags = run("pkg-config", "--cflags", "--libs", "mjgear", **path).split()
        program = self.folder / "first_gear"
        run("cc", EXAMPLE / "first_gear.c", *flags, "-o", program)
        library = run("pkg-config", "--variable=libdir", "mjgear", **path).strip()
        self.check(run(program, LD_LIBRARY_PATH=library))

        # its neighbours: the motor's torque against the formulas (26), a given bounce, the paper's operations
        raised, lowered = re.search(
            r"from (\S+) N m on, lowers it from (\S+) N m", run(program, LD_LIBRARY_PATH=library)
        ).groups()
        self.assertAlmostEqual(float(raised), 10 / 0.4470, delta=0.01)
        self.assertAlmostEqual(float(lowered), 10 * -0.2144, delta=0.01)
        for name in ("impact", "paper"):
            run("cc", EXAMPLE / f"{name}.c", *flags, "-lm", "-o", self.folder / name)
        self.assertIn("80.0 % of it", run(self.folder / "impact", LD_LIBRARY_PATH=library))
        text = run(self.folder / "paper", LD_LIBRARY_PATH=library)
        speeds = re.findall(r"(\S+) rad/s by projection, (\S+) by mjg_step", text)
        self.assertEqual(len(speeds), 2)
        for projected, stepped in speeds:
            self.assertAlmostEqual(float(projected), float(stepped), delta=2e-9)
        self.assertIn("valid, the only solution", text)

        # the plugin is where the file says, and takes the MuJoCo that is running
        plugin = run("pkg-config", "--variable=plugin", "mjgear", **path).strip()
        code = "import sys, mujoco; mujoco.mj_loadPluginLibrary(sys.argv[1]); mujoco.MjSpec().activate_plugin('mjgear.transmission')"
        run(sys.executable, "-c", code, plugin, PYTHONPATH="")
        self.assertNotIn(str(pathlib.Path(mujoco.__file__).parent), run("readelf", "-d", plugin))

    def test_programs(self):
        """They run after the tree was moved, with a MuJoCo that is found from the new place."""
        moved = self.folder / "moved"
        shutil.copytree(self.prefix, moved, symlinks=True)
        for name in ("LD_LIBRARY_PATH", "MJGEAR_PLUGIN", "MJGEAR_SCENES"):
            os.environ.pop(name, None)
        engine = str(pathlib.Path(mujoco.__file__).parent)
        for name in ("mjgear", "mjgear-run", "mjgear-view"):
            program = moved / "bin" / name
            dynamic = run("readelf", "-d", program)
            self.assertIn("$ORIGIN/../lib", dynamic)
            self.assertNotIn(engine, dynamic)
            self.assertNotIn(str(BUILD), dynamic)
            found = re.search(r"libmujoco\S+ => (\S+)", run("ldd", program))[1]
            self.assertTrue(pathlib.Path(found).resolve().is_relative_to(moved.resolve()), found)
            run(program, "--help")
        self.assertIn("elbow", run(moved / "bin" / "mjgear", "check", moved / "share/mjgear/models/cobot/cobot.xml"))
        for scene in ("rod", "replay"):
            output = run(moved / "bin" / "mjgear-run", scene, "--out", self.folder / "results")
            self.assertIn("  ok ", output)
            self.assertNotIn("FAIL", output)

    def test_exports(self):
        library = next(self.prefix.glob("lib*/**/libmjgear_core.so.0"))
        self.assertIn("[libmjgear_core.so.0]", run("readelf", "-d", library))
        symbols = [line.split()[-1] for line in run("nm", "-D", "--defined-only", library).splitlines()]
        self.assertIn("mjg_solve", symbols)
        self.assertEqual([symbol for symbol in symbols if not symbol.startswith("mjg_")], [])

        # every function of a public header exists
        for header in (
            "mjgear.h",
            "mjgear_catalogue.h",
            "mjgear_text.h",
            "mjgear_report.h",
            "mjgear_backlash.h",
            "mjgear_paper.h",
        ):
            text = re.sub(r"//.*", "", next(self.prefix.rglob(header)).read_text())
            declared = set(re.findall(r"^(?!typedef|struct|#)[^\n(;{]*?\b(mjg_\w+)\(", text, re.MULTILINE))
            self.assertTrue(declared)
            self.assertEqual(declared - set(symbols), set())

    def test_part_of_another_project(self):
        source = self.folder / "outer"
        source.mkdir()
        (source / "CMakeLists.txt").write_text(f"""
            cmake_minimum_required(VERSION 3.25)
            project(outer LANGUAGES C)
            set(MJGEAR_BUILD_PLUGIN OFF CACHE BOOL "" FORCE)
            add_subdirectory("{SOURCE}" mjgear)
            add_executable(first_gear "{EXAMPLE}/first_gear.c")
            target_link_libraries(first_gear PRIVATE mjgear::core)
            """)
        build = self.folder / "outer-build"
        run("cmake", "-G", "Ninja", "-S", source, "-B", build)
        targets = run("cmake", "--build", build, "--target", "help")
        self.assertIn("libmjgear_core.so", targets)
        self.assertNotRegex(targets, "test_|solver_cost|mjgear-view")
        run("cmake", "--build", build, "--target", "first_gear")
        self.check(run(build / "first_gear"))


if __name__ == "__main__":
    unittest.main()
