"""Confidence for unary encoding, for side channels, and for values without rows."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from skliftpriv import ALIP, LDP, LIP, ConfidenceSet, JointDistribution, mechanisms
from skliftpriv.certificate import TOTAL, certify_over
from skliftpriv.exceptions import InvalidParameterError
from skliftpriv.measures import srlip_level
from skliftpriv.mechanisms._unary_worst import WorstFractions

NOTIONS = [LIP(0.7), ALIP(1.0, 0.4), LDP(1.0)]
each_notion = pytest.mark.parametrize("notion", NOTIONS, ids=str)


def table(n_s, n_x, n, seed=0):
    rng = np.random.default_rng([n_s, n_x, seed])
    truth = rng.dirichlet(np.ones(n_x), n_s) * rng.dirichlet(np.full(n_s, 5.0))[:, None]
    counts = rng.multinomial(n, truth.ravel()).reshape(n_s, n_x)
    return truth, JointDistribution.from_counts(counts), ConfidenceSet.from_counts(counts)


def worst_levels(over, notion, channel):
    """Levels of the worst distribution, by writing out all 2^n outputs."""
    low, high = over.output_range(channel.matrix)
    worst = notion.worst_lift(low, high, over.prior)
    return {side: float(level.max()) for side, level in notion.levels(worst, worst).items()}


def excess_of(levels, notion):
    return max(level - notion.budget[side] for side, level in levels.items())


# Unary encoding


@each_notion
@pytest.mark.parametrize(("n_s", "n_x", "n"), [(2, 5, 1000), (3, 6, 3000), (4, 7, 100_000)])
def test_unary_encoding_meets_its_budget_on_the_worst_of_all_sets(notion, n_s, n_x, n):
    _, joint, over = table(n_s, n_x, n)
    result = mechanisms.optimized_unary_encoding(joint, notion, over=over)
    worst = worst_levels(over, notion, result.channel)
    promised = result.report.levels_promised
    assert result.report.satisfied
    assert excess_of(worst, notion) <= 1e-9
    for side, level in worst.items():
        assert level <= promised[side] + 1e-9
        assert promised[side] <= notion.budget[side]
    # The linear program gives away little.
    assert excess_of(worst, notion) > -0.05
    plain = mechanisms.optimized_unary_encoding(joint, notion)
    assert 0 < result.alpha < plain.alpha
    assert excess_of(worst_levels(over, notion, plain.channel), notion) > 0.01


def test_the_bound_holds_for_any_multipliers_without_rounding():
    _, _, over = table(3, 5, 500)
    for program in WorstFractions(over, LIP(0.5))._programs:
        ratio = Fraction(3, 2) if program.sign > 0 else Fraction(2, 3)
        bound = program.bound(ratio)
        found = program.solve(float(ratio))
        assert isinstance(bound, Fraction)
        assert float(bound) == pytest.approx(-found.fun, abs=1e-9)
        # A feasible point is below it: the set of the first symbol.
        bits = np.array([[1.0], [0], [0], [0], [0]])
        low, high = (side[:, 0] for side in over.output_range(bits))
        for prior in (over.prior.low, over.prior.high):
            p = prior / prior.sum()
            if ((p < over.prior.low) | (p > over.prior.high)).any():
                continue
            own = np.flatnonzero(program.gain)[0] - 5
            if program.sign > 0:
                values = np.where(np.arange(3) == own, high, low)
            else:
                values = np.where(np.arange(3) == own, low, high)
            value = program.sign * (values[own] - float(ratio) * (p @ values))
            assert value <= float(bound) + 1e-12


def test_unary_encoding_needs_no_noise_if_the_set_allows_everything():
    joint = JointDistribution.from_counts([[5000, 5100], [5050, 4990]])
    over = ConfidenceSet.from_counts(joint.masses)
    result = mechanisms.optimized_unary_encoding(joint, LIP(1.0), over=over)
    assert (result.noise_weight, result.alpha) == (0, np.inf)
    assert worst_levels(over, LIP(1.0), result.channel)["max_lift"] <= 1.0
    silent = mechanisms.optimized_unary_encoding(joint, LIP(0.0), over=over)
    assert silent.noise_weight == TOTAL // 2


@pytest.mark.slow
def test_the_promise_of_unary_encoding_holds_as_often_as_it_says():
    rng = np.random.default_rng(7)
    truth = rng.dirichlet(np.ones(5), 2) * np.array([[0.3], [0.7]])
    notion, trials = LIP(0.5), 60
    broken = {"set": 0, "estimate": 0}
    for _ in range(trials):
        counts = rng.multinomial(800, truth.ravel()).reshape(2, 5)
        joint, over = JointDistribution.from_counts(counts), ConfidenceSet.from_counts(counts)
        for name, options in (("set", {"over": over}), ("estimate", {})):
            channel = mechanisms.optimized_unary_encoding(joint, notion, **options).channel
            released = truth @ channel.matrix
            lift = released / truth.sum(axis=1)[:, None] / released.sum(axis=0)
            broken[name] += bool(np.abs(np.log(lift)).max() > 0.5 + 1e-12)
    assert broken["set"] <= binom.ppf(1 - 1e-6, trials, 0.05)
    # The estimate alone would fail this test.
    assert broken["estimate"] > binom.ppf(1 - 1e-6, trials, 0.05)


# Side channels

LABELS = [(a, b) for a in range(2) for b in range(3)]


def side_truth(seed=0):
    rng = np.random.default_rng([seed, 99])
    return rng.dirichlet(np.full(6, 4.0), 2) * np.array([[0.4], [0.6]])


def side_sample(n, rng, truth):
    counts = rng.multinomial(n, truth.ravel()).reshape(truth.shape)
    labels = {"useful_labels": LABELS}
    return (
        JointDistribution.from_counts(counts, **labels),
        ConfidenceSet.from_counts(counts, **labels),
    )


@pytest.mark.parametrize("strategy", ["optimal", "product"])
def test_side_channel_resistance_holds_within_every_group(strategy):
    rng = np.random.default_rng(1)
    joint, over = side_sample(20_000, rng, side_truth())
    result = mechanisms.side_channel_resistant(joint, 0.6, strategy=strategy, over=over)
    assert result.report.satisfied
    assert result.nmi > 0.05
    assert result.report.levels_worst["srlip"] <= 0.6 + 1e-9
    groups = [[0, 1, 2, 3, 4, 5], [0, 1, 2], [3, 4, 5], [0, 3], [1, 4], [2, 5]]
    n_intervals = 2 * 6 + 1 + 2 * (2 * 3 + 1) + 3 * (2 * 1 + 1)
    parts = list(over.given_groups([np.array(group) for group in groups]))
    alone = ConfidenceSet.from_counts(
        joint.masses[:, :3].astype(int), confidence=1 - 0.05 / n_intervals * 7
    )
    np.testing.assert_allclose(parts[1][1].conditional.low, alone.conditional.low, rtol=1e-9)
    np.testing.assert_allclose(parts[1][1].prior.high, alone.prior.high, rtol=1e-9)
    for members, part in parts:
        assert certify_over(part, result.certified.weights[members], LIP(0.6)).all()
    plain = mechanisms.side_channel_resistant(joint, 0.6, strategy=strategy)
    assert result.nmi < plain.nmi


def test_nothing_is_assumed_of_a_sensitive_value_without_rows_in_a_group():
    counts = np.array([[50, 40, 0, 0], [30, 60, 20, 25]])
    over = ConfidenceSet.from_counts(counts, useful_labels=[(0, 0), (0, 1), (1, 0), (1, 1)])
    ((_, part),) = over.given_groups([np.array([2, 3])])
    np.testing.assert_array_equal(part.conditional.low[0], [0, 0])
    np.testing.assert_array_equal(part.conditional.high[0], [1, 1])
    assert part.prior.low[0] == 0
    assert 0 < part.prior.high[0] < 0.2
    joint = JointDistribution.from_counts(counts, useful_labels=over.useful_labels)
    result = mechanisms.side_channel_resistant(joint, 0.5, over=over)
    # Whatever P(x | s, x^J) is, the lift stays within the band.
    group = result.channel.matrix[2:]
    assert (group.max(axis=0) <= np.exp(0.5) * group.min(axis=0) * 1.5).all()


def test_groups_need_rows_for_all_symbols():
    over = ConfidenceSet.from_counts([[5, 0], [3, 0]], useful_labels=[(0, 0), (0, 1)])
    with pytest.raises(InvalidParameterError, match="rows for all"):
        list(over.given_groups([np.array([0])]))


@pytest.mark.slow
def test_the_promise_of_side_channel_resistance_holds_as_often_as_it_says():
    rng = np.random.default_rng(3)
    truth, trials = side_truth(), 25
    broken = {"set": 0, "estimate": 0}
    for _ in range(trials):
        joint, over = side_sample(4000, rng, truth)
        for name, options in (("set", {"over": over}), ("estimate", {})):
            result = mechanisms.side_channel_resistant(
                joint, 0.4, strategy="product", time_limit=0.2, **options
            )
            level = srlip_level(truth, result.channel.matrix, (2, 3)).level
            broken[name] += bool(level > 0.4 + 1e-12)
    assert broken["set"] <= binom.ppf(1 - 1e-6, trials, 0.05)
    assert broken["estimate"] > binom.ppf(1 - 1e-6, trials, 0.05)


# A closed list of values, some of them without rows

CLOSED = {
    "ORR": lambda *a, **k: mechanisms.optimal_random_response(*a, gap=1e-3, time_limit=0.3, **k),
    "subset merging": mechanisms.subset_merging,
    "watchdog": mechanisms.watchdog,
    "GRR": mechanisms.generalized_randomized_response,
    "conditional reporting": mechanisms.conditional_reporting,
    "ORR that sees S": lambda *a, **k: mechanisms.optimal_random_response(
        *a, gap=5e-2, time_limit=0.1, use_sensitive=True, **k
    ),
}


def everywhere(result, n_s, n_x):
    """P(Y|S,X) for all listed values: those without rows, and pairs of them, get the draw."""
    drawn = (result.drawn_weights / TOTAL).toarray()
    matrix = np.tile(drawn, (n_s, n_x, 1))
    seen = np.ix_(result.joint.sensitive_labels, result.joint.useful_labels)
    if result.sees_sensitive:
        matrix[seen] = result.conditional.matrix.reshape(*result.joint.shape, -1)
    else:
        matrix[seen] = result.channel.matrix
    return matrix


def excess_on(truth, result):
    matrix = everywhere(result, *truth.shape)
    released = np.einsum("sx,sxy->sy", truth, matrix)
    lift = released / truth.sum(axis=1)[:, None] / released.sum(axis=0)
    with np.errstate(divide="ignore"):
        levels = result.notion.levels(lift, truth.sum(axis=1))
    return excess_of({side: float(level.max()) for side, level in levels.items()}, result.notion)


@each_notion
@pytest.mark.parametrize("name", CLOSED)
def test_draws_for_listed_values_are_covered_for_every_member(name, notion):
    counts = np.array([[40, 25, 0, 9, 0], [20, 45, 0, 30, 0], [15, 10, 0, 40, 0]])
    joint = JointDistribution.from_counts(counts)
    over = ConfidenceSet.from_counts(counts, drawn=True)
    assert over.unseen_labels == (2, 4)
    result = CLOSED[name](joint, notion, over=over)
    assert result.report.satisfied
    rng = np.random.default_rng(0)
    limits = [over.conditional.low, over.conditional.high]
    for _ in range(40):
        # Members at the ends of the bounds, in which the values without rows are common.
        rows = np.zeros((3, 5))
        rows[:, [2, 4]] = (rng.dirichlet([1, 1], 3).T * over.unseen.high).T
        for s in range(3):
            low, high = (bound[s].copy() for bound in limits)
            free = 1 - rows[s].sum() - low.sum()
            for x in rng.permutation(3):
                extra = min(free, high[x] - low[x])
                low[x] += extra
                free -= extra
            rows[s, [0, 1, 3]] = low
            rows[s] /= rows[s].sum()
        prior = over.prior.low + rng.dirichlet(np.ones(3)) * (1 - over.prior.low.sum())
        if (prior > over.prior.high).any():
            continue
        truth = prior[:, None] * rows
        assert excess_on(truth, result) <= 1e-9


def test_the_set_of_a_closed_list_holds_the_truth_as_often_as_it_says():
    rng = np.random.default_rng(5)
    truth = np.array([[0.3, 0.1, 0.004, 0.0], [0.1, 0.49, 0.0, 0.006]])
    trials, hits, unseen = 200, 0, 0
    for _ in range(trials):
        counts = rng.multinomial(150, truth.ravel()).reshape(truth.shape)
        over = ConfidenceSet.from_counts(counts, confidence=0.95, drawn=True)
        unseen += bool(over.unseen_labels)
        hits += over.contains(JointDistribution(truth))
    assert unseen > 100
    assert hits >= binom.ppf(1e-6, trials, 0.95)
    # The test can fail: intervals that each miss with probability 0.1 are too narrow.
    narrow = 0
    for _ in range(trials):
        counts = rng.multinomial(150, truth.ravel()).reshape(truth.shape)
        over = ConfidenceSet.from_counts(counts, confidence=0.05, drawn=True)
        narrow += over.contains(JointDistribution(truth))
    assert narrow < binom.ppf(1e-6, trials, 0.95)


@pytest.mark.parametrize("name", ["GRR", pytest.param("ORR", marks=pytest.mark.slow)])
def test_the_promise_with_a_closed_list_holds_as_often_as_it_says(name):
    # The last two values are rare, each with one sensitive value only, and often without rows.
    rng = np.random.default_rng(11)
    truth = np.array(
        [[0.16, 0.08, 0.10, 0.06, 0.0015, 0.0], [0.10, 0.20, 0.12, 0.1765, 0.0, 0.002]]
    )
    notion, trials = LIP(0.4), 60
    broken, unseen = {"set": 0, "estimate": 0}, 0
    for _ in range(trials):
        counts = rng.multinomial(800, truth.ravel()).reshape(truth.shape)
        joint = JointDistribution.from_counts(counts)
        over = ConfidenceSet.from_counts(counts, drawn=True)
        unseen += bool(over.unseen_labels)
        for key, options in (("set", {"over": over}), ("estimate", {})):
            broken[key] += bool(excess_on(truth, CLOSED[name](joint, notion, **options)) > 1e-12)
    assert unseen > 20
    assert broken["set"] <= binom.ppf(1 - 1e-6, trials, 0.05)
    assert broken["estimate"] > binom.ppf(1 - 1e-6, trials, 0.05)


def test_merged_sets_add_up_bounds_and_rows_scale_them():
    counts = np.array([[400, 3, 200, 1, 0], [100, 2, 300, 4, 0]])
    over = ConfidenceSet.from_counts(counts, drawn=True)
    merged = over.merged([0, 2, 1, 2], ["a", "c", "rest"])
    low, high, _ = over.conditional
    np.testing.assert_allclose(merged.conditional.low[:, 2], low[:, 1] + low[:, 3])
    np.testing.assert_allclose(merged.conditional.high[:, 2], high[:, 1] + high[:, 3])
    np.testing.assert_array_equal(merged.counts, [[400, 200, 4], [100, 300, 6]])
    assert merged.unseen_labels == over.unseen_labels
    larger = merged.scaled(10)
    assert larger.useful_labels == ("a", "c", "rest")
    np.testing.assert_array_equal(larger.counts, 10 * merged.counts)
    # A channel that treats the merged symbols alike has the same worst lifts.
    small = np.array([[0.7, 0.3], [0.2, 0.8], [0.5, 0.5]])
    for one, other in zip(
        merged.output_range(small), over.output_range(small[[0, 2, 1, 2]]), strict=True
    ):
        np.testing.assert_allclose(one, other, atol=1e-12)
