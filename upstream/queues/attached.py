"""What a stream asks of the queues that it feeds, and the signatures that it gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from ..columns import Column
from ..keys import KeyCell, PlaceOwner
from ..schedulers import Terms
from ..updates import Key, Outcome
from .batch_outcome import BatchOutcome
from .beginning import Beginning

if TYPE_CHECKING:
    from .stream import Stream


class Starter(PlaceOwner, Protocol):
    """A queue that hears of keys that start to wait with it."""

    capacity: int | None
    """How many keys may wait at once."""

    @property
    def is_full(self) -> bool:
        """Whether no further key can wait."""
        ...

    def refuse(self, rows: int) -> None:
        """Count updates that nobody had room for."""
        ...


Final_co = TypeVar("Final_co", covariant=True)
"""What a queue returns at its end."""


class AttachedQueue(Protocol[Final_co]):
    """A queue of any kind.

    Only what says so may fail; all else is called in the middle of a change.
    """

    @property
    def copies_values(self) -> bool:
        """Whether it takes over values, and not only keys."""
        ...

    def check_is_free(self, stream: Stream) -> None:
        """Raise unless the queue can join `stream`; ask what it needs to know. May fail."""
        ...

    def join(self, stream: Stream, beginning: Beginning) -> None:
        """Begin to be fed."""
        ...

    def take_over(self, cell: KeyCell, now: float) -> None:
        """Take over the newest update of a key, its deletion perhaps, as if it arrived now."""
        ...

    def leave(self) -> Final_co:
        """Be fed no more, free everything, and return the final statistics. May fail at first."""
        ...

    def admit(self, key: Key) -> Terms:
        """Return what was given for a new key; raise if it makes no sense. May fail."""
        ...

    def welcome(self, cell: KeyCell, terms: Terms) -> None:
        """Note that a key came in, for which `admit` returned `terms`."""
        ...

    def settle(self) -> None:
        """Take in what was not read yet. May fail."""
        ...

    def counts(self, cell: KeyCell) -> bool:
        """Tell whether the key has arrived at the queue and was not forgotten; if in doubt, yes."""
        ...

    def holds(self, cell: KeyCell) -> bool:
        """Tell whether an update of the key waits, to be served, or is in process, or may."""
        ...

    def forget_cell(self, cell: KeyCell, now: float) -> None:
        """Drop what the queue knows of the key."""
        ...


class EnqueueMethod(Protocol):
    """The signature of `enqueue`."""

    def __call__(self, key: Key, value: object, time: float | None = None) -> Outcome:
        """Enqueue an update of `key`; `time` defaults to the clock's."""
        ...


class EnqueueManyMethod(Protocol):
    """The signature of `enqueue_many`."""

    def __call__(self, keys: Column, values: Column, times: Column | None = None) -> BatchOutcome:
        """Enqueue the rows of equally long columns; `times` defaults to the clock's."""
        ...
