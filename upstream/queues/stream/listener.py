"""What a stream tells each of its queues. What a queue asks of its stream is a `Feed`.

Both are objects of their own, so that neither shows among what users call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from ...keys import KeyCell
from ...schedulers import Terms
from ...updates import Key
from .beginning import Beginning

if TYPE_CHECKING:
    from .feed import Feed
    from .stream import Stream


class Listener(Protocol):
    """The side of a queue that its stream sees.

    Only `terms_for` and `settle` may fail. All else is called in the middle of a change.
    """

    @property
    def copies_values(self) -> bool:
        """Whether the queue takes over values, and not only keys."""
        ...

    def terms_for(self, key: Key) -> Terms:
        """Return what was given for a new key. Raises if that makes no sense."""
        ...

    def welcome(self, cell: KeyCell, terms: Terms) -> None:
        """Note that a key came in, for which `terms_for` returned `terms`."""
        ...

    def take_over(self, cell: KeyCell, now: float) -> None:
        """Take over the newest update of a key, or its deletion, as if it arrived now."""
        ...

    def settle(self) -> None:
        """Read what the stream's log has for the queue."""
        ...

    def has_arrived(self, cell: KeyCell) -> bool:
        """Tell whether the key has arrived at the queue and was not forgotten; if unsure, yes."""
        ...

    def holds(self, cell: KeyCell) -> bool:
        """Tell whether an update of the key is to be served or in process; if unsure, yes."""
        ...

    def forget_cell(self, cell: KeyCell, now: float) -> None:
        """Forget what the queue knows of the key. Updates that wait count as expired."""
        ...


Final_co = TypeVar("Final_co", covariant=True)
"""What a queue returns when it is detached: its final statistics."""


class Attachable(Protocol[Final_co]):
    """A queue that can be attached to a stream."""

    def _prepare_to_join(self, stream: Stream) -> Listener:
        """Return what the stream is to tell. Raises if the queue cannot join; changes nothing."""
        ...

    def _join(self, stream: Stream, feed: Feed, beginning: Beginning) -> None:
        """Begin to be fed."""
        ...

    def _leave(self) -> Final_co:
        """Be fed no more, release everything, and return the final statistics."""
        ...
