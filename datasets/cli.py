"""The command line of the jobs; each command lives in a module of its own."""

from __future__ import annotations

import typer

app = typer.Typer(
    help="Prepare update streams with Spark, and work out what became of them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
