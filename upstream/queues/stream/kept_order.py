"""The keys of a stream by last arrival, kept while a reader needs them."""

from __future__ import annotations

from operator import attrgetter

from ...keys import ArrivalOrder, KeyTable


class KeptOrder:
    """The stream's one `ArrivalOrder`. Its readers share it, and it ends with the last reader.

    Keeping it costs each update about as much as the rest of its enqueue.
    """

    __slots__ = ("_keys", "_readers", "order")

    def __init__(self, keys: KeyTable) -> None:
        self._keys = keys
        self._readers = 0
        self.order: ArrivalOrder | None = None
        """The keys by last arrival; None while no reader needs them."""

    def keep(self) -> ArrivalOrder:
        """Keep the order until `release` was called equally often. O(keys) the first time."""
        if self.order is None:
            self.order = ArrivalOrder()
            for cell in sorted(self._keys, key=attrgetter("arrival")):
                self.order.append(cell)
        self._readers += 1
        return self.order

    def release(self) -> None:
        """Note that one reader no longer needs the order."""
        self._readers -= 1
        if self._readers == 0:
            self.close()

    def close(self) -> None:
        """Release the order, whatever still reads it, since the stream is closed."""
        if self.order is not None:
            self.order.close()
            self.order = None

    def _check(self) -> None:
        if self.order is not None:
            self.order._check()
            listed = sorted(cell.index for cell in self.order)
            assert listed == sorted(cell.index for cell in self._keys)
