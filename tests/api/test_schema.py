"""Schemathesis against the real server: it answers as its description says, whatever it is sent.

A few hundred requests in every run of the tests. `FUZZ_CASES=20000` makes it so many, with other
seeds by `FUZZ_SEED`, and tells on stderr how far it is (which pytest shows with `-s`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from urllib.parse import urlencode

import pytest
import requests
from hypothesis import example, given
from hypothesis import strategies as st
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from api.bodies import Format
from tests.api.schema_run import Found, run
from tests.server_process import RunningServer, running

CASES = int(os.environ.get("FUZZ_CASES", "0"))
SEED = int(os.environ.get("FUZZ_SEED", "1"))
EXAMPLES = 300 if CASES else 6
"""How many requests are made up for each operation in a round."""
FEWEST_CASES = 500
ENVIRONMENT = {"UPSTREAM_MAX_WAIT_SECONDS": "0.02", "UPSTREAM_MAX_POOL_BYTES": "64MiB"}


@pytest.mark.slow
@pytest.mark.timeout(0 if CASES else 240)
def test_the_service_answers_as_it_is_described() -> None:
    found = Found()
    rounds = 0

    def tell() -> None:
        if CASES:
            sys.stderr.write(f"\r{found.cases:,} of {CASES:,} cases, {len(found.failures)} failed ")
            sys.stderr.flush()

    while found.cases < max(CASES, FEWEST_CASES) and not found.failures:
        with running(environment=ENVIRONMENT) as server:
            run(server.url, found, examples=EXAMPLES, seed=SEED + rounds, tell=tell)
        assert "Traceback" not in "".join(server.log)
        rounds += 1
    assert not found.failures, "\n\n".join(found.failures.values())
    assert all(200 <= status < 500 for _, status in found.statuses)
    assert set(found.answers) > {known.value for known in Format}
    if CASES:
        told = found.bodies
        assert {known.value for known in Format} <= {kind for kind, status in told if status == 202}
        assert {known.value for known in Format} <= {kind for kind, status in told if status == 400}


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running(environment=ENVIRONMENT) as server:
        assert requests.put(f"{server.url}/v1/queues/trades", timeout=30).ok
        yield server


NAMES = st.sampled_from(
    ["window", "max_rate", "max_rate_per_key", "keys", "snapshot", "last_event_id", "odd", ""]
)
VALUES = st.one_of(
    st.sampled_from(["1", "8", "true", "0.5", "*:1", "GO*:1/60", "[", "nan", "-1", "1e999", "a:b"]),
    st.text(max_size=12),
)


@example([("window", "1001")])
@example([("max_rate", "1/0")])
@example([("keys", "[" * 200)])
@example([("keys", "*")] * 500)
@given(parameters=st.lists(st.tuples(NAMES, VALUES), max_size=4))
def test_push_with_any_parameters_begins_or_is_refused(
    server: RunningServer, parameters: list[tuple[str, str]]
) -> None:
    address = f"{server.url}/v1/queues/trades"
    with requests.get(f"{address}/events", parameters, stream=True, timeout=30) as answer:
        assert answer.status_code in (200, 422)
        expected = "text/event-stream" if answer.ok else "application/problem+json"
        assert answer.headers["content-type"] == expected
    socket = f"{address.replace('http', 'ws', 1)}/socket?{urlencode(parameters)}"
    outcome: AbstractContextManager[object] = (
        nullcontext() if answer.ok else pytest.raises(InvalidStatus, match="422")
    )
    with outcome, connect(socket, open_timeout=30, proxy=None):
        pass
