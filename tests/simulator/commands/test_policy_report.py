"""What was measured of several policies: JSON, table and plot say the same."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from rich.console import Console

from simulator.commands.policy_report import PolicyReport
from simulator.model.policy_run import PolicyRun
from simulator.workloads.keys_option import make_workload

POLICIES = ("fifo", "in-place", "append-shedding")


@pytest.fixture(scope="module")
def report() -> PolicyReport:
    workload = make_workload("zipf:20:1")
    runs = [
        PolicyRun(policy=policy, workload=workload, cost=5.0, updates=4_000, capacity=30)
        for policy in POLICIES
    ]
    return PolicyReport([run.measure() for run in runs], unit_seconds=0.5, unit="seconds")


def lines_of(report: PolicyReport) -> list[str]:
    console = Console(width=80, no_color=True)
    with console.capture() as captured:
        console.print(report.as_table())
    return captured.get().splitlines()


def test_json_has_the_policies_as_they_were_given(report: PolicyReport) -> None:
    assert [each["policy"] for each in report.as_json()] == list(POLICIES)


def test_times_are_scaled_and_counts_are_not(report: PolicyReport) -> None:
    for each, measures in zip(report.as_json(), report.measured, strict=True):
        assert each["queue_staleness"] == 0.5 * measures.queue.mean
        assert each["application_staleness"] == 0.5 * measures.application.mean
        assert each["worst_key_staleness"] == 0.5 * measures.queue.worst
        assert measures.queue.lower_bound is not None
        assert each["lower_bound_memoryless"] == 0.5 * measures.queue.lower_bound
        assert each["latency_mean"] == 0.5 * measures.latency.mean
        assert each["arrived"] == measures.counted.arrived == 4_000
        assert each["shed"] == measures.counted.shed


def test_the_table_has_the_freshest_first_and_fits_80_columns(report: PolicyReport) -> None:
    header, *rows = lines_of(report)
    assert header.split()[0] == "policy"
    names = [measures.name for measures in report.freshest_first()]
    assert [row.split()[0] for row in rows] == names
    assert names[0] == "in-place"
    assert "…" not in "".join(rows)


def test_shed_updates_count_as_skipped(report: PolicyReport) -> None:
    [row] = [row for row in lines_of(report) if row.startswith("append-shedding")]
    shed = next(each["shed"] for each in report.as_json() if each["policy"] == "append-shedding")
    assert f"{shed:,}" in row


def test_the_columns_are_explained(report: PolicyReport) -> None:
    assert "Times are in seconds." in report.explanation()


def test_a_plot_without_any_staleness_is_drawn_all_the_same() -> None:
    one_update = PolicyRun(policy="fifo", workload=make_workload("uniform:2"), cost=1.0, updates=1)
    figure = Figure()
    PolicyReport([one_update.measure()]).draw(figure)
    figure.canvas.draw()
    assert len(figure.axes) == 3


def test_the_plot_has_bars_keys_and_lengths_of_each_policy(report: PolicyReport) -> None:
    figure = Figure()
    report.draw(figure)
    bars, keys, lengths = figure.axes
    assert [label.get_text() for label in bars.get_xticklabels()] == list(POLICIES)
    assert len(keys.lines) == len(lengths.lines) == len(POLICIES)
    assert keys.get_ylabel() == "queue staleness (seconds)"
    highest = max(float(np.max(np.asarray(line.get_ydata()))) for line in keys.lines)
    assert highest == 0.5 * max(measures.queue.worst for measures in report.measured)
