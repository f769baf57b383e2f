"""The kinds of statements are distinguished, and all of them are values."""

from __future__ import annotations

import pytest

from upstream.database.duck import Duck
from upstream.queries.sql import (
    CreateStream,
    CreateView,
    DropStream,
    DropView,
    ExplainName,
    InsertInto,
    OtherStatement,
    ParsedQuery,
    parse,
    read_query,
)

from .example_streams import STREAMS


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("CREATE STREAM s (a INT) KEY (a)", CreateStream),
        ("create or replace stream s (a int) key (a);", CreateStream),
        ("-- so\nCREATE /* a */ STREAM s (a INT) KEY (a)", CreateStream),
        ("DROP STREAM s", DropStream),
        ("INSERT INTO s VALUES (1)", InsertInto),
        ("WITH x AS (SELECT 1) INSERT INTO s FROM x", InsertInto),
        ("INSERT INTO s DEFAULT VALUES", InsertInto),
        ("INSERT INTO main.s VALUES (1)", OtherStatement),
        ("SELECT 1", OtherStatement),
        ("CREATE TABLE stream (a INT)", OtherStatement),
        ("DROP TABLE stream", OtherStatement),
        ("CREATE VIEW v AS SELECT 1", CreateView),
        ("CREATE OR REPLACE TEMP VIEW v AS SELECT 1", CreateView),
        ("CREATE VIEW main.v AS SELECT 1", OtherStatement),
        ("DROP VIEW IF EXISTS v", DropView),
        ("DROP VIEW main.v", OtherStatement),
        ("EXPLAIN v", ExplainName),
        ("UPDATE t SET a = 1", OtherStatement),
        ("EXPLAIN SELECT 1", OtherStatement),
        ("PRAGMA database_list", OtherStatement),
        ("CALL f()", OtherStatement),
    ],
)
def test_kinds_of_statements_are_distinguished(text: str, kind: type[object], duck: Duck) -> None:
    statement = parse(text, duck)
    assert type(statement) is kind
    assert statement.text == text


@pytest.mark.parametrize(
    ("text", "is_exact"),
    [
        ("SELECT 1", True),
        ("FROM t", True),
        ("(SELECT 1) UNION SELECT 2", True),
        ("WITH x AS (SELECT 1) FROM x", True),
        ("CREATE TABLE t AS SELECT 1", False),
        ("DELETE FROM t", False),
        ("SUMMARIZE t", False),
    ],
)
def test_queries_are_distinguished_from_other_statements(
    text: str, is_exact: bool, duck: Duck
) -> None:
    statement = parse(text, duck)
    assert isinstance(statement, OtherStatement)
    assert statement.is_exact is is_exact


def test_a_query_that_is_read_twice_is_the_same() -> None:
    text = "SELECT symbol, avg(price) FROM rows(trades, 10, 5) GROUP BY symbol"
    first, second = read_query(text, STREAMS), read_query(text, STREAMS)
    assert first == second
    assert first != read_query(text.replace("5", "2"), STREAMS)


def test_a_parsed_query_cannot_be_changed() -> None:
    parsed = read_query("SELECT 1", {})
    assert parsed == ParsedQuery("SELECT 1", parsed.query, ())
    with pytest.raises(AttributeError):
        parsed.windows = ()  # type: ignore[misc]  # that is the mistake


def test_a_parsed_query_says_which_tables_it_is_lent() -> None:
    text = "SELECT b.window_end FROM rows(news, 3) a JOIN tumble(ticks, 10) b ON true"
    parsed = read_query(text, STREAMS)
    assert parsed.bounds == {1}
    assert {name: schema.names for name, schema in parsed.schemas(STREAMS).items()} == {
        "chunk_0": ["k", "text"],
        "chunk_1": ["tick", "sensor"],
        "bounds_1": ["window_start", "window_end"],
    }


def test_chunks_of_epochs_have_the_hidden_columns_that_the_query_reads() -> None:
    text = """SELECT a.epoch, b.window_end FROM epochs(news, rows => 3) a
        JOIN epochs(ticks, rows => 3) b ON a.window_start IS NULL"""
    parsed = read_query(text, STREAMS)
    assert parsed.bounds == frozenset()
    assert parsed.hidden == {0: ("__epoch", "__window_start"), 1: ("__window_end",)}
    assert {name: schema.names for name, schema in parsed.schemas(STREAMS).items()} == {
        "chunk_0": ["k", "text", "__epoch", "__window_start"],
        "chunk_1": ["tick", "sensor", "__window_end"],
    }
    assert parsed.schema_of(1, STREAMS["ticks"]) == parsed.schemas(STREAMS)["chunk_1"]
