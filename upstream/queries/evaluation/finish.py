"""The finish of a query: from the merged relations of its leaves to the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ...database.failure import DatabaseError
from ...database.wide_integers import labelled, with_wide_integers
from ...rows.arrow_data import empty_table
from ..results.error_text import error_text
from ..rewriting.explain import state_names
from ..rewriting.merged_relation import cast_to_int128
from ..rewriting.relations import PARTIALS, Merged, finish_over
from ..sql.lending import prepare

if TYPE_CHECKING:
    import pyarrow as pa

    from ...database.duck import Duck
    from ..rewriting.split_query import SplitQuery
    from .increments import Leaf


class Finish:
    """Runs the finish, or skips it where it would only rename columns.

    If there are no partials, the query runs as the user wrote it.
    """

    __slots__ = ("_direct", "_finish", "_lent", "_names", "_state_names", "schema", "whole")

    def __init__(
        self,
        split: SplitQuery,
        leaves: Sequence[Leaf],
        schema: pa.Schema,
        duck: Duck,
        *,
        chunks: Mapping[str, pa.Schema],
        bounds: Mapping[str, pa.Schema],
    ) -> None:
        self.schema = schema
        """The schema of results."""
        self.whole = prepare(duck, split.whole, {**chunks, **bounds})
        """The unchanged query, over chunks of rows."""
        self._names = [f"{PARTIALS}_{i}" for i in range(len(leaves))]
        is_merged = all(leaf.merge_query is None for leaf in leaves)
        self._state_names = state_names(split)
        self._direct = None
        if split.direct is not None and is_merged:
            self._direct = [column for _, column in split.direct]
        merges = {
            relation.relation: Merged(name, leaf.merge_query)
            for relation, leaf, name in zip(split.leaves, leaves, self._names, strict=True)
        }
        wide = cast_to_int128(split.finish)
        self._lent = {
            name: with_wide_integers(leaf.schema, wide) if leaf.merge_query is None else leaf.schema
            for name, leaf in zip(self._names, leaves, strict=True)
        }
        self._finish = prepare(duck, finish_over(merges, split.finish), {**self._lent, **bounds})

    def run(self, merged: Sequence[pa.Table], bounds: Mapping[str, pa.Table]) -> pa.Table:
        """Compute a result from the relations of the leaves."""
        if self._direct is not None:
            result = merged[0].select(self._direct).rename_columns(self.schema.names)
        else:
            lent = zip(self._lent.items(), merged, strict=True)
            tables = {name: labelled(table, schema) for (name, schema), table in lent}
            result = self._finish.run(**tables, **bounds)
        return result if result.schema.equals(self.schema) else result.cast(self.schema)

    def bind_anew(self) -> None:
        """Let DuckDB bind the finish again, because it binds the names of files only once."""
        self._finish.close()

    def attempt(self, run: Callable[[], pa.Table]) -> tuple[pa.Table, str | None]:
        """Return a result or, if that fails, no rows and the reason."""
        try:
            return run(), None
        except DatabaseError as failure:
            return self.failed(failure)

    def failed(self, failure: DatabaseError) -> tuple[pa.Table, str]:
        """Return no rows, and the reason in the words of the query."""
        return empty_table(self.schema), error_text(failure, self._state_names)

    def over_no_rows(self, bounds: Mapping[str, pa.Table]) -> tuple[pa.Table, str | None]:
        """Return the result of the query over no rows, or the reason why it fails."""
        return self.attempt(lambda: self.whole.run(**bounds))

    def close(self) -> None:
        """Release its statements and relations in DuckDB."""
        self.whole.close()
        self._finish.close()
