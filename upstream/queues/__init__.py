"""Queues and the streams that feed them: where schedulers, memory and (later) windows meet."""

from .stream import Stream
from .update_queue import UpdateQueue

__all__ = ["Stream", "UpdateQueue"]
