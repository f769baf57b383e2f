"""How the commands connect to the service, and the exit codes for errors."""

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
"""The service refused something, or the user answered no."""
USAGE: Final = 2
"""The command line is invalid."""
UNREACHABLE: Final = 3
"""The service cannot be reached, or cannot answer now."""
INTERRUPTED: Final = 130
"""The user pressed Ctrl-C."""
TERMINATED: Final = 143
"""The command was terminated (SIGTERM)."""

DEFAULT_URL: Final = "http://127.0.0.1:8000"


@dataclass(frozen=True, slots=True)
class Service:
    """The address of the service and the timeout, from the command line."""

    url: str = DEFAULT_URL
    timeout: float = 30.0


def service_of(context: typer.Context) -> Service:
    """Return the service that the command line names."""
    service = context.obj
    assert isinstance(service, Service)
    return service


@contextmanager
def connected(context: typer.Context) -> Iterator[Client]:
    """Yield a client of the service; its errors end the command with an exit code."""
    service = service_of(context)
    with exit_codes(), Client(service.url, timeout=service.timeout) as client:
        yield client


@contextmanager
def exit_codes() -> Iterator[None]:
    """Turn errors into a line on the error output and an exit code."""
    try:
        yield
    except BrokenPipeError:
        raise  # the reader of the output has closed it; typer ends quietly
    except (ServiceUnreachableError, ServiceUnavailableError, AnswerNotUnderstoodError) as error:
        say(f"Error: {error}")
        raise typer.Exit(UNREACHABLE) from error
    except (ServiceError, OSError) as error:
        say(f"Error: {error}")
        raise typer.Exit(REFUSED) from error
    except UpStreamError as error:
        raise typer.BadParameter(str(error)) from error
