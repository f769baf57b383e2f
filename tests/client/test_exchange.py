"""One call over its retries, and calls of several requests, without any network."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from random import Random

import httpx2
import msgspec
import pytest

from upstream import ManualClock
from upstream.client import (
    AnswerNotUnderstoodError,
    ConflictError,
    NotFoundError,
    RequestRefusedError,
    RetryPolicy,
    ServiceUnavailableError,
    ServiceUnreachableError,
)
from upstream.client.answers import Answer, Delivered
from upstream.client.exchange import Call, Exchange, Request, reader_of, run, run_async

READ = reader_of(Delivered)
OK = Answer(200, b'{"delivered":3,"unknown":0}')
POST = Request("POST", "/x", READ, body=b"{}", content_type="application/json")


def exchange(
    request: Request[Delivered] = POST, *, retries: int = 2, clock: ManualClock | None = None
) -> Exchange[Delivered]:
    policy = RetryPolicy(retries, first_delay=1.0, longest_wait=60.0, longest_total=300.0)
    now = (clock or ManualClock()).now
    return Exchange(request, url="http://a", policy=policy, random=Random(1), now=now)


def test_an_answer_is_final_and_read() -> None:
    one = exchange()
    assert one.after_answer(OK) is None
    assert one.result(OK) == Delivered(3, 0)


def test_failures_are_retried_up_to_the_limit_and_then_raised() -> None:
    one = exchange(retries=2)
    assert 0.5 <= one.after_failure("lost") <= 1.0
    assert 1.0 <= one.after_failure("lost") <= 2.0
    with pytest.raises(ServiceUnreachableError) as caught:
        one.after_failure("lost again")
    assert (caught.value.attempts, caught.value.reason) == (3, "lost again")


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_passing_refusal_is_retried_and_then_raised(status: int) -> None:
    one = exchange(retries=1)
    assert one.after_answer(Answer(status, b"")) is not None
    assert one.after_answer(Answer(status, b"")) is None
    with pytest.raises(ServiceUnavailableError):
        one.result(Answer(status, b""))


@pytest.mark.parametrize("status", [301, 400, 404, 409, 413, 422, 429, 500, 501, 507])
def test_a_lasting_refusal_is_raised_at_once(status: int) -> None:
    one = exchange()
    assert one.after_answer(Answer(status, b"")) is None
    with pytest.raises(RequestRefusedError) as caught:
        one.result(Answer(status, b""))
    assert caught.value.status == status


def test_failures_and_answers_count_together() -> None:
    one = exchange(retries=2)
    one.after_failure("lost")
    assert one.after_answer(Answer(503, b"")) is not None
    with pytest.raises(ServiceUnreachableError):
        one.after_failure("lost")


def test_the_delay_that_the_service_asks_for_is_used() -> None:
    assert exchange().after_answer(Answer(503, b"", retry_after=30.0)) == 30.0
    assert exchange().after_answer(Answer(503, b"", retry_after=61.0)) is None


def test_no_retry_is_sent_after_the_service_may_have_forgotten_the_request() -> None:
    clock = ManualClock()
    one = exchange(retries=9, clock=clock)
    clock.advance(299.0)
    one.after_failure("lost")
    clock.advance(1.0)
    assert one.after_answer(Answer(503, b"")) is None
    with pytest.raises(ServiceUnreachableError):
        one.after_failure("lost")


def test_the_age_of_a_request_counts_from_an_earlier_call() -> None:
    clock = ManualClock(1_000.0)
    one = exchange(replace(POST, began_at=701.0), clock=clock)
    one.after_failure("lost")
    clock.advance(1.0)
    with pytest.raises(ServiceUnreachableError):
        one.after_failure("lost")


def test_an_answer_of_another_form_is_an_error() -> None:
    for body in (b"<html>", b"[]", b'{"delivered":"x"}', b""):
        with pytest.raises(AnswerNotUnderstoodError, match="http://a answered 200"):
            exchange().result(Answer(200, body))


def test_a_failure_states_whether_the_service_may_have_acted() -> None:
    for may, expected in (([False, False], False), ([True, False], True), ([False, True], True)):
        one = exchange(retries=1)
        with pytest.raises(ServiceUnreachableError) as caught:
            [one.after_failure("lost", may_have_arrived=each) for each in may]
        assert caught.value.may_have_arrived is expected


def test_an_answer_that_the_service_no_longer_keeps_is_a_conflict() -> None:
    one = exchange(POST)
    one.after_failure("lost")
    with pytest.raises(ConflictError, match="Answer not kept"):
        one.result(Answer(409, b'{"title":"Answer not kept","status":409,"detail":"it was done"}'))


def test_a_retry_that_finds_nothing_is_refused() -> None:
    one = exchange()
    one.after_failure("lost")
    with pytest.raises(NotFoundError):
        one.result(Answer(404, b""))


def test_a_refusal_may_stand_for_a_result() -> None:
    def conflicts(error: RequestRefusedError) -> Delivered | None:
        return Delivered(unknown=1) if isinstance(error, ConflictError) else None

    request = Request("POST", "/x", READ, if_refused=conflicts)
    assert exchange(request).result(Answer(409, b"")) == Delivered(unknown=1)
    with pytest.raises(NotFoundError):
        exchange(request).result(Answer(404, b""))


def test_a_request_has_only_the_headers_that_it_needs() -> None:
    get = Request("GET", "/x", msgspec.json.decode)
    assert get.headers() == {"Accept": "application/json"}
    post = Request("POST", "/x", READ, content_type="text/plain", idempotency_key="k")
    assert post.headers() == {
        "Accept": "application/json",
        "Content-Type": "text/plain",
        "Idempotency-Key": "k",
    }


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (httpx2.PoolTimeout(""), "all connections of this client were busy for too long"),
        (httpx2.ReadTimeout(""), "ReadTimeout"),
        (httpx2.ConnectError("no route"), "no route"),
    ],
    ids=["pool", "read", "connect"],
)
def test_a_network_error_has_a_reason_and_states_whether_anything_was_sent(
    error: httpx2.RequestError, reason: str
) -> None:
    with pytest.raises(ServiceUnreachableError) as caught:
        exchange(retries=0).after_error(error)
    assert caught.value.reason == reason
    assert caught.value.may_have_arrived is isinstance(error, httpx2.ReadTimeout)


def test_an_error_outside_the_network_is_raised() -> None:
    with pytest.raises(RuntimeError, match="ours"):
        exchange().after_error(RuntimeError("ours"))


def of_two(seen: list[object]) -> Call[Delivered, int]:
    """Deliver twice, although the first may be refused."""
    try:
        seen.append((yield POST))
    except NotFoundError as error:
        seen.append(error.status)
    seen.append((yield replace(POST, path="/y")))
    return len(seen)


@pytest.mark.parametrize("is_async", [False, True], ids=["run", "run_async"])
@pytest.mark.parametrize("first", [Delivered(1), NotFoundError(404, "Unknown name")], ids=repr)
def test_a_call_gets_the_result_or_the_error_of_each_request(
    first: Delivered | NotFoundError, *, is_async: bool
) -> None:
    seen: list[object] = []
    paths: list[str] = []

    def send(request: Request[Delivered]) -> Delivered:
        paths.append(request.path)
        if request is POST and isinstance(first, NotFoundError):
            raise first
        return first if isinstance(first, Delivered) and request is POST else Delivered(2)

    async def send_async(request: Request[Delivered]) -> Delivered:
        return send(request)

    if is_async:
        assert asyncio.run(run_async(of_two(seen), send_async)) == 2
    else:
        assert run(of_two(seen), send) == 2
    assert seen == [404 if isinstance(first, NotFoundError) else first, Delivered(2)]
    assert paths == ["/x", "/y"]


def test_an_error_that_a_call_does_not_handle_is_raised() -> None:
    def send(_: Request[Delivered]) -> Delivered:
        raise ConflictError(409, "Taken")

    with pytest.raises(ConflictError):
        run(of_two([]), send)
