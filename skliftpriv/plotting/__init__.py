"""Pictures of a release: what it leaks, what it keeps, and what it does to every value.

Needs matplotlib: ``pip install "skliftpriv[plot]"``.
"""

from ._channel import ChannelDisplay
from ._lift import LiftDisplay
from ._matplotlib import MissingMatplotlibError
from ._posterior import PosteriorDisplay
from ._release import ReleaseData
from ._tradeoff import TradeoffDisplay

__all__ = [
    "ChannelDisplay",
    "LiftDisplay",
    "MissingMatplotlibError",
    "PosteriorDisplay",
    "ReleaseData",
    "TradeoffDisplay",
]
