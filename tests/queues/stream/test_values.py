"""The newest values stand in the cells, or in a page pool."""

from __future__ import annotations

import pytest

from upstream import TOMBSTONE
from upstream.errors import (
    PagePoolFullError,
    ParameterError,
    ValueNotEncodableError,
    ValueTooLargeError,
)
from upstream.keys import KeyCell
from upstream.memory import BytesCodec, NaiveMemory, OnDemandMemory, PagePool
from upstream.queues.stream.values import NewestValues


def new_cell() -> KeyCell:
    return KeyCell("IBM", 0, time=3.0, arrival=4.0)


def pooled(*, retain: bool = False) -> NewestValues:
    """Return values in a pool of two locations of eight bytes."""
    memory = OnDemandMemory(PagePool(16, page_bytes=16, location_bytes=8))
    return NewestValues(memory, BytesCodec(), retain=retain)


def held(values: NewestValues) -> int:
    assert values.memory is not None
    return values.memory.usage(9.0).locations_held


def test_without_a_pool_values_are_the_objects_themselves() -> None:
    values, cell, value = NewestValues(None, None, retain=False), new_cell(), object()
    assert values.are_references
    assert values.encode(value) is value
    values.put(cell, value, 0.0)
    assert values.load(cell) is value
    assert values.update_of(cell) == ("IBM", value, 3.0)
    values.release_unneeded(cell, 1.0)
    assert cell.value is None


def test_with_a_pool_values_are_bytes_in_it_while_the_key_waits() -> None:
    values, cell = pooled(), new_cell()
    assert not values.are_references
    values.put(cell, values.encode(bytearray(b"24.0")), 0.0)
    assert values.update_of(cell) == ("IBM", b"24.0", 3.0)
    values.put(cell, values.encode(b"a longer one"), 1.0)
    assert (values.load(cell), held(values)) == (b"a longer one", 2)
    values.release_unneeded(cell, 2.0)
    assert (cell.value, held(values)) == (None, 0)


@pytest.mark.parametrize("has_pool", [False, True])
def test_retained_values_stay_when_it_waits_nowhere_and_go_with_their_key(has_pool: bool) -> None:
    values = pooled(retain=True) if has_pool else NewestValues(None, None, retain=True)
    cell = new_cell()
    values.put(cell, values.encode(b"24.0"), 0.0)
    values.release_unneeded(cell, 1.0)
    assert values.load(cell) == b"24.0"
    values.release(cell, 2.0)
    assert cell.value is None
    assert not has_pool or held(values) == 0


def test_a_tombstone_takes_no_room_and_frees_that_of_the_value_before() -> None:
    values, cell = pooled(), new_cell()
    values.put(cell, values.encode(b"24.0"), 0.0)
    values.put(cell, values.encode(TOMBSTONE), 1.0)
    assert (values.load(cell), held(values)) == (TOMBSTONE, 0)
    values.put(cell, values.encode(b"25.0"), 2.0)
    assert values.load(cell) == b"25.0"


@pytest.mark.parametrize("has_pool", [False, True])
def test_a_tombstone_stays_when_it_waits_nowhere_and_goes_with_its_key(has_pool: bool) -> None:
    """A stream tells by it that the newest update of the key is its deletion."""
    values = pooled() if has_pool else NewestValues(None, None, retain=False)
    cell = new_cell()
    values.put(cell, values.encode(b"24.0"), 0.0)
    values.put(cell, values.encode(TOMBSTONE), 1.0)
    values.release_unneeded(cell, 2.0)
    assert cell.value is TOMBSTONE
    assert values.update_of(cell).value is TOMBSTONE
    assert not has_pool or held(values) == 0
    values.release(cell, 3.0)
    assert cell.value is None


def test_a_value_after_a_tombstone_is_kept_and_released_as_before() -> None:
    values, cell = pooled(), new_cell()
    values.put(cell, values.encode(TOMBSTONE), 0.0)
    values.release_unneeded(cell, 1.0)
    values.put(cell, values.encode(b"25.0"), 2.0)
    assert (values.load(cell), held(values)) == (b"25.0", 1)
    values.release_unneeded(cell, 3.0)
    assert (cell.value, held(values)) == (None, 0)


def test_a_full_pool_leaves_the_old_value_as_it_was() -> None:
    values, cell, other = pooled(), new_cell(), new_cell()
    values.put(cell, values.encode(b"old"), 0.0)
    values.put(other, values.encode(b"other"), 0.0)
    with pytest.raises(PagePoolFullError):
        values.put(cell, values.encode(b"longer than one"), 1.0)
    assert values.load(cell) == b"old"
    third = new_cell()
    with pytest.raises(PagePoolFullError):
        values.put(third, values.encode(b"new"), 1.0)
    assert third.value is None


def test_a_location_that_memory_keeps_for_an_idle_key_is_used_again() -> None:
    memory = NaiveMemory(PagePool(16, page_bytes=16, location_bytes=8))
    values, cell = NewestValues(memory, None, retain=False), new_cell()
    values.put(cell, values.encode(b"one"), 0.0)
    values.release_unneeded(cell, 1.0)
    assert held(values) == 1
    values.put(cell, values.encode(b"two"), 2.0)
    assert (values.load(cell), held(values)) == (b"two", 1)
    values.release(cell, 3.0)
    assert held(values) == 0


def test_a_value_that_is_not_for_the_codec_is_refused_with_its_row() -> None:
    with pytest.raises(ValueNotEncodableError) as raised:
        pooled().encode("text", 7)
    assert (raised.value.row, raised.value.value) == (7, "text")
    with pytest.raises(ValueNotEncodableError) as raised:
        pooled().encode("text")
    assert raised.value.row is None


def test_a_value_that_can_never_fit_is_refused_at_once() -> None:
    assert pooled().encode(b"x" * 16) == b"x" * 16
    with pytest.raises(ValueTooLargeError) as raised:
        pooled().encode(b"x" * 17)
    assert (raised.value.length, raised.value.capacity) == (17, 16)


def test_a_codec_without_a_pool_is_a_mistake() -> None:
    with pytest.raises(ParameterError):
        NewestValues(None, BytesCodec(), retain=True)
