"""Packages are installed only by root or on request; otherwise the line to type is printed."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["MJGEAR_SOURCE_DIR"])
STUB = '#!/bin/bash\nprintf "%s %s\\n" "${0##*/}" "$*" >> "$CALLS"\n'


class Setup(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.calls = self.folder / "calls"
        for name, text in (
            ("apt-get", STUB),
            ("dpkg-query", "#!/bin/bash\n"),
            ("sudo", STUB + 'shift; [[ $1 == true ]] || "$@"\n'),
        ):
            self.stub(name, text)

    def stub(self, name, text):
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o755)

    def install(self, root, **environment):
        """Status, output and calls, for two missing packages."""
        self.calls.unlink(missing_ok=True)
        clean = {k: v for k, v in os.environ.items() if k not in ("CI", "MJGEAR_YES", "LD_PRELOAD")}
        done = subprocess.run(
            [
                "bash",
                "-c",
                f"source {SOURCE}/cmake/setup.sh; is_root() {{ {root}; }}; install_missing libone two; echo done",
                "./check",
            ],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            env={**clean, "PATH": f"{self.folder}:{clean['PATH']}", "CALLS": str(self.calls), **environment},
        )
        self.assertIn("packages to install: libone two", done.stdout)
        return done, self.calls.read_text(encoding="utf-8") if self.calls.exists() else ""

    def test_what_a_build_needs_is_installed_before_it(self):
        """The chosen MuJoCo: also in a clone without a build."""
        for script in ("demo", "check", "site"):
            lines = [
                line.strip().split("  #")[0] for line in (SOURCE / script).read_text(encoding="utf-8").splitlines()
            ]
            first = next(
                i
                for i, line in enumerate(lines)
                if line.startswith(("build_preset release", 'stage "clang, configured'))
            )
            self.assertTrue(any("install_with_python" in line.split() for line in lines[:first]), script)

    def test_pages_name_what_demo_builds(self):
        """The target "programs" makes what a page names in build/bin and build/lib, and what the Python package and pytest load."""
        build = SOURCE / "build" / "release"
        if not (build / "build.ninja").exists():
            self.skipTest("the preset release is not configured")
        commands = subprocess.run(
            ["ninja", "-C", build, "-t", "commands", "programs"], capture_output=True, encoding="utf-8", check=True
        ).stdout
        made = set(re.findall(r" -o \S*/build/((?:bin|lib)/\S+)", commands))
        pages = [
            SOURCE / "README.md",
            SOURCE / "CONTRIBUTING.md",
            *(SOURCE / "doc").rglob("*.md"),
            *(SOURCE / "benchmarks").rglob("*.md"),
        ]
        named = {
            name
            for page in [*pages, SOURCE / "tests/conftest.py"]
            for name in re.findall(r"build/(bin/[\w-]+|lib/lib[\w.-]+\.so)", page.read_text(encoding="utf-8"))
        }
        tests = [path for folder in ("python", "plugin") for path in (SOURCE / "tests" / folder).rglob("*.py")]
        named |= {
            f"lib/{name}"
            for path in [SOURCE / "python/mjgear/_library.py", *tests]
            for name in re.findall(r'"(lib(?:mjgear|made)\w*\.so)', path.read_text(encoding="utf-8"))
        }
        self.assertGreater(len(named), 5)
        self.assertEqual({name for name in named if not any(path.startswith(name) for path in made)}, set())
        for script in ("demo", "site"):
            self.assertIn("\nbuild_preset release programs\n", (SOURCE / script).read_text(encoding="utf-8"), script)

    def test_not_unasked(self):
        done, calls = self.install("false")
        self.assertEqual((done.returncode, calls), (1, ""))
        self.assertIn(
            "\n  sudo apt-get update && sudo apt-get install --no-install-recommends libone two\n", done.stderr
        )
        self.assertIn("./check --yes", done.stderr)
        self.assertEqual(self.install("false", CI="false")[0].returncode, 1)

    def test_asked(self):
        for environment in ({"MJGEAR_YES": "1"}, {"CI": "true"}):
            done, calls = self.install("false", **environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("sudo --non-interactive apt-get", calls)
            self.assertTrue(calls.rstrip().endswith("install --no-install-recommends libone two"), calls)

    def test_root(self):
        done, calls = self.install("true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("sudo", calls)
        self.assertIn("install --no-install-recommends libone two", calls)

    def test_password(self):
        self.stub("sudo", "#!/bin/bash\nexit 1\n")
        done, calls = self.install("false", MJGEAR_YES="1")
        self.assertEqual((done.returncode, calls), (1, ""))
        self.assertIn("sudo asks for a password", done.stderr)

    def test_options(self):
        for script in "check", "demo", "wheel":
            done = subprocess.run([SOURCE / script, "--yes", "--help"], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("--yes", done.stdout)


if __name__ == "__main__":
    unittest.main()
