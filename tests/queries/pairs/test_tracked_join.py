"""Joins that find each pair once: beside one join by DuckDB over all rows, and interrupted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.queries.parsed import query_of
from upstream.database.duck import Duck
from upstream.queries.pairs.reach import Reach
from upstream.queries.pairs.tracked_join import TrackedJoin
from upstream.queries.results.failing_rows import FailingRows
from upstream.queries.rewriting.paired import paired
from upstream.queries.sql.lending import run_once

SCHEMAS = {
    number: pa.schema(
        [("k", pa.int64()), (name, pa.int64()), ("place", pa.int64()), ("note", pa.string())]
    )
    for number, name in enumerate("vwz")
}
ROWS = "SELECT x.v, x.place AS p, y.w, y.place AS q FROM chunk_0 x {} JOIN chunk_1 y {}"
CONDITIONS = {
    "equality": "ON x.k = y.k",
    "range": "ON x.v < y.w",
    "band": "ON x.k = y.k AND y.w BETWEEN x.v - 2 AND x.v",
    "one side": "ON x.k = y.k AND x.v > 1 AND y.w > 0",
    "either": "ON x.k = y.k OR x.v = y.w",
    "distinct": "ON x.k IS NOT DISTINCT FROM y.k",
    "text": "ON x.note = y.note",
}
KINDS = ("INNER", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI")


@pytest.fixture(scope="module")
def duck() -> Iterator[Duck]:
    with closing(Duck()) as duck:
        duck.rows("CREATE TABLE names (k BIGINT, name VARCHAR)")
        duck.rows("INSERT INTO names VALUES (0, 'a'), (1, 'b'), (1, 'c'), (NULL, 'd')")
        yield duck


Row = tuple[int | None, int, int, str | None]


def table(number: int, rows: Sequence[Row]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * 4
    return pa.table(
        [pa.array(each, field.type) for each, field in zip(columns, SCHEMAS[number], strict=True)],
        schema=SCHEMAS[number],
    )


@dataclass
class Setting:
    """A query that runs over the pairs of a tracked join."""

    sql: str
    duck: Duck
    numbers: tuple[int, ...] = (0, 1)
    reach: Reach = field(default_factory=Reach)

    def __post_init__(self) -> None:
        schemas = {f"chunk_{number}": SCHEMAS[number] for number in self.numbers}
        self.paired = paired(query_of(self.sql), self.numbers, schemas, self.duck)
        self.failing = FailingRows()
        self.join = TrackedJoin(self.paired, SCHEMAS, self.duck, self.failing, reach=self.reach)
        self.given: list[tuple[object, ...]] = []
        self.fed: dict[int, list[Row]] = {number: [] for number in self.numbers}

    def feed(self, number: int, *rows: Row) -> None:
        places = np.array([row[2] for row in rows], np.int64)
        self.join.feed(number, table(number, rows), places)()
        self.fed[number] += rows
        self.join._check()

    def read(self, until: int | None = None) -> list[tuple[object, ...]]:
        """Return the new rows of the query."""
        tables = self.join.ready(until)
        new = rows_of(self.over(tables))
        self.join.taken()
        self.given += new
        return new

    def over(self, tables: Mapping[int, pa.Table]) -> pa.Table:
        lent = {f"chunk_{number}": each for number, each in tables.items()}
        return run_once(self.duck, self.paired.whole, lent)

    def evict(self, before: int) -> None:
        for number in self.numbers:
            self.join.evict(number, before)
        self.join._check()

    def end(self) -> None:
        self.evict(1 << 40)
        self.read()
        assert self.join.rows == 0
        self.join.close()

    def check(self, sql: str) -> None:
        """Assert that all rows so far are those of one query over everything that was fed."""
        lent = {f"chunk_{number}": table(number, rows) for number, rows in self.fed.items()}
        expected = rows_of(run_once(self.duck, query_of(sql), lent))
        assert Counter(self.given) == Counter(expected)


def rows_of(rows: pa.Table) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in rows.to_pylist()]


# Beside one join over all rows

rows_of_chunk = st.tuples(
    st.none() | st.integers(0, 2),
    st.integers(0, 5),
    st.integers(0, 3),
    st.none() | st.sampled_from(["", "a", "b"]),
)
feeds = st.lists(st.tuples(st.integers(0, 1), st.lists(rows_of_chunk, max_size=6)), max_size=6)


def selected(kind: str, condition: str) -> str:
    sql = ROWS.format(kind, condition)
    return sql.replace(", y.w, y.place AS q", "") if kind in ("SEMI", "ANTI") else sql


@given(
    feed=feeds,
    kind=st.sampled_from(KINDS),
    condition=st.sampled_from(sorted(CONDITIONS)),
    reads=st.lists(st.booleans(), min_size=6, max_size=6),
)
def test_all_pairs_are_those_of_one_join_over_all_rows(
    duck: Duck,
    feed: list[tuple[int, list[Row]]],
    kind: str,
    condition: str,
    reads: list[bool],
) -> None:
    setting = Setting(selected(kind, CONDITIONS[condition]), duck)
    for (number, rows), is_read in zip(feed, reads, strict=False):
        setting.feed(number, *rows)
        if is_read:
            setting.read()
    setting.end()
    setting.check(setting.sql)


@given(
    feed=feeds,
    kind=st.sampled_from(KINDS),
    condition=st.sampled_from(sorted(CONDITIONS)),
    kept=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    ahead=st.integers(0, 3),
    size=st.integers(1, 4),
    sides=st.sampled_from([(0, 1), (1, 0)]),
)
def test_each_epoch_has_the_pairs_of_its_chunks_and_no_others(
    duck: Duck,
    *,
    feed: list[tuple[int, list[Row]]],
    kind: str,
    condition: str,
    kept: tuple[int, int],
    ahead: int,
    size: int,
    sides: tuple[int, int],
) -> None:
    """The other input is read ahead; chunks leave when no further chunk can meet them."""
    reach = Reach.of_chunks(dict(enumerate(kept)))
    setting = Setting(selected(kind, CONDITIONS[condition]), duck, reach=reach)
    left: dict[int, list[Row]] = {0: [], 1: []}
    for number, rows in feed:
        left[number] += rows
    one, other = sides
    for epoch in range(4):
        for number, last in ((other, epoch + ahead), (one, epoch)):
            due = [row for row in left[number] if row[2] <= last]
            left[number] = [row for row in left[number] if row[2] > last]
            for start in range(0, len(due), size):
                setting.feed(number, *due[start : start + size])
        for number in (0, 1):
            setting.join.evict(number, epoch - kept[number] + 1)
        found = setting.read(epoch + 1)
        if kind == "INNER":
            assert {max(int(str(row[1])), int(str(row[3]))) for row in found} <= {epoch}
        elif kind == "SEMI":
            assert Counter(found) == Counter(semi_rows(setting, epoch, kept))
    setting.end()
    setting.check(
        f"{setting.sql.replace('ON ', 'ON (')}) AND x.place - y.place < {kept[1]}"
        f" AND y.place - x.place < {kept[0]}"
    )


def semi_rows(setting: Setting, epoch: int, kept: tuple[int, int]) -> list[tuple[object, ...]]:
    """Return the rows that have their first partner in an epoch."""
    lent = {f"chunk_{number}": table(number, rows) for number, rows in setting.fed.items()}
    condition = setting.sql.split(" ON ", 1)[1]
    sql = (
        "SELECT v, place FROM (SELECT x.v, x.place, (SELECT min(greatest(x.place, y.place))"
        f" FROM chunk_1 y WHERE ({condition}) AND x.place - y.place < {kept[1]}"
        f" AND y.place - x.place < {kept[0]}) AS first FROM chunk_0 x) WHERE first = {epoch}"
    )
    return rows_of(run_once(setting.duck, query_of(sql), lent))


@pytest.mark.parametrize("kind", KINDS)
def test_a_join_may_read_no_column(duck: Duck, kind: str) -> None:
    setting = Setting(selected(kind, "ON true"), duck)
    setting.feed(0, (1, 2, 0, None), (1, 3, 1, None))
    setting.feed(1, (1, 4, 0, None), (2, 5, 1, None))
    setting.end()
    setting.check(setting.sql)
