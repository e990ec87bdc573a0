"""What is released beside the protected columns is warned of and named in the guarantee."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import chisquare

from skliftpriv import ConditionalReporting, GRRSanitizer, SubsetMergingSanitizer, shuffle_rows
from skliftpriv.datasets import load_adult
from skliftpriv.exceptions import UnprotectedColumnsWarning
from skliftpriv.html import report_page

PAIR = ("relationship", "occupation")
ADULT = load_adult()[list(PAIR)]
SORTED = ADULT.sort_values("relationship", ignore_index=True)
ORDER = "the order of the rows, which is associated with the sensitive values"


def merging(**parameters):
    return SubsetMergingSanitizer(*PAIR, epsilon=0.5, **parameters)


TELLING = {
    "named by S": (
        ADULT.set_index("relationship", drop=False).rename_axis("id"),
        "the index 'id'",
    ),
    "named numbers": (ADULT.rename_axis("person"), "the index 'person'"),
    "text": (
        ADULT.set_axis([f"r{i}" for i in range(len(ADULT))]),
        f"the index of type {pd.Index(['text']).dtype}",
    ),
    "several levels": (
        ADULT.set_index(["relationship", "occupation"], drop=False).rename_axis([None, "x"]),
        "the index 'x'",
    ),
    "codes of S": (
        ADULT.set_axis(pd.Index(pd.factorize(ADULT["relationship"])[0])),
        "the index, which is associated with the sensitive values",
    ),
    "last digit": (
        ADULT.set_axis(
            pd.Index(10 * np.arange(len(ADULT)) + pd.factorize(ADULT["relationship"])[0])
        ),
        "the index, which is associated with the sensitive values",
    ),
}


@pytest.mark.parametrize("case", TELLING)
def test_an_index_that_may_tell_s_is_warned_of_and_named(case):
    frame, what = TELLING[case]
    sanitizer = merging()
    with pytest.warns(UnprotectedColumnsWarning, match="Released with the rows, and not covered"):
        sanitizer.fit(frame)
    assert sanitizer.guarantee_.unprotected == (what,)
    assert f"not protected: {what}" in str(sanitizer.guarantee_)
    assert what.split("'")[0] in report_page(sanitizer)
    # The index stays, because rows are aligned on it, and is not warned of twice.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sanitizer.transform(frame).index.equals(frame.index)


@pytest.mark.parametrize("case", TELLING)
def test_an_index_that_is_dropped_is_not_warned_of(case):
    frame, _ = TELLING[case]
    sanitizer = merging(index="drop")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        released = sanitizer.fit_transform(frame)
    assert released.index.equals(pd.RangeIndex(len(frame)))
    assert sanitizer.guarantee_.unprotected == ()


@pytest.mark.parametrize(
    "frame",
    [
        ADULT,
        ADULT.sample(frac=1, random_state=0),
        ADULT[::3],
        ADULT.set_axis(pd.Index(np.random.default_rng(0).permutation(len(ADULT)))),
        pd.concat([ADULT, ADULT]),
        ADULT[:40].assign(relationship=["a"] * 20 + ["b"] * 20),
    ],
    ids=["range", "shuffled", "part", "numbers", "twice", "too few rows to tell"],
)
def test_plain_numbers_of_rows_are_fine(frame):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sanitizer = merging().fit(frame)
        sanitizer.transform(frame)
    assert sanitizer.guarantee_.unprotected == ()


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "array"])
@pytest.mark.parametrize("order", ["sorted", "alternating"])
def test_an_order_that_tells_s_is_warned_of_in_every_table(kind, order):
    frame = SORTED
    if order == "alternating":
        few = ADULT[ADULT["relationship"].isin(["Husband", "Wife"])]
        halves = [few[few["relationship"] == s][:1000] for s in ("Husband", "Wife")]
        places = np.arange(2000).reshape(2, 1000).T.ravel()
        frame = pd.concat(halves, ignore_index=True).iloc[places].reset_index(drop=True)
    table = {
        "pandas": lambda: frame,
        "polars": lambda: pl.from_pandas(frame),
        "pyarrow": lambda: pl.from_pandas(frame).to_arrow(),
        "array": lambda: frame.to_numpy(dtype=object),
    }[kind]()
    sanitizer = SubsetMergingSanitizer(0, 1, epsilon=0.5)
    with pytest.warns(UnprotectedColumnsWarning, match="the order of the rows"):
        sanitizer.fit(table)
    assert sanitizer.guarantee_.unprotected == (ORDER,)


def test_a_later_table_is_looked_at_too():
    sanitizer = merging().fit(ADULT)
    with pytest.warns(UnprotectedColumnsWarning, match="the index 'id'"):
        sanitizer.transform(ADULT.rename_axis("id")[["occupation"]])
    with pytest.warns(UnprotectedColumnsWarning, match="the order of the rows"):
        sanitizer.transform(SORTED)
    with pytest.warns(UnprotectedColumnsWarning, match="the order of the rows"):
        ConditionalReporting(*PAIR, epsilon=0.5).fit(ADULT).transform(SORTED)


def test_what_the_first_batch_released_stays_in_the_guarantee():
    with pytest.warns(UnprotectedColumnsWarning):
        sanitizer = merging().partial_fit(ADULT[:20_000].rename_axis("id"))
    assert sanitizer.partial_fit(ADULT[20_000:]).guarantee_.unprotected == ("the index 'id'",)


def test_columns_that_pass_through_are_named():
    sanitizer = SubsetMergingSanitizer("sex", "race", remainder="passthrough", epsilon=0.5)
    with pytest.warns(UnprotectedColumnsWarning):
        sanitizer.fit(load_adult()[["sex", "race", "age", "income"]])
    assert sanitizer.guarantee_.unprotected == ("age", "income")
    assert "not protected: age, income" in str(sanitizer.guarantee_)


TABLES = {
    "pandas": lambda rows: pd.DataFrame(rows, columns=["a", "b"]).rename_axis("id"),
    "polars": lambda rows: pl.DataFrame(rows, schema=["a", "b"], orient="row"),
    "pyarrow": lambda rows: pl.DataFrame(rows, schema=["a", "b"], orient="row").to_arrow(),
    "array": np.array,
}


@pytest.mark.parametrize("kind", TABLES)
def test_shuffled_rows_are_the_same_rows(kind):
    rows = [(i, -i) for i in range(200)]
    shuffled = shuffle_rows(TABLES[kind](rows))
    assert type(shuffled) is type(TABLES[kind](rows))
    found = shuffled.to_pylist() if kind == "pyarrow" else np.asarray(shuffled).tolist()
    found = [tuple(row.values()) if isinstance(row, dict) else tuple(row) for row in found]
    assert found != rows
    assert sorted(found) == rows
    if kind == "pandas":
        assert shuffled.index.equals(pd.RangeIndex(200))
        assert shuffled.index.name is None


def orders(shuffle, n_draws):
    found = pd.Series([tuple(shuffle(np.arange(4)[:, None])[:, 0]) for _ in range(n_draws)])
    return found.value_counts().to_numpy()


def test_all_orders_are_equally_likely():
    counts = orders(shuffle_rows, 4_800)
    assert counts.size == 24
    assert chisquare(counts).pvalue > 1e-6

    def lazy(rows):  # a shuffle that leaves the table alone now and then is found out
        return rows if np.random.default_rng().random() < 0.1 else shuffle_rows(rows)

    assert chisquare(orders(lazy, 4_800)).pvalue < 1e-6


def test_a_seed_repeats_the_order():
    one, two = (shuffle_rows(ADULT, random_state=3) for _ in range(2))
    pd.testing.assert_frame_equal(one, two)
    assert not one.equals(shuffle_rows(ADULT, random_state=4))
    assert shuffle_rows(ADULT[:0]).shape == (0, 2)


def test_the_released_index_is_that_of_the_rows_in_grr_too():
    frame = ADULT.sample(frac=0.1, random_state=0)
    assert GRRSanitizer(*PAIR).fit(frame).transform(frame).index.equals(frame.index)


@pytest.mark.parametrize("seed", range(20))
def test_chance_is_not_called_out_in_small_tables(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"s": rng.integers(2, size=60), "x": rng.integers(3, size=60)})
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnprotectedColumnsWarning)
        SubsetMergingSanitizer("s", "x").fit(frame.set_axis(rng.permutation(60) * 3))
