"""Which places may meet in a join: how far one input may be ahead of another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Reach:
    """How much greater the place of one input may be than that of another, by both inputs.

    Rows of inputs a and b meet only if `place of a - place of b <= ahead[a, b]`. Without an entry,
    there is no limit.
    """

    ahead: Mapping[tuple[int, int], int] = field(default_factory=dict)

    @classmethod
    def of_chunks(cls, kept: Mapping[int, int]) -> Reach:
        """Return the reach of inputs of which the newest chunks are kept, this many of each."""
        return cls({(a, b): kept[b] - 1 for a in kept for b in kept if a != b})

    def span(self, number: int, other: int, least: int, greatest: int) -> tuple[int, int]:
        """Return the least and the greatest place of another input that places of one may meet."""
        before, after = self.ahead.get((number, other)), self.ahead.get((other, number))
        first = -_MOST if before is None else max(-_MOST, least - before)
        last = _MOST if after is None else min(_MOST, greatest + after)
        return first, last

    def meets(self, places: Mapping[int, NDArray[np.int64]]) -> NDArray[np.bool_] | None:
        """Tell which of the rows side by side may meet; None if all may."""
        found: NDArray[np.bool_] | None = None
        for (a, b), most in self.ahead.items():
            within = places[a] - places[b] <= most
            found = within if found is None else found & within
        return None if found is None or found.all() else found


_MOST = (1 << 63) - 1
