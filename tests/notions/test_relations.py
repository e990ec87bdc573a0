import dataclasses
import math

import numpy as np
import pytest

from skliftpriv import ALIP, LDP, LIP, AlphaLift, Chi2Lift, L1Lift
from skliftpriv.exceptions import InvalidDistributionError, UnsupportedNotionError
from skliftpriv.notions import implied_bounds, implied_lift_bounds, lift_band


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
        "l1_lift_inverse": 1,
        "chi2_lift_inverse": 1,
        "alpha_lift_inverse": 2,
    }
    assert bounds.to_dict() == pytest.approx(expected, rel=1e-14)


def test_inverse_bounds_take_the_upper_side_when_it_is_farther_from_one():
    # exp(-lower) = 10/11 and exp(upper) = 4: 1 - 1/4 exceeds 11/10 - 1
    bounds = implied_bounds(ALIP(math.log(1.1), math.log(4)))
    assert bounds.l1_lift_inverse == pytest.approx(0.75)
    assert bounds.chi2_lift_inverse == pytest.approx(0.75**2)


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


def test_implied_lift_bounds_by_hand():
    p_s = [0.25, 0.75]
    two = math.log(2)
    assert implied_lift_bounds(L1Lift(two, two), p_s) == pytest.approx((0.2, 5))
    assert implied_lift_bounds(Chi2Lift(two, two), p_s) == pytest.approx((1 / 3, 3))
    assert implied_lift_bounds(AlphaLift(two, two, 2), p_s) == pytest.approx((0.25, 4))
    assert implied_lift_bounds(AlphaLift(two, two, math.inf), p_s) == pytest.approx((0.5, 2))
    assert implied_lift_bounds(ALIP(two, math.log(3)), p_s) == pytest.approx((0.5, 3))
    assert implied_lift_bounds(LDP(two), p_s) == pytest.approx((0.5, 2))


def test_symbols_without_mass_do_not_count_as_the_rarest():
    notion = L1Lift(1, 1)
    assert implied_lift_bounds(notion, [0.25, 0, 0.75]) == implied_lift_bounds(notion, [0.25, 0.75])


def test_a_prior_must_be_a_vector():
    with pytest.raises(InvalidDistributionError, match="1 dimensions"):
        implied_lift_bounds(L1Lift(1, 1), np.eye(2))
