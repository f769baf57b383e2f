"""Key schedulers: which of the waiting keys is served next. One policy per module.

`PacedScheduler` is none: it holds keys back from the policy that it wraps.
"""

from .fifo import FifoScheduler
from .in_place import InPlaceScheduler
from .linecutting import LinecuttingScheduler
from .paced import PacedScheduler
from .scheduler import Scheduler, Surroundings, Terms
from .staleness_index import StalenessIndexScheduler

__all__ = [
    "FifoScheduler",
    "InPlaceScheduler",
    "LinecuttingScheduler",
    "PacedScheduler",
    "Scheduler",
    "StalenessIndexScheduler",
    "Surroundings",
    "Terms",
]
