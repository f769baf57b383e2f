"""Both clients, against a service that answers what it is told to."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import httpx2
import numpy as np
import pyarrow as pa
import pytest

from upstream import ClosedError, ParameterError, Update, ValueNotEncodableError
from upstream.client import (
    Client,
    Counts,
    Delivered,
    InvalidRequestError,
    NotFoundError,
    ReceivedUpdate,
    RetryPolicy,
    ServiceUnreachableError,
    requests,
)

from .both_clients import Connect
from .scripted_service import COUNTS, URL, ScriptedService, answer, problem, targets

PATIENCE_SECONDS = 30.0

LOST = [
    httpx2.ConnectError("refused"),
    httpx2.ReadError("reset"),
    httpx2.ReadTimeout("too long"),
    httpx2.RemoteProtocolError("cut off"),
    httpx2.DecodingError("garbled"),
]

GONE = problem(404, "Unknown name", "there is no queue of that name")


def updates(*keys: str, lease: bool = False) -> httpx2.Response:
    return answer(
        {
            "updates": [
                {"key": key, "value": 1, "time": 2.0} | ({"lease": f"r-{key}"} if lease else {})
                for key in keys
            ]
        }
    )


@pytest.mark.parametrize("failure", LOST, ids=lambda failure: type(failure).__name__)
@pytest.mark.parametrize(
    "call",
    [
        lambda client: client.put("s", "a", 1),
        lambda client: client.put_many("s", [("a", 1)]),
        lambda client: client.delete("s", "a"),
    ],
)
def test_a_lost_request_is_sent_again_with_its_key(
    connect: Connect, failure: Exception, call: Callable[[Client], object]
) -> None:
    service = ScriptedService(failure, failure, COUNTS)
    with service.client(connect) as client:
        call(client)
    assert len(service.requests) == 3
    assert len(set(service.keys)) == 1
    assert len({request.content for request in service.requests}) == 1
    assert len(service.delays) == 2


def test_an_unreachable_service_is_raised_after_the_last_retry(connect: Connect) -> None:
    service = ScriptedService(httpx2.ConnectError("refused"))
    with (
        service.client(connect, retries=2) as client,
        pytest.raises(ServiceUnreachableError) as caught,
    ):
        client.streams()
    assert (caught.value.url, caught.value.attempts) == (URL, 3)
    assert len(service.requests) == 3


def test_a_retry_waits_as_long_as_the_service_asks(connect: Connect) -> None:
    service = ScriptedService(httpx2.Response(503, headers={"Retry-After": "9"}), COUNTS)
    with service.client(connect) as client:
        client.put("s", "a", 1)
    assert service.delays == [9.0]


def test_definitions_are_sent_as_given(connect: Connect) -> None:
    service = ScriptedService(answer({"name": "q", "stream": "s"}))
    with service.client(connect) as client:
        client.create_stream("s", retain=False)
        view = client.create_queue("q", stream="s", weights={"a": 2.0})
    assert view.stream == "s"
    assert targets(service.requests) == [("PUT", "/v1/streams/s"), ("PUT", "/v1/queues/q")]
    assert service.bodies == [{"retain": False}, {"stream": "s", "weights": {"a": 2.0}}]


def test_many_updates_are_sent_in_batches(connect: Connect) -> None:
    service = ScriptedService(
        answer({"waiting": 2, "rejected": 0}),
        answer({"waiting": 1, "rejected": 1, "rejections": [{"index": 1, "reason": "x"}]}),
        answer({"superseded": 1}),
    )
    with service.client(connect) as client:
        counts = client.put_many("s", (("k", number) for number in range(5)), batch_size=2)
    assert service.bodies == [
        [["k", None, 0], ["k", None, 1]],
        [["k", None, 2], ["k", None, 3]],
        [["k", None, 4]],
    ]
    assert (counts.waiting, counts.superseded, counts.rejected) == (3, 1, 1)
    assert counts.rejections[0].index == 3


def test_a_batch_that_is_refused_as_a_whole_is_counted_and_the_others_are_applied(
    connect: Connect,
) -> None:
    refused = problem(422, "Bad updates", rejected=1, rejections=[{"index": 0, "reason": "x"}])
    service = ScriptedService(COUNTS, refused, COUNTS)
    with service.client(connect) as client:
        counts = client.put_many("s", [("k", 0), ("k", 1), ("k", 2)], batch_size=1)
    assert (counts.waiting, counts.rejected) == (2, 1)
    assert [each.index for each in counts.rejections] == [1]


def test_one_update_that_is_refused_is_raised(connect: Connect) -> None:
    service = ScriptedService(problem(422, "Bad update", "the key is too long"))
    with service.client(connect) as client, pytest.raises(InvalidRequestError, match="too long"):
        client.put("s", "k" * 5_000, 1)


def test_the_librarys_updates_and_columns_can_be_sent(connect: Connect) -> None:
    service = ScriptedService(COUNTS)
    with service.client(connect) as client:
        client.put_many("s", [Update("a", 1.5, 2.0)])
        client.put_columns("s", ["a", "b"], np.array([1, 2]), [0.5, 1.5])  # type: ignore[arg-type]
    assert service.bodies == [[["a", 2.0, 1.5]], [["a", 0.5, 1], ["b", 1.5, 2]]]


def test_without_updates_nothing_is_sent(connect: Connect) -> None:
    service = ScriptedService(COUNTS)
    with service.client(connect) as client:
        assert client.put_many("s", []) == Counts()
        assert client.deliver("q") == Delivered()
    assert service.requests == []


def test_a_batch_with_an_invalid_value_is_not_sent(
    connect: Connect,
) -> None:
    service = ScriptedService(COUNTS)
    with service.client(connect) as client, pytest.raises(ValueNotEncodableError):
        client.put_many("s", [("a", 1), ("b", float("nan"))])
    assert service.requests == []


def test_tables_are_sent_as_arrow(connect: Connect) -> None:
    service = ScriptedService(answer({"waiting": 2}))
    table = pa.table({"key": ["a", "b", "c"], "value": [1, 2, 3]})
    with service.client(connect) as client:
        counts = client.put_table("s", table, batch_size=2)
    assert counts.waiting == 4
    types = {each.headers["Content-Type"] for each in service.requests}
    assert types == {"application/vnd.apache.arrow.stream"}
    sizes = [pa.ipc.open_stream(each.content).read_all().num_rows for each in service.requests]
    assert sizes == [2, 1]


def test_an_atomic_body_is_refused_as_a_whole(connect: Connect) -> None:
    service = ScriptedService(problem(422, "Bad updates", rejected=1, rejections=[]))
    with service.client(connect) as client, pytest.raises(InvalidRequestError) as caught:
        client.put_body("s", b"[]", "application/json", is_atomic=True)
    assert caught.value.members["rejected"] == 1


def test_dequeued_updates_are_read(connect: Connect) -> None:
    service = ScriptedService(updates("a", lease=True))
    with service.client(connect) as client:
        assert client.dequeue("q", limit=3, wait=1.5) == [ReceivedUpdate("a", 1, 2.0, "r-a")]
    assert targets(service.requests) == [
        ("POST", "/v1/queues/q/dequeue?limit=3&wait=1.5&expire=true")
    ]


def test_consuming_delivers_each_batch_when_all_of_it_was_used(connect: Connect) -> None:
    service = ScriptedService(
        updates("a", "b", lease=True), answer({"delivered": 2}), updates("c"), updates()
    )
    with service.client(connect) as client:
        consumed = client.consume("q", limit=100, until_empty=True)
        assert next(consumed).key == "a"
        assert next(consumed).key == "b"
        assert len(service.requests) == 1
        assert next(consumed).key == "c"
        assert service.bodies[1:2] == [{"leases": ["r-a", "r-b"]}]
        assert list(consumed) == []
    assert [path for _, path in targets(service.requests)] == [
        "/v1/queues/q/dequeue?limit=100&wait=20.0&expire=true",
        "/v1/queues/q/delivered",
        "/v1/queues/q/dequeue?limit=100&wait=20.0&expire=true",
        "/v1/queues/q/dequeue?limit=100&wait=20.0&expire=true",
    ]


def test_a_batch_that_the_caller_leaves_early_is_not_delivered(connect: Connect) -> None:
    service = ScriptedService(updates("a", "b", lease=True))
    with service.client(connect) as client:
        for _ in client.consume("q"):
            break
    assert len(service.requests) == 1


@pytest.mark.parametrize("failure", LOST, ids=lambda failure: type(failure).__name__)
def test_a_retry_that_finds_nothing_raises_not_found(connect: Connect, failure: Exception) -> None:
    service = ScriptedService(failure, GONE)
    with service.client(connect) as client, pytest.raises(NotFoundError):
        client.drop_queue("typo")


def test_a_batch_can_be_requested_again_with_a_chosen_key(connect: Connect) -> None:
    service = ScriptedService(updates("a", lease=True))
    with service.client(connect) as client:
        client.dequeue("q", idempotency_key="batch 7")
    assert service.keys == ["batch 7"]
    assert targets(service.requests) == [("POST", "/v1/queues/q/dequeue?limit=100")]


def test_a_single_stream_or_queue_can_be_requested(connect: Connect) -> None:
    with ScriptedService(answer({"name": "s", "keys": 3})).client() as client:
        assert client.stream("s").keys == 3
    with ScriptedService(answer({"name": "q", "stream": "s", "waiting": 3})).client() as client:
        assert client.queue("q").waiting == 3


def test_closing_the_client_ends_a_call_that_waits_for_its_retry(connect: Connect) -> None:
    waits = threading.Event()

    def refuse(request: httpx2.Request) -> httpx2.Response:
        waits.set()
        raise httpx2.ConnectError("refused", request=request)

    client = connect(
        URL, retries=RetryPolicy(first_delay=1_000.0), transport=httpx2.MockTransport(refuse)
    )
    raised: list[Exception] = []

    def call() -> None:
        try:
            client.streams()
        except ClosedError as error:
            raised.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    assert waits.wait(PATIENCE_SECONDS)
    client.close()
    thread.join(PATIENCE_SECONDS)
    assert [str(error) for error in raised] == ["this client is closed; create a new one"]


def test_a_call_that_breaks_while_the_client_is_closed_raises_closed_error() -> None:
    def close(request: httpx2.Request) -> httpx2.Response:
        client.close()
        raise httpx2.ReadError("closed", request=request)

    client = Client(URL, retries=0, transport=httpx2.MockTransport(close))
    with pytest.raises(ClosedError, match="client"):
        client.streams()


def test_a_closed_client_raises_closed_error() -> None:
    client = ScriptedService(COUNTS).client()
    client.close()
    with pytest.raises(ClosedError, match="client"):
        client.put("s", "a", 1)


def test_an_invalid_address_is_refused_at_once(connect: Connect) -> None:
    with pytest.raises(ParameterError, match="url"):
        connect("localhost:8000")


def test_a_request_of_the_caller_is_sent_like_any_other(connect: Connect) -> None:
    service = ScriptedService(httpx2.ReadError("reset"), COUNTS)
    request = requests.put_body("s", b"[]", "application/json")
    with service.client(connect) as client:
        assert client.call(replace(request, idempotency_key="mine")).waiting == 1
    assert service.keys == ["mine", "mine"]
