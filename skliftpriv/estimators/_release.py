"""From certified weights to released columns: labels, codes or posteriors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array, vstack

from .._arrays import Label
from ..certificate import CertifiedChannel, quantize
from ..channel import Channel, distinct, group_label, symbol_text
from ..distribution import JointDistribution
from ..frames import LabelColumn, Table, sort_symbols
from ..sampling import RandomState, Sampler
from ._layout import Layout

__all__ = ["Releaser"]


class Releaser:
    """Samples outputs and writes them as columns.

    Parameters
    ----------
    certified : CertifiedChannel
        What is sampled.
    joint : JointDistribution
        The distribution it was built for.
    layout : Layout
        Which columns are useful.
    """

    def __init__(
        self, certified: CertifiedChannel, joint: JointDistribution, layout: Layout
    ) -> None:
        self._channel = certified.channel
        self._p_x = joint.p_x
        self._layout = layout
        # One more row, the distribution of Y itself, for values that were not seen at fit.
        p_y = self._channel.p_y(joint.p_x)
        anyone = quantize(Channel((p_y / p_y.sum())[None, :]))
        self._sampler = Sampler(csr_array(vstack([certified.weights, anyone])))
        self.unknown_code = len(joint.useful_labels)

    def sample(self, codes: np.ndarray, random_state: RandomState) -> np.ndarray:
        """Draw an output for every input code."""
        return self._sampler.sample(codes, random_state)

    def names(self, layout: Layout, output: str, rest: Sequence[int]) -> list[str]:
        """Names of the released columns."""
        useful = layout.useful_names
        if output == "label":
            released = useful
        elif output == "code":
            released = ["_".join(useful)]
        else:
            stem = "_".join(useful)
            released = [f"{stem}_{symbol_text(label)}" for label in self._channel.inputs]
        return [str(n) for n in distinct([*released, *(layout.names[i] for i in rest)])]

    def columns(
        self, table: Table, codes: np.ndarray, output: str, rest: Sequence[int]
    ) -> dict[str, Any]:
        """Write sampled outputs as named columns, followed by the rest of the table."""
        if output == "label":
            released: list[Any] = self._label_columns(table, codes)
        elif output == "code":
            released = [codes]
        else:
            released = list(self._channel.posterior(self._p_x)[codes].T)
        released.extend(self._layout.column(table, i) for i in rest)
        return dict(zip(self.names(self._layout, output, rest), released, strict=True))

    def _label_columns(self, table: Table, codes: np.ndarray) -> list[Any]:
        if table.numeric:
            symbols = self._representatives()
            values = np.array(
                [s if isinstance(s, tuple) else (s,) for s in symbols], dtype=float
            ).astype(table.array.dtype)
            return list(values[codes].T)
        return [LabelColumn(labels, codes) for labels in self._labels()]

    def _labels(self) -> list[list[Label]]:
        """Labels of the outputs, one list per useful column."""
        if len(self._layout.useful) == 1:
            return [list(self._channel.outputs)]
        sparse = self._channel.sparse.tocsc()
        rows = []
        for y in range(len(self._channel.outputs)):
            members = [
                self._channel.inputs[x]
                for x in sparse.indices[sparse.indptr[y] : sparse.indptr[y + 1]]
            ]
            parts = zip(*members, strict=True)
            rows.append(tuple(group_label(sort_symbols(set(part))) for part in parts))
        # Outputs that read the same in every column are told apart in the first one.
        firsts = distinct_rows(rows)
        return [firsts, *([row[i] for row in rows] for i in range(1, len(self._layout.useful)))]

    def _representatives(self) -> list[Label]:
        """One input symbol per output, all different: the papers' super-symbols.

        An array of numbers has no room for names such as "{1, 2}".
        """
        joint = self._channel.joint(self._p_x)
        outputs, inputs = linear_sum_assignment(joint.T, maximize=True)
        order = np.argsort(outputs)
        return [self._channel.inputs[x] for x in inputs[order]]


def distinct_rows(rows: Sequence[tuple[Label, ...]]) -> list[Label]:
    """Return the first labels of rows, numbered where whole rows would be equal."""
    seen: dict[tuple[Label, ...], int] = {}
    firsts: list[Label] = []
    for row in rows:
        seen[row] = seen.get(row, 0) + 1
        number = seen[row]
        firsts.append(row[0] if number == 1 else f"{symbol_text(row[0])} ({number})")
    return firsts
