import dataclasses
import math

import numpy as np
import pytest

from skliftpriv import ALIP, LDP, LIP, AlphaLift, Chi2Lift, L1Lift
from skliftpriv.exceptions import UnsupportedNotionError
from skliftpriv.notions import implied_bounds, lift_band


def test_lift_band_of_each_notion():
    assert lift_band(LIP(0.5)) == ALIP(0.5, 0.5)
    assert lift_band(LDP(0.5)) == ALIP(0.5, 0.5)
    assert lift_band(ALIP(0.7, 0.2)) == ALIP(0.7, 0.2)


@pytest.mark.parametrize("notion", [L1Lift(1, 1), Chi2Lift(1, 1), AlphaLift(1, 1, 2)], ids=str)
def test_averaged_notions_have_no_band_and_say_what_to_use(notion):
    with pytest.raises(UnsupportedNotionError, match="implied_lift_bounds"):
        lift_band(notion)
    with pytest.raises(UnsupportedNotionError, match="implied_lift_bounds"):
        implied_bounds(notion)


def test_implied_bounds_by_hand():
    # exp(-lower) = 1/2 and exp(upper) = 3
    bounds = implied_bounds(ALIP(math.log(2), math.log(3)))
    expected = {
        "ldp": math.log(6),
        "mutual_information": math.log(3),
        "total_variation": 2 * 0.5 / 2.5,
        "chi2_divergence": 2 * 0.5,
        "sibson_mutual_information": math.log(3),
        "arimoto_mutual_information": math.log(3),
        "maximal_leakage": math.log(3),
        "min_entropy_leakage": math.log(3),
        "l1_lift": 2 * 2 * 0.5 / 2.5,
        "chi2_lift": 2 * 0.5,
        "alpha_lift": 3,
        # lift 3 with probability 1/5, 1/2 with 4/5: |1/l - 1| is 2/3 and 1
        "l1_lift_inverse": 14 / 15,
        "chi2_lift_inverse": 8 / 9,
        "alpha_lift_inverse": 2,
    }
    assert bounds.to_dict() == pytest.approx(expected, rel=2e-12)


def worst_inverse(lower, upper, power):
    """Largest mean of |1/l - 1|^power over lifts in the band with mean 1: two lifts attain it."""
    lifts = np.geomspace(math.exp(-lower), math.exp(upper), 4001)
    low, high = lifts[lifts < 1, None], lifts[lifts > 1]
    at_low, at_high = (np.abs(1 / lift - 1) ** power for lift in (low, high))
    return (((high - 1) * at_low + (1 - low) * at_high) / (high - low)).max()


@pytest.mark.parametrize(
    ("lower", "upper"),
    [(math.log(1.25), math.log(10)), (0.1, 0.1), (0.05, 3.0), (0.69, 0.69), (0.7, 2), (2, 0.1)],
)
def test_inverse_bounds_are_the_smallest_that_hold(lower, upper):
    bounds = implied_bounds(ALIP(lower, upper))
    for power, bound in ((1, bounds.l1_lift_inverse), (2, bounds.chi2_lift_inverse)):
        attained = worst_inverse(lower, upper, power)
        assert attained <= bound * (1 + 1e-12)
        assert attained == pytest.approx(bound, rel=1e-5)


def test_inverse_bound_where_a_smaller_max_lift_is_worse():
    # The largest lift of 10 is not used: the worst lift is about 2.2.
    bounds = implied_bounds(ALIP(math.log(1.25), math.log(10)))
    assert bounds.l1_lift_inverse == pytest.approx(0.2922, abs=1e-4)
    assert bounds == dataclasses.replace(
        implied_bounds(ALIP(math.log(1.25), math.log(5))),
        **{
            name: value
            for name, value in bounds.to_dict().items()
            if name not in ("l1_lift_inverse", "chi2_lift_inverse")
        },
    )


@pytest.mark.parametrize("budget", [1e-15, 1e-9, 1e-4])
def test_bounds_of_a_tiny_budget_keep_their_digits(budget):
    bounds = implied_bounds(ALIP(budget, budget))
    assert bounds.l1_lift == pytest.approx(budget, rel=2e-4)
    assert bounds.chi2_lift == pytest.approx(budget**2, rel=2e-4)
    assert bounds.l1_lift_inverse == pytest.approx(budget, rel=2e-4)
    assert bounds.chi2_lift_inverse == pytest.approx(budget**2, rel=2e-4)


def test_ldp_keeps_its_own_budget():
    assert implied_bounds(LDP(0.8)).ldp == 0.8
    assert implied_bounds(LIP(0.8)).ldp == 1.6


@pytest.mark.filterwarnings("error")
def test_bounds_of_a_huge_budget_are_numbers():
    values = implied_bounds(ALIP(1e4, 1e4)).to_dict().values()
    assert not any(math.isnan(value) for value in values)


def test_bounds_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        implied_bounds(LIP(1)).ldp = 0
