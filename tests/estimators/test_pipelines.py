"""The sanitiser at work inside scikit-learn: predicting income from a sanitised occupation."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_validate
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from skliftpriv import SubsetMergingSanitizer, WatchdogSanitizer
from skliftpriv.datasets import load_adult

ADULT = load_adult().iloc[:3000]
COLUMNS = ["relationship", "occupation"]
INCOME = (ADULT["income"] == ">50K").to_numpy()
# Rare occupations may be missing from a training fold.
SANITIZER = SubsetMergingSanitizer(
    "relationship", "occupation", epsilon=1.0, handle_unknown="resample", random_state=0
)


def make_model(**parameters):
    steps = [
        ("sanitizer", clone(SANITIZER).set_params(**parameters)),
        ("encoder", OneHotEncoder(handle_unknown="ignore")),
        ("classifier", LogisticRegression()),
    ]
    return Pipeline(steps)


def sanitizer_alone(X, **fit_parameters):
    return clone(SANITIZER).set_params(sensitive=None).fit(X, **fit_parameters)


def test_model_behind_the_sanitizer_predicts_income_from_labels_only():
    model = make_model().fit(ADULT[COLUMNS], INCOME)
    labels = set(model["sanitizer"].channel_.outputs)
    assert set(model["encoder"].categories_[0]) == labels
    assert model["encoder"].n_features_in_ == 1
    # At prediction S is neither there nor needed.
    chance = model.predict_proba(ADULT[["occupation"]])[:, 1]
    assert len(np.unique(chance)) == len(labels)
    # Better than a guess by five standard deviations of 3,000 rows, worse than the raw column.
    raw = clone(model[1:]).fit(ADULT[["occupation"]], INCOME)
    upper = roc_auc_score(INCOME, raw.predict_proba(ADULT[["occupation"]])[:, 1])
    assert 0.56 < roc_auc_score(INCOME, chance) < upper


def test_posterior_needs_no_encoder():
    model = make_model(output="posterior").set_params(encoder="passthrough")
    model.fit(ADULT[COLUMNS], INCOME)
    assert model[:-1].get_feature_names_out()[0] == "occupation_?"
    assert model["classifier"].n_features_in_ == len(model["sanitizer"].channel_.inputs)


def test_feature_names_go_through_the_pipeline():
    model = make_model().fit(ADULT[COLUMNS], INCOME)
    outputs = model["sanitizer"].channel_.outputs
    expected = {f"occupation_{label}" for label in outputs}
    assert set(model[:-1].get_feature_names_out()) == expected


def test_sensitive_features_reach_the_sanitizer_by_step_name():
    X, s = ADULT[["occupation"]], ADULT["relationship"]
    model = make_model(sensitive=None).fit(X, INCOME, sanitizer__sensitive_features=s)
    assert model["sanitizer"].joint_ == sanitizer_alone(X, sensitive_features=s).joint_
    assert model["sanitizer"].guarantee_.sensitive == "sensitive_features"


def test_sensitive_features_reach_the_sanitizer_by_metadata_routing():
    X, s = ADULT[["occupation"]], ADULT["relationship"]
    expected = sanitizer_alone(X, sensitive_features=s).joint_
    with config_context(enable_metadata_routing=True):
        model = make_model(sensitive=None).fit(X, INCOME, sensitive_features=s)
        assert model["sanitizer"].joint_ == expected
        columns = ColumnTransformer([("s", model["sanitizer"], ["occupation"])])
        columns.fit(ADULT, sensitive_features=s)
        assert columns.named_transformers_["s"].joint_ == expected


def test_weights_reach_the_sanitizer_when_it_requests_them():
    X, weight = ADULT[COLUMNS], 1.0 + (ADULT["sex"] == "Male")
    with config_context(enable_metadata_routing=True):
        sanitizer = clone(SANITIZER).set_fit_request(sample_weight=True)
        classifier = LogisticRegression().set_fit_request(sample_weight=False)
        model = make_pipeline(sanitizer, OneHotEncoder(), classifier)
        model.fit(X, INCOME, sample_weight=weight)
    weighted = clone(SANITIZER).fit(X, sample_weight=weight)
    assert model[0].joint_ == weighted.joint_
    assert model[0].joint_ != clone(SANITIZER).fit(X).joint_


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


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_column_transformer_sanitizes_beside_other_columns(library):
    table = ADULT if library == "pandas" else pl.DataFrame(ADULT)
    columns = make_column_transformer(
        (make_pipeline(clone(SANITIZER), OneHotEncoder(sparse_output=False)), COLUMNS),
        (StandardScaler(), ["age", "hours-per-week"]),
    )
    model = make_pipeline(columns, LogisticRegression()).fit(table, INCOME)
    assert roc_auc_score(INCOME, model.predict_proba(table)[:, 1]) > 0.7
    sanitizer = columns.named_transformers_["pipeline"][0]
    assert columns.transform(table).shape[1] == len(sanitizer.channel_.outputs) + 2


def test_column_transformer_returns_data_frames():
    columns = ColumnTransformer([("safe", clone(SANITIZER), COLUMNS)], remainder="drop")
    released = columns.set_output(transform="pandas").fit_transform(ADULT)
    assert list(released.columns) == ["safe__occupation"]
    expected = clone(SANITIZER).fit_transform(ADULT[COLUMNS])["occupation"]
    pd.testing.assert_series_equal(released["safe__occupation"], expected, check_names=False)


def test_feature_union_joins_two_sanitized_columns():
    union = FeatureUnion(
        [
            ("job", clone(SANITIZER).set_params(output="posterior")),
            ("merged", WatchdogSanitizer("relationship", "occupation", output="code")),
        ]
    ).set_output(transform="pandas")
    released = union.fit_transform(ADULT[COLUMNS])
    assert released.shape == (3000, len(set(ADULT["occupation"])) + 1)
    assert list(released.columns) == list(union.get_feature_names_out())
    assert released.columns[-1] == "merged__occupation"


def test_sanitizer_behind_another_step_sees_what_that_step_returns():
    # Ages in three groups, made in the pipeline, with sex as the sensitive column.
    def by_decade(frame):
        return frame.assign(age=pd.cut(frame["age"], [0, 30, 50, 120]))

    model = make_pipeline(
        FunctionTransformer(by_decade),
        SubsetMergingSanitizer("sex", "age", epsilon=0.5),
        OneHotEncoder(),
        LogisticRegression(),
    ).fit(ADULT[["sex", "age"]], INCOME)
    assert [str(group) for group in model[1].joint_.useful_labels] == [
        "(0, 30]",
        "(30, 50]",
        "(50, 120]",
    ]
    assert model.predict(ADULT[["sex", "age"]]).shape == INCOME.shape


def test_predictions_on_new_rows_with_an_unseen_occupation_work_when_resampled():
    model = make_model().fit(ADULT[COLUMNS], INCOME)
    new = pd.DataFrame({"occupation": ["Astronaut", None, "Sales"]})
    assert model.predict(new).shape == (3,)
    with pytest.raises(ValueError, match="'Astronaut'"):
        model.set_params(sanitizer__handle_unknown="error").predict(new)


def test_global_output_setting_reaches_the_sanitizer():
    with config_context(transform_output="polars"):
        released = clone(SANITIZER).fit_transform(ADULT[COLUMNS])
    assert isinstance(released, pl.DataFrame)
    assert released.schema == {"occupation": pl.String}
