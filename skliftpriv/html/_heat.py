"""Log-lifts as coloured tables, before and after: they wrap, scroll and print like text."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from .._arrays import FloatArray, Label
from ..channel import symbol_text
from ..plotting import ReleaseData
from ..plotting._heatmap import Picked, pick
from ..plotting._labels import signed
from ._parts import keyed, short

__all__ = ["lift_figure"]

_MOST_ROWS, _MOST_COLUMNS = 24, 12
_SIGNS = {"positive": "230,159,0", "negative": "86,180,233"}
_STRONG = 0.45


def lift_figure(release: ReleaseData) -> str:
    """Draw the log-lift of every value, and of everything that is released.

    Parameters
    ----------
    release : ReleaseData
        What is released.
    """
    before, after = release.log_lift_before, release.log_lift
    both = np.abs(np.concatenate([before.ravel(), after.ravel()]))
    scale = max(both[np.isfinite(both)].max(initial=0.0), 0.01)
    sensitive = pick(release.joint.p_s, _MOST_COLUMNS)
    what = "single bits of" if release.bits else "released"
    tables = [
        _table(
            f"Before: {release.useful_name}",
            release.joint.useful_labels,
            before,
            pick(release.joint.p_x, _MOST_ROWS),
            sensitive,
            release,
            scale,
        ),
        _table(
            f"After: {what} {release.useful_name}",
            release.outputs,
            after,
            pick(release.p_y, _MOST_ROWS),
            sensitive,
            release,
            scale,
        ),
    ]
    return f'<figure><div class="pair">{"".join(tables)}</div>{_caption(release, before)}</figure>'


def _caption(release: ReleaseData, before: FloatArray) -> str:
    more, less = (keyed(word, f"background:rgb({colour})") for word, colour in _SIGNS.items())
    parts = [
        f"Log-lift in nats: how much more ({more}) or less ({less}) probable each value of "
        f"{escape(release.sensitive_name)} becomes for whoever sees the value in the row."
    ]
    if release.limits is not None:
        n_before = int(release.outside(before).sum())
        n_after = int(release.outside(release.log_lift).sum())
        low, high = map(signed, release.limits)
        parts.append(
            f"Outlined: outside the budget of {low} to {high}; {n_before} cells before, "
            f"{n_after} after."
        )
    if release.bits:
        low, high = map(signed, release.log_lifts)
        parts.append(f"All bits together have log-lifts from {low} to {high}.")
    if np.isneginf(before).any() or np.isneginf(release.log_lift).any():
        parts.append("−∞, hatched: never occurs together.")
    return f"<figcaption>{' '.join(parts)}</figcaption>"


def _table(
    title: str,
    labels: Sequence[Label],
    logs: FloatArray,
    rows: Picked,
    columns: Picked,
    release: ReleaseData,
    scale: float,
) -> str:
    head = "".join(
        f'<th scope="col"><span>{escape(short(release.joint.sensitive_labels[s], 24))}</span></th>'
        for s in columns.shown
    )
    body = []
    for y in rows.shown:
        cells = "".join(_cell(logs[s, y], release, scale) for s in columns.shown)
        name = symbol_text(labels[y])
        full = f' title="{escape(name)}"' if len(name) > 60 else ""
        body.append(f'<tr><th scope="row"{full}>{escape(short(labels[y], 60))}</th>{cells}</tr>')
    notes = [*rows.note("values"), *columns.note("sensitive values")]
    below = "".join(f'<p class="soft">{escape(note)}</p>' for note in notes)
    return (
        f'<div><h3>{escape(title)}</h3><div class="scroll"><table class="heat"><thead><tr><td '
        f'style="background:none"></td>{head}</tr></thead><tbody>{"".join(body)}</tbody></table>'
        f"</div>{below}</div>"
    )


def _cell(value: float, release: ReleaseData, scale: float) -> str:
    names = ["out"] if bool(release.outside(np.array([value]))[0]) else []
    if np.isneginf(value):
        return f'<td class="{" ".join([*names, "never"])}">−∞</td>'
    strength = 0.9 * min(abs(value) / scale, 1.0)
    names += ["dark"] if strength > _STRONG else []
    colour = _SIGNS["positive" if value > 0 else "negative"]
    listed = f' class="{" ".join(names)}"' if names else ""
    return f'<td{listed} style="background:rgba({colour},{strength:.2f})">{signed(value)}</td>'
