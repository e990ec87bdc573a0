import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skliftpriv import ALIP, LDP, LIP, JointDistribution, L1Lift, measures, mechanisms
from skliftpriv.datasets import make_joint
from skliftpriv.exceptions import BudgetWarning, InvalidParameterError, UnsupportedNotionError

pytestmark = pytest.mark.filterwarnings("ignore::skliftpriv.exceptions.BudgetWarning")


def test_low_risk_symbols_are_those_that_meet_the_notion_on_their_own():
    joint = make_joint(5, 17, random_state=0)
    result = mechanisms.watchdog(joint, LIP(1.0), repair=False)
    logs = np.abs(measures.log_lift(joint)).max(axis=0)
    expected = [x for x, level in zip(joint.useful_labels, logs, strict=True) if level <= 1.0]
    assert list(result.low_risk) == expected
    assert sorted(result.low_risk + result.high_risk) == list(joint.useful_labels)
    assert result.partition == (result.high_risk,)


def test_utility_is_that_of_the_closed_form():
    # Sadeghi et al. (2020), eq. 8: I(X;Y) = H(X) - p(X_H) H(q).
    joint = make_joint(5, 17, random_state=1)
    result = mechanisms.watchdog(joint, LIP(1.0), repair=False)
    p = joint.p_x[list(result.high_risk)]
    loss = p.sum() * measures.entropy(p / p.sum())
    assert result.report.mutual_information == pytest.approx(
        float(measures.entropy(joint.p_x) - loss), abs=1e-12
    )


def test_uniform_randomisation_leaks_and_keeps_the_same_as_merging():
    joint = make_joint(4, 12, random_state=2)
    merged = mechanisms.watchdog(joint, LIP(0.8))
    uniform = mechanisms.watchdog(joint, LIP(0.8), randomization="uniform")
    assert uniform.channel.outputs == joint.useful_labels
    assert uniform.nmi == pytest.approx(merged.nmi, abs=1e-12)
    assert uniform.report.max_log_lift == pytest.approx(merged.report.max_log_lift, abs=1e-12)
    assert uniform.report.min_log_lift == pytest.approx(merged.report.min_log_lift, abs=1e-12)


@given(st.integers(0, 5000))
def test_no_randomisation_of_the_high_risk_set_leaks_less(seed):
    # Theorem 1 of Sadeghi et al. (2020) and of Zarrabian et al. (2023).
    rng = np.random.default_rng(seed)
    joint = make_joint(3, 7, random_state=seed)
    notion = [LIP(0.5), ALIP(0.6, 0.3), LDP(0.7)][seed % 3]
    high = mechanisms.watchdog(joint, notion, repair=False).high_risk
    if not high:
        return
    best = mechanisms.high_risk_leakage(joint, notion, high)
    matrix = rng.dirichlet(np.ones(4), len(high))
    released = joint.matrix[:, list(high)] @ matrix
    levels = notion.levels(measures.lift(released, p_s=joint.p_s), joint.p_s)
    for side, level in best.items():
        assert levels[side].max() >= level - 1e-12


def test_missed_budget_warns_when_paper_exact_and_is_repaired_by_default():
    missed = 0
    for seed in range(200):
        joint = make_joint(3, 6, random_state=seed)
        notion = ALIP(0.9, 0.5)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            exact = mechanisms.watchdog(joint, notion, repair=False)
        repaired = mechanisms.watchdog(joint, notion)
        assert repaired.report.satisfied
        warned = any(issubclass(w.category, BudgetWarning) for w in caught)
        assert warned == (not exact.report.satisfied)
        if exact.report.satisfied:
            assert repaired.moved == ()
            assert repaired.channel == exact.channel
        else:
            missed += 1
            assert repaired.moved
            assert set(repaired.moved) <= set(exact.low_risk)
            assert repaired.nmi < exact.nmi
    assert missed > 5


def test_critical_epsilons_are_where_the_high_risk_set_changes():
    joint = make_joint(5, 17, random_state=3)
    for notion, at in ((None, LIP), (ALIP(0.65, 0.35), lambda e: ALIP(0.65 * e, 0.35 * e))):
        critical = mechanisms.critical_epsilons(joint, notion)
        assert (np.diff(critical.epsilons) <= 0).all()
        for j, epsilon in enumerate(critical.epsilons):
            there = mechanisms.watchdog(joint, at(epsilon), repair=False)
            below = mechanisms.watchdog(joint, at(epsilon * (1 - 1e-9)), repair=False)
            assert critical.symbols[j] in there.low_risk
            assert critical.symbols[j] in below.high_risk
            assert set(there.high_risk) == set(critical.symbols[:j])
    lip = mechanisms.critical_epsilons(joint)
    for j in range(1, 17):
        levels = mechanisms.high_risk_leakage(joint, LIP(1.0), lip.symbols[:j])
        assert lip.merged[j] == pytest.approx(max(levels.values()), abs=1e-12)
    assert (lip.effective == np.maximum(lip.epsilons, lip.merged)).all()


@pytest.mark.parametrize(("notion", "ceiling"), [(LIP(1.0), 4.0), (ALIP(1.2, 0.6), (5.0, 3.0))])
def test_relaxation_stays_within_delta_and_below_the_ceiling(notion, ceiling):
    gained = 0
    for seed in range(60):
        joint = make_joint(15, 20, random_state=seed)
        strict = mechanisms.watchdog(joint, notion)
        relaxed = mechanisms.watchdog(joint, notion, delta=0.01, epsilon_max=ceiling)
        assert relaxed.report.satisfied
        released = joint.released(relaxed.channel.matrix)
        band = notion.budget
        breach = measures.breach_probability(released, band["min_lift"], band["max_lift"])
        assert breach.sum() <= 0.01
        lower, upper = ceiling if isinstance(ceiling, tuple) else (ceiling, ceiling)
        assert relaxed.report.min_log_lift >= -lower
        assert relaxed.report.max_log_lift <= upper
        assert relaxed.nmi >= strict.nmi - 1e-12
        gained += bool(relaxed.exempted)
    assert gained > 50


def test_relaxation_without_ceiling_may_go_anywhere():
    joint = JointDistribution.from_counts([[0, 500, 499], [1, 499, 501]])
    result = mechanisms.watchdog(joint, LIP(0.5), delta=0.01)
    assert result.exempted == (0,)
    assert result.report.min_log_lift == -np.inf
    assert result.report.satisfied


@pytest.mark.parametrize("eps", [1e-9, 1e-4, 50.0])
@pytest.mark.parametrize("n_useful", [1, 2, 6])
def test_extreme_budgets(eps, n_useful):
    joint = make_joint(3, n_useful, random_state=0)
    result = mechanisms.watchdog(joint, LIP(eps))
    assert result.report.satisfied
    if eps == 50.0:
        assert result.high_risk == ()
        assert result.nmi == 1.0


def test_independent_variables_lose_nothing():
    joint = JointDistribution(np.outer([0.3, 0.7], [0.2, 0.3, 0.5]))
    assert mechanisms.watchdog(joint, LIP(1e-6)).nmi == 1.0


def test_bad_options_are_refused():
    joint = make_joint(2, 3, random_state=0)
    with pytest.raises(InvalidParameterError, match="randomization"):
        mechanisms.watchdog(joint, LIP(1.0), randomization="magic")
    with pytest.raises(InvalidParameterError, match="delta"):
        mechanisms.watchdog(joint, LIP(1.0), delta=1.5)
    with pytest.raises(InvalidParameterError, match="epsilon_max needs delta"):
        mechanisms.watchdog(joint, LIP(1.0), epsilon_max=2.0)
    with pytest.raises(InvalidParameterError, match="must not be below"):
        mechanisms.watchdog(joint, LIP(1.0), delta=0.1, epsilon_max=0.5)
    with pytest.raises(UnsupportedNotionError, match="LIP and ALIP"):
        mechanisms.watchdog(joint, L1Lift(1.0, 1.0), delta=0.1)
    with pytest.raises(InvalidParameterError, match="'q' is no useful symbol"):
        mechanisms.high_risk_leakage(joint, LIP(1.0), ("q",))
