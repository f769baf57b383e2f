"""Queues and the streams that feed them: where schedulers, memory and (later) windows meet."""

from .adaptive_queue import AdaptiveQueue
from .append_queue import AppendQueue, RandomShedding
from .batch_outcome import BatchOutcome
from .stream import Stream
from .stream_queue import StreamQueue
from .update_queue import UpdateQueue

__all__ = [
    "AdaptiveQueue",
    "AppendQueue",
    "BatchOutcome",
    "RandomShedding",
    "Stream",
    "StreamQueue",
    "UpdateQueue",
]
