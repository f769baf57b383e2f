"""The fields of a line as text, by format: told by separators or by places.

All are without blanks around, but for conditions: their blanks hold places.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .fixed_width import field_places, least_length
from .sources import Source

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SHOWN: Final = 40
"""How much of what is wrong an error shows."""


def with_fields(lines: DataFrame, source: Source) -> tuple[DataFrame, tuple[str, ...]]:
    """Add the fields that sources like this have, and a `torn` that says if a line has not all.

    Returns the names of the fields, too; a torn line has nulls in some.
    """
    return _of_places(lines, source) if source.format.is_fixed else _of_separators(lines, source)


def shown(text: Column) -> Column:
    """Return text as an error can show it, in quotation marks, without what is not printable."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    cut = F.when(F.length(text) > SHOWN, F.concat(F.left(text, F.lit(SHOWN)), F.lit("...")))
    printable = F.regexp_replace(F.coalesce(cut, text), "[^ -~]", "?")
    return F.concat(F.lit("'"), printable, F.lit("'"))


def _of_separators(lines: DataFrame, source: Source) -> tuple[DataFrame, tuple[str, ...]]:
    from pyspark.sql import functions as F  # noqa: N812

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
    from pyspark.sql import functions as F  # noqa: N812

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
