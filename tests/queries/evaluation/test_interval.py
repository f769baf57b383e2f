"""Joins of streams whose condition limits how far apart rows are: each pair once, as rows come."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from tests.queries.setting import held
from upstream import Engine, ManualClock, UnboundedQueryError
from upstream.queries.evaluation import interval

from .interval_model import House, rows_of

PAIRS = "SELECT a.time AS t, a.k, a.x, b.time AS u, b.x AS y FROM a JOIN b ON {on}"
NEAR = "a.k = b.k AND b.time BETWEEN a.time - 5 AND a.time"


@pytest.fixture(scope="module")
def shared_house() -> Iterator[House]:
    house = House()
    with house.engine:
        yield house


@pytest.fixture
def house(shared_house: House) -> Iterator[House]:
    yield shared_house
    for query in shared_house.engine.queries:
        query.close()


# One by one


def test_a_pair_is_given_when_its_second_row_comes_and_never_again(house: House) -> None:
    query = house.query(PAIRS.format(on=NEAR))
    house.append("b", (3, "k", 30))
    assert rows_of(query) == []
    house.append("a", (5, "k", 1), (9, "k", 2))
    assert rows_of(query) == [(5, "k", 1, 3, 30)]
    house.append("b", (6, "k", 31))
    assert rows_of(query) == [(9, "k", 2, 6, 31)]
    assert rows_of(query) == []


def test_a_row_of_the_past_of_its_stream_is_late_also_within_a_batch(house: House) -> None:
    query = house.query(PAIRS.format(on=NEAR))
    house.append("a", (5, "k", 1), (4, "k", 2), (5, "k", 3))
    house.append("b", (3, "k", 30), (2, "k", 31))
    assert rows_of(query) == [(5, "k", 1, 3, 30), (5, "k", 3, 3, 30)]
    assert query.statistics().late_by_stream == {"a": 1, "b": 1}
    assert "late rows were dropped: 1 of a, 1 of b" in query.explain()


def test_a_row_within_the_allowed_lateness_is_joined(house: House) -> None:
    query = house.query(PAIRS.format(on=NEAR), allowed_lateness=2)
    house.append("a", (5, "k", 1), (3, "k", 2), (2, "k", 3))
    house.append("b", (9, "k", 30), (7, "k", 31), (6, "k", 32))
    house.append("a", (9, "k", 4))
    assert rows_of(query) == [(9, "k", 4, 7, 31), (9, "k", 4, 9, 30)]
    assert query.statistics().rows_late == 2


def test_a_row_without_a_partner_is_given_once_the_other_side_has_passed(house: House) -> None:
    query = house.query(PAIRS.format(on=NEAR).replace("JOIN", "LEFT JOIN"))
    house.append("a", (5, "k", 1), (5, "k", 2))
    house.append("b", (5, "other", 30))
    assert rows_of(query) == []
    house.append("b", (5, "k", 31), (6, "other", 32))
    assert rows_of(query) == [(5, "k", 1, 5, 31), (5, "k", 2, 5, 31)]
    house.append("a", (7, "l", 3))
    house.append("b", (8, "other", 33))
    assert rows_of(query) == [(7, "l", 3, None, None)]


def test_an_anti_join_gives_the_rows_that_met_nothing(house: House) -> None:
    query = house.query(f"SELECT a.time AS t, x FROM a ANTI JOIN b ON {NEAR}")
    house.append("a", (1, "k", 1), (2, "k", 2), (2, "l", 3))
    house.append("b", (2, "k", 30), (3, "k", 30))
    assert rows_of(query) == [(1, 1), (2, 3)]


def test_a_semi_join_gives_each_row_once(house: House) -> None:
    query = house.query(f"SELECT a.time AS t, x FROM a SEMI JOIN b ON {NEAR}")
    house.append("b", (1, "k", 30), (2, "k", 31))
    house.append("a", (3, "k", 1))
    assert rows_of(query) == [(3, 1)]
    house.append("b", (3, "k", 32))
    assert rows_of(query) == []


def test_exists_is_a_semi_join(house: House) -> None:
    query = house.query(f"SELECT a.time AS t FROM a WHERE EXISTS (SELECT 1 FROM b WHERE {NEAR})")
    house.append("b", (1, "k", 30))
    house.append("a", (3, "k", 1), (3, "l", 1))
    assert rows_of(query) == [(3,)]


def test_rows_that_no_row_can_meet_leave_although_a_condition_drops_them_all(
    house: House,
) -> None:
    query = house.query(PAIRS.format(on=f"{NEAR} AND a.x > 100 AND b.x > 100"))
    for time in range(0, 1_000, 10):
        house.append("a", *[(time, "k", 1)] * 4)
        house.append("b", *[(time, "k", 1)] * 4)
        query.results()
        assert held(query) <= 16


@pytest.mark.slow
def test_what_is_held_depends_on_the_band_and_not_on_how_long_it_runs(house: House) -> None:
    query = house.query(PAIRS.format(on=NEAR))
    found = 0
    for time in range(1_000):
        house.append("a", *((time, key, time) for key in "kl"))
        house.append("b", (time, "k", time))
        found += len(rows_of(query))
        assert held(query) <= 2 * 2 + 6  # those of b for the next five seconds, and of a for none
    assert found == sum(min(time, 5) + 1 for time in range(1_000))


def test_streams_that_are_read_rarely_are_answered_in_the_same_way(house: House) -> None:
    query = house.query(PAIRS.format(on=NEAR))
    for time in range(300):
        house.append("a", (time, "k", time))
        house.append("b", (time, "k", time))
    assert len(rows_of(query)) == sum(min(time, 5) + 1 for time in range(300))
    assert held(query) <= 10


def test_a_long_backlog_is_joined_portion_by_portion(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interval, "_ROWS", 7)
    query = house.query(PAIRS.format(on=NEAR))
    house.append("a", *((time, "k", time) for time in range(100)))
    house.append("b", *((time, "k", time) for time in range(60)))
    house.append("b", *((time, "k", time) for time in range(60, 100)))
    assert len(rows_of(query)) == sum(min(time, 5) + 1 for time in range(100))
    assert held(query) <= 8


def test_nothing_can_be_asked_for(house: House) -> None:
    query = house.query(PAIRS.format(on=NEAR))
    with pytest.raises(Exception, match="keeps no rows"):
        query.ask()


def test_a_row_waits_for_all_streams_that_it_is_joined_with(house: House) -> None:
    query = house.query(
        f"SELECT a.x, b.x AS y, c.x AS z FROM a JOIN b ON {NEAR} JOIN c ON c.time = b.time"
    )
    house.append("a", (5, "k", 1))
    house.append("b", (5, "k", 2), (100, "k", 3))
    house.append("a", (100, "l", 4))
    assert rows_of(query) == []
    house.append("c", (5, "other", 7))
    assert rows_of(query) == [(1, 2, 7)]
    house.append("c", (101, "other", 8))
    house.append("b", (106, "k", 3))
    assert rows_of(query) == []
    assert held(query) == 3, "rows of b and c that further rows of a can meet"


# Failing rows


def test_a_pair_on_which_the_query_fails_is_left_out_and_counted(house: House) -> None:
    query = house.query(f"SELECT a.time AS t, (a.x // b.x)::UTINYINT AS q FROM a JOIN b ON {NEAR}")
    house.append("a", (5, "k", 1), (5, "k", -8), (5, "k", 6))
    house.append("b", (5, "k", 2))
    [result] = query.results()
    assert [row["q"] for row in result.table.to_pylist()] == [0, 3]
    assert (result.rows_failed, query.statistics().rows_failed) == (1, 1)
    house.append("b", (5, "k", 1))
    [result] = query.results()
    assert (result.table.num_rows, result.rows_failed) == (2, 1)


# Silence


def test_a_silent_side_lets_rows_leave_by_the_clock(house: House) -> None:
    query = house.query(PAIRS.format(on=NEAR).replace("JOIN", "LEFT JOIN"), close_after=3)
    house.append("b", (10, "k", 1))
    house.append("a", (12, "k", 2), (16, "k", 3))
    assert rows_of(query) == [(12, "k", 2, 10, 1)]
    house.clock.advance(2)
    assert rows_of(query) == []
    assert query._evaluated._next_due() == house.clock.now() + 1
    house.clock.advance(1)  # a goes on to 19, and b follows it
    assert rows_of(query) == [(16, "k", 3, None, None)]
    assert held(query) == 0


def test_a_silent_side_follows_the_other_side_if_that_is_ahead(house: House) -> None:
    query = house.query(PAIRS.format(on=NEAR).replace("JOIN", "LEFT JOIN"), close_after=3)
    house.append("b", (10, "k", 1))
    house.clock.advance(2)
    house.append("a", (500, "k", 2), (501, "k", 3))
    assert rows_of(query) == []
    house.clock.advance(1)
    assert query._evaluated._next_due() == house.clock.now()
    assert rows_of(query) == [(500, "k", 2, None, None)]
    assert query._evaluated._next_due() == house.clock.now() + 2  # when a is silent as well
    house.clock.advance(2)
    assert rows_of(query) == [(501, "k", 3, None, None)]


def test_a_side_that_never_had_a_row_is_not_waited_for(house: House) -> None:
    query = house.query(PAIRS.format(on=NEAR).replace("JOIN", "LEFT JOIN"), close_after=3)
    house.clock.advance(1)
    house.append("a", (12, "k", 2))
    house.clock.advance(1)
    house.append("a", (13, "k", 2))
    house.clock.advance(0.5)
    assert rows_of(query) == []
    assert query._evaluated._next_due() == house.clock.now() + 0.5
    house.clock.advance(0.5)
    assert rows_of(query) == [(12, "k", 2, None, None)]


def test_the_engine_runs_a_query_when_the_clock_lets_a_row_leave(house: House) -> None:
    found: list[object] = []
    query = house.engine.continuous_query(
        PAIRS.format(on=NEAR).replace("JOIN", "LEFT JOIN"),
        close_after=3,
        callback=lambda result: found.extend(result.table.to_pylist()),
    )
    house.append("a", (16, "k", 3))
    house.engine.run(1.0)
    assert (found, query.is_due()) == ([], False)
    house.clock.advance(4)
    assert query.is_due()
    assert query.staleness() == 1.0
    house.engine.run(1.0)
    assert found == [{"t": 16, "k": "k", "x": 3, "u": None, "y": None}]
    assert not query.is_due()


@pytest.mark.parametrize("join", ["JOIN", "LEFT JOIN", "FULL JOIN"])
def test_an_idle_side_does_not_let_the_other_one_grow(house: House, join: str) -> None:
    query = house.query(PAIRS.format(on=NEAR).replace("JOIN", join), close_after=3)
    house.append("a", (0, "k", 1))
    found = 0
    for time in range(1, 300):
        house.clock.advance(1)
        house.append("b", (time, "k", time))
        found += len(rows_of(query))
        assert held(query) <= 3 + 5 + 2  # a is silent after three seconds, and may be five newer
    assert found == {"JOIN": 0, "LEFT JOIN": 1, "FULL JOIN": 1 + 293}[join]


def test_what_a_side_missed_in_its_silence_is_late_when_it_comes_back(house: House) -> None:
    query = house.query(PAIRS.format(on=NEAR), close_after=3)
    house.append("b", (10, "k", 1))
    house.append("a", (10, "k", 2))
    assert len(rows_of(query)) == 1
    house.clock.advance(5)
    house.append("a", (30, "k", 3))
    house.clock.advance(1)
    house.append("b", (29, "k", 4), (30, "k", 5))
    assert rows_of(query) == [(30, "k", 3, 30, 5)]
    assert query.statistics().rows_late == 1
    house.append("b", (31, "k", 6), (32, "k", 7))
    house.append("a", (32, "k", 8))
    assert rows_of(query) == [(32, "k", 8, 30, 5), (32, "k", 8, 31, 6), (32, "k", 8, 32, 7)]


def test_without_close_after_a_silent_side_is_waited_for(house: House) -> None:
    query = house.query(PAIRS.format(on=NEAR).replace("JOIN", "LEFT JOIN"))
    house.append("b", (10, "k", 1))
    house.append("a", (12, "l", 2))
    house.clock.advance(1_000)
    assert rows_of(query) == []
    assert query._evaluated._next_due() is None
    house.append("b", (13, "k", 1))
    assert rows_of(query) == [(12, "l", 2, None, None)]


# Beside other things


def test_tables_and_newest_rows_are_joined_with_the_pairs(house: House) -> None:
    house.engine.create_table("names", {"k": ["k"], "name": ["Ada"]})
    house.engine.sql("CREATE STREAM prices (k TEXT, price BIGINT) KEY (k)")
    query = house.query(
        f"""SELECT name, price, a.x, b.x AS y FROM a JOIN b ON {NEAR}
            LEFT JOIN names n ON n.k = a.k LEFT JOIN latest(prices) p ON p.k = b.k"""
    )
    house.append("a", (5, "k", 1), (5, "l", 2))
    house.append("b", (5, "k", 3))
    assert rows_of(query) == [("Ada", None, 1, 3)]
    house.engine.append("prices", {"k": ["k", "l"], "price": [7, 8]})
    house.append("b", (5, "k", 4), (5, "l", 5))
    assert rows_of(query) == [("Ada", 7, 1, 4), (None, 8, 2, 5)]


def test_the_pairs_may_be_inside_a_subquery_or_a_common_table(house: House) -> None:
    query = house.query(
        f"WITH near AS (SELECT a.x + b.x AS s, a.k FROM a, b WHERE {NEAR}) "
        "SELECT * FROM (SELECT s * 2 AS d, k FROM near) WHERE d > 4"
    )
    house.append("a", (5, "k", 1), (5, "k", 2))
    house.append("b", (5, "k", 1))
    assert rows_of(query) == [(6, "k")]


def test_the_pairs_fill_a_stream(house: House) -> None:
    house.engine.sql(f"CREATE STREAM near KEY (k) AS SELECT a.k, b.x AS y FROM a JOIN b ON {NEAR}")
    house.append("a", (5, "k", 1))
    house.append("b", (5, "k", 7))
    assert house.engine.sql("SELECT k, y FROM near").to_pylist() == [{"k": "k", "y": 7}]
    house.engine.sql("DROP STREAM near")


def test_times_with_a_unit_are_joined_in_it() -> None:
    with Engine(clock=ManualClock()) as engine:
        for name in "ab":
            engine.sql(f"CREATE STREAM {name} (at TIMESTAMPTZ, x INT) KEY (x) TIME (at)")
        query = engine.continuous_query(
            "SELECT a.x, b.x AS y FROM a JOIN b ON b.at BETWEEN a.at - INTERVAL '1500 ms' AND a.at",
            allowed_lateness=1,
        )
        start = datetime(2024, 3, 31, tzinfo=UTC)
        moments = [start + timedelta(seconds=seconds / 2) for seconds in range(8)]
        engine.append("a", {"at": moments, "x": range(8)})
        engine.append("b", {"at": moments, "x": range(8)})
        pairs = [(i, j) for i in range(8) for j in range(i - 3, i + 1) if j >= 0]
        assert rows_of(query) == sorted(pairs, key=repr)
        assert "a waits for rows of b that are not newer" in query.explain()
        assert "b waits for rows of a that are up to 1.5 seconds newer" in query.explain()
        assert held(query) == 2 + 1 + 5 + 1  # so many have times that can still come


# What is refused


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT a.x FROM a JOIN b USING (k)", r"by how much rows of b can be newer[^$]*b.time"),
        ("SELECT a.x FROM a JOIN b ON a.time <= b.time", r"b.time BETWEEN a.time AND a.time \+ 5"),
        ("SELECT a.x FROM a JOIN b ON b.time <= a.time", "how much rows of a can be newer than"),
        ("SELECT a.x FROM a LEFT JOIN b USING (k) WHERE a.time = b.time", "rows of b can be newer"),
        ("SELECT a.x FROM a JOIN b c USING (k)", "rows of c can be newer than the rows of a"),
        (f"SELECT sum(a.x) FROM a JOIN b ON {NEAR}", "one row of each: an aggregate needs all"),
        (f"SELECT a.x FROM a JOIN b ON {NEAR} LIMIT 3", "one row of each: LIMIT needs all rows"),
        (
            f"SELECT max(s) FROM (SELECT a.x + b.x AS s FROM a JOIN b ON {NEAR})",
            "an aggregate needs all rows",
        ),
        (f"SELECT DISTINCT a.x FROM a JOIN b ON {NEAR}", "DISTINCT needs all rows"),
        (
            "SELECT a.x FROM a ASOF JOIN b ON a.k = b.k AND a.time >= b.time",
            "a join of streams: ASOF",
        ),
        ("SELECT a.x FROM a JOIN timeless t ON a.k = t.k", "by their times, and timeless has none"),
        ("SELECT a.x FROM a JOIN dated d ON a.k = d.k", "times of a and dated must be of one type"),
        ("SELECT x FROM a UNION SELECT x FROM b", "rows of the stream: DISTINCT"),
        (
            f"SELECT a.x FROM a JOIN (SELECT * FROM b WHERE x > 0) b ON {NEAR}",
            "b must be a stream, not a query[^$]*write the conditions in WHERE",
        ),
        (
            "WITH q AS (SELECT * FROM b) SELECT a.x FROM a JOIN q ON q.time = a.time",
            "q must be a stream, not a query",
        ),
    ],
)
def test_a_join_that_would_have_to_keep_all_rows_is_refused(
    house: House, text: str, reason: str
) -> None:
    known = house.engine.streams
    if "timeless" not in known:
        house.engine.sql("CREATE STREAM timeless (k TEXT) KEY (k)")
        house.engine.sql("CREATE STREAM dated (k TEXT, day DATE) KEY (k) TIME (day)")
    with pytest.raises(UnboundedQueryError, match=reason):
        house.query(text)


def test_a_refused_query_leaves_no_reader(house: House) -> None:
    readers = house.engine._catalogue.streams["a"].log._readers
    before = list(readers)
    with pytest.raises(UnboundedQueryError):
        house.query("SELECT a.x FROM a JOIN b USING (k)")
    assert readers == before


def test_results_cannot_be_left_out(house: House) -> None:
    with pytest.raises(Exception, match="cannot skip results"):
        house.query(PAIRS.format(on=NEAR), emit_every=5)
