"""Release rows that are not in memory: streams, which are read once, and lazy frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..exceptions import InvalidParameterError
from ..frames import LazyTable
from ..secret import Secret, SecretLike
from ._release import Release

__all__ = ["KeyedRelease", "released_lazily"]


@dataclass(frozen=True, kw_only=True, repr=False)
class KeyedRelease:
    """Releases parts of a table, wherever they are: the same rows always in the same way.

    This is all that a process needs that only draws. It holds no counts of S, and the key only if
    it is in no file or variable, where every process reads it.

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
    """

    release: Release
    key: SecretLike
    output: str
    rest: tuple[int, ...]

    def __call__(self, part: Any) -> Any:
        """Release the rows of a data frame or pyarrow table, as a table of the same kind."""
        release = self.release
        table = release.table(part, rest=bool(self.rest))
        drawn = release.sample_keyed(table, release.codes(table), Secret.read(self.key))
        return table.build(release.columns(table, drawn, self.output, self.rest))

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
    keyed = KeyedRelease(release=release, key=key, output=output, rest=rest)
    # All are there, but an id may be the index of a frame of Dask.
    names = [name for name in keyed.names if name in (table.names or ())]
    return lazy.mapped(names, keyed, keep_index=keep_index)
