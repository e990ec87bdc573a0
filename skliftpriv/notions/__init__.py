"""What "private" means: notions of lift privacy, their budgets, and how they relate."""

from ._average import Average
from ._averaged import AlphaLift, Chi2Lift, L1Lift
from ._base import Notion
from ._by_name import NOTIONS, POLYHEDRAL_NOTIONS, NotionLike, budget_pair, make_notion
from ._exact import exp_below
from ._lift_bounds import implied_lift_bounds
from ._polyhedral import ALIP, LDP, LIP
from ._relations import ImpliedBounds, implied_bounds, lift_band
from ._relaxed import RelaxedLift
from ._side_channel import SRLIP
from ._sides import Side

__all__ = [
    "ALIP",
    "AlphaLift",
    "Average",
    "Chi2Lift",
    "ImpliedBounds",
    "L1Lift",
    "LDP",
    "LIP",
    "NOTIONS",
    "Notion",
    "NotionLike",
    "POLYHEDRAL_NOTIONS",
    "RelaxedLift",
    "SRLIP",
    "Side",
    "budget_pair",
    "exp_below",
    "implied_bounds",
    "implied_lift_bounds",
    "lift_band",
    "make_notion",
]
