"""The guarantee of a fitted sanitiser, in words and as data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from .._format import html_card, html_table, number
from ..cells import CellsSummary
from ..notions import Notion
from ._values import ValuesSummary

__all__ = ["Guarantee"]


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
        Whether the budget holds, decided in exact arithmetic on the probabilities sampled, or
        stated by a file (``stated_by``).
    confidence : float or None
        Probability, over the rows seen at ``fit``, that the budget holds for the distribution
        they came from; None if the guarantee is for the estimated distribution.
    smoothing : float
        Pseudo-count added to every cell of the estimated distribution.
    weighted : bool
        Whether rows were weighted by ``sample_weight``.

        .. versionadded:: 0.2
    n_rows : int
        Number of rows, or of ``groups``, that the distribution was estimated from.
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
        True if a second release of the same rows is not covered; False with a ``secret``, which
        makes it the same release again. Releases of other columns are never covered.
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
    places_new_values : bool
        Whether a value that was not seen at fit counts as the next lower one that was.

        .. versionadded:: 0.2
    record_id : str or None
        The column of ids, if the noise of a record depends on its id.

        .. versionadded:: 0.2
    groups : str or None
        The column that says which rows belong to one person, if the guarantee is for persons.

        .. versionadded:: 0.2
    keyed : bool
        Whether the noise comes from a ``secret``, so that it is the same in all releases.

        .. versionadded:: 0.2
    values : ValuesSummary or None
        Closed lists of values and pooled ones, if there are any.

        .. versionadded:: 0.2
    stated_by : str or None
        The kind of file that budget and levels were read from, if it has no counts to check them
        with; None if they were checked here.

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
    sees_sensitive: bool = False
    cells: CellsSummary | None = None
    values: ValuesSummary | None = None
    places_new_values: bool = False
    record_id: str | None = None
    groups: str | None = None
    keyed: bool = False
    stated_by: str | None = None

    @property
    def single_release(self) -> bool:
        """Whether a second release of the same rows is not covered."""
        return not self.keyed

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
    def check(self) -> str:
        """How the levels are known, in a few words.

        .. versionadded:: 0.2
        """
        if self.stated_by is None:
            return "checked in exact arithmetic on what is sampled"
        return f"stated by {self.stated_by} without counts, and not checked here"

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
        single = {"single_release": self.single_release}
        return {**said, **plain, **single, "basis": self.basis, "private": self.private}

    @property
    def claim(self) -> str:
        """The guarantee in a sentence.

        .. versionadded:: 0.2
        """
        of = f"{self.notion} of {self.sensitive}"
        repeated = self.keyed and self.holds
        again = ", which may be repeated with the same secret" if repeated else ""
        release = f"for one release of {', '.join(self.columns)}{again}."
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
        lines = [f"Basis: {self.basis} ({self.counted}).", *self._estimate()]
        if self.cells is not None:
            lines.append(f"{self.about_cells}.")
        lines += self.about_values
        lines += self._records()
        if self.sees_sensitive:
            lines.append(
                f"The mechanism sees {self.sensitive}: rows that differ only in it are released "
                "with different probabilities."
            )
        if self.unprotected:
            lines.append(f"Released with it and not protected: {', '.join(self.unprotected)}.")
        if self.places_new_values:
            lines.append(
                "Values between or beyond those seen at fit count as the next lower one seen, or "
                "as the lowest."
            )
        if self.handle_unknown == "resample" and self.may_be_new is not None:
            new = self.may_be_new[0].upper() + self.may_be_new[1:]
            seen = "neither seen at fit nor listed" if self._lists else "not seen at fit"
            lines.append(f"{new} {seen} are replaced by a draw from P_Y: {self.with_new_values}.")
        return lines

    @property
    def counted(self) -> str:
        """What the distribution was estimated from, in a few words.

        .. versionadded:: 0.2
        """
        return f"{self.n_rows:,} {self._units}"

    @property
    def _units(self) -> str:
        """What is counted."""
        return "rows" if self.groups is None else f"values of {self.groups}"

    def _records(self) -> list[str]:
        """Say what is covered beyond one release of one row, and what is not."""
        lines = []
        if self.groups is not None:
            lines.append(
                f"Rows with the same {self.groups} are counted once. In a release they must have "
                "equal values, and have one output then: the guarantee is for all of them "
                "together, but not for their number. Rows that differ are refused within a table, "
                "and within each part of one that is released in parts (batches, a "
                "RecordBatchReader, a lazy frame), but not between parts."
            )
        elif self.record_id is not None:
            lines.append(
                f"Rows of a release with the same {self.record_id} and equal values have one "
                "output."
            )
        if not self.keyed:
            again = "releasing the same rows again, or further columns about them"
            return [*lines, f"Not covered: {again}."]
        lines.append(
            "Covered: releasing the same rows again by this mechanism with the same secret. They "
            "have the same outputs then, from which nothing more is learnt."
        )
        if self.randomized:
            lines.append("Whoever knows the secret can undo the randomisation.")
        lines.append(
            "Not covered: releasing the same rows with another secret, by another mechanism or "
            "after their values changed, or further columns about them."
        )
        return lines

    def _estimate(self) -> list[str]:
        if self.confidence is not None:
            return [
                "With this probability the budget holds for the distribution that the "
                f"{self._units} came from, if {self.assumption}; levels are for the worst "
                "distribution in the confidence set."
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
    def _lists(self) -> bool:
        """Whether values may be known to be possible without having been seen."""
        closed = self.values or ValuesSummary()
        return closed.useful_closed or (self.sees_sensitive and closed.sensitive_closed)

    @property
    def assumption(self) -> str:
        """What is assumed about the rows if the guarantee is for their distribution.

        .. versionadded:: 0.2
        """
        draws = "they are independent draws from it"
        known = self.values or ValuesSummary()
        if self.all_have_cells:  # so that no value of the useful columns is unknown
            complete = "categories lists" if known.sensitive_closed else "contain"
            return f"{draws} and {complete} all values of {self.sensitive}"
        useful = ", ".join(self.columns)
        if known.useful_closed and known.sensitive_closed:
            return f"{draws} and categories lists all of its values"
        if known.useful_closed:
            return (
                f"{draws}, categories lists all values of {useful}, and the rows contain all of "
                f"{self.sensitive}"
            )
        if known.sensitive_closed:
            return (
                f"{draws}, categories lists all values of {self.sensitive}, and the rows contain "
                f"all of {useful}"
            )
        return f"{draws} and contain all of its values"

    @property
    def about_values(self) -> list[str]:
        """What is known about values beforehand, and what happens to rare ones, as sentences.

        .. versionadded:: 0.2
        """
        if self.values is None:
            return []
        known, lines = self.values, []
        if known.listed:
            lines.append(f"The values of {', '.join(known.listed)} are listed (categories).")
        if known.useful_unseen:
            lines.append(
                f"Listed values of {', '.join(self.columns)} without rows at fit "
                f"({known.useful_unseen:,}) are replaced by a draw from P_Y: {self.with_listed}."
            )
        if known.sensitive_unseen:
            lines.append(
                f"Listed values of {self.sensitive} without rows at fit "
                f"({known.sensitive_unseen:,}) are not covered: nothing is known about them."
            )
        rows = f"{self._units}, by weight" if self.weighted else self._units
        if known.pooled:
            lines.append(
                f"The {known.pooled:,} rarest values are treated as one, among them all with fewer "
                f"than {known.min_count:,} {rows} (min_count)."
            )
        elif known.min_count is not None:
            lines.append(f"All values have at least {known.min_count:,} {rows} (min_count).")
        return lines

    @property
    def with_listed(self) -> str:
        """What is guaranteed for a table with listed values that had no rows at fit.

        .. versionadded:: 0.2
        """
        if self.confidence is not None:
            return "the confidence set includes them"
        return self.with_new_values

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
        if self.places_new_values:
            return "other values"
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
        made = f"The release tells of the columns only through {cells.n_cells:,} cell"
        made += "" if cells.n_cells == 1 else "s"
        if cells.fewer:
            made += f" ({cells.why_fewer})"
        made += ", learnt from"
        if cells.given and self.confidence is not None:
            return f"{made} {cells.learnt_from}; it is assumed that none is counted"
        if cells.apart and not cells.given:
            return f"{made} {cells.n_rows:,} other rows than those counted"
        return (
            f"{made} {cells.learnt_from}, which {'may be' if cells.given else 'are'} counted, too"
        )

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
        levels = f"Levels reached, in nats: {sides}; {self.check}."
        return "\n".join([self.claim, levels, *self.limits])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = [
            [self.promise.side(side).title, number(self.achieved[side]), number(bound)]
            for side, bound in self.budget.items()
        ]
        table = html_table([["level in nats", "reached", "budget"], *rows], [True] * len(rows))
        verdict = "Holds" if self.private else "Not private" if self.holds else "Does not hold"
        notes = [f"Levels are {self.check}.", *self.limits]
        return html_card(self.private, verdict, self.claim, [], table, notes)
