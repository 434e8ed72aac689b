"""What this package raises and warns of."""

from __future__ import annotations


class GearError(ValueError):
    """A gear or a model that the library refuses.

    Attributes:
        problems: the library's own lines: what is wrong, where, and what to write instead.
    """

    def __init__(self, text: str) -> None:
        self.problems: tuple[str, ...] = tuple(line for line in text.splitlines() if line)
        super().__init__("\n".join(self.problems))


class GearWarning(UserWarning):
    """A gear that is no mistake but will not do what it seems to: one without any effect, one that attach leaves behind."""
