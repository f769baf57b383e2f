"""The whole job: files are staged, checked, put in order of time, and written as a trace."""

from __future__ import annotations

import math
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from ..errors import BadFileError
from ..output.card import Cell, DataCard, Trace
from ..output.trace import ROWS_PER_FILE, measure_trace, write_trace
from ..spark.progress import job_progress
from .accounts import KEPT, Account, account_for, dropped_by_reason
from .checks import Allowance, Findings, check
from .filters import Filters
from .formats import Kind
from .rows import VALUES
from .sources import Source, kind_of
from .staging import PLACE, stage
from .times import seconds_of, utc_nanoseconds

EPOCH: Final = date(1970, 1, 1)

MEANINGS: Final = {
    "time": "seconds since 1970, UTC; the nearest float64",
    "key": "the symbol, root and suffix",
    "time_ns": "nanoseconds since 1970, UTC, exactly",
    "price": "in dollars",
    "size": "in shares",
    "bid": "in dollars; 0 where there is none",
    "bid_size": "as in the file: in round lots, or in shares",
    "ask": "in dollars; 0 where there is none",
    "ask_size": "as in the file: in round lots, or in shares",
    "exchange": "the code of the exchange",
    "condition": "as in the file, with its blanks",
    "correction": "the correction indicator",
    "sequence": "the sequence number, null where there is none",
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be loaded from files, and what is let pass."""

    filters: Filters = field(default_factory=Filters)
    allowance: Allowance = field(default_factory=Allowance)


def load(
    session: SparkSession, sources: Sequence[Source], folder: Path, wanted: Wanted, command: str
) -> DataCard:
    """Write the rows of files that are wanted into a folder, in order of time; return its card.

    Rows of the same time are in the order of the files, and of the lines in them.
    """
    work = folder / ".work"
    with job_progress(session, f"Reading {_files(sources)}"):
        staged = stage(session, sources, wanted.filters, work)
    with job_progress(session, "Checking what was read"):
        accounts = account_for(staged, sources)
        findings = check(accounts, wanted.allowance)
    kept = sum(account.count(KEPT) for account in accounts)
    if kept == 0:
        reason = f"none of the {sum(each.rows for each in accounts):,} rows pass the filters"
        raise BadFileError(_files(sources), f"{reason}; check the filter options")
    with job_progress(session, f"Sorting {kept:,} {kind_of(sources).value}"):
        write_trace(in_order(staged, sources, findings.dates, kept), folder)
    shutil.rmtree(work)
    with job_progress(session, "Counting what was written"):
        trace = measure_trace(session, folder, MEANINGS)
    return _card(trace, accounts, findings, wanted, command)


def in_order(
    staged: DataFrame, sources: Sequence[Source], dates: Sequence[date | None], rows: int
) -> DataFrame:
    """Return the rows that are wanted as a trace, sorted by time, by Spark's external sort.

    Partitions are ranges of time and place, so also a second with very many rows is spread.
    """
    values = [name for name in VALUES[kind_of(sources)] if _is_known(name, sources)]
    time_ns = utc_nanoseconds(_days(dates), F.col("nanoseconds")).alias("time_ns")
    timed = staged.where(F.col("why").isNull()).select(*PLACE, "key", time_ns, *values)
    order = ["time_ns", *PLACE]
    ranges = timed.repartitionByRange(math.ceil(rows / ROWS_PER_FILE), *order)
    time = seconds_of(F.col("time_ns")).alias("time")
    return ranges.sortWithinPartitions(*order).select(time, "key", "time_ns", *values)


def _days(dates: Sequence[date | None]) -> Column:
    """Return the day of a row: its own, or that of its file."""
    days = [F.lit(None if each is None else (each - EPOCH).days).cast("int") for each in dates]
    return F.coalesce(F.col("day"), F.get(F.array(*days), F.col("file")))


def _is_known(value: str, sources: Sequence[Source]) -> bool:
    return value != "sequence" or any(source.has_sequence for source in sources)


def _card(
    trace: Trace, accounts: Sequence[Account], findings: Findings, wanted: Wanted, command: str
) -> DataCard:
    sources = [account.source for account in accounts]
    dropped = dropped_by_reason(accounts, findings.blank_rows)
    read = sum(account.rows for account in accounts) + findings.blank_rows
    assert read == trace.updates + sum(dropped.values()), "a row that was lost on the way"
    notes = [] if findings.first_bad is None else [f"The first bad row: {findings.first_bad}."]
    return DataCard(
        title=f"NYSE TAQ {kind_of(sources).value}",
        command=command,
        trace=trace,
        parameters=_parameters(accounts, findings, wanted),
        read=read,
        dropped=dropped,
        notes=tuple(notes),
    )


def _parameters(accounts: Sequence[Account], findings: Findings, wanted: Wanted) -> dict[str, Cell]:
    parameters: dict[str, Cell] = {}
    for account, day in zip(accounts, findings.dates, strict=True):
        of_day = "" if day is None else f" of {day}"
        source = account.source
        parameters[str(source.path)] = f"{source.format}{of_day}, {account.rows:,} rows"
    return parameters | wanted.filters.described(_kind(accounts))


def _kind(accounts: Sequence[Account]) -> Kind:
    return accounts[0].source.format.kind


def _files(sources: Sequence[Source]) -> str:
    first = sources[0].path
    return str(first) if len(sources) == 1 else f"{first} and {len(sources) - 1} more"
