"""The service: its streams and queues, as clients define and name them.

It knows nothing of HTTP. Everything runs in one event loop, on one thread, and nothing here waits.
So no other code touches a stream between two awaits of a handler.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import TypeVar

from pydantic import BaseModel

from upstream import Clock, StorageManager, SystemClock, UnknownNameError, UpStreamError

from .bodies import Limits, StoredValueCodec, UpdateReader
from .counters import AnyStatistics
from .definitions import PoolTooLargeError, QueueDefinition, StreamDefinition
from .entries import QueueEntry, StreamEntry
from .event_log import EventLog, NotedClock
from .idempotency import IdempotentAnswers
from .metrics import Metrics
from .push.subscription import Ending
from .push.turns import Turns
from .request_meter import RequestMeter
from .settings import Settings, SettingsError, variable

Known = TypeVar("Known", StreamEntry, QueueEntry)


class DefinitionDiffersError(UpStreamError, ValueError):
    """A stream or queue of this name exists with another definition."""

    def __init__(self, kind: str, differs: list[str]) -> None:
        self.kind = kind
        self.differs = differs
        super().__init__(
            f"a {kind} of this name exists with another {', '.join(differs)}; choose another name, "
            "or delete it first"
        )


class TooManyError(UpStreamError, RuntimeError):
    """The settings allow no further stream or queue."""

    def __init__(self, kind: str, most: int) -> None:
        self.kind = kind
        self.most = most
        super().__init__(f"the limit of {most} {kind}s is reached; delete one first")


class Service:
    """All streams and queues of one running service."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.clock: Clock = SystemClock()
        noted = None
        if settings.event_log is not None:
            self.clock = noted = NotedClock(self.clock)
        self.started_at = self.clock.now()
        self.run = secrets.token_hex(6)
        """Identifies this run of the service. Streams do not outlive it."""
        self.event_log: EventLog | None = None
        if noted is not None and settings.event_log is not None:
            try:
                self.event_log = EventLog(settings.event_log, run=self.run, clock=noted)
            except OSError as error:
                reason = f"{variable('event_log')}: the folder is not writable: {error.strerror}"
                raise SettingsError([reason]) from error
        self.storage = StorageManager(clock=self.clock)
        self.streams: dict[str, StreamEntry] = {}
        self.queues: dict[str, QueueEntry] = {}
        self.closing = asyncio.Event()
        """Set when the service is about to stop, so that all waiting ends."""
        self.is_ready = False
        self.meter = RequestMeter()
        self.turns = Turns()
        self.limits = Limits(
            key_bytes=settings.max_key_bytes,
            value_bytes=settings.max_value_bytes,
            depth=settings.max_depth,
            rows=settings.max_rows,
        )
        self.reader = UpdateReader(self.limits, self.clock.now)
        self.idempotent = IdempotentAnswers(
            now=self.clock.now,
            seconds=settings.idempotency_seconds,
            most_records=settings.idempotency_records,
            most_bytes=settings.idempotency_bytes,
        )
        self.metrics = Metrics(self)

    def stream(self, name: str) -> StreamEntry:
        """Return the stream of this name; raises UnknownNameError if it does not exist."""
        return _named("stream", name, self.streams)

    def queue(self, name: str) -> QueueEntry:
        """Return the queue of this name; raises UnknownNameError if it does not exist."""
        return _named("queue", name, self.queues)

    def define_stream(self, name: str, definition: StreamDefinition) -> tuple[StreamEntry, bool]:
        """Return the stream of this name, and whether it was created.

        Raises DefinitionDiffersError if it exists with another definition, and TooManyError or
        PoolTooLargeError if the service has no room for it.
        """
        known = self.streams.get(name)
        if known is not None:
            _check_same("stream", known.definition, definition)
            return known, False
        if len(self.streams) >= self.settings.max_streams:
            raise TooManyError("stream", self.settings.max_streams)
        if definition.pool_bytes is not None:
            taken = sum(entry.definition.pool_bytes or 0 for entry in self.streams.values())
            if taken + definition.pool_bytes > self.settings.max_pool_bytes:
                raise PoolTooLargeError
        memory = definition.memory()
        stream = self.storage.create_stream(
            name,
            retain=definition.retain,
            memory=memory,
            codec=None if memory is None else StoredValueCodec(),
            forget_after=definition.forget_after,
        )
        entry = self.streams[name] = StreamEntry(name, stream, definition, run=self.run)
        if self.event_log is not None:
            entry.log = self.event_log.stream(stream)
        return entry, True

    def define_queue(self, name: str, definition: QueueDefinition) -> tuple[QueueEntry, bool]:
        """Return the queue of this name, and whether it was created, like its stream if need be."""
        if definition.stream is None:
            definition = definition.model_copy(update={"stream": name})
        assert definition.stream is not None
        known = self.queues.get(name)
        if known is not None:
            _check_same("queue", known.definition, definition)
            return known, False
        if len(self.queues) >= self.settings.max_queues:
            raise TooManyError("queue", self.settings.max_queues)
        stream = self.streams.get(definition.stream)
        if stream is None:
            stream, _ = self.define_stream(definition.stream, StreamDefinition())
        entry = QueueEntry(name, stream, definition)
        entry.begin()
        if self.event_log is not None:
            entry.keep_log(self.event_log)
        self.queues[name] = stream.queues[name] = entry
        return entry, True

    def drop_queue(self, name: str) -> AnyStatistics:
        """Close a queue, forget its name, and return its final statistics."""
        entry = self.queue(name)
        for subscription in [*entry.stream.subscribers]:
            if subscription.queue == name:
                subscription.close()
        if self.event_log is not None and entry.log is not None:
            self.event_log.drop(entry.log)
        final = entry.close()
        del self.queues[name], entry.stream.queues[name]
        entry.drop()
        return final

    def drop_stream(self, name: str) -> dict[str, AnyStatistics]:
        """Close a stream with its queues, and return their final statistics by name."""
        entry = self.stream(name)
        final = {queue: self.drop_queue(queue) for queue in list(entry.queues)}
        assert not entry.subscribers, "a connection to no queue of the stream"
        self.storage.drop_stream(name)
        del self.streams[name]
        entry.drop()
        return final

    def begin_shutdown(self) -> None:
        """End all connections and requests that wait for updates.

        Event logs are flushed and continue: clients may deliver while the last requests end.
        """
        self.closing.set()
        for stream in self.streams.values():
            for subscription in [*stream.subscribers]:
                subscription.close(Ending.SHUTDOWN)
            stream.idle.wake_all()
        for queue in self.queues.values():
            queue.idle.wake_all()
        if self.event_log is not None:
            self.event_log.flush()  # last, since it takes time

    def finish(self) -> None:
        """Close the event logs, since no more requests come."""
        if self.event_log is not None:
            self.event_log.finish()


def _named(kind: str, name: str, known: dict[str, Known]) -> Known:
    entry = known.get(name)
    if entry is None:
        raise UnknownNameError(kind, name)
    return entry


def _check_same(kind: str, known: BaseModel, asked: BaseModel) -> None:
    if known != asked:
        members = type(known).model_fields
        differs = [name for name in members if getattr(known, name) != getattr(asked, name)]
        raise DefinitionDiffersError(kind, differs)
