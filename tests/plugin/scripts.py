"""Shared code of scripts with tests of the plugin."""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Case = TypeVar("Case")
LONG = bool(os.environ.get("MJGEAR_LONG"))
SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "") and not LONG  # models compile slowly


def some(cases: Iterable[Case], every: int) -> list[Case]:
    """All cases with ./check --long; else two of so many that differ in numbers alone, under sanitizers one."""
    kept = {0} if SANITIZED else {0, every // 2}
    return [case for i, case in enumerate(cases) if LONG or i % every in kept]


def fewer(n: int, part: int = 8) -> int:
    """n steps or random cases with ./check --long; else two of so many parts, under sanitizers one."""
    return n if LONG else max(1, (n if SANITIZED else 2 * n) // part)


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
