"""A summary of many runs, made once, at which many tests look."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import Row, SparkSession

from datasets.spark.paths import path_to_read
from datasets.summaries.runs import Assumed, find_runs
from datasets.summaries.summary import Asked, RunSummary, Summary, summarize

from .hand_written import write_all
from .logged_runs import ByKey, serve, simulate_all


@dataclass(frozen=True, slots=True)
class Summarized:
    """A summary, its table by key, and what the queues integrated."""

    summary: Summary
    by_key: dict[str, dict[str, Row]]
    """By folder, and by key."""
    integrated: dict[str, ByKey]
    """By folder."""

    def run(self, end_of_folder: str) -> RunSummary:
        """Return the only run of which the folder ends so."""
        [found] = [
            each for each in self.summary.runs if str(each.run.folder).endswith(end_of_folder)
        ]
        return found

    def key(self, end_of_folder: str, key: str) -> Row:
        """Return the row of a key of such a run."""
        return self.by_key[str(self.run(end_of_folder).run.folder)][key]


@pytest.fixture(scope="session")
def summarized(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Summarized:
    place: Path = tmp_path_factory.mktemp("logs [of] 50 % é")
    integrated = simulate_all(place / "simulated") | serve(place / "served")
    write_all(place / "by hand")
    runs = find_runs([place], Assumed())
    out = place / "out"
    summary = summarize(spark, runs, out, Asked(buckets=10, worst=2))
    folders = {run.number: str(run.folder) for run in runs}
    by_key: dict[str, dict[str, Row]] = {}
    for row in spark.read.parquet(path_to_read(out / "by_key")).collect():
        by_key.setdefault(folders[row["run"]], {})[row["key"]] = row
    return Summarized(summary, by_key, integrated)
