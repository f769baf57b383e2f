"""Merged relations are read back from Arrow with their original types."""

from __future__ import annotations

import pytest

from upstream.database.duck import Duck
from upstream.queries.rewriting.merged_relation import cast_to_int128, reading, travelling
from upstream.queries.rewriting.not_incremental import NotIncrementalError
from upstream.queries.rewriting.trial import Trial

from ..parsed import query_of, select_of


@pytest.fixture
def trial(duck: Duck) -> Trial:
    duck.rows("CREATE TYPE mood AS ENUM ('sad', 'ok')")
    return Trial(duck, {})


def test_columns_are_cast_back_to_what_arrow_has_no_type_for(trial: Trial) -> None:
    shape = trial.shape(select_of("SELECT 1::HUGEINT AS h, uuid() AS u, 1 AS i, [1::HUGEINT] AS l"))
    columns = reading(shape, trial)
    assert {name: tree.sql("duckdb") for name, tree in columns.items()} == {
        "h": 'CAST("h" AS INT128)',
        "u": 'CAST("u" AS UUID)',
        "i": '"i"',
        "l": 'CAST("l" AS INT128[])',
    }


def test_a_type_that_would_lose_something_is_refused(trial: Trial) -> None:
    shape = trial.shape(select_of("SELECT '12:00:00+02'::TIMETZ AS t"))
    with pytest.raises(NotIncrementalError, match="TIME WITH TIME ZONE"):
        reading(shape, trial)


def test_an_enum_travels_as_text_if_it_is_a_group(trial: Trial) -> None:
    partial = select_of("SELECT 'sad'::mood AS m, count(*) AS n GROUP BY 1")
    shape = travelling(partial, 1, trial)
    assert shape.types[0] == "ENUM('sad', 'ok')"
    assert partial.sql("duckdb") == (
        "SELECT CAST(CAST('sad' AS mood) AS TEXT) AS m, COUNT(*) AS n GROUP BY 1"
    )


def test_an_enum_that_is_a_state_is_refused_since_text_has_another_order(trial: Trial) -> None:
    with pytest.raises(NotIncrementalError, match="ENUM"):
        travelling(select_of("SELECT min('sad'::mood) AS m"), 0, trial)


@pytest.mark.parametrize(
    ("finish", "names"),
    [
        ("SELECT CAST(s AS HUGEINT), sum(CAST(s AS HUGEINT)), count(*) FROM m", {"s"}),
        ("SELECT CAST(s AS HUGEINT) FROM m UNION SELECT CAST(t AS HUGEINT) FROM m", {"s", "t"}),
        ("SELECT CAST(s AS HUGEINT) FROM m WHERE s > 1", set()),
        ("SELECT CAST(s AS HUGEINT) AS s FROM m", set()),
        ("SELECT CAST(m.s AS HUGEINT) FROM m JOIN n USING (s)", set()),
        ("SELECT *, CAST(s AS HUGEINT) FROM m", set()),
        ("SELECT TRY_CAST(s AS HUGEINT), CAST(t AS BIGINT) FROM m", set()),
        ("SELECT CAST(s AS HUGEINT[]), CAST(t + 1 AS HUGEINT) FROM m", set()),
    ],
)
def test_columns_that_are_only_cast_to_128_bits_are_found(finish: str, names: set[str]) -> None:
    assert cast_to_int128(query_of(finish)) == names
