"""The server: uvicorn, configured so that push stays fresh and a shutdown takes seconds."""

from __future__ import annotations

import errno
import gc
import socket
import sys
from typing import Final

import uvicorn

from upstream import UpStreamError

from .application import create_application
from .dispatch import Dispatch
from .logs import dict_config
from .protocols import MOST_MESSAGE_BYTES, SocketProtocol, patient
from .settings import Settings

ALLOCATIONS_BETWEEN_COLLECTIONS: Final = 50_000
"""A batch makes thousands of objects that live until the next batch. Looking earlier is useless."""


ANOTHER_PORT: Final = "--port 8001, or make run RUN_ARGS='--port 8001'"


class Server(uvicorn.Server):
    """A uvicorn server that prints its address, and ends push connections when it stops."""

    def __init__(self, config: uvicorn.Config, application: Dispatch) -> None:
        super().__init__(config)
        self._application = application

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen, and print the address."""
        await super().startup(sockets)
        if self.started:
            for address in self.addresses():
                sys.stderr.write(f"UpStream listens on {address}\n")
                sys.stderr.write(f"Open {address}/ for the page, {address}/docs for the API.\n")
            sys.stderr.write(f"To use another port: {ANOTHER_PORT}\n")
            sys.stderr.flush()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End push connections and waiting requests, and then stop."""
        self._application.service.begin_shutdown()
        await super().shutdown(sockets)

    def addresses(self) -> list[str]:
        """Return the addresses at which the service can be reached."""
        names = [listening.getsockname() for server in self.servers for listening in server.sockets]
        return [
            f"http://[{name[0]}]:{name[1]}" if ":" in name[0] else f"http://{name[0]}:{name[1]}"
            for name in names
        ]


class CannotListenError(UpStreamError, OSError):
    """The service cannot listen at its address."""

    def __init__(self, host: str, port: int, reason: str, *, is_in_use: bool) -> None:
        self.host = host
        self.port = port
        self.reason = reason
        hint = f"; choose another port: {ANOTHER_PORT}"
        super().__init__(
            f"cannot listen on {host}, port {port}: {reason}{hint if is_in_use else ''}"
        )

    def __str__(self) -> str:
        return str(self.args[0])


def check_address(host: str, port: int) -> None:
    """Raise CannotListenError if the service cannot listen there.

    uvicorn reports it only after the application has started, and does not say what to do.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, kind, protocol, _, address in found:
            with socket.socket(family, kind, protocol) as trial:
                trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    trial.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                trial.bind(address)
                trial.listen()  # one can bind to an address in use, but not listen
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        is_in_use = error.errno == errno.EADDRINUSE
        raise CannotListenError(host, port, reason, is_in_use=is_in_use) from error


def make_server(settings: Settings) -> Server:
    """Return a server for these settings, which `run` starts."""
    application = create_application(settings)
    config = uvicorn.Config(
        application,
        host=settings.host,
        port=settings.port,
        http=patient(settings.header_timeout_seconds),
        ws=SocketProtocol,
        ws_max_size=MOST_MESSAGE_BYTES,
        ws_per_message_deflate=False,  # it takes 300 kB for each connection
        ws_ping_interval=settings.heartbeat_seconds,
        lifespan="on",
        log_config=dict_config(settings),
        access_log=settings.access_log,
        server_header=False,
        proxy_headers=bool(settings.trusted_proxies),  # else a client could claim any address
        forwarded_allow_ips=list(settings.trusted_proxies),
        timeout_graceful_shutdown=int(settings.shutdown_seconds),
    )
    return Server(config, application)


def serve(settings: Settings) -> bool:
    """Serve until the process is told to stop; return whether the service ever started.

    Raises CannotListenError if the address is not available.
    """
    check_address(settings.host, settings.port)
    server = make_server(settings)
    gc.set_threshold(ALLOCATIONS_BETWEEN_COLLECTIONS, 20, 20)
    gc.freeze()
    server.run()
    return server.started
