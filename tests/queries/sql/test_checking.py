"""DuckDB says what is wrong with a query, and the place is found by trial."""

from __future__ import annotations

import pyarrow as pa
import pytest

from upstream.database.duck import Duck
from upstream.database.failure import DatabaseError
from upstream.errors import (
    QueryError,
    QuerySyntaxError,
    QueryTypeError,
    UnknownColumnError,
    UnknownFunctionError,
    UnknownTableError,
)
from upstream.queries.sql import check, checking, read_query
from upstream.queries.sql.checking import Trial, place_of_table
from upstream.queries.sql.source_text import SourceText

from .example_streams import STREAMS, shown


def schema_of(text: str, duck: Duck) -> pa.Schema:
    return check(read_query(text, STREAMS), STREAMS, duck).outer


def test_the_schema_of_a_result_is_known_before_any_row(duck: Duck) -> None:
    text = """
        SELECT symbol, avg(price) AS mean, count(*) AS n, symbol
        FROM hop(trades, INTERVAL '2 hours', INTERVAL '1 hour') JOIN companies USING (symbol)
        GROUP BY symbol HAVING count(*) > 1 ORDER BY mean LIMIT 3 OFFSET 1"""
    schema = schema_of(text, duck)
    assert schema.names == ["symbol", "mean", "n", "symbol"]
    assert schema.types == [pa.string(), pa.float64(), pa.int64(), pa.string()]


@pytest.mark.parametrize(
    "text",
    [
        "WITH x AS (FROM trades) SELECT price FROM x",
        "SELECT price FROM trades UNION ALL SELECT price FROM trades ORDER BY 1 LIMIT 2",
        "(SELECT price FROM trades) ORDER BY 1",
    ],
)
def test_any_form_of_query_can_be_checked(text: str, duck: Duck) -> None:
    assert schema_of(text, duck) == pa.schema({"price": pa.float64()})


def test_a_query_is_not_evaluated_to_be_checked(duck: Duck) -> None:
    text = "SELECT error('evaluated') AS e, * FROM companies, ticks, range(1000000000000)"
    duck.rows("INSERT INTO companies VALUES ('IBM', 'IBM')")
    assert schema_of(text, duck).names[0] == "e"


@pytest.mark.parametrize(
    ("text", "kind", "place", "hint"),
    [
        ("SELECT pric FROM trades", UnknownColumnError, "pric", "did you mean price?"),
        ("SELECT price FROM trades ORDER BY pric", UnknownColumnError, "pric", "mean price?"),
        ("SELECT t.pric FROM trades t WHERE size > 3", UnknownColumnError, "t.pric", "mean price?"),
        ("SELECT price FROM trades\nWHERE\n  sise > 3", UnknownColumnError, "sise", "mean size?"),
        (
            "SELECT price FROM trades, companies WHERE compny = ''",
            UnknownColumnError,
            "compny",
            "did you mean company?",
        ),
        ("SELECT x FROM (SELECT prise AS x FROM trades)", UnknownColumnError, "prise", "price?"),
        ("SELECT price FROM trade", UnknownTableError, "trade", "did you mean trades?"),
        ("SELECT price FROM trades, companis", UnknownTableError, "companis", "mean companies?"),
        ("SELECT c.price FROM trades", UnknownTableError, "c.price", "companies, days"),
        ("SELECT flor(price) FROM trades", UnknownFunctionError, "flor(", "did you mean"),
        ("SELECT 1 FROM trads", UnknownTableError, "trads", "did you mean trades?"),
        ("FROM companis", UnknownTableError, "companis", "did you mean companies?"),
        ("FROM tumbl(trades, 3)", UnknownFunctionError, "tumbl(", "did you mean tumble?"),
        ("FROM cumulate(trades, 3)", UnknownFunctionError, "cumulate(", "hop, landmark, latest"),
        ("FROM ticks, latst(trades)", UnknownFunctionError, "latst(", "did you mean latest?"),
        ("SELECT size, 1 + price + symbol FROM trades", QueryTypeError, "1 + price", "cast"),
        ("SELECT 1 FROM trades WHERE price > 1 AND time > 3", QueryTypeError, "time > 3", "cast"),
        ("SELECT price, sum(symbol) FROM trades GROUP BY 1", QueryTypeError, "sum(", "cast"),
        ("SELECT avg(price), symbol FROM trades", QueryError, "symbol FROM", ""),
        ("SELECT price FROM trades a, trades b", QueryError, "price FROM", ""),
        ("SELECT price FROM trades WHERE sum(price) > 1", QueryError, "sum(", ""),
    ],
)
def test_an_error_of_duckdb_has_its_place(
    text: str, kind: type[QueryError], place: str, hint: str, duck: Duck
) -> None:
    with pytest.raises(kind) as caught:
        schema_of(text, duck)
    assert type(caught.value) is kind
    assert shown(caught).startswith(place)
    assert hint in caught.value.hint
    assert "lent_" not in str(caught.value)
    assert "Error:" not in str(caught.value)


def test_an_error_without_a_single_place_has_none(duck: Duck) -> None:
    with pytest.raises(QueryError, match="same number of result columns") as caught:
        schema_of("SELECT price FROM trades UNION ALL SELECT time, price FROM trades", duck)
    assert caught.value.line is None


def test_errors_do_not_quote_words_that_the_user_did_not_write(duck: Duck) -> None:
    with pytest.raises(QuerySyntaxError, match="this cannot be read as SQL"):
        schema_of("SELECT price FROM trades GROUP BY", duck)


def test_a_query_of_nothing_does_not_parse(duck: Duck) -> None:
    with pytest.raises(QuerySyntaxError):
        schema_of("SELECT", duck)


def test_a_long_chain_is_an_error_or_a_schema(duck: Duck) -> None:
    text = "SELECT " + " + ".join(["price"] * 1_500) + " AS p FROM trades"
    try:
        assert schema_of(text, duck).names == ["p"]
    except QueryError as error:
        assert error.text == text  # noqa: PT017 - either will do


def lent_names(duck: Duck) -> list[tuple[str, ...]]:
    return duck.rows("SELECT view_name FROM duckdb_views() WHERE NOT internal")


def test_a_refused_query_leaves_nothing_lent(duck: Duck) -> None:
    before = lent_names(duck)
    with pytest.raises(UnknownColumnError):
        schema_of("SELECT price, pric FROM trades", duck)
    assert lent_names(duck) == before


@pytest.mark.parametrize("limit", ["LIMIT -1", "LIMIT 1e30", "LIMIT 3 OFFSET -1", "LIMIT 'x'"])
@pytest.mark.parametrize("query", ["FROM trades", "SELECT 1 FROM trades UNION ALL SELECT 2"])
def test_a_limit_that_cannot_be_is_refused(query: str, limit: str, duck: Duck) -> None:
    with pytest.raises(QueryError):
        check(read_query(f"{query} {limit}", STREAMS), STREAMS, duck)


def place_in(text: str, duck: Duck) -> tuple[str, int]:
    """Return the text from the place on, and how often DuckDB was asked."""
    from sqlglot import exp

    asked = 0

    def bind(query: exp.Query) -> None:
        nonlocal asked
        asked += 1
        duck.rows(f"EXPLAIN {query.sql('duckdb')}")

    query = read_query(text, {}).query
    before = query.sql()
    with pytest.raises(DatabaseError) as caught:
        bind(query)
    place = Trial(query, str(caught.value), bind).place()
    assert query.sql() == before
    return ("" if place is None else text[place:]), asked


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("SELECT 1, 2 + ([1] + 'a'::DATE), 3", "1] +"),
        ("SELECT company, upper(lower(nme)) FROM companies", "nme"),
        ("SELECT 1 + upper(sum(symbol)) FROM companies", "sum("),
        ("SELECT company FROM companies WHERE (SELECT max(x) FROM range(3) t(y)) > 1", "x)"),
        ("SELECT CASE WHEN symbol > 'a' THEN foo(symbol) ELSE 1 END FROM companies", "foo("),
        ("SELECT company FROM companies JOIN range(3) r(i) ON r.j = 3", "r.j"),
        ("SELECT company, count(*) FROM companies GROUP BY 1 HAVING n > 3", "n > 3"),
    ],
)
def test_the_least_part_is_found(text: str, place: str, duck: Duck) -> None:
    found, _ = place_in(text, duck)
    assert found.startswith(place)


def test_what_is_there_twice_is_not_found_and_left_as_it_is(duck: Duck) -> None:
    found, _ = place_in("SELECT foo(1), foo(1)", duck)
    assert found == ""


def test_there_is_an_end_to_trials(duck: Duck, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "MOST_TRIALS", 10)
    _, asked = place_in("SELECT " + ", ".join(["foo()"] * 30), duck)
    assert asked == 1 + 10
    _, asked = place_in(f"SELECT foo(), foo(), '{'long' * 50_000}'", duck)
    assert asked == 1


def test_a_table_is_found_where_it_is_read_or_else_where_it_is_named() -> None:
    read = SourceText("SELECT b.x FROM a AS q, (SELECT 1 FROM B)").statement()
    assert place_of_table(read, "b") == 39  # type: ignore[arg-type]  # it is a query
    assert place_of_table(read, '"main"."B"') == 39  # type: ignore[arg-type]  # likewise
    named = SourceText("SELECT 1, b.x FROM a").statement()
    assert place_of_table(named, "b") == 10  # type: ignore[arg-type]  # likewise
    assert place_of_table(named, "c") is None  # type: ignore[arg-type]  # likewise
