"""Which queries over epochs answer with their new pairs, and why the others do not."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.queries.parsed import query_of
from upstream.database.duck import Duck
from upstream.queries.rewriting.new_pairs import NewPairs, new_pairs
from upstream.queries.sql.window_clause import Axis, PairingName, WindowClause, WindowKind

SCHEMA = pa.schema([("k", pa.string()), ("v", pa.int64())])
JOIN = "FROM chunk_0 AS x JOIN chunk_1 AS y ON x.k = y.k"
ROWS = f"SELECT x.v, y.v AS w {JOIN}"
COUNT = f"SELECT count(*) AS n {JOIN}"
ASOF = "SELECT x.v FROM chunk_0 AS x ASOF JOIN chunk_1 AS y ON x.k = y.k AND x.v >= y.v"


def decided(
    text: str, keeps: tuple[int, ...], duck: Duck, pairing: PairingName | None = None
) -> NewPairs | str:
    clauses = [
        WindowClause(WindowKind.EPOCHS, "s", Axis.SOURCE, 10 * keep, 10, pairing=pairing)
        for keep in keeps
    ]
    schemas = {f"chunk_{number}": SCHEMA for number in range(len(keeps))}
    return new_pairs(query_of(text), clauses, schemas, duck)


def reason(text: str, *keeps: int, duck: Duck, pairing: PairingName | None = None) -> str:
    found = decided(text, keeps, duck, pairing)
    assert isinstance(found, str)
    return found


def test_rows_of_one_pair_each_are_answered_once_if_several_inputs_keep_chunks(
    shared_duck: Duck,
) -> None:
    found = decided(ROWS, (2, 3), shared_duck)
    assert isinstance(found, NewPairs)
    assert (found.paired.kind, found.paired.windows) == ("inner", (0, 1))
    assert found.split.row_wise
    assert found.split.finish is found.paired.whole


@pytest.mark.parametrize("keeps", [(1, 1), (1, 3), (3, 1)])
def test_no_pair_comes_twice_if_one_input_keeps_chunks(
    keeps: tuple[int, int], shared_duck: Duck
) -> None:
    assert "at most one input" in reason(ROWS, *keeps, duck=shared_duck)
    found = decided(ROWS, keeps, shared_duck, PairingName.WINDOW)
    assert isinstance(found, NewPairs)  # which matters for rows without a partner


@pytest.mark.parametrize(
    "text",
    [
        COUNT,
        f"SELECT DISTINCT x.v {JOIN}",
        f"{ROWS} ORDER BY ALL",
        f"{ROWS} LIMIT 2",
        f"SELECT x.v, row_number() OVER (ORDER BY y.v) AS n {JOIN}",
        "SELECT x.v FROM chunk_0 AS x UNION ALL SELECT y.v FROM chunk_1 AS y",
    ],
)
def test_a_row_of_several_pairs_is_over_the_buffered_chunks(text: str, shared_duck: Duck) -> None:
    found = reason(text, 2, 2, duck=shared_duck)
    assert found.startswith(
        ("a row of the result may come from several pairs: ", "the inputs must")
    )


def test_the_query_can_ask_for_what_is_over_new_pairs(shared_duck: Duck) -> None:
    found = decided(COUNT, (2, 2), shared_duck, PairingName.WINDOW)
    assert isinstance(found, NewPairs)
    assert not found.split.row_wise


@pytest.mark.parametrize("pairing", [PairingName.NEWEST, PairingName.NEWEST_WINDOW])
def test_other_pairings_are_over_the_buffered_chunks(
    pairing: PairingName, shared_duck: Duck
) -> None:
    assert reason(ROWS, 2, 2, duck=shared_duck, pairing=pairing) == f"the pairing is '{pairing}'"


def test_the_reason_says_why_pairs_cannot_be_told_apart(shared_duck: Duck) -> None:
    found = reason(ASOF, 2, 2, duck=shared_duck, pairing=PairingName.WINDOW)
    assert found == "ASOF joins are not made of pairs of rows"
