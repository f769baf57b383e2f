"""The service is what push asks for."""

from __future__ import annotations

from api.push.feed import Feeds, PrivateQueue, QueueFeed, TakesTurns
from tests.api.push.setting import define, make_service


def test_the_service_is_what_push_asks_for() -> None:
    service = make_service()
    entry = define(service)
    feeds: Feeds = service
    feed: QueueFeed = entry
    assert feeds.queue("q") is feed
    assert feeds.streams["q"] is feed.stream
    queue: PrivateQueue = entry.attach_private()
    assert len(queue) == 0
    assert queue.dequeue() is None
    assert queue.waiting_since() is None
    assert queue.queue_staleness() == 0.0


def test_only_queues_of_windows_take_turns() -> None:
    service = make_service()
    windows = define(service, "w", kind="window", window={"size": 2})
    assert isinstance(windows.attach_private(), TakesTurns)
    assert not isinstance(define(service).attach_private(), TakesTurns)
