"""Which queries have results that depend on the rows of their streams alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.queries.setting import append
from upstream import Engine
from upstream.queries import Semantics

SUMS = "SELECT k, sum(x) AS x FROM tumble(bids, 10) GROUP BY k"


def is_shared(
    engine: Engine,
    text: str,
    semantics: Semantics = "append",
    *,
    close_after: float | None = None,
    allowed_lateness: float | None = None,
) -> bool:
    """Tell whether two queries of this text share an evaluation."""
    one, other = (
        engine.continuous_query(
            text, semantics, close_after=close_after, allowed_lateness=allowed_lateness
        )
        for _ in range(2)
    )
    return one._evaluated is other._evaluated


@pytest.mark.parametrize("semantics", ["append", "update"])
@pytest.mark.parametrize(
    "text",
    [
        SUMS,
        "SELECT sum(x) AS x FROM hop(bids, 20, 10)",
        "SELECT max(x) AS x FROM rows(bids, 4, 2)",
        "SELECT k, count(*) AS n FROM session(bids, 6) GROUP BY k",
        "SELECT b.x, a.x AS y FROM hop(bids, 20, 10) b JOIN hop(asks, 20, 10) a USING (k)",
        "WITH b AS (FROM hop(bids, 20, 10)) SELECT k, sum(x) AS x FROM b GROUP BY k",
        "SELECT sum(n) AS n FROM tumble(bids, 10), range(3) t(n)",
    ],
    ids=["tumble", "hop", "rows", "session", "join", "with", "series"],
)
def test_windows_that_rows_end_are_shared(engine: Engine, text: str, semantics: Semantics) -> None:
    assert is_shared(engine, text, semantics)


@pytest.mark.parametrize(
    "text", ["SELECT k, x FROM latest(bids)", "SELECT k, sum(x) AS x FROM bids GROUP BY k"]
)
def test_current_answers_are_shared_as_updates(engine: Engine, text: str) -> None:
    assert is_shared(engine, text, "update")


def test_each_evaluation_of_latest_is_a_result_of_an_append_query(engine: Engine) -> None:
    assert not is_shared(engine, "SELECT k, x FROM latest(bids)")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("SELECT sum(x) AS x FROM landmark(bids)", id="a landmark can be reset"),
        pytest.param("SELECT k FROM bids", id="each new row is in one result"),
        pytest.param("SELECT count(*) AS n FROM tumble(bids, INTERVAL '1 second', by => arrival)"),
        pytest.param("SELECT b.k, name FROM tumble(bids, 10) b JOIN names USING (k)", id="a table"),
        pytest.param(
            "WITH names AS (FROM names) SELECT k, name FROM tumble(bids, 10) JOIN names USING (k)",
            id="a table behind its name",
        ),
        pytest.param("SELECT b.k FROM tumble(bids, 10) b JOIN counts USING (k)", id="a view"),
        pytest.param(
            "SELECT b.k FROM tumble(bids, 10) b JOIN latest(asks) a USING (k)", id="newest rows"
        ),
        pytest.param("SELECT sum(twice(x)) AS x FROM tumble(bids, 10)", id="a macro"),
        pytest.param("SELECT sum(x + random()) AS x FROM tumble(bids, 10)", id="chance"),
        pytest.param("SELECT sum(x) AS x, now() AS n FROM tumble(bids, 10)", id="the clock"),
        pytest.param("SELECT sum(x) AS x, current_date AS n FROM tumble(bids, 10)", id="the day"),
        pytest.param(
            "SELECT sum(x) AS x, current_setting('threads') AS n FROM tumble(bids, 10)",
            id="a setting",
        ),
        pytest.param("SELECT k FROM tumble(bids, 10) USING SAMPLE 50%", id="a sample"),
        pytest.param(
            "SELECT k, n FROM tumble(bids, 10), (SELECT count(*) AS n FROM duckdb_tables())",
            id="a function that reads tables",
        ),
    ],
)
def test_what_depends_on_anything_else_is_not_shared(engine: Engine, text: str) -> None:
    engine.sql("CREATE TABLE names AS SELECT 'a' AS k, 'Ada' AS name")
    engine.sql("CREATE MACRO twice(x) AS 2 * x")
    engine.sql("CREATE VIEW counts AS SELECT k, count(*) AS n FROM asks GROUP BY k")
    assert is_shared(engine, SUMS)
    assert not is_shared(engine, text)


def test_a_file_is_not_shared(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "names.csv"
    path.write_text("k,name\na,Ada\n")
    text = f"SELECT k, name FROM tumble(bids, 10) JOIN '{path}' USING (k)"
    assert not is_shared(engine, text)


def test_windows_that_the_clock_ends_or_late_rows_change_are_not_shared(engine: Engine) -> None:
    assert not is_shared(engine, SUMS, close_after=5.0)
    assert not is_shared(engine, SUMS, allowed_lateness=5.0)


def test_news_of_keys_belong_to_one_reader(engine: Engine) -> None:
    text = "SELECT k, x FROM bids"
    assert not is_shared(engine, text, "update")
    one, other = engine.queries
    append(engine, "bids", (1, 1))
    one.results()
    append(engine, "bids", (2, 2, "b"))
    assert one.results()[0].table.num_rows == 1
    assert other.results()[0].table.num_rows == 2
