"""The card of a profile says what the profile says."""

from __future__ import annotations

import pytest

from datasets.profile.card import MEANINGS, card_of

from .test_report import ARRIVALS, KEYS, PROFILE


def test_the_card_has_the_numbers_of_the_profile_and_every_column() -> None:
    types = pytest.importorskip("pyspark.sql.types")
    schema = types.StructType([types.StructField(name, types.LongType()) for name in MEANINGS])
    card = card_of(PROFILE, schema, "python -m datasets profile x", {"time": "T"})
    assert (card.updates, card.read, card.dropped) == (ARRIVALS.updates, ARRIVALS.updates, {})
    assert (card.first_time, card.last_time) == (ARRIVALS.first_time, ARRIVALS.last_time)
    assert (card.keys, card.skew.busiest_key) == (KEYS.keys, KEYS.busiest[0].key)
    assert [(each.name, each.kind) for each in card.columns] == [
        (name, "bigint") for name in MEANINGS
    ]
    assert "| time | T |" in card.as_page()
