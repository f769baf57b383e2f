"""The service's rows of the budget table: updates per second against bare Starlette and Redis.

Each server has a process and thus a core of its own; wrk has the other. Servers take turns, so that
all see the same machine. What is compared is what a server takes while its core is busy.
"""

from __future__ import annotations

import http.client
import json
import re
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import pyarrow as pa
import pytest
import redis

from tests.benchmarks.measure import Table, zipf_keys
from tests.benchmarks.paced_posts import load
from tests.server_process import SERVICE, RunningServer, running

pytestmark = [
    pytest.mark.benchmark,
    pytest.mark.skipif(shutil.which("wrk") is None, reason="needs wrk, Debian's package wrk"),
]

BARE = ("-m", "tests.benchmarks.bare_service")
ROUNDS = 9
SECONDS = 2
BATCH = 1_000
COLUMN = 100_000
CONNECTIONS = 16
UPDATES_PATH = "/v1/streams/bench/updates"
JSON = "application/json"
ARROW = "application/vnd.apache.arrow.stream"
REQUESTS = re.compile(r"Requests/sec:\s*([\d.]+)")
FAILURES = re.compile(r"Non-2xx or 3xx responses|Socket errors")
MOST_MILLISECONDS = 5.0
PROBES = 2_000


def send(
    server: RunningServer, method: str, path: str, body: bytes | None = None
) -> dict[str, object]:
    request = urllib.request.Request(  # noqa: S310  # our own server
        server.url + path, body, {"content-type": JSON}, method=method
    )
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
        parsed: dict[str, object] = json.load(answer)
        return parsed


def requests_per_second(
    server: RunningServer, body: bytes, folder: Path, content_type: str = JSON
) -> float:
    """Return how many posts of `body` a second the server takes from wrk."""
    content = folder / "body"
    content.write_bytes(body)
    script = folder / "post.lua"
    script.write_text(
        f'wrk.method = "POST"\nwrk.body = io.open("{content}", "rb"):read("*a")\n'
        f'wrk.headers["Content-Type"] = "{content_type}"\n'
    )
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "-s", str(script)]
    run = subprocess.run(
        [*command, server.url + UPDATES_PATH], check=True, capture_output=True, text=True
    )
    assert not FAILURES.search(run.stdout), run.stdout
    found = REQUESTS.search(run.stdout)
    assert found is not None, run.stdout
    return float(found[1])


def columns(rows: int) -> tuple[list[str], list[float]]:
    return zipf_keys(updates=rows), [round(0.01 * row, 2) for row in range(rows)]


def objects(rows: int) -> bytes:
    """Return a batch, all of one time, so that no row is late when it is sent again."""
    updates = [
        {"key": key, "value": value, "time": 1.7e9}
        for key, value in zip(*columns(rows), strict=True)
    ]
    return json.dumps(updates, separators=(",", ":")).encode()


def arrow(rows: int) -> bytes:
    """Return the same as an Arrow stream whose keys are dictionary-encoded."""
    keys, values = columns(rows)
    table = pa.table(
        {
            "key": pa.array(keys).dictionary_encode(),
            "time": pa.array([1.7e9] * rows),
            "value": pa.array(values),
        }
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    stream: bytes = sink.getvalue().to_pybytes()
    return stream


def assert_taken(server: RunningServer, least: float) -> None:
    """Assert that the server took what was sent, and that nothing of it was late or refused."""
    counters = send(server, "GET", "/v1/queues/bench/statistics")
    assert counters["late"] == counters["rejected"] == 0
    assert int(str(counters["arrived"])) > least


def test_ingest_beside_bare_starlette(tmp_path: Path) -> None:
    table = Table("The service against a bare Starlette route, updates per second")
    bodies = {
        "single updates": (b'{"key":"IBM","value":24.5,"time":1700000000.0}', 1, 1 / 0.60),
        f"JSON batches of {BATCH:,}": (objects(BATCH), BATCH, 1 / 0.75),
    }
    with running(SERVICE) as service, running(BARE) as bare:
        send(service, "PUT", "/v1/queues/bench", b"{}")
        for what, (body, updates, budget) in bodies.items():
            ratios, speeds = [], []
            for round_number in range(ROUNDS + 1):
                ours = requests_per_second(service, body, tmp_path)
                theirs = requests_per_second(bare, body, tmp_path)
                if round_number:
                    ratios.append(theirs / ours)
                    speeds.append(ours * updates)
            table.row(f"bare / service, {what}", median(ratios), budget)
            table.row("  the service, thousand updates/s", median(speeds) / 1e3, None, "k/s")
        assert_taken(service, SECONDS * ROUNDS * BATCH)
    table.assert_met()


def test_arrow_bodies(tmp_path: Path) -> None:
    table = Table(f"Arrow bodies of {COLUMN:,} rows with dictionary-encoded keys")
    body = arrow(COLUMN)
    with running(SERVICE) as service:
        send(service, "PUT", "/v1/queues/bench", b"{}")
        speeds = [
            COLUMN * requests_per_second(service, body, tmp_path, ARROW) for _ in range(ROUNDS)
        ]
        assert_taken(service, SECONDS * ROUNDS * COLUMN)
    table.row("20 million updates/s / the service", 20e6 / median(speeds), 1.0)
    table.row("  the service, million updates/s", median(speeds) / 1e6, None, "M/s")
    table.assert_met()


# Redis: the newest value per key in a hash, and a list of the keys that wait, by a script.

CONFLATE = """
for row = 1, #ARGV, 2 do
    redis.call("HSET", "newest", ARGV[row], ARGV[row + 1])
    if redis.call("HSETNX", "waits", ARGV[row], 1) == 1 then
        redis.call("RPUSH", "queue", ARGV[row])
    end
end
return #ARGV
"""


@contextmanager
def redis_server(folder: Path) -> Iterator[tuple[redis.Redis, int]]:
    """Run Redis on a socket in `folder`, keeping nothing on disk; yield a client and its pid."""
    path = folder / "redis.sock"
    options = ["--port", "0", "--unixsocket", str(path), "--save", "", "--appendonly", "no"]
    program = shutil.which("redis-server")
    assert program is not None
    process = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL, cwd=folder)
    client = redis.Redis(unix_socket_path=str(path))
    try:
        while True:
            try:
                client.ping()
                break
            except redis.ConnectionError:
                assert process.poll() is None, "Redis did not start"
        yield client, process.pid
    finally:
        client.close()
        process.terminate()
        process.wait(20)


def processor_seconds(pid: int) -> float:
    """Return the processor time that a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


@pytest.mark.skipif(shutil.which("redis-server") is None, reason="needs redis-server")
def test_ingest_beside_redis(tmp_path: Path) -> None:
    table = Table(f"The service against Redis, batches of {BATCH:,}, updates per core second")
    keys, values = columns(BATCH)
    arguments = [part for row in zip(keys, values, strict=True) for part in row]
    with running(SERVICE) as service, redis_server(tmp_path) as (client, redis_pid):
        send(service, "PUT", "/v1/queues/bench", b"{}")
        conflate = client.register_script(CONFLATE)
        conflate(args=arguments)
        theirs = []
        for _ in range(ROUNDS):
            started = processor_seconds(redis_pid)
            for _ in range(20):
                pipeline = client.pipeline(transaction=False)
                for _ in range(10):
                    conflate(args=arguments, client=pipeline)
                assert pipeline.execute() == [2 * BATCH] * 10
            theirs.append(200 * BATCH / (processor_seconds(redis_pid) - started))
        assert client.llen("queue") == len(set(keys))
        table.row("  Redis, thousand updates per core second", median(theirs) / 1e3, None, "k/s")
        for what, body, content_type, budget in (
            ("Arrow", arrow(BATCH), ARROW, 1 / 5),
            ("JSON", objects(BATCH), JSON, None),
        ):
            ours = []
            for _ in range(ROUNDS):
                started = processor_seconds(service.pid)
                requests = requests_per_second(service, body, tmp_path, content_type) * SECONDS
                ours.append(requests * BATCH / (processor_seconds(service.pid) - started))
            table.row(f"Redis / service, {what}", median(theirs) / median(ours), budget)
            table.row(f"  the service, {what}, thousand/s", median(ours) / 1e3, None, "k/s")
        assert_taken(service, SECONDS * ROUNDS * BATCH)
    table.assert_met()


# A single update among batches that load the server at half its limit.


def test_a_single_update_among_batches(tmp_path: Path) -> None:
    table = Table("A single update while batches load the server at half its limit")
    body = objects(BATCH)
    single = b'{"key":"IBM","value":24.5,"time":1700000000.0}'
    batch = tmp_path / "batch"
    batch.write_bytes(body)
    with running(SERVICE) as service:
        send(service, "PUT", "/v1/queues/bench", b"{}")
        limit = requests_per_second(service, body, tmp_path)
        with load(service.port, UPDATES_PATH, batch, rate=limit / 2) as batches:
            began = time.perf_counter()
            latencies = sorted(probe(service, single))
            lasted = time.perf_counter() - began
    table.row("p50, milliseconds", latencies[PROBES // 2], None, "ms")
    table.row("p99, milliseconds", latencies[PROBES * 99 // 100], MOST_MILLISECONDS, "ms")
    share = batches.posted / lasted / limit
    table.row("  load, as a share of the limit", share, None)
    assert share > 0.45, "the load was not half of the limit"
    table.assert_met()


def probe(server: RunningServer, body: bytes) -> Iterator[float]:
    """Post `body` some thousand times, with pauses, and yield how many milliseconds each took."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    for _ in range(PROBES):
        started = time.perf_counter()
        connection.request("POST", UPDATES_PATH, body, {"content-type": JSON})
        connection.getresponse().read()
        yield 1e3 * (time.perf_counter() - started)
        time.sleep(0.002)
    connection.close()
