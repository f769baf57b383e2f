"""DuckDB's functions, grouped by what matters for splitting."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlglot import parse_one

from tests.queries.parsed import value_of
from upstream.database.duck import Duck
from upstream.queries.sql.functions import Functions, functions_of, name_of


@pytest.fixture(scope="module")
def functions() -> Functions:
    """Return the functions of a DuckDB in which a user has made macros."""
    duck = Duck()
    duck.run_as_written("CREATE MACRO spread(x) AS max(x) - min(x)", {})
    duck.run_as_written("CREATE MACRO double_spread(x) AS 2 * spread(x)", {})
    duck.run_as_written("CREATE MACRO dice() AS 1 + floor(6 * random())", {})
    found = functions_of(duck)
    duck.close()
    return found


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE MACRO spread(x) AS max(x) - min(x)",
        "CREATE TEMP FUNCTION spread(x) AS max(x) - min(x)",
        "create or replace/**/macro spread(x) as max(x) - min(x)",
        "EXPLAIN ANALYZE CREATE MACRO spread(x) AS max(x) - min(x)",
    ],
)
def test_a_macro_made_after_duckdb_was_asked_is_known(statement: str) -> None:
    duck = Duck()
    assert not functions_of(duck).is_aggregate(value_of("spread(x)"))
    duck.run_as_written(statement, {})
    assert functions_of(duck).is_aggregate(value_of("spread(x)"))
    duck.run_as_written("DROP MACRO spread", {})
    assert not functions_of(duck).is_aggregate(value_of("spread(x)"))
    duck.close()


def test_macros_in_the_database_of_a_file_are_known(tmp_path: Path) -> None:
    path = str(tmp_path / "macros.duckdb")
    first = Duck(path)
    first.rows("CREATE MACRO spread(x) AS max(x) - min(x)")
    first.close()
    again, other = Duck(path), Duck()
    assert functions_of(again).is_aggregate(value_of("spread(x)"))
    again.close()
    other.run_as_written(f"ATTACH '{path}' AS attached", {})
    assert functions_of(other).is_aggregate(value_of("spread(x)"))
    other.close()


def test_databases_in_which_nothing_was_defined_have_the_same_functions() -> None:
    one, other = Duck(), Duck(files=False)
    one.run_as_written("CREATE TABLE t (x INT)", {})
    one.run_as_written("CREATE VIEW v AS SELECT x FROM t", {})
    assert not one.has_own_functions
    assert functions_of(one) is functions_of(other)
    one.close()
    other.close()


@pytest.mark.parametrize(
    "sql", ["sum(x)", "median(x)", "geomean(x)", "spread(x)", "DOUBLE_SPREAD(x)", "count(*)"]
)
def test_aggregates_and_macros_that_hide_them_aggregate(sql: str, functions: Functions) -> None:
    assert functions.is_aggregate(value_of(sql))


@pytest.mark.parametrize("sql", ["abs(x)", "list_sum(l)", "x + 1", "array_to_string(l, ',')"])
def test_functions_of_a_row_do_not(sql: str, functions: Functions) -> None:
    assert not functions.is_aggregate(value_of(sql))


@pytest.mark.parametrize(
    ("sql", "name"),
    [
        ("random() + 1", "random"),
        ("now()", "now"),
        ("CURRENT_TIMESTAMP", "current_timestamp"),
        ("uuid()", "uuid"),
        ("dice()", "dice"),
        ("x + abs(y)", ""),
    ],
)
def test_functions_of_another_value_each_time_are_found(
    sql: str, name: str, functions: Functions
) -> None:
    assert functions.volatile_in(value_of(sql)) == name


def test_a_sample_is_volatile(functions: Functions) -> None:
    query = parse_one("SELECT x FROM t TABLESAMPLE 10%", dialect="duckdb")
    assert functions.volatile_in(query) == "tablesample"


@pytest.mark.parametrize(("sql", "sees"), [("sum(x)", False), ("list(x)", True), ("mode(x)", True)])
def test_some_aggregates_see_the_order_of_rows(sql: str, sees: bool, functions: Functions) -> None:
    assert functions.sees_order(value_of(sql)) is sees


def test_a_name_is_the_one_duckdb_knows() -> None:
    assert name_of(value_of("approx_count_distinct(x)")) == "approx_count_distinct"
    assert name_of(value_of("string_agg(x, ',')")) == "listagg"


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("count(*) > 1 AND sum(x) < 5", ["count", "sum"]),
        ("count(*) > 1 OR b", ["count"]),
        ("max(s) COLLATE nocase", ["max"]),
        ("max(j) -> '$.a'", ["max"]),
        ("max(j) ->> '$.a'", ["max"]),
        ("max(t) + INTERVAL 1 DAY", ["max"]),
        ("CASE WHEN count(*) > 1 THEN sum(x) END", ["count", "sum"]),
        ("NOT (bool_or(b))", ["bool_or"]),
        ("max(x) BETWEEN 1 AND min(y)", ["max", "min"]),
        ("max(x) IN (1, 2) IS NULL", ["max"]),
        ("first(x)[1]", ["first"]),
        ("[max(x), {'a': -min(x)}]", ["max", "min"]),
        ("sum(sum)", ["sum"]),
        ("max(x)::VARCHAR LIKE 'a' ESCAPE '!'", ["max"]),
    ],
)
def test_only_calls_have_names(sql: str, names: list[str], functions: Functions) -> None:
    found = [name_of(node) for node in value_of(sql).walk() if functions.is_aggregate(node)]
    assert sorted(found) == sorted(names)


def test_asking_for_the_functions_adds_none() -> None:
    duck = Duck()
    for _ in range(2):
        assert functions_of(duck).is_aggregate(value_of("geomean(x)"))
        assert not duck.has_own_functions
    duck.close()


def test_macros_of_the_user_are_known_and_those_that_may_read_a_table() -> None:
    duck = Duck()
    duck.run_as_written("CREATE TABLE t AS SELECT 1 AS v", {})
    duck.run_as_written("CREATE MACRO most() AS (SELECT max(v) FROM t)", {})
    duck.run_as_written("CREATE MACRO More(z) AS z + most()", {})
    duck.run_as_written("CREATE MACRO plain(z) AS z + 1", {})
    duck.run_as_written("CREATE MACRO rows_of() AS TABLE SELECT * FROM t", {})
    functions = functions_of(duck)
    duck.close()
    tree = parse_one("SELECT more(1), plain(2), upper('a') FROM rows_of()", dialect="duckdb")
    assert functions.own >= {"most", "more", "plain", "rows_of"}
    assert functions.reading == {"most", "more"}
    assert functions.own_in(tree) == frozenset({"more", "plain", "rows_of"})
    assert functions.reading_in(tree) == "more"
    assert functions.reading_in(value_of("plain(list_sum([1]))")) == ""


def test_a_macro_is_known_in_any_case() -> None:
    duck = Duck()
    duck.run_as_written("CREATE MACRO Spread(x) AS max(x) - min(x)", {})
    duck.run_as_written('CREATE MACRO "Dice"() AS random()', {})
    functions = functions_of(duck)
    duck.close()
    assert functions.is_aggregate(value_of("SPREAD(x)"))
    assert functions.volatile_in(value_of("1 + dice()")) == "dice"
