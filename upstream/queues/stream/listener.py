"""The calls of a stream to each of its queues. A queue calls its stream through a `Feed`.

Both are separate objects, so that their methods are not among the public methods of users.
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
    """The part of a queue that its stream calls.

    Only `terms_for` and `settle` may fail. All other methods are called in the middle of a change.
    """

    @property
    def copies_values(self) -> bool:
        """Whether the queue takes over values and not only keys."""
        ...

    def terms_for(self, key: Key) -> Terms:
        """Return the options given for a new key; raise if they are invalid."""
        ...

    def welcome(self, cell: KeyCell, terms: Terms) -> None:
        """Note a new key; `terms` is what `terms_for` returned for it."""
        ...

    def take_over(self, cell: KeyCell, now: float) -> None:
        """Take over the newest update of a key, or its deletion, as if it had arrived now."""
        ...

    def settle(self) -> None:
        """Read the entries of the stream's log that the queue has not read."""
        ...

    def has_arrived(self, cell: KeyCell) -> bool:
        """Tell whether the key has arrived at the queue and is not forgotten, or may have."""
        ...

    def holds(self, cell: KeyCell) -> bool:
        """Tell whether an update of the key waits or is in process, or may be."""
        ...

    def forget_cell(self, cell: KeyCell, now: float) -> None:
        """Forget what the queue knows of the key. Waiting updates count as expired."""
        ...


Final_co = TypeVar("Final_co", covariant=True)
"""The final statistics, which a queue returns when it is detached."""


class Attachable(Protocol[Final_co]):
    """A queue that can be attached to a stream."""

    def _prepare_to_join(self, stream: Stream) -> Listener:
        """Return the queue's listener; raise if the queue cannot join. Change nothing."""
        ...

    def _join(self, stream: Stream, feed: Feed, beginning: Beginning) -> None:
        """Start to be fed."""
        ...

    def _leave(self) -> Final_co:
        """Stop being fed, release everything, and return the final statistics."""
        ...
