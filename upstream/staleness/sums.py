"""Staleness, integrated exactly: O(1) for each event that changes it.

Both kinds of staleness grow with slope one. Queue staleness starts when an update is the first that
waits, and application staleness when it is the first that is newer than the newest delivered one.
So each period adds a triangle, or the difference of two triangles, and nothing is sampled (report,
sections 3.3 and 5.1).

The sums are in columns with one row per key of the stream, because a float in an array needs 8
bytes and an attribute with a float object needs 32.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right

from ..keys import Place


class StalenessSums:
    """The staleness that one queue has integrated so far, by key.

    For each key, `queue` and `application` are the finished area in seconds squared, and
    `counted_since` is the first arrival (NaN before it). Retired keys keep their averages: each of
    them counts once more in the mean over keys.

    `later` has the versions and arrivals of further updates to which the `stale_since` of a place
    may fall. Few places have any of them at a time, so they are here and not in each place.
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
        """The number of keys that count and are not retired."""
        self.retired = 0
        self.retired_means = {"queue": 0.0, "application": 0.0}

    def reserve(self, rows: int) -> None:
        """Make exactly `rows` rows, for keys that have not arrived yet."""
        assert not self.queue, "sums that are in use already"
        self.queue = array("d", (0.0,)) * rows
        self.application = array("d", (0.0,)) * rows
        self.counted_since = array("d", (math.nan,)) * rows

    def grow(self, rows: int) -> None:
        """Make at least `rows` rows, with some to spare."""
        if rows > len(self.queue):
            missing = rows + rows // 8 - len(self.queue)
            zeros = bytes(8 * missing)
            self.queue.frombytes(zeros)
            self.application.frombytes(zeros)
            self.counted_since.extend([math.nan] * missing)

    def begin(self, place: Place, version: int, now: float) -> None:
        """Count the key of `place` from `now` on, when its update `version` arrives.

        Earlier versions belong to an earlier life of the key and count as delivered.
        """
        index = place.cell.index
        self.grow(index + 1)
        self.queue[index] = self.application[index] = 0.0
        self.counted_since[index] = now
        place.delivered_version = max(version - 1, 0)
        self.counted += 1

    def wait_ends(self, place: Place, now: float) -> None:
        """Add the wait that ends now: the area of its triangle."""
        since = place.waiting_since
        assert since is not None
        waited = now - since
        self.queue[place.cell.index] += 0.5 * waited * waited

    def wait_moves(self, place: Place, since: float, now: float) -> None:
        """Let the present wait begin at `since` instead, so that staleness falls or rises."""
        self.wait_ends(place, now)
        self.wait_resumes(place, since, now)

    def start_of_wait(self, place: Place, arrival: float) -> float:
        """Return when the wait of an update begins here: at its arrival or the key's first one.

        A key from a snapshot counts only from the snapshot on.
        """
        return max(arrival, self.counted_since[place.cell.index])

    def wait_resumes(self, place: Place, since: float, now: float) -> None:
        """Start a wait at `now` that counts from the earlier time `since`."""
        waited = now - since
        self.queue[place.cell.index] -= 0.5 * waited * waited
        place.waiting_since = since

    def accepted(self, place: Place, version: int, arrival: float) -> None:
        """Note an accepted update of a counted key: the application is stale from its arrival on.

        If the application is stale already, the update matters only if an older one may still be
        delivered. Staleness may then fall to this arrival, so the arrival is remembered.
        """
        if place.stale_since is None:
            place.stale_since = arrival
        else:
            self.later.setdefault(place, []).append((version, arrival))

    def never_delivered(self, place: Place, version: int) -> None:
        """Note that `version` is never delivered: staleness cannot fall to the next arrival."""
        later = self.later.get(place)
        if later is not None:
            following = bisect_right(later, (version, math.inf))
            del later[following : following + 1]
            if not later:
                del self.later[place]

    def delivered(self, place: Place, version: int, now: float) -> None:
        """Note that `version` was delivered, the newest of its key so far."""
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
        """From `now` on, let the application be stale since `since`, or not stale if it is None."""
        before = place.stale_since
        if before is not None:
            area = 0.5 * (now - before) * (now - before)
            if since is not None:
                area -= 0.5 * (now - since) * (now - since)
            self.application[place.cell.index] += area
        place.stale_since = since

    def retire(self, place: Place, now: float) -> None:
        """Close the sums of a forgotten key. Its averages still count in the mean."""
        self.later.pop(place, None)
        if place.delivered_version >= 0:
            self.counted -= 1
            self.retired += 1
            self.retired_means["queue"] += self.queue_mean(place, now)
            self.retired_means["application"] += self.application_mean(place, now)
            self.counted_since[place.cell.index] = math.nan

    def close(self) -> None:
        """Empty the columns, after all keys were retired, and release their memory."""
        for column in (self.queue, self.application, self.counted_since):
            del column[:]

    def queue_mean(self, place: Place, now: float) -> float:
        """Return the key's queue staleness, averaged from its first arrival until `now`."""
        return self._mean(self.queue[place.cell.index], place, place.waiting_since, now)

    def application_mean(self, place: Place, now: float) -> float:
        """Return the key's application staleness, averaged from its first arrival until `now`."""
        return self._mean(self.application[place.cell.index], place, place.stale_since, now)

    def _first_newer(self, place: Place, version: int) -> float | None:
        """Return the arrival of the first accepted update after `version`; forget older ones."""
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
