"""The set of distributions that agree with the rows, and the worst of them."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import binom, binomtest

from skliftpriv import ALIP, LDP, LIP, Channel, ConfidenceSet, JointDistribution, L1Lift
from skliftpriv.certificate import TOTAL, certified_for, certify_over, quantize
from skliftpriv.confidence import clopper_pearson
from skliftpriv.exceptions import (
    InvalidDistributionError,
    InvalidParameterError,
    UnsupportedNotionError,
)

from .strategies import SEEDS, count_tables

NOTIONS = [LIP(0.6), ALIP(1.0, 0.4), LDP(0.9)]
each_notion = pytest.mark.parametrize("notion", NOTIONS, ids=str)
TINY = np.array([[0.3, 0.2, 0.0, 0.001], [0.1, 0.2899, 0.1, 0.0001], [0.006, 0.002, 0.001, 0.0]])

DEPENDENT = np.array(
    [[400, 90, 60, 300, 0, 10], [80, 500, 90, 200, 40, 30], [9, 70, 400, 0, 80, 5]]
)


def vertex(low, high, order, one=1):
    """Distribution that gives the symbols in this order as much as their bounds allow."""
    found = list(low)
    free = one - sum(low)
    for x in order:
        extra = min(free, high[x] - low[x])
        found[x] += extra
        free -= extra
    return found


def member(over, rng, exact=False):
    """Random distribution of the set as P(X|S) and P(S): mixtures of two random vertices."""

    def convert(values):
        return [Fraction(float(v)) for v in values] if exact else list(values)

    def draw(low, high):
        first, second = (vertex(low, high, rng.permutation(len(low))) for _ in range(2))
        share = Fraction(int(rng.integers(0, 5)), 4) if exact else rng.integers(0, 5) / 4
        return [share * a + (1 - share) * b for a, b in zip(first, second, strict=True)]

    bounds = zip(over.conditional.low, over.conditional.high, strict=True)
    rows = [draw(convert(low), convert(high)) for low, high in bounds]
    prior = draw(convert(over.prior.low), convert(over.prior.high))
    kind = object if exact else float
    return np.array(rows, dtype=kind), np.array(prior, dtype=kind)


def lifts_of(rows, prior, weights):
    """Lifts of a member of a set, exact for fractions."""
    given_s = rows @ weights
    return given_s / (prior @ given_s)


def random_channel(rng, n_x, n_y=4):
    return Channel(rng.dirichlet(np.full(n_y, 0.5), n_x))


# The interval of Clopper and Pearson


@pytest.mark.parametrize("n", [1, 2, 7, 50, 1000])
@pytest.mark.parametrize("error", [0.2, 0.05, 1e-4])
def test_interval_equals_the_exact_one_of_scipy(n, error):
    successes = np.unique(np.linspace(0, n, 12).astype(int))
    low, high = clopper_pearson(successes, n, error)
    for k, found_low, found_high in zip(successes, low, high, strict=True):
        expected = binomtest(int(k), n).proportion_ci(1 - error, method="exact")
        assert found_low == pytest.approx(expected.low, rel=1e-8, abs=1e-12)
        assert found_high == pytest.approx(expected.high, rel=1e-8)


def test_interval_ends_at_0_and_1():
    low, high = clopper_pearson([0, 10], 10, 0.05)
    assert low[0] == 0.0
    assert high[1] == 1.0
    assert high[0] == pytest.approx(1 - 0.025**0.1)
    assert low[1] == pytest.approx(0.025**0.1)


@pytest.mark.parametrize("n", [1, 3, 20, 150])
@pytest.mark.parametrize("error", [0.3, 0.05, 1e-3])
def test_interval_covers_every_probability(n, error):
    successes = np.arange(n + 1)
    low, high = clopper_pearson(successes, n, error)
    # Coverage is lowest just beside an end of an interval.
    ends = np.concatenate([low, high])
    grid = np.clip(np.concatenate([np.linspace(0, 1, 101), ends * (1 - 1e-7), ends + 1e-7]), 0, 1)
    covered = (low <= grid[:, None]) & (grid[:, None] <= high)
    coverage = np.where(covered, binom.pmf(successes, n, grid[:, None]), 0).sum(axis=1)
    assert coverage.min() >= 1 - error - 1e-12
    # Half of the error on each side, and not much less than asked for.
    assert coverage.min() <= 1 - error / 2 + 1e-6


@pytest.mark.parametrize("n", [10**3, 10**6, 10**12])
@pytest.mark.parametrize("error", [0.05, 1e-5])
def test_ends_are_on_the_safe_side_for_large_tables(n, error):
    successes = np.array([1, 2, 30, n // 3, n - 30, n - 1])
    low, high = clopper_pearson(successes, n, error)
    # At the lower end so many successes or more have half of the error, or (safe) less; the hair
    # by which intervals are widened shows where p is nearly 1 only.
    for tail in (binom.sf(successes - 1, n, low), binom.cdf(successes, n, high)):
        assert (tail <= error / 2 * (1 + 1e-6)).all()
        np.testing.assert_allclose(tail[:3], error / 2, rtol=1e-6)
    assert (low < successes / n).all()
    assert (high > successes / n).all()


def test_trials_may_differ_between_cells():
    low, high = clopper_pearson([[1, 2], [3, 4]], [[10], [20]], 0.1)
    assert low.shape == (2, 2)
    assert (low[1, 0], high[1, 0]) == tuple(v[0] for v in clopper_pearson([3], 20, 0.1))


# The set


@settings(max_examples=50)
@given(count_tables(), st.floats(0.01, 0.99))
def test_the_estimate_lies_in_the_set(table, confidence):
    over = ConfidenceSet.from_counts(table, confidence=confidence)
    joint = JointDistribution.from_counts(table)
    assert over.contains(joint)
    assert over.shape == joint.shape
    assert over.n_rows == table.sum()


@pytest.mark.parametrize(
    ("shape", "n_intervals"),
    [((2, 2), 2 + 1), ((2, 3), 2 * 3 + 1), ((3, 2), 3 + 3), ((4, 5), 4 * 5 + 4), ((1, 3), 3 + 1)],
)
def test_the_intervals_share_the_error(shape, n_intervals):
    table = np.arange(5, 5 + np.prod(shape)).reshape(shape)
    over = ConfidenceSet.from_counts(table, confidence=0.9)
    of_s = table.sum(axis=1)
    for box, (low, high) in (
        (over.conditional, clopper_pearson(table, of_s[:, None], 0.1 / n_intervals)),
        (over.prior, clopper_pearson(of_s, table.sum(), 0.1 / n_intervals)),
    ):
        np.testing.assert_allclose(box.low, low, rtol=1e-13)
        np.testing.assert_allclose(box.high, high, rtol=1e-13)


def test_one_interval_serves_both_of_two_symbols():
    over = ConfidenceSet.from_counts([[30, 70], [45, 55]])
    for box in (over.conditional, over.prior):
        np.testing.assert_allclose(box.low + box.high[..., ::-1], 1.0, rtol=1e-8)


def test_more_confidence_and_fewer_rows_widen_the_set():
    table = np.array([[30, 20, 0], [10, 25, 15]])
    usual = ConfidenceSet.from_counts(table)
    for wider in (
        ConfidenceSet.from_counts(table, confidence=0.99),
        ConfidenceSet.from_counts(table // 5),
    ):
        for name in ("conditional", "prior"):
            inner, outer = getattr(usual, name), getattr(wider, name)
            assert (outer.low <= inner.low).all()
            assert (outer.high >= inner.high).all()
            assert (outer.high - outer.low > inner.high - inner.low).all()


def test_symbols_are_matched_by_label():
    over = ConfidenceSet.from_counts([[300, 100], [100, 500]], ["a", "b"], ["x", "y"])
    matrix = np.array([[0.3, 0.1], [0.1, 0.5]])
    assert over.contains(JointDistribution(matrix, ["a", "b"], ["x", "y"]))
    assert over.contains(JointDistribution(matrix[::-1, ::-1], ["b", "a"], ["y", "x"]))
    assert not over.contains(JointDistribution(matrix, ["b", "a"], ["x", "y"]))


def test_a_symbol_that_the_joint_lacks_has_probability_zero():
    over = ConfidenceSet.from_counts([[300, 100, 1], [100, 500, 0]], ["a", "b"], ["x", "y", "z"])
    # z was seen with a, so that P(z|a) = 0 is impossible.
    assert not over.contains(JointDistribution([[0.3, 0.1], [0.1, 0.5]], ["a", "b"], ["x", "y"]))
    assert not over.contains(JointDistribution([[0.5, 0.4, 0.1]], ["a"], ["x", "y", "z"]))


def test_a_joint_with_foreign_symbols_is_outside():
    over = ConfidenceSet.from_counts([[300, 100], [100, 500]], ["a", "b"], ["x", "y"])
    three = [[0.3, 0.1, 1e-6], [0.1, 0.5 - 1e-6, 0.0]]
    assert not over.contains(JointDistribution(three, ["a", "b"], ["x", "y", "z"]))
    assert not over.contains(JointDistribution([[0.3, 0.1], [0.1, 0.5]], ["a", "c"], ["x", "y"]))


def test_declared_symbols_without_rows_are_left_out_and_take_their_share():
    declared = ConfidenceSet.from_counts([[30, 0, 70], [0, 0, 0], [45, 0, 55]])
    seen = ConfidenceSet.from_counts([[30, 70], [45, 55]], [0, 2], [0, 2])
    assert (declared.sensitive_labels, declared.useful_labels) == ((0, 2), (0, 2))
    error = 0.05 / (3 * 3 + 3)
    unseen_x = clopper_pearson(0, 100, error)[1]
    unseen_s = clopper_pearson(0, 200, error)[1]
    low, high = clopper_pearson([[30, 70], [45, 55]], 100, error)
    p_low, p_high = clopper_pearson([100, 100], 200, error)
    np.testing.assert_allclose(declared.conditional.low, low)
    np.testing.assert_allclose(declared.conditional.high, high / (1 - unseen_x))
    np.testing.assert_allclose(declared.prior.low, p_low * (1 - unseen_x))
    np.testing.assert_allclose(declared.prior.high, p_high / (1 - unseen_s) / (1 - unseen_x))
    assert (declared.conditional.high > seen.conditional.high).all()


@settings(max_examples=50)
@given(SEEDS)
def test_what_the_intervals_allow_is_in_the_set_given_the_symbols_seen(seed):
    # A distribution over all declared symbols that all intervals hold, restricted to those seen.
    rng = np.random.default_rng(seed)
    table = rng.integers(1, 60, (3, 4))
    table[:, 3] = 0
    table[2] = 0
    error = 0.05 / (3 * 4 + 3)
    bounds = clopper_pearson(table[:2], table[:2].sum(axis=1)[:, None], error)
    rows = np.array([vertex(*b, rng.permutation(4)) for b in zip(*bounds, strict=True)])
    prior = np.array(
        vertex(*clopper_pearson(table.sum(axis=1), table.sum(), error), rng.permutation(3))
    )
    matrix = (prior[:2, None] * rows)[:, :3]
    # A vertex touches its bounds; what is divided by a sum touches them up to rounding.
    centre = table[:2, :3] / table.sum()
    matrix = (1 - 1e-9) * matrix / matrix.sum() + 1e-9 * centre
    assert ConfidenceSet.from_counts(table).contains(JointDistribution(matrix))


def test_few_rows_and_many_unseen_symbols_leave_everything_open():
    over = ConfidenceSet.from_counts([[1, 0, 0, 0], [0, 0, 0, 3]])
    assert over.prior.low.min() == 0.0
    smallest, largest = over.lift_range(Channel(np.eye(2), [0, 3]))
    assert largest.max() == np.inf
    assert smallest.min() == 0.0
    result = certified_for(over.counts, Channel(np.eye(2), [0, 3]), LIP(1.0), over=over)
    assert result.satisfied
    assert result.mixed > 0.1


@pytest.mark.parametrize("wrong", [[[1.5, 2]], [[3, 0.1], [1, 2]]])
def test_counts_must_be_whole_numbers(wrong):
    with pytest.raises(InvalidDistributionError, match="not whole"):
        ConfidenceSet.from_counts(wrong)
    ConfidenceSet.from_counts(np.rint(wrong))


@pytest.mark.parametrize("confidence", [0, 1, -0.1, 1.2, "0.95", None, np.nan])
def test_confidence_must_be_a_probability(confidence):
    with pytest.raises(InvalidParameterError, match="between 0 and 1"):
        ConfidenceSet.from_counts([[1, 2], [3, 4]], confidence=confidence)


def test_no_rows_are_refused():
    with pytest.raises(InvalidDistributionError, match="no rows"):
        ConfidenceSet.from_counts([[0, 0]])


def test_scaled_is_the_set_of_a_larger_table():
    over = ConfidenceSet.from_counts([[30, 20, 0], [10, 25, 1]], ["a", "b"], list("xyz"))
    larger = over.scaled(100)
    np.testing.assert_array_equal(larger.counts, 100 * over.counts)
    assert larger.sensitive_labels == over.sensitive_labels
    assert larger.useful_labels == over.useful_labels
    assert larger.confidence == over.confidence
    assert (larger.conditional.low >= over.conditional.low).all()
    # No symbol vanishes when rows are taken away.
    assert (over.scaled(0.01).counts > 0).sum() == (over.counts > 0).sum()


@settings(max_examples=25)
@given(count_tables(min_s=2, max_s=3, max_x=4), SEEDS)
def test_given_both_has_the_same_outputs_when_s_is_ignored(table, seed):
    over = ConfidenceSet.from_counts(table)
    both = over.given_both()
    n_s, n_x = over.shape
    assert both.shape == (n_s, n_s * n_x)
    assert both.useful_labels[n_x] == (over.sensitive_labels[1], over.useful_labels[0])
    matrix = random_channel(np.random.default_rng(seed), n_x).matrix
    for one, other in zip(
        over.output_range(matrix), both.output_range(np.tile(matrix, (n_s, 1))), strict=True
    ):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_given_both_allows_each_sensitive_value_a_channel_of_its_own():
    both = ConfidenceSet.from_counts([[30, 20], [10, 40]]).given_both()
    tells_s = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    low, high = both.output_range(tells_s)
    np.testing.assert_allclose(low, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(high, np.eye(2), atol=1e-12)


def test_repr_says_what_it_rests_on():
    over = ConfidenceSet.from_counts([[30, 20], [10, 40]], confidence=0.9)
    assert repr(over) == ("ConfidenceSet(2 sensitive x 2 useful symbols, 100 rows, confidence 0.9)")


def covered(truth, n, confidence, rng):
    """Whether the set for n rows holds the truth, given the symbols that were seen."""
    table = rng.multinomial(n, truth.ravel()).reshape(truth.shape)
    over = ConfidenceSet.from_counts(table, confidence=confidence)
    seen = truth[np.ix_(over.sensitive_labels, over.useful_labels)]
    return over.contains(
        JointDistribution(seen / seen.sum(), over.sensitive_labels, over.useful_labels)
    )


@pytest.mark.parametrize("n", [8, 60, 2000])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
@pytest.mark.parametrize(
    "truth", [TINY, np.array([[0.3, 0.2], [0.1, 0.4]]), np.full((2, 6), 1 / 12)], ids=len
)
def test_the_set_holds_the_truth_as_often_as_it_says(truth, confidence, n):
    rng = np.random.default_rng(n)
    trials = 200
    hits = sum(covered(truth, n, confidence, rng) for _ in range(trials))
    # Fewer hits than this would come by chance once in a million.
    assert hits >= binom.ppf(1e-6, trials, confidence)


def test_intervals_of_5_percent_each_would_miss_the_truth():
    # The test above can fail: with confidence 0.35 each of the 13 intervals has an error of 0.05.
    rng = np.random.default_rng(0)
    truth = np.full((2, 6), 1 / 12)
    hits = sum(covered(truth, 2000, 1 - 13 * 0.05, rng) for _ in range(300))
    assert hits < binom.ppf(1e-6, 300, 0.95)


# The worst case


@settings(max_examples=25)
@given(count_tables(min_s=2, max_s=4, max_x=5), SEEDS)
def test_output_range_equals_linear_programs(table, seed):
    over = ConfidenceSet.from_counts(table)
    q = np.random.default_rng(seed).random(over.shape[1])
    found = over.output_range(q[:, None])
    for s in range(over.shape[0]):
        bounds = np.column_stack([over.conditional.low[s], over.conditional.high[s]])
        for side, sign in zip(found, (1, -1), strict=True):
            program = linprog(sign * q, A_eq=np.ones((1, q.size)), b_eq=[1.0], bounds=bounds)
            assert side[s, 0] == pytest.approx(sign * program.fun, abs=1e-9)


def fractional_program(over, q, s, sign):
    """Extreme lift of s by one linear program: worst rows first, then Charnes and Cooper."""
    low, high = (side[:, 0] for side in over.output_range(q[:, None]))
    own, others = (low, high) if sign > 0 else (high, low)
    values = np.where(np.arange(low.size) == s, own, others)
    n_s = low.size
    # min or max own_s / (values @ pi), with pi = z / sum(z) and values @ z = 1.
    a_ub = np.vstack(
        [
            -np.eye(n_s) + over.prior.low[:, None],  # low * sum(z) <= z
            np.eye(n_s) - over.prior.high[:, None],  # z <= high * sum(z)
        ]
    )
    program = linprog(
        sign * np.full(n_s, own[s]),
        A_ub=a_ub,
        b_ub=np.zeros(2 * n_s),
        A_eq=values[None],
        b_eq=[1.0],
        bounds=(0, None),
    )
    return sign * program.fun


@settings(max_examples=25)
@given(count_tables(min_s=2, max_s=4, max_x=5, positive=True), SEEDS)
def test_lift_range_equals_a_fractional_program(table, seed):
    over = ConfidenceSet.from_counts(table)
    q = 0.1 + np.random.default_rng(seed).random(over.shape[1])
    channel = Channel(np.column_stack([q, 2 - q]) / 2)
    smallest, largest = over.lift_range(channel)
    for s in range(over.shape[0]):
        assert smallest[s, 0] == pytest.approx(fractional_program(over, q / 2, s, 1), rel=1e-6)
        assert largest[s, 0] == pytest.approx(fractional_program(over, q / 2, s, -1), rel=1e-6)


@settings(max_examples=25)
@given(count_tables(min_s=2, max_s=4, max_x=5), SEEDS)
def test_no_member_exceeds_the_worst_levels(table, seed):
    rng = np.random.default_rng(seed)
    over = ConfidenceSet.from_counts(table)
    channel = random_channel(rng, over.shape[1])
    weights = quantize(channel)
    for notion in NOTIONS:
        worst = over.worst_levels(weights, notion)
        for _ in range(5):
            rows, prior = member(over, rng)
            lifts = lifts_of(rows, prior, channel.matrix)
            with np.errstate(divide="ignore"):
                levels = notion.levels(lifts, prior)
            for side, level in levels.items():
                assert level.max() <= worst[side] + 1e-7


@settings(max_examples=25)
@given(count_tables(min_s=2, max_s=4, max_x=6), SEEDS)
def test_exact_worst_lifts_equal_those_in_floating_point(table, seed):
    over = ConfidenceSet.from_counts(table)
    channel = random_channel(np.random.default_rng(seed), over.shape[1])
    weights = quantize(channel)
    for notion in NOTIONS:
        exact = over.worst_lift(weights, notion)
        floats = notion.worst_lift(*over.output_range(channel.matrix), over.prior)
        assert all(isinstance(value, Fraction | int) for value in exact.ravel())
        np.testing.assert_allclose(exact.astype(float), floats, rtol=1e-7, atol=1e-12)


def test_worst_ldp_compares_different_sensitive_values_only():
    # The same s twice would give U_s / L_s, here far above the ratio of different values.
    over = ConfidenceSet.from_counts([[2, 2], [40_000, 40_000]])
    channel = Channel([[0.9, 0.1], [0.1, 0.9]])
    (low_0, low_1), (high_0, high_1) = (side[:, 0] for side in over.output_range(channel.matrix))
    worst = over.worst_levels(quantize(channel), LDP(1.0))["ldp"]
    assert worst == pytest.approx(np.log(max(high_0 / low_1, high_1 / low_0)), rel=1e-6)
    assert worst < np.log(high_0 / low_0) - 0.1


def test_a_single_sensitive_value_has_nothing_to_hide():
    over = ConfidenceSet.from_counts([[3, 4, 5]])
    weights = quantize(Channel(np.eye(3)))
    assert over.worst_levels(weights, LDP(0.1)) == {"ldp": 0.0}
    assert certify_over(over, weights, LDP(0.1)).all()


@each_notion
def test_worst_rows_are_positive_where_the_budget_is_broken(notion):
    rng = np.random.default_rng(1)
    over = ConfidenceSet.from_counts(DEPENDENT)
    broken = 0
    for _ in range(200):
        q = rng.random(6) ** rng.integers(1, 6) + rng.choice([0.0, 0.1, 0.5])
        lifts = notion.worst_lift(*over.output_range(q[:, None]), over.prior)
        excess = max(
            float(level.max()) - notion.budget[side]
            for side, level in notion.levels(lifts, lifts).items()
        )
        value = (over.worst_rows(notion, q) @ q).max()
        assert (value > 0) == (excess > 0)
        broken += excess > 0
    assert 30 < broken < 170


@each_notion
def test_worst_rows_hold_for_every_other_private_column(notion):
    rng = np.random.default_rng(2)
    over = ConfidenceSet.from_counts(DEPENDENT)
    columns = rng.random((300, 6)) ** 4 + rng.choice([0.0, 0.1, 0.5], (300, 1))
    private = [q for q in columns if (over.worst_rows(notion, q) @ q).max() <= 0]
    rows = np.vstack([over.worst_rows(notion, q) for q in columns[:100]])
    assert 30 < len(private) < 270
    assert (rows @ np.array(private).T).max() <= 1e-12


def test_notions_without_a_worst_case_are_refused():
    over = ConfidenceSet.from_counts([[3, 4], [5, 6]])
    notion = L1Lift(0.5, 0.5)
    with pytest.raises(UnsupportedNotionError, match="LIP, ALIP or LDP"):
        over.worst_rows(notion, np.ones(2))
    with pytest.raises(UnsupportedNotionError, match="LIP, ALIP or LDP"):
        over.worst_lift(quantize(Channel(np.eye(2))), notion)


# The certificate


@each_notion
@settings(max_examples=15)
@given(table=count_tables(min_s=2, max_s=3, min_x=2, max_x=5), seed=SEEDS)
def test_certified_integers_hold_for_members_without_rounding(notion, table, seed):
    rng = np.random.default_rng(seed)
    over = ConfidenceSet.from_counts(20 * table)
    released = certified_for(20.0 * table, random_channel(rng, over.shape[1]), notion, over=over)
    assert released.satisfied
    weights = released.weights.toarray().astype(object)
    assert (weights.sum(axis=1) == TOTAL).all()
    for _ in range(5):
        rows, prior = member(over, rng, exact=True)
        assert prior.sum() == 1
        assert (rows.sum(axis=1) == 1).all()
        lifts = lifts_of(rows, prior, weights)
        assert all(notion.exactly_met(list(column), list(prior)) for column in lifts.T)


def budget_of(key, level):
    return {"lip": LIP, "ldp": LDP}[key](level)


@pytest.mark.parametrize("key", ["lip", "ldp"])
def test_a_channel_that_misses_by_a_hair_is_mixed_by_a_hair(key):
    over = ConfidenceSet.from_counts([[300, 200, 40], [100, 250, 110]])
    channel = Channel([[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]])
    level = max(over.worst_levels(quantize(channel), budget_of(key, 1.0)).values())
    enough = certified_for(over.counts, channel, budget_of(key, level + 1e-12), over=over)
    assert (enough.satisfied, enough.mixed) == (True, 0.0)
    short = budget_of(key, level - 1e-12)
    judged = certified_for(over.counts, channel, short, over=over, enforce=False)
    assert not judged.satisfied
    assert judged.violations
    mixed = certified_for(over.counts, channel, short, over=over)
    assert mixed.satisfied
    assert 0 < mixed.mixed < 1e-10
    assert certify_over(over, mixed.weights, short).all()


@each_notion
def test_no_more_is_mixed_than_needed(notion):
    over = ConfidenceSet.from_counts([[300, 200, 40], [100, 250, 110], [30, 20, 90]])
    p_y = over.counts.sum(axis=0) / over.n_rows

    def met(share):
        matrix = (1 - share) * np.eye(3) + share * p_y
        lifts = notion.worst_lift(*over.output_range(matrix), over.prior)
        return all(
            float(level.max()) <= notion.budget[side]
            for side, level in notion.levels(lifts, lifts).items()
        )

    low, high = 0.0, 1.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (low, middle) if met(middle) else (middle, high)
    mixed = certified_for(over.counts, Channel(np.eye(3)), notion, over=over).mixed
    assert high * (1 - 1e-6) <= mixed <= high * (1 + 1 / 32 + 1e-6)


def test_quantiles_that_scipy_lacks_are_replaced_by_a_wider_interval(monkeypatch):
    successes, n = np.array([0.0, 3.0, 400.0, 1000.0]), 1000
    low, high = clopper_pearson(successes, n, 0.05)
    for name in ("betaincinv", "betainccinv"):
        monkeypatch.setattr(f"skliftpriv.confidence._intervals.{name}", lambda a, b, y: np.nan * a)
    wider_low, wider_high = clopper_pearson(successes, n, 0.05)
    assert (wider_low <= low).all()
    assert (wider_high >= high).all()
    assert (wider_high - wider_low < 0.1).all()
