"""Scores of columns against the report, exact counts and hand-made tables."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose

from skliftpriv import GRRSanitizer, JointDistribution, SubsetMergingSanitizer, measures, metrics
from skliftpriv.datasets import load_adult
from skliftpriv.exceptions import InvalidParameterError

LEAKAGE = {
    "max_log_lift": metrics.max_log_lift_score,
    "min_log_lift": metrics.min_log_lift_score,
    "ldp": metrics.ldp_score,
    "leakage_mutual_information": metrics.leakage_mutual_information_score,
    "maximal_leakage": metrics.maximal_leakage_score,
}
COLUMNS = ["relationship", "occupation"]


def test_released_rows_of_a_deterministic_mechanism_score_as_reported():
    adult = load_adult()[COLUMNS]
    sanitizer = SubsetMergingSanitizer(*COLUMNS, epsilon=0.5).fit(adult)
    # Merging is a function of X, so the rows show the joint of S and Y without noise.
    released = sanitizer.transform(adult)["occupation"]
    for name, score in LEAKAGE.items():
        before, after = getattr(sanitizer.report_.before, name), getattr(sanitizer.report_, name)
        assert_allclose(score(adult["relationship"], adult["occupation"]), before, atol=1e-9)
        assert_allclose(score(adult["relationship"], released), after, atol=1e-9)
    assert_allclose(
        metrics.nmi_score(adult["occupation"], released), sanitizer.report_.nmi, atol=1e-9
    )


def test_weighted_pairs_score_as_the_report_of_a_randomised_mechanism():
    # One row per (s, x, y) with its probability as weight: the sample without any noise.
    joint = JointDistribution.from_counts([[30, 10, 5], [10, 50, 20], [7, 1, 90]])
    rows = pd.DataFrame(
        [(s, x, joint.masses[s, x]) for s in range(3) for x in range(3)], columns=["s", "x", "n"]
    )
    rows = rows.loc[rows.index.repeat(rows["n"].astype(int)), ["s", "x"]]
    sanitizer = GRRSanitizer("s", "x", epsilon=0.4).fit(rows)
    p = joint.matrix[:, :, None] * sanitizer.channel_.matrix[None, :, :]
    s, x, y = (code.ravel() for code in np.indices(p.shape))
    for name, score in LEAKAGE.items():
        expected = getattr(sanitizer.report_, name)
        assert_allclose(score(s, y, sample_weight=p.ravel()), expected, atol=1e-9)
    kept = metrics.nmi_score(x, y, sample_weight=p.ravel())
    assert_allclose(kept, sanitizer.report_.nmi, atol=1e-9)


def test_draws_of_a_randomised_mechanism_score_close_to_the_report():
    rows = load_adult()[["sex", "race"]]
    rows = pd.concat([rows] * 10, ignore_index=True)
    sanitizer = GRRSanitizer("sex", "race", epsilon=0.05, random_state=1).fit(rows)
    released = sanitizer.transform(rows)["race"]
    # 325,610 rows, and every cell has more than 2,000 of them: five standard errors.
    slack = 5 / np.sqrt(2000)
    for name, score in LEAKAGE.items():
        assert_allclose(score(rows["sex"], released), getattr(sanitizer.report_, name), atol=slack)


def test_zero_cells_are_infinitely_revealing():
    s, y = ["u", "u", "v", "v"], ["a", "b", "b", "b"]
    assert metrics.min_log_lift_score(s, y) == -np.inf
    assert metrics.ldp_score(s, y) == np.inf
    assert_allclose(metrics.max_log_lift_score(s, y), np.log(2))
    assert_allclose(metrics.maximal_leakage_score(s, y), np.log(1.5))


def test_independent_columns_leak_nothing():
    s, y = [0, 0, 1, 1], ["a", "b", "a", "b"]
    for score in LEAKAGE.values():
        assert_allclose(score(s, y), 0, atol=1e-15)
    assert metrics.nmi_score(s, y) == 0


def test_missing_values_are_a_category():
    s, y = ["u", None, "u", None], ["a", np.nan, "a", np.nan]
    assert_allclose(metrics.max_log_lift_score(s, y), np.log(2))
    assert metrics.nmi_score(pd.Series(s), pd.Series(y)) == 1
    same = metrics.nmi_score(pl.Series(s), pl.Series(["a", None, "a", None]))
    assert same == 1


def test_weights_count_rows():
    rng = np.random.default_rng(0)
    s, y, weight = rng.integers(3, size=60), rng.integers(4, size=60), rng.integers(0, 4, size=60)
    many = np.repeat(np.arange(60), weight)
    for score in [*LEAKAGE.values(), metrics.nmi_score]:
        assert_allclose(score(s, y, sample_weight=weight), score(s[many], y[many]))


def test_several_columns_are_one_symbol():
    frame = pd.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]})
    parity = frame["a"] ^ frame["b"]
    assert metrics.leakage_mutual_information_score(parity, frame["a"]) == 0
    assert_allclose(metrics.leakage_mutual_information_score(parity, frame), np.log(2))


def test_scores_are_the_measures_of_the_shares():
    rng = np.random.default_rng(1)
    s, y = rng.integers(3, size=200), rng.integers(5, size=200)
    counts = np.zeros((3, 5))
    np.add.at(counts, (s, y), 1)
    assert_allclose(metrics.maximal_leakage_score(s, y), measures.maximal_leakage(counts))
    assert_allclose(metrics.nmi_score(s, y), measures.nmi(counts))


@pytest.mark.parametrize("score", [*LEAKAGE.values(), metrics.nmi_score])
def test_columns_of_different_length_and_bad_weights_are_refused(score):
    with pytest.raises(InvalidParameterError, match="3 rows, but y has 2"):
        score([1, 2, 3], [1, 2])
    with pytest.raises(InvalidParameterError, match="one number per row"):
        score([1, 2], [1, 2], sample_weight=[1])
    with pytest.raises(InvalidParameterError, match="non-negative"):
        score([1, 2], [1, 2], sample_weight=[1, -1])
