"""Labels as JSON: text, true, false, null and integers as they are, other types with a tag."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from .._arrays import Label
from ..exceptions import SavedFileError
from ..labels import NumberedLabel
from ._reader import Node

__all__ = ["read_label", "read_labels", "read_zone", "write_label", "write_labels", "write_zone"]

#: Integers up to this are the same in readers that have doubles only.
_EXACT = 2**53
_MOST_DIGITS = 4_000
_MOST_PARTS = 1_000
_SHOWN = 60
#: A tuple of intervals of dates, and no more.
_DEEPEST = 3
_OFFSET = re.compile(r"([+-])(\d\d):(\d\d)(?::(\d\d))?")
_UNITS = ("s", "ms", "us", "ns")
#: The years 1 to 9999, in seconds from 1970.
_FIRST_SECOND, _LAST_SECOND = -62_135_596_800, 253_402_300_799
_CLOSED = ("both", "left", "neither", "right")


def write_labels(labels: Sequence[Label]) -> list[Any]:
    """Write labels as JSON."""
    return [write_label(label) for label in labels]


def write_label(label: Label) -> Any:
    """Write one label as JSON, and make sure that it can be read back.

    Raises
    ------
    SavedFileError
        If a label of this type cannot be written.
    """
    kind = type(label)
    if label is None or kind is bool or (kind is int and abs(label) <= _EXACT):  # type: ignore[arg-type]
        return label
    if kind is str:
        return label
    try:
        written = _WRITERS[kind](label)
        again = read_label(Node(written, "it"))
    except (KeyError, ValueError, TypeError, AttributeError, OverflowError) as error:
        raise _unwritable(label) from error
    if type(again) is not kind or again != label or str(again) != str(label):
        raise _unwritable(label)
    return written


def _unwritable(label: Label) -> SavedFileError:
    kind = type(label)
    try:
        shown = ascii(label)
    except ValueError:  # an integer with thousands of digits
        shown = "with so many digits"
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
    return SavedFileError(
        f"The label {shown} of type {kind.__module__}.{kind.__qualname__} cannot be written to a "
        "file: convert the column to text, numbers or dates before fit."
    )


def read_labels(node: Node, length: int | None = None) -> list[Label]:
    """Read a list of labels, which need not be distinct."""
    return [read_label(item) for item in node.items(length)]


def read_label(node: Node, depth: int = 0) -> Label:
    """Read one label."""
    value = node.value
    if value is None or type(value) is bool:
        return value
    if type(value) is str:
        return node.text()
    if type(value) is int:
        return node.whole(-_EXACT, _EXACT)
    if type(value) is dict and len(value) == 1 and depth < _DEEPEST:
        [(tag, inner)] = node.members(1).items()
        if tag in _READERS:
            try:
                return _READERS[tag](inner, depth + 1)
            except SavedFileError:
                raise
            except (ValueError, ArithmeticError, TypeError, LookupError) as error:
                raise node.wrong("a label") from error
    raise node.wrong("a label")


def write_zone(zone: tzinfo | None) -> str | None:
    """Write a time zone: its name, or its distance from UTC if that is fixed."""
    if zone is None:
        return None
    # Zones of the module zoneinfo, and of pytz, which pandas 2 uses.
    name = getattr(zone, "key", None) or getattr(zone, "zone", None)
    if isinstance(name, str):
        return name
    fixed = isinstance(zone, timezone) or type(zone).__name__ == "_FixedOffset"
    distance = zone.utcoffset(None) if fixed else None
    if distance is None:
        raise SavedFileError(
            f"The time zone {zone} cannot be written to a file: convert the dates to a zone of "
            "zoneinfo before fit."
        )
    minutes, seconds = divmod(round(abs(distance).total_seconds()), 60)
    sign = "-" if distance < timedelta(0) else "+"
    text = f"{sign}{minutes // 60:02d}:{minutes % 60:02d}"
    return f"{text}:{seconds:02d}" if seconds else text


def read_zone(node: Node) -> tzinfo | None:
    """Read a time zone, None for none."""
    if node.is_null():
        return None
    text = node.text(100)
    found = _OFFSET.fullmatch(text)
    if found is None:
        try:
            return ZoneInfo(text)
        except (ValueError, OSError, LookupError):
            raise node.wrong("a time zone of zoneinfo on this computer") from None
    sign, *parts = found.groups()
    hours, minutes, seconds = (int(part or 0) for part in parts)
    distance = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    return timezone(-distance if sign == "-" else distance)


def _write_float(value: float) -> Any:
    return {"float": repr(value)}


def _read_float(node: Node, depth: int) -> float:
    text = node.text(_MOST_DIGITS)
    value = float(text)
    if repr(value) != text or math.isnan(value):
        raise node.wrong("a float as Python writes it")
    return value


def _read_int(node: Node, depth: int) -> int:
    text = node.text(_MOST_DIGITS)
    if re.fullmatch(r"-?[1-9][0-9]*", text, re.ASCII) is None:
        raise node.wrong("an integer in decimal digits")
    return int(text)


def _write_int(value: int) -> Any:
    return {"int": str(value)}


def _read_decimal(node: Node, depth: int) -> Decimal:
    text = node.text(_MOST_DIGITS)
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise node.wrong("a decimal number") from None
    if value.is_nan() or str(value) != text:
        raise node.wrong("a decimal number")
    return value


def _write_datetime(value: datetime) -> Any:
    zone = write_zone(value.tzinfo)
    moment = value if zone is None else value.astimezone(UTC)
    return {"datetime": [moment.replace(tzinfo=None).isoformat(), zone]}


def _read_datetime(node: Node, depth: int) -> datetime:
    moment, zone_node = node.items(2)
    value = datetime.fromisoformat(moment.text(100))
    if value.tzinfo is not None:
        raise moment.wrong("a time without a zone")
    zone = read_zone(zone_node)
    return value if zone is None else value.replace(tzinfo=UTC).astimezone(zone)


def _write_64(value: pd.Timestamp | pd.Timedelta) -> list[Any]:
    plain = value.asm8  # in UTC
    return [int(plain.astype(np.int64)), np.datetime_data(plain.dtype)[0]]


def _write_timestamp(value: pd.Timestamp) -> Any:
    return {"timestamp": [*_write_64(value), write_zone(value.tz)]}


def _read_timestamp(node: Node, depth: int) -> pd.Timestamp:
    moment, unit, zone_node = node.items(3)
    plain = np.array(moment.whole(-(2**63) + 1, 2**63 - 1)).astype(f"M8[{unit.choice(_UNITS)}]")
    if not _FIRST_SECOND <= plain.astype("M8[s]").astype(np.int64) <= _LAST_SECOND:
        raise moment.wrong("a time in the years 1 to 9999")
    value = pd.Timestamp(plain[()])
    zone = read_zone(zone_node)
    if zone is None:
        return value
    # By name pandas makes the kind of zone that it uses itself.
    return value.tz_localize("UTC").tz_convert(getattr(zone, "key", zone))


def _read_timedelta64(node: Node, depth: int) -> pd.Timedelta:
    length, unit = node.items(2)
    plain = np.array(length.whole(-(2**63) + 1, 2**63 - 1)).astype(f"m8[{unit.choice(_UNITS)}]")
    return pd.Timedelta(plain[()])


def _write_timedelta(value: timedelta) -> Any:
    return {"timedelta": [value.days, value.seconds, value.microseconds]}


def _read_timedelta(node: Node, depth: int) -> timedelta:
    days, seconds, micros = node.items(3)
    return timedelta(
        days.whole(-(10**9) + 1, 10**9 - 1), seconds.whole(0, 86_399), micros.whole(0, 999_999)
    )


def _write_interval(value: pd.Interval) -> Any:
    return {"interval": [write_label(value.left), write_label(value.right), value.closed]}


def _read_interval(node: Node, depth: int) -> pd.Interval:
    left, right, closed = node.items(3)
    return pd.Interval(read_label(left, depth), read_label(right, depth), closed.choice(_CLOSED))


def _read_period(node: Node, depth: int) -> pd.Period:
    ordinal, frequency = node.items(2)
    text = frequency.text(20)
    if re.fullmatch(r"[0-9]{0,6}[A-Za-z]{1,4}(?:-[A-Z]{3})?", text, re.ASCII) is None:
        raise frequency.wrong("a frequency of pandas")
    return pd.Period(ordinal=ordinal.whole(-(2**62), 2**62), freq=text)


def _iso(kind: Any) -> Callable[[Node, int], Any]:
    def read(node: Node, depth: int) -> Any:
        value = kind.fromisoformat(node.text(100))
        if value.isoformat() != node.value:
            raise node.wrong(f"a {kind.__name__} as Python writes it")
        return value

    return read


_WRITERS: dict[type, Callable[[Any], Any]] = {
    int: _write_int,
    float: _write_float,
    Decimal: lambda value: {"decimal": str(value)},
    date: lambda value: {"date": value.isoformat()},
    time: lambda value: {"time": value.isoformat()},
    datetime: _write_datetime,
    timedelta: _write_timedelta,
    pd.Timestamp: _write_timestamp,
    pd.Timedelta: lambda value: {"timedelta64": _write_64(value)},
    pd.Interval: _write_interval,
    pd.Period: lambda value: {"period": [value.ordinal, value.freqstr]},
    bytes: lambda value: {"bytes": value.hex()},
    NumberedLabel: lambda value: {"numbered": str(value)},
    UUID: lambda value: {"uuid": str(value)},
    tuple: lambda value: {"tuple": write_labels(value)},
}

_READERS: dict[str, Callable[[Node, int], Any]] = {
    "int": _read_int,
    "float": _read_float,
    "decimal": _read_decimal,
    "date": _iso(date),
    "time": _iso(time),
    "datetime": _read_datetime,
    "timedelta": _read_timedelta,
    "timestamp": _read_timestamp,
    "timedelta64": _read_timedelta64,
    "interval": _read_interval,
    "period": _read_period,
    "bytes": lambda node, depth: bytes.fromhex(node.text()),
    "numbered": lambda node, depth: NumberedLabel(node.text()),
    "uuid": lambda node, depth: UUID(node.text(40)),
    "tuple": lambda node, depth: tuple(
        read_label(item, depth) for item in node.items(most=_MOST_PARTS)
    ),
}
