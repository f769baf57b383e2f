"""Staleness by its definition, on logs that were worked out by hand."""

from __future__ import annotations

import pytest

from . import hand_written as by_hand
from .conftest import Summarized


@pytest.mark.parametrize(
    ("folder", "queue", "application"),
    [
        ("by hand/returned", by_hand.RETURNED_QUEUE, by_hand.RETURNED_APPLICATION),
        ("by hand/later", by_hand.RETURNED_QUEUE, by_hand.RETURNED_APPLICATION),
        ("by hand/shed", by_hand.SHED_QUEUE, by_hand.SHED_APPLICATION),
        ("by hand/old", by_hand.OLD_QUEUE, by_hand.OLD_APPLICATION),
    ],
)
def test_staleness_is_the_area_under_what_is_drawn_by_hand(
    summarized: Summarized, folder: str, queue: float, application: float
) -> None:
    row = summarized.key(folder, "k")
    assert row["queue_staleness"] == pytest.approx(queue, rel=1e-15)
    assert row["application_staleness"] == pytest.approx(application, rel=1e-15)
