"""What users give to queues, which fails when it is told to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from upstream import RandomShedding, RandomWindowShedding


class CallFailedError(Exception):
    """What a callable raises at the chosen call."""


class KeyCallFailedError(CallFailedError, KeyError):
    """The same, which code that catches too much mistakes for a missing key."""


class Failures:
    """Let the call number `at` of the callable `name` fail, once."""

    def __init__(self, name: str = "", at: int = 0) -> None:
        self.name = name
        self.at = at
        self.calls: Counter[str] = Counter()
        self.is_armed = False
        self.failed = 0

    def ask(self, name: str) -> None:
        if not self.is_armed:
            return
        self.calls[name] += 1
        if name == self.name and self.calls[name] == self.at:
            self.failed += 1
            raise KeyCallFailedError if self.at % 2 else CallFailedError


class FailingKey:
    """A key that is asked for its hash, and whether it equals another with the same hash."""

    def __init__(self, name: str, failures: Failures) -> None:
        self.name = name
        self.failures = failures

    def __hash__(self) -> int:
        self.failures.ask("hash")
        return ord(self.name[0]) % 3

    def __eq__(self, other: object) -> bool:
        self.failures.ask("eq")
        return isinstance(other, FailingKey) and self.name == other.name

    def __repr__(self) -> str:
        return self.name


class FailingColumn(list[object]):
    """A column that is read row by row."""

    def __init__(self, values: list[object], failures: Failures) -> None:
        super().__init__(values)
        self.failures = failures

    def __iter__(self) -> Iterator[object]:
        for value in super().__iter__():
            self.failures.ask("column")
            yield value


class FailingClock:
    def __init__(self, failures: Failures) -> None:
        self.failures = failures
        self.time = 0.0

    def now(self) -> float:
        self.failures.ask("clock")
        return self.time


class FailingCodec:
    def __init__(self, failures: Failures) -> None:
        self.failures = failures

    def encode(self, value: object) -> bytes:
        self.failures.ask("encode")
        return str(value).encode()

    def decode(self, data: bytes) -> object:
        self.failures.ask("decode")
        return int(data)


class FailingShedding(RandomShedding):
    def __init__(self, failures: Failures) -> None:
        super().__init__(seed=1)
        self.failures = failures

    def victim(self, waiting: int) -> int:
        self.failures.ask("victim")
        return super().victim(waiting)


class FailingWindowShedding(RandomWindowShedding):
    def __init__(self, failures: Failures) -> None:
        super().__init__(0.4, seed=1)
        self.failures = failures

    def sheds(self) -> bool:
        self.failures.ask("sheds")
        return super().sheds()
