"""Joins of streams: each pair of rows that share a window counts once in each of those windows."""

from __future__ import annotations

from math import gcd

from hypothesis import given as given_that
from hypothesis import settings
from hypothesis import strategies as st

from tests.queries.setting import append, every_way, given, held, make_streams, revised
from upstream import Engine, ManualClock
from upstream.queries.choices import Way
from upstream.queries.chunks.windows import Schedule, Windows

COUNTS = """SELECT count(*) AS n, sum(b.x * a.x) AS x
            FROM hop(bids, 20, 10) b JOIN hop(asks, 20, 10) a ON a.k = b.k"""
PAIRS = """SELECT b.x AS bid, a.x AS ask
           FROM hop(bids, 20, 10) b JOIN hop(asks, 20, 10) a ON a.k = b.k"""


@every_way
def test_a_pair_is_in_every_window_that_has_both_of_its_rows(engine: Engine, way: Way) -> None:
    # time   -10    0     10    20    30
    # bids            1      2        |
    # asks              5       7     |
    # windows  [---1·5---)
    #                [-1·5 1·7 2·5 2·7-)
    #                      [---2·7---)
    query = engine.continuous_query(PAIRS, evaluation=way)
    append(engine, "bids", (3, 1), (12, 2), (30, 0))
    append(engine, "asks", (6, 5), (16, 7), (30, 0))
    assert given(query.results()) == [
        (-10, 10, [(1, 5)]),
        (0, 20, [(1, 5), (1, 7), (2, 5), (2, 7)]),
        (10, 30, [(2, 7)]),
    ]


@every_way
def test_it_does_not_matter_which_of_two_rows_came_first(engine: Engine, way: Way) -> None:
    query = engine.continuous_query(PAIRS, evaluation=way)
    append(engine, "asks", (16, 7))
    query.results()
    append(engine, "bids", (3, 1))
    query.results()
    append(engine, "bids", (12, 2), (20, 0))
    query.results()
    append(engine, "asks", (20, 0))
    assert given(query.results()) == [(0, 20, [(1, 7), (2, 7)])]


@every_way
def test_only_rows_that_match_are_pairs(engine: Engine, way: Way) -> None:
    query = engine.continuous_query(f"{PAIRS} AND a.x > b.x", evaluation=way)
    append(engine, "bids", (1, 1, "a"), (2, 2, "b"), (3, 9, "a"), (20, 0))
    append(engine, "asks", (1, 5, "a"), (2, 6, "c"), (20, 0))
    assert given(query.results())[0] == (-10, 10, [(1, 5)])


@every_way
def test_a_late_row_meets_the_rows_of_windows_that_were_answered(engine: Engine, way: Way) -> None:
    # time     0     10    20    30
    # bids       1     2     |
    # asks       5           |
    # late           7              of asks: [0, 20) and, where nothing was, [10, 30) next
    query = engine.continuous_query(PAIRS, evaluation=way, allowed_lateness=30)
    append(engine, "bids", (3, 1), (13, 2), (25, 0, "z"))
    append(engine, "asks", (6, 5), (25, 0, "y"))
    assert revised(query.results()) == [(-10, 0, [(1, 5)]), (0, 0, [(1, 5), (2, 5)])]
    append(engine, "asks", (14, 7))
    assert revised(query.results()) == [(0, 1, [(1, 5), (1, 7), (2, 5), (2, 7)])]
    append(engine, "asks", (31, 0, "y"))
    append(engine, "bids", (31, 0, "z"))
    assert revised(query.results()) == [(10, 0, [(2, 7)])]


@every_way
def test_a_stream_can_be_joined_with_itself(engine: Engine, way: Way) -> None:
    query = engine.continuous_query(
        """SELECT one.x AS one, other.x AS other
           FROM tumble(bids, 10) one JOIN tumble(bids, 10) other ON one.x < other.x""",
        evaluation=way,
    )
    append(engine, "bids", (1, 1), (2, 2))
    append(engine, "bids", (3, 3), (10, 4))
    assert given(query.results()) == [(0, 10, [(1, 2), (1, 3), (2, 3)])]


@every_way
def test_three_streams_can_be_joined(engine: Engine, way: Way) -> None:
    engine.sql("CREATE STREAM deals (time BIGINT, k TEXT, x BIGINT) KEY (k) TIME (time)")
    query = engine.continuous_query(
        """SELECT sum(b.x * a.x * d.x) AS x FROM tumble(bids, 10) b
           JOIN tumble(asks, 10) a ON a.k = b.k JOIN tumble(deals, 10) d ON d.k = a.k""",
        evaluation=way,
    )
    append(engine, "bids", (1, 2), (2, 3))
    append(engine, "asks", (1, 5))
    engine.append("deals", {"time": [4, 10], "k": ["a", "a"], "x": [7, 0]})
    append(engine, "bids", (10, 0))
    append(engine, "asks", (3, 11), (10, 0))
    assert given(query.results()) == [(0, 10, (2 + 3) * (5 + 11) * 7)]


@every_way
def test_windows_over_rows_are_joined_by_their_numbers(engine: Engine, way: Way) -> None:
    query = engine.continuous_query(
        "SELECT sum(b.x * a.x) AS x FROM rows(bids, 2, 2) b, rows(asks, 2, 2) a", evaluation=way
    )
    append(engine, "bids", (0, 1), (0, 2), (0, 3))
    append(engine, "asks", (0, 5))
    assert query.results() == []
    append(engine, "asks", (0, 7))
    assert given(query.results()) == [(0, 2, 3 * 12)]


def test_a_row_that_fails_alone_is_left_out_and_counted(engine: Engine) -> None:
    query = engine.continuous_query(
        """SELECT b.x AS bid, a.x AS ask FROM tumble(bids, 10) b
           JOIN tumble(asks, 10) a ON a.k = b.k WHERE CAST(b.note AS INT) > 0""",
        evaluation="increments",
    )
    append(engine, "bids", (1, 1, "a", "1"), (2, 2, "a", "bad"), (3, 3, "a", "3"), (10,))
    append(engine, "asks", (1, 5), (10,))
    assert given(query.results()) == [(0, 10, [(1, 5), (3, 5)])]
    assert query.statistics().rows_failed == 1


def test_a_row_that_fails_is_left_out_of_a_measured_join(engine: Engine) -> None:
    query = engine.continuous_query(
        """SELECT count(*) AS n FROM tumble(bids, 10) b
           JOIN tumble(asks, 10) a ON a.k = b.k WHERE CAST(b.note AS INT) > 0"""
    )
    append(engine, "bids", (1, 1, "a", "1"), (2, 2, "a", "bad"), (10,))
    append(engine, "asks", (1, 5), (10,))
    assert given(query.results()) == [(0, 10, 1)]
    assert query.statistics().rows_failed == 1


# Against a model


feeds = st.lists(
    st.tuples(
        st.sampled_from(["bids", "asks"]),
        st.lists(st.tuples(st.integers(-30, 15), st.integers(0, 3)), min_size=1, max_size=4),
    ),
    min_size=8,
    max_size=20,
)


@settings(max_examples=8)
@given_that(feed=feeds, lateness=st.none() | st.integers(0, 40))
def test_every_window_counts_its_pairs(
    feed: list[tuple[str, list[tuple[int, int]]]], lateness: int | None
) -> None:
    with Engine(clock=ManualClock()) as engine:
        make_streams(engine)
        query = engine.continuous_query(COUNTS, evaluation="increments", allowed_lateness=lateness)
        rows: dict[str, list[tuple[int, int]]] = {"bids": [], "asks": []}
        newest: dict[str, int] = {}
        answers: dict[object, tuple[int, object]] = {}
        for moment, (stream, batch) in enumerate(feed):
            batch = [(time + 8 * moment, x) for time, x in batch]
            append(engine, stream, *batch)
            for time, x in batch:
                known = newest.setdefault(stream, time)
                is_behind = time // 10 < known // 10
                if not is_behind or (lateness is not None and time >= known - lateness):
                    newest[stream] = max(known, time)
                    rows[stream].append((time, x))
            for start, revision, content in revised(query.results()):
                assert isinstance(revision, int)
                assert answers.get(start, (-1, None))[0] < revision
                answers[start] = (revision, content)
        closed = min(newest.values()) if len(newest) == 2 else -1_000
        for start in range(-70, 200, 10):
            inside = {s: [x for t, x in rows[s] if start <= t < start + 20] for s in rows}
            before = any(start - 10 <= t < start + 10 for each in rows.values() for t, _ in each)
            if start + 20 > closed or not (any(inside.values()) or before):
                assert start not in answers
            else:
                products = [bid * ask for bid in inside["bids"] for ask in inside["asks"]]
                expected = (len(products), sum(products) if products else None)
                assert answers[start][1] == [expected]


def test_rows_that_met_all_they_can_meet_are_held_no_more(engine: Engine) -> None:
    query = engine.continuous_query(PAIRS, evaluation="increments")
    for time in range(0, 200, 10):
        for stream in ("bids", "asks"):
            append(engine, stream, (time, time, str(time)))
        query.results()
    assert 0 < held(query) <= 9
    append(engine, "bids", (10_000, 0))
    append(engine, "asks", (10_000, 0))
    query.results()
    assert held(query) <= 6


UNEVEN = """SELECT count(*) AS n, sum(b.x * a.x) AS x
            FROM hop(bids, {0}, {1}, offset => {2}) b JOIN hop(asks, {3}, {4}, offset => {5}) a
            ON a.k = b.k"""


@every_way
def test_rows_meet_those_of_the_newest_window_of_the_other_stream(engine: Engine, way: Way) -> None:
    # time     0    5    10   15   20
    # bids       1    2    3     4   |      tumble 5: at each end 5, 10, 15, 20
    # asks       5         7         |      tumble 10: of [-10, 0), [0, 10), [0, 10), [10, 20)
    query = engine.continuous_query(
        """SELECT b.x AS bid, a.x AS ask FROM tumble(bids, 5) b JOIN tumble(asks, 10) a
           ON a.k = b.k""",
        evaluation=way,
    )
    append(engine, "bids", (2, 1), (7, 2), (11, 3), (18, 4), (20, 0))
    append(engine, "asks", (2, 5), (12, 7), (20, 0))
    assert given(query.results()) == [
        (-10, 5, []),
        (0, 10, [(2, 5)]),
        (0, 15, [(3, 5)]),
        (10, 20, [(4, 7)]),
    ]


lengths = st.sampled_from([2, 4, 6, 10, 14])


@settings(max_examples=10)
@given_that(
    feed=feeds,
    lateness=st.none() | st.integers(0, 40),
    measures=st.tuples(lengths, lengths, lengths, lengths),
    offsets=st.tuples(st.integers(0, 3), st.integers(0, 3)),
)
def test_windows_of_any_sizes_and_slides_count_their_pairs(
    feed: list[tuple[str, list[tuple[int, int]]]],
    lateness: int | None,
    measures: tuple[int, int, int, int],
    offsets: tuple[int, int],
) -> None:
    size, slide, other_size, other_slide = measures
    one, other = (2 * (offset % 2) for offset in offsets)
    text = UNEVEN.format(size, slide, one, other_size, other_slide, other)
    step = gcd(*measures, one - other)
    schedule = {"bids": Windows(size, slide, one), "asks": Windows(other_size, other_slide, other)}
    both = Schedule(list(schedule.values()))
    with Engine(clock=ManualClock()) as engine:
        make_streams(engine)
        queries = [
            engine.continuous_query(text, evaluation=way, allowed_lateness=lateness)
            for way in ("increments", "whole")
        ]
        rows: dict[str, list[tuple[int, int]]] = {"bids": [], "asks": []}
        newest: dict[str, int] = {}
        answers: list[dict[object, object]] = [{}, {}]
        for moment, (stream, batch) in enumerate(feed):
            batch = [(time + 8 * moment, x) for time, x in batch]
            append(engine, stream, *batch)
            for time, x in batch:
                known = newest.setdefault(stream, time)
                phase = one % step
                is_behind = (time - phase) // step < (known - phase) // step
                if not is_behind or (lateness is not None and time >= known - lateness):
                    newest[stream] = max(known, time)
                    rows[stream].append((time, x))
            for query, found in zip(queries, answers, strict=True):
                found.update({end: content for _, end, content in given(query.results())})
        assert answers[0] == answers[1]
    closed = min(newest.values()) if len(newest) == 2 else -1_000
    end, was_occupied = both.end_after(-200), False
    while end <= 300:
        spans = dict(zip(rows, both.at(end), strict=True))
        inside = {s: [x for t, x in rows[s] if spans[s].first <= t < spans[s].end] for s in rows}
        is_occupied = any(inside.values())
        if end > closed or not (is_occupied or was_occupied):
            assert end not in answers[0]
        else:
            products = [bid * ask for bid in inside["bids"] for ask in inside["asks"]]
            assert answers[0][end] == [(len(products), sum(products) if products else None)]
        end, was_occupied = both.end_after(end), is_occupied


def test_a_row_that_fails_takes_none_of_the_pairs_of_others_with_it(engine: Engine) -> None:
    query = engine.continuous_query(
        "SELECT a.x, b.x AS y FROM tumble(bids, 10) a JOIN tumble(asks, 10) b"
        " ON CAST(a.note || b.note AS INT) > 0",
        evaluation="increments",
        allowed_lateness=100,
    )
    append(engine, "bids", (1, 1, "a", "bad"), (2, 2, "a", "2"), (10, 0))
    append(engine, "asks", (1, 5, "a", "5"), (2, 6, "a", "6"), (10, 0))
    assert given(query.results()) == [(0, 10, [(2, 5), (2, 6)])]
    append(engine, "asks", (3, 7, "a", "7"))
    assert given(query.results()) == [(0, 10, [(2, 5), (2, 6), (2, 7)])]
    assert query.statistics().rows_failed > 0
