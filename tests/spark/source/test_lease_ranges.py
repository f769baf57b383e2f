"""Ranges of leases stand for exactly the leases they were made of."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from upstream.spark.source.lease_ranges import from_ranges, to_ranges

NUMBERED = st.builds("{}-{}".format, st.sampled_from(["a", "b", "a-1", ""]), st.integers(0, 30))
ANY = st.one_of(NUMBERED, st.sampled_from(["a-07", "a-008", "9", "", "x", "a-", "a-²"]), st.text())


@given(st.lists(ANY, unique=True))
def test_any_leases_come_back_in_their_order(leases: list[str]) -> None:
    assert list(from_ranges(to_ranges(leases))) == leases


def test_consecutive_leases_take_one_entry() -> None:
    leases = [f"5f1c0a-{number}" for number in range(98, 10_098)]
    assert to_ranges(leases) == {"5f1c0a-98": 10_000}


def test_a_gap_begins_another_range() -> None:
    assert to_ranges(["a-1", "a-2", "a-4", "b-5"]) == {"a-1": 2, "a-4": 1, "b-5": 1}
