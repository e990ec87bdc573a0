"""Cells: every row has one, rules say which, and typical values are those of the rows."""

import pickle
import re
from dataclasses import replace

import narwhals as nw
import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from skliftpriv.cells import (
    ColumnValues,
    Sample,
    _cells,
    _predicted,
    learn_cells,
    learning_rows,
)
from skliftpriv.cells._features import features_matrix
from skliftpriv.cells._scaled import ScaledColumns
from skliftpriv.exceptions import InvalidParameterError
from skliftpriv.labels import set_label, short_text

from .tables import people, sample

FRAME = people()
USEFUL = ["age", "job", "hours", "since"]


def columns_of(frame):
    table = nw.from_native(frame, eager_only=True)
    return [table[name] for name in USEFUL]


@pytest.mark.parametrize("target", ["income", None])
@pytest.mark.parametrize("n_cells", [2, 12, 40])
def test_there_are_at_most_so_many_cells_of_at_least_thirty_rows(n_cells, target):
    cells = learn_cells(n_cells, sample(FRAME, target))
    codes, labels = cells.encode(columns_of(FRAME))
    rows = np.bincount(codes, minlength=len(labels))
    assert 2 <= len(labels) <= n_cells
    assert rows.min() >= 30
    assert rows.sum() == len(FRAME)
    assert cells.summary.n_cells == len(labels)
    goal = "columns" if target is None else "target"
    assert cells.summary.made_by == f"a tree that predicts the {goal} and the sensitive value"


def meets(row, condition):
    """Decide a condition of a rule by its words."""
    for name in USEFUL:
        if re.search(rf"(^| ){name}( |$)", condition):
            break
    value = row[name]
    missing = pd.isna(value)
    if condition.endswith(" or missing"):
        return missing or meets(row, condition.removesuffix(" or missing"))
    if condition == f"{name} missing":
        return missing
    if condition == f"{name} known":
        return not missing
    if name == "job":
        value = "missing" if missing else value
        kind, listed = re.fullmatch(r"job (=|!=|in|not in) \{?(.*?)\}?", condition).groups()
        return (value in listed.split(", ")) == (kind in ("=", "in"))
    if missing:
        return False
    for sign, edge in re.findall(r"(?:age|hours|since) (<=|<|>=|>) (.+)$", condition):
        edge = pd.Timestamp(edge) if name == "since" else float(edge)
        if not {"<": value < edge, "<=": value <= edge, ">": value > edge, ">=": value >= edge}[
            sign
        ]:
            return False
    for edge, sign in re.findall(r"^(.+?) (<=|<) (?:age|hours|since)", condition):
        edge = pd.Timestamp(edge) if name == "since" else float(edge)
        if not (edge <= value if sign == "<=" else edge < value):
            return False
    return True


def conditions(rule):
    """Split a rule at the commas that are not within braces."""
    return re.split(r", (?![^{]*\})", rule.partition(" ")[2])


@pytest.mark.parametrize("target", ["income", None])
def test_a_row_meets_the_rule_of_its_cell_and_no_other(target):
    cells = learn_cells(25, sample(FRAME, target))
    codes, labels = cells.encode(columns_of(FRAME))
    rows = FRAME[USEFUL].to_dict("records")
    for row, code in zip(rows[:300], codes[:300], strict=True):
        found = [all(meets(row, part) for part in conditions(label)) for label in labels]
        # Edges of hours and dates are shortened, so that rows next to them may seem to differ.
        assert found[code]
        assert sum(found) == 1


def test_the_tree_tells_what_predicts_both_the_target_and_s():
    cells = learn_cells(8, sample(FRAME))
    text = " ".join(cells.labels)
    assert re.search("age|since", text)  # income alone depends on them
    assert "smith" in text  # sex alone depends on it
    of_income = learn_cells(DecisionTreeClassifier(max_leaf_nodes=3, random_state=0), sample(FRAME))
    text = " ".join(of_income.labels)
    assert re.search("age|since", text)
    assert "job in {cook, nurse, smith}" in text  # whatever they say about sex
    assert "hours" not in text


def test_values_that_were_never_seen_have_a_cell():
    cells = learn_cells(12, sample(FRAME))
    strange = FRAME.head(3).assign(age=[200, -5, 40], job=["pilot", None, "cook"], hours=np.inf)
    codes, labels = cells.encode(columns_of(strange))
    assert ((codes >= 0) & (codes < len(labels))).all()
    assert cells.encode(columns_of(FRAME.head(0)))[0].size == 0


def test_categories_with_few_rows_are_not_learnt_by_heart():
    names = FRAME.assign(job=[f"person {i}" for i in range(len(FRAME))])
    cells = learn_cells(40, sample(names))
    assert "person" not in " ".join(cells.labels)


def test_numbers_that_become_text_are_refused_by_name():
    cells = learn_cells(12, sample(FRAME))
    with pytest.raises(InvalidParameterError, match=r"column age held numbers.*'old'"):
        cells.encode(columns_of(FRAME.head(2).assign(age=["old", "young"])))


def test_a_leaf_without_rows_joins_its_nearest_relative():
    cells = learn_cells(12, sample(FRAME))
    codes, labels = cells.encode(columns_of(FRAME))
    rows = np.bincount(codes, minlength=len(labels)).astype(float)
    empty = 4
    kept = [i for i in range(len(labels)) if i != empty]
    settled = cells.settled([labels[i] for i in kept], rows[kept])
    assert [a == b for a, b in zip(settled.labels, cells.labels, strict=True)].count(False) == 1
    assert settled.labels[empty] in cells.labels
    # The relative is a neighbour in the order of the tree.
    assert abs(cells.labels.index(settled.labels[empty]) - empty) <= 3
    assert set(settled.encode(columns_of(FRAME))[1]) == {labels[i] for i in kept}


def test_an_ordered_categorical_is_split_in_its_order():
    order = ["smith", "clerk", "nurse", "cook"]
    typed = FRAME.assign(job=pd.Categorical(FRAME["job"], order, ordered=True))
    cells = learn_cells(DecisionTreeClassifier(max_leaf_nodes=12), sample(typed))
    sets = re.findall(r"job in \{(.*?)\}|job = (\w+)", " ".join(cells.labels))
    for several, one in sets:
        found = [job for job in (several or one).split(", ") if job != "missing"]
        places = sorted(order.index(job) for job in found)
        assert not places or places == list(range(places[0], places[-1] + 1))


@pytest.mark.parametrize(
    "estimator",
    [
        KMeans(6, n_init=1, random_state=0),
        DecisionTreeRegressor(max_leaf_nodes=6),
        make_pipeline(
            make_column_transformer((OneHotEncoder(), ["job"]), ("passthrough", ["age"])),
            DecisionTreeClassifier(max_leaf_nodes=6),
        ),
        make_pipeline(
            make_column_transformer((OneHotEncoder(), ["job"]), ("passthrough", ["age"])),
            KMeans(6, n_init=1, random_state=0),
        ),
    ],
    ids=["kmeans", "tree", "tree in a pipeline", "kmeans in a pipeline"],
)
def test_estimators_make_cells(estimator):
    cells = learn_cells(estimator, sample(FRAME))
    codes, labels = cells.encode(columns_of(FRAME))
    assert len(labels) == 6
    assert set(codes) == set(range(6))
    again = pickle.loads(pickle.dumps(cells)).encode(columns_of(FRAME))
    np.testing.assert_array_equal(again[0], codes)
    assert not hasattr(estimator, "tree_")  # a clone was fitted


@pytest.mark.parametrize(
    ("estimator", "target", "message"),
    [
        (RandomForestClassifier(3), "income", "3 cells: use an"),
        (DecisionTreeClassifier(), None, r"needs a target: call fit\(X, y\)"),
        (RandomForestClassifier(3), None, r"call fit\(X, y\)"),
    ],
)
def test_estimators_that_make_no_cells_are_refused(estimator, target, message):
    with pytest.raises(InvalidParameterError, match=message):
        learn_cells(estimator, sample(FRAME, target))


def test_a_regression_tree_gets_classes_in_their_order():
    age = pd.factorize(FRAME["age"], sort=True)[0]
    shuffled = replace(sample(FRAME), target=age)
    cells = learn_cells(DecisionTreeRegressor(max_leaf_nodes=4), shuffled)
    codes, labels = cells.encode(columns_of(FRAME))
    assert len(labels) == 4
    spread = pd.Series(age).groupby(codes).std()
    assert spread.max() < 0.4 * age.std()  # neighbours in age are together


def test_time_spans_are_not_dates():
    spans = FRAME.assign(since=FRAME["since"] - pd.Timestamp("2020-01-01"))
    assert "1970" not in " ".join(learn_cells(30, sample(spans)).labels)


def test_typical_values_are_medians_and_modes():
    cells = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1])
    numbers = ColumnValues.count(np.array([1, 2, 3, 4, 7, 7, 8, 9, 9]), cells, 2)
    assert numbers.typical(np.eye(2)) == [2, 8]
    assert numbers.typical(np.array([[0.5, 0.5], [0.9, 0.1]])) == [4, 3]
    words = ColumnValues.count(np.array(list("aabbcccab"), dtype=object), cells, 2)
    assert words.typical(np.array([[0.9, 0.1], [0.1, 0.9]])) == ["a", "c"]
    gaps = ColumnValues.count(np.array([1, np.nan, np.nan, np.nan, 5, 5, 6, np.nan, 6]), cells, 2)
    assert gaps.typical(np.eye(2)) == [None, 5]


def test_the_median_of_many_numbers_is_close_to_that_of_all():
    rng = np.random.default_rng(0)
    values, cells = rng.normal(size=20_000), rng.integers(0, 4, 20_000)
    found = ColumnValues.count(values, cells, 4).typical(np.eye(4))
    exact = [np.median(values[cells == cell]) for cell in range(4)]
    np.testing.assert_allclose(found, exact, atol=0.02)
    assert set(found) <= set(values)


def test_cells_are_learnt_from_some_of_the_rows():
    assert learning_rows(900, apart=True).size == 300
    assert learning_rows(900, apart=False).size == 900
    assert learning_rows(250_000, apart=False).size == 100_000


def test_scaled_columns_have_a_total_variance_of_one():
    rows = sample(people(500))
    features = rows.features()
    matrix = features_matrix(features, rows.columns)
    scaled = ScaledColumns(features, matrix)
    dense = scaled.dense(matrix)
    np.testing.assert_allclose(dense.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose([dense[:, span].var(axis=0).sum() for span in scaled.spans], 1)
    shifted = dense - scaled.sparse(matrix).toarray()
    np.testing.assert_allclose(shifted, np.broadcast_to(shifted[0], shifted.shape), atol=1e-12)
    unknown = np.full((1, len(features)), np.nan, dtype=np.float32)
    numbers = [span.start for span in scaled.spans if span.stop - span.start == 1]
    assert not scaled.dense(unknown)[0, numbers].any()


@pytest.mark.parametrize("how", [20, KMeans(4, n_init=1, random_state=0)], ids=["tree", "k-means"])
def test_wide_tables_are_learnt_from_fewer_rows(monkeypatch, how):
    """Values, and not rows, are limited; typical values are those of all rows."""
    rows = sample(people(1_000), None)
    monkeypatch.setattr(_cells, "_MOST_VALUES", 2_000)
    monkeypatch.setattr(_cells, "_ENOUGH_ROWS", 400)
    monkeypatch.setattr("skliftpriv.frames._numbers._PART_VALUES", 100)
    cells = learn_cells(how, rows)
    assert cells.summary.n_rows == 500
    codes = cells.encode(rows.columns)[0]
    assert set(codes) == set(range(cells.summary.n_cells))
    everyone = np.bincount(codes) / codes.size
    ages = rows.columns[0].to_numpy()
    assert cells.typical(everyone[None, :])[0] == [np.quantile(ages, 0.5, method="inverted_cdf")]
    monkeypatch.setattr(_cells, "_ENOUGH_ROWS", 600)
    assert learn_cells(how, rows).summary.n_rows == 600
    # Indicators of categories are columns of an estimator of the user.
    monkeypatch.setattr(_predicted, "_MOST_NUMBERS", 800)
    assert learn_cells(how, rows).summary.n_rows == (600 if how == 20 else 100)


START = pd.Timestamp("2015-03-01")
SECONDS = np.random.default_rng(3).integers(0, 300_000_000, 1_500)
COLUMNS = {
    "days": START + pd.to_timedelta(SECONDS // 86_400, unit="D"),
    "hours": START + pd.to_timedelta(SECONDS // 3_600, unit="h"),
    "seconds": START + pd.to_timedelta(SECONDS, unit="s"),  # more than 32-bit numbers tell apart
    "zoned": (START + pd.to_timedelta(SECONDS // 86_400, unit="D")).tz_localize("UTC"),
    "spans": pd.to_timedelta(SECONDS // 86_400, unit="D"),
    "pounds": 1_000_000_000 + 7 * SECONDS,
    "negative": -SECONDS,
    "gaps": np.where(SECONDS % 3 == 0, np.nan, SECONDS // 1_000_000 * 10.0),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_thresholds_are_round_and_exact(name):
    """What a rule says decides on the cell, also for values between those that were seen."""
    column = pd.Series(COLUMNS[name], name="x")
    series = nw.from_native(column, series_only=True)
    order = column.rank().fillna(0).to_numpy()
    rows = Sample(["x"], [series], (order * 7 // 1_500).astype(int) % 2, None)
    cells = learn_cells(8, rows)
    assert len(cells.labels) > 4
    near = pd.concat([column, column + (column.iloc[1] - column.iloc[0]) / 977]).dropna()
    if name in ("pounds", "negative", "gaps"):
        near = near.round()
    codes = cells.encode([nw.from_native(near, series_only=True)])[0]
    for code, label in enumerate(cells.labels):
        inside = np.ones(len(near), dtype=bool)
        for text in re.findall(r"x >= ([^,]+)|([^,#]+) <= x", label.partition(" ")[2]):
            inside &= (near >= edge_of("".join(text), near)).to_numpy()
        for text in re.findall(r"x < ([^,]+)", label):
            inside &= (near < edge_of(text, near)).to_numpy()
        np.testing.assert_array_equal(inside, codes == code, err_msg=label)
    text = " ".join(cells.labels)
    assert {"days": "00:00:00", "hours": ":00:00", "seconds": ":00"}.get(name, "") in text
    assert not re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d:(?!00)\d\d", text)
    assert ("days" in text) == (name == "spans")


def edge_of(text, values):
    text = text.removesuffix(" or missing")
    if values.dtype.kind == "m":
        return pd.Timedelta(text)
    if values.dtype.kind == "M" or hasattr(values.dtype, "tz"):
        return pd.Timestamp(text, tz=getattr(values.dtype, "tz", None))
    return float(text)


def test_mixtures_are_named_by_rules_and_numbers_without_digests():
    labels = learn_cells(60, sample(people(20_000))).labels
    assert len({label.number for label in labels}) == len(labels)
    for label in labels:
        short = short_text(label)
        assert len(short) <= 60
        assert short == label or (short[-3:] == "..." and label.startswith(short[:-3]))
    for n_members in (2, 4, 12, 30):
        members = labels[:n_members]
        text = set_label(members)
        assert len(text) <= 200
        assert all(label.number in text for label in members)
        assert "+" not in text
    assert re.search(r"\+\d+ #[0-9a-f]{8}\}$", set_label(labels))  # too many even for numbers
    assert pickle.loads(pickle.dumps(labels)) == labels
    assert pickle.loads(pickle.dumps(labels))[0].number == "#01"
