"""The append window queue: every window is processed, in the order in which tuples arrive.

Windows under update semantics are compared with it (report, section 6.3 and Figure 13b). Tuples
leave once, and each starter opens its windows. So the operator may have up to `overlap` open
windows per key, and each tuple updates all of them. Under overload, this queue grows without limit.
With `RandomWindowShedding` it instead drops windows at random, whichever is the most recent one.
"""

from __future__ import annotations

import random

from ...clock import Clock
from ...errors import ParameterError
from ...statistics import (
    DEFAULT_FORGETTING,
    AnyKey,
    GivenCost,
    PerKey,
    ProcessingCost,
    is_quantity,
)
from ...updates import Key, Update
from ...windows import WindowMark, WindowSpecification, WindowTuple
from ..in_process import DEFAULT_IN_PROCESS_LIMIT
from .all_windows import AllWindows, AppendPlace, Entry
from .windowed_queue import WindowedQueue, check_specification


class RandomWindowShedding:
    """Drop each window with the probability `share` when its first tuple arrives.

    `seed` starts the random numbers, so that two runs drop the same windows.

    >>> RandomWindowShedding(1.0).sheds()
    True
    """

    __slots__ = ("_random", "share")

    def __init__(self, share: float, seed: int = 0) -> None:
        if not (is_quantity(share) and share <= 1):
            raise ParameterError("share", share, "a share of the windows, from 0 to 1")
        self.share = float(share)
        self._random = random.Random(seed)

    def sheds(self) -> bool:
        """Tell whether to drop the next window."""
        return self._random.random() < self.share


class AppendWindowQueue(WindowedQueue[AppendPlace]):
    """Keep every window, and serve the tuples in the order of their arrival.

    `shedding` drops windows at random. A tuple is dropped if all of its windows are dropped. By
    default no windows are dropped.

    The other parameters are those of every `WindowedQueue`. Values are Python objects; they are not
    stored in a page pool.

    >>> from upstream import Aggregate
    >>> queue = AppendWindowQueue(WindowSpecification(size=2, slide=1))
    >>> for time in range(4):
    ...     _ = queue.enqueue("IBM", 24.0 + time, time=time)
    >>> total = Aggregate("sum")
    >>> [result.value for _ in range(6) if (result := total.process(queue.dequeue()))]
    [49.0, 51.0]
    """

    __slots__ = ("_all",)

    def __init__(
        self,
        specification: WindowSpecification,
        *,
        clock: Clock | None = None,
        shedding: RandomWindowShedding | None = None,
        rates: PerKey[AnyKey] | None = None,
        processing_cost: GivenCost | None = None,
        forgetting: float = DEFAULT_FORGETTING,
        in_process_limit: int = DEFAULT_IN_PROCESS_LIMIT,
    ) -> None:
        check_specification(specification)
        if not (shedding is None or isinstance(shedding, RandomWindowShedding)):
            raise ParameterError(
                "shedding", shedding, "a RandomWindowShedding, such as RandomWindowShedding(0.5)"
            )

        def make_all(queue: WindowedQueue[AppendPlace]) -> AllWindows:
            self._all = AllWindows(
                specification,
                queue._places,
                queue._counts,
                queue._update_rates,
                shedding=shedding,
            )
            return self._all

        super().__init__(
            specification,
            make_all,
            clock=clock,
            rates=rates,
            cost=ProcessingCost(processing_cost, forgetting),
            forgetting=forgetting,
            in_process_limit=in_process_limit,
            is_direct=shedding is None,
        )
        self._cycles.add(self._all.line)

    def dequeue(self) -> WindowTuple | None:
        """Return the next tuple or the end of a window, or None if nothing waits."""
        intake = self._intake
        now = intake.ticks() if intake.stands_alone else intake.catch_up()
        in_process = self._in_process
        window = in_process.served
        if window is not None:  # this is `note_service`, written out
            window.seconds += now - in_process.served_at
            in_process.served = None
        line = self._all.line
        while line:
            entry = line.popleft()
            progress = entry.place.progress
            if entry.window_tuple.mark is WindowMark.ABORT:
                progress.windows.popleft()
                in_process.aborted += 1
                return entry.window_tuple
            if entry.place.delivered_version != AppendPlace.FORGOTTEN:
                return self._hand_out(entry, now)
        return None

    def _hand_out(self, entry: Entry, now: float) -> WindowTuple:
        place = entry.place
        progress = place.progress
        if entry.opens:
            self._all.commit(place, entry.opens, now)
        if entry.window_tuple.update is not None:
            self._counts.used += 1
            place.buffer.held -= 1
        in_process = self._in_process
        in_process.served = progress.windows[0]
        in_process.served_at = now
        if entry.completes:
            in_process.add(progress.windows.popleft(), now)
        return entry.window_tuple

    def read(self, key: Key) -> list[Update] | None:
        """Return the tuples of `key` in the line, or None if there are none. O(tuples)."""
        self._intake.catch_up()
        place = self._find(key)
        updates = (entry.window_tuple.update for entry in self._all.line if entry.place is place)
        return [update for update in updates if update is not None] or None
