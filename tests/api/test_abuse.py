"""The service refuses hostile requests with a problem, and goes on serving other clients."""

from __future__ import annotations

import gzip
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from itertools import product

import msgspec
import pytest

from tests.api.raw_client import PROBLEM, RawClient, connected, exchange, strict_json
from tests.server_process import RunningServer, running

UPDATE = b'{"key":"s3cr3t","value":1}'
SECRET = b"s3cr3t"
POST = b"POST /v1/streams/trades/updates HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
PUT = b"PUT /v1/queues/other HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
LENGTH = b"Content-Length: %d\r\n" % len(UPDATE)
CHUNKED = b"Transfer-Encoding: chunked\r\n"
CHUNKS = b"%x\r\n%b\r\n0\r\n\r\n" % (len(UPDATE), UPDATE)


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    settings = {"UPSTREAM_HEADER_TIMEOUT_SECONDS": "5", "UPSTREAM_MAX_WAIT_SECONDS": "0.01"}
    with running(environment=settings) as server:
        yield server
    assert "Traceback" not in "".join(server.log)
    assert SECRET.decode() not in "".join(server.log)


@pytest.fixture
def client(server: RunningServer) -> Iterator[RawClient]:
    """Give a decent client, which is served whatever others did before, and do."""
    with connected(server.port) as client:
        assert client.put("/v1/queues/trades", {}).status in (200, 201)
        yield client
        assert client.get("/readyz").status == 200


def get(*lines: bytes, path: bytes = b"/livez") -> bytes:
    head = b"GET %b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" % path
    return head + b"".join(line + b"\r\n" for line in lines) + b"\r\n"


REFUSED = [
    # Lengths that could be understood in two ways, which is what request smuggling is made of.
    (POST + LENGTH + LENGTH + b"\r\n" + UPDATE, 400),
    (POST + LENGTH + b"Content-Length: 5\r\n\r\n" + UPDATE, 400),
    (POST + b"Content-Length: 26, 26\r\n\r\n" + UPDATE, 400),
    (POST + b"Content-Length: +26\r\n\r\n" + UPDATE, 400),
    (POST + b"Content-Length: -1\r\n\r\n" + UPDATE, 400),
    (POST + b"Content-Length : 26\r\n\r\n" + UPDATE, 400),
    (POST + b"Content-Length: 0x1a\r\n\r\n" + UPDATE, 400),
    (POST + b"Content-Length: 99999999999999999999999\r\n\r\n" + UPDATE, 400),
    (POST + b"Content-Length: 9223372036854775807\r\n\r\n" + UPDATE, 413),
    (PUT + b"Content-Length: 9223372036854775807\r\n\r\n{", 413),
    (POST + LENGTH + CHUNKED + b"\r\n" + CHUNKS, 400),
    (POST + CHUNKED + LENGTH + b"\r\n" + CHUNKS, 400),
    (POST + b"Transfer-Encoding: xchunked\r\n\r\n" + CHUNKS, 400),
    (POST + b"Transfer-Encoding: chunked, identity\r\n\r\n" + CHUNKS, 400),
    (POST + CHUNKED + b"\r\ns3cr3t\r\n" + UPDATE, 400),
    (POST + CHUNKED + b"\r\nffffffffffffffffff\r\n" + UPDATE, 400),
    (POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + CHUNKS, 501),
    (PUT + b"Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 501),
    (POST + b"Transfer-Encoding: gzip\r\n" + CHUNKED + b"\r\n" + CHUNKS, 501),
    (POST + b"Transfer-Encoding: chunked, chunked\r\n\r\n" + CHUNKS, 400),
    (POST + b"Transfer-Encoding: gzip\r\n\r\n" + UPDATE, 400),
    (POST + b"Transfer-Encoding: chunked, gzip\r\n\r\n" + CHUNKS, 400),
    (POST + b"Transfer-Encoding: gzip, chunked\r\n" + LENGTH + b"\r\n" + CHUNKS, 400),
    (POST.replace(b"1.1", b"1.0") + CHUNKED + b"\r\n" + CHUNKS, 501),
    # Compressed bodies, of which the first would be read as broken JSON.
    (POST + b"Content-Encoding: gzip\r\n" + LENGTH + b"\r\n" + UPDATE, 415),
    (PUT + b"Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}", 415),
    (POST + b"Content-Encoding: br, s3cr3t\r\n" + LENGTH + b"\r\n" + UPDATE, 415),
    # Invalid types.
    (POST + b"Content-Type: application/json; charset=utf-16\r\n" + LENGTH + b"\r\n" + UPDATE, 415),
    (POST + b"Content-Type: " + SECRET * 5_000 + b"\r\n" + LENGTH + b"\r\n" + UPDATE, 415),
    (get(b"Accept: " + SECRET, path=b"/v1/streams/trades/snapshot"), 406),
    (get(b"Accept: " + b"s3cr3t/x," * 5_000, path=b"/v1/streams/trades/snapshot"), 406),
    (get(b"Accept: application/json;q=s3cr3t", path=b"/v1/streams/trades/snapshot"), 406),
    # More than can be meant.
    (get(b"X: " + b"s3cr3t" * 100_000), 431),
    (get(*(b"x-%d: s3cr3t" % number for number in range(100_000))), 431),
    (get(path=b"/livez?" + b"s3cr3t" * 100_000), 431),
    (POST + CHUNKED + b"\r\n1;" + b"s3cr3t" * 100_000, 431),
    (POST + CHUNKED + b"\r\n0\r\nX: " + b"s3cr3t" * 100_000, 431),
    (
        POST.replace(b"updates ", b"updates?" + b"s3cr3t&" * 101 + b" ")
        + LENGTH
        + b"\r\n"
        + UPDATE,
        422,
    ),
    (get(path=b"/v1/streams/trades/keys/" + b"s3cr3t" * 5_000), 422),
    (POST + b"Idempotency-Key: " + b"s3cr3t" * 50 + b"\r\n" + LENGTH + b"\r\n" + UPDATE, 400),
    (POST + b"Idempotency-Key: \xff\r\n" + LENGTH + b"\r\n" + UPDATE, 400),
    # No HTTP, or not this one.
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20, 400),
    (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    (b"GET /livez HTTP/9.9\r\nHost: x\r\n\r\n", 400),
    (b"CONNECT s3cr3t:80 HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    (b"s3cr3t /livez HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    (get(path=b"s3cr3t"), 400),
    (get(path=b"http://s3cr3t"), 400),
    (get(path=b"/li\0vez"), 400),
    (get(path=b"/v1/streams/trades/keys/\xff"), 400),
    (get(b"X: a\x01s3cr3t"), 400),
    (get(b"X: a\r\n s3cr3t"), 400),
    (get(b"X : s3cr3t"), 400),
    (b"GET /livez HTTP/1.1\nHost: x\n\n", 400),
    # Websockets that do not begin as they should.
    (get(b"Content-Length: 5", b"Upgrade: websocket").replace(b"close", b"upgrade"), 400),
]


@pytest.mark.parametrize(("request_", "status"), REFUSED)
def test_a_bad_request_is_refused_with_a_problem(
    server: RunningServer, client: RawClient, request_: bytes, status: int
) -> None:
    answer = exchange(server.port, request_)
    assert answer.status == status, answer
    assert answer.content_type == PROBLEM
    assert strict_json(answer.body)["status"] == status
    assert SECRET not in answer.body
    assert SECRET not in repr(answer.headers).encode()
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"


def test_a_body_in_parts_and_a_body_that_is_announced_are_taken(
    server: RunningServer, client: RawClient
) -> None:
    assert exchange(server.port, POST + CHUNKED + b"\r\n" + CHUNKS).status == 202
    expects = POST + b"Expect: 100-continue\r\n" + LENGTH + b"\r\n"
    assert exchange(server.port, expects + UPDATE).status == 100
    plain = POST + b"Content-Encoding: identity\r\n" + LENGTH + b"\r\n"
    assert exchange(server.port, plain + UPDATE).status == 202
    packed = gzip.compress(UPDATE)
    length = b"Content-Length: %d\r\n\r\n" % len(packed)
    assert exchange(server.port, POST + length + packed).status == 400


BODY = 40 << 20
"""More than the service takes, and than fits into the buffers on the way."""


@pytest.mark.parametrize("path", ["/v1/streams/trades/updates", "/v1/queues/other"])
@pytest.mark.parametrize("length", ["announced", "chunked"])
def test_a_client_that_sends_too_much_before_it_reads_gets_a_413(
    server: RunningServer, client: RawClient, path: str, length: str
) -> None:
    body = b"x" * BODY
    method = "POST" if path.endswith("updates") else "PUT"
    parts = body if length == "announced" else iter([body[: BODY // 2], body[BODY // 2 :]])
    with closing(HTTPConnection("127.0.0.1", server.port, timeout=30)) as sender:
        for _ in range(2):  # the connection can be used again
            sender.request(method, path, parts)
            answer = sender.getresponse()
            assert answer.status == 413
            assert strict_json(answer.read())["title"] == "Body too large"
            parts = body


def test_a_client_that_expects_100_gets_a_413_before_it_sends(
    server: RunningServer, client: RawClient
) -> None:
    asks = POST.replace(b"close", b"keep-alive") + b"Expect: 100-continue\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as sender:
        sender.sendall(asks + b"Content-Length: %d\r\n\r\n" % BODY)
        assert sender.recv(1 << 16).startswith(b"HTTP/1.1 413")


def test_requests_that_come_at_once_are_answered_in_their_order(
    server: RunningServer, client: RawClient
) -> None:
    first = b"GET /v1/streams/trades HTTP/1.1\r\nHost: x\r\n\r\n"
    other = b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n"
    answers = exchange(server.port, (first + other) * 200 + get()).everything
    assert answers.count(b"HTTP/1.1 200 OK") == 201
    assert answers.count(b"HTTP/1.1 404 Not Found") == 200
    assert answers.index(b"HTTP/1.1 200") < answers.index(b"HTTP/1.1 404")


@pytest.mark.parametrize(
    "path",
    [
        *("POST /v1/queues/trades%2fdequeue", "POST /v1/queues/trades%2Fdequeue"),
        *("POST /v1/streams/trades%2Fupdates", "POST /v1/queues/trades%2Fdelivered"),
        *("POST /v1/queues%2Ftrades/dequeue", "POST /v1%2fqueues/trades/dequeue"),
        *("GET /v1/queues/trades%2Fevents", "GET /v1/queues/trades%2Fstatistics"),
        *("GET /v1/queues/trades%2Fsocket", "GET /v1/streams/trades%2Fsnapshot"),
        *("GET /v1/streams/trades%2Fkeys/a", "GET /v1/streams/trades/keys%2Fa"),
        *("DELETE /v1/streams/trades%2Fkeys%2Fa", "GET /v1%2Fqueues", "GET /page%2Fpage.js"),
        *("GET /v1/queues/trades%252Fstatistics", "GET /v1/queues/x/..%2Ftrades"),
        *("GET /v1/queues/trades%00", "GET /v1/queues/%2e%2e/queues/trades"),
    ],
)
def test_an_encoded_slash_does_not_separate_parts_of_a_path(
    server: RunningServer, client: RawClient, path: str
) -> None:
    method, target = path.split()
    before = client.get("/v1/queues/trades/statistics").body
    assert client.ask(method, target, b"").status in (404, 405, 422)
    assert client.get("/v1/queues/trades/statistics").body == before


def test_a_name_may_be_percent_encoded(server: RunningServer, client: RawClient) -> None:
    for name in ("trades", "%74rades", "%74%72%61%64%65%73"):
        assert client.get(f"/v1/queues/{name}").status == 200
        assert client.post(f"/v1/queues/{name}/deque%75e").status == 200
        assert client.get(f"/v1/stream%73/{name}/%6Beys/none").status == 404


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("a%2Fb", "a/b"),
        ("a%2fb", "a/b"),
        ("a/b", "a/b"),
        ("a%252Fb", "a%2Fb"),
        ("%2F", "/"),
        ("/", "/"),
        ("a%2Freset", "a/reset"),
        ("%2e%2e", ".."),
        ("..", ".."),
        ("%25", "%"),
        ("a+b%20c", "a+b c"),
        ("%F0%9F%90%9F%E2%80%A8", "\N{FISH}\u2028"),
        ("a%3Fb", "a?b"),
    ],
)
def test_a_key_in_a_path_is_the_text_that_was_encoded(
    server: RunningServer, client: RawClient, path: str, key: str
) -> None:
    sent = msgspec.json.encode({"key": key, "value": key})
    assert client.post("/v1/streams/trades/updates", sent).status == 202
    for folder in ("streams", "queues"):
        answer = client.get(f"/v1/{folder}/trades/keys/{path}")
        assert strict_json(answer.body)["key"] == key


def test_an_encoded_slash_in_a_key_is_not_that_before_reset(
    server: RunningServer, client: RawClient
) -> None:
    path = "/v1/streams/trades/keys"
    for key in ("a", "a/reset", "a/b"):
        sent = msgspec.json.encode({"key": key, "value": 1})
        assert client.post("/v1/streams/trades/updates", sent).status == 202
    assert client.post(f"{path}/a%2Freset").status == 405
    assert client.get(f"{path}/a%2Freset").status == 200
    assert client.get(f"{path}/a").status == 200
    assert client.post(f"{path}/a%2Fb/reset").status < 300
    assert client.post(f"{path}/a%2Freset/reset").status < 300


NAMES = [
    *(
        "trades",
        "",
        ".",
        "..",
        "../..",
        "%2e%2e",
        "..%2f..",
        "%2F",
        "%5c..%5c",
        "%252F",
        "%",
        "%zz",
    ),
    *(
        "%00",
        "trades%00",
        "%FF",
        "%ff%fe",
        "%C0%AF",
        "%ED%A0%80",
        "%E2%80%A8",
        "%u0041",
        "a%0d%0ab",
    ),
    *(
        "%0d%0aSet-Cookie:x",
        "+",
        "%2B",
        ";x",
        "a;b",
        "~",
        "'",
        '"',
        "<script>",
        "{key}",
        "_service",
    ),
    *(
        "%5Fservice",
        "%74rades",
        "x" * 128,
        "x" * 129,
        "%20trades",
        "trades/",
        "/trades",
        "*" * 1_000,
    ),
]
PATHS = [
    *("/v1/streams/N", "/v1/streams/N/updates", "/v1/streams/N/snapshot", "/v1/streams/N/keys/a"),
    *("/v1/streams/trades/keys/N", "/v1/streams/trades/keys/N?json=1", "/v1/streams/trades/N"),
    *("/v1/queues/N", "/v1/queues/N/dequeue", "/v1/queues/N/delivered", "/v1/queues/N/keys/a"),
    *("/v1/queues/trades/keys/N", "/v1/queues/N/statistics", "/v1/queues/N/staleness"),
    *("/v1/queues/N/socket", "/v1/queues/trades/dequeue?limit=N", "/v1/queues/trades/dequeue?N=N"),
    *("/v1/queues/trades/staleness?stalest=N", "/v1/streams/trades/updates?atomic=N"),
    *("/page/N", "/docs/N", "/N", "/v1/N", "/metrics/N", "/openapi.json/N", "/livez?N"),
]
METHODS = ["GET", "HEAD", "OPTIONS", "TRACE", "POST", "PUT", "DELETE", "PATCH"]


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_no_path_and_no_method_causes_a_failure(
    server: RunningServer, client: RawClient, method: str
) -> None:
    body = UPDATE if method in ("POST", "PUT", "PATCH") else b""
    for path, name in product(PATHS, NAMES):
        # The client checks that it is no failure, and a problem if it is refused.
        answer = client.ask(method, path.replace("N", name), body, content_type="application/json")
        assert answer.status in (200, 201, 202, 400, 404, 405, 409, 422, 426), (path, name)
        assert "set-cookie" not in answer.headers
        if answer.status == 405:
            assert answer.headers["allow"]
        is_told = "N=" in path  # a name of a parameter, if it looks like one
        if answer.status >= 400 and len(name) > 4 and not is_told:
            assert name.encode() not in answer.body, path


@pytest.mark.parametrize("path", ["/page/", "/docs/"])
def test_no_file_outside_of_the_page_is_served(
    server: RunningServer, client: RawClient, path: str
) -> None:
    for name in ("..%2f__init__.py", "../__init__.py", "%2e%2e/settings.py", "%2fetc%2fpasswd"):
        assert client.get(path + name).status == 404


def test_many_silent_clients_do_not_keep_others_from_being_served(
    server: RunningServer, client: RawClient
) -> None:
    beginnings = (b"", b"GET", POST, POST + b"Content-Length: 9\r\n\r\n", PUT + CHUNKED + b"\r\n1")
    with ExitStack() as stack:
        for number in range(400):
            silent = socket.create_connection(("127.0.0.1", server.port), timeout=30)
            stack.enter_context(closing(silent))
            silent.sendall(beginnings[number % len(beginnings)])
        assert client.get("/livez").status == 200
        with connected(server.port) as another:
            assert another.get("/readyz").status == 200
