"""The states of single rows share their groups, and forget those that are long gone."""

from __future__ import annotations

import pyarrow as pa
import pytest

from upstream import Engine
from upstream.queries.evaluation import row_states
from upstream.queries.evaluation.row_states import RowStates

from .followed_views import STREAM, feed


@pytest.fixture
def engine(engine: Engine) -> Engine:
    engine.sql(f"CREATE STREAM s {STREAM}")
    return engine


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of rows from which states were built."""
    monkeypatch.setattr(row_states, "_SPARE_PLACES", 10)
    counts: list[int] = []
    build = RowStates.build

    def counted(self: RowStates, rows: pa.Table) -> bool:
        counts.append(rows.num_rows)
        return build(self, rows)

    monkeypatch.setattr(RowStates, "build", counted)
    return counts


@pytest.mark.parametrize(
    "query",
    [
        "SELECT g, max(x) AS a FROM latest(s) AS s GROUP BY g",
        "SELECT g, sum(f) AS a FROM latest(s) AS s GROUP BY g",
        "SELECT DISTINCT ON (g) g, x AS a FROM latest(s) AS s ORDER BY g, x",
    ],
)
def test_states_are_built_again_when_most_known_groups_are_gone(
    engine: Engine, builds: list[int], query: str
) -> None:
    engine.sql(f"CREATE VIEW v AS {query}")
    for time in range(40):
        feed(engine, {"time": time, "k": "p", "g": f"g{time}", "x": time, "f": time})
        assert engine.sql("FROM v").to_pylist() == [{"g": f"g{time}", "a": time}]
    assert builds == [1] * len(builds)
    assert 3 <= len(builds) <= 5


def test_groups_without_values_are_no_reason_to_build_states_again(
    engine: Engine, builds: list[int]
) -> None:
    engine.sql("CREATE VIEW v AS SELECT g, max(x) AS a FROM latest(s) AS s GROUP BY g")
    feed(engine, *({"time": 1, "k": f"{n}", "g": f"{n}"} for n in range(40)))
    assert engine.sql("FROM v").num_rows == 40
    for time in range(3):
        feed(engine, {"time": 2, "k": f"{time}", "g": "0"})
        assert engine.sql("FROM v WHERE a IS NULL").num_rows == 40 - time
    assert builds == [40]
