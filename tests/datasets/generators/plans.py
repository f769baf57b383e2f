"""What Spark means to do."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO

from pyspark.sql import DataFrame


def moves_rows(frame: DataFrame) -> bool:
    """Tell whether rows would be sorted, or moved from one task to another."""
    text = StringIO()
    with redirect_stdout(text):
        frame.explain()
    assert "Physical Plan" in text.getvalue()
    return re.search(r"(?<!Broadcast)Exchange|\bSort\b|NestedLoop", text.getvalue()) is not None
