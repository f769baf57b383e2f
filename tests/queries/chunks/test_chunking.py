"""A step is processed in more and more chunks, as long as the response gets shorter by it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from upstream.queries.chunks.chunking import Chunking


def settled(response: Callable[[int], float], *, slides: int = 200) -> Chunking:
    """Let a chunking adapt to responses that depend on the number of chunks."""
    chunking = Chunking()
    for _ in range(slides):
        chunking.responded(response(chunking.chunks))
    return chunking


@pytest.mark.parametrize(
    ("response", "chunks"),
    [
        (lambda chunks: 1.0 / chunks + 0.02 * chunks, 8),  # 1.02, 0.54, 0.33, 0.285, 0.3825
        (lambda chunks: 1.0 + 0.1 * chunks, 1),
        (lambda _: 1.0, 1),
        (lambda chunks: 1.0 / chunks, 1_024),
    ],
)
def test_the_number_of_chunks_doubles_until_the_response_is_not_shorter(
    response: Callable[[int], float], chunks: int
) -> None:
    assert settled(response).chunks == chunks


def test_a_gain_of_less_than_a_twentieth_is_none() -> None:
    assert settled(lambda chunks: 1.0 if chunks == 1 else 0.96).chunks == 1
    assert settled(lambda chunks: 1.0 if chunks == 1 else 0.94).chunks == 2


def test_it_takes_five_slides_to_tell_and_the_slow_ones_do_not_matter() -> None:
    chunking = Chunking()
    for seconds in (1.0, 100.0, 1.0, 1.0):
        chunking.responded(seconds)
        assert chunking.chunks == 1
    chunking.responded(100.0)
    assert chunking.chunks == 2
    for seconds in (100.0, 0.5, 0.5, 0.5, 100.0):
        chunking.responded(seconds)
    assert chunking.chunks == 4


def test_once_it_is_settled_it_stays() -> None:
    chunking = settled(lambda _: 1.0)
    for _ in range(100):
        chunking.responded(0.001)
    assert chunking.chunks == 1
