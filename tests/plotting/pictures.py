"""What the tests of the displays share: releases to draw, and what can be read off a figure."""

import numpy as np

from skliftpriv import LIP, Channel, JointDistribution


def joint_with_zeros():
    """Three sensitive and four useful values, two pairs of which never occur."""
    counts = [[30, 0, 5, 9], [10, 50, 0, 9], [3, 3, 30, 9]]
    return JointDistribution.from_counts(counts, ["ill", "well", "?"], ["a", "b", "c", "d"])


def wide_joint(n=60):
    """Many useful values with long names that differ at the end only."""
    rng = np.random.default_rng(0)
    matrix = (rng.random((5, n)) ** 2 + 0.05) * rng.dirichlet(np.full(n, 0.4))
    matrix[rng.random((5, n)) < 0.05] = 0
    names = [f"a rather long name of value {i}" for i in range(n)]
    return JointDistribution(matrix / matrix.sum(), [f"group {i}" for i in range(5)], names)


def as_it_is(joint, epsilon=0.5):
    """The release of X itself, against a budget that it misses."""
    return joint, Channel.identity(joint.useful_labels), LIP(epsilon)


def words(figure):
    """Visible (text, box, angle) of a figure after its layout."""
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    found = []
    for ax in figure.axes:
        artists = [*ax.texts, ax.title, ax._left_title]
        if ax.get_legend():
            artists += ax.get_legend().get_texts()
        if ax.axison:
            artists += [ax.xaxis.label, ax.yaxis.label, *_ticks(ax.xaxis), *_ticks(ax.yaxis)]
        for artist in artists:
            if artist.get_visible() and artist.get_text().strip() and artist.get_alpha() != 0:
                box = artist.get_window_extent(renderer)
                found.append((artist.get_text(), box, artist.get_rotation() % 90))
    return found


def _ticks(axis):
    low, high = sorted(axis.get_view_interval())
    ticks = axis.get_major_ticks()
    places = axis.get_majorticklocs()
    inside = [t for t, p in zip(ticks, places, strict=False) if low <= p <= high]
    return [label for tick in inside for label in (tick.label1, tick.label2)]


def cut_off(figure, slack=1.0):
    """Texts that reach beyond the figure."""
    page = figure.bbox
    return [
        text
        for text, box, _ in words(figure)
        if box.x0 < page.x0 - slack
        or box.y0 < page.y0 - slack
        or box.x1 > page.x1 + slack
        or box.y1 > page.y1 + slack
    ]


def overlaps(figure, slack=2.0):
    """Pairs of texts on top of each other; slanted ones lie in boxes that say nothing."""
    upright = [(text, box) for text, box, angle in words(figure) if angle == 0]
    corners = np.array([[box.x0, box.y0, box.x1, box.y1] for _, box in upright])
    low = np.maximum(corners[:, None, :2], corners[None, :, :2])
    high = np.minimum(corners[:, None, 2:], corners[None, :, 2:])
    shared = (high - low > slack).all(axis=2)
    return [(upright[i][0], upright[j][0]) for i, j in np.argwhere(np.triu(shared, 1))]
