"""A sink gets each result once, by its number, whatever fails on the way."""

from __future__ import annotations

from contextlib import suppress

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.queries.setting import append, make_streams
from tests.queries.sinks import MemorySink
from upstream import (
    Engine,
    ManualClock,
    ParameterError,
    SinkError,
    StatementError,
    StreamFullError,
)
from upstream.tables import engine_stream

SUMS = "SELECT sum(x) AS x FROM tumble(bids, 10)"


def test_each_result_is_staged_sealed_and_committed_with_its_number(engine: Engine) -> None:
    sink = MemorySink()
    query = engine.continuous_query(SUMS, sink=sink)
    assert (query.committed, query.consumed) == (None, None)
    append(engine, "bids", (1, 1), (11, 2), (21, 4))
    query.evaluate()
    assert sink.steps == [
        *("stage 0", "seal 0", "stage 1", "seal 1"),
        *("commit 0", "commit 1"),
    ]
    assert sink.rows() == {0: [(1,)], 1: [(2,)]}
    assert [(n, each.number, each.window_end) for n, each in sink.results.items()] == [
        *((0, 0, 10), (1, 1, 20)),
    ]
    assert [each.missed for each in sink.results.values()] == [0, 0]
    assert (query.committed, query.consumed) == (1, 1)
    counts = query.statistics()
    assert counts.is_balanced
    assert (counts.results_due, counts.results_taken, counts.results_waiting) == (2, 2, 0)
    assert not query.is_due()


def test_its_results_are_read_in_the_sink_and_nowhere_else(engine: Engine) -> None:
    query = engine.continuous_query(SUMS, sink=MemorySink())
    append(engine, "bids", (1, 1), (11, 2))
    for take in (query.results, query.latest, lambda: next(iter(query))):
        with pytest.raises(StatementError, match="go to its sink"):
            take()
    answer = query.ask()
    assert answer is not None
    assert (answer.table.to_pydict(), answer.number) == ({"x": [1]}, None)
    assert query.consumed == 0
    assert query.explain().endswith("the sink takes each result by its number")


@pytest.mark.parametrize(
    ("step", "staged", "consumed"),
    [
        ("stage 0", 0, None),
        ("seal 0", 0, None),
        ("stage 1", 1, None),
        ("seal 1", 1, None),
        ("commit 0", 2, None),
        ("commit 1", 2, 0),
    ],
)
@pytest.mark.parametrize("is_after", [False, True], ids=["before", "after"])
def test_a_sink_that_fails_gets_the_same_results_with_the_same_numbers_again(
    engine: Engine,
    clock: ManualClock,
    step: str,
    staged: int,
    consumed: int | None,
    *,
    is_after: bool,
) -> None:
    sink = MemorySink()
    query = engine.continuous_query(SUMS, sink=sink, name="sums")
    (sink.breaks_after if is_after else sink.breaks).add(step)
    append(engine, "bids", (1, 1), (11, 2), (21, 4))
    with pytest.raises(SinkError, match=f"'sums' failed at result {step[-1]}: .*{step}") as raised:
        query.evaluate()
    assert (raised.value.query, raised.value.number) == ("sums", int(step[-1]))
    is_committed = step.startswith("commit")
    assert query.committed == (1 if is_committed else None)
    assert query.consumed == consumed
    counts = query.statistics()
    assert counts.is_balanced
    assert (counts.results_due, counts.sink_failures) == (2 if is_committed else 0, 1)
    assert step in str(counts.error)
    assert query.is_due()
    sink.breaks.clear()
    clock.advance(1)
    append(engine, "bids", (31, 8))
    query.evaluate()
    assert sink.rows() == {0: [(1,)], 1: [(2,)], 2: [(4,)]}
    assert (query.committed, query.consumed) == (2, 2)
    assert query.statistics().error is None
    commits = [each for each in sink.steps if each.startswith("commit")]
    repeated = {step} if is_committed and not is_after else set()
    assert sorted(commits) == sorted(["commit 0", "commit 1", "commit 2", *repeated])


def test_nothing_more_is_read_as_long_as_the_sink_fails(engine: Engine) -> None:
    for step in ("stage", "commit"):
        sink = MemorySink()
        query = engine.continuous_query(SUMS, sink=sink)
        sink.breaks.add(step)
        append(engine, "bids", (1, 1), (11, 2))
        for _ in range(3):
            with pytest.raises(SinkError):
                query.evaluate()
            append(engine, "bids", (21, 4), (31, 8))
        assert query.statistics().rows_waiting == 6
        assert set(sink.hidden) <= {0}
        sink.breaks.clear()
        query.evaluate()
        assert sink.rows() == {0: [(1,)], 1: [(2,)], 2: [(4,)]}
        query.close()


def test_other_queries_are_served_when_a_sink_fails(engine: Engine) -> None:
    sink = MemorySink()
    sink.breaks.add("stage")
    append(engine, "bids", (1, 1))
    query = engine.continuous_query(SUMS, sink=sink, name="failing", weight=1e6)
    found: list[object] = []
    others = [f"SELECT sum(x) + {n} AS x FROM tumble(bids, 10)" for n in range(3)]
    for text in others:
        engine.continuous_query(text, callback=found.append)
    append(engine, "bids", (1, 1), (11, 2))
    with pytest.raises(SinkError):
        engine.run(60.0)
    assert len(found) == len(others)
    assert query.statistics().sink_failures == 1
    sink.breaks.clear()
    assert engine.run(60.0) == 1
    assert sink.rows() == {0: [(1,)]}


def test_rows_are_accepted_although_the_sink_of_their_reader_fails(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = MemorySink()
    query = engine.continuous_query(SUMS, sink=sink)
    entry = engine._catalogue.streams["bids"]
    monkeypatch.setattr(type(entry), "is_crowded", lambda _: True)
    sink.breaks.add("stage")
    append(engine, "bids", (1, 1), (11, 2))
    assert entry.log.rows == 2
    counts = query.statistics()
    assert (counts.sink_failures, counts.rows_read) == (1, 2)
    assert "stage 0" in str(counts.error)


def test_rows_are_refused_when_too_many_wait_for_a_sink_that_fails(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_stream, "_BACKLOG_ROWS", 1)
    monkeypatch.setattr(engine_stream, "_MOST_ROWS", 3)
    sink = MemorySink()
    query = engine.continuous_query(SUMS, sink=sink)
    sink.breaks.add("commit")
    append(engine, "bids", (1, 1), (11, 2))
    with pytest.raises(SinkError):
        query.evaluate()
    append(engine, "bids", *[(time, 1) for time in range(12, 16)])
    for _ in range(2):
        with pytest.raises(StreamFullError, match="or the sink of a query fails"):
            append(engine, "bids", (16, 1))
    assert query.statistics().rows_waiting == 4
    sink.breaks.clear()
    engine.sql("SELECT * FROM bids")  # the newest rows are read as well
    append(engine, "bids", (21, 1))
    query.evaluate()
    assert sink.rows() == {0: [(1,)], 1: [(6,)]}


def test_a_query_that_fills_a_stream_waits_for_the_sink_of_its_reader(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_stream, "_BACKLOG_ROWS", 1)
    monkeypatch.setattr(engine_stream, "_MOST_ROWS", 3)
    engine.sql("CREATE STREAM seen TIME (time) AS SELECT time, x FROM bids")
    filler, sink = engine.query("seen"), MemorySink()
    engine.continuous_query("SELECT sum(x) AS x FROM tumble(seen, 10)", sink=sink)
    sink.breaks.add("stage")
    log = engine._catalogue.streams["seen"].log
    for time in range(0, 50, 10):
        append(engine, "bids", (time, time), (time + 1, time))
        with suppress(SinkError):
            filler.evaluate()
        assert log.stored_rows <= 6
    assert filler.statistics().rows_waiting > 0
    sink.breaks.clear()
    filler.evaluate()
    engine.run(60.0)
    assert sink.rows() == {number: [(20 * number,)] for number in range(4)}


def test_a_query_goes_on_with_the_number_after_those_that_the_sink_has(engine: Engine) -> None:
    sink = MemorySink(committed=11)
    query = engine.continuous_query(SUMS, sink=sink)
    assert (query.committed, query.consumed) == (11, 11)
    append(engine, "bids", (1, 1), (11, 2), (21, 4))
    query.evaluate()
    assert sink.rows() == {12: [(1,)], 13: [(2,)]}
    assert query.statistics().results_taken == 2


def test_a_sink_that_has_committed_a_number_meanwhile_is_not_asked_to_again(
    engine: Engine,
) -> None:
    sink = MemorySink()
    query = engine.continuous_query(SUMS, sink=sink)
    sink.breaks.add("commit")
    append(engine, "bids", (1, 1), (11, 2))
    with pytest.raises(SinkError):
        query.evaluate()
    sink.committed = 0
    query.evaluate()
    assert sink.steps.count("commit 0") == 1
    assert query.consumed == 0


def test_only_the_newest_result_reaches_the_sink_of_an_update_query(engine: Engine) -> None:
    sink = MemorySink()
    query = engine.continuous_query(SUMS, "update", sink=sink)
    append(engine, "bids", (1, 1), (11, 2), (21, 4))
    query.evaluate()
    append(engine, "bids", (31, 8))
    query.evaluate()
    assert sink.rows() == {0: [(2,)], 1: [(4,)]}
    assert [each.missed for each in sink.results.values()] == [1, 0]


def test_every_result_reaches_the_sink_although_few_may_wait(engine: Engine) -> None:
    sink = MemorySink()
    engine.continuous_query(SUMS, sink=sink, keep=1).evaluate()
    append(engine, "bids", *[(time, 1) for time in range(0, 60, 10)])
    engine.run(1.0)
    assert list(sink.results) == [0, 1, 2, 3, 4]


def test_queries_with_sinks_share_no_evaluation(engine: Engine) -> None:
    one, other = MemorySink(), MemorySink()
    queries = [engine.continuous_query(SUMS, sink=one), engine.continuous_query(SUMS, sink=other)]
    plain = engine.continuous_query(SUMS)
    append(engine, "bids", (1, 1), (11, 2))
    for query in queries:
        query.evaluate()
    assert one.rows() == other.rows() == {0: [(1,)]}
    assert len(plain.results()) == 1


def test_what_does_not_fit_a_sink_is_refused(engine: Engine) -> None:
    sink = MemorySink()
    before = len(engine.queries)
    refused: list[dict[str, object]] = [
        {"callback": print},
        {"into": "sums"},
        {"emit": "asked"},
        {"sink": object()},
    ]
    for options in refused:
        with pytest.raises(ParameterError):
            engine.continuous_query(SUMS, **{"sink": sink, **options})  # type: ignore[arg-type]
    assert len(engine.queries) == before
    engine.continuous_query(SUMS, sink=sink)
    with pytest.raises(ParameterError, match="no other query has"):
        engine.continuous_query(SUMS, sink=sink)


def assert_nothing_reads(engine: Engine) -> None:
    """Fail if anything besides the engine itself reads a stream."""
    append(engine, "bids", (1,), (2,))
    engine.sql("FROM bids")
    assert engine._catalogue.streams["bids"].log.stored_rows == 0


@pytest.mark.parametrize("cut", ["rows => 2", "by => k", "punctuation => x = 3"])
def test_epochs_that_are_not_cut_by_time_need_a_sink_without_epochs(
    engine: Engine, cut: str
) -> None:
    text = f"SELECT sum(x) AS x FROM epochs(bids, {cut})"
    with pytest.raises(
        StatementError, match="repeated one cannot be told from a new one"
    ) as caught:
        engine.continuous_query(text, sink=MemorySink(committed=4, epoch=4))
    assert "a sink that has no results, or cut the epochs by time" in caught.value.hint
    assert not engine.queries
    assert_nothing_reads(engine)
    engine.continuous_query(text, sink=MemorySink(committed=4))  # of windows, which are no epochs
    engine.continuous_query(text, sink=MemorySink())
    by_time = text.replace(cut, "10")
    engine.continuous_query(by_time, sink=MemorySink(committed=4, epoch=4))


def test_a_sink_may_refuse_columns_before_the_query_exists(engine: Engine) -> None:
    class TextSink(MemorySink):
        def check(self, schema: pa.Schema) -> None:
            """Refuse all columns that are no text."""
            for field in schema:
                if not pa.types.is_string(field.type):
                    raise TypeError(field.name)

    with pytest.raises(TypeError, match=r"^n$"):
        engine.continuous_query("SELECT k, x AS n FROM bids", sink=TextSink())
    assert not engine.queries
    assert_nothing_reads(engine)
    query = engine.continuous_query("SELECT k, x::TEXT AS n FROM bids", sink=TextSink())
    assert engine.queries == (query,)


def test_a_closed_query_leaves_its_sink_to_another(engine: Engine) -> None:
    sink = MemorySink()
    with engine.continuous_query(SUMS, sink=sink) as query:
        append(engine, "bids", (1, 1), (11, 2))
        query.evaluate()
    assert (query.committed, query.consumed) == (0, 0)
    other = engine.continuous_query(SUMS, sink=sink)
    append(engine, "bids", (1, 1), (11, 2))
    other.evaluate()
    assert sink.rows() == {0: [(1,)], 1: [(1,)]}


STEPS = ("stage", "seal", "commit")
slides = st.lists(
    st.tuples(st.integers(1, 3), st.sets(st.sampled_from(STEPS)), st.booleans()), max_size=8
)


@given(slides)
def test_whatever_fails_the_sink_has_each_result_once_and_in_order(
    feed: list[tuple[int, set[str], bool]],
) -> None:
    with Engine(clock=ManualClock()) as engine:
        make_streams(engine)
        sink = MemorySink()
        query = engine.continuous_query(SUMS, sink=sink)
        time = 0
        for windows, breaks, is_after in feed:
            append(engine, "bids", *[(10 * (time + i), time + i) for i in range(windows)])
            time += windows
            following = 0 if sink.committed is None else sink.committed + 1
            sink.breaks = set() if is_after else set(breaks)
            sink.breaks_after = {f"{each} {following}" for each in breaks} if is_after else set()
            try:
                query.evaluate()
            except SinkError:
                assert breaks
            consumed = query.consumed
            assert consumed == sink.committed or is_after  # then the sink has more than it said
            assert query.statistics().is_balanced
        sink.breaks.clear()
        sink.breaks_after.clear()
        query.evaluate()
        assert sink.rows() == {number: [(number,)] for number in range(max(0, time - 1))}
        assert query.committed == sink.committed
