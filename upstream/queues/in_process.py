"""What a queue has handed out and not heard of again.

A dequeued update is in process until it is delivered or given back. Consumers that never say so
must not make the queue grow, so the number is bounded: past it the oldest is taken as delivered.
"""

from __future__ import annotations

from collections import OrderedDict

from ..keys import Place
from ..updates import Update

Record = tuple[Update, Place, int, float, float, int]
"""An update in process: itself, its key's place, its version, its arrival, when it was dequeued,
and its number in the order of arrival where that matters. The version is 0 if it was late. It is a
plain tuple because one is made for each dequeue, and anything with names costs several times it.
"""


InProcess = OrderedDict[int, Record]
"""The updates in process by their identity, oldest first. Not a dict: taking its first key again
and again walks over the holes of all before."""


def find_copy(in_process: InProcess, update: Update) -> Record | None:
    """Return the record of the update of which `update` is a copy, None if there is none.

    A copy is what comes back from another process, for instance. It is known by its key and time,
    and by its value if several have these. O(updates in process).
    """
    alike = [
        record
        for record in in_process.values()
        if record[0].time == update.time and record[0].key == update.key
    ]
    if len(alike) <= 1:
        return alike[0] if alike else None
    return next((record for record in alike if _is_equal(record[0].value, update.value)), alike[0])


def _is_equal(one: object, other: object) -> bool:
    try:
        return bool(one == other)
    except (TypeError, ValueError):  # arrays, for instance, have no single answer
        return False


def check_records(in_process: InProcess) -> None:
    """State every invariant."""
    for identity, record in in_process.items():
        assert identity == id(record[0])
        assert record[1].in_process > 0
