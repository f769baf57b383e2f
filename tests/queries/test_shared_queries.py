"""Standing queries with the same text and options share one evaluation, and do not notice it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest

from tests.interrupted import Interrupter, respect_held_interrupts
from tests.queries.setting import append, make_streams
from tests.queries.setting import given as told
from upstream import ClosedError, ContinuousQuery, Engine, ManualClock, Result
from upstream.queries import continuous_query, evaluated_query, standing
from upstream.queries.results import result_reader

SUMS = "SELECT k, sum(x) AS x FROM tumble(bids, 10) GROUP BY k"
NEWEST = "SELECT k, x FROM latest(bids)"


def pair(engine: Engine, text: str = SUMS, **options: object) -> Sequence[ContinuousQuery]:
    """Return two queries that share an evaluation."""
    given: dict[str, Any] = {"sql": text, **options}
    queries = [engine.continuous_query(**given) for _ in range(2)]
    assert are_shared(*queries)
    return queries


def are_shared(one: ContinuousQuery, other: ContinuousQuery) -> bool:
    return one._evaluated is other._evaluated


def sums(*results: Result | None) -> list[tuple[object, object, int]]:
    """Return the start of each window, the only sum in it, and how many results were missed."""
    return [
        (each.window_start, each.table["x"][0].as_py(), each.missed)
        for each in results
        if each is not None
    ]


def check_counts(*queries: ContinuousQuery) -> None:
    for query in queries:
        assert query.statistics().is_balanced


# What is shared


def test_an_identical_query_is_not_planned_again(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = engine.continuous_query(SUMS, name="first", weight=2.0)
    monkeypatch.setattr("upstream.queries.standing.plan", None)
    second = engine.continuous_query(f"  {SUMS}\n", name="second", weight=3.0)
    assert are_shared(first, second)
    assert (first.text, second.text) == (SUMS, f"  {SUMS}\n")
    assert (first.weight, second.weight) == (2.0, 3.0)
    assert [query.name for query in engine.queries] == ["first", "second"]
    assert engine.query("second") is second
    assert repr(second) == "<ContinuousQuery 'second', append, over bids>"
    assert second.schema == first.schema
    assert second.explain(sql=True) == first.explain(sql=True)


@pytest.mark.parametrize(
    "options",
    [
        {"semantics": "update"},
        {"evaluation": "whole"},
        {"emit": "changed"},
        {"emit_every": 5},
        {"keep": 2},
        {"on_error": "fail"},
        {"into": "sums"},
    ],
    ids=lambda options: next(iter(options)),
)
def test_another_option_needs_an_evaluation_of_its_own(
    engine: Engine, options: dict[str, object]
) -> None:
    plain = engine.continuous_query(SUMS)
    other = engine.continuous_query(SUMS, **options)  # type: ignore[arg-type]  # options
    assert not are_shared(plain, other)
    again = engine.continuous_query(SUMS)
    assert are_shared(plain, again)


def test_another_text_needs_an_evaluation_of_its_own(engine: Engine) -> None:
    assert not are_shared(
        engine.continuous_query(SUMS), engine.continuous_query(SUMS.replace("sum(x)", "max(x)"))
    )


def test_queries_that_fill_streams_share_nothing(engine: Engine) -> None:
    one = engine.continuous_query(SUMS, into="one")
    assert not are_shared(one, engine.continuous_query(SUMS, into="other"))
    assert not are_shared(one, engine.continuous_query(SUMS))


def waits(engine: Engine, query: ContinuousQuery) -> None:
    append(engine, "bids", (1, 1))


def was_read(engine: Engine, query: ContinuousQuery) -> None:
    append(engine, "bids", (1, 1))
    query.evaluate()


def was_answered(engine: Engine, query: ContinuousQuery) -> None:
    append(engine, "bids", (1, 1), (11, 1))
    query.results()


def was_closed(engine: Engine, query: ContinuousQuery) -> None:
    query.close()


def was_deleted(engine: Engine, query: ContinuousQuery) -> None:
    engine.delete("bids", {"k": ["a"]})


def was_seen_deleted(engine: Engine, query: ContinuousQuery) -> None:
    engine.delete("bids", {"k": ["a"]})
    query.evaluate()


def changed_tables(engine: Engine, query: ContinuousQuery) -> None:
    engine.sql("CREATE TABLE k AS SELECT 1 AS n")


def defined_a_name(engine: Engine, query: ContinuousQuery) -> None:
    engine.sql("CREATE STREAM x (n BIGINT)")


@pytest.mark.parametrize(
    ("text", "happened"),
    [
        (SUMS, waits),
        (SUMS, was_read),
        (SUMS, was_answered),
        (SUMS, was_closed),
        (SUMS, changed_tables),
        (SUMS, defined_a_name),
        (NEWEST, waits),
        (NEWEST, was_read),
        (NEWEST, was_deleted),
        (NEWEST, was_seen_deleted),
    ],
    ids=lambda given: getattr(given, "__name__", "" if given == SUMS else "newest"),
)
def test_a_query_joins_only_what_has_not_begun(
    engine: Engine, text: str, happened: Callable[[Engine, ContinuousQuery], None]
) -> None:
    first = engine.continuous_query(text, "update")
    happened(engine, first)
    second = engine.continuous_query(text, "update")
    assert not are_shared(first, second)
    assert are_shared(second, engine.continuous_query(text, "update")) == (happened is not None)


def test_an_evaluation_of_nothing_is_no_beginning(engine: Engine) -> None:
    first = engine.continuous_query(SUMS)
    assert first.results() == []
    assert first.ask() is not None
    engine.sql("CREATE STREAM unrelated (n BIGINT)")
    second = engine.continuous_query(SUMS)
    assert are_shared(first, second)
    append(engine, "bids", (1, 1), (11, 2))
    assert sums(*first.results()) == sums(*second.results()) == [(0, 1, 0)]


def test_results_that_are_due_in_a_stream_are_a_beginning(engine: Engine) -> None:
    engine.sql(f"CREATE STREAM sums KEY (k) AS {SUMS}")
    text = "SELECT sum(x) AS x FROM tumble(sums, 20)"
    first = engine.continuous_query(text)
    append(engine, "bids", (1, 1), (11, 2))  # whose sum is not in the stream yet
    second = engine.continuous_query(text)
    assert not are_shared(first, second)
    append(engine, "bids", (21, 4), (41, 8))
    assert [sums(*each.results()) for each in (first, second)] == [[(0, 1, 0)], []]


# What each query gets


def test_each_query_takes_every_result_once(engine: Engine) -> None:
    one, other = pair(engine)
    append(engine, "bids", (1, 1), (11, 2), (21, 4))
    assert sums(*one.results()) == [(0, 1, 0), (10, 2, 0)]
    assert one.results() == []
    append(engine, "bids", (31, 8))
    assert sums(*other) == [(0, 1, 0), (10, 2, 0), (20, 4, 0)]
    assert sums(*one.results()) == [(20, 4, 0)]
    assert one.statistics().evaluations == other.statistics().evaluations == 2
    check_counts(one, other)


def test_a_slow_reader_loses_results_and_a_fast_one_none(engine: Engine) -> None:
    fast, slow = pair(engine, keep=2)
    found = []
    for second in (1, 11, 21, 31, 41, 51):
        append(engine, "bids", (second, 1))
        found += fast.results()
    assert sums(*found) == [(start, 1, 0) for start in range(0, 50, 10)]
    assert sums(*slow.results()) == [(30, 1, 3), (40, 1, 0)]
    assert [each.statistics().results_dropped for each in (fast, slow)] == [0, 3]
    assert [each.statistics().results_taken for each in (fast, slow)] == [5, 2]
    check_counts(fast, slow)


def test_the_latest_result_of_one_skips_nothing_of_the_other(engine: Engine) -> None:
    one, other = pair(engine)
    append(engine, "bids", (1, 1), (11, 2), (21, 4))
    assert sums(one.latest()) == [(10, 2, 1)]
    assert one.latest() is None
    assert sums(*other.results()) == [(0, 1, 0), (10, 2, 0)]
    assert [each.statistics().results_skipped for each in (one, other)] == [1, 0]
    check_counts(one, other)


def test_an_update_query_skips_what_it_did_not_take_before_the_next(engine: Engine) -> None:
    one, other = pair(engine, semantics="update")
    found = []
    for second in (1, 11, 21):
        append(engine, "bids", (second, second))
        found += one.results()
    assert sums(*found) == [(0, 1, 0), (10, 11, 0)]
    assert sums(*other.results()) == [(10, 11, 1)]
    assert [each.statistics().results_skipped for each in (one, other)] == [0, 1]
    check_counts(one, other)


def test_results_that_did_not_change_are_left_out_for_all(engine: Engine) -> None:
    one, other = pair(engine, emit="changed")
    append(engine, "bids", (1, 1), (11, 1))
    one.results()
    append(engine, "bids", (21, 2), (31, 2), (41, 2))
    assert sums(*one.results()) == [(20, 2, 0)]
    assert sums(*other.results()) == [(0, 1, 0), (20, 2, 0)]
    assert [each.statistics().results_unchanged for each in (one, other)] == [2, 2]
    check_counts(one, other)


def test_results_are_as_far_apart_for_each_query_as_it_wants(
    engine: Engine, clock: ManualClock
) -> None:
    one, other = pair(engine, emit_every=5)
    append(engine, "bids", (1, 1), (11, 2))
    assert sums(*one.results()) == [(0, 1, 0)]
    clock.advance(2)
    append(engine, "bids", (21, 4), (31, 8))
    assert one.results() == []
    assert sums(*other.results()) == [(0, 1, 0)]
    assert one.statistics().evaluations == 2, "nothing has come since"
    clock.advance(3)
    assert sums(*other.results()) == sums(*one.results()) == [(20, 4, 1)]
    check_counts(one, other)


def test_staleness_is_that_of_each_taking(engine: Engine, clock: ManualClock) -> None:
    one, other = pair(engine)
    append(engine, "bids", (1, 1), (11, 2))
    clock.advance(1)
    assert one.results()[0].staleness == 1.0
    clock.advance(2)
    assert other.results()[0].staleness == 3.0
    assert one.statistics().staleness_seconds_mean == 1.0
    assert other.statistics().staleness_seconds_mean == 3.0


def test_asking_takes_nothing_of_any_query(engine: Engine) -> None:
    one, other = pair(engine)
    append(engine, "bids", (1, 1), (11, 2))
    assert sums(one.ask(), other.ask()) == [(0, 1, 0), (0, 1, 0)]
    assert sums(*one.results()) == sums(*other.results()) == [(0, 1, 0)]


def test_rows_that_fail_are_counted_by_each_query(engine: Engine) -> None:
    one, other = pair(engine, "SELECT sum(note::INT) AS x FROM tumble(bids, 10)")
    append(engine, "bids", (1, 1, "a", "x"), (2, 1, "a", "5"), (11, 1))
    for query in (one, other):
        [result] = query.results()
        assert (result.rows_failed, result.table["x"][0].as_py()) == (1, 5)
        assert query.statistics().rows_failed == 1
        assert repr(query).endswith(", 1 rows failed>")


# Callbacks and serving


def test_one_run_serves_the_callbacks_of_all(engine: Engine) -> None:
    seen: list[tuple[str, object]] = []

    def note(name: str, result: Result) -> None:
        seen.append((name, result.window_start))

    for name in "abc":
        engine.continuous_query(SUMS, name=name, callback=partial(note, name))
    plain = engine.continuous_query(SUMS)
    append(engine, "bids", (1, 1), (11, 2), (21, 4))
    assert engine.run(1.0) == 1
    assert seen == [(name, start) for name in "abc" for start in (0, 10)]
    assert sums(*plain.results()) == [(0, 1, 0), (10, 2, 0)]
    check_counts(*engine.queries)


def test_a_callback_that_raises_disturbs_no_other(engine: Engine) -> None:
    seen: list[object] = []

    def fail(result: Result) -> None:
        raise LookupError("no such chart")

    failing = engine.continuous_query(SUMS, callback=fail)
    other = engine.continuous_query(SUMS, callback=lambda result: seen.append(result.window_start))
    assert are_shared(failing, other)
    append(engine, "bids", (1, 1), (11, 2), (21, 4))
    engine.run(1.0)
    assert seen == [0, 10]
    counts = failing.statistics(), other.statistics()
    assert [each.callback_failures for each in counts] == [2, 0]
    assert [each.error for each in counts] == ["LookupError('no such chart')", None]
    assert [each.results_taken for each in counts] == [2, 2]


def test_a_query_may_run_alone(engine: Engine) -> None:
    seen: list[object] = []
    other = engine.continuous_query(SUMS, callback=lambda result: seen.append(result.window_start))
    alone = engine.continuous_query(SUMS)
    append(engine, "bids", (1, 1), (11, 2))
    assert (alone.is_due(), other.is_due()) == (True, True)
    alone.run()
    assert (alone.is_due(), other.is_due()) == (False, True)
    assert not seen
    engine.run(1.0)
    assert seen == [0]


def test_a_query_is_as_stale_as_what_its_own_callback_waits_for(
    engine: Engine, clock: ManualClock
) -> None:
    pushed = engine.continuous_query(SUMS, callback=print)
    pulled = engine.continuous_query(SUMS)
    append(engine, "bids", (1, 1), (11, 2))
    clock.advance(2)
    pulled.evaluate()
    assert (pushed.staleness(), pulled.staleness()) == (2.0, 0.0)


def test_a_callback_may_close_its_own_query_and_another(engine: Engine) -> None:
    seen: list[object] = []
    queries: list[ContinuousQuery] = []

    def close_both(result: Result) -> None:
        seen.append(result.window_start)
        for query in queries[:2]:
            query.close()

    queries += [engine.continuous_query(SUMS, callback=close_both) for _ in range(3)]
    append(engine, "bids", (1, 1), (11, 2), (21, 4))
    engine.run(1.0)
    assert seen == [0, 0, 10]
    assert engine.queries == (queries[2],)
    check_counts(*queries)


# Closing


def test_the_evaluation_ends_with_its_last_query(engine: Engine) -> None:
    one, other = pair(engine)
    append(engine, "bids", (1, 1), (11, 2))
    one.close()
    one.close()
    assert (one.is_closed, other.is_closed) == (True, False)
    for use in (one.results, one.latest, one.evaluate, one.ask, one.run):
        with pytest.raises(ClosedError):
            use()
    assert not one.is_due()
    assert sums(*other.results()) == [(0, 1, 0)]
    append(engine, "bids", (12, 1))
    assert other.statistics().rows_waiting == 1
    evaluated = other._evaluated
    assert not evaluated.is_closed
    other.close()
    assert evaluated.is_closed
    assert engine.queries == ()


def test_a_closed_query_counts_no_more_and_keeps_what_waits(engine: Engine) -> None:
    one, other = pair(engine)
    append(engine, "bids", (1, 1), (11, 2), (21, 4))
    other.evaluate()
    one.close()
    before = one.statistics()
    append(engine, "bids", (31, 8), (41, 16))
    assert len(other.results()) == 4
    assert one.statistics() == before
    assert (before.results_due, before.results_waiting, before.rows_read) == (2, 2, 3)
    found = iter(one)
    assert sums(next(found), next(found)) == [(0, 1, 0), (10, 2, 0)]
    with pytest.raises(ClosedError):
        next(found)
    check_counts(one, other)


def test_the_engine_closes_all(clock: ManualClock) -> None:
    with Engine(clock=clock) as engine:
        make_streams(engine)
        queries = pair(engine)
    assert all(query.is_closed for query in queries)


# Interruptions


@pytest.mark.parametrize("event", ["line", "c_call"])
def test_interrupted_anywhere_no_query_loses_a_result(
    event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(interrupter: Interrupter) -> list[list[object]]:
        with ExitStack() as stack:
            engine = stack.enter_context(Engine(clock=ManualClock(), stopwatch=ManualClock()))
            make_streams(engine)
            one, other = pair(engine)
            respect_held_interrupts(stack.enter_context(monkeypatch.context()))
            for slide in range(4):
                append(engine, "bids", (10 * slide + 1, slide), (10 * slide + 2, slide, "b"))
                while True:
                    try:
                        with interrupter.watching():
                            (one, other)[slide % 2].evaluate()
                            engine.run(1.0)
                        break
                    except KeyboardInterrupt:
                        continue
            found: list[list[object]] = [[*told(each.results())] for each in (one, other)]
            check_counts(one, other)
            return found

    expected = run(Interrupter(event))
    assert len(expected[0]) == 3
    assert expected[0] == expected[1]
    for time in (1, 2):
        often = Interrupter(event, lambda moment: moment.time == time)  # noqa: B023  # used here
        assert run(often) == expected
        assert often.raised > 10


CHANGING = tuple(
    str(module.__file__) for module in (standing, continuous_query, evaluated_query, result_reader)
)
"""The modules that change which queries read the results of an evaluation."""


@pytest.mark.parametrize("act", ["join", "close"])
def test_an_interrupted_change_of_readers_is_made_completely_or_not_at_all(
    act: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    respect_held_interrupts(monkeypatch)
    number = 0
    while True:
        with Engine(clock=ManualClock()) as engine:
            make_streams(engine)
            queries = pair(engine, keep=1_000)
            evaluated = queries[0]._evaluated
            interrupter = Interrupter(
                "line",
                lambda moment: moment.number == number,  # noqa: B023  # used in this turn only
                files=CHANGING,
            )
            try:
                with interrupter.watching():
                    if act == "close":
                        queries[1].close()
                    else:
                        engine.continuous_query(SUMS)
            except KeyboardInterrupt:
                pass
            readers = [reader.name for reader in evaluated._emitter.backlog.readers]
            assert readers == [query.name for query in engine.queries if not query.is_closed]
            append(engine, "bids", (1, 1), (11, 2))
            for query in engine.queries:
                assert len(query.results()) == 1
            assert not evaluated._emitter.backlog.stored
        if not interrupter.raised:
            break
        number += 1
    assert number > 0
