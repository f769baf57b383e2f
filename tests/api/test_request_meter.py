"""Requests are counted exactly, at little cost."""

from __future__ import annotations

import math
import time

import pytest

from api.request_meter import BOUNDS_SECONDS, Durations, RequestMeter


def bucket_of(durations: Durations) -> float:
    """Return the bound of the one bucket that has a request."""
    (index,) = [index for index, count in enumerate(durations.buckets) if count]
    return (*BOUNDS_SECONDS, math.inf)[index]


def test_requests_are_counted_by_route_method_and_status() -> None:
    meter = RequestMeter()
    for status in (202, 202, 404):
        meter.observe("/a", "POST", status, 0.001)
    meter.observe("/b", "GET", 200, 0.001)
    assert meter.requests == {("/a", "POST", 202): 2, ("/a", "POST", 404): 1, ("/b", "GET", 200): 1}


def test_durations_are_of_the_route_whatever_its_status() -> None:
    meter = RequestMeter()
    meter.observe("/a", "POST", 202, 0.25)
    meter.observe("/a", "GET", 404, 0.5)
    assert meter.durations["/a"].seconds == 0.75
    assert sum(meter.durations["/a"].buckets) == 2


@pytest.mark.parametrize(
    ("seconds", "bound"),
    [
        (0.0, 0.0001),
        (0.0001, 0.0001),  # a bound is part of its bucket
        (0.00011, 0.00025),
        (0.004, 0.005),
        (10.0, 10.0),
        (10.1, math.inf),
        (3_600.0, math.inf),
    ],
)
def test_a_duration_falls_into_the_first_bucket_that_holds_it(seconds: float, bound: float) -> None:
    meter = RequestMeter()
    meter.observe("/a", "GET", 200, seconds)
    assert bucket_of(meter.durations["/a"]) == bound


def test_bounds_rise() -> None:
    assert list(BOUNDS_SECONDS) == sorted(set(BOUNDS_SECONDS))


def test_cumulative_counts_end_with_all_requests() -> None:
    meter = RequestMeter()
    for seconds in (0.00005, 0.003, 0.003, 99.0):
        meter.observe("/a", "GET", 200, seconds)
    cumulative = dict(meter.durations["/a"].cumulative())
    assert (cumulative[0.0001], cumulative[0.005], cumulative[10.0]) == (1, 3, 3)
    assert cumulative[math.inf] == 4
    assert len(cumulative) == len(BOUNDS_SECONDS) + 1


def test_methods_that_clients_invent_are_one() -> None:
    meter = RequestMeter()
    for number in range(100):
        meter.observe("/a", f"BREW{number}", 405, 0.001)
    assert meter.requests == {("/a", "other", 405): 100}
    assert sum(meter.durations["/a"].buckets) == 100


def test_a_request_without_a_duration_is_only_counted() -> None:
    meter = RequestMeter()
    meter.count("/events", "GET", 200)
    meter.observe("/events", "GET", 200, 0.001)
    meter.observe("/events", "GET", 404, 0.001)
    assert meter.requests == {("/events", "GET", 200): 2, ("/events", "GET", 404): 1}
    assert sum(meter.durations["/events"].buckets) == 2


def test_counting_a_request_costs_microseconds_at_most() -> None:
    """It takes 0.3 µs; the bound is for machines that are slow and busy."""
    meter = RequestMeter()
    observe = meter.observe
    observe("/v1/streams/{stream}/updates", "POST", 202, 0.0007)
    best = math.inf
    for _ in range(20):
        started_at = time.perf_counter()
        for _ in range(1_000):
            observe("/v1/streams/{stream}/updates", "POST", 202, 0.0007)
        best = min(best, time.perf_counter() - started_at)
    assert best / 1_000 < 3e-6
    assert meter.requests["/v1/streams/{stream}/updates", "POST", 202] == 20_001
