"""Exceptions survive the way to another process; each is tested for itself where it is raised."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable

import pytest

from upstream import (
    BytesCodec,
    InPlaceScheduler,
    OnDemandMemory,
    PagePool,
    QueryError,
    RecordError,
    SinkError,
    StorageManager,
    Update,
    UpdateQueue,
    UpStreamError,
    make_queue,
)


def enqueue_when_closed(queue: UpdateQueue) -> None:
    queue.close()
    queue.enqueue("A", 1)


def ask_what_does_not_parse(queue: UpdateQueue) -> None:
    from upstream.database.duck import Duck
    from upstream.queries.sql import parse

    parse("SELECT (1\nFROM trades", Duck())


def fail_in_a_sink(queue: UpdateQueue) -> None:
    raise SinkError("q", 12, "OSError(28, 'No space left on device')")


def fail_at_a_record(queue: UpdateQueue) -> None:
    raise RecordError("q", "data/queries/q.record", "[Errno 28] No space left on device")


def append_what_does_not_fit(queue: UpdateQueue) -> None:
    import pyarrow as pa

    from upstream.rows.stream_definition import StreamDefinition

    stream = StreamDefinition("trades", pa.schema({"size": pa.int8()}), ("size",), None)
    stream.conform(pa.table({"size": [1, 300]}))


RAISED: dict[str, Callable[[UpdateQueue], object]] = {
    "key": lambda queue: queue.enqueue([], 1),  # type: ignore[arg-type]  # that is the mistake
    "time": lambda queue: queue.enqueue("A", 1, math.nan),
    "lengths": lambda queue: queue.enqueue_many(["A"], []),
    "column": lambda queue: queue.enqueue_many("A", [1]),
    "delivery": lambda queue: queue.deliver(Update("A", 1, 0.0)),
    "unknown key": lambda queue: queue.forget("A"),
    "attachment": lambda queue: queue.stream.detach(UpdateQueue(InPlaceScheduler())),
    "closed": enqueue_when_closed,
    "policy": lambda _: make_queue("fastest"),
    "cost": lambda _: make_queue(processing_cost=-1.0),
    "name": lambda _: StorageManager().queue("none"),
    "codec": lambda _: BytesCodec().encode(1),
    "sink": fail_in_a_sink,
    "record": fail_at_a_record,
    "syntax": ask_what_does_not_parse,
    "rows": append_what_does_not_fit,
    "length": lambda _: OnDemandMemory(PagePool(4096)).allocate(bytes(5000), 0.0),
}


def kinds_of(kind: type[QueryError]) -> set[type[QueryError]]:
    return {kind}.union(*map(kinds_of, kind.__subclasses__()))


@pytest.mark.parametrize("cause", RAISED.values(), ids=RAISED)
def test_an_exception_is_the_same_in_another_process(
    cause: Callable[[UpdateQueue], object],
) -> None:
    with pytest.raises(UpStreamError) as raised:
        cause(UpdateQueue(InPlaceScheduler()))
    error = raised.value
    pickled = pickle.loads(pickle.dumps(error))  # noqa: S301 - made just now
    for again in (pickled, copy.copy(error)):
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert repr(vars(again)) == repr(vars(error))


@pytest.mark.parametrize(
    "kind", sorted(kinds_of(QueryError), key=str), ids=lambda kind: kind.__name__
)
def test_an_error_of_a_query_is_a_value_error_and_the_same_in_another_process(
    kind: type[QueryError],
) -> None:
    error = kind("no such thing", "SELECT x", 7, "try y")
    assert isinstance(error, ValueError)
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - made just now
    assert type(again) is kind
    assert (again.reason, again.text, again.line, again.column, again.hint) == (
        *("no such thing", "SELECT x", 1, 8, "try y"),
    )
    assert str(again) == str(error)


def test_an_error_of_a_query_shows_the_line_and_the_place() -> None:
    error = QueryError("there is no y", "SELECT x,\n  y\nFROM t", 12, "did you mean x?")
    assert str(error) == (
        "there is no y (line 2, column 3)\n"  # a caret under the place
        "    y\n"
        "    ^\n"
        "did you mean x?"
    )


def test_only_the_part_of_a_long_line_around_the_place_is_shown() -> None:
    text = "SELECT " + "a, " * 1_000 + "y" + ", b" * 1_000
    _, shown, caret = str(QueryError("no y", text, text.index("y"))).split("\n")
    assert len(shown) <= 102
    assert shown[caret.index("^")] == "y"


def test_characters_that_would_move_the_caret_are_shown_as_spaces() -> None:
    _, shown, caret = str(QueryError("no y", "a\t\x1b\u2028y", 4)).split("\n")
    assert shown[caret.index("^")] == "y"
    assert shown.isprintable()


@pytest.mark.parametrize(("place", "line", "column"), [(0, 1, 1), (3, 2, 1), (4, 2, 2), (99, 2, 2)])
def test_a_place_may_be_after_the_end(place: int, line: int, column: int) -> None:
    error = QueryError("ends too soon", "ab\nc", place)
    assert (error.line, error.column) == (line, column)


def test_an_error_without_a_place_has_its_text() -> None:
    error = QueryError("no", "SELECT 1")
    assert (error.text, error.line, error.column, error.hint) == ("SELECT 1", None, None, "")
    assert str(error) == "no"


def test_an_error_can_be_told_for_a_text_in_which_everything_has_the_same_place() -> None:
    error = QueryError("wrong", "       SELECT a\nFROM b", 21, "right")
    told = error.within("CREATE SELECT a\nFROM b")
    assert (told.line, told.column, told.hint) == (error.line, error.column, "right")
    assert told.text.startswith("CREATE")
    assert type(told) is QueryError
    assert QueryError("wrong").within("CREATE").text == "CREATE"


def test_a_part_of_a_statement_may_need_another_hint() -> None:
    error = QueryError("wrong", "SELECT a", 7, "first")
    assert (error.within("SELECT a").hint, error.within("SELECT a", "second").hint) == (
        "first",
        "second",
    )
    assert str(error.within("SELECT a", "second")) == str(error).replace("first", "second")
