"""The cells of a table on the report page."""

from __future__ import annotations

from html import escape

from ..estimators import Guarantee
from ..views import CellRow, ChannelView, ReleaseView, cell_rows, truncate

__all__ = ["cells_section"]

_MOST = 30
_WIDEST = 300


def cells_section(guarantee: Guarantee, release: ChannelView) -> str:
    """Show the cells, what they say about S and what becomes of them; nothing without cells."""
    if guarantee.cells is None:
        return ""
    rows, picked = cell_rows(release, _MOST)
    sensitive = escape(release.sensitive_name)
    known = isinstance(release, ReleaseView)
    says = [f"says about {sensitive}"] if known else []
    head = "".join(
        f'<th scope="col">{title}</th>' for title in ("cell", "rows", *says, "mostly released as")
    )
    body = "".join(
        f'<tr><th scope="row">{_cut(row.rule)}</th><td>{row.rows}</td>{_says(row) if known else ""}'
        f"<td>{_cut(row.becomes)}</td></tr>"
        for row in rows
    )
    notes = "".join(f'<p class="soft">{escape(note)}</p>' for note in picked.note("cells"))
    columns = escape(", ".join(guarantee.columns))
    return (
        "<h2>The cells</h2>"
        f"<p>{escape(guarantee.about_cells)}. They were made by {escape(guarantee.cells.made_by)}. "
        f"The columns are {columns}.</p>"
        f'<div class="scroll"><table class="cells"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>{notes}{_factors(sensitive) if known else ''}"
    )


def _says(row: CellRow) -> str:
    return f'<td class="{"out" if row.outside else "within"}">{escape(row.says)}</td>'


def _factors(sensitive: str) -> str:
    return (
        f'<p class="soft">The factor is how many times as probable the value of {sensitive} is in '
        "the cell as overall; bold where a lift of the cell is outside the budget, so that it "
        "cannot be released as it is.</p>"
    )


def _cut(text: str) -> str:
    return escape(truncate(text, _WIDEST))
