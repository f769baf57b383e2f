"""Views that follow newest rows: what a change costs, beside evaluating over all newest rows.

A tenth of a percent of the keys get a newer row before each reading at a million keys, and one
percent at a hundred thousand, so the changes are the same. Following them may not cost more with
ten times as many keys.
"""

from __future__ import annotations

from functools import partial
from statistics import median

import numpy as np
import pyarrow as pa
import pytest

from tests.benchmarks.measure import Table, timed
from tests.queries.differential.comparison import difference
from upstream import Engine, ManualClock
from upstream.queries.evaluation import changing_leaf, view_planning
from upstream.queries.evaluation.changing_leaf import ChangeableLeaf

pytestmark = pytest.mark.benchmark

CHANGES = 1_000
GROUPS = 1_000
ROUNDS = 15
MANY, FEW = 1_000_000, 100_000
QUERIES = {
    "sum of integers": "SELECT g, sum(i) AS a FROM latest(s) AS s GROUP BY g",
    "max": "SELECT g, max(x) AS a FROM latest(s) AS s GROUP BY g",
    "max and sum": "SELECT g, max(x) AS a, sum(i) AS b FROM latest(s) AS s GROUP BY g",
    "sum of doubles": "SELECT g, sum(x) AS a FROM latest(s) AS s GROUP BY g",
    "variance": "SELECT g, var_pop(x) AS a FROM latest(s) AS s GROUP BY g",
    "LIMIT": "SELECT k, x FROM latest(s) AS s ORDER BY x DESC LIMIT 10",
    "three rows a group": (
        "SELECT g, k, x FROM latest(s) AS s"
        " QUALIFY row_number() OVER (PARTITION BY g ORDER BY x DESC, k) <= 3"
    ),
}


@pytest.fixture(autouse=True)
def _following(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let views follow however few rows there are."""
    monkeypatch.setattr(changing_leaf, "FEW", -1)
    monkeypatch.setattr(changing_leaf, "PER_CHANGE", 0)


class Keys:
    """A stream with so many keys, and a view of their newest rows."""

    def __init__(self, query: str, keys: int) -> None:
        self._random = np.random.default_rng(18)
        self._keys = keys
        self._time = 0
        self.engine = Engine(clock=ManualClock())
        self.engine.sql(
            "CREATE STREAM s (time BIGINT, k BIGINT, g BIGINT, x DOUBLE, i INTEGER)"
            " KEY (k) TIME (time)"
        )
        self._append(np.arange(keys))
        self.engine.sql(f"CREATE VIEW v AS {query}")
        self._view = self.engine._catalogue.views["v"]
        self.first_seconds = timed(self.ask)
        self.change()
        self.ask()

    def _append(self, keys: np.ndarray) -> None:
        self._time += 1
        columns = {
            "time": np.full(keys.size, self._time),
            "k": keys,
            "g": keys % GROUPS,
            "x": self._random.normal(size=keys.size),
            "i": self._random.integers(0, 100, keys.size).astype(np.int32),
        }
        self.engine.append("s", pa.table(columns))

    def change(self) -> None:
        """Give some keys newer rows."""
        self._append(self._random.choice(self._keys, CHANGES, replace=False))

    def ask(self) -> pa.Table:
        return self._view.table()

    def seconds(self) -> float:
        """Return the time of a reading after changes."""
        self.change()
        return timed(self.ask)

    @property
    def read_again(self) -> int:
        evaluation = self._view._view_plan.evaluation
        assert evaluation is not None
        leaves = evaluation._own
        return sum(leaf.groups_read_again for leaf in leaves if isinstance(leaf, ChangeableLeaf))


def present(query: str) -> Keys:
    """Return a view over many keys that is evaluated over all newest rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(view_planning, "changeable", lambda *_: None)
        return Keys(query, MANY)


@pytest.mark.parametrize("name", QUERIES)
def test_a_change_costs_the_same_with_ten_times_as_many_keys(name: str) -> None:
    query = QUERIES[name]
    makes = {"few": partial(Keys, query, FEW), "many": partial(Keys, query, MANY)}
    kept = {which: make() for which, make in (makes | {"present": partial(present, query)}).items()}
    seconds: dict[str, list[float]] = {which: [] for which in kept}
    for _ in range(ROUNDS):
        for which, view in kept.items():
            seconds[which].append(view.seconds())
    assert not difference(kept["present"].ask(), kept["many"].ask(), is_ordered=False)
    few, many, anew = (median(seconds[which]) for which in ("few", "many", "present"))
    table = Table(f"{name}: {CHANGES:,} of {MANY:,} newest rows change before each reading")
    table.row("a reading", many * 1e3, None, "ms")
    table.row("by one with a tenth of the keys", many / few, 1.6)
    table.row("by evaluating over all newest rows", many / anew, 1.0)
    table.row("the first reading", kept["many"].first_seconds * 1e3, None, "ms")
    table.row("groups read again", kept["many"].read_again, None, "")
    for view in kept.values():
        view.engine.close()
    table.assert_met()
