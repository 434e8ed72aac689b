"""Numbers as tables for people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

# units of a slide, or of a tendon that is a length, for units of a hinge
_OF_SLIDE = {
    "rad": "m",
    "N m": "N",
    "kg m2": "kg",
    "rad/s": "m/s",
    "N m/rad": "N/m",
    "N m/(rad/s)": "N s/m",
    "s/rad": "s/m",
    "1/(N m)": "1/N",
}


def unit(of_hinge: str, slide: bool) -> str:
    """The unit of a quantity at the output side."""
    return _OF_SLIDE.get(of_hinge, of_hinge) if slide else of_hinge


def number(value: Any) -> str:
    """A number in a few digits; an array by its ends; "-" for unknown."""
    if value is None:
        return "-"
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    low, high = float(np.min(value)) + 0.0, float(np.max(value)) + 0.0  # no -0
    if math.isnan(low):
        return "-"
    return f"{low:.4g}" if low == high else f"{low:.4g} .. {high:.4g}"


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows of equally many cells, in columns: numbers are aligned right; the first column and columns without numbers, left."""
    width = [max(map(len, column)) for column in zip(*rows, strict=True)]
    right = [
        i > 0 and all(not row[i] or row[i] == "-" or _is_number(row[i]) for row in rows) for i in range(len(width))
    ]
    lines = (
        "  ".join(cell.rjust(w) if r else cell.ljust(w) for cell, w, r in zip(row, width, right, strict=True))
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def headed(head: Sequence[str], units: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table with a head and a line of units, if there are any; the first column to the left, the others to the right."""
    every = [head, *([units] if any(units) else []), *rows]
    width = [max(map(len, column)) for column in zip(*every, strict=True)]
    lines = (
        "  ".join(cell.rjust(w) if i else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, width, strict=True)))
        for row in every
    )
    return "\n".join(line.rstrip() for line in lines)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return " .. " in text
    return True
