"""Queries over the same windows and groups are evaluated together, and answer as if alone."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from tests.queries.setting import append, make_streams
from upstream import ContinuousQuery, Engine, ManualClock, Result
from upstream.queries.evaluation.shared_windows import Families, SharedWindows, WindowsOfQuery

BY_KEY = "SELECT k, sum(x) AS x, count(*) AS n FROM rows(bids, 4, 2) WHERE x > {} GROUP BY k"


def shared(query: ContinuousQuery) -> SharedWindows | None:
    evaluation = query._evaluated._evaluation
    return evaluation.shared if isinstance(evaluation, WindowsOfQuery) else None


def by_key(engine: Engine, *bounds: int) -> list[ContinuousQuery]:
    return [engine.continuous_query(BY_KEY.format(bound)) for bound in bounds]


def rows_of(results: list[Result]) -> list[list[dict[str, object]]]:
    return [sorted(each.table.to_pylist(), key=repr) for each in results]


def bids(engine: Engine, *numbers: int, note: str = "1") -> None:
    append(engine, "bids", *[(i, x, "ab"[i % 2], note) for i, x in enumerate(numbers)])


def test_queries_with_other_constants_share_their_windows(engine: Engine) -> None:
    one, other, third = by_key(engine, 0, 5, 100)
    assert shared(one) is not None
    assert shared(one) is shared(other) is shared(third)
    bids(engine, 1, 6, 7, 3)
    rows = [rows_of(query.results()) for query in (one, other, third)]
    assert rows[0] == [[{"k": "a", "x": 8, "n": 2}, {"k": "b", "x": 9, "n": 2}]]
    assert rows[1] == [[{"k": "a", "x": 7, "n": 1}, {"k": "b", "x": 6, "n": 1}]]
    assert rows[2] == [[]]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT sum(x) AS x FROM hop(bids, 4, 2)", "SELECT avg(x) AS x FROM hop(bids, 4, 2)"),
        (
            "SELECT k, max(x) AS x FROM tumble(bids, 4) GROUP BY k",
            "SELECT count(*) AS n FROM tumble(bids, 4) WHERE x > 3 GROUP BY k HAVING n > 1",
        ),
        (
            "SELECT k, count(DISTINCT x) AS x FROM tumble(bids, 4) GROUP BY k",
            "SELECT k, sum(DISTINCT x) AS x FROM tumble(bids, 4) WHERE x > 1 GROUP BY k",
        ),
    ],
)
def test_queries_of_one_family_share_their_windows(engine: Engine, one: str, other: str) -> None:
    queries = [engine.continuous_query(text) for text in (one, other)]
    assert shared(queries[0]) is shared(queries[1]) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT sum(x) FROM hop(bids, 4, 2)", "SELECT sum(x) FROM hop(bids, 6, 2)"),
        ("SELECT sum(x) FROM hop(bids, 4, 2)", "SELECT sum(x) FROM hop(asks, 4, 2)"),
        ("SELECT sum(x) FROM tumble(bids, 4)", "SELECT sum(x) FROM tumble(bids, 4) GROUP BY k"),
        ("SELECT list(x) FROM tumble(bids, 4)", "SELECT list(x) FROM tumble(bids, 4)"),
        ("SELECT x FROM tumble(bids, 4)", "SELECT x FROM tumble(bids, 4)"),
        ("SELECT sum(x) FROM landmark(bids)", "SELECT sum(x) FROM landmark(bids)"),
        ("SELECT sum(x) FROM session(bids, 4)", "SELECT sum(x) FROM session(bids, 4)"),
    ],
)
def test_other_queries_do_not_share_theirs(engine: Engine, one: str, other: str) -> None:
    queries = [engine.continuous_query(text) for text in (one, other)]
    assert [shared(query) for query in queries] == [None, None]


@pytest.mark.parametrize(
    "options", [{"allowed_lateness": 5.0}, {"close_after": 5.0}, {"evaluation": "whole"}]
)
def test_a_query_whose_windows_depend_on_more_than_rows_is_alone(
    engine: Engine, options: dict[str, object]
) -> None:
    text = "SELECT sum(x) FROM tumble(bids, 4)"
    queries = [engine.continuous_query(text, **options) for _ in range(2)]  # type: ignore[arg-type]
    assert [shared(query) for query in queries] == [None, None]


def test_a_query_that_is_made_after_a_row_reads_other_rows(engine: Engine) -> None:
    [one] = by_key(engine, 0)
    bids(engine, 1)
    assert shared(by_key(engine, 1)[0]) is None  # although the row still waits
    one.results()
    later = by_key(engine, 2, 3)
    assert shared(one) is None
    assert shared(later[0]) is shared(later[1]) is not None


def test_a_query_does_not_join_a_closed_one(engine: Engine) -> None:
    [one] = by_key(engine, 0)
    one.close()
    assert shared(by_key(engine, 1)[0]) is None


def test_each_query_takes_each_result_once_whenever_it_asks(engine: Engine) -> None:
    one, other = by_key(engine, 0, 0)
    bids(engine, 1, 2, 3, 4)
    first = rows_of(one.results())
    bids(engine, 5, 6)
    assert first + rows_of(one.results()) == rows_of(other.results())
    assert (one.results(), other.results()) == ([], [])
    for query in (one, other):
        assert query.statistics().is_balanced
        assert query.statistics().results_taken == 2


def test_results_that_a_slow_query_cannot_keep_are_dropped_for_it_only(engine: Engine) -> None:
    fast = engine.continuous_query(BY_KEY.format(0))
    slow = engine.continuous_query(BY_KEY.format(1), keep=2)
    taken = []
    for _ in range(5):
        bids(engine, 3, 4)
        taken += fast.results()
    assert [each.window_end for each in taken] == [4, 6, 8, 10]
    found = slow.results()
    assert [(each.window_end, each.missed) for each in found] == [(8, 2), (10, 0)]
    assert slow.statistics().results_dropped == 2
    assert slow.statistics().is_balanced


def test_update_semantics_give_the_newest_result(engine: Engine) -> None:
    every = engine.continuous_query(BY_KEY.format(0))
    newest = engine.continuous_query(BY_KEY.format(0), semantics="update")
    bids(engine, 1, 2, 3, 4, 5, 6)
    assert rows_of(newest.results()) == rows_of(every.results())[-1:]
    assert newest.statistics().results_skipped == 1


def test_a_row_that_one_query_fails_on_is_left_out_for_that_query_only(engine: Engine) -> None:
    text = "SELECT k, sum(CAST(note AS INT)) AS x, count(*) AS n FROM rows(bids, 4, 2) GROUP BY k"
    failing = engine.continuous_query(text)
    sound = engine.continuous_query(BY_KEY.format(0))
    bids(engine, 1, 2)
    bids(engine, 3, note="bad")
    bids(engine, 4)
    [result], [other] = failing.results(), sound.results()
    assert rows_of([result]) == [[{"k": "a", "x": 2, "n": 2}, {"k": "b", "x": 1, "n": 1}]]
    assert rows_of([other]) == [[{"k": "a", "x": 8, "n": 3}, {"k": "b", "x": 2, "n": 1}]]
    assert (result.rows_failed, other.rows_failed) == (1, 0)
    assert (failing.statistics().rows_failed, sound.statistics().rows_failed) == (1, 0)
    bids(engine, 5, 6, 7, 8)
    assert [each.rows_failed for each in failing.results()] == [1, 0]
    assert shared(failing) is shared(sound) is not None


def test_equal_queries_count_rows_once_after_a_row_has_failed(engine: Engine) -> None:
    text = "SELECT sum(CAST(note AS INT)) AS x, count(*) AS n FROM rows(bids, 2, 2)"
    queries = [engine.continuous_query(text) for _ in range(3)]
    bids(engine, 1, 2, note="bad")
    bids(engine, 1, 2)
    for query in queries:
        _, result = query.results()
        assert rows_of([result]) == [[{"x": 2, "n": 2}]]


def test_a_sum_that_overflows_is_an_error_for_its_query_only(engine: Engine) -> None:
    engine.sql("CREATE STREAM large (d DECIMAL(38, 0))")
    over = engine.continuous_query("SELECT sum(d) AS d FROM rows(large, 4, 2)")
    count = engine.continuous_query("SELECT count(*) AS n FROM rows(large, 4, 2)")
    assert shared(over) is shared(count) is not None
    for _ in range(2):
        engine.sql(f"INSERT INTO large VALUES ({9 * 10**37}), (0)")
    [failed], [result] = over.results(), count.results()
    assert failed.error is not None
    assert rows_of([result]) == [[{"n": 4}]]


def test_the_others_go_on_when_queries_are_closed(engine: Engine) -> None:
    readers = engine._catalogue.streams["bids"].log._readers
    before = [*readers]
    queries = by_key(engine, 0, 1, 2, 3)
    bids(engine, 1, 2, 3)
    for query in queries:
        query.results()
    for query in queries[1:]:
        query.close()
    bids(engine, 4, 5, 6)
    found = rows_of(queries[0].results())
    assert found[0] == [{"k": "a", "x": 8, "n": 3}, {"k": "b", "x": 2, "n": 1}]
    evaluation = shared(queries[0])
    assert evaluation is not None
    assert evaluation.leaf.schema.names == ["__g0", "__c1_0", "__c1_1"]
    queries[0].close()
    assert readers == before


def test_a_query_can_be_asked_beside_others(engine: Engine) -> None:
    one, other = by_key(engine, 0, 5)
    bids(engine, 1, 6, 7, 3)
    first = other.ask()
    assert first is not None
    assert first.table.num_rows == 2
    assert one.ask() is not None
    again = other.ask()
    assert again is not None
    assert again.table.equals(first.table)


def test_explain_says_with_how_many_queries_windows_are_shared(engine: Engine) -> None:
    one, *_ = by_key(engine, 0, 1, 2)
    words = "together with those of 2 other queries over the same windows and groups"
    assert words in one.explain()


# Random queries, compared with the same queries alone

ITEMS = [
    *("count(*)", "sum(x)", "avg(x)", "min(x)", "max(x)", "stddev(x)", "count(DISTINCT x)"),
    *("count_if(x > 4)", "count(x) FILTER (x < 6)", "sum(CAST(note AS INT))", "min(window_end)"),
]
CONDITIONS = ["", "WHERE x > 3", "WHERE x < 6 AND k <> 'b'", "WHERE CAST(note AS INT) > 2"]
WINDOWS = ["rows(bids, 5, 2)", "rows(bids, 3, 3)", "hop(bids, 6, 2)", "tumble(bids, 4)"]


@pytest.fixture
def alone() -> Iterator[Engine]:
    with Engine(clock=ManualClock()) as engine:
        make_streams(engine)
        yield engine


def random_text(chance: random.Random, window: str) -> str:
    items = [f"{each} AS a{i}" for i, each in enumerate(chance.sample(ITEMS, 2))]
    group = chance.choice(["", "GROUP BY k", "GROUP BY k, x % 2"])
    having = "HAVING count(*) > 1" if group and chance.random() < 0.2 else ""
    chosen = f"FROM {window} b {chance.choice(CONDITIONS)} {group} {having}"
    return f"SELECT {', '.join(items)} {chosen}"


@pytest.mark.parametrize("seed", range(6))
def test_random_queries_answer_as_if_they_were_alone(
    engine: Engine, alone: Engine, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    window = chance.choice(WINDOWS)
    texts = [random_text(chance, window) for _ in range(5)] * 2
    kept = [1_000 + i for i in range(len(texts))]  # identical queries would share more
    pairs = [*zip(texts, kept, strict=True)]
    together = [
        engine.continuous_query(text, evaluation="increments", keep=keep) for text, keep in pairs
    ]
    monkeypatch.setattr(Families, "join", lambda *_: None)
    single = [
        alone.continuous_query(text, evaluation="increments", keep=keep) for text, keep in pairs
    ]
    assert not any(shared(query) for query in single)
    assert any(shared(query) for query in together)
    time = 0
    closed: list[int] = []
    for _ in range(8):
        rows: list[tuple[int | str, ...]] = []
        for _ in range(chance.choice([1, 1, 4, 20])):
            time += chance.choice([0, 0, 1, 5])
            number = chance.randrange(9)
            note = chance.choice(["1", "2", "3", "5", "bad"]) if chance.random() < 0.5 else "4"
            rows.append((time - chance.choice([0, 0, 3]), number, chance.choice("abc"), note))
        for each in (engine, alone):
            append(each, "bids", *rows)
        if chance.random() < 0.4:
            engine.run(60)
        for i in chance.sample([i for i in range(len(texts)) if i not in closed], 3):
            assert_same(together[i].results(), single[i].results())
        if chance.random() < 0.4:
            closed.append(chance.choice([i for i in range(len(texts)) if i not in closed]))
            together[closed[-1]].close()
    for i in range(len(texts)):
        if i not in closed:
            assert_same(together[i].results(), single[i].results())
            assert together[i].statistics().rows_failed == single[i].statistics().rows_failed


def assert_same(found: list[Result], expected: list[Result]) -> None:
    assert [told(each) for each in found] == [told(each) for each in expected]


def told(result: Result) -> tuple[object, ...]:
    rows = [
        {name: round(x, 9) if isinstance(x, float) else x for name, x in each.items()}
        for each in result.table.to_pylist()
    ]
    bounds = result.window_start, result.window_end
    return *bounds, result.missed, result.rows_failed, result.error, sorted(rows, key=repr)


def test_a_callback_may_close_a_query_that_is_served_after_it(engine: Engine) -> None:
    closed: list[ContinuousQuery] = []
    taken: list[Result] = []

    def close(_: Result) -> None:
        for query in closed:
            query.close()

    engine.continuous_query(BY_KEY.format(0), callback=close)
    closed.append(engine.continuous_query(BY_KEY.format(1), callback=taken.append))
    last = engine.continuous_query(BY_KEY.format(2))
    bids(engine, 1, 2, 3, 4)
    assert engine.run(60) == 1
    assert not taken
    assert len(last.results()) == 1
