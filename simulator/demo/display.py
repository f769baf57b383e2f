"""The output of the demo: a live table, lines where there is no terminal, JSON, and a summary.

All of it is made from a report; nothing here reads a clock or a queue. The words are ASCII, so that
they can be written anywhere. Bars are ASCII where a terminal has no block characters.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Final

from rich.bar import Bar
from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from upstream.staleness import AgainstBound

from .demo import DemoReport, DemoSettings, PolicyReport

WIDE: Final = 120
"""The width of a terminal, in columns, from which every counter fits."""
BAR_SCALE: Final = 5.0
"""The staleness that fills a bar, as a multiple of the lowest staleness shown."""
WIDE_COUNTERS: Final = ("arrived", "waiting", "skipped", "served")
NARROW_COUNTERS: Final = ("waiting", "skipped")
"""The counters that differ between the policies; the others are below the table."""
BEST_POLICY: Final = "index"

Json = dict[str, object]


def duration(seconds: float) -> str:
    """Return a duration as text, in the unit that suits it.

    >>> duration(0.0375), duration(5.94), duration(0.000045)
    ('37.5 ms', '5.94 s', '45 us')
    """
    if seconds < 0.0009995:
        return f"{1_000_000 * seconds:.0f} us"
    if seconds < 0.9995:
        return f"{1_000 * seconds:.{1 if seconds < 0.09995 else 0}f} ms"
    return f"{seconds:.2f} s" if seconds < 9.995 else f"{seconds:,.1f} s"


def ratio(found: AgainstBound) -> str:
    """Return how many times the lower bound the staleness is, as text; "-" if it is not known.

    >>> ratio(AgainstBound(1.0234, False)), ratio(AgainstBound(158.4, False))
    ('1.02', '158')
    >>> ratio(AgainstBound(None, False)), ratio(AgainstBound(None, True))
    ('-', 'warming up')
    """
    times = found.times
    if times is None:
        return "warming up" if found.is_warming_up else "-"
    return f"{times:.2f}" if times < 9.995 else f"{times:,.0f}"


def introduction(settings: DemoSettings) -> str:
    """Describe the feed, the queues and the consumers."""
    keys = "1 key" if settings.keys == 1 else f"{settings.keys:,} keys"
    return (
        f"One feed of {keys} (Zipf, theta {settings.theta:g}) brings "
        f"{settings.updates_per_second:,.0f} updates a second, {settings.load:g} times what a "
        f"consumer can process ({1 / settings.processing_cost:,.0f} a second). Six queues receive "
        "every update. Each has its own consumer. They differ only in which updates they keep and "
        "which key they serve next."
    )


EXPLANATION: Final = (
    "Staleness is how long a newer update of a key has waited, in the queue or until the "
    "application has it: the mean over time since the start, then over keys. 'x bound' is the "
    "queue staleness divided by the lower bound for memoryless arrivals like these. Skipped: "
    "replaced by a newer update before it was served. A full bar is {scale:g} times the lowest row."
)

NO_OVERLOAD: Final = "At this load no update has to wait, so the lower bound is 0."


class DemoView:
    """The state of the demo, which rich prints as wide as the terminal."""

    def __init__(self, settings: DemoSettings, report: DemoReport, *, seconds: float) -> None:
        self._settings = settings
        self._report = report
        self._seconds = seconds

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines before the table, the table, and the lines after it."""
        yield Text("UpStream: where an update waits", style="bold")
        yield Text(introduction(self._settings))
        yield _table(self._report, is_wide=options.max_width >= WIDE, is_ascii=options.ascii_only)
        yield Text(EXPLANATION.format(scale=BAR_SCALE), style="dim")
        if self._settings.load <= 1:
            yield Text(NO_OVERLOAD, style="dim")
        yield self._progress()

    def _progress(self) -> Table:
        elapsed = min(self._report.elapsed, self._seconds)
        line = Table.grid(padding=(0, 1))
        progress = f"{elapsed:.1f} of {self._seconds:g} s (Ctrl-C stops)"
        line.add_row(
            ProgressBar(total=self._seconds, completed=elapsed, width=14),
            Text(f"{progress}; {self._report.arrived:,} arrived, {_delivered(self._report)}"),
        )
        return line


def _delivered(report: DemoReport) -> str:
    """Say how much the consumers delivered: about the same each, unless some idled."""
    counts = sorted({policy.statistics.delivered for policy in report.policies})
    return " to ".join(f"{count:,}" for count in {counts[0]: 0, counts[-1]: 0}) + " served"


def _table(report: DemoReport, *, is_wide: bool, is_ascii: bool) -> Table:
    table = Table(box=None, padding=(0, 2 if is_wide else 1, 0, 0), header_style="bold")
    counters = [f"\n{name}" for name in (WIDE_COUNTERS if is_wide else NARROW_COUNTERS)]
    measures = ("queue\nstaleness", "applic.\nstaleness", "x\nbound", "worst key,\nin the queue")
    names = ["\npolicy", *measures, *counters, "\nqueue staleness" if is_wide else ""]
    for name in names:
        is_number = name not in (names[0], names[-1])
        table.add_column(
            name,
            justify="right" if is_number else "left",
            no_wrap=True,
            overflow="crop" if is_ascii else "ellipsis",
        )
    least = min(policy.queue.mean for policy in report.policies)
    for policy in report.policies:
        share = policy.queue.mean / (BAR_SCALE * least) if least else 0.0
        bar = _bar(share, width=20 if is_wide else 7, is_ascii=is_ascii)
        table.add_row(*_cells(policy, is_wide=is_wide), bar)
    return table


def _cells(report: PolicyReport, *, is_wide: bool) -> list[Text]:
    counted = report.statistics
    worst = "-"
    if report.queue.worst_key is not None:
        worst = f"{report.queue.worst_key} {duration(report.queue.worst):>7}"
    cells = [
        Text(report.policy, style="bold cyan" if report.policy == BEST_POLICY else ""),
        Text(duration(report.queue.mean)),
        Text(duration(report.application.mean)),
        Text(ratio(report.queue.against_bound)),
        Text(worst),
    ]
    counters = {
        "arrived": counted.arrived,
        "waiting": counted.waiting,
        "skipped": report.skipped,
        "served": counted.delivered,
    }
    names = WIDE_COUNTERS if is_wide else NARROW_COUNTERS
    return [*cells, *(Text(f"{counters[name]:,}") for name in names)]


def _bar(share: float, *, width: int, is_ascii: bool) -> Group | Text:
    """Return a bar that is filled by `share`, or one with an arrow if that is more than 1."""
    if share > 1.0:
        return Text(("#" if is_ascii else "\N{FULL BLOCK}") * (width - 1) + ">", style="yellow")
    if is_ascii:
        return Text("#" * round(share * width), style="cyan")
    return Group(Bar(size=1.0, begin=0, end=share, width=width, color="cyan"))


def plain_line(report: DemoReport) -> str:
    """Return the state in one line: the mean queue staleness of each policy."""
    policies = ", ".join(
        f"{policy.policy} {duration(policy.queue.mean)}" for policy in report.policies
    )
    return f"{report.elapsed:5.1f} s: {policies}"


def plain_table(report: DemoReport) -> list[str]:
    """Return the state as lines that fit 80 columns and need no terminal."""
    form = "{:<11} {:>9} {:>11} {:>10} {:>15} {:>8} {:>9}"
    lines = [
        form.format("", "queue", "application", "x", "worst key,", "", ""),
        form.format(
            "policy", "staleness", "staleness", "bound", "in the queue", "waiting", "delivered"
        ),
    ]
    for policy in report.policies:
        key = "-" if policy.queue.worst_key is None else policy.queue.worst_key
        worst = f"{key} {duration(policy.queue.worst)}"
        lines.append(
            form.format(
                policy.policy,
                duration(policy.queue.mean),
                duration(policy.application.mean),
                ratio(policy.queue.against_bound),
                worst,
                f"{policy.statistics.waiting:,}",
                f"{policy.statistics.delivered:,}",
            )
        )
    return lines


def summary(report: DemoReport, *, is_stopped: bool) -> str:
    """Say in a few sentences what was measured, and what to read next."""
    append, best = report.of("append"), report.of(BEST_POLICY)
    in_place = report.of("in-place")
    over_bound = ""
    if best.queue.times_the_bound is not None:
        times = ratio(best.queue.against_bound)
        over_bound = f", {times} times the lower bound expected under memoryless arrivals"
    stopped = "Stopped after" if is_stopped else "After"
    return (
        f"{stopped} {report.elapsed:.1f} s and {report.arrived:,} updates, the append queue has "
        f"{append.statistics.waiting:,} updates waiting and a mean queue staleness of "
        f"{duration(append.queue.mean)}. An update queue that serves its keys in place has "
        f"{duration(in_place.queue.mean)}, and one that serves them by the staleness index "
        f"has {duration(best.queue.mean)}{over_bound}. {_accounting(report)} "
        "README.md shows such a queue in ten lines of Python. "
        "`python -m simulator demo --help` lists the options of the demo."
    )


def _accounting(report: DemoReport) -> str:
    if all(policy.statistics.is_balanced for policy in report.policies):
        return "Every update is accounted for in every queue."
    return "NOT every update is accounted for: this is a bug."


def as_json(
    report: DemoReport, settings: DemoSettings, *, seconds: float, is_stopped: bool
) -> Json:
    """Return the report for programs; staleness is in seconds."""
    return {
        "settings": asdict(settings) | {"seconds": seconds},
        "elapsed_seconds": report.elapsed,
        "is_stopped": is_stopped,
        "arrived": report.arrived,
        "policies": {policy.policy: _policy_as_json(policy) for policy in report.policies},
    }


def _policy_as_json(report: PolicyReport) -> Json:
    return {
        "queue_staleness_seconds": report.queue.mean,
        "application_staleness_seconds": report.application.mean,
        "queue_lower_bound_seconds_memoryless": report.queue.lower_bound,
        "application_lower_bound_seconds_memoryless": report.application.lower_bound,
        "queue_staleness_times_the_bound_memoryless": report.queue.times_the_bound,
        "is_warming_up": report.queue.against_bound.is_warming_up,
        "worst_key": report.queue.worst_key,
        "worst_queue_staleness_seconds": report.queue.worst,
        "statistics": asdict(report.statistics),
    }
