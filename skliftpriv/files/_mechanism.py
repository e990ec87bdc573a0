"""What is sampled, and how rows are read and written, as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from .._arrays import SUM_TOLERANCE, FloatArray, Label
from .._limits import MOST_BITS, MOST_CHANNEL_CELLS
from ..cells import Cells
from ..certificate import TOTAL, Weights, drawn_weights
from ..channel import Channel
from ..estimators import BitReleaser, Layout, RecordColumn, Releaser, SymbolReleaser
from ..exceptions import SavedFileError
from ..frames import ColumnType
from ..labels import as_parts
from ..mechanisms import bit_weights, unary_channel
from ._labels import read_labels, write_labels
from ._reader import Node, distinct
from ._types import read_type, write_type

__all__ = [
    "Sampled",
    "read_layout",
    "read_records",
    "read_releaser",
    "write_layout",
    "write_releaser",
]

_MOST_COLUMNS = 100_000


def write_layout(layout: Layout) -> Any:
    """Write which columns play which part."""
    return {
        "names": list(layout.names),
        "named": layout.named,
        "sensitive": list(layout.sensitive),
        "useful": list(layout.useful),
        "rest": list(layout.rest),
    }


def read_layout(node: Node) -> Layout:
    """Read which columns play which part."""
    names_node, named, *parts = node.fields("names", "named", "sensitive", "useful", "rest")
    names = names_node.texts(most=_MOST_COLUMNS)
    s, x, rest = (tuple(part.integers(0, len(names) - 1).tolist()) for part in parts)
    if sorted((*s, *x, *rest)) != list(range(len(names))) or not x:
        raise node.wrong("columns with one part each, at least one of them useful")
    return Layout(tuple(names), named.flag(), s, x, rest)


def read_records(node: Node, layout: Layout) -> RecordColumn | None:
    """Read where the ids of the records are."""
    if node.is_null():
        return None
    parameter, column = node.fields("parameter", "column")
    by_name = type(column.value) is str
    records = RecordColumn.of(
        layout,
        parameter.choice(["groups", "record_id"]),
        column.text() if by_name else column.whole(-len(layout.names), len(layout.names) - 1),
    )
    used = [layout.names[i] if layout.named else i for i in (*layout.sensitive, *layout.useful)]
    key = records.key if isinstance(records.key, str) else records.key % len(layout.names)
    if key in used:
        raise column.wrong("a column that is neither sensitive nor useful")
    return records


def write_releaser(releaser: Releaser) -> dict[str, Any]:
    """Write what is sampled; the cells stand elsewhere."""
    if isinstance(releaser, BitReleaser):
        return {
            "kind": "bits",
            "inputs": write_labels(releaser.symbols),
            "p_x": releaser.p_x.tolist(),
            "noise_weight": releaser.noise_weight,
        }
    if type(releaser) is not SymbolReleaser:
        raise SavedFileError(
            f"{type(releaser).__name__} writes releases of its own kind, which is code that a file "
            "of data cannot hold: pickle the sanitiser instead."
        )
    weights, layout = releaser.weights, releaser.layout
    return {
        "kind": "symbols",
        "inputs": write_labels(releaser.channel.inputs),
        "p_x": releaser.p_x.tolist(),
        "outputs": write_labels(releaser.channel.outputs),
        "entries": np.diff(weights.indptr).tolist(),
        "output_of_entry": weights.indices.tolist(),
        "weight_of_entry": weights.data.tolist(),
        "one_column": releaser.one_column,
        "types": [
            write_type(kind, name)
            for kind, name in zip(releaser.types, layout.useful_names, strict=False)
        ],
        "typical": None
        if releaser.cells is None
        else [write_labels(row) for row in releaser.typical],
    }


@dataclass(frozen=True)
class Sampled:
    """What is sampled, without the channel P(Y|X) that a mechanism that sees S has on average.

    Attributes
    ----------
    inputs, outputs : tuple of labels
        Symbols of X and Y; no outputs for bits.
    p_x : ndarray
        Distribution of X.
    weights : csr_array of int64
        What is sampled.
    noise_weight : int or None
        For bits: the weight of a wrong bit.
    one_column : bool
        Whether labels of several columns are written in one.
    types : tuple of ColumnType
        Types of the released columns.
    typical : list of tuples or None
        Typical rows of the outputs of cells.
    """

    inputs: tuple[Label, ...]
    outputs: tuple[Label, ...]
    p_x: FloatArray
    weights: Weights
    noise_weight: int | None = None
    one_column: bool = True
    types: tuple[ColumnType, ...] = ()
    typical: list[tuple[Label, ...]] | None = None

    @property
    def channel(self) -> Channel | None:
        """The channel of a mechanism that does not see S; None for more than 12 bits."""
        if self.noise_weight is not None:
            return unary_channel(self.inputs, self.noise_weight)
        return Channel(self.weights / TOTAL, self.inputs, self.outputs)

    def releaser(
        self,
        layout: Layout,
        channel: Channel | None,
        cells: Cells | None,
        shares: FloatArray | None = None,
    ) -> Releaser:
        """Return what samples and writes it.

        Parameters
        ----------
        layout : Layout
            The columns.
        channel : Channel or None
            P(Y|X).
        cells : Cells or None
            What rows are reduced to.
        shares : ndarray, optional
            Distribution of the pairs (s, x), if the mechanism sees S.
        """
        if self.noise_weight is not None:
            return BitReleaser(self.weights, self.inputs, self.p_x, layout)
        assert channel is not None
        return SymbolReleaser(
            self.weights,
            channel,
            self.p_x,
            layout,
            one_column=self.one_column,
            cells=cells,
            types=self.types,
            typical=self.typical,
            drawn=drawn_weights(self.weights, self.p_x if shares is None else shares),
        )


def read_releaser(node: Node, layout: Layout, cells: Cells | None, n_sensitive: int) -> Sampled:
    """Read what is sampled.

    Parameters
    ----------
    node : Node
        What :func:`write_releaser` wrote.
    layout : Layout
        The columns.
    cells : Cells or None
        What rows are reduced to, as they were learnt.
    n_sensitive : int
        Number of sensitive values if the mechanism sees them, or else 1.
    """
    if node.members().get("kind", node).choice(["bits", "symbols"]) == "bits":
        return _read_bits(node, layout, cells, n_sensitive)
    (_, inputs, p_x, outputs, *csr, one_column, types, typical) = node.fields(
        "kind",
        "inputs",
        "p_x",
        "outputs",
        "entries",
        "output_of_entry",
        "weight_of_entry",
        "one_column",
        "types",
        "typical",
    )
    symbols = _read_symbols(inputs, layout, cells)
    names = read_labels(outputs)
    distinct(names, outputs)
    alone, n_columns = one_column.flag(), len(layout.useful)
    if not alone:
        _check_parts(names, n_columns, outputs)
    kinds = types.items(most=n_columns)
    if len(kinds) not in (0, n_columns):
        raise types.wrong(f"a list of {n_columns} types, or of none")
    if (cells is None) != typical.is_null():
        raise typical.wrong("typical rows if there are cells, or else null")
    rows = None
    if not typical.is_null():
        rows = [tuple(read_labels(row, n_columns)) for row in typical.items(len(names))]
    return Sampled(
        tuple(symbols),
        tuple(names),
        _read_p_x(p_x, len(symbols)),
        _read_weights(csr, n_sensitive * len(symbols), len(names)),
        one_column=alone,
        types=tuple(read_type(kind) for kind in kinds),
        typical=rows,
    )


def _read_bits(node: Node, layout: Layout, cells: Cells | None, n_sensitive: int) -> Sampled:
    _, inputs, p_x, noise = node.fields("kind", "inputs", "p_x", "noise_weight")
    if cells is not None or n_sensitive != 1:
        raise node.wrong("one of symbols, because there are cells or S is seen")
    symbols = _read_symbols(inputs, layout, None)
    if len(symbols) > MOST_BITS:
        raise inputs.wrong(f"a list of at most {MOST_BITS:,} values")
    weight = noise.whole(0, TOTAL // 2)
    shares = _read_p_x(p_x, len(symbols))
    return Sampled(tuple(symbols), (), shares, bit_weights(weight), noise_weight=weight)


def _read_symbols(node: Node, layout: Layout, cells: Cells | None) -> list[Label]:
    symbols = read_labels(node)
    if not symbols:
        raise node.wrong("a list of labels")
    distinct(symbols, node)
    if cells is not None:
        if not set(symbols) <= set(cells.labels):
            raise node.wrong("a list of cells")
    elif len(layout.useful) > 1:
        if not all(isinstance(symbol, tuple) for symbol in symbols):
            raise node.wrong("a list of tuples, with a value for each column")
        _check_parts(symbols, len(layout.useful), node)
    elif any(isinstance(symbol, tuple) for symbol in symbols):
        raise node.wrong("a list of single values")
    return symbols


def _check_parts(labels: list[Label], n_columns: int, node: Node) -> None:
    """Refuse labels that are not one value for each column; a group has a name instead."""
    if any(isinstance(one, tuple) and len(as_parts(one)) != n_columns for one in labels):
        raise node.wrong(f"a list of labels with {n_columns} parts")


def _read_p_x(node: Node, length: int) -> FloatArray:
    shares = node.numbers(length, low=0.0)
    if abs(shares.sum() - 1) > SUM_TOLERANCE or (shares <= 0).any():
        raise node.wrong("a list of positive shares that sum to 1")
    return shares


def _read_weights(nodes: list[Node], n_inputs: int, n_outputs: int) -> Weights:
    """Read integer weights: in every row positive, of different outputs, with the sum 2^62."""
    entries, places, values = nodes
    counts = entries.integers(1, max(n_outputs, 1), n_inputs)
    n_entries = int(counts.sum())
    if n_entries > MOST_CHANNEL_CELLS:
        raise entries.wrong(f"the numbers of at most {MOST_CHANNEL_CELLS:,} entries")
    outputs = places.integers(0, n_outputs - 1, n_entries)
    weights = values.integers(1, TOTAL, n_entries)
    ends = np.cumsum(counts)
    starts = ends - counts
    row = np.repeat(np.arange(n_inputs), counts)
    if np.unique(row * n_outputs + outputs).size < n_entries:
        raise places.wrong("a list with each output once in a row")
    if np.unique(outputs).size < n_outputs:
        raise places.wrong("a list in which every output occurs")
    # In two halves, because a sum of wrong weights may exceed 64 bits.
    low, high = weights & 0x7FFFFFFF, weights >> 31
    total = np.add.reduceat(low, starts) + (np.add.reduceat(high, starts) << 31)
    most = np.add.reduceat(high, starts) <= TOTAL >> 31
    if not (most & (total == TOTAL)).all():
        raise values.wrong("a list of integers that sum to 2^62 in every row")
    indptr = np.concatenate([[0], ends])
    # As it was: the order of entries decides which draw follows from a key.
    return csr_array((weights, outputs, indptr), shape=(n_inputs, n_outputs))
