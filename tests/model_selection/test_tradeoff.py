"""A curve says what separate fits say, and counts its rows once."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config
from sklearn.base import clone

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
from skliftpriv.datasets import load_adult
from skliftpriv.exceptions import InvalidParameterError, UnsupportedNotionError
from skliftpriv.frames import ContingencyTable
from skliftpriv.model_selection import tradeoff_curve
from skliftpriv.model_selection._tradeoff import _share

ADULT = load_adult()[["relationship", "occupation", "sex", "race", "income"]]
PAIR = ("relationship", "occupation")
EPSILONS = [0.5, 0.75, 1.0]
MEASURES = [
    "nmi",
    "mutual_information",
    "max_log_lift",
    "min_log_lift",
    "ldp",
    "leakage_mutual_information",
    "maximal_leakage",
    "satisfied",
]


def test_curve_equals_separate_fits():
    estimators = {
        "merge": SubsetMergingSanitizer(*PAIR, smoothing=2.0),
        "watch": WatchdogSanitizer(*PAIR, notion="alip", lam=0.65),
        "chi2": SubsetMergingSanitizer(*PAIR, notion="chi2"),
        "grr": GRRSanitizer(*PAIR),
        "oue": OUESanitizer("sex", "relationship"),
        "cr": ConditionalReporting("sex", ["relationship"]),
        "sides": SRLIPSanitizer("income", ["sex", "race"]),
    }
    curve = tradeoff_curve(estimators, ADULT, EPSILONS)
    assert list(curve["mechanism"]) == [name for name in estimators for _ in EPSILONS]
    assert list(curve["epsilon"]) == EPSILONS * len(estimators)
    for row in curve.itertuples():
        fitted = clone(estimators[row.mechanism]).set_params(epsilon=row.epsilon).fit(ADULT)
        for measure in MEASURES:
            assert getattr(row, measure) == getattr(fitted.report_, measure), row
        assert row.notion == str(fitted.notion_)
    assert curve["satisfied"].all()
    assert (curve["budget_used"] <= 1).all()
    assert list(curve["gap"].notna()) == list(curve["mechanism"] == "sides")
    assert (curve["seconds"] > 0).all()


def test_optimum_grows_with_the_budget_and_no_mechanism_exceeds_it():
    pairs = [ORRSanitizer(*PAIR), SRRSanitizer(*PAIR), SubsetMergingSanitizer(*PAIR)]
    curve = tradeoff_curve(pairs, ADULT, EPSILONS)
    kept = curve.pivot(index="epsilon", columns="mechanism", values="nmi")
    assert kept["ORRSanitizer"].is_monotonic_increasing
    for other in ("SRRSanitizer", "SubsetMergingSanitizer"):
        assert (kept[other] <= kept["ORRSanitizer"] + 1e-6).all()
    by_name = curve.set_index("mechanism")
    assert (by_name.loc["ORRSanitizer", "gap"] <= 1e-6).all()
    assert by_name.loc["SubsetMergingSanitizer", "gap"].isna().all()
    for measure, sign in (("max_log_lift", 1), ("min_log_lift", -1)):
        assert (sign * curve[measure] <= curve["epsilon"] + 1e-12).all()


def test_rows_are_counted_once_for_the_same_columns(monkeypatch):
    calls = []
    count = ContingencyTable.of_codes.__func__

    def counting(cls, *args, **options):
        calls.append(args)
        return count(cls, *args, **options)

    monkeypatch.setattr(ContingencyTable, "of_codes", classmethod(counting))
    several = [
        SubsetMergingSanitizer(*PAIR),
        WatchdogSanitizer(0, ["occupation"]),
        GRRSanitizer("sex", "race"),
    ]
    tradeoff_curve(several, ADULT, EPSILONS)
    assert len(calls) == 2


def test_estimators_are_left_as_they_were():
    sanitizer = SubsetMergingSanitizer(*PAIR, epsilon=7.0)
    tradeoff_curve(sanitizer, ADULT, [0.5])
    assert sanitizer.epsilon == 7.0
    assert not hasattr(sanitizer, "report_")


def test_workers_and_progress_change_nothing(capsys):
    several = [SubsetMergingSanitizer(*PAIR), GRRSanitizer(*PAIR)]
    one = tradeoff_curve(several, ADULT, EPSILONS)
    assert capsys.readouterr().err == ""
    with parallel_config(backend="threading"):
        two = tradeoff_curve(several, ADULT, EPSILONS, n_jobs=2, verbose=True)
    said = capsys.readouterr()
    assert said.out == ""
    assert "6/6" in said.err
    assert "GRRSanitizer, epsilon=1.0" in said.err
    pd.testing.assert_frame_equal(one.drop(columns="seconds"), two.drop(columns="seconds"))


@pytest.mark.slow
def test_processes_change_nothing():
    one = tradeoff_curve(SubsetMergingSanitizer(*PAIR), ADULT, EPSILONS)
    two = tradeoff_curve(SubsetMergingSanitizer(*PAIR), ADULT, EPSILONS, n_jobs=2)
    pd.testing.assert_frame_equal(one.drop(columns="seconds"), two.drop(columns="seconds"))


def test_names_tell_equal_classes_apart():
    several = [
        SubsetMergingSanitizer(*PAIR, notion="alip", lam=0.35, epsilon=1.0),
        SubsetMergingSanitizer(*PAIR, notion="alip", lam=0.65, epsilon=2.0),
        WatchdogSanitizer(*PAIR),
    ]
    curve = tradeoff_curve(several, ADULT, np.array([0.5]))
    assert list(curve["mechanism"]) == [
        "SubsetMergingSanitizer(lam=0.35)",
        "SubsetMergingSanitizer(lam=0.65)",
        "WatchdogSanitizer",
    ]
    with pytest.raises(InvalidParameterError, match="occurs twice"):
        tradeoff_curve([several[0], clone(several[0])], ADULT, [0.5])


def test_sensitive_values_on_their_own_other_tables_and_pairs_of_budgets():
    sanitizer = SubsetMergingSanitizer(*PAIR, notion="alip")
    expected = tradeoff_curve(sanitizer, ADULT, [(0.3, 0.6)])
    assert expected.loc[0, "epsilon"] == (0.3, 0.6)
    assert expected.loc[0, "notion"] == "(0.3, 0.6)-ALIP"
    apart = SubsetMergingSanitizer(notion="alip")
    curve = tradeoff_curve(
        apart, ADULT[["occupation"]], [(0.3, 0.6)], sensitive_features=ADULT["relationship"]
    )
    polars = tradeoff_curve(sanitizer, pl.DataFrame(ADULT), [(0.3, 0.6)])
    for other in (curve, polars):
        assert (other[MEASURES] == expected[MEASURES]).all(axis=None)


def test_mistakes_are_explained():
    sanitizer = SubsetMergingSanitizer(*PAIR)
    with pytest.raises(InvalidParameterError, match="epsilons is empty"):
        tradeoff_curve(sanitizer, ADULT, [])
    with pytest.raises(InvalidParameterError, match="estimators is empty"):
        tradeoff_curve({}, ADULT, [1.0])
    with pytest.raises(InvalidParameterError, match="a: 'lip' is not a sanitiser"):
        tradeoff_curve({"a": "lip"}, ADULT, [1.0])
    with pytest.raises(InvalidParameterError, match="SubsetMergingSanitizer'> is not a sanitiser"):
        tradeoff_curve(SubsetMergingSanitizer, ADULT, [1.0])
    with pytest.raises(ValueError, match="'epsilon' parameter"):
        tradeoff_curve(sanitizer, ADULT, [-1.0])
    with pytest.raises(InvalidParameterError, match="No sensitive column"):
        tradeoff_curve(SubsetMergingSanitizer(), ADULT, [1.0])
    with pytest.raises(UnsupportedNotionError, match="not supported"):
        tradeoff_curve(GRRSanitizer(*PAIR, notion="chi2"), ADULT, [1.0])
    with pytest.raises(InvalidParameterError, match="only one value"):
        tradeoff_curve(sanitizer, ADULT[ADULT["relationship"] == "Wife"], [1.0])


def test_the_share_of_an_empty_budget():
    assert _share(0.25, 0.5) == 0.5
    assert _share(0.0, 0.0) == 0.0
    assert _share(1e-3, 0.0) == np.inf


def test_a_target_is_measured_for_all_mechanisms_alike():
    rows = ADULT.iloc[:3000]
    columns = ("sex", "relationship")
    estimators = {
        "x": SubsetMergingSanitizer(*columns),
        "target": ORRSanitizer(*columns, utility="target"),
        "sees s": ORRSanitizer(*columns, utility="target", use_sensitive=True),
    }
    curve = tradeoff_curve(estimators, rows, [0.4], y=rows["income"]).set_index("mechanism")
    assert list(curve["utility"]) == ["useful", "target", "target"]
    assert curve.loc["x", "utility_kept"] == curve.loc["x", "nmi"]
    assert curve["target_kept"].is_monotonic_increasing
    # Where one mechanism sees S, all shares are of what S and X tell.
    assert curve.loc["sees s", "target_kept"] == pytest.approx(curve.loc["sees s", "utility_kept"])
    assert curve.loc["target", "target_kept"] < curve.loc["target", "utility_kept"]
    del estimators["sees s"]
    curve = tradeoff_curve(estimators, rows, [0.4], y=rows["income"]).set_index("mechanism")
    assert curve.loc["target", "target_kept"] == pytest.approx(curve.loc["target", "utility_kept"])
    plain = tradeoff_curve(estimators["x"], rows, [0.4])
    assert plain["target_kept"].isna().all()
