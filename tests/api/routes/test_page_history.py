"""The page asks for the last minutes at a path of its own."""

from __future__ import annotations

from tests.api.serving import Client


def test_it_is_found_before_the_files_of_the_page(client: Client) -> None:
    client.put("/v1/queues/trades")
    answer = client.get("/page/history.json")
    assert answer.status_code == 200
    assert "service" in answer.json()
    assert answer.headers["cache-control"] == "no-store"
