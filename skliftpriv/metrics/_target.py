"""What a release tells about a target, whether or not it was made to keep that."""

from __future__ import annotations

from dataclasses import replace
from math import nan
from typing import Any

from ..estimators import CountedRows, LiftSanitizer
from ..exceptions import InvalidParameterError
from ..measures import mutual_information
from ..mechanisms import ChannelResult, MechanismResult
from ..report import target_summary

__all__ = ["target_kept"]


def target_kept(
    result: MechanismResult | LiftSanitizer[Any], rows: CountedRows, *, use_sensitive: bool = False
) -> float:
    """Share of what X tells about a target T that a release keeps, for any mechanism.

    Mechanisms that were not built for the target can so be compared with those that were.

    .. versionadded:: 0.2

    Parameters
    ----------
    result : MechanismResult or fitted sanitiser
        A mechanism.
    rows : CountedRows
        The rows that it was built for, counted with their target.
    use_sensitive : bool, default=False
        Whether 1 stands for what S and X tell together, I(T;S,X), instead of I(T;X). A mechanism
        that sees S can keep more than X tells about T; this counts as 1 by default.

    Returns
    -------
    float
        I(T;Y) / I(T;X), or I(T;Y) / I(T;S,X); at most 1, and 1 if there is nothing to keep. NaN if
        the mechanism has too many outputs to be written out.

    Examples
    --------
    >>> from skliftpriv import CountedRows, ORRSanitizer, SubsetMergingSanitizer
    >>> from skliftpriv.datasets import load_adult
    >>> from skliftpriv.metrics import target_kept
    >>> columns = ("relationship", "occupation")
    >>> rows = CountedRows.of(load_adult(), *columns, target="income")
    >>> for sanitizer in (
    ...     SubsetMergingSanitizer(*columns, epsilon=0.5),
    ...     ORRSanitizer(*columns, epsilon=0.5),
    ...     ORRSanitizer(*columns, epsilon=0.5, utility="target"),
    ... ):
    ...     print(round(target_kept(sanitizer.result_for(rows), rows), 2))
    0.23
    0.7
    0.85
    """
    if rows.target is None:
        raise InvalidParameterError(
            "The rows were counted without a target: count them by CountedRows.of(..., target=y)."
        )
    if isinstance(result, LiftSanitizer):
        result = result.result_
    sees = isinstance(result, ChannelResult) and result.sees_sensitive
    channel = result.certified.channel if isinstance(result, ChannelResult) else result.channel
    if channel is None:
        return nan
    joint = result.joint
    given = rows.target.given(joint, sensitive=sees or use_sensitive)
    found = target_summary(joint, given, channel)
    known = found.before
    if use_sensitive:
        known = float(mutual_information((joint.matrix * given).reshape(len(given), -1)))
    return replace(found, input=known).kept
