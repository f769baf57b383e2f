"""Random queries over epochs, random events, and what the model answers.

A query is given twice: to the engine over `epochs(…)`, and to DuckDB over tables of recorded rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

import duckdb
import pyarrow as pa

from .epoch_model import Chunking, EpochModel, Row

STREAMS = ("one", "two", "three", "four")
NAMES = pa.table({"k": ["a", "b", None, "a"], "name": ["Ada", "Bob", "None", "Anna"]})
"""A table beside the streams; a key has two rows, and one has none."""
ALIASES = "xyzu"
_SCHEMA = pa.schema(
    [("t", pa.int64()), ("k", pa.string()), ("v", pa.int64()), ("id", pa.int64())]
    + [(name, pa.int64()) for name in ("epoch", "window_start", "window_end")]
)


@dataclass(frozen=True)
class Shape:
    """A query; `{from}` is its FROM and WHERE, and each row of a plain one is one tuple of rows."""

    text: str
    is_plain: bool = False
    is_ordered: bool = False


PLAIN = [
    Shape("SELECT x.id, x.v + 1 AS w{more} {from}", is_plain=True),
    Shape("SELECT x.epoch AS e, x.id AS i{more} {from}", is_plain=True),
    Shape("SELECT x.window_start AS s, x.window_end AS e, x.id{more} {from}", is_plain=True),
]
ABOVE = [
    Shape("SELECT count(*) AS n, sum(x.v) AS v, max(x.id) AS m {from}"),
    Shape("SELECT x.k, count(*) AS n, avg(x.v) AS a {from} GROUP BY x.k"),
    Shape("SELECT x.k, count(*) AS n {from} GROUP BY x.k HAVING count(*) > 1"),
    Shape("SELECT DISTINCT x.k, x.v {from}"),
    Shape("SELECT x.id{more} {from} ORDER BY ALL DESC LIMIT 3", is_ordered=True),
    Shape("SELECT x.id, row_number() OVER (PARTITION BY x.k ORDER BY ALL_COLUMNS) AS r {from}"),
    Shape("SELECT x.epoch AS e, count(*) AS n, min(x.t) AS t {from} GROUP BY x.epoch"),
    Shape("SELECT count(DISTINCT x.k) AS n, min(x.window_start) AS s {from}"),
]
CONDITIONS = [
    "{a}.k = {b}.k",
    "{a}.v = {b}.v",
    "{a}.k = {b}.k AND {a}.v < {b}.v",
    "{a}.v BETWEEN {b}.v - 1 AND {b}.v + 1",
    "{a}.k = {b}.k AND {a}.t - {b}.t BETWEEN -4 AND 6",
    "{a}.k IS NOT DISTINCT FROM {b}.k AND {a}.id <> {b}.id",
    "{a}.v < {b}.v",
    "true",
]
KINDS = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI JOIN", "ANTI JOIN")


@dataclass(frozen=True)
class Join:
    """A join of inputs: its kind, its conditions (one for each input but the first), and WHERE."""

    kind: str
    conditions: Sequence[str]
    where: str = ""
    form: str = "ON"
    table: str = ""

    def text(self, relations: Sequence[str], more: str = "") -> str:
        """Return FROM and WHERE over these relations; `more` is a further condition of the join."""
        where = [self.where] if self.where else []
        text = f"FROM {relations[0]} AS x"
        for number, relation in enumerate(relations[1:], 1):
            alias, condition = ALIASES[number], self.conditions[number - 1]
            if self.form == "comma":
                text += f", {relation} AS {alias}"
                where.append(f"({condition})")
            elif self.form == "USING" and not more:
                text += f" {self.kind} {relation} AS {alias} USING (k)"
            else:
                text += f" {self.kind} {relation} AS {alias} ON {condition}{more}"
        text += self.table
        return text + (f" WHERE {' AND '.join(where)}" if where else "")

    @property
    def has_one_side(self) -> bool:
        """Whether only the first input can be selected from."""
        return self.kind in ("SEMI JOIN", "ANTI JOIN")


class Event(NamedTuple):
    """Rows arrive, a source punctuates, the clock advances, or the results are read."""

    what: str
    stream: str = ""
    rows: tuple[Row, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True)
class Case:
    """A query and what happens to its streams."""

    cut: Chunking
    streams: tuple[str, ...]
    keeps: tuple[int, ...]
    pairing: str
    shape: Shape
    join: Join
    close_after: float | None
    events: tuple[Event, ...]
    answers_empty: bool = False

    @property
    def text(self) -> str:
        """Return the query for the engine."""
        pairing = f", pairing => '{self.pairing}'" if self.pairing else ""
        pairing += ", empty => true" if self.answers_empty else ""
        relations = [
            f"epochs({stream}, {self.cut.arguments()}, keep => {keep}{pairing})"
            for stream, keep in zip(self.streams, self.keeps, strict=True)
        ]
        return self._query(self.join.text(relations))

    def _query(self, source: str) -> str:
        last = ALIASES[len(self.streams) - 1]
        more = "" if self.join.has_one_side or last == "x" else f", {last}.id AS other, {last}.t"
        text = self.shape.text.replace("ALL_COLUMNS", f"x.id{more.replace(' AS other', '')}")
        return text.replace("{more}", more).replace("{from}", source)

    @property
    def has_new_pairs(self) -> bool:
        """Whether an epoch answers with its new pairs."""
        if self.pairing:
            return self.pairing == "window" and len(self.streams) > 1
        several = sum(keep > 1 for keep in self.keeps) > 1
        return several and self.shape.is_plain

    @property
    def buffered(self) -> tuple[int, ...]:
        """How many chunks of each input an epoch reads."""
        if self.pairing == "newest":
            return (1,) * len(self.keeps)
        if self.pairing == "newest-window":
            single = [number for number, keep in enumerate(self.keeps) if keep == 1]
            newest = single[0] if len(single) == 1 else 0
            return tuple(1 if i == newest else keep for i, keep in enumerate(self.keeps))
        return self.keeps

    def model(self, now: float) -> EpochModel:
        inputs = list(zip(self.streams, self.buffered, strict=True))
        return EpochModel(
            inputs,
            self.cut,
            now=now,
            close_after=self.close_after,
            answers_empty=self.answers_empty,
        )

    # The answers

    def answer(
        self, model: EpochModel, epoch: int, connection: duckdb.DuckDBPyConnection
    ) -> list[tuple[object, ...]]:
        """Return the rows of the answer for an epoch, by one statement over recorded rows."""
        first = -(1 << 60) if self.has_new_pairs else None
        for number, (each, keep) in enumerate(zip(model.inputs, model.keeps, strict=True)):
            from_chunk = epoch - keep + 1 if first is None else first
            rows = [
                (*row, chunk, *each.bounds(chunk)) for chunk, row in each.rows(from_chunk, epoch)
            ]
            columns = list(zip(*rows, strict=True)) or [()] * len(_SCHEMA)
            arrays = [pa.array(c, f.type) for c, f in zip(columns, _SCHEMA, strict=True)]
            connection.register(f"input_{number}", pa.table(arrays, schema=_SCHEMA))
        relations = [f"input_{number}" for number in range(len(self.streams))]
        if self.has_new_pairs:
            return self._pairs(relations, epoch, connection)
        return connection.sql(self._query(self.join.text(relations))).fetchall()

    def _pairs(
        self, relations: list[str], epoch: int, connection: duckdb.DuckDBPyConnection
    ) -> list[tuple[object, ...]]:
        """Answer with the new pairs: one join over all rows, of which this epoch has a part."""
        aliases = ALIASES[: len(relations)]
        greatest = f"greatest({', '.join(f'{alias}.epoch' for alias in aliases)})"
        bands = [
            f"{b}.epoch - {a}.epoch < {keep}"
            for a, keep in zip(aliases, self.keeps, strict=True)
            for b in aliases
            if a != b
        ]
        band = " AND ".join(bands)
        if len(relations) > 2 or self.join.form == "comma":
            where = f"{band} AND {greatest} = {epoch}"
            text = self.join.text(relations)
            text += (" AND " if " WHERE " in text else " WHERE ") + where
            return connection.sql(self._query(text)).fetchall()
        [condition] = self.join.conditions
        met = f"({condition}) AND {band}"
        of_x, of_y = (f"{a}.epoch + {keep - 1}" for a, keep in zip("xy", self.keeps, strict=True))
        of_epoch = {
            "LEFT JOIN": f"coalesce({_null('y', greatest)}, {of_x}) = {epoch}",
            "RIGHT JOIN": f"coalesce({_null('x', greatest)}, {of_y}) = {epoch}",
            "FULL JOIN": f"CASE WHEN x.id IS NULL THEN {of_y} WHEN y.id IS NULL THEN {of_x} "
            f"ELSE {greatest} END = {epoch}",
            "ANTI JOIN": f"{of_x} = {epoch}",
            "SEMI JOIN": f"(SELECT min({greatest}) FROM input_1 AS y WHERE {met}) = {epoch}",
        }.get(self.join.kind, f"{greatest} = {epoch}")
        where = of_epoch + (f" AND {self.join.where}" if self.join.where else "")
        text = f"FROM input_0 AS x {self.join.kind} input_1 AS y ON {met}{self.join.table}"
        return connection.sql(self._query(f"{text} WHERE {where}")).fetchall()

    def bounds(self, model: EpochModel, epoch: int) -> tuple[int | None, int | None]:
        """Return the bounds of an epoch."""
        if not self.cut.is_ordinal:
            return self.cut.start(epoch), self.cut.start(epoch + 1)
        known = [each.bounds(epoch) for each in model.inputs if epoch in each.chunks]
        if not known:
            return None, None
        return min(first for first, _ in known), max(last for _, last in known)


def _null(alias: str, text: str) -> str:
    """Return NULL where an outer join found no row for an alias."""
    return f"CASE WHEN {alias}.id IS NOT NULL THEN {text} END"


# Random cases


def random_case(random: Random) -> Case:
    """Return a random query with random events."""
    count = random.choice([1, 2, 2, 2, 2, 3, 4])
    cut = random_cut(random)
    streams = STREAMS[:count]
    if count > 1 and random.random() < 0.2:
        streams = (*streams[:-1], streams[0])
    most = 3 if count < 3 else 2
    keeps = tuple(random.randint(1, most) for _ in streams)
    pairing = random.choice(["", "", "", "window", "window", "newest", "newest-window"])
    shape = random.choice(PLAIN if random.random() < 0.5 else ABOVE)
    if cut.sort == "arrival" and "window_" in shape.text:
        shape = PLAIN[0]
    join = random_join(random, count)
    close_after = random.choice([None, None, 3, 6]) if cut.sort != "arrival" else None
    return Case(
        *(cut, streams, keeps, pairing if count > 1 else "", shape, join, close_after),
        tuple(random_events(random, sorted(set(streams)), cut)),
        answers_empty=random.random() < 0.15,
    )


def random_cut(random: Random) -> Chunking:
    sort = random.choice(["time", "time", "time", "arrival", "count", "object", "punctuation"])
    length = random.choice([2, 3, 5]) if sort in ("arrival", "count") else random.choice([5, 10])
    return Chunking(sort, length, random.choice([0, 0, 3]) if sort == "time" else 0)


def random_join(random: Random, count: int) -> Join:
    if count == 1:
        return Join("JOIN", (), random.choice(["", "x.v > 1", "x.k IS NOT NULL"]))
    kind = random.choice(KINDS) if count == 2 else "JOIN"
    conditions = [
        random.choice(CONDITIONS[:6] if count > 2 else CONDITIONS).format(
            a=ALIASES[random.randrange(number)], b=ALIASES[number]
        )
        for number in range(1, count)
    ]
    where = random.choice(["", "", "", "x.v > 1", "x.k IS NOT NULL"])
    form = random.choice(["ON", "ON", "comma"] if kind == "JOIN" else ["ON"])
    if count == 2 and random.random() < 0.15:
        form, conditions = "USING", ["x.k = y.k"]
    table = random.choice(["", "", " LEFT JOIN names AS n ON n.k = x.k"])
    return Join(kind, conditions, where, form, "" if form == "comma" else table)


def random_events(random: Random, streams: Sequence[str], cut: Chunking) -> Iterator[Event]:
    """Yield appends, punctuations, steps of the clock, and moments of reading."""
    level = {stream: random.choice([0, 0, 0, 7, 31]) for stream in streams}
    silent = {random.choice(streams)} if random.random() < 0.2 else set()
    number = 0
    for _ in range(random.randint(4, 14)):
        what = random.random()
        if what < 0.12:
            yield Event("advance", seconds=0.5)
            yield Event("punctuate", random.choice(streams))
        elif what < 0.3:
            yield Event("advance", seconds=random.choice([1, 1, 2, 3, 7]))
        elif what < 0.36:
            silent = {random.choice(streams)} if not silent else set()
        elif what < 0.42:
            level[random.choice(streams)] += random.choice([-12, 10, 25, 60])
        else:
            yield Event(
                "advance", seconds=0.5
            )  # what arrives at one moment can be read in any order
            stream = random.choice([each for each in streams if each not in silent] or streams)
            rows = list(random_rows(random, level[stream], number))
            level[stream] = max(level[stream], *(row.t for row in rows))
            number += len(rows)
            yield Event("append", stream, tuple(rows))
            if random.random() < 0.5:
                yield Event("advance", seconds=random.choice([0, 1, 1, 2]))
        if random.random() < 0.3:
            yield Event("read")
    if random.random() < 0.8:
        last = max(level.values()) + 2 * cut.length
        for stream in streams:
            yield Event("advance", seconds=0.5)
            yield Event("append", stream, (Row(last + 10, "z", 0, number),))
            yield Event("append", stream, (Row(last + 40, "y", 9, number + 1),))
            number += 2


def random_rows(random: Random, level: int, number: int) -> Iterator[Row]:
    """Yield rows of which some are older than those before; they are numbered from `number` on."""
    for each in range(random.choice([1, 1, 2, 3, 6])):
        level += random.choice([0, 0, 1, 1, 3, 5])
        key = random.choice(["a", "a", "b", "c", None])
        time = level - random.choice([0, 0, 0, 0, 2, 9])
        yield Row(time, key, random.choice([0, 1, 2, 3, None]), number + each)
