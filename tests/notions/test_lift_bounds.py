"""How far lifts can go given the prior: never exceeded, and attained by a lift vector."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from skliftpriv import ALIP, LDP, LIP, AlphaLift, Chi2Lift, L1Lift
from skliftpriv.exceptions import InvalidDistributionError, UnsupportedNotionError
from skliftpriv.notions import SRLIP, implied_lift_bounds

TWO = math.log(2)
NOTIONS = [
    LIP(0.5),
    ALIP(0.9, 0.4),
    ALIP(0.2, 2.0),
    LDP(0.7),
    L1Lift(0.2, 0.3),
    L1Lift(0.3, 0.1),
    L1Lift(0.05, 2.0),
    Chi2Lift(0.2, 0.3),
    Chi2Lift(0.4, 0.1),
    Chi2Lift(0.1, 3.0),
    AlphaLift(0.2, 0.3, 2.0),
    AlphaLift(0.1, 0.5, 1.5),
    AlphaLift(0.2, 0.3, math.inf),
]
PRIORS = [(0.5, 0.5), (0.03, 0.97), (0.2, 0.3, 0.5), (0.1, 0.12, 0.38, 0.4)]


def slack(notion, lifts, prior):
    """How much of each side of the budget a lift vector leaves."""
    levels = notion.levels(np.asarray(lifts, float)[:, None], np.asarray(prior))
    return [bound - levels[side][0] for side, bound in notion.budget.items()]


def test_by_hand():
    prior = [0.25, 0.75]
    # l1-lift 1 = 2 (m - 1) / 4
    assert implied_lift_bounds(L1Lift(9, TWO), prior)[1] == pytest.approx(3)
    # chi2-lift 1 = (m - 1)^2 / 3
    assert implied_lift_bounds(Chi2Lift(9, TWO), prior)[1] == pytest.approx(1 + math.sqrt(3))
    # The max-lift of 3 would leave (1 - 3/4) / (3/4) = 1/3 to the other; 1/2 is allowed.
    assert implied_lift_bounds(ALIP(TWO, math.log(3)), prior) == pytest.approx((0.5, 2.5))
    assert implied_lift_bounds(AlphaLift(TWO, math.log(3), math.inf), prior) == pytest.approx(
        (0.5, 2.5)
    )
    # m = 2 (4 - m) / 3 and the other way round
    assert implied_lift_bounds(LDP(TWO), prior) == pytest.approx((4 / 7, 8 / 5))


@pytest.mark.parametrize("t", [0.1, 0.3])
def test_l1_lift_alone_bounds_the_lift_by_half_of_it_over_the_prior(t):
    smallest, largest = implied_lift_bounds(L1Lift(50, math.log1p(t)), [0.2, 0.3, 0.5])
    assert smallest == pytest.approx(1 - t / 0.4)
    assert largest == pytest.approx(1 + t / 0.4)


def test_min_lift_is_free_only_where_the_symbol_is_rare():
    notion = L1Lift(50, math.log1p(0.3))
    assert implied_lift_bounds(notion, [0.15, 0.85])[0] < 1e-12
    assert implied_lift_bounds(notion, [0.16, 0.84])[0] == pytest.approx(1 - 0.3 / 0.32)


@pytest.mark.parametrize("prior", PRIORS, ids=str)
@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_no_lift_within_the_budget_is_outside_the_bounds(notion, prior):
    smallest, largest = implied_lift_bounds(notion, prior)
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(4000, len(prior))) * rng.choice([0, 1, 5], (4000, len(prior)))
    directions -= directions @ np.asarray(prior)[:, None]
    for scale in np.geomspace(0.001, 3, 30):
        lifts = 1 + scale * directions
        lifts = lifts[(lifts > 0).all(axis=1)]
        if len(lifts):
            met = notion.meets(lifts.T, np.asarray(prior))
            assert lifts[met].max(initial=1) <= largest
            assert lifts[met].min(initial=1) >= smallest


@pytest.mark.parametrize("prior", PRIORS, ids=str)
@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_bounds_are_attained(notion, prior):
    smallest, largest = implied_lift_bounds(notion, prior)
    rarest, rest = prior[0], 1 - prior[0]
    two_valued = [largest] + [(1 - rarest * largest) / rest] * (len(prior) - 1)
    assert min(slack(notion, two_valued, prior)) > -1e-9
    assert min(slack(notion, stretched(two_valued, 1e-6), prior)) < 0
    found = [v for v in lowest_vectors(smallest, prior) if min(slack(notion, v, prior)) > -1e-9]
    assert found
    assert all(
        min(slack(notion, v, prior)) < 0
        for v in lowest_vectors(1 - (1 - smallest) * (1 + 1e-6), prior)
    )


def stretched(lifts, more):
    return 1 + (np.asarray(lifts) - 1) * (1 + more)


def lowest_vectors(smallest, prior):
    """Lift vectors with this lift at one symbol and the excess at the others, or at one of them."""
    prior = np.asarray(prior)
    for s in (0, 1):
        excess = prior[s] * (1 - smallest)
        equal = np.full(prior.size, 1 + excess / (1 - prior[s]))
        equal[s] = smallest
        single = np.ones(prior.size)
        single[s], single[1 - s] = smallest, 1 + excess / prior[1 - s]
        yield from (equal, single)


@pytest.mark.parametrize("prior", PRIORS[2:], ids=str)
@pytest.mark.parametrize("budgets", [(0.2, 9.0), (0.6, 9.0), (9.0, 0.2), (0.2, 0.2)], ids=str)
@pytest.mark.parametrize("kind", [L1Lift, Chi2Lift])
def test_min_lift_is_that_of_a_general_solver(kind, prior, budgets):
    """Minimise one lift from many starts; the inverses are not convex."""
    notion, prior = kind(*budgets), np.asarray(prior)
    smallest = implied_lift_bounds(notion, prior)[0]
    mean = {"type": "eq", "fun": lambda lift: lift @ prior - 1}
    within = {"type": "ineq", "fun": lambda lift: slack(notion, lift, prior)}
    rng = np.random.default_rng(0)
    found = []
    for start in 1 + rng.normal(0, 0.3, (8, prior.size)):
        for s in range(prior.size):
            result = minimize(
                lambda lift, s=s: lift[s],
                np.maximum(start, 0.2),
                constraints=[mean, within],
                bounds=[(1e-4, None)] * prior.size,
                method="SLSQP",
                options={"maxiter": 300},
            )
            lift = result.x / (result.x @ prior)
            if (lift > 0).all() and min(slack(notion, lift, prior)) > -1e-7:
                found.append(lift[s])
    assert min(found) >= smallest - 1e-6
    assert min(found) == pytest.approx(max(smallest, 1e-4), abs=2e-4)


@given(st.floats(1e-12, 1e-3), st.floats(0.01, 0.5))
def test_tiny_budgets_give_bounds_that_are_close_to_one(epsilon, rarest):
    prior = [rarest, 1 - rarest]
    for notion in (LIP(epsilon), LDP(epsilon), L1Lift(epsilon, epsilon)):
        smallest, largest = implied_lift_bounds(notion, prior)
        assert 1 - 2 * epsilon / rarest - 1e-11 <= smallest <= 1 <= largest
        assert largest <= 1 + 2 * epsilon / rarest + 1e-11


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [ALIP, L1Lift, Chi2Lift, AlphaLift])
def test_huge_budgets_allow_everything_that_the_prior_allows(kind):
    smallest, largest = implied_lift_bounds(kind(1e4, 1e4), [0.25, 0.75])
    assert smallest < 1e-10
    assert largest == pytest.approx(4)


def test_a_single_sensitive_symbol_has_lift_one():
    assert implied_lift_bounds(L1Lift(1, 1), [1.0]) == (1, 1)


def test_other_notions_are_refused():
    with pytest.raises(UnsupportedNotionError, match="six notions"):
        implied_lift_bounds(SRLIP(1.0), [0.5, 0.5])


def test_symbols_without_mass_do_not_count_as_the_rarest():
    notion = L1Lift(1, 1)
    assert implied_lift_bounds(notion, [0.25, 0, 0.75]) == implied_lift_bounds(notion, [0.25, 0.75])


def test_a_prior_must_be_a_vector():
    with pytest.raises(InvalidDistributionError, match="1 dimensions"):
        implied_lift_bounds(L1Lift(1, 1), np.eye(2))
