"""`POST .../dequeue` and `.../delivered`: deliveries, leases and retries."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest

from tests.api.serving import Client, assert_problem, serving

PATH = "/v1/queues/trades/dequeue"
DELIVERED = "/v1/queues/trades/delivered"
RETRY = {"idempotency-key": "k"}


@pytest.fixture
def leased(client: Client) -> Client:
    client.put("/v1/queues/trades", json={"lease_seconds": 60})
    return client


def put(client: Client, *keys: str) -> None:
    client.put_updates("trades", *({"key": key, "value": 1, "time": 1} for key in keys))


def test_an_answered_dequeue_counts_as_delivered(trades: Client) -> None:
    put(trades, "a", "b", "c")
    assert len(trades.dequeue("trades", limit=2)) == 2
    counters = trades.statistics("trades")
    assert (counters["dequeued"], counters["delivered"], counters["waiting"]) == (2, 2, 1)


def test_an_empty_queue_answers_at_once_with_nothing(trades: Client) -> None:
    assert trades.dequeue("trades") == []


@contextmanager
def polling(client: Client) -> Iterator[list[Any]]:
    """Begin a long poll, which ends with the block; the list then has its response."""
    responses: list[Any] = []
    poll = threading.Thread(target=lambda: responses.append(client.post(PATH, params={"wait": 30})))
    poll.start()
    while not len(client.service.queue("trades").idle):
        assert poll.is_alive()
    yield responses
    poll.join(20)


def test_a_long_poll_gets_an_update_that_arrives_while_it_waits(trades: Client) -> None:
    with polling(trades) as responses:
        put(trades, "a")
    (response,) = responses
    assert response.json() == {"updates": [{"key": "a", "time": 1.0, "value": 1}]}


def test_a_long_poll_ends_with_nothing_after_its_time(trades: Client) -> None:
    assert trades.dequeue("trades", wait=0.05) == []


def test_a_long_poll_ends_when_its_queue_is_deleted(trades: Client) -> None:
    with polling(trades) as responses:
        trades.delete("/v1/queues/trades")
    assert [response.status_code for response in responses] == [404]


@pytest.mark.parametrize(
    "parameters",
    [
        {"limit": 0},
        {"limit": 1.5},
        {"limit": "many"},
        {"limit": 10_001},
        {"wait": -1},
        {"wait": "nan"},
        {"wait": 61},
        {"lmit": 1},
    ],
)
def test_bad_parameters_are_refused(trades: Client, parameters: dict[str, str]) -> None:
    put(trades, "a")
    assert_problem(trades.post(PATH, params=parameters), 422)
    assert trades.statistics("trades")["dequeued"] == 0


def test_an_answer_in_no_accepted_type_dequeues_nothing(trades: Client) -> None:
    put(trades, "a")
    assert_problem(trades.post(PATH, headers={"accept": "image/png"}), 406)
    assert trades.statistics("trades")["dequeued"] == 0


def test_an_unknown_queue_is_not_found(client: Client) -> None:
    assert_problem(client.post(PATH), 404)
    assert_problem(client.post(DELIVERED, json={"leases": []}), 404)


def test_answers_come_in_the_type_that_is_asked_for(trades: Client) -> None:
    put(trades, "a")
    packed = trades.post(PATH, headers={"accept": "application/msgpack"})
    assert packed.headers["content-type"] == "application/msgpack"
    assert msgspec.msgpack.decode(packed.content) == {
        "updates": [{"key": "a", "time": 1.0, "value": 1}]
    }
    put(trades, "a", "b")
    lines = trades.post(PATH, headers={"accept": "application/x-ndjson"}).text.splitlines()
    assert [msgspec.json.decode(line)["key"] for line in lines] == ["a", "b"]


def test_without_a_limit_no_more_is_answered_than_the_settings_allow() -> None:
    with serving(max_dequeue=2) as client:
        client.put("/v1/queues/trades")
        put(client, "a", "b", "c")
        assert len(client.dequeue("trades")) == 2


def test_an_answer_is_not_longer_than_allowed() -> None:
    with serving(max_answer_bytes=1_024) as client:
        client.put("/v1/queues/trades")
        rows = ({"key": key, "value": "x" * 500} for key in range(10))
        client.put_updates("trades", *rows)
        assert len(client.dequeue("trades")) == 3
        assert len(client.dequeue("trades")) == 3


# Leases


def test_a_leased_update_is_in_process_until_it_is_delivered(leased: Client) -> None:
    put(leased, "a", "b")
    first, second = leased.dequeue("trades")
    assert leased.statistics("trades")["in_process"] == 2
    said = leased.post_json(DELIVERED, {"leases": [first["lease"], "nonsense", first["lease"]]})
    assert said == {"delivered": 1, "unknown": 2}
    counters = leased.statistics("trades")
    assert (counters["delivered"], counters["in_process"]) == (1, 1)
    assert leased.post_json(DELIVERED, {"keys": ["b", "nothing"]}) == {
        "delivered": 1,
        "unknown": 1,
    }
    assert second["key"] == "b"
    assert leased.statistics("trades")["in_process"] == 0


def test_an_update_that_is_not_delivered_in_time_waits_again(client: Client) -> None:
    client.put("/v1/queues/trades", json={"lease_seconds": 0.05})
    put(client, "a", "b")
    (first, _) = client.dequeue("trades")
    client.post_json(DELIVERED, {"leases": [first["lease"]]})
    (again,) = client.dequeue("trades", wait=20)
    assert again["key"] == "b"
    counters = client.statistics("trades")
    assert (counters["returned"], counters["dequeued"], counters["delivered"]) == (1, 3, 1)


def test_a_newer_update_supersedes_one_that_is_given_back(client: Client) -> None:
    client.put("/v1/queues/trades", json={"lease_seconds": 0.05})
    client.put_updates("trades", {"key": "a", "value": 1, "time": 1})
    client.dequeue("trades")
    client.put_updates("trades", {"key": "a", "value": 2, "time": 2})
    (newest,) = client.dequeue("trades", wait=20)
    assert newest["value"] == 2
    client.post_json(DELIVERED, {"leases": [newest["lease"]]})
    while client.statistics("trades")["superseded"] == 0:
        pass
    assert client.dequeue("trades") == []


def test_an_update_answered_without_a_lease_is_delivered_already(trades: Client) -> None:
    put(trades, "a")
    trades.dequeue("trades")
    assert trades.post_json(DELIVERED, {"keys": ["a"]}) == {"delivered": 0, "unknown": 1}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"{}",
        b"[]",
        b'{"keys":[],"leases":[]}',
        b'{"keys":[1.5]}',
        b'{"keys":[[]]}',
        b'{"leases":[1]}',
        b'{"keys":[],"leases":null}',
        b'{"lease":["a"]}',
        b'{"keys":["\xff"]}',
        b'{"keys":' + b"[" * 10_000,
    ],
)
def test_a_bad_confirmation_of_delivery_is_refused(leased: Client, body: bytes) -> None:
    answer = leased.post(DELIVERED, content=body, headers={"content-type": "application/json"})
    assert_problem(answer, 422)


# Retries


def test_a_retry_gets_the_same_updates_and_dequeues_no_others(trades: Client) -> None:
    put(trades, "a", "b")
    first = trades.post(PATH, params={"limit": 1}, headers=RETRY)
    again = trades.post(PATH, params={"limit": 1}, headers=RETRY)
    assert first.content == again.content
    assert trades.statistics("trades")["dequeued"] == 1
    assert_problem(trades.post(PATH, params={"limit": 2}, headers=RETRY), 422)
    assert trades.post(PATH, params={"limit": 1}).json() != first.json()


def test_the_leases_of_a_retry_last_until_the_key_is_forgotten(client: Client) -> None:
    client.put("/v1/queues/trades", json={"lease_seconds": 0.01})
    put(client, "a")
    first = client.post(PATH, headers=RETRY).json()
    assert client.dequeue("trades", wait=0.1) == []  # ten times the lease
    assert client.post(PATH, headers=RETRY).json() == first
    client.forget_answers()
    assert [update["key"] for update in client.dequeue("trades")] == ["a"]


def test_leases_of_a_retry_run_out_in_their_time_if_asked_to(client: Client) -> None:
    client.put("/v1/queues/trades", json={"lease_seconds": 0.2})
    put(client, "a")
    parameters: dict[str, str | int] = {"expire": "true", "wait": 20}
    first = client.post(PATH, headers=RETRY, params=parameters).json()
    assert client.post(PATH, headers=RETRY, params=parameters).json() == first
    (other,) = client.dequeue("trades", wait=20)  # since it was not delivered
    assert other["key"] == "a"
    assert client.post_json(DELIVERED, {"leases": [first["updates"][0]["lease"]]})["unknown"] == 1
    put(client, "b")
    (anew,) = client.post(PATH, headers=RETRY, params=parameters).json()["updates"]
    assert anew["key"] == "b"


def test_a_retry_of_a_confirmation_gets_the_same_answer(leased: Client) -> None:
    put(leased, "a")
    leased.dequeue("trades")
    said = leased.post(DELIVERED, json={"keys": ["a"]}, headers=RETRY).json()
    assert said == {"delivered": 1, "unknown": 0}
    put(leased, "a")
    leased.dequeue("trades")  # another consumer's
    assert leased.post(DELIVERED, json={"keys": ["a"]}, headers=RETRY).json() == said
    assert leased.statistics("trades")["in_process"] == 1
    assert_problem(leased.post(DELIVERED, json={"keys": ["b"]}, headers=RETRY), 422)


def test_a_confirmation_names_at_most_as_many_leases_as_a_body_may_have_rows() -> None:
    with serving(max_rows=3) as client:
        client.put("/v1/queues/trades", json={"lease_seconds": 60})
        for names in ({"keys": [1] * 4}, {"leases": ["a"] * 4}):
            assert_problem(client.post(DELIVERED, json=names), 413)
        assert client.post_json(DELIVERED, {"keys": [1] * 3}) == {"delivered": 0, "unknown": 1}


def test_an_answer_that_is_too_large_to_keep_is_not_made_again() -> None:
    with serving(idempotency_bytes=200) as client:
        client.put("/v1/queues/trades")
        put(client, "a", "b")
        first = client.post(PATH, params={"limit": 1}, headers=RETRY)
        assert first.status_code == 200
        client.put_updates("trades", {"key": "c", "value": "x" * 500})
        client.post(PATH, headers={"idempotency-key": "other"})
        again = client.post(PATH, params={"limit": 1}, headers=RETRY)
        assert_problem(again, 409)
        assert client.statistics("trades")["dequeued"] == 3


def test_delivering_ends_the_leases_of_a_retry(client: Client) -> None:
    client.put("/v1/queues/trades", json={"lease_seconds": 0.01})
    put(client, "a")
    (update,) = client.post(PATH, headers=RETRY).json()["updates"]
    client.post_json(DELIVERED, {"leases": [update["lease"]]})
    client.forget_answers()
    assert client.dequeue("trades") == []
    assert client.statistics("trades")["delivered"] == 1


def test_a_queue_of_the_same_name_is_another_one(leased: Client) -> None:
    put(leased, "a")
    (old,) = leased.post(PATH, headers=RETRY).json()["updates"]
    leased.delete("/v1/queues/trades")
    leased.put("/v1/queues/trades", json={"lease_seconds": 60})
    put(leased, "b")
    (new,) = leased.post(PATH, headers=RETRY).json()["updates"]
    assert new["key"] == "b"
    assert leased.post_json(DELIVERED, {"leases": [old["lease"]]})["unknown"] == 1
    leased.forget_answers()
    put(leased, "c")  # what was kept for the old queue does no harm


def test_an_update_put_again_after_its_stream_was_made_anew_is_taken_in(client: Client) -> None:
    for _ in range(2):
        client.put("/v1/streams/trades")
        client.post("/v1/streams/trades/updates", json={"key": "a", "value": 1}, headers=RETRY)
        assert client.get("/v1/streams/trades/keys/a").status_code == 200
        client.delete("/v1/streams/trades")


def test_a_key_that_is_named_many_times_is_delivered_once(leased: Client) -> None:
    for _ in range(3):
        put(leased, "a")
        leased.dequeue("trades")
    said = leased.post_json(DELIVERED, {"keys": ["a"] * 1_000})
    assert said == {"delivered": 3, "unknown": 0}
