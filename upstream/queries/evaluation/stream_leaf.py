"""A leaf of a view over all rows of a stream, and the tables of static parts that it reads.

Two leaves are the same if they run the same statements, over static parts with the same rows, and
no statement that may have changed tables has run between their planning. The rows are compared as
well, because the same text may read other rows later without any statement: of a file, for example.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...database.failure import DatabaseError
from ..rewriting.relations import renamed_tables, tables_in
from ..rewriting.static_parts import as_table, have_same_rows, with_static_parts
from ..rewriting.trial import Trial
from ..sql.dialect import DIALECT
from ..sql.functions import functions_of
from ..sql.lending import prepare, run_once
from ..sql.source_text import words_of
from .increments import ChunkLeaf
from .signed_leaf import SignedLeaf

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from ...database.duck import Duck
    from ..rewriting.split_query import Leaf
    from ..rewriting.static_parts import StaticPart
    from ..sql.trees import Query

_INPUT = "chunk_0"


class PartTables:
    """Makes tables of the static parts of a leaf, and drops them."""

    __slots__ = ("_duck", "made")

    def __init__(self, duck: Duck) -> None:
        self._duck = duck
        self.made: list[StaticPart] = []

    def make(self, part: StaticPart) -> None:
        """Make the table of a part."""
        self.made.append(part)  # even if it is not computed to the end
        with closing(prepare(self._duck, as_table(part), {})) as statement:
            statement.run()

    def count(self, query: Query) -> int:
        """Run a query, and return its only value."""
        count: int = run_once(self._duck, query, {}).column(0)[0].as_py()
        return count

    def drop(self) -> None:
        """Drop all tables."""
        while self.made:
            self._duck.drop_own_table(self.made[-1].name)
            self.made.pop()


class PlannedLeaf:
    """A leaf whose static parts were made, and which reads its stream as input 0."""

    __slots__ = ("_form", "_trial", "leaf", "parts")

    def __init__(
        self, leaf: Leaf, schema: pa.Schema, duck: Duck, parts: PartTables, *, tables_version: int
    ) -> None:
        """Compute what the leaf reads of tables; `schema` is that of the stream.

        `tables_version` is how many statements may have changed tables and functions so far.
        """
        self.parts = parts
        self._trial = Trial(duck, {_INPUT: schema})
        self.leaf = with_static_parts(_as_input_0(leaf), self._trial, duck.new_name, parts)
        names = [part.name for part in parts.made]
        self._form = schema, _form(self.leaf, names, duck, tables_version)

    def is_same(self, other: PlannedLeaf) -> bool:
        """Tell whether another leaf has the same partials of any rows, certainly."""
        if self._form[1] is None or self._form != other._form:
            return False
        pairs = zip(self.parts.made, other.parts.made, strict=True)
        try:
            return all(have_same_rows(*pair, self._trial, self.parts.count) for pair in pairs)
        except DatabaseError:  # such as for lack of memory
            return False


@dataclass(frozen=True, slots=True, eq=False)
class StreamLeaf:
    """A leaf with the merge of its partials."""

    planned: PlannedLeaf
    merge: ChunkLeaf

    @classmethod
    def of(
        cls, planned: PlannedLeaf, schema: pa.Schema, duck: Duck, sign: str | None = None
    ) -> StreamLeaf:
        """Begin to merge the partials of a leaf over rows of this schema.

        With a column of signs, rows are added or taken away.
        """
        if sign is not None:
            return cls(planned, SignedLeaf(planned.leaf, schema, duck, sign=sign))
        return cls(planned, ChunkLeaf(planned.leaf, schema, duck, cumulative=True))

    def close(self) -> None:
        """Release its statements in DuckDB, and drop the tables that they read."""
        self.merge.close()
        self.planned.parts.drop()


def _as_input_0(leaf: Leaf) -> Leaf:
    """Return a leaf over one stream as it would be if the view read no other stream."""
    names = {f"chunk_{number}": _INPUT for number in leaf.windows}
    return replace(
        leaf,
        windows=(0,),
        partial=renamed_tables(leaf.partial, names),
        partial_by_step=renamed_tables(leaf.partial_by_step, names),
    )


def _form(
    leaf: Leaf, parts: Sequence[str], duck: Duck, tables_version: int
) -> tuple[object, ...] | None:
    """Return what a leaf computes; its static parts have numbers in place of names.

    With static parts, or what the user has defined, the text has one meaning only as long as the
    tables version is the same. Without, the version does not matter. Return None if the text may
    have another meaning at any time.
    """
    query, functions = leaf.partial, functions_of(duck)
    if tables_in(query) - {_INPUT, *parts} or functions.volatile_in(query):
        return None
    names = {name: f"part_{number}" for number, name in enumerate(parts)}
    partial = renamed_tables(query, names).sql(DIALECT)
    is_fixed = not (parts or functions.own_in(query) or words_of(partial) & duck.own_types())
    version = None if is_fixed else tables_version
    states = [
        (state.kind, state.columns, [each.sql(DIALECT) for each in state.merge])
        for state in leaf.states
    ]
    keep = None if leaf.keep is None else leaf.keep.sql(DIALECT)
    return version, len(parts), partial, leaf.groups, states, keep, bool(leaf.reason)
