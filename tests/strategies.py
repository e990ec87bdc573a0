"""Random joints, channels and budgets that the tests share."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skliftpriv import Channel, JointDistribution

SEEDS = st.integers(0, 2**32 - 1)


@st.composite
def count_tables(draw, max_s=6, max_x=8, min_s=1, min_x=1, positive=False):
    """Small integer tables without empty rows or columns; zero cells unless ``positive``."""
    shape = draw(st.integers(min_s, max_s)), draw(st.integers(min_x, max_x))
    smallest = 1 if positive else 0
    table = draw(arrays(np.int64, shape, elements=st.integers(smallest, 40)))
    # Empty rows and columns are another matter; give them one count.
    table[~(table > 0).any(axis=1), 0] = 1
    table[0, ~(table > 0).any(axis=0)] = 1
    return table


@st.composite
def skewed_joints(draw, max_s=6, max_x=200):
    """Large alphabets whose margins span many orders of magnitude."""
    rng = np.random.default_rng(draw(SEEDS))
    n_s, n_x = draw(st.integers(1, max_s)), draw(st.integers(1, max_x))
    cells = rng.random((n_s, n_x)) * 10.0 ** rng.uniform(-8, 0, (n_s, 1))
    cells *= 10.0 ** rng.uniform(-4, 0, (1, n_x))
    holes = rng.random((n_s, n_x)) < draw(st.sampled_from([0.0, 0.2, 0.6]))
    holes[0, :] = False
    holes[:, 0] = False
    cells[holes] = 0.0
    return JointDistribution(cells / cells.sum())


def joints(max_s=6, max_x=8, **options):
    """Joint distributions: small tables with zero cells and one-symbol alphabets."""
    return count_tables(max_s, max_x, **options).map(JointDistribution.from_counts)


def any_joints():
    """Small tables and large skewed ones."""
    return st.one_of(joints(), skewed_joints())


@st.composite
def channels(draw, n_inputs, max_y=6):
    """Channels with zero entries; some outputs may never occur."""
    n_y = draw(st.integers(1, max_y))
    weights = draw(arrays(np.int64, (n_inputs, n_y), elements=st.integers(0, 9)))
    weights[weights.sum(axis=1) == 0, 0] = 1
    return Channel(weights / weights.sum(axis=1, keepdims=True))


@st.composite
def releases(draw, positive=False):
    """A joint, a channel for it, and P_SY without outputs that never occur."""
    joint = draw(joints(min_s=2, positive=positive))
    channel = draw(channels(joint.shape[1]))
    seen = channel.p_y(joint.p_x) > 0
    return joint, channel, joint.released(channel)[:, seen]


@st.composite
def binary_partitions(draw, size):
    """A mask of high-risk symbols that is neither empty nor everything."""
    mask = draw(arrays(np.bool_, size))
    mask[0], mask[-1] = True, False
    return mask


def budgets():
    return st.floats(0.05, 3.0)
