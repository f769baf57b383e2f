"""The format of event logs, as Spark reads it; `upstream.events` defines and describes it."""

from __future__ import annotations

from typing import Final

from upstream.events import COLUMNS as ARROW_TYPES
from upstream.events import (
    DESCRIPTION,
    FILES,
    FORMAT,
    SUFFIXES,
    VERSION,
    WAITING_PER_KEY,
    EventKind,
)

__all__ = [
    "ARROW_TYPES",
    "COLUMNS",
    "DESCRIPTION",
    "FILES",
    "FORMAT",
    "KINDS",
    "STALENESS",
    "SUFFIXES",
    "VERSION",
    "WAITING_PER_KEY",
]

KINDS: Final = tuple(kind.value for kind in EventKind)
_SPARK_TYPES: Final = {"int64": "bigint"}
COLUMNS: Final = {name: _SPARK_TYPES.get(kind, kind) for name, kind in ARROW_TYPES.items()}
"""The columns that are read, with their types by Spark's names."""
STALENESS: Final = ("queue", "application")
