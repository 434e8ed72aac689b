"""report.py: figures, summary and exit code from results of mjgear-run."""

import contextlib
import io
import os
import pathlib
import struct
import sys
import tempfile
import unittest
from unittest import mock

SOURCE = pathlib.Path(os.environ["MJGEAR_SOURCE_DIR"])
sys.path[:0] = [str(SOURCE / "scenes"), str(SOURCE / "tests/viewer")]
import programs

try:
    import matplotlib  # noqa: F401
    import numpy as np
except ImportError:
    print("no matplotlib")
    sys.exit(77)

RUN = sys.argv.pop(1)
import report as module


def report(folder, *options):
    """Exit code, output and errors of report.py."""
    words = mock.patch.object(sys, "argv", ["report.py", str(folder), *options])
    with words, contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as told:
        return module.main(), out.getvalue(), told.getvalue()


def size(image):
    """Width and height of a PNG file."""
    data = image.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) > 10000, image
    return struct.unpack(">II", data[16:24])


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        for arguments in (["rod", "wall"], ["--duration", "0.2", "data/slider.xml"]):
            programs.run(RUN, "--quiet", "--out", cls.folder, *arguments, cwd=SOURCE / "tests").check_returncode()

    def test_figures_and_summary(self):
        code, output, errors = report(self.folder)
        self.assertEqual((code, errors), (0, ""))
        for name in ("rod-figure9", "wall-figure11", "wall-figure12", "slider-joints"):
            width, height = size(self.folder / f"{name}.png")
            self.assertTrue(width > 300 and height > 300, name)
            self.assertIn(f"({name}.png)", output)
        self.assertEqual(output, (self.folder / "summary.md").read_text())
        self.assertIn("| wall | gamma_v=1.1,0.1 | ", output)

        # it begins with a sentence and a figure of the first scenes
        self.assertRegex(output, r"\A# Results\n\n\*\*rod\.\*\* The motor is off.*\n\n!\[rod\]\(rod-figure9\.png\)\n\n")
        self.assertIn("presses 147.50 N m", output)
        self.assertNotIn("FAIL", output)

    def test_standard_figure(self):
        """Only geared joints and all of them, friction if there is a gear, distinct curves, round-off drawn as rest."""
        time = np.linspace(0, 1, 100)
        moved, none = np.sin(9 * time), np.full(100, np.nan)

        def run(k):
            friction = {"a": moved if k else none, "b": 0 * time if k else none, "c": none}
            return {
                "time": time,
                **{f"q_{j}": moved + k for j in "abc"},
                **{f"friction_{j}": friction[j] for j in "abc"},
                "v_a": moved,
                "v_b": 1e-12 * moved,
                "v_c": moved,
            }

        ((name, figure),) = module.draw_standard(
            "made-up", {f"case {k}": run(k) for k in range(9)}, dict.fromkeys("abc", "rad")
        )
        axes = np.reshape(figure.axes, (-1, 3))
        self.assertEqual([axis.get_ylabel() for axis in axes[:, 0]], ["a [rad]", "b [rad]"])
        self.assertEqual([len(axis.lines) for axis in axes[0]], [9, 9, 8])
        looks = {(line.get_color(), line.get_linestyle()) for line in axes[0, 0].lines}
        self.assertEqual(len(looks), 9)
        low, high = axes[1, 1].get_ylim()
        self.assertGreater(high - low, 1e-4)
        self.assertEqual(axes[0, 2].get_ylabel(), "[N m]")

    def test_what_does_not_hold_is_an_error(self):
        for table in ("claims", "differences"):
            path = self.folder / "rod" / f"{table}.csv"
            text = path.read_text()
            lines = text.splitlines()
            lines[1] = lines[1].replace("1,", "0,", 1) if table == "claims" else lines[1][:-1] + "0"
            path.write_text("\n".join(lines))
            try:
                code, output, _ = report(self.folder, "--no-plots")
            finally:
                path.write_text(text)
            self.assertEqual(code, 1)
            self.assertEqual(output.count("FAIL"), 1)
            self.assertIn("1 of ", output.splitlines()[-1])

    def test_nothing_to_report(self):
        code, output, errors = report(self.folder / "rod")
        self.assertEqual((code, output), (2, ""))
        self.assertEqual(errors.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
