"""The format of event logs as Spark reads it."""

from __future__ import annotations

from datasets.summaries import log_format
from upstream.events import COLUMNS, EventKind


def test_every_column_has_a_type_of_spark_and_every_kind_is_known() -> None:
    assert list(log_format.COLUMNS) == list(COLUMNS)
    assert set(log_format.COLUMNS.values()) == {"bigint", "double", "string"}
    assert set(log_format.KINDS) == set(EventKind)
