"""What the service has counted and measured, as values."""

from __future__ import annotations

from dataclasses import fields

import msgspec

from upstream import QueueStatistics
from upstream.client.measurements import (
    ArrivalRates,
    Counters,
    DroppedQueue,
    DroppedStream,
    KeyStaleness,
    Staleness,
)


def test_there_is_a_counter_for_each_of_the_librarys() -> None:
    assert {field.name for field in fields(QueueStatistics)} <= set(Counters.__struct_fields__)


def test_the_counters_of_windows_are_two_objects() -> None:
    read = msgspec.json.decode('{"windows":{"opened":3},"tuples":{"arrived":9}}', type=Counters)
    assert read == Counters(windows={"opened": 3}, tuples={"arrived": 9})


def test_a_report_may_lack_what_is_not_known_yet() -> None:
    text = '{"queue_staleness":0.5,"worst_key":["a",1],"percentiles":{"50":null},"ratio":null}'
    read = msgspec.json.decode(text, type=Staleness)
    assert read.worst_key == ("a", 1)
    assert read.percentiles == {"50": None}
    assert read.ratio is None
    assert read.rates == ArrivalRates(None, 0)


def test_stalest_keys_are_read_with_their_measures() -> None:
    text = '{"stalest_keys":[{"key":7,"queue_staleness":1.5,"rate":null}]}'
    read = msgspec.json.decode(text, type=Staleness)
    assert read.stalest_keys == [KeyStaleness(7, queue_staleness=1.5)]


def test_what_is_dropped_comes_with_its_final_counters() -> None:
    stream = msgspec.json.decode(
        '{"name":"s","queues":{"q":{"arrived":2,"expired":2}}}', type=DroppedStream
    )
    assert stream.queues == {"q": Counters(arrived=2, expired=2)}
    queue = msgspec.json.decode('{"name":"q","statistics":{"arrived":1}}', type=DroppedQueue)
    assert queue.statistics.arrived == 1
