"""Old names: each calls the new one and warns; it is removed with the second minor release after (CONTRIBUTING)."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any


def renamed(old: str, new: Callable[..., Any], **fixed: Any) -> Callable[..., Any]:
    """Return a function of the old name that warns and calls the new one; fixed: arguments for the new one."""

    @functools.wraps(new)
    def call(*arguments: Any, **options: Any) -> Any:
        more = "".join(f", {key}={value!r}" for key, value in fixed.items())
        warnings.warn(
            f"{old} is called {new.__qualname__}{f' (..{more})' if more else ''}; the old name will be removed",
            DeprecationWarning,
            stacklevel=2,
        )
        return new(*arguments, **{**fixed, **options})

    call.__name__ = call.__qualname__ = old
    call.__doc__ = f"The old name of {new.__qualname__}."
    return call


def renamed_attribute(old: str, new: str) -> property:
    """Return a property of the old name that warns and has the attribute of the new one."""

    def get(owner: Any) -> Any:
        return getattr(owner, new)

    get.__qualname__ = new
    return property(renamed(old, get))
