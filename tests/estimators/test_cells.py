"""Whole tables: sanitisers that reduce rows to cells keep their promises."""

import pickle
import re
from itertools import pairwise

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import KMeans
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from skliftpriv import (
    ConditionalReporting,
    CountedRows,
    GRRSanitizer,
    ORRSanitizer,
    OUESanitizer,
    SRLIPSanitizer,
    SRRSanitizer,
    SubsetMergingSanitizer,
    WatchdogSanitizer,
    audit,
)
from skliftpriv.cells import learning_rows
from skliftpriv.exceptions import (
    InvalidParameterError,
    SizeLimitError,
    UnknownCategoryError,
    UselessReleaseWarning,
)
from skliftpriv.html import report_page
from skliftpriv.metrics import attacker_advantage, attacker_advantage_bound
from skliftpriv.model_selection import tradeoff_curve

from ..cells.tables import people

FRAME = people(3_000).drop(columns="income")
INCOME = people(3_000)["income"]
USEFUL = ["age", "job", "hours", "since"]
SANITIZERS = [
    WatchdogSanitizer,
    SubsetMergingSanitizer,
    ORRSanitizer,
    SRRSanitizer,
    GRRSanitizer,
    ConditionalReporting,
]
pytestmark = pytest.mark.filterwarnings(
    "ignore::skliftpriv.exceptions.SampleSizeWarning",
    "ignore::skliftpriv.exceptions.UnprotectedColumnsWarning",
)


def target(**changes):
    options = {"epsilon": 0.3, "cells": 20, "utility": "target", **changes}
    return ORRSanitizer("sex", **options)


@pytest.mark.parametrize("kind", SANITIZERS)
@pytest.mark.parametrize("y", [INCOME, None], ids=["target", "columns"])
def test_the_lift_of_what_is_released_is_within_the_budget(kind, y):
    sanitizer = kind("sex", epsilon=0.4, cells=15).fit(FRAME, y)
    assert sanitizer.report_.satisfied
    assert sanitizer.joint_.shape[1] <= 15
    codes = sanitizer.encode(FRAME)
    n_cells = sanitizer.joint_.shape[1]
    s = pd.factorize(FRAME["sex"], sort=True)[0]
    # Counted again, from the cells of the rows and the integers that are sampled.
    sampled = sanitizer.result_.certified.channel.matrix
    p_sy = np.array([sampled[codes[s == value]].sum(axis=0) for value in (0, 1)]) / len(FRAME)
    lift = p_sy / p_sy.sum(axis=0) / p_sy.sum(axis=1, keepdims=True)
    assert np.abs(np.log(lift)).max() <= 0.4 + 1e-9
    assert set(codes % n_cells) == set(range(n_cells))
    released = sanitizer.transform(FRAME)
    assert list(released.columns) == list(sanitizer.get_feature_names_out()) == ["cell"]


@pytest.mark.parametrize("kind", [OUESanitizer, SRLIPSanitizer])
def test_sanitisers_of_other_outputs_have_no_cells(kind):
    with pytest.raises(TypeError, match="cells"):
        kind("sex", cells=10)


def test_what_is_kept_is_that_of_the_mechanism_on_the_table_of_cells():
    sanitizer = target().fit(FRAME, INCOME)
    cell = np.array(sanitizer.joint_.useful_labels, dtype=object)[sanitizer.encode(FRAME)]
    plain = pd.DataFrame({"sex": FRAME["sex"], "cell": cell})
    by_hand = target(cells=None).fit(plain, INCOME)
    assert by_hand.joint_ == sanitizer.joint_
    assert by_hand.report_.utility_kept == pytest.approx(sanitizer.report_.utility_kept, abs=1e-6)


@pytest.mark.parametrize("seen", [False, True])
def test_the_target_is_kept_best_by_the_mechanism_for_it(seen):
    curve = tradeoff_curve(
        {
            "target": target(use_sensitive=seen),
            "useful": ORRSanitizer("sex", cells=20, use_sensitive=seen),
            "merging": SubsetMergingSanitizer("sex", cells=20),
        },
        FRAME,
        [0.1, 0.4],
        y=INCOME,
    )
    assert curve["satisfied"].all()
    kept = curve.pivot(index="epsilon", columns="mechanism", values="target_kept")
    assert (kept["target"] >= kept[["useful", "merging"]].max(axis=1) - 1e-6).all()


def test_a_pipeline_is_fitted_and_searched():
    encoder = make_column_transformer(
        (
            OneHotEncoder(handle_unknown="ignore"),
            make_column_selector(dtype_exclude="number"),
        ),
        remainder="passthrough",
    )
    model = make_pipeline(
        target(output="typical", useful=["age", "job"]), encoder, LogisticRegression(max_iter=5_000)
    )
    assert cross_val_score(model, FRAME, INCOME, cv=3, scoring="roc_auc").min() > 0.6
    grid = {"orrsanitizer__epsilon": [0.1, 1.0], "orrsanitizer__cells": [4, 20]}
    search = GridSearchCV(model, grid, cv=2, scoring="roc_auc").fit(FRAME, INCOME == "high")
    assert set(search.best_params_) == set(grid)
    assert search.best_score_ > 0.6
    assert search.predict(FRAME).dtype == bool


def test_a_number_as_target_is_binned():
    rng = np.random.default_rng(0)
    pay = FRAME["age"] * 100.0 + rng.normal(size=len(FRAME))
    sanitizer = target(epsilon=1.0).fit(FRAME, pay)
    assert len(sanitizer.counted_.target.edges) == 9
    assert sanitizer.report_.utility_kept > 0.5
    with pytest.raises(InvalidParameterError, match=r"fit\(X, y\)"):
        target().fit(FRAME)


def as_kind(frame, kind):
    return {"pandas": lambda f: f, "polars": pl.from_pandas, "arrow": pa.Table.from_pandas}[kind](
        frame
    )


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_typical_rows_have_the_columns_and_types_of_the_table(kind):
    typed = FRAME.assign(job=FRAME["job"].astype("category"), old=FRAME["age"] > 50)
    table = as_kind(typed, kind)
    released = target(output="typical", epsilon=0.5).fit(table, INCOME).transform(table)
    assert type(released) is type(table)
    back = released if kind == "pandas" else released.to_pandas()
    assert list(back.columns) == [*USEFUL, "old"]
    assert back["age"].dtype.kind == "i"
    assert set(back["age"]) <= set(FRAME["age"])
    assert set(back["job"].dropna()) <= set(FRAME["job"].dropna())
    assert back["since"].dtype.kind == "M"
    assert back["old"].dtype == bool
    if kind == "pandas":
        pd.testing.assert_series_equal(back.dtypes, typed[back.columns].dtypes)
    if kind == "polars":
        assert released.schema == table.select(released.columns).schema


def test_typical_rows_depend_on_the_output_alone():
    sanitizer = target().fit(FRAME, INCOME)
    drawn = sanitizer.sample_outputs(FRAME)
    releaser_rows = sanitizer.set_params(output="typical", verbose=False).transform(FRAME)
    assert len(releaser_rows.drop_duplicates()) <= len(sanitizer.channel_.outputs)
    assert len(drawn) == len(releaser_rows)


def test_the_page_shows_the_typical_rows():
    sanitizer = target(output="typical", cells=12).fit(FRAME, INCOME)
    released = sanitizer.transform(FRAME)
    page = report_page(sanitizer)
    text = page[page.index("The rows that are released") : page.index("<h2>The cells")]
    assert all(f'<th scope="col">{name}</th>' in text for name in USEFUL)
    shown = {tuple(re.findall("<td>(.*?)</td>", row)) for row in text.split("<tr>")[2:]}
    for row in released.drop_duplicates().itertuples(index=False):
        assert tuple("missing" if pd.isna(value) else str(value) for value in row) in shown
    assert "rows that are released" not in report_page(sanitizer.set_params(output="label"))
    wide = FRAME.assign(**{f"<{i}>": FRAME["age"] for i in range(30)})
    page = report_page(target(output="typical", cells=40).fit(wide, INCOME))
    assert "The first 15 of 34 columns are shown." in page
    assert '<th scope="col">&lt;10&gt;</th>' in page
    assert "<10>" not in page
    assert "The 20 most probable of" in page


def test_typical_rows_of_an_array_stay_numbers():
    array = np.column_stack(
        [FRAME["age"], FRAME["hours"], pd.factorize(FRAME["sex"], sort=True)[0]]
    ).astype(float)
    released = ORRSanitizer(2, cells=10, epsilon=0.5, output="typical").fit_transform(array)
    assert released.dtype == float
    assert released.shape == (len(array), 2)
    assert set(released[:, 0]) <= set(array[:, 0])


def test_typical_rows_without_cells_are_typical_values():
    frame = FRAME.assign(age=FRAME["age"] // 20 * 20)
    sanitizer = SubsetMergingSanitizer("sex", ["age", "job"], epsilon=0.3, output="typical")
    released = sanitizer.fit(frame).transform(frame)
    assert released["age"].dtype == frame["age"].dtype
    counts = frame.groupby(["age", "job"], dropna=False).size()
    members = sanitizer.channel_.members(sanitizer.channel_.outputs[0])
    parts = pd.DataFrame(list(members), columns=["age", "job"])
    n_rows = [counts.loc[(age, np.nan if job is None else job)] for age, job in members]
    ages = np.repeat(parts["age"], n_rows).to_numpy()
    first = sanitizer.sample_outputs(frame) == 0
    assert set(released.loc[first, "age"]) == {np.quantile(ages, 0.5, method="inverted_cdf")}


def test_rows_never_seen_are_released():
    sanitizer = target().fit(FRAME, INCOME)
    strange = FRAME.head(2).assign(age=[150, -3], job=["pilot", None])
    assert len(sanitizer.transform(strange)) == 2
    assert "resample" not in str(sanitizer.guarantee_)
    clusters = GRRSanitizer("sex", "job", epsilon=1.0, cells=Odd()).fit(FRAME)
    with pytest.raises(UnknownCategoryError, match="another cell"):
        clusters.transform(FRAME.assign(job="pilot"))


def test_new_values_of_s_are_told_where_they_matter():
    for seen, words in ((True, "Values of sex not seen at fit"), (False, None)):
        sanitizer = target(use_sensitive=seen, handle_unknown="resample").fit(FRAME, INCOME)
        text = str(sanitizer.guarantee_)
        assert ("not seen at fit" in text) == seen
        assert words is None or words in text
        assert "falls into one of the cells" in report_page(sanitizer)
        assert ("values of sex that were not counted" in report_page(sanitizer)) == seen
        assert len(sanitizer.transform(FRAME.head(3).assign(sex="X"))) == 3


class Odd(KMeans):
    """Clusters in which new rows have a cell of their own."""

    def fit(self, X, y=None):
        return self

    def predict(self, X):
        return np.where((X > 0).any(axis=1), X.argmax(axis=1), 99)


def test_a_missing_s_is_explained():
    sanitizer = target(use_sensitive=True).fit(FRAME, INCOME)
    with pytest.raises(InvalidParameterError, match="looks at the sensitive values"):
        sanitizer.transform(FRAME.drop(columns="sex"))
    released = sanitizer.transform(FRAME.drop(columns="sex"), sensitive_features=FRAME["sex"])
    assert len(released) == len(FRAME)
    assert sanitizer.conditional_channel_.matrix.shape[0] == 2 * sanitizer.joint_.shape[1]


def test_with_confidence_cells_are_learnt_from_other_rows():
    sanitizer = target(confidence=0.95, epsilon=2.0).fit(FRAME, INCOME)
    summary = sanitizer.guarantee_.cells
    assert summary.apart
    assert summary.n_rows + sanitizer.guarantee_.n_rows == len(FRAME)
    assert "other rows than those counted" in str(sanitizer.guarantee_)
    # Rows that were learnt from do not change the counts, and counted rows not the cells.
    rows = sanitizer.counted_
    assert rows.n_rows == 2_000
    plain = target().fit(FRAME, INCOME).guarantee_
    assert not plain.cells.apart
    assert "which are counted, too" in str(plain)
    same = CountedRows.of(FRAME, "sex", cells=20, target=INCOME)
    with pytest.raises(InvalidParameterError, match="apart=True"):
        target(confidence=0.95).fit(same)
    apart = CountedRows.of(FRAME, "sex", cells=20, target=INCOME, apart=True)
    assert target(confidence=0.95, epsilon=2.0).fit(apart).joint_ == sanitizer.joint_


@pytest.mark.slow
def test_confidence_assumes_nothing_about_columns_whose_rows_all_have_a_cell():
    tree = target(confidence=0.95, epsilon=2.0).fit(FRAME, INCOME)
    draws = "they are independent draws from it and"
    assert tree.guarantee_.assumption == f"{draws} contain all values of sex"
    listed = tree.set_params(categories={"sex": ["F", "M"]}).fit(FRAME, INCOME)
    assert listed.guarantee_.assumption == f"{draws} categories lists all values of sex"
    means = KMeans(5, n_init=1, random_state=0)
    other = SubsetMergingSanitizer("sex", USEFUL, cells=means, confidence=0.95, epsilon=2.0)
    assert other.fit(FRAME).guarantee_.assumption == f"{draws} contain all of its values"


def test_a_single_cell_is_told_apart_from_several():
    constant = FRAME[["sex"]].assign(x=1)
    text = SubsetMergingSanitizer("sex", cells=5).fit(constant).guarantee_.about_cells
    assert "only through 1 cell (5 were asked for" in text


def test_confidence_holds_for_the_distribution_that_rows_came_from():
    """The true levels of a large table, for cells and mechanisms fitted to samples of it."""
    everyone = people(200_000, seed=5)

    def n_broken(confidence):
        samples = [everyone.sample(1_500, random_state=seed) for seed in range(20)]
        fitted = [
            ORRSanitizer("sex", USEFUL, epsilon=0.7, cells=10, confidence=confidence).fit(
                rows, rows["income"]
            )
            for rows in samples
        ]
        assert all(sanitizer.report_.nmi > 0.5 for sanitizer in fitted)
        return sum(true_level(sanitizer, everyone) > 0.7 for sanitizer in fitted)

    assert n_broken(None) >= 15  # the table and the mechanism are such that a breach is seen
    assert n_broken(0.9) <= 2  # a tenth of the samples


def test_confidence_refuses_cells_without_counted_rows():
    """Rows of theirs would go to a relative, of which the confidence set knows nothing."""
    rest = FRAME.iloc[1_000:]
    cells = CountedRows.of(FRAME.iloc[:1_000], "sex", USEFUL, cells=8, apart=True).cells
    codes, _ = cells.encode([rest[name] for name in USEFUL])
    emptied = np.bincount(codes, minlength=len(cells.labels)).argmin()
    lacking = rest[codes != emptied]
    for table in (lacking, pl.from_pandas(lacking).lazy()):
        rows = CountedRows.of(table, "sex", USEFUL, cells=cells)
        surer = SubsetMergingSanitizer("sex", USEFUL, epsilon=2.0, confidence=0.9)
        with pytest.raises(
            InvalidParameterError, match=r"rows in all cells, but 1 of \d+ have none"
        ):
            surer.fit(rows)
        usual = surer.set_params(confidence=None).fit(rows)
        assert usual.encode(rest).max() < usual.joint_.shape[1] == len(cells.labels) - 1
    complete = CountedRows.of(rest, "sex", USEFUL, cells=cells)
    surer = surer.set_params(confidence=0.9).fit(complete)
    np.testing.assert_array_equal(surer.encode(rest), codes)


def true_level(sanitizer, everyone):
    """Return the largest log-lift, in either direction, of a mechanism for all rows."""
    s = pd.factorize(everyone["sex"])[0]
    p_sx = np.zeros((2, sanitizer.joint_.shape[1]))
    np.add.at(p_sx, (s, sanitizer.encode(everyone)), 1 / len(everyone))
    p_sy = p_sx @ sanitizer.channel_.matrix
    return np.abs(np.log(p_sy / np.outer(p_sx.sum(axis=1), p_sy.sum(axis=0)))).max()


def test_fewer_cells_than_asked_for_are_told():
    few = SubsetMergingSanitizer("sex", "job", epsilon=1.0, cells=50).fit(FRAME)
    n_cells = few.cells_.summary.n_cells
    assert (few.cells_.summary.asked, few.cells_.summary.fewer) == (50, True)
    assert n_cells <= 5
    fewer = "50 were asked for, but no more can be told apart with 30 rows each"
    words = f"{n_cells} cells ({fewer}), learnt from"
    assert words in str(few.guarantee_)
    assert words in report_page(few)
    assert f"Cells({n_cells} cells (50 were asked for) of job" in repr(few.cells_)
    for cells in (3, KMeans(3, n_init=1, random_state=0)):
        enough = SubsetMergingSanitizer("sex", "job", epsilon=1.0, cells=cells).fit(FRAME)
        assert "asked for" not in str(enough.guarantee_) + repr(enough.cells_)


def test_batches_are_counted_in_the_cells_of_the_first():
    first, second = FRAME.iloc[:1_500], FRAME.iloc[1_500:]
    batches = target().partial_fit(first, INCOME.iloc[:1_500])
    cells = batches.cells_
    batches.partial_fit(second, INCOME.iloc[1_500:])
    assert batches.cells_ is cells
    assert batches.guarantee_.n_rows == 3_000
    with pytest.raises(InvalidParameterError, match="cells of ORRSanitizer changed"):
        batches.set_params(cells=5).partial_fit(first, INCOME.iloc[:1_500])
    one = CountedRows.of(first, "sex", cells=8)
    both = one + CountedRows.of(second, "sex", cells=one.cells)
    assert both.n_rows == 3_000
    # Parts may be counted in other processes.
    elsewhere = pickle.loads(pickle.dumps(CountedRows.of(second, "sex", cells=one.cells)))
    assert (one + elsewhere).n_rows == 3_000
    with pytest.raises(InvalidParameterError, match="same cells"):
        one + CountedRows.of(second, "sex", cells=8)
    with pytest.raises(InvalidParameterError, match="counted without cells"):
        GRRSanitizer("sex", "job", cells=8).fit(CountedRows.of(first, "sex", "job"))


@pytest.mark.parametrize(
    "cells",
    [KMeans(5, n_init=1, random_state=0), DecisionTreeClassifier(max_leaf_nodes=5)],
    ids=["kmeans", "tree"],
)
def test_cells_of_an_estimator(cells):
    sanitizer = SubsetMergingSanitizer("sex", epsilon=1.0, cells=cells)
    sanitizer.fit(FRAME, INCOME)
    assert sanitizer.joint_.shape[1] == 5
    assert sanitizer.report_.satisfied
    name = "n_clusters" if isinstance(cells, KMeans) else "max_leaf_nodes"
    fewer = clone(sanitizer).set_params(**{f"cells__{name}": 3})
    assert fewer.fit(FRAME, INCOME).joint_.shape[1] == 3
    again = pickle.loads(pickle.dumps(sanitizer))
    np.testing.assert_array_equal(again.encode(FRAME), sanitizer.encode(FRAME))
    assert len(again.transform(FRAME)) == len(FRAME)


@pytest.mark.parametrize(
    ("cells", "message"),
    [(1, "cells"), ("many", "cells"), (10_000, "cells"), (OneHotEncoder(), "cells")],
)
def test_what_makes_no_cells_is_refused(cells, message):
    with pytest.raises(ValueError, match=message):
        GRRSanitizer("sex", cells=cells).fit(FRAME)


def test_too_few_rows_are_refused():
    with pytest.raises(InvalidParameterError, match="at least 60 are needed"):
        GRRSanitizer("sex", cells=5).fit(FRAME.head(59))
    with pytest.raises(InvalidParameterError, match="learnt from 33 rows"):
        GRRSanitizer("sex", cells=5, confidence=0.9).fit(FRAME.head(100))


def test_ranges_go_with_an_ordered_column_and_not_with_cells():
    with pytest.raises(InvalidParameterError, match="cells have no order"):
        SubsetMergingSanitizer("sex", cells=5, order="preserve").fit(FRAME)


def test_names_of_records_are_never_typical():
    named = FRAME.assign(name=[f"person {i}" for i in range(len(FRAME))])
    released = target(output="typical").fit(named, INCOME).transform(named)
    assert released["name"].isna().all()
    empty = FRAME.assign(nothing=np.nan, never=pd.NaT)
    released = target(output="typical").fit(empty, INCOME).transform(empty)
    assert released["nothing"].isna().all()
    assert released["never"].isna().all()


def test_audit_and_attackers_agree_with_the_guarantee():
    # Many cells may have a rare output, of which few rows do not tell enough. A seed, since of 150
    # other draws of 20,000 rows three were too few as well.
    sanitizer = target(epsilon=1.0, confidence=0.95, cells=10, random_state=0).fit(FRAME, INCOME)
    fresh = people(60_000, seed=9)
    assert audit(sanitizer, fresh[FRAME.columns]).verdict == "holds"
    released = sanitizer.transform(FRAME)
    gain = attacker_advantage(FRAME["sex"], released, random_state=0)
    assert gain <= attacker_advantage_bound(sanitizer.notion_, sanitizer.joint_.p_s)


def test_frequencies_of_cells_are_estimated():
    sanitizer = target(epsilon=1.5).fit(FRAME, INCOME)
    for output in ("label", "code"):
        sanitizer.set_params(output=output)
        found = sanitizer.estimate_frequencies(sanitizer.transform(FRAME))
        assert list(found.index) == list(sanitizer.joint_.useful_labels)
        assert found["estimate"].sum() == pytest.approx(1.0)


def test_the_page_shows_the_cells():
    sanitizer = target(epsilon=0.2).fit(FRAME, INCOME)
    page = report_page(sanitizer, target_name="income")
    assert "<h2>The cells</h2>" in page
    assert "20 cells, learnt from 3,000 rows" in page
    assert "falls into one of the cells" in page
    assert "job" in page
    plain = report_page(SubsetMergingSanitizer("sex", "job", epsilon=0.5).fit(FRAME))
    assert "<h2>The cells</h2>" not in plain


def test_labels_are_rules_in_the_order_of_the_tree():
    labels = target().fit(FRAME, INCOME).joint_.useful_labels
    numbers = [int(label.split(" ")[0].removeprefix("#")) for label in labels]
    assert all(low < high for low, high in pairwise(numbers))


def typical(**changes):
    return ORRSanitizer("sex", **{"cells": 10, "epsilon": 0.5, "output": "typical", **changes})


@pytest.mark.parametrize("kind", ["pandas", "ordered", "polars", "enum", "arrow"])
def test_typical_rows_do_not_list_the_values_of_other_rows(kind):
    """Categories are released with a column, whether they occur in it or not."""
    rng = np.random.default_rng(0)
    common = rng.integers(0, 60, len(FRAME))
    names = [f"person {i}" for i in range(len(FRAME))]
    some = [names[i] for i in common]
    frame = FRAME.assign(name=pd.Categorical(some, names, ordered=kind == "ordered"))
    table = (
        frame if kind in ("pandas", "ordered") else as_kind(frame, kind.replace("enum", "polars"))
    )
    if kind == "enum":
        table = table.with_columns(pl.col("name").cast(pl.Enum(names)))
    released = typical().fit(table, INCOME).transform(table)
    found = released["name"]
    if kind == "polars":
        assert found.dtype == pl.Categorical
        return
    listed = {
        "enum": lambda: list(found.dtype.categories),
        "arrow": lambda: found.chunk(0).dictionary.to_pylist(),
    }.get(kind, lambda: list(found.cat.categories))()
    assert 1 < len(listed) <= 10
    if kind in ("ordered", "enum"):
        assert listed == sorted(listed, key=names.index)


@pytest.mark.parametrize("output", ["typical", "label"])
def test_the_types_of_released_columns_are_those_of_fit(output):
    """In pandas the type of a row depends on whether its value is missing."""
    frame = FRAME.assign(age=FRAME["age"] // 20)
    options = {"output": output, "handle_unknown": "resample", "useful": "age"}
    sanitizers = [
        typical(**options, cells=4).fit(frame),
        GRRSanitizer("sex", epsilon=1.0, **options).fit(frame),
        GRRSanitizer("sex", epsilon=1.0, **options).fit(pl.from_pandas(frame)),
    ]
    for sanitizer in sanitizers:
        types = {
            sanitizer.transform(frame.head(1).assign(age=age)).dtypes.iloc[0]
            for age in (1, 1.5, np.nan, pd.array([1], dtype="Int8"))
        }
        assert len(types) == 1
    array = np.column_stack([frame["age"], frame["sex"] == "F"])
    sanitizer = GRRSanitizer(1, output=output, epsilon=1.0, handle_unknown="resample").fit(array)
    assert sanitizer.transform(np.array([[np.nan, 1.0]])).dtype == array.dtype


def test_counted_rows_do_not_decide_on_cells_or_bins():
    """With confidence the rows that are counted may change nothing but the counts."""
    rng = np.random.default_rng(0)
    learnt = learning_rows(len(FRAME), apart=True)
    counted = np.setdiff1d(np.arange(len(FRAME)), learnt)
    pay = FRAME["age"] * 100.0 + rng.normal(size=len(FRAME))
    other, other_pay = FRAME.copy(), pay.copy()
    mixed = rng.permutation(counted)
    other.iloc[counted] = FRAME.iloc[mixed].to_numpy()
    other = other.astype(FRAME.dtypes)
    other_pay.iloc[counted] = pay.iloc[mixed] + 500
    one, two = (
        target(confidence=0.9, epsilon=2.0).fit(*rows)
        for rows in ((FRAME, pay), (other, other_pay))
    )
    assert one.counted_.target.edges == two.counted_.target.edges
    assert one.cells_.labels == two.cells_.labels
    np.testing.assert_array_equal(
        one.cells_.encode(columns_of(FRAME))[0][learnt],
        two.cells_.encode(columns_of(FRAME))[0][learnt],
    )


def columns_of(frame):
    table = nw.from_native(frame, eager_only=True)
    return [table[name] for name in USEFUL]


def test_new_values_of_s_are_in_the_guarantee():
    """A tree has a cell for every row, but a mechanism that looks at S has none for a new s."""
    sanitizer = target(use_sensitive=True, handle_unknown="resample").fit(FRAME, INCOME)
    assert (sanitizer.encode(FRAME.assign(sex="X")) == -1).all()
    assert "Values of sex not seen at fit are replaced by a draw" in str(sanitizer.guarantee_)
    assert "values of sex that were not counted get a draw" in report_page(sanitizer)
    refusing = target(use_sensitive=True).fit(FRAME, INCOME)
    assert "values of sex that were not counted are refused" in report_page(refusing)
    blind = target(handle_unknown="resample").fit(FRAME, INCOME)
    assert "replaced by a draw" not in str(blind.guarantee_)


def test_typical_rows_of_cells_that_only_a_later_batch_has():
    sanitizer = GRRSanitizer("sex", "job", epsilon=1.0, cells=Odd(), output="typical").fit(FRAME)
    sanitizer.partial_fit(FRAME.assign(job=np.where(FRAME["age"] > 70, "pilot", FRAME["job"])))
    assert "another cell" in sanitizer.joint_.useful_labels
    released = sanitizer.transform(FRAME.assign(job="pilot"))
    assert set(released["job"].dropna()) <= set(FRAME["job"].dropna())


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize("empty", [np.nan, None], ids=["numbers", "nothing"])
def test_a_column_without_values_stays_without_values(kind, empty):
    table = as_kind(FRAME.assign(empty=empty), kind)
    released = typical().fit(table, INCOME).transform(table)
    column = released["empty"]
    assert pd.isna(
        np.asarray(column.to_pylist() if kind == "arrow" else column.to_list(), float)
    ).all()


@pytest.mark.parametrize("value", [[1], {}], ids=["list", "dict"])
def test_a_column_that_holds_no_categories_is_named(value):
    frame = FRAME.assign(strange=[value] * len(FRAME))
    with pytest.raises(InvalidParameterError, match="The column 'strange' holds values"):
        typical().fit(frame, INCOME)


class Predicting(BaseEstimator):
    """Predicts what it is told to."""

    def __init__(self, kind="numbers"):
        self.kind = kind

    def fit(self, X, y=None):
        return self

    def predict(self, X):
        high = (X[:, 0] > 0).astype(int)
        return {
            "numbers": high - 5.5,
            "text": np.array(["a", "b"])[high],
            "column": high[:, None],
            "short": high[:3],
            "nothing": None,
            "mixed": np.array(["a", 1], dtype=object)[high],
            "missing": np.where(high, np.nan, 1.0),
            "several": np.column_stack([high, high]),
            "no time": np.where(high, np.datetime64("nat"), np.datetime64("2020-01-01")),
            "none": np.where(high, None, "a"),
            "batch": (X[:, 0] > np.median(X[:, 0]) + 1e-6 * len(X)).astype(int) + len(X),
            "largest": np.round(3 * X[:, 0] / np.abs(X[:, 0]).max()),
        }[self.kind]


@pytest.mark.parametrize("kind", ["numbers", "text", "column"])
def test_cells_have_any_names(kind):
    assert typical(cells=Predicting(kind)).fit(FRAME, INCOME).joint_.shape == (2, 2)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("short", r"a cell for each of 3,000 rows.* shape \(3,\)"),
        ("nothing", "a cell for each of 3,000 rows"),
        ("mixed", "cells of the types int, str"),
        ("missing", "predicts missing values"),
        ("no time", "predicts missing values"),
        ("none", "predicts missing values"),
        ("batch", "the cell of a row must depend on this row only"),
        ("largest", "the cell of a row must depend on this row only"),
        ("several", "puts each row into 2 cells"),
    ],
)
def test_predictions_that_are_no_cells_are_explained(kind, message):
    with pytest.raises(InvalidParameterError, match=f"cells=Predicting .*{message}"):
        typical(cells=Predicting(kind)).fit(FRAME, INCOME)


@pytest.mark.parametrize("confidence", [None, 0.9])
def test_rows_are_counted_and_put_into_cells_some_at_a_time(monkeypatch, confidence):
    """Whatever the size of the parts, down to parts of which no row is counted."""
    frame, pay = FRAME.head(900).set_index("age", drop=False), 1.5 * FRAME["age"].head(900)
    pay.index = frame.index
    weight = np.arange(900) % 3 if confidence is None else None
    options = {"cells": 5, "confidence": confidence, "epsilon": 2.0}
    at_once = target(**options).fit(frame, pay, sample_weight=weight)
    codes = at_once.encode(frame)
    monkeypatch.setattr("skliftpriv.frames._numbers._PART_ROWS", 4)
    np.testing.assert_array_equal(at_once.encode(frame), codes)
    in_parts = target(**options).fit(frame, pay, sample_weight=weight)
    assert in_parts.joint_ == at_once.joint_
    assert in_parts.guarantee_ == at_once.guarantee_
    counts = [each.counted_.target for each in (in_parts, at_once)]
    assert counts[0].edges == counts[1].edges
    assert counts[0].table.useful == counts[1].table.useful
    np.testing.assert_array_equal(counts[0].table.counts, counts[1].table.counts)


def test_a_missing_target_is_told_with_all_that_are_missing(monkeypatch):
    monkeypatch.setattr("skliftpriv.frames._numbers._PART_ROWS", 500)
    income = INCOME.mask(np.arange(len(INCOME)) % 900 == 899)
    with pytest.raises(InvalidParameterError, match="y is missing in 3 of 3,000 rows"):
        target().fit(FRAME, income)


def test_a_changed_parameter_of_an_estimator_of_cells_is_noticed():
    cells = KMeans(5, n_init=1, random_state=np.random.RandomState(0))
    sanitizer = SubsetMergingSanitizer("sex", cells=cells).fit(FRAME)
    sanitizer.partial_fit(FRAME).transform(FRAME)
    sanitizer.set_params(cells__n_clusters=3)
    with pytest.raises(InvalidParameterError, match=r"cells__n_clusters of .* changed after fit"):
        sanitizer.transform(FRAME)
    with pytest.raises(InvalidParameterError, match=r"cells__n_clusters of .* changed after fit"):
        sanitizer.partial_fit(FRAME)
    assert sanitizer.fit(FRAME).joint_.shape[1] == 3


def test_a_pipeline_makes_cells_of_rows_that_are_released():
    """Steps and their parts compare by identity, also after a pickle."""
    number = make_column_selector(dtype_include="number")
    numbers = make_column_transformer((make_pipeline(SimpleImputer(), StandardScaler()), number))
    steps = make_pipeline(numbers, KMeans(4, n_init=1, random_state=0))
    sanitizer = SubsetMergingSanitizer("sex", cells=steps, epsilon=2.0).fit(FRAME)
    for one in (sanitizer, pickle.loads(pickle.dumps(sanitizer)), sanitizer.partial_fit(FRAME)):
        assert one.transform(FRAME)["cell"].nunique() == 4
    steps.steps[1] = ("kmeans", KMeans(2, n_init=1, random_state=0))
    with pytest.raises(InvalidParameterError, match=r"cells__steps.* changed after fit"):
        sanitizer.transform(FRAME)


def test_with_confidence_weights_are_records_of_which_some_are_learnt_from():
    """A row of a table of frequencies is not left out with all that it stands for."""
    rng = np.random.default_rng(0)
    odds = 1 / (1 + np.exp(-np.linspace(-3, 3, 150)))
    truth = np.stack([1 - odds, odds]) / 150
    table = pd.DataFrame({"s": np.repeat([0, 1], 150), "a": np.tile(np.arange(150), 2)})
    for _ in range(5):
        n = rng.multinomial(100_000, truth.ravel())
        options = {"cells": 4, "epsilon": 0.5, "confidence": 0.95}
        sanitizer = ORRSanitizer("s", "a", **options).fit(table, sample_weight=n)
        assert sanitizer.guarantee_.n_rows == 100_000 - 33_333
        assert sanitizer.cells_.summary.n_rows == 33_333
        y = sanitizer.channel_.matrix[sanitizer.encode(table.head(150))]
        lift = truth @ y / (truth.sum(1)[:, None] * (truth.sum(0) @ y))
        assert np.abs(np.log(lift)).max() <= 0.5
    with pytest.raises(InvalidParameterError, match="whole numbers: with confidence"):
        sanitizer.fit(table, sample_weight=n + 0.5)


@pytest.mark.parametrize("weighted", [False, True])
def test_confidence_refuses_a_sensitive_value_that_is_only_in_rows_learnt_from(weighted):
    n = 3_000
    learnt = learning_rows(n, apart=True)
    frame = pd.DataFrame({"s": np.resize(["x", "y"], n), "a": np.arange(n) % 7})
    frame.loc[learnt[:4], "s"] = "z"
    weight = np.ones(n)
    if weighted:  # of both copies of one row, one or two are learnt from
        weight[learnt[4]] = 2
        learnt = learning_rows(n, apart=True, weight=weight)
        frame["s"] = np.where(np.isin(np.arange(n), learnt[:4]), "z", np.resize(["x", "y"], n))
    options = {"cells": 4, "epsilon": 1.0, "confidence": 0.9}
    sanitizer = SubsetMergingSanitizer("s", "a", **options)
    with pytest.raises(InvalidParameterError, match="all values of s, but 'z' is only in rows"):
        sanitizer.fit(frame, sample_weight=weight)
    if weighted:
        return
    rows = CountedRows.of(frame, "s", "a", cells=4, apart=True)
    with pytest.raises(InvalidParameterError, match="'z' is only in rows"):
        sanitizer.fit(rows)
    more = pd.DataFrame({"s": "z", "a": np.arange(300) % 7})
    rows += CountedRows.of(more, "s", "a", cells=rows.cells)
    assert sanitizer.fit(rows).joint_.sensitive_labels == ("x", "y", "z")


def test_typical_rows_and_cells_are_those_of_weighted_rows():
    rng = np.random.default_rng(1)
    age = rng.integers(20, 60, 2_000)
    frame = pd.DataFrame(
        {"sex": rng.choice(["f", "m"], 2_000), "age": age, "v": np.where(age % 3, "out", "in")}
    )
    weight = np.where(frame["v"] == "in", 1.0, 0.0)
    sanitizer = SubsetMergingSanitizer("sex", cells=4, epsilon=3.0, output="typical")
    sanitizer.fit(frame, frame["age"] > 40, sample_weight=weight)
    assert set(sanitizer.transform(frame)["v"]) == {"in"}
    assert sanitizer.cells_.summary.n_rows == weight.sum()
    one = SubsetMergingSanitizer("sex", "age", cells=2, epsilon=9.0, output="typical")
    old = one.fit(frame, sample_weight=np.where(age > 50, 50.0, 1.0)).transform(frame)["age"]
    assert old.max() > one.fit(frame).transform(frame)["age"].max()


def test_the_guarantee_says_whether_rows_that_cells_were_learnt_from_are_counted():
    first = CountedRows.of(FRAME.head(2_000), "sex", USEFUL, cells=8)
    second = CountedRows.of(FRAME.tail(1_000), "sex", USEFUL, cells=first.cells)
    assert first.cells == second.cells
    said = [
        SubsetMergingSanitizer("sex").fit(rows).guarantee_.about_cells
        for rows in (first, first + second, second)
    ]
    assert [text.partition("rows, which ")[2] for text in said] == [
        "are counted, too",
        "are counted, too",
        "may be counted, too",
    ]


def test_rules_of_numbers_that_differ_by_little_tell_cells_apart():
    """32-bit numbers, with which trees compute, take these as equal."""
    part = np.random.default_rng(0).random(len(FRAME))
    for numbers in (1e6 + part, 1e9 + part, 1e-50 * part, 2**60 + np.arange(len(FRAME)), part):
        high = part > 0.5 if numbers.dtype == float else numbers > 2**60 + 1_500
        frame = pd.DataFrame({"sex": FRAME["sex"], "v": numbers})
        cells = SubsetMergingSanitizer("sex", cells=9, epsilon=2.0).fit(frame, high).cells_
        rules = [label.partition(" ")[2] for label in cells.labels]
        assert len(set(rules)) == 9
        codes = cells.encode([numbers])[0]
        for code, rule in enumerate(rules):
            inside = pd.DataFrame({"v": numbers.astype(float)}).eval(rule).to_numpy()
            # Edges are written with 6 digits, or those of 64-bit numbers.
            assert (inside != (codes == code)).sum() <= 2, rule


def test_rules_of_times_with_a_zone_say_which():
    time = pd.Timestamp("2020-01-01", tz="Europe/Berlin") + pd.to_timedelta(
        np.arange(len(FRAME)), unit="h"
    )
    frame = pd.DataFrame({"sex": FRAME["sex"], "t": time})
    late = np.arange(len(FRAME)) >= 1_000
    cells = SubsetMergingSanitizer("sex", cells=2, epsilon=3.0).fit(frame, late).cells_
    assert cells.labels[0] == f"#1 t < {time[1_000].tz_convert('UTC'):%Y-%m-%d %H:%M:%S} UTC"


def test_dates_are_not_taken_for_numbers():
    sanitizer = SubsetMergingSanitizer("sex", "age", cells=4, epsilon=2.0).fit(FRAME)
    with pytest.raises(InvalidParameterError, match="age held numbers at fit, and now holds"):
        sanitizer.transform(FRAME.assign(age=pd.Timestamp("2020-01-01")))


def test_integers_that_floats_only_come_close_to_are_put_into_cells():
    for kind in ("arrow", "pandas"):
        frame = pd.DataFrame({"sex": FRAME["sex"], "id": 2**53 + np.arange(len(FRAME))})
        cells = SubsetMergingSanitizer("sex", cells=5, epsilon=2.0).fit(as_kind(frame, kind)).cells_
        assert len(cells.labels) == 5


def test_one_cell_is_warned_of():
    with pytest.warns(UselessReleaseWarning, match="All rows are in one cell"):
        SubsetMergingSanitizer("sex", cells=5).fit(FRAME[["sex"]].assign(a=1))


@pytest.mark.parametrize("encode", ["ordinal", "onehot"])
def test_a_discretiser_puts_rows_into_combinations_of_bins(encode):
    numbers = FRAME[["sex"]].assign(a=np.arange(len(FRAME)) % 97, b=np.arange(len(FRAME)) % 5)
    bins = KBinsDiscretizer(3, encode=encode, quantile_method="averaged_inverted_cdf")
    piped = make_pipeline(bins)
    for cells in (bins, piped):
        sanitizer = SubsetMergingSanitizer("sex", cells=cells, epsilon=2.0).fit(numbers)
        expected = bins.fit_transform(numbers[["a", "b"]])
        expected = expected if encode == "ordinal" else expected.toarray()
        groups = pd.DataFrame(expected).groupby(list(range(expected.shape[1]))).ngroup()
        assert len(sanitizer.cells_.labels) == groups.nunique() == 9
        codes = sanitizer.cells_.encode([numbers["a"], numbers["b"]])[0]
        assert len({*zip(codes, groups, strict=True)}) == 9
    assert sanitizer.transform(numbers).shape == (len(FRAME), 1)
    with pytest.raises(InvalidParameterError, match="StandardScaler must put rows into bins"):
        sanitizer.set_params(cells=StandardScaler()).fit(numbers)


def test_estimators_that_make_a_cell_of_every_row_are_refused():
    frame = pd.DataFrame({"sex": np.resize(["f", "m"], 12_000), "a": np.arange(12_000.0)})
    with pytest.raises(SizeLimitError, match="The LinearRegression of cells= makes 12,000 cells"):
        SubsetMergingSanitizer("sex", cells=LinearRegression()).fit(
            frame, frame["a"].astype(int) % 9
        )


@pytest.mark.parametrize("digits", [3, 2], ids=["millimetres", "cents"])
def test_values_on_a_decimal_step_belong_to_it(digits):
    whole = {3: 5_800_000, 2: 50_000_000}[digits]
    values = np.repeat(np.arange(8), 50) / 10**digits
    v = np.round(whole + values, digits)
    v[-1] = whole + 8 if digits == 3 else whole + 80_000  # which asks for steps of this size
    frame = pd.DataFrame({"s": np.resize(["x", "y"], v.size), "v": v})
    codes = np.round(10**digits * (v - whole)).astype(int)
    cells = SubsetMergingSanitizer("s", cells=8, epsilon=3.0).fit(frame, codes).cells_
    for cell, rule in enumerate(label.partition(" ")[2] for label in cells.labels):
        inside = frame.eval(rule).to_numpy()
        np.testing.assert_array_equal(inside, cells.encode([v])[0] == cell)
    assert len(set(zip(cells.encode([v])[0], codes.clip(max=8), strict=True))) == 9


@pytest.mark.parametrize("unit", ["ms", "us"])
def test_rules_of_times_below_a_second_tell_cells_apart(unit):
    n = np.arange(600)
    time = pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(250 * n, unit=unit))
    frame = pd.DataFrame({"s": np.resize(["x", "y"], 600), "t": time})
    cells = SubsetMergingSanitizer("s", cells=6, epsilon=3.0).fit(frame, n // 100).cells_
    edges = [time[100 * i] for i in range(1, 6)]
    assert len({label.partition(" ")[2] for label in cells.labels}) == 6
    for label, edge in zip(cells.labels, edges, strict=False):
        written = label.rpartition("< ")[2]
        assert time[100 * edges.index(edge) + 99] < pd.Timestamp(written) <= edge


def test_a_frozen_estimator_is_not_fitted_again():
    X = FRAME[["age"]].fillna(40.0).assign(sex=FRAME["sex"])
    for inner in (KMeans(3, n_init=1), make_pipeline(StandardScaler(), KMeans(3, n_init=1))):
        inner.fit(X[["age"]])
        cells = FrozenEstimator(inner)
        sanitizer = SubsetMergingSanitizer("sex", "age", cells=cells, epsilon=3.0).fit(X)
        assert sanitizer.cells_.summary.made_by == "KMeans"
        said = "learnt from rows that are not known, which may be counted, too"
        assert said in sanitizer.guarantee_.about_cells
        assert len(sanitizer.cells_.labels) <= 3
    np.testing.assert_array_equal(
        sanitizer.cells_.partition._predicted(X[["age"]]), inner.predict(X[["age"]])
    )


def test_a_guarantee_says_what_it_assumes_of_cells_that_were_given():
    first = CountedRows.of(FRAME, "sex", USEFUL, cells=8, apart=True)
    rows = CountedRows.of(FRAME, "sex", USEFUL, cells=first.cells)
    surer = SubsetMergingSanitizer("sex", epsilon=2.0, confidence=0.9)
    assert "it is assumed that none is counted" in surer.fit(rows).guarantee_.about_cells
    assert "other rows than those counted" in surer.fit(first).guarantee_.about_cells
