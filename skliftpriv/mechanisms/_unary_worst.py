"""Unary encoding over a confidence set: bounds of its worst lifts, certified by duality.

An output of unary encoding is a set A of 1-bits, and its lift is (1 + k P(A|s)) / (1 + k P(A)).
Over a confidence set P(A|s) has the largest value min(u_s(A), 1 - l_s(not A)) and the smallest
value max(l_s(A), 1 - u_s(not A)), where u_s and l_s add up the bounds of P(x|s). To find the worst
set is a subset-sum problem: the smaller of two sums is to be as large as possible. So sets are
relaxed to fractions 0 <= z_x <= 1 of symbols, and the products of P(t) and P(A|t) to their
envelopes (McCormick 1976). What remains is a linear program, whose optimum bounds the lifts of all
2^n sets. Its dual solution proves the bound: any dual solution does, and it is evaluated in exact
arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.optimize import OptimizeResult, linprog

from .._arrays import FloatArray
from ..certificate import TOTAL
from ..confidence import ConfidenceSet
from ..notions import LDP, Notion
from ..notions._base import finite_exp
from ..notions._exact import exp_above, exp_below
from ..notions._sides import MAX_LIFT, MIN_LIFT, RATIO

__all__ = ["WorstFractions"]

# The ratio of a program settles quadratically; this many steps are never needed.
_MOST_STEPS = 50
_SETTLED = 1e-12
#: Added to the bounds of programs where noise is chosen. The multipliers of another version of the
#: solver give bounds that differ by rounding errors, and its proof must not need more noise.
_SLACK = Fraction(1, 2**22)


@dataclass(frozen=True, eq=False)
class _Program:
    """Extreme ratio (1 + k gain) / (1 + k cost) over all variables with rows @ v <= ends.

    Attributes
    ----------
    side : str
        The side of the notion whose level the ratio is.
    sign : int
        1 if the ratio is to be large, -1 if it is to be small.
    gain, cost : ndarray of shape (n_variables,)
        Coefficients of the two sums.
    rows, ends : ndarray
        The inequalities.
    total : ndarray of shape (n_variables,)
        Coefficients of variables that sum to 1; none if all are 0.
    low, high : ndarray of shape (n_variables,)
        Bounds of the variables.
    """

    side: str
    sign: int
    gain: FloatArray
    cost: FloatArray
    rows: FloatArray
    ends: FloatArray
    total: FloatArray
    low: FloatArray
    high: FloatArray

    def solve(self, ratio: float) -> OptimizeResult:
        """Maximise sign (gain - ratio cost)."""
        summed = {"A_eq": self.total[None], "b_eq": [1.0]} if self.total.any() else {}
        return linprog(
            -self.sign * (self.gain - ratio * self.cost),
            A_ub=self.rows,
            b_ub=self.ends,
            bounds=np.column_stack([self.low, self.high]),
            **summed,
        )

    def bound(self, ratio: Fraction) -> Fraction:
        """Bound the maximum of sign (gain - ratio cost) from above, without rounding.

        For any y >= 0 of the inequalities and any y_0 of the sum the maximum is at most
        y ends + y_0 plus the largest value of (coefficients - y rows - y_0 total) within the
        bounds. The y of the solver make it almost tight.
        """
        found = self.solve(float(ratio))
        y = np.maximum(-found.ineqlin.marginals, 0.0)
        y_0 = -float(found.eqlin.marginals[0]) if self.total.any() else 0.0
        used = np.flatnonzero(y)
        value = sum((_exact(y[i]) * _exact(self.ends[i]) for i in used), _exact(y_0))
        multipliers = [_exact(y[i]) for i in used]
        for j in range(self.gain.size):
            rest = self.sign * (_exact(self.gain[j]) - ratio * _exact(self.cost[j]))
            rest -= _exact(y_0) * _exact(self.total[j])
            column = self.rows[used, j]
            rest -= sum(
                (m * _exact(a) for m, a in zip(multipliers, column, strict=True) if a), Fraction(0)
            )
            value += rest * _exact(self.high[j] if rest > 0 else self.low[j])
        return value

    def extreme(self, k: float) -> float:
        """Return the extreme ratio, by the iteration of Dinkelbach (1967)."""
        ratio = 1.0
        for _ in range(_MOST_STEPS):
            v = self.solve(ratio).x
            new = (1 + k * float(self.gain @ v)) / (1 + k * float(self.cost @ v))
            if self.sign * (new - ratio) <= _SETTLED * ratio:
                break
            ratio = new
        return ratio


class WorstFractions:
    """The noise that unary encoding needs for a whole confidence set, and its worst levels.

    Parameters
    ----------
    over : ConfidenceSet
        The distributions.
    notion : LIP, ALIP or LDP
        The budget.
    """

    def __init__(self, over: ConfidenceSet, notion: Notion) -> None:
        self._notion = notion
        self._programs = list(
            _ratio_programs(over) if isinstance(notion, LDP) else _lift_programs(over)
        )

    def chosen_weight(self) -> int:
        """Noise weight that meets the budget, and is proved to by other versions of the solver."""
        return self._noise_weight(_SLACK)

    def proves(self, weight: int) -> bool:
        """Tell whether a positive noise weight is proved to meet the budget."""
        return self._noise_weight(Fraction(0)) <= weight

    def _noise_weight(self, slack: Fraction) -> int:
        """Smallest noise weight that is proved to meet the budget, of 2^62 parts.

        With noise w the factor k is (2^62 - 2w) / w, and with a bound h of a program the budget is
        met if k h is at most the distance of its ratio from 1.
        """
        weight = 0
        for program in self._programs:
            ratio = self._limit(program)
            h = program.bound(ratio) + slack
            if h <= 0:
                continue
            room = program.sign * (ratio - 1)
            share = TOTAL * h / (room + 2 * h)
            weight = max(weight, -(-share.numerator // share.denominator))
        return weight

    def worst_levels(self, weight: int) -> dict[str, float]:
        """Upper bounds of the levels, by side, of unary encoding with this noise weight."""
        k = (TOTAL - 2 * weight) / max(weight, 1)
        levels = dict.fromkeys(self._notion.budget, 0.0)
        for program in self._programs:
            ratio = max(program.extreme(k), 0.0)
            with np.errstate(divide="ignore"):
                level = float(program.sign * np.log(ratio))
            levels[program.side] = max(levels[program.side], level)
        # What was proved for the budget is not exceeded; rounding may say otherwise.
        return {side: min(level, self._notion.budget[side]) for side, level in levels.items()}

    def _limit(self, program: _Program) -> Fraction:
        """Rational number just inside the ratio that the budget allows."""
        bound = self._notion.budget[program.side]
        if program.sign > 0:
            # Beyond every ratio that can occur, the exponential need not be computed.
            return exp_below(bound) if finite_exp(bound) == np.exp(bound) else Fraction(2**400)
        return exp_above(-bound)


def _lift_programs(over: ConfidenceSet) -> Iterator[_Program]:
    """For every s, the largest and the smallest lift."""
    n_s, n_x = over.shape
    for s in range(n_s):
        own = np.arange(n_s) == s
        for side, sign in ((MAX_LIFT, 1), (MIN_LIFT, -1)):
            # P(A|s) at its largest and the others at their smallest, or the other way round.
            rows, ends = _set_rows(over, own == (sign > 0))
            products, limits = _product_rows(over, sign)
            zeros = np.zeros((len(rows), 2 * n_s))
            gain, cost, total = (np.zeros(n_x + 3 * n_s) for _ in range(3))
            gain[n_x + s] = 1.0
            cost[n_x + n_s : n_x + 2 * n_s] = 1.0
            total[n_x + 2 * n_s :] = 1.0
            yield _Program(
                side,
                sign,
                gain,
                cost,
                np.vstack([np.hstack([rows, zeros]), products]),
                np.append(ends, limits),
                total,
                np.concatenate([np.zeros(n_x + 2 * n_s), over.prior.low]),
                np.concatenate([np.ones(n_x + 2 * n_s), over.prior.high]),
            )


def _ratio_programs(over: ConfidenceSet) -> Iterator[_Program]:
    """For every pair of different s and t, the largest ratio of P(y|s) to P(y|t)."""
    n_s, n_x = over.shape
    for s, t in zip(*np.nonzero(~np.eye(n_s, dtype=bool)), strict=True):
        rows, ends = _set_rows(over, np.arange(n_s) == s)
        kept = np.concatenate([np.arange(n_x), [n_x + s, n_x + t]])
        concern = np.isin(np.arange(len(rows)) // 2, [s, t])
        gain, cost = np.zeros(n_x + 2), np.zeros(n_x + 2)
        gain[-2] = cost[-1] = 1.0
        yield _Program(
            RATIO,
            1,
            gain,
            cost,
            rows[concern][:, kept],
            ends[concern],
            np.zeros(n_x + 2),
            np.zeros(n_x + 2),
            np.ones(n_x + 2),
        )


def _set_rows(over: ConfidenceSet, upper: np.ndarray) -> tuple[FloatArray, FloatArray]:
    """Inequalities between z and v: two for every s, for its largest or its smallest P(A|s).

    v <= u z and v <= 1 - l (1 - z), or v >= l z and v >= 1 - u (1 - z). In exact arithmetic sums
    of bounds are replaced by doubles on the safe side of them.
    """
    n_s, n_x = over.shape
    low, high, _ = over.conditional
    rows, ends = np.zeros((2 * n_s, n_x + n_s)), np.zeros(2 * n_s)
    for s in range(n_s):
        first, second = 2 * s, 2 * s + 1
        if upper[s]:
            rows[first, :n_x], rows[second, :n_x] = -high[s], -low[s]
            ends[second] = _up(1 - sum(map(_exact, low[s]), Fraction(0)))
            rows[[first, second], n_x + s] = 1.0
        else:
            rows[first, :n_x], rows[second, :n_x] = low[s], high[s]
            ends[second] = _up(sum(map(_exact, high[s]), Fraction(0)) - 1)
            rows[[first, second], n_x + s] = -1.0
    return rows, ends


def _product_rows(over: ConfidenceSet, sign: int) -> tuple[FloatArray, FloatArray]:
    """Inequalities between v, w = P(s) v and P(s): the envelope of the product, on one side.

    w >= low v and w >= high v + P(s) - high, or w <= high v and w <= low v + P(s) - low.
    """
    n_s, n_x = over.shape
    low, high, _ = over.prior
    rows, ends = np.zeros((2 * n_s, n_x + 3 * n_s)), np.zeros(2 * n_s)
    v, w, p = (n_x + i * n_s + np.arange(n_s) for i in range(3))
    first, second = np.arange(n_s), n_s + np.arange(n_s)
    one, other = (low, high) if sign > 0 else (high, low)
    rows[first, v], rows[first, w] = sign * one, -sign
    rows[second, v], rows[second, w], rows[second, p] = sign * other, -sign, sign
    ends[second] = sign * other
    return rows, ends


def _exact(value: float) -> Fraction:
    return Fraction(float(value))


def _up(value: Fraction) -> float:
    """Return a double that is not below a fraction."""
    near = float(value)
    return near if Fraction(near) >= value else float(np.nextafter(near, np.inf))
