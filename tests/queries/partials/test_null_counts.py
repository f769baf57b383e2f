"""Which rows have nothing but NULL."""

from __future__ import annotations

import numpy as np

from upstream.queries.partials.live_rows import LiveRows
from upstream.queries.partials.null_counts import NullCounts

ROWS = np.array([0, 1])


def test_a_row_is_there_as_soon_as_one_part_has_a_value() -> None:
    live, nulls = LiveRows(), NullCounts()
    live.enter(ROWS)
    nulls.enter(ROWS, None, live)
    assert nulls.present(live) is None
    live.leave(ROWS)
    for mask in ([False, True], [True, False]):
        live.enter(ROWS)
        nulls.enter(ROWS, np.array(mask), live)
    present = nulls.present(live)
    assert present is not None
    assert present.tolist() == [True, True]
    live.leave(ROWS)
    nulls.leave(ROWS, np.array([True, False]))
    nulls._check(live)
    present = nulls.present(live)
    assert present is not None
    assert present.tolist() == [False, True]
