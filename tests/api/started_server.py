"""A uvicorn server in the event loop of the test, for our protocols and small applications."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from socket import socket
from typing import Any

import uvicorn


@asynccontextmanager
async def started(
    application: Any, *, sockets: Sequence[socket] | None = None, **options: Any
) -> AsyncIterator[uvicorn.Server]:
    """Serve an application until the block ends, on a free port or on what listens already."""
    config = uvicorn.Config(application, port=0, lifespan="off", log_config=None, **options)
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    listening = None if sockets is None else list(sockets)
    await server.startup(sockets=listening)
    try:
        yield server
    finally:
        await server.shutdown(sockets=listening)


def port_of(server: uvicorn.Server) -> int:
    """Return the port that a server listens on."""
    port: int = server.servers[0].sockets[0].getsockname()[1]
    return port
