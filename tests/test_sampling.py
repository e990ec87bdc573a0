"""The sampler: exactly the certified integers, and a statistical test whose power is tested."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from skliftpriv import Channel
from skliftpriv.certificate import TOTAL, quantize
from skliftpriv.sampling import Sampler, word_source


def table_as_weights(sampler):
    """Add up the slots of the alias table: the weights it really samples."""
    slots = 1 << sampler._slot_bits
    size = TOTAL >> sampler._slot_bits
    shape = (sampler.n_inputs, slots)
    cut = ((sampler._cut_high << 30) + sampler._cut_low).reshape(shape)
    weights = np.zeros((sampler.n_inputs, sampler.n_outputs), dtype=np.int64)
    rows = np.repeat(np.arange(sampler.n_inputs), slots).reshape(shape)
    np.add.at(weights, (rows, sampler._first.reshape(shape)), cut)
    np.add.at(weights, (rows, sampler._second.reshape(shape)), size - cut)
    return weights


@given(st.integers(0, 10_000), st.integers(1, 9), st.integers(1, 40), st.floats(0.02, 5.0))
def test_alias_table_holds_exactly_the_weights(seed, n_inputs, n_outputs, concentration):
    rng = np.random.default_rng(seed)
    matrix = rng.dirichlet(np.full(n_outputs, concentration), n_inputs)
    matrix[rng.random(matrix.shape) < 0.3] = 0
    matrix[:, 0] += 1e-12
    weights = quantize(Channel(matrix / matrix.sum(axis=1, keepdims=True)))
    assert (table_as_weights(Sampler(weights)) == weights.toarray()).all()


def test_ties_of_the_first_word_are_decided_by_the_second():
    # Words are given by hand: the first falls on the cut exactly, the rest decides.
    weights = quantize(Channel([[0.3, 0.7]]))
    sampler = Sampler(weights)
    poor = int(np.flatnonzero(sampler._cut_high < (1 << 31))[0])
    tie = (poor << 31) + int(sampler._cut_high[poor])
    below, above = sampler._cut_low[poor] - 1, sampler._cut_low[poor]
    for rest, expected in ((below, sampler._first[poor]), (above, sampler._second[poor])):
        bits = np.array([(tie << 32) + (int(rest) << 2)], dtype=np.uint64)
        assert sampler.sample_at(np.zeros(1, dtype=np.intp), bits)[0] == expected


def p_value(sampler, matrix, n_rows, seed):
    """Chi-square test of sampled outputs, all inputs together, against a channel."""
    codes = np.repeat(np.arange(matrix.shape[0]), n_rows)
    drawn = sampler.sample(codes, seed)
    observed = np.zeros(matrix.shape)
    np.add.at(observed, (codes, drawn), 1)
    assert observed[matrix == 0].sum() == 0
    seen = matrix > 0
    return chisquare(observed[seen], n_rows * matrix[seen], ddof=matrix.shape[0] - 1).pvalue


MATRIX = np.random.default_rng(5).dirichlet(np.ones(7), 6)


@pytest.mark.parametrize("seed", [None, 0, 1])
def test_samples_follow_the_channel(seed):
    sampler = Sampler(quantize(Channel(MATRIX)))
    # Once in a million runs this fails with a sound sampler and the system's generator.
    assert p_value(sampler, MATRIX, 500_000, seed) > 1e-6


def test_the_test_rejects_a_channel_that_is_three_percent_off():
    wrong = MATRIX.copy()
    wrong[:, 0] *= 1.03
    wrong /= wrong.sum(axis=1, keepdims=True)
    sampler = Sampler(quantize(Channel(wrong)))
    assert p_value(sampler, MATRIX, 500_000, 0) < 1e-6


def test_a_seed_reproduces_and_the_system_generator_does_not():
    sampler = Sampler(quantize(Channel(MATRIX)))
    codes = np.zeros(1000, dtype=np.intp)
    assert (sampler.sample(codes, 3) == sampler.sample(codes, 3)).all()
    assert (sampler.sample(codes, 3) != sampler.sample(codes, 4)).any()
    assert (sampler.sample(codes) != sampler.sample(codes)).any()


def test_long_runs_do_not_depend_on_how_rows_are_chunked():
    sampler = Sampler(quantize(Channel(MATRIX)))
    codes = np.tile(np.arange(6), 20_000)
    whole = sampler.sample(codes, np.random.default_rng(0))
    assert whole.shape == codes.shape
    assert np.bincount(whole[codes == 0], minlength=7).argmax() == MATRIX[0].argmax()


def test_deterministic_channels_draw_no_randomness():
    sampler = Sampler(quantize(Channel.merging([["a", "c"], ["b"]], ["a", "b", "c"])))
    assert sampler.sample(np.array([0, 1, 2, 1])).tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(
    "source",
    [None, 7, np.random.RandomState(0), np.random.default_rng(0)],
    ids=["system", "seed", "state", "generator"],
)
def test_every_kind_of_source_gives_words(source):
    words = word_source(source)(1000)
    assert words.dtype == np.uint32
    assert len(np.unique(words)) > 990
