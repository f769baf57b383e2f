"""A yes-or-no question in the terminal that Ctrl-C ends at any moment.

`input()` does some work between its prompt and the system call that waits for a line. A signal that
arrives in between does not end the wait, because Python handles it only after the next line. So
this waits for the terminal and for Python's signal wakeup file at once, and reads afterwards.
"""

from __future__ import annotations

import os
import select
import signal
import sys

from .output import say

ANSWERS = {"y": True, "yes": True, "n": False, "no": False, "": False}


def is_agreed(question: str) -> bool:
    """Ask until the answer is yes or no; an empty answer means no.

    Raises KeyboardInterrupt on Ctrl-C, and EOFError when the input ends.
    """
    while True:
        sys.stderr.write(f"{question} [y/N]: ")
        sys.stderr.flush()
        _wait_for_line()
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        answer = ANSWERS.get(line.strip().lower())
        if answer is not None:
            return answer
        say("Error: please answer y or n")


def _wait_for_line() -> None:
    """Wait until a line can be read; signal handlers run meanwhile."""
    if sys.platform == "win32":
        return  # select() takes only sockets there, and Ctrl-C ends a read from the console
    signals, written = os.pipe()
    os.set_blocking(written, False)
    before = signal.set_wakeup_fd(written)
    try:
        while sys.stdin not in select.select([sys.stdin, signals], [], [])[0]:
            os.read(signals, 1)
    finally:
        signal.set_wakeup_fd(before)
        os.close(written)
        os.close(signals)
