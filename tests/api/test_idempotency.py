"""A retry gets the same answer, and is not carried out again."""

from __future__ import annotations

import asyncio

import pytest

from api.idempotency import (
    Answer,
    AnswerNotKeptError,
    IdempotencyKeyError,
    IdempotencyKeyReusedError,
    IdempotentAnswers,
    Record,
    check_key,
    fingerprint,
)
from upstream import ManualClock, SystemClock

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


async def begun_twice(kept: IdempotentAnswers) -> asyncio.Task[Record]:
    """Begin a request, and return a retry of it, which waits."""
    await kept.begin("k", REQUEST)
    retry = asyncio.create_task(kept.begin("k", REQUEST))
    await asyncio.sleep(0)
    return retry


async def test_the_second_request_gets_the_first_ones_answer() -> None:
    kept = answers(ManualClock())
    await carried_out(kept, "k", b"first")
    again = await kept.begin("k", REQUEST)
    assert again.answer == answer(b"first")
    assert kept.replays == 1


async def test_a_key_with_another_request_is_refused() -> None:
    kept = answers(ManualClock())
    await carried_out(kept, "k")
    with pytest.raises(IdempotencyKeyReusedError):
        await kept.begin("k", fingerprint(b"another"))


async def test_a_retry_waits_for_the_request_under_way() -> None:
    kept = answers(ManualClock())
    retry = await begun_twice(kept)
    assert not retry.done()
    kept.finish("k", answer(b"late"))
    assert (await retry).answer == answer(b"late")


async def test_a_retry_is_carried_out_if_the_first_request_was_cancelled() -> None:
    kept = answers(ManualClock())
    retry = await begun_twice(kept)
    kept.cancel("k")
    assert (await retry).answer is None
    assert len(kept) == 1


async def test_answers_are_forgotten_by_age_and_say_so() -> None:
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


async def test_the_oldest_requests_make_room() -> None:
    kept = answers(ManualClock(), most_records=3)
    for number in range(5):
        await carried_out(kept, str(number), b"1")
    assert len(kept) == 3
    assert (await kept.begin("4", REQUEST)).answer is not None
    assert (await kept.begin("0", REQUEST)).answer is None


async def test_a_request_under_way_is_not_forgotten() -> None:
    clock = ManualClock()
    kept = answers(clock, most_records=1)
    await kept.begin("slow", REQUEST)
    clock.advance(1_000)
    await carried_out(kept, "quick")
    kept.finish("slow", answer(b"done"))
    kept.forget_all()
    assert len(kept) == 0


@pytest.mark.parametrize("key", ["", "x" * 256, "ä", "a\nb"])
def test_an_invalid_key_is_refused(key: str) -> None:
    with pytest.raises(IdempotencyKeyError, match="UUID"):
        check_key(key)


def test_requests_differ_by_where_their_parts_end() -> None:
    assert fingerprint(b"ab", b"c") != fingerprint(b"a", b"bc")


async def test_old_answers_are_forgotten_without_another_request() -> None:
    clock = ManualClock()
    kept = IdempotentAnswers(now=clock.now, seconds=0.01, most_records=9, most_bytes=99)
    forgotten = asyncio.Event()
    await kept.begin("k", REQUEST)
    kept.finish("k", answer(), on_forget=forgotten.set)
    clock.advance(1.0)
    await asyncio.wait_for(forgotten.wait(), 20)
    assert len(kept) == 0


async def test_an_answer_that_is_too_large_to_keep_is_kept_until_the_next() -> None:
    kept = answers(ManualClock(), most_bytes=3)
    await carried_out(kept, "large", b"12345")
    assert (await kept.begin("large", REQUEST)).answer is not None
    await carried_out(kept, "next", b"1")
    with pytest.raises(AnswerNotKeptError):
        await kept.begin("large", REQUEST)
    kept._check()


async def test_a_request_whose_answer_made_room_is_not_carried_out_again() -> None:
    clock = ManualClock()
    kept = answers(clock, most_bytes=3)
    forgotten: list[str] = []
    await kept.begin("0", REQUEST)
    kept.finish("0", answer(b"1"), on_forget=lambda: forgotten.append("0"))
    for number in range(1, 5):
        await carried_out(kept, str(number), b"1")
    assert forgotten == ["0"]
    assert (await kept.begin("4", REQUEST)).answer is not None
    for dropped in ("0", "1"):
        with pytest.raises(AnswerNotKeptError, match="was carried out"):
            await kept.begin(dropped, REQUEST)
    kept._check()
    clock.advance(60.0)  # until it is forgotten that there was one
    assert (await kept.begin("0", REQUEST)).answer is None
    kept.cancel("0")
    assert (forgotten, len(kept)) == (["0"], 0)
    kept._check()


async def test_a_waiting_retry_does_not_act_again_if_the_answer_was_dropped() -> None:
    kept = answers(ManualClock(), most_bytes=3)
    retry = await begun_twice(kept)
    kept.finish("k", answer(b"123"))
    await carried_out(kept, "next", b"123")
    with pytest.raises(AnswerNotKeptError):
        await retry


async def test_an_answer_may_last_for_less_than_others() -> None:
    clock = ManualClock()
    kept = answers(clock)
    await kept.begin("k", REQUEST)
    kept.finish("k", answer(b"first"), lasts_until=5.0)
    clock.advance(4.9)
    assert (await kept.begin("k", REQUEST)).answer == answer(b"first")
    clock.advance(0.1)
    await carried_out(kept, "k", b"second")
    clock.advance(30.0)
    assert (await kept.begin("k", REQUEST)).answer == answer(b"second")
    kept._check()


async def test_once_acts_once_for_each_key_and_each_time_without_one() -> None:
    kept = answers(ManualClock())
    acted: list[int] = []

    def act() -> Answer:
        acted.append(len(acted))
        return answer(b"%d" % len(acted))

    assert await kept.once("do", "k", (b"this",), act) == answer(b"1")
    assert await kept.once("do", "k", (b"this",), act) == answer(b"1")
    with pytest.raises(IdempotencyKeyReusedError):
        await kept.once("do", "k", (b"that",), act)
    assert await kept.once("undo", "k", (b"that",), act) == answer(b"2")
    assert await kept.once("do", None, (b"this",), act) == answer(b"3")
    with pytest.raises(IdempotencyKeyError):
        await kept.once("do", "", (b"this",), act)

    def fail() -> Answer:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await kept.once("fail", "k", (), fail)
    assert await kept.once("fail", "k", (), act) == answer(b"4")


async def test_answers_are_forgotten_when_each_is_due() -> None:
    clock = SystemClock()
    kept = IdempotentAnswers(now=clock.now, seconds=0.2, most_records=9, most_bytes=999)
    forgotten: asyncio.Queue[tuple[str, float]] = asyncio.Queue()
    due: dict[str, float] = {}
    for key in ("first", "second"):
        await kept.begin(key, REQUEST)
        due[key] = clock.now() + 0.2

        def forget(key: str = key) -> None:
            forgotten.put_nowait((key, clock.now()))

        kept.finish(key, answer(), on_forget=forget)
        await asyncio.sleep(0.15)
    for expected in due.items():
        found = await asyncio.wait_for(forgotten.get(), 20)
        assert found >= expected
        assert found[0] == expected[0]
