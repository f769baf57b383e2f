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
from .errors import (
    AlreadyAttachedError,
    ClosedError,
    ColumnLengthError,
    ColumnTypeError,
    CostError,
    KeyNotHashableError,
    NameTakenError,
    NotAttachedError,
    NotInProcessError,
    PagePoolFullError,
    ParameterError,
    RateError,
    TimeNotFiniteError,
    TimeOutOfRangeError,
    UnknownKeyError,
    UnknownNameError,
    UnknownPolicyError,
    UpStreamError,
    ValueNotEncodableError,
    ValueTooLargeError,
    WeightError,
    WindowNotInProcessError,
)
from .memory import (
    BytesCodec,
    Codec,
    JsonCodec,
    Memory,
    MemoryUsage,
    MessagePackCodec,
    NaiveMemory,
    OnDemandMemory,
    PagePool,
)
from .policies import POLICIES, SCHEDULERS, make_queue, make_scheduler
from .queues import (
    AdaptiveQueue,
    AppendQueue,
    BatchOutcome,
    RandomShedding,
    Stream,
    StreamQueue,
    UpdateQueue,
    WindowedQueue,
    WindowQueue,
)
from .schedulers import (
    FifoScheduler,
    InPlaceScheduler,
    LinecuttingScheduler,
    Scheduler,
    StalenessIndexScheduler,
)
from .staleness import (
    single_key_application_staleness,
    single_key_queue_staleness,
    staleness_lower_bound,
)
from .statistics import QueueStatistics, StreamStatistics
from .storage_manager import StorageManager
from .updates import TOMBSTONE, Key, Outcome, Update
from .windows import (
    Aggregate,
    AggregateFunction,
    EagerWindowBuffer,
    LazyWindowBuffer,
    TupleStatistics,
    WindowBuffer,
    WindowMark,
    WindowQueueStatistics,
    WindowResult,
    WindowSpecification,
    WindowStatistics,
    WindowTuple,
)

__all__ = [
    "POLICIES",
    "SCHEDULERS",
    "TOMBSTONE",
    "AdaptiveQueue",
    "Aggregate",
    "AggregateFunction",
    "AlreadyAttachedError",
    "AppendQueue",
    "BatchOutcome",
    "BytesCodec",
    "Clock",
    "ClosedError",
    "Codec",
    "ColumnLengthError",
    "ColumnTypeError",
    "CostError",
    "EagerWindowBuffer",
    "FifoScheduler",
    "InPlaceScheduler",
    "JsonCodec",
    "Key",
    "KeyNotHashableError",
    "LazyWindowBuffer",
    "LinecuttingScheduler",
    "ManualClock",
    "Memory",
    "MemoryUsage",
    "MessagePackCodec",
    "NaiveMemory",
    "NameTakenError",
    "NotAttachedError",
    "NotInProcessError",
    "OnDemandMemory",
    "Outcome",
    "PagePool",
    "PagePoolFullError",
    "ParameterError",
    "QueueStatistics",
    "RandomShedding",
    "RateError",
    "Scheduler",
    "StalenessIndexScheduler",
    "StorageManager",
    "Stream",
    "StreamQueue",
    "StreamStatistics",
    "SystemClock",
    "TimeNotFiniteError",
    "TimeOutOfRangeError",
    "TupleStatistics",
    "UnknownKeyError",
    "UnknownNameError",
    "UnknownPolicyError",
    "UpStreamError",
    "Update",
    "UpdateQueue",
    "ValueNotEncodableError",
    "ValueTooLargeError",
    "WeightError",
    "WindowBuffer",
    "WindowMark",
    "WindowNotInProcessError",
    "WindowQueue",
    "WindowQueueStatistics",
    "WindowResult",
    "WindowSpecification",
    "WindowStatistics",
    "WindowTuple",
    "WindowedQueue",
    "make_queue",
    "make_scheduler",
    "single_key_application_staleness",
    "single_key_queue_staleness",
    "staleness_lower_bound",
]
