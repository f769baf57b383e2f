"""CREATE VIEW, DROP VIEW and EXPLAIN of a name are parsed, or refused with a place."""

from __future__ import annotations

from datetime import timedelta

import pytest

from upstream.database.duck import Duck
from upstream.errors import QuerySyntaxError, StatementError
from upstream.queries.sql import CreateView, DropView, ExplainName, OtherStatement, parse

from .example_streams import refused

QUERY = "SELECT k, count(*) AS n FROM s GROUP BY k"


def created(text: str, duck: Duck) -> CreateView:
    statement = parse(text, duck)
    assert isinstance(statement, CreateView)
    return statement


def test_a_view_has_a_name_and_a_query(duck: Duck) -> None:
    view = created(f"CREATE VIEW Counts AS {QUERY}", duck)
    assert (view.name, view.columns, view.options, view.words) == ("Counts", None, {}, ())
    assert not view.or_replace
    assert not view.if_not_exists
    assert view.query.strip() == QUERY
    assert view.text[view.place :].startswith("Counts AS")


def test_places_in_the_query_are_those_in_the_statement(duck: Duck) -> None:
    text = f"CREATE VIEW\n counts\nAS\n  {QUERY}"
    view = created(text, duck)
    assert view.query.index("count(*)") == text.index("count(*)")
    assert view.query.count("\n") == text.count("\n")
    assert set(view.query[: text.index("SELECT")]) == {" ", "\n"}


@pytest.mark.parametrize(
    ("begin", "or_replace", "if_not_exists", "words"),
    [
        ("CREATE OR REPLACE VIEW v", True, False, ()),
        ("create or replace view v", True, False, ()),
        ("CREATE VIEW IF NOT EXISTS v", False, True, ()),
        ("CREATE TEMP VIEW v", False, False, ("TEMP",)),
        ("CREATE OR REPLACE TEMPORARY VIEW v", True, False, ("TEMPORARY",)),
        ("CREATE RECURSIVE VIEW v", False, False, ("RECURSIVE",)),
        ("CREATE MATERIALIZED VIEW v", False, False, ("MATERIALIZED",)),
        ("CREATE TEMP RECURSIVE VIEW v", False, False, ("TEMP", "RECURSIVE")),
    ],
)
def test_the_words_before_the_name_are_read(
    begin: str, or_replace: bool, if_not_exists: bool, words: tuple[str, ...], duck: Duck
) -> None:
    view = created(f"{begin} AS {QUERY}", duck)
    assert (view.or_replace, view.if_not_exists, view.words) == (or_replace, if_not_exists, words)
    assert view.name == "v"


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ('"a view"', "a view"),
        ('"dots.in.it"', "dots.in.it"),
        ('"a""b"', 'a"b'),
        ('"AS"', "AS"),
        ("view", "view"),
        ("latest", "latest"),
        ("ñandú", "ñandú"),
    ],
)
def test_a_name_may_be_quoted_or_a_word_of_the_grammar(written: str, name: str, duck: Duck) -> None:
    assert created(f"CREATE VIEW {written} AS {QUERY}", duck).name == name


def test_columns_may_be_named(duck: Duck) -> None:
    assert created(f'CREATE VIEW v (a, "b c") AS {QUERY}', duck).columns == ("a", "b c")
    assert created(f"CREATE VIEW v(as_is) AS {QUERY}", duck).columns == ("as_is",)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("'skip'", "skip"),
        ("skip", "skip"),
        ("true", True),
        ("FALSE", False),
        ("7", 7),
        ("0.5", 0.5),
        ("INTERVAL '5 seconds'", timedelta(seconds=5)),
        ("INTERVAL 5 SECONDS", timedelta(seconds=5)),
        ("INTERVAL '1.5 hours'", timedelta(minutes=90)),
        ("INTERVAL '20ms'", timedelta(milliseconds=20)),
        ("INTERVAL 2 DAY", timedelta(days=2)),
    ],
)
def test_an_option_has_a_value_of_its_type(written: str, value: object, duck: Duck) -> None:
    text = f"CREATE VIEW v WITH (Some_Option = {written}) AS {QUERY}"
    options = created(text, duck).options
    assert list(options) == ["some_option"]
    found, place = options["some_option"]
    assert (found, type(found)) == (value, type(value))
    assert text[place:].startswith(written)


def test_options_are_separated_by_commas_and_follow_the_columns(duck: Duck) -> None:
    view = created(f"CREATE VIEW v (a) WITH (x = 1, y => 'b', z := c) AS {QUERY}", duck)
    assert {name: value for name, (value, _) in view.options.items()} == {
        "x": 1,
        "y": "b",
        "z": "c",
    }


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("CREATE VIEW", "", "expected the name of a view"),
        ("CREATE VIEW 'v' AS SELECT 1", "'v'", "expected the name of a view"),
        ('CREATE VIEW "" AS SELECT 1', '""', "must not be empty"),
        ("CREATE VIEW chunk_0 AS SELECT 1", "chunk_0", "reserved"),
        ("CREATE VIEW __lent_1 AS SELECT 1", "__lent_1", "reserved"),
        ("CREATE VIEW v", "", "expected AS and a query"),
        ("CREATE VIEW v SELECT 1", "SELECT", "expected AS and a query"),
        ("CREATE VIEW v () AS SELECT 1", ") AS", "expected the name of a column"),
        ("CREATE VIEW v (a AS SELECT 1", "AS", "in brackets"),
        ("CREATE VIEW v (a, A) AS SELECT 1, 2", "A) AS", "A is named twice"),
        ("CREATE VIEW v (a, 1) AS SELECT 1, 2", "1)", "expected the name of a column"),
        ("CREATE VIEW v (__s0) AS SELECT 1", "__s0", "reserved"),
        ("CREATE VIEW v WITH AS SELECT 1", "AS", "expected options"),
        ("CREATE VIEW v WITH () AS SELECT 1", ") AS", "expected the name of an option"),
        ("CREATE VIEW v WITH (a) AS SELECT 1", ") AS", "expected = after a"),
        ("CREATE VIEW v WITH (a = 1 AS SELECT 1", "AS", "expected options"),
        ("CREATE VIEW v WITH (a = 1, A = 2) AS SELECT 1", "A = 2", "given twice"),
        ("CREATE VIEW v WITH (a = ) AS SELECT 1", ") AS", "expected a text"),
        ("CREATE VIEW v WITH (a = 1) (b) AS SELECT 1", "(b)", "expected AS"),
        ("CREATE VIEW v WITH (a = INTERVAL '1 parsec') AS SELECT 1", "INTERVAL", "length of time"),
        ("CREATE VIEW v WITH (a = INTERVAL 'soon') AS SELECT 1", "INTERVAL", "length of time"),
        ("CREATE VIEW v WITH (a = INTERVAL", "", "expected an interval"),
        ("CREATE OR REPLACE VIEW IF NOT EXISTS v AS SELECT 1", "v AS", "cannot be combined"),
        ("DROP VIEW 'v'", "'v'", "expected the name of a view"),
        ("DROP VIEW chunk_1", "chunk_1", "reserved"),
    ],
)
def test_a_wrong_form_is_refused_with_its_place_and_a_form_that_works(
    text: str, place: str, reason: str, duck: Duck
) -> None:
    with refused(QuerySyntaxError, place, reason) as caught:
        parse(text, duck)
    is_about_a_value = "given twice" in reason or "expected a text" in reason
    assert is_about_a_value or caught.value.hint.startswith("write ")


def test_a_view_in_a_schema_is_one_of_duckdb(duck: Duck) -> None:
    for name in ("main.v", '"main"."v"', "memory.main.v"):
        assert isinstance(parse(f"CREATE VIEW {name} AS SELECT 1 AS a", duck), OtherStatement)
        assert isinstance(parse(f"DROP VIEW {name}", duck), OtherStatement)


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE view AS SELECT 1 AS a",
        "CREATE MACRO view() AS 1",
        "CREATE INDEX i ON companies (symbol)",
        "DROP TABLE companies",
        "EXPLAIN SELECT 1",
        "EXPLAIN FROM companies",
        "EXPLAIN ANALYZE SELECT 1",
    ],
)
def test_other_statements_are_not_about_views(text: str, duck: Duck) -> None:
    assert not isinstance(parse(text, duck), CreateView | DropView | ExplainName)


@pytest.mark.parametrize(
    ("text", "name", "if_exists"),
    [
        ("DROP VIEW v", "v", False),
        ("drop view v;", "v", False),
        ("DROP VIEW IF EXISTS v", "v", True),
        ('DROP VIEW "a view.x"', "a view.x", False),
        ('DROP VIEW "a""b"', 'a"b', False),
        ("DROP VIEW v RESTRICT", "v", False),
    ],
)
def test_a_view_is_dropped_by_name(text: str, name: str, if_exists: bool, duck: Duck) -> None:
    statement = parse(text, duck)
    assert isinstance(statement, DropView)
    assert (statement.name, statement.if_exists) == (name, if_exists)
    assert statement.text[statement.place :].lstrip('"').startswith(name[:1])


def test_a_cascade_is_refused(duck: Duck) -> None:
    with refused(StatementError, "v CASCADE", "CASCADE is not supported") as caught:
        parse("DROP VIEW v CASCADE", duck)
    assert caught.value.hint == "drop first what reads it"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("EXPLAIN counts", "counts"),
        ("explain Counts ;", "Counts"),
        ("EXPLAIN\n  counts\n", "counts"),
        ('EXPLAIN "a view.x"', "a view.x"),
        ('EXPLAIN "a""b"', 'a"b'),
        ('EXPLAIN "query-1"', "query-1"),
    ],
)
def test_a_name_alone_is_explained(text: str, name: str, duck: Duck) -> None:
    statement = parse(text, duck)
    assert isinstance(statement, ExplainName)
    assert statement.name == name
    written = statement.text[statement.place :]
    assert written.startswith((name, f'"{name[:1]}'))
