"""A ring against a dict of lists."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from upstream.queries.chunks.ring import Ring

CHUNKS = st.integers(-5, 5)
ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), CHUNKS),
        st.tuples(st.just("forget"), CHUNKS),
        st.tuples(st.just("replace"), CHUNKS),
        st.tuples(st.just("take_first"), CHUNKS),
    )
)


@given(ACTIONS, CHUNKS, CHUNKS)
def test_a_ring_keeps_what_a_plain_dict_of_lists_keeps(
    actions: list[tuple[str, int]], first: int, end: int
) -> None:
    ring, plain = Ring[int](), dict[int, list[int]]()
    for number, (action, chunk) in enumerate(actions):
        if action == "add":
            ring.add(chunk, number)
            plain.setdefault(chunk, []).append(number)
        elif action == "forget":
            gone = [(each, plain.pop(each)) for each in sorted(plain) if each < chunk]
            assert ring.forget(chunk) == gone
        elif action == "take_first":
            items = plain.get(chunk, [])
            count = min(len(items), number % 3)
            assert ring.take_first(chunk, count) == items[:count]
            if count:
                plain[chunk] = items[count:]
            if not plain.get(chunk):
                plain.pop(chunk, None)
        elif chunk in ring:
            ring.replace(chunk, [number])
            plain[chunk] = [number]
        ring._check()
    within = [each for each in sorted(plain) if first <= each < end]
    assert list(ring) == sorted(plain)
    assert len(ring) == len(plain)
    assert ring.chunks(first, end) == within
    assert list(ring.between(first, end)) == [
        (each, item) for each in within for item in plain[each]
    ]
    assert ring.has_any(first, end) == bool(within)
    assert ring.first_from(first) == min((each for each in plain if each >= first), default=None)
    assert [list(ring.of(each)) for each in range(-5, 6)] == [
        plain.get(each, []) for each in range(-5, 6)
    ]
