"""The command line: `python -m api`."""

from __future__ import annotations

import logging
from typing import Annotated

import typer

from upstream.cli.version_option import Version

from .logs import configure
from .server import CannotListenError, serve
from .settings import SettingsError, describe, load_settings, warnings_of

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command()
def run(
    *,
    host: Annotated[
        str | None, typer.Option(help="The address to listen on.", show_default="127.0.0.1")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65_535,
            help="The port to listen on; 0 chooses a free one.",
            show_default="8000",
        ),
    ] = None,
    demo: Annotated[
        bool | None,
        typer.Option(
            "--demo/--no-demo", help="Run a demo feed with four queues.", show_default="demo"
        ),
    ] = None,
    _version: Version = False,
    lists: Annotated[bool, typer.Option("--settings", help="List all settings, and exit.")] = False,
) -> None:
    """Run the service: streams and queues over HTTP, and a page that shows their staleness.

    Every setting can be given as UPSTREAM_NAME in the environment. An option takes precedence.
    `--settings` lists all settings.
    """
    if lists:
        list_settings()
        return
    given = {"host": host, "port": port, "demo": demo}
    try:
        loaded = load_settings({name: value for name, value in given.items() if value is not None})
    except SettingsError as error:
        typer.echo(error, err=True)
        raise typer.Exit(2) from None
    configure(loaded)
    for warning in warnings_of():
        logging.getLogger("api").warning(warning)
    try:
        has_started = serve(loaded)
    except SettingsError as error:  # such as a folder that is not writable
        typer.echo(error, err=True)
        raise typer.Exit(2) from None
    except CannotListenError as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(1) from None
    if not has_started:
        raise typer.Exit(1)


def list_settings() -> None:
    """Print every setting with its default, its meaning, and the values it accepts."""
    for setting in describe():
        typer.echo(f"{setting.variable}={setting.default}")
        typer.echo(f"    {setting.description}")
        typer.echo(f"    Expected: {setting.expected}")
