"""Errors: what they say, and that they survive the way from a task to the driver."""

from __future__ import annotations

import pickle

import pytest

from upstream.errors import UpStreamError
from upstream.spark.source.errors import (
    BatchLostError,
    ColumnError,
    OffsetError,
    OptionError,
    QueueUnfitError,
    RowsRejectedError,
    StreamMissingError,
    ValueMisfitError,
)


@pytest.mark.parametrize(
    "error",
    [
        OptionError("url", "is missing"),
        ColumnError("time", "is string"),
        ValueMisfitError("IBM", "price", "high", "double"),
        QueueUnfitError("no leases"),
        BatchLostError("http://me:secret@127.0.0.1", "prices", 7),
        OffsetError({"index": 1}),
        RowsRejectedError("prices", 10, 2, ["key", "time"]),
        StreamMissingError("http://me:secret@127.0.0.1", "prices"),
    ],
)
def test_an_error_is_the_same_in_another_process(error: UpStreamError) -> None:
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - made here
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))
    assert "secret" not in str(error)


def test_rejected_rows_are_counted_with_their_reasons() -> None:
    error = RowsRejectedError("prices", 10, 2, ["key: too long", "time: not finite"])
    assert "rejected 2 of 10 rows (key: too long; time: not finite)" in str(error)
    assert (error.sent, error.rejected) == (10, 2)
