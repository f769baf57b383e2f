"""The statements of a join give the same whichever stream came last, and each row its step."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.queries.parsed import query_of
from upstream.database.duck import Duck
from upstream.queries.pairs.pair_statements import PairStatements
from upstream.queries.rewriting.split import split
from upstream.queries.sql.names import STEP
from upstream.queries.sql.window_clause import Axis, WindowClause, WindowKind

SCHEMA = pa.schema([("k", pa.string()), ("x", pa.int64()), ("note", pa.string())])
WINDOW = WindowClause(WindowKind.TUMBLE, "s", Axis.SOURCE, 10, 10)
PAIRS = "SELECT a.x AS a, b.x AS b FROM chunk_0 a JOIN chunk_1 b ON a.k = b.k"


def statements(text: str, duck: Duck) -> PairStatements:
    schemas = {"chunk_0": SCHEMA, "chunk_1": SCHEMA}
    [leaf] = split(query_of(text), (WINDOW, WINDOW), schemas, duck).leaves
    return PairStatements(leaf, {0: SCHEMA, 1: SCHEMA}, duck)


def rows(*steps: int, notes: str = "1") -> pa.Table:
    """Return rows of these steps, with the step as their number."""
    columns = {"k": ["a"] * len(steps), "x": steps, "note": [notes] * len(steps), STEP: steps}
    return pa.table(columns, SCHEMA.append(pa.field(STEP, pa.int64())))


def test_only_needed_columns_are_picked_with_the_step_in_front(duck: Duck) -> None:
    pairs = statements(PAIRS, duck)
    for stream in (0, 1):
        picked = pairs.pick(stream, rows(3, 4))
        assert picked.schema == pairs.picked[stream]
        assert picked.column_names[0] == STEP
        assert set(picked.column_names) == {STEP, "k", "x"}
        assert picked["x"].to_pylist() == [3, 4]


def test_rows_that_can_be_in_no_pair_are_not_picked(duck: Duck) -> None:
    pairs = statements(f"{PAIRS} WHERE a.x > 3", duck)
    assert pairs.pick(0, rows(3, 4)).num_rows == 1
    assert pairs.pick(1, rows(3, 4)).num_rows == 2


@pytest.mark.parametrize("last", [0, 1])
def test_a_pair_has_the_older_of_its_steps_in_any_order_of_arrival(duck: Duck, last: int) -> None:
    # step   3  4  5
    # a      *     *
    # b         *
    pairs = statements(PAIRS, duck)
    picked = {0: pairs.pick(0, rows(3, 5)), 1: pairs.pick(1, rows(4))}
    result = pairs.join(last, picked[last], {1 - last: picked[1 - last]})
    assert result.column_names[0] == STEP
    found = sorted(zip(*result.to_pydict().values(), strict=True))
    assert found == [(3, 3, 4), (4, 5, 4)]


def test_a_join_gives_a_partial_by_step(duck: Duck) -> None:
    pairs = statements("SELECT count(*) AS n FROM chunk_0 a JOIN chunk_1 b ON a.k = b.k", duck)
    picked = {0: pairs.pick(0, rows(3, 5)), 1: pairs.pick(1, rows(4, 6, 7))}
    partial = pairs.join(0, picked[0], {1: picked[1]})
    assert sorted(zip(*partial.to_pydict().values(), strict=True)) == [(3, 3), (4, 1), (5, 2)]


def test_all_pairs_together_are_the_partial(duck: Duck) -> None:
    pairs = statements("SELECT count(*) AS n FROM chunk_0 a JOIN chunk_1 b ON a.k = b.k", duck)
    picked = {0: pairs.pick(0, rows(3, 5)), 1: pairs.pick(1, rows(4, 6, 7))}
    partial = pairs.partial(0, picked[0], {1: picked[1]})
    assert [value for column in partial.columns for value in column.to_pylist()] == [6]
