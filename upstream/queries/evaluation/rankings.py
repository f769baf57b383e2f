"""Several orders of the same rows, which come and go, with the groups that they share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from ...rows.arrow_words import one_array
from ...rows.group_codes import GroupPlaces
from ..sql.lending import prepare
from ..sql.names import STEP
from .ranked_state import RankedState, numbers_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...database.duck import Duck
    from ..rewriting.ranking import Ranking
    from .increments import Take

_SPARE_PLACES: Final = 4_096
"""The number of groups without rows that may be known, in addition to as many as have rows."""


class Rankings:
    """The first rows of groups, in one or several orders of the rows that a query makes.

    After an exception it cannot be used until it is built again.
    """

    __slots__ = (
        "_chunk",
        "_groups",
        "_places",
        "_relation",
        "_rows",
        "_states",
        "_types",
        "groups_read_again",
    )

    def __init__(
        self, rankings: Sequence[Ranking], relation: str, chunk: pa.Schema, duck: Duck
    ) -> None:
        chunks = {relation: chunk.append(pa.field(STEP, pa.int64()))}
        self._relation = relation
        self._rows = prepare(duck, rankings[0].rows, chunks)
        schema = self._rows.schema
        self._states = [RankedState(each, schema, duck, chunks=chunks) for each in rankings]
        self._groups = rankings[0].groups
        self._types = [schema.field(name).type for name in self._groups]
        self._places = GroupPlaces(self._types)
        self.groups_read_again = 0
        """How often a group was read again, because too few of its rows were left."""

    def build(self, rows: pa.Table) -> None:
        """Begin with these rows."""
        self._places = GroupPlaces(self._types)
        for state in self._states:
            state.build({self._relation: rows}, self._places)

    def change(self, added: pa.Table, removed: pa.Table, groups: int) -> Take | None:
        """Compute what rows change; None if everything has to be built again.

        That is so when there are far fewer groups with rows than were ever seen.
        """
        if len(self._places) > 2 * groups + _SPARE_PLACES:
            return None
        rows = self._rows.run(**{self._relation: pa.concat_tables([added, removed])})
        is_removed = np.isin(numbers_of(rows), numbers_of(removed))
        came, went = rows.filter(pa.array(~is_removed)), rows.filter(pa.array(is_removed))
        takes = [state.change(came, went, self._places) for state in self._states]

        def take() -> None:
            for each in takes:
                each()

        return take

    def complete(self, present: Callable[[], pa.Table]) -> bool:
        """Read again the groups of which too few rows are left, and tell whether there were any."""
        short = [(state, state.held.short()) for state in self._states]
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
        [state] = self._states
        return state

    def first_of(self, groups: pa.Table, count: int) -> list[pa.Table]:
        """Return the first row of each of so many groups in each order; NULLs if it has none."""
        columns = [one_array(groups.column(name)) for name in self._groups]
        places = self._places.places_of(columns, count)
        return [state.held.first_of(places) for state in self._states]

    @property
    def rows(self) -> int:
        """How many rows are held."""
        return sum(state.held.rows for state in self._states)

    def describe(self) -> str:
        """Describe how changes are followed."""
        of = "each group" if self._groups else "all"
        return f"the first rows of {of} are kept with the next ones, which replace those that go"

    def close(self) -> None:
        """Release its statements in DuckDB."""
        self._rows.close()
        for state in self._states:
            state.close()

    def _check(self) -> None:
        """Assert every invariant."""
        self._places._check()
        for state in self._states:
            state.held._check()
