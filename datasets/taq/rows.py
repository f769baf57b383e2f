"""The values of a line, or what is wrong with it.

What a field is parsed to is null where it is not what it should be, and the first such field is the
line's fault. The exception is a sequence number, which may be missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

from .fields import shown, with_fields
from .formats import Format, Kind
from .sources import Source
from .times import days_of, nanoseconds_of_colons, nanoseconds_of_digits

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

VALUES: Final[Mapping[Kind, Mapping[str, str]]] = {
    Kind.TRADES: {
        "price": "double",
        "size": "bigint",
        "exchange": "string",
        "condition": "string",
        "correction": "int",
        "sequence": "bigint",
    },
    Kind.QUOTES: {
        "bid": "double",
        "bid_size": "bigint",
        "ask": "double",
        "ask_size": "bigint",
        "exchange": "string",
        "condition": "string",
        "sequence": "bigint",
    },
}
"""The columns of a trace after time and key, and their types."""

DAILY_TIME_DIGITS: Final = 15
IMPLIED_DECIMALS: Final = 4

_PRINTABLE: Final = r"\A[ -~]*\z"
_DECIMAL: Final = r"\A-?(?:[0-9]{1,15}(?:\.[0-9]{0,15})?|\.[0-9]{1,15})\z"

Parse = tuple["Callable[[Column], Column]", str]
"""How to parse a field, and what it should be, for the error."""


def with_values(lines: DataFrame, source: Source) -> DataFrame:
    """Return the lines with `key, day, nanoseconds`, the values of their kind, and a `fault`.

    `day` counts from 1970 and is null where the file has one date; `g127` is there if it is known.
    """
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    texts, fields = with_fields(lines, source)
    parses = {name: _parse(name, source) for name in fields}
    columns = [parse(F.col(name)).alias(f"value of {name}") for name, (parse, _) in parses.items()]
    parsed = texts.select("*", *columns)
    texts_kept = F.concat(*[F.col(name) for name in ("symbol", "exchange", "condition")])
    unprintable = F.concat(
        F.lit("there are bytes that are no printable ASCII: "), shown(texts_kept)
    )
    faults = [F.col("torn"), F.when(~texts_kept.rlike(_PRINTABLE), unprintable)]
    for name, (_, expected) in parses.items():
        said = F.concat(F.lit(f"the {_called(name)} is {expected}: "), shown(F.col(name)))
        faults.append(F.when(F.col(f"value of {name}").isNull(), said))
    values = [_value(name, kind, fields) for name, kind in VALUES[source.format.kind].items()]
    return parsed.select(
        *lines.columns,
        F.coalesce(*faults).alias("fault"),
        F.col("value of symbol").alias("key"),
        _value("date", "int", fields).alias("day"),
        F.col("value of time").alias("nanoseconds"),
        *values,
        *[_value("g127", "bigint", fields) for _ in range("g127" in fields)],
    )


def _value(name: str, kind: str, fields: tuple[str, ...]) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    if name not in fields:
        return F.lit(None).cast(kind).alias(name)
    value = F.col(f"value of {name}")
    if name == "sequence":
        value = F.nullif(value, F.lit(-1))
    return value.cast(kind).alias(name)


def _parse(name: str, source: Source) -> Parse:
    """Return how to parse a field of a format."""
    fixed = source.format.is_fixed
    parses: dict[str, Parse] = {
        "time": _time_parse(source.format, source.time_digits),
        "date": (days_of, "no date such as 20080104"),
        "symbol": (_not_empty, "empty"),
        "exchange": (_text, "missing"),
        "condition": (_text, "missing"),
        "correction": (partial(_whole, below=100), "no number of one or two digits"),
        "g127": (partial(_whole, below=1000), "no whole number"),
        "sequence": (_number_if_any, "no number") if fixed else (_number_or_none, "no number"),
        "size": (_whole, "no whole number"),
        "bid_size": (_whole, "no whole number"),
        "ask_size": (_whole, "no whole number"),
    }
    price: Parse = (_implied, "no number of 11 digits") if fixed else (_decimal, "no number")
    return parses.get(name, price)


def _time_parse(format_: Format, digits: int) -> Parse:
    if format_.is_monthly:
        return nanoseconds_of_colons, "no time such as 9:30:00"
    digits = digits if format_.is_fixed else DAILY_TIME_DIGITS
    return (
        partial(nanoseconds_of_digits, digits=digits),
        f"no time of {digits} digits, HHMMSS and decimals",
    )


def _called(name: str) -> str:
    return {"g127": "G127"}.get(name, name.replace("_", " "))


def _text(text: Column) -> Column:
    return text


def _not_empty(text: Column) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    return F.nullif(text, F.lit(""))


def _whole(text: Column, below: int = 10**15) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    number = text.try_cast("bigint")
    return F.when((number >= 0) & (number < below), number)


def _number_or_none(text: Column) -> Column:
    """Return -1 for none, as null is for what is no number."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.when(text == "", F.lit(-1).cast("bigint")).otherwise(_whole(text, below=10**18))


def _number_if_any(text: Column) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    return F.coalesce(_whole(text, below=10**18), F.lit(-1).cast("bigint"))


def _decimal(text: Column) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    return F.when(text.rlike(_DECIMAL), text.try_cast("double"))


def _implied(text: Column) -> Column:
    return _whole(text).cast("double") / 10**IMPLIED_DECIMALS
