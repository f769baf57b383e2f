"""The table of staleness says of each key what the sums say of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from upstream.keys import NOBODY, KeyCell, Place
from upstream.staleness import KeyStaleness, StalenessSums, key_staleness
from upstream.statistics import GivenRates

moments = st.floats(0.0, 10.0)


@given(
    keys=st.lists(st.tuples(moments, st.none() | moments, st.none() | moments), max_size=5),
    waited=st.floats(-1.0, 50.0),
    pause=moments,
)
def test_a_row_has_the_means_of_its_key_and_how_long_it_waits_and_is_stale(
    keys: list[tuple[float, float | None, float | None]], waited: float, pause: float
) -> None:
    sums, rates = StalenessSums(), GivenRates(lambda key: 2.0 if key == 0 else 0.0)
    places = []
    for index, (began, waits, stale) in enumerate(keys):
        place = Place(KeyCell(index, index, time=began, arrival=began), NOBODY)
        rates.begin(place.cell, rates.given(place.cell.key))
        sums.begin(place, 1, began)
        place.waiting_since, place.stale_since = waits, stale
        # Less than nothing is what rounding may leave of a wait that was taken back.
        sums.queue[index] = sums.application[index] = waited
        places.append(place)
    now = 10.0 + pause
    rows = key_staleness(sums, rates, iter(places), now)
    assert rows == [
        KeyStaleness(
            key=place.cell.key,
            rate=2.0 if place.cell.key == 0 else 0.0,
            queue_staleness=sums.queue_mean(place, now),
            application_staleness=sums.application_mean(place, now),
            waiting_seconds=0.0 if place.waiting_since is None else now - place.waiting_since,
            stale_seconds=0.0 if place.stale_since is None else now - place.stale_since,
            known_seconds=now - sums.counted_since[place.cell.index],
        )
        for place in places
    ]


def test_a_key_is_not_stale_when_it_arrives() -> None:
    sums, rates = StalenessSums(), GivenRates({})
    place = Place(KeyCell("IBM", 0, time=3.0, arrival=3.0), NOBODY)
    rates.begin(place.cell, rates.given(place.cell.key))
    sums.begin(place, 1, 3.0)
    place.waiting_since = place.stale_since = 3.0
    assert key_staleness(sums, rates, [place], 3.0) == [("IBM", None, 0.0, 0.0, 0.0, 0.0, 0.0)]
