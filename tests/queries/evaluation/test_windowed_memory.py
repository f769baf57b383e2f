"""Sliding windows: a change of the way of evaluation changes no result, and few rows are held."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import pyarrow as pa
import pytest

from tests.queries.setting import append, given, held, make_streams, revised, windows_of
from upstream import ContinuousQuery, Engine, ManualClock
from upstream.database.prepared import Prepared
from upstream.queries.choices import Way
from upstream.queries.evaluation import chosen_way, window_planning
from upstream.queries.evaluation.chosen_way import ChosenWay

HOPS = "SELECT sum(x) AS x FROM hop(bids, 20, 10)"


NUMBERS = "TRY_CAST({}.note AS INT) IS NOT NULL"


def feed(engine: Engine, slide: int, *, count: int = 4, note: str = "1") -> None:
    """Append rows to both streams, some of them late; the last has another note."""
    for stream in ("bids", "asks"):
        times = [10 * slide + 3 * (i % 4) - 7 * (i % 3) for i in range(count)]
        rows = [(time, time % 7, "ab"[time % 2], str(time % 5)) for time in times[:-1]]
        append(engine, stream, *rows, (times[-1], 3, "a", note))


def is_whole(query: ContinuousQuery) -> bool:
    return "evaluated in full" in query.explain()


@pytest.mark.parametrize("polled", [1, 3])
@pytest.mark.parametrize("cause", ["size", "failure", "late failure"])
@pytest.mark.parametrize(
    "case",
    [
        (
            """SELECT b.k, sum(CAST(b.note AS INT)) AS x, count(DISTINCT x) AS n
               FROM hop(bids, 30, 10) b{} GROUP BY b.k""",
            f" WHERE {NUMBERS.format('b')}",
            25,
        ),
        (
            """SELECT b.k, count(*) AS n, max(a.x) AS x, sum(CAST(b.note AS INT)) AS s
               FROM hop(bids, 30, 10) b JOIN hop(asks, 30, 10) a ON a.k = b.k{} GROUP BY b.k""",
            f" WHERE {NUMBERS.format('b')}",
            25,
        ),
        (
            """SELECT b.k, count(*) AS n, max(CAST(a.note AS INT)) AS x
               FROM hop(bids, 30, 10) b JOIN hop(asks, 20, 20) a ON a.k = b.k{} GROUP BY b.k""",
            f" WHERE {NUMBERS.format('a')}",
            25,
        ),
        (
            "SELECT b.k, CAST(b.note AS INT) AS x FROM hop(bids, 30, 10) b{}",
            f" WHERE {NUMBERS.format('b')}",
            None,
        ),
    ],
    ids=["grouped", "joined", "joined over different windows", "rows"],
)
def test_to_change_the_way_changes_no_result(
    monkeypatch: pytest.MonkeyPatch,
    case: tuple[str, str, float | None],
    cause: str,
    polled: int,
) -> None:
    text, good, lateness = case
    monkeypatch.setattr(window_planning, "MOST_ROWS", 14)
    for name in ("MOST_ROWS", "MOST_JOINED_ROWS"):
        monkeypatch.setattr(chosen_way, name, 14)
    with Engine(clock=ManualClock()) as engine:
        make_streams(engine)
        query = engine.continuous_query(text.format(""), allowed_lateness=lateness)
        plain = engine.continuous_query(
            text.format(good), allowed_lateness=lateness, evaluation="whole"
        )
        ways = []
        for slide in range(36):
            is_bad = slide == 15 and cause != "size"
            if is_bad and cause == "late failure":
                feed(engine, slide)
                append(engine, "bids", (10 * slide - 9, 1, "a", "bad"))
                append(engine, "asks", (10 * slide - 9, 1, "a", "bad"))
            else:
                count = 12 if slide > 15 and cause == "size" else 4
                feed(engine, slide, count=count, note="bad" if is_bad else "1")
            if slide % polled == 0:
                assert revised(query.results()) == revised(plain.results())
                ways.append(is_whole(query))
        assert is_whole(plain)
        is_changed = not (cause == "late failure" and lateness is None)  # else it is left out
        assert (ways[0], ways[-1]) == (True, not is_changed)


@pytest.mark.parametrize("other", ["hop(asks, 30, 10)", "hop(asks, 20, 20)"])
@pytest.mark.parametrize("lateness", [None, 25])
def test_to_try_both_ways_of_a_join_changes_no_result(
    monkeypatch: pytest.MonkeyPatch, other: str, lateness: float | None
) -> None:
    monkeypatch.setattr(chosen_way, "MOST_JOINED_ROWS", 3)
    costs = iter([1.0] * 4 + [0.5] * 3 + [9.0] * 40)
    cost = ChosenWay.cost
    monkeypatch.setattr(ChosenWay, "cost", lambda self, _: cost(self, next(costs)))
    text = f"""SELECT b.k, count(*) AS n, sum(a.x) AS x
               FROM hop(bids, 30, 10) b JOIN {other} a ON a.k = b.k GROUP BY b.k"""
    with Engine(clock=ManualClock()) as engine:
        make_streams(engine)
        query = engine.continuous_query(text, allowed_lateness=lateness)
        plain = engine.continuous_query(text, allowed_lateness=lateness, evaluation="whole")
        ways: list[bool] = []
        for slide in range(40):
            feed(engine, slide)
            assert revised(query.results()) == revised(plain.results())
            if not ways or ways[-1] != is_whole(query):
                ways.append(is_whole(query))
        assert ways == [True, False, True, False]
        assert "measured" not in query.explain()
        assert held(query) < held(plain) * 4


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("SELECT count(*) AS n FROM tumble(bids, 10)", 65_536),
        ("SELECT count(*) AS n FROM tumble(bids, 10) b JOIN tumble(asks, 10) a USING (x)", 4_096),
    ],
)
@pytest.mark.parametrize("more", [0, 1])
def test_windows_of_so_many_rows_are_evaluated_whole_and_larger_ones_by_increments(
    engine: Engine, text: str, most: int, more: int
) -> None:
    query = engine.continuous_query(text)
    assert f"windows of up to {most:,} rows are evaluated in full" in query.explain()
    rows = most + more
    engine.append("bids", {"time": [1] * rows, "k": ["a"] * rows, "x": range(rows)})
    engine.append("asks", {"time": [1] * most, "k": ["a"] * most, "x": range(most)})
    for stream in ("bids", "asks"):
        append(engine, stream, (10,))
    assert given(query.results()) == [(0, 10, most if "JOIN" in text else rows)]
    assert is_whole(query) == (not more)


def test_a_large_window_is_not_kept_to_be_evaluated_whole(engine: Engine) -> None:
    query = engine.continuous_query("SELECT sum(x) AS x FROM rows(bids, 60000, 30000)")
    for _ in range(5):
        engine.append(
            "bids",
            {"time": range(30_000), "k": ["a"] * 30_000, "x": [1] * 30_000},
        )
    assert is_whole(query)
    assert query.results()[-1].table["x"].to_pylist() == [60_000]
    assert "are evaluated incrementally" in query.explain()
    assert held(query) < 10


# What is held


def held_over_slides(
    engine: Engine, query: ContinuousQuery, times: Sequence[int], streams: Sequence[str]
) -> list[int]:
    """Append rows at these times, ten each, and return how many rows were held after each."""
    rows_held = []
    for time in times:
        for stream in streams:
            append(engine, stream, *[(time + i, i, "ab"[i % 2]) for i in range(10)])
        query.results()
        rows_held.append(held(query))
    return rows_held


JOIN = "SELECT count(*) AS n FROM hop(bids, 20, 10) b JOIN hop(asks, 20, 10) a ON a.k = b.k"
LISTS = "SELECT k, x FROM hop(bids, 20, 10)"
TIMES = {
    "slides": range(0, 300, 10),
    "gaps": range(0, 30_000, 1_000),
    "batches within a step": [step // 4 * 10 for step in range(60)],
}


@pytest.mark.parametrize(
    ("text", "way", "most"),
    [
        (HOPS, "increments", 4),
        (HOPS, "whole", 20),
        (HOPS, "measured", 24),
        (LISTS, "increments", 30),
        (JOIN, "increments", 60),
        (JOIN, "whole", 40),
    ],
)
def test_the_number_of_held_rows_does_not_grow(
    engine: Engine, text: str, way: Way, most: int
) -> None:
    streams = ("bids", "asks") if text == JOIN else ("bids",)
    cases: list[tuple[Literal["append", "update"], str]]
    cases = [("append", "slides"), ("update", "slides"), ("append", "gaps")]
    for semantics, times in cases:
        query = engine.continuous_query(text, semantics=semantics, evaluation=way)
        assert 0 < max(held_over_slides(engine, query, TIMES[times], streams)) <= most
        query.close()


@pytest.mark.parametrize("way", ["increments", "whole"])
def test_the_open_step_holds_only_its_rows(engine: Engine, way: Way) -> None:
    query = engine.continuous_query(HOPS, evaluation=way)
    most = 4 * 10 if way == "increments" else 2 * 4 * 10
    rows_held = held_over_slides(engine, query, TIMES["batches within a step"], ["bids"])
    assert 0 < max(rows_held) <= most


def test_steps_and_moments_that_no_window_can_ask_for_are_forgotten(engine: Engine) -> None:
    query = engine.continuous_query("SELECT sum(x) AS x FROM hop(bids, 200, 10)")
    held_over_slides(engine, query, range(0, 6_000, 10), ["bids"])
    evaluation = windows_of(query)
    [occupied], [progress] = evaluation._reading.occupied, evaluation._reading.progress
    assert len(occupied) <= 21
    assert len(progress.closings) <= 257  # of 600: they are dropped now and then


def test_rows_held_for_skipped_results_and_late_rows_do_not_grow(engine: Engine) -> None:
    query = engine.continuous_query(
        HOPS, semantics="update", evaluation="increments", allowed_lateness=30
    )
    rows_held = []
    for block in range(30):
        times = [100 * block + 10 * i - 15 * (i % 2) for i in range(10)]
        append(engine, "bids", *[(time, 1) for time in times])
        query.results()
        rows_held.append(held(query))
    assert max(rows_held[15:]) <= max(rows_held[:15]) <= 16


def test_beside_a_stream_that_never_begins_no_more_is_held_than_may_be_amended(
    engine: Engine, clock: ManualClock
) -> None:
    query = engine.continuous_query(
        """SELECT sum(x) AS x FROM (SELECT x FROM tumble(bids, 10)
           UNION ALL SELECT x FROM tumble(asks, 10))""",
        evaluation="increments",
        close_after=5,
        allowed_lateness=20,
    )
    clock.advance(5)
    held = []
    for time in range(0, 1_000, 5):
        append(engine, "bids", (time, 1))
        query.results()
        held.append(query.statistics().rows_held)
    assert max(held) <= 8
    append(engine, "asks", (12, 100))  # so far behind that its window is forgotten
    assert query.results() == []
    assert query.statistics().rows_late == 1


def test_polling_after_each_row_of_the_first_step_costs_no_statement_a_row(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = engine.continuous_query(HOPS, evaluation="increments")
    statements = 0
    run = Prepared.run

    def counted(self: Prepared, **tables: pa.Table) -> pa.Table:
        nonlocal statements
        statements += 1
        return run(self, **tables)

    monkeypatch.setattr(Prepared, "run", counted)
    for _ in range(100):
        append(engine, "bids", (1, 1))
        assert query.results() == []
    assert statements <= 2
    append(engine, "bids", (20,))
    assert given(query.results()) == [(-10, 10, 100), (0, 20, 100)]
