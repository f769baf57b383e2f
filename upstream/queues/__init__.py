"""Queues and the streams that feed them. Here schedulers, memory and windows meet."""

from ..updates import BatchOutcome
from .log.adaptive_queue import AdaptiveQueue
from .log.append_queue import AppendQueue, RandomShedding
from .stream.stream import Stream
from .stream_queue import StreamQueue
from .update_queue import UpdateQueue
from .windows.append_window_queue import AppendWindowQueue, RandomWindowShedding
from .windows.window_queue import WindowQueue
from .windows.windowed_queue import WindowedQueue

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
