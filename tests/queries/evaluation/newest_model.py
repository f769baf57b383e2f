"""The newest rows of a stream in plain Python, for views that follow them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

Row = Mapping[str, object]


@dataclass
class Group:
    """The newest rows of a group, with their times and numbers, and its last arrival."""

    rows: list[tuple[int, int, Row]] = field(default_factory=list)
    arrival: float = 0.0


@dataclass
class Newest:
    """What `latest(s, rows => …, per => …, expire_after => …)` has."""

    rows: int = 1
    per: str = "k"
    expire_after: float | None = None
    groups: dict[object, Group] = field(default_factory=dict)
    came: int = 0

    def add(self, rows: Iterable[Row], now: float) -> None:
        """Add rows in the order of arrival."""
        self.expire(now)
        for row in rows:
            self.came += 1
            group = self.groups.setdefault(row[self.per], Group())
            time = row["time"]
            assert isinstance(time, int)
            newest = sorted([*group.rows, (time, self.came, row)], key=lambda each: each[:2])
            group.rows, group.arrival = newest[-self.rows :], now

    def delete(self, is_deleted: Callable[[Row], bool], now: float) -> None:
        """Take the rows away that are deleted."""
        self.expire(now)
        for group in self.groups.values():
            group.rows = [each for each in group.rows if not is_deleted(each[2])]
        self._forget()

    def expire(self, now: float) -> None:
        """Let the groups go for which no row has arrived for so long."""
        if self.expire_after is not None:
            for group in self.groups.values():
                if group.arrival + self.expire_after <= now:
                    group.rows = []
            self._forget()

    def table(self) -> list[Row]:
        """Return the rows that there are."""
        return [row for group in self.groups.values() for _, _, row in group.rows]

    def _forget(self) -> None:
        self.groups = {name: group for name, group in self.groups.items() if group.rows}
