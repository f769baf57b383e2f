"""Runs as they are summarised: what was recomputed is what the queues integrated."""

from __future__ import annotations

import pytest

from upstream import POLICIES

from .conftest import Summarized


def test_every_key_of_every_run_is_as_stale_as_its_queue_says(summarized: Summarized) -> None:
    assert len(summarized.integrated) == len(summarized.summary.runs) == 2 * len(POLICIES) + 6 + 4
    for folder, of_queue in summarized.integrated.items():
        of_log = summarized.by_key[folder]
        assert of_log.keys() == of_queue.keys(), folder
        for key, (queue, application) in of_queue.items():
            row = of_log[key]
            assert row["queue_staleness"] == pytest.approx(queue, rel=1e-9, abs=1e-15), folder
            assert row["application_staleness"] == pytest.approx(application, rel=1e-9, abs=1e-15)
