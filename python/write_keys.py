"""Writes python/mjgear/_keys.py: the keys of the core's table (mjg_keyInfo, mjg_gapKeyInfo, mjg_tableName) for type checkers and editors.

    python python/write_keys.py

tests/test_python_catalogue.py fails where the file is another.
"""

import pathlib
import textwrap

from mjgear import _catalogue

FILE = pathlib.Path(__file__).parent / "mjgear/_keys.py"

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
    lines = [HEAD, "", "class SheetKeys(TypedDict, total=False):", '    """Keys of explain(), convert() and plot(): one value each, SI or a text with a unit."""', ""]
    lines += ["    type: str", *(f"    {name}: Value" for name in (*keys, *_catalogue.tables())), ""]
    lines += ["", "class GearKeys(TypedDict, total=False):", '    """Keys of add() and add_robot_gears(): one value, or one for each joint."""', ""]
    for word, what in _catalogue.WORDS.items():
        lines += [f"    {word}: str | list[str]", _doc(what, "")]
    for name, key in (*keys.items(), *gap.items()):
        if name != "armature":  # an argument of its own
            lines += [f"    {name}: Setting", _doc(key.text, key.unit)]
    lines += ["    tolerance: float", "    iterations: int"]
    for name in _catalogue.tables():
        lines += [f"    {name}: Setting | list[list[float]]", _doc("a table: rows of x and factor", "")]
    lines += ["", "", "class Numbers:", '    """The numbers of a gear as attributes."""', ""]
    lines += [f"    {name} = Number()" for name, key in (*keys.items(), *gap.items()) if not key.of_joint]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
