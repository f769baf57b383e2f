"""The service in the process of the test, with a client that uses it as over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from starlette.testclient import TestClient

from api.application import create_application
from api.service import Service
from api.settings import Settings

JSON = {"content-type": "application/json"}


class Client(TestClient):
    """A client, with the service that it talks to."""

    service: Service

    def post_json(self, path: str, body: object, **headers: str) -> Any:
        """Post JSON, and return what is answered, decoded; any status will do."""
        return self.post(path, json=body, headers=headers).json()

    def put_updates(self, stream: str, *updates: object) -> Any:
        """Put updates into a stream, which has to take them."""
        answer = self.post(f"/v1/streams/{stream}/updates", json=list(updates))
        assert answer.status_code == 202, answer.text
        return answer.json()

    def dequeue(self, queue: str, **parameters: Any) -> list[dict[str, Any]]:
        """Dequeue from a queue, which has to answer."""
        answer = self.post(f"/v1/queues/{queue}/dequeue", params=parameters)
        assert answer.status_code == 200, answer.text
        updates: list[dict[str, Any]] = answer.json()["updates"]
        return updates

    def forget_answers(self) -> None:
        """Let the service forget the answers that it keeps for retries."""
        assert self.portal is not None
        self.portal.call(self.service.idempotent.forget_all)

    def statistics(self, queue: str) -> Any:
        """Return a queue's counters, which have to be balanced."""
        found = self.get(f"/v1/queues/{queue}/statistics").json()
        fates = ("dequeued", "superseded", "late", "expired", "shed", "rejected", "waiting")
        assert found["arrived"] + found["returned"] == sum(found[fate] for fate in fates)
        return found


@contextmanager
def serving(**settings: Any) -> Iterator[Client]:
    """Run the service with these settings, without the demo, until the block ends."""
    application = create_application(Settings(demo=False, **settings))
    with Client(application, raise_server_exceptions=False) as client:
        client.service = application.service
        yield client


def assert_problem(answer: Any, status: int) -> Any:
    """Assert that an answer is a problem of this status, and return it decoded."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["status"] == status
    assert problem["title"]
    assert problem["detail"]
    return problem
