"""Numbers of the papers, with the figure they come from, and values computed from the data."""

import numpy as np
import pytest

from skliftpriv import ALIP, LIP, JointDistribution, mechanisms
from skliftpriv.datasets import load_adult, make_joint

pytestmark = pytest.mark.filterwarnings("ignore::skliftpriv.exceptions.BudgetWarning")


@pytest.fixture(scope="module")
def relationship_occupation():
    return JointDistribution.from_frame(load_adult(), "relationship", "occupation")


@pytest.mark.parametrize(
    ("mechanism", "eps", "expected"),
    [
        (mechanisms.watchdog, 1.0, 0.17),  # Zarrabian et al. (2023), figure 2
        (mechanisms.watchdog, 2.0, 0.51),  # figure 2 says 0.52
        (mechanisms.subset_merging, 1.0, 0.74),  # figure 6 says about 0.73
        (mechanisms.subset_merging, 2.0, 0.83),  # figure 6
    ],
)
def test_mean_nmi_of_uniform_17_x_5_joints(mechanism, eps, expected):
    values = [
        mechanism(make_joint(5, 17, random_state=seed), ALIP(eps / 2, eps / 2), repair=False).nmi
        for seed in range(300)
    ]
    assert np.mean(values) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(
    ("eps", "nmi", "met"),
    [(1.0, 0.28646, True), (1.5, 0.37027, True), (2.0, 0.83620, False)],
)
def test_adult_watchdog_as_published(relationship_occupation, eps, nmi, met):
    # Zarrabian et al. (2023), figure 3, reports 0.28 at eps = 1 with a five-valued relationship;
    # the attribute has six values (docs/errata.md, 7), and at 2 the budget is missed (8).
    result = mechanisms.watchdog(relationship_occupation, ALIP(eps / 2, eps / 2), repair=False)
    assert result.nmi == pytest.approx(nmi, abs=1e-5)
    assert result.report.satisfied == met


@pytest.mark.parametrize("eps", [2.0, 2.5, 3.0])
def test_adult_watchdog_misses_its_budget_unless_repaired(relationship_occupation, eps):
    notion = ALIP(eps / 2, eps / 2)
    assert not mechanisms.watchdog(relationship_occupation, notion, repair=False).report.satisfied
    repaired = mechanisms.watchdog(relationship_occupation, notion)
    assert repaired.report.satisfied
    assert len(repaired.moved) == 1


def test_relaxation_cuts_the_loss_of_the_strict_watchdog():
    # Sadeghi et al. (2020), figure 2: |X| = 20, |S| = 15, epsilon = 1, delta = 0.01, ceiling 4.
    joints = [make_joint(15, 20, random_state=seed) for seed in range(200)]
    strict = np.array([1 - mechanisms.watchdog(j, LIP(1.0), repair=False).nmi for j in joints])
    relaxed = np.array(
        [1 - mechanisms.watchdog(j, LIP(1.0), delta=0.01, epsilon_max=4.0).nmi for j in joints]
    )
    assert (strict > 0.7).all()
    assert (relaxed <= 0.5).mean() > 0.9


def test_watchdog_on_30_x_20_joints_meets_its_budget():
    # Zarrabian et al. (2022), figure 4, reports that the bounds are met by 84 % and 89 % of
    # uniform joints at eps = 2, lambda = 0.65. Here all of them meet both (docs/errata.md, 8).
    for seed in range(100):
        joint = make_joint(20, 30, random_state=seed)
        assert mechanisms.watchdog(joint, ALIP(1.3, 0.7), repair=False).report.satisfied
