"""What a batch changes about which rows are the newest: computed first, and then swapped in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RowChange:
    """The rows of a batch that are to be kept, and what becomes of others."""

    chosen: Integers
    """Which rows of the batch, in the order of arrival."""
    groups: Integers
    """The groups that change."""
    superseded: Integers
    """The numbers of rows that were kept so far."""
    late: int
    swap_in: Callable[[int], None]
    """Make the change; the chosen rows have numbers from this one on."""


class NewestNumbers(Protocol):
    """Knows which rows are the newest of each group."""

    groups: int
    """How many groups have rows."""
    kept: int
    """How many rows count."""

    def make_room(self, groups: int) -> None:
        """Learn that groups have numbers below this one."""

    def change(self, groups: Integers, times: Integers | None) -> RowChange:
        """Return what a batch changes; without times each row is newer than all before it."""

    def numbers_of(self, groups: Integers) -> Integers:
        """Return the numbers of the newest rows of these groups, ascending."""
