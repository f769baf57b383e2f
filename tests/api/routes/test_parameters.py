"""The service, keys of any text, and retry keys, as routes read them from requests."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from starlette.routing import compile_path

from api.routes.parameters import KEY
from tests.api.serving import Client, assert_problem, serving

RETRY = {"idempotency-key": "k"}


def test_two_applications_have_two_services() -> None:
    with serving() as first, serving() as second:
        first.put("/v1/streams/trades")
        assert len(first.get("/v1/streams").json()["streams"]) == 1
        assert second.get("/v1/streams").json()["streams"] == []


@pytest.mark.parametrize("text", ["IBM", "a/b", "a\nb", "", "ä?"])
def test_any_text_is_a_key(text: str) -> None:
    pattern, template, convertors = compile_path("/keys/" + KEY)
    found = pattern.match("/keys/" + quote(text))
    assert found is not None
    assert convertors["key"].convert(found["key"]) == text
    assert template == "/keys/{key}"
    assert convertors["key"].convert(convertors["key"].to_string(text)) == text


def test_an_unknown_stream_is_reported_before_a_bad_key(client: Client) -> None:
    assert_problem(client.get("/v1/streams/nothing/keys/%7B?json=1"), 404)
    client.put("/v1/streams/trades")
    assert_problem(client.get("/v1/streams/trades/keys/%7B?json=1"), 422)


# Deletions that are retried with the same key: the same answer, and nothing else is deleted


@pytest.mark.parametrize("path", ["/v1/queues/trades", "/v1/streams/trades"])
def test_a_retry_does_not_delete_a_queue_that_was_created_again(trades: Client, path: str) -> None:
    trades.put_updates("trades", {"key": "a", "value": 1})
    first = trades.delete(path, headers=RETRY)
    assert first.status_code == 200
    trades.put("/v1/queues/trades")
    again = trades.delete(path, headers=RETRY)
    assert (again.status_code, again.content) == (200, first.content)
    assert trades.get(path).status_code == 200
    assert trades.delete(path, headers={"idempotency-key": "other"}).content != first.content


@pytest.mark.parametrize("path", ["/v1/queues/nothing", "/v1/streams/nothing"])
def test_a_deletion_that_failed_may_be_tried_again(client: Client, path: str) -> None:
    for _ in range(2):
        assert_problem(client.delete(path, headers=RETRY), 404)
    client.put("/v1/queues/nothing")
    assert client.delete(path, headers=RETRY).status_code == 200


def test_a_bad_key_deletes_nothing(trades: Client) -> None:
    for path in ("/v1/queues/trades", "/v1/streams/trades", "/v1/streams/trades/keys/a"):
        assert_problem(trades.delete(path, headers={"idempotency-key": "x" * 256}), 400)
    assert trades.get("/v1/queues/trades").status_code == 200


def test_one_key_for_two_deletions_is_refused(client: Client) -> None:
    client.put("/v1/streams/trades")
    client.put_updates("trades", {"key": "a", "value": 1}, {"key": "b", "value": 2})
    first = client.delete("/v1/streams/trades/keys/a", headers=RETRY)
    assert first.status_code == 202
    assert_problem(client.delete("/v1/streams/trades/keys/b", headers=RETRY), 422)
    assert client.get("/v1/streams/trades/keys/b").status_code == 200
