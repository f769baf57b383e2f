"""The command line of the jobs; each command lives in a module of its own."""

from __future__ import annotations

import typer

from upstream.cli.version_option import Version

from .commands.generate import (
    generate_bursts,
    generate_taq_like,
    generate_two_class,
    generate_uniform,
    generate_zipf,
)
from .commands.linear_road import generate_linear_road
from .commands.profile_stream import profile_stream
from .commands.summarize import summarize
from .commands.taq import load_taq

app = typer.Typer(
    help="Prepare update streams with Spark, and measure how fresh queues kept them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _jobs(*, _version: Version = False) -> None:
    """Take the options before a command."""


app.command("taq")(load_taq)
app.command("zipf")(generate_zipf)
app.command("uniform")(generate_uniform)
app.command("two-class")(generate_two_class)
app.command("bursts")(generate_bursts)
app.command("taq-like")(generate_taq_like)
app.command("linear-road")(generate_linear_road)
app.command("summarize")(summarize)
app.command("profile")(profile_stream)
