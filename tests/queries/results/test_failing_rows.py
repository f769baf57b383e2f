"""Rows on which a statement fails are found, left out, and counted; the others stay."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.database.failure import DatabaseError
from upstream.queries.evaluation.failing_rows import FailingRows


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
def test_what_does_not_fail_by_itself_is_left_in_order(texts: list[str]) -> None:
    failing = FailingRows()
    results = failing.spare(Casts(), rows(texts))
    good = [int(text) for text in texts if text != "bad"]
    assert [x for table in results for x in table["x"].to_pylist()] == good
    assert failing.count == len(texts) - len(good)
    assert (failing.error is None) == (failing.count == 0)


def test_rows_that_do_not_fail_are_run_together() -> None:
    run = Casts()
    [result] = FailingRows().spare(run, rows(["1"] * 1_000))
    assert (result.num_rows, run.runs) == (1_000, 1)


def test_one_bad_row_of_many_costs_statements_by_the_logarithm() -> None:
    run, failing = Casts(), FailingRows()
    failing.spare(run, rows(["1"] * 700 + ["bad"] + ["1"] * 323))
    assert failing.count == 1
    assert run.runs == 1 + 1 + 2 * 10  # all, none, and two halves at each level


def test_the_last_error_is_kept_and_counts_add_up() -> None:
    failing = FailingRows()
    failing.spare(Casts(), rows(["x", "1"]))
    failing.spare(Casts(), rows(["1", "y"]))
    assert failing.count == 2
    assert failing.error is not None
    assert "'y'" in failing.error


def test_a_batch_that_is_bad_throughout_does_not_cost_statements_without_end() -> None:
    run, failing = Casts(), FailingRows()
    results = failing.spare(run, rows(["1", "bad"] * 5_000))
    assert run.runs < 2_100
    assert failing.count + sum(table.num_rows for table in results) == 10_000


def test_what_no_rows_cause_is_not_taken_for_their_fault() -> None:
    def run(_: pa.Table) -> pa.Table:
        raise KeyError("a mistake of ours")

    with pytest.raises(KeyError):
        FailingRows().spare(run, rows(["1", "2"]))
