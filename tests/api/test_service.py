"""Streams and queues as clients define and name them, without HTTP."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from api.definitions import QueueDefinition, StreamDefinition
from api.service import Service, TooManyError
from api.settings import Settings
from upstream import UnknownNameError


@pytest.fixture
def service() -> Service:
    return Service(Settings(demo=False, max_streams=2, max_queues=2))


def test_a_queue_that_cannot_be_made_leaves_nothing_behind(service: Service) -> None:
    service.define_stream("trades", StreamDefinition(retain=False))
    with pytest.raises(ValueError, match="snapshot"):
        service.define_queue("q", QueueDefinition(stream="trades", snapshot=True))
    with pytest.raises(UnknownNameError):
        service.queue("q")
    assert service.stream("trades").queues == {}


def test_there_are_no_more_than_the_settings_allow(service: Service) -> None:
    for name in "ab":
        service.define_queue(name, QueueDefinition())
    with pytest.raises(TooManyError):
        service.define_queue("c", QueueDefinition(stream="a"))
    with pytest.raises(TooManyError):
        service.define_stream("c", StreamDefinition())
    service.drop_queue("b")
    service.define_queue("c", QueueDefinition(stream="a"))


def test_a_stream_goes_with_its_queues(service: Service) -> None:
    entry, _ = service.define_queue("q", QueueDefinition(stream="trades"))
    service.stream("trades").take_in_one("IBM", b"1")
    final = service.drop_stream("trades")
    assert set(final) == {"q"}
    assert entry.is_dropped
    for find in (service.stream, service.queue):
        with pytest.raises(UnknownNameError):
            find("trades")
    assert service.storage.streams == service.storage.queues == ()


def test_two_runs_of_the_service_differ() -> None:
    assert Service(Settings()).run != Service(Settings()).run


def test_waiting_requests_are_woken_by_the_shutdown(service: Service) -> None:
    woken: list[str] = []
    entry, _ = service.define_queue("trades", QueueDefinition())
    entry.idle.add(lambda: woken.append("up"))
    service.begin_shutdown()
    assert service.closing.is_set()
    assert woken


def test_the_events_of_a_queue_that_only_connections_read_are_logged_from_a_dequeue_on(
    tmp_path: Path,
) -> None:
    service = Service(Settings(demo=False, event_log=tmp_path))
    queue, _ = service.define_queue("q", QueueDefinition())
    queue.stream.take_in_one("IBM", b"1", 10.0)
    queue.serve_push()
    assert queue.log is None
    queue.stream.take_in_one("IBM", b"2", 11.0)
    queue.deliver(queue.take(1, 1_000))
    service.finish()
    logged = {}
    for folder in (tmp_path / service.run).iterdir():
        assert json.loads((folder / "run.json").read_text())["is_finished"]
        rows = [row for path in folder.glob("*.parquet") for row in pq.read_table(path).to_pylist()]
        logged[folder.name] = [row["kind"] for row in rows]
    name = f"q-{queue.identity}"
    assert logged == {name: ["arrival"], f"{name}-again": ["arrival", "dequeue", "delivery"]}
