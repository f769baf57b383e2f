"""`python -m simulator advise`: which policy to use on the user's own trace."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from ..advice import CANDIDATES, Advice, advise
from ..workloads.trace_file import read_trace
from .option_checks import positive, usage_errors
from .policy_report import PolicyReport
from .run_policies import (
    Plot,
    Policies,
    TraceKey,
    TraceTime,
    TraceUnit,
    policy_names,
    write_plot,
)
from .run_progress import RunBar

Trace = Annotated[
    Path,
    typer.Option(
        "--trace",
        help="The recorded trace: a Parquet or CSV file, or a folder of them, with the columns "
        "`time` and `key`, in order of time.",
    ),
]
Cost = Annotated[
    float,
    typer.Option(
        "--cost",
        max=1e9,
        callback=positive,
        help="How many seconds your consumer needs for one update.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]

DEFAULT_POLICIES: Final = ",".join(CANDIDATES)


def advise_policy(
    *,
    trace: Trace,
    cost: Cost,
    policies: Policies = DEFAULT_POLICIES,
    time: TraceTime = "time",
    time_unit: TraceUnit = "s",
    key: TraceKey = "key",
    plot: Plot = None,
    is_json: Json = False,
) -> None:
    """Recommend a policy for your own trace, and show by how much it beats the others.

    The trace is replayed at its own pace with each policy, to a consumer that needs `--cost`
    seconds for an update. Policies are compared by mean application staleness: how long the
    consumer's value of a key was out of date, averaged over time and over keys. By default all
    policies except append-shedding are compared.
    """
    with usage_errors():
        names = policy_names(policies)
        recorded = read_trace(trace, time=time, unit=time_unit, key=key)
        with RunBar(len(names)) as bar:
            advice = advise(recorded, cost_seconds=cost, policies=names, follow=bar.follow)
        report = PolicyReport(advice.measured, advice.unit_seconds, "seconds")
        write_plot(report, plot)
    if is_json:
        sys.stdout.write(json.dumps(_as_json(advice, report), indent=2, allow_nan=False) + "\n")
        return
    console = Console(highlight=False)
    rows, keys = len(recorded.times), len(recorded.keys)
    span = float(recorded.times[-1] - recorded.times[0])
    of_keys = "1 key" if keys == 1 else f"{keys:,} keys"
    console.print(f"{rows:,} updates of {of_keys} in {span:,.4g} s.\n", markup=False)
    console.print(report.as_table())
    console.print(f"\n{report.explanation()}\n", markup=False)
    for sentence in advice.sentences():
        console.print(sentence, markup=False)


def _as_json(advice: Advice, report: PolicyReport) -> dict[str, object]:
    return {
        "trace": str(advice.trace.name),
        "updates": len(advice.trace.times),
        "keys": len(advice.trace.keys),
        "load": advice.load,
        "recommended": advice.recommended,
        "times_staler": {each.name: advice.times_staler(each.name) for each in advice.measured},
        "runner_up": advice.runner_up,
        "is_clear": advice.is_clear,
        "quarters_won": advice.quarters_won,
        "quarters": advice.quarters,
        "advice": advice.sentences(),
        "policies": report.as_json(),
    }
