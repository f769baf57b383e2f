"""What a stream asks of the queues that it feeds, and the signatures that it gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from ..keys import KeyCell, PlaceOwner
from ..updates import Key, Outcome
from .batch_outcome import BatchOutcome
from .columns import Column

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

    def open_place(self, cell: KeyCell) -> None:
        """Give a new key a place."""
        ...


Final_co = TypeVar("Final_co", covariant=True)
"""What a queue returns at its end."""


class AttachedQueue(Protocol[Final_co]):
    """A queue of any kind."""

    def check_is_free(self, stream: Stream) -> None:
        """Raise unless the queue can join `stream`."""
        ...

    def join(self, stream: Stream, *, since: float | None) -> None:
        """Begin to be fed, with the newest values that arrived at or after `since`, if given."""
        ...

    def take_over(self, cell: KeyCell, now: float) -> None:
        """Take over the newest update of a key, its deletion perhaps, as if it arrived now."""
        ...

    def leave(self) -> Final_co:
        """Be fed no more, free everything, and return the final statistics."""
        ...

    def admit(self, key: Key) -> None:
        """Raise if the parameters that were given for `key` make no sense."""
        ...

    def dismiss(self, key: Key) -> None:
        """Forget what `admit` noted of a key that did not come in, or that the queue leaves."""
        ...

    def counts(self, cell: KeyCell) -> bool:
        """Tell whether the key has arrived at the queue and was not forgotten."""
        ...

    def holds(self, cell: KeyCell) -> bool:
        """Tell whether an update of the key waits, to be served, or is in process."""
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
