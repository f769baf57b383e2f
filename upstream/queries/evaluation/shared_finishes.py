"""The finishes of several queries over one merged window, in one statement.

A statement costs much more than a column of one. If it fails, because one finish does, each query
runs its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from ...database.failure import DatabaseError
from ..rewriting.shared_finish import MERGED, shared_finish
from ..sql.lending import prepare

if TYPE_CHECKING:
    from ...database.duck import Duck
    from ...database.prepared import Prepared
    from ..rewriting.shared_finish import FinishInCommon
    from .shared_leaf import OwnLeaf

Finished = Mapping["OwnLeaf", pa.Table]
"""The results of queries, as far as they were computed together."""


class SharedFinishes:
    """Finishes merged windows for several queries."""

    __slots__ = ("_columns", "_duck", "_finishes", "_made_for", "_prepared")

    def __init__(self, duck: Duck) -> None:
        self._duck = duck
        self._finishes: dict[OwnLeaf, FinishInCommon] = {}
        self._made_for: Sequence[str] | None = None
        """The columns of the merged relation that the statement reads."""
        self._columns: Mapping[OwnLeaf, Sequence[str]] = {}
        self._prepared: Prepared | None = None

    def add(self, leaf: OwnLeaf, finish: FinishInCommon) -> None:
        """Add the finish of a query."""
        self._release()
        self._finishes = {**self._finishes, leaf: finish}

    def remove(self, leaf: OwnLeaf) -> None:
        """Remove the finish of a query, if it was added."""
        if leaf in self._finishes:
            self._release()
            self._finishes = {each: f for each, f in self._finishes.items() if each is not leaf}

    def of(self, merged: pa.Table) -> Finished:
        """Return the results for a merged window, by query."""
        if len(self._finishes) < 2:
            return {}
        try:
            found = self._statement(merged).run(**{MERGED: merged})
        except DatabaseError:
            return {}
        return {
            leaf: leaf.with_rows(found.select(names), found.column(rows))
            for leaf, (rows, *names) in self._columns.items()
        }

    def close(self) -> None:
        """Release its statement in DuckDB."""
        self._release()

    def _statement(self, merged: pa.Table) -> Prepared:
        if self._prepared is None or self._made_for != merged.schema.names:
            self._release()
            leaves = [*self._finishes]
            columns = [leaf.columns_in(merged) for leaf in leaves]
            made = shared_finish([*zip(self._finishes.values(), columns, strict=True)])
            self._columns = dict(zip(leaves, made.columns, strict=True))
            self._prepared = prepare(self._duck, made.query, {MERGED: merged.schema})
            self._made_for = merged.schema.names
        return self._prepared

    def _release(self) -> None:
        prepared, self._prepared = self._prepared, None
        if prepared is not None:
            prepared.close()
