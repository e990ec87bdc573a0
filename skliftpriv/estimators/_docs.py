"""Parameters and attributes that all sanitisers document alike, written once."""

from __future__ import annotations

from textwrap import dedent, indent
from typing import TypeVar

__all__ = ["documented"]

T = TypeVar("T", bound=type)

_COLUMNS = """\
sensitive : str, int, list or None, default=None
    Column of S in X, by name or index. Several columns are one joint symbol. None if
    ``sensitive_features`` is passed to ``fit``.

    .. versionchanged:: 0.2
        A list of columns is accepted.
useful : str, int, list or None, default=None
    Column to sanitise. Several columns are one joint symbol; None takes all but the
    sensitive one.
"""

_BUDGET = """\
epsilon : float or pair (lower, upper), default=1.0
    Privacy budget in nats; 0 is perfect privacy. For "lip" and "ldp" a number. For the other
    notions a number is split by ``lam``, and a pair gives the budgets of the min-lift and the
    max-lift side.

    .. versionchanged:: 0.2
        A budget of 0 is accepted.
lam : float, default=0.5
    Share of a number ``epsilon`` that goes to the lower side: lower = lam * epsilon,
    upper = (1 - lam) * epsilon. Not used for "lip" and "ldp".
"""

_ALPHA = """\
alpha : float, default=2.0
    Order above 1, for ``notion="alpha"``.
"""

_SOLVER = """\
method : {"auto", "column-generation", "vertices"}, default="auto"
    Column generation, vertex enumeration with cddlib, or whichever suits the size. With
    ``confidence`` columns are generated in any case, and the method is that of the bound.
gap : float, default=1e-6
    Stop when the NMI is certified to be this close to the optimum.
time_limit : float or None, default=60.0
    Stop after this many seconds with the best private mechanism found and a valid gap; None for
    no limit. With ``confidence`` the bound is sharpened for five seconds at most.
verbose : bool, default=False
    Show progress on standard error.
"""

_SMOOTHING = """\
smoothing : float, default=0.0
    Pseudo-count added to every cell of the estimated joint distribution.
"""

_CONFIDENCE = """\
confidence : float or None, default=None
    None keeps the budget for the distribution estimated at ``fit``. A probability such as 0.95
    keeps it for the distribution that the rows came from, with this probability, at a cost in
    utility that shrinks with more rows. For "lip", "alip" and "ldp"; the rows must be
    independent draws and show all values there are, and weights must be whole numbers that count
    rows.
"""

_OUTPUT = """\
output : {"label", "code", "posterior"}, default="label"
    What is released: the label of the output, its number, or the vector P(X=x | Y=y), one
    column per symbol x, which is a private one-hot encoding. Where every output is a value of
    the column, a column of numbers, booleans or dates of a data frame keeps its type; where some
    are groups of values, such as ``{39, 40}``, all labels are text. An array of numbers comes
    back as numbers in any case: a group is then represented by one of its values, and
    ``channel_.outputs`` tells what it stands for.
"""

_REMAINDER = """\
remainder : {"drop", "passthrough"}, default="drop"
    What happens to columns that are neither sensitive nor useful. "passthrough" warns: they
    are not protected.
index : {"keep", "drop"}, default="keep"
    What happens to the index of a pandas frame, which is released like a column. "keep" lets
    :class:`~sklearn.compose.ColumnTransformer` align rows, and warns if the index has a name,
    holds anything but whole numbers, or goes together with S. "drop" numbers the rows anew.

    .. versionadded:: 0.2
"""

_UNKNOWN = """\
handle_unknown : {"error", "resample"}, default="error"
    What ``transform`` does with a value that ``fit`` has not seen. "resample" replaces it by a
    draw from the distribution of Y. This keeps LDP; LIP and ALIP then hold up to the sum of
    their two budgets, and other notions are not covered. Missing values are a category of their
    own.
"""

_RANDOM = """\
random_state : int, RandomState, Generator or None, default=None
    None draws from the operating system's cryptographic generator. Anything else makes
    experiments reproducible: the same call on the same table repeats itself, and other tables or
    mechanisms get unrelated noise. A release that is drawn from a seed is not private, and
    ``transform`` and ``guarantee_`` say so.
"""

_FITTED = """\
joint_ : JointDistribution
    The estimated distribution of S and X.
channel_ : Channel
    The randomised mapping P(Y|X), exactly as it is sampled.
notion_ : Notion
    The privacy notion with its budget.
report_ : PrivacyReport
    Leakage and utility before and after, against the budget.
guarantee_ : Guarantee
    What is promised and what the promise rests on.
result_ : MechanismResult
    What the mechanism returned, with all of the above.
counted_ : CountedRows
    The rows that it was fitted to, counted; other sanitisers can be fitted to them.
layout_ : Layout
    Which columns are sensitive, useful and neither.
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
    "shell": _SMOOTHING + _CONFIDENCE + _OUTPUT + _REMAINDER + _UNKNOWN + _RANDOM,
    "known shell": _SMOOTHING + _OUTPUT + _REMAINDER + _RANDOM,
    "rest": _REMAINDER + _UNKNOWN + _RANDOM,
    "fitted": _FITTED,
}


def documented(cls: T) -> T:
    """Fill the placeholders ``<columns>``, ``<budget>``, ... of a class's docstring."""
    text = dedent("    " + (cls.__doc__ or ""))
    for name, part in _TEXTS.items():
        text = text.replace(f"<{name}>\n", part)
    cls.__doc__ = indent(text, "    ").lstrip()
    return cls
