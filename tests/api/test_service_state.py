"""Staleness reports and keys as the page shows them, and the memory of the process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from api.service_state import (
    LONGEST_KEY_TEXT,
    RANKS,
    STALEST_KEYS,
    resident_bytes,
    shown_key,
    shown_report,
    thinned,
)
from upstream import Key


def report(*, keys: list[Key]) -> dict[str, object]:
    """Return a staleness report in which key number n is n seconds stale."""
    rows = [
        {"queue_staleness": float(n), "application_staleness": 2.0 * n} for n in range(len(keys))
    ]
    return {
        "queue_staleness": 1.5,
        "worst_key": keys[-1] if keys else None,
        "stalest_keys": [{"key": key} | row for key, row in zip(keys, rows, strict=True)][::-1],
        "ranks": [{"rank": n, "rate": 1 / n} | row for n, row in enumerate(rows, start=1)],
    }


def test_a_report_is_shown_with_keys_as_text_and_ranks_as_rows() -> None:
    shown = shown_report(report(keys=["IBM", ("GM", 7)]))
    assert shown["queue_staleness"] == 1.5
    assert shown["worst_key"] == '["GM",7]'
    stalest = shown["stalest_keys"]
    assert isinstance(stalest, list)
    assert [row["key"] for row in stalest] == ['["GM",7]', "IBM"]
    assert shown["ranks"] == [[1, 1.0, 0.0, 0.0], [2, 0.5, 1.0, 2.0]]
    json.dumps(shown, allow_nan=False)


def test_a_report_of_many_keys_is_cut_to_what_is_shown() -> None:
    shown = shown_report(report(keys=list(range(1_000))))
    stalest, ranks = shown["stalest_keys"], shown["ranks"]
    assert isinstance(stalest, list)
    assert isinstance(ranks, list)
    assert [row["key"] for row in stalest] == [str(999 - n) for n in range(STALEST_KEYS)]
    assert len(ranks) == RANKS
    assert (ranks[0][0], ranks[-1][0]) == (1, 1_000)


def test_a_report_of_no_key_has_no_worst_one() -> None:
    shown = shown_report(report(keys=[]))
    assert (shown["worst_key"], shown["stalest_keys"], shown["ranks"]) == (None, [], [])


@pytest.mark.parametrize("length", [2, 3, 7, 60])
def test_thinning_keeps_both_ends_and_the_order(length: int) -> None:
    for most in range(2, length + 3):
        points = thinned(range(length), most)
        assert len(points) == min(most, length)
        assert (points[0], points[-1]) == (0, length - 1)
        assert points == sorted(set(points))


def test_a_key_too_long_to_be_read_is_cut() -> None:
    assert shown_key("k" * LONGEST_KEY_TEXT) == "k" * LONGEST_KEY_TEXT
    cut = shown_key("k" * (LONGEST_KEY_TEXT + 1))
    assert len(cut) == LONGEST_KEY_TEXT
    assert cut.endswith("k…")


def test_the_memory_of_this_process_is_measured() -> None:
    before = resident_bytes()
    ballast = b"\1" * 50_000_000
    assert before > 5_000_000
    assert resident_bytes() - before > len(ballast) // 2


def test_without_proc_the_peak_is_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    present = resident_bytes()

    def missing(path: Path, encoding: str) -> str:
        raise FileNotFoundError(path)

    monkeypatch.setattr(Path, "read_text", missing)
    assert resident_bytes() >= 0.9 * present
