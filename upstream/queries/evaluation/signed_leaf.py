"""A leaf of a view over a stream with a column of signs: rows are added, or taken away again.

    rows with 1, rows with -1 -> partials, by DuckDB -> the second ones negated -> one growing merge

The merge is the sum over all signed rows, so their order does not matter: a row may be taken away
before it is added. A group of which all is zero is forgotten. Sums and counts that no rows can have
are an error when the leaf is read, until the rows that are missing have been added.
"""

from __future__ import annotations

from functools import partial as bind
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...database.failure import DatabaseError
from ...rows.arrow_words import one_array, words
from ..results.failing_rows import FailedRows
from ..rewriting.explain import spoken
from .changing_leaf import subtractable
from .increments import ChunkLeaf

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...database.duck import Duck
    from ...rows.arrow_words import Integers
    from ..chunks.cutter import Piece
    from ..chunks.windows import Span
    from ..rewriting.split_query import Leaf
    from .increments import Take

_LONGEST_VALUE: Final = 80


class SignedLeaf(ChunkLeaf):
    """A leaf whose rows are added or taken away, as their signs say.

    `rows_schema` is that of the rows without their signs. The states of the leaf must have an
    inverse.
    """

    __slots__ = ("_counts", "_groups", "_names", "_rows_schema", "_sign", "_values", "_written")

    def __init__(self, leaf: Leaf, rows_schema: pa.Schema, duck: Duck, *, sign: str) -> None:
        made = subtractable(leaf)
        assert made is not None, "rows can be taken away from the leaf"
        super().__init__(made.leaf, rows_schema, duck, cumulative=True, is_signed=True)
        self._rows_schema = rows_schema
        self._sign = sign
        self._counts = made.rows
        self._values = made.values
        self._groups = leaf.groups or ()
        items = {item.alias: item.unalias() for item in leaf.partial.expressions}
        self._written = [spoken(items[name]) for name in self._groups]
        self._names = [name for name in self.schema.names if name not in self._groups]
        counts = {made.rows, *made.values.values()}
        fields = [field for field in self.schema if field.name not in counts]
        self.schema = pa.schema(fields)

    def feed(self, number: int, pieces: Sequence[Piece], failed: FailedRows) -> Take:
        """Evaluate rows; rows that fail, or have no sign, are left out and noted."""
        found = [part for piece in pieces for part in self._signed(number, *piece, failed)]
        return bind(self._merge.stage, found)

    def merged(self, spans: Sequence[Span]) -> pa.Table:
        """Return the groups that have rows; raise DatabaseError if there can be no such rows."""
        table = super().merged(spans)
        rows = table.column(self._counts)
        self._check_counts(table)
        if pc.any(pc.equal(rows, 0)).as_py():
            table = table.filter(pc.greater(rows, 0))
        for name, counted in self._values.items():
            is_null = pc.equal(table.column(counted), 0)
            if pc.any(is_null).as_py():
                place, field = table.schema.get_field_index(name), table.schema.field(name)
                sums = pc.if_else(is_null, pa.scalar(None, field.type), table.column(name))
                table = table.set_column(place, field, sums)
        return table.select(self.schema.names)

    def describe(self) -> str:
        """Describe how the leaf is merged."""
        return f"rows are added to their groups, or subtracted where {self._sign} is -1"

    def _signed(self, number: int, chunk: int, rows: pa.Table, failed: FailedRows) -> list[Piece]:
        """Return the partials of rows by their signs, those of the second kind negated."""
        signs = self._signs(rows, chunk, failed)
        rows = rows.select(self._rows_schema.names)
        found: list[Piece] = []
        for sign in (1, -1):
            places = np.flatnonzero(signs == sign)
            if not places.size:
                continue
            part = rows if places.size == rows.num_rows else rows.take(pa.array(places))
            own = FailedRows(number)
            partials = self._partials.of([(chunk, part)], own)
            failed.note(chunk, (int(places[place]) for _, place in own.rows), own.error)
            found += [(chunk, self._numbers(partial, sign)) for _, partial in partials]
        return found

    def _signs(self, rows: pa.Table, chunk: int, failed: FailedRows) -> Integers:
        """Return the signs of rows; others than 1 and -1 are noted."""
        column = one_array(rows.column(self._sign))
        signs, present = words(column)
        others = np.flatnonzero((signs != 1) & (signs != -1))
        if others.size:
            value = column[int(others[-1])].as_py()
            reason = f"{self._sign} is {'NULL' if value is None else value} in a row"
            expected = "it must be 1 to add the row, or -1 to take it away"
            failed.note(chunk, others.tolist(), f"{reason}; {expected}")
        assert present is None or not signs[~present].any()
        return signs

    def _numbers(self, partial: pa.Table, sign: int) -> pa.Table:
        """Return a partial with 0 for NULL, and with the sign."""
        for name in self._names:
            place, field = partial.schema.get_field_index(name), partial.schema.field(name)
            column = partial.column(name)
            if column.null_count:
                column = pc.fill_null(column, pa.scalar(0).cast(field.type))
            if sign < 0:
                column = pc.negate_checked(column).cast(field.type)
            partial = partial.set_column(place, field, column)
        return partial

    # What cannot be

    def _check_counts(self, table: pa.Table) -> None:
        """Raise DatabaseError if more rows or values are taken away than were added."""
        rows = table.column(self._counts)
        wrong = pc.less(rows, 0)
        for name in self._names:
            column = table.column(name)
            if name not in self._values:  # a count
                wrong = pc.or_(wrong, pc.or_(pc.less(column, 0), pc.greater(column, rows)))
                continue
            is_empty = pc.equal(table.column(self._values[name]), 0)
            if pc.any(is_empty).as_py():
                has_sum = pc.not_equal(column, pa.scalar(0).cast(column.type))
                wrong = pc.or_(wrong, pc.and_(is_empty, has_sum))
        if pc.any(wrong).as_py():
            raise DatabaseError(self._said_of(table.filter(wrong)))

    def _said_of(self, wrong: pa.Table) -> str:
        """Return the error about groups with numbers that no rows have."""
        [first, *_] = wrong.select(self._groups).slice(0, 1).to_pylist() or [{}]
        pairs = zip(self._written, first.values(), strict=True)
        where = " and ".join(f"{name} = {_literal(value)}" for name, value in pairs)
        others = wrong.num_rows - 1
        more = f" and {others:,} more group{'s' if others > 1 else ''}" if others else ""
        reason = f"rows were taken away by {self._sign} = -1 that have not been added"
        reason += f", for {where}{more}" if where else ""
        return f"{reason}; there is a result again once they have been added"


def _literal(value: object) -> str:
    """Return a value in quotes, so that no part of it is taken for one of our own names."""
    if value is None:
        return "NULL"
    text = str(value)
    short = text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "…"
    return "'" + short.replace("'", "''").replace("\n", " ") + "'"
