"""Key schedulers: which of the waiting keys is served next. One policy per module."""

from .fifo import FifoScheduler
from .in_place import InPlaceScheduler
from .linecutting import LinecuttingScheduler
from .scheduler import Scheduler, Surroundings
from .staleness_index import StalenessIndexScheduler

__all__ = [
    "FifoScheduler",
    "InPlaceScheduler",
    "LinecuttingScheduler",
    "Scheduler",
    "StalenessIndexScheduler",
    "Surroundings",
]
