"""Limits of size: what exceeds one is refused before memory is allocated for it.

The limits keep every fit and transform of a sanitiser within 2 GB, and within about ten seconds
unless it runs a search with a ``time_limit`` of its own. They count cells, because bytes and
seconds per cell are known; examples/benchmarks/sizes.py measures them.
"""

from __future__ import annotations

from .exceptions import SizeLimitError

#: Cells of the table of S and X: a fit holds about fifteen arrays of this shape, 120 bytes a cell.
MOST_TABLE_CELLS = 10_000_000
#: Positive probabilities in a channel: with the integers and the table that is sampled from, up
#: to 150 bytes each.
MOST_CHANNEL_CELLS = 8_000_000
#: Entries of the posteriors that an optimal mechanism is built from, about a microsecond each.
MOST_POSTERIOR_CELLS = 5_000_000
#: Values of X of an optimal mechanism whose posteriors are sparse: more would take minutes.
MOST_SPARSE_INPUTS = 10_000
#: Cells of one dense array of numbers, such as a channel with its zeros: 400 MB.
MOST_DENSE_CELLS = 50_000_000
#: Numbers that exact arithmetic starts from, about three microseconds each.
MOST_EXACT_CELLS = 2_000_000
#: Different lifts that are compared as fractions, up to twenty times with a mixed channel.
MOST_FRACTIONS = 200_000
#: Terms of the sums that certify and measure a channel for all that attackers may know: twenty
#: nanoseconds each.
MOST_SIDE_TERMS = 500_000_000
#: Numbers that the exact worst case over confidence sets of all that attackers may know starts
#: from, about ten microseconds each, up to twenty times with a mixed channel.
MOST_SIDE_CELLS = 100_000
#: Cells of a table with a confidence interval for each, about fifty microseconds each.
MOST_INTERVALS = 50_000
#: Inequalities of an optimal mechanism, and the numbers in them: 160 MB in each of six copies.
MOST_INEQUALITIES = 50_000
MOST_INEQUALITY_CELLS = 20_000_000
#: Pairs of high-risk symbols, times sensitive symbols, that a greedy search visits: ten seconds.
MOST_PAIRS = 200_000_000
#: Cells of the columns of all ranges of ordered symbols: twenty nanoseconds each, for alpha-lift
#: up to 150. Only those of the ranges with the same end are held at once.
MOST_RANGE_CELLS = 100_000_000
#: High-risk symbols whose groups are optimised, about four milliseconds each.
MOST_OPTIMIZED = 2_000
#: Symbols of unary encoding, each of which is a released column.
MOST_BITS = 10_000
#: Bits that one call releases: a byte and about thirty nanoseconds each.
MOST_RELEASED_BITS = 200_000_000
#: Bits that one call turns into names of sets.
MOST_NAMED_BITS = 20_000_000

#: Values of a target that is counted: most tables have too few rows for more, and names or numbers
#: of records, passed as y by mistake, have far more.
MOST_TARGETS = 100
#: Entries of P(T|X) or P(T|S,X) of a target. The search holds many arrays of this size: about three
#: gigabytes in the worst case that was measured. It allows 100 values for as many inputs as an
#: optimal mechanism may have.
MOST_TARGET_CELLS = 250_000

#: Cells of a table, each with at least thirty of at most 100,000 rows.
MOST_CELLS = 2_000
#: The same of an estimator of the user, whose cells may have fewer rows.
MOST_OWN_CELLS = 10_000

#: Bytes of a saved mechanism.
MOST_SAVED_BYTES = 64 << 20
#: Commas and brackets in it, and so its values. A hostile file takes at most 1 GB to parse.
MOST_SAVED_VALUES = 8_000_000

#: Values whose channel is inverted to estimate frequencies, in cubic time.
MOST_INVERTED = 2_000

#: Advice for any mechanism.
POOL = "pool rare values of X before fit, or put rows into cells (cells= of most sanitisers)"
#: Advice for mechanisms that see S.
BLIND = "use use_sensitive=False, or pool rare values of S or X before fit"
#: Advice for products of columns.
FEWER = "use fewer columns, or pool rare values of each before fit"
#: Mechanisms whose channel stays small for any number of values.
MERGE = "use WatchdogSanitizer, or SubsetMergingSanitizer for up to about 10,000 high-risk values"


def refuse_beyond(limit: int, size: int, what: str, instead: str) -> None:
    """Raise an error if a size exceeds its limit.

    Parameters
    ----------
    limit, size : int
        The largest allowed size and the actual one.
    what : str
        What has this size, as a clause such as "the channel of 9,000 values has 81,000,000
        cells".
    instead : str
        What to do instead, in the imperative and without a full stop.
    """
    if size > limit:
        message = f"{what}; the limit is {limit:,}"
        raise SizeLimitError(". ".join(s[0].upper() + s[1:] for s in (message, instead)) + ".")
