"""The option `--version`, which every command line of UpStream has."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from upstream.version import __version__


def show_version(is_asked: bool) -> None:
    """Print the name and the version, and exit, if the option is given."""
    if is_asked:
        typer.echo(f"UpStream {__version__}")
        raise typer.Exit


Version: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--version", callback=show_version, is_eager=True, help="Print the version and exit."
    ),
]
