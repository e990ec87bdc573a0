"""A sanitiser that was loaded from a file: it releases, and cannot be fitted."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import NotFittedError

from ..cells import Cells
from ..channel import Channel
from ..distribution import JointDistribution
from ..estimators import (
    CountedRows,
    Guarantee,
    Layout,
    Release,
    ReleasingShell,
    check_keys,
    parameters,
    validate,
)
from ..exceptions import InvalidParameterError
from ..mechanisms import MechanismResult
from ..notions import Notion
from ..report import PrivacyReport
from ..sampling import RandomState
from ..secret import SecretLike

__all__ = ["LoadedSanitizer"]


class LoadedState:
    """Attributes of a loaded sanitiser."""

    layout_: Layout
    cells_: Cells
    channel_: Channel | None
    conditional_channel_: Channel
    notion_: Notion
    report_: PrivacyReport
    joint_: JointDistribution
    counted_: CountedRows
    result_: MechanismResult
    n_features_in_: int
    feature_names_in_: np.ndarray
    _guarantee: Guarantee
    _mechanism: dict[str, Any]


@parameters
class LoadedSanitizer(LoadedState, ReleasingShell):
    """A mechanism from a file: it releases rows like the sanitiser that was saved.

    Returned by :func:`skliftpriv.load`. It is a transformer of scikit-learn, so it can stand in a
    pipeline before a model, but its mechanism is fixed: ``fit`` learns nothing, as with
    :class:`sklearn.frozen.FrozenEstimator`, and a clone releases by the same mechanism.

    .. versionadded:: 0.2

    Parameters
    ----------
    output : str, default="label"
        What is released, as with the sanitiser that was saved: "label", "code", "posterior" or
        "typical"; for unary encoding "bits", "label" or "posterior".
    index : {"keep", "drop"}, default="keep"
        What to do with the index of a pandas frame, which is released like a column.
    random_state : int, RandomState, Generator or None, default=None
        None draws from the operating system's cryptographic generator. A file never holds a seed;
        one that is set here makes the release repeatable and not private.
    secret : bytes, str, path or None, default=None
        Key of the noise, if the sanitiser had ``record_id`` or ``groups``, as for
        :class:`~skliftpriv.ORRSanitizer`. A file never holds it: with the secret of the sanitiser
        that was saved, records have the same outputs here as there.

    Attributes
    ----------
    release_ : Release
        What is needed to release rows.
    layout_ : Layout
        Which columns are sensitive, useful or neither.
    channel_ : Channel or None
        P(Y|X), exactly as it is sampled; None for unary encoding of more than 12 values.
    conditional_channel_ : Channel
        P(Y|S,X), if the mechanism sees S.
    notion_ : Notion
        The privacy notion with its budget.
    report_ : PrivacyReport
        Leakage and utility before and after, against the budget.
    guarantee_ : Guarantee
        What is guaranteed, and under which assumptions.
    cells_ : Cells
        With cells: what the useful columns are reduced to.
    n_sensitive_ : int
        Number of sensitive values.
    joint_, counted_, result_ : JointDistribution, CountedRows and MechanismResult
        Only if the file holds the joint distribution. The mechanism was then certified again when
        it was loaded.
    n_features_in_ : int
        Number of columns seen at ``fit``.
    feature_names_in_ : ndarray of str
        Their names, if they had names.

    Examples
    --------
    >>> import skliftpriv
    >>> from skliftpriv.datasets import load_adult
    >>> adult = load_adult()[["relationship", "occupation"]]
    >>> sanitizer = skliftpriv.SubsetMergingSanitizer("relationship", "occupation", epsilon=0.5)
    >>> skliftpriv.save(sanitizer.fit(adult), "occupation.json")
    >>> loaded = skliftpriv.load("occupation.json")
    >>> loaded
    LoadedSanitizer(SubsetMergingSanitizer: occupation released, 0.5-LIP of relationship)
    >>> loaded.transform(adult[["occupation"]]).equals(sanitizer.transform(adult))
    True
    """

    output: str = "label"
    index: str = "keep"
    random_state: RandomState = None
    secret: SecretLike | None = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "output": [str],
        "index": [str],
        "random_state": ["random_state", np.random.Generator],
        "secret": "no_validation",  # no message may show it
    }
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"sensitive_features": True}

    @classmethod
    def of(
        cls, release: Release, guarantee: Guarantee, mechanism: dict[str, Any], **fitted: Any
    ) -> Self:
        """Make a sanitiser of what a file holds.

        Parameters
        ----------
        release : Release
            What is needed to release rows.
        guarantee : Guarantee
            For secret randomness, without a key.
        mechanism : dict
            What the file says about how the sanitiser was made.
        **fitted
            Further attributes.
        """
        loaded = cls(output=mechanism["output"], index=mechanism["index"])
        layout = release.layout
        loaded.__dict__.update(
            release_=release,
            layout_=layout,
            n_features_in_=len(layout.names),
            n_sensitive_=mechanism["n_sensitive"],
            **layout.feature_names,
            **mechanism["facts"],
            **fitted,
            _guarantee=guarantee,
            _mechanism=mechanism,
        )
        return loaded

    def _check_ready(self) -> None:
        if not hasattr(self, "release_"):
            raise NotFittedError(
                "This LoadedSanitizer has no mechanism: get one by skliftpriv.load(path)."
            )
        validate(self)
        check_keys(self.secret, self.random_state, records=self.release_.records is not None)
        forms = {"output": self.release_.releaser.forms, "index": ("keep", "drop")}
        for name, options in forms.items():
            if getattr(self, name) not in options:
                raise InvalidParameterError(
                    f"The {name!r} parameter of LoadedSanitizer must be a str among "
                    f"{', '.join(map(repr, options))}. Got {getattr(self, name)!r} instead."
                )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "release_")

    def __sklearn_clone__(self) -> Self:
        # A clone without the mechanism would be of no use, and cannot be fitted.
        return copy(self)

    @property
    def remainder(self) -> str:  # type: ignore[override]  # fixed by the file
        """What is done with columns that are neither sensitive nor useful, as in the file."""
        return str(self._mechanism["remainder"])

    @property
    def needs_sensitive(self) -> bool:
        """Whether the mechanism needs S at ``transform``."""
        return self.release_.encoder.sees_sensitive

    @property
    def guarantee_(self) -> Guarantee:  # type: ignore[override]  # depends on random_state
        """What is guaranteed, and under which assumptions."""
        known = self._guarantee
        secret = self.random_state is None or not known.randomized
        keyed = self.secret is not None and known.record_id is not None
        return replace(known, secret_randomness=secret, keyed=keyed)

    def fitted_parameters(self) -> dict[str, Any]:
        """Return the parameters that the mechanism was fitted with.

        Returns
        -------
        dict
            Numbers and text as they were; classes and estimators by their names.
        """
        self._check_ready()
        known = {**self._mechanism["parameters"]}
        known |= {"random_state": self.random_state, "index": self.index}
        if "record_id" in known:  # not all sanitisers have keyed releases
            known["secret"] = self.secret
        return dict(sorted(known.items()))

    def fit(self, X: Any = None, y: Any = None, *, sensitive_features: Any = None) -> Self:
        """Do nothing: the mechanism is that of the file.

        Parameters
        ----------
        X, y, sensitive_features
            Ignored.

        Returns
        -------
        self
        """
        self._check_ready()
        return self

    def fit_transform(self, X: Any, y: Any = None, *, sensitive_features: Any = None) -> Any:
        """Release rows by the mechanism of the file; see :meth:`transform`."""
        return self.transform(X, sensitive_features=sensitive_features)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        if not self.__sklearn_is_fitted__():
            return f"{type(self).__name__}()"
        guarantee = self._guarantee
        text = (
            f"{type(self).__name__}({self.release_.who}: {guarantee.released} released, "
            f"{guarantee.notion} of {guarantee.sensitive})"
        )
        return text if len(text) <= N_CHAR_MAX else f"{text[: N_CHAR_MAX - 4]}...)"
