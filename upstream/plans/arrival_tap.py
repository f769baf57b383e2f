"""What pushes: it runs a query for every update that arrives at a stream, before anything else.

A stream tells nobody of an arrival but those who read its log, and these can ask to read at once.
So a stream that somebody taps takes updates in one by one, batches too, and `enqueue` returns when
the query has run: the source pays for a query that it pushes.
"""

from __future__ import annotations

from collections.abc import Callable

from ..queues import Stream
from ..queues.shared_log import SharedLog


class ArrivalTap:
    """Call `run` after each arrival at `stream`, late ones too.

    >>> stream = Stream()
    >>> tap = ArrivalTap(stream, lambda: print("an arrival"))
    >>> _ = stream.enqueue("IBM", 24.0)
    an arrival
    >>> tap.close()
    """

    __slots__ = ("_log", "_run", "_stream", "position", "read_ahead")

    position: int
    read_ahead: int | None

    def __init__(self, stream: Stream, run: Callable[[], None]) -> None:
        self.read_ahead = 1
        self._stream = stream
        self._run = run
        self._log: SharedLog = stream.open_log(self)

    def settle(self) -> None:
        """Pass over what has arrived, and run."""
        self._log.read(self)
        self._run()

    def close(self) -> None:
        """Hear of no more arrivals."""
        self._stream.close_log(self)
