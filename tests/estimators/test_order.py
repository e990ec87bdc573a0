"""``SubsetMergingSanitizer(order="preserve")``: which columns have an order, and labels."""

from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

from skliftpriv import (
    CountedRows,
    ORRSanitizer,
    SubsetMergingSanitizer,
    audit,
    joint_leakage,
    mechanisms,
)
from skliftpriv.exceptions import InvalidParameterError, UnknownCategoryError
from skliftpriv.html import report_page
from skliftpriv.model_selection import tradeoff_curve

# Neither ascending nor descending as text.
LEVELS = ["low", "medium", "high", "top", "beyond"]
N = 4000
RNG = np.random.default_rng(11)
X = RNG.integers(0, 5, N)
S = np.where(RNG.random(N) < np.array([0.5, 0.3, 0.7, 0.45, 0.6])[X], "a", "b")


def ranges(**parameters):
    return SubsetMergingSanitizer("s", "x", order="preserve", epsilon=0.25, **parameters)


def level_columns():
    text = [LEVELS[x] for x in X]
    frame = pd.DataFrame({"s": S, "x": pd.Categorical(text, categories=LEVELS, ordered=True)})
    enum = pl.Series(text, dtype=pl.Enum([*LEVELS, "never"]))
    return {
        "pandas": frame,
        "polars": pl.DataFrame({"s": S, "x": enum}),
        "pyarrow": pa.Table.from_pandas(frame),
        "counts": CountedRows.of(frame, "s", "x"),
    }


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "counts"])
def test_ordered_categories_are_merged_in_their_order(kind):
    sanitizer = ranges().fit(level_columns()[kind])
    assert sanitizer.joint_.useful_labels == tuple(LEVELS)
    expected = mechanisms.subset_merging(sanitizer.joint_, sanitizer.notion_, order="preserve")
    assert sanitizer.channel_ == expected.channel
    assert sanitizer.channel_.outputs == ("low", "{medium to high}", "top", "beyond")
    assert sanitizer.partition_ == [["medium", "high"]]
    assert sanitizer.low_risk_ == ["low", "top", "beyond"]
    assert sanitizer.report_.satisfied


NUMBERS = {
    "int": [7, 8, 9, 10, 11],
    "float": [-2.5, -1.0, 0.0, 1e-3, 2000.0],
    "Decimal": [Decimal(text) for text in ("-1", "2.5", "9", "10", "11")],
    "date": [date(2020, 1, day) for day in (1, 2, 9, 10, 11)],
    "Timestamp": list(pd.to_datetime(["1999-12-31", "2020-01-02", "2020-01-02 01:00",
                                      "2020-01-10", "2021-01-01"], format="ISO8601")),
    "Timedelta": list(pd.to_timedelta([-1, 2, 9, 10, 100], unit="D")),
}  # fmt: skip


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_and_dates_ascend(kind):
    values = NUMBERS[kind]
    frame = pd.DataFrame({"s": S, "x": [values[x] for x in X]})
    sanitizer = ranges().fit(frame)
    assert list(sanitizer.joint_.useful_labels) == values
    assert sanitizer.partition_ == [values[1:3]]
    name = f"{sanitizer.partition_[0][0]} to {sanitizer.partition_[0][1]}"
    assert sanitizer.channel_.outputs[1] == name
    assert set(sanitizer.transform(frame)["x"]) == {str(v) for v in (values[0], name, *values[3:])}


def test_an_array_of_numbers_stays_one_and_keeps_its_order():
    array = np.column_stack([(S == "a").astype(int), X])
    sanitizer = SubsetMergingSanitizer(0, 1, order="preserve", epsilon=0.25)
    released = sanitizer.fit_transform(array)[:, 0]
    assert released.dtype == array.dtype
    assert set(released) in ({0, 1, 3, 4}, {0, 2, 3, 4})
    assert (np.diff(released[np.argsort(X, kind="stable")]) >= 0).all()


def test_codes_ascend_with_the_values():
    frame = level_columns()["pandas"]
    codes = ranges(output="code").fit_transform(frame)["x"].to_numpy()
    np.testing.assert_array_equal(codes, np.array([0, 1, 1, 2, 3])[X])


def test_a_missing_value_comes_last():
    # Missing values lean the other way than the largest value, so the two are merged.
    s = np.repeat(["a", "b", "a", "b", "a", "b"], [500, 500, 70, 30, 30, 70])
    x = np.repeat([1.0, 20.0, np.nan], [1000, 100, 100])
    frame = pd.DataFrame({"s": s, "x": x}).sample(frac=1, random_state=0, ignore_index=True)
    sanitizer = ranges().fit(frame)
    assert sanitizer.joint_.useful_labels == (1.0, 20.0, None)
    assert sanitizer.channel_.outputs == (1.0, "20.0 or missing")
    grades = pd.Categorical(frame["x"].map({1.0: "z", 20.0: "y"}), ["z", "y"], ordered=True)
    assert ranges().fit(frame.assign(x=grades)).channel_.outputs == ("z", "{y or missing}")


def test_batches_add_up_if_they_have_the_same_categories():
    frame = level_columns()["pandas"]
    whole = ranges().fit(frame)
    parts = ranges().partial_fit(frame[:1500]).partial_fit(frame[1500:])
    assert parts.joint_ == whole.joint_
    assert parts.channel_ == whole.channel_
    turned = frame.assign(x=frame["x"].cat.reorder_categories(LEVELS[::-1]))
    with pytest.raises(InvalidParameterError, match="same categories in every batch"):
        ranges().partial_fit(frame[:1500]).partial_fit(turned[1500:])


def test_counted_rows_carry_the_order():
    frame = level_columns()["pandas"]
    table = frame.groupby(["s", "x"], observed=True).size().reset_index(name="n")
    rows = CountedRows.of(table, "s", "x", counts="n")
    assert ranges().fit(rows).channel_ == ranges().fit(frame).channel_
    unordered = CountedRows.of(table.assign(x=table["x"].astype(str)), "s", "x", counts="n")
    with pytest.raises(InvalidParameterError, match="ordered categorical"):
        ranges().fit(unordered)


@pytest.mark.parametrize(
    ("values", "match"),
    [
        (LEVELS, "such as 'beyond', have none"),
        (pd.Categorical(LEVELS), "ordered categorical"),
        ([1, 2, "3", 4, 5], "have none"),
        ([date(2020, 1, 1), 2, 3, 4, 5], "have none"),
    ],
)
def test_values_without_an_order_are_refused(values, match):
    frame = pd.DataFrame({"s": S, "x": pd.Series(values)[X].array})
    with pytest.raises(InvalidParameterError, match=match):
        ranges().fit(frame)
    SubsetMergingSanitizer("s", "x").fit(frame)


def test_several_columns_and_repair_are_refused():
    frame = pd.DataFrame({"s": S, "x": X, "y": X % 2})
    with pytest.raises(InvalidParameterError, match="one useful column, but x, y are 2"):
        SubsetMergingSanitizer("s", ["x", "y"], order="preserve").fit(frame)
    with pytest.raises(InvalidParameterError, match="Leave repair out"):
        ranges(repair=False).fit(frame)
    with pytest.raises(ValueError, match="'order' parameter"):
        SubsetMergingSanitizer("s", "x", order="ascending").fit(frame)


def test_confidence_widens_the_ranges_and_holds():
    frame = pd.DataFrame({"s": S, "x": X})
    sure = ranges(confidence=0.9).fit(frame)
    assert sure.guarantee_.holds
    assert sure.report_.nmi < ranges().fit(frame).report_.nmi


def test_other_tables_match_categories_by_name():
    """They may hold the same values as text, which is sorted differently."""
    frame = level_columns()["pandas"]
    text = frame.astype({"x": str})
    for sanitizer in (ranges(), ORRSanitizer("s", "x", epsilon=0.25)):
        ordered = sanitizer.fit(frame)
        np.testing.assert_array_equal(ordered.encode(frame), ordered.encode(text))
        assert joint_leakage([ordered], frame) == joint_leakage([ordered], text)
    plain = clone(ordered).fit(text)
    assert plain.joint_.useful_labels == tuple(sorted(LEVELS))
    assert plain.report_.nmi == pytest.approx(ordered.report_.nmi, abs=1e-5)
    fixed = ranges().fit(frame)  # draws nothing
    assert str(audit(fixed, frame)) == str(audit(fixed, text))


def test_curves_compare_both():
    frame = pd.DataFrame({"s": S, "x": X})
    both = [SubsetMergingSanitizer("s", "x"), SubsetMergingSanitizer("s", "x", order="preserve")]
    curve = tradeoff_curve(both, frame, [0.02, 0.25, 3.0])
    free, ordered = (part.nmi.to_numpy() for _, part in curve.groupby("mechanism", sort=True))
    assert list(curve.mechanism.unique()) == [
        "SubsetMergingSanitizer(order='ignore')",
        "SubsetMergingSanitizer(order='preserve')",
    ]
    assert curve.satisfied.all()
    assert (np.diff(ordered) >= 0).all()
    assert free[-1] == ordered[-1] == 1.0


DAYS = pd.Timestamp("2020-01-01") + pd.to_timedelta(10 * X, unit="D")


@pytest.mark.parametrize(
    ("values", "new", "expected"),
    [
        (10 * X, [-3, 0, 9, 10.5, 29.9, 35, 1e9], [0, 0, 0, 10, 20, 30, 40]),
        ((10 * X).astype(float), [-np.inf, 14, np.inf], [0, 10, 40]),
        (DAYS, DAYS.min() + pd.to_timedelta([-1, 12, 300], unit="D"), [0, 10, 40]),
    ],
)
def test_new_values_belong_to_the_range_of_the_next_lower_one(values, new, expected):
    sanitizer = ranges().fit(pd.DataFrame({"s": S, "x": values}))
    table = pd.DataFrame({"x": new})
    np.testing.assert_array_equal(sanitizer.encode(table), np.array(expected) // 10)
    seen = pd.DataFrame({"x": pd.Series(values).drop_duplicates().sort_values()})
    as_seen = sanitizer.transform(seen)["x"].to_numpy()[np.array(expected) // 10]
    assert sanitizer.transform(table)["x"].tolist() == as_seen.tolist()
    assert "count as the next lower one seen" in str(sanitizer.guarantee_)
    assert "released like the next lower one" in report_page(sanitizer)


def test_categories_that_never_occurred_have_a_place_by_their_order():
    listed = ["least", *LEVELS[:2], "between", *LEVELS[2:]]
    x = pd.Categorical([LEVELS[x] for x in X], categories=listed, ordered=True)
    sanitizer = ranges().fit(pd.DataFrame({"s": S, "x": x}))
    new = pd.DataFrame({"x": pd.Categorical(["least", "between", "top"], listed, ordered=True)})
    np.testing.assert_array_equal(sanitizer.encode(new), [0, 1, 3])
    with pytest.raises(UnknownCategoryError, match="such as 'other'"):
        sanitizer.transform(pd.DataFrame({"x": ["other"]}))


def test_what_has_no_place_in_the_order_is_refused_or_resampled():
    frame = pd.DataFrame({"s": S, "x": X})
    for strange in ("3", None, pd.Timestamp("2020-01-01")):
        table = pd.DataFrame({"x": pd.Series([1, strange], dtype=object)})
        with pytest.raises(UnknownCategoryError, match="1 value"):
            ranges().fit(frame).transform(table)
        codes = ranges(handle_unknown="resample").fit(frame).encode(table)
        np.testing.assert_array_equal(codes, [1, -1])
    # Which values are seen depends on the rows, so that a confidence set knows nothing of others.
    sure = ranges(confidence=0.9).fit(frame)
    assert "next lower" not in str(sure.guarantee_)
    with pytest.raises(UnknownCategoryError, match=r"such as 1\.5"):
        sure.transform(pd.DataFrame({"x": [1.5]}))
    with pytest.raises(UnknownCategoryError, match=r"such as 1\.5"):
        SubsetMergingSanitizer("s", "x").fit(frame).transform(pd.DataFrame({"x": [1.5]}))
