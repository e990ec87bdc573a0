"""ORRSanitizer(use_sensitive=True) keeps more, and needs S at transform."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_validate

from skliftpriv import ConditionalReporting, CountedRows, ORRSanitizer
from skliftpriv.exceptions import InvalidParameterError, UnknownCategoryError
from skliftpriv.metrics import audit
from skliftpriv.model_selection import tradeoff_curve

from .income import ADULT, COLUMNS, INCOME, make_model
from .samples import LETTERS, make_codes, make_frame

S, X = make_codes(3000)
FRAME = make_frame(3000)
CLASS = np.where(np.random.default_rng(0).random(3000) < 0.1 + 0.15 * X, "yes", "no")


def seeing(**options):
    known = {"sensitive": "s", "useful": "x", "epsilon": 0.3, "use_sensitive": True}
    return ORRSanitizer(**{**known, **options})


def test_more_is_kept_than_without_s():
    sanitizer = seeing().fit(FRAME)
    blind = ORRSanitizer("s", "x", epsilon=0.3).fit(FRAME)
    protocol = ConditionalReporting("s", "x", epsilon=0.3).fit(FRAME)
    assert sanitizer.report_.nmi > blind.report_.nmi + 0.05
    assert sanitizer.report_.nmi > protocol.report_.nmi + 0.05
    assert sanitizer.report_.satisfied
    assert sanitizer.gap_ <= 1e-6
    with_target = seeing(utility="target").fit(FRAME, CLASS)
    without = ORRSanitizer("s", "x", epsilon=0.3, utility="target").fit(FRAME, CLASS)
    assert with_target.report_.target.after > without.report_.target.after


def test_channels_given_x_and_given_both_agree():
    sanitizer = seeing().fit(FRAME)
    both, joint = sanitizer.conditional_channel_, sanitizer.joint_
    assert both.inputs == tuple((s, x) for s in joint.sensitive_labels for x in joint.useful_labels)
    cube = both.matrix.reshape(*joint.shape, -1)
    given_x = np.einsum("sx,sxy->xy", joint.matrix, cube) / joint.p_x[:, None]
    np.testing.assert_allclose(sanitizer.channel_.matrix, given_x, atol=1e-12)
    assert not hasattr(ORRSanitizer("s", "x").fit(FRAME), "conditional_channel_")


def test_a_second_fit_forgets_the_conditional_channel():
    sanitizer = seeing().fit(FRAME)
    sanitizer.set_params(use_sensitive=False).fit(FRAME)
    assert not hasattr(sanitizer, "conditional_channel_")


def test_released_frequencies_are_those_of_the_channel():
    sanitizer = seeing(random_state=0).fit(FRAME)
    many = pd.concat([FRAME] * 20, ignore_index=True)
    codes = sanitizer.sample_outputs(many)
    pairs = sanitizer.encode(many)
    n_y = len(sanitizer.channel_.outputs)
    for pair in np.unique(pairs)[:6]:
        rows = pairs == pair
        shares = np.bincount(codes[rows], minlength=n_y) / rows.sum()
        expected = sanitizer.conditional_channel_.matrix[pair]
        assert np.abs(shares - expected).max() <= 5 * np.sqrt(0.25 / rows.sum())


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_transform_needs_s(make):
    frame = make({"s": list(FRAME["s"]), "x": list(FRAME["x"])})
    sanitizer = seeing(random_state=0).fit(frame)
    assert sanitizer.needs_sensitive
    assert len(sanitizer.transform(frame)) == 3000
    for method in (sanitizer.transform, sanitizer.sample_outputs, sanitizer.encode):
        with pytest.raises(InvalidParameterError, match="looks at the sensitive values") as info:
            method(frame[["x"]])
        assert "X lacks 's': pass a table that has it, or pass sensitive_features=" in str(
            info.value
        )
        assert str(info.value).endswith("If they are not at hand, fit with use_sensitive=False.")
    # What scikit-learn checks has its words.
    with pytest.raises(InvalidParameterError, match="yet now missing:\n- s\n- x"):
        sanitizer.transform(make({"y": list(FRAME["x"])}))
    alone = sanitizer.transform(frame[["x"]], sensitive_features=frame["s"])
    assert list(alone["x"]) == list(sanitizer.transform(frame)["x"])
    apart = seeing(sensitive=None).fit(frame[["x"]], sensitive_features=frame["s"])
    with pytest.raises(
        InvalidParameterError, match="S is not a column of X: pass sensitive_features="
    ):
        apart.transform(frame[["x"]])
    assert list(apart.transform(frame[["x"]], sensitive_features=frame["s"]).columns) == ["x"]


def test_an_array_without_names():
    sanitizer = seeing(sensitive=0, useful=1).fit(np.column_stack([S, X]))
    # There are more outputs than values of X, so that numbers cannot stand for them.
    assert len(sanitizer.channel_.outputs) > 6
    released = sanitizer.transform(np.column_stack([S, X]))
    assert released.shape == (3000, 1)
    assert set(released.ravel()) <= set(sanitizer.channel_.outputs)
    with pytest.raises(ValueError, match="features"):
        sanitizer.transform(X[:, None])


@pytest.mark.parametrize("options", [{}, {"smoothing": 1.0}], ids=["plain", "smoothing"])
def test_pairs_that_did_not_occur_draw_from_the_distribution_of_the_output(options):
    frame = FRAME[~((FRAME["s"] == "v") & (FRAME["x"] == "c"))]
    sanitizer = seeing(**options, random_state=0).fit(frame)
    joint, both = sanitizer.joint_, sanitizer.conditional_channel_
    absent = both.inputs.index(("v", "c"))
    p_y = joint.matrix.ravel() @ both.matrix
    if options:
        assert joint.matrix.min() > 0
    else:
        assert joint.matrix.ravel()[absent] == 0
        np.testing.assert_allclose(both.matrix[absent], p_y, atol=1e-9)
    new = pd.DataFrame({"s": ["v"] * 2000, "x": ["c"] * 2000})
    drawn = np.bincount(sanitizer.sample_outputs(new), minlength=p_y.size) / 2000
    assert np.abs(drawn - both.matrix[absent]).max() < 0.06
    assert sanitizer.report_.satisfied


def test_unknown_values_are_refused_or_resampled():
    sanitizer = seeing().fit(FRAME)
    for new in ({"s": ["u"], "x": ["z"]}, {"s": ["z"], "x": ["a"]}):
        with pytest.raises(UnknownCategoryError, match="not seen at fit"):
            sanitizer.transform(pd.DataFrame(new))
    resampling = seeing(handle_unknown="resample").fit(FRAME)
    assert len(resampling.transform(pd.DataFrame({"s": ["z", "u"], "x": ["a", "z"]}))) == 2


@pytest.mark.parametrize("value", [False, True])
def test_a_change_after_fit_is_refused(value):
    sanitizer = seeing(use_sensitive=not value).fit(FRAME)
    with pytest.raises(InvalidParameterError, match="use_sensitive of ORRSanitizer changed after"):
        sanitizer.set_params(use_sensitive=value).transform(FRAME)


def test_a_wrong_value_is_refused():
    with pytest.raises(ValueError, match="'use_sensitive' parameter of ORRSanitizer must be"):
        seeing(use_sensitive="yes").fit(FRAME)


@pytest.mark.parametrize("utility", ["useful", "target"])
def test_batches_and_counts_are_as_good_as_rows(utility):
    options = {"utility": utility}
    whole = seeing(**options).fit(FRAME, CLASS)
    batches = seeing(**options).partial_fit(FRAME[:1000], CLASS[:1000])
    batches.partial_fit(FRAME[1000:], CLASS[1000:])
    counted = seeing(**options).fit(CountedRows.of(FRAME, "s", "x", target=CLASS))
    for other in (batches, counted):
        assert other.conditional_channel_ == whole.conditional_channel_
        assert other.report_ == whole.report_
        assert other.guarantee_.n_rows == 3000


def test_weights_count_as_rows():
    weight = np.random.default_rng(0).integers(0, 4, 3000)
    rows = np.repeat(np.arange(3000), weight)
    weighted = seeing().fit(FRAME, sample_weight=weight)
    repeated = seeing().fit(FRAME.iloc[rows])
    assert weighted.report_.nmi == pytest.approx(repeated.report_.nmi, abs=2e-6)


@pytest.mark.parametrize("notion", ["lip", "alip", "ldp"])
@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_every_notion_and_no_budget(notion, epsilon):
    options = {"lam": 0.6} if notion == "alip" else {}
    sanitizer = seeing(notion=notion, epsilon=epsilon, **options).fit(FRAME)
    assert sanitizer.report_.satisfied
    assert sanitizer.report_.nmi > 0.3
    if epsilon == 0:
        np.testing.assert_allclose(sanitizer.result_.shown.p_sy.sum(), 1.0)
        p_sy = sanitizer.result_.shown.p_sy
        product = np.outer(p_sy.sum(axis=1), p_sy.sum(axis=0))
        np.testing.assert_allclose(p_sy, product, atol=1e-12)


def test_confidence_covers_pairs_that_did_not_occur():
    many = make_frame(40_000)
    sanitizer = seeing(epsilon=0.8, confidence=0.95, time_limit=0.5).fit(many)
    assert sanitizer.guarantee_.confidence == 0.95
    assert sanitizer.report_.satisfied
    assert sanitizer.report_.nmi > 0.2
    free = seeing(epsilon=0.8).fit(many)
    assert sanitizer.report_.nmi < free.report_.nmi


def test_frequencies_are_estimated_from_released_rows():
    many = make_frame(40_000)
    sanitizer = seeing(epsilon=1.0, random_state=0).fit(many)
    found = sanitizer.estimate_frequencies(sanitizer.transform(many))
    truth = many["x"].value_counts(normalize=True)
    assert list(found.index) == list(LETTERS)
    certain = np.isfinite(found["standard_error"])
    error = (found["estimate"] - truth.reindex(found.index)).abs()
    assert (error[certain] <= 5 * found["standard_error"][certain] + 1e-3).all()


def test_fresh_rows_are_audited():
    sanitizer = seeing(epsilon=0.5).fit(make_frame(20_000))
    fresh = make_frame(20_000, seed=7)
    assert audit(sanitizer, fresh).verdict != "violated"
    with pytest.raises(ValueError, match="s"):
        audit(sanitizer, fresh[["x"]])


def test_copies_release_the_same():
    sanitizer = seeing(random_state=0).fit(FRAME)
    for twin in (pickle.loads(pickle.dumps(sanitizer)), clone(sanitizer).fit(FRAME)):
        pd.testing.assert_frame_equal(twin.transform(FRAME), sanitizer.transform(FRAME))
        assert twin.conditional_channel_ == sanitizer.conditional_channel_
        assert twin.report_ == sanitizer.report_


@pytest.mark.parametrize("output", ["label", "code", "posterior"])
def test_every_output_has_as_many_rows(output):
    sanitizer = seeing(output=output, random_state=0).fit(FRAME)
    released = sanitizer.transform(FRAME)
    assert len(released) == 3000
    assert list(released.columns) == list(sanitizer.get_feature_names_out())
    if output == "posterior":
        np.testing.assert_allclose(released.sum(axis=1), 1.0, atol=1e-9)


MODEL = ORRSanitizer(
    "relationship", "occupation", epsilon=0.5, use_sensitive=True, time_limit=0.05,
    handle_unknown="resample", random_state=0,
)  # fmt: skip


@pytest.mark.slow
def test_models_and_searches():
    result = cross_validate(
        make_model(MODEL), ADULT[COLUMNS], INCOME, cv=3, return_estimator=True, error_score="raise"
    )
    assert all(model["sanitizer"].needs_sensitive for model in result["estimator"])
    search = GridSearchCV(
        make_model(MODEL),
        {"sanitizer__epsilon": [0.3, 1.0], "sanitizer__use_sensitive": [False, True]},
        cv=2,
        error_score="raise",
    )
    search.fit(ADULT[COLUMNS], INCOME)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_s_is_routed_to_transform():
    with config_context(enable_metadata_routing=True):
        model = make_model(MODEL, sensitive=None)
        s = ADULT["relationship"]
        model.fit(ADULT[["occupation"]], INCOME, sensitive_features=s)
        guesses = model.predict(ADULT[["occupation"]], sensitive_features=s)
    assert guesses.shape == INCOME.shape


def test_a_curve_of_mechanisms_that_see_s():
    curve = tradeoff_curve(seeing(), FRAME, [0.0, 0.3, 1.0])
    kept = curve["utility_kept"].to_numpy()
    assert (np.diff(kept) >= -2e-6).all()
    blind = tradeoff_curve(ORRSanitizer("s", "x"), FRAME, [0.0, 0.3, 1.0])
    assert (kept >= blind["utility_kept"].to_numpy() - 2e-6).all()
