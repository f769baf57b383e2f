"""Which rows are wanted, and why the others are dropped: by the first reason that applies.

A sale condition is up to four characters, each a code of its own: in the daily files every place
has a meaning, and blanks hold the places; in the monthly product they are pushed together, and some
tools strip blanks of daily files, too. So a code is looked for in any place: `4` is in `4`, `@4`,
`R4` and ` 4 B` alike.

By default rows with one of the codes that are no normal trades at the time's price are dropped, and
all others are kept, also with codes that the usual lists do not know. A list of what may be kept
would do as well for old files, but it would drop every odd lot (`I`), which were not reported
before December 2013 and are half of all trades by now, and each code that was made since.

The condition of a quote (in the monthly product: its mode, a number) is one code as a whole, and
none is dropped by default.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from ..errors import BadOptionError
from .formats import USUAL_CORRECTIONS, USUALLY_DROPPED, Format, Kind
from .times import SECOND

LONGEST: Final = 4
"""The characters of a sale condition."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """What is dropped, and what alone is kept if that is given."""

    dropped: tuple[str, ...] = USUALLY_DROPPED
    """A row is dropped that has all the codes of one of these."""
    kept: tuple[str, ...] | None = None
    """If given, a row is kept only if each of its codes is in one of these."""
    is_whole: bool = False
    """Whether a condition is one code, as those of quotes are."""

    def reason(self, condition: Column) -> Column:
        """Return why a row with this condition is dropped, null if it is not."""
        reasons = [
            F.when(self._has(condition, each), F.lit(f"condition {each}")) for each in self.dropped
        ]
        if self.kept is not None:
            reasons.append(F.when(self._has_other(condition), F.lit("other condition")))
        return F.coalesce(*reasons) if reasons else F.lit(None).cast("string")

    def described(self) -> str:
        """Return what is kept and dropped, in words."""
        dropped = f"all but {' '.join(self.dropped)}" if self.dropped else "all"
        return dropped if self.kept is None else f"{' '.join(self.kept)}, of {dropped}"

    def _has(self, condition: Column, codes: str) -> Column:
        if self.is_whole:
            return F.trim(condition) == codes
        return reduce(lambda a, b: a & b, [condition.contains(code) for code in codes])

    def _has_other(self, condition: Column) -> Column:
        assert self.kept is not None
        if self.is_whole:
            return ~F.trim(condition).isin("", *self.kept)
        known = "".join(dict.fromkeys("".join(self.kept)))
        return F.trim(F.translate(condition, known, "")) != ""


def parsed_conditions(option: str, text: str) -> tuple[str, ...]:
    """Return the conditions that an option lists; BadOptionError unless they can be any.

    >>> parsed_conditions("--drop-conditions", "Z, @4")
    ('Z', '@4')
    """
    listed = tuple(dict.fromkeys(each.strip() for each in text.split(",")))
    if not all(each.isascii() and each.isprintable() for each in listed) or not all(
        0 < len(each) <= LONGEST and " " not in each for each in listed
    ):
        expected = f"conditions of up to {LONGEST} characters, with commas between, such as @,F,I"
        raise BadOptionError(option, repr(text), expected)
    return listed


def chosen_conditions(
    *, is_trades: bool, kept: Sequence[str] | None, dropped: Sequence[str] | None, is_all: bool
) -> Conditions:
    """Return what options choose; `dropped` takes the place of the usual list."""
    if dropped is None:
        dropped = USUALLY_DROPPED if is_trades and kept is None and not is_all else ()
    return Conditions(
        dropped=tuple(dropped), kept=None if kept is None else tuple(kept), is_whole=not is_trades
    )


@dataclass(frozen=True, slots=True)
class Filters:
    """What is wanted."""

    conditions: Conditions = field(default_factory=Conditions)
    corrections: tuple[int, ...] | None = USUAL_CORRECTIONS
    """None for any; of trades only, as all that follow but the last three."""
    is_any_g127: bool = False
    is_any_price: bool = False
    symbols: tuple[str, ...] | None = None
    from_second: int | None = None
    """Of the day in New York; both ends are in."""
    to_second: int | None = None

    def reason(self, row: Mapping[str, Column], format_: Format) -> Column:
        """Return why a row is dropped, null if it is not."""
        reasons = [*self._by_place(row)]
        if format_.kind is Kind.TRADES:
            reasons += self._of_trades(row)
        reasons.append(self.conditions.reason(row["condition"]))
        if format_.kind is Kind.TRADES and not self.is_any_price:
            reasons.append(F.when(row["price"] <= 0, F.lit("price not above 0")))
        return F.coalesce(*reasons)

    def described(self, kind: Kind) -> dict[str, str | bool]:
        """Return what is wanted as parameters of a data card."""
        said: dict[str, str | bool] = {"conditions kept": self.conditions.described()}
        if kind is Kind.TRADES:
            every = self.corrections is None
            listed = ", ".join(map(str, self.corrections or ()))
            said["corrections kept"] = "all" if every else listed
            said["G127 kept"] = "any" if self.is_any_g127 else "0"
            said["prices kept"] = "any" if self.is_any_price else "above 0"
        if self.symbols is not None:
            said["symbols kept"] = ", ".join(self.symbols)
        if self.from_second is not None:
            said["from"] = clock(self.from_second)
        if self.to_second is not None:
            said["to"] = clock(self.to_second)
        return said

    def _by_place(self, row: Mapping[str, Column]) -> list[Column]:
        reasons = []
        if self.symbols is not None:
            reasons.append(F.when(~row["key"].isin(*self.symbols), F.lit("other symbol")))
        outside = F.lit("outside the hours")
        if self.from_second is not None:
            reasons.append(F.when(row["nanoseconds"] < self.from_second * SECOND, outside))
        if self.to_second is not None:
            reasons.append(F.when(row["nanoseconds"] > self.to_second * SECOND, outside))
        return reasons

    def _of_trades(self, row: Mapping[str, Column]) -> list[Column]:
        reasons = []
        if self.corrections is not None:
            other = F.concat(F.lit("correction "), row["correction"].cast("string"))
            reasons.append(F.when(~row["correction"].isin(*self.corrections), other))
        if "g127" in row and not self.is_any_g127:
            reasons.append(F.when(row["g127"] != 0, F.lit("G127 not 0")))
        return reasons


def clock(second: int) -> str:
    """Return a second of the day as a time.

    >>> clock(34_200)
    '09:30:00'
    """
    return f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
