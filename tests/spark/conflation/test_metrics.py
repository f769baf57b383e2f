"""Counters as a query's progress has them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from types import SimpleNamespace

from upstream.spark import ConflationMetrics

COUNTED = ConflationMetrics(
    arrived=10,
    dequeued=3,
    superseded=2,
    late=1,
    rejected=0,
    waiting=4,
    keys=5,
    forgotten=0,
    staleness_key_seconds=8.0,
    staleness_integral=30.0,
    lifetimes_seconds=60.0,
    buckets=2,
)


@dataclass
class Progress:
    observedMetrics: dict[str, object] = field(default_factory=dict)  # noqa: N815 - as Spark's


def test_metrics_are_read_by_the_name_that_conflate_was_given() -> None:
    progress = Progress({"prices": SimpleNamespace(**asdict(COUNTED))})
    assert ConflationMetrics.of(progress, "prices") == COUNTED
    assert ConflationMetrics.of(progress) is None


def test_there_are_no_metrics_before_the_first_rows() -> None:
    nothing = SimpleNamespace(**dict.fromkeys(asdict(COUNTED)))
    assert ConflationMetrics.of(Progress({"upstream": nothing})) is None


def test_metrics_are_balanced_if_every_update_is_accounted_for() -> None:
    assert COUNTED.is_balanced
    assert not replace(COUNTED, superseded=3).is_balanced


def test_staleness_is_averaged_over_keys_and_time() -> None:
    assert COUNTED.staleness_seconds_mean == 0.5
    assert COUNTED.staleness_seconds_now == 1.6
    assert replace(COUNTED, lifetimes_seconds=0.0, keys=0).staleness_seconds_mean == 0.0


def test_numbers_come_in_the_order_of_their_names() -> None:
    assert dict(zip(COUNTED.names(), COUNTED.numbers(), strict=True)) == asdict(COUNTED)
