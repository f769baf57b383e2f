"""Plans in plain dicts and lists: what a plan over update streams means, written down directly.

An arc is a list, in which an update arc keeps one update of each key. An operator takes all of it
at once. Keys have nothing to do with one another, so results are compared for each key.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

from upstream import Stream, Update
from upstream.plans import Arc, Filter, Join, Map, Operator, Source, Union

from .setting import number_of

UNLUCKY = 13


class ModelArc:
    """What waits on an arc; conflated unless the arc is one that appends."""

    def __init__(self, policy: str) -> None:
        self._appends = policy == "append"
        self._newest: dict[object, float] = {}
        self.waiting: list[Update] = []

    def put(self, update: Update) -> None:
        if not self._appends:
            if update.time < self._newest.get(update.key, update.time):
                return
            self._newest[update.key] = update.time
            self.waiting = [other for other in self.waiting if other.key != update.key]
        self.waiting.append(update)

    def take(self) -> list[Update]:
        taken, self.waiting = self.waiting, []
        return taken


class ModelOperator(ABC):
    """An operator, its input arcs, and the arc after it."""

    output: ModelArc

    def __init__(self, *policies: str) -> None:
        self.arcs = [ModelArc(policy) for policy in policies]

    def run(self) -> None:
        for update in self.process([arc.take() for arc in self.arcs]):
            self.output.put(update)

    @abstractmethod
    def process(self, inputs: list[list[Update]]) -> list[Update]: ...


class ModelFilter(ModelOperator):
    def process(self, inputs: list[list[Update]]) -> list[Update]:
        lucky = [update for update in inputs[0] if update.value != UNLUCKY]
        return [update for update in lucky if number_of(update) % 3]


class ModelMap(ModelOperator):
    def process(self, inputs: list[list[Update]]) -> list[Update]:
        lucky = [update for update in inputs[0] if update.value != UNLUCKY]
        return [update._replace(value=number_of(update) + 1) for update in lucky]


class ModelUnion(ModelOperator):
    def __init__(self, *policies: str) -> None:
        super().__init__(*policies)
        self._last: dict[object, tuple[float, int]] = {}

    def process(self, inputs: list[list[Update]]) -> list[Update]:
        best: dict[object, tuple[tuple[float, int], Update]] = {}
        for rank, updates in enumerate(inputs):
            for update in updates:
                age = (update.time, -rank)
                if age >= max(best.get(update.key, (age,))[0], self._last.get(update.key, age)):
                    best[update.key] = age, update
        self._last |= {key: age for key, (age, _) in best.items()}
        return [update for _, update in best.values()]


class ModelJoin(ModelOperator):
    def __init__(self, *policies: str, window: float) -> None:
        super().__init__(*policies)
        self._window = window
        self._seen: tuple[list[Update], list[Update]] = ([], [])
        self._last: dict[object, tuple[float, ...]] = {}

    def process(self, inputs: list[list[Update]]) -> list[Update]:
        batch = [(side, update) for side, updates in enumerate(inputs) for update in updates]
        made = []
        for side, update in sorted(batch, key=lambda each: each[1].time):
            made += self._match(side, update)
            own = self._seen[side]
            own[:] = [each for each in own if (each.key, each.time) != (update.key, update.time)]
            own.append(update)
        return made

    def _match(self, side: int, update: Update) -> list[Update]:
        """Return the most recent match of an update, if it is more recent than the last one.

        An update that its own input had passed by more than the window is past, whatever comes.
        """
        passed = [each.time for each in self._seen[side] if each.key == update.key]
        earliest = max(passed, default=-math.inf) - self._window
        pairs = [
            (each, update) if side else (update, each)
            for each in self._seen[1 - side]
            if each.key == update.key
            and each.time >= earliest
            and abs(each.time - update.time) <= self._window
        ]
        pairs = [pair for pair in pairs if (number_of(pair[0]) + number_of(pair[1])) % 2]
        if not pairs:
            return []
        left, right = max(pairs, key=lambda pair: recency(*pair))
        if recency(left, right) < self._last.get(update.key, ()):
            return []
        self._last[update.key] = recency(left, right)
        return [Update(update.key, combined(left, right), recency(left, right)[0])]


def recency(left: Update, right: Update) -> tuple[float, ...]:
    return max(left.time, right.time), min(left.time, right.time), left.time


# The same functions, as the plans have them.


def is_wanted(update: Update) -> bool:
    if update.value == UNLUCKY:
        raise ValueError("unlucky")
    return bool(number_of(update) % 3)


def next_number(update: Update) -> float:
    if update.value == UNLUCKY:
        raise ValueError("unlucky")
    return number_of(update) + 1


def is_odd_pair(left: Update, right: Update) -> bool:
    return bool((number_of(left) + number_of(right)) % 2)


def combined(left: Update, right: Update) -> float:
    return 2 * number_of(left) + number_of(right)


@dataclass
class ModelPlan:
    """A plan of sources, filters, maps, unions and joins, in the model."""

    operators: list[ModelOperator]
    """In the order in which they run."""
    sources: list[tuple[Stream, ModelArc]]
    results: ModelArc

    @classmethod
    def of(cls, arc: Arc) -> ModelPlan:
        plan = cls([], [], ModelArc(policy_of(arc)))
        plan._add(arc.operator, plan.results)
        return plan

    def _add(self, operator: Operator, output: ModelArc) -> None:
        if isinstance(operator, Source):
            self.sources.append((operator.stream, output))
            return
        model = model_of(operator)
        model.output = output
        for arc, waiting in zip(operator.arcs, model.arcs, strict=True):
            self._add(arc.operator, waiting)
        self.operators.append(model)

    def arrive(self, stream: Stream, update: Update) -> None:
        for source, arc in self.sources:
            if source is stream:
                arc.put(update)

    def run(self) -> None:
        for operator in self.operators:
            operator.run()


def model_of(operator: Operator) -> ModelOperator:
    policies = [policy_of(arc) for arc in operator.arcs]
    if isinstance(operator, Join):
        return ModelJoin(*policies, window=operator.window)
    kinds: dict[type[Operator], type[ModelOperator]] = {
        Filter: ModelFilter,
        Map: ModelMap,
        Union: ModelUnion,
    }
    return kinds[type(operator)](*policies)


def policy_of(arc: Arc) -> str:
    return "index" if arc.policy is None else arc.policy
