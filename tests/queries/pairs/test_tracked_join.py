"""Joins that find each pair once: beside one join by DuckDB over all rows, and interrupted."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.interrupted import Interrupter, respect_held_interrupts
from tests.queries.parsed import query_of
from upstream.database.duck import Duck
from upstream.held_interrupt import HeldInterrupt
from upstream.queries.pairs.reach import Reach
from upstream.queries.pairs.tracked_join import TrackedJoin
from upstream.queries.results.failing_rows import FailingRows
from upstream.queries.rewriting.paired import PairedQuery, paired
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
    "nothing": "ON true",
}
TIMES = range(1, 4 if os.environ.get("CI") else 2)
"""For which times each place is reached when a join is interrupted there."""
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


_rewritten: dict[tuple[str, tuple[int, ...]], PairedQuery] = {}
"""The rewritten queries, each of which is needed for many examples."""


@dataclass
class Setting:
    """A query that runs over the pairs of a tracked join."""

    sql: str
    duck: Duck
    numbers: tuple[int, ...] = (0, 1)
    reach: Reach = field(default_factory=Reach)

    def __post_init__(self) -> None:
        key = self.sql, self.numbers
        if key not in _rewritten:
            schemas = {f"chunk_{number}": SCHEMAS[number] for number in self.numbers}
            _rewritten[key] = paired(query_of(self.sql), self.numbers, schemas, self.duck)
        self.paired = _rewritten[key]
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
    ahead=st.none() | st.tuples(st.integers(-1, 2), st.integers(-1, 2)),
)
def test_all_pairs_are_those_of_one_join_over_all_rows(
    *,
    duck: Duck,
    feed: list[tuple[int, list[Row]]],
    kind: str,
    condition: str,
    reads: list[bool],
    ahead: tuple[int, int] | None,
) -> None:
    reach, within = Reach(), ""
    if ahead is not None:
        reach = Reach({(0, 1): ahead[0], (1, 0): ahead[1]})
        within = f" AND x.place - y.place <= {ahead[0]} AND y.place - x.place <= {ahead[1]}"
    setting = Setting(selected(kind, CONDITIONS[condition]), duck, reach=reach)
    for (number, rows), is_read in zip(feed, reads, strict=False):
        setting.feed(number, *rows)
        if is_read:
            setting.read()
    setting.end()
    setting.check(f"{setting.sql.replace('ON ', 'ON (')}){within}")


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
            setting.join.evict(number, epoch - kept[number] + 2)
        found = setting.read(epoch + 1)
        if kind == "INNER":
            assert {max(int(str(row[1])), int(str(row[3]))) for row in found} <= {epoch}
        elif kind in ("LEFT", "ANTI"):
            alone = [row for row in found if len(row) == 2 or row[2] is None]
            assert {row[1] for row in alone} <= {epoch - kept[0] + 1}
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


@given(
    feed=st.lists(st.tuples(st.integers(0, 2), st.lists(rows_of_chunk, max_size=5)), max_size=8),
    kept=st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3)),
    condition=st.sampled_from(["x.k = y.k AND y.k = z.k", "x.k = y.k AND z.z < y.w", "x.v = z.z"]),
)
def test_three_inputs_meet_within_their_reach(
    duck: Duck,
    feed: list[tuple[int, list[Row]]],
    kept: tuple[int, int, int],
    condition: str,
) -> None:
    sql = f"SELECT x.v, y.w, z.z FROM chunk_0 x, chunk_1 y, chunk_2 z WHERE {condition}"
    reach = Reach.of_chunks(dict(enumerate(kept)))
    setting = Setting(sql, duck, (0, 1, 2), reach)
    for number, rows in feed:
        setting.feed(number, *rows)
    setting.read()
    newest = "greatest(x.place, y.place, z.place)"
    within = [f"{each}.place > {newest} - {n}" for each, n in zip("xyz", kept, strict=True)]
    setting.check(f"{sql} AND {' AND '.join(within)}")


def test_the_query_joins_pairs_with_tables(duck: Duck) -> None:
    setting = Setting(
        "SELECT x.v, n.name FROM chunk_0 x LEFT JOIN chunk_1 y USING (k)"
        " LEFT JOIN names n ON n.k = y.k",
        duck,
    )
    setting.feed(0, (1, 10, 0, ""), (2, 20, 0, ""))
    setting.feed(1, (1, 30, 0, ""))
    assert Counter(setting.read()) == Counter([(10, "b"), (10, "c")])
    setting.evict(1)
    assert setting.read() == [(20, None)]


def test_rows_evicted_on_one_side_meet_no_more_rows(duck: Duck) -> None:
    setting = Setting(selected("LEFT", "ON x.k = y.k"), duck)
    setting.feed(0, (1, 10, 5, ""), (1, 11, 6, ""))
    setting.join.evict(0, 6)
    setting.feed(1, (1, 20, 6, ""))
    assert Counter(setting.read()) == Counter([(10, 5, None, None), (11, 6, 20, 6)])
    assert setting.join.held_rows == 2


def test_rows_beyond_each_others_reach_do_not_meet(duck: Duck) -> None:
    reach = Reach.of_chunks({0: 1, 1: 2})
    setting = Setting(selected("FULL", "ON x.k = y.k"), duck, reach=reach)
    setting.feed(0, (1, 10, 1, ""), (1, 13, 4, ""))
    setting.feed(1, (1, 20, 0, ""), (1, 21, 2, ""), (1, 24, 4, ""))
    assert Counter(setting.read()) == Counter([(10, 1, 20, 0), (13, 4, 24, 4)])
    setting.evict(9)
    assert setting.read() == [(None, None, 21, 2)]


def test_a_row_that_met_a_partner_does_not_come_out_alone(duck: Duck) -> None:
    setting = Setting(selected("FULL", "ON x.k = y.k"), duck)
    setting.feed(0, (1, 10, 1, ""), (2, 11, 1, ""))
    setting.feed(1, (1, 20, 1, ""), (3, 21, 1, ""))
    assert setting.read() == [(10, 1, 20, 1)]
    setting.evict(2)
    assert Counter(setting.read()) == Counter([(11, 1, None, None), (None, None, 21, 1)])


def test_rows_that_come_after_an_eviction_meet_what_is_held(duck: Duck) -> None:
    setting = Setting(selected("INNER", "ON x.k = y.k"), duck)
    setting.feed(1, (1, 20, 3, ""))
    setting.join.evict(0, 10)
    setting.feed(0, (1, 10, 2, ""))
    assert setting.read() == [(10, 2, 20, 3)]
    setting.join.evict(0, 10)
    assert setting.join.held_rows == 1


def test_a_pair_waits_until_its_greatest_place_is_due(duck: Duck) -> None:
    setting = Setting(selected("INNER", "ON x.k = y.k"), duck)
    setting.feed(0, (1, 10, 1, ""))
    setting.feed(1, (1, 20, 1, ""), (1, 21, 2, ""), (1, 22, 3, ""))
    assert setting.read(2) == [(10, 1, 20, 1)]
    assert setting.read(2) == []
    assert Counter(setting.read(4)) == Counter([(10, 1, 21, 2), (10, 1, 22, 3)])


def test_what_is_ready_stays_ready_until_it_is_taken(duck: Duck) -> None:
    setting = Setting(selected("FULL", "ON x.k = y.k"), duck)
    setting.feed(0, (1, 10, 1, ""), (2, 11, 1, ""))
    setting.feed(1, (1, 20, 1, ""))
    setting.evict(2)
    once = setting.join.ready(2)
    assert {n: each.to_pylist() for n, each in setting.join.ready(2).items()} == {
        n: each.to_pylist() for n, each in once.items()
    }
    setting.join.taken()
    assert all(each.num_rows == 0 for each in setting.join.ready(2).values())


def test_a_semi_join_gives_a_row_where_it_has_its_first_partner(duck: Duck) -> None:
    setting = Setting(selected("SEMI", "ON x.k = y.k"), duck)
    setting.feed(0, (1, 10, 1, ""))
    setting.feed(1, (1, 20, 5, ""))
    setting.feed(1, (1, 21, 3, ""))
    assert setting.read(3) == []
    assert setting.read(4) == [(10, 1)]
    setting.feed(1, (1, 22, 2, ""))
    assert setting.read(6) == []


def test_rows_that_were_prepared_before_a_change_are_not_taken_after_it(duck: Duck) -> None:
    setting = Setting(selected("INNER", "ON x.k = y.k"), duck)
    take = setting.join.feed(0, table(0, [(1, 1, 1, "")]), np.array([1]))
    setting.feed(1, (1, 1, 1, ""))
    with pytest.raises(AssertionError, match="fed or evicted before"):
        take()


def test_rows_that_were_fed_after_ready_are_not_forgotten_with_it(duck: Duck) -> None:
    setting = Setting(selected("INNER", "ON x.k = y.k"), duck)
    setting.feed(0, (1, 1, 1, ""))
    setting.join.ready(None)
    setting.feed(1, (1, 1, 1, ""))
    with pytest.raises(AssertionError, match="after ready"):
        setting.join.taken()


def test_a_join_says_how_it_finds_pairs(duck: Duck) -> None:
    words = {kind: Setting(selected(kind, "ON x.k = y.k"), duck).join.describe() for kind in KINDS}
    joined = "new rows are joined once with the held rows of the other inputs"
    assert words["INNER"] == joined
    assert words["SEMI"] == f"{joined}; of each row only the first pair is kept"
    alone = "; a row without a partner is given when no further row can meet it"
    assert {words[kind] for kind in ("LEFT", "RIGHT", "FULL", "ANTI")} == {joined + alone}


# Rows that fail


@given(feed=feeds, kind=st.sampled_from(KINDS))
def test_a_pair_that_fails_is_left_out_as_if_it_did_not_match(
    duck: Duck, feed: list[tuple[int, list[Row]]], kind: str
) -> None:
    sql = selected(kind, "ON x.k = y.k AND CAST(x.v || y.note AS INT) > 0")
    setting = Setting(sql, duck)
    for number, rows in feed:
        setting.feed(number, *rows)
    setting.end()
    setting.check(sql.replace("CAST", "TRY_CAST"))
    pairs = (
        "SELECT count(*) FROM chunk_0 x JOIN chunk_1 y ON x.k = y.k"
        " AND y.note IS NOT NULL AND TRY_CAST(x.v || y.note AS INT) IS NULL"
    )
    lent = {f"chunk_{number}": table(number, rows) for number, rows in setting.fed.items()}
    assert rows_of(run_once(duck, query_of(pairs), lent)) == [(setting.failing.count,)]


def test_pairs_that_fail_are_counted_by_the_places_of_their_rows(duck: Duck) -> None:
    setting = Setting(selected("INNER", "ON CAST(x.note || y.note AS INT) > 0"), duck)
    setting.feed(0, (1, 10, 4, "1"), (1, 11, 5, "bad"))
    setting.feed(1, (1, 20, 7, "2"))
    assert setting.read() == [(10, 4, 20, 7)]
    assert setting.failing.saved()[2][0][:2] == ([(0, 5), (1, 7)], 1)
    assert "bad2" in str(setting.failing.error)


# Limits


def test_what_is_held_does_not_grow_with_the_number_of_epochs(duck: Duck) -> None:
    kept = {0: 3, 1: 2}
    sql = selected("FULL", "ON x.k = y.k AND x.v <= y.w")
    setting = Setting(sql, duck, reach=Reach.of_chunks(kept))
    held: list[int] = []
    memory: list[int] = []
    for epoch in range(120):
        for number in (0, 1):
            for part in range(4):
                setting.feed(number, *((i, part, epoch, "x" * 100) for i in range(5)))
            setting.join.evict(number, epoch - kept[number] + 2)
        setting.read(epoch + 1)
        setting.given.clear()
        for rows in setting.fed.values():
            rows.clear()
        held.append(setting.join.rows)
        memory.append(pa.total_allocated_bytes())
    assert set(held[10:]) == {20 * 2 + 20 * 1}
    assert max(memory[60:]) <= 1.2 * max(memory[20:60])


# Interruptions


def run_steps(kind: str, duck: Duck, interrupter: Interrupter) -> tuple[list[object], int]:
    """Feed, evict and read; repeat each step until it is not interrupted."""
    reach = Reach.of_chunks({0: 2, 1: 2})
    setting = Setting(selected(kind, "ON x.k = y.k AND CAST(y.note AS INT) > 0"), duck, reach=reach)
    join = setting.join
    found: list[object] = []

    def feed(number: int, rows: Sequence[Row]) -> None:
        places = np.array([row[2] for row in rows], np.int64)
        take = join.feed(number, table(number, rows), places)
        with HeldInterrupt():
            take()

    def read(until: int) -> None:
        rows = rows_of(setting.over(join.ready(until)))
        with HeldInterrupt():
            found.append(sorted(map(str, rows)))
            join.taken()

    steps: list[Callable[[], None]] = []
    for epoch in range(5):
        for number in (1, 0):
            rows: list[Row] = [
                (k, 10 * epoch + k, epoch + (k == 2) * number, "bad" if k == epoch else "1")
                for k in range(4)
                if (k + epoch) % 3 or number
            ]
            steps += [partial(feed, number, rows[:2]), partial(feed, number, rows[2:][::-1])]
        steps += [partial(join.evict, number, epoch - 1) for number in (0, 1)]
        steps.append(partial(read, epoch + 1))
    for step in steps:
        while True:
            try:
                with interrupter.watching():
                    step()
                break
            except KeyboardInterrupt:
                continue
    join._check()
    join.close()
    return found, setting.failing.count


@pytest.mark.parametrize(
    ("kind", "event"), [*((kind, "line") for kind in KINDS), ("FULL", "c_call"), ("SEMI", "c_call")]
)
def test_an_exception_anywhere_loses_no_pair_and_gives_none_twice(
    duck: Duck, kind: str, event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    respect_held_interrupts(monkeypatch)
    expected = run_steps(kind, duck, Interrupter(event))
    assert sum(map(bool, expected[0])) >= 2
    for time in TIMES:
        often = Interrupter(event, lambda moment: moment.time == time)  # noqa: B023  # used here
        assert run_steps(kind, duck, often) == expected
        assert often.raised > 20
