"""The pairs that were found, until they are due, and the rows that left without a partner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pyarrow as pa

from ...rows.arrow_data import empty_table
from ..sql.names import PAIR
from .held_rows import ALONE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

_BEFORE_ALL: Final = -(1 << 63)
_LARGE: Final = 1 << 16
"""So many pairs are not combined with others."""


class FoundPairs(NamedTuple):
    """Pairs: the greatest place of each, and its rows, side by side, by input.

    `firsts` are the numbers of the rows of the first input, for joins in which such a row has one
    partner only.
    """

    places: NDArray[np.int64]
    tables: Mapping[int, pa.Table]
    firsts: NDArray[np.int64] | None

    def where(self, mask: NDArray[np.bool_]) -> FoundPairs:
        """Return some of the pairs."""
        if mask.all():
            return self
        which = pa.array(mask)
        tables = {number: table.filter(which) for number, table in self.tables.items()}
        return FoundPairs(
            self.places[mask], tables, None if self.firsts is None else self.firsts[mask]
        )


class _Given(NamedTuple):
    """What is left once the rows that were last returned are taken."""

    found: list[FoundPairs]
    until: int


class StagedPairs:
    """Pairs and rows without a partner, until they are taken."""

    __slots__ = ("_alone", "_found", "_given", "_schemas", "until")

    def __init__(self, schemas: Mapping[int, pa.Schema]) -> None:
        self._schemas = schemas
        self._found: list[FoundPairs] = []
        self._alone: dict[int, list[pa.Table]] = {number: [] for number in schemas}
        self._given: _Given | None = None
        self.until = _BEFORE_ALL
        """Pairs with places before this one were taken."""

    @property
    def rows(self) -> int:
        """How many pairs and rows wait."""
        alone: int = sum(table.num_rows for tables in self._alone.values() for table in tables)
        return alone + sum(len(found.places) for found in self._found)

    @property
    def found(self) -> list[FoundPairs]:
        """The pairs that wait."""
        return self._found

    def without(self, firsts: NDArray[np.int64]) -> list[FoundPairs]:
        """Return what waits without the pairs of some rows of the first input."""
        if not len(firsts):
            return self._found
        left = [
            each if each.firsts is None else each.where(~np.isin(each.firsts, firsts))
            for each in self._found
        ]
        return [each for each in left if len(each.places)]

    def together_with(self, waiting: list[FoundPairs], found: FoundPairs) -> list[FoundPairs]:
        """Return what waits with more pairs; a few pairs are combined with those before them."""
        parts = [*waiting, found]
        while len(parts) > 1 and len(parts[-2].places) <= min(2 * len(parts[-1].places), _LARGE):
            parts[-2:] = [_combined(*parts[-2:])]
        return parts

    def stage(self, found: list[FoundPairs]) -> None:
        """Let these pairs wait, and no others. Nothing can fail here."""
        self._found = found
        self._given = None

    def leave_alone(self, number: int, rows: list[pa.Table]) -> None:
        """Let rows without a partner wait. Nothing can fail here."""
        self._alone[number] = [*self._alone[number], *rows]
        self._given = None

    def ready(self, until: int | None) -> dict[int, pa.Table]:
        """Return the rows of the pairs with places before this one, and the rows without a partner.

        Rows of one pair have one number, in the column `__pair`.
        """
        end = ALONE if until is None else until
        due = [(each, each.places < end) for each in self._found]
        found = [each.where(mask) for each, mask in due if mask.any()]
        left = [each.where(~mask) for each, mask in due if not mask.all()]
        count = sum(len(each.places) for each in found)
        tables = {}
        for number, schema in self._schemas.items():
            alone = self._alone[number]
            parts = [*(each.tables[number] for each in found), *alone]
            table = pa.concat_tables(parts) if parts else empty_table(schema)
            more = sum(part.num_rows for part in alone)
            numbers = [np.arange(table.num_rows - more), np.arange(count, count + more)]
            tables[number] = table.append_column(PAIR, pa.array(np.concatenate(numbers)))
            count += more
        self._given = _Given(left, end)
        return tables

    def taken(self) -> None:
        """Forget what `ready` returned last."""
        assert self._given is not None, "rows were fed or evicted after ready()"
        self._found, self.until = self._given
        self._alone = {number: [] for number in self._schemas}
        self._given = None

    def _check(self) -> None:
        """Assert every invariant."""
        for each in self._found:
            assert {table.num_rows for table in each.tables.values()} == {len(each.places)}
        known = [each.firsts for each in self._found if each.firsts is not None]
        firsts = [number for each in known for number in each.tolist()]
        assert len(set(firsts)) == len(firsts)


def _combined(one: FoundPairs, other: FoundPairs) -> FoundPairs:
    tables = {
        number: pa.concat_tables([table, other.tables[number]]).combine_chunks()
        for number, table in one.tables.items()
    }
    firsts = None
    if one.firsts is not None and other.firsts is not None:
        firsts = np.concatenate([one.firsts, other.firsts])
    return FoundPairs(np.concatenate([one.places, other.places]), tables, firsts)
