"""The first rows of groups, which follow rows that come and go; DuckDB puts rows in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from ...rows.arrow_words import has_ordered_words, one_array, ordered_words
from ..partials.ranked_rows import NumberedRows, RankedRows
from ..rewriting.ranking import PLACE, WANTED
from ..rewriting.relations import PARTIALS
from ..sql.lending import prepare
from ..sql.names import STEP

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...database.duck import Duck
    from ...rows.arrow_words import Integers
    from ...rows.group_codes import GroupPlaces
    from ..rewriting.ranking import Ranking
    from .increments import Take

SPARE: Final = 16
"""How many rows of a group are kept beside those that are wanted, when the group is read."""
SPARE_WITHOUT_GROUPS: Final = 1_024
"""The same if all rows are one group: a change sorts no more rows than these."""


class RankedState:
    """The first rows of groups in one order, and the statements that keep them.

    `schema` is that of the rows of the ranking, and `chunks` those of the chunk they are read from.
    `places` has the groups, and may be shared with other states.
    """

    __slots__ = (
        "_again",
        "_all",
        "_groups",
        "_in_order",
        "_is_downwards",
        "_known",
        "_places",
        "held",
    )

    def __init__(
        self,
        ranking: Ranking,
        schema: pa.Schema,
        duck: Duck,
        *,
        chunks: Mapping[str, pa.Schema],
    ) -> None:
        self._known = ranking.known
        self._groups = ranking.groups
        columns = pa.schema([schema.field(name) for name in ranking.columns])
        spare = SPARE if ranking.groups else SPARE_WITHOUT_GROUPS
        self.held = RankedRows(columns, ranking.count, spare)
        self._is_downwards: bool | None = None
        """Whether NumPy can put rows in order, and which comes first; None if DuckDB has to."""
        if ranking.known is not None and has_ordered_words(columns.field(ranking.known).type):
            self._is_downwards = ranking.is_downwards
        numbered = pa.schema([(PLACE, pa.int64()), (STEP, pa.int64()), *columns])
        wanted = pa.schema([schema.field(name) for name in ranking.groups])
        most = self.held.most_read
        self._in_order = prepare(duck, ranking.in_order(), {PARTIALS: numbered})
        self._all = prepare(duck, ranking.first_rows(most, of_wanted=False), chunks)
        again = ranking.first_rows(most, of_wanted=True)
        self._again = prepare(duck, again, {**chunks, WANTED: wanted})

    def build(self, chunk: Mapping[str, pa.Table], places: GroupPlaces) -> None:
        """Begin with the rows of a chunk. O(these rows)."""
        held = self.held.empty()
        rows = self._numbered(self._all.run(**chunk), places)
        held.read_again(np.unique(rows.codes), rows, self._ranks)()
        self.held = held

    def change(self, added: pa.Table, removed: pa.Table, places: GroupPlaces) -> Take:
        """Prepare to take in rows of the ranking, and to let others go."""
        came, went = self._numbered(added, places), self._numbered(removed, places)
        return self.held.change(came, went, self._ranks)

    def reading_again(
        self, groups: Integers, chunk: Mapping[str, pa.Table], places: GroupPlaces
    ) -> Take:
        """Prepare to read groups again, which are given by their places. O(rows of the chunk)."""
        is_wanted = np.zeros(len(places), np.bool_)
        is_wanted[groups] = True
        wanted = {}
        if self._groups:
            values = places.values(pa.array(is_wanted))
            wanted[WANTED] = pa.table(values, names=self._groups)
        rows = self._numbered(self._again.run(**chunk, **wanted), places)
        assert np.isin(rows.codes, groups).all(), "other groups were read than were wanted"
        return self.held.read_again(groups, rows, self._ranks)

    def close(self) -> None:
        """Release its statements in DuckDB."""
        for statement in (self._in_order, self._all, self._again):
            statement.close()

    def _numbered(self, rows: pa.Table, places: GroupPlaces) -> NumberedRows:
        """Return the rows that have a place in the order."""
        if self._known is not None and rows.column(self._known).null_count:
            rows = rows.filter(rows.column(self._known).is_valid())
        found = places_of(rows, self._groups, places)
        return NumberedRows(rows.select(self.held.names), found, numbers_of(rows))

    def _ranks(self, rows: pa.Table, numbers: Integers) -> Integers:
        """Return the places of rows in their order."""
        if rows.num_rows < 2:
            return np.arange(rows.num_rows)
        if self._is_downwards is not None:
            keys = ordered_words(one_array(rows.column(self._known)))
            return np.lexsort((numbers, ~keys if self._is_downwards else keys))
        given = [pa.array(np.arange(rows.num_rows)), pa.array(numbers), *rows.columns]
        table = pa.table(given, names=[PLACE, STEP, *rows.column_names])
        found = self._in_order.run(**{PARTIALS: table}).column(0)
        ranks: Integers = one_array(found).to_numpy()
        return ranks


def places_of(rows: pa.Table, groups: Sequence[str], places: GroupPlaces) -> Integers:
    """Return the places of the groups of rows."""
    columns = [one_array(rows.column(name)) for name in groups]
    return places.places_of(columns, rows.num_rows)


def numbers_of(rows: pa.Table) -> Integers:
    """Return the numbers of rows."""
    numbers: Integers = one_array(rows.column(STEP)).to_numpy()
    return numbers
