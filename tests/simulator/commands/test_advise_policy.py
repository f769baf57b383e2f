"""`advise`: which policy to use on a trace of one's own, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from .command_line import assert_refused, invoke


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Write a trace of memoryless updates of Zipf keys, ten a second."""
    random = np.random.default_rng(5)
    shares = np.arange(1.0, 21.0) ** -1.2
    codes = random.choice(20, 3_000, p=shares / shares.sum())
    columns = {
        "at": pa.array(random.exponential(0.1, 3_000).cumsum()),
        "symbol": pa.array([f"S{code}" for code in codes]),
    }
    path = tmp_path_factory.mktemp("trace") / "trace.parquet"
    pyarrow.parquet.write_table(pa.table(columns), path)
    return str(path)


def test_it_says_what_to_use_and_why(trace: str) -> None:
    result = invoke("advise", "--trace", trace, "--cost", "0.5", "--time", "at", "--key", "symbol")
    assert result.exit_code == 0
    output = " ".join(result.output.split())
    assert "3,000 updates of 20 keys" in output
    assert "index and in-place are equal on this trace: their mean application" in output
    assert "in 2 of the 4 quarters of the trace" in output
    assert "Your consumer is overloaded" in output
    assert "Times are in seconds." in output


def test_it_is_json_if_wanted_with_times_in_seconds(trace: str) -> None:
    words = ("--time", "at", "--key", "symbol", "--policies", "in-place,index", "--json")
    found = json.loads(invoke("advise", "--trace", trace, "--cost", "0.5", *words).stdout)
    assert found["recommended"] == "index"
    assert found["load"] == pytest.approx(5.0, rel=0.05)
    assert found["times_staler"]["index"] == 1.0
    assert found["times_staler"]["in-place"] > 1.0
    in_place, index = found["policies"]
    assert (in_place["policy"], index["policy"]) == ("in-place", "index")
    # About half of what a round of 20 keys takes, and an update is processed for 0.5 s.
    assert 0.5 < index["application_staleness"] < 0.5 * 20
    difference = index["application_staleness"] - index["queue_staleness"]
    assert difference == pytest.approx(0.5, rel=0.5)


def test_a_plot_is_written_if_wanted(trace: str, tmp_path: Path) -> None:
    path = tmp_path / "plot.png"
    words = ("--time", "at", "--key", "symbol", "--policies", "index", "--plot", str(path))
    assert invoke("advise", "--trace", trace, "--cost", "0.5", *words).exit_code == 0
    assert path.read_bytes().startswith(b"\x89PNG")


def test_bad_options_are_refused_by_name(trace: str) -> None:
    assert_refused(invoke("advise", "--trace", trace, "--cost", "1"), "'time'", "symbol")
    assert_refused(invoke("advise", "--trace", trace, "--cost", "0"), "--cost")
    assert_refused(invoke("advise", "--trace", "missing.csv", "--cost", "1"), "missing.csv")
    assert_refused(invoke("advise", "--cost", "1"), "--trace")
    assert_refused(invoke("advise", "--trace", trace), "--cost")
