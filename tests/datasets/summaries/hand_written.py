"""Logs that are short enough to be worked out by hand, and what comes of them."""

from __future__ import annotations

from pathlib import Path

from .logged_runs import write_log

SINCE_1970 = 1.7e9 + 0.25

RETURNED = [
    (0.0, "arrival", "k", 0),
    (2.0, "dequeue", "k", 0),
    (3.0, "return", "k", 0),  # it waits again, as of its arrival
    (5.0, "dequeue", "k", 0),
    (6.0, "delivery", "k", 0),
    (7.0, "arrival", "k", 1),
    (8.0, "dequeue", "k", 1),
    (9.0, "arrival", "k", 2),
    (9.5, "late", "k", 3),
    (10.0, "return", "k", 1),  # a newer one is known: it is superseded
    (11.0, "dequeue", "k", 2),
    (12.0, "delivery", "k", 2),
]
RETURNED_QUEUE = (2.0 + (3.0 + 5.0) + 0.5 + 2.0) / 12.0
RETURNED_APPLICATION = (18.0 + 12.5) / 12.0

SHED = [
    (0.0, "arrival", "k", 0),
    (1.0, "arrival", "k", 1),
    (2.0, "arrival", "k", 2),
    (3.0, "shed", "k", 0),
    (4.0, "dequeue", "k", 1),
    (6.0, "delivery", "k", 1),
]
SHED_QUEUE = (4.5 + 2.5 + 16.0) / 8.0
SHED_APPLICATION = (18.0 + 10.0) / 8.0

OLD = [
    (0.0, "arrival", "k", 0),
    (1.0, "old", "k", 1),
    (2.0, "arrival", "k", 2),
    (3.0, "dequeue", "k", 0),
    (3.0, "dequeue", "k", 1),
    (4.0, "old-delivery", "k", 1),  # by another consumer; it makes nothing less stale
    (6.0, "delivery", "k", 0),
    (7.0, "rejected", "other", 3),
]
OLD_QUEUE = (4.5 + (1.0 + 6.0) / 2.0 * 5.0) / 8.0
OLD_APPLICATION = (18.0 + (4.0 + 6.0) / 2.0 * 2.0) / 8.0

UNDESCRIBED = [
    (0.0, "arrival", "a", 0),
    (0.0, "arrival", "b", 1),
    (1.0, "dequeue", "a", 0),
    (1.0, "dequeue", "b", 1),
    (3.0, "delivery", "a", 0),
    (3.0, "delivery", "b", 1),
    (4.0, "arrival", "a", 2),
    (5.0, "dequeue", "a", 2),
    (6.0, "delivery", "a", 2),
]
UNDESCRIBED_COST = 1.0
"""Something was in process for 3 in all, and 3 were delivered."""

WRONG = {"queue_staleness": 1.0, "application_staleness": 1.0, "keys": 1, "counters": {}}


def write_all(place: Path) -> None:
    """Write a log of each."""
    write_log(place / "returned", RETURNED, per_file=5)
    later = [(SINCE_1970 + time, kind, key, number) for time, kind, key, number in RETURNED]
    end = SINCE_1970 + 12.0
    described = {"start": SINCE_1970, "end": end, "policy": "index", "name": "later"}
    write_log(place / "later", later, file_format="csv", per_file=7, described=described)
    many = {"waiting_per_key": "many", "start": 0.0, "end": 8.0}
    write_log(place / "shed", SHED, described={"policy": "append-shedding", **many})
    write_log(place / "old", OLD, described={"policy": "append", **many})
    write_log(place / "undescribed", UNDESCRIBED, file_format="csv")
    not_told = {"queue": ["3 updates expired"]}
    write_log(place / "expired", RETURNED, described={"not_told": not_told, "policy": "expired"})
    killed = {"policy": "killed", "is_finished": False, "events": 3, "end": 3.0}
    write_log(place / "killed", RETURNED, described={**killed, "integrated": WRONG})
    write_log(place / "wrong", RETURNED, described={"policy": "wrong", "integrated": WRONG})
