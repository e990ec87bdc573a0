"""Every mistake is answered with a message that names it and says what to do."""

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError

from skliftpriv import SubsetMergingSanitizer, WatchdogSanitizer
from skliftpriv.exceptions import (
    InvalidParameterError,
    SizeLimitError,
    SkliftprivError,
    UnknownCategoryError,
    UnsupportedNotionError,
)

from .samples import make_codes, make_frame

S, X = make_codes()
FRAME = make_frame()
HUGE = pd.Series([10**5000, 1] * 200, dtype=object)  # pandas 2 fails on a plain list
KINDS = [SubsetMergingSanitizer, WatchdogSanitizer]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("sensitive", "useful", "message"),
    [
        ("nope", "x", r"sensitive='nope' is not a column of X\. Columns: 's', 'x'"),
        ("s", "nope", r"useful='nope' is not a column of X\. Columns: 's', 'x'"),
        (2, "x", "sensitive=2 is out of range: X has 2 columns"),
        (-3, "x", "sensitive=-3 is out of range"),
        ("s", "s", "'s' is both sensitive and useful"),
        ("s", ["x", 0], "'s' is both sensitive and useful"),
        ("s", ["x", 1], "useful names the column 'x' twice"),
        ("s", [], "useful is an empty list: name at least one"),
        ("s", 1.5, "useful must be a column name or index, not 1.5"),
        ("s", True, "useful must be a column name or index, not True"),
        (True, "x", "sensitive must be a column name or index, not True"),
        ([], "x", "sensitive is an empty list: name at least one"),
        (["s", "s"], "x", "sensitive names the column 's' twice"),
        (["s", "x"], "x", "'x' is both sensitive and useful"),
        (None, "x", "set sensitive= .* or pass sensitive_features="),
    ],
)
def test_wrong_columns_are_named(kind, sensitive, useful, message):
    with pytest.raises(InvalidParameterError, match=message):
        kind(sensitive, useful).fit(FRAME)


def test_long_lists_of_columns_are_cut():
    frame = pd.DataFrame(np.zeros((3, 30)), columns=[f"c{i}" for i in range(30)])
    with pytest.raises(InvalidParameterError, match=r"'c11', \.\.\. \(30 in all\)"):
        SubsetMergingSanitizer("nope").fit(frame)


def test_name_for_an_array_says_to_use_an_index():
    with pytest.raises(InvalidParameterError, match="sensitive='s' is a name, but X is an array"):
        SubsetMergingSanitizer("s", 1).fit(FRAME.to_numpy())


def test_number_that_is_the_name_of_another_column_is_refused():
    with pytest.raises(InvalidParameterError, match="sensitive=0 is the index of one column"):
        SubsetMergingSanitizer(0, 1).fit(FRAME.set_axis([1, 0], axis=1))


def test_frame_with_the_sensitive_column_only_has_nothing_useful():
    with pytest.raises(InvalidParameterError, match="No useful column is left"):
        SubsetMergingSanitizer("s").fit(FRAME[["s"]])


@pytest.mark.parametrize("kind", KINDS)
def test_constant_sensitive_column_is_named_with_its_value(kind):
    with pytest.raises(InvalidParameterError, match="sensitive column s has only one value, 'u'"):
        kind("s", "x").fit(FRAME[FRAME["s"] == "u"])
    with pytest.raises(InvalidParameterError, match="sensitive_features has only one value, 1"):
        kind(useful="x").fit(FRAME, sensitive_features=np.ones(400, int))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "epsilon",
    [-1e-9, -1, np.nan, np.inf, "1", None, Fraction(1, 2), 10**400, np.array([1.0, 2.0])],
    ids=str,
)
@pytest.mark.parametrize("notion", ["lip", "alip"])
def test_epsilon_outside_its_domain_is_refused(kind, notion, epsilon):
    with pytest.raises(ValueError, match=r"'epsilon' parameter of .* must be a float in the range"):
        kind("s", "x", notion=notion, epsilon=epsilon).fit(FRAME)


@pytest.mark.parametrize("notion", ["alip", "l1", "chi2", "alpha"])
@pytest.mark.parametrize(
    "pair", [(-1, 1), (1, -0.5), (0.5, np.nan), (np.inf, 1), ("a", 1), (1, None)]
)
def test_both_numbers_of_a_pair_must_be_finite_and_not_negative(notion, pair):
    with pytest.raises(InvalidParameterError, match=r"epsilon=\(.*\): both budgets of a pair"):
        SubsetMergingSanitizer("s", "x", notion=notion, epsilon=pair).fit(FRAME)


@pytest.mark.parametrize("epsilon", [(1,), [1, 2, 3], ()])
def test_pair_must_have_two_numbers(epsilon):
    with pytest.raises(InvalidParameterError, match=r"a number or a pair \(lower, upper\)"):
        SubsetMergingSanitizer("s", "x", notion="alip", epsilon=epsilon).fit(FRAME)


@pytest.mark.parametrize("notion", ["lip", "ldp"])
def test_pair_for_a_symmetric_notion_points_to_alip(notion):
    with pytest.raises(InvalidParameterError, match=f"notion='{notion}' takes one number.*alip"):
        SubsetMergingSanitizer("s", "x", notion=notion, epsilon=(1, 2)).fit(FRAME)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("lam", value) for value in (0, 1, -0.1, np.nan, "half")),
        *(("alpha", value) for value in (1, 0, np.nan, np.inf, "2")),
        *(("smoothing", value) for value in (-1, np.nan, np.inf, None)),
        *(("delta", value) for value in (1, -0.1, np.nan)),
        *(("epsilon_max", value) for value in (0, np.nan, np.inf, "1")),
        *(("random_state", value) for value in (-1, "seed", 0.5)),
        ("notion", "dp"),
        ("output", "labels"),
        ("remainder", "keep"),
        ("handle_unknown", "ignore"),
        ("randomization", "none"),
        ("repair", 1),
    ],
)
def test_parameter_outside_its_domain_is_named_with_its_value(name, value):
    sanitizer = WatchdogSanitizer("s", "x").set_params(**{name: value})
    with pytest.raises(
        ValueError, match=f"'{name}' parameter of WatchdogSanitizer must be"
    ) as info:
        sanitizer.fit(FRAME)
    assert repr(value) in str(info.value)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"epsilon_max": 2.0}, InvalidParameterError, "epsilon_max needs delta > 0"),
        ({"delta": 0.1, "epsilon_max": 0.5}, InvalidParameterError, "must not be below epsilon"),
        ({"delta": 0.1, "epsilon_max": (1, 2)}, InvalidParameterError, "takes one number"),
        (
            {"delta": 0.1, "epsilon_max": (1, np.nan), "notion": "alip"},
            InvalidParameterError,
            r"epsilon_max=\(1, nan\): both budgets of a pair",
        ),
        ({"delta": 0.1, "notion": "ldp"}, UnsupportedNotionError, "is for LIP and ALIP"),
        ({"delta": 0.1, "notion": "l1"}, UnsupportedNotionError, "is for LIP and ALIP"),
    ],
)
def test_parts_of_the_relaxation_must_fit_together(options, error, message):
    with pytest.raises(error, match=message):
        WatchdogSanitizer("s", "x", **options).fit(FRAME)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.zeros(400), "sample_weight is zero for every row"),
        (np.r_[-1.0, np.ones(399)], "row 0 has -1.0"),
        (np.r_[1.0, np.nan, np.ones(398)], "row 1 has nan"),
        (np.r_[np.ones(399), np.inf], "row 399 has inf"),
        (np.ones(399), r"sample_weight.shape == \(399,\), expected \(400,\)"),
        (np.ones((400, 1)), r"sample_weight.shape == \(400, 1\)"),
        (2.0, r"sample_weight.shape == \(\)"),
        (["heavy"] * 400, "sample_weight must hold numbers"),
    ],
)
def test_wrong_weights_are_located(weight, message):
    with pytest.raises(InvalidParameterError, match=message):
        SubsetMergingSanitizer("s", "x").fit(FRAME, sample_weight=weight)


@pytest.mark.parametrize(
    ("sensitive", "message"),
    [
        (["u", "v"], "sensitive_features has 2 rows, but X has 400"),
        (pl.LazyFrame({"s": [1]}), r"sensitive_features is a lazy frame; call collect\(\)"),
        (
            pd.DataFrame([[1, 2]], columns=["s", "s"]),
            "2 columns of sensitive_features are called 's'",
        ),
        (pd.Series([[1]] * 400, name="s"), "The column 's' holds values that are not categories"),
        (np.zeros((400, 1, 1)), "dim 3"),
    ],
)
def test_wrong_sensitive_features_are_explained(sensitive, message):
    with pytest.raises(ValueError, match=message):
        SubsetMergingSanitizer(useful="x").fit(FRAME, sensitive_features=sensitive)


def test_sensitive_column_given_twice_is_refused():
    with pytest.raises(InvalidParameterError, match="Both sensitive='s' and sensitive_features="):
        SubsetMergingSanitizer("s", "x").fit(FRAME, sensitive_features=FRAME["s"])


@pytest.mark.parametrize(
    ("table", "error", "message"),
    [
        (pl.LazyFrame({"s": [], "x": []}), ValueError, "0 sample"),
        (FRAME["x"], ValueError, "X is a single column"),
        (pl.Series(["a"]), ValueError, "X is a single column"),
        (FRAME["x"].to_numpy(), ValueError, "Expected 2D array"),
        (csr_array(np.column_stack([S, X])), TypeError, "Sparse data was passed"),
        (pd.concat([FRAME, FRAME], axis=1), ValueError, "2 columns of X are called"),
        (FRAME.iloc[:0], ValueError, "0 sample"),
        (pd.DataFrame(index=range(3)), ValueError, r"0 feature\(s\)"),
        (FRAME.set_axis([0, "x"], axis=1), ValueError, "are strings, but 0 is not"),
        (FRAME.assign(x=[[1]] * 400), ValueError, "The column 'x' .*unhashable"),
        (FRAME.assign(x=[("a", 1)] * 400), ValueError, "The column 'x' holds tuples"),
        (FRAME.assign(s=HUGE), ValueError, "'s' holds (whole|.*too large)"),
        (pl.DataFrame({"s": ["u"], "x": [[1]]}), ValueError, r"The column 'x' .*List"),
        (pl.DataFrame({"s": ["u"], "x": [{"a": 1}]}), ValueError, r"The column 'x' .*Struct"),
        (np.array([["u", "v"], [{}, {}]], dtype=object).T, ValueError, "unhashable"),
    ],
)
def test_wrong_tables_are_explained(table, error, message):
    with pytest.raises(error, match=message):
        SubsetMergingSanitizer(0, 1).fit(table)


@pytest.mark.parametrize("kind", KINDS)
def test_unseen_value_is_named_with_its_column_and_a_way_out(kind):
    sanitizer = kind("s", "x").fit(FRAME)
    frame = pd.DataFrame({"x": ["a", "zz", None, "zz"]})
    with pytest.raises(UnknownCategoryError) as info:
        sanitizer.transform(frame)
    message = str(info.value)
    assert message.startswith("x: 2 value(s) not seen at fit")
    assert "'zz', None, in 3 row(s)" in message
    assert "handle_unknown='resample'" in message


def test_unseen_combination_of_seen_values_is_unknown():
    sanitizer = SubsetMergingSanitizer("s", ["x", "t"]).fit(FRAME.assign(t=X % 2))
    with pytest.raises(UnknownCategoryError, match=r"x, t: 1 value\(s\) .*\('a', 1\)"):
        sanitizer.transform(pd.DataFrame({"x": ["a"], "t": [1]}))


def test_number_of_array_columns_must_match():
    sanitizer = SubsetMergingSanitizer(0, 1).fit(FRAME.to_numpy())
    with pytest.raises(InvalidParameterError, match=r"X has 1 features, but .* is expecting 2"):
        sanitizer.transform(FRAME[["x"]].to_numpy())


@pytest.mark.parametrize("method", ["transform", "get_feature_names_out"])
def test_use_before_fit_is_refused(method):
    arguments = [FRAME] if method == "transform" else []
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(SubsetMergingSanitizer("s", "x"), method)(*arguments)


def test_wrong_names_for_the_output_are_refused():
    with pytest.raises(ValueError, match="input_features is not equal to feature_names_in_"):
        SubsetMergingSanitizer("s", "x").fit(FRAME).get_feature_names_out(["a", "b"])
    with pytest.raises(ValueError, match="should have length equal"):
        SubsetMergingSanitizer(0, 1).fit(FRAME.to_numpy()).get_feature_names_out(["a"])


FAILURES = {
    "parameter": ({"epsilon": -1.0}, FRAME),
    "notion": ({"notion": "lip", "epsilon": (1.0, 2.0)}, FRAME),
    "column": ({"sensitive": "nope"}, FRAME.assign(z=0)),
    "constant": ({}, FRAME.assign(s="u", z=0)),
    "names": ({"sensitive": 0, "useful": 1}, FRAME.set_axis([0, "x"], axis=1)),
    "values": ({}, FRAME.assign(x=[[1]] * 400, z=0)),
    "relaxation": ({"epsilon_max": 2.0}, FRAME.assign(z=0)),
}


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_failed_fit_leaves_no_trace(failure, method):
    parameters, table = FAILURES[failure]
    sanitizer = WatchdogSanitizer("s", "x").set_params(**parameters)
    before = set(vars(sanitizer))
    with pytest.raises((SkliftprivError, ValueError, TypeError)):
        getattr(sanitizer, method)(table)
    assert set(vars(sanitizer)) == before


@pytest.mark.parametrize("failure", FAILURES)
def test_failed_refit_keeps_the_old_fit(failure):
    parameters, table = FAILURES[failure]
    sanitizer = WatchdogSanitizer("s", "x").fit(FRAME)
    sanitizer.set_params(**parameters)
    before = dict(vars(sanitizer))
    with pytest.raises((SkliftprivError, ValueError, TypeError)):
        sanitizer.fit(table)
    assert vars(sanitizer).keys() == before.keys()
    assert all(vars(sanitizer)[name] is value for name, value in before.items())


def test_refit_forgets_the_names_of_the_old_fit():
    sanitizer = SubsetMergingSanitizer(0, 1).fit(FRAME)
    sanitizer.fit(FRAME.to_numpy())
    assert not hasattr(sanitizer, "feature_names_in_")
    assert list(sanitizer.get_feature_names_out()) == ["x1"]


def test_sensitive_values_in_another_order_are_refused():
    frame = make_frame()
    shuffled = frame["s"].sample(frac=1, random_state=0)
    with pytest.raises(InvalidParameterError, match="in another order"):
        SubsetMergingSanitizer().fit(frame[["x"]], sensitive_features=shuffled)
    weight = pd.Series(1.0, index=shuffled.index)
    with pytest.raises(InvalidParameterError, match="sample_weight has the index of X in another"):
        SubsetMergingSanitizer("s", "x").fit(frame, sample_weight=weight)
    # An index of its own says nothing, as everywhere in scikit-learn.
    SubsetMergingSanitizer().fit(frame[["x"]], sensitive_features=frame["s"].to_numpy())


def test_the_guarantee_says_that_counts_were_smoothed():
    frame = make_frame()
    smoothed = SubsetMergingSanitizer("s", "x", smoothing=10).fit(frame)
    assert "adds 10 row(s) to every cell" in str(smoothed.guarantee_)
    assert "to every cell" not in str(SubsetMergingSanitizer("s", "x").fit(frame).guarantee_)


def test_posteriors_of_too_many_rows_are_refused_before_they_are_made():
    values = np.arange(3_000) % 1_500
    frame = pd.DataFrame({"s": values % 2, "x": values})
    sanitizer = SubsetMergingSanitizer("s", "x", epsilon=5.0, output="posterior").fit(frame)
    with pytest.raises(SizeLimitError, match="A posterior has a number per row and value"):
        sanitizer.transform(pd.DataFrame({"x": np.zeros(100_000, dtype=int)}))
