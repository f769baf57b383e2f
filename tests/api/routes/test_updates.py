"""`POST .../updates`: how updates are counted, and which bodies are refused."""

from __future__ import annotations

import msgspec
import pyarrow as pa
import pytest

from tests.api.bodies.arrow_streams import stream_of
from tests.api.bodies.examples import ARROW, JSON
from tests.api.serving import Client, assert_problem, serving

PATH = "/v1/streams/trades/updates"


@pytest.fixture
def trades(client: Client) -> Client:
    client.put("/v1/queues/dashboard", json={"stream": "trades"})
    return client


def test_every_update_of_a_batch_is_counted_once(trades: Client) -> None:
    counts = trades.put_updates(
        "trades",
        {"key": "IBM", "value": 1, "time": 5},
        {"key": "IBM", "value": 2, "time": 6},
        {"key": "IBM", "value": 3, "time": 4},
        ["MSFT", 5, 4],
        {"key": 1.5, "value": 1},
        {"key": "IBM"},
    )
    rejections = counts.pop("rejections")
    assert counts == {"waiting": 2, "superseded": 1, "late": 1, "rejected": 2, "outside": 0}
    assert [rejection["index"] for rejection in rejections] == [4, 5]
    assert all(rejection["reason"] for rejection in rejections)
    served = {update["key"]: update["value"] for update in trades.dequeue("dashboard")}
    assert served == {"IBM": 2, "MSFT": 4}


def test_an_update_without_a_time_has_the_services(trades: Client) -> None:
    before = trades.service.clock.now()
    trades.put_updates("trades", {"key": "IBM", "value": 1}, {"key": "GM", "value": 1, "time": 7})
    times = {update["key"]: update["time"] for update in trades.dequeue("dashboard")}
    assert before <= times["IBM"] <= trades.service.clock.now()
    assert times["GM"] == 7.0


@pytest.mark.parametrize("accepted", [0, 1])
def test_an_answer_lists_at_most_a_hundred_rejections(trades: Client, accepted: int) -> None:
    rows: list[object] = [{"key": None, "value": 1}] * 150 + [{"key": "a", "value": 1}] * accepted
    answer = trades.post(PATH, json=rows)
    assert answer.status_code == (202 if accepted else 422)
    assert answer.json()["rejected"] == 150
    assert len(answer.json()["rejections"]) == 100


def test_atomic_takes_all_or_none(trades: Client) -> None:
    rows = [{"key": "IBM", "value": 1}, {"key": None, "value": 1}]
    problem = assert_problem(trades.post(PATH + "?atomic=true", json=rows), 422)
    assert problem["rejections"][0]["index"] == 1
    assert trades.statistics("dashboard")["arrived"] == 0
    assert trades.post(PATH + "?atomic=true", json=rows[:1]).status_code == 202


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b'{"key":"IBM","value":24.5,"time":1}\n["GM",2,7]\n', "application/x-ndjson"),
        (
            msgspec.msgpack.encode([{"key": "IBM", "value": 24.5, "time": 1}, ["GM", 2, 7]]),
            "application/msgpack",
        ),
        (b'[["IBM",1,24.5],["GM",2,7]]', "application/json; charset=utf-8"),
    ],
)
def test_bodies_of_all_types_mean_the_same(trades: Client, body: bytes, content_type: str) -> None:
    answer = trades.post(PATH, content=body, headers={"content-type": content_type})
    assert answer.status_code == 202, answer.text
    served = {update["key"]: update for update in trades.dequeue("dashboard")}
    assert served["IBM"] == {"key": "IBM", "time": 1.0, "value": 24.5}
    assert served["GM"] == {"key": "GM", "time": 2.0, "value": 7}


def test_an_arrow_stream_of_many_rows_is_conflated(trades: Client) -> None:
    keys = pa.array(["IBM", "GM"] * 5_000).dictionary_encode()
    table = pa.table({"key": keys, "time": map(float, range(10_000)), "value": range(10_000)})
    body = stream_of(*table.to_batches(max_chunksize=3_000))
    answer = trades.post(PATH, content=body, headers={"content-type": ARROW})
    assert answer.json()["waiting"] == 2
    assert answer.json()["superseded"] == 9_998
    served = {update["key"]: update["value"] for update in trades.dequeue("dashboard")}
    assert served == {"IBM": 9_998, "GM": 9_999}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"\xff", 400),
        (b'{"key":"a","value":NaN}', 400),
        (b"[" * 100_000, 400),
        (b'{"key":"a","value":"\\ud800"}', 422),
        (b'{"key":"a","value":1e999}', 422),
        (b'{"key":"a","value":"\\u0000"}', 422),
        (b'{"key":"a\\u0000","value":1}', 422),
        (b'{"key":"' + b"x" * 5_000 + b'","value":1}', 422),
        (b'{"key":"a","value":"' + b"x" * 2_000_000 + b'"}', 422),
        (b'{"key":"a","value":' + b"[" * 200 + b"]" * 200 + b"}", 422),
        (b'{"key":"a","value":1,"time":"now"}', 422),
        (b'{"key":"a","value":1,"tiem":1}', 422),
        (b'{"key":123456789012345678901234567890,"value":1}', 422),
        (b"7", 400),
    ],
)
def test_a_bad_body_is_refused_without_an_echo(trades: Client, body: bytes, status: int) -> None:
    answer = trades.post(PATH, content=body, headers={"content-type": JSON})
    problem = assert_problem(answer, status)
    assert "xxxx" not in problem["detail"]
    assert trades.statistics("dashboard")["arrived"] == 0


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "x"])
def test_an_unknown_content_type_is_refused(trades: Client, content_type: str) -> None:
    body = b'{"key":"a","value":1}'
    answer = trades.post(PATH, content=body, headers={"content-type": content_type})
    assert_problem(answer, 415)


def test_a_body_that_is_too_large_is_refused() -> None:
    with serving(max_body_bytes=2_000) as client:
        client.put("/v1/streams/trades")
        body = b'{"key":"a","value":"' + b"x" * 2_000 + b'"}'
        problem = assert_problem(
            client.post(PATH, content=body, headers={"content-type": JSON}), 413
        )
        assert problem["most_bytes"] == 2_000
        chunks = client.post(PATH, content=iter([body]), headers={"content-type": JSON})
        assert_problem(chunks, 413)


def test_an_unknown_stream_or_parameter_is_refused(trades: Client) -> None:
    update = {"key": "a", "value": 1}
    assert_problem(trades.post("/v1/streams/nothing/updates", json=update), 404)
    assert_problem(trades.post(PATH + "?atomc=true", json=update), 422)
    assert_problem(trades.post(PATH + "?atomic=maybe", json=update), 422)
    assert_problem(trades.get(PATH), 405)


def test_a_retry_with_the_same_idempotency_key_is_not_counted_again(trades: Client) -> None:
    body = {"key": "IBM", "value": 1}
    first = trades.post(PATH, json=body, headers={"idempotency-key": "k"})
    again = trades.post(PATH, json=body, headers={"idempotency-key": "k"})
    assert first.status_code == again.status_code == 202
    assert first.content == again.content
    assert trades.statistics("dashboard")["arrived"] == 1
    other = trades.post(PATH, json={"key": "GM", "value": 1}, headers={"idempotency-key": "k"})
    assert_problem(other, 422)
    assert_problem(trades.post(PATH, json=body, headers={"idempotency-key": ""}), 400)


def test_a_refused_request_leaves_its_idempotency_key_free(trades: Client) -> None:
    headers = {"idempotency-key": "k", "content-type": JSON}
    assert_problem(trades.post(PATH, content=b"{", headers=headers), 400)
    assert trades.post(PATH, json={"key": "a", "value": 1}, headers=headers).status_code == 202
