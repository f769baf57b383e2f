"""What the service answers, as values."""

from __future__ import annotations

import msgspec

from upstream.client.answers import (
    MOST_REJECTIONS,
    Counts,
    Delivered,
    Key,
    QueueView,
    ReceivedUpdate,
    Rejection,
    StreamView,
    WatchMessage,
)


def received(text: str) -> ReceivedUpdate:
    return msgspec.json.decode(text, type=ReceivedUpdate)


def test_keys_come_back_as_they_can_be_sent() -> None:
    keys: list[Key] = ["IBM", 7, ("NYSE", 7)]
    for key in keys:
        body = msgspec.json.encode({"key": key, "value": None, "time": 0})
        assert msgspec.json.decode(body, type=ReceivedUpdate).key == key


def test_a_deletion_is_told_from_a_null() -> None:
    assert received('{"key":"a","value":null,"time":1,"deleted":true}').is_deleted
    assert not received('{"key":"a","value":null,"time":1}').is_deleted


def test_a_received_update_is_written_as_it_came() -> None:
    for text in (
        '{"key":"a","value":{"b":[1]},"time":1.5}',
        '{"key":["a",1],"value":null,"time":2.0,"lease":"r-1","deleted":true}',
    ):
        assert msgspec.json.encode(received(text)).decode() == text


def test_a_message_tells_when_a_new_picture_begins() -> None:
    read = msgspec.json.Decoder(WatchMessage).decode
    assert read('{"updates":[],"id":"r-7","reset":true}').is_reset
    assert read('{"updates":[],"id":"r-7"}') == WatchMessage([], "r-7", is_reset=False)


def test_what_a_newer_service_adds_is_left_out() -> None:
    assert msgspec.json.decode('{"waiting":1,"news":2}', type=Counts) == Counts(waiting=1)
    assert msgspec.json.decode('{"name":"s","news":2}', type=StreamView) == StreamView("s")


def test_what_an_older_service_lacks_has_defaults() -> None:
    view = msgspec.json.decode('{"name":"q","stream":"s"}', type=QueueView)
    assert (view.kind, view.waiting, view.lease_seconds) == ("update", 0, None)


def test_counts_add_up_and_rejections_keep_their_places() -> None:
    first = Counts(1, 2, 3, 1, 5, [Rejection(0, "a")])
    second = Counts(10, 20, 30, 2, 50, [Rejection(0, "b"), Rejection(4, "c")])
    assert first.plus(second, sent=100) == Counts(
        11, 22, 33, 3, 55, [Rejection(0, "a"), Rejection(100, "b"), Rejection(104, "c")]
    )


def test_no_more_rejections_are_listed_than_the_service_would() -> None:
    many = Counts(rejected=MOST_REJECTIONS, rejections=[Rejection(0, "x")] * MOST_REJECTIONS)
    both = many.plus(many, sent=1_000)
    assert both.rejected == 2 * MOST_REJECTIONS
    assert len(both.rejections) == MOST_REJECTIONS


def test_deliveries_add_up() -> None:
    assert Delivered(1, 2).plus(Delivered(10, 20)) == Delivered(11, 22)
