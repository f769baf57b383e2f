"""The columns, the key and the time of a stream of results."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pytest

from upstream.errors import QueryError, QueryTypeError, StatementError, UnknownColumnError
from upstream.queries.into import NamedAt, ResultsInto
from upstream.queries.sql import stream_of_results
from upstream.rows.stream_definition import StreamDefinition

from .example_streams import shown

TEXT = "CREATE STREAM means KEY (symbol) TIME (at) AS SELECT …"
MOMENT = pa.timestamp("us")
Columns = Mapping[str, pa.DataType]


def into(*key: str, time: str | None = None) -> ResultsInto:
    return ResultsInto(
        "means",
        tuple(NamedAt(name, TEXT.index("symbol")) for name in key),
        None if time is None else NamedAt(time, TEXT.index("at)")),
        text=TEXT,
        place=TEXT.index("means"),
    )


def stream(given: ResultsInto, columns: Columns, bound: pa.DataType | None) -> StreamDefinition:
    return stream_of_results(given, pa.schema(columns), bound)


def test_the_end_of_the_window_is_added_as_the_time() -> None:
    found = stream(into("SYMBOL"), {"symbol": pa.string(), "mean": pa.float64()}, MOMENT)
    assert found.schema == pa.schema(
        {"symbol": pa.string(), "mean": pa.float64(), "window_end": MOMENT}
    )
    assert (found.name, found.key, found.time) == ("means", ("symbol",), "window_end")


@pytest.mark.parametrize(
    "bound", [pa.int64(), pa.date32(), pa.float64(), pa.timestamp("ns", "UTC")]
)
def test_an_added_end_has_the_type_of_the_bounds(bound: pa.DataType) -> None:
    found = stream(into(), {"n": pa.int64()}, bound)
    assert found.time_type == bound


def test_the_end_that_the_result_has_is_the_time() -> None:
    found = stream(into(), {"Window_End": MOMENT, "n": pa.int64()}, MOMENT)
    assert (found.schema.names, found.time) == (["Window_End", "n"], "Window_End")


def test_the_time_that_is_named_is_the_time() -> None:
    columns = {"at": MOMENT, "n": pa.int64()}
    assert stream(into(time="AT"), columns, MOMENT).time == "at"
    assert stream(into(time="at"), columns, MOMENT).schema.names == ["at", "n"]
    assert stream(into(time="window_end"), columns, MOMENT).schema.names[-1] == "window_end"


def test_the_end_of_the_window_can_be_part_of_the_key() -> None:
    found = stream(into("n", "window_end"), {"n": pa.int64()}, MOMENT)
    assert found.key == ("n", "window_end")


@pytest.mark.parametrize(
    ("columns", "time"),
    [
        ({"n": pa.int64()}, None),
        ({"n": pa.int64(), "at": MOMENT}, "at"),
        ({"a": MOMENT, "Time": MOMENT}, "Time"),
    ],
    ids=["without a timestamp", "the only timestamp", "the one named time"],
)
def test_without_windows_the_time_is_that_of_create_stream(
    columns: Columns, time: str | None
) -> None:
    found = stream(into(), columns, None)
    assert (found.time, found.schema) == (time, pa.schema(columns))


def test_an_enumeration_is_stored_as_text() -> None:
    found = stream(into("n"), {"n": pa.dictionary(pa.uint8(), pa.string())}, None)
    assert found.schema == pa.schema({"n": pa.string()})


@pytest.mark.parametrize(
    ("given", "fields", "bound", "kind", "reason", "place"),
    [
        pytest.param(
            *(into("symbl"), [("symbol", pa.string())], MOMENT, UnknownColumnError),
            *("no column named symbl", "symbol)"),
            id="a key that the result lacks",
        ),
        pytest.param(
            *(into(time="att"), [("at", MOMENT)], None, UnknownColumnError),
            *("no column named att", "at)"),
            id="a time that the result lacks",
        ),
        pytest.param(
            *(into(time="at"), [("at", pa.string())], None, QueryTypeError),
            *("at cannot be the time: it is a", "at)"),
            id="a time that is a text",
        ),
        pytest.param(
            *(into("n"), [("n", pa.list_(pa.int64()))], None, QueryTypeError),
            *("cannot have a nested type", "symbol)"),
            id="a nested key",
        ),
        pytest.param(
            *(into(), [("window_end", pa.string())], MOMENT, QueryTypeError),
            *("window_end of the result is not the end", "means"),
            id="another window_end",
        ),
        pytest.param(
            *(into(), [("a", MOMENT), ("b", MOMENT)], None, StatementError),
            *("which column is the time of means", "means"),
            id="two timestamps",
        ),
        pytest.param(
            *(into(), [("a", MOMENT), ("A", MOMENT)], MOMENT, StatementError),
            *("two columns named A", "means"),
            id="two columns of one name",
        ),
        pytest.param(
            *(into(), [("chunk_0", MOMENT)], MOMENT, StatementError),
            *("reserved", "means"),
            id="a reserved name",
        ),
        pytest.param(
            *(into(), [("", MOMENT)], MOMENT, StatementError),
            *("empty name", "means"),
            id="an empty name",
        ),
    ],
)
def test_a_result_that_cannot_be_rows_is_refused_at_its_place(
    *,
    given: ResultsInto,
    fields: list[tuple[str, pa.DataType]],
    bound: pa.DataType | None,
    kind: type[QueryError],
    reason: str,
    place: str,
) -> None:
    with pytest.raises(kind, match=reason) as caught:
        stream_of_results(given, pa.schema(fields), bound)
    assert shown(caught).startswith(place)
    assert caught.value.hint
