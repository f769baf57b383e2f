"""The format of event logs, version 1: the simulator and the service write it, summaries read it.

A run is the folder of one queue, from its start until it ended or its writer was killed:

- `events-*.parquet` or `events-*.csv` have one row for each event, in the order of the events. A
  file is written as `.events-….unfinished` and gets its name when it is complete.
- `run.json` describes the run and what the queue itself measured. It is written at the start and
  again at the end (the service writes it with each file), so a killed run has one too.

| column | type | meaning |
| --- | --- | --- |
| `event` | integer | the number of the row in the log: 0, 1, 2 …, without a gap between files |
| `time` | float | when it happened, by the queue's clock; times never fall |
| `kind` | string | one of the kinds below |
| `key` | string | the key as `key_text` writes it: a string as it is, anything else as JSON |
| `number` | integer | which update; the numbers of a key rise in the order of arrival |
| `source_time` | float | optional and not read: the time of the update at its source |

The first line of a CSV file names the columns. A float is written as the shortest text that reads
back as the same float.

| kind | what happened to the update |
| --- | --- |
| `arrival` | it was accepted, and is the newest of its key |
| `old` | an append queue accepted it, although a newer update of its key was known |
| `late` | it arrived and was dropped, because a newer update of its key was known |
| `rejected` | it found no room when it arrived; nothing else changed |
| `dequeue` | the queue handed it out |
| `delivery` | the application has its result, or the queue took it as delivered |
| `old-delivery` | the same for an `old` update; it reduces no staleness |
| `return` | it was given back; it waits again unless a newer one of its key was accepted |
| `shed` | a full append queue dropped it |

Of the members of `run.json` only the first two are required:

| member | meaning |
| --- | --- |
| `format`, `version` | "upstream-events", 1 |
| `written_by` | "simulator" or "service" |
| `name` | the name of the run in tables; the policy by default; for a service, the queue's name |
| `policy`, `seed` | the queue's policy; the seed of what was random, or null |
| `setting` | an object with whatever else distinguishes runs; equal settings are compared |
| `unit` | the unit of times, "s" by default |
| `start`, `end` | of the run, by the clock of `time`; null: the time of the first, the last event |
| `events`, `is_finished` | the number of rows at `end`; whether the run ended by itself |
| `processing_cost`, `servers` | the cost of an update (null: measured); the number of servers |
| `waiting_per_key` | "one" for update queues, "many" for append queues, "either" for adaptive |
| `not_told` | `{"queue": […], "application": […]}`: why that staleness cannot be recomputed |
| `integrated` | `queue_staleness`, `application_staleness` (means over keys), `keys`, `counters` |
| `stream`, `definition` | not read: a service's stream, and the definition of its queue |

Staleness is defined as in section 3.3 of the report. Application staleness is the time since the
arrival of the first update that is newer than the newest one delivered. Queue staleness is the time
since the arrival of the first update after the last one dequeued. Both are averaged over time from
a key's first arrival on, then over keys. `late` and `rejected` rows change neither. Updates that
expire and keys that are forgotten have no kind of event: where there were any, `not_told` says so,
and summaries do not recompute a value that would be wrong.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple, Protocol, TypedDict

from ..updates import Key
from .key_texts import key_of

FORMAT: Final = "upstream-events"
VERSION: Final = 1
DESCRIPTION: Final = "run.json"
FILES: Final = "events-*"
SUFFIXES: Final = (".parquet", ".csv")
COLUMNS: Final = {
    "event": "int64",
    "time": "double",
    "kind": "string",
    "key": "string",
    "number": "int64",
}
"""The columns that are read, with their types by Arrow's names."""
WAITING_PER_KEY: Final = ("one", "many", "either")


class EventKind(StrEnum):
    """What may happen to an update; the table in this module says what each kind means."""

    ARRIVAL = "arrival"
    OLD = "old"
    LATE = "late"
    REJECTED = "rejected"
    DEQUEUE = "dequeue"
    DELIVERY = "delivery"
    OLD_DELIVERY = "old-delivery"
    RETURN = "return"
    SHED = "shed"


class Event(NamedTuple):
    """One thing that happened to the update with this number."""

    time: float
    kind: EventKind
    key: Key
    number: int


class EventSink(Protocol):
    """An object that takes events in the order in which they happen."""

    def note(self, time: float, kind: EventKind, key: Key, number: int) -> None:
        """Take one event."""
        ...


class Integrated(TypedDict):
    """What the queue itself measured until the end of the run."""

    queue_staleness: float
    application_staleness: float
    keys: int
    counters: Mapping[str, int]


class RunDescription(TypedDict, total=False):
    """The members of `run.json` that a writer chooses; the table in this module explains them."""

    written_by: str
    name: str
    policy: str
    seed: int | None
    setting: Mapping[str, object]
    unit: str
    start: float | None
    end: float | None
    events: int | None
    is_finished: bool
    processing_cost: float | None
    servers: int
    waiting_per_key: str
    not_told: Mapping[str, list[str]]
    integrated: Integrated | None
    stream: str | None
    definition: Mapping[str, object]


def description_text(description: RunDescription) -> str:
    """Return the text of `run.json`."""
    members = {"format": FORMAT, "version": VERSION, **description}
    return json.dumps(members, indent=2, allow_nan=False) + "\n"


def event_of(cells: Mapping[str, object]) -> Event:
    """Return the event of a row, given as cells by column; in CSV the cells are texts.

    Raises ValueError for a cell that cannot be read.

    >>> event_of({"event": "0", "time": "0.5", "kind": "arrival", "key": '"7"', "number": "0"})
    Event(time=0.5, kind=<EventKind.ARRIVAL: 'arrival'>, key='7', number=0)
    """
    time, kind, key, number = (str(cells[name]) for name in ("time", "kind", "key", "number"))
    return Event(float(time), EventKind(kind), key_of(key), int(number))
