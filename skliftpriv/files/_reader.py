"""Read JSON that may be damaged or hostile: every value is checked where it is read."""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from .._limits import MOST_SAVED_VALUES
from ..exceptions import SavedFileError

__all__ = ["MOST_ITEMS", "Node", "distinct", "n_values", "parsed", "plain_number"]

#: Items of a list; a file of the largest size cannot hold more.
MOST_ITEMS = 1 << 25
_MOST_CHARACTERS = 1 << 20
_SHOWN = 40
_BRIEF = reprlib.Repr()
_BRIEF.maxlevel = 3
_BRIEF.maxlist = _BRIEF.maxdict = _BRIEF.maxstring = _BRIEF.maxlong = _SHOWN + 1
#: Numbers that JSON has no digits for.
_UNUSUAL = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def n_values(text: bytes) -> int:
    """Bound the number of values of a JSON document, without parsing it."""
    return sum(map(text.count, (b",", b"[", b"{")))


def parsed(text: bytes) -> Node:
    """Parse JSON strictly: no duplicate keys, no NaN, bounded depth, integers and memory."""
    if n_values(text) > MOST_SAVED_VALUES:
        raise SavedFileError(f"it has more than {MOST_SAVED_VALUES:,} values, as no such file has")
    try:
        value = json.loads(
            text.decode("utf-8"), object_pairs_hook=_distinct, parse_constant=_no_constant
        )
    except RecursionError:
        raise SavedFileError("it is nested too deeply") from None
    except ValueError as error:  # also of the encoding, and of integers with too many digits
        raise SavedFileError(f"it is not JSON ({str(error).partition(':')[0]})") from None
    return Node(value, "")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice in an object")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def plain_number(value: float) -> int | float | str:
    """Write a number as JSON: infinities and NaN as text."""
    return value if isinstance(value, int) or math.isfinite(value) else str(float(value))


class Node:
    """A value of a JSON document, with the place where it stands.

    Parameters
    ----------
    value : object
        What ``json`` returned.
    place : str
        Where it stands, for messages.
    """

    __slots__ = ("_place", "value")

    def __init__(self, value: Any, place: str) -> None:
        self.value = value
        self._place = place

    def wrong(self, expected: str) -> SavedFileError:
        """Return the error for a value that is not what it should be."""
        # Only as much is written out as is shown: the value may be huge, or nested deeply.
        shown = _BRIEF.repr(self.value).encode("ascii", "backslashreplace").decode()
        shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
        return SavedFileError(f"{self._place or 'the document'} must be {expected}, not {shown}")

    def is_null(self) -> bool:
        """Tell whether the value is null."""
        return self.value is None

    def fields(self, *names: str) -> list[Node]:
        """Return the values of an object that has exactly these names."""
        if type(self.value) is not dict or set(self.value) != set(names):
            raise self.wrong(f"an object with the names {', '.join(names)}")
        prefix = f"{self._place}." if self._place else ""
        return [Node(self.value[name], prefix + name) for name in names]

    def members(self, most: int = 10_000) -> dict[str, Node]:
        """Return the values of an object with any names."""
        if type(self.value) is not dict or len(self.value) > most:
            raise self.wrong(f"an object with at most {most:,} names")
        for name in self.value:
            Node(name, f"a name in {self._place}").text()
        return {name: Node(value, f"{self._place}.{name}") for name, value in self.value.items()}

    def items(self, length: int | None = None, *, most: int = MOST_ITEMS) -> list[Node]:
        """Return the items of a list."""
        return [
            Node(item, f"{self._place}[{i}]") for i, item in enumerate(self._list(length, most))
        ]

    def _list(self, length: int | None, most: int = MOST_ITEMS) -> list[Any]:
        if type(self.value) is not list:
            raise self.wrong("a list")
        if length is not None and len(self.value) != length:
            raise self.wrong(f"a list of {length:,} items")
        if len(self.value) > most:
            raise self.wrong(f"a list of at most {most:,} items")
        return self.value

    def text(self, most: int = _MOST_CHARACTERS) -> str:
        """Return text that can be encoded."""
        if type(self.value) is not str or len(self.value) > most:
            raise self.wrong(f"text of at most {most:,} characters")
        if not self.value.isascii():
            try:
                self.value.encode()
            except UnicodeEncodeError:
                raise self.wrong("text without lone surrogates") from None
        return self.value

    def choice(self, options: Iterable[str]) -> str:
        """Return one of some texts."""
        listed = sorted(options)
        if type(self.value) is not str or self.value not in listed:
            raise self.wrong(f"one of {', '.join(map(repr, listed))}")
        return self.value

    def flag(self) -> bool:
        """Return true or false."""
        if type(self.value) is not bool:
            raise self.wrong("true or false")
        return self.value

    def whole(self, low: int, high: int) -> int:
        """Return an integer within bounds."""
        if type(self.value) is not int or not low <= self.value <= high:
            raise self.wrong(f"an integer from {low:,} to {high:,}")
        return self.value

    def number(
        self, low: float = -math.inf, high: float = math.inf, *, finite: bool = True
    ) -> float:
        """Return a number within bounds; with ``finite=False`` also infinities and NaN."""
        kinds = (int, float) if finite else (int, float, str)
        found = math.nan
        if type(self.value) in kinds:
            try:
                found = _UNUSUAL[self.value] if type(self.value) is str else float(self.value)
            except (KeyError, OverflowError):
                raise self.wrong("a number") from None
        if type(self.value) not in kinds or (finite and not math.isfinite(found)):
            raise self.wrong("a number")
        if found < low or found > high:
            raise self.wrong(f"a number from {low:g} to {high:g}")
        return found

    def integers(self, low: int, high: int, length: int | None = None) -> NDArray[np.int64]:
        """Return a list of integers within bounds as an array."""
        found = self._list(length)
        if found and not (
            set(map(type, found)) == {int} and low <= min(found) and max(found) <= high
        ):
            raise self.wrong(f"a list of integers from {low:,} to {high:,}")
        return np.array(found, dtype=np.int64)

    def numbers(self, length: int | None = None, *, low: float = -math.inf) -> NDArray[np.float64]:
        """Return a list of finite numbers as an array."""
        found = self._list(length)
        if set(map(type, found)) <= {int, float}:
            try:
                array = np.array(found, dtype=np.float64)
            except OverflowError:
                array = np.array([np.nan])
            if np.isfinite(array).all() and (array >= low).all():
                return array
        raise self.wrong("a list of finite numbers" + (f" >= {low:g}" if low > -math.inf else ""))

    def flags(self, length: int | None = None) -> NDArray[np.bool_]:
        """Return a list of true and false as an array."""
        found = self._list(length)
        if not set(map(type, found)) <= {bool}:
            raise self.wrong("a list of true and false")
        return np.array(found, dtype=bool)

    def texts(self, length: int | None = None, *, most: int = MOST_ITEMS) -> list[str]:
        """Return a list of texts."""
        return [item.text() for item in self.items(length, most=most)]


def distinct(labels: Sequence[Any], node: Node) -> None:
    """Refuse labels that occur twice."""
    if len(set(labels)) < len(labels):
        raise node.wrong("a list of different labels")
