"""Statements about views: each takes effect completely, or not at all with a reason and a hint."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from tests.queries.sql.example_streams import refused
from upstream import Engine, ManualClock
from upstream.errors import (
    NameTakenError,
    ParameterError,
    QueryError,
    QuerySyntaxError,
    StatementError,
    UnboundedQueryError,
    UnknownTableError,
)

SUMS = "SELECT k, sum(x) AS n FROM bids GROUP BY k"


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(clock=ManualClock()) as engine:
        engine.sql("CREATE STREAM bids (k TEXT, x BIGINT) KEY (k)")
        engine.sql("CREATE TABLE names (k TEXT, v BIGINT)")
        engine.sql("INSERT INTO names VALUES ('a', 2), ('b', 3)")
        engine.sql(f"CREATE VIEW Sums AS {SUMS}")
        yield engine


def feed(engine: Engine) -> None:
    engine.append("bids", {"k": ["a", "b", "a"], "x": [1, 2, 3]})


def rows(engine: Engine, text: str) -> list[tuple[object, ...]]:
    """Return the rows of a query as tuples, sorted."""
    return sorted((tuple(row.values()) for row in engine.sql(text).to_pylist()), key=repr)


def kept(engine: Engine) -> tuple[int, int, int]:
    """Return how many relations are lent, tables are our own, and readers the stream has."""
    lent = engine._duck.rows("SELECT view_name FROM duckdb_views() WHERE NOT internal")
    own = engine._duck.rows(
        "SELECT table_name FROM duckdb_tables() WHERE starts_with(table_name, '__static')"
    )
    return len(lent), len(own), len(engine._catalogue.streams["bids"].log._readers)


# Creating


def test_a_view_is_read_by_its_name_in_any_case(engine: Engine) -> None:
    feed(engine)
    for name in ("sums", "SUMS", '"sums"'):
        assert rows(engine, f"FROM {name}") == [("a", 4), ("b", 2)]
    assert rows(engine, "SELECT s.n FROM sums AS s JOIN names USING (k) WHERE v > 2") == [(2,)]
    assert list(engine.views) == ["Sums"]
    assert engine.view("sUMS").name == engine.views["Sums"].name == "Sums"


def test_a_stream_in_a_view_is_its_rows_since_the_view_was_made(engine: Engine) -> None:
    feed(engine)
    engine.sql(f"CREATE VIEW later AS {SUMS}")
    assert rows(engine, "FROM later") == []
    feed(engine)
    assert rows(engine, "FROM later") == [("a", 4), ("b", 2)]
    assert rows(engine, "FROM sums") == [("a", 8), ("b", 4)]


def test_a_view_names_its_first_columns_or_all(engine: Engine) -> None:
    engine.sql(f'CREATE VIEW one ("a key") AS {SUMS}')
    engine.sql(f"CREATE VIEW all_named (c, d) AS {SUMS}")
    feed(engine)
    assert engine.sql("FROM one").schema.names == ["a key", "n"]
    assert rows(engine, 'SELECT "A KEY" FROM one') == [("a",), ("b",)]
    assert rows(engine, "SELECT d FROM all_named") == [(2,), (4,)]


@pytest.mark.parametrize(
    ("columns", "query", "reason"),
    [
        ("(a, b, c)", SUMS, "3 columns are named, and the query returns 2"),
        ("(n)", SUMS, "two columns named n"),
        ("", "SELECT min(x) AS m, max(x) AS M FROM bids", "two columns named M"),
        ("", "SELECT count(*), count(*) FROM bids", "two columns named count"),
    ],
)
def test_columns_that_do_not_fit_leave_nothing_behind(
    engine: Engine, columns: str, query: str, reason: str
) -> None:
    joined = query.replace("FROM bids", "FROM bids JOIN names USING (k)")
    for text in (query, joined):
        before = kept(engine)
        with refused(StatementError, f"bad{columns}", reason):
            engine.sql(f"CREATE VIEW bad{columns} AS {text}")
        assert kept(engine) == before
    assert list(engine.views) == ["Sums"]


@pytest.mark.parametrize(
    ("query", "kind", "place"),
    [
        ("SELECT k, x FROM bids", UnboundedQueryError, "bids"),
        ("SELECT k, summ(x) FROM bids", QueryError, "summ"),
        ("SELECT k, sum(y) FROM bids GROUP BY k", QueryError, "y)"),
        ("SELECT sum(b.x * n.n) AS n FROM bids AS b JOIN sums AS n USING (k)", StatementError, "b"),
        ("SELECT count(*) AS n FROM nothing, bids", QueryError, "nothing"),
        ("SELECT count(*) AS n FROM hop(bids, 10, 5), bids AS b", QueryError, "hop"),
        ("SELECT count(* FROM bids", QuerySyntaxError, "FROM"),
    ],
)
def test_a_query_that_is_refused_leaves_nothing_behind(
    engine: Engine, query: str, kind: type[QueryError], place: str
) -> None:
    before = kept(engine)
    with refused(kind, place):
        engine.sql(f"CREATE VIEW bad AS {query}")
    assert kept(engine) == before
    assert list(engine.views) == ["Sums"]
    with pytest.raises(UnknownTableError, match="bad") as caught:
        engine.sql("FROM bad")
    assert "__" not in caught.value.hint


def test_the_place_of_an_error_is_that_in_the_whole_statement(engine: Engine) -> None:
    with refused(QueryError, "wrong") as caught:
        engine.sql("CREATE VIEW v AS\nSELECT k,\n  sum(wrong) AS n FROM bids GROUP BY k")
    assert (caught.value.line, caught.value.column) == (3, 7)


@pytest.mark.parametrize("word", ["TEMP", "TEMPORARY", "RECURSIVE", "MATERIALIZED"])
def test_a_view_over_streams_has_no_other_kind(engine: Engine, word: str) -> None:
    with refused(StatementError, word, f"cannot be {word}"):
        engine.sql(f"CREATE {word} VIEW v AS {SUMS}")


def test_an_option_that_does_not_exist_is_refused(engine: Engine) -> None:
    with refused(QuerySyntaxError, "'skip'", "no option on_eror") as caught:
        engine.sql(f"CREATE VIEW v WITH (on_eror = 'skip') AS {SUMS}")
    assert caught.value.hint == "did you mean on_error?"
    with refused(QuerySyntaxError, "op", "no option signs") as caught:
        engine.sql(f"CREATE VIEW v WITH (signs = op) AS {SUMS}")
    assert caught.value.hint == "did you mean sign?"
    with refused(QuerySyntaxError, "'stop'", "on_error must be 'skip' or 'fail'"):
        engine.sql(f"CREATE VIEW v WITH (on_error = 'stop') AS {SUMS}")


@pytest.mark.parametrize(
    "option", ["sign = 'op'", "on_error = 'skip'", "max_staleness = INTERVAL '5 seconds'"]
)
def test_a_view_that_reads_no_stream_has_no_options(engine: Engine, option: str) -> None:
    name, _, value = option.partition(" = ")
    with refused(StatementError, value, f"only a view over streams has the option {name}"):
        engine.sql(f"CREATE VIEW v WITH ({option}) AS SELECT k FROM names")
    assert not engine._duck.has_table("v")


# Names that are taken


@pytest.mark.parametrize("begin", ["CREATE VIEW", "CREATE OR REPLACE VIEW"])
@pytest.mark.parametrize(("name", "kind"), [("BIDS", "stream"), ("Names", "table")])
def test_a_view_cannot_take_the_name_of_something_else(
    engine: Engine, begin: str, name: str, kind: str
) -> None:
    with pytest.raises(NameTakenError, match=f"a {kind} named"):
        engine.sql(f"{begin} {name} AS SELECT count(*) AS n FROM bids")
    assert rows(engine, "SELECT count(*) FROM names") == [(2,)]


@pytest.mark.parametrize(
    "text",
    [
        "CREATE VIEW sums AS SELECT count(*) AS n FROM bids",
        "CREATE VIEW SUMS AS SELECT 1 AS a",
        "CREATE STREAM sums (a INT)",
        "CREATE OR REPLACE STREAM Sums (a INT)",
        "CREATE TABLE sums (a INT)",
        "CREATE OR REPLACE TABLE sums AS SELECT 1 AS a",
        "CREATE TEMP TABLE sums (a INT)",
        "ALTER TABLE names RENAME TO sums",
        "CREATE TEMP VIEW sums AS SELECT 1 AS a",
        "CREATE OR REPLACE VIEW sums AS SELECT 1 AS a",
        "CREATE VIEW IF NOT EXISTS sums AS SELECT 1 AS a",
    ],
)
def test_nothing_else_can_take_the_name_of_a_view(engine: Engine, text: str) -> None:
    feed(engine)
    with pytest.raises((NameTakenError, StatementError), match=r"(?i)sums"):
        engine.sql(text)
    assert rows(engine, "FROM sums") == [("a", 4), ("b", 2)]


def test_create_table_cannot_take_the_name_of_a_view(engine: Engine) -> None:
    with pytest.raises(NameTakenError, match="a view named"):
        engine.create_table("sums", {"a": [1]})


# Replacing and dropping


def test_a_view_that_exists_stays_as_it_is_with_if_not_exists(engine: Engine) -> None:
    feed(engine)
    engine.sql("CREATE VIEW IF NOT EXISTS sums AS SELECT count(*) AS n FROM bids")
    engine.sql("CREATE VIEW IF NOT EXISTS other AS SELECT count(*) AS n FROM bids")
    assert rows(engine, "FROM sums") == [("a", 4), ("b", 2)]
    assert rows(engine, "FROM other") == [(0,)]


def test_a_view_is_replaced_and_begins_anew(engine: Engine) -> None:
    feed(engine)
    before = kept(engine)
    engine.sql("CREATE OR REPLACE VIEW SUMS AS SELECT max(x) AS m FROM bids")
    assert kept(engine)[2] == before[2]
    assert rows(engine, "FROM sums") == [(None,)]
    feed(engine)
    assert rows(engine, "FROM sums") == [(3,)]
    assert list(engine.views) == ["SUMS"]


def test_a_view_that_cannot_be_replaced_stays_as_it_was(engine: Engine) -> None:
    feed(engine)
    before = kept(engine)
    for query in ("SELECT x FROM bids", "SELECT max(n) AS n FROM sums", "SELECT nothing FROM bids"):
        with pytest.raises(QueryError):
            engine.sql(f"CREATE OR REPLACE VIEW sums AS {query}")
    assert kept(engine) == before
    feed(engine)
    assert rows(engine, "FROM sums") == [("a", 8), ("b", 4)]


def test_a_view_cannot_read_itself(engine: Engine) -> None:
    with refused(StatementError, "sums AS", "cannot read itself") as caught:
        engine.sql("CREATE OR REPLACE VIEW sums AS SELECT max(n) AS n FROM Sums")
    assert "DROP VIEW" in caught.value.hint
    with pytest.raises(UnknownTableError, match="fresh"):
        engine.sql("CREATE VIEW fresh AS SELECT k FROM fresh, latest(bids)")


def test_what_others_read_is_neither_dropped_nor_replaced(engine: Engine) -> None:
    engine.sql("CREATE VIEW most AS SELECT max(n) AS n FROM sums")
    query = engine.continuous_query("SELECT b.k, n FROM bids b JOIN sums s USING (k)", name="named")
    for text in ("DROP VIEW sums", f"CREATE OR REPLACE VIEW sums AS {SUMS}"):
        with refused(StatementError, "sums", "others read it: named, most"):
            engine.sql(text)
    with refused(StatementError, "bids", "named, Sums"):
        engine.sql("DROP STREAM bids")
    query.close()
    engine.sql("DROP VIEW most")
    engine.sql("DROP VIEW sums")
    engine.sql("DROP STREAM bids")
    assert not engine.views


def test_a_view_that_is_dropped_leaves_nothing_behind(engine: Engine) -> None:
    before = kept(engine)
    engine.sql(
        "CREATE VIEW v AS SELECT q.k, q.n, l.x, s.n AS all_of FROM latest(bids) AS l JOIN sums AS s"
        " USING (k) JOIN (SELECT k, sum(x * v) AS n FROM bids JOIN names USING (k) GROUP BY k) AS q"
        " USING (k)"
    )
    feed(engine)
    assert rows(engine, "FROM v") == [("a", 8, 3, 4), ("b", 6, 2, 2)]
    assert kept(engine)[1] == 1
    view = engine.view("v")
    engine.sql("DROP VIEW v")
    lent, own, readers = kept(engine)
    assert (own, readers) == before[1:]
    assert lent <= before[0] + 1  # the partials of the other view, which has been read
    assert view.statistics().rows_read == 3
    engine.sql("DROP VIEW sums")
    assert kept(engine) == (0, 0, 1)


@pytest.mark.parametrize(
    ("text", "reason", "hint"),
    [
        ("DROP VIEW bids", "is a stream, and not a view", "DROP STREAM bids"),
        ("DROP TABLE sums", "is a view", "DROP VIEW Sums"),
        ("DROP VIEW sums CASCADE", "CASCADE is not supported", "drop first what reads it"),
        ("DROP VIEW sums, names", "is a view", "DROP VIEW Sums"),
    ],
)
def test_what_cannot_be_dropped_like_this_stays(
    engine: Engine, text: str, reason: str, hint: str
) -> None:
    with pytest.raises(StatementError, match=reason) as caught:
        engine.sql(text)
    assert hint in caught.value.hint
    assert list(engine.views) == ["Sums"]


def test_a_missing_view_is_an_error_unless_the_statement_allows_it(engine: Engine) -> None:
    with pytest.raises(QueryError, match="missing"):
        engine.sql("DROP VIEW missing")
    engine.sql("DROP VIEW IF EXISTS missing")
    with pytest.raises(QueryError, match="names"):
        engine.sql("DROP VIEW names")


# A view is read-only


@pytest.mark.parametrize(
    "text",
    [
        "INSERT INTO sums VALUES ('z', 1)",
        "INSERT INTO Sums (k) SELECT k FROM names",
        "UPDATE sums SET n = 1",
        "DELETE FROM sums",
        "DELETE FROM sums WHERE n > 1",
        "TRUNCATE sums",
        "MERGE INTO sums USING names ON sums.k = names.k WHEN MATCHED THEN DELETE",
        "COPY sums FROM 'sums.csv'",
        "ALTER TABLE sums ADD COLUMN z INT",
        "ALTER VIEW sums RENAME TO others",
        "CREATE INDEX i ON sums (k)",
    ],
)
def test_a_view_is_read_only(engine: Engine, text: str) -> None:
    feed(engine)
    with pytest.raises(StatementError, match="is a view, and views are read-only") as caught:
        engine.sql(text)
    assert caught.value.hint
    assert caught.value.column == text.lower().index("sums") + 1
    assert rows(engine, "FROM sums") == [("a", 4), ("b", 2)]


def test_rows_cannot_be_appended_to_a_view(engine: Engine) -> None:
    with pytest.raises(ParameterError, match="Sums is a view, which is filled by its query"):
        engine.append("sums", {"k": ["z"], "n": [1]})


# Reading


def test_other_statements_read_a_view_like_a_table(engine: Engine, tmp_path: Path) -> None:
    feed(engine)
    engine.sql("CREATE TABLE copied AS FROM sums")
    engine.sql("INSERT INTO names SELECT k, n FROM sums WHERE n > 2")
    engine.sql("INSERT INTO bids SELECT k, n FROM sums WHERE n > 2")
    file = tmp_path / "sums.csv"
    engine.sql(f"COPY (SELECT k, n FROM sums ORDER BY k) TO '{file}'")
    assert rows(engine, "FROM copied") == [("a", 4), ("b", 2)]
    assert rows(engine, "SELECT count(*) FROM names") == [(3,)]
    assert file.read_text() == "k,n\na,8\nb,2\n"
    assert rows(engine, "FROM copied") == [("a", 4), ("b", 2)]


def test_a_view_is_listed_and_described(engine: Engine) -> None:
    assert engine.sql("SHOW TABLES")["name"].to_pylist() == ["Sums", "bids", "names"]
    columns = engine.sql("DESCRIBE sums").select(["column_name", "column_type"]).to_pylist()
    assert [tuple(each.values()) for each in columns] == [("k", "VARCHAR"), ("n", "BIGINT")]
    assert engine.sql("DESCRIBE SELECT n FROM sums").num_rows == 1
    assert engine.sql("SUMMARIZE sums").num_rows == 2


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("WITH sums AS (SELECT 7 AS n) SELECT n FROM sums", [(7,)]),
        ("WITH bids AS (SELECT 7 AS x) SELECT x, max(n) FROM bids, sums GROUP BY x", [(7, 4)]),
        ("SELECT sums.v FROM names AS sums WHERE v > 2", [(3,)]),
        ("SELECT (WITH sums AS (SELECT 5 AS n) SELECT n FROM sums) + max(n) FROM sums", [(9,)]),
    ],
)
def test_a_name_in_the_query_hides_the_view(
    engine: Engine, text: str, found: list[tuple[object, ...]]
) -> None:
    feed(engine)
    assert rows(engine, text) == found


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("WITH q AS (SELECT k FROM bids), bids AS (SELECT count(*) AS n FROM q) FROM bids", [(3,)]),
        ("SELECT (WITH bids AS (SELECT 5 AS x) SELECT x FROM bids) + count(*) FROM bids", [(8,)]),
        ("WITH sums AS (SELECT 1 AS n) SELECT sums.n, count(*) AS m FROM bids, sums GROUP BY 1", 0),
        ("SELECT bids.n FROM sums AS bids WHERE n > 3", [(4,)]),
    ],
)
def test_a_name_in_the_query_of_a_view_hides_what_has_it(
    engine: Engine, query: str, found: list[tuple[object, ...]] | int
) -> None:
    engine.sql(f"CREATE VIEW v AS {query}")
    feed(engine)
    assert rows(engine, "FROM v") == (found or [(1, 3)])


def test_names_may_be_quoted_and_have_any_characters(engine: Engine) -> None:
    engine.sql('CREATE STREAM "a stream.x" (k TEXT, "a b" INT) KEY (k)')
    engine.sql('CREATE VIEW "My View.y" AS SELECT sum("A B") AS "s.m" FROM "A STREAM.X"')
    engine.sql('CREATE VIEW "a""b" AS SELECT max("S.M") AS "group" FROM "my view.Y"')
    engine.append("a stream.x", {"k": ["a", "b"], "a b": [1, 2]})
    assert rows(engine, 'SELECT v."group" FROM "A""B" AS v') == [(3,)]
    assert "My View.y" in engine.sql('EXPLAIN "a""b"')["explain_value"][0].as_py()
    with pytest.raises(StatementError, match="others read it"):
        engine.sql('DROP VIEW "my view.y"')
    engine.sql('DROP VIEW "a""b"')
    engine.sql('DROP VIEW "my view.y"')


def test_a_view_may_have_the_name_of_a_function_in_from(engine: Engine) -> None:
    engine.sql("CREATE VIEW latest AS SELECT count(*) AS n FROM bids")
    engine.sql("CREATE VIEW v AS SELECT l.x, latest.n FROM latest(bids) AS l, latest")
    feed(engine)
    assert rows(engine, "FROM v") == [(2, 3), (3, 3)]


# DuckDB's own views


def test_a_view_without_a_stream_is_duckdbs(engine: Engine) -> None:
    engine.sql("CREATE VIEW plain AS SELECT max(v) AS v FROM names")
    engine.sql("CREATE TEMP VIEW words AS SELECT 'bids' AS bids, 1 AS sums")
    engine.sql("CREATE OR REPLACE VIEW plain AS SELECT min(v) AS v FROM names")
    engine.sql(
        "CREATE RECURSIVE VIEW r (n) AS VALUES (1) UNION ALL SELECT n + 1 FROM r WHERE n < 3"
    )
    assert list(engine.views) == ["Sums"]
    assert rows(engine, "FROM plain") == [(2,)]
    assert rows(engine, "FROM words") == [("bids", 1)]
    assert rows(engine, "SELECT count(*) FROM r") == [(3,)]
    with pytest.raises(NameTakenError, match="a table named"):
        engine.sql(f"CREATE OR REPLACE VIEW plain AS {SUMS}")
    engine.sql("DROP VIEW plain")
    engine.sql(f"CREATE VIEW plain AS {SUMS}")
    assert list(engine.views) == ["Sums", "plain"]


def test_a_view_over_streams_reads_views_of_duckdb(engine: Engine) -> None:
    engine.sql("CREATE VIEW known AS SELECT k FROM names WHERE v > 2")
    engine.sql("CREATE VIEW v AS SELECT s.k, n FROM sums AS s JOIN known USING (k)")
    feed(engine)
    assert rows(engine, "FROM v") == [("b", 2)]
    engine.sql("UPDATE names SET v = 9")
    assert rows(engine, "FROM v") == [("a", 4), ("b", 2)]
    for text in ("DROP VIEW known", "CREATE OR REPLACE VIEW known AS SELECT 1 AS k"):
        with pytest.raises(StatementError, match="v"):
            engine.sql(text)


# EXPLAIN


def test_explain_describes_a_view_or_a_standing_query(engine: Engine) -> None:
    engine.continuous_query("SELECT k FROM bids", name="each bid")
    view = engine.sql("EXPLAIN sums").to_pylist()
    assert view == [
        {"explain_key": "continuous_view", "explain_value": engine.view("sums").explain()}
    ]
    [query] = engine.sql('EXPLAIN "each bid"').to_pylist()
    assert query["explain_key"] == "standing_query"
    assert "no rows are kept" in query["explain_value"]
    with refused(UnknownTableError, "sumz", "no view or standing query named sumz") as caught:
        engine.sql("EXPLAIN sumz")
    assert caught.value.hint == "did you mean Sums?"


def test_explain_of_a_statement_is_that_of_duckdb(engine: Engine) -> None:
    feed(engine)
    [plan] = engine.sql("EXPLAIN SELECT * FROM sums").to_pylist()
    assert plan["explain_key"] == "physical_plan"


def test_statements_about_views_return_no_rows(engine: Engine) -> None:
    for text in (f"CREATE VIEW v AS {SUMS}", "DROP VIEW v"):
        assert engine.sql(text).equals(pa.table({}))
