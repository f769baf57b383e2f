"""How a stream processes batches: row by row, or conflated before any work per key."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import itemgetter

import numpy as np

from ...columns import (
    CodedKeys,
    Column,
    as_list,
    check_key,
    checked_rows,
    conflate,
    float_times,
    is_columnar,
    pick,
    read_keys,
    read_times,
)
from ...errors import PagePoolFullError
from ...held_interrupt import uninterrupted
from ...keys import KeyCell, KeyTable
from ...updates import BatchOutcome, Key, Outcome, Tombstone, count_outcomes
from .admission import Admission
from .intake import Intake

_WAITING = Outcome.WAITING


class BatchIntake:
    """Process the batches of one stream, with the same result as its `Intake` has row by row."""

    __slots__ = ("_admission", "_intake", "_keys")

    def __init__(self, intake: Intake, keys: KeyTable, admission: Admission) -> None:
        self._intake = intake
        self._keys = keys
        self._admission = admission

    @uninterrupted
    def take(self, keys: Column, values: Column, times: Column | None) -> BatchOutcome:
        """Process a batch (`enqueue_many`)."""
        intake = self._intake
        now = intake.ticks()
        intake.deadlines.catch_up_to(now)
        self._keys.sweep()
        checked_rows(keys, values, times)
        if is_columnar(keys) and intake.is_by_reference and not intake.can_refuse:
            coded = read_keys(keys)
            if isinstance(coded, CodedKeys):
                try:
                    return self._take_coded(coded, values, times, now)
                finally:
                    self._end_call()
            keys = coded
        return self._take_rows(as_list("keys", keys), as_list("values", values), times, now)

    def _take_rows(
        self, keys: list[Key], values: list[object], times: Column | None, now: float
    ) -> BatchOutcome:
        intake = self._intake
        moments = self._moments(times, len(keys), now)
        stored = values
        if not intake.values.are_references:
            stored = [intake.values.encode(value, row) for row, value in enumerate(values)]
        try:
            cells = self._find_known(keys) or self._find_all(keys)
            intake.ask()
            if intake.is_by_reference and not intake.can_refuse:
                return self._take_references(cells, values, moments, now)
            self._keys.is_kept = True
            if self._may_forget(values):
                self._admission.ask_again(cells)
            outcomes = []
            for cell, value, encoded, time in zip(cells, values, stored, moments, strict=True):
                try:
                    outcomes.append(intake.take_in(cell, value, encoded, time, now))
                except PagePoolFullError:
                    intake.note_pool_full()
                    outcomes.append(Outcome.REJECTED)
        finally:
            self._end_call()
        return count_outcomes(outcomes)

    def _moments(self, times: Column | None, rows: int, now: float) -> Sequence[float]:
        if times is None:
            return [now + self._intake.origin] * rows
        if isinstance(times, list):
            return float_times(times)
        moments: list[float] = read_times(times).tolist()
        return moments

    def _find_known(self, keys: list[Key]) -> Sequence[KeyCell] | None:
        """Return the cells of `keys`, or None unless all of them are known."""
        try:
            cells = self._keys.cells
            # All in one call, which works only for two or more keys.
            return itemgetter(*keys)(cells) if len(keys) > 1 else [cells[keys[0]]]
        except (KeyError, IndexError, TypeError):
            return None

    def _find_all(self, keys: list[Key]) -> Sequence[KeyCell]:
        """Return the cells of `keys`. New keys are checked, and their cells are closed."""
        try:
            cells = list(map(self._keys.cells.get, keys))
        except TypeError:
            for row, key in enumerate(keys):
                check_key(key, row)
            raise
        new = {keys[row]: row for row, cell in enumerate(cells) if cell is None}
        reserved = self._reserve_checked(new)
        return [
            reserved[key] if cell is None else cell for key, cell in zip(keys, cells, strict=True)
        ]

    def _reserve_checked(self, rows: dict[Key, int]) -> dict[Key, KeyCell]:
        """Return closed cells for all new keys of a batch. `rows` has a row of each for errors."""
        for key, row in rows.items():
            check_key(key, row)
        return self._admission.reserve_all(rows) if rows else {}

    def _may_forget(self, values: list[object]) -> bool:
        """Tell whether one row may forget a known key that a later row adds again."""
        intake = self._intake
        if intake.log is not None and intake.forgetting.after is not None:
            return True  # when the log is read
        if intake.has_listeners and intake.values.are_references and not intake.can_refuse:
            return False
        return Tombstone in set(map(type, values))

    def _take_references(
        self,
        cells: Sequence[KeyCell],
        values: list[object],
        times: Sequence[float],
        now: float,
    ) -> BatchOutcome:
        """Process rows that cannot be rejected. This is the library's hottest loop."""
        start = self._intake.start
        self._admission.open_all(now)
        waiting = late = 0
        for cell, value, time in zip(cells, values, times, strict=True):
            if cell.time <= time:
                if cell.idle is not None and start(cell, cell.idle, now, 1) is _WAITING:
                    waiting += 1
                cell.version += 1
                cell.value = value
                cell.time = time
                cell.arrival = now
            else:
                late += 1
        self._intake.arrived += len(cells)
        self._intake.late += late
        return BatchOutcome(
            waiting=waiting, superseded=len(cells) - waiting - late, late=late, rejected=0
        )

    def _take_coded(
        self, coded: CodedKeys, values: Column, times: Column | None, now: float
    ) -> BatchOutcome:
        """Process rows that cannot be rejected, conflated before any work per key."""
        intake = self._intake
        rows = len(coded)
        keys = coded.keys
        if times is None:
            moments = np.broadcast_to(np.float64(now + intake.origin), rows)
        else:
            moments = read_times(times)
        cells = list(map(self._keys.cells.get, keys))
        newest = np.array([-math.inf if cell is None else cell.time for cell in cells])
        conflated = conflate(coded.codes, moments, newest)
        last_rows = conflated.last_rows
        codes = conflated.codes.tolist()
        # Only keys with rows; a dictionary may have more.
        new = [code for code in codes if cells[code] is None]
        picked = pick("values", values, last_rows)
        times_picked = moments[last_rows].tolist()
        counts = conflated.counts.tolist()
        if new:
            last_row = dict(zip(codes, last_rows.tolist(), strict=True))
            reserved = self._reserve_checked({keys[code]: last_row[code] for code in new})
            for code, cell in zip(new, reserved.values(), strict=True):
                cells[code] = cell
        intake.ask()
        self._admission.open_all(now)
        waiting = 0
        for code, count, value, time in zip(codes, counts, picked, times_picked, strict=True):
            cell = cells[code]
            idle = cell.idle
            if idle is not None and intake.start(cell, idle, now, count) is _WAITING:
                waiting += 1
            cell.version += count
            cell.value = value
            cell.time = time
            cell.arrival = now
        intake.arrived += rows
        intake.late += conflated.late
        return BatchOutcome(
            waiting=waiting,
            superseded=rows - waiting - conflated.late,
            late=conflated.late,
            rejected=0,
        )

    def _end_call(self) -> None:
        """Forget the answers about keys that were not added, and raise a reader's exception."""
        self._admission.end_call()
        if self._intake.log is not None:
            self._intake.log.raise_failure()
