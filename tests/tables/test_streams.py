"""Streams are found by their names in any case."""

from __future__ import annotations

from threading import RLock

import pyarrow as pa
import pytest

from upstream import ManualClock, UnknownNameError
from upstream.rows.stream_definition import StreamDefinition
from upstream.tables.engine_stream import EngineStream
from upstream.tables.streams import Streams


def stream(name: str) -> EngineStream:
    definition = StreamDefinition(name, pa.schema([("x", pa.int64())]), (), None)
    return EngineStream(definition, ManualClock(), RLock())


def test_a_stream_is_found_in_any_case_and_goes_by_the_name_that_it_was_defined_by() -> None:
    streams = Streams()
    trades = stream("Trades")
    streams.add(trades)
    assert (streams.found("TRADES"), streams.found("Trades")) == ("Trades", "Trades")
    assert streams.named("trades") is streams["Trades"] is trades
    assert streams.found("quotes") is None
    with pytest.raises(UnknownNameError):
        streams.named("quotes")


def test_what_is_looked_at_stays_as_it_was_while_streams_come_and_go() -> None:
    streams = Streams()
    streams.add(stream("a"))
    names = iter(streams)
    streams.add(stream("b"))
    assert streams.remove("a").definition.name == "a"
    assert list(names) == ["a"]
    assert list(streams) == ["b"]
    assert list(streams.definitions()) == ["b"]
