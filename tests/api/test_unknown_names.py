"""The message about an unknown name has a similar name, and repeats no other text."""

from __future__ import annotations

import pytest

from api.unknown_names import unknown_name
from tests.api.serving import Client, assert_problem


@pytest.mark.parametrize("name", ["7", "", "a b", "a" * 33, "s3cr3t", "é", "a\n", "<b>"])
def test_text_that_does_not_look_like_a_name_is_not_repeated(name: str) -> None:
    told = unknown_name("member", name, ["key", "value"])
    assert told == "unknown member; known are key and value"


def test_the_message_has_a_similar_name_or_all_known_ones() -> None:
    assert unknown_name("member", "valeu", ["key", "value"]).endswith("did you mean 'value'?")
    assert unknown_name("member", "colour", ["key", "value"]).endswith("known are key and value")
    assert unknown_name("parameter", "colour", ["limit"]).endswith("known is limit")
    assert unknown_name("parameter", "colour", []).endswith("known is none")


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("queues/q", {"scheduelr": "index"}, "body: unknown member 'scheduelr'; did you mean"),
        ("queues/q", {"pool_bytes": 1}, "body: unknown member 'pool_bytes'; known are stream,"),
        ("streams/s", {"retian": True}, "body: unknown member 'retian'; did you mean 'retain'"),
        (
            "queues/q",
            {"kind": "window", "window": {"size": 1, "slid": 1}},
            "body.window: unknown member 'slid'; did you mean 'slide'?",
        ),
    ],
)
def test_an_unknown_member_of_a_definition_is_named(
    client: Client, path: str, body: object, told: str
) -> None:
    problem = assert_problem(client.put(f"/v1/{path}", json=body), 422)
    assert problem["detail"].startswith(told)


def test_an_unknown_member_of_an_update_is_named_row_by_row(trades: Client) -> None:
    updates = [{"key": "IBM", "value": 1}, {"key": "IBM", "valeu": 1}]
    (rejection,) = trades.put_updates("trades", *updates)["rejections"]
    expected = "unknown member 'valeu'; did you mean 'value'?"
    assert rejection == {"index": 1, "reason": expected}
    problem = assert_problem(trades.post("/v1/streams/trades/updates", json=updates[1]), 422)
    assert problem["detail"] == expected


def test_an_unknown_member_of_a_delivery_and_an_unknown_parameter_are_named(trades: Client) -> None:
    problem = assert_problem(trades.post("/v1/queues/trades/delivered", json={"lease": []}), 422)
    assert "unknown member 'lease'; did you mean 'leases'?" in problem["detail"]
    problem = assert_problem(trades.post("/v1/queues/trades/dequeue?limt=1"), 422)
    assert problem["detail"] == "unknown parameter 'limt'; did you mean 'limit'?"
