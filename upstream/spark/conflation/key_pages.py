"""The cells of a bucket's keys, in pages; the number of pages grows with the number of keys.

A page is read and written as one block, so an update costs one page, whatever the number of keys,
and updates of keys in one page share that cost. Pages are addressed by linear hashing: when there
are more than `KEYS_PER_PAGE` keys per page on average, the next page is split in two. Pages are
split one at a time, so no update pays for all of them.
"""

from __future__ import annotations

import pickle
from typing import Final

from upstream.updates import Key

from .block_store import BlockStore
from .key_state import StoredKey, hash_of

KEYS_PER_PAGE: Final = 64
PAGES: Final = 0
"""The line of the store that holds the pages."""

Page = dict[Key, StoredKey]


class KeyPages:
    """The cells of `keys` keys, by key and hash of the key.

    >>> from .block_store import DictBlockStore
    >>> from .key_state import KeyState
    >>> pages = KeyPages(DictBlockStore())
    >>> page = pages.load(pages.address(12345))
    >>> page["IBM"] = KeyState(key_hash=12345).stored()
    >>> pages.save(pages.address(12345), page, more_keys=1)
    >>> pages.keys, list(pages.load(pages.address(12345)))
    (1, ['IBM'])
    """

    __slots__ = ("_store", "keys", "pages")

    def __init__(self, store: BlockStore, *, keys: int = 0, pages: int = 1) -> None:
        self._store = store
        self.keys = keys
        self.pages = pages

    def address(self, key_hash: int) -> int:
        """Return the page of a key."""
        level = self.pages.bit_length() - 1
        page = key_hash & ((1 << level + 1) - 1)
        return page if page < self.pages else page & ((1 << level) - 1)

    def load(self, address: int) -> Page:
        """Read a page."""
        if self.keys == 0:
            return {}
        block = self._store.get(PAGES, address)
        assert block is not None, "a page that was never written"
        page: Page = pickle.loads(block)  # noqa: S301 - our own, out of the query's checkpoint
        return page

    def save(self, address: int, page: Page, *, more_keys: int = 0) -> None:
        """Write a page that gained `more_keys` keys since it was read; it lost keys if negative."""
        self.keys += more_keys
        self._store.put(PAGES, address, pickle.dumps(page, pickle.HIGHEST_PROTOCOL))

    def grow(self) -> None:
        """Split pages until there are enough. O(keys added since)."""
        while self.keys > self.pages * KEYS_PER_PAGE:
            self._split()

    def _split(self) -> None:
        new = self.pages
        old = new - (1 << new.bit_length() - 1)
        page = self.load(old)
        self.pages += 1
        moved = {key: cell for key, cell in page.items() if self.address(hash_of(cell)) == new}
        self.save(new, moved)
        if moved:
            self.save(old, {key: cell for key, cell in page.items() if key not in moved})
