"""The service's answers as values."""

from __future__ import annotations

from dataclasses import fields

import msgspec

from upstream import QueueStatistics
from upstream.client.answers import (
    MOST_REJECTIONS,
    ArrivalRates,
    Counters,
    Counts,
    Delivered,
    DroppedQueue,
    DroppedStream,
    Key,
    KeyStaleness,
    QueueView,
    ReceivedUpdate,
    Rejection,
    Staleness,
    StreamView,
    WatchMessage,
)


def received(text: str) -> ReceivedUpdate:
    return msgspec.json.decode(text, type=ReceivedUpdate)


def test_a_received_key_equals_the_key_that_was_sent() -> None:
    keys: list[Key] = ["IBM", 7, ("NYSE", 7)]
    for key in keys:
        body = msgspec.json.encode({"key": key, "value": None, "time": 0})
        assert msgspec.json.decode(body, type=ReceivedUpdate).key == key


def test_a_deletion_differs_from_a_null() -> None:
    assert received('{"key":"a","value":null,"time":1,"deleted":true}').is_deleted
    assert not received('{"key":"a","value":null,"time":1}').is_deleted


def test_a_received_update_is_written_as_it_came() -> None:
    for text in (
        '{"key":"a","value":{"b":[1]},"time":1.5}',
        '{"key":["a",1],"value":null,"time":2.0,"lease":"r-1","deleted":true}',
    ):
        assert msgspec.json.encode(received(text)).decode() == text


def test_a_reset_message_begins_a_new_picture() -> None:
    read = msgspec.json.Decoder(WatchMessage).decode
    assert read('{"updates":[],"id":"r-7","reset":true}').is_reset
    assert read('{"updates":[],"id":"r-7"}') == WatchMessage([], "r-7", is_reset=False)


def test_members_of_a_newer_service_are_ignored() -> None:
    assert msgspec.json.decode('{"waiting":1,"news":2}', type=Counts) == Counts(waiting=1)
    assert msgspec.json.decode('{"name":"s","news":2}', type=StreamView) == StreamView("s")


def test_members_that_an_older_service_lacks_have_defaults() -> None:
    view = msgspec.json.decode('{"name":"q","stream":"s"}', type=QueueView)
    assert (view.kind, view.waiting, view.lease_seconds) == ("update", 0, None)


def test_counts_add_up_and_rejections_keep_their_places() -> None:
    first = Counts(1, 2, 3, 1, 5, [Rejection(0, "a")])
    second = Counts(10, 20, 30, 2, 50, [Rejection(0, "b"), Rejection(4, "c")])
    assert first.plus(second, sent=100) == Counts(
        11, 22, 33, 3, 55, [Rejection(0, "a"), Rejection(100, "b"), Rejection(104, "c")]
    )


def test_the_number_of_listed_rejections_is_bounded() -> None:
    many = Counts(rejected=MOST_REJECTIONS, rejections=[Rejection(0, "x")] * MOST_REJECTIONS)
    both = many.plus(many, sent=1_000)
    assert both.rejected == 2 * MOST_REJECTIONS
    assert len(both.rejections) == MOST_REJECTIONS


def test_deliveries_add_up() -> None:
    assert Delivered(1, 2).plus(Delivered(10, 20)) == Delivered(11, 22)


def test_there_is_a_counter_for_each_of_the_librarys() -> None:
    assert {field.name for field in fields(QueueStatistics)} <= set(Counters.__struct_fields__)


def test_the_counters_of_windows_are_two_objects() -> None:
    read = msgspec.json.decode('{"windows":{"opened":3},"tuples":{"arrived":9}}', type=Counters)
    assert read == Counters(windows={"opened": 3}, tuples={"arrived": 9})


def test_a_report_may_lack_values_that_are_not_known_yet() -> None:
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


def test_a_dropped_stream_or_queue_has_its_final_counters() -> None:
    stream = msgspec.json.decode(
        '{"name":"s","queues":{"q":{"arrived":2,"expired":2}}}', type=DroppedStream
    )
    assert stream.queues == {"q": Counters(arrived=2, expired=2)}
    queue = msgspec.json.decode('{"name":"q","statistics":{"arrived":1}}', type=DroppedQueue)
    assert queue.statistics.arrived == 1
