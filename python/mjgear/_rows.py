"""Numbers of the gears of a Batch, one for each simulation: arrays that write through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mjgear._catalogue import entries
from mjgear._errors import GearError

if TYPE_CHECKING:
    from mjgear._gears import Gear


class Rows(np.ndarray):
    """One number of a gear in all simulations, (nsim,), when it was read.

    ``gears["elbow"].coulomb[done] = 2`` changes these simulations, from their next step on, and so does a part of the array.
    Other writes into it (``fill``, ``sort``, ``np.copyto``) are refused, because they would not reach the simulations.
    Copies and results of arithmetic are ordinary arrays.
    """

    _gear: Gear | None
    _key: str
    _sims: NDArray[np.intp]

    @staticmethod
    def of(gear: Gear, key: str, values: NDArray[np.float64], sims: NDArray[np.intp] | None = None) -> Rows:
        rows = values.view(Rows)
        rows._gear, rows._key = gear, key
        rows._sims = np.arange(len(values)) if sims is None else sims
        rows.flags.writeable = False
        return rows

    def __array_finalize__(self, source: Any) -> None:
        self._gear, self._key = None, getattr(source, "_key", "")

    def __getitem__(self, index: Any) -> Any:
        part = _plain(self)[index]
        if self._gear is None or not isinstance(part, np.ndarray):
            return part
        return Rows.of(self._gear, self._key, part, self._sims[index])

    def __setitem__(self, index: Any, value: Any) -> None:
        """Change simulations.

        Raises:
            GearError: the library's lines; nothing has changed.
        """
        if self._gear is None:
            raise GearError(
                f"this array is no longer that of the simulations; write gear.{self._key}[..] = .., or gear.set({self._key}=.., sims=..)"
            )
        sims = np.atleast_1d(self._sims[index])
        self._gear.set(sims=sims.ravel(), **{self._key: _spread(value, sims.shape)})
        now = np.asarray(self._gear[self._key])
        self.flags.writeable = True
        np.copyto(_plain(self), now[self._sims])
        self.flags.writeable = False

    def __array_ufunc__(self, ufunc: Any, method: Any, *inputs: Any, **options: Any) -> Any:
        function, out = getattr(ufunc, method), options.pop("out", None)
        if out is not None and any(isinstance(one, Rows) for one in out):
            result = function(*map(_plain, inputs), **options)
            for one in out:
                one[...] = result
            return out[0]
        if out is not None:
            options["out"] = out
        return function(*map(_plain, inputs), **options)

    def copy(self, order: Any = "C") -> NDArray[np.float64]:  # type: ignore[override]
        return np.array(self, order=order)

    def __copy__(self) -> NDArray[np.float64]:  # type: ignore[override]
        return self.copy()

    def __deepcopy__(self, memo: Any) -> NDArray[np.float64]:  # type: ignore[override]
        return self.copy()

    def __reduce__(self) -> Any:
        return self.copy().__reduce__()

    def astype(self, *arguments: Any, **options: Any) -> Any:
        return _plain(self).astype(*arguments, **options)


def _plain(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, Rows) else value


def _spread(value: ArrayLike, shape: tuple[int, ...]) -> Any:
    """One value, or one for each of the simulations of an index."""
    series = entries(value)
    return value if series.size == 1 else np.broadcast_to(series, shape).ravel()
