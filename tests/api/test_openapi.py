"""The description of the API has every route, and is true."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
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


def operations_of(described: Any) -> list[Any]:
    return [
        operation for operations in described["paths"].values() for operation in operations.values()
    ]


def test_every_operation_has_a_name_of_its_own_and_says_what_it_does(described: Any) -> None:
    operations = operations_of(described)
    names = [operation["operationId"] for operation in operations]
    assert len(names) == len(set(names))
    assert all(operation["summary"] and operation["description"] for operation in operations)


def test_every_link_leads_to_an_operation(described: Any) -> None:
    operations = operations_of(described)
    names = {operation["operationId"] for operation in operations}
    linked = {
        link["operationId"]
        for operation in operations
        for response in operation["responses"].values()
        for link in response.get("links", {}).values()
    }
    assert linked
    assert linked <= names


def undescribed(part: Any, where: str = "") -> Iterator[str]:
    """Yield the places of parameters, responses and members that have no description."""
    if isinstance(part, list):
        for index, inner in enumerate(part):
            yield from undescribed(inner, f"{where}/{index}")
    if not isinstance(part, dict):
        return
    named = [(where, part)] if "in" in part and "schema" in part else []
    for group in ("properties", "responses", "schemas"):
        members = part.get(group)
        if isinstance(members, dict):
            named += [(f"{where}/{group}/{name}", inner) for name, inner in members.items()]
    for place, inner in named:
        if not ("$ref" in inner or inner.get("description")):
            yield place
    for name, inner in part.items():
        if name not in {"example", "examples", "default"}:
            yield from undescribed(inner, f"{where}/{name}")


def test_every_parameter_response_and_member_is_described(described: Any) -> None:
    assert list(undescribed(described)) == []


def test_missing_descriptions_are_found() -> None:
    member = {"properties": {"a": {"type": "string"}, "b": {"description": "B."}}}
    parameter = {"in": "query", "name": "c", "schema": {}}
    assert list(undescribed({"schemas": {"S": member | {"description": "S."}}, "p": [parameter]}))
    assert list(undescribed(member)) == ["/properties/a"]
    assert list(undescribed([parameter])) == ["/0"]


def requests_of(described: Any) -> Iterator[tuple[str, str, str, Any]]:
    """Yield each example of a body, with the method and path that it is for, and its type."""
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            content = operation.get("requestBody", {}).get("content", {})
            for content_type, body in content.items():
                for example in body.get("examples", {}).values():
                    yield method, path, content_type, example["value"]


def example_path(path: str, operation: Any) -> str:
    """Return a path with the examples of its parameters."""
    for parameter in operation.get("parameters", []):
        if parameter["in"] == "path":
            example = parameter.get("example") or parameter["schema"]["examples"][0]
            path = path.replace(f"{{{parameter['name']}}}", example)
    return path


@pytest.fixture
def stocked(client: Client) -> Client:
    """Return a client of a service that has what the examples name."""
    client.put("/v1/queues/trades", json={"lease_seconds": 30})
    client.put_updates("trades", {"key": "IBM", "value": 1})
    return client


def test_every_example_of_a_body_works_when_it_is_sent(described: Any, client: Client) -> None:
    sent = 0
    for method, path, content_type, body in requests_of(described):
        name = f"trades-{sent}"  # each has a stream and a queue to itself
        if method == "post":
            client.put(f"/v1/queues/{name}", json={"lease_seconds": 30})
        content = body if isinstance(body, str) else json.dumps(body)
        address = path.replace("{stream}", name).replace("{queue}", name)
        answer = client.request(
            method, address, content=content, headers={"content-type": content_type}
        )
        assert answer.is_success, (method, path, body, answer.text)
        assert answer.json().get("rejections", []) == []
        sent += 1
    assert sent >= 10


def test_every_body_that_is_text_has_an_example(described: Any) -> None:
    for operation in operations_of(described):
        for content_type, body in operation.get("requestBody", {}).get("content", {}).items():
            is_binary = body["schema"].get("contentEncoding") == "binary"
            assert is_binary or body.get("examples"), (operation["operationId"], content_type)


def test_every_path_works_with_the_examples_of_its_parameters(
    described: Any, stocked: Client
) -> None:
    for path, operations in described["paths"].items():
        if "get" not in operations or path.endswith(("/socket", "/events")):
            continue  # which do not end
        answer = stocked.get(example_path(path, operations["get"]))
        assert answer.status_code == 200, (path, answer.text)


def test_every_reference_leads_to_a_schema(described: Any) -> None:
    references = set(re.findall(r'"\$ref": "#/components/schemas/(\w+)"', json.dumps(described)))
    assert references
    assert references <= set(described["components"]["schemas"])


def test_every_422_is_a_problem(described: Any) -> None:
    for operation in operations_of(described):
        refused = operation["responses"].get("422")
        assert refused is None or "application/problem+json" in refused["content"]


def test_the_bounds_of_a_dequeue_are_those_of_the_settings() -> None:
    with serving(max_dequeue=7, max_wait_seconds=2.0) as client:
        described = client.get("/openapi.json").json()
    operation = described["paths"]["/v1/queues/{queue}/dequeue"]["post"]
    bounds = {one["name"]: one["schema"].get("maximum") for one in operation["parameters"]}
    assert (bounds["limit"], bounds["wait"]) == (7, 2.0)


def test_every_change_may_be_refused_to_a_foreign_page(described: Any) -> None:
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            is_pushed = path.endswith(("/events", "/socket"))
            assert ("403" in operation["responses"]) == (method != "get" or is_pushed), path
