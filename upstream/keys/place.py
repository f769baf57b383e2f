"""The place of one key in one queue: since when it waits there, and how stale it is there.

While a key waits, `previous` and `next` link its place into its scheduler's list. While it does not
wait, they link the place into its cell's list of idle places. An arrival visits the idle places
only, so an enqueue does not depend on the number of queues in which the key waits.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final, Protocol

from .key_cell import KeyCell

if TYPE_CHECKING:
    from .queue_of_keys import QueueOfKeys


class PlaceOwner(Protocol):
    """A queue that is told when one of its keys starts to wait."""

    def start_to_wait(self, place: Place, version: int, now: float, rows: int = 1) -> bool:
        """Let the key of `place` wait from its accepted update `version` on.

        Returns False if there is no room for it. Its `rows` updates are then counted as rejected.
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
    """The arrival of the first update that waits here, or None while no update waits."""
    waiting_rank: int = 0
    """The order among keys that began to wait together; 0 in queues where no key stands back."""
    version_before: int
    """The newest version before the present wait."""
    stale_since: float | None
    """The arrival of the first accepted update newer than the newest delivered, if any."""
    delivered_version: int
    """The newest version delivered, or 0 before the first delivery."""
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
        """Release the references back to the place, which is in no list any more.

        Otherwise only the garbage collector would free it, perhaps much later.
        """
        self.owner = NOBODY
        del self.previous, self.next

    def release(self) -> None:
        """Release the references back to the place, because its queue and stream are gone."""
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
"""The owner of places that are in no list of idle places: those of queues that read the log, those
of queues of windows, and the ends of lists."""
