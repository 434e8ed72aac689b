"""Shared code of scripts with tests of the plugin."""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Case = TypeVar("Case")
SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "") and not os.environ.get("MJGEAR_LONG")


def some(cases: Iterable[Case], every: int) -> list[Case]:
    """All cases; under sanitizers, where models compile slowly, only a fraction of cases that differ in numbers alone."""
    return list(cases)[:: every if SANITIZED else 1]


def fewer(n: int, part: int = 8) -> int:
    """n steps or random cases; under sanitizers a part of them."""
    return max(1, n // part) if SANITIZED else n


@contextlib.contextmanager
def refuses(line: str) -> Iterator[None]:
    """The block is refused in a line with these words."""
    try:
        yield
    except ValueError as error:
        assert line in str(error), (line, str(error))
    else:
        raise AssertionError(f"accepted: {line}")


def run(names: dict[str, Callable[[], None]]) -> None:
    """Call all tests of a script, and exit without the interpreter's last clean-up."""
    for name, test in list(names.items()):
        if name.startswith("test_"):
            test()
            print(name, flush=True)
    os._exit(0)
