"""Pairs of chunks against all possible pairs: in which windows each is, and when it leaves."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from upstream.queries.chunks.windows import Schedule, Span, Windows
from upstream.queries.pairs.pairing import Pairing

sizes = st.integers(1, 6)
windows = st.builds(Windows, sizes, sizes, st.integers(-3, 3))
several = st.one_of(
    st.lists(windows, min_size=2, max_size=3),
    windows.map(lambda each: [each, each]),
)


def test_rows_meet_all_of_the_windows_of_the_other_inputs() -> None:
    # the leaf joins the inputs 0 and 2; the query has a third one
    pairing = Pairing(Schedule([Windows(2, 1)] * 3), (0, 2))
    spans = [Span(0, 2), Span(0, 2), Span(1, 3)]
    assert pairing.partners(0, spans) == {2: (1, 3)}
    assert pairing.partners(2, spans) == {0: (0, 2)}


def test_with_equal_windows_the_key_of_a_pair_is_its_older_chunk() -> None:
    pairing = Pairing(Schedule([Windows(3, 2)] * 2), (0, 1))
    assert (pairing.key(0, 7), pairing.key(1, -4)) == (7, -4)
    assert pairing.kept_from([Span(5, 8), Span(5, 8)]) == 5


@given(of=several, chunks=st.lists(st.integers(-8, 8), min_size=3, max_size=3))
def test_a_pair_is_kept_until_the_first_of_its_chunks_has_left(
    of: list[Windows], chunks: list[int]
) -> None:
    schedule = Schedule(of)
    inputs = range(len(of))
    pairing = Pairing(schedule, inputs)
    pair = [chunk for number, chunk in zip(inputs, chunks, strict=False)]
    key = min(pairing.key(number, chunk) for number, chunk in enumerate(pair))
    end, was_in = schedule.end_after(-20), False
    while end < 40:
        spans = schedule.at(end)
        is_in = all(spans[i].first <= chunk < spans[i].end for i, chunk in enumerate(pair))
        has_left = any(chunk < spans[i].first for i, chunk in enumerate(pair))
        is_kept = key >= pairing.kept_from(spans)
        assert is_kept == (not has_left)
        assert is_kept or not is_in
        was_in = was_in or is_in
        end = schedule.end_after(end)
    assert key < pairing.kept_from(schedule.at(end))
