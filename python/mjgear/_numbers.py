"""Attributes of a gear: its numbers, with units and texts of the core, and its results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mjgear import _catalogue, _changes, _words

if TYPE_CHECKING:
    from mjgear._gears import Gear


class Number:
    """A number of a gear, which may be read and written."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name
        self._key = name.encode()

    @property
    def unit(self) -> str:
        """Unit for a hinge, from mjg_keyInfo."""
        return _catalogue.key_of(self._name).unit

    @property
    def text(self) -> str:
        """Meaning in a line, from mjg_keyInfo."""
        return _catalogue.key_of(self._name).text

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return f"{self.text} ({self.unit})"

    def __get__(self, gear: Gear | None, owner: type) -> Any:
        if gear is None:
            return self
        gears = gear._gears
        if gears._batch is not None:
            return gear[self._name]
        return _changes.get_number(gears._pointers, gear.joint, self._key)

    def __set__(self, gear: Gear, value: ArrayLike) -> None:
        gear.set(**{self._name: value})


class Group(Mapping[str, Any]):
    """Attributes of a gear of one kind, which also are a mapping from names to values."""

    _gear: Gear
    _names: tuple[str, ...]

    def __init__(self, gear: Gear, names: tuple[str, ...]) -> None:
        object.__setattr__(self, "_gear", gear)
        object.__setattr__(self, "_names", names)

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        return getattr(self._gear, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._gear, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._gear, name, value)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._names]

    def __repr__(self) -> str:
        return repr(dict(self))


class Result:
    """A result of the last step; word: the enumeration of which it is a member."""

    def __init__(self, unit: str, text: str, word: type[_words.Word] | None = None) -> None:
        self.unit, self.text, self.word = unit, text, word
        self.__doc__ = (
            f"{text} ({unit})" if word is None else f"{text}: a ``mjgear.{word.__name__}``, over a Batch its numbers"
        )

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name
        self._number = _words.RESULTS.index(name)

    def __get__(self, gear: Gear | None, owner: type) -> Any:
        if gear is None:
            return self
        gears = gear._gears
        if gears._batch is not None:
            results = gear.results[:, self._number]
            return results if self.word is None else results.astype(np.int64)
        joint = gear.joint
        where = gears._sensors.get(joint)  # without an array of all results: half the time
        if where is not None:
            value = float(gears._data.sensordata[where.start + self._number])
        else:
            value = gears._read(joint)[self._number]
        return value if self.word is None else self.word(int(value))

    def __set__(self, gear: Gear, value: Any) -> None:
        raise AttributeError(
            f"{self._name} is what the last step resulted in and cannot be set; set a number of the gear, such as coulomb"
        )
