"""What is needed to release rows, and nothing else: no counts of S."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np

from ..exceptions import InvalidParameterError
from ..frames import Table
from ..labels import identity_text
from ..sampling import RandomState
from ..secret import Secret
from ._layout import Layout
from ._records import RecordColumn
from ._releaser import Releaser
from ._row_encoder import RowEncoder

__all__ = ["Release", "advice_on_unknown", "instead_of_seeing"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Release:
    """What a mechanism needs to release rows: labels, cells, integer weights, names of columns.

    It holds the labels of S only if the mechanism looks at S, and no counts of S, so that it can
    be pickled and sent to processes that only draw. It draws and writes; warnings, the guarantee
    and checks of parameters are up to the sanitiser.

    .. versionadded:: 0.2

    Attributes
    ----------
    who : str
        Name of the sanitiser, for messages.
    layout : Layout
        Which columns are sensitive, useful or neither.
    encoder : RowEncoder
        Turns rows into codes of the inputs of the mechanism.
    releaser : Releaser
        Draws outputs for the codes, and writes them as columns.
    advice : str or None
        End of the error for values not seen at fit; None if they are resampled.
    blind : str
        What to do instead, if the mechanism looks at S and S is not at hand.
    records : RecordColumn or None
        Where the ids of the records are, if they decide the noise.
    """

    who: str
    layout: Layout
    encoder: RowEncoder
    releaser: Releaser
    advice: str | None
    blind: str = ""
    records: RecordColumn | None = None

    def table(self, X: Any, sensitive_features: Any = None, *, rest: bool = False) -> Table:
        """Read and check a table of rows to release.

        Parameters
        ----------
        X : table
            The rows.
        sensitive_features : array-like, optional
            S of the rows, for a mechanism that looks at it.
        rest : bool, default=False
            Whether the columns that are neither sensitive nor useful are needed.
        """
        table = Table(X, allow_empty=True)
        needed = self.encoder.sees_sensitive and sensitive_features is None
        if needed:
            self._check_sees(table)
        self.layout.check(table, self.who, sensitive=needed, rest=rest)
        return table

    def _check_sees(self, table: Table) -> None:
        """Refuse a table without S, which the mechanism looks at."""
        layout = self.layout
        lacks = "S is not a column of X: "
        if layout.sensitive:
            missing = layout.missing(table, layout.sensitive)
            # If useful columns are missing as well, layout.check lists all in scikit-learn's words.
            if not missing or layout.missing(table, layout.useful):
                return
            lacks = f"X lacks {', '.join(map(repr, missing))}: pass a table that has it, or "
        raise InvalidParameterError(
            f"{self.who} looks at the sensitive values of the rows that it releases, but {lacks}"
            f"pass sensitive_features=. If they are not at hand, {self.blind}."
        )

    def codes(self, table: Table, sensitive_features: Any = None) -> np.ndarray:
        """Encode rows as numbers of the inputs; -1 for values not seen at fit."""
        return self.encoder.codes(table, sensitive_features, refuse=self.advice)

    def sample(self, codes: np.ndarray, random_state: RandomState = None) -> np.ndarray:
        """Draw an output for every code."""
        return self.releaser.sample(codes, random_state)

    def sample_keyed(
        self, table: Table, codes: np.ndarray, secret: Secret, *, first_row: int = 0
    ) -> np.ndarray:
        """Choose an output for every code, by the id of its record and a secret.

        Parameters
        ----------
        table : Table
            The rows, with the ids.
        codes : ndarray of int
            What :meth:`codes` returns for them.
        secret : Secret
            With the same secret, the same record and input have the same output, in any process
            and any kind of table.
        first_row : int, default=0
            Number of the first row in messages, for a part of a table.
        """
        if self.records is None:
            raise InvalidParameterError("There are no ids of records: fit with record_id=.")
        bits = self.records.bits(table, self.layout, codes, first_row=first_row)

        def of_purpose(*purpose: bytes) -> np.ndarray:
            return bits(secret.derive(b"release", self.fingerprint, *purpose))

        return self.releaser.sample_by(codes, of_purpose)

    def mark(self, secret: Secret) -> bytes:
        """Return bytes that tell a secret from others; the secret cannot be found from them."""
        return bytes(secret.derive(b"mark", self.fingerprint))

    @cached_property
    def fingerprint(self) -> bytes:
        """Digest of the mechanism: its columns, the values of its inputs, and what is sampled.

        Mechanisms with different fingerprints have unrelated noise under the same secret.
        """
        digest = blake2b(digest_size=32)
        encoder = self.encoder
        for labels in (self.layout.useful_names, encoder.useful, encoder.sensitive or ()):
            texts = [identity_text(label).encode(errors="surrogatepass") for label in labels]
            for part in (str(len(texts)).encode(), *texts):
                digest.update(len(part).to_bytes(8, "big"))
                digest.update(part)
        digest.update(self.releaser.fingerprint)
        return digest.digest()

    def columns(
        self, table: Table, drawn: np.ndarray, output: str, rest: Sequence[int] = ()
    ) -> dict[str, Any]:
        """Write what was drawn as named columns, followed by the columns ``rest`` of the table."""
        return self.releaser.columns(table, drawn, output, rest)

    def __repr__(self) -> str:
        names = ", ".join(self.layout.useful_names)
        return f"Release({names} by {self.who})"


def advice_on_unknown(handle_unknown: str | None) -> str | None:
    """Say what to do with values not seen at fit; None if they are resampled.

    Parameters
    ----------
    handle_unknown : {"error", "resample"} or None
        The parameter of the sanitiser, None for one without it.
    """
    if handle_unknown == "resample":
        return None
    if handle_unknown is None:
        return "Fit on data that contains them."
    return (
        "Fit on data that contains them, or use handle_unknown='resample' to replace them by a "
        "draw from the distribution of the output."
    )


def instead_of_seeing(parameters: Collection[str]) -> str:
    """Say what to do where S is not at hand, given the names of the parameters of a sanitiser."""
    if "use_sensitive" in parameters:
        return "fit with use_sensitive=False"
    return "fit a sanitiser that does not, such as ORRSanitizer"
