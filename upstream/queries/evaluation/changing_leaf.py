"""Leaves of a view over rows that are taken away again.

    rows added, rows removed -> partials, by DuckDB -> their difference -> grouped state

The cost of a change depends on the rows that changed. Where that is not possible, because a state
has no inverse or rows of several streams are joined, the partial is evaluated over the present rows
when the view is read: `PresentLeaf`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from ...database.failure import DatabaseError
from ..partials.grouped_state import CountColumns, GroupedState, subtracts
from ..partials.running_merge import RelationalMerge
from ..results.failing_rows import FailedRows
from ..rewriting.changing import changing
from ..sql.lending import prepare

if TYPE_CHECKING:
    from ...database.duck import Duck
    from ..chunks.cutter import Piece
    from ..chunks.windows import Span
    from ..rewriting.changing import ChangingLeaf
    from ..rewriting.split_query import Leaf, State
    from .increments import Take

Present = Callable[[], pa.Table]
"""Returns the rows that there are at the moment."""


class PresentLeaf:
    """A leaf that is evaluated over the present rows, when they have changed."""

    __slots__ = ("_known", "_partial", "_present", "_version", "keeps_rows", "schema")

    def __init__(
        self,
        leaf: Leaf,
        schemas: Mapping[str, pa.Schema],
        duck: Duck,
        *,
        present: Mapping[str, Present],
        version: Callable[[], object],
    ) -> None:
        self.keeps_rows = False
        self._partial = prepare(duck, leaf.partial, schemas)
        self.schema = self._partial.schema
        self._present = present
        self._version = version
        self._known: tuple[object, pa.Table] | None = None

    @property
    def merge_query(self) -> None:
        """None, since the table from `merged` is already merged."""
        return None

    def reads(self, number: int) -> bool:
        """Tell whether the leaf is fed from an input, which it is not."""
        return False

    def feed(self, number: int, pieces: Sequence[Piece], failed: FailedRows) -> Take:
        """Do nothing; this is never called, because no input is read."""
        return lambda: None

    def settle(self) -> None:
        """Do nothing, since the rows are read when they are needed."""

    def advance(self, spans: Sequence[Span]) -> None:
        """Do nothing, since there are no windows."""

    def merged(self, spans: Sequence[Span]) -> pa.Table:
        """Return the leaf over the present rows."""
        version = self._version()
        if self._known is None or self._known[0] != version:
            rows = {name: present() for name, present in self._present.items()}
            self._known = version, self._partial.run(**rows)
        return self._known[1]

    def forget(self, before: Sequence[int]) -> None:
        """Do nothing, since no chunk is kept."""

    @property
    def rows(self) -> int:
        """How many rows are held."""
        return 0 if self._known is None else self._known[1].num_rows

    def describe(self) -> str:
        """Describe how the leaf is merged."""
        return "evaluated over the rows that there are when the view is read"

    def close(self) -> None:
        """Release its statement in DuckDB."""
        self._partial.close()


class ChangeableLeaf:
    """A leaf whose state follows the rows that come and go.

    If the state cannot follow exactly (a value is too large, or a statement fails), it is left out,
    and the leaf is evaluated over the present rows until it can be built again.
    """

    __slots__ = (
        "_groups",
        "_merge",
        "_new_state",
        "_partial",
        "_present",
        "_relation",
        "_state",
        "keeps_rows",
        "schema",
    )

    def __init__(
        self,
        made: ChangingLeaf,
        schema: pa.Schema,
        input_schema: pa.Schema,
        duck: Duck,
        *,
        present: Present,
    ) -> None:
        self.keeps_rows = False
        self.schema = schema
        self._relation = f"chunk_{made.leaf.windows[0]}"
        self._partial = prepare(duck, made.leaf.partial, {self._relation: input_schema})
        groups, states = made.leaf.groups, made.leaf.states
        assert groups is not None
        self._merge = RelationalMerge(groups, states, self._partial.schema, duck)
        counted = CountColumns(made.rows, made.values)
        own = states[: len(states) - 1 - len(made.values)]
        self._new_state = lambda: GroupedState(groups, own, schema, counted)
        self._groups = len(groups)
        self._present = present
        self._state: GroupedState | None = None

    @property
    def merge_query(self) -> None:
        """None, since the table from `merged` is already merged."""
        return None

    def reads(self, number: int) -> bool:
        """Tell whether the leaf is fed from an input, which it is not: it follows changes."""
        return False

    def feed(self, number: int, pieces: Sequence[Piece], failed: FailedRows) -> Take:
        """Do nothing; this is never called, because no input is read."""
        return lambda: None

    def follow(self, added: pa.Table, removed: pa.Table) -> Take:
        """Compute what rows that came and went change; the returned function applies it."""
        state = self._state
        change = None
        if state is not None:
            try:
                change = state.update(self._difference(added, removed))
            except DatabaseError:  # the reader of the view gets the error
                change = None

        def take() -> None:
            if change is None:
                self._state = None
            else:
                change.apply()

        return take

    def settle(self) -> None:
        """Do nothing, since the state always follows at once."""

    def advance(self, spans: Sequence[Span]) -> None:
        """Do nothing, since there are no windows."""

    def merged(self, spans: Sequence[Span]) -> pa.Table:
        """Return the state, or the leaf over the present rows if there is none."""
        if self._state is None:
            table = self._run(self._present())
            state = self._new_state()
            change = state.update(table)
            if change is None:
                return table.select(self.schema.names)
            change.apply()
            self._state = state
        return self._state.table()

    def forget(self, before: Sequence[int]) -> None:
        """Do nothing, since no chunk is kept."""

    def rebuild(self) -> None:
        """Build the state from the present rows when it is needed next, as tables have changed."""
        self._state = None

    @property
    def rows(self) -> int:
        """How many rows are held."""
        return 0 if self._state is None else self._state.rows

    def describe(self) -> str:
        """Describe how the leaf is merged."""
        return "rows that come are added to their groups, and rows that go are subtracted"

    def close(self) -> None:
        """Release its statements in DuckDB."""
        self._partial.close()
        self._merge.close()

    def _run(self, rows: pa.Table) -> pa.Table:
        return self._partial.run(**{self._relation: rows})

    def _difference(self, added: pa.Table, removed: pa.Table) -> pa.Table:
        """Return the partial of rows that came less that of rows that went."""
        if not removed.num_rows:
            return self._run(added)
        less = _negated(self._run(removed), self._groups)
        return less if not added.num_rows else self._merge([self._run(added), less])


def _negated(partial: pa.Table, groups: int) -> pa.Table:
    """Return a partial with the signs of its states changed; its groups are in front."""
    columns = [
        column if i < groups else pc.negate(column).cast(column.type)
        for i, column in enumerate(partial.columns)
    ]
    return pa.Table.from_arrays(columns, schema=partial.schema)
