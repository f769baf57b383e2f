"""Every call as a request: what is sent, and what its answer means."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from upstream import ParameterError
from upstream.client import (
    Counters,
    Delivered,
    NotFoundError,
    ReceivedUpdate,
    RequestRefusedError,
    StreamView,
    requests,
)
from upstream.client.answers import Answer
from upstream.client.encoding import JSON, NDJSON
from upstream.client.errors import refusal
from upstream.client.exchange import Request

UPDATE = b'{"key":"a","value":1,"time":2.0}'
RECEIVED = ReceivedUpdate("a", 1, 2.0)


def deliveries() -> list[Request[Delivered]]:
    return list(requests.deliveries("q", [], ["a", 7, ("b", 1)], []))


# What to make, and what it asks for.
TARGETS: list[tuple[Callable[[], Request[object]], str, str]] = [
    (lambda: requests.create_stream("s", {}), "PUT", "/v1/streams/s"),
    (lambda: requests.create_queue("q.1-x_", {}), "PUT", "/v1/queues/q.1-x_"),
    (requests.streams, "GET", "/v1/streams"),
    (requests.queues, "GET", "/v1/queues"),
    (lambda: requests.stream("s"), "GET", "/v1/streams/s"),
    (lambda: requests.queue("q"), "GET", "/v1/queues/q"),
    (lambda: requests.drop_stream("s"), "DELETE", "/v1/streams/s"),
    (lambda: requests.drop_queue("q"), "DELETE", "/v1/queues/q"),
    (lambda: requests.put("s", "a", 1, None), "POST", "/v1/streams/s/updates"),
    (lambda: requests.put_body("s", b"", NDJSON), "POST", "/v1/streams/s/updates"),
    (
        lambda: requests.put_body("s", b"", NDJSON, is_atomic=True),
        "POST",
        "/v1/streams/s/updates?atomic=true",
    ),
    (lambda: requests.get("s", "a/b"), "GET", "/v1/streams/s/keys/a%2Fb"),
    (lambda: requests.get("s", ("a", 1)), "GET", "/v1/streams/s/keys/%5B%22a%22%2C1%5D?json=1"),
    (lambda: requests.snapshot("s"), "GET", "/v1/streams/s/snapshot"),
    (lambda: requests.delete("s", 7), "DELETE", "/v1/streams/s/keys/7?json=1"),
    (lambda: requests.reset_key("s", "a/b"), "POST", "/v1/streams/s/keys/a%2Fb/reset"),
    (lambda: requests.reset_key("s", 7), "POST", "/v1/streams/s/keys/7/reset?json=1"),
    (
        lambda: requests.dequeue("q", limit=5, wait=0.0),
        "POST",
        "/v1/queues/q/dequeue?limit=5&expire=true",
    ),
    (
        lambda: requests.dequeue("q", limit=5, wait=2.5),
        "POST",
        "/v1/queues/q/dequeue?limit=5&wait=2.5&expire=true",
    ),
    (lambda: deliveries()[0], "POST", "/v1/queues/q/delivered"),
    (lambda: requests.read("q", "a"), "GET", "/v1/queues/q/keys/a"),
    (lambda: requests.statistics("q"), "GET", "/v1/queues/q/statistics"),
    (lambda: requests.staleness("q", stalest=3), "GET", "/v1/queues/q/staleness?stalest=3"),
]


@pytest.mark.parametrize(("make", "method", "path"), TARGETS)
def test_each_call_has_its_route(
    make: Callable[[], Request[object]], method: str, path: str
) -> None:
    request = make()
    assert (request.method, request.path) == (method, path)


@pytest.mark.parametrize("make", [make for make, _, _ in TARGETS])
def test_every_request_that_changes_something_has_an_idempotency_key(
    make: Callable[[], Request[object]],
) -> None:
    # To define something twice is to define it once, so that needs no key.
    request = make()
    has_key = request.method in {"POST", "DELETE"}
    assert bool(request.idempotency_key) is has_key
    if has_key:
        assert make().idempotency_key != request.idempotency_key


def test_a_definition_has_the_given_options_only() -> None:
    assert requests.create_stream("s", {}).body == b"{}"
    body = requests.create_queue("q", {"kind": "append", "capacity": 5, "lease_seconds": None}).body
    assert msgspec.json.decode(body) == {"kind": "append", "capacity": 5, "lease_seconds": None}


def test_an_option_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ParameterError, match="lease_seconds"):
        requests.create_queue("q", {"leases": 5})  # type: ignore[typeddict-unknown-key]
    with pytest.raises(ParameterError, match="forget_after"):
        requests.create_stream("s", {"kind": "append"})  # type: ignore[typeddict-unknown-key]


def test_lists_are_read_from_their_objects() -> None:
    assert requests.streams().read(b'{"streams":[{"name":"s"}]}') == [StreamView("s")]
    assert requests.queues().read(b'{"queues":[]}') == []
    assert requests.snapshot("s").read(b'{"updates":[%s]}' % UPDATE) == [RECEIVED]
    assert requests.dequeue("q", limit=1, wait=0).read(b'{"updates":[]}') == []


def test_single_updates_are_read() -> None:
    assert requests.get("s", "a").read(UPDATE) == RECEIVED
    assert requests.read("q", "a").read(UPDATE) == RECEIVED


def test_counters_are_read() -> None:
    assert requests.statistics("q").read(b'{"arrived":3}') == Counters(arrived=3)


def test_a_dequeue_that_waits_has_more_patience() -> None:
    assert requests.dequeue("q", limit=1, wait=2.5).patience == 2.5
    assert requests.dequeue("q", limit=1, wait=0).patience == 0
    assert requests.dequeue("q", limit=1, wait=1e300).patience == requests.LONGEST_PATIENCE


def test_leases_do_not_expire_if_the_caller_chose_the_idempotency_key() -> None:
    again = [requests.dequeue("q", limit=1, wait=0.0, idempotency_key="batch 7") for _ in "ab"]
    assert {(each.path, each.idempotency_key) for each in again} == {
        ("/v1/queues/q/dequeue?limit=1", "batch 7")
    }


@pytest.mark.parametrize("key", ["", " a", "a\n", "\u2603", "k" * 256])
def test_an_idempotency_key_that_no_header_can_have_is_refused(key: str) -> None:
    with pytest.raises(ParameterError, match="idempotency_key"):
        requests.dequeue("q", limit=1, wait=0.0, idempotency_key=key)


def test_one_key_or_lease_is_not_a_list_of_letters() -> None:
    with pytest.raises(ParameterError, match="keys must be a list"):
        list(requests.deliveries("q", [], "IBM", []))
    with pytest.raises(ParameterError, match="leases must be a list"):
        list(requests.deliveries("q", [], [], "r-1"))


def test_updates_are_delivered_by_lease_or_else_by_key() -> None:
    leased = ReceivedUpdate("a", 1, 2.0, lease="r-1")
    found = requests.deliveries("q", [leased, ReceivedUpdate(("b", 1), 1, 2.0)], ["c"], ["r-9"])
    bodies = [msgspec.json.decode(request.body) for request in found]
    assert bodies == [{"leases": ["r-9", "r-1"]}, {"keys": ["c", ["b", 1]]}]


def test_delivering_no_updates_sends_no_request() -> None:
    assert list(requests.deliveries("q", [], [], [])) == []


def refused(status: int, body: bytes) -> RequestRefusedError:
    return refusal(Answer(status, body))


ALL_REFUSED = refused(
    422,
    b'{"title":"Bad updates","rejected":2,"rejections":[{"index":0,"reason":"x"}]}',
)


def test_a_batch_that_was_refused_as_a_whole_is_counted() -> None:
    request = requests.put_body("s", b"[]", JSON)
    assert request.if_refused is not None
    counts = request.if_refused(ALL_REFUSED)
    assert counts is not None
    assert (counts.rejected, counts.rejections[0].reason) == (2, "x")


@pytest.mark.parametrize(
    "error",
    [
        refused(422, b'{"title":"Idempotency-Key reused"}'),
        refused(422, b'{"rejected":"many"}'),
        refused(400, b'{"rejected":2}'),
        NotFoundError(404, "Unknown name"),
    ],
)
def test_any_other_refusal_of_a_batch_has_no_counts(error: RequestRefusedError) -> None:
    assert requests.counts_of_refused(error) is None


def test_a_single_update_or_an_atomic_body_can_be_refused() -> None:
    assert requests.put("s", "a", 1, None).if_refused is None
    assert requests.put_body("s", b"[]", NDJSON, is_atomic=True).if_refused is None
