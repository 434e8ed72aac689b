"""Errors and warnings of this package."""

from __future__ import annotations

import sys
import warnings


class Error(Exception):
    """Any error of this package: GearError, LogError and UnsupportedError are its kinds."""


class GearError(Error, ValueError):
    """A gear or a model that the library refuses.

    Attributes:
        problems: messages of the library: mistake, place and remedy.
    """

    def __init__(self, text: str) -> None:
        self.problems: tuple[str, ...] = tuple(line for line in text.splitlines() if line)
        super().__init__("\n".join(self.problems))


class GearTypeError(GearError, TypeError):
    """An argument of another type than the function takes: a compiled model in place of an MjSpec, for instance."""


class GearKeyError(Error, KeyError):
    """A name that does not exist, with the most similar one."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class LogError(Error, ValueError):
    """A log or an option that identification cannot use; the text names file, column and line where they are known."""

    def __init__(self, text: str) -> None:
        # names in a damaged file may be as long as the file
        super().__init__(text if len(text) <= 1000 else f"{text[:997]}...")


class UnsupportedError(Error, NotImplementedError):
    """The model needs a feature that this part of the package lacks, such as a gap in MuJoCo Warp."""


class GearWarning(UserWarning):
    """A valid gear that does not do what it seems to: it has no effect, or attach leaves it behind."""


def warn(text: str) -> None:
    """Raise a GearWarning at the line that called this package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "mjgear":
        level, frame = level + 1, frame.f_back
    warnings.warn(text, GearWarning, stacklevel=level)
