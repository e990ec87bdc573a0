from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array

from skliftpriv import LIP, Channel, JointDistribution, measures, mechanisms
from skliftpriv.certificate import certified_by, quantize
from skliftpriv.datasets import make_joint
from skliftpriv.exceptions import InvalidParameterError, SizeLimitError
from skliftpriv.mechanisms import _product, _side_channel, _side_check, _single_attribute
from skliftpriv.mechanisms._side_channel import _mended, attribute_codes
from skliftpriv.mechanisms._side_check import SideChannelCheck
from skliftpriv.notions import SRLIP

from ..clock import WorkClock

# The counterexample to Theorem 4 of Lopuhaa-Zwakenberg et al. (2020), docs/errata.md, 5.
COUNTEREXAMPLE = JointDistribution.from_counts(
    [[1, 1, 1, 10], [8, 1, 1, 8]], useful_labels=[(0, 0), (0, 1), (1, 0), (1, 1)]
)
FIRST = Channel([[0.6, 0.4], [0.9, 0.1]], [0, 1])
SECOND = Channel([[0.5, 0.5], [0.1, 0.9]], [0, 1])


def product_joint(shape, seed, n_sensitive=2):
    cells = np.random.default_rng(seed).random((n_sensitive, *shape)).reshape(n_sensitive, -1)
    return JointDistribution(cells / cells.sum(), useful_labels=list(np.ndindex(*shape)))


def brute_force_level(joint, matrix, shape):
    """Definition 3 with plain loops over J, x^J, s and y."""
    codes = list(np.ndindex(*shape))
    worst = 0.0
    for known in product((False, True), repeat=len(shape)):
        positions = [j for j, on in enumerate(known) if on]
        for values in product(*(range(shape[j]) for j in positions)):
            group = [
                i
                for i, c in enumerate(codes)
                if all(c[j] == v for j, v in zip(positions, values, strict=True))
            ]
            p_y = joint[:, group].sum(axis=0) @ matrix[group] / joint[:, group].sum()
            for row in joint:
                if row[group].sum() > 0:
                    p_sy = row[group] @ matrix[group] / row[group].sum()
                    with np.errstate(divide="ignore"):
                        worst = max(worst, np.abs(np.log(p_sy[p_y > 0] / p_y[p_y > 0])).max())
    return worst


@pytest.mark.parametrize("shape", [(2, 2), (3, 2, 2), (2, 3, 4)])
def test_level_is_that_of_the_definition(shape):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        joint = product_joint(shape, seed, 3)
        matrix = rng.dirichlet(np.ones(5), joint.shape[1])
        worst = measures.srlip_level(joint.matrix, matrix, shape)
        assert worst.level == pytest.approx(
            brute_force_level(joint.matrix, matrix, shape), abs=1e-12
        )
        # The place that is named attains the level.
        codes = np.array(list(np.ndindex(*shape)))
        group = (codes[:, worst.known] == worst.values).all(axis=1)
        row, p_x = joint.matrix[worst.sensitive, group], joint.p_x[group]
        column = matrix[group, worst.output]
        ratio = (row @ column / row.sum()) / (p_x @ column / p_x.sum())
        assert abs(np.log(ratio)) == pytest.approx(worst.level, abs=1e-12)


def test_zero_cells_give_infinite_levels_and_impossible_pairs_none():
    joint = np.array([[0.25, 0.25, 0.0, 0.0], [0.0, 0.25, 0.0, 0.25]])
    assert measures.srlip_level(joint, np.eye(4), (2, 2)).level == np.inf
    assert measures.srlip_level(joint, np.ones((4, 1)), (2, 2)).level == 0.0


def test_a_sparse_channel_has_the_level_of_a_dense_one():
    joint = product_joint((3, 4, 2), 0, 3).matrix
    mostly_zero = np.eye(24)[np.random.default_rng(0).permutation(24)]
    for matrix in (np.eye(24), mostly_zero, np.random.default_rng(0).dirichlet(np.ones(5), 24)):
        found = measures.srlip_levels(joint, csr_array(matrix), (3, 4, 2))
        assert found == measures.srlip_levels(joint, matrix, (3, 4, 2))
        worst = max(level.level for level in found)
        assert worst == pytest.approx(brute_force_level(joint, matrix, (3, 4, 2)), abs=1e-12)
    with pytest.raises(ValueError, match="non-negative"):
        measures.srlip_level(joint, csr_array(-np.eye(24)), (3, 4, 2))


def test_plain_product_violates_and_the_certified_one_does_not():
    plain = mechanisms.product_channel(COUNTEREXAMPLE, [FIRST, SECOND])
    level = measures.srlip_level(COUNTEREXAMPLE.matrix, plain.matrix, (2, 2)).level
    assert level == pytest.approx(0.843, abs=5e-4)
    assert level > 0.345 + 0.404 + 0.001
    for strategy in ("product", "optimal"):
        result = mechanisms.side_channel_resistant(COUNTEREXAMPLE, 0.749, strategy=strategy)
        assert result.srlip <= 0.749 + 1e-12
        assert result.report.satisfied
        assert result.nmi > 0.1


def test_exact_check_agrees_with_the_level():
    for seed in range(10):
        joint = product_joint((2, 3), seed)
        matrix = np.random.default_rng(seed).dirichlet(np.ones(4), 6)
        weights = quantize(Channel(matrix))
        level = measures.srlip_level(joint.matrix, matrix, (2, 3)).level
        codes = attribute_codes(joint)
        assert SideChannelCheck(joint.masses, codes, SRLIP(level * (1 + 1e-9)))(weights).all()
        assert not SideChannelCheck(joint.masses, codes, SRLIP(level * (1 - 1e-9)))(weights).all()


@pytest.mark.parametrize(
    ("seed", "eps", "at_least"),
    [(0, 1.0, 0.918), (1, 1.0, 0.9595), (2, 1.0, 0.972), (1, 0.5, 0.851), (2, 0.5, 0.845)],
)
def test_optimal_keeps_at_least_what_a_prototype_kept(seed, eps, at_least):
    joint = product_joint((3, 3, 4), seed)
    result = mechanisms.side_channel_resistant(joint, eps, time_limit=1.0)
    assert result.nmi >= at_least
    assert result.srlip <= eps
    assert result.report.satisfied
    assert result.nmi <= result.upper_bound <= 1
    assert joint.shape[1] == 36
    assert SRLIP(eps).side_rows(joint.matrix, attribute_codes(joint)).shape == (176, 36)


@pytest.mark.parametrize(
    "eps", [2.0, *(pytest.param(eps, marks=pytest.mark.slow) for eps in (0.5, 1.5))]
)
def test_optimal_keeps_more_than_the_product(eps):
    # Lopuhaa-Zwakenberg et al. (2020), figure 4: c = 2, a = (3, 3, 4).
    more = []
    for seed in range(2):
        joint = product_joint((3, 3, 4), seed)
        best = mechanisms.side_channel_resistant(joint, eps, time_limit=1.0)
        each = mechanisms.side_channel_resistant(joint, eps, strategy="product")
        assert each.srlip <= eps
        assert each.report.satisfied
        assert len(each.budgets) == len(each.report.column_levels) == 3
        assert best.nmi >= each.nmi - 1e-6
        more.append(best.nmi - each.nmi)
    assert np.mean(more) > 0.02


def test_srlip_is_stricter_than_lip():
    joint = product_joint((3, 3), 0)
    plain = mechanisms.optimal_random_response(joint, LIP(0.5))
    result = mechanisms.side_channel_resistant(joint, 0.5, time_limit=1.0)
    assert result.nmi < plain.upper_bound
    assert measures.srlip_level(joint.matrix, plain.channel.matrix, (3, 3)).level > 0.5
    assert result.report.levels_by_knowledge[()] <= result.srlip
    assert set(result.report.levels_by_knowledge) == {(), (0,), (1,)}
    assert result.report.to_dict()["levels_by_knowledge"] == result.report.levels_by_knowledge
    assert "SRLIP level" in repr(result.report)


def test_bad_input_is_refused():
    uneven = JointDistribution(np.full((2, 2), 0.25), useful_labels=[(0, 1), (0,)])
    with pytest.raises(InvalidParameterError, match="tuples of the same length"):
        mechanisms.side_channel_resistant(uneven, 1.0)
    many = JointDistribution(np.full((2, 2), 0.25), useful_labels=[(0,) * 20, (1,) * 20])
    with pytest.raises(InvalidParameterError, match="fewer columns"):
        mechanisms.side_channel_resistant(many, 1.0)
    with pytest.raises(InvalidParameterError, match="strategy"):
        mechanisms.side_channel_resistant(COUNTEREXAMPLE, 1.0, strategy="magic")
    with pytest.raises(ValueError, match="attributes must be sizes"):
        measures.srlip_level(np.full((2, 4), 0.125), np.eye(4), (3, 2))
    with pytest.raises(ValueError, match="inputs"):
        measures.srlip_level(np.full((2, 4), 0.125), np.eye(3), (2, 2))


def test_too_large_an_alphabet_is_refused_before_memory_runs_out():
    rng = np.random.default_rng(0)
    labels = list(np.ndindex(8, 8, 8, 8))
    joint = JointDistribution.from_counts(rng.integers(1, 9, (3, 4096)), useful_labels=labels)
    with pytest.raises(InvalidParameterError, match=r"4,096 values of X.*strategy='product'"):
        mechanisms.side_channel_resistant(joint, 1.0)
    with pytest.raises(InvalidParameterError, match="fewer columns"):
        mechanisms.side_channel_resistant(joint, 1.0, strategy="product")


@pytest.mark.parametrize("strategy", ["optimal", "product"])
def test_one_attribute_has_no_side_channel(strategy):
    joint = make_joint(3, 6, random_state=0)
    result = mechanisms.side_channel_resistant(joint, 0.5, strategy=strategy)
    best = mechanisms.optimal_random_response(joint, LIP(0.5))
    assert result.nmi == pytest.approx(best.nmi, abs=1e-4)
    assert set(result.report.levels_by_knowledge) == {()}


# ---- the search for a product


def random_protocols(shape, rng):
    """A protocol per attribute, some of them with zeros."""
    protocols = []
    for size in shape:
        matrix = rng.dirichlet(np.full(size + 1, 0.5), size) * (rng.random((size, size + 1)) < 0.7)
        matrix[:, 0] += 0.01
        protocols.append(Channel(matrix / matrix.sum(axis=1, keepdims=True)))
    return protocols


def sparse_joint(shape, seed):
    """A distribution in which half of the combinations of attributes and some pairs are missing."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, (3, *shape)) * (rng.random(shape) < 0.6)
    counts[:, *[0] * len(shape)] += 1
    for j in range(len(shape)):  # every value of every attribute occurs
        counts[0, *[0] * j, :, *[0] * (len(shape) - j - 1)] += 1
    counts = counts.reshape(3, -1)
    kept = counts.sum(axis=0) > 0
    labels = [label for label, keep in zip(np.ndindex(*shape), kept, strict=True) if keep]
    return JointDistribution.from_counts(counts[:, kept], useful_labels=labels)


@pytest.mark.parametrize("shape", [(4,), (3, 2), (2, 3, 3), (2, 2, 3, 2)])
def test_views_give_level_and_information_without_the_channel(shape):
    for seed in range(5):
        joint = sparse_joint(shape, seed)
        protocols = random_protocols(shape, np.random.default_rng(seed))
        search = _product._ProductSearch(
            joint, SRLIP(1.0), attribute_codes(joint), _product.ProductLimits()
        )
        # The search numbers values in the order in which they occur.
        protocols = [
            Channel(protocol.matrix[list(map(protocol.inputs.index, single.labels))], single.labels)
            for single, protocol in zip(search._single, protocols, strict=True)
        ]
        found = search._product(np.ones(len(shape)), protocols)
        channel = mechanisms.product_channel(joint, protocols)
        level = measures.srlip_level(joint.matrix, channel.matrix, attribute_codes(joint)).level
        assert found.level == pytest.approx(level, abs=1e-12)
        kept = measures.mutual_information(channel.joint(joint.p_x))
        assert found.information == pytest.approx(kept, abs=1e-12)


def counted_products(monkeypatch):
    """List the budgets of the products that are built from now on."""
    built = []
    original = _product._ProductSearch._product

    def counted(self, budgets, protocols):
        built.append(budgets)
        return original(self, budgets, protocols)

    monkeypatch.setattr(_product._ProductSearch, "_product", counted)
    return built


def test_the_search_for_a_product_releases_nothing_if_there_is_no_time(monkeypatch):
    built = counted_products(monkeypatch)
    joint = product_joint((3, 3), 0, 3)
    result = mechanisms.side_channel_resistant(joint, 0.5, strategy="product", time_limit=1e-9)
    assert result.report.satisfied
    assert result.nmi == result.srlip == 0.0
    assert len(result.channel.outputs) == 1
    np.testing.assert_array_equal(built, [[0.0, 0.0]])


@pytest.mark.parametrize("limit", [0.1, 1.0])
def test_the_search_for_a_product_stops_at_its_limit(limit):
    joint = product_joint((4, 4, 4), 0, 3)
    start = _product.time.monotonic()
    channel, _ = _product.best_product(
        joint, SRLIP(0.5), attribute_codes(joint), _product.ProductLimits(limit)
    )
    seconds = _product.time.monotonic() - start
    # The solver of the last protocol looks at the clock a few times more.
    assert limit <= seconds < limit + 50 * WorkClock.TICK
    level = measures.srlip_level(joint.matrix, channel.matrix, (4, 4, 4)).level
    assert level <= 0.5 + 1e-9


def test_an_interrupt_ends_the_search_for_a_product(monkeypatch):
    built = counted_products(monkeypatch)
    original = _single_attribute.solve

    def interrupted(*args, **options):
        return replace(original(*args, **options), status="interrupted")

    monkeypatch.setattr(_single_attribute, "solve", interrupted)
    result = mechanisms.side_channel_resistant(product_joint((3, 3), 0), 0.5, strategy="product")
    assert result.report.satisfied
    assert len(built) == 1  # the constant one


def test_the_search_for_a_product_shows_its_progress(capsys):
    joint = product_joint((3, 3), 0)
    for verbose in (None, False):
        mechanisms.side_channel_resistant(joint, 0.5, strategy="product", verbose=verbose)
    assert capsys.readouterr().err == ""
    mechanisms.side_channel_resistant(joint, 0.5, strategy="product", verbose=True)
    shown = capsys.readouterr().err
    assert "products" in shown
    assert shown.count("\n") == 1


@pytest.mark.parametrize("most", [2_000, 10])
def test_the_optimum_starts_from_a_product_that_is_not_too_large(most, monkeypatch):
    joint = product_joint((4, 4, 4), 0, 3)
    each = mechanisms.side_channel_resistant(joint, 0.5, strategy="product", time_limit=2.0)
    assert each.nmi > 0.01
    assert 10 < len(each.channel.outputs) <= 2_000
    monkeypatch.setattr(_side_channel, "best_product", lambda *_: (each.channel, each.budgets))
    monkeypatch.setattr(_side_channel, "_FIRST_COLUMNS", most)
    best = mechanisms.side_channel_resistant(joint, 0.5, time_limit=1e-6)
    assert best.report.satisfied
    assert (best.nmi >= each.nmi - 1e-9) == (most == 2_000)


def test_the_optimum_does_without_a_product_that_is_refused(monkeypatch):
    def refused(*_):
        raise SizeLimitError

    monkeypatch.setattr(_side_channel, "best_product", refused)
    joint = product_joint((3, 3), 0)
    assert mechanisms.side_channel_resistant(joint, 0.5, time_limit=0.5).nmi > 0.5


# ---- the certificate


@pytest.mark.slow
@pytest.mark.parametrize("masses", ["counts", "probabilities", "tiny"])
def test_floating_point_numbers_never_change_a_verdict(masses):
    shape, verdicts = (2, 3, 2), []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        cells = rng.integers(1, 40, (3, 12)).astype(float)
        if masses == "probabilities":
            cells = rng.dirichlet(np.full(36, 0.3)).reshape(3, 12)
        if masses == "tiny":
            cells[1, :6] *= 1e-300
        joint = JointDistribution(cells / cells.sum(), useful_labels=list(np.ndindex(*shape)))
        codes = attribute_codes(joint)
        for share in (0.0, 0.5):  # a constant part is treated on its own
            matrix = share / 5 + (1 - share) * rng.dirichlet(np.full(5, 0.7), 12)
            weights = quantize(Channel(matrix))
            for found in measures.srlip_levels(joint.matrix, weights / 2**62, shape):
                # Of all budgets, those next to a level are the hardest.
                for factor in (1.0, 1 - 1e-15, 1 + 1e-15, 1 - 1e-11, 1 + 1e-11, 0.7, 1.5):
                    notion = SRLIP(found.level * factor)
                    check = SideChannelCheck(joint.masses, codes, notion)
                    assert (masses == "tiny") == (check._surely[1] == 0.0)
                    verdict = check(weights)
                    check._surely = (np.inf, -np.inf)
                    np.testing.assert_array_equal(verdict, check(weights))
                    verdicts.append(verdict.all())
    assert len(set(verdicts)) == 2


def test_few_numbers_are_left_for_exact_arithmetic(monkeypatch):
    joint = product_joint((3, 3, 4), 0)
    left = []
    original = SideChannelCheck._broken

    def counted(self, groups, rest, common):
        left.append(rest.nnz)
        return original(self, groups, rest, common)

    monkeypatch.setattr(SideChannelCheck, "_broken", counted)
    result = mechanisms.side_channel_resistant(joint, 0.5, strategy="product")
    assert result.report.satisfied
    assert len(left) == 7
    assert sum(left) == 0


def test_without_exact_arithmetic_little_is_lost(monkeypatch):
    joint = product_joint((2, 3), 0)
    plain = mechanisms.side_channel_resistant(joint, 0.5, time_limit=0.2)
    monkeypatch.setattr(_side_check, "MOST_FRACTIONS", 0)
    careful = mechanisms.side_channel_resistant(joint, 0.5, time_limit=0.2)
    assert careful.report.satisfied
    assert plain.certified.mixed <= careful.certified.mixed < 1e-9
    assert careful.nmi == pytest.approx(plain.nmi, abs=1e-9)


def test_a_channel_that_exceeds_the_budget_is_mended():
    joint = product_joint((2, 3), 0)
    matrix = np.random.default_rng(0).dirichlet(np.ones(4), 6)
    # The last output meets the budget by itself.
    channel = Channel(np.hstack([0.5 * matrix, np.full((6, 1), 0.5)]))
    check = SideChannelCheck(joint.masses, attribute_codes(joint), SRLIP(0.2))
    assert check(quantize(channel)).tolist() == [False, False, False, False, True]
    certified = certified_by(channel, joint.p_x, check, mend=_mended)
    assert certified.satisfied
    assert certified.mixed == certified_by(channel, joint.p_x, check).mixed > 0
    level = measures.srlip_level(joint.matrix, certified.channel.matrix, (2, 3)).level
    assert 0.15 < level <= 0.2


def test_what_takes_long_to_certify_is_refused():
    labels = list(np.ndindex(5, 5, 5, 5, 4))
    counts = np.random.default_rng(0).integers(1, 9, (3, 2500))
    joint = JointDistribution.from_counts(counts, useful_labels=labels)
    with pytest.raises(SizeLimitError, match=r"775,000,000 terms.*fewer columns"):
        mechanisms.side_channel_resistant(joint, 1.0, strategy="product")
