"""What leaves derive from rows that come and go: aggregates of groups, and first rows.

Rows have their numbers in the column `__step`. A state is built from the present rows, follows what
comes and goes, and reads again what it lacks when it is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from ..partials.grouped_state import CountColumns, GroupedState
from ..partials.running_merge import RelationalMerge
from ..sql.lending import prepare
from .row_states import RowStates

if TYPE_CHECKING:
    from ...database.duck import Duck
    from ..rewriting.changing import ChangingLeaf
    from ..rewriting.ranking import Ranking
    from .increments import Take

Present = Callable[[], pa.Table]
"""Returns the present rows with their numbers."""


class FollowedState(Protocol):
    """What a leaf derives from rows that come and go.

    After an exception it cannot be used until it is built again.
    """

    def build(self, rows: pa.Table) -> bool:
        """Begin with these rows; False if the state cannot hold what they give."""

    def change(self, added: pa.Table, removed: pa.Table) -> Take | None:
        """Compute what these rows change; None if the state cannot follow."""

    def complete(self, present: Present) -> None:
        """Read again what is missing."""

    def table(self) -> pa.Table:
        """Return the merged relation of the leaf."""

    @property
    def rows(self) -> int:
        """How many rows are held."""

    @property
    def groups_read_again(self) -> int:
        """How often a group was read again, because too few of its rows were left."""

    def describe(self) -> str:
        """Describe how changes are followed."""

    def close(self) -> None:
        """Release its statements in DuckDB."""

    def _check(self) -> None:
        """Assert every invariant."""


class FollowedGroups:
    """Aggregates of groups: what can be subtracted is, and the rest is made of single rows."""

    __slots__ = (
        "_groups",
        "_input",
        "_merge",
        "_new_state",
        "_of_rows",
        "_partial",
        "_relation",
        "_schema",
        "_state",
        "_table",
    )

    def __init__(self, made: ChangingLeaf, schema: pa.Schema, chunk: pa.Schema, duck: Duck) -> None:
        leaf = made.leaf
        groups = leaf.groups
        assert groups is not None
        self._schema = schema
        self._relation = f"chunk_{leaf.windows[0]}"
        self._input = chunk.names
        self._groups = len(groups)
        self._partial = prepare(duck, leaf.partial, {self._relation: chunk})
        self._merge = RelationalMerge(groups, leaf.states, self._partial.schema, duck)
        own = leaf.states[: len(leaf.states) - 1 - len(made.values)]
        names = (*groups, *(column for state in own for column in state.columns))
        summed = pa.schema([schema.field(name) for name in names])
        counted = CountColumns(made.rows, made.values)

        def new_state() -> GroupedState:
            return GroupedState(groups, own, summed, counted)

        self._new_state = new_state
        self._state = new_state()
        self._of_rows = None
        if made.rankings or made.doubles:
            self._of_rows = RowStates(
                made.stepped,
                groups,
                made.rankings,
                made.doubles,
                relation=self._relation,
                chunk=chunk,
                duck=duck,
            )
        self._table: pa.Table | None = None

    def build(self, rows: pa.Table) -> bool:
        """Begin with these rows; False if the state cannot hold what they give."""
        state = self._new_state()
        change = state.update(self._run(rows))
        if change is None:
            return False
        change.apply()
        if self._of_rows is not None and not self._of_rows.build(rows):
            return False
        self._state, self._table = state, None
        return True

    def change(self, added: pa.Table, removed: pa.Table) -> Take | None:
        """Compute what these rows change; None if the state cannot follow."""
        change = self._state.update(self._difference(added, removed))
        if change is None:
            return None
        follow = None
        if self._of_rows is not None:
            follow = self._of_rows.change(added, removed, self._state.rows)
            if follow is None:
                return None

        def take() -> None:
            change.apply()
            if follow is not None:
                follow()
            self._table = None

        return take

    def complete(self, present: Present) -> None:
        """Read again the groups of which too few extremes are left."""
        if self._of_rows is not None and self._of_rows.complete(present):
            self._table = None

    def table(self) -> pa.Table:
        """Return the aggregates of all groups. O(groups), if something has changed."""
        if self._of_rows is None:
            return self._state.table()
        if self._table is None:
            sums = self._state.table()
            columns = self._of_rows.columns_of(sums, self._state.rows)
            columns |= dict(zip(sums.column_names, sums.columns, strict=True))
            in_order = [columns[name] for name in self._schema.names]
            self._table = pa.Table.from_arrays(in_order, schema=self._schema)
        return self._table

    @property
    def rows(self) -> int:
        """How many groups and rows are held."""
        return self._state.rows + (0 if self._of_rows is None else self._of_rows.rows)

    @property
    def groups_read_again(self) -> int:
        """How often a group was read again."""
        return 0 if self._of_rows is None else self._of_rows.groups_read_again

    def describe(self) -> str:
        """Describe how changes are followed."""
        text = "rows that come are added to their groups, and rows that go are subtracted"
        return text if self._of_rows is None else f"{text}; {self._of_rows.describe()}"

    def close(self) -> None:
        """Release its statements in DuckDB."""
        self._partial.close()
        self._merge.close()
        if self._of_rows is not None:
            self._of_rows.close()

    def _run(self, rows: pa.Table) -> pa.Table:
        return self._partial.run(**{self._relation: rows.select(self._input)})

    def _difference(self, added: pa.Table, removed: pa.Table) -> pa.Table:
        """Return the partial of rows that came less that of rows that went."""
        if not removed.num_rows:
            return self._run(added)
        less = _negated(self._run(removed), self._groups)
        return self._merge([self._run(added), less]) if added.num_rows else less

    def _check(self) -> None:
        """Assert every invariant."""
        self._state._check()
        if self._of_rows is not None:
            self._of_rows._check()


def _negated(partial: pa.Table, groups: int) -> pa.Table:
    """Return a partial with the signs of its states changed; its groups are in front."""
    columns = [
        column if i < groups else pc.negate(column).cast(column.type)
        for i, column in enumerate(partial.columns)
    ]
    return pa.Table.from_arrays(columns, schema=partial.schema)


class FollowedFirstRows:
    """The first rows of each group, as LIMIT, DISTINCT ON and bounds on row numbers need them."""

    __slots__ = ("_names", "_of_rows", "_table")

    def __init__(
        self, ranking: Ranking, relation: str, chunk: pa.Schema, names: list[str], duck: Duck
    ) -> None:
        self._names = names
        self._of_rows = RowStates(
            ranking.rows, ranking.groups, (ranking,), (), relation=relation, chunk=chunk, duck=duck
        )
        self._table: pa.Table | None = None

    def build(self, rows: pa.Table) -> bool:
        """Begin with these rows."""
        self._of_rows.build(rows)
        self._table = None
        return True

    def change(self, added: pa.Table, removed: pa.Table) -> Take | None:
        """Compute what these rows change; None if the state has to be built again."""
        change = self._of_rows.change(added, removed, self._of_rows.groups)
        if change is None:
            return None

        def take() -> None:
            change()
            self._table = None

        return take

    def complete(self, present: Present) -> None:
        """Read again the groups of which too few rows are left."""
        if self._of_rows.complete(present):
            self._table = None

    def table(self) -> pa.Table:
        """Return the first rows of all groups, in the order of arrival."""
        if self._table is None:
            self._table = self._of_rows.first().select(self._names)
        return self._table

    @property
    def rows(self) -> int:
        """How many rows are held."""
        return self._of_rows.rows

    @property
    def groups_read_again(self) -> int:
        """How often a group was read again."""
        return self._of_rows.groups_read_again

    def describe(self) -> str:
        """Describe how changes are followed."""
        return self._of_rows.describe()

    def close(self) -> None:
        """Release its statements in DuckDB."""
        self._of_rows.close()

    def _check(self) -> None:
        """Assert every invariant."""
        self._of_rows._check()
