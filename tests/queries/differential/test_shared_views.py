"""Views that share states return what each of them would return alone.

Views are created, replaced and dropped between rows, so some share their states, and others have
come too late. Each is compared with its query over the rows since it was created.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .view_truth import LATEST, STREAMS, Append, Truth, random_step

STEPS = 20
EXAMPLES = max(1, settings().max_examples // 20)
BY_K = "SELECT k, sum(x) AS s, count(*) AS n FROM trades GROUP BY k"
RATED = "SELECT k, sum(x * rate) AS s FROM trades JOIN rates USING (k) GROUP BY k"
BEST = (
    "SELECT k, x, time FROM trades"
    " QUALIFY row_number() OVER (PARTITION BY k ORDER BY x DESC, time, y, g, note) <= 2"
)
LOTS = "SELECT k, max(lots) AS m FROM orders GROUP BY k"
SHAPES = (
    BY_K,
    f"{BY_K} HAVING sum(x) > 3",
    f"SELECT max(s) AS s, sum(n) AS n FROM ({BY_K})",
    f"SELECT k, s, weight FROM ({BY_K}) JOIN sectors USING (k)",
    f"SELECT k, s, l.x FROM ({BY_K}) JOIN latest(trades) AS l USING (k)",
    f"SELECT k, s, m FROM ({BY_K}) JOIN ({LOTS}) USING (k)",
    f"SELECT a.k, a.s, b.n FROM ({BY_K}) AS a JOIN ({BY_K}) AS b ON a.k = b.k",
    LOTS,
    f"SELECT count(*) AS n FROM ({LOTS}) WHERE m > 2",
    RATED,
    f"SELECT max(s) AS s FROM ({RATED})",
    BEST,
    f"SELECT k, min(x) AS x FROM ({BEST}) GROUP BY k",
    "SELECT k, s.n FROM above AS s",
)
"""What is read of a stream is the same in some of them; the last one reads a view."""


@dataclass
class Shared:
    """Views of random shapes, created at different times, beside the truth."""

    random: Random
    truth: Truth = field(default_factory=Truth)
    names: list[str] = field(default_factory=list)
    shared: int = 0
    compared: int = 0

    def __post_init__(self) -> None:
        self._create("above", BY_K)

    def run(self, steps: int) -> None:
        for _ in range(steps):
            act = self.random.choice([self.create, self.create, self.drop, self.take, self.read])
            act()
            self.check()
        self.compare(["above", *self.names])

    def create(self) -> None:
        """Create a view, or replace one."""
        name = self.random.choice([f"view_{number}" for number in range(6)])
        self._create(name, self.random.choice(SHAPES))
        if name not in self.names:
            self.names.append(name)
        shares = self.truth.engine._catalogue.views[name].shares
        self.shared += any(share.others for share in shares)

    def _create(self, name: str, query: str) -> None:
        """Create or replace a view; in the plain database, it leaves out the rows so far."""
        truth = self.truth
        option = self.random.choice(["fail", "skip"])
        truth.engine.sql(f"CREATE OR REPLACE VIEW {name} WITH (on_error = '{option}') AS {query}")
        rows = []
        for stream in STREAMS:
            [(count,)] = truth.plain.sql(f"SELECT count(*) FROM {stream}").fetchall()
            rows.append(f"{stream} AS (SELECT * FROM memory.main.{stream} OFFSET {count})")
        plain = LATEST.sub(r"newest_\1", query)
        with_rows = f"WITH {', '.join(rows)} {plain}"
        truth.plain.execute(f"CREATE OR REPLACE VIEW {name} AS {with_rows}")

    def drop(self) -> None:
        if self.names:
            name = self.names.pop(self.random.randrange(len(self.names)))
            self.truth.engine.sql(f"DROP VIEW {name}")

    def take(self) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.truth.take(random_step(self.random))

    def read(self) -> None:
        self.compare([name for name in self.names if self.random.random() < 0.5])

    def compare(self, names: Sequence[str]) -> None:
        told = self.truth.differences(names)
        assert not told, "\n".join(told)
        self.compared += len(names)

    def check(self) -> None:
        """Assert that there is what the views use, and nothing else."""
        engine = self.truth.engine
        shares = [share for view in engine._catalogue.views.values() for share in view.shares]
        states = {share.state for share in shares}
        assert sum(len(state.shares) for state in states) == len(shares)
        parts = sum(len(leaf.planned.parts.made) for state in states for leaf in state.leaves)
        own = "SELECT table_name FROM duckdb_tables() WHERE starts_with(table_name, '__static')"
        assert len(engine._duck.rows(own)) == parts
        for name in STREAMS:
            readers = engine._catalogue.streams[name].log._readers
            of_states = [state.reader for state in states if state.stream == name]
            assert all(reader in readers for reader in of_states)


@pytest.mark.slow
@settings(max_examples=EXAMPLES)
@given(random=st.randoms(use_true_random=False))
def test_views_that_share_states_return_what_each_would_return_alone(random: Random) -> None:
    shared = Shared(random)
    try:
        shared.run(STEPS)
    finally:
        shared.truth.close()


@pytest.mark.parametrize("seed", range(2))
def test_many_random_views_share_their_states(seed: int) -> None:
    shared = Shared(Random(seed))
    try:
        shared.run(3 * STEPS)
        assert shared.shared > 5
        assert shared.compared > 10
    finally:
        shared.truth.close()


def test_a_wrong_answer_of_a_shared_view_would_be_told() -> None:
    shared = Shared(Random(0))
    try:
        shared._create("other", BY_K)
        row = (1, "a", 0, 5, 0.5, "p")
        shared.truth.take(Append("trades", (row,)))
        shared.compare(["above", "other"])
        engine = shared.truth.engine
        engine.append("trades", {"time": [1], "k": ["a"], "x": [1]})
        assert len(shared.truth.differences(["above", "other"])) == 2
    finally:
        shared.truth.close()
