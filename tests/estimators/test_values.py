"""categories= and min_count=: closed lists of values, and one symbol for rare ones."""

import pickle
import warnings
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

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
)
from skliftpriv.certificate import TOTAL
from skliftpriv.exceptions import (
    InvalidParameterError,
    SampleSizeWarning,
    SizeLimitError,
    UnknownCategoryError,
)
from skliftpriv.html import report_page
from skliftpriv.metrics import audit

KINDS = [
    WatchdogSanitizer,
    SubsetMergingSanitizer,
    ORRSanitizer,
    SRRSanitizer,
    GRRSanitizer,
    ConditionalReporting,
]
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
pytestmark = pytest.mark.filterwarnings(
    "ignore::skliftpriv.exceptions.SampleSizeWarning", "ignore:The search reached"
)


def frame(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    s = rng.choice(["ill", "well"], n, p=[0.3, 0.7])
    common = np.where(rng.random(n) < np.where(s == "ill", 0.6, 0.4), "a", "b")
    common = np.where(rng.random(n) < 0.2, "c", common)
    x = np.where(rng.random(n) < 0.02, [f"rare{i}" for i in rng.integers(0, 15, n)], common)
    return pd.DataFrame({"s": s, "x": x})


FRAME = frame()
COUNTS = FRAME["x"].value_counts()
LISTED = [*COUNTS.index, "never", "nobody"]


def sanitizer_of(kind, **options):
    if kind in (ORRSanitizer, SRRSanitizer):
        options = {"gap": 1e-3, "time_limit": 0.3, **options}
    return kind("s", "x", **{"epsilon": 0.8, **options})


# Closed lists


@each_kind
@pytest.mark.parametrize("confidence", [None, 0.95])
def test_a_listed_value_without_rows_gets_a_draw_from_the_output(kind, confidence):
    common = FRAME[FRAME["x"].isin(["a", "b", "c"])]
    sanitizer = sanitizer_of(
        kind, categories={"x": LISTED}, confidence=confidence, random_state=0
    ).fit(common)
    n = 4000
    new = pd.DataFrame({"s": ["ill"] * n, "x": ["never"] * n})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        drawn = sanitizer.sample_outputs(new)
    expected = (sanitizer.result_.drawn_weights / TOTAL).toarray()[0]
    shares = np.bincount(drawn, minlength=expected.size) / n
    assert np.abs(shares - expected).max() < 5 * np.sqrt(0.25 / n)
    assert (sanitizer.encode(new) == -1).all()
    joint, channel = sanitizer.joint_, sanitizer.channel_
    np.testing.assert_allclose(expected, channel.p_y(joint.p_x), atol=1e-9)
    assert "never" not in joint.useful_labels


@each_kind
def test_values_outside_the_list_are_refused_at_fit_and_at_transform(kind):
    with pytest.raises(UnknownCategoryError, match=r"x: the rows hold 'b'.* 1 values"):
        sanitizer_of(kind, categories={"x": ["a"]}).fit(FRAME[FRAME["x"].isin(["a", "b"])])
    with pytest.raises(UnknownCategoryError, match=r"s: the rows hold 'well'"):
        sanitizer_of(kind, categories={"s": ["ill", "dead"]}).fit(FRAME)
    fitted = sanitizer_of(kind, categories={"x": LISTED}).fit(FRAME)
    strange = FRAME.head(3).assign(x=["never", "strange", "a"])
    with pytest.raises(UnknownCategoryError, match="not listed in categories, such as 'strange'"):
        fitted.transform(strange)
    lenient = sanitizer_of(kind, categories={"x": LISTED}, handle_unknown="resample").fit(FRAME)
    assert len(lenient.transform(strange)) == 3


def test_with_confidence_listed_values_are_in_the_set_and_nobody_is_warned():
    many = pd.DataFrame(
        {"s": FRAME["s"], "x": [f"v{i}" if i % 20 == 0 else "a" for i in range(len(FRAME))]}
    )
    listed = {"x": [*sorted(many["x"].unique()), "new"], "s": ["ill", "well"]}
    with pytest.warns(SampleSizeWarning, match="categories="):
        WatchdogSanitizer("s", "x", confidence=0.95).fit(many)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sanitizer = WatchdogSanitizer("s", "x", confidence=0.95, categories=listed).fit(many)
    assert not any("closed list" in str(each.message) for each in caught)
    assert sanitizer.result_.over.unseen_labels == ("new",)
    assert "categories lists all of its values" in str(sanitizer.guarantee_)
    assert "contain all of its values" not in str(sanitizer.guarantee_)
    assert "the confidence set includes them" in str(sanitizer.guarantee_)


@pytest.mark.parametrize("listed", list(product([False, True], repeat=2)))
def test_the_assumption_names_what_is_not_listed(listed):
    lists = {"x": LISTED, "s": ["ill", "well"]}
    given = {k: v for (k, v), keep in zip(lists.items(), listed, strict=True) if keep}
    sanitizer = sanitizer_of(WatchdogSanitizer, confidence=0.95, categories=given).fit(FRAME)
    text = sanitizer.guarantee_.assumption
    assert ("categories lists all values of x" in text) == (listed == (True, False))
    assert ("the rows contain all of s" in text) == (listed == (True, False))
    assert ("the rows contain all of x" in text) == (listed == (False, True))
    assert ("contain all of its values" in text) == (listed == (False, False))
    assert ("lists all of its values" in text) == (listed == (True, True))
    assert text in report_page(sanitizer)


def test_listed_sensitive_values_without_rows_are_not_covered():
    sanitizer = sanitizer_of(
        WatchdogSanitizer, confidence=0.95, categories={"s": ["ill", "well", "dead"]}
    ).fit(FRAME)
    assert "Listed values of s without rows at fit (1) are not covered" in str(sanitizer.guarantee_)
    plain = sanitizer_of(WatchdogSanitizer, confidence=0.95).fit(FRAME)
    prior, before = sanitizer.result_.over.prior, plain.result_.over.prior
    assert (prior.high > before.high).all()


def test_a_mechanism_that_sees_s_draws_for_listed_sensitive_values():
    sanitizer = ORRSanitizer(
        "s", "x", use_sensitive=True, categories={"s": ["ill", "well", "dead"]}, epsilon=0.5
    ).fit(FRAME)
    new = FRAME.head(5).assign(s="dead")
    assert (sanitizer.encode(new) == -1).all()
    assert sanitizer.guarantee_.randomized
    with pytest.raises(UnknownCategoryError, match="not listed"):
        sanitizer.transform(new.assign(s="odd"))


def test_several_columns_have_lists_of_their_own_and_all_combinations():
    table = FRAME.assign(z=np.where(np.arange(len(FRAME)) % 3 > 0, "u", "v"))
    lists = {"x": LISTED, "z": ["u", "v", "w"]}
    sanitizer = WatchdogSanitizer("s", ["x", "z"], categories=lists).fit(table)
    seen = len(table[["x", "z"]].drop_duplicates())
    known = sanitizer.guarantee_.values
    assert known.useful_closed
    assert known.useful_unseen == 3 * len(LISTED) - seen
    new = table.head(2).assign(z="w")
    assert len(sanitizer.transform(new)) == 2
    with pytest.raises(UnknownCategoryError, match=r"z: the rows hold 'v'"):
        WatchdogSanitizer("s", ["x", "z"], categories={"z": ["u"]}).fit(table)
    part = WatchdogSanitizer("s", ["x", "z"], categories={"z": ["u", "v", "w"]}).fit(table)
    assert not part.guarantee_.values.useful_closed
    with pytest.raises(UnknownCategoryError, match="not seen at fit"):
        part.transform(new)


def test_lists_may_hold_numbers_dates_and_missing_values():
    numbers = pd.DataFrame({"s": FRAME["s"], "x": np.arange(len(FRAME)) % 4})
    numbers.loc[:20, "x"] = np.nan
    with pytest.raises(UnknownCategoryError, match="the rows hold None"):
        WatchdogSanitizer("s", "x", categories={"x": [0, 1, 2, 3]}).fit(numbers)
    for values in (
        [0, 1, 2, 3, None],
        np.array([0, 1, 2, 3, 9, np.nan]),
        pd.Index([0, 1, 2, 3, np.nan]),
    ):
        sanitizer = WatchdogSanitizer("s", "x", categories={"x": values}).fit(numbers)
        assert clone(sanitizer).fit(numbers).transform(numbers).shape == (len(numbers), 1)
        sanitizer.transform(numbers)
    with pytest.raises(UnknownCategoryError, match=r"it lists '0', of another type"):
        WatchdogSanitizer("s", "x", categories={"x": list("0123")}).fit(
            numbers.dropna().astype({"x": int})
        )
    days = pd.date_range("2024-01-01", periods=4)
    dates = pd.DataFrame({"s": FRAME["s"], "x": days[np.arange(len(FRAME)) % 3]})
    dated = WatchdogSanitizer("s", "x", categories={"x": list(days)}).fit(dates)
    assert dated.guarantee_.values.useful_unseen == 1
    polars = WatchdogSanitizer("s", "x", categories={"x": LISTED}).fit(pl.from_pandas(FRAME))
    assert polars.guarantee_.values.useful_unseen == 2


def test_columns_of_arrays_and_sensitive_features_can_be_listed():
    array = FRAME.to_numpy(dtype=object)
    sanitizer = WatchdogSanitizer(0, 1, categories={1: LISTED, 0: ["ill", "well"]}).fit(array)
    assert sanitizer.guarantee_.values.listed == ("x1", "x0")
    apart = WatchdogSanitizer(None, "x", categories={"sensitive_features": ["ill", "well"]})
    apart.fit(FRAME[["x"]], sensitive_features=FRAME["s"])
    assert apart.guarantee_.values.sensitive_closed


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"y": ["a"]}, "neither a useful nor a sensitive column"),
        ({"x": "abc"}, "must be a list of values"),
        ({"x": []}, "must be a list of values"),
        ({"x": [["a"]]}, "must be a list of values"),
        ({"x": [*LISTED, "a"]}, "lists 'a' more than once"),
        ({"x": LISTED, 1: LISTED}, "values of 'x' twice"),
    ],
)
def test_wrong_lists_are_refused(wrong, message):
    with pytest.raises(InvalidParameterError, match=message):
        WatchdogSanitizer("s", "x", categories=wrong).fit(FRAME)


@each_kind
def test_listed_values_of_s_are_where_s_is_needed_only(kind):
    """What is sent to processes that draw has no labels of S if the mechanism ignores S."""
    sanitizer = sanitizer_of(kind, categories={"s": ["ill", "well", "unseen"]}).fit(FRAME)
    sent = pickle.dumps(sanitizer.release_)
    needed = [word in sent for word in (b"ill", b"well", b"unseen")]
    assert needed == [sanitizer.needs_sensitive] * 3
    assert sanitizer.guarantee_.values.sensitive_closed


def test_too_many_listed_values_are_refused_before_they_are_written_out():
    lists = {"x": [*LISTED, *range(10_000)], "z": list(range(10_000))}
    table = FRAME.assign(z=0)
    WatchdogSanitizer("s", ["x", "z"], categories=lists).fit(table)
    with pytest.raises(SizeLimitError, match="List fewer values"):
        WatchdogSanitizer("s", ["x", "z"], categories=lists, confidence=0.9).fit(table)


def test_a_list_that_changed_after_fit_is_noticed():
    lists = {"x": list(LISTED)}
    sanitizer = WatchdogSanitizer("s", "x", categories=lists).fit(FRAME)
    lists["x"].append("more")
    with pytest.raises(InvalidParameterError, match="categories of WatchdogSanitizer changed"):
        sanitizer.transform(FRAME)


# Rare values


@each_kind
def test_rare_values_are_one_symbol_that_does_not_name_them(kind):
    sanitizer = sanitizer_of(kind, min_count=10).fit(FRAME)
    rare = set(COUNTS[COUNTS < 10].index)
    labels = sanitizer.joint_.useful_labels
    assert set(labels) == {*COUNTS[COUNTS >= 10].index, "other values"}
    assert not rare & set(labels)
    released = sanitizer.transform(FRAME)["x"]
    page = report_page(sanitizer)
    for value in rare:
        assert not released.astype(str).str.contains(value).any()
        assert value not in page
        assert value not in str(sanitizer.report_) + str(sanitizer.guarantee_)
    assert sanitizer.joint_.n_rows == len(FRAME)
    known = sanitizer.guarantee_.values
    assert (known.min_count, known.pooled) == (10, len(rare))
    assert f"The {len(rare)} rarest values are treated as one" in str(sanitizer.guarantee_)


def test_rare_values_have_the_output_of_the_pool():
    sanitizer = GRRSanitizer("s", "x", min_count=10).fit(FRAME)
    labels = sanitizer.joint_.useful_labels
    codes = sanitizer.encode(FRAME)
    rare = FRAME["x"].map(COUNTS) < 10
    assert (codes[rare] == labels.index("other values")).all()
    assert (codes[~rare] != labels.index("other values")).all()
    frequencies = sanitizer.estimate_frequencies(sanitizer.transform(FRAME))
    assert "other values" in frequencies.index


def test_values_not_seen_at_fit_do_not_belong_to_the_pool():
    sanitizer = GRRSanitizer("s", "x", min_count=10).fit(FRAME)
    for value in ("rare99", "other values"):
        with pytest.raises(UnknownCategoryError, match="not seen"):
            sanitizer.transform(FRAME.head(2).assign(x=value))
    lenient = GRRSanitizer("s", "x", min_count=10, handle_unknown="resample").fit(FRAME)
    assert (lenient.encode(FRAME.head(2).assign(x="other values")) == -1).all()


@pytest.mark.filterwarnings("ignore:Released with the rows")
def test_the_pool_has_at_least_so_many_rows_and_two_values():
    one = pd.DataFrame(
        {"s": ["i", "w"] * 100, "x": ["a"] * 100 + ["b"] * 60 + ["c"] * 38 + ["d"] * 2}
    )
    sanitizer = GRRSanitizer("s", "x", min_count=3).fit(one)
    # d alone would be d under another name, so that c, the next rarest, joins it.
    assert sanitizer.joint_.useful_labels == ("a", "b", "other values")
    np.testing.assert_allclose(sanitizer.joint_.p_x, [0.5, 0.3, 0.2])
    assert GRRSanitizer("s", "x", min_count=2).fit(one).guarantee_.values.pooled == 0
    assert "All values have at least 2 rows" in str(
        GRRSanitizer("s", "x", min_count=2).fit(one).guarantee_
    )
    with pytest.raises(InvalidParameterError, match="pools all 4 values of x"):
        GRRSanitizer("s", "x", min_count=150).fit(one)


def test_a_value_with_the_name_of_the_pool_is_kept_apart():
    table = FRAME.replace({"x": {"a": "other values"}})
    sanitizer = GRRSanitizer("s", "x", min_count=10).fit(table)
    assert {"other values", "other values (2)"} <= set(sanitizer.joint_.useful_labels)
    codes = sanitizer.encode(table[table["x"] == "other values"])
    assert set(codes) == {sanitizer.joint_.useful_labels.index("other values")}


def test_combinations_of_columns_are_pooled():
    table = FRAME.assign(z=np.where(np.arange(len(FRAME)) % 3 > 0, "u", "v"))
    sanitizer = ORRSanitizer("s", ["x", "z"], min_count=30, epsilon=0.5).fit(table)
    pairs = table.groupby(["x", "z"]).size()
    assert sanitizer.joint_.useful_labels[-1] == ("other values", "other values")
    # Those with fewer than 30 rows have 29 together, so that the next rarest joins them.
    assert pairs[pairs < 30].sum() == 29
    assert len(sanitizer.joint_.useful_labels) == (pairs >= 30).sum()
    assert list(sanitizer.transform(table).columns) == ["x", "z"]


@pytest.mark.parametrize("output", ["label", "code", "posterior", "typical"])
def test_numbers_can_be_pooled_in_every_output(output):
    ages = pd.DataFrame({"s": FRAME["s"], "x": np.minimum(np.arange(len(FRAME)) % 97, 30)})
    ages.loc[:4, "x"] = [91, 92, 93, 94, 95]
    sanitizer = GRRSanitizer("s", "x", min_count=10, output=output).fit(ages)
    released = sanitizer.transform(ages)
    assert len(released) == len(ages)
    if output == "typical":
        assert pd.api.types.is_integer_dtype(released["x"])
        assert released["x"].max() <= 30
    if output == "posterior":
        assert "x_other values" in released.columns
    array = GRRSanitizer(0, 1, min_count=10, output=output)
    assert len(
        array.fit(ages.assign(s=ages["s"] == "ill").to_numpy(float)).transform(
            ages.assign(s=ages["s"] == "ill").to_numpy(float)
        )
    ) == len(ages)


def test_pooling_is_decided_by_all_batches():
    halves = FRAME[:1000], FRAME[1000:]
    whole = GRRSanitizer("s", "x", min_count=10).fit(FRAME)
    parts = GRRSanitizer("s", "x", min_count=10)
    for half in halves:
        parts.partial_fit(half)
    assert parts.joint_ == whole.joint_
    rows = CountedRows.of(halves[0], "s", "x") + CountedRows.of(halves[1], "s", "x")
    assert GRRSanitizer("s", "x", min_count=10).fit(rows).joint_ == whole.joint_
    # What was counted is not pooled, so that other sanitisers can be fitted to it.
    assert set(whole.counted_.counts.useful) == set(COUNTS.index)
    assert whole.result_for(rows).joint == whole.joint_


def test_weights_decide_what_is_rare():
    weight = np.where(FRAME["x"] == "c", 0.01, 1.0)
    sanitizer = GRRSanitizer("s", "x", min_count=10).fit(FRAME, sample_weight=weight)
    assert "c" not in sanitizer.joint_.useful_labels
    assert "by weight" in str(sanitizer.guarantee_)


def test_a_target_is_pooled_with_its_values():
    y = np.where(FRAME["x"].isin(["a", "rare1"]), "yes", "no")
    sanitizer = ORRSanitizer("s", "x", utility="target", min_count=10, epsilon=0.5)
    sanitizer.fit(FRAME, y)
    pooled = FRAME.assign(x=FRAME["x"].where(FRAME["x"].map(COUNTS) >= 10, "other values"))
    expected = ORRSanitizer("s", "x", utility="target", epsilon=0.5).fit(pooled, y)
    assert sanitizer.report_.utility_kept == pytest.approx(expected.report_.utility_kept, abs=1e-6)


def test_with_confidence_the_pool_is_covered_although_it_depends_on_the_rows():
    sanitizer = sanitizer_of(SubsetMergingSanitizer, min_count=10, confidence=0.95).fit(FRAME)
    over = sanitizer.result_.over
    plain = sanitizer_of(SubsetMergingSanitizer, confidence=0.95).fit(FRAME).result_.over
    rare = [x in set(COUNTS[COUNTS < 10].index) for x in plain.useful_labels]
    np.testing.assert_allclose(
        over.conditional.high[:, -1], np.minimum(plain.conditional.high[:, rare].sum(axis=1), 1)
    )
    assert sanitizer.guarantee_.holds
    assert sanitizer.guarantee_.n_rows == len(FRAME)
    both = sanitizer_of(
        SubsetMergingSanitizer, min_count=10, confidence=0.95, categories={"x": LISTED}
    ).fit(FRAME)
    assert both.result_.over.unseen_labels == ("never", "nobody")
    assert both.guarantee_.holds


def test_audits_and_pickles_work_with_lists_and_pools():
    everything = [*"abc", *(f"rare{i}" for i in range(15))]
    sanitizer = GRRSanitizer("s", "x", min_count=10, categories={"x": everything}).fit(FRAME)
    assert pickle.loads(pickle.dumps(sanitizer)).joint_ == sanitizer.joint_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = audit(sanitizer, frame(seed=1))
    assert report.verdict != "violated"
    assert sanitizer.guarantee_.to_dict()["values"]["min_count"] == 10


def test_cells_have_their_own_minimum():
    numbers = pd.DataFrame({"s": FRAME["s"], "x": np.arange(len(FRAME)) % 50})
    with pytest.raises(InvalidParameterError, match="min_samples_leaf"):
        WatchdogSanitizer("s", "x", cells=4, min_count=5).fit(numbers)
    with pytest.raises(InvalidParameterError, match="reduced to cells"):
        WatchdogSanitizer("s", "x", cells=4, categories={"x": list(range(50))}).fit(numbers)
    listed = WatchdogSanitizer("s", "x", cells=4, categories={"s": ["ill", "well"]}).fit(numbers)
    assert listed.guarantee_.values.sensitive_closed


def test_ranges_and_pools_do_not_go_together():
    ages = pd.DataFrame({"s": FRAME["s"], "x": np.minimum(np.arange(len(FRAME)) % 97, 30)})
    ages.loc[0, "x"] = 95
    with pytest.raises(InvalidParameterError, match="leave out min_count="):
        SubsetMergingSanitizer("s", "x", order="preserve", min_count=5).fit(ages)
    kept = SubsetMergingSanitizer("s", "x", order="preserve", min_count=1).fit(ages)
    assert kept.guarantee_.values.pooled == 0


@pytest.mark.parametrize("kind", [OUESanitizer, SRLIPSanitizer])
def test_other_sanitisers_have_neither_parameter(kind):
    assert not {"categories", "min_count"} & set(kind().get_params())


@pytest.mark.parametrize("wrong", [0, -1, 2.5, "5"])
def test_min_count_is_a_positive_whole_number(wrong):
    with pytest.raises(ValueError, match="min_count"):
        GRRSanitizer("s", "x", min_count=wrong).fit(FRAME)
