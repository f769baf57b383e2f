"""The finish of a query: from the merged relations of its leaves to the result.

Often a batch changes nothing that the result is made from, such as the ten greatest of a million
groups. The last result is then returned again, as long as it was made from few rows, which are kept
to be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import pyarrow as pa

from ...database.failure import DatabaseError
from ...database.wide_integers import labelled, with_wide_integers
from ...rows.arrow_data import empty_table
from ..results.error_text import error_text
from ..rewriting.explain import state_names
from ..rewriting.merged_relation import cast_to_int128
from ..rewriting.relations import PARTIALS, Merged, finish_over
from ..sql.lending import prepare

if TYPE_CHECKING:
    from ...database.duck import Duck
    from ...database.prepared import Prepared
    from ..rewriting.split_query import SplitQuery
    from ..sql.trees import Query
    from .finish_tables import FinishTables


class Merging(Protocol):
    """What a finish has to know about a leaf."""

    @property
    def schema(self) -> pa.Schema:
        """The schema of its merged relation."""

    @property
    def merge_query(self) -> Query | None:
        """The query that merges its relation, if the finish has to do that."""


class Finishing(Protocol):
    """What makes results of merged relations, or of rows."""

    def run(self, merged: Sequence[pa.Table], bounds: Mapping[str, pa.Table]) -> pa.Table:
        """Compute a result from the relations of the leaves."""

    def in_full(self, tables: Mapping[str, pa.Table]) -> pa.Table:
        """Compute a result from rows, and from the bounds that the query reads."""

    def failed(self, failure: DatabaseError) -> tuple[pa.Table, str]:
        """Return no rows, and the reason in the words of the query."""

    def over_no_rows(self, bounds: Mapping[str, pa.Table]) -> tuple[pa.Table, str | None]:
        """Return the result of the query over no rows, or the reason why it fails."""

    def close(self) -> None:
        """Release its statements and relations in DuckDB."""


_FEW: Final = 4_096
"""Up to this many merged rows are compared with those of the last result."""


class _Last(NamedTuple):
    """The last result, and what it was made from."""

    version: object
    merged: Sequence[pa.Table]
    result: pa.Table


class Finish:
    """Runs the finish, or skips it where it would only rename columns.

    If there are no partials, the query runs as the user wrote it. `version` returns something that
    is different after anything else has changed that the finish reads, or is set by; without it,
    the finish always runs. With `tables`, it reads these in place of what they are made of.
    """

    __slots__ = (
        "_direct",
        "_direct_of_row",
        "_finish",
        "_last",
        "_lent",
        "_names",
        "_over_tables",
        "_state_names",
        "_tables",
        "_version",
        "schema",
        "whole",
    )

    def __init__(
        self,
        split: SplitQuery,
        leaves: Sequence[Merging],
        schema: pa.Schema,
        duck: Duck,
        *,
        chunks: Mapping[str, pa.Schema],
        bounds: Mapping[str, pa.Schema],
        version: Callable[[], object] | None = None,
        tables: FinishTables | None = None,
    ) -> None:
        self.schema = schema
        """The schema of results."""
        self.whole = prepare(duck, split.whole, {**chunks, **bounds})
        """The unchanged query, over chunks of rows."""
        self._names = [f"{PARTIALS}_{i}" for i in range(len(leaves))]
        is_merged = all(leaf.merge_query is None for leaf in leaves)
        self._state_names = state_names(split)
        self._direct = _columns_in(split.direct if is_merged else None)
        is_one = is_merged and len(leaves) == 1
        self._direct_of_row = _columns_in(split.direct_of_row if is_one else None)
        merges = {
            relation.relation: Merged(name, leaf.merge_query)
            for relation, leaf, name in zip(split.leaves, leaves, self._names, strict=True)
        }
        can_compare = all(_tells_values_apart(each.type) for leaf in leaves for each in leaf.schema)
        self._version = version if can_compare else None
        self._last: _Last | None = None
        wide = cast_to_int128(split.finish)
        if tables is not None:
            wide &= cast_to_int128(tables.query)
        self._lent = {
            name: with_wide_integers(leaf.schema, wide) if leaf.merge_query is None else leaf.schema
            for name, leaf in zip(self._names, leaves, strict=True)
        }
        self._finish = prepare(duck, finish_over(merges, split.finish), {**self._lent, **bounds})
        self._tables = tables
        self._over_tables: Prepared | None = None
        if tables is not None:
            self._over_tables = prepare(duck, finish_over(merges, tables.query), self._lent)

    def run(self, merged: Sequence[pa.Table], bounds: Mapping[str, pa.Table]) -> pa.Table:
        """Compute a result from the relations of the leaves."""
        direct = self._direct_columns(merged)
        if direct is not None:
            result = merged[0].select(direct).rename_columns(self.schema.names)
        else:
            result = self._run_again_if_changed(merged, bounds)
        return result if result.schema.equals(self.schema) else result.cast(self.schema)

    def _direct_columns(self, merged: Sequence[pa.Table]) -> list[str] | None:
        """Return the merged columns that are the result, or None if the finish does more."""
        of_row = self._direct_of_row
        if of_row is None or merged[0].num_rows != 1:
            return self._direct
        has_null = any(merged[0].column(name).null_count for name in of_row)
        return self._direct if has_null else of_row

    def _run_again_if_changed(
        self, merged: Sequence[pa.Table], bounds: Mapping[str, pa.Table]
    ) -> pa.Table:
        if self._version is None or sum(each.num_rows for each in merged) > _FEW:
            self._last = None
            return self._run(merged, bounds)
        version, last = self._version(), self._last
        if last is None or last.version != version or list(last.merged) != list(merged):
            last = self._last = _Last(version, merged, self._run(merged, bounds))
        return last.result

    def _run(self, merged: Sequence[pa.Table], bounds: Mapping[str, pa.Table]) -> pa.Table:
        held = zip(self._lent.items(), merged, strict=True)
        lent = {name: labelled(table, schema) for (name, schema), table in held}
        if self._tables is not None and self._over_tables is not None and self._tables.are_made():
            with suppress(DatabaseError):  # the finish itself says what fails, if it does
                return self._over_tables.run(**lent)
        return self._finish.run(**lent, **bounds)

    def named(self, result: pa.Table) -> pa.Table:
        """Return a result, whose columns have other names, as one of this query."""
        named = result.rename_columns(self.schema.names)
        return named if named.schema.equals(self.schema) else named.cast(self.schema)

    def in_full(self, tables: Mapping[str, pa.Table]) -> pa.Table:
        """Compute a result from rows, and from the bounds that the query reads."""
        return self.whole.run(**tables)

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
        return self.attempt(lambda: self.in_full(bounds))

    def close(self) -> None:
        """Release its statements and relations in DuckDB."""
        self.whole.close()
        self._finish.close()
        if self._tables is not None and self._over_tables is not None:
            self._over_tables.close()
            self._tables.close()


def _columns_in(renames: Sequence[tuple[str, str]] | None) -> list[str] | None:
    return None if renames is None else [column for _, column in renames]


def _tells_values_apart(type_: pa.DataType) -> bool:
    """Tell whether values of a type that Arrow finds equal are the same; 0.0 and -0.0 are not."""
    types = pa.types
    return bool(
        types.is_integer(type_)
        or types.is_decimal(type_)
        or types.is_boolean(type_)
        or types.is_string(type_)
        or (types.is_temporal(type_) and not types.is_interval(type_))
    )
