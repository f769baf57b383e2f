"""Keys and their places: the cell of a key in its stream, its place in a queue, and their lists."""

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
