"""What is kept of a key; its rate estimate is that of the library, folded from the same numbers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from upstream.keys import KeyCell
from upstream.spark.conflation.key_state import KeyState, hash_of, restored
from upstream.statistics import EstimatedRates


def test_a_stored_state_is_restored() -> None:
    state = KeyState(7, 1.5, ("IBM", 24.0), is_deletion=True, version=3, waiting_since=12)
    assert restored(state.stored()) == state
    assert hash_of(state.stored()) == 7


@given(st.lists(st.tuples(st.integers(0, 5_000), st.integers(1, 5)), min_size=1, max_size=30))
def test_rates_are_estimated_as_the_library_does(gaps: list[tuple[int, int]]) -> None:
    rates = EstimatedRates()
    cell = KeyCell("IBM", 0, time=0.0, arrival=0.0)
    rates.begin(cell)
    state = KeyState()
    now = 0
    for gap, updates in gaps:
        now += gap
        assert state.observe_rate() == rates.observe(cell)
        state.version = cell.version = cell.version + updates
        state.arrival = now
        cell.arrival = now / 1000


def test_staleness_is_averaged_from_the_first_arrival() -> None:
    state = KeyState(first_arrival=1_000, doubled_staleness=2_000 * 2_000)
    assert state.mean_staleness_seconds(5_000) == 0.5  # a triangle of 2 s, over 4 s
    assert state.mean_staleness_seconds(1_000) == 0.0
