"""A seed repeats an experiment; it cannot be found by trying, and noise is never shared."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, delayed
from sklearn.base import clone

from skliftpriv import (
    ConditionalReporting,
    GRRSanitizer,
    ORRSanitizer,
    OUESanitizer,
    SubsetMergingSanitizer,
)
from skliftpriv.datasets import load_adult
from skliftpriv.exceptions import SeededReleaseWarning
from skliftpriv.html import report_page

ADULT = load_adult()[["relationship", "occupation"]]
PAIR = ("relationship", "occupation")
SEEDED = [
    ORRSanitizer(*PAIR, epsilon=0.5, output="code", random_state=42),
    GRRSanitizer(*PAIR, epsilon=0.5, output="code", random_state=42),
    ConditionalReporting(*PAIR, epsilon=0.5, output="code", random_state=42),
    OUESanitizer(*PAIR, epsilon=0.5, output="bits", random_state=42),
]
KINDS = pytest.mark.parametrize("sanitizer", SEEDED, ids=lambda one: type(one).__name__)


def log_odds_of_seeds(sanitizer, released, seeds):
    """Score every seed by how well its plain stream explains a release, as an attacker would.

    The attacker knows the channel and the sampler, but not the rows: each seed gives the words,
    the words give y for every x, and the true seed makes x = "kept" likely.
    """
    sampler = sanitizer.release_.releaser._sampler
    p_x = sanitizer.joint_.p_x
    scores = []
    for seed in seeds:
        stream = np.random.default_rng(seed).bytes

        def words(n, stream=stream):
            return np.frombuffer(stream(4 * n), dtype=np.uint32)

        bits = words(released.size).astype(np.uint64) << np.uint64(32)
        likelihood = np.zeros(released.size)
        for x, p in enumerate(p_x):
            drawn = sampler.sample_at(np.full(released.size, x), bits)
            likelihood += p * (drawn == released)
        scores.append(np.log(np.maximum(likelihood, 1e-3)).sum())
    return np.array(scores)


def test_a_small_seed_is_not_found_by_trying_all_of_them():
    sanitizer = ORRSanitizer(*PAIR, epsilon=0.5, output="code", random_state=42).fit(ADULT)
    released = sanitizer.transform(ADULT[:500])["occupation"]
    scores = log_odds_of_seeds(sanitizer, released.to_numpy(), range(60))
    rank = (scores >= scores[42]).sum()
    assert scores[42] - np.median(scores) < 4 * scores.std()
    assert rank > 1 or scores[42] - np.sort(scores)[-2] < scores.std()


def test_that_attack_finds_a_seed_whose_stream_is_used_as_it_is():
    # The test above has power: noise that comes straight from the seed is recognised at once.
    sanitizer = ORRSanitizer(*PAIR, epsilon=0.5, output="code").fit(ADULT)
    codes = sanitizer.encode(ADULT[:500])
    words = np.frombuffer(np.random.default_rng(42).bytes(4 * codes.size), dtype=np.uint32)
    released = sanitizer.release_.releaser._sampler.sample_at(
        codes, words.astype(np.uint64) << np.uint64(32)
    )
    scores = log_odds_of_seeds(sanitizer, released, range(60))
    assert scores.argmax() == 42
    assert scores[42] - np.sort(scores)[-2] > 4 * np.delete(scores, 42).std()


@KINDS
def test_the_same_call_on_the_same_table_repeats_itself(sanitizer):
    sanitizer = clone(sanitizer).fit(ADULT)
    first = sanitizer.transform(ADULT)
    pd.testing.assert_frame_equal(sanitizer.transform(ADULT), first)
    pd.testing.assert_frame_equal(clone(sanitizer).fit_transform(ADULT), first)


def shared(first, second):
    """Share of rows whose noise is the same, where both tables hold the same value."""
    return float((np.asarray(first) == np.asarray(second)).mean())


@KINDS
def test_two_tables_do_not_share_noise(sanitizer):
    # The tables differ in one row only; with shared noise all other rows would be released alike.
    sanitizer = clone(sanitizer).fit(ADULT)
    other = ADULT.copy()
    other.loc[0, "occupation"] = (
        "Sales" if ADULT.loc[0, "occupation"] != "Sales" else "Tech-support"
    )
    one, two = sanitizer.transform(ADULT), sanitizer.transform(other)
    assert not one[1:].equals(two[1:])
    independent = clone(sanitizer).set_params(random_state=None).fit(ADULT)
    expected = shared(independent.transform(ADULT), independent.transform(ADULT))
    assert shared(one, two) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("state", [7, np.random.default_rng(7), np.random.RandomState(7)], ids=str)
def test_two_mechanisms_do_not_share_noise(state):
    kinds = [
        GRRSanitizer(*PAIR, epsilon=epsilon, output="code", random_state=clone(state, safe=False))
        for epsilon in (0.5, 0.51)
    ]
    one, two = (kind.fit_transform(ADULT)["occupation"] for kind in kinds)
    free = [clone(kind).set_params(random_state=None).fit(ADULT) for kind in kinds]
    expected = shared(*(kind.transform(ADULT)["occupation"] for kind in free))
    assert shared(one, two) == pytest.approx(expected, abs=0.02)


def released_part(sanitizer, part):
    warnings.simplefilter("ignore")
    return sanitizer.transform(part)["occupation"].to_numpy()


def test_clones_copies_and_workers_of_a_generator_do_not_share_noise():
    # All parts hold one value, so that shared noise would show as equal columns.
    n = 4_000
    parts = [
        pd.DataFrame({"relationship": "Husband", "occupation": ["Sales"] * (n + extra)})
        for extra in range(3)
    ]
    sanitizer = GRRSanitizer(
        *PAIR, epsilon=0.5, output="code", random_state=np.random.default_rng(3)
    ).fit(ADULT)
    copies = [sanitizer, pickle.loads(pickle.dumps(sanitizer)), clone(sanitizer).fit(ADULT)]
    direct = [released_part(one, part)[:n] for one, part in zip(copies, parts, strict=True)]
    workers = Parallel(n_jobs=2)(delayed(released_part)(sanitizer, part) for part in parts)
    for first, second in ((0, 1), (1, 2), (0, 2)):
        for columns in (direct, [column[:n] for column in workers]):
            kept = (columns[first] == columns[second]).mean()
            assert kept < 0.999


def test_unary_encoding_does_not_repeat_noise_within_a_table():
    rows = pd.DataFrame({"relationship": "Husband", "occupation": ["Sales"] * (1 << 15)})
    bits = OUESanitizer(*PAIR, epsilon=0.5, random_state=0).fit(ADULT).transform(rows).to_numpy()
    assert (bits[: 1 << 14] != bits[1 << 14 :]).any()


def test_a_seeded_release_is_called_not_private():
    sanitizer = GRRSanitizer(*PAIR, epsilon=0.5, random_state=0).fit(ADULT)
    guarantee = sanitizer.guarantee_
    assert guarantee.holds
    assert not guarantee.secret_randomness
    assert not guarantee.private
    assert str(guarantee).startswith("NOT PRIVATE")
    assert guarantee.to_dict()["private"] is False
    assert "Not private" in report_page(sanitizer)
    with pytest.warns(SeededReleaseWarning, match="not private"):
        sanitizer.transform(ADULT[:5])


def test_without_a_seed_or_without_noise_nothing_is_said_about_seeds():
    for sanitizer in (
        GRRSanitizer(*PAIR, epsilon=0.5),
        SubsetMergingSanitizer(*PAIR, epsilon=0.5, random_state=0),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sanitizer.fit_transform(ADULT)
        assert sanitizer.guarantee_.private
        assert "NOT PRIVATE" not in str(sanitizer.guarantee_)
        assert "Budget met" in report_page(sanitizer)


def test_merging_with_a_seed_draws_for_values_that_fit_has_not_seen():
    sanitizer = SubsetMergingSanitizer(
        *PAIR, epsilon=0.5, handle_unknown="resample", random_state=0
    ).fit(ADULT)
    assert not sanitizer.guarantee_.private
    with pytest.warns(SeededReleaseWarning):
        sanitizer.transform(pd.DataFrame({"occupation": ["new"]}))
