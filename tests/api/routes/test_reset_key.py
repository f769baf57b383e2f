"""A time far ahead is rejected, and a key that has one can be reset."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import msgspec
import pyarrow as pa
import pytest

from tests.api.bodies.arrow_streams import body_of
from tests.api.push.setting import decoded, subscribe, values_of
from tests.api.serving import Client, assert_problem

REASON = "time: too far ahead of the service's clock"


def arrow(rows: list[list[Any]]) -> bytes:
    keys, times, values = zip(*rows, strict=True)
    return body_of(key=pa.array(keys).dictionary_encode(), time=times, value=values)


BODIES: dict[str, Callable[[Any], bytes]] = {
    "application/json": msgspec.json.encode,
    "application/x-ndjson": lambda rows: b"\n".join(map(msgspec.json.encode, rows)),
    "application/msgpack": msgspec.msgpack.encode,
    "application/vnd.apache.arrow.stream": arrow,
}


@pytest.mark.parametrize("content_type", BODIES)
def test_a_row_in_milliseconds_is_rejected_and_the_others_are_taken_in(
    client: Client, content_type: str
) -> None:
    client.put("/v1/queues/q", json={"kind": "append"})
    now = time.time()
    rows = [["IBM", now, 1], ["IBM", 1e3 * now, 2], ["GM", now, 3], ["IBM", now + 1, 4]]
    body = BODIES[content_type](rows)
    path = "/v1/streams/q/updates"
    answer = client.post(path, content=body, headers={"content-type": content_type})
    assert answer.status_code == 202, answer.text
    counts = answer.json()
    assert (counts["rejected"], counts["late"]) == (1, 0)
    (rejection,) = counts["rejections"]
    assert rejection["index"] == 1
    assert rejection["reason"].startswith(REASON)
    assert [update["value"] for update in client.dequeue("q")] == [1, 3, 4]
    assert client.get("/v1/streams/q").json()["too_far_ahead"] == 1
    refused = client.post(
        f"{path}?atomic=true", content=body, headers={"content-type": content_type}
    )
    assert assert_problem(refused, 422)["rejected"] == 1


def test_a_single_update_in_milliseconds_is_refused_with_the_reason(client: Client) -> None:
    client.put("/v1/streams/s", json={"most_ahead": 10})
    path, now = "/v1/streams/s/updates", time.time()
    refused = client.post(path, json={"key": "IBM", "value": 1, "time": 1e3 * now})
    problem = assert_problem(refused, 422)
    assert problem["title"] == "Bad update"
    assert problem["detail"].startswith(REASON)
    assert client.post(path, json={"key": "IBM", "value": 1, "time": now}).status_code == 202


@pytest.mark.parametrize("most_ahead", ["auto", None])
def test_streams_with_times_of_their_own_take_them(client: Client, most_ahead: object) -> None:
    client.put("/v1/streams/s", json={"most_ahead": most_ahead})
    for moment in (1.0, 2.0, 1e3 * time.time()):
        counts = client.put_updates("s", {"key": "IBM", "value": 1, "time": moment})
        assert counts["rejected"] == counts["late"] == 0


def test_a_key_with_a_first_time_in_milliseconds_soon_accepts_seconds(client: Client) -> None:
    client.put("/v1/queues/q")
    now = time.time()
    client.put_updates("q", {"key": "IBM", "value": 1, "time": 1e3 * now})
    counts = client.put_updates("q", {"key": "IBM", "value": 2, "time": now})
    assert counts["waiting"] == 1
    assert [update["value"] for update in client.dequeue("q")] == [2]
    assert client.statistics("q")["expired"] == 1


@pytest.mark.parametrize("key", ["IBM", "a/b", "reset", "", "x/reset"])
def test_a_key_that_was_reset_takes_any_time(client: Client, key: str) -> None:
    client.put("/v1/queues/q", json={"lease_seconds": 60})
    client.put("/v1/streams/q")
    client.put_updates("q", {"key": key, "value": 1, "time": 9e9})
    path = f"/v1/streams/q/keys/{key}/reset"
    assert client.post(path).json() == {"reset": True}
    assert client.post(path).json() == {"reset": False}
    counts = client.put_updates("q", {"key": key, "value": 2, "time": 5.0})
    assert counts["waiting"] == 1
    assert [(update["key"], update["value"]) for update in client.dequeue("q")] == [(key, 2)]


def test_a_reset_is_done_once_for_all_its_retries(client: Client) -> None:
    client.put("/v1/streams/s")
    client.put_updates("s", {"key": 7, "value": 1, "time": 9.0})
    headers = {"idempotency-key": "once"}
    path = "/v1/streams/s/keys/7/reset?json=1"
    assert client.post(path, headers=headers).json() == {"reset": True}
    client.put_updates("s", {"key": 7, "value": 2, "time": 1.0})
    assert client.post(path, headers=headers).json() == {"reset": True}
    assert client.get("/v1/streams/s/keys/7?json=1").json()["value"] == 2
    assert_problem(client.post("/v1/streams/none/keys/7/reset"), 404)


@pytest.mark.parametrize("kind", [{}, {"kind": "append"}, {"kind": "adaptive"}])
def test_no_older_update_supersedes_one_after_a_reset(
    client: Client, kind: dict[str, object]
) -> None:
    client.put("/v1/queues/q", json={"lease_seconds": 60, **kind})
    client.put_updates("q", {"key": "IBM", "value": "leased", "time": 9e9})
    leased = client.service.queue("q").take(1, 1_000)
    client.put_updates("q", {"key": "IBM", "value": "waits", "time": 9e9})
    client.post("/v1/streams/q/keys/IBM/reset")
    client.put_updates("q", {"key": "IBM", "value": "new", "time": 1.0})
    client.service.queue("q").give_back(leased)
    assert [update["value"] for update in client.dequeue("q")] == ["new"]
    found = client.statistics("q")
    assert (found["returned"], found["superseded"], found["expired"]) == (1, 1, 1)


def test_a_push_connection_gets_updates_after_a_reset(client: Client) -> None:
    client.put("/v1/queues/q")
    feed = client.service.queue("q")
    reader, slow = subscribe(feed), subscribe(feed)
    client.put_updates("q", {"key": "IBM", "value": 1, "time": 9e9})
    assert values_of(decoded(reader.take(1_000))) == {"IBM": 1}
    client.post("/v1/streams/q/keys/IBM/reset")
    assert slow.take(1_000) is None
    client.put_updates("q", {"key": "IBM", "value": 2, "time": 1.0})
    reader.delivered(1)
    for each in (reader, slow):
        assert values_of(decoded(each.take(1_000))) == {"IBM": 2}
