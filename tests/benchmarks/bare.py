"""What the library is measured against: the smallest class that conflates, with no accounting."""

from __future__ import annotations


class BareCell:
    __slots__ = ("is_waiting", "key", "next", "previous", "time", "value")

    key: object
    value: object
    time: float
    is_waiting: bool
    previous: BareCell
    next: BareCell


class BareQueue:
    """The newest value per key, keys served in place: slots and a linked list, nothing else."""

    __slots__ = ("_cells", "_end")

    def __init__(self) -> None:
        self._cells: dict[object, BareCell] = {}
        self._end = BareCell()
        self._end.previous = self._end.next = self._end

    def enqueue(self, key: object, value: object, time: float) -> None:
        cell = self._cells.get(key)
        if cell is None:
            cell = self._cells[key] = BareCell()
            cell.key = key
            cell.is_waiting = False
        cell.value = value
        cell.time = time
        if not cell.is_waiting:
            cell.is_waiting = True
            last = self._end.previous
            cell.previous = last
            cell.next = self._end
            last.next = cell
            self._end.previous = cell

    def dequeue(self) -> tuple[object, object, float] | None:
        cell = self._end.next
        if cell is self._end:
            return None
        self._end.next = cell.next
        cell.next.previous = self._end
        cell.is_waiting = False
        return cell.key, cell.value, cell.time
