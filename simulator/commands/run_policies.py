"""`python -m simulator run`: policies side by side on one workload, or on a recorded trace."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from ..model.processing_costs import COST_DISTRIBUTIONS
from ..model.simulation import LOOPS, MAX_SEED
from ..model.subscriber import MAX_SERVERS
from ..runs.event_files import FORMATS, EventLogs
from ..workloads.keys_option import make_workload
from ..workloads.recorded import Recorded, replay
from ..workloads.trace_file import SECONDS_PER_UNIT, TraceFile, read_trace
from ..workloads.workload import Workload
from .option_checks import plot_path, positive, usage_errors
from .policy_report import PolicyReport
from .run_progress import RunBar

DEFAULT_KEYS: Final = "zipf:100:0.9"
DEFAULT_UPDATES: Final = 200_000
DEFAULT_POLICIES: Final = "fifo,in-place,linecutting,index"

Keys = Annotated[
    str | None,
    typer.Option("--keys", metavar="KEYS", help="See above. [default: Zipf, 100 keys, theta 0.9]"),
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
    typer.Option("--arrivals", metavar="ARRIVALS", help="See above. [default: poisson]"),
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
    str,
    typer.Option(
        "--policies",
        metavar="NAMES",
        show_default=False,
        help=f"Comma-separated, or `all`: {', '.join(POLICIES)}.",
    ),
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
CostDistribution = Annotated[
    str,
    typer.Option(
        "--cost-distribution", help=f"How the cost is spread: {', '.join(COST_DISTRIBUTIONS)}."
    ),
]
Servers = Annotated[
    int, typer.Option("--servers", min=1, max=MAX_SERVERS, help="How many take from a queue.")
]
Capacity = Annotated[
    int | None,
    typer.Option(
        "--capacity",
        min=1,
        help="How many updates may wait (adaptive: before it conflates); more are refused or shed. "
        "[default: 1,000 for append-shedding and adaptive, else no bound]",
    ),
]
Loop = Annotated[
    str, typer.Option("--loop", help=f"The event loop, {' or '.join(LOOPS)}: same results.")
]
TraceTime = Annotated[
    str,
    typer.Option(
        "--time",
        metavar="COLUMN",
        help="The trace's column of times: timestamps, times of day, or numbers, as "
        "`--time-unit` says.",
    ),
]
TraceUnit = Annotated[
    str,
    typer.Option("--time-unit", help=f"What numbers count: {', '.join(SECONDS_PER_UNIT)}."),
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
        "summarize DIR`: what arrived, was dequeued and delivered when, and what the queue "
        "integrated, in files of 262,144 events.",
    ),
]
EventsFormat = Annotated[
    str, typer.Option("--events-format", help=f"Files of events: {' or '.join(FORMATS)}.")
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

    Times are in units of the mean time between two arrivals. Arrivals are memoryless and the cost
    is fixed, unless options say otherwise; update rates and cost are estimated by the queues,
    unless `--known-rates`. The lower bound is that of the mean queue staleness, and holds for
    memoryless arrivals.

    Keys: `zipf:KEYS:THETA`, where theta 0 is even and 1 is Zipf's law; `uniform:KEYS`;
    `two-class:KEYS:SLOW_KEYS:RATIO`, the slow ones so many times slower; `round-robin:KEYS`, one
    after the other.

    Arrivals: `poisson`; `fixed`, one each unit of time; `bernoulli[:TICK]`, where each key comes
    or not at each tick; `bursts:KEYS[:SPREAD]`, where so many of the slowest keys come together,
    spread over so much time.

    Policies: fifo, in-place, linecutting and index, unless others are named.
    """
    with usage_errors():
        source = TraceSource(time=time, unit=time_unit, key=key)
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
        console.print("These arrivals are not: here the bound is for comparison only.")


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
    """Measure one policy after the other, and show how far that is; write logs, if wanted."""
    if logs is None:
        with RunBar(len(runs)) as bar:
            return [run.measure(on_progress=bar.follow(run.policy)) for run in runs]
    logs.check(runs)
    with RunBar(len(runs)) as bar:
        return [logs.measure(run, bar.follow(run.policy)) for run in runs]


def write_plot(report: PolicyReport, path: Path | None) -> None:
    """Write the plot of a report, if it is wanted."""
    if path is None:
        return
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    report.draw(figure)
    save(figure, path)


@dataclass(frozen=True, slots=True)
class TraceSource:
    """How the columns of a trace are called, and what its times count."""

    time: str = "time"
    unit: str = "s"
    key: str = "key"

    def read(self, path: Path) -> TraceFile:
        """Read a trace."""
        return read_trace(path, time=self.time, unit=self.unit, key=self.key)


def _workload(
    keys: str | None,
    trace: Path | None,
    arrivals: str | None,
    source: TraceSource,
    updates: int | None,
) -> Workload:
    if trace is None:
        if source != TraceSource():
            raise OptionError("--trace", None, "a file, for --time, --time-unit or --key to be of")
        return make_workload(DEFAULT_KEYS if keys is None else keys, arrivals)
    if keys is not None:
        raise OptionError("--keys", keys, "no --keys together with --trace, which has its own")
    if arrivals is not None:
        raise OptionError("--arrivals", arrivals, "no --arrivals with --trace, which has its own")
    return replay(source.read(trace), updates=updates)


def _setting(
    run: PolicyRun, load: float, *, keys: str | None, trace: Path | None, arrivals: str | None
) -> dict[str, object]:
    """Return what a log says of a run, beside its policy and its seed."""
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
