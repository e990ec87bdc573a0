"""scikit-learn's own checks on every estimator, with reasoned exceptions only."""

import pytest
from sklearn.utils.estimator_checks import (
    check_param_validation,
    check_set_output_transform_pandas,
    check_set_output_transform_polars,
    check_transformer_get_feature_names_out,
    check_transformer_get_feature_names_out_pandas,
    parametrize_with_checks,
)

from skliftpriv import SubsetMergingSanitizer, WatchdogSanitizer

# The harness transforms rows whose symbols no fit has seen: they are resampled, not refused.
HARNESS = {"sensitive": 0, "handle_unknown": "resample"}
ESTIMATORS = [
    WatchdogSanitizer(**HARNESS),
    WatchdogSanitizer(**HARNESS, randomization="uniform"),
    SubsetMergingSanitizer(**HARNESS),
    SubsetMergingSanitizer(**HARNESS, output="code"),
    SubsetMergingSanitizer(**HARNESS, output="posterior"),
]

_BY_PLACE = "what is drawn for a row depends on the place of the row, not only on its values"


def expected_failures(estimator):
    return {
        "check_methods_sample_order_invariance": _BY_PLACE,
        "check_methods_subset_invariance": _BY_PLACE,
    }


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_check_passes(estimator, check):
    check(estimator)


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
