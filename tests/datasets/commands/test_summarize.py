"""`summarize` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from datasets.commands import job as jobs
from datasets.summaries.tables import MEANINGS

from ..summaries.hand_written import RETURNED
from ..summaries.logged_runs import write_log
from .command_line import FAILED, assert_refused, invoke


@pytest.fixture
def _no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make sure that what is refused is refused before Spark starts, which takes seconds."""

    def start(**_: object) -> None:
        raise AssertionError("Spark was started")

    monkeypatch.setattr(jobs, "spark_session", start)


def test_the_help_says_what_a_log_is() -> None:
    text = " ".join(invoke("summarize", "--help").output.split())
    for word in ("run.json", "arrival", "dequeue", "delivery", "UPSTREAM_EVENT_LOG", "--events"):
        assert word in text


@pytest.mark.usefixtures("_no_spark")
def test_invalid_input_is_refused_in_one_line(tmp_path: Path) -> None:
    out = tmp_path / "out"
    missing = invoke("summarize", tmp_path / "missing", "--out", out)
    assert_refused(missing, "missing: there is no such file or folder", status=FAILED)
    assert missing.stderr.startswith("Error: ")
    assert len(missing.stderr.strip().splitlines()) == 1
    folder = write_log(tmp_path / "log", RETURNED)
    of_end = invoke("summarize", folder, "--end", "nan")
    assert_refused(of_end, "Error: --end nan: expected a finite time", status=FAILED)
    out.mkdir()
    assert_refused(invoke("summarize", folder, "--out", out), "already exists", status=FAILED)
    assert not list(out.iterdir())


@pytest.mark.usefixtures("spark")
def test_a_card_is_written_beside_the_tables(tmp_path: Path) -> None:
    write_log(tmp_path / "logs" / "one", RETURNED)
    empty = tmp_path / "logs" / "two"
    empty.mkdir()
    (empty / "run.json").write_text('{"format": "upstream-events", "version": 1}')
    out = tmp_path / "out"
    run = invoke("summarize", tmp_path / "logs", "--out", out, "--buckets", 3, "--json")
    assert run.exit_code == 0, run.output
    card = json.loads((out / "_data_card.json").read_text(encoding="utf-8"))
    assert card["read"] == {"runs": 1, "files": 1, "events": len(RETURNED)}
    assert card["dropped"] == {"runs without events": 1}
    assert card["parameters"] == {"buckets": 3, "worst": 3}
    tables = {each["name"]: each for each in card["tables"]}
    assert {"by_key": 1, "by_time.parquet": 3, "runs.parquet": 1}.items() <= {
        name: table["rows"] for name, table in tables.items()
    }.items()
    meant = {each["name"]: each["meaning"] for each in tables["by_key"]["columns"]}
    assert meant["shed"] == "updates dropped to make room"
    names = {each["name"] for table in tables.values() for each in table["columns"]}
    assert names >= MEANINGS.keys()
    assert "## by_key, 1 rows" in (out / "_data_card.md").read_text(encoding="utf-8")
