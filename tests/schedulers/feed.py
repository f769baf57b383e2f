"""A feed that drives schedulers directly: what a stream and its queues do, without values."""

from __future__ import annotations

from dataclasses import dataclass

from upstream.keys import ArrivalOrder, KeyCell, KeyTable, Place
from upstream.schedulers import Scheduler, Surroundings
from upstream.statistics import EstimatedRates, ProcessingCost, UpdateRates


@dataclass(frozen=True, slots=True)
class Served:
    """A key that was handed out, with what is needed to give it back."""

    key: str
    place: Place
    version: int
    arrival: float


def no_place(cell: KeyCell) -> Place | None:
    """Tell of any key that it has no place; for schedulers that are not to serve any."""
    return None


class Line:
    """One scheduler, with the places of its keys; what an update queue is to a scheduler."""

    def __init__(self, feed: Feed, scheduler: Scheduler, *, cost: float | None = None) -> None:
        self.feed = feed
        self.scheduler = scheduler
        self.places: dict[KeyCell, Place] = {}
        self.cost = ProcessingCost(cost)

    def bind(self, *, from_oldest: bool = False) -> None:
        self.scheduler.bind(
            Surroundings(
                rates=self.feed.rates,
                cost=self.cost,
                place_of=self.places.get,
                order=self.feed.order,
                from_oldest=from_oldest,
            )
        )
        for cell in self.feed.table:
            self.open_place(cell)
        if from_oldest:
            for cell in self.feed.order:
                self.start_to_wait(self.places[cell], cell.version, self.feed.now)

    def unbind(self) -> None:
        for place in list(self.scheduler):
            self.drop(place)
        for cell, place in self.places.items():
            cell.remove_idle(place)
        self.places.clear()
        self.scheduler.unbind()

    def open_place(self, cell: KeyCell) -> None:
        place = self.places[cell] = Place(cell, self)
        cell.add_idle(place)
        self.scheduler.welcome(cell, self.scheduler.terms_for(cell.key))

    def start_to_wait(self, place: Place, version: int, now: float, rows: int = 1) -> bool:
        place.cell.remove_idle(place)
        place.waiting_since = now
        place.version_before = version - 1
        self.scheduler.schedule(place)
        return True

    def waits(self, key: str) -> bool:
        return self.place_of(key).waiting_since is not None

    def place_of(self, key: str) -> Place:
        return self.places[self.feed.table.cells[key]]

    def keys(self) -> list[str]:
        """Return the keys as the scheduler lists them."""
        return [str(place.cell.key) for place in self.scheduler]

    def peek(self) -> str | None:
        place = self.scheduler.next(self.feed.now)
        return None if place is None else str(place.cell.key)

    def serve(self) -> Served | None:
        place = self.scheduler.take(self.feed.now)
        if place is None:
            return None
        cell = place.cell
        self.end_wait(place)
        return Served(str(cell.key), place, cell.version, cell.arrival)

    def serve_key(self) -> str | None:
        served = self.serve()
        return None if served is None else served.key

    def drain(self, *, seconds_each: float = 0.0) -> list[str]:
        """Serve all keys that wait, and return them in their order."""
        keys = []
        while (key := self.serve_key()) is not None:
            keys.append(key)
            self.feed.now += seconds_each
        return keys

    def give_back(self, served: Served) -> bool:
        """Let the key wait again; False if it has arrived again meanwhile."""
        place = served.place
        if place.version_before >= served.version:
            return False
        place.cell.remove_idle(place)
        place.version_before = place.cell.version - 1
        place.waiting_since = served.arrival
        self.scheduler.restore(place)
        return True

    def drop(self, place: Place) -> None:
        """Let an update expire."""
        self.scheduler.remove(place)
        self.end_wait(place)

    def expire(self, key: str) -> None:
        self.drop(self.place_of(key))

    def end_wait(self, place: Place) -> None:
        place.waiting_since = None
        place.cell.add_idle(place)


class Feed:
    """Keys, their order of arrival and their rates, and the lines that they wait in."""

    def __init__(self, rates: UpdateRates | None = None) -> None:
        self.now = 0.0
        self.table = KeyTable()
        self.order = ArrivalOrder()
        self.rates: UpdateRates = EstimatedRates() if rates is None else rates
        self.lines: list[Line] = []

    def attach(
        self, scheduler: Scheduler, *, cost: float | None = None, from_oldest: bool = False
    ) -> Line:
        line = Line(self, scheduler, cost=cost)
        line.bind(from_oldest=from_oldest)
        self.lines.append(line)
        return line

    def detach(self, line: Line) -> None:
        line.unbind()
        self.lines.remove(line)

    def arrive(self, *keys: str, seconds_each: float = 0.0) -> None:
        """Let updates arrive, as a stream would take them in."""
        for key in keys:
            cell = self.table.cells.get(key)
            if cell is None:
                cell = self.table.add(key, time=self.now, arrival=self.now)
                self.rates.begin(cell, self.rates.given(key))
                for line in self.lines:
                    line.open_place(cell)
                self.order.append(cell)
            for place in cell.idle_places():
                place.owner.start_to_wait(place, cell.version + 1, self.now)
            cell.version += 1
            cell.time = cell.arrival = self.now
            self.order.move_to_newest(cell)
            self.now += seconds_each

    def forget(self, key: str) -> None:
        cell = self.table.cells[key]
        for line in self.lines:
            place = line.places.pop(cell)
            if place.waiting_since is not None:
                line.drop(place)
            cell.remove_idle(place)
        self.order.remove(cell)
        self.table.remove(cell)

    def _check(self) -> None:
        self.table._check()
        self.order._check()
        for line in self.lines:
            line.scheduler._check()
            waiting = {
                cell.key for cell, place in line.places.items() if place.waiting_since is not None
            }
            listed = line.keys()
            assert len(listed) == len(set(listed)) == len(line.scheduler), "a key listed twice"
            assert set(listed) == waiting
