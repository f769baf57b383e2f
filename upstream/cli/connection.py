"""How the commands reach the service, and what the shell is told when something goes wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import typer

from upstream import UpStreamError
from upstream.client import (
    AnswerNotUnderstoodError,
    Client,
    ServiceError,
    ServiceUnavailableError,
    ServiceUnreachableError,
)

from .output import say

REFUSED: Final = 1
"""The service, or who was asked, refused something or some of it."""
USAGE: Final = 2
"""The command line makes no sense."""
UNREACHABLE: Final = 3
"""There is no service at that address, or it cannot answer now."""
INTERRUPTED: Final = 130
"""Somebody pressed Ctrl-C."""
TERMINATED: Final = 143
"""The command was told to end (SIGTERM)."""

DEFAULT_URL: Final = "http://127.0.0.1:8000"


@dataclass(frozen=True, slots=True)
class Service:
    """Where the service is, as the command line says."""

    url: str = DEFAULT_URL
    timeout: float = 30.0


def service_of(context: typer.Context) -> Service:
    """Return the service that a command is to talk to."""
    service = context.obj
    assert isinstance(service, Service)
    return service


@contextmanager
def connected(context: typer.Context) -> Iterator[Client]:
    """Yield a client of the service; what it raises ends the command with the right exit code."""
    service = service_of(context)
    with exit_codes(), Client(service.url, timeout=service.timeout) as client:
        yield client


@contextmanager
def exit_codes() -> Iterator[None]:
    """Turn errors into a line on the error output and an exit code."""
    try:
        yield
    except (ServiceUnreachableError, ServiceUnavailableError, AnswerNotUnderstoodError) as error:
        say(f"Error: {error}")
        raise typer.Exit(UNREACHABLE) from error
    except ServiceError as error:
        say(f"Error: {error}")
        raise typer.Exit(REFUSED) from error
    except UpStreamError as error:
        raise typer.BadParameter(str(error)) from error
    except BrokenPipeError:
        raise  # whoever read the output has seen enough; typer ends quietly
    except OSError as error:
        say(f"Error: {error}")
        raise typer.Exit(REFUSED) from error
