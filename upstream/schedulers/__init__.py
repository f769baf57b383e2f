"""Key schedulers: they decide which waiting key is served next. One policy per module.

`PacedScheduler` is not a policy: it wraps another scheduler and holds keys back from it.
"""

from .fifo import FifoScheduler
from .in_place import InPlaceScheduler
from .linecutting import LinecuttingScheduler
from .paced import PacedScheduler
from .scheduler import Scheduler, Surroundings, Terms, check_scheduler
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
    "check_scheduler",
]
