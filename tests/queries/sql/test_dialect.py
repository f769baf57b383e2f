"""A statement is written as it was read: no call is translated, and nothing is left out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlglot import exp
from sqlglot.errors import UnsupportedError
from sqlglot.parsers.duckdb import DuckDBParser

from upstream import Engine, ManualClock
from upstream.database.duck import Duck
from upstream.errors import QueryError
from upstream.queries.sql.dialect import DIALECT
from upstream.queries.sql.same_reading import difference
from upstream.queries.sql.source_text import SourceText

EXACT = Path(__file__).with_name("exact_statements.sql").read_text(encoding="utf-8").splitlines()
SYNTAX = {
    *("map", "nullif", "overlay", "position", "show", "case", "cast", "try_cast", "coalesce"),
    *("substring", "trim", "any", "if", "extract", "grouping", "columns", "struct", "interval"),
}
"""What DuckDB does not read as a name and arguments in brackets, or not always."""


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine(clock=ManualClock()) as engine:
        yield engine


def written(text: str) -> str:
    return SourceText(text).statement().sql(DIALECT)


def function_names(duck: Duck) -> list[str]:
    rows = duck.rows("SELECT DISTINCT function_name FROM duckdb_functions()")
    return sorted(str(name) for (name,) in rows)


def sqlglot_names() -> set[str]:
    """Return all names that sqlglot's parsers have something to say about."""
    names = {name for kind in exp.ALL_FUNCTIONS for name in kind.sql_names()}
    names |= {*DuckDBParser.FUNCTIONS, *DuckDBParser.FUNCTION_PARSERS}
    return {name for name in names if name.isidentifier()}


def readable(calls: list[str], duck: Duck) -> list[str]:
    """Return the calls that DuckDB can read: `time(…)` and a few others are no calls to it."""
    rows = duck.rows(
        """
        SELECT call FROM (SELECT unnest(?) AS call)
        WHERE NOT (json_serialize_sql('SELECT ' || call)->'error')::BOOLEAN
        """,
        [calls],
    )
    return [str(call) for (call,) in rows]


ARGUMENTS = ("", "a", "a, b", "a, b, c", "a, b, c, d, e", "a := 1", "DISTINCT a, b ORDER BY c")


@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_calls_are_written_as_they_were_read_even_of_unknown_functions(
    arguments: str, duck: Duck
) -> None:
    """All functions of DuckDB, and all that sqlglot knows: DuckDB refuses those itself."""
    names = {*function_names(duck), *(name.lower() for name in sqlglot_names())} - SYNTAX
    quoted = [exp.to_identifier(name).sql(DIALECT) for name in sorted(names)]
    calls = readable([f"{name}({arguments})" for name in quoted], duck)
    assert 1_500 < len(names) - 12 < len(calls)
    text = f"SELECT {', '.join(calls)}"
    found = difference(text, written(text), duck)
    assert found is None, text[found.place :][:100]


def test_statements_of_all_kinds_are_written_as_they_were_read(duck: Duck) -> None:
    changed = {text: difference(text, written(text), duck) for text in EXACT}
    assert {text: found for text, found in changed.items() if found is not None} == {}
    assert len(changed) > 300


def test_calls_are_answered_as_duckdb_answers_them(engine: Engine, duck: Duck) -> None:
    for call in (
        r"decode('\xA0'::BLOB, 'replace')",
        "strftime(TIMESTAMP '2020-01-02 03:04:05', '%Y')",
        "list_sort([3, NULL, 1], 'DESC', 'NULLS FIRST')",
        "list_reverse_sort([3, NULL, 1])",
        "epoch_ms(TIMESTAMP '2020-01-02 03:04:05')",
        "date_diff('week', DATE '2026-01-04', DATE '2026-01-05')",
        "regexp_extract('abc', '(b)(c)', ['x', 'y'])",
        "round(2.5, 0), -2 ** 2, 2 ** 3 ** 2, 2 ^ 3, 7 // 2, 4!, @(-3)",
        "'a' ~ 'b', 'abc' ^@ 'ab', 'abc' SIMILAR TO 'a.*', 'abc' GLOB 'a*', 'a' !~~ 'a'",
        "1 IN [1, 2], NULL IN [NULL]",
        ".5, typeof(.5), typeof(0.5)",
        "trim(LEADING 'a' FROM 'aba'), substring('abc' FOR 2), position('c' IN 'abc')",
        "extract(dow FROM DATE '2026-01-04'), extract('isodow' FROM DATE '2026-01-04')",
        "(INTERVAL '1 day 02:00:00')::TEXT, (INTERVAL '1.5' HOURS)::TEXT",
        """coalesce(JSON '{"a": 1}' -> 'a', '2'), concat(JSON '{"a": 1}' ->> 'a', 2)""",
        """list_transform([1], lambda x: concat(JSON '{"a": 1}' -> 'a', x))""",
    ):
        expected = duck.rows(f"SELECT {call}")
        answer = engine.sql(f"SELECT {call}")
        assert [tuple(column[0].as_py() for column in answer.columns)] == expected, call


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("to_char(TIMESTAMP '2020-01-02 03:04:05', 'YYYY')", "no function named to_char"),
        ("nvl(1, 2)", "no function named nvl"),
        ("add_months(DATE '2020-01-01', 1)", "no function named add_months"),
        ("instr('abcb', 'b', 1, 2)", "no function matches"),
        ("list_transform([1], x -> x + 1)", "deprecated lambda arrow"),
    ],
)
def test_a_call_that_duckdb_refuses_is_refused_where_it_is(
    call: str, name: str, engine: Engine
) -> None:
    engine.sql("CREATE STREAM IF NOT EXISTS s (a TIMESTAMP)")
    with pytest.raises(QueryError, match=name) as caught:
        engine.sql(f"SELECT 1, {call}")
    assert caught.value.column == len("SELECT 1, ") + 1
    with pytest.raises(QueryError, match=name) as caught:
        engine.continuous_query(f"SELECT 1, {call} FROM s")
    assert caught.value.column == len("SELECT 1, ") + 1


def test_a_tree_that_cannot_be_written_is_an_error_and_not_a_warning(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UnsupportedError):
        exp.Soundex(this=exp.column("a")).sql(DIALECT)
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")


def test_a_setting_of_duckdb_does_not_change_what_nulls_last_means(engine: Engine) -> None:
    engine.sql("SET default_null_order = 'nulls_first'")
    try:
        rows = engine.sql("SELECT * FROM (VALUES (1), (NULL)) v(a) ORDER BY a NULLS LAST")
        assert rows["a"].to_pylist() == [1, None]
    finally:
        engine.sql("RESET default_null_order")
