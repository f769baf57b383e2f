"""How a stream forgets keys: by request, when they are deleted, and when they are quiet."""

from __future__ import annotations

from collections.abc import Sequence

from ...keys import CLOSED, KeyCell, KeyTable
from ...updates import TOMBSTONE
from .kept_order import KeptOrder
from .listener import Listener
from .values import NewestValues


class Forgetting:
    """Forget keys of one stream, in all of its queues.

    `after` is the seconds after which a quiet key is forgotten, or None for never. A key is quiet
    if it was not updated for so long and no queue holds an update of it.
    """

    __slots__ = ("_kept", "_keys", "_listeners", "_values", "after")

    def __init__(
        self,
        keys: KeyTable,
        listeners: Sequence[Listener],
        values: NewestValues,
        kept: KeptOrder,
        *,
        after: float | None,
    ) -> None:
        self._keys = keys
        self._listeners = listeners
        self._values = values
        self._kept = kept
        self.after = after

    def forget(self, cell: KeyCell, now: float) -> None:
        """Forget a key. It is no error if the key is unknown."""
        if cell.index == CLOSED:
            return
        if cell.value is TOMBSTONE:
            cell.value = None  # so that a queue that reads the deletion later does not forget it
        for listener in self._listeners:
            listener.forget_cell(cell, now)
        assert cell.idle is None and cell.waiting == 0, "a queue still holds a forgotten key"
        self._values.release(cell, now)
        if self._kept.order is not None:
            self._kept.order.remove(cell)
        self._keys.close(cell)

    def if_deleted(self, cell: KeyCell, now: float) -> None:
        """Forget a key whose newest update is a deletion, once every queue has delivered it."""
        if cell.value is not TOMBSTONE:
            return
        # `holds` comes first: it reads the log, and only then the key may have arrived.
        if not any(queue.holds(cell) or queue.has_arrived(cell) for queue in self._listeners):
            self.forget(cell, now)

    def if_quiet(self, cell: KeyCell, now: float) -> None:
        """Forget a key that a queue no longer holds, if it was not updated for long enough."""
        if self.after is not None and cell.arrival + self.after <= now:
            self.if_idle(cell, now)

    def if_idle(self, cell: KeyCell, now: float) -> None:
        """Forget a key unless a queue holds an update of it."""
        if not any(queue.holds(cell) for queue in self._listeners):
            self.forget(cell, now)
