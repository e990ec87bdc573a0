"""Side-channel resistant LIP as a transformer of several columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from ..confidence import ConfidenceSet
from ..distribution import JointDistribution
from ..frames import ColumnKey
from ..mechanisms import SideChannelResult, side_channel_resistant
from ..notions import Notion
from ..secret import SecretLike
from ._base import LiftSanitizer
from ._counted_rows import CountedRows
from ._docs import documented
from ._layout import Layout
from ._optimal_response import SOLVER
from ._parameters import COMMON, CONFIDENCE, NONNEGATIVE, RECORDS, StrOptions, parameters
from ._releaser import Releaser, SymbolReleaser

__all__ = ["SRLIPSanitizer"]


@documented
@parameters
class SRLIPSanitizer(LiftSanitizer[SideChannelResult]):
    """Release several columns and protect S even from attackers who know some of them.

    Side-channel resistant local information privacy (Lopuhaa-Zwakenberg, Tong and Skoric 2020,
    section VI), certified on the joint distribution of all columns.

    Parameters
    ----------
    <columns>
    strategy : {"optimal", "product"}, default="optimal"
        "optimal" keeps as much as any mechanism can and releases one joint symbol. "product"
        releases one sanitised column per useful column and keeps less.
    epsilon : float, default=1.0
        Privacy budget of LIP in nats, whichever columns an attacker knows.
    method : {"auto", "column-generation", "vertices"}, default="auto"
        Column generation, vertex enumeration with cddlib, or a choice by problem size.
    gap : float, default=1e-6
        Stop when the NMI is certified to be this close to the optimum.
    time_limit : float or None, default=10.0
        Stop the search after this many seconds with the best private mechanism found; None for no
        limit. To certify and measure it takes up to about ten seconds more.
    verbose : bool or None, default=None
        Show progress on standard error: always, never or, with None, in a terminal or a notebook
        once the work takes longer than three seconds.

        .. versionchanged:: 0.2
            The default is None.
    <confidence>
    <known shell>

    Attributes
    ----------
    <fitted>
    srlip_ : float
        Achieved level, in nats.
    levels_by_knowledge_ : dict
        Level against an attacker who knows these columns; the empty tuple is plain LIP.
    column_leakage_ : dict
        For "product": LIP level of each released column on its own.
    budgets_ : dict
        For "product": budget with which each column was sanitised.
    upper_bound_, gap_ : float
        For "optimal": upper bound on the NMI of any mechanism within the budget, and the distance
        to it.
    status_ : str
        How the solver ended.

    Examples
    --------
    >>> from skliftpriv import SRLIPSanitizer
    >>> from skliftpriv.datasets import load_adult
    >>> adult = load_adult()[["income", "sex", "race"]]
    >>> sanitizer = SRLIPSanitizer("income", ["sex", "race"], epsilon=0.5).fit(adult)
    >>> sanitizer.report_.satisfied, sanitizer.srlip_ <= 0.5
    (True, True)
    """

    strategy: Literal["optimal", "product"] = "optimal"
    epsilon: float = 1.0
    method: str = "auto"
    gap: float = 1e-6
    time_limit: float | None = 10.0
    verbose: bool | None = None
    confidence: float | None = None
    record_id: ColumnKey | None = None
    groups: ColumnKey | None = None
    secret: SecretLike | None = None

    notion = "srlip"
    # There is no handle_unknown: an attacker who knows another column of the row could recognise a
    # draw, since it follows the values of other rows.
    _supported_notions: ClassVar[Sequence[str]] = ("srlip",)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **COMMON,
        **SOLVER,
        **CONFIDENCE,
        **RECORDS,
        "epsilon": [NONNEGATIVE],
        "strategy": [StrOptions({"optimal", "product"})],
    }

    def _build(
        self, joint: JointDistribution, notion: Notion, over: ConfidenceSet | None
    ) -> SideChannelResult:
        return side_channel_resistant(
            joint,
            notion,  # type: ignore[arg-type]
            strategy=self.strategy,
            method=self.method,  # type: ignore[arg-type]
            gap=self.gap,
            time_limit=self.time_limit,
            verbose=self.verbose,
            over=over,
        )

    def _make_releaser(self, result: SideChannelResult, rows: CountedRows) -> Releaser:
        return SymbolReleaser.of(
            result, rows.layout, one_column=result.strategy == "optimal", types=rows.types
        )

    def _known(self, result: SideChannelResult, layout: Layout) -> dict[str, object]:
        names = layout.useful_names
        known: dict[str, object] = {
            "srlip_": result.srlip,
            "levels_by_knowledge_": {
                tuple(names[j] for j in columns): level
                for columns, level in result.report.levels_by_knowledge.items()
            },
            "status_": result.status,
        }
        if result.strategy == "optimal":
            return {**known, "upper_bound_": result.upper_bound, "gap_": result.gap}
        return {
            **known,
            "budgets_": dict(zip(names, result.budgets, strict=True)),
            "column_leakage_": dict(zip(names, result.report.column_levels, strict=True)),
        }
