"""CREATE STREAM, DROP STREAM and INSERT INTO are parsed, or refused with a place."""

from __future__ import annotations

import pytest

from upstream.database.duck import Duck
from upstream.errors import QueryError, QuerySyntaxError, StatementError, UnknownColumnError
from upstream.queries.into import NamedAt, ResultsInto
from upstream.queries.sql import CreateStream, CreateStreamAs, DropStream, InsertInto, parse

from .example_streams import refused, shown


def created(text: str, duck: Duck) -> CreateStream:
    statement = parse(text, duck)
    assert isinstance(statement, CreateStream)
    return statement


def test_a_stream_has_columns_a_key_and_a_time(duck: Duck) -> None:
    stream = created(
        "CREATE STREAM Trades (t TIMESTAMP, symbol TEXT, price DECIMAL(8, 2)) KEY (SYMBOL) TIME(T)",
        duck,
    )
    assert stream.name == "Trades"
    assert [each.sql("duckdb") for each in stream.columns] == [
        "t TIMESTAMP",
        "symbol TEXT",
        "price DECIMAL(8, 2)",
    ]
    assert (stream.key, stream.time) == (("symbol",), "t")
    assert not stream.or_replace
    assert not stream.if_not_exists
    assert stream.text[stream.place :].startswith("Trades")


def test_the_clauses_come_in_any_order_and_names_may_be_quoted(duck: Duck) -> None:
    stream = created(
        'CREATE STREAM "my s" ("a b" INT, "Key" INT[], c INT) TIME ("c") KEY (c, "a b")', duck
    )
    assert (stream.name, stream.key, stream.time) == ("my s", ("c", "a b"), "c")
    assert [each.name for each in stream.columns] == ["a b", "Key", "c"]


def test_a_time_need_not_be_said(duck: Duck) -> None:
    assert created("CREATE STREAM s (a INT) KEY (a)", duck).time is None


def test_a_stream_without_a_key_is_one_key(duck: Duck) -> None:
    assert created("CREATE STREAM s (a INT) TIME (a)", duck).key == ()


def test_create_stream_accepts_or_replace_and_if_not_exists(duck: Duck) -> None:
    assert created("CREATE OR REPLACE STREAM s (a INT) KEY (a)", duck).or_replace
    assert created("CREATE STREAM IF NOT EXISTS s (a INT) KEY (a)", duck).if_not_exists


@pytest.mark.parametrize(
    "clauses",
    [
        "KEY (a) TIME (b) SERVER stream",
        "SERVER stream TIME (b) KEY (a)",
        "KEY (a) server STREAM TIME (b)",
    ],
)
def test_a_foreign_table_of_the_server_stream_is_a_stream(clauses: str, duck: Duck) -> None:
    stream = created(f"CREATE FOREIGN TABLE S (a INT, b TIMESTAMP) {clauses}", duck)
    assert (stream.name, stream.key, stream.time) == ("S", ("a",), "b")
    assert stream.text[stream.place :].startswith("S (a")
    assert created("CREATE FOREIGN TABLE IF NOT EXISTS s (a INT) SERVER stream", duck).if_not_exists
    assert created("CREATE OR REPLACE FOREIGN TABLE s (a INT) SERVER stream", duck).or_replace
    dropped = parse("DROP FOREIGN TABLE IF EXISTS s", duck)
    assert dropped == DropStream("DROP FOREIGN TABLE IF EXISTS s", "s", if_exists=True, place=29)


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("CREATE FOREIGN TABLE s (a INT)", "", "expected SERVER stream"),
        ("CREATE FOREIGN TABLE s (a INT) SERVER mysql", "mysql", "only server is named stream"),
        ('CREATE FOREIGN TABLE s (a INT) SERVER "stream"', '"stream"', "only server"),
        ("CREATE FOREIGN TABLE s (a INT) SERVER stream SERVER stream", "stream", "once"),
        ("CREATE FOREIGN TABLE s (a INT) SERVER stream OPTIONS (a 'b')", "OPTIONS", "once each"),
        ("CREATE STREAM s (a INT) SERVER stream", "SERVER", "expected KEY"),
        ("CREATE FOREIGN TABLE SERVER stream", "stream", "expected the columns"),
    ],
)
def test_a_foreign_table_of_another_server_is_refused(
    text: str, place: str, reason: str, duck: Duck
) -> None:
    with refused(QuerySyntaxError, place, reason) as caught:
        parse(text, duck)
    assert "SERVER stream" in caught.value.hint or "FOREIGN" not in text


def test_words_of_the_grammar_may_be_names(duck: Duck) -> None:
    stream = created("CREATE STREAM stream (key INT, time TIMESTAMP) KEY (key) TIME (time)", duck)
    assert (stream.name, stream.key, stream.time) == ("stream", ("key",), "time")


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("CREATE STREAM", "", "expected the name"),
        ("CREATE STREAM 's' (a INT) KEY (a)", "'s'", "expected the name"),
        ("CREATE STREAM s", "", "expected the columns"),
        ("CREATE STREAM s KEY (a)", "", "expected KEY .* and then AS"),
        ("CREATE STREAM a.s (a INT) KEY (a)", ".s", "expected the columns"),
        ('CREATE STREAM "" (a INT)', '"" (a', "must not be empty"),
        ('CREATE STREAM s ("" INT)', "", "a name that is not empty"),
        ("CREATE STREAM s () KEY (a)", "() KEY", "a stream needs columns"),
        ("CREATE STREAM s (a INT", "", r"expected \)"),
        ("CREATE STREAM s (a) KEY (a)", "a)", "needs a name and a type"),
        ("CREATE STREAM s (a INT, PRIMARY KEY (a)) KEY (a)", "a))", "needs a name and a type"),
        ("CREATE STREAM s (a INT) KEY ()", ")", "the name of a column"),
        ("CREATE STREAM s (a INT) KEY a", "a", "in brackets"),
        ("CREATE STREAM s (a INT) KEY (a", "", "in brackets"),
        ("CREATE STREAM s (a INT) KEY (a, A)", "A)", "named twice"),
        ("CREATE STREAM s (a INT) KEY (a) KEY (a)", "(a)", "once each"),
        ("CREATE STREAM s (a INT) KEY (a) WITH (b)", "WITH", "expected KEY"),
        ("CREATE STREAM s (a INT, b INT) KEY (a) TIME (a, b)", "", "only one time column"),
        ("CREATE OR REPLACE STREAM IF NOT EXISTS s (a INT) KEY (a)", "s (", "cannot be combined"),
        ("CREATE STREAM chunk_0 (a INT) KEY (a)", "chunk_0", "reserved"),
        ("DROP STREAM", "", "expected the name"),
        ("DROP STREAM a, b", ", b", "end of the statement"),
    ],
)
def test_an_error_in_a_definition_has_its_place(
    text: str, place: str, reason: str, duck: Duck
) -> None:
    with refused(QuerySyntaxError, place, reason):
        parse(text, duck)


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("CREATE STREAM s (a INT NOT NULL) KEY (a)", "a INT", "cannot have constraints"),
        ("CREATE STREAM s (a INT, b INT DEFAULT 3) KEY (a)", "b INT", "cannot have constraints"),
        ("CREATE STREAM s (a INT, A TEXT) KEY (a)", "A TEXT", "named twice"),
        ("CREATE STREAM s (a INT, __s0 INT) KEY (a)", "__s0", "reserved"),
    ],
)
def test_columns_are_names_and_types_only(text: str, place: str, reason: str, duck: Duck) -> None:
    with refused(StatementError, place, reason):
        parse(text, duck)


@pytest.mark.parametrize("clauses", ["KEY (abd)", "KEY (abc) TIME (abd)"])
def test_a_key_or_time_that_is_not_a_column_is_refused(clauses: str, duck: Duck) -> None:
    with pytest.raises(UnknownColumnError, match="named abd") as caught:
        parse(f"CREATE STREAM s (abc INT, x INT) {clauses}", duck)
    assert shown(caught) == "abd)"
    assert "x" in caught.value.hint or caught.value.hint == "did you mean abc?"


def test_a_stream_is_dropped_if_it_exists(duck: Duck) -> None:
    text = 'DROP STREAM IF EXISTS "my s";'
    assert parse(text, duck) == DropStream(text, "my s", if_exists=True, place=text.index('"'))
    assert parse("DROP STREAM s", duck) == DropStream(
        "DROP STREAM s", "s", if_exists=False, place=12
    )


def test_an_insert_names_columns_or_does_not(duck: Duck) -> None:
    named = parse("INSERT INTO s (a, B) SELECT 1, 2", duck)
    assert isinstance(named, InsertInto)
    assert (named.stream, named.columns) == ("s", ("a", "B"))
    assert named.text[named.place :].startswith("s (a")
    unnamed = parse("INSERT INTO s VALUES (1)", duck)
    assert isinstance(unnamed, InsertInto)
    assert unnamed.columns is None


def test_a_mistake_in_a_type_is_shown(duck: Duck) -> None:
    with pytest.raises(QueryError) as caught:
        parse("CREATE STREAM s (a INT, b DECIMAL(3,) KEY (a)", duck)
    assert caught.value.line == 1


def filled(text: str, duck: Duck) -> CreateStreamAs:
    statement = parse(text, duck)
    assert isinstance(statement, CreateStreamAs)
    return statement


def test_a_stream_of_results_has_a_key_a_time_options_and_a_query(duck: Duck) -> None:
    text = """CREATE STREAM "my s" WITH (emit = 'changed')
    KEY (symbol, "at") TIME (at) AS -- from here
    SELECT symbol, at FROM trades;"""
    stream = filled(text, duck)
    key = NamedAt("symbol", text.index("symbol")), NamedAt("at", text.index('"at"'))
    time = NamedAt("at", text.index("at) AS"))
    assert stream.into == ResultsInto("my s", key, time, text=text, place=text.index('"my s"'))
    assert stream.options == {"emit": ("changed", text.index("'changed'"))}
    assert (stream.or_replace, stream.if_not_exists) == (False, False)
    assert len(stream.query) == len(text) - 1
    assert stream.query.strip() == "SELECT symbol, at FROM trades"
    assert stream.query.index("SELECT") == text.index("SELECT")
    assert stream.query.count("\n") == text.count("\n")


def test_a_query_alone_makes_a_stream_of_results(duck: Duck) -> None:
    assert filled("CREATE STREAM s AS FROM trades", duck).into.key == ()
    assert filled("CREATE OR REPLACE STREAM s AS WITH t AS (FROM a) FROM t", duck).or_replace
    assert filled("CREATE STREAM IF NOT EXISTS s AS FROM trades", duck).if_not_exists


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("CREATE STREAM s AS", "", "expected a query"),
        ("CREATE STREAM s KEY (a) SELECT 1", "SELECT", "and then AS"),
        ("CREATE STREAM s KEY (a) KEY (b) AS SELECT 1", "(b)", "and then AS"),
        ("CREATE STREAM s WITH (keep = 1) WITH (keep = 1) AS SELECT 1", "(keep", "and then AS"),
        ("CREATE STREAM s KEY (a, A) AS SELECT 1", "A)", "named twice"),
        ("CREATE STREAM s KEY a AS SELECT 1", "a AS", "in brackets"),
        ("CREATE STREAM s TIME (a, b) AS SELECT 1", "", "only one time column"),
        ("CREATE STREAM s WITH x AS (SELECT 1) FROM x", "x AS", "expected options"),
        ("CREATE STREAM s WITH (keep = 1 AS SELECT 1", "AS", "expected options"),
        ("CREATE STREAM chunk_0 AS SELECT 1", "chunk_0", "reserved"),
        ("CREATE OR REPLACE STREAM IF NOT EXISTS s AS SELECT 1", "s AS", "cannot be combined"),
    ],
)
def test_an_error_before_the_query_has_its_place(
    text: str, place: str, reason: str, duck: Duck
) -> None:
    with refused(QuerySyntaxError, place, reason):
        parse(text, duck)
