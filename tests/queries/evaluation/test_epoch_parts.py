"""Which chunks of epochs meet, how inputs are cut, and what is said of them."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pytest

from upstream.database.duck import Duck
from upstream.queries.chunks.grid import EvenGrid
from upstream.queries.chunks.windows import Span
from upstream.queries.evaluation.epoch_parts import EpochParts, paired_clauses
from upstream.queries.results.failing_rows import FailingRows
from upstream.queries.sql.window_clause import Axis, PairingName, WindowClause, WindowKind
from upstream.rows.stream_definition import StreamDefinition
from upstream.rows.stream_times import WindowBound
from upstream.tables.log import Batch, Log

SCHEMA = pa.schema([("time", pa.int64()), ("k", pa.string()), ("note", pa.string())])
TIMED = StreamDefinition("s", SCHEMA, (), "time")
UNTIMED = StreamDefinition("r", SCHEMA, (), None)
ROWS = pa.table({"time": [1, 2, 8], "k": ["a", "b", "b"], "note": ["0", "x", "1"]}, SCHEMA)


def clause(keep: int = 1, pairing: PairingName | None = None) -> WindowClause:
    """Return epochs of ten seconds."""
    return WindowClause(WindowKind.EPOCHS, "s", Axis.SOURCE, keep * 10, 10, pairing=pairing)


def in_order(rows: int = 0, per: tuple[str, ...] = (), condition: str = "") -> WindowClause:
    """Return epochs that are cut in the order of arrival."""
    return WindowClause(
        WindowKind.EPOCHS, "s", Axis.ORDINAL, 1, 1, rows=rows, per=per, condition=condition
    )


def parts(
    duck: Duck, *clauses: WindowClause, definitions: Sequence[StreamDefinition] = (TIMED,)
) -> EpochParts:
    return EpochParts(
        *(clauses, definitions, EvenGrid(clauses[0].slide)),
        hidden={},
        schemas=[SCHEMA] * len(clauses),
        failing=FailingRows(),
        duck=duck,
    )


@pytest.mark.parametrize(
    ("pairing", "keeps", "expected"),
    [
        (None, (3, 2), [3, 2]),
        (PairingName.WINDOW, (3, 2), [3, 2]),
        (PairingName.NEWEST, (3, 2), [1, 1]),
        (PairingName.NEWEST_WINDOW, (3, 2), [1, 2]),
        (PairingName.NEWEST_WINDOW, (3, 1, 2), [3, 1, 2]),
        (PairingName.NEWEST_WINDOW, (3, 1, 1), [1, 1, 1]),
    ],
)
def test_the_pairing_says_which_chunks_meet(
    pairing: PairingName | None, keeps: tuple[int, ...], expected: list[int]
) -> None:
    clauses = [clause(keep, pairing) for keep in keeps]
    assert [each.keep for each in paired_clauses(clauses)] == expected


@pytest.mark.parametrize(
    ("cut", "chunks"),
    [
        pytest.param(clause(), [(0, 3)], id="time"),
        pytest.param(in_order(rows=2), [(0, 2), (1, 1)], id="count"),
        pytest.param(in_order(per=("k",)), [(0, 1), (1, 2)], id="object"),
        pytest.param(in_order(condition="note = '0'"), [(0, 1), (1, 2)], id="punctuation"),
    ],
)
def test_each_cut_divides_batches(
    duck: Duck, cut: WindowClause, chunks: list[tuple[int, int]]
) -> None:
    of = parts(duck, cut)
    cuts = of.cuts(0, Log().reader())
    found = cuts.cut(Batch(ROWS, 0.0, 0, 3, 0), None)
    assert [(chunk, rows.num_rows) for chunk, rows in found.pieces] == chunks
    of.close()


def test_rows_on_which_a_punctuation_fails_are_counted_for_their_chunk(duck: Duck) -> None:
    of = parts(duck, in_order(condition="note::INT = 0"))
    cuts = of.cuts(0, Log().reader())
    cuts.took(cuts.cut(Batch(ROWS, 0.0, 0, 3, 0), None))
    failing = of._failing
    assert failing.count == 1
    of.close()


def bounds(of: EpochParts) -> tuple[WindowBound, WindowBound]:
    """Return the bounds of the first epoch, after a row of each input came."""
    for number in range(len(of._times)):
        of.noting(number, [(0, ROWS.slice(number, 1))], 5.0)()
    return of.bounds(int).of([Span(0, 1)] * max(1, len(of._times)))


def test_bounds_are_those_of_chunks_by_time_or_the_times_of_rows(duck: Duck) -> None:
    assert bounds(parts(duck, clause())) == (0, 10)
    both = (TIMED, TIMED)
    assert bounds(parts(duck, in_order(rows=1), in_order(rows=1), definitions=both)) == (1, 2)


def test_times_of_different_kinds_are_not_bounds_of_one_epoch(duck: Duck) -> None:
    clauses = in_order(rows=1), in_order(rows=1)
    assert bounds(parts(duck, *clauses, definitions=(TIMED, UNTIMED))) == (1, 1)
    assert bounds(parts(duck, *clauses, definitions=(UNTIMED, TIMED))) == (5_000_000, 5_000_000)


def test_only_rows_that_get_columns_later_are_completed(duck: Duck) -> None:
    hidden = {0: ("__epoch",), 1: ("__window_end",)}
    schema = SCHEMA.append(pa.field("__window_end", pa.int64()))
    of = EpochParts(
        *([in_order(rows=1)] * 3, [TIMED] * 3, EvenGrid(1)),
        hidden=hidden,
        schemas=[SCHEMA.append(pa.field("__epoch", pa.int64())), schema, SCHEMA],
        failing=FailingRows(),
        duck=duck,
    )
    assert [of.completing(number) is None for number in range(3)] == [True, False, True]
    assert of.marked(0, 7, ROWS)["__epoch"].to_pylist() == [7, 7, 7]
    assert of.marked(2, 7, ROWS) is ROWS


def test_it_says_what_is_buffered_and_what_an_epoch_answers_with(duck: Duck) -> None:
    of = parts(duck, clause(2), in_order(rows=5), definitions=(TIMED, UNTIMED))
    buffers, answer = of.describe(has_new_pairs=False, why_buffered="a reason")
    assert "every 10 of time" in buffers
    assert answer == "an epoch answers with the query over the buffered chunks: a reason"
    assert "its new pairs" in of.describe(has_new_pairs=True, why_buffered="")[1]
