"""A query that is killed in the middle of a batch, and started again, loses nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.server_process import ROOT
from upstream.client import Client

from .killed_query import run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PATIENCE_SECONDS = 200.0


def run_until_killed(url: str, queue: str, folder: Path, *, at: Path) -> None:
    """Run the query in a process, and kill that with its Java when it has written a file."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.spark.source.killed_query", url, queue, str(folder)],
        cwd=ROOT,
        start_new_session=True,
    )
    try:
        until = time.monotonic() + PATIENCE_SECONDS
        while not at.exists():
            assert process.poll() is None, "the query ended before it was killed"
            assert time.monotonic() < until, "the query wrote nothing"
            time.sleep(0.02)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def batches_in(folder: Path) -> dict[int, list[dict[str, object]]]:
    return {int(file.stem): json.loads(file.read_text()) for file in folder.glob("*.json")}


@pytest.mark.slow
@pytest.mark.timeout(400)  # a second Spark starts, and machines may be busy
def test_a_killed_query_that_is_started_again_loses_nothing(
    session: SparkSession, client: Client, url: str, name: str, tmp_path: Path
) -> None:
    client.create_queue(name, lease_seconds=60)
    client.put_many(name, [(f"k{number}", {"price": 1.0}) for number in range(40)])
    # It dies after batch 1 was written, and before Spark knows that this batch is done.
    run_until_killed(url, name, tmp_path, at=tmp_path / "1.json")
    before = batches_in(tmp_path)
    assert client.queue(name).in_process == 10
    client.put_many(name, [(f"k{number}", {"price": 2.0}) for number in range(0, 40, 2)])
    run(session, url, name, tmp_path)
    after = batches_in(tmp_path)
    assert {number: after[number] for number in before} == before, "a repeated batch is the same"
    newest = {row["key"]: row["price"] for number in sorted(after) for row in after[number]}
    assert newest == {f"k{number}": 2.0 if number % 2 == 0 else 1.0 for number in range(40)}
    counts = client.statistics(name)
    assert (counts.waiting, counts.in_process, counts.returned) == (0, 0, 0)
    assert counts.arrived == counts.dequeued + counts.superseded
    assert sum(map(len, after.values())) == counts.dequeued == counts.delivered
