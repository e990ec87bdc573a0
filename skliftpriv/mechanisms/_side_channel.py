"""Side-channel resistant LIP for several attributes, sanitised jointly or one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import eye_array

from .._arrays import FloatArray
from .._limits import FEWER
from ..certificate import Check, Weights, certified_by, mixed_until_met
from ..channel import Channel
from ..confidence import JointList, Over, checked_set
from ..distribution import JointDistribution
from ..exceptions import InvalidParameterError, SizeLimitError
from ..labels import as_parts
from ..measures import log_lift, srlip_levels
from ..measures._side_channel import side_groups
from ..notions import LIP, SRLIP
from ..notions._side_channel import SIDE_CHANNEL
from ..report import PrivacyReport, privacy_report
from ..solvers import solve
from ._inputs import refuse_many_posteriors, refuse_many_rows
from ._posterior_channel import posterior_channel
from ._product import ProductLimits, best_product
from ._result import ChannelResult
from ._side_check import refuse_many_terms
from ._side_members import SideMembers, side_members
from ._subset_response import Method

__all__ = [
    "SideChannelReport",
    "SideChannelResult",
    "attribute_codes",
    "side_channel_resistant",
]

_MOST_ATTRIBUTES = 12
#: Share of the time in which the optimum is searched from a product, and the most outputs of one
#: that is worth its linear programs.
_FIRST_SHARE, _FIRST_COLUMNS = 0.3, 2_000
_INSTEAD = f"use strategy='product', or {FEWER}"


@dataclass(frozen=True, repr=False, kw_only=True)
class SideChannelReport(PrivacyReport):
    """Leakage and utility of several sanitised attributes, with and without side channels.

    Attributes
    ----------
    levels_by_knowledge : dict
        Level against an attacker who knows the attributes at these positions. That of the empty
        tuple is the LIP level, and the largest is the SRLIP level.
    column_levels : tuple of float
        LIP level of each output attribute on its own, if there is one output per attribute.
    """

    levels_by_knowledge: dict[tuple[int, ...], float]
    column_levels: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers."""
        return {
            **super().to_dict(),
            "levels_by_knowledge": dict(self.levels_by_knowledge),
            "column_levels": list(self.column_levels),
        }


@dataclass(frozen=True, kw_only=True, repr=False)
class SideChannelResult(ChannelResult):
    """A mechanism for several attributes that resists side channels.

    Attributes
    ----------
    strategy : {"optimal", "product"}
        How it was built.
    budgets : tuple of float
        For "product": LIP budget of each attribute. Empty for "optimal".
    upper_bound : float
        For "optimal": no SRLIP mechanism has a larger NMI. For "product" it is 1.0.
    """

    report: SideChannelReport
    strategy: str
    budgets: tuple[float, ...]
    upper_bound: float

    @property
    def srlip(self) -> float:
        """SRLIP level in nats: the largest over all sets of known attributes."""
        return max(self.report.levels_by_knowledge.values())

    @property
    def gap(self) -> float:
        """Upper bound ``upper_bound - nmi`` of the distance to the optimum."""
        return max(self.upper_bound - self.nmi, 0.0)

    @property
    def gap_to_optimum(self) -> float:
        """``gap`` for "optimal"; NaN for "product", whose distance to the optimum is unknown."""
        return self.gap if self.strategy == "optimal" else float("nan")


def side_channel_resistant(
    joint: JointDistribution,
    epsilon: float | LIP | SRLIP,
    *,
    strategy: Literal["optimal", "product"] = "optimal",
    method: Method = "auto",
    gap: float = 1e-6,
    time_limit: float | None = 10.0,
    verbose: bool | None = None,
    over: Over = None,
) -> SideChannelResult:
    r"""Sanitise several attributes so that knowing some of them does not help to infer S.

    For every set J of attributes that an attacker may know, and all values x^J,

    .. math:: e^{-\epsilon} \le P(y | s, x^J) / P(y | x^J) \le e^\epsilon

    (Lopuhaa-Zwakenberg, Tong and Skoric 2020, Definition 3). Their Theorem 4, which adds up
    budgets of single attributes, is false (docs/errata.md, 5); here every channel is certified
    on the joint distribution in exact arithmetic.

    Parameters
    ----------
    joint : JointDistribution
        Its useful labels are tuples with one value per attribute. With a single attribute there
        is no side channel, and the result is the optimal random response for LIP.
    epsilon : float, LIP or SRLIP
        Budget in nats.
    strategy : {"optimal", "product"}, default="optimal"
        "optimal" solves the problem on the product alphabet and outputs one joint symbol. Its
        search spends up to a third of its time on a product to start from.
        "product" sanitises each attribute on its own and tightens the budgets, which may differ,
        until the product is certified; it outputs one symbol per attribute.
    method, gap
        Options of the solver as in :func:`optimal_random_response`, for "optimal".
    time_limit : float or None, default=10.0
        Stop the search after this many seconds with the best mechanism found; None for no limit.
        To certify and measure it takes up to about ten seconds more.
    verbose : bool or None, default=None
        Show progress on standard error: always, never or, with None, in a terminal or a notebook
        once the work takes longer than three seconds.
    over : ConfidenceSet or list of JointDistribution, optional
        Meet the budget for every distribution in this set; by default for ``joint`` alone. Those of
        a list are covered besides ``joint``. A confidence set is replaced by one for each thing
        that an attacker may know, with intervals of P(x|s,x^J) and P(s|x^J) that share the error.

        .. versionadded:: 0.2

    Returns
    -------
    SideChannelResult

    Examples
    --------
    >>> from skliftpriv import JointDistribution, mechanisms
    >>> joint = JointDistribution.from_counts(
    ...     [[1, 1, 1, 10], [8, 1, 1, 8]], useful_labels=[(0, 0), (0, 1), (1, 0), (1, 1)]
    ... )
    >>> result = mechanisms.side_channel_resistant(joint, 0.7)
    >>> result.report.satisfied, round(result.srlip, 6)
    (True, 0.7)
    """
    notion = SRLIP(epsilon if isinstance(epsilon, int | float) else epsilon.epsilon)
    attributes = attribute_codes(joint)
    given = checked_set(over, joint)
    members = side_members(given or JointList.of(joint), attributes, notion)
    if strategy == "optimal":
        channel, known = _optimal_channel(
            joint,
            notion,
            attributes,
            members,
            alone=given is None,
            method=method,
            gap=gap,
            time_limit=time_limit,
            verbose=verbose,
        )
    elif strategy == "product":
        search = ProductLimits(time_limit, verbose, None if given is None else members.exceeds)
        channel, budgets = best_product(joint, notion, attributes, search)
        known = {"status": "tuned", "upper_bound": 1.0, "budgets": budgets}
    else:
        raise InvalidParameterError(f'strategy must be "optimal" or "product", not {strategy!r}.')
    certified = certified_by(channel, joint.p_x, members.check, mend=_mended)
    report = _report(joint, notion, certified.channel, attributes, each=bool(known["budgets"]))
    if given is not None:
        report = replace(report, levels_worst=members.worst_levels(certified.weights))
    return SideChannelResult(
        joint=joint,
        notion=notion,
        certified=certified,
        report=report,
        over=given,
        strategy=strategy,
        **known,
    )


def attribute_codes(joint: JointDistribution) -> NDArray[np.intp]:
    """Codes of the attributes of every useful symbol, shape (n_symbols, n_attributes)."""
    labels = [as_parts(label) for label in joint.useful_labels]
    if len({len(label) for label in labels}) != 1:
        raise InvalidParameterError(
            "For side-channel resistance the useful labels must be tuples of the same length, "
            "with one value per attribute."
        )
    columns = list(zip(*labels, strict=True))
    if len(columns) > _MOST_ATTRIBUTES:
        raise InvalidParameterError(
            f"X has {len(columns)} attributes, and an attacker may know any of 2^{len(columns)} "
            f"sets of them. At most {_MOST_ATTRIBUTES} are supported; use fewer columns."
        )
    codes = []
    for column in columns:
        place = {value: i for i, value in enumerate(dict.fromkeys(column))}
        codes.append([place[value] for value in column])
    return np.array(codes, dtype=np.intp).T


def _mended(weights: Weights, p_x: FloatArray, check: Check) -> tuple[Weights, float]:
    """Mix in a constant channel until all outputs are met, looking mostly at those that are not."""
    broken = np.flatnonzero(~check(weights))
    mended = mixed_until_met(weights, p_x, lambda mixed: check(mixed[:, broken]))
    # Mixing takes every ratio closer to 1, but rounding may take one past the end of the band.
    return mended if check(mended[0]).all() else mixed_until_met(weights, p_x, check)


def _optimal_channel(
    joint: JointDistribution,
    notion: SRLIP,
    attributes: NDArray[np.intp],
    members: SideMembers,
    *,
    alone: bool,
    time_limit: float | None,
    **options: Any,
) -> tuple[Channel, dict[str, Any]]:
    refuse_many_posteriors(joint.shape[1], _INSTEAD)
    refuse_many_terms(joint, attributes, joint.shape[1])
    n_rows = 2 * joint.shape[0] * sum(len(groups.values) for groups in side_groups(attributes))
    refuse_many_rows(n_rows, joint.shape[1], _INSTEAD)
    exceeds = None if alone else members.exceeds

    def start(seconds: float) -> Iterator[FloatArray]:
        limits = ProductLimits(_FIRST_SHARE * seconds, exceeds=exceeds)
        try:
            channel, _ = best_product(joint, notion, attributes, limits)
        except SizeLimitError:
            return
        if len(channel.outputs) <= _FIRST_COLUMNS:
            yield channel.posterior(joint.p_x)

    solution = solve(members.problem(joint), start=start, time_limit=time_limit, **options)
    channel = posterior_channel(joint, solution.weights, solution.posteriors)
    return channel, {
        "status": solution.status,
        "upper_bound": solution.upper_bound,
        "budgets": (),
    }


def _report(
    joint: JointDistribution,
    notion: SRLIP,
    channel: Channel,
    attributes: NDArray[np.intp],
    *,
    each: bool,
) -> SideChannelReport:
    plain = privacy_report(joint, notion, channel, satisfied=True)
    before = srlip_levels(joint.matrix, eye_array(joint.shape[1], format="csr"), attributes)
    after = srlip_levels(joint.matrix, channel.sparse, attributes)
    return SideChannelReport(
        notion=notion,
        satisfied=True,
        before=plain.before,
        after=plain.after,
        levels_before={**plain.levels_before, SIDE_CHANNEL: max(f.level for f in before)},
        levels_after={**plain.levels_after, SIDE_CHANNEL: max(f.level for f in after)},
        levels_by_knowledge={found.known: found.level for found in after},
        column_levels=_column_levels(joint, channel) if each else (),
    )


def _column_levels(joint: JointDistribution, channel: Channel) -> tuple[float, ...]:
    """LIP level of each attribute of the output on its own."""
    of_outputs = joint.released(channel.sparse)
    levels = []
    for column in zip(*map(as_parts, channel.outputs), strict=True):
        values = {value: i for i, value in enumerate(dict.fromkeys(column))}
        p_sy = np.zeros((joint.shape[0], len(values)))
        np.add.at(p_sy.T, [values[value] for value in column], of_outputs.T)
        with np.errstate(divide="ignore"):
            levels.append(float(np.abs(log_lift(p_sy)).max()))
    return tuple(levels)
