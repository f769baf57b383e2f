"""Ask a yes-or-no question in the terminal; Ctrl-C ends it at any moment.

`input()` does some work between its prompt and the system call that waits for a line. A signal that
comes in between does not end the wait: Python handles it after the next line. So we wait for the
terminal and for the file that Python writes each signal to, both at once, and read afterwards.
"""

from __future__ import annotations

import os
import select
import signal
import sys

from .output import say

ANSWERS = {"y": True, "yes": True, "n": False, "no": False, "": False}


def is_agreed(question: str) -> bool:
    """Ask until the answer is yes or no, which it is by default.

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
        say("Error: answer y or n")


def _wait_for_line() -> None:
    """Wait until a line can be read without blocking; signal handlers run meanwhile."""
    if sys.platform == "win32":
        return  # select() takes sockets only there; reading from the console is ended by Ctrl-C
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
