"""The audit: intervals that hold the truth, verdicts that follow, power and false alarms."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import binom
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from skliftpriv import (
    ALIP,
    LDP,
    LIP,
    ConditionalReporting,
    GRRSanitizer,
    JointDistribution,
    L1Lift,
    ORRSanitizer,
    OUESanitizer,
    SRLIPSanitizer,
    SubsetMergingSanitizer,
    mechanisms,
)
from skliftpriv.confidence import clopper_pearson
from skliftpriv.exceptions import (
    InvalidParameterError,
    UnprotectedColumnsWarning,
    UnsupportedNotionError,
)
from skliftpriv.metrics import AuditedBound, audit, audit_columns

from ..estimators.samples import make_codes, make_frame, make_sanitizers

TRUTH = np.array([[0.3, 0.05, 0.01, 0.01], [0.02, 0.25, 0.03, 0.01], [0.005, 0.015, 0.15, 0.15]])
NOTIONS = {"lip": LIP, "ldp": LDP, "alip": lambda level: ALIP(1.5 * level, level)}
each_notion = pytest.mark.parametrize("key", NOTIONS)
FIT, FRESH = make_frame(4000, seed=0), make_frame(20_000, seed=1)


def columns(p_sy, n, rng):
    """N rows of (s, y), in order: an audit looks at counts only."""
    counts = rng.multinomial(n, (p_sy / p_sy.sum()).ravel())
    cells = np.repeat(np.arange(counts.size), counts)
    return cells // p_sy.shape[1], cells % p_sy.shape[1]


def released(notion, mechanism=mechanisms.generalized_randomized_response):
    """Joint distribution of S and a release that uses the budget up."""
    joint = JointDistribution(TRUTH)
    return joint.released(mechanism(joint, notion).channel)


def true_levels(notion, p_sy):
    lift = p_sy / p_sy.sum(axis=1, keepdims=True) / p_sy.sum(axis=0)
    return {
        side: float(level.max()) for side, level in notion.levels(lift, p_sy.sum(axis=1)).items()
    }


# What the verdicts mean


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.1, 0.4, "holds"),
        (0.1, 0.5, "holds"),
        (0.1, 0.6, "not enough data"),
        (0.5, 0.6, "not enough data"),
        (0.51, 0.6, "violated"),
        (0.0, np.inf, "not enough data"),
        (0.7, np.inf, "violated"),
    ],
)
def test_a_verdict_follows_from_its_interval(low, high, verdict):
    assert AuditedBound(budget=0.5, level=0.45, low=low, high=high).verdict == verdict


def test_the_worst_verdict_counts():
    s, y = columns(TRUTH, 100_000, np.random.default_rng(0))
    both = true_levels(LIP(1.0), TRUTH)
    report = audit_columns(s, y, ALIP(lower=2 * both["min_lift"], upper=0.5 * both["max_lift"]))
    assert {side: bound.verdict for side, bound in report.bounds.items()} == {
        "min_lift": "holds",
        "max_lift": "violated",
    }
    assert report.verdict == "violated"
    report = audit_columns(s, y, ALIP(lower=both["min_lift"], upper=2 * both["max_lift"]))
    assert report.verdict == "not enough data"
    assert audit_columns(s, y, LIP(2 * max(both.values()))).verdict == "holds"


def test_levels_are_those_of_the_table():
    s, y = columns(TRUTH, 5000, np.random.default_rng(0))
    table = np.bincount(s * 4 + y, minlength=12).reshape(3, 4)
    for notion in (LIP(0.5), LDP(0.5)):
        report = audit_columns(s, y, notion)
        for side, level in true_levels(notion, table / 5000).items():
            bound = report.bounds[side]
            assert bound.level == pytest.approx(level)
            assert bound.low < bound.level < bound.high


def test_a_report_can_be_read_and_stored():
    s, y = columns(TRUTH, 5000, np.random.default_rng(0))
    report = audit_columns(s, y, LIP(0.3), confidence=0.9)
    assert (report.n_rows, report.confidence, report.verdict) == (5000, 0.9, "violated")
    assert list(report.to_frame().index) == ["min_lift", "max_lift"]
    assert report.to_frame().loc["max_lift", "verdict"] == "violated"
    assert report.to_dict()["bounds"]["min_lift"]["budget"] == 0.3
    assert repr(report).startswith("violated (AuditReport): 0.3-LIP, 5,000 rows")
    assert "Violated" in report._repr_html_()
    lifts = report.lifts
    assert lifts["rows"].sum() == 5000
    assert (lifts["low"] <= lifts["lift"]).all()
    assert (lifts["lift"] <= lifts["high"]).all()


def test_ldp_compares_different_sensitive_values_only():
    # Of the rare value little is known; against itself the interval would have no end.
    table = np.array([[4, 4], [40_000, 40_000]])
    cells = np.repeat([0, 1, 2, 3], table.ravel())
    low, high = clopper_pearson(table, table.sum(axis=1)[:, None], 0.05 / 4)
    bound = audit_columns(cells // 2, cells % 2, LDP(1.0)).bounds["ldp"]
    assert bound.high == pytest.approx(
        np.log(max((high[0] / low[1]).max(), (high[1] / low[0]).max()))
    )
    assert bound.high < np.log((high[0] / low[0]).max()) - 0.1


def test_a_zero_cell_leaves_the_question_open_with_few_rows():
    s, y = [0] * 10 + [1] * 10, [0] * 10 + [0] * 5 + [1] * 5
    report = audit_columns(s, y, LDP(1.0))
    assert report.bounds["ldp"].level == np.inf
    assert report.verdict == "not enough data"


def test_fewer_rows_and_more_confidence_widen_the_intervals():
    rng = np.random.default_rng(0)
    many, few = columns(TRUTH, 50_000, rng), columns(TRUTH, 2000, rng)
    for notion in (LIP(0.5), LDP(0.5)):
        widths = []
        for rows, confidence in ((many, 0.9), (many, 0.99), (few, 0.99)):
            bounds = audit_columns(*rows, notion, confidence=confidence).bounds.values()
            widths.append([bound.high - bound.low for bound in bounds])
        assert (np.diff(widths, axis=0) > 0).all()


# Statistics


def test_intervals_are_those_of_clopper_and_pearson_with_a_shared_error():
    s, y = columns(TRUTH, 5000, np.random.default_rng(0))
    table = np.bincount(s * 4 + y, minlength=12).reshape(3, 4)
    # LIP: 12 of P(s|y) and 3 of P(s).
    low, high = clopper_pearson(table, table.sum(axis=0), 0.1 / 15)
    p_low, p_high = clopper_pearson(table.sum(axis=1)[:, None], 5000, 0.1 / 15)
    report = audit_columns(s, y, LIP(0.5), confidence=0.9)
    np.testing.assert_allclose(report.lifts["low"], (low / p_high).ravel())
    np.testing.assert_allclose(report.lifts["high"], (high / p_low).ravel())
    least, most = report.bounds["min_lift"], report.bounds["max_lift"]
    assert (most.low, most.high) == pytest.approx(
        (np.log((low / p_high).max()), np.log((high / p_low).max()))
    )
    assert (least.low, least.high) == pytest.approx(
        (-np.log((high / p_low).min()), -np.log((low / p_high).min()))
    )
    # LDP: 12 of P(y|s), different sensitive values only.
    low, high = clopper_pearson(table, table.sum(axis=1)[:, None], 0.1 / 12)
    pairs = [(a, b) for a in range(3) for b in range(3) if a != b]
    bound = audit_columns(s, y, LDP(0.5), confidence=0.9).bounds["ldp"]
    assert bound.low == pytest.approx(np.log(max((low[a] / high[b]).max() for a, b in pairs)))
    assert bound.high == pytest.approx(np.log(max((high[a] / low[b]).max() for a, b in pairs)))


@each_notion
@pytest.mark.parametrize("n", [300, 20_000])
def test_intervals_hold_the_true_levels(key, n):
    notion = NOTIONS[key](0.5)
    rng = np.random.default_rng(n)
    p_sy = released(notion)
    truth = true_levels(notion, p_sy)
    trials = 40
    hits = 0
    for _ in range(trials):
        bounds = audit_columns(*columns(p_sy, n, rng), notion).bounds
        hits += all(bounds[side].low <= level <= bounds[side].high for side, level in truth.items())
    assert hits >= binom.ppf(1e-4, trials, 0.95)


def test_intervals_of_lifts_hold_together():
    rng = np.random.default_rng(0)
    lift = (TRUTH / TRUTH.sum(axis=1, keepdims=True) / TRUTH.sum(axis=0)).ravel()
    trials, hits = 50, 0
    for _ in range(trials):
        found = audit_columns(*columns(TRUTH, 3000, rng), LIP(0.5), confidence=0.8).lifts
        hits += ((found["low"] <= lift) & (lift <= found["high"])).all()
    assert hits >= binom.ppf(1e-4, trials, 0.8)


@each_notion
@pytest.mark.parametrize("budget", [0.5, 1.0])
def test_a_budget_exceeded_by_a_fifth_is_found(key, budget):
    p_sy = released(NOTIONS[key](1.2 * budget))
    rng = np.random.default_rng(0)
    trials = 10
    verdicts = [
        audit_columns(*columns(p_sy, 100_000, rng), NOTIONS[key](budget)).verdict
        for _ in range(trials)
    ]
    assert verdicts.count("violated") == trials  # 95 % would be good enough


@each_notion
@pytest.mark.parametrize(
    "mechanism",
    [mechanisms.generalized_randomized_response, mechanisms.optimal_random_response],
    ids=["GRR", "ORR"],
)
def test_no_alarm_where_the_budget_is_just_used_up(key, mechanism):
    notion = NOTIONS[key](0.5)
    p_sy = released(notion, mechanism)
    levels = true_levels(notion, p_sy)
    assert max(levels[side] - budget for side, budget in notion.budget.items()) == pytest.approx(
        0, abs=1e-9
    )
    rng = np.random.default_rng(1)
    for n in (1000, 100_000):
        verdicts = [audit_columns(*columns(p_sy, n, rng), notion).verdict for _ in range(8)]
        assert "violated" not in verdicts
        assert "holds" not in verdicts  # nobody can tell 0.5 from 0.5000001


def test_enough_rows_clear_a_release_with_room():
    p_sy = released(LIP(0.4))
    rows = columns(p_sy, 200_000, np.random.default_rng(0))
    assert audit_columns(*rows, LIP(0.5)).verdict == "holds"


@pytest.mark.slow
@each_notion
@pytest.mark.parametrize("budget", [0.5, 1.0])
def test_rates_of_alarms(key, budget):
    rng = np.random.default_rng(2)
    trials = 100
    sound, leaky = released(NOTIONS[key](budget)), released(NOTIONS[key](1.2 * budget))
    alarms = {
        name: sum(
            audit_columns(*columns(p_sy, 100_000, rng), NOTIONS[key](budget)).verdict == "violated"
            for _ in range(trials)
        )
        for name, p_sy in {"sound": sound, "leaky": leaky}.items()
    }
    assert alarms["sound"] <= 0.05 * trials
    assert alarms["leaky"] >= 0.95 * trials


# Estimators and tables


def make_all():
    found = make_sanitizers(epsilon=0.8, random_state=0)
    return [s for s in found if not isinstance(s, SRLIPSanitizer)]


@pytest.mark.parametrize("sanitizer", make_all(), ids=lambda s: type(s).__name__)
def test_every_sanitiser_can_be_audited(sanitizer):
    report = audit(sanitizer.fit(FIT), FRESH)
    assert report.n_rows == len(FRESH)
    assert report.notion == sanitizer.notion_
    # The budget is used up for the estimate; the truth is close to it.
    for side, bound in report.bounds.items():
        assert bound.low <= 1.1 * sanitizer.guarantee_.budget[side]
        assert bound.level > 0.1


@pytest.mark.parametrize("sanitizer", make_all(), ids=lambda s: type(s).__name__)
def test_the_audit_leaves_the_sanitiser_as_it_was(sanitizer):
    sanitizer.fit(FIT)
    before = sanitizer.get_params()
    audit(sanitizer, FRESH.iloc[:100])
    assert sanitizer.get_params() == before


def test_a_sanitiser_that_exceeds_its_budget_is_found():
    # Fitted to other data than those that it is used for.
    s, x = make_codes(20_000, seed=3)
    reversed_s = pd.DataFrame({"s": np.array(list("uvw"))[s], "x": np.array(list("fedcba"))[x]})
    sanitizer = SubsetMergingSanitizer("s", "x", epsilon=0.3).fit(FIT)
    assert audit(sanitizer, reversed_s).verdict == "violated"


def test_with_confidence_fresh_rows_find_nothing():
    sanitizer = GRRSanitizer("s", "x", epsilon=0.8, confidence=0.95).fit(FIT)
    assert audit(sanitizer, FRESH).verdict != "violated"


@pytest.mark.parametrize("kind", [GRRSanitizer, ConditionalReporting, ORRSanitizer])
def test_s_may_come_from_elsewhere(kind):
    alone = FIT[["x"]]
    sanitizer = kind(useful="x", epsilon=0.8, random_state=0).fit(
        alone, sensitive_features=FIT["s"]
    )
    with pytest.raises(InvalidParameterError, match="no such column: pass sensitive_features="):
        audit(sanitizer, FRESH[["x"]])
    report = audit(sanitizer, FRESH[["x"]], sensitive_features=FRESH["s"])
    inside = kind("s", "x", epsilon=0.8, random_state=0).fit(FIT)
    assert report.bounds == audit(inside, FRESH).bounds
    with pytest.raises(
        InvalidParameterError, match="X lacks 's': pass a table that has it, or pass"
    ):
        audit(inside, FRESH[["x"]])


@pytest.mark.parametrize(
    "convert", [pl.from_pandas, pa.Table.from_pandas], ids=["polars", "pyarrow"]
)
def test_other_data_frames_give_the_same_report(convert):
    sanitizer = GRRSanitizer("s", "x", epsilon=0.8, random_state=0)
    expected = audit(sanitizer.fit(FIT), FRESH)
    found = audit(sanitizer.fit(convert(FIT)), convert(FRESH))
    assert found.bounds == expected.bounds


@pytest.mark.parametrize("kind", [GRRSanitizer, SubsetMergingSanitizer, ORRSanitizer])
def test_arrays_of_numbers_give_the_same_report(kind):
    # In arrays an output is written as one of its symbols; the audit must tell outputs apart.
    expected = audit(kind("s", "x", epsilon=0.8, random_state=0).fit(FIT), FRESH)
    fit, fresh = (np.column_stack(make_codes(n, seed)) for n, seed in ((4000, 0), (20_000, 1)))
    found = audit(kind(0, 1, epsilon=0.8, random_state=0).fit(fit), fresh)
    assert found.bounds == expected.bounds


@pytest.mark.parametrize("output", ["label", "code", "posterior"])
def test_columns_passed_through_and_the_kind_of_output_do_not_matter(output):
    rng = np.random.default_rng(0)
    more = [frame.assign(z=rng.random(len(frame))) for frame in (FIT, FRESH)]
    sanitizer = GRRSanitizer(
        "s", "x", epsilon=0.8, remainder="passthrough", output=output, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnprotectedColumnsWarning)
        report = audit(sanitizer.fit(more[0]), more[1])
    plain = GRRSanitizer("s", "x", epsilon=0.8, random_state=0).fit(FIT)
    assert report.bounds == audit(plain, FRESH).bounds


def test_columns_from_elsewhere_can_be_of_any_kind():
    s, y = columns(TRUTH, 5000, np.random.default_rng(0))
    expected = audit_columns(s, y, LIP(0.5)).bounds
    letters = np.array(list("pqrs"))
    for given_s, given_y in (
        (s.tolist(), letters[y]),
        (pd.Series(s), pd.Series(letters[y]).astype("category")),
        (pl.Series(s), pl.Series(letters[y])),
        (s, np.column_stack([y // 2, y % 2])),  # two columns are one symbol
    ):
        found = audit_columns(given_s, given_y, LIP(0.5))
        assert found.bounds == expected


def test_what_cannot_be_audited_is_refused():
    s, y = [0, 1, 0, 1], [0, 1, 1, 1]
    with pytest.raises(UnsupportedNotionError, match="LIP, ALIP and LDP"):
        audit_columns(s, y, L1Lift(0.5, 0.5))
    for wrong in (0.0, 1.0, 95, "0.95", None):
        with pytest.raises(InvalidParameterError, match="between 0 and 1"):
            audit_columns(s, y, LIP(0.5), confidence=wrong)
    with pytest.raises(InvalidParameterError, match="LogisticRegression"):
        audit(LogisticRegression(), FRESH)
    with pytest.raises(NotFittedError):
        audit(GRRSanitizer("s", "x"), FRESH)
    with pytest.raises(InvalidParameterError):
        audit_columns(s, y[:3], LIP(0.5))


def test_notions_of_averages_have_no_audit():
    sanitizer = SubsetMergingSanitizer("s", "x", notion="chi2").fit(FIT)
    with pytest.raises(UnsupportedNotionError, match="audit"):
        audit(sanitizer, FRESH)


def test_what_cannot_be_audited_is_said():
    frame = make_frame()
    sanitizer = SubsetMergingSanitizer("s", "x").fit(frame)
    with pytest.raises(InvalidParameterError, match="only one value"):
        audit(sanitizer, frame[frame["s"] == frame["s"].iloc[0]])
    with pytest.raises(InvalidParameterError, match=r"'s'|s\b"):
        audit(sanitizer, frame[["x"]])
    with pytest.raises(InvalidParameterError, match="such as LIP"):
        audit_columns(frame["s"], frame["x"], 0.5)


def test_bits_are_audited_whatever_unary_encoding_writes():
    fitted = OUESanitizer("s", "x", output="label", random_state=0).fit(FIT)
    same = OUESanitizer("s", "x", output="bits", random_state=0).fit(FIT)
    assert audit(fitted, FRESH).to_dict() == audit(same, FRESH).to_dict()


@pytest.mark.parametrize(
    ("rows", "epsilon", "verdict", "look"),
    [
        (40_000, 0.3, "Holds", "#1a7f37;"),
        (40_000, 0.01, "Violated", "#c62828;"),
        (40, 0.3, "Not enough data", "#57606a;"),
    ],
)
def test_an_open_question_is_neither_green_nor_red(rows, epsilon, verdict, look):
    s = np.array(["ill", "well"] * (rows // 2))
    y = np.array(["b", "c", "c", "b", "b", "b", "c", "c", "b", "c"] * (rows // 10))
    shown = audit_columns(s, y, LIP(epsilon))._repr_html_()
    sign = {"Holds": "✓", "Violated": "✗", "Not enough data": "?"}[verdict]
    assert f"{sign} {verdict}</span>" in shown
    looks = {"#1a7f37;", "#c62828;", "#57606a;"}
    assert {colour for colour in looks if f"background:{colour}" in shown} == {look}
