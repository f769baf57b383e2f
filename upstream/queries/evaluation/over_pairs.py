"""Runs the query over the rows of pairs; a pair on which it fails can be left out."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..results.failing_rows import Spared, spare
from ..sql.lending import prepare
from ..sql.names import PAIR

if TYPE_CHECKING:
    from ...database.duck import Duck
    from ..rewriting.paired import PairedQuery


class OverPairs:
    """The query over pairs of the inputs with these schemas; `schema` is that of its results."""

    __slots__ = ("_schema", "_whole")

    def __init__(
        self, paired: PairedQuery, schemas: Mapping[int, pa.Schema], duck: Duck, schema: pa.Schema
    ) -> None:
        pair = pa.field(PAIR, pa.int64())
        lent = {f"chunk_{number}": each.append(pair) for number, each in schemas.items()}
        self._whole = prepare(duck, paired.whole, lent)
        self._schema = schema

    def run(self, rows: Mapping[int, pa.Table]) -> pa.Table:
        """Run over all pairs; raise DatabaseError if the query fails on one of them."""
        result = self._whole.run(**{f"chunk_{number}": table for number, table in rows.items()})
        return result if result.schema.equals(self._schema) else result.cast(self._schema)

    def sparing(self, rows: Mapping[int, pa.Table]) -> tuple[pa.Table, Spared]:
        """Run over the pairs on which the query does not fail; each row comes from one pair."""
        count = max([_last_pair(table) for table in rows.values()]) + 1
        spared = Spared([], [], None)
        if count:
            pairs = pa.table({PAIR: np.arange(count)})
            spared = spare(partial(self._run_some, rows, count), pairs)
        return pa.concat_tables([self._schema.empty_table(), *spared.results]), spared

    def close(self) -> None:
        """Release its statement and relations in DuckDB."""
        self._whole.close()

    def _run_some(self, rows: Mapping[int, pa.Table], count: int, pairs: pa.Table) -> pa.Table:
        """Run over some pairs, whose numbers follow one another."""
        if pairs.num_rows < count:
            first = pairs.column(0)[0].as_py() if pairs.num_rows else count
            rows = {each: _within(table, first, pairs.num_rows) for each, table in rows.items()}
        return self.run(rows)


def _last_pair(rows: pa.Table) -> int:
    """Return the greatest number of a pair, or -1."""
    last = pc.max(rows.column(PAIR)).as_py()
    return -1 if last is None else int(last)


def _within(rows: pa.Table, first: int, count: int) -> pa.Table:
    """Return the rows of some pairs."""
    numbers = rows.column(PAIR).to_numpy()
    return rows.filter(pa.array((numbers >= first) & (numbers < first + count)))
