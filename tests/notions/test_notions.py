import copy
import dataclasses
import decimal
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from skliftpriv import ALIP, LDP, LIP, AlphaLift, Chi2Lift, L1Lift, measures
from skliftpriv.exceptions import InvalidParameterError, UnsupportedNotionError
from skliftpriv.notions import Notion
from skliftpriv.notions._relaxed import RelaxedLift

from ..strategies import any_joints, budgets, count_tables, joints

ALL = [
    LIP(0.5),
    ALIP(0.65, 0.35),
    LDP(1.0),
    L1Lift(0.65, 0.35),
    Chi2Lift(0.65, 0.35),
    AlphaLift(0.65, 0.35, 3.0),
    AlphaLift(0.65, 0.35, 2.5),
    AlphaLift(0.65, 0.35, math.inf),
]
POLYHEDRAL = [notion for notion in ALL if notion.polyhedral]
AVERAGED = [notion for notion in ALL if not notion.polyhedral]

# P_S = (1/2, 1/2); lifts are (3/2, 1/2), (1, 1) and (0, 2).
HALF = np.array([0.5, 0.5])
LIFT = np.array([[1.5, 1.0, 0.0], [0.5, 1.0, 2.0]])

FAMILIES = st.sampled_from(
    [
        lambda a, b: LIP(a),
        lambda a, b: ALIP(a, b),
        lambda a, b: LDP(a + b),
        lambda a, b: L1Lift(a, b),
        lambda a, b: Chi2Lift(a, b),
        lambda a, b: AlphaLift(a, b, 2.0),
        lambda a, b: AlphaLift(a, b, 3.7),
        lambda a, b: AlphaLift(a, b, math.inf),
    ]
)


@st.composite
def notions(draw, polyhedral=False):
    notion = draw(FAMILIES)(draw(budgets()), draw(budgets()))
    assume(notion.polyhedral or not polyhedral)
    return notion


def exact(table):
    """Lifts and prior of a table of counts as fractions."""
    cells = [[Fraction(int(cell)) for cell in row] for row in table]
    total = sum(sum(row) for row in cells)
    p_s = [sum(row) / total for row in cells]
    p_x = [sum(column) / total for column in zip(*cells, strict=True)]
    columns = [
        [cells[s][x] / total / p_s[s] / p_x[x] for s in range(len(p_s))] for x in range(len(p_x))
    ]
    return columns, p_s


# ---- levels, budgets and risks


def test_levels_by_hand():
    half, double = math.log(2), math.log(1.5)
    levels = ALIP(1, 1).levels(LIFT, HALF)
    np.testing.assert_allclose(levels["min_lift"], [half, 0, np.inf], rtol=1e-15)
    np.testing.assert_allclose(levels["max_lift"], [double, 0, half], rtol=1e-15)
    levels = LDP(1).levels(LIFT, HALF)
    np.testing.assert_allclose(levels["ldp"], [math.log(3), 0, np.inf], rtol=1e-15)
    levels = L1Lift(1, 1).levels(LIFT, HALF)
    np.testing.assert_allclose(levels["l1_lift"], [double, 0, half], rtol=1e-15)
    np.testing.assert_allclose(levels["l1_lift_inverse"], [math.log(5 / 3), 0, np.inf])
    levels = Chi2Lift(1, 1).levels(LIFT, HALF)
    np.testing.assert_allclose(levels["chi2_lift"], [double, 0, half], rtol=1e-15)
    root = math.sqrt(5 / 9)
    np.testing.assert_allclose(levels["chi2_lift_inverse"], [math.log(1 + root), 0, np.inf])
    levels = AlphaLift(1, 1, 2).levels(LIFT, HALF)
    np.testing.assert_allclose(levels["alpha_lift"], [math.log(1.25) / 2, 0, half / 2])
    np.testing.assert_allclose(levels["alpha_lift_inverse"], [math.log(20 / 9) / 2, 0, np.inf])


@pytest.mark.parametrize("notion", ALL, ids=str)
@given(joint=joints())
def test_levels_are_those_of_the_measures(notion, joint):
    p = joint.matrix
    alpha = getattr(notion, "alpha", 1)
    expected = {
        "min_lift": lambda: -np.log(measures.min_lift(p)),
        "max_lift": lambda: np.log(measures.max_lift(p)),
        "ldp": lambda: np.log(measures.ldp_ratio(p)),
        "l1_lift": lambda: np.log1p(measures.l1_lift(p)),
        "l1_lift_inverse": lambda: np.log1p(measures.l1_lift_inverse(p)),
        "chi2_lift": lambda: np.log1p(np.sqrt(measures.chi2_lift(p))),
        "chi2_lift_inverse": lambda: np.log1p(np.sqrt(measures.chi2_lift_inverse(p))),
        "alpha_lift": lambda: np.log(measures.alpha_lift(p, alpha)),
        "alpha_lift_inverse": lambda: np.log(measures.alpha_lift_inverse(p, alpha)),
    }
    levels = notion.levels(joint.lift, joint.p_s)
    assert levels.keys() == notion.budget.keys()
    with np.errstate(divide="ignore"):
        for side, level in levels.items():
            np.testing.assert_allclose(level, expected[side](), rtol=1e-10, atol=1e-12)


def test_risk_of_lip_is_the_larger_absolute_log_lift():
    expected = [math.log(2), 0, np.inf]
    np.testing.assert_allclose(LIP(1).risk(LIFT, HALF), expected, rtol=1e-15)


def test_risk_of_alip_adds_the_inverse_min_lift():
    # As printed (Lambda + Psi) the output of lift 0 would rank as low as the constant one.
    np.testing.assert_allclose(ALIP(1, 1).risk(LIFT, HALF), [1.5 + 2, 1 + 1, np.inf])


def test_risk_of_ldp_is_the_ratio_and_its_threshold_is_an_exponential():
    np.testing.assert_allclose(LDP(1).risk(LIFT, HALF), [3, 1, np.inf])
    # Gamma = 3 meets 1.2-LDP because 3 <= exp(1.2); "Gamma <= 1.2" would refuse it.
    assert LDP(1.2).meets(LIFT[:, :1], HALF).all()
    assert not LDP(1.0).meets(LIFT[:, :1], HALF).any()


def test_risk_of_averaged_notions_adds_both_sides():
    np.testing.assert_allclose(L1Lift(1, 1).risk(LIFT, HALF), [0.5 + 2 / 3, 0, np.inf])
    np.testing.assert_allclose(Chi2Lift(1, 1).risk(LIFT, HALF), [0.25 + 5 / 9, 0, np.inf])
    expected = [math.sqrt(1.25) + math.sqrt(20 / 9), 2, np.inf]
    np.testing.assert_allclose(AlphaLift(1, 1, 2).risk(LIFT, HALF), expected)


# ---- meets


@pytest.mark.parametrize("notion", ALL, ids=str)
def test_a_constant_output_always_meets_and_a_zero_lift_never_does(notion):
    lifts = np.array([[1.0, 0.0], [1.0, 2.0]])
    np.testing.assert_array_equal(notion.meets(lifts, HALF), [True, False])


@pytest.mark.parametrize("size", [1e-300, 1e-60, 1e-12, 50.0, 1e3, 1e9])
@pytest.mark.parametrize(
    "family", [LIP, LDP, lambda e: L1Lift(e, e), lambda e: AlphaLift(e, e, 2.5)]
)
def test_tiny_and_huge_budgets_are_neither_errors_nor_blanket_answers(family, size):
    notion = family(size)
    constant, other = [Fraction(1)] * 2, [Fraction(9, 10), Fraction(11, 10)]
    assert notion.exactly_met(constant, [Fraction(1, 2)] * 2)
    assert notion.meets(np.ones((2, 1)), HALF).all()
    assert notion.exactly_met(other, [Fraction(1, 2)] * 2) == (size > 1)
    assert notion.meets(np.array([[0.9], [1.1]]), HALF).all() == (size > 1)
    assert not notion.exactly_met([Fraction(0), Fraction(2)], [Fraction(1, 2)] * 2)
    if notion.polyhedral:
        assert np.isfinite(notion.rows(LIFT)).all()


@given(joints(), notions())
def test_meets_is_the_comparison_of_levels_with_the_budget(joint, notion):
    levels, meets = notion.levels(joint.lift, joint.p_s), notion.meets(joint.lift, joint.p_s)
    excess = np.max([levels[side] - bound for side, bound in notion.budget.items()], axis=0)
    clear = np.abs(excess) > 1e-9
    np.testing.assert_array_equal(meets[clear], (excess < 0)[clear])


@given(any_joints(), notions())
def test_meets_in_doubt_says_no(joint, notion):
    # Budgets equal to a level that occurs: rounding decides, and it must decide against.
    levels = notion.levels(joint.lift, joint.p_s)
    worst = {side: float(level.max()) for side, level in levels.items()}
    assume(all(0 < level < 50 for level in worst.values()))
    names = [field.name for field in dataclasses.fields(notion) if field.name != "alpha"]
    if isinstance(notion, LIP | LDP):
        at_the_level = dataclasses.replace(notion, epsilon=max(worst.values()))
    else:
        at_the_level = dataclasses.replace(notion, **dict(zip(names, worst.values(), strict=True)))
    assert not at_the_level.meets(joint.lift, joint.p_s).all()


def test_an_infinite_budget_refuses_nothing():
    relaxed = RelaxedLift(LIP(0.5), delta=0.1)
    assert relaxed.meets(LIFT, HALF).all()


@given(joints(), notions())
def test_batches_are_answered_like_their_members(joint, notion):
    batch = np.stack([joint.lift, np.ones(joint.shape)])
    np.testing.assert_array_equal(
        notion.meets(batch, joint.p_s)[0], notion.meets(joint.lift, joint.p_s)
    )
    np.testing.assert_array_equal(
        notion.risk(batch, joint.p_s)[0], notion.risk(joint.lift, joint.p_s)
    )


@given(joints(), notions(), st.floats(1.01, 2))
def test_a_larger_budget_refuses_nothing_more(joint, notion, factor):
    fields = {f.name: getattr(notion, f.name) * factor for f in dataclasses.fields(notion)}
    fields.pop("alpha", None)
    larger = dataclasses.replace(notion, **fields)
    assert (larger.meets(joint.lift, joint.p_s) >= notion.meets(joint.lift, joint.p_s)).all()


# ---- inequality rows


@given(joints(min_s=2), notions(polyhedral=True), st.integers(0, 10**6))
def test_rows_hold_exactly_for_posteriors_that_meet(joint, notion, seed):
    rng = np.random.default_rng(seed)
    concentration = rng.choice([0.05, 0.5, 5.0])
    posteriors = rng.dirichlet(np.full(joint.shape[1], concentration), 50).T
    lifts = joint.lift @ posteriors
    slack = (notion.rows(joint.lift) @ posteriors).max(axis=0)
    clear = np.abs(slack) > 1e-9
    np.testing.assert_array_equal(notion.meets(lifts, joint.p_s)[clear], (slack < 0)[clear])


def test_rows_have_the_shapes_of_the_papers():
    lift = np.random.default_rng(0).random((4, 7))
    assert LIP(1).rows(lift).shape == (2 * 4, 7)
    assert ALIP(1, 2).rows(lift).shape == (2 * 4, 7)
    assert LDP(1).rows(lift).shape == (4 * 3, 7)


@pytest.mark.parametrize("notion", AVERAGED, ids=str)
def test_averaged_notions_are_averages_or_in_the_limit_rows(notion):
    limit = getattr(notion, "alpha", 2.0) == np.inf
    assert len(notion.rows(LIFT)) == (2 * len(LIFT) if limit else 0)
    assert len(notion.averages()) == (0 if limit else 2)


def test_a_notion_without_rows_says_what_to_use():
    with pytest.raises(UnsupportedNotionError, match="such as LIP, ALIP or LDP"):
        Notion.rows(LIP(1), LIFT)


# ---- exact arithmetic


@given(count_tables(), notions())
def test_exact_and_floating_point_answers_agree_away_from_the_boundary(table, notion):
    columns, prior = exact(table)
    lifts = np.array([[float(value) for value in column] for column in columns]).T
    p_s = np.array([float(value) for value in prior])
    levels = notion.levels(lifts, p_s)
    excess = np.max([levels[side] - bound for side, bound in notion.budget.items()], axis=0)
    exactly = np.array([notion.exactly_met(column, prior) for column in columns])
    clear = np.abs(excess) > 1e-9
    np.testing.assert_array_equal(exactly[clear], (excess < 0)[clear])
    # and everywhere: what floating point accepts, exact arithmetic accepts
    assert (exactly >= notion.meets(lifts, p_s)).all()


def neighbours(value):
    """The largest double below the real logarithm of ``value`` and the next one."""
    with decimal.localcontext(decimal.Context(prec=60)):
        log = decimal.Decimal(value.numerator).ln() - decimal.Decimal(value.denominator).ln()
        near = float(log)
        below = near if decimal.Decimal(near) < log else math.nextafter(near, 0)
    return below, math.nextafter(below, math.inf)


@pytest.mark.parametrize("ratio", [Fraction(r) for r in ("2", "3/2", "9/8")], ids=str)
def test_lift_budgets_are_decided_exactly_at_the_boundary(ratio):
    below, above = neighbours(ratio)
    # A two-valued lift: ratio at one symbol, 1/ratio at the other, prior so that the mean is 1.
    lifts = [ratio, 1 / ratio]
    prior = [(1 - 1 / ratio) / (ratio - 1 / ratio), (ratio - 1) / (ratio - 1 / ratio)]
    assert sum(p * v for p, v in zip(prior, lifts, strict=True)) == 1
    assert LIP(above).exactly_met(lifts, prior)
    assert not LIP(below).exactly_met(lifts, prior)
    assert not ALIP(above, below).exactly_met(lifts, prior)
    assert not ALIP(below, above).exactly_met(lifts, prior)
    double_below, double_above = neighbours(ratio**2)
    assert LDP(double_above).exactly_met(lifts, prior)
    assert not LDP(double_below).exactly_met(lifts, prior)


@pytest.mark.parametrize(
    ("notion", "side", "average"),
    [
        (lambda a, b: L1Lift(a, b), "upper", Fraction(3, 2)),
        (lambda a, b: L1Lift(a, b), "lower", 1 + Fraction(2, 3)),
        (lambda a, b: Chi2Lift(a, b), "upper", Fraction(3, 2)),
        (lambda a, b: AlphaLift(a, b, 1.5), "upper", None),
        (lambda a, b: AlphaLift(a, b, math.inf), "upper", Fraction(3, 2)),
        (lambda a, b: AlphaLift(a, b, math.inf), "lower", Fraction(2)),
    ],
)
def test_averaged_budgets_are_decided_exactly_at_the_boundary(notion, side, average):
    lifts, prior = [Fraction(3, 2), Fraction(1, 2)], [Fraction(1, 2)] * 2
    if average is None:
        # order 1.5: no rational boundary, but a double next to the level on each side decides
        level = float(np.log(0.5 * (1.5**1.5 + 0.5**1.5)) / 1.5)
        below, above = level * (1 - 1e-13), level * (1 + 1e-13)
    else:
        below, above = neighbours(average)
    pair = (lambda b: (5.0, b)) if side == "upper" else (lambda b: (b, 5.0))
    assert notion(*pair(above)).exactly_met(lifts, prior)
    assert not notion(*pair(below)).exactly_met(lifts, prior)


@given(count_tables(max_s=3, max_x=4), notions())
def test_all_exactly_met_answers_column_by_column(table, notion):
    columns, prior = exact(table)
    lifts = np.array(columns, dtype=object).T
    answer = notion.all_exactly_met(lifts, prior, None)
    assert answer.dtype == bool
    assert answer.tolist() == [notion.exactly_met(column, prior) for column in columns]


# ---- parameters


BAD = [-1e-9, -1, math.nan, math.inf, -math.inf, True, np.True_, "1", None, 1j, np.complex128(1)]


@pytest.mark.parametrize("value", BAD, ids=repr)
@pytest.mark.parametrize("family", [LIP, LDP])
def test_impossible_epsilon_is_refused_and_named(family, value):
    with pytest.raises(InvalidParameterError, match="epsilon must be"):
        family(value)


@pytest.mark.parametrize("value", BAD, ids=repr)
@pytest.mark.parametrize("family", [ALIP, L1Lift, Chi2Lift, AlphaLift])
def test_impossible_lower_or_upper_is_refused_and_named(family, value):
    with pytest.raises(InvalidParameterError, match="lower must be"):
        family(value, 1.0)
    with pytest.raises(InvalidParameterError, match="upper must be"):
        family(1.0, value)


@pytest.mark.parametrize("alpha", [1, 1.0, 0.5, -2, math.nan, -math.inf, True, "2", None, 2j])
def test_impossible_alpha_is_refused_and_named(alpha):
    with pytest.raises(InvalidParameterError, match="alpha must be a number above 1"):
        AlphaLift(1.0, 1.0, alpha)


@pytest.mark.parametrize("number", [np.float32(0.3), np.float64(0.3), np.int64(2), 3])
def test_every_kind_of_number_becomes_a_float(number):
    lifts, prior = [Fraction(1)], [Fraction(1)]
    for notion in (LIP(number), LDP(number), ALIP(number, number), L1Lift(number, number)):
        assert all(type(value) is float for value in notion.budget.values())
        assert notion.exactly_met(lifts, prior)
    notion = AlphaLift(number, number, np.float32(2.5))
    assert type(notion.alpha) is float
    assert notion.exactly_met(lifts, prior)


# ---- values


@pytest.mark.parametrize("notion", ALL, ids=str)
def test_notions_are_frozen_values(notion):
    name = dataclasses.fields(notion)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(notion, name, 9.0)
    notion.exactly_met([Fraction(1)], [Fraction(1)])  # fills the caches
    for twin in (pickle.loads(pickle.dumps(notion)), copy.deepcopy(notion)):
        assert twin == notion
        assert hash(twin) == hash(notion)
        assert twin.exactly_met([Fraction(1)], [Fraction(1)])
    assert dataclasses.replace(notion, **{name: 0.125}) != notion


def test_notions_of_different_kinds_differ():
    assert LIP(1.0) != LDP(1.0)
    assert L1Lift(1.0, 1.0) != Chi2Lift(1.0, 1.0)
    assert len({notion.key for notion in ALL}) == 6


@pytest.mark.parametrize(
    ("notion", "text"),
    [
        (LIP(0.5), "0.5-LIP"),
        (ALIP(0.65, 0.35), "(0.65, 0.35)-ALIP"),
        (LDP(1.0), "1-LDP"),
        (L1Lift(0.65, 0.35), "(0.65, 0.35)-l1-lift privacy"),
        (Chi2Lift(0.65, 0.35), "(0.65, 0.35)-chi2-lift privacy"),
        (AlphaLift(0.65, 0.35, 3), "(0.65, 0.35)-alpha-lift privacy of order 3"),
    ],
)
def test_text_is_what_a_reader_would_write(notion, text):
    assert str(notion) == text
