"""`upstream rm` and `upstream reset`."""

from __future__ import annotations

import os
import pty
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from io import StringIO
from unittest.mock import patch

import pytest

from upstream.cli.remove import is_agreed
from upstream.client import Client

from .console import invoke, json_of


@pytest.fixture
def stream(name: str, client: Client) -> str:
    """Return the name of a stream with two queues and a key."""
    client.create_queue(name)
    client.create_queue(f"{name}-2", stream=name)
    client.put(name, "a", 1)
    return name


def test_a_stream_is_removed_with_its_queues(service_url: str, stream: str, client: Client) -> None:
    result = invoke("rm", "stream", stream, url=service_url)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"Removed stream {stream} and 2 queues.\n"
    assert stream not in {each.name for each in client.streams()}


def test_the_final_counters_may_be_printed(service_url: str, stream: str) -> None:
    queue = json_of("rm", "queue", f"{stream}-2", "--json", url=service_url)
    assert isinstance(queue, dict)
    assert queue["statistics"]["arrived"] == 1
    dropped = json_of("rm", "stream", stream, "--yes", "--json", url=service_url)
    assert isinstance(dropped, dict)
    assert list(dropped["queues"]) == [stream]


def test_a_queue_is_removed_without_its_stream(
    service_url: str, stream: str, client: Client
) -> None:
    result = invoke("rm", "queue", stream, url=service_url)
    assert (result.exit_code, result.stderr) == (0, f"Removed queue {stream}.\n")
    assert client.get(stream, "a").value == 1


def test_the_deletion_of_a_key_is_handed_out(service_url: str, stream: str, client: Client) -> None:
    result = invoke("rm", "key", stream, "a", url=service_url)
    assert (result.exit_code, result.stderr) == (0, "Deleted key a.\n")
    [update] = client.dequeue(stream)
    assert (update.key, update.is_deleted) == ("a", True)


def test_a_key_that_was_reset_accepts_any_time(service_url: str, name: str, client: Client) -> None:
    json_of("create", "stream", name, "--any-time", "--json", url=service_url)
    client.put(name, "a", 1, time=9e12)
    result = invoke("reset", name, "a", url=service_url)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "Reset key a.\n")
    assert client.put(name, "a", 2, time=1.0).late == 0
    client.put(name, -7, 1, time=9e12)
    assert json_of("reset", name, "-7", "--json-key", "--json", url=service_url) == {"reset": True}


def test_an_unknown_key_needs_no_reset(service_url: str, name: str, client: Client) -> None:
    client.create_stream(name)
    result = invoke("reset", name, "a", url=service_url)
    assert (result.exit_code, "is unknown" in result.stderr) == (0, True)


# The question in a terminal

PATIENCE_SECONDS = 10.0


@contextmanager
def terminal() -> Iterator[int]:
    """Put a terminal in the place of the standard files; yield the end where a person types."""
    ours, theirs = pty.openpty()
    with (
        os.fdopen(theirs, encoding="utf-8") as reading,
        os.fdopen(os.dup(theirs), "w", encoding="utf-8") as writing,
        patch.object(sys, "stdin", reading),
        redirect_stderr(writing),
    ):
        yield ours
    os.close(ours)


@pytest.mark.parametrize(
    ("typed", "answer"),
    [("y", True), ("YES", True), (" y ", True), ("n", False), ("No", False), ("", False)],
)
def test_the_answer_is_yes_only_if_yes_is_typed(typed: str, answer: bool) -> None:
    with terminal() as keyboard:
        os.write(keyboard, f"{typed}\n".encode())
        assert is_agreed("Remove it?") is answer


def test_the_question_is_repeated_until_the_answer_is_yes_or_no() -> None:
    with terminal() as keyboard, redirect_stderr(StringIO()) as written:
        os.write(keyboard, b"perhaps\ny\n")
        assert is_agreed("Remove it?")
    assert written.getvalue() == (
        "Remove it? [y/N]: Error: please answer y or n\nRemove it? [y/N]: "
    )


def test_the_end_of_the_input_raises_an_error() -> None:
    with terminal() as keyboard:
        os.write(keyboard, b"\x04")
        with pytest.raises(EOFError):
            is_agreed("Remove it?")


def test_a_signal_that_interrupts_no_system_call_ends_the_wait() -> None:
    """As a Ctrl-C does that comes just before the system call that waits.

    Here the main thread blocks the signal and another one receives it.
    """

    def press() -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    with terminal() as keyboard:
        deadline = threading.Timer(PATIENCE_SECONDS, os.write, (keyboard, b"y\n"))
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        deadline.start()
        try:
            with pytest.raises(KeyboardInterrupt), once_asked(keyboard, press):
                is_agreed("Remove it?")
        finally:
            is_in_time = deadline.is_alive()
            deadline.cancel()
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
    assert is_in_time


def test_a_signal_that_raises_nothing_does_not_end_the_wait() -> None:
    with terminal() as keyboard:
        before = signal.signal(signal.SIGUSR1, lambda *_: os.write(keyboard, b"y\n"))
        try:
            with once_asked(keyboard, lambda: os.kill(os.getpid(), signal.SIGUSR1)):
                assert is_agreed("Remove it?")
        finally:
            signal.signal(signal.SIGUSR1, before)


@contextmanager
def once_asked(keyboard: int, act: Callable[[], object]) -> Iterator[None]:
    """Act in a thread of its own once the question is asked within the block."""

    def wait_and_act() -> None:
        os.read(keyboard, 1_024)
        time.sleep(0.02)  # by then it waits for an answer, which tries more than what is before
        act()

    thread = threading.Thread(target=wait_and_act)
    thread.start()
    try:
        yield
    finally:
        thread.join()
