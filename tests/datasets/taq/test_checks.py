"""Files that are not in order: each names its file and its line, and says what is wrong."""

from __future__ import annotations

from datetime import date

import pytest
from pyspark.sql import SparkSession

from datasets.errors import BadFileError
from datasets.taq.accounts import Account, account_for
from datasets.taq.checks import Allowance, Findings, check
from datasets.taq.filters import Filters
from datasets.taq.sources import recognise
from datasets.taq.staging import stage

from .daily_files import (
    MONTHLY_TRADES_HEADER,
    TRADES_HEADER,
    daily,
    fixed,
    fixed_trade,
    trade,
    write,
)

ROW = trade()
GOOD = daily([ROW] * 3)
NO_TRAILER = f"{TRADES_HEADER}\n{ROW}\n{ROW}"
MONTHLY = f"{MONTHLY_TRADES_HEADER}\nIBM,20080104,9:30:26,193.76,345050,0,0,@F,N\n"

FILES = {
    "good": GOOD,
    "good-blank-end": GOOD + "\n \r\n\n",
    "bad-row": daily([ROW, ROW, "x", ROW, trade(price="4x")]),
    "blank-among": daily([ROW, "", "", ROW]).replace("|4||", "|2||"),
    "header-again": daily([ROW, TRADES_HEADER, ROW]),
    "no-trailer": NO_TRAILER + "\n\n",
    "no-trailer-20180103": NO_TRAILER,
    "after-trailer": GOOD + ROW + "\n",
    "two-trailers": GOOD + "END|20180102|3|\n",
    "trailer-disagrees": daily([ROW] * 3, trailer="END|20180102|4|||"),
    "trailer-of-no-day": daily([ROW], trailer="END|20181302|1|||"),
    "trailer-cut": daily([ROW], trailer="END|2018"),
    "no-rows": daily([]),
    "fixed": fixed([fixed_trade()] * 3),
    "fixed-disagrees": fixed([fixed_trade()] * 3).replace("    3", "    4"),
    "fixed-no-day": fixed([fixed_trade()] * 3, None),
    "taqtrade20140107": fixed([fixed_trade()] * 3, None),
    "monthly": MONTHLY,
}


@pytest.fixture(scope="module")
def accounts(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Account]:
    """All files, staged at once."""
    folder = tmp_path_factory.mktemp("checks")
    sources = recognise([write(folder / name, text) for name, text in FILES.items()])
    found = account_for(stage(spark, sources, Filters(), folder / "work"), sources)
    return dict(zip(FILES, found, strict=True))


def found_in(account: Account, allowance: Allowance | None = None) -> Findings:
    return check([account], allowance or Allowance())


@pytest.mark.parametrize(
    ("name", "line", "reason"),
    [
        ("bad-row", 4, "there are 1 fields, and 15 columns in the header (2 rows are bad, and "),
        ("blank-among", 3, "the line is empty (2 rows are bad"),
        ("header-again", 3, "this is the header again"),
        ("no-trailer", 3, "the file ends without a trailer END|date|rows"),
        ("after-trailer", 6, "there is text after the trailer"),
        ("two-trailers", 6, "there is text after the trailer"),
        ("trailer-disagrees", 5, "the trailer says 4 rows, but there are 3"),
        ("trailer-of-no-day", 3, "not a trailer END|date|rows: 'END|20181302|1|||'"),
        ("trailer-cut", 3, "not a trailer END|date|rows: 'END|2018'"),
        ("fixed-disagrees", 1, "the header says 4 rows, but there are 3"),
        ("fixed-no-day", None, "neither the file nor its name has its date"),
    ],
)
def test_a_fault_of_a_file_is_named_with_its_line(
    accounts: dict[str, Account], name: str, line: int | None, reason: str
) -> None:
    with pytest.raises(BadFileError) as caught:
        found_in(accounts[name])
    assert caught.value.path.name == name
    assert caught.value.line == line
    assert caught.value.reason.startswith(reason)


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("good", date(2018, 1, 2)),
        ("good-blank-end", date(2018, 1, 2)),
        ("no-rows", date(2018, 1, 2)),
        ("fixed", date(2014, 1, 6)),
        ("taqtrade20140107", date(2014, 1, 7)),
        ("monthly", None),
    ],
)
def test_the_day_is_that_of_the_trailer_the_header_or_the_name(
    accounts: dict[str, Account], name: str, day: date | None
) -> None:
    findings = found_in(accounts[name])
    assert findings.dates == (day,)
    assert (findings.blank_rows, findings.first_bad) == (0, None)


def test_a_file_without_a_trailer_may_be_taken_if_its_day_is_known(
    accounts: dict[str, Account],
) -> None:
    day = date(2018, 1, 5)
    anyhow = Allowance(is_trailer_needed=False, date=day)
    assert found_in(accounts["no-trailer"], anyhow).dates == (day,)
    by_name = Allowance(is_trailer_needed=False)
    assert found_in(accounts["no-trailer-20180103"], by_name).dates == (date(2018, 1, 3),)
    with pytest.raises(BadFileError, match="give it with --date"):
        found_in(accounts["no-trailer"], by_name)


def test_a_trailer_that_is_there_must_be_right_also_if_none_is_needed(
    accounts: dict[str, Account],
) -> None:
    with pytest.raises(BadFileError, match="says 4 rows"):
        found_in(accounts["trailer-disagrees"], Allowance(is_trailer_needed=False))


def test_a_date_that_is_given_is_that_of_files_that_say_none(accounts: dict[str, Account]) -> None:
    day = date(2014, 1, 8)
    assert found_in(accounts["fixed-no-day"], Allowance(date=day)).dates == (day,)
    assert found_in(accounts["taqtrade20140107"], Allowance(date=day)).dates == (day,)
    with pytest.raises(BadFileError, match="the file is of 2014-01-06, but --date is 2014-01-08"):
        found_in(accounts["fixed"], Allowance(date=day))


def test_as_many_bad_rows_as_are_allowed_are_accepted(accounts: dict[str, Account]) -> None:
    findings = found_in(accounts["bad-row"], Allowance(bad_rows=2))
    assert findings.blank_rows == 0
    assert findings.first_bad is not None
    assert findings.first_bad.line == 4
    with pytest.raises(BadFileError, match=r"2 rows are bad, and --bad-rows allows 1"):
        found_in(accounts["bad-row"], Allowance(bad_rows=1))
    assert found_in(accounts["blank-among"], Allowance(bad_rows=2)).blank_rows == 2


def test_bad_rows_are_added_up_over_files(accounts: dict[str, Account]) -> None:
    both = [accounts["good"], accounts["blank-among"], accounts["bad-row"]]
    with pytest.raises(BadFileError, match=r"blank-among, line 3: .*4 rows are bad"):
        check(both, Allowance(bad_rows=3))
    assert check(both, Allowance(bad_rows=4)).dates == (date(2018, 1, 2),) * 3
