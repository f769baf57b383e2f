"""The command line of the simulator; each command lives in a module of its own."""

from __future__ import annotations

from typing import Annotated

import typer

from upstream.cli.version_option import Version

from .commands.advise_policy import advise_policy
from .commands.option_checks import not_negative, positive
from .commands.run_figures import list_experiments, run_all, run_figure
from .commands.run_policies import run_policies
from .demo.command import run_demo
from .demo.demo import DemoSettings

app = typer.Typer(
    help="Watch and measure how fresh data stays under each queueing policy.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)

_DEFAULTS = DemoSettings()


@app.callback()
def _simulator(*, _version: Version = False) -> None:
    """Take the options before a command."""


app.command("list")(list_experiments)
app.command("figure")(run_figure)
app.command("all")(run_all)
app.command("run")(run_policies)
app.command("advise")(advise_policy)


@app.command()
def demo(
    *,
    seconds: Annotated[
        float, typer.Option(max=600, callback=positive, help="How many seconds the demo runs.")
    ] = 15.0,
    keys: Annotated[
        int, typer.Option(min=1, max=100_000, help="How many keys the feed has.")
    ] = _DEFAULTS.keys,
    theta: Annotated[
        float,
        typer.Option(
            max=10,
            callback=not_negative,
            help="Skew of the keys: 0 is none, 1 is Zipf's law.",
        ),
    ] = _DEFAULTS.theta,
    load: Annotated[
        float,
        typer.Option(
            max=1_000,
            callback=positive,
            help="How many times faster the feed is than each consumer.",
        ),
    ] = _DEFAULTS.load,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the feed.")] = _DEFAULTS.seed,
    is_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object at the end and nothing else.")
    ] = False,
) -> None:
    """Watch side by side how queues of six policies keep up with a fast feed.

    One feed, six queues and six consumers of the same speed run in real time: an append queue, an
    adaptive queue, and update queues that serve their keys first-in first-out, in place, by
    linecutting and by the staleness index. The demo shows the mean staleness of each queue so far,
    how many times the lower bound that is, and what happened to the updates.
    """
    settings = DemoSettings(keys=keys, theta=theta, load=load, seed=seed)
    run_demo(settings, seconds=seconds, is_json=is_json)
