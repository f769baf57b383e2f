"""Views, and queries that are kept ready, over streams that queries fill."""

from __future__ import annotations

import pytest

from tests.queries.result_rows import SUMS, rows_of, told
from tests.queries.setting import append
from upstream import Engine
from upstream.errors import NameTakenError, StatementError


@pytest.fixture
def view(engine: Engine) -> Engine:
    """A view over the sums of bids."""
    engine.sql(f"CREATE STREAM sums KEY (k) AS {SUMS}")
    engine.sql("CREATE VIEW totals AS SELECT k, sum(x) AS x FROM sums GROUP BY k")
    return engine


def test_a_view_over_results_is_never_older_than_asked(view: Engine) -> None:
    append(view, "bids", (1, 1, "a"), (2, 2, "b"), (11, 4, "a"))
    assert rows_of(view, "totals") == [("a", 1), ("b", 2)]
    append(view, "bids", (21, 8, "b"))
    assert rows_of(view, "totals") == [("a", 5), ("b", 2)]
    assert sorted(view.view("totals").table().to_pydict()["x"]) == [2, 5]
    append(view, "bids", (31, 16, "b"))
    assert sorted(view.view("totals").table().to_pydict()["x"]) == [5, 10]


def test_a_query_beside_a_view_over_results_is_due_when_they_are(view: Engine) -> None:
    query = view.continuous_query(
        "SELECT a.k, a.x - t.x AS d FROM latest(asks) a JOIN totals t ON a.k = t.k"
    )
    append(view, "asks", (1, 100, "a"))
    append(view, "bids", (1, 1, "a"), (11, 4, "a"))
    assert query.is_due()
    assert told(query) == [[("a", 99)]]
    append(view, "bids", (21, 8, "a"))
    assert query.is_due()
    answer = query.ask()
    assert answer is not None
    assert answer.table.to_pydict() == {"k": ["a"], "d": [95]}


def test_a_stream_is_not_filled_from_a_view_over_it(view: Engine) -> None:
    text = """CREATE OR REPLACE STREAM bids AS
              SELECT a.k FROM latest(asks) a JOIN totals t ON a.k = t.k"""
    with pytest.raises(StatementError, match="bids reads totals reads sums reads bids"):
        view.sql(text)
    with pytest.raises(StatementError, match="read the stream sums: totals"):
        view.sql("DROP STREAM sums")
    for name in ("totals", "TOTALS"):
        with pytest.raises(NameTakenError):
            view.sql(f"CREATE STREAM {name} KEY (k) AS {SUMS}")


def test_a_one_time_query_that_is_kept_ready_is_answered_anew(view: Engine) -> None:
    append(view, "bids", (1, 1, "a"), (11, 4, "a"))
    assert rows_of(view, "sums") == [("a", 1, 10)]
    append(view, "bids", (21, 4, "a"))
    assert rows_of(view, "sums") == [("a", 4, 20)]
    view.query("sums").close()
    append(view, "bids", (31, 4, "a"))
    assert rows_of(view, "sums") == [("a", 4, 20)]
    view.append("sums", {"k": ["a"], "x": [7], "window_end": [30]})
    assert rows_of(view, "sums") == [("a", 7, 30)]
