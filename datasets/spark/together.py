"""Several small results from one Spark job.

A job on little data spends its time on planning, scheduling and code generation rather than on
rows. One job for several results pays for most of that once, and scans what they share once.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it


def collect_together(frames: Mapping[str, DataFrame]) -> dict[str, list[Row]]:
    """Collect small frames, which may differ in their columns, with one job; return rows by name.

    The rows of a frame come in any order.
    """
    kinds = {name: frame.schema for name, frame in frames.items()}
    parts = [
        frame.select(
            *(
                (F.struct(F.col("*")) if each == name else F.lit(None).cast(kind)).alias(each)
                for each, kind in kinds.items()
            )
        )
        for name, frame in frames.items()
    ]
    found: dict[str, list[Row]] = {name: [] for name in frames}
    for row in reduce(lambda one, other: one.union(other), parts).collect():
        for name in frames:
            if row[name] is not None:
                found[name].append(row[name])
    return found
