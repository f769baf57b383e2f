"""How much a client has not read, by the receive windows that it offers."""

from __future__ import annotations

import select
import socket
import sys
import time
from collections.abc import Iterator

import pytest

from api.push import receive_window
from api.push.receive_window import MOST_PATIENCE, PATIENCE, ReceiveWindow, offered_window


class Offers:
    """A window that is as the test says."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.offer: int | None = 0
        monkeypatch.setattr(receive_window, "offered_window", lambda _: self.offer)
        self.window = ReceiveWindow(socket.socket.__new__(socket.socket))

    def is_short(self, offer: int | None, now: float) -> bool:
        self.offer = offer
        return self.window.is_short(now)


@pytest.fixture
def offers(monkeypatch: pytest.MonkeyPatch) -> Offers:
    return Offers(monkeypatch)


def test_a_window_below_half_of_the_best_is_short(offers: Offers) -> None:
    offered = [64_000, 40_000, 32_000, 31_000, 33_000, 128_000, 63_000]
    assert [offers.is_short(offer, 0.0) for offer in offered] == [
        *(False, False, False, True, False),
        *(False, True),
    ]


def test_a_window_that_grows_is_waited_for(offers: Offers) -> None:
    offers.is_short(64_000, 0.0)
    assert all(offers.is_short(1_000 + second, float(second)) for second in range(60))


def test_a_window_that_does_not_grow_is_taken_for_the_best_after_a_while(offers: Offers) -> None:
    offers.is_short(64_000, 0.0)
    assert offers.is_short(30_000, 1.0)
    assert offers.is_short(30_000, 1.0 + PATIENCE)
    assert not offers.is_short(30_000, 1.01 + PATIENCE)
    assert not offers.is_short(15_000, 2.0)
    assert offers.is_short(14_000, 2.0)


def test_patience_grows_while_nothing_is_read_and_resets_when_something_is(
    offers: Offers,
) -> None:
    def patience(offer: int, now: float) -> float:
        """Return how long an offer that does not change is waited for."""
        started = now
        while offers.is_short(offer, now):
            now += 0.05
        return now - started

    offers.is_short(4**20, 0.0)
    waits = [patience(4 ** (19 - step), 100.0 * step) for step in range(8)]
    assert waits[0] == pytest.approx(PATIENCE, abs=0.11)
    assert waits[1] == pytest.approx(2 * PATIENCE, abs=0.11)
    assert waits[-1] == pytest.approx(MOST_PATIENCE, abs=0.11)
    for offer in (4**20, 1_000, 2_000):
        offers.is_short(offer, 1_000.0)
    assert patience(2_000, 1_000.0) == pytest.approx(PATIENCE, abs=0.11)


def test_without_an_offer_of_the_kernel_nothing_is_short(offers: Offers) -> None:
    assert not offers.is_short(None, 0.0)
    with socket.socket(socket.AF_UNIX) as connection:
        assert offered_window(connection) is None


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Return the two ends of a connection by TCP."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        client = socket.create_connection(listening.getsockname())
        server, _ = listening.accept()
        with client, server:
            server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            # Writable only while what was sent before is on its way.
            server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, 1_024)
            yield server, client


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells windows")
def test_the_window_is_short_while_a_client_reads_nothing(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    server, client = pair
    window = ReceiveWindow(server)
    unread = 0
    while not window.is_short(0.0):
        assert select.select([], [server], [], 10)[1], "it offers no room, and is not found out"
        unread += server.send(bytes(500))
    while unread > 0:
        unread -= len(client.recv(65_536))
    deadline = time.monotonic() + 10
    while window.is_short(0.0):
        server.send(b":")
        client.recv(16)
        assert time.monotonic() < deadline
