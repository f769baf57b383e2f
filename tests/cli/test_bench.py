"""`upstream bench`."""

from __future__ import annotations

import asyncio

import httpx2
import pytest

from upstream.cli.bench import Bench, BenchSettings, Stopwatch
from upstream.client import Client, ServiceUnreachableError

from .console import json_of, output_of

SMALL = ["--updates", "200", "--batch", "50", "--keys", "20"]


def test_a_row_is_printed_for_each_direction(service_url: str) -> None:
    lines = output_of("bench", *SMALL, "--connections", "2", url=service_url).splitlines()
    assert lines[0] == "20 keys, batches of 50, 2 connections"
    assert lines[3].split()[:2] == ["put", "200"]
    assert lines[4].split()[0] == "dequeue"


def test_the_result_may_be_json(service_url: str) -> None:
    result = json_of("bench", *SMALL, "--json", url=service_url)
    assert isinstance(result, dict)
    assert result["settings"] == {
        "updates": 200,
        "batch": 50,
        "keys": 20,
        "connections": 1,
        "seed": 1,
    }
    assert result["put"]["updates"] == 200
    assert result["put"]["updates_per_second"] > 0
    assert result["dequeue"]["updates"] >= 50


def ignore(updates: int) -> None:
    assert updates > 0


def test_all_updates_are_put_and_a_quarter_is_dequeued(service_url: str, client: Client) -> None:
    before = {each.name for each in client.streams()}
    settings = BenchSettings(updates=1_050, batch=100, keys=50, connections=3)
    progress: dict[str, list[int]] = {"put": [], "dequeue": []}
    bench = Bench(service_url, settings)
    result = asyncio.run(bench.run(progress["put"].append, progress["dequeue"].append))
    assert result.put.updates == sum(progress["put"]) == 1_050
    assert len(progress["put"]) == 11
    assert result.dequeue.updates == sum(progress["dequeue"])
    assert 1_050 / 4 <= result.dequeue.updates < 1_050
    for measured in (result.put, result.dequeue):
        assert measured.updates_per_second == pytest.approx(measured.updates / measured.seconds)
        assert 0 < measured.latency_p50 <= measured.latency_p99 <= measured.seconds
    assert {each.name for each in client.streams()} == before


def test_a_stopwatch_measures_steps_that_handle_updates() -> None:
    stopwatch = Stopwatch()
    steps = iter([3, 2, 0, 0])

    async def step() -> int:
        return next(steps)

    advanced: list[int] = []
    asyncio.run(stopwatch.time(step, 2, advanced.append))
    assert stopwatch.measured().updates == sum(advanced) == 5


def test_an_error_in_a_task_is_raised_unchanged() -> None:
    async def step() -> int:
        raise ServiceUnreachableError("http://a", "refused", 1)

    with pytest.raises(ServiceUnreachableError):
        asyncio.run(Stopwatch().time(step, 3, ignore))


def test_the_stream_is_removed_even_if_the_measurement_fails(
    service_url: str, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {each.name for each in client.streams()}

    async def fail(self: Stopwatch, *_: object) -> None:
        raise httpx2.ReadError("reset")

    monkeypatch.setattr(Stopwatch, "time", fail)
    bench = Bench(service_url, BenchSettings(10, 1, 1, 1))
    with pytest.raises(httpx2.ReadError):
        asyncio.run(bench.run(ignore, ignore))
    assert {each.name for each in client.streams()} == before
