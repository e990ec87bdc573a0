"""What symbols are called: as text, in sets and ranges, and distinct from each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from hashlib import blake2b
from itertools import compress
from math import inf
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import Label

__all__ = [
    "NumberedLabel",
    "as_parts",
    "distinct",
    "distinct_texts",
    "group_label",
    "identity_text",
    "range_label",
    "set_label",
    "set_labels",
    "short_text",
    "symbol_text",
]

# Longest name of a set of symbols, and of a symbol within it, in characters.
_WIDEST_SET, _WIDEST_MEMBER = 200, 60
# Decimals with more digits than this before or after the point are written in a form of their own:
# as fractions they would take as much memory as they have digits.
_MOST_DIGITS = 4_000


def group_label(group: Sequence[Label]) -> Label:
    """Name a merged symbol: its only member, or ``{a, b, c}``."""
    return group[0] if len(group) == 1 else set_label(group)


def range_label(group: Sequence[Label]) -> Label:
    """Name neighbours, listed in their order, by their ends: ``37 to 45``.

    A missing value is not between others: ``45 or missing``. Text that is neither a number nor a
    date has braces, ``{low to medium}``, which tell the range from a value.
    """
    if len(group) == 1:
        return group[0]
    known = [label for label in group if label is not None]
    ends = known[:1] if len(known) == 1 else [known[0], known[-1]]
    text = " to ".join(map(short_text, ends))
    if len(known) < len(group):
        text += " or missing"
    return text if all(map(_is_quantity, ends)) else "{" + text + "}"


def _is_quantity(label: Label) -> bool:
    """Tell whether a label is a number or a date, perhaps written as text."""
    if not isinstance(label, str):
        return True
    readers: tuple[Callable[[str], object], ...] = (float, datetime.fromisoformat)
    for read in readers:
        try:
            read(label)
        except ValueError:
            continue
        return True
    return False


class NumberedLabel(str):
    """A text that begins with a number of its own, such as ``#07 age < 40, job = cook``.

    The number tells it from all others, so that no digest is needed where it is shortened.

    .. versionadded:: 0.2
    """

    @property
    def number(self) -> str:
        """The number alone."""
        return self.partition(" ")[0]


def set_label(members: Iterable[Label], *, digest: bool = False) -> str:
    """Write a set of symbols, of any size, as ``{a, b, c}``, in at most 200 characters.

    A longer name looks like ``{a, b, c, ... +2,997 #1f3a9c42}``: the first members, the number of
    others, and a digest of all of them. It does not depend on the order of the members, so the
    same set has the same name in every fit. With ``digest`` every name has one.
    Of numbered labels the last ones are written as numbers, if that is short enough.
    """
    labels = list(members)
    whole = "{" + ", ".join(symbol_text(label) for label in labels) + "}"
    if len(whole) <= _WIDEST_SET and not digest:
        return whole
    numbered = None if digest else _numbered_set(labels)
    if numbered is not None:
        return numbered
    labels.sort(key=str if set(map(type, labels)) == {str} else _stable_key)
    tail = f"#{_digest(labels)}"
    shown: list[str] = []
    room = _WIDEST_SET - len(f"{{, ... +{len(labels):,} {tail}}}")
    for label in labels:
        text = short_text(label)
        room -= len(text) + 2
        if room < 0:
            break
        shown.append(text)
    rest = len(labels) - len(shown)
    more = [f"... +{rest:,}"] if rest else []
    return "{" + f"{', '.join(shown + more)} {tail}".strip() + "}"


def _numbered_set(labels: Sequence[Label]) -> str | None:
    """Write a set of numbered labels, the last ones as numbers; None if that is too long."""
    numbered = [label for label in labels if isinstance(label, NumberedLabel)]
    if len(numbered) < len(labels):
        return None
    texts = [short_text(label) for label in numbered]
    for place in range(len(texts), -1, -1):
        texts[place:] = [label.number for label in numbered[place:]]
        whole = "{" + ", ".join(texts) + "}"
        if len(whole) <= _WIDEST_SET:
            return whole
    return None


def set_labels(symbols: Sequence[Label], rows: NDArray[np.bool_]) -> list[str]:
    """Name sets of symbols, given as rows of bits; different sets have different names.

    If the texts of the symbols make names ambiguous, every name has a digest. So a name does not
    depend on which other sets are named with it.
    """
    texts = [symbol_text(symbol) for symbol in symbols]
    doubtful = len(set(texts)) < len(texts) or any(
        ", " in text or text.startswith("...") or not text for text in texts
    )
    return [set_label(compress(symbols, row), digest=doubtful) for row in rows]


def short_text(label: Label) -> str:
    """Write one symbol in at most 60 characters; a digest replaces what is cut off.

    A numbered label needs no digest.
    """
    text = symbol_text(label)
    if len(text) <= _WIDEST_MEMBER:
        return text
    tail = "..." if isinstance(label, NumberedLabel) else f"...#{_digest([label])}"
    return text[: _WIDEST_MEMBER - len(tail)] + tail


def _digest(labels: Iterable[Label]) -> str:
    text = "\n".join(map(identity_text, labels))
    return blake2b(text.encode(errors="surrogatepass"), digest_size=4).hexdigest()


def _stable_key(label: Label) -> tuple[int, Any, str]:
    """Sort key that ignores the type of numbers: numbers come first, by size."""
    if isinstance(label, Real | Decimal):
        return 0, label, ""
    return 1, 0, identity_text(label)


def identity_text(label: Label) -> str:
    """Write different labels differently, and equal ones alike, whatever their types are.

    Numbers that are equal, up to those with thousands of digits, and spans of time that are equal,
    have one text, so that it does not depend on the library that they come from.
    """
    if isinstance(label, str) or label is None:
        return repr(label)
    if isinstance(label, tuple):
        return "(" + ", ".join(map(identity_text, label)) + ")"
    if isinstance(label, timedelta | np.timedelta64):  # which NumPy takes for an integer
        return f"timedelta({_nanoseconds(label)})"
    if isinstance(label, Real | Decimal):
        return _number_text(label)
    if isinstance(label, datetime) and label.tzinfo is not None:
        label = label.astimezone(UTC)  # one moment in several zones
    # pandas has subclasses of Python's own types.
    kind = datetime if isinstance(label, datetime) else type(label)
    return f"{kind.__name__}({str(label)!r})"


def _number_text(number: Any) -> str:
    """Write the exact value of a number: as an integer or a float if it is one, or a fraction."""
    if isinstance(number, Integral):
        return str(int(number))
    if isinstance(number, Decimal) and (text := _long_decimal(number)) is not None:
        return text
    try:
        exact = Fraction(*number.as_integer_ratio())
    except (AttributeError, ValueError, OverflowError):  # of another library, or not finite
        kind: Any = float if isinstance(number, Decimal | np.floating) else type(number)
        return f"{kind.__name__}({str(kind(number))!r})"
    if exact.denominator == 1:
        return str(exact.numerator)
    try:
        rounded = float(exact)
    except OverflowError:
        rounded = inf
    return f"float({str(rounded)!r})" if rounded == exact else f"Fraction({str(exact)!r})"


def _long_decimal(number: Decimal) -> str | None:
    """Write a number with so many digits that it is no other number; None for a shorter one."""
    sign, digits, exponent = number.as_tuple()
    if not number or not isinstance(exponent, int):
        return None
    written = "".join(map(str, digits)).rstrip("0")
    exponent += len(digits) - len(written)
    if exponent >= -_MOST_DIGITS and number.adjusted() <= _MOST_DIGITS:
        return None
    return f"Decimal('{'-' * sign}{written}E{exponent}')"


def _nanoseconds(span: timedelta | np.timedelta64) -> int:
    """Return the length of a span of time, of which pandas and NumPy have their own types."""
    if isinstance(span, np.timedelta64):
        found = span.item()
        if not isinstance(found, timedelta):  # which has no nanoseconds
            return int(span.astype("timedelta64[ns]").astype(np.int64))
        span = found
    seconds = span.days * 86_400 + span.seconds
    return seconds * 10**9 + span.microseconds * 1_000 + getattr(span, "nanoseconds", 0)


def as_parts(label: Label) -> tuple[Label, ...]:
    """Return the values of a symbol of several columns, or the only value of a plain one."""
    return label if isinstance(label, tuple) else (label,)


def symbol_text(label: Label) -> str:
    """Write one symbol as text: tuples of several columns as ``a & b``, None as ``missing``.

    Different symbols may have the same text; :func:`distinct_texts` writes several of them.
    """
    if label is None:
        return "missing"
    if isinstance(label, tuple):
        return " & ".join(symbol_text(part) for part in label)
    return str(label)


def distinct(labels: Sequence[Label], made_up: Sequence[bool] | None = None) -> list[Label]:
    """Make labels distinct by appending a number to made-up names that read like another label.

    Labels that are not ``made_up`` belong to symbols and are kept; by default all are made up. No
    made-up name has the text of any other label in the result.
    """
    flags = [True] * len(labels) if made_up is None else made_up
    taken = {symbol_text(label) for label, new in zip(labels, flags, strict=True) if not new}
    numbers: Counter[str] = Counter()
    result: list[Label] = []
    for label, new in zip(labels, flags, strict=True):
        if not new:
            result.append(label)
            continue
        text = symbol_text(label)
        name: Label = label
        while symbol_text(name) in taken:
            numbers[text] += 1
            name = f"{text} ({numbers[text] + 1})"
        taken.add(symbol_text(name))
        result.append(name)
    return result


def distinct_texts(labels: Sequence[Label]) -> list[str]:
    """Write distinct labels as distinct texts; only labels that are not text are changed.

    For instance, None becomes "missing (2)" if the text "missing" is also a label.
    """
    texts = [symbol_text(label) for label in labels]
    return [str(name) for name in distinct(texts, [not isinstance(x, str) for x in labels])]
