"""Systems that answer a query epoch by epoch, in turn: what they do before a cut, and after it.

After the cut means: from the row that ends the epoch, which is the first one of the next, to the
result. Of two routers the second one gets there last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, count, islice, pairwise
from time import perf_counter, process_time
from typing import Any

import pyarrow as pa
import pytest

from tests.benchmarks.epoch_systems import EpochQuery, Means, System
from tests.benchmarks.packets import Packets
from tests.benchmarks.slides import Race


@dataclass(slots=True)
class Work:
    """The seconds of some work: the processor's, and the wall's."""

    processor: float = 0.0
    wall: float = 0.0

    def take(self, work: Callable[[], Any]) -> Any:
        """Do some work, and add the time that it takes."""
        wall, processor = perf_counter(), process_time()
        found = work()
        self.processor += process_time() - processor
        self.wall += perf_counter() - wall
        return found


@dataclass(slots=True)
class EpochRace:
    """What each system took for each epoch, before the cut and after it."""

    names: Sequence[str]
    before: Race = field(init=False)
    after: Race = field(init=False)

    def __post_init__(self) -> None:
        self.before, self.after = (
            Race({name: [] for name in self.names}, {name: [] for name in self.names})
            for _ in range(2)
        )

    def add(self, name: str, before: Work, after: Work) -> None:
        """Add what a system took for an epoch."""
        for race, work in ((self.before, before), (self.after, after)):
            race.processor[name].append(work.processor)
            race.wall[name].append(work.wall)


Epoch = list[list[pa.Table]]
"""The rows of each router: batches, and the first row of the next epoch."""


def race_epochs(
    query: EpochQuery,
    packets: Packets,
    systems: Mapping[str, System],
    *,
    batch: int | None,
    epochs: int = 30,
    warm_up: int = 4,
) -> EpochRace:
    """Let systems answer some epochs in turn; all must agree on each answer.

    Without a size of batches, all rows of a router come at once together with the row that cuts,
    and all of the time is that after the cut: the stress mode of the paper.
    """
    found = EpochRace(list(systems))
    try:
        chunks = (packets.epoch(number)[: query.routers] for number in count())
        for number, (this, following) in enumerate(islice(pairwise(chunks), warm_up + epochs)):
            start = min(number, 1)  # the first row of a later epoch was the cut of the one before
            epoch = _cut(this, following, start, batch or packets.rows)
            answers = []
            for name, system in systems.items():
                rows = [[system.received(each) for each in router] for router in epoch]
                answer, before, after = (_fed if batch else _stressed)(system, rows)
                answers.append(answer)
                if number >= warm_up:
                    found.add(name, before, after)
            _assert_agree(number, answers)
    finally:
        for system in systems.values():
            system.close()
    return found


def _cut(this: Sequence[pa.Table], following: Sequence[pa.Table], start: int, batch: int) -> Epoch:
    """Return the batches of an epoch from a row on, and the first row of the next epoch."""
    return [
        [*(rows.slice(at, batch) for at in range(start, rows.num_rows, batch)), after.slice(0, 1)]
        for rows, after in zip(this, following, strict=True)
    ]


def _fed(system: System, rows: list[list[Any]]) -> tuple[Means, Work, Work]:
    """Give the batches of the routers in turn, and then the rows that cut."""
    before, after = Work(), Work()
    *batches, firsts = zip(*rows, strict=True)
    for router, each in chain.from_iterable(map(enumerate, batches)):
        before.take(partial(system.arrive, router, each))
    for each in firsts[:-1]:
        before.take(partial(system.ahead, each))
    answer = after.take(partial(system.cut, firsts[-1]))
    before.take(partial(system.start, firsts))
    return answer, before, after


def _stressed(system: System, rows: list[list[Any]]) -> tuple[Means, Work, Work]:
    """Give all rows of each router at once."""
    before, after = Work(), Work()
    chunks, firsts = zip(*rows, strict=True)
    answer = after.take(partial(system.at_once, chunks, firsts))
    before.take(partial(system.start, firsts))
    return answer, before, after


def _assert_agree(number: int, answers: Sequence[Means]) -> None:
    """Assert that all systems gave the one answer of an epoch."""
    for answer in answers:
        assert list(answer) == [number]
        assert answer[number] == pytest.approx(answers[0][number], rel=1e-6)
