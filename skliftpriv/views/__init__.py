"""What displays and pages show of a release, without how it is drawn."""

from ._cells import CellRow, cell_rows
from ._curve import axis_title, checked_curve, curve_points, kept_column
from ._flow import MEANINGS, Flow, flow_order, spread
from ._labels import short_labels, shorten, truncate
from ._lift import LiftTable, lift_tables
from ._picked import Picked, pick
from ._release import ChannelView, ReleaseView, channel_view
from ._typical import TypicalTable, typical_table

__all__ = [
    "MEANINGS",
    "CellRow",
    "ChannelView",
    "Flow",
    "LiftTable",
    "Picked",
    "ReleaseView",
    "TypicalTable",
    "axis_title",
    "cell_rows",
    "channel_view",
    "checked_curve",
    "curve_points",
    "flow_order",
    "kept_column",
    "lift_tables",
    "pick",
    "short_labels",
    "shorten",
    "spread",
    "truncate",
    "typical_table",
]
