"""Memory management: values as bytes in pages of one preallocated region.

This is section 7 of the report. A :class:`PagePool` is the region. :class:`OnDemandMemory` keeps
the values of the keys that wait in as few of its pages as it can; :class:`NaiveMemory`, which the
report compares it to, gives nothing back. Both follow the protocol :class:`Memory`, hand out a
:class:`Location` for each value, and measure their :class:`MemoryUsage`. A :class:`Codec` turns
values into bytes. For windows, a :class:`BlockChain` keeps the tuples of a key in blocks of a page,
each of which is one location of a memory.
"""

from .block import Block
from .block_chain import BlockChain
from .codecs import BytesCodec, Codec, JsonCodec, MessagePackCodec
from .contiguous_zone import RECORD_HEADER_BYTES
from .empty_locations import EmptyLocations
from .location import Location
from .naive import NaiveMemory
from .on_demand import OnDemandMemory
from .page import Page
from .page_pool import PagePool
from .paging import OnDemandPaging
from .protocol import Memory
from .usage import MemoryUsage

__all__ = [
    "RECORD_HEADER_BYTES",
    "Block",
    "BlockChain",
    "BytesCodec",
    "Codec",
    "EmptyLocations",
    "JsonCodec",
    "Location",
    "Memory",
    "MemoryUsage",
    "MessagePackCodec",
    "NaiveMemory",
    "OnDemandMemory",
    "OnDemandPaging",
    "Page",
    "PagePool",
]
