"""A fitted object keeps its promise: parameters, columns of S, types and the words of the page."""

import datetime
import re
from html import unescape
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from skliftpriv import (
    ConditionalReporting,
    GRRSanitizer,
    JointDistribution,
    ORRSanitizer,
    OUESanitizer,
    SRLIPSanitizer,
    SRRSanitizer,
    SubsetMergingSanitizer,
    WatchdogSanitizer,
    mechanisms,
)
from skliftpriv.datasets import load_adult, make_joint
from skliftpriv.estimators import LiftSanitizer
from skliftpriv.exceptions import (
    InvalidParameterError,
    UnknownCategoryError,
    UselessReleaseWarning,
)
from skliftpriv.html import report_page
from skliftpriv.notions import ALIP, LDP, LIP, AlphaLift

PAIR = ("relationship", "occupation")
ADULT = load_adult()[list(PAIR)]


class OwnSanitizer(LiftSanitizer):
    """A sanitiser without most parameters, such as confidence."""

    def _build(self, joint, notion, over):
        return mechanisms.generalized_randomized_response(joint, notion)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("remainder", "passthrough"),
        ("random_state", 0),
        ("handle_unknown", "resample"),
        ("epsilon", 5.0),
        ("index", "drop"),
        ("useful", "relationship"),
    ],
)
def test_parameters_that_changed_after_fit_release_nothing(parameter, value):
    sanitizer = GRRSanitizer(*PAIR, epsilon=0.5).fit(ADULT.assign(age=1))
    page = report_page(sanitizer)
    sanitizer.set_params(**{parameter: value})
    for call in (sanitizer.transform, sanitizer.estimate_frequencies):
        with pytest.raises(InvalidParameterError, match=f"^{parameter} of GRR.* changed after fit"):
            call(ADULT.assign(age=1))
    with pytest.raises(InvalidParameterError, match="call fit again"):
        sanitizer.get_feature_names_out()
    # What is promised, and the page, are those of the fit.
    assert report_page(sanitizer) == page
    assert sanitizer.fitted_parameters()[parameter] != value


def test_the_way_in_which_an_output_is_written_may_change():
    sanitizer = SubsetMergingSanitizer(*PAIR, epsilon=0.5).fit(ADULT)
    codes = sanitizer.set_params(output="code").transform(ADULT)
    assert codes["occupation"].dtype == int


def test_srlip_refuses_values_that_fit_has_not_seen():
    frame = pd.DataFrame(
        {"s": ["ill", "well"] * 300, "sex": ["F", "F", "M", "M"] * 150, "job": list("abcabc") * 100}
    )
    with pytest.raises(TypeError, match="handle_unknown"):
        SRLIPSanitizer("s", ["sex", "job"], handle_unknown="resample")
    sanitizer = SRLIPSanitizer("s", ["sex", "job"], epsilon=0.5).fit(frame)
    with pytest.raises(UnknownCategoryError, match="Fit on data that contains them") as info:
        sanitizer.transform(frame.assign(job="new"))
    assert "resample" not in str(info.value)


def test_what_resampling_leaves_of_the_promise_is_said():
    said = {
        "lip": "may reach 1.0000 either way",
        "ldp": "the budget still holds",
        "l1": "is not covered",
    }
    for notion, words in said.items():
        sanitizer = SubsetMergingSanitizer(
            *PAIR, notion=notion, epsilon=0.5, handle_unknown="resample"
        ).fit(ADULT)
        assert words in str(sanitizer.guarantee_)
        assert words in report_page(sanitizer)
    careful = SubsetMergingSanitizer(
        *PAIR, epsilon=0.5, handle_unknown="resample", confidence=0.9
    ).fit(ADULT)
    assert "is not covered" in str(careful.guarantee_)
    ratio = SubsetMergingSanitizer(
        *PAIR, notion="ldp", epsilon=1.0, handle_unknown="resample", confidence=0.9
    ).fit(ADULT)
    assert "is not covered" in str(ratio.guarantee_)
    assert "replaced by a draw" not in str(SubsetMergingSanitizer(*PAIR).fit(ADULT).guarantee_)


# Several sensitive columns


@pytest.mark.parametrize("kind", [ORRSanitizer, GRRSanitizer, SubsetMergingSanitizer])
def test_several_sensitive_columns_are_one_symbol_and_each_is_protected(kind):
    adult = load_adult()[["sex", "race", "occupation"]]
    sanitizer = kind(["sex", "race"], "occupation", epsilon=0.3).fit(adult)
    assert sanitizer.joint_.shape[0] == 10
    assert sanitizer.joint_.sensitive_labels[0] == ("Female", "Amer-Indian-Eskimo")
    assert sanitizer.guarantee_.sensitive == "sex & race"
    assert sanitizer.guarantee_.holds
    assert list(sanitizer.transform(adult)) == ["occupation"]
    for name in ("sex", "race"):
        alone = JointDistribution.from_frame(adult, name, "occupation")
        p_sy = alone.released(sanitizer.channel_)
        logs = np.log(p_sy / p_sy.sum(axis=1, keepdims=True) / p_sy.sum(axis=0))
        assert np.abs(logs).max() <= 0.3 + 1e-9
    arrays = adult.to_numpy(dtype=object)
    assert kind([0, 1], 2, epsilon=0.3).fit(arrays).joint_.shape[0] == 10


def test_conditional_reporting_needs_all_sensitive_columns():
    adult = load_adult()[["sex", "race", "occupation"]]
    sanitizer = ConditionalReporting(["sex", "race"], "occupation", epsilon=0.5).fit(adult)
    assert sanitizer.transform(adult).shape == (len(adult), 1)
    message = "X lacks 'race': .* fit a sanitiser that does not, such as ORRSanitizer"
    with pytest.raises(InvalidParameterError, match=message):
        sanitizer.transform(adult[["sex", "occupation"]])


@pytest.mark.parametrize("notion", [LIP(0.4), ALIP(0.3, 0.5), LDP(0.6), AlphaLift(0.3, 0.3, 3.0)])
@pytest.mark.parametrize("seed", range(5))
def test_a_budget_for_two_columns_holds_for_each_of_them(notion, seed):
    joint = make_joint(6, 9, random_state=seed)
    result = mechanisms.subset_merging(joint, notion)
    p_sy = joint.released(result.channel)
    for first, second in combinations(range(6), 2):
        merged = np.vstack([np.delete(p_sy, (first, second), axis=0), p_sy[[first, second]].sum(0)])
        p_s = merged.sum(axis=1)
        lift = merged / merged.sum(axis=0) / p_s[:, None]
        for side, level in notion.levels(lift, p_s).items():
            assert level.max() <= notion.budget[side] + 1e-9


# Numbers stay numbers

DATES = [datetime.date(2020, 1, day) for day in (1, 2, 3)]
MOMENTS = [datetime.datetime(2020, 1, day, 12) for day in (1, 2, 3)]
VALUES = {
    "int": [1, 2, 3],
    "float": [0.5, 1.5, 2.5],
    "float with missing": [0.5, None, 2.5],
    "bool": [True, False, True],
    "moment": MOMENTS,
}


def rows_of(values, n=600):
    rng = np.random.default_rng(0)
    return {
        "s": rng.choice(["p", "q"], n).tolist(),
        "x": [values[i] for i in rng.integers(3, size=n)],
    }


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize(
    "sanitizer",
    [GRRSanitizer("s", "x"), ConditionalReporting("s", "x"), ORRSanitizer("s", "x", epsilon=9.0)],
    ids=lambda one: type(one).__name__,
)
def test_a_column_of_numbers_or_dates_keeps_its_type(sanitizer, values, kind):
    frame = pl.DataFrame(rows_of(VALUES[values]))
    if kind == "pandas":
        frame = pd.DataFrame(rows_of(VALUES[values]))
    elif kind == "pyarrow":
        frame = frame.to_arrow()
    released = sanitizer.fit(frame).transform(frame)
    before, after = frame["x"], released["x"]
    assert (after.type == before.type) if kind == "pyarrow" else (after.dtype == before.dtype)
    estimate = sanitizer.estimate_frequencies(released)["estimate"]
    assert estimate.sum() == pytest.approx(1.0)
    assert estimate.to_numpy() == pytest.approx(sanitizer.joint_.p_x, abs=0.25)


@pytest.mark.parametrize("dtype", ["int8", "Int64", "int32[pyarrow]", "float32", "boolean"])
def test_pandas_types_are_kept(dtype):
    frame = pd.DataFrame(rows_of([0, 1, 1])).astype({"x": dtype})
    released = GRRSanitizer("s", "x").fit(frame).transform(frame)
    assert released["x"].dtype == frame["x"].dtype


def test_a_later_table_with_a_narrower_type_gets_one_that_holds_the_values():
    frame = pd.DataFrame({"s": [0, 0, 1, 1] * 50, "x": [1, 2, 300, 2] * 50})
    narrow = pd.DataFrame({"x": np.ones(500, dtype=np.int8)})
    released = GRRSanitizer("s", "x", epsilon=0.1).fit(frame).transform(narrow)
    assert set(released["x"]) == {1, 2, 300}


def test_groups_are_text_as_documented():
    frame = pd.DataFrame({"s": [0, 0, 1, 1] * 50, "x": [1, 2, 3, 2] * 50})
    sanitizer = SubsetMergingSanitizer("s", "x", epsilon=0.1).fit(frame)
    assert sanitizer.partition_
    assert sanitizer.transform(frame)["x"].dtype == pd.Series(["text"]).dtype


def test_columns_of_a_joint_symbol_keep_their_types_one_by_one():
    adult = load_adult()[["sex", "age", "income"]]
    adult["age"] = adult["age"] // 20
    released = GRRSanitizer("sex", ["age", "income"]).fit(adult).transform(adult)
    assert released["age"].dtype == adult["age"].dtype
    assert released["income"].dtype == pd.Series(["text"]).dtype


def test_labels_of_a_joint_symbol_stay_distinct_as_text():
    rng = np.random.default_rng(0)
    parts = ["missing", None, "a & b", "a", "b & c", "c", "b"]
    frame = pd.DataFrame(
        {
            "s": rng.choice(["p", "q"], 4000),
            "x": rng.choice(np.array(parts, dtype=object), 4000),
            "z": rng.choice(np.array(parts, dtype=object), 4000),
        }
    )
    sanitizer = SRLIPSanitizer("s", ["x", "z"], epsilon=5.0).fit(frame)
    released = sanitizer.transform(frame)
    assert released.shape[1] == 1
    assert released.iloc[:, 0].nunique() == len(sanitizer.channel_.outputs)
    estimate = sanitizer.estimate_frequencies(released)["estimate"].to_numpy()
    assert estimate == pytest.approx(sanitizer.joint_.p_x, abs=1e-6)


# A duplicate name blocks only who asks for it


def test_a_duplicate_name_among_other_columns_blocks_nothing():
    frame = pd.concat([ADULT, ADULT[["occupation"]].assign(a=1, b=2)], axis=1)
    frame.columns = ["relationship", "occupation", "note", "note", "note"]
    sanitizer = GRRSanitizer(*PAIR, epsilon=0.5).fit(frame)
    assert list(sanitizer.transform(frame)) == ["occupation"]
    assert sanitizer.n_features_in_ == 5
    assert list(sanitizer.feature_names_in_) == list(frame.columns)
    for wrong in ({"useful": "note"}, {"useful": None}, {"remainder": "passthrough"}):
        with pytest.raises(InvalidParameterError, match="3 columns of X are called 'note'"):
            GRRSanitizer(**{"sensitive": "relationship", "useful": "occupation", **wrong}).fit(
                frame
            )


# Every sentence of a page that depends on something changes with it


def words(sanitizer):
    return unescape(re.sub("<[^>]*>", "", report_page(sanitizer)))


def fit(sanitizer, **options):
    frame = load_adult()[["relationship", "occupation", "sex", "race"]]
    return sanitizer.fit(frame, **options)


WEIGHTS = np.random.default_rng(0).integers(0, 5, len(ADULT))
PLAIN = SubsetMergingSanitizer(*PAIR, epsilon=0.5)
CASES = {
    "holds exactly for the distribution of the 32,561 rows that were counted": (
        lambda: fit(PLAIN),
        lambda: fit(SubsetMergingSanitizer(*PAIR, epsilon=0.5, smoothing=1.0)),
    ),
    "with 1 more counted in every cell. For the shares of the rows themselves": (
        lambda: fit(SubsetMergingSanitizer(*PAIR, epsilon=0.5, smoothing=1.0)),
        lambda: fit(PLAIN),
    ),
    "rows counted by their weights. For the shares": (
        lambda: fit(PLAIN, sample_weight=WEIGHTS),
        lambda: fit(PLAIN, sample_weight=np.ones(len(ADULT))),
    ),
    "The budget is missed for the distribution": (
        lambda: fit(WatchdogSanitizer(*PAIR, notion="alip", epsilon=2.0, repair=False)),
        lambda: fit(PLAIN),
    ),
    "confidence=0.95 would cover that": (lambda: fit(PLAIN), lambda: fit(OwnSanitizer(*PAIR))),
    "skliftpriv.audit measures that": (lambda: fit(OwnSanitizer(*PAIR)), lambda: fit(PLAIN)),
    "most in rare values.": (
        lambda: fit(SubsetMergingSanitizer(*PAIR, notion="chi2")),
        lambda: fit(PLAIN),
    ),
    "Covered with probability 0.9": (
        lambda: fit(SubsetMergingSanitizer(*PAIR, confidence=0.9)),
        lambda: fit(PLAIN),
    ),
    "the noise can be averaged away": (lambda: fit(GRRSanitizer(*PAIR)), lambda: fit(PLAIN)),
    "the same rows give the same outputs": (lambda: fit(PLAIN), lambda: fit(GRRSanitizer(*PAIR))),
    "Only occupation is covered": (
        lambda: fit(PLAIN),
        lambda: fit(GRRSanitizer("sex", ["occupation", "race"])),
    ),
    "Released with it, and not protected: sex, race.": (
        lambda: fit(SubsetMergingSanitizer(*PAIR, remainder="passthrough")),
        lambda: fit(PLAIN),
    ),
    "other columns, released now or later": (
        lambda: fit(PLAIN),
        lambda: fit(SubsetMergingSanitizer(*PAIR, remainder="passthrough")),
    ),
    "and the index of a pandas frame, are released": (
        lambda: fit(PLAIN),
        lambda: fit(SubsetMergingSanitizer(*PAIR, index="drop")),
    ),
    "Covered for whoever knows some of the released columns": (
        lambda: fit(SRLIPSanitizer("race", ["sex", "relationship"], epsilon=2.0, gap=0.5)),
        lambda: fit(PLAIN),
    ),
    "somebody who knows the overall distribution": (
        lambda: fit(PLAIN),
        lambda: fit(SRLIPSanitizer("race", ["sex", "relationship"], epsilon=2.0, gap=0.5)),
    ),
    "values that were not counted are refused": (
        lambda: fit(PLAIN),
        lambda: fit(SubsetMergingSanitizer(*PAIR, handle_unknown="resample")),
    ),
    "Nothing is drawn: equal values": (lambda: fit(PLAIN), lambda: fit(GRRSanitizer(*PAIR))),
    "Draws come from the operating system": (
        lambda: fit(GRRSanitizer(*PAIR)),
        lambda: fit(GRRSanitizer(*PAIR, random_state=0)),
    ),
    "Draws come from a seed": (
        lambda: fit(GRRSanitizer(*PAIR, random_state=0)),
        lambda: fit(GRRSanitizer(*PAIR)),
    ),
    "It is NOT met: do not release": (
        lambda: fit(WatchdogSanitizer(*PAIR, notion="alip", epsilon=2.0, repair=False)),
        lambda: fit(PLAIN),
    ),
    "but for a probability of 0.05": (
        lambda: fit(WatchdogSanitizer(*PAIR, epsilon=0.5, delta=0.05)),
        lambda: fit(WatchdogSanitizer(*PAIR, epsilon=0.5)),
    ),
    "of X below the optimum": (
        lambda: fit(ORRSanitizer(*PAIR, epsilon=2.0)),
        lambda: fit(SRRSanitizer(*PAIR, epsilon=2.0)),
    ),
    "of X below the best mechanism within the same groups": (
        lambda: fit(SRRSanitizer(*PAIR, epsilon=2.0)),
        lambda: fit(ORRSanitizer(*PAIR, epsilon=2.0)),
    ),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("sentence", CASES)
def test_a_sentence_of_the_page_is_shown_where_it_is_true_and_only_there(sentence):
    true, false = CASES[sentence]
    assert sentence in words(true())
    assert sentence not in words(false())


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("options", [{"smoothing": 1.0}, {"weights": WEIGHTS}], ids=str)
def test_levels_on_the_rows_themselves_may_exceed_the_budget_as_the_page_says(options):
    weights = options.get("weights")
    sanitizer = ORRSanitizer(*PAIR, epsilon=0.5, smoothing=options.get("smoothing", 0.0))
    sanitizer.fit(ADULT, sample_weight=weights)
    joint = JointDistribution.from_frame(ADULT, *PAIR)
    p_sy = joint.released(sanitizer.channel_)
    level = np.abs(np.log(p_sy / p_sy.sum(axis=1, keepdims=True) / p_sy.sum(axis=0))).max()
    assert level > 0.5
    assert "For the shares of the rows themselves the levels may be higher" in words(sanitizer)
    assert "themselves the levels may be higher" in str(sanitizer.guarantee_)


# What a second attack found


@pytest.mark.parametrize("index", ["keep", "drop"])
def test_the_index_of_a_frame_whose_names_are_numbers_is_looked_at_too(index):
    frame = ADULT.set_index("relationship", drop=False).rename_axis("id").set_axis([0, 1], axis=1)
    sanitizer = SubsetMergingSanitizer(0, 1, epsilon=0.5, index=index)
    released = sanitizer.set_output(transform="pandas").fit_transform(frame)
    assert released.index.equals(frame.index if index == "keep" else pd.RangeIndex(len(frame)))
    assert sanitizer.guarantee_.unprotected == (("the index 'id'",) if index == "keep" else ())


def test_large_whole_numbers_of_an_array_come_back_exactly():
    values = np.array([2**63 + 1, 2**63 + 2, 5], dtype=np.uint64)
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.integers(2, size=900).astype(np.uint64), rng.choice(values, 900)])
    released = SubsetMergingSanitizer(0, 1, epsilon=5.0).fit_transform(table)
    assert set(released[:, 0].tolist()) == set(values.tolist())


@pytest.mark.parametrize(
    ("values", "later"),
    [([0, 1, 2, 3], bool), ([2**53 + 1, 1, 2, 3], float), ([0.1, 0.2, 1.0, 2.0], np.float32)],
)
def test_a_narrower_type_of_a_later_table_never_changes_a_value(values, later):
    rng = np.random.default_rng(0)
    s = rng.integers(2, size=2000)
    x = np.where(rng.random(2000) < 0.6, s, rng.integers(4, size=2000))
    frame = pd.DataFrame({"s": s, "x": np.array(values)[x]})
    sanitizer = GRRSanitizer("s", "x", epsilon=0.3).fit(frame)
    released = sanitizer.transform(pd.DataFrame({"x": np.ones(500, dtype=later)}))
    assert set(released["x"]) <= set(values)
    assert len(set(released["x"])) > 2


@pytest.mark.parametrize("dtype", [pl.Time, pl.Datetime("ns"), pl.Duration("ns")], ids=str)
def test_nanoseconds_of_polars_are_not_cut(dtype):
    rng = np.random.default_rng(0)
    column = pl.Series([1, 2, 3])[rng.integers(3, size=600).tolist()].cast(dtype)
    frame = pl.DataFrame({"s": rng.integers(2, size=600), "x": column})
    released = GRRSanitizer("s", "x").fit_transform(frame)["x"]
    assert released.dtype == pl.String


def test_a_list_that_is_changed_in_place_is_noticed():
    budgets = [0.3, 0.3]
    sanitizer = GRRSanitizer(*PAIR, notion="alip", epsilon=budgets).fit(ADULT)
    budgets[:] = [0.01, 0.01]
    with pytest.raises(InvalidParameterError, match="epsilon of GRRSanitizer changed after fit"):
        sanitizer.transform(ADULT)
    assert sanitizer.fitted_parameters()["epsilon"] == [0.3, 0.3]


def test_resampling_is_not_covered_without_a_budget():
    sanitizer = ORRSanitizer(
        "sex", "occupation", notion="ldp", epsilon=0, handle_unknown="resample"
    ).fit(load_adult())
    assert "is not covered" in str(sanitizer.guarantee_)


def test_unary_encoding_of_many_values_draws_in_small_parts(monkeypatch):
    from skliftpriv.estimators import _bit_releaser

    frame = pd.DataFrame({"s": [0, 1] * 50, "x": range(100)})
    sanitizer = OUESanitizer("s", "x", epsilon=0.5).fit(frame)
    sizes = []
    sample = type(sanitizer.release_.releaser._bit).sample
    monkeypatch.setattr(_bit_releaser, "_BITS_AT_ONCE", 1000)
    monkeypatch.setattr(
        type(sanitizer.release_.releaser._bit),
        "sample",
        lambda self, codes, state=None: sizes.append(len(codes)) or sample(self, codes, state),
    )
    assert sanitizer.transform(frame).shape == (100, 100)
    assert max(sizes) <= 1000


def test_labels_that_differ_in_type_only_stay_apart_beside_a_typed_column():
    rng = np.random.default_rng(0)
    other = np.array([1, "1", 2], dtype=object)
    frame = pd.DataFrame({"s": rng.integers(2, size=900), "x": rng.integers(3, size=900)})
    frame["z"] = other[rng.integers(3, size=900)]
    sanitizer = GRRSanitizer("s", ["x", "z"], epsilon=2.0).fit(frame)
    released = sanitizer.transform(frame)
    assert len(released.drop_duplicates()) == len(sanitizer.channel_.outputs) == 9


def test_weights_of_one_batch_are_remembered():
    sanitizer = SubsetMergingSanitizer(*PAIR, epsilon=0.5)
    sanitizer.partial_fit(ADULT[:20_000], sample_weight=WEIGHTS[:20_000])
    assert sanitizer.partial_fit(ADULT[20_000:]).guarantee_.weighted


def test_a_search_that_found_nothing_in_its_time_says_so():
    adult = load_adult()[["sex", "race", "occupation", "age"]]
    sanitizer = SRLIPSanitizer(["sex", "race"], ["occupation", "age"], epsilon=0.5, time_limit=1e-3)
    with pytest.warns(UselessReleaseWarning, match="says nothing about what was to be kept"):
        sanitizer.fit(adult.assign(age=adult["age"] // 10))


def test_the_page_knows_whether_rows_are_shuffled():
    sanitizer = fit(PLAIN)
    assert "random order and without an index" in report_page(sanitizer, shuffled=True)
    assert "random order and without an index" not in report_page(sanitizer)


def test_attributes_that_are_no_parameters_change_no_promise():
    adult = load_adult()[["sex", "race"]]
    sanitizer = SRLIPSanitizer("sex", ["race"], epsilon=0.5).fit(adult)
    sanitizer.handle_unknown = "resample"
    with pytest.raises(UnknownCategoryError):
        sanitizer.transform(adult[:3].assign(race="new"))
    own = OwnSanitizer("sex", "race")
    own.confidence = 0.95
    assert own.fit(adult).guarantee_.confidence is None


def test_an_output_that_does_not_exist_is_refused():
    adult = load_adult()[["sex", "race"]]
    sanitizer = SubsetMergingSanitizer("sex", "race").fit(adult)
    with pytest.raises(ValueError, match="output"):
        sanitizer.set_params(output="foo").transform(adult[:3])
