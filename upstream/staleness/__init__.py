"""Staleness, integrated exactly, and a lower bound on the staleness of any scheduler."""

from .against_bound import AgainstBound, against_bound, observed_seconds
from .key_staleness import KeyStaleness, key_staleness
from .lower_bound import staleness_lower_bound
from .single_key import single_key_application_staleness, single_key_queue_staleness
from .sums import StalenessSums

__all__ = [
    "AgainstBound",
    "KeyStaleness",
    "StalenessSums",
    "against_bound",
    "key_staleness",
    "observed_seconds",
    "single_key_application_staleness",
    "single_key_queue_staleness",
    "staleness_lower_bound",
]
