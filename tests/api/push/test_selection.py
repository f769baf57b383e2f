"""What connections ask for."""

from __future__ import annotations

import math
import time
from urllib.parse import urlencode

import pytest

from api.key_patterns import MOST_CHARACTERS
from api.push.selection import (
    LONGEST_PATTERN,
    MOST_PATTERNS,
    Selection,
    SelectionError,
    UnknownParameterError,
)
from upstream.push_limits import MOST_WINDOW


def parse(*pairs: tuple[str, object], window: int = 8) -> Selection:
    return Selection.parse(urlencode(pairs).encode(), window=window)


def test_without_a_query_everything_is_wanted_as_fast_as_it_comes() -> None:
    selection = Selection.parse(b"")
    assert selection == Selection()
    assert not selection.filters_keys
    assert not selection.limits_keys
    assert selection.interval_of("IBM") == 0.0


def test_the_default_window_is_the_settings() -> None:
    assert parse(window=3).window == 3
    assert parse(("window", 5), window=3).window == 5


@pytest.mark.parametrize("window", ["0", "-1", "1001", "8.5", "", "x", "٣", "9" * 30])
def test_a_window_is_a_whole_number_within_bounds(window: str) -> None:
    with pytest.raises(SelectionError) as error:
        parse(("window", window))
    assert error.value.parameter == "window"
    assert str(MOST_WINDOW) in str(error.value)


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("10", 10.0),
        ("0.5", 0.5),
        ("1/3600", 1 / 3600),
        ("1.5/2", 0.75),
        ("1e3", 1000.0),
        (repr(1 / 3600), 1 / 3600),
        (repr(1e-5), 1e-5),
    ],
)
def test_a_rate_is_a_number_or_a_fraction(text: str, rate: float) -> None:
    assert parse(("max_rate", text)).max_rate == rate


@pytest.mark.parametrize(
    "text", ["", "0", "-1", "1/0", "0/1", "1/2/3", "nan", "inf", "1e99", "1e-9", "x", "1 000", "٣"]
)
def test_an_invalid_rate_is_refused(text: str) -> None:
    for pair in (("max_rate", text), ("max_rate_per_key", text), ("max_rate_per_key", f"A:{text}")):
        with pytest.raises(SelectionError) as error:
            parse(pair)
        assert error.value.parameter == pair[0]


def test_keys_have_the_rate_of_the_first_pattern_that_fits_them_or_of_all_others() -> None:
    selection = parse(
        ("max_rate_per_key", "GOOG:1"),
        ("max_rate_per_key", "G*:1/60"),
        ("max_rate_per_key", "0.5"),
    )
    assert selection.limits_keys
    intervals = {key: selection.interval_of(key) for key in ("GOOG", "GM", "IBM")}
    assert intervals == {"GOOG": 1.0, "GM": 60.0, "IBM": 2.0}


def test_a_pattern_may_have_colons() -> None:
    selection = parse(("max_rate_per_key", "nyse:G*:1/60"))
    assert selection.interval_of("nyse:GM") == 60.0
    assert selection.interval_of("G") == 0.0


def test_keys_that_are_not_wanted_are_never_due() -> None:
    selection = parse(("keys", "GO*"), ("keys", "IBM"), ("max_rate_per_key", "2"))
    assert selection.filters_keys
    assert [selection.is_wanted(key) for key in ("GOOG", "IBM", "GM")] == [True, True, False]
    assert selection.interval_of("GOOG") == 0.5
    assert selection.interval_of("GM") == math.inf


def test_keys_that_are_no_strings_are_matched_by_their_json() -> None:
    selection = parse(("keys", "17"), ("keys", '[[]"IBM",*'))
    wanted = [selection.is_wanted(key) for key in (17, 18, ("IBM", 1), ("GM", 1))]
    assert wanted == [True, False, True, False]


def test_a_key_whose_text_has_the_signs_of_patterns_can_be_named() -> None:
    assert parse(("keys", "a[1]*")).is_wanted("a[1]*")


@pytest.mark.parametrize(
    ("text", "snapshot"), [("true", True), ("1", True), ("False", False), ("0", False)]
)
def test_a_snapshot_is_asked_for_or_not(text: str, snapshot: bool) -> None:
    assert parse(("snapshot", text)).snapshot is snapshot
    assert parse().snapshot is None


def test_a_flag_is_yes_or_no() -> None:
    with pytest.raises(SelectionError, match="snapshot must be true or false"):
        parse(("snapshot", "maybe"))


@pytest.mark.parametrize(("text", "may"), [("auto", True), ("never", False)])
def test_an_append_queue_may_be_asked_not_to_conflate(text: str, may: bool) -> None:
    assert parse(("conflate", text)).may_conflate is may
    assert parse().may_conflate
    with pytest.raises(SelectionError, match="conflate must be auto or never"):
        parse(("conflate", text.upper()))


def test_the_header_with_the_last_event_id_takes_precedence() -> None:
    query = b"last_event_id=run-1"
    assert Selection.parse(query).last_event_id == "run-1"
    assert Selection.parse(query, last_event_id="run-2").last_event_id == "run-2"
    assert Selection.parse(b"last_event_id=").last_event_id is None


def test_a_parameter_of_another_name_is_refused_and_not_repeated() -> None:
    with pytest.raises(UnknownParameterError) as error:
        Selection.parse(b"max_rates=5")
    assert "max_rates" not in str(error.value)
    assert "max_rate_per_key" in str(error.value)


def test_a_parameter_that_is_given_twice_is_refused() -> None:
    with pytest.raises(SelectionError, match="window must be given once"):
        parse(("window", 1), ("window", 2))


@pytest.mark.parametrize("name", ["keys", "max_rate_per_key"])
def test_patterns_are_bounded_in_number_and_length(name: str) -> None:
    end = "" if name == "keys" else ":1"
    parse(*[(name, "x" * LONGEST_PATTERN + end)] * MOST_PATTERNS)
    for pairs in (
        [(name, f"x{end}")] * (MOST_PATTERNS + 1),
        [(name, f"x{end}")] * (10 * MOST_PATTERNS),
        [(name, "x" * (LONGEST_PATTERN + 1) + end)],
        [(name, end)] if end else [(name, "")],
    ):
        with pytest.raises(SelectionError):
            parse(*pairs)


@pytest.mark.parametrize("name", ["keys", "max_rate_per_key"])
def test_patterns_are_bounded_together(name: str) -> None:
    end = "" if name == "keys" else ":1"
    patterns = ["*" * LONGEST_PATTERN + end] * (MOST_CHARACTERS // LONGEST_PATTERN)
    parse(*((name, pattern) for pattern in patterns))
    with pytest.raises(SelectionError, match="in total"):
        parse(*((name, pattern) for pattern in [*patterns, "*" + end]))


def test_bytes_that_are_not_utf8_cause_no_error() -> None:
    assert Selection.parse(b"keys=%ff\xff&keys=%00").filters_keys


def test_no_pattern_takes_long() -> None:
    selection = parse(("keys", "*a" * (LONGEST_PATTERN // 2)), ("keys", "*?" * 100 + "b"))
    started = time.perf_counter()
    assert not selection.is_wanted("a" * 100 + "c" * 900)
    assert time.perf_counter() - started < 0.5
