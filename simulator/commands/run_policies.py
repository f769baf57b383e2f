"""`python -m simulator run`: policies side by side on one workload, or on a recorded trace."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from upstream import POLICIES
from upstream.errors import UnknownPolicyError

from ..errors import OptionError
from ..experiments.plots import save
from ..model.measures import Measures
from ..model.policy_run import PolicyRun
from ..model.processing_costs import COST_DISTRIBUTIONS
from ..model.simulation import LOOPS, MAX_SEED
from ..model.subscriber import MAX_SERVERS
from ..workloads.keys_option import ARRIVALS_FORMS, KEYS_FORMS, make_workload
from ..workloads.recorded import Recorded, replay
from ..workloads.trace_file import read_trace
from ..workloads.workload import Workload
from .option_checks import positive, usage_errors
from .policy_report import PolicyReport
from .run_progress import RunBar

DEFAULT_KEYS: Final = "zipf:100:0.9"
DEFAULT_UPDATES: Final = 200_000
DEFAULT_POLICIES: Final = "fifo,in-place,linecutting,index"

Keys = Annotated[
    str | None,
    typer.Option(
        "--keys", help=f"One of {', '.join(KEYS_FORMS)}. [default: Zipf, 100 keys, theta 0.9]"
    ),
]
Trace = Annotated[
    Path | None,
    typer.Option(
        "--trace",
        help="Instead of --keys: a Parquet or CSV file, or a folder of them, with columns `time` "
        "and `key`, in order of time.",
    ),
]
Arrivals = Annotated[
    str | None,
    typer.Option("--arrivals", help=f"One of {', '.join(ARRIVALS_FORMS)}. [default: poisson]"),
]
Load = Annotated[
    float,
    typer.Option(
        "--load",
        max=1e6,
        callback=positive,
        help="How many times faster updates arrive than they can be processed.",
    ),
]
Policies = Annotated[
    str, typer.Option("--policies", help=f"Comma-separated, or `all`: {', '.join(POLICIES)}.")
]
Updates = Annotated[
    int | None,
    typer.Option(
        "--updates",
        min=1,
        help=f"How many arrive. [default: {DEFAULT_UPDATES:,}, or the whole trace]",
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", min=0, max=MAX_SEED, help="Seed from which all is drawn.")
]
KnownRates = Annotated[
    bool, typer.Option("--known-rates", help="Tell the queues the true rates and the true cost.")
]
Cost = Annotated[
    str, typer.Option("--cost", help=f"How the cost is spread: {', '.join(COST_DISTRIBUTIONS)}.")
]
Servers = Annotated[
    int, typer.Option("--servers", min=1, max=MAX_SERVERS, help="How many take from a queue.")
]
Capacity = Annotated[
    int | None,
    typer.Option("--capacity", min=1, help="How many updates may wait. [default: no bound]"),
]
Loop = Annotated[
    str, typer.Option("--loop", help=f"The event loop, {' or '.join(LOOPS)}: same results.")
]
TraceTime = Annotated[str, typer.Option("--time", help="The trace's column of times.")]
TraceKey = Annotated[str, typer.Option("--key", help="The trace's column of keys.")]
Plot = Annotated[
    Path | None, typer.Option("--plot", dir_okay=False, help="Write a plot to this PNG file.")
]
Json = Annotated[
    bool, typer.Option("--json", help="Print a JSON list, one object for each policy.")
]


def run_policies(
    *,
    keys: Keys = None,
    trace: Trace = None,
    arrivals: Arrivals = None,
    load: Load = 5.0,
    policies: Policies = DEFAULT_POLICIES,
    updates: Updates = None,
    seed: Seed = 1,
    is_informed: KnownRates = False,
    cost_distribution: Cost = "fixed",
    servers: Servers = 1,
    capacity: Capacity = None,
    loop: Loop = "simpy",
    time: TraceTime = "time",
    key: TraceKey = "key",
    plot: Plot = None,
    is_json: Json = False,
) -> None:
    """Run policies on the same arrivals, and measure how stale they leave the keys.

    Times are in units of the mean time between two arrivals. Arrivals are memoryless and the cost
    is fixed, unless options say otherwise; update rates and cost are estimated by the queues,
    unless `--known-rates`. The lower bound is that of the mean queue staleness, and holds for
    memoryless arrivals.
    """
    with usage_errors():
        workload = _workload(keys, trace, arrivals, time=time, key=key)
        runs = [
            PolicyRun(
                policy=policy,
                workload=workload,
                cost=load * servers,
                updates=_updates(updates, workload),
                seed=seed,
                cost_distribution=cost_distribution,
                servers=servers,
                is_informed=is_informed,
                capacity=capacity,
                loop=loop,
            )
            for policy in policy_names(policies)
        ]
        report = PolicyReport(measure_all(runs))
        write_plot(report, plot)
    if is_json:
        sys.stdout.write(json.dumps(report.as_json(), indent=2) + "\n")
        return
    console = Console(highlight=False)
    console.print(f"Seed {seed}, load {load:g}.\n")
    console.print(report.as_table())
    console.print(f"\n{report.explanation()}", markup=False)


def policy_names(words: str) -> list[str]:
    """Return the policies that an option names, each once."""
    names = [word.strip() for word in words.split(",") if word.strip()]
    if names == ["all"]:
        return list(POLICIES)
    if not names:
        raise OptionError("--policies", repr(words), "at least one of " + ", ".join(POLICIES))
    for name in names:
        if name not in POLICIES:
            raise UnknownPolicyError(name, POLICIES)
    return list(dict.fromkeys(names))


def measure_all(runs: Sequence[PolicyRun]) -> list[Measures]:
    """Measure one policy after the other, and show how far that is."""
    with RunBar(len(runs)) as bar:
        return [run.measure(on_progress=bar.follow(run.policy)) for run in runs]


def write_plot(report: PolicyReport, path: Path | None) -> None:
    """Write the plot of a report, if it is wanted."""
    if path is None:
        return
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    report.draw(figure)
    save(figure, path)


def _workload(
    keys: str | None, trace: Path | None, arrivals: str | None, *, time: str, key: str
) -> Workload:
    if trace is None:
        return make_workload(DEFAULT_KEYS if keys is None else keys, arrivals)
    if keys is not None:
        raise OptionError("--keys", keys, "no --keys together with --trace, which has its own")
    if arrivals is not None:
        raise OptionError("--arrivals", arrivals, "no --arrivals with --trace, which has its own")
    return replay(read_trace(trace, time=time, key=key))


def _updates(updates: int | None, workload: Workload) -> int:
    if not isinstance(workload, Recorded):
        return DEFAULT_UPDATES if updates is None else updates
    if updates is not None and updates > len(workload):
        expected = f"at most {len(workload):,}, as many as the trace has"
        raise OptionError("--updates", updates, expected)
    return len(workload) if updates is None else updates
