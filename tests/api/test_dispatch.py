"""How requests reach their handlers, and how exceptions of handlers are answered."""

from __future__ import annotations

import pytest
from starlette.testclient import WebSocketDenialResponse
from starlette.websockets import WebSocketDisconnect

from tests.api.serving import Client, assert_problem, serving

UPDATE = {"key": "IBM", "value": 1}


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/v1/streams/trades/updates", "POST"),
        ("GET", "/v1/queues/trades/dequeue", "POST"),
        ("PUT", "/v1/queues/trades/delivered", "POST"),
        ("POST", "/v1/queues/trades/events", "GET"),
        ("POST", "/v1/streams/trades", "GET, HEAD, PUT, DELETE"),
    ],
)
def test_a_wrong_method_is_answered_with_the_allowed_ones(
    client: Client, method: str, path: str, allowed: str
) -> None:
    answer = client.request(method, path)
    assert_problem(answer, 405)
    assert answer.headers["allow"] == allowed


@pytest.mark.parametrize("path", ["/nothing", "/v1", "/v1/queues/a/b/c", "/v1/streams/a/b/updates"])
def test_an_unknown_path_is_not_found(client: Client, path: str) -> None:
    assert_problem(client.get(path), 404)


def test_a_bug_is_answered_and_logged_without_the_input(
    trades: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(type(trades.service.reader), "read", fail)
    problem = assert_problem(trades.post("/v1/streams/trades/updates", json=UPDATE), 500)
    assert "ZeroDivision" not in problem["detail"]
    assert "ZeroDivisionError" in caplog.text
    assert trades.get("/livez").status_code == 200


FOREIGN = [
    {"origin": "https://evil.example"},
    {"origin": "null"},
    {"origin": ""},
    {"origin": "http://["},
    {"origin": "http://testserver:8001"},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
]


@pytest.mark.parametrize("headers", FOREIGN)
def test_a_page_of_another_origin_may_change_nothing_and_follow_nothing(
    trades: Client, headers: dict[str, str]
) -> None:
    trades.put_updates("trades", UPDATE)
    # Of this type, so that browsers do not ask first.
    text = {"content-type": "text/plain", **headers}
    for path in ("streams/trades/updates", "queues/trades/dequeue", "queues/trades/delivered"):
        assert_problem(trades.post(f"/v1/{path}", content=b"[]", headers=text), 403)
    assert_problem(trades.put("/v1/queues/other", headers=headers), 403)
    assert trades.statistics("trades")["waiting"] == 1
    assert_problem(trades.get("/v1/queues/trades/events", headers=headers), 403)
    assert trades.service.meter.requests["/v1/queues/{queue}/events", "GET", 403] == 1
    with (
        pytest.raises(WebSocketDenialResponse) as refused,
        trades.websocket_connect("/v1/queues/trades/socket", headers=headers),
    ):
        raise AssertionError("it was accepted")
    assert refused.value.status_code == 403
    assert trades.get("/v1/queues", headers=headers).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://testserver"},
        {"sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "none"},
        {"origin": "https://good.example", "sec-fetch-site": "cross-site"},
    ],
)
def test_the_services_own_page_and_those_of_allowed_origins_may(headers: dict[str, str]) -> None:
    with serving(allowed_origins=["https://good.example"]) as client:
        answer = client.get("/v1/queues/none/events", headers=headers)
        assert_problem(answer, 404)  # rather than 403
        client.put("/v1/streams/trades")
        answer = client.post("/v1/streams/trades/updates", json=UPDATE, headers=headers)
        assert answer.status_code == 202


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("/", "no-cache"),
        ("/page/page.js", "no-cache"),
        ("/docs/swagger-ui.css", "public, max-age=86400"),
        *((path, "no-store") for path in ("/docs", "/livez", "/metrics", "/openapi.json")),
        *((path, "no-store") for path in ("/v1/streams", "/v1/queues/none", "/page/none", "/none")),
    ],
)
def test_every_answer_is_of_its_type_and_says_how_long_it_may_be_kept(
    client: Client, path: str, kept: str
) -> None:
    headers = client.get(path).headers
    assert headers.get_list("x-content-type-options") == ["nosniff"]
    assert headers.get_list("cache-control") == [kept]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1/queues/nothing/socket", 404),
        ("/v1/queues/trades/sockets", 404),
        ("/elsewhere", 404),
        ("/v1/queues/trades/socket?window=0", 422),
        ("/v1/queues/trades/socket?windw=1", 422),
    ],
)
def test_a_websocket_that_is_not_possible_is_refused_with_a_problem(
    trades: Client, path: str, status: int
) -> None:
    with (
        pytest.raises((WebSocketDenialResponse, WebSocketDisconnect)) as refused,
        trades.websocket_connect(path),
    ):
        raise AssertionError("it was accepted")
    assert isinstance(refused.value, WebSocketDenialResponse)
    assert_problem(refused.value, status)


def test_a_websocket_route_asked_for_by_http_says_so(trades: Client) -> None:
    assert_problem(trades.get("/v1/queues/trades/socket"), 426)
    assert_problem(trades.get("/v1/queues/nothing/socket"), 404)


def test_every_request_is_counted_by_its_template(trades: Client) -> None:
    trades.put_updates("trades", UPDATE)
    trades.dequeue("trades")
    trades.get("/v1/streams/trades/keys/IBM")
    trades.get("/nothing")
    counted = trades.service.meter.requests
    assert counted["/v1/streams/{stream}/updates", "POST", 202] == 1
    assert counted["/v1/queues/{queue}/dequeue", "POST", 200] == 1
    assert counted["/v1/streams/{stream}/keys/{key}", "GET", 200] == 1
    assert counted["other", "GET", 404] == 1
    assert not any("trades" in route or "IBM" in route for route, _, _ in counted)


@pytest.mark.parametrize("path", ["/livez", "/v1/streams", "/v1/queues/trades", "/metrics", "/"])
def test_a_path_that_can_be_read_answers_head(trades: Client, path: str) -> None:
    head = trades.head(path)
    assert head.status_code == 200
    assert head.headers["content-type"] == trades.get(path).headers["content-type"]


def test_a_head_is_counted_as_one(client: Client) -> None:
    client.head("/livez")
    assert client.service.meter.requests["/livez", "HEAD", 200] == 1


def test_a_path_that_is_no_utf8_is_refused(trades: Client) -> None:
    trades.put_updates("trades", {"key": "\ufffd", "value": 1})
    assert_problem(trades.get("/v1/streams/trades/keys/%FF"), 422)
    assert trades.get("/v1/streams/trades/keys/%EF%BF%BD").status_code == 200


def test_nothing_is_redirected(client: Client) -> None:
    answer = client.get("/v1/streams/", headers={"host": "evil.example"}, follow_redirects=False)
    assert_problem(answer, 404)
