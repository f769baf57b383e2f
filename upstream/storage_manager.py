"""The storage manager: streams and queues by name (report, section 4.2, Figure 3).

Sources enqueue into streams, and applications dequeue from queues. Both need only a name. For
everything else, get the stream or the queue and call its own methods.
"""

from __future__ import annotations

from typing import TypeVar

from .clock import Clock, SystemClock
from .errors import NameTakenError, UnknownNameError
from .memory import Codec, Memory
from .queues import AppendWindowQueue, Stream, StreamQueue, WindowQueue
from .statistics import DEFAULT_FORGETTING, AnyKey, PerKey, QueueStatistics
from .updates import Key, Outcome, Update
from .windows import WindowQueueStatistics, WindowTuple

AnyQueue = StreamQueue | WindowQueue | AppendWindowQueue
AnyStatistics = QueueStatistics | WindowQueueStatistics
Kind = TypeVar("Kind", bound=AnyQueue)


class StorageManager:
    """Streams and the queues that they feed, by name.

    All of them use `clock`. The default is a `SystemClock`.

    >>> from upstream import InPlaceScheduler, UpdateQueue
    >>> storage = StorageManager()
    >>> _ = storage.create_stream("trades")
    >>> _ = storage.add_queue("dashboard", UpdateQueue(InPlaceScheduler()), stream="trades")
    >>> _ = storage.enqueue("trades", "IBM", 24.0)
    >>> storage.dequeue("dashboard").value
    24.0
    """

    __slots__ = ("_clock", "_queues", "_stream_of", "_streams")

    def __init__(self, *, clock: Clock | None = None) -> None:
        self._clock: Clock = SystemClock() if clock is None else clock
        self._streams: dict[str, Stream] = {}
        self._queues: dict[str, AnyQueue] = {}
        self._stream_of: dict[str, str] = {}

    @property
    def streams(self) -> tuple[str, ...]:
        """The names of the streams, in the order of their creation."""
        return tuple(self._streams)

    @property
    def queues(self) -> tuple[str, ...]:
        """The names of the queues, in the order in which they were added."""
        return tuple(self._queues)

    def create_stream(
        self,
        name: str,
        *,
        retain: bool = True,
        memory: Memory | None = None,
        codec: Codec | None = None,
        rates: PerKey[AnyKey] | None = None,
        forgetting: float = DEFAULT_FORGETTING,
        forget_after: float | None = None,
    ) -> Stream:
        """Create a stream with this name; the other parameters are those of `Stream`.

        A name that is taken raises NameTakenError.
        """
        if name in self._streams:
            raise NameTakenError("stream", name)
        stream = self._streams[name] = Stream(
            clock=self._clock,
            retain=retain,
            memory=memory,
            codec=codec,
            rates=rates,
            forgetting=forgetting,
            forget_after=forget_after,
        )
        return stream

    def add_queue(self, name: str, queue: Kind, *, stream: str, snapshot: bool = False) -> Kind:
        """Attach a new queue to the stream named `stream`, and return the queue.

        With `snapshot` the queue starts with the newest values of the stream (`Stream.attach`). A
        queue name that is taken raises NameTakenError.
        """
        if name in self._queues:
            raise NameTakenError("queue", name)
        self.stream(stream).attach(queue, snapshot=snapshot)
        self._queues[name] = queue
        self._stream_of[name] = stream
        return queue

    def stream(self, name: str) -> Stream:
        """Return the stream with this name; an unknown name raises UnknownNameError."""
        if name not in self._streams:
            raise UnknownNameError("stream", name)
        return self._streams[name]

    def queue(self, name: str) -> AnyQueue:
        """Return the queue with this name; an unknown name raises UnknownNameError."""
        if name not in self._queues:
            raise UnknownNameError("queue", name)
        return self._queues[name]

    def drop_queue(self, name: str) -> AnyStatistics:
        """Close the queue with this name, forget the name, and return the final statistics."""
        final = self.queue(name).close()
        del self._queues[name], self._stream_of[name]
        return final

    def drop_stream(self, name: str) -> dict[str, AnyStatistics]:
        """Close the stream with this name and all its queues; return their final statistics."""
        stream = self.stream(name)
        fed = [queue for queue in self._queues if self._stream_of[queue] == name]
        final = {queue: self.drop_queue(queue) for queue in fed}
        stream.close()
        del self._streams[name]
        return final

    def enqueue(self, stream: str, key: Key, value: object, time: float | None = None) -> Outcome:
        """Enqueue an update into the stream with this name; `time` defaults to the clock's time."""
        return self.stream(stream).enqueue(key, value, time)

    def dequeue(self, queue: str) -> Update | WindowTuple | None:
        """Dequeue the next update or window tuple of the queue with this name, or None."""
        return self.queue(queue).dequeue()

    def read(self, queue: str, key: Key) -> Update | list[Update] | None:
        """Return the waiting update or window of `key` in this queue; change nothing."""
        return self.queue(queue).read(key)
