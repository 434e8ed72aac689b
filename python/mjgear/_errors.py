"""What this package raises."""


class GearError(ValueError):
    """A gear or a model that the library refuses.

    Attributes:
        problems: the library's own lines: what is wrong, where, and what to write instead.
    """

    def __init__(self, text: str) -> None:
        self.problems: tuple[str, ...] = tuple(line for line in text.splitlines() if line)
        super().__init__("\n".join(self.problems))
