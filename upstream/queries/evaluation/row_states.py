"""States that are kept from single rows, which come and go: first rows, and sums of doubles.

All states of a leaf read the same rows, and share the places of groups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from ...rows.arrow_words import one_array
from ...rows.group_codes import GroupPlaces
from ..sql.lending import prepare
from ..sql.names import STEP
from .double_state import DoubleState
from .ranked_state import RankedState, numbers_of, places_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...database.duck import Duck
    from ...rows.arrow_words import Integers
    from ..rewriting.changing import DoubleColumns
    from ..rewriting.ranking import Ranking
    from ..sql.trees import Query
    from .increments import Take

_SPARE_PLACES: Final = 4_096
"""The number of groups without rows that may be known, in addition to as many as have rows."""

_AT_ONCE: Final = 65_536
"""So many rows are summed together when a state is built: their digits fit into the cache."""


class RowStates:
    """First rows in some orders, and states of doubles, of the rows that a query makes of a chunk.

    After an exception it cannot be used until it is built again.
    """

    __slots__ = (
        "_doubles",
        "_groups",
        "_made_of_doubles",
        "_places",
        "_ranked",
        "_relation",
        "_rows",
        "_types",
        "groups_read_again",
    )

    def __init__(
        self,
        stepped: Query,
        groups: tuple[str, ...],
        rankings: Sequence[Ranking],
        doubles: Sequence[DoubleColumns],
        *,
        relation: str,
        chunk: pa.Schema,
        duck: Duck,
    ) -> None:
        chunks = {relation: chunk.append(pa.field(STEP, pa.int64()))}
        self._relation = relation
        self._rows = prepare(duck, stepped, chunks)
        schema = self._rows.schema
        self._ranked = [RankedState(each, schema, duck, chunks=chunks) for each in rankings]
        self._made_of_doubles = doubles
        self._doubles = [DoubleState(each) for each in doubles]
        self._groups = groups
        self._types = [schema.field(name).type for name in groups]
        self._places = GroupPlaces(self._types)
        self.groups_read_again = 0
        """How often a group was read again, because too few of its rows were left."""

    def build(self, rows: pa.Table) -> bool:
        """Begin with these rows; False if a state cannot hold their values."""
        chunk = {self._relation: rows}
        self._places = GroupPlaces(self._types)
        self._doubles = [DoubleState(each) for each in self._made_of_doubles]
        if self._doubles:
            values = self._rows.run(**chunk)
            for start in range(0, values.num_rows, _AT_ONCE):
                part = values.slice(start, _AT_ONCE)
                takes = self._summed(part, np.ones(part.num_rows, np.int64))
                if takes is None:
                    return False
                for take in takes:
                    take()
        for state in self._ranked:
            state.build(chunk, self._places)
        return True

    def change(self, added: pa.Table, removed: pa.Table, groups: int) -> Take | None:
        """Compute what rows change; None if everything has to be built again.

        That is so when a value is too large, and when there are far fewer groups with rows than
        were ever seen.
        """
        if len(self._places) > 2 * groups + _SPARE_PLACES:
            return None
        rows = self._rows.run(**{self._relation: pa.concat_tables([added, removed])})
        is_removed = np.isin(numbers_of(rows), numbers_of(removed))
        takes = self._summed(rows, np.where(is_removed, -1, 1))
        if takes is None:
            return None
        came, went = rows.filter(pa.array(~is_removed)), rows.filter(pa.array(is_removed))
        takes += [state.change(came, went, self._places) for state in self._ranked]

        def take() -> None:
            for each in takes:
                each()

        return take

    def _summed(self, rows: pa.Table, signs: Integers) -> list[Take] | None:
        """Compute what rows change in the states of doubles; None if a value is too large."""
        if not self._doubles:
            return []
        places = places_of(rows, self._groups, self._places)
        takes = []
        for state in self._doubles:
            take = state.change(rows, places, signs)
            if take is None:
                return None
            takes.append(take)
        return takes

    def complete(self, present: Callable[[], pa.Table]) -> bool:
        """Read again the groups of which too few rows are left, and tell whether there were any."""
        short = [(state, state.held.short()) for state in self._ranked]
        short = [(state, groups) for state, groups in short if groups.size]
        if not short:
            return False
        chunk = {self._relation: present()}
        for state, groups in short:
            state.reading_again(groups, chunk, self._places)()
            self.groups_read_again += groups.size
        return True

    def first(self) -> pa.Table:
        """Return the first rows of all groups in the only order, as they arrived."""
        return self._only.held.first()

    @property
    def groups(self) -> int:
        """How many groups have rows in the only order."""
        return self._only.held.groups

    @property
    def _only(self) -> RankedState:
        [state] = self._ranked
        return state

    def columns_of(self, groups: pa.Table, count: int) -> dict[str, pa.ChunkedArray | pa.Array]:
        """Return the columns of all states for so many groups; NULL in the first row of none."""
        columns = [one_array(groups.column(name)) for name in self._groups]
        places = self._places.places_of(columns, count)
        found: dict[str, pa.ChunkedArray | pa.Array] = {}
        for ranked in self._ranked:
            table = ranked.held.first_of(places)
            found |= dict(zip(table.column_names, table.columns, strict=True))
        for doubles in self._doubles:
            found |= doubles.columns_of(places)
        return found

    @property
    def rows(self) -> int:
        """How many rows are held."""
        return sum(state.held.rows for state in self._ranked)

    def describe(self) -> str:
        """Describe how changes are followed."""
        if not self._ranked:
            return "sums of doubles are kept exactly"
        of = "each group" if self._groups else "all"
        return f"the first rows of {of} are kept with the next ones, which replace those that go"

    def close(self) -> None:
        """Release its statements in DuckDB."""
        self._rows.close()
        for state in self._ranked:
            state.close()

    def _check(self) -> None:
        """Assert every invariant."""
        self._places._check()
        for ranked in self._ranked:
            ranked.held._check()
        for doubles in self._doubles:
            doubles._check()
