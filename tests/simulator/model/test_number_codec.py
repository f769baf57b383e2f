"""Numbers as bytes in the page pool."""

from __future__ import annotations

import pytest

from simulator.model.number_codec import LARGEST, NUMBER_BYTES, NumberCodec
from upstream import (
    InPlaceScheduler,
    ManualClock,
    OnDemandMemory,
    PagePool,
    UpdateQueue,
    ValueNotEncodableError,
)


@pytest.mark.parametrize("number", [0, 1, 255, 256, LARGEST])
def test_a_number_comes_back_as_it_was_and_takes_the_same_room_as_any_other(number: int) -> None:
    data = NumberCodec().encode(number)
    assert len(data) == NUMBER_BYTES
    assert NumberCodec().decode(data) == number


@pytest.mark.parametrize("value", [-1, LARGEST + 1, 1.0, "1", True, None])
def test_anything_else_is_refused(value: object) -> None:
    with pytest.raises(ValueNotEncodableError):
        NumberCodec().encode(value)


def test_a_queue_keeps_numbers_in_a_page_pool() -> None:
    memory = OnDemandMemory(PagePool(64, page_bytes=64, location_bytes=NUMBER_BYTES))
    queue = UpdateQueue(InPlaceScheduler(), clock=ManualClock(), memory=memory, codec=NumberCodec())
    queue.enqueue("IBM", 1)
    queue.enqueue("IBM", 2)
    update = queue.dequeue()
    assert update is not None
    assert update.value == 2
