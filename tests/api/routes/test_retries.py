"""Deletions that are asked for again: the same answer, and nothing else is deleted."""

from __future__ import annotations

import pytest

from tests.api.serving import Client, assert_problem

KEY = {"idempotency-key": "k"}


@pytest.mark.parametrize("path", ["/v1/queues/trades", "/v1/streams/trades"])
def test_what_was_made_anew_meanwhile_is_not_deleted_by_a_retry(client: Client, path: str) -> None:
    client.put("/v1/queues/trades")
    client.put_updates("trades", {"key": "a", "value": 1})
    first = client.delete(path, headers=KEY)
    assert first.status_code == 200
    client.put("/v1/queues/trades")
    again = client.delete(path, headers=KEY)
    assert (again.status_code, again.content) == (200, first.content)
    assert client.get(path).status_code == 200
    assert client.delete(path, headers={"idempotency-key": "other"}).content != first.content


@pytest.mark.parametrize("path", ["/v1/queues/nothing", "/v1/streams/nothing"])
def test_a_deletion_that_failed_may_be_tried_again(client: Client, path: str) -> None:
    for _ in range(2):
        assert_problem(client.delete(path, headers=KEY), 404)
    client.put("/v1/queues/nothing")
    assert client.delete(path, headers=KEY).status_code == 200


def test_a_bad_key_deletes_nothing(client: Client) -> None:
    client.put("/v1/queues/trades")
    for path in ("/v1/queues/trades", "/v1/streams/trades", "/v1/streams/trades/keys/a"):
        assert_problem(client.delete(path, headers={"idempotency-key": "x" * 256}), 400)
    assert client.get("/v1/queues/trades").status_code == 200


def test_one_key_for_two_deletions_is_refused(client: Client) -> None:
    client.put("/v1/streams/trades")
    client.put_updates("trades", {"key": "a", "value": 1}, {"key": "b", "value": 2})
    first = client.delete("/v1/streams/trades/keys/a", headers=KEY)
    assert first.status_code == 202
    assert_problem(client.delete("/v1/streams/trades/keys/b", headers=KEY), 422)
    assert client.get("/v1/streams/trades/keys/b").status_code == 200
