"""The ctypes structures of the Python package have the layout that the C compiler gives them."""

import ctypes
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import mujoco

from mjgear import _structs

SOURCE = pathlib.Path(os.environ["MJGEAR_SOURCE_DIR"])

INCLUDE = [
    f"-I{folder}" for folder in (SOURCE / "core", SOURCE / "plugin", pathlib.Path(mujoco.__file__).parent / "include")
]

STRUCTS = {
    "mjgKeyInfo": _structs.KeyInfo,
    "mjgSpur": _structs.Spur,
    "mjgTransmission": _structs.Transmission,
    "mjgFacts": _structs.Facts,
    "mjgDescription": _structs.Description,
    "mjgReport": _structs.Report,
    "mjgPreset": _structs.Preset,
    "mjgStateAddress": _structs.StateAddress,
}


def in_python():
    lines = []
    for name, struct in STRUCTS.items():
        lines += [f"{name}.{field[0]} {getattr(struct, field[0]).offset}" for field in struct._fields_]
        lines.append(f"{name} {ctypes.sizeof(struct)}")
    return lines


def in_c():
    lines = []
    for name, struct in STRUCTS.items():
        lines += [f'printf("{name}.{field[0]} %zu\\n", offsetof({name}, {field[0]}));' for field in struct._fields_]
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
    return lines


class Layout(unittest.TestCase):
    def test_layout(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "layout.c"
            body = "\n".join(in_c())
            source.write_text(
                f'#include <stdio.h>\n#include "mjgear_report.h"\n#include "mjgear_plugin.h"\nint main(void) {{\n{body}\nreturn 0;\n}}\n'
            )
            program = pathlib.Path(folder) / "layout"
            environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
            subprocess.run(["cc", *INCLUDE, source, "-o", program], check=True, env=environment)
            done = subprocess.run([program], check=True, capture_output=True, text=True, env=environment)
        self.assertEqual(done.stdout.splitlines(), in_python())


class Members(unittest.TestCase):
    def test_warp(self):
        """mjgear.warp takes every number of a gear into account, or refuses it (reading.read): a new number must be decided."""
        path = SOURCE / "python" / "mjgear" / "warp" / "reading.py"
        text = path.read_text()
        engine = {"viscous", "armature", "ratio", "spur"}  # attributes of the joint, and the text of mesh's refusal
        tables = [_structs.core.mjg_tableName(kind).decode() for kind in range(_structs.NTABLE)]
        for name in [name for name, *_ in _structs.Transmission._fields_ if name != "table"] + tables:
            if name not in engine:
                self.assertIn(f'"{name}"', text, f"{path.name} says nothing of {name}")


if __name__ == "__main__":
    if not shutil.which("cc"):
        sys.exit(77)
    unittest.main()
