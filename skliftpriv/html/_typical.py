"""The typical rows of a release on the report page."""

from __future__ import annotations

from html import escape

from ..estimators import ReleasingShell
from ..views import ChannelView, truncate, typical_table

__all__ = ["typical_section"]

_MOST = 20
_MOST_COLUMNS = 15
_WIDEST = 40


def typical_section(sanitizer: ReleasingShell, release: ChannelView) -> str:
    """Show what is released for each output; nothing if that is not a typical row."""
    table = typical_table(sanitizer, release, _MOST, _MOST_COLUMNS)
    if table is None:
        return ""
    head = "".join(
        f'<th scope="col">{escape(truncate(title, _WIDEST))}</th>'
        for title in ("released for", *table.columns)
    )
    body = "".join(
        f'<tr><th scope="row">{often} of the rows</th>'
        + "".join(f"<td>{escape(truncate(value, _WIDEST))}</td>" for value in values)
        + "</tr>"
        for often, values in table.rows
    )
    notes = table.picked.note("outputs")
    if table.n_columns > len(table.columns):
        notes.append(f"The first {len(table.columns)} of {table.n_columns} columns are shown.")
    n_outputs = table.picked.shown.size + table.picked.hidden.size
    said = f"{n_outputs:,} outputs have {table.n_rows:,} different rows."
    if table.n_rows == n_outputs:
        said = f"There are {n_outputs:,} different rows, one for each output."
    return (
        "<h2>The rows that are released</h2>"
        "<p>Every output is released as one typical row: medians of numbers and dates, and the "
        f"most common of other values, given the output. {said} They are not rows of the "
        "original table, and do not show how values occur together.</p>"
        f'<div class="scroll"><table class="typical"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
        + "".join(f'<p class="soft">{escape(note)}</p>' for note in notes)
    )
