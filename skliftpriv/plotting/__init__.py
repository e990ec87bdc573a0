"""Pictures of a release: what it leaks, what it keeps, and what it does to every value.

Needs matplotlib: ``pip install "skliftpriv[plot]"``.
"""

from ..views import ReleaseView
from ._channel import ChannelDisplay
from ._lift import LiftDisplay
from ._matplotlib import MissingMatplotlibError
from ._posterior import PosteriorDisplay
from ._tradeoff import TradeoffDisplay

__all__ = [
    "ChannelDisplay",
    "LiftDisplay",
    "MissingMatplotlibError",
    "PosteriorDisplay",
    "ReleaseView",
    "TradeoffDisplay",
]
