"""What is counted of each file, and the numbers of lines, in splits of any size."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from datasets.taq.accounts import KEPT, Account, account_for, dropped_by_reason
from datasets.taq.filters import Filters
from datasets.taq.sources import recognise
from datasets.taq.staging import BAD, BLANK, HEADER, TRAILER, stage

from .daily_files import daily, trade, write
from .test_staging import splits_of

BAD_LINES = (61, 200, 319)
DROPPED_LINE = 100
BLANK_LINE = 150


@pytest.fixture(scope="module")
def accounts(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> list[Account]:
    """A file of 322 lines in many splits, some of them bad, and a short one."""
    folder = tmp_path_factory.mktemp("accounts")
    rows = [trade() for _ in range(320)]
    for line in BAD_LINES:
        rows[line - 2] = trade(price=f"bad at {line}")  # the first row is in line 2
    rows[DROPPED_LINE - 2] = trade(condition="Z")
    rows[BLANK_LINE - 2] = ""
    paths = [write(folder / "a", daily(rows)), write(folder / "b", daily([trade()] * 3))]
    with splits_of(spark, 2_000):
        sources = recognise(paths)
        return account_for(stage(spark, sources, Filters(), folder / "work"), sources)


def test_lines_are_counted_by_sort_and_file(accounts: list[Account]) -> None:
    long, short = accounts
    once = (BLANK, HEADER, TRAILER, "condition Z")
    assert {why: sort.count for why, sort in long.sorts.items()} == (
        {KEPT: 315, BAD: 3} | dict.fromkeys(once, 1)
    )
    assert {why: sort.count for why, sort in short.sorts.items()} == {
        KEPT: 3,
        HEADER: 1,
        TRAILER: 1,
    }
    assert (long.rows, short.rows) == (319, 3)
    assert (long.count(BAD), short.count(BAD)) == (3, 0)


def test_the_number_of_a_line_is_that_of_its_place(accounts: list[Account]) -> None:
    long, short = accounts
    assert long.sorts[BAD].text == "the price is no number: 'bad at 61'"
    assert long.line_number(long.sorts[BAD].first) == BAD_LINES[0]
    assert long.line_number(long.sorts[BAD].last) == BAD_LINES[-1]
    assert long.line_number(long.sorts["condition Z"].first) == DROPPED_LINE
    assert long.line_number(long.sorts[HEADER].first) == 1
    assert long.line_number(long.sorts[TRAILER].last) == 322
    assert short.line_number(short.sorts[KEPT].last) == 4


def test_the_lines_after_and_before_a_line_are_found(accounts: list[Account]) -> None:
    long = accounts[0]
    assert long.line_number(long.first_after(long.sorts[BAD].first)) == 62
    assert long.last_line(but=BLANK) == long.sorts[TRAILER].first
    assert long.last_line(but=TRAILER) == long.sorts[KEPT].last
    assert long.blanks_before(long.sorts[BAD].first) == 0
    assert long.blanks_before(long.sorts[BAD].last) == 1


def test_dropped_rows_are_added_up_over_files(accounts: list[Account]) -> None:
    assert dropped_by_reason(accounts, 0) == {BAD: 3, "condition Z": 1}
    assert dropped_by_reason(accounts[1:], 2) == {BAD: 2}
