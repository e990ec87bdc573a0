"""Numbers, tables and verdicts for a reader: as plain text, and as HTML for a notebook.

The HTML needs no style sheet, script or other file, and takes over the colours of the page, so
that it reads on light and dark ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import exp, inf, isfinite

__all__ = [
    "factor",
    "html_card",
    "html_table",
    "number",
    "printable",
    "rounded",
    "share",
    "signed",
    "text_table",
    "typeset",
]

#: What is smaller than this is the rounding of doubles.
_NOISE = 1e-12

#: Sign and colour of a good verdict, of a bad one, and of an open question.
_LOOKS = {True: ("✓", "#1a7f37"), False: ("✗", "#c62828"), None: ("?", "#57606a")}
_BADGE = "color:#fff;border-radius:0.3em;padding:0.1em 0.5em;font-weight:bold;white-space:nowrap"
# Some pages set a colour and a size for tables, even black on dark backgrounds.
_TABLE = (
    "border-collapse:collapse;margin:0.4em 0;font-variant-numeric:tabular-nums;"
    "color:inherit;font-size:inherit"
)
_CELL = "padding:0.15em 0.8em;border-bottom:1px solid rgba(128,128,128,0.35)"


def number(value: float) -> str:
    """Write a number with four decimals, or as a power of ten where they would say little."""
    if abs(value) < _NOISE:
        return "0.0000"  # and not -0.0000
    if not isfinite(value) or 1e-3 <= abs(value) < 1e5:
        return f"{value:.4f}"
    return f"{value:.2e}"


def rounded(value: float, digits: int = 2) -> str:
    """Write a number with a few decimals, a proper minus sign and the sign of infinity."""
    return typeset(f"{round(value, digits) + 0.0:.{digits}f}")  # + 0.0 turns -0.0 into 0.0


def signed(value: float, digits: int = 2) -> str:
    """Write a number like :func:`rounded`, with a plus sign if it is positive."""
    return ("+" if round(value, digits) > 0 else "") + rounded(value, digits)


def typeset(number: str) -> str:
    """Replace the signs of a number by those of printed mathematics."""
    return number.replace("inf", "∞").replace("-", "\N{MINUS SIGN}")


def factor(level: float) -> str:
    """Write exp(level), the factor by which a probability changes."""
    if level > 20:
        return "without limit" if level == inf else f"{exp(min(level, 700)):.1g}"
    return f"{exp(level):.2f}" if level > -4 else f"{exp(level):.1g}"


def share(value: float, *, fine: bool = False, whole: bool = False) -> str:
    """Write a share in percent; only 0 and 1 themselves become 0% and 100%.

    Parameters
    ----------
    value : float
        A share from 0 to 1, up to rounding.
    fine : bool, default=False
        Whether shares below a tenth get a decimal, as where small ones are compared.
    whole : bool, default=False
        Whether no share gets a decimal.
    """
    if min(value, 1 - value) < _NOISE or (0.0995 if fine else 0.01) <= value <= 0.99:
        return f"{value:.0%}"
    if whole:
        return "<1%" if value < 0.005 else ">99%" if value >= 0.995 else f"{value:.0%}"
    if value < 0.001:
        return "<0.1%"
    return ">99.9%" if value > 0.999 else f"{value:.1%}"


def printable(text: str) -> str:
    """Write text on one line, with escapes for characters that would move or colour it."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def text_table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Align cells in lines: the first column to the left, the others to the right.

    Parameters
    ----------
    rows : sequence of sequence of str
        The header and the rows, of equal lengths.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for title, *cells in rows:
        right = [cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True)]
        lines.append("   ".join([title.ljust(widths[0]), *right]).rstrip())
    return lines


def html_table(rows: Sequence[Sequence[str]], bold: Sequence[bool]) -> str:
    """Write the same rows as an HTML table.

    Parameters
    ----------
    rows : sequence of sequence of str
        The header and the rows; any text, which is escaped here.
    bold : sequence of bool
        Which rows below the header stand out.
    """
    header, *body = rows
    sides = ["left"] + ["right"] * (len(header) - 1)
    head = "".join(
        f'<th scope="col" style="{_CELL};text-align:{side}">{_html(cell)}</th>'
        for cell, side in zip(header, sides, strict=True)
    )
    lines = []
    for (title, *cells), heavy in zip(body, bold, strict=True):
        weight = f"font-weight:{'bold' if heavy else 'normal'}"
        first = f'<th scope="row" style="{_CELL};text-align:left;{weight}">{_html(title)}</th>'
        rest = (
            f'<td style="{_CELL};text-align:right;{weight}">{_html(cell)}</td>' for cell in cells
        )
        lines.append(f"<tr>{first}{''.join(rest)}</tr>")
    return (
        f'<table style="{_TABLE}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table>"
    )


def html_card(
    good: bool | None,
    verdict: str,
    claim: str,
    lead: Sequence[str],
    table: str,
    notes: Sequence[str],
) -> str:
    """Write a verdict with what it is about, and a table between sentences.

    Parameters
    ----------
    good : bool or None
        Whether the verdict is good; None if the question is open.
    verdict, claim : str
        A word or two, and a sentence; they are escaped here.
    lead, notes : sequence of str
        Sentences above and below the table; they are escaped here.
    table : str
        HTML, from :func:`html_table`.
    """
    sign, colour = _LOOKS[good]
    return (
        '<div style="max-width:48em;line-height:1.45">'
        f'<div><span style="background:{colour};{_BADGE}">{sign} {escape(verdict)}</span> '
        f"<strong>{escape(claim)}</strong></div>{_lines(lead)}{table}{_lines(notes)}</div>"
    )


def _lines(sentences: Sequence[str]) -> str:
    return "".join(f'<div style="margin:0.2em 0">{escape(text)}</div>' for text in sentences)


def _html(cell: str) -> str:
    """Escape a cell, and typeset it if it is a number."""
    try:
        float(cell)
    except ValueError:
        return escape(cell)
    return escape(typeset(cell))
