"""Pages by linear hashing: every key is where it is looked for, however many pages there are."""

from __future__ import annotations

import pytest

from upstream.spark.conflation.block_store import DictBlockStore
from upstream.spark.conflation.key_pages import KEYS_PER_PAGE, KeyPages
from upstream.spark.conflation.key_state import KeyState


def hash_for(number: int) -> int:
    return number * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFF


def add(pages: KeyPages, numbers: range) -> None:
    for number in numbers:
        address = pages.address(hash_for(number))
        page = pages.load(address)
        page[number] = KeyState(hash_for(number)).stored()
        pages.save(address, page, more_keys=1)
        pages.grow()


@pytest.mark.parametrize("keys", [1, KEYS_PER_PAGE, KEYS_PER_PAGE + 1, 40 * KEYS_PER_PAGE + 7])
def test_each_key_is_on_the_page_of_its_address(keys: int) -> None:
    store = DictBlockStore()
    pages = KeyPages(store)
    add(pages, range(keys))
    assert pages.keys == keys
    for number in range(keys):
        assert number in pages.load(pages.address(hash_for(number)))
    assert sum(len(pages.load(address)) for address in range(pages.pages)) == keys


def test_there_are_as_many_pages_as_keys_need_and_all_of_them_are_used() -> None:
    pages = KeyPages(DictBlockStore())
    add(pages, range(50 * KEYS_PER_PAGE))
    assert pages.pages == 50
    sizes = [len(pages.load(address)) for address in range(pages.pages)]
    assert max(sizes) < 4 * KEYS_PER_PAGE
    assert min(sizes) > 0


def test_a_key_costs_a_constant_number_of_blocks_on_average() -> None:
    store = DictBlockStore()
    add(KeyPages(store), range(2_000))
    assert store.calls <= 2_000 * 2 + 2_000 / KEYS_PER_PAGE * 4


def test_a_page_that_was_emptied_is_still_there() -> None:
    store = DictBlockStore()
    pages = KeyPages(store)
    add(pages, range(1))
    pages.save(0, {}, more_keys=-1)
    add(pages, range(1, 2))
    assert list(pages.load(0)) == [1]


# The store of blocks, `block_store`


def test_a_block_replaces_the_previous_one_until_it_is_removed() -> None:
    store = DictBlockStore()
    store.put(1, 2, b"old")
    store.put(1, 2, b"new")
    assert store.get(1, 2) == b"new"
    store.remove(1, 2)
    assert store.get(1, 2) is None


def test_a_missing_block_cannot_be_removed() -> None:
    with pytest.raises(KeyError):
        DictBlockStore().remove(0, 0)
