"""Memory management: values as bytes in pages of one preallocated region.

This is section 7 of the report. A :class:`PagePool` is the region. :class:`OnDemandMemory` keeps
the values of the waiting keys in as few pages as possible. :class:`NaiveMemory`, which the report
compares it to, never releases the location of a known key. Both are kinds of
:class:`Memory`, return a :class:`Location` for each value, and measure their :class:`MemoryUsage`.
A :class:`Codec` turns values into bytes. For windows, a :class:`BlockChain` keeps the tuples of a
key in blocks, each of which is one location of a memory.
"""

from .block_chain import BlockChain
from .codecs import BytesCodec, Codec, JsonCodec, MessagePackCodec
from .contiguous_zone import RECORD_HEADER_BYTES, Block
from .empty_locations import EmptyLocations
from .page import Location, Page
from .page_pool import PagePool
from .paged_memory import Memory, NaiveMemory, OnDemandMemory
from .paging import OnDemandPaging
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
