"""Rows that are taken away, and changes, against a dict of rows by number."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.tables import live_rows
from upstream.tables.live_rows import LiveRows

SCHEMA = pa.schema({"n": pa.int64()})
NOTHING = np.empty(0, np.int64)


def rows(*numbers: int) -> pa.Table:
    return pa.table({"n": pa.array(numbers, pa.int64())})


def listed(table: pa.Table) -> list[int]:
    found: list[int] = table["n"].to_pylist()
    return found


def added(live: LiveRows, count: int, *gone: int) -> None:
    """Add rows that contain their numbers, and take others away."""
    numbers = range(live.added, live.added + count)
    live.change(rows(*numbers), np.arange(count), np.array(gone, np.int64))()


def test_nothing_changes_before_the_change_is_made() -> None:
    live = LiveRows(SCHEMA, follows_changes=True)
    added(live, 3)
    live.forget_changes()
    live.change(rows(3, 4), np.arange(2), np.array([1]))
    live.removal(np.array([0, 2]))
    assert listed(live.table()) == [0, 1, 2]
    assert (live.added, live.count) == (3, 3)
    changes = live.changes()
    assert (changes.added.num_rows, changes.removed.num_rows) == (0, 0)


def test_without_following_nothing_that_is_gone_is_kept() -> None:
    live = LiveRows(SCHEMA)
    added(live, 3_000)
    live.removal(np.arange(2_900))()
    assert live._stored.rows == 100
    assert live._removed == ()


ACTIONS = st.lists(
    st.tuples(
        st.integers(0, 4),
        st.lists(st.integers(0, 30), max_size=4),
        st.sampled_from(["nothing", "table", "forget", "changes"]),
    ),
    max_size=12,
)


@pytest.mark.parametrize("slack", [0, 2, 1024])
@given(actions=ACTIONS)
def test_before_plus_added_minus_removed_is_now(
    slack: int, actions: list[tuple[int, list[int], str]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live_rows, "_SLACK", slack)
        live = LiveRows(SCHEMA, follows_changes=True)
        now: set[int] = set()
        before: set[int] = set()
        for count, places, then in actions:
            gone = sorted({sorted(now)[place % len(now)] for place in places} if now else set())
            new = range(live.added, live.added + count)
            added(live, count, *gone)
            now = (now - {*gone}) | {*new}
            live._check()
            assert live.count == len(now)
            if then == "table":
                assert listed(live.table()) == sorted(now) == live.numbers().tolist()
            elif then == "forget":
                live.forget_changes()
                before = now
            elif then == "changes":
                changes = live.changes()
                assert Counter(listed(changes.added)) == Counter(now - before)
                assert Counter(listed(changes.removed)) == Counter(before - now)
                assert listed(changes.added) == changes.added_numbers.tolist()
                assert listed(changes.removed) == changes.removed_numbers.tolist()
        assert listed(live.table()) == sorted(now)
