"""What an observer believes about S: a strip for each sensitive value."""

from __future__ import annotations

from html import escape

import numpy as np

from .._arrays import FloatArray
from .._format import share
from ..labels import symbol_text
from ..views import ReleaseView, pick
from ._parts import keyed

__all__ = ["posterior_figure"]

_MOST = 12
_WIDTH, _HEIGHT = 640, 46
_LEFT, _RIGHT = 8, 8
_ABOVE, _BELOW = 12, 33


def posterior_figure(release: ReleaseView) -> str:
    """Draw prior, budget and posteriors of every sensitive value, before and after.

    Parameters
    ----------
    release : ReleaseView
        What is released.
    """
    shown = pick(release.joint.p_s, _MOST)
    strips = [_strip(release, int(s)) for s in shown.shown]
    what = "single bits of the release" if release.bits else "released values"
    words = [
        f"Probability of each value of {escape(release.sensitive_name)}: the line is its overall "
        "share,",
        keyed("crosses above are its shares given the original values,", "background:var(--red)"),
        keyed(f"dots below are its shares given the {what}.", "background:var(--blue)"),
    ]
    if release.limits is not None:
        shade = "background:var(--blue);opacity:.3"
        words.append(keyed("The budget allows the shaded range.", shade))
    words += map(escape, shown.note("sensitive values"))
    return f"<figure>{''.join(strips)}<figcaption>{' '.join(words)}</figcaption></figure>"


def _strip(release: ReleaseView, s: int) -> str:
    name = symbol_text(release.joint.sensitive_labels[s])
    prior = float(release.joint.p_s[s])
    before, after = release.posterior_before[s], release.posterior[s]
    allowed = None if release.allowed is None else release.allowed[s]
    largest = max(before.max(), after.max(), prior, 0.0 if allowed is None else allowed[1])
    end = min(1.0, 1.04 * largest)
    ranges = [
        f"{share(v.min(), fine=True)} to {share(v.max(), fine=True)}" for v in (before, after)
    ]
    words = f"{share(prior, fine=True)} overall; before {ranges[0]}; after {ranges[1]}"
    picture = _svg(f"{name}: {words}", prior, before, after, allowed, end)
    return (
        f'<div class="strip"><div class="top"><span>{escape(name)}</span>'
        f"<span>{escape(words)}</span></div>{picture}</div>"
    )


def _svg(
    title: str,
    prior: float,
    before: FloatArray,
    after: FloatArray,
    allowed: FloatArray | None,
    end: float,
) -> str:
    def x(p: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * p / end

    parts = [
        f'<path d="M{_LEFT} {_HEIGHT / 2}H{_WIDTH - _RIGHT}" stroke="var(--line)"/>',
    ]
    if allowed is not None:
        low, high = map(x, allowed)
        parts.insert(
            0,
            f'<rect x="{low:.1f}" y="1" width="{high - low:.1f}" height="{_HEIGHT - 2}" rx="3" '
            'fill="var(--blue)" fill-opacity=".16"/>',
        )
    crosses = "".join(
        f"M{x(p) - 4:.1f} {_ABOVE - 4}l8 8m0 -8l-8 8" for p in np.unique(np.round(before, 5))
    )
    parts.append(f'<path d="{crosses}" stroke="var(--red)" stroke-width="1.8" fill="none"/>')
    parts += [
        f'<circle cx="{x(p):.1f}" cy="{_BELOW}" r="4.6" fill="var(--blue)" fill-opacity=".75"/>'
        for p in np.unique(np.round(after, 5))
    ]
    parts.append(f'<path d="M{x(prior):.1f} 0V{_HEIGHT}" stroke="var(--text)" stroke-width="1.6"/>')
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(title)}">'
        f"{''.join(parts)}</svg>"
    )
