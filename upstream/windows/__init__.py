"""Windows under update semantics (report, section 6): their specification and their buffers."""

from .accounting import TupleStatistics, WindowCounts, WindowQueueStatistics, WindowStatistics
from .aggregate import Aggregate
from .aggregate_functions import AggregateFunction
from .buffered_tuples import BufferedTuples, ObjectTuples
from .eager import EagerWindowBuffer
from .key_transitions import KeyEvent, KeyState
from .lazy import LazyWindowBuffer
from .open_windows import OpenWindows
from .specification import WindowSpecification
from .window_buffer import WindowBuffer
from .window_tuples import Mark, WindowEnd, WindowEnding, WindowMark, WindowResult, WindowTuple

__all__ = [
    "Aggregate",
    "AggregateFunction",
    "BufferedTuples",
    "EagerWindowBuffer",
    "KeyEvent",
    "KeyState",
    "LazyWindowBuffer",
    "Mark",
    "ObjectTuples",
    "OpenWindows",
    "TupleStatistics",
    "WindowBuffer",
    "WindowCounts",
    "WindowEnd",
    "WindowEnding",
    "WindowMark",
    "WindowQueueStatistics",
    "WindowResult",
    "WindowSpecification",
    "WindowStatistics",
    "WindowTuple",
]
