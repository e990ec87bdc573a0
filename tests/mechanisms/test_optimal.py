import json
from pathlib import Path

import numpy as np
import pytest

from skliftpriv import ALIP, LDP, LIP, AlphaLift, JointDistribution, L1Lift, mechanisms
from skliftpriv.certificate import certify
from skliftpriv.datasets import load_adult, make_joint
from skliftpriv.exceptions import SkliftprivError
from skliftpriv.labels import symbol_text
from skliftpriv.mechanisms._posterior_channel import posterior_label, posterior_labels
from skliftpriv.report import target_summary
from skliftpriv.solvers import _partition, _solve, _vertices
from skliftpriv.solvers._lp import PolytopeLP

from ..clock import WorkClock

REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "aorr_17x5.json").read_text())["aorr"]


def budget(eps, lam=0.5):
    return ALIP(lam * eps, (1 - lam) * eps)


def certified(result):
    """Whether exact arithmetic accepts what is sampled."""
    return certify(result.joint.masses, result.certified.weights, result.notion).all()


@pytest.mark.parametrize("case", REFERENCE, ids=lambda c: f"{c['seed']}-{c['eps']}-{c['lam']}")
def test_reference_values(case):
    joint = make_joint(case["S"], case["X"], random_state=case["seed"])
    result = mechanisms.optimal_random_response(joint, budget(case["eps"], case["lam"]))
    assert result.nmi == pytest.approx(case["nmi"], abs=1e-7)
    assert result.nmi <= result.upper_bound
    assert certified(result)


@pytest.mark.slow
@pytest.mark.parametrize(("eps", "mean"), [(1.0, 0.851), (2.0, 0.935)])
def test_mean_nmi_of_uniform_17_x_5_joints(eps, mean):
    # Zarrabian et al. (2023), figure 4: 0.94 at eps = 2.
    values = [
        mechanisms.optimal_random_response(make_joint(5, 17, random_state=seed), budget(eps)).nmi
        for seed in range(100)
    ]
    assert np.mean(values) == pytest.approx(mean, abs=0.002)


def test_reduced_ldp_formulation_equals_theorem_2():
    # Lopuhaa-Zwakenberg et al. (2020), Theorem 2, enumerates 41,065 vertices for this joint.
    joint = make_joint(2, 5, random_state=0)
    result = mechanisms.optimal_random_response(joint, LDP(0.5))
    assert result.report.mutual_information == pytest.approx(1.20983, abs=5e-6)
    assert result.n_columns < 100


HARD = (5, 7, 11)  # column generation needs up to half a minute for these Dirichlet joints
SEEDS = [pytest.param(n, marks=[pytest.mark.slow] if n in HARD else []) for n in range(12)]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("notion", [LIP(0.4), ALIP(0.7, 0.3), LDP(0.8)], ids=str)
def test_columns_equal_vertices(notion, seed):
    shape = [(3, 6), (4, 9), (5, 12)][seed % 3]
    joint = make_joint(*shape, kind=("uniform", "dirichlet")[seed % 2], random_state=seed)
    columns = mechanisms.optimal_random_response(
        joint, notion, method="column-generation", gap=5e-8
    )
    vertices = mechanisms.optimal_random_response(joint, notion, method="vertices")
    assert columns.nmi == pytest.approx(vertices.nmi, abs=1e-7)
    assert certified(columns)
    assert certified(vertices)


@pytest.mark.parametrize("notion", [LIP(0.5), ALIP(0.65, 0.35), LDP(1.0)], ids=str)
def test_subset_response_lies_between_subset_merging_and_the_optimum(notion):
    for seed in range(8):
        joint = make_joint(5, 15, random_state=seed)
        merged = mechanisms.subset_merging(joint, notion)
        subset = mechanisms.subset_random_response(joint, notion)
        best = mechanisms.optimal_random_response(joint, notion)
        assert merged.nmi - 1e-9 <= subset.nmi <= best.upper_bound + 1e-9
        assert subset.nmi <= subset.upper_bound + 1e-12
        assert certified(subset)


def test_subset_response_takes_in_low_risk_symbols_where_the_others_cannot_meet_the_budget():
    # Symbol 1 is the only high-risk one, so its polytope {e_1} is empty within the budget.
    joint = JointDistribution.from_counts([[40, 9, 51], [40, 1, 49]])
    notion = LIP(0.3)
    result = mechanisms.subset_random_response(joint, notion)
    assert result.status == "repaired"
    assert certified(result)
    # The repaired group is randomised and not only merged.
    merged = mechanisms.subset_merging(joint, notion)
    assert merged.nmi + 0.05 < result.nmi <= result.upper_bound + 1e-12


def test_only_a_bound_on_all_mechanisms_is_called_a_gap_to_the_optimum():
    joint = make_joint(3, 6, random_state=0)
    best = mechanisms.optimal_random_response(joint, LIP(0.5))
    grouped = mechanisms.subset_random_response(joint, LIP(0.5))
    assert best.gap_to_optimum == best.gap
    assert np.isnan(grouped.gap_to_optimum)
    assert grouped.gap <= 1e-6


def test_a_group_whose_polytope_is_not_empty_may_still_miss_the_budget():
    """Zarrabian et al. (2023), Algorithm 2 as printed would let this group pass."""
    joint = JointDistribution.from_counts([[6, 1, 13], [1, 2, 17]])
    notion = LIP(0.2)
    group = [0, 1]
    # Some posterior on the group meets the budget ...
    share = np.linspace(0, 1, 10_001)
    lifts = joint.lift[:, group] @ np.vstack([share, 1 - share])
    assert notion.meets(lifts, joint.p_s).any()
    # ... but not the prior of the group, and the posteriors of its outputs average to that.
    assert max(mechanisms.high_risk_leakage(joint, notion, (0, 1)).values()) > 0.5
    result = mechanisms.subset_random_response(joint, notion)
    assert result.status == "repaired"
    assert certified(result)


@pytest.mark.parametrize("notion", [LIP(0.4), ALIP(0.4, 0.4), LDP(0.8)], ids=str)
def test_every_group_of_subset_merging_can_meet_the_budget(notion):
    """So that subset random response has no groups to join."""
    for seed in range(60):
        joint = make_joint(2 + seed % 3, 4 + seed % 5, random_state=seed)
        for group in mechanisms.subset_merging(joint, notion).partition:
            levels = mechanisms.high_risk_leakage(joint, notion, group)
            assert all(levels[side] <= bound for side, bound in notion.budget.items())
        result = mechanisms.subset_random_response(joint, notion)
        assert certified(result)
        assert result.certified.mixed < 1e-6


DEGENERATE = {
    "independent": JointDistribution(np.outer([0.3, 0.7], [0.2, 0.3, 0.5])),
    "function of x": JointDistribution.from_counts([[3, 0, 2, 0], [0, 4, 0, 1]]),
    "zero cells": JointDistribution.from_counts([[3, 0, 2], [0, 4, 5], [1, 1, 0]]),
    "one symbol": JointDistribution.from_counts([[3], [4]]),
    "fewer useful than sensitive": make_joint(6, 3, random_state=0),
    "equal lifts": JointDistribution.from_counts([[2, 4, 6, 1], [1, 2, 3, 5]]),
}


@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize(
    "notion", [LIP(1e-9), LIP(0.5), LIP(50.0), ALIP(0.01, 2.0), LDP(1e-6), LDP(1.0)], ids=str
)
def test_degenerate_inputs(name, notion):
    joint = DEGENERATE[name]
    for mechanism in (mechanisms.optimal_random_response, mechanisms.subset_random_response):
        result = mechanism(joint, notion)
        assert certified(result)
        assert result.report.satisfied
        assert 0 <= result.nmi <= result.upper_bound + 1e-12 <= 1 + 1e-12
        if name in ("independent", "one symbol"):
            assert result.nmi == pytest.approx(1.0, abs=1e-9)


def test_identity_is_optimal_for_a_large_budget():
    result = mechanisms.optimal_random_response(make_joint(4, 9, random_state=0), LIP(20.0))
    assert result.nmi == 1.0
    assert (result.channel.matrix == np.eye(9)).all()


def test_time_limit_gives_a_private_mechanism_and_an_honest_gap():
    joint = make_joint(10, 80, random_state=0)
    result = mechanisms.optimal_random_response(joint, budget(1.0), time_limit=0.5)
    assert result.status == "time_limit"
    assert certified(result)
    assert 0 < result.gap <= 1
    longer = mechanisms.optimal_random_response(joint, budget(1.0), time_limit=3.0)
    assert longer.nmi <= result.upper_bound
    assert longer.upper_bound <= result.upper_bound + 1e-12


def interrupt(monkeypatch, after):
    """Raise KeyboardInterrupt once, from the linear program number ``after``."""
    original, calls = PolytopeLP.minimise, {"left": after}

    def minimise(*args):
        calls["left"] -= 1
        if calls["left"] == 0:
            raise KeyboardInterrupt
        return original(*args)

    monkeypatch.setattr(PolytopeLP, "minimise", minimise)
    return calls


@pytest.mark.parametrize("after", [1, 90, 400, 900])
def test_an_interrupt_gives_a_private_mechanism_and_an_honest_gap(monkeypatch, after):
    joint = make_joint(10, 40, random_state=0)
    interrupt(monkeypatch, after)
    result = mechanisms.optimal_random_response(joint, budget(2.0))
    assert result.status == "interrupted"
    assert certified(result)
    best = mechanisms.optimal_random_response(joint, budget(2.0), gap=1e-3)
    assert result.nmi <= best.upper_bound
    assert best.nmi <= result.upper_bound


def test_one_interrupt_stops_all_groups_of_subset_response(monkeypatch):
    joint = make_joint(15, 200, random_state=0)
    calls = interrupt(monkeypatch, 300)
    result = mechanisms.subset_random_response(joint, budget(1.0), method="column-generation")
    assert result.status == "interrupted"
    assert certified(result)
    assert calls["left"] > -100  # a group takes hundreds to thousands
    assert mechanisms.subset_merging(joint, budget(1.0)).nmi - 0.05 < result.nmi


def test_subset_response_says_that_a_group_filled_the_memory(monkeypatch):
    monkeypatch.setattr(_partition, "MOST_BYTES", 0)
    joint = make_joint(5, 30, random_state=0)
    options = {"method": "column-generation", "time_limit": None}
    result = mechanisms.subset_random_response(joint, budget(0.6), **options)
    assert result.status == "memory_limit"
    assert result.gap > 1e-6
    assert certified(result)


def test_outputs_are_named_after_their_main_symbols():
    joint = JointDistribution.from_frame(load_adult(), "relationship", "occupation")
    outputs = mechanisms.optimal_random_response(joint, LIP(0.5)).channel.outputs
    assert len(set(outputs)) == len(outputs)
    assert "Sales" in outputs
    assert all(y in joint.useful_labels or (y[0] == "{" and "%" in y) for y in outputs)
    again = mechanisms.optimal_random_response(joint, LIP(0.5)).channel.outputs
    assert outputs == again


@pytest.mark.parametrize(
    ("posterior", "expected"),
    [
        ([0.0, 1.0, 0.0, 0.0, 0.0], "b"),
        ([1e-12, 1 - 1e-12, 0.0, 0.0, 0.0], "b"),
        ([0.375, 0.625, 0.0, 0.0, 0.0], "{b 62%, a 38%}"),
        ([0.001, 0.999, 0.0, 0.0, 0.0], "{b >99%, a <1%}"),
        ([0.4, 0.3, 0.15, 0.1, 0.05], "{a 40%, b 30%, c 15%, 2 more}"),
    ],
)
def test_label_of_a_posterior(posterior, expected):
    assert posterior_label("abcde", np.array(posterior)) == expected


@pytest.mark.slow
@pytest.mark.parametrize("eps", [1.0, 2.0])
def test_200_x_15_beats_subset_random_response(eps):
    # Zarrabian et al. (2023), figure 10.
    joint = make_joint(15, 200, random_state=0)
    best = mechanisms.optimal_random_response(joint, budget(eps), time_limit=8.0)
    subset = mechanisms.subset_random_response(joint, budget(eps), time_limit=8.0)
    assert best.nmi > subset.nmi + 0.02
    assert certified(best)
    assert certified(subset)


def test_names_of_outputs_never_read_alike():
    symbols = ["a", "b", "{a 50%, b 50%}", "x" * 3000, "x" * 3000 + "y"]
    posteriors = np.array(
        [
            [0.5, 0.5, 0, 0, 0],
            [0, 0, 1.0, 0, 0],
            [0.503, 0.497, 0, 0, 0],
            [0, 0, 0, 0.5, 0.5],
            [1.0, 0, 0, 0, 0],
            [1 - 1e-12, 1e-12, 0, 0, 0],
        ]
    )
    names = posterior_labels(symbols, posteriors)
    assert len({symbol_text(name) for name in names}) == len(names)
    assert names[1] == "{a 50%, b 50%}"
    assert names[4] == "a"
    assert max(len(name) for name in names) < 300


STEP = WorkClock.TICK
SMALL = [(8, 60, 0), (10, 100, 1)]
LARGE = [(15, 200, 0), (15, 400, 0)]


def check_useful_at_any_time(shape, notion, limits):
    n_s, n_x, seed = shape
    joint = make_joint(n_s, n_x, random_state=seed)
    merged = mechanisms.subset_merging(joint, notion)
    assert merged.nmi > 0.3
    for limit in limits:
        result = mechanisms.optimal_random_response(joint, notion, time_limit=limit)
        assert result.nmi >= merged.nmi - 1e-9
        assert certified(result)
        if shape in SMALL:  # larger ones have too many pairs
            seeing = mechanisms.optimal_random_response(
                joint, notion, use_sensitive=True, time_limit=limit
            )
            assert seeing.nmi >= merged.nmi - 1e-9
            assert seeing.report.satisfied


@pytest.mark.parametrize("notion", [budget(1.0), LDP(1.0)], ids=str)
@pytest.mark.parametrize("shape", SMALL, ids=str)
def test_a_search_that_hardly_begins_keeps_what_subset_merging_keeps(shape, notion):
    check_useful_at_any_time(shape, notion, [1e-9, 10 * STEP])


@pytest.mark.slow
@pytest.mark.parametrize("notion", [budget(1.0), LDP(1.0)], ids=str)
@pytest.mark.parametrize("shape", LARGE, ids=str)
def test_large_searches_keep_what_subset_merging_keeps(shape, notion):
    check_useful_at_any_time(shape, notion, [1e-9, 100 * STEP, 1000 * STEP])


@pytest.mark.parametrize("where", ["_coarse_posteriors", "descend_together"])
@pytest.mark.parametrize("sees", [False, True], ids=["sees X", "sees S"])
@pytest.mark.parametrize("notion", [LIP(0.5), L1Lift(0.5, 0.5)], ids=repr)
def test_an_interrupt_before_the_search_leaves_subset_merging(
    monkeypatch, notion, sees, where
) -> None:
    def interrupting(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(_solve, where, interrupting)
    joint = make_joint(4, 12, random_state=0)
    target = np.random.default_rng(0).dirichlet(np.ones(8), 12).T
    merging = mechanisms.subset_merging(joint, notion)
    least = target_summary(joint, target, merging.channel)
    options = {"use_sensitive": sees, "method": "column-generation"}
    result = mechanisms.optimal_random_response(joint, notion, target=target, **options)
    assert result.status == "interrupted"
    assert result.report.satisfied
    assert result.report.target.after >= least.after - 1e-9


def test_a_method_without_cddlib_never_imports_it(monkeypatch) -> None:
    def refused():
        raise AssertionError("cddlib was asked for")

    monkeypatch.setattr(_vertices, "_import_cdd", refused)
    joint = make_joint(3, 5, random_state=0)
    target = np.random.default_rng(0).dirichlet(np.ones(3), 5).T
    for sees in (False, True):
        mechanisms.optimal_random_response(
            joint,
            AlphaLift(0.3, 0.3, 2.0),
            target=target,
            use_sensitive=sees,
            method="column-generation",
            time_limit=1.0,
        )


def test_a_gap_that_the_certificate_makes_is_called_rounded() -> None:
    joint = make_joint(5, 2, random_state=0)  # probabilities with 53 random bits
    result = mechanisms.optimal_random_response(joint, LIP(0), use_sensitive=True)
    assert result.gap > 1e-3
    assert result.status == "rounded"
    counts = JointDistribution.from_counts(np.round(1000 * joint.matrix))
    exact = mechanisms.optimal_random_response(counts, LIP(0), use_sensitive=True)
    assert exact.status == "optimal"


def test_vertices_that_are_all_lost_to_rounding_leave_column_generation(monkeypatch) -> None:
    joint = make_joint(3, 5, random_state=0)
    expected = mechanisms.optimal_random_response(joint, LIP(0.5)).nmi
    nothing = np.zeros((0, 5))
    monkeypatch.setattr(_vertices, "enumerate_vertices", lambda reduced: nothing)
    found = mechanisms.optimal_random_response(joint, LIP(0.5))
    assert found.nmi == pytest.approx(expected, abs=2e-6)
    with pytest.raises(SkliftprivError, match="violate the budget by rounding"):
        mechanisms.optimal_random_response(joint, LIP(0.5), method="vertices")


def test_a_bound_that_fails_leaves_the_mechanism(monkeypatch) -> None:
    def failing(*args):
        raise SkliftprivError("HiGHS failed")

    monkeypatch.setattr(_solve, "bound_by_outer_rows", failing)
    joint = make_joint(3, 5, random_state=0)
    notion = L1Lift(0.5, 0.5)
    found = mechanisms.optimal_random_response(joint, notion, use_sensitive=True, time_limit=0.5)
    assert found.report.satisfied
    assert found.nmi >= mechanisms.subset_merging(joint, notion).nmi
