"""The sanitiser at work inside scikit-learn: predicting income from a sanitised occupation."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context, get_config, set_config
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from skliftpriv import SubsetMergingSanitizer, WatchdogSanitizer

from .income import ADULT, COLUMNS, INCOME, SANITIZER, make_model, sanitizer_alone


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


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("sensitive", ["sex", "relationship", ["sex", "relationship"]], ids=str)
def test_income_from_occupation_and_education_as_one_symbol(sensitive, library):
    # One man who is a wife would leave a constant: nothing else hides whether a row is his.
    usual = ((ADULT["sex"] == "Female") | (ADULT["relationship"] != "Wife")).to_numpy()
    rows, income = ADULT[usual], INCOME[usual]
    table = rows if library == "pandas" else pl.DataFrame(rows)
    X, s = table[["occupation", "education"]], table[sensitive]
    model = make_model(sensitive=None, useful=["occupation", "education"])
    model.fit(X, income, sanitizer__sensitive_features=s)
    sanitizer = model["sanitizer"]
    assert sanitizer.guarantee_.holds
    assert sanitizer.report_.max_log_lift <= 1.0 < sanitizer.report_.before.max_log_lift
    # Symbols are pairs, of S as well where it has two columns.
    n_pairs = len(set(zip(rows["occupation"], rows["education"], strict=True)))
    assert len(sanitizer.joint_.useful_labels) == n_pairs
    if isinstance(sensitive, list):
        assert ("Male", "Husband") in sanitizer.joint_.sensitive_labels
    # Each merged group is one category of each released column.
    assert list(sanitizer.get_feature_names_out()) == ["occupation", "education"]
    assert model["encoder"].n_features_in_ == 2
    assert roc_auc_score(income, model.predict_proba(X)[:, 1]) > 0.6


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
        model.set_params(sanitizer__handle_unknown="error").fit(ADULT[COLUMNS], INCOME).predict(new)


KINDS = {"default": np.ndarray, "pandas": pd.DataFrame, "polars": pl.DataFrame}


@pytest.mark.parametrize("kind", KINDS)
def test_global_output_setting_reaches_every_step(kind):
    before = get_config()["transform_output"]
    set_config(transform_output=kind)
    try:
        columns = make_column_transformer(
            (clone(SANITIZER), COLUMNS), ("passthrough", ["age"]), verbose_feature_names_out=False
        )
        released = columns.fit_transform(ADULT)
        alone = clone(SANITIZER).fit_transform(ADULT[COLUMNS])
    finally:
        set_config(transform_output=before)
    assert isinstance(released, KINDS[kind])
    assert released.shape == (3000, 2)
    # By itself a sanitiser answers in the kind that it is given.
    assert isinstance(alone, pd.DataFrame if kind == "default" else KINDS[kind])
    assert list(alone.columns) == ["occupation"]
    if kind != "default":
        assert list(released.columns) == ["occupation", "age"]
        assert released["occupation"].to_list() == alone["occupation"].to_list()


def test_polars_setting_gives_text():
    with config_context(transform_output="polars"):
        released = clone(SANITIZER).fit_transform(ADULT[COLUMNS])
    assert released.schema == {"occupation": pl.String}
