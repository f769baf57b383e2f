"""What was found in each file: how many lines of which sort, and where the first and last are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from .sources import Source
from .staging import BAD, BLANK, HEADER, PLACE, TRAILER

KEPT: Final = None
NO_ROWS: Final = (HEADER, TRAILER, BLANK)
"""Sorts of lines that are no rows of data."""

Place = tuple[int, int]
"""Where a line is in its file; in the order of lines."""


@dataclass(frozen=True, slots=True)
class Sort:
    """The lines of one sort in one file."""

    count: int
    first: Place
    last: Place
    text: str | None
    """Of the first: the line of a trailer, or what is wrong with a bad row."""

    def with_more(self, other: Sort) -> Sort:
        """Return this with lines of the same sort from another split of the file."""
        first, last = min(self.first, other.first), max(self.last, other.last)
        return Sort(self.count + other.count, first, last, self.text)


@dataclass(frozen=True, slots=True)
class Account:
    """The lines of one file, by sort: None for those that are kept, else why they are not."""

    source: Source
    sorts: Mapping[str | None, Sort]
    staged: DataFrame
    """The lines of this file."""

    @property
    def rows(self) -> int:
        """How many rows of data there are, good or bad."""
        return sum(sort.count for why, sort in self.sorts.items() if why not in NO_ROWS)

    def count(self, why: str | None) -> int:
        """Return how many lines are of a sort."""
        sort = self.sorts.get(why)
        return 0 if sort is None else sort.count

    def last_line(self, *, but: str) -> Place:
        """Return the last line that is neither blank nor of this sort; before all if none is."""
        places = [sort.last for why, sort in self.sorts.items() if why not in (BLANK, but)]
        return max(places, default=(-1, -1))

    def line_number(self, place: Place) -> int:
        """Return the number of a line, from 1."""
        return self.staged.where(~_is_after(place)).count()

    def first_after(self, place: Place) -> Place:
        """Return the first line after one that is not blank; there must be one."""
        after = self.staged.where(_is_after(place) & ~F.col("why").eqNullSafe(BLANK))
        row = after.agg(F.min(F.struct("at", "row"))).first()
        assert row is not None
        return row[0]["at"], row[0]["row"]

    def blanks_before(self, place: Place) -> int:
        """Return how many blank lines there are before a line."""
        return self.staged.where(~_is_after(place) & (F.col("why") == BLANK)).count()


def account_for(staged: DataFrame, sources: Sequence[Source]) -> list[Account]:
    """Count what was staged, file by file; by split first, so that Spark compares numbers only."""
    file, at, row = PLACE
    counted = staged.groupBy(file, at, "why").agg(
        F.count("*").alias("count"), F.min(row).alias("first"), F.max(row).alias("last")
    )
    texts = _texts(staged)
    sorts: list[dict[str | None, Sort]] = [{} for _ in sources]
    for found in counted.collect():
        number, why = found[file], found["why"]
        first, last = (found[at], found["first"]), (found[at], found["last"])
        sort = Sort(found["count"], first, last, texts.get((number, why)))
        known = sorts[number].get(why)
        sorts[number][why] = sort if known is None else known.with_more(sort)
    return [
        Account(source, sorts[number], staged.where(F.col(file) == number))
        for number, source in enumerate(sources)
    ]


def _texts(staged: DataFrame) -> dict[tuple[int, str], str]:
    """Return the first text of each file and sort that has any."""
    file, *place = PLACE
    said = staged.where(F.col("why").isin(BAD, TRAILER)).groupBy(file, "why")
    rows = said.agg(F.min_by("text", F.struct(*place)).alias("text")).collect()
    return {(row[file], row["why"]): row["text"] for row in rows}


def dropped_by_reason(accounts: Sequence[Account], blanks: int) -> dict[str, int]:
    """Return how many rows were dropped, over all files, by reason; `blanks` count as bad rows."""
    dropped: dict[str, int] = {}
    for account in accounts:
        for why, sort in account.sorts.items():
            if why is not None and why not in NO_ROWS:
                dropped[why] = dropped.get(why, 0) + sort.count
    if blanks:
        dropped[BAD] = dropped.get(BAD, 0) + blanks
    return dict(sorted(dropped.items()))


def _is_after(place: Place) -> Column:
    at, row = place
    return (F.col("at") > at) | ((F.col("at") == at) & (F.col("row") > row))
