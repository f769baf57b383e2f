"""A network that loses things, between a client and the service, on the loopback.

It passes bytes on, and cuts connections at random: before a request reached the service, or after
the service has acted and before its answer got back, which the client cannot tell apart.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from random import Random
from urllib.parse import urlsplit


class LossyProxy:
    """Listens, and passes on what it does not lose. `hides_keys` renames idempotency keys away."""

    def __init__(self, url: str, *, loss: float, seed: int, hides_keys: bool = False) -> None:
        parts = urlsplit(url)
        assert parts.hostname is not None
        assert parts.port is not None
        self._target = parts.hostname, parts.port
        self._loss = loss
        self._random = Random(seed)
        self._hides_keys = hides_keys
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._threads: list[threading.Thread] = []
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self.lost_requests = 0
        self.lost_answers = 0
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def start(self) -> None:
        """Begin to take connections."""
        self._begin(self._accept)

    def stop(self) -> None:
        """Cut all connections, and wait until nothing is left."""
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        with self._lock:
            remaining = list(self._open)
        for connection in remaining:
            _cut(connection)
        for thread in self._threads:
            thread.join()

    def _begin(self, target: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=target, args=args)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            self._begin(self._serve, client)

    def _serve(self, client: socket.socket) -> None:
        with ExitStack() as stack:
            stack.enter_context(client)
            try:
                server = stack.enter_context(socket.create_connection(self._target))
            except OSError:
                return
            for each in (client, server):  # what is passed on in parts must not wait for a receipt
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self._open |= {client, server}
            upward = threading.Thread(target=self._pass_on, args=(client, server, True))
            upward.start()
            self._pass_on(server, client, False)
            upward.join()
            with self._lock:
                self._open -= {client, server}

    def _pass_on(self, source: socket.socket, sink: socket.socket, is_request: bool) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                if self._is_lost(is_request=is_request):
                    break
                if self._hides_keys:
                    data = data.replace(b"Idempotency-Key:", b"Idempotency-Not:")
                sink.sendall(data)
        _cut(source)
        _cut(sink)

    def _is_lost(self, *, is_request: bool) -> bool:
        with self._lock:
            if self._random.random() >= self._loss:
                return False
            if is_request:
                self.lost_requests += 1
            else:
                self.lost_answers += 1
            return True


def _cut(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


@contextmanager
def lossy_proxy(
    url: str, *, loss: float = 0.3, seed: int = 1, hides_keys: bool = False
) -> Iterator[LossyProxy]:
    """Yield a proxy for the service at `url` that loses this share of what it is given."""
    proxy = LossyProxy(url, loss=loss, seed=seed, hides_keys=hides_keys)
    proxy.start()
    try:
        yield proxy
    finally:
        proxy.stop()
