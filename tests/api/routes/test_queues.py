"""`/v1/queues`: every route, and every status that it answers."""

from __future__ import annotations

import pytest

from tests.api.serving import Client, assert_problem
from upstream import POLICIES

DEFAULTS: dict[str, object] = {
    "kind": "update",
    "scheduler": "index",
    "weights": {},
    "longest_wait": None,
    "processing_cost": None,
    "window": None,
    "capacity": None,
    "shedding": False,
    "time_to_live": None,
    "lease_seconds": None,
    "snapshot": False,
    "keep_for_dequeue": None,
}


def put_updates(client: Client, count: int = 4, keys: int = 2) -> None:
    rows = [{"key": f"K{row % keys}", "value": row, "time": row} for row in range(count)]
    client.put_updates("trades", *rows)


def test_a_queue_is_created_once_with_its_stream(client: Client) -> None:
    created = client.put("/v1/queues/trades")
    assert created.status_code == 201
    assert created.json() == {
        **DEFAULTS,
        "name": "trades",
        "stream": "trades",
        "waiting": 0,
        "in_process": 0,
        "subscribers": 0,
        "serves": "dequeue",
    }
    assert client.put("/v1/queues/trades", json={"stream": "trades"}).status_code == 200
    assert client.get("/v1/streams/trades").json()["queues"] == ["trades"]


def test_a_missing_stream_is_created_and_a_known_one_is_used(client: Client) -> None:
    client.put("/v1/streams/trades", json={"retain": False})
    for queue in ("a", "b"):
        assert client.put(f"/v1/queues/{queue}", json={"stream": "trades"}).status_code == 201
    put_updates(client)
    assert [len(client.dequeue(queue)) for queue in ("a", "b")] == [2, 2]
    listed = client.get("/v1/queues").json()["queues"]
    assert [queue["name"] for queue in listed] == ["a", "b"]


def test_another_definition_is_a_conflict_that_names_the_difference(client: Client) -> None:
    client.put("/v1/queues/trades", json={"scheduler": "fifo"})
    problem = assert_problem(client.put("/v1/queues/trades", json={"stream": "others"}), 409)
    assert "stream" in problem["detail"]
    assert "scheduler" in problem["detail"]
    assert_problem(client.get("/v1/streams/others"), 404)


@pytest.mark.parametrize(
    "definition",
    [
        {"kind": "stack"},
        {"scheduler": "random"},
        {"kind": "window"},
        {"window": {"size": 1}},
        {"kind": "window", "window": {"size": 0}},
        {"kind": "window", "window": {"size": 1, "slide": 3, "tick": 2}},
        {"kind": "window", "window": {"size": 1e9, "slide": 1e-9}},
        {"kind": "window", "window": {"size": 1}, "lease_seconds": 1},
        {"weights": {"IBM": -1}},
        {"weights": {"IBM": 2}, "scheduler": "fifo"},
        {"longest_wait": 1, "scheduler": "in-place"},
        {"capacity": 0},
        {"capacity": True},
        {"shedding": True},
        {"kind": "adaptive", "scheduler": "fifo"},
        {"kind": "adaptive", "capacity": 1},
        {"lease_seconds": -1},
        {"stream": "a b"},
        {"leases": 1},
        {"weights": {f"K{number}": 1 for number in range(1_001)}},
        {"weights": {f"K{number}*": 1 for number in range(65)}},
    ],
)
def test_an_invalid_definition_is_refused(client: Client, definition: dict[str, object]) -> None:
    problem = assert_problem(client.put("/v1/queues/trades", json=definition), 422)
    assert "'a b'" not in problem["detail"]
    assert_problem(client.get("/v1/queues/trades"), 404)


def test_a_lone_surrogate_in_a_definition_is_refused(client: Client) -> None:
    body = rb'{"weights": {"\ud800": 1}}'
    answer = client.put(
        "/v1/queues/trades", content=body, headers={"content-type": "application/json"}
    )
    assert answer.status_code in (400, 422)
    assert client.get("/v1/queues").json() == {"queues": []}


@pytest.mark.parametrize(
    "definition",
    [
        *({"scheduler": name} for name in POLICIES if not name.startswith(("app", "ada"))),
        {"kind": "append"},
        {"kind": "append", "capacity": 2, "shedding": True},
        {"kind": "adaptive", "capacity": 2},
        {"weights": {"K*": 2.0}, "longest_wait": 5, "processing_cost": 0.1},
        {"capacity": 1, "time_to_live": 100, "lease_seconds": 5},
    ],
)
def test_queues_of_all_definitions_take_updates_and_serve_them(
    client: Client, definition: dict[str, object]
) -> None:
    created = client.put("/v1/queues/trades", json=definition)
    assert created.status_code == 201, created.text
    assert created.json() | definition == created.json()
    put_updates(client, count=6)
    served = client.dequeue("trades")
    assert served
    assert served[-1]["value"] in (4, 5)
    assert client.statistics("trades")["dequeued"] == len(served)


def test_a_window_queue_serves_the_results_of_its_windows(client: Client) -> None:
    window = {"size": 2, "aggregate": "mean", "of": "price"}
    client.put("/v1/queues/trades", json={"kind": "window", "window": window})
    rows = [{"key": "IBM", "value": {"price": 10 * row}, "time": row} for row in range(5)]
    client.put_updates("trades", *rows)
    (result,) = client.dequeue("trades")
    assert result["key"] == "IBM"
    assert result["time"] == 4.0
    assert result["value"] == {"start": 2.0, "end": 4.0, "result": 25.0}
    counters = client.get("/v1/queues/trades/statistics").json()
    assert counters["windows"]["superseded"] == 1
    assert counters["delivered"] == 1


def test_a_new_queue_can_begin_with_all_newest_values(client: Client) -> None:
    client.put("/v1/streams/trades")
    put_updates(client)
    client.put("/v1/queues/all", json={"stream": "trades", "snapshot": True})
    client.put("/v1/queues/new", json={"stream": "trades"})
    assert len(client.dequeue("all")) == 2
    assert client.dequeue("new") == []


@pytest.mark.parametrize(
    "window",
    [
        {"size": 1e9, "tick": 1e-300},
        {"size": 77_777.5, "slide": 3, "tick": 0.7},
        {"size": 77_777.5, "slide": 1e-12},
    ],
)
def test_invalid_windows_are_refused_and_not_repeated(
    client: Client, window: dict[str, float]
) -> None:
    answer = client.put("/v1/queues/w", json={"kind": "window", "window": window})
    assert "window" in assert_problem(answer, 422)["detail"]
    assert "77" not in answer.text


def test_the_waiting_update_of_a_key_is_read_without_dequeuing(client: Client) -> None:
    client.put("/v1/queues/trades")
    put_updates(client)
    for _ in range(2):
        found = client.get("/v1/queues/trades/keys/K1").json()
        assert found == {"key": "K1", "time": 3.0, "value": 3}
    client.dequeue("trades")
    assert_problem(client.get("/v1/queues/trades/keys/K1"), 404)
    assert_problem(client.get("/v1/queues/trades/keys/nothing"), 404)


def test_the_staleness_report_adds_up(client: Client) -> None:
    client.put("/v1/queues/trades", json={"processing_cost": 10.0})
    for _ in range(5):
        put_updates(client, count=30, keys=3)
    report = client.get("/v1/queues/trades/staleness", params={"stalest": 2}).json()
    assert report["queue"] == "trades"
    assert 0 < report["queue_staleness"] <= report["application_staleness"] * 1.0001
    assert report["worst_key"] == report["stalest_keys"][0]["key"]
    assert len(report["stalest_keys"]) == 2
    assert report["percentiles"]["100"] == report["stalest_keys"][0]["queue_staleness"]
    assert report["rates"]["keys"] == 3
    assert report["cost"] == 10.0
    assert report["lower_bound"] > 0
    assert report["is_warming_up"]
    assert report["ratio"] is report["application_ratio"] is None
    assert [rank["rank"] for rank in report["ranks"]] == [1, 2, 3]
    assert report["bound"] == "memoryless"


@pytest.mark.parametrize("stalest", [-1, 1_001, "many"])
def test_a_bad_number_of_keys_is_refused(trades: Client, stalest: object) -> None:
    answer = trades.get("/v1/queues/trades/staleness", params={"stalest": str(stalest)})
    assert_problem(answer, 422)


def test_a_deleted_queue_leaves_its_counters_and_the_stream_stays(client: Client) -> None:
    client.put("/v1/queues/trades")
    put_updates(client)
    gone = client.delete("/v1/queues/trades").json()
    assert gone["name"] == "trades"
    assert gone["statistics"]["waiting"] == 2
    assert client.get("/v1/streams/trades").json()["keys"] == 2
    assert client.put("/v1/queues/trades").status_code == 201


@pytest.mark.parametrize("path", ["", "/statistics", "/staleness", "/keys/a"])
def test_an_unknown_queue_is_not_found(client: Client, path: str) -> None:
    assert_problem(client.get(f"/v1/queues/nothing{path}"), 404)
