"""Staleness, integrated exactly: O(1) for each event that changes it.

Both kinds of staleness grow with slope one from the moment an update became the first that waits
(queue staleness) or the first that is newer than the newest delivered (application staleness),
until they fall. So each stretch adds a triangle, or the difference of two, and nothing has to be
sampled (report, sections 3.3 and 5.1).

The sums stand in columns, one row per key of the stream, because a float in an array takes 8
bytes and an attribute with a float object 32.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right

from ..keys import Place


class StalenessSums:
    """The staleness that one queue has integrated so far, by key.

    Per key, `queue` and `application` hold the finished area in seconds squared, and
    `counted_since` the first arrival (NaN before it). Keys that were retired keep their averages:
    each counts once more in the mean over keys.

    `later` holds version and arrival of further updates to which `stale_since` of a place may fall.
    Few places have any at a time, so they stand here and not in each place.
    """

    __slots__ = (
        "application",
        "counted",
        "counted_since",
        "later",
        "queue",
        "retired",
        "retired_means",
    )

    def __init__(self) -> None:
        self.queue = array("d")
        self.application = array("d")
        self.counted_since = array("d")
        self.later: dict[Place, list[tuple[int, float]]] = {}
        self.counted = 0
        """How many keys count and are not retired."""
        self.retired = 0
        self.retired_means = {"queue": 0.0, "application": 0.0}

    def reserve(self, rows: int) -> None:
        """Have just so many rows, of none of which anything is known yet."""
        assert not self.queue, "sums that are in use already"
        self.queue = array("d", (0.0,)) * rows
        self.application = array("d", (0.0,)) * rows
        self.counted_since = array("d", (math.nan,)) * rows

    def grow(self, rows: int) -> None:
        """Have at least `rows` rows, and some to spare."""
        if rows > len(self.queue):
            missing = rows + rows // 8 - len(self.queue)
            zeros = bytes(8 * missing)
            self.queue.frombytes(zeros)
            self.application.frombytes(zeros)
            self.counted_since.extend([math.nan] * missing)

    def begin(self, place: Place, version: int, now: float) -> None:
        """Count the key of `place` from `now` on, when its update `version` arrives.

        What was accepted before then is of an earlier life of the key, and as good as delivered.
        """
        index = place.cell.index
        self.grow(index + 1)
        self.queue[index] = self.application[index] = 0.0
        self.counted_since[index] = now
        place.delivered_version = max(version - 1, 0)
        self.counted += 1

    def wait_ends(self, place: Place, now: float) -> None:
        """Add the wait that ends: the area of the triangle above it."""
        since = place.waiting_since
        assert since is not None
        waited = now - since
        self.queue[place.cell.index] += 0.5 * waited * waited

    def wait_moves(self, place: Place, since: float, now: float) -> None:
        """Let the wait that goes on have begun at `since`: staleness falls, or rises."""
        self.wait_ends(place, now)
        self.wait_resumes(place, since, now)

    def start_of_wait(self, place: Place, arrival: float) -> float:
        """Return since when an update counts as waiting here: its arrival, or the key's first.

        A key that the queue took over from a snapshot counts from then on only.
        """
        return max(arrival, self.counted_since[place.cell.index])

    def wait_resumes(self, place: Place, since: float, now: float) -> None:
        """Let a wait begin at `now` that counts from `since`, before now."""
        waited = now - since
        self.queue[place.cell.index] -= 0.5 * waited * waited
        place.waiting_since = since

    def accepted(self, place: Place, version: int, arrival: float) -> None:
        """Note an accepted update of a counted key: the application is stale from its arrival on.

        If it is stale already, this update matters only if something that may yet be delivered is
        older; then staleness may fall to this arrival, which is remembered.
        """
        if place.stale_since is None:
            place.stale_since = arrival
        else:
            self.later.setdefault(place, []).append((version, arrival))

    def never_delivered(self, place: Place, version: int) -> None:
        """Note that `version` will not be delivered, so staleness cannot fall to the next one."""
        later = self.later.get(place)
        if later is not None:
            following = bisect_right(later, (version, math.inf))
            del later[following : following + 1]
            if not later:
                del self.later[place]

    def delivered(self, place: Place, version: int, now: float) -> None:
        """Note the delivery of `version` of a key, the newest that was delivered."""
        place.delivered_version = version
        since = place.stale_since
        if since is None:
            return
        stale = now - since
        area = 0.5 * stale * stale
        place.stale_since = None
        if self.later and place in self.later:
            since = place.stale_since = self._first_newer(place, version)
            if since is not None:
                stale = now - since
                area -= 0.5 * stale * stale
        self.application[place.cell.index] += area

    def application_falls(self, place: Place, since: float | None, now: float) -> None:
        """Let the application be stale since `since` only, or not at all, from `now` on."""
        before = place.stale_since
        if before is not None:
            area = 0.5 * (now - before) * (now - before)
            if since is not None:
                area -= 0.5 * (now - since) * (now - since)
            self.application[place.cell.index] += area
        place.stale_since = since

    def retire(self, place: Place, now: float) -> None:
        """Close the sums of a key that is forgotten; its averages go on counting in the mean."""
        self.later.pop(place, None)
        if place.delivered_version >= 0:
            self.counted -= 1
            self.retired += 1
            self.retired_means["queue"] += self.queue_mean(place, now)
            self.retired_means["application"] += self.application_mean(place, now)
            self.counted_since[place.cell.index] = math.nan

    def close(self) -> None:
        """Free the columns, since all keys were retired; whoever holds one finds it empty."""
        for column in (self.queue, self.application, self.counted_since):
            del column[:]

    def queue_mean(self, place: Place, now: float) -> float:
        """Return the key's queue staleness, averaged from its first arrival until `now`."""
        return self._mean(self.queue[place.cell.index], place, place.waiting_since, now)

    def application_mean(self, place: Place, now: float) -> float:
        """Return the key's application staleness, averaged from its first arrival until `now`."""
        return self._mean(self.application[place.cell.index], place, place.stale_since, now)

    def _first_newer(self, place: Place, version: int) -> float | None:
        """Return the arrival of the first accepted update newer than `version`, drop the older."""
        later = self.later[place]
        newer = bisect_right(later, (version, math.inf))
        arrival = later[newer][1] if newer < len(later) else None
        del later[: newer + 1]
        if not later:
            del self.later[place]
        return arrival

    def _mean(self, area: float, place: Place, since: float | None, now: float) -> float:
        if since is not None:
            area += 0.5 * (now - since) * (now - since)
        lifetime = now - self.counted_since[place.cell.index]
        return max(area, 0.0) / lifetime if lifetime > 0 else 0.0
