"""fit(X, y) keeps what predicts y, whatever kind of column y is."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.special import entr
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline

from skliftpriv import CountedRows, ORRSanitizer, SubsetMergingSanitizer, mechanisms
from skliftpriv.exceptions import (
    InvalidParameterError,
    SizeLimitError,
    TargetColumnWarning,
    UselessReleaseWarning,
)
from skliftpriv.metrics import audit
from skliftpriv.model_selection import tradeoff_curve

from ..cells.tables import people
from .income import ADULT, COLUMNS, INCOME, make_model
from .samples import make_codes, make_frame

S, X = make_codes(2000)
FRAME = make_frame(2000)
RNG = np.random.default_rng(0)
# Depends on X, and a little on S.
CLASS = (RNG.random(2000) < 0.1 + 0.12 * X + 0.1 * (S == 2)).astype(int)
NUMBER = X + RNG.normal(0, 0.7, 2000)


def keeps(y, **options):
    sanitizer = ORRSanitizer("s", "x", epsilon=0.3, utility="target", **options)
    return sanitizer.fit(FRAME, y)


def counted(y):
    """P(T|X) by hand, from values that are few."""
    table = pd.crosstab(np.asarray(y), FRAME["x"])
    return (table / table.sum()).to_numpy()


def information(p):
    return entr(p.sum(axis=0)).sum() + entr(p.sum(axis=1)).sum() - entr(p).sum()


TEXT = np.where(CLASS, "yes", "no")
SAME = {
    "text": TEXT,
    "list": list(TEXT),
    "bool": CLASS == 1,
    "int": CLASS,
    "float": CLASS * 0.5,
    "object": TEXT.astype(object),
    "column": TEXT[:, None],
    "pandas": pd.Series(TEXT),
    "frame": pd.DataFrame({"y": TEXT}),
    "categorical": pd.Series(pd.Categorical(TEXT)),
    "nullable": pd.Series(CLASS, dtype="Int64"),
    "polars": pl.Series(TEXT),
    "polars bool": pl.Series(CLASS == 1),
}


@pytest.mark.parametrize("y", SAME.values(), ids=SAME)
def test_every_kind_of_y_gives_the_same_mechanism(y):
    sanitizer = keeps(y)
    expected = mechanisms.optimal_random_response(
        sanitizer.joint_, sanitizer.notion_, target=counted(TEXT)
    )
    assert sanitizer.report_.utility_kept == pytest.approx(expected.utility_kept, abs=1e-6)
    assert sanitizer.report_.satisfied
    assert sanitizer.gap_ <= 1e-6
    assert sanitizer.gap_ == sanitizer.upper_bound_ - sanitizer.report_.utility_kept


def test_more_of_the_target_is_kept_than_by_keeping_x():
    plain = ORRSanitizer("s", "x", epsilon=0.3).fit(FRAME)
    sanitizer = keeps(TEXT)
    p_tx = counted(TEXT) * plain.joint_.p_x
    of_plain, own = (information(p_tx @ fit.channel_.matrix) for fit in (plain, sanitizer))
    assert own > of_plain + 1e-4
    assert sanitizer.report_.target.after == pytest.approx(own, abs=1e-12)
    assert sanitizer.report_.nmi < plain.report_.nmi
    assert plain.report_.target is None


def test_other_utilities_ignore_y():
    sanitizer = ORRSanitizer("s", "x", epsilon=0.3)
    assert not sanitizer.needs_target
    assert sanitizer.fit(FRAME, TEXT).channel_ == clone(sanitizer).fit(FRAME).channel_
    assert sanitizer.fit(FRAME, "not even rows").report_.target is None


def test_numbers_with_many_values_are_binned():
    sanitizer = keeps(NUMBER)
    target = sanitizer.counted_.target
    assert target.edges == tuple(np.quantile(NUMBER, np.arange(1, 10) / 10, method="inverted_cdf"))
    np.testing.assert_array_equal(target.table.counts.sum(axis=1), np.full(10, 200))
    bins = np.searchsorted(target.edges, NUMBER)
    assert keeps(bins).report_.utility_kept == pytest.approx(
        sanitizer.report_.utility_kept, abs=1e-6
    )
    # Whole numbers are binned, too, but not text, and not few numbers.
    assert keeps(np.arange(2000)).counted_.target.edges is not None
    assert keeps(np.arange(2000) % 20).counted_.target.edges is None
    assert keeps(pd.Series(np.arange(2000) % 25).astype(str)).counted_.target.edges is None


def test_bins_of_counted_rows_are_those_of_the_rows():
    whole = FRAME.assign(y=np.round(30 * NUMBER**2))  # many are alike, some values are rare
    counts = whole.groupby(["s", "x", "y"]).size().rename("n").reset_index()
    rows = CountedRows.of(whole, "s", "x", target="y")
    counted = CountedRows.of(counts, "s", "x", target="y", counts="n")
    assert counted.target.edges == rows.target.edges is not None
    np.testing.assert_array_equal(
        np.sort(counted.target.table.counts, axis=None),
        np.sort(rows.target.table.counts, axis=None),
    )


def test_bins_of_numbers_with_ties_are_as_few_as_needed():
    y = np.where(X < 4, 0.0, NUMBER)
    target = keeps(y).counted_.target
    assert len(set(target.edges)) == len(target.edges) < 9
    assert target.table.counts.sum() == 2000


SHUFFLED = pd.Series(TEXT).sample(frac=1, random_state=0)
WRONG = {
    "missing": (None, "there is none: call fit"),
    "short": (TEXT[:-1], "y has 1999 values, and X has 2000 rows"),
    "nan": (np.where(X == 0, np.nan, NUMBER), "y is missing in .* of 2,000 rows"),
    "none": ([None, *TEXT[1:]], "y is missing in 1 of 2,000 rows"),
    "null": (pl.Series([None, *TEXT[1:]]), "y is missing in 1 of 2,000 rows"),
    "permuted": (SHUFFLED, "y has the index of X in another order"),
    "name": ("income", r"y='income' is a single text: .* such as X\['income'\]"),
    "records": ([f"r{i}" for i in range(2000)], "y has 2,00. different values, such as .*; the"),
    "dates": (pd.date_range("2020", periods=2000), "different values, .* put dates into bins"),
    "two columns": (pd.DataFrame({"a": TEXT, "b": TEXT}), "y has 2 columns: pass one target"),
    "two dimensions": (np.column_stack([TEXT, TEXT]), "y has 2 columns: pass one target"),
}


@pytest.mark.parametrize(("y", "message"), WRONG.values(), ids=WRONG)
def test_mistakes_are_named(y, message):
    with pytest.raises(InvalidParameterError, match=message):
        keeps(y)
    fitted = keeps(TEXT)
    before = fitted.channel_
    with pytest.raises(InvalidParameterError, match=message):
        fitted.partial_fit(FRAME, y)
    assert fitted.channel_ == before


def test_a_hundred_classes_are_the_most():
    codes = np.arange(2000)
    assert len(keeps([f"c{i % 100}" for i in codes]).counted_.target.table.sensitive) == 100
    many = [f"c{i % 101}" for i in codes]
    with pytest.raises(
        SizeLimitError, match=r"101 different values, .*; the limit is 100\. Pass a"
    ):
        keeps(many)
    with pytest.raises(SizeLimitError, match="the limit is 100"):
        CountedRows.of(FRAME, "s", "x", target=many)
    # Batches that are small enough one by one.
    first = keeps([f"a{i % 60}" for i in codes])
    with pytest.raises(SizeLimitError, match="120 different values"):
        first.partial_fit(FRAME, [f"b{i % 60}" for i in codes])
    with pytest.raises(SizeLimitError, match="numbers are put into ten bins if the first rows"):
        keeps(codes % 5).partial_fit(FRAME, codes)


def test_a_large_table_of_a_target_is_named_as_such():
    n = 150_000
    frame = pd.DataFrame({"s": np.arange(n) % 3, "x": np.arange(n)})
    message = "100 values of the target y and 150,000 pairs of a sensitive and a useful value"
    with pytest.raises(SizeLimitError, match=message):
        CountedRows.of(frame, "s", "x", target=np.arange(n).astype(str).astype("<U2"))


@pytest.mark.parametrize("use_sensitive", [False, True])
def test_a_target_that_nothing_is_known_about_is_warned_of(use_sensitive):
    with pytest.warns(UselessReleaseWarning, match="nothing about the target y"):
        keeps(["same"] * 2000, use_sensitive=use_sensitive)


def test_a_missing_target_is_told_to_scikit_learn():
    assert ORRSanitizer(utility="target").__sklearn_tags__().target_tags.required
    assert not ORRSanitizer().__sklearn_tags__().target_tags.required


def test_an_unknown_utility_is_refused():
    with pytest.raises(ValueError, match="'utility' parameter of ORRSanitizer must be a str among"):
        ORRSanitizer("s", "x", utility="income").fit(FRAME)


@pytest.mark.parametrize("y", [TEXT, NUMBER], ids=["text", "numbers"])
def test_batches_add_up_with_the_bins_of_the_first(y):
    batches = ORRSanitizer("s", "x", epsilon=0.3, utility="target")
    batches.partial_fit(FRAME[:1200], y[:1200])
    edges = batches.counted_.target.edges
    batches.partial_fit(FRAME[1200:], y[1200:])
    assert batches.counted_.target.edges == edges
    assert batches.guarantee_.n_rows == 2000
    same = y if edges is None else np.searchsorted(edges, y)
    whole = keeps(same)
    assert batches.joint_ == whole.joint_
    assert batches.report_.utility_kept == pytest.approx(whole.report_.utility_kept, abs=1e-6)


def test_batches_need_the_same_kind_of_target():
    batches = ORRSanitizer("s", "x", epsilon=0.3, utility="target").fit(FRAME, NUMBER)
    with pytest.raises(InvalidParameterError, match=r"y holds '(yes|no)'"):
        batches.partial_fit(FRAME, TEXT)
    plain = ORRSanitizer("s", "x", epsilon=0.3).fit(FRAME)
    with pytest.raises(InvalidParameterError, match="Only some of the rows were counted with a"):
        plain.set_params(utility="target").partial_fit(FRAME, TEXT)


def test_a_target_may_gain_values_in_a_later_batch():
    first = np.flatnonzero(TEXT == "no")
    rest = np.flatnonzero(TEXT == "yes")
    batches = ORRSanitizer("s", "x", epsilon=0.3, utility="target")
    for part in (first, rest):
        batches.partial_fit(FRAME.iloc[part], TEXT[part])
    assert batches.report_.utility_kept == pytest.approx(keeps(TEXT).report_.utility_kept, abs=1e-6)


def test_counted_rows_with_a_target():
    frame = FRAME.assign(y=TEXT)
    sanitizer = ORRSanitizer("s", "x", epsilon=0.3, utility="target")
    expected = keeps(TEXT)
    in_column = CountedRows.of(frame, "s", target="y")
    assert in_column.layout.useful_names == ["x"]
    values = CountedRows.of(FRAME, "s", "x", target=TEXT)
    grouped = frame.groupby(["s", "x", "y"]).size().reset_index(name="n")
    in_sql = CountedRows.of(grouped, "s", "x", counts="n", target="y")
    parts = [CountedRows.of(part, "s", "x", target="y") for part in (frame[:700], frame[700:])]
    for rows in (in_column, values, in_sql, parts[0] + parts[1]):
        assert rows.n_rows == 2000
        found = clone(sanitizer).fit(rows)
        assert found.joint_ == expected.joint_
        assert found.report_.utility_kept == pytest.approx(expected.report_.utility_kept, abs=1e-6)
        assert found.transform(FRAME).shape == (2000, 1)


def test_counted_rows_need_the_target_and_the_same_bins():
    bare = CountedRows.of(FRAME, "s", "x")
    with pytest.raises(InvalidParameterError, match=r"CountedRows.of\(..., target=y\)"):
        ORRSanitizer("s", "x", utility="target").fit(bare)
    with pytest.raises(InvalidParameterError, match="y cannot be used if X is CountedRows"):
        ORRSanitizer("s", "x", utility="target").fit(
            CountedRows.of(FRAME, "s", "x", target=TEXT), TEXT
        )
    with pytest.raises(InvalidParameterError, match="Only some of the rows"):
        bare + CountedRows.of(FRAME, "s", "x", target=TEXT)
    halves = [
        CountedRows.of(FRAME[part], "s", "x", target=NUMBER[part])
        for part in (slice(900), slice(900, None))
    ]
    with pytest.raises(InvalidParameterError, match="binned differently"):
        halves[0] + halves[1]
    with pytest.raises(InvalidParameterError, match="is a sensitive or useful column, too"):
        CountedRows.of(FRAME, "s", "x", target="x")
    with pytest.raises(InvalidParameterError, match="target has the index of X in"):
        CountedRows.of(FRAME, "s", "x", target=SHUFFLED)


def test_weights_count_as_rows():
    weight = RNG.integers(0, 4, 2000)
    rows = np.repeat(np.arange(2000), weight)
    sanitizer = ORRSanitizer("s", "x", epsilon=0.3, utility="target")
    weighted = clone(sanitizer).fit(FRAME, TEXT, sample_weight=weight)
    repeated = clone(sanitizer).fit(FRAME.iloc[rows], TEXT[rows])
    assert weighted.report_.utility_kept == pytest.approx(repeated.report_.utility_kept, abs=1e-6)


def test_a_value_of_x_without_weight_has_no_target():
    weight = (X != 5).astype(float)
    sanitizer = ORRSanitizer("s", "x", epsilon=0.3, utility="target")
    sanitizer.fit(FRAME, TEXT, sample_weight=weight)
    assert "f" not in sanitizer.joint_.useful_labels
    assert sanitizer.report_.satisfied


def test_the_rest_of_an_estimator_works_with_a_target():
    sanitizer = keeps(TEXT, random_state=0)
    released = sanitizer.transform(FRAME)
    again = pickle.loads(pickle.dumps(sanitizer))
    pd.testing.assert_frame_equal(again.transform(FRAME), released)
    assert again.report_ == sanitizer.report_
    assert sanitizer.estimate_frequencies(released)["estimate"].sum() == pytest.approx(1.0)
    assert audit(sanitizer, make_frame(2000, seed=5)).verdict != "violated"
    fitted = ORRSanitizer("s", "x", epsilon=0.3, utility="target", random_state=0)
    pd.testing.assert_frame_equal(fitted.fit_transform(FRAME, TEXT), released)
    assert "of the target" in repr(sanitizer.report_)
    with pytest.raises(InvalidParameterError, match="utility of ORRSanitizer changed after fit"):
        sanitizer.set_params(utility="useful").transform(FRAME)


def test_confidence_and_smoothing_work_with_a_target():
    safe = keeps(TEXT, confidence=0.9, time_limit=0.2, notion="ldp")
    assert safe.guarantee_.confidence == 0.9
    assert safe.report_.satisfied
    smooth = keeps(TEXT, smoothing=1.0)
    assert smooth.report_.satisfied
    assert smooth.gap_ <= 1e-6


def test_models_pass_y_on():
    sanitizer = ORRSanitizer(
        "relationship",
        "occupation",
        epsilon=0.5,
        utility="target",
        handle_unknown="resample",
        time_limit=0.05,
        random_state=0,
    )
    model = make_model(sanitizer).fit(ADULT[COLUMNS], INCOME)
    alone = clone(sanitizer).fit(ADULT[COLUMNS], INCOME)
    assert model["sanitizer"].channel_ == alone.channel_
    result = cross_validate(
        make_model(sanitizer), ADULT[COLUMNS], INCOME, cv=3, error_score="raise"
    )
    assert np.isfinite(result["test_score"]).all()
    search = GridSearchCV(
        make_model(sanitizer),
        {"sanitizer__epsilon": [0.2, 1.0], "sanitizer__utility": ["useful", "target"]},
        cv=2,
        error_score="raise",
    )
    search.fit(ADULT[COLUMNS], INCOME)
    assert len(search.cv_results_["params"]) == 4
    with config_context(enable_metadata_routing=True):
        bare = make_pipeline(clone(sanitizer).set_params(sensitive=None))
        bare.fit(ADULT[["occupation"]], INCOME, sensitive_features=ADULT["relationship"])
    assert bare[0].joint_.matrix.shape == alone.joint_.matrix.shape


def test_a_curve_speaks_of_the_target():
    sanitizer = ORRSanitizer("s", "x", utility="target")
    curve = tradeoff_curve(sanitizer, FRAME, [0.1, 0.5, 2.0], y=TEXT)
    kept = curve["utility_kept"].to_numpy()
    assert (np.diff(kept) >= -1e-6).all()
    assert kept[0] < kept[-1]
    with pytest.raises(InvalidParameterError, match="there is none"):
        tradeoff_curve(sanitizer, FRAME, [0.5])


@pytest.mark.parametrize("kind", ["same", "renamed", "numbers"])
def test_a_target_among_the_useful_columns_is_named(kind):
    rows = people(300)
    pay = rows["age"] * 1.5 + rows["hours"].fillna(0)
    y = {"same": rows["income"], "renamed": rows["income"] == "high", "numbers": pay}[kind]
    table, name = (rows, "income") if kind != "numbers" else (rows.assign(pay=pay), "pay")
    sanitizer = ORRSanitizer("sex", utility="target", cells=4)
    with pytest.warns(TargetColumnWarning, match=f"the useful column '{name}'") as caught:
        sanitizer.fit(table, y)
    assert caught[0].filename == __file__
    with pytest.warns(TargetColumnWarning, match=f"X.drop\\(columns='{name}'\\)"):
        CountedRows.of(table, "sex", cells=4, target=y)
    others = [column for column in table if column not in (name, "sex")]
    with warnings.catch_warnings():
        warnings.simplefilter("error", TargetColumnWarning)
        ORRSanitizer("sex", others, utility="target", cells=4).fit(table, y)
        # One row that differs is enough, and so is a single value.
        other = np.where(np.arange(len(y)) == 299, y.iloc[3], y)
        assert (other != y).any()
        ORRSanitizer("sex", utility="target", cells=4).fit(table, other)
        SubsetMergingSanitizer("sex", cells=4).fit(table.assign(one=1), np.ones(300))
