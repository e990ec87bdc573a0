"""What comes out: kinds, names, types and content of the release."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import config_context

from skliftpriv import SubsetMergingSanitizer, WatchdogSanitizer
from skliftpriv.exceptions import UnprotectedColumnsWarning

from .samples import LETTERS, group_of, make_codes, make_frame

S, X = make_codes()
FRAME = make_frame()
TABLES = {
    "pandas": FRAME.set_axis(range(500, 900)),
    "polars": pl.DataFrame(FRAME),
    "pyarrow": pa.Table.from_pandas(FRAME),
    "text array": FRAME.to_numpy(dtype=object),
    "number array": np.column_stack([S, X]),
    "list": FRAME.to_numpy().tolist(),
}
KINDS = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.Table,
    "text array": np.ndarray,
    "number array": np.ndarray,
    "list": np.ndarray,
}
OUTPUTS = ["label", "code", "posterior"]


def as_values(released):
    """Any kind of released table as an array of objects."""
    if isinstance(released, pa.Table):
        released = released.to_pandas()
    return np.asarray(released).astype(object)


def fitted(table=FRAME, sensitive="s", useful="x", kind=SubsetMergingSanitizer, **options):
    return kind(sensitive, useful, **{"epsilon": 0.5, **options}).fit(table)


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("container", ["default", "pandas", "polars"])
@pytest.mark.parametrize("kind", TABLES)
def test_set_output_changes_the_container_and_nothing_else(kind, container, output):
    table = TABLES[kind]
    plain = fitted(table, 0, 1, output=output)
    asked = fitted(table, 0, 1, output=output).set_output(transform=container)
    released = asked.transform(table)
    assert isinstance(released, KINDS[kind if container == "default" else container])
    np.testing.assert_array_equal(as_values(released), as_values(plain.transform(table)))
    if container != "default":
        assert list(released.columns) == list(asked.get_feature_names_out())
        with config_context(transform_output=container):
            assert isinstance(plain.transform(table), KINDS[container])


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("output", OUTPUTS)
def test_names_of_released_columns_are_the_feature_names_out(kind, output):
    sanitizer = fitted(TABLES[kind], output=output)
    released = sanitizer.transform(TABLES[kind])
    names = released.column_names if kind == "pyarrow" else list(released.columns)
    assert names == list(sanitizer.get_feature_names_out())
    expected = [f"x_{letter}" for letter in LETTERS] if output == "posterior" else ["x"]
    assert names == expected


def test_names_of_arrays_are_made_up_or_given():
    sanitizer = fitted(TABLES["text array"], 0, 1)
    assert list(sanitizer.get_feature_names_out()) == ["x1"]
    assert list(sanitizer.get_feature_names_out(["sex", "job"])) == ["job"]


@pytest.mark.parametrize(
    "index",
    [
        pd.Index([0] * 400),
        pd.MultiIndex.from_arrays([X, np.arange(400)], names=["a", "b"]),
        pd.date_range("2020", periods=400, name="day"),
    ],
    ids=["duplicates", "MultiIndex", "dates"],
)
@pytest.mark.parametrize("remainder", ["drop", "passthrough"])
@pytest.mark.filterwarnings("ignore::skliftpriv.exceptions.UnprotectedColumnsWarning")
def test_pandas_index_is_kept(index, remainder):
    frame = FRAME.assign(z=X).set_axis(index)
    released = fitted(frame, remainder=remainder).transform(frame)
    pd.testing.assert_index_equal(released.index, index)
    if remainder == "passthrough":
        np.testing.assert_array_equal(released["z"], X)


@pytest.mark.parametrize("kind", [SubsetMergingSanitizer, WatchdogSanitizer])
def test_label_is_one_that_the_channel_gives_to_the_value(kind):
    sanitizer = fitted(kind=kind)
    groups = group_of(sanitizer)
    released = sanitizer.transform(FRAME)["x"]
    assert all(y in groups[x] for x, y in zip(FRAME["x"], released, strict=True))
    assert any(len(group) > 1 for group in sanitizer.partition_)


@pytest.mark.parametrize("kind", [SubsetMergingSanitizer, WatchdogSanitizer])
def test_merged_label_names_all_its_members_and_is_the_same_for_each(kind):
    sanitizer = fitted(kind=kind)
    released = sanitizer.transform(FRAME)["x"]
    for group in sanitizer.partition_:
        labels = set(released[FRAME["x"].isin(group)])
        assert labels == {"{" + ", ".join(group) + "}"}


def test_uniform_watchdog_releases_members_of_the_group_in_equal_shares():
    frame = make_frame(20_000)
    sanitizer = fitted(frame, kind=WatchdogSanitizer, randomization="uniform", random_state=0)
    released = sanitizer.transform(frame)["x"]
    high = sanitizer.high_risk_
    assert len(high) > 2
    for value in high:
        drawn = released[frame["x"] == value].value_counts()
        n, p = drawn.sum(), 1 / len(high)
        assert set(drawn.index) == set(high)
        assert (abs(drawn - n * p) < 5 * np.sqrt(n * p * (1 - p))).all()
    low = frame["x"].isin(sanitizer.low_risk_)
    pd.testing.assert_series_equal(released[low], frame["x"][low])


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 50.0])
@pytest.mark.parametrize("values", [X, X > 2, X / 2], ids=["int", "bool", "float"])
def test_type_of_labels_depends_on_merging_alone(epsilon, values):
    frame = pd.DataFrame({"s": FRAME["s"], "x": values})
    sanitizer = fitted(frame, epsilon=epsilon)
    released = sanitizer.transform(frame)["x"]
    assert (released.dtype == values.dtype) == (not sanitizer.partition_)
    assert (released.dtype == pd.Series(["text"]).dtype) == bool(sanitizer.partition_)
    array = np.column_stack([S.astype(values.dtype), values])
    assert fitted(array, 0, 1, epsilon=epsilon).transform(array).dtype == values.dtype
    objects = array.astype(object)
    assert fitted(objects, 0, 1, epsilon=epsilon).transform(objects).dtype == object


def test_numbers_are_represented_by_a_member_of_their_group():
    table = TABLES["number array"]
    sanitizer = fitted(table, 0, 1)
    released = sanitizer.transform(table)[:, 0]
    codes = fitted(table, 0, 1, output="code").transform(table)[:, 0]
    assert len(np.unique(released)) == len(sanitizer.channel_.outputs)
    groups = group_of(sanitizer)
    for code, number in set(zip(codes, released, strict=True)):
        assert sanitizer.channel_.outputs[code] in groups[number]


def test_large_whole_numbers_stay_exact():
    table = np.column_stack([S, X + 2**60 + 1])
    released = fitted(table, 0, 1, epsilon=50.0, smoothing=1.0).transform(table)
    np.testing.assert_array_equal(released, table[:, 1:])


@pytest.mark.parametrize(
    ("values", "later"),
    [(X + 0.5, np.int64), (np.where(X == 0, np.nan, X), np.int64), (X * 100, np.uint8)],
    ids=["halves", "missing", "beyond uint8"],
)
def test_numbers_are_never_cut_to_the_type_of_a_later_array(values, later):
    sanitizer = fitted(
        np.column_stack([S, values]), 0, 1, epsilon=50.0, handle_unknown="resample", random_state=0
    )
    released = sanitizer.transform(np.column_stack([S, X]).astype(later))
    assert set(released[~np.isnan(released)]) <= set(values[~np.isnan(values)])


def test_text_seen_at_fit_is_released_for_numbers_that_were_not():
    sanitizer = fitted(TABLES["text array"], 0, 1, handle_unknown="resample")
    released = sanitizer.transform(TABLES["number array"])
    assert set(released[:, 0]) <= set(sanitizer.channel_.outputs)


def test_codes_are_the_positions_of_the_outputs():
    labels = fitted().transform(FRAME)["x"]
    sanitizer = fitted(output="code")
    codes = sanitizer.transform(FRAME)["x"]
    assert [sanitizer.channel_.outputs[code] for code in codes] == labels.to_list()


@pytest.mark.parametrize("kind", TABLES)
def test_posterior_is_the_distribution_of_the_value_given_the_label(kind):
    table = TABLES[kind]
    sanitizer = fitted(table, 0, 1, output="posterior")
    released = as_values(sanitizer.transform(table)).astype(float)
    codes = as_values(fitted(table, 0, 1, output="code").transform(table))[:, 0].astype(int)
    np.testing.assert_allclose(released.sum(axis=1), 1)
    for code in np.unique(codes):
        shares = np.bincount(X[codes == code], minlength=6) / (codes == code).sum()
        np.testing.assert_allclose(
            released[codes == code], shares[None, :].repeat((codes == code).sum(), 0)
        )


def test_posterior_names_stay_unique():
    frame = pd.DataFrame({"s": FRAME["s"], "x": np.array([1, "1", "b", "c", "d", None], object)[X]})
    sanitizer = fitted(frame.assign(x_b=0), output="posterior")
    names = list(sanitizer.get_feature_names_out())
    assert names == ["x_1", "x_1 (2)", "x_b", "x_c", "x_d", "x_missing"]
    with pytest.warns(UnprotectedColumnsWarning, match="x_b"):
        sanitizer.set_params(remainder="passthrough").fit(frame.assign(x_b=0))
    assert list(sanitizer.get_feature_names_out()) == [*names, "x_b (2)"]


def test_numbers_and_text_that_read_alike_are_told_apart():
    values = np.array([1, "1", "1 (2)", "d", "e", "f"], object)[X]
    frame = pd.DataFrame({"s": FRAME["s"], "x": values})
    sanitizer = fitted(frame, epsilon=50.0, smoothing=1.0)
    released = sanitizer.transform(frame)["x"]
    assert released.nunique() == 6
    # Text keeps its name; the number gives way.
    is_text = np.array([isinstance(value, str) for value in values])
    assert (released[is_text] == values[is_text]).all()
    assert set(released[~is_text]) == {"1 (3)"}


def test_value_that_reads_like_a_merged_label_is_told_apart():
    merged = fitted()
    label = next(y for y in merged.channel_.outputs if y.startswith("{"))
    kept = merged.low_risk_[0]
    frame = FRAME.replace({"x": {kept: label}})
    sanitizer = fitted(frame)
    assert len(set(sanitizer.channel_.outputs)) == len(merged.channel_.outputs)
    released = sanitizer.transform(frame)["x"]
    assert (released[FRAME["x"] == kept] == label).all()
    assert (released[FRAME["x"] != kept] != label).all()


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "object array"])
def test_several_useful_columns_come_back_as_columns(kind):
    frame = FRAME.assign(t=np.where(X % 2 == 0, "even", "odd"))
    table = {
        "pandas": frame,
        "polars": pl.DataFrame(frame),
        "pyarrow": pa.Table.from_pandas(frame),
        "object array": frame.to_numpy(dtype=object),
    }[kind]
    sanitizer = fitted(table, 0, [1, 2])
    released = as_values(sanitizer.transform(table))
    codes = as_values(fitted(table, 0, [1, 2], output="code").transform(table))[:, 0]
    assert released.shape == (400, 2)
    # The columns together say exactly which output it is, and name all of its members.
    pairs = set(zip(map(tuple, released), codes, strict=True))
    assert len(pairs) == len(sanitizer.channel_.outputs) == len({row for row, _ in pairs})
    for x, row in zip(frame.to_numpy()[:, 1:], released, strict=True):
        assert all(str(part) in label for part, label in zip(x, row, strict=True))


def test_several_columns_of_numbers_come_back_as_numbers():
    table = np.column_stack([S, X, X % 2])
    released = fitted(table, 0, [1, 2]).transform(table)
    assert released.dtype == table.dtype
    assert {tuple(row) for row in released} <= {tuple(row) for row in table[:, 1:]}


def test_uniform_watchdog_of_several_columns_releases_seen_combinations():
    frame = FRAME.assign(t=np.where(X % 2 == 0, "even", "odd"))
    sanitizer = fitted(frame, "s", ["x", "t"], WatchdogSanitizer, randomization="uniform")
    released = sanitizer.transform(frame)
    assert set(map(tuple, released.to_numpy())) == set(map(tuple, frame[["x", "t"]].to_numpy()))


def test_groups_that_read_alike_in_every_column_are_told_apart():
    # Two groups of the same letters and the same numbers, crossed: {(a,0),(b,1)}, {(a,1),(b,0)}.
    counts = {("a", 0): (9, 1), ("b", 1): (1, 9), ("a", 1): (8, 2), ("b", 0): (2, 8)}
    rows = [
        (s, letter, number)
        for (letter, number), by_s in counts.items()
        for s, count in zip("uv", by_s, strict=True)
        for _ in range(count)
    ]
    frame = pd.DataFrame(rows, columns=["s", "x", "t"])
    sanitizer = fitted(frame, "s", ["x", "t"], epsilon=0.05)
    released = sanitizer.transform(frame)
    n_outputs = len(sanitizer.channel_.outputs)
    assert len(released.drop_duplicates()) == n_outputs > 1
    assert released["t"].unique().tolist() == ["{0, 1}"]


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_passthrough_releases_the_rest_unchanged_and_warns(kind):
    extra = pd.DataFrame(
        {"z": X, "q": pd.Categorical(FRAME["x"]), "s": FRAME["s"], "x": FRAME["x"]}
    )
    table = {"pandas": extra, "polars": pl.DataFrame(extra), "pyarrow": pa.Table.from_pandas(extra)}
    with pytest.warns(UnprotectedColumnsWarning, match="releases z, q unchanged"):
        sanitizer = fitted(table[kind], remainder="passthrough")
    released = sanitizer.transform(table[kind])
    assert list(sanitizer.get_feature_names_out()) == ["x", "z", "q"]
    for name in ("z", "q"):
        if kind == "pandas":
            pd.testing.assert_series_equal(released[name], extra[name])
        elif kind == "polars":
            assert released[name].equals(table[kind][name])
            assert released.schema[name] == table[kind].schema[name]
        else:
            assert released[name].equals(table[kind][name])


def test_passthrough_without_a_rest_and_drop_with_one_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnprotectedColumnsWarning)
        assert list(fitted(remainder="passthrough").transform(FRAME)) == ["x"]
        extra = FRAME.assign(z=X)
        assert list(fitted(extra).transform(extra)) == ["x"]


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("output", OUTPUTS)
def test_frame_without_rows_gives_one_without_rows_and_the_same_types(kind, output):
    table = TABLES[kind]
    sanitizer = fitted(table, output=output)
    full, empty = sanitizer.transform(table), sanitizer.transform(table[:0])
    assert empty.shape == (0, full.shape[1])
    if kind == "pandas":
        pd.testing.assert_series_equal(empty.dtypes, full.dtypes)
    else:
        assert empty.schema == full.schema


def test_one_row_is_released():
    sanitizer = fitted()
    one = FRAME.iloc[[7]]
    assert sanitizer.transform(one).equals(sanitizer.transform(FRAME).iloc[[7]])


def draws(random_state, n=2):
    options = {"randomization": "uniform", "random_state": random_state}
    sanitizer = fitted(kind=WatchdogSanitizer, **options)
    return [sanitizer.transform(FRAME)["x"].to_list() for _ in range(n)]


def test_seed_reproduces_the_release():
    first, second = draws(3)
    assert first == second == draws(3)[0]
    assert first != draws(4)[0]


@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng])
def test_generators_advance_and_reproduce(make):
    first, second = draws(make(0))
    assert first != second
    assert [first, second] == draws(make(0))


def test_release_without_seed_differs_every_time():
    first, second = draws(None)
    assert first != second


def test_fitted_sanitizer_does_not_keep_rows():
    sanitizer = fitted(make_frame(20_000))
    assert len(pickle.dumps(sanitizer)) < 20_000
