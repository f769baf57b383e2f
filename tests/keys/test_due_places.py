"""Places by the time at which something may fall due there, against a plain dict."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from upstream.keys import NOBODY, DuePlaces, KeyCell, Place

PLACES = [Place(KeyCell(n, n, time=0.0, arrival=0.0), NOBODY) for n in range(4)]
STEPS = st.tuples(st.sampled_from(["note", "move", "remove"]), st.integers(0, 3), st.integers(0, 5))


@given(st.lists(STEPS, max_size=40))
def test_the_first_is_what_a_look_at_all_places_finds(steps: list[tuple[str, int, int]]) -> None:
    due = DuePlaces()
    model: dict[int, float] = {}
    for step, at, time in steps:
        place = PLACES[at]
        if step == "note":
            due.note(place, float(time))
            model[at] = min(float(time), model.get(at, float(time)))
        elif step == "move":
            due.move(place, float(time))
            model[at] = float(time)
        else:
            due.remove(place)
            model.pop(at, None)
        due._check()
        assert len(list(due)) == len(model)
        assert all((place in due) == (n in model) for n, place in enumerate(PLACES))
        first = due.first()
        if first is None:
            assert not model
        else:
            assert first[0] == min(model.values())
            assert model[PLACES.index(first[1])] == first[0]


def test_places_with_equal_times_come_in_the_order_of_their_entry() -> None:
    due = DuePlaces()
    for place in PLACES:
        due.note(place, 1.0)
    taken = []
    while (first := due.first()) is not None:
        taken.append(first[1])
        due.remove(first[1])
    assert taken == PLACES
