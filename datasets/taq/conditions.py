"""Which sale conditions and quote conditions a row may have.

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

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Final

from ..errors import BadOptionError

if TYPE_CHECKING:
    from pyspark.sql import Column

USUALLY_DROPPED: Final = ("Z", "4", "T", "V", "U", "P", "W", "X")
LONGEST: Final = 4


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
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

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
        from pyspark.sql import functions as F  # noqa: N812

        if self.is_whole:
            return F.trim(condition) == codes
        return reduce(lambda a, b: a & b, [condition.contains(code) for code in codes])

    def _has_other(self, condition: Column) -> Column:
        from pyspark.sql import functions as F  # noqa: N812

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
