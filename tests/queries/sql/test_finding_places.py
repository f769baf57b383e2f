"""The place of a mistake is found by trial, and not for ever."""

from __future__ import annotations

import pytest

from upstream.database.duck import Duck
from upstream.database.failure import DatabaseError
from upstream.queries.sql import finding_places
from upstream.queries.sql.finding_places import Trial, place_of_table
from upstream.queries.sql.reading import read_query
from upstream.queries.sql.source_text import SourceText


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
    monkeypatch.setattr(finding_places, "MOST_TRIALS", 10)
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
