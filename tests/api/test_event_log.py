"""The event log of the service: which events of which queues it has, and what it cannot tell."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fastapi import FastAPI

from api import definitions, event_log
from api.application import _lifespan
from api.definitions import QueueDefinition, StreamDefinition
from api.entries import QueueEntry, StreamEntry
from api.event_files import EventFiles
from api.history import History
from api.service import Service
from api.settings import Settings, SettingsError
from upstream.events import key_text

MANY_BYTES = 1 << 20


@pytest.fixture
def service(tmp_path: Path) -> Service:
    return Service(Settings(demo=False, event_log=tmp_path / "log"))


@pytest.fixture
def stream(service: Service) -> StreamEntry:
    return service.define_stream("trades", StreamDefinition())[0]


def queue_of(service: Service, name: str = "q", **definition: object) -> QueueEntry:
    given = QueueDefinition.model_validate({"stream": "trades", **definition})
    return service.define_queue(name, given)[0]


def folder_of(service: Service, queue: QueueEntry) -> Path:
    assert service.settings.event_log is not None
    return service.settings.event_log / service.run / f"{queue.name}-{queue.identity}"


def events_of(service: Service, queue: QueueEntry) -> list[tuple[str, str, int]]:
    """Return kind, key and number of all events that were written."""
    files = sorted(folder_of(service, queue).glob("events-*.parquet"))
    rows = [row for path in files for row in pq.read_table(path).to_pylist()]
    assert [row["event"] for row in rows] == list(range(len(rows)))
    assert [row["time"] for row in rows] == sorted(row["time"] for row in rows)
    return [(row["kind"], row["key"], row["number"]) for row in rows]


def described(service: Service, queue: QueueEntry) -> dict[str, Any]:
    found = json.loads((folder_of(service, queue) / "run.json").read_text())
    assert isinstance(found, dict)
    return found


def test_each_thing_that_happens_to_an_update_is_noted(
    service: Service, stream: StreamEntry
) -> None:
    queue = queue_of(service, lease_seconds=60.0, scheduler="in-place")
    stream.take_in_one("IBM", 1, 10.0)
    stream.take_in(["IBM", "IBM"], [2, 3], [12.0, 11.0])
    (ibm,) = queue.take(1, MANY_BYTES)
    queue.give_back([ibm])
    queue.deliver(queue.take(1, MANY_BYTES))
    service.finish()
    assert events_of(service, queue) == [
        ("arrival", "IBM", 0),
        ("arrival", "IBM", 1),
        ("late", "IBM", 2),
        ("dequeue", "IBM", 1),
        ("return", "IBM", 1),
        ("dequeue", "IBM", 1),
        ("delivery", "IBM", 1),
    ]


def test_columns_of_arrow_are_noted_as_lists_are(service: Service, stream: StreamEntry) -> None:
    queue = queue_of(service)
    keys = pa.array(["IBM", "GM"]).dictionary_encode()
    stream.take_in(keys, pa.array([1, 2]), pa.array([1.0, 2.0]))
    service.finish()
    assert events_of(service, queue) == [("arrival", "IBM", 0), ("arrival", "GM", 1)]


def test_an_append_queue_hands_out_every_update_also_the_old_ones(
    service: Service, stream: StreamEntry
) -> None:
    queue = queue_of(service, kind="append", lease_seconds=60.0)
    stream.take_in(["IBM", "IBM"], [1, 2], [10.0, 5.0])
    first, second = queue.take(2, MANY_BYTES)
    queue.give_back([first])
    (again,) = queue.take(1, MANY_BYTES)
    queue.deliver([second, again])
    service.finish()
    assert [(kind, number) for kind, _, number in events_of(service, queue)] == [
        ("arrival", 0),
        ("old", 1),
        ("dequeue", 0),
        ("dequeue", 1),
        ("return", 0),
        ("dequeue", 0),
        ("old-delivery", 1),
        ("delivery", 0),
    ]
    assert described(service, queue)["waiting_per_key"] == "many"


def test_a_queue_that_begins_with_a_snapshot_has_its_keys_arrive_then(
    service: Service, stream: StreamEntry
) -> None:
    stream.take_in(["IBM", "GM", "IBM"], [1, 2, 3], [1.0, 1.0, 2.0])
    queue = queue_of(service, snapshot=True)
    queue.deliver(queue.take(1, MANY_BYTES))
    service.finish()
    kinds = [(kind, number) for kind, _, number in events_of(service, queue)]
    assert sorted(kinds[:2]) == [("arrival", 0), ("arrival", 1)]
    assert [kind for kind, _ in kinds[2:]] == ["dequeue", "delivery"]


def test_updates_without_room_are_logged_as_rejected(service: Service) -> None:
    stream, _ = service.define_stream("trades", StreamDefinition(pool_bytes=4_096))
    queue = queue_of(service)
    stream.take_in(list("abc"), [b"x" * 3_000] * 3)
    stream.take_in_one("d", b"x" * 3_000)
    service.finish()
    assert [kind for kind, _, _ in events_of(service, queue)] == ["arrival", *["rejected"] * 3]
    assert described(service, queue)["not_told"] == {"queue": [], "application": []}


def test_the_final_description_has_the_staleness_that_the_queue_integrated(
    service: Service, stream: StreamEntry
) -> None:
    queue = queue_of(service)
    stream.take_in(["IBM", "IBM", "GM"], [1, 2, 3])
    queue.deliver(queue.take(1, MANY_BYTES))
    service.finish()
    run = described(service, queue)
    assert run["is_finished"]
    assert run["events"] == len(events_of(service, queue)) == 5
    integrated = run["integrated"]
    assert integrated["keys"] == 2
    assert integrated["counters"]["superseded"] == 1
    assert 0 < integrated["queue_staleness"] < integrated["application_staleness"]
    assert run["setting"] == {"service": service.run, "stream": "trades"}
    assert service.event_log is not None
    assert service.event_log.failed == 0
    assert "upstream_event_logs_failed_total 0.0" in metrics_of(service)


def test_a_killed_service_leaves_the_flushed_events(service: Service, stream: StreamEntry) -> None:
    queue = queue_of(service)
    stream.take_in_one("IBM", 1)
    assert service.event_log is not None
    service.event_log.flush()
    stream.take_in_one("IBM", 2)
    assert len(events_of(service, queue)) == 1
    run = described(service, queue)
    assert (run["is_finished"], run["events"], run["integrated"]) == (False, 1, None)


def test_memory_is_bounded_by_files(
    service: Service, stream: StreamEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_log, "EVENTS_PER_FILE", 10)
    queue = queue_of(service)
    for number in range(25):
        stream.take_in_one("IBM", number)
    assert len(events_of(service, queue)) == 20


@pytest.mark.parametrize(
    ("definition", "reason"),
    [({"time_to_live": 0.001}, "expired"), ({"capacity": 1}, "others took")],
)
def test_the_description_says_what_the_events_do_not_tell(
    service: Service, stream: StreamEntry, definition: dict[str, object], reason: str
) -> None:
    given = QueueDefinition.model_validate({"stream": "trades", **definition})
    queue, other = service.define_queue("q", given)[0], queue_of(service, "other")
    stream.take_in(["IBM", "GM"], [1, 2])
    until = service.clock.now() + 0.01
    while service.clock.now() < until:
        pass
    service.finish()
    assert reason in " ".join(described(service, queue)["not_told"]["queue"])
    assert described(service, other)["not_told"]["queue"] == []


def test_forgotten_keys_are_described_and_make_no_log_grow(
    service: Service, stream: StreamEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_log, "SPARE_KEYS", 10)
    queue = queue_of(service)
    assert service.event_log is not None
    assert stream.log is not None
    for key in range(100):
        stream.take_in_one(key, 1)
        stream.stream.forget(key)
        service.event_log.flush()
    assert len(stream.log._newest) <= 11
    service.finish()
    assert described(service, queue)["not_told"]["application"] == ["100 keys were forgotten"]


@pytest.mark.parametrize(
    "definition",
    [
        {"kind": "adaptive"},
        {"kind": "append", "capacity": 3},
        {"kind": "append", "time_to_live": 1.0},
        {"kind": "window", "window": {"size": 1.0}},
    ],
)
def test_queues_that_drop_updates_without_a_trace_are_not_logged(
    service: Service, stream: StreamEntry, definition: dict[str, object]
) -> None:
    given = QueueDefinition.model_validate({"stream": "trades", **definition})
    queue, _ = service.define_queue("q", given)
    stream.take_in(["IBM"], [1.0])
    queue.take(1, MANY_BYTES)
    assert queue.log is None
    assert not folder_of(service, queue).exists()


def test_the_service_s_own_queues_are_not_logged(service: Service, stream: StreamEntry) -> None:
    assert queue_of(service, "_own").log is None


def test_a_queue_that_is_dropped_ends_its_log_and_one_of_its_name_begins_another(
    service: Service, stream: StreamEntry
) -> None:
    first = queue_of(service, kind="append", lease_seconds=60.0)
    assert service.event_log is not None
    assert stream.log is not None
    assert first.log is not None
    stream.take_in(["IBM", "GM"], [1, 2])
    first.take(1, MANY_BYTES)
    service.drop_queue("q")
    assert not first.log._waiting
    assert not first.log._handed
    assert (service.event_log._queues, stream.log.queues, stream.log._newest) == ([], [], {})
    second = queue_of(service)
    stream.take_in(["GM"], [1])
    service.finish()
    assert described(service, first)["is_finished"]
    arrivals = [("arrival", "IBM", 0), ("arrival", "GM", 1)]
    assert events_of(service, first) == [*arrivals, ("dequeue", "IBM", 0)]
    # The first logged queue of a stream begins with the keys that the stream knows.
    assert events_of(service, second) == [("arrival", "GM", 2)]


def metrics_of(service: Service) -> str:
    return asyncio.run(service.metrics.exposition())[1].decode()


def test_a_log_that_cannot_be_written_ends_and_the_service_goes_on(
    service: Service, stream: StreamEntry, caplog: pytest.LogCaptureFixture
) -> None:
    queue = queue_of(service)
    stream.take_in(["IBM"], [1])
    folder = folder_of(service, queue)
    (folder / "run.json").unlink()
    folder.rmdir()
    folder.write_text("no folder any more")
    assert service.event_log is not None
    with caplog.at_level(logging.ERROR):
        service.event_log.flush()
    assert "cannot be written" in caplog.text
    assert service.event_log.failed == 1
    assert "upstream_event_logs_failed_total 1.0" in metrics_of(service)
    stream.take_in(["IBM"], [2])
    assert [update.value for update in queue.take(1, MANY_BYTES)] == [2]
    service.finish()


def test_a_log_that_ended_on_a_full_disk_releases_everything(
    service: Service, stream: StreamEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_files: object) -> None:
        raise OSError(28, "No space left on device")

    queue, other = queue_of(service, kind="append"), queue_of(service, "other")
    assert service.event_log is not None
    assert stream.log is not None
    assert queue.log is not None
    stream.take_in(["IBM", "GM"], [1, 2])
    queue.take(1, MANY_BYTES)
    with monkeypatch.context() as patch:
        patch.setattr(event_log, "EVENTS_PER_FILE", 1)
        patch.setattr(EventFiles, "flush", fail)
        stream.take_in_one("IBM", 3)  # both end, while the stream goes through them
    assert (stream.log.queues, stream.log._newest) == ([], {})
    for number in range(20):
        stream.take_in(["IBM", number], [1, 2])
        queue.deliver(queue.take(1, MANY_BYTES))
    assert not queue.log._waiting
    assert not queue.log._handed
    assert len(queue.log._files.events) == 0
    assert service.event_log.failed == 2
    service.event_log.flush()
    assert service.event_log._queues == []
    assert service.event_log.failed == 2
    assert other.log is not None
    assert other.log.is_finished


def test_a_log_that_cannot_begin_leaves_nothing(
    service: Service, stream: StreamEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_given: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(EventFiles, "describe", fail)
    stream.take_in_one("IBM", 1)
    assert queue_of(service, snapshot=True).log is None
    assert service.event_log is not None
    assert service.event_log.failed == 1
    assert stream.log is not None
    assert (service.event_log._queues, stream.log.queues, stream.log._newest) == ([], [], {})


def test_a_key_that_no_file_could_hold_as_it_is_does_not_end_the_log(
    service: Service, stream: StreamEntry
) -> None:
    queue = queue_of(service)
    keys = ["\ud800", '"\\ud800"', "a\nb", "a\0b"]
    for key in keys:
        stream.take_in_one(key, 1)
    service.begin_shutdown()
    assert queue.log is not None
    assert not queue.log.is_finished
    assert [key for _, key, _ in events_of(service, queue)] == [key_text(key) for key in keys]


def test_updates_taken_as_delivered_are_released(
    service: Service, stream: StreamEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (definitions, event_log):
        monkeypatch.setattr(module, "IN_PROCESS_LIMIT", 3)
    queue = queue_of(service, lease_seconds=60.0)
    stream.take_in(list(range(10)), list(range(10)))
    taken = queue.take(10, MANY_BYTES)
    assert queue.log is not None
    assert [handed.update for handed in queue.log._handed.values()] == taken[-3:]
    queue.deliver(taken)
    service.finish()
    kinds = [kind for kind, _, _ in events_of(service, queue)]
    assert kinds.count("delivery") == 3


@pytest.mark.parametrize("end", ["deliver", "give_back"])
def test_updates_that_the_queue_forgot_are_released(
    service: Service, stream: StreamEntry, end: str
) -> None:
    queue = queue_of(service, lease_seconds=60.0)
    stream.take_in_one("IBM", 1)
    taken = queue.take(1, MANY_BYTES)
    assert queue.log is not None
    assert len(queue.log._handed) == 1
    queue.queue.deliver(taken[0])  # behind the log's back
    getattr(queue, end)(taken)
    assert not queue.log._handed


def test_a_stream_notes_nothing_before_its_first_logged_queue(
    service: Service, stream: StreamEntry
) -> None:
    assert stream.log is not None
    stream.take_in(["IBM", "GM"], [1, 2], [5.0, 5.0])
    stream.take_in_one("IBM", 3, 6.0)
    assert not stream.log._newest
    queue = queue_of(service, snapshot=True)
    stream.take_in(["IBM", "IBM", "X"], [1, 2, 3], [5.5, 6.5, 1.0])
    service.finish()
    events = events_of(service, queue)
    assert sorted(events[:2], key=lambda event: event[2]) == [
        ("arrival", "IBM", 0),
        ("arrival", "GM", 1),
    ]
    assert events[2:] == [("late", "IBM", 2), ("arrival", "IBM", 3), ("arrival", "X", 4)]


def test_a_file_that_is_full_within_a_batch_is_written_after_it(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_log, "EVENTS_PER_FILE", 3)
    stream, _ = service.define_stream("trades", StreamDefinition(pool_bytes=4_096))
    queue = queue_of(service)
    stream.take_in(list("abcd"), [b"x" * 3_000] * 4)
    assert described(service, queue)["events"] == 4
    assert described(service, queue)["not_told"] == {"queue": [], "application": []}


def test_pyarrow_is_imported_when_the_service_with_a_log_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "pyarrow.parquet")
    Service(Settings(demo=False))
    assert "pyarrow.parquet" not in sys.modules
    Service(Settings(demo=False, event_log=tmp_path / "log"))
    assert "pyarrow.parquet" in sys.modules


async def test_other_tasks_run_between_the_files_of_two_queues(
    service: Service, stream: StreamEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns: list[str] = []
    log = service.event_log
    assert log is not None
    monkeypatch.setattr(event_log, "FLUSH_SECONDS", 0.0)
    monkeypatch.setattr(event_log.QueueLog, "flush", lambda _log: turns.append("write"))
    for name in ("one", "two"):
        queue_of(service, name)

    writing = asyncio.create_task(log.run())
    while turns.count("write") < 4:
        turns.append("other")
        await asyncio.sleep(0)
    writing.cancel()
    assert ("write", "write") not in set(pairwise(turns))


async def test_deliveries_during_the_shutdown_are_logged(
    service: Service, stream: StreamEntry
) -> None:
    queue = queue_of(service, lease_seconds=60.0)
    app = FastAPI()
    app.state.service = service
    app.state.history = History(service)

    async with _lifespan(app):
        stream.take_in_one("IBM", 1)
        taken = queue.take(1, MANY_BYTES)
        service.begin_shutdown()
        assert described(service, queue)["events"] == 2
        queue.deliver(taken)
        assert not described(service, queue)["is_finished"]
    assert [kind for kind, _, _ in events_of(service, queue)] == ["arrival", "dequeue", "delivery"]
    assert described(service, queue)["is_finished"]


def test_waiting_consumers_are_woken_even_if_a_log_cannot_be_written(
    service: Service, stream: StreamEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_log: object) -> None:
        raise RuntimeError("a bug")

    woken: list[bool] = []
    queue = queue_of(service)
    queue.idle.add(lambda: woken.append(True))
    monkeypatch.setattr(event_log.EventLog, "flush", fail)
    with pytest.raises(RuntimeError):
        service.begin_shutdown()
    assert woken


def test_without_the_setting_there_is_no_log_and_the_clock_is_the_system_s() -> None:
    service = Service(Settings(demo=False))
    stream, _ = service.define_stream("trades", StreamDefinition())
    queue = queue_of(service)
    assert (service.event_log, stream.log, queue.log) == (None, None, None)
    assert type(service.clock).__name__ == "SystemClock"


def test_a_folder_that_cannot_be_made_is_refused_by_the_name_of_the_setting(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match="UPSTREAM_EVENT_LOG"):
        Service(Settings(demo=False, event_log=tmp_path / "file" / "log"))
