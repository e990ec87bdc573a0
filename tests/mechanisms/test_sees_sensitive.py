"""Mechanisms that see S: as good as brute force, above all others, and certified."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array
from scipy.special import entr

from skliftpriv import ALIP, LDP, LIP, ConfidenceSet, JointDistribution, mechanisms
from skliftpriv.certificate import TOTAL, certify
from skliftpriv.datasets import make_joint
from skliftpriv.exceptions import SizeLimitError
from skliftpriv.mechanisms._pairs import one_useful_each, pair_masses

optimal = mechanisms.optimal_random_response
NOTIONS = [LIP(0.1), LIP(0.7), ALIP(0.6, 0.2), LDP(0.3), LDP(1.5)]
each_notion = pytest.mark.parametrize("notion", NOTIONS, ids=str)


def sees_s(joint, notion, **options):
    return optimal(joint, notion, use_sensitive=True, **options)


def joint_with_zeros(seed, n_s=None, n_x=None):
    """Random counts of which about a quarter are zero."""
    rng = np.random.default_rng(seed)
    n_s, n_x = n_s or int(rng.integers(2, 5)), n_x or int(rng.integers(2, 8))
    counts = rng.integers(1, 60, (n_s, n_x)) * (rng.random((n_s, n_x)) > 0.25)
    counts[rng.integers(n_s, size=n_x), np.arange(n_x)] += 1
    counts[np.arange(n_s), rng.integers(n_x, size=n_s)] += 1
    return JointDistribution.from_counts(counts)


def sides_of(notion, p_s):
    """Rows a with a.r <= 0 for the distribution r of S given an allowed output."""
    eye, n = np.eye(p_s.size), p_s.size
    if isinstance(notion, LDP):
        pairs = [(s, t) for s in range(n) for t in range(n) if s != t]
        return np.array(
            [eye[s] / p_s[s] - np.exp(notion.epsilon) * eye[t] / p_s[t] for s, t in pairs]
        )
    lower, upper = (
        (notion.epsilon, notion.epsilon)
        if isinstance(notion, LIP)
        else (notion.lower, notion.upper)
    )
    return np.vstack([eye - np.exp(upper) * p_s[:, None], np.exp(-lower) * p_s[:, None] - eye])


def vertices_of(notion, p_s):
    """Every vertex r, from every choice of tight sides."""
    n = p_s.size
    sides = np.vstack([sides_of(notion, p_s), -np.eye(n)])
    found = []
    for tight in combinations(range(len(sides)), n - 1):
        system = np.vstack([sides[list(tight)], np.ones(n)])
        if abs(np.linalg.det(system)) > 1e-10:
            r = np.linalg.solve(system, np.eye(n)[-1])
            if (sides @ r).max() <= 1e-10:
                found.append(r)
    return np.unique(np.round(found, 13), axis=0)


def brute_force(joint, notion, target=None):
    """Largest I(X;Y) or I(T;Y): all vertices r times all choices of an x for each s."""
    n_s, n_x = joint.shape
    image = np.eye(n_x)[:, None, :].repeat(n_s, axis=1) if target is None else target
    columns = []
    seen = [np.flatnonzero(row) for row in joint.matrix]
    for r, chosen in product(vertices_of(notion, joint.p_s), product(*seen)):
        v = np.zeros((n_s, n_x))
        v[np.arange(n_s), chosen] = r
        columns.append(v.ravel())
    columns = np.array(columns)
    parts = image.reshape(len(image), -1)
    least = linprog(entr(columns @ parts.T).sum(axis=1), A_eq=columns.T, b_eq=joint.matrix.ravel())
    assert least.status == 0
    return float(entr(parts @ joint.matrix.ravel()).sum() - least.fun)


@each_notion
@pytest.mark.parametrize("seed", range(6))
def test_brute_force_on_2_x_3(notion, seed):
    joint = make_joint(2, 3, random_state=seed) if seed % 2 else joint_with_zeros(seed, 2, 3)
    result = sees_s(joint, notion, gap=1e-8)
    assert result.report.mutual_information == pytest.approx(brute_force(joint, notion), abs=1e-7)
    assert result.gap < 1e-7
    rng = np.random.default_rng(seed)
    for n_targets in (2, 3):
        target = rng.dirichlet(np.ones(n_targets), (2, 3)).transpose(2, 0, 1)
        result = sees_s(joint, notion, target=target, gap=1e-8)
        best = brute_force(joint, notion, target)
        assert result.report.target.after == pytest.approx(best, abs=1e-7)


@each_notion
@pytest.mark.parametrize("seed", range(2))
def test_brute_force_on_3_x_3(notion, seed):
    joint = joint_with_zeros(seed, 3, 3)
    result = sees_s(joint, notion, gap=1e-8)
    assert result.report.mutual_information == pytest.approx(brute_force(joint, notion), abs=1e-7)


TABLE = {
    (3, 8, 1): {0.1: (0.835, 0.611, 0.165), 0.25: (0.876, 0.706, 0.238),
                0.5: (0.940, 0.851, 0.358), 1.0: (0.981, 0.969, 0.571)},
    (5, 10, 2): {0.1: (0.853, 0.578, 0.078), 0.25: (0.888, 0.679, 0.127),
                 0.5: (0.938, 0.828, 0.253), 1.0: (0.982, 0.951, 0.608)},
}  # fmt: skip
CASES = [
    pytest.param(*shape, eps, *values, id=f"{shape[0]}x{shape[1]}-{eps}")
    for shape, row in TABLE.items()
    for eps, values in row.items()
]


@pytest.mark.parametrize(("n_s", "n_x", "seed", "eps", "best", "orr", "reporting"), CASES)
def test_values_of_a_rough_search_are_reached_and_certified(
    n_s, n_x, seed, eps, best, orr, reporting
):
    joint = make_joint(n_s, n_x, random_state=seed)
    result = sees_s(joint, LIP(eps))
    assert result.nmi >= best - 5e-4
    assert result.gap < 1e-6
    assert result.report.satisfied
    assert optimal(joint, LIP(eps)).nmi == pytest.approx(orr, abs=5.1e-4)
    protocol = mechanisms.conditional_reporting(joint, LIP(eps))
    assert protocol.nmi == pytest.approx(reporting, abs=5.1e-4)


def check_chains(seed):
    joint = joint_with_zeros(seed)
    eps = float(np.random.default_rng([seed, 1]).choice([0.05, 0.3, 1.0]))
    for notion in (LIP(eps), LDP(eps)):
        merged = mechanisms.subset_merging(joint, notion)
        grouped = mechanisms.subset_random_response(joint, notion)
        best = optimal(joint, notion)
        seeing = sees_s(joint, notion)
        protocol = mechanisms.conditional_reporting(joint, notion)
        chain = [merged.nmi, grouped.nmi, best.nmi, seeing.nmi]
        assert np.all(np.diff(chain) >= -2e-6)  # each stops at a gap of 1e-6
        assert protocol.nmi <= seeing.nmi + 2e-6
        for one in (merged, grouped, best, seeing):
            assert one.report.satisfied
        assert seeing.gap <= 1e-6


@pytest.mark.parametrize("seed", range(20))
def test_chains_on_joints_with_zeros(seed):
    check_chains(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20, 200))
def test_chains_on_hundreds_of_joints_with_zeros(seed):
    check_chains(seed)


@each_notion
def test_what_is_sampled_is_certified_for_pairs(notion):
    joint = joint_with_zeros(3, 3, 5)
    result = sees_s(joint, notion)
    assert result.sees_sensitive
    assert certify(pair_masses(joint), result.certified.weights, notion).all()
    # Once more, from the numbers alone.
    conditional = result.conditional.matrix.reshape(*joint.shape, -1)
    p_sy = np.einsum("sx,sxy->sy", joint.matrix, conditional)
    lift = p_sy / joint.p_s[:, None] / p_sy.sum(axis=0)
    assert (sides_of(notion, joint.p_s) @ (lift * joint.p_s[:, None])).max() <= 1e-12
    np.testing.assert_allclose(result.shown.p_sy, p_sy, atol=1e-12)
    np.testing.assert_allclose(joint.p_x @ result.channel.matrix, p_sy.sum(axis=0), atol=1e-12)
    assert result.conditional.inputs == tuple(
        (s, x) for s in joint.sensitive_labels for x in joint.useful_labels
    )


@each_notion
def test_pairs_that_do_not_occur_draw_from_the_distribution_of_the_output(notion):
    joint = joint_with_zeros(3, 3, 5)
    result = sees_s(joint, notion)
    conditional = result.conditional.matrix
    unseen = np.flatnonzero(joint.matrix.ravel() == 0)
    assert unseen.size
    p_y = joint.matrix.ravel() @ conditional
    np.testing.assert_allclose(conditional[unseen], np.tile(p_y, (unseen.size, 1)), atol=1e-9)


def exact_independence(joint, weights):
    """Whether P(y|s) is the same fraction for all s of positive mass."""
    dense = np.asarray(weights.todense())
    whole = [[int(w) for w in row] for row in dense]
    totals = [sum(row) for row in whole]
    assert len(set(totals)) == 1
    masses = [[Fraction(int(m)) for m in row] for row in pair_masses(joint)]
    given_s = [
        [
            sum(m * w[y] for m, w in zip(row, whole, strict=True)) / sum(row)
            for y in range(dense.shape[1])
        ]
        for row in masses
    ]
    return all(row == given_s[0] for row in given_s)


@pytest.mark.parametrize("notion", [LIP(0), ALIP(0, 0), ALIP(0, 1), LDP(0)], ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_without_a_budget_the_output_is_exactly_independent(notion, seed):
    joint = joint_with_zeros(seed)
    rng = np.random.default_rng(seed)
    target = rng.dirichlet(np.ones(3), joint.shape).transpose(2, 0, 1)
    for options in ({}, {"target": target}, {"target": target[:2] / target[:2].sum(axis=0)}):
        result = sees_s(joint, notion, time_limit=2, **options)
        assert result.report.satisfied
        assert exact_independence(joint, result.certified.weights)
        if len(options.get("target", "XX")) == 2:  # priced exactly
            assert result.gap < 1e-5
        # Little is lost to exactness.
        almost = sees_s(joint, LIP(1e-7), time_limit=2, **options)
        assert result.utility_kept >= almost.utility_kept - 1e-3


def inside(over, rng):
    """A joint distribution at a corner of a confidence set, with mass on unseen pairs, too."""

    def corner(low, high):
        p, left = low.copy(), 1.0 - low.sum()
        for i in rng.permutation(low.size):
            step = min(high[i] - low[i], left)
            p[i] += step
            left -= step
        return p / p.sum()

    given_s = np.array(
        [corner(*rows) for rows in zip(over.conditional.low, over.conditional.high, strict=True)]
    )
    return corner(over.prior.low, over.prior.high)[:, None] * given_s


@pytest.mark.parametrize("notion", [LIP(0.7), ALIP(1.0, 0.7), LDP(1.2)], ids=str)
@pytest.mark.parametrize("with_target", [False, True])
def test_the_budget_is_met_for_all_of_a_confidence_set(notion, with_target):
    rng = np.random.default_rng(0)
    counts = rng.integers(200, 3000, (3, 4))
    counts[0, 1] = counts[2, 3] = 0
    joint, over = JointDistribution.from_counts(counts), ConfidenceSet.from_counts(counts)
    target = rng.dirichlet(np.ones(2), (3, 4)).transpose(2, 0, 1) if with_target else None
    result = sees_s(joint, notion, target=target, over=over, gap=1e-3)
    assert result.report.satisfied
    assert result.utility_kept > 0.3
    conditional = result.conditional.matrix.reshape(3, 4, -1)
    unseen_mass = 0.0
    for _ in range(400):
        matrix = inside(over, rng)
        unseen_mass = max(unseen_mass, matrix[0, 1], matrix[2, 3])
        p_s, p_sy = matrix.sum(axis=1), np.einsum("sx,sxy->sy", matrix, conditional)
        assert (sides_of(notion, p_s) @ (p_sy / p_sy.sum(axis=0))).max() <= 1e-9
    assert unseen_mass > 1e-4
    free = sees_s(joint, notion, target=target)
    assert result.utility_kept <= free.upper_bound + 1e-9
    assert result.upper_bound <= free.upper_bound + 1e-6


def test_more_is_kept_over_a_set_if_s_is_seen():
    counts = np.random.default_rng(1).integers(500, 5000, (3, 4))
    joint, over = JointDistribution.from_counts(counts), ConfidenceSet.from_counts(counts)
    blind = optimal(joint, LIP(0.4), over=over, gap=1e-4)
    seeing = sees_s(joint, LIP(0.4), over=over, gap=1e-4)
    assert seeing.utility_kept > blind.utility_kept
    protocol = mechanisms.conditional_reporting(joint, LIP(0.4), over=over)
    assert seeing.upper_bound >= protocol.nmi - 1e-9


@pytest.mark.parametrize("seconds", [0.05, 0.5, 2])
@pytest.mark.parametrize("n_targets", [0, 3])
def test_at_least_what_the_search_without_s_finds(seconds, n_targets):
    joint = make_joint(12, 15, random_state=0)
    draws = np.random.default_rng(0).dirichlet(np.full(3, 0.3), (12, 15)).transpose(2, 0, 1)
    target = draws if n_targets else None
    seeing = sees_s(joint, LIP(1.0), target=target, time_limit=seconds)
    if n_targets:
        target = (draws * joint.matrix).sum(axis=1) / joint.p_x
    blind = optimal(joint, LIP(1.0), target=target, time_limit=seconds / 3)
    if n_targets:
        assert seeing.report.target.after >= blind.report.target.after - 1e-9
    else:
        assert seeing.nmi >= blind.nmi - 1e-9
    assert seeing.report.satisfied


@pytest.mark.parametrize("seed", range(5))
def test_outputs_split_by_s_have_the_same_lifts_and_say_more(seed):
    joint = joint_with_zeros(seed, 3, 6)
    posteriors = np.random.default_rng(seed).dirichlet(np.full(6, 0.5), 4)
    posteriors[0] = np.eye(6)[0]
    for v in posteriors:
        pieces = one_useful_each(joint, v[None]).toarray().reshape(-1, *joint.shape)
        dense = joint.matrix / joint.p_x * v
        np.testing.assert_allclose(pieces.sum(axis=2), [dense.sum(axis=1)] * len(pieces))
        assert ((pieces > 0).sum(axis=2) <= 1).all()
        costs = entr(pieces.sum(axis=1)).sum(axis=1)
        least = linprog(costs, A_eq=pieces.reshape(len(pieces), -1).T, b_eq=dense.ravel())
        assert least.status == 0  # the pieces average to the output
        assert least.fun <= entr(v).sum() + 1e-9


def test_a_channel_of_too_many_pairs_is_refused_before_the_search():
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 9, (6, 900)) * (rng.random((6, 900)) < 0.3)
    counts[rng.integers(6, size=900), np.arange(900)] += 1
    with pytest.raises(SizeLimitError, match="does not see S"):
        sees_s(JointDistribution.from_counts(counts), LIP(0.5), time_limit=1)


@pytest.mark.parametrize("over", [False, True])
def test_a_table_of_too_many_pairs_is_refused_before_it_is_certified_again(over):
    joint = JointDistribution.from_counts(np.ones((400, 100)))
    weights = csr_array(np.full((40_000, 1), TOTAL))
    with pytest.raises(SizeLimitError, match=r"16,000,000 cells; the limit is 10,000,000"):
        mechanisms.recertified(
            joint, LIP(0.5), weights, ["y"], over=[joint] if over else None, sees_sensitive=True
        )
