"""UpStream: a load manager for update streams, feeds where only the newest value per key matters.

Put an `UpdateQueue` between a feed and a consumer that cannot keep up. It keeps the newest update
of each key, serves the keys so that average staleness is as low as can be, and measures it.

>>> from upstream import InPlaceScheduler, ManualClock, UpdateQueue
>>> queue = UpdateQueue(InPlaceScheduler(), clock=ManualClock())
>>> _ = queue.enqueue("IBM", 24.0, time=0)
>>> _ = queue.enqueue("IBM", 25.0, time=1)
>>> queue.dequeue().value
25.0
"""

from .clock import Clock, ManualClock, SystemClock
from .queues import Stream, UpdateQueue
from .schedulers import (
    FifoScheduler,
    InPlaceScheduler,
    LinecuttingScheduler,
    Scheduler,
    StalenessIndexScheduler,
)
from .updates import TOMBSTONE, Key, Outcome, Update
