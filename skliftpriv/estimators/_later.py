"""Release rows that are not in memory: streams, which are read once, and lazy frames."""

from __future__ import annotations

from dataclasses import dataclass
from hmac import compare_digest
from typing import Any, Self

from ..exceptions import InvalidParameterError
from ..frames import LazyTable
from ..secret import Secret, SecretLike, hidden
from ._release import Release

__all__ = ["KeyedRelease", "released_lazily"]


@dataclass(frozen=True, kw_only=True, repr=False)
class KeyedRelease:
    """Releases parts of a table, wherever they are: the same rows always in the same way.

    This is all that a process needs that only draws. It holds no counts of S, and the key only if
    it is in no file or variable, where every process reads it. A process that finds another key
    there refuses to draw, since rows would have other values than elsewhere.

    .. versionadded:: 0.2

    Attributes
    ----------
    release : Release
        The mechanism.
    key : Secret, str or path
        Decides the noise, with the ids of the records; or where it is found.
    output : str
        The form of the output.
    rest : tuple of int
        Positions of the columns that are released unchanged.
    mark : bytes
        What :meth:`Release.mark` returns for the key, which cannot be found from it.
    """

    release: Release
    key: SecretLike
    output: str
    rest: tuple[int, ...]
    mark: bytes

    @classmethod
    def of(cls, release: Release, key: SecretLike, output: str, rest: tuple[int, ...]) -> Self:
        """Read the key, so that all processes have to find the same one."""
        mark = release.mark(Secret.read(key))
        return cls(release=release, key=key, output=output, rest=rest, mark=mark)

    def __call__(self, part: Any) -> Any:
        """Release the rows of a data frame or pyarrow table, as a table of the same kind."""
        release = self.release
        table = release.table(part, rest=bool(self.rest))
        drawn = release.sample_keyed(table, release.codes(table), self._secret())
        return table.build(release.columns(table, drawn, self.output, self.rest))

    def _secret(self) -> Secret:
        secret = Secret.read(self.key)
        if not compare_digest(self.release.mark(secret), self.mark):
            raise InvalidParameterError(
                f"The key in {hidden(self.key)} is not that of the call of transform, with which "
                "rows have other values: a second release. Give all processes the same file or "
                "variable, or pass secret=Secret.read(...), whose digest is sent to them. If the "
                "key was changed on purpose, call transform again."
            )
        return secret

    @property
    def names(self) -> list[str]:
        """The columns that are needed."""
        layout, records = self.release.layout, self.release.records
        sensitive = layout.sensitive if self.release.encoder.sees_sensitive else ()
        needed = [layout.names[i] for i in (*sensitive, *layout.useful, *self.rest)]
        ids = [] if records is None else [records.name]
        return list(dict.fromkeys([*needed, *ids]))


def released_lazily(
    lazy: LazyTable,
    release: Release,
    key: SecretLike | None,
    output: str,
    rest: tuple[int, ...],
    *,
    keep_index: bool = True,
) -> Any:
    """Release a lazy frame as a lazy frame, whose noise the ids of the records decide.

    Parameters
    ----------
    lazy : LazyTable
        The rows.
    release : Release
        The mechanism.
    key : Secret, str, path or None
        Decides the noise, with the ids, or where it is found; None if there are no ids.
    output, rest
        As in :class:`KeyedRelease`.
    keep_index : bool, default=True
        Whether a frame of Dask keeps its index.
    """
    table = release.table(lazy.empty, rest=bool(rest))
    if release.records is None or key is None:
        raise InvalidParameterError(
            "X is a lazy frame, which may be computed several times, each time with other noise: "
            "two releases of the same rows, which the budget does not cover. Collect it, or pass a "
            "pyarrow RecordBatchReader of its rows, which is read once; or, if the sanitiser has "
            "these parameters, fit with record_id= and secret=, so that each record has the same "
            "value every time."
        )
    release.records.column(table, release.layout)
    keyed = KeyedRelease.of(release, key, output, rest)
    # All are there, but an id may be the index of a frame of Dask.
    names = [name for name in keyed.names if name in (table.names or ())]
    return lazy.mapped(names, keyed, keep_index=keep_index)
