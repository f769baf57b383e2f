"""Subscriptions, with clients that lose their connections."""

from __future__ import annotations

import random
from typing import Any

import pytest

from api.entries import QueueEntry
from api.push.asgi import LONGEST_REASON
from api.push.resume import sequence_before
from api.push.selected_queue import MOST_PASSED_OVER
from api.push.selection import SelectionError
from api.push.subscription import MOST_UPDATES, SHORT_UPDATES, Ending, Subscription
from tests.api.push.setting import (
    decoded,
    define,
    make_service,
    put,
    subscribe,
    values_of,
)
from upstream import ManualClock

EVERYTHING = 1 << 20


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(1_000.0)


@pytest.fixture
def feed(clock: ManualClock) -> QueueEntry:
    return define(make_service(clock))


def sequence_of(message: Any) -> int:
    return int(message["id"].rpartition("-")[2])


def put_many(feed: QueueEntry, keys: int) -> None:
    names = [f"K{number}" for number in range(keys)]
    feed.stream.take_in(names, [b"1"] * keys)


def test_a_message_has_the_newest_updates_and_where_to_go_on(
    feed: QueueEntry, clock: ManualClock
) -> None:
    subscription = subscribe(feed)
    put(feed, IBM=1, GM=2)
    put(feed, IBM=3)
    clock.advance(1)
    message = subscription.take(EVERYTHING)
    assert message is not None
    assert (message.updates, message.is_last) == (2, True)
    assert decoded(message) == {
        "updates": [
            {"key": "IBM", "time": 1_000.0, "value": 3},
            {"key": "GM", "time": 1_000.0, "value": 2},
        ],
        "id": f"{feed.stream.run}-{sequence_before(1_001.0)}",
    }
    assert subscription.take(EVERYTHING) is None


def test_a_message_is_about_as_long_as_it_may_be(feed: QueueEntry) -> None:
    subscription = subscribe(feed)
    put_many(feed, 300)
    message = subscription.take(1_000)
    assert message is not None
    assert 1_000 <= len(message.data) < 1_200
    assert not message.is_last
    one = subscription.take(1)
    assert one is not None
    assert one.updates == 1
    most = subscription.take(EVERYTHING)
    assert most is not None
    assert most.updates == MOST_UPDATES


def test_a_message_is_short_while_others_wait(feed: QueueEntry) -> None:
    subscription = subscribe(feed)
    put_many(feed, 300)
    message = subscription.take(EVERYTHING, is_short=True)
    assert message is not None
    assert message.updates == SHORT_UPDATES


def test_it_is_known_how_much_waits(feed: QueueEntry) -> None:
    subscription = subscribe(feed)
    assert subscription.backlog == 0
    put_many(feed, MOST_UPDATES + 10)
    assert subscription.backlog == MOST_UPDATES + 10
    assert subscription.take(EVERYTHING) is not None
    assert subscription.backlog == 10


@pytest.mark.parametrize("scheduler", ["fifo", "index"])
def test_no_message_is_made_while_the_rate_allows_none(clock: ManualClock, scheduler: str) -> None:
    feed = define(make_service(clock), scheduler=scheduler)
    put_many(feed, 2 * MOST_PASSED_OVER)
    put(feed, W1=1, W2=1)
    subscription = subscribe(feed, "snapshot=true&keys=W*&max_rate=1")
    while (message := subscription.take(EVERYTHING)) is None:
        assert subscription.has_more
    assert message.updates == 1
    assert subscription.take(EVERYTHING) is None
    assert not subscription.has_more, "it would be asked again and again until then"
    assert subscription.next_due() == pytest.approx(clock.now() + 1)
    clock.advance(1)
    assert values_of(decoded(subscription.take(EVERYTHING))) in ({"W1": 1}, {"W2": 1})


def test_as_long_as_a_key_waits_its_arrival_is_where_to_go_on(
    feed: QueueEntry, clock: ManualClock
) -> None:
    subscription = subscribe(feed)
    for key in ("A", "B", "C"):
        put(feed, **{key: 1})
        clock.advance(1)
    first = decoded(subscription.take(1))
    assert list(values_of(first)) == ["A"]
    assert sequence_of(first) < 1_001_000_000
    subscription.take(1)
    last = decoded(subscription.take(1))
    assert sequence_of(last) == sequence_before(1_003.0)


@pytest.mark.parametrize("query", ["", "snapshot=true"])
def test_a_snapshot_comes_first_unless_it_is_not_wanted(feed: QueueEntry, query: str) -> None:
    put(feed, IBM=1, GM=2)
    message = decoded(subscribe(feed, query).take(EVERYTHING))
    assert values_of(message) == {"IBM": 1, "GM": 2}
    assert "reset" not in message
    assert subscribe(feed, "snapshot=false").take(EVERYTHING) is None


def test_a_resumed_connection_gets_what_it_missed(feed: QueueEntry, clock: ManualClock) -> None:
    put(feed, A=1, B=1, C=1)
    clock.advance(1)
    subscription = subscribe(feed, "snapshot=true")
    last_id = decoded(subscription.take(EVERYTHING))["id"]
    subscription.close(Ending.CLIENT)
    clock.advance(1)
    put(feed, B=2)
    feed.stream.delete("C")
    resumed = subscribe(feed, f"last_event_id={last_id}")
    message = decoded(resumed.take(EVERYTHING))
    assert values_of(message) == {"B": 2, "C": None}
    assert message["updates"][0] == {"key": "C", "time": 1_000.0, "value": None, "deleted": True}
    assert "reset" not in message


@pytest.mark.parametrize("last_id", ["cafe-12345", "what"])
def test_a_client_that_cannot_resume_must_forget_its_values(feed: QueueEntry, last_id: str) -> None:
    put_many(feed, 200)
    subscription = subscribe(feed, f"last_event_id={last_id}")
    first, second = (decoded(subscription.take(EVERYTHING)) for _ in range(2))
    assert first["reset"] is True
    assert "reset" not in second
    assert len(first["updates"]) + len(second["updates"]) == 200


def test_a_client_that_cannot_resume_is_reset_even_without_updates(feed: QueueEntry) -> None:
    subscription = subscribe(feed, "last_event_id=cafe-12345")
    message = decoded(subscription.take(EVERYTHING))
    assert message["updates"] == []
    assert message["reset"] is True
    assert subscription.take(EVERYTHING) is None


def test_many_deletions_take_several_messages_that_can_be_resumed(
    feed: QueueEntry, clock: ManualClock
) -> None:
    put_many(feed, 300)
    clock.advance(1)
    first_id = decoded(subscribe_and_take(feed))["id"]
    clock.advance(1)
    for number in range(300):
        feed.stream.delete(f"K{number}")
    gone: set[str] = set()
    last_id = first_id
    while len(gone) < 300:  # each message by a connection of its own
        subscription = subscribe(feed, f"last_event_id={last_id}")
        while (taken := subscription.take(EVERYTHING)) is not None:
            message = decoded(taken)
            assert "reset" not in message
            gone |= set(values_of(message))
            last_id = message["id"]
        subscription.close()
    assert len(gone) == 300


def test_a_deletion_that_was_not_sent_is_sent_to_a_client_that_resumes() -> None:
    feed = define(make_service(_TickingClock()), scheduler="in-place")
    put(feed, A=1)
    subscription = subscribe(feed, "snapshot=true")
    subscription.take(EVERYTHING)
    put(feed, Z=1)
    feed.stream.delete("A")
    message = decoded(subscription.take(1))
    assert values_of(message) == {"Z": 1}
    subscription.close()
    resumed = subscribe(feed, f"last_event_id={message['id']}")
    assert values_of(decoded(resumed.take(EVERYTHING)))["A"] is None


def subscribe_and_take(feed: QueueEntry) -> Any:
    subscription = subscribe(feed, "snapshot=true")
    messages = []
    while (message := subscription.take(EVERYTHING)) is not None:
        messages.append(message)
    subscription.close()
    return messages[-1]


def test_no_more_is_sent_than_the_rate_of_the_connection(
    feed: QueueEntry, clock: ManualClock
) -> None:
    put_many(feed, 100)
    subscription = subscribe(feed, "snapshot=true&max_rate=10")
    sent = 0
    while clock.now() < 1_005.0:
        message = subscription.take(EVERYTHING)
        sent += 0 if message is None else message.updates
        if message is None:
            due = subscription.next_due()
            assert clock.now() < due <= clock.now() + 0.1 + 1e-6
            clock.set(due)
    assert 49 <= sent <= 51


def test_the_record_has_the_numbers_that_the_page_shows(
    feed: QueueEntry, clock: ManualClock
) -> None:
    subscription = subscribe(feed, "window=3")
    assert feed.stream.subscribers == {subscription}
    put_many(feed, 40)
    subscription.take(1)
    clock.advance(2)
    record = subscription.record()
    assert record["queue"] == subscription.queue == "q"
    assert (record["kind"], record["window"]) == ("websocket", 3)
    assert (record["sent"], record["waiting"]) == (1, 39)
    assert record["pace"] == pytest.approx(0.4, rel=0.2)
    assert record["queue_staleness"] == pytest.approx(39 / 40 * 1.0)
    assert subscribe(feed, transport="sse").record()["window"] is None


def test_unwanted_keys_do_not_wait(feed: QueueEntry) -> None:
    subscription = subscribe(feed, "keys=K1&keys=K2")
    put_many(feed, 40)
    assert subscription.record()["waiting"] == 2


def test_a_closed_subscription_is_detached_and_wakes_its_connection(feed: QueueEntry) -> None:
    subscription = subscribe(feed)
    put(feed, IBM=1)
    subscription.take(EVERYTHING)
    woken: list[str] = []
    subscription.on_end = lambda: woken.append("up")
    for _ in range(2):
        subscription.close(Ending.SHUTDOWN)
    assert woken == ["up"]
    assert subscription.ending is Ending.SHUTDOWN
    assert not feed.stream.subscribers
    assert feed.stream.stream.statistics().queues == 0
    subscription.delivered(1)  # an answer that comes too late


class _Client:
    """A client that keeps a picture, and resumes where its last message tells."""

    def __init__(self, feed: QueueEntry, query: str) -> None:
        self.feed = feed
        self.query = query
        self.picture: dict[Any, Any] = {}
        self.last_id = ""
        self.subscription: Subscription | None = None
        self.on_the_way: list[Any] = []

    def connect(self) -> None:
        resume = f"&last_event_id={self.last_id}" if self.last_id else ""
        self.subscription = subscribe(self.feed, self.query + resume)

    def lose(self) -> None:
        """Lose the connection, and what is on its way."""
        if self.subscription is not None:
            self.subscription.close(Ending.CLIENT)
        self.subscription = None
        self.on_the_way.clear()

    def send(self, most_bytes: int) -> bool:
        if self.subscription is None:
            self.connect()
        assert self.subscription is not None
        message = self.subscription.take(most_bytes)
        if message is not None:
            self.on_the_way.append(decoded(message))
        return message is not None

    def receive(self) -> None:
        if not self.on_the_way or self.subscription is None:
            return
        message = self.on_the_way.pop(0)
        self.subscription.delivered(1)
        if message.get("reset"):
            self.picture.clear()
        for update in message["updates"]:
            if update.get("deleted"):
                self.picture.pop(update["key"], None)
            else:
                self.picture[update["key"]] = update["value"]
        self.last_id = message["id"]


class _TickingClock:
    """A clock that shows another time whenever it is looked at."""

    def __init__(self) -> None:
        self.time = 1_000.0

    def now(self) -> float:
        self.time += 1e-5
        return self.time


HOLDING: list[dict[str, Any]] = [
    {"scheduler": name} for name in ("index", "in-place", "linecutting")
]
OTHERS: list[dict[str, Any]] = [
    {"scheduler": "fifo"},
    {"kind": "append"},
    {"kind": "adaptive", "capacity": 3},
]
CASES = [
    *((definition, query) for definition in HOLDING + OTHERS for query in ("", "&keys=K[0-4]")),
    *((definition, "&max_rate_per_key=K[0-2]:1/0.05") for definition in HOLDING),
]


def act(chance: random.Random, client: _Client, other: Subscription, number: int) -> None:
    """Do something that may happen: to the stream, or to one of its connections."""
    feed = client.feed
    key = f"K{chance.randrange(8)}"
    (action,) = chance.choices(
        ("put", "delete", "send", "receive", "lose", "serve other", "serve queue"),
        (35, 5, 25, 20, 3, 2, 5),
    )
    match action:
        case "put":
            feed.stream.take_in_one(key, b"%d" % number)
        case "delete" if feed.stream.stream.read(key) is not None:
            feed.stream.delete(key)
        case "send":
            client.send(chance.choice([1, 100, EVERYTHING]))
        case "receive":
            client.receive()
        case "lose":
            client.lose()
        case "serve other":
            while other.take(EVERYTHING) is not None:
                other.delivered(1)
        case "serve queue":
            while (update := feed.queue.dequeue()) is not None:
                feed.queue.deliver(update)


@pytest.mark.parametrize(("definition", "query"), CASES)
@pytest.mark.parametrize("seed", range(5))
def test_a_client_that_resumes_misses_no_key(
    definition: dict[str, Any], query: str, seed: int
) -> None:
    chance = random.Random(seed)
    clock = _TickingClock()
    feed = define(make_service(clock), **definition)
    other = subscribe(feed)  # which keeps deleted keys until it is sent their deletions
    client = _Client(feed, "snapshot=true" + query)
    for number in range(1_000):
        act(chance, client, other, number)
    clock.time += 1.0
    while client.send(EVERYTHING) or client.on_the_way:
        client.receive()
    assert client.subscription is not None
    is_wanted = client.subscription.selection.is_wanted
    newest = feed.stream.stream.snapshot()
    truth = {update.key: update.value for update in newest if is_wanted(update.key)}
    assert {key: b"%d" % value for key, value in client.picture.items()} == truth


def test_without_conflation_a_connection_ends_before_the_first_gap(
    clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.entries.MOST_APPENDED", 10)
    feed = define(make_service(clock), kind="append")
    subscription = subscribe(feed, "conflate=never")
    for value in range(10):
        put(feed, IBM=value)
    message = decoded(subscription.take(EVERYTHING))
    assert [update["value"] for update in message["updates"]] == list(range(10))
    for value in range(11):
        assert subscription.is_open()
        put(feed, IBM=value)
    assert subscription.take(EVERYTHING) is None
    assert subscription.ending is Ending.FELL_BEHIND
    assert not subscription.has_more
    assert len(Ending.FELL_BEHIND.value.encode()) <= LONGEST_REASON


@pytest.mark.parametrize("kind", ["update", "adaptive"])
def test_queues_that_conflate_by_definition_cannot_be_asked_not_to(
    clock: ManualClock, kind: str
) -> None:
    feed = define(make_service(clock), kind=kind)
    with pytest.raises(SelectionError, match="conflate must be auto, except for an append queue"):
        subscribe(feed, "conflate=never")
    assert feed.stream.subscribers == set()
    subscribe(feed, "conflate=auto").close()
