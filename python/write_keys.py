"""Writes the keys of the core's tables (mjg_keyInfo, mjg_gapKeyInfo, mjg_tableName) for type checkers and editors.

    python python/write_keys.py      python/mjgear/_keys.py, and examples/mjgear.code-snippets for MJCF in VS Code

tests/python/test_objects.py fails if a file differs.
"""

import json
import os
import pathlib
import textwrap

ROOT = pathlib.Path(__file__).parents[1]
os.environ.setdefault("MJGEAR_LIBRARIES", str(ROOT / "build/lib"))

from mjgear import _catalogue

FILE = ROOT / "python/mjgear/_keys.py"
SNIPPETS = ROOT / "examples/mjgear.code-snippets"

# keys of the plugin that are not in the core's tables
PLUGIN = {
    "joint": "geared joints",
    "tendon": "geared tendons",
    "motor": "further motors of these joints",
    "tolerance": "relative residual of a solved step",
    "maxiter": "most iterations of a step, which then stays unsolved; 5000 if not given",
}
BLOCK = """<extension>
  <plugin plugin="mjgear.transmission">
    <instance name="gears">
      <config key="joint" value="$1"/>
      <config key="eta_forward" value="$2"/>
      <config key="eta_backward" value="$3"/>
    </instance>
  </plugin>
</extension>"""

HEAD = '''"""Keys of gears, written by python/write_keys.py from the core's table: change core/catalogue/keys.c and run that."""

from __future__ import annotations

from typing import TypedDict

from mjgear._catalogue import Setting, Value
from mjgear._numbers import Number
'''


def _doc(text: str, unit: str) -> str:
    words = f"{text} ({unit})" if unit not in ("", "1") else text
    return textwrap.indent("\n".join(textwrap.wrap(f'"""{words}."""', 116)), "    ")


def text() -> str:
    """The file's content."""
    keys, gap = _catalogue.keys(), _catalogue.gap_keys()
    lines = [
        HEAD,
        "",
        "class SheetKeys(TypedDict, total=False):",
        '    """Keys of explain(), convert() and plot(): one value each, SI or a text with a unit."""',
        "",
    ]
    lines += ["    type: str", *(f"    {name}: Value" for name in (*keys, *_catalogue.tables())), ""]
    lines += [
        "",
        "class GearKeys(TypedDict, total=False):",
        '    """Keys of add() and add_robot_gears(): one value, or one for each joint."""',
        "",
    ]
    for word, what in _catalogue.WORDS.items():
        lines += [f"    {word}: str | list[str]", _doc(what, "")]
    for name, key in (*keys.items(), *gap.items()):
        if name != "armature":  # an argument of its own
            lines += [f"    {name}: Setting", _doc(key.text, key.unit)]
    lines += ["    tolerance: float", "    maxiter: int"]
    for name in _catalogue.tables():
        lines += [f"    {name}: Setting | list[list[float]]", _doc("a table: rows of x and factor", "")]
    lines += ["", "", "class Numbers:", '    """The numbers of a gear as attributes."""', ""]
    lines += [f"    {name} = Number()" for name, key in (*keys.items(), *gap.items()) if not key.of_joint]
    return "\n".join(lines) + "\n"


def snippets() -> str:
    """Completion of MJCF in VS Code: a block with a gear, and a line for each key."""
    every = {**_catalogue.keys(), **_catalogue.gap_keys()}
    meanings = {
        **PLUGIN,
        **_catalogue.WORDS,
        **{name: f"{key.text} ({key.unit})" for name, key in every.items() if not key.of_joint},
        **dict.fromkeys(_catalogue.tables(), "a table: pairs of x and factor"),
    }
    found = {
        "mjgear": {"scope": "xml", "prefix": "mjgear", "body": BLOCK.splitlines(), "description": "gears of mjgear"}
    }
    for name, meaning in meanings.items():
        found[f"mjgear {name}"] = {
            "scope": "xml",
            "prefix": name,
            "body": [f'<config key="{name}" value="$1"/>'],
            "description": meaning,
        }
    return json.dumps(found, indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
    SNIPPETS.write_text(snippets(), encoding="utf-8")
