"""No update that was taken in makes a later answer fail, in any content type.

Many odd bodies are sent, with good updates among them, to streams with queues of every kind. Then
everything is read, and every answer must match its content type.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from itertools import count, cycle
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from websockets.sync.client import connect

from tests.api.bodies.examples import CONTENT_TYPES, JSON
from tests.api.body_strategies import BODIES, damaged
from tests.api.poison import SECRET, Poison, all_poisons, short_poisons
from tests.api.raw_client import RawClient, connected, key_path, strict_json, updates_in
from tests.server_process import RunningServer, running

STREAMS: dict[str, dict[str, object]] = {
    "kept": {},
    "pooled": {"pool_bytes": 1 << 22},
    "passing": {"retain": False},
}
WINDOW = {"size": 2, "slide": 1}
KINDS: dict[str, dict[str, object]] = {
    "index": {},
    "weighted": {"weights": {"*": 2, "odd*": 0, "": 1}, "longest_wait": 0.001},
    "in-place": {"scheduler": "in-place", "time_to_live": 3_600},
    "fifo": {"scheduler": "fifo", "capacity": 50},
    "linecutting": {"scheduler": "linecutting"},
    "append": {"kind": "append"},
    "shedding": {"kind": "append", "capacity": 50, "shedding": True},
    "adaptive": {"kind": "adaptive", "capacity": 20},
    "leased": {"lease_seconds": 3_600},
    "sums": {"kind": "window", "window": {**WINDOW, "aggregate": "sum"}},
    "spread": {"kind": "window", "window": {**WINDOW, "aggregate": "variance", "buffer": "eager"}},
    "counts": {"kind": "window", "window": {"size": 1e-3, "aggregate": "count", "tick": 1e-3}},
    "parts": {"kind": "window", "window": {"size": 2, "aggregate": "max", "of": "of"}},
}
LOSSLESS = ("index", "weighted", "linecutting", "append", "leased")
"""Queues of which a push connection gets every key."""
GOOD: list[tuple[object, object]] = [
    ("good", 24.5),
    ("", {"": [], "a\nb": None, "__proto__": {"x": [1]}}),
    ("../..", "\u2028\ufeff\u202e👩\u200d👧e\u0301"),
    ("a/b?c#d%2F%00", 2**64 - 1),
    ("\r\n\r\n", -(2**63)),
    ("__proto__", [0.1, -0.0, 5e-324, 1.7e308]),
    ("x" * 1_024, "x" * 100_000),
    (2**63 - 1, True),
    (-(2**63), False),
    (["NYSE", 1, "é/\n"], None),
    (["1"], {"of": 2**63}),
    ([1], {"of": [[[{}]]]}),
]
"""What has to come out as it went in."""
NUMBERS = count()


def name_of(stream: str, kind: str) -> str:
    return f"{stream}-{kind}"


def define(client: RawClient, stream: str, definition: dict[str, object]) -> None:
    assert client.put(f"/v1/streams/{stream}", definition).status == 201
    for kind, queue in KINDS.items():
        made = client.put(f"/v1/queues/{name_of(stream, kind)}", {**queue, "stream": stream})
        assert made.status == 201, made


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running() as server:
        yield server
    bad = [line for line in server.log if "Traceback" in line]
    assert not bad, "\n".join(line.replace("\\n", "\n")[-3000:] for line in bad[:2])


@pytest.fixture(scope="module")
def client(server: RunningServer) -> Iterator[RawClient]:
    with connected(server.port) as client:
        yield client


def send(client: RawClient, stream: str, poison: Poison) -> bool:
    """Send a poison, and return whether something of it was taken in."""
    path = f"/v1/streams/{stream}/updates"
    answer = client.post(path, poison.body, poison.content_type)
    assert answer.status in (202, 400, 413, 415, 422), poison.name
    assert SECRET not in answer.body, poison.name
    return answer.status == 202


def as_json(value: object) -> Any:
    return strict_json(msgspec.json.encode(value))


def read_all_queues(client: RawClient, stream: str) -> None:
    """Dequeue all that waits, a few updates in each type in turn, until nothing does."""
    accepts = cycle(CONTENT_TYPES)
    for kind in KINDS:
        queue = f"/v1/queues/{name_of(stream, kind)}"
        strict_json(client.get(f"{queue}/staleness?stalest=1000").body)
        held: list[str] = []
        quiet = 0
        while quiet < len(CONTENT_TYPES):
            answer = client.post(f"{queue}/dequeue?limit=9", accept=next(accepts))
            updates = updates_in(answer)
            quiet = 0 if updates else quiet + 1
            held += [update["lease"] for update in updates if "lease" in update]
        if held:
            body = msgspec.json.encode({"leases": held})
            assert strict_json(client.post(f"{queue}/delivered", body).body)["unknown"] == 0
        strict_json(client.get(f"{queue}/statistics").body)
        assert strict_json(client.get(queue).body)["in_process"] == 0


def read_all_keys(client: RawClient, stream: str) -> list[object]:
    """Read the snapshot in all types, and each of its keys, which are returned."""
    snapshots = [
        updates_in(client.get(f"/v1/streams/{stream}/snapshot", accept)) for accept in CONTENT_TYPES
    ]
    keys = [as_json(update["key"]) for update in snapshots[0]]
    for snapshot in snapshots:
        assert [as_json(update["key"]) for update in snapshot] == keys
    for place, update in enumerate(snapshots[0]):
        path = key_path(update["key"])
        assert strict_json(client.get(f"/v1/streams/{stream}/keys/{path}").body) == update
        queue = name_of(stream, list(KINDS)[place % len(KINDS)])
        waiting = client.get(f"/v1/queues/{queue}/keys/{path}")
        assert waiting.status in (200, 404)
        strict_json(waiting.body)
    return keys


def read_everything(client: RawClient, stream: str) -> None:
    for path in ("/v1/streams", "/v1/queues", f"/v1/streams/{stream}", "/readyz"):
        strict_json(client.get(path).body)
    assert b"upstream_" in client.get("/metrics", "text/plain").body
    keys = read_all_keys(client, stream)
    read_all_queues(client, stream)
    assert read_all_keys(client, stream) in (keys, [])  # a stream that retains nothing is empty now


def follow(server: RunningServer, client: RawClient, stream: str) -> None:
    """Follow queues by both ways of push, from the snapshot to an update that comes last."""
    is_kept = stream != "passing"
    last = Poison("last", JSON, b'{"key": "last", "value": 1}')
    snapshot = updates_in(client.get(f"/v1/streams/{stream}/snapshot")) if is_kept else []
    expected = {repr(as_json(update["key"])) for update in snapshot} | {repr("last")}
    for kind in KINDS:
        wanted = expected if kind in LOSSLESS else set()
        path = f"/v1/queues/{name_of(stream, kind)}"
        query = "?snapshot=true" if is_kept else ""
        with connect(f"ws://127.0.0.1:{server.port}{path}/socket{query}", proxy=None) as socket:
            assert send(client, stream, last)
            missing = set(wanted)
            while missing:
                missing -= keys_of(socket.recv(timeout=30))
                socket.send('{"credit": 1}')
        with following(server.port, f"{path}/events{query}") as events:
            assert send(client, stream, last)
            missing = set(wanted)
            while missing:
                missing -= keys_of(next(events))


def keys_of(message: str | bytes) -> set[str]:
    """Return the keys in a pushed message, which has to be strict JSON in one line."""
    text = message.encode() if isinstance(message, str) else message
    assert b"\n" not in text
    assert b"\r" not in text
    return {repr(update["key"]) for update in strict_json(text)["updates"]}


@contextmanager
def following(port: int, path: str) -> Iterator[Iterator[bytes]]:
    """Give the data of an event stream's events, while the block lasts."""
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", path)
        with connection.getresponse() as answer:
            assert answer.status == 200
            yield data_of(answer)
    finally:
        connection.close()


def data_of(lines: Iterable[bytes]) -> Iterator[bytes]:
    for line in lines:
        field, _, data = line.rstrip(b"\n").partition(b": ")
        assert field in (b"", b":", b"retry", b"id", b"data"), line
        if field == b"data":
            yield data


def delete_all_keys(client: RawClient, stream: str) -> None:
    for update in updates_in(client.get(f"/v1/streams/{stream}/snapshot")):
        deleted = client.ask("DELETE", f"/v1/streams/{stream}/keys/{key_path(update['key'])}")
        assert deleted.status == 202, update["key"]


def expect_good(client: RawClient, stream: str, rng: random.Random) -> None:
    """Send a good update, and find it as it went in, waiting and dequeued."""
    key, value = rng.choice(GOOD)
    accept = rng.choice(CONTENT_TYPES)
    body = msgspec.json.encode([key, None, value])
    answer = client.post(f"/v1/streams/{stream}/updates", b"[%b]" % body)
    counts = strict_json(answer.body)
    assert counts["rejections"] == []
    if counts["late"]:
        return  # a poison had the same key, and a time that is yet to come
    queue = f"/v1/queues/{name_of(stream, 'index')}"
    for path in (f"/v1/streams/{stream}", queue):
        assert strict_json(client.get(f"{path}/keys/{key_path(key)}").body)["value"] == value
    served = updates_in(client.post(f"{queue}/dequeue?limit=1000", accept=accept))
    found = [update["value"] for update in served if as_json(update["key"]) == key]
    assert [as_json(one) for one in found] == [value]


@pytest.mark.slow
def test_everything_can_be_read_after_any_poison(server: RunningServer, client: RawClient) -> None:
    rng = random.Random(20_260)
    for stream, definition in STREAMS.items():
        define(client, stream, definition)
    for place, poison in enumerate(all_poisons()):
        if send(client, "kept", poison):
            for other in ("pooled", "passing"):
                send(client, other, poison)
        if place % 4 == 0:
            expect_good(client, rng.choice([*STREAMS]), rng)
        if place % 400 == 399:
            read_everything(client, rng.choice([*STREAMS]))
    for stream in STREAMS:
        follow(server, client, stream)
        read_everything(client, stream)
        delete_all_keys(client, stream)
        read_everything(client, stream)
        assert updates_in(client.get(f"/v1/streams/{stream}/snapshot")) == []


@pytest.mark.slow
@settings(max_examples=20)
@given(
    st.lists(
        st.one_of(
            st.deferred(lambda: st.sampled_from(short_poisons())),
            *(
                st.builds(Poison, st.just("made"), st.just(format_.value), damaged(good))
                for format_, good in BODIES.items()
            ),
        ),
        max_size=8,
    ),
    st.sampled_from([*STREAMS]),
    st.randoms(use_true_random=False),
)
def test_any_poisons_together_leave_everything_readable(
    client: RawClient, poisons: list[Poison], like: str, rng: random.Random
) -> None:
    stream = f"made-{next(NUMBERS)}"
    define(client, stream, STREAMS[like])
    for poison in poisons:
        send(client, stream, poison)
        expect_good(client, stream, rng)
    read_everything(client, stream)
    assert client.ask("DELETE", f"/v1/streams/{stream}").status == 200
