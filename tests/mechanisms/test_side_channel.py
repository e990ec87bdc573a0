from itertools import product

import numpy as np
import pytest

from skliftpriv import LIP, Channel, JointDistribution, measures, mechanisms
from skliftpriv.certificate import quantize
from skliftpriv.datasets import make_joint
from skliftpriv.exceptions import InvalidParameterError
from skliftpriv.mechanisms import _product
from skliftpriv.mechanisms._side_channel import _attribute_codes, _ExactCheck
from skliftpriv.notions import SRLIP

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
        codes = _attribute_codes(joint)
        assert _ExactCheck(joint.masses, codes, SRLIP(level * (1 + 1e-9)))(weights).all()
        assert not _ExactCheck(joint.masses, codes, SRLIP(level * (1 - 1e-9)))(weights).all()


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
    assert SRLIP(eps).side_rows(joint.matrix, _attribute_codes(joint)).shape == (176, 36)


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


def test_the_search_for_a_product_stops_when_its_time_is_over(monkeypatch):
    built = []
    original = _product._ProductSearch._at

    def counted(self, budgets):
        built.append(budgets)
        return original(self, budgets)

    monkeypatch.setattr(_product._ProductSearch, "_at", counted)
    rng = np.random.default_rng(0)
    labels = list(np.ndindex(3, 3))
    joint = JointDistribution.from_counts(rng.integers(1, 9, (3, 9)), useful_labels=labels)
    result = mechanisms.side_channel_resistant(joint, 0.5, strategy="product", time_limit=1e-9)
    assert result.report.satisfied
    assert len(built) == 1
