"""`run`: policies side by side on one workload, from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from upstream import POLICIES, staleness_lower_bound

from .command_line import assert_refused, invoke

FIELDS = {
    *("policy", "queue_staleness", "application_staleness", "worst_key_staleness"),
    *("lower_bound_memoryless", "arrived", "dequeued", "superseded"),
}
QUICK = ("--updates", "5000")


def measured(*arguments: str) -> list[dict[str, Any]]:
    result = invoke("run", *arguments, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert isinstance(found, list)
    return found


def test_each_policy_has_an_object_with_what_is_promised() -> None:
    words = "--keys zipf:100:0.9 --load 5 --policies in-place,linecutting,index --seed 1"
    found = measured(*words.split(), *QUICK)
    assert [each["policy"] for each in found] == ["in-place", "linecutting", "index"]
    for each in found:
        assert each.keys() >= FIELDS
        assert each["arrived"] == 5_000
        assert each["arrived"] == each["dequeued"] + each["superseded"] + each["waiting"]
        assert each["dequeued"] == pytest.approx(1_000, rel=0.05)
        assert 0 < each["queue_staleness"] < each["application_staleness"]
        assert each["queue_staleness"] < each["worst_key_staleness"]


def test_times_are_in_units_of_the_mean_time_between_arrivals() -> None:
    [each] = measured("--keys", "uniform:10", "--load", "20", "--policies", "in-place", *QUICK)
    assert each["queue_staleness"] == pytest.approx(10 * 20 / 2, rel=0.15)
    assert each["lower_bound_memoryless"] == staleness_lower_bound([0.1] * 10, 20.0)


def test_all_policies_may_be_asked_for_at_once() -> None:
    assert [each["policy"] for each in measured("--policies", "all", *QUICK)] == list(POLICIES)


def test_the_same_seed_gives_the_same_and_another_one_another() -> None:
    one, same, other = (
        measured("--seed", seed, "--policies", "index", *QUICK) for seed in ("1", "1", "2")
    )
    assert one == same
    assert one != other


@pytest.mark.parametrize(
    "option",
    [
        ("--known-rates",),
        ("--arrivals", "fixed"),
        ("--arrivals", "bursts:20"),
        ("--cost-distribution", "exponential"),
        ("--keys", "two-class:10:8:100"),
        ("--servers", "2"),
    ],
)
def test_options_change_what_is_measured(option: tuple[str, ...]) -> None:
    words = ("--policies", "index", *QUICK)
    [plain], [changed] = measured(*words), measured(*words, *option)
    assert plain["queue_staleness"] != changed["queue_staleness"]
    assert changed["arrived"] == 5_000
    # The load stays the same, however many servers share it.
    assert changed["dequeued"] == pytest.approx(plain["dequeued"], rel=0.1)


def test_a_capacity_bounds_what_waits() -> None:
    [each] = measured("--policies", "append-shedding", "--capacity", "7", *QUICK)
    assert each["waiting"] <= 7
    assert each["shed"] > 3_000


def test_a_trace_is_replayed_at_a_load(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    rows = "\n".join(f"{100 + 2 * second},{'abc'[second % 3]}" for second in range(600))
    path.write_text(f"time,key\n{rows}\n")
    [each] = measured("--trace", str(path), "--load", "3", "--policies", "in-place")
    assert (each["arrived"], each["keys"]) == (600, 3)
    assert each["dequeued"] == pytest.approx(200, abs=2)
    [part] = measured("--trace", str(path), "--updates", "60", "--policies", "in-place")
    assert part["arrived"] == 60


def test_without_json_a_table_and_the_seed_are_printed() -> None:
    result = invoke("run", *QUICK, "--seed", "4")
    assert result.exit_code == 0
    assert "Seed 4, load 5." in result.output
    for policy in ("fifo", "in-place", "linecutting", "index"):
        assert policy in result.output
    assert "Times are in mean inter-arrival times." in result.output


def test_a_plot_is_written_if_wanted(tmp_path: Path) -> None:
    path = tmp_path / "plot.png"
    assert invoke("run", *QUICK, "--plot", str(path)).exit_code == 0
    assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--keys", "zipf:0:1", ("keys 0", "a whole number from 1")),
        ("--keys", "pareto:1", ("--keys pareto:1", "zipf:KEYS:THETA")),
        ("--keys", "zipf:10:nan", ("theta nan",)),
        ("--arrivals", "often", ("--arrivals often", "poisson")),
        ("--policies", "lifo", ("lifo", "in-place")),
        ("--policies", " , ", ("--policies", "at least one of")),
        ("--load", "0", ("--load",)),
        ("--load", "nan", ("--load",)),
        ("--load", "inf", ("--load",)),
        ("--updates", "0", ("--updates",)),
        ("--seed", "-1", ("--seed",)),
        ("--servers", "0", ("--servers",)),
        ("--capacity", "0", ("--capacity",)),
        ("--cost-distribution", "cheap", ("cheap", "exponential")),
        ("--time-unit", "ms", ("--trace", "a trace")),
        ("--key", "symbol", ("--trace", "a trace")),
        ("--loop", "fast", ("fast", "simpy or plain")),
        ("--trace", "no-such-file.csv", ("no-such-file.csv",)),
        ("--plot", "no-such-folder/plot.png", ("--plot", "no-such-folder")),
        ("--plot", "plot.jpg", ("--plot", "plot.jpg", ".png")),
    ],
)
def test_bad_options_are_refused_by_name(option: str, value: str, words: tuple[str, ...]) -> None:
    assert_refused(invoke("run", *QUICK, option, value), *words)


def test_a_trace_has_its_own_keys_arrivals_and_length(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text("time,key\n1,a\n2,b\n")
    trace = ("run", "--trace", str(path))
    assert_refused(invoke(*trace, "--keys", "uniform:2"), "--keys")
    assert_refused(invoke(*trace, "--arrivals", "poisson"), "--arrivals")
    assert_refused(invoke(*trace, "--updates", "3"), "--updates", "from 2 to 2")


def test_numbers_that_cannot_be_seconds_are_refused_unless_it_is_said_what_they_count(
    tmp_path: Path,
) -> None:
    path = tmp_path / "trace.csv"
    path.write_text("time,key\n1760000000000,a\n1760000001000,b\n1760000002000,a\n")
    trace = ("--trace", str(path), "--policies", "in-place")
    assert_refused(invoke("run", *trace), "row 3", "--time-unit")
    assert_refused(invoke("run", *trace, "--time-unit", "h"), "--time-unit h", "s or ms or us")
    assert measured(*trace, "--time-unit", "ms")[0]["arrived"] == 3


def test_a_broken_row_of_a_trace_is_named(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text("time,key\n2,a\n1,b\n")
    assert_refused(invoke("run", "--trace", str(path)), "row 2 (line 3)")


def test_an_event_log_of_each_run_is_written_and_the_figures_are_what_they_were(
    tmp_path: Path,
) -> None:
    words = ("--policies", "index,append-shedding", "--load", "3", "--seed", "7", *QUICK)
    found = measured(*words, "--events", str(tmp_path / "logs"), "--events-format", "csv")
    assert found == measured(*words)
    for each in found:
        folder = tmp_path / "logs" / f"{each['policy']}-seed-7"
        run = json.loads((folder / "run.json").read_text())
        assert run["integrated"]["queue_staleness"] == each["queue_staleness"]
        assert (run["seed"], run["setting"]["load"]) == (7, 3.0)
        assert (folder / "events-000000000000.csv").exists()


def test_a_log_that_is_there_already_is_not_written_over(tmp_path: Path) -> None:
    words = ("run", "--events", str(tmp_path), "--policies", "fifo", "--updates", "10")
    assert invoke(*words).exit_code == 0
    assert_refused(invoke(*words), "fifo-seed-1")
