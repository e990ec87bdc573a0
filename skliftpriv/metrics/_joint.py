"""Leakage of several released columns together, for the distribution of given rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack
from scipy.special import entr
from sklearn.utils.validation import check_is_fitted

from ..channel import Channel
from ..distribution import JointDistribution
from ..estimators import ReleasingShell
from ..exceptions import InvalidParameterError
from ..frames import Table, encode_rows
from ..measures import entropy
from ..report import LeakageSummary

__all__ = ["joint_leakage", "leakage_together", "protects_column"]

#: Largest number of cells of the joint channel, about 300 MB.
_MOST_ENTRIES = 5_000_000


def joint_leakage(
    sanitizers: Sequence[ReleasingShell], X: Any, *, sensitive_features: Any = None
) -> LeakageSummary:
    """Measure what several columns leak together when each is sanitised on its own.

    Budgets of single columns do not add up to a joint budget: two columns that each reveal nothing
    can together reveal everything. This function measures the leakage of the joint release for
    the distribution of the given rows. The sanitisers draw independently of each other; two of
    them may sanitise the same column.

    Parameters
    ----------
    sanitizers : sequence of fitted sanitisers
        All must protect the same S. Columns that ``remainder="passthrough"`` releases are not
        measured.
    X : table
        Rows with all useful columns and, unless ``sensitive_features`` is given, the sensitive
        column(s).
    sensitive_features : array-like of shape (n_rows,), optional
        The sensitive values, when they are not a column of X.

    Returns
    -------
    LeakageSummary
        Its ``nmi`` is the share of information kept about all useful columns as one joint symbol.

    Examples
    --------
    >>> from skliftpriv import SubsetMergingSanitizer, joint_leakage
    >>> from skliftpriv.datasets import load_adult
    >>> adult = load_adult()[["income", "sex", "relationship"]]
    >>> each = [
    ...     SubsetMergingSanitizer("income", name, epsilon=0.5).fit(adult)
    ...     for name in ("sex", "relationship")
    ... ]
    >>> max(s.report_.max_log_lift for s in each) <= 0.5
    True
    >>> joint_leakage(each, adult).max_log_lift > 0
    True
    """
    if isinstance(sanitizers, ReleasingShell) or not len(sanitizers):
        raise InvalidParameterError("joint_leakage needs a list of at least one fitted sanitiser.")
    for sanitizer in sanitizers:
        if not isinstance(sanitizer, ReleasingShell):
            raise InvalidParameterError(
                f"{sanitizer!r} is not a sanitiser, such as SubsetMergingSanitizer()."
            )
        check_is_fitted(sanitizer)
    table = Table(X)
    named = [sanitizer for sanitizer in sanitizers if protects_column(sanitizer)]
    names = list(dict.fromkeys(sanitizer.layout_.sensitive_name for sanitizer in named))
    if len(names) > 1:
        raise InvalidParameterError(
            f"The sanitisers protect different columns, {' and '.join(names)}: measure one "
            "sensitive column at a time."
        )
    if sensitive_features is None and not named:
        raise InvalidParameterError(
            "S was not a column of X at fit: pass its values as sensitive_features=."
        )
    first = (named or list(sanitizers))[0]
    sensitive = first.layout_.sensitive_columns(table, sensitive_features)
    return leakage_together(
        [(sanitizer, X) for sanitizer in sanitizers], [], sensitive, given=sensitive_features
    )


def protects_column(sanitizer: ReleasingShell) -> bool:
    """Tell whether S was a column of X at fit, rather than passed on its own."""
    return bool(sanitizer.layout_.sensitive)


def leakage_together(
    sanitised: Sequence[tuple[ReleasingShell, Any]],
    plain: Sequence[Any],
    sensitive: Sequence[Any] | None,
    *,
    given: Any = None,
) -> LeakageSummary:
    """Measure sanitised and plain columns together, for the distribution of the rows.

    Parameters
    ----------
    sanitised : sequence of (fitted sanitiser, table)
        Each sanitiser with its input; row i of all tables is the same person.
    plain : sequence of columns
        Columns that are released unchanged.
    sensitive : sequence of columns or None
        Columns of S; None to measure utility only.
    given : array-like, optional
        The sensitive values, for sanitisers that see S and do not find it in their table.
    """
    coded = [_coded(sanitizer, table, given) for sanitizer, table in sanitised]
    if plain:
        plain_codes, values = encode_rows(plain)
        coded.append((plain_codes, plain_codes, _identity(len(values))))
    codes, x_codes, channels = zip(*coded, strict=True)
    # Rows with the same symbols have the same joint output distribution.
    positions, symbol = np.unique(np.column_stack(codes), axis=0, return_inverse=True)
    symbol = symbol.reshape(-1)
    rows = [channel[positions[:, k]] for k, channel in enumerate(channels)]
    _check_size(rows)
    joint_channel = reduce(_row_products, rows)
    total, kept = _utility(x_codes, symbol, joint_channel)
    # Without S, a constant takes its place and nothing leaks.
    s, values = encode_rows([np.zeros_like(symbol)] if sensitive is None else sensitive)
    if sensitive is not None:
        _check_sensitive(sanitised, values)
    if len(values) * joint_channel.shape[1] > _MOST_ENTRIES:
        raise _too_large(len(values) * joint_channel.shape[1])
    p_sy = (_shares(s, symbol, len(values)) @ joint_channel).toarray()
    return LeakageSummary.of_release(p_sy, kept, kept / total if total > 0 else 1.0)


def _utility(
    x_codes: Sequence[np.ndarray], symbol: np.ndarray, joint_channel: csr_array
) -> tuple[float, float]:
    """Return H(X) and I(X;Y) of all useful columns as one joint symbol."""
    values, x = np.unique(np.column_stack(x_codes), axis=0, return_inverse=True)
    p_xy = csr_array(_shares(x.reshape(-1), symbol, len(values)) @ joint_channel)
    total = float(entropy(p_xy.sum(axis=1)))
    both = total + float(entropy(p_xy.sum(axis=0))) - float(entr(p_xy.data).sum())
    return total, min(max(both, 0.0), total)


def _shares(group: np.ndarray, symbol: np.ndarray, n_groups: int) -> csr_array:
    """Return the share of rows of every group and symbol; there are rows of every symbol."""
    shares = np.full(symbol.size, 1 / symbol.size)
    return csr_array((shares, (group, symbol)), shape=(n_groups, int(symbol.max()) + 1))


def _coded(
    sanitizer: ReleasingShell, X: Any, given: Any
) -> tuple[np.ndarray, np.ndarray, csr_array]:
    """Return for every row the code of its input and of its X, and what every input releases."""
    name, channel = type(sanitizer).__name__, sanitizer.channel_
    if channel is None:
        n_values = sanitizer.release_.releaser.p_x.size
        raise InvalidParameterError(
            f"{name} of {', '.join(sanitizer.layout_.useful_names)} has {n_values} values and so "
            f"2^{n_values} outputs, too many to measure together with other columns; use another "
            "mechanism, or merge values first."
        )
    p_x = sanitizer.release_.releaser.p_x
    sampled: Channel = getattr(sanitizer, "conditional_channel_", channel)
    codes = sanitizer.encode(X, sensitive_features=given if sanitizer.needs_sensitive else None)
    # Values not seen at fit are replaced by a draw from the distribution of Y.
    anyone = csr_array(channel.p_y(p_x)[None, :])
    rows = csr_array(vstack([sampled.sparse, anyone]))
    # Inputs of a mechanism that sees S are pairs (s, x), with x varying fastest.
    x_codes = np.where(codes < 0, p_x.size, codes % p_x.size)
    return np.where(codes < 0, rows.shape[0] - 1, codes), x_codes, rows


def _identity(n: int) -> csr_array:
    return csr_array((np.ones(n), np.arange(n), np.arange(n + 1)), shape=(n, n))


def _row_products(a: csr_array, b: csr_array) -> csr_array:
    """Multiply every row of one matrix by the same row of another; outputs become pairs."""
    in_a, in_b = np.diff(a.indptr), np.diff(b.indptr)
    partners = np.repeat(in_b, in_a)
    left = np.repeat(np.arange(a.nnz), partners)
    # The partners of an entry of a are the consecutive entries in the same row of b.
    first = np.repeat(b.indptr[:-1], in_a) - (np.cumsum(partners) - partners)
    right = np.arange(left.size) + np.repeat(first, partners)
    pairs = a.indices[left].astype(np.int64) * b.shape[1] + b.indices[right]
    seen, outputs = np.unique(pairs, return_inverse=True)
    ends = np.concatenate([[0], np.cumsum(in_a * in_b)])
    shape = (a.shape[0], seen.size)
    return csr_array((a.data[left] * b.data[right], outputs, ends), shape=shape)


def _check_size(rows: Sequence[csr_array]) -> None:
    """Refuse a product that would be too large, before computing it."""
    entries = np.prod([np.diff(part.indptr).astype(float) for part in rows], axis=0).sum()
    if entries > _MOST_ENTRIES:
        raise _too_large(entries)


def _too_large(entries: float) -> InvalidParameterError:
    return InvalidParameterError(
        f"All columns together have {entries:,.0f} cells, but at most {_MOST_ENTRIES:,} can be "
        "measured; leave columns out, merge rare values first, or use one sanitiser with a list "
        "as useful=."
    )


def _check_sensitive(sanitised: Sequence[tuple[ReleasingShell, Any]], values: list[Any]) -> None:
    for sanitizer, _ in sanitised:
        # A sanitiser that was loaded from a file may not know them.
        joint: JointDistribution | None = getattr(sanitizer, "joint_", None)
        labels = values if joint is None else joint.sensitive_labels
        if set(values).isdisjoint(labels):
            raise InvalidParameterError(
                f"The sensitive values are like {values[0]!r}, but {type(sanitizer).__name__} of "
                f"{', '.join(sanitizer.layout_.useful_names)} protects values like {labels[0]!r}: "
                "pass the S that all sanitisers were fitted with."
            )
