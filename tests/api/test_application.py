"""The application as a whole: its background tasks, and its answers to bad requests."""

from __future__ import annotations

import pytest

from api.application import create_application
from api.settings import Settings
from tests.api.serving import Client, assert_problem, serving


def test_the_demo_runs_only_if_it_is_wanted() -> None:
    with serving() as client:
        assert client.get("/v1/streams/demo").status_code == 404
    application = create_application(Settings(demo=True))
    with Client(application) as client:
        while client.get("/v1/streams/demo").status_code == 404:
            pass
        while client.get("/v1/streams/demo").json()["arrived"] == 0:
            pass


def test_a_service_is_ready_until_it_shuts_down() -> None:
    with serving() as client:
        service = client.service
        assert service.is_ready
    assert service.closing.is_set()


def test_faults_are_named_by_where_they_are(client: Client) -> None:
    body = {"capacity": -1, "weights": {"secret": -1}, "s3cr3t": 1}
    problem = assert_problem(client.put("/v1/queues/trades", json=body), 422)
    where = [fault["where"] for fault in problem["faults"]]
    assert "body.capacity" in where
    assert "body.weights" in where
    assert "s3cr3t" not in str(problem)
    assert "secret" not in str(problem)


def test_the_services_own_stream_is_not_listed_and_cannot_be_changed(client: Client) -> None:
    assert client.get("/v1/streams").json() == {"streams": []}
    assert client.get("/v1/queues").json() == {"queues": []}
    for path in ("/v1/streams/_service", "/v1/queues/_service"):
        assert_problem(client.put(path), 422)
        assert_problem(client.delete(path), 422)


def test_the_services_own_stream_takes_no_updates_and_gives_none_away(client: Client) -> None:
    update = {"key": "a", "value": 1}
    assert_problem(client.post("/v1/streams/_service/updates", json=update), 404)
    assert_problem(client.post("/v1/queues/_service/dequeue"), 404)


def test_a_long_definition_is_refused(client: Client) -> None:
    body = b'{"stream": "' + b"x" * (2 << 20) + b'"}'
    headers = {"content-type": "application/json"}
    assert_problem(client.put("/v1/queues/trades", content=body, headers=headers), 413)
    chunks = client.put("/v1/queues/trades", content=iter([body]), headers=headers)
    assert chunks.status_code == 413


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded"])
def test_a_definition_of_another_type_than_json_is_refused(
    client: Client, content_type: str
) -> None:
    headers = {"content-type": content_type}
    assert_problem(client.put("/v1/queues/trades", content=b"{}", headers=headers), 415)


def test_a_definition_that_is_no_text_is_malformed(client: Client) -> None:
    headers = {"content-type": "application/json"}
    problem = assert_problem(client.put("/v1/queues/q", content=b'"\xff"', headers=headers), 400)
    assert problem["title"] == "Bad Request"
