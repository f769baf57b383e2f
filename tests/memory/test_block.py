"""A block is a location with two offsets and two neighbours, and is small."""

from __future__ import annotations

import sys

import pytest

from upstream.memory.block import Block
from upstream.memory.on_demand import OnDemandMemory
from upstream.memory.page_pool import PagePool


@pytest.fixture
def block() -> Block:
    memory = OnDemandMemory(PagePool(256, page_bytes=64), location_bytes=32)
    memory.allocate(b"", 0.0)
    return Block(memory.allocate(b"", 0.0), number=7)


def test_a_new_block_is_empty_and_stands_alone(block: Block) -> None:
    assert (block.dequeue_offset, block.enqueue_offset) == (0, 0)
    assert block.previous is None
    assert block.next is None


def test_a_block_knows_its_enclosing_page_and_where_it_begins(block: Block) -> None:
    assert block.location.page.index == 0
    assert block.location.offset == 32


def test_a_block_shows_where_it_is_and_how_full(block: Block) -> None:
    block.enqueue_offset = 20
    block.dequeue_offset = 3
    assert repr(block) == "Block(number=7, page=0, offset=32, dequeue_offset=3, enqueue_offset=20)"


def test_a_block_takes_no_more_than_its_six_references(block: Block) -> None:
    assert not hasattr(block, "__dict__")
    assert sys.getsizeof(block) <= sys.getsizeof(object()) + 16 + 6 * 8
