"""The report page: what is protected, what it cost and what is not covered."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from pathlib import Path

from .._format import factor, html_table, number, share
from ..estimators import ReleasingShell
from ..files import write_whole
from ..report import TargetSummary
from ..views import ChannelView, ReleaseView, channel_view
from ._cells import cells_section
from ._flow import flow_figure
from ._heat import lift_figure
from ._posterior import posterior_figure
from ._typical import typical_section
from ._words import change_in_words, how_made, known_about, limits

__all__ = ["report_page", "write_report"]


def report_page(
    sanitizer: ReleasingShell,
    *,
    title: str | None = None,
    shuffled: bool = False,
    target_name: str = "the target",
) -> str:
    """Write a page about a fitted sanitiser: what is protected, by how much, at what cost.

    The page is one HTML file without scripts. It loads nothing, and is made for phones and
    paper as well as for light and dark screens.

    Parameters
    ----------
    sanitizer : fitted sanitiser
        Any estimator of skliftpriv. A page about one that was loaded from a file without counts of
        S does not show what single values tell about S.
    title : str, optional
        Title of the page.
    shuffled : bool, default=False
        Whether what is released is shuffled, as by :func:`skliftpriv.shuffle_rows`.

        .. versionadded:: 0.2
    target_name : str, default="the target"
        What the target is called, for a sanitiser that keeps what is known about one.

        .. versionadded:: 0.2

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> from skliftpriv import SubsetMergingSanitizer
    >>> from skliftpriv.datasets import load_adult
    >>> from skliftpriv.html import report_page
    >>> sanitizer = SubsetMergingSanitizer("relationship", "occupation", epsilon=0.5)
    >>> page = report_page(sanitizer.fit(load_adult()[["relationship", "occupation"]]))
    >>> page[:15], "http" in page
    ('<!doctype html>', False)
    """
    release = channel_view(sanitizer)
    useful, sensitive = release.useful_name, release.sensitive_name
    title = title or f"{useful} released, {sensitive} protected"
    body = "".join(
        [
            _head(sanitizer, title),
            _cards(sanitizer, release, target_name),
            _protection(sanitizer, release),
            _cost(sanitizer, release, target_name),
            typical_section(sanitizer, release),
            cells_section(sanitizer.guarantee_, release),
            _uncovered(sanitizer, shuffled),
            _made(sanitizer, target_name),
        ]
    )
    style = files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>\n{style}</style></head>\n"
        f"<body><main>{body}</main></body></html>\n"
    )


def write_report(sanitizer: ReleasingShell, path: str | Path, *, title: str | None = None) -> None:
    """Write the page of :func:`report_page` to a file, whole or not at all.

    Parameters
    ----------
    sanitizer : fitted sanitiser
        Any estimator of skliftpriv.
    path : str or Path
        The file.
    title : str, optional
        Title of the page.
    """
    write_whole(path, report_page(sanitizer, title=title).encode())


def _head(sanitizer: ReleasingShell, title: str) -> str:
    guarantee = sanitizer.guarantee_
    kind, verdict = "badge bad", "✗ Not private" if guarantee.holds else "✗ Budget missed"
    if guarantee.private:
        kind, verdict = "badge", "✓ Budget met"
    badge = f'<span class="{kind}">{verdict}</span>'
    return f"<h1>{escape(title)}</h1><p>{badge} {escape(guarantee.claim)}</p>"


def _cards(sanitizer: ReleasingShell, release: ChannelView, target_name: str) -> str:
    report, guarantee = sanitizer.report_, sanitizer.guarantee_
    sensitive, useful = release.sensitive_name, release.useful_name
    before, after = report.before, report.after
    noun = "values" if guarantee.cells is None else "cells"
    cards = [
        ("Protected", sensitive, f"{sanitizer.n_sensitive_} values"),
        (
            "Released",
            useful,
            f"{len(release.inputs)} {noun}, {guarantee.n_rows:,} rows counted",
        ),
        ("Budget", str(sanitizer.notion_), f"basis: {guarantee.basis}"),
        (
            "A value becomes at most",
            f"{factor(before.max_log_lift)} → {factor(after.max_log_lift)} times",
            f"as probable: any value of {sensitive}, before → after, as estimated",
        ),
        (
            "A value becomes at least",
            f"{factor(before.min_log_lift)} → {factor(after.min_log_lift)} times",
            "as probable: 0 means that it is ruled out",
        ),
        ("Kept", share(report.nmi), f"of the information in {useful}"),
    ]
    if report.target is not None:
        known = known_about(target_name, release)
        cards.append(("Kept for the target", share(report.target.kept), f"of {known}"))
    return (
        '<div class="cards">'
        + "".join(
            f'<div class="card"><div class="what">{escape(what)}</div><div class="value">'
            f'{escape(value)}</div><div class="note">{escape(note)}</div></div>'
            for what, value, note in cards
        )
        + "</div>"
    )


def _protection(sanitizer: ReleasingShell, release: ChannelView) -> str:
    sensitive, useful = release.sensitive_name, release.useful_name
    return (
        "<h2>What is protected, and by how much</h2>"
        f"<p>{escape(change_in_words(sanitizer, sensitive, useful))}</p>"
        f"<p>The promise: {escape(sanitizer.notion_.in_words(sensitive))}</p>"
        f'<div class="scroll">{_levels(sanitizer)}</div>'
        f"{_seen(sanitizer, release)}{_about_sensitive(release)}"
    )


def _about_sensitive(release: ChannelView) -> str:
    """Show what single values tell about S, if that is known."""
    if not isinstance(release, ReleaseView):
        return (
            '<p class="soft">What single values tell about '
            f"{escape(release.sensitive_name)} is not shown: this mechanism was loaded from a file "
            "without counts of it.</p>"
        )
    return (
        f"{lift_figure(release)}<h3>What an observer believes after seeing a value</h3>"
        f"{posterior_figure(release)}"
    )


def _seen(sanitizer: ReleasingShell, release: ChannelView) -> str:
    """Say that the mechanism sees S, and whether it tells more about S than X does."""
    if not release.sees_sensitive:
        return ""
    sensitive, useful = escape(release.sensitive_name), escape(release.useful_name)
    text = (
        f"The mechanism sees {sensitive}: it may treat rows with the same {useful} differently by "
        f"their {sensitive}."
    )
    before, after = (
        part.leakage_mutual_information
        for part in (sanitizer.report_.before, sanitizer.report_.after)
    )
    if after > before:
        text += (
            f" On average the release tells more about {sensitive} than the original {useful} "
            f"does: {number(after)} instead of {number(before)} nats, I(S;Y) and I(S;X). The "
            "budget bounds what single values tell."
        )
    return f"<p>{text}</p>"


def _levels(sanitizer: ReleasingShell) -> str:
    report = sanitizer.report_
    worst = report.levels_worst
    header = ["level in nats", "before", "after", "budget"]
    if worst is not None:
        header.insert(3, "worst case")
    rows = [header]
    for side, budget in sanitizer.notion_.budget.items():
        row = [number(level) for level in (report.levels_before[side], report.levels_after[side])]
        row += [] if worst is None else [number(worst[side])]
        rows.append([sanitizer.notion_.side(side).title, *row, number(budget)])
    return html_table(rows, [True] * (len(rows) - 1))


def _cost(sanitizer: ReleasingShell, release: ChannelView, target_name: str) -> str:
    report = sanitizer.report_
    useful = escape(release.useful_name)
    whole = "the original column" if sanitizer.guarantee_.cells is None else "the cells themselves"
    all_measures = html_table(report.cells(), [budget is not None for *_, budget in report.rows()])
    return (
        "<h2>What it cost</h2>"
        f"<p>{share(report.nmi)} of the information in {useful} is kept (normalised mutual "
        f"information): 100% would be {whole}, 0% a constant.</p>"
        f"{_meter(report.nmi)}{_target_cost(report.target, release, target_name)}"
        f"{flow_figure(release)}<h3>All measures</h3>"
        f'<div class="scroll">{all_measures}</div>{_legend(report.target, target_name)}'
    )


def _meter(kept: float) -> str:
    return (
        f'<div class="meter" role="img" aria-label="{share(kept)} kept"><div style="width:'
        f'{100 * kept:.1f}%"></div></div>'
    )


def _target_cost(target: TargetSummary | None, release: ChannelView, target_name: str) -> str:
    """Say what is kept of what is known about the target, if the mechanism was built for one."""
    if target is None:
        return ""
    name, useful = escape(target_name), escape(release.useful_name)
    known = escape(known_about(target_name, release))
    itself = ""
    if release.sees_sensitive:
        itself = f" The original {useful} alone would keep {share(target.kept_by_x)} of that."
    return (
        f"<p>The mechanism was built to keep what is known about {name}: "
        f"{share(target.kept)} of {known} is kept ({number(target.after)} of "
        f"{number(target.input)} nats).{itself}</p>{_meter(target.kept)}"
    )


def _legend(target: TargetSummary | None, target_name: str) -> str:
    letters = "Y is what is released, S the sensitive and X the useful column"
    shares = "NMI is a share"
    if target is not None:
        letters += f", T is {escape(target_name)}"
        shares = "NMI and the share of the target are shares"
    return (
        f'<p class="soft">{letters}. Total variation and chi2-divergence are plain numbers, '
        f"{shares}, the rest is in nats.</p>"
    )


def _uncovered(sanitizer: ReleasingShell, shuffled: bool) -> str:
    # Names of columns are data and are escaped; the sentences themselves may mark code.
    items = "".join(
        f"<li><strong>{escape(name)}.</strong> {_marked(text)}</li>"
        for name, text in limits(sanitizer, shuffled)
    )
    return f"<h2>What the guarantee does not cover</h2><ul>{items}</ul>"


def _marked(text: str) -> str:
    """Escape a sentence, but for the marks of code."""
    safe = escape(text, quote=False)
    return safe.replace("&lt;code&gt;", "<code>").replace("&lt;/code&gt;", "</code>")


def _made(sanitizer: ReleasingShell, target_name: str) -> str:
    rows = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>"
        for name, value in how_made(sanitizer, target_name)
    )
    return f'<h2>How it was made</h2><dl class="made">{rows}</dl>'
