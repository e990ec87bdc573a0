"""Cross-validation and searches over a sanitiser inside a model that predicts income."""

import numpy as np
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401  # switches it on
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    cross_val_predict,
    cross_validate,
)

from skliftpriv import ConditionalReporting, SubsetMergingSanitizer, WatchdogSanitizer
from skliftpriv.metrics import attacker_advantage_bound, attacker_advantage_scorer, nmi_scorer

from .income import ADULT, COLUMNS, INCOME, SANITIZER, make_model, sanitizer_alone


def test_grid_search_over_epsilon_keeps_more_with_a_larger_budget():
    search = GridSearchCV(make_model(), {"sanitizer__epsilon": [0.2, 1.0, 3.0]}, cv=3)
    search.fit(ADULT[COLUMNS], INCOME)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    fits = [
        clone(SANITIZER).set_params(epsilon=epsilon).fit(ADULT[COLUMNS])
        for epsilon in (0.2, 1.0, 3.0)
    ]
    kept = [fit.report_.nmi for fit in fits]
    assert kept == sorted(kept)
    assert kept[0] < kept[-1]
    best = search.best_params_["sanitizer__epsilon"]
    assert search.best_estimator_["sanitizer"].notion_.epsilon == best


def test_grid_search_routes_the_sensitive_values_of_each_fold():
    X, s = ADULT[["occupation"]], ADULT["relationship"]
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            make_model(sensitive=None),
            {"sanitizer__epsilon": [0.5, 2.0]},
            cv=3,
            error_score="raise",
        )
        search.fit(X, INCOME, sensitive_features=s)
    refitted = search.best_estimator_["sanitizer"]
    assert refitted.joint_ == sanitizer_alone(X, sensitive_features=s).joint_


def test_cross_validation_fits_on_training_rows_only():
    result = cross_validate(
        make_model(), ADULT[COLUMNS], INCOME, cv=3, return_estimator=True, error_score="raise"
    )
    for model in result["estimator"]:
        assert model["sanitizer"].guarantee_.n_rows == 2000
    predicted = cross_val_predict(make_model(), ADULT[COLUMNS], INCOME, cv=3)
    assert predicted.shape == INCOME.shape


def test_halving_search_fits_the_survivors_to_more_rows():
    search = HalvingGridSearchCV(
        make_model(),
        {"sanitizer__epsilon": [0.2, 0.5, 1.0, 2.0]},
        min_resources=500,
        max_resources=2000,
        factor=2,
        cv=3,
        random_state=0,
        error_score="raise",
    ).fit(ADULT[COLUMNS], INCOME)
    assert search.n_candidates_ == [4, 2, 1]
    assert search.n_resources_ == [500, 1000, 2000]
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    best = search.best_estimator_["sanitizer"]
    assert best.notion_.epsilon == search.best_params_["sanitizer__epsilon"]
    assert best.guarantee_.n_rows == 3000


def test_search_chooses_between_sanitizers():
    merging, watchdog = clone(SANITIZER), WatchdogSanitizer(*COLUMNS, handle_unknown="resample")
    search = GridSearchCV(
        make_model(),
        {"sanitizer": [watchdog, merging]},
        scoring=nmi_scorer,
        cv=3,
        error_score="raise",
    ).fit(ADULT[COLUMNS], INCOME)
    assert isinstance(search.best_estimator_["sanitizer"], SubsetMergingSanitizer)
    assert not hasattr(merging, "channel_")


def test_sensitive_features_are_split_with_the_rows_without_routing():
    X, s = ADULT[["occupation"]], ADULT["relationship"]
    given = {"sanitizer__sensitive_features": s}
    model = make_model(sensitive=None)
    found = cross_validate(model, X, INCOME, cv=3, params=given, return_estimator=True)
    rows = [model["sanitizer"].guarantee_.n_rows for model in found["estimator"]]
    assert rows == [2000, 2000, 2000]
    search = GridSearchCV(model, {"sanitizer__epsilon": [0.5, 2.0]}, cv=3, error_score="raise")
    search.fit(X, INCOME, **given)
    expected = sanitizer_alone(X, sensitive_features=s).joint_
    assert search.best_estimator_["sanitizer"].joint_ == expected


def test_folds_of_polars_frames_give_what_folds_of_pandas_give():
    frames = ADULT[COLUMNS], pl.DataFrame(ADULT[COLUMNS])
    pandas, polars = (
        cross_validate(make_model(), X, INCOME, cv=3, error_score="raise")["test_score"]
        for X in frames
    )
    assert np.array_equal(pandas, polars)


def test_attack_on_conditional_reporting_is_searched_with_the_budget():
    # It sees S when it releases, so that the held-out rows need their relationship.
    model = make_model(ConditionalReporting(*COLUMNS, random_state=0, handle_unknown="resample"))
    search = GridSearchCV(
        model,
        {"sanitizer__epsilon": [0.1, 4.0]},
        scoring={
            "auc": "roc_auc",
            "gain": attacker_advantage_scorer("relationship", cv=3, random_state=0),
        },
        refit="auc",
        cv=3,
        error_score="raise",
    ).fit(ADULT[COLUMNS], INCOME)
    tight, loose = search.cv_results_["mean_test_gain"]
    p_s = search.best_estimator_["sanitizer"].joint_.p_s
    sanitizer = clone(model["sanitizer"]).set_params(epsilon=0.1).fit(ADULT[COLUMNS])
    # Three standard errors of 3,000 held-out rows above the bound, at most.
    assert tight <= attacker_advantage_bound(sanitizer.notion_, p_s) + 3 / np.sqrt(3000)
    assert loose > tight
    with pytest.raises(ValueError, match="X lacks 'relationship'"):
        search.predict(ADULT[["occupation"]])
