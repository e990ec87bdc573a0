"""Every kind of table and column that may come in."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skliftpriv import SubsetMergingSanitizer, WatchdogSanitizer

from .samples import LETTERS, group_of, make_codes, make_frame

S, X = make_codes()
FRAME = make_frame()
DAYS = pd.Timestamp("2020-01-01") + pd.to_timedelta(X, unit="D")

PANDAS_COLUMNS = {
    "object": (FRAME["x"].astype(object), list(LETTERS)),
    "str": (FRAME["x"].astype("str"), list(LETTERS)),
    "string[python]": (FRAME["x"].astype("string[python]"), list(LETTERS)),
    "string[pyarrow]": (FRAME["x"].astype("string[pyarrow]"), list(LETTERS)),
    "category": (FRAME["x"].astype(pd.CategoricalDtype(list("gfedcba"))), list(LETTERS)),
    "int64": (pd.Series(X), [0, 1, 2, 3, 4, 5]),
    "bool": (pd.Series(X > 1), [False, True]),
    "Int64": (pd.Series(X, dtype="Int64").mask(X == 2), [0, 1, 3, 4, 5, None]),
    "boolean": (pd.Series(X > 1, dtype="boolean").mask(X == 5), [False, True, None]),
    "float64": (pd.Series(X / 2).mask(X == 2), [0.0, 0.5, 1.5, 2.0, 2.5, None]),
    "datetime64": (
        pd.Series(DAYS).mask(X == 2),
        [*DAYS[[*map(list(X).index, [0, 1, 3, 4, 5])]], None],
    ),
    "timedelta64": (pd.Series(pd.to_timedelta(X, unit="D")), list(pd.to_timedelta(range(6), "D"))),
    "arrow": (FRAME["x"].astype(pd.ArrowDtype(pa.string())), list(LETTERS)),
}


@pytest.mark.parametrize("kind", PANDAS_COLUMNS)
def test_pandas_column_of_any_type_is_read_and_released_as_text(kind):
    column, symbols = PANDAS_COLUMNS[kind]
    frame = pd.DataFrame({"s": FRAME["s"], "x": column})
    sanitizer = SubsetMergingSanitizer("s", "x", epsilon=0.5).fit(frame)
    assert list(sanitizer.joint_.useful_labels) == symbols
    assert sanitizer.transform(frame)["x"].dtype == pd.Series(["text"]).dtype


@pytest.mark.parametrize("kind", PANDAS_COLUMNS)
def test_sensitive_column_of_any_type_is_read(kind):
    column, symbols = PANDAS_COLUMNS[kind]
    frame = pd.DataFrame({"s": column, "x": FRAME["x"]})
    sanitizer = WatchdogSanitizer("s", "x", notion="l1").fit(frame)
    assert list(sanitizer.joint_.sensitive_labels) == symbols


LETTERS_WITH_HOLES = [None if x == 2 else LETTERS[x] for x in X]
POLARS_COLUMNS = {
    "String": (pl.Series(FRAME["x"].to_list()), list(LETTERS)),
    "nulls": (pl.Series(LETTERS_WITH_HOLES), [*"abdef", None]),
    "Categorical": (pl.Series(LETTERS_WITH_HOLES, dtype=pl.Categorical), [*"abdef", None]),
    "Enum": (pl.Series(FRAME["x"].to_list(), dtype=pl.Enum(list("gfedcba"))), list("fedcba")),
    "Int64 with nulls": (pl.Series([None if x == 2 else int(x) for x in X]), [0, 1, 3, 4, 5, None]),
    "NaN and null": (
        pl.Series([float("nan") if x == 2 else None if x == 3 else float(x) for x in X]),
        [0.0, 1.0, 4.0, 5.0, None],
    ),
    "Boolean": (pl.Series([None if x == 5 else bool(x > 1) for x in X]), [False, True, None]),
    "Date": (pl.Series(DAYS.date.tolist()), sorted(set(DAYS.date))),
    "Datetime[us]": (pl.Series(DAYS.as_unit("us").to_list()), sorted(set(DAYS))),
    "Datetime[ns]": (pl.Series(DAYS.as_unit("ns").to_numpy()), sorted(set(DAYS))),
    "Duration[ns]": (
        pl.Series((DAYS - DAYS.min()).as_unit("ns").to_numpy()),
        sorted(set(DAYS - DAYS.min())),
    ),
}


@pytest.mark.parametrize("kind", POLARS_COLUMNS)
@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_polars_and_pyarrow_columns_of_any_type_are_read_and_released_as_text(kind, library):
    column, symbols = POLARS_COLUMNS[kind]
    frame = pl.DataFrame({"s": FRAME["s"].to_list(), "x": column})
    sanitizer = SubsetMergingSanitizer("s", "x", epsilon=0.5)
    if library == "polars":
        released = sanitizer.fit_transform(frame)
        assert released.schema == {"x": pl.String}
    else:
        table = frame.to_arrow()
        released = sanitizer.fit_transform(table)
        assert released.schema.field("x").type == pa.string()
        if kind == "Enum" and not table.schema.field("x").type.ordered:
            symbols = sorted(symbols)  # polars 1 does not tell pyarrow that an Enum is ordered
    assert list(sanitizer.joint_.useful_labels) == symbols


def test_pyarrow_dictionary_column_is_read():
    table = pa.table({"s": FRAME["s"].to_list(), "x": pa.array(LETTERS_WITH_HOLES)})
    plain = SubsetMergingSanitizer("s", "x").fit(table)
    encoded = table.set_column(1, "x", table["x"].dictionary_encode())
    assert SubsetMergingSanitizer("s", "x").fit(encoded).joint_ == plain.joint_


def test_all_libraries_give_the_same_fit():
    tables = [FRAME, pl.DataFrame(FRAME), pa.Table.from_pandas(FRAME), FRAME.to_numpy(dtype=object)]
    tables += [FRAME.to_numpy(dtype="U"), FRAME.to_numpy().tolist(), FRAME.set_axis([0, 1], axis=1)]
    fits = [SubsetMergingSanitizer(0, 1, epsilon=0.5).fit(table) for table in tables]
    assert all(fit.joint_ == fits[0].joint_ for fit in fits)
    assert all(fit.channel_ == fits[0].channel_ for fit in fits)


def test_table_of_another_library_is_accepted_at_transform():
    sanitizer = SubsetMergingSanitizer("s", "x", epsilon=0.5).fit(FRAME)
    expected = sanitizer.transform(FRAME)["x"].to_list()
    assert sanitizer.transform(pl.DataFrame(FRAME))["x"].to_list() == expected
    assert sanitizer.transform(pa.Table.from_pandas(FRAME))["x"].to_pylist() == expected
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert sanitizer.transform(FRAME.to_numpy())[:, 0].tolist() == expected


def test_named_table_after_a_fit_without_names_warns_that_order_counts():
    sanitizer = SubsetMergingSanitizer(0, 1).fit(FRAME.to_numpy())
    with pytest.warns(UserWarning, match="has valid feature names, but .* without"):
        sanitizer.transform(FRAME)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT], ids=repr)
@pytest.mark.parametrize("as_frame", [True, False])
def test_missing_values_of_any_kind_are_one_category(missing, as_frame):
    values = np.array([missing if x == 0 else LETTERS[x] for x in X], dtype=object)
    table = np.column_stack([FRAME["s"].to_numpy(object), values])
    table = pd.DataFrame(table, columns=["s", "x"], dtype=object) if as_frame else table
    sanitizer = SubsetMergingSanitizer(0, 1, epsilon=5.0).fit(table)
    assert sanitizer.joint_.useful_labels == (*"bcdef", None)
    assert sanitizer.joint_.p_x[-1] == np.mean(X == 0)
    assert pd.isna(np.asarray(sanitizer.transform(table))[X == 0, 0]).all()


def test_text_that_looks_missing_is_not_missing():
    frame = FRAME.replace({"x": {"a": "nan", "b": "None", "c": "missing"}}).astype(object)
    frame.loc[X == 3, "x"] = None
    labels = SubsetMergingSanitizer("s", "x").fit(frame).joint_.useful_labels
    assert labels == ("None", "e", "f", "missing", "nan", None)


def test_lists_keep_numbers_and_missing_values_beside_text():
    rows = [[s, np.nan if x == 0 else int(x)] for s, x in zip(FRAME["s"], X, strict=True)]
    sanitizer = SubsetMergingSanitizer(0, 1).fit(rows)
    assert sanitizer.joint_.useful_labels == (1, 2, 3, 4, 5, None)
    sensitive = [np.nan if s == 0 else "uvw"[s] for s in S]
    sanitizer = SubsetMergingSanitizer().fit(FRAME[["x"]], sensitive_features=sensitive)
    assert sanitizer.joint_.sensitive_labels == ("v", "w", None)


def test_values_of_different_types_are_different_symbols():
    values = pd.Series(["a", 1, "1", "A", None, 2.5], dtype=object)[X].reset_index(drop=True)
    frame = pd.DataFrame({"s": FRAME["s"], "x": values})
    labels = SubsetMergingSanitizer("s", "x").fit(frame).joint_.useful_labels
    assert labels == (1, 2.5, "1", "A", "a", None)


@pytest.mark.parametrize(
    ("sensitive", "useful"), [("s", "x"), (0, 1), (-2, -1), (np.int64(0), "x"), ("s", None)]
)
def test_columns_are_found_by_name_or_index(sensitive, useful):
    sanitizer = SubsetMergingSanitizer(sensitive, useful).fit(FRAME)
    assert sanitizer.joint_ == SubsetMergingSanitizer("s", "x").fit(FRAME).joint_
    assert sanitizer.guarantee_.columns == ("x",)
    assert sanitizer.guarantee_.sensitive == "s"


@pytest.mark.parametrize("useful", [["x", "t"], ("x", "t"), np.array(["x", "t"]), [1, 2], None])
def test_several_useful_columns_are_one_symbol(useful):
    frame = FRAME.assign(t=X % 2)
    sanitizer = SubsetMergingSanitizer("s", useful).fit(frame)
    assert sanitizer.channel_.inputs == tuple((LETTERS[x], x % 2) for x in range(6))
    assert sanitizer.guarantee_.columns == ("x", "t")


SENSITIVE = {
    "Series": FRAME["s"],
    "Series with another index": FRAME["s"].set_axis(range(1000, 1400)),
    "category": FRAME["s"].astype("category"),
    "array": FRAME["s"].to_numpy(),
    "list": FRAME["s"].to_list(),
    "Index": pd.Index(FRAME["s"]),
    "frame": FRAME[["s"]],
    "frame with numbers as names": FRAME[["s"]].set_axis([7], axis=1),
    "column array": FRAME[["s"]].to_numpy(),
    "polars Series": pl.Series(FRAME["s"].to_list()),
    "polars frame": pl.DataFrame(FRAME[["s"]]),
    "chunked array": pa.chunked_array([FRAME["s"].to_list()]),
    "pyarrow table": pa.Table.from_pandas(FRAME[["s"]]),
}


@pytest.mark.parametrize("kind", SENSITIVE)
def test_sensitive_features_of_any_kind_equal_the_column(kind):
    expected = SubsetMergingSanitizer("s", "x").fit(FRAME)
    sanitizer = SubsetMergingSanitizer(useful="x")
    sanitizer.fit(FRAME[["x"]], sensitive_features=SENSITIVE[kind])
    assert sanitizer.joint_ == expected.joint_
    assert sanitizer.channel_ == expected.channel_


def test_two_sensitive_columns_are_one_joint_symbol():
    sensitive = FRAME[["s"]].assign(t=np.arange(400) % 2)
    sanitizer = WatchdogSanitizer().fit(FRAME[["x"]], sensitive_features=sensitive)
    assert sanitizer.joint_.sensitive_labels == tuple((s, t) for s in "uvw" for t in (0, 1))
    array = WatchdogSanitizer().fit(FRAME[["x"]], sensitive_features=sensitive.to_numpy(object))
    assert array.joint_ == sanitizer.joint_


def test_weights_count_like_repeated_rows():
    weight = np.arange(400) % 3
    repeated = FRAME.loc[FRAME.index.repeat(weight)]
    weighted = SubsetMergingSanitizer("s", "x").fit(FRAME, sample_weight=weight)
    assert weighted.joint_ == SubsetMergingSanitizer("s", "x").fit(repeated).joint_
    assert weighted.joint_ != SubsetMergingSanitizer("s", "x").fit(FRAME).joint_


def test_value_with_weight_zero_only_is_unknown():
    sanitizer = SubsetMergingSanitizer("s", "x").fit(FRAME, sample_weight=(X != 0).astype(float))
    assert "a" not in sanitizer.joint_.useful_labels
    with pytest.raises(ValueError, match="'a'"):
        sanitizer.transform(FRAME)


def test_order_of_named_columns_does_not_matter_and_s_may_be_missing():
    sanitizer = SubsetMergingSanitizer("s", "x", epsilon=0.5).fit(FRAME)
    expected = sanitizer.transform(FRAME)
    pd.testing.assert_frame_equal(sanitizer.transform(FRAME[["x", "s"]]), expected)
    pd.testing.assert_frame_equal(sanitizer.transform(FRAME[["x"]]), expected)


def test_columns_named_by_numbers_are_read_by_position():
    frame = FRAME.set_axis([10, 20], axis=1)
    sanitizer = SubsetMergingSanitizer(0, 1).fit(frame)
    assert sanitizer.joint_ == SubsetMergingSanitizer("s", "x").fit(FRAME).joint_
    assert not hasattr(sanitizer, "feature_names_in_")


def test_one_useful_symbol_is_released_as_it_is():
    frame = FRAME.assign(x="only")
    sanitizer = SubsetMergingSanitizer("s", "x", epsilon=0.1).fit(frame)
    assert set(sanitizer.transform(frame)["x"]) == {"only"}
    assert sanitizer.report_.max_log_lift == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("as_numbers", [True, False])
def test_thousands_of_symbols_are_handled(as_numbers):
    rng = np.random.default_rng(0)
    x = np.r_[np.arange(3000), rng.integers(0, 3000, 7000)]
    table = np.column_stack([rng.integers(0, 2, x.size), x])
    table = table if as_numbers else table.astype("U")
    sanitizer = WatchdogSanitizer(0, 1, epsilon=0.8).fit(table)
    released = sanitizer.transform(table)
    assert len(sanitizer.channel_.inputs) == 3000
    assert len(np.unique(released)) == len(sanitizer.channel_.outputs)


def test_symbols_not_seen_at_fit_are_drawn_from_the_released_distribution():
    sanitizer = SubsetMergingSanitizer("s", "x", epsilon=0.5, handle_unknown="resample")
    sanitizer.set_params(random_state=0).fit(FRAME)
    new = pd.DataFrame({"x": ["new", None, 7] * 3000}, dtype=object)
    shares = sanitizer.transform(new)["x"].value_counts(normalize=True)
    p_y = dict(
        zip(sanitizer.channel_.outputs, sanitizer.channel_.p_y(sanitizer.joint_.p_x), strict=True)
    )
    assert set(shares.index) == set(p_y)
    # Five standard deviations of a share of 9,000 draws.
    assert all(abs(shares[y] - p) < 5 * np.sqrt(p * (1 - p) / 9000) for y, p in p_y.items())


def test_symbols_seen_at_fit_keep_their_channel_beside_unknown_ones():
    sanitizer = SubsetMergingSanitizer("s", "x", epsilon=0.5, handle_unknown="resample")
    sanitizer.fit(FRAME)
    mixed = FRAME[["x"]].mask(np.arange(400)[:, None] % 2 == 0, "new")
    released = sanitizer.transform(mixed)["x"]
    groups = group_of(sanitizer)
    known = FRAME["x"][1::2]
    assert all(y in groups[x] for x, y in zip(known, released[1::2], strict=True))
    assert set(released[::2]) <= set(sanitizer.channel_.outputs)


def test_names_of_an_earlier_table_are_forgotten():
    sanitizer = SubsetMergingSanitizer(0, 1).fit(FRAME)
    assert list(sanitizer.feature_names_in_) == list(FRAME.columns)
    sanitizer.fit(FRAME.to_numpy(dtype=object))
    assert not hasattr(sanitizer, "feature_names_in_")
