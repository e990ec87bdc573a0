"""What is worst among distributions within bounds: lifts and conditions of private outputs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from .._arrays import FloatArray, Label
from ..channel import Channel
from ..measures._range import Box, extreme_distributions, lift_range, mean_range, merged_range
from ..notions import Notion
from ._intervals import exact_box
from ._joints import Cases

__all__ = ["BoundedDistributions"]


@dataclass(frozen=True, eq=False)
class BoundedDistributions:
    """Joint distributions of S and X whose P(x|s) and P(s) lie within bounds.

    :class:`ConfidenceSet` computes the bounds from rows and describes the fields.
    """

    sensitive_labels: tuple[Label, ...]
    useful_labels: tuple[Label, ...]
    conditional: Box
    prior: Box
    unseen_labels: tuple[Label, ...]
    unseen: Box
    estimate: FloatArray

    @property
    def shape(self) -> tuple[int, int]:
        """Number of sensitive and of useful symbols."""
        return len(self.sensitive_labels), len(self.useful_labels)

    def columns(self, order: NDArray[np.intp]) -> FloatArray:
        """Numbers that add up if symbols are merged: bounds of P(x|s), and P(x) for draws."""
        rows = [*self.conditional[:2]]
        if self.unseen_labels:
            rows.append(self.estimate.sum(axis=0))
        return np.ascontiguousarray(np.vstack(rows)[:, order])

    def lifts(self, notion: Notion, columns: FloatArray, totals: FloatArray) -> Cases:
        """Worst lifts of merged symbols, given sums of :meth:`columns` and the sum of all."""
        low, high = self.merged_range(columns, totals)
        return [(notion.worst_lift(low, high, self.prior), self.prior.high)]

    def merged_range(
        self, columns: FloatArray, totals: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Bounds of P(A|s) for merged symbols, including draws that give one of them."""
        n_s = self.shape[0]
        share = columns[2 * n_s] if self.unseen_labels else np.zeros(columns.shape[1])
        outside = totals - columns
        return merged_range(
            Box(columns[:n_s], columns[n_s : 2 * n_s]),
            Box(outside[:n_s], outside[n_s : 2 * n_s]),
            self.unseen.high,
            share,
        )

    def mixed_lifts(self, notion: Notion, weight: float, otherwise: float | FloatArray) -> Cases:
        """Worst lifts of outputs with P(y|s) = weight P(x=y|s) + otherwise(s, y), up to scale."""
        low, high = (weight * bound + otherwise for bound in self._single_range)
        return [(notion.worst_lift(low, high, self.prior), self.prior.high)]

    @property
    def largest_given_s(self) -> FloatArray:
        """Largest P(x|s) over the set, of shape (n_sensitive, n_useful)."""
        return self._single_range[1]

    @cached_property
    def _single_range(self) -> tuple[FloatArray, FloatArray]:
        columns = self.columns(np.arange(self.shape[1]))
        return self.merged_range(columns, columns.sum(axis=1, keepdims=True))

    def output_range(self, matrix: Any) -> tuple[FloatArray, FloatArray]:
        """Smallest and largest P(y|s) over the set, for a channel matrix P(Y|X).

        Parameters
        ----------
        matrix : array-like of shape (n_useful, n_outputs)
            Columns of P(Y|X), up to scale; draws for symbols without rows follow from it.

        Returns
        -------
        low, high : ndarray of shape (n_sensitive, n_outputs)
        """
        return mean_range(self._extended(np.asarray(matrix, dtype=float)), self._with_unseen)

    def _extended(self, matrix: FloatArray) -> FloatArray:
        """Add the row of the symbols that are drawn, which follows from the others."""
        return np.vstack([matrix, self.estimate.sum(axis=0) @ matrix])

    def lift_range(self, channel: Channel) -> tuple[FloatArray, FloatArray]:
        """Smallest and largest lift of every output over the set; both are attained.

        Parameters
        ----------
        channel : Channel
            P(Y|X).

        Returns
        -------
        smallest, largest : ndarray of shape (n_sensitive, n_outputs)
        """
        return lift_range(*self.output_range(channel.matrix), self.prior)

    def worst_rows(self, notion: Notion, q: FloatArray) -> FloatArray:
        """Linear conditions that every private column meets, tight at the column q.

        Parameters
        ----------
        notion : LIP, ALIP or LDP
            The notion with its budget.
        q : ndarray of shape (n_useful,)
            A column P(y|x) of a channel, up to scale.

        Returns
        -------
        ndarray of shape (n_rows, n_useful)
            B such that B q' <= 0 for every column q' that meets the notion for the whole set;
            q itself meets it if and only if B q <= 0.
        """
        everywhere = self._extended(q[:, None])
        low, high = extreme_distributions(everywhere, self._with_unseen)
        rows = notion.worst_rows(low[:, :, 0], high[:, :, 0], everywhere[:, 0], self.prior)
        return rows[:, :-1] + rows[:, -1:] * self.estimate.sum(axis=0)

    def worst_lift(self, weights: csc_array, notion: Notion) -> np.ndarray:
        """Worst lifts of integer weights for a notion, without rounding.

        Parameters
        ----------
        weights : csc_array of int64, shape (n_useful, n_outputs)
            P(Y|X) up to scale, followed by a row for the symbols that are drawn, if there are any.
        notion : LIP, ALIP or LDP
            The notion, which defines the worst lift.

        Returns
        -------
        ndarray of Fraction, shape (n_rows, n_outputs)
            See :meth:`Notion.worst_lift`.
        """
        columns = csc_array(weights)
        bounds = [
            self._exact_range(columns.indices[start:stop], columns.data[start:stop])
            for start, stop in zip(columns.indptr[:-1], columns.indptr[1:], strict=True)
        ]
        low, high = (np.hstack(side) for side in zip(*bounds, strict=True))
        return notion.worst_lift(low, high, self._exact_prior)

    def worst_levels(self, weights: csc_array, notion: Notion) -> dict[str, float]:
        """Largest level of each side of a notion over all outputs and distributions.

        Parameters are those of :meth:`worst_lift`.
        """
        worst = self.worst_lift(weights, notion).astype(float)
        levels = notion.levels(worst, worst)
        return {side: 0.0 + float(level.max()) for side, level in levels.items()}

    def _exact_range(
        self, members: np.ndarray, weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of one column; all symbols of weight 0 count as one."""
        box, (low, high) = self._exact_conditional, self._exact_totals
        own_low, own_high = box.low[:, members], box.high[:, members]
        rest_low, rest_high = low - own_low.sum(axis=1), high - own_high.sum(axis=1)
        values = np.array([*weights.tolist(), 0], dtype=object)[:, None]
        return mean_range(
            values,
            Box(
                np.column_stack([own_low, rest_low]),
                np.column_stack([own_high, rest_high]),
                box.one,
            ),
        )

    @cached_property
    def _with_unseen(self) -> Box:
        """Bounds of P(x|s), followed by those of the symbols that are drawn."""
        low, high, _ = self.conditional
        return Box(
            np.column_stack([low, self.unseen.low]), np.column_stack([high, self.unseen.high])
        )

    @cached_property
    def _exact_conditional(self) -> Box:
        return exact_box(self._with_unseen if self.unseen_labels else self.conditional)

    @cached_property
    def _exact_totals(self) -> tuple[np.ndarray, np.ndarray]:
        box = self._exact_conditional
        return box.low.sum(axis=1), box.high.sum(axis=1)

    @cached_property
    def _exact_prior(self) -> Box:
        return exact_box(self.prior)
