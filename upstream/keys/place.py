"""The place of one key in one queue: since when it waits there, and how stale it is there.

A key that waits is linked, by `previous` and `next`, into its scheduler's list; a key that does
not is linked by the same two into its cell's list of idle places. That list is what makes an
enqueue independent of the number of queues: an arrival visits the idle places only, each of which
then waits until its queue dequeues it.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final, Protocol

from .key_cell import KeyCell

if TYPE_CHECKING:
    from .queue_of_keys import QueueOfKeys


class PlaceOwner(Protocol):
    """What a stream asks of a queue that wants to hear of keys that start to wait."""

    def start_to_wait(self, place: Place, version: int, now: float, rows: int = 1) -> bool:
        """Let the key of `place` wait from its accepted update `version` on.

        False if there is no room for it; its `rows` updates are then counted as rejected.
        """
        ...


class Place:
    """What one queue knows about one key."""

    __slots__ = (
        "cell",
        "delivered_version",
        "in_process",
        "line",
        "next",
        "owner",
        "previous",
        "stale_since",
        "version_before",
        "waiting_since",
    )

    UNCOUNTED: Final = -1
    """The `delivered_version` of a key that has not arrived at this queue yet."""
    FORGOTTEN: Final = 1 << 62
    """The `delivered_version` of a key that was forgotten: nothing is newer."""

    cell: KeyCell
    owner: PlaceOwner
    previous: Place
    next: Place
    line: QueueOfKeys | None
    """The list in which it waits, where its scheduler has several."""
    waiting_since: float | None
    """The arrival of the first update that waits here, None while none does."""
    waiting_rank: int = 0
    """The order among keys that have waited as long, where one may stand back; else 0."""
    version_before: int
    """The newest version before the present wait: mostly the one delivered last, as one object."""
    stale_since: float | None
    """The arrival of the first accepted update newer than the newest delivered, if any."""
    delivered_version: int
    """The newest version delivered, 0 if none was."""
    in_process: int
    """How many updates of this key are dequeued and not delivered."""

    def __init__(self, cell: KeyCell, owner: PlaceOwner) -> None:
        self.cell = cell
        self.owner = owner
        self.previous = self.next = self
        self.line = None
        self.waiting_since = None
        self.version_before = 0
        self.stale_since = None
        self.delivered_version = self.UNCOUNTED
        self.in_process = 0

    def close(self) -> None:
        """Release what refers back to the place, which is in no list and will be in none.

        Otherwise it would wait for the garbage collector, which may take long.
        """
        self.owner = NOBODY
        del self.previous, self.next

    def release(self) -> None:
        """Release what refers back to the place, since its queue and stream are gone."""
        with suppress(AttributeError):  # if it was closed
            self.close()
        self.line = None
        self.cell.idle = None


class _Nobody:
    """An owner whose keys no stream starts."""

    __slots__ = ()

    def start_to_wait(self, place: Place, version: int, now: float, rows: int = 1) -> bool:
        """Never called."""
        raise AssertionError("a place that is in no list of idle places was started")


NOBODY: Final[PlaceOwner] = _Nobody()
"""The owner of places that are in no list of idle places: of queues that hear of their keys in
another way, and of the ends of lists."""
