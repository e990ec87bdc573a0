"""Docstrings of the parameters and attributes that sanitisers share."""

from __future__ import annotations

from textwrap import dedent, indent
from typing import TypeVar

__all__ = ["documented"]

T = TypeVar("T", bound=type)

_COLUMNS = """\
sensitive : str, int, list or None, default=None
    Sensitive column S of X, by name or index. Several columns form one joint symbol. None if
    ``sensitive_features`` is passed to ``fit``.

    .. versionchanged:: 0.2
        A list of columns is accepted.
useful : str, int, list or None, default=None
    Column to sanitise, by name or index. Several columns form one joint symbol. None takes all
    columns that are not sensitive.
"""

_BUDGET = """\
epsilon : float or pair (lower, upper), default=1.0
    Privacy budget in nats; 0 is perfect privacy. "lip" and "ldp" take a number. For the other
    notions a number is split by ``lam``, and a pair sets the budgets of the lower (min-lift) and
    the upper (max-lift) side.

    .. versionchanged:: 0.2
        A budget of 0 is accepted.
lam : float, default=0.5
    Share of ``epsilon`` for the lower side if it is a number: lower = lam * epsilon,
    upper = (1 - lam) * epsilon. Not used for "lip" and "ldp".
"""

_ALPHA = """\
alpha : float, default=2.0
    Order above 1, for ``notion="alpha"``.
"""

_SOLVER = """\
method : {"auto", "column-generation", "vertices"}, default="auto"
    Column generation, vertex enumeration with cddlib, or a choice by problem size. With
    ``confidence`` the mechanism is always found by column generation, and the method is that of
    the upper bound.
gap : float, default=1e-6
    Stop when the share that is kept is certified to be this close to the optimum.
time_limit : float or None, default=60.0
    Stop after this many seconds with the best private mechanism found and a valid gap; None for
    no limit. With ``confidence`` the upper bound is sharpened for at most five seconds.
verbose : bool or None, default=None
    Show progress on standard error: always, never or, with None, in a terminal or a notebook once
    the work takes longer than three seconds.

    .. versionchanged:: 0.2
        The default is None.
"""

_SMOOTHING = """\
smoothing : float, default=0.0
    Pseudo-count added to every cell of the estimated joint distribution.
"""

_CONFIDENCE = """\
confidence : float or None, default=None
    With None the budget holds for the distribution estimated at ``fit``. With a probability such
    as 0.95 it holds, with this probability, for the distribution that the rows came from; the
    cost in utility shrinks with more rows. Supports "lip", "alip" and "ldp". The rows must be
    independent draws and contain all possible values unless ``categories`` lists them, and weights
    must be whole numbers that count rows.
"""

_CELLS = """\
cells : int, estimator or None, default=None
    What the useful columns are reduced to before the release, so that whole tables with numbers
    can be sanitised. None releases their values, several columns as one joint symbol. With an
    int, a decision tree puts the rows into at most so many cells of at least 30 rows: cells that
    predict S and the y of ``fit(X, y)`` or, without y, S and the columns themselves. An estimator
    of scikit-learn is fitted to the useful columns (and the numbers of the values or bins of y,
    if given), and its ``apply`` (trees), ``predict`` (clusterers) or ``transform`` into bins
    (discretisers) is the cell of a row; a Pipeline gets the columns as a pandas frame, other
    estimators get numbers. Cells are learnt from at most 100,000 rows with weight, fewer of tables
    with more than 25 columns; with ``confidence`` from at most a third of the rows, or of those
    that weights count, which are then not counted. A tree has a
    cell for every row, so ``handle_unknown`` does not apply to values of the useful columns; it
    applies to those of S if the mechanism sees S.

    .. versionadded:: 0.2
"""

_VALUES = """\
categories : dict or None, default=None
    Closed lists of values that do not depend on the rows: a dict from columns (useful or
    sensitive, by name or index; "sensitive_features" for S that is passed on its own) to all values
    that they may hold, None for missing ones. Several useful columns may have all combinations of
    their values. ``fit`` refuses rows with other values. ``transform`` never refuses a listed
    value: one without rows at ``fit`` gets a draw from the distribution of Y. With ``confidence``
    such values belong to the confidence set, and the rows need not contain all values.

    .. versionadded:: 0.2
min_count : int or None, default=None
    Values of X with fewer rows (or a smaller sum of weights) are pooled: they are one symbol,
    called "other values", which does not name them. So are the next rarest, until the pool has so
    many rows. Values of several columns are pooled as combinations. Values not seen at ``fit`` do
    not belong to the pool. With ``cells``, use their own smallest number of rows instead.

    .. versionadded:: 0.2
"""

_OUTPUT = """\
output : {"label", "code", "posterior"}, default="label"
    What is released: the label of the output, its number, or the vector P(X=x | Y=y) with one
    column per symbol x, a private one-hot encoding. In a data frame a column of numbers, booleans
    or dates keeps its type if every output is a value of the column; if some outputs are groups
    of values, such as ``{39, 40}``, all labels are text. An array of numbers stays numeric: a
    group is represented by one of its values, and ``channel_.outputs`` lists its members.
"""

_TYPICAL = (
    _OUTPUT.replace('"posterior"}', '"posterior", "typical"}')
    + """\
    "typical" releases the useful columns themselves, in their types: the median of numbers and the
    most common of other values given the output, so that a model of the original columns can read
    them. A categorical column keeps only the categories that some output has, because the list is
    released with it. With ``cells`` labels are in a column called ``cell``, and those of a tree
    are rules.

    .. versionchanged:: 0.2
        "typical" is new.
"""
)

_REMAINDER = """\
remainder : {"drop", "passthrough"}, default="drop"
    What to do with columns that are neither sensitive nor useful. "passthrough" warns, because
    they are not protected.
index : {"keep", "drop"}, default="keep"
    What to do with the index of a pandas frame, which is released like a column. "keep" lets
    :class:`~sklearn.compose.ColumnTransformer` align rows, and warns if the index has a name, is
    not an index of integers, or is associated with S. "drop" renumbers the rows.

    .. versionadded:: 0.2
"""

_UNKNOWN = """\
handle_unknown : {"error", "resample"}, default="error"
    What ``transform`` does with values not seen at ``fit``. "resample" draws their output from
    the distribution of Y. LDP still holds; LIP and ALIP hold up to the sum of their two budgets;
    other notions are not covered. Missing values are a category of their own.
"""

_RANDOM = """\
random_state : int, RandomState, Generator or None, default=None
    None draws from the operating system's cryptographic generator. Use anything else for
    reproducible experiments only: the same call on the same table gives the same result, and
    other tables or mechanisms get unrelated noise. A release drawn from a seed is not private, as
    ``transform`` warns and ``guarantee_`` states.
"""

_RECORDS = """\
record_id : str, int or None, default=None
    Column of X with an id for every record, by name or index, or the name of the index of a
    pandas frame. The noise then depends on the id: rows of one call with the same id have the same
    output, and rows that have the same id but different values are refused. With a ``secret`` a
    record has the same output at every call, in any process and any kind of table, as long as its
    value stays the same. Ids are whole numbers, text, bytes or UUIDs, and are compared as text: 1,
    1.0 and "1" are the same id. The column is not counted and, with ``remainder="drop"``, not
    released.

    .. versionadded:: 0.2
groups : str, int or None, default=None
    Column of X that says which rows belong to one person, in place of ``record_id``. A person
    counts once at ``fit`` and has one output in a release, so that the guarantee is for persons.
    Rows of one person must have the same values; the error names a person whose rows differ. In
    a release in parts (batches, a stream, a lazy frame) only rows of one part are compared.

    .. versionadded:: 0.2
secret : bytes, str, path or None, default=None
    Key of the noise, for ``record_id`` or ``groups``: at least 16 random bytes, the path of a key
    file, or "env:NAME" for an environment variable. The guarantee then covers repeated releases of
    the same rows by this mechanism. Bytes become a :class:`~skliftpriv.Secret`, which no print-out
    shows; a pickle of the sanitiser holds what is needed of it. Files and variables are read at
    every ``transform``, and pickles do not hold their content. With None every call draws a new
    key.

    .. versionadded:: 0.2
"""

_FITTED = """\
joint_ : JointDistribution
    The estimated distribution of S and X.
n_sensitive_ : int
    Number of sensitive values.

    .. versionadded:: 0.2
channel_ : Channel
    The randomised mapping P(Y|X), exactly as it is sampled.
notion_ : Notion
    The privacy notion with its budget.
report_ : PrivacyReport
    Leakage and utility before and after, against the budget.
guarantee_ : Guarantee
    What is guaranteed, and under which assumptions.
result_ : MechanismResult
    What the mechanism returned, with all of the above.
counted_ : CountedRows
    Counts of the rows seen at ``fit``; other sanitisers can be fitted to them.
cells_ : Cells
    With ``cells``: what the useful columns are reduced to.

    .. versionadded:: 0.2
layout_ : Layout
    Which columns are sensitive, useful or neither.
release_ : Release
    What is needed to release rows, without counts of S.

    .. versionadded:: 0.2
n_features_in_ : int
    Number of columns seen at ``fit``.
feature_names_in_ : ndarray of str
    Their names, if X had names.
"""

_TEXTS = {
    "columns": _COLUMNS,
    "budget": _BUDGET,
    "alpha": _ALPHA,
    "solver": _SOLVER,
    "shell": _CELLS
    + _VALUES
    + _SMOOTHING
    + _CONFIDENCE
    + _TYPICAL
    + _REMAINDER
    + _UNKNOWN
    + _RECORDS
    + _RANDOM,
    "known shell": _SMOOTHING + _OUTPUT + _REMAINDER + _RECORDS + _RANDOM,
    "rest": _REMAINDER + _UNKNOWN + _RECORDS + _RANDOM,
    "confidence": _CONFIDENCE.replace(" unless ``categories`` lists them", "")
    + "\n    .. versionadded:: 0.2\n",
    "fitted": _FITTED,
}


def documented(cls: T) -> T:
    """Fill the placeholders ``<columns>``, ``<budget>``, ... in the docstring of a class."""
    text = dedent("    " + (cls.__doc__ or ""))
    for name, part in _TEXTS.items():
        text = text.replace(f"<{name}>\n", part)
    cls.__doc__ = indent(text, "    ").lstrip()
    return cls
