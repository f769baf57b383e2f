"""The newest value of every key that was pushed, and how it looks in a terminal."""

from __future__ import annotations

from dataclasses import dataclass

from rich.table import Table

from upstream.client import Key, ReceivedUpdate, WatchMessage

from .formatting import count, duration, key_text, value_text
from .output import add_row, fit, table_with


@dataclass(frozen=True, slots=True)
class Shown:
    """What is known of one key."""

    update: ReceivedUpdate
    received_at: float
    updates: int


class Picture:
    """The keys in the order of their last update, the newest last. O(1) per update."""

    __slots__ = ("_keys", "_superseded", "_updates")

    def __init__(self) -> None:
        self._keys: dict[Key, Shown] = {}
        self._superseded = self._updates = 0

    def apply(self, message: WatchMessage, now: float) -> None:
        """Bring the picture up to date."""
        if message.is_reset:
            self._keys.clear()
        self._superseded += message.superseded
        for update in message.updates:
            self._updates += 1
            known = self._keys.pop(update.key, None)
            if not update.is_deleted:
                updates = 1 if known is None else known.updates + 1
                self._keys[update.key] = Shown(update, now, updates)

    def table(self, queue: str, *, rows: int, width: int, now: float) -> Table:
        """Return the keys that changed last, as many as fit; values are cut short first."""
        numbers = ("updates", "for")
        table = table_with("key", "value", *numbers, right=numbers)
        keys = list(self._keys.values())  # at once: another thread may bring news meanwhile
        table.title = f"{queue}: {count(len(keys), 'key')}, {count(self._updates, 'update')}"
        if self._superseded:
            table.title += f", {self._superseded:,} left out"
        table.title_justify = "left"
        for shown in keys[: -rows - 1 : -1]:
            add_row(
                table,
                key_text(shown.update.key),
                value_text(shown.update.value),
                f"{shown.updates:,}",
                duration(now - shown.received_at),
            )
        return fit(table, width, elastic=1)
