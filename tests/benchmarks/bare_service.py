"""What the service is measured against: a Starlette route that decodes a body into a dict.

Run by uvicorn as the service is, in a process of its own.
"""

from __future__ import annotations

import socket
import sys

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


class BareUpdate(msgspec.Struct):
    key: str
    value: object
    time: float


NEWEST: dict[str, BareUpdate] = {}
_batch = msgspec.json.Decoder(list[BareUpdate])
_single = msgspec.json.Decoder(BareUpdate)


async def take_updates(request: Request) -> Response:
    body = await request.body()
    if body.startswith(b"["):
        updates = _batch.decode(body)
        for update in updates:
            NEWEST[update.key] = update
        count = len(updates)
    else:
        update = _single.decode(body)
        NEWEST[update.key] = update
        count = 1
    answer = msgspec.json.encode({"taken": count})
    return Response(answer, 202, media_type="application/json")


app = Starlette(routes=[Route("/v1/streams/{stream}/updates", take_updates, methods=["POST"])])


class Server(uvicorn.Server):
    """Tells where it listens, as the service does."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup()
        host, port = self.servers[0].sockets[0].getsockname()
        print(f"UpStream listens on http://{host}:{port}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    config = uvicorn.Config(app, port=0, access_log=False, log_level="warning")
    Server(config).run()
