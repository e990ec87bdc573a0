"""Averages of functions of the lift: what bounds them, and linear programs over what they allow."""

from dataclasses import replace

import numpy as np
import pytest

from skliftpriv.exceptions import InfeasibleError, InvalidParameterError
from skliftpriv.notions import AlphaLift, Average, Chi2Lift, L1Lift
from skliftpriv.solvers import Averages, PosteriorProblem, solve
from skliftpriv.solvers._lift_lp import LiftLP, LiftSearch
from skliftpriv.solvers._polish import _merge_duplicates

from .problems import assert_sound, lift_matrix, random_joint

NOTIONS = [L1Lift(0.5, 0.5), Chi2Lift(0.4, 0.6), AlphaLift(0.5, 0.4), AlphaLift(0.5, 0.5, 10.0)]
each_notion = pytest.mark.parametrize("notion", NOTIONS, ids=str)


def averages(joint, notion):
    return Averages(lift_matrix(joint), joint.sum(axis=1), notion.averages())


def problem_of(joint, notion, image=None):
    p = joint.sum(axis=0)
    return PosteriorProblem(p, np.zeros((0, p.size)), image=image, averages=averages(joint, notion))


def allowed_posteriors(joint, notion, count=4000):
    """Posteriors all over what is allowed, many of them on its boundary."""
    rng = np.random.default_rng(0)
    p = joint.sum(axis=0)
    v = rng.dirichlet(np.full(p.size, 0.3), count)
    sides = averages(joint, notion)
    v = sides.pulled(v, p)
    assert (sides.excess(v) <= 0).all()
    return v


@each_notion
def test_what_is_pulled_inside_meets_the_budget_and_is_not_pulled_further_than_needed(notion):
    joint = random_joint(4, 6, 1)
    p, p_s = joint.sum(axis=0), joint.sum(axis=1)
    sides = averages(joint, notion)
    v = np.random.default_rng(1).dirichlet(np.full(p.size, 0.3), 500)
    lift = lift_matrix(joint)
    levels = notion.levels((sides.pulled(v, p) @ lift.T).T, p_s)
    for side, bound in notion.budget.items():
        assert (levels[side] <= bound + 1e-9).all()
    inside = notion.meets((v @ lift.T).T, p_s)
    np.testing.assert_array_equal(sides.shares(v, p)[inside], 0.0)
    assert 0 < inside.sum() < len(v)
    # A little outside, the share is about the excess.
    edge = sides.pulled(v, p)[~inside]
    out = edge + 1e-7 * (edge - p)
    assert (sides.shares(out, p) < 1e-5).all()


@each_notion
def test_ranges_contain_all_allowed_lifts(notion):
    joint = random_joint(4, 6, 2)
    sides = averages(joint, notion)
    low, high = sides.ranges()
    lifts = allowed_posteriors(joint, notion) @ sides.lift.T
    assert (lifts >= low - 1e-9).all()
    assert (lifts <= high + 1e-9).all()
    assert (low > 0).all()


@each_notion
def test_weak_duality_bounds_every_allowed_posterior(notion):
    joint = random_joint(3, 5, 3)
    sides = averages(joint, notion)
    rng = np.random.default_rng(0)
    lifts = allowed_posteriors(joint, notion) @ sides.lift.T
    low, high = sides.ranges()
    middle = low + (high - low) * rng.uniform(0.2, 0.8, (40, 3))
    for half in range(2):
        bottom, top = (low, middle) if half == 0 else (middle, high)
        bottom, top = np.broadcast_to(bottom, middle.shape), np.broadcast_to(top, middle.shape)
        z, mu = rng.normal(size=(40, 3, 3)), rng.exponential(size=(40, 2))
        bounds = sides.support(z, mu, bottom, top)
        for bound, each, least, most in zip(bounds, z.sum(axis=1), bottom, top, strict=True):
            there = lifts[((lifts >= least) & (lifts <= most)).all(axis=1)]
            assert (there @ each >= bound - 1e-9).all()


@pytest.mark.parametrize("notion", [L1Lift(0.5, 0.5), Chi2Lift(0.5, 0.5)], ids=str)
def test_envelopes_lie_below_and_tangents_above_the_function(notion):
    joint = random_joint(3, 6, 4)
    sides = averages(joint, notion)
    low, high = np.array([0.3, 0.8, 1.7]), np.array([3.0, 2.2, 2.5])
    lp = LiftLP(sides, low, high)
    grid = low + (high - low) * np.linspace(0, 1, 200)[:, None]
    values = sides.sides[0].value(grid)
    envelope = lp.envelope(low, high)
    at = np.array([1.4, 1.9, 2.0])
    for lines, sign in ((envelope, 1.0), (lp.above(at), -1.0)):
        beyond = grid > lines.end[0]
        start = np.where(beyond, lines.end[0], grid)
        drawn = sides.sides[0].value(start) + lines.slope[0] * (grid - start)
        assert (sign * (values - drawn) >= -1e-9).all()
        middle = drawn[2:] - 2 * drawn[1:-1] + drawn[:-2]
        assert (middle >= -1e-9).all()  # convex
    np.testing.assert_allclose(
        sides.sides[0].value(high),
        sides.sides[0].value(envelope.end[0]) + envelope.slope[0] * (high - envelope.end[0]),
    )


@pytest.mark.filterwarnings("error")
@each_notion
def test_ranges_of_a_single_lift_are_no_exception(notion):
    joint = np.array([[0.2], [0.3], [0.5]])  # all lifts are 1, where the l1-lift-inverse turns
    assert solve(problem_of(joint, notion)).kept == 1.0


@each_notion
def test_minimisers_are_allowed_and_their_bounds_hold(notion):
    joint = random_joint(4, 7, 5)
    sides, p = averages(joint, notion), joint.sum(axis=0)
    low, high = sides.ranges()
    search = LiftSearch(sides, p, low, high)
    v = allowed_posteriors(joint, notion)
    rng = np.random.default_rng(0)
    for _ in range(20):
        cost = rng.normal(size=p.size)
        point = search.minimise(cost)
        assert sides.excess(point.v[None])[0] <= 1e-12
        m = low.size
        z = point.row_duals[: 3 * m].reshape(1, 3, m)
        mu = point.row_duals[None, 3 * m :] / sides.slack
        bound = sides.support(z, mu, low, high)[0]
        bound += (cost - z[0].sum(axis=0) @ sides.lift).min()
        assert (v @ cost).min() >= bound - 1e-9
        assert cost @ point.v >= bound - 1e-9
        if sides.convex:
            assert cost @ point.v <= bound + 1e-6
            better = search.follow(cost, v[0])
            assert cost @ better.v <= cost @ v[0] + 1e-7
        else:
            assert cost @ search.follow(cost, v[0]).v <= cost @ v[0] + 1e-7


@each_notion
def test_two_sensitive_symbols_are_a_range(notion):
    joint = random_joint(2, 6, 6)
    sides = averages(joint, notion)
    v = np.random.default_rng(0).dirichlet(np.full(6, 0.3), 3000)
    by_rows = (v @ sides.linear().T <= 0).all(axis=1)
    np.testing.assert_array_equal(by_rows, sides.excess(v) <= 0)
    assert 0.01 < by_rows.mean() < 0.99
    found = solve(problem_of(joint, notion))
    assert found.status == "optimal"


@each_notion
@pytest.mark.parametrize("kept", ["X", "two values", "three values"])
def test_solutions_are_sound_and_certified(notion, kept):
    joint = random_joint(3, 5, 7)
    parts = {"X": None, "two values": 2, "three values": 3}[kept]
    image = None if parts is None else np.random.default_rng(0).dirichlet(np.ones(parts), 5).T
    problem = problem_of(joint, notion, image)
    found = solve(problem, gap=1e-4, method="column-generation")
    assert_sound(problem, found)
    assert found.status in ("optimal", "gap_reached")
    assert problem.averages.excess(found.posteriors).max() <= 1e-9


def test_errors_of_steep_lines_do_not_keep_the_gap_open():
    # Two values of X that a mechanism which sees S keeps: posteriors of one value alone are best.
    joint = random_joint(3, 2, 1)
    s, x = np.nonzero(joint)
    own = np.zeros((3, s.size))
    own[s, np.arange(s.size)] = joint[s, x]
    problem = problem_of(own, AlphaLift(0.25, 0.25, 10.0), np.eye(2)[:, x])
    found = solve(problem)
    assert_sound(problem, found)
    assert found.gap <= 1e-6


def test_a_function_without_closed_forms_gives_the_same_optimum():
    joint = random_joint(3, 5, 8)
    notion = AlphaLift(0.4, 0.4, 3.0)
    plain = tuple(replace(side, with_slope=None) for side in notion.averages())
    sides = Averages(lift_matrix(joint), joint.sum(axis=1), plain)
    problem = PosteriorProblem(joint.sum(axis=0), np.zeros((0, 5)), averages=sides)
    best = solve(problem_of(joint, notion), gap=1e-5)
    assert solve(problem, gap=1e-5).kept == pytest.approx(best.kept, abs=2e-5)


def test_outputs_with_the_same_image_stay_apart_if_their_average_is_not_allowed():
    # The example of erratum 12: both outputs are within 0.63, their average is not.
    joint = np.array([[1, 1, 8], [2, 1, 2], [1, 2, 2]]) / 20
    sides = averages(joint, L1Lift(np.log(1.63), 2.0))
    v, q, image = np.eye(3), joint.sum(axis=0), np.array([[1.0, 0], [1, 0], [0, 1]])
    assert (sides.excess(v) <= 0).all()
    assert len(_merge_duplicates(v, q, image, sides)[0]) == 3
    assert len(_merge_duplicates(v, q, image, averages(joint, L1Lift(np.log(1.7), 2.0)))[0]) == 2


def test_wrong_problems_are_refused():
    joint = random_joint(3, 4, 9)
    problem = problem_of(joint, L1Lift(0.1, 0.1))
    with pytest.raises(InvalidParameterError, match="infinitely many extreme points"):
        solve(problem, method="vertices")
    with pytest.raises(InvalidParameterError, match="either rows or averages"):
        PosteriorProblem(problem.p_x, np.ones((1, 4)) * -1, averages=problem.averages)
    with pytest.raises(InvalidParameterError, match="lifts of shape"):
        PosteriorProblem([0.5, 0.5], np.zeros((0, 2)), averages=problem.averages)
    with pytest.raises(InfeasibleError, match="exceeds an average"):
        PosteriorProblem([0.97, 0.01, 0.01, 0.01], np.zeros((0, 4)), averages=problem.averages)


def test_where_a_slope_is_found_by_bisection_or_by_formula():
    for notion in NOTIONS:
        for side in notion.averages():
            end = min(side.turn, 3.0) - 1e-6
            slopes = side.slope(np.linspace(0.3, end, 7))
            plain = replace(side, with_slope=None)
            both = [each.at_slope(slopes, 0.2, end) for each in (side, plain)]
            # What counts is how low the function minus the line gets.
            low = [side.value(at) - slopes * at for at in both]
            np.testing.assert_allclose(low[0], low[1], atol=1e-9)


def test_an_average_is_convex_unless_it_turns():
    assert Average(np.square, lambda x: 2 * x, 1.0).convex
    assert not L1Lift(1, 1).averages()[0].convex


@each_notion
def test_rows_against_a_posterior_cut_off_it_and_nothing_that_is_allowed(notion):
    joint = random_joint(4, 6, 1)
    sides, allowed = averages(joint, notion), allowed_posteriors(joint, notion)
    lp = LiftLP(sides, *sides.ranges())
    corners = np.random.default_rng(2).dirichlet(np.full(joint.shape[1], 0.1), 200)
    found = [lp.rows_against(v) for v in corners]
    assert sum(map(len, found)) > 30
    for v, rows in zip(corners, found, strict=True):
        assert (rows @ v > 0).all()
        assert (allowed @ rows.T <= 1e-12).all()
    # They are tight: what is allowed comes close to each of them, where it is convex.
    if sides.convex:
        nearest = [(allowed @ rows.T).max(axis=0) for rows in found if len(rows)]
        assert np.median(np.concatenate(nearest)) > -0.05


def pairs_problem(joint, notion):
    """The problem of mechanisms that see S: X is kept, and s of a pair is bounded."""
    n_s, n_x = joint.shape
    lift = np.repeat(np.eye(n_s) / joint.sum(axis=1)[:, None], n_x, axis=1)
    sides = Averages(lift, joint.sum(axis=1), notion.averages())
    image = np.tile(np.eye(n_x), n_s)
    return PosteriorProblem(joint.ravel(), np.zeros((0, joint.size)), image=image, averages=sides)


@pytest.mark.parametrize(
    ("notion", "gap"),
    [
        (AlphaLift(0.5, 0.5), 1e-6),
        (AlphaLift(0.5, 0.5, 10.0), 1e-6),
        (L1Lift(0.5, 0.5), 1e-3),
        (Chi2Lift(0.5, 0.5), 1e-3),
    ],
    ids=str,
)
def test_outer_rows_bound_mechanisms_that_see_s(notion, gap):
    problem = pairs_problem(random_joint(3, 8, 1), notion)
    found = solve(problem, gap=gap)
    assert_sound(problem, found)
    assert found.status == "gap_reached"
    assert found.n_nodes == 0  # without a single box


@each_notion
@pytest.mark.parametrize("n_targets", [2, 3])
def test_outer_rows_bound_targets(notion, n_targets):
    joint = random_joint(4, 10, 3)
    target = np.random.default_rng(4).dirichlet(np.ones(n_targets), joint.shape[1]).T
    problem = problem_of(joint, notion, target)
    found = solve(problem, gap=5e-3)
    assert_sound(problem, found)
    assert found.status in ("gap_reached", "optimal")
