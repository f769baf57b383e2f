"""The one format of event logs, which the simulator and the service write and summaries read."""

from .event_columns import EventColumns
from .event_format import (
    COLUMNS,
    DESCRIPTION,
    FILES,
    FORMAT,
    SUFFIXES,
    VERSION,
    WAITING_PER_KEY,
    Event,
    EventKind,
    EventSink,
    Integrated,
    RunDescription,
    description_text,
    event_of,
)
from .key_texts import key_of, key_text

__all__ = [
    "COLUMNS",
    "DESCRIPTION",
    "FILES",
    "FORMAT",
    "SUFFIXES",
    "VERSION",
    "WAITING_PER_KEY",
    "Event",
    "EventColumns",
    "EventKind",
    "EventSink",
    "Integrated",
    "RunDescription",
    "description_text",
    "event_of",
    "key_of",
    "key_text",
]
