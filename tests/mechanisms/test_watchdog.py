import warnings
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from skliftpriv import (
    ALIP,
    LDP,
    LIP,
    AlphaLift,
    Chi2Lift,
    JointDistribution,
    L1Lift,
    measures,
    mechanisms,
)
from skliftpriv.datasets import make_joint
from skliftpriv.exceptions import BudgetWarning, InvalidParameterError, UnsupportedNotionError

from ..strategies import binary_partitions, channels, joints

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


# Sides whose level is quasi-convex in the lift.
CONVEX_SIDES = [
    (LIP(1.0), ("min_lift", "max_lift")),
    (ALIP(0.6, 0.3), ("min_lift", "max_lift")),
    (LDP(0.7), ("ldp",)),
    (AlphaLift(1.0, 1.0, 1.5), ("alpha_lift", "alpha_lift_inverse")),
    (AlphaLift(1.0, 1.0, 6.0), ("alpha_lift", "alpha_lift_inverse")),
    (L1Lift(1.0, 1.0), ("l1_lift",)),
    (Chi2Lift(1.0, 1.0), ("chi2_lift",)),
]


@pytest.mark.parametrize(("notion", "sides"), CONVEX_SIDES, ids=lambda value: str(value))
@given(data=st.data())
def test_no_randomisation_of_a_set_leaks_less_than_merging_it(notion, sides, data):
    # Theorem 1 of Sadeghi et al. (2020) and of Zarrabian et al. (2023).
    joint = data.draw(joints(min_x=2))
    high = np.flatnonzero(data.draw(binary_partitions(joint.shape[1])))
    randomisation = data.draw(channels(high.size)).matrix
    best = mechanisms.high_risk_leakage(joint, notion, tuple(high))
    released = joint.matrix[:, high] @ randomisation
    lift = measures.lift(released[:, released.any(axis=0)], p_s=joint.p_s)
    levels = notion.levels(lift, joint.p_s)
    for side in sides:
        assert levels[side].max() >= best[side] - 1e-9


@pytest.mark.parametrize("kind", [L1Lift, Chi2Lift])
def test_inverses_of_l1_and_chi2_can_leak_less_without_merging(kind):
    joint = JointDistribution.from_counts(NOT_CONVEX[kind])
    notion = kind(1.0, 1.0)
    side = f"{notion.key}_lift_inverse"
    merged = mechanisms.high_risk_leakage(joint, notion, (0, 1))[side]
    unchanged = notion.levels(joint.lift[:, :2], joint.p_s)[side].max()
    assert unchanged < merged - 0.002


# Releasing symbols 0 and 1 unchanged has a smaller lift-inverse than merging them.
NOT_CONVEX = {
    L1Lift: [[1, 1, 8], [2, 1, 2], [1, 2, 2]],
    Chi2Lift: [[4, 4, 91], [9, 1, 1], [1, 9, 1]],
}


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
        check_critical_epsilons(joint, notion, at)


def check_critical_epsilons(joint, notion, at):
    critical = mechanisms.critical_epsilons(joint, notion)
    assert set(critical.symbols) == set(joint.useful_labels)
    assert (critical.epsilons[1:] <= critical.epsilons[:-1]).all()
    for j, epsilon in enumerate(critical.epsilons):
        if np.isinf(epsilon):  # a symbol with a zero cell is never low-risk
            assert critical.merged[j] == 0
            continue
        scaled = at(epsilon)
        result = mechanisms.watchdog(joint, scaled, repair=False)
        assert critical.symbols[j] in result.low_risk
        levels = scaled.levels(measures.lift(joint.released(result.channel.matrix)), joint.p_s)
        reached = max(levels[side].max() / bound * epsilon for side, bound in scaled.budget.items())
        assert critical.effective[j] == pytest.approx(reached, rel=1e-9, abs=1e-9)
        merged = 0.0
        if result.high_risk:
            levels = mechanisms.high_risk_leakage(joint, scaled, result.high_risk)
            merged = max(levels[side] / bound * epsilon for side, bound in scaled.budget.items())
        assert critical.merged[j] == pytest.approx(merged, rel=1e-9, abs=1e-9)
        assert critical.effective[j] == max(critical.epsilons[j], critical.merged[j])


def test_symbols_with_tied_risk_turn_low_risk_together():
    joint = JointDistribution.from_counts([[18, 2, 2, 10, 8], [2, 6, 6, 10, 16]])
    critical = mechanisms.critical_epsilons(joint)
    assert critical.effective[1:3] == pytest.approx([np.log(5), np.log(5)])
    check_critical_epsilons(joint, None, LIP)


@given(
    arrays(np.int64, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.integers(0, 3)),
    st.sampled_from([(1.0, 1.0), (0.65, 0.35), (0.01, 0.02)]),
)
def test_critical_levels_are_what_the_watchdog_reaches_with_many_ties(counts, sides):
    counts[~counts.any(axis=1), 0] = 1
    joint = JointDistribution.from_counts(counts)
    lower, upper = sides
    family = None if sides == (1.0, 1.0) else ALIP(lower, upper)
    check_critical_epsilons(joint, family, lambda e: ALIP(lower * e, upper * e))


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


SETTINGS = [
    (LIP(0.5), 0.05, None),
    (LIP(0.5), 0.1, None),
    (LIP(1.0), 0.05, LIP(3.0)),
    (LIP(0.5), 0.1, LIP(1.5)),
    (ALIP(0.8, 0.3), 0.08, ALIP(1.2, 0.9)),
    (LIP(0.3), 0.05, LIP(0.6)),
]


def ceiling_of(notion):
    return None if notion is None else (notion.budget["min_lift"], notion.budget["max_lift"])


class Partitions:
    """Every bi-partition by the definitions of Sadeghi et al. (2020), eq. 9-14."""

    def __init__(self, joint, notion, delta, ceiling):
        self.joint, self.delta = joint, delta
        self.band, self.ceiling = notion.budget, None if ceiling is None else ceiling.budget

    def breach(self, column):
        logs = self.log_lift(column)
        outside = (logs < -self.band["min_lift"]) | (logs > self.band["max_lift"])
        return column[outside].sum()

    def log_lift(self, column):
        with np.errstate(divide="ignore"):
            return np.log(column / column.sum() / self.joint.p_s)

    def below_ceiling(self, column):
        if self.ceiling is None:
            return True
        logs = self.log_lift(column)
        return -self.ceiling["min_lift"] <= logs.min() and logs.max() <= self.ceiling["max_lift"]

    def keeps(self, merged, *, check_remainder=True):
        matrix = self.joint.matrix
        alone = [matrix[:, x] for x in range(matrix.shape[1]) if x not in merged]
        together = [matrix[:, sorted(merged)].sum(axis=1)] if merged else []
        outputs = alone + together
        if sum(self.breach(column) for column in outputs) > self.delta:
            return False
        return all(map(self.below_ceiling, outputs if check_remainder else alone))

    def nmil(self, merged):
        p = self.joint.p_x[sorted(merged)]
        if not p.size:
            return 0.0
        return p.sum() * measures.entropy(p / p.sum()) / measures.entropy(self.joint.p_x)

    def optimum(self):
        """Proposition 1, by exhaustive search."""
        symbols = range(self.joint.shape[1])
        sets = chain.from_iterable(combinations(symbols, k) for k in range(len(symbols) + 1))
        return min(self.nmil(merged) for merged in sets if self.keeps(merged))

    def algorithm_one(self, high, *, check_remainder=True):
        """The greedy of the paper, or as printed, without a look at the merged remainder."""
        own = [self.breach(column) for column in self.joint.matrix.T]
        merged = set(high)
        for x in sorted(high, key=lambda x: (own[x], self.joint.p_x[x])):
            if self.keeps(merged - {x}, check_remainder=check_remainder):
                merged.remove(x)
        return merged


@pytest.mark.parametrize(("notion", "delta", "ceiling"), SETTINGS, ids=str)
def test_relaxation_is_close_to_the_optimal_partition(notion, delta, ceiling):
    gaps = []
    for seed in range(20):
        joint = make_joint(4, 8, random_state=seed)
        if seed % 3 == 0:  # with zero cells
            cells = joint.matrix * (np.random.default_rng(seed).random((4, 8)) < 0.85)
            cells[:, 0] = joint.matrix[:, 0]
            cells[0] = joint.matrix[0]
            joint = JointDistribution(cells / cells.sum())
        result = mechanisms.watchdog(joint, notion, delta=delta, epsilon_max=ceiling_of(ceiling))
        every = Partitions(joint, notion, delta, ceiling)
        assert result.certified.mixed == 0
        assert result.report.satisfied
        assert every.keeps(set(result.high_risk))
        gaps.append(1 - result.nmi - every.optimum())
        assert gaps[-1] > -1e-9
    assert np.mean(gaps) < 0.003
    assert np.max(gaps) < 0.05


@pytest.mark.parametrize(("notion", "delta", "ceiling"), SETTINGS, ids=str)
def test_unrepaired_relaxation_is_the_greedy_of_the_paper(notion, delta, ceiling):
    released = 0
    for seed in range(40):
        joint = make_joint(4, 8, random_state=seed)
        strict = mechanisms.watchdog(joint, notion, repair=False).high_risk
        every = Partitions(joint, notion, delta, ceiling)
        result = mechanisms.watchdog(
            joint, notion, delta=delta, epsilon_max=ceiling_of(ceiling), repair=False
        )
        assert set(result.high_risk) == every.algorithm_one(strict)
        released += len(result.exempted)
        found = mechanisms.watchdog(joint, notion, delta=delta, epsilon_max=ceiling_of(ceiling))
        if result.report.satisfied and every.keeps(set(result.high_risk)):
            assert found.nmi >= result.nmi - 1e-12
    assert released > 10


def test_printed_greedy_exceeds_its_ceiling_and_this_one_does_not():
    """Algorithm 1 of Sadeghi et al. (2020) does not look at the merged remainder."""
    joint = JointDistribution.from_counts([[11, 10, 7, 6], [0, 4, 0, 4]])
    every = Partitions(joint, LIP(0.5), 0.1, LIP(1.0))
    strict = mechanisms.watchdog(joint, LIP(0.5), repair=False).high_risk
    printed = every.algorithm_one(strict, check_remainder=False)
    assert printed == {0, 2}
    assert mechanisms.high_risk_leakage(joint, LIP(1.0), (0, 2))["min_lift"] == np.inf
    for repair in (True, False):
        result = mechanisms.watchdog(joint, LIP(0.5), delta=0.1, epsilon_max=1.0, repair=repair)
        assert result.partition == ((0, 2, 3),)
        assert result.certified.mixed == 0
        assert result.report.min_log_lift >= -1
        assert result.report.max_log_lift <= 1


@pytest.mark.parametrize("repair", [True, False])
def test_relaxation_does_not_depend_on_the_order_of_columns(repair):
    rng = np.random.default_rng(0)
    for seed in range(15):
        counts = np.random.default_rng(seed).integers(0, 6, (3, 10))
        counts[:, 0] += 1
        counts[0] += 1
        found = set()
        for order in (np.arange(10), rng.permutation(10), rng.permutation(10)):
            joint = JointDistribution.from_counts(counts[:, order])
            result = mechanisms.watchdog(joint, LIP(0.4), delta=0.1, repair=repair)
            merged = sorted(tuple(counts[:, order[x]]) for x in result.high_risk)
            found.add((str(merged), round(result.nmi, 12)))
        assert len(found) == 1


def test_a_lift_that_doubles_cannot_tell_from_the_bound_counts_as_a_breach():
    for a in range(2, 40):
        joint = JointDistribution.from_counts([[a, 1], [1, a]])
        # The double is just below or just above the logarithm of the larger lift.
        epsilon = float(np.log(2 * a / (a + 1)))
        result = mechanisms.watchdog(joint, LIP(epsilon), delta=1.01 / (a + 1))
        assert result.report.satisfied
        assert result.certified.mixed == 0


def test_relaxation_of_many_symbols_is_searched_without_pairs():
    joint = make_joint(4, 300, random_state=0)
    strict = mechanisms.watchdog(joint, LIP(0.5))
    greedy = mechanisms.watchdog(joint, LIP(0.5), delta=0.02, repair=False)
    result = mechanisms.watchdog(joint, LIP(0.5), delta=0.02)
    assert result.certified.mixed == 0
    assert result.nmi >= greedy.nmi > strict.nmi


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
    with pytest.raises(InvalidParameterError, match="'q' is not a useful symbol"):
        mechanisms.high_risk_leakage(joint, LIP(1.0), ("q",))
