"""scikit-learn's own checks on every estimator, with reasoned exceptions only."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import (
    check_param_validation,
    check_set_output_transform_pandas,
    check_set_output_transform_polars,
    check_transformer_get_feature_names_out,
    check_transformer_get_feature_names_out_pandas,
    parametrize_with_checks,
)

from skliftpriv import (
    ConditionalReporting,
    GRRSanitizer,
    ORRSanitizer,
    OUESanitizer,
    SRLIPSanitizer,
    SRRSanitizer,
    SubsetMergingSanitizer,
    WatchdogSanitizer,
)
from skliftpriv.exceptions import SeededReleaseWarning

# The harness transforms rows whose symbols no fit has seen: they are resampled, not refused.
HARNESS = {"sensitive": 0, "handle_unknown": "resample"}
KINDS = [
    WatchdogSanitizer(**HARNESS),
    SubsetMergingSanitizer(**HARNESS),
    # One column, so that there are few symbols: the harness fits hundreds of times.
    ORRSanitizer(**HARNESS, useful=1, gap=0.05),
    SRRSanitizer(**HARNESS, useful=1, gap=0.05),
    GRRSanitizer(**HARNESS),
    OUESanitizer(**HARNESS),
    ConditionalReporting(**HARNESS),
    SRLIPSanitizer(sensitive=0, useful=1, gap=0.5),
    SRLIPSanitizer(sensitive=0, useful=1, strategy="product"),
]
ESTIMATORS = [
    *KINDS,
    WatchdogSanitizer(**HARNESS, randomization="uniform"),
    SubsetMergingSanitizer(**HARNESS, output="code"),
    SubsetMergingSanitizer(**HARNESS, output="posterior"),
]

_BY_PLACE_CHECKS = ["check_methods_sample_order_invariance", "check_methods_subset_invariance"]
_BY_PLACE = "what is drawn for a row depends on the place of the row, not only on its values"


_NEW_VALUES = "the check transforms values that no fit has seen, which SRLIP always refuses"


def expected_failures(estimator):
    if isinstance(estimator, SRLIPSanitizer):
        by_place = dict.fromkeys(_BY_PLACE_CHECKS, _BY_PLACE)
        return {**by_place, "check_sample_weight_equivalence_on_dense_data": _NEW_VALUES}
    if isinstance(estimator, SubsetMergingSanitizer | WatchdogSanitizer):
        return {}  # nothing is drawn, so that both checks must pass
    return dict.fromkeys(_BY_PLACE_CHECKS, _BY_PLACE)


@parametrize_with_checks(KINDS, expected_failed_checks=expected_failures)
def test_scikit_learn_check_passes(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore:X (has|does not have) valid feature names:UserWarning")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
@pytest.mark.parametrize(
    "check",
    [
        check_param_validation,
        check_set_output_transform_pandas,
        check_set_output_transform_polars,
        check_transformer_get_feature_names_out,
        check_transformer_get_feature_names_out_pandas,
    ],
    ids=lambda check: check.__name__,
)
def test_opt_in_scikit_learn_check_passes(estimator, check):
    check(type(estimator).__name__, estimator)


# scikit-learn's check_dataframe_column_names_consistency also wants reordered names refused; here
# named columns are found by name, so their order is free. The rest of that check follows.
NAMES = ["s", "x", "z"]


def named_frame(names=NAMES):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 3, (150, len(NAMES))), columns=NAMES)
    return frame.set_axis(names, axis=1)


def named(estimator, **parameters):
    return clone(estimator).set_params(sensitive="s", random_state=0, **parameters)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
@pytest.mark.parametrize("method", ["transform", "partial_fit"])
def test_missing_names_are_refused_in_the_words_of_scikit_learn(estimator, method):
    sanitizer = named(estimator, useful=["x", "z"]).fit(named_frame())
    assert list(sanitizer.feature_names_in_) == NAMES
    wrong = named_frame(["s", "X", "Z"])
    with pytest.raises(ValueError, match="feature names should match those that were") as info:
        getattr(sanitizer, method)(wrong)
    assert "Feature names unseen at fit time:\n- X\n- Z" in str(info.value)
    assert "fit time, yet now missing:\n- x\n- z" in str(info.value)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_only_columns_that_are_used_are_asked_for(estimator):
    frame = named_frame()
    sanitizer = named(estimator, useful="x").fit(frame)
    released = sanitizer.transform(frame)
    needed = ["s", "x"] if isinstance(estimator, ConditionalReporting) else ["x"]
    for table in (frame[needed], frame.assign(new=1)):
        pd.testing.assert_frame_equal(sanitizer.transform(table), released)
    passing = named(estimator, useful="x", remainder="passthrough").fit(frame)
    assert list(passing.transform(frame.assign(new=1)).columns)[-1] == "z"
    with pytest.raises(ValueError, match="yet now missing:\n- z"):
        passing.transform(frame[needed])


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
@pytest.mark.parametrize("order", [["x", "s", "z"], ["z", "x", "s"], ["z", "x"]])
def test_reordered_names_are_accepted_and_change_nothing(estimator, order):
    if "s" not in order and isinstance(estimator, ConditionalReporting):
        pytest.skip("Conditional Reporting needs S at transform")
    frame = named_frame()
    sanitizer = named(estimator, output="posterior").fit(frame)
    pd.testing.assert_frame_equal(sanitizer.transform(frame[order]), sanitizer.transform(frame))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_table_without_names_after_a_fit_with_names_warns(estimator):
    sanitizer = named(estimator).fit(named_frame())
    with pytest.warns(UserWarning, match="does not have valid feature names, but"):
        sanitizer.transform(named_frame().to_numpy())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", SeededReleaseWarning)
        sanitizer.transform(named_frame())


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_names_are_documented(estimator):
    assert "feature_names_in_" in type(estimator).__doc__
