"""Log-lifts as coloured tables, before and after: they wrap, scroll and print like text."""

from __future__ import annotations

from html import escape

import numpy as np

from .._format import signed
from ..labels import symbol_text
from ..views import LiftTable, Picked, ReleaseView, lift_tables, pick, truncate
from ._parts import keyed

__all__ = ["lift_figure"]

_MOST_ROWS, _MOST_COLUMNS = 24, 12
_SIGNS = {"positive": "230,159,0", "negative": "86,180,233"}
_STRONG = 0.45


def lift_figure(release: ReleaseView) -> str:
    """Draw the log-lift of every value, and of everything that is released.

    Parameters
    ----------
    release : ReleaseView
        What is released.
    """
    tables = lift_tables(release, _MOST_ROWS)
    sensitive = pick(release.joint.p_s, _MOST_COLUMNS)
    what = "single bits of" if release.bits else "released"
    titles = f"Before: {release.useful_name}", f"After: {what} {release.useful_name}"
    drawn = "".join(
        _table(title, table, sensitive, release)
        for title, table in zip(titles, tables, strict=True)
    )
    return f'<figure><div class="pair">{drawn}</div>{_caption(release, *tables)}</figure>'


def _caption(release: ReleaseView, before: LiftTable, after: LiftTable) -> str:
    more, less = (keyed(word, f"background:rgb({colour})") for word, colour in _SIGNS.items())
    parts = [
        f"Log-lift in nats: how much more ({more}) or less ({less}) probable each value of "
        f"{escape(release.sensitive_name)} becomes for whoever sees the value in the row."
    ]
    if release.limits is not None:
        low, high = map(signed, release.limits)
        parts.append(
            f"Outlined: outside the budget of {low} to {high}; {before.outside.sum()} lifts "
            f"before, {after.outside.sum()} after."
        )
    if release.bits:
        low, high = map(signed, release.log_lifts)
        parts.append(f"All bits together have log-lifts from {low} to {high}.")
    if np.isneginf(before.logs).any() or np.isneginf(after.logs).any():
        parts.append("−∞, hatched: the two never occur together.")
    return f"<figcaption>{' '.join(parts)}</figcaption>"


def _table(title: str, table: LiftTable, columns: Picked, release: ReleaseView) -> str:
    names = [symbol_text(release.joint.sensitive_labels[s]) for s in columns.shown]
    head = "".join(
        f'<th scope="col"{_title(name, 24)}><span>{escape(truncate(name, 24))}</span></th>'
        for name in names
    )
    scale = release.largest_log_lift
    body = []
    for y in table.picked.shown:
        cells = "".join(_cell(table.logs[s, y], table.outside[s, y], scale) for s in columns.shown)
        name = symbol_text(table.labels[y])
        head_of_row = f'<th scope="row"{_title(name, 60)}>{escape(truncate(name, 60))}</th>'
        body.append(f"<tr>{head_of_row}{cells}</tr>")
    notes = [*table.picked.note(table.what), *columns.note("sensitive values")]
    below = "".join(f'<p class="soft">{escape(note)}</p>' for note in notes)
    return (
        f'<div><h3>{escape(title)}</h3><div class="scroll"><table class="heat"><thead><tr><td '
        f'style="background:none"></td>{head}</tr></thead><tbody>{"".join(body)}</tbody></table>'
        f"</div>{below}</div>"
    )


def _title(name: str, most: int) -> str:
    """Give the full name where it is truncated."""
    return f' title="{escape(name)}"' if len(name) > most else ""


def _cell(value: float, outside: bool, scale: float) -> str:
    names = ["out"] if outside else []
    if np.isneginf(value):
        return f'<td class="{" ".join([*names, "never"])}">−∞</td>'
    strength = 0.9 * min(abs(value) / scale, 1.0)
    names += ["dark"] if strength > _STRONG else []
    colour = _SIGNS["positive" if value > 0 else "negative"]
    listed = f' class="{" ".join(names)}"' if names else ""
    return f'<td{listed} style="background:rgba({colour},{strength:.2f})">{signed(value)}</td>'
