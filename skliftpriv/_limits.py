"""How large things may be: what a call refuses before it allocates anything for it.

The limits keep every fit and transform of a sanitiser within about 2 GB, and within some ten
seconds where no ``time_limit`` is asked for. They count cells, because the bytes and seconds per
cell are known (examples/benchmarks/sizes.py measures them).
"""

from __future__ import annotations

from .exceptions import SizeLimitError

#: Cells of the table of S and X: a fit holds some fifteen arrays of this shape, 120 bytes a cell.
MOST_TABLE_CELLS = 10_000_000
#: Probabilities above 0 in a channel: with the integers and the table that is sampled from they
#: take up to 150 bytes each.
MOST_CHANNEL_CELLS = 8_000_000
#: Cells of a channel that is written out as a dense array, zeros included: 400 MB.
MOST_DENSE_CELLS = 50_000_000
#: Lifts that are compared as fractions, some three microseconds each.
MOST_EXACT_CELLS = 2_000_000
#: Cells of a released table with a column per symbol: 2 GB of bits, 8 bytes each for numbers.
MOST_RELEASED_BYTES = 1_000_000_000

#: What helps whatever the mechanism.
POOL = "pool rare values of X before fit"


def refuse_beyond(limit: int, size: int, what: str, instead: str) -> None:
    """Raise an error that says what is too large, what the limit is and what to do instead.

    Parameters
    ----------
    limit, size : int
        The largest allowed size and the one asked for.
    what : str
        What has this size, such as "the channel of 9,000 values has 81,000,000 cells".
    instead : str
        What to do, in the imperative and without a full stop.
    """
    if size > limit:
        raise SizeLimitError(f"{what[0].upper()}{what[1:]}, and the limit is {limit:,}: {instead}.")
