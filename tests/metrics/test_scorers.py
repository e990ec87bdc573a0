"""Scorers find the sanitiser wherever it is and say what its report says."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from skliftpriv import ConditionalReporting, SubsetMergingSanitizer, metrics
from skliftpriv.datasets import load_adult
from skliftpriv.exceptions import InvalidParameterError

COLUMNS = ["relationship", "occupation"]
ADULT = load_adult().iloc[:3000]
INCOME = ADULT["income"] == ">50K"
SANITIZER = SubsetMergingSanitizer(*COLUMNS, epsilon=0.5, handle_unknown="resample", random_state=0)
SCORERS = {
    "nmi": metrics.nmi_scorer,
    "max_log_lift": metrics.max_log_lift_scorer,
    "ldp": metrics.ldp_scorer,
    "maximal_leakage": metrics.maximal_leakage_scorer,
}


def models():
    encode = OneHotEncoder(handle_unknown="ignore")
    inner = make_pipeline(FunctionTransformer(), clone(SANITIZER), encode)
    named = ("job", inner, COLUMNS)
    chosen = ("job", inner, make_column_selector("relationship|occupation"))
    age = ("age", "passthrough", ["age"])
    yield "itself", clone(SANITIZER)
    yield "pipeline", make_pipeline(FunctionTransformer(), clone(SANITIZER), encode)
    yield "columns", ColumnTransformer([age, named])
    yield (
        "selected",
        make_pipeline(ColumnTransformer([age, chosen]), LogisticRegression(solver="liblinear")),
    )
    yield "union", FeatureUnion([("none", "drop"), ("job", inner)])
    yield "search", GridSearchCV(clone(SANITIZER), {"epsilon": [0.5]}, scoring=metrics.nmi_scorer)


@pytest.mark.parametrize(("name", "model"), list(models()), ids=[name for name, _ in models()])
def test_sanitizer_is_found_wherever_it_is(name, model):
    X = ADULT[[*COLUMNS, "age"]] if name in ("columns", "selected") else ADULT[COLUMNS]
    model.fit(X, INCOME)
    alone = clone(SANITIZER).fit(ADULT[COLUMNS])
    for measure, scorer in SCORERS.items():
        assert scorer(model, X, INCOME) == getattr(alone.report_, measure)
    # Merging draws nothing, so the released rows are the same ones.
    expected = metrics.attacker_advantage(
        ADULT["relationship"], alone.transform(ADULT[COLUMNS]), random_state=0
    )
    scorer = metrics.attacker_advantage_scorer("relationship", random_state=0)
    assert scorer(model, X, INCOME) == expected


def test_first_sanitizer_counts():
    model = make_pipeline(clone(SANITIZER), SubsetMergingSanitizer(None, 0))
    model.steps[0] = ("first", model[0].fit(ADULT[COLUMNS]))
    assert metrics.nmi_scorer(model) == model[0].report_.nmi


def test_columns_of_arrays_and_polars_frames():
    scorer = metrics.attacker_advantage_scorer
    expected = scorer("relationship", random_state=0)(
        clone(SANITIZER).fit(ADULT[COLUMNS]), ADULT[COLUMNS]
    )
    by_place = ColumnTransformer(
        [("job", clone(SANITIZER).set_params(sensitive=0, useful=1), [1, 2])]
    )
    array = ADULT[["age", *COLUMNS]].to_numpy()
    assert scorer(1, random_state=0)(by_place.fit(array), array) == expected
    frame = pl.DataFrame(ADULT[["age", *COLUMNS]])
    by_name = ColumnTransformer([("job", clone(SANITIZER), COLUMNS)]).fit(frame)
    assert scorer("relationship", random_state=0)(by_name, frame) == expected


def test_sensitive_values_that_are_no_column_are_found_by_index():
    sanitizer = clone(SANITIZER).set_params(sensitive=None)
    X, s = ADULT[["occupation"]], ADULT["relationship"]
    scorer = metrics.attacker_advantage_scorer(s, random_state=0)
    with config_context(enable_metadata_routing=True):
        result = cross_validate(
            make_pipeline(
                sanitizer,
                OneHotEncoder(handle_unknown="ignore"),
                LogisticRegression(solver="liblinear"),
            ),
            X,
            INCOME,
            cv=3,
            scoring={"gain": scorer, "nmi": metrics.nmi_scorer},
            params={"sensitive_features": s},
            error_score="raise",
        )
    assert np.isfinite(result["test_gain"]).all()
    assert (result["test_nmi"] > 0).all()
    fitted = sanitizer.fit(X, sensitive_features=s)
    assert scorer(fitted, X.iloc[::-1]) == pytest.approx(scorer(fitted, X), abs=0.02)
    with pytest.raises(InvalidParameterError, match="no index"):
        scorer(fitted, pl.DataFrame(X))
    with pytest.raises(InvalidParameterError, match="needs to be unique"):
        scorer(fitted, X.set_axis(X.index + 1))


def test_conditional_reporting_in_a_pipeline_is_given_its_sensitive_values():
    sanitizer = ConditionalReporting(*COLUMNS, epsilon=0.5, random_state=0)
    encode = OneHotEncoder(handle_unknown="ignore")
    model = make_pipeline(sanitizer, encode).fit(ADULT[COLUMNS])
    s = ADULT["relationship"]
    released = sanitizer.transform(ADULT[COLUMNS])
    expected = metrics.attacker_advantage(s, released, random_state=0)
    by_name = metrics.attacker_advantage_scorer("relationship", random_state=0)
    assert by_name(model, ADULT[COLUMNS]) == expected
    # The same with S apart from X, where transform needs it too.
    X = ADULT[["occupation"]]
    apart = make_pipeline(clone(sanitizer).set_params(sensitive=None), encode)
    with config_context(enable_metadata_routing=True):
        apart.fit(X, sensitive_features=s)
    by_index = metrics.attacker_advantage_scorer(s, random_state=0)
    assert by_index(apart, X) == expected
    # An attack on another column does not change what S the sanitiser sees.
    sex = metrics.attacker_advantage_scorer(ADULT["sex"], random_state=0)
    assert sex(model, ADULT[COLUMNS]) == metrics.attacker_advantage(
        ADULT["sex"], released, random_state=0
    )


def test_scorers_can_be_sent_to_other_processes():
    scorer = pickle.loads(pickle.dumps(metrics.attacker_advantage_scorer("relationship", cv=3)))
    result = cross_validate(
        make_pipeline(
            clone(SANITIZER),
            OneHotEncoder(handle_unknown="ignore"),
            LogisticRegression(solver="liblinear"),
        ),
        ADULT[COLUMNS],
        INCOME,
        cv=2,
        scoring={"gain": scorer, **SCORERS},
        error_score="raise",
    )
    assert (np.abs(result["test_gain"]) < 0.2).all()


def test_models_without_a_fitted_sanitizer_are_refused():
    with pytest.raises(InvalidParameterError, match="LogisticRegression holds no sanitiser"):
        metrics.nmi_scorer(LogisticRegression(solver="liblinear"))
    with pytest.raises(NotFittedError):
        metrics.nmi_scorer(clone(SANITIZER))
    scorer = metrics.attacker_advantage_scorer("marital")
    with pytest.raises(InvalidParameterError, match="sensitive='marital' is not a column"):
        scorer(clone(SANITIZER).fit(ADULT[COLUMNS]), ADULT[COLUMNS])
    empty = pd.DataFrame({"x": [1, 2]})
    with pytest.raises(NotFittedError):
        metrics.nmi_scorer(ColumnTransformer([("x", "passthrough", ["x"])]), empty)
