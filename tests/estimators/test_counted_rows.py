"""Rows that were counted elsewhere are as good as the rows themselves."""

import sqlite3

import numpy as np
import pandas as pd
import polars as pl
import pytest

from skliftpriv import (
    ConditionalReporting,
    CountedRows,
    ORRSanitizer,
    OUESanitizer,
    SRLIPSanitizer,
    SubsetMergingSanitizer,
)
from skliftpriv.datasets import load_adult
from skliftpriv.estimators import shared_counts
from skliftpriv.exceptions import InvalidParameterError, UnprotectedColumnsWarning
from skliftpriv.metrics import audit, audit_columns, audit_counts
from skliftpriv.model_selection import tradeoff_curve
from skliftpriv.notions import LIP

ADULT = load_adult()[["race", "relationship", "sex", "income"]]


def in_sql(*columns):
    """Count the rows of Adult in a database."""
    database = sqlite3.connect(":memory:")
    ADULT.to_sql("adult", database, index=False)
    listed = ", ".join(columns)
    return pd.read_sql(f"SELECT {listed}, COUNT(*) AS n FROM adult GROUP BY {listed}", database)


@pytest.mark.parametrize(
    "sanitizer",
    [
        SubsetMergingSanitizer("race", "relationship", epsilon=0.5),
        SubsetMergingSanitizer("race", "relationship", epsilon=0.5, confidence=0.9),
        SubsetMergingSanitizer("race", ["relationship", "sex"], notion="l1"),
        ORRSanitizer("race", "relationship", epsilon=0.5),
        OUESanitizer("race", "relationship", epsilon=0.5),
        ConditionalReporting("race", "relationship", epsilon=0.5),
        SRLIPSanitizer("income", ["sex", "race"], strategy="product", epsilon=0.5),
    ],
    ids=lambda sanitizer: type(sanitizer).__name__,
)
def test_a_table_counted_in_sql_gives_the_same_fit(sanitizer):
    useful = sanitizer.useful if isinstance(sanitizer.useful, list) else [sanitizer.useful]
    columns = [sanitizer.sensitive, *useful]
    rows = CountedRows.of(in_sql(*columns), sanitizer.sensitive, useful, counts="n")
    one = sanitizer.fit(ADULT[columns]).guarantee_, sanitizer.joint_, sanitizer.channel_
    sanitizer.fit(rows)
    assert sanitizer.guarantee_ == one[0]
    np.testing.assert_array_equal(sanitizer.joint_.masses, one[1].masses)
    if one[2] is not None:
        np.testing.assert_array_equal(sanitizer.channel_.matrix, one[2].matrix)
    assert list(sanitizer.feature_names_in_) == columns
    assert sanitizer.n_features_in_ == len(columns)
    assert sanitizer.transform(ADULT[columns][:5]).shape[0] == 5


def test_parts_add_up():
    cut = [ADULT[:9_000], ADULT[9_000:20_000], ADULT[20_000:]]
    parts = [CountedRows.of(part, "race", "relationship") for part in cut]
    whole = CountedRows.of(ADULT, "race", "relationship")
    added = parts[0] + parts[1] + parts[2]
    assert added.n_rows == whole.n_rows == len(ADULT)
    np.testing.assert_array_equal(added.counts.counts, whole.counts.counts)
    batches = SubsetMergingSanitizer("race", "relationship")
    for part in parts:
        batches.partial_fit(part)
    at_once = SubsetMergingSanitizer("race", "relationship").fit(whole)
    np.testing.assert_array_equal(batches.joint_.masses, at_once.joint_.masses)


def test_counts_come_as_a_column_or_as_numbers():
    table = in_sql("race", "relationship")
    by_name = CountedRows.of(table, "race", counts="n")
    assert by_name.layout.names == ("race", "relationship")
    given = CountedRows.of(table[["race", "relationship"]], "race", counts=table["n"])
    framed = CountedRows.of(pl.from_pandas(table), "race", "relationship", counts="n")
    array = CountedRows.of(table.to_numpy(), 0, 1, counts=2)
    for rows in (given, framed, array):
        np.testing.assert_array_equal(rows.counts.counts, by_name.counts.counts)


def test_columns_may_be_left_out_and_must_not_differ():
    rows = CountedRows.of(ADULT, "race", "relationship")
    assert SubsetMergingSanitizer().fit(rows).guarantee_.columns == ("relationship",)
    assert SubsetMergingSanitizer(0, [1]).fit(rows).guarantee_.sensitive == "race"
    with pytest.raises(InvalidParameterError, match=r"useful='sex', but .* relationship"):
        SubsetMergingSanitizer("race", "sex").fit(rows)
    with pytest.raises(InvalidParameterError, match="sensitive='sex'"):
        tradeoff_curve(SubsetMergingSanitizer("sex", "relationship"), rows, [1.0])
    with pytest.raises(InvalidParameterError, match="leave them out"):
        SubsetMergingSanitizer().fit(rows, sample_weight=[1.0])
    with pytest.raises(InvalidParameterError, match="counted in the same columns"):
        rows + CountedRows.of(ADULT, "race", "sex")


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([1.5, 2.0], "must be whole numbers"),
        ([-1, 2], "counts must be finite and non-negative, but row 0"),
        ([0, 0], "counts is zero for every row"),
        ([1], r"counts.shape == \(1,\), expected \(2,\)"),
        (["a", "b"], "counts must hold numbers"),
        ("m", "counts='m' is not a column of X"),
    ],
)
def test_wrong_counts_are_explained(counts, message):
    table = pd.DataFrame({"s": ["a", "b"], "x": ["c", "d"], "n": [1, 2]})
    with pytest.raises(InvalidParameterError, match=message):
        CountedRows.of(table, "s", "x", counts=counts)


def test_a_fitted_sanitizer_lends_its_counts():
    first = SubsetMergingSanitizer("race", "relationship", epsilon=0.5).fit(ADULT)
    curve = tradeoff_curve(SubsetMergingSanitizer(), first.counted_, [0.5])
    assert curve["nmi"].item() == first.report_.nmi
    result = ORRSanitizer(epsilon=0.5).result_for(first.counted_)
    assert result.nmi >= first.report_.nmi
    one, other = shared_counts([first, ORRSanitizer("race", "relationship")], ADULT)
    assert one is other


def test_an_audit_of_counts_is_that_of_the_rows():
    rows = CountedRows.of(in_sql("sex", "race"), "sex", "race", counts="n")
    counted = audit_counts(rows, LIP(0.5))
    pd.testing.assert_frame_equal(
        counted.to_frame(), audit_columns(ADULT["sex"], ADULT["race"], LIP(0.5)).to_frame()
    )


def test_places_are_those_of_the_table_with_its_counts():
    table = in_sql("race", "relationship", "sex")[["n", "race", "relationship", "sex"]]
    expected = CountedRows.of(table, "race", "relationship", counts="n").counts.counts
    for rows in (
        CountedRows.of(table, 1, 2, counts="n"),
        CountedRows.of(table, np.int64(1), np.int64(2), counts=np.int64(0)),
        CountedRows.of(table.to_numpy(), 1, 2, counts=0),
    ):
        np.testing.assert_array_equal(rows.counts.counts, expected)
        assert rows.layout.sensitive == (0,)
        assert rows.layout.useful == (1,)
    with pytest.raises(InvalidParameterError, match="counts='n' is a sensitive or useful column"):
        CountedRows.of(table, "race", ["sex", "n"], counts="n")
    with pytest.raises(InvalidParameterError, match="No useful column is left"):
        CountedRows.of(table[["race", "n"]], "race", counts="n")


def test_numbers_must_fit_the_rows():
    table = in_sql("race", "relationship")
    with pytest.raises(InvalidParameterError, match="counts has the index of X in another order"):
        CountedRows.of(table, "race", "relationship", counts=table["n"].sample(frac=1))
    with pytest.raises(InvalidParameterError, match="counts has 2 columns"):
        CountedRows.of(table, "race", "relationship", counts=table[["n"]].assign(m=1))


def test_an_audit_refuses_weights_and_leaves_out_what_never_occurs():
    rows = CountedRows.of(in_sql("sex", "race"), "sex", "race", counts="n")
    never = pd.DataFrame({"sex": ["neither"], "race": ["White"], "n": [0]})
    table = pd.concat([in_sql("sex", "race"), never])
    more = CountedRows.of(table, "sex", "race", counts="n")
    assert audit_counts(more, LIP(0.5)).to_dict() == audit_counts(rows, LIP(0.5)).to_dict()
    weighted = SubsetMergingSanitizer("sex", "race").fit(
        ADULT, sample_weight=np.full(len(ADULT), 3.0)
    )
    with pytest.raises(InvalidParameterError, match="counted by weights"):
        audit_counts(weighted.counted_, LIP(0.5))
    with pytest.raises(InvalidParameterError, match="rows must be CountedRows"):
        audit_counts(ADULT, LIP(0.5))


def test_an_order_that_gives_s_away_is_remembered():
    ordered = ADULT.sort_values("sex", ignore_index=True)
    with pytest.warns(UnprotectedColumnsWarning, match="order"):
        SubsetMergingSanitizer("sex", "race").fit(CountedRows.of(ordered, "sex", "race"))


def test_counts_are_not_rows():
    rows = CountedRows.of(ADULT, "sex", "race")
    assert repr(rows) == "CountedRows(32,561 rows, sex (2) x race (5))"
    sanitizer = SubsetMergingSanitizer().fit(rows)
    for call in (sanitizer.transform, sanitizer.encode, lambda X: audit(sanitizer, X)):
        with pytest.raises(InvalidParameterError, match="X is CountedRows"):
            call(rows)
    with pytest.raises(InvalidParameterError, match="rows must be CountedRows"):
        sanitizer.result_for(ADULT)
    with pytest.raises(InvalidParameterError, match="leave them out"):
        tradeoff_curve(sanitizer, rows, [1.0], sensitive_features=[1])
