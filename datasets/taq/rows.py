"""The fields of a line as text, and their values, or what is wrong with the line.

Fields are told by separators or by places. All are without blanks around them, except conditions,
whose blanks hold places.

What a field is parsed to is null where it is not what it should be, and the first such field is the
line's fault. The exception is a sequence number, which may be missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from .fixed_width import field_places, least_length
from .formats import Format, Kind
from .sources import Source
from .times import days_of, nanoseconds_of_colons, nanoseconds_of_digits

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
SHOWN: Final = 40
"""How many characters of a bad field an error shows."""

_PRINTABLE: Final = r"\A[ -~]*\z"
_DECIMAL: Final = r"\A-?(?:[0-9]{1,15}(?:\.[0-9]{0,15})?|\.[0-9]{1,15})\z"

Parse = tuple[Callable[[Column], Column], str]
"""How to parse a field, and what it should be, for the error."""


def with_values(lines: DataFrame, source: Source) -> DataFrame:
    """Return the lines with `key, day, nanoseconds`, the values of their kind, and a `fault`.

    `day` counts from 1970 and is null where the file has one date; `g127` is there if it is known.
    """
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
    return F.nullif(text, F.lit(""))


def _whole(text: Column, below: int = 10**15) -> Column:
    number = text.try_cast("bigint")
    return F.when((number >= 0) & (number < below), number)


def _number_or_none(text: Column) -> Column:
    """Return -1 for none, as null is for what is no number."""
    return F.when(text == "", F.lit(-1).cast("bigint")).otherwise(_whole(text, below=10**18))


def _number_if_any(text: Column) -> Column:
    return F.coalesce(_whole(text, below=10**18), F.lit(-1).cast("bigint"))


def _decimal(text: Column) -> Column:
    return F.when(text.rlike(_DECIMAL), text.try_cast("double"))


def _implied(text: Column) -> Column:
    return _whole(text).cast("double") / 10**IMPLIED_DECIMALS


def with_fields(lines: DataFrame, source: Source) -> tuple[DataFrame, tuple[str, ...]]:
    """Add the fields that sources like this have, and a `torn` that says if a line has not all.

    Returns the names of the fields, too; a torn line has nulls in some.
    """
    return _of_places(lines, source) if source.format.is_fixed else _of_separators(lines, source)


def shown(text: Column) -> Column:
    """Return text as an error can show it, in quotation marks, without what is not printable."""
    cut = F.when(F.length(text) > SHOWN, F.concat(F.left(text, F.lit(SHOWN)), F.lit("...")))
    printable = F.regexp_replace(F.coalesce(cut, text), "[^ -~]", "?")
    return F.concat(F.lit("'"), printable, F.lit("'"))


def _of_separators(lines: DataFrame, source: Source) -> tuple[DataFrame, tuple[str, ...]]:
    line = F.col("line")
    if source.format.is_monthly:  # some tools put text in quotation marks; there are none in it
        line = F.replace(line, F.lit('"'), F.lit(""))
    # Written so, Java splits without a regular expression.
    separator = {"|": r"\|", ",": ","}[source.format.value.separator or ""]
    split = lines.withColumn("parts", F.split(line, separator, -1))
    count = F.size("parts")
    fields = {
        field: text if field == "condition" else F.trim(text)
        for field, place in source.places.items()
        for text in [F.get("parts", F.lit(place))]
    }
    said = F.concat(
        F.lit("there are "),
        count.cast("string"),
        F.lit(f" fields, and {source.columns} columns in the header"),
    )
    torn = F.when(count != source.columns, said)
    columns = [text.alias(field) for field, text in fields.items()]
    return split.select(*lines.columns, torn.alias("torn"), *columns), tuple(fields)


def _of_places(lines: DataFrame, source: Source) -> tuple[DataFrame, tuple[str, ...]]:
    kind, digits = source.format.kind, source.time_digits
    fields = {
        field: F.substring("line", start, width)
        for field, (start, width) in field_places(kind, digits).items()
    }
    symbol = F.trim(F.concat(F.trim(fields["root"]), F.lit(" "), F.trim(fields["suffix"])))
    unused = {"root", "suffix", "stop", "market_maker", "bid_exchange", "ask_exchange"}
    used = {name: text for name, text in fields.items() if name not in unused} | {"symbol": symbol}
    columns = [
        (text if name == "condition" else F.trim(text)).alias(name) for name, text in used.items()
    ]
    length, least = F.length("line"), least_length(kind, digits)
    said = F.concat(
        F.lit("there are "), length.cast("string"), F.lit(f" characters; a row has {least} or more")
    )
    torn = F.when(length < least, said)
    return lines.select(*lines.columns, torn.alias("torn"), *columns), tuple(used)
