"""Rows on which a statement fails are found, left out, and counted; the others stay."""

from __future__ import annotations

import json
from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.database.failure import DatabaseError
from upstream.queries.chunks.windows import Span
from upstream.queries.results.failing_rows import (
    FailedRows,
    FailingRows,
    FailingRowsOfInputs,
    Place,
    spare,
)


class Casts:
    """A statement that fails on rows whose text is no number; counts how often it ran."""

    def __init__(self) -> None:
        self.runs = 0

    def __call__(self, rows: pa.Table) -> pa.Table:
        """Return the rows as numbers."""
        self.runs += 1
        for text in rows["t"].to_pylist():
            if not text.isdigit():
                raise DatabaseError(f"cannot convert {text!r}")
        return pa.table({"x": [int(text) for text in rows["t"].to_pylist()]})


def rows(texts: list[str]) -> pa.Table:
    return pa.table({"t": pa.array(texts, pa.string())})


@given(st.lists(st.sampled_from(["1", "2", "3", "bad"]), max_size=30))
def test_rows_that_do_not_fail_keep_their_order(texts: list[str]) -> None:
    spared = spare(Casts(), rows(texts))
    good = [int(text) for text in texts if text != "bad"]
    assert [x for table in spared.results for x in table["x"].to_pylist()] == good
    bad = [place + each for place, count in spared.left_out for each in range(count)]
    assert bad == [place for place, text in enumerate(texts) if text == "bad"]
    assert spared.rows_failed == len(bad)
    assert (spared.error is None) == (not bad)


def test_rows_that_do_not_fail_are_run_together() -> None:
    run = Casts()
    [result] = spare(run, rows(["1"] * 1_000)).results
    assert (result.num_rows, run.runs) == (1_000, 1)


def test_one_bad_row_of_many_costs_statements_by_the_logarithm() -> None:
    run = Casts()
    spared = spare(run, rows(["1"] * 700 + ["bad"] + ["1"] * 323))
    assert spared.left_out == [(700, 1)]
    assert run.runs == 1 + 1 + 2 * 10  # all, none, and two halves at each level


def test_the_error_is_the_last_one() -> None:
    error = spare(Casts(), rows(["x", "1", "y"])).error
    assert error is not None
    assert "'y'" in error


def test_a_statement_that_fails_over_no_rows_leaves_out_all_at_once() -> None:
    run = Casts()
    spared = spare(lambda each: run(pa.concat_tables([each, rows(["gone"])])), rows(["1"] * 99))
    assert (spared.results, spared.left_out, run.runs) == ([], [(0, 99)], 2)


def test_a_batch_that_is_bad_throughout_does_not_cost_statements_without_end() -> None:
    run = Casts()
    spared = spare(run, rows(["1", "bad"] * 5_000))
    assert run.runs < 2_100
    assert spared.rows_failed + sum(table.num_rows for table in spared.results) == 10_000


def test_a_failure_that_no_row_causes_is_not_counted_for_rows() -> None:
    def run(_: pa.Table) -> pa.Table:
        raise KeyError("a mistake of ours")

    with pytest.raises(KeyError):
        spare(run, rows(["1", "2"]))


# Where they are


def test_a_row_that_several_leaves_fail_on_is_one_row() -> None:
    failed = FailedRows(1)
    failed.note(3, [0, 4], "bad")
    failed.note(3, range(4, 6), "worse")
    failed.note(5, [0], "worst")
    failed.note(6, [], None)
    assert failed.by_place() == Counter({((1, 3),): 3, ((1, 5),): 1})
    assert failed.error == "worst"


def test_counts_add_up_and_the_last_error_is_kept() -> None:
    failing = FailingRows()
    failing.add(Counter({((0, 1),): 2}), "bad")
    failing.add(Counter({((0, 1),): 1, ((1, 1),): 4}), "worse")
    failing.add(Counter(), None)
    assert (failing.count, failing.error) == (7, "worse")
    failing.count_more(0, "no rows")
    failing.count_more(2, "worst")
    assert (failing.count, failing.error) == (9, "worst")


def test_a_window_leaves_out_the_rows_and_the_pairs_that_are_in_it() -> None:
    # chunks      |0 |1 |2 |3 |
    # input 0        *  *            two rows, and one
    # pairs       0:1 with 1:3       three
    failing = FailingRows()
    failing.add(Counter({((0, 1),): 2, ((0, 2),): 1, ((0, 1), (1, 3)): 3}), "bad")
    assert failing.within([Span(0, 2), Span(0, 2)]) == (2, "bad")
    assert failing.within([Span(0, 4), Span(0, 4)]) == (6, "bad")
    assert failing.within([Span(2, 4), Span(0, 4)]) == (1, "bad")
    assert failing.within([Span(3, 4), Span(0, 4)]) == (0, None)


PLACES = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 5)),
    min_size=1,
    max_size=2,
    unique_by=lambda p: p[0],
).map(lambda place: tuple(sorted(place)))


@given(
    failed=st.lists(st.tuples(PLACES, st.integers(1, 3)), max_size=8),
    before=st.tuples(st.integers(0, 6), st.integers(0, 6)),
    sizes=st.tuples(st.integers(0, 6), st.integers(0, 6)),
)
def test_forgotten_chunks_are_in_no_later_window(
    failed: list[tuple[Place, int]], before: tuple[int, int], sizes: tuple[int, int]
) -> None:
    failing = FailingRows()
    for place, count in failed:
        failing.add(Counter({place: count}), "bad")
    spans = [Span(first, first + size) for first, size in zip(before, sizes, strict=True)]
    expected = sum(
        count
        for place, count in failed
        if all(spans[number].first <= chunk < spans[number].end for number, chunk in place)
    )
    assert failing.within(spans)[0] == expected
    restored = FailingRows()
    restored.restore(json.loads(json.dumps(failing.saved())))
    assert restored.saved() == failing.saved()
    assert restored.within(spans) == failing.within(spans)
    failing.forget(before)
    assert failing.within(spans)[0] == expected
    assert failing.count == sum(count for _, count in failed)


def test_the_failing_rows_of_inputs_are_counted_together_and_saved_by_input() -> None:
    inputs = [FailingRows(), FailingRows(), FailingRows()]
    together = FailingRowsOfInputs(inputs)
    assert (together.count, together.error) == (0, None)
    inputs[1].add(Counter({((0, 0),): 2}), "a cast")
    inputs[2].add(Counter({((0, 0),): 3}), "a sum")
    assert (together.count, together.error) == (5, "a cast")
    saved = json.loads(json.dumps(together.saved()))
    assert saved == [5, "a cast", [[[[1, 0]], 2, "a cast"], [[[2, 0]], 3, "a sum"]]]
    others = [FailingRows(), FailingRows(), FailingRows()]
    FailingRowsOfInputs(others).restore(saved)
    assert [(each.count, each.error) for each in others] == [(0, None), (2, "a cast"), (3, "a sum")]
    assert FailingRowsOfInputs(others).saved() == together.saved()
