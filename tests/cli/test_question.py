"""Questions in a terminal."""

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

from upstream.cli.question import is_agreed

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
def test_the_answer_is_yes_only_if_that_is_typed(typed: str, answer: bool) -> None:
    with terminal() as keyboard:
        os.write(keyboard, f"{typed}\n".encode())
        assert is_agreed("Remove it?") is answer


def test_what_is_neither_yes_nor_no_is_asked_about_again() -> None:
    with terminal() as keyboard, redirect_stderr(StringIO()) as written:
        os.write(keyboard, b"perhaps\ny\n")
        assert is_agreed("Remove it?")
    assert written.getvalue() == (
        "Remove it? [y/N]: Error: please answer y or n\nRemove it? [y/N]: "
    )


def test_the_end_of_the_input_is_no_answer() -> None:
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
