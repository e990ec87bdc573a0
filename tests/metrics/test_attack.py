"""The attacker finds what is there, and stays within what the budget allows."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from skliftpriv import (
    ALIP,
    LDP,
    LIP,
    Chi2Lift,
    JointDistribution,
    L1Lift,
    ORRSanitizer,
    OUESanitizer,
    SRRSanitizer,
    SubsetMergingSanitizer,
)
from skliftpriv.datasets import load_adult
from skliftpriv.exceptions import InvalidDistributionError, InvalidParameterError
from skliftpriv.measures import min_entropy_leakage
from skliftpriv.mechanisms import optimal_random_response
from skliftpriv.metrics import attacker_advantage, attacker_advantage_bound
from skliftpriv.notions import SRLIP

COLUMNS = ["relationship", "occupation"]
TRAIN, TEST = load_adult(split="train")[COLUMNS], load_adult(split="test")[COLUMNS]
# Four standard errors on the 16,281 held-out rows. The advantage is a mean of values from -1 to 1,
# so that its standard error is at most 1 / sqrt(n).
SLACK = 4 / np.sqrt(len(TEST))


@pytest.mark.parametrize(
    "sanitizer",
    [
        SubsetMergingSanitizer(*COLUMNS, epsilon=0.5),
        SRRSanitizer(*COLUMNS, epsilon=0.5, random_state=0),
        ORRSanitizer(*COLUMNS, epsilon=0.5, output="posterior", random_state=0),
        OUESanitizer(*COLUMNS, epsilon=0.5, random_state=0),
    ],
    ids=lambda sanitizer: type(sanitizer).__name__,
)
def test_measured_advantage_on_held_out_rows_is_within_the_bound(sanitizer):
    sanitizer.fit(TRAIN)
    released = sanitizer.transform(TEST)
    gain = attacker_advantage(TEST["relationship"], released, random_state=0, cv=3)
    bound = attacker_advantage_bound(sanitizer.notion_, sanitizer.joint_.p_s)
    assert bound < 0.25
    assert gain <= bound + SLACK


def test_attacker_has_the_power_to_break_a_bound_that_does_not_hold():
    # Relationship tells marital status so well that the raw column breaks the same bound.
    columns = ["marital-status", "relationship"]
    train, test = (load_adult(split=split)[columns] for split in ("train", "test"))
    sanitizer = ORRSanitizer(*columns, epsilon=0.5, random_state=0).fit(train)
    bound = attacker_advantage_bound(sanitizer.notion_, sanitizer.joint_.p_s)
    s = test["marital-status"]
    raw = attacker_advantage(s, test["relationship"], random_state=0)
    safe = attacker_advantage(s, sanitizer.transform(test)["relationship"], random_state=0)
    assert safe <= bound + SLACK < raw
    # A weaker column breaks the bound of a smaller budget.
    tiny = attacker_advantage_bound(LIP(0.01), TRAIN["relationship"].value_counts())
    weak = attacker_advantage(TEST["relationship"], TEST["occupation"], random_state=0)
    assert weak > tiny + SLACK


def test_default_attacker_reaches_the_optimum_of_the_joint():
    # The best guess succeeds with exp(min-entropy leakage) times the prior's success.
    joint = JointDistribution.from_frame(TEST, *COLUMNS)
    best = joint.p_s.max() * np.expm1(float(min_entropy_leakage(joint.matrix)))
    raw = attacker_advantage(TEST["relationship"], TEST["occupation"], random_state=0)
    assert abs(raw - best) < 0.01


def test_everything_and_nothing():
    s = np.repeat([0, 1, 1], 100)
    assert np.isclose(attacker_advantage(s, s), 1 / 3)
    assert np.isclose(attacker_advantage(s, np.zeros(300)), 0)
    assert attacker_advantage(np.zeros(10), np.arange(10)) == 0


def test_columns_that_reveal_only_together():
    rng = np.random.default_rng(0)
    a, b = rng.integers(2, size=(2, 2000))
    frame = pd.DataFrame({"a": a, "b": b})
    assert attacker_advantage(a ^ b, frame, random_state=0) > 0.45
    assert attacker_advantage(a ^ b, frame["a"], random_state=0) < 0.06


def test_many_different_rows_are_attacked_column_by_column():
    rng = np.random.default_rng(0)
    s = rng.integers(2, size=2000)
    bits = (rng.random((2000, 14)) < 0.4 + 0.2 * s[:, None]).astype(int)
    one = attacker_advantage(s, bits[:, 0], random_state=0)
    assert attacker_advantage(s, bits, random_state=0) > one + 0.1


def test_any_container_and_a_rare_value():
    s = ["u"] * 50 + [None] * 50 + ["w"]  # one row only: no fold can be stratified by it
    y = ["a"] * 50 + [None] * 50 + ["b"]
    expected = attacker_advantage(s, y, random_state=0)
    assert expected > 0.45
    for Y in (pd.Series(y), pl.Series(y), pl.DataFrame({"y": y}), np.array(y, object)[:, None]):
        assert attacker_advantage(pd.Series(s), Y, random_state=0) == expected


def test_own_attacker_and_own_folds():
    s = np.repeat(["u", "v"], 50)
    tree = make_pipeline(OneHotEncoder(handle_unknown="ignore"), DecisionTreeClassifier())
    for Y in (list(s), pd.Series(s), pd.DataFrame({"y": s}), s):
        assert attacker_advantage(s, Y, estimator=tree) == 0.5
    assert attacker_advantage(s, s, estimator=DummyClassifier()) <= 0
    with pytest.raises(ValueError, match="partitions"):
        attacker_advantage(s, s, cv=ShuffleSplit(3))
    with pytest.raises(InvalidParameterError, match="s has 100 rows, but Y has 99"):
        attacker_advantage(s, s[1:])


# ---- weights


def flipped_rows(n_columns=1):
    """Rows in which Y is S and rows in which it is not, so that weights decide what is learnt."""
    rng = np.random.default_rng(0)
    s, honest = rng.integers(2, size=600), np.arange(600) < 300
    y = np.where(honest, s, 1 - s)
    columns = [y, *rng.integers(2, size=(n_columns - 1, 600))]
    return s, np.column_stack(columns), honest


# Twelve columns have more different rows than can be learnt one by one: logistic regression.
@pytest.mark.parametrize("n_columns", [1, 12])
def test_weights_decide_what_the_attacker_learns_and_is_paid_for(n_columns):
    s, Y, honest = flipped_rows(n_columns)
    assert attacker_advantage(s, Y, random_state=0) < 0.1
    weight = np.where(honest, 4.0, 1.0)
    # Whoever believes Y is right on the four fifths of the weight that the honest rows have.
    prior = np.bincount(s, weights=weight).max() / weight.sum()
    gain = attacker_advantage(s, Y, random_state=0, sample_weight=weight)
    assert gain == pytest.approx(0.8 - prior, abs=1e-12)
    # The scale of the weights means nothing, in spite of pseudo-counts and penalties.
    tiny = attacker_advantage(s, Y, random_state=0, sample_weight=weight * 2.0**-30)
    assert tiny == pytest.approx(gain, abs=1e-12)


def test_weights_of_one_change_nothing_and_of_zero_remove_rows():
    s, y = TEST["relationship"].iloc[:2000], TEST["occupation"].iloc[:2000]
    expected = attacker_advantage(s, y, random_state=0)
    assert attacker_advantage(s, y, random_state=0, sample_weight=np.ones(2000)) == expected
    s, Y, honest = flipped_rows()
    folds = KFold(5, shuffle=True, random_state=0)
    alone = attacker_advantage(s[honest], Y[honest], random_state=0)
    gain = attacker_advantage(s, Y, cv=folds, sample_weight=honest)
    assert gain == pytest.approx(alone, abs=1e-12)
    # A single sensitive value has all the weight: nothing is left to be guessed.
    assert attacker_advantage(s, Y, sample_weight=s == 1) == 0


def test_weights_of_an_own_attacker_and_under_metadata_routing():
    s, Y, honest = flipped_rows()
    weight = np.where(honest, 4.0, 1.0)
    expected = attacker_advantage(s, Y, random_state=0, sample_weight=weight)
    tree = DecisionTreeClassifier(random_state=0)
    options = {"random_state": 0, "sample_weight": weight}
    assert attacker_advantage(s, Y, estimator=tree, **options) == pytest.approx(expected)
    with config_context(enable_metadata_routing=True):
        assert attacker_advantage(s, Y, **options) == expected
        tree.set_fit_request(sample_weight=True)
        assert attacker_advantage(s, Y, estimator=tree, **options) == pytest.approx(expected)


def test_wrong_weights_are_refused():
    s, Y, _ = flipped_rows()
    with pytest.raises(InvalidParameterError, match="one number per row"):
        attacker_advantage(s, Y, sample_weight=np.ones(5))
    with pytest.raises(InvalidParameterError, match="non-negative"):
        attacker_advantage(s, Y, sample_weight=-np.ones(600))


# ---- the bound

PRIORS = st.lists(st.floats(0.02, 1.0), min_size=2, max_size=4)


@given(PRIORS, st.floats(0.05, 3.0), st.floats(0.05, 3.0), st.integers(0, 2**32 - 1))
def test_no_release_within_a_band_gains_more_than_the_bound(weights, lower, upper, seed):
    p_s = np.array(weights) / np.sum(weights)
    # Any joint, mixed with independence until its lifts are within the band.
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(4, 0.3), size=p_s.size)
    joint = p_s[:, None] * shares
    lift = shares / joint.sum(axis=0)
    up, down = lift.max() - 1, 1 - lift.min()
    mix = min(1.0, np.expm1(upper) / up, -np.expm1(-lower) / down)
    joint = mix * joint + (1 - mix) * np.outer(p_s, joint.sum(axis=0))
    gain = joint.max(axis=0).sum() - p_s.max()
    assert gain <= attacker_advantage_bound(ALIP(lower, upper), p_s) + 1e-12


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 2.0])
def test_bound_is_attained_for_two_equally_likely_values(epsilon):
    joint = JointDistribution.from_counts([[1, 0], [0, 1]])
    result = optimal_random_response(joint, LIP(epsilon))
    p_sy = joint.released(result.channel.matrix)
    gain = p_sy.max(axis=0).sum() - 0.5
    assert np.isclose(gain, attacker_advantage_bound(LIP(epsilon), [1, 1]), atol=1e-6)


def test_bound_is_within_each_of_its_parts_and_grows_with_the_budget():
    p_s = [0.6, 0.3, 0.1]
    bounds = [attacker_advantage_bound(LIP(epsilon), p_s) for epsilon in (0.1, 0.5, 1, 3, 1000)]
    assert bounds == sorted(bounds)
    assert bounds[0] <= 0.6 * np.expm1(0.1)
    assert np.isclose(bounds[-1], 0.4)
    assert attacker_advantage_bound(LIP(1e-300), p_s) == 0
    # LDP bounds the ratio of two lifts and so less than both of them.
    assert attacker_advantage_bound(LDP(0.5), p_s) < attacker_advantage_bound(LIP(0.5), p_s)
    for notion in (L1Lift(0.1, 0.1), Chi2Lift(0.1, 0.1)):
        assert 0 < attacker_advantage_bound(notion, p_s) < 0.4


def test_bound_refuses_what_it_cannot_answer():
    with pytest.raises(InvalidParameterError, match="SRLIP"):
        attacker_advantage_bound(SRLIP(0.5), [0.5, 0.5])
    with pytest.raises(InvalidDistributionError, match="no mass"):
        attacker_advantage_bound(LIP(0.5), [0, 0])
