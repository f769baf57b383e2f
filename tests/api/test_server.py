"""The server as a process: where it listens, how it stops, and which clients cannot stop it."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import subprocess
import sys
import time

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect as websocket

from api.server import ANOTHER_PORT, CannotListenError, check_address
from tests.api.raw_client import HANDSHAKE, connected, exchange
from tests.server_process import SERVICE, RunningServer, running


def connect(server: RunningServer) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)


def test_it_says_where_it_listens_and_answers_there_and_how_to_choose_another_port(
    server: RunningServer,
) -> None:
    with connected(server.port) as client:
        assert client.get("/readyz").status == 200
    while f"To use another port: {ANOTHER_PORT}\n" not in server.log:
        pass  # until it has been read


@pytest.mark.slow
def test_it_stops_within_five_seconds_with_a_hundred_open_streams_and_a_long_poll() -> None:
    with running() as server:
        with connected(server.port) as client:
            client.put("/v1/queues/trades", {})
        poll = connect(server)
        poll.request("POST", "/v1/queues/trades/dequeue?wait=60")
        streams = [connect(server) for _ in range(100)]
        for stream in streams:
            stream.request("GET", "/v1/queues/trades/events")
        answers = [stream.getresponse() for stream in streams]  # by now the poll has been read
        assert {answer.status for answer in answers} == {200}
        started = time.monotonic()
        server.stop()
        assert time.monotonic() - started < 5
        assert json.loads(poll.getresponse().read()) == {"updates": []}
        poll.close()
        for stream, answer in zip(streams, answers, strict=True):
            answer.read()  # it ends
            stream.close()


def clients_in(log: list[str]) -> list[str]:
    """Return the clients in the access log."""
    lines = [json.loads(line) for line in log if line.startswith("{")]
    return [line["client"].rpartition(":")[0] for line in lines if line["event"] == "request"]


@pytest.mark.parametrize(
    ("trusted", "client"),
    [("", "127.0.0.1"), ("10.0.0.0/8", "127.0.0.1"), ("127.0.0.0/8", "192.0.2.7")],
)
def test_only_a_trusted_proxy_may_name_the_client(trusted: str, client: str) -> None:
    environment = {"UPSTREAM_ACCESS_LOG": "true", "UPSTREAM_TRUSTED_PROXIES": trusted}
    with running(environment=environment) as server:
        with connected(server.port) as proxy:
            proxy.ask("GET", "/livez", x_forwarded_for="192.0.2.7")
        server.stop()
    assert clients_in(server.log) == [client]


def test_mistakes_of_clients_are_not_logged_as_errors_or_one_by_one() -> None:
    with running() as server:
        for _ in range(50):
            assert exchange(server.port, b"\x16\x03\x01\r\n\r\n").status == 400
        with pytest.raises(InvalidStatus) as refused:
            websocket(f"ws://127.0.0.1:{server.port}/v1/queues/none/socket", proxy=None)
        assert refused.value.response.status_code == 404
        assert server.stop() in (0, -signal.SIGTERM)
    assert "".join(server.log).count("Invalid HTTP request") == 1
    assert '"level": "error"' not in "".join(server.log)


def test_an_idle_websocket_is_tried_as_often_as_the_settings_say() -> None:
    with running(environment={"UPSTREAM_HEARTBEAT_SECONDS": "0.05"}) as server:
        with connected(server.port) as client:
            client.put("/v1/queues/trades", {})
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as idle:
            idle.sendall(HANDSHAKE.replace(b"/", b"/v1/queues/trades/socket", 1))
            with idle.makefile("rb") as received:
                head = list(iter(received.readline, b"\r\n"))
                assert b" 101 " in head[0]
                assert received.read(1) == b"\x89"  # a ping, long before uvicorn's own 20 seconds


@pytest.mark.parametrize("definition", [b"{}", b'{"lease_seconds": 60}'])
@pytest.mark.parametrize("head", [b"HTTP/1.1\r\nhost: x\r\nconnection: close", b"HTTP/1.0"])
def test_an_answer_before_the_connection_closes_counts_as_delivered(
    server: RunningServer, definition: bytes, head: bytes
) -> None:
    with connected(server.port) as client:
        client.ask("PUT", "/v1/queues/once", definition, content_type="application/json")
        client.post("/v1/streams/once/updates", b'{"key": "IBM", "value": 24.5}')
        answer = exchange(server.port, b"POST /v1/queues/once/dequeue " + head + b"\r\n\r\n")
        (update,) = json.loads(answer.body)["updates"]
        assert ("lease" in update) == (b"lease" in definition)
        if "lease" in update:
            delivered = json.dumps({"leases": [update["lease"]]}).encode()
            said = json.loads(client.post("/v1/queues/once/delivered", delivered).body)
            assert said == {"delivered": 1, "unknown": 0}
        counters = json.loads(client.get("/v1/queues/once/statistics").body)
        assert (counters["delivered"], counters["returned"], counters["waiting"]) == (1, 0, 0)
        client.ask("DELETE", "/v1/streams/once")


def test_clients_that_disconnect_at_once_take_no_room_from_others() -> None:
    with running(environment={"UPSTREAM_MAX_CONNECTIONS": "3"}) as server:
        with connected(server.port) as client:
            client.put("/v1/queues/trades", {})
        request = b"GET /v1/queues/trades/events HTTP/1.1\r\nhost: x\r\n\r\n"
        for _ in range(30):
            with socket.create_connection(("127.0.0.1", server.port), timeout=10) as hasty:
                hasty.sendall(request)
        with connected(server.port) as client:
            while json.loads(client.get("/v1/queues/trades").body)["subscribers"]:
                pass  # until the service knows that they are gone
        stream = connect(server)
        stream.request("GET", "/v1/queues/trades/events")
        assert stream.getresponse().status == 200
        stream.close()
        assert "Traceback" not in "".join(server.log)


def test_a_client_that_disconnects_while_it_waits_takes_no_updates(server: RunningServer) -> None:
    with connected(server.port) as client:
        client.put("/v1/queues/trades", {})
        waiting = connect(server)
        waiting.request("POST", "/v1/queues/trades/dequeue?wait=60")
        assert json.loads(client.get("/v1/queues/trades").body)["waiting"] == 0
        waiting.close()
        while b'dequeue",status="499"} 1' not in client.get("/metrics", "text/plain").body:
            pass  # until the service knows
        client.post("/v1/streams/trades/updates", b'{"key": "IBM", "value": 24.5}')
        answer = client.post("/v1/queues/trades/dequeue")
        assert [update["key"] for update in json.loads(answer.body)["updates"]] == ["IBM"]
        client.ask("DELETE", "/v1/streams/trades")


@pytest.mark.slow
def test_a_body_that_is_still_to_come_at_the_end_is_refused() -> None:
    with running(environment={"UPSTREAM_SHUTDOWN_SECONDS": "1"}) as server:
        with connected(server.port) as client:
            client.put("/v1/streams/trades", {})
        uploads = [
            begin_upload(server, "POST", "/v1/streams/trades/updates"),
            begin_upload(server, "PUT", "/v1/queues/other"),
        ]
        with connected(server.port) as client:
            client.get("/livez")  # by now their headers have been read
        server.stop()
        for upload in uploads:
            answer = upload.getresponse()
            assert answer.status == 503
            assert json.load(answer)["title"] == "Not ready"
            upload.close()
        assert "Traceback" not in "".join(server.log)


def begin_upload(
    server: RunningServer, method: str, path: str, *, length: int = 1_000
) -> http.client.HTTPConnection:
    """Send the headers of a request and the first byte of its body."""
    upload = connect(server)
    upload.putrequest(method, path)
    upload.putheader("content-type", "application/json")
    upload.putheader("content-length", str(length))
    upload.endheaders(b"[")
    return upload


def test_headers_that_never_end_are_not_waited_for() -> None:
    environment = {"UPSTREAM_HEADER_TIMEOUT_SECONDS": "0.3"}
    with running(environment=environment) as server:
        slow = socket.create_connection(("127.0.0.1", server.port), timeout=20)
        slow.sendall(b"GET /livez HTTP/1.1\r\nhost: x\r\n")
        answer = slow.recv(1_000)
        assert answer == b"" or b" 408 " in answer
        slow.close()
        with connected(server.port) as client:
            assert client.get("/livez").status == 200


def test_a_body_that_is_too_long_is_refused_before_it_has_come(server: RunningServer) -> None:
    with connected(server.port) as client:
        client.put("/v1/streams/long", {})
    upload = begin_upload(server, "POST", "/v1/streams/long/updates", length=600 << 20)
    answer = upload.getresponse()
    assert answer.status == 413
    assert json.load(answer)["status"] == 413
    upload.close()


IN_USE = "cannot listen on {host}, port {port}: address already in use; choose another port: "


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_an_error_says_that_a_port_is_in_use_and_names_another(host: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CannotListenError) as error:
            check_address(host, port)
    assert str(error.value) == IN_USE.format(host=host, port=port) + ANOTHER_PORT


def test_a_port_in_use_is_reported_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [sys.executable, *SERVICE[:2], "--no-demo", "--port", str(port)]
        second = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert (second.returncode, second.stdout) == (1, "")
    assert second.stderr == f"Error: {IN_USE.format(host='127.0.0.1', port=port)}{ANOTHER_PORT}\n"


def test_an_address_of_another_machine_is_reported_without_another_port() -> None:
    for host in ("192.0.2.1", "no-such-host.invalid"):
        with pytest.raises(CannotListenError, match=f"cannot listen on {host}") as error:
            check_address(host, 8_000)
        assert "another port" not in str(error.value)


def test_a_port_with_lingering_connections_can_be_used_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as first:
        port = first.getsockname()[1]
        client = socket.create_connection(("127.0.0.1", port))
        served, _ = first.accept()
        served.close()  # the side that closes first keeps the address for a while
        assert client.recv(1) == b""
        client.close()
    check_address("127.0.0.1", port)
