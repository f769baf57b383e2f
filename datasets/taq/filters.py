"""Which rows are wanted, and why the others are dropped: by the first reason that applies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from .conditions import Conditions
from .formats import Format, Kind
from .times import SECOND

if TYPE_CHECKING:
    from pyspark.sql import Column

USUAL_CORRECTIONS: Final = (0, 1, 2)
"""Regular trades, and those that were corrected, with what is right now."""


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
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

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
        from pyspark.sql import functions as F  # noqa: N812

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
        from pyspark.sql import functions as F  # noqa: N812

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
