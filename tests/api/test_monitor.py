"""The monitor publishes the service's state while there are subscribers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, cast

import msgspec
import pytest

from api.definitions import QueueDefinition
from api.entries import QueueEntry
from api.monitor import (
    GONE_SECONDS,
    IDLE_SECONDS,
    INTERVAL_SECONDS,
    SERVICE_STREAM,
    SHOWN_SUBSCRIBERS,
    Monitor,
    report_of,
)
from api.push.subscription import Subscription
from api.queue_reports import SHARE
from api.staleness_report import Report
from tests.api.push.setting import make_service
from tests.api.serving import Client
from upstream import ManualClock

REPORT_SECONDS = 0.02


class Connection:
    """Stands in for a subscriber."""

    def __init__(self, queue: str) -> None:
        self.queue = queue

    def record(self) -> Mapping[str, object]:
        return {"id": "c1", "queue": self.queue, "sent": 3}


class EnoughError(Exception):
    """Ends a monitor that would run for ever."""


class Watched:
    """A service and its monitor, on a clock that moves only while the monitor rests."""

    def __init__(self, *, report: Callable[[QueueEntry], Report] = report_of) -> None:
        self.clock = ManualClock(1_000.0)
        self.service = make_service(self.clock)
        self.monitor = Monitor(self.service, pause=self.pause, busy=self.clock.now, report=report)
        self.entry = self.service.streams[SERVICE_STREAM]
        self.pauses: list[float] = []
        self.most_pauses = 100

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        if len(self.pauses) == self.most_pauses:
            raise EnoughError
        self.clock.advance(seconds)

    def run(self, pauses: int) -> None:
        """Run the monitor until it has rested so often once more."""
        self.most_pauses = len(self.pauses) + pauses
        with pytest.raises(EnoughError):
            asyncio.run(self.monitor.run())

    def queue(self, name: str) -> QueueEntry:
        return self.service.define_queue(name, QueueDefinition())[0]

    def subscribe(self, queue: str = SERVICE_STREAM) -> Subscription:
        connection = cast(Subscription, Connection(queue))
        self.service.queue(queue).stream.subscribers.add(connection)
        return connection

    def publish(self) -> dict[Any, Any]:
        """Publish once, and return all published states."""
        asyncio.run(self.monitor.publish())
        return self.published()

    def published(self) -> dict[Any, Any]:
        updates = self.entry.stream.snapshot()
        return {update.key: msgspec.json.decode(cast(bytes, update.value)) for update in updates}


def test_without_subscribers_nothing_is_published() -> None:
    def refuse(queue: QueueEntry) -> Report:
        raise AssertionError(queue.name)

    watched = Watched(report=refuse)
    watched.queue("trades")
    watched.run(pauses=5)
    assert watched.pauses == [IDLE_SECONDS] * 5
    assert watched.entry.stream.statistics().arrived == 0


def test_a_subscriber_gets_everything_once_a_second() -> None:
    watched = Watched()
    watched.queue("trades")
    watched.subscribe()
    watched.run(pauses=6)  # after the report and after the round, three times
    rounds = [pause for pause in watched.pauses if pause > 0]
    assert rounds == pytest.approx([INTERVAL_SECONDS] * 3)
    assert watched.published().keys() == {"service", "stream/trades", "queue/trades"}
    assert watched.entry.stream.statistics().arrived == 9


def test_a_queues_state_has_its_counters_its_staleness_and_its_subscribers() -> None:
    watched = Watched()
    entry = watched.queue("trades")
    entry.stream.take_in(["IBM", "IBM", ("GM", 7)], [b"1", b"2", b"3"])
    watched.subscribe()
    watched.subscribe("trades")
    state = watched.publish()["queue/trades"]
    definition = {"name": "trades", "stream": "trades", "kind": "update", "scheduler": "index"}
    definition |= {"serves": "dequeue"}
    counters = {"arrived": 3, "superseded": 1, "delivered": 0, "waiting": 2, "keys": 2}
    assert state.items() >= (definition | counters).items()
    assert state["time"] == 1_000.0
    assert {"queue_staleness", "present_queue_staleness", "lower_bound", "ratio"} <= state.keys()
    assert {row["key"] for row in state["stalest_keys"]} == {"IBM", '["GM",7]'}
    assert [rank[0] for rank in state["ranks"]] == [1, 2]
    assert state["subscribers"] == [{"id": "c1", "queue": "trades", "sent": 3}]


def test_of_very_many_subscribers_some_are_shown() -> None:
    watched = Watched()
    watched.queue("trades")
    watched.queue("quotes")
    watched.subscribe()
    watched.subscribe("quotes")
    for _ in range(SHOWN_SUBSCRIBERS + 20):
        watched.subscribe("trades")
    state = watched.publish()["queue/trades"]
    assert len(state["subscribers"]) == SHOWN_SUBSCRIBERS
    assert state["subscriber_count"] == SHOWN_SUBSCRIBERS + 20


def test_states_tell_the_order_in_which_things_were_created() -> None:
    watched = Watched()
    for name in ("b", "c", "a"):
        watched.queue(name)
    watched.service.drop_queue("c")
    published = watched.publish()
    for kind, names in (("queue", ["b", "a"]), ("stream", ["b", "c", "a"])):
        found = [state for key, state in published.items() if key.startswith(f"{kind}/")]
        in_order = sorted(found, key=lambda state: state["place"])
        assert [state["name"] for state in in_order] == names


def test_an_append_queue_has_no_scheduler() -> None:
    watched = Watched()
    watched.service.define_queue("log", QueueDefinition(kind="append"))
    watched.subscribe()
    assert watched.publish()["queue/log"]["scheduler"] is None


def test_a_window_queue_is_described_like_any_other() -> None:
    watched = Watched()
    watched.queue("plain")
    body = {"stream": "plain", "kind": "window", "window": {"size": 2.0}}
    watched.service.define_queue("windows", QueueDefinition.model_validate(body))
    watched.subscribe()
    published = watched.publish()
    assert published["queue/windows"].keys() == published["queue/plain"].keys()


def test_the_services_state_has_its_pace_and_counts() -> None:
    watched = Watched()
    entry = watched.queue("trades")
    watched.subscribe()
    watched.subscribe("trades")
    first = watched.publish()["service"]
    entry.stream.take_in(["IBM"] * 30, [b"1"] * 30)
    watched.clock.advance(2.0)
    second = watched.publish()["service"]
    assert first["updates_per_second"] is None
    assert second["updates_per_second"] == pytest.approx(15.0)
    assert (second["streams"], second["queues"], second["subscribers"]) == (1, 1, 1)
    assert second["memory"] > 1_000_000
    assert second["run"] == watched.service.run


def test_reports_take_a_tenth_of_the_time_at_most() -> None:
    def slow(queue: QueueEntry) -> Report:
        made.append(queue)
        watched.clock.advance(REPORT_SECONDS)
        return report_of(queue)

    made: list[QueueEntry] = []
    watched = Watched(report=slow)
    for number in range(20):
        watched.queue(f"queue-{number}")
    watched.subscribe()
    started = watched.clock.now()
    watched.run(pauses=210)  # ten rounds
    share = len(made) * REPORT_SECONDS / (watched.clock.now() - started)
    assert share == pytest.approx(SHARE, rel=0.02)


def test_the_state_of_a_deleted_queue_is_deleted() -> None:
    watched = Watched()
    for name in ("trades", "quotes"):
        watched.queue(name)
    watched.subscribe()
    watched.publish()
    watched.service.drop_stream("quotes")
    assert watched.publish().keys() == {"service", "stream/trades", "queue/trades"}


def test_old_deletions_are_forgotten_while_there_are_subscribers() -> None:
    watched = Watched()
    watched.subscribe()
    for number in range(200):
        watched.queue(f"q{number}")
        watched.run(4)
        watched.service.drop_stream(f"q{number}")
    watched.run(4)
    assert watched.clock.now() > 1_000.0 + 3 * GONE_SECONDS
    assert len(watched.entry.stream) < 2 * (GONE_SECONDS / INTERVAL_SECONDS + 10)
    watched.queue("q0")
    watched.run(4)
    assert "queue/q0" in watched.published()


def test_a_queue_that_is_dropped_between_two_reports_is_left_out() -> None:
    def dropping(queue: QueueEntry) -> Report:
        if "quotes" in watched.service.queues:
            watched.service.drop_queue("quotes")
        return report_of(queue)

    watched = Watched(report=dropping)
    watched.queue("trades")
    watched.queue("quotes")
    watched.subscribe()
    assert "queue/quotes" not in watched.publish()


def test_a_later_subscriber_does_not_get_old_states() -> None:
    watched = Watched()
    watched.queue("trades")
    connection = watched.subscribe()
    watched.run(pauses=2)
    assert watched.published() != {}
    watched.entry.subscribers.remove(connection)
    watched.run(pauses=1)
    assert watched.published() == {}
    assert len(watched.entry.stream) == 0
    watched.subscribe()
    watched.run(pauses=1)
    assert watched.published()["service"]["updates_per_second"] is None


def test_the_services_own_stream_is_not_in_its_picture() -> None:
    watched = Watched()
    watched.subscribe()
    published = watched.publish()
    assert published.keys() == {"service"}
    assert published["service"]["streams"] == 0


def test_the_state_is_pushed_like_any_other_stream(trades: Client) -> None:
    trades.put_updates("trades", {"key": "IBM", "value": 24.5})
    seen: dict[str, Any] = {}
    path = "/v1/queues/_service/socket?snapshot=true"
    with trades.websocket_connect(path) as socket:
        while "queue/trades" not in seen:
            message = socket.receive_json()
            seen |= {update["key"]: update["value"] for update in message["updates"]}
            socket.send_json({"credit": 1})
    assert seen["queue/trades"]["waiting"] == 1
    assert seen["service"]["subscribers"] == 0  # a dashboard is not a subscriber
