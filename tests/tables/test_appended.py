"""What `append` returns says how far a stream is ahead of those that queries join it with."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from upstream import ContinuousQuery, Engine, ManualClock, Result, StreamFullError
from upstream.tables.appended import Appended, Lead

EPOCHS = "SELECT count(*) AS n FROM epochs(a, 10) x JOIN epochs(b, 10) y ON x.k = y.k"
INTERVAL = "SELECT a.t FROM a JOIN b ON a.k = b.k AND b.t BETWEEN a.t - 5 AND a.t + 5"


def engine() -> Engine:
    made = Engine(clock=ManualClock())
    for stream in "ab":
        made.sql(f"CREATE STREAM {stream} (t BIGINT, k BIGINT) TIME (t)")
    return made


def test_it_is_the_number_of_rows() -> None:
    appended = Appended(3, Lead)
    assert (appended, appended + 1, f"{appended}", repr(appended)) == (3, 4, "3", "3")
    assert (appended.rows_ahead, appended.epochs_ahead) == (0, 0)


def test_a_stream_that_no_query_joins_is_not_ahead() -> None:
    with engine() as made, made.continuous_query("SELECT count(*) AS n FROM epochs(a, 10)") as one:
        appended = made.append("a", {"t": [1, 11, 21], "k": [1, 1, 1]})
        one.results()
        assert (appended, appended.rows_ahead, appended.epochs_ahead) == (3, 0, 0)


def test_rows_of_later_epochs_wait_for_the_other_stream() -> None:
    with engine() as made, made.continuous_query(EPOCHS) as query:
        made.append("b", {"t": [1], "k": [1]})
        appended = made.append("a", {"t": [1, 11, 12, 21], "k": [1, 1, 1, 1]})
        query.evaluate()
        assert (appended.rows_ahead, appended.epochs_ahead) == (3, 2)
        assert made.append("b", {"t": [25], "k": [1]}).rows_ahead == 0
        query.evaluate()
        assert (appended.rows_ahead, appended.epochs_ahead) == (0, 0)


def test_in_an_interval_join_rows_newer_than_the_other_stream_are_ahead() -> None:
    with engine() as made, made.continuous_query(INTERVAL) as query:
        appended = made.append("a", {"t": [1, 2, 3], "k": [1, 1, 1]})
        query.evaluate()
        assert appended.rows_ahead == 3
        made.append("b", {"t": [2], "k": [1]})
        query.evaluate()
        assert appended.rows_ahead == 1


@pytest.mark.parametrize("sql", [EPOCHS, INTERVAL], ids=["epochs", "interval"])
def test_a_stream_that_is_far_ahead_is_refused_and_goes_on_afterwards(
    sql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("upstream.queries.chunks.reading.MOST_AHEAD", 500)
    monkeypatch.setattr("upstream.queries.evaluation.interval.MOST_AHEAD", 500)
    monkeypatch.setattr("upstream.tables.engine_stream._MOST_ROWS", 2_000)
    monkeypatch.setattr("upstream.tables.engine_stream._BACKLOG_ROWS", 100)
    with engine() as made, made.continuous_query(sql) as query:
        made.append("b", {"t": [0], "k": [0]})
        accepted = [0]
        with pytest.raises(StreamFullError, match="a joined stream is behind"):
            _fill(made, accepted)
        query.evaluate()
        held, waiting = query.statistics().rows_held, query.statistics().rows_waiting
        assert (held <= 700, waiting >= 2_000) == (True, True)
        made.append("b", {"t": [100 * accepted[0]], "k": [0]})
        count = sum(result.table.num_rows for result in _all(query))
        assert count == (10 * accepted[0] - 1 if sql == EPOCHS else 1)
        assert query.statistics().rows_waiting == 0


def _fill(made: Engine, accepted: list[int]) -> None:
    """Append batches until one is refused, and count those that are accepted."""
    times = np.arange(100)
    while accepted[0] < 100:
        made.append("a", {"t": times + 100 * accepted[0], "k": times})
        accepted[0] += 1


def _all(query: ContinuousQuery) -> Iterator[Result]:
    while results := query.results():
        yield from results


def test_many_rows_are_taken_into_epochs_when_they_are_appended() -> None:
    with engine() as made, made.continuous_query(EPOCHS) as query:
        made.append("a", {"t": [1], "k": [1]})
        made.append("b", {"t": [1], "k": [1]})
        query.evaluate()
        before = query.statistics().evaluations
        times = np.arange(4_000) % 10
        made.append("a", {"t": np.sort(times), "k": np.arange(4_000)})
        assert query.statistics().evaluations == before
        made.append("b", {"t": np.sort(times), "k": np.arange(4_000)})
        statistics = query.statistics()
        assert (statistics.evaluations, statistics.rows_waiting) == (before + 1, 0)
        assert query.results() == []
