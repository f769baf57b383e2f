"""A query that is asked again is not read again, and answers from what there is at the time."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.queries.setting import append
from upstream import Engine, ManualClock
from upstream.database.duck import Duck
from upstream.errors import QueryError
from upstream.queries import known_queries as module
from upstream.queries import sql
from upstream.queries.known_queries import KnownQueries
from upstream.queries.sql import Statement

SUMS = "SELECT k, sum(x) AS n FROM bids GROUP BY k"


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were parsed."""
    texts: list[str] = []
    parse = sql.parse

    def parsed(text: str, duck: Duck) -> Statement:
        texts.append(text)
        return parse(text, duck)

    monkeypatch.setattr(sql, "parse", parsed)
    return texts


def known(engine: Engine) -> KnownQueries:
    return engine._statements._known


def lent(engine: Engine) -> list[str]:
    rows = engine._duck.rows("SELECT view_name FROM duckdb_views() WHERE NOT internal")
    return [name for (name,) in rows]


def values(engine: Engine, text: str) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in engine.sql(text).to_pylist()]


# What is read once


@pytest.mark.parametrize(
    "text",
    [
        "SELECT count(*) AS n FROM bids",
        "SELECT count(*) AS n FROM latest(bids)",
        "SELECT n FROM sums",
        "SELECT v FROM names",
        "SELECT b.x, s.n, t.v FROM bids b JOIN sums s USING (k) JOIN names t USING (k)",
        "WITH q AS (SELECT x FROM bids) SELECT max(x) AS x FROM q",
        "SELECT 1 AS one",
        "SELECT v FROM viewed",
        "SELECT twice(v) AS v FROM names",
    ],
)
def test_a_text_is_parsed_once(engine: Engine, read: list[str], text: str) -> None:
    engine.sql("CREATE TABLE names AS SELECT 'a' AS k, 2 AS v")
    engine.sql("CREATE VIEW viewed AS FROM names")
    engine.sql("CREATE MACRO twice(x) AS 2 * x")
    engine.sql(f"CREATE VIEW sums AS {SUMS}")
    append(engine, "bids", (1, 5))
    read.clear()
    first = engine.sql(text)
    for _ in range(3):
        assert engine.sql(text).equals(first)
    assert read == [text]


def test_a_text_that_is_written_otherwise_is_parsed_on_its_own(
    engine: Engine, read: list[str]
) -> None:
    texts = ["SELECT x FROM bids", "SELECT  x FROM bids", "SELECT x FROM asks"]
    for text in texts * 2:
        engine.sql(text)
    assert read == texts


def test_each_answer_is_over_the_rows_at_its_time(engine: Engine, read: list[str]) -> None:
    text = "SELECT coalesce(sum(x), 0)::BIGINT AS n FROM bids"
    found = [values(engine, text)]
    for change in (
        lambda: append(engine, "bids", (1, 5)),
        lambda: append(engine, "bids", (2, 7), (2, 1, "b")),
        lambda: append(engine, "bids", (1, 100)),  # which is late
        lambda: engine.delete("bids", {"k": ["a"]}),
    ):
        change()
        found.append(values(engine, text))
    assert found == [[(0,)], [(5,)], [(8,)], [(8,)], [(1,)]]
    assert read == [text]


def test_the_clock_is_that_of_each_answer(engine: Engine, clock: ManualClock) -> None:
    text = "SELECT epoch(now()) AS t"
    for moment in (0.0, 50.0, 100.0):
        assert values(engine, text) == [(moment,)]
        clock.advance(50.0)


def test_a_query_that_fails_on_rows_answers_when_they_are_put_right(
    engine: Engine, read: list[str]
) -> None:
    text = "SELECT note::INT AS n FROM bids"
    assert values(engine, text) == []
    append(engine, "bids", (1, 1, "a", "x"))
    for _ in range(2):
        with pytest.raises(QueryError, match="'x'"):
            engine.sql(text)
    append(engine, "bids", (2, 1, "a", "4"))
    assert values(engine, text) == [(4,)]
    assert read == [text]


def test_a_query_that_fails_at_first_is_not_kept(engine: Engine) -> None:
    append(engine, "bids", (1, 1, "a", "x"))
    for text in ("SELECT note::INT AS n FROM bids", "SELECT y FROM bids", "SELEC"):
        with pytest.raises(QueryError):
            engine.sql(text)
    assert not known(engine)._queries


# Changes of what a query reads


def made(engine: Engine, kind: str, value: str, how: str = "") -> None:
    """Create `thing` as a stream, a view over a stream, a table, or a view of DuckDB."""
    if kind == "STREAM":
        type_of = "TEXT" if "'" in value else "BIGINT"
        engine.sql(f"CREATE {how} STREAM thing (v {type_of})")
        engine.sql(f"INSERT INTO thing VALUES ({value})")
    elif kind == "VIEW":
        engine.sql(f"CREATE {how} VIEW thing AS SELECT {value} AS v FROM (SELECT max(x) FROM bids)")
    else:
        engine.sql(f"CREATE {how} TABLE thing AS SELECT {value} AS v")


@pytest.mark.parametrize("kind", ["STREAM", "VIEW", "TABLE"])
@pytest.mark.parametrize("is_replaced", [True, False], ids=["replaced", "created anew"])
def test_what_is_made_anew_with_another_type_is_read_anew(
    engine: Engine, kind: str, *, is_replaced: bool
) -> None:
    made(engine, kind, "1")
    assert [values(engine, "SELECT v FROM thing") for _ in range(3)] == [[(1,)]] * 3
    if is_replaced:
        made(engine, kind, "'b'", "OR REPLACE")
    else:
        engine.sql(f"DROP {kind} thing")
        with pytest.raises(QueryError, match="thing"):
            engine.sql("SELECT v FROM thing")
        made(engine, kind, "'b'")
    assert [values(engine, "SELECT v FROM thing") for _ in range(3)] == [[("b",)]] * 3


@pytest.mark.parametrize("kind", ["STREAM", "VIEW", "TABLE"])
@pytest.mark.parametrize("other", ["STREAM", "VIEW", "TABLE"])
def test_a_name_may_be_given_to_something_else(engine: Engine, kind: str, other: str) -> None:
    made(engine, kind, "1")
    assert [values(engine, "FROM thing") for _ in range(3)] == [[(1,)]] * 3
    engine.sql(f"DROP {kind} thing")
    made(engine, other, "2")
    assert [values(engine, "FROM thing") for _ in range(3)] == [[(2,)]] * 3


@pytest.mark.parametrize(
    ("before", "text", "change", "after"),
    [
        ("CREATE TABLE t AS SELECT 1 AS a", "FROM t", "ALTER TABLE t ADD COLUMN b INT", (1, None)),
        ("CREATE TABLE t AS SELECT 1 AS a", "FROM t", "UPDATE t SET a = 2", (2,)),
        ("CREATE TABLE t AS SELECT 1 AS a", "SELECT count(*) FROM t", "DELETE FROM t", (0,)),
        ("SET VARIABLE v = 1", "SELECT getvariable('v') AS v", "SET VARIABLE v = 'x'", ("x",)),
        (
            "SET TimeZone = 'UTC'",
            "SELECT current_setting('TimeZone') AS z",
            "SET TimeZone = 'Asia/Tokyo'",
            ("Asia/Tokyo",),
        ),
        (
            "SET TimeZone = 'UTC'",
            "SELECT hour(now()) AS h",
            "SET TimeZone = 'Asia/Tokyo'",
            (9,),
        ),
        (
            "CREATE MACRO f(z) AS z + 1",
            "SELECT f(1) AS v",
            "CREATE OR REPLACE MACRO f(z) AS z + 5",
            (6,),
        ),
        (
            "CREATE VIEW d AS SELECT 1 AS a",
            "FROM d",
            "CREATE OR REPLACE VIEW d AS SELECT 'x' AS a, 2 AS b",
            ("x", 2),
        ),
        ("CREATE SCHEMA o", "SELECT current_schema() AS s", "USE o", ("o",)),
        (
            "CREATE TABLE t AS SELECT 1 AS a",
            "FROM t",
            "CREATE TEMP TABLE t AS SELECT 3 AS a",
            (3,),
        ),
    ],
)
def test_a_statement_that_changes_the_answer_is_followed(
    engine: Engine, before: str, text: str, change: str, after: tuple[object, ...]
) -> None:
    engine.sql(before)
    first = values(engine, text)
    assert [values(engine, text) for _ in range(2)] == [first] * 2
    engine.sql(change)
    assert first != [after]
    assert [values(engine, text) for _ in range(3)] == [[after]] * 3


def test_a_table_that_python_creates_takes_no_old_answer(engine: Engine) -> None:
    engine.create_table("given", {"a": [1]})
    assert [values(engine, "FROM given") for _ in range(2)] == [[(1,)]] * 2
    engine.sql("DROP TABLE given")
    engine.create_table("given", {"a": ["x"], "b": [2]})
    assert [values(engine, "FROM given") for _ in range(2)] == [[("x", 2)]] * 2


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM '{file}'",
        "SELECT * FROM read_csv('{file}')",
        "SELECT (SELECT sum(a) FROM '{file}') AS n, count(*) AS m FROM bids",
        "FROM viewed",
        "FROM called()",
        "SELECT summed() AS n",
        "SELECT count(*) AS n FROM glob('{folder}/*')",
        "FROM query('FROM viewed')",
        "FROM above",
        "SELECT count(*) AS n FROM bids, LATERAL glob('{folder}/*')",
        "SELECT count(*) AS n FROM latest(bids), above",
    ],
)
def test_a_file_is_read_as_it_is_at_the_time(engine: Engine, tmp_path: Path, text: str) -> None:
    file = tmp_path / "a.csv"
    file.write_text("a\n1\n")
    engine.sql(f"CREATE VIEW viewed AS SELECT * FROM '{file}'")
    engine.sql("CREATE VIEW above AS WITH viewed AS (FROM viewed) SELECT * FROM viewed")
    append(engine, "bids", (1, 5))
    engine.sql(f"CREATE MACRO called() AS TABLE SELECT * FROM '{file}'")
    engine.sql(f"CREATE MACRO summed() AS (SELECT sum(a) FROM '{file}')")
    text = text.format(file=file, folder=tmp_path)
    for _ in range(3):
        engine.sql(text)
    file.write_text("a,b\n2.5,x\n")
    (tmp_path / "b.csv").write_text("a\n")
    found = [values(engine, text) for _ in range(3)]
    known(engine).close()
    assert found == [values(engine, text)] * 3


def test_a_stream_that_a_query_fills_is_brought_up_to_date_first(engine: Engine) -> None:
    engine.sql("CREATE STREAM means KEY (k) WITH (semantics = 'update') AS SELECT k, x FROM bids")
    found = []
    for number in range(3):
        append(engine, "bids", (number, number + 5))
        found.append(values(engine, "SELECT x FROM means"))
    engine.query("means").close()
    append(engine, "bids", (3, 100))
    found.append(values(engine, "SELECT x FROM means"))
    assert found == [[(5,)], [(6,)], [(7,)], [(7,)]]


# How many are kept


def test_the_queries_that_were_asked_last_are_kept(
    engine: Engine, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST", 3)
    texts = [f"SELECT x + {i} AS x FROM bids" for i in range(4)]
    for text in [*texts[:3], texts[0], texts[3]]:
        engine.sql(text)
    assert [*known(engine)._queries] == [texts[2], texts[0], texts[3]]
    read.clear()
    for text in (texts[2], texts[0], texts[3], texts[1]):
        engine.sql(text)
    assert read == [texts[1]]


def test_a_hundred_are_kept_and_lend_no_more_than_their_columns(engine: Engine) -> None:
    for i in range(module._MOST + 20):
        engine.sql(f"SELECT x + {i} AS x FROM bids")
        assert len(lent(engine)) == 1
    assert len(known(engine)._queries) == module._MOST


@pytest.mark.parametrize(
    "change",
    [
        "DROP STREAM asks",
        "DROP VIEW sums",
        "DROP TABLE names",
        "CREATE TABLE more AS SELECT 1 AS a",
        "CREATE STREAM more (k TEXT)",
    ],
)
def test_nothing_is_lent_or_held_after_something_was_defined(engine: Engine, change: str) -> None:
    engine.sql("CREATE TABLE names AS SELECT 'a' AS k, 2 AS v")
    before = lent(engine)
    engine.sql(f"CREATE VIEW sums AS {SUMS}")
    for name in ("bids", "asks", "sums", "names"):
        engine.sql(f"FROM {name}")
        engine.sql(f"FROM {name}")
    assert len(known(engine)._queries) == 4
    engine.sql(change)
    assert not known(engine)._queries
    if change != "DROP VIEW sums":
        engine.sql("DROP VIEW sums")
    assert lent(engine) == before


def test_a_closed_engine_keeps_none() -> None:
    engine = Engine(clock=ManualClock())
    engine.sql("SELECT 1 AS one")
    queries = known(engine)
    assert queries._queries
    engine.close()
    assert not queries._queries


# Random statements

ASKED = ("FROM a", "SELECT a.v AS v, b.v AS w FROM a, b")
CHANGES: dict[str, Callable[[str, int], str]] = {
    "stream": lambda name, _: f"CREATE STREAM {name} (v BIGINT)",
    "stream anew": lambda name, _: f"CREATE OR REPLACE STREAM {name} (v TEXT, w BIGINT)",
    "view": lambda name, n: f"CREATE VIEW {name} AS SELECT {n} AS v FROM (SELECT max(v) FROM base)",
    "view anew": lambda name, _: f"CREATE OR REPLACE VIEW {name} AS SELECT max(v) AS v FROM base",
    "table": lambda name, n: f"CREATE TABLE {name} AS SELECT {n} AS v",
    "table anew": lambda name, n: f"CREATE OR REPLACE TABLE {name} AS SELECT 'x' AS w, {n} AS v",
    "rows": lambda name, n: f"INSERT INTO {name}(v) VALUES ({n})",
    "more rows": lambda _, n: f"INSERT INTO base VALUES ({n})",
    "no rows": lambda name, _: f"DELETE FROM {name}",
    "drop stream": lambda name, _: f"DROP STREAM {name}",
    "drop view": lambda name, _: f"DROP VIEW {name}",
    "drop table": lambda name, _: f"DROP TABLE {name}",
    "set": lambda _, n: f"SET VARIABLE n = {n}",
}


def outcome(engine: Engine, text: str) -> object:
    """Return the rows, or that the query fails."""
    try:
        table = engine.sql(text)
    except QueryError:
        return "fails"
    return table.schema, sorted(map(repr, table.to_pylist()))


@settings(max_examples=max(10, settings().max_examples // 4))
@given(
    steps=st.lists(
        st.tuples(st.sampled_from([*CHANGES]), st.sampled_from("ab"), st.integers(0, 5)),
        max_size=8,
    )
)
def test_a_known_query_answers_as_a_new_one_after_any_statements(
    steps: list[tuple[str, str, int]],
) -> None:
    with Engine(clock=ManualClock()) as engine:
        engine.sql("CREATE STREAM base (v BIGINT)")
        for change, name, number in steps:
            with suppress(QueryError, LookupError, ValueError):
                engine.sql(CHANGES[change](name, number))
            again = [outcome(engine, text) for text in ASKED for _ in range(2)]
            known(engine).close()
            assert again == [outcome(engine, text) for text in ASKED for _ in range(2)]
