"""The description of the API names every route, and says what is so."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.serving import Client, serving

ROUTES = {
    "/v1/streams": {"get"},
    "/v1/streams/{stream}": {"get", "put", "delete"},
    "/v1/streams/{stream}/updates": {"post"},
    "/v1/streams/{stream}/snapshot": {"get"},
    "/v1/streams/{stream}/keys/{key}": {"get", "delete"},
    "/v1/queues": {"get"},
    "/v1/queues/{queue}": {"get", "put", "delete"},
    "/v1/queues/{queue}/dequeue": {"post"},
    "/v1/queues/{queue}/delivered": {"post"},
    "/v1/streams/{stream}/keys/{key}/reset": {"post"},
    "/v1/queues/{queue}/keys/{key}": {"get"},
    "/v1/queues/{queue}/staleness": {"get"},
    "/v1/queues/{queue}/statistics": {"get"},
    "/v1/queues/{queue}/socket": {"get"},
    "/v1/queues/{queue}/events": {"get"},
    "/metrics": {"get"},
    "/livez": {"get"},
    "/readyz": {"get"},
}


@pytest.fixture
def described(client: Client) -> Any:
    return client.get("/openapi.json").json()


def test_every_route_is_described(described: Any) -> None:
    assert {path: set(operations) for path, operations in described["paths"].items()} == ROUTES


def test_every_operation_has_a_name_of_its_own_and_says_what_it_does(described: Any) -> None:
    operations = [
        operation for operations in described["paths"].values() for operation in operations.values()
    ]
    names = [operation["operationId"] for operation in operations]
    assert len(names) == len(set(names))
    assert all(operation["summary"] for operation in operations)


def test_every_link_leads_to_an_operation(described: Any) -> None:
    operations = [
        operation for operations in described["paths"].values() for operation in operations.values()
    ]
    names = {operation["operationId"] for operation in operations}
    linked = {
        link["operationId"]
        for operation in operations
        for response in operation["responses"].values()
        for link in response.get("links", {}).values()
    }
    assert linked
    assert linked <= names


def test_every_reference_leads_to_a_schema(described: Any) -> None:
    references: set[str] = set()

    def collect(part: Any) -> None:
        if isinstance(part, dict):
            if isinstance(part.get("$ref"), str):
                references.add(part["$ref"].rpartition("/")[2])
            for inner in part.values():
                collect(inner)
        elif isinstance(part, list):
            for inner in part:
                collect(inner)

    collect(described)
    assert references <= set(described["components"]["schemas"])


def test_what_is_not_acceptable_is_a_problem_everywhere(described: Any) -> None:
    for operations in described["paths"].values():
        for operation in operations.values():
            refused = operation["responses"].get("422")
            assert refused is None or "application/problem+json" in refused["content"]


def test_the_bounds_of_a_dequeue_are_those_of_the_settings() -> None:
    with serving(max_dequeue=7, max_wait_seconds=2.0) as client:
        described = client.get("/openapi.json").json()
    operation = described["paths"]["/v1/queues/{queue}/dequeue"]["post"]
    bounds = {one["name"]: one["schema"].get("maximum") for one in operation["parameters"]}
    assert (bounds["limit"], bounds["wait"]) == (7, 2.0)


def test_what_changes_something_may_be_refused_to_a_foreign_page(described: Any) -> None:
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            is_pushed = path.endswith(("/events", "/socket"))
            assert ("403" in operation["responses"]) == (method != "get" or is_pushed), path
