"""The columns of values: their names and types, as an option says them, and what is in them.

A double is a price, as most of these streams stand for market data: each key has its level, and its
updates are within one per cent of it. The others are even, so that nothing can be read into them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from ..errors import BadOptionError
from .randomness import below, uniform

MOST_VALUES: Final = 250
RESERVED: Final = ("time", "key")
LOWEST_LEVEL: Final = 5.0
HIGHEST_LEVEL: Final = 500.0
DEVIATION: Final = 0.01
"""How far a price is from the level of its key, at most, as a part of it."""

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class ValueColumn:
    """A column of random values of a type, by Spark's name."""

    name: str
    kind: str

    @property
    def meaning(self) -> str:
        """What the values are, in words."""
        return _MEANINGS[self.kind]

    def expression(self, row: Column, key: Column, *, seed: int) -> Column:
        """Return the values, by the number of the row and of the key."""
        of_row = uniform(seed, f"value {self.name}", row)
        of_key = uniform(seed, f"level {self.name}", key)
        return _MAKERS[self.kind](of_row, of_key).alias(self.name)


def parse_values(text: str) -> tuple[ValueColumn, ...]:
    """Return the columns of `NAME:TYPE[,NAME:TYPE…]`; BadOptionError for other text.

    >>> [each.name for each in parse_values("price:double, size:int")]
    ['price', 'size']
    """
    columns = tuple(_parsed(word.strip()) for word in text.split(","))
    if len(columns) > MOST_VALUES:
        raise BadOptionError("--value", f"({len(columns)} of them)", f"at most {MOST_VALUES}")
    seen: set[str] = set()
    for column in columns:
        name = column.name.lower()  # Spark does not tell `Price` from `price`
        if name in RESERVED:
            raise BadOptionError("--value", column.name, "another name; this one is reserved")
        if name in seen:
            raise BadOptionError("--value", column.name, "a different name for each column")
        seen.add(name)
    return columns


def _parsed(word: str) -> ValueColumn:
    name, colon, kind = (part.strip() for part in word.partition(":"))
    kind = kind.lower()
    if not (colon and _NAME.fullmatch(name)):
        expected = "NAME:TYPE[,NAME:TYPE…] with names of letters, digits and underscores"
        raise BadOptionError("--value", repr(word), expected)
    if kind not in _MAKERS:
        raise BadOptionError("--value", repr(word), "one of the types " + ", ".join(_MAKERS))
    return ValueColumn(name, kind)


def _price(of_row: Column, of_key: Column) -> Column:
    level = LOWEST_LEVEL * F.pow(F.lit(HIGHEST_LEVEL / LOWEST_LEVEL), of_key)
    price = level * (1.0 + DEVIATION * (2.0 * of_row - 1.0))
    return F.floor(price * 100.0 + 0.5) / 100.0  # `round` takes longer than all the rest


_MAKERS: Final[dict[str, Callable[[Column, Column], Column]]] = {
    "double": _price,
    "int": lambda of_row, _: below(1_000, of_row).cast("int"),
    "bigint": lambda of_row, _: below(1_000_000_000_000, of_row),
    "string": lambda of_row, _: F.lpad(F.hex(below(1 << 32, of_row)), 8, "0"),
    "boolean": lambda of_row, _: of_row < 0.5,
}
"""By type, what turns uniform numbers of the row and of its key into values."""
_MEANINGS: Final = {
    "double": f"a price, within {DEVIATION:.0%} of its key's level, which is from "
    f"{LOWEST_LEVEL:g} to {HIGHEST_LEVEL:g}",
    "int": "a number from 0 to 999",
    "bigint": "a number from 0 to 999,999,999,999",
    "string": "eight hexadecimal digits",
    "boolean": "true or false, alike often",
}
