"""The routes for probes and monitoring."""

from __future__ import annotations

import pytest

from tests.api.serving import Client, assert_problem


def test_a_running_service_is_alive_and_ready(client: Client) -> None:
    for path in ("/livez", "/readyz"):
        answer = client.get(path)
        assert answer.status_code == 200
        assert answer.json()["status"] == "ok"
        assert answer.json()["run"] == client.service.run


def test_a_service_that_shuts_down_is_alive_and_not_ready(client: Client) -> None:
    client.service.begin_shutdown()
    assert client.get("/livez").status_code == 200
    assert_problem(client.get("/readyz"), 503)


@pytest.mark.parametrize("accept", ["text/plain", "application/openmetrics-text; version=1.0.0"])
def test_the_metrics_count_superseded_updates_and_name_no_key(trades: Client, accept: str) -> None:
    trades.put_updates("trades", {"key": "IBM", "value": 1}, {"key": "IBM", "value": 2})
    answer = trades.get("/metrics", headers={"accept": accept})
    assert answer.headers["content-type"].startswith(accept.partition(";")[0])
    assert 'upstream_queue_updates_superseded_total{queue="trades"} 1.0' in answer.text
    assert "IBM" not in answer.text
