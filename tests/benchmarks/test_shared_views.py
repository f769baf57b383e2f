"""Ten views that share a state, beside one view, and beside ten views with states of their own.

Views with the same leaves have states of their own here if rows came between their creation.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa
import pytest

from tests.benchmarks.measure import Drive, Table, ratios, timed
from upstream import Engine, ManualClock

pytestmark = pytest.mark.benchmark

ROWS = 10_000
BATCHES = 5
VIEWS = 10
SUMS = "SELECT k, sum(v) AS s, count(*) AS n, max(v) AS m FROM ticks GROUP BY k"
KINDS = {
    "the same views": [SUMS] * VIEWS,
    "other finishes": [f"{SUMS} HAVING sum(v) > {number}" for number in range(VIEWS)],
}


class Views:
    """Some views over a stream of batches."""

    def __init__(self, queries: list[str], groups: int, *, share: bool = True) -> None:
        self.engine = Engine(clock=ManualClock())
        self.engine.sql("CREATE STREAM ticks (k BIGINT, v BIGINT)")
        random = np.random.default_rng(18)
        self._batches = [
            pa.table({"k": random.integers(0, groups, ROWS), "v": random.integers(0, 1_000, ROWS)})
            for _ in range(BATCHES)
        ]
        for number, query in enumerate(queries):
            self.engine.sql(f"CREATE VIEW view_{number} AS {query}")
            if not share:
                self.engine.append("ticks", self._batches[0].slice(0, 1))
        self.views = [*self.engine._catalogue.views.values()]
        self.rounds = 0

    def take_in(self) -> None:
        self.rounds += 1
        for batch in self._batches:
            self.engine.append("ticks", batch)
            for view in self.views:
                view.evaluate()

    def take_in_and_read(self) -> None:
        self.rounds += 1
        for batch in self._batches:
            self.engine.append("ticks", batch)
            for view in self.views:
                view.table()

    def held(self) -> int:
        """Return how many rows all states hold together."""
        states = {share.state for view in self.views for share in view.shares}
        return sum(state.rows for state in states)

    def check(self) -> None:
        """Assert that all rows are in every view."""
        for view in self.views:
            came = view.view_statistics().rows_read
            assert came - self.rounds * BATCHES * ROWS in range(VIEWS + 1)
            assert view.view_statistics().rows_waiting == 0


@pytest.mark.parametrize("groups", [1_000, 100_000])
@pytest.mark.parametrize("kind", KINDS)
def test_ten_views_take_in_about_as_fast_as_one(kind: str, groups: int) -> None:
    candidates = {
        "one": Views(KINDS[kind][:1], groups),
        "ten": Views(KINDS[kind], groups),
        "own": Views(KINDS[kind], groups, share=False),
    }
    table = Table(f"{VIEWS} views, {kind}, {groups:,} groups, batches of {ROWS:,}")
    for what, budget in (("take_in", 1.25), ("take_in_and_read", None)):
        drives: dict[str, Drive] = {
            name: partial(timed, getattr(views, what)) for name, views in candidates.items()
        }
        found = ratios(drives, to="one", rounds=3)
        words = what.replace("_", " ")
        table.row(f"{words}: ten with one state, by one view", found["ten"], budget)
        table.row(f"{words}: ten with states of their own, by one", found["own"], None)
    held = {name: views.held() for name, views in candidates.items()}
    table.row("rows held by ten with one state, by one view", held["ten"] / held["one"], 1.0)
    table.row("rows held by ten with states of their own, by one", held["own"] / held["one"], None)
    for views in candidates.values():
        views.check()
    for views in candidates.values():
        views.engine.close()
    table.assert_met()
