"""A retry gets the same answer, and does nothing again."""

from __future__ import annotations

import asyncio

import pytest

from api.idempotency import (
    Answer,
    IdempotencyKeyError,
    IdempotencyKeyReusedError,
    IdempotentAnswers,
    check_key,
    fingerprint,
)
from upstream import ManualClock

REQUEST = fingerprint(b"a request")


def answers(
    clock: ManualClock, *, most_records: int = 10, most_bytes: int = 1_000
) -> IdempotentAnswers:
    return IdempotentAnswers(
        now=clock.now, seconds=60.0, most_records=most_records, most_bytes=most_bytes
    )


def answer(body: bytes = b"{}") -> Answer:
    return Answer(200, "application/json", body)


async def carried_out(kept: IdempotentAnswers, key: str, body: bytes = b"{}") -> None:
    record = await kept.begin(key, REQUEST)
    assert record.answer is None
    kept.finish(key, answer(body))


def test_the_second_request_gets_the_first_ones_answer() -> None:
    async def run() -> None:
        kept = answers(ManualClock())
        await carried_out(kept, "k", b"first")
        again = await kept.begin("k", REQUEST)
        assert again.answer == answer(b"first")
        assert kept.replays == 1

    asyncio.run(run())


def test_a_key_with_another_request_is_refused() -> None:
    async def run() -> None:
        kept = answers(ManualClock())
        await carried_out(kept, "k")
        with pytest.raises(IdempotencyKeyReusedError):
            await kept.begin("k", fingerprint(b"another"))

    asyncio.run(run())


def test_a_retry_waits_for_the_request_under_way() -> None:
    async def run() -> None:
        kept = answers(ManualClock())
        await kept.begin("k", REQUEST)
        retry = asyncio.create_task(kept.begin("k", REQUEST))
        await asyncio.sleep(0)
        assert not retry.done()
        kept.finish("k", answer(b"late"))
        assert (await retry).answer == answer(b"late")

    asyncio.run(run())


def test_a_retry_carries_out_what_the_first_gave_up() -> None:
    async def run() -> None:
        kept = answers(ManualClock())
        await kept.begin("k", REQUEST)
        retry = asyncio.create_task(kept.begin("k", REQUEST))
        await asyncio.sleep(0)
        kept.abandon("k")
        assert (await retry).answer is None
        assert len(kept) == 1

    asyncio.run(run())


def test_answers_are_forgotten_by_age_and_say_so() -> None:
    async def run() -> None:
        clock = ManualClock()
        kept = answers(clock)
        forgotten: list[str] = []
        await kept.begin("k", REQUEST)
        kept.finish("k", answer(), on_forget=lambda: forgotten.append("k"))
        clock.advance(59.9)
        kept.forget_old()
        assert forgotten == []
        clock.advance(0.1)
        await carried_out(kept, "other")
        assert forgotten == ["k"]
        assert len(kept) == 1

    asyncio.run(run())


@pytest.mark.parametrize(("most_records", "most_bytes"), [(3, 1_000), (100, 3)])
def test_the_oldest_answers_make_room(most_records: int, most_bytes: int) -> None:
    async def run() -> None:
        kept = answers(ManualClock(), most_records=most_records, most_bytes=most_bytes)
        for number in range(5):
            await carried_out(kept, str(number), b"1")
        assert len(kept) == 3
        assert (await kept.begin("4", REQUEST)).answer is not None
        assert (await kept.begin("0", REQUEST)).answer is None

    asyncio.run(run())


def test_a_request_under_way_is_not_forgotten() -> None:
    async def run() -> None:
        clock = ManualClock()
        kept = answers(clock, most_records=1)
        await kept.begin("slow", REQUEST)
        clock.advance(1_000)
        await carried_out(kept, "quick")
        kept.finish("slow", answer(b"done"))
        kept.forget_all()
        assert len(kept) == 0

    asyncio.run(run())


@pytest.mark.parametrize("key", ["", "x" * 256, "ä", "a\nb"])
def test_a_key_that_is_none_is_refused(key: str) -> None:
    with pytest.raises(IdempotencyKeyError, match="UUID"):
        check_key(key)


def test_requests_differ_by_where_their_parts_end() -> None:
    assert fingerprint(b"ab", b"c") != fingerprint(b"a", b"bc")


def test_what_is_old_is_forgotten_though_no_request_comes() -> None:
    async def run() -> None:
        clock = ManualClock()
        kept = IdempotentAnswers(now=clock.now, seconds=0.01, most_records=9, most_bytes=99)
        forgotten = asyncio.Event()
        await kept.begin("k", REQUEST)
        kept.finish("k", answer(), on_forget=forgotten.set)
        clock.advance(1.0)
        await asyncio.wait_for(forgotten.wait(), 20)
        assert len(kept) == 0

    asyncio.run(run())


def test_an_answer_that_is_too_large_to_keep_is_kept_until_the_next() -> None:
    async def run() -> None:
        kept = answers(ManualClock(), most_bytes=3)
        await carried_out(kept, "large", b"12345")
        assert (await kept.begin("large", REQUEST)).answer is not None
        await carried_out(kept, "next", b"1")
        assert len(kept) == 1

    asyncio.run(run())
