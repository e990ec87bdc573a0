"""Scorers find all that reaches the model, and say what it leaks together."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from skliftpriv import (
    ConditionalReporting,
    GRRSanitizer,
    ORRSanitizer,
    OUESanitizer,
    SubsetMergingSanitizer,
    joint_leakage,
    measures,
    metrics,
)
from skliftpriv.datasets import load_adult
from skliftpriv.exceptions import InvalidParameterError, UnprotectedColumnsWarning
from skliftpriv.model_selection import best_score_with_leakage_below

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
    age = ("age", "drop", ["age"])
    yield "itself", clone(SANITIZER)
    yield "pipeline", make_pipeline(FunctionTransformer(), clone(SANITIZER), encode)
    yield "columns", ColumnTransformer([age, named, ("none", OneHotEncoder(), [])])
    yield (
        "selected",
        make_pipeline(ColumnTransformer([age, chosen]), LogisticRegression(solver="liblinear")),
    )
    yield "union", FeatureUnion([("none", "drop"), ("job", inner)])
    yield "search", GridSearchCV(clone(SANITIZER), {"epsilon": [0.5]}, scoring=metrics.nmi_scorer)
    frozen = FrozenEstimator(clone(SANITIZER).fit(ADULT[COLUMNS]))
    yield "frozen", make_pipeline("passthrough", frozen, encode, clone(SANITIZER))[:-1]


@pytest.mark.parametrize(("name", "model"), list(models()), ids=[name for name, _ in models()])
def test_one_sanitizer_is_found_wherever_it_is(name, model):
    X = ADULT[[*COLUMNS, "age"]] if name in ("columns", "selected") else ADULT[COLUMNS]
    model.fit(X, INCOME)
    alone = clone(SANITIZER).fit(ADULT[COLUMNS])
    for measure, scorer in SCORERS.items():
        assert scorer(model, X, INCOME) == getattr(alone.report_, measure)
        assert scorer(model) == getattr(alone.report_, measure)  # no rows are needed
    # Merging draws nothing, so the released rows are the same ones.
    expected = metrics.attacker_advantage(
        ADULT["relationship"], alone.transform(ADULT[COLUMNS]), random_state=0
    )
    scorer = metrics.attacker_advantage_scorer("relationship", random_state=0)
    assert scorer(model, X, INCOME) == expected


def test_later_sanitizers_only_take_away():
    model = make_pipeline(clone(SANITIZER), SubsetMergingSanitizer(None, 0))
    model.steps[0] = ("first", model[0].fit(ADULT[COLUMNS]))
    assert metrics.nmi_scorer(model) == model[0].report_.nmi
    assert metrics.max_log_lift_scorer(model) == model[0].report_.max_log_lift


# ---- all that reaches the model counts

WIDE = ["relationship", "occupation", "education", "sex"]


def merging(useful, epsilon, sensitive="relationship"):
    return SubsetMergingSanitizer(
        sensitive, useful, epsilon=epsilon, handle_unknown="resample", random_state=0
    )


def brute_force(rows, s, releases):
    """P(S, Y1, Y2, ...) added up row by row."""
    outputs = [range(len(sanitizer.channel_.outputs)) for sanitizer in releases]
    values = sorted(set(rows[s]))
    p_sy = np.zeros((len(values), *map(len, outputs)))
    for _, row in rows.iterrows():
        mass = np.ones(1)
        for sanitizer in releases:
            channel = sanitizer.channel_
            x = channel.inputs.index(row[sanitizer.guarantee_.columns[0]])
            mass = np.multiply.outer(mass, channel.matrix[x])
        p_sy[values.index(row[s])] += mass[0] / len(rows)
    return p_sy.reshape(len(values), -1)


def side_by_side(*parts, **options):
    return ColumnTransformer([(f"part{i}", *part) for i, part in enumerate(parts)], **options)


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("kind", ["columns", "nested", "search"])
def test_two_sanitizers_are_measured_together(order, kind):
    rows = ADULT[WIDE].iloc[:400]
    jobs = (merging("occupation", 0.1), ["relationship", "occupation"])
    sexes = (
        ORRSanitizer("relationship", "sex", epsilon=1.5, random_state=0),
        ["relationship", "sex"],
    )
    parts = [jobs, sexes][::order]
    model = side_by_side(*parts)
    if kind != "columns":
        encode = OneHotEncoder(handle_unknown="ignore")
        model = make_pipeline(make_pipeline(FunctionTransformer(), model), encode)
    if kind == "search":
        end = make_pipeline(model, LogisticRegression(solver="liblinear"))
        model = GridSearchCV(end, {"logisticregression__C": [1.0]}, cv=2)
    model.fit(rows, INCOME.iloc[:400])
    each = [clone(sanitizer).fit(rows[columns]) for sanitizer, columns in parts]
    p_sy = brute_force(rows, "relationship", each)
    expected = {
        "max_log_lift": np.log(measures.lift(p_sy).max()),
        "ldp": np.log(measures.ldp_ratio(p_sy).max()),
        "maximal_leakage": measures.maximal_leakage(p_sy),
    }
    for measure, value in expected.items():
        assert SCORERS[measure](model, rows) == pytest.approx(value, rel=1e-9)
    assert expected["max_log_lift"] > max(s.report_.max_log_lift for s in each)
    together = joint_leakage(each, rows)
    assert metrics.nmi_scorer(model, rows) == pytest.approx(together.nmi, abs=1e-12)
    with pytest.raises(InvalidParameterError, match="pass X"):
        metrics.max_log_lift_scorer(model)


@pytest.mark.parametrize("order", [1, -1])
def test_a_column_beside_the_sanitizer_counts(order):
    s = ADULT["relationship"]
    everything = -np.log(s.value_counts(normalize=True).min())
    sanitizer = merging("occupation", 0.1).set_params(output="code")
    parts = [(sanitizer, COLUMNS), (OneHotEncoder(), ["relationship"])][::order]
    encoded = side_by_side(*parts).fit(ADULT[WIDE])
    gain = metrics.attacker_advantage_scorer("relationship", random_state=0)
    best = s.value_counts(normalize=True).max()
    assert metrics.max_log_lift_scorer(encoded, ADULT[WIDE]) == pytest.approx(everything)
    assert metrics.ldp_scorer(encoded, ADULT[WIDE]) == np.inf
    assert gain(encoded, ADULT[WIDE]) == pytest.approx(1 - best)
    # What the sanitiser keeps of its own column is the same whatever stands beside it.
    alone = clone(sanitizer).fit(ADULT[COLUMNS])
    assert metrics.nmi_scorer(encoded, ADULT[WIDE]) == alone.report_.nmi
    assert metrics.max_log_lift_scorer(alone) < 0.1


def test_columns_that_pass_a_sanitizer_count():
    rows, s = ADULT[[*COLUMNS, "sex"]], ADULT["relationship"]
    own = merging("occupation", 0.1).set_params(remainder="passthrough")
    with pytest.warns(UnprotectedColumnsWarning):
        own.fit(rows)
    beside = side_by_side((merging("occupation", 0.1), COLUMNS), remainder="passthrough").fit(rows)
    # Merging draws nothing, so the rows show exactly what the channel does.
    released = own.transform(rows)
    expected = metrics.max_log_lift_score(s, released)
    assert expected > 0.1
    gain = metrics.attacker_advantage_scorer("relationship", random_state=0)
    for model in (own, beside, make_pipeline(FunctionTransformer(), own, OneHotEncoder())):
        assert metrics.max_log_lift_scorer(model, rows) == pytest.approx(expected)
        assert gain(model, rows) == metrics.attacker_advantage(s, released, random_state=0)


def test_a_column_that_is_released_twice_counts_twice():
    rows = ADULT[COLUMNS]
    noisy = GRRSanitizer(*COLUMNS, epsilon=1.0, handle_unknown="resample", random_state=0)
    model = FeatureUnion([("a", noisy), ("b", clone(noisy))]).fit(rows)
    each = [part for _, part in model.transformer_list]
    twice = metrics.max_log_lift_scorer(model, rows)
    assert twice == pytest.approx(joint_leakage(each, rows).max_log_lift)
    assert twice > 1.2 * each[0].report_.max_log_lift


def test_columns_with_too_many_values_are_refused_by_step():
    rows = ADULT[[*COLUMNS, "age"]].assign(age=np.arange(len(ADULT)))
    sparse = FunctionTransformer(lambda X: csr_array((len(X), 100_000)))
    for beside, message in (
        ("passthrough", r"through part1, and 3,000 rows are too few .*attacker_advantage_scorer"),
        (sparse, "part1 returns a sparse table of 100,000 columns"),
    ):
        coded = merging("occupation", 0.5).set_params(output="code")
        model = side_by_side((coded, COLUMNS), (beside, ["age"])).fit(rows)
        with pytest.raises(InvalidParameterError, match=message):
            metrics.max_log_lift_scorer(model, rows)


def test_what_has_no_one_leakage_is_refused():
    rows = ADULT[WIDE]
    job = (merging("occupation", 0.5), ["relationship", "occupation"])
    sex = merging("education", 0.5, sensitive="sex")
    unary = OUESanitizer("relationship", "education")
    for beside, columns, message in (
        (sex, ["sex", "education"], "part0 and part1 protect different sensitive columns"),
        (unary, ["relationship", "education"], r"2\^16 outputs"),
    ):
        model = side_by_side(job, (beside, columns)).fit(rows)
        with pytest.raises(InvalidParameterError, match=message):
            metrics.max_log_lift_scorer(model, rows)
    apart = clone(SANITIZER).set_params(sensitive=None, remainder="passthrough")
    with pytest.warns(UnprotectedColumnsWarning):
        apart.fit(rows[["occupation", "sex"]], sensitive_features=rows["relationship"])
    with pytest.raises(InvalidParameterError, match="make S a column of X"):
        metrics.max_log_lift_scorer(apart, rows[["occupation", "sex"]])
    later = make_pipeline(apart, merging(0, 0.5, sensitive=None))
    with pytest.raises(InvalidParameterError, match="side by side in a ColumnTransformer"):
        metrics.max_log_lift_scorer(later, rows)
    again = make_pipeline(clone(SANITIZER).fit(ADULT[COLUMNS]), ConditionalReporting(None, 0))
    with pytest.raises(InvalidParameterError, match="looks at S again"):
        metrics.max_log_lift_scorer(again, rows)
    unfitted = GridSearchCV(clone(SANITIZER), {"epsilon": [0.5]}, refit=False)
    with pytest.raises(InvalidParameterError, match="fit it with refit="):
        metrics.nmi_scorer(unfitted.set_params(scoring=metrics.nmi_scorer).fit(ADULT[COLUMNS]))


@pytest.mark.parametrize("use_sensitive", [False, True])
def test_a_target_is_kept_in_cross_validation_and_searches(use_sensitive):
    sanitizer = ORRSanitizer(
        *COLUMNS,
        utility="target",
        use_sensitive=use_sensitive,
        gap=0.05,
        handle_unknown="resample",
        random_state=0,
    )
    rows = ADULT[COLUMNS].replace({"occupation": {"Armed-Forces": "?", "Priv-house-serv": "?"}})
    encode = OneHotEncoder(handle_unknown="ignore")
    model = make_pipeline(sanitizer, encode, LogisticRegression(solver="liblinear"))
    scores = {**SCORERS, "accuracy": "accuracy"}
    found = cross_validate(model, rows, INCOME, cv=2, scoring=scores, error_score="raise")
    assert (found["test_max_log_lift"] <= 1.0 + 1e-9).all()
    assert (found["test_nmi"] > 0).all()
    assert (found["test_accuracy"] > 0.6).all()
    search = GridSearchCV(
        model,
        {"orrsanitizer__epsilon": [0.1, 1.0]},
        scoring={**SCORERS, "attack": metrics.attacker_advantage_scorer(COLUMNS[0], cv=2)},
        refit="nmi",
        cv=2,
        error_score="raise",
    ).fit(rows, INCOME)
    lifts = search.cv_results_["mean_test_max_log_lift"]
    assert lifts[0] <= 0.1 + 1e-9 < lifts[1] <= 1.0 + 1e-9
    best = search.best_estimator_[0]
    assert metrics.max_log_lift_scorer(search, rows) == best.report_.max_log_lift
    assert best.report_.target is not None
    assert np.isfinite(search.cv_results_["mean_test_attack"]).all()


def test_columns_beside_a_mechanism_that_sees_s_are_measured_with_it():
    seen = ConditionalReporting("relationship", "education", handle_unknown="resample")
    job = (merging("occupation", 0.5), ["relationship", "occupation"])
    model = side_by_side(job, (seen, ["relationship", "education"])).fit(ADULT[WIDE])
    fitted = [part for _, part, _ in model.transformers_[:2]]
    expected = joint_leakage(fitted, ADULT[WIDE])
    assert metrics.max_log_lift_scorer(model, ADULT[WIDE]) == expected.max_log_lift
    assert metrics.nmi_scorer(model, ADULT[WIDE]) == pytest.approx(expected.nmi)


def test_a_search_says_why_it_could_not_score():
    rows = ADULT[[*COLUMNS, "age"]].assign(age=np.arange(len(ADULT)))
    sanitizer = (merging("occupation", 0.5), COLUMNS)
    model = side_by_side(sanitizer, ("passthrough", ["age"]))
    search = GridSearchCV(
        model,
        {"part0__epsilon": [0.5, 1.0]},
        scoring={"nmi": metrics.nmi_scorer, "max_log_lift": metrics.max_log_lift_scorer},
        refit=best_score_with_leakage_below(1.0, score="nmi"),
        cv=2,
    )
    with (
        pytest.warns(UserWarning, match="rows are too few to measure"),
        pytest.raises(InvalidParameterError, match='error_score="raise" shows why'),
    ):
        search.fit(rows)


def test_the_cap_of_a_search_holds_for_all_columns():
    # The leak is in the second column, whatever the budget of the first.
    rows = ADULT[["relationship", "occupation", "sex"]]
    parts = [(merging("occupation", 0.5), COLUMNS), (OneHotEncoder(), ["sex"])]
    search = GridSearchCV(
        side_by_side(*parts),
        {"part0__epsilon": [0.1, 0.5], "part1": [OneHotEncoder(), "drop"]},
        scoring={"nmi": metrics.nmi_scorer, "max_log_lift": metrics.max_log_lift_scorer},
        refit=best_score_with_leakage_below(0.5, score="nmi"),
        cv=2,
        error_score="raise",
    )
    assert search.fit(rows).best_params_ == {"part0__epsilon": 0.5, "part1": "drop"}


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
    with pytest.raises(InvalidParameterError, match="must be unique"):
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
    with pytest.raises(InvalidParameterError, match="LogisticRegression contains no sanitiser"):
        metrics.nmi_scorer(LogisticRegression(solver="liblinear"))
    with pytest.raises(NotFittedError):
        metrics.nmi_scorer(clone(SANITIZER))
    scorer = metrics.attacker_advantage_scorer("marital")
    with pytest.raises(InvalidParameterError, match="sensitive='marital' is not a column"):
        scorer(clone(SANITIZER).fit(ADULT[COLUMNS]), ADULT[COLUMNS])
    empty = pd.DataFrame({"x": [1, 2]})
    with pytest.raises(NotFittedError):
        metrics.nmi_scorer(ColumnTransformer([("x", "passthrough", ["x"])]), empty)


def test_a_model_with_a_parameter_refit_is_not_a_search():
    model = make_pipeline(
        SubsetMergingSanitizer(*COLUMNS, epsilon=0.5), OneHotEncoder(), LogisticRegressionCV(cv=2)
    ).fit(ADULT[COLUMNS], ADULT["income"])
    assert metrics.max_log_lift_scorer(model, ADULT[COLUMNS]) == pytest.approx(
        model[0].report_.max_log_lift
    )
