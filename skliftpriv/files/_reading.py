"""Make a sanitiser of a saved document, and certify it again if it holds the joint distribution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._arrays import Label
from .._limits import MOST_TABLE_CELLS
from ..certificate import TOTAL
from ..channel import Channel
from ..confidence import ConfidenceSet
from ..distribution import JointDistribution
from ..estimators import (
    CountedRows,
    Release,
    RowEncoder,
    advice_on_unknown,
    instead_of_seeing,
)
from ..exceptions import SavedFileError
from ..frames import ContingencyTable, SymbolOrder
from ..mechanisms import (
    ChannelResult,
    MechanismResult,
    UnaryResult,
    recertified,
    unary_levels_again,
    unary_recertified,
    worst_levels_again,
)
from ..notions import Notion
from ..report import PrivacyReport
from ._cells import read_cells
from ._document import FACTS, SECTIONS
from ._labels import read_labels
from ._loaded import LoadedSanitizer
from ._mechanism import Sampled, read_layout, read_records, read_releaser
from ._promises import Facts, read_notion, read_report
from ._reader import Node, distinct
from ._seal import FORMAT, VERSION
from ._values import SavedValues, read_values

__all__ = ["read_document"]

_MOST_PARAMETERS = 100
_DEEPEST = 3
#: Facts that are words; the others are numbers.
_WORDS = ("optimum", "status_")


def read_document(node: Node, *, signed: bool) -> LoadedSanitizer:
    """Make a sanitiser of a document whose seal was checked.

    Parameters
    ----------
    node : Node
        The document.
    signed : bool
        Whether it was signed with the key of whoever loads it.
    """
    heading, version, *nodes = node.fields("format", "version", *SECTIONS)
    heading.choice([FORMAT])
    version.whole(VERSION, VERSION)
    part = dict(zip(SECTIONS, nodes, strict=True))
    part["made_with"].text(1_000)
    mechanism = _read_mechanism(part["mechanism"])
    layout = read_layout(part["columns"])
    records = read_records(part["records"], layout)
    mechanism["n_sensitive"] = part["n_sensitive"].whole(2, MOST_TABLE_CELLS)
    sensitive = _read_sensitive(part["sensitive_values"], mechanism["n_sensitive"])
    cells = settled = None
    if not part["cells"].is_null():
        cells, settled = read_cells(part["cells"], layout.useful_names)
    n_pairs = 1 if sensitive is None else len(sensitive)
    sampled = read_releaser(part["channel"], layout, cells, n_pairs)
    notion = read_notion(part["notion"])
    facts, report = Facts(part["guarantee"], records), read_report(part["report"], notion)
    values = read_values(part["values"], layout, sampled, sensitive, mechanism["n_sensitive"])
    joint = None
    if not part["joint"].is_null():
        rows = CountedRows(
            _read_counts(part["joint"], facts),
            layout,
            cells=cells,
            types=sampled.types,
            groups=facts.groups,
        )
        joint = _Certified(part["joint"], rows, values, sampled, facts, notion, report, sensitive)
        if joint.joint.shape[0] != mechanism["n_sensitive"]:
            raise part["n_sensitive"].wrong("the number of sensitive values of the joint")
    elif sensitive is not None:
        raise part["joint"].wrong("the joint distribution, because the mechanism sees S")
    channel = sampled.channel if sensitive is None or joint is None else joint.result.channel
    shares = None if sensitive is None or joint is None else joint.joint.matrix.ravel()
    releaser = sampled.releaser(layout, channel, cells, shares)
    if mechanism["output"] not in releaser.forms:
        raise part["mechanism"].wrong(f"one with an output among {', '.join(releaser.forms)}")
    unknown = mechanism["handle_unknown"]
    order = _read_order(part["order"], sampled.inputs)
    if order is not None and facts.confidence is not None:
        raise part["order"].wrong("null, since a confidence set has no place for new values")
    joined = cells is not None and settled is not None and settled.labels != cells.labels
    if joined and facts.confidence is not None:
        raise part["cells"].wrong("cells with rows, since a confidence set has no place for others")
    if mechanism["remainder"] == "passthrough" and set(layout.rest_names) - set(facts.unprotected):
        raise part["guarantee"].wrong("one that names all columns that are released unprotected")
    release = Release(
        who=mechanism["name"],
        layout=layout,
        encoder=RowEncoder(
            sampled.inputs,
            layout,
            sensitive=sensitive,
            cells=settled,
            order=order,
            lists=values.lists,
        ),
        releaser=releaser,
        advice=advice_on_unknown(unknown),
        blind=instead_of_seeing(mechanism["parameters"]),
        records=records,
    )
    guarantee = facts.guarantee(
        report,
        layout,
        unknown or "error",
        draws=releaser.draws,
        sees_sensitive=sensitive is not None,
        values=values.summary(layout, sampled, mechanism["n_sensitive"], order),
        cells=None if cells is None else cells.summary,
        record_id=None if records is None else records.name,
        places_new_values=order is not None,
        stated_by=None if joint is not None else f"{'a signed' if signed else 'an unsigned'} file",
    )
    fitted: dict[str, Any] = {"channel_": channel, "notion_": notion, "report_": report}
    if cells is not None:
        fitted["cells_"] = cells
    if joint is not None:
        fitted |= joint.fitted
    if "categories" in mechanism["parameters"]:  # not all sanitisers have lists of values
        mechanism["parameters"]["categories"] = values.categories(layout)
    return LoadedSanitizer.of(release, guarantee, mechanism, **fitted)


def _read_order(node: Node, inputs: Sequence[Label]) -> SymbolOrder | None:
    if node.is_null():
        return None
    (categories,) = node.fields("categories")
    if categories.is_null():
        return SymbolOrder(inputs)
    found = read_labels(categories)
    distinct(found, categories)
    return SymbolOrder(inputs, found)


def _read_mechanism(node: Node) -> dict[str, Any]:
    name, output, remainder, index, unknown, parameters, facts = node.fields(
        "name", "output", "remainder", "index", "handle_unknown", "parameters", "facts"
    )
    found = facts.members(len(FACTS))
    for fact in found:
        Node(fact, "a name in mechanism.facts").choice(FACTS)
    return {
        "name": name.text(100),
        "output": output.choice(["bits", "code", "label", "posterior", "typical"]),
        "remainder": remainder.choice(["drop", "passthrough"]),
        "index": index.choice(["drop", "keep"]),
        "handle_unknown": None if unknown.is_null() else unknown.choice(["error", "resample"]),
        "parameters": {n: _plain(one) for n, one in parameters.members(_MOST_PARAMETERS).items()},
        "facts": {fact: _fact(fact, one) for fact, one in found.items()},
    }


def _plain(node: Node, depth: int = 0) -> Any:
    """Read a parameter, which is only shown."""
    kind = type(node.value)
    if node.is_null() or kind is bool:
        return node.value
    if kind is str:
        return node.text()
    if kind is list and depth < _DEEPEST:
        return [_plain(item, depth + 1) for item in node.items(most=100_000)]
    return node.whole(-(2**53), 2**53) if kind is int else node.number()


def _fact(name: str, node: Node) -> Any:
    return node.text(1_000) if name in _WORDS else node.number(finite=False)


def _read_sensitive(node: Node, n_sensitive: int) -> list[Any] | None:
    if node.is_null():
        return None
    labels = read_labels(node, n_sensitive)
    distinct(labels, node)
    return labels


def _read_counts(node: Node, facts: Facts) -> ContingencyTable:
    sensitive, useful, counts, order = node.fields("sensitive", "useful", "counts", "order")
    s, x = read_labels(sensitive), read_labels(useful)
    distinct(s, sensitive)
    distinct(x, useful)
    rows = np.array([row.numbers(len(x), low=0.0) for row in counts.items(len(s))])
    # Weights are whole numbers of rows with confidence, and any numbers without.
    if (facts.confidence is not None or not facts.weighted) and rows.sum() != facts.n_rows:
        raise counts.wrong(f"counts of {facts.n_rows:,} rows, as guarantee.n_rows says")
    return ContingencyTable(
        rows,
        s,
        x,
        facts.n_rows,
        weighted=facts.weighted,
        order=None if order.is_null() else tuple(read_labels(order)),
    )


@dataclass
class _Certified:
    """The joint distribution of a file, and the mechanism certified for it."""

    node: Node
    rows: CountedRows
    values: SavedValues
    sampled: Sampled
    facts: Facts
    notion: Notion
    report: PrivacyReport
    sensitive: list[Any] | None

    def __post_init__(self) -> None:
        if self.joint.useful_labels != self.sampled.inputs:
            raise self.node.wrong("counts of the inputs of the channel, in their order")
        if self.sensitive is not None and list(self.joint.sensitive_labels) != self.sensitive:
            raise self.node.wrong("counts of the sensitive values of the mechanism")
        # Sums may differ in the last digit where another version of NumPy adds in another order.
        if not np.allclose(self.joint.p_x, self.sampled.p_x, rtol=1e-12, atol=0.0):
            raise self.node.wrong("counts with the shares channel.p_x of the inputs")
        if self._holds != self.report.satisfied:
            verdict = "meets" if self._holds else "does NOT meet"
            raise SavedFileError(
                f"its mechanism {verdict} {self.notion} for the joint distribution that it holds, "
                "but its report says the opposite: do not use it"
            )
        for stated, found in self._levels():
            wrong = [side for side in found if not np.isclose(stated[side], found[side])]
            if wrong:
                raise SavedFileError(
                    f"its report says {stated[wrong[0]]:g} for the level {wrong[0]}, but for the "
                    f"joint distribution that it holds it is {found[wrong[0]]:g}: do not use it"
                )

    def _levels(self) -> Iterator[tuple[dict[str, float], dict[str, float]]]:
        """Yield levels of the report, and what they are."""
        yield self.report.levels_after, self._levels_over(None)
        if self.over is not None and self.report.levels_worst is not None:
            yield self.report.levels_worst, self._levels_over(self.over)

    def _levels_over(self, over: ConfidenceSet | None) -> dict[str, float]:
        joint, notion, sampled = self.joint, self.notion, self.sampled
        if sampled.noise_weight is not None:
            return unary_levels_again(joint, notion, sampled.noise_weight, over=over)
        sees = self.sensitive is not None
        return worst_levels_again(joint, notion, sampled.weights, over=over, sees_sensitive=sees)

    @cached_property
    def joint(self) -> JointDistribution:
        return self.rows.counts.joint(self.facts.smoothing)

    @cached_property
    def over(self) -> ConfidenceSet | None:
        over = self.values.of_rows(self.rows, self.node).confidence_set(self.facts.confidence)
        return None if over is None else over.rechecked()

    @cached_property
    def _holds(self) -> bool:
        if self.sampled.noise_weight is not None:
            noise = self.sampled.noise_weight
            return unary_recertified(self.joint, self.notion, noise, over=self.over)
        assert isinstance(self.result, ChannelResult)
        return self.result.certified.satisfied

    @cached_property
    def result(self) -> MechanismResult:
        known: dict[str, Any] = {
            "joint": self.joint,
            "notion": self.notion,
            "report": self.report,
            "status": "loaded",
            "over": self.over,
        }
        noise = self.sampled.noise_weight
        if noise is not None:
            alpha = np.log(TOTAL / noise - 1) if noise else np.inf
            return UnaryResult(
                **known, alpha=float(alpha), noise_weight=noise, information_error=np.nan
            )
        sees = self.sensitive is not None
        certified = recertified(
            self.joint,
            self.notion,
            self.sampled.weights,
            self.sampled.outputs,
            over=self.over,
            sees_sensitive=sees,
        )
        return ChannelResult(**known, certified=certified, sees_sensitive=sees)

    @property
    def fitted(self) -> dict[str, Any]:
        """The attributes of a sanitiser that knows the joint distribution."""
        found = {"joint_": self.joint, "counted_": self.rows, "result_": self.result}
        conditional: Channel | None = getattr(self.result, "conditional", None)
        return found if conditional is None else {**found, "conditional_channel_": conditional}
