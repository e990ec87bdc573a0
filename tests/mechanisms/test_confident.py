"""Mechanisms whose budget holds for the true distribution: optimal, sound, and by simulation."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from skliftpriv import ALIP, LDP, LIP, ConfidenceSet, JointDistribution, L1Lift, mechanisms
from skliftpriv.certificate import certify_over
from skliftpriv.exceptions import InvalidParameterError, UnsupportedNotionError
from skliftpriv.mechanisms import is_constant, rows_needed
from skliftpriv.mechanisms._merging import MergedColumns
from skliftpriv.solvers import PosteriorProblem, solve

NOTIONS = [ALIP(1.0, 0.7), LIP(0.7), LDP(1.0)]
orr = partial(mechanisms.optimal_random_response, gap=1e-4)
srr = partial(mechanisms.subset_random_response, gap=1e-4)
MECHANISMS = {
    "ORR": orr,
    "SRR": srr,
    "subset merging": mechanisms.subset_merging,
    "watchdog": mechanisms.watchdog,
    "GRR": mechanisms.generalized_randomized_response,
    "conditional reporting": mechanisms.conditional_reporting,
}
each_notion = pytest.mark.parametrize("notion", NOTIONS, ids=str)
each_mechanism = pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=MECHANISMS)


def true_joint(n_s, n_x, seed=0):
    """Dependent distribution with a zero cell, tiny cells and a rare sensitive value."""
    given_s = np.random.default_rng([n_s, n_x, seed]).dirichlet(np.ones(n_x), n_s)
    given_s[0, 0], given_s[0, -1], given_s[-1, -1] = 0.0, 1e-4, 1e-5
    if n_s > 2:
        given_s[1, 1] = 0.0
    given_s /= given_s.sum(axis=1, keepdims=True)
    return given_s * np.append(np.full(n_s - 1, 0.9 / (n_s - 1)), 0.1)[:, None]


def sample(truth, n, rng):
    """Estimate and confidence set from n rows, of the symbols that were seen, as a fit does."""
    counts = rng.multinomial(n, truth.ravel()).reshape(truth.shape)
    joint = JointDistribution.from_counts(counts)
    seen = counts[np.ix_(joint.sensitive_labels, joint.useful_labels)]
    over = ConfidenceSet.from_counts(seen, joint.sensitive_labels, joint.useful_labels)
    return joint, over


def excess(truth, result):
    """How far the release exceeds its budget on the truth, given the symbols that were seen."""
    matrix = truth[np.ix_(result.joint.sensitive_labels, result.joint.useful_labels)]
    matrix = matrix / matrix.sum()
    p_s = matrix.sum(axis=1)
    if isinstance(result, mechanisms.ConditionalResult):
        p_sy = np.einsum("sx,sxy->sy", matrix, result.conditional.matrix.reshape(*matrix.shape, -1))
    else:
        p_sy = matrix @ result.channel.matrix
    lift = p_sy / p_s[:, None] / p_sy.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        levels = result.notion.levels(lift, p_s)
    return max(float(level.max()) - result.notion.budget[side] for side, level in levels.items())


def table(n_s, n_x, n, seed=0):
    return sample(true_joint(n_s, n_x), n, np.random.default_rng(seed))


def box_vertices(low, high):
    """Vertices of a box cut by the simplex."""
    found = []
    for free, ends in product(range(low.size), product((0, 1), repeat=low.size - 1)):
        others = np.delete(np.arange(low.size), free)
        point = np.empty(low.size)
        point[others] = np.where(ends, high[others], low[others])
        point[free] = 1 - point[others].sum()
        if low[free] <= point[free] <= high[free]:
            found.append(point)
    return np.array(found)


def all_rows(over, notion, p_x):
    """Privacy rows of every vertex of a set, on posteriors with respect to ``p_x``."""
    rows = []
    bounds = zip(over.conditional.low, over.conditional.high, strict=True)
    choices = product(
        box_vertices(over.prior.low, over.prior.high), *(box_vertices(*b) for b in bounds)
    )
    for prior, *given_s in choices:
        member = prior[:, None] * np.array(given_s)
        member_x = member.sum(axis=0)
        lift = member / member_x / prior[:, None]
        rows.append(notion.rows(lift) * (member_x / p_x))
    return np.unique(np.vstack(rows).round(14), axis=0)


@each_notion
@pytest.mark.parametrize("n", [200, 5000])
def test_optimum_equals_that_of_all_distributions_listed(notion, n):
    counts = np.rint(n * np.array([[0.25, 0.15, 0.05], [0.1, 0.2, 0.25]]))
    joint, over = JointDistribution.from_counts(counts), ConfidenceSet.from_counts(counts)
    rows = all_rows(over, notion, joint.p_x)
    listed = solve(PosteriorProblem(joint.p_x, rows), method="vertices")
    found = mechanisms.optimal_random_response(joint, notion, over=over)
    assert found.nmi == pytest.approx(listed.kept, abs=5e-6)
    assert found.upper_bound >= listed.kept - 1e-9
    assert found.nmi <= found.upper_bound + 1e-12
    plain = orr(joint, notion)
    assert found.nmi < plain.nmi - 1e-3


@each_notion
def test_with_endless_rows_the_optimum_is_that_of_the_estimate(notion):
    joint = JointDistribution.from_counts(np.rint(1e12 * true_joint(3, 6)))
    over = ConfidenceSet.from_counts(joint.masses, joint.sensitive_labels, joint.useful_labels)
    plain = orr(joint, notion)
    robust = orr(joint, notion, over=over)
    assert robust.nmi == pytest.approx(plain.nmi, abs=3e-4)
    assert robust.nmi <= plain.upper_bound + 1e-9


@each_notion
@pytest.mark.parametrize(("n_s", "n"), [(2, 1500), (3, 40_000)])
def test_the_optimum_is_above_all_other_mechanisms_and_below_its_bounds(notion, n_s, n):
    joint, over = table(n_s, 5, n)
    best = orr(joint, notion, over=over)
    assert best.nmi <= best.upper_bound + 1e-12
    assert best.nmi <= orr(joint, notion).upper_bound + 1e-9
    assert best.nmi > 0.1
    others = [
        srr(joint, notion, over=over),
        mechanisms.generalized_randomized_response(joint, notion, over=over),
        mechanisms.subset_merging(joint, notion, over=over),
        mechanisms.watchdog(joint, notion, over=over),
    ]
    for other in others:
        assert other.nmi <= best.upper_bound + 1e-9
        assert other.nmi <= best.nmi + best.gap + 1e-6


@each_mechanism
@each_notion
def test_what_is_sampled_is_certified_over_the_set(mechanism, notion):
    joint, over = table(3, 5, 3000)
    result = mechanism(joint, notion, over=over)
    assert result.over is over
    assert result.report.satisfied
    checked = over
    if isinstance(result, mechanisms.ConditionalResult):
        checked = over.given_both()
    assert certify_over(checked, result.certified.weights, notion).all()
    for side, level in result.report.levels_worst.items():
        assert result.report.levels_after[side] - 1e-12 <= level <= notion.budget[side] + 1e-12


@each_notion
def test_conditional_reporting_is_mixed_where_its_draws_leak(notion):
    # What replaces x comes from the estimate; of the rare symbol that is not known well enough.
    counts = np.array([[500, 500, 1], [300, 700, 0]])
    joint, over = JointDistribution.from_counts(counts), ConfidenceSet.from_counts(counts)
    result = mechanisms.conditional_reporting(joint, notion, over=over)
    assert result.status == "mixed with a constant"
    assert certify_over(over.given_both(), result.certified.weights, notion).all()
    # No more is mixed in than is needed: the budget is used up.
    worst = result.report.levels_worst
    assert result.certified.mixed < 1e-6
    assert min(notion.budget[side] - level for side, level in worst.items()) < 1e-6


@pytest.mark.parametrize("n", [30, 3000])
@pytest.mark.parametrize("empty", [0, 2])
def test_bounds_of_merged_symbols_are_attained(n, empty):
    joint, over = table(3, 6, n)
    # Symbols without rows are drawn, so that they, too, may end in a merged symbol.
    counts = np.hstack([over.counts, np.zeros((over.shape[0], empty))])
    labels = [*over.useful_labels, *"ab"[:empty]]
    over = ConfidenceSet.from_counts(counts, over.sensitive_labels, labels, drawn=True)
    merging = MergedColumns(joint, LIP(1.0), over)
    subsets = np.array(list(product((0, 1), repeat=joint.shape[1]))[1:], dtype=float).T
    totals = merging.columns.sum(axis=1, keepdims=True)
    found = over.drawing_from(joint).merged_range(merging.columns @ subsets, totals)
    for one, other in zip(found, over.output_range(subsets), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("name", ["ORR", "SRR", "GRR", "conditional reporting"])
@each_notion
def test_the_budget_is_used_up_for_the_worst_distribution(name, notion):
    joint, over = table(3, 5, 3000)
    worst = MECHANISMS[name](joint, notion, over=over).report.levels_worst
    left = min(notion.budget[side] - level for side, level in worst.items())
    assert left >= -1e-12
    assert left < 1e-6


@each_mechanism
def test_wide_sets_cost_utility_and_narrow_ones_hardly(mechanism):
    notion = LIP(0.7)
    joint, over = table(2, 4, 2000)
    kept = [mechanism(joint, notion, over=over.scaled(4.0**k)).nmi for k in (0, 3, 12)]
    assert kept[0] <= kept[1] + 1e-4
    assert kept[1] <= kept[2] + 1e-4
    assert kept[2] == pytest.approx(mechanism(joint, notion).nmi, rel=0.01)


@each_mechanism
def test_a_set_of_other_symbols_is_refused(mechanism):
    joint, _ = table(2, 4, 2000)
    other = ConfidenceSet.from_counts(joint.masses, ["a", "b"], joint.useful_labels)
    with pytest.raises(InvalidParameterError, match="different symbols"):
        mechanism(joint, LIP(1.0), over=other)


@each_mechanism
def test_notions_without_a_worst_case_are_refused(mechanism):
    joint, over = table(2, 4, 2000)
    with pytest.raises(UnsupportedNotionError, match="LIP, ALIP"):
        mechanism(joint, L1Lift(0.5, 0.5), over=over)


def test_delta_is_refused_over_a_set():
    joint, over = table(2, 4, 2000)
    with pytest.raises(InvalidParameterError, match="delta"):
        mechanisms.watchdog(joint, LIP(1.0), delta=0.1, over=over)


@each_mechanism
@each_notion
def test_a_single_sensitive_value_leaves_everything_as_it_is(mechanism, notion):
    counts = [[3, 4, 5]]
    joint, over = JointDistribution.from_counts(counts), ConfidenceSet.from_counts(counts)
    assert mechanism(joint, notion, over=over).nmi == pytest.approx(1.0)


def test_rows_needed_is_just_enough():
    # Merging finds no two symbols that go together for sure with so few rows.
    counts = np.array([[30, 20, 5, 10], [10, 25, 20, 12]])
    joint, over = JointDistribution.from_counts(counts), ConfidenceSet.from_counts(counts)

    def build(chosen):
        return mechanisms.subset_merging(joint, LIP(0.5), over=chosen)

    assert is_constant(build(over))
    rows = rows_needed(build, over)
    assert not is_constant(build(over.scaled(rows / over.n_rows)))
    assert is_constant(build(over.scaled(0.8 * rows / over.n_rows)))
    assert rows == float(f"{rows:.1e}")  # two digits


def test_no_number_of_rows_helps_where_the_estimate_allows_nothing():
    counts = np.array([[30, 0], [0, 25]])
    joint, over = JointDistribution.from_counts(counts), ConfidenceSet.from_counts(counts)
    assert rows_needed(lambda s: mechanisms.subset_merging(joint, LIP(0.5), over=s), over) is None


# Simulation: the truth is known, and a release is judged on it.

# Shape, and how many trials there is time for.
SHAPES = [(2, 5, 4), (3, 8, 4), (4, 12, 3)]
TIMED = {
    **MECHANISMS,
    "ORR": partial(mechanisms.optimal_random_response, gap=1e-3, time_limit=0.1),
    "SRR": partial(mechanisms.subset_random_response, gap=1e-3, time_limit=0.1),
}


@pytest.mark.slow
@each_notion
@pytest.mark.parametrize("n", [1000, 50_000])
@pytest.mark.parametrize(("n_s", "n_x", "trials"), SHAPES)
def test_the_budget_holds_for_the_truth(n_s, n_x, trials, n, notion):
    broken, kept = dict.fromkeys(TIMED, 0), dict.fromkeys(TIMED, 0.0)
    for trial in range(trials):
        truth = true_joint(n_s, n_x, seed=trial)
        joint, over = sample(truth, n, np.random.default_rng([n_s, n_x, n, trial]))
        for name, mechanism in TIMED.items():
            result = mechanism(joint, notion, over=over)
            broken[name] += excess(truth, result) > 1e-9
            kept[name] += result.nmi / trials
    # The set holds the truth far more often than it says, so that not one is expected.
    assert broken == dict.fromkeys(TIMED, 0)
    # A constant would keep every budget; these are not.
    assert kept["GRR"] > 0.02
    assert kept["ORR"] > (0.02 if n == 1000 and n_s > 2 else 0.3)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["subset merging", "watchdog", "GRR", "conditional reporting"])
def test_the_budget_holds_for_the_truth_in_many_trials(name):
    trials, broken = 150, 0
    for trial in range(trials):
        truth = true_joint(3, 8, seed=trial)
        joint, over = sample(truth, 5000, np.random.default_rng(trial))
        broken += excess(truth, MECHANISMS[name](joint, LIP(0.7), over=over)) > 1e-9
    assert broken <= binom.ppf(0.5, trials, 0.05)


@pytest.mark.slow
@each_notion
@pytest.mark.parametrize("n", [1000, 50_000])
@pytest.mark.parametrize("shape", [(2, 5), (3, 8)], ids=str)
def test_without_confidence_the_optimum_breaks_its_budget_on_the_truth(shape, n, notion):
    # Why all this: the optimum for the estimate sits on the edge of the budget.
    broken = 0
    for trial in range(30):
        truth = true_joint(*shape, seed=trial)
        joint, _ = sample(truth, n, np.random.default_rng([*shape, n, trial]))
        broken += excess(truth, orr(joint, notion)) > 1e-9
    assert broken > 15
