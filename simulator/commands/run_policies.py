"""`python -m simulator run`: policies side by side on one workload, or on a recorded trace."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from upstream import POLICIES
from upstream.errors import UnknownPolicyError

from ..errors import OptionError
from ..experiments.experiment import save
from ..model.measures import Measures
from ..model.policy_run import PolicyRun
from ..model.simulation import LOOPS, MAX_SEED
from ..model.subscriber import COST_DISTRIBUTIONS, MAX_SERVERS
from ..runs.event_files import FORMATS, EventLogs
from ..workloads.keys_option import make_workload
from ..workloads.recorded import Recorded, replay
from ..workloads.trace_file import SECONDS_PER_UNIT, read_trace
from ..workloads.workload import Workload
from .option_checks import plot_path, positive, usage_errors
from .policy_report import PolicyReport
from .run_progress import RunBar

DEFAULT_KEYS: Final = "zipf:100:0.9"
DEFAULT_UPDATES: Final = 200_000
TRACE_DEFAULTS: Final = {"time": "time", "unit": "s", "key": "key"}
"""The columns of a trace, and the unit of its times."""
DEFAULT_POLICIES: Final = "fifo,in-place,linecutting,index"

Keys = Annotated[
    str | None,
    typer.Option(
        "--keys", metavar="KEYS", help="The keys, in a form listed above. [default: zipf:100:0.9]"
    ),
]
Trace = Annotated[
    Path | None,
    typer.Option(
        "--trace",
        help="A recorded trace to use instead of --keys: a Parquet or CSV file, or a folder of "
        "them, with the columns `time` and `key`, in order of time.",
    ),
]
Arrivals = Annotated[
    str | None,
    typer.Option(
        "--arrivals",
        metavar="ARRIVALS",
        help="The arrivals, in a form listed above. [default: poisson]",
    ),
]
Load = Annotated[
    float,
    typer.Option(
        "--load",
        max=1e6,
        callback=positive,
        help="How many times faster updates arrive than the servers can process them.",
    ),
]
Policies = Annotated[
    str,
    typer.Option(
        "--policies",
        metavar="NAMES",
        show_default=False,
        help=f"The policies, separated by commas, or `all`: {', '.join(POLICIES)}.",
    ),
]
Updates = Annotated[
    int | None,
    typer.Option(
        "--updates",
        min=1,
        help=f"How many updates arrive. [default: {DEFAULT_UPDATES:,}, or the whole trace]",
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", min=0, max=MAX_SEED, help="The seed of all random numbers.")
]
KnownRates = Annotated[
    bool, typer.Option("--known-rates", help="Give the queues the true rates and the true cost.")
]
CostDistribution = Annotated[
    str,
    typer.Option(
        "--cost-distribution",
        help=f"The distribution of the cost: {', '.join(COST_DISTRIBUTIONS)}.",
    ),
]
Servers = Annotated[
    int,
    typer.Option(
        "--servers", min=1, max=MAX_SERVERS, help="How many servers take updates from a queue."
    ),
]
Capacity = Annotated[
    int | None,
    typer.Option(
        "--capacity",
        min=1,
        help="How many updates may wait. Beyond that, an adaptive queue conflates, append-shedding "
        "sheds, and the others reject. [default: 1,000 for append-shedding and adaptive, no bound "
        "for the others]",
    ),
]
Loop = Annotated[
    str,
    typer.Option("--loop", help=f"The event loop: {' or '.join(LOOPS)}. The results are the same."),
]
TraceTime = Annotated[
    str,
    typer.Option(
        "--time",
        metavar="COLUMN",
        help="The trace's column of times: timestamps, times of day, or numbers in the unit "
        "`--time-unit`.",
    ),
]
TraceUnit = Annotated[
    str,
    typer.Option(
        "--time-unit", help=f"The unit of times that are numbers: {', '.join(SECONDS_PER_UNIT)}."
    ),
]
TraceKey = Annotated[
    str, typer.Option("--key", metavar="COLUMN", help="The trace's column of keys.")
]
Plot = Annotated[
    Path | None,
    typer.Option(
        "--plot", dir_okay=False, callback=plot_path, help="Write a plot to this PNG file."
    ),
]
Events = Annotated[
    Path | None,
    typer.Option(
        "--events",
        metavar="DIR",
        file_okay=False,
        help="Write the event log of each run to DIR/POLICY-seed-SEED, for `python -m datasets "
        "summarize DIR`. It contains every arrival, dequeue and delivery, in files of 262,144 "
        "events, and the staleness that the queue itself measured.",
    ),
]
EventsFormat = Annotated[
    str,
    typer.Option(
        "--events-format", help=f"The format of the files of events: {' or '.join(FORMATS)}."
    ),
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
    cost_distribution: CostDistribution = "fixed",
    servers: Servers = 1,
    capacity: Capacity = None,
    loop: Loop = "simpy",
    time: TraceTime = "time",
    time_unit: TraceUnit = "s",
    key: TraceKey = "key",
    plot: Plot = None,
    events: Events = None,
    events_format: EventsFormat = FORMATS[0],
    is_json: Json = False,
) -> None:
    """Run policies on the same arrivals, and measure how stale they leave the keys.

    Times are in units of the mean time between two arrivals. By default arrivals are memoryless
    and the cost is fixed. The queues estimate update rates and cost themselves, unless
    `--known-rates` is given. The lower bound is a bound on the mean queue staleness and assumes
    memoryless arrivals.

    Keys: `zipf:KEYS:THETA`, where theta 0 is even and 1 is Zipf's law; `uniform:KEYS`;
    `two-class:KEYS:SLOW_KEYS:RATIO`, where the slow keys update RATIO times less often;
    `round-robin:KEYS`, where the keys take turns.

    Arrivals: `poisson`; `fixed`, one in each unit of time; `bernoulli[:TICK]`, where each key
    arrives or not at each tick, at random; `bursts:KEYS[:SPREAD]`, where the KEYS slowest keys
    arrive together, within a time of SPREAD.

    Policies: fifo, in-place, linecutting and index by default.
    """
    with usage_errors():
        source = {"time": time, "unit": time_unit, "key": key}
        workload = _workload(keys, trace, arrivals, source, updates)
        names = policy_names(policies)
        run = PolicyRun(
            policy=names[0],
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
        setting = _setting(run, load, keys=keys, trace=trace, arrivals=arrivals)
        logs = None if events is None else EventLogs(events, events_format, setting)
        report = PolicyReport(measure_all([replace(run, policy=name) for name in names], logs))
        write_plot(report, plot)
    _print(report, run, load, is_json=is_json)


def _print(report: PolicyReport, run: PolicyRun, load: float, *, is_json: bool) -> None:
    if is_json:
        sys.stdout.write(json.dumps(report.as_json(), indent=2, allow_nan=False) + "\n")
        return
    console = Console(highlight=False)
    console.print(f"Seed {run.seed}, load {load:g}.\n")
    console.print(report.as_table())
    console.print(f"\n{report.explanation()}", markup=False)
    if not run.workload.is_memoryless:
        console.print("These arrivals are not memoryless: use the bound for comparison only.")


def policy_names(words: str) -> list[str]:
    """Return the policies that an option names, each once."""
    names = [word.strip().lower() for word in words.split(",") if word.strip()]
    if "all" in names:
        return list(POLICIES)
    if not names:
        raise OptionError("--policies", repr(words), "at least one of " + ", ".join(POLICIES))
    for name in names:
        if name not in POLICIES:
            raise UnknownPolicyError(name, POLICIES)
    return list(dict.fromkeys(names))


def measure_all(runs: Sequence[PolicyRun], logs: EventLogs | None = None) -> list[Measures]:
    """Measure one policy after the other and show the progress; write logs if there are any."""
    if logs is None:
        with RunBar(len(runs)) as bar:
            return [run.measure(on_progress=bar.follow(run.policy)) for run in runs]
    logs.check(runs)
    with RunBar(len(runs)) as bar:
        return [logs.measure(run, bar.follow(run.policy)) for run in runs]


def write_plot(report: PolicyReport, path: Path | None) -> None:
    """Write the plot of a report, unless `path` is None."""
    if path is None:
        return
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    report.draw(figure)
    save(figure, path)


def _workload(
    keys: str | None,
    trace: Path | None,
    arrivals: str | None,
    source: Mapping[str, str],
    updates: int | None,
) -> Workload:
    if trace is None:
        if source != TRACE_DEFAULTS:
            raise OptionError(
                "--trace", None, "a trace, since --time, --time-unit or --key is given"
            )
        return make_workload(DEFAULT_KEYS if keys is None else keys, arrivals)
    if keys is not None:
        raise OptionError(
            "--keys", keys, "no --keys together with --trace, which has keys of its own"
        )
    if arrivals is not None:
        raise OptionError(
            "--arrivals", arrivals, "no --arrivals together with --trace, which has its own"
        )
    return replay(read_trace(trace, **source), updates=updates)


def _setting(
    run: PolicyRun, load: float, *, keys: str | None, trace: Path | None, arrivals: str | None
) -> dict[str, object]:
    """Return what a log says about a run besides its policy and its seed."""
    source: dict[str, object] = {"trace": str(trace)}
    if trace is None:
        source = {"keys": keys or DEFAULT_KEYS, "arrivals": arrivals or "poisson"}
    return source | {
        "load": load,
        "updates": run.updates,
        "cost_distribution": run.cost_distribution,
        "servers": run.servers,
        "capacity": run.capacity,
        "known_rates": run.is_informed,
    }


def _updates(updates: int | None, workload: Workload) -> int:
    if isinstance(workload, Recorded):
        return len(workload)
    return DEFAULT_UPDATES if updates is None else updates
