"""Keys: their cells in a stream, their places in queues, and the lists that link them."""

from .arrival_order import ArrivalOrder, Marker
from .due_places import DuePlaces
from .key_cell import KeyCell, Link
from .key_table import CLOSED, KeyNumbers, KeyTable
from .place import NOBODY, Place, PlaceOwner
from .queue_of_keys import QueueOfKeys

__all__ = [
    "CLOSED",
    "NOBODY",
    "ArrivalOrder",
    "DuePlaces",
    "KeyCell",
    "KeyNumbers",
    "KeyTable",
    "Link",
    "Marker",
    "Place",
    "PlaceOwner",
    "QueueOfKeys",
]
