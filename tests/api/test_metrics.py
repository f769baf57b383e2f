"""Prometheus can read the exposition, which is exact and takes a bounded share of the time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, cast

import pytest
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics.parser import (
    text_string_to_metric_families as parse_openmetrics,
)
from prometheus_client.parser import text_string_to_metric_families as parse_text

from api.definitions import QueueDefinition
from api.metrics import OPENMETRICS_TYPE, TEXT_TYPE, Metrics, accepts_openmetrics
from api.queue_reports import QueueReports
from api.service import Service
from api.settings import Settings
from tests.api.watched_service import ROUTE, define_queue, make_service
from upstream import ManualClock

OPENMETRICS = "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;q=0.3,*/*;q=0.1"
PERMITTED_LABELS = {
    *("stream", "queue", "kind", "scheduler", "of", "transport", "route", "method", "status"),
    *("le", "version"),
}
OF_THE_INTERPRETER = ("process_", "python_")

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def families_of(text: bytes) -> list[Metric]:
    return list(parse_text(text.decode()))


def names_of(text: bytes, parse: Callable[[str], Iterable[Metric]]) -> set[str]:
    """Return the names of the families, without the endings that one of the formats leaves out."""
    return {
        family.name.removesuffix("_total").removesuffix("_info") for family in parse(text.decode())
    }


def scrape(service: Service) -> Samples:
    return samples_of(asyncio.run(service.metrics.exposition())[1])


def samples_of(text: bytes) -> Samples:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in families_of(text)
        for sample in family.samples
    }


def value(samples: Samples, name: str, **labels: str) -> float:
    return samples[name, frozenset(labels.items())]


# What is in it


def test_every_queue_of_every_kind_is_shown() -> None:
    found = scrape(make_service())
    for queue in ("update", "append", "adaptive"):
        assert value(found, "upstream_queue_updates_arrived_total", queue=queue) == 12
        assert value(found, "upstream_queue_updates_delivered_total", queue=queue) == 1
    assert value(found, "upstream_queue_waiting", queue="append") == 11
    assert value(found, "upstream_queue_waiting", queue="update") == 1
    assert value(found, "upstream_queue_tuples_arrived_total", queue="window") == 12
    assert value(found, "upstream_queue_windows_values_left_out_total", queue="window") == 0
    for queue, kind, scheduler in (("window", "window", "index"), ("append", "append", "")):
        labels = {"queue": queue, "stream": "trades", "kind": kind, "scheduler": scheduler}
        assert value(found, "upstream_queue_info", **labels) == 1


def test_what_is_counted_once_is_shown() -> None:
    found = scrape(make_service())
    assert value(found, "upstream_stream_updates_arrived_total", stream="trades") == 12
    assert value(found, "upstream_stream_pool_size_bytes", stream="trades") == 65_536
    assert value(found, "upstream_push_updates_sent_total") == 7
    assert value(found, "upstream_idempotent_replays_total") == 0
    assert value(found, "upstream_ready") == 1
    request = {"route": ROUTE, "method": "POST", "status": "202"}
    assert value(found, "upstream_http_requests_total", **request) == 1
    assert value(found, "process_resident_memory_bytes") > 1e6
    assert any(name == "python_info" for name, _ in found)


def test_a_service_that_stops_is_not_ready() -> None:
    service = make_service()
    service.begin_shutdown()
    assert value(scrape(service), "upstream_ready") == 0


def test_staleness_is_that_of_the_report() -> None:
    service = make_service()
    found = scrape(service)
    of_queue = {"queue": "append", "of": "queue"}
    staleness = value(found, "upstream_queue_staleness_seconds", **of_queue)
    queue = service.queue("append").queue
    assert 0 < staleness < cast(Any, queue).queue_staleness() + 60
    assert value(found, "upstream_queue_present_staleness_seconds", **of_queue) > 0
    assert value(found, "upstream_queue_processing_cost_seconds", queue="append") == 0.001
    assert value(found, "upstream_queue_staleness_lower_bound_seconds", **of_queue) >= 0


def test_the_settings_bound_how_many_streams_and_queues_are_listed() -> None:
    service = Service(Settings(demo=False, metrics_names=3))
    for number in range(5):
        define_queue(service, f"q{number}", stream=f"s{number}")
    service.define_queue("_service", QueueDefinition())
    for left_out, first in ((2, 0), (1, 1)):
        found = scrape(service)
        numbers = range(first, first + 3)
        assert shown(found, "queue") == {f"q{number}" for number in numbers}
        assert shown(found, "stream") == {f"s{number}" for number in numbers}
        assert value(found, "upstream_metrics_left_out", of="queue") == left_out
        assert value(found, "upstream_metrics_left_out", of="stream") == left_out
        service.drop_stream("s0" if first == 0 else "s1")


OF_ALL = {"queue": "info", "stream": "keys"}


def shown(samples: Samples, label: str) -> set[str]:
    return {
        dict(labels)[label]
        for name, labels in samples
        if name == f"upstream_{label}_{OF_ALL[label]}"
    }


def test_nothing_is_left_out_of_few() -> None:
    assert value(scrape(make_service()), "upstream_metrics_left_out", of="queue") == 0


def test_connections_are_counted_by_transport() -> None:
    @dataclass(frozen=True)
    class Connection:
        transport: str
        number: int

    service = make_service()
    subscribers = cast("set[object]", service.stream("trades").subscribers)
    subscribers |= {Connection("websocket", 1), Connection("websocket", 2), Connection("sse", 3)}
    found = scrape(service)
    assert value(found, "upstream_push_connections", transport="websocket") == 2
    assert value(found, "upstream_push_connections", transport="sse") == 1


def test_labels_are_few_and_none_is_a_key() -> None:
    _, text = asyncio.run(make_service().metrics.exposition())
    assert b"s3cr3t" not in text
    for family in families_of(text):
        if not family.name.startswith(OF_THE_INTERPRETER):
            for sample in family.samples:
                assert sample.labels.keys() <= PERMITTED_LABELS, sample.name


def test_the_services_own_streams_and_queues_are_not_shown() -> None:
    service = make_service()
    define_queue(service, "_service")
    _, text = asyncio.run(service.metrics.exposition())
    assert b'"_service"' not in text


# Formats


def test_prometheus_text_is_the_default() -> None:
    content_type, text = asyncio.run(make_service().metrics.exposition())
    assert content_type == TEXT_TYPE
    assert b"# EOF" not in text
    assert text.endswith(b"\n")


def test_openmetrics_is_for_clients_that_ask_and_ends_once() -> None:
    content_type, text = asyncio.run(make_service().metrics.exposition(OPENMETRICS))
    assert content_type == OPENMETRICS_TYPE
    assert text.count(b"# EOF\n") == 1
    assert text.endswith(b"# EOF\n")
    assert "upstream_queue_updates_arrived" in names_of(text, parse_openmetrics)


def test_both_formats_say_the_same() -> None:
    service = make_service()
    _, text = asyncio.run(service.metrics.exposition())
    _, openmetrics = asyncio.run(service.metrics.exposition(OPENMETRICS))
    assert names_of(text, parse_text) == names_of(openmetrics, parse_openmetrics)


@pytest.mark.parametrize(
    ("accept", "is_openmetrics"),
    [
        ("", False),
        ("*/*", False),
        ("text/html,application/xhtml+xml", False),
        ("text/plain;version=0.0.4", False),
        (OPENMETRICS, True),
        ("application/openmetrics-text", True),
        ("Application/OpenMetrics-Text ; charset=utf-8", True),
        ("text/plain, application/openmetrics-text;version=nonsense", True),
        ("application/openmetrics-text;q=0", False),
        ("application/openmetrics-text; q=0.000", False),
        ("application/openmetrics-text;q=0.001", True),
        (";;;,,=;", False),
    ],
)
def test_the_format_is_chosen_by_accept(accept: str, is_openmetrics: bool) -> None:
    assert accepts_openmetrics(accept) == is_openmetrics


# Counters


def test_no_counter_falls_while_work_goes_on() -> None:
    service = make_service()
    before = scrape(service)
    for round_ in range(5):
        service.stream("trades").take_in_one("s3cr3t-a", b"1", 10.0 + round_)
        service.stream("trades").take_in_one("s3cr3t-b", b"1", 0.0)  # late
        for name in ("update", "append", "adaptive"):
            entry = service.queue(name)
            entry.give_back(entry.take(1, 1_000))
            entry.deliver(entry.take(2, 1_000))
        service.queue("window").take(10, 1_000)
        after = scrape(service)
        fallen = [
            sample
            for sample, count in before.items()
            if sample[0].endswith(("_total", "_bucket", "_count", "_sum"))
            and after.get(sample, 0.0) < count
        ]
        assert fallen == []
        before = after


@pytest.mark.parametrize("is_scraped_between", [True, False])
def test_a_queue_that_was_created_again_begins_at_zero(is_scraped_between: bool) -> None:
    service = make_service()
    scrape(service)
    service.drop_queue("update")
    if is_scraped_between:
        gone = ("upstream_queue_waiting", frozenset({("queue", "update")}))
        assert gone not in scrape(service)
    define_queue(service, "update")
    found = scrape(service)
    assert value(found, "upstream_queue_updates_arrived_total", queue="update") == 0


# What it costs


class SlowReports:
    """Stands for a report that takes a second, by a clock of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock = ManualClock()
        self.calls = 0
        self.on_call: Callable[[], None] = lambda: None
        monkeypatch.setattr(QueueReports, "latest", lambda _: self())

    def __call__(self) -> dict[str, object]:
        self.clock.advance(1)
        self.calls += 1
        self.on_call()
        return {"queue_staleness": float(self.calls)}


async def test_reports_take_a_tenth_of_the_time_over_all_queues(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reports = SlowReports(monkeypatch)
    metrics = Metrics(make_service(), clock=reports.clock.now)

    while reports.clock.now() < 200:
        await metrics.exposition()
        reports.clock.advance(0.5)
    assert 10 <= reports.calls <= 20 + 4  # of four queues, each of which is read at once


def test_a_report_that_is_kept_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = SlowReports(monkeypatch)
    service = make_service()
    metrics = Metrics(service, clock=reports.clock.now)
    first, second = (samples_of(asyncio.run(metrics.exposition())[1]) for _ in range(2))
    name, labels = "upstream_queue_staleness_seconds", {"queue": "update", "of": "queue"}
    assert value(first, name, **labels) == value(second, name, **labels)
    assert reports.calls == 4


async def test_others_have_a_turn_between_two_queues(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = SlowReports(monkeypatch)
    metrics = Metrics(make_service(), clock=reports.clock.now)
    turns_at_reports: list[int] = []

    turns = 0
    reports.on_call = lambda: turns_at_reports.append(turns)
    task = asyncio.create_task(metrics.exposition())
    while not task.done():
        await asyncio.sleep(0)
        turns += 1
    assert len(turns_at_reports) == 4
    assert turns_at_reports == sorted(set(turns_at_reports))


async def test_a_queue_that_is_deleted_during_a_scrape_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reports = SlowReports(monkeypatch)
    service = make_service()
    metrics = Metrics(service, clock=reports.clock.now)

    task = asyncio.create_task(metrics.exposition())
    while reports.calls == 0:
        await asyncio.sleep(0)
    service.drop_queue("window")
    _, text = await task
    assert b'"window"' not in text
    assert b'queue="append"' in text
