"""When a request is retried, and when it fails."""

from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream import ParameterError
from upstream.client import RetryPolicy
from upstream.client.retries import retry_after_seconds


@given(st.integers(1, 10_000), st.randoms(use_true_random=False))
def test_delays_double_with_jitter_up_to_the_longest(retry: int, random: Random) -> None:
    policy = RetryPolicy(first_delay=0.1, longest_delay=10.0)
    most = min(0.1 * 2.0 ** min(retry - 1, 60), 10.0)
    assert 0.5 * most <= policy.delay(retry, random) <= most


def test_delays_differ() -> None:
    random = Random(1)
    assert len({RetryPolicy().delay(1, random) for _ in range(10)}) == 10


def test_a_delay_is_at_least_the_one_asked_for() -> None:
    policy, random = RetryPolicy(first_delay=1.0, longest_wait=60.0), Random(1)
    assert policy.delay_asked_for(30.0, 1, random) == 30.0
    assert policy.delay_asked_for(60.0, 1, random) == 60.0
    assert 0.5 <= (policy.delay_asked_for(0.0, 1, random) or 0.0) <= 1.0
    assert 0.5 <= (policy.delay_asked_for(None, 1, random) or 0.0) <= 1.0


@pytest.mark.parametrize("seconds", [60.1, math.inf])
def test_a_delay_that_is_too_long_is_refused(seconds: float) -> None:
    assert RetryPolicy(longest_wait=60.0).delay_asked_for(seconds, 1, Random(1)) is None


def test_retries_are_limited_in_number_and_time() -> None:
    policy = RetryPolicy(2, longest_total=10.0)
    assert policy.is_worth_it(2, 9.9)
    assert not policy.is_worth_it(3, 0.0)
    assert not policy.is_worth_it(1, 10.0)


def test_retries_end_before_the_service_forgets_idempotency_keys() -> None:
    forgets_after = 600.0  # the service's default
    policy = RetryPolicy()
    assert policy.longest_total + policy.longest_wait < forgets_after


@pytest.mark.parametrize(
    "bad",
    [
        {"retries": -1},
        {"retries": 1.5},
        {"retries": True},
        {"first_delay": -0.1},
        {"longest_delay": math.inf},
        {"longest_wait": math.nan},
        {"longest_total": -1.0},
    ],
)
def test_an_invalid_policy_is_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ParameterError, match=next(iter(bad))):
        RetryPolicy(**bad)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("", None),
        ("soon", None),
        ("-3", None),
        ("1.5", None),
        ("0", 0.0),
        (" 120 ", 120.0),
        ("9" * 400, math.inf),
        ("Fri, 31 Dec 1999 23:59:59 GMT", 9.0),
        ("Fri, 31 Dec 1999 23:59:49 GMT", 0.0),
        ("Fri, 99 Dec 1999 23:59:49 GMT", None),
    ],
)
def test_the_header_is_seconds_or_a_date(header: str | None, seconds: float | None) -> None:
    now = 946_684_790.0  # 1999-12-31 23:59:50 UTC
    assert retry_after_seconds(header, now) == seconds
