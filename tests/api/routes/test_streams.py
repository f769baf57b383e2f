"""`/v1/streams`: every route, and every status that it answers."""

from __future__ import annotations

from urllib.parse import quote

import msgspec
import pytest

from tests.api.serving import Client, assert_problem, serving


def test_a_stream_is_created_once_and_then_is_the_same(client: Client) -> None:
    created = client.put("/v1/streams/trades")
    assert created.status_code == 201
    assert created.json() == {
        "name": "trades",
        "retain": True,
        "forget_after": None,
        "pool_bytes": None,
        "most_ahead": "auto",
        "keys": 0,
        "arrived": 0,
        "late": 0,
        "rejected": 0,
        "too_far_ahead": 0,
        "queues": [],
        "subscribers": 0,
        "run": client.service.streams["trades"].run,
    }
    again = client.put("/v1/streams/trades", json={"retain": True})
    assert again.status_code == 200
    assert again.json() == created.json()


def test_another_definition_is_a_conflict_that_names_the_difference(client: Client) -> None:
    client.put("/v1/streams/trades")
    problem = assert_problem(client.put("/v1/streams/trades", json={"forget_after": 5}), 409)
    assert "forget_after" in problem["detail"]


@pytest.mark.parametrize(
    "body",
    [
        b'{"retain": "perhaps"}',
        b'{"forget_after": 0}',
        b'{"forget_after": NaN}',
        b'{"forget_after": 1e999}',
        b'{"pool_bytes": 1}',
        b'{"retian": true}',
        b"[]",
        b"{",
        b"\xff",
        b"[" * 100_000,
    ],
)
def test_a_bad_definition_is_refused_without_an_echo(client: Client, body: bytes) -> None:
    headers = {"content-type": "application/json"}
    answer = client.put("/v1/streams/trades", content=body, headers=headers)
    assert answer.status_code in (400, 422)
    assert_problem(answer, answer.status_code)
    assert "perhaps" not in answer.text
    assert_problem(client.get("/v1/streams/trades"), 404)


@pytest.mark.parametrize("name", ["_service", "-a", "a b", "ä", "x" * 129, "a%00b"])
def test_a_bad_name_is_refused(client: Client, name: str) -> None:
    assert_problem(client.put(f"/v1/streams/{name}"), 422)


def test_streams_are_listed_in_the_order_of_their_creation(client: Client) -> None:
    for name in ("b", "a"):
        client.put(f"/v1/streams/{name}")
    listed = client.get("/v1/streams").json()["streams"]
    assert [stream["name"] for stream in listed] == ["b", "a"]


def test_a_stream_is_deleted_with_its_queues_which_leave_their_counters(client: Client) -> None:
    client.put("/v1/queues/dashboard", json={"stream": "trades"})
    client.put_updates("trades", {"key": "IBM", "value": 1}, {"key": "IBM", "value": 2})
    gone = client.delete("/v1/streams/trades").json()
    assert gone["name"] == "trades"
    assert gone["queues"]["dashboard"]["arrived"] == 2
    assert gone["queues"]["dashboard"]["superseded"] == 1
    for path in ("streams/trades", "queues/dashboard"):
        assert_problem(client.get(f"/v1/{path}"), 404)
        assert_problem(client.delete(f"/v1/{path}"), 404)


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("IBM", "IBM"),
        ("a/b", "a%2Fb"),
        ("a b\n", "a%20b%0A"),
        ("?ä#", quote("?ä#")),
        (7, "7?json=1"),
        ("7", "7"),
        (["IBM", 1], quote('["IBM",1]') + "?json=1"),
        ("", "%22%22?json=1"),
    ],
)
def test_the_newest_value_of_a_key_is_read_as_it_came(
    client: Client, key: object, path: str
) -> None:
    client.put("/v1/streams/trades")
    client.put_updates("trades", {"key": key, "value": 1, "time": 5}, {"key": "other", "value": 2})
    answer = client.get(f"/v1/streams/trades/keys/{path}")
    assert answer.status_code == 200, answer.text
    assert answer.json() == {"key": key, "time": 5.0, "value": 1}


@pytest.mark.parametrize("path", ["/v1/streams/trades/keys/IBM", "/v1/queues/trades/keys/IBM"])
def test_a_single_update_is_answered_as_it_is_accepted(trades: Client, path: str) -> None:
    trades.put_updates("trades", {"key": "IBM", "value": 24.5, "time": 5})
    packed = trades.get(path, headers={"accept": "application/msgpack"})
    assert packed.headers["content-type"] == "application/msgpack"
    assert msgspec.msgpack.decode(packed.content) == {"key": "IBM", "time": 5.0, "value": 24.5}
    assert_problem(trades.get(path, headers={"accept": "text/html"}), 406)


def test_an_integer_key_is_not_the_string_of_its_digits(client: Client) -> None:
    client.put("/v1/streams/trades")
    client.put_updates("trades", {"key": 7, "value": 1})
    assert_problem(client.get("/v1/streams/trades/keys/7"), 404)


@pytest.mark.parametrize("text", ["{", "null", "1.5", "true", "[]", "[[1]]", "1e400", "[NaN]"])
def test_json_that_is_not_a_key_is_refused(client: Client, text: str) -> None:
    client.put("/v1/streams/trades")
    assert_problem(client.get(f"/v1/streams/trades/keys/{quote(text)}?json=1"), 422)


def test_values_keep_their_text_but_for_line_ends_between_their_parts(client: Client) -> None:
    client.put("/v1/streams/trades")
    body = b'[{"key": "a", "value": 1.10}, {"key": "b", "value": {"x" : [1e2,\n -0]}}]'
    client.post(
        "/v1/streams/trades/updates", content=body, headers={"content-type": "application/json"}
    )
    assert b'"value":1.10}' in client.get("/v1/streams/trades/keys/a").content
    assert b'{"x" : [1e2,  -0]}' in client.get("/v1/streams/trades/keys/b").content


def test_the_snapshot_has_every_newest_value(client: Client) -> None:
    client.put("/v1/streams/trades")
    client.put_updates("trades", *({"key": f"K{row % 3}", "value": row} for row in range(9)))
    updates = client.get("/v1/streams/trades/snapshot").json()["updates"]
    assert {update["key"]: update["value"] for update in updates} == {"K0": 6, "K1": 7, "K2": 8}


def test_a_type_that_cannot_be_written_is_not_acceptable(client: Client) -> None:
    client.put("/v1/streams/trades")
    answer = client.get("/v1/streams/trades/snapshot", headers={"accept": "image/png"})
    assert_problem(answer, 406)


def test_a_deletion_is_delivered_and_then_the_key_is_gone(client: Client) -> None:
    client.put("/v1/queues/dashboard", json={"stream": "trades"})
    client.put_updates("trades", {"key": "IBM", "value": 1, "time": 4e9})
    client.dequeue("dashboard")
    gone = client.delete("/v1/streams/trades/keys/IBM")
    assert gone.status_code == 202
    assert gone.json() == {"waiting": 1, "superseded": 0, "late": 0, "rejected": 0}
    assert_problem(client.get("/v1/streams/trades/keys/IBM"), 404)
    (update,) = client.dequeue("dashboard")
    assert update == {"key": "IBM", "time": 4e9, "value": None, "deleted": True}
    assert client.get("/v1/streams/trades").json()["keys"] == 0


def test_a_retry_of_a_deletion_does_not_delete_newer_updates(client: Client) -> None:
    client.put("/v1/queues/dashboard", json={"stream": "trades"})
    client.put_updates("trades", {"key": "IBM", "value": 1})
    headers = {"idempotency-key": "k"}
    first = client.delete("/v1/streams/trades/keys/IBM", headers=headers)
    client.put_updates("trades", {"key": "IBM", "value": 2})
    again = client.delete("/v1/streams/trades/keys/IBM", headers=headers)
    assert (first.status_code, first.json()) == (again.status_code, again.json())
    assert client.get("/v1/streams/trades/keys/IBM").json()["value"] == 2
    assert_problem(client.delete("/v1/streams/trades/keys/GM", headers=headers), 422)


def test_a_key_that_is_not_there_cannot_be_deleted(client: Client) -> None:
    assert_problem(client.delete("/v1/streams/trades/keys/IBM"), 404)
    client.put("/v1/streams/trades")
    assert_problem(client.delete("/v1/streams/trades/keys/IBM"), 404)


@pytest.mark.parametrize("path", ["", "/snapshot", "/keys/IBM"])
def test_an_unknown_stream_is_not_found(client: Client, path: str) -> None:
    problem = assert_problem(client.get(f"/v1/streams/nothing{path}"), 404)
    assert "PUT" in problem["detail"]


def test_a_stream_that_retains_nothing_has_values_only_while_they_wait(client: Client) -> None:
    client.put("/v1/streams/trades", json={"retain": False})
    client.put("/v1/queues/dashboard", json={"stream": "trades"})
    client.put_updates("trades", {"key": "IBM", "value": 1})
    assert client.get("/v1/streams/trades/keys/IBM").status_code == 200
    client.dequeue("dashboard")
    assert_problem(client.get("/v1/streams/trades/keys/IBM"), 404)


def test_page_pools_take_no_more_memory_than_allowed_together() -> None:
    with serving(max_pool_bytes=10_000) as client:
        assert client.put("/v1/streams/a", json={"pool_bytes": 8_192}).status_code == 201
        assert client.put("/v1/streams/a", json={"pool_bytes": 8_192}).status_code == 200
        assert_problem(client.put("/v1/streams/b", json={"pool_bytes": 4_096}), 422)
        assert client.put("/v1/streams/c").status_code == 201
        client.delete("/v1/streams/a")
        assert client.put("/v1/streams/b", json={"pool_bytes": 4_096}).status_code == 201


def test_rows_that_never_fit_into_the_pool_are_rejected_and_the_others_taken_in(
    client: Client,
) -> None:
    client.put("/v1/streams/small", json={"pool_bytes": 8_192})
    rows = [["a", 1, 1], ["b", 1, "x" * 20_000], [7], ["c", 1, 2]]
    answer = client.post_json("/v1/streams/small/updates", rows)
    assert (answer["waiting"] + answer["superseded"], answer["rejected"]) == (2, 2)
    assert [each["index"] for each in answer["rejections"]] == [1, 2]
    assert "page pool" in answer["rejections"][0]["reason"]
    assert client.get("/v1/streams/small").json()["keys"] == 2
    assert_problem(client.post("/v1/streams/small/updates?atomic=true", json=rows[:2]), 422)
    assert_problem(client.post("/v1/streams/small/updates", json=rows[1:2]), 422)


def test_an_atomic_batch_is_taken_into_the_pool_as_a_whole_or_not_at_all(client: Client) -> None:
    client.put("/v1/streams/small", json={"pool_bytes": 4_096})
    path = "/v1/streams/small/updates?atomic=true"
    rows = [{"key": row, "value": "x" * 100} for row in range(100)]
    assert "no update was taken in" in assert_problem(client.post(path, json=rows), 409)["detail"]
    assert client.get("/v1/streams/small").json()["keys"] == 0
    answer = client.post(path, json=rows[:20])
    assert (answer.status_code, answer.json()["rejected"]) == (202, 0)
    assert client.get("/v1/streams/small").json()["keys"] == 20


def test_a_full_page_pool_rejects_new_keys_and_counts_them(client: Client) -> None:
    client.put("/v1/streams/small", json={"pool_bytes": 4096})
    client.put("/v1/queues/small", json={"stream": "small"})
    rows = [{"key": row, "value": "x" * 100} for row in range(100)]
    counts = client.put_updates("small", *rows)
    assert counts["rejected"] > 0
    assert counts["waiting"] + counts["rejected"] == 100
    assert counts["rejections"][0]["index"] == counts["waiting"]
    assert "room" in counts["rejections"][0]["reason"]
    again = client.put_updates("small", {"key": 0, "value": "y" * 100})
    assert again["superseded"] == 1
    assert client.get("/v1/streams/small/keys/0?json=1").json()["value"] == "y" * 100
    single = client.post("/v1/streams/small/updates", json={"key": 1_000, "value": "x" * 100})
    assert single.status_code == 202
    assert single.json()["rejected"] == 1
    assert client.statistics("small")["rejected"] == counts["rejected"] + 1
