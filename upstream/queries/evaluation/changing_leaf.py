"""Leaves of a view over rows that come and go, such as the newest row of each key.

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
from ..partials.dense_window import can_be_dense
from ..partials.grouped_state import CountColumns, GroupedState, subtracts
from ..partials.running_merge import RelationalMerge
from ..rewriting.changing import changing
from ..sql.lending import prepare

if TYPE_CHECKING:
    from ...database.duck import Duck
    from ..chunks.cutter import Piece
    from ..chunks.windows import Span
    from ..results.failing_rows import FailedRows
    from ..rewriting.changing import ChangingLeaf
    from ..rewriting.split_query import Leaf
    from .increments import Take

Version = Callable[[], object]
"""Returns something that is different after rows or tables have changed."""


class _LeafWithoutInput:
    """What leaves have in common that read no log themselves."""

    __slots__ = ()
    keeps_rows = False

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
        """Do nothing, since nothing waits."""

    def advance(self, spans: Sequence[Span]) -> None:
        """Do nothing, since there are no windows."""

    def forget(self, before: Sequence[int]) -> None:
        """Do nothing, since no chunk is kept."""


class PresentLeaf(_LeafWithoutInput):
    """A leaf that is evaluated over the present rows, when they have changed.

    `rows` returns the present rows of each chunk by its name.
    """

    __slots__ = ("_known", "_partial", "_rows", "_version", "schema")

    def __init__(
        self,
        leaf: Leaf,
        schemas: Mapping[str, pa.Schema],
        duck: Duck,
        *,
        rows: Mapping[str, Callable[[], pa.Table]],
        version: Version,
    ) -> None:
        self._partial = prepare(duck, leaf.partial, schemas)
        self.schema = self._partial.schema
        self._rows = rows
        self._version = version
        self._known: tuple[object, pa.Table] | None = None

    def merged(self, spans: Sequence[Span]) -> pa.Table:
        """Return the leaf over the present rows."""
        version = self._version()
        if self._known is None or self._known[0] != version:
            rows = {name: present() for name, present in self._rows.items()}
            self._known = version, self._partial.run(**rows)
        return self._known[1]

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


def changeable(leaf: Leaf) -> ChangingLeaf | None:
    """Return a leaf that can follow rows that come and go, or None if this one cannot."""
    schema = leaf.schema
    if leaf.groups is None or schema is None or not can_be_dense(leaf.groups, leaf.states, schema):
        return None
    return changing(leaf) if all(subtracts(state, schema) for state in leaf.states) else None


class ChangeableLeaf(_LeafWithoutInput):
    """A leaf whose state follows the rows that come and go.

    If the state cannot follow exactly (a value is too large, or a statement fails), it is left out,
    and is built again from the present rows when it is read next. `version` is that of the tables
    that the leaf reads: when they change, all rows meet other ones.
    """

    __slots__ = (
        "_built",
        "_groups",
        "_merge",
        "_new_state",
        "_partial",
        "_present",
        "_relation",
        "_state",
        "_version",
        "schema",
    )

    def __init__(
        self,
        made: ChangingLeaf,
        input_schema: pa.Schema,
        duck: Duck,
        *,
        present: Callable[[], pa.Table],
        version: Version,
    ) -> None:
        leaf = made.leaf
        groups, schema = leaf.groups, leaf.schema
        assert groups is not None
        assert schema is not None
        self.schema = schema
        self._relation = f"chunk_{leaf.windows[0]}"
        self._partial = prepare(duck, leaf.partial, {self._relation: input_schema})
        self._merge = RelationalMerge(groups, leaf.states, self._partial.schema, duck)
        counted = CountColumns(made.rows, made.values)
        own = leaf.states[: len(leaf.states) - 1 - len(made.values)]

        def new_state() -> GroupedState:
            return GroupedState(groups, own, schema, counted)

        self._new_state = new_state
        self._groups = len(groups)
        self._present = present
        self._version = version
        self._built: object = None
        self._state: GroupedState | None = None

    def follow(self, added: pa.Table, removed: pa.Table) -> Take:
        """Compute what rows that came and went change; the returned function applies it."""
        state = self._state
        change = None
        if state is not None and self._built == self._version():
            try:
                change = state.update(self._difference(added, removed))
            except DatabaseError:
                change = None  # the next reader gets the error

        def take() -> None:
            if change is None:
                self._state = None
            else:
                change.apply()

        return take

    def merged(self, spans: Sequence[Span]) -> pa.Table:
        """Return the state, which is built from the present rows if there is none."""
        version = self._version()
        if self._state is None or self._built != version:
            table = self._run(self._present())
            state = self._new_state()
            change = state.update(table)
            if change is None:
                return table.select(self.schema.names)
            change.apply()
            self._state, self._built = state, version
        return self._state.table()

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
        return self._merge([self._run(added), less]) if added.num_rows else less


def _negated(partial: pa.Table, groups: int) -> pa.Table:
    """Return a partial with the signs of its states changed; its groups are in front."""
    columns = [
        column if i < groups else pc.negate(column).cast(column.type)
        for i, column in enumerate(partial.columns)
    ]
    return pa.Table.from_arrays(columns, schema=partial.schema)
