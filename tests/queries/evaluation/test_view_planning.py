"""Which part of a view runs when, and what cannot be maintained."""

from __future__ import annotations

import pytest

from tests.queries.setting import append
from tests.queries.sql.example_streams import refused
from upstream import Engine, ManualClock, StatementError, UnboundedQueryError, WindowError
from upstream.errors import QueryError

SUMS = "SELECT k, sum(x) AS n FROM bids GROUP BY k"


@pytest.fixture
def engine(engine: Engine) -> Engine:
    engine.sql("CREATE TABLE names (k TEXT, v BIGINT)")
    engine.sql("INSERT INTO names VALUES ('a', 2), ('b', 3)")
    engine.sql(f"CREATE VIEW sums AS {SUMS}")
    return engine


def lines(engine: Engine, query: str) -> list[str]:
    """Return what a view says of its parts, without the last line; it shares no state."""
    append(engine, "bids", (1, 5))
    engine.sql(f"CREATE OR REPLACE VIEW v AS {query}")
    return engine.view("v").explain().splitlines()[:-1]


MERGED = "when the view is read: the results are merged"
REST = "when the view is read: the rest of the query, over these results"


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        (SUMS, ["as rows arrive in bids: sum(x) by k", MERGED]),
        (
            f"SELECT max(n) FROM ({SUMS})",
            ["as rows arrive in bids: sum(x) by k", REST],
        ),
        (
            "SELECT k, sum(x * v) AS n FROM bids JOIN names USING (k) GROUP BY k",
            [
                "once, when the view was created: names",
                "as rows arrive in bids: sum(x * v) by k",
                MERGED,
            ],
        ),
        (
            f"SELECT k, n * v AS n FROM ({SUMS}) JOIN names USING (k)",
            ["as rows arrive in bids: sum(x) by k", f"{REST}, with names"],
        ),
        (
            f"SELECT k, x, n FROM ({SUMS}) JOIN latest(asks) AS a USING (k)",
            ["as rows arrive in bids: sum(x) by k", f"{REST}, with latest(asks)"],
        ),
        ("SELECT k, n FROM sums", ["when the view is read: the query, with sums"]),
        ("SELECT k, x FROM latest(bids)", ["when the view is read: the query, with latest(bids)"]),
        (f"{SUMS} ORDER BY n", ["as rows arrive in bids: sum(x) by k", MERGED]),
    ],
)
def test_a_view_has_static_stream_and_upper_parts(
    engine: Engine, query: str, parts: list[str]
) -> None:
    assert lines(engine, query) == parts


def test_all_leaves_over_one_stream_read_it_once(engine: Engine) -> None:
    engine.sql(
        "CREATE VIEW v AS SELECT a.k, a.n, b.m FROM (SELECT k, sum(x) AS n FROM bids GROUP BY k) a"
        " JOIN (SELECT k, max(x) AS m FROM bids GROUP BY k) b ON a.k = b.k"
    )
    append(engine, "bids", (1, 5), (2, 7))
    assert engine.sql("SELECT n, m FROM v").to_pylist() == [{"n": 12, "m": 7}]
    assert engine.view("v").statistics().rows_read == 2


@pytest.mark.parametrize(
    ("query", "reason", "hint"),
    [
        ("SELECT k, x FROM bids", "keep all rows of bids: the result contains its rows", "latest"),
        (
            "SELECT sum(b.x * a.x) AS n FROM bids b JOIN asks a ON a.k = b.k",
            "a new row of one stream may match any row of the others",
            "group each stream in a subquery before they are joined",
        ),
        ("SELECT k, list(x) AS l FROM bids GROUP BY k", "needs every value", "aggregate the rows"),
        (
            "SELECT max(now()) AS t FROM bids",
            "another value each time",
            "a view of bids without now()",
        ),
    ],
)
def test_a_view_that_would_keep_all_rows_is_refused(
    engine: Engine, query: str, reason: str, hint: str
) -> None:
    with pytest.raises(UnboundedQueryError, match=reason) as caught:
        engine.sql(f"CREATE VIEW v AS {query}")
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("query", "what"),
    [
        ("SELECT sum(b.x * l.x) AS n FROM bids b JOIN latest(asks) l ON l.k = b.k", "latest(asks)"),
        ("SELECT sum(b.x * s.n) AS n FROM bids b JOIN sums s ON s.k = b.k", "sums"),
    ],
)
def test_rows_cannot_meet_what_changes_after_they_arrived(
    engine: Engine, query: str, what: str
) -> None:
    with refused(StatementError, "bids b") as caught:
        engine.sql(f"CREATE VIEW v AS {query}")
    assert f"rows of bids are combined with {what}, which changes" in caught.value.reason
    assert caught.value.hint.startswith("group bids in a subquery first")


def test_a_view_cannot_read_epochs(engine: Engine) -> None:
    with refused(WindowError, "epochs", "a view cannot read epochs") as caught:
        engine.sql("CREATE VIEW v AS SELECT count(*) AS n FROM epochs(bids, rows => 3)")
    assert "epochs(bids, …) with CREATE STREAM … AS" in caught.value.hint


def test_windows_that_close_do_not_go_with_all_rows(engine: Engine) -> None:
    with refused(WindowError, "bids", "cannot also read all rows of bids") as caught:
        engine.sql("CREATE VIEW v AS SELECT count(*) AS n FROM bids, tumble(asks, 10) AS a")
    assert caught.value.hint == "make a view of bids first, and read that view here"
    engine.sql("CREATE VIEW v AS SELECT max(x) AS x, max(n) AS n FROM tumble(asks, 10) AS a, sums")
    append(engine, "bids", (1, 5))
    append(engine, "asks", (1, 7), (12, 8))
    assert engine.sql("FROM v").to_pylist() == [{"x": 7, "n": 5}]


@pytest.mark.parametrize("form", ["bids", "landmark(bids)"])
def test_a_landmark_is_all_rows_too(engine: Engine, form: str) -> None:
    engine.sql(f"CREATE VIEW v AS SELECT sum(x) AS n FROM {form} AS b")
    append(engine, "bids", (1, 5), (2, 7))
    assert engine.sql("FROM v").to_pylist() == [{"n": 12}]


def test_the_newest_rows_in_a_view_begin_with_those_that_are_there(engine: Engine) -> None:
    append(engine, "bids", (5, 1, "a"), (5, 2, "b"))
    engine.sql("CREATE VIEW v AS SELECT k, x FROM latest(bids) AS b")
    engine.sql("CREATE VIEW two AS SELECT k, x FROM latest(bids, rows => 2) AS b")
    append(engine, "bids", (4, 3, "a"), (6, 4, "b"))
    assert {tuple(row.values()) for row in engine.sql("FROM v").to_pylist()} == {("a", 1), ("b", 4)}
    found = {tuple(row.values()) for row in engine.sql("FROM two").to_pylist()}
    assert found == {("a", 1), ("a", 3), ("b", 2), ("b", 4)}


# Tables below a stream


BELOW = "SELECT k, sum(x * v) AS n FROM bids JOIN names USING (k) GROUP BY k"


@pytest.mark.parametrize(
    "text",
    [
        "INSERT INTO names VALUES ('c', 4)",
        "INSERT INTO main.names VALUES ('c', 4)",
        "INSERT OR IGNORE INTO Names VALUES ('c', 4)",
        "INSERT INTO names BY NAME SELECT 'c' AS k",
        "UPDATE names SET v = 1",
        "DELETE FROM names",
        "WITH q AS (SELECT 1) DELETE FROM memory.main.names",
        "TRUNCATE names",
        "MERGE INTO names USING (SELECT 'a' AS k) q ON q.k = names.k WHEN MATCHED THEN DELETE",
        "COPY names FROM 'names.csv'",
        "EXPLAIN ANALYZE INSERT INTO names VALUES ('c', 4)",
        "EXPLAIN ANALYZE DELETE FROM names",
        "PREPARE p AS DELETE FROM names",
        "CREATE TEMP TABLE names (k TEXT, v BIGINT)",
        "DROP TABLE names",
        "ALTER TABLE names RENAME TO others",
        "CREATE OR REPLACE TABLE names AS SELECT 'a' AS k, 9 AS v",
    ],
)
def test_a_table_below_a_stream_stays_as_it_is(engine: Engine, text: str) -> None:
    engine.sql(f"CREATE VIEW v AS {BELOW}")
    append(engine, "bids", (1, 5))
    with pytest.raises(StatementError, match="names") as caught:
        engine.sql(text)
    assert caught.value.hint
    assert engine.sql("SELECT count(*) AS n, sum(v) AS v FROM names").to_pylist() == [
        {"n": 2, "v": 5}
    ]
    assert engine.sql("FROM v").to_pylist() == [{"k": "a", "n": 10}]


def test_a_table_behind_with_of_the_same_name_cannot_be_dropped(engine: Engine) -> None:
    sums = "SELECT k, sum(x) AS n FROM bids GROUP BY k"
    text = f"WITH names AS (FROM names) SELECT n, v FROM ({sums}) JOIN names USING (k)"
    engine.sql(f"CREATE VIEW v AS {text}")
    with pytest.raises(StatementError, match="names"):
        engine.sql("DROP TABLE names")


def test_rows_of_a_stream_cannot_meet_a_view_that_reads_the_clock(engine: Engine) -> None:
    engine.sql("CREATE VIEW moments AS SELECT 'a' AS k, now() AS t")
    text = "SELECT t, sum(x) AS n FROM {} JOIN moments USING (k) GROUP BY t"
    with pytest.raises(StatementError, match=r"bids are combined with a view that calls now\(\)"):
        engine.sql(f"CREATE VIEW v AS {text.format('bids')}")
    engine.sql(f"CREATE VIEW v AS {text.format('(SELECT k, sum(x) AS x FROM bids GROUP BY k)')}")
    append(engine, "bids", (1, 5))
    assert engine.sql("SELECT n FROM v").to_pylist() == [{"n": 5}]


def test_a_table_below_a_stream_may_be_read_and_changes_again_without_the_view(
    engine: Engine,
) -> None:
    engine.sql(f"CREATE VIEW v AS {BELOW}")
    for text in (
        "CREATE TABLE copied AS FROM names",
        "INSERT INTO copied FROM names",
        "DELETE FROM copied USING names WHERE copied.k = names.k",
        "EXPLAIN INSERT INTO copied FROM names",
        "EXPLAIN ANALYZE SELECT * FROM names",
    ):
        engine.sql(text)
    engine.sql("DROP VIEW v")
    engine.sql("DELETE FROM names")
    engine.sql("DROP TABLE names")


def test_a_view_keeps_what_it_computed_of_a_table(engine: Engine) -> None:
    engine.sql("CREATE MACRO rates() AS TABLE SELECT k, v FROM names")
    for name, source in (("called", "rates() AS r"), ("selected", "(SELECT * FROM rates()) AS r")):
        query = f"SELECT k, sum(x * v) AS n FROM bids JOIN {source} USING (k) GROUP BY k"
        engine.sql(f"CREATE VIEW {name} AS {query}")
    append(engine, "bids", (1, 5))
    engine.sql("UPDATE names SET v = 100")
    append(engine, "bids", (2, 5))
    for name in ("called", "selected"):
        assert engine.sql(f"FROM {name}").to_pylist() == [{"k": "a", "n": 20}]


def test_rows_do_not_meet_a_macro_that_reads_a_table(engine: Engine) -> None:
    engine.sql("CREATE MACRO most() AS (SELECT max(v) FROM names)")
    engine.sql("CREATE MACRO twice(z) AS z * 2 * most()")
    for call in ("x * most()", "twice(x)"):
        with refused(StatementError, "bids", "which may change"):
            engine.sql(f"CREATE VIEW v AS SELECT sum({call}) AS n FROM bids")
    engine.sql("CREATE VIEW v AS SELECT k, twice(n) AS n FROM sums")
    append(engine, "bids", (1, 5))
    assert engine.sql("FROM v").to_pylist() == [{"k": "a", "n": 30}]
    engine.sql("UPDATE names SET v = 100")
    assert engine.sql("FROM v").to_pylist() == [{"k": "a", "n": 1000}]


@pytest.mark.parametrize("text", ["CREATE OR REPLACE MACRO f(z) AS z * 100", "DROP MACRO f"])
def test_a_macro_in_a_view_stays_as_it_is(engine: Engine, text: str) -> None:
    engine.sql("CREATE MACRO f(z) AS z + 1")
    engine.sql("CREATE VIEW v AS SELECT f(sum(x)) AS a, sum(f(x)) AS b FROM bids")
    append(engine, "bids", (1, 5), (2, 6))
    with pytest.raises(StatementError, match="v"):
        engine.sql(text)
    append(engine, "bids", (3, 1))
    assert engine.sql("FROM v").to_pylist() == [{"a": 13, "b": 15}]


@pytest.mark.parametrize("text", ["SET TimeZone = 'Asia/Tokyo'", "SET default_collation = nocase"])
def test_a_setting_that_changes_results_stays_as_it_is(engine: Engine, text: str) -> None:
    with pytest.raises(StatementError, match="sums"):
        engine.sql(text)


# What is planned for nothing


@pytest.mark.parametrize(
    "query",
    [
        "SELECT s.k, count(*) AS n FROM bids AS s JOIN sums AS v ON v.k = s.k GROUP BY s.k",
        "SELECT s.k, rank() OVER (ORDER BY v.n) AS n FROM bids AS s JOIN sums AS v ON v.k = s.k",
    ],
)
def test_a_standing_query_that_is_refused_gives_back_the_views_that_it_read(
    engine: Engine, query: str
) -> None:
    lent = "SELECT view_name FROM duckdb_views() WHERE NOT internal"
    before = engine._duck.rows(lent)
    with pytest.raises(QueryError):
        engine.continuous_query(query)
    assert engine._duck.rows(lent) == before


def test_a_standing_query_joins_rows_with_a_view_as_it_is_then(
    engine: Engine, clock: ManualClock
) -> None:
    query = engine.continuous_query("SELECT b.x, v.n FROM bids AS b JOIN sums AS v ON v.k = b.k")
    append(engine, "bids", (1, 5))
    [first] = query.results()
    append(engine, "bids", (2, 7))
    [second] = query.results()
    assert [first.table.to_pylist(), second.table.to_pylist()] == [
        [{"x": 5, "n": 5}],
        [{"x": 7, "n": 12}],
    ]
