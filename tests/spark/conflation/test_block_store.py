"""The store of blocks that tests look into."""

from __future__ import annotations

import pytest

from upstream.spark.conflation.block_store import DictBlockStore


def test_a_block_takes_the_place_of_the_one_before_until_it_is_removed() -> None:
    store = DictBlockStore()
    store.put(1, 2, b"old")
    store.put(1, 2, b"new")
    assert store.get(1, 2) == b"new"
    store.remove(1, 2)
    assert store.get(1, 2) is None


def test_a_block_that_is_not_there_cannot_be_removed() -> None:
    with pytest.raises(KeyError):
        DictBlockStore().remove(0, 0)
