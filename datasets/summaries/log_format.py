"""The format of event logs, version 1: what simulator and service write, and `summarize` reads.

A run is a folder: one queue, from when it began to when it ended or its writer was killed. It has

- `events-*.parquet` or `events-*.csv`: a row for each thing that happened, in the order in which it
  did. Files are written as `.events-….unfinished`, and get their names when they are whole.
- `run.json`: what the run was, and what the queue itself measured. It is there from the start, and
  written anew at the end (the service writes it with each file), so a killed run has one, too.

| column | type | meaning |
| --- | --- | --- |
| `event` | integer | the row's number in the log: 0, 1, 2 …, from file to file without a gap |
| `time` | float | when it happened, by the queue's clock; it never falls |
| `kind` | string | one of those below |
| `key` | string | the key; JSON if it is no string, looks like JSON or is not one line of text |
| `number` | integer | which update; numbers of a key rise in the order in which they arrived |
| `source_time` | float | optional, not read: the update's own time |

In CSV the first line names the columns, and floats are written so that they read back exactly.

| kind | what happened to the update |
| --- | --- |
| `arrival` | it was accepted, and is the newest of its key |
| `old` | it was accepted by an append queue, though a newer one of its key was known |
| `late` | it arrived, and was dropped since a newer one of its key was known |
| `rejected` | it arrived, and found no room: as if it had never been |
| `dequeue` | it was handed out |
| `delivery` | the application has its result; taken as delivered is written like this, too |
| `old-delivery` | likewise, of an `old` one, which makes nothing less stale |
| `return` | it was given back: it waits again, unless a newer one of its key was accepted |
| `shed` | a full append queue dropped it |

Members of `run.json`; only the first two are needed:

| member | meaning |
| --- | --- |
| `format`, `version` | "upstream-events", 1 |
| `name` | how the run is called in tables, the policy unless given: a service's queue |
| `policy`, `seed` | of the queue, and of what was random (or null) |
| `setting` | an object: what else distinguishes runs; those with the same are compared |
| `unit` | what times count, "s" unless given |
| `start`, `end` | of the run, by the clock of `time`; null: that of the first, the last event |
| `events`, `is_finished` | how many rows there are at `end`; whether the run ended by itself |
| `processing_cost`, `servers` | what an update takes a consumer (null: measured); how many |
| `waiting_per_key` | "one" for update queues, "many" for append queues, "either" for adaptive |
| `not_told` | `{"queue": […], "application": […]}`: why that staleness cannot be recomputed |
| `integrated` | `queue_staleness`, `application_staleness` (means over keys), `keys`, `counters` |

Staleness is that of the report, section 3.3: the application's is the time since the arrival of the
first update newer than the newest delivered; the queue's that since the arrival of the first update
after the last one dequeued. Both are averaged over time from a key's first arrival on, then over
keys. `late` and `rejected` rows change neither. Expired and forgotten updates have no kind: where
there were any, `not_told` says so, and nothing is recomputed that would be wrong.
"""

from __future__ import annotations

from typing import Final

FORMAT: Final = "upstream-events"
VERSION: Final = 1
DESCRIPTION: Final = "run.json"
FILES: Final = "events-*"
SUFFIXES: Final = (".parquet", ".csv")

KINDS: Final = (
    "arrival",
    "old",
    "late",
    "rejected",
    "dequeue",
    "delivery",
    "old-delivery",
    "return",
    "shed",
)
COLUMNS: Final = {
    "event": "bigint",
    "time": "double",
    "kind": "string",
    "key": "string",
    "number": "bigint",
}
"""Those that are read, with their types by Spark's names."""
WAITING_PER_KEY: Final = ("one", "many", "either")
STALENESS: Final = ("queue", "application")
