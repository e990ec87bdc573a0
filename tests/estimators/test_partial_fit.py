"""Batches add up to one fit on all rows."""

from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest

from skliftpriv import SubsetMergingSanitizer, WatchdogSanitizer
from skliftpriv.exceptions import InvalidParameterError

from .samples import make_codes, make_frame

S, X = make_codes()
FRAME = make_frame()
WHOLE = SubsetMergingSanitizer("s", "x", epsilon=0.5).fit(FRAME)


def fit_batches(*batches, **parameters):
    sanitizer = SubsetMergingSanitizer("s", "x", **{"epsilon": 0.5, **parameters})
    for batch in batches:
        sanitizer.partial_fit(batch)
    return sanitizer


def assert_same_fit(first, second):
    assert first.joint_ == second.joint_
    assert first.channel_ == second.channel_
    assert first.report_.to_dict() == second.report_.to_dict()
    assert first.guarantee_ == second.guarantee_


@pytest.mark.parametrize("cuts", [[200], [10, 11, 300], [399]])
def test_batches_equal_one_fit(cuts):
    edges = [0, *cuts, 400]
    batches = [FRAME[a:b] for a, b in pairwise(edges)]
    assert_same_fit(fit_batches(*batches), WHOLE)


def test_one_batch_equals_fit():
    assert_same_fit(fit_batches(FRAME), WHOLE)


def test_partial_fit_goes_on_from_fit_and_fit_starts_anew():
    continued = SubsetMergingSanitizer("s", "x", epsilon=0.5).fit(FRAME[:150])
    assert_same_fit(continued.partial_fit(FRAME[150:]), WHOLE)
    assert_same_fit(continued.fit(FRAME), WHOLE)


def test_new_categories_in_a_later_batch_are_added():
    first = FRAME[FRAME["x"].isin(["b", "e"]) & FRAME["s"].isin(["v", "w"])]
    later = FRAME.drop(first.index)
    sanitizer = fit_batches(first)
    assert sanitizer.joint_.shape == (2, 2)
    assert_same_fit(sanitizer.partial_fit(later), WHOLE)


def test_missing_values_in_a_later_batch_are_added():
    holes = FRAME.copy()
    holes.loc[300:, "x"] = None
    whole = SubsetMergingSanitizer("s", "x", epsilon=0.5).fit(holes)
    assert None in whole.joint_.useful_labels
    assert_same_fit(fit_batches(holes[:300], holes[300:]), whole)


def test_columns_may_change_their_order_between_batches():
    assert_same_fit(fit_batches(FRAME[:100], FRAME.loc[100:, ["x", "s"]]), WHOLE)


def test_batches_may_come_from_different_libraries():
    assert_same_fit(fit_batches(FRAME[:100], pl.DataFrame(FRAME[100:])), WHOLE)


def test_array_batches_equal_one_fit():
    table = np.column_stack([S, X])
    whole = SubsetMergingSanitizer(0, 1).fit(table)
    batches = SubsetMergingSanitizer(0, 1).partial_fit(table[:50]).partial_fit(table[50:])
    assert_same_fit(batches, whole)


def test_whole_numbers_that_become_floats_beside_missing_values_are_the_same_symbols():
    first = pd.DataFrame({"s": S[:200], "x": X[:200]})
    second = pd.DataFrame({"s": S[200:], "x": np.where(X[200:] == 0, np.nan, X[200:])})
    labels = fit_batches(first, second).joint_.useful_labels
    assert labels == (0, 1, 2, 3, 4, 5, None)


def test_sensitive_features_and_weights_add_up():
    weight = 1.0 + np.arange(400) % 3
    whole = WatchdogSanitizer(useful="x")
    whole.fit(FRAME, sensitive_features=FRAME["s"], sample_weight=weight)
    batches = WatchdogSanitizer(useful="x")
    for part in (slice(0, 100), slice(100, 400)):
        batches.partial_fit(
            FRAME[part], sensitive_features=FRAME["s"][part], sample_weight=weight[part]
        )
    assert_same_fit(batches, whole)


def test_source_of_the_sensitive_values_cannot_change():
    message = "sensitive_features= in all batches or in none"
    with pytest.raises(InvalidParameterError, match=message):
        fit_batches(FRAME).partial_fit(FRAME, sensitive_features=FRAME["s"])
    given = SubsetMergingSanitizer().partial_fit(FRAME[["x"]], sensitive_features=FRAME["s"])
    with pytest.raises(InvalidParameterError, match=message):
        given.partial_fit(FRAME[["x"]])


def test_sensitive_column_may_not_be_missing_from_a_batch():
    with pytest.raises(InvalidParameterError, match="yet now missing:\n- s"):
        fit_batches(FRAME).partial_fit(FRAME[["x"]])


@pytest.mark.parametrize(
    "batch",
    [FRAME[["x"]], FRAME.assign(x=[[1]] * 400), FRAME.iloc[:0]],
    ids=["no S", "no categories", "no rows"],
)
def test_failed_batch_is_not_counted(batch):
    sanitizer = fit_batches(FRAME[:300])
    with pytest.raises(InvalidParameterError):
        sanitizer.partial_fit(batch)
    assert_same_fit(sanitizer.partial_fit(FRAME[300:]), WHOLE)


def test_parameters_may_change_between_batches():
    sanitizer = fit_batches(FRAME[:300], epsilon=5.0)
    assert_same_fit(sanitizer.set_params(epsilon=0.5).partial_fit(FRAME[300:]), WHOLE)


def test_columns_may_not_change_between_batches():
    sanitizer = fit_batches(FRAME[:300])
    with pytest.raises(InvalidParameterError, match=r"sensitive, useful of .* changed after fit"):
        sanitizer.set_params(sensitive="x", useful="s").partial_fit(FRAME[300:])
