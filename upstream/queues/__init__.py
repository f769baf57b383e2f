"""Queues and the streams that feed them: where schedulers, memory and windows meet."""

from .adaptive_queue import AdaptiveQueue
from .append_queue import AppendQueue, RandomShedding
from .append_window_queue import AppendWindowQueue, RandomWindowShedding
from .batch_outcome import BatchOutcome
from .stream import Stream
from .stream_queue import StreamQueue
from .update_queue import UpdateQueue
from .window_queue import WindowQueue
from .windowed_queue import WindowedQueue

__all__ = [
    "AdaptiveQueue",
    "AppendQueue",
    "AppendWindowQueue",
    "BatchOutcome",
    "RandomShedding",
    "RandomWindowShedding",
    "Stream",
    "StreamQueue",
    "UpdateQueue",
    "WindowQueue",
    "WindowedQueue",
]
