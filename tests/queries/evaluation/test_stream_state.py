"""A state takes each row in once, and each view that shares it knows what is new to its result."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pytest

from tests.queries.setting import append, asked, content
from upstream import ContinuousView, Engine, ManualClock
from upstream.errors import QueryError
from upstream.queries.chunks.cutter import Piece
from upstream.queries.chunks.windows import Span
from upstream.queries.evaluation.increments import ChunkLeaf, Take
from upstream.queries.evaluation.stream_state import StreamState
from upstream.queries.results.failing_rows import FailedRows

SUMS = "SELECT k, sum(x) AS n FROM bids GROUP BY k"
NOTES = "SELECT sum(note::INT) AS n FROM bids"


@pytest.fixture
def views(engine: Engine) -> tuple[ContinuousView, ContinuousView]:
    """Return two views that share a state."""
    engine.sql(f"CREATE VIEW sums AS {SUMS}")
    engine.sql(f"CREATE VIEW high AS {SUMS} HAVING sum(x) > 5")
    assert state_of(engine.view("high")) is state_of(engine.view("sums"))
    return engine.view("sums"), engine.view("high")


def state_of(view: ContinuousView) -> StreamState:
    [share] = view._view._view_plan.shares
    return share.state


def test_a_view_sees_rows_that_another_view_took_in(
    engine: Engine, views: tuple[ContinuousView, ContinuousView]
) -> None:
    sums, high = views
    append(engine, "bids", (1, 5))
    assert high.table().num_rows == 0
    assert sums.table().to_pylist() == [{"k": "a", "n": 5}]
    append(engine, "bids", (2, 7))
    known = high.table()
    assert known.to_pylist() == [{"k": "a", "n": 12}]
    assert sums._view._known is not None
    assert not sums._view.is_current(sums._view._known[1])
    assert sums.table().to_pylist() == [{"k": "a", "n": 12}]
    assert high.table() is known
    assert [each.statistics().refreshes for each in views] == [2, 2]


def test_each_row_is_evaluated_once_for_all_views(
    engine: Engine,
    views: tuple[ContinuousView, ContinuousView],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fed: list[int] = []
    feed = ChunkLeaf.feed

    def noted(self: ChunkLeaf, number: int, pieces: Sequence[Piece], failed: FailedRows) -> Take:
        fed.extend(rows.num_rows for _, rows in pieces)
        return feed(self, number, pieces, failed)

    monkeypatch.setattr(ChunkLeaf, "feed", noted)
    for number in range(3):
        append(engine, "bids", *[(number, 1)] * (number + 1))
        for view in views:
            view.table()
    assert fed == [1, 2, 3]


def test_what_is_merged_is_merged_once_for_all_views(
    engine: Engine,
    views: tuple[ContinuousView, ContinuousView],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[object] = []
    merged = ChunkLeaf.merged

    def noted(self: ChunkLeaf, spans: Sequence[Span]) -> pa.Table:
        calls.append(self)
        return merged(self, spans)

    monkeypatch.setattr(ChunkLeaf, "merged", noted)
    for count in (1, 2):
        append(engine, "bids", (1, 5))
        for view in views:
            view.table()
        assert len(calls) == count
    assert len(state_of(views[0])._merged) == 1
    append(engine, "bids", (1, 5))
    views[0]._view.evaluate()
    assert not state_of(views[0])._merged


def test_one_view_alone_keeps_no_copy_of_what_is_merged(engine: Engine) -> None:
    engine.sql(f"CREATE VIEW sums AS {SUMS}")
    append(engine, "bids", (1, 5))
    engine.sql("FROM sums")
    assert not state_of(engine.view("sums"))._merged


def test_a_result_is_due_since_the_first_row_that_it_lacks(
    engine: Engine, clock: ManualClock, views: tuple[ContinuousView, ContinuousView]
) -> None:
    sums, high = (each._view for each in views)
    clock.advance(5.0)
    append(engine, "bids", (1, 5))
    clock.advance(2.0)
    assert [each.first_waiting(None) for each in (sums, high)] == [5.0, 5.0]
    sums.table()
    assert [each.first_waiting(None) for each in (sums, high)] == [None, 5.0]
    append(engine, "bids", (2, 7))
    sums.table()
    assert [each.first_waiting(None) for each in (sums, high)] == [None, 5.0]
    assert (sums.staleness(), high.staleness()) == (0.0, 2.0)
    high.table()
    assert high.first_waiting(None) is None


def test_max_staleness_counts_from_rows_that_another_view_took_in(
    engine: Engine, clock: ManualClock
) -> None:
    engine.sql(f"CREATE VIEW sums AS {SUMS}")
    engine.sql(f"CREATE VIEW lazy WITH (max_staleness = INTERVAL '4 seconds') AS {SUMS}")
    lazy = engine.view("lazy")
    assert lazy.table().num_rows == 0
    append(engine, "bids", (1, 5))
    engine.sql("FROM sums")
    clock.advance(1.0)
    assert lazy.table().num_rows == 0  # fresh enough
    assert not lazy._view.is_due()
    clock.advance(1.0)
    assert lazy._view.is_due()
    assert engine.run(10.0) == 1
    assert not lazy._view.is_due()
    assert lazy.statistics().refreshes == 2
    assert lazy.table().to_pylist() == [{"k": "a", "n": 5}]
    assert lazy.statistics().refreshes == 2


def test_a_query_that_reads_a_view_is_due_when_another_view_has_taken_rows_in(
    engine: Engine, views: tuple[ContinuousView, ContinuousView]
) -> None:
    query = engine.continuous_query("SELECT max(n) AS n FROM latest(asks) AS l, sums", "update")
    append(engine, "asks", (1, 1))
    append(engine, "bids", (1, 5))
    assert content(asked(query)) == 5
    assert not query.is_due()
    append(engine, "bids", (2, 7))
    views[1].table()
    assert query.is_due()
    assert content(asked(query)) == 12
    assert not query.is_due()


def test_a_state_counts_in_each_view(
    engine: Engine, views: tuple[ContinuousView, ContinuousView]
) -> None:
    append(engine, "bids", (1, 5), (2, 7, "b"))
    views[0].table()
    append(engine, "bids", (3, 1))
    for view in views:
        counts = view.statistics()
        assert (counts.rows_read, counts.rows_waiting, counts.rows_held) == (2, 1, 2)
        assert view.positions == {"bids": 2}


def test_the_counts_of_a_dropped_view_stay(
    engine: Engine, views: tuple[ContinuousView, ContinuousView]
) -> None:
    sums, high = views
    append(engine, "bids", (1, 5))
    sums.table()
    engine.sql("DROP VIEW sums")
    before = sums.statistics(), sums.positions
    append(engine, "bids", (1, 5), (2, 7, "b"))
    assert high.table().num_rows == 2
    assert (sums.statistics(), sums.positions) == before
    assert (before[0].rows_read, before[1]) == (1, {"bids": 1})
    assert high.statistics().rows_read == 3
    assert "shared" not in sums.explain() + high.explain()


def test_views_that_share_a_state_decide_themselves_about_rows_that_fail(engine: Engine) -> None:
    engine.sql(f"CREATE VIEW strict AS {NOTES}")
    engine.sql(f"CREATE VIEW lenient WITH (on_error = 'skip') AS {NOTES}")
    strict, lenient = engine.view("strict"), engine.view("lenient")
    assert state_of(strict) is state_of(lenient)
    append(engine, "bids", (1, 5, "a", "7"), (2, 5, "a", "x"))
    assert lenient.table().to_pylist() == [{"n": 7}]
    with pytest.raises(QueryError, match="Could not convert"):
        strict.table()
    assert [each.statistics().rows_failed for each in (strict, lenient)] == [1, 1]
    assert "Could not convert" in str(lenient.statistics().error)


def test_a_sum_that_is_too_large_fails_in_each_view_until_it_fits(
    engine: Engine, views: tuple[ContinuousView, ContinuousView]
) -> None:
    append(engine, "bids", (1, 2**63 - 1), (2, 1))
    for view in views:
        with pytest.raises(QueryError, match="64 bits"):
            view.table()
    append(engine, "bids", (3, -1))
    for view in views:
        assert view.table().to_pylist() == [{"k": "a", "n": 2**63 - 1}]


def test_an_insert_of_many_rows_is_taken_in_once_and_refreshes_what_is_read_often(
    engine: Engine, views: tuple[ContinuousView, ContinuousView]
) -> None:
    sums, high = views
    for _ in range(150):
        high.table()
    append(engine, "bids", (1, 5))
    high.table()
    assert high._view._is_eager()
    before = sums.statistics().refreshes
    append(engine, "bids", (1, 5))
    assert [each.statistics().rows_waiting for each in views] == [0, 0]
    assert high._view._known is not None
    assert high._view.is_current(high._view._known[1])
    assert sums.statistics().refreshes == before
    assert sums.table().to_pylist() == [{"k": "a", "n": 10}]


def test_explain_names_the_other_views(
    engine: Engine, views: tuple[ContinuousView, ContinuousView]
) -> None:
    sums, high = views
    assert sums.explain().splitlines()[-1] == "the state of bids is shared with high"
    assert "the state of bids is shared with sums" in high.explain(sql=True)
    engine.sql(f"CREATE VIEW third AS {SUMS}")
    assert sums.explain().splitlines()[-1] == "the state of bids is shared with high, third"
    found = engine.sql("EXPLAIN third").to_pylist()[0]["explain_value"]
    assert "the state of bids is shared with sums, high" in found


def test_a_failure_while_rows_are_taken_in_changes_no_view(
    engine: Engine,
    views: tuple[ContinuousView, ContinuousView],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    append(engine, "bids", (1, 5))

    def fails(*_: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr("pyarrow.concat_tables", fails)
        with pytest.raises(MemoryError):
            views[0].table()
    assert [each.statistics().rows_waiting for each in views] == [1, 1]
    assert [each.table().num_rows for each in views] == [1, 0]
