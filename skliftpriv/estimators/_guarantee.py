"""The guarantee of a fitted sanitiser, in words and as data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from .._format import html_card, html_table, number
from ..cells import CellsSummary
from ..notions import Notion

__all__ = ["Guarantee"]

_CHECKED = "checked in exact arithmetic on what is sampled"


@dataclass(frozen=True)
class Guarantee:
    """What a fitted sanitiser guarantees, and under which assumptions.

    Attributes
    ----------
    promise : Notion
        The privacy notion with its budget.
    notion : str
        The same in words.
    budget, achieved : dict
        Budget and achieved level of each side, in nats.
    holds : bool
        Whether the budget holds, decided in exact arithmetic on the probabilities sampled.
    confidence : float or None
        Probability, over the rows seen at ``fit``, that the budget holds for the distribution
        they came from; None if the guarantee is for the estimated distribution.
    smoothing : float
        Pseudo-count added to every cell of the estimated distribution.
    weighted : bool
        Whether rows were weighted by ``sample_weight``.

        .. versionadded:: 0.2
    n_rows : int
        Number of rows that the distribution was estimated from.
    sensitive : str
        The sensitive column.
    columns : tuple of str
        Columns whose joint release is covered.
    unprotected : tuple of str
        What is released with these columns without protection: other columns, and an index or an
        order of rows that may reveal S.

        .. versionadded:: 0.2
    handle_unknown : {"error", "resample"}
        Whether values not seen at ``fit`` are refused or replaced by a draw.

        .. versionadded:: 0.2
    single_release : bool
        Always True: a second release of the same rows, or of other columns, is not covered.
    randomized : bool
        Whether anything is drawn. False if equal values always have the same output.

        .. versionadded:: 0.2
    secret_randomness : bool
        False if the noise comes from a seed. Such a release is not private.
    sees_sensitive : bool
        Whether the mechanism looks at the sensitive values of the rows that it releases.
    cells : CellsSummary or None
        The cells that the columns are reduced to before the release, if there are any.

        .. versionadded:: 0.2
    """

    promise: Notion
    achieved: dict[str, float]
    holds: bool
    confidence: float | None
    smoothing: float
    weighted: bool
    n_rows: int
    sensitive: str
    columns: tuple[str, ...]
    unprotected: tuple[str, ...]
    handle_unknown: str
    randomized: bool
    secret_randomness: bool
    single_release: bool = True
    sees_sensitive: bool = False
    cells: CellsSummary | None = None

    @property
    def notion(self) -> str:
        """The privacy notion with its budget, in words."""
        return str(self.promise)

    @property
    def budget(self) -> dict[str, float]:
        """Budget of each side in nats."""
        return dict(self.promise.budget)

    @property
    def basis(self) -> str:
        """The distribution that the guarantee is for, in a few words."""
        if self.confidence is None:
            return "estimated distribution"
        return f"confidence {self.confidence:g}"

    @property
    def private(self) -> bool:
        """Whether a release is private: the budget holds and the noise is secret.

        .. versionadded:: 0.2
        """
        return self.holds and self.secret_randomness

    def to_dict(self) -> dict[str, Any]:
        """Return the guarantee as plain data."""
        plain = {name: value for name, value in asdict(self).items() if name != "promise"}
        said = {"notion": self.notion, "budget": self.budget}
        return {**said, **plain, "basis": self.basis, "private": self.private}

    @property
    def claim(self) -> str:
        """The guarantee in a sentence.

        .. versionadded:: 0.2
        """
        of = f"{self.notion} of {self.sensitive}"
        release = f"for one release of {', '.join(self.columns)}."
        if self.holds and not self.secret_randomness:
            return (
                "NOT PRIVATE: the noise comes from a seed (random_state). With random_state=None "
                f"{of} would hold {release}"
            )
        return f"{of} {'holds' if self.holds else 'does NOT hold'} {release}"

    @property
    def limits(self) -> list[str]:
        """Assumptions of the guarantee and what it does not cover, as a list of sentences.

        .. versionadded:: 0.2
        """
        lines = [f"Basis: {self.basis} ({self.n_rows:,} rows).", *self._estimate()]
        if self.cells is not None:
            lines.append(f"{self.about_cells}.")
        lines.append("Not covered: releasing the same rows again, or further columns about them.")
        if self.sees_sensitive:
            lines.append(
                f"The mechanism sees {self.sensitive}: rows that differ only in it are released "
                "with different probabilities."
            )
        if self.unprotected:
            lines.append(f"Released with it and not protected: {', '.join(self.unprotected)}.")
        if self.handle_unknown == "resample" and self.may_be_new is not None:
            new = self.may_be_new[0].upper() + self.may_be_new[1:]
            lines.append(
                f"{new} not seen at fit are replaced by a draw from P_Y: {self.with_new_values}."
            )
        return lines

    def _estimate(self) -> list[str]:
        if self.confidence is not None:
            return [
                "With this probability the budget holds for the distribution that the rows came "
                "from, if they are independent draws from it and contain all of its values; levels "
                "are for the worst distribution in the confidence set."
            ]
        lines = []
        if self.weighted:
            lines.append(
                "Rows are weighted (sample_weight): for the shares of the rows themselves the "
                "levels may be higher."
            )
        if self.smoothing:
            lines.append(
                f"The estimate adds {self.smoothing:g} row(s) to every cell (smoothing): "
                "for the shares of the rows themselves the levels may be higher."
            )
        return lines

    @property
    def released(self) -> str:
        """What is released, in a few words.

        .. versionadded:: 0.2
        """
        if self.cells is None:
            return ", ".join(self.columns)
        n = len(self.columns)
        return f"cells of {self.columns[0] if n == 1 else f'{n} columns'}"

    @property
    def all_have_cells(self) -> bool:
        """Whether all rows have a cell, whatever their useful columns hold.

        .. versionadded:: 0.2
        """
        return self.cells is not None and self.cells.complete

    @property
    def may_be_new(self) -> str | None:
        """Which values may not have been seen at fit; None if all rows are released alike.

        .. versionadded:: 0.2
        """
        if not self.all_have_cells:
            return "values"
        return f"values of {self.sensitive}" if self.sees_sensitive else None

    @property
    def about_cells(self) -> str:
        """What the release is made of, and which rows decided that; without a full stop.

        .. versionadded:: 0.2
        """
        cells = self.cells
        if cells is None:
            return "The release is made of the values of the columns"
        made = f"The release tells of the columns only through {cells.n_cells:,} cells, learnt from"
        if cells.apart:
            return f"{made} {cells.n_rows:,} other rows than those counted"
        return f"{made} {cells.n_rows:,} rows, which are counted, too"

    @property
    def with_new_values(self) -> str:
        """What is guaranteed for a table with values that were not seen at fit."""
        still = self.promise.when_resampled if self.confidence is None else None
        return still or "a table that holds such values is not covered"

    def __str__(self) -> str:
        sides = ", ".join(
            f"{side} {number(self.achieved[side])} (budget {number(bound)})"
            for side, bound in self.budget.items()
        )
        levels = f"Levels reached, in nats: {sides}; {_CHECKED}."
        return "\n".join([self.claim, levels, *self.limits])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = [
            [self.promise.side(side).title, number(self.achieved[side]), number(bound)]
            for side, bound in self.budget.items()
        ]
        table = html_table([["level in nats", "reached", "budget"], *rows], [True] * len(rows))
        verdict = "Holds" if self.private else "Not private" if self.holds else "Does not hold"
        notes = [f"Levels are {_CHECKED}.", *self.limits]
        return html_card(self.private, verdict, self.claim, [], table, notes)
