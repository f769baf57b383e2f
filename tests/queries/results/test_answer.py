"""All kinds of evaluation behave alike where they have something in common."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pyarrow as pa
import pytest

from tests.queries.setting import append, asked, content, held, rows_of
from upstream import ContinuousQuery, Engine, ManualClock, StatementError
from upstream.queries import Semantics
from upstream.queries.results.answer import Answer, Answers, Counts

KINDS: dict[str, tuple[str, Semantics]] = {
    "windows": ("SELECT sum(x) AS x FROM tumble(bids, 10)", "append"),
    "windows over rows": ("SELECT sum(x) AS x FROM rows(bids, 1, 1)", "append"),
    "sessions": ("SELECT k, sum(x) AS x FROM session(bids, 5) GROUP BY k", "append"),
    "landmark": ("SELECT sum(x) AS x FROM landmark(bids)", "append"),
    "landmark with a slide": ("SELECT sum(x) AS x FROM landmark(bids, 10)", "append"),
    "latest": ("SELECT sum(x) AS x FROM latest(bids)", "append"),
    "newest by row": ("SELECT k, x FROM bids", "update"),
    "row by row": ("SELECT k, x FROM bids", "append"),
}


@pytest.fixture
def clock(shared_clock: ManualClock) -> ManualClock:
    return shared_clock


@pytest.fixture
def engine(shared_engine: Engine) -> Engine:
    return shared_engine


every_kind = pytest.mark.parametrize("kind", KINDS)


def make(engine: Engine, kind: str) -> ContinuousQuery:
    text, semantics = KINDS[kind]
    return engine.continuous_query(text, semantics=semantics)


def test_an_answer_is_a_value() -> None:
    answer = Answer(0, 10, 1.0, 0, pa.table({}))
    assert answer.error is None
    with pytest.raises(FrozenInstanceError):
        answer.error = "changed"  # type: ignore[misc]  # on purpose
    assert (Answers().answers, Answers().skipped) == ((), 0)
    Answers().commit()  # of nothing


def test_an_answer_without_some_rows_is_an_error_if_that_is_wanted() -> None:
    table = pa.table({"x": [1]})
    whole = Answer(0, 10, 1.0, 0, table)
    assert whole.or_failed() is whole
    for rows, said in ((1, "1 row fails: bad"), (3, "3 rows fail: bad")):
        failed = replace(whole, rows_failed=rows, failure="bad").or_failed()
        assert (failed.error, failed.table, failed.rows_failed) == (said, table.slice(1), rows)
    failing = replace(whole, error="no sum", rows_failed=1)
    assert failing.or_failed() is failing


def test_late_rows_of_several_inputs_over_one_stream_are_added() -> None:
    counts = Counts.of_late([("bids", 2), ("asks", 0), ("bids", 3)], held=7)
    assert (counts.late, counts.held, counts.superseded) == (5, 7, 0)
    assert counts.late_by_stream == {"bids": 5, "asks": 0}
    assert Counts().late_by_stream == {}


def test_late_rows_of_a_join_are_counted_by_stream(engine: Engine) -> None:
    query = engine.continuous_query(
        """SELECT count(*) AS n FROM hop(bids, 20, 10) b JOIN tumble(asks, 20) a ON a.k = b.k
           JOIN tumble(bids, 20) c ON c.k = b.k"""
    )
    for stream in ("bids", "asks"):
        append(engine, stream, (1, 1), (45, 2))
    query.evaluate()
    append(engine, "bids", (2, 1), (3, 1))
    append(engine, "asks", (4, 1))
    query.evaluate()
    counts = query.statistics()
    assert (counts.rows_late, counts.late_by_stream) == (5, {"asks": 1, "bids": 4})


@pytest.mark.parametrize("keep", [0, 1, 1_000])
@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_given_again_until_they_are_committed(
    engine: Engine, clock: ManualClock, kind: str, keep: int
) -> None:
    query = make(engine, kind)
    append(engine, "bids", (1, 1), (2, 2), (10, 4), (20, 1))
    evaluation, now = query._evaluated._evaluation, clock.now()
    evaluation.take_in(now)
    before = evaluation.counts()
    found = [evaluation.answers(now, keep) for _ in range(3)]
    told = [[(each.start, each.end, each.due, each.table) for each in a.answers] for a in found]
    assert told[0] == told[1] == told[2]
    assert len({each.skipped for each in found}) == 1
    assert len(found[0].answers) + found[0].skipped > 0
    assert len(found[0].answers) <= keep
    assert evaluation.counts()[:2] == before[:2]
    found[-1].commit()
    after = evaluation.answers(now, keep)
    assert (list(after.answers), after.skipped) == ([], 0)


@every_kind
def test_before_any_row_there_is_nothing(engine: Engine, clock: ManualClock, kind: str) -> None:
    query = make(engine, kind)
    assert query.results() == []
    clock.advance(1_000)
    assert query.results() == []
    counts = query.statistics()
    assert (counts.results_due, counts.rows_held, counts.rows_late) == (0, 0, 0)
    assert not query.is_due()


@pytest.mark.parametrize("kind", ["landmark", "latest", "newest by row", "row by row"])
def test_staleness_is_counted_from_the_first_row_without_an_answer(
    engine: Engine, clock: ManualClock, kind: str
) -> None:
    query = make(engine, kind)
    append(engine, "bids", (1, 1))
    clock.advance(2)
    append(engine, "bids", (2, 2))
    clock.advance(3)
    assert [result.staleness for result in query.results()] == [5.0]


BAD = (
    "Conversion Error: Could not convert string 'bad' to INT32 when casting from source column note"
)


@pytest.mark.parametrize(
    ("text", "semantics", "expected"),
    [
        ("SELECT sum(note::INT) FROM tumble(bids, 10)", "append", [5, None]),
        ("SELECT sum(note::INT) FROM session(bids, 10)", "append", [1, None, 4]),
        ("SELECT sum(note::INT) FROM landmark(bids)", "append", [13]),
        ("SELECT k, note::INT FROM bids", "update", [[("a", 1), ("c", 4), ("d", 8)]]),
        ("SELECT note::INT FROM bids", "append", [[(1,), (4,), (8,)]]),
    ],
)
def test_rows_that_fail_are_left_out_and_counted(
    engine: Engine, text: str, semantics: Semantics, expected: list[object]
) -> None:
    query = engine.continuous_query(text, semantics)
    append(
        engine, "bids", (1, 0, "a", "1"), (2, 0, "b", "bad"), (3, 0, "c", "4"), (30, 0, "d", "8")
    )
    results = query.results()
    assert [content(result) for result in results] == expected
    assert [result.error for result in results] == [None] * len(results)
    counts = query.statistics()
    assert (counts.rows_failed, counts.error) == (1, BAD)


@pytest.mark.parametrize(
    ("text", "semantics", "most"),
    [
        ("SELECT sum(x) AS x FROM landmark(bids)", "append", 4),
        ("SELECT sum(x) AS x FROM landmark(bids)", "update", 4),
        ("SELECT sum(x) AS x FROM landmark(bids, 10)", "append", 4),
        ("SELECT sum(x) AS x FROM landmark(bids, 10)", "update", 4),
        ("SELECT k, sum(x) AS x FROM session(bids, 10, per => k) GROUP BY k", "append", 24),
        ("SELECT k, x FROM bids", "update", 3),
    ],
)
def test_the_number_of_held_rows_does_not_grow(
    engine: Engine, text: str, semantics: Semantics, most: int
) -> None:
    query = engine.continuous_query(text, semantics)
    rows_held = []
    for time in range(0, 1_000, 20):
        append(engine, "bids", *[(time + i, 1, "abc"[i % 3]) for i in range(8)])
        query.results()
        rows_held.append(held(query))
    assert 0 < max(rows_held) <= most


@every_kind
def test_a_result_is_given_once(engine: Engine, kind: str) -> None:
    query = make(engine, kind)
    append(engine, "bids", (1, 1), (2, 2), (10, 4))
    assert query.results()
    assert query.results() == []
    assert not query.is_due()


@every_kind
def test_all_rows_are_read_and_given_account_of(engine: Engine, kind: str) -> None:
    query = make(engine, kind)
    append(engine, "bids", (1, 1), (2, 2), (10, 4))
    assert query.statistics().rows_waiting == 3
    query.evaluate()
    counts = query.statistics()
    assert (counts.rows_read, counts.rows_waiting) == (3, 0)
    assert counts.results_due == counts.results_waiting > 0


@every_kind
def test_only_a_landmark_can_be_reset(engine: Engine, kind: str) -> None:
    query = make(engine, kind)
    append(engine, "bids", (1, 1), (10, 2))
    if kind.startswith("landmark"):
        query.reset_landmark()
        result = asked(query)
        assert (result.window_start, rows_of(result)) == (None, [(None,)])
    else:
        with pytest.raises(StatementError, match="no landmark"):
            query.reset_landmark()
    assert query.results()


@every_kind
def test_to_ask_twice_gives_the_same_twice_and_takes_nothing(engine: Engine, kind: str) -> None:
    query = make(engine, kind)
    if kind == "row by row":
        with pytest.raises(StatementError, match="keeps no rows"):
            query.ask()
        return
    append(engine, "bids", (1, 1), (10, 2))
    one, other = asked(query), asked(query)
    assert one.table.equals(other.table)
    assert (one.window_start, one.window_end) == (other.window_start, other.window_end)
    assert len(query.results()) == query.statistics().results_due


@every_kind
def test_it_says_how_it_is_evaluated(engine: Engine, kind: str) -> None:
    query = make(engine, kind)
    *_, last = query.explain().splitlines()
    assert last


@every_kind
def test_when_it_is_closed_the_stream_keeps_nothing_for_it(engine: Engine, kind: str) -> None:
    query = make(engine, kind)
    append(engine, "bids", (1, 1))
    query.close()
    engine.sql("SELECT * FROM bids")
    assert engine._catalogue.streams["bids"].log.stored_rows == 0


@every_kind
def test_late_rows_are_counted_by_stream(engine: Engine, kind: str) -> None:
    query = make(engine, kind)
    append(engine, "bids", (1, 1), (30, 2))
    assert query.statistics().late_by_stream == {"bids": 0}
    query.evaluate()
    append(engine, "bids", (2, 4), (3, 4, "a"), (40, 1))
    query.evaluate()
    counts = query.statistics()
    late = 2 if kind in {"windows", "sessions", "latest", "newest by row"} else 0
    assert (counts.rows_late, counts.late_by_stream) == (late, {"bids": late})
